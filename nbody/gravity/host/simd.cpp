#include "nbody/gravity/host/vectors.hpp"

namespace strata::nbody::simd {
namespace {

const Rung story{
    .name = "simd",
    .backend = Backend::host,
    .before = "cpu_soa",
    .question = "How much do vectors gain, with exact square roots and divisions?",
    .change = "the CPU's widest vectors, over the source bodies",
    .source = handbook("14.9"),
    .expectation =
        "a factor equal to the vector lanes, less the cost of vector square roots and divisions",
    .layouts = {"soa"}};

STRATA_RUNG(story, one_body_kernel<false>);

}  // namespace
}  // namespace strata::nbody::simd
