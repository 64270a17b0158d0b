#include "harness/case/choices.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace strata {
namespace {

using State = Finding::State;

constexpr Choices marks{std::pair{"ok", State::ok}, std::pair{"absent", State::absent},
                        std::pair{"notice", State::warning}};

void print(std::string_view part, const std::vector<Finding>& findings) {
  fmt::print("{}\n", part);
  for (const auto& finding : findings) {
    fmt::print("  {:<6}  {}: {}\n", marks.name_of(finding.state), finding.what, finding.detail);
    if (!finding.mend.empty()) fmt::print("          fix: {}\n", finding.mend);
  }
}

nlohmann::ordered_json as_json(const std::vector<Finding>& findings) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& [state, what, detail, mend] : findings) {
    all.push_back(
        {{"state", marks.name_of(state)}, {"what", what}, {"detail", detail}, {"fix", mend}});
  }
  return all;
}

void diagnose(bool json) {
  const BuildInfo& build = build_info();
  auto cuda = diagnose_cuda();
  const auto counters = diagnose_counters();
  cuda.insert(cuda.end(), counters.begin(), counters.end());
  const auto bodies = [](Body Enrolled::*body) {
    return std::ranges::count_if(
        benchmarks(), [](Body one) { return one != nullptr; }, body);
  };
  const auto of_gpu = bodies(&Enrolled::cuda);
  const auto of_cpu = bodies(&Enrolled::host);
  if (json) {
    const nlohmann::ordered_json all{{"version", build.version},
                                     {"commit", build.commit},
                                     {"changed", build.dirty},
                                     {"build_type", build.build_type},
                                     {"compiler", build.compiler},
                                     {"cuda_compiler", build.cuda_compiler},
                                     {"gpu", as_json(cuda)},
                                     {"cpu", as_json(diagnose_host())},
                                     {"benchmarks", {{"gpu", of_gpu}, {"cpu", of_cpu}}}};
    fmt::print("{}\n", all.dump(1));
    return;
  }
  fmt::print("strata {}, commit {}{}, {} build, {}{}\n", build.version,
             build.commit.empty() ? "unknown" : build.commit, build.dirty ? " (changed since)" : "",
             build.build_type, build.compiler,
             build.cuda_compiler.empty() ? ", without CUDA" : ", " + build.cuda_compiler);
  print("GPU", cuda);
  print("CPU", diagnose_host());
  fmt::print("Benchmarks\n  {} for a GPU, {} for the CPU: strata list\n", of_gpu, of_cpu);
}

}  // namespace

void add_doctor(Command app) {
  auto sub = app.subcommand("doctor", "show what can be measured here, and what is missing");
  auto json = std::make_shared<bool>(false);
  sub.flag("--json", *json, "findings as JSON");
  sub.on_run([json] { diagnose(*json); });
}

}  // namespace strata
