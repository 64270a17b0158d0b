// The few functions of CUDA's runtime that a header of `strata access mend` calls, without a device:
// what was launched last is kept.
#pragma once

#include <cstddef>

#define CUDART_VERSION 13000

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x{a}, y{b}, z{c} {}
};
using cudaStream_t = void*;
using cudaLibrary_t = void*;
using cudaKernel_t = const void*;
enum cudaError_t { cudaSuccess };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaFuncAttributes {
  int maxThreadsPerBlock = 0;
};

struct LastLaunch {
  const char* kernel = "";
  dim3 grid;
  dim3 block;
  unsigned long long first_argument = 0;
  unsigned blocks = 0;  ///< behind the others
};
inline LastLaunch last_launch;
inline int argument_count = 4;
inline int most_threads = 1024;

inline cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void*, void*, void*, unsigned,
                                       void*, void*, unsigned) {
  *library = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t, const char* name) {
  *kernel = name;
  return cudaSuccess;
}
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  attributes->maxThreadsPerBlock = most_threads;
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}
inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t, cudaStream_t) {
  last_launch = {static_cast<const char*>(kernel), grid, block,
                 *static_cast<unsigned long long*>(arguments[0]),
                 *static_cast<unsigned*>(arguments[argument_count])};
  return cudaSuccess;
}
