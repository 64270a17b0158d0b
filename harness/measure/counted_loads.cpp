#include "harness/measure/counted_loads.hpp"

#include "harness/case/text.hpp"
#include "harness/measure/counted_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <variant>

namespace strata {
namespace {

constexpr double percent = 100;

std::optional<double> find(const Counts& counts, std::string_view quantity) {
  const auto found = counts.find(quantity);
  if (found == counts.end()) return std::nullopt;
  return found->second;
}

double need(const Counts& counts, std::string_view quantity) {
  if (const auto value = find(counts, quantity)) return *value;
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

void report(Session& session, const CountedLoads& loads, const LoadCounts& net) {
  Rows rows{session};
  const auto& predicted = loads.predicted;
  const auto requests = static_cast<double>(predicted.requests);
  const auto sectors = static_cast<double>(predicted.sectors);
  rows.counted("requests_per_read", "request", net.requests / loads.reads);
  rows.modelled("requests_per_read", "request", requests / loads.reads);
  rows.counted("sectors_per_read", "sector", net.sectors / loads.reads);
  rows.modelled("sectors_per_read", "sector", sectors / loads.reads);
  if (net.requests > 0) {
    rows.counted("sectors_per_request", "sector", net.sectors / net.requests);
  }
  if (requests > 0) rows.modelled("sectors_per_request", "sector", sectors / requests);
  const Shares shares = shares_of(net, predicted);
  rows.counted("l1_hit_share", "1", shares.l1);
  rows.modelled("l1_hit_share", "1", predicted_l1_share(loads.claimed, predicted));
  if (loads.claimed == ServedBy::l1) return;  // next to nothing reaches L2: a share of it is noise
  rows.counted("l2_hit_share", "1", shares.l2);
  if (shares.dram) rows.counted("dram_share", "1", *shares.dram);
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
          .dram_bytes = find(counts, "dram_read_bytes")};
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

void count_loads(Session& session, const CountedLoads& loads) {
  const Counted counted =
      count(session, {.prepare = loads.prepare, .work = loads.work, .overhead = loads.overhead});
  const LoadCounts other = load_counts(counted.overhead);
  const LoadCounts net = load_counts(counted.whole) - other;
  report(session, loads, net);
  session.add(model_gate(loads.predicted, net));
  session.add(level_gate(loads.claimed, loads.predicted, net));
  session.fact("overhead_requests", static_cast<std::int64_t>(other.requests));
  session.fact("overhead_sectors", static_cast<std::int64_t>(other.sectors));
}

}  // namespace strata
