// The library that `strata profile` has the driver load into a program. In the first run it
// collects the times of kernels, copies and fills by CUPTI's activity records; in the second one it
// counts selected launches by CUPTI's range profiler, which replays each of them.
//
// It writes one part per process into STRATA_PROFILE_FOLDER: every second in the first run, after
// each counted launch in the second, at exit and at signals that end the process. It never stops
// the program and throws nothing into it.
#include "harness/capture/launch_calls.hpp"
#include "harness/profile/part.hpp"

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace strata::profile {
namespace {

std::string setting(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
  return value == nullptr ? std::string{} : value;
}

std::uint64_t now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

/// A call of CUPTI that failed.
struct CallFailed : std::runtime_error {
  CallFailed(CUptiResult result, const char* function)
      : std::runtime_error{function}, code{result} {}
  CUptiResult code;
};

void check(CUptiResult code, const char* function) {
  if (code != CUPTI_SUCCESS) throw CallFailed{code, function};
}

std::string name_of(CUptiResult code) {
  const char* name = nullptr;
  (void)cuptiGetResultString(code, &name);
  return name == nullptr ? "an unknown error" : name;
}

/// The parameters of a CUPTI call, with their size filled in.
#define STRATA_PARAMS(name, ...)                         \
  name##_Params {                                        \
    .structSize = name##_Params_STRUCT_SIZE, __VA_ARGS__ \
  }

/// Calls and returns the parameters, which contain the results. Throws CallFailed.
#define STRATA_CALL(function, name, ...) call(function, STRATA_PARAMS(name, __VA_ARGS__), #function)

template <class Params>
Params call(CUptiResult (*function)(Params*), Params params, const char* name) {
  check(function(&params), name);
  return params;
}

/// Functions of the driver, which the program has loaded. Resolved by name: this library must load
/// without a driver.
struct Driver {
  Driver() {
    void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    const auto get = [&](auto& function, const char* name) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): dlsym has no other way
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          library == nullptr ? nullptr : ::dlsym(library, name));
    };
    get(device, "cuDeviceGet");
    get(device_name, "cuDeviceGetName");
    get(device_uuid, "cuDeviceGetUuid_v2");
    get(attribute, "cuDeviceGetAttribute");
    get(device_of_context, "cuCtxGetDevice");
    get(is_capturing, "cuStreamIsCapturing");
  }
  decltype(&cuDeviceGet) device = nullptr;
  decltype(&cuDeviceGetName) device_name = nullptr;
  decltype(&cuDeviceGetUuid) device_uuid = nullptr;
  decltype(&cuDeviceGetAttribute) attribute = nullptr;
  decltype(&cuCtxGetDevice) device_of_context = nullptr;
  decltype(&cuStreamIsCapturing) is_capturing = nullptr;

  [[nodiscard]] DeviceFacts facts(unsigned ordinal) const {
    DeviceFacts found;
    CUdevice handle{};
    if (device == nullptr || device(&handle, static_cast<int>(ordinal)) != CUDA_SUCCESS) {
      return found;
    }
    constexpr int longest_name = 256;
    std::array<char, longest_name> name{};
    if (device_name != nullptr && device_name(name.data(), longest_name, handle) == CUDA_SUCCESS) {
      found.name = name.data();
    }
    CUuuid uuid{};
    if (device_uuid != nullptr && device_uuid(&uuid, handle) == CUDA_SUCCESS) {
      found.uuid = "GPU-";
      for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
        constexpr std::string_view digits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
        if (i == 4 || i == 6 || i == 8 || i == 10) found.uuid += '-';
        found.uuid += digits[byte >> 4U];
        found.uuid += digits[byte & 15U];
      }
    }
    int major = 0;
    int minor = 0;
    if (attribute != nullptr &&
        attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle) == CUDA_SUCCESS &&
        attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle) == CUDA_SUCCESS) {
      found.capability = std::to_string(major) + '.' + std::to_string(minor);
    }
    return found;
  }
};

const char* word_of_copy(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "host_to_device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "device_to_host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "peer";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "host_to_host";
    default:
      return "device_to_device";
  }
}

/// The profiler of one context and what it counts into.
class Counting {
 public:
  /// Throws CallFailed.
  Counting(CUcontext context, unsigned device, const std::vector<std::string>& metrics) {
    load_neighbour();
    (void)STRATA_CALL(cuptiProfilerInitialize, CUpti_Profiler_Initialize, );
    const auto chip =
        STRATA_CALL(cuptiDeviceGetChipName, CUpti_Device_GetChipName, .deviceIndex = device);
    host_ =
        STRATA_CALL(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize,
                    .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER, .pChipName = chip.pChipName)
            .pHostObject;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      auto params = STRATA_PARAMS(CUpti_Profiler_Host_GetMetricProperties, .pHostObject = host_,
                                  .pMetricName = metrics[i].c_str());
      if (cuptiProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS) continue;
      names_.push_back(metrics[i].c_str());
      places_.push_back(i);
    }
    all_ = metrics.size();
    (void)STRATA_CALL(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics,
                      .pHostObject = host_, .ppMetricNames = names_.data(),
                      .numMetrics = names_.size());
    const auto size = STRATA_CALL(cuptiProfilerHostGetConfigImageSize,
                                  CUpti_Profiler_Host_GetConfigImageSize, .pHostObject = host_);
    config_.resize(size.configImageSize);
    (void)STRATA_CALL(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage,
                      .pHostObject = host_, .configImageSize = config_.size(),
                      .pConfigImage = config_.data());
    profiler_ = STRATA_CALL(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable, .ctx = context)
                    .pRangeProfilerObject;
    const auto data = STRATA_CALL(
        cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize,
        .pRangeProfilerObject = profiler_, .pMetricNames = names_.data(),
        .numMetrics = names_.size(), .maxNumOfRanges = ranges, .maxNumRangeTreeNodes = ranges);
    data_.resize(data.counterDataSize);
  }

  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  Counting(Counting&&) = delete;
  Counting& operator=(Counting&&) = delete;
  ~Counting() {
    auto off = STRATA_PARAMS(CUpti_RangeProfiler_Disable, .pRangeProfilerObject = profiler_);
    (void)cuptiRangeProfilerDisable(&off);
    auto closed = STRATA_PARAMS(CUpti_Profiler_Host_Deinitialize, .pHostObject = host_);
    (void)cuptiProfilerHostDeinitialize(&closed);
  }

  /// From here until end() every launch in the context is a range, which is replayed.
  void begin() {
    (void)STRATA_CALL(cuptiRangeProfilerCounterDataImageInitialize,
                      CUpti_RangeProfiler_CounterDataImage_Initialize,
                      .pRangeProfilerObject = profiler_, .counterDataSize = data_.size(),
                      .pCounterData = data_.data());
    (void)STRATA_CALL(
        cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig,
        .pRangeProfilerObject = profiler_, .configSize = config_.size(), .pConfig = config_.data(),
        .counterDataImageSize = data_.size(), .pCounterDataImage = data_.data(),
        .range = CUPTI_AutoRange, .replayMode = CUPTI_KernelReplay, .maxRangesPerPass = ranges,
        .numNestingLevels = 1, .minNestingLevel = 1, .passIndex = 0, .targetNestingLevel = 1);
    (void)STRATA_CALL(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start,
                      .pRangeProfilerObject = profiler_);
  }

  /// A value per metric; empty if the launch was not one range.
  [[nodiscard]] std::vector<double> end() {
    (void)STRATA_CALL(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop,
                      .pRangeProfilerObject = profiler_);
    (void)STRATA_CALL(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData,
                      .pRangeProfilerObject = profiler_);
    const auto info =
        STRATA_CALL(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo,
                    .pCounterDataImage = data_.data(), .counterDataImageSize = data_.size());
    if (info.numTotalRanges != 1) return {};
    std::vector<double> found(names_.size());
    (void)STRATA_CALL(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues,
                      .pHostObject = host_, .pCounterDataImage = data_.data(),
                      .counterDataImageSize = data_.size(), .rangeIndex = 0,
                      .ppMetricNames = names_.data(), .numMetrics = names_.size(),
                      .pMetricValues = found.data());
    std::vector<double> values(all_, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < found.size(); ++i)
      values[places_[i]] = found[i];
    return values;
  }

 private:
  /// CUPTI loads libnvperf_host by its bare name, so it must be loaded before.
  static void load_neighbour() {
    Dl_info library{};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): dladdr has no other way
    if (::dladdr(reinterpret_cast<void*>(&cuptiProfilerInitialize), &library) == 0) return;
    std::string path = library.dli_fname;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
    path += "libnvperf_host.so";
    (void)::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  }

  static constexpr std::uint32_t ranges = 4;

  CUpti_Profiler_Host_Object* host_ = nullptr;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<const char*> names_;   ///< of the metrics that the chip has
  std::vector<std::size_t> places_;  ///< of them among all
  std::size_t all_ = 0;
  std::vector<std::uint8_t> config_;
  std::vector<std::uint8_t> data_;  ///< the profiler writes to it during its whole lifetime
};

class Profile {
 public:
  static Profile& the() {
    // Records and launches may come until the very end of the process: it is never destroyed.
    static auto* const profile = new Profile;  // NOLINT(cppcoreguidelines-owning-memory)
    return *profile;
  }

  void begin() {
    part_.process = ::getpid();
    part_.begun = now();
    std::array<char, 4096> path{};
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
    const std::string program{path.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length))};
    part_.program = program.substr(program.rfind('/') + 1);
    file_ = setting("STRATA_PROFILE_FOLDER") + "/part-" + std::to_string(part_.begun) + '-' +
            std::to_string(part_.process);
    counts_ = setting("STRATA_PROFILE_MODE") == "counters";
    write();  // whatever happens: the process used CUDA
    const CUptiResult code = cuptiSubscribe(&subscriber_, &on_call, this);
    if (code != CUPTI_SUCCESS) {
      part_.note("CUPTI refuses this process (" + name_of(code) +
                 "): another profiler is in it, and only one can be");
      return write();
    }
    try {
      counts_ ? begin_counting() : begin_timing();
    } catch (const CallFailed& failed) {
      refuse(failed);
    }
    (void)std::atexit([] { the().end(); });
    (void)::pthread_atfork(nullptr, nullptr, [] { the().is_forked_ = true; });
    write();
    start_thread();
    catch_signals();
    // A library that is loaded before the program's others knows of _exit().
    using Register = void (*)(void (*)());
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): dlsym has no other way
    const auto at_exit =
        reinterpret_cast<Register>(::dlsym(RTLD_DEFAULT, "strata_call_before_exit"));
    if (at_exit != nullptr) at_exit([] { the().end(); });
  }

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{4} << 20U;

  void begin_timing() {
    check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer),
          "cuptiActivityRegisterCallbacks");
    // Concurrent, because the other kind serialises kernels.
    for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMSET}) {
      check(cuptiActivityEnable(kind), "cuptiActivityEnable");
    }
  }

  void begin_counting() {
    std::ifstream stream{setting("STRATA_PROFILE_SELECTION"), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{stream}, {}};
    selection_ = read_selection(text);
    part_.metrics = selection_.metrics;
    for (const auto id : launch_calls) {
      check(cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id),
            "cuptiEnableCallback");
    }
  }

  static void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes,
                                   std::size_t* records) {
    constexpr std::size_t alignment = 8;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(alignment, buffer_bytes));
    *bytes = *buffer == nullptr ? 0 : buffer_bytes;  // without one, CUPTI drops and counts records
    *records = 0;
  }

  static void CUPTIAPI take_buffer(CUcontext /*context*/, std::uint32_t /*stream*/,
                                   std::uint8_t* buffer, std::size_t /*bytes*/, std::size_t valid) {
    if (buffer == nullptr) return;
    try {
      const std::lock_guard lock{the().mutex_};
      CUpti_Activity* record = nullptr;
      std::vector<const CUpti_ActivityKernel9*> kernels;
      while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
          kernels.push_back(reinterpret_cast<const CUpti_ActivityKernel9*>(record));
        } else {
          the().take(*record);
        }
      }
      // In the order of their launches, as the second run numbers them; records of several streams
      // come in the order of their ends.
      std::ranges::stable_sort(kernels, {}, [](const auto* one) { return one->correlationId; });
      for (const auto* const kernel : kernels)
        the().take_kernel(*kernel);
    } catch (const std::exception&) {  // out of memory: what was collected stays
    }
    std::free(buffer);  // NOLINT(cppcoreguidelines-no-malloc): CUPTI's interface
  }

  template <class Record>
  bool is_complete(const Record& one) {
    if (one.start > 0 && one.start <= one.end) return true;
    part_.note("operations that had not ended when the program did are left out");
    return false;
  }

  // Each newer version of a record begins with these.

  void take_kernel(const CUpti_ActivityKernel9& one) {
    if (!is_complete(one)) return;
    const auto size = [](std::int32_t value) { return static_cast<unsigned>(value); };
    const KernelShape shape{.kernel = one.name == nullptr ? "" : one.name,
                            .grid = {size(one.gridX), size(one.gridY), size(one.gridZ)},
                            .block = {size(one.blockX), size(one.blockY), size(one.blockZ)}};
    Launches facts;
    facts.registers = one.registersPerThread;
    facts.static_shared = size(one.staticSharedMemory);
    facts.dynamic_shared = size(one.dynamicSharedMemory);
    part_.add_kernel(one.deviceId, shape, one.start, one.end, one.graphId != 0, facts);
  }

  void take(const CUpti_Activity& record) {
    switch (record.kind) {
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto& one = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
        if (!is_complete(one)) return;
        return part_.add_copy(one.deviceId, word_of_copy(one.copyKind), one.start, one.end,
                              one.bytes);
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto& one = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
        if (!is_complete(one)) return;
        return part_.add_copy(one.deviceId, "fill", one.start, one.end, one.bytes);
      }
      default:
        return;
    }
  }

  void note_device(unsigned ordinal) {
    if (!part_.devices.contains(ordinal)) part_.devices[ordinal] = driver_.facts(ordinal);
  }

  static void CUPTIAPI on_call(void* profile, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const void* data) {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
    static thread_local bool is_inside = false;  // our own calls come by here, too
    if (is_inside) return;
    is_inside = true;
    auto& self = *static_cast<Profile*>(profile);
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    call.callbackSite == CUPTI_API_ENTER ? self.before_launch(id, call) : self.after_launch(call);
    is_inside = false;
  }

  void before_launch(CUpti_CallbackId id, const CUpti_CallbackData& call) {
    if (held_ != Held::nothing) return;  // part of a replay
    const auto launched = launched_of(id, call.functionParams);
    if (!launched) return;
    // A counted launch is alone: others at the same time would be counted with it.
    call_ = call.correlationId;
    if (!is_selected(*launched, call)) {
      launches_.lock_shared();
      held_ = Held::shared;
      return;
    }
    launches_.lock();
    held_ = Held::alone;
    const std::lock_guard lock{mutex_};
    guarded([&] {
      auto& counting = counting_[call.context];
      const bool is_new = counting == nullptr;
      const auto open = [&] {
        counting.reset();
        counting = std::make_unique<Counting>(call.context, under_way_.device, selection_.metrics);
        counting->begin();
      };
      try {
        is_new ? open() : counting->begin();
      } catch (const CallFailed&) {
        if (is_new) throw;
        open();
      }
      active_ = counting.get();
    });
  }

  /// Whether this launch is to be counted: then it is the one under way, which waits for its turn.
  bool is_selected(const Launched& launched, const CUpti_CallbackData& call) {
    const std::lock_guard lock{mutex_};
    bool is_chosen = false;
    guarded([&] {
      if (part_.refusal != 0 || is_forked_) return;
      const KernelShape shape{.kernel = call.symbolName == nullptr ? "" : call.symbolName,
                              .grid = launched.grid,
                              .block = launched.block};
      const auto selected = selection_.launches.find(shape);
      if (selected == selection_.launches.end()) return;
      CUdevice handle{};
      if (driver_.device_of_context == nullptr ||
          driver_.device_of_context(&handle) != CUDA_SUCCESS) {
        return;
      }
      const auto device = static_cast<unsigned>(handle);
      const auto ordinal = ++launched_[{device, shape}];
      if (!std::ranges::binary_search(selected->second, ordinal)) return;
      CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
      if (driver_.is_capturing == nullptr ||
          driver_.is_capturing(launched.stream, &capturing) != CUDA_SUCCESS ||
          capturing != CU_STREAM_CAPTURE_STATUS_NONE) {
        return part_.note("launches into graphs are not counted");
      }
      note_device(device);
      under_way_ = {.device = device, .shape = shape, .ordinal = ordinal, .values = {}};
      is_chosen = true;
    });
    return is_chosen;
  }

  void after_launch(const CUpti_CallbackData& call) {
    if (held_ == Held::nothing || call.correlationId != call_) return;
    if (std::exchange(held_, Held::nothing) == Held::shared) return launches_.unlock_shared();
    if (const std::lock_guard lock{mutex_}; active_ != nullptr) {
      guarded([&] {
        under_way_.values = std::exchange(active_, nullptr)->end();
        if (under_way_.values.empty()) {
          return part_.note("a launch was not counted, because the profiler saw other work: " +
                            under_way_.shape.kernel);
        }
        part_.counted.push_back(under_way_);
        is_changed_ = true;
      });
    }
    launches_.unlock();
  }

  /// Nothing may be thrown into the program.
  template <class Action>
  void guarded(Action action) {
    try {
      action();
    } catch (const CallFailed& failed) {
      active_ = nullptr;
      refuse(failed);
    } catch (const std::exception& error) {
      part_.note(error.what());
    }
  }

  /// Ends counting, or what was to begin.
  void refuse(const CallFailed& failed) {
    part_.refusal = static_cast<int>(failed.code);
    part_.refused_call = failed.what();
    part_.refused_call += ' ' + name_of(failed.code);
    is_changed_ = true;
  }

  /// Replaces the file of this process, at once.
  void write() {
    const std::string text = part_text(part_);
    const std::string fresh = file_ + ".new";
    std::ofstream stream{fresh, std::ios::binary | std::ios::trunc};
    stream << text;
    stream.close();
    if (stream) (void)std::rename(fresh.c_str(), file_.c_str());
    is_changed_ = false;
  }

  /// Collects complete records; a forced flush also returns incomplete ones.
  void collect(std::uint32_t flag) {
    if (counts_ || part_.refusal != 0) return;
    (void)cuptiActivityFlushAll(flag);
    std::size_t dropped = 0;
    (void)cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    const std::lock_guard lock{mutex_};
    for (const auto& [device, times] : part_.busy)
      note_device(device);  // not where CUPTI hands over records: these are calls of the driver
    dropped_ += dropped;
    is_changed_ = true;
  }

  void end() {
    if (is_forked_ || part_.process != ::getpid()) return;  // the records are the parent's
    if (is_done_.exchange(true)) return;
    collect(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    const std::lock_guard lock{mutex_};
    if (dropped_ > 0) part_.note("CUPTI dropped " + std::to_string(dropped_) + " records");
    part_.is_whole = true;
    write();
  }

  void start_thread() {
    if (::pipe2(wake_.data(), O_CLOEXEC) != 0 || ::pipe2(answer_.data(), O_CLOEXEC) != 0) return;
    // It inherits the mask, so that the program's threads get its signals.
    sigset_t all{};
    sigset_t before{};
    (void)::sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread{[this] { run_thread(); }}.detach();
    } catch (const std::exception&) {  // no more threads: collected at the end alone
    }
    (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void run_thread() {
    constexpr int milliseconds = 1000;
    for (;;) {
      pollfd ready{.fd = wake_[0], .events = POLLIN, .revents = 0};
      const bool is_last = ::poll(&ready, 1, milliseconds) > 0;
      if (is_done_) return;
      collect(0);
      if (const std::lock_guard lock{mutex_};
          !is_done_ && (is_last || (is_changed_ && now() >= next_write_))) {
        part_.is_whole = is_last;
        const std::uint64_t begin = now();
        write();
        // A part of many kernels takes long, and the program waits for it.
        constexpr std::uint64_t pause = 50;
        next_write_ = now() + pause * (now() - begin);
      }
      if (!is_last) continue;
      const char byte = 0;
      (void)!::write(answer_[1], &byte, 1);
      return;
    }
  }

  /// At a signal that ends the process: lets the thread write, since a handler must not.
  static void on_signal(int signal) {
    const char byte = 0;
    if (::getpid() == the().part_.process && ::write(the().wake_[1], &byte, 1) == 1) {
      constexpr int patience = 2000;  // milliseconds; a lock may be held by the interrupted thread
      pollfd ready{.fd = the().answer_[0], .events = POLLIN, .revents = 0};
      (void)::poll(&ready, 1, patience);
    }
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    (void)::sigaction(signal, &by_default, nullptr);
    (void)::raise(signal);  // delivered when this handler returns
  }

  /// Signals that the program handles remain its own.
  void catch_signals() {
    if (wake_[1] < 0 || answer_[0] < 0) return;
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV,
                             SIGTERM, SIGXCPU, SIGXFSZ}) {
      struct sigaction before {};
      if (::sigaction(signal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
          before.sa_handler != SIG_DFL) {
        continue;
      }
      struct sigaction ours {};
      ours.sa_handler = on_signal;
      (void)::sigaction(signal, &ours, nullptr);
    }
  }

  Driver driver_;
  std::string file_;
  bool counts_ = false;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::mutex mutex_;
  Part part_;
  std::size_t dropped_ = 0;
  bool is_changed_ = false;
  std::uint64_t next_write_ = 0;
  std::atomic<bool> is_done_ = false;
  bool is_forked_ = false;
  std::array<int, 2> wake_{-1, -1};
  std::array<int, 2> answer_{-1, -1};

  Selection selection_;
  std::map<std::pair<unsigned, KernelShape>, std::uint64_t> launched_;
  std::map<CUcontext, std::unique_ptr<Counting>> counting_;
  Counting* active_ = nullptr;
  std::shared_mutex launches_;
  enum class Held { nothing, shared, alone };
  // Of a launch that is under way in this thread.
  static inline thread_local Held held_ = Held::nothing;
  static inline thread_local std::uint32_t call_ = 0;
  static inline thread_local CountedLaunch under_way_;
};

}  // namespace
}  // namespace strata::profile

/// The driver calls it once, when a program first uses CUDA.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  try {
    strata::profile::Profile::the().begin();
  } catch (const std::exception&) {
    return 0;
  }
  return 1;
}
