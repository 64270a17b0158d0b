// Which SMs and which lines of L2 are near each other?
//
// One thread of each SM visits 8,192 lines: 4,096 of one page of 2 MiB, and 64 of each of 64 other
// pages. A line's word holds its own address, so the result of an access is the address of the
// next. `load`: repeated loads past L1 (ld.global.cg), which the near half of L2 serves, because it
// holds a copy of a far line. `exchange`: atomic exchanges, which are executed at the line's home.
// The SMs begin at different lines, and in each launch at others, so that two of them are hardly
// ever at one line and never meet at the same lines. A cell is the median over the launches.
//
// The analysis groups SMs and lines (strata map). What it is compared with is measured here, too:
// blocks of a cluster run in one GPC, those of a cluster of two in one TPC, so clusters of many
// sizes link the SMs of a group.
#include "harness/cuda/benchmark.cuh"
#include "micro/latency/line_walk.hpp"

#include <cmath>

#ifdef __CUDACC__
#include "harness/cuda/cluster.cuh"
#include "micro/latency/line_walk.cuh"
#endif

namespace strata::chip_map {

using l2_partition::Matrix;
using l2_partition::turn;

enum class Operation : std::uint8_t { load, exchange };
constexpr auto operations = choices_of<Operation>("load", "exchange");

constexpr std::uint64_t page_bytes = std::uint64_t{2} << 20U;
constexpr std::uint32_t pages = 512;  ///< of the buffer
constexpr std::uint32_t lines_of_first_page = 4096;
constexpr std::uint32_t other_pages = 64;  ///< one of every eight
constexpr std::uint32_t lines_of_other_page = 64;
constexpr std::uint32_t lines = lines_of_first_page + other_pages * lines_of_other_page;
constexpr std::uint32_t brief_turns = 1;  ///< of each line in the short launch
constexpr std::uint32_t full_turns = 5;
constexpr int launches = 9;  ///< pairs of them; odd, so that a median is one of the values
/// Cells are rounded to a quarter of a cycle: less than they vary, and half the digits.
constexpr double rounded_to = 0.25;

/// Byte offsets of the lines in the buffer, all different and on line boundaries.
inline std::vector<std::uint64_t> offsets() {
  std::vector<std::uint64_t> result;
  result.reserve(lines);
  const auto add_page = [&](std::uint64_t page, std::uint32_t count) {
    const std::uint64_t piece = page_bytes / count;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto place = hashed_word(static_cast<std::uint32_t>(result.size()));
      result.push_back(page * page_bytes + i * piece + place % (piece / line_bytes) * line_bytes);
    }
  };
  constexpr std::uint32_t every = pages / other_pages;
  add_page(0, lines_of_first_page);
  for (std::uint32_t i = 0; i < other_pages; ++i)
    add_page(i * every + 1 + hashed_word(i) % (every - 1), lines_of_other_page);
  return result;
}

/// Groups of SMs that shared a cluster, directly or through others.
class SmGroups {
 public:
  explicit SmGroups(std::size_t sms) : lowest_(sms) {
    std::iota(lowest_.begin(), lowest_.end(), std::size_t{0});
  }
  void link(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax(lowest_.at(a), lowest_.at(b));
    std::ranges::replace(lowest_, std::size_t{high}, std::size_t{low});
  }
  /// For each SM the lowest SM of its group.
  [[nodiscard]] std::vector<double> lowest() const { return {lowest_.begin(), lowest_.end()}; }

 private:
  std::vector<std::size_t> lowest_;
};

namespace {

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "chip_map",
      .question = "Which SMs and which lines of L2 are near each other?",
      .axes = {operations.axis("operation", "access that is timed")},
      .counter_sets = {"slices"},
      .quantities =
          {{"access_cycles", "an access, median over all SMs and lines"},
           {"line_cycles",
            "an access by each SM to each line, to a quarter of a cycle; a sample per SM and line, "
            "all lines of the first SM first"},
           {"line_noise_cycles",
            "median difference of a cell between half of the launches and the "
            "other half"},
           {"line_offset", "byte offset of each line; 2 MiB pages are aligned"},
           {"tpc",
            "lowest SM that shared a cluster of two with an SM, or one of its partners; a "
            "sample per SM"},
           {"gpc",
            "lowest SM that shared a cluster of any size with an SM, or one of its "
            "partners; a sample per SM"},
           {"fabric_sectors_per_access", "counted between the halves of L2"},
           {"core_clock", "clock of the core during the work"}},
      .seconds_per_case = 2,
      .excludes = [](const Params&, Backend backend) -> std::optional<std::string> {
        if (backend == Backend::host) return "the cores of a CPU are not mapped";
        return std::nullopt;
      }};
}

/// The cells as medians over every `step`-th sample from `first` on.
Matrix matrix_of(const std::vector<Sample>& samples, std::size_t first, std::size_t step) {
  std::vector<Matrix> matrices;
  for (std::size_t i = first; i < samples.size(); i += step) {
    const auto& cells = samples[i].slopes.at(0).inside.cells;
    matrices.push_back({.rows = cells.size() / lines, .columns = lines, .cells = cells});
  }
  return l2_partition::median_of(matrices);
}

void conclude(Session& session, const std::vector<Sample>& samples) {
  std::vector<double> cells = matrix_of(samples, 0, 1).cells;
  std::ranges::transform(cells, cells.begin(),
                         [](double x) { return std::round(x / rounded_to) * rounded_to; });
  constexpr const char* method = "clock64_of_lines";
  session.add_unrepeated({"line_cycles", "cycle", Provenance::timed, method, std::move(cells)},
                         "one sample per SM and line");
  if (samples.size() > 1) {
    const Matrix even = matrix_of(samples, 0, 2);
    const Matrix odd = matrix_of(samples, 1, 2);
    std::vector<double> apart;
    for (std::size_t i = 0; i < even.cells.size(); ++i)
      apart.push_back(std::abs(even.cells[i] - odd.cells[i]));
    // Not judged as a time, as it may be 0.
    session.add({"line_noise_cycles", "cycle", Provenance::modelled, method, {median(apart)}});
  }
  const std::vector<std::uint64_t> places = offsets();
  session.add(
      {"line_offset", "B", Provenance::reported, "buffer_offset", {places.begin(), places.end()}});
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  if (gpu.memory_bytes / 4 < pages * page_bytes) throw Skipped{"device memory is too small"};
  const Operation operation = operations.of(params.at("operation"));
  const auto length = [](std::uint32_t turns) {
    return Length{.rounds = turns, .work = double{lines} * turns * turn};
  };
  const auto read = [](const Launched& brief, const Launched& full) {
    return l2_partition::read_walks(brief, full, lines);
  };
  Experiment experiment;
  experiment.slopes = {{.verify = l2_partition::no_line_astray(lines),
                        .lengths = {.brief = length(brief_turns), .full = length(full_turns)},
                        .writers = gpu.sms,
                        .window = {.name = "each SM and line", .read = read}}};
  experiment.rows = {{"access_cycles", "cycle", By::inside, cycles_of()}};
  const Value slowest = of_slope([](const Seen& seen) { return seen.inside.slowest; });
  experiment.checks.emplace_back(TimerPair{slowest, By::inside, outside_of(), By::outside});
  experiment.samples = launches;
  experiment.conclude = conclude;
  experiment.checked = "words that hold their own address";
  experiment.placement = Placement{.cores = gpu.sms};
  const std::uint64_t accesses = std::uint64_t{full_turns} * turn * lines * gpu.sms;
  experiment.counts = CountPlan{.length = length(full_turns)};
  if (operation == Operation::load) {
    experiment.counts->loads = LoadPrediction{.requests = accesses, .sectors = accesses};
    experiment.counts->served_by = ServedBy::l2;
    experiment.counts->rows = LoadRows::none;
    experiment.unproved = {.gate = "level"};
  }
  experiment.counts->more = [accesses](Session& session, const Counted& counted) {
    const auto crossed = counted.net("l2_fabric_sectors");
    if (!crossed) return;
    session.add({"fabric_sectors_per_access", "sector", Provenance::counted, "cupti_net",
                 std::vector{*crossed / static_cast<double>(accesses)}});
  };
  experiment.facts = [](const Experiment&) {
    return Facts{{"lines", std::int64_t{lines}},
                 {"page_bytes", static_cast<std::int64_t>(page_bytes)}};
  };
  return experiment;
}

#ifdef __CUDACC__

__global__ void write_words(const std::uint64_t* line_addresses, const std::uint64_t* words) {
  const std::uint32_t line = blockIdx.x * blockDim.x + threadIdx.x;
  *reinterpret_cast<std::uint64_t*>(line_addresses[line]) = words[line];
}

/// `salt` varies the line that each SM begins with; it is odd, and `lines` a power of two, so
/// these are different.
template <Operation operation>
__global__ void walk(const std::uint64_t* line_addresses, std::uint32_t turns, std::uint32_t salt,
                     std::uint64_t* cycles, Stamp* stamps) {
  l2_partition::go_over(line_addresses, lines, blockIdx.x * salt, cycles, stamps,
                        [turns](std::uint64_t& at) {
                          return l2_partition::timed_chain(at, turns, [](std::uint64_t& place) {
                            if constexpr (operation == Operation::load) {
                              follow<Access::global_cg>(place);
                            } else {
                              l2_partition::exchange(place);
                            }
                          });
                        });
}

/// A stamp of each block of the clusters that run together.
__global__ void __launch_bounds__(warp_lanes) reside(Stamp* stamps) {
  const Reading begin = reading_before();
  synchronize_cluster();
  if (threadIdx.x == 0) leave(stamps + blockIdx.x, begin, reading_after(), 0);
}

/// Rows of the SMs that share clusters; `cores`: numbers of all SMs in ascending order.
void add_groups(Session& session, CudaMachine& machine, const std::vector<std::uint32_t>& cores) {
  constexpr int times = 8;
  SmGroups pairs{cores.size()};
  SmGroups all{cores.size()};
  const auto* const code = reinterpret_cast<const void*>(reside);
  const std::size_t alone = bytes_to_be_alone(code);
  for (const unsigned size : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 16U}) {
    unsigned blocks = 0;
    try {
      blocks =
          blocks_in_clusters(reside, warp_lanes, size, alone, static_cast<unsigned>(cores.size()));
    } catch (const Skipped&) {
      continue;  // other sizes may fit
    }
    Slope slope{.launch =
                    [&](const Call&) {
                      cudaLaunchAttribute attribute{};
                      const cudaLaunchConfig_t config = launch_config(
                          blocks, warp_lanes, size, alone, machine.stream().get(), attribute);
                      cuda_check(cudaLaunchKernelEx(&config, reside, machine.device_stamps()));
                    },
                .writers = blocks};
    for (int i = 0; i < times; ++i) {
      Tally none;
      const Launched seen = launch_once(machine, slope, {.length = {.work = 1}}, none);
      for (unsigned block = 0; block < blocks; ++block) {
        const auto position = [&](unsigned b) {
          const auto found = std::ranges::lower_bound(cores, seen.stamps[b].core);
          return static_cast<std::size_t>(found - cores.begin());
        };
        const std::size_t sm = position(block);
        const std::size_t first = position(block / size * size);
        all.link(first, sm);
        if (size == 2) pairs.link(first, sm);
      }
    }
  }
  session.add({"tpc", "1", Provenance::reported, "cluster_of_two", pairs.lowest()});
  session.add({"gpc", "1", Provenance::reported, "clusters", all.lowest()});
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  Experiment experiment = describe(session.params(), gpu);
  const Operation operation = operations.of(session.param("operation"));
  CudaMachine machine{session, gpu.sms};
  const cudaStream_t stream = machine.stream().get();
  const DeviceBuffer<char> room{pages * page_bytes};
  const auto first = reinterpret_cast<std::uintptr_t>(room.data());
  if (first % page_bytes != 0) throw Skipped{"the buffer does not begin with a page of 2 MiB"};
  std::vector<std::uint64_t> addresses = offsets();
  for (std::uint64_t& address : addresses)
    address += first;
  const DeviceBuffer<std::uint64_t> line_addresses{addresses};
  const auto write = [&](const DeviceBuffer<std::uint64_t>& words) {
    constexpr unsigned threads = 256;
    write_words<<<lines / threads, threads, 0, stream>>>(line_addresses.data(), words.data());
    cuda_check(cudaGetLastError());
  };
  const auto kernel =
      operation == Operation::load ? &walk<Operation::load> : &walk<Operation::exchange>;
  const auto& cycles = machine.output<std::uint64_t>(std::size_t{gpu.sms} * lines);
  Slope& slope = experiment.slopes.front();
  if (session.counters() == nullptr) {
    std::ranges::rotate(addresses, addresses.begin() + 1);
    const DeviceBuffer<std::uint64_t> following{addresses};
    Slope altered{.launch =
                      [&](const Call& call) {
                        kernel<<<1, 1, 0, stream>>>(line_addresses.data(), call.length.rounds, 1,
                                                    cycles.data(), machine.device_stamps());
                      },
                  .prepare = [&](const Call&) { write(following); },
                  .verify = results_are([operation](const Call& call) {
                    return operation == Operation::load
                               ? std::uint64_t{lines}
                               : l2_partition::lines_that_lead_away(
                                     lines, turn * (1 + call.length.rounds));
                  }),
                  .writers = 1};
    Tally tally;
    (void)launch_once(machine, altered, {.length = {.rounds = 3, .work = 1}}, tally);
    experiment.checks.emplace_back(Dependence{"counts of lines that lead away", tally});
  }
  write(line_addresses);
  slope.launch = [&](const Call& call) {
    kernel<<<gpu.sms, 1, 0, stream>>>(line_addresses.data(), call.length.rounds, call.salt | 1U,
                                      cycles.data(), machine.device_stamps());
  };
  slope.cells = [&] { return std::vector<double>{cycles.landed().begin(), cycles.landed().end()}; };
  experiment.kernels = {reinterpret_cast<const void*>(kernel)};
  // Loads the code, and the lines into L2.
  const Launched seen =
      launch_once(machine, slope, {.length = slope.lengths.brief, .salt = 1}, experiment.tally);
  if (session.counters() == nullptr && gpu.major >= 9) {
    std::vector<std::uint32_t> cores;
    for (const Stamp& stamp : seen.stamps)
      cores.push_back(stamp.core);
    std::ranges::sort(cores);
    add_groups(session, machine, cores);
  }
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::chip_map
