// A random walk that visits every slot once before it returns: the pattern of every dependent
// chain.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace strata {

/// A small counter-based generator (SplitMix64, Steele et al. 2014): the same numbers from the same
/// seed with every standard library, which std::uniform_int_distribution does not promise.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_{seed} {}
  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  /// A number in [0, bound). The bias, below 2^-32 for 32-bit bounds, does not matter to a pattern.
  constexpr std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32U) * bound) >> 32U);
  }

 private:
  std::uint64_t state_;
};

/// The slots 0 … slots−1 in random order: order[p] is visited at step p, order[0] after the last.
/// A random permutation read as one cycle is a random Hamiltonian cycle.
inline std::vector<std::uint32_t> random_order(std::uint32_t slots, std::uint64_t seed) {
  std::vector<std::uint32_t> order(slots);
  std::iota(order.begin(), order.end(), 0U);
  SplitMix random{seed};
  for (std::uint32_t i = slots; i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
  return order;
}

/// next[s] is the slot that follows s in the cycle that `order` names.
inline std::vector<std::uint32_t> successors(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> next(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) {
    next[order[p]] = order[p + 1 == order.size() ? 0 : p + 1];
  }
  return next;
}

}  // namespace strata
