// Which blocks of a row of the grid are alike: they take the same paths, and each of their
// addresses is the first block's plus a constant number of bytes per block between them.
//
// Each lane's value is followed as a linear function of the block index in x: its value in this
// block, and its growth from one block to the next. Where the function is no longer linear (a
// comparison changes, a number wraps around, a quotient steps), the range of alike blocks ends; a
// value that is not linear must not affect anything that is needed.
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

  /// Call before a block is run.
  void begin();
  /// How many of the following blocks are alike, and after how many blocks addresses repeat up to
  /// whole lines of 128 bytes. Valid after the block was run.
  [[nodiscard]] std::uint64_t reach() const { return reach_; }
  [[nodiscard]] std::uint64_t period() const { return period_; }

  // Calls of the runner of the block.
  void start_warp();
  /// Call before the step is executed for these lanes.
  void step(const WarpState& warp, std::uint32_t at, std::uint32_t mask);
  /// An access of these lanes with addresses from `low` to `high` (exclusive), in a space or buffer
  /// from `begin` to `end` (exclusive); `begin == end`: in none.
  void access(std::uint32_t at, std::uint32_t mask, std::uint64_t low, std::uint64_t high,
              std::uint64_t begin, std::uint64_t end);
  /// No blocks are alike.
  void give_up() { reach_ = 0; }

 private:
  /// How an instruction changes linear functions.
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
    none  ///< linear only if its sources do not change
  };
  struct Meaning {
    Rule rule = Rule::none;
    unsigned bits = 64;
    bool is_signed = false;
    bool adds = false;      ///< adds a third operand, of the result's width
    unsigned to_bits = 64;  ///< of a conversion
    bool to_signed = false;
    unsigned sources = 0;
  };
  /// A lane's value as the exact number of its type, and its growth.
  struct Line {
    std::int64_t slope = 0;
    bool wild = false;  ///< not linear
  };
  __extension__ using Whole = __int128;

  [[nodiscard]] static Meaning meaning_of(const ptx::Instruction& one, const Step& step);
  /// Lanes for which some operand of the step differs between blocks.
  [[nodiscard]] std::uint32_t changing(const Step& step, const Meaning& meaning) const;
  [[nodiscard]] Line line(std::uint32_t slot, unsigned lane) const;
  void set(std::uint32_t slot, unsigned lane, const Line& line, unsigned bits);
  void limit(Whole blocks);
  /// Limits the blocks so that the number stays in the range of its type and does not wrap around.
  void keep_in_range(Whole value, std::int64_t slope, unsigned bits, bool is_signed);
  /// Limits the blocks so that value modulo `modulus` does not wrap around.
  void keep_from_wrapping(Whole value, std::int64_t slope, Whole modulus);
  /// Limits the blocks so that the order of two numbers does not change.
  void keep_order(Whole difference, Whole slope);
  void memory_step(const Step& step, unsigned lane);
  void plain_step(const WarpState& warp, const Step& step, const Meaning& meaning, unsigned lane);
  [[nodiscard]] Line result(const WarpState& warp, const Step& step, const Meaning& meaning,
                            unsigned lane);
  [[nodiscard]] Line masked(const Meaning& meaning, std::uint64_t value, std::int64_t slope,
                            std::uint64_t mask);

  const Program& program_;
  std::vector<Meaning> meanings_;       ///< by step
  std::vector<std::int64_t> slopes_;    ///< of lanes with a slope, by slot
  std::vector<std::uint32_t> moving_;   ///< lanes with a slope, by slot
  std::vector<std::uint32_t> wild_;     ///< lanes, by slot
  std::vector<std::uint32_t> ctaid_x_;  ///< slots
  std::vector<std::uint32_t> in_cluster_;
  std::uint64_t reach_ = 0;
  std::uint64_t period_ = 1;
};

}  // namespace strata::access
