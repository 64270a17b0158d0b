// What each memory instruction of a kernel asks of memory, proved from its PTX for every launch:
// the address as a form, what an index adds to it, and the sectors or bank passes of a full warp by
// the model of harness/model/coalescing.hpp, for every alignment that the address may have.
#pragma once

#include "harness/access/access_kind.hpp"
#include "harness/access/control_flow.hpp"
#include "harness/access/kernel_forms.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::access {

enum class Verdict : std::uint8_t {
  coalesced,    ///< as few sectors, or bank passes, as so many bytes next to each other need
  uncoalesced,  ///< more, whatever the launch
  depends,      ///< on what `reason` names
  unknown,      ///< the address is hidden by what `reason` names
  unmodelled,   ///< an access of a kind, space or width without a model
  never_runs
};
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// What one step of an index adds to the address.
struct IndexStep {
  std::string index;                  ///< "threadIdx.x", "loop@31"
  std::optional<std::int64_t> bytes;  ///< nothing: not the same everywhere
  std::string text;                   ///< "2048", "4·param_2", "varies"
};

/// At the least and at the most, over all alignments that the address may have.
struct Span {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  bool operator==(const Span&) const = default;
};

/// One address operand of one instruction.
struct AccessProof {
  std::uint32_t instruction = 0;  ///< into Kernel::instructions
  std::uint32_t operand = 0;
  AccessKind kind = AccessKind::load;
  ptx::Space space = ptx::Space::generic;  ///< global, shared, local or constant; generic: not told
  unsigned width = 0;                      ///< bytes of a lane
  Meaning meaning;                         ///< of the address, in the KernelForms that were given
  std::string address = {};  ///< "param_0 + 4·(blockDim.x·blockIdx.x + threadIdx.x)"
  std::vector<IndexStep> steps = {};
  /// The address is the form, and those lanes take part, only while these hold; in words, too.
  std::vector<Condition> premises = {};
  std::vector<std::string> conditions = {};
  Verdict verdict = Verdict::unknown;
  std::string reason = {};  ///< of depends, unknown and unmodelled
  unsigned lanes = 0;       ///< that take part, where all that guards leave open are on
  /// Sectors of global memory or passes through the banks of shared memory, of a request by those
  /// lanes; nothing where the verdict does not know.
  std::optional<Span> parts = {};
  std::uint64_t ideal = 0;  ///< parts that as many bytes need where they begin at a sector
  std::vector<std::string> depends_on = {};   ///< what decides between the least and the most
  std::vector<std::string> lane_guards = {};  ///< predicates that may switch single lanes off
  std::vector<std::string> assumptions = {};  ///< of the verdict
  /// Of one that depends, or whose index is loaded: what it is where `usual_where` holds, as it
  /// usually does. No proof.
  std::optional<Verdict> usual = {};
  std::string usual_where = {};
  std::string remedy = {};  ///< where one is sure
};

/// In the order of the instructions.
[[nodiscard]] std::vector<AccessProof> prove(KernelForms& kernel);

}  // namespace strata::access
