// libcupti, opened at run time: a program that is only to measure needs neither it nor a CUDA
// toolkit.
#pragma once

#include <string>

namespace strata {

/// The library that is used: opened by the first call, the same ever after.
struct CuptiLibrary {
  void* handle = nullptr;
  std::string problem;  ///< why there is none; empty otherwise
};
[[nodiscard]] const CuptiLibrary& cupti_library();

/// Throws CountersUnavailable without libcupti.
void require_cupti();

}  // namespace strata
