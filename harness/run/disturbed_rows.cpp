#include "harness/run/disturbed_rows.hpp"

#include "harness/cpu/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace strata {
namespace {

constexpr std::string_view preempted = "preempted";

struct FailedChecks {
  bool other = false;
  bool was_preempted = false;
};

FailedChecks failed_checks(const CaseRecord& record, const Measurement& m) {
  FailedChecks failed;
  const auto add = [&](const Gate& gate) {
    if (gate.verdict != Verdict::failed) return;
    const bool is_preempted =
        gate.name == preempted || gate.detail.find(preempted) != std::string::npos;
    failed.was_preempted = failed.was_preempted || is_preempted;
    failed.other = failed.other || (!is_preempted && gate.name != "noise");
  };
  std::ranges::for_each(record.gates, add);
  add(m.noise);
  return failed;
}

double load_before(const RunContext& context) {
  const auto found = context.clocks_before.find("load_average");
  const auto* const load =
      found == context.clocks_before.end() ? nullptr : std::get_if<double>(&found->second);
  return load == nullptr ? 0 : *load;
}

}  // namespace

std::string explain_disturbed_rows(const RunContext& context,
                                   const std::vector<CaseRecord>& records) {
  if (context.backend != Backend::host) return {};
  std::size_t invalid = 0;
  std::size_t disturbed = 0;
  std::size_t preempted_rows = 0;
  for (const auto& record : records) {
    for (const auto& m : record.measurements) {
      if (record.is_valid(m)) continue;
      const auto [other, was_preempted] = failed_checks(record, m);
      ++invalid;
      disturbed += other ? 0 : 1;
      preempted_rows += !other && was_preempted ? 1 : 0;
    }
  }
  const double load = load_before(context);
  if (2 * disturbed <= invalid || (load < busy_load && preempted_rows == 0)) return {};
  return fmt::format(
      "{} of {} invalid rows are noisy, {} of them because other processes preempted the "
      "measurement; the load average was {:.2g} at the start. End other work and run again",
      disturbed, invalid, preempted_rows, load);
}

}  // namespace strata
