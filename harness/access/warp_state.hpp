// The registers of one warp, lane by lane, and the effect of decoded instructions on them.
#pragma once

#include "harness/access/ptx.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::access {

inline constexpr unsigned lanes = 32;
inline constexpr std::uint32_t all_lanes = 0xFFFFFFFF;
/// Calls act(lane) for each lane of the mask in ascending order.
template <class Act>
void for_lanes(std::uint32_t mask, const Act& act) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    act(static_cast<unsigned>(std::countr_zero(rest)));
}

// Windows of the generic address space, above all buffers of a launch. Addresses in shared, local
// and parameter memory are offsets in them.
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32U;
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 46U;
inline constexpr std::uint64_t local_window = shared_window + window_bytes;
inline constexpr std::uint64_t param_window = local_window + window_bytes;

/// Values of up to 64 bits, zero-extended, and predicates, of all lanes. A lane always has a value.
/// It is unknown if it depends on contents that the launch does not give, or on an order or a time
/// that PTX does not define; then it is one of several, and `cause` is the first instruction that
/// made it unknown.
struct WarpState {
  /// Slot s holds lanes [32 s, 32 s + 32).
  std::vector<std::uint64_t> values;
  std::vector<std::uint32_t> unknown;  ///< lanes, by slot
  std::vector<std::uint32_t> cause;

  struct Predicate {
    std::uint32_t bits = 0;
    std::uint32_t unknown = all_lanes;
    std::uint32_t cause = ptx::no_index;
  };
  std::vector<Predicate> predicates;

  [[nodiscard]] std::uint64_t* value(std::uint32_t slot) {
    return values.data() + std::size_t{slot} * lanes;
  }
  [[nodiscard]] const std::uint64_t* value(std::uint32_t slot) const {
    return values.data() + std::size_t{slot} * lanes;
  }
  /// Lanes of `mask` become unknown.
  void hide(std::uint32_t slot, std::uint32_t mask, std::uint32_t why) {
    if (mask == 0) return;
    if (unknown[slot] == 0 || cause[slot] == ptx::no_index) cause[slot] = why;
    unknown[slot] |= mask;
  }
  void hide_predicate(std::uint32_t slot, std::uint32_t mask, std::uint32_t why) {
    if (mask == 0) return;
    auto& one = predicates[slot];
    if (one.unknown == 0 || one.cause == ptx::no_index) one.cause = why;
    one.unknown |= mask;
  }
};

struct Step;
/// Executes a step for the lanes of `mask`.
using Run = void (*)(WarpState&, const Step&, std::uint32_t mask);

/// How the runner treats a step.
enum class StepKind : std::uint8_t {
  plain,    ///< executed by Step::run
  branch,   ///< to `target` if the guard holds
  indexed,  ///< brx.idx: to one of several targets
  exit,     ///< lanes end
  memory,   ///< described by Program::memory
  barrier,  ///< of the block
  warp_sync,
  vote,
  reduce,
  match,
  shuffle,
  activemask,
  hide,  ///< its effect is unknown: its destinations get arbitrary values
};

inline constexpr std::uint32_t no_slot = 0xFFFFFFFF;

/// The operation of redux: Step::extra of a reduce.
enum class Reduction : std::uint8_t { add, least, most, signed_least, signed_most, all, any, odd };

/// A decoded instruction.
struct Step {
  StepKind kind = StepKind::hide;
  Run run = nullptr;
  std::uint32_t instruction = 0;  ///< into Kernel::instructions
  std::uint32_t guard = no_slot;  ///< a predicate
  bool guard_negated = false;
  std::array<std::uint32_t, 8> to = {no_slot, no_slot, no_slot, no_slot,
                                     no_slot, no_slot, no_slot, no_slot};
  std::array<std::uint32_t, 8> from = {no_slot, no_slot, no_slot, no_slot,
                                       no_slot, no_slot, no_slot, no_slot};
  std::uint32_t to_predicate = no_slot;
  std::uint32_t to_second_predicate = no_slot;
  std::uint32_t from_predicate = no_slot;
  bool from_negated = false;
  std::uint64_t extra = 0;       ///< for `run`: a table, a mode
  bool is_inexact = false;       ///< its result is one of several that PTX allows
  std::uint32_t target = 0;      ///< of a branch: a step
  std::uint32_t reconverge = 0;  ///< of a branch: the step where lanes that stay in its loop meet
  std::uint32_t all_meet = 0;    ///< of a branch: the step where all of its lanes meet
  std::uint32_t leaving =
      no_slot;                   ///< of a branch: the step by which lanes leave its loop, or none
  std::uint32_t loop = no_slot;  ///< the innermost loop that the step is in, or none
  std::uint32_t detail = 0;      ///< into the program's tables of its kind
};

}  // namespace strata::access
