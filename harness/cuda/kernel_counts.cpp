#include "harness/counters/kernel_counts.hpp"

#include "harness/base/error.hpp"
#include "harness/base/finally.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cupti_check.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/model/split_mix.hpp"

#include <cuda_runtime_api.h>
#include <cupti_pcsampling.h>
#include <cupti_sass_metrics.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace strata {
namespace {

constexpr std::size_t guard_bytes = 4096;  // on either side of a buffer
constexpr std::uint8_t guard_value = 0xA5;

std::vector<std::uint8_t> initial_content(const LaunchMemory& memory, std::size_t index) {
  if (!memory.content.empty()) return memory.content;
  std::vector<std::uint8_t> content(memory.bytes);
  SplitMix random{index + 1};
  for (std::uint8_t& byte : content)
    byte = static_cast<std::uint8_t>(random.next());
  return content;
}

/// Memory between guards, at an address with the requested remainder.
class GuardedMemory {
 public:
  explicit GuardedMemory(const LaunchMemory& memory)
      : all_{memory.bytes + 2 * guard_bytes + placing}, bytes_{memory.bytes} {
    const auto first = reinterpret_cast<std::uintptr_t>(all_.data()) + guard_bytes;
    const std::uint64_t shift = (memory.address - first) % placing;
    begin_ = guard_bytes + shift;
  }
  void put(const std::vector<std::uint8_t>& content) {
    std::vector<std::uint8_t> host(all_.size(), guard_value);
    std::ranges::copy(content, host.begin() + static_cast<std::ptrdiff_t>(begin_));
    all_.upload(host);
  }
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uintptr_t>(all_.data()) + begin_;
  }
  [[nodiscard]] std::vector<std::uint8_t> content() const {
    std::vector<std::uint8_t> host = all_.to_host();
    const auto first = host.begin() + static_cast<std::ptrdiff_t>(begin_);
    std::copy_n(first, bytes_, host.begin());
    host.resize(bytes_);
    return host;
  }
  [[nodiscard]] bool is_overrun() const {
    const std::vector<std::uint8_t> host = all_.to_host();
    const auto is_guard = [](std::uint8_t byte) { return byte == guard_value; };
    const auto at = [&](std::size_t i) { return host.begin() + static_cast<std::ptrdiff_t>(i); };
    return !std::all_of(host.begin(), at(begin_), is_guard) ||
           !std::all_of(at(begin_ + bytes_), host.end(), is_guard);
  }

 private:
  DeviceBuffer<std::uint8_t> all_;
  std::size_t bytes_;
  std::size_t begin_ = 0;
};

/// The loaded kernel of a cubin, with its memory.
class LoadedKernel {
 public:
  explicit LoadedKernel(const KernelLaunch& launch)
      : LoadedKernel{launch, std::make_shared<Memory>()} {
    restore();
  }
  /// On the memory of another kernel, which keeps its contents.
  LoadedKernel(const KernelLaunch& launch, const LoadedKernel& other)
      : LoadedKernel{launch, other.memory_} {}

  /// Gives all memory its first contents.
  void restore() {
    for (auto& [index, memory] : *memory_)
      memory.put(content_here(index));
  }

  void run() {
    launch();
    cuda_check(cudaDeviceSynchronize());
  }

  void launch(cudaStream_t stream = nullptr) {
    std::vector<void*> arguments;
    for (const std::size_t offset : launch_.parameter_offsets)
      arguments.push_back(parameters_.data() + offset);
    const void* const function = reinterpret_cast<const void*>(kernel_);
    const auto shared = static_cast<int>(launch_.dynamic_shared);
    if (shared > 0) {
      cuda_check(
          cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    }
    const auto extent = [](const std::array<unsigned, 3>& of) { return dim3{of[0], of[1], of[2]}; };
    cudaLaunchConfig_t how{};
    how.gridDim = extent(launch_.grid);
    how.blockDim = extent(launch_.block);
    how.dynamicSmemBytes = launch_.dynamic_shared;
    how.stream = stream;
    cudaLaunchAttribute cluster{};
    if (launch_.cluster[0] > 0) {
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = launch_.cluster[0];
      cluster.val.clusterDim.y = launch_.cluster[1];
      cluster.val.clusterDim.z = launch_.cluster[2];
      how.attrs = &cluster;
      how.numAttrs = 1;
    }
    cuda_check(cudaLaunchKernelExC(&how, function, arguments.data()));
  }

  /// Contents of the memory with this index, which is not a variable.
  [[nodiscard]] std::vector<std::uint8_t> content_of(std::size_t wanted) const {
    const auto found = memory_->find(wanted);
    return found == memory_->end() ? std::vector<std::uint8_t>{} : found->second.content();
  }

  [[nodiscard]] std::vector<std::size_t> overrun() const {
    std::vector<std::size_t> found;
    for (const auto& [index, memory] : *memory_) {
      if (memory.is_overrun()) found.push_back(index);
    }
    return found;
  }

 private:
  using Memory = std::map<std::size_t, GuardedMemory>;

  LoadedKernel(const KernelLaunch& launch, std::shared_ptr<Memory> memory)
      : launch_{launch}, parameters_{launch.parameters}, memory_{std::move(memory)} {
    cuda_check(cudaLibraryLoadData(&library_, launch.cubin.data(), nullptr, nullptr, 0, nullptr,
                                   nullptr, 0));
    unload_ = finally([this] { cuda_release(cudaLibraryUnload(library_), "cudaLibraryUnload"); });
    cuda_check(cudaLibraryGetKernel(&kernel_, library_, launch.function.c_str()));
    for (std::size_t i = 0; i < launch.memory.size(); ++i)
      place(launch.memory[i], i);
  }

  void place(const LaunchMemory& memory, std::size_t index) {
    std::uint64_t address = 0;
    if (memory.variable.empty()) {
      address = memory_->try_emplace(index, memory).first->second.address();
    } else {
      void* at = nullptr;
      std::size_t bytes = 0;
      cuda_check(cudaLibraryGetGlobal(&at, &bytes, library_, memory.variable.c_str()));
      const std::size_t known = std::min(bytes, memory.content.size());
      cuda_check(cudaMemcpy(at, memory.content.data(), known, cudaMemcpyHostToDevice));
      address = reinterpret_cast<std::uintptr_t>(at);
    }
    for (const auto& pointer : memory.pointers) {
      const std::uint64_t value = address + pointer.offset;
      std::memcpy(parameters_.data() + pointer.at, &value, sizeof value);
    }
    addresses_.push_back(address);
  }

  /// The content of memory, in which addresses of the launch are those on this device.
  [[nodiscard]] std::vector<std::uint8_t> content_here(std::size_t index) const {
    const LaunchMemory& memory = launch_.memory[index];
    std::vector<std::uint8_t> content = initial_content(memory, index);
    for (const std::uint32_t word : memory.address_words) {
      std::uint8_t* const at = content.data() + std::size_t{word} * sizeof(std::uint64_t);
      std::uint64_t value = 0;
      std::memcpy(&value, at, sizeof value);
      for (std::size_t m = 0; m < launch_.memory.size(); ++m) {
        const LaunchMemory& of = launch_.memory[m];
        if (value < of.address || value - of.address >= of.bytes) continue;
        value = addresses_[m] + (value - of.address);
        std::memcpy(at, &value, sizeof value);
        break;
      }
    }
    return content;
  }

  const KernelLaunch& launch_;
  std::vector<std::uint8_t> parameters_;
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
  Finally unload_;
  std::shared_ptr<Memory> memory_;        ///< by the index in the launch
  std::vector<std::uint64_t> addresses_;  ///< on the device, of the launch's memory
};

std::vector<CUpti_SassMetrics_MetricDetails> metrics_of(const std::string& chip) {
  const auto count = CUPTI_CALL(cuptiSassMetricsGetNumOfMetrics, CUpti_SassMetrics_GetNumOfMetrics,
                                .pChipName = chip.c_str());
  std::vector<CUpti_SassMetrics_MetricDetails> found(count.numOfMetrics);
  (void)CUPTI_CALL(cuptiSassMetricsGetMetrics, CUpti_SassMetrics_GetMetrics,
                   .pChipName = chip.c_str(), .numOfMetrics = found.size(),
                   .pMetricsList = found.data());
  return found;
}

constexpr std::uint64_t bytes_of_instruction = 16;  // since compute capability 7.0

/// Bytes of a kernel's machine code in a cubin, an ELF file; 0 if there is none.
std::uint64_t bytes_of_code(const std::string& cubin, const std::string& function) {
  const auto read = [&]<class Header>(std::uint64_t at, Header header) {
    if (at < cubin.size() && cubin.size() - at >= sizeof header) {
      std::memcpy(&header, cubin.data() + at, sizeof header);
    }
    return header;
  };
  const auto file = read(0, Elf64_Ehdr{});
  const auto section = [&](unsigned index) {
    return read(file.e_shoff + std::uint64_t{index} * sizeof(Elf64_Shdr), Elf64_Shdr{});
  };
  const std::uint64_t names = section(file.e_shstrndx).sh_offset;
  const std::string wanted = ".text." + function;
  for (unsigned i = 0; i < file.e_shnum; ++i) {
    const Elf64_Shdr one = section(i);
    const std::uint64_t name = names + one.sh_name;
    if (name < cubin.size() && wanted == cubin.c_str() + name) return one.sh_size;
  }
  return 0;
}

/// SASS metrics of the instructions of everything launched between begin and end.
class SassMetrics {
 public:
  SassMetrics(int ordinal, const std::string& chip, const std::vector<std::string>& metrics)
      : device_{static_cast<std::uint32_t>(ordinal)} {
    std::vector<CUpti_SassMetrics_Config> wanted;
    for (const auto& name : metrics) {
      const auto found = CUPTI_CALL(cuptiSassMetricsGetProperties, CUpti_SassMetrics_GetProperties,
                                    .pChipName = chip.c_str(), .pMetricName = name.c_str());
      names_.emplace(found.metric.metricId, name);
      wanted.push_back({.metricId = found.metric.metricId,
                        .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
    }
    (void)CUPTI_CALL(cuptiSassMetricsSetConfig, CUpti_SassMetricsSetConfig,
                     .numOfMetricConfig = wanted.size(), .pConfigs = wanted.data(),
                     .deviceIndex = device_);
    unset_ = finally([this] {
      auto params = CUPTI_PARAMS(CUpti_SassMetricsUnsetConfig, .deviceIndex = device_);
      cupti_release(cuptiSassMetricsUnsetConfig(&params), "unsetting SASS metrics");
    });
    (void)CUPTI_CALL(cuptiSassMetricsEnable, CUpti_SassMetricsEnable, .ctx = nullptr,
                     .enableLazyPatching = 1);
    disable_ = finally([] {
      auto params = CUPTI_PARAMS(CUpti_SassMetricsDisable, .ctx = nullptr);
      cupti_release(cuptiSassMetricsDisable(&params), "disabling SASS metrics");
    });
  }

  /// The counts by byte offset in the function.
  [[nodiscard]] std::map<std::uint64_t, std::map<std::string, std::uint64_t>> of(
      const std::string& function) const {
    const auto how = CUPTI_CALL(cuptiSassMetricsGetDataProperties,
                                CUpti_SassMetricsGetDataProperties, .ctx = nullptr);
    // CUPTI reports the instances of a record as one number for all metrics; unused entries stay 0.
    const std::size_t instances = how.numOfInstances * names_.size();
    const std::size_t count = how.numOfPatchedInstructionRecords;
    std::vector<CUpti_SassMetrics_InstanceValue> values(count * instances);
    std::vector<CUpti_SassMetrics_Data> records(count);
    for (std::size_t i = 0; i < count; ++i) {
      records[i].structSize = sizeof(CUpti_SassMetrics_Data);
      records[i].pInstanceValues = &values[i * instances];
    }
    (void)CUPTI_CALL(cuptiSassMetricsFlushData, CUpti_SassMetricsFlushData, .ctx = nullptr,
                     .numOfPatchedInstructionRecords = count, .numOfInstances = how.numOfInstances,
                     .pMetricsData = records.data());
    std::map<std::uint64_t, std::map<std::string, std::uint64_t>> found;
    for (std::size_t i = 0; i < count; ++i) {
      if (records[i].functionName == nullptr || function != records[i].functionName) continue;
      for (std::size_t j = 0; j < instances; ++j) {
        const auto& value = values[i * instances + j];
        const auto name = names_.find(value.metricId);
        if (name != names_.end()) found[records[i].pcOffset][name->second] += value.value;
      }
    }
    return found;
  }

 private:
  std::uint32_t device_;
  std::map<std::uint64_t, std::string> names_;
  Finally unset_;
  Finally disable_;
};

}  // namespace

std::string architecture_of(int ordinal, const std::string& target) {
  (void)chip_of_device(ordinal);  // throws if there is none
  cuda_check(cudaSetDevice(ordinal));
  const std::string own =
      fmt::format("sm_{}{}", device_attribute(cudaDevAttrComputeCapabilityMajor),
                  device_attribute(cudaDevAttrComputeCapabilityMinor));
  const bool has_letter = target.size() == own.size() + 1 && target.starts_with(own);
  return has_letter ? target : own;
}

std::map<std::string, std::string> sass_metrics(int ordinal) {
  std::map<std::string, std::string> found;
  for (const auto& metric : metrics_of(chip_of_device(ordinal)))
    found.emplace(metric.pMetricName, metric.pMetricDescription);
  return found;
}

KernelCounts count_kernel(int ordinal, const KernelLaunch& launch,
                          const std::vector<std::string>& metrics) {
  const std::string chip = chip_of_device(ordinal);
  cuda_check(cudaSetDevice(ordinal));
  cuda_check(cudaFree(nullptr));  // creates the context in which CUPTI patches
  KernelCounts counted{.chip = chip, .instructions = {}, .overrun = {}};
  std::string_view call = "enabling CUPTI's SASS metrics";
  try {
    // As CUPTI's documentation requires, the module is unloaded after patching ends.
    std::optional<LoadedKernel> kernel;
    const SassMetrics patched{ordinal, chip, metrics};
    kernel.emplace(launch);
    kernel->run();
    call = "reading CUPTI's SASS metrics";
    const auto lines = source_lines(launch.cubin, launch.function);
    for (auto& [pc, counts] : patched.of(launch.function)) {
      const std::uint64_t place = pc / bytes_of_instruction;
      counted.instructions.push_back(
          {.pc = pc, .line = place < lines.size() ? lines[place] : 0, .counts = counts});
    }
    counted.overrun = kernel->overrun();
  } catch (const CuptiError& error) {
    counters_unavailable(error.code(), call, ordinal);
  }
  return counted;
}

void renew_context(int ordinal) {
  cuda_check(cudaSetDevice(ordinal));
  cuda_check(cudaDeviceReset());
}

KernelTurns run_by_turns(int ordinal, const KernelLaunch& first, const KernelLaunch& second,
                         unsigned turns) {
  constexpr double least_seconds = 1e-3;
  constexpr double warm_seconds = 0.05;  // until clocks have risen
  cuda_check(cudaSetDevice(ordinal));
  LoadedKernel one{first};
  LoadedKernel other{second, one};
  const auto contents = [&] {
    std::vector<std::vector<std::uint8_t>> all;
    for (std::size_t i = 0; i < first.memory.size(); ++i)
      all.push_back(one.content_of(i));
    return all;
  };
  one.run();
  KernelTurns found{.overrun = one.overrun()};
  if (!found.overrun.empty()) return found;
  const auto left = contents();
  one.restore();
  other.run();
  found.overrun = one.overrun();
  if (!found.overrun.empty()) return found;
  const auto left_by_other = contents();
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (std::size_t at = 0; at < left[i].size(); ++at)
      found.different += left[i][at] == left_by_other[i][at] ? 0 : 1;
  }
  const Stream stream;
  Event begin;
  Event end;
  // In a graph: the host takes longer to launch a kernel than a short one runs.
  const auto timed = [&](LoadedKernel& kernel, int launches) {
    return replays(stream, begin, end, launches, [&] { kernel.launch(stream.get()); });
  };
  const std::array once{timed(one, 1), timed(other, 1)};
  double spent = 0;
  double shortest = least_seconds;
  while (spent < warm_seconds) {
    for (const auto& seconds : once) {
      const double taken = seconds();
      shortest = std::min(shortest, taken);
      spent += taken;
    }
  }
  const auto launches = static_cast<int>(std::ceil(least_seconds / shortest));
  const auto of_one = timed(one, launches);
  const auto of_other = timed(other, launches);
  for (unsigned turn = 0; turn < turns; ++turn) {
    const bool is_first = turn % 2 == 0;  // what comes second finds another cache
    if (is_first) found.first.push_back(of_one());
    found.second.push_back(of_other());
    if (!is_first) found.first.push_back(of_one());
  }
  return found;
}

std::vector<std::uint32_t> source_lines(const std::string& cubin, const std::string& function) {
  std::vector<std::uint32_t> lines(bytes_of_code(cubin, function) / bytes_of_instruction);
  CUpti_GetSassToSourceCorrelationParams params{};
  params.size = CUpti_GetSassToSourceCorrelationParamsSize;
  params.cubin = cubin.data();
  params.cubinSize = cubin.size();
  params.functionName = function.c_str();
  for (auto& line : lines) {
    params.pcOffset = static_cast<std::uint64_t>(&line - lines.data()) * bytes_of_instruction;
    const auto code = cuptiGetSassToSourceCorrelation(&params);
    std::free(params.fileName);  // NOLINT(cppcoreguidelines-no-malloc): CUPTI's, by its contract
    std::free(params.dirName);   // NOLINT(cppcoreguidelines-no-malloc)
    params.fileName = params.dirName = nullptr;
    if (code == CUPTI_SUCCESS) line = params.lineNumber;
  }
  return lines;
}

}  // namespace strata
