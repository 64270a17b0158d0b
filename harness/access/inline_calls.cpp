#include "harness/access/inline_calls.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Kernel;
using ptx::no_index;
using ptx::Operand;
using Kind = Operand::Kind;

/// Code that grows this far has calls within calls without end.
constexpr std::size_t most_instructions = 1U << 20U;
constexpr std::size_t deepest = 32;

const Operand* function_of(const Instruction& one) {
  if (one.opcode != "call") return nullptr;
  const auto found = std::ranges::find(one.operands, Kind::function, &Operand::kind);
  return found == one.operands.end() ? nullptr : &*found;
}

class Inliner {
 public:
  Inliner(const ptx::Module& module, Kernel& to) : module_{module}, to_{to} {}

  std::vector<std::uint32_t> run(std::uint32_t kernel) {
    std::vector<std::uint32_t> active{kernel};
    append(module_.kernels[kernel], {}, no_index, active);
    origins_.push_back(static_cast<std::uint32_t>(module_.kernels[kernel].instructions.size()));
    return std::move(origins_);
  }

 private:
  using Symbols = std::map<std::uint32_t, std::uint32_t>;

  /// Where the registers and labels of a function are in the kernel, and what its parameters are.
  struct Frame {
    std::uint32_t registers = 0;
    std::uint32_t labels = 0;
    Symbols symbols;
    std::uint32_t end = no_index;  ///< the label behind the call
  };

  // The reader limits how deeply operands nest.
  // NOLINTNEXTLINE(misc-no-recursion)
  static Operand copy_of(const Operand& from, const Frame& frame) {
    Operand made{.kind = from.kind,
                 .negated = from.negated,
                 .address = from.address,
                 .special = from.special,
                 .index = from.index,
                 .bits = from.bits,
                 .offset = from.offset};
    if (made.kind == Kind::reg) made.index += frame.registers;
    if (made.kind == Kind::label) made.index += frame.labels;
    if (made.kind == Kind::symbol) {
      const auto found = frame.symbols.find(made.index);
      if (found != frame.symbols.end()) made.index = found->second;
    }
    for (const Operand& item : from.items)
      made.items.push_back(copy_of(item, frame));
    return made;
  }

  static Instruction copy_of(const Instruction& from, const Frame& frame) {
    Instruction made{.opcode = from.opcode,
                     .modifiers = from.modifiers,
                     .guard = from.guard == no_index ? no_index : from.guard + frame.registers,
                     .guard_negated = from.guard_negated,
                     .line = from.line,
                     .location = from.location};
    for (const Operand& operand : from.operands)
      made.operands.push_back(copy_of(operand, frame));
    return made;
  }

  void jump(const Instruction& from, const Frame& frame, std::uint32_t label, bool negates) {
    Instruction made = copy_of(from, frame);
    made.opcode = "bra";
    made.modifiers.clear();
    made.guard_negated = made.guard_negated != negates;
    made.operands.clear();
    made.operands.push_back({.kind = Kind::label, .index = label});
    to_.instructions.push_back(std::move(made));
  }

  std::uint32_t new_label() {
    to_.labels.push_back({});
    return static_cast<std::uint32_t>(to_.labels.size() - 1);
  }

  /// The caller's parameters in the order of the function's. Nothing if they do not match.
  static bool bind(const std::vector<std::uint32_t>& params, const Operand* list,
                   const Frame& caller, Symbols& symbols) {
    const std::size_t given = list == nullptr ? 0 : list->items.size();
    if (given != params.size()) return false;
    for (std::size_t i = 0; i < given; ++i) {
      const Operand& item = list->items[i];
      if (item.kind != Kind::symbol) return false;
      const auto found = caller.symbols.find(item.index);
      symbols[params[i]] = found == caller.symbols.end() ? item.index : found->second;
    }
    return true;
  }

  // NOLINTNEXTLINE(misc-no-recursion): at most `deepest`
  bool append_call(const Instruction& call, const Frame& caller, std::uint32_t origin,
                   std::vector<std::uint32_t>& active) {
    const Operand* const function = function_of(call);
    if (function == nullptr || active.size() == deepest ||
        to_.instructions.size() > most_instructions)
      return false;
    const Kernel& code = module_.kernels[function->index];
    if (!code.defined || std::ranges::count(active, function->index) > 0) return false;
    const auto list_at = [&](std::ptrdiff_t at) -> const Operand* {
      const auto place = function - call.operands.data() + at;
      if (place < 0 || place >= static_cast<std::ptrdiff_t>(call.operands.size())) return nullptr;
      return call.operands[static_cast<std::size_t>(place)].kind == Kind::vector
                 ? &call.operands[static_cast<std::size_t>(place)]
                 : nullptr;
    };
    Frame frame;
    if (!bind(code.returns, list_at(-1), caller, frame.symbols) ||
        !bind(code.params, list_at(1), caller, frame.symbols))
      return false;
    frame.end = new_label();
    if (call.guard != no_index) {
      jump(call, caller, frame.end, /*negates=*/true);
      origins_.push_back(origin);
    }
    active.push_back(function->index);
    append(code, std::move(frame), origin, active);
    active.pop_back();
    return true;
  }

  // NOLINTNEXTLINE(misc-no-recursion): at most `deepest`
  void append(const Kernel& code, Frame frame, std::uint32_t origin,
              std::vector<std::uint32_t>& active) {
    frame.registers = static_cast<std::uint32_t>(to_.registers.size());
    frame.labels = static_cast<std::uint32_t>(to_.labels.size());
    to_.registers.insert(to_.registers.end(), code.registers.begin(), code.registers.end());
    to_.labels.insert(to_.labels.end(), code.labels.begin(), code.labels.end());
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < code.instructions.size(); ++i) {
      const Instruction& one = code.instructions[i];
      const std::uint32_t of = origin == no_index ? i : origin;
      places.push_back(static_cast<std::uint32_t>(to_.instructions.size()));
      if (append_call(one, frame, of, active)) continue;
      if (frame.end != no_index && one.opcode == "ret") {
        jump(one, frame, frame.end, /*negates=*/false);
      } else {
        to_.instructions.push_back(copy_of(one, frame));
      }
      origins_.push_back(of);
    }
    places.push_back(static_cast<std::uint32_t>(to_.instructions.size()));
    for (std::size_t l = 0; l < code.labels.size(); ++l)
      to_.labels[frame.labels + l].instruction = places[code.labels[l].instruction];
    if (frame.end != no_index) to_.labels[frame.end].instruction = places.back();
  }

  const ptx::Module& module_;
  Kernel& to_;
  std::vector<std::uint32_t> origins_;
};

}  // namespace

bool calls_code(const ptx::Module& module, const ptx::Instruction& one) {
  const Operand* const function = function_of(one);
  return function != nullptr && module.kernels[function->index].defined;
}

std::optional<InlinedKernel> inline_calls(const ptx::Module& module, std::uint32_t kernel) {
  const auto calls = [&](const Instruction& one) { return calls_code(module, one); };
  if (std::ranges::none_of(module.kernels[kernel].instructions, calls)) return std::nullopt;
  InlinedKernel made{.module = ptx::read({module.text.begin(), module.text.end()}, "the PTX"),
                     .origins = {}};
  Kernel& to = made.module.kernels[kernel];
  to.registers.clear();
  to.labels.clear();
  to.instructions.clear();
  made.origins = Inliner{module, to}.run(kernel);
  return made;
}

}  // namespace strata::access
