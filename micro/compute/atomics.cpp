#include "micro/compute/atomics.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace strata::atomics {
namespace {

/// The rows of both backends. `quantity`: what an operation of a worker costs, in parts of `scale`.
Experiment described(const Variant& variant, const char* quantity, double scale, double workers,
                     double of_an_instruction) {
  Experiment experiment;
  const std::size_t all = variant.returns ? 1 : 0;
  experiment.slopes.resize(all + 1);
  if (variant.returns) add_both(experiment, "atomic_latency", "cycle");
  add_both(experiment, quantity, "cycle", all, scale);
  const Value cycles = cycles_of(all, scale);
  experiment.rows.push_back({"atomics_per_cycle", "1/cycle", By::inside,
                             [=](const Sample& one) { return of_an_instruction / cycles(one); }});
  experiment.rows.push_back(
      {"atomic_rate", "1/s", By::outside,
       of_slope([=](const Seen& seen) { return workers / seen.seconds; }, all)});
  return experiment;
}

auto sized(Operation operation, const Places& places, std::uint32_t unit, double seconds) {
  return [=](const std::function<Launched(const Length&)>& run) {
    return size_by_trials(run, unit, [&](double seconds_each) {
      return operations_for(operation, places, unit, seconds, seconds_each);
    });
  };
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "atomics",
      .question = "What does an atomic operation cost, and what when others want its word?",
      .axes = {spaces.axis("space", "where the words lie"),
               operations.axis("operation", "addition, compare and swap, or exchange"),
               returning.axis("returns", "whether the old value comes back (atom) or not (red)"),
               targets.axis("target",
                            "one word for all lanes (cores of a CPU), one for each warp, one for "
                            "each core on shared lines, or one for each")},
      .quantities = {{"atomic_latency",
                      "cycles of a warp's, or lone core's, operation that needs "
                      "the last one"},
                     {"warp_atomic_cycles", "SM cycles of a warp's operation where SMs are full"},
                     {"core_atomic_cycles", "cycles of a core's operation where all are at work"},
                     {"atomics_per_cycle", "operations of lanes, of an SM; of a core of a CPU"},
                     {"atomic_rate", "operations of lanes, of all SMs; of all cores of a CPU"},
                     {"core_clock", "clock of the core while it worked"}},
      .seconds_per_case = 0.04,
      .excludes = [](const Params& params, Backend backend) -> std::optional<std::string> {
        if (const char* const why = why_not(variant_of(params), backend)) return why;
        return std::nullopt;
      }};
}

Variant variant_of(const Params& params) {
  return {.space = spaces.of(params.at("space")),
          .target = targets.of(params.at("target")),
          .operation = operations.of(params.at("operation")),
          .returns = returning.of(params.at("returns"))};
}

std::uint64_t number_of(Operation operation, std::uint64_t word) {
  if (operation != Operation::add_float) return word;
  const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(word));
  const bool whole = value >= 0 && value < exact_floats && value == std::floor(value);
  return whole ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0};
}

std::vector<std::uint64_t> numbers_in(const void* memory, Operation operation, std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  const std::size_t width = width_of(operation);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&numbers[i], static_cast<const std::byte*>(memory) + i * width, width);
    numbers[i] = number_of(operation, numbers[i]);
  }
  return numbers;
}

WordPitch pitch_of(const Variant& variant) {
  const std::uint32_t width = width_of(variant.operation);
  if (variant.target == Target::same) return {};
  if (variant.target == Target::warp) return {.by_warp = warp_pitch};
  return {.by_warp = warp_lanes * width, .by_lane = width};
}

Places Places::of_threads(const Variant& variant, const LaunchShape& shape) {
  const bool shared = variant.space == StateSpace::shared;
  const std::uint32_t warps = shared ? shape.warps_of_block : shape.warps();  // of an area
  const std::uint32_t width = width_of(variant.operation);
  const WordPitch pitch = pitch_of(variant);
  const std::uint32_t area = std::max(warp_pitch, warps * pitch.by_warp) / width;
  Places places{.words = std::size_t{area} * shape.warps() / warps, .area = area};
  for (std::uint32_t thread = 0; thread < shape.threads(); ++thread) {
    const std::uint32_t warp = thread / warp_lanes;
    const std::uint32_t byte = warp % warps * pitch.by_warp + thread % warp_lanes * pitch.by_lane;
    places.target.push_back(warp / warps * area + byte / width);
  }
  return places;
}

Places Places::of_cores(const Variant& variant, std::size_t cores) {
  if (variant.target == Target::warp) throw std::logic_error{"a target that no core has"};
  const std::uint32_t of_lines = core_pitch / width_of(variant.operation);
  const std::uint32_t pitch = variant.target == Target::same   ? 0
                              : variant.target == Target::line ? 1
                                                               : of_lines;
  Places places;
  for (std::uint32_t core = 0; core < cores; ++core)
    places.target.push_back(core * pitch);
  places.words = places.area = (places.target.back() / of_lines + 1) * of_lines;
  return places;
}

Compare comparison(Operation operation, std::uint32_t chains, const Places& places) {
  const bool exchanges = operation == Operation::exch_int;
  const auto hash = [](std::uint64_t word) {
    return hashed_word(static_cast<std::uint32_t>(word));
  };
  std::vector<std::uint64_t> first;  // words at first; of exchanges, their hashes
  for (std::size_t i = 0; i < places.words; ++i) {
    const auto word = initial_word(operation, static_cast<std::uint32_t>(i % places.area));
    first.push_back(exchanges ? hash(word) : word);
  }
  // Of each worker, summed over its chains: the operands; of exchanges, their hashes.
  std::vector<std::uint64_t> operands(places.target.size());
  for (std::uint32_t worker = 0; worker < operands.size(); ++worker) {
    for (std::uint32_t chain = 0; chain < chains; ++chain) {
      const std::uint64_t operand = operand_of(operation, worker, chain);
      operands[worker] += exchanges ? hash(operand) : operand;
    }
  }
  return [=, target = places.target](
             std::span<const std::uint64_t> words, std::span<const std::uint32_t> left,
             const std::function<std::uint64_t(std::size_t)>& done, Tally& tally) {
    if (words.size() != first.size() || left.size() != target.size()) {
      throw std::length_error{"a result of another launch"};
    }
    std::vector<std::uint64_t> wanted = first;
    for (std::size_t worker = 0; worker < target.size(); ++worker) {
      std::uint64_t& word = wanted[target[worker]];
      if (is_addition(operation)) {
        word += done(worker) / chains * operands[worker];
        tally.one(left[worker] == static_cast<std::uint32_t>(operands[worker]));
      } else if (exchanges) {
        // All values are somewhere: what a worker holds does not lie in its word.
        word += operands[worker] - left[worker];
      } else {
        word += std::uint64_t{left[worker]} * swap_step;
        // Alone it tries, loses, and wins with what the word turned out to be.
        if (target.size() == 1 && chains == 1) tally.one(left[worker] == done(worker) / 2);
      }
    }
    const std::uint64_t mask = operation == Operation::add_int64 ? ~std::uint64_t{0} : 0xFFFFFFFFU;
    for (std::size_t i = 0; i < words.size(); ++i)
      tally.one((exchanges ? hash(words[i]) : words[i]) == (wanted[i] & mask));
  };
}

std::uint32_t operations_for(Operation operation, const Places& places, std::uint32_t unit,
                             double seconds, double seconds_each) {
  constexpr double least_each = 5e-9;  // no chip is as fast: keeps the number in bounds
  constexpr std::uint32_t largest_operand = 2;
  auto most = static_cast<std::uint32_t>(seconds / std::max(seconds_each, least_each));
  if (operation == Operation::add_float) {
    const auto sharers = std::ranges::count(places.target, places.target.front());
    most = std::min(most,
                    (exact_floats - 4) / (static_cast<std::uint32_t>(sharers) * largest_operand));
  }
  return std::max(2U, most / unit) * unit;
}

Experiment describe(const Variant& variant, unsigned sms) {
  constexpr double timed_seconds = 2.5e-4;  // of a long launch: hundreds of timer steps
  const LaunchShape full = full_chip(sms);
  Experiment experiment = described(variant, "warp_atomic_cycles", 1.0 / warps_per_sm,
                                    full.threads(), double{warp_lanes});
  for (Slope& slope : experiment.slopes) {
    const LaunchShape shape = &slope == &experiment.slopes.back() ? full : lone_warp;
    slope.size =
        sized(variant.operation, Places::of_threads(variant, shape), unroll, timed_seconds);
    slope.writers = shape.warps();
    // What lies between the readings of the two clocks cancels.
    slope.window = slowest_writer_by_sums();
    slope.held = true;
  }
  experiment.checked = "words and what threads hold against the host's";
  experiment.placement = Placement{.cores = sms, .per_core = int{warps_per_sm}};
  experiment.not_counted = "no counter is held against a model of atomics";
  experiment.facts = [](const Experiment& measured) {
    const auto rounds = [](const Slope& slope) { return std::int64_t{slope.lengths.full.rounds}; };
    Facts facts{{"operations", rounds(measured.slopes.back())}};
    if (measured.slopes.size() > 1) facts["chain_operations"] = rounds(measured.slopes.front());
    return facts;
  };
  return experiment;
}

Experiment describe_host(const Variant& variant, std::size_t cores) {
  Experiment experiment = described(variant, "core_atomic_cycles", 1, static_cast<double>(cores),
                                    /*of_an_instruction=*/1);
  constexpr int pairs = 11;               // of which the median counts: most meet no interrupt
  constexpr double timed_seconds = 2e-4;  // of a long run: shorter than between interrupts
  experiment.pairs = pairs;
  for (Slope& slope : experiment.slopes) {
    const bool alone = &slope != &experiment.slopes.back();
    const Places places = Places::of_cores(variant, alone ? 1 : cores);
    slope.size = sized(variant.operation, places, turn, timed_seconds);
    if (alone) slope.writers = 1;
  }
  experiment.checked = "words and what cores hold against what they did";
  experiment.facts = [](const Experiment& measured) {
    return Facts{{"operations", std::int64_t{measured.slopes.back().lengths.full.rounds}}};
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::atomics
