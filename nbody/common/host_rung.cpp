#include "nbody/common/host_rung.hpp"

#include "harness/cpu/topology.hpp"
#include "harness/measure/engine.hpp"

#include <cstdint>
#include <utility>

namespace strata {

HostRun::HostRun(std::function<void(ThreadTeam&)> work)
    : team_{allowed_cpus()},
      launch_{machine_.on_every_core(
          [this, work = std::move(work)](std::size_t /*rank*/, const Call& /*call*/) {
            work(team_);
            return std::uint64_t{0};
          })} {}

double HostRun::seconds() {
  return machine_.time([&] { launch_({}); }, /*held=*/false);
}

void HostRun::measure(Session& session, Experiment experiment,
                      const std::function<void()>& restore) {
  experiment.prepare = restore;
  experiment.observe = [this] { return by_both_clocks(machine_, seconds()); };
  strata::measure(session, machine_, experiment);
}

}  // namespace strata
