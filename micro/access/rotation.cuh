// Both rotations on a GPU.
#pragma once

#include "micro/access/image_work.cuh"
#include "micro/access/mended.cuh"
#include "micro/access/rotation.hpp"
#include "micro/access/rotation_best.hpp"
#include "micro/access/rotation_original.hpp"
#include "micro/access/rotation_seed_tool.hpp"

namespace strata::rotation {

using Code = void (*)(const char*, char*, Turn);

/// Each benchmark has its own kernels of the bodies, which its contract finds by namespace:
/// kernel_of.operator()<Form>().
template <Way way, class KernelOf>
void run_on_gpu(Session& session, const KernelOf& kernel_of) {
  const auto of = [&]<class Form>() -> image_work::Kernel<Turn> {
    return {.code = kernel_of.template operator()<Form>(), .tiling = Form::tiling};
  };
  const auto form = image_work::kernel_form(session.params());
  const image_work::Kernel<Turn> mended{
      .tiling = Original<way>::tiling,
      .launch =
          [](dim3 grid, dim3 block, cudaStream_t stream, const char* from, char* to,
             const Turn& turn) {
            mended_forms::launch_rotation(way, grid, block, stream, from, to, turn);
          },
      .code_of =
          [](dim3 grid, dim3 block, const Turn& turn) {
            return mended_forms::code_of_rotation(way, grid, block, turn);
          }};
  const auto kernel = form == image_work::Form::mended     ? mended
                      : form == image_work::Form::original ? of.template operator()<Original<way>>()
                      : form == image_work::Form::seed_tool
                          ? of.template operator()<SeedTool<way>>()
                          : of.template operator()<Best<way>>();
  const auto what_of = [&](const Image& image) { return turn_of(way, image, session.params()); };
  image_work::measure_on_gpu(
      session, kernel, what_of,
      [&](const Image& image) {
        const Turn turn = what_of(image);
        const bool is_original =
            form == image_work::Form::mended &&
            mended_forms::takes_original(
                way, {mended.tiling.blocks_x(image.width), mended.tiling.blocks_y(image.height)},
                {mended.tiling.block_x, mended.tiling.block_y}, turn);
        return predicted(way, is_original ? image_work::Form::original : form, turn);
      },
      check_of(way, number_of<std::uint32_t>(session.params(), "angle")));
}

}  // namespace strata::rotation
