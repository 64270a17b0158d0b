// Launches forms `mended`: what `strata access mend` made of the originals.
#pragma once

#include "micro/access/rotation.hpp"
#include "micro/access/short_words.hpp"

#include <cuda_runtime_api.h>

namespace strata::mended_forms {

// Shape and arguments are those of the original's launch. Throws std::logic_error where the
// original would be taken because the mended kernel might not do the same.
void launch_sobel(dim3 grid, dim3 block, cudaStream_t stream, const char* from, char* to,
                  const Image& image);
void launch_rotation(rotation::Way way, dim3 grid, dim3 block, cudaStream_t stream,
                     const char* from, char* to, const rotation::Turn& turn);
void launch_dct(dim3 grid, dim3 block, cudaStream_t stream, const char* image, float* coefficients);
void launch_short_words(const short_words::Form& form, cudaStream_t stream, const char* a,
                        const char* b, char* c);

/// Whether the original is launched because it is expected to be faster.
[[nodiscard]] bool takes_original(rotation::Way way, dim3 grid, dim3 block,
                                  const rotation::Turn& turn);

// The kernels that are launched, for what the compiler made of them. Loads them.
[[nodiscard]] const void* code_of_sobel(dim3 grid, dim3 block, const Image& image);
[[nodiscard]] const void* code_of_rotation(rotation::Way way, dim3 grid, dim3 block,
                                           const rotation::Turn& turn);
[[nodiscard]] const void* code_of_dct();
[[nodiscard]] const void* code_of_short_words(const short_words::Form& form);

}  // namespace strata::mended_forms
