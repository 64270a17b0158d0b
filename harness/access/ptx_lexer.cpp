#include "harness/access/ptx_lexer.hpp"

#include "harness/base/text.hpp"

#include <algorithm>
#include <string>

namespace strata::ptx {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

/// The end of the name characters from `at` on.
std::size_t end_of_name(std::string_view text, std::size_t at) {
  while (at < text.size() && is_in_name(text[at]))
    ++at;
  return at;
}

/// The end of the modifier whose dot is at `at`: "::" joins its parts.
std::size_t end_of_dotted(std::string_view text, std::size_t at) {
  std::size_t end = end_of_name(text, at + 1);
  while (text.substr(end).starts_with("::") && end + 2 < text.size() && is_in_name(text[end + 2]))
    end = end_of_name(text, end + 2);
  return end;
}

/// The end of the number at `at`, whatever its base: "0x1f", "1.5e-3", "12U".
std::size_t end_of_number(std::string_view text, std::size_t at) {
  const bool has_letter = text[at] == '0' && at + 1 < text.size() &&
                          std::string_view{"xXfFdD"}.find(text[at + 1]) != std::string_view::npos;
  std::size_t end = at;
  while (end < text.size()) {
    const char c = text[end];
    const bool is_exponent_sign =
        (c == '-' || c == '+') && !has_letter && (text[end - 1] == 'e' || text[end - 1] == 'E');
    if (!is_in_name(c) && c != '.' && !is_exponent_sign) break;
    ++end;
  }
  return end;
}

}  // namespace

Lexer::Lexer(std::string_view text, std::string_view file) : text_{text}, file_{file} {
  next_ = scan();
}

Token Lexer::take() {
  Token token = next_;
  next_ = scan();
  return token;
}

bool Lexer::take_if(std::string_view what) {
  if (!next_.is(what)) return false;
  (void)take();
  return true;
}

Token Lexer::need(Token::Kind kind, std::string_view expected) {
  if (next_.kind != kind) unexpected(expected);
  return take();
}

void Lexer::need(std::string_view what) {
  if (!take_if(what)) unexpected("'" + std::string{what} + "'");
}

void Lexer::unexpected(std::string_view expected) const {
  const bool ended = next_.kind == Token::Kind::end;
  refuse_at(next_.line, ended ? "the text ends" : in_quotes(next_.text), expected,
            ended ? "give the complete file" : "give compiler-generated PTX");
}

void Lexer::refuse_at(std::uint32_t line, std::string_view found, std::string_view expected,
                      std::string_view mend) const {
  refuse({file_, line}, found, expected, mend);
}

std::string_view Lexer::two_signs() const {
  return text_.substr(at_ - next_.text.size(), 2);
}

bool Lexer::touches(const Token& token) const {
  return next_.kind != Token::Kind::end &&
         token.text.data() + token.text.size() == next_.text.data();
}

void Lexer::pass_over_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (text_.substr(at_).starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_).starts_with("/*")) {
      const auto end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) {
        refuse_at(line_, "an unterminated comment", "'*/'", "give the complete file");
      }
      line_ += static_cast<std::uint32_t>(std::ranges::count(text_.substr(at_, end - at_), '\n'));
      at_ = end + 2;
    } else {
      return;
    }
  }
}

Token Lexer::token_to(Token::Kind kind, std::size_t end) {
  const Token token{.kind = kind, .text = text_.substr(at_, end - at_), .line = line_};
  at_ = end;
  return token;
}

Token Lexer::scan() {
  using enum Token::Kind;
  pass_over_space();
  if (at_ == text_.size()) return token_to(end, at_);
  const char c = text_[at_];
  const char after = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (is_digit(c)) return token_to(number, end_of_number(text_, at_));
  // "%4" is the remainder operator and a 4.
  if (is_in_name(c) || (c == '%' && is_in_name(after) && !is_digit(after)))
    return token_to(word, end_of_name(text_, at_ + 1));
  if (c == '.' && is_in_name(after)) return token_to(dotted, end_of_dotted(text_, at_));
  if (c == '"') {
    const auto stop = text_.find_first_of("\"\n", at_ + 1);
    if (stop == std::string_view::npos || text_[stop] == '\n') {
      refuse_at(line_, "an unterminated string", "'\"' on the same line", "give the complete file");
    }
    return token_to(quoted, stop + 1);
  }
  return token_to(sign, at_ + 1);
}

}  // namespace strata::ptx
