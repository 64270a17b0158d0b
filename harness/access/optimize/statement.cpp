#include "harness/access/optimize/statement.hpp"

#include "harness/access/optimize/change.hpp"
#include "harness/access/ptx_lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace strata::access {
namespace {

using ptx::Operand;
using ptx::Token;

[[noreturn]] void fail(std::uint32_t instruction) {
  throw NotOptimized{{instruction, "its operands are not followed"}};
}

/// Registers and special registers, in the order of the text.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the reader lets items be in items
void collect(const Operand& operand, std::vector<const Operand*>& all) {
  if (operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::special) {
    all.push_back(&operand);
  }
  for (const Operand& item : operand.items)
    collect(item, all);
}

/// Whether the token is the text of the register or the special register.
bool is_name_of(const ptx::Kernel& kernel, const Operand& operand, const Token& token) {
  return operand.kind == Operand::Kind::reg ? token.text == kernel.registers[operand.index].name
                                            : token.text.starts_with('%');
}

}  // namespace

std::string guard_text(const ptx::Instruction& one, const Renaming& renaming) {
  if (one.guard == ptx::no_index) return {};
  return fmt::format("@{}{} ", one.guard_negated ? "!" : "", renaming.reg(one.guard));
}

std::string statement(const ptx::Module& module, const ptx::Kernel& kernel,
                      std::uint32_t instruction, const Renaming& renaming) {
  const ptx::Instruction& one = kernel.instructions[instruction];
  const std::string_view whole{module.text.data(), module.text.size()};
  const auto begin = static_cast<std::size_t>(one.opcode.data() - whole.data());
  ptx::Lexer lexer{whole.substr(begin), "kernel"};
  std::vector<const Operand*> names;
  for (const Operand& operand : one.operands)
    collect(operand, names);
  std::string text = guard_text(one, renaming);
  std::size_t next = 0;
  const char* end = nullptr;  // of the token before
  while (!lexer.peek().is(";")) {
    const Token token = lexer.take();
    if (token.kind == Token::Kind::end) fail(instruction);
    const bool is_opcode = end == nullptr;
    if (!is_opcode && token.text.data() != end) text += ' ';
    end = token.text.data() + token.text.size();
    const Operand* const expected = next < names.size() ? names[next] : nullptr;
    if (is_opcode || token.kind != Token::Kind::word || expected == nullptr ||
        !is_name_of(kernel, *expected, token)) {
      text += token.text;
      continue;
    }
    ++next;
    if (expected->kind == Operand::Kind::reg) {
      text += renaming.reg(expected->index);
      continue;
    }
    std::string name{token.text};
    if (lexer.peek().kind == Token::Kind::dotted && lexer.touches(token)) {
      const Token part = lexer.take();
      name += part.text;
      end = part.text.data() + part.text.size();
    }
    const std::string other = renaming.special(expected->special);
    text += other.empty() ? name : other;
  }
  if (next != names.size()) fail(instruction);
  return text + ";";
}

std::string address_text(const ptx::Module& module, const Operand& address, std::int64_t further,
                         const Renaming& renaming) {
  const std::int64_t offset = address.offset + further;
  std::string base;
  if (address.kind == Operand::Kind::reg) {
    base = renaming.reg(address.index);
  } else if (address.kind == Operand::Kind::symbol) {
    base = module.symbols[address.index].name;
  } else {
    throw std::logic_error{"an address that is a number"};
  }
  return fmt::format("{}+{}", base, offset);
}

}  // namespace strata::access
