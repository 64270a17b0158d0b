// Which loads of several SMs does L2 answer as one, and do such loads return sooner?
//
// Between the SMs of a GPC and L2 is a unit that NVIDIA calls the L2 request coalescer: loads of
// several SMs for one sector that are close enough in time reach L2 as one, and its answer goes to
// all of them. The blocks of one cluster, which are in one GPC, run on one SM each. In every round
// they meet at the cluster barrier; then the first loads a line that no SM has requested in this
// launch, and the others load the same line `delay` cycles later. Loads bypass L1 (ld.global.cg).
// The counts at L2 over the misses of L1 are the remaining share of the requests. The time of a
// load includes two clock reads. The delay includes the remaining skew of SMs after the barrier,
// and the steps of a loop that waits for the clock.
#include "harness/cuda/benchmark.cuh"

#ifdef __CUDACC__
#include "harness/cuda/cluster.cuh"
#endif

namespace strata::request_merging {

constexpr std::uint32_t lanes = 32;  ///< a warp of each SM loads a line, four sectors of it
constexpr std::uint32_t sectors_of_line = 4;
/// Rounds of the long launch, each with a separate line: 128 KiB, far less than L2.
constexpr std::uint32_t rounds = 1000;
/// Cycles from the barrier to the first load; by then the last SM has left the barrier.
constexpr std::uint32_t lead = 400;

/// Contents of the lines; a load waits for a word that is not 2^32 - 1.
constexpr HashedWords words{.mask = 0x7FFFFFFFU};

/// Marks of a stamp after the two of the launch: cycles of all loads, and from the barriers to
/// them. The tag is the rank of the block in its cluster: 0 loads first.
constexpr unsigned load_mark = 2;
constexpr unsigned wait_mark = 3;

/// The window's values, computed from the stamps, in this order.
enum Cell : std::size_t { first_load, other_loads, apart };

namespace {

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

/// The sum of the words of the first `count` lines.
std::uint32_t sum_of_lines(std::uint32_t count) {
  std::uint32_t sum = 0;
  for (std::uint32_t word = 0; word < count * lanes; ++word)
    sum += words.word(word);
  return sum;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  if (gpu.major < 9) throw Skipped{"thread block clusters need compute capability 9.0"};
  const auto sms = number_of<std::uint32_t>(params, "sms");
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
                .sms_of_line = sms};
  experiment.facts = [delay = number_of<std::int64_t>(params, "delay")](const Experiment&) {
    return Facts{{"rounds", std::int64_t{rounds}}, {"delay", delay}};
  };
  return experiment;
}

#ifdef __CUDACC__

/// A warp on each SM of a cluster.
__global__ void __launch_bounds__(lanes)
    meet(const std::uint32_t* line, std::uint32_t rounds, std::uint32_t delay, Stamp* stamps) {
#if __CUDA_ARCH__ >= 900
  const std::uint32_t rank = rank_in_cluster();
  const std::uint32_t after = lead + (rank == 0 ? 0 : delay);
  line += threadIdx.x;
  std::uint32_t sum = 0;
  std::uint64_t loading = 0;
  std::uint64_t waiting = 0;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    synchronize_cluster();
    const std::uint64_t met = cycles_now();
#pragma unroll 1
    while (cycles_now() - met < after) {
    }
    const std::uint64_t requested = cycles_now();
    std::uint32_t word[1];
    load<Access::global_cg, 4>(word, line);
    consume(word[0]);
    loading += cycles_now() - requested;
    waiting += requested - met;
    sum += word[0];
    line += lanes;
  }
  const Reading end = reading_after();
  sum = warp_sum(sum);
  if (threadIdx.x == 0) {
    Stamp& mine = stamps[blockIdx.x];
    leave(&mine, begin, end, sum);
    mine.cycles[load_mark] = loading;
    mine.cycles[wait_mark] = waiting;
    mine.tag = rank;
  }
#else
  __trap();  // no clusters: the host does not launch it
#endif
}

void run(Session& session) {
  Experiment experiment = describe(session.params(), session.gpu());
  const auto sms = number_of<std::uint32_t>(session.params(), "sms");
  const auto delay = number_of<std::uint32_t>(session.params(), "delay");
  const auto* const code = reinterpret_cast<const void*>(meet);
  constexpr std::uint32_t portable = 8;
  if (sms > portable) {
    cuda_check(cudaFuncSetAttribute(code, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  CudaMachine machine{session, sms};
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {sms, 1, 1};
  const cudaLaunchConfig_t config{.gridDim = sms,
                                  .blockDim = lanes,
                                  .dynamicSmemBytes = bytes_to_be_alone(code),
                                  .stream = machine.stream().get(),
                                  .attrs = &cluster,
                                  .numAttrs = 1};
  int clusters = 0;
  cuda_check(cudaOccupancyMaxActiveClusters(&clusters, code, &config));
  if (clusters < 1) throw Skipped{"no cluster of that size fits on this device"};

  using Lines = DeviceBuffer<std::uint32_t>;
  const Lines& lines = session.cache().keep<Lines>("request_merging", [&] {
    Lines made{std::size_t{rounds} * lanes};
    fill(made.data(), made.size(), words, machine.stream().get());
    return made;
  });
  Slope& slope = experiment.slopes[0];
  const auto launch = [&](std::uint32_t launched_rounds) {
    cuda_check(cudaLaunchKernelEx(&config, meet, lines.data(), launched_rounds, delay,
                                  machine.device_stamps()));
  };
  // The same loads bring the lines into the partition of L2 that these SMs read through.
  slope.prepare = [&](const Call&) { launch(rounds); };
  slope.launch = [&](const Call& call) { launch(call.length.rounds); };
  experiment.kernels = {code};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::request_merging
