// The CUDA backend of short_words: short_words.hpp says what it asks.
#include "harness/cuda/access.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/cuda/timer.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/timed.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"
#include "micro/access/short_words.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::short_words {
namespace {

/// C = A + B, a group of `parts` accesses a thread.
template <unsigned element, unsigned bytes, unsigned parts>
__global__ void __launch_bounds__(threads)
    add(const char* a, const char* b, char* c, std::uint32_t thread_step,
        std::uint32_t block_step) {
  const std::uint64_t group =
      std::uint64_t{threadIdx.x} * thread_step + std::uint64_t{blockIdx.x} * block_step;
  const std::uint64_t at = group * bytes * parts;
  std::uint32_t one[parts][words_of(bytes)];
  std::uint32_t two[parts][words_of(bytes)];
#pragma unroll
  for (unsigned p = 0; p < parts; ++p) {
    load<Access::global, bytes>(one[p], a + at + p * bytes);
    load<Access::global, bytes>(two[p], b + at + p * bytes);
  }
#pragma unroll
  for (unsigned p = 0; p < parts; ++p) {
#pragma unroll
    for (unsigned w = 0; w < words_of(bytes); ++w) {
      // One element needs no care for its neighbours.
      one[p][w] =
          bytes == element ? one[p][w] + two[p][w] : sum_of_elements(one[p][w], two[p][w], element);
    }
    store<Access::global, bytes>(c + at + p * bytes, one[p]);
  }
}

using Kernel = void (*)(const char*, const char*, char*, std::uint32_t, std::uint32_t);

template <unsigned element>
Kernel kernel_for(const Form& form) {
  if (form.together) {
    switch (form.group) {
      case 1:
        if constexpr (element <= 1) return add<element, 1, 1>;
        break;
      case 2:
        if constexpr (element <= 2) return add<element, 2, 1>;
        break;
      case 4:
        return add<element, 4, 1>;
      case 8:
        return add<element, 8, 1>;
      default:
        return add<element, 16, 1>;
    }
  } else {
    switch (form.group) {
      case 2:
        if constexpr (element < 2) return add<element, element, 2 / element>;
        break;
      case 4:
        if constexpr (element < 4) return add<element, element, 4 / element>;
        break;
      case 8:
        return add<element, element, 8 / element>;
      default:
        return add<element, element, 16 / element>;
    }
  }
  throw std::logic_error{"no kernel takes such groups"};
}

Kernel kernel_of(const Form& form) {
  if (form.element == 1) return kernel_for<1>(form);
  if (form.element == 2) return kernel_for<2>(form);
  return kernel_for<4>(form);
}

/// A and B one after the other, C, and what C must be for the size of element asked for last.
struct Matrices {
  Matrices() : sources{std::size_t{2} * matrix_words}, sum{matrix_words}, landed{matrix_words} {
    fill(sources.data(), sources.size(), HashedWords{}, stream.get());
    stream.synchronize();
  }
  /// C, word by word.
  const std::vector<std::uint32_t>& expected_of(std::uint32_t element) {
    if (element_ != element) {
      expected_.resize(matrix_words);
      for (std::uint32_t i = 0; i < matrix_words; ++i)
        expected_[i] = sum_of_elements(hashed_word(i), hashed_word(matrix_words + i), element);
      element_ = element;
    }
    return expected_;
  }
  DeviceBuffer<std::uint32_t> sources;
  DeviceBuffer<std::uint32_t> sum;
  PinnedBuffer<std::uint32_t> landed;
  Stream stream;

 private:
  std::vector<std::uint32_t> expected_;
  std::uint32_t element_ = 0;  // of which expected_ is
};

struct Observation {
  double events = 0;  ///< seconds of an addition
  double graph = 0;
  double core_hertz = 0;
};

class Additions {
 public:
  Additions(const Form& form, Matrices& matrices)
      : form_{form}, kernel_{kernel_of(form)}, matrices_{matrices} {}

  void prepare() {
  }  // each addition reads six times what L2 holds: it finds nothing of the last one

  Observation observe() {
    // Each series starts behind an addition that is not in it: what that leaves in L2, words of C
    // not yet written back above all, is what the later ones of a series find. Else the first
    // addition differs from the others, and more so behind a pause than not, and the slope has it.
    const double one = timed_behind_another([&] { launch(); });
    const double some = timed_behind_another([&] {
      for (int i = 0; i < several; ++i)
        launch();
    });
    launch();
    const double one_graph = one_in_graph_.seconds();
    launch();
    const double some_graph = some_in_graph_.seconds() * several;
    return {.events = (some - one) / (several - 1),
            .graph = (some_graph - one_graph) / (several - 1),
            .core_hertz = measure_sm_clock(matrices_.stream.get(), step_)};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.events, seen.graph};
  }

  /// One addition alone, into a matrix that holds nothing of it, held word by word against the
  /// host.
  void verify() {
    poison();
    launch();
    compare();
  }

  void count(Session& session) {
    const Prediction model = predicted(form_);
    const std::array<Expectation, 3> expected{
        Expectation{.quantity = "l1_load_requests",
                    .predicted = static_cast<double>(model.load_requests)},
        Expectation{.quantity = "l1_load_sectors",
                    .predicted = static_cast<double>(model.load_sectors)},
        Expectation{.quantity = "l1_store_sectors",
                    .predicted = static_cast<double>(model.store_sectors)}};
    (void)count_and_compare(session,
                            {.prepare = [this] { poison(); },
                             .work = [this] { launch(); },
                             .overhead = [this] { launch_nothing(); }},
                            {.expected = expected, .method = "coalescing_model", .unit = "launch"});
    compare();
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "words of C against the host's");
  }
  [[nodiscard]] Gate code() const {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel_));
    return spill_gate(attributes.localSizeBytes, attributes.numRegs);
  }

 private:
  static constexpr int several = 3;

  template <class Series>
  double timed_behind_another(Series&& series) {
    launch();
    return events_.seconds(matrices_.stream, series);
  }

  void launch() {
    const auto* const sources = reinterpret_cast<const char*>(matrices_.sources.data());
    kernel_<<<form_.blocks(), threads, 0, matrices_.stream.get()>>>(
        sources, sources + matrix_bytes, reinterpret_cast<char*>(matrices_.sum.data()),
        form_.thread_step(), form_.block_step());
    cuda_check(cudaGetLastError());
  }

  /// A kernel that reads and writes nothing.
  void launch_nothing() { fill(matrices_.sum.data(), 0, HashedWords{}, matrices_.stream.get()); }

  void poison() {
    constexpr int byte = 0xA5;
    matrices_.sum.poison(byte, matrices_.stream.get());
  }

  void compare() {
    matrices_.landed.download_from(matrices_.sum, matrices_.stream.get());
    matrices_.stream.synchronize();
    const auto words = matrices_.landed.span();
    const auto& expected = matrices_.expected_of(form_.element);
    for (std::uint32_t i = 0; i < matrix_words; ++i) {
      if (words[i] != expected[i]) ++different_;
    }
    checked_ += matrix_words;
  }

  Form form_;
  Kernel kernel_;
  Matrices& matrices_;
  EventTimer events_;
  GraphTimer one_in_graph_{matrices_.stream, 1, [this] { launch(); }};
  GraphTimer some_in_graph_{matrices_.stream, several, [this] { launch(); }};
  std::uint64_t step_ = measure_global_timer_step(matrices_.stream.get());
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  const Form form = form_of(session);
  Matrices& matrices = session.cache().keep<Matrices>("short_words", [] { return Matrices{}; });
  Additions additions{form, matrices};
  if (session.counters() != nullptr) {
    additions.count(session);
    session.add(additions.result());
    return;
  }
  const auto seen = collect(additions, session.plan());
  additions.verify();
  const Timed timed{session, seen};
  timed.add("kernel_time", "s", "event_slope", &Observation::events);
  timed.add("kernel_time", "s", "graph_slope", &Observation::graph);
  timed.add("useful_bandwidth", "B/s", "event_slope", [](const Observation& o) {
    return 3.0 * static_cast<double>(matrix_bytes) / o.events;
  });
  timed.core_clock("clock64_over_globaltimer", &Observation::core_hertz);
  timed.timers(&Observation::events, "event_slope", &Observation::graph, "graph_slope");
  session.add(additions.result());
  session.add(additions.code());
  session.fact("footprint_bytes", static_cast<std::int64_t>(3 * matrix_bytes));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::short_words
