// Rung simd_rsqrt: what does an approximate reciprocal square root with a Newton step bring? (CUDA
// Handbook 14.9, Listing 14.8)
#include "nbody/gravity/host/vector_walk.hpp"

namespace strata::nbody::simd_rsqrt {
namespace {

STRATA_HOST_RUNG("simd_rsqrt", vector_climber<true>);

}  // namespace
}  // namespace strata::nbody::simd_rsqrt
