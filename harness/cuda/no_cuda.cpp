// Stand-in for the CUDA part in a build without it.
#include "harness/case/error.hpp"
#include "harness/counters/tracer.hpp"
#include "harness/record/device.hpp"

namespace strata {

std::vector<Finding> diagnose_cuda() {
  return {{.state = Finding::State::absent,
           .what = "CUDA",
           .detail = "this build is without CUDA",
           .mend = "rebuild where a CUDA compiler (nvcc) is on the PATH, or measure the CPU with "
                   "--device host"}};
}

[[noreturn]] static void unavailable() {
  const Finding absence = diagnose_cuda().front();
  throw DeviceUnavailable{absence.detail + ": " + absence.mend};
}

std::unique_ptr<Device> open_cuda_device(int /*ordinal*/) {
  unavailable();
}
std::unique_ptr<DeviceMarks> open_device_marks() {
  unavailable();
}

}  // namespace strata
