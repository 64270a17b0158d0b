// A random cycle through all slots.
#pragma once

#include "harness/model/split_mix.hpp"

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace strata {

/// The slots 0 … slots−1 in random order: order[p] is visited at step p, order[0] after the last.
/// A random permutation read as one cycle is a random Hamiltonian cycle.
inline std::vector<std::uint32_t> random_order(std::uint32_t slots, std::uint64_t seed) {
  std::vector<std::uint32_t> order(slots);
  std::iota(order.begin(), order.end(), 0U);
  SplitMix random{seed};
  for (std::uint32_t i = slots; i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// next[s] is the slot that follows s in the cycle that `order` names.
inline std::vector<std::uint32_t> successors(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> next(order.size());
  for (std::size_t p = 0; p < order.size(); ++p)
    next[order[p]] = order[(p + 1) % order.size()];
  return next;
}

}  // namespace strata
