// What does it cost to reach the memory of the GPU beside this one?
//
// Bytes are brought from the peer's memory (`read`), sent to it (`write`), or both at once, by the
// copy engine (cudaMemcpyPeerAsync) or by a kernel on this GPU whose loads or stores go there. The
// time is what one copy takes alone on the device, between two events around it, and what it costs
// its caller, from the first call to the end of the wait. Calls that count for anything beside the
// copy are made before the first event happens, and wait behind a kernel that the host lets go.
// Where a copy takes so long that calls and waiting are nothing beside it, both times must agree.
//
// Each GPU has just written or read what it sends: what fits is in its L2.
//
// `load` has one thread of this GPU follow a chain of words in the peer's memory, each of which
// says where the next one lies: the latency of one load, by the clock inside the kernel and by
// events, as the slope of a short and a long chain. The peer has the words in its L2, or has just
// been made to drop them; this GPU has none of them. Inside the number is the addition that makes
// an address of a word.
//
// The peer is the GPU after this one among those that this process sees; it must be reachable
// directly (over NVLink or PCIe, not by way of host memory), and no other run may hold it. Access
// to it is given for the case alone.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/layout.hpp"
#include "harness/model/word_patterns.hpp"
#include "micro/transfer/copy_times.hpp"

#include <cstdint>
#include <vector>

namespace strata::peer_copy {

[[nodiscard]] Benchmark declare();

inline constexpr long long most_bytes = 1LL << 30U;

enum class By { copy_engine, kernel, load };

/// What is copied, and how.
struct Copy {
  By by = By::copy_engine;
  bool read = true;         ///< from the peer to this GPU
  bool write = false;       ///< from this GPU to the peer
  std::uint64_t bytes = 0;  ///< of one direction

  [[nodiscard]] std::uint64_t bytes_moved() const {
    return bytes * (static_cast<unsigned>(read) + static_cast<unsigned>(write));
  }
};
[[nodiscard]] Copy copy_of(const Session& session);

/// About how long it takes; only ever too short on the links that are known.
[[nodiscard]] double least_seconds(const Copy& copy);
/// Whether it may be over so soon that calls and events count beside it.
[[nodiscard]] bool is_brief(const Copy& copy);
/// How many copies one after the other, each waited for, make up a sample: half a millisecond of
/// them, and at least three.
[[nodiscard]] std::uint32_t copies_per_sample(const Copy& copy);

/// The word at `index` of what one GPU sends to the other; no two of them are alike.
[[nodiscard]] STRATA_HD constexpr std::uint32_t sent_word(bool by_peer, std::uint32_t index) {
  return hashed_word(2 * index + (by_peer ? 1U : 0U));
}

using copy_times::Observation;
/// Adds the times and the bandwidths, and the timer gate where both time the same.
void report(Session& session, const Collection<Observation>& seen, const Copy& copy);

/// The chain: words that stand `pitch` bytes apart, each with the offset in bytes of the next, in
/// random order. Longer than any launch follows it, so that no word is loaded twice in one.
inline constexpr std::uint32_t slots = 16384;
inline constexpr std::uint32_t pitch = 512;
inline constexpr std::uint32_t short_loads = 128;
inline constexpr std::uint32_t long_loads = 640;
inline constexpr std::uint32_t load_unroll = 16;

class Chain {
 public:
  Chain();
  /// Every word of the memory that holds it; what is between the words of the chain is none of it.
  [[nodiscard]] const std::vector<std::uint32_t>& words() const { return words_; }
  /// Where it begins, and where `loads` loads lead: offsets in bytes.
  [[nodiscard]] std::uint32_t first() const { return after(0); }
  [[nodiscard]] std::uint32_t after(std::uint32_t loads) const;

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> words_;
};

/// Of one load: SM cycles by the clock inside, and by the timer outside.
struct Latency {
  double inside = 0;
  double outside = 0;
};
struct LoadObservation {
  Latency cached;    ///< in the peer's L2
  Latency uncached;  ///< in its memory
  double core_hertz = 0;
};
/// Adds cycles and seconds of a load, and the timer and clock gates.
void report(Session& session, const Collection<LoadObservation>& seen);

}  // namespace strata::peer_copy
