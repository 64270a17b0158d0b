// The tokens of a PTX text. Comments and white space are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace strata::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    word,    ///< a name: "ld", "%rd12", "$L__BB0_2"
    dotted,  ///< a directive or a modifier, with its dot: ".reg", ".L2::128B"
    number,  ///< "12", "0x1f", "0f3F800000", "9.0", "1e-5"
    quoted,  ///< with its quotation marks
    sign     ///< any other character
  };
  Kind kind = Kind::end;
  std::string_view text = {};
  std::uint32_t line = 0;

  [[nodiscard]] bool is(std::string_view what) const {
    return text == what && kind != Kind::quoted;
  }
};

class Lexer {
 public:
  /// `text` and `file`, which names it in messages, must outlive the lexer and its tokens.
  Lexer(std::string_view text, std::string_view file);

  [[nodiscard]] const Token& peek() const { return next_; }
  /// Throws UsageError for an unterminated comment or string.
  Token take();
  /// Consumes the next token and returns true if it is `what`.
  bool take_if(std::string_view what);
  /// Returns the next token, which must be of this kind.
  Token need(Token::Kind kind, std::string_view expected);
  void need(std::string_view what);
  /// The next character and the one after it: "<<" are two tokens.
  [[nodiscard]] std::string_view two_signs() const;
  /// True if the next token begins directly after `token`.
  [[nodiscard]] bool touches(const Token& token) const;
  /// Throws UsageError: the next token is not what was expected.
  [[noreturn]] void unexpected(std::string_view expected) const;
  /// Throws UsageError "FILE:LINE: …".
  [[noreturn]] void refuse_at(std::uint32_t line, std::string_view found, std::string_view expected,
                              std::string_view mend) const;

 private:
  void pass_over_space();
  Token scan();
  /// The token that ends at `end`.
  Token token_to(Token::Kind kind, std::size_t end);

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  Token next_;
};

}  // namespace strata::ptx
