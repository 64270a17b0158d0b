#include "micro/access/stride_gather.hpp"

namespace strata::stride_gather {

/// Threads of a block, and one-element loads that each has in flight.
constexpr std::uint32_t threads = 128;
constexpr std::uint32_t most_blocks_per_sm = 16;
[[nodiscard]] constexpr std::uint32_t flights_of(std::uint32_t width) {
  return width == 4 ? 8 : 4;
}
/// Loads that a block has in flight at once.
[[nodiscard]] constexpr std::uint32_t loads_of_round(std::uint32_t width) {
  return threads / lanes * flights_of(width);
}

/// The loads of each warp of a launch. Ordinals count the elements of a pass.
struct AddressPattern {
  std::uint32_t group = 1;        ///< blocks over whose warps the loads of a group are distributed
  std::uint32_t multiplier = 1;   ///< coprime to the warps of a group; orders them
  std::uint32_t group_step = 0;   ///< ordinals from one group to the next,
  std::uint32_t warp_step = 0;    ///< from one warp to the next in that order,
  std::uint32_t flight_step = 0;  ///< from one load to the next of those in flight together,
  std::uint32_t round_step = 0;   ///< from one round to the next,
  std::uint32_t lap = 0;          ///< and the number after which a warp starts again

  /// The first ordinal of a warp of the block that takes piece `piece`.
  [[nodiscard]] STRATA_HD constexpr std::uint32_t first(std::uint32_t piece,
                                                        std::uint32_t warp) const {
    constexpr std::uint32_t warps = threads / lanes;
    const std::uint32_t rank = (piece % group * warps + warp) * multiplier % (group * warps);
    return piece / group * group_step + rank * warp_step;
  }
};

namespace {

/// Bytes of device memory for the data of all cases.
[[nodiscard]] std::uint64_t pool_bytes(const GpuFacts& gpu) {
  return std::min(std::uint64_t{4} << 30U, std::bit_floor(gpu.memory_bytes / 4));
}

/// Everything about a case on a GPU that is decided in advance. Launches differ in rounds if data
/// are in L2, in blocks if they are in memory; their work is the wanted bytes of an SM.
struct SweepPlan {
  Shape shape;
  std::uint32_t sms = 0;
  std::uint32_t loads_of_block = 0;  ///< in its piece of a pass: whole rounds
  std::uint32_t blocks_per_sm = 0;   ///< resident
  Length pass = {};                  ///< each element once
  Lengths lengths = {};
  AddressPattern pattern = {};

  /// Warp-loads of a launch.
  [[nodiscard]] std::uint64_t loads(const Length& length) const {
    return std::uint64_t{length.blocks} * length.rounds * loads_of_round(shape.width);
  }
  /// The distinct ones, from the first of the array, and how often each is made.
  [[nodiscard]] std::uint64_t distinct_loads(const Length& length) const {
    return std::uint64_t{length.blocks} * loads_of_block;
  }
  [[nodiscard]] std::uint64_t laps(const Length& length) const {
    return loads(length) / distinct_loads(length);
  }
  /// Bytes from the first to the last that a launch may touch.
  [[nodiscard]] std::uint64_t span(const Length& length) const {
    return distinct_loads(length) * shape.load_span() +
           std::uint64_t{shape.misalignment} * shape.width;
  }
};

/// Sectors of the first `loads` warp-loads of a pass, by the rules of compute capability 7.0 and
/// later: as counted per load, and the number of distinct ones.
struct Sectors {
  std::uint64_t requested = 0;
  std::uint64_t distinct = 0;
  std::uint64_t fetched = 0;  ///< by an L2 that fetches `fetched_at_once` at a time, aligned
};

/// Added to the sum of that many warp-loads if the data begin `words` words further on.
[[nodiscard]] constexpr std::uint32_t sum_of_move(const Shape& shape, std::uint64_t loads,
                                                  std::uint64_t words) {
  constexpr std::uint32_t weight_of_load = lanes * lanes;  // 1 + 3 + 5 + …
  return static_cast<std::uint32_t>(loads) * weight_of_load * shape.words() *
         static_cast<std::uint32_t>(words) * array_words.slope;
}

constexpr double timed_cycles = 4e5;  // of a long launch from L2: 0.2 ms, hundreds of timer steps
constexpr std::uint32_t slope_parts = 5;   // from L2: the short launch is one of them
constexpr std::uint32_t memory_parts = 4;  // from memory
constexpr std::uint64_t sectors_timed = std::uint64_t{1} << 25U;  // from memory: 1 GiB of them

/// Distinct sectors of each of the first loads of a pass, added up.
std::uint64_t sectors_requested(const Shape& shape, std::uint32_t loads) {
  std::atomic<std::uint64_t> sum = 0;
  in_parallel(loads, [&](std::size_t first, std::size_t last) {
    std::uint64_t count = 0;
    for (auto load = static_cast<std::uint32_t>(first); load < last; ++load) {
      std::array<std::uint64_t, lanes> sectors{};
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        sectors[lane] = element_of(shape, load * lanes + lane) * shape.width / sector_bytes;
      std::ranges::sort(sectors);
      count +=
          static_cast<std::uint64_t>(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
    }
    sum += count;
  });
  return sum;
}

/// Distinct sectors of a part of a window.
std::uint64_t different_sectors(const Shape& shape, std::uint32_t loads) {
  std::vector<bool> seen(std::uint64_t{shape.locality} * shape.width / sector_bytes);
  for (std::uint32_t n = 0; n < loads * lanes; ++n)
    seen[element_of(shape, n) * shape.width / sector_bytes] = true;
  return static_cast<std::uint64_t>(std::ranges::count(seen, true));
}

/// Aligned pieces of memory of `bytes` bytes that the first loads of a pass touch, each counted
/// once, where elements are read in order.
std::uint64_t distinct_pieces(const Shape& shape, std::uint64_t loads, std::uint64_t bytes) {
  const auto piece = [&](std::uint32_t n) { return element_of(shape, n) * shape.width / bytes; };
  std::uint64_t each = 1;
  for (std::uint32_t lane = 1; lane < lanes; ++lane)
    each += piece(lane) == piece(lane - 1) ? 0 : 1;
  // The first piece of a load may be the last one of the load before.
  return loads * each - (piece(lanes - 1) == piece(lanes) && loads > 0 ? loads - 1 : 0);
}

/// Lines from which one load takes its elements, not counting its neighbours' lines.
std::uint64_t lines_of_load(const Shape& shape) {
  return std::min<std::uint64_t>(lanes, shape.load_span() / line_bytes);
}

/// Over the first `loads` loads of a window, the sum of each element times 2 × lane + 1.
std::uint32_t sum_in_window(const Shape& shape, std::uint32_t loads) {
  std::atomic<std::uint32_t> sum = 0;
  in_parallel(loads, [&](std::size_t first, std::size_t last) {
    std::uint32_t part = 0;
    for (auto n = static_cast<std::uint32_t>(first * lanes); n < last * lanes; ++n) {
      part += (2 * (n % lanes) + 1) *
              array_words.sum(element_of(shape, n) * shape.words(), shape.words());
    }
    sum += part;
  });
  return sum;
}

Length length_of(const SweepPlan& plan, std::uint32_t blocks, std::uint32_t rounds) {
  Length length{.rounds = rounds, .blocks = blocks};
  length.work = static_cast<double>(plan.loads(length) * plan.shape.load_bytes()) / plan.sms;
  return length;
}

/// Whether loads share sectors. Where they do not, each block has its own piece.
bool shares_sectors(const Shape& shape) {
  return shape.window_loads() > 1;
}

/// A number coprime to `count` that puts neighbours about 0.618 of it apart.
std::uint32_t spread_over(std::uint32_t count) {
  constexpr double golden = 0.6180339887498949;
  auto multiplier = static_cast<std::uint32_t>(golden * count);
  while (std::gcd(multiplier, count) != 1)
    ++multiplier;
  return multiplier;
}

/// Loads in order, with those of a warp side by side; or each warp and flight takes a run of a load
/// each round, dealt out among `group` blocks.
AddressPattern pattern_for(const SweepPlan& plan, std::uint32_t group) {
  constexpr std::uint32_t warps = threads / lanes;
  const std::uint32_t flights = flights_of(plan.shape.width);
  const std::uint32_t ordinals_of_block = plan.loads_of_block * lanes;
  if (!shares_sectors(plan.shape)) {
    return {.group_step = ordinals_of_block,
            .warp_step = flights * lanes,
            .flight_step = lanes,
            .round_step = warps * flights * lanes,
            .lap = ordinals_of_block};
  }
  const std::uint32_t run = ordinals_of_block / (warps * flights);
  return {.group = group,
          .multiplier = spread_over(group * warps),
          .group_step = group * ordinals_of_block,
          .warp_step = run,
          .flight_step = group * warps * run,
          .round_step = lanes,
          .lap = run};
}

/// Average sectors of a warp-load, over a window, or the beginning of a very large one.
double sectors_per_load(const Shape& shape) {
  constexpr std::uint32_t enough = 1U << 15U;  // the mean of this many is within 0.1 %
  const std::uint32_t loads = std::min(shape.window_loads(), enough);
  return static_cast<double>(sectors_requested(shape, loads)) / loads;
}

void plan_l2(SweepPlan& plan, const GpuFacts& gpu, std::uint32_t most_blocks) {
  const Shape& shape = plan.shape;
  const std::uint32_t round = loads_of_round(shape.width);
  if (shares_sectors(shape)) {
    // With more loads in flight than L2 can serve at once, more meet; with fewer blocks, each reads
    // longer runs, which hold whole windows.
    constexpr double bytes_in_flight = 32 * 1024;
    const double of_block = sectors_per_load(shape) * double{sector_bytes} * round;
    most_blocks =
        std::clamp(static_cast<std::uint32_t>(bytes_in_flight / of_block), 1U, most_blocks);
  }
  // A third of L2 leaves room for a second copy of each line in its other half.
  const std::uint64_t held = gpu.l2_bytes / 3 / (lines_of_load(shape) * line_bytes);
  const std::uint64_t rounds_of_sm = held / (std::uint64_t{gpu.sms} * round);
  if (rounds_of_sm == 0) throw Skipped{"L2 is too small for the loads in flight"};
  // Powers of two, so that the buffers hold whole windows.
  plan.blocks_per_sm = static_cast<std::uint32_t>(
      std::bit_floor(std::min<std::uint64_t>(rounds_of_sm, most_blocks)));
  const auto rounds = static_cast<std::uint32_t>(std::bit_floor(rounds_of_sm / plan.blocks_per_sm));
  plan.loads_of_block = rounds * round;
  plan.pass = length_of(plan, gpu.sms * plan.blocks_per_sm, rounds);
  if (plan.loads(plan.pass) % shape.window_loads() != 0) {
    throw Skipped{"windows of that locality do not evenly divide what L2 holds"};
  }
  constexpr double bytes_of_cycle = 40;  // rough: only the length of a launch depends on it
  constexpr double cycles_of_round = 500;
  const double bytes = static_cast<double>(plan.loads(plan.pass)) * sectors_per_load(shape) *
                       static_cast<double>(sector_bytes);
  const double cycles = std::max(bytes / gpu.sms / bytes_of_cycle, cycles_of_round * rounds);
  const auto passes =
      static_cast<std::uint32_t>(std::max(1L, std::lround(timed_cycles / cycles / slope_parts)));
  plan.lengths = {.brief = length_of(plan, plan.pass.blocks, passes * rounds),
                  .full = length_of(plan, plan.pass.blocks, slope_parts * passes * rounds)};
  plan.pattern = pattern_for(plan, plan.pass.blocks);
}

void plan_dram(SweepPlan& plan, const GpuFacts& gpu, std::uint32_t most_blocks) {
  const Shape& shape = plan.shape;
  constexpr std::uint64_t many = 4;  // times L2: what is read, counted in whole lines
  const auto sectors = static_cast<std::uint64_t>(sectors_per_load(shape));
  const std::uint64_t line_slots = lines_of_load(shape) * line_bytes;
  const std::uint64_t wanted = std::bit_ceil(
      std::max(sectors_timed / sectors, (many * gpu.l2_bytes + line_slots - 1) / line_slots));
  const std::uint64_t loads = std::min(wanted, std::bit_floor(pool_bytes(gpu) / shape.load_span()));
  if (loads * line_slots < many * gpu.l2_bytes ||
      std::uint64_t{shape.locality} * shape.width > pool_bytes(gpu)) {
    throw Skipped{"device memory is too small beside L2, or for such a window"};
  }
  // A block of few bytes would end before the next one starts.
  constexpr std::uint64_t least_piece = 32U << 10U;
  const std::uint32_t round = loads_of_round(shape.width);
  const std::uint64_t bytes_of_round = round * sectors * sector_bytes;
  const auto rounds = static_cast<std::uint32_t>(
      std::bit_ceil((least_piece + bytes_of_round - 1) / bytes_of_round));
  plan.loads_of_block = rounds * round;
  plan.blocks_per_sm = most_blocks;
  const auto blocks = static_cast<std::uint32_t>(loads / plan.loads_of_block);
  if (blocks < memory_parts) throw Skipped{"device memory is too small for several blocks"};
  plan.lengths = {.brief = length_of(plan, blocks / memory_parts, rounds),
                  .full = length_of(plan, blocks, rounds)};
  plan.pass = plan.lengths.full;
  // Blocks that are resident together: a window stays in L2 from its first load to its last.
  plan.pattern = pattern_for(
      plan, std::min(std::bit_floor(gpu.sms * plan.blocks_per_sm), plan.lengths.brief.blocks));
}

/// `resident`: blocks of the kernel that fit on an SM. Throws Skipped if the device cannot hold the
/// data, or no window of that locality fits.
SweepPlan plan_for(const Shape& shape, const GpuFacts& gpu, std::uint32_t resident) {
  SweepPlan plan{.shape = shape, .sms = gpu.sms};
  (shape.level == Level::l2 ? plan_l2 : plan_dram)(plan, gpu,
                                                   std::min(resident, most_blocks_per_sm));
  if (plan.span(plan.lengths.full) >
      pool_bytes(gpu) + std::uint64_t{max_misalignment} * shape.width) {
    throw Skipped{"device memory is too small for the array"};
  }
  return plan;
}

Sectors sectors_of(const Shape& shape, std::uint64_t loads, std::uint64_t fetched_at_once) {
  const std::uint32_t window = shape.window_loads();
  const std::uint64_t whole = loads / window;
  const auto rest = static_cast<std::uint32_t>(loads % window);
  Sectors sectors{.requested = sectors_requested(shape, rest)};
  if (whole > 0) sectors.requested += whole * sectors_requested(shape, window);
  if (shape.pattern == Pattern::gather) {
    sectors.distinct = whole * shape.locality * shape.width / sector_bytes;
    if (rest > 0) sectors.distinct += different_sectors(shape, rest);
    sectors.fetched = sectors.distinct;  // every sector of a window is read
  } else {
    sectors.distinct = distinct_pieces(shape, loads, sector_bytes);
    sectors.fetched =
        fetched_at_once * distinct_pieces(shape, loads, fetched_at_once * sector_bytes);
  }
  return sectors;
}

/// The sum of the first `loads` warp-loads of a pass: of each element times 2 × lane + 1.
std::uint32_t sum_of_loads(const Shape& shape, std::uint64_t loads) {
  // Each window reads the pattern of the one before, some words further on: the sums of windows
  // form an arithmetic sequence.
  const std::uint32_t window = shape.window_loads();
  const std::uint64_t further = std::uint64_t{shape.locality} * shape.stride * shape.words();
  const std::uint64_t whole = loads / window;
  const auto rest = static_cast<std::uint32_t>(loads % window);
  std::uint32_t sum = sum_in_window(shape, rest) + sum_of_move(shape, rest, whole * further);
  if (whole > 0) {
    sum += LinearWords{.slope = sum_of_move(shape, window, further),
                       .start = sum_in_window(shape, window)}
               .sum(0, whole);
  }
  return sum;
}

/// The case on a GPU, except the launch. `places` gives the start of the data when a launch is
/// verified.
Experiment describe(const SweepPlan& plan, const std::shared_ptr<const SamplePlaces>& places) {
  const Shape& shape = plan.shape;
  const Length& full = plan.lengths.full;
  const bool in_l2 = shape.level == Level::l2;
  const double requested_over_used =
      sectors_per_load(shape) * double{sector_bytes} / shape.load_bytes();
  Experiment experiment = bandwidth_of(plan.sms, "useful_bandwidth");
  experiment.rows.insert(experiment.rows.end() - 1, {"requested_bandwidth", "B/s", By::outside,
                                                     per_second(plan.sms * requested_over_used)});
  if (shape.pattern == Pattern::gather) {
    const double sectors = requested_over_used / double{sector_bytes};
    experiment.rows.insert(experiment.rows.end() - 1, {"requested_sectors", "sector/s", By::outside,
                                                       per_second(plan.sms * sectors)});
  }
  const std::uint32_t of_full = sum_of_loads(shape, plan.distinct_loads(full));
  const std::uint32_t of_brief =
      in_l2 ? of_full : sum_of_loads(shape, plan.distinct_loads(plan.lengths.brief));
  const auto sum_of = [=](const Call& call) {
    const std::uint32_t of_lap =
        call.length.blocks == plan.lengths.full.blocks ? of_full : of_brief;
    return static_cast<std::uint32_t>(plan.laps(call.length)) * of_lap +
           sum_of_move(plan.shape, plan.loads(call.length),
                       places->offset() / sizeof(std::uint32_t));
  };
  experiment.slopes = {{.verify = results_add_up_to(sum_of),
                        .start = in_l2 ? Start::as_left : Start::evicted,
                        .lengths = plan.lengths}};
  experiment.checked = "launch sums against the host's";
  constexpr std::uint32_t warps = threads / lanes;
  if (in_l2) {
    experiment.placement = {.cores = plan.sms,
                            .per_core = static_cast<int>(plan.blocks_per_sm * warps),
                            .of_tag = warps};
  }
  experiment.unproved = {.gate = "level"};
  experiment.facts = [plan, full](const Experiment&) {
    return Facts{{"rounds", std::int64_t{full.rounds}},
                 {"blocks", std::int64_t{full.blocks}},
                 {"blocks_per_sm", std::int64_t{plan.blocks_per_sm}},
                 {"footprint_bytes", static_cast<std::int64_t>(plan.span(full))},
                 {"requested_from", std::string{"l2"}}};
  };
  return experiment;
}

/// Its counts. Separate, because the sectors of a large window take the host a while.
CountPlan counts_of(const SweepPlan& plan, const GpuFacts& gpu) {
  const Length& full = plan.lengths.full;
  const Shape& shape = plan.shape;
  const std::uint64_t at_once =
      std::max<std::uint64_t>(gpu.l2_fetch_granularity.value_or(0) / sector_bytes, 1);
  const Sectors sectors = sectors_of(shape, plan.distinct_loads(full), at_once);
  const std::uint64_t laps = plan.laps(full);
  const bool in_l2 = shape.level == Level::l2;
  const auto used = static_cast<double>(plan.loads(full) * shape.load_bytes());
  return {.length = full,
          .none = {.rounds = 0, .blocks = full.blocks},
          .loads = LoadPrediction{.requests = plan.loads(full),
                                  .sectors = laps * sectors.requested,
                                  .fetched_sectors = in_l2 ? 0 : laps * sectors.fetched,
                                  .distinct_sectors = in_l2 ? 0 : laps * sectors.distinct},
          .served_by = in_l2 ? ServedBy::l2 : ServedBy::dram,
          .rows = LoadRows::per_request,
          .used_bytes = used};
}

void require_known_sectors(const GpuFacts& gpu) {
  if (generation_of(gpu.major, gpu.minor) == Generation::cc7) return;
  throw Skipped{"the sectors of a load are known from compute capability 7.0 on"};
}

/// With as many resident blocks as the kernel is written for.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  require_known_sectors(gpu);
  const SweepPlan plan = plan_for(shape_of(params), gpu, most_blocks_per_sm);
  Experiment experiment =
      describe(plan, std::make_shared<const SamplePlaces>(plan.span(plan.pass)));
  experiment.counts = counts_of(plan, gpu);
  return experiment;
}

#ifdef __CUDACC__

// A round is several loads of each thread, all in flight together, and then the next ordinals,
// which depend on a comparison with a kernel argument: ptxas hoists a load whose address never
// changes out of the loop, volatile asm or not. A launch of no rounds is the same kernel without
// loads.

/// What a launch reads, and in which order.
struct Sweep {
  AddressPattern pattern;
  std::uint32_t step = 0;  ///< bytes from an element to the one that follows it in the array
  Scatter scatter;
  std::uint32_t turn = 0;  ///< block b takes piece b + turn
};

/// Wanted: one IMAD.WIDE.U32. For a C++ multiplication, ptxas also adds up the upper halves.
__device__ __forceinline__ const char* address_of(const char* data, std::uint32_t n,
                                                  std::uint32_t step) {
  const char* at;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(at) : "r"(n), "r"(step), "l"(data));
  return at;
}

/// Resident blocks that ptxas must leave registers for: as many as the SM has threads for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr std::uint32_t wanted_blocks = 1024 / threads;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || \
                                 __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
constexpr std::uint32_t wanted_blocks = 1536 / threads;
#else
constexpr std::uint32_t wanted_blocks = most_blocks_per_sm;
#endif

template <unsigned width, bool gather>
__global__ void __launch_bounds__(threads, wanted_blocks)
    sweep(const char* data, const __grid_constant__ Sweep what, std::uint32_t rounds,
          Stamp* stamps) {
  constexpr unsigned words = width / 4;
  constexpr unsigned flights = flights_of(width);
  const AddressPattern& pattern = what.pattern;
  // Known to the compiler where loads are in order: one addition for each address.
  const std::uint32_t flight_step = gather ? pattern.flight_step : lanes;
  const std::uint32_t round_step = gather ? pattern.round_step : loads_of_round(width) * lanes;

  const std::uint32_t lane = threadIdx.x % lanes;
  std::uint32_t piece = blockIdx.x + what.turn;
  if (piece >= gridDim.x) piece -= gridDim.x;
  const std::uint32_t first = pattern.first(piece, threadIdx.x / lanes) + lane;
  std::uint32_t offset = 0;
  std::uint32_t sum = 0;
  Reading begin;
  if (threadIdx.x == 0) begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t value[flights][words];
#pragma unroll
    for (unsigned l = 0; l < flights; ++l) {
      std::uint32_t n = first + offset + l * flight_step;
      if constexpr (gather) n = scattered(n, what.scatter.mask, what.scatter.shift);
      load<Access::global_cg, width>(value[l], address_of(data, n, what.step));
    }
#pragma unroll
    for (unsigned l = 0; l < flights; ++l) {
#pragma unroll
      for (unsigned i = 0; i < words; ++i)
        sum += value[l][i];
    }
    offset += round_step;
    if (offset >= pattern.lap) offset -= pattern.lap;
  }
  // The sum needs every value that the block read, and the clock is read after it.
  const std::uint32_t all = block_sum(sum * (2 * lane + 1));
  if (threadIdx.x == 0) merge(stamps, begin, reading_after(), all);
}

/// After the last element of an aligned pass there is room for the largest misalignment.
constexpr std::uint64_t most_misaligned = max_misalignment * 16;

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  require_known_sectors(gpu);
  const Shape shape = shape_of(session.params());
  const auto kernel = with_value<4U, 8U, 16U>(shape.width, [&]<unsigned width>() {
    return shape.pattern == Pattern::gather ? &sweep<width, true> : &sweep<width, false>;
  });
  const auto* const code = reinterpret_cast<const void*>(kernel);
  const SweepPlan plan = plan_for(shape, gpu, resident_blocks(code, threads));
  CudaMachine machine{session, 0, CudaMachine::Stamps::merged_by_sm};
  const cudaStream_t stream = machine.stream().get();
  using Pool = DeviceBuffer<std::uint32_t>;  // shared by all cases
  const Pool& pool = session.cache().keep<Pool>("stride_gather", [&] {
    Pool made{(pool_bytes(gpu) + most_misaligned) / sizeof(std::uint32_t)};
    fill(made.data(), made.size(), array_words, stream);
    return made;
  });

  const bool in_l2 = shape.level == Level::l2;
  const auto places = std::make_shared<SamplePlaces>(plan.span(plan.pass) + most_misaligned,
                                                     in_l2 ? pool.size_bytes() : 0);
  const auto launch = [&](const Length& length, std::uint32_t turn) {
    const Sweep what{.pattern = plan.pattern,
                     .step = shape.stride * shape.width,
                     .scatter = scatter_of(shape.locality),
                     .turn = turn};
    const auto* const data = reinterpret_cast<const char*>(pool.data()) + places->offset();
    kernel<<<length.blocks, threads, 0, stream>>>(
        data + std::uint64_t{shape.misalignment} * shape.width, what, length.rounds,
        machine.device_stamps());
  };
  Experiment experiment = describe(plan, places);
  experiment.prepare = [&] { places->next(); };
  Slope& slope = experiment.slopes[0];
  slope.launch = [&](const Call& call) { launch(call.length, 0); };
  if (in_l2) {
    // Eight laps, each with the pieces assigned to other blocks: an SM reads through its own half
    // of L2, and either half may come to serve any piece.
    slope.prepare = [&](const Call&) {
      constexpr std::uint32_t laps = 8;
      const std::uint32_t blocks = plan.pass.blocks;
      for (std::uint32_t lap = 0; lap < laps; ++lap)
        launch(plan.pass, lap * (blocks / 3 + 1) % blocks);
    };
  }
  experiment.kernels = {code};
  if (session.counters() != nullptr) experiment.counts = counts_of(plan, gpu);
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::stride_gather
