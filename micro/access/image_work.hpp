// Shared parts of benchmarks on one image: forms and sizes, and the description of a case on a GPU
// and on a CPU. An image is read once and an image of the same size is written.
//
// On a GPU a launch does the work several times, one layer of its grid each: launch overhead is in
// none of the times, and small images fill the chip. On a CPU cores share the rows.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/cpu/host_machine.hpp"
#include "harness/measure/engine.hpp"
#include "micro/access/launch_series.hpp"
#include "micro/pattern/image.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::image_work {

enum class Form : std::uint8_t {
  original,
  seed_tool,
  seed_hand,
  mended,
  best,
  scalar,
  vectors,
  all_cores
};
inline constexpr auto forms = choices_of<Form>("original", "seed_tool", "seed_hand", "mended",
                                               "best", "scalar", "vectors", "all_cores");
/// The form whose kernel a case runs: by hand, the paper's kernels equal those of its tool (Table
/// II).
[[nodiscard]] inline Form kernel_form(const Params& params) {
  const Form form = forms.of(params.at("form"));
  return form == Form::seed_hand ? Form::seed_tool : form;
}
inline constexpr Choices sizes{std::pair{"seed", false}, std::pair{"large", true}};

/// A benchmark with the axes `form`, `size` and, for rotations, `angle`.
[[nodiscard]] Benchmark declared(const std::string& name, const std::string& question,
                                 bool rotates);

/// The image of a case, where `cache` bytes are those of the L2, on a CPU of all cores together.
/// `large` is more than four times that.
[[nodiscard]] Image image_of(const Params& params, std::uint64_t cache);

/// Layers of an image for at least a gigabyte of traffic, in each of two series.
[[nodiscard]] launch_series::Series series_of(const Image& image);

/// The case on a GPU, where `traffic` is that of one layer.
[[nodiscard]] Experiment describe(const Image& image, const LaunchTraffic& traffic);

/// The bytes of an image, generated on all CPUs.
[[nodiscard]] std::vector<std::uint8_t> pixels_of(const Image& image);

inline constexpr std::uint8_t poison = 0xA5;

/// Compares `to` with the expected result for `from`; positions that nothing wrote hold poison.
using Check = std::function<void(const Image& image, std::span<const std::uint8_t> from,
                                 std::span<const std::uint8_t> to, Tally& tally)>;

/// Counts in `tally` whether right(x, y) holds for each pixel of `to`.
template <class Right>
void check_each(const Image& image, Tally& tally, const Right& right) {
  std::atomic<std::size_t> different = 0;
  constexpr std::size_t least_rows = 16;
  in_parallel(
      image.height,
      [&](std::size_t first, std::size_t last) {
        std::size_t mine = 0;
        for (auto y = static_cast<std::uint32_t>(first); y < last; ++y) {
          for (std::uint32_t x = 0; x < image.width; ++x)
            mine += right(x, y) ? 0 : 1;
        }
        different += mine;
      },
      least_rows);
  tally.checked += image.bytes();
  tally.different += different;
}

/// Some rows of an image, as a core works on them.
struct Rows {
  const std::uint8_t* from = nullptr;
  std::uint8_t* to = nullptr;
  Image image;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Measures a CPU form: `work` processes some rows.
void measure_on_cpu(Session& session, const std::function<void(const Rows&)>& work,
                    const std::string& instructions, const Check& check);

}  // namespace strata::image_work
