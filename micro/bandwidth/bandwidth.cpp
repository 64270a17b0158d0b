// The declaration, the plans and the models of bandwidth: bandwidth.hpp says what it asks.
#include "micro/bandwidth/bandwidth.hpp"

#include "harness/case/error.hpp"
#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"

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
constexpr std::uint32_t widest_vector = 16;    // that shared memory and chips before 10.0 know
constexpr std::uint32_t most_writing_flights = 8;
constexpr std::uint32_t most_shared_flights = 4;  // ptxas puts the first sum before the fifth load

std::uint32_t number(const Params& params, const char* axis) {
  return static_cast<std::uint32_t>(std::stoul(params.at(axis)));
}

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
  const std::string& level = params.at("level");
  const Operation operation = operation_from(params.at("operation")).value();
  const std::uint32_t width = number(params, "width");
  const std::uint32_t flights = number(params, "in_flight");
  const std::uint32_t threads = number(params, "block_size") * number(params, "blocks_per_sm");
  if (level == "l3") return "a GPU has no third level";
  if (level == "l1" && operation != Operation::read) {
    return "L1 passes every store on to L2: only reads are its own";
  }
  if (level == "shared" && width > widest_vector) {
    return "shared memory is accessed by 16 bytes at most";
  }
  if (level == "shared" && flights > most_shared_flights) {
    return "shared memory answers before more than 4 accesses of a thread are under way";
  }
  if (operation != Operation::read && (flights == 2 || flights > most_writing_flights)) {
    return "operations that write have 1, 4 or 8 accesses in flight";
  }
  if (threads > most_threads_of_sm) return "no SM holds that many threads";
  constexpr std::uint32_t word = 4;
  const std::uint32_t data = std::max(1U, arrays_read(operation)) * flights * width / word;
  if (threads * (data + other_registers) > registers_of_sm) {
    return "no SM has the registers for that much in flight";
  }
  return std::nullopt;
}

std::uint64_t down_to(std::uint64_t value, std::uint64_t multiple) {
  return value / multiple * multiple;
}

/// Bytes a cycle that an SM gets from a level at most, and cycles that it waits, roughly: only the
/// length of a launch hangs on them.
struct Pace {
  double bytes;
  double latency;
};
Pace pace_of(const Shape& shape, const Limits& limits) {
  switch (shape.level) {
    case Level::shared:
      return {128, 35};
    case Level::l1:
      return {128, 45};
    case Level::l2:
      return {40, 400};
    case Level::dram:
      break;
  }
  return {limits.dram_bytes_per_second / limits.core_hertz / limits.sms, 1000};
}

double cycles_of_round(const Shape& shape, const Limits& limits) {
  const Pace pace = pace_of(shape, limits);
  const double bytes = double{1} * shape.tile() * shape.blocks_per_sm *
                       (arrays_read(shape.operation) + arrays_written(shape.operation));
  return std::max(bytes / pace.bytes, pace.latency);
}

/// Rounds of the long launch of blocks that stay: whole passes, also in the short one.
Launch staying(Plan& plan, const Limits& limits) {
  const std::uint32_t unit = slope_parts * plan.passes;
  const double rounds = timed_cycles / cycles_of_round(plan.shape, limits);
  const auto times =
      std::max(1U, static_cast<std::uint32_t>(std::lround(rounds / static_cast<double>(unit))));
  plan.full = {.blocks = limits.sms * plan.shape.blocks_per_sm, .rounds = times * unit};
  plan.brief = {.blocks = plan.full.blocks, .rounds = plan.full.rounds / slope_parts};
  return plan.full;
}

/// Shared memory that makes room for so many blocks on an SM and for no more.
std::uint32_t filler(const Shape& shape, const Limits& limits) {
  const std::uint64_t share = limits.shared_of_sm / shape.blocks_per_sm;
  const std::uint64_t taken = shared_of_system + shared_of_kernel;
  if (share <= taken) throw Skipped{"the SM has too little shared memory for that many blocks"};
  const std::uint64_t most = limits.shared_of_block - shared_of_kernel;
  return static_cast<std::uint32_t>(down_to(std::min(share - taken, most), shared_of_kernel));
}

void plan_shared(Plan& plan, const Limits& limits) {
  const Shape& shape = plan.shape;
  constexpr std::uint64_t most_chunks = 4;  // as many as it takes for the address to change
  const std::uint64_t of_warps =
      std::uint64_t{shape.warps()} * shape.chunk() * arrays_of(shape.operation);
  const auto chunks =
      static_cast<std::uint32_t>(std::min(filler(shape, limits) / of_warps, most_chunks));
  if (chunks == 0) throw Skipped{"shared memory is too small for what would be in flight"};
  const std::uint32_t span = chunks * shape.chunk();
  plan.walk = {.warp_base = span, .span = span, .advance = shape.chunk() % span};
  plan.passes = chunks;
  plan.array_bytes = std::uint64_t{shape.warps()} * span;
  plan.dynamic_bytes = static_cast<std::uint32_t>(plan.array_bytes * arrays_of(shape.operation));
  staying(plan, limits);
}

void plan_l1(Plan& plan, const Limits& limits) {
  const Shape& shape = plan.shape;
  // Half of what there is: the first touch of a line is a miss, later ones must all be hits.
  const std::uint64_t span = down_to(std::min(limits.l1_bytes / 2, 64 * kibi), shape.chunk());
  if (span < 2ULL * shape.chunk()) throw Skipped{"L1 is too small for what would be in flight"};
  plan.walk = {.span = static_cast<std::uint32_t>(span),
               .warp_step = shape.chunk(),
               .advance = shape.chunk()};
  plan.array_bytes = span;
  staying(plan, limits);
}

void plan_l2(Plan& plan, const Limits& limits) {
  const Shape& shape = plan.shape;
  const std::uint64_t blocks = std::uint64_t{limits.sms} * shape.blocks_per_sm;
  const std::uint64_t tile = shape.tile();
  if (shape.operation == Operation::read) {
    // Tiles by a power of two: an odd number of them is then a step that comes by all. Between a
    // sixth and a third of L2, so that it has room for a second copy in its other half.
    std::uint64_t tiles = 1;
    while (2 * tiles * tile <= limits.l2_bytes / 3)
      tiles *= 2;
    if (tiles < 4 || blocks > 4 * tiles) {
      throw Skipped{"L2 is too small for what would be in flight"};
    }
    plan.walk = {.span = static_cast<std::uint32_t>(tiles * tile),
                 .block_step = shape.tile(),
                 .warp_step = shape.chunk(),
                 .advance = shape.tile(),
                 .group = static_cast<std::uint32_t>(tiles)};
    plan.array_bytes = tiles * tile;
  } else {
    const std::uint64_t all = blocks * tile * arrays_of(shape.operation);
    if (all > limits.l2_bytes / 2) throw Skipped{"L2 is too small for what would be in flight"};
    const auto tiles =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(limits.l2_bytes / 4 / all, 1));
    const std::uint32_t span = tiles * shape.tile();
    plan.walk = {.block_base = span,
                 .span = span,
                 .warp_step = shape.chunk(),
                 .advance = shape.tile() % span};
    plan.passes = tiles;
    plan.array_bytes = blocks * span;
  }
  staying(plan, limits);
}

void plan_dram(Plan& plan, const Limits& limits) {
  const Shape& shape = plan.shape;
  // A block of few bytes would be gone before the next one is there.
  constexpr std::uint64_t least_piece = 32 * kibi;
  const std::uint64_t tile = shape.tile();
  const std::uint64_t piece = std::max(least_piece, tile);
  constexpr std::uint64_t parts = 4;  // the short launch is a quarter of the long one
  const std::uint64_t unit = piece * parts;
  // What one launch writes must be many times what L2 can keep back; what it reads was never in L2.
  const std::uint64_t least =
      shape.operation == Operation::read ? 256 * mebi : 16 * limits.l2_bytes;
  const double rate =
      static_cast<double>(shape.tile()) * shape.blocks_per_sm / cycles_of_round(shape, limits);
  const double wanted = 2 * timed_cycles * rate * limits.sms * arrays_of(shape.operation);
  const std::uint64_t all =
      std::min(std::max(static_cast<std::uint64_t>(wanted), least), limits.pool_bytes);
  plan.array_bytes = down_to(all / arrays_of(shape.operation), unit);
  if (all < least || plan.array_bytes == 0) {
    throw Skipped{"device memory is too small beside L2"};
  }
  plan.walk = {.block_base = piece,
               .span = static_cast<std::uint32_t>(piece),
               .warp_step = shape.chunk(),
               .advance = static_cast<std::uint32_t>(tile % piece)};
  const auto rounds = static_cast<std::uint32_t>(piece / tile);
  plan.passes = rounds;
  plan.full = {.blocks = static_cast<std::uint32_t>(plan.array_bytes / piece), .rounds = rounds};
  plan.brief = {.blocks = static_cast<std::uint32_t>(plan.full.blocks / parts), .rounds = rounds};
  plan.dynamic_bytes = filler(shape, limits);
}

constexpr std::uint32_t word_bytes = 4;

/// Sum of all that one block reads.
std::uint32_t block_sum(const Plan& plan, std::uint32_t rounds, std::uint64_t block,
                        const Line& line) {
  const Walk& walk = plan.walk;
  const std::uint64_t region = block * walk.block_base;
  const std::uint64_t odd = walk.group == 0 ? 1 : 1 + 2 * (block + block / walk.group);
  const std::uint64_t stride = walk.advance * odd % walk.span;
  std::uint32_t sum = 0;
  // Whole tiles, one after the other, where the warps of a block stand side by side in them.
  const bool tiled = walk.warp_base == 0 && walk.span % plan.shape.tile() == 0 &&
                     walk.advance % plan.shape.tile() == 0;
  const std::uint32_t warps = tiled ? 1 : plan.shape.warps();
  const std::uint32_t bytes = tiled ? plan.shape.tile() : plan.shape.chunk();
  for (std::uint64_t warp = 0; warp < warps; ++warp) {
    std::uint64_t offset = (block * walk.block_step + warp * walk.warp_step) % walk.span;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      sum += line.sum((region + warp * walk.warp_base + offset) / word_bytes, bytes / word_bytes);
      offset += stride;
      if (offset >= walk.span) offset -= walk.span;
    }
  }
  return sum;
}

}  // namespace

std::optional<Operation> operation_from(std::string_view name) {
  constexpr std::array<std::string_view, 5> names{"read", "write", "copy", "triad", "update"};
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Operation>(found - names.begin());
}

std::uint32_t arrays_read(Operation operation) {
  if (operation == Operation::write) return 0;
  return operation == Operation::triad ? 2 : 1;
}
std::uint32_t arrays_written(Operation operation) {
  return operation == Operation::read ? 0 : 1;
}
std::uint32_t arrays_of(Operation operation) {
  if (operation == Operation::update) return 1;
  return arrays_read(operation) + arrays_written(operation);
}

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "bandwidth",
      .question =
          "How many bytes a second does each level of memory move, and how many must be in flight "
          "for that?",
      .axes = {{.name = "level",
                .meaning = "where the arrays lie (shared: GPU only; l3: CPU only)",
                .choices = {"shared", "l1", "l2", "l3", "dram"},
                .defaults = {"shared", "l1", "l2", "l3", "dram"}},
               {.name = "operation",
                .meaning = "what is done with them",
                .choices = {"read", "write", "copy", "triad", "update"},
                .defaults = {"read", "write", "copy", "triad", "update"}},
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

std::uint64_t Shape::in_flight() const {
  const std::uint32_t arrays = std::max(1U, arrays_read(operation));
  return std::uint64_t{blocks_per_sm} * tile() * arrays;
}

Shape shape_of(const Session& session) {
  const auto number = [&](const char* axis) {
    return static_cast<std::uint32_t>(session.integer(axis));
  };
  const std::string& level = session.param("level");
  return {.level = level == "shared" ? Level::shared
                   : level == "l1"   ? Level::l1
                   : level == "l2"   ? Level::l2
                                     : Level::dram,
          .operation = operation_from(session.param("operation")).value(),
          .width = number("width"),
          .block_size = number("block_size"),
          .blocks_per_sm = number("blocks_per_sm"),
          .flights = number("in_flight")};
}

std::uint64_t Plan::bytes(const Launch& launch) const {
  return std::uint64_t{launch.blocks} * launch.rounds * shape.tile() *
         (arrays_read(shape.operation) + arrays_written(shape.operation));
}

std::uint64_t Plan::words(const Launch& launch) const {
  if (shape.level == Level::shared) return array_bytes / word_bytes;
  return std::uint64_t{launch.blocks} * walk.span / word_bytes;
}

std::uint32_t Plan::updates(const Launch& launch) const {
  return launch.rounds / passes;
}

Plan plan_for(const Shape& shape, const Limits& limits) {
  Plan plan;
  plan.shape = shape;
  switch (shape.level) {
    case Level::shared:
      plan_shared(plan, limits);
      break;
    case Level::l1:
      plan_l1(plan, limits);
      break;
    case Level::l2:
      plan_l2(plan, limits);
      break;
    case Level::dram:
      plan_dram(plan, limits);
      break;
  }
  if (plan.shape.level != Level::shared &&
      plan.array_bytes * arrays_of(shape.operation) > limits.pool_bytes) {
    throw Skipped{"device memory is too small for the arrays"};
  }
  return plan;
}

std::uint64_t first_word(const Plan& plan, std::uint32_t array) {
  return array * plan.array_bytes / word_bytes;
}

Line written(const Plan& plan, const Launch& launch, const Line& data, std::uint32_t salt) {
  switch (plan.shape.operation) {
    case Operation::write:
      return {data.slope, salt};
    case Operation::copy:
      return data.from(first_word(plan, 1));
    case Operation::triad: {
      const Line one = data.from(first_word(plan, 1));
      const Line two = data.from(first_word(plan, 2));
      return {one.slope + triad_factor * two.slope, one.start + triad_factor * two.start};
    }
    case Operation::update:
      return {data.slope, data.start + plan.updates(launch) * update_step};
    case Operation::read:
      break;
  }
  return data;
}

std::uint32_t expected_sum(const Plan& plan, const Launch& launch, const Line& data) {
  const Walk& walk = plan.walk;
  if (walk.block_base == 0 && walk.block_step == 0 && walk.group == 0) {
    return launch.blocks * block_sum(plan, launch.rounds, 0, data);
  }
  std::uint32_t sum = 0;
  for (std::uint32_t block = 0; block < launch.blocks; ++block)
    sum += block_sum(plan, launch.rounds, block, data);
  return sum;
}

std::uint32_t expected_shared_sum(const Plan& plan, const Launch& launch, const Line& data,
                                  std::uint32_t salt) {
  const Line after = written(plan, launch, data, salt);
  std::uint32_t sum = 0;
  for (std::uint32_t j = 0; j < plan.words(launch); ++j)
    sum += (2 * j + 1) * after.word(j);
  return launch.blocks * sum;
}

LoadPrediction predicted_loads(const Plan& plan, const Launch& launch) {
  const std::uint64_t loads = std::uint64_t{launch.blocks} * launch.rounds * plan.shape.warps() *
                              plan.shape.flights * arrays_read(plan.shape.operation);
  return {.requests = loads,
          .sectors = loads * plan.shape.width * lanes / sector_bytes,
          .repeated_sectors = 0};
}

std::uint64_t predicted_store_sectors(const Plan& plan, const Launch& launch) {
  return std::uint64_t{launch.blocks} * launch.rounds * plan.shape.tile() *
         arrays_written(plan.shape.operation) / sector_bytes;
}

Gate store_level_gate(ServedBy claimed, std::uint64_t sectors, std::uint64_t l2_bytes,
                      const Counted& counted) {
  const auto reached = counted.net("l2_store_sectors");
  if (!reached) return {"level", Verdict::unverified, "stores that reach L2 were not counted"};
  const auto stored = static_cast<double>(sectors);
  bool held = std::abs(*reached - stored) <= level_bound * stored;
  std::string detail =
      fmt::format("{:.2f} % of the stored sectors reached L2", 100 * *reached / stored);
  if (const auto out = counted.net("dram_write_bytes")) {
    const double bytes = stored * static_cast<double>(sector_bytes);
    if (claimed == ServedBy::dram) {
      held = held && *out >= (1 - level_bound) * bytes - static_cast<double>(l2_bytes);
      detail += fmt::format(", {:.2f} % of them went on to memory (all but what L2 may keep back)",
                            100 * *out / bytes);
    } else {
      held = held && (*out <= level_bound * bytes || *out <= stray_bytes);
      detail += fmt::format(", {:.2f} % of them went on to memory", 100 * *out / bytes);
    }
  }
  detail += fmt::format(" (bound {:.0f} %)", 100 * level_bound);
  return {"level", held ? Verdict::passed : Verdict::failed, detail};
}

Gate both(const Gate& one, const Gate& other) {
  const auto either = [&](Verdict verdict) {
    return one.verdict == verdict || other.verdict == verdict;
  };
  const Verdict verdict = either(Verdict::failed)       ? Verdict::failed
                          : either(Verdict::unverified) ? Verdict::unverified
                                                        : Verdict::passed;
  return {one.name, verdict, one.detail + "; " + other.detail};
}

double l1_limit(std::string_view compute_capability) {
  constexpr double turing = 64;
  constexpr double later = 128;
  return compute_capability == "7.5" ? turing : later;
}

void report(Session& session, const Collection<Observation>& seen, const Naming& naming,
            double limit, bool limit_is_of_a_cycle) {
  const Timed timed{session, seen};
  timed.add("bandwidth", "B/s", naming.outside, &Observation::bytes_per_second);
  timed.add("bandwidth_per_sm", naming.per_core_unit, naming.inside, &Observation::inside);
  timed.add("bandwidth_per_sm", naming.per_core_unit, naming.outside, &Observation::outside);
  if (limit > 0) {
    timed.add("share_of_limit", "1", naming.outside, [&](const Observation& o) {
      return (limit_is_of_a_cycle ? o.outside : o.bytes_per_second) / limit;
    });
  }
  timed.add("grid_time", "s", naming.whole, &Observation::grid_seconds);
  timed.core_clock(naming.clock, &Observation::core_hertz);
  timed.timers(&Observation::inside, naming.inside, &Observation::outside, naming.outside);
}

STRATA_DECLARED(declare);

}  // namespace strata::bandwidth
