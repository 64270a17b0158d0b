// Rung simd: what do vectors bring, with square roots and divisions as they are? (CUDA Handbook
// 14.9)
#include "nbody/gravity/host/vector_walk.hpp"

namespace strata::nbody::simd {
namespace {

STRATA_HOST_RUNG("simd", vector_climber<false>);

}  // namespace
}  // namespace strata::nbody::simd
