// How much memory do the address translations that a GPU keeps cover, and what does a load cost
// whose translation it has to fetch?
//
// One thread follows a chain with one word in each page-sized slot, in random order. The words pass
// L1 by and all of their lines stay in L2, each at another place within its slot so that they
// spread over the sets: what changes with the footprint is the translation alone.
#pragma once

#include "harness/core/benchmark.hpp"

#include <cstdint>

namespace strata::tlb {

[[nodiscard]] Benchmark declare();

inline constexpr std::uint64_t least_footprint = std::uint64_t{16} << 20U;
inline constexpr std::uint64_t most_footprint = std::uint64_t{128} << 30U;
/// Lines of so many slots are 32 MiB: about half of the L2 of a large GPU, and no more than the
/// half that is next to an SM where it has two.
inline constexpr std::uint64_t most_slots = std::uint64_t{1} << 18U;

/// Loads right before the clock: the whole chain once where that takes no long time; the pages of a
/// longer one were visited by the other threads before.
[[nodiscard]] std::uint32_t warm_loads_for(std::uint64_t slots);

}  // namespace strata::tlb
