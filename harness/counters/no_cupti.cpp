// Replaces the counters and the metrics of chips in a build without CUPTI.
#include "harness/counters/counter_absence.hpp"
#include "harness/counters/counter_catalogue.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"

namespace strata {
namespace {

Absence absence() {
  return no_cupti_in_this_build(build_info().cuda_compiler.empty());
}

[[noreturn]] void unavailable() {
  throw CountersUnavailable{absence().reason, absence().mend};
}

}  // namespace

std::unique_ptr<CounterSource> open_counters(const DeviceRequest& /*device*/,
                                             const CounterSelection& /*selection*/) {
  unavailable();
}

std::vector<Finding> diagnose_counters() {
  return {{.state = Finding::State::absent,
           .what = "counters",
           .detail = absence().reason,
           .mend = absence().mend}};
}

std::string catalogue_version() {
  unavailable();
}

std::vector<std::string> known_chips() {
  unavailable();
}

std::unique_ptr<MetricCatalogue> open_catalogue(const std::string& /*chip*/) {
  unavailable();
}

std::string chip_of_device(int /*ordinal*/) {
  unavailable();
}

}  // namespace strata
