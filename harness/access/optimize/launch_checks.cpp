#include "harness/access/optimize/launch_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace strata::access {
namespace {

using launch_math::Range;
using Operation = LaunchChecks::Operation;

constexpr std::array operation_names{"add",  "multiply", "quotient", "remainder", "least",
                                     "most", "both",     "between",  "below"};

Range applied(Operation operation, const Range& a, const Range& b) {
  switch (operation) {
    case Operation::add:
      return launch_math::add(a, b);
    case Operation::multiply:
      return launch_math::multiply(a, b);
    case Operation::quotient:
      return launch_math::quotient(a, b);
    case Operation::remainder:
      return launch_math::remainder(a, b);
    case Operation::least:
      return launch_math::least(a, b);
    case Operation::most:
      return launch_math::most(a, b);
    case Operation::both:
      return launch_math::both(a, b);
    case Operation::between:
      return launch_math::between(a, b);
    case Operation::below:
      return launch_math::below(a);
  }
  return launch_math::anything;
}

/// So many strides at the most: six axes of a launch, and loops.
constexpr std::size_t most_strides = 12;

bool are_spread(std::span<const Range> strides, std::int64_t bytes) {
  launch_math::Stride all[most_strides]{};
  for (std::size_t i = 0; i < strides.size() / 2; ++i)
    all[i] = {strides[2 * i], strides[2 * i + 1]};
  return launch_math::are_spread(all, bytes);
}

/// Of the parameters; what is not there is 0.
Range read(std::span<const std::uint8_t> bytes, std::uint64_t at, unsigned count, bool is_signed) {
  std::uint64_t bits = 0;
  for (unsigned b = 0; b < count && at + b < bytes.size(); ++b)
    bits |= std::uint64_t{bytes[at + b]} << (8 * b);
  if (!is_signed || count == 0) return launch_math::exactly(bits);
  const unsigned unused = 64 - 8 * count;
  return launch_math::exactly(static_cast<std::int64_t>(bits << unused) >> unused);
}

constexpr const char* too_far = "an address or a number is beyond 2^57";

std::string number_text(std::int64_t value) {
  if (value == launch_math::endless) return "endless";
  if (value == -launch_math::endless) return "-endless";
  return fmt::format("{}", value);
}

}  // namespace

template <class Of>
Range LaunchChecks::value(const Node& node, const Launch& launch, const Of& of) {
  const std::array sizes{launch.block.x, launch.block.y, launch.block.z,
                         launch.grid.x,  launch.grid.y,  launch.grid.z};
  switch (node.kind) {
    case Kind::range:
      return node.range;
    case Kind::parameter:
      return read(launch.params, node.at, node.bytes, node.is_signed);
    case Kind::size:
      return launch_math::exactly(std::uint64_t{sizes.at(node.at)});
    case Kind::applied:
      return applied(node.operation, of(node.a), of(node.b));
  }
  return launch_math::anything;
}

template <class Of>
bool LaunchChecks::holds(const Need& need, const Of& of) {
  const auto number = [&](std::size_t i) { return of(need.numbers[i]); };
  switch (need.test) {
    case Test::within:
      return launch_math::is_within(number(0), need.first, need.second);
    case Test::multiple:
      return launch_math::is_multiple(number(0), need.first);
    case Test::power_of_two:
      return launch_math::is_power_of_two(number(0));
    case Test::apart:
      return launch_math::are_apart(number(0), need.first, number(1), need.second);
    case Test::spread: {
      std::vector<Range> all;
      for (const Number one : need.numbers)
        all.push_back(of(one));
      return are_spread(all, need.first);
    }
  }
  return false;
}

void LaunchChecks::try_with(Launch usual, Launch ragged) {
  tried_ = {std::move(usual), std::move(ragged)};
}

LaunchChecks::Number LaunchChecks::intern(Node node) {
  const Key key{node.kind, node.operation, node.is_signed, node.bytes,     node.at,
                node.a,    node.b,         node.range.low, node.range.high};
  const auto [place, is_new] = numbers_.try_emplace(key, static_cast<Number>(nodes_.size()));
  if (!is_new) return place->second;
  for (std::size_t which = 0; which < tried_.size(); ++which) {
    node.tried.at(which) = value(node, tried_.at(which), [&](Number number) -> const Range& {
      return nodes_[number].tried.at(which);
    });
  }
  node.widest = widest_of(node, nodes_);
  nodes_.push_back(node);
  return place->second;
}

LaunchChecks::Number LaunchChecks::range(const Range& range) {
  return intern({.kind = Kind::range, .range = range});
}

LaunchChecks::Number LaunchChecks::parameter(std::uint64_t at, unsigned bytes, bool is_signed) {
  return intern({.kind = Kind::parameter, .is_signed = is_signed, .bytes = bytes, .at = at});
}

LaunchChecks::Number LaunchChecks::size(unsigned which) {
  return intern({.kind = Kind::size, .at = which});
}

LaunchChecks::Number LaunchChecks::apply(Operation operation, Number a, Number b) {
  if (nodes_[a].kind == Kind::range && nodes_[b].kind == Kind::range) {
    return range(applied(operation, nodes_[a].range, nodes_[b].range));
  }
  const auto is_constant = [&](Number number, std::int64_t value) {
    const Node& node = nodes_[number];
    return node.kind == Kind::range && node.range.is_one() && node.range.low == value;
  };
  const std::int64_t neutral = operation == Operation::multiply ? 1 : 0;
  if (operation == Operation::add || operation == Operation::multiply) {
    if (is_constant(a, neutral)) return b;
    if (is_constant(b, neutral)) return a;
  }
  return intern({.kind = Kind::applied, .operation = operation, .a = a, .b = b});
}

void LaunchChecks::need(Need need) {
  const auto is_same = [&](const Need& other) {
    return other.test == need.test && other.numbers == need.numbers && other.first == need.first &&
           other.second == need.second;
  };
  if (std::ranges::none_of(needs_, is_same)) needs_.push_back(std::move(need));
}

void LaunchChecks::need_within(Number number, std::int64_t low, std::int64_t high,
                               std::string why) {
  need({Test::within, {number}, low, high, std::move(why)});
}

void LaunchChecks::need_multiple(Number number, std::int64_t of, std::string why) {
  need({Test::multiple, {number}, of, 0, std::move(why)});
}

void LaunchChecks::need_power_of_two(Number number, std::string why) {
  need({Test::power_of_two, {number}, 0, 0, std::move(why)});
}

void LaunchChecks::need_apart(Number a, std::int64_t a_bytes, Number b, std::int64_t b_bytes,
                              std::string why) {
  need({Test::apart, {a, b}, a_bytes, b_bytes, std::move(why)});
}

void LaunchChecks::need_spread(const std::vector<std::pair<Number, Number>>& strides,
                               std::int64_t bytes, std::string why) {
  Need one{Test::spread, {}, bytes, 0, std::move(why)};
  for (const auto& [stride, count] : strides) {
    one.numbers.push_back(stride);
    one.numbers.push_back(count);
  }
  // More than anybody counts: it never holds.
  if (strides.size() > most_strides) one = {Test::within, {constant(1)}, 0, 0, one.why};
  need(std::move(one));
}

std::optional<std::string> LaunchChecks::failing(const Launch& launch) const {
  for (const auto& [size, most] : {std::pair{launch.block.x, 1024U},
                                   {launch.block.y, 1024U},
                                   {launch.block.z, 64U},
                                   {launch.grid.x, 0x7FFFFFFFU},
                                   {launch.grid.y, 65535U},
                                   {launch.grid.z, 65535U}}) {
    if (size - 1 >= most) return "no such shape";
  }
  std::vector<Range> all;
  all.reserve(nodes_.size());
  const auto of = [&](Number number) -> const Range& { return all[number]; };
  for (const Node& node : nodes_) {
    all.push_back(value(node, launch, of));
    if (is_address(node) &&
        !launch_math::is_within(all.back(), -launch_math::far_address, launch_math::far_address)) {
      return too_far;
    }
  }
  for (const Need& one : needs_) {
    if (!holds(one, of)) return one.why;
  }
  return std::nullopt;
}

bool LaunchChecks::usually_hold(std::size_t mark) const {
  return std::all_of(
      needs_.begin() + static_cast<std::ptrdiff_t>(mark), needs_.end(), [&](const Need& one) {
        return holds(one, [&](Number number) -> const Range& { return usual(number); });
      });
}

std::int64_t LaunchChecks::needed_multiple(Number number) const {
  std::int64_t most = 1;
  for (const Need& one : needs_) {
    const bool is_power = one.test == Test::multiple && (one.first & (one.first - 1)) == 0;
    if (is_power && one.numbers[0] == number) most = std::max(most, one.first);
  }
  return most;
}

void LaunchChecks::expect_stores(std::vector<LaneStep> parts, unsigned threads, Number lanes) {
  const bool hangs_on_launch = std::ranges::any_of(parts, [&](const LaneStep& one) {
    return !is_constant(one.bytes) || !is_constant(one.steps);
  });
  if (hangs_on_launch) stores_.push_back({std::move(parts), threads, lanes});
}

bool LaunchChecks::pays(const Launch& launch) const {
  std::vector<Range> all;
  for (const Node& node : nodes_)
    all.push_back(value(node, launch, [&](Number number) -> const Range& { return all[number]; }));
  double before = 0;
  double after = 0;
  for (const Stores& one : stores_) {
    std::array<launch_math::LaneStep, most_strides> parts{};
    for (std::size_t i = 0; i < one.parts.size(); ++i) {
      const LaneStep& part = one.parts[i];
      parts.at(i) = {launch_math::number(all[part.bytes]),
                     launch_math::number(all[part.steps]) / static_cast<double>(part.divisor)};
    }
    const double lanes = std::min(32.0, launch_math::number(all[one.lanes]));
    before += 32 / lanes * launch_math::reached_sectors(parts, lanes, 1);
    after += 32 / lanes * launch_math::reached_sectors(parts, lanes, one.threads);
  }
  return after <= std::max(before, launch_math::stored_anyway);
}

std::string LaunchChecks::code_of_pays() const {
  if (stores_.empty()) return "    return true;\n";
  std::vector<Number> numbers;
  for (const Stores& one : stores_) {
    numbers.push_back(one.lanes);
    for (const LaneStep& part : one.parts)
      numbers.insert(numbers.end(), {part.bytes, part.steps});
  }
  std::string text = code_of(numbers, false);
  text += "    double before = 0;\n    double after = 0;\n";
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    const Stores& one = stores_[i];
    std::string parts;
    for (const LaneStep& part : one.parts) {
      parts += fmt::format("{}{{number(n{}), number(n{}) / {}.0}}", parts.empty() ? "" : ", ",
                           part.bytes, part.steps, part.divisor);
    }
    text += fmt::format(
        "    const LaneStep parts{0}[]{{{1}}};\n"
        "    const double lanes{0} = std::min(32.0, number(n{2}));\n"
        "    before += 32 / lanes{0} * reached_sectors(parts{0}, lanes{0}, 1);\n"
        "    after += 32 / lanes{0} * reached_sectors(parts{0}, lanes{0}, {3});\n",
        i, parts, one.lanes, one.threads);
  }
  return text + "    return after <= std::max(before, stored_anyway);\n";
}

std::vector<std::string> LaunchChecks::reasons() const {
  std::vector<std::string> all;
  for (const Need& one : needs_) {
    if (std::ranges::count(all, one.why) == 0) all.push_back(one.why);
  }
  if (may_not_pay()) all.emplace_back(does_not_pay);
  return all;
}

Range LaunchChecks::widest_of(const Node& node, const std::vector<Node>& nodes) {
  constexpr std::array<std::int64_t, 6> most_sizes{1024, 1024, 64, 0x7FFFFFFF, 65535, 65535};
  const auto whole = [&](unsigned bits) -> Range {
    const std::int64_t most = std::int64_t{1} << bits;
    return node.is_signed ? Range{-most, most} : Range{0, most};
  };
  switch (node.kind) {
    case Kind::range:
      return node.range;
    case Kind::parameter:
      return node.bytes == 8 ? Range{-launch_math::far_address, launch_math::far_address}
                             : whole(8 * node.bytes);
    case Kind::size:
      return {1, most_sizes.at(node.at)};
    case Kind::applied:
      // Of two that contradict each other the first is taken.
      if (node.operation == Operation::both) return nodes[node.a].widest;
      return applied(node.operation, nodes[node.a].widest, nodes[node.b].widest);
  }
  return launch_math::anything;
}

std::string LaunchChecks::code_of(const Node& node) const {
  switch (node.kind) {
    case Kind::range:
      return fmt::format("Range{{{}, {}}}", number_text(node.range.low),
                         number_text(node.range.high));
    case Kind::parameter:
      return fmt::format("read<std::{}int{}_t>(bytes + {})", node.is_signed ? "" : "u",
                         8 * node.bytes, node.at);
    case Kind::size:
      return fmt::format("exactly(std::uint64_t{{sizes[{}]}})", node.at);
    case Kind::applied:
      break;
  }
  const bool is_unary = node.operation == Operation::below;
  constexpr std::int64_t enough = std::int64_t{1} << 62U;
  const auto is_short = [&](const Range& range) {
    return launch_math::is_within(range, -enough, enough);
  };
  const Range& a = nodes_[node.a].widest;
  const Range& b = nodes_[node.b].widest;
  const bool are_short = is_short(a) && is_short(b) && is_short(node.widest);
  const bool multiplies = node.operation == Operation::multiply && a.low >= 0 && b.low >= 0;
  const bool has_short = are_short && (node.operation == Operation::add || multiplies);
  return fmt::format("{}{}(n{}{})", has_short ? "short_" : "",
                     operation_names.at(static_cast<std::size_t>(node.operation)), node.a,
                     is_unary ? "" : fmt::format(", n{}", node.b));
}

std::string LaunchChecks::code_of(const std::vector<Number>& numbers, bool checks_addresses) const {
  std::vector<bool> is_used(nodes_.size());
  std::vector<Number> open;
  const auto use = [&](Number number) {
    if (is_used[number]) return;
    is_used[number] = true;
    open.push_back(number);
  };
  std::ranges::for_each(numbers, use);
  while (!open.empty()) {
    const Node& node = nodes_[open.back()];
    open.pop_back();
    if (node.kind != Kind::applied) continue;
    use(node.a);
    use(node.b);
  }
  std::string text;
  for (Number number = 0; number < nodes_.size(); ++number) {
    if (!is_used[number]) continue;
    text += fmt::format("    const Range n{} = {};\n", number, code_of(nodes_[number]));
    if (checks_addresses && is_address(nodes_[number])) {
      text += fmt::format("    if (!is_within(n{}, -far_address, far_address)) return \"{}\";\n",
                          number, too_far);
    }
  }
  return text;
}

std::string LaunchChecks::code() const {
  std::vector<Number> numbers;
  for (const Need& one : needs_)
    numbers.insert(numbers.end(), one.numbers.begin(), one.numbers.end());
  std::string text = code_of(numbers, true);
  std::size_t spreads = 0;
  for (const Need& one : needs_) {
    std::string test;
    switch (one.test) {
      case Test::within:
        test = fmt::format("is_within(n{}, {}, {})", one.numbers[0], number_text(one.first),
                           number_text(one.second));
        break;
      case Test::multiple:
        test = fmt::format("is_multiple(n{}, {})", one.numbers[0], one.first);
        break;
      case Test::power_of_two:
        test = fmt::format("is_power_of_two(n{})", one.numbers[0]);
        break;
      case Test::apart:
        test = fmt::format("are_apart(n{}, {}, n{}, {})", one.numbers[0], one.first, one.numbers[1],
                           one.second);
        break;
      case Test::spread: {
        std::string strides;
        for (std::size_t i = 0; i + 1 < one.numbers.size(); i += 2)
          strides +=
              fmt::format("{}{{n{}, n{}}}", i == 0 ? "" : ", ", one.numbers[i], one.numbers[i + 1]);
        text += fmt::format("    Stride strides{}[]{{{}}};\n", spreads, strides);
        test = fmt::format("are_spread(strides{}, {})", spreads++, one.first);
        break;
      }
    }
    text += fmt::format("    if (!{}) return \"{}\";\n", test, one.why);
  }
  return text + "    return nullptr;\n";
}

}  // namespace strata::access
