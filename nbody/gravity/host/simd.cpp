#include "nbody/gravity/host/vectors.hpp"

namespace strata::nbody::simd {
namespace {

const Rung story{
    .name = "simd",
    .backend = Backend::host,
    .before = "cpu_soa",
    .question = "What do vectors bring, with square roots and divisions as they are?",
    .change = "the widest vectors of the CPU, over the bodies that pull",
    .source = handbook("14.9"),
    .expectation = "the lanes of a vector, less what square roots and divisions of vectors cost",
    .layouts = {"soa"}};

STRATA_RUNG(story, one_body_kernel<false>);

}  // namespace
}  // namespace strata::nbody::simd
