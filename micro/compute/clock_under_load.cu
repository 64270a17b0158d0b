// Which clock do the SMs hold under which load, which clock does the driver report, and how much
// power is drawn?
//
// Every SM runs 16 warps of one instruction mix in launches of 25 ms, from rest: first for
// `seconds`, where each launch gives a point of the clock over time, then for the samples. The
// kernel's clock is %clock64 over %globaltimer of every warp. Meanwhile a host thread queries NVML
// for its clock, the power drawn and the reasons for a lower clock. The driver may report a clock
// that no SM has: then cycles and seconds are right, but a rate computed from one of them and the
// driver's clock is not. Data are random, because repetitive data draw less power. Between two
// launches the device waits about 0.1 ms for the host.
//   fma              x → x·x + c, eight chains a warp: a chaotic map, which never settles
//   idle_lanes       the same in one lane of each warp
//   mufu             a power of two for each of those multiply-adds, and a sum
//   tensor           products of 16×16 and 16×8 half-precision numbers (mma.sync), accumulated in
//                    single precision; all are integers, so that sums are exact and can be checked
//   fma_tensor       four multiply-adds for each product
//   fma_tensor_mufu  the same with a power of two and a sum
//   memory           16 bytes a lane, eight at once, from a range many times the size of L2
#include "harness/cuda/benchmark.cuh"
#include "micro/compute/chains.hpp"
#include "micro/compute/driver_readings.hpp"
#include "micro/compute/load_mixes.hpp"
#include "micro/compute/operations.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <thread>

#ifdef __CUDACC__
#include "micro/compute/chains.cuh"
#endif

namespace strata::clock_under_load {

/// Duration of the load before the first sample.
constexpr Choices load_seconds{std::pair{"0.1", 0.1}, std::pair{"1", 1.0}};

/// Addresses of the loads of `memory`: in round r warp w of the grid reads piece (r mod turns) ×
/// warps of the grid + w, each once per iteration.
constexpr unsigned in_flight = 8;
constexpr std::uint32_t piece_words = in_flight * warp_lanes * 4;
struct Range {
  std::uint32_t grid_warps = 0;
  std::uint32_t turns = 0;

  [[nodiscard]] std::uint64_t words() const {
    return std::uint64_t{turns} * grid_warps * piece_words;
  }
  /// What warp `warp` adds up in so many rounds.
  [[nodiscard]] std::uint32_t sum(std::uint32_t rounds, std::uint64_t warp) const {
    const auto of_round = [&](std::uint32_t turn) {
      return LinearWords{}.sum((std::uint64_t{turn} * grid_warps + warp) * piece_words,
                               piece_words);
    };
    std::uint32_t all = 0;
    for (std::uint32_t turn = 0; turn < turns; ++turn)
      all += (rounds / turns + (turn < rounds % turns ? 1 : 0)) * of_round(turn);
    return all;
  }
};

/// The host's work beside the launches.
struct Beside {
  std::function<void()> rest;                           ///< waits while the device does nothing
  std::function<void()> watch;                          ///< NVML is queried from now on
  std::function<double()> elapsed;                      ///< seconds since
  std::function<std::vector<TimedReading>()> readings;  ///< all of them; ends the watch
  std::function<Facts()> violations;  ///< NVML's: seconds since the driver was loaded
};

struct Load {
  Mix mix = Mix::fma;
  double seconds = 0.1;  ///< before the first sample
};

// --- Multiply-adds and powers of two

namespace {

// --- Products of whole numbers

static_assert(recipe_of(Mix::fma_tensor_mufu).steps == 2 * products * pairs_of_round);

static_assert(recipe_of(Mix::fma_tensor).steps == 2 * products * pairs_of_round);

static_assert(recipe_of(Mix::tensor).steps == 2 * products * pairs_of_round);

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

Range range_of(const GpuFacts& gpu) {
  constexpr std::uint64_t times_l2 = 8;
  const std::uint32_t grid_warps = gpu.sms * warps;
  const std::uint64_t turn_bytes = std::uint64_t{grid_warps} * piece_words * sizeof(std::uint32_t);
  return {grid_warps, static_cast<std::uint32_t>(times_l2 * gpu.l2_bytes / turn_bytes + 1)};
}

/// A launch writes the first warp's `ends`, or the sum of each warp. Per warp instruction of the
/// mix, on one SM.
Experiment describe(const Params& params, const GpuFacts& gpu, const Beside& beside,
                    std::span<const std::uint64_t> ends) {
  const Load load{.mix = mixes.of(params.at("mix")),
                  .seconds = load_seconds.of(params.at("seconds"))};
  if (rows_of(load.mix).mma > 0 && gpu.major < 8) {
    throw Skipped{"mma.sync.m16n8k16 needs compute capability 8.0; this device has " +
                  gpu.compute_capability};
  }
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
    report_readings(session, readings_of(*watched, load, beside));
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

Experiment describe(const Params& params, const GpuFacts& gpu) {
  return describe(params, gpu, {}, {});
}

#ifdef __CUDACC__

// All arithmetic mixes are one kernel, whose steps follow from the mix at compile time; `memory`
// has one of its own.

/// Wanted: HMMA.16816.F32
__device__ __forceinline__ void multiply_add(float* sum, const std::uint32_t (&a)[words_of_a],
                                             const std::uint32_t (&b)[words_of_b]) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  __trap();  // no such instruction: the host does not launch it
#endif
}

/// Wanted: MUFU.EX2
__device__ __forceinline__ float power_of_two(float x) {
  float power;
  asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

/// `values`: device_words.
template <Mix mix>
__global__ void __launch_bounds__(threads, 1)
    work(const std::uint64_t* values, std::uint32_t rounds, Stamp* stamps, std::uint64_t* ends) {
  constexpr Recipe recipe = recipe_of(mix);
  constexpr Rows rows = rows_of(mix);
  static_assert(recipe.steps % (2 * products) == 0 && recipe.steps % chains == 0,
                "all chains advance alike in one iteration");
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const auto word = [&](unsigned row) {
    return static_cast<std::uint32_t>(values[row * warp_lanes + lane]);
  };
  float at[rows.all()];  // everything that is in flight, in the order of Rows
#pragma unroll
  for (unsigned row = 0; row < rows.all(); ++row)
    at[row] = __uint_as_float(word(row));
  float* const sums = at + rows.fma;
  float* const tiles = at + rows.fma + rows.mufu;
  const float c = __uint_as_float(word(rows.all()));
  std::uint32_t a[words_of_a];
  std::uint32_t b[2][products][words_of_b];
  if constexpr (recipe.mma > 0) {
#pragma unroll
    for (unsigned i = 0; i < words_of_a; ++i)
      a[i] = word(rows.all() + 1 + i);
#pragma unroll
    for (unsigned i = 0; i < 2 * products * words_of_b; ++i)
      b[i / (products * words_of_b)][i / words_of_b % products][i % words_of_b] =
          word(rows.all() + 1 + words_of_a + i);
  }
  const std::uint32_t mine = recipe.one_lane && lane != 0 ? 0 : rounds;
  operations::wait_for(at);
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < mine; ++r) {
#pragma unroll
    for (unsigned p = 0; p < recipe.steps; ++p) {
      if constexpr (recipe.fma > 0) {
#pragma unroll
        for (unsigned j = 0; j < recipe.fma; ++j) {
          // Wanted: FFMA R, R, R, R, two of them the same
          asm volatile("fma.rn.f32 %0, %0, %0, %1;"
                       : "+f"(at[(p * recipe.fma + j) % chains])
                       : "f"(c));
        }
      }
      if constexpr (recipe.mma > 0)
        multiply_add(tiles + p % products * 4, a, b[p / products % 2][p % products]);
      if constexpr (recipe.mufu > 0) {
        float& sum = sums[p % chains];
        sum = fmaf(sum, 0.5F, power_of_two(at[p % chains]));
      }
    }
  }
  __syncwarp();
  operations::wait_for(at);
  const Reading end = reading_after();
  const std::uint64_t checksum = operations::keep_ends(at, ends);
  if (lane == 0)
    leave(stamps + (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes, begin, end, checksum);
}

/// From piece to piece, `turn_bytes` further each time; at the end of the range it continues at its
/// start.
__global__ void __launch_bounds__(threads, 1)
    walk(const char* range, std::uint32_t rounds, std::uint32_t turn_bytes,
         std::uint32_t range_bytes, Stamp* stamps) {
  constexpr unsigned words = 4;
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  constexpr std::uint32_t width = words * sizeof(std::uint32_t);
  const char* const from =
      range + std::size_t{warp} * piece_words * sizeof(std::uint32_t) + lane * width;
  std::uint32_t offset = 0;
  std::uint32_t sum = 0;
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t w[in_flight][words];
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i)
      load<Access::global_cg, width>(w[i], from + offset + i * warp_lanes * width);
#pragma unroll
    for (unsigned i = 0; i < in_flight * words; ++i)
      sum += w[i / words][i % words];
    offset += turn_bytes;
    if (offset >= range_bytes) offset = 0;
  }
  const std::uint32_t all = warp_sum(sum);
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + warp, begin, end, all);
}

using Kernel = void (*)(const std::uint64_t*, std::uint32_t, Stamp*, std::uint64_t*);

Kernel kernel_for(Mix mix) {
  using enum Mix;
  return with_value<fma, tensor, idle_lanes, mufu, fma_tensor, fma_tensor_mufu>(
      mix, [&]<Mix one>() -> Kernel { return &work<one>; });
}

/// The host's part, which calls NVML.
class Watcher {
 public:
  explicit Watcher(Session& session) : nvml_{session.device().identity().uuid} {
    if (!nvml_.absence().empty()) session.fact("nvml", nvml_.absence());
  }
  [[nodiscard]] Beside beside() {
    using std::chrono::milliseconds;
    return {.rest = [] { std::this_thread::sleep_for(milliseconds{200}); },
            .watch = [this] { watch_.emplace(nvml_, milliseconds{5}); },
            .elapsed = [this] { return watch_->seconds(); },
            .readings = [this] { return watch_->stop(); },
            .violations = [this] { return nvml_.violations(); }};
  }

 private:
  NvmlDevice nvml_;
  std::optional<NvmlWatch> watch_;
};

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Mix mix = mixes.of(session.param("mix"));
  CudaMachine machine{session, std::size_t{gpu.sms} * warps};
  const cudaStream_t stream = machine.stream().get();
  Watcher watcher{session};
  auto& ends =
      machine.output<std::uint64_t>(std::max<std::size_t>(rows_of(mix).all(), 1) * warp_lanes);
  Experiment experiment = describe(session.params(), gpu, watcher.beside(), ends.landed());
  auto& launch = experiment.slopes.front().launch;
  const auto keep = [&](const void* kernel) {
    experiment.kernels = {kernel};
    return bytes_to_be_alone(kernel);
  };

  if (mix == Mix::memory) {
    const Range range = range_of(gpu);
    const DeviceBuffer<std::uint32_t> words{range.words()};
    fill(words.data(), words.size(), LinearWords{}, stream);
    const auto range_bytes = static_cast<std::uint32_t>(words.size_bytes());
    const std::size_t alone = keep(reinterpret_cast<const void*>(&walk));
    launch = [&, alone, range_bytes](const Call& call) {
      walk<<<gpu.sms, threads, alone, stream>>>(reinterpret_cast<const char*>(words.data()),
                                                call.length.rounds, range_bytes / range.turns,
                                                range_bytes, machine.device_stamps());
    };
    measure(session, machine, experiment);
    return;
  }
  const DeviceBuffer<std::uint64_t> values{device_words(mix)};
  const Kernel kernel = kernel_for(mix);
  const std::size_t alone = keep(reinterpret_cast<const void*>(kernel));
  launch = [&, alone](const Call& call) {
    kernel<<<gpu.sms, threads, alone, stream>>>(values.data(), call.length.rounds,
                                                machine.device_stamps(), ends.data());
  };
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::clock_under_load
