// What do short words and their grouping cost where neighbours are read again and again: Sobel's
// edges? Van den Braak, Mesman and Corporaal (2010) timed it on an image of 1920 × 1080 bytes.
//
// The seed prints no formula. Here an edge is |Gx| + |Gy| of the eight neighbours, at most 255, and
// 0 at the border. A file has each form.
#pragma once

#include "harness/case/benchmark.hpp"
#include "micro/access/image_work.hpp"
#include "micro/pattern/image.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cstdint>
#include <span>

namespace strata::sobel {

[[nodiscard]] Benchmark declare();

/// Every pixel of `to` against the edge of its place in `from`.
void check(const Image& image, std::span<const std::uint8_t> from, std::span<const std::uint8_t> to,
           Tally& tally);

/// What a launch of a form of a GPU asks for.
[[nodiscard]] LaunchTraffic predicted(image_work::Form form, const Image& image);

}  // namespace strata::sobel
