#include "harness/base/error.hpp"
#include "nbody/fstat/calls.hpp"

namespace strata::fstat::batched {
namespace {

/// The pieces of a call.
struct Batch {
  std::vector<void*> to;
  std::vector<const void*> from;
  std::vector<std::size_t> bytes;
};

void bring([[maybe_unused]] const Batch& batch, [[maybe_unused]] Queue& queue) {
#if CUDART_VERSION >= 13000
  std::size_t all = 0;
  for (const std::size_t one : batch.bytes)
    all += one;
  cudaMemcpyAttributes how{};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
  queue.copy(
      Activity::Of::copy_in, all,
      [&] {
        cuda_check(cudaMemcpyBatchAsync(batch.to.data(), batch.from.data(), batch.bytes.data(),
                                        batch.to.size(), &how, &first, 1, queue.stream().get()));
      },
      batch.to.size());
#else
  throw Skipped{"cudaMemcpyBatchAsync is called as CUDA 13.0 has it"};
#endif
}

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  return calls_in_kept_memory(seen, [](GroupMemory& memory, const Signals& group, Queue& queue) {
    Batch batch;
    memory.visit_pieces(group, [&](void* to, const void* from, std::size_t bytes) {
      batch.to.push_back(to);
      batch.from.push_back(from);
      batch.bytes.push_back(bytes);
    });
    bring(batch, queue);
  });
}

STRATA_RUNG("fstat_batched", make);

}  // namespace
}  // namespace strata::fstat::batched
