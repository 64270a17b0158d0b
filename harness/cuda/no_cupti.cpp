// Stand-in for the counters, the tracer and the chip metrics in a build without CUPTI.
#include "harness/counters/counter_set.hpp"
#include "harness/counters/tracer.hpp"

namespace strata {
namespace {

[[noreturn]] void unavailable() {
  throw CountersUnavailable{no_counters_in_this_build(STRATA_WHY_NO_COUNTERS)};
}

[[noreturn]] void no_catalogue() {
  const auto [reason, mend] = no_counters_in_this_build(STRATA_WHY_NO_COUNTERS);
  throw CountersUnavailable{
      "the metrics of a chip come from CUPTI, which needs no GPU, but " + reason, mend};
}

}  // namespace

std::vector<Finding> diagnose_counters() {
  auto [reason, mend] = no_counters_in_this_build(STRATA_WHY_NO_COUNTERS);
  return {{Finding::State::absent, "counters", reason, mend}};
}

std::unique_ptr<CounterSource> open_counters(const DeviceRequest& /*device*/,
                                             const CounterSelection& /*selection*/) {
  unavailable();
}
std::unique_ptr<Tracer> open_device_tracer(int /*ordinal*/) {
  unavailable();
}
std::string catalogue_version() {
  no_catalogue();
}
std::vector<std::string> known_chips() {
  no_catalogue();
}
std::unique_ptr<MetricCatalogue> open_catalogue(const std::string& /*chip*/) {
  no_catalogue();
}
std::string chip_of_device(int /*ordinal*/) {
  no_catalogue();
}
}  // namespace strata
