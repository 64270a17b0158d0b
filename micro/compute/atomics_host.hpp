// Where the cores of a CPU have their words, and what all of them together must leave behind:
// atomics.hpp says what it asks.
#pragma once

#include "micro/compute/atomics.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::atomics {

/// From one word to the next where no line is shared: two lines, which neighbours are prefetched
/// with.
inline constexpr std::size_t core_pitch = 128;

/// Which word of the operation's width is the one of a core.
[[nodiscard]] std::size_t word_of_core(const Kind& kind, std::size_t core);
/// Words of the area that the words of `cores` cores lie in: whole pairs of lines.
[[nodiscard]] std::size_t area_words(const Kind& kind, std::size_t cores);

/// What a core did, and what it holds at the end.
struct CoreResult {
  std::uint64_t operations = 0;  ///< of all its chains together, as many of each
  std::uint32_t left = 0;        ///< as in Result, of the chains together
};

struct Compared {
  std::size_t checked = 0;
  std::size_t different = 0;
};
/// Words and cores against what they must be where cores did what they say that they did, in
/// whatever order. `words`: floats as their value, rounded to a whole number.
[[nodiscard]] Compared compare(const Kind& kind, std::uint32_t chains,
                               std::span<const std::uint64_t> words,
                               std::span<const CoreResult> cores);

}  // namespace strata::atomics
