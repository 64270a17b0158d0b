#include "micro/access/sobel.hpp"

#include "form_runs.hpp"
#include "micro/access/mended_forms.hpp"
#include "micro/access/sobel_best.hpp"
#include "micro/access/sobel_original.hpp"
#include "micro/access/sobel_seed_tool.hpp"
#include "rows_of.hpp"

#include <gtest/gtest.h>

namespace strata::sobel {
namespace {

using image_work::Form;

template <class Kernel>
void expect_edges() {
  for (const Image& image : {Image{.width = 32, .height = 8}, Image{.width = 1024, .height = 24}})
    EXPECT_EQ(refused(check, image, made_by<Kernel>(image, image)), 0U);
}

TEST(SobelForms, FindEveryEdge) {
  expect_edges<Original>();
  expect_edges<SeedTool>();
  expect_edges<Mended>();
  expect_edges<Best>();
}

TEST(SobelForms, ByHandRunTheKernelOfTheTool) {
  EXPECT_EQ(image_work::kernel_form({{"form", "seed_hand"}}), Form::seed_tool);
  EXPECT_EQ(image_work::kernel_form({{"form", "best"}}), Form::best);
}

TEST(SobelCheck, RefusesAPixelThatIsOneOff) {
  const Image image{.width = 64, .height = 16};
  auto to = made_by<Original>(image, image);
  to[image.at(0, 0)] = 1;
  to[image.at(30, 7)] ^= 1U;
  EXPECT_EQ(refused(check, image, to), 2U);
}

TEST(SobelPrediction, FollowsFromTheAddresses) {
  const Image image{.width = 512, .height = 64};
  const std::uint64_t pixels = image.bytes();
  // Every warp of 16 × 2 pixels has an inner one, and makes all eight loads.
  const LaunchTraffic original = predicted(Form::original, image);
  EXPECT_EQ(original.load_requests, 8 * pixels / 32);
  EXPECT_EQ(original.store_requests, pixels / 32);
  EXPECT_EQ(original.store_sectors, 2 * pixels / 32);
  // 64 × 2 pixels: three loads of each of three rows.
  const LaunchTraffic tool = predicted(Form::seed_tool, image);
  EXPECT_EQ(tool.load_requests, 9 * pixels / 128);
  EXPECT_EQ(tool.store_sectors, pixels / 32);
  // A row of 512 bytes: its 16 sectors, and those of the bytes to the left and to the right.
  const LaunchTraffic best = predicted(Form::best, image);
  EXPECT_EQ(best.load_requests, 3 * 10 * image.height / 8);
  EXPECT_EQ(best.load_sectors, 3 * 16 * 10 * image.height / 8);
  EXPECT_EQ(best.store_requests, image.height);
  EXPECT_EQ(best.store_sectors, pixels / 32);
}

TEST(SobelOnThisCpu, FindsEveryEdgeInEveryForm) {
  EXPECT_EQ(measured_on_this_cpu("sobel"), 3U);
}

}  // namespace
}  // namespace strata::sobel
