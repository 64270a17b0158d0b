// The declaration, the plans and the models of stride_gather: stride_gather.hpp says what it asks.
#include "micro/access/stride_gather.hpp"

#include "harness/case/error.hpp"
#include "harness/case/in_parallel.hpp"
#include "harness/measure/timed.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/lanes.hpp"
#include "harness/record/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace strata::stride_gather {
namespace {

constexpr double timed_cycles = 4e5;  // of a long launch from L2: 0.2 ms, hundreds of timer steps
constexpr std::uint32_t slope_parts = 5;   // from L2: the short launch is one of them
constexpr std::uint32_t memory_parts = 4;  // from memory
constexpr std::uint64_t sectors_timed = std::uint64_t{1} << 25U;  // from memory: 1 GiB of them
constexpr std::uint32_t max_stride = 1024;
constexpr std::uint32_t max_misalignment = 1024;

std::uint32_t number(const Params& params, const char* axis) {
  return static_cast<std::uint32_t>(std::stoul(params.at(axis)));
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  const std::string& pattern = params.at("pattern");
  if (pattern != "strided" && number(params, "stride") != 1) return "only strided has a stride";
  const bool misaligned = number(params, "misalignment") != 0;
  if (misaligned != (pattern == "misaligned")) return "only misaligned has a misalignment";
  if (pattern != "gather" && number(params, "locality") != lanes) {
    return "only gather has a locality";
  }
  if (backend == Backend::cuda && params.at("level") == "l3") return "a GPU has no third level";
  if (backend == Backend::host && number(params, "width") != 4) {
    return "a CPU reads words of 4 bytes here";
  }
  if (backend == Backend::host && misaligned) return "a word of a CPU never lies across lines";
  return std::nullopt;
}

std::vector<std::string> powers_of_two(std::uint32_t first, std::uint32_t last) {
  std::vector<std::string> all;
  for (std::uint32_t one = first; one <= last; one *= 2)
    all.push_back(std::to_string(one));
  return all;
}

/// The first load of a pass of a pattern without windows; all others lie whole lines further on.
WarpAccess first_load(const Shape& shape) {
  return access_of(shape.width,
                   lane_elements(shape.stride, shape.misalignment, Permutation::identity));
}

/// Lines of an array of which one load takes its elements, not counting those of its neighbours.
std::uint64_t lines_of_load(const Shape& shape) {
  return std::min<std::uint64_t>(lanes, shape.load_span() / line_bytes);
}

std::uint32_t windows_loads(const Shape& shape) {
  return shape.locality / lanes;
}

/// Counts different sectors among the lanes of one load after the other: a small table of what the
/// present load has touched, emptied by going on to the next stamp.
class LoadSectors {
 public:
  std::uint32_t count(const Shape& shape, std::uint32_t load) {
    ++stamp_;
    std::uint32_t different = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t sector =
          element_of(shape, load * lanes + lane) * shape.width / sector_bytes;
      different += touch(static_cast<std::uint32_t>(sector)) ? 1 : 0;
    }
    return different;
  }

 private:
  static constexpr std::uint32_t slots = 128;  // four times the lanes
  static constexpr std::uint32_t bits = 7;

  struct Slot {
    std::uint32_t sector = 0;
    std::uint32_t stamp = 0;
  };

  bool touch(std::uint32_t sector) {
    constexpr std::uint32_t odd = 0x9E3779B1U;
    std::uint32_t at = (sector * odd) >> (32U - bits);
    while (table_[at].stamp == stamp_) {
      if (table_[at].sector == sector) return false;
      at = (at + 1) % slots;
    }
    table_[at] = {sector, stamp_};
    return true;
  }

  std::array<Slot, slots> table_{};
  std::uint32_t stamp_ = 0;
};

std::uint64_t gathered_sectors(const Shape& shape, std::uint32_t loads) {
  std::atomic<std::uint64_t> asked = 0;
  in_parallel(loads, [&](std::size_t first, std::size_t last) {
    LoadSectors sectors;
    std::uint64_t mine = 0;
    for (std::size_t load = first; load < last; ++load)
      mine += sectors.count(shape, static_cast<std::uint32_t>(load));
    asked += mine;
  });
  return asked;
}

std::uint64_t different_sectors(const Shape& shape, std::uint32_t loads) {
  std::vector<bool> seen(std::uint64_t{shape.locality} * shape.width / sector_bytes);
  std::uint64_t different = 0;
  for (std::uint32_t n = 0; n < loads * lanes; ++n) {
    const auto sector = element_of(shape, n) * shape.width / sector_bytes;
    if (!seen[sector]) ++different;
    seen[sector] = true;
  }
  return different;
}

/// Aligned pieces of memory of that many bytes that the first loads of a pass touch, each counted
/// once, where elements lie in order.
std::uint64_t distinct_pieces(const Shape& shape, std::uint64_t loads, std::uint64_t bytes) {
  const WarpAccess load = first_load(shape);
  std::uint64_t each = 1;
  for (std::size_t lane = 1; lane < load.addresses.size(); ++lane) {
    if (*load.addresses[lane] / bytes != *load.addresses[lane - 1] / bytes) ++each;
  }
  // The first piece of a load may be the last one of the load before.
  const std::uint64_t last = (*load.addresses.back() + shape.width - 1) / bytes;
  const std::uint64_t next = (*load.addresses.front() + shape.load_span()) / bytes;
  const std::uint64_t shared = last == next && loads > 0 ? loads - 1 : 0;
  return loads * each - shared;
}

/// The weight of a lane in the sum of a launch.
constexpr std::uint32_t weight(std::uint32_t lane) {
  return 2 * lane + 1;
}
constexpr std::uint32_t weight_of_load = lanes * lanes;  // 1 + 3 + 5 + …

/// Of the first `loads` loads of a window.
std::uint32_t sum_in_window(const Shape& shape, std::uint32_t loads) {
  std::atomic<std::uint32_t> sum = 0;
  in_parallel(loads, [&](std::size_t first, std::size_t last) {
    std::uint32_t mine = 0;
    for (auto load = static_cast<std::uint32_t>(first); load < last; ++load) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        mine += weight(lane) * element_sum(element_of(shape, load * lanes + lane), shape.width);
    }
    sum += mine;
  });
  return sum;
}

void plan_l2(Plan& plan, const Limits& limits) {
  const Shape& shape = plan.shape;
  const std::uint32_t round = loads_of_round(shape.width);
  // A third of L2: there is room for a second copy of each line in its other half.
  const std::uint64_t held = limits.l2_bytes / 3 / (lines_of_load(shape) * line_bytes);
  const std::uint64_t rounds_of_sm = held / (std::uint64_t{limits.sms} * round);
  if (rounds_of_sm == 0) throw Skipped{"L2 is too small for what would be in flight"};
  // Powers of two, so that whole windows lie in what they make up.
  plan.blocks_per_sm = static_cast<std::uint32_t>(
      std::bit_floor(std::min<std::uint64_t>(rounds_of_sm, limits.blocks_per_sm)));
  const auto rounds = static_cast<std::uint32_t>(std::bit_floor(rounds_of_sm / plan.blocks_per_sm));
  plan.loads_of_block = rounds * round;
  plan.pass = {.blocks = limits.sms * plan.blocks_per_sm, .rounds = rounds};
  if (plan.loads(plan.pass) % windows_loads(shape) != 0) {
    throw Skipped{"no whole number of windows of that locality makes up what L2 holds"};
  }
  // Roughly: only the length of a launch hangs on it.
  constexpr double bytes_of_cycle = 40;
  constexpr double cycles_of_round = 500;
  const double bytes = static_cast<double>(plan.loads(plan.pass)) * sectors_per_load(shape) *
                       static_cast<double>(sector_bytes);
  const double cycles = std::max(bytes / limits.sms / bytes_of_cycle, cycles_of_round * rounds);
  const auto passes =
      static_cast<std::uint32_t>(std::max(1L, std::lround(timed_cycles / cycles / slope_parts)));
  plan.brief = {.blocks = plan.pass.blocks, .rounds = passes * rounds};
  plan.full = {.blocks = plan.pass.blocks, .rounds = slope_parts * passes * rounds};
}

void plan_dram(Plan& plan, const Limits& limits) {
  const Shape& shape = plan.shape;
  constexpr std::uint64_t many = 4;  // times L2: what is read, by the lines that it lies in
  const auto sectors = static_cast<std::uint64_t>(sectors_per_load(shape));
  const std::uint64_t line_slots = lines_of_load(shape) * line_bytes;
  const std::uint64_t wanted = std::bit_ceil(
      std::max(sectors_timed / sectors, (many * limits.l2_bytes + line_slots - 1) / line_slots));
  const std::uint64_t loads =
      std::min(wanted, std::bit_floor(limits.pool_bytes / shape.load_span()));
  if (loads * line_slots < many * limits.l2_bytes ||
      std::uint64_t{shape.locality} * shape.width > limits.pool_bytes) {
    throw Skipped{"device memory is too small beside L2, or for such a window"};
  }
  // A block of few bytes would be gone before the next one is there.
  constexpr std::uint64_t least_piece = 32U << 10U;
  const std::uint32_t round = loads_of_round(shape.width);
  const std::uint64_t bytes_of_round = round * sectors * sector_bytes;
  const auto rounds = static_cast<std::uint32_t>(
      std::bit_ceil((least_piece + bytes_of_round - 1) / bytes_of_round));
  plan.loads_of_block = rounds * round;
  plan.blocks_per_sm = limits.blocks_per_sm;
  const auto blocks = static_cast<std::uint32_t>(loads / plan.loads_of_block);
  if (blocks < memory_parts) throw Skipped{"device memory is too small for several blocks"};
  plan.full = {.blocks = blocks, .rounds = rounds};
  plan.brief = {.blocks = blocks / memory_parts, .rounds = rounds};
  plan.pass = plan.full;
}

}  // namespace

Benchmark declare() {
  return {.suite = "micro",
          .name = "stride_gather",
          .question =
              "How much of a level's bandwidth is left to wanted bytes that lie apart, off the "
              "alignment, or anywhere?",
          .axes = {{.name = "level",
                    .meaning = "where the data lie (l3: CPU only)",
                    .choices = {"l2", "l3", "dram"},
                    .defaults = {"l2", "l3", "dram"}},
                   {.name = "pattern",
                    .meaning = "how elements follow one another",
                    .choices = {"strided", "misaligned", "gather"},
                    .defaults = {"strided", "misaligned", "gather"}},
                   {.name = "width",
                    .meaning = "bytes of an element (host: always 4)",
                    .choices = {"4", "8", "16"},
                    .defaults = {"4", "16"}},
                   {.name = "stride",
                    .meaning = "strided: elements from one to the next (else 1)",
                    .minimum = 1,
                    .maximum = max_stride,
                    .defaults = {"1", "2", "4", "8", "16", "32", "64"}},
                   {.name = "misalignment",
                    .meaning = "misaligned: elements from a line's start to the first (else 0)",
                    .minimum = 0,
                    .maximum = max_misalignment,
                    .defaults = {"0", "1", "4", "8"}},
                   {.name = "locality",
                    .meaning = "gather: elements of the window that a load draws from (else 32)",
                    .choices = powers_of_two(lanes, 1U << 30U),
                    .defaults = {"32", "128", "512", "4096", "32768", "1048576", "16777216",
                                 "268435456"}}},
          .data_axes = 0,
          .counter_sets = {},
          .quantities = {{"useful_bandwidth", "wanted bytes a second, start-up cancelled"},
                         {"useful_bandwidth_per_sm",
                          "wanted bytes of an SM (host: of a core) in a cycle, by each timer"},
                         {"sector_bandwidth",
                          "bytes of the sectors that loads ask L2 for, by the model"},
                         {"grid_time", "the whole long launch, start-up included"},
                         {"core_clock", "clock of the core meanwhile"},
                         {"sectors_per_request", "of a warp-load, counted beside modelled"},
                         {"memory_bytes_per_used_byte",
                          "bytes read from memory for each that is wanted"}},
          .seconds_per_case = 0.03,
          .excludes = excludes};
}

Shape shape_of(const Session& session) {
  const auto whole = [&](const char* axis) {
    return static_cast<std::uint32_t>(session.whole(axis));
  };
  const std::string& pattern = session.param("pattern");
  return {.level = session.param("level") == "l2" ? Level::l2 : Level::dram,
          .pattern = pattern == "strided"      ? Pattern::strided
                     : pattern == "misaligned" ? Pattern::misaligned
                                               : Pattern::gather,
          .width = whole("width"),
          .stride = whole("stride"),
          .misalignment = whole("misalignment"),
          .locality = whole("locality")};
}

Plan plan_for(const Shape& shape, const Limits& limits) {
  Plan plan;
  plan.shape = shape;
  if (shape.level == Level::l2) {
    plan_l2(plan, limits);
  } else {
    plan_dram(plan, limits);
  }
  if (plan.span(plan.full) > limits.pool_bytes + std::uint64_t{max_misalignment} * shape.width) {
    throw Skipped{"device memory is too small for the array"};
  }
  return plan;
}

Sectors sectors_of(const Shape& shape, std::uint64_t loads, std::uint64_t fetched_at_once) {
  if (shape.pattern != Pattern::gather) {
    const std::uint64_t sectors = distinct_pieces(shape, loads, sector_bytes);
    const std::uint64_t fetches = distinct_pieces(shape, loads, fetched_at_once * sector_bytes);
    return {.asked = loads * traffic(Generation::cc7, first_load(shape)).sectors,
            .distinct = sectors,
            .fetched = fetches * fetched_at_once};
  }
  const std::uint32_t window = windows_loads(shape);
  const std::uint64_t whole = loads / window;
  const auto rest = static_cast<std::uint32_t>(loads % window);
  Sectors sectors;
  if (whole > 0) {
    sectors.asked = whole * gathered_sectors(shape, window);
    sectors.distinct = whole * shape.locality * shape.width / sector_bytes;
  }
  if (rest > 0) {
    sectors.asked += gathered_sectors(shape, rest);
    sectors.distinct += different_sectors(shape, rest);
  }
  sectors.fetched = sectors.distinct;  // a window is read whole
  return sectors;
}

double sectors_per_load(const Shape& shape) {
  if (shape.pattern != Pattern::gather) {
    return static_cast<double>(traffic(Generation::cc7, first_load(shape)).sectors);
  }
  constexpr std::uint32_t enough = 1U << 15U;  // the mean of so many is right to a thousandth
  const std::uint32_t loads = std::min(windows_loads(shape), enough);
  return static_cast<double>(gathered_sectors(shape, loads)) / loads;
}

std::uint32_t sum_of_loads(const Shape& shape, std::uint64_t loads) {
  const std::uint32_t words = shape.width / 4;
  const std::uint32_t of_step = words * words * slope;  // what one element further on adds
  if (shape.pattern != Pattern::gather) {
    // Each lane goes on by 32 strides with each load: a sum of a line.
    std::uint32_t sum = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t first = element_sum(element_of(shape, lane), shape.width);
      sum += weight(lane) * (static_cast<std::uint32_t>(loads) * first +
                             of_step * (lanes * shape.stride) * triangle(loads));
    }
    return sum;
  }
  // Windows are alike: each but the first reads what the first does, so many elements further on.
  const std::uint32_t window = windows_loads(shape);
  const std::uint64_t whole = loads / window;
  const auto rest = static_cast<std::uint32_t>(loads % window);
  std::uint32_t sum = 0;
  if (whole > 0) {
    sum = static_cast<std::uint32_t>(whole) * sum_in_window(shape, window) +
          of_step * weight_of_load * window * (shape.locality * triangle(whole));
  }
  if (rest > 0) {
    const std::uint32_t base = shape.locality * static_cast<std::uint32_t>(whole);
    sum += sum_in_window(shape, rest) + of_step * weight_of_load * rest * base;
  }
  return sum;
}

std::uint32_t expected_sum(const Plan& plan, const Launch& launch) {
  return static_cast<std::uint32_t>(plan.laps(launch)) *
         sum_of_loads(plan.shape, plan.distinct_loads(launch));
}

Gate data_level_gate(Level level, const Sectors& sectors, std::uint64_t laps,
                     const LoadCounts& net) {
  const LoadPrediction predicted{
      .requests = 0,
      .sectors = laps * sectors.asked,
      .repeated_sectors = 0,
      .fetched_sectors = level == Level::dram ? laps * sectors.fetched : 0};
  if (level == Level::l2) return level_gate(ServedBy::l2, predicted, net);
  if (sectors.asked == sectors.distinct) return level_gate(ServedBy::dram, predicted, net);
  // L2 may answer the second load of a sector, and memory may have to: nobody knows beforehand.
  // That memory gave each sector once shows that L2 had none to begin with.
  if (!(net.sectors > 0)) return {"level", Verdict::failed, "no loads were counted"};
  constexpr double percent = 100;
  const double l1 = net.l1_hit_sectors / net.sectors;
  bool held = l1 <= level_bound;
  std::string detail = fmt::format("L1 served {:.2f} % of the sectors", percent * l1);
  if (!net.dram_bytes) {
    return {"level", held ? Verdict::unverified : Verdict::failed,
            detail + ", and what memory gave was not counted"};
  }
  const auto distinct = static_cast<double>(sectors.distinct * sector_bytes);
  held = held && *net.dram_bytes >= (1 - level_bound) * distinct;
  detail += fmt::format(", memory gave {:.2f} % of those that differ (bound {:.0f} %)",
                        percent * *net.dram_bytes / distinct, percent * level_bound);
  return {"level", held ? Verdict::passed : Verdict::failed, detail};
}

void report(Session& session, const Collection<Observation>& seen, const Naming& naming,
            double moved_over_used) {
  const Timed timed{session, seen};
  timed.add("useful_bandwidth", "B/s", naming.outside, &Observation::bytes_per_second);
  timed.add("useful_bandwidth_per_sm", naming.per_core_unit, naming.inside, &Observation::inside);
  timed.add("useful_bandwidth_per_sm", naming.per_core_unit, naming.outside, &Observation::outside);
  if (moved_over_used > 0) {
    timed.add("sector_bandwidth", "B/s", naming.outside,
              [&](const Observation& o) { return o.bytes_per_second * moved_over_used; });
  }
  timed.add("grid_time", "s", naming.whole, &Observation::grid_seconds);
  timed.core_clock(naming.clock, &Observation::core_hertz);
  timed.timers(&Observation::inside, naming.inside, &Observation::outside, naming.outside);
}

STRATA_DECLARED(declare);

}  // namespace strata::stride_gather
