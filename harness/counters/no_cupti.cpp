// Stand-in for the counters, the tracer and the chip metrics in a build without CUPTI.
#include "harness/counters/counter_set.hpp"
#include "harness/counters/tracer.hpp"
#include "harness/record/build_info.hpp"

namespace strata {
namespace {

[[noreturn]] void unavailable() {
  throw CountersUnavailable{no_cupti_in_this_build(build_info().cuda_compiler.empty())};
}

}  // namespace

std::vector<Finding> diagnose_counters() {
  auto [reason, mend] = no_cupti_in_this_build(build_info().cuda_compiler.empty());
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
