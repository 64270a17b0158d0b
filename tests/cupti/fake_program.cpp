// A program that uses CUDA, as far as `strata access capture` can tell, on a machine without it: it
// loads the library as the driver would, then a module, and launches `energies` of it.
//
// fake_program FILE.ptx [STATUS]
#include "fake_capture.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

void call(CUpti_CallbackId id, const void* params, const char* symbol) {
  CUpti_CallbackData data{};
  data.callbackSite = CUPTI_API_ENTER;
  data.functionParams = params;
  data.symbolName = symbol;
  fake_cupti()->callback(fake_cupti()->data, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");  // NOLINT(concurrency-mt-unsafe)
  void* const library = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 4;
  const auto begin = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
  if (begin == nullptr || begin() != 1) return 5;
  std::ifstream file{argv[1], std::ios::binary};
  const std::string ptx{std::istreambuf_iterator<char>{file}, {}};
  cuLibraryLoadData_params module{};
  module.code = ptx.c_str();
  call(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, &module, nullptr);

  std::vector<char> particles(28000, 1);
  std::vector<char> result(4000);
  std::uint64_t in = reinterpret_cast<std::uint64_t>(particles.data());
  std::uint64_t out = reinterpret_cast<std::uint64_t>(result.data());
  std::uint32_t count = 1000;
  fake_driver()->allocations = {{in, particles.size()}, {out, result.size()}};
  fake_driver()->parameters = {sizeof in, sizeof out, sizeof count};
  std::array<void*, 3> parameters{&in, &out, &count};
  cuLaunchKernel_params launch{};
  launch.gridDimX = 4;
  launch.gridDimY = launch.gridDimZ = 1;
  launch.blockDimX = 256;
  launch.blockDimY = launch.blockDimZ = 1;
  launch.kernelParams = parameters.data();
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &launch, "energies");
  std::puts("done");
  return argc > 2 ? std::atoi(argv[2]) : 0;  // NOLINT(cert-err34-c)
}
