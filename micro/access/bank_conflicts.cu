// The CUDA backend of bank_conflicts: bank_conflicts.hpp says what it asks.
//
// Addresses are 32 bits wide and of the shared window, so that a loaded word is the next address of
// a chain as it is. Those of many warps are worked out once, and a number is added in every round
// that is 0 and that only the host knows: ptxas takes loads whose address never changes out of the
// loop, and the loop then times nothing. A launch of no rounds is the same kernel without accesses.
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/starting_gate.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/cuda/timer.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/model/bank_model.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/access/bank_conflicts.hpp"
#include "micro/pattern/particle_chain.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace strata::bank_conflicts {
namespace {

constexpr double timed_cycles = 4e5;  // of a long launch: 0.2 ms, hundreds of timer steps
constexpr unsigned threads = warps_per_sm * warp_lanes;

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
struct Chain {
  std::uint32_t count;
  std::uint32_t bytes;
  std::uint32_t next[max_windows];
};

/// The words of an element.
template <unsigned width>
struct Words {
  static_assert(width == 4 || width == 8 || width == 16);
  static constexpr unsigned count = width / word_bytes;
  std::uint32_t of[count];
};

/// Wanted: LDS of the element's width.
template <unsigned width>
__device__ __forceinline__ Words<width> load(std::uint32_t at) {
  Words<width> words;
  if constexpr (width == 4) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(words.of[0]) : "r"(at));
  } else if constexpr (width == 8) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(words.of[0]), "=r"(words.of[1])
                 : "r"(at));
  } else {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.of[0]), "=r"(words.of[1]), "=r"(words.of[2]), "=r"(words.of[3])
                 : "r"(at));
  }
  return words;
}

/// Wanted: STS of the element's width.
template <unsigned width>
__device__ __forceinline__ void store(std::uint32_t at, const Words<width>& words) {
  if constexpr (width == 4) {
    asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(words.of[0]) : "memory");
  } else if constexpr (width == 8) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};"
                 :
                 : "r"(at), "r"(words.of[0]), "r"(words.of[1])
                 : "memory");
  } else {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(at), "r"(words.of[0]), "r"(words.of[1]), "r"(words.of[2]), "r"(words.of[3])
                 : "memory");
  }
}

__device__ __forceinline__ std::uint32_t window_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

__device__ __forceinline__ std::uint32_t sum_of_warp(std::uint32_t value) {
  for (unsigned offset = warp_lanes / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFU, value, offset);
  return value;
}

/// A load after the other, in one warp. The first word of an element is the address of the lane's
/// element in the next window; the others, of wide elements, come along and are added up beside.
template <unsigned width>
__global__ void __launch_bounds__(warp_lanes)
    follow(const __grid_constant__ Elements elements, const __grid_constant__ Chain chain,
           std::uint32_t loads, WarpRecord* record) {
  __shared__ alignas(shift_bytes) std::uint32_t words[chain_words];
  const std::uint32_t base = window_address(words);
  const std::uint32_t lane = threadIdx.x;
  const std::uint32_t offset = elements.of[lane] * width;
  for (std::uint32_t i = lane; i < chain_words; i += warp_lanes)
    words[i] = hashed_word(i);
  __syncwarp();
  for (std::uint32_t w = 0; w < chain.count; ++w) {
    // Lanes that share an element write the same address into it.
    words[(w * chain.bytes + offset) / word_bytes] = base + chain.next[w] * chain.bytes + offset;
  }
  __syncwarp();

  std::uint32_t at = base + offset;
  std::uint32_t sum = 0;
  consume(load<width>(at).of[0]);
  const std::uint64_t cycles = cycles_now();
  const std::uint64_t nanoseconds = global_nanoseconds();
#pragma unroll 1
  for (std::uint32_t i = 0; i < loads; i += unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < unroll; ++u) {
      const Words<width> element = load<width>(at);
      at = element.of[0];
#pragma unroll
      for (unsigned w = 1; w < Words<width>::count; ++w)
        sum += element.of[w];
    }
  }
  consume(at);
  const std::uint64_t cycles_end = cycles_now();
  const std::uint64_t nanoseconds_end = global_nanoseconds();
  sum = sum_of_warp(lane_weight(lane) * (sum + at - base));
  if (lane == 0) {
    record->cycles[0] = cycles;
    record->cycles[1] = cycles_end;
    record->nanoseconds[0] = nanoseconds;
    record->nanoseconds[1] = nanoseconds_end;
    record->sm = sm_id();
    record->sum = sum;
  }
}

/// Loads of many warps.
template <unsigned width>
__global__ void __launch_bounds__(threads, 1)
    read(const __grid_constant__ Elements elements, std::uint32_t rounds, std::uint32_t advance,
         WarpRecord* records) {
  __shared__ alignas(shift_bytes) std::uint32_t field[field_words];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = threadIdx.x / warp_lanes;
  WarpRecord* mine = records + blockIdx.x * warps_per_sm + warp;
  for (std::uint32_t i = threadIdx.x; i < field_words; i += threads)
    field[i] = hashed_word(i);
  std::uint32_t at = window_address(field) + warp * shift_bytes + elements.of[lane] * width;
  std::uint32_t sum = 0;
  __syncthreads();
  if (lane == 0) {
    mine->nanoseconds[0] = global_nanoseconds();
    mine->cycles[0] = cycles_now();
  }
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    Words<width> value[accesses_per_round];
#pragma unroll
    for (std::uint32_t a = 0; a < accesses_per_round; ++a)
      value[a] = load<width>(at + a * shift_bytes);
    at += advance;
#pragma unroll
    for (std::uint32_t a = 0; a < accesses_per_round; ++a) {
#pragma unroll
      for (unsigned w = 0; w < Words<width>::count; ++w)
        sum += value[a].of[w];
    }
  }
  sum = sum_of_warp(lane_weight(lane) * sum);
  // The shuffles need every loaded word, and the clock is read after them: issue is in order.
  if (lane == 0) {
    mine->sum = sum;
    mine->cycles[1] = cycles_now();
    mine->nanoseconds[1] = global_nanoseconds();
    mine->sm = sm_id();
  }
}

/// Stores of many warps. The clock is read when the last one has been issued, which is a few
/// wavefronts early: in the short launch as in the long one.
template <unsigned width>
__global__ void __launch_bounds__(threads, 1)
    write(const __grid_constant__ Elements elements, std::uint32_t rounds, std::uint32_t advance,
          WarpRecord* records) {
  __shared__ alignas(shift_bytes) std::uint32_t field[field_words];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t warp = threadIdx.x / warp_lanes;
  WarpRecord* mine = records + blockIdx.x * warps_per_sm + warp;
  for (std::uint32_t i = threadIdx.x; i < field_words; i += threads)
    field[i] = hashed_word(field_words + i);
  const std::uint32_t first = warp * shift_words + elements.of[lane] * Words<width>::count;
  std::uint32_t at = window_address(field) + first * word_bytes;
  Words<width> value[accesses_per_round];
#pragma unroll
  for (std::uint32_t a = 0; a < accesses_per_round; ++a) {
#pragma unroll
    for (unsigned w = 0; w < Words<width>::count; ++w)
      value[a].of[w] = hashed_word(first + a * shift_words + w);
  }
  __syncthreads();
  if (lane == 0) {
    mine->nanoseconds[0] = global_nanoseconds();
    mine->cycles[0] = cycles_now();
  }
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (std::uint32_t a = 0; a < accesses_per_round; ++a) {
      store<width>(at + a * shift_bytes, value[a]);
#pragma unroll
      for (unsigned w = 0; w < Words<width>::count; ++w)
        value[a].of[w] += store_change;
    }
    at += advance;
  }
  if (lane == 0) {
    mine->cycles[1] = cycles_now();
    mine->nanoseconds[1] = global_nanoseconds();
    mine->sm = sm_id();
  }
  __syncthreads();
  std::uint32_t sum = 0;
  for (std::uint32_t i = threadIdx.x; i < field_words; i += threads)
    sum += lane_weight(i) * field[i];
  sum = sum_of_warp(sum);
  if (lane == 0) mine->sum = sum;
}

using Many = void (*)(Elements, std::uint32_t, std::uint32_t, WarpRecord*);
using One = void (*)(Elements, Chain, std::uint32_t, WarpRecord*);

Many many_for(const Pattern& pattern) {
  switch (pattern.width) {
    case 4:
      return pattern.store ? write<4> : read<4>;
    case 8:
      return pattern.store ? write<8> : read<8>;
    default:
      return pattern.store ? write<16> : read<16>;
  }
}

One one_for(const Pattern& pattern) {
  switch (pattern.width) {
    case 4:
      return follow<4>;
    case 8:
      return follow<8>;
    default:
      return follow<16>;
  }
}

double hertz_of(const WarpRecord& r) {
  return static_cast<double>(r.cycles[1] - r.cycles[0]) /
         (static_cast<double>(r.nanoseconds[1] - r.nanoseconds[0]) * 1e-9);
}

/// Records and timers, which all cases share.
struct Bench {
  explicit Bench(unsigned sms)
      : records{std::size_t{sms} * warps_per_sm}, landed{records.size()}, one{1}, one_landed{1} {}
  DeviceBuffer<WarpRecord> records;
  PinnedBuffer<WarpRecord> landed;
  DeviceBuffer<WarpRecord> one;
  PinnedBuffer<WarpRecord> one_landed;
  Stream stream;
  Event begin;
  Event end;
  starting_gate::StartingGate gate;

  template <class Work, class Land>
  double timed(const Work& work, const Land& land) {
    return gate.seconds(stream, begin, end, work, land);
  }
};

class Conflicts {
 public:
  Conflicts(const Pattern& pattern, unsigned sms, Bench& bench)
      : pattern_{pattern},
        wavefronts_{bank_traffic(access_of(pattern)).wavefronts},
        many_{many_for(pattern)},
        one_{one_for(pattern)},
        sms_{sms},
        rounds_{rounds_for(timed_cycles, wavefronts_)},
        loads_{loads_for(timed_cycles, wavefronts_)},
        windows_{windows_for(pattern)},
        stored_{pattern},
        bench_{bench} {
    std::ranges::copy(pattern.elements, elements_.of);
    chain_.count = windows_.count;
    chain_.bytes = windows_.bytes;
    std::ranges::copy(windows_.next, chain_.next);
    for (std::uint32_t warp = 0; warp < warps_per_sm; ++warp)
      loaded_[warp] = expected_loads(pattern, warp);
  }

  void prepare() {}  // each kernel fills its shared memory itself

  Observation observe() {
    Observation seen;
    if (!pattern_.store) observe_chain(seen);
    const std::uint32_t brief = rounds_ / 5;
    const double brief_seconds = run_many(brief);
    const double brief_cycles = slowest();
    const double full_seconds = run_many(rounds_);
    const double accesses_of_sm = double{accesses_per_round} * warps_per_sm * (rounds_ - brief);
    std::vector<double> hertz;
    for (const WarpRecord& r : bench_.landed.span())
      hertz.push_back(hertz_of(r));
    seen.core_hertz = median(hertz);
    seen.inside = (slowest() - brief_cycles) / accesses_of_sm;
    seen.outside = (full_seconds - brief_seconds) * seen.core_hertz / accesses_of_sm;
    seen.accesses_per_second = accesses_of_sm * sms_ / (full_seconds - brief_seconds);
    return seen;
  }

  [[nodiscard]] std::vector<double> watched(const Observation& seen) const {
    std::vector<double> numbers{seen.inside, seen.outside};
    if (!pattern_.store) {
      numbers.push_back(seen.chain_inside);
      numbers.push_back(seen.chain_outside);
    }
    return numbers;
  }

  /// Some rounds, counted. What the kernel does with its field before and after, it does in the
  /// launch of no rounds as well.
  /// The counter of stores gives up to this many more for each than its conflicts make, and another
  /// number in every run: an H200 showed 0.08 where a store has one wavefront, and less the more it
  /// has. Loads are counted exactly.
  static constexpr double stray_store_wavefronts = 0.1;

  void count(Session& session) {
    constexpr std::uint32_t rounds = 32;
    const double accesses = double{accesses_per_round} * warps_per_sm * rounds * sms_;
    const std::string kind = pattern_.store ? "shared_store" : "shared_load";
    const std::array<Expectation, 2> expected{
        Expectation{.quantity = kind + "_requests", .predicted = accesses},
        Expectation{.quantity = kind + "_wavefronts",
                    .predicted = accesses * static_cast<double>(wavefronts_),
                    .bound = pattern_.store
                                 ? stray_store_wavefronts / static_cast<double>(wavefronts_)
                                 : 0}};
    (void)count_and_compare(
        session,
        {.prepare = [this] { poison(bench_.records); },
         .work = [this] { launch_many(rounds); },
         .overhead = [this] { launch_many(0); }},
        {.expected = expected, .method = "bank_model", .unit = "access", .units = accesses});
    bench_.landed.download_from(bench_.records, bench_.stream.get());
    bench_.stream.synchronize();
    check_many(rounds);
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "sums of warps against the host's");
  }
  [[nodiscard]] Gate placement() const {
    std::vector<std::uint32_t> sm_of_warp;
    for (const WarpRecord& r : bench_.landed.span())
      sm_of_warp.push_back(r.sm);
    return placement_gate(sm_of_warp, sms_, int{warps_per_sm});
  }
  void add_code(Session& session) const {
    const auto add = [&](const void* kernel) {
      cudaFuncAttributes attributes{};
      cuda_check(cudaFuncGetAttributes(&attributes, kernel));
      session.add(spill_gate(attributes.localSizeBytes, attributes.numRegs));
    };
    add(reinterpret_cast<const void*>(many_));
    if (!pattern_.store) add(reinterpret_cast<const void*>(one_));
  }
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  [[nodiscard]] std::uint32_t loads() const { return loads_; }

 private:
  void poison(DeviceBuffer<WarpRecord>& records) {
    constexpr int byte = 0xA5;
    records.poison(byte, bench_.stream.get());
  }

  void launch_many(std::uint32_t rounds) {
    many_<<<sms_, threads, 0, bench_.stream.get()>>>(elements_, rounds, /*advance=*/0,
                                                     bench_.records.data());
    cuda_check(cudaGetLastError());
  }

  double run_many(std::uint32_t rounds) {
    poison(bench_.records);
    const double seconds =
        bench_.timed([&] { launch_many(rounds); },
                     [&] { bench_.landed.download_from(bench_.records, bench_.stream.get()); });
    check_many(rounds);
    return seconds;
  }

  double run_one(std::uint32_t loads) {
    poison(bench_.one);
    const double seconds = bench_.timed(
        [&] {
          one_<<<1, warp_lanes, 0, bench_.stream.get()>>>(elements_, chain_, loads,
                                                          bench_.one.data());
          cuda_check(cudaGetLastError());
        },
        [&] { bench_.one_landed.download_from(bench_.one, bench_.stream.get()); });
    ++checked_;
    if (walked().sum != expected_walk(pattern_, windows_, loads)) ++different_;
    return seconds;
  }
  [[nodiscard]] const WarpRecord& walked() const { return bench_.one_landed.span().front(); }

  void observe_chain(Observation& seen) {
    const std::uint32_t brief = loads_ / 5;
    const double brief_seconds = run_one(brief);
    const auto brief_cycles = static_cast<double>(walked().cycles[1] - walked().cycles[0]);
    const double full_seconds = run_one(loads_);
    const auto full_cycles = static_cast<double>(walked().cycles[1] - walked().cycles[0]);
    const double loads = loads_ - brief;
    seen.chain_inside = (full_cycles - brief_cycles) / loads;
    seen.chain_outside = (full_seconds - brief_seconds) * hertz_of(walked()) / loads;
  }

  /// Cycles of the slowest warp from its first access to its last.
  [[nodiscard]] double slowest() const {
    std::uint64_t most = 0;
    for (const WarpRecord& r : bench_.landed.span())
      most = std::max(most, r.cycles[1] - r.cycles[0]);
    return static_cast<double>(most);
  }

  void check_many(std::uint32_t rounds) {
    std::uint32_t place = 0;
    for (const WarpRecord& r : bench_.landed.span()) {
      const std::uint32_t warp = place++ % warps_per_sm;
      const std::uint32_t wanted =
          pattern_.store ? stored_.sum(warp, rounds) : rounds * loaded_[warp];
      ++checked_;
      if (r.sum != wanted) ++different_;
    }
  }

  Pattern pattern_;
  std::uint64_t wavefronts_;
  Many many_;
  One one_;
  unsigned sms_;
  std::uint32_t rounds_;  // of the long launch; a fifth of them in the short one
  std::uint32_t loads_;
  Windows windows_;
  StoredField stored_;
  std::array<std::uint32_t, warps_per_sm> loaded_{};  // in a round, by warp
  Bench& bench_;
  Elements elements_{};
  Chain chain_{};
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const auto sms = static_cast<unsigned>(std::get<std::int64_t>(facts.at("sm_count")));
  Bench& bench = session.cache().keep<Bench>("bank_conflicts", [&] { return Bench{sms}; });
  const Pattern pattern = pattern_of(session);
  Conflicts conflicts{pattern, sms, bench};
  if (session.counters() != nullptr) {
    conflicts.count(session);
    session.add(conflicts.result());
    return;
  }
  const auto seen = collect(conflicts, session.plan());
  report(session, seen, pattern);
  session.add(conflicts.result());
  session.add(conflicts.placement());
  session.add(bench.gate.gate());
  conflicts.add_code(session);
  session.add(Gate{"model", Verdict::unverified, session.counting_note()});
  session.fact("rounds", static_cast<std::int64_t>(conflicts.rounds()));
  if (!pattern.store) session.fact("chain_loads", static_cast<std::int64_t>(conflicts.loads()));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::bank_conflicts
