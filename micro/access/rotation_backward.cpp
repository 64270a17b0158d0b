#include "micro/access/rotation.hpp"

namespace strata::rotation_backward {
namespace {

void run(Session& session) {
  rotation::run_on_cpu(rotation::Way::backward, session);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace

Benchmark declare() {
  return image_work::declared("rotation_backward",
                              "What does a rotation cost that writes each pixel once, and reads it "
                              "from its source position?",
                              /*rotates=*/true);
}

}  // namespace strata::rotation_backward
