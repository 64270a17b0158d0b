// Kernels whose accesses a block can exchange through shared memory, and kernels that cannot.
extern "C" __global__ void transposed(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}
extern "C" __global__ void gathered(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = in[x * height + y];
}
struct Body {
  float x, y, z, vx, vy, vz, m;
};
extern "C" __global__ void kick(Body* bodies, float time, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Body body = bodies[i];
  body.x += body.vx * time;
  body.y += body.vy * time;
  body.z += body.vz * time;
  bodies[i] = body;
}
extern "C" __global__ void energy(const Body* bodies, float* energies, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Body body = bodies[i];
  energies[i] = body.m * (body.vx * body.vx + body.vy * body.vy + body.vz * body.vz) + body.x +
                body.y + body.z;
}
// Shared memory and barriers of its own.
extern "C" __global__ void waits(const float* in, float* out, int width, int height) {
  __shared__ float row[32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (threadIdx.y == 0) row[threadIdx.x] = in[x];
  __syncthreads();
  out[x * height + y] = row[threadIdx.x];
}
// Some threads do something else.
extern "C" __global__ void around(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width) {
    out[x * height + y] = in[y * width + x];
  } else {
    out[0] = 1;
  }
}
// In a loop.
extern "C" __global__ void rows(const float* in, float* out, int width, int height) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= height) return;
  float sum = 0;
#pragma unroll 1
  for (int x = 0; x < width; ++x)
    sum += in[y * width + x];
  out[y] = sum;
}
