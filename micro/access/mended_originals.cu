// The original kernels, with names of their own: only their PTX is made of this, for `strata access
// mend` to make their forms `mended`. tests/rules/mended_forms_test.py lists the changes.
#include "micro/access/dct_direct.cuh"
#include "micro/access/image_work.cuh"
#include "micro/access/rotation_original.hpp"
#include "micro/access/short_words.cuh"
#include "micro/access/sobel_original.hpp"

namespace {

using namespace strata;
using image_work::DeviceBytes;

template <class Original, class What>
__device__ __forceinline__ void image_kernel(const char* from, char* to, const What& what) {
  DeviceBytes memory{from, to};
  Original::body(memory, what, blockIdx.x * blockDim.x + threadIdx.x,
                 blockIdx.y * blockDim.y + threadIdx.y);
}

}  // namespace

extern "C" {

__global__ void __launch_bounds__(256) sobel(const char* from, char* to, Image image) {
  image_kernel<strata::sobel::Original>(from, to, image);
}

__global__ void __launch_bounds__(256)
    rotation_forward(const char* from, char* to, rotation::Turn turn) {
  image_kernel<rotation::Original<rotation::Way::forward>>(from, to, turn);
}

__global__ void __launch_bounds__(256)
    rotation_backward(const char* from, char* to, rotation::Turn turn) {
  image_kernel<rotation::Original<rotation::Way::backward>>(from, to, turn);
}

__global__ void __launch_bounds__(256) dct(const char* image, float* coefficients) {
  strata::dct::sum_over_pixels<1, Access::global>(image, coefficients);
}

// One for each form that it is mended to: apart they are the same kernel.
#define STRATA_SHORT_WORDS(element, group, order)                                            \
  __global__ void __launch_bounds__(short_words::threads)                                    \
      short_words_##element##_##group##_##order(const char* a, const char* b, char* c,       \
                                                unsigned thread_step, unsigned block_step) { \
    short_words::add_group<element, element, 1>(a, b, c, thread_step, block_step);           \
  }
#include "micro/access/mended_short_words.inc"
#undef STRATA_SHORT_WORDS

}  // extern "C"
