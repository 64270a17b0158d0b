#include "harness/model/coalescing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

namespace strata {
namespace {

using Lane = std::optional<std::uint64_t>;

WarpAccess access(unsigned width, const std::function<Lane(std::uint64_t)>& address) {
  WarpAccess one{.width = width, .addresses = {}};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    one.addresses.at(lane) = address(lane);
  return one;
}

struct Example {
  const char* what;
  unsigned width;
  std::function<Lane(std::uint64_t)> address;
  std::uint64_t wavefronts;
};

class BankExamples : public ::testing::TestWithParam<Example> {};

TEST_P(BankExamples, AreAsWorkedByHand) {
  const auto& [what, width, address, wavefronts] = GetParam();
  EXPECT_EQ(shared_wavefronts(access(width, address)), wavefronts);
}

std::function<Lane(std::uint64_t)> every(std::uint64_t bytes) {
  return [bytes](std::uint64_t lane) { return Lane{lane * bytes}; };
}
std::function<Lane(std::uint64_t)> in_groups(std::uint64_t lanes, std::uint64_t bytes) {
  return [=](std::uint64_t lane) { return Lane{lane / lanes * bytes}; };
}
std::function<Lane(std::uint64_t)> repeated(std::uint64_t lanes, std::uint64_t bytes) {
  return [=](std::uint64_t lane) { return Lane{lane % lanes * bytes}; };
}
std::function<Lane(std::uint64_t)> only(std::uint64_t count, std::uint64_t bytes) {
  return [=](std::uint64_t lane) { return lane < count ? Lane{lane * bytes} : std::nullopt; };
}

/// These lanes at one address.
std::function<Lane(std::uint64_t)> together(std::set<std::uint64_t> lanes) {
  return [lanes = std::move(lanes)](std::uint64_t lane) {
    return lanes.contains(lane) ? Lane{16} : std::nullopt;
  };
}

INSTANTIATE_TEST_SUITE_P(
    ByHand, BankExamples,
    ::testing::Values(
        // 16 bytes for some lanes, as tests/data/access/wide_loads.csv has more of them.
        Example{"two lanes at one address", 16, together({0, 31}), 1},
        Example{"three lanes at one address", 16, together({14, 25, 26}), 1},
        Example{"sixteen lanes at one address", 16,
                [](std::uint64_t lane) { return lane % 4 < 2 ? Lane{16} : std::nullopt; }, 1},
        Example{"pairs of two banks alike", 16, repeated(2, 512), 8},
        Example{"two lanes at two addresses", 16,
                [](std::uint64_t lane) {
                  return lane == 0 || lane == 31 ? Lane{16 * (lane % 2)} : std::nullopt;
                },
                2},
        Example{"all lanes at one address", 16, repeated(1, 0), 2},
        // 4 bytes: the whole warp at once.
        Example{"words side by side", 4, every(4), 1},
        Example{"every second word: 16 banks, two words each", 4, every(8), 2},
        Example{"every third: 3 has no factor in common with 32", 4, every(12), 1},
        Example{"every fourth", 4, every(16), 4}, Example{"every fifth", 4, every(20), 1},
        Example{"every sixth: as two", 4, every(24), 2}, Example{"every eighth", 4, every(32), 8},
        Example{"every twelfth: as four", 4, every(48), 4},
        Example{"every sixteenth", 4, every(64), 16},
        Example{"a column of 32 words: one bank", 4, every(128), 32},
        Example{"a column of 33 words: the old cure", 4, every(132), 1},
        Example{"all lanes one word", 4, in_groups(32, 4), 1},
        Example{"pairs share words of a row", 4, in_groups(2, 4), 1},
        Example{"pairs share words of a column", 4, in_groups(2, 128), 16},
        Example{"halves read the same row", 4, repeated(16, 4), 1},
        Example{"two words of one bank", 4, in_groups(16, 128), 2},
        Example{"reversed", 4, [](std::uint64_t lane) { return Lane{(31 - lane) * 4}; }, 1},
        Example{"one lane", 4, only(1, 4), 1}, Example{"no lane", 4, only(0, 4), 0},
        Example{"four lanes of a column", 4, only(4, 128), 4},
        // 8 bytes: two halves.
        Example{"doubles side by side", 8, every(8), 2},
        Example{"every second double", 8, every(16), 4},
        Example{"every third double", 8, every(24), 2},
        Example{"every sixteenth double: one pair of banks", 8, every(128), 32},
        Example{"every 17th double", 8, every(136), 2},
        Example{"all lanes one double", 8, in_groups(32, 8), 1},
        Example{"pairs share doubles", 8, in_groups(2, 8), 1},
        Example{"pairs share doubles of a column", 8, in_groups(2, 128), 16},
        Example{"lanes n and n + 2 share", 8,
                [](std::uint64_t lane) { return Lane{(lane / 4 * 2 + lane % 2) * 8}; }, 1},
        Example{"halves read the same doubles: no pair agrees", 8, repeated(16, 8), 2},
        Example{"one half takes part", 8, only(16, 8), 1},
        Example{"one lane of 8 bytes", 8, only(1, 8), 1},
        // 16 bytes: four quarters.
        Example{"vectors side by side", 16, every(16), 4},
        Example{"every second vector", 16, every(32), 8},
        Example{"every third vector", 16, every(48), 4},
        Example{"every eighth vector: four banks", 16, every(128), 32},
        Example{"every ninth vector", 16, every(144), 4},
        Example{"all lanes one vector", 16, in_groups(32, 16), 2},
        Example{"pairs share vectors", 16, in_groups(2, 16), 2},
        Example{"pairs share vectors of a column", 16, in_groups(2, 128), 16},
        Example{"a quarter each the same vectors: no pair agrees", 16, repeated(8, 16), 4},
        Example{"one quarter takes part", 16, only(8, 16), 1},
        Example{"three quarters take part", 16, only(24, 16), 3}),
    [](const auto& test) {
      std::string name = std::to_string(test.param.width) + "_" + test.param.what;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

TEST(BankModel, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW((void)shared_wavefronts(access(2, every(2))), std::invalid_argument);
  EXPECT_THROW((void)shared_wavefronts(access(32, every(32))), std::invalid_argument);
  EXPECT_THROW((void)shared_wavefronts(access(8, every(4))), std::invalid_argument);
  EXPECT_THROW((void)shared_wavefronts(access(4, [](std::uint64_t) { return Lane{2}; })),
               std::invalid_argument);
}

TEST(BankModel, KnowsTheGreatestCommonDivisorRule) {
  for (std::uint64_t stride = 1; stride <= 128; ++stride) {
    EXPECT_EQ(shared_wavefronts(access(4, every(4 * stride))), std::gcd(stride, std::uint64_t{32}));
    EXPECT_EQ(shared_wavefronts(access(8, every(8 * stride))),
              2 * std::gcd(stride, std::uint64_t{16}));
    EXPECT_EQ(shared_wavefronts(access(16, every(16 * stride))),
              4 * std::gcd(stride, std::uint64_t{8}));
  }
}

// --- properties, on random accesses --------------------------------------------------------------

/// Elements out of a few or out of many, some lanes without one.
WarpAccess random_access(std::mt19937& random, unsigned width) {
  const std::uint64_t elements = 1U + random() % (random() % 2 == 0 ? 8U : 2048U);
  const bool holes = random() % 2 == 0;
  return access(width, [&](std::uint64_t) {
    if (holes && random() % 4 == 0) return Lane{};
    return Lane{random() % elements * width};
  });
}

/// The most words that one bank serves, counted without sets of a group: pairs of lanes.
std::uint64_t brute_degree(const WarpAccess& one, unsigned first, unsigned last) {
  std::map<std::uint64_t, std::set<std::uint64_t>> of_bank;
  for (unsigned lane = first; lane < last; ++lane) {
    if (!one.addresses.at(lane)) continue;
    for (std::uint64_t b = 0; b < one.width; ++b) {
      const std::uint64_t byte = *one.addresses.at(lane) + b;
      of_bank[byte / 4 % 32].insert(byte / 4);
    }
  }
  std::uint64_t most = 0;
  for (const auto& [bank, words] : of_bank)
    most = std::max<std::uint64_t>(most, words.size());
  return most;
}

bool pairs_agree(const WarpAccess& one, unsigned first, unsigned last, unsigned bit) {
  for (unsigned a = first; a < last; ++a) {
    for (unsigned b = first; b < last; ++b) {
      const bool paired = (a ^ b) == bit;
      const auto& x = one.addresses.at(a);
      const auto& y = one.addresses.at(b);
      if (paired && x.has_value() && y.has_value() && *x != *y) return false;
    }
  }
  return true;
}

std::uint64_t brute(const WarpAccess& one) {
  if (one.width == 4) return brute_degree(one, 0, 32);
  std::set<std::uint64_t> addresses;
  unsigned lanes = 0;
  for (const auto& address : one.addresses) {
    if (address) addresses.insert(*address);
    lanes += address ? 1 : 0;
  }
  if (one.width == 16 && addresses.size() == 1) return lanes > 16 ? 2 : 1;
  const unsigned group = 128 / one.width;
  std::uint64_t sum = 0;
  for (unsigned first = 0; first < 32; first += 2 * group) {
    const unsigned last = first + 2 * group;
    const bool merged = (pairs_agree(one, first, last, 1) || pairs_agree(one, first, last, 2)) &&
                        brute_degree(one, first, last) == 1;
    sum += merged
               ? 1
               : brute_degree(one, first, first + group) + brute_degree(one, first + group, last);
  }
  return sum;
}

class BankProperties : public ::testing::TestWithParam<unsigned> {
 protected:
  static constexpr int trials = 2000;
  std::mt19937 random{GetParam()};
};

TEST_P(BankProperties, AgreeWithBruteForce) {
  for (int i = 0; i < trials; ++i) {
    const auto one = random_access(random, GetParam());
    ASSERT_EQ(shared_wavefronts(one), brute(one));
  }
}

TEST_P(BankProperties, NeverTakeFewerWavefrontsThanTheirBytesFill) {
  for (int i = 0; i < trials; ++i) {
    const auto one = random_access(random, GetParam());
    std::set<std::uint64_t> words;
    for (const auto& address : one.addresses) {
      for (std::uint64_t b = 0; address && b < one.width; b += 4)
        words.insert((*address + b) / 4);
    }
    ASSERT_GE(shared_wavefronts(one) * wavefront_bytes, 4 * words.size());
  }
}

TEST_P(BankProperties, DoNotDependOnWhichLaneOfAGroupReadsWhat) {
  const std::uint64_t group = wavefront_bytes / GetParam();
  for (int i = 0; i < trials; ++i) {
    // Elements of their own: where lanes share one, their neighbours decide what is merged.
    std::array<std::uint64_t, 512> elements{};
    std::iota(elements.begin(), elements.end(), 0U);
    std::shuffle(elements.begin(), elements.end(), random);
    auto one = access(GetParam(),
                      [&](std::uint64_t lane) { return Lane{elements.at(lane) * GetParam()}; });
    const auto before = shared_wavefronts(one);
    for (std::uint64_t first = 0; first < warp_lanes; first += group) {
      const auto begin = one.addresses.begin() + static_cast<std::ptrdiff_t>(first);
      std::shuffle(begin, begin + static_cast<std::ptrdiff_t>(group), random);
    }
    ASSERT_EQ(shared_wavefronts(one), before);
  }
}

TEST_P(BankProperties, DoNotDependOnWhichAdjacentLanesShareAnElement) {
  for (int i = 0; i < trials; ++i) {
    const auto one = random_access(random, GetParam());
    const auto turn = static_cast<unsigned>(random() % (wavefront_bytes / GetParam()));
    auto turned = one;
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      turned.addresses.at(lane) = one.addresses.at(lane ^ turn);
    ASSERT_EQ(shared_wavefronts(turned), shared_wavefronts(one));
  }
}

TEST_P(BankProperties, DoNotDependOnWhereThePatternStarts) {
  for (int i = 0; i < trials; ++i) {
    const auto one = random_access(random, GetParam());
    auto moved = one;
    const std::uint64_t by = std::uint64_t{GetParam()} * (random() % 1000);
    for (auto& address : moved.addresses) {
      if (address) *address += by;
    }
    ASSERT_EQ(shared_wavefronts(moved), shared_wavefronts(one));
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, BankProperties, ::testing::Values(4U, 8U, 16U));

}  // namespace
}  // namespace strata
