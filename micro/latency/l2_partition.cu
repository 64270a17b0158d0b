// Is L2 one cache or two, and what does it cost to reach the other half?
//
// If L2 has two partitions, each line has its home in one of them, and the other may hold a copy,
// so that repeated loads show no difference. Atomic operations are executed at the line's home:
// therefore each SM exchanges one word of each of a few hundred lines many times. A word holds its
// own address, so the result of an exchange is the address of the next. In the difference of far
// and near the cost of the exchange itself cancels, and the differences show which lines and SMs
// are on the same side.
//
// Loads are timed one by one, from a clock reading before the load until its value can be used.
// Each follows an exchange of its word, which leaves the line at its home without a copy elsewhere.
// The time of the same code without the load is subtracted. If a copy were nearer, far loads would
// be as fast as near ones: the gate `model` requires, for each SM, at least half of an exchange's
// cost of crossing.
//
// Memory, too, is attached to one half or the other. To time loads that memory serves, all SMs
// first read four times the size of L2; then the SMs, one after the other, each load one of the
// lines, whose page was touched before. Since there are few lines, the sweep is repeated for each
// load.
#include "harness/cuda/benchmark.cuh"
#include "micro/latency/line_walk.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#ifdef __CUDACC__
#include "harness/cuda/sweep.cuh"
#include "micro/latency/line_walk.cuh"

#include <cooperative_groups.h>
#include <utility>
#endif

namespace strata::l2_partition {

constexpr std::uint32_t lines = 256;
constexpr std::uint64_t room_bytes = std::uint64_t{16} << 20U;  ///< that the lines span
constexpr std::uint32_t brief_turns = 2;  ///< of each line in the short launch
constexpr std::uint32_t full_turns = 6;
constexpr std::uint32_t brief_loads = 2;  ///< of each line, in the short launch of loads
constexpr std::uint32_t full_loads = 10;
constexpr std::uint32_t brief_sweeps = 4;  ///< loads by each SM after each sweep
constexpr std::uint32_t full_sweeps = 36;
constexpr std::uint32_t sweepers = 1024;    ///< threads of each SM that sweep
constexpr std::uint32_t apart_cycles = 64;  ///< between the loads of two SMs

/// The slopes of the experiment.
constexpr std::size_t exchanges = 0;
constexpr std::size_t single_loads = 1;
constexpr std::size_t evicted_loads = 2;

/// The line that a block loads after the sweep with that number: at any time a different one for
/// each block, and never one again.
constexpr std::uint32_t line_of(std::size_t block, std::uint32_t sweep) {
  constexpr std::uint32_t step = 7;  // odd, as the lines are a power of two
  return (static_cast<std::uint32_t>(block) + step * sweep) % lines;
}

constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t piece = room_bytes / lines;

namespace {

/// The cycles of loads after sweeps: an SM loads each of its lines once.
Inside read_evicted(const Launched& brief, const Launched& full) {
  Inside seen{.slowest = slowest_of(brief, full), .hertz = median_hertz(full)};
  std::vector<double> loaded;
  for (const std::size_t block : by_sm(full)) {
    const std::size_t row = seen.cells.size();
    seen.cells.resize(row + lines, std::numeric_limits<double>::quiet_NaN());
    for (std::uint32_t sweep = 0; sweep < full.length.rounds; ++sweep) {
      const std::uint32_t line = line_of(block, sweep);
      loaded.push_back(full.cells[block * lines + line]);
      seen.cells[row + line] = loaded.back();
    }
  }
  seen.cycles = median(loaded);
  return seen;
}

/// The cells of a slope, as medians over these samples.
Matrix matrix_of(std::span<const Sample> samples, std::size_t slope) {
  std::vector<Matrix> matrices;
  for (const Sample& sample : samples) {
    const auto& cells = sample.slopes.at(slope).inside.cells;
    matrices.push_back({.rows = cells.size() / lines, .columns = lines, .cells = cells});
  }
  return median_of(matrices);
}

/// For each SM: its median over the lines of its side, over those of the other, and the difference.
struct Sides {
  std::vector<double> near;
  std::vector<double> far;
  std::vector<double> crossing;
};
Sides sides_of(const Matrix& cycles, const Split& found) {
  Sides sides;
  for (std::size_t sm = 0; sm < cycles.rows; ++sm) {
    std::vector<double> beside;
    std::vector<double> beyond;
    for (std::size_t line = 0; line < lines; ++line) {
      const double cell = cycles.row(sm)[line];
      if (!std::isnan(cell)) (found.near(sm, line) ? beside : beyond).push_back(cell);
    }
    sides.near.push_back(median(beside));
    sides.far.push_back(median(beyond));
    sides.crossing.push_back(sides.far.back() - sides.near.back());
  }
  return sides;
}

/// The same in each sample: medians over the SMs.
Sides sides_by_sample(const std::vector<Sample>& samples, std::size_t slope, const Split& found) {
  Sides by_sample;
  for (const Sample& sample : samples) {
    const Sides sides = sides_of(matrix_of({&sample, 1}, slope), found);
    by_sample.near.push_back(median(sides.near));
    by_sample.far.push_back(median(sides.far));
    by_sample.crossing.push_back(median(sides.crossing));
  }
  return by_sample;
}

void conclude(Session& session, const std::vector<Sample>& samples) {
  const Matrix cycles = matrix_of(samples, exchanges);
  const Split found = split(cycles);
  constexpr auto timed = Provenance::timed;
  constexpr auto modelled = Provenance::modelled;
  constexpr const char* method = "double_centred_split";
  // A pattern that does not fall into two groups may be one of distances: then there is no number.
  if (found.two || found.p_value > p_bound) {
    session.add({"partitions", "1", modelled, method, {found.two ? 2.0 : 1.0}});
  }
  session.fact("p_value", found.p_value);
  session.fact("sms_apart", found.rows_apart);
  session.fact("lines_apart", found.columns_apart);
  if (!found.two) return;  // without two sides, near and far mean nothing

  const Sides sides = sides_of(cycles, found);
  std::vector<double> share;
  for (std::size_t sm = 0; sm < cycles.rows; ++sm) {
    std::size_t beside = 0;
    for (std::size_t line = 0; line < lines; ++line)
      beside += found.near(sm, line) ? 1 : 0;
    share.push_back(static_cast<double>(beside) / lines);
  }
  // SMs of one side must agree: one that reaches the other side faster belongs to neither.
  const auto contrary =
      std::ranges::count_if(sides.crossing, [](double more) { return !(more > 0); });
  session.none_of("model", static_cast<std::size_t>(contrary), cycles.rows,
                  "SMs reach the lines of the other side as fast as their own");
  const Sides of_loads = sides_of(matrix_of(samples, single_loads), found);
  std::size_t as_near = 0;
  for (std::size_t sm = 0; sm < cycles.rows; ++sm)
    as_near += of_loads.crossing[sm] >= sides.crossing[sm] / 2 ? 0 : 1;
  session.none_of("model", as_near, cycles.rows,
                  "SMs load lines of the other side as if a copy were near");
  constexpr const char* samples_are = "one sample per SM";
  session.add_unrepeated({"near_cycles", "cycle", timed, method, sides.near}, samples_are);
  session.add_unrepeated({"far_cycles", "cycle", timed, method, sides.far}, samples_are);
  session.add_unrepeated({"crossing_cycles", "cycle", timed, method, sides.crossing}, samples_are);
  const Sides of_memory = sides_of(matrix_of(samples, evicted_loads), found);
  std::size_t from_l2 = 0;
  for (std::size_t sm = 0; sm < cycles.rows; ++sm)
    from_l2 += of_memory.near[sm] > of_loads.far[sm] ? 0 : 1;
  session.none_of("model", from_l2, cycles.rows,
                  "SMs load what was evicted from L2 as fast as from L2's other side");
  const Sides load = sides_by_sample(samples, single_loads, found);
  session.add({"near_load_cycles", "cycle", timed, "single_loads", load.near});
  session.add({"far_load_cycles", "cycle", timed, "single_loads", load.far});
  session.add({"crossing_load_cycles", "cycle", timed, "single_loads", load.crossing});
  const Sides from_memory = sides_by_sample(samples, evicted_loads, found);
  session.add({"near_dram_cycles", "cycle", timed, "single_loads", from_memory.near});
  session.add({"far_dram_cycles", "cycle", timed, "single_loads", from_memory.far});
  // These describe the split and not time: they have no noise that a gate could bound.
  session.add({"near_share", "1", modelled, method, share});
  const auto right = static_cast<double>(std::ranges::count(found.row_side, true));
  const double left = static_cast<double>(cycles.rows) - right;
  session.add({"sms_of_smaller_side", "1", modelled, method, {std::min(right, left)}});
}

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "l2_partition",
      .question = "Is L2 one cache or two, and what does it cost to reach the other half?",
      .axes = {},
      .quantities =
          {{"partitions", "sides that lines and SMs belong to: 1 or 2"},
           {"access_cycles", "an atomic exchange in L2, median over all SMs and lines"},
           {"near_cycles",
            "an atomic exchange in lines whose home is on the SM's side; one sample per SM"},
           {"far_cycles",
            "an atomic exchange in lines whose home is on the other side; one sample per SM"},
           {"crossing_cycles", "extra cycles of an exchange on the other side, per SM"},
           {"near_load_cycles", "a load of a line whose home is on the SM's side, median over SMs"},
           {"far_load_cycles",
            "a load of a line whose home is on the other side and that has no copy on the SM's "
            "side, median over SMs"},
           {"crossing_load_cycles", "extra cycles of a load on the other side, median over SMs"},
           {"near_dram_cycles",
            "a load served by memory behind the SM's side of L2, median over SMs"},
           {"far_dram_cycles", "a load served by memory behind the other side, median over SMs"},
           {"near_share", "share of lines near an SM; one sample per SM"},
           {"sms_of_smaller_side", "SMs of the smaller side"},
           {"fabric_sectors_per_access", "counted between the halves of L2"},
           {"core_clock", "clock of the core during the work"}},
      .seconds_per_case = 0.2,
      .excludes = [](const Params&, Backend backend) -> std::optional<std::string> {
        if (backend == Backend::host) return "the caches of a CPU have no such halves";
        return std::nullopt;
      }};
}

/// Byte offsets of the lines in their room, all different and on line boundaries.
std::vector<std::uint64_t> offsets() {
  // One line of each of `lines` equal pieces of the buffer.
  std::vector<std::uint64_t> result;
  result.reserve(lines);
  for (std::uint32_t i = 0; i < lines; ++i)
    result.push_back(i * piece + hashed_word(i) % (piece / line_bytes) * line_bytes);
  return result;
}

/// For each of the lines another one, within 128 KiB and at least 4 KiB away from all of them.
[[maybe_unused]] std::vector<std::uint64_t> offsets_beside() {
  // In the neighbouring piece, half a piece after the line there.
  const std::vector<std::uint64_t> of_lines = offsets();
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < lines; ++i) {
    const std::uint64_t other = i ^ 1U;
    result.push_back(other * piece + (of_lines[other] + piece / 2) % piece);
  }
  return result;
}

/// Three slopes: exchanges, loads that each follow an exchange, and loads that each follow a sweep.
/// Cells: the cycles of each SM and line; NaN for lines that an SM does not load. A stamp's result:
/// lines that returned another address.
Experiment describe(const Params& /*params*/, const GpuFacts& gpu) {
  if (gpu.sms > lines) throw Skipped{"two SMs would load one line at a time"};
  const unsigned sms = gpu.sms;
  // A unit of work is one access by each SM.
  const auto length = [](std::uint32_t rounds, std::uint32_t accesses) {
    return Length{.rounds = rounds, .work = double{lines} * rounds * accesses};
  };
  const auto window = [](auto read) { return Window{.name = "each SM and line", .read = read}; };
  const auto of_lines = [](auto read) {
    return [read](const Launched& brief, const Launched& full) { return read(brief, full, lines); };
  };
  const auto verify = no_line_astray(lines);
  Experiment experiment;
  experiment.slopes = {
      {.verify = verify,
       .lengths = {.brief = length(brief_turns, turn), .full = length(full_turns, turn)},
       .writers = sms,
       .window = window(of_lines(read_walks))},
      {.verify = verify,
       .lengths = {.brief = length(brief_loads, 1), .full = length(full_loads, 1)},
       .writers = sms,
       .window = window(of_lines(read_cells))},
      {.verify = verify,
       .lengths = {.brief = {.rounds = brief_sweeps, .work = brief_sweeps},
                   .full = {.rounds = full_sweeps, .work = full_sweeps}},
       .writers = sms,
       .window = window(read_evicted)}};
  experiment.rows = {{"access_cycles", "cycle", By::inside, cycles_of(exchanges)}};
  for (std::size_t slope = 0; slope < experiment.slopes.size(); ++slope) {
    const Value slowest = of_slope([](const Seen& seen) { return seen.inside.slowest; }, slope);
    experiment.checks.emplace_back(TimerPair{slowest, By::inside, outside_of(slope), By::outside});
    experiment.watch.insert(experiment.watch.end(), {slowest, outside_of(slope)});
  }
  experiment.conclude = conclude;
  experiment.checked = "exchanged and loaded words that hold their own address";
  experiment.placement = Placement{.cores = sms};
  experiment.counts = CountPlan{.length = length(full_turns, turn)};
  experiment.counts->more = [sms](Session& session, const Counted& counted) {
    const auto crossed = counted.net("l2_fabric_sectors");
    if (!crossed) throw Skipped{"the chip has no counter between the halves of L2"};
    const double accesses = double{full_turns} * turn * lines * sms;
    session.add({"fabric_sectors_per_access", "sector", Provenance::counted, "cupti_net",
                 std::vector{*crossed / accesses}});
  };
  experiment.facts = [](const Experiment&) { return Facts{{"lines", std::int64_t{lines}}}; };
  return experiment;
}

#ifdef __CUDACC__

/// Writes a word into each line, and the line's address into the word at its address beside.
__global__ void settle(const std::uint64_t* line_addresses, const std::uint64_t* words,
                       const std::uint64_t* beside_addresses) {
  const std::uint64_t at = line_addresses[threadIdx.x];
  *reinterpret_cast<std::uint64_t*>(at) = words[threadIdx.x];
  *reinterpret_cast<std::uint64_t*>(beside_addresses[threadIdx.x]) = at;
}

__device__ __forceinline__ std::uint32_t first_line() {
  return blockIdx.x * lines / gridDim.x;
}

__global__ void visit(const std::uint64_t* line_addresses, std::uint32_t turns,
                      std::uint64_t* cycles, Stamp* stamps) {
  go_over(line_addresses, lines, first_line(), cycles, stamps,
          [turns](std::uint64_t& at) { return timed_chain(at, turns, exchange); });
}

/// Cycles from the clock reading before a load of the word at `at` until the word arrives, minus
/// those of the same code without the load.
__device__ __forceinline__ std::uint64_t single_load(std::uint64_t& at) {
  consume(static_cast<std::uint32_t>(at));
  const std::uint64_t idle = cycles_now();
  consume(static_cast<std::uint32_t>(at >> 32U));  // the lower half is already known
  const std::uint64_t begin = cycles_now();
  follow<Access::global_cg>(at);
  consume(static_cast<std::uint32_t>(at));
  return cycles_now() - begin - (begin - idle);
}

/// The same walk with a load after each exchange. `cycles`: of the loads alone.
__global__ void load_once_each(const std::uint64_t* line_addresses, std::uint32_t loads,
                               std::uint64_t* cycles, Stamp* stamps) {
  go_over(line_addresses, lines, first_line(), cycles, stamps, [loads](std::uint64_t& at) {
    std::uint64_t taken = 0;
#pragma unroll 1
    for (std::uint32_t l = 0; l < loads; ++l) {
      exchange(at);
      taken += single_load(at);
    }
    return taken;
  });
}

/// Before each load all SMs read `sweep`, which evicts every line from L2. Then one thread of each
/// SM, one SM after the other, loads the next of its lines. `cycles`: of those loads alone; nothing
/// is written for lines that an SM does not load.
__global__ void __launch_bounds__(sweepers)
    load_evicted(const std::uint64_t* line_addresses, const std::uint64_t* beside_addresses,
                 const uint4* sweep, std::size_t quads, std::uint32_t loads, std::uint64_t* cycles,
                 std::uint32_t* sink, Stamp* stamps) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  std::uint64_t wrong = 0;
  std::uint32_t sum = 0;
  const Reading before = reading_before();
#pragma unroll 1
  for (std::uint32_t l = 0; l < loads; ++l) {
    sum ^= sweep_piece(sweep, quads, blockIdx.x);
    grid.sync();
    if (threadIdx.x == 0) {
      const std::uint32_t line = line_of(blockIdx.x, l);
      const std::uint64_t own = line_addresses[line];
      // Caches the page's translation before the line is requested.
      std::uint64_t at = beside_addresses[line];
      follow<Access::global_cg>(at);
      consume(static_cast<std::uint32_t>(at));
      const std::uint64_t met = cycles_now();
      while (cycles_now() - met < blockIdx.x * apart_cycles) {
      }
      cycles[blockIdx.x * lines + line] = single_load(at);
      wrong += at == own ? 0 : 1;
    }
    grid.sync();
  }
  const Reading after = reading_after();
  if (threadIdx.x == 0) leave(stamps + blockIdx.x, before, after, wrong);
  keep_loads(sum, sink);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  Experiment experiment = describe(session.params(), gpu);
  CudaMachine machine{session, gpu.sms};
  const cudaStream_t stream = machine.stream().get();
  const DeviceBuffer<char> room{room_bytes};
  const auto addresses_of = [&](std::vector<std::uint64_t> offsets) {
    for (std::uint64_t& one : offsets)
      one += reinterpret_cast<std::uintptr_t>(room.data());
    return DeviceBuffer<std::uint64_t>{offsets};
  };
  const DeviceBuffer<std::uint64_t> line_addresses = addresses_of(offsets());
  const DeviceBuffer<std::uint64_t> beside_addresses = addresses_of(offsets_beside());
  const auto lay = [&](const DeviceBuffer<std::uint64_t>& words) {
    settle<<<1, lines, 0, stream>>>(line_addresses.data(), words.data(), beside_addresses.data());
    cuda_check(cudaGetLastError());
  };
  const DeviceBuffer<uint4>& sweep = machine.words_to_sweep();
  const DeviceBuffer<std::uint32_t> sink{1};

  const auto& cycles = machine.output<std::uint64_t>(std::size_t{gpu.sms} * lines);
  if (session.counters() == nullptr) {
    auto following = offsets();
    std::ranges::rotate(following, following.begin() + 1);
    const DeviceBuffer<std::uint64_t> words = addresses_of(following);
    Slope altered{.launch =
                      [&](const Call& call) {
                        visit<<<1, 1, 0, stream>>>(line_addresses.data(), call.length.rounds,
                                                   cycles.data(), machine.device_stamps());
                      },
                  .prepare = [&](const Call&) { lay(words); },
                  .verify = results_are([](const Call& call) {
                    return lines_that_lead_away(lines, turn * (1 + call.length.rounds));
                  }),
                  .writers = 1};
    Tally tally;
    (void)launch_once(machine, altered, {.length = {.rounds = 3, .work = 1}}, tally);
    experiment.checks.emplace_back(Dependence{"counts of lines that lead away", tally});
  }
  lay(line_addresses);
  for (const std::size_t slope : {exchanges, single_loads}) {
    const auto kernel = slope == exchanges ? visit : load_once_each;
    experiment.slopes[slope].launch = [&, kernel](const Call& call) {
      kernel<<<gpu.sms, 1, 0, stream>>>(line_addresses.data(), call.length.rounds, cycles.data(),
                                        machine.device_stamps());
    };
    experiment.kernels.push_back(reinterpret_cast<const void*>(kernel));
  }
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  const cudaLaunchConfig_t config{.gridDim = gpu.sms,
                                  .blockDim = sweepers,
                                  .stream = stream,
                                  .attrs = &together,
                                  .numAttrs = 1};
  experiment.slopes[evicted_loads].launch = [&](const Call& call) {
    cuda_check(cudaLaunchKernelEx(
        &config, load_evicted, line_addresses.data(), beside_addresses.data(), sweep.data(),
        sweep.size(), call.length.rounds, cycles.data(), sink.data(), machine.device_stamps()));
  };
  experiment.kernels.push_back(reinterpret_cast<const void*>(load_evicted));
  for (Slope& slope : experiment.slopes) {
    slope.cells = [&] {
      return std::vector<double>{cycles.landed().begin(), cycles.landed().end()};
    };
    // Loads the code.
    (void)launch_once(machine, slope, {.length = slope.lengths.brief}, experiment.tally);
  }
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::l2_partition
