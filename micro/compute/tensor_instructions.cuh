// The tensor-core instructions, by type and shape. An instruction that an architecture does not
// have is a trap there, and the host does not launch it.
#pragma once

#include "micro/compute/tensor_operands.hpp"

#include <cstdint>

namespace strata::tensor_rate {

/// ptxas accepts wgmma for sm_90a alone.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define STRATA_HAS_WGMMA 1
#else
#define STRATA_HAS_WGMMA 0
#endif

#if __CUDA_ARCH__ >= 800
#define STRATA_FROM_80(...) asm volatile(__VA_ARGS__)
#else
#define STRATA_FROM_80(...) __trap()
#endif
#if __CUDA_ARCH__ >= 890
#define STRATA_FROM_89(...) asm volatile(__VA_ARGS__)
#else
#define STRATA_FROM_89(...) __trap()
#endif
#if __CUDA_ARCH__ >= 900
#define STRATA_FROM_90(...) asm volatile(__VA_ARGS__)
#else
#define STRATA_FROM_90(...) __trap()
#endif
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1205
#define STRATA_SPARSE "mma.sp::ordered_metadata.sync.aligned."
#else
#define STRATA_SPARSE "mma.sp.sync.aligned."
#endif

/// The instruction of one warp. `first`: the result is the product alone, without what the
/// accumulators hold.
template <Type type, Size size, bool sparse>
struct Mma;

#define STRATA_MMA(TYPE, SIZE, SPARSE, FROM, WORD, SUM, REGISTERS, TEXT, OUT, ...)               \
  template <>                                                                                    \
  struct Mma<Type::TYPE, Size::SIZE, SPARSE> {                                                   \
    using Word = WORD;                                                                           \
    using Sum = SUM;                                                                             \
    static constexpr Shape shape{.type = Type::TYPE,                                             \
                                 .size = Size::SIZE,                                             \
                                 .sparsity = SPARSE ? Sparsity::sparse : Sparsity::dense};       \
    static constexpr unsigned of_a = shape.of_a(), of_b = shape.of_b(), of_sum = shape.of_sum(); \
    template <bool first>                                                                        \
    static __device__ __forceinline__ void apply(Sum (&d)[of_sum], const Word (&a)[of_a],        \
                                                 const Word (&b)[of_b]) {                        \
      if constexpr (first) {                                                                     \
        for (Sum & each : d)                                                                     \
          each = 0;                                                                              \
      }                                                                                          \
      STRATA_FROM_##FROM(TEXT " " REGISTERS:OUT : __VA_ARGS__);                                  \
    }                                                                                            \
  }
#define STRATA_4(letter, of) letter(of[0]), letter(of[1]), letter(of[2]), letter(of[3])
#define STRATA_SUMS(letter) STRATA_4("+" letter, d)
#define STRATA_TWO "+d"(d[0]), "+d"(d[1])

// Wanted: HMMA, IMMA; of 8-bit floating point QMMA, or on compute capability 9.0 conversions
// (F2FP), two HMMA and additions.
#define STRATA_LARGEST(TYPE, FROM, TEXT, SUM, LETTER)                                    \
  STRATA_MMA(TYPE, largest, false, FROM, std::uint32_t, SUM,                             \
             "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};",          \
             "mma.sync.aligned." TEXT, STRATA_SUMS(LETTER), STRATA_4("r", a), "r"(b[0]), \
             "r"(b[1]))
#define STRATA_SMALLEST(TYPE, TEXT, SUM, LETTER)                                              \
  STRATA_MMA(TYPE, smallest, false, 80, std::uint32_t, SUM,                                   \
             "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};", "mma.sync.aligned." TEXT, \
             STRATA_SUMS(LETTER), "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define STRATA_SPARSE_LARGEST(TYPE, TEXT, SUM, LETTER)                                            \
  STRATA_MMA(TYPE, largest, true, 80, std::uint32_t, SUM,                                         \
             "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0;", \
             STRATA_SPARSE TEXT, STRATA_SUMS(LETTER), STRATA_4("r", a), STRATA_4("r", b),         \
             "r"(stored_first))
STRATA_SMALLEST(fp16, "m16n8k8.row.col.f32.f16.f16.f32", float, "f");
STRATA_SMALLEST(bf16, "m16n8k8.row.col.f32.bf16.bf16.f32", float, "f");
STRATA_SMALLEST(tf32, "m16n8k4.row.col.f32.tf32.tf32.f32", float, "f");
STRATA_SMALLEST(int8, "m16n8k16.row.col.s32.s8.s8.s32", std::int32_t, "r");
STRATA_LARGEST(fp16, 80, "m16n8k16.row.col.f32.f16.f16.f32", float, "f");
STRATA_LARGEST(bf16, 80, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f");
STRATA_LARGEST(tf32, 80, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f");
STRATA_LARGEST(e4m3, 89, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f");
STRATA_LARGEST(e5m2, 89, "m16n8k32.row.col.f32.e5m2.e5m2.f32", float, "f");
STRATA_LARGEST(int8, 80, "m16n8k32.row.col.s32.s8.s8.s32", std::int32_t, "r");
STRATA_SPARSE_LARGEST(fp16, "m16n8k32.row.col.f32.f16.f16.f32", float, "f");
STRATA_SPARSE_LARGEST(bf16, "m16n8k32.row.col.f32.bf16.bf16.f32", float, "f");
STRATA_SPARSE_LARGEST(tf32, "m16n8k16.row.col.f32.tf32.tf32.f32", float, "f");
STRATA_SPARSE_LARGEST(int8, "m16n8k64.row.col.s32.s8.s8.s32", std::int32_t, "r");
// Wanted: DMMA.
STRATA_MMA(fp64, smallest, false, 80, double, double, "{%0, %1}, {%2}, {%3}, {%0, %1};",
           "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", STRATA_TWO, "d"(a[0]), "d"(b[0]));
STRATA_MMA(fp64, largest, false, 90, double, double,
           "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
           "{%0, %1, %2, %3};",
           "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", STRATA_SUMS("d"), STRATA_4("d", a),
           "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), STRATA_4("d", b));
#undef STRATA_MMA
#undef STRATA_4
#undef STRATA_SUMS
#undef STRATA_TWO
#undef STRATA_LARGEST
#undef STRATA_SMALLEST
#undef STRATA_SPARSE_LARGEST
#undef STRATA_SPARSE
#undef STRATA_FROM_80
#undef STRATA_FROM_89
#undef STRATA_FROM_90

/// One of a warpgroup: A from four registers or, like B, from shared memory.
template <Type type, unsigned n, Source a, bool sparse>
struct Wgmma;

#define STRATA_REGS_32                                                                         \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define STRATA_REGS_64                                                                           \
  STRATA_REGS_32                                                                                 \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define STRATA_REGS_128                                                                          \
  STRATA_REGS_64                                                                                 \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
  "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "   \
  "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, "   \
  "%115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define STRATA_OUT_8(L, i)                                                         \
  "+" L(d[i]), "+" L(d[i + 1]), "+" L(d[i + 2]), "+" L(d[i + 3]), "+" L(d[i + 4]), \
      "+" L(d[i + 5]), "+" L(d[i + 6]), "+" L(d[i + 7])
#define STRATA_OUT_32(L, i) \
  STRATA_OUT_8(L, i), STRATA_OUT_8(L, i + 8), STRATA_OUT_8(L, i + 16), STRATA_OUT_8(L, i + 24)
#define STRATA_OUT_64(L, i) STRATA_OUT_32(L, i), STRATA_OUT_32(L, i + 32)
#define STRATA_OUT_128(L, i) STRATA_OUT_64(L, i), STRATA_OUT_64(L, i + 64)

// P, Q, R, S, T, U: the numbers of the operands after the accumulators.
#define STRATA_WGMMA_BODY(SPARSE, SOURCE, N, REGS, INSTRUCTION, A, IN_A, METADATA, IN_METADATA, \
                          LAST, IMMEDIATES, TYPE, SUM, LETTER)                                  \
  template <>                                                                                   \
  struct Wgmma<Type::TYPE, N, Source::SOURCE, SPARSE> {                                         \
    using Sum = SUM;                                                                            \
    static constexpr unsigned of_sum = REGS;                                                    \
    static __device__ __forceinline__ void apply(Sum (&d)[REGS], const std::uint32_t (&a)[4],   \
                                                 std::uint64_t from_a, std::uint64_t from_b,    \
                                                 std::uint32_t accumulate) {                    \
      asm volatile("{.reg .pred p; setp.ne.b32 p, %" LAST ", 0; " INSTRUCTION                   \
                   " {" STRATA_REGS_##REGS "}, " A METADATA ", p" IMMEDIATES ";}"               \
                   : STRATA_OUT_##REGS(LETTER, 0)                                               \
                   : IN_A, "l"(from_b)IN_METADATA, "r"(accumulate));                            \
    }                                                                                           \
  };
#define STRATA_IN_REGISTERS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define STRATA_IN_SHARED "l"(from_a)
#define STRATA_IN_METADATA , "r"(stored_first)
#define STRATA_NOTHING

// For one number of columns: %P to %U are the operands after REGS accumulators.
#define STRATA_WGMMA_OF(N, REGS, P, Q, R, S, T, U, V, TYPE, K, K_SPARSE, TYPES, SUM, LETTER,      \
                        SCALES, OF_SHARED, OF_REGISTERS)                                          \
  STRATA_WGMMA_BODY(false, shared, N, REGS,                                                       \
                    "wgmma.mma_async.sync.aligned.m64n" #N "k" K "." TYPES, "%" P ", %" Q,        \
                    STRATA_IN_SHARED, "", STRATA_NOTHING, R, SCALES OF_SHARED, TYPE, SUM, LETTER) \
  STRATA_WGMMA_BODY(true, shared, N, REGS,                                                        \
                    "wgmma.mma_async.sp.sync.aligned.m64n" #N "k" K_SPARSE "." TYPES,             \
                    "%" P ", %" Q, STRATA_IN_SHARED, ", %" R ", 0", STRATA_IN_METADATA, S,        \
                    SCALES OF_SHARED, TYPE, SUM, LETTER)                                          \
  STRATA_WGMMA_BODY(false, registers, N, REGS,                                                    \
                    "wgmma.mma_async.sync.aligned.m64n" #N "k" K "." TYPES,                       \
                    "{%" P ", %" Q ", %" R ", %" S "}, %" T, STRATA_IN_REGISTERS, "",             \
                    STRATA_NOTHING, U, SCALES OF_REGISTERS, TYPE, SUM, LETTER)                    \
  STRATA_WGMMA_BODY(true, registers, N, REGS,                                                     \
                    "wgmma.mma_async.sp.sync.aligned.m64n" #N "k" K_SPARSE "." TYPES,             \
                    "{%" P ", %" Q ", %" R ", %" S "}, %" T, STRATA_IN_REGISTERS, ", %" U ", 0",  \
                    STRATA_IN_METADATA, V, SCALES OF_REGISTERS, TYPE, SUM, LETTER)
#define STRATA_WGMMA(...)                                                         \
  STRATA_WGMMA_OF(64, 32, "32", "33", "34", "35", "36", "37", "38", __VA_ARGS__)  \
  STRATA_WGMMA_OF(128, 64, "64", "65", "66", "67", "68", "69", "70", __VA_ARGS__) \
  STRATA_WGMMA_OF(256, 128, "128", "129", "130", "131", "132", "133", "134", __VA_ARGS__)

STRATA_WGMMA(fp16, "16", "32", "f32.f16.f16", float, "f", ", 1, 1", ", 0, 0", ", 0")
STRATA_WGMMA(bf16, "16", "32", "f32.bf16.bf16", float, "f", ", 1, 1", ", 0, 0", ", 0")
STRATA_WGMMA(tf32, "8", "16", "f32.tf32.tf32", float, "f", ", 1, 1", "", "")
STRATA_WGMMA(e4m3, "32", "64", "f32.e4m3.e4m3", float, "f", ", 1, 1", "", "")
STRATA_WGMMA(e5m2, "32", "64", "f32.e5m2.e5m2", float, "f", ", 1, 1", "", "")
STRATA_WGMMA(int8, "32", "64", "s32.s8.s8", std::int32_t, "r", "", "", "")

#undef STRATA_WGMMA
#undef STRATA_WGMMA_OF
#undef STRATA_WGMMA_BODY
#undef STRATA_NOTHING
#undef STRATA_IN_METADATA
#undef STRATA_IN_SHARED
#undef STRATA_IN_REGISTERS
#undef STRATA_OUT_128
#undef STRATA_OUT_64
#undef STRATA_OUT_32
#undef STRATA_OUT_8
#undef STRATA_REGS_128
#undef STRATA_REGS_64
#undef STRATA_REGS_32

}  // namespace strata::tensor_rate
