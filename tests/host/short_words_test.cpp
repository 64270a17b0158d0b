#include "micro/access/short_words.cu"

#include "case_here.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace strata::short_words {
namespace {

TEST(ShortWordsSum, CarriesNothingFromOneElementIntoTheNext) {
  for (const std::uint32_t a : {0U, 0x01FF80FFU, 0xFFFFFFFFU, 0x80007FFFU, 0x12345678U}) {
    for (const std::uint32_t b : {0U, 0x01010101U, 0xFFFFFFFFU, 0x80008001U, 0xFEDCBA98U}) {
      for (const std::uint32_t element : {1U, 2U, 4U}) {
        std::uint32_t expected = 0;
        const std::uint32_t bits = 8 * element;
        for (std::uint32_t at = 0; at < 32; at += bits) {
          const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
          const std::uint64_t sum = ((a >> at) & mask) + ((b >> at) & mask);
          expected |= static_cast<std::uint32_t>((sum & mask) << at);
        }
        EXPECT_EQ(sum_of_elements(a, b, element), expected) << a << ' ' << b << ' ' << element;
      }
    }
  }
}

TEST(ShortWordsForm, TakesEachGroupOnceInEitherOrder) {
  for (const bool coalesced : {true, false}) {
    const Form form{.element = 4, .group = 16, .together = true, .coalesced = coalesced};
    // The whole matrix is many blocks: one thread of each, and all threads of some.
    std::set<std::uint64_t> groups;
    for (std::uint64_t block = 0; block < form.blocks(); ++block)
      groups.insert(5 * std::uint64_t{form.thread_step()} + block * form.block_step());
    EXPECT_EQ(groups.size(), form.blocks());
    const std::uint64_t last = std::uint64_t{threads - 1} * form.thread_step() +
                               std::uint64_t{form.blocks() - 1} * form.block_step();
    EXPECT_EQ((last + 1) * form.group, matrix_bytes);
  }
}

TEST(ShortWordsPrediction, FollowsFromTheAddresses) {
  const std::uint64_t words = matrix_bytes / 4;
  const auto plain = predicted({.element = 4, .group = 4, .together = true, .coalesced = true});
  EXPECT_EQ(plain[0].predicted, 2 * words / 32);
  EXPECT_EQ(plain[1].predicted, 2 * words / 8);
  EXPECT_EQ(plain[2].predicted, words / 8);
  // Every lane has a sector of its own.
  const auto apart = predicted({.element = 4, .group = 4, .together = true, .coalesced = false});
  EXPECT_EQ(apart[1].predicted, 2 * words);
  // Sixteen bytes, one after the other: each of the accesses touches every sector.
  const auto serial = predicted({.element = 1, .group = 16, .together = false, .coalesced = true});
  EXPECT_EQ(serial[0].predicted, 2 * matrix_bytes / 32);
  EXPECT_EQ(serial[1].predicted, 2 * matrix_bytes / 32 * 16);
  const auto vector = predicted({.element = 1, .group = 16, .together = true, .coalesced = true});
  EXPECT_EQ(vector[1].predicted, 2 * matrix_bytes / 32);
}

std::vector<Params> host_cases() {
  const Benchmark b = declare();
  std::vector<Params> all;
  for (const auto& element : b.axis("element")->defaults) {
    for (const auto& order : b.axis("order")->defaults) {
      for (const auto& group : b.axis("group")->defaults) {
        for (const auto& access : b.axis("access")->defaults) {
          const Params params{
              {"element", element}, {"order", order}, {"group", group}, {"access", access}};
          if (!b.excludes(params, Backend::host)) all.push_back(params);
        }
      }
    }
  }
  return all;
}

TEST(ShortWordsOnThisCpu, AddEveryElementInEveryForm) {
  for (const Params& params : host_cases()) {
    const auto keys = keys_of(measure_here("short_words", params, 1));
    EXPECT_TRUE(keys.contains("kernel_time/tsc_slope"));
    EXPECT_TRUE(keys.contains("kernel_time/monotonic_slope"));
    EXPECT_TRUE(keys.contains("useful_bandwidth/monotonic_slope"));
  }
}

}  // namespace
}  // namespace strata::short_words
