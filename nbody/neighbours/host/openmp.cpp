#include "harness/base/error.hpp"
#include "nbody/neighbours/host/all_pairs.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace strata::neighbours::openmp {
namespace {

HostKernel make(const Problem& /*problem*/, const Choice& /*choice*/, Vectors /*have*/) {
#if defined(_OPENMP)
  return HostKernel::step_by_step([](const Step& step, ThreadTeam& team) {
    const int threads = static_cast<int>(team.size());
#pragma omp parallel num_threads(threads)
    {
      const ThreadRank thread{.rank = static_cast<std::size_t>(omp_get_thread_num()),
                              .size = team.size()};
      with_collector(step, thread, [&](auto& collector) {
#pragma omp for schedule(static)
        for (std::uint32_t i = 0; i < step.agents(); ++i)
          test_all_agents(step, thread.rank, i, collector);
      });
    }
  });
#else
  throw Skipped{"this build has no OpenMP"};
#endif
}

STRATA_RUNG("neighbours_openmp", make);

}  // namespace
}  // namespace strata::neighbours::openmp
