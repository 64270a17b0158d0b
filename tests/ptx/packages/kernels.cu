// Kernels of the usual kinds in CUDA C++, for compilers that come without the headers of CUDA.
#if defined(__clang__) && !defined(__CUDACC_VER_MAJOR__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
static __device__ unsigned thread_x() {
  return __nvvm_read_ptx_sreg_tid_x();
}
static __device__ unsigned thread_y() {
  return __nvvm_read_ptx_sreg_tid_y();
}
static __device__ unsigned block_x() {
  return __nvvm_read_ptx_sreg_ctaid_x();
}
static __device__ unsigned block_y() {
  return __nvvm_read_ptx_sreg_ctaid_y();
}
static __device__ unsigned threads_x() {
  return __nvvm_read_ptx_sreg_ntid_x();
}
static __device__ unsigned blocks_x() {
  return __nvvm_read_ptx_sreg_nctaid_x();
}
static __device__ void add_one(unsigned* at) {
  __nvvm_atom_add_gen_i((int*)at, 1);
}
static __device__ void wait() {
  __syncthreads();
}
struct alignas(16) float4 {
  float x, y, z, w;
};
#else
static __device__ unsigned thread_x() {
  return threadIdx.x;
}
static __device__ unsigned thread_y() {
  return threadIdx.y;
}
static __device__ unsigned block_x() {
  return blockIdx.x;
}
static __device__ unsigned block_y() {
  return blockIdx.y;
}
static __device__ unsigned threads_x() {
  return blockDim.x;
}
static __device__ unsigned blocks_x() {
  return gridDim.x;
}
static __device__ void add_one(unsigned* at) {
  atomicAdd(at, 1U);
}
static __device__ void wait() {
  __syncthreads();
}
#endif

struct Body {
  float position[3];
  float velocity[3];
  float mass;
};

extern "C" {

__global__ void saxpy(const float* x, float* y, float a, int n) {
  int i = int(block_x() * threads_x() + thread_x());
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void grid_stride(const float4* x, float4* y, unsigned n) {
  for (unsigned i = block_x() * threads_x() + thread_x(); i < n; i += blocks_x() * threads_x()) {
    float4 v = x[i];
    v.x += v.w;
    y[i] = v;
  }
}

__global__ void every_third(const double* x, double* y, int n) {
  int i = int(block_x() * threads_x() + thread_x());
  if (3 * i + 2 < n) y[i] = x[3 * i] + x[3 * i + 2];
}

__global__ void stencil(const float* in, float* out, int width, int height) {
  int x = int(block_x() * 32 + thread_x()), y = int(block_y() * 8 + thread_y());
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    int i = y * width + x;
    out[i] = in[i] + 0.25F * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
  }
}

__global__ void transpose(const float* in, float* out, int n) {
  int x = int(block_x() * 32 + thread_x()), y = int(block_y() * 8 + thread_y());
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}

__global__ void transpose_tile(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  int x = int(block_x() * 32 + thread_x()), y = int(block_y() * 32 + thread_y());
  for (int j = 0; j < 32; j += 8)
    tile[thread_y() + j][thread_x()] = in[(y + j) * n + x];
  wait();
  x = int(block_y() * 32 + thread_x());
  y = int(block_x() * 32 + thread_y());
  for (int j = 0; j < 32; j += 8)
    out[(y + j) * n + x] = tile[thread_x()][thread_y() + j];
}

__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][17];
  int row = int(block_y() * 16 + thread_y()), column = int(block_x() * 16 + thread_x());
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    left[thread_y()][thread_x()] = a[row * n + k + int(thread_x())];
    right[thread_y()][thread_x()] = b[(k + int(thread_y())) * n + column];
    wait();
    for (int i = 0; i < 16; ++i)
      sum += left[thread_y()][i] * right[i][thread_x()];
    wait();
  }
  c[row * n + column] = sum;
}

__global__ void block_sum(const float* x, float* sums, unsigned n) {
  __shared__ float part[256];
  unsigned i = block_x() * 512 + thread_x();
  part[thread_x()] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
  wait();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (thread_x() < half) part[thread_x()] += part[thread_x() + half];
    wait();
  }
  if (thread_x() == 0) sums[block_x()] = part[0];
}

__global__ void interleaved_sum(const float* x, float* sums) {
  __shared__ float part[256];
  part[thread_x()] = x[block_x() * 256 + thread_x()];
  wait();
  for (unsigned step = 1; step < 256; step *= 2) {
    unsigned i = 2 * step * thread_x();
    if (i < 256) part[i] += part[i + step];
    wait();
  }
  if (thread_x() == 0) sums[block_x()] = part[0];
}

__global__ void row_maximum(const float* x, float* y, int columns) {
  __shared__ float part[128];
  const float* row = x + (long long)block_x() * columns;
  float most = -1e30F;
  for (int i = int(thread_x()); i < columns; i += 128)
    most = row[i] > most ? row[i] : most;
  part[thread_x()] = most;
  wait();
  for (int half = 64; half > 0; half >>= 1) {
    if (int(thread_x()) < half) {
      float other = part[thread_x() + half];
      if (other > part[thread_x()]) part[thread_x()] = other;
    }
    wait();
  }
  for (int i = int(thread_x()); i < columns; i += 128)
    y[(long long)block_x() * columns + i] = row[i] - part[0];
}

__global__ void gather(const int* index, const float* x, float* y, int n) {
  int i = int(block_x() * threads_x() + thread_x());
  if (i < n) y[i] = x[index[i]];
}

__global__ void histogram(const unsigned char* x, unsigned* counts, unsigned n) {
  __shared__ unsigned bins[256];
  bins[thread_x()] = 0;
  wait();
  for (unsigned i = block_x() * 256 + thread_x(); i < n; i += blocks_x() * 256)
    add_one(&bins[x[i]]);
  wait();
  counts[block_x() * 256 + thread_x()] = bins[thread_x()];
}

__global__ void move_bodies(Body* bodies, float step, int n) {
  int i = int(block_x() * threads_x() + thread_x());
  if (i >= n) return;
  for (int axis = 0; axis < 3; ++axis)
    bodies[i].position[axis] += step * bodies[i].velocity[axis];
}

__global__ void energies(const Body* bodies, float* result, int n) {
  for (int i = int(block_x() * threads_x() + thread_x()); i < n;
       i += int(blocks_x() * threads_x())) {
    float squared = 0;
    for (int axis = 0; axis < 3; ++axis)
      squared += bodies[i].velocity[axis] * bodies[i].velocity[axis];
    result[i] = bodies[i].mass * squared;
  }
}
}
