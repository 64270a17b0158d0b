#include "nbody/gravity/host/vectors.hpp"

namespace strata::nbody::simd_rsqrt {
namespace {

STRATA_RUNG("simd_rsqrt", one_body_kernel<true>);

}  // namespace
}  // namespace strata::nbody::simd_rsqrt
