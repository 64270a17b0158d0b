// The memory requests of one warp access, by the published rules of each generation. Pure address
// arithmetic: there are no warm or cold caches, so only SequenceTraffic::repeated_sectors
// shows what a cache would save.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace strata {

inline constexpr unsigned warp_lanes = 32;
inline constexpr std::uint64_t sector_bytes = 32;
inline constexpr std::uint64_t line_bytes = 128;
inline constexpr unsigned shared_banks = 32;
inline constexpr std::uint64_t bank_bytes = 4;
/// Bytes of a wavefront of shared memory: a word from each bank.
inline constexpr std::uint64_t wavefront_bytes = shared_banks * bank_bytes;

/// One load instruction of one warp: the address of each participating lane, and the width.
struct WarpAccess {
  unsigned width = 4;  ///< bytes per lane: 1, 2, 4, 8 or 16; addresses are multiples of it
  std::array<std::optional<std::uint64_t>, warp_lanes> addresses{};  ///< byte addresses
};

/// Compute capabilities with the same rules for global memory.
enum class Generation { cc1_0, cc1_2, cc2, cc3, cc5, cc7 };

/// A generation, and where its rules are published.
struct GenerationInfo {
  Generation generation;
  std::string_view name;    ///< "1.0-1.1", as in case ids and --generation
  std::string_view chips;   ///< "G80, G92: 8800 GTX"
  std::string_view rule;    ///< the rule in one sentence
  std::string_view source;  ///< document, version, section
};
[[nodiscard]] std::span<const GenerationInfo> generations();
[[nodiscard]] const GenerationInfo& info_of(Generation generation);
[[nodiscard]] std::optional<Generation> generation_from(std::string_view name);
/// The rules of a compute capability; unknown newer ones use the newest rules.
[[nodiscard]] Generation generation_of(int major, int minor);

/// The traffic of an access. If the pipeline splits an access, sectors and lines count in every
/// part that touches them; 7.x is the first generation that handles the whole warp at every width.
struct Traffic {
  std::uint64_t requests = 0;      ///< processed by the memory pipeline one by one
  std::uint64_t transactions = 0;  ///< memory transactions of any size
  std::uint64_t sectors = 0;       ///< distinct 32-byte sectors of each request, summed
  std::uint64_t lines = 0;         ///< distinct 128-byte lines of each request, summed
  std::uint64_t wavefronts = 0;    ///< minimum passes through the data stage; since 7.x
  std::uint64_t bytes_moved = 0;   ///< moved by the transactions
  std::uint64_t bytes_used = 0;    ///< distinct bytes requested by lanes

  /// bytes_moved ÷ bytes_used: 1 if every moved byte is used; 0 without requests.
  [[nodiscard]] double moved_over_used() const;
  Traffic& operator+=(const Traffic& other);
  bool operator==(const Traffic&) const = default;
};

/// The traffic of `access` under the rules of `generation`; none without lanes. Throws
/// std::invalid_argument for another width, or an address that is not a multiple of it.
[[nodiscard]] Traffic traffic(Generation generation, const WarpAccess& access);

/// Consecutive accesses of one warp.
struct SequenceTraffic {
  Traffic total;                       ///< summed over the accesses
  std::uint64_t repeated_sectors = 0;  ///< of total.sectors: touched by an earlier access as well,
                                       ///< so that a cache next to the warp has them
  /// repeated_sectors ÷ total.sectors; 0 without requests.
  [[nodiscard]] double repeated_share() const;
};
[[nodiscard]] SequenceTraffic traffic(Generation generation, std::span<const WarpAccess> accesses);

/// Wavefronts of shared memory (5.x and later) for a load or a store; none without lanes. For 16
/// bytes in some lanes of a warp it may be off: see access::wavefronts_are_known. Throws
/// std::invalid_argument for a width other than 4, 8 or 16, or an address that is not a multiple of
/// it.
[[nodiscard]] std::uint64_t shared_wavefronts(const WarpAccess& access);

}  // namespace strata
