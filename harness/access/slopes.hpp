// Which blocks of a row of the grid are alike: they take the same ways, and each of their addresses
// is the first block's, moved by the same bytes for each block between.
//
// A value of a lane is followed as a line: what it is in this block, and by how much it grows from
// one block to the next in x. Where a line bends (a comparison turns, a number wraps around, a
// quotient steps), the blocks that are alike end; where a value is no line, nothing may hang on it.
#pragma once

#include "harness/access/program.hpp"
#include "harness/access/ptx.hpp"
#include "harness/access/warp_state.hpp"

#include <cstdint>
#include <vector>

namespace strata::access {

class Slopes {
 public:
  Slopes(const ptx::Kernel& kernel, const Program& program, const Launch& launch);

  /// Before a block is run.
  void begin();
  /// How many blocks after it are alike, and after how many blocks their addresses are moved by
  /// whole lines of 128 bytes: known when it was run.
  [[nodiscard]] std::uint64_t reach() const { return reach_; }
  [[nodiscard]] std::uint64_t period() const { return period_; }

  // What the one that runs the block tells.
  void start_warp();
  /// Before the step is done to these lanes.
  void step(const WarpState& warp, std::uint32_t at, std::uint32_t mask);
  /// An access of these lanes, which lie from `low` to before `high` in a space or buffer from
  /// `begin` to before `end`; `begin == end`: in none.
  void access(std::uint32_t at, std::uint32_t mask, std::uint64_t low, std::uint64_t high,
              std::uint64_t begin, std::uint64_t end);
  /// Nothing is alike.
  void give_up() { reach_ = 0; }

 private:
  /// What an instruction means for lines.
  enum class Rule : std::uint8_t {
    copy,
    add,
    subtract,
    negate,
    multiply,
    multiply_wide,
    shift_left,
    shift_right,
    bit_and,
    bit_or,
    insert,
    extract,
    compare,
    select,
    least,
    most,
    convert,
    divide,
    remainder,
    load,
    none  ///< a line only where its sources do not change at all
  };
  struct Meaning {
    Rule rule = Rule::none;
    unsigned bits = 64;
    bool is_signed = false;
    bool adds = false;      ///< a third operand, of the result's width
    unsigned to_bits = 64;  ///< of a conversion
    bool to_signed = false;
    unsigned sources = 0;
  };
  /// A lane's value, as the exact number that its type makes of it, and its growth.
  struct Line {
    std::int64_t slope = 0;
    bool wild = false;  ///< no line
  };
  __extension__ using Whole = __int128;

  [[nodiscard]] static Meaning meaning_of(const ptx::Instruction& one, const Step& step);
  /// Lanes in which something that the step takes is not the same in all blocks.
  [[nodiscard]] std::uint32_t changing(const Step& step, const Meaning& meaning) const;
  [[nodiscard]] Line line(std::uint32_t slot, unsigned lane) const;
  void set(std::uint32_t slot, unsigned lane, const Line& line, unsigned bits);
  void limit(Whole blocks);
  /// Holds the number within its type, so that it does not wrap around.
  void keep_in_range(Whole value, std::int64_t slope, unsigned bits, bool is_signed);
  /// Holds value modulo `modulus` from wrapping around.
  void keep_from_wrapping(Whole value, std::int64_t slope, Whole modulus);
  /// Holds the order of two numbers.
  void keep_order(Whole difference, Whole slope);
  void memory_step(const Step& step, unsigned lane);
  void plain_step(const WarpState& warp, const Step& step, const Meaning& meaning, unsigned lane);
  [[nodiscard]] Line result(const WarpState& warp, const Step& step, const Meaning& meaning,
                            unsigned lane);
  [[nodiscard]] Line masked(const Meaning& meaning, std::uint64_t value, std::int64_t slope,
                            std::uint64_t mask);

  const Program& program_;
  std::vector<Meaning> meanings_;       ///< by step
  std::vector<std::int64_t> slopes_;    ///< of lanes that move, by slot
  std::vector<std::uint32_t> moving_;   ///< lanes with a slope, by slot
  std::vector<std::uint32_t> wild_;     ///< lanes, by slot
  std::vector<std::uint32_t> ctaid_x_;  ///< slots
  std::vector<std::uint32_t> in_cluster_;
  std::uint64_t reach_ = 0;
  std::uint64_t period_ = 1;
};

}  // namespace strata::access
