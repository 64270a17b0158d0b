// Loads and stores, each with one chosen instruction: the caller selects the state space, the cache
// operator and the width, and nvcc neither splits, widens, drops nor reorders them. Every asm here
// is volatile and clobbers memory. ptxas still does two things: it hoists a load whose address
// never changes out of a loop, so let the address depend on a kernel argument; and it narrows a
// vector load whose first or last words are unused, so use every word.
#pragma once

#include <cstdint>
#include <type_traits>

namespace strata {

/// State space and cache operator of an access, with the SASS that it compiles to on sm_90.
enum class Access {
  global,              ///< LDG.E, STG.E
  global_ca,           ///< LDG.E.STRONG.SM: cached in L1 and L2
  global_cg,           ///< LDG.E.STRONG.GPU: cached in L2, bypasses L1
  global_nc,           ///< LDG.E.CONSTANT: the read-only path through L1
  global_volatile,     ///< LDG.E.STRONG.SYS: no GPU cache may serve host memory
  global_relaxed_sys,  ///< the same, in terms of the memory model
  shared,              ///< LDS, STS
  shared_cluster,      ///< LD.E: the shared memory of another block of the cluster
  generic,             ///< LD.E: any memory
};

/// Addresses in shared memory have 32 bits (shared_address); others are pointers.
constexpr bool is_shared(Access access) {
  return access == Access::shared || access == Access::shared_cluster;
}
template <Access access>
using LoadAddress = std::conditional_t<is_shared(access), std::uint32_t, const void*>;
template <Access access>
using StoreAddress = std::conditional_t<is_shared(access), std::uint32_t, void*>;

/// Registers of an access of this width.
constexpr unsigned words_of(unsigned bytes) {
  return bytes < 4 ? 1 : bytes / 4;
}

// The load whose name begins as `access` requires and goes on with `rest`; then come the operands.
// A macro, because inline PTX of CUDA 12.4 has no operand for text.
#define STRATA_LOAD(rest, ...)                                         \
  if constexpr (access == Access::global)                              \
    asm volatile("ld.global" rest:__VA_ARGS__ : "memory");             \
  else if constexpr (access == Access::global_ca)                      \
    asm volatile("ld.global.ca" rest:__VA_ARGS__ : "memory");          \
  else if constexpr (access == Access::global_cg)                      \
    asm volatile("ld.global.cg" rest:__VA_ARGS__ : "memory");          \
  else if constexpr (access == Access::global_nc)                      \
    asm volatile("ld.global.nc" rest:__VA_ARGS__ : "memory");          \
  else if constexpr (access == Access::global_volatile)                \
    asm volatile("ld.volatile.global" rest:__VA_ARGS__ : "memory");    \
  else if constexpr (access == Access::global_relaxed_sys)             \
    asm volatile("ld.relaxed.sys.global" rest:__VA_ARGS__ : "memory"); \
  else if constexpr (access == Access::shared)                         \
    asm volatile("ld.shared" rest:__VA_ARGS__ : "memory");             \
  else if constexpr (access == Access::shared_cluster)                 \
    asm volatile("ld.shared::cluster" rest:__VA_ARGS__ : "memory");    \
  else                                                                 \
    asm volatile("ld" rest:__VA_ARGS__ : "memory")

/// The address in the shared memory window of `at`, which is in shared memory.
__device__ __forceinline__ std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

/// Loads `bytes` bytes from `at` into w[0] to w[words_of(bytes) - 1]. One or two bytes fill the low
/// end of a zero word. 32 bytes exist since sm_100; elsewhere the words are unchanged.
template <Access access, unsigned bytes>
__device__ __forceinline__ void load(std::uint32_t* w, LoadAddress<access> at) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16 ||
                (!is_shared(access) && (bytes == 1 || bytes == 2 || bytes == 32)));
  if constexpr (is_shared(access)) {
    if constexpr (bytes == 4) {
      STRATA_LOAD(".u32 %0, [%1];", "=r"(w[0]) : "r"(at));
    } else if constexpr (bytes == 8) {
      STRATA_LOAD(".v2.u32 {%0, %1}, [%2];", "=r"(w[0]), "=r"(w[1]) : "r"(at));
    } else {
      STRATA_LOAD(".v4.u32 {%0, %1, %2, %3}, [%4];", "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                  : "r"(at));
    }
  } else if constexpr (bytes == 1) {
    STRATA_LOAD(".u8 %0, [%1];", "=r"(w[0]) : "l"(at));
  } else if constexpr (bytes == 2) {
    STRATA_LOAD(".u16 %0, [%1];", "=r"(w[0]) : "l"(at));
  } else if constexpr (bytes == 4) {
    STRATA_LOAD(".u32 %0, [%1];", "=r"(w[0]) : "l"(at));
  } else if constexpr (bytes == 8) {
    STRATA_LOAD(".v2.u32 {%0, %1}, [%2];", "=r"(w[0]), "=r"(w[1]) : "l"(at));
  } else if constexpr (bytes == 16) {
    STRATA_LOAD(".v4.u32 {%0, %1, %2, %3}, [%4];", "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                : "l"(at));
  } else {
#if __CUDA_ARCH__ >= 1000
    STRATA_LOAD(".v8.u32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];", "=r"(w[0]), "=r"(w[1]),
                "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]), "=r"(w[6]), "=r"(w[7])
                : "l"(at));
#endif
  }
}

/// The same into floats, without a move between kinds of registers.
template <Access access, unsigned bytes>
__device__ __forceinline__ void load(float* v, LoadAddress<access> at) {
  static_assert(bytes == 4 || (!is_shared(access) && (bytes == 8 || bytes == 16)));
  if constexpr (is_shared(access)) {
    STRATA_LOAD(".f32 %0, [%1];", "=f"(v[0]) : "r"(at));
  } else if constexpr (bytes == 4) {
    STRATA_LOAD(".f32 %0, [%1];", "=f"(v[0]) : "l"(at));
  } else if constexpr (bytes == 8) {
    STRATA_LOAD(".v2.f32 {%0, %1}, [%2];", "=f"(v[0]), "=f"(v[1]) : "l"(at));
  } else {
    STRATA_LOAD(".v4.f32 {%0, %1, %2, %3}, [%4];", "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                : "l"(at));
  }
}

/// One word.
template <Access access, class Word = std::uint32_t>
__device__ __forceinline__ Word load_word(LoadAddress<access> at) {
  Word word;
  load<access, sizeof(Word)>(&word, at);
  return word;
}

/// One step of a pointer chase: `at` becomes the address stored there.
template <Access access>
__device__ __forceinline__ void follow(std::uint64_t& at) {
  static_assert(!is_shared(access));
  STRATA_LOAD(".u64 %0, [%0];", "+l"(at) :);
}
template <Access access>
__device__ __forceinline__ void follow(std::uint32_t& at) {
  static_assert(is_shared(access));
  STRATA_LOAD(".u32 %0, [%0];", "+r"(at) :);
}

#undef STRATA_LOAD

/// The word of constant memory at `offset` bytes in `table`, a __constant__ array. PTX does not
/// name the instruction; the empty asm keeps the load in its place. Wanted: LDC R, c[0x3][R], for
/// an offset that threads know and the compiler does not; a uniform one would use another cache
/// (LDCU, ULDC).
__device__ __forceinline__ std::uint32_t load_constant(const std::uint32_t* table,
                                                       std::uint32_t offset) {
  std::uint32_t word =
      *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(table) + offset);
  asm volatile("" : "+r"(word) : : "memory");
  return word;
}

/// Stores w[0] to w[words_of(bytes) - 1] to `at`; if `bytes` is 1 or 2, the low end of w[0]. 32
/// bytes exist since sm_100; elsewhere nothing is stored.
template <Access access, unsigned bytes>
__device__ __forceinline__ void store(StoreAddress<access> at, const std::uint32_t* w) {
  static_assert(access == Access::global || access == Access::shared);
  static_assert(bytes == 4 || bytes == 8 || bytes == 16 ||
                (!is_shared(access) && (bytes == 1 || bytes == 2 || bytes == 32)));
  if constexpr (is_shared(access)) {
    if constexpr (bytes == 4) {
      asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(w[0]) : "memory");
    } else if constexpr (bytes == 8) {
      asm volatile("st.shared.v2.u32 [%0], {%1, %2};" : : "r"(at), "r"(w[0]), "r"(w[1]) : "memory");
    } else {
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                   :
                   : "r"(at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                   : "memory");
    }
  } else if constexpr (bytes == 1) {
    asm volatile("st.global.u8 [%0], %1;" : : "l"(at), "r"(w[0]) : "memory");
  } else if constexpr (bytes == 2) {
    asm volatile("st.global.u16 [%0], %1;" : : "l"(at), "r"(w[0]) : "memory");
  } else if constexpr (bytes == 4) {
    asm volatile("st.global.u32 [%0], %1;" : : "l"(at), "r"(w[0]) : "memory");
  } else if constexpr (bytes == 8) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" : : "l"(at), "r"(w[0]), "r"(w[1]) : "memory");
  } else if constexpr (bytes == 16) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                 : "memory");
  } else {
#if __CUDA_ARCH__ >= 1000
    asm volatile("st.global.v8.u32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
                 :
                 : "l"(at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(w[4]), "r"(w[5]),
                   "r"(w[6]), "r"(w[7])
                 : "memory");
#endif
  }
}

}  // namespace strata
