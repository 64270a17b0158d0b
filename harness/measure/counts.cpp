#include "harness/measure/counts.hpp"

#include "harness/base/error.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/record/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace strata {
namespace {

constexpr double percent = 100;
constexpr auto bytes_of_sector = static_cast<double>(sector_bytes);

std::optional<double> count_of(const Counts& counts, std::string_view quantity) {
  const auto found = counts.find(quantity);
  if (found == counts.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

Gate verdict_of(const char* gate, bool held, const std::string& detail) {
  return {gate, held ? Verdict::passed : Verdict::failed, detail};
}

void add_to(std::optional<Gate>& gate, const Gate& other) {
  gate = gate ? both(*gate, other) : other;
}

bool about(double value, double expected, double bound = level_bound) {
  return std::abs(value - expected) <= bound;
}

/// Which level served the loads, as shares. Where L2 has two halves, an SM sends requests to the
/// half that it is attached to; that half requests lines of the other's memory from the other and
/// may keep copies. A miss of the near half was therefore served by the far half or by memory
/// behind either.
struct Served {
  double l1 = 0;                     ///< of the sectors requested from L1: hits
  double reached = 0;                ///< sectors requested from L2 ÷ sectors that L1 missed
  double near = 0;                   ///< of what an empty L2 would fetch: hits
  std::optional<double> far_memory;  ///< of the same: served by memory behind the far half
  double fetched_bytes = 0;          ///< what an empty L2 would fetch
  std::optional<double> given;       ///< bytes read from memory ÷ fetched_bytes

  [[nodiscard]] double missed() const { return 1 - near; }
  /// The largest error that other traffic can cause in `given`.
  [[nodiscard]] double stray() const { return share(stray_bytes, fetched_bytes); }
  /// L2 merges requests of several SMs for one sector that are close in time; it then serves fewer
  /// sectors than the SMs receive.
  [[nodiscard]] bool all_reached_l2() const { return about(reached, 1); }
  /// Other traffic only adds bytes. Where nothing is expected, it may also add less than was
  /// subtracted.
  [[nodiscard]] bool given_is(double expected) const {
    if (!given) return true;
    const double above = std::max(level_bound.value, stray());
    const double below = about(expected, 0) ? above : level_bound;
    return *given <= expected + above && *given >= expected - below;
  }
  /// Memory delivered everything that L2 missed, and half of that came from behind the far half, as
  /// half of the lines do. Otherwise the far half had hits.
  [[nodiscard]] bool no_far_hits() const {
    constexpr double of_lines = 0.5;
    constexpr double chance = 0.03;  // over a few thousand loads
    return (!given || *given >= missed() - level_bound) &&
           (!far_memory || *far_memory >= (of_lines - chance) * missed());
  }
};

Served served(const LoadCounts& net, const LoadPrediction& predicted) {
  // L2 counts a miss for every sector that it fetches, including the neighbour that was
  // not requested.
  const double fetched_per_requested =
      predicted.fetched_sectors == 0
          ? 1
          : share(static_cast<double>(predicted.fetched_sectors),
                  static_cast<double>(predicted.sectors - predicted.repeated_sectors));
  const double fetched = net.l2_sectors * fetched_per_requested;
  Served all{.l1 = share(net.l1_hit_sectors, net.sectors),
             .reached = share(net.l2_sectors, net.sectors - net.l1_hit_sectors),
             .near = 1 - share(net.l2_miss_sectors, fetched),
             .far_memory = std::nullopt,
             .fetched_bytes = fetched * bytes_of_sector,
             .given = std::nullopt};
  if (net.far_miss_sectors) all.far_memory = share(*net.far_miss_sectors, fetched);
  if (net.dram_bytes && fetched > 0) all.given = *net.dram_bytes / all.fetched_bytes;
  return all;
}

/// "L2 hit 0.50 % of it, memory behind the far half of L2 served 49.80 %, memory delivered 99.60 %"
std::string past_l1_of(const Served& all) {
  std::string text = fmt::format("L2 hit {:.2f} % of it", percent * all.near);
  if (all.far_memory) {
    text += fmt::format(", memory behind the far half of L2 served {:.2f} %",
                        percent * *all.far_memory);
  }
  if (all.given) text += fmt::format(", memory delivered {:.2f} %", percent * *all.given);
  return text;
}

double predicted_l1_share(ServedBy claimed, const LoadPrediction& predicted) {
  if (claimed == ServedBy::l1) return 1;
  return share(static_cast<double>(predicted.repeated_sectors),
               static_cast<double>(predicted.sectors));
}

/// Adds rows that have one sample each.
class Rows {
 public:
  explicit Rows(Session& session) : session_{session} {}
  void add(const std::string& quantity, const std::string& unit, Provenance provenance,
           const std::string& method, double value) {
    session_.add(Measurement{.quantity = quantity,
                             .unit = unit,
                             .provenance = provenance,
                             .method = method,
                             .samples = {value}});
  }
  void counted(const std::string& quantity, const std::string& unit, double value) {
    add(quantity, unit, Provenance::counted, "cupti_net", value);
  }
  void modelled(const char* quantity, const char* unit, double value) {
    add(quantity, unit, Provenance::modelled, "coalescing_model", value);
  }

 private:
  Session& session_;
};

void report_past_l1(Rows& rows, const Served& all) {
  rows.counted("l2_hit_share", "1", all.near);
  if (all.far_memory) rows.counted("dram_far_share", "1", *all.far_memory);
  // Above 1, others read the rest.
  if (all.given && all.stray() <= level_bound && *all.given <= 1 + level_bound) {
    rows.counted("dram_share", "1", *all.given);
  }
}

void report_reads(Rows& rows, const CountPlan& plan, const LoadCounts& net) {
  const auto requests = static_cast<double>(plan.loads->requests);
  const auto sectors = static_cast<double>(plan.loads->sectors);
  rows.counted("requests_per_read", "request", net.requests / plan.reads);
  rows.modelled("requests_per_read", "request", requests / plan.reads);
  rows.counted("sectors_per_read", "sector", net.sectors / plan.reads);
  rows.modelled("sectors_per_read", "sector", sectors / plan.reads);
  if (net.requests > 0) rows.counted("sectors_per_request", "sector", net.sectors / net.requests);
  if (requests > 0) rows.modelled("sectors_per_request", "sector", sectors / requests);
  const Served all = served(net, *plan.loads);
  rows.counted("l1_hit_share", "1", all.l1);
  if (!plan.served_by) return;  // no level is claimed
  const ServedBy claimed = *plan.served_by;
  rows.modelled("l1_hit_share", "1", predicted_l1_share(claimed, *plan.loads));
  if (claimed != ServedBy::l1) report_past_l1(rows, all);
}

/// For loads of one lane each.
void report_single_loads(Rows& rows, const CountPlan& plan, const LoadCounts& net) {
  rows.counted("requests_per_load", "request", net.requests / plan.reads);
  rows.modelled("requests_per_load", "request", 1);
  rows.counted("sectors_per_load", "sector", net.sectors / plan.reads);
  rows.modelled("sectors_per_load", "sector", 1);
  const Served all = served(net, *plan.loads);
  rows.counted("l1_hit_share", "1", all.l1);
  // Loads that stay in L1 send next to nothing to L2: a share of that would be noise.
  if (net.l2_sectors <= level_bound * net.sectors) return;
  rows.counted("l2_missed_sectors_per_load", "sector", net.l2_miss_sectors / net.l2_sectors);
  if (all.near >= -level_bound) report_past_l1(rows, all);
}

/// More than one miss per sector means that L2 fetches a neighbouring sector along.
void report_requests(Rows& rows, const CountPlan& plan, const LoadCounts& net) {
  if (net.requests > 0) rows.counted("sectors_per_request", "sector", net.sectors / net.requests);
  rows.modelled(
      "sectors_per_request", "sector",
      static_cast<double>(plan.loads->sectors) / static_cast<double>(plan.loads->requests));
  if (net.l2_sectors > 0) {
    rows.counted("l2_missed_per_sector", "1", net.l2_miss_sectors / net.l2_sectors);
  }
  if (net.dram_bytes) {
    rows.counted("memory_bytes_per_used_byte", "1", *net.dram_bytes / plan.used_bytes);
  }
}

void report_expected(Rows& rows, const CountPlan& plan, const Counted& counted,
                     const CounterPlan& counters) {
  for (const auto& one : plan.expected) {
    const auto quantity =
        std::ranges::find(counters.quantities, one.quantity, &CountedQuantity::name);
    const auto net = counted.net(one.quantity);
    if (quantity == counters.quantities.end() || !net) continue;
    const std::string name = one.quantity + "_per_" + plan.unit;
    rows.counted(name, quantity->unit, *net / plan.units);
    rows.add(name, quantity->unit, Provenance::modelled, plan.model, one.predicted / plan.units);
  }
}

/// Gate `level` for data in memory whose sectors are requested several times: memory delivers each
/// distinct sector at least once and no more often than L2 misses it. Hits of the far half are
/// misses of the near one.
Gate shared_level_gate(const LoadPrediction& predicted, const LoadCounts& net) {
  const Served all = served(net, predicted);
  bool held = all.all_reached_l2() && about(all.l1, 0);
  std::string detail =
      fmt::format("L1 served {:.2f} % of the sectors, {:.2f} % of the rest reached L2",
                  percent * all.l1, percent * all.reached);
  if (!all.given) {
    return {"level", held ? Verdict::unverified : Verdict::failed,
            detail + ", and memory traffic was not counted"};
  }
  const double distinct = static_cast<double>(predicted.distinct_sectors) * bytes_of_sector;
  const double missed = net.l2_miss_sectors * bytes_of_sector;
  held = held && *net.dram_bytes >= (1 - level_bound) * distinct &&
         *net.dram_bytes <= (1 + level_bound) * missed + stray_bytes;
  detail += fmt::format(
      ", memory delivered {:.2f} % of the distinct sectors and {:.2f} % of what L2 missed (bound "
      "{:.0f} %)",
      percent * *net.dram_bytes / distinct, percent * share(*net.dram_bytes, missed),
      percent * level_bound);
  return verdict_of("level", held, detail);
}

}  // namespace

std::optional<ServedBy> served_by(std::string_view residency) {
  if (residency == "l1") return ServedBy::l1;
  if (residency == "l2") return ServedBy::l2;
  if (residency == "dram") return ServedBy::dram;
  return std::nullopt;
}

std::optional<double> Counted::net(std::string_view quantity) const {
  const auto all = count_of(whole, quantity);
  const auto other = count_of(overhead, quantity);
  if (!all || !other) return std::nullopt;
  return *all - *other;
}

std::optional<Counted> count(Session& session, const CountedWork& work) {
  CounterSource* source = session.counters();
  if (source == nullptr) throw std::logic_error{"count: this session does not count"};
  // The work comes last, so that the caller can inspect what it left in memory.
  const std::array<CountedRange, 2> ranges{
      CountedRange{.name = "overhead", .prepare = work.prepare, .work = work.overhead},
      CountedRange{.name = "work", .prepare = work.prepare, .work = work.work}};
  auto counted = source->count(ranges);
  if (!counted) {
    session.wait_for_counts();
    return std::nullopt;
  }
  if (counted->size() != ranges.size()) {
    throw std::runtime_error{
        fmt::format("{} ranges were counted, not {}", counted->size(), ranges.size())};
  }
  Counted result{.whole = std::move(counted->back()), .overhead = std::move(counted->front())};
  if (result.whole.empty()) throw Skipped{"counted by an external profiler"};
  if (work.check) work.check();
  result.active_warps = count_of(result.whole, "active_warps");
  for (const auto& quantity : source->plan().quantities) {
    if (const auto value = count_of(result.whole, quantity.name)) {
      Rows{session}.add(quantity.name, quantity.unit, Provenance::counted, quantity.metric, *value);
    }
    if (quantity.additive) continue;
    result.whole.erase(quantity.name);
    result.overhead.erase(quantity.name);
  }
  return result;
}

LoadCounts load_counts(const Counts& counts) {
  const auto need = [&](std::string_view quantity) {
    if (const auto value = count_of(counts, quantity)) return *value;
    throw std::runtime_error{fmt::format(
        "{} was not counted; the level of a load cannot be determined without it", quantity)};
  };
  return {.requests = need("l1_load_requests"),
          .sectors = need("l1_load_sectors"),
          .l1_hit_sectors = need("l1_load_hit_sectors"),
          .l2_sectors = need("l2_load_sectors"),
          .l2_miss_sectors = need("l2_load_miss_sectors"),
          .far_miss_sectors = count_of(counts, "l2_fabric_miss_sectors"),
          .dram_bytes = count_of(counts, "dram_read_bytes")};
}

LoadCounts operator-(const LoadCounts& whole, const LoadCounts& part) {
  LoadCounts rest{.requests = whole.requests - part.requests,
                  .sectors = whole.sectors - part.sectors,
                  .l1_hit_sectors = whole.l1_hit_sectors - part.l1_hit_sectors,
                  .l2_sectors = whole.l2_sectors - part.l2_sectors,
                  .l2_miss_sectors = whole.l2_miss_sectors - part.l2_miss_sectors,
                  .far_miss_sectors = std::nullopt,
                  .dram_bytes = std::nullopt};
  if (whole.far_miss_sectors && part.far_miss_sectors) {
    rest.far_miss_sectors = *whole.far_miss_sectors - *part.far_miss_sectors;
  }
  if (whole.dram_bytes && part.dram_bytes) rest.dram_bytes = *whole.dram_bytes - *part.dram_bytes;
  return rest;
}

Gate model_gate(const LoadPrediction& predicted, const LoadCounts& net) {
  // Both are whole numbers, far below 2^53: a double holds them as they are.
  const bool equal = net.requests == static_cast<double>(predicted.requests) &&
                     net.sectors == static_cast<double>(predicted.sectors);
  return verdict_of("model", equal,
                    fmt::format("{:.0f} requests and {:.0f} sectors counted, {} and {} predicted",
                                net.requests, net.sectors, predicted.requests, predicted.sectors));
}

Gate merged_level_gate(const LoadCounts& net, std::uint32_t sms) {
  const double missed = net.sectors - net.l1_hit_sectors;
  const double l2_share = net.l2_sectors / missed;
  const double l2_missed = net.l2_miss_sectors / net.l2_sectors;
  return verdict_of(
      "level",
      net.l1_hit_sectors <= level_bound * net.sectors && l2_missed <= level_bound &&
          l2_share <= 1 + level_bound && l2_share * sms >= 1 - level_bound,
      fmt::format("L1 served {:.0f} sectors; L2 received {:.2f} % of the {:.0f} that "
                  "missed it, and missed {:.2f} % of those",
                  net.l1_hit_sectors, percent * l2_share, missed, percent * l2_missed));
}

Gate level_gate(ServedBy claimed, const LoadPrediction& predicted, const LoadCounts& net) {
  if (!(net.sectors > 0)) return {"level", Verdict::failed, "no loads were counted"};
  const bool shared =
      predicted.distinct_sectors > 0 && predicted.distinct_sectors < predicted.sectors;
  if (claimed == ServedBy::dram && shared) return shared_level_gate(predicted, net);
  const Served all = served(net, predicted);
  const double expected = predicted_l1_share(claimed, predicted);
  std::string detail = fmt::format("L1 served {:.2f} % of the sectors (predicted {:.2f} %)",
                                   percent * all.l1, percent * expected);
  bool held = about(all.l1, expected);
  if (claimed != ServedBy::l1) {
    const double memory = claimed == ServedBy::dram ? 1 : 0;
    held = held && all.all_reached_l2() && about(all.missed(), memory) && all.given_is(memory);
    detail += fmt::format(", {:.2f} % of the rest reached L2; {}", percent * all.reached,
                          past_l1_of(all));
  }
  detail += fmt::format(" (bound {:.0f} %)", percent * level_bound);
  return verdict_of("level", held, detail);
}

Gate level_found(const LoadPrediction& predicted, const LoadCounts& net, bool past_l1) {
  if (!(net.sectors > 0)) return {"level", Verdict::failed, "no loads were counted"};
  const Served all = served(net, predicted);
  std::string detail = fmt::format("L1 served {:.2f} %", percent * all.l1);
  if (past_l1 && all.l1 > 0) {
    return {"level", Verdict::failed, detail + ": these loads bypass L1"};
  }
  if (about(all.l1, 1)) return {"level", Verdict::passed, detail};
  detail +=
      fmt::format(", {:.2f} % of the rest reached L2; {}", percent * all.reached, past_l1_of(all));
  if (!all.all_reached_l2()) return {"level", Verdict::failed, detail};
  if (all.near < -level_bound) {
    return level_unverified(detail + ": L2 missed more than it fetches at once");
  }
  if (about(all.l1, 0) && about(all.near, 1)) return {"level", Verdict::passed, detail};
  if (about(all.l1, 0) && about(all.near, 0)) {
    if (all.no_far_hits()) return {"level", Verdict::passed, detail};
    return level_unverified("the far half of L2 held part of it: " + detail);
  }
  return level_unverified("several levels served the loads: " + detail);
}

Gate store_level_gate(const StorePrediction& stores, const Counted& counted) {
  const auto reached = counted.net("l2_store_sectors");
  if (!reached) return {"level", Verdict::unverified, "stores that reach L2 were not counted"};
  const auto stored = static_cast<double>(stores.sectors);
  bool held = std::abs(*reached - stored) <= level_bound * stored;
  std::string detail =
      fmt::format("{:.2f} % of the stored sectors reached L2", percent * *reached / stored);
  if (const auto out = counted.net("dram_write_bytes")) {
    const double bytes = stored * bytes_of_sector;
    const bool to_dram = stores.claimed == ServedBy::dram;
    held =
        held && (to_dram ? *out >= (1 - level_bound) * bytes - static_cast<double>(stores.l2_bytes)
                         : *out <= level_bound * bytes || *out <= stray_bytes);
    detail += fmt::format(", {:.2f} % of them reached memory{}", percent * *out / bytes,
                          to_dram ? " (except what L2 may retain)" : "");
  }
  detail += fmt::format(" (bound {:.0f} %)", percent * level_bound);
  return verdict_of("level", held, detail);
}

Gate model_gate(std::span<const Expectation> expected, const Counted& counted) {
  Gate gate{"model", Verdict::passed, ""};
  for (const auto& one : expected) {
    const auto net = counted.net(one.quantity);
    std::string detail;
    if (!net) {
      if (gate.verdict == Verdict::passed) gate.verdict = Verdict::unverified;
      detail = fmt::format("{} was not counted", one.quantity);
    } else {
      if (std::abs(*net - one.predicted) > one.bound * std::abs(one.predicted)) {
        gate.verdict = Verdict::failed;
      }
      detail =
          fmt::format("{}: {:.0f} counted, {:.0f} predicted", one.quantity, *net, one.predicted);
      if (one.bound > 0) detail += fmt::format(" (bound {:g} %)", percent * one.bound);
    }
    gate.detail += (gate.detail.empty() ? "" : ", ") + detail;
  }
  return gate;
}

Gate both(const Gate& one, const Gate& other) {
  const auto either = [&](Verdict verdict) {
    return one.verdict == verdict || other.verdict == verdict;
  };
  const Verdict verdict = either(Verdict::failed)       ? Verdict::failed
                          : either(Verdict::unverified) ? Verdict::unverified
                                                        : Verdict::passed;
  return {one.name, verdict, one.detail + "; " + other.detail};
}

void judge_counts(Session& session, const CountPlan& plan, const Counted& counted) {
  Rows rows{session};
  std::optional<Gate> model;
  std::optional<Gate> level;
  if (plan.loads) {
    const LoadCounts other = load_counts(counted.overhead);
    LoadCounts net = load_counts(counted.whole) - other;
    if (plan.memory_is_no_proof) net.dram_bytes.reset();
    if (plan.rows == LoadRows::per_read) report_reads(rows, plan, net);
    if (plan.rows == LoadRows::per_load) report_single_loads(rows, plan, net);
    if (plan.rows == LoadRows::per_request) report_requests(rows, plan, net);
    model = model_gate(*plan.loads, net);
    if (plan.sms_of_line > 0) {
      rows.counted("l2_sectors_per_missed_sector", "1",
                   net.l2_sectors / (net.sectors - net.l1_hit_sectors));
      level = merged_level_gate(net, plan.sms_of_line);
    }
    if (plan.any_level) level = level_found(*plan.loads, net, plan.past_l1);
    if (plan.served_by) level = level_gate(*plan.served_by, *plan.loads, net);
    if (plan.rows == LoadRows::per_read) {
      session.fact("overhead_requests", static_cast<std::int64_t>(other.requests));
      session.fact("overhead_sectors", static_cast<std::int64_t>(other.sectors));
    }
  }
  if (plan.stores) {
    const Expectation stores{.quantity = "l1_store_sectors",
                             .predicted = static_cast<double>(plan.stores->sectors)};
    add_to(model, model_gate({&stores, 1}, counted));
    add_to(level, store_level_gate(*plan.stores, counted));
  }
  if (!plan.expected.empty()) {
    if (!plan.unit.empty()) report_expected(rows, plan, counted, session.counters()->plan());
    add_to(model, model_gate(plan.expected, counted));
  }
  if (model) session.add(*model);
  if (level) session.add(*level);
  if (plan.warps_per_sm > 0) {
    rows.add("active_warps", "warp", Provenance::modelled, "launch_shape", plan.warps_per_sm);
    session.add(occupancy_gate(counted.active_warps, plan.warps_per_sm));
  }
  if (plan.more) plan.more(session, counted);
}

}  // namespace strata
