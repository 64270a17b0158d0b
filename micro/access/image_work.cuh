// Launches the body of a form on an image, and measures it.
#pragma once

#include "harness/cuda/access.cuh"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/fill.hpp"
#include "micro/access/image_work.hpp"
#include "micro/access/launch_series.cuh"

#include <cuda_runtime_api.h>

namespace strata::image_work {

/// Memory of a body on the device: each access is one instruction.
class DeviceBytes {
 public:
  __device__ DeviceBytes(const char* from, char* to) : from_{from}, to_{to} {}

  // Declared for both sides like the bodies; the host has separate memories.
  template <unsigned bytes>
  STRATA_HD void load(unsigned /*slot*/, std::uint32_t* words, std::uint64_t at) const {
#if defined(__CUDA_ARCH__)
    strata::load<Access::global, bytes>(words, from_ + at);
#endif
  }
  template <unsigned bytes>
  STRATA_HD void store(unsigned /*slot*/, std::uint64_t at, const std::uint32_t* words) const {
#if defined(__CUDA_ARCH__)
    strata::store<Access::global, bytes>(to_ + at, words);
#endif
  }

 private:
  const char* from_;
  char* to_;
};

/// An image on the device and on the host, and room for its result.
struct Images {
  explicit Images(const Image& image)
      : from{image.bytes() / sizeof(std::uint32_t)},
        to{image.bytes()},
        landed{image.bytes()},
        pixels{pixels_of(image)} {}
  DeviceBuffer<std::uint32_t> from;
  DeviceBuffer<std::uint8_t> to;
  PinnedBuffer<std::uint8_t> landed;
  std::vector<std::uint8_t> pixels;
};

/// A form, and its launch.
template <class What>
struct Kernel {
  void (*code)(const char*, char*, What) = nullptr;
  Tiling tiling;
  /// Of a form that is launched otherwise; code_of() is the code that is launched.
  void (*launch)(dim3, dim3, cudaStream_t, const char*, char*, const What&) = nullptr;
  const void* (*code_of)(dim3, dim3, const What&) = nullptr;
};

/// `what_of(image)` gives the kernel's arguments besides its memory, traffic(image) the requests of
/// one launch.
template <class What, class Make, class Predict>
void measure_on_gpu(Session& session, const Kernel<What>& kernel, const Make& what_of,
                    const Predict& traffic, const Check& check) {
  const Image image =
      image_of(session.params(), gpu_facts(session.device().identity().facts).l2_bytes);
  const What what = what_of(image);
  CudaMachine machine{session, 0};
  const cudaStream_t stream = machine.stream().get();
  Images& images = session.cache().keep<Images>("image " + session.param("size"), [&] {
    Images made{image};
    fill(made.from.data(), made.from.size(), HashedWords{}, stream);
    return made;
  });
  const dim3 block{kernel.tiling.block_x, kernel.tiling.block_y};
  const auto grid_of = [&](std::uint32_t times) {
    return dim3{kernel.tiling.blocks_x(image.width), kernel.tiling.blocks_y(image.height), times};
  };
  const auto work = [&](std::uint32_t times) {
    const dim3 grid = grid_of(times);
    const auto* const from = reinterpret_cast<const char*>(images.from.data());
    auto* const to = reinterpret_cast<char*>(images.to.data());
    if (kernel.launch != nullptr) return kernel.launch(grid, block, stream, from, to, what);
    kernel.code<<<grid, block, 0, stream>>>(from, to, what);
    cuda_check(cudaGetLastError());
  };
  // A kernel that reads and writes nothing; its counts are subtracted.
  const Slope alone{.launch =
                        [&](const Call& call) {
                          if (call.length.rounds > 0) {
                            work(1);
                          } else {
                            fill(images.from.data(), 0, HashedWords{}, stream);
                          }
                        },
                    .prepare = [&](const Call&) { images.to.poison(poison, stream); },
                    .verify =
                        [&](const Call&, std::span<const Stamp>, Tally& tally) {
                          images.landed.download_from(images.to, stream);
                          machine.stream().synchronize();
                          check(image, images.pixels, images.landed.span(), tally);
                        }};
  const bool counts = session.counters() != nullptr;
  Experiment experiment = describe(image, counts ? traffic(image) : LaunchTraffic{});
  experiment.kernels = {kernel.launch != nullptr ? kernel.code_of(grid_of(1), block, what)
                                                 : reinterpret_cast<const void*>(kernel.code)};
  experiment.facts = [&](const Experiment&) {
    return Facts{{"footprint_bytes", static_cast<std::int64_t>(2 * image.bytes())},
                 {"width", static_cast<std::int64_t>(image.width)},
                 {"height", static_cast<std::int64_t>(image.height)}};
  };
  launch_series::measure_series(session, machine, experiment, alone, series_of(image), work);
}

}  // namespace strata::image_work
