#include "nbody/fstat/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace strata::fstat {
namespace {

/// `value(i)` of a result against `right`, where |value − right| is the error.
template <class Value, class Right>
Accuracy accuracy(std::string what, double bound, std::span<const Right> right,
                  const Value& value) {
  constexpr double largest_over_rms = 16;
  Accuracy all{
      .what = std::move(what), .rms_bound = bound, .largest_bound = largest_over_rms * bound};
  double squares = 0;
  double of_errors = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double error = std::abs(value(i) - right[i]);
    all.finite = all.finite && std::isfinite(error);
    squares += std::norm(right[i]);
    of_errors += error * error;
    all.largest = std::max(all.largest, error);
  }
  const double rms = std::sqrt(squares / static_cast<double>(right.size()));
  all.rms = std::sqrt(of_errors / squares);
  all.largest /= rms;
  return all;
}

std::complex<double> number(float re, float im) {
  return {static_cast<double>(re), static_cast<double>(im)};
}

}  // namespace

Case case_of(const Problem& problem) {
  Case which{.seen = generate(problem), .right = {}};
  which.right = reference_of(which.seen);
  return which;
}

const Case& shared_case(Session& session, const Problem& p) {
  const std::string key = fmt::format("fstat/{}/{}/{}/{}", p.sky, p.cells, p.stacks, p.frequencies);
  return session.cache().keep<Case>(key, [&] { return case_of(p); });
}

double rms_bound(const Observation& seen, bool approximate) {
  constexpr double rounding = 0x1p-24;
  const double signals = static_cast<double>(seen.signals()) / seen.problem.stacks;
  return (approximate ? 2 : 1) * rounding * (8 + std::sqrt(16.0) + std::sqrt(signals));
}

std::vector<Accuracy> accuracy_of(const Case& which, std::span<const Sums> sums,
                                  std::span<const float> two_f, bool approximate) {
  constexpr double of_a_square = 4;
  const double bound = rms_bound(which.seen, approximate);
  return {accuracy<>("Fa", bound, std::span{which.right.fa},
                     [&](std::size_t i) { return number(sums[i].a_re, sums[i].a_im); }),
          accuracy<>("Fb", bound, std::span{which.right.fb},
                     [&](std::size_t i) { return number(sums[i].b_re, sums[i].b_im); }),
          accuracy<>("2F", of_a_square * bound, std::span{which.right.two_f},
                     [&](std::size_t i) { return static_cast<double>(two_f[i]); })};
}

std::size_t different(std::span<const float> one, std::span<const float> other) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    count += std::bit_cast<std::uint32_t>(one[i]) == std::bit_cast<std::uint32_t>(other[i]) ? 0 : 1;
  }
  return count;
}

}  // namespace strata::fstat
