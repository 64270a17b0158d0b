// Samples of a case are taken at several places in device memory, in turn. The placement of data
// decides how evenly they fall on the slices of L2: an H200 showed up to 7 % between two runs whose
// arrays had different addresses, though neither run could see it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace strata {

class SamplePlaces {
 public:
  static constexpr std::uint64_t most = 16;

  /// As many as fit into `room` bytes, of `bytes` each, rounded up to whole pages.
  explicit constexpr SamplePlaces(std::uint64_t bytes, std::uint64_t room = ~std::uint64_t{0})
      : bytes_{(bytes + page - 1) / page * page},
        count_{std::clamp<std::uint64_t>(room / bytes_, 1, most)} {}

  [[nodiscard]] constexpr std::uint64_t bytes() const { return bytes_; }
  /// Offset from the first place to that of this sample.
  [[nodiscard]] constexpr std::uint64_t offset() const { return now_ * bytes_; }
  constexpr void next() { now_ = (now_ + 1) % count_; }

 private:
  static constexpr std::uint64_t page = std::uint64_t{2} << 20U;
  std::uint64_t bytes_;
  std::uint64_t count_;
  std::uint64_t now_ = 0;
};

}  // namespace strata
