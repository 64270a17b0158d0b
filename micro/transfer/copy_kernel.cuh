// Copies to and from memory of the host or of another GPU by a kernel, and how copies are measured.
#pragma once

#include "harness/cuda/cuda_machine.hpp"
#include "harness/measure/engine.hpp"
#include "micro/transfer/copy_times.hpp"

#include <algorithm>

namespace strata::copy_times {

inline constexpr unsigned carry_threads = 256;
inline constexpr unsigned carry_blocks_per_sm = 2;  // two kernels run for both directions

/// Copies `count` elements, four per thread in flight: the body of a kernel with carry_threads
/// threads per block. Expected: LDG.E.128 and STG.E.128 for 16-byte elements.
template <class Element>
__device__ __forceinline__ void carry_elements(const Element* from, Element* to,
                                               std::uint64_t count) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * carry_threads;
  std::uint64_t i = std::uint64_t{blockIdx.x} * carry_threads + threadIdx.x;
#pragma unroll 1
  for (; i + 3 * step < count; i += 4 * step) {
    const Element a = from[i];
    const Element b = from[i + step];
    const Element c = from[i + 2 * step];
    const Element d = from[i + 3 * step];
    to[i] = a;
    to[i + step] = b;
    to[i + 2 * step] = c;
    to[i + 3 * step] = d;
  }
#pragma unroll 1
  for (; i < count; i += step)
    to[i] = from[i];
}

/// Each benchmark has its own kernels of this body, which its contract finds by namespace.
struct CopyKernels {
  void (*wide)(const uint4*, uint4*, std::uint64_t);
  void (*narrow)(const std::uint32_t*, std::uint32_t*, std::uint64_t);

  [[nodiscard]] std::vector<const void*> code() const {
    return {reinterpret_cast<const void*>(wide), reinterpret_cast<const void*>(narrow)};
  }
};

/// Queues a kernel on `stream` that copies `bytes`, 16 at a time if divisible.
inline void copy_by_kernel(const CopyKernels& kernels, const std::uint32_t* from, std::uint32_t* to,
                           std::uint64_t bytes, unsigned sms, cudaStream_t stream) {
  const auto launch = [&]<class Element>(auto* kernel, const Element* source, Element* target) {
    const std::uint64_t count = bytes / sizeof(Element);
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(
        sms * carry_blocks_per_sm, (count + carry_threads - 1) / carry_threads));
    kernel<<<blocks, carry_threads, 0, stream>>>(source, target, count);
    cuda_check(cudaGetLastError());
  };
  if (bytes % sizeof(uint4) == 0) {
    launch(kernels.wide, reinterpret_cast<const uint4*>(from), reinterpret_cast<uint4*>(to));
  } else {
    launch(kernels.narrow, from, to);
  }
}

/// The copies of a case: one direction, the other, or both at once.
struct Ways {
  std::function<void(const Stream&)> there;
  std::function<void(const Stream&)> back;
};

/// Measures copies that each take at least `least_seconds`. `held`: their calls are made before the
/// first event. `verify` follows each sample. With two directions the way back uses `side`, and
/// samples hold their overlap, unless they are short.
inline void measure_copies(Session& session, CudaMachine& machine, Experiment& experiment,
                           const Ways& ways, double least_seconds, bool held,
                           const std::function<void(Tally&)>& verify, Beside side = {}) {
  SideBySide two{std::move(side)};
  const Stream& stream = machine.stream();
  const bool overlaps = ways.there && ways.back && !is_brief(least_seconds);
  const auto copy = [&] {
    if (ways.there && ways.back) {
      two.run(stream, overlaps, ways.there, ways.back);
    } else {
      (ways.there ? ways.there : ways.back)(stream);
    }
  };
  // The first call of its kind may wait for the device, which would wait for the host.
  if (held) (void)machine.time_caller(copy);
  experiment.observe = [&] {
    double overlap = 1;
    Seconds seconds = middle_of(
        copies_per_sample(least_seconds), is_brief(least_seconds),
        [&] {
          const BothSides seen = machine.time_both_sides(copy, held);
          if (overlaps) overlap = std::min(overlap, two.overlap());
          return seen;
        },
        [&] { return machine.time_caller(copy); });
    seconds.overlap = overlap;
    verify(experiment.tally);
    return sample_of(seconds);
  };
  experiment.again = [&] { return machine.time_both_sides(copy, /*held=*/false).device; };
  measure(session, machine, experiment);
}

}  // namespace strata::copy_times
