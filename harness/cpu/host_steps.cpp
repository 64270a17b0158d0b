#include "harness/cpu/host_steps.hpp"

#include "harness/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strata {
namespace {

constexpr double sample_seconds = 1e-2;  // duration of a sample, or of one step if that is longer
constexpr double most_steps = 65536;

}  // namespace

void require_time_for_samples(const Plan& plan, double seconds, const char* what) {
  const int samples = plan.warmups + plan.min_samples;
  const double all = seconds * samples;
  if (all <= plan.time_limit / 2) return;
  throw Skipped{fmt::format("{} samples of {} would take {:.0f} s; the limit of a case is {:.0f} s",
                            samples, what, all, plan.time_limit)};
}

std::size_t steps_of_sample(const Plan& plan, const std::function<double()>& seconds_of_step) {
  double seconds = seconds_of_step();
  require_time_for_samples(plan, seconds, "one step");
  if (seconds < sample_seconds) seconds = std::min(seconds, seconds_of_step());  // caches are warm
  const double count = std::ceil(sample_seconds / std::max(seconds, 1e-9));
  return static_cast<std::size_t>(std::clamp(count, 1.0, most_steps));
}

std::vector<double> by_both_clocks(const HostMachine& machine, double outer) {
  const Stamp& stamp = machine.stamps().front();
  const auto cycles = static_cast<double>(stamp.cycles[1] - stamp.cycles[0]);
  return {outer, machine.counted_seconds(), cycles / outer};
}

}  // namespace strata
