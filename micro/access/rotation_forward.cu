#include "micro/access/rotation.cuh"

namespace strata::rotation_forward {
namespace {

using namespace rotation;

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

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::rotation_forward
