#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/fill.hpp"
#include "harness/measure/engine.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/access/dct.hpp"
#include "micro/access/dct_best.cuh"
#include "micro/access/dct_direct.cuh"
#include "micro/access/dct_separable.cuh"
#include "micro/access/launch_series.cuh"
#include "micro/access/mended.cuh"

#include <algorithm>
#include <numeric>
#include <vector>

namespace strata::dct {
namespace {

template <unsigned width, Access access>
__global__ void __launch_bounds__(direct_side* direct_side)
    direct(const char* image, float* coefficients) {
  sum_over_pixels<width, access>(image, coefficients);
}

__global__ void __launch_bounds__(best_threads) best(const char* image, float* coefficients) {
  __shared__ __align__(16) BestShared shared;
  four_at_once(image, coefficients, shared);
}

/// Images are layers of the grid; where there are more layers than images, a batch is transformed
/// again.
__global__ void __launch_bounds__(pass_threads)
    along_rows(const char* images, const float* cosines, float* rows, std::uint32_t count) {
  __shared__ __align__(16) PassShared shared;
  const std::size_t image = std::size_t{blockIdx.z % count} * pixels;
  product(rows + image, shared, [&](std::uint32_t first) {
    take_bytes(images + image, first, blockIdx.y * pass_tile, shared.left);
    take_numbers(cosines, first, blockIdx.x * pass_tile, shared.right);
  });
}

__global__ void __launch_bounds__(pass_threads)
    along_columns(const float* rows, const float* cosines, float* coefficients,
                  std::uint32_t count) {
  __shared__ __align__(16) PassShared shared;
  const std::size_t image = std::size_t{blockIdx.z % count} * pixels;
  product(coefficients + image, shared, [&](std::uint32_t first) {
    take_numbers(cosines, first, blockIdx.y * pass_tile, shared.left);
    take_numbers(rows + image, first, blockIdx.x * pass_tile, shared.right);
  });
}

/// A batch, in device memory only.
struct Batch {
  explicit Batch(std::uint32_t images)
      : from{std::size_t{images} * pixels / sizeof(std::uint32_t)},
        rows{std::size_t{images} * pixels},
        to{std::size_t{images} * pixels},
        table{cosines()} {}
  DeviceBuffer<std::uint32_t> from;
  DeviceBuffer<float> rows;
  DeviceBuffer<float> to;
  DeviceBuffer<float> table;
};

using Direct = void (*)(const char*, float*);
Direct direct_for(Form form) {
  if (form == Form::original) return direct<1, Access::global>;
  if (form == Form::seed_tool) return direct<4, Access::global>;
  return direct<16, Access::global_nc>;
}

std::vector<const void*> code_of(Form form) {
  if (form == Form::mended) return {mended_forms::code_of_dct()};
  if (form == Form::best) return {reinterpret_cast<const void*>(best)};
  if (form == Form::separable) {
    return {reinterpret_cast<const void*>(along_rows),
            reinterpret_cast<const void*>(along_columns)};
  }
  return {reinterpret_cast<const void*>(direct_for(form))};
}

/// Queues `times` transforms of all images.
void transform(Form form, const Batch& batch, std::uint32_t images, std::uint32_t times,
               cudaStream_t stream) {
  const auto* const from = reinterpret_cast<const char*>(batch.from.data());
  if (form == Form::separable) {
    const dim3 grid{side / pass_tile, side / pass_tile, images * times};
    along_rows<<<grid, pass_threads, 0, stream>>>(from, batch.table.data(), batch.rows.data(),
                                                  images);
    along_columns<<<grid, pass_threads, 0, stream>>>(batch.rows.data(), batch.table.data(),
                                                     batch.to.data(), images);
  } else if (form == Form::best) {
    const dim3 grid{side / best_columns, side / best_rows, times};
    best<<<grid, best_threads, 0, stream>>>(from, batch.to.data());
  } else {
    const dim3 grid{side / direct_side, side / direct_side, times};
    const dim3 block{direct_side, direct_side};
    if (form == Form::mended) {
      return mended_forms::launch_dct(grid, block, stream, from, batch.to.data());
    }
    direct_for(form)<<<grid, block, 0, stream>>>(from, batch.to.data());
  }
  cuda_check(cudaGetLastError());
}

/// Images spread over the batch. Every coefficient of them is compared.
constexpr std::uint32_t compared = 8;

void run(Session& session) {
  const Form form = forms.of(session.param("form"));
  const std::uint32_t images =
      images_of(session.params(), gpu_facts(session.device().identity().facts).l2_bytes);
  CudaMachine machine{session, 0};
  const cudaStream_t stream = machine.stream().get();
  const Batch& batch = session.cache().keep<Batch>("dct " + session.param("size"), [&] {
    Batch made{images};
    fill(made.from.data(), made.from.size(), HashedWords{}, stream);
    return made;
  });
  std::vector<std::uint32_t> all(pixels);
  std::iota(all.begin(), all.end(), 0U);
  const auto verify = [&](const Call&, std::span<const Stamp>, Tally& tally) {
    PinnedBuffer<float> landed{pixels};
    const std::uint32_t count = std::min(images, compared);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t number = count == 1 ? 0 : (images - 1) * i / (count - 1);
      cuda_check(cudaMemcpyAsync(landed.data(), batch.to.data() + std::size_t{number} * pixels,
                                 landed.size_bytes(), cudaMemcpyDeviceToHost, stream));
      machine.stream().synchronize();
      check(reference(image(number), cosine_error(form)), landed.span(), all, tally);
    }
  };
  // The poison is NaN, which every tolerance refuses. The counts of a kernel that reads and writes
  // nothing are subtracted.
  const Slope alone{
      .launch =
          [&](const Call& call) {
            if (call.length.rounds > 0) {
              transform(form, batch, images, 1, stream);
            } else {
              fill(batch.from.data(), 0, HashedWords{}, stream);
            }
          },
      .prepare =
          [&](const Call&) {
            for (const DeviceBuffer<float>* one : {&batch.rows, &batch.to})
              cuda_check(cudaMemsetAsync(one->data(), 0xFF, one->size_bytes(), stream));
          },
      .verify = verify};
  Experiment experiment = describe(form, images);
  experiment.kernels = code_of(form);
  launch_series::measure_series(
      session, machine, experiment, alone, series_of(form, images),
      [&](std::uint32_t times) { transform(form, batch, images, times, stream); });
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::dct
