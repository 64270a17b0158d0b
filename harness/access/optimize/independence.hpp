// Whether a thread may see what another one stores: refused where no launch could tell, else made a
// check of the launch.
#pragma once

#include "harness/access/control_flow.hpp"
#include "harness/access/kernel_forms.hpp"
#include "harness/access/optimize/bounds.hpp"
#include "harness/access/optimize/launch_checks.hpp"
#include "harness/access/optimize/refusals.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace strata::access {

class Independence {
 public:
  /// All must outlive it. `simple`: the kernel's forms under conditions, for sums of strides.
  Independence(KernelForms& simple, LaunchChecks& checks);

  /// No thread loads what another one stores, whatever their order. Loads by the read-only path see
  /// nobody's stores: PTX leaves that undefined (PTX ISA 9.0, 9.7.9.8).
  [[nodiscard]] std::optional<Refusal> of_threads();
  /// No load of shared memory meets a store without a barrier between them.
  [[nodiscard]] std::optional<Refusal> of_shared_memory() const;
  /// Two accesses have no byte in common, whichever threads do them. False: no check could tell.
  [[nodiscard]] bool are_apart(std::uint32_t instruction, std::uint32_t other);

 private:
  using Number = LaunchChecks::Number;
  /// Of an instruction, or of several that differ by a constant.
  struct Access {
    std::uint32_t instruction = 0;  ///< one of them
    std::uint32_t block = 0;
    Meaning meaning;  ///< of the lowest address
    std::int64_t bytes = 0;
    bool reads = false;
    bool writes = false;
    std::optional<PointerPlace> pointer;
    [[nodiscard]] bool is_atomic() const { return reads && writes; }
  };
  /// A term: a stride times an index.
  struct StrideTerm {
    FormId stride = no_form;
    std::optional<Atom> index = {};
  };
  /// Of a form.
  struct Strides {
    std::vector<std::pair<Number, Number>> all;  ///< a stride and the count of its index
    std::array<bool, 6> has_axis{};              ///< axes of threads, then of blocks
  };
  /// What straight code comes to first.
  struct Followed {
    std::optional<Refusal> refusal = {};
    bool meets_barrier = false;
  };
  /// Where all bytes of an access begin; nothing where that is not bounded.
  [[nodiscard]] std::optional<Number> place_of(const Access& access);
  [[nodiscard]] std::optional<Refusal> keep_apart(const Access& one, const Access& other);
  [[nodiscard]] std::optional<Refusal> keep_own(const Access& one, const Access& other);
  [[nodiscard]] std::optional<StrideTerm> along(const Term& term);
  [[nodiscard]] std::optional<Strides> strides_of(FormId form, std::uint32_t block);
  [[nodiscard]] std::optional<Refusal> keep_behind_barrier(std::uint32_t instruction) const;
  [[nodiscard]] Followed follow(std::uint32_t instruction, std::uint32_t from,
                                std::uint32_t end) const;
  [[nodiscard]] std::optional<Access> access_of(std::uint32_t instruction);
  [[nodiscard]] std::vector<Access> families();
  [[nodiscard]] std::optional<std::int64_t> distance(const Access& one, const Access& other);
  [[nodiscard]] std::string line_text(const Access& access) const;

  KernelForms& simple_;
  LaunchChecks& checks_;
  Bounds simple_bounds_;
  KernelForms wrapped_;  ///< forms that hold whatever wraps around
  Bounds bounds_;
  struct Place {
    Number number = 0;
    ConditionSet conditions = 0;
  };
  std::map<std::pair<FormId, std::uint32_t>, Place> places_;  ///< by block
};

}  // namespace strata::access
