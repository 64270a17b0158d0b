// Whether two kernels leave the same in memory: both are run whole on the host, and all bytes
// compared. Where several threads of the original store to one byte, whoever comes last, the other
// kernel may leave what any of them did.
#pragma once

#include "harness/access/kernel_forms.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/optimize/change.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>

namespace strata::access {

struct SameResults {
  std::uint64_t instructions = 0;  ///< of the original's warps
  std::uint64_t bytes = 0;         ///< that the original wrote
  std::uint64_t raced = 0;         ///< of them, by several threads that differ
  std::uint64_t different = 0;     ///< bytes that are none of what the original may leave
  std::uint64_t first = 0;         ///< the address of the first of them
  std::string failure = {};  ///< why a kernel could not be run to its end; empty where both were
  bool is_original = false;  ///< the failure is the original's
  [[nodiscard]] bool is_same() const { return failure.empty() && different == 0; }
};

/// Most instructions of the original's warps in a comparison, and in the launches of one kernel.
inline constexpr std::uint64_t compared_instructions = std::uint64_t{1} << 22U;

/// `launch` is the original's. Buffers hold what it says, and anything where it says nothing.
[[nodiscard]] SameResults compare_results(const ptx::Module& module, const Launch& launch,
                                          const Optimized& optimized,
                                          const ptx::Module& optimized_module,
                                          std::uint64_t budget = compared_instructions);

/// Whether the kernel reads one of these registers.
[[nodiscard]] bool reads(const ptx::Kernel& kernel, std::initializer_list<ptx::Special> specials);

/// What a launch is made of: a large buffer of random bytes for each pointer, and numbers for every
/// other parameter.
struct Sample {
  Extent grid;
  Extent block;                           ///< unless the kernel requires one
  std::function<std::uint32_t()> number;  ///< for the next parameter
  std::uint64_t seed = 1;                 ///< of the bytes
  std::uint64_t below = 0;                ///< of words of the buffers, unless it is 0
};
[[nodiscard]] Launch launch_of(KernelForms& forms, std::uint32_t number, const Sample& sample);

/// The launch with buffers as near to each other as arrays in one device's memory usually are: for
/// the checks of a launch, which depend on addresses alone.
[[nodiscard]] Launch packed(Launch launch);

/// Some small launch of a kernel, for a comparison.
[[nodiscard]] Launch sample_launch(KernelForms& forms, std::uint32_t number, std::uint64_t seed);

/// The given launches, then up to `wanted` small ones in which the optimized kernel would be taken,
/// out of so many seeds, are compared. The first has the whole budget, and the others what is left
/// of it.
struct Comparisons {
  unsigned compared = 0;
  unsigned refused = 0;    ///< launches in which the original would be taken
  std::string why = {};    ///< in one of those
  unsigned failed = 0;     ///< launches that the original itself cannot be run in
  std::string fault = {};  ///< of one of those
  SameResults worst;       ///< the first that differs, or else some that is the same
  std::uint64_t seed = 0;  ///< of it
};
[[nodiscard]] Comparisons compare_samples(const ptx::Module& module, std::uint32_t number,
                                          const Optimized& optimized, unsigned wanted,
                                          unsigned seeds = 32,
                                          std::uint64_t budget = compared_instructions,
                                          std::span<const Launch> given = {});

/// Of small launches with packed buffers, those in which the optimized kernel would be taken.
struct Share {
  unsigned taken = 0;
  unsigned of = 0;
};
[[nodiscard]] Share usual_share(const ptx::Module& module, std::uint32_t number,
                                const Optimized& optimized);

}  // namespace strata::access
