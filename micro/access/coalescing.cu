// How many sectors does a warp-load move, and what does it cost, for each address pattern?
//
// Every warp of a full chip reads windows of an array from L2, with one load of all lanes at a
// time. The pattern determines which element of the window each lane reads. The loads bypass L1
// (ld.global.cg), so each requests every sector that it touches from L2. No two loads in flight
// share a window, because L2 would answer both as one (request_merging). The coalescing model
// predicts the sectors of a load, and the hardware counts them. The time also includes, issued
// beside the loads, an integer addition for each word read and for each address.
#include "harness/cuda/benchmark.cuh"
#include "micro/access/sample_places.hpp"
#include "micro/pattern/particle_chain.hpp"
#include "micro/pattern/random_cycle.hpp"

#include <bit>

namespace strata::coalescing {

/// Loads of a warp per round, all in flight together; each from a separate window.
constexpr std::uint32_t loads_per_round = 4;
/// Warps of an SM. Where loads take many lines, fewer warps have as much in flight.
constexpr std::uint32_t most_warps = 32;
constexpr std::uint32_t least_warps = 8;
/// Largest stride, misalignment and width of the axes.
constexpr std::uint32_t max_stride = 128;
constexpr std::uint32_t max_misalignment = 31;
constexpr std::uint32_t max_width = 16;

/// The pattern of a case.
struct Pattern {
  std::uint32_t width = 4;                           ///< bytes of an element
  std::array<std::uint64_t, warp_lanes> elements{};  ///< of each lane, from the window's start
};

/// Positions of the windows of a pattern.
struct Windows {
  std::uint32_t count = 0;  ///< a multiple of loads_per_round
  std::uint32_t bytes = 0;  ///< distance of windows: whole lines, and an odd number of them
  [[nodiscard]] constexpr std::uint64_t size() const { return std::uint64_t{count} * bytes; }
};
[[nodiscard]] constexpr std::uint32_t turn_of(std::uint32_t warp, std::uint32_t load,
                                              std::uint32_t windows) {
  return (warp * loads_per_round + load) % windows;
}

namespace {

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "coalescing",
      .question =
          "How many sectors does a warp-load move, and what does it cost, for each address "
          "pattern?",
      .axes = {listed_axis("width", "bytes per lane", {"1", "2", "4", "8", "16"}),
               number_axis("stride", "elements from one lane to the next", 1, max_stride,
                           {"1", "2", "4", "8", "16", "32"}),
               number_axis("misalignment",
                           "elements from the start of a line to the first lane's element", 0,
                           max_misalignment, {"0"}),
               permutations.axis("permutation", "lane order within the warp", {"identity"})},
      .quantities = {{"warp_load_cycles", "SM cycles of a warp-load on a full chip"},
                     {"grid_time", "duration of the whole launch, including start-up"},
                     {"useful_bandwidth", "requested bytes per second"},
                     {"sector_bandwidth", "bytes of the moved sectors per second, by the model"},
                     {"core_clock", "clock of the core during the reads"},
                     {"sectors_per_request", "counted and modelled"}},
      .seconds_per_case = 0.02,
      .excludes = {}};
}

Pattern pattern_of(const Params& params) {
  const auto number = [&](const char* axis) { return number_of<std::uint32_t>(params, axis); };
  return {.width = number("width"),
          .elements = lane_elements(number("stride"), number("misalignment"),
                                    permutations.of(params.at("permutation")))};
}

/// One load of it, from a window that starts a line.
WarpAccess load_of(const Pattern& pattern) {
  return access_of(pattern.width, pattern.elements);
}

/// Windows whose lines L2 holds.
std::uint64_t windows_held(const Pattern& pattern, const GpuFacts& gpu) {
  const std::uint64_t lines = traffic(Generation::cc7, load_of(pattern)).lines;
  return gpu.l2_bytes / 3 / (lines * line_bytes);
}

/// Warps of an SM, a power of two: as many as have separate windows in a third of L2, counted in
/// the lines that are read. This leaves room for a second copy of each line in the other half of
/// L2.
std::uint32_t warps_for(const Pattern& pattern, const GpuFacts& gpu) {
  const std::uint64_t of_sm =
      windows_held(pattern, gpu) / (std::uint64_t{gpu.sms} * loads_per_round);
  return static_cast<std::uint32_t>(
      std::bit_floor(std::clamp<std::uint64_t>(of_sm, least_warps, most_warps)));
}

/// One window for each load of a round of all warps, as close together as possible. A few windows
/// far apart would make the fullest slice of L2, which differs between processes, determine the
/// time. If L2 has no room for the windows of the fewest warps, there are fewer windows, which
/// warps share.
Windows windows_for(const Pattern& pattern, const GpuFacts& gpu) {
  const std::uint64_t last = *std::ranges::max_element(pattern.elements);
  const std::uint64_t span = ((last + 1) * pattern.width + line_bytes - 1) / line_bytes;
  const std::uint64_t loads = std::uint64_t{gpu.sms} * warps_for(pattern, gpu) * loads_per_round;
  const std::uint64_t most = std::min(loads, windows_held(pattern, gpu));
  return {.count = static_cast<std::uint32_t>(std::max<std::uint64_t>(most / loads_per_round, 1) *
                                              loads_per_round),
          .bytes = static_cast<std::uint32_t>((span | 1U) * line_bytes)};
}

/// The windows in random but fixed order: load `load` of a round of warp `warp` reads window
/// turn_of(warp, load, count). In sequential order, the rate would depend on the assignment of
/// blocks to SMs, which changes between runs.
std::vector<std::uint32_t> order_of(const Windows& windows) {
  return random_order(windows.count, /*seed=*/11);
}

/// What the lanes of warp `warp` sum up in one round, weighted by lane_weight.
std::uint32_t expected_sum(const Pattern& pattern, const Windows& windows,
                           std::span<const std::uint32_t> order, std::uint32_t warp) {
  std::uint32_t sum = 0;
  for (std::uint32_t load = 0; load < loads_per_round; ++load) {
    const std::uint32_t first =
        order[turn_of(warp, load, windows.count)] * (windows.bytes / pattern.width);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const auto element = first + static_cast<std::uint32_t>(pattern.elements[lane]);
      sum += lane_weight(lane) * hashed_element(element, pattern.width);
    }
  }
  return sum;
}

/// Rounds of `warps` warps of an SM that take about `cycles`: a load takes an SM at least one cycle
/// per two sectors, or four cycles.
std::uint32_t rounds_for(double cycles, std::uint64_t sectors, std::uint32_t warps) {
  constexpr double least = 4;
  const double of_a_load = std::max(least, static_cast<double>(sectors) / 2);
  return std::max(1U, static_cast<std::uint32_t>(cycles / (of_a_load * warps * loads_per_round)));
}

/// Per warp-load of an SM.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Pattern pattern = pattern_of(params);
  constexpr double timed_cycles = 8e5;  // of a long launch: 0.4 ms, hundreds of timer steps
  const std::uint32_t warps = warps_for(pattern, gpu);
  const double loads_of_round = double{loads_per_round} * warps;
  const Traffic load = traffic(generation_of(gpu.major, gpu.minor), load_of(pattern));
  const Windows windows = windows_for(pattern, gpu);
  const std::uint32_t rounds = 5 * std::max(1U, rounds_for(timed_cycles, load.sectors, warps) / 5);
  const std::vector<std::uint32_t> order = order_of(windows);
  // All warps that read the same windows have the same sum.
  std::vector<std::uint32_t> sums;
  for (std::uint32_t warp = 0; warp * loads_per_round < windows.count; ++warp)
    sums.push_back(expected_sum(pattern, windows, order, warp));

  Experiment experiment;
  experiment.slopes = {{.verify = results_are([sums](const Call& call, std::size_t warp) {
                          const std::uint32_t sum = call.length.rounds * sums[warp % sums.size()];
                          return std::uint64_t{sum};
                        }),
                        .lengths = fifth_and_whole(rounds, loads_of_round),
                        .writers = std::size_t{gpu.sms} * warps}};
  const auto bandwidth = [&](std::uint64_t bytes_of_load) {
    return per_second(static_cast<double>(gpu.sms) * static_cast<double>(bytes_of_load));
  };
  add_both(experiment, "warp_load_cycles", "cycle");
  experiment.rows.push_back(grid_time());
  experiment.rows.push_back({"useful_bandwidth", "B/s", By::outside,
                             bandwidth(std::uint64_t{warp_lanes} * pattern.width)});
  experiment.rows.push_back(
      {"sector_bandwidth", "B/s", By::outside, bandwidth(load.sectors * sector_bytes)});
  experiment.checked = "warp sums against the host's";
  experiment.placement = Placement{.cores = gpu.sms, .per_core = static_cast<int>(warps)};
  experiment.unproved = {.gate = "level"};
  // Enough rounds that the traffic of other processes is negligible.
  constexpr std::uint32_t counted = 32;
  const std::uint64_t loads = std::uint64_t{gpu.sms} * warps * loads_per_round * counted;
  experiment.counts = CountPlan{
      .length = {.rounds = counted},
      .loads = LoadPrediction{.requests = loads * load.requests, .sectors = loads * load.sectors},
      .served_by = ServedBy::l2,
      .reads = static_cast<double>(loads),
      .warps_per_sm = double{1} * warps};
  experiment.facts = [rounds, warps, windows, sectors = load.sectors](const Experiment&) {
    return Facts{
        {"rounds", std::int64_t{rounds}},
        {"warps_per_sm", std::int64_t{warps}},
        {"footprint_bytes", static_cast<std::int64_t>(windows.count * sectors * sector_bytes)},
        {"windows", std::int64_t{windows.count}}};
  };
  return experiment;
}

#ifdef __CUDACC__

// A round is its loads, the additions that keep their values, and for each address the addition of
// a kernel argument that is always 0: ptxas hoists a load whose address never changes out of the
// loop, volatile asm or not. A launch of no rounds is the same kernel without loads.

constexpr unsigned blocks_per_sm = 2;
constexpr unsigned most_threads = most_warps * warp_lanes / blocks_per_sm;

/// By value in the kernel's parameters.
struct Elements {
  std::uint32_t of[warp_lanes];
};

/// The sum of an element's words. The load bypasses L1, which follows other rules.
template <unsigned width>
__device__ __forceinline__ std::uint32_t element_sum(const char* at) {
  std::uint32_t w[4] = {};
  load<Access::global_cg, width>(w, at);
  return (w[0] + w[1]) + (w[2] + w[3]);
}

template <unsigned width>
__global__ void __launch_bounds__(most_threads, blocks_per_sm)
    gather(const char* data, const __grid_constant__ Elements elements,
           const __grid_constant__ Windows windows, const std::uint32_t* order,
           std::uint32_t rounds, std::uint32_t advance, Stamp* stamps) {
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
  const char* at[loads_per_round];
#pragma unroll
  for (std::uint32_t l = 0; l < loads_per_round; ++l) {
    const std::uint32_t window = load_word<Access::global>(order + turn_of(warp, l, windows.count));
    at[l] = data + std::uint64_t{window} * windows.bytes + elements.of[lane] * width;
  }
  std::uint32_t sum = 0;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t value[loads_per_round];
#pragma unroll
    for (std::uint32_t l = 0; l < loads_per_round; ++l)
      value[l] = element_sum<width>(at[l]);
#pragma unroll
    for (std::uint32_t l = 0; l < loads_per_round; ++l) {
      sum += value[l];
      at[l] += advance;
    }
  }
  sum = warp_sum(sum * lane_weight(lane));
  // The shuffles need every loaded value, and the clock is read after them: issue is in order.
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + warp, begin, end, sum);
}

/// Bytes that hold the widest pattern.
std::uint64_t bytes_for(const GpuFacts& gpu) {
  const Pattern widest{
      .width = max_width,
      .elements = lane_elements(max_stride, max_misalignment, Permutation::identity)};
  const std::uint64_t lines = std::uint64_t{gpu.sms} * most_warps * loads_per_round * 2 * max_width;
  return std::max(windows_for(widest, gpu).size(), lines * line_bytes);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Pattern pattern = pattern_of(session.params());
  const std::uint32_t warps = warps_for(pattern, gpu);
  const Windows windows = windows_for(pattern, gpu);
  CudaMachine machine{session, std::size_t{gpu.sms} * warps};
  const cudaStream_t stream = machine.stream().get();
  SamplePlaces places{bytes_for(gpu)};
  if (windows.size() > places.bytes()) {
    throw std::logic_error{"the windows of a pattern do not fit into the array"};
  }
  // All patterns read the same array; each of the places holds a copy.
  using Field = DeviceBuffer<std::uint32_t>;
  const Field& field = session.cache().keep<Field>("coalescing", [&] {
    const std::size_t words = places.bytes() / sizeof(std::uint32_t);
    Field made{SamplePlaces::most * words};
    for (std::size_t place = 0; place < SamplePlaces::most; ++place)
      fill(made.data() + place * words, words, HashedWords{}, stream);
    return made;
  });
  const DeviceBuffer<std::uint32_t> order{order_of(windows)};
  Elements elements{};
  std::ranges::transform(pattern.elements, elements.of,
                         [](std::uint64_t e) { return static_cast<std::uint32_t>(e); });
  const auto kernel = with_value<1U, 2U, 4U, 8U, 16U>(
      pattern.width, [&]<unsigned width>() { return &gather<width>; });

  Experiment experiment = describe(session.params(), gpu);
  const auto launch = [&](std::uint32_t rounds) {
    kernel<<<gpu.sms * blocks_per_sm, warps * warp_lanes / blocks_per_sm, 0, stream>>>(
        reinterpret_cast<const char*>(field.data()) + places.offset(), elements, windows,
        order.data(), rounds, /*advance=*/0, machine.device_stamps());
  };
  experiment.prepare = [&] { places.next(); };
  // The loads themselves bring the windows into L2.
  experiment.slopes[0].prepare = [&](const Call&) { launch(1); };
  experiment.slopes[0].launch = [&](const Call& call) { launch(call.length.rounds); };
  experiment.kernels = {reinterpret_cast<const void*>(kernel)};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::coalescing
