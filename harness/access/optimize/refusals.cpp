#include "harness/access/optimize/refusals.hpp"

#include "harness/access/listing.hpp"
#include "harness/access/operands.hpp"
#include "harness/access/optimize/weave.hpp"
#include "harness/access/ssa.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Special;

template <std::size_t count>
bool is_among(std::string_view word, const std::array<std::string_view, count>& words) {
  return std::ranges::find(words, word) != words.end();
}

/// A thread does these by itself, with registers alone.
bool is_of_one_thread(const Instruction& one) {
  constexpr std::array<std::string_view, 66> words{
      "abs",  "add",   "addc", "and",  "bfe",      "bfi",   "bfind",        "bmsk", "brev",
      "clz",  "cnot",  "cos",  "cvt",  "copysign", "cvta",  "createpolicy", "div",  "dp2a",
      "dp4a", "ex2",   "fma",  "fns",  "isspacep", "lg2",   "lop3",         "mad",  "mad24",
      "madc", "max",   "min",  "mov",  "mul",      "mul24", "neg",          "not",  "or",
      "popc", "prmt",  "rcp",  "rem",  "rsqrt",    "sad",   "selp",         "set",  "setp",
      "shf",  "shl",   "shr",  "sin",  "slct",     "sqrt",  "sub",          "subc", "szext",
      "tanh", "testp", "vadd", "vsub", "vmin",     "vmax",  "vabsdiff",     "xor",  "bra",
      "ret",  "exit",  "trap"};
  return is_among(one.opcode, words);
}

/// Registers of the hardware that say where or when a thread runs.
std::string why_special(Special special, const Rearrangement& change) {
  using enum Special;
  switch (special) {
    case tid_x:
    case tid_y:
    case tid_z:
    case ntid_x:
    case ntid_y:
    case ntid_z:
    case ctaid_x:
    case ctaid_y:
    case ctaid_z:
    case nctaid_x:
    case nctaid_y:
    case nctaid_z:
      return {};
    case dynamic_smem_size:
    case total_smem_size:
      return change.moves_blocks ? "the kernel asks for its shared memory" : "";
    case laneid:
    case lanemask_eq:
    case lanemask_le:
    case lanemask_lt:
    case lanemask_ge:
    case lanemask_gt:
    case warpid:
    case nwarpid:
      return change.moves_lanes ? "it tells which lane of which warp a thread is" : "";
    case clock:
    case clock_hi:
    case clock64:
    case globaltimer:
      return "a clock, which shows when a thread runs";
    case smid:
    case nsmid:
      return "it tells on which multiprocessor a thread runs";
    default:
      return "a register of the hardware that is not followed";
  }
}

// One case per kind of access.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
std::string why_memory(const ptx::Module& module, const ptx::Kernel& kernel, const Instruction& one,
                       const Rearrangement& change) {
  constexpr std::array<std::string_view, 6> shared_orders{"volatile", "acquire", "release",
                                                          "acq_rel",  "mmio",    "sc"};
  for (const std::string_view word : one.modifiers) {
    if (is_among(word, shared_orders) ||
        (word == "relaxed" && one.opcode != "atom" && one.opcode != "red")) {
      return fmt::format("{}: other threads see when it happens", word);
    }
  }
  const Space space = one.space();
  const Operand& from = *address_of(one);
  if (space == Space::param && from.kind == Operand::Kind::symbol) {
    // A launch passes nothing there, and a parameter of the optimized kernel's own may follow.
    const std::int64_t wanted = std::int64_t{ptx::bytes_of(one.type())} * one.vector_width();
    const auto last = static_cast<std::int64_t>(module.symbols[from.index].bytes) - wanted;
    if (from.offset < 0 || from.offset > last) return "it reads beyond the parameter";
  }
  if (change.moves_blocks && (space == Space::shared || space == Space::local)) {
    return space == Space::shared ? "shared memory, which threads of another block do not share"
                                  : "local memory, of which a thread has one";
  }
  const Role role = role_of(one);
  const bool is_atomic = role == Role::atomic || role == Role::reduction;
  if (!is_atomic || (!change.moves_lanes && !change.moves_blocks)) return {};
  if (!is_commutative(one)) return "an atomic whose order shows in what it leaves";
  if (change.moves_blocks && one.has("cta")) return "an atomic within its own block";
  if (role == Role::reduction) return {};
  bool shows = false;
  see_registers(one.operands[0], [&](std::uint32_t result) {
    for (const Instruction& other : kernel.instructions)
      for_each_read(other, [&](std::uint32_t reg) { shows = shows || reg == result; });
  });
  return shows ? "an atomic whose order shows in what it returns" : "";
}

/// What an operand names that the optimized kernel does not have, or should not share.
std::string why_name(const ptx::Module& module, const ptx::Kernel& kernel, const Operand& operand,
                     const Instruction& one, const Rearrangement& change) {
  const bool is_code =
      operand.kind == Operand::Kind::label || operand.kind == Operand::Kind::function;
  if (is_code && one.opcode != "bra" && one.opcode != "brx" && one.opcode != "call") {
    return "an address of code";
  }
  if (operand.kind != Operand::Kind::symbol) return {};
  const ptx::Symbol& symbol = module.symbols[operand.index];
  const bool is_of_block = symbol.space == Space::shared || symbol.space == Space::local;
  if (is_of_block) return change.moves_blocks ? "memory of a block or a thread" : "";
  // Tables behind sinf() and the texts of assert(): no host knows their names.
  const bool is_of_compiler = symbol.name.starts_with("__cudart_") || symbol.name.starts_with('$');
  if (is_of_compiler && !symbol.initial.empty()) return {};
  if (symbol.space != Space::param) {
    return fmt::format("{}, a variable of the module: a host sets it in the original's",
                       symbol.name);
  }
  const bool is_parameter = std::ranges::count(kernel.params, operand.index) != 0;
  return is_parameter ? "" : "an argument of a call";
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the reader lets items be in items
std::string why_operand(const ptx::Module& module, const ptx::Kernel& kernel,
                        const Operand& operand, const Instruction& one,
                        const Rearrangement& change) {
  if (operand.kind == Operand::Kind::special) {
    if (std::string why = why_special(operand.special, change); !why.empty()) return why;
    const bool is_plain = one.operands.size() == 2 && &operand == &one.operands[1] &&
                          (one.opcode == "mov" || one.opcode == "cvt");
    if (!is_plain || ptx::bytes_of(one.type()) != 4) return "an index that is not read as 32 bits";
  }
  if (std::string why = why_name(module, kernel, operand, one, change); !why.empty()) return why;
  for (const Operand& item : operand.items) {
    if (std::string why = why_operand(module, kernel, item, one, change); !why.empty()) return why;
  }
  return {};
}

/// Instructions that have no role of their own.
std::string why_plain(const Instruction& one) {
  if (is_of_one_thread(one)) return {};
  if (one.opcode == "membar" || one.opcode == "fence") return "a fence: threads rely on an order";
  if (one.opcode == "call") return "a call, whose code is not followed";
  const bool is_of_cluster = one.opcode == "mapa" || one.opcode == "getctarank" ||
                             (one.opcode == "barrier" && one.has("cluster"));
  if (is_of_cluster) return "blocks of a cluster, which would be other ones";
  return "an instruction that is not followed";
}

std::string why_not(const ptx::Module& module, const ptx::Kernel& kernel, const Instruction& one,
                    const Rearrangement& change) {
  for (const Operand& operand : one.operands) {
    if (std::string why = why_operand(module, kernel, operand, one, change); !why.empty())
      return why;
  }
  switch (role_of(one)) {
    case Role::load:
    case Role::store:
    case Role::atomic:
    case Role::reduction:
      return why_memory(module, kernel, one, change);
    case Role::barrier:
      if (one.operands.size() != 1 || one.has("red")) return "a barrier that is not followed";
      return change.moves_blocks ? "a barrier, at which threads of a block wait for each other"
                                 : "";
    case Role::shuffle:
    case Role::vote:
    case Role::reduce:
    case Role::match:
    case Role::activemask:
    case Role::warp_sync:
      return change.moves_lanes || change.moves_blocks
                 ? "it goes between the lanes of a warp, which would be other ones"
                 : "";
    case Role::indexed:
      return "a branch by a table";
    default:
      return why_plain(one);
  }
}

/// A name that would be another's in the optimized kernel, which has no scopes and names of its
/// own.
std::string why_taken(const ptx::Module& module, const ptx::Kernel& kernel) {
  std::set<std::string_view> names;
  for (std::uint32_t s = 0; s < module.symbols.size(); ++s) {
    const ptx::Symbol& symbol = module.symbols[s];
    const bool is_of_block = symbol.space == Space::shared || symbol.space == Space::local;
    const bool is_here =
        symbol.kernel == ptx::no_index || &module.kernels[symbol.kernel] == &kernel;
    const bool is_meant = (is_of_block && is_here) || std::ranges::count(kernel.params, s) != 0;
    if (is_meant && (!names.insert(symbol.name).second || symbol.name == blocks_parameter(kernel)))
      return fmt::format("the name {} is taken", symbol.name);
  }
  for (const ptx::Register& reg : kernel.registers) {
    const bool may_be_ours =
        reg.name.starts_with("%strata_") || reg.name.find('$') != std::string_view::npos;
    if (may_be_ours || names.contains(reg.name))
      return fmt::format("the name {} is taken", reg.name);
  }
  return {};
}

}  // namespace

bool is_commutative(const Instruction& atomic) {
  constexpr std::array<std::string_view, 6> words{"add", "min", "max", "and", "or", "xor"};
  return ptx::is_integer(atomic.type()) &&
         std::ranges::any_of(words, [&](std::string_view word) { return atomic.has(word); });
}

std::optional<Refusal> refusal_of(const ptx::Module& module, const ptx::Kernel& kernel,
                                  const Rearrangement& change) {
  if (!kernel.entry || !kernel.defined) return Refusal{ptx::no_index, "no kernel, but a function"};
  if (kernel.cluster[0] != 0) {
    return Refusal{ptx::no_index, "blocks of a cluster, which would be other ones"};
  }
  for (const std::uint32_t param : kernel.params) {
    if (module.symbols[param].bytes == 0) {
      return Refusal{ptx::no_index, "a parameter whose size is not known"};
    }
  }
  if (std::string why = why_taken(module, kernel); !why.empty()) {
    return Refusal{ptx::no_index, std::move(why)};
  }
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    if (std::string why = why_not(module, kernel, kernel.instructions[i], change); !why.empty())
      return Refusal{i, std::move(why)};
  }
  return std::nullopt;
}

std::string text_of(const ptx::Kernel& kernel, const Refusal& refusal) {
  if (refusal.instruction >= kernel.instructions.size()) return refusal.why;
  const Instruction& one = kernel.instructions[refusal.instruction];
  std::string where = fmt::format("line {} of the PTX", one.line);
  if (one.location != ptx::no_index && kernel.locations[one.location].line != 0) {
    where = fmt::format("line {} of the source, {} of the PTX", kernel.locations[one.location].line,
                        one.line);
  }
  return fmt::format("{}: {}: {}", where, opcode_text(one), refusal.why);
}

}  // namespace strata::access
