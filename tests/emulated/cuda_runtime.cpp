// A CUDA runtime whose device is an interpreter of PTX: as much of the API as the ladders' tests
// call, in the place of libcudart. Whatever is queued runs at once and in order, which is one of
// the orders that streams allow, and kernels run by harness/access/execute.hpp from the PTX files
// that STRATA_EMULATED_PTX names, one behind the other with colons between them, and from libraries
// that are loaded. It says what a kernel computes, never how long that takes: its events all have
// the same time. With STRATA_EMULATED_RACES a race in shared memory ends a kernel.
//
// The toolkit's headers declare what is defined here, and give its names.
// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier)
#include "harness/access/execute.hpp"
#include "harness/base/text.hpp"
#include "tests/emulated/arena.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

struct CUgraph_st {
  std::vector<std::function<void()>> nodes;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> nodes;
};
struct CUstream_st {
  std::unique_ptr<CUgraph_st> capture;
};
struct CUevent_st {};
struct CUkern_st {
  std::string name;
};

namespace strata::emulated {
namespace {

/// Without what nvcc makes of how and when a file was compiled: of an anonymous namespace
/// "51_GLOBAL__N__c17a5f2c_12_scan_grid_cu_d0e1f2a3_18654", 51 characters long, the file is left,
/// and likewise of "_INTERNAL_…", which stands before a variable.
std::string without_hashes(std::string_view name) {
  static const std::regex space{"([0-9]+)_(?:GLOBAL__N_|INTERNAL)_[0-9a-f]{8}_"};
  std::string left;
  std::match_results<std::string_view::const_iterator> found;
  while (std::regex_search(name.begin(), name.end(), found, space)) {
    const auto begin = static_cast<std::size_t>(found.position());
    const std::string_view whole =
        name.substr(begin + found[1].str().size(), std::stoul(found[1].str()));
    const std::string_view file = whole.substr(found.str().size() - found[1].str().size());
    left += name.substr(0, begin);
    left += file.substr(0, file.rfind("_cu_"));
    name.remove_prefix(begin + found[1].str().size() + whole.size());
  }
  return left += name;
}

/// A module of PTX, its variables in device memory.
struct LoadedModule {
  ptx::Module module;
  std::vector<access::Buffer> variables;  ///< by address
};
struct LoadedKernel {
  LoadedModule* module = nullptr;
  std::uint32_t index = 0;
  std::uint64_t launches = 0;
  access::Executed executed;
  /// By bytes of dynamic shared memory, and whether the launch is cooperative.
  std::map<std::pair<std::uint64_t, bool>, access::Program> programs;
};

class Device;
Device& device();

class Device {
 public:
  Arena arena;
  std::map<const void*, CUkern_st> kernels;      ///< by the address of the function on the host
  std::map<const void*, std::string> variables;  ///< likewise
  cudaError_t last = cudaSuccess;
  cudaError_t fault = cudaSuccess;  ///< sticks
  struct Configuration {
    dim3 grid;
    dim3 block;
    std::size_t shared = 0;
    cudaStream_t stream = nullptr;
  };
  std::vector<Configuration> configurations;

  [[nodiscard]] const CUkern_st* kernel_of(const void* function) const {
    const auto found = kernels.find(function);
    if (found != kernels.end()) return &found->second;
    for (const auto& [host, kernel] : kernels) {
      if (&kernel == function) return &kernel;  // a handle
    }
    return nullptr;
  }

  [[nodiscard]] LoadedKernel& loaded(const std::string& name) {
    load();
    const auto found = loaded_.find(name);
    if (found == loaded_.end()) throw access::ExecutionFault{"no PTX holds " + name};
    return found->second;
  }
  /// The address of a variable, by the address of its shadow on the host.
  [[nodiscard]] std::uint8_t* variable(const void* shadow, std::size_t end) {
    load();
    const auto name = variables.find(shadow);
    if (name == variables.end()) return nullptr;
    const auto found = placed_.find(name->second);
    return found == placed_.end() ? nullptr : arena.at(found->second, end);
  }

  /// Zeros, as a barrier of the grid begins and ends.
  [[nodiscard]] std::uint64_t grid_workspace() {
    if (grid_workspace_ == nullptr) {
      grid_workspace_ = arena.give(2 * sizeof(std::uint32_t));
      std::memset(grid_workspace_, 0, 2 * sizeof(std::uint32_t));
    }
    return reinterpret_cast<std::uint64_t>(grid_workspace_);
  }

  /// The kernel of a library that was loaded; null where it has none of that name.
  [[nodiscard]] CUkern_st* kernel_to_launch(const std::string& name) {
    if (!loaded_.contains(name)) return nullptr;
    CUkern_st& kernel = kernels[&loaded_.at(name)];
    kernel.name = name;
    return &kernel;
  }
  void load(std::string text, const std::string& name) {
    LoadedModule& loaded = *modules_.emplace_back(std::make_unique<LoadedModule>());
    loaded.module = ptx::read(std::move(text), name);
    const auto& symbols = loaded.module.symbols;
    for (std::uint32_t i = 0; i < symbols.size(); ++i) {
      const bool is_variable =
          symbols[i].space == ptx::Space::global || symbols[i].space == ptx::Space::constant;
      if (!is_variable || symbols[i].bytes == 0) continue;
      auto* const at = static_cast<std::uint8_t*>(arena.give(symbols[i].bytes));
      std::memset(at, 0, symbols[i].bytes);
      std::memcpy(at, symbols[i].initial.data(), symbols[i].initial.size());
      const auto address = reinterpret_cast<std::uint64_t>(at);
      placed_.try_emplace(without_hashes(symbols[i].name), address);
      loaded.variables.push_back({.name = std::string{symbols[i].name},
                                  .address = address,
                                  .bytes = symbols[i].bytes,
                                  .space = symbols[i].space,
                                  .symbol = i});
    }
    const auto& all = loaded.module.kernels;
    for (std::uint32_t k = 0; k < all.size(); ++k) {
      if (all[k].entry)
        loaded_.try_emplace(without_hashes(all[k].name),
                            LoadedKernel{.module = &loaded, .index = k});
    }
  }

  /// A line for each kernel that was launched.
  void tell_counts() const {
    for (const auto& [name, kernel] : loaded_) {
      const auto count =
          static_cast<double>(std::max<std::uint64_t>(kernel.executed.instructions, 1));
      if (kernel.launches == 0) continue;
      (void)std::fprintf(stderr, "%8llu launches %14llu instructions of warps %5.1f lanes  %s\n",
                         static_cast<unsigned long long>(kernel.launches),
                         static_cast<unsigned long long>(kernel.executed.instructions),
                         static_cast<double>(kernel.executed.lanes) / count, name.c_str());
    }
  }

 private:
  void load() {
    if (std::exchange(is_loaded_, true)) return;
    if (std::getenv("STRATA_EMULATED_COUNTS") != nullptr)
      std::atexit([] { device().tell_counts(); });
    const char* const files = std::getenv("STRATA_EMULATED_PTX");
    std::istringstream all{files == nullptr ? "" : files};
    for (std::string file; std::getline(all, file, ':');) {
      std::ifstream stream{file};
      load(std::string{std::istreambuf_iterator<char>{stream}, {}}, file);
    }
    if (modules_.empty()) throw access::ExecutionFault{"STRATA_EMULATED_PTX names no PTX"};
  }

  bool is_loaded_ = false;
  void* grid_workspace_ = nullptr;
  std::vector<std::unique_ptr<LoadedModule>> modules_;
  std::map<std::string, LoadedKernel> loaded_;
  std::map<std::string, std::uint64_t> placed_;
};

Device& device() {
  static Device* const one = new Device;  // outlives what static destructors still release
  return *one;
}

cudaError_t noted(cudaError_t status) {
  if (status != cudaSuccess) device().last = status;
  return status;
}

/// Now, or when the graph runs that the stream is captured for.
cudaError_t queue(cudaStream_t stream, std::function<cudaError_t()> work) {
  if (device().fault != cudaSuccess) return noted(device().fault);
  if (stream != nullptr && stream->capture) {
    stream->capture->nodes.emplace_back([work = std::move(work)] { (void)noted(work()); });
    return cudaSuccess;
  }
  return noted(work());
}

access::Extent extent(dim3 of) {
  return {of.x, of.y, of.z};
}

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  bool cooperative = false;
};

cudaError_t execute(LoadedKernel& kernel, const access::Launch& launch, bool cooperative) {
  try {
    auto program = kernel.programs.find({launch.dynamic_shared, cooperative});
    if (program == kernel.programs.end()) {
      program = kernel.programs
                    .emplace(std::pair{launch.dynamic_shared, cooperative},
                             access::compile(kernel.module->module, launch, access::Part::results))
                    .first;
    }
    const access::Executed executed =
        access::execute(kernel.module->module, launch, program->second, device().arena,
                        {.cooperative = cooperative,
                         .finds_races = std::getenv("STRATA_EMULATED_RACES") != nullptr});
    ++kernel.launches;
    kernel.executed.instructions += executed.instructions;
    kernel.executed.lanes += executed.lanes;
    return cudaSuccess;
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "emulated GPU: %s\n", error.what());
    return device().fault = cudaErrorLaunchFailure;
  }
}

cudaError_t launch(const void* function, const LaunchShape& shape, void** arguments,
                   cudaStream_t stream) {
  const CUkern_st* const registered = device().kernel_of(function);
  if (registered == nullptr) return noted(cudaErrorInvalidDeviceFunction);
  const access::Extent grid = extent(shape.grid);
  const access::Extent block = extent(shape.block);
  if (grid.count() == 0 || block.count() == 0 || block.count() > access::most_threads) {
    return noted(cudaErrorInvalidConfiguration);
  }
  LoadedKernel* kernel = nullptr;
  try {
    kernel = &device().loaded(registered->name);
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "emulated GPU: %s\n", error.what());
    return noted(cudaErrorNoKernelImageForDevice);
  }
  const ptx::Module& module = kernel->module->module;
  access::Launch made{.kernel = kernel->index,
                      .grid = grid,
                      .block = block,
                      .dynamic_shared = shape.shared,
                      .buffers = kernel->module->variables};
  const auto& params = module.kernels[kernel->index].params;
  for (std::size_t p = 0; p < params.size(); ++p) {
    const ptx::Symbol& param = module.symbols[params[p]];
    made.params.resize(param.offset + param.bytes);
    std::memcpy(made.params.data() + param.offset, arguments[p], param.bytes);
  }
  if (shape.cooperative) made.grid_workspace = device().grid_workspace();
  made.params_known.assign(made.params.size(), 1);
  return queue(stream,
               [=, made = std::move(made)] { return execute(*kernel, made, shape.cooperative); });
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  return queue(stream, [=] {
    std::memmove(to, from, bytes);
    return cudaSuccess;
  });
}
cudaError_t copy_to_symbol(const void* symbol, const void* from, std::size_t bytes,
                           std::size_t offset, cudaStream_t stream) {
  std::uint8_t* at = nullptr;
  try {
    at = device().variable(symbol, offset + bytes);
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "emulated GPU: %s\n", error.what());
  }
  return at == nullptr ? noted(cudaErrorInvalidSymbol) : copy(at + offset, from, bytes, stream);
}
cudaError_t set(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
  return queue(stream, [=] {
    std::memset(to, byte, bytes);
    return cudaSuccess;
  });
}
cudaError_t allocate(void** to, std::size_t bytes) {
  try {
    *to = device().arena.give(bytes);
    return cudaSuccess;
  } catch (const std::bad_alloc&) {
    return noted(cudaErrorMemoryAllocation);
  }
}
cudaError_t release(void* memory) {
  if (memory == nullptr || device().arena.take_back(memory)) return cudaSuccess;
  return noted(cudaErrorInvalidValue);
}

}  // namespace
}  // namespace strata::emulated

using namespace strata::emulated;

extern "C" {

// --- what nvcc's code calls ----------------------------------------------------------------------

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  device().kernels[host].name = without_hashes(name);
}
void __cudaRegisterVar(void**, char* host, char*, const char* name, int, std::size_t, int, int) {
  device().variables[host] = without_hashes(name);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     CUstream_st* stream) {
  device().configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  auto& all = device().configurations;
  if (all.empty()) return noted(cudaErrorMissingConfiguration);
  *grid = all.back().grid;
  *block = all.back().block;
  *shared = all.back().shared;
  *static_cast<cudaStream_t*>(stream) = all.back().stream;
  all.pop_back();
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = const_cast<CUkern_st*>(device().kernel_of(function));
  return *kernel == nullptr ? noted(cudaErrorInvalidDeviceFunction) : cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  return launch(kernel, {grid, block, shared}, arguments, stream);
}
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  try {
    device().load(static_cast<const char*>(code), "a library");
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "emulated GPU: %s\n", error.what());
    return noted(cudaErrorInvalidPtx);
  }
  static int loaded = 0;
  *library = reinterpret_cast<cudaLibrary_t>(&loaded);  // nothing here asks for one of several
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  if (library == nullptr) return noted(cudaErrorInvalidResourceHandle);
  *kernel = device().kernel_to_launch(name);
  return *kernel == nullptr ? noted(cudaErrorSymbolNotFound) : cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return launch(function, {grid, block, shared}, arguments, stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared, cudaStream_t stream) {
  return launch(function, {grid, block, shared, true}, arguments, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  LaunchShape shape{config->gridDim, config->blockDim, config->dynamicSmemBytes};
  for (unsigned a = 0; a < config->numAttrs; ++a) {
    const cudaLaunchAttribute& one = config->attrs[a];
    if (one.id == cudaLaunchAttributeCooperative) shape.cooperative = one.val.cooperative != 0;
    if (one.id == cudaLaunchAttributeClusterDimension) return noted(cudaErrorNotSupported);
  }
  return launch(function, shape, arguments, config->stream);
}

// --- the device ----------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* which) {
  *which = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int which) {
  return which == 0 ? cudaSuccess : noted(cudaErrorInvalidDevice);
}
cudaError_t cudaGetLastError() {
  const cudaError_t last = device().last;
  device().last = device().fault;
  return last;
}
cudaError_t cudaPeekAtLastError() {
  return device().last;
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaError";
}
const char* cudaGetErrorString(cudaError_t error) {
  static thread_local std::string text;
  text = "error " + std::to_string(static_cast<int>(error)) + " of the emulated GPU";
  return text.c_str();
}
cudaError_t cudaDeviceSynchronize() {
  return noted(device().fault);
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  static const std::map<cudaDeviceAttr, int> values{
      {cudaDevAttrComputeCapabilityMajor, 9},
      {cudaDevAttrComputeCapabilityMinor, 0},
      {cudaDevAttrMultiProcessorCount, 2},
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
      {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
      {cudaDevAttrMaxGridDimX, 2147483647},
      {cudaDevAttrMaxGridDimY, 65535},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, 227 << 10},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 << 10},
      {cudaDevAttrReservedSharedMemoryPerBlock, 1 << 10},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrMemoryPoolsSupported, 0},
      {cudaDevAttrL2CacheSize, 50 << 20}};
  const auto found = values.find(attribute);
  if (found == values.end()) return noted(cudaErrorNotSupported);
  *value = found->second;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{8} << 30U;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  const CUkern_st* const registered = device().kernel_of(function);
  if (registered == nullptr) return noted(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}
cudaError_t cudaFuncGetName(const char** name, const void* function) {
  const CUkern_st* const registered = device().kernel_of(function);
  if (registered == nullptr) return noted(cudaErrorInvalidDeviceFunction);
  *name = registered->name.c_str();
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   std::size_t, unsigned) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int,
                                                          std::size_t) {
  *blocks = 2;
  return cudaSuccess;
}

// --- memory --------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  return allocate(to, bytes);
}
cudaError_t cudaMallocHost(void** to, std::size_t bytes) {
  return allocate(to, bytes);
}
cudaError_t cudaHostAlloc(void** to, std::size_t bytes, unsigned) {
  return allocate(to, bytes);
}
cudaError_t cudaHostGetDevicePointer(void** to, void* host, unsigned) {
  *to = host;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  return release(memory);
}
cudaError_t cudaFreeHost(void* memory) {
  return release(memory);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return copy(to, from, bytes, nullptr);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return copy(to, from, bytes, stream);
}
#if CUDART_VERSION >= 13000  // before, it is not called
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes,
                                 std::size_t count, cudaMemcpyAttributes*, std::size_t*,
                                 std::size_t, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  for (std::size_t i = 0; i < count && status == cudaSuccess; ++i)
    status = copy(to[i], from[i], bytes[i], stream);
  return status;
}
#endif
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind) {
  return copy_to_symbol(symbol, from, bytes, offset, nullptr);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind, cudaStream_t stream) {
  return copy_to_symbol(symbol, from, bytes, offset, stream);
}
cudaError_t cudaMemset(void* to, int byte, std::size_t bytes) {
  return set(to, byte, bytes, nullptr);
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
  return set(to, byte, bytes, stream);
}

// --- streams, events and graphs ------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return noted(device().fault);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return noted(device().fault);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->capture = std::make_unique<CUgraph_st>();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = stream->capture.release();
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  *count = graph->nodes.size();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = new CUgraphExec_st{graph->nodes};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
  for (const auto& node : exec->nodes)
    node();
  return noted(device().fault);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
