#include "micro/compute/clock_under_load.hpp"

#include "harness/measure/engine.hpp"
#include "harness/record/statistics.hpp"
#include "micro/compute/operations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::clock_under_load {
namespace {

using operations::distinct_lanes;
using operations::WarpWords;

// --- Multiply-adds and powers of two

/// From -1.99 to -1.85: x stays between c and c² + c, and nearly all of these maps are chaotic.
float addend(std::uint32_t lane) {
  return -1.99F + 0.02F * static_cast<float>(lane) + 1e-3F * operations::fraction<float>(lane);
}
float start(std::uint32_t row, std::uint32_t lane) {
  return operations::fraction<float>((row + 1) * distinct_lanes + lane) / 2;
}

/// A chain, and the sum of the powers of two that follows it.
struct Chain {
  float x = 0;
  float sum = 0;
  bool operator==(const Chain&) const = default;
};

Chain chain_after(Mix mix, unsigned chain, std::uint32_t lane, std::uint32_t rounds) {
  const Recipe recipe = recipe_of(mix);
  const float c = addend(lane);
  std::vector<char> squares;  // each step of a turn: a square or a power
  for (unsigned p = 0; p < recipe.steps; ++p) {
    for (unsigned j = 0; j < recipe.fma; ++j) {
      if ((p * recipe.fma + j) % chains == chain) squares.push_back(1);
    }
    if (recipe.mufu > 0 && p % chains == chain) squares.push_back(0);
  }
  Chain state{start(chain, lane), start(chains + chain, lane)};
  operations::repeat(state, rounds, [&] {  // one turn of the kernel's loop
    for (const char square : squares) {
      if (square != 0) {
        state.x = std::fma(state.x, state.x, c);
      } else {
        state.sum = std::fma(state.sum, 0.5F, std::exp2(state.x));
      }
    }
  });
  return state;
}

// --- Products of whole numbers

constexpr unsigned tall = 16;  // rows of a and of a product, and what both factors share
constexpr unsigned wide = 8;   // columns of b and of a product
constexpr int most_factor = 511;
constexpr int most_step = 3;  // of a sum, for a pair of products
constexpr int most_start = 1 << 19;
constexpr unsigned pairs_of_round = 8;
static_assert(recipe_of(Mix::tensor).steps == 2 * products * pairs_of_round);
static_assert(recipe_of(Mix::fma_tensor).steps == 2 * products * pairs_of_round);
static_assert(recipe_of(Mix::fma_tensor_mufu).steps == 2 * products * pairs_of_round);

/// From 1 to `most` with either sign.
int number(std::uint32_t index, int most) {
  const std::uint32_t word = hashed_word(index);
  const int size = 1 + static_cast<int>((word >> 1U) % static_cast<std::uint32_t>(most));
  return (word & 1U) != 0 ? size : -size;
}
int a_at(unsigned row, unsigned k) {
  return number(tall * row + k, k == 0 ? most_step : most_factor);
}
/// Where k is 0, the difference between the second b of a product and the negated first one.
int besides(unsigned product, unsigned column) {
  return number(4000 + wide * product + column, 1);
}
int b_at(unsigned product, unsigned k, unsigned column, bool second) {
  const int first = number(1000 + (tall * product + k) * wide + column, most_factor);
  if (!second) return first;
  return -first + (k == 0 ? besides(product, column) : 0);
}
int start_of_sum(unsigned product, unsigned row, unsigned column) {
  return number(8000 + (tall * product + row) * wide + column, most_start);
}

/// Two numbers of half precision in one word.
std::uint32_t both(int low, int high) {
  using operations::Half;
  return (Half::pack(low) & 0xFFFFU) | (Half::pack(high) & 0xFFFF0000U);
}

/// The position of a lane's word of a sum in the layout of mma.m16n8k16.
struct Place {
  unsigned product;
  unsigned row;
  unsigned column;
};
Place place_of(unsigned word, std::uint32_t lane) {
  const unsigned in_product = word % 4;
  return {word / 4, lane / 4 + (in_product >= 2 ? 8 : 0), lane % 4 * 2 + in_product % 2};
}

/// The words of the tiles in the layout of mma.m16n8k16: the four quarters of a, the two halves of
/// b.
std::uint32_t tile_word(unsigned word, std::uint32_t lane) {
  if (word < words_of_a) {
    const unsigned row = lane / 4 + word % 2 * 8;
    const unsigned k = lane % 4 * 2 + word / 2 * 8;
    return both(a_at(row, k), a_at(row, k + 1));
  }
  const unsigned b = word - words_of_a;
  const bool second = b / (products * words_of_b) != 0;
  const unsigned product = b / words_of_b % products;
  const unsigned k = lane % 4 * 2 + b % words_of_b * 8;
  const auto at = [&](unsigned row) { return b_at(product, row, lane / 4, second); };
  return both(at(k), at(k + 1));
}

/// Row after row, for the lanes of a warp.
template <class Word>
WarpWords rows_for_lanes(unsigned rows, Word&& word) {
  WarpWords words;
  words.reserve(std::size_t{rows} * warp_lanes);
  for (unsigned row = 0; row < rows; ++row) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      words.push_back(word(row, lane));
  }
  return words;
}

/// Chains of multiply-adds of the lanes that differ.
using Chains = std::array<std::array<Chain, distinct_lanes>, chains>;
Chains chains_after(Mix mix, std::uint32_t rounds) {
  Chains all{};
  if (rows_of(mix).fma == 0) return all;
  for (unsigned chain = 0; chain < chains; ++chain) {
    for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane)
      all.at(chain).at(lane) = chain_after(mix, chain, lane, rounds);
  }
  return all;
}

/// Relative: for an approximation and the sum that follows it.
constexpr double tolerance = 2e-6;

// --- What is computed from a launch

constexpr double launch_seconds = 25e-3;  // so that the drawn power is the load's, not its start's

struct Point {
  double seconds = 0;  ///< the middle of a launch, by the timer that all SMs share
  double hertz = 0;
};
Point point_of(const Launched& launched) {
  constexpr double nano = 1e-9;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  for (const Stamp& stamp : launched.stamps) {
    first = std::min(first, stamp.nanoseconds[0]);
    last = std::max(last, stamp.nanoseconds[1]);
  }
  return {nano * (static_cast<double>(first) + static_cast<double>(last - first) / 2),
          median_hertz(launched)};
}

/// The median SM's cycles. The cells are the clocks of the slowest and the fastest writer.
Window median_sm_and_ends() {
  Window window = median_sm(warps);
  window.read = [median = window.read](const Launched& brief, const Launched& full) {
    Inside inside = median(brief, full);
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const Stamp& stamp : full.stamps) {
      const double hertz = 1e9 * static_cast<double>(stamp.cycles[1] - stamp.cycles[0]) /
                           static_cast<double>(stamp.nanoseconds[1] - stamp.nanoseconds[0]);
      low = std::min(low, hertz);
      high = std::max(high, hertz);
    }
    inside.cells = {low, high};
    return inside;
  };
  return window;
}

/// What was recorded while the load ran.
struct Watched {
  std::vector<Point> launches;                        ///< before the first sample
  Facts violations;                                   ///< before the first launch
  std::optional<std::vector<TimedReading>> readings;  ///< during the samples
};

/// The readings taken during the samples, or all of them if there are none.
const std::vector<TimedReading>& readings_of(Watched& watched, const Load& load,
                                             const Beside& beside) {
  if (!watched.readings) {
    auto all = beside.readings();
    const auto of_samples = std::ranges::find_if(
        all, [&](const TimedReading& one) { return one.seconds >= load.seconds; });
    if (of_samples != all.end()) all.erase(all.begin(), of_samples);
    watched.readings = std::move(all);
  }
  return *watched.readings;
}

template <class Value>
std::vector<double> of_all(const std::vector<TimedReading>& readings,
                           std::optional<Value> NvmlReading::*what) {
  std::vector<double> values;
  for (const TimedReading& one : readings) {
    if (const auto& value = one.reading.*what) values.push_back(static_cast<double>(*value));
  }
  return values;
}

void tell_launches(Session& session, const std::vector<Point>& launches) {
  Measurement clock{
      .quantity = "clock_since_start", .unit = "Hz", .method = "clock64_over_globaltimer"};
  Measurement time{.quantity = "since_start", .unit = "s", .method = "globaltimer"};
  for (const Point& one : launches) {
    clock.samples.push_back(one.hertz);
    time.samples.push_back(one.seconds - launches.front().seconds + launch_seconds / 2);
  }
  if (launches.empty()) return;
  session.add_unrepeated(std::move(clock),
                         "a sample is one launch of a series that starts at rest");
  session.add_unrepeated(std::move(time), "a sample is one launch of a series that starts at rest");
}

/// Rows and facts from NVML.
void tell_readings(Session& session, const std::vector<TimedReading>& readings) {
  const auto row = [&](const char* quantity, const char* unit, const char* method,
                       std::vector<double> samples) {
    if (samples.empty()) return false;
    session.add(Measurement{.quantity = quantity,
                            .unit = unit,
                            .provenance = Provenance::reported,
                            .method = method,
                            .samples = std::move(samples)});
    return true;
  };
  row("driver_clock", "Hz", "nvml", of_all(readings, &NvmlReading::sm_hertz));
  if (!row("power", "W", "nvml_instant", of_all(readings, &NvmlReading::watts)))
    row("power", "W", "nvml_mean", of_all(readings, &NvmlReading::mean_watts));
  std::uint64_t reasons = 0;
  std::size_t known = 0;
  std::size_t throttled = 0;
  for (const TimedReading& one : readings) {
    if (!one.reading.reasons) continue;
    ++known;
    reasons |= *one.reading.reasons;
    throttled += (*one.reading.reasons & throttling_bits) != 0 ? 1 : 0;
  }
  session.fact("driver_readings", static_cast<std::int64_t>(readings.size()));
  if (known == 0) return;
  session.fact("throttle_reasons", static_cast<std::int64_t>(reasons));
  session.fact("throttled_share", static_cast<double>(throttled) / static_cast<double>(known));
}

/// By how much each number of seconds has grown.
Facts grown(const Facts& before, const Facts& after) {
  Facts facts;
  for (const auto& [name, value] : after) {
    const auto found = before.find(name);
    if (found == before.end()) continue;
    facts[name] = std::get<double>(value) - std::get<double>(found->second);
  }
  return facts;
}

CountPlan counted_loads(const GpuFacts& gpu) {
  constexpr std::uint32_t rounds = 16;
  const std::uint64_t requests = std::uint64_t{gpu.sms} * warps * rounds * in_flight;
  constexpr std::uint64_t sectors = 16;  // of a warp that loads 16 bytes a lane
  return {.length = {.rounds = rounds},
          .loads = LoadPrediction{.requests = requests, .sectors = sectors * requests},
          .served_by = ServedBy::dram,
          .rows = LoadRows::none};
}

std::optional<CountPlan> counted_arithmetic(Mix mix, const GpuFacts& gpu) {
  constexpr std::uint32_t rounds = 16;
  const Recipe recipe = recipe_of(mix);
  if (recipe.fma == 0) return std::nullopt;
  const double turns = double{rounds} * warps * gpu.sms * recipe.steps;  // steps of warps
  const double lanes = recipe.one_lane ? 1 : warp_lanes;
  // Both launches do one more round: only a launch that enters the loop prepares the loop's
  // operands.
  CountPlan plan{.length = {.rounds = rounds + 1},
                 .none = {.rounds = 1},
                 .expected = {{.quantity = "fp32_fma",
                               .predicted = turns * (recipe.fma + recipe.mufu) * lanes}},
                 .model = "chain_length",
                 .unit = "step",
                 .units = turns};
  if (recipe.mufu > 0)
    plan.expected.push_back({.quantity = "xu_instructions", .predicted = turns * recipe.mufu});
  return plan;
}

/// Compares the multiply-adds of the first warp with the host's, and every other warp by its
/// checksum.
auto verified(Mix mix, std::span<const std::uint64_t> ends) {
  const Rows rows = rows_of(mix);
  const auto is_approximate = [rows](std::size_t row) {
    return row >= rows.fma && row < rows.fma + rows.mufu;
  };
  return [=, of_rounds = operations::once_each([mix](std::uint32_t rounds) {
               return expected_ends(mix, rounds);
             })](const Call& call, std::span<const Stamp> stamps, Tally& tally) mutable {
    const WarpWords& wanted = of_rounds(call.length.rounds);
    std::uint64_t checksum = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      tally.one(
          operations::alike(ends[i], wanted.at(i), is_approximate(i / warp_lanes) ? tolerance : 0));
      checksum += operations::checksum_part(ends[i], i);
    }
    for (const Stamp& stamp : stamps)
      tally.one(stamp.result == checksum);
  };
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "clock_under_load",
      .question = "Which clock do the SMs hold under each load, and what does the driver report?",
      .axes = {mixes.axis("mix", "work of every SM"),
               load_seconds.axis("seconds",
                                 "duration of this load, from rest, before the first sample")},
      .counter_sets = {"flops", "issue"},
      .quantities = {{"core_clock", "clock of the SMs under this load"},
                     {"slowest_clock", "clock of the slowest SM, by its warp"},
                     {"fastest_clock", "clock of the fastest SM, by its warp"},
                     {"driver_clock", "SM clock that NVML reports during the load"},
                     {"power", "power that NVML reports during the load"},
                     {"clock_since_start", "SM clock of each launch from rest"},
                     {"since_start", "mid-time of each of those launches"},
                     {"instruction_cycles", "SM cycles per warp instruction"},
                     {"instructions_per_second", "instructions of warps, whole chip"},
                     {"read_bandwidth", "memory: bytes read by the whole chip"},
                     {"grid_time", "duration of the whole launch, including start-up"}},
      .seconds_per_case = 1.3,
      .excludes = {}};
}

WarpWords device_words(Mix mix) {
  WarpWords words = expected_ends(mix, 0);
  const WarpWords factors =
      rows_for_lanes(1 + words_of_tiles, [](unsigned row, std::uint32_t lane) {
        if (row == 0) return operations::bits(addend(lane % distinct_lanes));
        return std::uint64_t{tile_word(row - 1, lane)};
      });
  words.insert(words.end(), factors.begin(), factors.end());
  return words;
}

WarpWords expected_ends(Mix mix, std::uint32_t rounds) {
  const Rows rows = rows_of(mix);
  const bool one_lane = recipe_of(mix).one_lane;
  const Chains ended = chains_after(mix, rounds);
  const Chains begun = one_lane ? chains_after(mix, 0) : ended;
  return rows_for_lanes(rows.all(), [&](unsigned row, std::uint32_t lane) {
    if (row < rows.fma + rows.mufu) {
      const Chain& chain = (lane == 0 ? ended : begun).at(row % chains).at(lane % distinct_lanes);
      return operations::bits(row < rows.fma ? chain.x : chain.sum);
    }
    const auto [product, at, column] = place_of(row - rows.fma - rows.mufu, lane);
    const int moved = a_at(at, 0) * besides(product, column);
    return operations::bits(static_cast<float>(start_of_sum(product, at, column) +
                                               moved * static_cast<int>(pairs_of_round * rounds)));
  });
}

std::uint32_t most_rounds(Mix mix) {
  if (rows_of(mix).mma == 0) return std::numeric_limits<std::uint32_t>::max();
  constexpr int whole = 1 << 23;  // half of the integers that single precision represents
  constexpr int of_product = static_cast<int>(tall) * most_factor * (most_factor + 1);
  return (whole - of_product - most_start) / (most_step * static_cast<int>(pairs_of_round));
}

Range range_of(const GpuFacts& gpu) {
  constexpr std::uint64_t times_l2 = 8;
  const std::uint32_t grid_warps = gpu.sms * warps;
  const std::uint64_t turn_bytes = std::uint64_t{grid_warps} * piece_words * sizeof(std::uint32_t);
  return {grid_warps, static_cast<std::uint32_t>(times_l2 * gpu.l2_bytes / turn_bytes + 1)};
}

std::uint32_t Range::sum(std::uint32_t rounds, std::uint64_t warp) const {
  const auto of_round = [&](std::uint32_t turn) {
    return LinearWords{}.sum((std::uint64_t{turn} * grid_warps + warp) * piece_words, piece_words);
  };
  std::uint32_t all = 0;
  for (std::uint32_t turn = 0; turn < turns; ++turn)
    all += (rounds / turns + (turn < rounds % turns ? 1 : 0)) * of_round(turn);
  return all;
}

Experiment describe(const Load& load, const GpuFacts& gpu, const Beside& beside,
                    std::span<const std::uint64_t> ends) {
  const bool memory = load.mix == Mix::memory;
  const Recipe recipe = recipe_of(load.mix);
  const double of_round = double{warps} * (memory ? in_flight : recipe.instructions());
  const auto watched = std::make_shared<Watched>();

  Slope slope{.start = memory ? Start::evicted : Start::as_left,
              .writers = std::size_t{gpu.sms} * warps,
              .window = median_sm_and_ends()};
  if (memory) {
    slope.verify = results_are([range = range_of(gpu)](const Call& call, std::size_t warp) {
      return std::uint64_t{range.sum(call.length.rounds, warp)};
    });
  } else {
    slope.verify = verified(load.mix, ends);
  }
  slope.size = [=](const std::function<Launched(const Length&)>& run) {
    Lengths lengths = lengths_by_trial(launch_seconds, of_round)(run);
    if (const std::uint32_t most = most_rounds(load.mix); lengths.full.rounds > most)
      lengths = fifth_and_whole(most, of_round);
    // The host computes the expected results of these lengths now, so that the device does not wait
    // for them later.
    for (const Length& length : {lengths.brief, lengths.full})
      (void)run(length);
    watched->violations = beside.violations();
    beside.rest();
    beside.watch();
    do {
      watched->launches.push_back(point_of(run(lengths.full)));
    } while (beside.elapsed() < load.seconds);
    return lengths;
  };

  Experiment experiment;
  experiment.slopes = {std::move(slope)};
  add_both(experiment, "instruction_cycles", "cycle");
  experiment.rows.push_back(
      {"instructions_per_second", "instruction/s", By::outside, per_second(gpu.sms)});
  if (memory) {
    constexpr double bytes = 16.0 * warp_lanes;
    experiment.rows.push_back({.quantity = "read_bandwidth",
                               .unit = "B/s",
                               .method = By::outside,
                               .value = per_second(bytes * gpu.sms),
                               .most = gpu.dram_pin_bandwidth});
  }
  for (const auto& [quantity, cell] : {std::pair{"slowest_clock", 0}, {"fastest_clock", 1}}) {
    experiment.rows.push_back({quantity, "Hz", By::clock,
                               of_slope([cell = static_cast<std::size_t>(cell)](const Seen& seen) {
                                 return seen.inside.cells.at(cell);
                               })});
  }
  experiment.rows.push_back(grid_time());
  experiment.checked = memory ? "warp sums against the closed form"
                              : operations::what_was_checked(recipe.mufu > 0 ? tolerance : 0);
  experiment.placement = Placement{.cores = gpu.sms, .per_core = int{warps}};
  experiment.counts = memory ? counted_loads(gpu) : counted_arithmetic(load.mix, gpu);
  experiment.not_counted = "no counter for this operation";
  if (memory) experiment.unproved = {.gate = "level"};
  experiment.reported_hertz = [=]() -> std::optional<double> {
    const auto hertz = of_all(readings_of(*watched, load, beside), &NvmlReading::sm_hertz);
    return hertz.empty() ? std::nullopt : std::optional{median(hertz)};
  };
  experiment.conclude = [=](Session& session, const std::vector<Sample>& /*samples*/) {
    tell_launches(session, watched->launches);
    tell_readings(session, readings_of(*watched, load, beside));
    for (const auto& [name, value] : grown(watched->violations, beside.violations()))
      session.fact(name, value);
  };
  experiment.facts = [=](const Experiment&) {
    const auto of_turn = [&](unsigned of_step) { return std::int64_t{recipe.steps} * of_step; };
    return Facts{{"multiply_adds_of_a_turn", of_turn(recipe.fma + recipe.mufu)},
                 {"products_of_a_turn", of_turn(recipe.mma)},
                 {"special_functions_of_a_turn", of_turn(recipe.mufu)},
                 {"loads_of_a_turn", std::int64_t{memory ? in_flight : 0}}};
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::clock_under_load
