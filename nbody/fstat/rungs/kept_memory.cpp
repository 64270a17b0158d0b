#include "nbody/fstat/calls.hpp"

namespace strata::fstat::kept_memory {
namespace {

const Rung rung{
    .name = "fstat_kept_memory",
    .backend = Backend::cuda,
    .before = "fstat_per_call",
    .question = "How much of it was the allocation of memory?",
    .change = "memory for the largest group is allocated once and stays",
    .source = seed("Figure 4.7: 95 % for memory management, 70 % for copies"),
    .expectation = "49 allocations and releases a call less; the 48 copies stay, of 2 to 3 µs each",
    .approximate = true,
    .predicted = predict_kept_memory,
    .most_terms = 2e6};

#if defined(STRATA_HAS_CUDA)
DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  return calls_in_kept_memory(seen, [](GroupMemory& memory, const Signals& group, Queue& queue) {
    memory.visit_pieces(group, [&](void* to, const void* from, std::size_t bytes) {
      queue.copy_bytes(Activity::Of::copy_in, to, from, bytes);
    });
  });
}
#endif

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::kept_memory
