#include "harness/cpu/vectors.hpp"

namespace strata {

Vectors widest_vectors() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Vectors::none;
  return __builtin_cpu_supports("avx512f") ? Vectors::avx512 : Vectors::avx2;
#else
  return Vectors::none;
#endif
}

}  // namespace strata
