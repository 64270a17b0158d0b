// The library that `strata access capture` has the driver load into a program: it writes a launch
// file of each kernel and shape that the program launches, before the launch, with the content of
// its buffers; and the modules that the program loads.
//
// It reports on the descriptor of STRATA_CAPTURE_CHANNEL, one line each: "begun", "launch
// FILE", "module FILE" (with PTX), "code FILE" (without), "left out WHY", "failed WHY". It never
// stops the program and throws nothing into it.
#include "harness/base/unique_fd.hpp"
#include "harness/capture/launch_calls.hpp"
#include "harness/record/capture_file.hpp"

#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace strata::access {
namespace {

std::string setting(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
  return value == nullptr ? std::string{} : value;
}

/// Functions of the driver, which the program has loaded. Resolved by name: this library must load
/// without a driver, so that `strata` can report what is missing.
struct Driver {
  Driver() : library{::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL)} {
    const auto get = [&](auto& function, const char* name) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): dlsym has no other way
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          library == nullptr ? nullptr : ::dlsym(library, name));
      is_whole = is_whole && function != nullptr;
    };
    get(address_range, "cuMemGetAddressRange_v2");
    get(copy_to_host, "cuMemcpyDtoH_v2");
    get(synchronize, "cuCtxSynchronize");
    get(is_capturing, "cuStreamIsCapturing");
    get(exchange_mode, "cuThreadExchangeStreamCaptureMode");
    get(parameter_of, "cuFuncGetParamInfo");
    get(parameter_of_kernel, "cuKernelGetParamInfo");
  }
  void* library;
  bool is_whole = true;
  decltype(&cuMemGetAddressRange) address_range = nullptr;
  decltype(&cuMemcpyDtoH) copy_to_host = nullptr;
  decltype(&cuCtxSynchronize) synchronize = nullptr;
  decltype(&cuStreamIsCapturing) is_capturing = nullptr;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_mode = nullptr;
  decltype(&cuFuncGetParamInfo) parameter_of = nullptr;
  decltype(&cuKernelGetParamInfo) parameter_of_kernel = nullptr;
};

/// The module that a call loads; null for other calls.
const void* image_of(CUpti_CallbackId id, const void* params) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
      return static_cast<const cuModuleLoadData_params*>(params)->image;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
      return static_cast<const cuModuleLoadDataEx_params*>(params)->image;
    case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
      return static_cast<const cuModuleLoadFatBinary_params*>(params)->fatCubin;
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
      return static_cast<const cuLibraryLoadData_params*>(params)->code;
    default:
      return nullptr;
  }
}

constexpr std::array module_calls{
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData, CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary, CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData};

class Capture {
 public:
  Capture()
      : folder_{setting("STRATA_CAPTURE_FOLDER")},
        channel_{std::atoi(setting("STRATA_CAPTURE_CHANNEL").c_str())},  // NOLINT(cert-err34-c)
        bytes_{std::strtoull(setting("STRATA_CAPTURE_BYTES").c_str(), nullptr, 10)} {}

  void begin() {
    report("begun", "");
    if (!driver_.is_whole) {
      return report("failed",
                    "the driver is older than 12.4 and does not report a kernel's parameters");
    }
    CUptiResult code = cuptiSubscribe(&subscriber_, &on_callback, this);
    const auto enable = [&](CUpti_CallbackId id) {
      if (code != CUPTI_SUCCESS) return;
      code = cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
    };
    std::ranges::for_each(launch_calls, enable);
    std::ranges::for_each(module_calls, enable);
    if (code == CUPTI_SUCCESS) return;
    const char* why = nullptr;
    (void)cuptiGetResultString(code, &why);
    report("failed", std::string{"CUPTI: "} + (why == nullptr ? "an unknown error" : why));
  }

 private:
  static void CUPTIAPI on_callback(void* capture, CUpti_CallbackDomain /*domain*/,
                                   CUpti_CallbackId id, const void* data) {
    static thread_local bool is_inside = false;  // our own calls come by here, too
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (is_inside || call.callbackSite != CUPTI_API_ENTER) return;
    is_inside = true;
    auto& self = *static_cast<Capture*>(capture);
    try {
      const std::lock_guard one_at_a_time{self.mutex_};
      if (const auto launched = launched_of(id, call.functionParams)) {
        self.on_launch(*launched, call.symbolName == nullptr ? "" : call.symbolName);
      } else if (const void* const image = image_of(id, call.functionParams)) {
        self.on_module(image);
      }
    } catch (const std::exception& error) {
      self.report("failed", error.what());
    }
    is_inside = false;
  }

  void on_launch(const Launched& launched, const std::string& symbol) {
    SeenLaunch seen{.kernel = symbol,
                    .grid = launched.grid,
                    .block = launched.block,
                    .cluster = launched.cluster,
                    .dynamic_shared = launched.shared,
                    .parameters = {}};
    const auto name = shapes_.name_of_new(seen);
    if (!name) return;
    CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
    if (driver_.is_capturing(launched.stream, &capturing) != CUDA_SUCCESS ||
        capturing != CU_STREAM_CAPTURE_STATUS_NONE) {
      return report("left out", *name + ": it is launched into a graph");
    }
    if (!read_parameters(launched, seen)) {
      return report("left out", *name + ": the driver does not report its parameters");
    }
    // Another stream of this thread may be captured, and must not notice.
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    (void)driver_.exchange_mode(&mode);
    write_launch(seen, *name);
    (void)driver_.exchange_mode(&mode);
  }

  /// Offset and size of a parameter. The handle may be a kernel of a library, which is used as its
  /// function.
  CUresult parameter(CUfunction function, std::size_t index, std::size_t& offset,
                     std::size_t& bytes) const {
    const CUresult code = driver_.parameter_of(function, index, &offset, &bytes);
    if (code != CUDA_ERROR_INVALID_HANDLE) return code;
    auto* const kernel = reinterpret_cast<CUkernel>(function);  // NOLINT: as cuLaunchKernel has it
    return driver_.parameter_of_kernel(kernel, index, &offset, &bytes);
  }

  bool read_parameters(const Launched& launched, SeenLaunch& seen) const {
    const std::uint8_t* packed = nullptr;
    for (void** extra = launched.extra; extra != nullptr && *extra != CU_LAUNCH_PARAM_END;
         extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) packed = static_cast<std::uint8_t*>(extra[1]);
    }
    for (std::size_t i = 0;; ++i) {
      std::size_t offset = 0;
      std::size_t bytes = 0;
      const CUresult code = parameter(launched.function, i, offset, bytes);
      if (code == CUDA_ERROR_INVALID_VALUE) return true;  // there are no more
      if (code != CUDA_SUCCESS) return false;
      const std::uint8_t* from = packed != nullptr ? packed + offset : nullptr;
      if (from == nullptr && launched.parameters != nullptr) {
        from = static_cast<const std::uint8_t*>(launched.parameters[i]);
      }
      if (from == nullptr) return false;
      seen.parameters.emplace_back(from, from + bytes);
    }
  }

  void write_launch(const SeenLaunch& seen, const std::string& name) {
    const auto find = [&](std::uint64_t address) -> std::optional<MemoryRange> {
      CUdeviceptr base = 0;
      std::size_t bytes = 0;
      if (driver_.address_range(&base, &bytes, address) != CUDA_SUCCESS) return std::nullopt;
      return MemoryRange{base, bytes};
    };
    SeenMemory memory = memory_of(seen, find);
    std::vector<bool> keeps = kept(memory.buffers, bytes_);
    std::uint64_t left = bytes_;
    for (std::size_t b = 0; b < keeps.size(); ++b)
      left -= keeps[b] ? memory.buffers[b].bytes : 0;
    // What was launched before has to be done with its memory.
    const bool is_idle = driver_.synchronize() == CUDA_SUCCESS;
    ContentWords words(memory.buffers.size());
    for (std::size_t b = 0; b < memory.buffers.size() && is_idle; ++b) {
      if (!keeps[b]) continue;
      std::string content(memory.buffers[b].bytes, '\0');
      if (driver_.copy_to_host(content.data(), memory.buffers[b].address, content.size()) !=
          CUDA_SUCCESS) {
        continue;
      }
      for (const MemoryRange& found : pointed_to(content, memory.buffers, find)) {
        memory.buffers.push_back(found);
        words.emplace_back();
        keeps.push_back(found.bytes <= left);
        left -= keeps.back() ? found.bytes : 0;
      }
      if (std::ranges::all_of(content, [](char byte) { return byte == '\0'; })) {
        words[b] = "fill: zero";
        continue;
      }
      const std::string file = write(name + '.' + std::to_string(b), ".bin", content);
      if (file.empty()) return;
      words[b] = "file: " + file;
    }
    const std::string file = write(name, ".yaml", launch_text(seen, memory, words));
    if (!file.empty()) report("launch", file);
  }

  void on_module(const void* image) {
    const auto module = module_at(image);
    if (!module || !modules_.insert(module->bytes.data()).second) return;
    const std::string name = "module-" + std::to_string(modules_.size());
    const std::string file = write(name, suffix_of(module->kind), module->bytes);
    if (!file.empty()) report(module->has_ptx ? "module" : "code", file);
  }

  /// The name of the file that was written, in the folder; nothing where it could not be. Processes
  /// of one program keep out of each other's way.
  std::string write(const std::string& name, std::string_view suffix, std::string_view bytes) {
    if (is_full_) return {};
    std::string file = name;
    if (::access((folder_ + '/' + file + std::string{suffix}).c_str(), F_OK) == 0) {
      file += '-' + std::to_string(::getpid());
    }
    file += suffix;
    const std::string why = write_new_file(folder_ + '/' + file, bytes);
    if (why.empty()) return file;
    is_full_ = true;  // reported once
    report("failed", why);
    return {};
  }

  void report(std::string_view what, const std::string& of) const {
    std::string line{what};
    if (!of.empty()) line += ' ' + of;
    std::ranges::replace(line, '\n', ' ');
    (void)write_some(channel_, line + '\n');
  }

  std::string folder_;
  int channel_;
  std::uint64_t bytes_;
  Driver driver_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::mutex mutex_;
  SeenShapes shapes_;
  std::set<const void*> modules_;
  bool is_full_ = false;
};

}  // namespace
}  // namespace strata::access

/// The driver calls it once, when a program first uses CUDA.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  try {
    // Launches may come until the very end of the process: it is never destroyed.
    static auto* const capture = new strata::access::Capture;  // NOLINT
    capture->begin();
  } catch (const std::exception&) {
    return 0;
  }
  return 1;
}
