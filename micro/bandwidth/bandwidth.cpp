#include "micro/bandwidth/bandwidth.hpp"

#include "harness/case/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace strata::bandwidth {
namespace {

constexpr double timed_cycles = 4e5;  // of a long launch: 0.2 ms, hundreds of timer steps
constexpr std::uint32_t slope_parts = 5;
constexpr std::uint64_t kibi = 1024;
constexpr std::uint64_t mebi = kibi * kibi;
/// A device cannot hold more; many hold less, and then the case is skipped.
constexpr std::uint32_t most_threads_of_sm = 2048;
constexpr std::uint32_t registers_of_sm = 65536;
constexpr std::uint32_t other_registers = 16;  // addresses, counters, sums
constexpr std::uint32_t word_bytes = 4;

std::optional<std::string> excludes_host(const Params& params) {
  if (params.at("level") == "shared") return "a CPU has no shared memory";
  // A CPU has neither blocks nor vectors of a chosen width: it takes part once.
  using Setting = std::pair<const char*, const char*>;
  constexpr std::array<Setting, 4> only{Setting{"width", "16"}, Setting{"block_size", "512"},
                                        Setting{"blocks_per_sm", "2"}, Setting{"in_flight", "4"}};
  for (const auto& [axis, value] : only) {
    if (params.at(axis) != value) return std::string{"a CPU has no "} + axis;
  }
  return std::nullopt;
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  if (backend == Backend::host) return excludes_host(params);
  const LaunchShape shape = shape_of(params);
  if (const auto* why = no_kernel(shape.level, shape.operation, shape.width, shape.in_flight)) {
    return why;
  }
  const std::uint32_t threads = shape.block_size * shape.blocks_per_sm;
  if (threads > most_threads_of_sm) return "no SM holds that many threads";
  const std::uint32_t data =
      std::max(1U, arrays_read(shape.operation)) * shape.in_flight * shape.width / word_bytes;
  if (threads * (data + other_registers) > registers_of_sm) {
    return "no SM has the registers for that much in flight";
  }
  return std::nullopt;
}

std::uint64_t down_to(std::uint64_t value, std::uint64_t multiple) {
  return value / multiple * multiple;
}

/// Cycles of a round, roughly: only the length of a launch hangs on it.
double cycles_of_round(const LaunchShape& shape, const GpuFacts& gpu) {
  // Bytes a cycle that an SM gets from the level at most, and cycles that it waits.
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
  const double bytes = double{1} * shape.tile() * shape.blocks_per_sm *
                       (arrays_read(shape.operation) + arrays_written(shape.operation));
  return std::max(bytes / pace, latency);
}

/// Blocks that stay: whole passes, also in the short launch.
void plan_rounds(Plan& plan, const GpuFacts& gpu) {
  const std::uint32_t unit = slope_parts * plan.passes;
  const double rounds = timed_cycles / cycles_of_round(plan.shape, gpu);
  const auto times =
      std::max(1U, static_cast<std::uint32_t>(std::lround(rounds / static_cast<double>(unit))));
  const std::uint32_t blocks = gpu.sms * plan.shape.blocks_per_sm;
  plan.lengths = {.brief = {.rounds = times * unit / slope_parts, .blocks = blocks},
                  .full = {.rounds = times * unit, .blocks = blocks}};
}

/// Shared memory that makes room for so many blocks on an SM and for no more.
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
  if (chunks == 0) throw Skipped{"shared memory is too small for what would be in flight"};
  const std::uint32_t span = chunks * shape.chunk();
  plan.pattern = {.warp_base = span, .span = span, .advance = shape.chunk() % span};
  plan.passes = chunks;
  plan.array_bytes = std::uint64_t{shape.warps()} * span;
  plan.dynamic_bytes = static_cast<std::uint32_t>(plan.array_bytes * arrays_of(shape.operation));
  plan_rounds(plan, gpu);
}

void plan_l1(Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  // Half of what there is: the first touch of a line is a miss, later ones must all be hits.
  const std::uint64_t taken =
      std::uint64_t{shape.blocks_per_sm} * (shared_of_system + shared_of_kernel);
  const std::uint64_t l1_bytes = gpu.shared_per_sm - std::min(gpu.shared_per_sm / 2, taken);
  const std::uint64_t span = down_to(std::min(l1_bytes / 2, 64 * kibi), shape.chunk());
  if (span < 2ULL * shape.chunk()) throw Skipped{"L1 is too small for what would be in flight"};
  plan.pattern = {.span = static_cast<std::uint32_t>(span),
                  .warp_step = shape.chunk(),
                  .advance = shape.chunk()};
  plan.array_bytes = span;
  plan_rounds(plan, gpu);
}

void plan_l2(Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  const std::uint64_t blocks = std::uint64_t{gpu.sms} * shape.blocks_per_sm;
  const std::uint64_t tile = shape.tile();
  if (shape.operation == Operation::read) {
    // Tiles by a power of two: an odd number of them is then a step that comes by all. Between a
    // sixth and a third of L2, so that it has room for a second copy in its other half.
    std::uint64_t tiles = 1;
    while (2 * tiles * tile <= gpu.l2_bytes / 3)
      tiles *= 2;
    if (tiles < 4 || blocks > 4 * tiles) {
      throw Skipped{"L2 is too small for what would be in flight"};
    }
    plan.pattern = {.span = static_cast<std::uint32_t>(tiles * tile),
                    .block_step = shape.tile(),
                    .warp_step = shape.chunk(),
                    .advance = shape.tile(),
                    .group = static_cast<std::uint32_t>(tiles)};
    plan.array_bytes = tiles * tile;
  } else {
    const std::uint64_t all = blocks * tile * arrays_of(shape.operation);
    if (all > gpu.l2_bytes / 2) throw Skipped{"L2 is too small for what would be in flight"};
    const auto tiles =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(gpu.l2_bytes / 4 / all, 1));
    const std::uint32_t span = tiles * shape.tile();
    plan.pattern = {.block_base = span,
                    .span = span,
                    .warp_step = shape.chunk(),
                    .advance = shape.tile() % span};
    plan.passes = tiles;
    plan.array_bytes = blocks * span;
  }
  plan_rounds(plan, gpu);
}

void plan_dram(Plan& plan, const GpuFacts& gpu, std::uint64_t pool_bytes) {
  const LaunchShape& shape = plan.shape;
  // A block of few bytes would be gone before the next one is there.
  constexpr std::uint64_t least_piece = 32 * kibi;
  const std::uint64_t tile = shape.tile();
  const std::uint64_t piece = std::max(least_piece, tile);
  constexpr std::uint64_t parts = 4;  // the short launch is a quarter of the long one
  const std::uint64_t unit = piece * parts;
  // What one launch writes must be many times what L2 can keep back; what it reads was never in L2.
  const std::uint64_t least = shape.operation == Operation::read ? 256 * mebi : 16 * gpu.l2_bytes;
  const double rate =
      static_cast<double>(shape.tile()) * shape.blocks_per_sm / cycles_of_round(shape, gpu);
  const double wanted = 2 * timed_cycles * rate * gpu.sms * arrays_of(shape.operation);
  const std::uint64_t all =
      std::min(std::max(static_cast<std::uint64_t>(wanted), least), pool_bytes);
  plan.array_bytes = down_to(all / arrays_of(shape.operation), unit);
  if (all < least || plan.array_bytes == 0) {
    throw Skipped{"device memory is too small beside L2"};
  }
  plan.pattern = {.block_base = piece,
                  .span = static_cast<std::uint32_t>(piece),
                  .warp_step = shape.chunk(),
                  .advance = static_cast<std::uint32_t>(tile % piece)};
  const auto rounds = static_cast<std::uint32_t>(piece / tile);
  plan.passes = rounds;
  const auto blocks = static_cast<std::uint32_t>(plan.array_bytes / piece);
  plan.lengths = {.brief = {.rounds = rounds, .blocks = static_cast<std::uint32_t>(blocks / parts)},
                  .full = {.rounds = rounds, .blocks = blocks}};
  plan.dynamic_bytes = filler(shape, gpu);
}

/// Sum of all that one block reads.
std::uint32_t block_sum(const Plan& plan, std::uint32_t rounds, std::uint64_t block,
                        const Line& line) {
  const AddressPattern& pattern = plan.pattern;
  const std::uint64_t region = block * pattern.block_base;
  const std::uint64_t odd = pattern.group == 0 ? 1 : 1 + 2 * (block + block / pattern.group);
  const std::uint64_t stride = pattern.advance * odd % pattern.span;
  std::uint32_t sum = 0;
  // Whole tiles, one after the other, where the warps of a block stand side by side in them.
  const bool tiled = pattern.warp_base == 0 && pattern.span % plan.shape.tile() == 0 &&
                     pattern.advance % plan.shape.tile() == 0;
  const std::uint32_t warps = tiled ? 1 : plan.shape.warps();
  const std::uint32_t bytes = tiled ? plan.shape.tile() : plan.shape.chunk();
  for (std::uint64_t warp = 0; warp < warps; ++warp) {
    std::uint64_t offset = (block * pattern.block_step + warp * pattern.warp_step) % pattern.span;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      sum +=
          line.sum((region + warp * pattern.warp_base + offset) / word_bytes, bytes / word_bytes);
      offset += stride;
      if (offset >= pattern.span) offset -= pattern.span;
    }
  }
  return sum;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "bandwidth",
      .question =
          "How many bytes a second does each level of memory move, and how many must be in flight "
          "for that?",
      .axes = {levels.axis("level", "where the arrays lie (shared: GPU only; l3: CPU only)"),
               operations.axis("operation", "what is done with them"),
               {.name = "width",
                .meaning = "bytes of an access of a thread (host: always 16)",
                .choices = {"4", "8", "16", "32"},
                .defaults = {"16"}},
               {.name = "block_size",
                .meaning = "threads in a block (host: always 512)",
                .choices = {"128", "256", "512", "1024"},
                .defaults = {"512"}},
               {.name = "blocks_per_sm",
                .meaning = "blocks resident on each SM (host: always 2)",
                .choices = {"1", "2", "4", "8", "16"},
                .defaults = {"2"}},
               {.name = "in_flight",
                .meaning = "accesses to each array that a thread has under way (host: always 4)",
                .choices = {"1", "2", "4", "8", "16"},
                .defaults = {"4", "8"}}},
      .data_axes = 0,
      .counter_sets = {"shared"},
      .quantities =
          {{"bandwidth", "bytes moved a second, start-up cancelled"},
           {"bandwidth_per_sm", "bytes of an SM (host: of a core) in a cycle, by each timer"},
           {"bytes_in_flight_per_sm", "under way at once at the most, by the shape of the launch"},
           {"share_of_limit", "bandwidth over what the level cannot exceed, where that is known"},
           {"grid_time", "the whole long launch, start-up included"},
           {"core_clock", "clock of the core meanwhile"}},
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

std::uint64_t Plan::bytes(const Length& length) const {
  return std::uint64_t{length.blocks} * length.rounds * shape.tile() *
         (arrays_read(shape.operation) + arrays_written(shape.operation));
}

std::uint64_t Plan::words(const Length& length) const {
  if (shape.level == Level::shared) return array_bytes / word_bytes;
  return std::uint64_t{length.blocks} * pattern.span / word_bytes;
}

std::uint32_t Plan::updates(const Length& length) const {
  return length.rounds / passes;
}

Plan plan_for(const LaunchShape& shape, const GpuFacts& gpu, std::uint64_t pool_bytes) {
  Plan plan;
  plan.shape = shape;
  plan.sms = gpu.sms;
  if (shape.level == Level::shared) plan_shared(plan, gpu);
  if (shape.level == Level::l1) plan_l1(plan, gpu);
  if (shape.level == Level::l2) plan_l2(plan, gpu);
  if (shape.level == Level::dram) plan_dram(plan, gpu, pool_bytes);
  if (plan.in_device_memory() && plan.array_bytes * arrays_of(shape.operation) > pool_bytes) {
    throw Skipped{"device memory is too small for the arrays"};
  }
  for (Length* const length : {&plan.lengths.brief, &plan.lengths.full})
    length->work = static_cast<double>(plan.bytes(*length)) / gpu.sms;
  return plan;
}

std::uint64_t first_word(const Plan& plan, std::uint32_t array) {
  return array * plan.array_bytes / word_bytes;
}

Line written(Operation operation, std::uint64_t array_bytes, std::uint32_t updates,
             const Line& data, std::uint32_t salt) {
  const Line one = data.from(array_bytes / word_bytes);
  const Line two = data.from(2 * array_bytes / word_bytes);
  switch (operation) {
    case Operation::write:
      return {data.slope, salt};
    case Operation::copy:
      return one;
    case Operation::triad:
      return {one.slope + triad_factor * two.slope, one.start + triad_factor * two.start};
    case Operation::update:
      return {data.slope, data.start + updates * update_step};
    case Operation::read:
      break;
  }
  return data;
}

std::uint32_t expected_sum(const Plan& plan, const Length& length, const Line& data) {
  const AddressPattern& pattern = plan.pattern;
  if (pattern.block_base == 0 && pattern.block_step == 0 && pattern.group == 0) {
    return length.blocks * block_sum(plan, length.rounds, 0, data);
  }
  std::uint32_t sum = 0;
  for (std::uint32_t block = 0; block < length.blocks; ++block)
    sum += block_sum(plan, length.rounds, block, data);
  return sum;
}

std::uint32_t expected_shared_sum(const Plan& plan, const Length& length, const Line& data,
                                  std::uint32_t salt) {
  const Line after =
      written(plan.shape.operation, plan.array_bytes, plan.updates(length), data, salt);
  std::uint32_t sum = 0;
  for (std::uint32_t j = 0; j < plan.words(length); ++j)
    sum += (2 * j + 1) * after.word(j);
  return length.blocks * sum;
}

LoadPrediction predicted_loads(const Plan& plan, const Length& length) {
  const std::uint64_t loads = std::uint64_t{length.blocks} * length.rounds * plan.shape.warps() *
                              plan.shape.in_flight * arrays_read(plan.shape.operation);
  return {.requests = loads,
          .sectors = loads * plan.shape.width * lanes / sector_bytes,
          .repeated_sectors = 0};
}

std::uint64_t predicted_store_sectors(const Plan& plan, const Length& length) {
  return std::uint64_t{length.blocks} * length.rounds * plan.shape.tile() *
         arrays_written(plan.shape.operation) / sector_bytes;
}

Limit limit_of(Level level, const GpuFacts& gpu) {
  constexpr double turing = 64;
  constexpr double later = 128;
  if (level == Level::dram) return {.value = gpu.dram_pin_bandwidth.value_or(0)};
  if (level == Level::l2) return {};
  return {.value = gpu.compute_capability == "7.5" ? turing : later, .of_a_cycle = true};
}

Experiment described(std::size_t cores, const Limit& limit) {
  const Value in_cycles = of_slope([](const Seen& seen) { return 1 / seen.inside.cycles; });
  const Value by_outside = of_slope([](const Seen& seen) { return 1 / seen.outside; });
  const Value in_seconds =
      of_slope([cores](const Seen& seen) { return static_cast<double>(cores) / seen.seconds; });
  Experiment experiment;
  experiment.rows = {
      {"bandwidth", "B/s", By::outside, in_seconds},
      {"bandwidth_per_sm", "B/cycle", By::inside, in_cycles},
      {"bandwidth_per_sm", "B/cycle", By::outside, by_outside},
      {"grid_time", "s", By::whole, of_slope([](const Seen& seen) { return seen.full_seconds; })}};
  if (limit.value > 0) {
    experiment.rows.push_back({"share_of_limit", "1", By::outside, [=](const Sample& sample) {
                                 return (limit.of_a_cycle ? by_outside : in_seconds)(sample) /
                                        limit.value;
                               }});
  }
  experiment.timers = {{in_cycles, By::inside, by_outside, By::outside}};
  experiment.watch = {in_cycles, by_outside};
  return experiment;
}

namespace {

/// Wavefronts of a warp's access to shared memory: each moves 128 bytes. Stray ones, of the
/// system's own, are few.
std::vector<Expectation> shared_expectations(const Plan& plan) {
  constexpr double few = 1e-3;
  const double wavefronts = plan.shape.width / 4.0;
  const double accesses = double{1} * plan.lengths.full.rounds * plan.lengths.full.blocks *
                          plan.shape.warps() * plan.shape.in_flight;
  std::vector<Expectation> expected;
  const auto add = [&](const char* kind, std::uint32_t arrays) {
    if (arrays == 0) return;
    const std::string name = std::string{"shared_"} + kind;
    expected.push_back({.quantity = name + "_requests", .predicted = accesses * arrays});
    expected.push_back({.quantity = name + "_wavefronts",
                        .predicted = accesses * arrays * wavefronts,
                        .bound = few});
  };
  add("load", arrays_read(plan.shape.operation));
  add("store", arrays_written(plan.shape.operation));
  return expected;
}

CountPlan count_plan(const Plan& plan, const GpuFacts& gpu) {
  const Length& full = plan.lengths.full;
  CountPlan counts{.length = full, .none = {.blocks = full.blocks}};
  if (plan.shape.level == Level::shared) {
    counts.expected = shared_expectations(plan);
    counts.model = "bank_model";
    counts.unit = "round";
    counts.units = double{1} * full.blocks * full.rounds;
    return counts;
  }
  const ServedBy level = plan.shape.level == Level::l1   ? ServedBy::l1
                         : plan.shape.level == Level::l2 ? ServedBy::l2
                                                         : ServedBy::dram;
  const LoadPrediction loads = predicted_loads(plan, full);
  if (loads.requests > 0) {
    counts.loads = loads;
    counts.served_by = level;
    counts.reads = static_cast<double>(loads.requests);
  }
  if (arrays_written(plan.shape.operation) == 0) return counts;
  counts.rows = LoadRows::none;
  counts.stores = StorePrediction{
      .claimed = level, .sectors = predicted_store_sectors(plan, full), .l2_bytes = gpu.l2_bytes};
  return counts;
}

}  // namespace

Experiment describe(const Plan& plan, const GpuFacts& gpu) {
  const LaunchShape& shape = plan.shape;
  Experiment experiment = described(gpu.sms, limit_of(shape.level, gpu));
  experiment.slopes = {{.lengths = plan.lengths, .window = slowest_writer()}};
  Slope& slope = experiment.slopes.front();
  if (shape.level == Level::dram) slope.start = Start::evicted;
  if (shape.level == Level::l2) slope.start = Start::in_l2;
  slope.bytes = plan.array_bytes * arrays_of(shape.operation);
  const bool in_memory = plan.in_device_memory() && shape.operation != Operation::read;
  if (!in_memory) {
    // The host takes a while to add up what is read: once for each length.
    const bool reads = shape.operation == Operation::read;
    const std::uint32_t brief = reads ? expected_sum(plan, plan.lengths.brief, Line{}) : 0;
    const std::uint32_t full = reads ? expected_sum(plan, plan.lengths.full, Line{}) : 0;
    slope.verify = [=](const Call& call, std::span<const Stamp> stamps, Tally& tally) {
      std::uint32_t sum = 0;
      for (const Stamp& stamp : stamps)
        sum += static_cast<std::uint32_t>(stamp.result);
      const bool is_full = call.length.work == plan.lengths.full.work;
      const std::uint32_t expected =
          reads ? (is_full ? full : brief)
                : expected_shared_sum(plan, call.length, Line{}, call.salt);
      tally.one(sum == expected);
    };
  }
  experiment.checked = in_memory ? "words that were written, against the closed form"
                                 : "sums of launches against the closed form";
  experiment.constants = {{.quantity = "bytes_in_flight_per_sm",
                           .unit = "B",
                           .provenance = Provenance::modelled,
                           .method = "launch_shape",
                           .value = static_cast<double>(shape.bytes_in_flight())}};
  if (shape.level != Level::dram) {
    experiment.placement =
        Placement{.cores = gpu.sms,
                  .per_core = static_cast<int>(shape.blocks_per_sm * shape.warps()),
                  .of_tag = shape.warps()};
  }
  if (plan.in_device_memory()) experiment.unproved = {.gate = "level"};
  experiment.counts = count_plan(plan, gpu);
  experiment.facts = [plan](const Experiment&) {
    return Facts{{"rounds", std::int64_t{plan.lengths.full.rounds}},
                 {"blocks", std::int64_t{plan.lengths.full.blocks}},
                 {"footprint_bytes",
                  static_cast<std::int64_t>(plan.array_bytes * arrays_of(plan.shape.operation))}};
  };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::bandwidth
