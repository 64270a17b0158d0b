#include "nbody/fstat/pieces.hpp"

#include "harness/model/split_mix.hpp"

#include <algorithm>
#include <cstring>

namespace strata::fstat {
namespace {

constexpr std::size_t alignment = 16;
constexpr std::size_t gap = 16;  // where an allocator keeps its own words

std::size_t taken_by(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment + gap;
}

/// Sizes of all pieces: of each group its table, its spectra; from each sky point and of each group
/// timings, antennas.
std::vector<std::size_t> sizes_of(const Observation& seen) {
  std::vector<std::size_t> sizes;
  for (std::uint32_t group = 0; group < seen.problem.groups(); ++group) {
    const std::size_t count = seen.signals_of(group);
    sizes.push_back(count * sizeof(void*));
    sizes.insert(sizes.end(), count, seen.grid.bins * sizeof(Bin));
  }
  for (std::uint32_t sky = 0; sky < seen.problem.sky; ++sky) {
    for (std::uint32_t group = 0; group < seen.problem.groups(); ++group) {
      sizes.push_back(seen.signals_of(group) * sizeof(Timing));
      sizes.push_back(seen.signals_of(group) * sizeof(Antenna));
    }
  }
  return sizes;
}

/// Takes pieces of the memory, of which it has so many, in an order that chance decides.
class Heap {
 public:
  Heap(const std::vector<std::size_t>& sizes, std::span<std::byte> memory) : memory_{memory} {
    std::vector<std::size_t> order(sizes.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    SplitMix random{sizes.size()};
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
    places_.resize(sizes.size());
    std::size_t at = 0;
    for (const std::size_t piece : order) {
      places_[piece] = at;
      at += taken_by(sizes[piece]);
    }
  }
  /// The next piece, which holds these elements.
  template <class T>
  T* take(std::span<T> elements) {
    std::byte* const at = memory_.data() + places_[next_++];
    return static_cast<T*>(std::memcpy(at, elements.data(), elements.size_bytes()));
  }

 private:
  std::span<std::byte> memory_;
  std::vector<std::size_t> places_;
  std::size_t next_ = 0;
};

}  // namespace

std::size_t Pieces::bytes_of(const Observation& seen) {
  std::size_t all = 0;
  for (const std::size_t size : sizes_of(seen))
    all += taken_by(size);
  return all;
}

Pieces::Pieces(const Observation& seen, std::span<std::byte> memory)
    : tables_{seen.problem.groups()} {
  Heap heap{sizes_of(seen), memory};
  const auto subspan = [&](const auto& all, std::size_t first, std::size_t count) {
    return std::span{all}.subspan(first, count);
  };
  std::vector<const Bin* const*> tables;
  for (std::uint32_t group = 0; group < tables_; ++group) {
    std::vector<const Bin*> spectra(seen.signals_of(group));
    // The table is taken first and filled when its spectra have their places.
    const Bin** const table = heap.take(std::span{spectra});
    for (std::size_t s = 0; s < spectra.size(); ++s) {
      const std::size_t signal = seen.first_signal[group] + s;
      table[s] = heap.take(subspan(seen.spectra, seen.offsets[signal], seen.grid.bins));
    }
    tables.push_back(table);
  }
  for (std::uint32_t sky = 0; sky < seen.problem.sky; ++sky) {
    matrices_.push_back(matrices_of(seen, sky));
    for (std::uint32_t group = 0; group < tables_; ++group) {
      const std::size_t first = std::size_t{sky} * seen.signals() + seen.first_signal[group];
      const std::uint32_t count = seen.signals_of(group);
      groups_.push_back({.spectra = tables[group],
                         .timings = heap.take(subspan(seen.timings, first, count)),
                         .antennas = heap.take(subspan(seen.antennas, first, count)),
                         .count = count});
    }
  }
}

void pack(const Pieces& pieces, const Observation& seen, std::uint32_t sky, const Packed& to) {
  const auto put = [](auto all, std::size_t at, const auto* from, std::size_t count) {
    std::memcpy(static_cast<void*>(all.data() + at), from, count * sizeof *from);
  };
  const auto put_spectra = [&](std::uint32_t group, std::uint32_t signal, const Signals& from) {
    to.first[group] = signal;
    for (std::uint32_t s = 0; s < from.count; ++s) {
      const std::size_t at = std::size_t{signal + s} * seen.grid.bins;
      put(to.bins, at, from.spectra[s], seen.grid.bins);
      to.spectra[signal + s] = to.bins_as_seen + at;
    }
  };
  const bool with_spectra = !to.bins.empty();
  std::uint32_t signal = 0;
  for (std::uint32_t group = 0; group < seen.problem.groups(); ++group) {
    const Signals mine = pieces.of(sky, group);
    put(to.timings, signal, mine.timings, mine.count);
    put(to.antennas, signal, mine.antennas, mine.count);
    if (with_spectra) put_spectra(group, signal, mine);
    signal += mine.count;
  }
  if (with_spectra) to.first[seen.problem.groups()] = signal;
  std::ranges::copy(pieces.matrices(sky), to.matrices.begin());
}

}  // namespace strata::fstat
