// Whether a process that measures for hours keeps what it takes: device memory, host memory and
// handles after each repetition of the sweep `quick`. STRATA_ENDURANCE says how many; 3 without it.
#include "harness/case/sweep.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "tests/gpu/settled_gpu.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace strata {
namespace {

struct Held {
  double device_bytes = 0;
  double host_bytes = 0;
  double handles = 0;
};

Held held() {
  std::size_t free = 0;
  std::size_t total = 0;
  cuda_check(cudaMemGetInfo(&free, &total));
  std::ifstream statm{"/proc/self/statm"};
  double pages = 0;
  double resident = 0;
  statm >> pages >> resident;
  using Entries = std::filesystem::directory_iterator;
  return {.device_bytes = static_cast<double>(total - free),
          .host_bytes = resident * static_cast<double>(::sysconf(_SC_PAGESIZE)),
          .handles = static_cast<double>(std::distance(Entries{"/proc/self/fd"}, Entries{}))};
}

TEST(Endurance, TakesNoMoreAfterManyRepetitionsThanAfterTwo) {
  const char* asked = std::getenv("STRATA_ENDURANCE");
  const int repetitions = asked == nullptr ? 3 : std::stoi(asked);
  Sweep sweep = load_sweep("quick", benchmarks());
  // What is allocated and freed does not hang on how often a case is sampled.
  apply_settings(sweep, {"plan.warmups=0", "plan.min_samples=6", "plan.max_samples=6"},
                 benchmarks());
  const std::vector<Case> cases = expand(sweep, Backend::cuda, benchmarks());
  Held after_two;
  Held last;
  for (int repetition = 1; repetition <= repetitions; ++repetition) {
    for (const Case& which : cases) {
      const CaseRecord record = run_case(which, sweep.plan, gpu(), cache());
      ASSERT_NE(record.status, Status::failed) << which.id() << ": " << record.reason;
    }
    last = held();
    if (repetition == 2) after_two = last;
  }
  constexpr double flat = 1.01;
  EXPECT_LE(last.device_bytes, flat * after_two.device_bytes);
  EXPECT_LE(last.host_bytes, flat * after_two.host_bytes);
  EXPECT_LE(last.handles, after_two.handles);
  RecordProperty("device_bytes", std::to_string(last.device_bytes));
  RecordProperty("host_bytes", std::to_string(last.host_bytes));
  RecordProperty("handles", std::to_string(last.handles));
}

}  // namespace
}  // namespace strata
