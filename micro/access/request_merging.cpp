#include "micro/access/request_merging.hpp"

#include "harness/case/choices.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::request_merging {
namespace {

/// The window's values, computed from the stamps, in this order.
enum Cell : std::size_t { first_load, other_loads, apart };

/// Cycles of a load: of the first SM, the median of the others, and the cycles by which the others
/// are later.
Inside read_cells(const Launched& brief, const Launched& full) {
  const auto of_round = [&](const Stamp& stamp, unsigned mark) {
    const auto same = std::ranges::find(brief.stamps, stamp.tag, &Stamp::tag);
    if (same == brief.stamps.end()) throw std::runtime_error{"a block wrote no stamp"};
    return (static_cast<double>(stamp.cycles[mark]) - static_cast<double>(same->cycles[mark])) /
           (full.length.rounds - brief.length.rounds);
  };
  double first = 0;
  double begun = 0;
  std::vector<double> others;
  std::vector<double> later;
  for (const Stamp& stamp : full.stamps) {
    const double load = of_round(stamp, load_mark);
    const double wait = of_round(stamp, wait_mark);
    if (stamp.tag == 0) {
      first = load;
      begun = wait;
    } else {
      others.push_back(load);
      later.push_back(wait);
    }
  }
  Inside seen{.cells = {first, median(others), median(later) - begun}};
  seen.cycles = seen.cells[other_loads];
  seen.slowest = std::max(first, *std::ranges::max_element(others));
  seen.hertz = median_hertz(full);
  return seen;
}

Row row(const char* quantity, Cell cell) {
  return {quantity, "cycle", "clock64_mean",
          of_slope([cell](const Seen& seen) { return seen.inside.cells[cell]; })};
}

/// The share of the sectors missed by L1 that was requested from L2.
void add_share(Session& session, const Counted& counted) {
  const LoadCounts net = load_counts(counted.whole) - load_counts(counted.overhead);
  session.add({"l2_sectors_per_missed_sector", "1", Provenance::counted, "cupti_net",
               std::vector{net.l2_sectors / (net.sectors - net.l1_hit_sectors)}});
}

}  // namespace

Benchmark declare() {
  return {.suite = "micro",
          .name = "request_merging",
          .question = "Which loads of several SMs does L2 answer as one?",
          .axes = {listed_axis("sms", "SMs of one GPC that load the same line",
                               {"2", "3", "4", "5", "6", "7", "8", "16"}, {"2", "4", "8", "16"}),
                   number_axis("delay", "cycles from the first SM's load to those of the others", 0,
                               1000,
                               {"0", "10", "20", "30", "40", "50", "60", "70", "80", "90", "100",
                                "120", "140", "160", "200"})},
          .quantities =
              {{"first_load_cycles", "latency of the SM that loads first"},
               {"other_load_cycles", "latency of the SMs that load later, median over them"},
               {"delay_cycles", "cycles from the first load to the others, as measured"},
               {"core_clock", "clock of the core during the loads"},
               {"l2_sectors_per_missed_sector",
                "sectors that L2 received over those that missed L1: 1 where nothing is merged"}},
          .seconds_per_case = 0.05,
          .excludes = [](const Params&, Backend backend) -> std::optional<std::string> {
            if (backend == Backend::host) return "CPU cores do not share L2 requests";
            return std::nullopt;
          }};
}

std::uint32_t sum_of_lines(std::uint32_t count) {
  std::uint32_t sum = 0;
  for (std::uint32_t word = 0; word < count * lanes; ++word)
    sum += words.word(word);
  return sum;
}

Experiment describe(std::uint32_t sms, std::uint32_t delay) {
  Experiment experiment;
  experiment.slopes = {{.verify = results_are([](const Call& call) {
                          return std::uint64_t{sum_of_lines(call.length.rounds)};
                        }),
                        .lengths = fifth_and_whole(rounds, 1),
                        .writers = sms,
                        .window = {.name = "the first SM and the others", .read = read_cells}}};
  experiment.rows = {row("first_load_cycles", first_load), row("other_load_cycles", other_loads),
                     row("delay_cycles", apart)};
  experiment.checks.emplace_back(
      TimersApart{"single loads are shorter than a step of any other timer"});
  experiment.checked = "SM sums against the host's";
  experiment.placement = Placement{.cores = sms};
  experiment.unproved = {.gate = "level"};
  const std::uint64_t loads = std::uint64_t{sms} * rounds;
  experiment.counts =
      CountPlan{.length = experiment.slopes[0].lengths.full,
                .loads = LoadPrediction{.requests = loads, .sectors = sectors_of_line * loads},
                .rows = LoadRows::none,
                .sms_of_line = sms,
                .more = add_share};
  experiment.facts = [delay](const Experiment&) {
    return Facts{{"rounds", std::int64_t{rounds}}, {"delay", std::int64_t{delay}}};
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::request_merging
