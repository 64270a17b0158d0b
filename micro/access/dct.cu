#include "micro/access/dct.hpp"

#include <numeric>

#ifdef __CUDACC__
#include "micro/access/dct_best.cuh"
#include "micro/access/dct_direct.cuh"
#include "micro/access/dct_separable.cuh"
#include "micro/access/launch_series.cuh"
#include "micro/access/mended.cuh"
#endif

namespace strata::dct {

namespace {

/// Images of a case, where `cache` bytes are those of L2.
std::uint32_t images_of(const Params& params, std::uint64_t cache) {
  constexpr std::uint64_t caches = 4;
  return sizes.of(params.at("size")) ? static_cast<std::uint32_t>(caches * cache / pixels + 1) : 1;
}

/// Requests of a launch of a GPU form.
LaunchTraffic predicted(Form form, std::uint32_t images) {
  constexpr std::uint64_t warps = pixels / warp_lanes;
  constexpr std::uint64_t sectors_of_image = pixels / sector_bytes;
  constexpr std::uint64_t sectors_of_result = pixels * sizeof(float) / sector_bytes;
  if (is_direct(form)) {
    // All lanes read the same bytes. In blocks of 16 × 16, a warp's coefficients are in two rows.
    const std::uint64_t width = form == Form::original ? 1 : form == Form::seed_tool ? 4 : 16;
    return {.load_requests = warps * pixels / width,
            .load_sectors = warps * pixels / width,
            .store_requests = warps,
            .store_sectors = sectors_of_result};
  }
  if (form == Form::best) {
    // Each of 128 blocks reads the image once, 512 bytes a warp; a thread computes four
    // coefficients.
    constexpr std::uint64_t blocks = 128;
    return {.load_requests = blocks * pixels / (std::uint64_t{16} * warp_lanes),
            .load_sectors = blocks * sectors_of_image,
            .store_requests = warps,
            .store_sectors = sectors_of_result};
  }
  // Two matrix products in 16 tiles of 64 × 64, each of which reads both sides in 16 steps of 16,
  // one load a thread and side. A warp reads 8 rows of 16 bytes, or two rows of 64 numbers.
  const std::uint64_t products = std::uint64_t{2} * images;
  constexpr std::uint64_t steps = std::uint64_t{16} * 16;
  constexpr std::uint64_t warps_of_block = 8;
  constexpr std::uint64_t of_bytes = 8;
  constexpr std::uint64_t of_numbers = 16;
  return {.load_requests = products * steps * 2 * warps_of_block,
          .load_sectors = images * steps * warps_of_block * (of_bytes + 3 * of_numbers),
          .store_requests = products * 16 * warps_of_block * 4,
          .store_sectors = products * sectors_of_result};
}

/// How often the transform is done in each of two series.
launch_series::Series series_of(Form form, std::uint32_t images) {
  constexpr std::uint32_t many_images = 512;  // a millisecond of them
  const std::uint32_t times = form == Form::separable && images == 1 ? many_images : 1;
  return {.few = times, .many = 3 * times};
}

/// The case on a GPU.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Form form = forms.of(params.at("form"));
  const std::uint32_t images = images_of(params, gpu.l2_bytes);
  Experiment experiment = launch_series::on_gpu(bytes_of(images), series_of(form, images));
  add_term_rate(experiment, images);
  experiment.checked = "coefficients within their rounding bound";
  if (form == Form::texture) {
    experiment.not_counted = "the memory set has no counter for loads from textures";
  } else {
    experiment.counts = launch_series::count_launch(predicted(form, images), "address_arithmetic");
  }
  return experiment;
}

#ifdef __CUDACC__

template <unsigned width, Access access>
__global__ void __launch_bounds__(direct_side* direct_side)
    direct(const char* image, float* coefficients) {
  sum_over_pixels<width, access>(image, coefficients);
}

/// Elements of 16 bytes. Wanted: TLD with four components.
__global__ void __launch_bounds__(direct_side* direct_side)
    from_texture(cudaTextureObject_t texture, float* coefficients) {
  sum_over_pixels<16>(coefficients, [&](std::uint32_t* words, std::uint32_t at) {
    asm volatile("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(texture), "r"(at / 16));
  });
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
        table{cosines()},
        texture{word_texture(from.data(), pixels, /*words=*/4)} {}
  DeviceBuffer<std::uint32_t> from;
  DeviceBuffer<float> rows;
  DeviceBuffer<float> to;
  DeviceBuffer<float> table;
  WordTexture texture;  ///< of the first image
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
  if (form == Form::texture) return {reinterpret_cast<const void*>(from_texture)};
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
    if (form == Form::texture) {
      from_texture<<<grid, block, 0, stream>>>(batch.texture.object, batch.to.data());
    } else {
      direct_for(form)<<<grid, block, 0, stream>>>(from, batch.to.data());
    }
  }
  cuda_check(cudaGetLastError());
}

/// Images spread over the batch. Every coefficient of them is compared.
constexpr std::uint32_t compared = 8;

void run(Session& session) {
  const Form form = forms.of(session.param("form"));
  const std::uint32_t images = images_of(session.params(), session.gpu().l2_bytes);
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
  Experiment experiment = describe(session.params(), session.gpu());
  experiment.kernels = code_of(form);
  launch_series::measure_series(
      session, machine, experiment, alone, series_of(form, images),
      [&](std::uint32_t times) { transform(form, batch, images, times, stream); });
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::dct
