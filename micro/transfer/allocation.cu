// What does it cost to allocate memory for a GPU and to release it?
//
// `device`: cudaMalloc and cudaFree. `pool`: cudaMallocAsync and cudaFreeAsync in a stream, whose
// pool keeps what is released. `pinned`: cudaMallocHost and cudaFreeHost. A series allocates pieces
// of one size, and then releases them in the same order; the GPU is idle. The cost of an allocation
// with its release is the slope between a long series and a short one, by the caller's clock.
//
// The pieces of a series must be disjoint, and those of the GPU aligned to 256 bytes, as their
// addresses show.
#include "harness/cuda/benchmark.cuh"
#include "micro/transfer/host_calls.hpp"
#include "micro/transfer/pieces.hpp"

#include <limits>

namespace strata::allocation {

enum class Memory { device, pool, pinned };
constexpr auto memories = choices_of<Memory>("device", "pool", "pinned");

/// Pieces of the short and of the long series.
constexpr std::uint32_t few = 16;
constexpr std::uint32_t many = 64;

/// Of addresses (CUDA C++ Programming Guide, Device Memory Accesses); CUDA promises none on the
/// host.
[[nodiscard]] constexpr std::uintptr_t alignment(Memory memory) {
  return memory == Memory::pinned ? 1 : 256;
}

namespace {

Benchmark declare() {
  return {.suite = "micro",
          .name = "allocation",
          .question = "What does it cost to allocate memory for a GPU and to release it?",
          .axes = {memories.axis("memory",
                                 "of the GPU, of its memory pool, or pinned memory of the host"),
                   number_axis("bytes", "size of a piece", 1, std::uint64_t{1} << 28U,
                               {"512", "65536", "1048576", "16777216"})},
          .quantities = {{"allocation_seconds",
                          "one more allocation with its release, for its caller (wall)"}},
          .seconds_per_case = 0.1};
}

/// A sample.
struct Seconds {
  double of_piece = 0;
};

Experiment describe(const Params& /*params*/, const GpuFacts& /*gpu*/) {
  return host_calls({{"allocation_seconds", "s", "wall_slope", number(&Seconds::of_piece)}},
                    "addresses of pieces that overlap or are not aligned");
}

#ifdef __CUDACC__

/// The device's memory pool, which keeps released memory during this object's lifetime.
class KeepingPool {
 public:
  KeepingPool() {
    int device = 0;
    cuda_check(cudaGetDevice(&device));
    cuda_check(cudaDeviceGetDefaultMemPool(&pool_, device));
    cuda_check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &before_));
    auto all = std::numeric_limits<std::uint64_t>::max();
    cuda_check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &all));
  }
  KeepingPool(const KeepingPool&) = delete;
  KeepingPool& operator=(const KeepingPool&) = delete;
  KeepingPool(KeepingPool&&) = delete;
  KeepingPool& operator=(KeepingPool&&) = delete;
  ~KeepingPool() {
    cuda_release(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &before_),
                 "restoring the memory pool");
    cuda_release(cudaMemPoolTrimTo(pool_, 0), "emptying the memory pool");
  }

 private:
  cudaMemPool_t pool_ = nullptr;
  std::uint64_t before_ = 0;
};

void* allocate(Memory memory, std::size_t bytes, cudaStream_t stream) {
  void* piece = nullptr;
  switch (memory) {
    case Memory::device:
      cuda_check(cudaMalloc(&piece, bytes));
      break;
    case Memory::pool:
      cuda_check(cudaMallocAsync(&piece, bytes, stream));
      break;
    case Memory::pinned:
      cuda_check(cudaMallocHost(&piece, bytes));
      break;
  }
  return piece;
}

void release(Memory memory, void* piece, cudaStream_t stream) {
  switch (memory) {
    case Memory::device:
      cuda_check(cudaFree(piece));
      break;
    case Memory::pool:
      cuda_check(cudaFreeAsync(piece, stream));
      break;
    case Memory::pinned:
      cuda_check(cudaFreeHost(piece));
      break;
  }
}

void run(Session& session) {
  const Memory memory = memories.of(session.param("memory"));
  const auto bytes = static_cast<std::size_t>(session.whole("bytes"));
  Experiment experiment = describe(session.params(), session.gpu());
  require_timed(session, experiment);
  CudaMachine machine{session, 0};
  const Stream& stream = machine.stream();
  std::optional<KeepingPool> pool;
  if (memory == Memory::pool) pool.emplace();

  // The addresses are judged after the series, so that nothing but calls is timed.
  const auto series = [&](std::uint32_t count) {
    std::array<void*, many> pieces{};
    const double seconds = machine.time_caller([&] {
      for (std::uint32_t i = 0; i < count; ++i)
        pieces[i] = allocate(memory, bytes, stream.get());
      for (std::uint32_t i = 0; i < count; ++i)
        release(memory, pieces[i], stream.get());
    });
    std::vector<std::uintptr_t> places;
    for (std::uint32_t i = 0; i < count; ++i)
      places.push_back(reinterpret_cast<std::uintptr_t>(pieces[i]));
    experiment.tally.checked += count;
    experiment.tally.different += misplaced(places, bytes, alignment(memory));
    return seconds;
  };
  experiment.observe = [&] {
    const double brief = series(few);
    return sample_of(Seconds{.of_piece = (series(many) - brief) / (many - few)});
  };
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::allocation
