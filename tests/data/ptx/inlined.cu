// A particle of seven floats, read through two functions that are inlined.
#if defined(__clang__) && !defined(__CUDACC_VER_MAJOR__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
static __device__ unsigned thread() {
  return __nvvm_read_ptx_sreg_tid_x();
}
static __device__ unsigned block() {
  return __nvvm_read_ptx_sreg_ctaid_x();
}
static __device__ unsigned threads() {
  return __nvvm_read_ptx_sreg_ntid_x();
}
#else
static __device__ unsigned thread() {
  return threadIdx.x;
}
static __device__ unsigned block() {
  return blockIdx.x;
}
static __device__ unsigned threads() {
  return blockDim.x;
}
#endif

struct Particle {
  float x, y, z, vx, vy, vz, mass;
};

static __device__ float squared_speed(const Particle& p) {
  return p.vx * p.vx + p.vy * p.vy + p.vz * p.vz;
}

static __device__ float energy(const Particle* particles, unsigned i) {
  return 0.5F * particles[i].mass * squared_speed(particles[i]);
}

extern "C" __global__ void energies(const Particle* particles, float* result, unsigned n) {
  const unsigned i = block() * threads() + thread();
  if (i < n) result[i] = energy(particles, i);
}
