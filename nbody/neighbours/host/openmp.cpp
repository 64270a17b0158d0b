#include "harness/base/error.hpp"
#include "nbody/neighbours/host/all_pairs.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace strata::neighbours::openmp {
namespace {

const Rung rung{.name = "neighbours_openmp",
                .backend = Backend::host,
                .before = "neighbours_serial",
                .question = "How much does it gain to distribute the agents over all cores?",
                .change = "agents on all cores, equally many on each",
                .source = seed("5.2, on a CPU"),
                .expectation =
                    "a factor equal to the number of cores, with as many distance tests: only read "
                    "data are shared",
                .predicted_tests = predict_all_pairs,
                .most_agents = 65536};

HostKernel make(const Problem& /*problem*/, const Choice& /*choice*/, Vectors /*have*/) {
#if defined(_OPENMP)
  return {.run = [](std::span<const Step> steps, ThreadTeam& team) {
    const int threads = static_cast<int>(team.size());
    for (const Step& step : steps) {
#pragma omp parallel num_threads(threads)
      {
        const ThreadRank thread{.rank = static_cast<std::size_t>(omp_get_thread_num()),
                                .size = team.size()};
        with_collector(step, thread, [&](auto& collector) {
#pragma omp for schedule(static)
          for (std::uint32_t i = 0; i < step.agents(); ++i)
            ask_everybody(step, thread.rank, i, collector);
        });
      }
    }
  }};
#else
  throw Skipped{"this build has no OpenMP"};
#endif
}

STRATA_RUNG(rung, make);

}  // namespace
}  // namespace strata::neighbours::openmp
