#include "micro/bandwidth/bandwidth.hpp"

#include <bit>
#include <cmath>
#include <type_traits>

namespace strata::bandwidth {
namespace {

constexpr double timed_cycles = 4e5;  // of a long launch: 0.2 ms, hundreds of timer steps
constexpr double times_by_an_sm = 4;  // longer where one percent over the limit must show
constexpr std::uint32_t slope_parts = 5;
constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = kibi * kibi;
/// No device can hold more. Many hold less, and the case is then skipped.
constexpr std::uint32_t most_threads_of_sm = 2048;
constexpr std::uint32_t registers_of_sm = 65536;
constexpr std::uint32_t other_registers = 16;  // addresses, counters, sums
constexpr std::uint32_t word_bytes = 4;
constexpr Line zeros{.slope = 0, .start = 0};

std::optional<std::string> excludes_host(const Params& params) {
  if (params.at("level") == "shared") return "a CPU has no shared memory";
  // A CPU has neither blocks nor selectable vector widths: it runs one of these cases.
  constexpr std::array only{std::pair{"width", "16"}, std::pair{"block_size", "512"},
                            std::pair{"blocks_per_sm", "2"}, std::pair{"in_flight", "4"}};
  for (const auto& [axis, value] : only) {
    if (params.at(axis) != value) return std::string{"a CPU has no "} + axis;
  }
  return std::nullopt;
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  return backend == Backend::host ? excludes_host(params) : impossible(shape_of(params));
}

std::uint64_t down_to(std::uint64_t value, std::uint64_t multiple) {
  return value / multiple * multiple;
}

/// Approximate cycles of a round; only the length of a launch depends on it.
double cycles_of_round(const LaunchShape& shape, const GpuFacts& gpu) {
  // The most bytes a cycle that an SM gets from the level, and the cycles that it waits.
  double pace = 128;
  double latency = shape.level == Level::shared ? 35 : 45;
  if (shape.level == Level::l2) {
    pace = 40;
    latency = 400;
  } else if (shape.level == Level::dram) {
    constexpr double usual_bandwidth = 4.8e12;
    constexpr double usual_clock = 1.8e9;
    pace = gpu.dram_pin_bandwidth.value_or(usual_bandwidth) /
           gpu.core_clock_peak.value_or(usual_clock) / gpu.sms;
    latency = 1000;
  }
  const auto bytes =
      static_cast<double>(Plan{.shape = shape}.bytes({.rounds = 1, .blocks = shape.blocks_per_sm}));
  return std::max(bytes / pace, latency);
}

/// Whole passes of each block, in the short launch too.
void plan_rounds(Plan& plan, const GpuFacts& gpu) {
  const std::uint32_t unit = slope_parts * plan.passes;
  // The first launch of a pair fetches the code, some 1000 cycles that the slope does not cancel.
  const double times = plan.shape.level == Level::shared ? 2 * times_by_an_sm : times_by_an_sm;
  const double rounds = times * timed_cycles / cycles_of_round(plan.shape, gpu) / plan.shape.waves;
  const auto units =
      std::max(1U, static_cast<std::uint32_t>(std::lround(rounds / static_cast<double>(unit))));
  const std::uint32_t blocks = gpu.sms * plan.shape.blocks_per_sm * plan.shape.waves;
  plan.lengths = {.brief = {.rounds = units * unit / slope_parts, .blocks = blocks},
                  .full = {.rounds = units * unit, .blocks = blocks}};
}

/// The shared memory a block requests so that exactly this many blocks fit on an SM.
std::uint32_t filler(const LaunchShape& shape, const GpuFacts& gpu) {
  const std::uint64_t share = gpu.shared_per_sm / shape.blocks_per_sm;
  const std::uint64_t taken = shared_of_system + shared_of_kernel;
  if (share <= taken) throw Skipped{"the SM has too little shared memory for that many blocks"};
  const std::uint64_t most = gpu.shared_per_block - shared_of_kernel;
  return static_cast<std::uint32_t>(down_to(std::min(share - taken, most), shared_of_kernel));
}

void plan_shared(Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  constexpr std::uint64_t most_chunks = 4;  // as many as it takes for the address to change
  const std::uint64_t of_warps =
      std::uint64_t{shape.warps()} * shape.chunk() * arrays_of(shape.operation);
  const auto chunks =
      static_cast<std::uint32_t>(std::min(filler(shape, gpu) / of_warps, most_chunks));
  if (chunks == 0) throw Skipped{"shared memory is too small for the loads in flight"};
  const std::uint32_t span = chunks * shape.chunk();
  plan.pattern = {.warp_base = span, .span = span, .advance = shape.chunk() % span};
  plan.passes = chunks;
  plan.array_bytes = std::uint64_t{shape.warps()} * span;
  plan.dynamic_bytes = static_cast<std::uint32_t>(plan.array_bytes * arrays_of(shape.operation));
}

void plan_l1(Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  // Half of the capacity: the first touch of a line is a miss, all later ones must be hits.
  const std::uint64_t taken =
      std::uint64_t{shape.blocks_per_sm} * (shared_of_system + shared_of_kernel);
  const std::uint64_t l1_bytes = gpu.shared_per_sm - std::min(gpu.shared_per_sm / 2, taken);
  const std::uint64_t span = down_to(std::min(l1_bytes / 2, 64 * kibi), shape.chunk());
  if (span < 2ULL * shape.chunk()) throw Skipped{"L1 is too small for the loads in flight"};
  plan.pattern = {.span = static_cast<std::uint32_t>(span),
                  .warp_step = shape.chunk(),
                  .advance = shape.chunk()};
  plan.array_bytes = span;
}

void plan_l2(Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  const std::uint64_t blocks = std::uint64_t{gpu.sms} * shape.blocks_per_sm;
  const std::uint64_t tile = shape.tile();
  const std::uint64_t all = blocks * tile * arrays_of(shape.operation);
  // At most half of L2: an SM's own half keeps second copies of lines of the other.
  const std::uint64_t held = gpu.l2_bytes / 2 / tile;
  if (held == 0 || (all > gpu.l2_bytes / 2 && shape.operation != Operation::read)) {
    throw Skipped{"L2 is too small for the loads in flight"};
  }
  const std::uint64_t pieces = std::min(blocks, held);
  const auto tiles = static_cast<std::uint32_t>(std::max<std::uint64_t>(gpu.l2_bytes / 4 / all, 1));
  const std::uint32_t span = tiles * shape.tile();
  plan.pattern = {.block_base = span,
                  .span = span,
                  .warp_step = shape.chunk(),
                  .advance = shape.tile() % span,
                  .pieces = static_cast<std::uint32_t>(pieces)};
  plan.passes = tiles;
  plan.array_bytes = pieces * span;
  if (shape.limits_residency()) plan.dynamic_bytes = filler(shape, gpu);
}

void plan_dram(Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  constexpr std::uint32_t parts = 4;  // the short launch is a quarter of the long one
  const std::uint64_t resident = std::uint64_t{gpu.sms} * shape.blocks_per_sm;
  const std::uint64_t tile = shape.tile();
  // What a launch writes must be many times what L2 can hold back; what it reads was never in L2.
  const std::uint64_t least = shape.operation == Operation::read ? 256 * mebi : 16 * gpu.l2_bytes;
  const double rate = static_cast<double>(tile) * shape.blocks_per_sm / cycles_of_round(shape, gpu);
  const double wanted = 2 * timed_cycles * rate * gpu.sms * arrays_of(shape.operation);
  const std::uint64_t all =
      std::min(std::max(static_cast<std::uint64_t>(wanted), least), pool_bytes(gpu));
  if (all < least) throw Skipped{"device memory is too small beside L2"};
  const std::uint64_t rounds = down_to(all / arrays_of(shape.operation) / (resident * tile), parts);
  if (rounds == 0) throw Skipped{"device memory is too small for the loads in flight"};
  plan.array_bytes = rounds * resident * tile;
  plan.dynamic_bytes = filler(shape, gpu);
  if (shape.waves == 1) {
    plan.pattern = {.block_base = tile,
                    .span = static_cast<std::uint32_t>(plan.array_bytes),
                    .warp_step = shape.chunk(),
                    .advance = static_cast<std::uint32_t>(resident * tile)};
    plan.passes = static_cast<std::uint32_t>(rounds);
    const auto blocks = static_cast<std::uint32_t>(resident);
    plan.lengths = {.brief = {.rounds = plan.passes / parts, .blocks = blocks},
                    .full = {.rounds = plan.passes, .blocks = blocks}};
    return;
  }
  plan.passes = static_cast<std::uint32_t>(std::max<std::uint64_t>(rounds / shape.waves, 1));
  const std::uint64_t piece = plan.passes * tile;
  const auto blocks = static_cast<std::uint32_t>(down_to(plan.array_bytes / piece, parts));
  plan.array_bytes = blocks * piece;
  plan.pattern = {.block_base = piece,
                  .span = static_cast<std::uint32_t>(piece),
                  .warp_step = shape.chunk(),
                  .advance = static_cast<std::uint32_t>(tile % piece)};
  plan.lengths = {.brief = {.rounds = plan.passes, .blocks = blocks / parts},
                  .full = {.rounds = plan.passes, .blocks = blocks}};
}

/// The sum of all that one block reads.
std::uint32_t sum_of_block(const Plan& plan, std::uint32_t rounds, std::uint64_t block) {
  const AddressPattern& pattern = plan.pattern;
  const std::uint64_t region = block % pattern.pieces * pattern.block_base;
  std::uint32_t sum = 0;
  const std::uint64_t pass_bytes = std::uint64_t{plan.passes} * plan.shape.tile();
  if (pattern.warp_base == 0 && pattern.span == pass_bytes && rounds % plan.passes == 0) {
    return rounds / plan.passes *
           plan.shape.data.sum(region / word_bytes, pattern.span / word_bytes);
  }
  const std::uint32_t bytes = plan.shape.chunk();
  for (std::uint64_t warp = 0; warp < plan.shape.warps(); ++warp) {
    std::uint64_t offset = warp * pattern.warp_step % pattern.span;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      sum += plan.shape.data.sum((region + warp * pattern.warp_base + offset) / word_bytes,
                                 bytes / word_bytes);
      offset += pattern.advance;
      if (offset >= pattern.span) offset -= pattern.span;
    }
  }
  return sum;
}

}  // namespace

std::optional<std::string> impossible(const LaunchShape& shape) {
  if (const auto* why = no_kernel(shape.level, shape.operation, shape.width, shape.in_flight)) {
    return why;
  }
  const std::uint32_t threads = shape.block_size * shape.blocks_per_sm;
  if (threads > most_threads_of_sm) return "no SM holds that many threads";
  const std::uint32_t held = words_held(shape.operation, shape.width, shape.in_flight);
  if (threads * (held + other_registers) > registers_of_sm) {
    return "no SM has the registers for that many loads in flight";
  }
  return std::nullopt;
}

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "bandwidth",
      .question =
          "How many bytes per second does each memory level move, and how many must be in flight "
          "for that?",
      .axes = {levels.axis("level", "memory level of the arrays (shared: GPU only; l3: CPU only)"),
               operations.axis("operation", "memory operation"),
               listed_axis("width", "bytes per access of a thread (host: always 16)",
                           {"4", "8", "16", "32"}, {"16"}),
               listed_axis("block_size", "threads per block (host: always 512)",
                           {"128", "256", "512", "1024"}, {"512"}),
               listed_axis("blocks_per_sm", "resident blocks per SM (host: always 2)",
                           {"1", "2", "4", "8", "16"}, {"2"}),
               listed_axis("in_flight", "accesses in flight per thread and array (host: always 4)",
                           {"1", "2", "4", "8", "16"}, {"4", "8"})},
      .data_axes = 0,
      .counter_sets = {"shared"},
      .quantities = {{"bandwidth", "bytes moved per second, start-up cancelled"},
                     {"bandwidth_per_sm",
                      "bytes per cycle of an SM (host: of a core), by each timer"},
                     {"bytes_in_flight_per_sm", "maximum bytes in flight, by the launch shape"},
                     {"share_of_limit", "bandwidth over the limit of the level, where it is known"},
                     {"grid_time", "duration of the whole long launch, including start-up"},
                     {"core_clock", "clock of the core during the work"}},
      .seconds_per_case = 0.03,
      .excludes = excludes};
}

LaunchShape shape_of(const Params& params) {
  const auto number = [&](const char* axis) { return number_of<std::uint32_t>(params, axis); };
  return {.level = levels.of(params.at("level")),
          .operation = operations.of(params.at("operation")),
          .width = number("width"),
          .block_size = number("block_size"),
          .blocks_per_sm = number("blocks_per_sm"),
          .in_flight = number("in_flight"),
          .data = params.contains("data") ? zeros : Line{}};
}

Plan plan_for(const LaunchShape& shape, const GpuFacts& gpu) {
  constexpr std::uint32_t widest_before_10 = 16;
  if (shape.width > widest_before_10 && gpu.major < 10) {
    throw Skipped{"32-byte accesses need compute capability 10.0"};
  }
  Plan plan{.shape = shape};
  if (shape.level == Level::shared) plan_shared(plan, gpu);
  if (shape.level == Level::l1) plan_l1(plan, gpu);
  if (shape.level == Level::l2) plan_l2(plan, gpu);
  if (shape.level == Level::dram) {
    plan_dram(plan, gpu);
  } else {
    plan_rounds(plan, gpu);
  }
  if (shape.level != Level::shared &&
      plan.array_bytes * arrays_of(shape.operation) > pool_bytes(gpu)) {
    throw Skipped{"device memory is too small for the arrays"};
  }
  for (Length* const length : {&plan.lengths.brief, &plan.lengths.full})
    length->work = static_cast<double>(plan.bytes(*length)) / gpu.sms;
  return plan;
}

Line written(const Plan& plan, const Length& length, std::uint32_t salt) {
  constexpr Line data;
  const Line one = data.from(plan.array_bytes / word_bytes);
  const Line two = data.from(2 * plan.array_bytes / word_bytes);
  switch (plan.shape.operation) {
    case Operation::write:
      return {data.slope, salt};
    case Operation::copy:
      return one;
    case Operation::triad:
      return {one.slope + triad_factor * two.slope, one.start + triad_factor * two.start};
    case Operation::update:
      return {data.slope, data.start + plan.updates(length) * update_step};
    case Operation::read:
      break;
  }
  return data;
}

std::uint32_t expected_sum(const Plan& plan, const Length& length) {
  const AddressPattern& pattern = plan.pattern;
  if (plan.shape.level == Level::dram) return plan.shape.data.sum(0, plan.words(length));
  if (pattern.block_base == 0) return length.blocks * sum_of_block(plan, length.rounds, 0);
  std::uint32_t sum = 0;
  for (std::uint32_t block = 0; block < length.blocks; ++block)
    sum += sum_of_block(plan, length.rounds, block);
  return sum;
}

std::uint32_t expected_shared_sum(const Plan& plan, const Length& length, std::uint32_t salt) {
  const Line after = written(plan, length, salt);
  std::uint32_t sum = 0;
  for (std::uint32_t j = 0; j < plan.words(length); ++j)
    sum += (2 * j + 1) * after.word(j);
  return length.blocks * sum;
}

namespace {

/// Bandwidth as a share of the level's limit, where that is known: bytes a second of the chip, or
/// bytes a cycle of an SM.
std::optional<Row> share_of_limit(Level level, const GpuFacts& gpu) {
  Row row{.quantity = "share_of_limit", .unit = "1", .method = By::outside, .value = {}, .most = 1};
  if (level == Level::shared || level == Level::l1) {
    // Bytes per cycle, so by the SM's own clock: events vary by more than is left to the limit.
    row.method = By::inside;
    row.value = per_cycle(gpu.compute_capability == "7.5" ? 1.0 / 64 : 1.0 / 128);
    return row;
  }
  const double limit = gpu.dram_pin_bandwidth.value_or(0);
  if (level != Level::dram || limit == 0) return std::nullopt;
  row.value = per_second(gpu.sms / limit);
  return row;
}

CountPlan count_plan(const Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  const Length& full = plan.lengths.full;
  const std::uint64_t bytes = plan.bytes_of_array(full);
  const std::uint64_t accesses = bytes / (std::uint64_t{lanes} * shape.width);
  CountPlan counts{.length = full,
                   .none = {.blocks = full.blocks},
                   .warps_per_sm = double{1} * shape.blocks_per_sm * shape.warps()};
  if (shape.level == Level::shared) {
    // A wavefront moves 128 bytes. There are few stray ones from the system.
    constexpr double few = 1e-3;
    const auto expect = [&](const std::string& kind, std::uint32_t arrays) {
      const double requests = static_cast<double>(accesses) * arrays;
      if (arrays == 0) return;
      counts.expected.push_back({.quantity = kind + "_requests", .predicted = requests});
      counts.expected.push_back({.quantity = kind + "_wavefronts",
                                 .predicted = requests * shape.width / 4,
                                 .bound = few});
    };
    expect("shared_load", arrays_read(shape.operation));
    expect("shared_store", arrays_written(shape.operation));
    counts.model = "bank_model";
    counts.unit = "round";
    counts.units = double{1} * full.blocks * full.rounds;
    return counts;
  }
  const ServedBy level = shape.level == Level::l1   ? ServedBy::l1
                         : shape.level == Level::l2 ? ServedBy::l2
                                                    : ServedBy::dram;
  if (const std::uint64_t arrays = arrays_read(shape.operation); arrays > 0) {
    counts.loads =
        LoadPrediction{.requests = arrays * accesses, .sectors = arrays * bytes / sector_bytes};
    counts.served_by = level;
    counts.reads = static_cast<double>(counts.loads->requests);
  }
  if (arrays_written(shape.operation) == 0) return counts;
  counts.rows = LoadRows::none;
  counts.stores =
      StorePrediction{.claimed = level, .sectors = bytes / sector_bytes, .l2_bytes = gpu.l2_bytes};
  return counts;
}

}  // namespace

Slope slope_of(const Plan& plan) {
  const Level level = plan.shape.level;
  return {.start = level == Level::dram ? Start::evicted
                   : level == Level::l2 ? Start::in_l2
                                        : Start::as_left,
          .bytes = plan.array_bytes * arrays_of(plan.shape.operation),
          .lengths = plan.lengths};
}

Experiment describe_plan(const Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  const Lengths& lengths = plan.lengths;
  const std::uint64_t footprint = plan.array_bytes * arrays_of(shape.operation);
  const bool reads = shape.operation == Operation::read;
  const bool in_shared = shape.level == Level::shared;
  Experiment experiment = bandwidth_of(gpu.sms, "bandwidth");
  if (const auto share = share_of_limit(shape.level, gpu)) experiment.rows.push_back(*share);
  experiment.slopes = {slope_of(plan)};
  experiment.checked = "launch sums against the closed form";
  auto& verify = experiment.slopes.front().verify;
  if (reads) {
    // The host takes a while to compute the sum of what is read, so it does so once for each
    // length.
    verify =
        results_add_up_to([full_work = lengths.full.work, brief = expected_sum(plan, lengths.brief),
                           full = expected_sum(plan, lengths.full)](const Call& call) {
          return call.length.work == full_work ? full : brief;
        });
  } else if (in_shared) {
    verify = results_add_up_to(
        [plan](const Call& call) { return expected_shared_sum(plan, call.length, call.salt); });
  } else {
    experiment.checked = "written words against the closed form";
  }
  // Requested but not granted, or granted but no transaction seen.
  const double in_flight = double{4} * shape.blocks_per_sm * shape.block_size *
                           words_held(shape.operation, shape.width, shape.in_flight);
  experiment.constants = {{.quantity = "bytes_in_flight_per_sm",
                           .unit = "B",
                           .provenance = Provenance::modelled,
                           .method = "launch_shape",
                           .value = in_flight}};
  if (shape.waves == 1) {
    experiment.placement =
        Placement{.cores = gpu.sms,
                  .per_core = static_cast<int>(shape.blocks_per_sm * shape.warps()),
                  .of_tag = shape.warps()};
  }
  if (!in_shared) experiment.unproved = {.gate = "level"};
  experiment.counts = count_plan(plan, gpu);
  experiment.facts = [full = lengths.full, footprint](const Experiment&) {
    return Facts{{"rounds", std::int64_t{full.rounds}},
                 {"blocks", std::int64_t{full.blocks}},
                 {"footprint_bytes", static_cast<std::int64_t>(footprint)}};
  };
  return experiment;
}

namespace {

Experiment describe(const Params& params, const GpuFacts& gpu) {
  return describe_plan(plan_for(shape_of(params), gpu), gpu);
}

}  // namespace

#ifdef __CUDACC__

// One kernel for all levels: a round is several accesses to neighbouring pieces of each array, all
// in flight together, and then a new address, which depends on a comparison with a kernel argument:
// ptxas hoists an access whose address never changes out of the loop, volatile asm or not. The
// accesses of a warp are adjacent, so that they share one address and differ in a constant offset.
//
// What is read is summed and compared with the sum that the addresses imply. What is written is
// read back by another kernel, word by word, and in part by the host. A launch of no rounds is the
// same kernel without accesses.

struct Arrays {
  char* to;
  const char* from;
  const char* other;
};

/// The load that reads from a level: through L1, past it, or from shared memory.
constexpr Access load_from(Level level) {
  if (level == Level::shared) return Access::shared;
  return level == Level::l1 ? Access::global_ca : Access::global_cg;
}
constexpr Access store_to(Level level) {
  return level == Level::shared ? Access::shared : Access::global;
}

/// The largest block that has room for a round's words in registers. ptxas optimises for the
/// declared block size: without one it keeps to 32 registers and adds up the first words before it
/// loads the last ones, and less is in flight than the case requires.
constexpr int largest_block(unsigned held) {
  return held <= 32 ? 1024 : (held <= 64 ? 512 : 256);
}
template <Level level, Operation operation, unsigned width, unsigned flights>
__global__ void __launch_bounds__(largest_block(words_held(operation, width, flights)), 1)
    stream(Arrays arrays, const __grid_constant__ AddressPattern pattern, std::uint32_t rounds,
           std::uint32_t salt, Line data, std::uint32_t array_bytes, Stamp* stamps) {
#if __CUDA_ARCH__ < 1000
  if constexpr (width == 32) {
    __trap();  // no such access: the host does not launch it
    return;
  }
#endif
  constexpr unsigned words = width / 4;
  constexpr std::uint32_t pace = lanes * width;  // from one access of a warp to the next
  extern __shared__ uint4 memory[];

  const std::uint32_t warp = threadIdx.x / lanes;
  const std::uint64_t region =
      blockIdx.x % pattern.pieces * pattern.block_base + std::uint64_t{warp} * pattern.warp_base;
  const std::uint64_t inside = region + threadIdx.x % lanes * width;
  std::conditional_t<level == Level::shared, std::uint32_t, char*> to;
  std::conditional_t<level == Level::shared, std::uint32_t, const char*> from;
  std::conditional_t<level == Level::shared, std::uint32_t, const char*> other;
  if constexpr (level == Level::shared) {
    // Arrays are contiguous and continue one arithmetic sequence; block_base is 0.
    constexpr std::uint32_t count = arrays_of(operation);
    constexpr std::uint32_t second = count > 1;
    auto* const all = reinterpret_cast<std::uint32_t*>(memory);
    for (std::uint32_t j = threadIdx.x; j < count * array_bytes / 4; j += blockDim.x)
      all[j] = j * data.slope + data.start;
    __syncthreads();
    to = shared_address(memory) + static_cast<std::uint32_t>(inside);
    from = to + second * array_bytes;
    other = from + second * array_bytes;
  } else {
    to = arrays.to + inside;
    from = arrays.from + inside;
    other = arrays.other + inside;
  }
  std::uint32_t offset = warp * pattern.warp_step % pattern.span;
  // The value written to the first of a round's words; the others differ by fixed amounts.
  const std::uint32_t value_here = static_cast<std::uint32_t>(inside / 4) * data.slope + salt;

  std::uint32_t sum = 0;
  Reading begin;
  if (threadIdx.x == 0) begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    if constexpr (operation == Operation::write) {
      const std::uint32_t value = value_here + offset / 4 * data.slope;
#pragma unroll
      for (unsigned l = 0; l < flights; ++l) {
        std::uint32_t w[words];
#pragma unroll
        for (unsigned i = 0; i < words; ++i)
          w[i] = value + (l * (pace / 4) + i) * Line{}.slope;
        store<store_to(level), width>(to + offset + l * pace, w);
      }
    } else {
      std::uint32_t one[flights][words];
      std::uint32_t two[operation == Operation::triad ? flights : 1][words];
#pragma unroll
      for (unsigned l = 0; l < flights; ++l) {
        load<load_from(level), width>(one[l], from + offset + l * pace);
        if constexpr (operation == Operation::triad) {
          load<load_from(level), width>(two[l], other + offset + l * pace);
        }
      }
#pragma unroll
      for (unsigned l = 0; l < flights; ++l) {
#pragma unroll
        for (unsigned i = 0; i < words; ++i) {
          if constexpr (operation == Operation::read) sum += one[l][i];
          if constexpr (operation == Operation::triad) one[l][i] += triad_factor * two[l][i];
          if constexpr (operation == Operation::update) one[l][i] += update_step;
        }
        if constexpr (operation != Operation::read) {
          store<store_to(level), width>(to + offset + l * pace, one[l]);
        }
      }
    }
    offset += pattern.advance;
    if (offset >= pattern.span) offset -= pattern.span;
  }
  // Every value that was read is in its warp's sum or in a store; the clock is read after the
  // barrier that follows.
  std::uint32_t all = block_sum(sum);
  Reading end;
  if (threadIdx.x == 0) end = reading_after();
  if constexpr (level == Level::shared && operation != Operation::read) {
    // The array that was written to is the first.
    const auto* const left = reinterpret_cast<const std::uint32_t*>(memory);
    std::uint32_t weighted = 0;
    for (std::uint32_t j = threadIdx.x; j < array_bytes / 4; j += blockDim.x)
      weighted += (2 * j + 1) * left[j];
    all = block_sum(weighted);
  }
  if (threadIdx.x == 0) merge(stamps, begin, end, all);
}

using Kernel = void (*)(Arrays, AddressPattern, std::uint32_t, std::uint32_t, Line, std::uint32_t,
                        Stamp*);

Kernel kernel_for(const LaunchShape& shape) {
  // Memory is read with the same instructions as L2.
  const Level near = shape.level == Level::dram ? Level::l2 : shape.level;
  return with_value<Level::shared, Level::l1, Level::l2>(near, [&]<Level level>() {
    using enum Operation;
    return with_value<read, write, copy, triad, update>(
        shape.operation, [&]<Operation operation>() {
          return with_value<4U, 8U, 16U, 32U>(shape.width, [&]<unsigned width>() {
            return with_value<1U, 2U, 4U, 8U, 16U>(
                shape.in_flight, [&]<unsigned flights>() -> Kernel {
                  if constexpr (no_kernel(level, operation, width, flights) == nullptr) {
                    return stream<level, operation, width, flights>;
                  }
                  throw std::logic_error{"bandwidth: a case without a kernel"};
                });
          });
        });
  });
}

/// The memory that all cases share. Values form an arithmetic sequence unless the memory is new or
/// a case wrote to it.
struct Pool {
  DeviceBuffer<std::uint32_t> words;
  WordCheck check;
  bool dirty = true;
};

namespace {

/// Makes room for exactly the blocks of the plan where they take turns or device memory is read.
void place_blocks(const void* kernel, Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  const auto resident = [&](std::uint32_t dynamic_bytes) {
    return make_room(kernel, shape.block_size, shape.blocks_per_sm, dynamic_bytes,
                     shared_of_system + shared_of_kernel, gpu.shared_per_sm);
  };
  if (!shape.limits_residency()) {
    if (resident(plan.dynamic_bytes) < shape.blocks_per_sm) {
      throw Skipped{"the SM cannot hold that many blocks of this kernel"};
    }
  } else if (resident(0) == shape.blocks_per_sm) {
    plan.dynamic_bytes = 0;  // as many threads as fit on the SM: no filler
  } else if (resident(plan.dynamic_bytes) != shape.blocks_per_sm) {
    throw Skipped{"the SM cannot be limited to exactly that many blocks"};
  }
}

}  // namespace

StreamLaunches::StreamLaunches(Session& session)
    : session_{session},
      gpu_{session.gpu()},
      machine_{session, 0, CudaMachine::Stamps::merged_by_sm},
      pool_{session.cache().keep<Pool>("bandwidth", [&] {
        return Pool{.words = DeviceBuffer<std::uint32_t>{pool_bytes(gpu_) / sizeof(std::uint32_t)}};
      })} {
  fill_pool();
}

void StreamLaunches::fill_pool(const Line& data) {
  if (!std::exchange(pool_.dirty, false)) return;
  fill(pool_.words.data(), pool_.words.size(), data, machine_.stream().get());
}

/// Adds the launches of the plan, whose blocks it places. Returns the kernel.
const void* StreamLaunches::complete(Slope& slope, Plan& plan) {
  const Kernel kernel = kernel_for(plan.shape);
  place_blocks(reinterpret_cast<const void*>(kernel), plan, gpu_);
  auto* const first = reinterpret_cast<char*>(pool_.words.data());
  const std::uint64_t next = arrays_of(plan.shape.operation) > 1 ? plan.array_bytes : 0;
  const Arrays arrays{.to = first, .from = first + next, .other = first + 2 * next};
  slope.data = first;
  slope.launch = [=, this](const Call& call) {
    kernel<<<call.length.blocks, plan.shape.block_size, plan.dynamic_bytes,
             machine_.stream().get()>>>(arrays, plan.pattern, call.length.rounds, call.salt, Line{},
                                        static_cast<std::uint32_t>(plan.array_bytes),
                                        machine_.device_stamps());
  };
  return reinterpret_cast<const void*>(kernel);
}

/// Cycles of a round of a warp that has the device to itself.
double StreamLaunches::lone_round(LaunchShape shape) {
  shape.block_size = lanes;
  shape.blocks_per_sm = 1;
  shape.waves = 1;
  if (shape.level == Level::dram) shape.level = Level::l2;  // the same instructions
  Plan plan = plan_for(shape, gpu_);
  Slope slope;
  complete(slope, plan);
  Tally unverified;
  const auto launch = [&](std::uint32_t rounds) {
    const Length length{.rounds = rounds, .blocks = 1, .work = double{1} * rounds};
    return launch_once(machine_, slope, {.length = length}, unverified);
  };
  constexpr std::uint32_t part = 8;  // of a launch that an outer timer can time
  const std::uint32_t rounds = plan.lengths.full.rounds / part;
  (void)launch(rounds);  // fetches what it reads into L2
  const Launched brief = launch(plan.lengths.brief.rounds / part);
  return slope.window.read(brief, launch(rounds)).cycles;
}

double StreamLaunches::try_rate(Plan plan) {
  Slope slope = slope_of(plan);
  try {
    complete(slope, plan);
  } catch (const Skipped&) {
    return 0;
  }
  if (plan.shape.operation != Operation::read) pool_.dirty = true;
  Tally unverified;
  const auto seconds = [&](const Length& length) {
    return launch_once(machine_, slope, {.length = length}, unverified).seconds;
  };
  const double brief = seconds(plan.lengths.brief);
  const double longer = seconds(plan.lengths.full) - brief;
  const double work = plan.lengths.full.work - plan.lengths.brief.work;
  return longer > 0 ? work * gpu_.sms / longer : 0;
}

void StreamLaunches::measure(Plan plan) {
  const cudaStream_t stream = machine_.stream().get();
  Experiment experiment = describe_plan(plan, gpu_);
  const LaunchShape& shape = plan.shape;
  // Of two accesses, the second one costs too much of a latency to show whether it waits.
  if (session_.counters() == nullptr && shape.in_flight > 2 && arrays_read(shape.operation) > 0) {
    if (shape.operation != Operation::read) pool_.dirty = true;
    LaunchShape single = shape;
    single.in_flight = 1;
    experiment.checks.emplace_back(
        Concurrency{double{1} * shape.in_flight, lone_round(shape), lone_round(single)});
  }
  const bool usual = shape.data.slope == Line{}.slope;
  if (!usual) pool_.dirty = true;
  fill_pool(shape.data);
  if (!usual) pool_.dirty = true;
  Slope& slope = experiment.slopes.front();
  experiment.kernels = {complete(slope, plan)};
  if (!slope.verify) {
    // The array that is written: initialised here and again after each launch.
    std::uint32_t* const words = pool_.words.data();
    const Line before = plan.shape.operation == Operation::update ? Line{} : poison;
    const auto lay = [=](const Call&) {
      fill(words, plan.array_bytes / sizeof(std::uint32_t), before, stream);
    };
    lay({});
    pool_.dirty = true;
    slope.verify = [=, this](const Call& call, std::span<const Stamp>, Tally& tally) {
      const Line after = written(plan, call.length, call.salt);
      pool_.check.verify_and_refill(words, plan.words(call.length), after, before, tally, stream);
    };
    // After a writer, the next pass over the same work starts from other data.
    experiment.counts->prepare = lay;
  }
  strata::measure(session_, machine_, experiment);
}

namespace {

void run(Session& session) {
  StreamLaunches{session}.measure(plan_for(shape_of(session.params()), session.gpu()));
}

}  // namespace

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace strata::bandwidth
