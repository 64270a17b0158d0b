#include "harness/access/mend/mend.hpp"

#include "harness/access/control_flow.hpp"
#include "harness/access/kernel_forms.hpp"
#include "harness/access/mend/bounds.hpp"
#include "harness/access/mend/independence.hpp"
#include "harness/access/mend/weave.hpp"
#include "harness/access/ptx_lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace strata::access {
namespace {

constexpr std::int64_t most_blocks_across = 65535;  // of y and z
constexpr std::int64_t most_threads_deep = 64;

void check_shape(const Change& change, const ptx::Kernel& kernel, const ptx::Module& module,
                 LaunchChecks& checks) {
  for (unsigned axis = 1; axis < 3; ++axis) {
    const unsigned from = grid_size + change.block_axes.at(axis);
    if (change.block_axes.at(axis) != axis) {
      checks.need_within(checks.size(from), 1, most_blocks_across,
                         fmt::format("{} is more than {}", size_names.at(from),
                                     most_blocks_across));
    }
  }
  if (change.thread_axes[2] != 2) {
    const unsigned from = change.thread_axes[2];
    checks.need_within(checks.size(from), 1, most_threads_deep,
                       fmt::format("{} is more than {}", size_names.at(from), most_threads_deep));
  }
  if (change.exchange) {
    const unsigned free = grid_size + change.exchange->free;
    checks.need_within(checks.size(free), 1, 1,
                       fmt::format("{} is more than 1", size_names.at(free)));
  } else if (change.threads > 1) {
    const unsigned along = change.thread_axes[0];
    const std::string name = size_names.at(along);
    checks.need_power_of_two(checks.size(along), name + " is no power of two");
    checks.need_multiple(checks.size(along), change.threads,
                         fmt::format("{} is no multiple of {}", name, change.threads));
  }
  for (const auto& [symbol, value] : change.given) {
    const ptx::Symbol& parameter = module.symbols[symbol];
    const auto number = checks.parameter(parameter.offset, 4, false);
    std::string_view name = parameter.name;
    if (name.starts_with(kernel.name)) name.remove_prefix(kernel.name.size() + 1);
    checks.need_within(number, value, value, fmt::format("{} is not {}", name, value));
  }
}

/// The kernel's declaration up to its parameters, where that begins in the text, and their text.
struct Head {
  std::size_t begin = 0;
  std::string parameters;
};

Head head_of(const ptx::Module& module, const ptx::Kernel& kernel) {
  const std::string_view text{module.text.data(), module.text.size()};
  const auto name = static_cast<std::size_t>(kernel.name.data() - text.data());
  Head head{.begin = text.rfind(".entry", name)};
  for (bool has_more = true; has_more;) {
    has_more = false;
    const std::size_t last = text.find_last_not_of(" \t\r\n", head.begin - 1);
    for (const std::string_view word : {".visible", ".weak", ".extern"}) {
      if (last == std::string_view::npos || !text.substr(0, last + 1).ends_with(word)) continue;
      head.begin = last + 1 - word.size();
      has_more = true;
    }
  }
  ptx::Lexer lexer{text.substr(name), "kernel"};
  (void)lexer.take();
  if (!lexer.take_if("(")) return head;
  while (!lexer.peek().is(")")) {
    const ptx::Token token = lexer.take();
    if (token.kind == ptx::Token::Kind::end) throw std::logic_error{"a kernel without its end"};
    head.parameters += fmt::format("{} ", token.text);
  }
  return head;
}

std::string limits_of(const ptx::Kernel& kernel, const Change& change) {
  std::string text;
  const auto add = [&](std::string_view word, const std::array<std::uint32_t, 3>& sizes) {
    if (sizes[0] == 0) return;
    const auto& order = change.thread_axes;
    text += fmt::format(".{} {}, {}, {}\n", word, sizes.at(order[0]), sizes.at(order[1]),
                        sizes.at(order[2]));
  };
  add("maxntid", kernel.most_block);
  add("reqntid", kernel.required_block);
  return text;
}

void check_change(const Change& change) {
  const bool is_power = (change.threads & (change.threads - 1)) == 0 && change.threads != 0 &&
                        (change.bytes & (change.bytes - 1)) == 0 && change.bytes <= 16;
  const bool are_apart = change.block_axes == Change{}.block_axes || !change.moves_blocks();
  const bool is_exchange_alone =
      !change.exchange || (!change.moves_lanes() && change.exchange->axis < 3 &&
                           change.exchange->free < 3 &&
                           change.exchange->axis != change.exchange->free);
  if (!is_power || !are_apart || !is_exchange_alone || change.passes == 0) {
    throw NotMended{{ptx::no_index, "changes that do not go together"}};
  }
}

}  // namespace

Mended mend(const ptx::Module& module, std::uint32_t number, const Change& change) {
  check_change(change);
  const ptx::Kernel& kernel = module.kernels[number];
  if (auto refusal = refusal_of(module, kernel, change.rearrangement())) throw NotMended{*refusal};
  if (kernel.instructions.empty()) throw NotMended{{ptx::no_index, "a kernel that does nothing"}};
  const ControlFlow flow = control_flow(kernel);
  KernelForms forms{module, kernel, flow};
  Mended mended{.name = fmt::format("{}_mended", kernel.name), .change = change};
  mended.checks.try_with(tried_launch(forms, {64, 64, 8}), tried_launch(forms, {256, 1024, 8}));
  check_shape(change, kernel, module, mended.checks);
  Independence independence{forms, mended.checks};
  if (change.rearrangement().moves_lanes) {
    if (auto refusal = independence.of_threads()) throw NotMended{*refusal};
    if (auto refusal = independence.of_shared_memory()) throw NotMended{*refusal};
  }
  const Woven woven = weave(forms, change, mended.checks, independence);
  mended.groups = woven.groups;
  mended.grouped = woven.grouped;

  Head head = head_of(module, kernel);
  if (change.moves_blocks()) {
    if (!kernel.params.empty()) head.parameters += ", ";
    head.parameters += fmt::format(".param .u32 {}", blocks_parameter(kernel));
  }
  const std::string_view text{module.text.data(), module.text.size()};
  mended.text = text.substr(0, head.begin);
  mended.text += fmt::format(".visible .entry {}({})\n{}{{\n{}}}\n", mended.name, head.parameters,
                             limits_of(kernel, change), woven.text);
  mended.text += text.substr(head.begin);
  return mended;
}

}  // namespace strata::access
