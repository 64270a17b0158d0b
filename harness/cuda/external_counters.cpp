// A source for a profiler outside this process. It runs the same work as in-process counting, once,
// in an NVTX range that the profiler can distinguish from the preparations.
#include "harness/base/finally.hpp"
#include "harness/counters/counters.hpp"
#include "harness/cuda/cuda_check.hpp"

#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

namespace strata {
namespace {

class ExternalCounters final : public CounterSource {
 public:
  [[nodiscard]] const CounterPlan& plan() const override { return plan_; }

  /// Whether a profiler counts is not known here.
  void attach() override {}

  [[nodiscard]] std::optional<std::vector<Counts>> count(
      std::span<const CountedRange> ranges) override {
    for (const CountedRange& range : ranges) {
      if (range.prepare) range.prepare();
      cuda_check(cudaDeviceSynchronize());  // the preparation ends before the range
      (void)nvtxRangePushA("counted");      // selected by ncu --nvtx --nvtx-include "counted/"
      const Finally pop = finally([] { (void)nvtxRangePop(); });
      range.work();
      cuda_check(cudaDeviceSynchronize());
    }
    return std::vector<Counts>(ranges.size());
  }

 private:
  CounterPlan plan_{.passes = 1};
};

}  // namespace

std::unique_ptr<CounterSource> open_external_counters() {
  return std::make_unique<ExternalCounters>();
}

}  // namespace strata
