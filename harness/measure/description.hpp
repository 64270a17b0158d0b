// For descriptions: samples whose numbers have names (`Numbers` is a struct of doubles), and the
// lifetime of what their functions refer to.
#pragma once

#include "harness/measure/experiment.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace strata {

template <class Numbers>
using DoublesOf = std::array<double, sizeof(Numbers) / sizeof(double)>;

/// For Experiment::observe.
template <class Numbers>
[[nodiscard]] std::vector<double> sample_of(const Numbers& numbers) {
  const auto all = std::bit_cast<DoublesOf<Numbers>>(numbers);
  return {all.begin(), all.end()};
}

/// One of them, for rows and timers. Further numbers of a sample may follow. Its value throws
/// std::out_of_range for a sample that has fewer.
template <class Numbers>
[[nodiscard]] Value number(double Numbers::*which) {
  return [which](const Sample& sample) {
    DoublesOf<Numbers> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = sample.numbers.at(i);
    return std::bit_cast<Numbers>(all).*which;
  };
}

/// Keeps what the functions of a description refer to as long as there is a copy of it.
[[nodiscard]] inline Experiment owning(std::shared_ptr<const void> owned, Experiment experiment) {
  experiment.facts = [owned = std::move(owned), facts = experiment.facts](const Experiment& now) {
    return facts ? facts(now) : Facts{};
  };
  return experiment;
}

}  // namespace strata
