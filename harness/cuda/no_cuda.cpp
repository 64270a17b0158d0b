// Stand-in for the CUDA part in a build without it.
#include "harness/base/error.hpp"
#include "harness/base/this_process.hpp"
#include "harness/counters/tracer.hpp"
#include "harness/record/device.hpp"

#include <filesystem>

namespace strata {

std::vector<Finding> diagnose_cuda() {
  const bool has_compiler =
      find_in_path("nvcc") || std::filesystem::exists("/usr/local/cuda/bin/nvcc");
  return {{.state = Finding::State::absent,
           .what = "CUDA",
           .detail = "this build is without CUDA",
           .mend = has_compiler
                       ? "nvcc is here: rebuild with make build; without a GPU, for the compute "
                         "capability of another machine's: make build ARCH=90"
                       : "rebuild where a CUDA compiler (nvcc) is on the PATH, or measure the CPU "
                         "with --device host"}};
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
