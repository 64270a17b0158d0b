#include "harness/case/choices.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace strata {
namespace {

void print(std::string_view part, const std::vector<Finding>& findings) {
  using State = Finding::State;
  constexpr Choices marks{std::pair{"ok", State::ok}, std::pair{"absent", State::absent},
                          std::pair{"notice", State::warning}};
  fmt::print("{}\n", part);
  for (const auto& finding : findings) {
    fmt::print("  {:<6}  {}: {}\n", marks.name_of(finding.state), finding.what, finding.detail);
    if (!finding.mend.empty()) fmt::print("          fix: {}\n", finding.mend);
  }
}

void diagnose() {
  const BuildInfo& build = build_info();
  fmt::print("strata {}, commit {}{}, {} build, {}{}\n", build.version,
             build.commit.empty() ? "unknown" : build.commit, build.dirty ? " (changed since)" : "",
             build.build_type, build.compiler,
             build.cuda_compiler.empty() ? ", without CUDA" : ", " + build.cuda_compiler);
  auto cuda = diagnose_cuda();
  const auto counters = diagnose_counters();
  cuda.insert(cuda.end(), counters.begin(), counters.end());
  print("GPU", cuda);
  print("CPU", diagnose_host());
  const auto bodies = [](Body Enrolled::*body) {
    return std::ranges::count_if(
        benchmarks(), [](Body one) { return one != nullptr; }, body);
  };
  fmt::print("Benchmarks\n  {} for a GPU, {} for the CPU: strata list\n", bodies(&Enrolled::cuda),
             bodies(&Enrolled::host));
}

}  // namespace

void add_doctor(Command app) {
  app.subcommand("doctor", "show what can be measured here, and what is missing").on_run(diagnose);
}

}  // namespace strata
