// The declaration of latency_vs_footprint, and its host backend: latency_vs_footprint.hpp says what
// it asks.
#include "micro/latency/latency_vs_footprint.hpp"

#include "harness/case/error.hpp"
#include "harness/case/octaves.hpp"
#include "harness/case/text.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/record/gates.hpp"
#include "micro/latency/pointer_chase_host.hpp"
#include "micro/pattern/permuted_cycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <variant>

namespace strata::latency_vs_footprint {
namespace {

constexpr std::uint64_t default_multiple = 128;
constexpr unsigned default_per_octave = 8;

std::vector<std::string> default_footprints() {
  std::vector<std::string> texts;
  for (const auto bytes :
       octaves(least_footprint, most_footprint, default_per_octave, default_multiple))
    texts.push_back(std::to_string(bytes));
  return texts;
}

std::uint64_t most_bytes(Space space) {
  switch (space) {
    case Space::shared:
      return most_shared;
    case Space::constant:
      return most_constant;
    case Space::texture:
      return most_texture;
    case Space::mapped:
      return most_mapped;
    case Space::memory:
      return most_host;
    default:
      return most_footprint;
  }
}

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const Space space = space_from(params.find("space")->second).value();
  if ((space == Space::memory) != (backend == Backend::host)) {
    return "a GPU has windows of memory, a CPU has one";
  }
  if (params.find("cores")->second != "one" && !is_global(space)) {
    return "several cores share device memory, and walk it with plain loads";
  }
  const auto footprint =
      static_cast<std::uint64_t>(whole_number(params.find("footprint")->second).value());
  const auto stride =
      static_cast<std::uint64_t>(whole_number(params.find("stride")->second).value());
  if (footprint % stride != 0 || footprint < 2 * stride) {
    return "the footprint is no whole number of slots, two at least";
  }
  if (footprint > most_bytes(space)) return "the window has no more room";
  if (space == Space::memory && footprint > most_dense_host && !std::has_single_bit(footprint)) {
    return "large footprints are powers of two on the host";
  }
  return std::nullopt;
}

// --- the host backend
// -----------------------------------------------------------------------------

/// Room for the chains, on page boundaries. Not initialised: writing a chain touches what is used.
class Room {
 public:
  explicit Room(std::size_t bytes)
      : bytes_{static_cast<std::byte*>(::operator new(bytes, alignment))} {}
  [[nodiscard]] std::byte* data() const { return bytes_.get(); }

 private:
  static constexpr std::align_val_t alignment{4096};
  struct Free {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, alignment); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
};

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const auto footprint = static_cast<std::uint64_t>(session.whole("footprint"));
  const auto stride = static_cast<std::uint64_t>(session.whole("stride"));
  const auto memory = facts.find("memory_bytes");
  constexpr std::uint64_t part = 4;
  if (memory != facts.end() &&
      footprint > static_cast<std::uint64_t>(std::get<std::int64_t>(memory->second)) / part) {
    throw Skipped{"a chain in more than a quarter of the memory"};
  }
  // Small chains stay in a small room, so that a few of them do not take a gibibyte.
  constexpr std::uint64_t small_room = 16U << 20U;
  const std::uint64_t bytes = footprint <= small_room ? small_room : std::bit_ceil(footprint);
  const Room& room = session.cache().keep<Room>("latency_vs_footprint/" + std::to_string(bytes),
                                                [&] { return Room{bytes}; });
  pointer_chase::HostChase chase{pointer_chase::HostPlaces{
      .room = room.data(), .cycle = {footprint / stride, /*seed=*/2009}, .stride = stride}};
  // What fits into a cache is there from one lap on.
  constexpr std::uint64_t most_of_a_lap = 1U << 18U;
  (void)chase.walk(pointer_chase::in_whole_turns(std::min(chase.slots(), most_of_a_lap)));
  constexpr std::uint32_t pilot_loads = 4096;
  chase.size_walks(pilot_loads);
  const auto seen = collect(chase, session.plan());
  pointer_chase::report(session, seen, 1, pointer_chase::host_timers);
  session.add(chase.result());
  session.add(level_unverified("no hardware counters on the host"));
  session.fact("loads", static_cast<std::int64_t>(chase.loads().full));
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "latency_vs_footprint",
      .question = "How long does a dependent load take, as its data grow from L1 to all of memory?",
      .axes = {{.name = "space",
                .meaning = "how the chain is loaded: through which window and caches",
                .choices = {space_names.begin(), space_names.end()},
                .defaults = {space_names.begin(), space_names.end()}},
               {.name = "cores",
                .meaning = "one SM walks, or every SM, each with one load in flight",
                .choices = {"one", "several"},
                .defaults = {"one"}},
               {.name = "stride",
                .meaning = "bytes from slot to slot",
                .choices = {"32", "64", "128", "256", "512", "1024", "2048", "4096"},
                .defaults = {"128"}},
               {.name = "footprint",
                .meaning = "bytes that the chain spans",
                .choices = {},
                .minimum = static_cast<long long>(least_footprint),
                .maximum = static_cast<long long>(most_footprint),
                .defaults = default_footprints()}},
      .data_axes = 1,
      .quantities = {{"load_cycles", "cycles of one dependent load; median of the SMs"},
                     {"load_time", "the same in seconds"},
                     {"load_cycles_nearest", "of the SM where it takes least"},
                     {"load_cycles_farthest", "of the SM where it takes most"},
                     {"core_clock", "clock of the core while it read"},
                     {"footprint_over_l2", "footprint ÷ L2 as the driver reports it"},
                     {"footprint_over_shared_memory",
                      "footprint ÷ shared memory of an SM as the driver reports it"},
                     {"walked_before", "1: whole laps were walked before; 0: all was evicted"},
                     {"l1_hit_share", "of the sectors asked of L1: found there"},
                     {"l2_hit_share", "of the sectors asked of L2: found there"},
                     {"l2_missed_sectors_per_load", "sectors that L2 did not hold and fetched"},
                     {"dram_share", "bytes read from memory ÷ bytes asked of L2"}},
      .seconds_per_case = 0.015,
      .excludes = excluded};
}

std::optional<Space> space_from(std::string_view name) {
  const auto* const found = std::ranges::find(space_names, name);
  if (found == space_names.end()) return std::nullopt;
  return static_cast<Space>(found - space_names.begin());
}

Preparation preparation_for(Space space, std::uint64_t footprint, std::uint64_t slots,
                            std::uint64_t l2_bytes, std::uint64_t cores) {
  // Were a cache to drop lines at random, a walk over four times its size would still find one in
  // fifty of them. Both bounds leave at most that unseen.
  constexpr std::uint64_t caches = 4;
  constexpr std::uint64_t l1_bytes = 256U << 10U;  // no SM has more to date
  constexpr std::uint64_t most_warm = 8192;        // a walk of two million cycles
  constexpr std::uint64_t few_warm = 64;
  // Enough for every sample of a case to walk on where the last one ended.
  constexpr std::uint64_t links_of_one = 1U << 17U;
  constexpr std::uint64_t links_of_each = 1U << 13U;
  constexpr std::uint64_t links_of_mapped = 1U << 18U;

  Preparation result{.links = slots, .warm_loads = few_warm, .cold = false};
  if (space == Space::mapped) {
    result.links = std::min(slots, links_of_mapped);
    return result;
  }
  if (space == Space::shared) return result;
  if (footprint <= caches * l1_bytes && slots <= most_warm && space != Space::global_cg) {
    result.warm_loads =
        static_cast<std::uint32_t>(std::max(pointer_chase::in_whole_turns(slots), few_warm));
  }
  result.cold = footprint > caches * l2_bytes;
  if (result.cold) {
    result.links = std::min(slots, cores == 1 ? links_of_one : cores * links_of_each);
  }
  return result;
}

std::string_view to_string(Space space, const Preparation& preparation) {
  if (!is_global(space) && space != Space::texture) return "as it is";
  return preparation.cold ? "evicted" : "a lap";
}

Gate level_of_chase(Space space, const LoadCounts& net, double sectors_of_miss) {
  if (!(net.sectors > 0)) return {"level", Verdict::failed, "no loads were counted"};
  const double l1 = net.l1_hit_sectors / net.sectors;
  const double missed =
      net.l2_sectors > 0 ? net.l2_miss_sectors / net.l2_sectors / sectors_of_miss : 0;
  if (missed > 1 + level_bound) {
    return level_unverified(fmt::format(
        "L2 missed {:.2f} sectors for each that was asked for: more than it fetches at once",
        missed * sectors_of_miss));
  }
  const double l2 = (1 - l1) * (1 - missed);
  const double memory = (1 - l1) * missed;
  constexpr double percent = 100;
  const std::string detail = fmt::format("L1 served {:.2f} %, L2 {:.2f} %, memory {:.2f} %",
                                         percent * l1, percent * l2, percent * memory);
  if (space == Space::global_cg && l1 > 0) {
    return {"level", Verdict::failed, detail + ": these loads pass L1 by"};
  }
  if (std::max({l1, l2, memory}) >= 1 - level_bound) return {"level", Verdict::passed, detail};
  return level_unverified("several levels served the loads: " + detail);
}

}  // namespace strata::latency_vs_footprint
