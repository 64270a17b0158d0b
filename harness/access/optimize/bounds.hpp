// What a form of a kernel lies in, in any launch: as a number of LaunchChecks, of the launch's
// shape and parameters.
#pragma once

#include "harness/access/kernel_forms.hpp"
#include "harness/access/optimize/launch_checks.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace strata::access {

/// A parameter that addresses are counted from, or 8 bytes of one: its symbol, and the first byte.
using PointerPlace = std::pair<std::uint32_t, std::uint64_t>;
/// The one of a form; nothing where there is none.
[[nodiscard]] std::optional<PointerPlace> pointer_in(const Forms& forms, FormId form);
/// All of them, in addresses of global memory.
[[nodiscard]] std::set<PointerPlace> pointers_of(KernelForms& kernel);

/// A launch of so many blocks along each axis, with all buffers in one place and 4096 for every
/// other parameter: for LaunchChecks::try_with().
[[nodiscard]] Launch tried_launch(KernelForms& kernel, const Extent& grid);

class Bounds {
 public:
  using Number = LaunchChecks::Number;

  /// Both must outlive it.
  Bounds(KernelForms& kernel, LaunchChecks& checks) : kernel_{kernel}, checks_{checks} {}

  /// Of the form in every thread that comes to the block, while the conditions of the facts that
  /// were taken to help hold: those are in `conditions`, unless it is null.
  [[nodiscard]] Number of(FormId form, std::uint32_t block, ConditionSet* conditions);

  /// The one value that the form has in all threads of a launch; nothing where it hangs on more
  /// than sizes and parameters.
  [[nodiscard]] std::optional<Number> exactly(FormId form);
  [[nodiscard]] bool is_of_launch(const Atom& atom) const;

  /// Has the launch checked for conditions, as far as nothing proves them. False: the launch cannot
  /// tell of one of them.
  [[nodiscard]] bool ensure(ConditionSet conditions, std::uint32_t block);

  /// Whether the number is bounded in a launch of a usual size.
  [[nodiscard]] bool is_bounded(Number number) const;

 private:
  [[nodiscard]] Number box(FormId form);
  [[nodiscard]] Number atom_box(AtomId id);
  [[nodiscard]] Number narrowed(FormId form, std::uint32_t block, ConditionSet* conditions,
                                unsigned depth);
  [[nodiscard]] std::size_t indices_in(FormId form) const;

  KernelForms& kernel_;
  LaunchChecks& checks_;
  std::map<FormId, Number> boxes_;
  std::map<AtomId, Number> atoms_;
};

}  // namespace strata::access
