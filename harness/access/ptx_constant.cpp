#include "harness/access/ptx_constant.hpp"

#include "harness/access/ptx.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace strata::ptx {
namespace {

using ConstantKind = Constant::Kind;

Constant of_real(double value) {
  return {.kind = ConstantKind::real, .bits = std::bit_cast<std::uint64_t>(value)};
}

Constant of_bool(bool value) {
  return {.kind = ConstantKind::signed_integer, .bits = value ? 1U : 0U};
}

std::optional<std::uint64_t> digits_of(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<Constant> of_integer(std::string_view text) {
  const bool has_suffix = text.ends_with('U') || text.ends_with('u');
  std::string_view digits = text.substr(0, text.size() - (has_suffix ? 1 : 0));
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.starts_with("0b") || digits.starts_with("0B")) {
    base = 2;
    digits.remove_prefix(2);
  } else if (digits.starts_with('0') && digits.size() > 1) {
    base = 8;
  }
  const auto value = digits_of(digits, base);
  if (!value) return std::nullopt;
  const bool fits = *value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  return Constant{
      .kind = has_suffix || !fits ? ConstantKind::unsigned_integer : ConstantKind::signed_integer,
      .bits = *value};
}

/// The bits of "0f3F800000" or "0d3FF0000000000000", or a decimal with a point or an exponent.
std::optional<Constant> of_real_text(std::string_view text) {
  constexpr std::size_t digits_of_float = 8;
  constexpr std::size_t digits_of_double = 16;
  const std::string_view digits = text.substr(std::min<std::size_t>(2, text.size()));
  if (text.starts_with("0f") || text.starts_with("0F")) {
    const auto bits = digits_of(digits, 16);
    if (!bits || digits.size() != digits_of_float) return std::nullopt;
    return of_real(std::bit_cast<float>(static_cast<std::uint32_t>(*bits)));
  }
  if (text.starts_with("0d") || text.starts_with("0D")) {
    const auto bits = digits_of(digits, 16);
    if (!bits || digits.size() != digits_of_double) return std::nullopt;
    return Constant{.kind = ConstantKind::real, .bits = *bits};
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return of_real(value);
}

/// A binary operator and its precedence.
struct Operator {
  std::string_view sign;
  int tightness;
};
constexpr std::array operators{
    Operator{"||", 1}, Operator{"&&", 2}, Operator{"==", 6}, Operator{"!=", 6}, Operator{"<=", 7},
    Operator{">=", 7}, Operator{"<<", 8}, Operator{">>", 8}, Operator{"|", 3},  Operator{"^", 4},
    Operator{"&", 5},  Operator{"<", 7},  Operator{">", 7},  Operator{"+", 9},  Operator{"-", 9},
    Operator{"*", 10}, Operator{"/", 10}, Operator{"%", 10}};

std::optional<Constant> apply_real(std::string_view sign, double a, double b) {
  if (sign == "+") return of_real(a + b);
  if (sign == "-") return of_real(a - b);
  if (sign == "*") return of_real(a * b);
  if (sign == "/") return of_real(a / b);
  if (sign == "==") return of_bool(a == b);
  if (sign == "!=") return of_bool(a != b);
  if (sign == "<") return of_bool(a < b);
  if (sign == ">") return of_bool(a > b);
  if (sign == "<=") return of_bool(a <= b);
  if (sign == ">=") return of_bool(a >= b);
  return std::nullopt;
}

/// Quotient or remainder; nothing if undefined.
std::optional<std::uint64_t> divided(bool remainder, bool is_unsigned, std::uint64_t a,
                                     std::uint64_t b) {
  if (b == 0) return std::nullopt;
  if (is_unsigned) return remainder ? a % b : a / b;
  const auto left = static_cast<std::int64_t>(a);
  const auto right = static_cast<std::int64_t>(b);
  if (right == -1) return remainder ? 0 : 0 - a;  // the least number has no negative
  return static_cast<std::uint64_t>(remainder ? left % right : left / right);
}

std::uint64_t shifted_right(bool is_unsigned, std::uint64_t a, std::uint64_t places) {
  const bool fills_with_ones = !is_unsigned && static_cast<std::int64_t>(a) < 0;
  if (places > 63) return fills_with_ones ? ~std::uint64_t{0} : 0;
  if (!fills_with_ones) return a >> places;
  return ~(~a >> places);
}

/// Compares two integers; `is_unsigned` if either is.
Constant compared(std::string_view sign, bool is_unsigned, std::uint64_t a, std::uint64_t b) {
  const bool is_less =
      is_unsigned ? a < b : static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  if (sign == "==") return of_bool(a == b);
  if (sign == "!=") return of_bool(a != b);
  if (sign == "<") return of_bool(is_less);
  if (sign == ">") return of_bool(!is_less && a != b);
  if (sign == "<=") return of_bool(is_less || a == b);
  return of_bool(!is_less);
}

Constant shifted(std::string_view sign, const Constant& a, std::uint64_t places) {
  const bool is_unsigned = a.kind == ConstantKind::unsigned_integer;
  if (sign == ">>") return {.kind = a.kind, .bits = shifted_right(is_unsigned, a.bits, places)};
  return {.kind = a.kind, .bits = places > 63 ? 0 : a.bits << places};
}

std::optional<Constant> apply(std::string_view sign, const Constant& a, const Constant& b) {
  if (a.is_real() || b.is_real()) return apply_real(sign, a.real(), b.real());
  const bool is_unsigned =
      a.kind == ConstantKind::unsigned_integer || b.kind == ConstantKind::unsigned_integer;
  const auto integer = [&](std::uint64_t bits) {
    return Constant{
        .kind = is_unsigned ? ConstantKind::unsigned_integer : ConstantKind::signed_integer,
        .bits = bits};
  };
  if (sign == "+") return integer(a.bits + b.bits);
  if (sign == "-") return integer(a.bits - b.bits);
  if (sign == "*") return integer(a.bits * b.bits);
  if (sign == "/" || sign == "%") {
    const auto quotient = divided(sign == "%", is_unsigned, a.bits, b.bits);
    return quotient ? std::optional{integer(*quotient)} : std::nullopt;
  }
  if (sign == "&") return integer(a.bits & b.bits);
  if (sign == "|") return integer(a.bits | b.bits);
  if (sign == "^") return integer(a.bits ^ b.bits);
  if (sign == "<<" || sign == ">>") return shifted(sign, a, b.bits);
  if (sign == "&&") return of_bool(a.bits != 0 && b.bits != 0);
  if (sign == "||") return of_bool(a.bits != 0 || b.bits != 0);
  return compared(sign, is_unsigned, a.bits, b.bits);
}

// NOLINTBEGIN(misc-no-recursion): an expression holds others, max_ptx_depth at the most
class Expression {
 public:
  explicit Expression(Lexer& lexer) : lexer_{lexer} {}

  Constant choice() {
    go_deeper();
    Constant value = binary(1);
    if (lexer_.take_if("?")) {
      const Constant then = choice();
      lexer_.need(":");
      const Constant otherwise = choice();
      value = value.integer() != 0 ? then : otherwise;
    }
    --depth_;
    return value;
  }

 private:
  void go_deeper() {
    if (++depth_ <= max_ptx_depth) return;
    lexer_.refuse_at(lexer_.peek().line, "an expression nested too deeply",
                     "at most " + std::to_string(max_ptx_depth) + " nested parts",
                     "write the number");
  }

  /// Reads the next binary operator of at least this precedence. Its characters arrive one by one.
  std::optional<Operator> take_operator(int tightness) {
    if (lexer_.peek().kind != Token::Kind::sign) return std::nullopt;
    for (const auto& one : operators) {
      if (!lexer_.two_signs().starts_with(one.sign)) continue;
      if (one.tightness < tightness) return std::nullopt;
      for (std::size_t taken = 0; taken < one.sign.size(); ++taken)
        (void)lexer_.take();
      return one;
    }
    return std::nullopt;
  }

  Constant binary(int tightness) {
    Constant left = unary();
    for (auto line = lexer_.peek().line; const auto found = take_operator(tightness);) {
      const Constant right = binary(found->tightness + 1);
      const auto result = apply(found->sign, left, right);
      if (!result) {
        lexer_.refuse_at(line, "'" + std::string{found->sign} + "' has no value here",
                         "an expression with a value", "write the number");
      }
      left = *result;
    }
    return left;
  }

  Constant unary() {
    // In a loop, because a line may contain any number of signs.
    std::string signs;
    while (lexer_.peek().kind == Token::Kind::sign &&
           std::string_view{"+-!~"}.find(lexer_.peek().text) != std::string_view::npos) {
      signs += lexer_.take().text;
    }
    Constant value = primary();
    for (; !signs.empty(); signs.pop_back()) {
      const char sign = signs.back();
      if (sign == '!') value = of_bool(value.is_real() ? value.real() == 0 : value.bits == 0);
      if (sign == '~') value = {.kind = ConstantKind::signed_integer, .bits = ~value.integer()};
      if (sign != '-') continue;
      value = value.is_real() ? of_real(-value.real())
                              : Constant{.kind = value.kind, .bits = 0 - value.bits};
    }
    return value;
  }

  Constant primary() {
    const Token token = lexer_.peek();
    if (lexer_.take_if("(")) return in_brackets();
    if (lexer_.take_if("WARP_SZ")) return {.kind = ConstantKind::signed_integer, .bits = 32};
    if (token.kind != Token::Kind::number) lexer_.unexpected("a number");
    auto value = of_integer(token.text);
    if (!value) value = of_real_text(token.text);
    if (!value) lexer_.unexpected("a number of 64 bits");
    (void)lexer_.take();
    return *value;
  }

  /// What follows '(': an expression, or the type of a cast and what is cast.
  Constant in_brackets() {
    for (const auto& [name, kind] : {std::pair{".s64", ConstantKind::signed_integer},
                                     std::pair{".u64", ConstantKind::unsigned_integer}}) {
      if (!lexer_.take_if(name)) continue;
      lexer_.need(")");
      go_deeper();
      const Constant value{.kind = kind, .bits = unary().integer()};
      --depth_;
      return value;
    }
    const Constant value = choice();
    lexer_.need(")");
    return value;
  }

  Lexer& lexer_;
  std::size_t depth_ = 0;
};
// NOLINTEND(misc-no-recursion)

}  // namespace

std::uint64_t Constant::integer() const {
  if (!is_real()) return bits;
  const double value = real();
  constexpr double limit = 9.2e18;
  if (std::isnan(value)) return 0;
  return static_cast<std::uint64_t>(
      static_cast<std::int64_t>(std::min(std::max(value, -limit), limit)));
}

double Constant::real() const {
  if (is_real()) return std::bit_cast<double>(bits);
  return kind == ConstantKind::unsigned_integer
             ? static_cast<double>(bits)
             : static_cast<double>(static_cast<std::int64_t>(bits));
}

bool begins_constant(const Token& token) {
  return token.kind == Token::Kind::number || token.is("WARP_SZ") || token.is("(") ||
         token.is("-") || token.is("+") || token.is("~");
}

Constant take_constant(Lexer& lexer) {
  return Expression{lexer}.choice();
}

}  // namespace strata::ptx
