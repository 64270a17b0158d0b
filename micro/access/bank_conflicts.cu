// What does a bank conflict cost? Shared memory has 32 banks of 4 bytes, and each bank delivers one
// word per cycle: a warp whose lanes read k different words of one bank needs k wavefronts.
//
// Two things are timed: the latency of a dependent load, in a warp alone on the chip, and the
// cycles of an access where 32 warps on every SM have eight accesses in flight each. The second
// time also includes, issued beside the accesses, an addition for each word, or for two or three of
// them, and the loop.
#include "harness/cuda/benchmark.cuh"
#include "micro/pattern/particle_chain.hpp"
#include "micro/pattern/random_cycle.hpp"

namespace strata::bank_conflicts {

constexpr std::uint32_t word_bytes = 4;
/// Largest stride and width of the axes.
constexpr std::uint32_t max_stride = 33;
constexpr std::uint32_t max_width = 16;

/// Many warps: independent accesses of a warp per round.
constexpr std::uint32_t accesses_per_round = 8;
constexpr std::uint32_t warps_per_sm = 32;
/// Distance between accesses of a round, and between warps: once around the banks, so that the
/// pattern has the same conflicts everywhere.
constexpr std::uint32_t shift_bytes = 128;
constexpr std::uint32_t shift_words = shift_bytes / word_bytes;
/// Words of shared memory that a block accesses with the largest pattern.
constexpr std::uint32_t field_words = (((warp_lanes - 1) * max_stride + 1) * max_width +
                                       (warps_per_sm - 1 + accesses_per_round - 1) * shift_bytes) /
                                      word_bytes;

/// One warp: loads of the chain between two branches.
constexpr std::uint32_t unroll = 16;
/// Words of shared memory of its chain: as many as a block has without opting in.
constexpr std::uint32_t chain_words = 48 * 1024 / word_bytes;
constexpr std::uint32_t max_windows = 15;

/// Which lanes access the same element.
enum class Sharing { none, pairs, all };

/// What a warp accesses.
struct Pattern {
  std::uint32_t width = word_bytes;                  ///< bytes of an element
  bool store = false;                                ///< else loads
  std::array<std::uint32_t, warp_lanes> elements{};  ///< of each lane
};

/// The windows of a chain: every lane goes from its element in one window to its element in the
/// next.
struct Windows {
  std::uint32_t count = 0;  ///< odd, so that a chain does not end where it began
  std::uint32_t bytes = 0;  ///< distance of windows: a multiple of shift_bytes
  std::array<std::uint32_t, max_windows> next{};  ///< a cycle through all windows
};

/// Words are stored as hashed_word of their index, and this much more in every round: all warps may
/// write the same words, and the final contents are known.
constexpr std::uint32_t store_change = 0x85EBCA6BU;

constexpr auto sharings = choices_of<Sharing>("stride", "multicast", "broadcast");
constexpr Choices stores{std::pair{"load", false}, std::pair{"store", true}};
constexpr Choices widths{std::pair{"4", 4U}, std::pair{"8", 8U}, std::pair{"16", max_width}};

namespace {

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

Pattern pattern_of(const Params& params) {
  return make_pattern(widths.of(params.at("width")), number_of<std::uint32_t>(params, "stride"),
                      sharings.of(params.at("pattern")), stores.of(params.at("operation")));
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

/// The result of a warp after `loads` loads of the chain from window 0: where it ended, and the
/// words that were loaded with the addresses, weighted by lane_weight.
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

/// The sum of each warp of a block, as a line whose word r is that of r ≥ 1 rounds. For loads: what
/// its lanes load, weighted by lane_weight. For stores: what they find in the field, word i by lane
/// i mod 32 of warp i ÷ 32 mod 32; words that no store reaches keep hashed_word(field_words + i).
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

/// Rounds of many warps, a multiple of 5, and loads of the chain, a multiple of 5 × unroll, that
/// take about `cycles`.
std::uint32_t rounds_for(double cycles, std::uint64_t wavefronts) {
  return multiple_for(
      cycles, static_cast<double>(wavefronts) * double{warps_per_sm} * accesses_per_round, 5);
}

std::uint32_t loads_for(double cycles, std::uint64_t wavefronts) {
  constexpr double without_conflict = 28;  // approximate; a conflict adds one or two cycles
  return multiple_for(cycles, without_conflict + 2 * static_cast<double>(wavefronts), 5 * unroll);
}

/// The last slope is that of many warps, per access of an SM; for loads, the first slope is per
/// load of the chain.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Pattern pattern = pattern_of(params);
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

#ifdef __CUDACC__

// Addresses are 32-bit addresses of the shared window, so that a loaded word is the next address of
// a chain without arithmetic. With many warps the addresses are computed once, and every round adds
// a kernel argument that is always 0: ptxas hoists a load whose address never changes out of the
// loop, volatile asm or not, and the loop would then time nothing. A launch of no rounds is the
// same kernel without accesses.

constexpr unsigned threads = warps_per_sm * warp_lanes;

/// One load after the other, in one warp. The first word of an element is the address of the lane's
/// element in the next window; the other words of wide elements are added up.
template <unsigned width>
__global__ void __launch_bounds__(warp_lanes)
    follow(const __grid_constant__ Pattern pattern, const __grid_constant__ Windows windows,
           std::uint32_t loads, Stamp* stamp) {
  __shared__ alignas(shift_bytes) std::uint32_t words[chain_words];
  const std::uint32_t base = shared_address(words);
  const std::uint32_t lane = threadIdx.x;
  const std::uint32_t offset = pattern.elements[lane] * width;
  for (std::uint32_t i = lane; i < chain_words; i += warp_lanes)
    words[i] = hashed_word(i);
  __syncwarp();
  for (std::uint32_t w = 0; w < windows.count; ++w) {
    // Lanes that share an element write the same address into it.
    words[(w * windows.bytes + offset) / word_bytes] =
        base + windows.next[w] * windows.bytes + offset;
  }
  __syncwarp();

  std::uint32_t at = base + offset;
  std::uint32_t sum = 0;
  std::uint32_t element[words_of(width)];
  load<Access::shared, width>(element, at);
  consume(element[0]);
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t i = 0; i < loads; i += unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < unroll; ++u) {
      load<Access::shared, width>(element, at);
      at = element[0];
#pragma unroll
      for (unsigned w = 1; w < words_of(width); ++w)
        sum += element[w];
    }
  }
  consume(at);
  const Reading end = reading_after();
  sum = warp_sum(lane_weight(lane) * (sum + at - base));
  if (lane == 0) leave(stamp, begin, end, sum);
}

/// Loads of many warps.
template <unsigned width>
__global__ void __launch_bounds__(threads, 1)
    read(const __grid_constant__ Pattern pattern, std::uint32_t rounds, std::uint32_t advance,
         Stamp* stamps) {
  __shared__ alignas(shift_bytes) std::uint32_t field[field_words];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = threadIdx.x / warp_lanes;
  for (std::uint32_t i = threadIdx.x; i < field_words; i += threads)
    field[i] = hashed_word(i);
  std::uint32_t at = shared_address(field) + warp * shift_bytes + pattern.elements[lane] * width;
  std::uint32_t sum = 0;
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t value[accesses_per_round][words_of(width)];
#pragma unroll
    for (std::uint32_t a = 0; a < accesses_per_round; ++a)
      load<Access::shared, width>(value[a], at + a * shift_bytes);
    at += advance;
#pragma unroll
    for (std::uint32_t a = 0; a < accesses_per_round; ++a) {
#pragma unroll
      for (unsigned w = 0; w < words_of(width); ++w)
        sum += value[a][w];
    }
  }
  sum = warp_sum(lane_weight(lane) * sum);
  // The shuffles need every loaded word, and the clock is read after them: issue is in order.
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + blockIdx.x * warps_per_sm + warp, begin, end, sum);
}

/// Stores of many warps. The clock is read once the last store has been issued, a few wavefronts
/// early, in the short launch as in the long one.
template <unsigned width>
__global__ void __launch_bounds__(threads, 1)
    write(const __grid_constant__ Pattern pattern, std::uint32_t rounds, std::uint32_t advance,
          Stamp* stamps) {
  __shared__ alignas(shift_bytes) std::uint32_t field[field_words];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = threadIdx.x / warp_lanes;
  for (std::uint32_t i = threadIdx.x; i < field_words; i += threads)
    field[i] = hashed_word(field_words + i);
  const std::uint32_t first = warp * shift_words + pattern.elements[lane] * words_of(width);
  std::uint32_t at = shared_address(field) + first * word_bytes;
  std::uint32_t value[accesses_per_round][words_of(width)];
#pragma unroll
  for (std::uint32_t a = 0; a < accesses_per_round; ++a) {
#pragma unroll
    for (unsigned w = 0; w < words_of(width); ++w)
      value[a][w] = hashed_word(first + a * shift_words + w);
  }
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (std::uint32_t a = 0; a < accesses_per_round; ++a) {
      store<Access::shared, width>(at + a * shift_bytes, value[a]);
#pragma unroll
      for (unsigned w = 0; w < words_of(width); ++w)
        value[a][w] += store_change;
    }
    at += advance;
  }
  const Reading end = reading_after();
  __syncthreads();
  std::uint32_t sum = 0;
  for (std::uint32_t i = threadIdx.x; i < field_words; i += threads)
    sum += lane_weight(i) * field[i];
  sum = warp_sum(sum);
  if (lane == 0) leave(stamps + blockIdx.x * warps_per_sm + warp, begin, end, sum);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Pattern pattern = pattern_of(session.params());
  const auto chain =
      with_value<4U, 8U, 16U>(pattern.width, [&]<unsigned width>() { return &follow<width>; });
  const auto many = with_value<4U, 8U, 16U>(pattern.width, [&]<unsigned width>() {
    return pattern.store ? &write<width> : &read<width>;
  });
  CudaMachine machine{session, std::size_t{gpu.sms} * warps_per_sm};
  const cudaStream_t stream = machine.stream().get();

  Experiment experiment = describe(session.params(), gpu);
  experiment.slopes.back().launch = [&](const Call& call) {
    many<<<gpu.sms, threads, 0, stream>>>(pattern, call.length.rounds, /*advance=*/0,
                                          machine.device_stamps());
  };
  experiment.kernels = {reinterpret_cast<const void*>(many)};
  if (!pattern.store) {
    experiment.slopes.front().launch = [&, windows = windows_for(pattern)](const Call& call) {
      chain<<<1, warp_lanes, 0, stream>>>(pattern, windows, call.length.rounds,
                                          machine.device_stamps());
    };
    experiment.kernels.push_back(reinterpret_cast<const void*>(chain));
  }
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::bank_conflicts
