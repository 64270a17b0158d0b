#include "harness/access/optimize/optimize.hpp"

#include "harness/access/control_flow.hpp"
#include "harness/access/kernel_forms.hpp"
#include "harness/access/operands.hpp"
#include "harness/access/optimize/bounds.hpp"
#include "harness/access/optimize/independence.hpp"
#include "harness/access/optimize/lane_steps.hpp"
#include "harness/access/optimize/stage.hpp"
#include "harness/access/optimize/weave.hpp"
#include "harness/access/ptx_lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::access {
namespace {

constexpr std::int64_t most_blocks_across = 65535;  // of y and z
constexpr std::int64_t most_threads_deep = 64;

void check_shape(const Change& change, const ptx::Kernel& kernel, const ptx::Module& module,
                 LaunchChecks& checks) {
  for (unsigned axis = 1; axis < 3; ++axis) {
    const unsigned from = grid_size + change.block_axes.at(axis);
    if (change.block_axes.at(axis) != axis) {
      checks.need_within(
          checks.size(from), 1, most_blocks_across,
          fmt::format("{} is more than {}", size_names.at(from), most_blocks_across));
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

/// As the text has them.
std::string parameters_of(const ptx::Kernel& kernel) {
  std::string parameters;
  ptx::Lexer lexer{
      kernel.text.substr(static_cast<std::size_t>(kernel.name.data() - kernel.text.data())),
      "kernel"};
  (void)lexer.take();
  if (!lexer.take_if("(")) return parameters;
  while (!lexer.peek().is(")"))
    parameters += fmt::format("{} ", lexer.take().text);
  return parameters;
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
      !change.exchange ||
      (!change.moves_lanes() && change.exchange->axis < 3 && change.exchange->free < 3 &&
       change.exchange->axis != change.exchange->free);
  constexpr unsigned most_threads = 1024;
  const bool is_staged_alone =
      change.staged == 0 ||
      (change.staged <= most_threads && !change.moves_lanes() && !change.moves_blocks() &&
       change.block_axes == Change{}.block_axes && change.passes == 1 && change.swizzled_row == 0);
  if (!is_staged_alone || !is_power || !are_apart || !is_exchange_alone || change.passes == 0) {
    throw NotOptimized{{ptx::no_index, "changes that do not go together"}};
  }
}

/// Has a launch asked how far apart the lanes of a store then are. Loads are not asked for: what
/// copies of a thread load, one after the other, L1 keeps.
void expect_stores(KernelForms& forms, const Change& change, const Woven& woven,
                   LaunchChecks& checks) {
  Bounds bounds{forms, checks};
  LaneSteps steps{forms, bounds, checks, change.lanes_axis()};
  const auto& code = forms.kernel().instructions;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const bool is_meant =
        role_of(code[i]) == Role::store &&
        (code[i].space() == ptx::Space::global || code[i].space() == ptx::Space::generic) &&
        is_reachable(forms.flow(), forms.flow().block_of[i]) &&
        !woven.grouped_instructions.contains(i);
    if (!is_meant) continue;
    if (auto parts = steps.of(i))
      checks.expect_stores(std::move(*parts), change.threads, checks.size(change.lanes_axis()));
  }
}

}  // namespace

Optimized optimize(const ptx::Module& module, std::uint32_t number, const Change& change) {
  check_change(change);
  const ptx::Kernel& kernel = module.kernels[number];
  if (auto refusal = refusal_of(module, kernel, change.rearrangement()))
    throw NotOptimized{*refusal};
  if (kernel.instructions.empty())
    throw NotOptimized{{ptx::no_index, "a kernel that does nothing"}};
  const std::string name = fmt::format("{}_mended", kernel.name);
  if (std::ranges::count(module.kernels, name, &ptx::Kernel::name) != 0) {
    throw NotOptimized{{ptx::no_index, "an optimized copy of its name exists"}};
  }
  const ControlFlow flow = control_flow(kernel);
  KernelForms forms{module, kernel, flow};
  Optimized optimized{.name = name, .change = change};
  optimized.checks.try_with(tried_launch(forms, {64, 64, 8}), tried_launch(forms, {256, 1024, 8}));
  check_shape(change, kernel, module, optimized.checks);
  Independence independence{forms, optimized.checks};
  if (change.rearrangement().moves_lanes) {
    if (auto refusal = independence.of_threads()) throw NotOptimized{*refusal};
    if (auto refusal = independence.of_shared_memory()) throw NotOptimized{*refusal};
  }
  const Woven woven = change.staged != 0 ? stage(forms, change, optimized.checks)
                                         : weave(forms, change, optimized.checks, independence);
  optimized.groups = woven.groups;
  optimized.grouped = woven.grouped;
  if (woven.groups == 0) optimized.change.bytes = 1;
  if (!change.moves_lanes() && !change.exchange && change.threads > 1)
    expect_stores(forms, change, woven, optimized.checks);

  std::string parameters = parameters_of(kernel);
  if (change.moves_blocks()) {
    if (!kernel.params.empty()) parameters += ", ";
    parameters += fmt::format(".param .u32 {}", blocks_parameter(kernel));
  }
  const std::string made = fmt::format(".visible .entry {}({})\n{}{{\n{}}}\n", name, parameters,
                                       limits_of(kernel, change), woven.text);
  const std::string_view text{module.text.data(), module.text.size()};
  const auto begin = static_cast<std::size_t>(kernel.text.data() - text.data());
  optimized.text = fmt::format("{}{}{}", text.substr(0, begin), made, text.substr(begin));
  // Longer than all else are a module's other kernels, as a rule.
  std::vector<std::string_view> bodies;
  for (const ptx::Kernel& one : module.kernels) {
    if (one.entry && one.defined) bodies.push_back(one.text);
  }
  std::ranges::sort(bodies, {}, &std::string_view::data);
  const char* from = text.data();
  for (const std::string_view body : bodies) {
    optimized.alone.append(from, body.data());
    from = body.data() + body.size();
  }
  optimized.alone.append(from, text.data() + text.size());
  if (!optimized.alone.ends_with('\n')) optimized.alone += '\n';  // a directive ends with its line
  optimized.alone += made;
  return optimized;
}

}  // namespace strata::access
