// What must hold of a launch for an optimized kernel to do what the original does: conditions on
// its shape and its parameters, which are evaluated here or written as C++ for the host of a
// program.
#pragma once

#include "harness/access/launch_file.hpp"
#include "harness/access/optimize/launch_math.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::access {

/// Sizes of a launch: those of a block, then those of the grid.
inline constexpr std::array size_names{"block.x", "block.y", "block.z",
                                       "grid.x",  "grid.y",  "grid.z"};
inline constexpr unsigned grid_size = 3;  ///< the place of grid.x among them

/// Why the original is launched where LaunchChecks::pays() is false.
inline constexpr const char* does_not_pay =
    "its stores would reach more sectors than the original's";

class LaunchChecks {
 public:
  /// A number of a launch that is known to lie in a range. Equal ones are one.
  using Number = std::uint32_t;
  using Range = launch_math::Range;

  /// Two launches that are tried while checks are made: one of a usual size, and one with more
  /// threads than there is to do. Before anything else.
  void try_with(Launch usual, Launch ragged);
  [[nodiscard]] const Range& usual(Number number) const { return nodes_[number].tried[0]; }
  [[nodiscard]] const Range& ragged(Number number) const { return nodes_[number].tried[1]; }

  [[nodiscard]] Number range(const Range& range);
  [[nodiscard]] Number constant(std::int64_t value) { return range({value, value}); }
  /// Bytes of the parameters from `at` on.
  [[nodiscard]] Number parameter(std::uint64_t at, unsigned bytes, bool is_signed);
  /// One of size_names.
  [[nodiscard]] Number size(unsigned which);
  enum class Operation : std::uint8_t {
    add,
    multiply,
    quotient,
    remainder,
    least,
    most,
    both,
    between,
    below  ///< an index of which the first operand is the count
  };
  [[nodiscard]] Number apply(Operation operation, Number a, Number b);

  /// Whether it is the same in all launches.
  [[nodiscard]] bool is_constant(Number number) const { return nodes_[number].kind == Kind::range; }

  // Conditions; `why` says in words what fails where one does not hold.
  void need_within(Number number, std::int64_t low, std::int64_t high, std::string why);
  void need_multiple(Number number, std::int64_t of, std::string why);
  void need_power_of_two(Number number, std::string why);
  /// Bytes from each number on.
  void need_apart(Number a, std::int64_t a_bytes, Number b, std::int64_t b_bytes, std::string why);
  /// Places at strides × indices, by pairs of a stride and the count of its index.
  void need_spread(const std::vector<std::pair<Number, Number>>& strides, std::int64_t bytes,
                   std::string why);

  /// A part of an address: `steps` ÷ `divisor` steps of `bytes` from a thread to the next one along
  /// a warp.
  struct LaneStep {
    Number bytes = 0;
    Number steps = 0;
    std::int64_t divisor = 1;
  };
  /// A store of the original, which as many stores of the optimized kernel replace, whose lanes are
  /// `threads` threads apart. `lanes`: the size of a block along a warp.
  void expect_stores(std::vector<LaneStep> parts, unsigned threads, Number lanes);
  /// Whether the optimized kernel is expected to be no slower: stores, which no L1 keeps, must not
  /// reach many more sectors than before.
  [[nodiscard]] bool pays(const Launch& launch) const;
  [[nodiscard]] bool may_not_pay() const { return !stores_.empty(); }
  /// The body of a C++ function like that of code(), which returns the same.
  [[nodiscard]] std::string code_of_pays() const;

  /// A power of two that the number is needed to be a multiple of, or else 1.
  [[nodiscard]] std::int64_t needed_multiple(Number number) const;

  /// What was needed behind a mark can be taken back.
  [[nodiscard]] std::size_t mark() const { return needs_.size(); }
  void take_back(std::size_t mark) { needs_.resize(mark); }
  [[nodiscard]] std::size_t count() const { return needs_.size(); }

  /// Whether all that was needed behind the mark holds of the usual launch.
  [[nodiscard]] bool usually_hold(std::size_t mark) const;
  /// Why the launch is not one for the optimized kernel; nothing where it is.
  [[nodiscard]] std::optional<std::string> failing(const Launch& launch) const;
  /// What may have a launch take the original, in words.
  [[nodiscard]] std::vector<std::string> reasons() const;
  /// The body of a C++ function of `const unsigned char* bytes`, the parameters, and `const
  /// unsigned* sizes`, which returns null, or a string that says why not.
  [[nodiscard]] std::string code() const;

 private:
  enum class Kind : std::uint8_t { range, parameter, size, applied };
  struct Node {
    Kind kind = Kind::range;
    Operation operation = Operation::add;
    bool is_signed = false;
    unsigned bytes = 0;
    std::uint64_t at = 0;
    Number a = 0;
    Number b = 0;
    Range range;
    std::array<Range, 2> tried{};
    Range widest;  ///< of all launches
  };
  enum class Test : std::uint8_t { within, multiple, power_of_two, apart, spread };
  struct Need {
    Test test = Test::within;
    std::vector<Number> numbers;
    std::int64_t first = 0;
    std::int64_t second = 0;
    std::string why;
  };
  struct Stores {
    std::vector<LaneStep> parts;
    unsigned threads = 1;
    Number lanes = 0;
  };
  using Key = std::tuple<Kind, Operation, bool, unsigned, std::uint64_t, Number, Number,
                         std::int64_t, std::int64_t>;
  [[nodiscard]] Number intern(Node node);
  void need(Need need);
  /// `of(n)` is the value of number n.
  template <class Of>
  [[nodiscard]] static Range value(const Node& node, const Launch& launch, const Of& of);
  template <class Of>
  [[nodiscard]] static bool holds(const Need& need, const Of& of);
  [[nodiscard]] static Range widest_of(const Node& node, const std::vector<Node>& nodes);
  [[nodiscard]] std::string code_of(const Node& node) const;
  /// The definitions of numbers and of what they are made of.
  [[nodiscard]] std::string code_of(const std::vector<Number>& numbers,
                                    bool checks_addresses) const;
  [[nodiscard]] static bool is_address(const Node& node) {
    return node.kind == Kind::parameter && node.bytes == 8;
  }

  std::array<Launch, 2> tried_{};
  std::vector<Node> nodes_;
  std::map<Key, Number> numbers_;
  std::vector<Need> needs_;
  std::vector<Stores> stores_;
};

}  // namespace strata::access
