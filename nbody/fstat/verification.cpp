#include "nbody/fstat/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <utility>

namespace strata::fstat {
namespace {

/// The errors of of(left[i]) against of(right[i]), of all results.
template <class Left, class Right, class Of>
Accuracy accuracy(std::string what, double bound, std::span<const Left> left,
                  std::span<const Right> right, const Of& of) {
  constexpr double largest_over_rms = 16;
  Accuracy all{
      .what = std::move(what), .rms_bound = bound, .largest_bound = largest_over_rms * bound};
  double squares = 0;
  double of_errors = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const auto expected = of(right[i]);
    const double error = std::abs(of(left[i]) - expected);
    all.finite = all.finite && std::isfinite(error);
    squares += std::norm(expected);
    of_errors += error * error;
    all.largest = std::max(all.largest, error);
  }
  all.rms = std::sqrt(of_errors / squares);
  all.largest /= std::sqrt(squares / static_cast<double>(right.size()));
  return all;
}

ExactSums exact(const Sums& sums) {
  const auto number = [](float re, float im) {
    return std::complex<double>{static_cast<double>(re), static_cast<double>(im)};
  };
  return {.a = number(sums.a_re, sums.a_im), .b = number(sums.b_re, sums.b_im)};
}
const ExactSums& exact(const ExactSums& sums) {
  return sums;
}

template <class Sum, class Number>
std::vector<Accuracy> all_accuracies(const Reference& right, std::span<const Sum> sums,
                                     std::span<const Number> two_f, double bound) {
  constexpr double of_a_square = 4;
  const std::span all{right.sums};
  return {accuracy("Fa", bound, sums, all, [](const auto& one) { return exact(one).a; }),
          accuracy("Fb", bound, sums, all, [](const auto& one) { return exact(one).b; }),
          accuracy("2F", of_a_square * bound, two_f, std::span{right.two_f},
                   [](auto one) { return static_cast<double>(one); })};
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
  return all_accuracies(which.right, sums, two_f, rms_bound(which.seen, approximate));
}
std::vector<Accuracy> accuracy_of(const Reference& right, const Reference& other, double bound) {
  return all_accuracies(right, std::span{other.sums}, std::span{other.two_f}, bound);
}

std::size_t different(std::span<const float> one, std::span<const float> other) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    count += std::bit_cast<std::uint32_t>(one[i]) == std::bit_cast<std::uint32_t>(other[i]) ? 0 : 1;
  }
  return count;
}

}  // namespace strata::fstat
