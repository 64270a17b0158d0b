// Which vector instructions a rung may use, and how it asks for none. Host only.
#pragma once

#include "harness/case/enum_words.hpp"

#include <array>
#include <string_view>

// A compiler that knows how may put x, y and z into lanes of one vector. What is asked here is what
// one number at a time costs.
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
/// The widest that this CPU has: AVX-512 F, or AVX2 with FMA.
[[nodiscard]] Vectors widest_vectors();

}  // namespace strata
