#include "micro/pattern/particle_chain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace strata {
namespace {

/// The sum of the wanted fields of particle `i`, read from `words` by the layout's own reads, in
/// single precision, as the bits of (sum + mantissa_bias).
template <Layout L, class Fields>
std::uint32_t read_particle(const float* words, std::size_t i, std::size_t n) {
  float sum = 0;
  for (std::size_t r = 0; r < L::reads.size(); ++r) {
    if (issued<L, Fields>(r).words == 0) continue;
    const auto first = L::first_word(r, i, n);
    for (unsigned w = 0; w < L::reads[r].words; ++w) {
      const int f = L::reads[r].fields[w];
      if (f != padding && Fields::wants(f)) sum += words[first + w];
    }
  }
  return std::bit_cast<std::uint32_t>(sum + mantissa_bias);
}
/// The same of the 32 particles at step `step` of a chain, each weighted by its lane.
template <Layout L, class Fields>
std::uint32_t read_group(const ParticleChain& chain, const std::vector<float>& words,
                         std::uint32_t step) {
  std::uint32_t sum = 0;
  for (std::uint32_t lane = 0; lane < group_size; ++lane) {
    const std::size_t i = std::size_t{chain.ring().group_at(step)} * group_size + lane;
    sum += lane_weight(lane) * read_particle<L, Fields>(words.data(), i, chain.particles());
  }
  return sum;
}

template <class>
struct AsTypes;
template <class... Ls>
struct AsTypes<std::tuple<Ls...>> {
  using type = testing::Types<Ls...>;
};
template <class L>
class ChainIn : public testing::Test {};
TYPED_TEST_SUITE(ChainIn, AsTypes<Layouts>::type);

TYPED_TEST(ChainIn, LeadsEveryLaneThroughTheWholeCycleByItsOwnFields) {
  const ParticleChain chain{64, 11};
  std::vector<float> words(TypeParam::words(chain.particles()));
  chain.fill<TypeParam>(words);
  for (std::uint32_t lane = 0; lane < group_size; ++lane) {
    std::uint32_t group = chain.ring().group_at(0);
    for (std::uint32_t step = 0; step < chain.groups(); ++step) {
      EXPECT_EQ(group, chain.ring().group_at(step));
      const auto bits = read_particle<TypeParam, AllFields>(
          words.data(), std::size_t{group} * group_size + lane, chain.particles());
      const auto posmass = read_particle<TypeParam, Posmass>(
          words.data(), std::size_t{group} * group_size + lane, chain.particles());
      EXPECT_EQ(bits, posmass);
      group = next_group(bits);
    }
    EXPECT_EQ(group, chain.ring().group_at(0));
  }
}

TYPED_TEST(ChainIn, NoticesAnySingleWrongWord) {
  const ParticleChain chain{8, 12};
  std::vector<float> words(TypeParam::words(chain.particles()));
  chain.fill<TypeParam>(words);
  const auto sum = [&] {
    std::uint32_t all = 0;
    for (std::uint32_t step = 0; step < chain.groups(); ++step)
      all += read_group<TypeParam, AllFields>(chain, words, step);
    return all;
  };
  EXPECT_EQ(sum(), chain.ring().checksum(0, 8));
  for (const Field f : {Field::px, Field::vz, Field::mass}) {
    float& word = words[word_of<TypeParam>(f, 77, chain.particles())];
    word += 1;
    EXPECT_NE(sum(), chain.ring().checksum(0, 8));
    word -= 1;
  }
}

TYPED_TEST(ChainIn, NoticesLanesThatReadEachOthersParticles) {
  const ParticleChain chain{8, 13};
  std::vector<float> words(TypeParam::words(chain.particles()));
  chain.fill<TypeParam>(words);
  std::uint32_t right = 0;
  std::uint32_t shifted = 0;
  for (std::uint32_t step = 0; step < chain.groups(); ++step) {
    for (std::uint32_t lane = 0; lane < group_size; ++lane) {
      const auto bits = read_particle<TypeParam, AllFields>(
          words.data(), std::size_t{chain.ring().group_at(step)} * group_size + lane,
          chain.particles());
      right += lane_weight(lane) * bits;
      shifted += lane_weight((lane + 1) % group_size) * bits;
    }
  }
  EXPECT_NE(right, shifted);
}

TEST(ParticleFields, SumExactlyInAnyOrder) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto f = particle_fields(99, i, static_cast<std::uint32_t>(i * 4191) & mantissa_mask);
    const float forward = ((((((f[0] + f[1]) + f[2]) + f[3]) + f[4]) + f[5]) + f[6]);
    const float tree = (f[6] + f[5]) + ((f[4] + f[3]) + ((f[2] + f[1]) + f[0]));
    double exact = 0;
    for (const float one : f)
      exact += double{one};
    EXPECT_EQ(double{forward}, exact);
    EXPECT_EQ(double{tree}, exact);
    EXPECT_EQ(f[3] + f[4] + f[5], 0.0F);
  }
}

TEST(ParticleFields, AreNeverAllZero) {
  // Zeros run faster and hide faults.
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto f = particle_fields(1, i, 0);
    EXPECT_NE(std::abs(f[0]) + std::abs(f[1]) + std::abs(f[2]), 0.0F);
  }
}

TEST(ParticleChain, NamesGroupsUpToTheLargestThatASumCanHold) {
  const ParticleChain chain{max_groups, 5};
  for (const std::size_t i : {std::size_t{0}, chain.particles() / 3, chain.particles() - 1}) {
    EXPECT_LT(chain.target(i), 1U << 23U);
    EXPECT_LT(next_group(chain.target(i)), max_groups);
    EXPECT_EQ(4 * group_in_place(chain.target(i)), next_group(chain.target(i)) * group_size);
  }
}

TYPED_TEST(ChainIn, KnowsItsSumsOneByOneAcrossTheSeamAndOverManyLaps) {
  const ParticleChain chain{16, 21};
  std::vector<float> words(TypeParam::words(chain.particles()));
  chain.fill<TypeParam>(words);
  for (const std::uint32_t start : {0U, 1U, 7U, 15U}) {
    std::uint32_t expected = 0;
    for (std::uint64_t reads = 0; reads < 60; ++reads) {
      EXPECT_EQ(chain.ring().checksum(start, reads), expected) << start << ' ' << reads;
      const auto step = static_cast<std::uint32_t>((start + reads) % 16);
      expected += read_group<TypeParam, AllFields>(chain, words, step);
      EXPECT_EQ((read_group<TypeParam, Posmass>(chain, words, step)),
                (read_group<TypeParam, AllFields>(chain, words, step)));
    }
  }
}

/// Checks a reader that starts at a step of a ring, follows the words, and reads further on.
template <Layout L>
std::uint32_t walk(const ParticleChain& chain, const std::vector<float>& words, const Ring& ring,
                   std::uint32_t start, std::uint32_t reads) {
  std::uint32_t sum = 0;
  std::uint32_t group = ring.group_at(start);
  for (std::uint32_t r = 0; r < reads; ++r) {
    std::uint32_t next = 0;
    for (std::uint32_t lane = 0; lane < group_size; ++lane) {
      const std::size_t i = std::size_t{group + ring.shift()} * group_size + lane;
      const auto bits = read_particle<L, AllFields>(words.data(), i, chain.particles());
      sum += lane_weight(lane) * bits;
      next = next_group(bits);
    }
    group = next;
  }
  return sum;
}

TYPED_TEST(ChainIn, HasRingsForReadersWhoReadFurtherOn) {
  const ParticleChain chain{31, 22, 8};
  EXPECT_EQ(chain.particles(), 39U * group_size);
  std::vector<float> words(TypeParam::words(chain.particles()));
  chain.fill<TypeParam>(words);
  for (std::uint32_t shift = 0; shift <= 8; ++shift) {
    const Ring ring = chain.shifted(shift);
    EXPECT_EQ(ring.shift(), shift);
    for (const std::uint32_t start : {0U, ring.groups() / 2, ring.groups() - 1}) {
      for (const std::uint32_t reads : {1U, ring.groups(), 100U}) {
        EXPECT_EQ(walk<TypeParam>(chain, words, ring, start, reads), ring.checksum(start, reads));
      }
    }
  }
  EXPECT_EQ(chain.shifted(0).groups(), 31U);
}

TEST(ParticleChain, HasNoLongerRingThanTheLongest) {
  const ParticleChain chain{101, 23, 4};
  for (std::uint32_t shift = 1; shift <= 4; ++shift) {
    const Ring ring = chain.shifted(shift);
    std::set<std::uint32_t> met;
    for (std::uint32_t p = 0; p < ring.groups(); ++p)
      met.insert(ring.group_at(p));
    EXPECT_EQ(met.size(), ring.groups()) << "each once";
    // Of every group, how long its way back to itself is: no ring is longer.
    for (std::uint32_t from = 0; from < 101; ++from) {
      std::uint32_t steps = 0;
      std::uint32_t at = from;
      do {
        at = chain.target(std::size_t{(at + shift) % 101} * group_size) >> noise_bits;
        ++steps;
      } while (at != from);
      EXPECT_LE(steps, ring.groups());
    }
  }
}

}  // namespace
}  // namespace strata
