// Does an allocation fail although enough memory is free?
//
// Pieces of one size fill a GPU's memory, of which a ballast leaves 1 GiB. Every second piece is
// released, and then as many bytes are requested again, in pieces `factor` times as large. Without
// fragmentation no request fails; where freed memory stays in place, a large piece fits into no
// hole (Breitbart 2008, section 4.3.1: allocations failed irregularly). `device`: cudaMalloc;
// `pool`: cudaMallocAsync.
#include "harness/cuda/benchmark.cuh"
#include "micro/transfer/host_calls.hpp"
#include "micro/transfer/pieces.hpp"

namespace strata::fragmentation {

enum class Memory { device, pool };
constexpr auto memories = choices_of<Memory>("device", "pool");

constexpr std::uint64_t room_bytes = std::uint64_t{1} << 30U;  ///< that the ballast leaves
constexpr std::uintptr_t alignment = 256;  ///< CUDA C++ Programming Guide, Device Memory Accesses

namespace {

Benchmark declare() {
  return {.suite = "micro",
          .name = "fragmentation",
          .question = "Does an allocation fail although enough memory is free?",
          .axes = {memories.axis("memory", "of the GPU, or of its memory pool"),
                   listed_axis("bytes", "size of the pieces that fill the memory",
                               {"65536", "1048576", "4194304"}),
                   listed_axis("factor", "size of a request, in pieces", {"1", "2", "16"})},
          .quantities = {{"failed_requests", "share of the requests that failed"},
                         {"free_share",
                          "free bytes that the driver reports before the requests ÷ released"},
                         {"request_seconds", "a request, failed or not, for its caller (wall)"}},
          .seconds_per_case = 2};
}

/// A sample.
struct Outcome {
  double request_seconds = 0;
  double failed = 0;      ///< of the requests
  double free_share = 0;  ///< of the released bytes
};

Experiment describe(const Params& /*params*/, const GpuFacts& /*gpu*/) {
  Experiment experiment =
      host_calls({{"request_seconds", "s", "wall", number(&Outcome::request_seconds)}},
                 "addresses of pieces that overlap or are not aligned");
  // Shares may be 0, of which no relative precision can be demanded: their means are reported.
  experiment.conclude = [](Session& session, const std::vector<Sample>& samples) {
    const auto add_mean = [&](const char* quantity, double Outcome::*share) {
      double sum = 0;
      for (const Sample& sample : samples)
        sum += number(share)(sample);
      session.add(Measurement{.quantity = quantity,
                              .unit = "1",
                              .provenance = Provenance::reported,
                              .method = "driver",
                              .samples = {sum / static_cast<double>(samples.size())}});
    };
    add_mean("failed_requests", &Outcome::failed);
    add_mean("free_share", &Outcome::free_share);
  };
  return experiment;
}

#ifdef __CUDACC__

std::uint64_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  cuda_check(cudaMemGetInfo(&free, &total));
  return free;
}

/// Pieces of memory, released with it.
class Pieces {
 public:
  Pieces(Memory memory, cudaStream_t stream) : memory_{memory}, stream_{stream} {}
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  Pieces(Pieces&&) = delete;
  Pieces& operator=(Pieces&&) = delete;
  ~Pieces() {
    cuda_release(release_if([](std::size_t) { return true; }), "releasing pieces");
  }

  /// Whether there was memory for it.
  bool add(std::size_t bytes) {
    void* piece = nullptr;
    const cudaError_t error = memory_ == Memory::device ? cudaMalloc(&piece, bytes)
                                                        : cudaMallocAsync(&piece, bytes, stream_);
    if (error == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();  // not sticky, but the next check would report it
      return false;
    }
    cuda_check(error);
    pieces_.push_back(piece);
    return true;
  }
  void release_every_second() {
    cuda_check(release_if([](std::size_t i) { return i % 2 == 1; }));
  }
  [[nodiscard]] std::size_t count() const { return pieces_.size(); }
  [[nodiscard]] std::size_t misplaced(std::size_t bytes) const {
    std::vector<std::uintptr_t> places(pieces_.size());
    std::ranges::transform(pieces_, places.begin(),
                           [](void* piece) { return reinterpret_cast<std::uintptr_t>(piece); });
    return allocation::misplaced(places, bytes, alignment);
  }

 private:
  /// Those at the positions for which `released` is true. Returns the first error.
  template <class Released>
  cudaError_t release_if(const Released& released) {
    cudaError_t first = cudaSuccess;
    std::vector<void*> kept;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (!released(i)) {
        kept.push_back(pieces_[i]);
        continue;
      }
      const cudaError_t error =
          memory_ == Memory::device ? cudaFree(pieces_[i]) : cudaFreeAsync(pieces_[i], stream_);
      if (first == cudaSuccess) first = error;
    }
    pieces_ = std::move(kept);
    const cudaError_t last = cudaStreamSynchronize(stream_);
    return first == cudaSuccess ? last : first;
  }

  Memory memory_;
  cudaStream_t stream_;
  std::vector<void*> pieces_;
};

void run(Session& session) {
  const Memory memory = memories.of(session.param("memory"));
  const auto bytes = static_cast<std::size_t>(session.whole("bytes"));
  const auto factor = static_cast<std::size_t>(session.whole("factor"));
  Experiment experiment = describe(session.params(), session.gpu());
  require_timed(session, experiment);
  CudaMachine machine{session, 0};
  const cudaStream_t stream = machine.stream().get();
  if (free_bytes() < 2 * room_bytes) throw Skipped{"less than 2 GiB of device memory are free"};
  const DeviceBuffer<char> ballast{free_bytes() - room_bytes};

  experiment.observe = [&] {
    Pieces pieces{memory, stream};
    const std::size_t most = 2 * room_bytes / bytes;
    while (pieces.count() < most && pieces.add(bytes)) {
    }
    const std::size_t filled = pieces.count();
    experiment.tally.checked += filled;
    experiment.tally.different += pieces.misplaced(bytes) + (filled == most ? 1 : 0);
    pieces.release_every_second();
    const std::size_t released = filled - pieces.count();
    const std::size_t requests = released / factor;
    if (requests == 0) throw Skipped{"the memory holds too few pieces"};
    const double free_share =
        static_cast<double>(free_bytes()) / (static_cast<double>(released) * bytes);
    Pieces large{memory, stream};
    const double seconds = machine.time_caller([&] {
      for (std::size_t i = 0; i < requests; ++i)
        (void)large.add(factor * bytes);
    });
    experiment.tally.checked += large.count();
    experiment.tally.different += large.misplaced(factor * bytes);
    const auto all = static_cast<double>(requests);
    return sample_of(Outcome{.request_seconds = seconds / all,
                             .failed = 1 - static_cast<double>(large.count()) / all,
                             .free_share = free_share});
  };
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::fragmentation
