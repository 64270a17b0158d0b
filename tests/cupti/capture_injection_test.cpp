// The library that `strata access capture` injects, driven by a driver and a CUPTI that pretend:
// what it writes of a launch, and what it tells.
#include "fake_capture.hpp"
#include "harness/base/unique_fd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A process loads the library once: all tests are of one capture.
class CaptureLibrary : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string name = (std::filesystem::temp_directory_path() / "strata-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
    channel = ends[0];
    ::setenv("STRATA_CAPTURE_FOLDER", name.c_str(), 1);
    ::setenv("STRATA_CAPTURE_CHANNEL", std::to_string(ends[1]).c_str(), 1);
    ::setenv("STRATA_CAPTURE_BYTES", "1000", 1);
    void* const library = ::dlopen(STRATA_CAPTURE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    begin = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
    ASSERT_NE(begin, nullptr);
    ASSERT_EQ(begin(), 1);
    ASSERT_THAT(told(), ElementsAre("begun"));
    ASSERT_NE(fake_cupti()->callback, nullptr);
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }
  void SetUp() override { *fake_driver() = {}; }

  static std::vector<std::string> told() {
    std::string text;
    std::array<char, 4096> block{};
    for (ssize_t count = 0; (count = ::read(channel, block.data(), block.size())) > 0;)
      text.append(block.data(), static_cast<std::size_t>(count));
    std::vector<std::string> lines;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
      lines.push_back(text.substr(0, end));
    return lines;
  }
  static std::string content(const std::string& file) {
    std::ifstream stream{folder / file, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  static void call(CUpti_CallbackId id, const void* params, const char* symbol = nullptr,
                   CUpti_ApiCallbackSite site = CUPTI_API_ENTER) {
    ASSERT_TRUE(fake_cupti()->enabled.contains(id));
    CUpti_CallbackData data{};
    data.callbackSite = site;
    data.functionParams = params;
    data.symbolName = symbol;
    fake_cupti()->callback(fake_cupti()->data, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  }

  static inline std::filesystem::path folder;
  static inline int channel = -1;
  static inline int (*begin)() = nullptr;
};

std::uint64_t address_of(const std::vector<char>& memory) {
  return reinterpret_cast<std::uint64_t>(memory.data());
}

/// A launch of `function` with these parameters.
cuLaunchKernel_params launch_of(std::vector<void*>& parameters, unsigned blocks,
                                const void* function) {
  cuLaunchKernel_params params{};
  params.f = static_cast<CUfunction>(const_cast<void*>(function));  // NOLINT: a handle
  params.gridDimX = blocks;
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = 64;
  params.blockDimY = params.blockDimZ = 1;
  params.sharedMemBytes = 128;
  params.kernelParams = parameters.data();
  return params;
}

TEST_F(CaptureLibrary, WritesALaunchWithTheContentThatFits) {
  const std::vector<char> small(600, 'a');
  const std::vector<char> large(5000, 'b');
  std::uint64_t pointers[2] = {address_of(small) + 8, address_of(large)};
  std::uint32_t count = 77;
  fake_driver()->allocations = {{address_of(small), small.size()},
                                {address_of(large), large.size()}};
  fake_driver()->parameters = {8, 8, 4};
  std::vector<void*> parameters{&pointers[0], &pointers[1], &count};
  auto params = launch_of(parameters, 3, &count);
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, "_Z5scalePfS_j", CUPTI_API_EXIT);
  EXPECT_THAT(told(), IsEmpty());
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, "_Z5scalePfS_j");
  EXPECT_THAT(told(), ElementsAre("launch scale-1.yaml"));
  EXPECT_EQ(fake_driver()->synchronized, 1);
  const std::string text = content("scale-1.yaml");
  EXPECT_THAT(text, HasSubstr("kernel: '_Z5scalePfS_j'\ngrid: [3, 1, 1]\nblock: [64, 1, 1]\n"));
  EXPECT_THAT(text, HasSubstr("dynamic_shared: 128\n"));
  EXPECT_THAT(text, HasSubstr("- {bytes: 592, align: 65536"));
  EXPECT_THAT(text, HasSubstr("- {bytes: 5000, align: 65536"));
  EXPECT_THAT(text, HasSubstr("- u32 77\n"));
  const auto file = text.find("file: ");
  ASSERT_NE(file, std::string::npos);
  const std::string name = text.substr(file + 6, text.find('}', file) - file - 6);
  EXPECT_EQ(content(name), std::string(592, 'a'));
  EXPECT_EQ(text.find("file: ", file + 1), std::string::npos) << "5000 bytes are beyond the bound";
  // The same shape again costs nothing; another one is another file.
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, &params, "_Z5scalePfS_j");
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(fake_driver()->synchronized, 1);
  params.gridDimX = 4;
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, &params, "_Z5scalePfS_j");
  EXPECT_THAT(told(), ElementsAre("launch scale-2.yaml"));
}

TEST_F(CaptureLibrary, ReadsPackedParametersClustersAndKernelsOfLibraries) {
  const std::vector<char> zeros(100);
  struct Packed {
    std::uint32_t count = 5;
    std::uint32_t padding = 0xffffffff;
    std::uint64_t pointer = 0;
  } packed;
  packed.pointer = address_of(zeros);
  std::size_t size = sizeof packed;
  fake_driver()->allocations = {{address_of(zeros), zeros.size()}};
  fake_driver()->parameters = {4, 8};
  fake_driver()->kernels = {&packed};
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                             &size, CU_LAUNCH_PARAM_END};
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 8;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cuLaunchKernelEx_params params{};
  params.config = &config;
  params.f = reinterpret_cast<CUfunction>(&packed);
  params.extra = extra.data();
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &params, "packed");
  EXPECT_THAT(told(), ElementsAre("launch packed-1.yaml"));
  const std::string text = content("packed-1.yaml");
  EXPECT_THAT(text, HasSubstr("cluster: [2, 1, 1]\n"));
  EXPECT_THAT(text, HasSubstr("- u32 5\n  - {bytes: 100, "));
  EXPECT_THAT(text, HasSubstr("fill: zero}"));
}

TEST_F(CaptureLibrary, LeavesLaunchesIntoGraphsAlone) {
  std::vector<void*> none;
  fake_driver()->capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  const auto params = launch_of(none, 1, &none);
  call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, "graphed");
  EXPECT_THAT(told(), ElementsAre("left out graphed-1: it is launched into a graph"));
  EXPECT_EQ(fake_driver()->synchronized, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "graphed-1.yaml"));
}

TEST_F(CaptureLibrary, WritesEachModuleOnce) {
  const std::string ptx = ".version 8.0\n.target sm_90\n";
  cuModuleLoadData_params module{};
  module.image = ptx.c_str();
  call(CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData, &module);
  cuLibraryLoadData_params library{};
  library.code = ptx.c_str();
  call(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, &library);
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], testing::StartsWith("module module-"));
  EXPECT_EQ(content(lines[0].substr(7)), ptx);
  module.image = "nothing that is known";
  call(CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData, &module);
  EXPECT_THAT(told(), IsEmpty());
}

// The last ones: after them the library writes no more.

TEST_F(CaptureLibrary, TellsOnceThatAFileCannotBeWritten) {
  std::filesystem::permissions(folder, std::filesystem::perms::none);
  const bool is_root = ::access(folder.c_str(), W_OK) == 0;
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  const auto aside = folder.string() + "-aside";
  if (is_root) std::filesystem::rename(folder, aside);  // whom permissions do not stop
  if (!is_root) std::filesystem::permissions(folder, std::filesystem::perms::owner_read);
  std::vector<void*> none;
  for (unsigned blocks = 1; blocks < 4; ++blocks) {
    const auto params = launch_of(none, blocks, &none);
    call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params, "lost");
  }
  const auto lines = told();
  if (is_root) std::filesystem::rename(aside, folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("failed " + folder.string() + "/lost-1.yaml: "));
}

TEST_F(CaptureLibrary, TellsThatAnotherToolIsThere) {
  fake_cupti()->answer = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  EXPECT_EQ(begin(), 1);
  EXPECT_THAT(told(), ElementsAre("begun", HasSubstr("failed CUPTI: CUPTI_ERROR_MULTIPLE")));
}

}  // namespace
}  // namespace strata
