// Replaces the counters and the metrics of chips in a build without CUPTI.
#include "harness/counters/counter_set.hpp"
#include "harness/counters/kernel_counts.hpp"
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
std::string architecture_of(int /*ordinal*/, const std::string& /*target*/) {
  unavailable();
}
std::map<std::string, std::string> sass_metrics(int /*ordinal*/) {
  unavailable();
}
KernelCounts count_kernel(int /*ordinal*/, const KernelLaunch& /*launch*/,
                          const std::vector<std::string>& /*metrics*/) {
  unavailable();
}
std::vector<std::vector<std::uint8_t>> run_kernel(int /*ordinal*/, const KernelLaunch& /*launch*/,
                                                  const std::vector<std::size_t>& /*wanted*/) {
  unavailable();
}
std::vector<std::uint32_t> source_lines(const std::string& /*cubin*/,
                                        const std::string& /*function*/) {
  unavailable();
}

}  // namespace strata
