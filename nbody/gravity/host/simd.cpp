#include "nbody/gravity/host/vectors.hpp"

namespace strata::nbody::simd {
namespace {

STRATA_RUNG("simd", one_body_kernel<false>);

}  // namespace
}  // namespace strata::nbody::simd
