// Random kernels as trees: written as PTX, and run thread by thread by another method.
#pragma once

#include "harness/model/coalescing.hpp"
#include "harness/model/split_mix.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace strata::access {

enum class Word : std::uint8_t { u32, s32, u64, s64 };

struct Tree {
  std::string op;  ///< "var", "constant", "special", "param", "add", …, "select", "convert"
  Word word = Word::u32;
  std::uint64_t number = 0;  ///< of a variable, a special register, a parameter; the constant
  std::vector<Tree> parts = {};
};

struct Statement {
  std::string kind;  ///< "set", "access", "load", "if", "loop", "break", "continue", "return"
  std::uint64_t variable = 0;
  unsigned tag = 0;    ///< of an access: its buffer
  unsigned width = 4;  ///< of an access
  bool store = false;
  bool guarded = false;          ///< by a predicate instead of a branch
  std::vector<Tree> trees = {};  ///< the value, the index, the condition, the count
  std::vector<Statement> body = {};
  std::vector<Statement> otherwise = {};
};

inline constexpr unsigned index_bits = 10;  ///< of an element of a buffer
inline constexpr std::uint64_t buffer_bytes = std::uint64_t{32} << index_bits;

struct Shape {
  std::uint32_t grid_x = 1;
  std::uint32_t grid_y = 1;
  std::uint32_t block_x = 32;
  std::uint32_t block_y = 1;
  std::uint32_t block_z = 1;
};

class RandomKernel {
 public:
  explicit RandomKernel(std::uint64_t seed, bool loads);

  [[nodiscard]] std::string ptx() const;
  /// The launch file: the buffers' `fill`, and a grid so many times as wide.
  [[nodiscard]] std::string launch(const std::string& fill, std::uint32_t wider = 1) const;

  /// The requests to each buffer, in order of the instructions of ptx().
  struct Requested {
    std::uint64_t warps = 0;
    std::uint64_t lanes = 0;
    std::vector<Traffic> traffic;
    std::uint64_t ideal_sectors = 0;
  };
  /// `content(tag, byte)`: a byte of a buffer.
  using Content = std::function<std::uint8_t(unsigned tag, std::uint64_t byte)>;
  [[nodiscard]] std::vector<Requested> run(const std::vector<Generation>& generations,
                                           const Content& content) const;

  [[nodiscard]] unsigned tags() const { return tags_; }
  [[nodiscard]] static std::uint64_t address_of(unsigned tag);

 private:
  Tree leaf(Word word);
  Tree value(Word word, unsigned depth);
  Tree condition(unsigned depth);
  std::vector<Statement> block(unsigned depth, bool in_loop);
  Statement access();

  SplitMix random_;
  bool loads_;
  std::vector<Word> variables_;
  std::vector<Statement> program_;
  unsigned tags_ = 0;
  Shape shape_;
  std::uint32_t n_ = 0;
  std::int32_t m_ = 0;
  std::uint64_t k_ = 0;
};

}  // namespace strata::access
