#include "micro/access/sobel.hpp"

#include "harness/cpu/widest.hpp"
#include "micro/access/mended_forms.hpp"
#include "micro/access/sobel_best.hpp"
#include "micro/access/sobel_original.hpp"
#include "micro/access/sobel_seed_tool.hpp"

#include <cstring>

namespace strata::sobel {
namespace {

void by_pixel(const image_work::Rows& rows) {
  for (std::uint32_t y = rows.first; y < rows.last; ++y) {
    for (std::uint32_t x = 0; x < rows.image.width; ++x) {
      const std::uint32_t edge = edge_at(rows.from, rows.image, x, y);
      rows.to[rows.image.at(x, y)] = static_cast<std::uint8_t>(edge);
    }
  }
}

/// As many pixels of a row at once as a vector holds 16-bit numbers; the last vector of a row
/// overlaps the one before.
template <std::uint32_t lanes>
[[gnu::always_inline]] inline int by_vectors(const image_work::Rows& rows) {
  using Bytes = VectorOf<std::uint8_t, lanes>;
  using Numbers = VectorOf<std::int16_t, lanes>;
  const Image& image = rows.image;
  for (std::uint32_t y = rows.first; y < rows.last; ++y) {
    std::uint8_t* const to = rows.to + image.at(0, y);
    if (y == 0 || y + 1 == image.height) {
      std::memset(to, 0, image.width);
      continue;
    }
    for (std::uint32_t at = 1; at + 1 < image.width; at += lanes) {
      const std::uint32_t x = at + lanes < image.width ? at : image.width - 1 - lanes;
      const std::uint8_t* const here = rows.from + image.at(x, y);
      Numbers p[3][3];
#pragma GCC unroll 9
      for (unsigned i = 0; i < 9; ++i) {
        Bytes bytes;
        std::memcpy(&bytes, here - image.width - 1 + i / 3 * std::size_t{image.width} + i % 3,
                    sizeof bytes);
        p[i / 3][i % 3] = __builtin_convertvector(bytes, Numbers);
      }
      const Numbers gx = (p[0][2] + 2 * p[1][2] + p[2][2]) - (p[0][0] + 2 * p[1][0] + p[2][0]);
      const Numbers gy = (p[2][0] + 2 * p[2][1] + p[2][2]) - (p[0][0] + 2 * p[0][1] + p[0][2]);
      const Numbers sum = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
      const Numbers most = Numbers{} + 255;
      const Bytes edges = __builtin_convertvector(sum < most ? sum : most, Bytes);
      std::memcpy(to + x, &edges, sizeof edges);
    }
    to[0] = to[image.width - 1] = 0;
  }
  return 0;
}

void run(Session& session) {
  if (session.param("form") == "scalar") {
    image_work::measure_on_cpu(session, by_pixel, "scalar", check);
  } else {
    const auto code = widest<by_vectors<32>, by_vectors<16>, by_vectors<8>>();
    image_work::measure_on_cpu(session, code.run, code.instructions, check);
  }
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace

Benchmark declare() {
  return image_work::declared("sobel",
                              "What do short words and their grouping cost in an edge detector?",
                              /*rotates=*/false);
}

void check(const Image& image, std::span<const std::uint8_t> from, std::span<const std::uint8_t> to,
           Tally& tally) {
  image_work::check_each(image, tally, [&](std::uint32_t x, std::uint32_t y) {
    return to[image.at(x, y)] == edge_at(from.data(), image, x, y);
  });
}

LaunchTraffic predicted(image_work::Form form, const Image& image) {
  const auto of = [&]<class Form>() {
    return traffic_of(Form::tiling, image.width, image.height,
                      [&](LaneTrace& trace, std::uint32_t x, std::uint32_t y) {
                        Form::body(trace, image, x, y);
                      });
  };
  if (form == image_work::Form::original) return of.template operator()<Original>();
  if (form == image_work::Form::seed_tool) return of.template operator()<SeedTool>();
  if (form == image_work::Form::mended) return of.template operator()<Mended>();
  return of.template operator()<Best>();
}

}  // namespace strata::sobel
