// The GPU that tests measure on, opened once for the process and at its own clock.
#pragma once

#include "harness/run/case_runner.hpp"

namespace strata {

inline Device& gpu() {
  static const auto device = [] {
    auto opened = open_cuda_device(0);
    opened->settle();
    return opened;
  }();
  return *device;
}

inline Cache& cache() {
  (void)gpu();  // opened before the cache is made, so closed after it is gone
  static Cache kept;
  return kept;
}

}  // namespace strata
