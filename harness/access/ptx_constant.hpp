// Constant expressions of PTX (PTX ISA 9.0, section 4.5).
#pragma once

#include "harness/access/ptx_lexer.hpp"

#include <bit>
#include <cstdint>

namespace strata::ptx {

struct Constant {
  enum class Kind : std::uint8_t { signed_integer, unsigned_integer, real };
  Kind kind = Kind::signed_integer;
  std::uint64_t bits = 0;  ///< two's complement, or the bits of a double

  [[nodiscard]] bool is_real() const { return kind == Kind::real; }
  /// A real constant is truncated towards 0 and clamped.
  [[nodiscard]] std::uint64_t integer() const;
  [[nodiscard]] double real() const;
};

/// Whether a constant expression may begin with the next token.
[[nodiscard]] bool begins_constant(const Token& token);

/// Reads a constant expression. Throws UsageError for other text, and for a division by 0.
[[nodiscard]] Constant take_constant(Lexer& lexer);

}  // namespace strata::ptx
