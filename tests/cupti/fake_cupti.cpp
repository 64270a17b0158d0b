// Pretends to be libcupti.so.
#include "fake_capture.hpp"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace {

/// Bytes of a record, which begins with its kind.
std::size_t bytes_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    default:
      return sizeof(CUpti_ActivityKernel9);
  }
}

std::mutex& pending_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

extern "C" {

void fake_record(const strata::FakeCupti::Record& record) {
  const std::lock_guard lock{pending_mutex()};
  fake_cupti()->pending.push_back(record);
}

strata::FakeCupti* fake_cupti() {
  static strata::FakeCupti cupti;
  return &cupti;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* data) {
  *subscriber = nullptr;
  fake_cupti()->callback = callback;
  fake_cupti()->data = data;
  return fake_cupti()->answer;
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle /*subscriber*/,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (enable == 0 || domain != CUPTI_CB_DOMAIN_DRIVER_API) return CUPTI_ERROR_INVALID_PARAMETER;
  fake_cupti()->enabled.insert(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult /*result*/, const char** text) {
  *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                           CUpti_BuffersCallbackCompleteFunc take) {
  fake_cupti()->give_buffer = give;
  fake_cupti()->take_buffer = take;
  return fake_cupti()->answer;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  fake_cupti()->kinds.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  fake_cupti()->kinds.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize() {
  fake_cupti()->kinds.clear();
  fake_cupti()->give_buffer = nullptr;
  fake_cupti()->take_buffer = nullptr;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t /*flag*/) {
  const std::lock_guard lock{pending_mutex()};
  strata::FakeCupti& all = *fake_cupti();
  while (!all.pending.empty()) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0;
    std::size_t most = 0;
    all.give_buffer(&buffer, &size, &most);
    if (buffer == nullptr) return CUPTI_ERROR_OUT_OF_MEMORY;
    const std::size_t count = std::min(all.in_a_buffer, all.pending.size());
    std::size_t valid = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::visit(
          [&](const auto& one) {
            std::memcpy(buffer + valid, &one, sizeof one);
            valid += sizeof one;
          },
          all.pending[i]);
    }
    all.pending.erase(all.pending.begin(),
                      all.pending.begin() + static_cast<std::ptrdiff_t>(count));
    all.take_buffer(nullptr, 0, buffer, size, valid);
  }
  return fake_cupti()->answer;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  auto* at = reinterpret_cast<std::uint8_t*>(*record);
  at = at == nullptr ? buffer : at + bytes_of((*record)->kind);
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return (*record)->kind == fake_cupti()->broken_kind ? CUPTI_ERROR_INVALID_KIND : CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, std::uint32_t /*stream*/,
                                              std::size_t* dropped) {
  *dropped = fake_cupti()->dropped;
  fake_cupti()->dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  *time = fake_cupti()->time += 10;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* /*params*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  params->pChipName = "GH100";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* /*params*/) {
  return CUPTI_SUCCESS;
}

/// One metric is unknown.
CUptiResult cuptiProfilerHostGetMetricProperties(
    CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  return std::strcmp(params->pMetricName, "sm__cycles_elapsed.max") == 0
             ? CUPTI_ERROR_INVALID_METRIC_NAME
             : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(
    CUpti_Profiler_Host_ConfigAddMetrics_Params* /*params*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  params->configImageSize = 1;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* /*params*/) {
  return CUPTI_SUCCESS;
}

/// Like a driver that grants counters to no one else.
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* /*params*/) {
  return fake_cupti()->counting_answer;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* /*params*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* /*params*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(
    CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  params->counterDataSize = 1;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* /*params*/) {
  fake_cupti()->ranges = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  const bool replays = params->range == CUPTI_AutoRange && params->replayMode == CUPTI_KernelReplay;
  return replays ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* /*params*/) {
  fake_cupti()->counts = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* /*params*/) {
  fake_cupti()->counts = false;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* /*params*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(
    CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  params->numTotalRanges = fake_cupti()->ranges;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  std::fill_n(params->pMetricValues, params->numMetrics, fake_cupti()->launched);
  return CUPTI_SUCCESS;
}

}  // extern "C"
