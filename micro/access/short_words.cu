#include "harness/base/in_parallel.hpp"
#include "micro/access/short_words.hpp"

#include <atomic>

#ifdef __CUDACC__
#include "micro/access/launch_series.cuh"
#include "micro/access/mended.cuh"
#include "micro/access/short_words.cuh"
#endif

namespace strata::short_words {

/// Of A, which is an array of hashed words; B's follow them.
constexpr std::uint32_t matrix_words = matrix_bytes / sizeof(std::uint32_t);

constexpr launch_series::Series series{};

namespace {

/// Requests and sectors of the loads of a launch, and sectors of its stores, by the coalescing
/// model.
std::vector<Expectation> predicted(const Form& form) {
  // All warps are alike: each begins at a multiple of the 32 groups, or of the sector, that hold
  // it.
  // What is mended takes neighbouring groups in neighbouring lanes, whatever the original did.
  const std::uint32_t parts = form.group / form.access();
  const std::uint64_t step = form.mended ? 1 : form.thread_step();
  std::uint64_t sectors = 0;
  for (std::uint32_t part = 0; part < parts; ++part) {
    const auto elements = lane_elements(step * parts, part, Permutation::identity);
    sectors += traffic(Generation::cc7, access_of(form.access(), elements)).sectors;
  }
  const std::uint64_t warps = std::uint64_t{form.blocks()} * threads / warp_lanes;
  const auto of_launch = [&](std::uint64_t of_warp) {
    return static_cast<double>(warps * of_warp);
  };
  constexpr std::uint64_t sources = 2;
  return {{.quantity = "l1_load_requests", .predicted = of_launch(sources * parts)},
          {.quantity = "l1_load_sectors", .predicted = of_launch(sources * sectors)},
          {.quantity = "l1_store_sectors", .predicted = of_launch(sectors)}};
}

/// The case on a GPU. Its samples hold the seconds of one addition and of a series by events, the
/// same two by replays of a graph, and the clock of the core.
Experiment describe(const Params& params, const GpuFacts& /*gpu*/) {
  const Form form = form_of(params);
  Experiment experiment = launch_series::on_gpu(3.0 * static_cast<double>(matrix_bytes), series);
  experiment.checked = "words of C against the host's";
  experiment.counts = CountPlan{.length = {.rounds = 1},
                                .expected = predicted(form),
                                .model = "coalescing_model",
                                .unit = "launch"};
  return experiment;
}

#ifdef __CUDACC__

/// C = A + B.
template <unsigned element, unsigned bytes, unsigned parts>
__global__ void __launch_bounds__(threads)
    add(const char* a, const char* b, char* c, std::uint32_t thread_step,
        std::uint32_t block_step) {
  add_group<element, bytes, parts>(a, b, c, thread_step, block_step);
}

using Kernel = void (*)(const char*, const char*, char*, std::uint32_t, std::uint32_t);

template <unsigned element, unsigned group>
Kernel kernel_of(bool together) {
  constexpr Form vector{.element = element, .group = group, .together = true};
  constexpr Form apart{.element = element, .group = group, .together = false};
  if constexpr (why_not(vector, Backend::cuda) == nullptr) {
    if (together) return add<element, group, 1>;
  }
  if constexpr (why_not(apart, Backend::cuda) == nullptr) {
    if (!together) return add<element, element, group / element>;
  }
  throw std::logic_error{"no kernel for such groups"};
}

Kernel kernel_for(const Form& form) {
  return with_value<1U, 2U, 4U>(form.element, [&]<unsigned element>() {
    return with_value<1U, 2U, 4U, 8U, 16U>(
        form.group, [&]<unsigned group>() { return kernel_of<element, group>(form.together); });
  });
}

/// A and B one after the other, and C.
struct Matrices {
  DeviceBuffer<std::uint32_t> sources{std::size_t{2} * matrix_words};
  DeviceBuffer<std::uint32_t> sum{matrix_words};
  PinnedBuffer<std::uint32_t> landed{matrix_words};
};

constexpr int poison_byte = Output<std::uint32_t>::poison_byte;

/// Compares C, copied to the host, with the host's sums, word by word.
void compare(std::span<const std::uint32_t> words, std::uint32_t element, Tally& tally) {
  std::atomic<std::size_t> different = 0;
  in_parallel(words.size(), [&](std::size_t first, std::size_t last) {
    std::size_t mine = 0;
    for (auto i = static_cast<std::uint32_t>(first); i < last; ++i) {
      const std::uint32_t expected =
          sum_of_elements(hashed_word(i), hashed_word(matrix_words + i), element);
      mine += words[i] == expected ? 0 : 1;
    }
    different += mine;
  });
  tally.checked += words.size();
  tally.different += different;
}

void run(Session& session) {
  const Form form = form_of(session.params());
  const Kernel kernel = form.mended ? nullptr : kernel_for(form);
  CudaMachine machine{session, 0};
  const cudaStream_t stream = machine.stream().get();
  Matrices& matrices = session.cache().keep<Matrices>("short_words", [&] {
    Matrices made;
    fill(made.sources.data(), made.sources.size(), HashedWords{}, stream);
    return made;
  });
  const auto* const sources = reinterpret_cast<const char*>(matrices.sources.data());
  const auto add_once = [&] {
    if (form.mended) {
      return mended_forms::launch_short_words(form, stream, sources, sources + matrix_bytes,
                                              reinterpret_cast<char*>(matrices.sum.data()));
    }
    kernel<<<form.blocks(), threads, 0, stream>>>(sources, sources + matrix_bytes,
                                                  reinterpret_cast<char*>(matrices.sum.data()),
                                                  form.thread_step(), form.block_step());
  };
  const auto add_times = [&](std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i)
      add_once();
  };

  Experiment experiment = describe(session.params(), session.gpu());
  experiment.kernels = {form.mended ? mended_forms::code_of_short_words(form)
                                    : reinterpret_cast<const void*>(kernel)};
  // One addition alone, into a matrix that holds nothing of it; of no rounds, a kernel that reads
  // and writes nothing.
  const Slope alone{.launch =
                        [&](const Call& call) {
                          if (call.length.rounds > 0) {
                            add_once();
                          } else {
                            fill(matrices.sum.data(), 0, HashedWords{}, stream);
                          }
                        },
                    .prepare = [&](const Call&) { matrices.sum.poison(poison_byte, stream); },
                    .verify =
                        [&](const Call&, std::span<const Stamp>, Tally& tally) {
                          matrices.landed.download_from(matrices.sum, stream);
                          machine.stream().synchronize();
                          compare(matrices.landed.span(), form.element, tally);
                        }};
  launch_series::measure_series(session, machine, experiment, alone, series, add_times);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::short_words
