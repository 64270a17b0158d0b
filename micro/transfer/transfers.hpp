// What does it cost to copy data to the GPU and back?
//
// Copies go through the runtime (cudaMemcpyAsync) from or to pageable or page-locked memory;
// `mapped` has a kernel access page-locked memory directly. A payload in many separate pieces on
// the host is sent as many copies (`packing=none`), or the host packs it and sends one
// (`packing=packed`), as Breitbart chose (2008, chapter 4). Packing and unpacking are included in
// the time of the device and of the caller: two quantities, since a small transfer ends long before
// its caller knows. They must agree where calls and waiting are negligible.
//
// One piece of page-locked memory needs nothing from the host once its calls are made: if it is
// short, they are made before the first event, behind a kernel that the host releases. In all other
// transfers the device's time includes waiting for the host. The data have just been written or
// checked on the host, so its caches hold what fits.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "micro/transfer/copy_times.hpp"

#include <cstdint>

namespace strata::transfers {

[[nodiscard]] Benchmark declare();

enum class Memory { pageable, pinned, mapped };
inline constexpr auto memories = choices_of<Memory>("pageable", "pinned", "mapped");
enum class Direction { to_device, to_host, both };
inline constexpr auto directions = choices_of<Direction>("to_device", "to_host", "both");
inline constexpr Choices packings{std::pair{"none", false}, std::pair{"packed", true}};

/// What is transferred, and how.
struct Transfer {
  Memory memory = Memory::pinned;
  Direction direction = Direction::to_device;
  std::uint64_t bytes = 0;  ///< of one direction
  std::uint32_t pieces = 1;
  bool packed = false;

  [[nodiscard]] constexpr bool to_device() const { return direction != Direction::to_host; }
  [[nodiscard]] constexpr bool to_host() const { return direction != Direction::to_device; }
  /// Whether it consists of calls only, so few that a stream can hold them all: it can be queued as
  /// a whole.
  [[nodiscard]] constexpr bool can_be_queued() const {
    return memory != Memory::pageable && pieces == 1;
  }
  [[nodiscard]] constexpr std::uint64_t bytes_moved() const {
    return direction == Direction::both ? 2 * bytes : bytes;
  }
};
[[nodiscard]] Transfer transfer_of(const Params& params);

/// Approximate duration; never too long on the known machines.
[[nodiscard]] double least_seconds(const Transfer& transfer);
/// Whether its calls are made in advance and held.
[[nodiscard]] bool is_held_back(const Transfer& transfer);

/// The case as the engine measures it, except its copies.
[[nodiscard]] Experiment describe(const Transfer& transfer);

}  // namespace strata::transfers
