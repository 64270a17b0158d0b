// The CUDA backend of coalescing: coalescing.hpp says what it asks.
//
// The addresses of a round are worked out once; a round is nothing but its loads, the additions
// that keep them, and one more for each address, of a number that is 0 and that only the host
// knows: a load whose address never changes is taken out of the loop by ptxas, volatile asm or not,
// and the loop then times nothing. A launch of no rounds is the same kernel without loads.
#include "harness/cuda/access.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/cuda/reduce.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/measure/counted_loads.hpp"
#include "harness/model/lanes.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/access/coalescing.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace strata::coalescing {
namespace {

constexpr double timed_cycles = 4e5;  // of a long launch: 0.2 ms, hundreds of timer steps
constexpr unsigned threads = 512;
constexpr unsigned blocks_per_sm = warps_per_sm * warp_lanes / threads;

/// What one warp leaves behind.
struct WarpRecord {
  std::uint64_t cycles[2];
  std::uint64_t nanoseconds[2];
  std::uint32_t sm;
  std::uint32_t sum;
};

/// By value in the kernel's parameters.
struct Elements {
  std::uint32_t of[warp_lanes];
};

/// The words of an element, added up. Past L1, which has other rules.
template <unsigned width>
__device__ __forceinline__ std::uint32_t element_sum(const char* at) {
  std::uint32_t w[4] = {};
  load<Access::global_cg, width>(w, at);
  return (w[0] + w[1]) + (w[2] + w[3]);
}

template <unsigned width>
__global__ void __launch_bounds__(threads, blocks_per_sm)
    gather(const char* data, const __grid_constant__ Elements elements,
           const __grid_constant__ Windows windows, std::uint32_t rounds, std::uint32_t advance,
           WarpRecord* records) {
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = (blockIdx.x * threads + threadIdx.x) / warp_lanes;
  WarpRecord* mine = records + warp;
  const char* at[loads_per_round];
#pragma unroll
  for (std::uint32_t l = 0; l < loads_per_round; ++l) {
    at[l] = data + std::uint64_t{window_of(warp, l, windows.count)} * windows.bytes +
            elements.of[lane] * width;
  }
  std::uint32_t sum = 0;
  if (lane == 0) {
    mine->nanoseconds[0] = global_nanoseconds();
    mine->cycles[0] = cycles_now();
  }
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::uint32_t value[loads_per_round];
#pragma unroll
    for (std::uint32_t l = 0; l < loads_per_round; ++l)
      value[l] = element_sum<width>(at[l]);
#pragma unroll
    for (std::uint32_t l = 0; l < loads_per_round; ++l) {
      sum += value[l];
      at[l] += advance;
    }
  }
  sum = warp_sum(sum * lane_weight(lane));
  // The shuffles need every loaded value, and the clock is read after them: issue is in order.
  if (lane == 0) {
    mine->sum = sum;
    mine->cycles[1] = cycles_now();
    mine->nanoseconds[1] = global_nanoseconds();
    mine->sm = sm_id();
  }
}

/// Samples of a case are taken at so many places, one after the other. Where in memory the windows
/// lie decides how evenly they fall on the slices of L2: an H200 showed up to 7 % between two runs
/// whose array lay at other addresses, though neither run saw it.
constexpr std::size_t places = 16;

using Kernel = void (*)(const char*, Elements, Windows, std::uint32_t, std::uint32_t, WarpRecord*);

Kernel kernel_for(std::uint32_t width) {
  switch (width) {
    case 1:
      return gather<1>;
    case 2:
      return gather<2>;
    case 4:
      return gather<4>;
    case 8:
      return gather<8>;
    default:
      return gather<16>;
  }
}

/// The array that all patterns read, as large as the widest of them needs, at each of the places.
struct Field {
  Field(std::uint32_t warps, std::uint64_t l2)
      : l2_bytes{l2}, place_words{words_for(warps, l2)}, words{places * place_words} {
    for (std::size_t place = 0; place < places; ++place)
      fill(words.data() + place * place_words, place_words, HashedWords{}, stream.get());
    stream.synchronize();
  }
  static std::size_t words_for(std::uint32_t warps, std::uint64_t l2) {
    const Pattern widest{
        .width = max_width,
        .elements = lane_elements(max_stride, max_misalignment, Permutation::identity)};
    const std::uint64_t lines = std::uint64_t{warps} * loads_per_round * 2 * max_width;
    // Whole pages, so that each place has its own.
    constexpr std::uint64_t page = std::uint64_t{2} << 20U;
    const std::uint64_t bytes = std::max(windows_for(widest, warps, l2).size(), lines * line_bytes);
    return (bytes + page - 1) / page * page / sizeof(std::uint32_t);
  }
  std::uint64_t l2_bytes;
  std::size_t place_words;
  DeviceBuffer<std::uint32_t> words;
  Stream stream;
};

class Gather {
 public:
  Gather(const Pattern& pattern, std::uint64_t sectors, unsigned sms, Field& field)
      : pattern_{pattern},
        kernel_{kernel_for(pattern.width)},
        sms_{sms},
        rounds_{5 * std::max(1U, rounds_for(timed_cycles, sectors) / 5)},
        field_{field},
        windows_{windows_for(pattern, sms * warps_per_sm, field.l2_bytes)},
        records_{std::size_t{sms} * warps_per_sm},
        landed_{std::size_t{sms} * warps_per_sm} {
    std::ranges::transform(pattern.elements, elements_.of,
                           [](std::uint64_t e) { return static_cast<std::uint32_t>(e); });
    // Warps that read the same windows have the same sum.
    for (std::uint32_t warp = 0; warp * loads_per_round < windows_.count; ++warp)
      sums_.push_back(expected_sum(pattern, windows_, warp));
    if (windows_.size() > field.place_words * sizeof(std::uint32_t)) {
      throw std::logic_error{"the windows of a pattern do not fit into the array"};
    }
  }

  void prepare() {}  // each launch has its own preparation, right before it

  Observation observe() {
    place_ = (place_ + 1) % places;
    const std::uint32_t brief = rounds_ / 5;
    const double brief_seconds = run(brief);
    const double brief_cycles = slowest();
    const double full_seconds = run(rounds_);
    const double loads_of_sm = double{loads_per_round} * warps_per_sm * (rounds_ - brief);
    std::vector<double> hertz;
    for (const WarpRecord& r : landed_.span()) {
      hertz.push_back(static_cast<double>(r.cycles[1] - r.cycles[0]) /
                      (static_cast<double>(r.nanoseconds[1] - r.nanoseconds[0]) * 1e-9));
    }
    const double core_hertz = median(hertz);
    const double slope_seconds = full_seconds - brief_seconds;
    return {.inside = (slowest() - brief_cycles) / loads_of_sm,
            .outside = slope_seconds * core_hertz / loads_of_sm,
            .grid_seconds = full_seconds,
            .loads_per_second = loads_of_sm * sms_ / slope_seconds,
            .core_hertz = core_hertz};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }

  /// Some rounds, counted: enough that stray traffic, of others who use the device, is little.
  void count(Session& session) {
    constexpr std::uint32_t rounds = 32;
    const Traffic of_a_load =
        traffic(generation_of(session.device().identity().facts), load_of(pattern_));
    const std::uint64_t loads = std::uint64_t{sms_} * warps_per_sm * loads_per_round * rounds;
    count_loads(session, {.prepare = [this] { ready(); },
                          .work = [this] { launch(rounds); },
                          .overhead = [this] { launch(0); },
                          .claimed = ServedBy::l2,
                          .predicted = {.requests = loads * of_a_load.requests,
                                        .sectors = loads * of_a_load.sectors,
                                        .repeated_sectors = 0},
                          .reads = static_cast<double>(loads)});
    landed_.download_from(records_, field_.stream.get());
    field_.stream.synchronize();
    check(rounds);
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "warp sums against the host's");
  }
  [[nodiscard]] Gate placement() const {
    std::vector<std::uint32_t> sm_of_warp;
    for (const WarpRecord& r : landed_.span())
      sm_of_warp.push_back(r.sm);
    return placement_gate(sm_of_warp, sms_, int{warps_per_sm});
  }
  [[nodiscard]] Gate code() const {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel_));
    return spill_gate(attributes.localSizeBytes, attributes.numRegs);
  }
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  [[nodiscard]] const Windows& windows() const { return windows_; }

 private:
  /// Brings the windows into L2 by the loads themselves.
  void ready() {
    launch(1);
    constexpr int poison = 0xA5;
    records_.poison(poison, field_.stream.get());
  }

  void launch(std::uint32_t rounds) {
    kernel_<<<sms_ * blocks_per_sm, threads, 0, field_.stream.get()>>>(
        reinterpret_cast<const char*>(field_.words.data() + place_ * field_.place_words), elements_,
        windows_, rounds,
        /*advance=*/0, records_.data());
    cuda_check(cudaGetLastError());
  }

  double run(std::uint32_t rounds) {
    ready();
    begin_.record(field_.stream.get());
    launch(rounds);
    end_.record(field_.stream.get());
    landed_.download_from(records_, field_.stream.get());
    field_.stream.synchronize();
    check(rounds);
    return end_.seconds_since(begin_);
  }

  /// Cycles of the slowest warp from its first load to its last.
  [[nodiscard]] double slowest() const {
    std::uint64_t most = 0;
    for (const WarpRecord& r : landed_.span())
      most = std::max(most, r.cycles[1] - r.cycles[0]);
    return static_cast<double>(most);
  }

  void check(std::uint32_t rounds) {
    for (std::size_t warp = 0; warp < landed_.size(); ++warp) {
      ++checked_;
      if (landed_.span()[warp].sum != rounds * sums_[warp % sums_.size()]) ++different_;
    }
  }

  Pattern pattern_;
  Elements elements_{};
  Kernel kernel_;
  unsigned sms_;
  std::uint32_t rounds_;  // of the long launch; a fifth of them in the short one
  Field& field_;
  Windows windows_;
  DeviceBuffer<WarpRecord> records_;
  PinnedBuffer<WarpRecord> landed_;
  std::vector<std::uint32_t> sums_;  // of one round, by warp; they repeat
  Event begin_;
  Event end_;
  std::size_t place_ = 0;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const auto sms = static_cast<unsigned>(std::get<std::int64_t>(facts.at("sm_count")));
  const Pattern pattern = pattern_of(session);
  const std::uint64_t sectors = traffic(generation_of(facts), load_of(pattern)).sectors;
  const auto l2 = static_cast<std::uint64_t>(std::get<std::int64_t>(facts.at("l2_bytes")));
  Field& field = session.cache().keep<Field>("coalescing", [&] {
    return Field{sms * warps_per_sm, l2};
  });
  Gather gather_loads{pattern, sectors, sms, field};
  if (session.counters() != nullptr) {
    gather_loads.count(session);
    session.add(gather_loads.result());
    return;
  }
  const auto seen = collect(gather_loads, session.plan());
  report(session, seen, pattern, sectors);
  session.add(gather_loads.result());
  session.add(gather_loads.placement());
  session.add(gather_loads.code());
  session.add(level_unverified(session.counting_note()));
  session.fact("rounds", static_cast<std::int64_t>(gather_loads.rounds()));
  session.fact("footprint_bytes",
               static_cast<std::int64_t>(gather_loads.windows().count * sectors * sector_bytes));
  session.fact("windows", static_cast<std::int64_t>(gather_loads.windows().count));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::coalescing
