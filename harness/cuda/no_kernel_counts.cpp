// Stand-in for the counts of single launches in a build without CUPTI.
#include "harness/counters/counter_absence.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/kernel_counts.hpp"

namespace strata {
namespace {

[[noreturn]] void no_counts() {
  throw CountersUnavailable{no_counters_in_this_build(STRATA_WHY_NO_COUNTERS)};
}

}  // namespace

std::string architecture_of(int /*ordinal*/, const std::string& /*target*/) {
  no_counts();
}
std::map<std::string, std::string> sass_metrics(int /*ordinal*/) {
  no_counts();
}
KernelCounts count_kernel(int /*ordinal*/, const KernelLaunch& /*launch*/,
                          const std::vector<std::string>& /*metrics*/) {
  no_counts();
}
void renew_context(int /*ordinal*/) {
  no_counts();
}
KernelTurns run_by_turns(int /*ordinal*/, const KernelLaunch& /*first*/,
                         const KernelLaunch& /*second*/, unsigned /*turns*/) {
  no_counts();
}
std::vector<std::uint32_t> source_lines(const std::string& /*cubin*/,
                                        const std::string& /*function*/) {
  no_counts();
}

}  // namespace strata
