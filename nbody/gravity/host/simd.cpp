// Rung simd: what do vectors bring, with square roots and divisions as they are? (CUDA Handbook
// 14.9)
#include "nbody/gravity/host/one_body.hpp"

namespace strata::nbody::simd {
namespace {

STRATA_HOST_RUNG("simd", one_body_kernel<false>);

}  // namespace
}  // namespace strata::nbody::simd
