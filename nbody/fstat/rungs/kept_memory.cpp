#include "nbody/fstat/calls.hpp"

namespace strata::fstat::kept_memory {
namespace {

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  return calls_in_kept_memory(seen, [](GroupMemory& memory, const Signals& group, Queue& queue) {
    memory.visit_pieces(group, [&](void* to, const void* from, std::size_t bytes) {
      queue.copy_bytes(Activity::Of::copy_in, to, from, bytes);
    });
  });
}

STRATA_RUNG("fstat_kept_memory", make);

}  // namespace
}  // namespace strata::fstat::kept_memory
