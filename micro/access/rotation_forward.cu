#include "micro/access/rotation.hpp"

#ifdef __CUDACC__
#include "micro/access/rotation.cuh"
#endif

namespace strata::rotation_forward {
namespace {

using namespace rotation;

Experiment describe(const Params& params, const GpuFacts& gpu) {
  return rotation::describe(Way::forward, params, gpu);
}

#ifdef __CUDACC__

template <class Form>
__global__ void __launch_bounds__(Form::tiling.threads())
    turned(const char* from, char* to, Turn turn) {
  image_work::DeviceBytes memory{from, to};
  Form::body(memory, turn, blockIdx.x * blockDim.x + threadIdx.x,
             blockIdx.y * blockDim.y + threadIdx.y);
}

void run(Session& session) {
  run_on_gpu<Way::forward>(session, [&]<class Form>() -> Code { return turned<Form>; });
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::rotation_forward
