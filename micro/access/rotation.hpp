// What do short words and their grouping cost if one side of a copy is rotated?
//
// Two ways, as in van den Braak, Mesman and Corporaal (2010). Forward: each pixel is read once and
// written to its target, so that some positions are written twice and some never. Backward: each
// position is written once, with its source pixel, or with 0. The paper prints no formula: here
// images are rotated about their centre, to the nearest pixel, with fixed-point numbers of 1/65536.
//
// There is one file per form, for both ways.
#pragma once

#include "harness/case/benchmark.hpp"
#include "micro/access/image_work.hpp"
#include "micro/pattern/image.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cstdint>
#include <span>

namespace strata {
namespace rotation {

enum class Way : std::uint8_t { forward, backward };

/// Arguments of a kernel.
struct Turn {
  Image image;
  Rotation rotation;  ///< backward: the inverse rotation
};
[[nodiscard]] constexpr Turn turn_by(Way way, const Image& image, std::uint32_t degrees) {
  return {image, rotation_by(image, degrees, way == Way::backward)};
}
[[nodiscard]] Turn turn_of(Way way, const Image& image, const Params& params);

/// Each of `count` pixels of a thread, the first at (x, y) and the next ones `step` further right:
/// all loads, then all stores. Pixels that would leave the image are not loaded: a compiler would
/// place the only load of a thread after that test anyway.
template <Way way, unsigned count, class Memory>
STRATA_HD void turn_pixels(Memory& memory, const Turn& turn, std::uint32_t x, std::uint32_t y,
                           std::uint32_t step) {
  std::uint32_t pixels[count] = {};
  Spot spots[count];
  STRATA_UNROLLED
  for (unsigned i = 0; i < count; ++i) {
    spots[i] = turn.rotation.of(x + i * step, y);
    if (!within(turn.image, spots[i])) continue;
    const bool forward = way == Way::forward;
    memory.template load<1>(
        i, pixels + i,
        forward ? turn.image.at(x + i * step, y) : turn.image.at(spots[i].x, spots[i].y));
  }
  STRATA_UNROLLED
  for (unsigned i = 0; i < count; ++i) {
    if constexpr (way == Way::backward) {
      memory.template store<1>(i, turn.image.at(x + i * step, y), pixels + i);
    } else if (within(turn.image, spots[i])) {
      memory.template store<1>(i, turn.image.at(spots[i].x, spots[i].y), pixels + i);
    }
  }
}

/// Requests of a launch of a GPU form.
[[nodiscard]] LaunchTraffic predicted(Way way, image_work::Form form, const Turn& turn);

/// Forward: every position of `to` that some pixel of `from` maps to holds one of these, any other
/// holds poison. Backward: every position holds its source pixel, or 0.
[[nodiscard]] image_work::Check check_of(Way way, std::uint32_t degrees);

/// A case on a GPU.
[[nodiscard]] Experiment describe(Way way, const Params& params, const GpuFacts& gpu);
/// A case on a CPU.
void run_on_cpu(Way way, Session& session);

}  // namespace rotation

namespace rotation_forward {
[[nodiscard]] Benchmark declare();
}
namespace rotation_backward {
[[nodiscard]] Benchmark declare();
}

}  // namespace strata
