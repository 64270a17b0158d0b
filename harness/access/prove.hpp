// The memory requests of each instruction of a kernel, proved from its PTX for every launch: the
// address as a form, the contribution of each index, and the sectors or wavefronts of a full warp
// by the model of harness/model/coalescing.hpp, for every possible alignment of the address.
#pragma once

#include "harness/access/access_kind.hpp"
#include "harness/access/control_flow.hpp"
#include "harness/access/kernel_forms.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

enum class Verdict : std::uint8_t {
  coalesced,    ///< as few sectors, or wavefronts, as that many contiguous bytes need
  uncoalesced,  ///< more, for every launch
  depends,      ///< it depends on `reason`
  unknown,      ///< the address is unknown because of `reason`
  unmodelled,   ///< an access of a kind, space or width without a model
  never_runs
};
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// The change of the address when an index grows by one.
struct IndexStep {
  std::string index;                  ///< "threadIdx.x", "loop@31"
  std::optional<std::int64_t> bytes;  ///< nothing: it varies
  std::string text;                   ///< "2048", "4·param_2", "varies"
};

/// The least and the most over all possible alignments of the address.
struct Span {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  bool operator==(const Span&) const = default;
};

/// Premises of proofs that a launch can break.
inline constexpr std::string_view even_blocks = "blockDim.x is a multiple of 32";
inline constexpr std::uint64_t pointer_alignment = 256;  ///< as cudaMalloc returns it

/// One address operand of one instruction.
struct AccessProof {
  std::uint32_t instruction = 0;  ///< into Kernel::instructions
  std::uint32_t operand = 0;
  AccessKind kind = AccessKind::load;
  ptx::Space space = ptx::Space::generic;  ///< global, shared, local or constant; generic: unknown
  unsigned width = 0;                      ///< bytes per lane
  Meaning meaning;                         ///< of the address, in the given KernelForms
  std::string address = {};  ///< "param_0 + 4·(blockDim.x·blockIdx.x + threadIdx.x)"
  std::vector<IndexStep> steps = {};
  /// The address equals the form, and those lanes take part, only while these conditions hold; also
  /// as text.
  std::vector<Condition> premises = {};
  std::vector<std::string> conditions = {};
  Verdict verdict = Verdict::unknown;
  std::string reason = {};  ///< for depends, unknown and unmodelled
  unsigned lanes = 0;       ///< that take part if all lanes left open by guards do
  /// Sectors of global memory or wavefronts of shared memory, for a request of those lanes; nothing
  /// if the verdict does not know.
  std::optional<Span> parts = {};
  std::uint64_t ideal = 0;  ///< parts that as many contiguous bytes need from a sector boundary
  std::vector<std::string> depends_on = {};   ///< what determines the value between least and most
  std::vector<std::string> lane_guards = {};  ///< predicates that may disable single lanes
  std::vector<std::string> assumptions = {};  ///< of the verdict
  std::optional<std::uint64_t> aligned_parameter =
      {};  ///< its byte, if one pointer is assumed aligned
  /// For a verdict that depends, or whose index is loaded: the verdict if `usual_where` holds, as
  /// it usually does. Not a proof.
  std::optional<Verdict> usual = {};
  std::string usual_where = {};
  std::string remedy = {};  ///< if a certain one exists
};

/// In the order of the instructions.
[[nodiscard]] std::vector<AccessProof> prove(KernelForms& kernel);

}  // namespace strata::access
