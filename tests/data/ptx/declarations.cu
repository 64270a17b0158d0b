// Variables of every space, calls, a switch, and shared memory whose size the launch tells.
#include <cstdio>

__constant__ float weights[5] = {1, 4, 6, 4, 1};
__device__ int table[2][3] = {{1, 2}, {4, 5, 6}};
__device__ int* middle = &table[1][0];
__device__ double total;
extern __device__ float elsewhere[];
extern __shared__ float4 dynamic[];

__device__ __noinline__ float blurred(const float* x, int i) {
  float sum = 0;
  for (int k = 0; k < 5; ++k)
    sum += weights[k] * x[i + k];
  return sum;
}

struct Options {
  short kind;
  double scale;
  char name[5];
};

__global__ void __launch_bounds__(256, 2) mixed(Options options, const float* x, float* y, int n) {
  __shared__ int found[64];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float local[16];
  for (int k = 0; k < 16; ++k)
    local[k] = x[i * 16 + k];
  found[threadIdx.x % 64] = table[i % 2][i % 3] + *middle;
  dynamic[threadIdx.x] = make_float4(local[n % 16], elsewhere[i], 0, 0);
  __syncthreads();
  switch (options.kind) {
    case 0:
      y[i] = blurred(x, i);
      break;
    case 1:
      y[i] = found[i % 64];
      break;
    case 2:
      y[i] = dynamic[i % 32].x;
      break;
    case 3:
      atomicAdd(&total, options.scale);
      break;
    case 4:
      printf("%d %f\n", i, local[3]);
      break;
    default:
      y[i] = local[(i + n) % 16] + options.name[n % 5];
  }
}
