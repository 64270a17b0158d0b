// How long after the start of a kernel does the next one start, which needs its results?
//
// A series of kernels, each of which reads what all blocks of the one before wrote: one word of the
// next block, changed a little, so that the last words prove the order. All are queued before the
// first one starts. The price is the slope between few and many kernels by events, and again from
// the timer that all SMs share, which each kernel reads when the results of the one before have
// arrived. It includes the kernel's own time: a load from L2 and a store. `programmatic`: the next
// kernel is started at once and waits for the end of this one where it needs its results
// (griddepcontrol.wait). `graph`: the series is one graph, whose edges are those of the stream.
#include "harness/cuda/benchmark.cuh"
#include "harness/measure/machine.hpp"

#include <memory>

namespace strata::kernel_boundary {

enum class How : std::uint8_t { stream, graph };
constexpr auto ways = choices_of<How>("stream", "graph");
enum class Start : std::uint8_t { after_end, programmatic };
constexpr auto starts = choices_of<Start>("after_end", "programmatic");
enum class Grid : std::uint8_t { one_block, all_sms };
constexpr auto grids = choices_of<Grid>("one_block", "all_sms");

/// Kernels of the short and of the long series: fewer than a stream can hold before a call blocks
/// (about a thousand).
constexpr std::uint32_t few = 100;
constexpr std::uint32_t many = 600;

/// The word of block `block` before the first kernel, and what a kernel makes of a word.
[[nodiscard]] constexpr std::uint32_t first_word(std::uint32_t block) {
  return (block + 1) * 0x9E3779B1U;
}
[[nodiscard]] STRATA_HD constexpr std::uint32_t changed(std::uint32_t word) {
  return word * 1664525U + 1013904223U;
}

namespace {

/// Blocks of a kernel.
std::uint32_t blocks_of(const Params& params, const GpuFacts& gpu) {
  return grids.of(params.at("grid")) == Grid::one_block ? 1 : gpu.sms;
}

/// Words after each of `kernels` kernels, a row of blocks each.
[[maybe_unused]] std::vector<std::uint32_t> expected_words(std::uint32_t kernels,
                                                           std::uint32_t blocks) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t kernel = 0; kernel < kernels; ++kernel) {
    for (std::uint32_t block = 0; block < blocks; ++block) {
      const std::uint32_t next = (block + 1) % blocks;
      words.push_back(
          changed(kernel == 0 ? first_word(next) : words[(kernel - 1) * blocks + next]));
    }
  }
  return words;
}

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "kernel_boundary",
      .question =
          "How long after the start of a kernel does the next one start, which needs its results?",
      .axes = {ways.axis("launch", "launches into a stream, or one graph of them"),
               starts.axis("start", "after the end of the kernel before, or at once"),
               grids.axis("grid", "one block, or one on each SM")},
      .quantities = {{"boundary_seconds", "from one kernel to the next, on the device"}},
      .seconds_per_case = 0.05};
}

/// Seconds of a kernel: by events, and by the timer that SMs share.
struct Seconds {
  double events = 0;
  double stamps = 0;
};

Experiment describe(const Params& params, const GpuFacts& gpu) {
  if (starts.of(params.at("start")) == Start::programmatic && gpu.major < 9) {
    throw Skipped{"programmatic dependent launch needs compute capability 9.0"};
  }
  const Value events = number(&Seconds::events);
  const Value stamps = number(&Seconds::stamps);
  const std::uint32_t blocks = blocks_of(params, gpu);
  return {.pairs = 3,
          .rows = {{"boundary_seconds", "s", By::outside, events},
                   {"boundary_seconds", "s", "globaltimer_slope", stamps}},
          .checks = {TimerPair{events, By::outside, stamps, "globaltimer_slope"},
                     Dependence{"words handed from kernel to kernel", {}}},
          .has_clock = false,
          .checked = "words of each kernel and block against the host's",
          .not_counted = "a kernel of two accesses has nothing to count",
          .facts = [blocks](const Experiment&) {
            return Facts{{"blocks", std::int64_t{blocks}}};
          }};
}

#ifdef __CUDACC__

template <bool programmatic>
__global__ void hand_on(const std::uint32_t* before, std::uint32_t* after, std::uint64_t* started) {
#if __CUDA_ARCH__ >= 900
  if constexpr (programmatic) {
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");  // ACQBULK, PREEXIT
    asm volatile("griddepcontrol.wait;" : : : "memory");
  }
#endif
  const std::uint32_t word = load_word<Access::global_cg>(before + (blockIdx.x + 1) % gridDim.x);
  if (blockIdx.x == 0) *started = global_nanoseconds();
  after[blockIdx.x] = changed(word);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Params& params = session.params();
  const How how = ways.of(params.at("launch"));
  const bool programmatic = starts.of(params.at("start")) == Start::programmatic;
  const std::uint32_t blocks = blocks_of(params, gpu);
  Experiment experiment = describe(params, gpu);
  require_timed(session, experiment);
  CudaMachine machine{session, 0};
  const Stream& stream = machine.stream();
  const auto& words = machine.output<std::uint32_t>(std::size_t{many} * blocks);
  const auto& started = machine.output<std::uint64_t>(many);
  std::vector<std::uint32_t> first(blocks);
  for (std::uint32_t block = 0; block < blocks; ++block)
    first[block] = first_word(block);
  const DeviceBuffer<std::uint32_t> initial{first};
  const auto kernel = programmatic ? &hand_on<true> : &hand_on<false>;

  const auto series = [&](std::uint32_t count) -> std::function<void()> {
    const auto all = [&, count] {
      cudaLaunchAttribute attribute{};
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
      const cudaLaunchConfig_t config{.gridDim = blocks,
                                      .blockDim = 1,
                                      .stream = stream.get(),
                                      .attrs = &attribute,
                                      .numAttrs = programmatic ? 1U : 0U};
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t* const before =
            i == 0 ? initial.data() : words.data() + std::size_t{i - 1} * blocks;
        cuda_check(cudaLaunchKernelEx(&config, kernel, before,
                                      words.data() + std::size_t{i} * blocks, started.data() + i));
      }
    };
    if (how == How::stream) return all;
    return [&, graph = std::make_shared<Graph>(stream, all, Where::current())] {
      graph->launch(stream);
    };
  };
  // Exactly the words that should be written are written.
  const auto seconds_of = [&](std::uint32_t count, const std::function<void()>& work,
                              const std::vector<std::uint32_t>& wanted) {
    constexpr std::uint32_t poison = 0xA5A5A5A5U;
    machine.poison();
    stream.synchronize();
    const double seconds = machine.time_both_sides(work, /*held=*/true).device;
    machine.land();
    for (std::size_t i = 0; i < words.size(); ++i)
      experiment.tally.one(words.landed()[i] == (i < wanted.size() ? wanted[i] : poison));
    return Seconds{
        .events = seconds,
        .stamps = 1e-9 * static_cast<double>(started.landed()[count - 1] - started.landed()[0]) /
                  (count - 1)};
  };
  experiment.observe = [&, of_few = series(few), of_many = series(many),
                        few_words = expected_words(few, blocks),
                        many_words = expected_words(many, blocks)] {
    const Seconds brief = seconds_of(few, of_few, few_words);
    const Seconds full = seconds_of(many, of_many, many_words);
    return sample_of(
        Seconds{.events = (full.events - brief.events) / (many - few), .stamps = full.stamps});
  };
  experiment.kernels = {reinterpret_cast<const void*>(kernel)};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::kernel_boundary
