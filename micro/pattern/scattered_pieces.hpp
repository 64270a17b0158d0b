// A payload in host memory as many small separate pieces, and as one contiguous piece on the
// device: Breitbart's data structure before he packed it. Pieces are in random order with a cache
// line between them, so that neither driver nor cache can merge two.
#pragma once

#include "micro/pattern/random_cycle.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace strata {

class ScatteredPieces {
 public:
  /// Words between two pieces, on the host: a line of 64 bytes.
  static constexpr std::size_t gap_words = 16;

  /// `words` of payload in `count` pieces of the same size; a single piece has no gap. Throws
  /// std::invalid_argument if `count` does not divide `words`.
  ScatteredPieces(std::size_t words, std::uint32_t count)
      : slots_{random_order(count, /*seed=*/11)}, piece_words_{count == 0 ? 0 : words / count} {
    if (count == 0 || words == 0 || words % count != 0) {
      throw std::invalid_argument{"a payload in pieces needs whole words in each of them"};
    }
    pitch_words_ = count == 1 ? piece_words_ : piece_words_ + gap_words;
  }

  [[nodiscard]] std::size_t count() const { return slots_.size(); }
  [[nodiscard]] std::size_t piece_words() const { return piece_words_; }
  [[nodiscard]] std::size_t piece_bytes() const { return piece_words_ * sizeof(std::uint32_t); }
  /// Words of the payload, and of the host memory that it is scattered over.
  [[nodiscard]] std::size_t words() const { return piece_words_ * count(); }
  [[nodiscard]] std::size_t host_words() const { return pitch_words_ * count(); }
  /// Where piece `piece` begins, in words: in the packed payload, and in host memory.
  [[nodiscard]] std::size_t packed_at(std::size_t piece) const { return piece * piece_words_; }
  [[nodiscard]] std::size_t host_at(std::size_t piece) const {
    return slots_[piece] * pitch_words_;
  }

  /// Packs the pieces. Throws std::length_error for spans of other sizes.
  void gather(std::span<const std::uint32_t> host, std::span<std::uint32_t> packed) const {
    for_each(host, packed, [](auto there, auto here) {
      std::ranges::copy(there.first(here.size()), here.begin());
    });
  }
  /// Unpacks; the gaps stay unchanged.
  void scatter(std::span<const std::uint32_t> packed, std::span<std::uint32_t> host) const {
    for_each(host, packed, [](auto there, auto here) { std::ranges::copy(here, there.begin()); });
  }
  /// Wrong words of host memory: the pieces must equal those of `packed`, the gaps `gap`.
  [[nodiscard]] std::size_t different(std::span<const std::uint32_t> host,
                                      std::span<const std::uint32_t> packed,
                                      std::uint32_t gap) const {
    std::size_t wrong = 0;
    for_each(host, packed, [&](auto there, auto here) {
      if (!std::ranges::equal(there.first(here.size()), here)) {
        wrong += std::transform_reduce(here.begin(), here.end(), there.begin(), std::size_t{0},
                                       std::plus{}, std::not_equal_to{});
      }
      const auto behind = there.subspan(here.size());
      wrong += behind.size() - static_cast<std::size_t>(std::ranges::count(behind, gap));
    });
    return wrong;
  }

 private:
  /// Calls use(there, here) for each piece: its place on the host, including its gap, and in the
  /// packed payload.
  template <class Host, class Packed, class Use>
  void for_each(std::span<Host> host, std::span<Packed> packed, const Use& use) const {
    if (host.size() != host_words() || packed.size() != words()) {
      throw std::length_error{"pieces of a payload of another size"};
    }
    for (std::size_t p = 0; p < count(); ++p)
      use(host.subspan(host_at(p), pitch_words_), packed.subspan(packed_at(p), piece_words_));
  }

  std::vector<std::uint32_t> slots_;
  std::size_t piece_words_ = 0;
  std::size_t pitch_words_ = 0;
};

}  // namespace strata
