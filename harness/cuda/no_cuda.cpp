// Stands in for the CUDA part in a build without it.
#include "harness/case/error.hpp"
#include "harness/record/device.hpp"

namespace strata {
namespace {

constexpr const char* reason = "this build has no CUDA part";
constexpr const char* mend =
    "build again where a CUDA compiler (nvcc) is on the PATH, or measure the CPU with --device "
    "host";

}  // namespace

std::unique_ptr<Device> open_cuda_device(int /*ordinal*/) {
  throw DeviceUnavailable{std::string{reason} + ": " + mend};
}

std::vector<Finding> diagnose_cuda() {
  return {{.state = Finding::State::absent, .what = "CUDA", .detail = reason, .mend = mend}};
}

}  // namespace strata
