#include "micro/controls/controls.hpp"

#include "harness/case/controls.hpp"
#include "harness/model/word_patterns.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace strata::controls {
namespace {

bool belongs(Subject subject, Mistake mistake) {
  switch (mistake) {
    case Mistake::none:
      return true;
    case Mistake::near_l2_as_far:
    case Mistake::far_l2_as_near:
      return subject == Subject::l2_chain;
    case Mistake::merged_requests:
      return subject == Subject::l2_reads;
    case Mistake::warm_l2_as_dram:
    case Mistake::persisting_carve_out:
      return subject == Subject::dram_reads;
    default:
      return subject == Subject::chain;
  }
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  const Subject subject = subjects.of(params.at("subject"));
  const Mistake mistake = mistakes.of(params.at("mistake"));
  if (!belongs(subject, mistake)) return "the mistake belongs to another subject";
  if (backend == Backend::cuda) return std::nullopt;
  if (subject != Subject::chain) return "no counter distinguishes the levels of a CPU";
  if (mistake == Mistake::spilled || mistake == Mistake::clock_32) {
    return "no gate judges the code and the clock of a CPU benchmark";
  }
  return std::nullopt;
}

/// The window reads the short launch as if its core had run at half the clock.
Window across_two_clocks(const Window& window) {
  return {.name = window.name, .read = [window](const Launched& brief, const Launched& full) {
            Launched slow = brief;
            for (Stamp& stamp : slow.stamps)
              stamp.cycles[1] = stamp.cycles[0] + (stamp.cycles[1] - stamp.cycles[0]) / 2;
            return window.read(slow, full);
          }};
}

/// The sum of the cycles of single loads, which the kernel left in mark 2.
Window sum_of_single_loads() {
  return {.name = "single loads", .read = [](const Launched& brief, const Launched& full) {
            const auto cycles = [](const Launched& launched) {
              return static_cast<double>(launched.stamps.front().cycles[2]);
            };
            const double of_load =
                (cycles(full) - cycles(brief)) / (full.length.work - brief.length.work);
            return Inside{.cycles = of_load,
                          .slowest = of_load,
                          .low = of_load,
                          .high = of_load,
                          .hertz = median_hertz(full),
                          .cells = {}};
          }};
}

/// Long enough that the low half of the clock wraps around past its start.
Lengths longer_than_32_bits(const std::function<Launched(const Length&)>& run) {
  constexpr double cycles = 1.2 * 4294967296.0;
  constexpr std::uint32_t pilot = 4096 * unroll;
  const Stamp stamp = run({.rounds = pilot}).stamps.front();
  const double of_load = static_cast<double>(stamp.cycles[1] - stamp.cycles[0]) / pilot;
  constexpr std::uint32_t unit = 5 * unroll;
  return fifth_and_whole(static_cast<std::uint32_t>(cycles / of_load) / unit * unit, 1);
}

}  // namespace

Benchmark declare() {
  return {.suite = std::string{controls_suite},
          .name = "control",
          .question = "Is an experiment with a deliberate mistake caught?",
          .axes = {subjects.axis("subject", "what is measured"),
                   mistakes.axis("mistake", "the mistake"),
                   number_axis("repeat", "the same again", 1, 1000, {"1"})},
          .quantities = {{"load_cycles", "cycles of one dependent load, by each timer"},
                         {"bandwidth", "bytes read per second"},
                         {"core_clock", "clock of the core during the work"}},
          .seconds_per_case = 0.05,
          .excludes = excludes};
}

Chain chain_for(Subject subject, Mistake mistake, std::uint64_t l2_bytes) {
  if (subject == Subject::chain) return {};
  constexpr std::uint32_t line = 128;
  if (mistake != Mistake::far_l2_as_near) return {.slots = 16384, .stride = line};
  const auto slots = static_cast<std::uint32_t>(l2_bytes / 3 * 2 / line / unroll * unroll);
  return {.slots = slots % Chain{}.step == 0 ? slots - unroll : slots, .stride = line};
}

std::uint32_t first_slot(const Chain& chain, Mistake mistake, const Call& call) {
  return (mistake == Mistake::other_sample ? 1 : call.salt) % chain.slots;
}

Experiment describe_chain(const Chain& chain, Subject subject, Mistake mistake) {
  // Not a multiple of the slots, so that a walk that did not happen ends elsewhere.
  constexpr std::uint32_t loads = 409 * 5 * unroll;
  // So many that a few hundred stray sectors, as any launch causes, are less than a percent.
  constexpr std::uint32_t counted = 4 * loads;
  Experiment experiment;
  Slope& slope = experiment.slopes.emplace_back();
  slope.verify = results_are([chain](const Call& call) -> std::uint64_t {
    return chain.slot_after(first_slot(chain, Mistake::none, call), call.length.rounds);
  });
  slope.lengths = fifth_and_whole(loads, 1);
  slope.writers = 1;
  if (mistake == Mistake::two_clocks) slope.window = across_two_clocks(slope.window);
  if (mistake == Mistake::folded_dependency) slope.window = sum_of_single_loads();
  if (mistake == Mistake::clock_32) {
    slope.size = longer_than_32_bits;
    experiment.samples = 1;  // a few seconds
    experiment.not_counted = "the mistake is in the clock";
  }
  add_both(experiment, "load_cycles", "cycle");
  experiment.checked = "chain ends against the cycle";
  experiment.unproved = {.gate = "level"};
  if (mistake == Mistake::clock_32) return experiment;
  experiment.counts = CountPlan{
      .length = {.rounds = counted},
      .loads = LoadPrediction{.requests = counted, .sectors = counted},
      .served_by = subject == Subject::chain ? ServedBy::l1 : ServedBy::l2,
      .rows = LoadRows::per_load,
      .reads = double{counted},
      .memory_is_no_proof = true};  // other traffic is as large as that of a single thread
  // L2 fetches two sectors from its other half for each one requested.
  if (mistake == Mistake::near_l2_as_far) {
    constexpr double roughly = 0.5;
    experiment.counts->expected = {
        {.quantity = "l2_fabric_sectors", .predicted = 2.0 * counted, .bound = roughly}};
  }
  return experiment;
}

Reads reads_for(Subject subject, Mistake mistake, const GpuFacts& gpu) {
  // A quarter of L2, so that each half has room for all of it.
  const std::uint64_t kept = gpu.l2_bytes / 4;
  const std::uint64_t times = subject == Subject::dram_reads ? 16 : 1;
  const std::uint64_t rounds = times * kept / gpu.sms / Reads::tile;
  return {.sms = gpu.sms,
          .rounds_of_piece = static_cast<std::uint32_t>(std::max<std::uint64_t>(rounds, 2)),
          .pieces = mistake == Mistake::merged_requests ? 1 : gpu.sms,
          .kept = kept};
}

Experiment describe_reads(const Reads& reads, Subject subject, Mistake mistake) {
  constexpr std::uint32_t laps_of_l2 = 1000;  // a millisecond or two
  const std::uint32_t laps = subject == Subject::l2_reads ? laps_of_l2 : 1;
  const std::uint32_t rounds = laps * reads.rounds_of_piece;
  const auto length = [&](std::uint32_t count) {
    return Length{.rounds = count, .work = double{Reads::tile} * count};
  };
  Experiment experiment = bandwidth_of(reads.sms, "bandwidth");
  Slope& slope = experiment.slopes.emplace_back();
  slope.lengths = {.brief = length(rounds / 2), .full = length(rounds)};
  slope.verify = results_add_up_to([reads](const Call& call) {
    constexpr std::uint32_t words = Reads::tile / sizeof(std::uint32_t);
    std::uint32_t sum = 0;
    for (std::uint32_t sm = 0; sm < reads.sms; ++sm) {
      const std::uint64_t piece = std::uint64_t{sm % reads.pieces} * reads.rounds_of_piece;
      for (std::uint32_t round = 0; round < call.length.rounds; ++round)
        sum += LinearWords{}.sum((piece + round % reads.rounds_of_piece) * words, words);
    }
    return sum;
  });
  const bool evicted = subject == Subject::dram_reads && mistake != Mistake::warm_l2_as_dram;
  slope.start = evicted ? Start::evicted : Start::in_l2;
  slope.bytes = std::min(reads.bytes(), reads.kept);
  experiment.checked = "sums of all SMs";
  experiment.placement = Placement{.cores = reads.sms, .per_core = 32, .of_tag = 32};
  experiment.unproved = {.gate = "level"};
  constexpr std::uint32_t bytes_of_load = 512;
  const std::uint64_t loads = std::uint64_t{reads.sms} * rounds * (Reads::tile / bytes_of_load);
  experiment.counts =
      CountPlan{.length = slope.lengths.full,
                .loads = LoadPrediction{.requests = loads, .sectors = loads * 16},
                .served_by = subject == Subject::l2_reads ? ServedBy::l2 : ServedBy::dram,
                .reads = static_cast<double>(loads)};
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::controls
