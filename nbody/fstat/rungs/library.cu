#include "nbody/fstat/device_rung.hpp"
#include "nbody/fstat/signal_terms.cuh"

#include <cub/device/device_segmented_reduce.cuh>

namespace strata::fstat::library {
namespace {

__global__ void write_terms(KernelStep step, Sums* terms) {
  const std::uint32_t threads = blockDim.x * blockDim.y;
  const std::size_t at = std::size_t{blockIdx.y} * step.frequencies + blockIdx.x;
  terms[at * threads + threadIdx.y * blockDim.x + threadIdx.x] = term_of_thread(step);
}
__global__ void __launch_bounds__(usual_block) combine_sums(KernelStep step, const Sums* sums) {
  const std::uint32_t at = blockIdx.x * usual_block + threadIdx.x;
  if (at < step.stacks * step.frequencies) store_result(step, at / step.frequencies, at, sums[at]);
}

struct Plus {
  __device__ Sums operator()(const Sums& x, const Sums& y) const { return x + y; }
};

/// Terms and sums of the templates of a cell.
class Segments {
 public:
  Segments(std::uint32_t templates, std::uint32_t threads)
      : templates_{templates},
        terms_{std::size_t{templates} * threads},
        sums_{templates},
        begins_{begins(templates, threads)} {
    std::size_t bytes = 0;
    reduce(nullptr, bytes, nullptr);
    work_ = DeviceBuffer<std::byte>{bytes};
  }
  void sum(const KernelStep& step, dim3 blocks, dim3 block, Queue& queue) {
    queue.launch_blocks(write_terms, {blocks, block}, step, terms_.data());
    queue.launch_as("DeviceSegmentedReduceKernel", 1, [&] {
      std::size_t bytes = work_.size();
      reduce(work_.data(), bytes, queue.stream().get());
    });
    queue.launch_blocks(combine_sums, {(templates_ + usual_block - 1) / usual_block, usual_block},
                        step, sums_.data());
  }

 private:
  static std::vector<std::uint32_t> begins(std::uint32_t templates, std::uint32_t threads) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t t = 0; t <= templates; ++t)
      all.push_back(t * threads);
    return all;
  }
  void reduce(void* work, std::size_t& bytes, cudaStream_t stream) {
    cuda_check(cub::DeviceSegmentedReduce::Reduce(work, bytes, terms_.data(), sums_.data(),
                                                  templates_, begins_.data(), begins_.data() + 1,
                                                  Plus{}, Sums{}, stream));
  }

  std::uint32_t templates_;
  DeviceBuffer<Sums> terms_;
  DeviceBuffer<Sums> sums_;
  DeviceBuffer<std::uint32_t> begins_;
  DeviceBuffer<std::byte> work_{1};
};

DeviceKernel make(const Observation& seen, const Choice& /*choice*/) {
  const Problem p = seen.problem;
  const dim3 blocks{p.frequencies, p.stacks};
  const dim3 block{seen.longest_group(), p.detectors};
  const auto segments = std::make_shared<Segments>(p.stacks * p.frequencies, block.x * block.y);
  return {.run = packed_cells(seen, Spectra::once,
                              [=](const KernelStep& step, Queue& queue) {
                                segments->sum(step, blocks, block, queue);
                              }),
          .kernels = {code_of(write_terms)},
          .block = block.x * block.y};
}

STRATA_RUNG("fstat_library", make);

}  // namespace
}  // namespace strata::fstat::library
