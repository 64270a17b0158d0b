// What one access of a warp asks of the memory system, by the published rules of each generation.
// Nothing but arithmetic on addresses: no cache is warm or cold here, so what a cache spares is
// told by SequenceTraffic::repeated_sectors alone.
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
/// What shared memory hands over in one wavefront: a word from each bank.
inline constexpr std::uint64_t wavefront_bytes = shared_banks * bank_bytes;

/// One load instruction of one warp: where each lane that takes part reads, and how much.
struct WarpAccess {
  unsigned width = 4;  ///< bytes of each lane: 1, 2, 4, 8 or 16; addresses are multiples of it
  std::array<std::optional<std::uint64_t>, warp_lanes> addresses{};  ///< byte addresses
};

/// Compute capabilities that share their rules for global memory.
enum class Generation { cc1_0, cc1_2, cc2, cc3, cc5, cc7 };

/// A generation as people name it, and where its rules are written down.
struct GenerationInfo {
  Generation generation;
  std::string_view name;    ///< "1.0-1.1": also the word of case ids and of --generation
  std::string_view chips;   ///< "G80, G92: 8800 GTX"
  std::string_view rule;    ///< the rule in one sentence
  std::string_view source;  ///< document, version, section
};
[[nodiscard]] std::span<const GenerationInfo> generations();
[[nodiscard]] const GenerationInfo& info_of(Generation generation);
[[nodiscard]] std::optional<Generation> generation_from(std::string_view name);
/// The rules of a compute capability; newer ones than any that is known follow the newest.
[[nodiscard]] Generation generation_of(int major, int minor);

/// What an access asks for. Where the pipeline takes an access in parts, sectors and lines count
/// again in every part that touches them: 7.x is the first that sees the whole warp at every width.
struct Traffic {
  std::uint64_t requests = 0;      ///< that the memory pipeline takes one by one
  std::uint64_t transactions = 0;  ///< with memory, of whatever size
  std::uint64_t sectors = 0;       ///< distinct 32-byte sectors of each request, summed
  std::uint64_t lines = 0;         ///< distinct 128-byte lines of each request, summed
  std::uint64_t wavefronts = 0;    ///< passes through the data stage, at the least; 7.x on
  std::uint64_t bytes_moved = 0;   ///< by the transactions
  std::uint64_t bytes_used = 0;    ///< distinct bytes that some lane asked for

  /// bytes_moved ÷ bytes_used: 1 when nothing is moved in vain; 0 when nothing was asked for.
  [[nodiscard]] double moved_over_used() const;
  Traffic& operator+=(const Traffic& other);
  bool operator==(const Traffic&) const = default;
};

/// What `access` asks for under the rules of `generation`. An access without lanes asks nothing.
/// Throws std::invalid_argument for another width, or an address that is no multiple of it.
[[nodiscard]] Traffic traffic(Generation generation, const WarpAccess& access);

/// Several accesses of one warp, one after the other.
struct SequenceTraffic {
  Traffic total;                       ///< summed over the accesses
  std::uint64_t repeated_sectors = 0;  ///< of total.sectors: touched by an earlier access as well,
                                       ///< so that a cache next to the warp has them
  /// repeated_sectors ÷ total.sectors; 0 when nothing was asked for.
  [[nodiscard]] double repeated_share() const;
};
[[nodiscard]] SequenceTraffic traffic(Generation generation, std::span<const WarpAccess> accesses);

/// Passes through the banks of shared memory (5.x and later) for a load or a store; none without
/// lanes. Throws std::invalid_argument for another width than 4, 8 or 16, or an address that is no
/// multiple of it.
[[nodiscard]] std::uint64_t shared_wavefronts(const WarpAccess& access);

}  // namespace strata
