// What the accesses of warps ask of the memory system, summed up as they come: the numbers of
// harness/model/coalescing.hpp, by a way that is fast for what kernels mostly do.
#pragma once

#include "harness/access/access_kind.hpp"
#include "harness/model/coalescing.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::access {

/// One access of a warp: lanes of `mask` ask for `width` bytes each.
struct LaneAccess {
  unsigned width = 4;  ///< 1, 2, 4, 8, 16, or 32; addresses are multiples of it
  std::uint32_t mask = 0;
  const std::uint64_t* addresses = nullptr;  ///< of 32 lanes
};

/// As strata::traffic of the same access. Of 32 bytes a lane, which 7.x has not yet: as 7.x takes
/// the other widths, one request, whatever generation is asked for.
[[nodiscard]] Traffic lane_traffic(Generation generation, const LaneAccess& access);

/// As strata::shared_wavefronts; lanes that ask for less than a word ask for the word.
[[nodiscard]] std::uint64_t lane_wavefronts(const LaneAccess& access);

/// The fewest sectors that could bring the distinct bytes of one access: as many as hold them when
/// they lie side by side from the beginning of a sector on. A byte that several lanes ask for
/// counts once. Of shared memory likewise, in wavefronts of 128 bytes.
[[nodiscard]] std::uint64_t fewest_sectors(std::uint64_t distinct_bytes);
[[nodiscard]] std::uint64_t fewest_wavefronts(std::uint64_t distinct_bytes);

/// Sectors that as many bytes touch when they lie side by side from `begin` on: an access that
/// needs more than those of its lowest lane is uncoalesced.
[[nodiscard]] std::uint64_t contiguous_sectors(std::uint64_t begin, std::uint64_t distinct_bytes);

/// Distinct bytes that the lanes ask for.
[[nodiscard]] std::uint64_t distinct_bytes(const LaneAccess& access);

/// Which numbers of an access are wanted.
enum class RequestModel : std::uint8_t { global, shared };

struct RequestSums {
  std::vector<Traffic> traffic;     ///< global: by the asked generations
  std::uint64_t ideal_sectors = 0;  ///< global
  std::uint64_t contiguous_sectors = 0;
  std::uint64_t wavefronts = 0;  ///< shared
  std::uint64_t ideal_wavefronts = 0;
};

/// Sums up accesses. What an access asks for hangs on its addresses from the beginning of a line of
/// 128 bytes on, so that accesses which are alike but for whole lines are worked out once.
class RequestCounter {
 public:
  RequestCounter(RequestModel model, std::span<const Generation> generations);
  /// Adds `times` accesses that are alike.
  void add(const LaneAccess& access, std::uint64_t times = 1);
  /// All that was added.
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
  std::vector<Pattern> patterns_;
  RequestSums sums_;
};

/// Adds an access of global or shared memory. ldmatrix and stmatrix pass through the banks once for
/// each matrix.
void add_access(RequestCounter& requests, AccessKind kind, const LaneAccess& access,
                std::uint64_t times = 1);

}  // namespace strata::access
