// Counting in this process: CUPTI's range profiler with ranges that we mark and passes that we run
// ourselves ("user ranges, user replay"). The profiler's own replay would save and restore what a
// kernel writes, and with it disturb the very caches that are counted; here every pass begins with
// the preparation that the timed runs have.
#include "harness/case/error.hpp"
#include "harness/counters/counter_absence.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/cupti_absence.hpp"
#include "harness/counters/cupti_check.hpp"
#include "harness/counters/cupti_host.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/driver.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace strata {
namespace {

Support support(CUpti_Profiler_Support_Level level) {
  switch (level) {
    case CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED:
      return Support::unsupported;
    case CUPTI_PROFILER_CONFIGURATION_DISABLED:
      return Support::disabled;
    case CUPTI_PROFILER_CONFIGURATION_SUPPORTED:
      return Support::supported;
    default:
      return Support::unknown;
  }
}

void check_support(int ordinal) {
  const auto device_of = driver_function<decltype(&cuDeviceGet)>("cuDeviceGet", 2000);
  CUdevice device{};
  if (device_of == nullptr || device_of(&device, ordinal) != CUDA_SUCCESS) {
    counters_unavailable(no_gpu_to_count_on(fmt::format("there is no cuda:{}", ordinal)));
  }
  auto params = CUPTI_PARAMS(CUpti_Profiler_DeviceSupported, .cuDevice = device,
                             .api = CUPTI_PROFILER_RANGE_PROFILING);
  if (const auto code = cuptiProfilerDeviceSupported(&params); code != CUPTI_SUCCESS) {
    counters_unavailable(code, "cuptiProfilerDeviceSupported", ordinal);
  }
  if (const auto absence =
          explain_support({.overall = support(params.isSupported),
                           .architecture = support(params.architecture),
                           .sli = support(params.sli),
                           .virtual_gpu = support(params.vGpu),
                           .confidential_computing = support(params.confidentialCompute),
                           .crypto_mining = support(params.cmp),
                           .wsl = support(params.wsl)})) {
    counters_unavailable(*absence);
  }
}

CUcontext current_context() {
  const auto current = driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent", 4000);
  CUcontext context = nullptr;
  if (current == nullptr || current(&context) != CUDA_SUCCESS || context == nullptr) {
    throw std::logic_error{"counters were attached before the device was opened"};
  }
  return context;
}

/// The profiler, switched on for one context.
class RangeProfiler {
 public:
  explicit RangeProfiler(CUcontext context) {
    const auto params = cupti_call(cuptiRangeProfilerEnable,
                                   CUPTI_PARAMS(CUpti_RangeProfiler_Enable, .ctx = context));
    object_.reset(params.pRangeProfilerObject);
  }

  [[nodiscard]] CUpti_RangeProfiler_Object* get() const { return object_.get(); }

  /// An image for `ranges` ranges of these metrics.
  [[nodiscard]] std::vector<std::uint8_t> counter_data(std::span<const std::string> metrics,
                                                       std::size_t ranges) const {
    std::vector<const char*> names;
    names.reserve(metrics.size());
    for (const auto& metric : metrics)
      names.push_back(metric.c_str());
    const auto size =
        cupti_call(cuptiRangeProfilerGetCounterDataSize,
                   CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize,
                                .pRangeProfilerObject = get(), .pMetricNames = names.data(),
                                .numMetrics = names.size(), .maxNumOfRanges = ranges,
                                .maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges)));
    return std::vector<std::uint8_t>(size.counterDataSize);
  }

  /// Takes back whatever an image held.
  void clear(std::vector<std::uint8_t>& image) const {
    (void)cupti_call(
        cuptiRangeProfilerCounterDataImageInitialize,
        CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, .pRangeProfilerObject = get(),
                     .counterDataSize = image.size(), .pCounterData = image.data()));
  }

  void configure(std::span<const std::uint8_t> config, std::vector<std::uint8_t>& image,
                 std::size_t ranges) const {
    (void)cupti_call(
        cuptiRangeProfilerSetConfig,
        CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, .pRangeProfilerObject = get(),
                     .configSize = config.size(), .pConfig = config.data(),
                     .counterDataImageSize = image.size(), .pCounterDataImage = image.data(),
                     .range = CUPTI_UserRange, .replayMode = CUPTI_UserReplay,
                     .maxRangesPerPass = ranges, .numNestingLevels = 1, .minNestingLevel = 1,
                     .passIndex = 0, .targetNestingLevel = 1));
  }

  void start() const {
    (void)cupti_call(cuptiRangeProfilerStart,
                     CUPTI_PARAMS(CUpti_RangeProfiler_Start, .pRangeProfilerObject = get()));
  }

  /// True when every pass is done.
  [[nodiscard]] bool stop() const {
    const auto params =
        cupti_call(cuptiRangeProfilerStop,
                   CUPTI_PARAMS(CUpti_RangeProfiler_Stop, .pRangeProfilerObject = get()));
    return params.isAllPassSubmitted != 0;
  }

  void push(const std::string& name) const {
    (void)cupti_call(cuptiRangeProfilerPushRange,
                     CUPTI_PARAMS(CUpti_RangeProfiler_PushRange, .pRangeProfilerObject = get(),
                                  .pRangeName = name.c_str()));
  }

  void pop() const {
    (void)cupti_call(cuptiRangeProfilerPopRange,
                     CUPTI_PARAMS(CUpti_RangeProfiler_PopRange, .pRangeProfilerObject = get()));
  }

  /// Decodes the results of the passes into the configured image.
  void decode() const {
    const auto params =
        cupti_call(cuptiRangeProfilerDecodeData,
                   CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, .pRangeProfilerObject = get()));
    if (params.numOfRangeDropped > 0) {
      throw std::runtime_error{
          fmt::format("the profiler dropped {} ranges", params.numOfRangeDropped)};
    }
  }

 private:
  struct Disable {
    void operator()(CUpti_RangeProfiler_Object* object) const noexcept {
      auto params = CUPTI_PARAMS(CUpti_RangeProfiler_Disable, .pRangeProfilerObject = object);
      cupti_release(cuptiRangeProfilerDisable(&params), "switching the counters off");
    }
  };
  std::unique_ptr<CUpti_RangeProfiler_Object, Disable> object_;
};

/// Name of each range in a decoded image, in the image's order.
std::vector<std::string> range_names(const std::vector<std::uint8_t>& image) {
  const auto info = cupti_call(
      cuptiRangeProfilerGetCounterDataInfo,
      CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, .pCounterDataImage = image.data(),
                   .counterDataImageSize = image.size()));
  std::vector<std::string> names;
  for (std::size_t index = 0; index < info.numTotalRanges; ++index) {
    const auto range = cupti_call(
        cuptiRangeProfilerCounterDataGetRangeInfo,
        CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo,
                     .pCounterDataImage = image.data(), .counterDataImageSize = image.size(),
                     .rangeIndex = index, .rangeDelimiter = "/"));
    names.emplace_back(range.rangeName == nullptr ? "" : range.rangeName);
  }
  return names;
}

/// A session has a price whatever is counted in it: on an H200 39 ms for each pass, nearly all of
/// it for starting the pass, where a walk and all that is around it takes 2. Hence passes().
class CuptiSource final : public CounterSource, public CounterPasses {
 public:
  CuptiSource(int ordinal, const std::string& chip, const CounterSelection& selection)
      : ordinal_{ordinal}, host_{chip}, now_{&chosen(selection.wanted)} {}

  [[nodiscard]] const CounterPlan& plan() const override { return now_->plan; }
  void narrow(const std::vector<std::string>& sets) override { now_ = &chosen(sets); }

  void attach() override {
    const auto nothing = [] {};
    try {
      profiler_ = std::make_unique<RangeProfiler>(current_context());
      // Some refusals come only when something is counted: permission, another profiler.
      (void)count(
          std::vector<CountedRange>{{.name = "trial", .prepare = nothing, .work = nothing}});
    } catch (const CuptiError& error) {
      profiler_.reset();
      counters_unavailable(error.code(), "a trial of the range profiler", ordinal_);
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
          fmt::format("{} ranges in a session; {} are the most", most_ranges, capacity)};
    }
    names_.clear();
    if (configured_ != now_) begin_anew();
    profiler_->clear(now_->image);
    profiler_->configure(now_->config, now_->image, capacity);
  }

  void begin_pass() override { profiler_->start(); }

  /// The device is idle at both ends of the range: nothing else is counted in it.
  void run(const CountedRange& range) override {
    // CUPTI does not recover from a pass that ends within a range, not even by being switched off
    // and on again: whatever throws below leaves it broken.
    broken_ = true;
    range.prepare();
    cuda_check(cudaDeviceSynchronize());
    profiler_->push(*names_.insert(range.name).first);
    range.work();
    cuda_check(cudaDeviceSynchronize());
    profiler_->pop();
    broken_ = false;
  }

  [[nodiscard]] bool end_pass() override { return profiler_->stop(); }

  [[nodiscard]] std::map<std::string, Counts, std::less<>> results() override {
    profiler_->decode();
    std::map<std::string, Counts, std::less<>> counted;
    const auto names = range_names(now_->image);
    if (names.size() != names_.size()) {
      throw std::runtime_error{fmt::format("the profiler kept {} of {} ranges, without a word",
                                           names.size(), names_.size())};
    }
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
    std::vector<std::uint8_t> image;  // the profiler writes to it as long as it lives
  };

  /// A profiler that was configured for some metrics takes no image of others (CUPTI 13.0: error
  /// 999 when the image is initialised): for these it is switched off and on again.
  void begin_anew() {
    if (configured_ != nullptr) {
      profiler_.reset();
      configured_->image.clear();
      configured_ = nullptr;
      profiler_ = std::make_unique<RangeProfiler>(current_context());
    }
    now_->image = profiler_->counter_data(now_->metrics, capacity);
    configured_ = now_;
  }

  /// Made once: the profiler keeps pointers into it.
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

  /// Ranges that every session has room for. The profiler makes its room when it is configured for
  /// the first time: a later session that asks for more loses the ranges beyond, and the count of
  /// dropped ranges stays 0 (CUPTI 13.0).
  static constexpr std::size_t capacity = 256;

  int ordinal_;
  CuptiHost host_;
  std::map<std::vector<std::string>, Chosen> chosen_;
  Chosen* now_;
  Chosen* configured_ = nullptr;              // the plan of the current configuration
  std::set<std::string, std::less<>> names_;  // of the session: the profiler keeps pointers to them
  std::unique_ptr<RangeProfiler> profiler_;
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<CounterSource> open_counters(const DeviceRequest& device,
                                             const CounterSelection& selection) {
  if (device.kind == DeviceRequest::Kind::host) {
    counters_unavailable(no_gpu_to_count_on("the counters of a CPU are not read"));
  }
  load_modules_eagerly();
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    counters_unavailable(no_gpu_to_count_on("CUDA sees none; strata doctor says why"));
  }
  const int ordinal = device.ordinal;
  if (const auto misfit = misfit_of_loaded_cupti()) counters_unavailable(*misfit);
  if (const auto absence = explain_environment(counter_environment(ordinal)))
    counters_unavailable(*absence);
  start_cupti(ordinal);
  check_support(ordinal);
  const std::string chip = chip_of_device(ordinal);
  if (const auto absence = unknown_chip(chip)) counters_unavailable(*absence);
  return std::make_unique<CuptiSource>(ordinal, chip, selection);
}

}  // namespace strata
