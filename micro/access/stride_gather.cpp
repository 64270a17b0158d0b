#include "micro/access/stride_gather.hpp"

#include "harness/base/error.hpp"
#include "harness/base/in_parallel.hpp"
#include "harness/case/choices.hpp"
#include "harness/cpu/footprints.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"
#include "harness/model/coalescing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::stride_gather {
namespace {

constexpr double timed_cycles = 4e5;  // of a long launch from L2: 0.2 ms, hundreds of timer steps
constexpr std::uint32_t slope_parts = 5;   // from L2: the short launch is one of them
constexpr std::uint32_t memory_parts = 4;  // from memory
constexpr std::uint64_t sectors_timed = std::uint64_t{1} << 25U;  // from memory: 1 GiB of them
constexpr std::uint32_t max_stride = 1024;

constexpr auto levels = choices_of<Level>("l2", "l3", "dram");
constexpr auto patterns = choices_of<Pattern>("strided", "misaligned", "gather");

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const Shape shape = shape_of(params);
  const bool misaligned = shape.misalignment != 0;
  if (shape.pattern != Pattern::strided && shape.stride != 1) return "only strided has a stride";
  if (misaligned != (shape.pattern == Pattern::misaligned)) {
    return "only misaligned has a misalignment";
  }
  if (shape.pattern != Pattern::gather && shape.locality != lanes) {
    return "only gather has a locality";
  }
  const bool gpu = backend == Backend::cuda;
  if (gpu && shape.level == Level::l3) return "a GPU has no L3";
  if (!gpu && shape.width != 4) return "a CPU reads 4-byte words here";
  if (!gpu && misaligned) return "a word of a CPU never crosses a line";
  return std::nullopt;
}

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

}  // namespace

Benchmark declare() {
  std::vector<std::string> localities;
  for (std::uint32_t one = lanes; one <= 1U << 30U; one *= 2)
    localities.push_back(std::to_string(one));
  return {
      .suite = "micro",
      .name = "stride_gather",
      .question =
          "How much of a level's bandwidth remains for strided, misaligned or scattered accesses?",
      .axes = {levels.axis("level", "memory level of the data (l3: CPU only)"),
               patterns.axis("pattern", "strided, misaligned or random order of the elements"),
               listed_axis("width", "bytes of an element (host: always 4)", {"4", "8", "16"},
                           {"4", "16"}),
               number_axis("stride", "strided: elements from one to the next (otherwise 1)", 1,
                           max_stride, {"1", "2", "4", "8", "16", "32", "64"}),
               number_axis("misalignment",
                           "misaligned: elements from a line's start to the first (otherwise 0)", 0,
                           max_misalignment, {"0", "1", "4", "8"}),
               listed_axis(
                   "locality",
                   "gather: size of the window from which a load picks its elements (otherwise 32)",
                   localities,
                   {"32", "128", "512", "4096", "32768", "1048576", "16777216", "268435456"})},
      .quantities =
          {{"useful_bandwidth", "wanted bytes per second, start-up cancelled"},
           {"useful_bandwidth_per_sm",
            "wanted bytes per cycle of an SM (host: of a core), by each timer"},
           {"requested_bandwidth",
            "traffic from L1 to L2, not memory bandwidth: bytes of the sectors that loads "
            "request from L2 per second, by the model. Memory delivers less where L2 holds "
            "a sector from an earlier load, so this may exceed its pins"},
           {"grid_time", "duration of the whole long launch, including start-up"},
           {"core_clock", "clock of the core during the loads"},
           {"sectors_per_request", "per warp-load, counted and modelled"},
           {"memory_bytes_per_used_byte", "bytes read from memory per wanted byte"}},
      .seconds_per_case = 0.03,
      .excludes = excluded};
}

Shape shape_of(const Params& params) {
  return {.level = levels.of(params.at("level")),
          .pattern = patterns.of(params.at("pattern")),
          .width = number_of<std::uint32_t>(params, "width"),
          .stride = number_of<std::uint32_t>(params, "stride"),
          .misalignment = number_of<std::uint32_t>(params, "misalignment"),
          .locality = number_of<std::uint32_t>(params, "locality")};
}

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

double sectors_per_load(const Shape& shape) {
  constexpr std::uint32_t enough = 1U << 15U;  // the mean of this many is within 0.1 %
  const std::uint32_t loads = std::min(shape.window_loads(), enough);
  return static_cast<double>(sectors_requested(shape, loads)) / loads;
}

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

Experiment describe(const SweepPlan& plan, const SamplePlaces& places) {
  const Shape& shape = plan.shape;
  const Length& full = plan.lengths.full;
  const bool in_l2 = shape.level == Level::l2;
  const double requested_over_used =
      sectors_per_load(shape) * double{sector_bytes} / shape.load_bytes();
  Experiment experiment = bandwidth_of(plan.sms, "useful_bandwidth");
  experiment.rows.insert(experiment.rows.end() - 1, {"requested_bandwidth", "B/s", By::outside,
                                                     per_second(plan.sms * requested_over_used)});
  const std::uint32_t of_full = sum_of_loads(shape, plan.distinct_loads(full));
  const std::uint32_t of_brief =
      in_l2 ? of_full : sum_of_loads(shape, plan.distinct_loads(plan.lengths.brief));
  const auto sum_of = [=, &places](const Call& call) {
    const std::uint32_t of_lap =
        call.length.blocks == plan.lengths.full.blocks ? of_full : of_brief;
    return static_cast<std::uint32_t>(plan.laps(call.length)) * of_lap +
           sum_of_move(plan.shape, plan.loads(call.length),
                       places.offset() / sizeof(std::uint32_t));
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

// On a CPU every core reads words of its own array, one at a time. Each run continues where the
// last one ended, and with a stride of more than a line each pass begins one line further on than
// the last: a line is read again only after the whole array was visited. The array's size decides
// the level (own_footprint). A word never crosses a line on a CPU: nothing is misaligned.
namespace {

constexpr double timed_seconds = 2e-4;  // of a long run: shorter than the time between interrupts
constexpr int pairs = 11;  // of runs in a sample, of which the median counts: most meet none
constexpr std::uint64_t line_words = 16;
constexpr std::uint64_t accumulators = 4;

/// Adds up word(0) to word(count - 1), several at a time.
template <class Word>
[[gnu::always_inline]] inline std::uint32_t sum_of(std::uint64_t count, const Word& word) {
  std::array<std::uint32_t, accumulators> sums{};
  std::uint64_t i = 0;
  for (; i + accumulators <= count; i += accumulators) {
    for (std::uint64_t a = 0; a < accumulators; ++a)
      sums[a] += word(i + a);
  }
  for (; i < count; ++i)
    sums[0] += word(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// The endless order in which elements of an array of `words` words, a power of two, are read.
struct Order {
  Shape shape;
  std::uint64_t words = 0;

  /// Elements of a pass.
  [[nodiscard]] std::uint64_t pass() const { return words / shape.stride; }
  /// The sum of `of(first, count)` over the contiguous pieces of the `count` ordinals from `cursor`
  /// on; `first` is an element (strided) or a number whose place is looked up (gather).
  template <class Of>
  [[nodiscard]] std::uint32_t over_stretches(std::uint64_t cursor, std::uint64_t count,
                                             const Of& of) const {
    const std::uint64_t phases = std::max<std::uint64_t>(1, shape.stride / line_words);
    std::uint32_t sum = 0;
    while (count > 0) {
      const std::uint64_t inside = cursor % pass();
      const std::uint64_t taken = std::min(count, pass() - inside);
      const std::uint64_t phase = cursor / pass() % phases;
      sum += of(inside * shape.stride + phase * line_words, taken);
      cursor += taken;
      count -= taken;
    }
    return sum;
  }
  [[nodiscard]] std::uint32_t expected(std::uint64_t cursor, std::uint64_t count) const {
    return over_stretches(cursor, count, [&](std::uint64_t first, std::uint64_t taken) {
      if (shape.pattern != Pattern::gather) {
        return LinearWords{.slope = array_words.slope * shape.stride,
                           .start = array_words.word(first)}
            .sum(0, taken);
      }
      std::uint32_t sum = 0;
      for (std::uint64_t n = first; n < first + taken; ++n)
        sum += array_words.word(element_of(shape, static_cast<std::uint32_t>(n)));
      return sum;
    });
  }
  [[nodiscard]] std::uint32_t read(const std::uint32_t* data, std::uint64_t cursor,
                                   std::uint64_t count) const {
    return over_stretches(cursor, count, [&](std::uint64_t first, std::uint64_t taken) {
      if (shape.pattern != Pattern::gather) {
        return sum_of(taken, [from = data + first, step = std::uint64_t{shape.stride}](
                                 std::uint64_t i) { return from[i * step]; });
      }
      return sum_of(taken, [data, start = static_cast<std::uint32_t>(first),
                            scatter = scatter_of(shape.locality)](std::uint64_t i) {
        const auto n = start + static_cast<std::uint32_t>(i);
        return data[scattered(n, scatter.mask, scatter.shift)];
      });
    });
  }
};

/// The arrays of all cores, shared by the cases of a level.
struct Arrays {
  CoreWords words;
  double start = 0;  ///< of the last case, as a share of a pass
};

/// The short run takes a fifth of the time that a sample should.
Lengths decide_lengths(const std::function<Launched(const Length&)>& run) {
  constexpr std::uint32_t trial = 20000;
  constexpr double parts = 5;
  constexpr double least = 1000;
  (void)run({.rounds = trial});
  const double seconds = run({.rounds = trial}).seconds / trial;
  const auto brief = static_cast<std::uint32_t>(std::max(least, timed_seconds / seconds / parts));
  return fifth_and_whole(5 * brief, sizeof(std::uint32_t));
}

void run(Session& session) {
  const Shape shape = shape_of(session.params());
  const auto cpus = allowed_cpus();
  const CpuFacts cpu = cpu_facts(session.device().identity().facts);
  const Footprint footprint = own_footprint(host_levels.of(session.param("level")), cpu);
  const Order order{.shape = shape, .words = power_of_two_in(footprint) / sizeof(std::uint32_t)};
  if (shape.pattern == Pattern::gather && shape.locality > order.words) {
    throw Skipped{"no window of that locality fits in an array of that level"};
  }
  HostMachine machine{cpus};
  auto& arrays = session.cache().keep<Arrays>("stride_gather/" + session.param("level"), [&] {
    return Arrays{CoreWords{*machine.team(), order.words,
                            [](std::size_t, std::size_t i) { return array_words.word(i); }}};
  });
  // Each case begins far from where others did, whose words may still be cached.
  constexpr double golden = 0.6180339887498949;
  arrays.start = std::fmod(arrays.start + golden, 1);
  std::uint64_t begin = 0;
  auto end = static_cast<std::uint64_t>(arrays.start * static_cast<double>(order.pass()));

  Experiment experiment = bandwidth_of(cpus.size(), "useful_bandwidth");
  Slope slope;
  slope.prepare = [&](const Call& call) {
    begin = end;
    end += call.length.rounds;
  };
  slope.launch = machine.on_every_core([&](std::size_t rank, const Call& call) {
    return std::uint64_t{order.read(arrays.words.of(rank), begin, call.length.rounds)};
  });
  slope.verify =
      results_are([&](const Call& call) { return order.expected(begin, call.length.rounds); });
  slope.size = decide_lengths;
  experiment.slopes = {slope};
  experiment.pairs = pairs;
  experiment.checked = "core sums against the host's";
  experiment.unproved = {.gate = "level", .why = "no hardware counters on the host"};
  experiment.facts = [bytes =
                          order.words * cpus.size() * sizeof(std::uint32_t)](const Experiment&) {
    return Facts{{"footprint_bytes", static_cast<std::int64_t>(bytes)}};
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::stride_gather
