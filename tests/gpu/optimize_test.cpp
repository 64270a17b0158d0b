// Kernels that `strata access optimize` wrote, launched by the header that it wrote, leave what
// their originals leave: of random data, in shapes with ragged ends. tests/emulated runs this, too.
#include "harness/cuda/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mend.mended.hpp>
#include <random>
#include <stage.mended.hpp>
#include <vector>

namespace strata::mended {
namespace {

/// Shapes of a kernel of one axis, and elements: ends lie within a group, a warp, a block, and some
/// blocks have nothing to do.
struct Ragged {
  unsigned blocks;
  unsigned threads;
  int elements;
};
constexpr std::array<Ragged, 8> shapes{{{1, 32, 32},
                                        {1, 64, 61},
                                        {2, 64, 128},
                                        {3, 128, 383},
                                        {5, 32, 159},
                                        {7, 64, 200},
                                        {8, 128, 1001},
                                        {13, 256, 3327}}};

/// The parameter of kick and energy.
struct Body {
  std::array<float, 7> words;
};

class MendedOnGpu : public testing::Test {
 protected:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 16U;

  void SetUp() override {
    int device = 0;
    int major = 0;
    ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
    ASSERT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
              cudaSuccess);
    if (major < 9) GTEST_SKIP() << "needs compute capability 9.0";
    ASSERT_EQ(scale::kernels().error, cudaSuccess) << cudaGetErrorString(scale::kernels().error);
    for (auto* const buffer : {&a_, &b_, &out_})
      buffer->upload(random_bytes());
    initial_ = out_.to_host();
    // Places of elements, and not in order.
    std::vector<int> at(buffer_bytes / sizeof(int));
    std::ranges::generate(at, [&] { return static_cast<int>(random_() % at.size()); });
    at_.upload(at);
  }

  [[nodiscard]] std::vector<std::uint8_t> random_bytes() {
    std::vector<std::uint8_t> made(buffer_bytes);
    std::ranges::generate(made, [&] { return static_cast<std::uint8_t>(random_()); });
    return made;
  }
  template <class T>
  [[nodiscard]] const T* a() const {
    return reinterpret_cast<const T*>(a_.data());
  }
  template <class T>
  [[nodiscard]] const T* b() const {
    return reinterpret_cast<const T*>(b_.data());
  }
  template <class T>
  [[nodiscard]] T* out() const {
    return reinterpret_cast<T*>(out_.data());
  }

  template <class Kernel, class... Arguments>
  [[nodiscard]] std::vector<std::uint8_t> left_by_original(const Shape& shape,
                                                           Arguments... arguments) {
    void* pointers[]{&arguments...};
    out_.upload(initial_);
    cuda_check(cudaLaunchKernel(Kernel::kernels().original, shape.grid, shape.block, pointers, 0,
                                nullptr));
    return out_.to_host();
  }
  template <class Kernel, class... Arguments>
  [[nodiscard]] std::vector<std::uint8_t> left_by_launch(const Shape& shape,
                                                         Arguments... arguments) {
    out_.upload(initial_);
    cuda_check(Kernel::launch(shape, arguments...));
    return out_.to_host();
  }
  /// The mended kernel is taken, and leaves the same to the last bit.
  template <class Kernel, class... Arguments>
  void expect_same(const Shape& shape, Arguments... arguments) {
    const char* const why = Kernel::why_not(shape, arguments...);
    EXPECT_EQ(why, nullptr) << why;
    const auto right = left_by_original<Kernel>(shape, arguments...);
    EXPECT_TRUE(right != initial_);
    EXPECT_TRUE(left_by_launch<Kernel>(shape, arguments...) == right);
  }

  std::mt19937 random_{20261126};
  DeviceBuffer<std::uint8_t> a_{buffer_bytes};
  DeviceBuffer<std::uint8_t> b_{buffer_bytes};
  DeviceBuffer<std::uint8_t> out_{buffer_bytes};
  DeviceBuffer<int> at_{buffer_bytes / sizeof(int)};
  std::vector<std::uint8_t> initial_;
};

TEST_F(MendedOnGpu, LeaveWhatTheOriginalsLeaveWhateverTheEnds) {
  for (const Ragged& one : shapes) {
    SCOPED_TRACE(one.elements);
    const Shape shape{dim3{one.blocks}, dim3{one.threads}};
    const int n = one.elements;
    expect_same<scale>(shape, a<float>(), out<float>(), 0.75F, n);
    expect_same<in_place>(shape, out<float>(), n);
    expect_same<bytes>(shape, a<std::uint8_t>(), b<std::int8_t>(), out<std::uint8_t>(), n);
    expect_same<shorts>(shape, a<short>(), out<unsigned short>(), n);
    expect_same<gather_restrict>(shape, a<float>(), static_cast<const int*>(at_.data()),
                                 out<float>(), n);
    expect_same<histogram>(shape, a<std::uint8_t>(), out<unsigned>(), n);
    expect_same<ways>(shape, a<int>(), out<int>(), n);
    expect_same<triples>(shape, a<float>(), b<float>(), out<float>());
    expect_same<rows_sum>(shape, a<std::uint8_t>(), out<unsigned>(), 16);
  }
}

TEST_F(MendedOnGpu, LeaveWhatTheOriginalsLeaveInGrids) {
  for (const int n : {7, 16, 33, 64}) {
    SCOPED_TRACE(n);
    const auto blocks = static_cast<unsigned>(n);
    expect_same<by_columns>(Shape{dim3{(blocks + 7) / 8, (blocks + 15) / 16}, dim3{8, 16}},
                            a<float>(), out<float>(), n, 64);
    expect_same<column_of_block>(Shape{dim3{blocks}, dim3{32}}, a<float>(), out<float>(), 64);
    expect_same<volume>(Shape{dim3{2}, dim3{8, blocks / 8 + 1, 8}}, a<double>(), out<double>(), 8,
                        n / 8 + 1);
  }
  for (const int tiles : {1, 2, 4}) {
    const auto blocks = static_cast<unsigned>(tiles);
    expect_same<transpose>(Shape{dim3{blocks, blocks}, dim3{32, 8}}, a<float>(), out<float>(),
                           32 * tiles);
  }
}

TEST_F(MendedOnGpu, LeaveWhatTheOriginalsLeaveWhereBlocksExchangeAccesses) {
  for (const Ragged& one : shapes) {
    SCOPED_TRACE(one.elements);
    const Shape shape{dim3{one.blocks}, dim3{one.threads}};
    const int bodies = std::min(one.elements, 2000);
    expect_same<kick>(shape, out<Body>(), 0.5F, bodies);
    expect_same<energy>(shape, a<const Body>(), out<float>(), bodies);
  }
  for (const dim3 block : {dim3{32, 8}, dim3{16, 16}, dim3{8, 32}, dim3{5, 7, 3}}) {
    for (const int width : {31, 64, 125}) {
      SCOPED_TRACE(width);
      const auto columns = static_cast<unsigned>(width);
      const Shape shape{dim3{(columns + block.x - 1) / block.x, 120 / block.y + 1}, block};
      expect_same<transposed>(shape, a<float>(), out<float>(), width, 113);
      expect_same<gathered>(shape, a<float>(), out<float>(), width, 113);
    }
  }
}

TEST_F(MendedOnGpu, LeaveOneOfWhatRacingThreadsWrite) {
  for (const Ragged& one : shapes) {
    const Shape shape{dim3{one.blocks}, dim3{one.threads}};
    ASSERT_EQ(races::why_not(shape, a<std::uint32_t>(), out<std::uint32_t>(), one.elements),
              nullptr);
    const auto left =
        left_by_launch<races>(shape, a<std::uint32_t>(), out<std::uint32_t>(), one.elements);
    const auto right =
        left_by_original<races>(shape, a<std::uint32_t>(), out<std::uint32_t>(), one.elements);
    const auto from = a_.to_host();
    const auto word = [](const std::vector<std::uint8_t>& of, std::size_t i) {
      std::uint32_t value = 0;
      std::memcpy(&value, of.data() + i * sizeof value, sizeof value);
      return value;
    };
    const auto elements = static_cast<std::size_t>(one.elements);
    for (std::size_t i = 0; i < buffer_bytes / sizeof(std::uint32_t); ++i) {
      bool is_one = 4 * i >= elements && word(left, i) == word(right, i);
      for (std::size_t k = 4 * i; k < std::min(elements, 4 * i + 4); ++k)
        is_one = is_one || word(left, i) == word(from, k);
      ASSERT_TRUE(is_one) << i;
    }
  }
}

TEST_F(MendedOnGpu, TakeTheOriginalWhereTheyWouldNotDoTheSame) {
  const Shape odd{dim3{4}, dim3{96}};
  ASSERT_NE(scale::why_not(odd, a<float>(), out<float>(), 2.0F, 380), nullptr);
  EXPECT_TRUE(left_by_launch<scale>(odd, a<float>(), out<float>(), 2.0F, 380) ==
              left_by_original<scale>(odd, a<float>(), out<float>(), 2.0F, 380));
  const Shape shape{dim3{4}, dim3{64}};
  const float* const near = out<float>() + 64;
  ASSERT_NE(scale::why_not(shape, near, out<float>(), 2.0F, 250), nullptr);
  ASSERT_NE(scale::why_not(shape, a<float>() + 1, out<float>(), 2.0F, 250), nullptr);
  EXPECT_TRUE(left_by_launch<scale>(shape, a<float>() + 1, out<float>(), 2.0F, 250) ==
              left_by_original<scale>(shape, a<float>() + 1, out<float>(), 2.0F, 250));
}

}  // namespace
}  // namespace strata::mended
