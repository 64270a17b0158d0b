// Integers evenly spaced on a logarithmic axis: the sizes of a sweep.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace strata {

/// `per_octave` numbers for each doubling, from `least` to `most`, each rounded to a multiple of
/// `multiple`, without duplicates. All arguments are at least 1, `most` is at most 2^60.
[[nodiscard]] inline std::vector<std::uint64_t> octaves(std::uint64_t least, std::uint64_t most,
                                                        unsigned per_octave,
                                                        std::uint64_t multiple) {
  std::vector<std::uint64_t> all;
  for (unsigned point = 0;; ++point) {
    const double exact =
        static_cast<double>(least) * std::exp2(static_cast<double>(point) / per_octave);
    const auto multiples =
        static_cast<std::uint64_t>(std::llround(exact / static_cast<double>(multiple)));
    const std::uint64_t number = multiples * multiple;
    if (number > most) return all;
    if (number >= least && (all.empty() || number > all.back())) all.push_back(number);
  }
}

/// For the values of an axis.
[[nodiscard]] inline std::vector<std::string> texts_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const std::uint64_t number : numbers)
    texts.push_back(std::to_string(number));
  return texts;
}

}  // namespace strata
