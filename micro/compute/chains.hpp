// Chains of dependent operations: their start values, and the verification of their launches. All
// warps run the same chains: the ends of the first warp are compared with the host's, and the
// checksum of every other with the first's. Words are stored as bits.
#pragma once

#include "harness/measure/experiment.hpp"
#include "harness/model/coalescing.hpp"
#include "harness/model/word_patterns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

namespace strata::operations {

/// Lanes whose operands differ; lane l has those of l mod this.
inline constexpr std::uint32_t distinct_lanes = 8;

/// Bits of words, row after row for the lanes of a warp or for those that differ.
using WarpWords = std::vector<std::uint64_t>;

/// An unsigned number of the size of W.
template <class W>
using BitsOf = std::conditional_t<sizeof(W) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
template <class W>
[[nodiscard]] STRATA_HD constexpr std::uint64_t bits(W word) {
  return std::bit_cast<BitsOf<W>>(word);
}
template <class W>
[[nodiscard]] STRATA_HD constexpr W from_bits(std::uint64_t word) {
  return std::bit_cast<W>(static_cast<BitsOf<W>>(word));
}

/// Rows for the lanes of a warp, of what `word` gives for a row and one of the distinct lanes.
template <class Word>
[[nodiscard]] WarpWords warp_rows(std::size_t rows, Word&& word) {
  WarpWords words;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      words.push_back(bits(word(row, lane % distinct_lanes)));
  }
  return words;
}

/// A number from 1 up to 2 with a random mantissa of `digits` bits.
template <class Real>
[[nodiscard]] Real fraction(std::uint32_t index, int digits = 23) {
  const std::uint32_t mantissa = hashed_word(index) >> static_cast<std::uint32_t>(32 - digits);
  return static_cast<Real>(1.0 + std::ldexp(mantissa, -digits));
}

/// The contribution of the end of chain `index` (of the warp) to the warp's checksum.
STRATA_HD constexpr std::uint64_t checksum_part(std::uint64_t word, std::uint64_t index) {
  return (word + 0x9E3779B97F4A7C15U) * (2 * index + 1);
}

/// Calls `turn`, which changes `state`, that many times. Once a state recurs, whole periods are
/// skipped (Brent: the state to compare with is renewed after 1, 2, 4… turns).
template <class State, class Turn>
void repeat(State& state, std::uint64_t turns, Turn&& turn) {
  State earlier = state;
  std::uint64_t since = 0;
  std::uint64_t patience = 1;
  while (turns > 0) {
    turn();
    --turns;
    ++since;
    if (state == earlier) turns %= since;
    if (since == patience) {
      earlier = state;
      since = 0;
      patience *= 2;
    }
  }
}

/// `tolerance`: relative, of floats; 0: the bits are the same.
[[nodiscard]] inline bool alike(std::uint64_t got, std::uint64_t wanted, double tolerance) {
  if (tolerance == 0) return got == wanted;
  const auto right = from_bits<float>(wanted);
  return std::abs(from_bits<float>(got) - right) <= tolerance * std::abs(right);
}

/// Compares the ends of one warp, a row of lanes per chain, with the host's: those of the distinct
/// lanes, for each chain or for all of them alike. Returns the checksum of the warp.
inline std::uint64_t check_ends(std::span<const std::uint64_t> ends, const WarpWords& wanted,
                                double tolerance, Tally& tally) {
  std::uint64_t checksum = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::size_t row = i / warp_lanes * distinct_lanes;
    tally.one(alike(ends[i], wanted[(row + i % distinct_lanes) % wanted.size()], tolerance));
    checksum += checksum_part(ends[i], i);
  }
  return checksum;
}

/// The result of `wanted` for each number of rounds, computed once.
template <class Wanted>
[[nodiscard]] auto once_each(Wanted wanted) {
  using Result = std::invoke_result_t<Wanted, std::uint32_t>;
  return [=, known = std::map<std::uint32_t, Result>{}](std::uint32_t rounds) mutable -> Result& {
    const auto [found, is_new] = known.try_emplace(rounds);
    if (is_new) found->second = wanted(rounds);
    return found->second;
  };
}

/// The verification of launches that leave the first warp's `ends`, and the checksum of each warp
/// as a stamp's result. `wanted`: the expected ends after that many rounds.
template <class Wanted>
[[nodiscard]] auto ends_verified(std::span<const std::uint64_t> ends, double tolerance,
                                 Wanted wanted) {
  return [=, of_rounds = once_each(wanted)](const Call& call, std::span<const Stamp> stamps,
                                            Tally& tally) mutable {
    const std::uint64_t checksum =
        check_ends(ends, of_rounds(call.length.rounds), tolerance, tally);
    for (const Stamp& stamp : stamps)
      tally.one(stamp.result == checksum);
  };
}

[[nodiscard]] inline const char* what_was_checked(double tolerance) {
  return tolerance == 0 ? "ends of chains, bit for bit" : "ends of chains, within the stated error";
}

/// Lengths by trials of `turns` iterations on a CPU, for Slope::size; the fastest of at least five,
/// which take `warm_seconds` together, is undisturbed. The long run takes about `seconds`.
[[nodiscard]] inline auto lengths_by_least(double seconds, double work_of_turn, std::uint32_t turns,
                                           double warm_seconds) {
  return [=](const std::function<Launched(const Length&)>& run) {
    constexpr int trials = 5;
    constexpr std::uint32_t parts = 5;
    double least = 1;
    double spent = 0;
    for (int i = 0; i < trials || spent < warm_seconds; ++i) {
      const double one = run({.rounds = turns}).seconds;
      least = std::min(least, one / turns);
      spent += one;
    }
    const auto brief = static_cast<std::uint32_t>(std::max(seconds / parts / least, 1.0));
    return fifth_and_whole(parts * brief, work_of_turn);
  };
}

}  // namespace strata::operations
