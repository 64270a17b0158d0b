// A kernel as the evaluation runs it: the instructions that affect an address, a guard or a branch,
// decoded, with a slot for each register, constant and special register.
#pragma once

#include "harness/access/access_kind.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/ptx.hpp"
#include "harness/access/warp_state.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace strata::access {

/// Step::extra of StepKind::hide, shifted by the number of the result: it is floating point.
inline constexpr std::uint64_t real_result = 0x1;
inline constexpr std::uint64_t double_result = 0x100;

/// A memory instruction, decoded: addresses are `address` + `offset`.
struct MemoryStep {
  AccessKind kind = AccessKind::load;
  ptx::Space space = ptx::Space::generic;
  unsigned elements = 1;  ///< each in a register
  unsigned element_bytes = 4;
  bool extends_sign = false;   ///< for loads, to the width of the register
  bool short_address = false;  ///< the address wraps around at 32 bits
  std::array<std::uint8_t, 8> register_bytes = {};
  std::uint32_t address = no_slot;
  std::uint64_t offset = 0;
  std::uint32_t to_address = no_slot;  ///< for copies: the address in shared memory
  std::uint64_t to_offset = 0;
  std::uint32_t size = no_slot;  ///< for copies: the bytes read, or ignored; or none
  unsigned matrices = 0;         ///< for ldmatrix and stmatrix
  SharedAtomic shared_atomic = SharedAtomic::none;
  bool returns = false;       ///< what the atomic returns is needed
  bool passes_value = false;  ///< its value is needed: the registers of a load, or of a store
  bool is_real = false;       ///< of floating point
  bool is_strong = false;     ///< a load that other threads' stores may change meanwhile
  bool is_argument = false;   ///< of a function that is called: no access
  bool writes = false;

  [[nodiscard]] unsigned width() const { return elements * element_bytes; }
};

/// Targets of brx.idx.
struct IndexedBranch {
  std::uint32_t index = no_slot;
  std::vector<std::uint32_t> targets;
};

/// What is between a branch and the point where its lanes meet again: it becomes unknown if the
/// path of some lanes is unknown.
struct Region {
  std::vector<std::uint32_t> values;      ///< slots written
  std::vector<std::uint32_t> predicates;  ///< slots written
  std::vector<std::uint32_t> memory;      ///< steps that access memory
  bool may_exit = false;
  bool has_barrier = false;
};

/// An instruction whose accesses are not modelled.
struct Unmodelled {
  std::uint32_t instruction = 0;
  std::string why;  ///< for a report: "ldmatrix…"
  bool may_write_global = false;
  bool may_write_shared = false;
};

struct Program {
  std::vector<Step> steps;  ///< in the order of the kernel's text; the last one is an exit
  std::vector<MemoryStep> memory;
  std::vector<IndexedBranch> indexed;
  std::vector<Unmodelled> unmodelled;

  std::vector<std::uint32_t> loop_parents;  ///< by loop: the enclosing one

  std::uint32_t value_slots = 0;
  std::uint32_t predicate_slots = 0;
  struct Constant {
    std::uint32_t slot = no_slot;
    std::uint64_t bits = 0;
    std::uint32_t hidden_by = ptx::no_index;  ///< the instruction that makes the value unknown
  };
  std::vector<Constant> constants;
  struct SpecialSlot {
    std::uint32_t slot = no_slot;
    ptx::Special special = ptx::Special::other;
  };
  std::vector<SpecialSlot> specials;
  std::vector<std::uint32_t> registers;  ///< slots of registers, unknown at the start

  std::uint64_t shared_begin = 0;  ///< the first address of the block's own shared memory
  std::uint64_t shared_end = 0;
  std::uint64_t local_bytes = 0;
  /// Whether values that affect an address, a guard or a branch pass through these.
  bool needs_shared = false;
  bool needs_local = false;
  bool needs_buffers = false;
  /// If set: an instruction after which the content of shared memory, or of buffers, is unknown.
  std::uint32_t shared_hidden_by = ptx::no_index;
  std::uint32_t buffers_hidden_by = ptx::no_index;
};

/// Which part of a kernel is compiled.
enum class Part : std::uint8_t {
  addresses,  ///< what affects an address, a guard or a branch, but for values in buffers
  buffers,    ///< the same with the values that the kernel writes to buffers
  /// Everything, for its results: approximations by the host's functions, sums and products rounded
  /// one by one, parameters read at run time, so that the program serves any launch with the same
  /// amount of shared memory and the same addresses of variables.
  results
};
[[nodiscard]] Program compile(const ptx::Module& module, const Launch& launch, Part part);

/// What is between the branch `step` and the point where its lanes meet again.
[[nodiscard]] Region region_of(const Program& program, std::uint32_t step);
/// Everything that can follow the step.
[[nodiscard]] Region rest_of(const Program& program, std::uint32_t step);

/// The buffers that a memory instruction can access through the pointers from which its address is
/// computed. Empty: any.
[[nodiscard]] std::vector<std::uint32_t> reachable_buffers(const ptx::Module& module,
                                                           const Launch& launch,
                                                           std::uint32_t instruction);

/// The captured buffers, by name, from which the kernel loads addresses, but whose content was not
/// kept: it cannot be run, because it would follow random numbers.
[[nodiscard]] std::vector<std::string> lost_pointers(const ptx::Module& module,
                                                     const Launch& launch);

}  // namespace strata::access
