#include "harness/cuda/benchmark.cuh"
#include "micro/latency/cache_geometry.hpp"

#ifdef __CUDACC__
#include "micro/latency/pointer_chase.cuh"
#endif

namespace strata::cache_geometry {
namespace {

/// The pairs of loads that show a line of constant memory, or a sector; empty for other properties.
std::optional<Neighbours> neighbours_of(Property property) {
  // The lower half of the table, one trial of each distance; the upper half displaces.
  if (property == Property::constant_l1_line) {
    return Neighbours{.distances = 64, .step = 4, .trials = 1, .spacing = 512};
  }
  if (quantity_of(property) != "sector") return std::nullopt;
  // A place begins a page: no distance leaves it, and no two places are adjacent.
  return Neighbours{.distances = 64,
                    .step = property == Property::l1_sector ? 4U : 8U,
                    .trials = 16,
                    .spacing = 4096};
}

constexpr const char* not_counted = "the search finds where levels change; it claims no level";

/// Of a search only what is timed at its end, the loads that all hit.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Property property = properties.of(params.at("property"));
  const auto chase = std::make_shared<pointer_chase::Chase>(
      pointer_chase::Chase{.word_at = [](std::uint64_t step) { return step; }, .walks = {2, 2, 1}});
  const auto plan = neighbours_of(property);
  Experiment experiment =
      plan ? describe_trials(property, *plan, Plan{}.min_samples,
                             reported(property, number_of<unsigned>(params, "carveout"), gpu))
           : owning(chase, pointer_chase::describe(*chase, {}));
  experiment.not_counted = not_counted;
  return experiment;
}

}  // namespace

#ifdef __CUDACC__

// Chases: one thread, alone on its SM. L1 contents do not survive a kernel, so the block's other
// threads first load the chain and exit; the walker goes around once, to leave the cache as an
// endless chase would, and once more to be timed. Chains for L2 are written, evicted and read once
// by the walker's SM: for an L2 in two halves, the result is the size that its SM sees. Neighbours:
// pairs of loads at positions untouched since the kernel began (L1) or since everything was evicted
// (L2).

constexpr unsigned walk_threads = 256;  // load a chain, then one of them is timed
constexpr std::uint64_t constant_line = 64;

/// The caches that answer: L1 and then L2, or L2 only.
enum class Level { l1, l2 };
constexpr Access access_of(Level level) {
  return level == Level::l1 ? Access::global_ca : Access::global_cg;
}

/// The whole block loads the first `brought` slots, then one thread follows the chain.
template <Level level>
__global__ void __launch_bounds__(walk_threads)
    follow(const __grid_constant__ PermutedChain chain, std::uint64_t brought, std::uint64_t first,
           std::uint32_t warm, std::uint32_t loads, Stamp* stamp, std::uint32_t* sink) {
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::uint64_t i = threadIdx.x; i < brought; i += blockDim.x)
    sum ^= load_word<access_of(level)>(reinterpret_cast<const void*>(chain.address_of(i)));
  keep_loads(sum, sink);
  __syncthreads();
  if (threadIdx.x != 0) return;
  pointer_chase::timed_walk(chain.address_at(first), warm, loads, stamp,
                            [](std::uint64_t& at) { strata::follow<access_of(level)>(at); });
}

constexpr std::uint64_t constant_bytes = 64 * kibi;  // the maximum in CUDA
constexpr std::size_t constant_words = constant_bytes / sizeof(std::uint32_t);
static __constant__ std::uint32_t table[constant_words];

/// Words are byte offsets into the table; the load itself adds the table's address.
static __global__ void follow_constant(std::uint32_t begin, std::uint32_t warm, std::uint32_t loads,
                                       Stamp* stamp) {
  pointer_chase::timed_walk(begin, warm, loads, stamp,
                            [](std::uint32_t& at) { at = load_constant(table, at); });
}

/// The trials of one launch: cycles of each second load, 64 bits wide, because ptxas would
/// otherwise read half a clock.
template <Level level>
__global__ void probe(const char* base, const __grid_constant__ Neighbours plan,
                      std::uint64_t* cycles, Stamp* stamp) {
  std::uint32_t sum = 0;
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t t = 0; t < plan.places(); ++t) {
    const char* const second = base + plan.second_of(t);
    const std::uint32_t here = load_word<access_of(level)>(base + plan.first_of(t));
    consume(here);
    const std::uint64_t start = cycles_now();
    const std::uint32_t there = load_word<access_of(level)>(second);
    consume(there);
    cycles[t] = cycles_now() - start;
    sum = joined(sum, here, there);
  }
  leave(stamp, begin, reading_after(), sum);
}

/// The same for constant memory, whose first level is small: data of other launches are evicted by
/// reading the upper half of the table, which no trial touches.
static __global__ void probe_constant(const __grid_constant__ Neighbours plan,
                                      std::uint32_t displacing, std::uint32_t zero,
                                      std::uint64_t* cycles, Stamp* stamp) {
  std::uint32_t sum = 0;
  const Reading begin = reading_before();
  std::uint32_t other = threadIdx.x;
#pragma unroll 1
  for (std::uint32_t i = 0; i < displacing; ++i) {
    constexpr std::uint32_t half = constant_bytes / 2;
    // Each address depends on the previous word, but not on its value.
    other = load_constant(table, half + (i * constant_line) % half + (other & zero));
    consume(other);
  }
#pragma unroll 1
  for (std::uint32_t t = 0; t < plan.places(); ++t) {
    const std::uint32_t here =
        load_constant(table, static_cast<std::uint32_t>(plan.first_of(t)) + (other & zero));
    consume(here);
    // The address depends on the word that was waited for, so the load cannot begin earlier, and
    // the sum is ready before the clock is read.
    std::uint32_t second = static_cast<std::uint32_t>(plan.second_of(t)) + (here & zero);
    consume(second);
    const std::uint64_t start = cycles_now();
    asm volatile("" : "+r"(second) : : "memory");
    const std::uint32_t there = load_constant(table, second);
    consume(there);
    cycles[t] = cycles_now() - start;
    sum = joined(sum, here, there);
  }
  leave(stamp, begin, reading_after(), sum);
}

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
  std::optional<Reported> documented = reported(property, carveout_kib, gpu);
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
      search(run.session, run.property, where, lines, run.documented,
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
      describe_trials(run.property, plan, run.session.plan().min_samples, run.documented);
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
  const Neighbours plan = neighbours_of(run.property).value();
  const std::uint64_t page = plan.spacing;
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
  const Neighbours plan = neighbours_of(run.property).value();
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
  if (session.counters() != nullptr) throw Skipped{not_counted};
  Run run{.session = session,
          .property = properties.of(session.param("property")),
          .gpu = session.gpu(),
          .carveout_kib = number_of<unsigned>(session.params(), "carveout")};
  const std::string& name = session.param("property");
  if (run.property == Property::constant_l1_line) return measure_constant_neighbours(run);
  if (name.starts_with("constant")) return measure_constant(run);
  const Level level = name.starts_with("l1") ? Level::l1 : Level::l2;
  if (quantity_of(run.property) == "sector") return measure_neighbours(run, level);
  measure_global(run, level);
}

}  // namespace

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace strata::cache_geometry
