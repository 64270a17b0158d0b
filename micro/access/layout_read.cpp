#include "micro/access/layout_read.hpp"

#include "harness/case/error.hpp"
#include "harness/measure/timed.hpp"
#include "harness/model/layout.hpp"
#include "harness/record/statistics.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <tuple>

namespace strata::layout_read {
namespace {

template <class... Ts>
std::vector<std::string> names(std::tuple<Ts...>* /*types*/) {
  return {std::string{Ts::name}...};
}

long long number(const Params& params, std::string_view axis) {
  const auto& text = params.find(axis)->second;
  long long value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  const long long warps = number(params, "warps_per_sm");
  const long long block = number(params, "block_size");
  if (block % 32 != 0 || warps * 32 % block != 0) {
    return "warps_per_sm is not a whole number of blocks";
  }
  if (backend == Backend::host) {
    if (block != 32) return "a CPU core has no blocks: it is measured at block_size 32";
    return std::nullopt;
  }
  if (params.find("residency")->second == "l3") return "a GPU has no third level of cache";
  const long long blocks = warps * 32 / block;
  if (blocks > 32) return "no GPU holds more than 32 blocks on an SM";
  if (params.find("cores")->second == "one" && blocks != 1) {
    return "only one block can be kept on one SM";
  }
  return std::nullopt;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "layout_read",
      .question = "What does each layout of a particle cost to read, from each level?",
      .axes = {{.name = "layout",
                .meaning = "how the seven floats of a particle lie in memory",
                .choices = names(static_cast<Layouts*>(nullptr)),
                .defaults = names(static_cast<Layouts*>(nullptr))},
               {.name = "residency",
                .meaning = "the level that holds the particles (l3: CPU only)",
                .choices = {"l1", "l2", "l3", "dram"},
                .defaults = {"l1", "l2", "l3", "dram"}},
               {.name = "cores",
                .meaning = "one or all SMs (cuda), CPU cores (host)",
                .choices = {"one", "all"},
                .defaults = {"all"}},
               {.name = "fields",
                .meaning = "all seven fields, or position and mass",
                .choices = names(static_cast<FieldSets*>(nullptr)),
                .defaults = names(static_cast<FieldSets*>(nullptr))},
               {.name = "block_size",
                .meaning = "threads in a block (host: always 32)",
                .minimum = 32,
                .maximum = 1024,
                .defaults = {"32", "128", "256", "1024"}},
               {.name = "warps_per_sm",
                .meaning =
                    "warps resident on each SM (host: dependent chains that a core interleaves)",
                .minimum = 1,
                .maximum = 64,
                .defaults = {"1", "2", "4", "8", "16", "32", "48", "64"}}},
      .data_axes = 2,  // layout, residency
      .quantities = {{"warp_read_cycles",
                      "cycles from the start of a warp's read to its sum, median of warps"},
                     {"warp_read_cycles_p5", "the same, 5th percentile of warps"},
                     {"warp_read_cycles_p95", "the same, 95th percentile of warps"},
                     {"warp_read_cycles_slowest",
                      "of the slowest warp by both timers, where one warp is alone"},
                     {"warp_read_time", "warp_read_cycles by the clock at that moment"},
                     {"arithmetic_cycles",
                      "the part of a warp-read that is sum and address, not load"},
                     {"grid_time", "the whole walk of all warps, start-up included"},
                     {"useful_bandwidth", "bytes of wanted fields a second, start-up cancelled"},
                     {"reads_per_second", "particles read a second, start-up cancelled"},
                     {"core_clock", "clock of the core while it read"}},
      .seconds_per_case = 0.06,
      .excludes = excludes};
}

double reads_for(double seconds, double hertz, double latency_cycles, double cycles_each_warp,
                 int warps_per_sm) {
  return seconds * hertz / std::max(latency_cycles, cycles_each_warp * warps_per_sm);
}

Shape shape_for(double reads, std::uint32_t warmup, std::uint64_t most, std::uint32_t unroll) {
  // One fifth first, four fifths second, and an eighth of the timed part to cool down.
  constexpr std::uint32_t parts = 5;
  const auto of = [&](std::uint32_t first) {
    return Shape{.warmup = warmup,
                 .first = first,
                 .second = (parts - 1) * first,
                 .cooldown = (parts * first / 8 + unroll) / unroll * unroll};
  };
  std::uint32_t first = std::max(1U, static_cast<std::uint32_t>(reads / (parts * unroll))) * unroll;
  while (first > unroll && of(first).total() > most)
    first -= unroll;
  if (of(first).total() > most) {
    throw Skipped{fmt::format("a walk of {} reads at least would read something twice after {}",
                              of(first).total(), most)};
  }
  return of(first);
}

std::uint32_t nearest(std::vector<std::uint32_t> positions, std::uint32_t groups) {
  if (positions.size() < 2) return groups;
  std::ranges::sort(positions);
  std::uint32_t least = positions.front() + groups - positions.back();
  for (std::size_t i = 1; i < positions.size(); ++i) {
    least = std::min(least, positions[i] - positions[i - 1]);
  }
  return least;
}

double cycles_of_a_read(const std::array<std::uint64_t, 3>& ends, const Shape& shape, bool alone) {
  const auto first = static_cast<double>(ends[1] - ends[0]);
  const auto second = static_cast<double>(ends[2] - ends[1]);
  return alone ? (second - first) / slope_reads(shape)
               : (first + second) / (shape.first + shape.second);
}

std::uint32_t groups_in(std::uint64_t bytes) {
  const auto groups = std::min<std::uint64_t>(bytes / group_bytes, max_groups);
  return static_cast<std::uint32_t>(groups % 2 == 1 ? groups
                                                    : std::max<std::uint64_t>(groups, 2) - 1);
}

std::uint32_t start_position(std::uint32_t sm, std::uint32_t warp, std::uint32_t sms,
                             std::uint32_t warps_per_sm, std::uint32_t groups) {
  const std::uint64_t rank = std::uint64_t{warp} * sms + sm;
  return static_cast<std::uint32_t>(rank * groups / (std::uint64_t{sms} * warps_per_sm));
}

void summarise(std::vector<double>& reads, Observation& into) {
  std::ranges::sort(reads);
  into.cycles = median(reads);
  into.cycles_p5 = quantile(reads, 0.05);
  into.cycles_p95 = quantile(reads, 0.95);
}

Observation medians(const std::vector<Observation>& of) {
  return median_record(of, &Observation::cycles, &Observation::cycles_p5, &Observation::cycles_p95,
                       &Observation::cycles_slowest, &Observation::cycles_outside,
                       &Observation::grid_seconds, &Observation::reads_per_second,
                       &Observation::core_hertz);
}

void report(Session& session, const Collection<Observation>& seen, const Methods& methods,
            std::size_t useful_bytes) {
  const Timed timed{session, seen};
  const auto& unit = methods.cycle_unit;
  timed.add("warp_read_cycles", unit, methods.inside, &Observation::cycles);
  timed.add("warp_read_cycles_p5", unit, methods.inside, &Observation::cycles_p5);
  timed.add("warp_read_cycles_p95", unit, methods.inside, &Observation::cycles_p95);
  timed.add("warp_read_time", "s", methods.inside,
            [](const Observation& o) { return o.cycles / o.core_hertz; });
  timed.add("grid_time", "s", methods.whole, &Observation::grid_seconds);
  timed.add("useful_bandwidth", "B/s", methods.outside, [useful_bytes](const Observation& o) {
    return o.reads_per_second * static_cast<double>(useful_bytes);
  });
  timed.add("reads_per_second", "1/s", methods.outside, &Observation::reads_per_second);
  timed.core_clock(methods.clock, &Observation::core_hertz);

  if (session.integer("warps_per_sm") == 1) {
    timed.add("warp_read_cycles_slowest", unit, methods.slowest, &Observation::cycles_slowest);
    timed.add("warp_read_cycles_slowest", unit, methods.outside, &Observation::cycles_outside);
    timed.timers(&Observation::cycles_slowest, methods.slowest, &Observation::cycles_outside,
                 methods.outside);
  } else {
    session.add(
        Gate{"timer", Verdict::not_applicable, "two methods are compared for single warps"});
  }
}

}  // namespace strata::layout_read
