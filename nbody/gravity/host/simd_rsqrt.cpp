// Rung simd_rsqrt: what do vectors bring, with square roots and divisions as they are? (CUDA
// Handbook 14.9)
#include "nbody/gravity/host/one_body.hpp"

namespace strata::nbody::simd_rsqrt {
namespace {

STRATA_HOST_RUNG("simd_rsqrt", one_body_kernel<true>);

}  // namespace
}  // namespace strata::nbody::simd_rsqrt
