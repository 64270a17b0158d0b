// The instruction mixes of clock_under_load, and what their chains come to, computed by the host.
#pragma once

#include "harness/case/choices.hpp"
#include "micro/compute/operations.hpp"

#include <limits>

namespace strata::clock_under_load {

using operations::distinct_lanes;
using operations::WarpWords;

enum class Mix : std::uint8_t {
  fma,
  tensor,
  memory,
  idle_lanes,
  mufu,
  fma_tensor,
  fma_tensor_mufu
};
inline constexpr auto mixes = choices_of<Mix>("fma", "tensor", "memory", "idle_lanes", "mufu",
                                              "fma_tensor", "fma_tensor_mufu");

inline constexpr unsigned warps = 16;  ///< of the one block on each SM
inline constexpr unsigned threads = warps * warp_lanes;

/// Contents of a loop step, and steps per iteration.
struct Recipe {
  unsigned fma = 0;
  unsigned mma = 0;
  unsigned mufu = 0;  ///< and the multiply-add that uses its result
  unsigned steps = 0;
  bool one_lane = false;

  [[nodiscard]] STRATA_HD constexpr unsigned instructions() const {
    return steps * (fma + mma + 2 * mufu);
  }
};
[[nodiscard]] STRATA_HD constexpr Recipe recipe_of(Mix mix) {
  switch (mix) {
    case Mix::fma:
      return {.fma = 1, .steps = 512};
    case Mix::idle_lanes:
      return {.fma = 1, .steps = 512, .one_lane = true};
    case Mix::mufu:
      return {.fma = 1, .mufu = 1, .steps = 128};
    case Mix::tensor:
      return {.mma = 1, .steps = 64};
    case Mix::fma_tensor:
      return {.fma = 4, .mma = 1, .steps = 64};
    case Mix::fma_tensor_mufu:
      return {.fma = 4, .mma = 1, .mufu = 1, .steps = 64};
    case Mix::memory:
      break;
  }
  return {};
}

/// Chains of a warp: of multiply-adds, of sums after special functions, of products. A mix has only
/// some of them.
inline constexpr unsigned chains = 8;
inline constexpr unsigned products = 4;
struct Rows {
  unsigned fma = 0;
  unsigned mufu = 0;
  unsigned mma = 0;  ///< four words of a lane for each product
  [[nodiscard]] STRATA_HD constexpr unsigned all() const { return fma + mufu + mma; }
};
[[nodiscard]] STRATA_HD constexpr Rows rows_of(Mix mix) {
  const Recipe recipe = recipe_of(mix);
  return {.fma = recipe.fma > 0 ? chains : 0,
          .mufu = recipe.mufu > 0 ? chains : 0,
          .mma = recipe.mma > 0 ? 4 * products : 0};
}

/// Words of a lane that a product uses: those of the 16×16 numbers, then for each product those of
/// two times 16×8. One and the other are used alternately; the second is the first with the
/// opposite sign and a small difference, so that sums stay small and every pair of products changes
/// them.
inline constexpr unsigned words_of_a = 4;
inline constexpr unsigned words_of_b = 2;
inline constexpr unsigned words_of_tiles = words_of_a + 2 * products * words_of_b;

/// From -1.99 to -1.85: x stays between c and c² + c, and nearly all of these maps are chaotic.
inline float addend(std::uint32_t lane) {
  return -1.99F + 0.02F * static_cast<float>(lane) + 1e-3F * operations::fraction<float>(lane);
}
inline float start(std::uint32_t row, std::uint32_t lane) {
  return operations::fraction<float>((row + 1) * distinct_lanes + lane) / 2;
}

/// A chain, and the sum of the powers of two that follows it.
struct Chain {
  float x = 0;
  float sum = 0;
  bool operator==(const Chain&) const = default;
};

inline Chain chain_after(Mix mix, unsigned chain, std::uint32_t lane, std::uint32_t rounds) {
  const Recipe recipe = recipe_of(mix);
  const float c = addend(lane);
  std::vector<char> squares;  // each step of a turn: a square or a power
  for (unsigned p = 0; p < recipe.steps; ++p) {
    for (unsigned j = 0; j < recipe.fma; ++j) {
      if ((p * recipe.fma + j) % chains == chain) squares.push_back(1);
    }
    if (recipe.mufu > 0 && p % chains == chain) squares.push_back(0);
  }
  Chain state{start(chain, lane), start(chains + chain, lane)};
  operations::repeat(state, rounds, [&] {  // one turn of the kernel's loop
    for (const char square : squares) {
      if (square != 0) {
        state.x = std::fma(state.x, state.x, c);
      } else {
        state.sum = std::fma(state.sum, 0.5F, std::exp2(state.x));
      }
    }
  });
  return state;
}

inline constexpr unsigned tall = 16;  // rows of a and of a product, and what both factors share
inline constexpr unsigned wide = 8;   // columns of b and of a product
inline constexpr int most_factor = 511;
inline constexpr int most_step = 3;  // of a sum, for a pair of products
inline constexpr int most_start = 1 << 19;
inline constexpr unsigned pairs_of_round = 8;

/// From 1 to `most` with either sign.
inline int number(std::uint32_t index, int most) {
  const std::uint32_t word = hashed_word(index);
  const int size = 1 + static_cast<int>((word >> 1U) % static_cast<std::uint32_t>(most));
  return (word & 1U) != 0 ? size : -size;
}
inline int a_at(unsigned row, unsigned k) {
  return number(tall * row + k, k == 0 ? most_step : most_factor);
}
/// Where k is 0, the difference between the second b of a product and the negated first one.
inline int besides(unsigned product, unsigned column) {
  return number(4000 + wide * product + column, 1);
}
inline int b_at(unsigned product, unsigned k, unsigned column, bool second) {
  const int first = number(1000 + (tall * product + k) * wide + column, most_factor);
  if (!second) return first;
  return -first + (k == 0 ? besides(product, column) : 0);
}
inline int start_of_sum(unsigned product, unsigned row, unsigned column) {
  return number(8000 + (tall * product + row) * wide + column, most_start);
}

/// Two numbers of half precision in one word.
inline std::uint32_t both(int low, int high) {
  using operations::Half;
  return (Half::pack(low) & 0xFFFFU) | (Half::pack(high) & 0xFFFF0000U);
}

/// The position of a lane's word of a sum in the layout of mma.m16n8k16.
struct Place {
  unsigned product;
  unsigned row;
  unsigned column;
};
inline Place place_of(unsigned word, std::uint32_t lane) {
  const unsigned in_product = word % 4;
  return {word / 4, lane / 4 + (in_product >= 2 ? 8 : 0), lane % 4 * 2 + in_product % 2};
}

/// The words of the tiles in the layout of mma.m16n8k16: the four quarters of a, the two halves of
/// b.
inline std::uint32_t tile_word(unsigned word, std::uint32_t lane) {
  if (word < words_of_a) {
    const unsigned row = lane / 4 + word % 2 * 8;
    const unsigned k = lane % 4 * 2 + word / 2 * 8;
    return both(a_at(row, k), a_at(row, k + 1));
  }
  const unsigned b = word - words_of_a;
  const bool second = b / (products * words_of_b) != 0;
  const unsigned product = b / words_of_b % products;
  const unsigned k = lane % 4 * 2 + b % words_of_b * 8;
  const auto at = [&](unsigned row) { return b_at(product, row, lane / 4, second); };
  return both(at(k), at(k + 1));
}

/// Row after row, for the lanes of a warp.
template <class Word>
WarpWords rows_for_lanes(unsigned rows, Word&& word) {
  WarpWords words;
  words.reserve(std::size_t{rows} * warp_lanes);
  for (unsigned row = 0; row < rows; ++row) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      words.push_back(word(row, lane));
  }
  return words;
}

/// Chains of multiply-adds of the lanes that differ.
using Chains = std::array<std::array<Chain, distinct_lanes>, chains>;
inline Chains chains_after(Mix mix, std::uint32_t rounds) {
  Chains all{};
  if (rows_of(mix).fma == 0) return all;
  for (unsigned chain = 0; chain < chains; ++chain) {
    for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane)
      all.at(chain).at(lane) = chain_after(mix, chain, lane, rounds);
  }
  return all;
}

/// The end values of the chains, in the order of the starts.
inline WarpWords expected_ends(Mix mix, std::uint32_t rounds) {
  const Rows rows = rows_of(mix);
  const bool one_lane = recipe_of(mix).one_lane;
  const Chains ended = chains_after(mix, rounds);
  const Chains begun = one_lane ? chains_after(mix, 0) : ended;
  return rows_for_lanes(rows.all(), [&](unsigned row, std::uint32_t lane) {
    if (row < rows.fma + rows.mufu) {
      const Chain& chain = (lane == 0 ? ended : begun).at(row % chains).at(lane % distinct_lanes);
      return operations::bits(row < rows.fma ? chain.x : chain.sum);
    }
    const auto [product, at, column] = place_of(row - rows.fma - rows.mufu, lane);
    const int moved = a_at(at, 0) * besides(product, column);
    return operations::bits(static_cast<float>(start_of_sum(product, at, column) +
                                               moved * static_cast<int>(pairs_of_round * rounds)));
  });
}

/// Row after row for the lanes of a warp: the start values of all chains, in the order of Rows; c;
/// the words of the tiles.
inline WarpWords device_words(Mix mix) {
  WarpWords words = expected_ends(mix, 0);
  const WarpWords factors =
      rows_for_lanes(1 + words_of_tiles, [](unsigned row, std::uint32_t lane) {
        if (row == 0) return operations::bits(addend(lane % distinct_lanes));
        return std::uint64_t{tile_word(row - 1, lane)};
      });
  words.insert(words.end(), factors.begin(), factors.end());
  return words;
}

/// After more iterations, the sums of products exceed the integers of single precision.
inline std::uint32_t most_rounds(Mix mix) {
  if (rows_of(mix).mma == 0) return std::numeric_limits<std::uint32_t>::max();
  constexpr int whole = 1 << 23;  // half of the integers that single precision represents
  constexpr int of_product = static_cast<int>(tall) * most_factor * (most_factor + 1);
  return (whole - of_product - most_start) / (most_step * static_cast<int>(pairs_of_round));
}

}  // namespace strata::clock_under_load
