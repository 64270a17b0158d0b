// From hardware counts to proof: what the loads of a piece of work asked for, what the coalescing
// model says that they must ask for, and which level of memory served them.
#pragma once

#include "harness/counters/counters.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/measure/session.hpp"
#include "harness/model/coalescing.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace strata {

/// The level that a case claims its loads are served from.
enum class ServedBy { l1, l2, dram };
/// "l1", "l2" or "dram"; nothing for another word.
[[nodiscard]] std::optional<ServedBy> served_by(std::string_view residency);

/// Share of a plain stream that the claimed level must serve, and that other levels must not.
inline constexpr double level_bound = 0.01;

/// Bytes that others read from memory while a walk is counted: the driver, a display, the profiler.
/// Nobody can tell them from the walk's, and beside a walk of a single warp they are more than a
/// percent. Up to 41 KiB were seen on an H200 that nobody else used.
inline constexpr double stray_bytes = 64 * 1024;

/// What the global loads of a piece of work asked for, all SMs together.
struct LoadCounts {
  double requests = 0;
  double sectors = 0;                ///< asked of L1, 32 bytes each
  double l1_hit_sectors = 0;         ///< found there
  double l2_sectors = 0;             ///< asked of L2 by L1
  double l2_miss_sectors = 0;        ///< not found there
  std::optional<double> dram_bytes;  ///< read from memory; not every chip counts it
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

/// `level`: L1 found what the claimed level and the pattern predict that it finds, and what it did
/// not find came from where the case claims, each within level_bound. Of what came from memory,
/// stray_bytes are nobody's. Where loads share sectors in memory: L1 found none, and memory gave
/// each different sector at least once, so that L2 had none to begin with.
[[nodiscard]] Gate level_gate(ServedBy claimed, const LoadPrediction& predicted,
                              const LoadCounts& net);

/// `level` of loads that claim none: passed where one level served all of them, failed where L1
/// served loads that pass it by, else unverified. L2 counts `sectors_of_miss` missed sectors for
/// each that was asked for and not there.
[[nodiscard]] Gate level_found(const LoadCounts& net, bool past_l1, double sectors_of_miss = 1);

/// Rows of what loads asked for and who had it: of one read of a warp, of one load of a lane, or of
/// one request and of the bytes that are used.
enum class LoadRows : std::uint8_t { none, per_read, per_load, per_request };
struct LoadsOfWork {
  LoadPrediction predicted;
  std::optional<ServedBy> served_by;
  double reads = 1;            ///< rows are of one of these
  double sectors_of_miss = 1;  ///< that L2 fetches for one that it misses
  double used_bytes = 0;       ///< per_request: that the loads are made for
};
void report_loads(Session& session, LoadRows rows, const LoadsOfWork& work, const LoadCounts& net);

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

/// A piece of work whose loads are counted.
struct CountedLoads {
  std::function<void()> prepare;   ///< brings about the state in which the work is timed
  std::function<void()> work;      ///< launches it
  std::function<void()> overhead;  ///< launches the same kernel with no reads to do: what is left
                                   ///< are the loads that any such kernel makes, and they are taken
                                   ///< off
  ServedBy claimed = ServedBy::l1;
  LoadPrediction predicted;
  double reads = 1;  ///< per-read quantities are of one of these
};

/// The rules that a device goes by, from its fact `compute_capability` ("9.0"). Throws
/// std::runtime_error when it has none.
[[nodiscard]] Generation generation_of(const Facts& device);

/// Sectors that the L2 of a device fetches for one that it misses, from its fact
/// `l2_fetch_granularity_bytes`; 1 where that is not known.
[[nodiscard]] double sectors_of_l2_miss(const Facts& device);

/// Counts the work under session.counters(), last of all launched by it, and adds to the session:
/// each quantity of the counter plan as it was counted; requests, sectors and their ratio for each
/// read, counted and modelled; the shares of each level; the gates `model` and `level`; what was
/// taken off, as facts. Throws Skipped where a profiler outside does the counting.
void count_loads(Session& session, const CountedLoads& loads);

}  // namespace strata
