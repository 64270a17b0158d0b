// What the test of the capture library pretends to have: a driver and CUPTI, each in a library of
// the name of the real one.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace strata {

struct FakeDriver {
  std::map<CUdeviceptr, std::size_t> allocations;  ///< memory of the host
  std::vector<std::size_t> parameters;             ///< bytes of each, of any function
  std::set<const void*> kernels;                   ///< handles that are no functions
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  int synchronized = 0;
};

struct FakeCupti {
  CUptiResult answer = CUPTI_SUCCESS;
  CUpti_CallbackFunc callback = nullptr;
  void* data = nullptr;
  std::set<CUpti_CallbackId> enabled;
};

}  // namespace strata

extern "C" {
strata::FakeDriver* fake_driver();
strata::FakeCupti* fake_cupti();
}
