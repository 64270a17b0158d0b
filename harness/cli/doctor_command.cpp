#include "harness/case/benchmark.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"
#include "harness/record/device.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace strata {
namespace {

std::string_view mark(Finding::State state) {
  switch (state) {
    case Finding::State::ok:
      return "ok    ";
    case Finding::State::absent:
      return "absent";
    case Finding::State::warning:
      return "notice";
  }
  return "?     ";
}

void print(std::string_view part, const std::vector<Finding>& findings) {
  fmt::print("{}\n", part);
  for (const auto& finding : findings) {
    fmt::print("  {}  {}: {}\n", mark(finding.state), finding.what, finding.detail);
    if (!finding.mend.empty()) fmt::print("          mend: {}\n", finding.mend);
  }
}

}  // namespace

int doctor_command() {
  const BuildInfo& build = build_info();
  fmt::print("strata {}, commit {}{}, {} build, {}{}\n", build.version,
             build.commit.empty() ? "unknown" : build.commit, build.dirty ? " (changed since)" : "",
             build.build_type, build.compiler,
             build.cuda_compiler.empty() ? ", no CUDA part" : ", " + build.cuda_compiler);
  auto cuda = diagnose_cuda();
  const auto counters = diagnose_counters();
  cuda.insert(cuda.end(), counters.begin(), counters.end());
  print("GPU", cuda);
  print("CPU", diagnose_host());
  int on_cuda = 0;
  int on_host = 0;
  for (const auto& one : benchmarks()) {
    on_cuda += one.cuda != nullptr ? 1 : 0;
    on_host += one.host != nullptr ? 1 : 0;
  }
  fmt::print("Benchmarks\n  {} for a GPU, {} for the CPU: strata list\n", on_cuda, on_host);
  return 0;
}

}  // namespace strata
