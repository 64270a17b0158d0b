// What do short words and their grouping cost where neighbours are read repeatedly: in Sobel's edge
// detector? Van den Braak, Mesman and Corporaal (2010) timed it on an image of 1920 × 1080 bytes.
//
// The paper prints no formula. Here an edge is |Gx| + |Gy| of the eight neighbours, at most 255,
// and 0 at the border. There is one file per form.
#pragma once

#include "harness/case/benchmark.hpp"
#include "micro/access/image_work.hpp"
#include "micro/pattern/image.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cstdint>
#include <span>

namespace strata::sobel {

[[nodiscard]] Benchmark declare();

/// Compares every pixel of `to` with the edge at its position in `from`.
void check(const Image& image, std::span<const std::uint8_t> from, std::span<const std::uint8_t> to,
           Tally& tally);

/// Requests of a launch of a GPU form.
[[nodiscard]] LaunchTraffic predicted(image_work::Form form, const Image& image);

}  // namespace strata::sobel
