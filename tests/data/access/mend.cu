// Kernels that tests of `strata access mend` change; make_samples.py compiles them.
#include <cstdint>

extern "C" {

__global__ void scale(const float* a, float* b, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] * factor;
}

__global__ void in_place(float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * 2 + 1;
}

__global__ void from_left(float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n) a[i] = a[i - 1] * 2 + 1;
}

__global__ void by_columns(const float* a, float* b, int rows, int columns) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  const int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < columns) b[r * columns + c] = a[r * columns + c] + 1;
}

__global__ void column_of_block(const float* a, float* b, int columns) {
  b[threadIdx.x * columns + blockIdx.x] = a[threadIdx.x * columns + blockIdx.x] + 1;
}

__global__ void __launch_bounds__(256) transpose(const float* a, float* b, int n) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 32 + threadIdx.x;
#pragma unroll 1
  for (int j = threadIdx.y; j < 32; j += 8)
    tile[j][threadIdx.x] = a[(blockIdx.y * 32 + j) * n + x];
  __syncthreads();
#pragma unroll 1
  for (int j = threadIdx.y; j < 32; j += 8)
    b[(blockIdx.x * 32 + j) * n + y] = tile[threadIdx.x][j];
}

__global__ void bytes(const std::uint8_t* a, const std::int8_t* b, std::uint8_t* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i] * 3;
}

__global__ void shorts(const short* a, unsigned short* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] * 3 + (a[i] < 0);
}

__global__ void rows_sum(const std::uint8_t* a, unsigned* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int j = 0; j < n; ++j)
    sum = sum * 3 + a[i * n + j];
  b[i] = sum;
}

__global__ void grid_stride(const float* a, float* b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    b[i] = a[i] + 1;
}

__global__ void gather(const float* a, const int* at, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[at[i]];
}

__global__ void gather_restrict(const float* __restrict__ a, const int* __restrict__ at,
                                float* __restrict__ b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[at[i]];
}

__global__ void histogram(const std::uint8_t* a, unsigned* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(counts + a[i], 1U);
}

// Four threads store to each word.
__global__ void races(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i / 4] = a[i];
}

__global__ void triples(const float* x, const float* y, float* z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[3 * i] = x[i];
  z[3 * i + 1] = y[i];
  z[3 * i + 2] = x[i] * y[i];
}

__global__ void ways(const int* a, int* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = a[i];
  if (v < 0) {
    for (int k = 0; k < (v & 7); ++k)
      v = v * 3 + k;
  } else if ((v & 1) != 0) {
    v = v >> 1;
  }
  b[i] = v;
}

__global__ void volume(const double* a, double* b, int w, int h) {
  const long i =
      ((long)blockIdx.x * blockDim.x + threadIdx.x) * w * h + threadIdx.y * w + threadIdx.z;
  b[i] = a[i] * 1.5;
}

}  // extern "C"
