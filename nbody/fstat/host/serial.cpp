#include "nbody/fstat/host/host_rung.hpp"

namespace strata::fstat::serial {
namespace {

const Rung rung{.name = "fstat_serial",
                .question = "What does a term cost one core, where each spectrum is a piece?",
                .change = "sums over signals as LALSuite nests them, on one core without vectors",
                .source = seed("listings 4.1 and 4.2"),
                .expectation =
                    "16 divisions a term one after the other, some hundred cycles; the pieces of "
                    "a stack stay in L1 and L2 for all its frequencies",
                .most_terms = 2e7};

HostKernel make(const Observation& /*seen*/, Vectors /*have*/) {
  return {.run =
              [](const HostPass& pass, ThreadTeam& /*team*/) {
                const Problem& problem = pass.seen->problem;
                for (std::uint32_t sky = 0; sky < problem.sky; ++sky) {
                  visit_bands(
                      pass, sky, pass.pieces->matrices(sky), 0, bands_of(problem),
                      [&](std::uint32_t group) { return pass.pieces->of(sky, group); },
                      scalar_band);
                }
              },
          .one_core = true};
}

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::fstat::serial
