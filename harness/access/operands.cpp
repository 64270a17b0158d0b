#include "harness/access/operands.hpp"

#include "harness/access/arithmetic.hpp"

#include <algorithm>
#include <array>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;
using Kind = Operand::Kind;

template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& words) {
  return std::ranges::find(words, word) != words.end();
}

/// Accesses beyond this block's memory, or by a separate engine.
bool is_remote(const Instruction& one) {
  constexpr std::array<std::string_view, 4> words{"shared::cluster", "async", "bulk", "mmio"};
  return std::ranges::any_of(one.modifiers,
                             [&](std::string_view m) { return is_one_of(m, words); });
}

/// The barrier of the whole block: `bar.sync 0;`, `barrier.sync 0;`, without a count of threads.
bool is_whole_barrier(const Instruction& one) {
  return one.has("sync") && one.operands.size() == 1 &&
         one.operands.front().kind == Kind::integer && one.operands.front().bits == 0;
}

Role role_of_copy(const Instruction& one) {
  if (one.has("commit_group") || one.has("wait_group") || one.has("wait_all")) return Role::nothing;
  const bool plain =
      one.has("async") && !one.has("bulk") && !one.has("mbarrier") && one.operands.size() >= 3;
  return plain ? Role::copy : Role::unmodelled;
}

/// Number of results of an instruction whose results are hidden. Only these certainly write one
/// operand; for any other the second operand may be a written predicate, too ("%r1|%p1").
unsigned hidden_results(const Instruction& one) {
  constexpr std::array<std::string_view, 36> single{
      "sin",  "cos",  "ex2",  "lg2",   "tanh", "rsqrt",    "rcp",   "sqrt",  "div",
      "add",  "sub",  "mul",  "fma",   "mad",  "mul24",    "mad24", "addc",  "subc",
      "madc", "min",  "max",  "abs",   "neg",  "cvt",      "mov",   "cvta",  "mma",
      "set",  "slct", "selp", "testp", "dp2a", "copysign", "bmsk",  "szext", "createpolicy"};
  return is_one_of(one.opcode, single) ? 1 : 2;
}

}  // namespace

// One case per kind of instruction.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
Role role_of(const Instruction& one) {
  constexpr std::array<std::string_view, 8> hints{"membar",  "fence",        "nanosleep",
                                                  "brkpt",   "pmevent",      "griddepcontrol",
                                                  "discard", "applypriority"};
  constexpr std::array<std::string_view, 31> unmodelled{"call",
                                                        "prefetch",
                                                        "prefetchu",
                                                        "mbarrier",
                                                        "wgmma",
                                                        "wmma",
                                                        "tcgen05",
                                                        "tex",
                                                        "tld4",
                                                        "suld",
                                                        "sust",
                                                        "sured",
                                                        "multimem",
                                                        "tensormap",
                                                        "barrier",
                                                        "bar",
                                                        "alloca",
                                                        "stacksave",
                                                        "stackrestore",
                                                        "mapa",
                                                        "getctarank",
                                                        "elect",
                                                        "match",
                                                        "redux",
                                                        "vote",
                                                        "shfl",
                                                        "fns",
                                                        "movmatrix",
                                                        "cp",
                                                        "setmaxnreg",
                                                        "clusterlaunchcontrol"};
  if (one.opcode == "bra") return Role::branch;
  if (one.opcode == "brx") return Role::indexed;
  if (one.opcode == "ret" || one.opcode == "exit") return Role::exit;
  // A trap ends the launch, so what follows does not matter; a guarded trap is assumed not to be
  // taken.
  if (one.opcode == "trap") return one.guard == ptx::no_index ? Role::exit : Role::nothing;
  if (one.opcode == "ld" || one.opcode == "ldu") {
    return is_remote(one) || one.operands.size() < 2 ? Role::unmodelled : Role::load;
  }
  if (one.opcode == "st") {
    return is_remote(one) || one.operands.size() < 2 ? Role::unmodelled : Role::store;
  }
  if (one.opcode == "atom") {
    return is_remote(one) || one.operands.size() < 3 ? Role::unmodelled : Role::atomic;
  }
  if (one.opcode == "red") {
    return is_remote(one) || one.operands.size() < 2 ? Role::unmodelled : Role::reduction;
  }
  if (one.opcode == "cp") return role_of_copy(one);
  if (one.opcode == "ldmatrix" || one.opcode == "stmatrix") {
    const bool plain = one.has("m8n8") && one.has("b16") && one.operands.size() == 2;
    return plain ? Role::matrix : Role::unmodelled;
  }
  if (one.opcode == "bar" || one.opcode == "barrier") {
    if (one.opcode == "bar" && one.has("warp") && one.operands.size() == 1) {
      return Role::warp_sync;
    }
    return is_whole_barrier(one) ? Role::barrier : Role::unmodelled;
  }
  if (one.opcode == "vote" && one.operands.size() == 3) return Role::vote;
  if (one.opcode == "redux" && one.operands.size() == 3 && !one.has("f32")) return Role::reduce;
  if (one.opcode == "match" && one.operands.size() >= 3) return Role::match;
  if (one.opcode == "shfl" && one.has("sync") && one.has("b32") && one.operands.size() >= 5) {
    return Role::shuffle;
  }
  if (one.opcode == "activemask" && one.operands.size() == 1) return Role::activemask;
  if (is_one_of(one.opcode, hints)) return Role::nothing;
  if (one.opcode == "wgmma" && !one.has("mma_async")) return Role::nothing;
  if (is_one_of(one.opcode, unmodelled)) return Role::unmodelled;
  return Role::plain;
}

bool accesses_memory(const Instruction& one) {
  switch (role_of(one)) {
    case Role::load:
    case Role::store:
      return one.space() != ptx::Space::param;
    case Role::atomic:
    case Role::reduction:
    case Role::copy:
    case Role::matrix:
      return true;
    default:
      return false;
  }
}

unsigned results_of(const Instruction& one) {
  switch (role_of(one)) {
    case Role::load:
    case Role::atomic:
    case Role::vote:
    case Role::reduce:
    case Role::activemask:
      return 1;
    case Role::matrix:
      return one.opcode == "ldmatrix" ? 1 : 0;
    case Role::match:
      return one.operands.size() >= 4 ? 2 : 1;
    case Role::shuffle:
      return one.operands.size() >= 6 ? 2 : 1;
    case Role::plain: {
      const Recipe recipe = recipe_of(one, ptx::Type::b64);
      return recipe.run == nullptr ? hidden_results(one) : recipe.results;
    }
    case Role::unmodelled:
      return hidden_results(one);
    default:
      return 0;
  }
}

const Operand* members_of(const Instruction& one) {
  constexpr std::array<std::string_view, 5> among_lanes{"elect", "match", "redux", "shfl", "vote"};
  const bool names_them =
      role_of(one) == Role::warp_sync || (one.has("sync") && is_one_of(one.opcode, among_lanes));
  return names_them && !one.operands.empty() ? &one.operands.back() : nullptr;
}

const Operand* address_of(const Instruction& one) {
  const bool second =
      one.opcode == "ld" || one.opcode == "ldu" || one.opcode == "atom" || one.opcode == "ldmatrix";
  const std::size_t at = second ? 1 : 0;
  return at < one.operands.size() ? &one.operands[at] : nullptr;
}

Registers registers_of(const Instruction& one) {
  Registers all;
  const unsigned results = results_of(one);
  // The reader limits how deeply operands nest.
  // NOLINTNEXTLINE(misc-no-recursion)
  const auto add = [&](const auto& self, const Operand& operand, bool written,
                       bool address) -> void {
    if (operand.kind == Kind::reg) {
      if (address || operand.address) {
        all.address.push_back(operand.index);
      } else {
        (written ? all.written : all.read).push_back(operand.index);
      }
    }
    for (const auto& item : operand.items)
      self(self, item, written, address || operand.address);
  };
  for (unsigned i = 0; i < one.operands.size(); ++i)
    add(add, one.operands[i], i < results, false);
  return all;
}

SharedAtomic shared_atomic_of(const Instruction& one) {
  const Role role = role_of(one);
  if (role != Role::atomic && role != Role::reduction) return SharedAtomic::none;
  using enum ptx::Type;
  constexpr std::array native{u32, s32, b32};
  constexpr unsigned word = 4;
  const bool is_native = std::ranges::find(native, one.type()) != native.end() &&
                         one.vector_width() * ptx::bytes_of(one.type()) == word;
  if (!is_native) return SharedAtomic::loop;
  return one.has("cas") ? SharedAtomic::swap : SharedAtomic::native;
}

bool is_strong_load(const Instruction& one) {
  constexpr std::array<std::string_view, 4> strong{"volatile", "relaxed", "acquire", "mmio"};
  return role_of(one) == Role::load && std::ranges::any_of(one.modifiers, [&](std::string_view m) {
           return is_one_of(m, strong);
         });
}

}  // namespace strata::access
