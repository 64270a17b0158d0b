// The vector instructions that a rung may use, and how it avoids them. Host only.
#pragma once

#include "harness/base/enum_words.hpp"

#include <array>
#include <string_view>

// Compilers may put x, y and z into lanes of one vector. Here the cost of scalar code is of
// interest.
#if defined(__GNUC__) && !defined(__clang__)
#define STRATA_SCALAR [[gnu::noinline, gnu::optimize("no-tree-vectorize", "no-tree-slp-vectorize")]]
#else
#define STRATA_SCALAR [[gnu::noinline]]
#endif

namespace strata {

/// Instructions that a rung may use.
enum class Vectors { none, avx2, avx512 };
constexpr auto words_of(Vectors /*unused*/) {
  return std::to_array<std::string_view>({"none", "avx2", "avx512"});
}
/// The widest of this CPU: AVX-512 F, or AVX2 with FMA.
[[nodiscard]] Vectors widest_vectors();

}  // namespace strata
