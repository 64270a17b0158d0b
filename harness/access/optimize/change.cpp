#include "harness/access/optimize/change.hpp"

#include "harness/access/optimize/weave.hpp"
#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <sstream>

namespace strata::access {
namespace {

constexpr std::string_view axes = "xyz";

std::array<std::uint32_t, 3> sizes_of(const Extent& extent) {
  return {extent.x, extent.y, extent.z};
}

Extent extent_of(const std::array<std::uint32_t, 3>& sizes) {
  return {sizes[0], sizes[1], sizes[2]};
}

std::array<std::uint32_t, 3> permuted(const std::array<std::uint32_t, 3>& sizes,
                                      const std::array<unsigned, 3>& order) {
  return {sizes.at(order[0]), sizes.at(order[1]), sizes.at(order[2])};
}

/// Axes that changed places: "threadIdx.x and threadIdx.y swapped".
std::string swap_text(std::string_view index, const std::array<unsigned, 3>& order) {
  std::string moved;
  for (unsigned i = 0; i < order.size(); ++i) {
    if (order.at(i) != i)
      moved += fmt::format("{}{}.{}", moved.empty() ? "" : " and ", index, axes[i]);
  }
  return moved.empty() ? moved : moved + " swapped";
}

std::uint32_t rounded_up(std::uint32_t count, std::uint64_t by) {
  return static_cast<std::uint32_t>((count + by - 1) / by);
}

/// One word of a change, such as "threads=2".
class ChangeWord {
 public:
  /// Both must outlive it.
  ChangeWord(std::string_view flag, std::string_view word) : flag_{flag}, word_{word} {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) refuse_unknown();
    what_ = word.substr(0, equals);
    value_ = word.substr(equals + 1);
  }

  /// Throws UsageError for a word that means nothing.
  void apply_to(Change& change, const ptx::Module& module, const ptx::Kernel& kernel) const {
    if (what_ == "swap") {
      swap(change.thread_axes);
    } else if (what_ == "swap_blocks") {
      swap(change.block_axes);
    } else if (what_ == "exchange") {
      change.exchange = exchange(kernel);
    } else if (what_ == "threads") {
      change.threads = number(value_);
    } else if (what_ == "passes") {
      change.passes = number(value_);
    } else if (what_ == "group") {
      change.bytes = number(value_);
    } else if (what_ == "swizzle") {
      change.swizzled_row = row();
    } else if (what_ == "stage") {
      change.staged = number(value_);
    } else if (what_ == "given") {
      change.given.push_back(given(module, kernel));
    } else {
      refuse_unknown();
    }
  }

 private:
  [[noreturn]] void bad(std::string_view expected, std::string_view mend) const {
    refuse({std::string{flag_}}, in_quotes(word_), expected, mend);
  }
  [[noreturn]] void refuse_unknown() const {
    bad("swap=x,y, swap_blocks=x,y, exchange=x, threads=2, passes=2, group=16, swizzle=128, "
        "stage=256 or given=param_0:1",
        "see strata access optimize --help");
  }

  [[nodiscard]] unsigned number(std::string_view text) const {
    unsigned found = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
    if (error != std::errc{} || end != text.data() + text.size())
      bad("a whole number", "give 4, say");
    return found;
  }
  [[nodiscard]] unsigned axis(std::string_view text) const {
    const auto at = text.size() == 1 ? axes.find(text[0]) : std::string_view::npos;
    if (at == std::string_view::npos) bad("an axis: x, y or z", "give x, say");
    return static_cast<unsigned>(at);
  }

  void swap(std::array<unsigned, 3>& order) const {
    const auto comma = value_.find(',');
    if (comma == std::string_view::npos) bad("two axes", "give swap=x,y");
    std::swap(order.at(axis(value_.substr(0, comma))), order.at(axis(value_.substr(comma + 1))));
  }
  [[nodiscard]] Change::Exchange exchange(const ptx::Kernel& kernel) const {
    const unsigned along = axis(value_);
    const auto free = free_axis(kernel, along);
    if (!free)
      bad("an axis of the grid that the kernel does not ask for, beside it", "leave it out");
    return {along, *free};
  }
  [[nodiscard]] unsigned row() const {
    const unsigned bytes = number(value_);
    if (!std::has_single_bit(bytes)) bad("a power of two", "give the bytes of a row");
    return static_cast<unsigned>(std::countr_zero(bytes));
  }
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> given(const ptx::Module& module,
                                                              const ptx::Kernel& kernel) const {
    const auto colon = value_.find(':');
    const std::string name{value_.substr(0, colon)};
    const auto is_meant = [&](std::uint32_t param) {
      const std::string_view symbol = module.symbols[param].name;
      return module.symbols[param].bytes == 4 &&
             (symbol == name || symbol == std::string{kernel.name} + '_' + name);
    };
    const auto param = std::ranges::find_if(kernel.params, is_meant);
    if (colon == std::string_view::npos || param == kernel.params.end()) {
      bad("a parameter of 4 bytes and its value", "give given=param_0:1");
    }
    return {*param, number(value_.substr(colon + 1))};
  }

  std::string_view flag_;
  std::string_view word_;
  std::string_view what_;
  std::string_view value_;
};

}  // namespace

std::string text_of(const Change& change) {
  std::vector<std::string> parts;
  const auto add = [&](std::string part) {
    if (!part.empty()) parts.push_back(std::move(part));
  };
  add(swap_text("threadIdx", change.thread_axes));
  add(swap_text("blockIdx", change.block_axes));
  if (change.exchange) {
    add(fmt::format("lanes along blockIdx.{} instead of threadIdx.x", axes[change.exchange->axis]));
  }
  if (change.threads > 1) add(fmt::format("{} threads in one", change.threads));
  if (change.passes > 1) add(fmt::format("{} passes of a loop in one", change.passes));
  if (change.swizzled_row != 0) {
    add(fmt::format("shared memory swizzled by rows of {} bytes", 1U << change.swizzled_row));
  }
  if (change.staged != 0) {
    add(fmt::format("accesses exchanged through shared memory in blocks of up to {} threads",
                    change.staged));
  }
  if (change.bytes > 1 && change.staged == 0)
    add(fmt::format("accesses grouped into up to {} bytes", change.bytes));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<unsigned> free_axis(const ptx::Kernel& kernel, unsigned taken) {
  for (const unsigned axis : {2U, 1U, 0U}) {
    const auto is_asked = [&](const ptx::Operand& operand) {
      const auto which = static_cast<unsigned>(operand.special);
      return operand.kind == ptx::Operand::Kind::special &&
             (which == static_cast<unsigned>(ptx::Special::ctaid_x) + axis ||
              which == static_cast<unsigned>(ptx::Special::nctaid_x) + axis);
    };
    const auto asks = [&](const ptx::Instruction& one) {
      return std::ranges::any_of(one.operands, is_asked);
    };
    if (axis != taken && std::ranges::none_of(kernel.instructions, asks)) return axis;
  }
  return std::nullopt;
}

Change parse_change(std::string_view flag, std::string_view words, const ptx::Module& module,
                    const ptx::Kernel& kernel) {
  Change change;
  std::istringstream in{std::string{words}};
  for (std::string word; in >> word;)
    ChangeWord{flag, word}.apply_to(change, module, kernel);
  return change;
}

std::string words_of(const Change& change, const ptx::Module& module) {
  std::vector<std::string> words;
  const auto add_swaps = [&](std::string_view word, const std::array<unsigned, 3>& order) {
    std::array<unsigned, 3> made{0, 1, 2};
    for (std::size_t axis = 0; axis < order.size(); ++axis) {
      const auto place = std::ranges::find(made, order.at(axis)) - made.begin();
      const auto other = static_cast<std::size_t>(place);
      if (other == axis) continue;
      std::swap(made.at(axis), made.at(other));
      words.push_back(fmt::format("{}={},{}", word, axes[axis], axes[other]));
    }
  };
  add_swaps("swap", change.thread_axes);
  add_swaps("swap_blocks", change.block_axes);
  if (change.exchange) words.push_back(fmt::format("exchange={}", axes[change.exchange->axis]));
  if (change.threads > 1) words.push_back(fmt::format("threads={}", change.threads));
  if (change.passes > 1) words.push_back(fmt::format("passes={}", change.passes));
  if (change.bytes != Change{}.bytes) words.push_back(fmt::format("group={}", change.bytes));
  if (change.swizzled_row != 0)
    words.push_back(fmt::format("swizzle={}", 1U << change.swizzled_row));
  if (change.staged != 0) words.push_back(fmt::format("stage={}", change.staged));
  for (const auto& [parameter, value] : change.given)
    words.push_back(fmt::format("given={}:{}", module.symbols[parameter].name, value));
  return fmt::format("{}", fmt::join(words, " "));
}

Extent optimized_grid(const Change& change, const Extent& grid, const Extent& block) {
  auto sizes = permuted(sizes_of(grid), change.block_axes);
  std::uint32_t& along = sizes.at(change.lanes_axis());
  if (change.exchange) {
    along = rounded_up(along, std::uint64_t{change.threads} * block.x);
    sizes.at(change.exchange->free) = block.x;
  } else {
    along = rounded_up(along, change.threads);
  }
  return extent_of(sizes);
}

Extent optimized_block(const Change& change, const Extent& block) {
  return extent_of(permuted(sizes_of(block), change.thread_axes));
}

Launch optimized_launch(const Optimized& optimized, const ptx::Module& original,
                        const ptx::Module& changed, Launch launch) {
  const Change& change = optimized.change;
  const std::uint32_t blocks = sizes_of(launch.grid).at(change.lanes_axis());
  launch.grid = optimized_grid(change, launch.grid, launch.block);
  launch.block = optimized_block(change, launch.block);
  const auto kernel = std::ranges::find(changed.kernels, optimized.name, &ptx::Kernel::name);
  launch.kernel = static_cast<std::uint32_t>(kernel - changed.kernels.begin());
  for (Buffer& buffer : launch.buffers) {
    if (buffer.symbol == ptx::no_index) continue;
    const ptx::Symbol& was = original.symbols[buffer.symbol];
    const auto is = std::ranges::find_if(changed.symbols, [&](const ptx::Symbol& one) {
      return one.name == was.name && one.kernel == was.kernel;
    });
    buffer.symbol = static_cast<std::uint32_t>(is - changed.symbols.begin());
  }
  if (!change.moves_blocks()) return launch;
  const ptx::Symbol& parameter = changed.symbols[kernel->params.back()];
  launch.params.resize(parameter.offset + sizeof blocks);
  launch.params_known.resize(launch.params.size());
  for (unsigned b = 0; b < sizeof blocks; ++b) {
    launch.params[parameter.offset + b] = static_cast<std::uint8_t>(blocks >> (8 * b));
    launch.params_known[parameter.offset + b] = 1;
  }
  return launch;
}

}  // namespace strata::access
