// Counting in this process: CUPTI's range profiler with ranges that we mark and passes that we run
// ("user ranges, user replay"). The profiler's own replay would save and restore what a kernel
// writes and so disturb the caches that are counted. Here every pass begins with the same
// preparation as the timed runs.
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/cupti_check.hpp"
#include "harness/cuda/cupti_host.hpp"
#include "harness/cuda/cupti_library.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_version.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace strata {
namespace {

void check_support(int ordinal) {
  const auto device_of = driver_function<decltype(&cuDeviceGet)>("cuDeviceGet", 2000);
  CUdevice device{};
  if (device_of == nullptr || device_of(&device, ordinal) != CUDA_SUCCESS) {
    throw CountersUnavailable{no_gpu_to_count_on(fmt::format("there is no cuda:{}", ordinal))};
  }
  auto params = CUPTI_PARAMS(CUpti_Profiler_DeviceSupported, .cuDevice = device,
                             .api = CUPTI_PROFILER_RANGE_PROFILING);
  if (const auto code = cuptiProfilerDeviceSupported(&params); code != CUPTI_SUCCESS) {
    counters_unavailable(code, "cuptiProfilerDeviceSupported", ordinal);
  }
  if (const auto absence = explain_support(params)) throw CountersUnavailable{*absence};
}

struct Disable {
  void operator()(CUpti_RangeProfiler_Object* object) const noexcept {
    auto params = CUPTI_PARAMS(CUpti_RangeProfiler_Disable, .pRangeProfilerObject = object);
    cupti_release(cuptiRangeProfilerDisable(&params), "switching the counters off");
  }
};
using RangeProfiler = std::unique_ptr<CUpti_RangeProfiler_Object, Disable>;

/// The range profiler, enabled for the current context.
RangeProfiler enable_profiler() {
  const auto current = driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent", 4000);
  CUcontext context = nullptr;
  if (current == nullptr || current(&context) != CUDA_SUCCESS || context == nullptr) {
    throw std::logic_error{"counters were attached before the device was opened"};
  }
  const auto params =
      CUPTI_CALL(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable, .ctx = context);
  return RangeProfiler{params.pRangeProfilerObject};
}

/// Name of each range in a decoded image, in the image's order.
std::vector<std::string> range_names(const std::vector<std::uint8_t>& image) {
  const auto info =
      CUPTI_CALL(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo,
                 .pCounterDataImage = image.data(), .counterDataImageSize = image.size());
  std::vector<std::string> names;
  for (std::size_t index = 0; index < info.numTotalRanges; ++index) {
    const auto range = CUPTI_CALL(
        cuptiRangeProfilerCounterDataGetRangeInfo, CUpti_RangeProfiler_CounterData_GetRangeInfo,
        .pCounterDataImage = image.data(), .counterDataImageSize = image.size(),
        .rangeIndex = index, .rangeDelimiter = "/");
    names.emplace_back(range.rangeName == nullptr ? "" : range.rangeName);
  }
  return names;
}

/// A session costs time whatever it counts: on an H200 39 ms per pass, nearly all of it to start
/// the pass; a walk with everything around it takes 2 ms. Hence passes().
class CuptiSource final : public CounterSource, public CounterPasses {
 public:
  CuptiSource(int ordinal, const std::string& chip, const CounterSelection& selection)
      : ordinal_{ordinal}, host_{chip}, now_{&chosen(selection.wanted)} {}

  [[nodiscard]] const CounterPlan& plan() const override { return now_->plan; }
  void narrow(const std::vector<std::string>& sets) override { now_ = &chosen(sets); }

  void attach() override {
    const auto nothing = [] {};
    try {
      profiler_ = enable_profiler();
      // Some refusals appear only when something is counted: permission, another profiler.
      (void)count(
          std::vector<CountedRange>{{.name = "trial", .prepare = nothing, .work = nothing}});
    } catch (const CuptiError& error) {
      profiler_.reset();
      counters_unavailable(error.code(), "a test of the range profiler", ordinal_);
    }
  }

  [[nodiscard]] std::optional<std::vector<Counts>> count(
      std::span<const CountedRange> ranges) override {
    begin(ranges.size());
    do {
      begin_pass();
      for (const auto& range : ranges)
        run(range);
    } while (!end_pass());
    auto by_name = results();
    std::vector<Counts> counted;
    for (const auto& range : ranges)
      counted.push_back(std::move(by_name.at(range.name)));
    return counted;
  }

  [[nodiscard]] CounterPasses* passes() override { return this; }

  void begin(std::size_t most_ranges) override {
    if (profiler_ == nullptr) throw std::logic_error{"counters are not attached"};
    if (most_ranges > capacity) {
      throw std::logic_error{
          fmt::format("{} ranges in a session; at most {} are possible", most_ranges, capacity)};
    }
    names_.clear();
    if (configured_ != now_) begin_anew();
    auto& [plan, metrics, config, image] = *now_;
    CUPTI_CALL(cuptiRangeProfilerCounterDataImageInitialize,
               CUpti_RangeProfiler_CounterDataImage_Initialize,
               .pRangeProfilerObject = profiler_.get(), .counterDataSize = image.size(),
               .pCounterData = image.data());
    CUPTI_CALL(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig,
               .pRangeProfilerObject = profiler_.get(), .configSize = config.size(),
               .pConfig = config.data(), .counterDataImageSize = image.size(),
               .pCounterDataImage = image.data(), .range = CUPTI_UserRange,
               .replayMode = CUPTI_UserReplay, .maxRangesPerPass = capacity, .numNestingLevels = 1,
               .minNestingLevel = 1, .passIndex = 0, .targetNestingLevel = 1);
  }

  void begin_pass() override {
    CUPTI_CALL(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start,
               .pRangeProfilerObject = profiler_.get());
  }

  /// The device is idle at both ends of the range, so nothing else is counted.
  void run(const CountedRange& range) override {
    // CUPTI does not recover from a pass that ends within a range, even if it is disabled and
    // enabled again: any exception below leaves it broken.
    broken_ = true;
    range.prepare();
    cuda_check(cudaDeviceSynchronize());
    CUPTI_CALL(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange,
               .pRangeProfilerObject = profiler_.get(),
               .pRangeName = names_.insert(range.name).first->c_str());
    range.work();
    cuda_check(cudaDeviceSynchronize());
    CUPTI_CALL(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange,
               .pRangeProfilerObject = profiler_.get());
    broken_ = false;
  }

  [[nodiscard]] bool end_pass() override {
    const auto params = CUPTI_CALL(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop,
                                   .pRangeProfilerObject = profiler_.get());
    return params.isAllPassSubmitted != 0;
  }

  [[nodiscard]] std::map<std::string, Counts, std::less<>> results() override {
    const auto decoded = CUPTI_CALL(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData,
                                    .pRangeProfilerObject = profiler_.get());
    if (decoded.numOfRangeDropped > 0) {
      throw std::runtime_error{
          fmt::format("the profiler dropped {} ranges", decoded.numOfRangeDropped)};
    }
    const auto names = range_names(now_->image);
    if (names.size() != names_.size()) {
      throw std::runtime_error{fmt::format("the profiler kept {} of {} ranges without an error",
                                           names.size(), names_.size())};
    }
    std::map<std::string, Counts, std::less<>> counted;
    for (std::size_t index = 0; index < names.size(); ++index) {
      const auto values = host_.evaluate(now_->image, index, now_->metrics);
      Counts& counts = counted[names[index]];
      for (std::size_t i = 0; i < values.size(); ++i)
        counts.emplace(now_->plan.quantities[i].name, values[i]);
    }
    return counted;
  }

  [[nodiscard]] bool broken() const override { return broken_; }

 private:
  /// A plan and the profiler's data for it.
  struct Chosen {
    CounterPlan plan;
    std::vector<std::string> metrics;
    std::vector<std::uint8_t> config;
    std::vector<std::uint8_t> image;  // the profiler writes to it during its whole lifetime
  };

  /// A profiler configured for some metrics accepts no image of others (CUPTI 13.0: error 999 when
  /// the image is initialised). For new metrics it is therefore disabled and enabled again.
  void begin_anew() {
    if (configured_ != nullptr) {
      profiler_.reset();
      configured_->image.clear();
      configured_ = nullptr;
      profiler_ = enable_profiler();
    }
    auto names = pointers(now_->metrics);
    const auto size = CUPTI_CALL(
        cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize,
        .pRangeProfilerObject = profiler_.get(), .pMetricNames = names.data(),
        .numMetrics = names.size(), .maxNumOfRanges = capacity, .maxNumRangeTreeNodes = capacity);
    now_->image.assign(size.counterDataSize, 0);
    configured_ = now_;
  }

  /// Created once, because the profiler keeps pointers into it.
  Chosen& chosen(const std::vector<std::string>& wanted) {
    const auto [place, is_new] = chosen_.try_emplace(wanted);
    Chosen& made = place->second;
    if (is_new) {
      made.plan = resolve({wanted}, host_);
      for (const auto& quantity : made.plan.quantities)
        made.metrics.push_back(quantity.metric);
      made.config = host_.config_image(made.metrics);
    }
    return made;
  }

  /// Maximum ranges per session. The profiler allocates its memory when it is first configured: a
  /// later session that requests more loses the excess ranges, and the count of dropped ranges
  /// stays 0 (CUPTI 13.0).
  static constexpr std::uint32_t capacity = 256;

  int ordinal_;
  CuptiHost host_;
  std::map<std::vector<std::string>, Chosen> chosen_;
  Chosen* now_;
  Chosen* configured_ = nullptr;              // the plan of the current configuration
  std::set<std::string, std::less<>> names_;  // of the session; the profiler keeps pointers to them
  RangeProfiler profiler_;
  bool broken_ = false;
};

Finding absent(std::string what, const Absence& absence) {
  return {Finding::State::absent, std::move(what), absence.reason, absence.mend};
}

/// A trial on one GPU that does what a worker does before its first case: only a trial proves
/// permission and the absence of another profiler or a shared slice. If the set that proves levels
/// can be counted, a run can be.
Finding diagnose(int ordinal) {
  const auto what = fmt::format("cuda:{} counters", ordinal);
  try {
    const auto source = open_counters({.kind = DeviceRequest::Kind::cuda, .ordinal = ordinal},
                                      {.wanted = {std::string{memory_set}}});
    cudaError_t status = cudaSetDevice(ordinal);
    if (status == cudaSuccess) status = cudaFree(nullptr);  // creates the context, if needed
    if (status != cudaSuccess) {
      (void)cudaGetLastError();
      return absent(what, no_gpu_to_count_on(cudaGetErrorString(status)));
    }
    source->attach();
    const CounterPlan& plan = source->plan();
    auto detail =
        fmt::format("{}, a test was counted; set {}: {} quantities in {} pass{}", plan.chip,
                    memory_set, plan.quantities.size(), plan.passes, plan.passes == 1 ? "" : "es");
    if (!plan.absent.empty()) {
      detail += fmt::format(", {} missing on this chip", plan.absent.size());
    }
    return {Finding::State::ok, what, std::move(detail), ""};
  } catch (const CountersUnavailable& unavailable) {
    return absent(what, {unavailable.what(), unavailable.mend});
  } catch (const std::exception& error) {
    return {Finding::State::warning, what, fmt::format("the test failed: {}", error.what()),
            "check the kernel log (dmesg)"};
  }
}

}  // namespace

std::unique_ptr<CounterSource> open_counters(const DeviceRequest& device,
                                             const CounterSelection& selection) {
  if (device.kind == DeviceRequest::Kind::host) {
    throw CountersUnavailable{no_gpu_to_count_on("CPU counters are not supported")};
  }
  load_modules_eagerly();
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    throw CountersUnavailable{no_gpu_to_count_on("CUDA sees no GPU; see strata doctor")};
  }
  require_cupti();
  std::uint32_t loaded = 0;  // older than any version, if the query fails
  (void)cuptiGetVersion(&loaded);
  if (const auto misfit = explain_library(CUPTI_API_VERSION, loaded)) {
    throw CountersUnavailable{*misfit};
  }
  const auto environment = counter_environment(device.ordinal);
  if (const auto absence = explain_environment(environment)) throw CountersUnavailable{*absence};
  start_cupti(device.ordinal);
  check_support(device.ordinal);
  const std::string chip = chip_of_device(device.ordinal);
  if (const auto known = known_chips(); std::ranges::find(known, chip) == known.end()) {
    // A chip too new for the loaded CUPTI is not an error of the user.
    throw CountersUnavailable{explain_chip(chip, environment.cupti_cuda_version, known)};
  }
  return std::make_unique<CuptiSource>(device.ordinal, chip, selection);
}

std::vector<Finding> diagnose_counters() {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    (void)cudaGetLastError();
    // The findings of the GPU already name the cause and the remedy.
    return {absent("counters", no_gpu_to_count_on(cudaGetErrorString(status)))};
  }
  std::vector<Finding> findings;
  for (int ordinal = 0; ordinal < count; ++ordinal)
    findings.push_back(diagnose(ordinal));
  return findings;
}

}  // namespace strata
