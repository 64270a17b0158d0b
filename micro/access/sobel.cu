#include "micro/access/sobel.hpp"

#ifdef __CUDACC__
#include "micro/access/image_work.cuh"
#include "micro/access/mended.cuh"
#include "micro/access/sobel_best.hpp"
#include "micro/access/sobel_original.hpp"
#include "micro/access/sobel_seed_tool.hpp"
#endif

namespace strata::sobel {
namespace {

Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Image image = image_work::image_of(params, gpu.l2_bytes);
  return image_work::describe(image, predicted(image_work::kernel_form(params), image));
}

#ifdef __CUDACC__

template <class Form>
__global__ void __launch_bounds__(Form::tiling.threads())
    edges_of(const char* from, char* to, Image image) {
  image_work::DeviceBytes memory{from, to};
  Form::body(memory, image, blockIdx.x * blockDim.x + threadIdx.x,
             blockIdx.y * blockDim.y + threadIdx.y);
}

template <class Form>
image_work::Kernel<Image> kernel_of() {
  return {.code = edges_of<Form>, .tiling = Form::tiling};
}

void run(Session& session) {
  const auto form = image_work::kernel_form(session.params());
  const image_work::Kernel<Image> mended{.tiling = Original::tiling,
                                         .launch = mended_forms::launch_sobel,
                                         .code_of = mended_forms::code_of_sobel};
  const auto kernel = form == image_work::Form::mended      ? mended
                      : form == image_work::Form::original  ? kernel_of<Original>()
                      : form == image_work::Form::seed_tool ? kernel_of<SeedTool>()
                                                            : kernel_of<Best>();
  image_work::measure_on_gpu(
      session, kernel, [](const Image& image) { return image; },
      [&](const Image& image) { return predicted(form, image); }, check);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::sobel
