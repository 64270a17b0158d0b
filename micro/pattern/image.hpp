// Grey images in which each byte follows from its position, and the operations on them, shared by
// kernels, host code and references: Sobel's edges, and rotation in 16.16 fixed point.
#pragma once

#include "harness/model/layout.hpp"
#include "harness/model/word_patterns.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace strata {

/// Rows of bytes, one after the other.
struct Image {
  std::uint32_t width = 0;  ///< a multiple of the sector and of the pixels of a thread
  std::uint32_t height = 0;

  [[nodiscard]] STRATA_HD constexpr std::uint64_t bytes() const {
    return std::uint64_t{width} * height;
  }
  [[nodiscard]] STRATA_HD constexpr std::uint64_t at(std::uint32_t x, std::uint32_t y) const {
    return std::uint64_t{y} * width + x;
  }
  bool operator==(const Image&) const = default;
};

/// The size in van den Braak, Mesman and Corporaal (2010).
inline constexpr Image seed_image{.width = 1920, .height = 1080};

/// The smallest square image with more than `bytes` bytes, its side a multiple of 512. Throws
/// std::invalid_argument if rotated positions would not fit into 16 signed bits.
[[nodiscard]] constexpr Image square_beyond(std::uint64_t bytes) {
  constexpr std::uint32_t step = 512;
  constexpr std::uint32_t most = 26'624;  // (1 + √2) / 2 of it is less than 2^15
  Image image{.width = step, .height = step};
  while (image.bytes() <= bytes && image.width < most)
    image.height = image.width += step;
  if (image.bytes() <= bytes) throw std::invalid_argument{"no such image has 16-bit places"};
  return image;
}

/// Byte `at` of an image: that byte of the sequence of hashed words.
[[nodiscard]] constexpr std::uint8_t pixel(std::uint64_t at) {
  return static_cast<std::uint8_t>(hashed_element(static_cast<std::uint32_t>(at), 1));
}

/// |Gx| + |Gy| of the eight neighbours a b c / d . e / f g h, at most 255.
[[nodiscard]] STRATA_HD constexpr std::uint32_t edge_of(int a, int b, int c, int d, int e, int f,
                                                        int g, int h) {
  const int gx = (c + 2 * e + h) - (a + 2 * d + f);
  const int gy = (f + 2 * g + h) - (a + 2 * b + c);
  const int sum = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
  return sum < 255 ? static_cast<std::uint32_t>(sum) : 255U;
}

/// Whether a pixel has eight neighbours. The edge of all others is 0.
[[nodiscard]] STRATA_HD constexpr bool inside(const Image& image, std::uint32_t x,
                                              std::uint32_t y) {
  return x > 0 && y > 0 && x + 1 < image.width && y + 1 < image.height;
}

/// The edge of one pixel of an image in memory.
[[nodiscard]] constexpr std::uint32_t edge_at(const std::uint8_t* from, const Image& image,
                                              std::uint32_t x, std::uint32_t y) {
  if (!inside(image, x, y)) return 0;
  const std::uint8_t* const here = from + image.at(x, y);
  const std::uint8_t* const above = here - image.width;
  const std::uint8_t* const below = here + image.width;
  return edge_of(above[-1], above[0], above[1], here[-1], here[1], below[-1], below[0], below[1]);
}

/// A position in an image; outside it if x or y is not less than the width or height.
struct Spot {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  bool operator==(const Spot&) const = default;
};
[[nodiscard]] STRATA_HD constexpr bool within(const Image& image, const Spot& spot) {
  return spot.x < image.width && spot.y < image.height;
}

/// A rotation about the centre of an image, to the nearest pixel, in 16.16 fixed point.
struct Rotation {
  std::int32_t cosine = 65536;
  std::int32_t sine = 0;
  std::int32_t from_x = 0;  ///< the destination of pixel (0, 0), plus half a pixel
  std::int32_t from_y = 0;

  /// The destination of pixel (x, y). Intermediate sums may wrap around; the result is right for
  /// squares from square_beyond() and for any smaller image.
  [[nodiscard]] STRATA_HD constexpr Spot of(std::uint32_t x, std::uint32_t y) const {
    const auto c = static_cast<std::uint32_t>(cosine);
    const auto s = static_cast<std::uint32_t>(sine);
    const auto to_x = static_cast<std::int32_t>(c * x - s * y + static_cast<std::uint32_t>(from_x));
    const auto to_y = static_cast<std::int32_t>(s * x + c * y + static_cast<std::uint32_t>(from_y));
    // Arithmetic shift: positions left of the image, or above it, become very large.
    return {static_cast<std::uint32_t>(to_x >> 16), static_cast<std::uint32_t>(to_y >> 16)};
  }
};

/// An angle in degrees, and its cosine and sine × 65536, rounded.
struct Angle {
  std::uint32_t degrees;
  std::int32_t cosine;
  std::int32_t sine;
};
inline constexpr std::array<Angle, 5> angles{
    {{0, 65536, 0}, {15, 63303, 16962}, {30, 56756, 32768}, {45, 46341, 46341}, {90, 0, 65536}}};

/// The rotation of an image by one of `angles`, or its inverse. Throws std::invalid_argument for
/// another angle.
[[nodiscard]] constexpr Rotation rotation_by(const Image& image, std::uint32_t degrees, bool back) {
  const auto* const angle = std::ranges::find(angles, degrees, &Angle::degrees);
  if (angle == angles.end()) throw std::invalid_argument{"no such angle"};
  const std::int64_t c = angle->cosine;
  const std::int64_t s = back ? -angle->sine : angle->sine;
  const std::int64_t w = std::int64_t{image.width} - 1;
  const std::int64_t h = std::int64_t{image.height} - 1;
  // The centre, (w ÷ 2, h ÷ 2), is fixed; half a pixel is added for rounding to the nearest.
  const std::int64_t from_x = (w * 65536 - c * w + s * h + 65536) >> 1;
  const std::int64_t from_y = (h * 65536 - s * w - c * h + 65536) >> 1;
  return {.cosine = static_cast<std::int32_t>(c),
          .sine = static_cast<std::int32_t>(s),
          .from_x = static_cast<std::int32_t>(from_x),
          .from_y = static_cast<std::int32_t>(from_y)};
}

}  // namespace strata
