#include "micro/latency/latency_vs_footprint.hpp"

#include "harness/case/octaves.hpp"
#include "micro/latency/pointer_chase_host.hpp"

namespace strata::latency_vs_footprint {
namespace {

constexpr std::uint64_t least_of_several = 8U << 20U;

std::uint64_t most_bytes(Space space) {
  if (space == Space::shared) return 256U << 10U;  // more than any SM has to date
  if (space == Space::constant) return most_constant;
  if (space == Space::texture) return 512U << 20U;  // 2^27 elements of 4 bytes
  if (space == Space::mapped) return most_mapped;
  return space == Space::memory ? 1024U << 20U : most_footprint;
}

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const Space space = spaces.of(params.at("space"));
  if ((space == Space::memory) != (backend == Backend::host)) {
    return "a GPU has several address spaces, a CPU has one";
  }
  if (params.at("cores") != "one" && !is_global(space)) {
    return "several cores share device memory, and read it with plain loads";
  }
  const auto footprint = number_of<std::uint64_t>(params, "footprint");
  const auto stride = number_of<std::uint64_t>(params, "stride");
  if (params.at("cores") != "one" && footprint < least_of_several) {
    return "L2 answers loads of several cores as one where they meet on so few lines";
  }
  if (footprint % stride != 0 || footprint < 2 * stride) {
    return "the footprint is not a multiple of the stride, or has fewer than two slots";
  }
  if (footprint > most_bytes(space)) return "the footprint exceeds the address space";
  // A single core takes long to write a long chain.
  constexpr std::uint64_t most_dense_host = 256U << 20U;
  if (space == Space::memory && footprint > most_dense_host && !std::has_single_bit(footprint)) {
    return "large footprints are powers of two on the host";
  }
  return std::nullopt;
}

void run(Session& session) {
  const auto footprint = number_of<std::uint64_t>(session.params(), "footprint");
  const auto stride = number_of<std::uint64_t>(session.params(), "stride");
  require_quarter_of_memory(cpu_facts(session.device().identity().facts), footprint,
                            "a chain of this size");
  // Small chains share a small buffer, so that a few of them do not take a gibibyte.
  constexpr std::uint64_t small_room = 16U << 20U;
  const std::uint64_t bytes = footprint <= small_room ? small_room : std::bit_ceil(footprint);
  constexpr std::align_val_t page{4096};
  const auto& room = session.cache().keep<pointer_chase::HostMemory>(
      "latency_vs_footprint/" + std::to_string(bytes),
      [&] { return pointer_chase::host_memory(bytes, page); });
  const PermutedChain chain{.cycle = {footprint / stride, /*seed=*/2009},
                            .base = std::bit_cast<std::uintptr_t>(room.get()),
                            .stride = stride};
  const auto address_at = [&](std::uint64_t step) { return chain.address_at(step); };
  pointer_chase::write_links(chain.cycle.slots(), address_at);
  HostMachine machine;
  pointer_chase::measure_chain(session, machine, chain.cycle.slots(), address_at, {.pilot = 4096});
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "latency_vs_footprint",
      .question =
          "How long does a dependent load take as its footprint grows from L1 to all of memory?",
      .axes = {spaces.axis("space", "address space and caches through which the chain is loaded"),
               listed_axis("cores", "one SM or all SMs, each with one load in flight",
                           {"one", "several"}, {"one"}),
               listed_axis("stride", "bytes from slot to slot",
                           {"32", "64", "128", "256", "512", "1024", "2048", "4096"}, {"128"}),
               number_axis("footprint", "footprint of the chain in bytes", least_footprint,
                           most_footprint,
                           texts_of(octaves(least_footprint, most_footprint, /*per_octave=*/8,
                                            /*multiple=*/128)))},
      .data_axes = 1,
      .quantities = {{"load_cycles", "cycles of one dependent load; median over SMs"},
                     {"load_time", "the same in seconds"},
                     {"load_cycles_nearest", "cycles on the fastest SM"},
                     {"load_cycles_farthest", "cycles on the slowest SM"},
                     {"core_clock", "clock of the core during the reads"},
                     {"footprint_over_l2", "footprint ÷ L2 size that the driver reports"},
                     {"footprint_over_shared_memory",
                      "footprint ÷ shared memory per SM that the driver reports"},
                     {"walked_before",
                      "1: the chain was read completely before; 0: all of it was evicted"},
                     {"l1_hit_share", "share of L1 sector lookups that hit"},
                     {"l2_hit_share", "share of L2 sector lookups that hit in the half asked"},
                     {"l2_missed_sectors_per_load",
                      "share of sectors that missed in the half asked and were fetched"},
                     {"dram_share", "bytes read from memory ÷ bytes that L2 would fetch for all"},
                     {"dram_far_share", "share fetched from memory behind the other half of L2"}},
      .seconds_per_case = 0.015,
      .excludes = excluded};
}

Preparation preparation_for(Space space, std::uint64_t footprint, std::uint64_t slots,
                            std::uint64_t l2_bytes, std::uint64_t cores) {
  // A cache with random replacement keeps one in fifty lines of a walk over four times its size.
  constexpr std::uint64_t caches = 4;
  constexpr std::uint64_t l1_bytes = 256U << 10U;  // no SM has more to date
  constexpr std::uint64_t most_warm = 8192;        // a walk of two million cycles
  constexpr std::uint32_t few_warm = 64;
  // Enough that every sample of a case can continue where the last one ended.
  constexpr std::uint64_t links_of_one = 1U << 17U;
  constexpr std::uint64_t links_of_each = 1U << 13U;
  constexpr std::uint64_t links_of_mapped = 1U << 18U;

  Preparation result{.links = slots, .warm_loads = few_warm, .cold = false};
  if (space == Space::mapped) result.links = std::min(slots, links_of_mapped);
  if (space == Space::mapped || space == Space::shared) return result;
  if (footprint <= caches * l1_bytes && slots <= most_warm && space != Space::global_cg) {
    result.warm_loads = std::max(pointer_chase::in_whole_turns(slots), few_warm);
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

Setup setup_for(Space space, bool several, std::uint64_t stride, std::uint64_t footprint,
                const GpuFacts& gpu) {
  const std::uint64_t slots = footprint / stride;
  const unsigned cores = several ? gpu.sms : 1;
  return {.space = space,
          .footprint = footprint,
          .chain = {.cycle = PermutedCycle{slots, /*seed=*/2009}, .base = 0, .stride = stride},
          .cores = cores,
          .preparation = preparation_for(space, footprint, slots, gpu.l2_bytes, cores)};
}

pointer_chase::Chase chase_of(const Setup& setup) {
  const std::uint64_t unit = setup.space == Space::texture ? sizeof(std::uint32_t) : 1;
  return {.word_at =
              [&setup, unit](std::uint64_t step) {
                // For a texture, the index of an element.
                return setup.chain.address_at(step) / unit;
              },
          .walks = {setup.chain.cycle.slots(), setup.preparation.links, setup.cores},
          .walkers = setup.cores,
          .warm = setup.preparation.warm_loads};
}

Experiment describe(pointer_chase::Chase& chase, const Setup& setup, const GpuFacts& gpu) {
  // Loads from memory vary more, so twice as many are timed.
  Experiment experiment =
      pointer_chase::describe(chase, {.cycles = setup.preparation.cold ? 1e6 : 5e5});
  const Space space = setup.space;
  if (is_global(space) || space == Space::texture) {
    constexpr auto modelled = Provenance::modelled;
    const auto over = [&](std::uint64_t bytes) {
      return static_cast<double>(setup.footprint) / static_cast<double>(bytes);
    };
    experiment.constants = {
        {"footprint_over_l2", "1", modelled, "driver", over(gpu.l2_bytes)},
        {"footprint_over_shared_memory", "1", modelled, "driver", over(gpu.shared_per_sm)},
        {"walked_before", "1", modelled, "preparation", setup.preparation.cold ? 0.0 : 1.0}};
  }
  experiment.partly_host_time = space == Space::mapped;
  if (setup.cores > 1) experiment.placement = Placement{.cores = setup.cores};
  experiment.unproved.gate = "level";
  if (is_global(space)) {
    const std::uint64_t fetched =
        std::max<std::uint64_t>(1, gpu.l2_fetch_granularity.value_or(0) / sector_bytes);
    // With so many loads, bytes that others read from memory meanwhile carry little weight.
    constexpr std::uint32_t loads_in_all = 1U << 13U;
    const std::uint32_t loads = std::max(loads_in_all / setup.cores, 1U << 11U);
    experiment.counts = pointer_chase::counts_of(chase, loads, fetched);
    experiment.counts->any_level = true;
    experiment.counts->past_l1 = space == Space::global_cg;
  } else {
    experiment.not_counted = "the memory set has no counter for such loads";
    experiment.unproved.why = "no counter distinguishes the levels of such loads";
  }
  experiment.facts = [&setup, base = experiment.facts](const Experiment& done) {
    Facts facts = base(done);
    facts["links"] = static_cast<std::int64_t>(setup.preparation.links);
    facts["starts_from"] = std::string{to_string(setup.space, setup.preparation)};
    return facts;
  };
  return experiment;
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace strata::latency_vs_footprint
