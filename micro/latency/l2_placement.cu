// Does it pay that each SM reads the lines of its side of L2?
//
// L2 of some GPUs has two sides, and each line has its home on one of them. The cycles of atomic
// exchanges, which are executed at the home, show the side of each SM (as in l2_partition) and of
// each piece of 256 bytes of an array: the cycles of two SMs, one of each side, decide. Then each
// SM repeatedly reads a part of its own, past L1 (ld.global.cg): `default`, consecutive pieces of
// the array; `near`, pieces of its side; `far`, pieces of the other. All three read as many bytes,
// with the same instructions, and find a piece by the same table in shared memory.
#include "harness/cuda/benchmark.cuh"
#include "micro/latency/line_walk.hpp"

#include <cmath>

#ifdef __CUDACC__
#include "micro/latency/line_walk.cuh"
#endif

namespace strata::l2_placement {

enum class Order : std::uint8_t { address, near, far };
constexpr auto orders = choices_of<Order>("default", "near", "far");

constexpr std::uint32_t piece_bytes = 256;
constexpr std::uint32_t piece_words = piece_bytes / sizeof(std::uint32_t);
constexpr std::uint32_t width = 16;   ///< bytes of an access of a lane
constexpr std::uint32_t flights = 4;  ///< accesses of a thread in flight
constexpr std::uint32_t warps = 32;   ///< of an SM
constexpr std::uint32_t lanes_of_piece = piece_bytes / width;
constexpr std::uint32_t pieces_of_warp = flights * warp_lanes / lanes_of_piece;  ///< per round
constexpr std::uint32_t pieces_of_round = warps * pieces_of_warp;                ///< of an SM
constexpr std::uint32_t most_pieces = 6 * pieces_of_round;                       ///< of an SM
constexpr std::uint32_t places = 256;  ///< pieces by which the sides of SMs are found

/// The side of each SM: by its number, since blocks change their SM from launch to launch.
struct SmSides {
  std::vector<std::uint32_t> core;  ///< ascending
  std::vector<bool> side;           ///< of each of them
};

/// Pieces that each SM visits so that one SM of each side visits every piece; as many for each SM.
inline std::vector<std::vector<std::uint32_t>> share_visits(const SmSides& sms,
                                                            std::uint32_t pieces) {
  std::vector<std::vector<std::uint32_t>> visits(sms.core.size());
  for (const bool side : {false, true}) {
    std::vector<std::size_t> members;
    for (std::size_t sm = 0; sm < sms.core.size(); ++sm) {
      if (sms.side[sm] == side) members.push_back(sm);
    }
    for (std::uint32_t piece = 0; piece < pieces; ++piece)
      visits[members[piece % members.size()]].push_back(piece);
  }
  std::size_t most = 0;
  for (const auto& own : visits)
    most = std::max(most, own.size());
  for (auto& own : visits)
    own.resize(most, own.front());
  return visits;
}

/// Pieces whose home is on a side; those that neither SM reached clearly faster are on none.
struct PieceSides {
  std::vector<std::uint32_t> of[2];
  std::size_t unclear = 0;
};

/// `cycles`: of each SM and visit. A piece is clear if the two SMs differ by half of `crossing`.
inline PieceSides piece_sides(const SmSides& sms,
                              const std::vector<std::vector<std::uint32_t>>& visits,
                              std::span<const double> cycles, double crossing,
                              std::uint32_t pieces) {
  std::vector<double> of_side[2];
  for (auto& one : of_side)
    one.resize(pieces);
  std::size_t cell = 0;
  for (std::size_t sm = 0; sm < visits.size(); ++sm) {
    for (const std::uint32_t piece : visits[sm])
      of_side[sms.side[sm] ? 1 : 0][piece] = cycles[cell++];
  }
  PieceSides result;
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    const double more = of_side[1][piece] - of_side[0][piece];
    if (std::abs(more) < crossing / 2) {
      ++result.unclear;
    } else {
      result.of[more < 0 ? 1 : 0].push_back(piece);
    }
  }
  return result;
}

/// The pieces of each SM's part, `count` of them. Throws Skipped if a side has too few.
inline std::vector<std::vector<std::uint32_t>> parts_of(Order order, const SmSides& sms,
                                                        const PieceSides& pieces,
                                                        std::uint32_t count) {
  std::vector<std::vector<std::uint32_t>> parts(sms.core.size());
  std::uint32_t taken[2] = {0, 0};
  for (std::size_t sm = 0; sm < parts.size(); ++sm) {
    if (order == Order::address) {
      parts[sm].resize(count);
      std::iota(parts[sm].begin(), parts[sm].end(), static_cast<std::uint32_t>(sm) * count);
      continue;
    }
    const std::size_t side = (sms.side[sm] == (order == Order::near)) ? 1 : 0;
    const auto& own = pieces.of[side];
    if (taken[side] + count > own.size()) throw Skipped{"a side has too few pieces for its SMs"};
    const auto begin = own.begin() + taken[side];
    parts[sm].assign(begin, begin + count);
    taken[side] += count;
  }
  return parts;
}

/// The sum of the words that a warp of an SM reads in `rounds`.
inline std::uint32_t sum_of(std::span<const std::uint32_t> part, std::uint32_t warp,
                            std::uint32_t rounds) {
  const auto laps = static_cast<std::uint32_t>(part.size()) / pieces_of_round;
  std::uint32_t sum = 0;
  for (std::uint32_t lap = 0; lap < laps; ++lap) {
    std::uint32_t of_round = 0;
    for (std::uint32_t i = 0; i < pieces_of_warp; ++i) {
      const std::uint64_t piece = part[lap * pieces_of_round + warp * pieces_of_warp + i];
      of_round += LinearWords{}.sum(piece * piece_words, piece_words);
    }
    sum += of_round * (rounds / laps + (lap < rounds % laps ? 1 : 0));
  }
  return sum;
}

/// Pieces of the array: a tenth more than are read, because the SMs of a side and the pieces of a
/// side need not be half of all.
constexpr std::uint32_t pieces_of(const GpuFacts& gpu, std::uint32_t count) {
  return gpu.sms * count / 10 * 11;
}

namespace {

Benchmark declare() {
  return {.suite = "micro",
          .name = "l2_placement",
          .question = "Does it pay that each SM reads the lines of its side of L2?",
          .axes = {orders.axis("order", "pieces that an SM reads"),
                   listed_axis("part", "bytes that each SM reads",
                               {"65536", "131072", "196608", "262144", "327680", "393216"})},
          .quantities = {{"bandwidth", "bytes read per second, whole chip"},
                         {"bandwidth_per_sm", "bytes read per cycle of an SM, by each timer"},
                         {"grid_time", "duration of the whole long launch, including start-up"},
                         {"fabric_sectors_per_sector",
                          "sectors counted between the halves of L2 over those requested"},
                         {"core_clock", "clock of the core during the loads"}},
          .seconds_per_case = 0.5,
          .excludes = [](const Params&, Backend backend) -> std::optional<std::string> {
            if (backend == Backend::host) return "the caches of a CPU have no such halves";
            return std::nullopt;
          }};
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  constexpr double timed_seconds = 1.6e-3;
  constexpr double bytes_of_round = double{pieces_of_round} * piece_bytes;
  const auto part = number_of<std::uint64_t>(params, "part");
  if (part * gpu.sms > gpu.l2_bytes) throw Skipped{"L2 does not hold the parts of all SMs"};
  Experiment experiment = bandwidth_of(gpu.sms, "bandwidth");
  experiment.slopes = {{.size = lengths_by_trial(timed_seconds, bytes_of_round),
                        .writers = std::size_t{gpu.sms} * warps,
                        .window = slowest_writer()}};
  experiment.checked = "warp sums against the closed form";
  experiment.placement = Placement{.cores = gpu.sms, .per_core = int{warps}};
  experiment.unproved = {.gate = "level"};
  constexpr std::uint32_t counted = 96;
  const std::uint64_t loads = std::uint64_t{counted} * flights * warps * gpu.sms;
  const std::uint64_t sectors = loads * warp_lanes * width / sector_bytes;
  experiment.counts =
      CountPlan{.length = {.rounds = counted},
                .loads = LoadPrediction{.requests = loads, .sectors = sectors},
                .rows = LoadRows::none,
                .warps_per_sm = double{1} * warps,
                .any_level = true,
                .past_l1 = true,
                .more = [sectors](Session& session, const Counted& of_launch) {
                  const auto crossed = of_launch.net("l2_fabric_sectors");
                  if (!crossed) return;
                  session.add({"fabric_sectors_per_sector", "1", Provenance::counted, "cupti_net",
                               std::vector{*crossed / static_cast<double>(sectors)}});
                }};
  experiment.facts = [part, sms = gpu.sms](const Experiment&) {
    return Facts{{"footprint_bytes", static_cast<std::int64_t>(part * sms)}};
  };
  return experiment;
}

#ifdef __CUDACC__

/// The first word of each piece holds its own address.
__global__ void write_addresses(char* array, std::uint32_t pieces) {
  const std::uint32_t piece = blockIdx.x * blockDim.x + threadIdx.x;
  if (piece >= pieces) return;
  char* at = array + std::uint64_t{piece} * piece_bytes;
  *reinterpret_cast<std::uint64_t*>(at) = reinterpret_cast<std::uint64_t>(at);
}

/// Each SM visits `count` addresses of the list of its SM, which begins `stride` after that of the
/// SM before; with a stride of 0 all visit the same.
__global__ void probe(const std::uint64_t* addresses, std::uint32_t count, std::uint32_t stride,
                      std::uint64_t* cycles, Stamp* stamps) {
  const std::uint32_t start = stride == 0 ? blockIdx.x * count / gridDim.x : 0;
  l2_partition::go_over(
      addresses + sm_id() * stride, count, start, cycles, stamps,
      [](std::uint64_t& at) { return l2_partition::timed_chain(at, 1, l2_partition::exchange); });
}

/// Each SM reads the pieces of its table over and over.
__global__ void __launch_bounds__(warps* warp_lanes, 1)
    read_placed(const char* array, const std::uint32_t* tables, std::uint32_t pieces,
                std::uint32_t rounds, Stamp* stamps) {
  __shared__ std::uint32_t table[most_pieces];
  for (std::uint32_t i = threadIdx.x; i < pieces; i += blockDim.x)
    table[i] = tables[sm_id() * pieces + i];
  __syncthreads();
  const std::uint32_t warp = threadIdx.x / warp_lanes;
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t first = warp * pieces_of_warp + lane / lanes_of_piece;
  const char* own = array + lane % lanes_of_piece * width;
  std::uint32_t at = first;
  std::uint32_t sum = 0;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t w[flights][width / sizeof(std::uint32_t)];
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f) {
      const std::uint32_t piece = table[at + f * (warp_lanes / lanes_of_piece)];
      load<Access::global_cg, width>(w[f], own + std::uint64_t{piece} * piece_bytes);
    }
#pragma unroll
    for (std::uint32_t f = 0; f < flights; ++f)
      sum += w[f][0] + w[f][1] + w[f][2] + w[f][3];
    at += pieces_of_round;
    if (at >= pieces) at = first;
  }
  sum = warp_sum(sum);
  const Reading end = reading_after();
  if (lane == 0) leave(stamps + blockIdx.x * warps + warp, begin, end, sum);
}

/// The cycles of `probe`, SM by SM in the order of their numbers, which `cores` receives.
std::vector<double> probed(CudaMachine& machine, unsigned sms,
                           const std::vector<std::uint64_t>& addresses, std::uint32_t count,
                           std::uint32_t stride, std::vector<std::uint32_t>& cores, Tally& tally) {
  const DeviceBuffer<std::uint64_t> list{addresses};
  const auto& cycles = machine.output<std::uint64_t>(std::size_t{sms} * count, /*poisoned=*/false);
  const Slope slope{.launch =
                        [&](const Call&) {
                          probe<<<sms, 1, 0, machine.stream().get()>>>(
                              list.data(), count, stride, cycles.data(), machine.device_stamps());
                        },
                    .verify = l2_partition::no_line_astray(count),
                    .writers = sms};
  const Launched seen = launch_once(machine, slope, {.length = {.work = 1}}, tally);
  std::vector<double> ordered;
  cores.clear();
  for (const std::size_t block : l2_partition::by_sm(seen)) {
    cores.push_back(seen.stamps[block].core);
    const auto row = cycles.landed().subspan(block * count, count);
    ordered.insert(ordered.end(), row.begin(), row.end());
  }
  return ordered;
}

/// A table with a row for each number of an SM up to the highest.
template <class Word, class Value>
std::vector<Word> by_number(const SmSides& sms, const std::vector<std::vector<std::uint32_t>>& rows,
                            const Value& value) {
  const std::size_t count = rows.front().size();
  std::vector<Word> table((std::size_t{sms.core.back()} + 1) * count);
  for (std::size_t sm = 0; sm < rows.size(); ++sm) {
    std::ranges::transform(
        rows[sm], table.begin() + static_cast<std::ptrdiff_t>(sms.core[sm] * count), value);
  }
  return table;
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  Experiment experiment = describe(session.params(), gpu);
  const Order order = orders.of(session.param("order"));
  const std::uint32_t count = number_of<std::uint32_t>(session.params(), "part") / piece_bytes;
  const std::uint32_t pieces = pieces_of(gpu, count);
  CudaMachine machine{session, std::size_t{gpu.sms} * warps};
  const cudaStream_t stream = machine.stream().get();
  const DeviceBuffer<std::uint32_t> words{std::size_t{pieces} * piece_words};
  auto* const array = reinterpret_cast<char*>(words.data());
  const auto address = [array](std::uint32_t piece) {
    return reinterpret_cast<std::uint64_t>(array) + std::uint64_t{piece} * piece_bytes;
  };
  constexpr unsigned threads = 256;
  write_addresses<<<(pieces + threads - 1) / threads, threads, 0, stream>>>(array, pieces);
  cuda_check(cudaGetLastError());

  std::vector<std::uint64_t> spread;
  for (std::uint32_t i = 0; i < places; ++i)
    spread.push_back(address(i * (pieces / places) + hashed_word(i) % (pieces / places)));
  SmSides sms;
  l2_partition::Matrix matrix{.rows = gpu.sms, .columns = places};
  for (int i = 0; i < 2; ++i)  // the first loads code and lines
    matrix.cells = probed(machine, gpu.sms, spread, places, 0, sms.core, experiment.tally);
  const l2_partition::Split found = l2_partition::split(matrix);
  if (!found.two) throw Skipped{"the L2 of this device has one side"};
  sms.side = found.row_side;
  std::vector<double> beside;
  std::vector<double> beyond;
  for (std::size_t sm = 0; sm < matrix.rows; ++sm) {
    for (std::size_t place = 0; place < places; ++place)
      (found.near(sm, place) ? beside : beyond).push_back(matrix.row(sm)[place]);
  }
  const double turns = l2_partition::turn;
  const double crossing = median(beyond) - median(beside);
  const auto visits = share_visits(sms, pieces);
  const auto visited = static_cast<std::uint32_t>(visits.front().size());
  std::vector<std::uint32_t> cores;
  const std::vector<double> cycles =
      probed(machine, gpu.sms, by_number<std::uint64_t>(sms, visits, address), visited, visited,
             cores, experiment.tally);
  if (cores != sms.core) throw std::runtime_error{"two launches ran on different SMs"};
  const PieceSides sides = piece_sides(sms, visits, cycles, crossing, pieces);
  const auto parts = parts_of(order, sms, sides, count);
  session.fact("crossing_cycles", crossing / turns);
  session.fact("pieces", std::int64_t{pieces});
  session.fact("pieces_unclear", static_cast<std::int64_t>(sides.unclear));
  session.fact("pieces_of_first_side", static_cast<std::int64_t>(sides.of[0].size()));

  fill(words.data(), words.size(), LinearWords{}, stream);
  const DeviceBuffer<std::uint32_t> tables{
      by_number<std::uint32_t>(sms, parts, [](std::uint32_t piece) { return piece; })};
  const auto* const code = reinterpret_cast<const void*>(read_placed);
  const std::size_t alone = bytes_to_be_alone(code);
  const auto launch = [&](std::uint32_t rounds) {
    read_placed<<<gpu.sms, warps * warp_lanes, alone, stream>>>(array, tables.data(), count, rounds,
                                                                machine.device_stamps());
  };
  Slope& slope = experiment.slopes.front();
  slope.verify = [&](const Call& call, std::span<const Stamp> stamps, Tally& tally) {
    for (std::size_t i = 0; i < stamps.size(); ++i) {
      const auto sm = std::ranges::lower_bound(sms.core, stamps[i].core) - sms.core.begin();
      const auto warp = static_cast<std::uint32_t>(i % warps);
      tally.one(static_cast<std::size_t>(sm) < parts.size() &&
                stamps[i].result ==
                    sum_of(parts[static_cast<std::size_t>(sm)], warp, call.length.rounds));
    }
  };
  constexpr std::uint32_t warming = 24;  // rounds: several laps, so that L2 has made its copies
  slope.prepare = [&](const Call&) { launch(warming); };
  slope.launch = [&](const Call& call) { launch(call.length.rounds); };
  experiment.kernels = {code};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::l2_placement
