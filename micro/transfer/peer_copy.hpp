// What does it cost to access the memory of another GPU?
//
// Bytes are copied from the peer's memory (`read`), to it (`write`), or both at once, by the copy
// engine (cudaMemcpyPeerAsync) or by a kernel, timed as in transfers. In one direction, this GPU
// copies. In both directions, each GPU sends on a separate stream: two copies on one GPU would
// queue at one engine. Gate `overlap` checks that they overlap. Each GPU has just written or read
// what it sends, so its L2 holds what fits. `load` has one thread of this GPU follow a chain of
// words in the peer's memory: the latency of one load, as the slope of a short and a long chain,
// including the addition that computes an address from a word. The peer has the words in its L2, or
// has just evicted them; this GPU has none of them.
//
// The peer is the next GPU that this process sees. It must be directly accessible (over NVLink or
// PCIe, not through host memory), and no other run may hold it.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/model/word_patterns.hpp"
#include "micro/transfer/copy_times.hpp"

#include <cstdint>
#include <vector>

namespace strata::peer_copy {

[[nodiscard]] Benchmark declare();

inline constexpr long long most_bytes = 1LL << 30U;

enum class Means { copy_engine, kernel, load };
inline constexpr auto means = choices_of<Means>("copy_engine", "kernel", "load");
enum class Direction { read, write, both };
inline constexpr auto directions = choices_of<Direction>("read", "write", "both");

/// What is copied, and how.
struct Copy {
  Means by = Means::copy_engine;
  Direction direction = Direction::read;
  std::uint64_t bytes = 0;  ///< of one direction

  [[nodiscard]] constexpr std::uint64_t bytes_moved() const {
    return direction == Direction::both ? 2 * bytes : bytes;
  }
};
[[nodiscard]] Copy copy_of(const Params& params);

/// Approximate duration; never too long on the known links.
[[nodiscard]] double least_seconds(const Copy& copy);

/// Data that one GPU sends to the other; all words of both differ.
[[nodiscard]] constexpr HashedWords sent_by(bool peer) {
  return {.step = 2, .first = peer ? 1U : 0U};
}

/// The chain: words `pitch` bytes apart, each with the byte offset of the next, in random order.
/// Longer than any launch follows it, so that no word is loaded twice in one.
inline constexpr std::uint32_t slots = 16384;
inline constexpr std::uint32_t pitch = 512;
inline constexpr std::uint32_t long_loads = 640;  // a short launch has a fifth
inline constexpr std::uint32_t load_unroll = 16;

struct Chain {
  Chain();
  /// The byte offset after `loads` loads.
  [[nodiscard]] std::uint32_t after(std::uint32_t loads) const {
    return order[loads % slots] * pitch;
  }
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> words;  ///< all of its memory
};

/// The cases as the engine measures them, except their launches. For loads, the first slope is for
/// data in the peer's L2, the second for data in its memory only; per load.
[[nodiscard]] Experiment describe(const Copy& copy);
[[nodiscard]] Experiment describe_loads(const Chain& chain);

}  // namespace strata::peer_copy
