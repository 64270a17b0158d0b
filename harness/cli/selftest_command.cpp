// strata selftest: does the harness measure the known properties of this device, and does it detect
// wrong experiments?
#include "harness/base/enum_words.hpp"
#include "harness/base/error.hpp"
#include "harness/base/finally.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/case/controls.hpp"
#include "harness/cli/commands.hpp"
#include "harness/record/build_info.hpp"
#include "harness/run/selftest.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace strata {
namespace {

namespace fs = std::filesystem;
using Kind = Claim::Kind;

struct SelftestOptions {
  std::string device = "auto";
  std::string out;   ///< empty: the run is not kept
  std::string json;  ///< empty: not written
  bool quiet = false;
  std::vector<std::string> command;
};

constexpr std::array<std::pair<Kind, const char*>, 4> headings{
    {{Kind::known_answer, "Known answers"},
     {Kind::control, "Experiments with deliberate mistakes"},
     {Kind::agreement, "Quantities that two benchmarks measure with different kernels"},
     {Kind::same_twice,
      "Repeated measurements: intervals apart, and medians at least a percent apart"}}};

const char* verdict_of(Kind kind, Proof proof) {
  if (proof == Proof::unproved) return "NOT PROVED";
  if (kind == Kind::control) return proof == Proof::held ? "caught" : "NOT CAUGHT";
  return proof == Proof::held ? "held" : "NOT HELD";
}

void print(std::span<const Claim> claims, std::span<const Outcome> outcomes) {
  for (const auto& [kind, heading] : headings) {
    fmt::print("{}\n", heading);
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (claims[i].kind != kind) continue;
      const Outcome& outcome = outcomes[i];
      fmt::print("{:<10}  {} ({:.2f} s)\n", verdict_of(kind, outcome.shown.proof), claims[i].what,
                 outcome.seconds);
      print_note("  expected", claims[i].expected);
      print_note("  seen", outcome.shown.seen);
    }
    fmt::print("\n");
  }
}

void write_json(const std::string& file, const RecordedRun& run, double seconds,
                std::span<const Claim> claims, std::span<const Outcome> outcomes) {
  auto table = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < claims.size(); ++i) {
    table.push_back({{"kind", to_string(claims[i].kind)},
                     {"claim", claims[i].what},
                     {"expected", claims[i].expected},
                     {"seen", outcomes[i].shown.seen},
                     {"proof", to_string(outcomes[i].shown.proof)},
                     {"seconds", outcomes[i].seconds}});
  }
  const RunContext& context = run.context;
  const nlohmann::ordered_json whole{{"schema", 1},
                                     {"device", context.device.name},
                                     {"backend", to_string(context.backend)},
                                     {"commit", context.strata.commit},
                                     {"started", context.started},
                                     {"seconds", seconds},
                                     {"counters", to_string(context.counters.state)},
                                     {"claims", std::move(table)}};
  write_whole(file, whole.dump(1) + '\n');
}

/// A temporary folder, removed with its last owner.
std::pair<fs::path, Finally> folder_of_selftest() {
  std::string name = (fs::temp_directory_path() / "strata-selftest-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::system_error{errno, std::generic_category(), name};
  }
  return {name, finally([name] {
            std::error_code ignored;
            fs::remove_all(name, ignored);
          })};
}

ExitCode selftest(const SelftestOptions& options) {
  if (!options.json.empty()) require_replaceable(options.json);  // now, not after the measurement
  fs::path out = options.out;
  Finally removed;
  if (out.empty()) std::tie(out, removed) = folder_of_selftest();
  const auto began = std::chrono::steady_clock::now();
  const RecordedRun run = record_run([](Backend backend) { return sweep_of(claims_of(backend)); },
                                     options.device, out.string(), options.command, options.quiet);
  if (run.state != RunState::complete) return ExitCode::interrupted;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const Backend backend = run.context.backend;
  const auto claims = claims_of(backend);
  const auto records = read_samples(run.folder / "samples.jsonl", run.context.sweep.cases);
  const auto outcomes = judge(claims, backend, records, benchmarks_and_controls());
  print(claims, outcomes);
  if (!options.json.empty()) write_json(options.json, run, seconds, claims, outcomes);
  const auto count = [&](Proof proof) {
    return std::ranges::count(outcomes, proof, [](const Outcome& one) { return one.shown.proof; });
  };
  fmt::print("{} claims on {}: {} proved, {} refuted, {} not proved; {:.1f} s\n", claims.size(),
             run.context.device.name, count(Proof::held), count(Proof::failed),
             count(Proof::unproved), seconds);
  if (!options.out.empty()) fmt::print("{}\n", run.folder.string());
  if (count(Proof::failed) > 0) return ExitCode::failed;
  return count(Proof::unproved) > 0 ? ExitCode::no_device : ExitCode::success;
}

}  // namespace

void add_selftest(Command app, int& status, const std::vector<std::string>& command) {
  const auto options = std::make_shared<SelftestOptions>();
  options->command = command;
  auto sub = app.subcommand(
      "selftest", "check known answers, and that deliberate mistakes are caught, on this device");
  sub.option("--device", options->device, "auto, cuda:N or host");
  sub.option("--json", options->json, "also write the table to this file", "FILE");
  sub.option("--out", options->out, "keep the judged run in this folder", "DIR");
  sub.flag("--quiet", options->quiet, "do not show progress");
  sub.footer(
      "Exit status: 0 every claim is proved; 1 a claim is refuted, or a mistake was not caught; 3 "
      "some claim\ncannot be proved here, because there are no counters or the device was busy.");
  sub.on_run([options, &status] { status = static_cast<int>(selftest(*options)); });
}

}  // namespace strata
