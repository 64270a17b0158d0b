// The parts of a pointer chase that run on the GPU, and the launches around them, for every
// benchmark that follows a chain of loads.
#pragma once

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/record/gates.hpp"
#include "micro/latency/pointer_chase.hpp"
#include "micro/pattern/cycle_walks.hpp"
#include "micro/pattern/permuted_chain.hpp"

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace strata::pointer_chase {

/// What one walker leaves behind.
struct Stamps {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
  std::uint64_t end;  ///< where it stands: what the last load gave
  std::uint64_t sm;
};

/// `loads` loads, a multiple of unroll, each by `step`, which turns `at` into what is loaded there.
template <class Word, class Step>
__device__ __forceinline__ void walk(Word& at, std::uint32_t loads, Step&& step) {
#pragma unroll 1
  for (std::uint32_t i = 0; i < loads; i += unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < unroll; ++u)
      step(at);
  }
}

/// The walk that is timed, after the one that is not. No word may end in 32 set bits (consume).
template <class Word, class Step>
__device__ __forceinline__ void timed_walk(Word at, std::uint32_t warm, std::uint32_t loads,
                                           Stamps* stamps, Step&& step) {
  walk(at, warm, step);
  consume(static_cast<std::uint32_t>(at));
  const std::uint64_t nanoseconds = global_nanoseconds();
  const std::uint64_t cycles = cycles_now();
  walk(at, loads, step);
  consume(static_cast<std::uint32_t>(at));
  stamps->cycles = cycles_now() - cycles;
  stamps->nanoseconds = global_nanoseconds() - nanoseconds;
  stamps->end = at;
  stamps->sm = sm_id();
}

/// Writes the first `links` links of a chain as 64-bit addresses.
__device__ __forceinline__ void write_addresses(const PermutedChain& chain, std::uint64_t links) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < links;
       i += step) {
    *reinterpret_cast<std::uint64_t*>(chain.address_at(i)) = chain.address_at(i + 1);
  }
}

/// Reads a word at each place, `place(0)` to `place(count - 1)`, by each block: the lines come into
/// L2 by way of this block's SM, and the pages into what it keeps of translations. The sum of all
/// is stored if it is one value in 2^32, so the reads are needed and none writes.
template <class Place>
__device__ __forceinline__ void visit_words(std::uint64_t count, std::uint32_t* sink,
                                            Place&& place) {
  std::uint32_t sum = 0;
#pragma unroll 4
  for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x) {
    std::uint32_t word;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(word) : "l"(place(i)));
    sum ^= word;
  }
  if (sum == 0xA5C3F00DU) *sink = sum;
}

constexpr unsigned write_threads = 256;
constexpr unsigned write_blocks = 1024;
constexpr unsigned visit_threads = 1024;
/// What the GPU maps at once, as far as anybody knows; where it maps more, pages are visited twice.
constexpr std::uint64_t page_bytes = std::uint64_t{2} << 20U;

/// The launches of a chase and what came of them: a subject of the protocol. `Launch` starts the
/// walkers, one block each: launch(first step of walker 0, steps between walkers, warm loads,
/// loads, stamps, stream). `ready` brings about the state that a launch starts from, on the stream.
template <class Launch, class Ready>
class Chase {
 public:
  /// `word_at`: what the load leaves behind that comes to stand at a step of the walk.
  using WordAt = std::uint64_t (*)(const PermutedChain&, std::uint64_t step);

  Chase(const PermutedChain& chain, WordAt word_at, std::uint64_t links, unsigned walkers,
        const Stream& stream, Launch launch, Ready ready)
      : chain_{chain},
        word_at_{word_at},
        walks_{chain.cycle.slots(), links, walkers},
        walkers_{walkers},
        stream_{stream},
        launch_{launch},
        ready_{ready},
        stamps_{walkers},
        landed_{walkers} {}

  /// Finds out what a load costs and makes walks of about `cycles`.
  void size_walks(std::uint32_t warm, std::uint32_t pilot, double cycles) {
    loads_.warm = warm;
    (void)run(pilot);
    (void)run(pilot);  // the first one may have met code and translations for the first time
    double slowest = 0;
    for (const Walk& one : landed())
      slowest = std::max(slowest, one.cycles);
    loads_ = loads_for(cycles, slowest / pilot, warm, walks_.most_loads());
  }

  void prepare() {}  // each launch has its own preparation, right before it

  Observation observe() {
    const double brief_seconds = run(loads_.brief);
    const std::vector<Walk> brief = landed();
    const double full_seconds = run(loads_.full);
    return observed(brief, brief_seconds, landed(), full_seconds, loads_);
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }

  /// For counting: a launch from the first step on, without its preparation.
  void launch_from_start(std::uint32_t loads) {
    launch_(0, walks_.gap(), loads_.warm, loads, stamps_.data(), stream_.get());
    cuda_check(cudaGetLastError());
  }
  void warm_loads(std::uint32_t warm) { loads_.warm = warm; }
  /// Checks what launch_from_start left behind.
  void check_from_start(std::uint32_t loads) {
    landed_.download_from(stamps_, stream_.get());
    stream_.synchronize();
    check(0, loads);
  }
  void poison() {
    constexpr int byte = 0xA5;
    stamps_.poison(byte, stream_.get());
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "chain ends against the cycle");
  }
  /// Every walker on an SM of its own, `sms` of them.
  [[nodiscard]] Gate placement(std::size_t sms) const {
    std::vector<std::uint32_t> where;
    for (const Stamps& one : landed_.span())
      where.push_back(static_cast<std::uint32_t>(one.sm));
    return placement_gate(where, sms, 1);
  }
  [[nodiscard]] const Loads& loads() const { return loads_; }
  [[nodiscard]] std::uint64_t first_sm() const { return landed_.span().front().sm; }

 private:
  double run(std::uint32_t loads) {
    const std::uint64_t first = walks_.begin(std::uint64_t{loads_.warm} + loads);
    ready_();
    poison();
    begin_.record(stream_.get());
    launch_(first, walks_.gap(), loads_.warm, loads, stamps_.data(), stream_.get());
    cuda_check(cudaGetLastError());
    end_.record(stream_.get());
    landed_.download_from(stamps_, stream_.get());
    stream_.synchronize();
    check(first, loads);
    return end_.seconds_since(begin_);
  }

  [[nodiscard]] std::vector<Walk> landed() const {
    constexpr double nano = 1e-9;
    std::vector<Walk> walks;
    for (const Stamps& one : landed_.span()) {
      walks.push_back({.core = static_cast<std::uint32_t>(one.sm),
                       .cycles = static_cast<double>(one.cycles),
                       .seconds = static_cast<double>(one.nanoseconds) * nano});
    }
    return walks;
  }

  void check(std::uint64_t first, std::uint32_t loads) {
    for (unsigned walker = 0; walker < walkers_; ++walker) {
      const std::uint64_t step = walks_.end(first, walker, std::uint64_t{loads_.warm} + loads);
      ++checked_;
      if (landed_.span()[walker].end != word_at_(chain_, step)) ++different_;
    }
  }

  PermutedChain chain_;
  WordAt word_at_;
  CycleWalks walks_;
  unsigned walkers_;
  const Stream& stream_;
  Launch launch_;
  Ready ready_;
  DeviceBuffer<Stamps> stamps_;
  PinnedBuffer<Stamps> landed_;
  Event begin_;
  Event end_;
  Loads loads_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

/// Bytes of device memory that a benchmark may take: 80 % of what is free.
inline std::uint64_t free_bytes_to_use() {
  std::size_t free = 0;
  std::size_t total = 0;
  cuda_check(cudaMemGetInfo(&free, &total));
  constexpr std::uint64_t parts = 5;
  return std::uint64_t{free} / parts * (parts - 1);
}

/// "64 GiB", or bytes where that is no round number.
inline std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t mebi = std::uint64_t{1} << 20U;
  if (bytes >= mebi) return std::to_string(bytes / mebi) + " MiB";
  return std::to_string(bytes) + " B";
}

}  // namespace strata::pointer_chase
