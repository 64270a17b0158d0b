#include "nbody/fstat/calls.hpp"

#include <cub/device/device_memcpy.cuh>

namespace strata::fstat::gathered {
namespace {

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

STRATA_RUNG("fstat_gathered", make);

}  // namespace
}  // namespace strata::fstat::gathered
