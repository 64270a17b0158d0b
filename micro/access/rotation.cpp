#include "micro/access/rotation.hpp"

#include "harness/cpu/widest.hpp"
#include "micro/access/mended_forms.hpp"
#include "micro/access/rotation_best.hpp"
#include "micro/access/rotation_original.hpp"
#include "micro/access/rotation_seed_tool.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

namespace strata::rotation {
namespace {

/// Some rows and the destinations of their pixels.
struct Job {
  image_work::Rows rows;
  Rotation rotation;
};

template <Way way>
[[gnu::always_inline]] inline void move_pixel(const image_work::Rows& rows, std::uint64_t here,
                                              std::uint64_t there, bool is_within) {
  if constexpr (way == Way::forward) {
    // Another core may move a pixel to the same place.
    if (is_within)
      std::atomic_ref{rows.to[there]}.store(rows.from[here], std::memory_order_relaxed);
  } else {
    rows.to[here] = is_within ? rows.from[there] : std::uint8_t{0};
  }
}

template <Way way>
void by_pixel(const Job& job) {
  const Image& image = job.rows.image;
  for (std::uint32_t y = job.rows.first; y < job.rows.last; ++y) {
    for (std::uint32_t x = 0; x < image.width; ++x) {
      const Spot spot = job.rotation.of(x, y);
      move_pixel<way>(job.rows, image.at(x, y), image.at(spot.x, spot.y), within(image, spot));
    }
  }
}

/// As many positions at once as a vector has lanes; bytes still move one by one.
template <Way way, std::uint32_t lanes>
[[gnu::always_inline]] inline int by_vectors(const Job& job) {
  using Numbers = VectorOf<std::int32_t, lanes>;
  const Image& image = job.rows.image;
  const Rotation& rotation = job.rotation;
  Numbers across{};
  Numbers down{};
  for (std::uint32_t i = 0; i < lanes; ++i) {
    across[i] = static_cast<std::int32_t>(i) * rotation.cosine;
    down[i] = static_cast<std::int32_t>(i) * rotation.sine;
  }
  for (std::uint32_t y = job.rows.first; y < job.rows.last; ++y) {
    for (std::uint32_t x = 0; x < image.width; x += lanes) {
      // Positions of a row before the shift, which do not wrap around.
      const auto c = static_cast<std::uint32_t>(rotation.cosine);
      const auto s = static_cast<std::uint32_t>(rotation.sine);
      const std::uint32_t from_x = c * x - s * y + static_cast<std::uint32_t>(rotation.from_x);
      const std::uint32_t from_y = s * x + c * y + static_cast<std::uint32_t>(rotation.from_y);
      const Numbers to_x = (across + static_cast<std::int32_t>(from_x)) >> 16;
      const Numbers to_y = (down + static_cast<std::int32_t>(from_y)) >> 16;
#pragma GCC unroll 16
      for (std::uint32_t i = 0; i < lanes; ++i) {
        const Spot spot{static_cast<std::uint32_t>(to_x[i]), static_cast<std::uint32_t>(to_y[i])};
        move_pixel<way>(job.rows, image.at(x + i, y), image.at(spot.x, spot.y),
                        within(image, spot));
      }
    }
  }
  return 0;
}

/// For `forward`: which positions some pixel goes to, and which hold such a pixel.
class Arrivals {
 public:
  Arrivals(const Turn& turn, std::span<const std::uint8_t> from, std::span<const std::uint8_t> to)
      : seen_(turn.image.bytes()) {
    Tally unused;
    image_work::check_each(turn.image, unused, [&](std::uint32_t x, std::uint32_t y) {
      const Spot spot = turn.rotation.of(x, y);
      if (!within(turn.image, spot)) return true;
      const std::uint64_t there = turn.image.at(spot.x, spot.y);
      const bool right = to[there] == from[turn.image.at(x, y)];
      std::atomic_ref{seen_[there]}.fetch_or(right ? reached | matched : reached,
                                             std::memory_order_relaxed);
      return true;
    });
  }
  [[nodiscard]] bool allows(std::uint64_t at, std::uint8_t value) const {
    return seen_[at] == 0 ? value == image_work::poison : (seen_[at] & matched) != 0;
  }

 private:
  static constexpr std::uint8_t reached = 1;
  static constexpr std::uint8_t matched = 2;
  std::vector<std::uint8_t> seen_;
};

}  // namespace

Turn turn_of(Way way, const Image& image, const Params& params) {
  return turn_by(way, image, number_of<std::uint32_t>(params, "angle"));
}

LaunchTraffic predicted(Way way, image_work::Form form, const Turn& turn) {
  const auto of = [&]<class Kernel>() {
    return traffic_of(Kernel::tiling, turn.image.width, turn.image.height,
                      [&](LaneTrace& trace, std::uint32_t x, std::uint32_t y) {
                        Kernel::body(trace, turn, x, y);
                      });
  };
  const auto of_way = [&]<Way which>() {
    if (form == image_work::Form::original) return of.template operator()<Original<which>>();
    if (form == image_work::Form::seed_tool) return of.template operator()<SeedTool<which>>();
    if (form == image_work::Form::mended) return of.template operator()<Mended<which>>();
    return of.template operator()<Best<which>>();
  };
  return way == Way::forward ? of_way.template operator()<Way::forward>()
                             : of_way.template operator()<Way::backward>();
}

image_work::Check check_of(Way way, std::uint32_t degrees) {
  return [way, degrees](const Image& image, std::span<const std::uint8_t> from,
                        std::span<const std::uint8_t> to, Tally& tally) {
    const Turn turn = turn_by(way, image, degrees);
    if (way == Way::forward) {
      const Arrivals arrivals{turn, from, to};
      image_work::check_each(image, tally, [&](std::uint32_t x, std::uint32_t y) {
        return arrivals.allows(image.at(x, y), to[image.at(x, y)]);
      });
      return;
    }
    image_work::check_each(image, tally, [&](std::uint32_t x, std::uint32_t y) {
      const Spot spot = turn.rotation.of(x, y);
      const bool is_within = within(image, spot);
      return to[image.at(x, y)] == (is_within ? from[image.at(spot.x, spot.y)] : 0);
    });
  };
}

Experiment describe(Way way, const Params& params, const GpuFacts& gpu) {
  const Image image = image_work::image_of(params, gpu.l2_bytes);
  return image_work::describe(
      image, predicted(way, image_work::kernel_form(params), turn_of(way, image, params)));
}

void run_on_cpu(Way way, Session& session) {
  const auto degrees = number_of<std::uint32_t>(session.params(), "angle");
  const bool scalar = session.param("form") == "scalar";
  const auto of = []<Way which>() {
    return widest<by_vectors<which, 16>, by_vectors<which, 8>, by_vectors<which, 4>>();
  };
  const auto wide = way == Way::forward ? of.template operator()<Way::forward>()
                                        : of.template operator()<Way::backward>();
  const auto plain = way == Way::forward ? by_pixel<Way::forward> : by_pixel<Way::backward>;
  const auto work = [&](const image_work::Rows& rows) {
    const Job job{rows, rotation_by(rows.image, degrees, way == Way::backward)};
    if (scalar) {
      plain(job);
    } else {
      (void)wide.run(job);
    }
  };
  image_work::measure_on_cpu(session, work, scalar ? "scalar" : wide.instructions,
                             check_of(way, degrees));
}

}  // namespace strata::rotation
