// Counting of a piece of work: what the hardware counted of it alone, held against what a model
// says that it must count, and which level of memory served its loads and stores.
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
/// "l1", "l2" or "dram"; nothing for another word.
[[nodiscard]] std::optional<ServedBy> served_by(std::string_view residency);

/// Share of a plain stream that the claimed level must serve, and that other levels must not.
inline constexpr double level_bound = 0.01;

/// Bytes that others read from memory while work is counted: the driver, a display, the profiler.
/// The counters cannot tell them from the work's, and beside a single warp they are more than a
/// percent. Up to 41 KiB were seen on an H200 that nobody else used.
inline constexpr double stray_bytes = 64 * 1024;

/// A piece of work that is counted beside a launch of the same kernel with nothing to do.
struct CountedWork {
  std::function<void()> prepare;          ///< brings about the state in which the work is timed
  std::function<void()> work;             ///< launches it
  std::function<void()> overhead;         ///< launches the same kernel without work; its counts are
                                          ///< subtracted
  std::function<void()> check = nullptr;  ///< what the work left behind, before a row is added
};

/// What was counted of a piece of work, and of the launch without work. Only quantities that add
/// up: a ratio of the whole less a ratio of a part means nothing.
struct Counted {
  Counts whole;
  Counts overhead;

  /// whole − overhead; nothing for what was not counted.
  [[nodiscard]] std::optional<double> net(std::string_view quantity) const;
};

/// Counts the work under session.counters(), last of all launched by it, and adds each quantity of
/// the counter plan to the session as it was counted. Throws Skipped where a profiler outside does
/// the counting, std::logic_error where the session does not count. Nothing where the counts come
/// with a later pass: the session then waits for them, and the caller has nothing more to say.
[[nodiscard]] std::optional<Counted> count(Session& session, const CountedWork& work);

/// What the global loads of a piece of work asked for, all SMs together.
struct LoadCounts {
  double requests = 0;
  double sectors = 0;                      ///< asked of L1, 32 bytes each
  double l1_hit_sectors = 0;               ///< found there
  double l2_sectors = 0;                   ///< asked of L2 by L1
  double l2_miss_sectors = 0;              ///< not found there; of a divided L2: in the half asked
  std::optional<double> far_miss_sectors;  ///< that neither half held, of the other half's memory
  std::optional<double> dram_bytes;        ///< read from memory; not every chip counts it
};
/// Throws std::runtime_error that names the quantity of set `memory` that is not there.
[[nodiscard]] LoadCounts load_counts(const Counts& counts);
[[nodiscard]] LoadCounts operator-(const LoadCounts& whole, const LoadCounts& part);

/// What the model says of the same loads.
struct LoadPrediction {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t repeated_sectors = 0;  ///< touched a moment before by the same warp: hits in L1
  /// Sectors that L2 fetches when it holds none of them; 0: as many as it is asked for. It counts a
  /// miss for each sector that it fetches, also for the neighbour that comes along unasked.
  std::uint64_t fetched_sectors = 0;
  /// Sectors that differ, where several loads share some: L2 may answer a later one, or memory may
  /// have to. 0: all differ.
  std::uint64_t distinct_sectors = 0;
};

/// `model`: counted requests and sectors are the predicted ones, exactly.
[[nodiscard]] Gate model_gate(const LoadPrediction& predicted, const LoadCounts& net);

/// `level`: each within level_bound on both sides, L1 hit as often as the claimed level and the
/// pattern predict, what it missed reached L2, and there the claimed level served all of it: of a
/// divided L2 the half that was asked. What memory gave, but for stray_bytes, agrees. Where loads
/// share sectors in memory: L1 never hit, and memory gave each different sector at least once, so
/// that L2 had none to begin with, and no more than L2 missed.
[[nodiscard]] Gate level_gate(ServedBy claimed, const LoadPrediction& predicted,
                              const LoadCounts& net);

/// `level` of loads that claim none: passed where L1, L2 or memory served all of them, L2 being the
/// half that the SM is joined to where there are two; failed where L1 served loads that bypass it
/// or not all that it missed reached L2; else unverified.
[[nodiscard]] Gate level_found(const LoadPrediction& predicted, const LoadCounts& net,
                               bool past_l1);

/// What stores must come to.
struct StorePrediction {
  ServedBy claimed = ServedBy::l2;
  std::uint64_t sectors = 0;   ///< stored in all
  std::uint64_t l2_bytes = 0;  ///< that L2 may keep back
};
/// `level`: what was stored reached L2 once, sector for sector, and went on to memory where the
/// case claims so: all but what L2 may still hold; or stayed in L2.
[[nodiscard]] Gate store_level_gate(const StorePrediction& stores, const Counted& counted);

/// One gate that says what both say, as strict as the stricter one.
[[nodiscard]] Gate both(const Gate& one, const Gate& other);

/// What a model says of a counted quantity.
struct Expectation {
  std::string quantity;  ///< of a counter set: "shared_load_wavefronts"
  double predicted = 0;
  double bound = 0;  ///< relative; 0: the counts are whole numbers, and equal
};
/// `model`: every expected quantity was counted as predicted. Unverified when one was not counted.
[[nodiscard]] Gate model_gate(std::span<const Expectation> expected, const Counted& counted);

/// Rows of what loads asked for and who had it: of one read of a warp, of one load of a lane, or of
/// one request and of the bytes that are used.
enum class LoadRows : std::uint8_t { none, per_read, per_load, per_request };

}  // namespace strata
