// A kernel as the evaluation runs it: the instructions on which some address, guard or branch
// hangs, decoded, with a slot for each register, constant and special register.
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

/// A memory instruction, decoded: addresses are `address` + `offset`.
struct MemoryStep {
  AccessKind kind = AccessKind::load;
  ptx::Space space = ptx::Space::generic;
  unsigned elements = 1;  ///< each to or from a register
  unsigned element_bytes = 4;
  bool extends_sign = false;   ///< of a load, to the width of its register
  bool short_address = false;  ///< the address wraps around at 32 bits
  std::array<std::uint8_t, 8> register_bytes = {};
  std::uint32_t address = no_slot;
  std::uint64_t offset = 0;
  std::uint32_t to_address = no_slot;  ///< of a copy: where in shared memory
  std::uint64_t to_offset = 0;
  std::uint32_t size = no_slot;  ///< of a copy: the bytes that are read, or ignored; or none
  unsigned matrices = 0;         ///< of ldmatrix and stmatrix
  bool passes_value = false;     ///< its content is needed: of a load's registers, of a store's
  bool writes = false;

  [[nodiscard]] unsigned width() const { return elements * element_bytes; }
};

/// Targets of brx.idx.
struct IndexedBranch {
  std::uint32_t index = no_slot;
  std::vector<std::uint32_t> targets;
};

/// What lies between a branch and where its lanes meet again: what becomes unknown when nobody
/// knows which way they went.
struct Region {
  std::vector<std::uint32_t> values;      ///< slots that are written
  std::vector<std::uint32_t> predicates;  ///< slots that are written
  std::vector<std::uint32_t> memory;      ///< steps that access memory
  bool may_exit = false;
  bool has_barrier = false;
};

/// An instruction whose accesses nothing here knows.
struct Unmodelled {
  std::uint32_t instruction = 0;
  std::string why;  ///< "ldmatrix…": in words, for a report
  bool may_write_global = false;
  bool may_write_shared = false;
};

struct Program {
  std::vector<Step> steps;  ///< in the order of the kernel's text; the last one is an exit
  std::vector<MemoryStep> memory;
  std::vector<IndexedBranch> indexed;
  std::vector<Unmodelled> unmodelled;

  std::vector<std::uint32_t> loop_parents;  ///< by loop: the one around it

  std::uint32_t value_slots = 0;
  std::uint32_t predicate_slots = 0;
  struct Constant {
    std::uint32_t slot = no_slot;
    std::uint64_t bits = 0;
    std::uint32_t hidden_by = ptx::no_index;  ///< an instruction: the value is not known
  };
  std::vector<Constant> constants;
  struct SpecialSlot {
    std::uint32_t slot = no_slot;
    ptx::Special special = ptx::Special::other;
  };
  std::vector<SpecialSlot> specials;
  std::vector<std::uint32_t> registers;  ///< slots of registers, which are unknown at the start

  std::uint64_t shared_begin = 0;  ///< the first address of the block's own shared memory
  std::uint64_t shared_end = 0;
  std::uint64_t local_bytes = 0;
  /// Values pass through these on their way to an address, a guard or a branch.
  bool needs_shared = false;
  bool needs_local = false;
  bool needs_buffers = false;
  /// Not null: an instruction after which nothing is known of shared memory, or of buffers.
  std::uint32_t shared_hidden_by = ptx::no_index;
  std::uint32_t buffers_hidden_by = ptx::no_index;
};

/// What of a kernel is compiled.
enum class Part : std::uint8_t {
  addresses,   ///< that on which an address, a guard or a branch hangs
  everything,  ///< all whose result PTX defines to the bit
  /// All, for its results: approximations as the host has them, sums and products rounded one by
  /// one, parameters read when it runs, so that the program serves any launch with as much shared
  /// memory and with variables in the same places.
  results
};
[[nodiscard]] Program compile(const ptx::Module& module, const Launch& launch, Part part);

/// What lies between the branch `step` and where its lanes meet again.
[[nodiscard]] Region region_of(const Program& program, std::uint32_t step);

/// The buffers that a memory instruction can reach by the pointers that its address is computed
/// from. Empty: any.
[[nodiscard]] std::vector<std::uint32_t> reachable_buffers(const ptx::Module& module,
                                                           const Launch& launch,
                                                           std::uint32_t instruction);

}  // namespace strata::access
