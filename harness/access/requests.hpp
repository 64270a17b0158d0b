// The memory requests of warps' accesses, summed during a run: the numbers of
// harness/model/coalescing.hpp, computed in a way that is fast for common patterns.
#pragma once

#include "harness/access/access_kind.hpp"
#include "harness/model/coalescing.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::access {

/// One access of a warp: lanes of `mask` access `width` bytes each.
struct LaneAccess {
  unsigned width = 4;  ///< 1, 2, 4, 8, 16, or 32; addresses are multiples of it
  std::uint32_t mask = 0;
  const std::uint64_t* addresses = nullptr;  ///< of 32 lanes
};

/// As strata::traffic for the same access. With 32 bytes per lane, which 7.x does not support, it
/// is one request under the rules of 7.x, whatever generation is requested.
[[nodiscard]] Traffic lane_traffic(Generation generation, const LaneAccess& access);

/// As strata::shared_wavefronts; lanes that access less than a word access the whole word.
[[nodiscard]] std::uint64_t lane_wavefronts(const LaneAccess& access);

/// Whether counts bear these wavefronts out. Where 16 bytes are accessed in some lanes of a warp
/// and two groups of 8 lanes could be served as one, no rule fits all of them (SOURCES.md, "16
/// bytes in some lanes").
[[nodiscard]] bool wavefronts_are_known(const LaneAccess& access);

/// Wavefronts of an atomic of one word per lane: a bank serves one lane at a time, also where lanes
/// have the same word. Counted on an H200: 32 for 32 lanes at one word, where a load takes 1.
[[nodiscard]] std::uint64_t atomic_wavefronts(const LaneAccess& access);

/// The fewest sectors that can hold the distinct bytes of one access: as many as they need when
/// they are contiguous from a sector boundary. A byte that several lanes access counts once. For
/// shared memory the same in wavefronts of 128 bytes.
[[nodiscard]] std::uint64_t fewest_sectors(std::uint64_t distinct_bytes);
[[nodiscard]] std::uint64_t fewest_wavefronts(std::uint64_t distinct_bytes);

/// Sectors that this many contiguous bytes touch from `begin` on: an access that needs more than
/// that from its lowest lane is uncoalesced.
[[nodiscard]] std::uint64_t contiguous_sectors(std::uint64_t begin, std::uint64_t distinct_bytes);

/// Distinct bytes that the lanes access.
[[nodiscard]] std::uint64_t distinct_bytes(const LaneAccess& access);

/// Which numbers of an access are computed.
enum class RequestModel : std::uint8_t { global, shared, shared_atomic, shared_swap };
[[nodiscard]] RequestModel model_of(bool is_shared, SharedAtomic atomic);

struct RequestSums {
  std::vector<Traffic> traffic;     ///< global: by the requested generations
  std::uint64_t ideal_sectors = 0;  ///< global
  std::uint64_t contiguous_sectors = 0;
  std::uint64_t wavefronts = 0;  ///< shared
  std::uint64_t ideal_wavefronts = 0;
  std::uint64_t unmodelled = 0;  ///< shared: requests whose wavefronts are not known
};

/// Sums up accesses. The requests of an access depend on its addresses relative to a 128-byte line,
/// so accesses that differ only by whole lines are computed once.
class RequestCounter {
 public:
  RequestCounter(RequestModel model, std::span<const Generation> generations);
  /// Adds `times` equal accesses.
  void add(const LaneAccess& access, std::uint64_t times = 1);
  /// The sum of all added accesses.
  [[nodiscard]] RequestSums sums() const;

 private:
  struct Pattern {
    std::uint32_t mask = 0;
    unsigned width = 0;
    std::uint64_t times = 0;
    std::array<std::uint64_t, warp_lanes> offsets{};
  };
  void settle(const Pattern& pattern, RequestSums& sums) const;

  static constexpr unsigned kept_bits = 6;
  static constexpr std::size_t kept = std::size_t{1} << kept_bits;
  RequestModel model_;
  std::vector<Generation> generations_;
  std::vector<Pattern> patterns_;  ///< one until a second is seen, then `kept`
  RequestSums sums_;
};

/// Adds an access of global or shared memory. ldmatrix and stmatrix take one access of the banks
/// for each matrix.
void add_access(RequestCounter& requests, AccessKind kind, const LaneAccess& access,
                std::uint64_t times = 1);

}  // namespace strata::access
