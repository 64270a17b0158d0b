// How fast is the sweep `default` read, and expanded into the cases of a CPU?
#include "harness/case/sweep.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace strata {
namespace {

void sweep_is_read(benchmark::State& state) {
  Sweep sweep;
  for (auto _ : state)
    sweep = load_sweep("default", benchmarks());
  if (sweep.name != "default" || sweep.entries.empty()) state.SkipWithError("no entries");
}
BENCHMARK(sweep_is_read);

void sweep_is_expanded(benchmark::State& state) {
  const Sweep sweep = load_sweep("default", benchmarks());
  std::vector<Case> cases;
  for (auto _ : state)
    cases = expand(sweep, Backend::host, benchmarks());
  if (cases.empty()) state.SkipWithError("no cases");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(cases.size()));
}
BENCHMARK(sweep_is_expanded);

}  // namespace
}  // namespace strata
