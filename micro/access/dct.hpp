// What do the loads of a cosine transform cost, when every coefficient is a sum over all pixels?
//
// Van den Braak, Mesman and Corporaal (2010) transformed an image of 256 × 256 bytes as a whole,
// and print no formula. Here coefficient (u, v) is the sum of pixel (x, y) × cos(π(2x+1)u/512) ×
// cos(π(2y+1)v/512) over all pixels, 2^32 terms in all, without a normalisation factor: `original`
// with one thread per coefficient and one load per byte, `seed_tool` with one load of four bytes,
// `seed_hand` with one of sixteen through the read-only path, which replaced the texture cache.
// `best` is still that sum; `separable` transforms rows, then columns.
//
// `large` is a batch of images of more than four times L2, for which a direct sum would take too
// long.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "micro/access/launch_series.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::dct {

[[nodiscard]] Benchmark declare();

inline constexpr std::uint32_t side = 256;
inline constexpr std::uint32_t pixels = side * side;
inline constexpr double terms = static_cast<double>(pixels) * pixels;
/// cos(π k / 512) has this period in k.
inline constexpr std::uint32_t period = 4 * side;

/// The index of the same cosine, from -period/2, for an angle from -π to π.
STRATA_HD constexpr std::int32_t from_minus_pi(std::uint32_t k) {
  return static_cast<std::int32_t>((k % period) ^ (period / 2)) -
         static_cast<std::int32_t>(period / 2);
}

enum class Form : std::uint8_t {
  original,
  seed_tool,
  seed_hand,
  mended,
  best,
  separable,
  naive,
  table,
  all_cores,
  vectors
};
inline constexpr auto forms =
    choices_of<Form>("original", "seed_tool", "seed_hand", "mended", "best", "separable", "naive",
                     "table", "all_cores", "vectors");

/// Images of a case, where `cache` bytes are those of L2.
[[nodiscard]] std::uint32_t images_of(const Params& params, std::uint64_t cache);

/// Bytes of one image of a batch.
[[nodiscard]] std::vector<std::uint8_t> image(std::uint32_t number);

/// The cosine of k × π/512 for k = (2x+1)u, at x × side + u.
[[nodiscard]] std::vector<float> cosines();

/// A coefficient in double precision, and the allowed difference of a kernel's.
struct Reference {
  std::vector<double> coefficients;
  std::vector<double> bounds;
};
/// The bound is derived: `cosine_error` is the largest error of a factor; each term has at most two
/// roundings, and 256 of a row and 256 rows are added sequentially, in 32 bits. Coefficient (0, 0)
/// is exact: all its sums are integers below 2^24.
[[nodiscard]] Reference reference(std::span<const std::uint8_t> image, double cosine_error);
/// Of a form's cosines, the angle's rounding included.
[[nodiscard]] double cosine_error(Form form);

/// Compares the coefficients `at` of a result with the reference.
void check(const Reference& expected, std::span<const float> coefficients,
           std::span<const std::uint32_t> at, Tally& tally);

/// Requests of a launch of a GPU form.
[[nodiscard]] LaunchTraffic predicted(Form form, std::uint32_t images);

/// How often the transform is done in each of two series.
[[nodiscard]] launch_series::Series series_of(Form form, std::uint32_t images);

/// The case on a GPU.
[[nodiscard]] Experiment describe(Form form, std::uint32_t images);

}  // namespace strata::dct
