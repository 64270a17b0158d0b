// Kernels whose addresses depend on what they load, write, exchange or are returned.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void bfs(const int* off, const int* edges, int* mask, int* upd,
                               const int* visited, int* cost, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n && mask[t]) {
    mask[t] = 0;
    for (int i = off[t]; i < off[t + 1]; i++) {
      int id = edges[i];
      if (!visited[id]) {
        cost[id] = cost[t] + 1;
        upd[id] = 1;
      }
    }
  }
}
extern "C" __global__ void hist(const unsigned* in, const float* x, float* out, int n) {
  __shared__ unsigned h[64];
  __shared__ unsigned pre[64];
  int t = threadIdx.x;
  if (t < 64) h[t] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + t;
  if (i < n) atomicAdd(&h[in[i] & 63], 1u);
  __syncthreads();
  if (t == 0) {
    unsigned s = 0;
    for (int k = 0; k < 64; k++) {
      pre[k] = s;
      s += h[k];
    }
  }
  __syncthreads();
  if (i < n) out[i] = x[(pre[in[i] & 63] * 5 + t) & 4095];
}
extern "C" __global__ void inplace(int* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = a[i];
  a[i] = (v * 7 + 3) & 4095;
  v = a[i];
  for (int k = 0; k < (v & 7); k++) {
    c[i] += b[(v + k * 33) & 4095];
    a[i] = a[i] + 1;
  }
  c[i] += b[a[i] & 4095];
}
extern "C" __global__ void neighbour(int* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  a[i] = (a[(i + 1) % n] + 1) & 4095;
  c[i] = b[a[i]];
}
extern "C" __global__ void levels(unsigned* level, const int* off, const int* edges, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != 1) return;
  for (int i = off[v]; i < off[v + 1]; i++) {
    if (level[edges[i]] == 0) level[edges[i]] = 2;
  }
}
extern "C" __global__ void last(float* parts, unsigned* done, float* out) {
  __shared__ bool is_last;
  int t = threadIdx.x;
  parts[blockIdx.x * blockDim.x + t] = t;
  __threadfence();
  __syncthreads();
  if (t == 0) is_last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (is_last) out[t] = parts[t];
}
extern "C" __global__ void steps(const unsigned* in, unsigned* sums, const float* b, float* c) {
  __shared__ unsigned s[256];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  unsigned q = s[(t * 7) & 255];
  sums[i] += q;
  c[i] = b[(sums[i] * 3 + q) & 4095];
}
extern "C" __global__ void tile(int* a, const float* b, float* c) {
  int base = blockIdx.x * blockDim.x, t = threadIdx.x;
  for (int s = 1; s < blockDim.x; s *= 2) {
    int v = t >= s ? a[base + t - s] : 0;
    __syncthreads();
    a[base + t] = (a[base + t] + v) & 4095;
    __syncthreads();
  }
  c[base + t] = b[a[base + t]];
}
extern "C" __global__ void warpy(const int* in, const float* b, float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i] & 31;
  unsigned m = __ballot_sync(~0u, v > 12);
  int r = __popc(m & ((1u << (threadIdx.x & 31)) - 1));
  int s = v;
  for (int d = 16; d; d >>= 1)
    s += __shfl_xor_sync(~0u, s, d);
  int best = __reduce_max_sync(~0u, v);
  if (v > 12)
    c[blockIdx.x * blockDim.x + r] = b[(s * 3 + best + r * 9) & 4095];
  else if (v & 1) {
    __syncwarp(__activemask());
    c[i] = b[(v * 64 + s) & 4095];
  }
}
__device__ __noinline__ float deep(const float* p, int i, int d) {
  float s = 0;
  for (int k = 0; k < d; k++)
    s += p[(i * 9 + k * 5) & 4095];
  return s;
}
__device__ __noinline__ int pick(const int* q, int i) {
  if (i & 3) return q[i] & 4095;
  return q[i * 2 & 1023] & 255;
}
extern "C" __global__ void halves(const __half* a, const __nv_bfloat16* w, const float* b,
                                  float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half h = __hfma(a[i], __float2half(3.5f), a[i ^ 1]);
  float f = __half2float(h);
  __nv_bfloat16 g = __hmul(w[i], __float2bfloat16(1.5f));
  int k = (int)(fabsf(f) < 1000.f ? fabsf(f) * 3.f : 5.f) +
          (int)(fabsf(__bfloat162float(g)) < 100.f ? fabsf(__bfloat162float(g)) : 3.f);
  if (__hgt(h, __float2half(0.25f)))
    c[i] = b[k & 4095];
  else
    c[i] = b[(k * 17) & 4095];
}
extern "C" __global__ void calls(const int* q, const float* b, float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = pick(q, i);
  if (j & 1)
    c[i] = deep(b, j, j & 7);
  else
    c[i] = b[j];
}
extern "C" __global__ void votes(const int* in, int* a, const float* b, float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  while (__syncthreads_or(v > 10)) {
    v = v / 2 - (v & 1);
    a[i] = v;
    c[i] = b[(v * 13 + i) & 4095];
  }
  int m = __syncthreads_count(v > 3);
  c[i] = b[(m * 7 + i * 3) & 4095];
}
