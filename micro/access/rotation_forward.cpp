#include "micro/access/rotation.hpp"

namespace strata::rotation_forward {
namespace {

void run(Session& session) {
  rotation::run_on_cpu(rotation::Way::forward, session);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace

Benchmark declare() {
  return image_work::declared(
      "rotation_forward",
      "What does a rotation cost that reads each pixel once, and writes it to its target position?",
      /*rotates=*/true);
}

}  // namespace strata::rotation_forward
