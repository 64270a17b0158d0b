#include "harness/base/error.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/measure/engine.hpp"
#include "micro/latency/cache_geometry.cuh"

namespace strata::cache_geometry {
namespace {

using pointer_chase::ChainMemory;

constexpr std::uint64_t line = 128;  // one slot per line, as on chips to date; l1_line verifies it
constexpr std::uint64_t l2s = 4;     // the longest walk: far beyond any knee

/// Splits the SM's memory for the walks through L1. Returns the shared memory of their launches.
std::uint64_t split_l1(const GpuFacts& gpu, unsigned carveout_kib) {
  const auto carveouts = carveouts_of(gpu.compute_capability);
  if (carveout_kib != 0 && (!carveouts || std::ranges::find(carveouts->shared_kib, carveout_kib) ==
                                              carveouts->shared_kib.end())) {
    throw Skipped{"compute capability " + gpu.compute_capability + " has no carve-out of " +
                  std::to_string(carveout_kib) + " KiB that is published"};
  }
  const auto bytes = bytes_that_force(carveout_kib, gpu.shared_per_block);
  const auto* const kernel = reinterpret_cast<const void*>(follow<Level::l1>);
  allow_shared_bytes(kernel, bytes);
  prefer_carveout(kernel,
                  carveout_percent(carveout_kib, static_cast<unsigned>(gpu.shared_per_sm / kibi)));
  return bytes;
}

/// What all kinds of case need.
struct Run {
  Session& session;
  Property property;
  GpuFacts gpu;
  unsigned carveout_kib;
  std::optional<Reported> said = reported(property, carveout_kib, gpu);
  CudaMachine machine{session, /*writers=*/1};
  cudaStream_t stream = machine.stream().get();

  /// A window may reach a little beyond the largest footprint of the search.
  [[nodiscard]] const ChainMemory& memory() const {
    const std::uint64_t bytes = std::max((l2s + 1) * gpu.l2_bytes, std::uint64_t{16} << 20U);
    return pointer_chase::memory_for(session, "cache_geometry", bytes, bytes, bytes);
  }
  void write_table(const std::vector<std::uint32_t>& words) const {
    cuda_check(cudaMemcpyToSymbol(table, words.data(), words.size() * sizeof(std::uint32_t)));
    cuda_check(cudaDeviceSynchronize());
  }
};

/// Searches, then times. `laps` are walked before the clock is read; 0 if a sample of the lines is
/// enough.
void search_and_time(Run& run, Chains& chains, const Search& where, const LineSearch& lines,
                     const void* kernel, std::uint32_t laps) {
  constexpr std::uint32_t few_warm = 64;
  constexpr std::uint32_t sample = 2048;
  constexpr std::uint32_t least_loads = 256;  // far above the cost of reading the clock
  const auto lay = [&](std::uint64_t footprint, std::uint64_t stride, unsigned repetition) {
    const std::uint32_t lap = pointer_chase::in_whole_turns(footprint / stride);
    chains.lay(footprint, stride, repetition, laps == 0 ? few_warm : laps * lap);
    return laps == 0 ? sample : std::max(lap, least_loads);
  };
  const std::uint64_t fits =
      search(run.session, run.property, where, lines, run.said,
             [&](std::uint64_t footprint, std::uint64_t stride, unsigned repetition) {
               return chains.cycles_of(lay(footprint, stride, repetition));
             });
  (void)lay(fits, where.stride, 0);
  chains.experiment.kernels = {kernel};
  measure(run.session, run.machine, chains.experiment);
}

void measure_global(Run& run, Level level) {
  const ChainMemory& memory = run.memory();
  const bool is_l1 = level == Level::l1;
  const std::uint64_t shared = is_l1 ? split_l1(run.gpu, run.carveout_kib) : 0;
  Chains chains{run.machine, memory.address()};
  chains.write = [&](const PermutedChain& chain) {
    const std::uint64_t slots = chain.cycle.slots();
    if (slots * chain.stride > memory.size()) throw Skipped{"the search went out of bounds"};
    pointer_chase::write_links(chain, slots, run.stream);
    if (is_l1) return;  // far smaller than L2, which holds it now
    run_untimed(run.machine, Start::evicted,
                [&] { pointer_chase::visit_slots(memory, chain, run.stream); });
  };
  const auto kernel = is_l1 ? follow<Level::l1> : follow<Level::l2>;
  chains.experiment.slopes[0].launch = [&](const Call& call) {
    kernel<<<1, walk_threads, shared, run.stream>>>(
        chains.chain, is_l1 ? chains.chain.cycle.slots() : 0, chains.chase.first, chains.chase.warm,
        call.length.rounds, run.machine.device_stamps(), memory.sink.data());
  };
  const std::uint64_t l2 = run.gpu.l2_bytes;
  Search where{.least = 4 * kibi, .most = 512 * kibi, .granule = line, .stride = line};
  if (!is_l1) {
    where = {.least = std::max(l2 / 64 / line, std::uint64_t{8}) * line,
             .most = l2s * l2,
             .granule = std::max(l2 / 128 / line, std::uint64_t{1}) * line,
             .stride = line,
             .whole_laps = false};
  }
  // The first stride beyond a line of 128 bytes leaves out a ninth (L1) or a fifth (L2) of the
  // lines.
  const LineSearch lines{
      .least = 32, .most = 480, .step = is_l1 ? 16U : 32U, .parts = is_l1 ? 16U : 8U};
  search_and_time(run, chains, where, lines, reinterpret_cast<const void*>(kernel), is_l1 ? 1 : 0);
}

void measure_constant(Run& run) {
  Chains chains{run.machine, /*base=*/0};
  chains.write = [&](const PermutedChain& chain) {
    run.write_table(
        pointer_chase::words_of(chain, chain.cycle.slots() * chain.stride / sizeof(std::uint32_t)));
  };
  chains.experiment.slopes[0].launch = [&](const Call& call) {
    follow_constant<<<1, 1, 0, run.stream>>>(static_cast<std::uint32_t>(chains.chase.begin),
                                             chains.chase.warm, call.length.rounds,
                                             run.machine.device_stamps());
  };
  const bool is_first = run.property == Property::constant_l1_size;
  const Search where{.least = is_first ? 256U : 4 * kibi,
                     .most = is_first ? 16 * kibi : constant_bytes,
                     .granule = constant_line,
                     .stride = constant_line};
  search_and_time(run, chains, where, {}, reinterpret_cast<const void*>(follow_constant), 2);
}

/// Launches of trials with `launch(turn, cycles)`, each from `start`.
template <class Launch>
void measure_trials(Run& run, const Neighbours& plan, Start start, const void* kernel,
                    Launch&& launch) {
  const auto& cycles = run.machine.output<std::uint64_t>(plan.places());
  Neighbours turn = plan;
  const Slope trials{.launch = [&](const Call&) { launch(turn, cycles.data()); },
                     .verify = results_are([&](const Call&) { return sum_of_trials(turn); }),
                     .start = start};
  Experiment experiment =
      describe_trials(run.property, plan, run.session.plan().min_samples, run.said);
  // The first launch fetches code and translations, and is discarded.
  (void)launch_once(run.machine, trials, {}, experiment.tally);
  experiment.observe = [&] {
    const Launched seen = launch_once(run.machine, trials, {}, experiment.tally);
    ++turn.turn;
    std::vector<double> numbers{cycles.landed().begin(), cycles.landed().end()};
    numbers.push_back(median_hertz(seen));
    return numbers;
  };
  experiment.kernels = {kernel};
  measure(run.session, run.machine, experiment);
}

void measure_neighbours(Run& run, Level level) {
  const ChainMemory& memory = run.memory();
  const bool is_l1 = level == Level::l1;
  // A place begins a page: no distance leaves it, and no two places are adjacent.
  constexpr std::uint32_t page = 4096;
  const Neighbours plan{.distances = 64, .step = is_l1 ? 4U : 8U, .trials = 16, .spacing = page};
  char* const base = reinterpret_cast<char*>((memory.address() + page - 1) / page * page);
  fill(reinterpret_cast<std::uint32_t*>(base), plan.bytes() / sizeof(std::uint32_t),
       neighbour_words, run.stream);
  const auto kernel = is_l1 ? probe<Level::l1> : probe<Level::l2>;
  measure_trials(run, plan, is_l1 ? Start::as_left : Start::evicted,
                 reinterpret_cast<const void*>(kernel),
                 [&](const Neighbours& turn, std::uint64_t* cycles) {
                   kernel<<<1, 1, 0, run.stream>>>(base, turn, cycles, run.machine.device_stamps());
                 });
}

void measure_constant_neighbours(Run& run) {
  // The lower half of the table, one trial of each distance; the upper half displaces.
  const Neighbours plan{.distances = 64, .step = 4, .trials = 1, .spacing = 512};
  constexpr std::uint32_t displacing = 2048;
  std::vector<std::uint32_t> words(constant_words);
  for (std::uint32_t i = 0; i < constant_words; ++i)
    words[i] = neighbour_words.word(i);
  run.write_table(words);
  measure_trials(run, plan, Start::as_left, reinterpret_cast<const void*>(probe_constant),
                 [&](const Neighbours& turn, std::uint64_t* cycles) {
                   probe_constant<<<1, 1, 0, run.stream>>>(turn, displacing, /*zero=*/0, cycles,
                                                           run.machine.device_stamps());
                 });
}

void run(Session& session) {
  if (session.counters() != nullptr) {
    throw Skipped{"the search finds where levels change; it claims no level"};
  }
  Run run{.session = session,
          .property = properties.of(session.param("property")),
          .gpu = gpu_facts(session.device().identity().facts),
          .carveout_kib = number_of<unsigned>(session.params(), "carveout")};
  const std::string& name = session.param("property");
  if (run.property == Property::constant_l1_line) return measure_constant_neighbours(run);
  if (name.starts_with("constant")) return measure_constant(run);
  const Level level = name.starts_with("l1") ? Level::l1 : Level::l2;
  if (quantity_of(run.property) == "sector") return measure_neighbours(run, level);
  measure_global(run, level);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::cache_geometry
