#include "nbody/gravity/host/vectors.hpp"

namespace strata::nbody::simd_rsqrt {
namespace {

const Rung story{
    .name = "simd_rsqrt",
    .backend = Backend::host,
    .before = "simd",
    .question = "How much does an approximate reciprocal square root with a Newton step gain?",
    .change = "rsqrt and one Newton step instead of square root and division",
    .source = handbook("14.9, Listing 14.8"),
    .expectation = "a multiple: neither square root nor division is pipelined",
    .approximate = true,
    .layouts = {"soa"}};

STRATA_RUNG(story, one_body_kernel<true>);

}  // namespace
}  // namespace strata::nbody::simd_rsqrt
