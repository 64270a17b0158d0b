// Written by `strata access mend` from mended_originals.ptx. Each struct launches a kernel's mended copy where that
// does what the original does, else the original.
#pragma once

// Ranges of whole numbers, for what is checked before a mended kernel is launched. Only std: the
// headers that `strata access mend` writes hold a copy of this.
#ifndef STRATA_LAUNCH_MATH
#define STRATA_LAUNCH_MATH

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>

namespace strata::launch_math {

/// As a bound it stands for every number from there on.
inline constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

/// From low to high, both included.
struct Range {
  std::int64_t low = 0;
  std::int64_t high = 0;
  [[nodiscard]] constexpr bool is_one() const { return low == high; }
};
inline constexpr Range anything{-endless, endless};

constexpr bool has_end(std::int64_t bound) {
  return bound != endless && bound != -endless;
}
/// Of lower bounds.
constexpr std::int64_t sum_of_low(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (a == -endless || b == -endless) return -endless;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? -endless : endless;
  return std::max(sum, -endless);
}
constexpr std::int64_t sum_of_high(std::int64_t a, std::int64_t b) {
  return -sum_of_low(-a, -b);
}
/// Of anything with 0 it is 0; times more than 1, what is endless overflows, and stays so.
constexpr std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) && product >= -endless) return product;
  return (a < 0) == (b < 0) ? endless : -endless;
}
/// Rounded down; b is positive.
constexpr std::int64_t quotient_of(std::int64_t a, std::int64_t b) {
  if (b == endless) return a < 0 ? -1 : 0;
  return a / b - (a % b < 0 ? 1 : 0);
}

/// A number of which 63 bits are not enough is not known.
constexpr Range exactly(std::uint64_t value) {
  if (value >= static_cast<std::uint64_t>(endless)) return anything;
  return {static_cast<std::int64_t>(value), static_cast<std::int64_t>(value)};
}
constexpr Range exactly(std::int64_t value) {
  if (value <= -endless || value == endless) return anything;
  return {value, value};
}
/// Numbers of 8 bytes, addresses as a rule, are less than this, or nothing is concluded from them.
inline constexpr std::int64_t far_address = std::int64_t{1} << 57;
/// What an index lies in.
constexpr Range below(const Range& count) {
  return {0, sum_of_high(count.high, -1)};
}
/// From the one's lower end to the other's higher one.
constexpr Range between(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
/// Both hold; where they contradict each other nothing runs, and either will do.
constexpr Range both(const Range& a, const Range& b) {
  const Range met{std::max(a.low, b.low), std::min(a.high, b.high)};
  return met.low <= met.high ? met : a;
}
constexpr Range add(const Range& a, const Range& b) {
  return {sum_of_low(a.low, b.low), sum_of_high(a.high, b.high)};
}
constexpr Range multiply(const Range& a, const Range& b) {
  if (a.low >= 0 && b.low >= 0) return {product_of(a.low, b.low), product_of(a.high, b.high)};
  const std::initializer_list<std::int64_t> ends{
      product_of(a.low, b.low), product_of(a.low, b.high), product_of(a.high, b.low),
      product_of(a.high, b.high)};
  return {std::min(ends), std::max(ends)};
}
/// The same where it is known beforehand that 62 bits are enough, and for products that nothing is
/// below 0.
constexpr Range short_add(const Range& a, const Range& b) {
  return {a.low + b.low, a.high + b.high};
}
constexpr Range short_multiply(const Range& a, const Range& b) {
  return {a.low * b.low, a.high * b.high};
}
constexpr Range quotient(const Range& a, const Range& b) {
  if (b.low <= 0) return anything;
  const auto low = std::min(quotient_of(a.low, b.low), quotient_of(a.low, b.high));
  const auto high = std::max(quotient_of(a.high, b.low), quotient_of(a.high, b.high));
  return {a.low == -endless ? -endless : low, a.high == endless ? endless : high};
}
/// With the divisor's sign.
constexpr Range remainder(const Range& a, const Range& b) {
  if (b.low <= 0) return anything;
  const bool is_known = b.is_one() && has_end(a.low) && has_end(a.high);
  if (is_known && quotient_of(a.low, b.low) == quotient_of(a.high, b.low)) {
    const std::int64_t whole = product_of(quotient_of(a.low, b.low), b.low);
    if (whole != -endless) return {a.low - whole, a.high - whole};
  }
  const std::int64_t most = sum_of_high(b.high, -1);
  return {0, a.low >= 0 ? std::min(most, a.high) : most};
}
constexpr Range least(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
constexpr Range most(const Range& a, const Range& b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

constexpr bool is_within(const Range& a, std::int64_t low, std::int64_t high) {
  return a.low >= low && a.high <= high && has_end(a.low) && has_end(a.high);
}
constexpr bool is_multiple(const Range& a, std::int64_t of) {
  return a.is_one() && a.low != endless && a.low % of == 0;
}
constexpr bool is_power_of_two(const Range& a) {
  return a.is_one() && a.low > 0 && (a.low & (a.low - 1)) == 0;
}
/// Bytes from each number of `a` on, so many, and likewise of `b`, have nothing in common.
constexpr bool are_apart(const Range& a, std::int64_t a_bytes, const Range& b,
                         std::int64_t b_bytes) {
  if (a.low < 0 || b.low < 0 || a.high == endless || b.high == endless) return false;
  return sum_of_high(a.high, a_bytes) <= b.low || sum_of_high(b.high, b_bytes) <= a.low;
}

/// A sum of strides × indices, each index below its count.
struct Stride {
  Range bytes;
  Range count;
};
/// Different indices lead to places that are `bytes` or more apart: each stride passes all that the
/// shorter ones reach. Sorts the strides.
template <std::size_t size>
// NOLINTNEXTLINE(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays): of a user's program
constexpr bool are_spread(Stride (&strides)[size], std::int64_t bytes) {
  for (Stride& one : strides) {
    if (!one.bytes.is_one() || one.bytes.low == -endless || one.bytes.high == endless) return false;
    if (one.bytes.low < 0) one.bytes = {-one.bytes.low, -one.bytes.low};
  }
  std::sort(std::begin(strides), std::end(strides),
            [](const Stride& a, const Stride& b) { return a.bytes.low < b.bytes.low; });
  std::int64_t reach = bytes;
  for (const Stride& one : strides) {
    if (one.count.high <= 1) continue;
    if (one.bytes.low < reach) return false;
    reach = sum_of_high(reach, product_of(one.bytes.low, sum_of_high(one.count.high, -1)));
    if (reach == endless) return false;
  }
  return true;
}

/// For estimates: its middle.
constexpr double number(const Range& a) {
  return (static_cast<double>(a.low) + static_cast<double>(a.high)) / 2;
}
/// A part of an address, by the original's threads along a warp: so many steps, of so many bytes,
/// from each to the next.
struct LaneStep {
  double bytes = 0;
  double steps = 0;
};
/// Estimated sectors that so many lanes reach, each `threads` of the original's threads from the
/// next one.
template <class Parts>
constexpr double reached_sectors(const Parts& parts, double lanes, double threads) {
  constexpr double sector = 32;
  double found = 1;
  for (const LaneStep& one : parts) {
    const double bytes = one.bytes < 0 ? -one.bytes : one.bytes;
    const double steps = threads * (one.steps < 0 ? -one.steps : one.steps);
    found += (lanes - 1) * std::min(1.0, steps * std::min(1.0, bytes / sector));
  }
  return std::min(lanes, found);
}
/// Sectors that a warp of the original may store in the time that it takes anyway: on an H200 each
/// takes 4.3 cycles of an SM, and a warp of a short kernel 31 (rotation forward by 30° and by 0° of
/// the run nvidia-h200-20261126T051237Z-7be283d).
inline constexpr double stored_anyway = 31 / 4.3;

}  // namespace strata::launch_math

#endif

#ifndef STRATA_MENDED_LAUNCH
#define STRATA_MENDED_LAUNCH

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#if CUDART_VERSION < 12080
#error "needs CUDA 12.8 or newer: cudaLibraryLoadData"
#endif

namespace strata::mended {

/// What stands between <<< and >>>.
struct Shape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

/// A kernel and its mended copy, of a library that was loaded. Kernels of a library are there in
/// every context; the limit is that of the device that was current first.
struct Kernels {
  cudaError_t error = cudaSuccess;
  const void* original = nullptr;
  const void* mended = nullptr;
  unsigned most_threads = 0;  ///< of a block of the mended one
};

struct Library {
  cudaLibrary_t handle = nullptr;  // before the error, whose initialiser sets it
  cudaError_t error = cudaSuccess;
  explicit Library(const char* ptx)
      : error{cudaLibraryLoadData(&handle, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0)} {}
};

inline Kernels load(const Library& library, const char* original, const char* mended) {
  Kernels loaded;
  loaded.error = library.error;
  cudaKernel_t kernels[2]{};
  const char* const names[]{original, mended};
  for (int i = 0; i < 2 && loaded.error == cudaSuccess; ++i)
    loaded.error = cudaLibraryGetKernel(kernels + i, library.handle, names[i]);
  if (loaded.error != cudaSuccess) return loaded;
  loaded.original = reinterpret_cast<const void*>(kernels[0]);
  loaded.mended = reinterpret_cast<const void*>(kernels[1]);
  cudaFuncAttributes attributes{};
  loaded.error = cudaFuncGetAttributes(&attributes, loaded.mended);
  loaded.most_threads = static_cast<unsigned>(attributes.maxThreadsPerBlock);
  return loaded;
}

template <class T>
launch_math::Range read(const unsigned char* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (T(-1) < T(0)) return launch_math::exactly(std::int64_t{value});
  else return launch_math::exactly(std::uint64_t{value});
}

/// Arguments where PTX wants them, and behind them how many blocks there are.
template <class Kernel>
struct Parameters {
  alignas(16) unsigned char bytes[Kernel::bytes + sizeof(unsigned)]{};
  void* pointers[Kernel::count + 1]{};
  unsigned sizes[6]{};

  template <class... Arguments>
  explicit Parameters(const Shape& shape, const Arguments&... arguments)
      : sizes{shape.block.x, shape.block.y, shape.block.z,
              shape.grid.x,  shape.grid.y,  shape.grid.z} {
    static_assert(sizeof...(Arguments) == Kernel::count, "as many arguments as the kernel has");
    std::size_t i = 0;
    (put(i++, arguments), ...);
    if constexpr (Kernel::counts_blocks) {
      const unsigned blocks = sizes[3 + Kernel::lanes_axis];
      std::memcpy(bytes + Kernel::bytes, &blocks, sizeof blocks);
    }
    pointers[Kernel::count] = bytes + Kernel::bytes;
  }
  /// Why the original is to be launched; null where the mended one does the same.
  [[nodiscard]] const char* why_original(const Shape& shape) const {
    const bool is_grid = shape.grid.x - 1 < 0x7FFFFFFF && shape.grid.y - 1 < 65535 &&
                         shape.grid.z - 1 < 65535;
    const bool is_block = shape.block.x - 1 < 1024 && shape.block.y - 1 < 1024 &&
                          shape.block.z - 1 < 64;
    if (!is_grid || !is_block) return "no such shape";
    return Kernel::why_original(bytes, sizes);
  }

  /// Whether the mended kernel is expected to be no slower.
  [[nodiscard]] bool pays() const { return Kernel::pays(bytes, sizes); }

 private:
  template <class Argument>
  void put(std::size_t i, const Argument& argument) {
    pointers[i] = bytes + Kernel::offsets[i];
    std::memcpy(pointers[i], &argument,
                sizeof argument < Kernel::sizes[i] ? sizeof argument : Kernel::sizes[i]);
  }
};

template <class Kernel, class... Arguments>
constexpr bool are_as_large() {
  constexpr std::size_t given[]{sizeof(Arguments)..., 0};
  for (std::size_t i = 0; i < Kernel::count; ++i) {
    if (given[i] != Kernel::sizes[i]) return false;
  }
  return true;
}

/// Launches the mended kernel where it does what the original does and is expected to be no slower,
/// else the original.
template <class Kernel, class... Arguments>
cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
  static_assert(sizeof...(Arguments) == Kernel::count, "as many arguments as the kernel has");
  static_assert(are_as_large<Kernel, Arguments...>(),
                "each argument is as large as the kernel's parameter: cast it, if need be");
  static const Kernels kernels = Kernel::load();
  if (kernels.error != cudaSuccess) return kernels.error;
  Parameters<Kernel> parameters{shape, arguments...};
  const dim3 block = Kernel::block(shape);
  const bool takes_mended = block.x * block.y * block.z <= kernels.most_threads &&
                            parameters.why_original(shape) == nullptr && parameters.pays();
  const void* const kernel = takes_mended ? kernels.mended : kernels.original;
  constexpr std::size_t unasked = 48U << 10U;  // more of it must be asked for
  if (shape.shared_bytes > unasked) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shape.shared_bytes));
    if (error != cudaSuccess) return error;
  }
  return takes_mended ? cudaLaunchKernel(kernel, Kernel::grid(shape), block, parameters.pointers,
                                         shape.shared_bytes, shape.stream)
                      : cudaLaunchKernel(kernel, shape.grid, shape.block, parameters.pointers,
                                         shape.shared_bytes, shape.stream);
}

}  // namespace strata::mended

#endif

namespace strata::mended {

inline const Library& library_of_mended_originals_ptx() {
  static const Library library{R"strata(//
// Generated by NVIDIA NVVM Compiler
//
// Compiler Build ID: CL-36424714
// Cuda compilation tools, release 13.0, V13.0.88
// Based on NVVM 7.0.1
//

.version 6.3
.target sm_75
.address_size 64

	// .globl	sobel

.visible .entry sobel_mended(.param .u64 sobel_param_0 , .param .u64 sobel_param_1 , .param .align 4 .b8 sobel_param_2 [ 8 ] , .param .u32 sobel_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r10;
.reg .b32 %r11;
.reg .b32 %r12;
.reg .b32 %r2;
.reg .b32 %r22;
.reg .b32 %r22$c1;
.reg .b32 %r22$c2;
.reg .b32 %r22$c3;
.reg .b32 %r23;
.reg .b32 %r24;
.reg .b32 %r24$c1;
.reg .b32 %r24$c2;
.reg .b32 %r24$c3;
.reg .b32 %r26;
.reg .b32 %r26$c1;
.reg .b32 %r26$c2;
.reg .b32 %r26$c3;
.reg .b32 %r28;
.reg .b32 %r28$c1;
.reg .b32 %r28$c2;
.reg .b32 %r28$c3;
.reg .b32 %r30;
.reg .b32 %r30$c1;
.reg .b32 %r30$c2;
.reg .b32 %r30$c3;
.reg .b32 %r32;
.reg .b32 %r32$c1;
.reg .b32 %r32$c2;
.reg .b32 %r32$c3;
.reg .b32 %r34;
.reg .b32 %r34$c1;
.reg .b32 %r34$c2;
.reg .b32 %r34$c3;
.reg .b32 %r36;
.reg .b32 %r36$c1;
.reg .b32 %r36$c2;
.reg .b32 %r36$c3;
.reg .b32 %r38;
.reg .b32 %r38$c1;
.reg .b32 %r38$c2;
.reg .b32 %r38$c3;
.reg .b32 %r39;
.reg .b32 %r40;
.reg .b32 %r40$c1;
.reg .b32 %r40$c2;
.reg .b32 %r40$c3;
.reg .b32 %r41;
.reg .b32 %r41$c1;
.reg .b32 %r41$c2;
.reg .b32 %r41$c3;
.reg .b32 %r42;
.reg .b32 %r42$c1;
.reg .b32 %r42$c2;
.reg .b32 %r42$c3;
.reg .b32 %r43;
.reg .b32 %r43$c1;
.reg .b32 %r43$c2;
.reg .b32 %r43$c3;
.reg .b32 %r44;
.reg .b32 %r44$c1;
.reg .b32 %r44$c2;
.reg .b32 %r44$c3;
.reg .b32 %r45;
.reg .b32 %r45$c1;
.reg .b32 %r45$c2;
.reg .b32 %r45$c3;
.reg .b32 %r46;
.reg .b32 %r46$c1;
.reg .b32 %r46$c2;
.reg .b32 %r46$c3;
.reg .b32 %r47;
.reg .b32 %r47$c1;
.reg .b32 %r47$c2;
.reg .b32 %r47$c3;
.reg .b32 %r48;
.reg .b32 %r48$c1;
.reg .b32 %r48$c2;
.reg .b32 %r48$c3;
.reg .b32 %r49;
.reg .b32 %r49$c1;
.reg .b32 %r49$c2;
.reg .b32 %r49$c3;
.reg .b32 %r5;
.reg .b32 %r50;
.reg .b32 %r50$c1;
.reg .b32 %r50$c2;
.reg .b32 %r50$c3;
.reg .b32 %r51;
.reg .b32 %r51$c1;
.reg .b32 %r51$c2;
.reg .b32 %r51$c3;
.reg .b32 %r52;
.reg .b32 %r52$c1;
.reg .b32 %r52$c2;
.reg .b32 %r52$c3;
.reg .b32 %r53;
.reg .b32 %r53$c1;
.reg .b32 %r53$c2;
.reg .b32 %r53$c3;
.reg .b32 %r54;
.reg .b32 %r54$c1;
.reg .b32 %r54$c2;
.reg .b32 %r54$c3;
.reg .b32 %r56;
.reg .b32 %r56$c1;
.reg .b32 %r56$c2;
.reg .b32 %r56$c3;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r7$c1;
.reg .b32 %r7$c2;
.reg .b32 %r7$c3;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r8$c2;
.reg .b32 %r8$c3;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t15;
.reg .b32 %strata_t16;
.reg .b32 %strata_t17;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd10$c2;
.reg .b64 %rd10$c3;
.reg .b64 %rd11;
.reg .b64 %rd11$c1;
.reg .b64 %rd11$c2;
.reg .b64 %rd11$c3;
.reg .b64 %rd12;
.reg .b64 %rd12$c1;
.reg .b64 %rd12$c2;
.reg .b64 %rd12$c3;
.reg .b64 %rd13;
.reg .b64 %rd13$c1;
.reg .b64 %rd13$c2;
.reg .b64 %rd13$c3;
.reg .b64 %rd14;
.reg .b64 %rd14$c1;
.reg .b64 %rd14$c2;
.reg .b64 %rd14$c3;
.reg .b64 %rd15;
.reg .b64 %rd15$c1;
.reg .b64 %rd15$c2;
.reg .b64 %rd15$c3;
.reg .b64 %rd16;
.reg .b64 %rd16$c1;
.reg .b64 %rd16$c2;
.reg .b64 %rd16$c3;
.reg .b64 %rd17;
.reg .b64 %rd17$c1;
.reg .b64 %rd17$c2;
.reg .b64 %rd17$c3;
.reg .b64 %rd18;
.reg .b64 %rd18$c1;
.reg .b64 %rd18$c2;
.reg .b64 %rd18$c3;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd6$c1;
.reg .b64 %rd6$c2;
.reg .b64 %rd6$c3;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd7$c2;
.reg .b64 %rd7$c3;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd8$c2;
.reg .b64 %rd8$c3;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .pred %p1;
.reg .pred %p1$c1;
.reg .pred %p1$c2;
.reg .pred %p1$c3;
.reg .pred %p10;
.reg .pred %p10$c1;
.reg .pred %p10$c2;
.reg .pred %p10$c3;
.reg .pred %p2;
.reg .pred %p3;
.reg .pred %p3$c1;
.reg .pred %p3$c2;
.reg .pred %p3$c3;
.reg .pred %p4;
.reg .pred %p4$c1;
.reg .pred %p4$c2;
.reg .pred %p4$c3;
.reg .pred %p5;
.reg .pred %p6;
.reg .pred %p6$c1;
.reg .pred %p6$c2;
.reg .pred %p6$c3;
.reg .pred %p7;
.reg .pred %p7$c1;
.reg .pred %p7$c2;
.reg .pred %p7$c3;
.reg .pred %p8;
.reg .pred %p8$c1;
.reg .pred %p8$c2;
.reg .pred %p8$c3;
.reg .pred %p9;
.reg .pred %strata_t0;
.reg .pred %strata_t1;
.reg .pred %strata_t2;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [sobel_strata_blocks];
mov.u32 %strata_t14, %tid.x;
mov.u32 %strata_t15, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
mad.lo.u32 %strata_index, %strata_block, %strata_t15, %strata_t14;
shl.b32 %strata_index, %strata_index, 2;
mul.lo.u32 %strata_t17, %strata_blocks, %strata_t15;
shl.b32 %strata_t14, %strata_t14, 2;
bfind.u32 %strata_t16, %strata_t15;
sub.u32 %strata_t15, %strata_t15, 1;
and.b32 %strata_lane0, %strata_t14, %strata_t15;
shr.u32 %strata_t14, %strata_t14, %strata_t16;
mad.lo.u32 %strata_block, %strata_block, 4, %strata_t14;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
setp.ge.u32 %strata_none, %strata_index, %strata_t17;
$strata_0:
ld.param.u64 %rd3, [sobel_param_0];
ld.param.u64 %rd4, [sobel_param_1];
ld.param.u32 %r2, [sobel_param_2+4];
ld.param.u32 %r1, [sobel_param_2];
mov.u32 %r5, %ntid.x;
mov.u32 %r6, %strata_block;
mov.u32 %r7, %strata_lane0;
add.s32 %r7$c1, %r7, 1;
add.s32 %r7$c2, %r7, 2;
add.s32 %r7$c3, %r7, 3;
mov.b32 %r8, %strata_index;
add.s32 %r8$c1, %r8, 1;
add.s32 %r8$c2, %r8, 2;
add.s32 %r8$c3, %r8, 3;
mov.u32 %r9, %ntid.y;
mov.u32 %r10, %ctaid.y;
mov.u32 %r11, %tid.y;
mad.lo.s32 %r12, %r10, %r9, %r11;
setp.le.u32 %p1, %r1, %r8;
mov.pred %p1$c1, %p1;
mov.pred %p1$c2, %p1;
mov.pred %p1$c3, %p1;
setp.le.u32 %p2, %r2, %r12;
or.pred %p3, %p1, %p2;
mov.pred %p3$c1, %p3;
mov.pred %p3$c2, %p3;
mov.pred %p3$c3, %p3;
or.pred %strata_t0, %p3, %strata_none;
@%strata_t0 ret;
bra $strata_1;
$strata_1:
cvt.u64.u32 %rd1, %r1;
mul.wide.u32 %rd5, %r1, %r12;
cvt.u64.u32 %rd6, %r8;
add.s64 %rd6$c1, %rd6, 1;
add.s64 %rd6$c2, %rd6, 2;
add.s64 %rd6$c3, %rd6, 3;
add.s64 %rd2, %rd5, %rd6;
add.s64 %rd2$c1, %rd2, 1;
add.s64 %rd2$c2, %rd2, 2;
add.s64 %rd2$c3, %rd2, 3;
setp.eq.s32 %p4, %r8, 0;
setp.ne.u32 %p4$c1, 0, 0;
setp.ne.u32 %p4$c2, 0, 0;
setp.ne.u32 %p4$c3, 0, 0;
mov.u32 %r56, 0;
mov.u32 %r56$c1, 0;
mov.u32 %r56$c2, 0;
mov.u32 %r56$c3, 0;
setp.eq.s32 %p5, %r12, 0;
or.pred %p6, %p5, %p4;
or.pred %p6$c1, %p5, %p4$c1;
or.pred %p6$c2, %p5, %p4$c2;
or.pred %p6$c3, %p5, %p4$c3;
add.s32 %r22, %r8, 1;
add.s32 %r22$c1, %r22, 1;
add.s32 %r22$c2, %r22, 2;
add.s32 %r22$c3, %r22, 3;
setp.ge.u32 %p7, %r22, %r1;
mov.pred %p7$c1, %p7;
mov.pred %p7$c2, %p7;
setp.ge.u32 %p7$c3, %r22$c3, %r1;
or.pred %p8, %p6, %p7;
or.pred %p8$c1, %p6$c1, %p7$c1;
or.pred %p8$c2, %p6$c2, %p7$c2;
or.pred %p8$c3, %p6$c3, %p7$c3;
add.s32 %r23, %r12, 1;
setp.ge.u32 %p9, %r23, %r2;
or.pred %p10, %p9, %p8;
or.pred %p10$c1, %p9, %p8$c1;
or.pred %p10$c2, %p9, %p8$c2;
or.pred %p10$c3, %p9, %p8$c3;
or.pred %strata_t1, %p10, %p10$c1;
or.pred %strata_t1, %strata_t1, %p10$c2;
or.pred %strata_t1, %strata_t1, %p10$c3;
and.pred %strata_t2, %p10, %p10$c1;
and.pred %strata_t2, %strata_t2, %p10$c2;
and.pred %strata_t2, %strata_t2, %p10$c3;
@!%strata_t1 bra $strata_2;
@%strata_t2 bra $strata_3;
@%p10 bra $strata_1_c1;
bra $strata_1_c0_2;
$strata_1_c0_2:
sub.s64 %rd15, %rd2, %rd1;
add.s64 %rd8, %rd3, %rd15;
add.s64 %rd7, %rd8, -1;
mov.u32 %r39, 0;
ld.global.u8 %r24, [%rd7];
ld.global.u8 %r26, [%rd8];
add.s64 %rd9, %rd8, 1;
ld.global.u8 %r28, [%rd9];
add.s64 %rd16, %rd3, %rd2;
add.s64 %rd10, %rd16, -1;
ld.global.u8 %r30, [%rd10];
add.s64 %rd11, %rd16, 1;
ld.global.u8 %r32, [%rd11];
add.s64 %rd17, %rd2, %rd1;
add.s64 %rd13, %rd3, %rd17;
add.s64 %rd12, %rd13, -1;
ld.global.u8 %r34, [%rd12];
ld.global.u8 %r36, [%rd13];
add.s64 %rd14, %rd13, 1;
ld.global.u8 %r38, [%rd14];
sub.s32 %r40, %r32, %r30;
shl.b32 %r41, %r40, 1;
sub.s32 %r42, %r28, %r24;
sub.s32 %r43, %r42, %r34;
add.s32 %r44, %r43, %r41;
add.s32 %r45, %r44, %r38;
sub.s32 %r46, %r36, %r26;
shl.b32 %r47, %r46, 1;
add.s32 %r48, %r28, %r24;
sub.s32 %r49, %r34, %r48;
add.s32 %r50, %r49, %r38;
add.s32 %r51, %r50, %r47;
abs.s32 %r52, %r45;
abs.s32 %r53, %r51;
add.s32 %r54, %r53, %r52;
min.s32 %r56, %r54, 255;
bra $strata_1_c1;
$strata_1_c1:
@%p10$c1 bra $strata_1_c2;
bra $strata_1_c1_2;
$strata_1_c1_2:
sub.s64 %rd15$c1, %rd2$c1, %rd1;
add.s64 %rd8$c1, %rd3, %rd15$c1;
add.s64 %rd7$c1, %rd8$c1, -1;
mov.u32 %r39, 0;
ld.global.u8 %r24$c1, [%rd7$c1];
ld.global.u8 %r26$c1, [%rd8$c1];
add.s64 %rd9$c1, %rd8$c1, 1;
ld.global.u8 %r28$c1, [%rd9$c1];
add.s64 %rd16$c1, %rd3, %rd2$c1;
add.s64 %rd10$c1, %rd16$c1, -1;
ld.global.u8 %r30$c1, [%rd10$c1];
add.s64 %rd11$c1, %rd16$c1, 1;
ld.global.u8 %r32$c1, [%rd11$c1];
add.s64 %rd17$c1, %rd2$c1, %rd1;
add.s64 %rd13$c1, %rd3, %rd17$c1;
add.s64 %rd12$c1, %rd13$c1, -1;
ld.global.u8 %r34$c1, [%rd12$c1];
ld.global.u8 %r36$c1, [%rd13$c1];
add.s64 %rd14$c1, %rd13$c1, 1;
ld.global.u8 %r38$c1, [%rd14$c1];
sub.s32 %r40$c1, %r32$c1, %r30$c1;
shl.b32 %r41$c1, %r40$c1, 1;
sub.s32 %r42$c1, %r28$c1, %r24$c1;
sub.s32 %r43$c1, %r42$c1, %r34$c1;
add.s32 %r44$c1, %r43$c1, %r41$c1;
add.s32 %r45$c1, %r44$c1, %r38$c1;
sub.s32 %r46$c1, %r36$c1, %r26$c1;
shl.b32 %r47$c1, %r46$c1, 1;
add.s32 %r48$c1, %r28$c1, %r24$c1;
sub.s32 %r49$c1, %r34$c1, %r48$c1;
add.s32 %r50$c1, %r49$c1, %r38$c1;
add.s32 %r51$c1, %r50$c1, %r47$c1;
abs.s32 %r52$c1, %r45$c1;
abs.s32 %r53$c1, %r51$c1;
add.s32 %r54$c1, %r53$c1, %r52$c1;
min.s32 %r56$c1, %r54$c1, 255;
bra $strata_1_c2;
$strata_1_c2:
@%p10$c2 bra $strata_1_c3;
bra $strata_1_c2_2;
$strata_1_c2_2:
sub.s64 %rd15$c2, %rd2$c2, %rd1;
add.s64 %rd8$c2, %rd3, %rd15$c2;
add.s64 %rd7$c2, %rd8$c2, -1;
mov.u32 %r39, 0;
ld.global.u8 %r24$c2, [%rd7$c2];
ld.global.u8 %r26$c2, [%rd8$c2];
add.s64 %rd9$c2, %rd8$c2, 1;
ld.global.u8 %r28$c2, [%rd9$c2];
add.s64 %rd16$c2, %rd3, %rd2$c2;
add.s64 %rd10$c2, %rd16$c2, -1;
ld.global.u8 %r30$c2, [%rd10$c2];
add.s64 %rd11$c2, %rd16$c2, 1;
ld.global.u8 %r32$c2, [%rd11$c2];
add.s64 %rd17$c2, %rd2$c2, %rd1;
add.s64 %rd13$c2, %rd3, %rd17$c2;
add.s64 %rd12$c2, %rd13$c2, -1;
ld.global.u8 %r34$c2, [%rd12$c2];
ld.global.u8 %r36$c2, [%rd13$c2];
add.s64 %rd14$c2, %rd13$c2, 1;
ld.global.u8 %r38$c2, [%rd14$c2];
sub.s32 %r40$c2, %r32$c2, %r30$c2;
shl.b32 %r41$c2, %r40$c2, 1;
sub.s32 %r42$c2, %r28$c2, %r24$c2;
sub.s32 %r43$c2, %r42$c2, %r34$c2;
add.s32 %r44$c2, %r43$c2, %r41$c2;
add.s32 %r45$c2, %r44$c2, %r38$c2;
sub.s32 %r46$c2, %r36$c2, %r26$c2;
shl.b32 %r47$c2, %r46$c2, 1;
add.s32 %r48$c2, %r28$c2, %r24$c2;
sub.s32 %r49$c2, %r34$c2, %r48$c2;
add.s32 %r50$c2, %r49$c2, %r38$c2;
add.s32 %r51$c2, %r50$c2, %r47$c2;
abs.s32 %r52$c2, %r45$c2;
abs.s32 %r53$c2, %r51$c2;
add.s32 %r54$c2, %r53$c2, %r52$c2;
min.s32 %r56$c2, %r54$c2, 255;
bra $strata_1_c3;
$strata_1_c3:
@%p10$c3 bra $strata_1_c4;
bra $strata_1_c3_2;
$strata_1_c3_2:
sub.s64 %rd15$c3, %rd2$c3, %rd1;
add.s64 %rd8$c3, %rd3, %rd15$c3;
add.s64 %rd7$c3, %rd8$c3, -1;
mov.u32 %r39, 0;
ld.global.u8 %r24$c3, [%rd7$c3];
ld.global.u8 %r26$c3, [%rd8$c3];
add.s64 %rd9$c3, %rd8$c3, 1;
ld.global.u8 %r28$c3, [%rd9$c3];
add.s64 %rd16$c3, %rd3, %rd2$c3;
add.s64 %rd10$c3, %rd16$c3, -1;
ld.global.u8 %r30$c3, [%rd10$c3];
add.s64 %rd11$c3, %rd16$c3, 1;
ld.global.u8 %r32$c3, [%rd11$c3];
add.s64 %rd17$c3, %rd2$c3, %rd1;
add.s64 %rd13$c3, %rd3, %rd17$c3;
add.s64 %rd12$c3, %rd13$c3, -1;
ld.global.u8 %r34$c3, [%rd12$c3];
ld.global.u8 %r36$c3, [%rd13$c3];
add.s64 %rd14$c3, %rd13$c3, 1;
ld.global.u8 %r38$c3, [%rd14$c3];
sub.s32 %r40$c3, %r32$c3, %r30$c3;
shl.b32 %r41$c3, %r40$c3, 1;
sub.s32 %r42$c3, %r28$c3, %r24$c3;
sub.s32 %r43$c3, %r42$c3, %r34$c3;
add.s32 %r44$c3, %r43$c3, %r41$c3;
add.s32 %r45$c3, %r44$c3, %r38$c3;
sub.s32 %r46$c3, %r36$c3, %r26$c3;
shl.b32 %r47$c3, %r46$c3, 1;
add.s32 %r48$c3, %r28$c3, %r24$c3;
sub.s32 %r49$c3, %r34$c3, %r48$c3;
add.s32 %r50$c3, %r49$c3, %r38$c3;
add.s32 %r51$c3, %r50$c3, %r47$c3;
abs.s32 %r52$c3, %r45$c3;
abs.s32 %r53$c3, %r51$c3;
add.s32 %r54$c3, %r53$c3, %r52$c3;
min.s32 %r56$c3, %r54$c3, 255;
bra $strata_1_c4;
$strata_1_c4:
bra $strata_3;
$strata_2:
sub.s64 %rd15, %rd2, %rd1;
add.s64 %rd15$c1, %rd15, 1;
add.s64 %rd15$c2, %rd15, 2;
add.s64 %rd15$c3, %rd15, 3;
add.s64 %rd8, %rd3, %rd15;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd8$c2, %rd8, 2;
add.s64 %rd8$c3, %rd8, 3;
add.s64 %rd7, %rd8, -1;
add.s64 %rd7$c1, %rd7, 1;
add.s64 %rd7$c2, %rd7, 2;
add.s64 %rd7$c3, %rd7, 3;
mov.u32 %r39, 0;
ld.global.u8 %r24, [%rd7];
ld.global.b32 %strata_t3, [%rd7$c1+0];
prmt.b32 %r24$c1, %strata_t3, 0, 0x4440;
prmt.b32 %r24$c2, %strata_t3, 0, 0x4441;
prmt.b32 %r24$c3, %strata_t3, 0, 0x4442;
prmt.b32 %r26, %strata_t3, 0, 0x4440;
prmt.b32 %r26$c1, %strata_t3, 0, 0x4441;
prmt.b32 %r26$c2, %strata_t3, 0, 0x4442;
prmt.b32 %r26$c3, %strata_t3, 0, 0x4443;
add.s64 %rd9, %rd8, 1;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
prmt.b32 %r28, %strata_t3, 0, 0x4441;
prmt.b32 %r28$c1, %strata_t3, 0, 0x4442;
prmt.b32 %r28$c2, %strata_t3, 0, 0x4443;
ld.global.u8 %r28$c3, [%rd9$c3];
add.s64 %rd16, %rd3, %rd2;
add.s64 %rd16$c1, %rd16, 1;
add.s64 %rd16$c2, %rd16, 2;
add.s64 %rd16$c3, %rd16, 3;
add.s64 %rd10, %rd16, -1;
add.s64 %rd10$c1, %rd10, 1;
add.s64 %rd10$c2, %rd10, 2;
add.s64 %rd10$c3, %rd10, 3;
ld.global.u8 %r30, [%rd10];
ld.global.b32 %strata_t4, [%rd10$c1+0];
prmt.b32 %r30$c1, %strata_t4, 0, 0x4440;
prmt.b32 %r30$c2, %strata_t4, 0, 0x4441;
prmt.b32 %r30$c3, %strata_t4, 0, 0x4442;
add.s64 %rd11, %rd16, 1;
add.s64 %rd11$c1, %rd11, 1;
add.s64 %rd11$c2, %rd11, 2;
add.s64 %rd11$c3, %rd11, 3;
prmt.b32 %r32, %strata_t4, 0, 0x4441;
prmt.b32 %r32$c1, %strata_t4, 0, 0x4442;
prmt.b32 %r32$c2, %strata_t4, 0, 0x4443;
ld.global.u8 %r32$c3, [%rd11$c3];
add.s64 %rd17, %rd2, %rd1;
add.s64 %rd17$c1, %rd17, 1;
add.s64 %rd17$c2, %rd17, 2;
add.s64 %rd17$c3, %rd17, 3;
add.s64 %rd13, %rd3, %rd17;
add.s64 %rd13$c1, %rd13, 1;
add.s64 %rd13$c2, %rd13, 2;
add.s64 %rd13$c3, %rd13, 3;
add.s64 %rd12, %rd13, -1;
add.s64 %rd12$c1, %rd12, 1;
add.s64 %rd12$c2, %rd12, 2;
add.s64 %rd12$c3, %rd12, 3;
ld.global.u8 %r34, [%rd12];
ld.global.b32 %strata_t5, [%rd12$c1+0];
prmt.b32 %r34$c1, %strata_t5, 0, 0x4440;
prmt.b32 %r34$c2, %strata_t5, 0, 0x4441;
prmt.b32 %r34$c3, %strata_t5, 0, 0x4442;
prmt.b32 %r36, %strata_t5, 0, 0x4440;
prmt.b32 %r36$c1, %strata_t5, 0, 0x4441;
prmt.b32 %r36$c2, %strata_t5, 0, 0x4442;
prmt.b32 %r36$c3, %strata_t5, 0, 0x4443;
add.s64 %rd14, %rd13, 1;
add.s64 %rd14$c1, %rd14, 1;
add.s64 %rd14$c2, %rd14, 2;
add.s64 %rd14$c3, %rd14, 3;
prmt.b32 %r38, %strata_t5, 0, 0x4441;
prmt.b32 %r38$c1, %strata_t5, 0, 0x4442;
prmt.b32 %r38$c2, %strata_t5, 0, 0x4443;
ld.global.u8 %r38$c3, [%rd14$c3];
sub.s32 %r40, %r32, %r30;
sub.s32 %r40$c1, %r32$c1, %r30$c1;
sub.s32 %r40$c2, %r32$c2, %r30$c2;
sub.s32 %r40$c3, %r32$c3, %r30$c3;
shl.b32 %r41, %r40, 1;
shl.b32 %r41$c1, %r40$c1, 1;
shl.b32 %r41$c2, %r40$c2, 1;
shl.b32 %r41$c3, %r40$c3, 1;
sub.s32 %r42, %r28, %r24;
sub.s32 %r42$c1, %r28$c1, %r24$c1;
sub.s32 %r42$c2, %r28$c2, %r24$c2;
sub.s32 %r42$c3, %r28$c3, %r24$c3;
sub.s32 %r43, %r42, %r34;
sub.s32 %r43$c1, %r42$c1, %r34$c1;
sub.s32 %r43$c2, %r42$c2, %r34$c2;
sub.s32 %r43$c3, %r42$c3, %r34$c3;
add.s32 %r44, %r43, %r41;
add.s32 %r44$c1, %r43$c1, %r41$c1;
add.s32 %r44$c2, %r43$c2, %r41$c2;
add.s32 %r44$c3, %r43$c3, %r41$c3;
add.s32 %r45, %r44, %r38;
add.s32 %r45$c1, %r44$c1, %r38$c1;
add.s32 %r45$c2, %r44$c2, %r38$c2;
add.s32 %r45$c3, %r44$c3, %r38$c3;
sub.s32 %r46, %r36, %r26;
sub.s32 %r46$c1, %r36$c1, %r26$c1;
sub.s32 %r46$c2, %r36$c2, %r26$c2;
sub.s32 %r46$c3, %r36$c3, %r26$c3;
shl.b32 %r47, %r46, 1;
shl.b32 %r47$c1, %r46$c1, 1;
shl.b32 %r47$c2, %r46$c2, 1;
shl.b32 %r47$c3, %r46$c3, 1;
add.s32 %r48, %r28, %r24;
add.s32 %r48$c1, %r28$c1, %r24$c1;
add.s32 %r48$c2, %r28$c2, %r24$c2;
add.s32 %r48$c3, %r28$c3, %r24$c3;
sub.s32 %r49, %r34, %r48;
sub.s32 %r49$c1, %r34$c1, %r48$c1;
sub.s32 %r49$c2, %r34$c2, %r48$c2;
sub.s32 %r49$c3, %r34$c3, %r48$c3;
add.s32 %r50, %r49, %r38;
add.s32 %r50$c1, %r49$c1, %r38$c1;
add.s32 %r50$c2, %r49$c2, %r38$c2;
add.s32 %r50$c3, %r49$c3, %r38$c3;
add.s32 %r51, %r50, %r47;
add.s32 %r51$c1, %r50$c1, %r47$c1;
add.s32 %r51$c2, %r50$c2, %r47$c2;
add.s32 %r51$c3, %r50$c3, %r47$c3;
abs.s32 %r52, %r45;
abs.s32 %r52$c1, %r45$c1;
abs.s32 %r52$c2, %r45$c2;
abs.s32 %r52$c3, %r45$c3;
abs.s32 %r53, %r51;
abs.s32 %r53$c1, %r51$c1;
abs.s32 %r53$c2, %r51$c2;
abs.s32 %r53$c3, %r51$c3;
add.s32 %r54, %r53, %r52;
add.s32 %r54$c1, %r53$c1, %r52$c1;
add.s32 %r54$c2, %r53$c2, %r52$c2;
add.s32 %r54$c3, %r53$c3, %r52$c3;
min.s32 %r56, %r54, 255;
min.s32 %r56$c1, %r54$c1, 255;
min.s32 %r56$c2, %r54$c2, 255;
min.s32 %r56$c3, %r54$c3, 255;
bra $strata_3;
$strata_3:
add.s64 %rd18, %rd4, %rd2;
add.s64 %rd18$c1, %rd18, 1;
add.s64 %rd18$c2, %rd18, 2;
add.s64 %rd18$c3, %rd18, 3;
mov.b32 %strata_t6, %r56;
mov.b32 %strata_t7, %r56$c1;
mov.b32 %strata_t8, %r56$c2;
mov.b32 %strata_t9, %r56$c3;
and.b32 %strata_t10, %strata_t6, 255;
bfi.b32 %strata_t11, %strata_t7, %strata_t10, 8, 8;
bfi.b32 %strata_t12, %strata_t8, %strata_t11, 16, 8;
bfi.b32 %strata_t13, %strata_t9, %strata_t12, 24, 8;
st.global.b32 [%rd18$c3+-3], %strata_t13;
bra $strata_4;
$strata_4:
ret;
}
.visible .entry sobel(
	.param .u64 sobel_param_0,
	.param .u64 sobel_param_1,
	.param .align 4 .b8 sobel_param_2[8]
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<11>;
	.reg .b32 	%r<57>;
	.reg .b64 	%rd<19>;


	ld.param.u64 	%rd3, [sobel_param_0];
	ld.param.u64 	%rd4, [sobel_param_1];
	ld.param.u32 	%r2, [sobel_param_2+4];
	ld.param.u32 	%r1, [sobel_param_2];
	mov.u32 	%r5, %ntid.x;
	mov.u32 	%r6, %ctaid.x;
	mov.u32 	%r7, %tid.x;
	mad.lo.s32 	%r8, %r6, %r5, %r7;
	mov.u32 	%r9, %ntid.y;
	mov.u32 	%r10, %ctaid.y;
	mov.u32 	%r11, %tid.y;
	mad.lo.s32 	%r12, %r10, %r9, %r11;
	setp.le.u32 	%p1, %r1, %r8;
	setp.le.u32 	%p2, %r2, %r12;
	or.pred  	%p3, %p1, %p2;
	@%p3 bra 	$L__BB0_4;

	cvt.u64.u32 	%rd1, %r1;
	mul.wide.u32 	%rd5, %r1, %r12;
	cvt.u64.u32 	%rd6, %r8;
	add.s64 	%rd2, %rd5, %rd6;
	setp.eq.s32 	%p4, %r8, 0;
	mov.u32 	%r56, 0;
	setp.eq.s32 	%p5, %r12, 0;
	or.pred  	%p6, %p5, %p4;
	add.s32 	%r22, %r8, 1;
	setp.ge.u32 	%p7, %r22, %r1;
	or.pred  	%p8, %p6, %p7;
	add.s32 	%r23, %r12, 1;
	setp.ge.u32 	%p9, %r23, %r2;
	or.pred  	%p10, %p9, %p8;
	@%p10 bra 	$L__BB0_3;

	sub.s64 	%rd15, %rd2, %rd1;
	add.s64 	%rd8, %rd3, %rd15;
	add.s64 	%rd7, %rd8, -1;
	mov.u32 	%r39, 0;
	// begin inline asm
	ld.global.u8 %r24, [%rd7];
	// end inline asm
	// begin inline asm
	ld.global.u8 %r26, [%rd8];
	// end inline asm
	add.s64 	%rd9, %rd8, 1;
	// begin inline asm
	ld.global.u8 %r28, [%rd9];
	// end inline asm
	add.s64 	%rd16, %rd3, %rd2;
	add.s64 	%rd10, %rd16, -1;
	// begin inline asm
	ld.global.u8 %r30, [%rd10];
	// end inline asm
	add.s64 	%rd11, %rd16, 1;
	// begin inline asm
	ld.global.u8 %r32, [%rd11];
	// end inline asm
	add.s64 	%rd17, %rd2, %rd1;
	add.s64 	%rd13, %rd3, %rd17;
	add.s64 	%rd12, %rd13, -1;
	// begin inline asm
	ld.global.u8 %r34, [%rd12];
	// end inline asm
	// begin inline asm
	ld.global.u8 %r36, [%rd13];
	// end inline asm
	add.s64 	%rd14, %rd13, 1;
	// begin inline asm
	ld.global.u8 %r38, [%rd14];
	// end inline asm
	sub.s32 	%r40, %r32, %r30;
	shl.b32 	%r41, %r40, 1;
	sub.s32 	%r42, %r28, %r24;
	sub.s32 	%r43, %r42, %r34;
	add.s32 	%r44, %r43, %r41;
	add.s32 	%r45, %r44, %r38;
	sub.s32 	%r46, %r36, %r26;
	shl.b32 	%r47, %r46, 1;
	add.s32 	%r48, %r28, %r24;
	sub.s32 	%r49, %r34, %r48;
	add.s32 	%r50, %r49, %r38;
	add.s32 	%r51, %r50, %r47;
	abs.s32 	%r52, %r45;
	abs.s32 	%r53, %r51;
	add.s32 	%r54, %r53, %r52;
	min.s32 	%r56, %r54, 255;

$L__BB0_3:
	add.s64 	%rd18, %rd4, %rd2;
	// begin inline asm
	st.global.u8 [%rd18], %r56;
	// end inline asm

$L__BB0_4:
	ret;

}
	// .globl	rotation_forward
.visible .entry rotation_forward_mended(.param .u64 rotation_forward_param_0 , .param .u64 rotation_forward_param_1 , .param .align 4 .b8 rotation_forward_param_2 [ 24 ] , .param .u32 rotation_forward_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r10;
.reg .b32 %r11;
.reg .b32 %r12;
.reg .b32 %r13;
.reg .b32 %r14;
.reg .b32 %r15;
.reg .b32 %r16;
.reg .b32 %r17;
.reg .b32 %r17$c1;
.reg .b32 %r17$c2;
.reg .b32 %r17$c3;
.reg .b32 %r18;
.reg .b32 %r19;
.reg .b32 %r2;
.reg .b32 %r20;
.reg .b32 %r22;
.reg .b32 %r22$c1;
.reg .b32 %r22$c2;
.reg .b32 %r22$c3;
.reg .b32 %r23;
.reg .b32 %r24;
.reg .b32 %r24$c1;
.reg .b32 %r24$c2;
.reg .b32 %r24$c3;
.reg .b32 %r25;
.reg .b32 %r26;
.reg .b32 %r26$c1;
.reg .b32 %r26$c2;
.reg .b32 %r26$c3;
.reg .b32 %r28;
.reg .b32 %r30;
.reg .b32 %r30$c1;
.reg .b32 %r30$c2;
.reg .b32 %r30$c3;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r6;
.reg .b32 %r6$c1;
.reg .b32 %r6$c2;
.reg .b32 %r6$c3;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t2;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd10$c2;
.reg .b64 %rd10$c3;
.reg .b64 %rd2;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd5$c1;
.reg .b64 %rd5$c2;
.reg .b64 %rd5$c3;
.reg .b64 %rd6;
.reg .b64 %rd6$c1;
.reg .b64 %rd6$c2;
.reg .b64 %rd6$c3;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd7$c2;
.reg .b64 %rd7$c3;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd8$c2;
.reg .b64 %rd8$c3;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .pred %p1;
.reg .pred %p1$c1;
.reg .pred %p1$c2;
.reg .pred %p1$c3;
.reg .pred %p2;
.reg .pred %p2$c1;
.reg .pred %p2$c2;
.reg .pred %p2$c3;
.reg .pred %p3;
.reg .pred %p4;
.reg .pred %p4$c1;
.reg .pred %p4$c2;
.reg .pred %p4$c3;
.reg .pred %p5;
.reg .pred %p5$c1;
.reg .pred %p5$c2;
.reg .pred %p5$c3;
.reg .pred %p6;
.reg .pred %p6$c1;
.reg .pred %p6$c2;
.reg .pred %p6$c3;
.reg .pred %strata_t0;
.reg .pred %strata_t3;
.reg .pred %strata_t4;
.reg .pred %strata_t7;
.reg .pred %strata_t8;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.b32 %strata_t1, [rotation_forward_param_2+8];
ld.param.b32 %strata_t2, [rotation_forward_param_2+12];
ld.param.u32 %strata_blocks, [rotation_forward_strata_blocks];
mov.u32 %strata_t9, %tid.x;
mov.u32 %strata_t10, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
mad.lo.u32 %strata_index, %strata_block, %strata_t10, %strata_t9;
shl.b32 %strata_index, %strata_index, 2;
mul.lo.u32 %strata_t12, %strata_blocks, %strata_t10;
shl.b32 %strata_t9, %strata_t9, 2;
bfind.u32 %strata_t11, %strata_t10;
sub.u32 %strata_t10, %strata_t10, 1;
and.b32 %strata_lane0, %strata_t9, %strata_t10;
shr.u32 %strata_t9, %strata_t9, %strata_t11;
mad.lo.u32 %strata_block, %strata_block, 4, %strata_t9;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
setp.ge.u32 %strata_none, %strata_index, %strata_t12;
$strata_0:
ld.param.u64 %rd1, [rotation_forward_param_0];
ld.param.u64 %rd2, [rotation_forward_param_1];
ld.param.u32 %r14, [rotation_forward_param_2+20];
ld.param.u32 %r13, [rotation_forward_param_2+16];
ld.param.u32 %r12, [rotation_forward_param_2+12];
ld.param.u32 %r11, [rotation_forward_param_2+8];
ld.param.u32 %r10, [rotation_forward_param_2+4];
ld.param.u32 %r9, [rotation_forward_param_2];
mov.u32 %r15, %ntid.x;
mov.u32 %r16, %strata_block;
mov.u32 %r17, %strata_lane0;
add.s32 %r17$c1, %r17, 1;
add.s32 %r17$c2, %r17, 2;
add.s32 %r17$c3, %r17, 3;
mov.b32 %r1, %strata_index;
add.s32 %r1$c1, %r1, 1;
add.s32 %r1$c2, %r1, 2;
add.s32 %r1$c3, %r1, 3;
mov.u32 %r18, %ntid.y;
mov.u32 %r19, %ctaid.y;
mov.u32 %r20, %tid.y;
mad.lo.s32 %r2, %r19, %r18, %r20;
setp.le.u32 %p2, %r9, %r1;
mov.pred %p2$c1, %p2;
mov.pred %p2$c2, %p2;
mov.pred %p2$c3, %p2;
setp.le.u32 %p3, %r10, %r2;
or.pred %p4, %p2, %p3;
mov.pred %p4$c1, %p4;
mov.pred %p4$c2, %p4;
mov.pred %p4$c3, %p4;
or.pred %strata_t0, %p4, %strata_none;
@%strata_t0 ret;
bra $strata_1;
$strata_1:
mad.lo.s32 %r22, %r11, %r1, %r13;
add.s32 %r22$c1, %r22, %strata_t1;
add.s32 %r22$c2, %r22$c1, %strata_t1;
add.s32 %r22$c3, %r22$c2, %strata_t1;
mul.lo.s32 %r23, %r12, %r2;
sub.s32 %r24, %r22, %r23;
add.s32 %r24$c1, %r24, %strata_t1;
add.s32 %r24$c2, %r24$c1, %strata_t1;
add.s32 %r24$c3, %r24$c2, %strata_t1;
mad.lo.s32 %r25, %r11, %r2, %r14;
mad.lo.s32 %r26, %r12, %r1, %r25;
add.s32 %r26$c1, %r26, %strata_t2;
add.s32 %r26$c2, %r26$c1, %strata_t2;
add.s32 %r26$c3, %r26$c2, %strata_t2;
shr.s32 %r5, %r24, 16;
shr.s32 %r5$c1, %r24$c1, 16;
shr.s32 %r5$c2, %r24$c2, 16;
shr.s32 %r5$c3, %r24$c3, 16;
shr.s32 %r6, %r26, 16;
shr.s32 %r6$c1, %r26$c1, 16;
shr.s32 %r6$c2, %r26$c2, 16;
shr.s32 %r6$c3, %r26$c3, 16;
setp.ge.u32 %p5, %r5, %r9;
setp.ge.u32 %p5$c1, %r5$c1, %r9;
setp.ge.u32 %p5$c2, %r5$c2, %r9;
setp.ge.u32 %p5$c3, %r5$c3, %r9;
setp.ge.u32 %p6, %r6, %r10;
setp.ge.u32 %p6$c1, %r6$c1, %r10;
setp.ge.u32 %p6$c2, %r6$c2, %r10;
setp.ge.u32 %p6$c3, %r6$c3, %r10;
or.pred %p1, %p6, %p5;
or.pred %p1$c1, %p6$c1, %p5$c1;
or.pred %p1$c2, %p6$c2, %p5$c2;
or.pred %p1$c3, %p6$c3, %p5$c3;
mov.u32 %r30, 0;
mov.u32 %r30$c1, 0;
mov.u32 %r30$c2, 0;
mov.u32 %r30$c3, 0;
or.pred %strata_t3, %p1, %p1$c1;
or.pred %strata_t3, %strata_t3, %p1$c2;
or.pred %strata_t3, %strata_t3, %p1$c3;
and.pred %strata_t4, %p1, %p1$c1;
and.pred %strata_t4, %strata_t4, %p1$c2;
and.pred %strata_t4, %strata_t4, %p1$c3;
@!%strata_t3 bra $strata_way0;
@%strata_t4 bra $strata_way1;
@%p1 bra $strata_1_c0_3;
bra $strata_1_c0_2;
$strata_1_c0_2:
mul.wide.u32 %rd4, %r9, %r2;
cvt.u64.u32 %rd5, %r1;
add.s64 %rd6, %rd4, %rd5;
add.s64 %rd3, %rd1, %rd6;
mov.u32 %r28, 0;
ld.global.u8 %r30, [%rd3];
bra $strata_1_c0_3;
$strata_1_c0_3:
@%p1 bra $strata_1_c1;
bra $strata_1_c0_4;
$strata_1_c0_4:
mul.wide.u32 %rd8, %r6, %r9;
cvt.u64.u32 %rd9, %r5;
add.s64 %rd10, %rd8, %rd9;
add.s64 %rd7, %rd2, %rd10;
st.global.u8 [%rd7], %r30;
bra $strata_1_c1;
$strata_1_c1:
@%p1$c1 bra $strata_1_c1_3;
bra $strata_1_c1_2;
$strata_1_c1_2:
mul.wide.u32 %rd4, %r9, %r2;
cvt.u64.u32 %rd5$c1, %r1$c1;
add.s64 %rd6$c1, %rd4, %rd5$c1;
add.s64 %rd3$c1, %rd1, %rd6$c1;
mov.u32 %r28, 0;
ld.global.u8 %r30$c1, [%rd3$c1];
bra $strata_1_c1_3;
$strata_1_c1_3:
@%p1$c1 bra $strata_1_c2;
bra $strata_1_c1_4;
$strata_1_c1_4:
mul.wide.u32 %rd8$c1, %r6$c1, %r9;
cvt.u64.u32 %rd9$c1, %r5$c1;
add.s64 %rd10$c1, %rd8$c1, %rd9$c1;
add.s64 %rd7$c1, %rd2, %rd10$c1;
st.global.u8 [%rd7$c1], %r30$c1;
bra $strata_1_c2;
$strata_1_c2:
@%p1$c2 bra $strata_1_c2_3;
bra $strata_1_c2_2;
$strata_1_c2_2:
mul.wide.u32 %rd4, %r9, %r2;
cvt.u64.u32 %rd5$c2, %r1$c2;
add.s64 %rd6$c2, %rd4, %rd5$c2;
add.s64 %rd3$c2, %rd1, %rd6$c2;
mov.u32 %r28, 0;
ld.global.u8 %r30$c2, [%rd3$c2];
bra $strata_1_c2_3;
$strata_1_c2_3:
@%p1$c2 bra $strata_1_c3;
bra $strata_1_c2_4;
$strata_1_c2_4:
mul.wide.u32 %rd8$c2, %r6$c2, %r9;
cvt.u64.u32 %rd9$c2, %r5$c2;
add.s64 %rd10$c2, %rd8$c2, %rd9$c2;
add.s64 %rd7$c2, %rd2, %rd10$c2;
st.global.u8 [%rd7$c2], %r30$c2;
bra $strata_1_c3;
$strata_1_c3:
@%p1$c3 bra $strata_1_c3_3;
bra $strata_1_c3_2;
$strata_1_c3_2:
mul.wide.u32 %rd4, %r9, %r2;
cvt.u64.u32 %rd5$c3, %r1$c3;
add.s64 %rd6$c3, %rd4, %rd5$c3;
add.s64 %rd3$c3, %rd1, %rd6$c3;
mov.u32 %r28, 0;
ld.global.u8 %r30$c3, [%rd3$c3];
bra $strata_1_c3_3;
$strata_1_c3_3:
@%p1$c3 bra $strata_1_c4;
bra $strata_1_c3_4;
$strata_1_c3_4:
mul.wide.u32 %rd8$c3, %r6$c3, %r9;
cvt.u64.u32 %rd9$c3, %r5$c3;
add.s64 %rd10$c3, %rd8$c3, %rd9$c3;
add.s64 %rd7$c3, %rd2, %rd10$c3;
st.global.u8 [%rd7$c3], %r30$c3;
bra $strata_1_c4;
$strata_1_c4:
bra $strata_5;
$strata_way0:
mul.wide.u32 %rd4, %r9, %r2;
cvt.u64.u32 %rd5, %r1;
add.s64 %rd5$c1, %rd5, 1;
add.s64 %rd5$c2, %rd5, 2;
add.s64 %rd5$c3, %rd5, 3;
add.s64 %rd6, %rd4, %rd5;
add.s64 %rd6$c1, %rd6, 1;
add.s64 %rd6$c2, %rd6, 2;
add.s64 %rd6$c3, %rd6, 3;
add.s64 %rd3, %rd1, %rd6;
add.s64 %rd3$c1, %rd3, 1;
add.s64 %rd3$c2, %rd3, 2;
add.s64 %rd3$c3, %rd3, 3;
mov.u32 %r28, 0;
ld.global.b32 %strata_t5, [%rd3+0];
prmt.b32 %r30, %strata_t5, 0, 0x4440;
prmt.b32 %r30$c1, %strata_t5, 0, 0x4441;
prmt.b32 %r30$c2, %strata_t5, 0, 0x4442;
prmt.b32 %r30$c3, %strata_t5, 0, 0x4443;
bra $strata_4;
$strata_way1:
bra $strata_5;
$strata_2:
mul.wide.u32 %rd4, %r9, %r2;
cvt.u64.u32 %rd5, %r1;
add.s64 %rd5$c1, %rd5, 1;
add.s64 %rd5$c2, %rd5, 2;
add.s64 %rd5$c3, %rd5, 3;
add.s64 %rd6, %rd4, %rd5;
add.s64 %rd6$c1, %rd6, 1;
add.s64 %rd6$c2, %rd6, 2;
add.s64 %rd6$c3, %rd6, 3;
add.s64 %rd3, %rd1, %rd6;
add.s64 %rd3$c1, %rd3, 1;
add.s64 %rd3$c2, %rd3, 2;
add.s64 %rd3$c3, %rd3, 3;
mov.u32 %r28, 0;
ld.global.b32 %strata_t6, [%rd3+0];
prmt.b32 %r30, %strata_t6, 0, 0x4440;
prmt.b32 %r30$c1, %strata_t6, 0, 0x4441;
prmt.b32 %r30$c2, %strata_t6, 0, 0x4442;
prmt.b32 %r30$c3, %strata_t6, 0, 0x4443;
bra $strata_3;
$strata_3:
or.pred %strata_t7, %p1, %p1$c1;
or.pred %strata_t7, %strata_t7, %p1$c2;
or.pred %strata_t7, %strata_t7, %p1$c3;
and.pred %strata_t8, %p1, %p1$c1;
and.pred %strata_t8, %strata_t8, %p1$c2;
and.pred %strata_t8, %strata_t8, %p1$c3;
@!%strata_t7 bra $strata_4;
@%strata_t8 bra $strata_5;
@%p1 bra $strata_3_c1;
bra $strata_3_c0_4;
$strata_3_c0_4:
mul.wide.u32 %rd8, %r6, %r9;
cvt.u64.u32 %rd9, %r5;
add.s64 %rd10, %rd8, %rd9;
add.s64 %rd7, %rd2, %rd10;
st.global.u8 [%rd7], %r30;
bra $strata_3_c1;
$strata_3_c1:
@%p1$c1 bra $strata_3_c2;
bra $strata_3_c1_4;
$strata_3_c1_4:
mul.wide.u32 %rd8$c1, %r6$c1, %r9;
cvt.u64.u32 %rd9$c1, %r5$c1;
add.s64 %rd10$c1, %rd8$c1, %rd9$c1;
add.s64 %rd7$c1, %rd2, %rd10$c1;
st.global.u8 [%rd7$c1], %r30$c1;
bra $strata_3_c2;
$strata_3_c2:
@%p1$c2 bra $strata_3_c3;
bra $strata_3_c2_4;
$strata_3_c2_4:
mul.wide.u32 %rd8$c2, %r6$c2, %r9;
cvt.u64.u32 %rd9$c2, %r5$c2;
add.s64 %rd10$c2, %rd8$c2, %rd9$c2;
add.s64 %rd7$c2, %rd2, %rd10$c2;
st.global.u8 [%rd7$c2], %r30$c2;
bra $strata_3_c3;
$strata_3_c3:
@%p1$c3 bra $strata_3_c4;
bra $strata_3_c3_4;
$strata_3_c3_4:
mul.wide.u32 %rd8$c3, %r6$c3, %r9;
cvt.u64.u32 %rd9$c3, %r5$c3;
add.s64 %rd10$c3, %rd8$c3, %rd9$c3;
add.s64 %rd7$c3, %rd2, %rd10$c3;
st.global.u8 [%rd7$c3], %r30$c3;
bra $strata_3_c4;
$strata_3_c4:
bra $strata_5;
$strata_4:
mul.wide.u32 %rd8, %r6, %r9;
mul.wide.u32 %rd8$c1, %r6$c1, %r9;
mul.wide.u32 %rd8$c2, %r6$c2, %r9;
mul.wide.u32 %rd8$c3, %r6$c3, %r9;
cvt.u64.u32 %rd9, %r5;
cvt.u64.u32 %rd9$c1, %r5$c1;
cvt.u64.u32 %rd9$c2, %r5$c2;
cvt.u64.u32 %rd9$c3, %r5$c3;
add.s64 %rd10, %rd8, %rd9;
add.s64 %rd10$c1, %rd8$c1, %rd9$c1;
add.s64 %rd10$c2, %rd8$c2, %rd9$c2;
add.s64 %rd10$c3, %rd8$c3, %rd9$c3;
add.s64 %rd7, %rd2, %rd10;
add.s64 %rd7$c1, %rd2, %rd10$c1;
add.s64 %rd7$c2, %rd2, %rd10$c2;
add.s64 %rd7$c3, %rd2, %rd10$c3;
st.global.u8 [%rd7], %r30;
st.global.u8 [%rd7$c1], %r30$c1;
st.global.u8 [%rd7$c2], %r30$c2;
st.global.u8 [%rd7$c3], %r30$c3;
bra $strata_5;
$strata_5:
ret;
}
.visible .entry rotation_forward(
	.param .u64 rotation_forward_param_0,
	.param .u64 rotation_forward_param_1,
	.param .align 4 .b8 rotation_forward_param_2[24]
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<7>;
	.reg .b32 	%r<31>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd1, [rotation_forward_param_0];
	ld.param.u64 	%rd2, [rotation_forward_param_1];
	ld.param.u32 	%r14, [rotation_forward_param_2+20];
	ld.param.u32 	%r13, [rotation_forward_param_2+16];
	ld.param.u32 	%r12, [rotation_forward_param_2+12];
	ld.param.u32 	%r11, [rotation_forward_param_2+8];
	ld.param.u32 	%r10, [rotation_forward_param_2+4];
	ld.param.u32 	%r9, [rotation_forward_param_2];
	mov.u32 	%r15, %ntid.x;
	mov.u32 	%r16, %ctaid.x;
	mov.u32 	%r17, %tid.x;
	mad.lo.s32 	%r1, %r16, %r15, %r17;
	mov.u32 	%r18, %ntid.y;
	mov.u32 	%r19, %ctaid.y;
	mov.u32 	%r20, %tid.y;
	mad.lo.s32 	%r2, %r19, %r18, %r20;
	setp.le.u32 	%p2, %r9, %r1;
	setp.le.u32 	%p3, %r10, %r2;
	or.pred  	%p4, %p2, %p3;
	@%p4 bra 	$L__BB1_5;

	mad.lo.s32 	%r22, %r11, %r1, %r13;
	mul.lo.s32 	%r23, %r12, %r2;
	sub.s32 	%r24, %r22, %r23;
	mad.lo.s32 	%r25, %r11, %r2, %r14;
	mad.lo.s32 	%r26, %r12, %r1, %r25;
	shr.s32 	%r5, %r24, 16;
	shr.s32 	%r6, %r26, 16;
	setp.ge.u32 	%p5, %r5, %r9;
	setp.ge.u32 	%p6, %r6, %r10;
	or.pred  	%p1, %p6, %p5;
	mov.u32 	%r30, 0;
	@%p1 bra 	$L__BB1_3;

	mul.wide.u32 	%rd4, %r9, %r2;
	cvt.u64.u32 	%rd5, %r1;
	add.s64 	%rd6, %rd4, %rd5;
	add.s64 	%rd3, %rd1, %rd6;
	mov.u32 	%r28, 0;
	// begin inline asm
	ld.global.u8 %r30, [%rd3];
	// end inline asm

$L__BB1_3:
	@%p1 bra 	$L__BB1_5;

	mul.wide.u32 	%rd8, %r6, %r9;
	cvt.u64.u32 	%rd9, %r5;
	add.s64 	%rd10, %rd8, %rd9;
	add.s64 	%rd7, %rd2, %rd10;
	// begin inline asm
	st.global.u8 [%rd7], %r30;
	// end inline asm

$L__BB1_5:
	ret;

}
	// .globl	rotation_backward
.visible .entry rotation_backward_mended(.param .u64 rotation_backward_param_0 , .param .u64 rotation_backward_param_1 , .param .align 4 .b8 rotation_backward_param_2 [ 24 ] , .param .u32 rotation_backward_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r10;
.reg .b32 %r11;
.reg .b32 %r12;
.reg .b32 %r13;
.reg .b32 %r14;
.reg .b32 %r15;
.reg .b32 %r16;
.reg .b32 %r17;
.reg .b32 %r17$c1;
.reg .b32 %r17$c2;
.reg .b32 %r17$c3;
.reg .b32 %r18;
.reg .b32 %r19;
.reg .b32 %r2;
.reg .b32 %r20;
.reg .b32 %r21;
.reg .b32 %r21$c1;
.reg .b32 %r21$c2;
.reg .b32 %r21$c3;
.reg .b32 %r22;
.reg .b32 %r23;
.reg .b32 %r23$c1;
.reg .b32 %r23$c2;
.reg .b32 %r23$c3;
.reg .b32 %r24;
.reg .b32 %r25;
.reg .b32 %r25$c1;
.reg .b32 %r25$c2;
.reg .b32 %r25$c3;
.reg .b32 %r27;
.reg .b32 %r30;
.reg .b32 %r30$c1;
.reg .b32 %r30$c2;
.reg .b32 %r30$c3;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r6;
.reg .b32 %r6$c1;
.reg .b32 %r6$c2;
.reg .b32 %r6$c3;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t15;
.reg .b32 %strata_t16;
.reg .b32 %strata_t2;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd10$c2;
.reg .b64 %rd10$c3;
.reg .b64 %rd2;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd4;
.reg .b64 %rd4$c1;
.reg .b64 %rd4$c2;
.reg .b64 %rd4$c3;
.reg .b64 %rd5;
.reg .b64 %rd5$c1;
.reg .b64 %rd5$c2;
.reg .b64 %rd5$c3;
.reg .b64 %rd6;
.reg .b64 %rd6$c1;
.reg .b64 %rd6$c2;
.reg .b64 %rd6$c3;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd7$c2;
.reg .b64 %rd7$c3;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .pred %p1;
.reg .pred %p1$c1;
.reg .pred %p1$c2;
.reg .pred %p1$c3;
.reg .pred %p2;
.reg .pred %p3;
.reg .pred %p3$c1;
.reg .pred %p3$c2;
.reg .pred %p3$c3;
.reg .pred %p4;
.reg .pred %p4$c1;
.reg .pred %p4$c2;
.reg .pred %p4$c3;
.reg .pred %p5;
.reg .pred %p5$c1;
.reg .pred %p5$c2;
.reg .pred %p5$c3;
.reg .pred %p6;
.reg .pred %p6$c1;
.reg .pred %p6$c2;
.reg .pred %p6$c3;
.reg .pred %strata_t0;
.reg .pred %strata_t3;
.reg .pred %strata_t4;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.b32 %strata_t1, [rotation_backward_param_2+8];
ld.param.b32 %strata_t2, [rotation_backward_param_2+12];
ld.param.u32 %strata_blocks, [rotation_backward_strata_blocks];
mov.u32 %strata_t13, %tid.x;
mov.u32 %strata_t14, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
mad.lo.u32 %strata_index, %strata_block, %strata_t14, %strata_t13;
shl.b32 %strata_index, %strata_index, 2;
mul.lo.u32 %strata_t16, %strata_blocks, %strata_t14;
shl.b32 %strata_t13, %strata_t13, 2;
bfind.u32 %strata_t15, %strata_t14;
sub.u32 %strata_t14, %strata_t14, 1;
and.b32 %strata_lane0, %strata_t13, %strata_t14;
shr.u32 %strata_t13, %strata_t13, %strata_t15;
mad.lo.u32 %strata_block, %strata_block, 4, %strata_t13;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
setp.ge.u32 %strata_none, %strata_index, %strata_t16;
$strata_0:
ld.param.u64 %rd1, [rotation_backward_param_0];
ld.param.u64 %rd2, [rotation_backward_param_1];
ld.param.u32 %r14, [rotation_backward_param_2+20];
ld.param.u32 %r13, [rotation_backward_param_2+16];
ld.param.u32 %r12, [rotation_backward_param_2+12];
ld.param.u32 %r11, [rotation_backward_param_2+8];
ld.param.u32 %r10, [rotation_backward_param_2+4];
ld.param.u32 %r9, [rotation_backward_param_2];
mov.u32 %r15, %ntid.x;
mov.u32 %r16, %strata_block;
mov.u32 %r17, %strata_lane0;
add.s32 %r17$c1, %r17, 1;
add.s32 %r17$c2, %r17, 2;
add.s32 %r17$c3, %r17, 3;
mov.b32 %r1, %strata_index;
add.s32 %r1$c1, %r1, 1;
add.s32 %r1$c2, %r1, 2;
add.s32 %r1$c3, %r1, 3;
mov.u32 %r18, %ntid.y;
mov.u32 %r19, %ctaid.y;
mov.u32 %r20, %tid.y;
mad.lo.s32 %r2, %r19, %r18, %r20;
setp.le.u32 %p1, %r9, %r1;
mov.pred %p1$c1, %p1;
mov.pred %p1$c2, %p1;
mov.pred %p1$c3, %p1;
setp.le.u32 %p2, %r10, %r2;
or.pred %p3, %p1, %p2;
mov.pred %p3$c1, %p3;
mov.pred %p3$c2, %p3;
mov.pred %p3$c3, %p3;
or.pred %strata_t0, %p3, %strata_none;
@%strata_t0 ret;
bra $strata_1;
$strata_1:
mad.lo.s32 %r21, %r11, %r1, %r13;
add.s32 %r21$c1, %r21, %strata_t1;
add.s32 %r21$c2, %r21$c1, %strata_t1;
add.s32 %r21$c3, %r21$c2, %strata_t1;
mul.lo.s32 %r22, %r12, %r2;
sub.s32 %r23, %r21, %r22;
add.s32 %r23$c1, %r23, %strata_t1;
add.s32 %r23$c2, %r23$c1, %strata_t1;
add.s32 %r23$c3, %r23$c2, %strata_t1;
mad.lo.s32 %r24, %r11, %r2, %r14;
mad.lo.s32 %r25, %r12, %r1, %r24;
add.s32 %r25$c1, %r25, %strata_t2;
add.s32 %r25$c2, %r25$c1, %strata_t2;
add.s32 %r25$c3, %r25$c2, %strata_t2;
shr.s32 %r5, %r23, 16;
shr.s32 %r5$c1, %r23$c1, 16;
shr.s32 %r5$c2, %r23$c2, 16;
shr.s32 %r5$c3, %r23$c3, 16;
shr.s32 %r6, %r25, 16;
shr.s32 %r6$c1, %r25$c1, 16;
shr.s32 %r6$c2, %r25$c2, 16;
shr.s32 %r6$c3, %r25$c3, 16;
setp.ge.u32 %p4, %r5, %r9;
setp.ge.u32 %p4$c1, %r5$c1, %r9;
setp.ge.u32 %p4$c2, %r5$c2, %r9;
setp.ge.u32 %p4$c3, %r5$c3, %r9;
setp.ge.u32 %p5, %r6, %r10;
setp.ge.u32 %p5$c1, %r6$c1, %r10;
setp.ge.u32 %p5$c2, %r6$c2, %r10;
setp.ge.u32 %p5$c3, %r6$c3, %r10;
or.pred %p6, %p5, %p4;
or.pred %p6$c1, %p5$c1, %p4$c1;
or.pred %p6$c2, %p5$c2, %p4$c2;
or.pred %p6$c3, %p5$c3, %p4$c3;
or.pred %strata_t3, %p6, %p6$c1;
or.pred %strata_t3, %strata_t3, %p6$c2;
or.pred %strata_t3, %strata_t3, %p6$c3;
and.pred %strata_t4, %p6, %p6$c1;
and.pred %strata_t4, %strata_t4, %p6$c2;
and.pred %strata_t4, %strata_t4, %p6$c3;
@!%strata_t3 bra $strata_2;
@%strata_t4 bra $strata_3;
@%p6 bra $strata_1_c0_3;
bra $strata_1_c0_2;
$strata_1_c0_2:
bra $strata_1_c0_4;
$strata_1_c0_3:
mov.u32 %r30, 0;
bra $strata_1_c1;
$strata_1_c0_4:
mul.wide.u32 %rd4, %r6, %r9;
cvt.u64.u32 %rd5, %r5;
add.s64 %rd6, %rd4, %rd5;
add.s64 %rd3, %rd1, %rd6;
mov.u32 %r27, 0;
ld.global.u8 %r30, [%rd3];
bra $strata_1_c1;
$strata_1_c1:
@%p6$c1 bra $strata_1_c1_3;
bra $strata_1_c1_2;
$strata_1_c1_2:
bra $strata_1_c1_4;
$strata_1_c1_3:
mov.u32 %r30$c1, 0;
bra $strata_1_c2;
$strata_1_c1_4:
mul.wide.u32 %rd4$c1, %r6$c1, %r9;
cvt.u64.u32 %rd5$c1, %r5$c1;
add.s64 %rd6$c1, %rd4$c1, %rd5$c1;
add.s64 %rd3$c1, %rd1, %rd6$c1;
mov.u32 %r27, 0;
ld.global.u8 %r30$c1, [%rd3$c1];
bra $strata_1_c2;
$strata_1_c2:
@%p6$c2 bra $strata_1_c2_3;
bra $strata_1_c2_2;
$strata_1_c2_2:
bra $strata_1_c2_4;
$strata_1_c2_3:
mov.u32 %r30$c2, 0;
bra $strata_1_c3;
$strata_1_c2_4:
mul.wide.u32 %rd4$c2, %r6$c2, %r9;
cvt.u64.u32 %rd5$c2, %r5$c2;
add.s64 %rd6$c2, %rd4$c2, %rd5$c2;
add.s64 %rd3$c2, %rd1, %rd6$c2;
mov.u32 %r27, 0;
ld.global.u8 %r30$c2, [%rd3$c2];
bra $strata_1_c3;
$strata_1_c3:
@%p6$c3 bra $strata_1_c3_3;
bra $strata_1_c3_2;
$strata_1_c3_2:
bra $strata_1_c3_4;
$strata_1_c3_3:
mov.u32 %r30$c3, 0;
bra $strata_1_c4;
$strata_1_c3_4:
mul.wide.u32 %rd4$c3, %r6$c3, %r9;
cvt.u64.u32 %rd5$c3, %r5$c3;
add.s64 %rd6$c3, %rd4$c3, %rd5$c3;
add.s64 %rd3$c3, %rd1, %rd6$c3;
mov.u32 %r27, 0;
ld.global.u8 %r30$c3, [%rd3$c3];
bra $strata_1_c4;
$strata_1_c4:
bra $strata_5;
$strata_2:
bra $strata_4;
$strata_3:
mov.u32 %r30, 0;
mov.u32 %r30$c1, 0;
mov.u32 %r30$c2, 0;
mov.u32 %r30$c3, 0;
bra $strata_5;
$strata_4:
mul.wide.u32 %rd4, %r6, %r9;
mul.wide.u32 %rd4$c1, %r6$c1, %r9;
mul.wide.u32 %rd4$c2, %r6$c2, %r9;
mul.wide.u32 %rd4$c3, %r6$c3, %r9;
cvt.u64.u32 %rd5, %r5;
cvt.u64.u32 %rd5$c1, %r5$c1;
cvt.u64.u32 %rd5$c2, %r5$c2;
cvt.u64.u32 %rd5$c3, %r5$c3;
add.s64 %rd6, %rd4, %rd5;
add.s64 %rd6$c1, %rd4$c1, %rd5$c1;
add.s64 %rd6$c2, %rd4$c2, %rd5$c2;
add.s64 %rd6$c3, %rd4$c3, %rd5$c3;
add.s64 %rd3, %rd1, %rd6;
add.s64 %rd3$c1, %rd1, %rd6$c1;
add.s64 %rd3$c2, %rd1, %rd6$c2;
add.s64 %rd3$c3, %rd1, %rd6$c3;
mov.u32 %r27, 0;
ld.global.u8 %r30, [%rd3];
ld.global.u8 %r30$c1, [%rd3$c1];
ld.global.u8 %r30$c2, [%rd3$c2];
ld.global.u8 %r30$c3, [%rd3$c3];
bra $strata_5;
$strata_5:
mul.wide.u32 %rd8, %r9, %r2;
cvt.u64.u32 %rd9, %r1;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
add.s64 %rd10, %rd8, %rd9;
add.s64 %rd10$c1, %rd10, 1;
add.s64 %rd10$c2, %rd10, 2;
add.s64 %rd10$c3, %rd10, 3;
add.s64 %rd7, %rd2, %rd10;
add.s64 %rd7$c1, %rd7, 1;
add.s64 %rd7$c2, %rd7, 2;
add.s64 %rd7$c3, %rd7, 3;
mov.b32 %strata_t5, %r30;
mov.b32 %strata_t6, %r30$c1;
mov.b32 %strata_t7, %r30$c2;
mov.b32 %strata_t8, %r30$c3;
and.b32 %strata_t9, %strata_t5, 255;
bfi.b32 %strata_t10, %strata_t6, %strata_t9, 8, 8;
bfi.b32 %strata_t11, %strata_t7, %strata_t10, 16, 8;
bfi.b32 %strata_t12, %strata_t8, %strata_t11, 24, 8;
st.global.b32 [%rd7$c3+-3], %strata_t12;
bra $strata_6;
$strata_6:
ret;
}
.visible .entry rotation_backward(
	.param .u64 rotation_backward_param_0,
	.param .u64 rotation_backward_param_1,
	.param .align 4 .b8 rotation_backward_param_2[24]
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<7>;
	.reg .b32 	%r<31>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd1, [rotation_backward_param_0];
	ld.param.u64 	%rd2, [rotation_backward_param_1];
	ld.param.u32 	%r14, [rotation_backward_param_2+20];
	ld.param.u32 	%r13, [rotation_backward_param_2+16];
	ld.param.u32 	%r12, [rotation_backward_param_2+12];
	ld.param.u32 	%r11, [rotation_backward_param_2+8];
	ld.param.u32 	%r10, [rotation_backward_param_2+4];
	ld.param.u32 	%r9, [rotation_backward_param_2];
	mov.u32 	%r15, %ntid.x;
	mov.u32 	%r16, %ctaid.x;
	mov.u32 	%r17, %tid.x;
	mad.lo.s32 	%r1, %r16, %r15, %r17;
	mov.u32 	%r18, %ntid.y;
	mov.u32 	%r19, %ctaid.y;
	mov.u32 	%r20, %tid.y;
	mad.lo.s32 	%r2, %r19, %r18, %r20;
	setp.le.u32 	%p1, %r9, %r1;
	setp.le.u32 	%p2, %r10, %r2;
	or.pred  	%p3, %p1, %p2;
	@%p3 bra 	$L__BB2_5;

	mad.lo.s32 	%r21, %r11, %r1, %r13;
	mul.lo.s32 	%r22, %r12, %r2;
	sub.s32 	%r23, %r21, %r22;
	mad.lo.s32 	%r24, %r11, %r2, %r14;
	mad.lo.s32 	%r25, %r12, %r1, %r24;
	shr.s32 	%r5, %r23, 16;
	shr.s32 	%r6, %r25, 16;
	setp.ge.u32 	%p4, %r5, %r9;
	setp.ge.u32 	%p5, %r6, %r10;
	or.pred  	%p6, %p5, %p4;
	@%p6 bra 	$L__BB2_3;
	bra.uni 	$L__BB2_2;

$L__BB2_3:
	mov.u32 	%r30, 0;
	bra.uni 	$L__BB2_4;

$L__BB2_2:
	mul.wide.u32 	%rd4, %r6, %r9;
	cvt.u64.u32 	%rd5, %r5;
	add.s64 	%rd6, %rd4, %rd5;
	add.s64 	%rd3, %rd1, %rd6;
	mov.u32 	%r27, 0;
	// begin inline asm
	ld.global.u8 %r30, [%rd3];
	// end inline asm

$L__BB2_4:
	mul.wide.u32 	%rd8, %r9, %r2;
	cvt.u64.u32 	%rd9, %r1;
	add.s64 	%rd10, %rd8, %rd9;
	add.s64 	%rd7, %rd2, %rd10;
	// begin inline asm
	st.global.u8 [%rd7], %r30;
	// end inline asm

$L__BB2_5:
	ret;

}
	// .globl	dct
.visible .entry dct_mended(.param .u64 dct_param_0 , .param .u64 dct_param_1 )
.maxntid 256, 1, 1
{
.reg .b32 %f10;
.reg .b32 %f11;
.reg .b32 %f12;
.reg .b32 %f13;
.reg .b32 %f14;
.reg .b32 %f15;
.reg .b32 %f16;
.reg .b32 %f2;
.reg .b32 %f6;
.reg .b32 %f8;
.reg .b32 %f9;
.reg .b32 %r1;
.reg .b32 %r11;
.reg .b32 %r12;
.reg .b32 %r13;
.reg .b32 %r14;
.reg .b32 %r15;
.reg .b32 %r16;
.reg .b32 %r17;
.reg .b32 %r18;
.reg .b32 %r19;
.reg .b32 %r2;
.reg .b32 %r20;
.reg .b32 %r22;
.reg .b32 %r23;
.reg .b32 %r24;
.reg .b32 %r25;
.reg .b32 %r26;
.reg .b32 %r27;
.reg .b32 %r28;
.reg .b32 %r29;
.reg .b32 %r3;
.reg .b32 %r30;
.reg .b32 %r31;
.reg .b32 %r36;
.reg .b32 %r37;
.reg .b32 %r38;
.reg .b32 %r39;
.reg .b32 %r4;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b64 %rd10;
.reg .b64 %rd11;
.reg .b64 %rd12;
.reg .b64 %rd13;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .pred %p1;
.reg .pred %p2;
$strata_0:
ld.param.u64 %rd4, [dct_param_0];
ld.param.u64 %rd5, [dct_param_1];
mov.u32 %r12, %ctaid.x;
shl.b32 %r13, %r12, 4;
mov.u32 %r14, %tid.x;
add.s32 %r1, %r13, %r14;
mov.u32 %r15, %ctaid.y;
shl.b32 %r16, %r15, 4;
mov.u32 %r17, %tid.y;
add.s32 %r18, %r16, %r17;
shl.b32 %r2, %r18, 22;
shl.b32 %r3, %r1, 22;
shl.b32 %r19, %r12, 27;
shl.b32 %r20, %r14, 23;
add.s32 %r4, %r19, %r20;
mov.f32 %f6, 0f00000000;
mov.u32 %r11, 0;
mov.u32 %r37, %r11;
mov.f32 %f15, %f6;
bra $strata_1;
$strata_1:
shl.b32 %r22, %r37, 1;
or.b32 %r23, %r22, 1;
mul.lo.s32 %r24, %r2, %r23;
shr.s32 %r25, %r24, 22;
cvt.rn.f32.s32 %f8, %r25;
mul.f32 %f9, %f8, 0f3BC90FDB;
cos.approx.f32 %f2, %f9;
shl.b32 %r26, %r37, 8;
cvt.u64.u32 %rd6, %r26;
add.s64 %rd13, %rd4, %rd6;
mov.u32 %r38, %r3;
mov.u32 %r39, %r11;
mov.f32 %f16, %f6;
bra $strata_2;
$strata_2:
mov.u32 %r28, 0;
ld.global.v4.b32 {%strata_t0, %strata_t1, %strata_t2, %strata_t3}, [%rd13+0];
prmt.b32 %r27, %strata_t0, 0, 0x4440;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t0, 0, 0x4441;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t0, 0, 0x4442;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t0, 0, 0x4443;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t1, 0, 0x4440;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t1, 0, 0x4441;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t1, 0, 0x4442;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t1, 0, 0x4443;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t2, 0, 0x4440;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t2, 0, 0x4441;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t2, 0, 0x4442;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t2, 0, 0x4443;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t3, 0, 0x4440;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t3, 0, 0x4441;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t3, 0, 0x4442;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
mov.u32 %r28, 0;
prmt.b32 %r27, %strata_t3, 0, 0x4443;
mov.b32 %r29, %r27;
cvt.rn.f32.u32 %f10, %r29;
shr.s32 %r30, %r38, 22;
cvt.rn.f32.s32 %f11, %r30;
mul.f32 %f12, %f11, 0f3BC90FDB;
cos.approx.f32 %f13, %f12;
mul.f32 %f14, %f13, %f10;
fma.rn.f32 %f16, %f2, %f14, %f16;
add.s32 %r38, %r38, %r4;
add.s64 %rd13, %rd13, 1;
add.s32 %r39, %r39, 1;
setp.ne.s32 %p1, %r39, 256;
@%p1 bra $strata_2;
bra $strata_3;
$strata_3:
add.f32 %f15, %f15, %f16;
add.s32 %r37, %r37, 1;
setp.lt.u32 %p2, %r37, 256;
@%p2 bra $strata_1;
bra $strata_4;
$strata_4:
mov.b32 %r31, %f15;
shl.b32 %r36, %r18, 8;
cvt.u64.u32 %rd9, %r36;
cvt.u64.u32 %rd10, %r1;
add.s64 %rd11, %rd9, %rd10;
shl.b64 %rd12, %rd11, 2;
add.s64 %rd8, %rd5, %rd12;
st.global.u32 [%rd8], %r31;
ret;
}
.visible .entry dct(
	.param .u64 dct_param_0,
	.param .u64 dct_param_1
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<17>;
	.reg .b32 	%r<40>;
	.reg .b64 	%rd<14>;


	ld.param.u64 	%rd4, [dct_param_0];
	ld.param.u64 	%rd5, [dct_param_1];
	mov.u32 	%r12, %ctaid.x;
	shl.b32 	%r13, %r12, 4;
	mov.u32 	%r14, %tid.x;
	add.s32 	%r1, %r13, %r14;
	mov.u32 	%r15, %ctaid.y;
	shl.b32 	%r16, %r15, 4;
	mov.u32 	%r17, %tid.y;
	add.s32 	%r18, %r16, %r17;
	shl.b32 	%r2, %r18, 22;
	shl.b32 	%r3, %r1, 22;
	shl.b32 	%r19, %r12, 27;
	shl.b32 	%r20, %r14, 23;
	add.s32 	%r4, %r19, %r20;
	mov.f32 	%f6, 0f00000000;
	mov.u32 	%r11, 0;
	mov.u32 	%r37, %r11;
	mov.f32 	%f15, %f6;

$L__BB3_1:
	.pragma "nounroll";
	shl.b32 	%r22, %r37, 1;
	or.b32  	%r23, %r22, 1;
	mul.lo.s32 	%r24, %r2, %r23;
	shr.s32 	%r25, %r24, 22;
	cvt.rn.f32.s32 	%f8, %r25;
	mul.f32 	%f9, %f8, 0f3BC90FDB;
	cos.approx.f32 	%f2, %f9;
	shl.b32 	%r26, %r37, 8;
	cvt.u64.u32 	%rd6, %r26;
	add.s64 	%rd13, %rd4, %rd6;
	mov.u32 	%r38, %r3;
	mov.u32 	%r39, %r11;
	mov.f32 	%f16, %f6;

$L__BB3_2:
	.pragma "nounroll";
	mov.u32 	%r28, 0;
	// begin inline asm
	ld.global.u8 %r27, [%rd13];
	// end inline asm
	and.b32  	%r29, %r27, 255;
	cvt.rn.f32.u32 	%f10, %r29;
	shr.s32 	%r30, %r38, 22;
	cvt.rn.f32.s32 	%f11, %r30;
	mul.f32 	%f12, %f11, 0f3BC90FDB;
	cos.approx.f32 	%f13, %f12;
	mul.f32 	%f14, %f13, %f10;
	fma.rn.f32 	%f16, %f2, %f14, %f16;
	add.s32 	%r38, %r38, %r4;
	add.s64 	%rd13, %rd13, 1;
	add.s32 	%r39, %r39, 1;
	setp.ne.s32 	%p1, %r39, 256;
	@%p1 bra 	$L__BB3_2;

	add.f32 	%f15, %f15, %f16;
	add.s32 	%r37, %r37, 1;
	setp.lt.u32 	%p2, %r37, 256;
	@%p2 bra 	$L__BB3_1;

	mov.b32 	%r31, %f15;
	shl.b32 	%r36, %r18, 8;
	cvt.u64.u32 	%rd9, %r36;
	cvt.u64.u32 	%rd10, %r1;
	add.s64 	%rd11, %rd9, %rd10;
	shl.b64 	%rd12, %rd11, 2;
	add.s64 	%rd8, %rd5, %rd12;
	// begin inline asm
	st.global.u32 [%rd8], %r31;
	// end inline asm
	ret;

}
	// .globl	short_words_1_1_uncoalesced
.visible .entry short_words_1_1_uncoalesced_mended(.param .u64 short_words_1_1_uncoalesced_param_0 , .param .u64 short_words_1_1_uncoalesced_param_1 , .param .u64 short_words_1_1_uncoalesced_param_2 , .param .u32 short_words_1_1_uncoalesced_param_3 , .param .u32 short_words_1_1_uncoalesced_param_4 , .param .u32 short_words_1_1_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r3;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b64 %rd1;
.reg .b64 %rd2;
.reg .b64 %rd3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_1_1_uncoalesced_strata_blocks];
mov.u32 %strata_t0, %tid.x;
mov.u32 %strata_t1, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t1, %strata_t0;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_1_1_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_1_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_1_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_1_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_1_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd1, %rd4, %rd9;
mov.u32 %r4, 0;
ld.global.u8 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd9;
ld.global.u8 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd9;
st.global.u8 [%rd3], %r5;
ret;
}
.visible .entry short_words_1_1_uncoalesced(
	.param .u64 short_words_1_1_uncoalesced_param_0,
	.param .u64 short_words_1_1_uncoalesced_param_1,
	.param .u64 short_words_1_1_uncoalesced_param_2,
	.param .u32 short_words_1_1_uncoalesced_param_3,
	.param .u32 short_words_1_1_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd4, [short_words_1_1_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_1_1_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_1_1_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_1_1_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_1_1_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	add.s64 	%rd1, %rd4, %rd9;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u8 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd9;
	// begin inline asm
	ld.global.u8 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd9;
	// begin inline asm
	st.global.u8 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_1_2_uncoalesced
.visible .entry short_words_1_2_uncoalesced_mended(.param .u64 short_words_1_2_uncoalesced_param_0 , .param .u64 short_words_1_2_uncoalesced_param_1 , .param .u64 short_words_1_2_uncoalesced_param_2 , .param .u32 short_words_1_2_uncoalesced_param_3 , .param .u32 short_words_1_2_uncoalesced_param_4 , .param .u32 short_words_1_2_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %r9$c1;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .pred %strata_t8;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_1_2_uncoalesced_strata_blocks];
mov.u32 %strata_t6, %tid.x;
mov.u32 %strata_t7, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t7, %strata_t6;
shl.b32 %strata_lane0, %strata_lane0, 1;
add.u32 %strata_lane1, %strata_lane0, 1;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
setp.lt.u32 %strata_t8, %strata_lane1, %strata_blocks;
@%strata_t8 bra $strata_0;
setp.lt.u32 %strata_t8, %strata_lane0, %strata_blocks;
@%strata_t8 bra $strata_tail_c0_0;
bra $strata_tail_c1;
$strata_tail_c0_0:
ld.param.u64 %rd4, [short_words_1_2_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_2_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_2_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_2_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_2_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd1, %rd4, %rd9;
mov.u32 %r4, 0;
ld.global.u8 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd9;
ld.global.u8 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd9;
st.global.u8 [%rd3], %r5;
bra $strata_tail_c1;
$strata_tail_c1:
setp.lt.u32 %strata_t8, %strata_lane1, %strata_blocks;
@%strata_t8 bra $strata_tail_c1_0;
bra $strata_tail_c2;
$strata_tail_c1_0:
ld.param.u64 %rd4, [short_words_1_2_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_2_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_2_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_2_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_2_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c1, %strata_lane1;
mul.wide.u32 %rd8$c1, %r7, %r9$c1;
add.s64 %rd9$c1, %rd8$c1, %rd7;
add.s64 %rd1$c1, %rd4, %rd9$c1;
mov.u32 %r4, 0;
ld.global.u8 %r1$c1, [%rd1$c1];
add.s64 %rd2$c1, %rd5, %rd9$c1;
ld.global.u8 %r3$c1, [%rd2$c1];
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3$c1, %rd6, %rd9$c1;
st.global.u8 [%rd3$c1], %r5$c1;
bra $strata_tail_c2;
$strata_tail_c2:
ret;
$strata_0:
ld.param.u64 %rd4, [short_words_1_2_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_2_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_2_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_2_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_2_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
add.s32 %r9$c1, %r9, 1;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd1, %rd4, %rd9;
add.s64 %rd1$c1, %rd1, 1;
mov.u32 %r4, 0;
ld.global.b16 %strata_t0, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4440;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4441;
add.s64 %rd2, %rd5, %rd9;
add.s64 %rd2$c1, %rd2, 1;
ld.global.b16 %strata_t1, [%rd2+0];
prmt.b32 %r3, %strata_t1, 0, 0x4440;
prmt.b32 %r3$c1, %strata_t1, 0, 0x4441;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3, %rd6, %rd9;
add.s64 %rd3$c1, %rd3, 1;
mov.b32 %strata_t2, %r5;
mov.b32 %strata_t3, %r5$c1;
and.b32 %strata_t4, %strata_t2, 255;
bfi.b32 %strata_t5, %strata_t3, %strata_t4, 8, 8;
st.global.b16 [%rd3$c1+-1], %strata_t5;
ret;
}
.visible .entry short_words_1_2_uncoalesced(
	.param .u64 short_words_1_2_uncoalesced_param_0,
	.param .u64 short_words_1_2_uncoalesced_param_1,
	.param .u64 short_words_1_2_uncoalesced_param_2,
	.param .u32 short_words_1_2_uncoalesced_param_3,
	.param .u32 short_words_1_2_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd4, [short_words_1_2_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_1_2_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_1_2_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_1_2_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_1_2_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	add.s64 	%rd1, %rd4, %rd9;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u8 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd9;
	// begin inline asm
	ld.global.u8 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd9;
	// begin inline asm
	st.global.u8 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_1_4_uncoalesced
.visible .entry short_words_1_4_uncoalesced_mended(.param .u64 short_words_1_4_uncoalesced_param_0 , .param .u64 short_words_1_4_uncoalesced_param_1 , .param .u64 short_words_1_4_uncoalesced_param_2 , .param .u32 short_words_1_4_uncoalesced_param_3 , .param .u32 short_words_1_4_uncoalesced_param_4 , .param .u32 short_words_1_4_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %r9$c1;
.reg .b32 %r9$c2;
.reg .b32 %r9$c3;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd8$c2;
.reg .b64 %rd8$c3;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .pred %strata_t12;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_1_4_uncoalesced_strata_blocks];
mov.u32 %strata_t10, %tid.x;
mov.u32 %strata_t11, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t11, %strata_t10;
shl.b32 %strata_lane0, %strata_lane0, 2;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
setp.lt.u32 %strata_t12, %strata_lane3, %strata_blocks;
@%strata_t12 bra $strata_0;
setp.lt.u32 %strata_t12, %strata_lane0, %strata_blocks;
@%strata_t12 bra $strata_tail_c0_0;
bra $strata_tail_c1;
$strata_tail_c0_0:
ld.param.u64 %rd4, [short_words_1_4_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_4_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_4_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_4_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_4_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd1, %rd4, %rd9;
mov.u32 %r4, 0;
ld.global.u8 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd9;
ld.global.u8 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd9;
st.global.u8 [%rd3], %r5;
bra $strata_tail_c1;
$strata_tail_c1:
setp.lt.u32 %strata_t12, %strata_lane1, %strata_blocks;
@%strata_t12 bra $strata_tail_c1_0;
bra $strata_tail_c2;
$strata_tail_c1_0:
ld.param.u64 %rd4, [short_words_1_4_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_4_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_4_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_4_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_4_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c1, %strata_lane1;
mul.wide.u32 %rd8$c1, %r7, %r9$c1;
add.s64 %rd9$c1, %rd8$c1, %rd7;
add.s64 %rd1$c1, %rd4, %rd9$c1;
mov.u32 %r4, 0;
ld.global.u8 %r1$c1, [%rd1$c1];
add.s64 %rd2$c1, %rd5, %rd9$c1;
ld.global.u8 %r3$c1, [%rd2$c1];
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3$c1, %rd6, %rd9$c1;
st.global.u8 [%rd3$c1], %r5$c1;
bra $strata_tail_c2;
$strata_tail_c2:
setp.lt.u32 %strata_t12, %strata_lane2, %strata_blocks;
@%strata_t12 bra $strata_tail_c2_0;
bra $strata_tail_c3;
$strata_tail_c2_0:
ld.param.u64 %rd4, [short_words_1_4_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_4_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_4_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_4_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_4_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c2, %strata_lane2;
mul.wide.u32 %rd8$c2, %r7, %r9$c2;
add.s64 %rd9$c2, %rd8$c2, %rd7;
add.s64 %rd1$c2, %rd4, %rd9$c2;
mov.u32 %r4, 0;
ld.global.u8 %r1$c2, [%rd1$c2];
add.s64 %rd2$c2, %rd5, %rd9$c2;
ld.global.u8 %r3$c2, [%rd2$c2];
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s64 %rd3$c2, %rd6, %rd9$c2;
st.global.u8 [%rd3$c2], %r5$c2;
bra $strata_tail_c3;
$strata_tail_c3:
setp.lt.u32 %strata_t12, %strata_lane3, %strata_blocks;
@%strata_t12 bra $strata_tail_c3_0;
bra $strata_tail_c4;
$strata_tail_c3_0:
ld.param.u64 %rd4, [short_words_1_4_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_4_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_4_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_4_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_4_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c3, %strata_lane3;
mul.wide.u32 %rd8$c3, %r7, %r9$c3;
add.s64 %rd9$c3, %rd8$c3, %rd7;
add.s64 %rd1$c3, %rd4, %rd9$c3;
mov.u32 %r4, 0;
ld.global.u8 %r1$c3, [%rd1$c3];
add.s64 %rd2$c3, %rd5, %rd9$c3;
ld.global.u8 %r3$c3, [%rd2$c3];
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3$c3, %rd6, %rd9$c3;
st.global.u8 [%rd3$c3], %r5$c3;
bra $strata_tail_c4;
$strata_tail_c4:
ret;
$strata_0:
ld.param.u64 %rd4, [short_words_1_4_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_4_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_4_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_4_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_4_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
add.s32 %r9$c1, %r9, 1;
add.s32 %r9$c2, %r9, 2;
add.s32 %r9$c3, %r9, 3;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd8$c2, %rd8, 2;
add.s64 %rd8$c3, %rd8, 3;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
add.s64 %rd1, %rd4, %rd9;
add.s64 %rd1$c1, %rd1, 1;
add.s64 %rd1$c2, %rd1, 2;
add.s64 %rd1$c3, %rd1, 3;
mov.u32 %r4, 0;
ld.global.b32 %strata_t0, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4440;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4441;
prmt.b32 %r1$c2, %strata_t0, 0, 0x4442;
prmt.b32 %r1$c3, %strata_t0, 0, 0x4443;
add.s64 %rd2, %rd5, %rd9;
add.s64 %rd2$c1, %rd2, 1;
add.s64 %rd2$c2, %rd2, 2;
add.s64 %rd2$c3, %rd2, 3;
ld.global.b32 %strata_t1, [%rd2+0];
prmt.b32 %r3, %strata_t1, 0, 0x4440;
prmt.b32 %r3$c1, %strata_t1, 0, 0x4441;
prmt.b32 %r3$c2, %strata_t1, 0, 0x4442;
prmt.b32 %r3$c3, %strata_t1, 0, 0x4443;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3, %rd6, %rd9;
add.s64 %rd3$c1, %rd3, 1;
add.s64 %rd3$c2, %rd3, 2;
add.s64 %rd3$c3, %rd3, 3;
mov.b32 %strata_t2, %r5;
mov.b32 %strata_t3, %r5$c1;
mov.b32 %strata_t4, %r5$c2;
mov.b32 %strata_t5, %r5$c3;
and.b32 %strata_t6, %strata_t2, 255;
bfi.b32 %strata_t7, %strata_t3, %strata_t6, 8, 8;
bfi.b32 %strata_t8, %strata_t4, %strata_t7, 16, 8;
bfi.b32 %strata_t9, %strata_t5, %strata_t8, 24, 8;
st.global.b32 [%rd3$c3+-3], %strata_t9;
ret;
}
.visible .entry short_words_1_4_uncoalesced(
	.param .u64 short_words_1_4_uncoalesced_param_0,
	.param .u64 short_words_1_4_uncoalesced_param_1,
	.param .u64 short_words_1_4_uncoalesced_param_2,
	.param .u32 short_words_1_4_uncoalesced_param_3,
	.param .u32 short_words_1_4_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd4, [short_words_1_4_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_1_4_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_1_4_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_1_4_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_1_4_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	add.s64 	%rd1, %rd4, %rd9;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u8 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd9;
	// begin inline asm
	ld.global.u8 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd9;
	// begin inline asm
	st.global.u8 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_1_8_uncoalesced
.visible .entry short_words_1_8_uncoalesced_mended(.param .u64 short_words_1_8_uncoalesced_param_0 , .param .u64 short_words_1_8_uncoalesced_param_1 , .param .u64 short_words_1_8_uncoalesced_param_2 , .param .u32 short_words_1_8_uncoalesced_param_3 , .param .u32 short_words_1_8_uncoalesced_param_4 , .param .u32 short_words_1_8_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r1$c4;
.reg .b32 %r1$c5;
.reg .b32 %r1$c6;
.reg .b32 %r1$c7;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r3$c4;
.reg .b32 %r3$c5;
.reg .b32 %r3$c6;
.reg .b32 %r3$c7;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r5$c4;
.reg .b32 %r5$c5;
.reg .b32 %r5$c6;
.reg .b32 %r5$c7;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %r9$c1;
.reg .b32 %r9$c2;
.reg .b32 %r9$c3;
.reg .b32 %r9$c4;
.reg .b32 %r9$c5;
.reg .b32 %r9$c6;
.reg .b32 %r9$c7;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_lane4;
.reg .b32 %strata_lane5;
.reg .b32 %strata_lane6;
.reg .b32 %strata_lane7;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t15;
.reg .b32 %strata_t16;
.reg .b32 %strata_t17;
.reg .b32 %strata_t18;
.reg .b32 %strata_t19;
.reg .b32 %strata_t2;
.reg .b32 %strata_t20;
.reg .b32 %strata_t21;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd1$c4;
.reg .b64 %rd1$c5;
.reg .b64 %rd1$c6;
.reg .b64 %rd1$c7;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd2$c4;
.reg .b64 %rd2$c5;
.reg .b64 %rd2$c6;
.reg .b64 %rd2$c7;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd3$c4;
.reg .b64 %rd3$c5;
.reg .b64 %rd3$c6;
.reg .b64 %rd3$c7;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd8$c2;
.reg .b64 %rd8$c3;
.reg .b64 %rd8$c4;
.reg .b64 %rd8$c5;
.reg .b64 %rd8$c6;
.reg .b64 %rd8$c7;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .b64 %rd9$c4;
.reg .b64 %rd9$c5;
.reg .b64 %rd9$c6;
.reg .b64 %rd9$c7;
.reg .pred %strata_t22;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_1_8_uncoalesced_strata_blocks];
mov.u32 %strata_t20, %tid.x;
mov.u32 %strata_t21, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t21, %strata_t20;
shl.b32 %strata_lane0, %strata_lane0, 3;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
add.u32 %strata_lane4, %strata_lane0, 4;
add.u32 %strata_lane5, %strata_lane0, 5;
add.u32 %strata_lane6, %strata_lane0, 6;
add.u32 %strata_lane7, %strata_lane0, 7;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
setp.lt.u32 %strata_t22, %strata_lane7, %strata_blocks;
@%strata_t22 bra $strata_0;
setp.lt.u32 %strata_t22, %strata_lane0, %strata_blocks;
@%strata_t22 bra $strata_tail_c0_0;
bra $strata_tail_c1;
$strata_tail_c0_0:
ld.param.u64 %rd4, [short_words_1_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd1, %rd4, %rd9;
mov.u32 %r4, 0;
ld.global.u8 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd9;
ld.global.u8 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd9;
st.global.u8 [%rd3], %r5;
bra $strata_tail_c1;
$strata_tail_c1:
setp.lt.u32 %strata_t22, %strata_lane1, %strata_blocks;
@%strata_t22 bra $strata_tail_c1_0;
bra $strata_tail_c2;
$strata_tail_c1_0:
ld.param.u64 %rd4, [short_words_1_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c1, %strata_lane1;
mul.wide.u32 %rd8$c1, %r7, %r9$c1;
add.s64 %rd9$c1, %rd8$c1, %rd7;
add.s64 %rd1$c1, %rd4, %rd9$c1;
mov.u32 %r4, 0;
ld.global.u8 %r1$c1, [%rd1$c1];
add.s64 %rd2$c1, %rd5, %rd9$c1;
ld.global.u8 %r3$c1, [%rd2$c1];
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3$c1, %rd6, %rd9$c1;
st.global.u8 [%rd3$c1], %r5$c1;
bra $strata_tail_c2;
$strata_tail_c2:
setp.lt.u32 %strata_t22, %strata_lane2, %strata_blocks;
@%strata_t22 bra $strata_tail_c2_0;
bra $strata_tail_c3;
$strata_tail_c2_0:
ld.param.u64 %rd4, [short_words_1_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c2, %strata_lane2;
mul.wide.u32 %rd8$c2, %r7, %r9$c2;
add.s64 %rd9$c2, %rd8$c2, %rd7;
add.s64 %rd1$c2, %rd4, %rd9$c2;
mov.u32 %r4, 0;
ld.global.u8 %r1$c2, [%rd1$c2];
add.s64 %rd2$c2, %rd5, %rd9$c2;
ld.global.u8 %r3$c2, [%rd2$c2];
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s64 %rd3$c2, %rd6, %rd9$c2;
st.global.u8 [%rd3$c2], %r5$c2;
bra $strata_tail_c3;
$strata_tail_c3:
setp.lt.u32 %strata_t22, %strata_lane3, %strata_blocks;
@%strata_t22 bra $strata_tail_c3_0;
bra $strata_tail_c4;
$strata_tail_c3_0:
ld.param.u64 %rd4, [short_words_1_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c3, %strata_lane3;
mul.wide.u32 %rd8$c3, %r7, %r9$c3;
add.s64 %rd9$c3, %rd8$c3, %rd7;
add.s64 %rd1$c3, %rd4, %rd9$c3;
mov.u32 %r4, 0;
ld.global.u8 %r1$c3, [%rd1$c3];
add.s64 %rd2$c3, %rd5, %rd9$c3;
ld.global.u8 %r3$c3, [%rd2$c3];
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3$c3, %rd6, %rd9$c3;
st.global.u8 [%rd3$c3], %r5$c3;
bra $strata_tail_c4;
$strata_tail_c4:
setp.lt.u32 %strata_t22, %strata_lane4, %strata_blocks;
@%strata_t22 bra $strata_tail_c4_0;
bra $strata_tail_c5;
$strata_tail_c4_0:
ld.param.u64 %rd4, [short_words_1_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c4, %strata_lane4;
mul.wide.u32 %rd8$c4, %r7, %r9$c4;
add.s64 %rd9$c4, %rd8$c4, %rd7;
add.s64 %rd1$c4, %rd4, %rd9$c4;
mov.u32 %r4, 0;
ld.global.u8 %r1$c4, [%rd1$c4];
add.s64 %rd2$c4, %rd5, %rd9$c4;
ld.global.u8 %r3$c4, [%rd2$c4];
add.s32 %r5$c4, %r3$c4, %r1$c4;
add.s64 %rd3$c4, %rd6, %rd9$c4;
st.global.u8 [%rd3$c4], %r5$c4;
bra $strata_tail_c5;
$strata_tail_c5:
setp.lt.u32 %strata_t22, %strata_lane5, %strata_blocks;
@%strata_t22 bra $strata_tail_c5_0;
bra $strata_tail_c6;
$strata_tail_c5_0:
ld.param.u64 %rd4, [short_words_1_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c5, %strata_lane5;
mul.wide.u32 %rd8$c5, %r7, %r9$c5;
add.s64 %rd9$c5, %rd8$c5, %rd7;
add.s64 %rd1$c5, %rd4, %rd9$c5;
mov.u32 %r4, 0;
ld.global.u8 %r1$c5, [%rd1$c5];
add.s64 %rd2$c5, %rd5, %rd9$c5;
ld.global.u8 %r3$c5, [%rd2$c5];
add.s32 %r5$c5, %r3$c5, %r1$c5;
add.s64 %rd3$c5, %rd6, %rd9$c5;
st.global.u8 [%rd3$c5], %r5$c5;
bra $strata_tail_c6;
$strata_tail_c6:
setp.lt.u32 %strata_t22, %strata_lane6, %strata_blocks;
@%strata_t22 bra $strata_tail_c6_0;
bra $strata_tail_c7;
$strata_tail_c6_0:
ld.param.u64 %rd4, [short_words_1_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c6, %strata_lane6;
mul.wide.u32 %rd8$c6, %r7, %r9$c6;
add.s64 %rd9$c6, %rd8$c6, %rd7;
add.s64 %rd1$c6, %rd4, %rd9$c6;
mov.u32 %r4, 0;
ld.global.u8 %r1$c6, [%rd1$c6];
add.s64 %rd2$c6, %rd5, %rd9$c6;
ld.global.u8 %r3$c6, [%rd2$c6];
add.s32 %r5$c6, %r3$c6, %r1$c6;
add.s64 %rd3$c6, %rd6, %rd9$c6;
st.global.u8 [%rd3$c6], %r5$c6;
bra $strata_tail_c7;
$strata_tail_c7:
setp.lt.u32 %strata_t22, %strata_lane7, %strata_blocks;
@%strata_t22 bra $strata_tail_c7_0;
bra $strata_tail_c8;
$strata_tail_c7_0:
ld.param.u64 %rd4, [short_words_1_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c7, %strata_lane7;
mul.wide.u32 %rd8$c7, %r7, %r9$c7;
add.s64 %rd9$c7, %rd8$c7, %rd7;
add.s64 %rd1$c7, %rd4, %rd9$c7;
mov.u32 %r4, 0;
ld.global.u8 %r1$c7, [%rd1$c7];
add.s64 %rd2$c7, %rd5, %rd9$c7;
ld.global.u8 %r3$c7, [%rd2$c7];
add.s32 %r5$c7, %r3$c7, %r1$c7;
add.s64 %rd3$c7, %rd6, %rd9$c7;
st.global.u8 [%rd3$c7], %r5$c7;
bra $strata_tail_c8;
$strata_tail_c8:
ret;
$strata_0:
ld.param.u64 %rd4, [short_words_1_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
add.s32 %r9$c1, %r9, 1;
add.s32 %r9$c2, %r9, 2;
add.s32 %r9$c3, %r9, 3;
add.s32 %r9$c4, %r9, 4;
add.s32 %r9$c5, %r9, 5;
add.s32 %r9$c6, %r9, 6;
add.s32 %r9$c7, %r9, 7;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd8$c2, %rd8, 2;
add.s64 %rd8$c3, %rd8, 3;
add.s64 %rd8$c4, %rd8, 4;
add.s64 %rd8$c5, %rd8, 5;
add.s64 %rd8$c6, %rd8, 6;
add.s64 %rd8$c7, %rd8, 7;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
add.s64 %rd9$c4, %rd9, 4;
add.s64 %rd9$c5, %rd9, 5;
add.s64 %rd9$c6, %rd9, 6;
add.s64 %rd9$c7, %rd9, 7;
add.s64 %rd1, %rd4, %rd9;
add.s64 %rd1$c1, %rd1, 1;
add.s64 %rd1$c2, %rd1, 2;
add.s64 %rd1$c3, %rd1, 3;
add.s64 %rd1$c4, %rd1, 4;
add.s64 %rd1$c5, %rd1, 5;
add.s64 %rd1$c6, %rd1, 6;
add.s64 %rd1$c7, %rd1, 7;
mov.u32 %r4, 0;
ld.global.v2.b32 {%strata_t0, %strata_t1}, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4440;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4441;
prmt.b32 %r1$c2, %strata_t0, 0, 0x4442;
prmt.b32 %r1$c3, %strata_t0, 0, 0x4443;
prmt.b32 %r1$c4, %strata_t1, 0, 0x4440;
prmt.b32 %r1$c5, %strata_t1, 0, 0x4441;
prmt.b32 %r1$c6, %strata_t1, 0, 0x4442;
prmt.b32 %r1$c7, %strata_t1, 0, 0x4443;
add.s64 %rd2, %rd5, %rd9;
add.s64 %rd2$c1, %rd2, 1;
add.s64 %rd2$c2, %rd2, 2;
add.s64 %rd2$c3, %rd2, 3;
add.s64 %rd2$c4, %rd2, 4;
add.s64 %rd2$c5, %rd2, 5;
add.s64 %rd2$c6, %rd2, 6;
add.s64 %rd2$c7, %rd2, 7;
ld.global.v2.b32 {%strata_t2, %strata_t3}, [%rd2+0];
prmt.b32 %r3, %strata_t2, 0, 0x4440;
prmt.b32 %r3$c1, %strata_t2, 0, 0x4441;
prmt.b32 %r3$c2, %strata_t2, 0, 0x4442;
prmt.b32 %r3$c3, %strata_t2, 0, 0x4443;
prmt.b32 %r3$c4, %strata_t3, 0, 0x4440;
prmt.b32 %r3$c5, %strata_t3, 0, 0x4441;
prmt.b32 %r3$c6, %strata_t3, 0, 0x4442;
prmt.b32 %r3$c7, %strata_t3, 0, 0x4443;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s32 %r5$c4, %r3$c4, %r1$c4;
add.s32 %r5$c5, %r3$c5, %r1$c5;
add.s32 %r5$c6, %r3$c6, %r1$c6;
add.s32 %r5$c7, %r3$c7, %r1$c7;
add.s64 %rd3, %rd6, %rd9;
add.s64 %rd3$c1, %rd3, 1;
add.s64 %rd3$c2, %rd3, 2;
add.s64 %rd3$c3, %rd3, 3;
add.s64 %rd3$c4, %rd3, 4;
add.s64 %rd3$c5, %rd3, 5;
add.s64 %rd3$c6, %rd3, 6;
add.s64 %rd3$c7, %rd3, 7;
mov.b32 %strata_t4, %r5;
mov.b32 %strata_t5, %r5$c1;
mov.b32 %strata_t6, %r5$c2;
mov.b32 %strata_t7, %r5$c3;
mov.b32 %strata_t8, %r5$c4;
mov.b32 %strata_t9, %r5$c5;
mov.b32 %strata_t10, %r5$c6;
mov.b32 %strata_t11, %r5$c7;
and.b32 %strata_t12, %strata_t4, 255;
bfi.b32 %strata_t13, %strata_t5, %strata_t12, 8, 8;
bfi.b32 %strata_t14, %strata_t6, %strata_t13, 16, 8;
bfi.b32 %strata_t15, %strata_t7, %strata_t14, 24, 8;
and.b32 %strata_t16, %strata_t8, 255;
bfi.b32 %strata_t17, %strata_t9, %strata_t16, 8, 8;
bfi.b32 %strata_t18, %strata_t10, %strata_t17, 16, 8;
bfi.b32 %strata_t19, %strata_t11, %strata_t18, 24, 8;
st.global.v2.b32 [%rd3$c7+-7], {%strata_t15, %strata_t19};
ret;
}
.visible .entry short_words_1_8_uncoalesced(
	.param .u64 short_words_1_8_uncoalesced_param_0,
	.param .u64 short_words_1_8_uncoalesced_param_1,
	.param .u64 short_words_1_8_uncoalesced_param_2,
	.param .u32 short_words_1_8_uncoalesced_param_3,
	.param .u32 short_words_1_8_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd4, [short_words_1_8_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_1_8_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_1_8_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_1_8_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_1_8_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	add.s64 	%rd1, %rd4, %rd9;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u8 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd9;
	// begin inline asm
	ld.global.u8 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd9;
	// begin inline asm
	st.global.u8 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_1_16_uncoalesced
.visible .entry short_words_1_16_uncoalesced_mended(.param .u64 short_words_1_16_uncoalesced_param_0 , .param .u64 short_words_1_16_uncoalesced_param_1 , .param .u64 short_words_1_16_uncoalesced_param_2 , .param .u32 short_words_1_16_uncoalesced_param_3 , .param .u32 short_words_1_16_uncoalesced_param_4 , .param .u32 short_words_1_16_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c10;
.reg .b32 %r1$c11;
.reg .b32 %r1$c12;
.reg .b32 %r1$c13;
.reg .b32 %r1$c14;
.reg .b32 %r1$c15;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r1$c4;
.reg .b32 %r1$c5;
.reg .b32 %r1$c6;
.reg .b32 %r1$c7;
.reg .b32 %r1$c8;
.reg .b32 %r1$c9;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c10;
.reg .b32 %r3$c11;
.reg .b32 %r3$c12;
.reg .b32 %r3$c13;
.reg .b32 %r3$c14;
.reg .b32 %r3$c15;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r3$c4;
.reg .b32 %r3$c5;
.reg .b32 %r3$c6;
.reg .b32 %r3$c7;
.reg .b32 %r3$c8;
.reg .b32 %r3$c9;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c10;
.reg .b32 %r5$c11;
.reg .b32 %r5$c12;
.reg .b32 %r5$c13;
.reg .b32 %r5$c14;
.reg .b32 %r5$c15;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r5$c4;
.reg .b32 %r5$c5;
.reg .b32 %r5$c6;
.reg .b32 %r5$c7;
.reg .b32 %r5$c8;
.reg .b32 %r5$c9;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %r9$c1;
.reg .b32 %r9$c10;
.reg .b32 %r9$c11;
.reg .b32 %r9$c12;
.reg .b32 %r9$c13;
.reg .b32 %r9$c14;
.reg .b32 %r9$c15;
.reg .b32 %r9$c2;
.reg .b32 %r9$c3;
.reg .b32 %r9$c4;
.reg .b32 %r9$c5;
.reg .b32 %r9$c6;
.reg .b32 %r9$c7;
.reg .b32 %r9$c8;
.reg .b32 %r9$c9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane10;
.reg .b32 %strata_lane11;
.reg .b32 %strata_lane12;
.reg .b32 %strata_lane13;
.reg .b32 %strata_lane14;
.reg .b32 %strata_lane15;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_lane4;
.reg .b32 %strata_lane5;
.reg .b32 %strata_lane6;
.reg .b32 %strata_lane7;
.reg .b32 %strata_lane8;
.reg .b32 %strata_lane9;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t15;
.reg .b32 %strata_t16;
.reg .b32 %strata_t17;
.reg .b32 %strata_t18;
.reg .b32 %strata_t19;
.reg .b32 %strata_t2;
.reg .b32 %strata_t20;
.reg .b32 %strata_t21;
.reg .b32 %strata_t22;
.reg .b32 %strata_t23;
.reg .b32 %strata_t24;
.reg .b32 %strata_t25;
.reg .b32 %strata_t26;
.reg .b32 %strata_t27;
.reg .b32 %strata_t28;
.reg .b32 %strata_t29;
.reg .b32 %strata_t3;
.reg .b32 %strata_t30;
.reg .b32 %strata_t31;
.reg .b32 %strata_t32;
.reg .b32 %strata_t33;
.reg .b32 %strata_t34;
.reg .b32 %strata_t35;
.reg .b32 %strata_t36;
.reg .b32 %strata_t37;
.reg .b32 %strata_t38;
.reg .b32 %strata_t39;
.reg .b32 %strata_t4;
.reg .b32 %strata_t40;
.reg .b32 %strata_t41;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c10;
.reg .b64 %rd1$c11;
.reg .b64 %rd1$c12;
.reg .b64 %rd1$c13;
.reg .b64 %rd1$c14;
.reg .b64 %rd1$c15;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd1$c4;
.reg .b64 %rd1$c5;
.reg .b64 %rd1$c6;
.reg .b64 %rd1$c7;
.reg .b64 %rd1$c8;
.reg .b64 %rd1$c9;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c10;
.reg .b64 %rd2$c11;
.reg .b64 %rd2$c12;
.reg .b64 %rd2$c13;
.reg .b64 %rd2$c14;
.reg .b64 %rd2$c15;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd2$c4;
.reg .b64 %rd2$c5;
.reg .b64 %rd2$c6;
.reg .b64 %rd2$c7;
.reg .b64 %rd2$c8;
.reg .b64 %rd2$c9;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c10;
.reg .b64 %rd3$c11;
.reg .b64 %rd3$c12;
.reg .b64 %rd3$c13;
.reg .b64 %rd3$c14;
.reg .b64 %rd3$c15;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd3$c4;
.reg .b64 %rd3$c5;
.reg .b64 %rd3$c6;
.reg .b64 %rd3$c7;
.reg .b64 %rd3$c8;
.reg .b64 %rd3$c9;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd8$c10;
.reg .b64 %rd8$c11;
.reg .b64 %rd8$c12;
.reg .b64 %rd8$c13;
.reg .b64 %rd8$c14;
.reg .b64 %rd8$c15;
.reg .b64 %rd8$c2;
.reg .b64 %rd8$c3;
.reg .b64 %rd8$c4;
.reg .b64 %rd8$c5;
.reg .b64 %rd8$c6;
.reg .b64 %rd8$c7;
.reg .b64 %rd8$c8;
.reg .b64 %rd8$c9;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c10;
.reg .b64 %rd9$c11;
.reg .b64 %rd9$c12;
.reg .b64 %rd9$c13;
.reg .b64 %rd9$c14;
.reg .b64 %rd9$c15;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .b64 %rd9$c4;
.reg .b64 %rd9$c5;
.reg .b64 %rd9$c6;
.reg .b64 %rd9$c7;
.reg .b64 %rd9$c8;
.reg .b64 %rd9$c9;
.reg .pred %strata_t42;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_1_16_uncoalesced_strata_blocks];
mov.u32 %strata_t40, %tid.x;
mov.u32 %strata_t41, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t41, %strata_t40;
shl.b32 %strata_lane0, %strata_lane0, 4;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
add.u32 %strata_lane4, %strata_lane0, 4;
add.u32 %strata_lane5, %strata_lane0, 5;
add.u32 %strata_lane6, %strata_lane0, 6;
add.u32 %strata_lane7, %strata_lane0, 7;
add.u32 %strata_lane8, %strata_lane0, 8;
add.u32 %strata_lane9, %strata_lane0, 9;
add.u32 %strata_lane10, %strata_lane0, 10;
add.u32 %strata_lane11, %strata_lane0, 11;
add.u32 %strata_lane12, %strata_lane0, 12;
add.u32 %strata_lane13, %strata_lane0, 13;
add.u32 %strata_lane14, %strata_lane0, 14;
add.u32 %strata_lane15, %strata_lane0, 15;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
setp.lt.u32 %strata_t42, %strata_lane15, %strata_blocks;
@%strata_t42 bra $strata_0;
setp.lt.u32 %strata_t42, %strata_lane0, %strata_blocks;
@%strata_t42 bra $strata_tail_c0_0;
bra $strata_tail_c1;
$strata_tail_c0_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd1, %rd4, %rd9;
mov.u32 %r4, 0;
ld.global.u8 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd9;
ld.global.u8 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd9;
st.global.u8 [%rd3], %r5;
bra $strata_tail_c1;
$strata_tail_c1:
setp.lt.u32 %strata_t42, %strata_lane1, %strata_blocks;
@%strata_t42 bra $strata_tail_c1_0;
bra $strata_tail_c2;
$strata_tail_c1_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c1, %strata_lane1;
mul.wide.u32 %rd8$c1, %r7, %r9$c1;
add.s64 %rd9$c1, %rd8$c1, %rd7;
add.s64 %rd1$c1, %rd4, %rd9$c1;
mov.u32 %r4, 0;
ld.global.u8 %r1$c1, [%rd1$c1];
add.s64 %rd2$c1, %rd5, %rd9$c1;
ld.global.u8 %r3$c1, [%rd2$c1];
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3$c1, %rd6, %rd9$c1;
st.global.u8 [%rd3$c1], %r5$c1;
bra $strata_tail_c2;
$strata_tail_c2:
setp.lt.u32 %strata_t42, %strata_lane2, %strata_blocks;
@%strata_t42 bra $strata_tail_c2_0;
bra $strata_tail_c3;
$strata_tail_c2_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c2, %strata_lane2;
mul.wide.u32 %rd8$c2, %r7, %r9$c2;
add.s64 %rd9$c2, %rd8$c2, %rd7;
add.s64 %rd1$c2, %rd4, %rd9$c2;
mov.u32 %r4, 0;
ld.global.u8 %r1$c2, [%rd1$c2];
add.s64 %rd2$c2, %rd5, %rd9$c2;
ld.global.u8 %r3$c2, [%rd2$c2];
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s64 %rd3$c2, %rd6, %rd9$c2;
st.global.u8 [%rd3$c2], %r5$c2;
bra $strata_tail_c3;
$strata_tail_c3:
setp.lt.u32 %strata_t42, %strata_lane3, %strata_blocks;
@%strata_t42 bra $strata_tail_c3_0;
bra $strata_tail_c4;
$strata_tail_c3_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c3, %strata_lane3;
mul.wide.u32 %rd8$c3, %r7, %r9$c3;
add.s64 %rd9$c3, %rd8$c3, %rd7;
add.s64 %rd1$c3, %rd4, %rd9$c3;
mov.u32 %r4, 0;
ld.global.u8 %r1$c3, [%rd1$c3];
add.s64 %rd2$c3, %rd5, %rd9$c3;
ld.global.u8 %r3$c3, [%rd2$c3];
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3$c3, %rd6, %rd9$c3;
st.global.u8 [%rd3$c3], %r5$c3;
bra $strata_tail_c4;
$strata_tail_c4:
setp.lt.u32 %strata_t42, %strata_lane4, %strata_blocks;
@%strata_t42 bra $strata_tail_c4_0;
bra $strata_tail_c5;
$strata_tail_c4_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c4, %strata_lane4;
mul.wide.u32 %rd8$c4, %r7, %r9$c4;
add.s64 %rd9$c4, %rd8$c4, %rd7;
add.s64 %rd1$c4, %rd4, %rd9$c4;
mov.u32 %r4, 0;
ld.global.u8 %r1$c4, [%rd1$c4];
add.s64 %rd2$c4, %rd5, %rd9$c4;
ld.global.u8 %r3$c4, [%rd2$c4];
add.s32 %r5$c4, %r3$c4, %r1$c4;
add.s64 %rd3$c4, %rd6, %rd9$c4;
st.global.u8 [%rd3$c4], %r5$c4;
bra $strata_tail_c5;
$strata_tail_c5:
setp.lt.u32 %strata_t42, %strata_lane5, %strata_blocks;
@%strata_t42 bra $strata_tail_c5_0;
bra $strata_tail_c6;
$strata_tail_c5_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c5, %strata_lane5;
mul.wide.u32 %rd8$c5, %r7, %r9$c5;
add.s64 %rd9$c5, %rd8$c5, %rd7;
add.s64 %rd1$c5, %rd4, %rd9$c5;
mov.u32 %r4, 0;
ld.global.u8 %r1$c5, [%rd1$c5];
add.s64 %rd2$c5, %rd5, %rd9$c5;
ld.global.u8 %r3$c5, [%rd2$c5];
add.s32 %r5$c5, %r3$c5, %r1$c5;
add.s64 %rd3$c5, %rd6, %rd9$c5;
st.global.u8 [%rd3$c5], %r5$c5;
bra $strata_tail_c6;
$strata_tail_c6:
setp.lt.u32 %strata_t42, %strata_lane6, %strata_blocks;
@%strata_t42 bra $strata_tail_c6_0;
bra $strata_tail_c7;
$strata_tail_c6_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c6, %strata_lane6;
mul.wide.u32 %rd8$c6, %r7, %r9$c6;
add.s64 %rd9$c6, %rd8$c6, %rd7;
add.s64 %rd1$c6, %rd4, %rd9$c6;
mov.u32 %r4, 0;
ld.global.u8 %r1$c6, [%rd1$c6];
add.s64 %rd2$c6, %rd5, %rd9$c6;
ld.global.u8 %r3$c6, [%rd2$c6];
add.s32 %r5$c6, %r3$c6, %r1$c6;
add.s64 %rd3$c6, %rd6, %rd9$c6;
st.global.u8 [%rd3$c6], %r5$c6;
bra $strata_tail_c7;
$strata_tail_c7:
setp.lt.u32 %strata_t42, %strata_lane7, %strata_blocks;
@%strata_t42 bra $strata_tail_c7_0;
bra $strata_tail_c8;
$strata_tail_c7_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c7, %strata_lane7;
mul.wide.u32 %rd8$c7, %r7, %r9$c7;
add.s64 %rd9$c7, %rd8$c7, %rd7;
add.s64 %rd1$c7, %rd4, %rd9$c7;
mov.u32 %r4, 0;
ld.global.u8 %r1$c7, [%rd1$c7];
add.s64 %rd2$c7, %rd5, %rd9$c7;
ld.global.u8 %r3$c7, [%rd2$c7];
add.s32 %r5$c7, %r3$c7, %r1$c7;
add.s64 %rd3$c7, %rd6, %rd9$c7;
st.global.u8 [%rd3$c7], %r5$c7;
bra $strata_tail_c8;
$strata_tail_c8:
setp.lt.u32 %strata_t42, %strata_lane8, %strata_blocks;
@%strata_t42 bra $strata_tail_c8_0;
bra $strata_tail_c9;
$strata_tail_c8_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c8, %strata_lane8;
mul.wide.u32 %rd8$c8, %r7, %r9$c8;
add.s64 %rd9$c8, %rd8$c8, %rd7;
add.s64 %rd1$c8, %rd4, %rd9$c8;
mov.u32 %r4, 0;
ld.global.u8 %r1$c8, [%rd1$c8];
add.s64 %rd2$c8, %rd5, %rd9$c8;
ld.global.u8 %r3$c8, [%rd2$c8];
add.s32 %r5$c8, %r3$c8, %r1$c8;
add.s64 %rd3$c8, %rd6, %rd9$c8;
st.global.u8 [%rd3$c8], %r5$c8;
bra $strata_tail_c9;
$strata_tail_c9:
setp.lt.u32 %strata_t42, %strata_lane9, %strata_blocks;
@%strata_t42 bra $strata_tail_c9_0;
bra $strata_tail_c10;
$strata_tail_c9_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c9, %strata_lane9;
mul.wide.u32 %rd8$c9, %r7, %r9$c9;
add.s64 %rd9$c9, %rd8$c9, %rd7;
add.s64 %rd1$c9, %rd4, %rd9$c9;
mov.u32 %r4, 0;
ld.global.u8 %r1$c9, [%rd1$c9];
add.s64 %rd2$c9, %rd5, %rd9$c9;
ld.global.u8 %r3$c9, [%rd2$c9];
add.s32 %r5$c9, %r3$c9, %r1$c9;
add.s64 %rd3$c9, %rd6, %rd9$c9;
st.global.u8 [%rd3$c9], %r5$c9;
bra $strata_tail_c10;
$strata_tail_c10:
setp.lt.u32 %strata_t42, %strata_lane10, %strata_blocks;
@%strata_t42 bra $strata_tail_c10_0;
bra $strata_tail_c11;
$strata_tail_c10_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c10, %strata_lane10;
mul.wide.u32 %rd8$c10, %r7, %r9$c10;
add.s64 %rd9$c10, %rd8$c10, %rd7;
add.s64 %rd1$c10, %rd4, %rd9$c10;
mov.u32 %r4, 0;
ld.global.u8 %r1$c10, [%rd1$c10];
add.s64 %rd2$c10, %rd5, %rd9$c10;
ld.global.u8 %r3$c10, [%rd2$c10];
add.s32 %r5$c10, %r3$c10, %r1$c10;
add.s64 %rd3$c10, %rd6, %rd9$c10;
st.global.u8 [%rd3$c10], %r5$c10;
bra $strata_tail_c11;
$strata_tail_c11:
setp.lt.u32 %strata_t42, %strata_lane11, %strata_blocks;
@%strata_t42 bra $strata_tail_c11_0;
bra $strata_tail_c12;
$strata_tail_c11_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c11, %strata_lane11;
mul.wide.u32 %rd8$c11, %r7, %r9$c11;
add.s64 %rd9$c11, %rd8$c11, %rd7;
add.s64 %rd1$c11, %rd4, %rd9$c11;
mov.u32 %r4, 0;
ld.global.u8 %r1$c11, [%rd1$c11];
add.s64 %rd2$c11, %rd5, %rd9$c11;
ld.global.u8 %r3$c11, [%rd2$c11];
add.s32 %r5$c11, %r3$c11, %r1$c11;
add.s64 %rd3$c11, %rd6, %rd9$c11;
st.global.u8 [%rd3$c11], %r5$c11;
bra $strata_tail_c12;
$strata_tail_c12:
setp.lt.u32 %strata_t42, %strata_lane12, %strata_blocks;
@%strata_t42 bra $strata_tail_c12_0;
bra $strata_tail_c13;
$strata_tail_c12_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c12, %strata_lane12;
mul.wide.u32 %rd8$c12, %r7, %r9$c12;
add.s64 %rd9$c12, %rd8$c12, %rd7;
add.s64 %rd1$c12, %rd4, %rd9$c12;
mov.u32 %r4, 0;
ld.global.u8 %r1$c12, [%rd1$c12];
add.s64 %rd2$c12, %rd5, %rd9$c12;
ld.global.u8 %r3$c12, [%rd2$c12];
add.s32 %r5$c12, %r3$c12, %r1$c12;
add.s64 %rd3$c12, %rd6, %rd9$c12;
st.global.u8 [%rd3$c12], %r5$c12;
bra $strata_tail_c13;
$strata_tail_c13:
setp.lt.u32 %strata_t42, %strata_lane13, %strata_blocks;
@%strata_t42 bra $strata_tail_c13_0;
bra $strata_tail_c14;
$strata_tail_c13_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c13, %strata_lane13;
mul.wide.u32 %rd8$c13, %r7, %r9$c13;
add.s64 %rd9$c13, %rd8$c13, %rd7;
add.s64 %rd1$c13, %rd4, %rd9$c13;
mov.u32 %r4, 0;
ld.global.u8 %r1$c13, [%rd1$c13];
add.s64 %rd2$c13, %rd5, %rd9$c13;
ld.global.u8 %r3$c13, [%rd2$c13];
add.s32 %r5$c13, %r3$c13, %r1$c13;
add.s64 %rd3$c13, %rd6, %rd9$c13;
st.global.u8 [%rd3$c13], %r5$c13;
bra $strata_tail_c14;
$strata_tail_c14:
setp.lt.u32 %strata_t42, %strata_lane14, %strata_blocks;
@%strata_t42 bra $strata_tail_c14_0;
bra $strata_tail_c15;
$strata_tail_c14_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c14, %strata_lane14;
mul.wide.u32 %rd8$c14, %r7, %r9$c14;
add.s64 %rd9$c14, %rd8$c14, %rd7;
add.s64 %rd1$c14, %rd4, %rd9$c14;
mov.u32 %r4, 0;
ld.global.u8 %r1$c14, [%rd1$c14];
add.s64 %rd2$c14, %rd5, %rd9$c14;
ld.global.u8 %r3$c14, [%rd2$c14];
add.s32 %r5$c14, %r3$c14, %r1$c14;
add.s64 %rd3$c14, %rd6, %rd9$c14;
st.global.u8 [%rd3$c14], %r5$c14;
bra $strata_tail_c15;
$strata_tail_c15:
setp.lt.u32 %strata_t42, %strata_lane15, %strata_blocks;
@%strata_t42 bra $strata_tail_c15_0;
bra $strata_tail_c16;
$strata_tail_c15_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c15, %strata_lane15;
mul.wide.u32 %rd8$c15, %r7, %r9$c15;
add.s64 %rd9$c15, %rd8$c15, %rd7;
add.s64 %rd1$c15, %rd4, %rd9$c15;
mov.u32 %r4, 0;
ld.global.u8 %r1$c15, [%rd1$c15];
add.s64 %rd2$c15, %rd5, %rd9$c15;
ld.global.u8 %r3$c15, [%rd2$c15];
add.s32 %r5$c15, %r3$c15, %r1$c15;
add.s64 %rd3$c15, %rd6, %rd9$c15;
st.global.u8 [%rd3$c15], %r5$c15;
bra $strata_tail_c16;
$strata_tail_c16:
ret;
$strata_0:
ld.param.u64 %rd4, [short_words_1_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
add.s32 %r9$c1, %r9, 1;
add.s32 %r9$c2, %r9, 2;
add.s32 %r9$c3, %r9, 3;
add.s32 %r9$c4, %r9, 4;
add.s32 %r9$c5, %r9, 5;
add.s32 %r9$c6, %r9, 6;
add.s32 %r9$c7, %r9, 7;
add.s32 %r9$c8, %r9, 8;
add.s32 %r9$c9, %r9, 9;
add.s32 %r9$c10, %r9, 10;
add.s32 %r9$c11, %r9, 11;
add.s32 %r9$c12, %r9, 12;
add.s32 %r9$c13, %r9, 13;
add.s32 %r9$c14, %r9, 14;
add.s32 %r9$c15, %r9, 15;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd8$c2, %rd8, 2;
add.s64 %rd8$c3, %rd8, 3;
add.s64 %rd8$c4, %rd8, 4;
add.s64 %rd8$c5, %rd8, 5;
add.s64 %rd8$c6, %rd8, 6;
add.s64 %rd8$c7, %rd8, 7;
add.s64 %rd8$c8, %rd8, 8;
add.s64 %rd8$c9, %rd8, 9;
add.s64 %rd8$c10, %rd8, 10;
add.s64 %rd8$c11, %rd8, 11;
add.s64 %rd8$c12, %rd8, 12;
add.s64 %rd8$c13, %rd8, 13;
add.s64 %rd8$c14, %rd8, 14;
add.s64 %rd8$c15, %rd8, 15;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
add.s64 %rd9$c4, %rd9, 4;
add.s64 %rd9$c5, %rd9, 5;
add.s64 %rd9$c6, %rd9, 6;
add.s64 %rd9$c7, %rd9, 7;
add.s64 %rd9$c8, %rd9, 8;
add.s64 %rd9$c9, %rd9, 9;
add.s64 %rd9$c10, %rd9, 10;
add.s64 %rd9$c11, %rd9, 11;
add.s64 %rd9$c12, %rd9, 12;
add.s64 %rd9$c13, %rd9, 13;
add.s64 %rd9$c14, %rd9, 14;
add.s64 %rd9$c15, %rd9, 15;
add.s64 %rd1, %rd4, %rd9;
add.s64 %rd1$c1, %rd1, 1;
add.s64 %rd1$c2, %rd1, 2;
add.s64 %rd1$c3, %rd1, 3;
add.s64 %rd1$c4, %rd1, 4;
add.s64 %rd1$c5, %rd1, 5;
add.s64 %rd1$c6, %rd1, 6;
add.s64 %rd1$c7, %rd1, 7;
add.s64 %rd1$c8, %rd1, 8;
add.s64 %rd1$c9, %rd1, 9;
add.s64 %rd1$c10, %rd1, 10;
add.s64 %rd1$c11, %rd1, 11;
add.s64 %rd1$c12, %rd1, 12;
add.s64 %rd1$c13, %rd1, 13;
add.s64 %rd1$c14, %rd1, 14;
add.s64 %rd1$c15, %rd1, 15;
mov.u32 %r4, 0;
ld.global.v4.b32 {%strata_t0, %strata_t1, %strata_t2, %strata_t3}, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4440;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4441;
prmt.b32 %r1$c2, %strata_t0, 0, 0x4442;
prmt.b32 %r1$c3, %strata_t0, 0, 0x4443;
prmt.b32 %r1$c4, %strata_t1, 0, 0x4440;
prmt.b32 %r1$c5, %strata_t1, 0, 0x4441;
prmt.b32 %r1$c6, %strata_t1, 0, 0x4442;
prmt.b32 %r1$c7, %strata_t1, 0, 0x4443;
prmt.b32 %r1$c8, %strata_t2, 0, 0x4440;
prmt.b32 %r1$c9, %strata_t2, 0, 0x4441;
prmt.b32 %r1$c10, %strata_t2, 0, 0x4442;
prmt.b32 %r1$c11, %strata_t2, 0, 0x4443;
prmt.b32 %r1$c12, %strata_t3, 0, 0x4440;
prmt.b32 %r1$c13, %strata_t3, 0, 0x4441;
prmt.b32 %r1$c14, %strata_t3, 0, 0x4442;
prmt.b32 %r1$c15, %strata_t3, 0, 0x4443;
add.s64 %rd2, %rd5, %rd9;
add.s64 %rd2$c1, %rd2, 1;
add.s64 %rd2$c2, %rd2, 2;
add.s64 %rd2$c3, %rd2, 3;
add.s64 %rd2$c4, %rd2, 4;
add.s64 %rd2$c5, %rd2, 5;
add.s64 %rd2$c6, %rd2, 6;
add.s64 %rd2$c7, %rd2, 7;
add.s64 %rd2$c8, %rd2, 8;
add.s64 %rd2$c9, %rd2, 9;
add.s64 %rd2$c10, %rd2, 10;
add.s64 %rd2$c11, %rd2, 11;
add.s64 %rd2$c12, %rd2, 12;
add.s64 %rd2$c13, %rd2, 13;
add.s64 %rd2$c14, %rd2, 14;
add.s64 %rd2$c15, %rd2, 15;
ld.global.v4.b32 {%strata_t4, %strata_t5, %strata_t6, %strata_t7}, [%rd2+0];
prmt.b32 %r3, %strata_t4, 0, 0x4440;
prmt.b32 %r3$c1, %strata_t4, 0, 0x4441;
prmt.b32 %r3$c2, %strata_t4, 0, 0x4442;
prmt.b32 %r3$c3, %strata_t4, 0, 0x4443;
prmt.b32 %r3$c4, %strata_t5, 0, 0x4440;
prmt.b32 %r3$c5, %strata_t5, 0, 0x4441;
prmt.b32 %r3$c6, %strata_t5, 0, 0x4442;
prmt.b32 %r3$c7, %strata_t5, 0, 0x4443;
prmt.b32 %r3$c8, %strata_t6, 0, 0x4440;
prmt.b32 %r3$c9, %strata_t6, 0, 0x4441;
prmt.b32 %r3$c10, %strata_t6, 0, 0x4442;
prmt.b32 %r3$c11, %strata_t6, 0, 0x4443;
prmt.b32 %r3$c12, %strata_t7, 0, 0x4440;
prmt.b32 %r3$c13, %strata_t7, 0, 0x4441;
prmt.b32 %r3$c14, %strata_t7, 0, 0x4442;
prmt.b32 %r3$c15, %strata_t7, 0, 0x4443;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s32 %r5$c4, %r3$c4, %r1$c4;
add.s32 %r5$c5, %r3$c5, %r1$c5;
add.s32 %r5$c6, %r3$c6, %r1$c6;
add.s32 %r5$c7, %r3$c7, %r1$c7;
add.s32 %r5$c8, %r3$c8, %r1$c8;
add.s32 %r5$c9, %r3$c9, %r1$c9;
add.s32 %r5$c10, %r3$c10, %r1$c10;
add.s32 %r5$c11, %r3$c11, %r1$c11;
add.s32 %r5$c12, %r3$c12, %r1$c12;
add.s32 %r5$c13, %r3$c13, %r1$c13;
add.s32 %r5$c14, %r3$c14, %r1$c14;
add.s32 %r5$c15, %r3$c15, %r1$c15;
add.s64 %rd3, %rd6, %rd9;
add.s64 %rd3$c1, %rd3, 1;
add.s64 %rd3$c2, %rd3, 2;
add.s64 %rd3$c3, %rd3, 3;
add.s64 %rd3$c4, %rd3, 4;
add.s64 %rd3$c5, %rd3, 5;
add.s64 %rd3$c6, %rd3, 6;
add.s64 %rd3$c7, %rd3, 7;
add.s64 %rd3$c8, %rd3, 8;
add.s64 %rd3$c9, %rd3, 9;
add.s64 %rd3$c10, %rd3, 10;
add.s64 %rd3$c11, %rd3, 11;
add.s64 %rd3$c12, %rd3, 12;
add.s64 %rd3$c13, %rd3, 13;
add.s64 %rd3$c14, %rd3, 14;
add.s64 %rd3$c15, %rd3, 15;
mov.b32 %strata_t8, %r5;
mov.b32 %strata_t9, %r5$c1;
mov.b32 %strata_t10, %r5$c2;
mov.b32 %strata_t11, %r5$c3;
mov.b32 %strata_t12, %r5$c4;
mov.b32 %strata_t13, %r5$c5;
mov.b32 %strata_t14, %r5$c6;
mov.b32 %strata_t15, %r5$c7;
mov.b32 %strata_t16, %r5$c8;
mov.b32 %strata_t17, %r5$c9;
mov.b32 %strata_t18, %r5$c10;
mov.b32 %strata_t19, %r5$c11;
mov.b32 %strata_t20, %r5$c12;
mov.b32 %strata_t21, %r5$c13;
mov.b32 %strata_t22, %r5$c14;
mov.b32 %strata_t23, %r5$c15;
and.b32 %strata_t24, %strata_t8, 255;
bfi.b32 %strata_t25, %strata_t9, %strata_t24, 8, 8;
bfi.b32 %strata_t26, %strata_t10, %strata_t25, 16, 8;
bfi.b32 %strata_t27, %strata_t11, %strata_t26, 24, 8;
and.b32 %strata_t28, %strata_t12, 255;
bfi.b32 %strata_t29, %strata_t13, %strata_t28, 8, 8;
bfi.b32 %strata_t30, %strata_t14, %strata_t29, 16, 8;
bfi.b32 %strata_t31, %strata_t15, %strata_t30, 24, 8;
and.b32 %strata_t32, %strata_t16, 255;
bfi.b32 %strata_t33, %strata_t17, %strata_t32, 8, 8;
bfi.b32 %strata_t34, %strata_t18, %strata_t33, 16, 8;
bfi.b32 %strata_t35, %strata_t19, %strata_t34, 24, 8;
and.b32 %strata_t36, %strata_t20, 255;
bfi.b32 %strata_t37, %strata_t21, %strata_t36, 8, 8;
bfi.b32 %strata_t38, %strata_t22, %strata_t37, 16, 8;
bfi.b32 %strata_t39, %strata_t23, %strata_t38, 24, 8;
st.global.v4.b32 [%rd3$c15+-15], {%strata_t27, %strata_t31, %strata_t35, %strata_t39};
ret;
}
.visible .entry short_words_1_16_uncoalesced(
	.param .u64 short_words_1_16_uncoalesced_param_0,
	.param .u64 short_words_1_16_uncoalesced_param_1,
	.param .u64 short_words_1_16_uncoalesced_param_2,
	.param .u32 short_words_1_16_uncoalesced_param_3,
	.param .u32 short_words_1_16_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd4, [short_words_1_16_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_1_16_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_1_16_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_1_16_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_1_16_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	add.s64 	%rd1, %rd4, %rd9;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u8 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd9;
	// begin inline asm
	ld.global.u8 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd9;
	// begin inline asm
	st.global.u8 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_2_2_uncoalesced
.visible .entry short_words_2_2_uncoalesced_mended(.param .u64 short_words_2_2_uncoalesced_param_0 , .param .u64 short_words_2_2_uncoalesced_param_1 , .param .u64 short_words_2_2_uncoalesced_param_2 , .param .u32 short_words_2_2_uncoalesced_param_3 , .param .u32 short_words_2_2_uncoalesced_param_4 , .param .u32 short_words_2_2_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r3;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b64 %rd1;
.reg .b64 %rd10;
.reg .b64 %rd2;
.reg .b64 %rd3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_2_2_uncoalesced_strata_blocks];
mov.u32 %strata_t0, %tid.x;
mov.u32 %strata_t1, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t1, %strata_t0;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_2_2_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_2_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_2_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_2_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_2_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd1, %rd4, %rd10;
mov.u32 %r4, 0;
ld.global.u16 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd10;
ld.global.u16 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd10;
st.global.u16 [%rd3], %r5;
ret;
}
.visible .entry short_words_2_2_uncoalesced(
	.param .u64 short_words_2_2_uncoalesced_param_0,
	.param .u64 short_words_2_2_uncoalesced_param_1,
	.param .u64 short_words_2_2_uncoalesced_param_2,
	.param .u32 short_words_2_2_uncoalesced_param_3,
	.param .u32 short_words_2_2_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_2_2_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_2_2_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_2_2_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_2_2_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_2_2_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 1;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u16 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u16 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u16 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_2_4_uncoalesced
.visible .entry short_words_2_4_uncoalesced_mended(.param .u64 short_words_2_4_uncoalesced_param_0 , .param .u64 short_words_2_4_uncoalesced_param_1 , .param .u64 short_words_2_4_uncoalesced_param_2 , .param .u32 short_words_2_4_uncoalesced_param_3 , .param .u32 short_words_2_4_uncoalesced_param_4 , .param .u32 short_words_2_4_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %r9$c1;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .pred %strata_t8;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_2_4_uncoalesced_strata_blocks];
mov.u32 %strata_t6, %tid.x;
mov.u32 %strata_t7, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t7, %strata_t6;
shl.b32 %strata_lane0, %strata_lane0, 1;
add.u32 %strata_lane1, %strata_lane0, 1;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
setp.lt.u32 %strata_t8, %strata_lane1, %strata_blocks;
@%strata_t8 bra $strata_0;
setp.lt.u32 %strata_t8, %strata_lane0, %strata_blocks;
@%strata_t8 bra $strata_tail_c0_0;
bra $strata_tail_c1;
$strata_tail_c0_0:
ld.param.u64 %rd4, [short_words_2_4_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_4_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_4_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_4_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_4_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd1, %rd4, %rd10;
mov.u32 %r4, 0;
ld.global.u16 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd10;
ld.global.u16 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd10;
st.global.u16 [%rd3], %r5;
bra $strata_tail_c1;
$strata_tail_c1:
setp.lt.u32 %strata_t8, %strata_lane1, %strata_blocks;
@%strata_t8 bra $strata_tail_c1_0;
bra $strata_tail_c2;
$strata_tail_c1_0:
ld.param.u64 %rd4, [short_words_2_4_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_4_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_4_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_4_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_4_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c1, %strata_lane1;
mul.wide.u32 %rd8$c1, %r7, %r9$c1;
add.s64 %rd9$c1, %rd8$c1, %rd7;
shl.b64 %rd10$c1, %rd9$c1, 1;
add.s64 %rd1$c1, %rd4, %rd10$c1;
mov.u32 %r4, 0;
ld.global.u16 %r1$c1, [%rd1$c1];
add.s64 %rd2$c1, %rd5, %rd10$c1;
ld.global.u16 %r3$c1, [%rd2$c1];
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3$c1, %rd6, %rd10$c1;
st.global.u16 [%rd3$c1], %r5$c1;
bra $strata_tail_c2;
$strata_tail_c2:
ret;
$strata_0:
ld.param.u64 %rd4, [short_words_2_4_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_4_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_4_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_4_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_4_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
add.s32 %r9$c1, %r9, 1;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd10$c1, %rd10, 2;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 2;
mov.u32 %r4, 0;
ld.global.b32 %strata_t0, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4410;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4432;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 2;
ld.global.b32 %strata_t1, [%rd2+0];
prmt.b32 %r3, %strata_t1, 0, 0x4410;
prmt.b32 %r3$c1, %strata_t1, 0, 0x4432;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 2;
mov.b32 %strata_t2, %r5;
mov.b32 %strata_t3, %r5$c1;
and.b32 %strata_t4, %strata_t2, 65535;
bfi.b32 %strata_t5, %strata_t3, %strata_t4, 16, 16;
st.global.b32 [%rd3$c1+-2], %strata_t5;
ret;
}
.visible .entry short_words_2_4_uncoalesced(
	.param .u64 short_words_2_4_uncoalesced_param_0,
	.param .u64 short_words_2_4_uncoalesced_param_1,
	.param .u64 short_words_2_4_uncoalesced_param_2,
	.param .u32 short_words_2_4_uncoalesced_param_3,
	.param .u32 short_words_2_4_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_2_4_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_2_4_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_2_4_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_2_4_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_2_4_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 1;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u16 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u16 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u16 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_2_8_uncoalesced
.visible .entry short_words_2_8_uncoalesced_mended(.param .u64 short_words_2_8_uncoalesced_param_0 , .param .u64 short_words_2_8_uncoalesced_param_1 , .param .u64 short_words_2_8_uncoalesced_param_2 , .param .u32 short_words_2_8_uncoalesced_param_3 , .param .u32 short_words_2_8_uncoalesced_param_4 , .param .u32 short_words_2_8_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %r9$c1;
.reg .b32 %r9$c2;
.reg .b32 %r9$c3;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd10$c2;
.reg .b64 %rd10$c3;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd8$c2;
.reg .b64 %rd8$c3;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .pred %strata_t14;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_2_8_uncoalesced_strata_blocks];
mov.u32 %strata_t12, %tid.x;
mov.u32 %strata_t13, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t13, %strata_t12;
shl.b32 %strata_lane0, %strata_lane0, 2;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
setp.lt.u32 %strata_t14, %strata_lane3, %strata_blocks;
@%strata_t14 bra $strata_0;
setp.lt.u32 %strata_t14, %strata_lane0, %strata_blocks;
@%strata_t14 bra $strata_tail_c0_0;
bra $strata_tail_c1;
$strata_tail_c0_0:
ld.param.u64 %rd4, [short_words_2_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd1, %rd4, %rd10;
mov.u32 %r4, 0;
ld.global.u16 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd10;
ld.global.u16 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd10;
st.global.u16 [%rd3], %r5;
bra $strata_tail_c1;
$strata_tail_c1:
setp.lt.u32 %strata_t14, %strata_lane1, %strata_blocks;
@%strata_t14 bra $strata_tail_c1_0;
bra $strata_tail_c2;
$strata_tail_c1_0:
ld.param.u64 %rd4, [short_words_2_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c1, %strata_lane1;
mul.wide.u32 %rd8$c1, %r7, %r9$c1;
add.s64 %rd9$c1, %rd8$c1, %rd7;
shl.b64 %rd10$c1, %rd9$c1, 1;
add.s64 %rd1$c1, %rd4, %rd10$c1;
mov.u32 %r4, 0;
ld.global.u16 %r1$c1, [%rd1$c1];
add.s64 %rd2$c1, %rd5, %rd10$c1;
ld.global.u16 %r3$c1, [%rd2$c1];
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3$c1, %rd6, %rd10$c1;
st.global.u16 [%rd3$c1], %r5$c1;
bra $strata_tail_c2;
$strata_tail_c2:
setp.lt.u32 %strata_t14, %strata_lane2, %strata_blocks;
@%strata_t14 bra $strata_tail_c2_0;
bra $strata_tail_c3;
$strata_tail_c2_0:
ld.param.u64 %rd4, [short_words_2_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c2, %strata_lane2;
mul.wide.u32 %rd8$c2, %r7, %r9$c2;
add.s64 %rd9$c2, %rd8$c2, %rd7;
shl.b64 %rd10$c2, %rd9$c2, 1;
add.s64 %rd1$c2, %rd4, %rd10$c2;
mov.u32 %r4, 0;
ld.global.u16 %r1$c2, [%rd1$c2];
add.s64 %rd2$c2, %rd5, %rd10$c2;
ld.global.u16 %r3$c2, [%rd2$c2];
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s64 %rd3$c2, %rd6, %rd10$c2;
st.global.u16 [%rd3$c2], %r5$c2;
bra $strata_tail_c3;
$strata_tail_c3:
setp.lt.u32 %strata_t14, %strata_lane3, %strata_blocks;
@%strata_t14 bra $strata_tail_c3_0;
bra $strata_tail_c4;
$strata_tail_c3_0:
ld.param.u64 %rd4, [short_words_2_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c3, %strata_lane3;
mul.wide.u32 %rd8$c3, %r7, %r9$c3;
add.s64 %rd9$c3, %rd8$c3, %rd7;
shl.b64 %rd10$c3, %rd9$c3, 1;
add.s64 %rd1$c3, %rd4, %rd10$c3;
mov.u32 %r4, 0;
ld.global.u16 %r1$c3, [%rd1$c3];
add.s64 %rd2$c3, %rd5, %rd10$c3;
ld.global.u16 %r3$c3, [%rd2$c3];
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3$c3, %rd6, %rd10$c3;
st.global.u16 [%rd3$c3], %r5$c3;
bra $strata_tail_c4;
$strata_tail_c4:
ret;
$strata_0:
ld.param.u64 %rd4, [short_words_2_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
add.s32 %r9$c1, %r9, 1;
add.s32 %r9$c2, %r9, 2;
add.s32 %r9$c3, %r9, 3;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd8$c2, %rd8, 2;
add.s64 %rd8$c3, %rd8, 3;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd10$c1, %rd10, 2;
add.s64 %rd10$c2, %rd10, 4;
add.s64 %rd10$c3, %rd10, 6;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 2;
add.s64 %rd1$c2, %rd1, 4;
add.s64 %rd1$c3, %rd1, 6;
mov.u32 %r4, 0;
ld.global.v2.b32 {%strata_t0, %strata_t1}, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4410;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4432;
prmt.b32 %r1$c2, %strata_t1, 0, 0x4410;
prmt.b32 %r1$c3, %strata_t1, 0, 0x4432;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 2;
add.s64 %rd2$c2, %rd2, 4;
add.s64 %rd2$c3, %rd2, 6;
ld.global.v2.b32 {%strata_t2, %strata_t3}, [%rd2+0];
prmt.b32 %r3, %strata_t2, 0, 0x4410;
prmt.b32 %r3$c1, %strata_t2, 0, 0x4432;
prmt.b32 %r3$c2, %strata_t3, 0, 0x4410;
prmt.b32 %r3$c3, %strata_t3, 0, 0x4432;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 2;
add.s64 %rd3$c2, %rd3, 4;
add.s64 %rd3$c3, %rd3, 6;
mov.b32 %strata_t4, %r5;
mov.b32 %strata_t5, %r5$c1;
mov.b32 %strata_t6, %r5$c2;
mov.b32 %strata_t7, %r5$c3;
and.b32 %strata_t8, %strata_t4, 65535;
bfi.b32 %strata_t9, %strata_t5, %strata_t8, 16, 16;
and.b32 %strata_t10, %strata_t6, 65535;
bfi.b32 %strata_t11, %strata_t7, %strata_t10, 16, 16;
st.global.v2.b32 [%rd3$c3+-6], {%strata_t9, %strata_t11};
ret;
}
.visible .entry short_words_2_8_uncoalesced(
	.param .u64 short_words_2_8_uncoalesced_param_0,
	.param .u64 short_words_2_8_uncoalesced_param_1,
	.param .u64 short_words_2_8_uncoalesced_param_2,
	.param .u32 short_words_2_8_uncoalesced_param_3,
	.param .u32 short_words_2_8_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_2_8_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_2_8_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_2_8_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_2_8_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_2_8_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 1;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u16 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u16 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u16 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_2_16_uncoalesced
.visible .entry short_words_2_16_uncoalesced_mended(.param .u64 short_words_2_16_uncoalesced_param_0 , .param .u64 short_words_2_16_uncoalesced_param_1 , .param .u64 short_words_2_16_uncoalesced_param_2 , .param .u32 short_words_2_16_uncoalesced_param_3 , .param .u32 short_words_2_16_uncoalesced_param_4 , .param .u32 short_words_2_16_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r1$c4;
.reg .b32 %r1$c5;
.reg .b32 %r1$c6;
.reg .b32 %r1$c7;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r3$c4;
.reg .b32 %r3$c5;
.reg .b32 %r3$c6;
.reg .b32 %r3$c7;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r5$c4;
.reg .b32 %r5$c5;
.reg .b32 %r5$c6;
.reg .b32 %r5$c7;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %r9$c1;
.reg .b32 %r9$c2;
.reg .b32 %r9$c3;
.reg .b32 %r9$c4;
.reg .b32 %r9$c5;
.reg .b32 %r9$c6;
.reg .b32 %r9$c7;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_lane4;
.reg .b32 %strata_lane5;
.reg .b32 %strata_lane6;
.reg .b32 %strata_lane7;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t15;
.reg .b32 %strata_t16;
.reg .b32 %strata_t17;
.reg .b32 %strata_t18;
.reg .b32 %strata_t19;
.reg .b32 %strata_t2;
.reg .b32 %strata_t20;
.reg .b32 %strata_t21;
.reg .b32 %strata_t22;
.reg .b32 %strata_t23;
.reg .b32 %strata_t24;
.reg .b32 %strata_t25;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd1$c4;
.reg .b64 %rd1$c5;
.reg .b64 %rd1$c6;
.reg .b64 %rd1$c7;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd10$c2;
.reg .b64 %rd10$c3;
.reg .b64 %rd10$c4;
.reg .b64 %rd10$c5;
.reg .b64 %rd10$c6;
.reg .b64 %rd10$c7;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd2$c4;
.reg .b64 %rd2$c5;
.reg .b64 %rd2$c6;
.reg .b64 %rd2$c7;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd3$c4;
.reg .b64 %rd3$c5;
.reg .b64 %rd3$c6;
.reg .b64 %rd3$c7;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd8$c2;
.reg .b64 %rd8$c3;
.reg .b64 %rd8$c4;
.reg .b64 %rd8$c5;
.reg .b64 %rd8$c6;
.reg .b64 %rd8$c7;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .b64 %rd9$c4;
.reg .b64 %rd9$c5;
.reg .b64 %rd9$c6;
.reg .b64 %rd9$c7;
.reg .pred %strata_t26;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_2_16_uncoalesced_strata_blocks];
mov.u32 %strata_t24, %tid.x;
mov.u32 %strata_t25, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t25, %strata_t24;
shl.b32 %strata_lane0, %strata_lane0, 3;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
add.u32 %strata_lane4, %strata_lane0, 4;
add.u32 %strata_lane5, %strata_lane0, 5;
add.u32 %strata_lane6, %strata_lane0, 6;
add.u32 %strata_lane7, %strata_lane0, 7;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
setp.lt.u32 %strata_t26, %strata_lane7, %strata_blocks;
@%strata_t26 bra $strata_0;
setp.lt.u32 %strata_t26, %strata_lane0, %strata_blocks;
@%strata_t26 bra $strata_tail_c0_0;
bra $strata_tail_c1;
$strata_tail_c0_0:
ld.param.u64 %rd4, [short_words_2_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd1, %rd4, %rd10;
mov.u32 %r4, 0;
ld.global.u16 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd10;
ld.global.u16 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd10;
st.global.u16 [%rd3], %r5;
bra $strata_tail_c1;
$strata_tail_c1:
setp.lt.u32 %strata_t26, %strata_lane1, %strata_blocks;
@%strata_t26 bra $strata_tail_c1_0;
bra $strata_tail_c2;
$strata_tail_c1_0:
ld.param.u64 %rd4, [short_words_2_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c1, %strata_lane1;
mul.wide.u32 %rd8$c1, %r7, %r9$c1;
add.s64 %rd9$c1, %rd8$c1, %rd7;
shl.b64 %rd10$c1, %rd9$c1, 1;
add.s64 %rd1$c1, %rd4, %rd10$c1;
mov.u32 %r4, 0;
ld.global.u16 %r1$c1, [%rd1$c1];
add.s64 %rd2$c1, %rd5, %rd10$c1;
ld.global.u16 %r3$c1, [%rd2$c1];
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3$c1, %rd6, %rd10$c1;
st.global.u16 [%rd3$c1], %r5$c1;
bra $strata_tail_c2;
$strata_tail_c2:
setp.lt.u32 %strata_t26, %strata_lane2, %strata_blocks;
@%strata_t26 bra $strata_tail_c2_0;
bra $strata_tail_c3;
$strata_tail_c2_0:
ld.param.u64 %rd4, [short_words_2_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c2, %strata_lane2;
mul.wide.u32 %rd8$c2, %r7, %r9$c2;
add.s64 %rd9$c2, %rd8$c2, %rd7;
shl.b64 %rd10$c2, %rd9$c2, 1;
add.s64 %rd1$c2, %rd4, %rd10$c2;
mov.u32 %r4, 0;
ld.global.u16 %r1$c2, [%rd1$c2];
add.s64 %rd2$c2, %rd5, %rd10$c2;
ld.global.u16 %r3$c2, [%rd2$c2];
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s64 %rd3$c2, %rd6, %rd10$c2;
st.global.u16 [%rd3$c2], %r5$c2;
bra $strata_tail_c3;
$strata_tail_c3:
setp.lt.u32 %strata_t26, %strata_lane3, %strata_blocks;
@%strata_t26 bra $strata_tail_c3_0;
bra $strata_tail_c4;
$strata_tail_c3_0:
ld.param.u64 %rd4, [short_words_2_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c3, %strata_lane3;
mul.wide.u32 %rd8$c3, %r7, %r9$c3;
add.s64 %rd9$c3, %rd8$c3, %rd7;
shl.b64 %rd10$c3, %rd9$c3, 1;
add.s64 %rd1$c3, %rd4, %rd10$c3;
mov.u32 %r4, 0;
ld.global.u16 %r1$c3, [%rd1$c3];
add.s64 %rd2$c3, %rd5, %rd10$c3;
ld.global.u16 %r3$c3, [%rd2$c3];
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3$c3, %rd6, %rd10$c3;
st.global.u16 [%rd3$c3], %r5$c3;
bra $strata_tail_c4;
$strata_tail_c4:
setp.lt.u32 %strata_t26, %strata_lane4, %strata_blocks;
@%strata_t26 bra $strata_tail_c4_0;
bra $strata_tail_c5;
$strata_tail_c4_0:
ld.param.u64 %rd4, [short_words_2_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c4, %strata_lane4;
mul.wide.u32 %rd8$c4, %r7, %r9$c4;
add.s64 %rd9$c4, %rd8$c4, %rd7;
shl.b64 %rd10$c4, %rd9$c4, 1;
add.s64 %rd1$c4, %rd4, %rd10$c4;
mov.u32 %r4, 0;
ld.global.u16 %r1$c4, [%rd1$c4];
add.s64 %rd2$c4, %rd5, %rd10$c4;
ld.global.u16 %r3$c4, [%rd2$c4];
add.s32 %r5$c4, %r3$c4, %r1$c4;
add.s64 %rd3$c4, %rd6, %rd10$c4;
st.global.u16 [%rd3$c4], %r5$c4;
bra $strata_tail_c5;
$strata_tail_c5:
setp.lt.u32 %strata_t26, %strata_lane5, %strata_blocks;
@%strata_t26 bra $strata_tail_c5_0;
bra $strata_tail_c6;
$strata_tail_c5_0:
ld.param.u64 %rd4, [short_words_2_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c5, %strata_lane5;
mul.wide.u32 %rd8$c5, %r7, %r9$c5;
add.s64 %rd9$c5, %rd8$c5, %rd7;
shl.b64 %rd10$c5, %rd9$c5, 1;
add.s64 %rd1$c5, %rd4, %rd10$c5;
mov.u32 %r4, 0;
ld.global.u16 %r1$c5, [%rd1$c5];
add.s64 %rd2$c5, %rd5, %rd10$c5;
ld.global.u16 %r3$c5, [%rd2$c5];
add.s32 %r5$c5, %r3$c5, %r1$c5;
add.s64 %rd3$c5, %rd6, %rd10$c5;
st.global.u16 [%rd3$c5], %r5$c5;
bra $strata_tail_c6;
$strata_tail_c6:
setp.lt.u32 %strata_t26, %strata_lane6, %strata_blocks;
@%strata_t26 bra $strata_tail_c6_0;
bra $strata_tail_c7;
$strata_tail_c6_0:
ld.param.u64 %rd4, [short_words_2_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c6, %strata_lane6;
mul.wide.u32 %rd8$c6, %r7, %r9$c6;
add.s64 %rd9$c6, %rd8$c6, %rd7;
shl.b64 %rd10$c6, %rd9$c6, 1;
add.s64 %rd1$c6, %rd4, %rd10$c6;
mov.u32 %r4, 0;
ld.global.u16 %r1$c6, [%rd1$c6];
add.s64 %rd2$c6, %rd5, %rd10$c6;
ld.global.u16 %r3$c6, [%rd2$c6];
add.s32 %r5$c6, %r3$c6, %r1$c6;
add.s64 %rd3$c6, %rd6, %rd10$c6;
st.global.u16 [%rd3$c6], %r5$c6;
bra $strata_tail_c7;
$strata_tail_c7:
setp.lt.u32 %strata_t26, %strata_lane7, %strata_blocks;
@%strata_t26 bra $strata_tail_c7_0;
bra $strata_tail_c8;
$strata_tail_c7_0:
ld.param.u64 %rd4, [short_words_2_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c7, %strata_lane7;
mul.wide.u32 %rd8$c7, %r7, %r9$c7;
add.s64 %rd9$c7, %rd8$c7, %rd7;
shl.b64 %rd10$c7, %rd9$c7, 1;
add.s64 %rd1$c7, %rd4, %rd10$c7;
mov.u32 %r4, 0;
ld.global.u16 %r1$c7, [%rd1$c7];
add.s64 %rd2$c7, %rd5, %rd10$c7;
ld.global.u16 %r3$c7, [%rd2$c7];
add.s32 %r5$c7, %r3$c7, %r1$c7;
add.s64 %rd3$c7, %rd6, %rd10$c7;
st.global.u16 [%rd3$c7], %r5$c7;
bra $strata_tail_c8;
$strata_tail_c8:
ret;
$strata_0:
ld.param.u64 %rd4, [short_words_2_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
add.s32 %r9$c1, %r9, 1;
add.s32 %r9$c2, %r9, 2;
add.s32 %r9$c3, %r9, 3;
add.s32 %r9$c4, %r9, 4;
add.s32 %r9$c5, %r9, 5;
add.s32 %r9$c6, %r9, 6;
add.s32 %r9$c7, %r9, 7;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd8$c2, %rd8, 2;
add.s64 %rd8$c3, %rd8, 3;
add.s64 %rd8$c4, %rd8, 4;
add.s64 %rd8$c5, %rd8, 5;
add.s64 %rd8$c6, %rd8, 6;
add.s64 %rd8$c7, %rd8, 7;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
add.s64 %rd9$c4, %rd9, 4;
add.s64 %rd9$c5, %rd9, 5;
add.s64 %rd9$c6, %rd9, 6;
add.s64 %rd9$c7, %rd9, 7;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd10$c1, %rd10, 2;
add.s64 %rd10$c2, %rd10, 4;
add.s64 %rd10$c3, %rd10, 6;
add.s64 %rd10$c4, %rd10, 8;
add.s64 %rd10$c5, %rd10, 10;
add.s64 %rd10$c6, %rd10, 12;
add.s64 %rd10$c7, %rd10, 14;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 2;
add.s64 %rd1$c2, %rd1, 4;
add.s64 %rd1$c3, %rd1, 6;
add.s64 %rd1$c4, %rd1, 8;
add.s64 %rd1$c5, %rd1, 10;
add.s64 %rd1$c6, %rd1, 12;
add.s64 %rd1$c7, %rd1, 14;
mov.u32 %r4, 0;
ld.global.v4.b32 {%strata_t0, %strata_t1, %strata_t2, %strata_t3}, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4410;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4432;
prmt.b32 %r1$c2, %strata_t1, 0, 0x4410;
prmt.b32 %r1$c3, %strata_t1, 0, 0x4432;
prmt.b32 %r1$c4, %strata_t2, 0, 0x4410;
prmt.b32 %r1$c5, %strata_t2, 0, 0x4432;
prmt.b32 %r1$c6, %strata_t3, 0, 0x4410;
prmt.b32 %r1$c7, %strata_t3, 0, 0x4432;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 2;
add.s64 %rd2$c2, %rd2, 4;
add.s64 %rd2$c3, %rd2, 6;
add.s64 %rd2$c4, %rd2, 8;
add.s64 %rd2$c5, %rd2, 10;
add.s64 %rd2$c6, %rd2, 12;
add.s64 %rd2$c7, %rd2, 14;
ld.global.v4.b32 {%strata_t4, %strata_t5, %strata_t6, %strata_t7}, [%rd2+0];
prmt.b32 %r3, %strata_t4, 0, 0x4410;
prmt.b32 %r3$c1, %strata_t4, 0, 0x4432;
prmt.b32 %r3$c2, %strata_t5, 0, 0x4410;
prmt.b32 %r3$c3, %strata_t5, 0, 0x4432;
prmt.b32 %r3$c4, %strata_t6, 0, 0x4410;
prmt.b32 %r3$c5, %strata_t6, 0, 0x4432;
prmt.b32 %r3$c6, %strata_t7, 0, 0x4410;
prmt.b32 %r3$c7, %strata_t7, 0, 0x4432;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s32 %r5$c4, %r3$c4, %r1$c4;
add.s32 %r5$c5, %r3$c5, %r1$c5;
add.s32 %r5$c6, %r3$c6, %r1$c6;
add.s32 %r5$c7, %r3$c7, %r1$c7;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 2;
add.s64 %rd3$c2, %rd3, 4;
add.s64 %rd3$c3, %rd3, 6;
add.s64 %rd3$c4, %rd3, 8;
add.s64 %rd3$c5, %rd3, 10;
add.s64 %rd3$c6, %rd3, 12;
add.s64 %rd3$c7, %rd3, 14;
mov.b32 %strata_t8, %r5;
mov.b32 %strata_t9, %r5$c1;
mov.b32 %strata_t10, %r5$c2;
mov.b32 %strata_t11, %r5$c3;
mov.b32 %strata_t12, %r5$c4;
mov.b32 %strata_t13, %r5$c5;
mov.b32 %strata_t14, %r5$c6;
mov.b32 %strata_t15, %r5$c7;
and.b32 %strata_t16, %strata_t8, 65535;
bfi.b32 %strata_t17, %strata_t9, %strata_t16, 16, 16;
and.b32 %strata_t18, %strata_t10, 65535;
bfi.b32 %strata_t19, %strata_t11, %strata_t18, 16, 16;
and.b32 %strata_t20, %strata_t12, 65535;
bfi.b32 %strata_t21, %strata_t13, %strata_t20, 16, 16;
and.b32 %strata_t22, %strata_t14, 65535;
bfi.b32 %strata_t23, %strata_t15, %strata_t22, 16, 16;
st.global.v4.b32 [%rd3$c7+-14], {%strata_t17, %strata_t19, %strata_t21, %strata_t23};
ret;
}
.visible .entry short_words_2_16_uncoalesced(
	.param .u64 short_words_2_16_uncoalesced_param_0,
	.param .u64 short_words_2_16_uncoalesced_param_1,
	.param .u64 short_words_2_16_uncoalesced_param_2,
	.param .u32 short_words_2_16_uncoalesced_param_3,
	.param .u32 short_words_2_16_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_2_16_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_2_16_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_2_16_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_2_16_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_2_16_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 1;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u16 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u16 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u16 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_4_4_uncoalesced
.visible .entry short_words_4_4_uncoalesced_mended(.param .u64 short_words_4_4_uncoalesced_param_0 , .param .u64 short_words_4_4_uncoalesced_param_1 , .param .u64 short_words_4_4_uncoalesced_param_2 , .param .u32 short_words_4_4_uncoalesced_param_3 , .param .u32 short_words_4_4_uncoalesced_param_4 , .param .u32 short_words_4_4_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r3;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b64 %rd1;
.reg .b64 %rd10;
.reg .b64 %rd2;
.reg .b64 %rd3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_4_4_uncoalesced_strata_blocks];
mov.u32 %strata_t0, %tid.x;
mov.u32 %strata_t1, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t1, %strata_t0;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_4_4_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_4_4_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_4_4_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_4_4_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_4_4_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
shl.b64 %rd10, %rd9, 2;
add.s64 %rd1, %rd4, %rd10;
mov.u32 %r4, 0;
ld.global.u32 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd10;
ld.global.u32 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd10;
st.global.u32 [%rd3], %r5;
ret;
}
.visible .entry short_words_4_4_uncoalesced(
	.param .u64 short_words_4_4_uncoalesced_param_0,
	.param .u64 short_words_4_4_uncoalesced_param_1,
	.param .u64 short_words_4_4_uncoalesced_param_2,
	.param .u32 short_words_4_4_uncoalesced_param_3,
	.param .u32 short_words_4_4_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_4_4_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_4_4_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_4_4_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_4_4_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_4_4_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 2;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u32 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u32 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u32 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_4_8_uncoalesced
.visible .entry short_words_4_8_uncoalesced_mended(.param .u64 short_words_4_8_uncoalesced_param_0 , .param .u64 short_words_4_8_uncoalesced_param_1 , .param .u64 short_words_4_8_uncoalesced_param_2 , .param .u32 short_words_4_8_uncoalesced_param_3 , .param .u32 short_words_4_8_uncoalesced_param_4 , .param .u32 short_words_4_8_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %r9$c1;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .pred %strata_t8;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_4_8_uncoalesced_strata_blocks];
mov.u32 %strata_t6, %tid.x;
mov.u32 %strata_t7, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t7, %strata_t6;
shl.b32 %strata_lane0, %strata_lane0, 1;
add.u32 %strata_lane1, %strata_lane0, 1;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
setp.lt.u32 %strata_t8, %strata_lane1, %strata_blocks;
@%strata_t8 bra $strata_0;
setp.lt.u32 %strata_t8, %strata_lane0, %strata_blocks;
@%strata_t8 bra $strata_tail_c0_0;
bra $strata_tail_c1;
$strata_tail_c0_0:
ld.param.u64 %rd4, [short_words_4_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_4_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_4_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_4_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_4_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
shl.b64 %rd10, %rd9, 2;
add.s64 %rd1, %rd4, %rd10;
mov.u32 %r4, 0;
ld.global.u32 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd10;
ld.global.u32 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd10;
st.global.u32 [%rd3], %r5;
bra $strata_tail_c1;
$strata_tail_c1:
setp.lt.u32 %strata_t8, %strata_lane1, %strata_blocks;
@%strata_t8 bra $strata_tail_c1_0;
bra $strata_tail_c2;
$strata_tail_c1_0:
ld.param.u64 %rd4, [short_words_4_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_4_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_4_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_4_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_4_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c1, %strata_lane1;
mul.wide.u32 %rd8$c1, %r7, %r9$c1;
add.s64 %rd9$c1, %rd8$c1, %rd7;
shl.b64 %rd10$c1, %rd9$c1, 2;
add.s64 %rd1$c1, %rd4, %rd10$c1;
mov.u32 %r4, 0;
ld.global.u32 %r1$c1, [%rd1$c1];
add.s64 %rd2$c1, %rd5, %rd10$c1;
ld.global.u32 %r3$c1, [%rd2$c1];
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3$c1, %rd6, %rd10$c1;
st.global.u32 [%rd3$c1], %r5$c1;
bra $strata_tail_c2;
$strata_tail_c2:
ret;
$strata_0:
ld.param.u64 %rd4, [short_words_4_8_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_4_8_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_4_8_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_4_8_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_4_8_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
add.s32 %r9$c1, %r9, 1;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
shl.b64 %rd10, %rd9, 2;
add.s64 %rd10$c1, %rd10, 4;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 4;
mov.u32 %r4, 0;
ld.global.v2.b32 {%strata_t0, %strata_t1}, [%rd1+0];
mov.b32 %r1, %strata_t0;
mov.b32 %r1$c1, %strata_t1;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 4;
ld.global.v2.b32 {%strata_t2, %strata_t3}, [%rd2+0];
mov.b32 %r3, %strata_t2;
mov.b32 %r3$c1, %strata_t3;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 4;
mov.b32 %strata_t4, %r5;
mov.b32 %strata_t5, %r5$c1;
st.global.v2.b32 [%rd3$c1+-4], {%strata_t4, %strata_t5};
ret;
}
.visible .entry short_words_4_8_uncoalesced(
	.param .u64 short_words_4_8_uncoalesced_param_0,
	.param .u64 short_words_4_8_uncoalesced_param_1,
	.param .u64 short_words_4_8_uncoalesced_param_2,
	.param .u32 short_words_4_8_uncoalesced_param_3,
	.param .u32 short_words_4_8_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_4_8_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_4_8_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_4_8_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_4_8_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_4_8_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 2;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u32 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u32 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u32 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_4_16_uncoalesced
.visible .entry short_words_4_16_uncoalesced_mended(.param .u64 short_words_4_16_uncoalesced_param_0 , .param .u64 short_words_4_16_uncoalesced_param_1 , .param .u64 short_words_4_16_uncoalesced_param_2 , .param .u32 short_words_4_16_uncoalesced_param_3 , .param .u32 short_words_4_16_uncoalesced_param_4 , .param .u32 short_words_4_16_uncoalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r9;
.reg .b32 %r9$c1;
.reg .b32 %r9$c2;
.reg .b32 %r9$c3;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd10$c2;
.reg .b64 %rd10$c3;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd8;
.reg .b64 %rd8$c1;
.reg .b64 %rd8$c2;
.reg .b64 %rd8$c3;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .pred %strata_t14;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_4_16_uncoalesced_strata_blocks];
mov.u32 %strata_t12, %tid.x;
mov.u32 %strata_t13, %ntid.x;
mov.u32 %strata_lane0, %ctaid.x;
mad.lo.u32 %strata_lane0, %strata_lane0, %strata_t13, %strata_t12;
shl.b32 %strata_lane0, %strata_lane0, 2;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
setp.ge.u32 %strata_none, %strata_lane0, %strata_blocks;
@%strata_none ret;
setp.lt.u32 %strata_t14, %strata_lane3, %strata_blocks;
@%strata_t14 bra $strata_0;
setp.lt.u32 %strata_t14, %strata_lane0, %strata_blocks;
@%strata_t14 bra $strata_tail_c0_0;
bra $strata_tail_c1;
$strata_tail_c0_0:
ld.param.u64 %rd4, [short_words_4_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_4_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_4_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_4_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_4_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
shl.b64 %rd10, %rd9, 2;
add.s64 %rd1, %rd4, %rd10;
mov.u32 %r4, 0;
ld.global.u32 %r1, [%rd1];
add.s64 %rd2, %rd5, %rd10;
ld.global.u32 %r3, [%rd2];
add.s32 %r5, %r3, %r1;
add.s64 %rd3, %rd6, %rd10;
st.global.u32 [%rd3], %r5;
bra $strata_tail_c1;
$strata_tail_c1:
setp.lt.u32 %strata_t14, %strata_lane1, %strata_blocks;
@%strata_t14 bra $strata_tail_c1_0;
bra $strata_tail_c2;
$strata_tail_c1_0:
ld.param.u64 %rd4, [short_words_4_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_4_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_4_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_4_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_4_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c1, %strata_lane1;
mul.wide.u32 %rd8$c1, %r7, %r9$c1;
add.s64 %rd9$c1, %rd8$c1, %rd7;
shl.b64 %rd10$c1, %rd9$c1, 2;
add.s64 %rd1$c1, %rd4, %rd10$c1;
mov.u32 %r4, 0;
ld.global.u32 %r1$c1, [%rd1$c1];
add.s64 %rd2$c1, %rd5, %rd10$c1;
ld.global.u32 %r3$c1, [%rd2$c1];
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3$c1, %rd6, %rd10$c1;
st.global.u32 [%rd3$c1], %r5$c1;
bra $strata_tail_c2;
$strata_tail_c2:
setp.lt.u32 %strata_t14, %strata_lane2, %strata_blocks;
@%strata_t14 bra $strata_tail_c2_0;
bra $strata_tail_c3;
$strata_tail_c2_0:
ld.param.u64 %rd4, [short_words_4_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_4_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_4_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_4_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_4_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c2, %strata_lane2;
mul.wide.u32 %rd8$c2, %r7, %r9$c2;
add.s64 %rd9$c2, %rd8$c2, %rd7;
shl.b64 %rd10$c2, %rd9$c2, 2;
add.s64 %rd1$c2, %rd4, %rd10$c2;
mov.u32 %r4, 0;
ld.global.u32 %r1$c2, [%rd1$c2];
add.s64 %rd2$c2, %rd5, %rd10$c2;
ld.global.u32 %r3$c2, [%rd2$c2];
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s64 %rd3$c2, %rd6, %rd10$c2;
st.global.u32 [%rd3$c2], %r5$c2;
bra $strata_tail_c3;
$strata_tail_c3:
setp.lt.u32 %strata_t14, %strata_lane3, %strata_blocks;
@%strata_t14 bra $strata_tail_c3_0;
bra $strata_tail_c4;
$strata_tail_c3_0:
ld.param.u64 %rd4, [short_words_4_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_4_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_4_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_4_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_4_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9$c3, %strata_lane3;
mul.wide.u32 %rd8$c3, %r7, %r9$c3;
add.s64 %rd9$c3, %rd8$c3, %rd7;
shl.b64 %rd10$c3, %rd9$c3, 2;
add.s64 %rd1$c3, %rd4, %rd10$c3;
mov.u32 %r4, 0;
ld.global.u32 %r1$c3, [%rd1$c3];
add.s64 %rd2$c3, %rd5, %rd10$c3;
ld.global.u32 %r3$c3, [%rd2$c3];
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3$c3, %rd6, %rd10$c3;
st.global.u32 [%rd3$c3], %r5$c3;
bra $strata_tail_c4;
$strata_tail_c4:
ret;
$strata_0:
ld.param.u64 %rd4, [short_words_4_16_uncoalesced_param_0];
ld.param.u64 %rd5, [short_words_4_16_uncoalesced_param_1];
ld.param.u64 %rd6, [short_words_4_16_uncoalesced_param_2];
ld.param.u32 %r6, [short_words_4_16_uncoalesced_param_3];
ld.param.u32 %r7, [short_words_4_16_uncoalesced_param_4];
mov.u32 %r8, %ctaid.z;
mul.wide.u32 %rd7, %r6, %r8;
mov.u32 %r9, %strata_lane0;
add.s32 %r9$c1, %r9, 1;
add.s32 %r9$c2, %r9, 2;
add.s32 %r9$c3, %r9, 3;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd8$c1, %rd8, 1;
add.s64 %rd8$c2, %rd8, 2;
add.s64 %rd8$c3, %rd8, 3;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
shl.b64 %rd10, %rd9, 2;
add.s64 %rd10$c1, %rd10, 4;
add.s64 %rd10$c2, %rd10, 8;
add.s64 %rd10$c3, %rd10, 12;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 4;
add.s64 %rd1$c2, %rd1, 8;
add.s64 %rd1$c3, %rd1, 12;
mov.u32 %r4, 0;
ld.global.v4.b32 {%strata_t0, %strata_t1, %strata_t2, %strata_t3}, [%rd1+0];
mov.b32 %r1, %strata_t0;
mov.b32 %r1$c1, %strata_t1;
mov.b32 %r1$c2, %strata_t2;
mov.b32 %r1$c3, %strata_t3;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 4;
add.s64 %rd2$c2, %rd2, 8;
add.s64 %rd2$c3, %rd2, 12;
ld.global.v4.b32 {%strata_t4, %strata_t5, %strata_t6, %strata_t7}, [%rd2+0];
mov.b32 %r3, %strata_t4;
mov.b32 %r3$c1, %strata_t5;
mov.b32 %r3$c2, %strata_t6;
mov.b32 %r3$c3, %strata_t7;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 4;
add.s64 %rd3$c2, %rd3, 8;
add.s64 %rd3$c3, %rd3, 12;
mov.b32 %strata_t8, %r5;
mov.b32 %strata_t9, %r5$c1;
mov.b32 %strata_t10, %r5$c2;
mov.b32 %strata_t11, %r5$c3;
st.global.v4.b32 [%rd3$c3+-12], {%strata_t8, %strata_t9, %strata_t10, %strata_t11};
ret;
}
.visible .entry short_words_4_16_uncoalesced(
	.param .u64 short_words_4_16_uncoalesced_param_0,
	.param .u64 short_words_4_16_uncoalesced_param_1,
	.param .u64 short_words_4_16_uncoalesced_param_2,
	.param .u32 short_words_4_16_uncoalesced_param_3,
	.param .u32 short_words_4_16_uncoalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_4_16_uncoalesced_param_0];
	ld.param.u64 	%rd5, [short_words_4_16_uncoalesced_param_1];
	ld.param.u64 	%rd6, [short_words_4_16_uncoalesced_param_2];
	ld.param.u32 	%r6, [short_words_4_16_uncoalesced_param_3];
	ld.param.u32 	%r7, [short_words_4_16_uncoalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 2;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u32 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u32 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u32 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_1_2_coalesced
.visible .entry short_words_1_2_coalesced_mended(.param .u64 short_words_1_2_coalesced_param_0 , .param .u64 short_words_1_2_coalesced_param_1 , .param .u64 short_words_1_2_coalesced_param_2 , .param .u32 short_words_1_2_coalesced_param_3 , .param .u32 short_words_1_2_coalesced_param_4 , .param .u32 short_words_1_2_coalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_1_2_coalesced_strata_blocks];
mov.u32 %strata_t6, %tid.x;
mov.u32 %strata_t7, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
shl.b32 %strata_t6, %strata_t6, 1;
bfind.u32 %strata_t8, %strata_t7;
sub.u32 %strata_t7, %strata_t7, 1;
and.b32 %strata_lane0, %strata_t6, %strata_t7;
shr.u32 %strata_t6, %strata_t6, %strata_t8;
mad.lo.u32 %strata_block, %strata_block, 2, %strata_t6;
add.u32 %strata_lane1, %strata_lane0, 1;
setp.ge.u32 %strata_none, %strata_block, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_1_2_coalesced_param_0];
ld.param.u64 %rd5, [short_words_1_2_coalesced_param_1];
ld.param.u64 %rd6, [short_words_1_2_coalesced_param_2];
ld.param.u32 %r6, [short_words_1_2_coalesced_param_3];
ld.param.u32 %r7, [short_words_1_2_coalesced_param_4];
mov.u32 %r8, %strata_lane0;
add.s32 %r8$c1, %r8, 1;
mul.wide.u32 %rd7, %r6, %r8;
add.s64 %rd7$c1, %rd7, 1;
mov.u32 %r9, %strata_block;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd1, %rd4, %rd9;
add.s64 %rd1$c1, %rd1, 1;
mov.u32 %r4, 0;
ld.global.b16 %strata_t0, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4440;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4441;
add.s64 %rd2, %rd5, %rd9;
add.s64 %rd2$c1, %rd2, 1;
ld.global.b16 %strata_t1, [%rd2+0];
prmt.b32 %r3, %strata_t1, 0, 0x4440;
prmt.b32 %r3$c1, %strata_t1, 0, 0x4441;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3, %rd6, %rd9;
add.s64 %rd3$c1, %rd3, 1;
mov.b32 %strata_t2, %r5;
mov.b32 %strata_t3, %r5$c1;
and.b32 %strata_t4, %strata_t2, 255;
bfi.b32 %strata_t5, %strata_t3, %strata_t4, 8, 8;
st.global.b16 [%rd3$c1+-1], %strata_t5;
ret;
}
.visible .entry short_words_1_2_coalesced(
	.param .u64 short_words_1_2_coalesced_param_0,
	.param .u64 short_words_1_2_coalesced_param_1,
	.param .u64 short_words_1_2_coalesced_param_2,
	.param .u32 short_words_1_2_coalesced_param_3,
	.param .u32 short_words_1_2_coalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd4, [short_words_1_2_coalesced_param_0];
	ld.param.u64 	%rd5, [short_words_1_2_coalesced_param_1];
	ld.param.u64 	%rd6, [short_words_1_2_coalesced_param_2];
	ld.param.u32 	%r6, [short_words_1_2_coalesced_param_3];
	ld.param.u32 	%r7, [short_words_1_2_coalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	add.s64 	%rd1, %rd4, %rd9;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u8 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd9;
	// begin inline asm
	ld.global.u8 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd9;
	// begin inline asm
	st.global.u8 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_1_4_coalesced
.visible .entry short_words_1_4_coalesced_mended(.param .u64 short_words_1_4_coalesced_param_0 , .param .u64 short_words_1_4_coalesced_param_1 , .param .u64 short_words_1_4_coalesced_param_2 , .param .u32 short_words_1_4_coalesced_param_3 , .param .u32 short_words_1_4_coalesced_param_4 , .param .u32 short_words_1_4_coalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r8$c2;
.reg .b32 %r8$c3;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd7$c2;
.reg .b64 %rd7$c3;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_1_4_coalesced_strata_blocks];
mov.u32 %strata_t10, %tid.x;
mov.u32 %strata_t11, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
shl.b32 %strata_t10, %strata_t10, 2;
bfind.u32 %strata_t12, %strata_t11;
sub.u32 %strata_t11, %strata_t11, 1;
and.b32 %strata_lane0, %strata_t10, %strata_t11;
shr.u32 %strata_t10, %strata_t10, %strata_t12;
mad.lo.u32 %strata_block, %strata_block, 4, %strata_t10;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
setp.ge.u32 %strata_none, %strata_block, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_1_4_coalesced_param_0];
ld.param.u64 %rd5, [short_words_1_4_coalesced_param_1];
ld.param.u64 %rd6, [short_words_1_4_coalesced_param_2];
ld.param.u32 %r6, [short_words_1_4_coalesced_param_3];
ld.param.u32 %r7, [short_words_1_4_coalesced_param_4];
mov.u32 %r8, %strata_lane0;
add.s32 %r8$c1, %r8, 1;
add.s32 %r8$c2, %r8, 2;
add.s32 %r8$c3, %r8, 3;
mul.wide.u32 %rd7, %r6, %r8;
add.s64 %rd7$c1, %rd7, 1;
add.s64 %rd7$c2, %rd7, 2;
add.s64 %rd7$c3, %rd7, 3;
mov.u32 %r9, %strata_block;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
add.s64 %rd1, %rd4, %rd9;
add.s64 %rd1$c1, %rd1, 1;
add.s64 %rd1$c2, %rd1, 2;
add.s64 %rd1$c3, %rd1, 3;
mov.u32 %r4, 0;
ld.global.b32 %strata_t0, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4440;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4441;
prmt.b32 %r1$c2, %strata_t0, 0, 0x4442;
prmt.b32 %r1$c3, %strata_t0, 0, 0x4443;
add.s64 %rd2, %rd5, %rd9;
add.s64 %rd2$c1, %rd2, 1;
add.s64 %rd2$c2, %rd2, 2;
add.s64 %rd2$c3, %rd2, 3;
ld.global.b32 %strata_t1, [%rd2+0];
prmt.b32 %r3, %strata_t1, 0, 0x4440;
prmt.b32 %r3$c1, %strata_t1, 0, 0x4441;
prmt.b32 %r3$c2, %strata_t1, 0, 0x4442;
prmt.b32 %r3$c3, %strata_t1, 0, 0x4443;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3, %rd6, %rd9;
add.s64 %rd3$c1, %rd3, 1;
add.s64 %rd3$c2, %rd3, 2;
add.s64 %rd3$c3, %rd3, 3;
mov.b32 %strata_t2, %r5;
mov.b32 %strata_t3, %r5$c1;
mov.b32 %strata_t4, %r5$c2;
mov.b32 %strata_t5, %r5$c3;
and.b32 %strata_t6, %strata_t2, 255;
bfi.b32 %strata_t7, %strata_t3, %strata_t6, 8, 8;
bfi.b32 %strata_t8, %strata_t4, %strata_t7, 16, 8;
bfi.b32 %strata_t9, %strata_t5, %strata_t8, 24, 8;
st.global.b32 [%rd3$c3+-3], %strata_t9;
ret;
}
.visible .entry short_words_1_4_coalesced(
	.param .u64 short_words_1_4_coalesced_param_0,
	.param .u64 short_words_1_4_coalesced_param_1,
	.param .u64 short_words_1_4_coalesced_param_2,
	.param .u32 short_words_1_4_coalesced_param_3,
	.param .u32 short_words_1_4_coalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd4, [short_words_1_4_coalesced_param_0];
	ld.param.u64 	%rd5, [short_words_1_4_coalesced_param_1];
	ld.param.u64 	%rd6, [short_words_1_4_coalesced_param_2];
	ld.param.u32 	%r6, [short_words_1_4_coalesced_param_3];
	ld.param.u32 	%r7, [short_words_1_4_coalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	add.s64 	%rd1, %rd4, %rd9;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u8 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd9;
	// begin inline asm
	ld.global.u8 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd9;
	// begin inline asm
	st.global.u8 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_1_8_coalesced
.visible .entry short_words_1_8_coalesced_mended(.param .u64 short_words_1_8_coalesced_param_0 , .param .u64 short_words_1_8_coalesced_param_1 , .param .u64 short_words_1_8_coalesced_param_2 , .param .u32 short_words_1_8_coalesced_param_3 , .param .u32 short_words_1_8_coalesced_param_4 , .param .u32 short_words_1_8_coalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r1$c4;
.reg .b32 %r1$c5;
.reg .b32 %r1$c6;
.reg .b32 %r1$c7;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r3$c4;
.reg .b32 %r3$c5;
.reg .b32 %r3$c6;
.reg .b32 %r3$c7;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r5$c4;
.reg .b32 %r5$c5;
.reg .b32 %r5$c6;
.reg .b32 %r5$c7;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r8$c2;
.reg .b32 %r8$c3;
.reg .b32 %r8$c4;
.reg .b32 %r8$c5;
.reg .b32 %r8$c6;
.reg .b32 %r8$c7;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_lane4;
.reg .b32 %strata_lane5;
.reg .b32 %strata_lane6;
.reg .b32 %strata_lane7;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t15;
.reg .b32 %strata_t16;
.reg .b32 %strata_t17;
.reg .b32 %strata_t18;
.reg .b32 %strata_t19;
.reg .b32 %strata_t2;
.reg .b32 %strata_t20;
.reg .b32 %strata_t21;
.reg .b32 %strata_t22;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd1$c4;
.reg .b64 %rd1$c5;
.reg .b64 %rd1$c6;
.reg .b64 %rd1$c7;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd2$c4;
.reg .b64 %rd2$c5;
.reg .b64 %rd2$c6;
.reg .b64 %rd2$c7;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd3$c4;
.reg .b64 %rd3$c5;
.reg .b64 %rd3$c6;
.reg .b64 %rd3$c7;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd7$c2;
.reg .b64 %rd7$c3;
.reg .b64 %rd7$c4;
.reg .b64 %rd7$c5;
.reg .b64 %rd7$c6;
.reg .b64 %rd7$c7;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .b64 %rd9$c4;
.reg .b64 %rd9$c5;
.reg .b64 %rd9$c6;
.reg .b64 %rd9$c7;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_1_8_coalesced_strata_blocks];
mov.u32 %strata_t20, %tid.x;
mov.u32 %strata_t21, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
shl.b32 %strata_t20, %strata_t20, 3;
bfind.u32 %strata_t22, %strata_t21;
sub.u32 %strata_t21, %strata_t21, 1;
and.b32 %strata_lane0, %strata_t20, %strata_t21;
shr.u32 %strata_t20, %strata_t20, %strata_t22;
mad.lo.u32 %strata_block, %strata_block, 8, %strata_t20;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
add.u32 %strata_lane4, %strata_lane0, 4;
add.u32 %strata_lane5, %strata_lane0, 5;
add.u32 %strata_lane6, %strata_lane0, 6;
add.u32 %strata_lane7, %strata_lane0, 7;
setp.ge.u32 %strata_none, %strata_block, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_1_8_coalesced_param_0];
ld.param.u64 %rd5, [short_words_1_8_coalesced_param_1];
ld.param.u64 %rd6, [short_words_1_8_coalesced_param_2];
ld.param.u32 %r6, [short_words_1_8_coalesced_param_3];
ld.param.u32 %r7, [short_words_1_8_coalesced_param_4];
mov.u32 %r8, %strata_lane0;
add.s32 %r8$c1, %r8, 1;
add.s32 %r8$c2, %r8, 2;
add.s32 %r8$c3, %r8, 3;
add.s32 %r8$c4, %r8, 4;
add.s32 %r8$c5, %r8, 5;
add.s32 %r8$c6, %r8, 6;
add.s32 %r8$c7, %r8, 7;
mul.wide.u32 %rd7, %r6, %r8;
add.s64 %rd7$c1, %rd7, 1;
add.s64 %rd7$c2, %rd7, 2;
add.s64 %rd7$c3, %rd7, 3;
add.s64 %rd7$c4, %rd7, 4;
add.s64 %rd7$c5, %rd7, 5;
add.s64 %rd7$c6, %rd7, 6;
add.s64 %rd7$c7, %rd7, 7;
mov.u32 %r9, %strata_block;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
add.s64 %rd9$c4, %rd9, 4;
add.s64 %rd9$c5, %rd9, 5;
add.s64 %rd9$c6, %rd9, 6;
add.s64 %rd9$c7, %rd9, 7;
add.s64 %rd1, %rd4, %rd9;
add.s64 %rd1$c1, %rd1, 1;
add.s64 %rd1$c2, %rd1, 2;
add.s64 %rd1$c3, %rd1, 3;
add.s64 %rd1$c4, %rd1, 4;
add.s64 %rd1$c5, %rd1, 5;
add.s64 %rd1$c6, %rd1, 6;
add.s64 %rd1$c7, %rd1, 7;
mov.u32 %r4, 0;
ld.global.v2.b32 {%strata_t0, %strata_t1}, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4440;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4441;
prmt.b32 %r1$c2, %strata_t0, 0, 0x4442;
prmt.b32 %r1$c3, %strata_t0, 0, 0x4443;
prmt.b32 %r1$c4, %strata_t1, 0, 0x4440;
prmt.b32 %r1$c5, %strata_t1, 0, 0x4441;
prmt.b32 %r1$c6, %strata_t1, 0, 0x4442;
prmt.b32 %r1$c7, %strata_t1, 0, 0x4443;
add.s64 %rd2, %rd5, %rd9;
add.s64 %rd2$c1, %rd2, 1;
add.s64 %rd2$c2, %rd2, 2;
add.s64 %rd2$c3, %rd2, 3;
add.s64 %rd2$c4, %rd2, 4;
add.s64 %rd2$c5, %rd2, 5;
add.s64 %rd2$c6, %rd2, 6;
add.s64 %rd2$c7, %rd2, 7;
ld.global.v2.b32 {%strata_t2, %strata_t3}, [%rd2+0];
prmt.b32 %r3, %strata_t2, 0, 0x4440;
prmt.b32 %r3$c1, %strata_t2, 0, 0x4441;
prmt.b32 %r3$c2, %strata_t2, 0, 0x4442;
prmt.b32 %r3$c3, %strata_t2, 0, 0x4443;
prmt.b32 %r3$c4, %strata_t3, 0, 0x4440;
prmt.b32 %r3$c5, %strata_t3, 0, 0x4441;
prmt.b32 %r3$c6, %strata_t3, 0, 0x4442;
prmt.b32 %r3$c7, %strata_t3, 0, 0x4443;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s32 %r5$c4, %r3$c4, %r1$c4;
add.s32 %r5$c5, %r3$c5, %r1$c5;
add.s32 %r5$c6, %r3$c6, %r1$c6;
add.s32 %r5$c7, %r3$c7, %r1$c7;
add.s64 %rd3, %rd6, %rd9;
add.s64 %rd3$c1, %rd3, 1;
add.s64 %rd3$c2, %rd3, 2;
add.s64 %rd3$c3, %rd3, 3;
add.s64 %rd3$c4, %rd3, 4;
add.s64 %rd3$c5, %rd3, 5;
add.s64 %rd3$c6, %rd3, 6;
add.s64 %rd3$c7, %rd3, 7;
mov.b32 %strata_t4, %r5;
mov.b32 %strata_t5, %r5$c1;
mov.b32 %strata_t6, %r5$c2;
mov.b32 %strata_t7, %r5$c3;
mov.b32 %strata_t8, %r5$c4;
mov.b32 %strata_t9, %r5$c5;
mov.b32 %strata_t10, %r5$c6;
mov.b32 %strata_t11, %r5$c7;
and.b32 %strata_t12, %strata_t4, 255;
bfi.b32 %strata_t13, %strata_t5, %strata_t12, 8, 8;
bfi.b32 %strata_t14, %strata_t6, %strata_t13, 16, 8;
bfi.b32 %strata_t15, %strata_t7, %strata_t14, 24, 8;
and.b32 %strata_t16, %strata_t8, 255;
bfi.b32 %strata_t17, %strata_t9, %strata_t16, 8, 8;
bfi.b32 %strata_t18, %strata_t10, %strata_t17, 16, 8;
bfi.b32 %strata_t19, %strata_t11, %strata_t18, 24, 8;
st.global.v2.b32 [%rd3$c7+-7], {%strata_t15, %strata_t19};
ret;
}
.visible .entry short_words_1_8_coalesced(
	.param .u64 short_words_1_8_coalesced_param_0,
	.param .u64 short_words_1_8_coalesced_param_1,
	.param .u64 short_words_1_8_coalesced_param_2,
	.param .u32 short_words_1_8_coalesced_param_3,
	.param .u32 short_words_1_8_coalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd4, [short_words_1_8_coalesced_param_0];
	ld.param.u64 	%rd5, [short_words_1_8_coalesced_param_1];
	ld.param.u64 	%rd6, [short_words_1_8_coalesced_param_2];
	ld.param.u32 	%r6, [short_words_1_8_coalesced_param_3];
	ld.param.u32 	%r7, [short_words_1_8_coalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	add.s64 	%rd1, %rd4, %rd9;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u8 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd9;
	// begin inline asm
	ld.global.u8 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd9;
	// begin inline asm
	st.global.u8 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_1_16_coalesced
.visible .entry short_words_1_16_coalesced_mended(.param .u64 short_words_1_16_coalesced_param_0 , .param .u64 short_words_1_16_coalesced_param_1 , .param .u64 short_words_1_16_coalesced_param_2 , .param .u32 short_words_1_16_coalesced_param_3 , .param .u32 short_words_1_16_coalesced_param_4 , .param .u32 short_words_1_16_coalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c10;
.reg .b32 %r1$c11;
.reg .b32 %r1$c12;
.reg .b32 %r1$c13;
.reg .b32 %r1$c14;
.reg .b32 %r1$c15;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r1$c4;
.reg .b32 %r1$c5;
.reg .b32 %r1$c6;
.reg .b32 %r1$c7;
.reg .b32 %r1$c8;
.reg .b32 %r1$c9;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c10;
.reg .b32 %r3$c11;
.reg .b32 %r3$c12;
.reg .b32 %r3$c13;
.reg .b32 %r3$c14;
.reg .b32 %r3$c15;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r3$c4;
.reg .b32 %r3$c5;
.reg .b32 %r3$c6;
.reg .b32 %r3$c7;
.reg .b32 %r3$c8;
.reg .b32 %r3$c9;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c10;
.reg .b32 %r5$c11;
.reg .b32 %r5$c12;
.reg .b32 %r5$c13;
.reg .b32 %r5$c14;
.reg .b32 %r5$c15;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r5$c4;
.reg .b32 %r5$c5;
.reg .b32 %r5$c6;
.reg .b32 %r5$c7;
.reg .b32 %r5$c8;
.reg .b32 %r5$c9;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r8$c10;
.reg .b32 %r8$c11;
.reg .b32 %r8$c12;
.reg .b32 %r8$c13;
.reg .b32 %r8$c14;
.reg .b32 %r8$c15;
.reg .b32 %r8$c2;
.reg .b32 %r8$c3;
.reg .b32 %r8$c4;
.reg .b32 %r8$c5;
.reg .b32 %r8$c6;
.reg .b32 %r8$c7;
.reg .b32 %r8$c8;
.reg .b32 %r8$c9;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane10;
.reg .b32 %strata_lane11;
.reg .b32 %strata_lane12;
.reg .b32 %strata_lane13;
.reg .b32 %strata_lane14;
.reg .b32 %strata_lane15;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_lane4;
.reg .b32 %strata_lane5;
.reg .b32 %strata_lane6;
.reg .b32 %strata_lane7;
.reg .b32 %strata_lane8;
.reg .b32 %strata_lane9;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t15;
.reg .b32 %strata_t16;
.reg .b32 %strata_t17;
.reg .b32 %strata_t18;
.reg .b32 %strata_t19;
.reg .b32 %strata_t2;
.reg .b32 %strata_t20;
.reg .b32 %strata_t21;
.reg .b32 %strata_t22;
.reg .b32 %strata_t23;
.reg .b32 %strata_t24;
.reg .b32 %strata_t25;
.reg .b32 %strata_t26;
.reg .b32 %strata_t27;
.reg .b32 %strata_t28;
.reg .b32 %strata_t29;
.reg .b32 %strata_t3;
.reg .b32 %strata_t30;
.reg .b32 %strata_t31;
.reg .b32 %strata_t32;
.reg .b32 %strata_t33;
.reg .b32 %strata_t34;
.reg .b32 %strata_t35;
.reg .b32 %strata_t36;
.reg .b32 %strata_t37;
.reg .b32 %strata_t38;
.reg .b32 %strata_t39;
.reg .b32 %strata_t4;
.reg .b32 %strata_t40;
.reg .b32 %strata_t41;
.reg .b32 %strata_t42;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c10;
.reg .b64 %rd1$c11;
.reg .b64 %rd1$c12;
.reg .b64 %rd1$c13;
.reg .b64 %rd1$c14;
.reg .b64 %rd1$c15;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd1$c4;
.reg .b64 %rd1$c5;
.reg .b64 %rd1$c6;
.reg .b64 %rd1$c7;
.reg .b64 %rd1$c8;
.reg .b64 %rd1$c9;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c10;
.reg .b64 %rd2$c11;
.reg .b64 %rd2$c12;
.reg .b64 %rd2$c13;
.reg .b64 %rd2$c14;
.reg .b64 %rd2$c15;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd2$c4;
.reg .b64 %rd2$c5;
.reg .b64 %rd2$c6;
.reg .b64 %rd2$c7;
.reg .b64 %rd2$c8;
.reg .b64 %rd2$c9;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c10;
.reg .b64 %rd3$c11;
.reg .b64 %rd3$c12;
.reg .b64 %rd3$c13;
.reg .b64 %rd3$c14;
.reg .b64 %rd3$c15;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd3$c4;
.reg .b64 %rd3$c5;
.reg .b64 %rd3$c6;
.reg .b64 %rd3$c7;
.reg .b64 %rd3$c8;
.reg .b64 %rd3$c9;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd7$c10;
.reg .b64 %rd7$c11;
.reg .b64 %rd7$c12;
.reg .b64 %rd7$c13;
.reg .b64 %rd7$c14;
.reg .b64 %rd7$c15;
.reg .b64 %rd7$c2;
.reg .b64 %rd7$c3;
.reg .b64 %rd7$c4;
.reg .b64 %rd7$c5;
.reg .b64 %rd7$c6;
.reg .b64 %rd7$c7;
.reg .b64 %rd7$c8;
.reg .b64 %rd7$c9;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c10;
.reg .b64 %rd9$c11;
.reg .b64 %rd9$c12;
.reg .b64 %rd9$c13;
.reg .b64 %rd9$c14;
.reg .b64 %rd9$c15;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .b64 %rd9$c4;
.reg .b64 %rd9$c5;
.reg .b64 %rd9$c6;
.reg .b64 %rd9$c7;
.reg .b64 %rd9$c8;
.reg .b64 %rd9$c9;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_1_16_coalesced_strata_blocks];
mov.u32 %strata_t40, %tid.x;
mov.u32 %strata_t41, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
shl.b32 %strata_t40, %strata_t40, 4;
bfind.u32 %strata_t42, %strata_t41;
sub.u32 %strata_t41, %strata_t41, 1;
and.b32 %strata_lane0, %strata_t40, %strata_t41;
shr.u32 %strata_t40, %strata_t40, %strata_t42;
mad.lo.u32 %strata_block, %strata_block, 16, %strata_t40;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
add.u32 %strata_lane4, %strata_lane0, 4;
add.u32 %strata_lane5, %strata_lane0, 5;
add.u32 %strata_lane6, %strata_lane0, 6;
add.u32 %strata_lane7, %strata_lane0, 7;
add.u32 %strata_lane8, %strata_lane0, 8;
add.u32 %strata_lane9, %strata_lane0, 9;
add.u32 %strata_lane10, %strata_lane0, 10;
add.u32 %strata_lane11, %strata_lane0, 11;
add.u32 %strata_lane12, %strata_lane0, 12;
add.u32 %strata_lane13, %strata_lane0, 13;
add.u32 %strata_lane14, %strata_lane0, 14;
add.u32 %strata_lane15, %strata_lane0, 15;
setp.ge.u32 %strata_none, %strata_block, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_1_16_coalesced_param_0];
ld.param.u64 %rd5, [short_words_1_16_coalesced_param_1];
ld.param.u64 %rd6, [short_words_1_16_coalesced_param_2];
ld.param.u32 %r6, [short_words_1_16_coalesced_param_3];
ld.param.u32 %r7, [short_words_1_16_coalesced_param_4];
mov.u32 %r8, %strata_lane0;
add.s32 %r8$c1, %r8, 1;
add.s32 %r8$c2, %r8, 2;
add.s32 %r8$c3, %r8, 3;
add.s32 %r8$c4, %r8, 4;
add.s32 %r8$c5, %r8, 5;
add.s32 %r8$c6, %r8, 6;
add.s32 %r8$c7, %r8, 7;
add.s32 %r8$c8, %r8, 8;
add.s32 %r8$c9, %r8, 9;
add.s32 %r8$c10, %r8, 10;
add.s32 %r8$c11, %r8, 11;
add.s32 %r8$c12, %r8, 12;
add.s32 %r8$c13, %r8, 13;
add.s32 %r8$c14, %r8, 14;
add.s32 %r8$c15, %r8, 15;
mul.wide.u32 %rd7, %r6, %r8;
add.s64 %rd7$c1, %rd7, 1;
add.s64 %rd7$c2, %rd7, 2;
add.s64 %rd7$c3, %rd7, 3;
add.s64 %rd7$c4, %rd7, 4;
add.s64 %rd7$c5, %rd7, 5;
add.s64 %rd7$c6, %rd7, 6;
add.s64 %rd7$c7, %rd7, 7;
add.s64 %rd7$c8, %rd7, 8;
add.s64 %rd7$c9, %rd7, 9;
add.s64 %rd7$c10, %rd7, 10;
add.s64 %rd7$c11, %rd7, 11;
add.s64 %rd7$c12, %rd7, 12;
add.s64 %rd7$c13, %rd7, 13;
add.s64 %rd7$c14, %rd7, 14;
add.s64 %rd7$c15, %rd7, 15;
mov.u32 %r9, %strata_block;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
add.s64 %rd9$c4, %rd9, 4;
add.s64 %rd9$c5, %rd9, 5;
add.s64 %rd9$c6, %rd9, 6;
add.s64 %rd9$c7, %rd9, 7;
add.s64 %rd9$c8, %rd9, 8;
add.s64 %rd9$c9, %rd9, 9;
add.s64 %rd9$c10, %rd9, 10;
add.s64 %rd9$c11, %rd9, 11;
add.s64 %rd9$c12, %rd9, 12;
add.s64 %rd9$c13, %rd9, 13;
add.s64 %rd9$c14, %rd9, 14;
add.s64 %rd9$c15, %rd9, 15;
add.s64 %rd1, %rd4, %rd9;
add.s64 %rd1$c1, %rd1, 1;
add.s64 %rd1$c2, %rd1, 2;
add.s64 %rd1$c3, %rd1, 3;
add.s64 %rd1$c4, %rd1, 4;
add.s64 %rd1$c5, %rd1, 5;
add.s64 %rd1$c6, %rd1, 6;
add.s64 %rd1$c7, %rd1, 7;
add.s64 %rd1$c8, %rd1, 8;
add.s64 %rd1$c9, %rd1, 9;
add.s64 %rd1$c10, %rd1, 10;
add.s64 %rd1$c11, %rd1, 11;
add.s64 %rd1$c12, %rd1, 12;
add.s64 %rd1$c13, %rd1, 13;
add.s64 %rd1$c14, %rd1, 14;
add.s64 %rd1$c15, %rd1, 15;
mov.u32 %r4, 0;
ld.global.v4.b32 {%strata_t0, %strata_t1, %strata_t2, %strata_t3}, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4440;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4441;
prmt.b32 %r1$c2, %strata_t0, 0, 0x4442;
prmt.b32 %r1$c3, %strata_t0, 0, 0x4443;
prmt.b32 %r1$c4, %strata_t1, 0, 0x4440;
prmt.b32 %r1$c5, %strata_t1, 0, 0x4441;
prmt.b32 %r1$c6, %strata_t1, 0, 0x4442;
prmt.b32 %r1$c7, %strata_t1, 0, 0x4443;
prmt.b32 %r1$c8, %strata_t2, 0, 0x4440;
prmt.b32 %r1$c9, %strata_t2, 0, 0x4441;
prmt.b32 %r1$c10, %strata_t2, 0, 0x4442;
prmt.b32 %r1$c11, %strata_t2, 0, 0x4443;
prmt.b32 %r1$c12, %strata_t3, 0, 0x4440;
prmt.b32 %r1$c13, %strata_t3, 0, 0x4441;
prmt.b32 %r1$c14, %strata_t3, 0, 0x4442;
prmt.b32 %r1$c15, %strata_t3, 0, 0x4443;
add.s64 %rd2, %rd5, %rd9;
add.s64 %rd2$c1, %rd2, 1;
add.s64 %rd2$c2, %rd2, 2;
add.s64 %rd2$c3, %rd2, 3;
add.s64 %rd2$c4, %rd2, 4;
add.s64 %rd2$c5, %rd2, 5;
add.s64 %rd2$c6, %rd2, 6;
add.s64 %rd2$c7, %rd2, 7;
add.s64 %rd2$c8, %rd2, 8;
add.s64 %rd2$c9, %rd2, 9;
add.s64 %rd2$c10, %rd2, 10;
add.s64 %rd2$c11, %rd2, 11;
add.s64 %rd2$c12, %rd2, 12;
add.s64 %rd2$c13, %rd2, 13;
add.s64 %rd2$c14, %rd2, 14;
add.s64 %rd2$c15, %rd2, 15;
ld.global.v4.b32 {%strata_t4, %strata_t5, %strata_t6, %strata_t7}, [%rd2+0];
prmt.b32 %r3, %strata_t4, 0, 0x4440;
prmt.b32 %r3$c1, %strata_t4, 0, 0x4441;
prmt.b32 %r3$c2, %strata_t4, 0, 0x4442;
prmt.b32 %r3$c3, %strata_t4, 0, 0x4443;
prmt.b32 %r3$c4, %strata_t5, 0, 0x4440;
prmt.b32 %r3$c5, %strata_t5, 0, 0x4441;
prmt.b32 %r3$c6, %strata_t5, 0, 0x4442;
prmt.b32 %r3$c7, %strata_t5, 0, 0x4443;
prmt.b32 %r3$c8, %strata_t6, 0, 0x4440;
prmt.b32 %r3$c9, %strata_t6, 0, 0x4441;
prmt.b32 %r3$c10, %strata_t6, 0, 0x4442;
prmt.b32 %r3$c11, %strata_t6, 0, 0x4443;
prmt.b32 %r3$c12, %strata_t7, 0, 0x4440;
prmt.b32 %r3$c13, %strata_t7, 0, 0x4441;
prmt.b32 %r3$c14, %strata_t7, 0, 0x4442;
prmt.b32 %r3$c15, %strata_t7, 0, 0x4443;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s32 %r5$c4, %r3$c4, %r1$c4;
add.s32 %r5$c5, %r3$c5, %r1$c5;
add.s32 %r5$c6, %r3$c6, %r1$c6;
add.s32 %r5$c7, %r3$c7, %r1$c7;
add.s32 %r5$c8, %r3$c8, %r1$c8;
add.s32 %r5$c9, %r3$c9, %r1$c9;
add.s32 %r5$c10, %r3$c10, %r1$c10;
add.s32 %r5$c11, %r3$c11, %r1$c11;
add.s32 %r5$c12, %r3$c12, %r1$c12;
add.s32 %r5$c13, %r3$c13, %r1$c13;
add.s32 %r5$c14, %r3$c14, %r1$c14;
add.s32 %r5$c15, %r3$c15, %r1$c15;
add.s64 %rd3, %rd6, %rd9;
add.s64 %rd3$c1, %rd3, 1;
add.s64 %rd3$c2, %rd3, 2;
add.s64 %rd3$c3, %rd3, 3;
add.s64 %rd3$c4, %rd3, 4;
add.s64 %rd3$c5, %rd3, 5;
add.s64 %rd3$c6, %rd3, 6;
add.s64 %rd3$c7, %rd3, 7;
add.s64 %rd3$c8, %rd3, 8;
add.s64 %rd3$c9, %rd3, 9;
add.s64 %rd3$c10, %rd3, 10;
add.s64 %rd3$c11, %rd3, 11;
add.s64 %rd3$c12, %rd3, 12;
add.s64 %rd3$c13, %rd3, 13;
add.s64 %rd3$c14, %rd3, 14;
add.s64 %rd3$c15, %rd3, 15;
mov.b32 %strata_t8, %r5;
mov.b32 %strata_t9, %r5$c1;
mov.b32 %strata_t10, %r5$c2;
mov.b32 %strata_t11, %r5$c3;
mov.b32 %strata_t12, %r5$c4;
mov.b32 %strata_t13, %r5$c5;
mov.b32 %strata_t14, %r5$c6;
mov.b32 %strata_t15, %r5$c7;
mov.b32 %strata_t16, %r5$c8;
mov.b32 %strata_t17, %r5$c9;
mov.b32 %strata_t18, %r5$c10;
mov.b32 %strata_t19, %r5$c11;
mov.b32 %strata_t20, %r5$c12;
mov.b32 %strata_t21, %r5$c13;
mov.b32 %strata_t22, %r5$c14;
mov.b32 %strata_t23, %r5$c15;
and.b32 %strata_t24, %strata_t8, 255;
bfi.b32 %strata_t25, %strata_t9, %strata_t24, 8, 8;
bfi.b32 %strata_t26, %strata_t10, %strata_t25, 16, 8;
bfi.b32 %strata_t27, %strata_t11, %strata_t26, 24, 8;
and.b32 %strata_t28, %strata_t12, 255;
bfi.b32 %strata_t29, %strata_t13, %strata_t28, 8, 8;
bfi.b32 %strata_t30, %strata_t14, %strata_t29, 16, 8;
bfi.b32 %strata_t31, %strata_t15, %strata_t30, 24, 8;
and.b32 %strata_t32, %strata_t16, 255;
bfi.b32 %strata_t33, %strata_t17, %strata_t32, 8, 8;
bfi.b32 %strata_t34, %strata_t18, %strata_t33, 16, 8;
bfi.b32 %strata_t35, %strata_t19, %strata_t34, 24, 8;
and.b32 %strata_t36, %strata_t20, 255;
bfi.b32 %strata_t37, %strata_t21, %strata_t36, 8, 8;
bfi.b32 %strata_t38, %strata_t22, %strata_t37, 16, 8;
bfi.b32 %strata_t39, %strata_t23, %strata_t38, 24, 8;
st.global.v4.b32 [%rd3$c15+-15], {%strata_t27, %strata_t31, %strata_t35, %strata_t39};
ret;
}
.visible .entry short_words_1_16_coalesced(
	.param .u64 short_words_1_16_coalesced_param_0,
	.param .u64 short_words_1_16_coalesced_param_1,
	.param .u64 short_words_1_16_coalesced_param_2,
	.param .u32 short_words_1_16_coalesced_param_3,
	.param .u32 short_words_1_16_coalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<10>;


	ld.param.u64 	%rd4, [short_words_1_16_coalesced_param_0];
	ld.param.u64 	%rd5, [short_words_1_16_coalesced_param_1];
	ld.param.u64 	%rd6, [short_words_1_16_coalesced_param_2];
	ld.param.u32 	%r6, [short_words_1_16_coalesced_param_3];
	ld.param.u32 	%r7, [short_words_1_16_coalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	add.s64 	%rd1, %rd4, %rd9;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u8 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd9;
	// begin inline asm
	ld.global.u8 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd9;
	// begin inline asm
	st.global.u8 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_2_4_coalesced
.visible .entry short_words_2_4_coalesced_mended(.param .u64 short_words_2_4_coalesced_param_0 , .param .u64 short_words_2_4_coalesced_param_1 , .param .u64 short_words_2_4_coalesced_param_2 , .param .u32 short_words_2_4_coalesced_param_3 , .param .u32 short_words_2_4_coalesced_param_4 , .param .u32 short_words_2_4_coalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_2_4_coalesced_strata_blocks];
mov.u32 %strata_t6, %tid.x;
mov.u32 %strata_t7, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
shl.b32 %strata_t6, %strata_t6, 1;
bfind.u32 %strata_t8, %strata_t7;
sub.u32 %strata_t7, %strata_t7, 1;
and.b32 %strata_lane0, %strata_t6, %strata_t7;
shr.u32 %strata_t6, %strata_t6, %strata_t8;
mad.lo.u32 %strata_block, %strata_block, 2, %strata_t6;
add.u32 %strata_lane1, %strata_lane0, 1;
setp.ge.u32 %strata_none, %strata_block, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_2_4_coalesced_param_0];
ld.param.u64 %rd5, [short_words_2_4_coalesced_param_1];
ld.param.u64 %rd6, [short_words_2_4_coalesced_param_2];
ld.param.u32 %r6, [short_words_2_4_coalesced_param_3];
ld.param.u32 %r7, [short_words_2_4_coalesced_param_4];
mov.u32 %r8, %strata_lane0;
add.s32 %r8$c1, %r8, 1;
mul.wide.u32 %rd7, %r6, %r8;
add.s64 %rd7$c1, %rd7, 1;
mov.u32 %r9, %strata_block;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd10$c1, %rd10, 2;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 2;
mov.u32 %r4, 0;
ld.global.b32 %strata_t0, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4410;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4432;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 2;
ld.global.b32 %strata_t1, [%rd2+0];
prmt.b32 %r3, %strata_t1, 0, 0x4410;
prmt.b32 %r3$c1, %strata_t1, 0, 0x4432;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 2;
mov.b32 %strata_t2, %r5;
mov.b32 %strata_t3, %r5$c1;
and.b32 %strata_t4, %strata_t2, 65535;
bfi.b32 %strata_t5, %strata_t3, %strata_t4, 16, 16;
st.global.b32 [%rd3$c1+-2], %strata_t5;
ret;
}
.visible .entry short_words_2_4_coalesced(
	.param .u64 short_words_2_4_coalesced_param_0,
	.param .u64 short_words_2_4_coalesced_param_1,
	.param .u64 short_words_2_4_coalesced_param_2,
	.param .u32 short_words_2_4_coalesced_param_3,
	.param .u32 short_words_2_4_coalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_2_4_coalesced_param_0];
	ld.param.u64 	%rd5, [short_words_2_4_coalesced_param_1];
	ld.param.u64 	%rd6, [short_words_2_4_coalesced_param_2];
	ld.param.u32 	%r6, [short_words_2_4_coalesced_param_3];
	ld.param.u32 	%r7, [short_words_2_4_coalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 1;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u16 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u16 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u16 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_2_8_coalesced
.visible .entry short_words_2_8_coalesced_mended(.param .u64 short_words_2_8_coalesced_param_0 , .param .u64 short_words_2_8_coalesced_param_1 , .param .u64 short_words_2_8_coalesced_param_2 , .param .u32 short_words_2_8_coalesced_param_3 , .param .u32 short_words_2_8_coalesced_param_4 , .param .u32 short_words_2_8_coalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r8$c2;
.reg .b32 %r8$c3;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd10$c2;
.reg .b64 %rd10$c3;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd7$c2;
.reg .b64 %rd7$c3;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_2_8_coalesced_strata_blocks];
mov.u32 %strata_t12, %tid.x;
mov.u32 %strata_t13, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
shl.b32 %strata_t12, %strata_t12, 2;
bfind.u32 %strata_t14, %strata_t13;
sub.u32 %strata_t13, %strata_t13, 1;
and.b32 %strata_lane0, %strata_t12, %strata_t13;
shr.u32 %strata_t12, %strata_t12, %strata_t14;
mad.lo.u32 %strata_block, %strata_block, 4, %strata_t12;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
setp.ge.u32 %strata_none, %strata_block, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_2_8_coalesced_param_0];
ld.param.u64 %rd5, [short_words_2_8_coalesced_param_1];
ld.param.u64 %rd6, [short_words_2_8_coalesced_param_2];
ld.param.u32 %r6, [short_words_2_8_coalesced_param_3];
ld.param.u32 %r7, [short_words_2_8_coalesced_param_4];
mov.u32 %r8, %strata_lane0;
add.s32 %r8$c1, %r8, 1;
add.s32 %r8$c2, %r8, 2;
add.s32 %r8$c3, %r8, 3;
mul.wide.u32 %rd7, %r6, %r8;
add.s64 %rd7$c1, %rd7, 1;
add.s64 %rd7$c2, %rd7, 2;
add.s64 %rd7$c3, %rd7, 3;
mov.u32 %r9, %strata_block;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd10$c1, %rd10, 2;
add.s64 %rd10$c2, %rd10, 4;
add.s64 %rd10$c3, %rd10, 6;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 2;
add.s64 %rd1$c2, %rd1, 4;
add.s64 %rd1$c3, %rd1, 6;
mov.u32 %r4, 0;
ld.global.v2.b32 {%strata_t0, %strata_t1}, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4410;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4432;
prmt.b32 %r1$c2, %strata_t1, 0, 0x4410;
prmt.b32 %r1$c3, %strata_t1, 0, 0x4432;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 2;
add.s64 %rd2$c2, %rd2, 4;
add.s64 %rd2$c3, %rd2, 6;
ld.global.v2.b32 {%strata_t2, %strata_t3}, [%rd2+0];
prmt.b32 %r3, %strata_t2, 0, 0x4410;
prmt.b32 %r3$c1, %strata_t2, 0, 0x4432;
prmt.b32 %r3$c2, %strata_t3, 0, 0x4410;
prmt.b32 %r3$c3, %strata_t3, 0, 0x4432;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 2;
add.s64 %rd3$c2, %rd3, 4;
add.s64 %rd3$c3, %rd3, 6;
mov.b32 %strata_t4, %r5;
mov.b32 %strata_t5, %r5$c1;
mov.b32 %strata_t6, %r5$c2;
mov.b32 %strata_t7, %r5$c3;
and.b32 %strata_t8, %strata_t4, 65535;
bfi.b32 %strata_t9, %strata_t5, %strata_t8, 16, 16;
and.b32 %strata_t10, %strata_t6, 65535;
bfi.b32 %strata_t11, %strata_t7, %strata_t10, 16, 16;
st.global.v2.b32 [%rd3$c3+-6], {%strata_t9, %strata_t11};
ret;
}
.visible .entry short_words_2_8_coalesced(
	.param .u64 short_words_2_8_coalesced_param_0,
	.param .u64 short_words_2_8_coalesced_param_1,
	.param .u64 short_words_2_8_coalesced_param_2,
	.param .u32 short_words_2_8_coalesced_param_3,
	.param .u32 short_words_2_8_coalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_2_8_coalesced_param_0];
	ld.param.u64 	%rd5, [short_words_2_8_coalesced_param_1];
	ld.param.u64 	%rd6, [short_words_2_8_coalesced_param_2];
	ld.param.u32 	%r6, [short_words_2_8_coalesced_param_3];
	ld.param.u32 	%r7, [short_words_2_8_coalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 1;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u16 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u16 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u16 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_2_16_coalesced
.visible .entry short_words_2_16_coalesced_mended(.param .u64 short_words_2_16_coalesced_param_0 , .param .u64 short_words_2_16_coalesced_param_1 , .param .u64 short_words_2_16_coalesced_param_2 , .param .u32 short_words_2_16_coalesced_param_3 , .param .u32 short_words_2_16_coalesced_param_4 , .param .u32 short_words_2_16_coalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r1$c4;
.reg .b32 %r1$c5;
.reg .b32 %r1$c6;
.reg .b32 %r1$c7;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r3$c4;
.reg .b32 %r3$c5;
.reg .b32 %r3$c6;
.reg .b32 %r3$c7;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r5$c4;
.reg .b32 %r5$c5;
.reg .b32 %r5$c6;
.reg .b32 %r5$c7;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r8$c2;
.reg .b32 %r8$c3;
.reg .b32 %r8$c4;
.reg .b32 %r8$c5;
.reg .b32 %r8$c6;
.reg .b32 %r8$c7;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_lane4;
.reg .b32 %strata_lane5;
.reg .b32 %strata_lane6;
.reg .b32 %strata_lane7;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t15;
.reg .b32 %strata_t16;
.reg .b32 %strata_t17;
.reg .b32 %strata_t18;
.reg .b32 %strata_t19;
.reg .b32 %strata_t2;
.reg .b32 %strata_t20;
.reg .b32 %strata_t21;
.reg .b32 %strata_t22;
.reg .b32 %strata_t23;
.reg .b32 %strata_t24;
.reg .b32 %strata_t25;
.reg .b32 %strata_t26;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd1$c4;
.reg .b64 %rd1$c5;
.reg .b64 %rd1$c6;
.reg .b64 %rd1$c7;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd10$c2;
.reg .b64 %rd10$c3;
.reg .b64 %rd10$c4;
.reg .b64 %rd10$c5;
.reg .b64 %rd10$c6;
.reg .b64 %rd10$c7;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd2$c4;
.reg .b64 %rd2$c5;
.reg .b64 %rd2$c6;
.reg .b64 %rd2$c7;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd3$c4;
.reg .b64 %rd3$c5;
.reg .b64 %rd3$c6;
.reg .b64 %rd3$c7;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd7$c2;
.reg .b64 %rd7$c3;
.reg .b64 %rd7$c4;
.reg .b64 %rd7$c5;
.reg .b64 %rd7$c6;
.reg .b64 %rd7$c7;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .b64 %rd9$c4;
.reg .b64 %rd9$c5;
.reg .b64 %rd9$c6;
.reg .b64 %rd9$c7;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_2_16_coalesced_strata_blocks];
mov.u32 %strata_t24, %tid.x;
mov.u32 %strata_t25, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
shl.b32 %strata_t24, %strata_t24, 3;
bfind.u32 %strata_t26, %strata_t25;
sub.u32 %strata_t25, %strata_t25, 1;
and.b32 %strata_lane0, %strata_t24, %strata_t25;
shr.u32 %strata_t24, %strata_t24, %strata_t26;
mad.lo.u32 %strata_block, %strata_block, 8, %strata_t24;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
add.u32 %strata_lane4, %strata_lane0, 4;
add.u32 %strata_lane5, %strata_lane0, 5;
add.u32 %strata_lane6, %strata_lane0, 6;
add.u32 %strata_lane7, %strata_lane0, 7;
setp.ge.u32 %strata_none, %strata_block, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_2_16_coalesced_param_0];
ld.param.u64 %rd5, [short_words_2_16_coalesced_param_1];
ld.param.u64 %rd6, [short_words_2_16_coalesced_param_2];
ld.param.u32 %r6, [short_words_2_16_coalesced_param_3];
ld.param.u32 %r7, [short_words_2_16_coalesced_param_4];
mov.u32 %r8, %strata_lane0;
add.s32 %r8$c1, %r8, 1;
add.s32 %r8$c2, %r8, 2;
add.s32 %r8$c3, %r8, 3;
add.s32 %r8$c4, %r8, 4;
add.s32 %r8$c5, %r8, 5;
add.s32 %r8$c6, %r8, 6;
add.s32 %r8$c7, %r8, 7;
mul.wide.u32 %rd7, %r6, %r8;
add.s64 %rd7$c1, %rd7, 1;
add.s64 %rd7$c2, %rd7, 2;
add.s64 %rd7$c3, %rd7, 3;
add.s64 %rd7$c4, %rd7, 4;
add.s64 %rd7$c5, %rd7, 5;
add.s64 %rd7$c6, %rd7, 6;
add.s64 %rd7$c7, %rd7, 7;
mov.u32 %r9, %strata_block;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
add.s64 %rd9$c4, %rd9, 4;
add.s64 %rd9$c5, %rd9, 5;
add.s64 %rd9$c6, %rd9, 6;
add.s64 %rd9$c7, %rd9, 7;
shl.b64 %rd10, %rd9, 1;
add.s64 %rd10$c1, %rd10, 2;
add.s64 %rd10$c2, %rd10, 4;
add.s64 %rd10$c3, %rd10, 6;
add.s64 %rd10$c4, %rd10, 8;
add.s64 %rd10$c5, %rd10, 10;
add.s64 %rd10$c6, %rd10, 12;
add.s64 %rd10$c7, %rd10, 14;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 2;
add.s64 %rd1$c2, %rd1, 4;
add.s64 %rd1$c3, %rd1, 6;
add.s64 %rd1$c4, %rd1, 8;
add.s64 %rd1$c5, %rd1, 10;
add.s64 %rd1$c6, %rd1, 12;
add.s64 %rd1$c7, %rd1, 14;
mov.u32 %r4, 0;
ld.global.v4.b32 {%strata_t0, %strata_t1, %strata_t2, %strata_t3}, [%rd1+0];
prmt.b32 %r1, %strata_t0, 0, 0x4410;
prmt.b32 %r1$c1, %strata_t0, 0, 0x4432;
prmt.b32 %r1$c2, %strata_t1, 0, 0x4410;
prmt.b32 %r1$c3, %strata_t1, 0, 0x4432;
prmt.b32 %r1$c4, %strata_t2, 0, 0x4410;
prmt.b32 %r1$c5, %strata_t2, 0, 0x4432;
prmt.b32 %r1$c6, %strata_t3, 0, 0x4410;
prmt.b32 %r1$c7, %strata_t3, 0, 0x4432;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 2;
add.s64 %rd2$c2, %rd2, 4;
add.s64 %rd2$c3, %rd2, 6;
add.s64 %rd2$c4, %rd2, 8;
add.s64 %rd2$c5, %rd2, 10;
add.s64 %rd2$c6, %rd2, 12;
add.s64 %rd2$c7, %rd2, 14;
ld.global.v4.b32 {%strata_t4, %strata_t5, %strata_t6, %strata_t7}, [%rd2+0];
prmt.b32 %r3, %strata_t4, 0, 0x4410;
prmt.b32 %r3$c1, %strata_t4, 0, 0x4432;
prmt.b32 %r3$c2, %strata_t5, 0, 0x4410;
prmt.b32 %r3$c3, %strata_t5, 0, 0x4432;
prmt.b32 %r3$c4, %strata_t6, 0, 0x4410;
prmt.b32 %r3$c5, %strata_t6, 0, 0x4432;
prmt.b32 %r3$c6, %strata_t7, 0, 0x4410;
prmt.b32 %r3$c7, %strata_t7, 0, 0x4432;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s32 %r5$c4, %r3$c4, %r1$c4;
add.s32 %r5$c5, %r3$c5, %r1$c5;
add.s32 %r5$c6, %r3$c6, %r1$c6;
add.s32 %r5$c7, %r3$c7, %r1$c7;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 2;
add.s64 %rd3$c2, %rd3, 4;
add.s64 %rd3$c3, %rd3, 6;
add.s64 %rd3$c4, %rd3, 8;
add.s64 %rd3$c5, %rd3, 10;
add.s64 %rd3$c6, %rd3, 12;
add.s64 %rd3$c7, %rd3, 14;
mov.b32 %strata_t8, %r5;
mov.b32 %strata_t9, %r5$c1;
mov.b32 %strata_t10, %r5$c2;
mov.b32 %strata_t11, %r5$c3;
mov.b32 %strata_t12, %r5$c4;
mov.b32 %strata_t13, %r5$c5;
mov.b32 %strata_t14, %r5$c6;
mov.b32 %strata_t15, %r5$c7;
and.b32 %strata_t16, %strata_t8, 65535;
bfi.b32 %strata_t17, %strata_t9, %strata_t16, 16, 16;
and.b32 %strata_t18, %strata_t10, 65535;
bfi.b32 %strata_t19, %strata_t11, %strata_t18, 16, 16;
and.b32 %strata_t20, %strata_t12, 65535;
bfi.b32 %strata_t21, %strata_t13, %strata_t20, 16, 16;
and.b32 %strata_t22, %strata_t14, 65535;
bfi.b32 %strata_t23, %strata_t15, %strata_t22, 16, 16;
st.global.v4.b32 [%rd3$c7+-14], {%strata_t17, %strata_t19, %strata_t21, %strata_t23};
ret;
}
.visible .entry short_words_2_16_coalesced(
	.param .u64 short_words_2_16_coalesced_param_0,
	.param .u64 short_words_2_16_coalesced_param_1,
	.param .u64 short_words_2_16_coalesced_param_2,
	.param .u32 short_words_2_16_coalesced_param_3,
	.param .u32 short_words_2_16_coalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_2_16_coalesced_param_0];
	ld.param.u64 	%rd5, [short_words_2_16_coalesced_param_1];
	ld.param.u64 	%rd6, [short_words_2_16_coalesced_param_2];
	ld.param.u32 	%r6, [short_words_2_16_coalesced_param_3];
	ld.param.u32 	%r7, [short_words_2_16_coalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 1;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u16 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u16 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u16 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_4_8_coalesced
.visible .entry short_words_4_8_coalesced_mended(.param .u64 short_words_4_8_coalesced_param_0 , .param .u64 short_words_4_8_coalesced_param_1 , .param .u64 short_words_4_8_coalesced_param_2 , .param .u32 short_words_4_8_coalesced_param_3 , .param .u32 short_words_4_8_coalesced_param_4 , .param .u32 short_words_4_8_coalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_4_8_coalesced_strata_blocks];
mov.u32 %strata_t6, %tid.x;
mov.u32 %strata_t7, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
shl.b32 %strata_t6, %strata_t6, 1;
bfind.u32 %strata_t8, %strata_t7;
sub.u32 %strata_t7, %strata_t7, 1;
and.b32 %strata_lane0, %strata_t6, %strata_t7;
shr.u32 %strata_t6, %strata_t6, %strata_t8;
mad.lo.u32 %strata_block, %strata_block, 2, %strata_t6;
add.u32 %strata_lane1, %strata_lane0, 1;
setp.ge.u32 %strata_none, %strata_block, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_4_8_coalesced_param_0];
ld.param.u64 %rd5, [short_words_4_8_coalesced_param_1];
ld.param.u64 %rd6, [short_words_4_8_coalesced_param_2];
ld.param.u32 %r6, [short_words_4_8_coalesced_param_3];
ld.param.u32 %r7, [short_words_4_8_coalesced_param_4];
mov.u32 %r8, %strata_lane0;
add.s32 %r8$c1, %r8, 1;
mul.wide.u32 %rd7, %r6, %r8;
add.s64 %rd7$c1, %rd7, 1;
mov.u32 %r9, %strata_block;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
shl.b64 %rd10, %rd9, 2;
add.s64 %rd10$c1, %rd10, 4;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 4;
mov.u32 %r4, 0;
ld.global.v2.b32 {%strata_t0, %strata_t1}, [%rd1+0];
mov.b32 %r1, %strata_t0;
mov.b32 %r1$c1, %strata_t1;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 4;
ld.global.v2.b32 {%strata_t2, %strata_t3}, [%rd2+0];
mov.b32 %r3, %strata_t2;
mov.b32 %r3$c1, %strata_t3;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 4;
mov.b32 %strata_t4, %r5;
mov.b32 %strata_t5, %r5$c1;
st.global.v2.b32 [%rd3$c1+-4], {%strata_t4, %strata_t5};
ret;
}
.visible .entry short_words_4_8_coalesced(
	.param .u64 short_words_4_8_coalesced_param_0,
	.param .u64 short_words_4_8_coalesced_param_1,
	.param .u64 short_words_4_8_coalesced_param_2,
	.param .u32 short_words_4_8_coalesced_param_3,
	.param .u32 short_words_4_8_coalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_4_8_coalesced_param_0];
	ld.param.u64 	%rd5, [short_words_4_8_coalesced_param_1];
	ld.param.u64 	%rd6, [short_words_4_8_coalesced_param_2];
	ld.param.u32 	%r6, [short_words_4_8_coalesced_param_3];
	ld.param.u32 	%r7, [short_words_4_8_coalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 2;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u32 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u32 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u32 [%rd3], %r5;
	// end inline asm
	ret;

}
	// .globl	short_words_4_16_coalesced
.visible .entry short_words_4_16_coalesced_mended(.param .u64 short_words_4_16_coalesced_param_0 , .param .u64 short_words_4_16_coalesced_param_1 , .param .u64 short_words_4_16_coalesced_param_2 , .param .u32 short_words_4_16_coalesced_param_3 , .param .u32 short_words_4_16_coalesced_param_4 , .param .u32 short_words_4_16_coalesced_strata_blocks)
.maxntid 256, 1, 1
{
.reg .b32 %r1;
.reg .b32 %r1$c1;
.reg .b32 %r1$c2;
.reg .b32 %r1$c3;
.reg .b32 %r3;
.reg .b32 %r3$c1;
.reg .b32 %r3$c2;
.reg .b32 %r3$c3;
.reg .b32 %r4;
.reg .b32 %r5;
.reg .b32 %r5$c1;
.reg .b32 %r5$c2;
.reg .b32 %r5$c3;
.reg .b32 %r6;
.reg .b32 %r7;
.reg .b32 %r8;
.reg .b32 %r8$c1;
.reg .b32 %r8$c2;
.reg .b32 %r8$c3;
.reg .b32 %r9;
.reg .b32 %strata_lane0;
.reg .b32 %strata_lane1;
.reg .b32 %strata_lane2;
.reg .b32 %strata_lane3;
.reg .b32 %strata_t0;
.reg .b32 %strata_t1;
.reg .b32 %strata_t10;
.reg .b32 %strata_t11;
.reg .b32 %strata_t12;
.reg .b32 %strata_t13;
.reg .b32 %strata_t14;
.reg .b32 %strata_t2;
.reg .b32 %strata_t3;
.reg .b32 %strata_t4;
.reg .b32 %strata_t5;
.reg .b32 %strata_t6;
.reg .b32 %strata_t7;
.reg .b32 %strata_t8;
.reg .b32 %strata_t9;
.reg .b64 %rd1;
.reg .b64 %rd1$c1;
.reg .b64 %rd1$c2;
.reg .b64 %rd1$c3;
.reg .b64 %rd10;
.reg .b64 %rd10$c1;
.reg .b64 %rd10$c2;
.reg .b64 %rd10$c3;
.reg .b64 %rd2;
.reg .b64 %rd2$c1;
.reg .b64 %rd2$c2;
.reg .b64 %rd2$c3;
.reg .b64 %rd3;
.reg .b64 %rd3$c1;
.reg .b64 %rd3$c2;
.reg .b64 %rd3$c3;
.reg .b64 %rd4;
.reg .b64 %rd5;
.reg .b64 %rd6;
.reg .b64 %rd7;
.reg .b64 %rd7$c1;
.reg .b64 %rd7$c2;
.reg .b64 %rd7$c3;
.reg .b64 %rd8;
.reg .b64 %rd9;
.reg .b64 %rd9$c1;
.reg .b64 %rd9$c2;
.reg .b64 %rd9$c3;
.reg .b32 %strata_blocks, %strata_block, %strata_index;
.reg .pred %strata_none;
ld.param.u32 %strata_blocks, [short_words_4_16_coalesced_strata_blocks];
mov.u32 %strata_t12, %tid.x;
mov.u32 %strata_t13, %ntid.x;
mov.u32 %strata_block, %ctaid.x;
shl.b32 %strata_t12, %strata_t12, 2;
bfind.u32 %strata_t14, %strata_t13;
sub.u32 %strata_t13, %strata_t13, 1;
and.b32 %strata_lane0, %strata_t12, %strata_t13;
shr.u32 %strata_t12, %strata_t12, %strata_t14;
mad.lo.u32 %strata_block, %strata_block, 4, %strata_t12;
add.u32 %strata_lane1, %strata_lane0, 1;
add.u32 %strata_lane2, %strata_lane0, 2;
add.u32 %strata_lane3, %strata_lane0, 3;
setp.ge.u32 %strata_none, %strata_block, %strata_blocks;
@%strata_none ret;
$strata_0:
ld.param.u64 %rd4, [short_words_4_16_coalesced_param_0];
ld.param.u64 %rd5, [short_words_4_16_coalesced_param_1];
ld.param.u64 %rd6, [short_words_4_16_coalesced_param_2];
ld.param.u32 %r6, [short_words_4_16_coalesced_param_3];
ld.param.u32 %r7, [short_words_4_16_coalesced_param_4];
mov.u32 %r8, %strata_lane0;
add.s32 %r8$c1, %r8, 1;
add.s32 %r8$c2, %r8, 2;
add.s32 %r8$c3, %r8, 3;
mul.wide.u32 %rd7, %r6, %r8;
add.s64 %rd7$c1, %rd7, 1;
add.s64 %rd7$c2, %rd7, 2;
add.s64 %rd7$c3, %rd7, 3;
mov.u32 %r9, %strata_block;
mul.wide.u32 %rd8, %r7, %r9;
add.s64 %rd9, %rd8, %rd7;
add.s64 %rd9$c1, %rd9, 1;
add.s64 %rd9$c2, %rd9, 2;
add.s64 %rd9$c3, %rd9, 3;
shl.b64 %rd10, %rd9, 2;
add.s64 %rd10$c1, %rd10, 4;
add.s64 %rd10$c2, %rd10, 8;
add.s64 %rd10$c3, %rd10, 12;
add.s64 %rd1, %rd4, %rd10;
add.s64 %rd1$c1, %rd1, 4;
add.s64 %rd1$c2, %rd1, 8;
add.s64 %rd1$c3, %rd1, 12;
mov.u32 %r4, 0;
ld.global.v4.b32 {%strata_t0, %strata_t1, %strata_t2, %strata_t3}, [%rd1+0];
mov.b32 %r1, %strata_t0;
mov.b32 %r1$c1, %strata_t1;
mov.b32 %r1$c2, %strata_t2;
mov.b32 %r1$c3, %strata_t3;
add.s64 %rd2, %rd5, %rd10;
add.s64 %rd2$c1, %rd2, 4;
add.s64 %rd2$c2, %rd2, 8;
add.s64 %rd2$c3, %rd2, 12;
ld.global.v4.b32 {%strata_t4, %strata_t5, %strata_t6, %strata_t7}, [%rd2+0];
mov.b32 %r3, %strata_t4;
mov.b32 %r3$c1, %strata_t5;
mov.b32 %r3$c2, %strata_t6;
mov.b32 %r3$c3, %strata_t7;
add.s32 %r5, %r3, %r1;
add.s32 %r5$c1, %r3$c1, %r1$c1;
add.s32 %r5$c2, %r3$c2, %r1$c2;
add.s32 %r5$c3, %r3$c3, %r1$c3;
add.s64 %rd3, %rd6, %rd10;
add.s64 %rd3$c1, %rd3, 4;
add.s64 %rd3$c2, %rd3, 8;
add.s64 %rd3$c3, %rd3, 12;
mov.b32 %strata_t8, %r5;
mov.b32 %strata_t9, %r5$c1;
mov.b32 %strata_t10, %r5$c2;
mov.b32 %strata_t11, %r5$c3;
st.global.v4.b32 [%rd3$c3+-12], {%strata_t8, %strata_t9, %strata_t10, %strata_t11};
ret;
}
.visible .entry short_words_4_16_coalesced(
	.param .u64 short_words_4_16_coalesced_param_0,
	.param .u64 short_words_4_16_coalesced_param_1,
	.param .u64 short_words_4_16_coalesced_param_2,
	.param .u32 short_words_4_16_coalesced_param_3,
	.param .u32 short_words_4_16_coalesced_param_4
)
.maxntid 256, 1, 1
{
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<11>;


	ld.param.u64 	%rd4, [short_words_4_16_coalesced_param_0];
	ld.param.u64 	%rd5, [short_words_4_16_coalesced_param_1];
	ld.param.u64 	%rd6, [short_words_4_16_coalesced_param_2];
	ld.param.u32 	%r6, [short_words_4_16_coalesced_param_3];
	ld.param.u32 	%r7, [short_words_4_16_coalesced_param_4];
	mov.u32 	%r8, %tid.x;
	mul.wide.u32 	%rd7, %r6, %r8;
	mov.u32 	%r9, %ctaid.x;
	mul.wide.u32 	%rd8, %r7, %r9;
	add.s64 	%rd9, %rd8, %rd7;
	shl.b64 	%rd10, %rd9, 2;
	add.s64 	%rd1, %rd4, %rd10;
	mov.u32 	%r4, 0;
	// begin inline asm
	ld.global.u32 %r1, [%rd1];
	// end inline asm
	add.s64 	%rd2, %rd5, %rd10;
	// begin inline asm
	ld.global.u32 %r3, [%rd2];
	// end inline asm
	add.s32 	%r5, %r3, %r1;
	add.s64 	%rd3, %rd6, %rd10;
	// begin inline asm
	st.global.u32 [%rd3], %r5;
	// end inline asm
	ret;

}

)strata"};
  return library;
}

struct sobel_kernel {
  static constexpr std::size_t count = 3;
  static constexpr std::size_t offsets[]{0, 8, 16, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 0};
  static constexpr std::size_t bytes = 24;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 3ULL) / 4), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n4 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n4, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n5 = Range{0, 4294967295};
    const Range n6 = Range{4294967296, 4294967296};
    const Range n8 = below(n0);
    const Range n11 = exactly(std::uint64_t{sizes[3]});
    const Range n12 = below(n11);
    const Range n13 = short_multiply(n0, n12);
    const Range n14 = short_add(n8, n13);
    const Range n15 = remainder(n14, n6);
    const Range n16 = both(n5, n15);
    const Range n17 = short_add(n4, n16);
    const Range n18 = exactly(std::uint64_t{sizes[1]});
    const Range n19 = below(n18);
    const Range n20 = read<std::uint32_t>(bytes + 16);
    const Range n21 = short_multiply(n19, n20);
    const Range n22 = short_add(n17, n21);
    const Range n24 = exactly(std::uint64_t{sizes[4]});
    const Range n25 = below(n24);
    const Range n26 = short_multiply(n18, n25);
    const Range n27 = short_multiply(n26, n20);
    const Range n28 = short_add(n22, n27);
    const Range n29 = Range{-endless, -1};
    const Range n30 = multiply(n20, n29);
    const Range n31 = read<std::uint32_t>(bytes + 20);
    const Range n32 = multiply(n31, n20);
    const Range n33 = add(n17, n32);
    const Range n34 = short_add(n4, n20);
    const Range n35 = add(n34, n32);
    const Range n36 = add(n29, n35);
    const Range n37 = both(n33, n36);
    const Range n38 = add(n30, n37);
    const Range n39 = both(n28, n38);
    const Range n44 = short_multiply(n18, n20);
    const Range n75 = Range{-1, -1};
    const Range n76 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n76, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n77 = short_add(n75, n76);
    const Range n78 = multiply(n75, n20);
    const Range n79 = short_add(n77, n78);
    const Range n80 = short_add(n79, n16);
    const Range n81 = short_add(n80, n21);
    const Range n82 = short_add(n81, n27);
    const Range n83 = Range{-2, -2};
    const Range n84 = multiply(n83, n20);
    const Range n85 = short_add(n77, n84);
    const Range n86 = short_add(n85, n16);
    const Range n87 = add(n86, n32);
    const Range n88 = Range{1, endless};
    const Range n89 = add(n85, n32);
    const Range n90 = add(n88, n89);
    const Range n91 = both(n87, n90);
    const Range n92 = add(n79, n32);
    const Range n93 = add(n29, n92);
    const Range n94 = both(n91, n93);
    const Range n95 = add(n30, n94);
    const Range n96 = both(n82, n95);
    const Range n97 = multiply(n20, n88);
    const Range n98 = add(n88, n79);
    const Range n99 = both(n80, n98);
    const Range n100 = add(n29, n77);
    const Range n101 = both(n99, n100);
    const Range n102 = add(n97, n101);
    const Range n103 = both(n96, n102);
    const Range n114 = short_add(n77, n16);
    const Range n115 = short_add(n114, n21);
    const Range n116 = short_add(n115, n27);
    const Range n117 = add(n80, n32);
    const Range n118 = add(n88, n92);
    const Range n119 = both(n117, n118);
    const Range n120 = add(n77, n32);
    const Range n121 = add(n29, n120);
    const Range n122 = both(n119, n121);
    const Range n123 = add(n30, n122);
    const Range n124 = both(n116, n123);
    const Range n125 = add(n88, n77);
    const Range n126 = both(n114, n125);
    const Range n127 = short_add(n77, n20);
    const Range n128 = add(n29, n127);
    const Range n129 = both(n126, n128);
    const Range n130 = add(n97, n129);
    const Range n131 = both(n124, n130);
    const Range n141 = short_add(n127, n16);
    const Range n142 = short_add(n141, n21);
    const Range n143 = short_add(n142, n27);
    const Range n144 = add(n114, n32);
    const Range n145 = add(n88, n120);
    const Range n146 = both(n144, n145);
    const Range n147 = add(n127, n32);
    const Range n148 = add(n29, n147);
    const Range n149 = both(n146, n148);
    const Range n150 = add(n30, n149);
    const Range n151 = both(n143, n150);
    const Range n152 = add(n88, n127);
    const Range n153 = both(n141, n152);
    const Range n154 = Range{2, 2};
    const Range n155 = short_multiply(n154, n20);
    const Range n156 = short_add(n77, n155);
    const Range n157 = add(n29, n156);
    const Range n158 = both(n153, n157);
    const Range n159 = add(n97, n158);
    const Range n160 = both(n151, n159);
    const Range n172 = short_multiply(n0, n11);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 4)) return "block.x is no multiple of 4";
    if (!are_apart(n39, 1, n103, 3)) return "the st.global.u8 of line 116 and the ld.global.u8 of line 65 may meet";
    if (!are_apart(n39, 1, n131, 3)) return "the st.global.u8 of line 116 and the ld.global.u8 of line 77 may meet";
    if (!are_apart(n39, 1, n160, 3)) return "the st.global.u8 of line 116 and the ld.global.u8 of line 87 may meet";
    if (!is_multiple(n76, 4)) return "param_0 is no multiple of 4";
    if (!is_multiple(n20, 4)) return "param_2[0] is no multiple of 4";
    if (!is_multiple(n44, 4)) return "blockDim.y·param_2[0] is no multiple of 4";
    if (!is_within(n14, 0, 4294967295)) return "threadIdx.x + blockDim.x·blockIdx.x < 2^32 does not hold";
    if (!is_multiple(n4, 4)) return "param_1 is no multiple of 4";
    if (!is_within(n172, 1, 2147483648)) return "block.x·grid.x is more than 2^31";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "sobel", "sobel_mended");
  }
};

/// sobel
/// 4 threads in one, accesses grouped into up to 16 bytes
struct sobel {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<sobel_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<sobel_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return sobel_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<sobel_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<sobel_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<sobel_kernel>{shape, arguments...}.pays();
  }
};

struct rotation_forward_kernel {
  static constexpr std::size_t count = 3;
  static constexpr std::size_t offsets[]{0, 8, 16, 0};
  static constexpr std::size_t sizes[]{8, 8, 24, 0};
  static constexpr std::size_t bytes = 40;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 3ULL) / 4), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n4 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n4, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n5 = Range{0, 4294967295};
    const Range n6 = Range{4294967296, 4294967296};
    const Range n7 = Range{-32768, -32768};
    const Range n8 = Range{0, 65535};
    const Range n9 = Range{65536, 65536};
    const Range n10 = Range{2147483648, 2147483648};
    const Range n12 = read<std::int32_t>(bytes + 32);
    const Range n13 = short_add(n10, n12);
    const Range n15 = below(n0);
    const Range n16 = read<std::int32_t>(bytes + 24);
    const Range n17 = multiply(n15, n16);
    const Range n18 = short_add(n13, n17);
    const Range n21 = exactly(std::uint64_t{sizes[3]});
    const Range n22 = below(n21);
    const Range n23 = short_multiply(n0, n22);
    const Range n24 = multiply(n23, n16);
    const Range n25 = add(n18, n24);
    const Range n26 = Range{-1, -1};
    const Range n27 = exactly(std::uint64_t{sizes[1]});
    const Range n28 = below(n27);
    const Range n29 = multiply(n26, n28);
    const Range n30 = read<std::int32_t>(bytes + 28);
    const Range n31 = multiply(n29, n30);
    const Range n32 = add(n25, n31);
    const Range n33 = multiply(n26, n27);
    const Range n35 = exactly(std::uint64_t{sizes[4]});
    const Range n36 = below(n35);
    const Range n37 = multiply(n33, n36);
    const Range n38 = multiply(n37, n30);
    const Range n39 = add(n32, n38);
    const Range n40 = remainder(n39, n6);
    const Range n41 = both(n5, n40);
    const Range n42 = quotient(n41, n9);
    const Range n43 = both(n8, n42);
    const Range n44 = short_add(n7, n43);
    const Range n45 = remainder(n44, n6);
    const Range n46 = both(n5, n45);
    const Range n47 = short_add(n4, n46);
    const Range n48 = read<std::uint32_t>(bytes + 16);
    const Range n49 = read<std::int32_t>(bytes + 36);
    const Range n50 = short_add(n10, n49);
    const Range n51 = multiply(n28, n16);
    const Range n52 = short_add(n50, n51);
    const Range n53 = short_multiply(n27, n36);
    const Range n54 = multiply(n53, n16);
    const Range n55 = short_add(n52, n54);
    const Range n56 = multiply(n15, n30);
    const Range n57 = short_add(n55, n56);
    const Range n58 = multiply(n23, n30);
    const Range n59 = add(n57, n58);
    const Range n60 = remainder(n59, n6);
    const Range n61 = both(n5, n60);
    const Range n62 = quotient(n61, n9);
    const Range n63 = both(n8, n62);
    const Range n64 = short_add(n7, n63);
    const Range n65 = remainder(n64, n6);
    const Range n66 = both(n5, n65);
    const Range n67 = multiply(n48, n66);
    const Range n68 = add(n47, n67);
    const Range n69 = Range{-endless, -1};
    const Range n70 = multiply(n48, n69);
    const Range n71 = read<std::uint32_t>(bytes + 20);
    const Range n72 = multiply(n71, n48);
    const Range n73 = add(n47, n72);
    const Range n74 = short_add(n4, n48);
    const Range n75 = add(n74, n72);
    const Range n76 = add(n69, n75);
    const Range n77 = both(n73, n76);
    const Range n78 = add(n70, n77);
    const Range n79 = both(n68, n78);
    const Range n80 = add(n74, n67);
    const Range n83 = add(n69, n80);
    const Range n84 = both(n79, n83);
    const Range n85 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n85, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n86 = short_add(n15, n23);
    const Range n87 = remainder(n86, n6);
    const Range n88 = both(n5, n87);
    const Range n89 = short_add(n85, n88);
    const Range n90 = short_multiply(n28, n48);
    const Range n91 = short_add(n89, n90);
    const Range n92 = short_multiply(n53, n48);
    const Range n93 = short_add(n91, n92);
    const Range n94 = add(n89, n72);
    const Range n95 = short_add(n85, n48);
    const Range n96 = add(n95, n72);
    const Range n97 = add(n69, n96);
    const Range n98 = both(n94, n97);
    const Range n99 = add(n70, n98);
    const Range n100 = both(n93, n99);
    const Range n105 = short_multiply(n27, n48);
    const Range n138 = short_multiply(n0, n21);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 4)) return "block.x is no multiple of 4";
    if (!are_apart(n84, 1, n100, 1)) return "the st.global.u8 of line 850 and the ld.global.u8 of line 839 may meet";
    if (!is_multiple(n85, 4)) return "param_0 is no multiple of 4";
    if (!is_multiple(n48, 4)) return "param_2[0] is no multiple of 4";
    if (!is_multiple(n105, 4)) return "blockDim.y·param_2[0] is no multiple of 4";
    if (!is_within(n86, 0, 4294967295)) return "threadIdx.x + blockDim.x·blockIdx.x < 2^32 does not hold";
    if (!is_within(n138, 1, 2147483648)) return "block.x·grid.x is more than 2^31";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n2 = Range{1, 1};
    const Range n16 = read<std::int32_t>(bytes + 24);
    const Range n30 = read<std::int32_t>(bytes + 28);
    const Range n48 = read<std::uint32_t>(bytes + 16);
    double before = 0;
    double after = 0;
    const LaneStep parts0[]{{number(n2), number(n16) / 65536.0}, {number(n48), number(n30) / 65536.0}};
    const double lanes0 = std::min(32.0, number(n0));
    before += 32 / lanes0 * reached_sectors(parts0, lanes0, 1);
    after += 32 / lanes0 * reached_sectors(parts0, lanes0, 4);
    return after <= std::max(before, stored_anyway);
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "rotation_forward", "rotation_forward_mended");
  }
};

/// rotation_forward
/// 4 threads in one, accesses grouped into up to 16 bytes
struct rotation_forward {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<rotation_forward_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<rotation_forward_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return rotation_forward_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<rotation_forward_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<rotation_forward_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<rotation_forward_kernel>{shape, arguments...}.pays();
  }
};

struct rotation_backward_kernel {
  static constexpr std::size_t count = 3;
  static constexpr std::size_t offsets[]{0, 8, 16, 0};
  static constexpr std::size_t sizes[]{8, 8, 24, 0};
  static constexpr std::size_t bytes = 40;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 3ULL) / 4), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n4 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n4, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n5 = Range{0, 4294967295};
    const Range n6 = Range{4294967296, 4294967296};
    const Range n8 = below(n0);
    const Range n11 = exactly(std::uint64_t{sizes[3]});
    const Range n12 = below(n11);
    const Range n13 = short_multiply(n0, n12);
    const Range n14 = short_add(n8, n13);
    const Range n15 = remainder(n14, n6);
    const Range n16 = both(n5, n15);
    const Range n17 = short_add(n4, n16);
    const Range n18 = exactly(std::uint64_t{sizes[1]});
    const Range n19 = below(n18);
    const Range n20 = read<std::uint32_t>(bytes + 16);
    const Range n21 = short_multiply(n19, n20);
    const Range n22 = short_add(n17, n21);
    const Range n24 = exactly(std::uint64_t{sizes[4]});
    const Range n25 = below(n24);
    const Range n26 = short_multiply(n18, n25);
    const Range n27 = short_multiply(n26, n20);
    const Range n28 = short_add(n22, n27);
    const Range n29 = Range{-endless, -1};
    const Range n30 = multiply(n20, n29);
    const Range n31 = read<std::uint32_t>(bytes + 20);
    const Range n32 = multiply(n31, n20);
    const Range n33 = add(n17, n32);
    const Range n34 = short_add(n4, n20);
    const Range n35 = add(n34, n32);
    const Range n36 = add(n29, n35);
    const Range n37 = both(n33, n36);
    const Range n38 = add(n30, n37);
    const Range n39 = both(n28, n38);
    const Range n44 = short_multiply(n18, n20);
    const Range n75 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n75, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n76 = Range{-32768, -32768};
    const Range n77 = Range{0, 65535};
    const Range n78 = Range{65536, 65536};
    const Range n79 = Range{2147483648, 2147483648};
    const Range n81 = read<std::int32_t>(bytes + 32);
    const Range n82 = short_add(n79, n81);
    const Range n83 = read<std::int32_t>(bytes + 24);
    const Range n84 = multiply(n8, n83);
    const Range n85 = short_add(n82, n84);
    const Range n86 = multiply(n13, n83);
    const Range n87 = add(n85, n86);
    const Range n88 = Range{-1, -1};
    const Range n89 = multiply(n88, n19);
    const Range n90 = read<std::int32_t>(bytes + 28);
    const Range n91 = multiply(n89, n90);
    const Range n92 = add(n87, n91);
    const Range n93 = multiply(n88, n18);
    const Range n94 = multiply(n93, n25);
    const Range n95 = multiply(n94, n90);
    const Range n96 = add(n92, n95);
    const Range n97 = remainder(n96, n6);
    const Range n98 = both(n5, n97);
    const Range n99 = quotient(n98, n78);
    const Range n100 = both(n77, n99);
    const Range n101 = short_add(n76, n100);
    const Range n102 = remainder(n101, n6);
    const Range n103 = both(n5, n102);
    const Range n104 = short_add(n75, n103);
    const Range n105 = read<std::int32_t>(bytes + 36);
    const Range n106 = short_add(n79, n105);
    const Range n107 = multiply(n19, n83);
    const Range n108 = short_add(n106, n107);
    const Range n109 = multiply(n26, n83);
    const Range n110 = short_add(n108, n109);
    const Range n111 = multiply(n8, n90);
    const Range n112 = short_add(n110, n111);
    const Range n113 = multiply(n13, n90);
    const Range n114 = add(n112, n113);
    const Range n115 = remainder(n114, n6);
    const Range n116 = both(n5, n115);
    const Range n117 = quotient(n116, n78);
    const Range n118 = both(n77, n117);
    const Range n119 = short_add(n76, n118);
    const Range n120 = remainder(n119, n6);
    const Range n121 = both(n5, n120);
    const Range n122 = multiply(n20, n121);
    const Range n123 = add(n104, n122);
    const Range n124 = add(n104, n32);
    const Range n125 = short_add(n75, n20);
    const Range n126 = add(n125, n32);
    const Range n127 = add(n29, n126);
    const Range n128 = both(n124, n127);
    const Range n129 = add(n30, n128);
    const Range n130 = both(n123, n129);
    const Range n131 = add(n125, n122);
    const Range n134 = add(n29, n131);
    const Range n135 = both(n130, n134);
    const Range n138 = short_multiply(n0, n11);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 4)) return "block.x is no multiple of 4";
    if (!are_apart(n39, 1, n135, 1)) return "the st.global.u8 of line 1350 and the ld.global.u8 of line 1341 may meet";
    if (!is_multiple(n4, 4)) return "param_1 is no multiple of 4";
    if (!is_multiple(n20, 4)) return "param_2[0] is no multiple of 4";
    if (!is_multiple(n44, 4)) return "blockDim.y·param_2[0] is no multiple of 4";
    if (!is_within(n14, 0, 4294967295)) return "threadIdx.x + blockDim.x·blockIdx.x < 2^32 does not hold";
    if (!is_within(n138, 1, 2147483648)) return "block.x·grid.x is more than 2^31";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "rotation_backward", "rotation_backward_mended");
  }
};

/// rotation_backward
/// 4 threads in one, accesses grouped into up to 16 bytes
struct rotation_backward {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<rotation_backward_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<rotation_backward_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return rotation_backward_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<rotation_backward_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<rotation_backward_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<rotation_backward_kernel>{shape, arguments...}.pays();
  }
};

struct dct_kernel {
  static constexpr std::size_t count = 2;
  static constexpr std::size_t offsets[]{0, 8, 0};
  static constexpr std::size_t sizes[]{8, 8, 0};
  static constexpr std::size_t bytes = 16;
  static constexpr bool counts_blocks = false;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(shape.grid.x, shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n3 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n3, -far_address, far_address)) return "an address or a number is beyond 2^57";
    if (!is_multiple(n3, 16)) return "param_0 is no multiple of 16";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "dct", "dct_mended");
  }
};

/// dct
/// 16 passes of a loop in one, accesses grouped into up to 16 bytes
struct dct {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<dct_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<dct_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return dct_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<dct_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<dct_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<dct_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_1_1_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 1ULL * shape.block.x - 1) / (1ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n7 = exactly(std::uint64_t{sizes[0]});
    const Range n8 = below(n7);
    const Range n10 = read<std::uint32_t>(bytes + 24);
    const Range n11 = short_multiply(n8, n10);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = multiply(n15, n1);
    const Range n17 = add(n12, n16);
    const Range n38 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n38, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n39 = short_add(n38, n11);
    const Range n40 = add(n39, n16);
    const Range n54 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n54, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n55 = short_add(n54, n11);
    const Range n56 = add(n55, n16);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n17, 1, n40, 1)) return "the st.global.u8 of line 2163 and the ld.global.u8 of line 2154 may meet";
    if (!are_apart(n17, 1, n56, 1)) return "the st.global.u8 of line 2163 and the ld.global.u8 of line 2158 may meet";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_1_1_uncoalesced", "short_words_1_1_uncoalesced_mended");
  }
};

/// short_words_1_1_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x
struct short_words_1_1_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_1_1_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_1_1_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_1_1_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_1_1_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_1_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_1_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_1_2_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 2ULL * shape.block.x - 1) / (2ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n7 = exactly(std::uint64_t{sizes[0]});
    const Range n8 = below(n7);
    const Range n10 = read<std::uint32_t>(bytes + 24);
    const Range n11 = short_multiply(n8, n10);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = multiply(n15, n1);
    const Range n17 = add(n12, n16);
    const Range n38 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n38, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n39 = short_add(n38, n11);
    const Range n40 = add(n39, n16);
    const Range n54 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n54, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n55 = short_add(n54, n11);
    const Range n56 = add(n55, n16);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n17, 1, n40, 1)) return "the st.global.u8 of line 2257 and the ld.global.u8 of line 2248 may meet";
    if (!are_apart(n17, 1, n56, 1)) return "the st.global.u8 of line 2257 and the ld.global.u8 of line 2252 may meet";
    if (!is_multiple(n38, 2)) return "param_0 is no multiple of 2";
    if (!is_multiple(n10, 2)) return "param_3 is no multiple of 2";
    if (!is_multiple(n54, 2)) return "param_1 is no multiple of 2";
    if (!is_multiple(n5, 2)) return "param_2 is no multiple of 2";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_1_2_uncoalesced", "short_words_1_2_uncoalesced_mended");
  }
};

/// short_words_1_2_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x, 2 threads in one, accesses grouped into up to 16 bytes
struct short_words_1_2_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_1_2_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_1_2_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_1_2_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_1_2_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_2_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_2_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_1_4_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 4ULL * shape.block.x - 1) / (4ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n7 = exactly(std::uint64_t{sizes[0]});
    const Range n8 = below(n7);
    const Range n10 = read<std::uint32_t>(bytes + 24);
    const Range n11 = short_multiply(n8, n10);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = multiply(n15, n1);
    const Range n17 = add(n12, n16);
    const Range n38 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n38, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n39 = short_add(n38, n11);
    const Range n40 = add(n39, n16);
    const Range n54 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n54, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n55 = short_add(n54, n11);
    const Range n56 = add(n55, n16);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n17, 1, n40, 1)) return "the st.global.u8 of line 2436 and the ld.global.u8 of line 2427 may meet";
    if (!are_apart(n17, 1, n56, 1)) return "the st.global.u8 of line 2436 and the ld.global.u8 of line 2431 may meet";
    if (!is_multiple(n38, 4)) return "param_0 is no multiple of 4";
    if (!is_multiple(n10, 4)) return "param_3 is no multiple of 4";
    if (!is_multiple(n54, 4)) return "param_1 is no multiple of 4";
    if (!is_multiple(n5, 4)) return "param_2 is no multiple of 4";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_1_4_uncoalesced", "short_words_1_4_uncoalesced_mended");
  }
};

/// short_words_1_4_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x, 4 threads in one, accesses grouped into up to 16 bytes
struct short_words_1_4_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_1_4_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_1_4_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_1_4_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_1_4_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_4_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_4_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_1_8_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 8ULL * shape.block.x - 1) / (8ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n7 = exactly(std::uint64_t{sizes[0]});
    const Range n8 = below(n7);
    const Range n10 = read<std::uint32_t>(bytes + 24);
    const Range n11 = short_multiply(n8, n10);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = multiply(n15, n1);
    const Range n17 = add(n12, n16);
    const Range n38 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n38, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n39 = short_add(n38, n11);
    const Range n40 = add(n39, n16);
    const Range n54 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n54, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n55 = short_add(n54, n11);
    const Range n56 = add(n55, n16);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n17, 1, n40, 1)) return "the st.global.u8 of line 2711 and the ld.global.u8 of line 2702 may meet";
    if (!are_apart(n17, 1, n56, 1)) return "the st.global.u8 of line 2711 and the ld.global.u8 of line 2706 may meet";
    if (!is_multiple(n38, 8)) return "param_0 is no multiple of 8";
    if (!is_multiple(n10, 8)) return "param_3 is no multiple of 8";
    if (!is_multiple(n54, 8)) return "param_1 is no multiple of 8";
    if (!is_multiple(n5, 8)) return "param_2 is no multiple of 8";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_1_8_uncoalesced", "short_words_1_8_uncoalesced_mended");
  }
};

/// short_words_1_8_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x, 8 threads in one, accesses grouped into up to 16 bytes
struct short_words_1_8_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_1_8_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_1_8_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_1_8_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_1_8_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_8_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_8_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_1_16_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 16ULL * shape.block.x - 1) / (16ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n7 = exactly(std::uint64_t{sizes[0]});
    const Range n8 = below(n7);
    const Range n10 = read<std::uint32_t>(bytes + 24);
    const Range n11 = short_multiply(n8, n10);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = multiply(n15, n1);
    const Range n17 = add(n12, n16);
    const Range n38 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n38, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n39 = short_add(n38, n11);
    const Range n40 = add(n39, n16);
    const Range n54 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n54, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n55 = short_add(n54, n11);
    const Range n56 = add(n55, n16);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n17, 1, n40, 1)) return "the st.global.u8 of line 3180 and the ld.global.u8 of line 3171 may meet";
    if (!are_apart(n17, 1, n56, 1)) return "the st.global.u8 of line 3180 and the ld.global.u8 of line 3175 may meet";
    if (!is_multiple(n38, 16)) return "param_0 is no multiple of 16";
    if (!is_multiple(n10, 16)) return "param_3 is no multiple of 16";
    if (!is_multiple(n54, 16)) return "param_1 is no multiple of 16";
    if (!is_multiple(n5, 16)) return "param_2 is no multiple of 16";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_1_16_uncoalesced", "short_words_1_16_uncoalesced_mended");
  }
};

/// short_words_1_16_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x, 16 threads in one, accesses grouped into up to 16 bytes
struct short_words_1_16_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_1_16_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_1_16_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_1_16_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_1_16_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_16_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_16_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_2_2_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 1ULL * shape.block.x - 1) / (1ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{2, 2};
    const Range n8 = exactly(std::uint64_t{sizes[0]});
    const Range n9 = below(n8);
    const Range n10 = short_multiply(n6, n9);
    const Range n12 = read<std::uint32_t>(bytes + 24);
    const Range n13 = short_multiply(n10, n12);
    const Range n14 = short_add(n5, n13);
    const Range n16 = exactly(std::uint64_t{sizes[3]});
    const Range n17 = below(n16);
    const Range n18 = short_multiply(n6, n17);
    const Range n19 = multiply(n18, n1);
    const Range n20 = add(n14, n19);
    const Range n45 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n45, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n46 = short_add(n45, n13);
    const Range n47 = add(n46, n19);
    const Range n61 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n61, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n62 = short_add(n61, n13);
    const Range n63 = add(n62, n19);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n20, 2, n47, 2)) return "the st.global.u16 of line 4038 and the ld.global.u16 of line 4029 may meet";
    if (!are_apart(n20, 2, n63, 2)) return "the st.global.u16 of line 4038 and the ld.global.u16 of line 4033 may meet";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_2_2_uncoalesced", "short_words_2_2_uncoalesced_mended");
  }
};

/// short_words_2_2_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x
struct short_words_2_2_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_2_2_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_2_2_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_2_2_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_2_2_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_2_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_2_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_2_4_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 2ULL * shape.block.x - 1) / (2ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{2, 2};
    const Range n8 = exactly(std::uint64_t{sizes[0]});
    const Range n9 = below(n8);
    const Range n10 = short_multiply(n6, n9);
    const Range n12 = read<std::uint32_t>(bytes + 24);
    const Range n13 = short_multiply(n10, n12);
    const Range n14 = short_add(n5, n13);
    const Range n16 = exactly(std::uint64_t{sizes[3]});
    const Range n17 = below(n16);
    const Range n18 = short_multiply(n6, n17);
    const Range n19 = multiply(n18, n1);
    const Range n20 = add(n14, n19);
    const Range n28 = short_multiply(n6, n12);
    const Range n45 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n45, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n46 = short_add(n45, n13);
    const Range n47 = add(n46, n19);
    const Range n61 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n61, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n62 = short_add(n61, n13);
    const Range n63 = add(n62, n19);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n20, 2, n47, 2)) return "the st.global.u16 of line 4135 and the ld.global.u16 of line 4126 may meet";
    if (!are_apart(n20, 2, n63, 2)) return "the st.global.u16 of line 4135 and the ld.global.u16 of line 4130 may meet";
    if (!is_multiple(n45, 4)) return "param_0 is no multiple of 4";
    if (!is_multiple(n28, 4)) return "2·param_3 is no multiple of 4";
    if (!is_multiple(n61, 4)) return "param_1 is no multiple of 4";
    if (!is_multiple(n5, 4)) return "param_2 is no multiple of 4";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_2_4_uncoalesced", "short_words_2_4_uncoalesced_mended");
  }
};

/// short_words_2_4_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x, 2 threads in one, accesses grouped into up to 16 bytes
struct short_words_2_4_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_2_4_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_2_4_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_2_4_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_2_4_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_4_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_4_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_2_8_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 4ULL * shape.block.x - 1) / (4ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{2, 2};
    const Range n8 = exactly(std::uint64_t{sizes[0]});
    const Range n9 = below(n8);
    const Range n10 = short_multiply(n6, n9);
    const Range n12 = read<std::uint32_t>(bytes + 24);
    const Range n13 = short_multiply(n10, n12);
    const Range n14 = short_add(n5, n13);
    const Range n16 = exactly(std::uint64_t{sizes[3]});
    const Range n17 = below(n16);
    const Range n18 = short_multiply(n6, n17);
    const Range n19 = multiply(n18, n1);
    const Range n20 = add(n14, n19);
    const Range n28 = short_multiply(n6, n12);
    const Range n45 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n45, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n46 = short_add(n45, n13);
    const Range n47 = add(n46, n19);
    const Range n61 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n61, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n62 = short_add(n61, n13);
    const Range n63 = add(n62, n19);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n20, 2, n47, 2)) return "the st.global.u16 of line 4321 and the ld.global.u16 of line 4312 may meet";
    if (!are_apart(n20, 2, n63, 2)) return "the st.global.u16 of line 4321 and the ld.global.u16 of line 4316 may meet";
    if (!is_multiple(n45, 8)) return "param_0 is no multiple of 8";
    if (!is_multiple(n28, 8)) return "2·param_3 is no multiple of 8";
    if (!is_multiple(n61, 8)) return "param_1 is no multiple of 8";
    if (!is_multiple(n5, 8)) return "param_2 is no multiple of 8";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_2_8_uncoalesced", "short_words_2_8_uncoalesced_mended");
  }
};

/// short_words_2_8_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x, 4 threads in one, accesses grouped into up to 16 bytes
struct short_words_2_8_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_2_8_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_2_8_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_2_8_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_2_8_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_8_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_8_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_2_16_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 8ULL * shape.block.x - 1) / (8ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{2, 2};
    const Range n8 = exactly(std::uint64_t{sizes[0]});
    const Range n9 = below(n8);
    const Range n10 = short_multiply(n6, n9);
    const Range n12 = read<std::uint32_t>(bytes + 24);
    const Range n13 = short_multiply(n10, n12);
    const Range n14 = short_add(n5, n13);
    const Range n16 = exactly(std::uint64_t{sizes[3]});
    const Range n17 = below(n16);
    const Range n18 = short_multiply(n6, n17);
    const Range n19 = multiply(n18, n1);
    const Range n20 = add(n14, n19);
    const Range n28 = short_multiply(n6, n12);
    const Range n45 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n45, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n46 = short_add(n45, n13);
    const Range n47 = add(n46, n19);
    const Range n61 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n61, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n62 = short_add(n61, n13);
    const Range n63 = add(n62, n19);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n20, 2, n47, 2)) return "the st.global.u16 of line 4611 and the ld.global.u16 of line 4602 may meet";
    if (!are_apart(n20, 2, n63, 2)) return "the st.global.u16 of line 4611 and the ld.global.u16 of line 4606 may meet";
    if (!is_multiple(n45, 16)) return "param_0 is no multiple of 16";
    if (!is_multiple(n28, 16)) return "2·param_3 is no multiple of 16";
    if (!is_multiple(n61, 16)) return "param_1 is no multiple of 16";
    if (!is_multiple(n5, 16)) return "param_2 is no multiple of 16";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_2_16_uncoalesced", "short_words_2_16_uncoalesced_mended");
  }
};

/// short_words_2_16_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x, 8 threads in one, accesses grouped into up to 16 bytes
struct short_words_2_16_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_2_16_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_2_16_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_2_16_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_2_16_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_16_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_16_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_4_4_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 1ULL * shape.block.x - 1) / (1ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{4, 4};
    const Range n8 = exactly(std::uint64_t{sizes[0]});
    const Range n9 = below(n8);
    const Range n10 = short_multiply(n6, n9);
    const Range n12 = read<std::uint32_t>(bytes + 24);
    const Range n13 = short_multiply(n10, n12);
    const Range n14 = short_add(n5, n13);
    const Range n16 = exactly(std::uint64_t{sizes[3]});
    const Range n17 = below(n16);
    const Range n18 = short_multiply(n6, n17);
    const Range n19 = multiply(n18, n1);
    const Range n20 = add(n14, n19);
    const Range n45 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n45, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n46 = short_add(n45, n13);
    const Range n47 = add(n46, n19);
    const Range n61 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n61, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n62 = short_add(n61, n13);
    const Range n63 = add(n62, n19);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n20, 4, n47, 4)) return "the st.global.u32 of line 5109 and the ld.global.u32 of line 5100 may meet";
    if (!are_apart(n20, 4, n63, 4)) return "the st.global.u32 of line 5109 and the ld.global.u32 of line 5104 may meet";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_4_4_uncoalesced", "short_words_4_4_uncoalesced_mended");
  }
};

/// short_words_4_4_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x
struct short_words_4_4_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_4_4_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_4_4_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_4_4_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_4_4_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_4_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_4_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_4_8_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 2ULL * shape.block.x - 1) / (2ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{4, 4};
    const Range n8 = exactly(std::uint64_t{sizes[0]});
    const Range n9 = below(n8);
    const Range n10 = short_multiply(n6, n9);
    const Range n12 = read<std::uint32_t>(bytes + 24);
    const Range n13 = short_multiply(n10, n12);
    const Range n14 = short_add(n5, n13);
    const Range n16 = exactly(std::uint64_t{sizes[3]});
    const Range n17 = below(n16);
    const Range n18 = short_multiply(n6, n17);
    const Range n19 = multiply(n18, n1);
    const Range n20 = add(n14, n19);
    const Range n28 = short_multiply(n6, n12);
    const Range n45 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n45, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n46 = short_add(n45, n13);
    const Range n47 = add(n46, n19);
    const Range n61 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n61, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n62 = short_add(n61, n13);
    const Range n63 = add(n62, n19);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n20, 4, n47, 4)) return "the st.global.u32 of line 5206 and the ld.global.u32 of line 5197 may meet";
    if (!are_apart(n20, 4, n63, 4)) return "the st.global.u32 of line 5206 and the ld.global.u32 of line 5201 may meet";
    if (!is_multiple(n45, 8)) return "param_0 is no multiple of 8";
    if (!is_multiple(n28, 8)) return "4·param_3 is no multiple of 8";
    if (!is_multiple(n61, 8)) return "param_1 is no multiple of 8";
    if (!is_multiple(n5, 8)) return "param_2 is no multiple of 8";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_4_8_uncoalesced", "short_words_4_8_uncoalesced_mended");
  }
};

/// short_words_4_8_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x, 2 threads in one, accesses grouped into up to 16 bytes
struct short_words_4_8_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_4_8_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_4_8_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_4_8_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_4_8_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_8_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_8_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_4_16_uncoalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 4ULL * shape.block.x - 1) / (4ULL * shape.block.x)), shape.grid.y, shape.block.x); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[5]});
    const Range n1 = read<std::uint32_t>(bytes + 28);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{4, 4};
    const Range n8 = exactly(std::uint64_t{sizes[0]});
    const Range n9 = below(n8);
    const Range n10 = short_multiply(n6, n9);
    const Range n12 = read<std::uint32_t>(bytes + 24);
    const Range n13 = short_multiply(n10, n12);
    const Range n14 = short_add(n5, n13);
    const Range n16 = exactly(std::uint64_t{sizes[3]});
    const Range n17 = below(n16);
    const Range n18 = short_multiply(n6, n17);
    const Range n19 = multiply(n18, n1);
    const Range n20 = add(n14, n19);
    const Range n28 = short_multiply(n6, n12);
    const Range n45 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n45, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n46 = short_add(n45, n13);
    const Range n47 = add(n46, n19);
    const Range n61 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n61, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n62 = short_add(n61, n13);
    const Range n63 = add(n62, n19);
    if (!is_within(n0, 1, 1)) return "grid.z is more than 1";
    if (!is_within(n1, 1, 1)) return "param_4 is not 1";
    if (!are_apart(n20, 4, n47, 4)) return "the st.global.u32 of line 5390 and the ld.global.u32 of line 5381 may meet";
    if (!are_apart(n20, 4, n63, 4)) return "the st.global.u32 of line 5390 and the ld.global.u32 of line 5385 may meet";
    if (!is_multiple(n45, 16)) return "param_0 is no multiple of 16";
    if (!is_multiple(n28, 16)) return "4·param_3 is no multiple of 16";
    if (!is_multiple(n61, 16)) return "param_1 is no multiple of 16";
    if (!is_multiple(n5, 16)) return "param_2 is no multiple of 16";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_4_16_uncoalesced", "short_words_4_16_uncoalesced_mended");
  }
};

/// short_words_4_16_uncoalesced
/// lanes along blockIdx.x instead of threadIdx.x, 4 threads in one, accesses grouped into up to 16 bytes
struct short_words_4_16_uncoalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_4_16_uncoalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_4_16_uncoalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_4_16_uncoalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_4_16_uncoalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_16_uncoalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_16_uncoalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_1_2_coalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 1ULL) / 2), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n1 = read<std::uint32_t>(bytes + 24);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n7 = below(n0);
    const Range n9 = short_multiply(n7, n1);
    const Range n10 = short_add(n5, n9);
    const Range n12 = exactly(std::uint64_t{sizes[3]});
    const Range n13 = below(n12);
    const Range n14 = read<std::uint32_t>(bytes + 28);
    const Range n15 = multiply(n13, n14);
    const Range n16 = add(n10, n15);
    const Range n37 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n37, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n38 = short_add(n37, n9);
    const Range n39 = add(n38, n15);
    const Range n53 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n53, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n54 = short_add(n53, n9);
    const Range n55 = add(n54, n15);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 2)) return "block.x is no multiple of 2";
    if (!is_within(n1, 1, 1)) return "param_3 is not 1";
    if (!are_apart(n16, 1, n39, 1)) return "the st.global.u8 of line 5675 and the ld.global.u8 of line 5666 may meet";
    if (!are_apart(n16, 1, n55, 1)) return "the st.global.u8 of line 5675 and the ld.global.u8 of line 5670 may meet";
    if (!is_multiple(n37, 2)) return "param_0 is no multiple of 2";
    if (!is_multiple(n14, 2)) return "param_4 is no multiple of 2";
    if (!is_multiple(n53, 2)) return "param_1 is no multiple of 2";
    if (!is_multiple(n5, 2)) return "param_2 is no multiple of 2";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_1_2_coalesced", "short_words_1_2_coalesced_mended");
  }
};

/// short_words_1_2_coalesced
/// 2 threads in one, accesses grouped into up to 16 bytes
struct short_words_1_2_coalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_1_2_coalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_1_2_coalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_1_2_coalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_1_2_coalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_2_coalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_2_coalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_1_4_coalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 3ULL) / 4), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n1 = read<std::uint32_t>(bytes + 24);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n7 = below(n0);
    const Range n9 = short_multiply(n7, n1);
    const Range n10 = short_add(n5, n9);
    const Range n12 = exactly(std::uint64_t{sizes[3]});
    const Range n13 = below(n12);
    const Range n14 = read<std::uint32_t>(bytes + 28);
    const Range n15 = multiply(n13, n14);
    const Range n16 = add(n10, n15);
    const Range n37 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n37, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n38 = short_add(n37, n9);
    const Range n39 = add(n38, n15);
    const Range n53 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n53, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n54 = short_add(n53, n9);
    const Range n55 = add(n54, n15);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 4)) return "block.x is no multiple of 4";
    if (!is_within(n1, 1, 1)) return "param_3 is not 1";
    if (!are_apart(n16, 1, n39, 1)) return "the st.global.u8 of line 5807 and the ld.global.u8 of line 5798 may meet";
    if (!are_apart(n16, 1, n55, 1)) return "the st.global.u8 of line 5807 and the ld.global.u8 of line 5802 may meet";
    if (!is_multiple(n37, 4)) return "param_0 is no multiple of 4";
    if (!is_multiple(n14, 4)) return "param_4 is no multiple of 4";
    if (!is_multiple(n53, 4)) return "param_1 is no multiple of 4";
    if (!is_multiple(n5, 4)) return "param_2 is no multiple of 4";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_1_4_coalesced", "short_words_1_4_coalesced_mended");
  }
};

/// short_words_1_4_coalesced
/// 4 threads in one, accesses grouped into up to 16 bytes
struct short_words_1_4_coalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_1_4_coalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_1_4_coalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_1_4_coalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_1_4_coalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_4_coalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_4_coalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_1_8_coalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 7ULL) / 8), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n1 = read<std::uint32_t>(bytes + 24);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n7 = below(n0);
    const Range n9 = short_multiply(n7, n1);
    const Range n10 = short_add(n5, n9);
    const Range n12 = exactly(std::uint64_t{sizes[3]});
    const Range n13 = below(n12);
    const Range n14 = read<std::uint32_t>(bytes + 28);
    const Range n15 = multiply(n13, n14);
    const Range n16 = add(n10, n15);
    const Range n37 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n37, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n38 = short_add(n37, n9);
    const Range n39 = add(n38, n15);
    const Range n53 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n53, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n54 = short_add(n53, n9);
    const Range n55 = add(n54, n15);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 8)) return "block.x is no multiple of 8";
    if (!is_within(n1, 1, 1)) return "param_3 is not 1";
    if (!are_apart(n16, 1, n39, 1)) return "the st.global.u8 of line 5987 and the ld.global.u8 of line 5978 may meet";
    if (!are_apart(n16, 1, n55, 1)) return "the st.global.u8 of line 5987 and the ld.global.u8 of line 5982 may meet";
    if (!is_multiple(n37, 8)) return "param_0 is no multiple of 8";
    if (!is_multiple(n14, 8)) return "param_4 is no multiple of 8";
    if (!is_multiple(n53, 8)) return "param_1 is no multiple of 8";
    if (!is_multiple(n5, 8)) return "param_2 is no multiple of 8";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_1_8_coalesced", "short_words_1_8_coalesced_mended");
  }
};

/// short_words_1_8_coalesced
/// 8 threads in one, accesses grouped into up to 16 bytes
struct short_words_1_8_coalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_1_8_coalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_1_8_coalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_1_8_coalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_1_8_coalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_8_coalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_8_coalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_1_16_coalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 15ULL) / 16), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n1 = read<std::uint32_t>(bytes + 24);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n7 = below(n0);
    const Range n9 = short_multiply(n7, n1);
    const Range n10 = short_add(n5, n9);
    const Range n12 = exactly(std::uint64_t{sizes[3]});
    const Range n13 = below(n12);
    const Range n14 = read<std::uint32_t>(bytes + 28);
    const Range n15 = multiply(n13, n14);
    const Range n16 = add(n10, n15);
    const Range n37 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n37, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n38 = short_add(n37, n9);
    const Range n39 = add(n38, n15);
    const Range n53 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n53, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n54 = short_add(n53, n9);
    const Range n55 = add(n54, n15);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 16)) return "block.x is no multiple of 16";
    if (!is_within(n1, 1, 1)) return "param_3 is not 1";
    if (!are_apart(n16, 1, n39, 1)) return "the st.global.u8 of line 6265 and the ld.global.u8 of line 6256 may meet";
    if (!are_apart(n16, 1, n55, 1)) return "the st.global.u8 of line 6265 and the ld.global.u8 of line 6260 may meet";
    if (!is_multiple(n37, 16)) return "param_0 is no multiple of 16";
    if (!is_multiple(n14, 16)) return "param_4 is no multiple of 16";
    if (!is_multiple(n53, 16)) return "param_1 is no multiple of 16";
    if (!is_multiple(n5, 16)) return "param_2 is no multiple of 16";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_1_16_coalesced", "short_words_1_16_coalesced_mended");
  }
};

/// short_words_1_16_coalesced
/// 16 threads in one, accesses grouped into up to 16 bytes
struct short_words_1_16_coalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_1_16_coalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_1_16_coalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_1_16_coalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_1_16_coalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_16_coalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_1_16_coalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_2_4_coalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 1ULL) / 2), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n1 = read<std::uint32_t>(bytes + 24);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{2, 2};
    const Range n8 = below(n0);
    const Range n9 = short_multiply(n6, n8);
    const Range n11 = short_multiply(n9, n1);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = short_multiply(n6, n15);
    const Range n17 = read<std::uint32_t>(bytes + 28);
    const Range n18 = multiply(n16, n17);
    const Range n19 = add(n12, n18);
    const Range n21 = short_multiply(n6, n17);
    const Range n44 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n44, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n45 = short_add(n44, n11);
    const Range n46 = add(n45, n18);
    const Range n60 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n60, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n61 = short_add(n60, n11);
    const Range n62 = add(n61, n18);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 2)) return "block.x is no multiple of 2";
    if (!is_within(n1, 1, 1)) return "param_3 is not 1";
    if (!are_apart(n19, 2, n46, 2)) return "the st.global.u16 of line 6740 and the ld.global.u16 of line 6731 may meet";
    if (!are_apart(n19, 2, n62, 2)) return "the st.global.u16 of line 6740 and the ld.global.u16 of line 6735 may meet";
    if (!is_multiple(n44, 4)) return "param_0 is no multiple of 4";
    if (!is_multiple(n21, 4)) return "2·param_4 is no multiple of 4";
    if (!is_multiple(n60, 4)) return "param_1 is no multiple of 4";
    if (!is_multiple(n5, 4)) return "param_2 is no multiple of 4";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_2_4_coalesced", "short_words_2_4_coalesced_mended");
  }
};

/// short_words_2_4_coalesced
/// 2 threads in one, accesses grouped into up to 16 bytes
struct short_words_2_4_coalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_2_4_coalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_2_4_coalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_2_4_coalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_2_4_coalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_4_coalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_4_coalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_2_8_coalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 3ULL) / 4), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n1 = read<std::uint32_t>(bytes + 24);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{2, 2};
    const Range n8 = below(n0);
    const Range n9 = short_multiply(n6, n8);
    const Range n11 = short_multiply(n9, n1);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = short_multiply(n6, n15);
    const Range n17 = read<std::uint32_t>(bytes + 28);
    const Range n18 = multiply(n16, n17);
    const Range n19 = add(n12, n18);
    const Range n21 = short_multiply(n6, n17);
    const Range n44 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n44, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n45 = short_add(n44, n11);
    const Range n46 = add(n45, n18);
    const Range n60 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n60, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n61 = short_add(n60, n11);
    const Range n62 = add(n61, n18);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 4)) return "block.x is no multiple of 4";
    if (!is_within(n1, 1, 1)) return "param_3 is not 1";
    if (!are_apart(n19, 2, n46, 2)) return "the st.global.u16 of line 6877 and the ld.global.u16 of line 6868 may meet";
    if (!are_apart(n19, 2, n62, 2)) return "the st.global.u16 of line 6877 and the ld.global.u16 of line 6872 may meet";
    if (!is_multiple(n44, 8)) return "param_0 is no multiple of 8";
    if (!is_multiple(n21, 8)) return "2·param_4 is no multiple of 8";
    if (!is_multiple(n60, 8)) return "param_1 is no multiple of 8";
    if (!is_multiple(n5, 8)) return "param_2 is no multiple of 8";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_2_8_coalesced", "short_words_2_8_coalesced_mended");
  }
};

/// short_words_2_8_coalesced
/// 4 threads in one, accesses grouped into up to 16 bytes
struct short_words_2_8_coalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_2_8_coalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_2_8_coalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_2_8_coalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_2_8_coalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_8_coalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_8_coalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_2_16_coalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 7ULL) / 8), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n1 = read<std::uint32_t>(bytes + 24);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{2, 2};
    const Range n8 = below(n0);
    const Range n9 = short_multiply(n6, n8);
    const Range n11 = short_multiply(n9, n1);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = short_multiply(n6, n15);
    const Range n17 = read<std::uint32_t>(bytes + 28);
    const Range n18 = multiply(n16, n17);
    const Range n19 = add(n12, n18);
    const Range n21 = short_multiply(n6, n17);
    const Range n44 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n44, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n45 = short_add(n44, n11);
    const Range n46 = add(n45, n18);
    const Range n60 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n60, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n61 = short_add(n60, n11);
    const Range n62 = add(n61, n18);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 8)) return "block.x is no multiple of 8";
    if (!is_within(n1, 1, 1)) return "param_3 is not 1";
    if (!are_apart(n19, 2, n46, 2)) return "the st.global.u16 of line 7068 and the ld.global.u16 of line 7059 may meet";
    if (!are_apart(n19, 2, n62, 2)) return "the st.global.u16 of line 7068 and the ld.global.u16 of line 7063 may meet";
    if (!is_multiple(n44, 16)) return "param_0 is no multiple of 16";
    if (!is_multiple(n21, 16)) return "2·param_4 is no multiple of 16";
    if (!is_multiple(n60, 16)) return "param_1 is no multiple of 16";
    if (!is_multiple(n5, 16)) return "param_2 is no multiple of 16";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_2_16_coalesced", "short_words_2_16_coalesced_mended");
  }
};

/// short_words_2_16_coalesced
/// 8 threads in one, accesses grouped into up to 16 bytes
struct short_words_2_16_coalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_2_16_coalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_2_16_coalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_2_16_coalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_2_16_coalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_16_coalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_2_16_coalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_4_8_coalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 1ULL) / 2), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n1 = read<std::uint32_t>(bytes + 24);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{4, 4};
    const Range n8 = below(n0);
    const Range n9 = short_multiply(n6, n8);
    const Range n11 = short_multiply(n9, n1);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = short_multiply(n6, n15);
    const Range n17 = read<std::uint32_t>(bytes + 28);
    const Range n18 = multiply(n16, n17);
    const Range n19 = add(n12, n18);
    const Range n21 = short_multiply(n6, n17);
    const Range n44 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n44, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n45 = short_add(n44, n11);
    const Range n46 = add(n45, n18);
    const Range n60 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n60, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n61 = short_add(n60, n11);
    const Range n62 = add(n61, n18);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 2)) return "block.x is no multiple of 2";
    if (!is_within(n1, 1, 1)) return "param_3 is not 1";
    if (!are_apart(n19, 4, n46, 4)) return "the st.global.u32 of line 7367 and the ld.global.u32 of line 7358 may meet";
    if (!are_apart(n19, 4, n62, 4)) return "the st.global.u32 of line 7367 and the ld.global.u32 of line 7362 may meet";
    if (!is_multiple(n44, 8)) return "param_0 is no multiple of 8";
    if (!is_multiple(n21, 8)) return "4·param_4 is no multiple of 8";
    if (!is_multiple(n60, 8)) return "param_1 is no multiple of 8";
    if (!is_multiple(n5, 8)) return "param_2 is no multiple of 8";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_4_8_coalesced", "short_words_4_8_coalesced_mended");
  }
};

/// short_words_4_8_coalesced
/// 2 threads in one, accesses grouped into up to 16 bytes
struct short_words_4_8_coalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_4_8_coalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_4_8_coalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_4_8_coalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_4_8_coalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_8_coalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_8_coalesced_kernel>{shape, arguments...}.pays();
  }
};

struct short_words_4_16_coalesced_kernel {
  static constexpr std::size_t count = 5;
  static constexpr std::size_t offsets[]{0, 8, 16, 24, 28, 0};
  static constexpr std::size_t sizes[]{8, 8, 8, 4, 4, 0};
  static constexpr std::size_t bytes = 32;
  static constexpr bool counts_blocks = true;
  static constexpr unsigned lanes_axis = 0;
  static dim3 grid(const Shape& shape) { return dim3(static_cast<unsigned>((shape.grid.x + 3ULL) / 4), shape.grid.y, shape.grid.z); }
  static dim3 block(const Shape& shape) { return dim3(shape.block.x, shape.block.y, shape.block.z); }
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    const Range n0 = exactly(std::uint64_t{sizes[0]});
    const Range n1 = read<std::uint32_t>(bytes + 24);
    const Range n5 = read<std::uint64_t>(bytes + 16);
    if (!is_within(n5, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n6 = Range{4, 4};
    const Range n8 = below(n0);
    const Range n9 = short_multiply(n6, n8);
    const Range n11 = short_multiply(n9, n1);
    const Range n12 = short_add(n5, n11);
    const Range n14 = exactly(std::uint64_t{sizes[3]});
    const Range n15 = below(n14);
    const Range n16 = short_multiply(n6, n15);
    const Range n17 = read<std::uint32_t>(bytes + 28);
    const Range n18 = multiply(n16, n17);
    const Range n19 = add(n12, n18);
    const Range n21 = short_multiply(n6, n17);
    const Range n44 = read<std::uint64_t>(bytes + 0);
    if (!is_within(n44, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n45 = short_add(n44, n11);
    const Range n46 = add(n45, n18);
    const Range n60 = read<std::uint64_t>(bytes + 8);
    if (!is_within(n60, -far_address, far_address)) return "an address or a number is beyond 2^57";
    const Range n61 = short_add(n60, n11);
    const Range n62 = add(n61, n18);
    if (!is_power_of_two(n0)) return "block.x is no power of two";
    if (!is_multiple(n0, 4)) return "block.x is no multiple of 4";
    if (!is_within(n1, 1, 1)) return "param_3 is not 1";
    if (!are_apart(n19, 4, n46, 4)) return "the st.global.u32 of line 7502 and the ld.global.u32 of line 7493 may meet";
    if (!are_apart(n19, 4, n62, 4)) return "the st.global.u32 of line 7502 and the ld.global.u32 of line 7497 may meet";
    if (!is_multiple(n44, 16)) return "param_0 is no multiple of 16";
    if (!is_multiple(n21, 16)) return "4·param_4 is no multiple of 16";
    if (!is_multiple(n60, 16)) return "param_1 is no multiple of 16";
    if (!is_multiple(n5, 16)) return "param_2 is no multiple of 16";
    return nullptr;
  }
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {
    using namespace launch_math;
    return true;
  }
  static Kernels load() {
    return mended::load(library_of_mended_originals_ptx(), "short_words_4_16_coalesced", "short_words_4_16_coalesced_mended");
  }
};

/// short_words_4_16_coalesced
/// 4 threads in one, accesses grouped into up to 16 bytes
struct short_words_4_16_coalesced {
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {
    return mended::launch<short_words_4_16_coalesced_kernel>(Shape{grid, block}, arguments...);
  }
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {
    return mended::launch<short_words_4_16_coalesced_kernel>(shape, arguments...);
  }
  /// Both kernels; loads them.
  static Kernels kernels() { return short_words_4_16_coalesced_kernel::load(); }
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {
    const Parameters<short_words_4_16_coalesced_kernel> parameters{shape, arguments...};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "its stores would reach more sectors than the original's";
  }
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_16_coalesced_kernel>{shape, arguments...}.why_original(shape) == nullptr;
  }
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {
    return Parameters<short_words_4_16_coalesced_kernel>{shape, arguments...}.pays();
  }
};

}  // namespace strata::mended
