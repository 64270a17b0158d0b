// Every function of CUPTI that Strata calls, passed on to the libcupti that this machine has.
//
// libcupti is looked for in STRATA_CUPTI; in NVIDIA's wheel, beside this program in a
// Python environment; in the toolkit of the build; where the loader looks; in the toolkit's usual
// place.
#include "harness/cuda/cupti_library.hpp"

#include "harness/base/text.hpp"
#include "harness/base/this_process.hpp"
#include "harness/counters/counter_absence.hpp"
#include "harness/counters/counters.hpp"

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <fmt/format.h>

#include <dlfcn.h>
#include <filesystem>
#include <vector>

namespace strata {
namespace {

namespace fs = std::filesystem;

constexpr int cuda_major = CUDA_VERSION / 1000;

/// Folders that may hold libcupti, the best first; an empty one leaves it to the loader.
std::vector<fs::path> folders() {
  std::vector<fs::path> found{program_folder() / fmt::format("../../nvidia/cu{}/lib", cuda_major)};
#if defined(STRATA_CUPTI_FOLDER)
  found.emplace_back(STRATA_CUPTI_FOLDER);
#endif
  found.emplace_back();
  for (const std::string& toolkit :
       {environment_variable("CUDA_HOME"), environment_variable("CUDA_PATH"),
        std::string{"/usr/local/cuda"}}) {
    if (toolkit.empty()) continue;
    for (const char* const inside : {"lib64", "extras/CUPTI/lib64"})
      found.push_back(fs::path{toolkit} / inside);
  }
  return found;
}

/// Null if it cannot be loaded.
void* load(const fs::path& library, std::string& problem) {
  // CUPTI loads this neighbour by its bare name, so it must be loaded before.
  const fs::path beside = library.parent_path() / "libnvperf_host.so";
  if (std::error_code error; library.has_parent_path() && fs::exists(beside, error)) {
    (void)::dlopen(beside.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  }
  void* const handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    problem = why == nullptr ? "unknown error" : one_line(why);
  }
  return handle;
}

CuptiLibrary open_library() {
  CuptiLibrary found;
  if (const std::string named = environment_variable("STRATA_CUPTI"); !named.empty()) {
    found.handle = load(named, found.problem);
    return found;
  }
  const std::string name = fmt::format("libcupti.so.{}", cuda_major);
  for (const fs::path& folder : folders()) {
    std::error_code error;
    if (!folder.empty() && !fs::exists(folder / name, error)) continue;
    found.handle = load(folder / name, found.problem);
    if (found.handle != nullptr) return {found.handle, ""};
  }
  return found;
}

/// Function `name` of libcupti, or null.
template <class Function>
Function* find(const char* name) {
  void* const library = cupti_library().handle;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): dlsym has no other way
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, name));
}

CUptiResult no_function() {
  return cupti_library().handle == nullptr ? CUPTI_ERROR_NOT_INITIALIZED
                                           : CUPTI_ERROR_API_NOT_IMPLEMENTED;
}

}  // namespace

const CuptiLibrary& cupti_library() {
  static const CuptiLibrary library = open_library();
  return library;
}

void require_cupti() {
  const CuptiLibrary& library = cupti_library();
  if (library.handle == nullptr) throw CountersUnavailable{no_cupti_found(library.problem)};
}

}  // namespace strata

// NOLINTBEGIN(cppcoreguidelines-macro-usage): a definition for each name
#define STRATA_PASS_ON(function, parameters, ...)                            \
  CUptiResult CUPTIAPI function parameters {                                 \
    static auto* const found =                                               \
        strata::find<std::remove_pointer_t<decltype(&function)>>(#function); \
    return found == nullptr ? strata::no_function() : found(__VA_ARGS__);    \
  }
#define STRATA_PASS_ON_PARAMS(function, name) \
  STRATA_PASS_ON(function, (name##_Params * params), params)
// NOLINTEND(cppcoreguidelines-macro-usage)

extern "C" {
STRATA_PASS_ON(cuptiActivityDisable, (CUpti_ActivityKind kind), kind)
STRATA_PASS_ON(cuptiActivityEnable, (CUpti_ActivityKind kind), kind)
STRATA_PASS_ON(cuptiActivityFlushAll, (std::uint32_t flag), flag)
STRATA_PASS_ON(cuptiActivityGetNextRecord,
               (std::uint8_t * buffer, std::size_t size, CUpti_Activity** record), buffer, size,
               record)
STRATA_PASS_ON(cuptiActivityGetNumDroppedRecords,
               (CUcontext context, std::uint32_t stream, std::size_t* dropped), context, stream,
               dropped)
STRATA_PASS_ON(cuptiActivityRegisterCallbacks,
               (CUpti_BuffersCallbackRequestFunc request,
                CUpti_BuffersCallbackCompleteFunc complete),
               request, complete)
STRATA_PASS_ON(cuptiFinalize, ())
STRATA_PASS_ON(cuptiGetResultString, (CUptiResult result, const char** text), result, text)
STRATA_PASS_ON(cuptiGetSassToSourceCorrelation, (CUpti_GetSassToSourceCorrelationParams * params),
               params)
STRATA_PASS_ON(cuptiGetTimestamp, (std::uint64_t * time), time)
STRATA_PASS_ON(cuptiGetVersion, (std::uint32_t * version), version)
STRATA_PASS_ON_PARAMS(cuptiDeviceGetChipName, CUpti_Device_GetChipName)
STRATA_PASS_ON_PARAMS(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostGetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostGetSupportedChips, CUpti_Profiler_Host_GetSupportedChips)
STRATA_PASS_ON_PARAMS(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize)
STRATA_PASS_ON_PARAMS(cuptiProfilerInitialize, CUpti_Profiler_Initialize)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerCounterDataImageInitialize,
                      CUpti_RangeProfiler_CounterDataImage_Initialize)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerCounterDataGetRangeInfo,
                      CUpti_RangeProfiler_CounterData_GetRangeInfo)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start)
STRATA_PASS_ON_PARAMS(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop)
STRATA_PASS_ON_PARAMS(cuptiSassMetricsDisable, CUpti_SassMetricsDisable)
STRATA_PASS_ON_PARAMS(cuptiSassMetricsEnable, CUpti_SassMetricsEnable)
STRATA_PASS_ON_PARAMS(cuptiSassMetricsFlushData, CUpti_SassMetricsFlushData)
STRATA_PASS_ON_PARAMS(cuptiSassMetricsGetDataProperties, CUpti_SassMetricsGetDataProperties)
STRATA_PASS_ON_PARAMS(cuptiSassMetricsGetMetrics, CUpti_SassMetrics_GetMetrics)
STRATA_PASS_ON_PARAMS(cuptiSassMetricsGetNumOfMetrics, CUpti_SassMetrics_GetNumOfMetrics)
STRATA_PASS_ON_PARAMS(cuptiSassMetricsGetProperties, CUpti_SassMetrics_GetProperties)
STRATA_PASS_ON_PARAMS(cuptiSassMetricsSetConfig, CUpti_SassMetricsSetConfig)
STRATA_PASS_ON_PARAMS(cuptiSassMetricsUnsetConfig, CUpti_SassMetricsUnsetConfig)
}
