#include "nbody/fstat/calls.hpp"

#if defined(__CUDACC__)
#include <cub/device/device_memcpy.cuh>
#endif

namespace strata::fstat::gathered {
namespace {

const Rung rung{
    .name = "fstat_gathered",
    .backend = Backend::cuda,
    .before = "fstat_kept_memory",
    .question = "Can a kernel fetch small pieces better than the copy engine?",
    .change =
        "cub::DeviceMemcpy::Batched copies the pieces out of the host's memory, "
        "which is mapped",
    .source = "CCCL, cub::DeviceMemcpy::Batched",
    .expectation =
        "three launches in place of 48 copies: the pieces' 24 KB cross the bus together, "
        "at its latency; still some tens of microseconds a call",
    .approximate = true,
    .predicted = predict_gathered,
    .most_terms = 2e6};

#if defined(__CUDACC__)
/// The lists of a call's pieces, which the kernels read from the host's memory too.
struct Lists {
  PinnedBuffer<void*> to;
  PinnedBuffer<void*> from;  // not const, for the CUB of CUDA 12.4
  PinnedBuffer<std::size_t> bytes;
  DeviceBuffer<std::byte> work;
  std::size_t launches = 0;

  explicit Lists(std::uint32_t most) : to{most}, from{most}, bytes{most}, work{work_bytes(most)} {}

  void gather(std::uint32_t count, cudaStream_t stream) {
    std::size_t size = work.size();
    cuda_check(cub::DeviceMemcpy::Batched(work.data(), size, from.data(), to.data(), bytes.data(),
                                          count, stream));
  }

 private:
  static std::size_t work_bytes(std::uint32_t count) {
    std::size_t size = 0;
    cuda_check(cub::DeviceMemcpy::Batched(nullptr, size, static_cast<void**>(nullptr),
                                          static_cast<void**>(nullptr),
                                          static_cast<std::size_t*>(nullptr), count));
    return size;
  }
};

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  constexpr std::uint32_t others = 3;
  const auto lists = std::make_shared<Lists>(seen.longest_group() + others);
  const Stream stream;
  lists->launches = queued_operations(stream, [&] { lists->gather(1, stream.get()); });
  return calls_in_kept_memory(
      seen, [lists](GroupMemory& memory, const Signals& group, Queue& queue) {
        std::uint32_t count = 0;
        memory.visit_pieces(group, [&](void* to, const void* from, std::size_t bytes) {
          lists->to.span()[count] = to;
          lists->from.span()[count] = const_cast<void*>(from);
          lists->bytes.span()[count++] = bytes;
        });
        queue.launch_as("BatchMemcpyKernel", lists->launches,
                        [&] { lists->gather(count, queue.stream().get()); });
      });
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::gathered
