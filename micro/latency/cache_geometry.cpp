// On the host, a step of the search counts with the fastest of several laps: disturbances only slow
// a core down, and where the chain does not fit no lap is fast. Pages are as large as the system
// allows, so that neighbouring lines stay neighbours in a cache indexed by physical addresses.
#include "micro/latency/cache_geometry.hpp"

#include "harness/base/error.hpp"
#include "harness/case/octaves.hpp"
#include "harness/record/statistics.hpp"
#include "micro/latency/pointer_chase_host.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cmath>
#include <limits>
#include <utility>

namespace strata::cache_geometry {
namespace {

constexpr double coarse_share = 0.01;  // share of the whole rise at which the coarse change begins
constexpr double least_rise = 0.05;    // share of the hit latency: less is not another level
constexpr std::size_t window_first = 6;  // positions of a window before the change
constexpr unsigned few_repetitions = 3;  // for all windows but the last

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const auto property = properties.of(params.at("property"));
  const std::string& carveout = params.at("carveout");
  if (carveout != "0" && (property != Property::l1_size || backend == Backend::host)) {
    return "only a GPU's L1 shares its memory with shared memory";
  }
  if (backend == Backend::host && property != Property::l1_size && property != Property::l1_line &&
      property != Property::l2_size) {
    return "a CPU does not have this cache, or prefetchers hide it";
  }
  return std::nullopt;
}

using Scan = std::vector<ScanPoint>;

/// cycles(x, repetition) at each x: one pass over all x for each repetition, so that drift does not
/// run along the scan.
template <class Cycles>
Scan scanned(std::span<const std::uint64_t> places, unsigned repetitions, Cycles&& cycles) {
  Scan scan;
  for (const auto x : places)
    scan.push_back({.x = static_cast<double>(x), .samples = {}});
  for (unsigned r = 0; r < repetitions; ++r) {
    for (std::size_t i = 0; i < places.size(); ++i)
      scan[i].samples.push_back(cycles(places[i], r));
  }
  return scan;
}

std::uint64_t bytes_at(const Scan& scan, std::size_t i) {
  return static_cast<std::uint64_t>(scan[std::min(i, scan.size() - 1)].x);
}
/// The last position before a change.
std::uint64_t bytes_before(const Scan& scan, std::size_t before) {
  return bytes_at(scan, before == 0 ? 0 : before - 1);
}

std::vector<double> medians_of(std::span<const ScanPoint> scan) {
  std::vector<double> medians(scan.size());
  std::ranges::transform(scan, medians.begin(),
                         [](const auto& one) { return median(one.samples); });
  return medians;
}

[[noreturn]] void not_found(const ChangePoint& change, const std::string& where) {
  throw Skipped{fmt::format("{} {}", describe(change), where)};
}

/// The result is the position `bytes_of` the change, of all repetitions together and of each.
void estimate(Found& found, const ChangeRule& rule,
              std::uint64_t (*bytes_of)(const Scan& scan, std::size_t before)) {
  found.bytes = bytes_of(found.window, found.change.before);
  found.estimates.clear();
  for (const auto before : rise_of_each_repetition(found.window, rule))
    found.estimates.push_back(static_cast<double>(bytes_of(found.window, before)));
}

/// The change from `hit` to `miss`. The rule's least shift is a share of the difference. Throws
/// Skipped if there is none.
Found found_in(Scan window, double hit, double miss, ChangeRule rule, const std::string& where,
               const char* unit = "cycles per load") {
  Found found{.hit = hit, .miss = miss, .window = std::move(window)};
  rule.least_shift *= miss - hit;
  found.change = find_rise(found.window, rule);
  if (!(miss - hit > least_rise * hit)) found.change.outcome = ChangeOutcome::none;
  if (!found.change.is_found()) {
    not_found(found.change, fmt::format("{}: {:.1f} to {:.1f} {}", where, hit, miss, unit));
  }
  estimate(found, rule, bytes_at);
  found.walks = static_cast<unsigned>(found.window.size() * found.window[0].samples.size());
  return found;
}

void report(Session& session, Property property, const Found& found,
            const std::optional<Reported>& reference) {
  constexpr auto modelled = Provenance::modelled;
  const auto add = [&](const char* quantity, Provenance provenance, const char* method,
                       std::uint64_t bytes) {
    session.add({quantity, "B", provenance, method, {static_cast<double>(bytes)}});
  };
  session.add({std::string{quantity_of(property)}, "B", Provenance::timed, "change_point",
               found.estimates});
  add("interval_low", modelled, "bootstrap", found.least);
  add("interval_high", modelled, "bootstrap", found.most);
  session.add({"confidence", "1", modelled, "rank_scan_permutation", {found.change.confidence}});
  if (reference) add("reported", Provenance::reported, reference->by, reference->bytes);
  session.fact("cycles_below", found.hit);
  session.fact("cycles_above", found.miss);
  session.fact("least_shift_cycles", found.change.least_shift);
  session.fact("positions_against", static_cast<std::int64_t>(found.change.against));
  session.fact("walks", static_cast<std::int64_t>(found.walks));
  std::string window;
  for (const auto& point : found.window)
    window += fmt::format("{:.0f}:{:.6g} ", point.x, median(point.samples));
  session.fact("scan", window);
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "cache_geometry",
      .question =
          "How large is each cache, how long are its lines, and how much does a miss fetch?",
      .axes = {properties.axis("property", "property that is searched for"),
               listed_axis("carveout", "KiB of L1's memory set aside as shared memory",
                           {"0", "8", "16", "32", "64", "96", "100", "132", "164", "196", "228"})},
      .quantities = {{"size", "largest footprint whose loads all hit, from one core"},
                     {"line", "largest stride that touches every line"},
                     {"sector", "bytes that a miss fetches"},
                     {"interval_low", "lower end of the 95 % interval"},
                     {"interval_high", "upper end; for a size, one that no longer fits"},
                     {"confidence", "1 − p of a change existing at all"},
                     {"reported", "value from the driver, the manual or the system"},
                     {"load_cycles", "cycles of a load that hits, by each timer"},
                     {"load_time", "the same in seconds"},
                     {"core_clock", "clock of the core during the reads"}},
      .seconds_per_case = 0.15,
      .excludes = excluded};
}

std::optional<Carveouts> carveouts_of(std::string_view compute_capability) {
  // CUDA C++ Programming Guide 13.0, section "Compute Capabilities".
  static const std::vector<std::pair<std::vector<std::string_view>, Carveouts>> table{
      {{"7.0", "7.2"}, {.unified_kib = 128, .shared_kib = {0, 8, 16, 32, 64, 96}}},
      {{"7.5"}, {.unified_kib = 96, .shared_kib = {32, 64}}},
      {{"8.0", "8.7"}, {.unified_kib = 192, .shared_kib = {0, 8, 16, 32, 64, 100, 132, 164}}},
      {{"8.6", "8.9", "12.0", "12.1"}, {.unified_kib = 128, .shared_kib = {0, 8, 16, 32, 64, 100}}},
      {{"9.0", "10.0", "10.3"},
       {.unified_kib = 256, .shared_kib = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}}}};
  for (const auto& [capabilities, carveouts] : table) {
    if (std::ranges::find(capabilities, compute_capability) != capabilities.end()) return carveouts;
  }
  return std::nullopt;
}

Found find_size(const Search& search, const LoadCycles& cycles, unsigned repetitions) {
  constexpr std::uint64_t pieces = 12;  // of the bracket, for the step of the next, narrower window
  constexpr std::uint64_t below = 9;    // steps before the bracket
  constexpr std::uint64_t above = 7;    // steps after it
  constexpr int most_moves = 5;         // of a window, if the change is outside it
  constexpr unsigned per_octave = 4;    // of the search for the first bracket
  constexpr std::size_t first = 4;      // positions of that search, which hit
  const auto scanned_at = [&](const std::vector<std::uint64_t>& footprints, unsigned times) {
    return scanned(footprints, times, [&](std::uint64_t bytes, unsigned r) {
      return cycles(bytes, search.stride, r);
    });
  };
  const auto coarse = octaves(search.least, search.most, per_octave, search.granule);
  if (coarse.size() < 2 * first) throw Skipped{"too few footprints between the limits"};
  Scan scan = scanned_at(coarse, 1);
  const auto medians = medians_of(scan);
  // The last window needs high confidence, this one less.
  Found found = found_in(std::move(scan), median(std::span{medians}.first(first)),
                         median(std::span{medians}.last(3)),
                         {.baseline = first,
                          .least_shift = std::max(coarse_share, search.least_share),
                          .confidence = 0.9},
                         fmt::format("between {} and {} bytes", coarse.front(), coarse.back()));
  const double rise = found.miss - found.hit;
  std::uint64_t fits = bytes_before(found.window, found.change.before);
  std::uint64_t fails = bytes_at(found.window, found.change.before);
  const std::uint64_t shortest = std::max(search.granule, 2 * search.stride);  // two slots
  for (int moves = 0;;) {
    const std::uint64_t granules = ((fails - fits) / pieces + search.granule - 1) / search.granule;
    const std::uint64_t step = std::max(granules, std::uint64_t{1}) * search.granule;
    const bool last = step == search.granule;
    std::vector<std::uint64_t> footprints;
    for (auto bytes = fits > below * step + shortest ? fits - below * step : shortest;
         bytes <= std::min(fails + above * step, search.most); bytes += step)
      footprints.push_back(bytes);
    if (footprints.size() < 2 * window_first) {
      throw Skipped{
          fmt::format("a change at the end of the examined range, {} bytes", search.most)};
    }
    // The minimum cost per lap of a line that does not fit. Half of it is distinguishable from 0.
    const double of_a_line =
        rise * static_cast<double>(search.stride) / static_cast<double>(fails) / 2;
    const double least = search.whole_laps ? of_a_line : coarse_share * rise;
    const ChangeRule rule{.baseline = window_first,
                          .least_shift = std::max(least, search.least_share * rise)};
    const unsigned times = last ? repetitions : std::min(repetitions, few_repetitions);
    found.window = scanned_at(footprints, times);
    found.walks += times * static_cast<unsigned>(footprints.size());
    found.change = find_rise(found.window, rule);
    const auto outcome = found.change.outcome;
    if (outcome == ChangeOutcome::unclear ||
        (outcome != ChangeOutcome::found && ++moves > most_moves)) {
      not_found(found.change,
                fmt::format("between {} and {} bytes", footprints.front(), footprints.back()));
    }
    if (outcome == ChangeOutcome::none) {
      // The change is further up. Each move is larger than the last.
      const std::uint64_t by = (above * step) << static_cast<unsigned>(moves - 1);
      fits += by;
      fails += by;
      continue;
    }
    fits = bytes_before(found.window, found.change.before);
    fails = bytes_at(found.window, found.change.before);
    if (outcome != ChangeOutcome::found || !last) continue;
    found.hit = found.change.level;
    found.least = bytes_before(found.window, found.change.low);
    found.most = bytes_at(found.window, found.change.high);
    estimate(found, rule, bytes_before);
    return found;
  }
}

std::vector<std::uint64_t> strides_of(std::uint64_t least, std::uint64_t most, std::uint64_t step,
                                      std::uint64_t alias) {
  std::vector<std::uint64_t> strides;
  for (std::uint64_t stride = least; stride <= most; stride += step) {
    if (stride % alias != 0) strides.push_back(stride);
  }
  return strides;
}

Found find_line(std::uint64_t footprint, std::span<const std::uint64_t> strides,
                const LoadCycles& cycles, unsigned repetitions) {
  // From the longest stride down, so that the scan rises: strides that leave out lines come first.
  const std::vector<std::uint64_t> longest_first{strides.rbegin(), strides.rend()};
  Scan scan = scanned(longest_first, repetitions, [&](std::uint64_t stride, unsigned r) {
    return cycles(footprint / stride * stride, stride, r);
  });
  const auto medians = medians_of(scan);
  // With strides far below a line most loads hit a line that an earlier neighbour fetched.
  constexpr double share = 0.05;
  Found found = found_in(
      std::move(scan), median(std::span{medians}.first(std::min(window_first, medians.size()))),
      *std::ranges::max_element(medians), {.baseline = window_first, .least_shift = share},
      fmt::format("between strides of {} and {} bytes", strides.front(), strides.back()));
  found.least = bytes_at(found.window, found.change.high);
  found.most = bytes_before(found.window, found.change.low);
  return found;
}

void require_power_of_two(Property property, const Found& found) {
  const double bytes = median(found.estimates);
  int exponent = 0;
  if (std::frexp(bytes, &exponent) == 0.5) return;
  throw Skipped{fmt::format("a {} of {:g} bytes is no power of two", quantity_of(property), bytes)};
}

std::uint32_t sum_of_trials(const Neighbours& plan) {
  std::uint32_t sum = 0;
  for (std::uint32_t t = 0; t < plan.places(); ++t) {
    sum = joined(sum, neighbour_words.word(plan.first_of(t) / sizeof(sum)),
                 neighbour_words.word(plan.second_of(t) / sizeof(sum)));
  }
  return sum;
}

std::vector<ScanPoint> scan_of(const Neighbours& first,
                               const std::vector<std::vector<double>>& cycles) {
  std::vector<ScanPoint> scan;
  for (std::uint32_t d = 0; d < first.distances; ++d)
    scan.push_back({.x = static_cast<double>(d) * first.step, .samples = {}});
  Neighbours turn = first;
  for (const auto& launch : cycles) {
    std::vector<std::vector<double>> at(first.distances);
    for (std::uint32_t t = 0; t < first.places(); ++t)
      at[turn.distance_of(t) / first.step].push_back(launch.at(t));
    for (std::uint32_t d = 0; d < first.distances; ++d)
      scan[d].samples.push_back(median(at[d]));
    ++turn.turn;
  }
  return scan;
}

Found find_sector(std::vector<ScanPoint> scan) {
  const auto medians = medians_of(scan);
  const auto where = fmt::format("up to {:.0f} bytes on", scan.back().x);
  // A single load hits or misses, with nothing in between. The first words hit.
  constexpr double share = 0.25;
  Found found = found_in(std::move(scan), medians.front(),
                         median(std::span{medians}.last(medians.size() / 4)),
                         {.baseline = 3, .least_shift = share}, where, "cycles");
  found.least = bytes_at(found.window, found.change.low);
  found.most = bytes_at(found.window, found.change.high);
  return found;
}

std::optional<Reported> reported(Property property, unsigned carveout_kib, const GpuFacts& gpu) {
  constexpr const char* guide = "cuda_programming_guide";
  if (property == Property::l1_line) return Reported{.bytes = 128, .by = guide};
  if (property == Property::l1_sector) return Reported{.bytes = 32, .by = guide};
  if (property == Property::l2_size) {
    return Reported{.bytes = gpu.l2_bytes, .by = "cudaDevAttrL2CacheSize"};
  }
  if (property == Property::l2_sector && gpu.l2_fetch_granularity) {
    return Reported{.bytes = *gpu.l2_fetch_granularity, .by = "cudaLimitMaxL2FetchGranularity"};
  }
  const auto carveouts = carveouts_of(gpu.compute_capability);
  if (property != Property::l1_size || !carveouts) return std::nullopt;
  // If no carve-out is that small, the smallest one.
  const auto shared = std::max(carveout_kib, carveouts->shared_kib.front());
  return Reported{.bytes = (carveouts->unified_kib - shared) * kibi, .by = guide};
}

std::optional<Reported> reported(Property property, const CpuFacts& cpu) {
  const auto bytes = property == Property::l1_size   ? cpu.l1_bytes
                     : property == Property::l1_line ? cpu.line_bytes
                                                     : cpu.l2_bytes;
  if (!bytes) return std::nullopt;
  return Reported{.bytes = *bytes, .by = "operating_system"};
}

std::uint64_t search(Session& session, Property property, const Search& where,
                     const LineSearch& lines, const std::optional<Reported>& reference,
                     const LoadCycles& cycles) {
  const auto repetitions = static_cast<unsigned>(session.plan().min_samples);
  const bool is_line = quantity_of(property) == "line";
  const Found size = find_size(where, cycles, is_line ? few_repetitions : repetitions);
  if (is_line) {
    const auto strides = strides_of(lines.least, lines.most, lines.step, 2 * where.stride);
    Found found =
        find_line(footprint_beyond(size.bytes, lines.parts), strides, cycles, repetitions);
    found.walks += size.walks;
    require_power_of_two(property, found);
    report(session, property, found, reference);
    session.fact("size_bytes", static_cast<std::int64_t>(size.bytes));
  } else {
    report(session, property, size, reference);
  }
  return std::max(size.bytes / 2 / where.stride, std::uint64_t{2}) * where.stride;
}

void Chains::lay(std::uint64_t footprint, std::uint64_t stride, unsigned repetition,
                 std::uint32_t warm) {
  const std::uint64_t slots = footprint / stride;
  chain.cycle = PermutedCycle{slots, /*seed=*/2009U + repetition};
  chain.stride = stride;
  chase.walks = CycleWalks{slots, slots, 1};
  chase.warm = warm;
  write(chain);
}

double Chains::cycles_of(std::uint32_t loads) {
  const Launched seen =
      launch_once(machine_, experiment.slopes[0], {.length = {.rounds = loads}}, experiment.tally);
  const Stamp& stamp = seen.stamps.front();
  return static_cast<double>(stamp.cycles[1] - stamp.cycles[0]) / loads;
}

Experiment describe_trials(Property property, const Neighbours& plan, int launches,
                           const std::optional<Reported>& reference) {
  Experiment experiment;
  experiment.samples = launches;
  experiment.core_hertz = number_at(plan.places());
  experiment.checked = "sums of the loaded values";
  experiment.conclude = [=](Session& session, const std::vector<Sample>& samples) {
    std::vector<std::vector<double>> cycles;
    cycles.reserve(samples.size());
    for (const Sample& one : samples)
      cycles.push_back(one.numbers);
    Found found = find_sector(scan_of(plan, cycles));
    found.walks = static_cast<unsigned>(samples.size());
    require_power_of_two(property, found);
    report(session, property, found, reference);
  };
  return experiment;
}

// --- the host

namespace {

using pointer_chase::HostSlot;

constexpr std::uint64_t line_bytes = 64;

/// The range that is searched for the size of a cache: from well inside it, and beyond the cache
/// before it.
Search search_for(Property property, const CpuFacts& cpu) {
  if (property != Property::l2_size) {
    // The walk's own stack and the timer's page occupy a way of a few sets.
    constexpr double share_of_l1 = 0.02;
    return {.least = 8 * kibi,
            .most = 512 * kibi,
            .granule = line_bytes,
            .stride = line_bytes,
            .least_share = share_of_l1};
  }
  const std::uint64_t expected = cpu.l2_bytes.value_or(kibi * kibi);
  constexpr std::uint64_t most_expected = 4 * kibi * kibi;
  if (expected > most_expected) throw Skipped{"writing chains of that size takes too long"};
  // Beyond the reach of the first-level TLB a load costs a few cycles more; that is not a miss.
  constexpr double share_of_l2 = 0.05;
  // Other cores' data and the placement of pages blur the edge of an L2, so the precision is less
  // than a line.
  return {.least = std::max(expected / 16, 2 * cpu.l1_bytes.value_or(0)),
          .most = 3 * expected,
          .granule = std::max(expected / 32 / line_bytes, std::uint64_t{1}) * line_bytes,
          .stride = line_bytes,
          .whole_laps = false,
          .least_share = share_of_l2};
}

void run(Session& session) {
  const Property property = properties.of(session.param("property"));
  const CpuFacts cpu = cpu_facts(session.device().identity().facts);
  const Search where = search_for(property, cpu);
  const std::uint64_t bytes = 2 * where.most;  // a window may reach beyond the limit
  const auto memory = pointer_chase::host_memory(bytes, std::align_val_t{2 * kibi * kibi});
  // Optional: without huge pages the sizes beyond L1 are less sharp, but no less true.
  (void)madvise(memory.get(), bytes, MADV_HUGEPAGE);
  std::fill_n(memory.get(), bytes, std::byte{0xA5});
  HostMachine machine;
  Chains chains{machine, std::bit_cast<std::uintptr_t>(memory.get())};
  chains.experiment = pointer_chase::describe_on(machine, chains.chase, {.pilot = 4096});
  chains.experiment.unproved = {};
  chains.experiment.facts = nullptr;
  chains.write = [](const PermutedChain& chain) {
    pointer_chase::write_links(chain.cycle.slots(),
                               [&](std::uint64_t step) { return chain.address_at(step); });
  };
  // All laps in one launch: between two launches the harness itself uses L1.
  Slope walks = chains.experiment.slopes[0];
  std::uint32_t lap = 0;  // loads
  std::uint32_t laps = 0;
  walks.launch = machine.on_every_core([&](std::size_t /*rank*/, const Call&, Stamp& stamp) {
    const auto* at = std::bit_cast<const HostSlot*>(chains.chase.begin);
    at = pointer_chase::follow(at, chains.chase.warm);
    stamp.cycles[2] = tsc_now();
    for (std::uint32_t i = 0; i < laps; ++i) {
      at = pointer_chase::follow(at, lap);
      stamp.cycles[3 + i] = tsc_now();
    }
    return std::bit_cast<std::uint64_t>(at);
  });
  const auto fastest_lap = [&](std::uint64_t footprint, std::uint64_t stride, unsigned repetition) {
    constexpr std::uint64_t least_loads = 4096;      // far above the cost of reading the clock
    constexpr std::uint64_t most_loads = 1U << 14U;  // for a long chain a part of it is enough
    const std::uint64_t slots = footprint / stride;
    lap = pointer_chase::in_whole_turns(std::clamp(slots, least_loads, most_loads));
    // Writing a long chain leaves the caches as a lap does. A short one is walked once first.
    const bool is_long = slots > most_loads;
    laps = is_long ? 3 : 5;
    chains.lay(footprint, stride, repetition, /*warm=*/is_long ? 0 : lap);
    const Launched seen =
        launch_once(machine, walks, {.length = {.rounds = laps * lap}}, chains.experiment.tally);
    const auto& marks = seen.stamps.front().cycles;
    std::uint64_t fastest = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t i = 0; i < laps; ++i)
      fastest = std::min(fastest, marks[3 + i] - marks[2 + i]);
    return static_cast<double>(fastest) / lap;
  };
  const std::uint64_t fits =
      search(session, property, where, {.least = 16, .most = 248, .step = 8, .parts = 16},
             reported(property, cpu), fastest_lap);
  chains.lay(fits, line_bytes, 0, /*warm=*/0);
  measure(session, machine, chains.experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::cache_geometry
