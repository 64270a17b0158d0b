// The same of a CPU, by the energy counters of its packages (RAPL).
#include "harness/cpu/rapl.hpp"
#include "micro/energy/energy.hpp"

namespace strata::energy {
namespace {

void run(Session& session) {
  Rapl rapl;
  if (!rapl.absence().empty()) throw Skipped{rapl.absence()};
  // A reader that wakes up more often takes time from the work of its core.
  measure_energy(session,
                 {.name = "rapl",
                  .read = [&] { return NvmlReading{.joules = rapl.joules()}; },
                  .pause = std::chrono::milliseconds{20}},
                 nullptr);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::energy
