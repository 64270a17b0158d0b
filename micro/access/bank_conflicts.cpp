#include "micro/access/bank_conflicts.hpp"

#include "harness/case/choices.hpp"
#include "harness/model/coalescing.hpp"
#include "micro/pattern/particle_chain.hpp"
#include "micro/pattern/random_cycle.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace strata::bank_conflicts {
namespace {

constexpr auto sharings = choices_of<Sharing>("stride", "multicast", "broadcast");
constexpr Choices stores{std::pair{"load", false}, std::pair{"store", true}};
constexpr Choices widths{std::pair{"4", 4U}, std::pair{"8", 8U}, std::pair{"16", max_width}};

std::optional<std::string> excluded(const Params& params, Backend /*backend*/) {
  const Sharing sharing = sharings.of(params.at("pattern"));
  if (sharing != Sharing::none && stores.of(params.at("operation"))) {
    return "lanes that store to one word leave an undefined result";
  }
  if (sharing == Sharing::all && params.at("stride") != "1") return "one element has no stride";
  return std::nullopt;
}

/// First word of the element that a lane accesses, relative to the start of the pattern.
std::uint32_t first_word(const Pattern& pattern, std::uint32_t lane) {
  return pattern.elements.at(lane) * (pattern.width / word_bytes);
}

/// The multiple of `unit`, at least one, that takes about `cycles` if one takes `of_one`.
std::uint32_t multiple_for(double cycles, double of_one, std::uint32_t unit) {
  return unit * std::max(1U, static_cast<std::uint32_t>(cycles / (of_one * unit)));
}

CountPlan count_plan(const Pattern& pattern, std::uint64_t wavefronts, unsigned sms,
                     std::size_t slope) {
  // The counter of stores reads up to this many wavefronts more for each store than its conflicts
  // make, and differs between runs: 0.08 on an H200 for stores of one wavefront, less for stores of
  // more. Loads are counted exactly.
  constexpr double stray_store_wavefronts = 0.1;
  constexpr std::uint32_t rounds = 32;
  const double accesses = double{accesses_per_round} * warps_per_sm * rounds * sms;
  const auto each = static_cast<double>(wavefronts);
  const std::string kind = pattern.store ? "shared_store" : "shared_load";
  return {.length = {.rounds = rounds},
          .slope = slope,
          .expected = {{.quantity = kind + "_requests", .predicted = accesses},
                       {.quantity = kind + "_wavefronts",
                        .predicted = accesses * each,
                        .bound = pattern.store ? stray_store_wavefronts / each : 0}},
          .model = "bank_model",
          .unit = "access",
          .units = accesses};
}

}  // namespace

Benchmark declare() {
  std::vector<std::string> strides;
  for (std::uint32_t stride = 1; stride <= max_stride; ++stride)
    strides.push_back(std::to_string(stride));
  return {
      .suite = "micro",
      .name = "bank_conflicts",
      .question = "What does a bank conflict in shared memory cost?",
      .axes =
          {stores.axis("operation", "what the warp does"),
           sharings.axis(
               "pattern",
               "one element per lane, adjacent lanes to one element, or one element for all lanes"),
           widths.axis("width", "bytes of an element"),
           number_axis("stride", "elements from one to the next", 1, max_stride, strides)},
      .counter_sets = {"shared"},
      .quantities = {{"shared_load_latency",
                      "cycles of a load whose address depends on the previous load"},
                     {"warp_access_cycles", "SM cycles of a warp's access on full SMs"},
                     {"sm_bandwidth", "bytes requested by lanes, per SM"},
                     {"bandwidth", "the same for all SMs, by time"},
                     {"wavefronts_per_access", "by the bank model"},
                     {"core_clock", "clock of the core during the work"}},
      .seconds_per_case = 0.015,
      .excludes = excluded};
}

Pattern make_pattern(std::uint32_t width, std::uint32_t stride, Sharing sharing, bool store) {
  Pattern pattern{.width = width, .store = store};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t place =
        sharing == Sharing::all ? 0 : (sharing == Sharing::pairs ? lane / 2 : lane);
    pattern.elements.at(lane) = place * stride;
  }
  return pattern;
}

Pattern pattern_of(const Session& session) {
  return make_pattern(widths.of(session.param("width")),
                      static_cast<std::uint32_t>(session.integer("stride")),
                      sharings.of(session.param("pattern")), stores.of(session.param("operation")));
}

WarpAccess access_of(const Pattern& pattern) {
  WarpAccess access{.width = pattern.width, .addresses = {}};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    access.addresses.at(lane) = std::uint64_t{first_word(pattern, lane)} * word_bytes;
  return access;
}

Windows windows_for(const Pattern& pattern) {
  const std::uint32_t span = (*std::ranges::max_element(pattern.elements) + 1) * pattern.width;
  const std::uint32_t bytes = (span + shift_bytes - 1) / shift_bytes * shift_bytes;
  const std::uint32_t fit = std::min(max_windows, chain_words * word_bytes / bytes);
  Windows windows{.count = fit % 2 == 1 ? fit : fit - 1, .bytes = bytes};
  std::ranges::copy(successors(random_order(windows.count, /*seed=*/7)), windows.next.begin());
  return windows;
}

std::uint32_t expected_chain(const Pattern& pattern, const Windows& windows, std::uint32_t loads) {
  std::array<std::uint32_t, max_windows> beside{};  // sums of the wide elements' other words
  for (std::uint32_t window = 0; window < windows.count; ++window) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t word = window * (windows.bytes / word_bytes) + first_word(pattern, lane);
      for (std::uint32_t w = 1; w < pattern.width / word_bytes; ++w)
        beside.at(window) += lane_weight(lane) * hashed_word(word + w);
    }
  }
  std::uint32_t sum = 0;
  std::uint32_t window = 0;
  for (std::uint32_t i = 0; i < loads; ++i) {
    sum += beside.at(window);
    window = windows.next.at(window);
  }
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    sum += lane_weight(lane) * (window * windows.bytes + first_word(pattern, lane) * word_bytes);
  return sum;
}

std::array<LinearWords, warps_per_sm> expected_sums(const Pattern& pattern) {
  std::array<LinearWords, warps_per_sm> sums{};
  sums.fill({.slope = 0, .start = 0});
  std::vector<bool> reached(field_words);
  for (std::uint32_t i = 0; i < warps_per_sm * accesses_per_round * warp_lanes; ++i) {
    const std::uint32_t lane = i % warp_lanes;
    const std::uint32_t access = i / warp_lanes % accesses_per_round;
    const std::uint32_t warp = i / warp_lanes / accesses_per_round;
    const std::uint32_t first = (warp + access) * shift_words + first_word(pattern, lane);
    for (std::uint32_t word = first; word < first + pattern.width / word_bytes; ++word) {
      reached[word] = true;
      if (!pattern.store) sums.at(warp).slope += lane_weight(lane) * hashed_word(word);
    }
  }
  if (!pattern.store) return sums;
  for (std::uint32_t word = 0; word < field_words; ++word) {
    LinearWords& sum = sums.at(word / warp_lanes % warps_per_sm);
    const std::uint32_t change = reached[word] ? lane_weight(word) * store_change : 0;
    sum.start +=
        lane_weight(word) * hashed_word(reached[word] ? word : field_words + word) - change;
    sum.slope += change;
  }
  return sums;
}

std::uint32_t rounds_for(double cycles, std::uint64_t wavefronts) {
  return multiple_for(
      cycles, static_cast<double>(wavefronts) * double{warps_per_sm} * accesses_per_round, 5);
}

std::uint32_t loads_for(double cycles, std::uint64_t wavefronts) {
  constexpr double without_conflict = 28;  // approximate; a conflict adds one or two cycles
  return multiple_for(cycles, without_conflict + 2 * static_cast<double>(wavefronts), 5 * unroll);
}

Experiment describe(const Pattern& pattern, const GpuFacts& gpu) {
  constexpr double timed_cycles = 8e5;  // of a long launch: 0.4 ms, hundreds of timer steps
  const std::uint64_t wavefronts = shared_wavefronts(access_of(pattern));
  const std::uint32_t rounds = rounds_for(timed_cycles, wavefronts);
  const std::uint32_t loads = loads_for(timed_cycles, wavefronts);
  Experiment experiment;
  if (!pattern.store) {
    experiment.slopes.push_back(
        {.verify = results_are([pattern, windows = windows_for(pattern)](const Call& call) {
           return expected_chain(pattern, windows, call.length.rounds);
         }),
         .lengths = fifth_and_whole(loads, 1),
         .writers = 1,
         .held = true});
    add_both(experiment, "shared_load_latency", "cycle");
  }
  const std::size_t many = experiment.slopes.size();
  constexpr double accesses_of_round = double{accesses_per_round} * warps_per_sm;
  experiment.slopes.push_back(
      {.verify = results_are([sums = expected_sums(pattern)](const Call& call, std::size_t writer) {
         return std::uint64_t{sums.at(writer % warps_per_sm).word(call.length.rounds)};
       }),
       .lengths = fifth_and_whole(rounds, accesses_of_round),
       .writers = std::size_t{gpu.sms} * warps_per_sm,
       .held = true});
  add_both(experiment, "warp_access_cycles", "cycle", many);
  for (Row& row : experiment.rows) {
    if (row.quantity == "warp_access_cycles") row.least = static_cast<double>(wavefronts);
  }
  const double bytes = double{warp_lanes} * pattern.width;
  experiment.rows.push_back({"sm_bandwidth", "B/cycle", By::inside, per_cycle(bytes, many)});
  experiment.rows.push_back({"bandwidth", "B/s", By::outside, per_second(bytes * gpu.sms, many)});
  experiment.constants = {{"wavefronts_per_access", "wavefront", Provenance::modelled, "bank_model",
                           static_cast<double>(wavefronts)}};
  experiment.checked = "warp sums against the host's";
  if (!pattern.store) experiment.checks.emplace_back(Dependence{"sums along chains", {}});
  experiment.placement = Placement{.cores = gpu.sms, .per_core = int{warps_per_sm}};
  experiment.unproved = {.gate = "model"};
  experiment.counts = count_plan(pattern, wavefronts, gpu.sms, many);
  experiment.facts = [rounds, loads, store = pattern.store](const Experiment&) {
    Facts facts{{"rounds", std::int64_t{rounds}}};
    if (!store) facts["chain_loads"] = std::int64_t{loads};
    return facts;
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::bank_conflicts
