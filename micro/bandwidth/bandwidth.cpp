#include "micro/bandwidth/bandwidth.hpp"

#include "harness/base/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

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
std::uint32_t block_sum(const Plan& plan, std::uint32_t rounds, std::uint64_t block) {
  const AddressPattern& pattern = plan.pattern;
  const std::uint64_t region = block % pattern.pieces * pattern.block_base;
  std::uint32_t sum = 0;
  const std::uint64_t pass_bytes = std::uint64_t{plan.passes} * plan.shape.tile();
  if (pattern.warp_base == 0 && pattern.span == pass_bytes && rounds % plan.passes == 0) {
    return rounds / plan.passes * Line{}.sum(region / word_bytes, pattern.span / word_bytes);
  }
  const std::uint32_t bytes = plan.shape.chunk();
  for (std::uint64_t warp = 0; warp < plan.shape.warps(); ++warp) {
    std::uint64_t offset = warp * pattern.warp_step % pattern.span;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      sum +=
          Line{}.sum((region + warp * pattern.warp_base + offset) / word_bytes, bytes / word_bytes);
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
          .in_flight = number("in_flight")};
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
  if (plan.shape.level == Level::dram) return Line{}.sum(0, plan.words(length));
  if (pattern.block_base == 0) return length.blocks * block_sum(plan, length.rounds, 0);
  std::uint32_t sum = 0;
  for (std::uint32_t block = 0; block < length.blocks; ++block)
    sum += block_sum(plan, length.rounds, block);
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

Experiment describe(const Plan& plan, const GpuFacts& gpu) {
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

STRATA_DECLARED(declare);

}  // namespace strata::bandwidth
