// What `strata doctor` says of counters: each GPU is tried, because permission, another profiler
// and a shared slice show for certain in a trial alone.
#include "harness/counters/counter_absence.hpp"
#include "harness/counters/counters.hpp"

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace strata {
namespace {

/// The set that proves levels: where it can be counted, a run can be.
constexpr const char* tried_set = "memory";

Finding absent(std::string what, const Absence& absence) {
  return {Finding::State::absent, std::move(what), absence.reason, absence.mend};
}

/// A trial on one GPU: all that a worker does before its first case.
Finding diagnose(int ordinal) {
  const auto what = fmt::format("cuda:{} counters", ordinal);
  try {
    const auto source =
        open_counters({.kind = DeviceRequest::Kind::cuda, .ordinal = ordinal}, {{tried_set}});
    cudaError_t status = cudaSetDevice(ordinal);
    if (status == cudaSuccess) status = cudaFree(nullptr);  // makes the context, if nothing has
    if (status != cudaSuccess) {
      (void)cudaGetLastError();
      return absent(what, no_gpu_to_count_on(cudaGetErrorString(status)));
    }
    source->attach();
    const CounterPlan& plan = source->plan();
    auto detail =
        fmt::format("{}, a trial was counted; set {}: {} quantities in {} pass{}", plan.chip,
                    tried_set, plan.quantities.size(), plan.passes, plan.passes == 1 ? "" : "es");
    if (!plan.absent.empty()) {
      detail += fmt::format(", {} that this chip does not have", plan.absent.size());
    }
    return {Finding::State::ok, what, std::move(detail), ""};
  } catch (const CountersUnavailable& unavailable) {
    return absent(what, {unavailable.what(), unavailable.mend()});
  } catch (const std::exception& error) {
    return {Finding::State::warning, what, fmt::format("the trial failed: {}", error.what()),
            "see the kernel's log (dmesg)"};
  }
}

}  // namespace

std::vector<Finding> diagnose_counters() {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    (void)cudaGetLastError();
    // The findings of the GPU already name the cause and the remedy.
    return {absent("counters", no_gpu_to_count_on(cudaGetErrorString(status)))};
  }
  std::vector<Finding> findings;
  for (int ordinal = 0; ordinal < count; ++ordinal)
    findings.push_back(diagnose(ordinal));
  return findings;
}

}  // namespace strata
