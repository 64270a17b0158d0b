// A small foreign program for tests of `strata access capture`. It prints a sum, so that a test can
// verify that it ran as it does alone.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Shape {
  const float* in;
  unsigned stride;
  unsigned count;
  float* out;
};

__global__ void gather(float* out, const float* in, const unsigned* places, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[places[i]];
}

__global__ void strided(Shape shape) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < shape.count) shape.out[i] += shape.in[i * shape.stride % shape.count];
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(3);
}

}  // namespace

int main() {
  constexpr unsigned count = 5000;
  constexpr unsigned threads = 128;
  constexpr unsigned blocks = (count + threads - 1) / threads;
  std::vector<unsigned> places(count);
  std::vector<float> in(count);
  for (unsigned i = 0; i < count; ++i) {
    places[i] = i * 7919U % count;
    in[i] = static_cast<float>(i % 17);
  }
  float* memory = nullptr;  // one allocation, of which parameters point to two parts
  unsigned* device_places = nullptr;
  check(cudaMalloc(&memory, 2 * count * sizeof(float)));
  check(cudaMalloc(&device_places, count * sizeof(unsigned)));
  check(cudaMemcpy(memory, in.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  check(cudaMemcpy(device_places, places.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice));
  float* const out = memory + count;
  for (int time = 0; time < 3; ++time)  // one shape, however often
    gather<<<blocks, threads>>>(out, memory, device_places, count);
  strided<<<blocks, threads>>>({memory, 3, count, out});
  strided<<<2 * blocks, threads / 2>>>({memory, 5, count, out});
  check(cudaGetLastError());
  check(cudaMemcpy(in.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaFree(memory));
  check(cudaFree(device_places));
  double sum = 0;
  for (const float one : in)
    sum += one;
  std::printf("%.1f\n", sum);
  return 0;
}
