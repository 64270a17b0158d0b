// How long does a load from constant memory take that no constant cache serves?
//
// A module has 64 KiB of constant memory, and the constant cache behind that of the SM (L1.5) may
// hold all of it, so a chain alone never leaves it. Kernel parameters are constant memory, too, and
// each launch has its own: before each timed launch, kernels whose 31 KiB of parameters all SMs
// read replace the contents of the caches. The timed chain then visits each slot of the table at
// most once. The second slope is the same chain after a first lap: hits in the caches. The loads
// are misses if they are clearly slower (gate `level`); L2, or memory (`start`), serves them.
#include "harness/cuda/benchmark.cuh"
#include "micro/latency/pointer_chase.hpp"
#include "micro/pattern/permuted_chain.hpp"

#ifdef __CUDACC__
#include "micro/latency/pointer_chase.cuh"
#endif

namespace strata::constant_miss {

constexpr std::uint64_t table_bytes = 64U << 10U;  ///< the maximum in CUDA
/// Words of a launch's parameters: 31 KiB of the 32,764 bytes that CUDA allows.
constexpr std::uint32_t parameter_words = 31U << 8U;
/// Launches that replace the contents of the caches: 1 MiB, several times any constant cache.
constexpr std::uint32_t replacing_launches = 34;

enum class From : std::uint8_t { l2, dram };
constexpr auto froms = choices_of<From>("l2", "dram");

namespace {

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "constant_miss",
      .question = "How long does a load from constant memory take that no constant cache serves?",
      .axes = {froms.axis("start", "where the table is before the launch: in L2, or evicted"),
               listed_axis("stride", "bytes from slot to slot", {"64", "128", "256"})},
      .quantities = {{"load_cycles", "cycles of a dependent load that misses"},
                     {"cached_load_cycles", "cycles of one that hits, after a lap"},
                     {"core_clock", "clock of the core during the loads"}},
      .seconds_per_case = 0.05};
}

/// A chain through the whole table, cold and after a lap.
struct Chains {
  PermutedChain chain;
  pointer_chase::Chase cold;
  pointer_chase::Chase warm;

  explicit Chains(std::uint64_t stride)
      : chain{.cycle = PermutedCycle{table_bytes / stride, /*seed=*/2008},
              .base = 0,
              .stride = stride},
        cold{chase(0)},
        warm{chase(pointer_chase::in_whole_turns(table_bytes / stride))} {}

 private:
  [[nodiscard]] pointer_chase::Chase chase(std::uint32_t first_lap) const {
    return {.word_at = [all = chain](std::uint64_t step) { return all.address_at(step); },
            .walks = {chain.cycle.slots(), chain.cycle.slots(), 1},
            .warm = first_lap};
  }
};

Experiment describe(const std::shared_ptr<Chains>& chains, From from) {
  Experiment experiment = pointer_chase::describe(chains->cold, {});
  const auto slots = static_cast<std::uint32_t>(chains->chain.cycle.slots());
  Slope& cold = experiment.slopes.front();
  // No launch visits a slot twice.
  cold.size = {};
  cold.lengths = {.brief = pointer_chase::length_of(slots / 4),
                  .full = pointer_chase::length_of(slots - pointer_chase::unroll)};
  if (from == From::dram) cold.start = Start::evicted;
  experiment.slopes.push_back(pointer_chase::describe(chains->warm, {}).slopes.front());
  experiment.rows = {{"load_cycles", "cycle", By::inside, cycles_of(0)},
                     {"cached_load_cycles", "cycle", By::inside, cycles_of(1)}};
  experiment.checks = {TimersApart{"a chain that visits each slot once is too short for events"},
                       Dependence{"ends of chains", {}}};
  experiment.not_counted = "the memory set has no counter for such loads";
  experiment.conclude = [](Session& session, const std::vector<Sample>& samples) {
    constexpr double clearly = 1.5;
    const auto hits = std::ranges::count_if(samples, [](const Sample& sample) {
      return sample.slopes[0].inside.cycles < clearly * sample.slopes[1].inside.cycles;
    });
    session.none_of("level", static_cast<std::size_t>(hits), samples.size(),
                    "samples whose loads were less than 1.5 times as slow as hits");
  };
  return owning(chains, std::move(experiment));
}

Experiment describe(const Params& params, const GpuFacts& /*gpu*/) {
  return describe(std::make_shared<Chains>(number_of<std::uint64_t>(params, "stride")),
                  froms.of(params.at("start")));
}

#ifdef __CUDACC__

constexpr std::size_t table_words = table_bytes / sizeof(std::uint32_t);
__constant__ std::uint32_t table[table_words];

/// Words are byte offsets into the table.
__global__ void follow_table(std::uint32_t begin, std::uint32_t warm, std::uint32_t loads,
                             Stamp* stamps) {
  pointer_chase::timed_walk(begin, warm, loads, stamps,
                            [](std::uint32_t& at) { at = load_constant(table, at); });
}

struct Parameters {
  std::uint32_t words[parameter_words];
};

/// Wanted: LDC with a register as index. `positive` clears the highest bit, which the compiler does
/// not know: it would drop the loads of a sum that cannot end the kernel.
__global__ void read_parameters(const __grid_constant__ Parameters parameters, std::uint32_t step,
                                std::uint32_t positive) {
  std::uint32_t sum = 0;
#pragma unroll 1
  for (std::uint32_t word = 0; word < parameter_words; word += step)
    sum += load_constant(parameters.words, 4 * word);
  consume(sum & positive);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const auto chains =
      std::make_shared<Chains>(number_of<std::uint64_t>(session.params(), "stride"));
  Experiment experiment = describe(chains, froms.of(session.param("start")));
  require_timed(session, experiment);
  CudaMachine machine{session, 1};
  const cudaStream_t stream = machine.stream().get();
  const auto words = pointer_chase::words_of(chains->chain, table_words);
  cuda_check(cudaMemcpyToSymbol(table, words.data(), table_bytes));
  cuda_check(cudaDeviceSynchronize());
  const auto parameters = std::make_unique<Parameters>();
  for (std::uint32_t word = 0; word < parameter_words; ++word)
    parameters->words[word] = hashed_word(word);
  const auto launch_of = [&](pointer_chase::Chase& chase) {
    return [&](const Call& call) {
      follow_table<<<1, 1, 0, stream>>>(static_cast<std::uint32_t>(chase.begin), chase.warm,
                                        call.length.rounds, machine.device_stamps());
    };
  };
  experiment.slopes[0].launch = launch_of(chains->cold);
  experiment.slopes[1].launch = launch_of(chains->warm);
  experiment.slopes[0].prepare = [&](const Call& call) {
    chains->cold.go_on(call);
    constexpr std::uint32_t words_of_line = 16;
    constexpr unsigned blocks_of_sm = 4;  // some on every SM
    for (std::uint32_t n = 0; n < replacing_launches; ++n)
      read_parameters<<<blocks_of_sm * gpu.sms, 1, 0, stream>>>(*parameters, words_of_line,
                                                                0x7FFFFFFFU);
  };
  experiment.kernels = {reinterpret_cast<const void*>(&follow_table)};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::constant_miss
