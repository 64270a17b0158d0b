#include "harness/cuda/cuda_machine.hpp"
#include "harness/measure/engine.hpp"
#include "micro/transfer/allocation.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace strata::allocation {
namespace {

/// The device's memory pool, which keeps released memory during this object's lifetime.
class KeepingPool {
 public:
  KeepingPool() {
    int device = 0;
    cuda_check(cudaGetDevice(&device));
    cuda_check(cudaDeviceGetDefaultMemPool(&pool_, device));
    cuda_check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &before_));
    set(std::numeric_limits<std::uint64_t>::max());
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
  void set(std::uint64_t bytes) {
    cuda_check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &bytes));
  }
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
  Experiment experiment = describe();
  require_timed(session, experiment);
  CudaMachine machine{session, 0};
  const Stream& stream = machine.stream();
  std::optional<KeepingPool> pool;
  if (memory == Memory::pool) pool.emplace();

  // The addresses are kept and judged after the series, so that nothing but calls is timed.
  const auto series = [&](std::uint32_t count) {
    std::array<void*, many> pieces{};
    std::array<std::uintptr_t, many> places{};
    const double seconds = machine.time_caller([&] {
      for (std::uint32_t i = 0; i < count; ++i) {
        pieces[i] = allocate(memory, bytes, stream.get());
        places[i] = reinterpret_cast<std::uintptr_t>(pieces[i]);
      }
      for (std::uint32_t i = 0; i < count; ++i)
        release(memory, pieces[i], stream.get());
    });
    experiment.tally.checked += count;
    experiment.tally.different +=
        misplaced(std::span{places}.first(count), bytes, alignment(memory));
    return seconds;
  };
  experiment.observe = [&] {
    const double brief = series(few);
    return std::vector{seconds_of_piece(brief, series(many))};
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::allocation
