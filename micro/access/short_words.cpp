#include "micro/access/short_words.hpp"

#include "harness/case/choices.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/lanes.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::short_words {
namespace {

constexpr Choices orders{std::pair{"coalesced", true}, std::pair{"uncoalesced", false}};
constexpr Choices accesses{std::pair{"apart", false}, std::pair{"together", true}};

/// Seconds of one addition more, from those of one (number `first`) and of a series (the next).
Value slope_of(std::size_t first) {
  return [first](const Sample& seen) {
    return (seen.numbers.at(first + 1) - seen.numbers.at(first)) / (series - 1);
  };
}

/// Rows of the seconds that an addition takes by two timers, of which `first` gives the bandwidth.
Experiment described(double bytes, const Value& first, const Method& first_method,
                     const Value& second, const Method& second_method) {
  Experiment experiment;
  experiment.rows = {{"kernel_time", "s", first_method, first},
                     {"kernel_time", "s", second_method, second},
                     {"useful_bandwidth", "B/s", By::outside,
                      [bytes, seconds = first_method.timer == By::outside ? first : second](
                          const Sample& seen) { return bytes / seconds(seen); }}};
  experiment.timers = {{first, first_method, second, second_method}};
  experiment.watch = {first, second};
  experiment.facts = [bytes](const Experiment&) {
    return Facts{{"footprint_bytes", static_cast<std::int64_t>(bytes)}};
  };
  return experiment;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "short_words",
      .question = "What do uncoalesced accesses and short words cost a matrix addition?",
      .axes = {listed_axis("element", "bytes of an element of the matrices", {"1", "2", "4"}),
               orders.axis("order",
                           "whether neighbouring threads, or turns of a CPU's loop, take "
                           "neighbouring elements"),
               listed_axis("group", "bytes of neighbouring elements that a thread, or turn, takes",
                           {"1", "2", "4", "8", "16"}),
               accesses.axis("access", "one access for each element of a group, or one for all")},
      .quantities = {{"kernel_time", "one addition of the matrices, a GPU's start-up included"},
                     {"useful_bandwidth", "bytes of the three matrices over that time"},
                     {"core_clock", "clock of the core between the additions"},
                     {"l1_load_sectors_per_launch", "counted beside modelled"}},
      .seconds_per_case = 0.1,
      .excludes = [](const Params& params, Backend backend) -> std::optional<std::string> {
        const char* const why = why_not(form_of(params), backend);
        return why == nullptr ? std::nullopt : std::optional<std::string>{why};
      }};
}

Form form_of(const Params& params) {
  return {.element = number_of<std::uint32_t>(params, "element"),
          .group = number_of<std::uint32_t>(params, "group"),
          .together = accesses.of(params.at("access")),
          .coalesced = orders.of(params.at("order"))};
}

std::vector<Expectation> predicted(const Form& form) {
  // All warps are alike: each begins at a multiple of the 32 groups, or of the sector, that hold
  // it.
  const std::uint32_t parts = form.group / form.access();
  std::uint64_t sectors = 0;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const auto elements =
        lane_elements(std::uint64_t{form.thread_step()} * parts, part, Permutation::identity);
    sectors += traffic(Generation::cc7, access_of(form.access(), elements)).sectors;
  }
  const std::uint64_t warps = std::uint64_t{form.blocks()} * threads / warp_lanes;
  const auto of_launch = [&](std::uint64_t of_warp) {
    return static_cast<double>(warps * of_warp);
  };
  constexpr std::uint64_t sources = 2;
  return {{.quantity = "l1_load_requests", .predicted = of_launch(sources * parts)},
          {.quantity = "l1_load_sectors", .predicted = of_launch(sources * sectors)},
          {.quantity = "l1_store_sectors", .predicted = of_launch(sectors)}};
}

Experiment describe(const Form& form) {
  Experiment experiment = described(3.0 * static_cast<double>(matrix_bytes), slope_of(0),
                                    By::outside, slope_of(2), "graph_slope");
  experiment.core_hertz = number_at(4);
  experiment.checked = "words of C against the host's";
  experiment.counts = CountPlan{.length = {.rounds = 1},
                                .expected = predicted(form),
                                .model = "coalescing_model",
                                .unit = "launch"};
  return experiment;
}

Experiment describe_host(std::uint64_t bytes, double tick_hertz) {
  const Value inside =
      of_slope([tick_hertz](const Seen& seen) { return seen.inside.cycles / tick_hertz; });
  const Value outside = of_slope([](const Seen& seen) { return seen.seconds; });
  Experiment experiment =
      described(static_cast<double>(bytes), inside, By::inside, outside, By::outside);
  experiment.checked = "words of A, B and C against the host's";
  experiment.unproved = {.gate = "level", .why = "no hardware counters on the host"};
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::short_words
