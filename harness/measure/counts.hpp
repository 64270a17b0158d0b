// Counting of work: the counts of the work alone, the prediction that they must match, and the
// memory level that served its loads and stores.
#pragma once

#include "harness/counters/counters.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/coalescing.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// The level that a case claims its loads are served from.
enum class ServedBy { l1, l2, dram };
/// "l1", "l2" or "dram"; empty for any other word.
[[nodiscard]] std::optional<ServedBy> served_by(std::string_view residency);

/// Bytes that others (driver, display, profiler) read from memory while work is counted. The
/// counters cannot distinguish them from the work's, and beside a single warp they are more than a
/// percent. Up to 41 KiB were seen on an otherwise idle H200.
inline constexpr double stray_bytes = 64 * 1024;

/// Work that is counted together with an empty launch of the same kernel.
struct CountedWork {
  std::function<void()> prepare;  ///< establishes the state in which the work is timed
  std::function<void()> work;     ///< launches it
  std::function<void()>
      overhead;  ///< launches the same kernel without work; its counts are subtracted
  std::function<void()> check = nullptr;  ///< checks the results, before a row is added
};

/// Counts of the work and of the empty launch. Only additive quantities: a difference of ratios
/// means nothing.
struct Counted {
  Counts whole;
  Counts overhead;
  std::optional<double> active_warps = std::nullopt;  ///< per SM during the work, an average

  /// whole − overhead; empty for quantities that were not counted.
  [[nodiscard]] std::optional<double> net(std::string_view quantity) const;
};

/// Counts the work under session.counters(), as the last launches of the case, and adds each
/// quantity of the counter plan to the session. Throws Skipped if an external profiler counts, and
/// std::logic_error if the session does not count. Returns nothing if the counts come with a later
/// pass: the session then waits for them, and the caller adds nothing.
[[nodiscard]] std::optional<Counted> count(Session& session, const CountedWork& work);

/// Counts of the global loads of the work, over all SMs.
struct LoadCounts {
  double requests = 0;
  double sectors = 0;          ///< requested from L1, 32 bytes each
  double l1_hit_sectors = 0;   ///< found there
  double l2_sectors = 0;       ///< requested from L2 by L1
  double l2_miss_sectors = 0;  ///< misses in L2; with a divided L2: in the near half
  std::optional<double>
      far_miss_sectors;  ///< misses in both halves, served by the memory of the other half
  std::optional<double> dram_bytes;  ///< read from memory; not every chip counts it
};
/// Throws std::runtime_error naming the quantity of set `memory` that is missing.
[[nodiscard]] LoadCounts load_counts(const Counts& counts);
[[nodiscard]] LoadCounts operator-(const LoadCounts& whole, const LoadCounts& part);

/// The prediction for the same loads.
struct LoadPrediction {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t repeated_sectors = 0;  ///< touched just before by the same warp: hits in L1
  /// Sectors that L2 fetches if it holds none of them; 0: as many as requested. L2 counts a miss
  /// for each sector that it fetches, including the neighbour that was not requested.
  std::uint64_t fetched_sectors = 0;
  /// Distinct sectors, where several loads share some: L2 or memory may serve the later loads. 0:
  /// all are distinct.
  std::uint64_t distinct_sectors = 0;
};

/// `model`: counted requests and sectors are the predicted ones, exactly.
[[nodiscard]] Gate model_gate(const LoadPrediction& predicted, const LoadCounts& net);

/// `level`: within level_bound on both sides, L1 hit as often as the claimed level and the pattern
/// predict, all its misses reached L2, and the claimed level served all of them; with a divided L2,
/// the near half. Memory traffic agrees, except for stray_bytes. Where loads share
/// sectors in memory: L1 never hit, and memory delivered each distinct sector at least once (so L2
/// held none at the start) and no more than L2 missed.
[[nodiscard]] Gate level_gate(ServedBy claimed, const LoadPrediction& predicted,
                              const LoadCounts& net);

/// `level` for a line that `sms` SMs load at once: L2 served what L1 did not, each sector for one
/// SM up to all of them.
[[nodiscard]] Gate merged_level_gate(const LoadCounts& net, std::uint32_t sms);

/// `level` for loads that claim none. Passed if L1, L2 or memory served all of them (of two L2
/// halves, the one that the SM is attached to). Failed if L1 served loads that bypass it, or not
/// all of its misses reached L2. Otherwise unverified.
[[nodiscard]] Gate level_found(const LoadPrediction& predicted, const LoadCounts& net,
                               bool past_l1);

/// The prediction for stores.
struct StorePrediction {
  ServedBy claimed = ServedBy::l2;
  std::uint64_t sectors = 0;   ///< stored in all
  std::uint64_t l2_bytes = 0;  ///< that L2 may retain
};
/// `level`: every stored sector reached L2 exactly once, and then memory if the case claims so
/// (except what L2 may retain), or stayed in L2.
[[nodiscard]] Gate store_level_gate(const StorePrediction& stores, const Counted& counted);

/// One gate with both details, and the stricter verdict.
[[nodiscard]] Gate both(const Gate& one, const Gate& other);

/// The prediction for a counted quantity.
struct Expectation {
  std::string quantity;  ///< name in a counter set: "shared_load_wavefronts"
  double predicted = 0;
  double bound = 0;  ///< relative; 0: counts are integers and must be equal
};
/// `model`: every quantity was counted as predicted. Unverified if one was not counted.
[[nodiscard]] Gate model_gate(std::span<const Expectation> expected, const Counted& counted);

/// Rows about loads and the levels that served them: per read of a warp, per load of a lane, or per
/// request and per used byte.
enum class LoadRows : std::uint8_t { none, per_read, per_load, per_request };

}  // namespace strata
