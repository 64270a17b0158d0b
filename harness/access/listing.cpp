#include "harness/access/listing.hpp"

#include "harness/access/control_flow.hpp"
#include "harness/access/inline_calls.hpp"
#include "harness/access/kernel_forms.hpp"
#include "harness/access/operands.hpp"
#include "harness/base/demangle.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace strata::access {
namespace {

/// Maximum length of a kept inlining chain; a text may claim any.
constexpr std::size_t most_places = 32;

/// Why an access to memory has no model; empty if it has one, or is not an access.
std::string_view why_unmodelled(const ptx::Instruction& one) {
  using Reason = std::pair<std::string_view, std::string_view>;
  constexpr std::array reasons{
      Reason{"tex", "a texture"},
      Reason{"tld4", "a texture"},
      Reason{"suld", "a surface"},
      Reason{"sust", "a surface"},
      Reason{"sured", "a surface"},
      Reason{"wgmma", "a matrix in shared memory that a descriptor names"},
      Reason{"tcgen05", "the memory of tensor cores"},
      Reason{"wmma", "a matrix whose elements the hardware distributes over lanes"},
      Reason{"multimem", "memory of several devices at once"}};
  const bool has_address = std::ranges::any_of(one.operands, &ptx::Operand::address);
  if (one.opcode == "cp" && one.has("bulk") && has_address) {
    return "a bulk copy, requested by one thread";
  }
  if (one.opcode == "wgmma" && !one.has("mma_async")) return {};
  if (one.opcode == "wmma" && !one.has("load") && !one.has("store")) return {};
  const auto* const found = std::ranges::find(reasons, one.opcode, &Reason::first);
  return found == reasons.end() ? std::string_view{} : found->second;
}

/// Which functions of a module access memory, themselves or by what they call.
class Callees {
 public:
  explicit Callees(const ptx::Module& module) : module_{module}, access_(module.kernels.size()) {
    for (bool more = true; more;) {
      more = false;
      for (std::size_t k = 0; k < module.kernels.size(); ++k) {
        const auto& code = module.kernels[k].instructions;
        if (access_[k] || std::ranges::none_of(code, [&](const auto& one) { return counts(one); }))
          continue;
        access_[k] = more = true;
      }
    }
  }
  [[nodiscard]] bool access_memory(const ptx::Instruction& one) const {
    if (!calls_code(module_, one)) return false;
    return std::ranges::any_of(one.operands, [&](const ptx::Operand& operand) {
      return operand.kind == ptx::Operand::Kind::function && access_[operand.index];
    });
  }

 private:
  [[nodiscard]] bool counts(const ptx::Instruction& one) const {
    return accesses_memory(one) || access_memory(one);
  }

  const ptx::Module& module_;
  std::vector<bool> access_;
};

std::vector<Place> places_of(const ptx::Module& module, const ptx::Kernel& kernel,
                             std::uint32_t location) {
  std::vector<Place> places;
  while (location != no_index && places.size() < most_places) {
    const ptx::Location& one = kernel.locations[location];
    const std::string file = one.file < module.files.size() ? module.files[one.file] : "";
    places.push_back({.file = file,
                      .line = one.line,
                      .column = one.column,
                      .function = one.function.empty() ? "" : readable(one.function)});
    location = one.inlined_at;
  }
  return places;
}

}  // namespace

std::string readable(std::string_view name) {
  constexpr int most_references = 32;
  return demangled(name, most_references);
}

std::string opcode_text(const ptx::Instruction& instruction) {
  std::string text{instruction.opcode};
  for (const auto word : instruction.modifiers)
    text.append(".").append(word);
  return text;
}

std::vector<Row> list_accesses(const ptx::Module& module, std::uint32_t kernel) {
  const ptx::Kernel& code = module.kernels[kernel];
  const ControlFlow flow = control_flow(code);
  KernelForms forms{module, code, flow};
  std::vector<AccessProof> proofs = prove(forms);
  std::vector<bool> is_proved(code.instructions.size(), false);
  for (const auto& proof : proofs)
    is_proved[proof.instruction] = true;
  const Callees callees{module};
  for (std::uint32_t at = 0; at < code.instructions.size(); ++at) {
    const auto why = callees.access_memory(code.instructions[at])
                         ? std::string_view{"the accesses of a function that is called"}
                         : why_unmodelled(code.instructions[at]);
    if (why.empty() || is_proved[at]) continue;
    proofs.push_back({.instruction = at,
                      .space = code.instructions[at].space(),
                      .verdict = Verdict::unmodelled,
                      .reason = std::string{why}});
  }
  std::ranges::stable_sort(proofs, {}, &AccessProof::instruction);
  std::vector<Row> rows;
  for (auto& proof : proofs) {
    const ptx::Instruction& one = code.instructions[proof.instruction];
    if (!code.entry && proof.verdict != Verdict::unmodelled &&
        proof.verdict != Verdict::never_runs) {
      proof = {.instruction = proof.instruction,
               .operand = proof.operand,
               .kind = proof.kind,
               .space = proof.space,
               .width = proof.width,
               .address = proof.address,
               .reason = "in a called function, whose parameters may differ between lanes"};
    }
    rows.push_back({.proof = std::move(proof),
                    .opcode = opcode_text(one),
                    .ptx_line = one.line,
                    .places = places_of(module, code, one.location)});
  }
  return rows;
}

}  // namespace strata::access
