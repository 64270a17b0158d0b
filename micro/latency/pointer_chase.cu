// Kernels that write and visit chains; none of them is timed.
#include "harness/base/error.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/occupancy.hpp"
#include "harness/cuda/reduce.cuh"
#include "micro/latency/pointer_chase.cuh"

namespace strata::pointer_chase {
namespace {

constexpr unsigned write_threads = 256;
constexpr unsigned write_blocks = 1024;
constexpr unsigned visit_threads = 1024;

/// Calls link(i) for the first `links` links of a chain, each in one thread of the grid.
template <class Link>
__device__ __forceinline__ void for_each_link(std::uint64_t links, Link&& link) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < links; i += step)
    link(i);
}

__global__ void write_addresses(const __grid_constant__ PermutedChain chain, std::uint64_t links) {
  for_each_link(links, [&](std::uint64_t i) {
    *reinterpret_cast<std::uint64_t*>(chain.address_at(i)) = chain.address_at(i + 1);
  });
}

__global__ void write_elements(const __grid_constant__ PermutedChain chain, std::uint64_t links,
                               std::uint32_t* data) {
  for_each_link(links, [&](std::uint64_t i) {
    data[chain.address_at(i) / sizeof(std::uint32_t)] =
        static_cast<std::uint32_t>(chain.address_at(i + 1) / sizeof(std::uint32_t));
  });
}

/// Each block reads the words at `place(0)` to `place(count - 1)`.
template <class Place>
__device__ __forceinline__ void visit_words(std::uint64_t count, std::uint32_t* sink,
                                            Place&& place) {
  std::uint32_t sum = 0;
#pragma unroll 4
  for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x)
    sum ^= load_word<Access::global_cg>(reinterpret_cast<const void*>(place(i)));
  keep_loads(sum, sink);
}

__global__ void __launch_bounds__(visit_threads)
    visit_every(std::uint64_t base, std::uint64_t step, std::uint64_t count, std::uint32_t* sink) {
  visit_words(count, sink, [=](std::uint64_t i) { return base + i * step; });
}

__global__ void __launch_bounds__(visit_threads)
    visit_chain(const __grid_constant__ PermutedChain chain, std::uint32_t* sink) {
  visit_words(chain.cycle.slots(), sink,
              [&](std::uint64_t slot) { return chain.address_of(slot); });
}

/// Each block visits the steps that come before its walker's first one. Walkers are `gap` steps
/// apart; if the cycle is not a multiple of that, all blocks read the remainder.
__global__ void __launch_bounds__(visit_threads)
    visit_steps(const __grid_constant__ PermutedChain chain, std::uint64_t gap,
                std::uint32_t* sink) {
  const std::uint64_t slots = chain.cycle.slots();
  const std::uint64_t count = slots - gap * (gridDim.x - 1);
  const std::uint64_t first = blockIdx.x * gap + (slots - count);
  visit_words(count, sink, [&](std::uint64_t i) {
    const std::uint64_t step = first + i;
    return chain.address_at(step < slots ? step : step - slots);
  });
}

}  // namespace

ChainMemory& memory_for(Session& session, std::string name, std::uint64_t footprint,
                        std::uint64_t small, std::uint64_t most, bool mapped_by_hand) {
  const bool is_small = footprint <= small;
  name += is_small ? "/small" : "/large";
  auto& memory = session.cache().keep<ChainMemory>(name, [&] {
    const std::uint64_t bytes = std::min(is_small ? small : most, free_bytes_to_use());
    ChainMemory made;
    if (mapped_by_hand) {
      made.mapped = std::make_unique<MappedMemory>(bytes);
    } else {
      made.plain = std::make_unique<DeviceBuffer<char>>(bytes);
    }
    // A visit to a page may read a word that no chain has written.
    cuda_check(cudaMemset(reinterpret_cast<void*>(made.address()), 0xA5, made.size()));
    cuda_check(cudaDeviceSynchronize());
    return made;
  });
  if (footprint <= memory.size()) return memory;
  const auto text = [](std::uint64_t bytes) {
    constexpr std::uint64_t mebi = std::uint64_t{1} << 20U;
    return bytes >= mebi ? std::to_string(bytes / mebi) + " MiB" : std::to_string(bytes) + " B";
  };
  throw Skipped{text(footprint) + " are more than 80 % of the memory that was free (" +
                text(memory.size()) + ")"};
}

void write_links(const PermutedChain& chain, std::uint64_t links, cudaStream_t stream) {
  write_addresses<<<write_blocks, write_threads, 0, stream>>>(chain, links);
  cuda_check(cudaGetLastError());
}

void write_indices(const PermutedChain& chain, std::uint64_t links, std::uint64_t data,
                   cudaStream_t stream) {
  write_elements<<<write_blocks, write_threads, 0, stream>>>(
      chain, links, reinterpret_cast<std::uint32_t*>(data));
  cuda_check(cudaGetLastError());
}

void visit_pages(const ChainMemory& memory, std::uint64_t bytes, unsigned cores,
                 cudaStream_t stream) {
  // The page size of the GPU as far as is known; where pages are larger, they are visited twice.
  const std::uint64_t step = std::min(std::uint64_t{2} << 20U, bytes);
  visit_every<<<cores, visit_threads, 0, stream>>>(memory.address(), step,
                                                   (bytes + step - 1) / step, memory.sink.data());
  cuda_check(cudaGetLastError());
}

void visit_slots(const ChainMemory& memory, const PermutedChain& chain, cudaStream_t stream) {
  visit_chain<<<1, visit_threads, 0, stream>>>(chain, memory.sink.data());
  cuda_check(cudaGetLastError());
}

void visit_lap(const ChainMemory& memory, const PermutedChain& chain, unsigned walkers,
               cudaStream_t stream) {
  const std::uint64_t gap = chain.cycle.slots() / walkers;
  visit_steps<<<walkers, visit_threads, 0, stream>>>(chain, gap, memory.sink.data());
  cuda_check(cudaGetLastError());
}

}  // namespace strata::pointer_chase
