// Kernels of micro/access, as nvcc compiles them, request what the models of their benchmarks
// predict; those were counted on hardware.
#include "access_runs.hpp"
#include "harness/access/optimize/optimize.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/model/lanes.hpp"
#include "micro/access/dct.cu"
#include "micro/access/mended_forms.hpp"
#include "micro/access/rotation_original.hpp"
#include "micro/access/rotation_seed_tool.hpp"
#include "micro/access/short_words.cu"
#include "micro/access/sobel_original.hpp"
#include "micro/access/sobel_seed_tool.hpp"
#include "micro/pattern/lane_trace.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace strata::access {
namespace {

Launched launched(const std::string& sample, const std::string& yaml) {
  const std::string file = fmt::format("{}/{}.ptx", STRATA_ACCESS_DATA, sample);
  return {read_regular(file, 0, "PTX", std::size_t{1} << 20U), "schema: 1\n" + yaml};
}

/// Traffic of global memory, all instructions together.
LaunchTraffic traffic_of_all(const Evaluation& found) {
  LaunchTraffic sum;
  for (const Access& one : found.accesses) {
    if (one.space != ptx::Space::global) continue;
    const Traffic& traffic = one.traffic.front();
    if (one.kind == AccessKind::load) {
      sum.load_requests += traffic.requests;
      sum.load_sectors += traffic.sectors;
    } else {
      sum.store_requests += traffic.requests;
      sum.store_sectors += traffic.sectors;
    }
  }
  return sum;
}

void expect_same(const LaunchTraffic& found, const LaunchTraffic& expected) {
  EXPECT_EQ(found.load_requests, expected.load_requests);
  EXPECT_EQ(found.load_sectors, expected.load_sectors);
  EXPECT_EQ(found.store_requests, expected.store_requests);
  EXPECT_EQ(found.store_sectors, expected.store_sectors);
}

std::string image_launch(const std::string& kernel, const Tiling& tiling, const Image& image,
                         const std::string& more = "") {
  return fmt::format(
      "kernel: {}\ngrid: [{}, {}]\nblock: [{}, {}]\narguments:\n  - {{bytes: {}}}\n  - {{bytes: "
      "{}}}\n  - fields: {{0: u32 {}, 4: u32 {}{}}}\n",
      kernel, tiling.blocks_x(image.width), tiling.blocks_y(image.height), tiling.block_x,
      tiling.block_y, image.bytes(), image.bytes(), image.width, image.height, more);
}

/// The kernel of a launch, changed as CMakeLists.txt of micro has it changed.
Evaluation optimized(const Launched& original, const std::string& words) {
  const ptx::Module& module = original.modules[0];
  const Optimized made = optimize(module, original.launch.kernel,
                                  parse_change("--change", words, module, original.kernel()));
  EXPECT_EQ(made.checks.failing(original.launch), std::nullopt);
  const ptx::Module after = ptx::read(made.text, "mended.ptx");
  return evaluate(after, optimized_launch(made, module, after, original.launch), {});
}

TEST(AccessOfMendedForms, IsThatOfTheirModels) {
  const auto expect_model = [](const Evaluation& found, const Image& image, const auto& form) {
    using Form = std::remove_cvref_t<decltype(form.first)>;
    EXPECT_TRUE(found.is_exact());
    expect_same(traffic_of_all(found),
                traffic_of(Form::tiling, image.width, image.height,
                           [&](LaneTrace& trace, std::uint32_t x, std::uint32_t y) {
                             Form::body(trace, form.second, x, y);
                           }));
  };
  for (const Image& image : {Image{.width = 384, .height = 37}, Image{.width = 96, .height = 20}}) {
    const std::string launch = image_launch("Original", sobel::Original::tiling, image);
    expect_model(optimized(launched("sobel", launch), "threads=4"), image,
                 std::pair{sobel::Mended{}, image});
    for (const std::uint32_t degrees : {0U, 30U, 90U}) {
      const auto expect_turn = [&]<rotation::Way way>(const char* file) {
        const rotation::Turn turn = rotation::turn_by(way, image, degrees);
        const std::string more =
            fmt::format(", 8: s32 {}, 12: s32 {}, 16: s32 {}, 20: s32 {}", turn.rotation.cosine,
                        turn.rotation.sine, turn.rotation.from_x, turn.rotation.from_y);
        const std::string turned =
            image_launch("Original", rotation::Original<way>::tiling, image, more);
        expect_model(optimized(launched(file, turned), "threads=4"), image,
                     std::pair{rotation::Mended<way>{}, turn});
      };
      expect_turn.template operator()<rotation::Way::forward>("rotation_forward");
      expect_turn.template operator()<rotation::Way::backward>("rotation_backward");
    }
  }
}

template <class Form>
void expect_sobel(const std::string& kernel, const Image& image) {
  SCOPED_TRACE(kernel);
  const Evaluation found = launched("sobel", image_launch(kernel, Form::tiling, image)).evaluate();
  EXPECT_TRUE(found.is_exact());
  for (const Access& one : found.accesses)
    EXPECT_EQ(one.outside, 0U);
  expect_same(traffic_of_all(found),
              traffic_of(Form::tiling, image.width, image.height,
                         [&](LaneTrace& trace, std::uint32_t x, std::uint32_t y) {
                           Form::body(trace, image, x, y);
                         }));
}

TEST(AccessOfSobel, IsThatOfItsModel) {
  expect_sobel<sobel::Original>("Original", seed_image);
  expect_sobel<sobel::Original>("Original", {.width = 96, .height = 37});
  expect_sobel<sobel::SeedTool>("SeedTool", {.width = 384, .height = 37});
}

template <rotation::Way way, template <rotation::Way> class Form>
void expect_rotation(const std::string& kernel, const Image& image, std::uint32_t degrees) {
  const rotation::Turn turn = rotation::turn_by(way, image, degrees);
  SCOPED_TRACE(fmt::format("{} by {}", kernel, degrees));
  const std::string more =
      fmt::format(", 8: s32 {}, 12: s32 {}, 16: s32 {}, 20: s32 {}", turn.rotation.cosine,
                  turn.rotation.sine, turn.rotation.from_x, turn.rotation.from_y);
  const bool forward = way == rotation::Way::forward;
  const Evaluation found = launched(forward ? "rotation_forward" : "rotation_backward",
                                    image_launch(kernel, Form<way>::tiling, image, more))
                               .evaluate();
  EXPECT_TRUE(found.is_exact());
  expect_same(traffic_of_all(found),
              traffic_of(Form<way>::tiling, image.width, image.height,
                         [&](LaneTrace& trace, std::uint32_t x, std::uint32_t y) {
                           Form<way>::body(trace, turn, x, y);
                         }));
}

TEST(AccessOfRotations, IsThatOfTheirModel) {
  constexpr Image image{.width = 256, .height = 120};
  for (const std::uint32_t degrees : {0U, 15U, 30U, 45U, 90U}) {
    expect_rotation<rotation::Way::forward, rotation::Original>("Original", image, degrees);
    expect_rotation<rotation::Way::backward, rotation::Original>("Original", image, degrees);
    expect_rotation<rotation::Way::backward, rotation::SeedTool>("SeedTool", image, degrees);
  }
}

TEST(AccessOfTheCosineTransform, IsAsTheArithmeticOfItsAddressesSays) {
  // Each block reads the image once, 512 bytes a warp; a thread has four coefficients. A sixteenth
  // of the blocks that make all of them.
  const Evaluation found =
      launched("dct",
               "kernel: best\ngrid: [8, 1]\nblock: 128\narguments:\n  - {bytes: 65536}\n"
               "  - {bytes: 262144}\n")
          .evaluate();
  EXPECT_TRUE(found.is_exact());
  constexpr std::uint64_t blocks = 8;
  expect_same(traffic_of_all(found),
              {.load_requests = blocks * dct::pixels / (16 * warp_lanes),
               .load_sectors = blocks * dct::pixels / sector_bytes,
               .store_requests = dct::pixels / warp_lanes / 16,
               .store_sectors = dct::pixels * sizeof(float) / sector_bytes / 16});
  // Each lane reads a column of its own of the cosines, four numbers at a time, without conflicts.
  std::uint64_t least = 0;
  for (const Access& one : found.accesses) {
    if (one.space != ptx::Space::shared || one.kind != AccessKind::load) continue;
    if (one.wavefronts == one.ideal_wavefronts) ++least;
  }
  EXPECT_EQ(least, 4U);
}

TEST(AccessOfShortWords, IsThatOfItsModel) {
  struct Case {
    const char* kernel;
    short_words::Form form;
  };
  for (const auto& [kernel, form] :
       {Case{"addILj4ELj4ELj1E", {.element = 4, .group = 4}},
        Case{"addILj4ELj4ELj1E", {.element = 4, .group = 4, .together = true, .coalesced = false}},
        Case{"addILj1ELj1ELj4E", {.element = 1, .group = 4, .together = false}},
        Case{"addILj1ELj16ELj1E",
             {.element = 1, .group = 16, .together = true, .coalesced = false}}}) {
    SCOPED_TRACE(kernel);
    // As many blocks as 64 warps have: the matrices are as large as the benchmark's.
    constexpr std::uint32_t blocks = 8;
    const Evaluation found =
        launched("short_words",
                 fmt::format("kernel: {}\ngrid: {}\nblock: {}\narguments:\n  - {{bytes: {}}}\n  - "
                             "{{bytes: {}}}\n  - {{bytes: {}}}\n  - {}\n  - {}\n",
                             kernel, blocks, short_words::threads, short_words::matrix_bytes,
                             short_words::matrix_bytes, short_words::matrix_bytes,
                             form.thread_step(), form.block_step()))
            .evaluate();
    EXPECT_TRUE(found.is_exact());
    const std::uint32_t parts = form.group / form.access();
    std::uint64_t sectors = 0;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const auto elements =
          lane_elements(std::uint64_t{form.thread_step()} * parts, part, Permutation::identity);
      sectors += traffic(Generation::cc7, access_of(form.access(), elements)).sectors;
    }
    constexpr std::uint64_t warps = std::uint64_t{blocks} * short_words::threads / warp_lanes;
    expect_same(traffic_of_all(found), {.load_requests = 2 * warps * parts,
                                        .load_sectors = 2 * warps * sectors,
                                        .store_requests = warps * parts,
                                        .store_sectors = warps * sectors});
  }
}

TEST(AccessOfTheGather, FollowsTheOrderThatItsBufferHolds) {
  const auto evaluated = [](std::uint32_t stride, std::uint32_t misalignment,
                            const std::string& order) {
    std::string elements;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t element = lane * stride + misalignment;
      elements += fmt::format("{:02x}{:02x}0000", element & 0xFFU, element >> 8U);
    }
    return launched("coalescing", fmt::format("kernel: gather\ngrid: 4\nblock: 256\narguments:\n"
                                              "  - {{bytes: 1048576}}\n  - hex: {}\n"
                                              "  - fields: {{0: u32 64, 4: u32 16512}}\n"
                                              "  - {{bytes: 256, fill: {}, below: 63}}\n"
                                              "  - 3\n  - 0\n  - {{bytes: 4096}}\n",
                                              elements, order))
        .evaluate();
  };
  constexpr std::uint64_t warps = 32;
  constexpr std::uint64_t loads_of_warp = 4;
  for (const auto& [stride, misalignment] :
       {std::pair{1U, 0U}, std::pair{1U, 3U}, std::pair{8U, 0U}, std::pair{33U, 1U}}) {
    const Evaluation found = evaluated(stride, misalignment, "random 7");
    EXPECT_TRUE(found.is_exact());
    const auto elements = lane_elements(stride, misalignment, Permutation::identity);
    const std::uint64_t sectors = traffic(Generation::cc7, access_of(4, elements)).sectors;
    const LaunchTraffic sum = traffic_of_all(found);
    constexpr std::uint64_t orders = warps * loads_of_warp;  // one word each, for all lanes
    EXPECT_EQ(sum.load_requests, orders + 3 * warps * loads_of_warp);
    EXPECT_EQ(sum.load_sectors, orders + 3 * warps * loads_of_warp * sectors);
  }
}

}  // namespace
}  // namespace strata::access
