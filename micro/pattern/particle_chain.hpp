// Particles whose fields determine the particles to read next, in groups of 32, one for each lane
// of a warp. The sum of a particle's fields encodes the number of the next group, so no read can
// begin before all fields of the previous one have arrived, and a wrong word changes the sums. All
// fields are integers small enough that every partial sum is exact in single precision: device and
// host must agree to the last bit, in whatever order they add.
#pragma once

#include "harness/base/in_parallel.hpp"
#include "harness/model/layout.hpp"
#include "micro/pattern/random_cycle.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace strata {

inline constexpr std::uint32_t group_size = 32;  ///< particles in a group: the lanes of a warp
inline constexpr std::uint32_t noise_bits = 3;  ///< low bits of a sum that differ from lane to lane
inline constexpr std::uint32_t max_groups = 1U << 20U;  ///< 20 bits + 3 bits of noise = 23 bits

/// Adding 2^23 to an integer below 2^23 puts it into the low mantissa bits of the float.
inline constexpr float mantissa_bias = 8388608.0F;
inline constexpr std::uint32_t mantissa_mask = 0x7FFFFF;

/// The group to read next, from the bits of (sum of fields + mantissa_bias).
STRATA_HD constexpr std::uint32_t next_group(std::uint32_t biased_bits) {
  return (biased_bits & mantissa_mask) >> noise_bits;
}

/// The same without the shift: a quarter of the number of the group's first particle.
static_assert(group_size >> noise_bits == 4);
STRATA_HD constexpr std::uint32_t group_in_place(std::uint32_t biased_bits) {
  return biased_bits & (mantissa_mask >> noise_bits << noise_bits);
}

/// Weight of a lane in a warp's checksum: odd, so that no bit of a lane's sum is lost, and
/// different for each lane, so that lanes that read each other's particles are detected.
STRATA_HD constexpr std::uint32_t lane_weight(std::uint32_t lane) {
  return (2 * lane + 1) * 0x9E3779B1U;
}

/// Fields of particle `i` of a chain, in the order of Field. `target` is their sum; the
/// velocities sum to 0 on their own, so that all seven and position + mass give the same sum.
constexpr std::array<float, field_count> particle_fields(std::uint64_t seed, std::uint64_t i,
                                                         std::uint32_t target) {
  SplitMix random{seed ^ (i * 0xD1342543DE82EF95U)};
  const auto draw = [&] { return static_cast<std::int32_t>(random.below(1U << 20U)) - (1 << 19); };
  const auto px = draw();
  const auto py = draw();
  const auto pz = draw();
  const auto vx = draw();
  const auto vy = draw();
  const auto mass = static_cast<std::int32_t>(target) - px - py - pz;
  const auto f = [](std::int32_t v) { return static_cast<float>(v); };
  return {f(px), f(py), f(pz), f(vx), f(vy), f(-vx - vy), f(mass)};
}

/// The sum of the fields of particle `i` of a chain: the number of the group that follows its own,
/// and noise; below 2^23.
constexpr std::uint32_t particle_target(std::uint64_t seed, std::uint64_t i, std::uint32_t next) {
  SplitMix random{~seed ^ i};
  return (next << noise_bits) | static_cast<std::uint32_t>(random.next() >> (64 - noise_bits));
}

/// Writes particle `i` of `n` into `words` in layout L: of the groups whose successors are `next`,
/// or, after them, a copy of the first ones. Padding gets other integers, so that a reader that
/// mistakes it for a field is detected.
template <Layout L>
STRATA_HD void write_particle(float* words, std::size_t i, std::size_t n, const std::uint32_t* next,
                              std::uint32_t groups, std::uint64_t seed) {
  const std::size_t copied = i % (std::size_t{groups} * group_size);
  const auto fields =
      particle_fields(seed, copied, particle_target(seed, copied, next[copied / group_size]));
  [&]<std::size_t... r>(std::index_sequence<r...>) {
    const auto write = [&]<std::size_t read>() {
      constexpr Read one = L::reads[read];
      float* const first = words + L::first_word(read, i, n);
      for (unsigned w = 0; w < one.words; ++w) {
        const int f = one.fields[w];
        first[w] =
            f == padding ? static_cast<float>(1 + i % 1021) : fields[static_cast<std::size_t>(f)];
      }
    };
    (write.template operator()<r>(), ...);
  }
  (std::make_index_sequence<L::reads.size()>{});
}

/// The cycle of groups that a reader visits, and the checksums that it must find.
class Ring {
 public:
  /// The data name the groups of `order` one after the other, and the reader reads `shift` groups
  /// after each named one. `sums`: the checksum of every group.
  Ring(std::vector<std::uint32_t> order, std::uint32_t shift, std::span<const std::uint32_t> sums)
      : order_{std::move(order)}, shift_{shift}, before_(order_.size() + 1) {
    for (std::size_t p = 0; p < order_.size(); ++p)
      before_[p + 1] = before_[p] + sums[(order_[p] + shift) % sums.size()];
  }

  [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(order_.size()); }
  [[nodiscard]] std::uint32_t shift() const { return shift_; }
  /// The group named at step `position`, which is below groups().
  [[nodiscard]] std::uint32_t group_at(std::uint32_t position) const { return order_[position]; }

  /// Checksum of `reads` groups from step `start` on: the sum over lanes of the bits of (sum of
  /// fields + mantissa_bias) × the lane's weight, modulo 2^32. In constant time.
  [[nodiscard]] std::uint32_t checksum(std::uint32_t start, std::uint64_t reads) const {
    const std::uint64_t laps = reads / groups();
    const std::uint64_t end = start + reads % groups();
    const std::uint32_t sum = static_cast<std::uint32_t>(laps) * before_.back() - before_[start];
    return end <= groups() ? sum + before_[end] : sum + before_.back() + before_[end - groups()];
  }

 private:
  std::vector<std::uint32_t> order_;
  std::uint32_t shift_;
  std::vector<std::uint32_t> before_;  ///< before_[p]: checksum of the groups at steps 0 … p−1
};

/// A cycle over `groups` groups of particles and what a reader must find on it. In memory, `spare`
/// more groups follow, copies of the first ones, for readers with a shift.
class ParticleChain {
 public:
  ParticleChain(std::uint32_t groups, std::uint64_t seed, std::uint32_t spare = 0)
      : seed_{seed}, spare_{spare}, next_(groups), sums_(groups) {
    std::vector<std::uint32_t> order = random_order(groups, seed);
    next_ = successors(order);
    in_parallel(groups, [&](std::size_t begin, std::size_t end) {
      for (std::size_t group = begin; group < end; ++group) {
        for (std::uint32_t lane = 0; lane < group_size; ++lane) {
          const float biased =
              static_cast<float>(target(group * group_size + lane)) + mantissa_bias;
          sums_[group] += lane_weight(lane) * std::bit_cast<std::uint32_t>(biased);
        }
      }
    });
    ring_.emplace(std::move(order), 0, sums_);
  }

  [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(next_.size()); }
  /// Particles in memory, including the spare groups.
  [[nodiscard]] std::size_t particles() const {
    return (std::size_t{groups()} + spare_) * group_size;
  }
  /// The group that follows each one, and the seed of all else: what write_particle() takes.
  [[nodiscard]] const std::vector<std::uint32_t>& next() const { return next_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// All groups, in the order of the chain.
  [[nodiscard]] const Ring& ring() const { return *ring_; }
  /// The longest ring of a reader that reads `shift` groups after the named one; shift is at most
  /// `spare`. Readers with different shifts visit the groups in unrelated orders, so two that meet
  /// at a group part again.
  [[nodiscard]] Ring shifted(std::uint32_t shift) const {
    std::vector<bool> met(groups());
    std::vector<std::uint32_t> longest;
    for (std::uint32_t first = 0; first < groups(); ++first) {
      std::vector<std::uint32_t> order;
      for (std::uint32_t at = first; !met[at]; at = next_[(at + shift) % groups()]) {
        met[at] = true;
        order.push_back(at);
      }
      if (order.size() > longest.size()) longest = std::move(order);
    }
    return {std::move(longest), shift, sums_};
  }

  /// particle_target() of particle `i`.
  [[nodiscard]] std::uint32_t target(std::size_t i) const {
    return particle_target(seed_, i, next_[i / group_size]);
  }

  /// Writes every particle into `words` (L::words(particles()) of them) in layout L.
  template <Layout L>
  void fill(std::span<float> words) const {
    const std::size_t n = particles();
    in_parallel(n, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        write_particle<L>(words.data(), i, n, next_.data(), groups(), seed_);
    });
  }

 private:
  std::uint64_t seed_;
  std::uint32_t spare_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> sums_;  ///< the checksum of each group
  std::optional<Ring> ring_;
};

}  // namespace strata
