// Candidates a vector at a time: all lanes compute a distance, and those within the limit are kept.
// In AVX2 and in AVX-512. Host only.
#pragma once

#include "harness/cpu/floats.hpp"
#include "nbody/neighbours/host/packed_cells.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

namespace strata::neighbours {

#if defined(__x86_64__)
using Eight = Floats<avx2_lanes>;
using Sixteen = Floats<avx512_lanes>;

/// One bit for each lane whose number is below the limit.
[[STRATA_AVX2]] inline std::uint32_t lanes_below(const Eight& numbers, float limit) {
  return static_cast<std::uint32_t>(
      _mm256_movemask_ps(_mm256_cmp_ps(numbers, _mm256_set1_ps(limit), _CMP_LT_OQ)));
}
[[STRATA_AVX512]] inline std::uint32_t lanes_below(const Sixteen& numbers, float limit) {
  return _mm512_cmp_ps_mask(numbers, _mm512_set1_ps(limit), _CMP_LT_OQ);
}

/// For every set of 8 lanes: the lanes of the set in order, then the others.
struct Compression {
  std::array<std::array<std::uint32_t, 8>, 256> lanes{};
};
consteval Compression every_compression() {
  Compression all;
  for (std::uint32_t set = 0; set < all.lanes.size(); ++set) {
    std::size_t at = 0;
    for (std::uint32_t lane = 0; lane < 8; ++lane) {
      if ((set >> lane & 1U) != 0) all.lanes[set][at++] = lane;
    }
  }
  return all;
}
inline constexpr Compression compression = every_compression();

[[STRATA_AVX2]] inline __m256i eight_numbers(const std::uint32_t* from) {
  __m256i numbers{};
  std::memcpy(&numbers, from, sizeof numbers);
  return numbers;
}
/// Compacts the numbers of the lanes in `set`; a whole vector may be overwritten.
[[STRATA_AVX2]] inline void compress(std::uint32_t* to, const std::uint32_t* from,
                                     std::uint32_t set, const Eight& /*lanes*/) {
  const __m256i in_order = _mm256_permutevar8x32_epi32(
      eight_numbers(from), eight_numbers(compression.lanes[set].data()));
  std::memcpy(to, &in_order, sizeof in_order);
}
[[STRATA_AVX512]] inline void compress(std::uint32_t* to, const std::uint32_t* from,
                                       std::uint32_t set, const Sixteen& /*lanes*/) {
  const __m512i all = _mm512_loadu_si512(from);
  _mm512_mask_compressstoreu_epi32(to, static_cast<__mmask16>(set), all);
}
#endif

/// Tests the candidates from `first` up to `last`, which are contiguous; the agent itself, at
/// `self`, may be among them. All have ids.
template <unsigned lanes, class Collector>
[[STRATA_INLINE]] inline void test_vectors(const Candidates& all, std::size_t first,
                                           std::size_t last, std::size_t self,
                                           const Vector<float>& me, Collector& collector,
                                           Work& work) {
  using V = Floats<lanes>;
  [[maybe_unused]] std::uint32_t* begin = nullptr;
  [[maybe_unused]] std::uint32_t* to = nullptr;
  if constexpr (std::is_same_v<Collector, Listing>) to = begin = collector.room(last - first);
  for (std::size_t j = first; j < last; j += lanes) {
    const std::size_t here = last - j < lanes ? last - j : lanes;
    const V dx = load<lanes>(all.x + j) - me.x;
    const V dy = load<lanes>(all.y + j) - me.y;
    const V dz = load<lanes>(all.z + j) - me.z;
    const V squared = dx * dx + (dy * dy + dz * dz);
    work.tests += here;
    work.lanes += lanes;
    std::uint32_t found = lanes_below(squared, collector.limit());
    if (here < lanes) found &= (1U << here) - 1;
    if (self - j < lanes) found &= ~(1U << (self - j));
    if constexpr (std::is_same_v<Collector, Listing>) {
      compress(to, all.ids + j, found, squared);
      to += std::popcount(found);
    } else {
      for (; found != 0; found &= found - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(found));
        if (!(squared[lane] < collector.limit())) continue;  // which may have decreased
        collector.take(all.ids[j + lane], squared[lane], {dx[lane], dy[lane], dz[lane]});
      }
    }
  }
  if constexpr (std::is_same_v<Collector, Listing>) {
    collector.keep(static_cast<std::size_t>(to - begin));
  }
}

/// The same for all rows of cells within reach of the agent at position `at`.
struct VectorRows {
  template <unsigned lanes, class Collector>
  [[STRATA_INLINE]] static void search(const PackedCells& packed, const Candidates& all,
                                       std::size_t at, Collector& collector, Work& work) {
    const Vector<float> me = packed.place(at);
    Rows rows{packed.cells(), me};
    for (std::uint32_t first = 0, last = 0; rows.next(first, last);) {
      const auto [from, to] = packed.run(first, last);
      test_vectors<lanes>(all, from, to, at, me, collector, work);
    }
  }
};

/// One of three functions, selected by the collector.
template <template <class> class Kernel, class... Arguments>
struct ForEachCollector {
  template <class Collector>
  using Function = void (*)(Arguments..., Collector&, Work&);
  template <class Collector>
  [[nodiscard]] static Function<Collector> of(Vectors have) {
    return kernel_for<Kernel<Collector>, Arguments..., Collector&, Work&>(have);
  }

  explicit ForEachCollector(Vectors have)
      : boids_{of<Nearest>(have)}, circles_{of<Pushing>(have)}, list_{of<Listing>(have)} {}

  void operator()(Arguments... arguments, Nearest& collector, Work& work) const {
    boids_(arguments..., collector, work);
  }
  void operator()(Arguments... arguments, Pushing& collector, Work& work) const {
    circles_(arguments..., collector, work);
  }
  void operator()(Arguments... arguments, Listing& collector, Work& work) const {
    list_(arguments..., collector, work);
  }

 private:
  Function<Nearest> boids_;
  Function<Pushing> circles_;
  Function<Listing> list_;
};

}  // namespace strata::neighbours
