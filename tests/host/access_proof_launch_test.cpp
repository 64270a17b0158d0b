// What is proved of a kernel must be what its launches do: both engines know nothing of each other.
#include "access_random_kernels.hpp"
#include "access_runs.hpp"
#include "harness/access/prove.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace strata::access {
namespace {

struct Tally {
  std::size_t bounded = 0;  ///< accesses whose sectors were held against the proof
  std::size_t dead = 0;
  std::size_t partial = 0;  ///< of which only the lanes could be held against it
};

/// Whether the conditions of a proof hold in all threads of the launch, as far as a launch
/// determines them.
bool premises_hold(const Launched& launched, KernelForms& forms, const AccessProof& proof) {
  const Launch& launch = launched.launch;
  const std::uint64_t threads = launch.block.count();
  for (std::uint64_t t = 0; !proof.premises.empty() && t < threads * launch.grid.count(); ++t) {
    const std::uint64_t thread = t % threads;
    const std::uint64_t block = t / threads;
    const auto axis = [](std::uint64_t number, const Extent& of, std::uint32_t which) {
      return which == 0   ? number % of.x
             : which == 1 ? number / of.x % of.y
                          : number / (std::uint64_t{of.x} * of.y);
    };
    const auto side = [](const Extent& of, std::uint32_t which) {
      return which == 0 ? of.x : which == 1 ? of.y : of.z;
    };
    const auto values = [&](const Atom& atom) -> std::optional<Int128> {
      if (atom.kind == AtomKind::special && atom.which < 12) {
        const std::uint32_t which = atom.which % 3;
        switch (atom.which / 3) {
          case 0:
            return axis(thread, launch.block, which);
          case 1:
            return side(launch.block, which);
          case 2:
            return axis(block, launch.grid, which);
          default:
            return side(launch.grid, which);
        }
      }
      if (atom.kind != AtomKind::parameter) return std::nullopt;
      const std::uint64_t place = forms.module().symbols[atom.which].offset + atom.place;
      std::uint64_t bits = 0;
      for (unsigned byte = 0; byte < atom.bytes; ++byte)
        bits |= std::uint64_t{launch.params.at(place + byte)} << (8 * byte);
      const unsigned unused = 64 - 8 * atom.bytes;
      if (atom.is_signed) return static_cast<std::int64_t>(bits << unused) >> unused;
      return Int128{bits};
    };
    for (const Condition& premise : proof.premises) {
      const auto value = forms.forms().evaluate(premise.form, values);
      if (!value || *value < premise.range.low || *value > premise.range.high) return false;
    }
  }
  return true;
}

/// The kernel with its block declared in the PTX, or not.
std::string text_of(const RandomKernel& kernel, bool declares_block) {
  std::string text = kernel.ptx();
  if (!declares_block) return text;
  const Launched plain{text, kernel.launch("random 5")};
  const Extent& block = plain.launch.block;
  const auto body = text.find("\n{");
  return text.insert(body, fmt::format("\n.reqntid {}, {}, {}", block.x, block.y, block.z));
}

void hold(const RandomKernel& kernel, bool declares_block, Tally& tally) {
  const Launched launched{text_of(kernel, declares_block), kernel.launch("random 5")};
  const Evaluation evaluation = launched.evaluate();
  const ControlFlow flow = control_flow(launched.kernel());
  KernelForms forms{launched.modules[0], launched.kernel(), flow};
  std::map<std::uint32_t, AccessProof> proofs;
  for (AccessProof& proof : prove(forms))
    proofs[proof.instruction] = std::move(proof);
  if (!declares_block && launched.launch.block.x % 32 != 0) return;  // as the proofs assume
  for (const Access& access : evaluation.accesses) {
    const AccessProof& proof = proofs.at(access.instruction);
    SCOPED_TRACE(fmt::format("line {}: {}", launched.kernel().instructions[access.instruction].line,
                             proof.address));
    if (!access.is_exact() || !premises_hold(launched, forms, proof)) continue;
    if (proof.verdict == Verdict::never_runs) {
      EXPECT_EQ(access.warps, 0U);
      ++tally.dead;
      continue;
    }
    EXPECT_LE(access.lanes, access.warps * proof.lanes);
    if (!proof.parts || access.warps == 0) continue;
    if (access.lanes != access.warps * proof.lanes) {
      ++tally.partial;
      continue;
    }
    const std::uint64_t sectors = access.traffic.at(0).sectors;
    EXPECT_GE(sectors, access.warps * proof.parts->least);
    EXPECT_LE(sectors, access.warps * proof.parts->most);
    ++tally.bounded;
  }
}

TEST(AccessProofs, HoldInLaunchesOfRandomKernels) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 30 && !testing::Test::HasFailure(); ++seed) {
    const RandomKernel kernel{seed, /*loads=*/seed % 2 == 1};
    SCOPED_TRACE(seed);
    for (const bool declares_block : {false, true})
      hold(kernel, declares_block, tally);
    if (testing::Test::HasFailure()) FAIL() << kernel.ptx() << kernel.launch("random 5");
  }
  EXPECT_GT(tally.bounded, 5U);
  EXPECT_GT(tally.dead, 5U);
  EXPECT_GT(tally.partial, 10U);
}

}  // namespace
}  // namespace strata::access
