// Stands in for the metrics of chips in a build without CUPTI, and says so.
#include "harness/counters/counter_absence.hpp"
#include "harness/counters/counter_catalogue.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"

#include <utility>

namespace strata {
namespace {

[[noreturn]] void unavailable() {
  auto [reason, mend] = no_cupti_in_this_build(build_info().cuda_compiler.empty());
  throw CountersUnavailable{reason, std::move(mend)};
}

}  // namespace

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
