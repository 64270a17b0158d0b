// How far apart the lanes of a warp store, as far as a launch tells: a rotation's angle does. For
// an estimate of whether an optimized kernel pays; nothing is proved.
#pragma once

#include "harness/access/kernel_forms.hpp"
#include "harness/access/optimize/bounds.hpp"
#include "harness/access/optimize/launch_checks.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::access {

/// What one step of an index adds to an address; nothing where that is not the same everywhere, or
/// the address does not have the index.
[[nodiscard]] std::optional<FormId> step_of(KernelForms& kernel, FormId address, AtomKind kind,
                                            std::uint32_t which);

class LaneSteps {
 public:
  using Part = LaunchChecks::LaneStep;
  /// Both must outlive it. `axis`: that of threadIdx which goes along a warp.
  LaneSteps(KernelForms& kernel, Bounds& bounds, LaunchChecks& checks, unsigned axis)
      : kernel_{kernel}, bounds_{bounds}, checks_{checks}, axis_{axis} {}

  /// The steps of an instruction's address; nothing where it hangs on more than the launch.
  [[nodiscard]] std::optional<std::vector<Part>> of(std::uint32_t instruction);

 private:
  /// What a step along the warp adds: a number over a divisor. Remainders are passed over: they
  /// rarely step back.
  struct Rate {
    LaunchChecks::Number number = 0;
    std::int64_t divisor = 1;
  };
  /// The only factor of a term that changes along a warp, and the number it is multiplied by.
  struct LaneTerm {
    AtomId atom = 0;
    LaunchChecks::Number times = 0;
  };
  [[nodiscard]] bool changes(const Atom& atom) const;
  [[nodiscard]] std::optional<LaneTerm> along(const Term& term);
  /// The steps of the terms that change along a warp.
  [[nodiscard]] std::optional<std::vector<Part>> parts_of(FormId form);
  [[nodiscard]] std::optional<Rate> rate_of_atom(AtomId id);
  [[nodiscard]] std::optional<Rate> rate_of(FormId form);

  KernelForms& kernel_;
  Bounds& bounds_;
  LaunchChecks& checks_;
  unsigned axis_;
};

}  // namespace strata::access
