// What do the loads of a cosine transform cost, when every coefficient is a sum over all pixels?
//
// Van den Braak, Mesman and Corporaal (2010) transformed an image of 256 × 256 bytes as a whole,
// and print no formula. Here coefficient (u, v) is the sum of pixel (x, y) × cos(π(2x+1)u/512) ×
// cos(π(2y+1)v/512) over all pixels, 2^32 terms in all, without a normalisation factor: `original`
// with one thread per coefficient and one load per byte, `seed_tool` with one load of four bytes,
// `seed_hand` with one of sixteen through the read-only path, which replaced the texture cache, and
// `texture` with the same from a texture.
// `best` is still that sum; `separable` transforms rows, then columns.
//
// `large` is a batch of images of more than four times L2, for which a direct sum would take too
// long.
#pragma once

#include "harness/cuda/benchmark.cuh"
#include "micro/access/launch_series.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>

namespace strata::dct {

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
  vectors,
  texture
};
inline constexpr auto forms =
    choices_of<Form>("original", "seed_tool", "seed_hand", "mended", "best", "separable", "naive",
                     "table", "all_cores", "vectors", "texture");

/// A coefficient in double precision, and the allowed difference of a kernel's.
struct Reference {
  std::vector<double> coefficients;
  std::vector<double> bounds;
};

constexpr std::uint32_t half_period = period / 2;
constexpr Choices sizes{std::pair{"seed", false}, std::pair{"large", true}};

inline double cosine(std::uint32_t k) {
  return std::cos(std::numbers::pi / half_period * (k % period));
}

/// Bytes of one image of a batch.
inline std::vector<std::uint8_t> image(std::uint32_t number) {
  std::vector<std::uint8_t> bytes(pixels);
  constexpr std::uint32_t words = pixels / sizeof(std::uint32_t);
  for (std::uint32_t i = 0; i < words; ++i) {
    const std::uint32_t word = hashed_word(number * words + i);
    std::memcpy(&bytes[i * sizeof word], &word, sizeof word);
  }
  return bytes;
}

/// In double precision, with all cosines or with their magnitudes.
inline std::vector<double> transformed(std::span<const std::uint8_t> image, bool magnitudes) {
  std::vector<double> table(pixels);
  for (std::uint32_t at = 0; at < pixels; ++at) {
    const double one = cosine((2 * (at / side) + 1) * (at % side));
    table[at] = magnitudes ? std::abs(one) : one;
  }
  std::vector<double> rows(pixels);
  std::vector<double> all(pixels);
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      for (std::uint32_t u = 0; u < side; ++u)
        rows[y * side + u] += image[y * side + x] * table[x * side + u];
    }
  }
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t v = 0; v < side; ++v) {
      for (std::uint32_t u = 0; u < side; ++u)
        all[v * side + u] += rows[y * side + u] * table[y * side + v];
    }
  }
  return all;
}

inline bool is_direct(Form form) {
  return form <= Form::mended || form == Form::texture;
}

/// Rows of the time and of the terms of the direct sum per second.
inline void add_term_rate(Experiment& experiment, double images) {
  const auto& timers = std::get<TimerPair>(experiment.checks.front());
  experiment.rows.push_back({"term_rate", "term/s", timers.second_method,
                             [seconds = timers.second, images](const Sample& seen) {
                               return images * terms / seconds(seen);
                             }});
}

inline double bytes_of(double images) {
  return images * pixels * (1 + sizeof(float));
}

inline std::optional<std::string> excluded(const Params& params, Backend backend) {
  const Form form = forms.of(params.at("form"));
  const bool of_both = form == Form::separable;
  const bool of_cpu = !of_both && !is_direct(form) && form != Form::best;
  if (!of_both && of_cpu != (backend == Backend::host)) {
    return of_cpu ? "a CPU variant" : "a GPU variant";
  }
  if (!sizes.of(params.at("size"))) return std::nullopt;
  if (backend == Backend::host) return "a CPU transforms one image";
  if (!of_both) return "direct sums of a batch would take too long";
  return std::nullopt;
}

inline Benchmark declare() {
  return {
      .suite = "micro",
      .name = "dct",
      .question =
          "What do short words and their grouping cost in a cosine transform by direct sums?",
      .axes = {sizes.axis("size", "one image of 256 × 256, or a batch of more than four times L2"),
               forms.axis("form",
                          "of the kernel: as in the paper before its tool, after its tool, by "
                          "hand, as strata access optimize makes it, as written today, and in two "
                          "passes; on a CPU the sum with computed cosines, with a table, on all "
                          "cores, with vectors; by hand, from a texture")},
      .data_axes = 1,
      .counter_sets = {"flops", "issue", "shared"},
      .quantities = {{"kernel_time",
                      "duration of one transform; if only part of the coefficients is computed, "
                      "scaled to all"},
                     {"useful_bandwidth", "bytes of the image and its coefficients over that time"},
                     {"term_rate", "terms of the direct sum over that time"},
                     {"core_clock", "clock of the core between the transforms"},
                     {"l1_load_requests_per_launch", "counted and modelled"},
                     {"l1_load_sectors_per_launch", "counted and modelled"},
                     {"l1_store_sectors_per_launch", "counted and modelled"}},
      .seconds_per_case = 1,
      .excludes = excluded};
}

/// The cosine of k × π/512 for k = (2x+1)u, at x × side + u.
inline std::vector<float> cosines() {
  std::vector<float> table(pixels);
  for (std::uint32_t at = 0; at < pixels; ++at)
    table[at] = static_cast<float>(cosine((2 * (at / side) + 1) * (at % side)));
  return table;
}

/// Of a form's cosines, the angle's rounding included.
inline double cosine_error(Form form) {
  // The CUDA C++ Programming Guide: the error of __cosf is at most 2^-21.19 from -π to π. The
  // angle, at most π, is rounded twice.
  if (is_direct(form)) return std::exp2(-21.19) + 2 * std::numbers::pi * std::exp2(-24);
  // cospif has an error of at most 2 ulp; the host rounds to half an ulp.
  return 2 * std::exp2(-24);
}

/// The bound is derived: `cosine_error` is the largest error of a factor; each term has at most two
/// roundings, and 256 of a row and 256 rows are added sequentially, in 32 bits. Coefficient (0, 0)
/// is exact: all its sums are integers below 2^24.
inline Reference reference(std::span<const std::uint8_t> image, double cosine_error) {
  Reference made{.coefficients = transformed(image, /*magnitudes=*/false),
                 .bounds = transformed(image, /*magnitudes=*/true)};
  const double sum = std::accumulate(image.begin(), image.end(), 0.0);
  constexpr double roundings = 2 + 2 * side;
  const double unit = std::exp2(-24);
  const double relative = roundings * unit / (1 - roundings * unit);
  for (double& bound : made.bounds) {
    // The error of terms whose factors have this error, of their roundings, and of the reference.
    const double off = sum * cosine_error * (2 + cosine_error);
    bound = (bound + off) * relative + off + sum * std::exp2(-40);
  }
  made.bounds[0] = 0;
  made.coefficients[0] = sum;
  return made;
}

/// Compares the coefficients `at` of a result with the reference.
inline void check(const Reference& expected, std::span<const float> coefficients,
                  std::span<const std::uint32_t> at, Tally& tally) {
  for (const std::uint32_t i : at) {
    const double error = std::abs(static_cast<double>(coefficients[i]) - expected.coefficients[i]);
    tally.one(error <= expected.bounds[i]);  // false for NaN
  }
}

}  // namespace strata::dct
