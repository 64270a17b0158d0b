// Runs forms of a kernel on the host, for tests of each: the memory after a launch, and its
// requests.
#pragma once

#include "case_here.hpp"
#include "micro/access/image_work.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata {

/// What a form makes of an image where poison was before.
template <class Form, class... What>
std::vector<std::uint8_t> made_by(const Image& image, const What&... what) {
  const auto from = image_work::pixels_of(image);
  std::vector<std::uint8_t> to(image.bytes(), image_work::poison);
  run_on_host(Form::tiling, image.width, image.height, HostBytes{from.data(), to.data()},
              [&](const HostBytes& memory, std::uint32_t x, std::uint32_t y) {
                Form::body(memory, what..., x, y);
              });
  return to;
}

/// How many pixels a check refuses of a result.
inline std::size_t refused(const image_work::Check& check, const Image& image,
                           const std::vector<std::uint8_t>& to) {
  Tally tally;
  check(image, image_work::pixels_of(image), to, tally);
  EXPECT_EQ(tally.checked, image.bytes());
  return tally.different;
}

/// Runs every case of a CPU that has these values, on the image of the seed.
inline std::size_t measured_on_this_cpu(const char* benchmark) {
  std::size_t cases = 0;
  for (const char* const form : {"scalar", "vectors", "all_cores"}) {
    Params params{{"size", "seed"}, {"form", form}};
    if (find_benchmark(benchmark)->benchmark.axis("angle") != nullptr) params["angle"] = "30";
    cases += measure_here(benchmark, params, 1).status == Status::measured ? 1 : 0;
  }
  return cases;
}

}  // namespace strata
