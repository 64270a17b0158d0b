#include "harness/measure/counted_loads.hpp"

#include "harness/case/text.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/record/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <variant>

namespace strata {
namespace {

constexpr double percent = 100;

std::optional<double> count_of(const Counts& counts, std::string_view quantity) {
  const auto found = counts.find(quantity);
  if (found == counts.end()) return std::nullopt;
  return found->second;
}

double need(const Counts& counts, std::string_view quantity) {
  if (const auto value = count_of(counts, quantity)) return *value;
  throw std::runtime_error{
      fmt::format("{} was not counted; the level of a load cannot be told without it", quantity)};
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

struct Shares {
  double l1;                   ///< of the sectors asked of L1: found there
  double l2;                   ///< of the sectors asked of L2: found there
  std::optional<double> dram;  ///< bytes read from memory ÷ bytes asked of L2
};

Shares shares_of(const LoadCounts& net, const LoadPrediction& predicted) {
  const double could_miss = predicted.fetched_sectors > 0
                                ? static_cast<double>(predicted.fetched_sectors)
                                : net.l2_sectors;
  Shares shares{.l1 = share(net.l1_hit_sectors, net.sectors),
                .l2 = could_miss > 0 ? 1 - net.l2_miss_sectors / could_miss : 0,
                .dram = std::nullopt};
  if (net.dram_bytes) {
    shares.dram = share(*net.dram_bytes, net.l2_sectors * static_cast<double>(sector_bytes));
  }
  return shares;
}

double predicted_l1_share(ServedBy claimed, const LoadPrediction& predicted) {
  if (claimed == ServedBy::l1) return 1;
  return share(static_cast<double>(predicted.repeated_sectors),
               static_cast<double>(predicted.sectors));
}

/// Puts rows together that have one sample each.
class Rows {
 public:
  explicit Rows(Session& session) : session_{session} {}
  void add(std::string quantity, std::string unit, Provenance provenance, std::string method,
           double value) {
    session_.add(Measurement{.quantity = std::move(quantity),
                             .unit = std::move(unit),
                             .provenance = provenance,
                             .method = std::move(method),
                             .samples = {value}});
  }
  void counted(const char* quantity, const char* unit, double value) {
    add(quantity, unit, Provenance::counted, "cupti_net", value);
  }
  void modelled(const char* quantity, const char* unit, double value) {
    add(quantity, unit, Provenance::modelled, "coalescing_model", value);
  }

 private:
  Session& session_;
};

void report_reads(Rows& rows, const LoadsOfWork& work, const LoadCounts& net) {
  const auto& predicted = work.predicted;
  const auto requests = static_cast<double>(predicted.requests);
  const auto sectors = static_cast<double>(predicted.sectors);
  rows.counted("requests_per_read", "request", net.requests / work.reads);
  rows.modelled("requests_per_read", "request", requests / work.reads);
  rows.counted("sectors_per_read", "sector", net.sectors / work.reads);
  rows.modelled("sectors_per_read", "sector", sectors / work.reads);
  if (net.requests > 0) {
    rows.counted("sectors_per_request", "sector", net.sectors / net.requests);
  }
  if (requests > 0) rows.modelled("sectors_per_request", "sector", sectors / requests);
  const Shares shares = shares_of(net, predicted);
  const ServedBy claimed = work.served_by.value();
  rows.counted("l1_hit_share", "1", shares.l1);
  rows.modelled("l1_hit_share", "1", predicted_l1_share(claimed, predicted));
  if (claimed == ServedBy::l1) return;  // next to nothing reaches L2: a share of it is noise
  rows.counted("l2_hit_share", "1", shares.l2);
  if (shares.dram) rows.counted("dram_share", "1", *shares.dram);
}

/// Of loads of one lane each. L2 counts sectors_of_miss missed sectors for each that was asked for
/// and not there: those that it fetches at once.
void report_single_loads(Rows& rows, const LoadsOfWork& work, const LoadCounts& net) {
  rows.counted("requests_per_load", "request", net.requests / work.reads);
  rows.modelled("requests_per_load", "request", 1);
  rows.counted("sectors_per_load", "sector", net.sectors / work.reads);
  rows.modelled("sectors_per_load", "sector", 1);
  if (net.sectors > 0) rows.counted("l1_hit_share", "1", net.l1_hit_sectors / net.sectors);
  // Beside loads that stay in L1 next to nothing reaches L2: a share of it would be noise.
  if (net.l2_sectors <= level_bound * net.sectors) return;
  const double missed = net.l2_miss_sectors / net.l2_sectors;
  rows.counted("l2_missed_sectors_per_load", "sector", missed);
  if (missed / work.sectors_of_miss <= 1 + level_bound) {
    rows.counted("l2_hit_share", "1", std::max(1 - missed / work.sectors_of_miss, 0.0));
  }
  if (net.dram_bytes) {
    rows.counted("dram_share", "1",
                 *net.dram_bytes / (net.l2_sectors * static_cast<double>(sector_bytes)));
  }
}

/// L2 misses more than one for each sector where it fetches a sector's neighbour with it.
void report_requests(Rows& rows, const LoadsOfWork& work, const LoadCounts& net) {
  if (net.requests > 0) {
    rows.counted("sectors_per_request", "sector", net.sectors / net.requests);
  }
  rows.modelled(
      "sectors_per_request", "sector",
      static_cast<double>(work.predicted.sectors) / static_cast<double>(work.predicted.requests));
  if (net.l2_sectors > 0) {
    rows.counted("l2_missed_per_sector", "1", net.l2_miss_sectors / net.l2_sectors);
  }
  if (net.dram_bytes) {
    rows.counted("memory_bytes_per_used_byte", "1", *net.dram_bytes / work.used_bytes);
  }
}

/// `level` of data in memory whose sectors are asked for several times.
Gate shared_level_gate(const LoadPrediction& predicted, const LoadCounts& net) {
  const double l1 = net.l1_hit_sectors / net.sectors;
  bool held = l1 <= level_bound;
  std::string detail = fmt::format("L1 served {:.2f} % of the sectors", percent * l1);
  if (!net.dram_bytes) {
    return {"level", held ? Verdict::unverified : Verdict::failed,
            detail + ", and what memory gave was not counted"};
  }
  const auto distinct = static_cast<double>(predicted.distinct_sectors * sector_bytes);
  held = held && *net.dram_bytes >= (1 - level_bound) * distinct;
  detail += fmt::format(", memory gave {:.2f} % of those that differ (bound {:.0f} %)",
                        percent * *net.dram_bytes / distinct, percent * level_bound);
  return {"level", held ? Verdict::passed : Verdict::failed, detail};
}

}  // namespace

std::optional<ServedBy> served_by(std::string_view residency) {
  if (residency == "l1") return ServedBy::l1;
  if (residency == "l2") return ServedBy::l2;
  if (residency == "dram") return ServedBy::dram;
  return std::nullopt;
}

LoadCounts load_counts(const Counts& counts) {
  return {.requests = need(counts, "l1_load_requests"),
          .sectors = need(counts, "l1_load_sectors"),
          .l1_hit_sectors = need(counts, "l1_load_hit_sectors"),
          .l2_sectors = need(counts, "l2_load_sectors"),
          .l2_miss_sectors = need(counts, "l2_load_miss_sectors"),
          .dram_bytes = count_of(counts, "dram_read_bytes")};
}

LoadCounts operator-(const LoadCounts& whole, const LoadCounts& part) {
  LoadCounts rest{.requests = whole.requests - part.requests,
                  .sectors = whole.sectors - part.sectors,
                  .l1_hit_sectors = whole.l1_hit_sectors - part.l1_hit_sectors,
                  .l2_sectors = whole.l2_sectors - part.l2_sectors,
                  .l2_miss_sectors = whole.l2_miss_sectors - part.l2_miss_sectors,
                  .dram_bytes = std::nullopt};
  if (whole.dram_bytes && part.dram_bytes) rest.dram_bytes = *whole.dram_bytes - *part.dram_bytes;
  return rest;
}

Gate model_gate(const LoadPrediction& predicted, const LoadCounts& net) {
  // Both are whole numbers, far below 2^53: a double holds them as they are.
  const bool equal = net.requests == static_cast<double>(predicted.requests) &&
                     net.sectors == static_cast<double>(predicted.sectors);
  return {"model", equal ? Verdict::passed : Verdict::failed,
          fmt::format("{:.0f} requests and {:.0f} sectors counted, {} and {} predicted",
                      net.requests, net.sectors, predicted.requests, predicted.sectors)};
}

Gate level_gate(ServedBy claimed, const LoadPrediction& predicted, const LoadCounts& net) {
  if (!(net.sectors > 0)) return {"level", Verdict::failed, "no loads were counted"};
  const bool shared =
      predicted.distinct_sectors > 0 && predicted.distinct_sectors < predicted.sectors;
  if (claimed == ServedBy::dram && shared) return shared_level_gate(predicted, net);
  const Shares shares = shares_of(net, predicted);
  const double expected = predicted_l1_share(claimed, predicted);
  std::string detail = fmt::format("L1 served {:.2f} % of the sectors (predicted {:.2f} %)",
                                   percent * shares.l1, percent * expected);
  bool held = std::abs(shares.l1 - expected) <= level_bound;
  if (claimed != ServedBy::l1) {
    const double l2 = claimed == ServedBy::l2 ? 1 : 0;
    held = held && std::abs(shares.l2 - l2) <= level_bound;
    detail += fmt::format(", L2 {:.2f} % of the rest", percent * shares.l2);
    if (shares.dram) {
      // More than was asked for may come from memory: a miss can bring neighbours along.
      held = held && (claimed == ServedBy::l2
                          ? *shares.dram <= level_bound || *net.dram_bytes <= stray_bytes
                          : *shares.dram >= 1 - level_bound);
      detail += fmt::format(", memory gave {:.2f} % of it", percent * *shares.dram);
    }
  }
  detail += fmt::format(" (bound {:.0f} %)", percent * level_bound);
  return {"level", held ? Verdict::passed : Verdict::failed, detail};
}

Gate level_found(const LoadCounts& net, bool past_l1, double sectors_of_miss) {
  if (!(net.sectors > 0)) return {"level", Verdict::failed, "no loads were counted"};
  const double l1 = net.l1_hit_sectors / net.sectors;
  const double missed =
      net.l2_sectors > 0 ? net.l2_miss_sectors / net.l2_sectors / sectors_of_miss : 0;
  if (missed > 1 + level_bound) {
    return level_unverified(fmt::format(
        "L2 missed {:.2f} sectors for each that was asked for: more than it fetches at once",
        missed * sectors_of_miss));
  }
  const double l2 = (1 - l1) * (1 - missed);
  const double memory = (1 - l1) * missed;
  const std::string detail = fmt::format("L1 served {:.2f} %, L2 {:.2f} %, memory {:.2f} %",
                                         percent * l1, percent * l2, percent * memory);
  if (past_l1 && l1 > 0) {
    return {"level", Verdict::failed, detail + ": these loads pass L1 by"};
  }
  if (std::max({l1, l2, memory}) >= 1 - level_bound) return {"level", Verdict::passed, detail};
  return level_unverified("several levels served the loads: " + detail);
}

Generation generation_of(const Facts& device) {
  const auto found = device.find("compute_capability");
  const auto* text = found == device.end() ? nullptr : std::get_if<std::string>(&found->second);
  const std::string_view words = text == nullptr ? std::string_view{} : *text;
  const auto dot = words.find('.');
  const auto major = whole_number(words.substr(0, dot));
  const auto minor =
      dot == std::string_view::npos ? std::nullopt : whole_number(words.substr(dot + 1));
  if (!major || !minor) {
    throw std::runtime_error{fmt::format(
        "the device's compute capability is {}, not of the form 9.0", in_quotes(words))};
  }
  return generation_of(static_cast<int>(*major), static_cast<int>(*minor));
}

double sectors_of_l2_miss(const Facts& device) {
  const auto found = device.find("l2_fetch_granularity_bytes");
  if (found == device.end()) return 1;
  const auto bytes = static_cast<double>(std::get<std::int64_t>(found->second));
  return std::max(1.0, bytes / double{sector_bytes});
}

void report_loads(Session& session, LoadRows rows, const LoadsOfWork& work, const LoadCounts& net) {
  Rows added{session};
  if (rows == LoadRows::per_read) report_reads(added, work, net);
  if (rows == LoadRows::per_load) report_single_loads(added, work, net);
  if (rows == LoadRows::per_request) report_requests(added, work, net);
}

Gate store_level_gate(const StorePrediction& stores, const Counted& counted) {
  const auto reached = counted.net("l2_store_sectors");
  if (!reached) return {"level", Verdict::unverified, "stores that reach L2 were not counted"};
  const auto stored = static_cast<double>(stores.sectors);
  bool held = std::abs(*reached - stored) <= level_bound * stored;
  std::string detail =
      fmt::format("{:.2f} % of the stored sectors reached L2", percent * *reached / stored);
  if (const auto out = counted.net("dram_write_bytes")) {
    const double bytes = stored * static_cast<double>(sector_bytes);
    if (stores.claimed == ServedBy::dram) {
      held = held && *out >= (1 - level_bound) * bytes - static_cast<double>(stores.l2_bytes);
      detail += fmt::format(", {:.2f} % of them went on to memory (all but what L2 may keep back)",
                            percent * *out / bytes);
    } else {
      held = held && (*out <= level_bound * bytes || *out <= stray_bytes);
      detail += fmt::format(", {:.2f} % of them went on to memory", percent * *out / bytes);
    }
  }
  detail += fmt::format(" (bound {:.0f} %)", percent * level_bound);
  return {"level", held ? Verdict::passed : Verdict::failed, detail};
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

void count_loads(Session& session, const CountedLoads& loads) {
  const std::optional<Counted> counted =
      count(session, {.prepare = loads.prepare, .work = loads.work, .overhead = loads.overhead});
  if (!counted) return;
  const LoadCounts other = load_counts(counted->overhead);
  const LoadCounts net = load_counts(counted->whole) - other;
  report_loads(session, LoadRows::per_read,
               {.predicted = loads.predicted, .served_by = loads.claimed, .reads = loads.reads},
               net);
  session.add(model_gate(loads.predicted, net));
  session.add(level_gate(loads.claimed, loads.predicted, net));
  session.fact("overhead_requests", static_cast<std::int64_t>(other.requests));
  session.fact("overhead_sectors", static_cast<std::int64_t>(other.sectors));
}

}  // namespace strata
