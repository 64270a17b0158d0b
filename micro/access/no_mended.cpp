// Stand-in for the forms `mended` in a build with CUDA older than 12.8, whose runtime loads no PTX.
#include "harness/base/error.hpp"
#include "micro/access/mended.cuh"

namespace strata::mended_forms {
namespace {

[[noreturn]] void skip() {
  throw Skipped{"the form mended needs a build with CUDA 12.8 or newer (cudaLibraryLoadData)"};
}

}  // namespace

void launch_sobel(dim3 /*grid*/, dim3 /*block*/, cudaStream_t /*stream*/, const char* /*from*/,
                  char* /*to*/, const Image& /*image*/) {
  skip();
}
void launch_rotation(rotation::Way /*way*/, dim3 /*grid*/, dim3 /*block*/, cudaStream_t /*stream*/,
                     const char* /*from*/, char* /*to*/, const rotation::Turn& /*turn*/) {
  skip();
}
void launch_dct(dim3 /*grid*/, dim3 /*block*/, cudaStream_t /*stream*/, const char* /*image*/,
                float* /*coefficients*/) {
  skip();
}
void launch_short_words(const short_words::Form& /*form*/, cudaStream_t /*stream*/,
                        const char* /*a*/, const char* /*b*/, char* /*c*/) {
  skip();
}
bool takes_original(rotation::Way /*way*/, dim3 /*grid*/, dim3 /*block*/,
                    const rotation::Turn& /*turn*/) {
  skip();
}
const void* code_of_sobel(dim3 /*grid*/, dim3 /*block*/, const Image& /*image*/) {
  skip();
}
const void* code_of_rotation(rotation::Way /*way*/, dim3 /*grid*/, dim3 /*block*/,
                             const rotation::Turn& /*turn*/) {
  skip();
}
const void* code_of_dct() {
  skip();
}
const void* code_of_short_words(const short_words::Form& /*form*/) {
  skip();
}

}  // namespace strata::mended_forms
