// A program that uses CUDA, as far as `strata profile` can tell, on a machine without it. Its
// arguments are steps:
//   launch NAME BLOCKS TIMES NS    launches of NANOSECONDS each
//   graph NAME                     a launch by a graph
//   copy BYTES                     from host to device
//   threads N                      10 launches of `spin` in each of N threads
//   capturing                      what follows is launched into a graph, by which it is not run
//   print TEXT | sleep MS | exit STATUS | _exit STATUS | abort | kill | fork | refuse | taken
#include "fake_capture.hpp"

#include <sys/wait.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

std::atomic<std::uint64_t> now = 1'000'000;  // ns
std::atomic<std::uint32_t> calls = 0;
std::atomic<int> counted_at_once = 0;

bool load_library() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");  // NOLINT(concurrency-mt-unsafe)
  if (path == nullptr) return true;
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  const auto begin = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
  return begin != nullptr && begin() == 1;
}

void launch(const char* name, unsigned blocks, std::uint64_t duration, bool in_graph = false) {
  cuLaunchKernel_params params{};
  params.gridDimX = blocks;
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = 128;
  params.blockDimY = params.blockDimZ = 1;
  CUpti_CallbackData data{};
  data.functionParams = &params;
  data.symbolName = name;
  data.correlationId = ++calls;
  strata::FakeCupti& cupti = *fake_cupti();
  const auto call = [&](CUpti_ApiCallbackSite site) {
    data.callbackSite = site;
    if (in_graph || !cupti.enabled.contains(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)) return;
    cupti.callback(cupti.data, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                   &data);
  };
  call(CUPTI_API_ENTER);
  if (cupti.counts && !in_graph) {
    ++cupti.ranges;
    cupti.launched = blocks;
    if (++counted_at_once > 1) std::puts("two launches are counted at once");
    std::this_thread::yield();
    --counted_at_once;
  }
  call(CUPTI_API_EXIT);
  if (!cupti.kinds.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) return;
  CUpti_ActivityKernel9 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = now += 500;
  record.end = now += duration;
  record.gridX = static_cast<std::int32_t>(blocks);
  record.gridY = record.gridZ = record.blockY = record.blockZ = 1;
  record.blockX = 128;
  record.registersPerThread = 32;
  record.name = name;
  record.graphId = in_graph ? 1 : 0;
  fake_record(record);
}

void copy(std::uint64_t bytes) {
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  record.bytes = bytes;
  record.start = now += 500;
  record.end = now += bytes;
  if (fake_cupti()->kinds.contains(CUPTI_ACTIVITY_KIND_MEMCPY)) fake_record(record);
}

}  // namespace

int main(int argc, char** argv) {
  bool has_begun = false;
  for (int next = 1; next < argc;) {
    const auto word = [&] { return next < argc ? argv[next++] : const_cast<char*>("0"); };
    const auto number = [&] { return std::strtoull(word(), nullptr, 10); };
    const std::string_view step = word();
    const bool uses_cuda = step == "launch" || step == "graph" || step == "copy" ||
                           step == "cuda" || step == "threads";
    if (uses_cuda && !has_begun) {
      if (!load_library()) return 4;
      has_begun = true;
    }
    if (step == "launch") {
      const char* const name = word();
      const auto blocks = static_cast<unsigned>(number());
      const auto times = number();
      const auto duration = number();
      for (std::uint64_t i = 0; i < times; ++i)
        launch(name, blocks, duration);
    } else if (step == "graph") {
      launch(word(), 1, 1000, true);
    } else if (step == "copy") {
      copy(number());
    } else if (step == "threads") {
      std::vector<std::thread> threads(number());
      for (auto& thread : threads) {
        thread = std::thread{[] {
          constexpr int times = 10;
          for (int i = 0; i < times; ++i)
            launch("spin", 7, 1000);
        }};
      }
      for (auto& thread : threads)
        thread.join();
    } else if (step == "print") {
      std::puts(word());
      (void)std::fflush(stdout);
    } else if (step == "sleep") {
      std::this_thread::sleep_for(std::chrono::milliseconds{number()});
    } else if (step == "exit") {
      return static_cast<int>(number());
    } else if (step == "_exit") {
      ::_exit(static_cast<int>(number()));
    } else if (step == "abort") {
      std::abort();
    } else if (step == "kill") {
      (void)::raise(SIGKILL);
    } else if (step == "fork") {
      const pid_t child = ::fork();
      if (child == 0) std::exit(0);  // runs what the parent registered
      (void)::waitpid(child, nullptr, 0);
    } else if (step == "refuse") {
      fake_cupti()->counting_answer = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    } else if (step == "capturing") {
      fake_driver()->capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    } else if (step == "taken") {
      fake_cupti()->answer = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
  }
  return 0;
}
