// What the tests of the capture library and of the tracer pretend to have: a driver and CUPTI, each
// in a library of the name of the real one.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <variant>
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

  // Activity records: a flush hands over those that are pending, `in_a_buffer` at a time.
  using Record = std::variant<CUpti_ActivityKernel9, CUpti_ActivityMemcpy6, CUpti_ActivityMemset4>;
  std::vector<Record> pending;
  std::size_t in_a_buffer = 2;
  std::set<CUpti_ActivityKind> kinds;  ///< that are recorded
  CUpti_BuffersCallbackRequestFunc give_buffer = nullptr;
  CUpti_BuffersCallbackCompleteFunc take_buffer = nullptr;
  std::size_t dropped = 0;
  std::uint64_t time = 0;
  std::uint64_t broken_kind = 0;  ///< of this kind no record can be read

  // The range profiler: each launch between start and stop is a range.
  CUptiResult counting_answer = CUPTI_SUCCESS;
  bool counts = false;
  std::size_t ranges = 0;
  double launched = 0;  ///< while it counted: the value of each metric
};

}  // namespace strata

extern "C" {
strata::FakeDriver* fake_driver();
strata::FakeCupti* fake_cupti();
/// Adds a pending record, in any thread.
void fake_record(const strata::FakeCupti::Record& record);
}
