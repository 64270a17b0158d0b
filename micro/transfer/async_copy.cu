// The CUDA backend of async_copy: async_copy.hpp says what it asks.
//
// Every copy is volatile asm, and its address moves on from round to round, by a number that is 0
// and that only the host knows where it would not otherwise: ptxas takes a load whose address never
// changes out of its loop. What is in shared memory before the first copy is poison, written by the
// kernel itself, since a launch may find there what the last one copied. After the clock was read,
// every word of the tiles that are still there is compared with what the array holds.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/driver.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"
#include "micro/transfer/async_copy.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace strata::async_copy {
namespace {

constexpr std::uint32_t word_bytes = sizeof(std::uint32_t);
constexpr std::uint32_t poison = 0xA5A5A5A5U;

/// What one block leaves behind.
struct Record {
  std::uint64_t cycles[2];
  std::uint64_t nanoseconds[2];
  std::uint32_t sm;
  std::uint32_t sum;
  std::uint32_t wrong;
  std::uint32_t unused;
};

__device__ __forceinline__ std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ std::uint32_t shared_word(std::uint32_t at) {
  std::uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
  return word;
}

__device__ __forceinline__ void put_word(std::uint32_t at, std::uint32_t word) {
  asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(word) : "memory");
}

/// Of this cluster: which block this is.
__device__ __forceinline__ std::uint32_t rank_in_cluster() {
  std::uint32_t rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

/// All threads of all blocks of the cluster, and what they wrote before.
__device__ __forceinline__ void synchronize_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" : : : "memory");
  asm volatile("barrier.cluster.wait.acquire;" : : : "memory");
#endif
}

/// The address, to all of the cluster, of what block `rank` has at `at`.
__device__ __forceinline__ std::uint32_t of_block(std::uint32_t at, std::uint32_t rank) {
  std::uint32_t there = at;
#if __CUDA_ARCH__ >= 900
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
#endif
  return there;
}

/// A place to copy from: an address in global memory, one in the shared memory of a cluster, or a
/// row of the matrix that a map shows.
struct Source {
  const char* global;
  std::uint32_t remote;
  const CUtensorMap* map;
  std::uint32_t row;
};

/// 16 bytes. Wanted: LDG.E.128.STRONG.GPU, or a generic LD.E.128, which is what reaches another
/// block's shared memory.
template <Method method>
__device__ __forceinline__ uint4 load(const Source& from, std::uint32_t offset) {
  uint4 v = make_uint4(0, 0, 0, 0);
  if constexpr (method == Method::registers) {
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from.global + offset)
                 : "memory");
  } else {
#if __CUDA_ARCH__ >= 900
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(from.remote + offset)
                 : "memory");
#endif
  }
  return v;
}

__device__ __forceinline__ void store(std::uint32_t to, const uint4& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

/// Wanted: LDGSTS.E of the width; .BYPASS (of L1) where it is 16.
template <std::uint32_t width>
__device__ __forceinline__ void copy_element(std::uint32_t to, const char* from) {
#if __CUDA_ARCH__ >= 800
  if constexpr (width == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(to), "l"(from), "n"(width)
                 : "memory");
  }
#endif
}

constexpr std::uint32_t width_of(Method method) {
  return method == Method::cp_async_4 ? 4 : method == Method::cp_async_8 ? 8 : 16;
}

constexpr bool is_cp_async(Method method) {
  return method == Method::cp_async_4 || method == Method::cp_async_8 ||
         method == Method::cp_async_16;
}

/// `batch` times 16 bytes of a thread, all loaded before the first is stored.
template <Method method, std::uint32_t batch>
__device__ __forceinline__ void pass_on(std::uint32_t to, const Source& from, std::uint32_t first,
                                        std::uint32_t step) {
  uint4 v[batch];
#pragma unroll
  for (std::uint32_t b = 0; b < batch; ++b)
    v[b] = load<method>(from, first + b * step);
#pragma unroll
  for (std::uint32_t b = 0; b < batch; ++b)
    store(to + first + b * step, v[b]);
}

/// Whether one thread asks and the copy engine brings.
constexpr bool is_by_engine(Method method) {
  return method == Method::bulk || method == Method::tensor;
}

/// Asks for a tile, with all threads of the block. What went through registers is there already
/// when this returns, as far as this thread's part of it goes.
template <Method method>
__device__ __forceinline__ void ask(std::uint32_t to, const Source& from, std::uint32_t bytes,
                                    std::uint32_t barrier) {
  if constexpr (is_by_engine(method)) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                   :
                   : "r"(barrier), "r"(bytes)
                   : "memory");
      if constexpr (method == Method::bulk) {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%0], [%1], %2, [%3];"
            :
            : "r"(to), "l"(from.global), "r"(bytes), "r"(barrier)
            : "memory");
      } else {
        // To shared::cluster it would be the same, but for a stack frame of 8 bytes on sm_120.
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3}], [%4];"
            :
            : "r"(to), "l"(from.map), "r"(0), "r"(from.row), "r"(barrier)
            : "memory");
      }
    }
#endif
  } else if constexpr (is_cp_async(method)) {
    constexpr std::uint32_t width = width_of(method);
#pragma unroll 4
    for (std::uint32_t at = threadIdx.x * width; at < bytes; at += threads * width)
      copy_element<width>(to + at, from.global + at);
  } else {
    // A condition for each load would be a branch around each: on an H200 eight of them, and eight
    // around the stores, cost more than the load itself from L2.
    constexpr std::uint32_t step = threads * sizeof(uint4);
    std::uint32_t at = threadIdx.x * static_cast<std::uint32_t>(sizeof(uint4));
#pragma unroll 1
    for (; at + 7 * step < bytes; at += 8 * step)
      pass_on<method, 8>(to, from, at, step);
    if (at + 3 * step < bytes) {
      pass_on<method, 4>(to, from, at, step);
      at += 4 * step;
    }
    if (at + step < bytes) {
      pass_on<method, 2>(to, from, at, step);
      at += 2 * step;
    }
    if (at < bytes) pass_on<method, 1>(to, from, at, step);
  }
}

/// Ends what a thread asked for since the last time; empty groups keep the count.
template <Method method>
__device__ __forceinline__ void commit() {
#if __CUDA_ARCH__ >= 800
  if constexpr (is_cp_async(method)) asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/// Waits until no more than `pending` groups of this thread are on their way, or until the phase of
/// the barrier is over. After it this thread may read what it asked for, or the whole tile that the
/// copy engine brought.
template <Method method, int pending>
__device__ __forceinline__ void wait(std::uint32_t barrier, std::uint32_t parity) {
  if constexpr (is_cp_async(method)) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory");
#endif
  } else if constexpr (is_by_engine(method)) {
#if __CUDA_ARCH__ >= 900
    std::uint32_t done = 0;
#pragma unroll 1
    while (done == 0) {
      asm volatile(
          "{ .reg .pred over;\n\t"
          "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n\t"
          "selp.u32 %0, 1, 0, over; }"
          : "=r"(done)
          : "r"(barrier), "r"(parity)
          : "memory");
    }
#endif
  }
}

/// Poison in the first `bytes` of shared memory, the barriers ready, both visible to the copy
/// engine.
template <Method method>
__device__ __forceinline__ void make_ready(std::uint32_t shared, std::uint32_t bytes,
                                           std::uint32_t barriers, std::uint32_t count) {
  for (std::uint32_t at = threadIdx.x * word_bytes; at < bytes; at += threads * word_bytes)
    put_word(shared + at, poison);
#if __CUDA_ARCH__ >= 900
  if constexpr (is_by_engine(method)) {
    if (threadIdx.x == 0) {
      for (std::uint32_t b = 0; b < count; ++b) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;"
                     :
                     : "r"(barriers + b * static_cast<std::uint32_t>(sizeof(std::uint64_t)))
                     : "memory");
      }
      asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    asm volatile("fence.proxy.async;" : : : "memory");
  }
#endif
}

/// The tile that other blocks of the cluster read, brought by plain loads.
__device__ __forceinline__ void put_tile(std::uint32_t to, const char* data, const Tiles& tiles,
                                         std::uint32_t tile) {
  const char* from = data + std::uint64_t{tile} * tiles.pitch;
  for (std::uint32_t at = threadIdx.x * word_bytes; at < tiles.bytes; at += threads * word_bytes)
    put_word(to + at, *reinterpret_cast<const std::uint32_t*>(from + at));
}

/// How many words of what lies at `at` are not those of the tile.
__device__ __forceinline__ std::uint32_t differences(std::uint32_t at, const Tiles& tiles,
                                                     std::uint32_t tile) {
  const std::uint32_t first = tiles.first_word(tile);
  std::uint32_t wrong = 0;
  for (std::uint32_t w = threadIdx.x; w < tiles.bytes / word_bytes; w += threads)
    wrong += shared_word(at + w * word_bytes) != hashed_word(first + w);
  return wrong;
}

/// One clock beside the other, after a barrier. A warp that arrives at a barrier may go on to read
/// a clock and stop behind that (BAR.SYNC.DEFER_BLOCKING): a word of shared memory that is needed
/// here comes only when the barrier has let it go. `zero` is 0, which only the host knows.
struct Stamp {
  std::uint64_t nanoseconds;
  std::uint64_t cycles;
};
__device__ __forceinline__ Stamp stamp_after_barrier(std::uint32_t shared, std::uint32_t zero) {
  consume(shared_word(shared) & zero);
  const std::uint64_t nanoseconds = global_nanoseconds();
  return {nanoseconds, cycles_now()};
}

__device__ __forceinline__ void put_stamps(Record* record, const Stamp& begin, const Stamp& end) {
  record->cycles[0] = begin.cycles;
  record->cycles[1] = end.cycles;
  record->nanoseconds[0] = begin.nanoseconds;
  record->nanoseconds[1] = end.nanoseconds;
  record->sm = sm_id();
}

/// One tile after the other, with one block; of a cluster the first block works.
template <Method method>
__global__ void __launch_bounds__(threads)
    fetch(const char* data, const __grid_constant__ CUtensorMap map,
          const __grid_constant__ Tiles tiles, std::uint32_t rows_of_tile, std::uint32_t rounds,
          std::uint32_t mask, std::uint32_t cluster, Record* record) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) std::uint64_t barrier_word;
  __shared__ std::uint32_t wrong;
  constexpr bool distributed = method == Method::distributed;
  const std::uint32_t to = shared_address(memory);
  const std::uint32_t barrier = shared_address(&barrier_word);
  const std::uint32_t rank = distributed ? rank_in_cluster() : 0;
  if (threadIdx.x == 0) wrong = 0;
  make_ready<method>(to, tiles.bytes, barrier, 1);
  Source from{data, 0, &map, 0};
  if constexpr (distributed) {
    put_tile(to + tiles.bytes, data, tiles, rank % tiles.count);
    from.remote = of_block(to + tiles.bytes, 1 % cluster);
    synchronize_cluster();
  }
  __syncthreads();
  if (rank == 0) {
    std::uint32_t sum = 0;
    std::uint32_t tile = 0;
    std::uint32_t last = 0;
    const Stamp begin = stamp_after_barrier(to, mask);
#pragma unroll 1
    for (std::uint32_t r = 0; r < rounds; ++r) {
      last = tile;
      ask<method>(to, from, tiles.bytes, barrier);
      commit<method>();
      wait<method, 0>(barrier, r & 1U);
      if constexpr (!is_by_engine(method)) __syncthreads();
      const std::uint32_t landed = shared_word(to + tiles.bytes - word_bytes);
      sum += landed;
      if constexpr (distributed) {
        from.remote += landed & mask;
      } else {
        tile += 1 + (landed & mask);
        if (tile >= tiles.count) tile = 0;
        from.global = data + std::uint64_t{tile} * tiles.pitch;
        from.row = tile * rows_of_tile;
      }
      __syncthreads();
    }
    const Stamp end = stamp_after_barrier(to, mask);
    if (threadIdx.x == 0) {
      put_stamps(record, begin, end);
      record->sum = sum;
    }
    const std::uint32_t expected = distributed ? 1 % cluster % tiles.count : last;
    const std::uint32_t mine = differences(to, tiles, expected);
    if (mine != 0) atomicAdd(&wrong, mine);
    __syncthreads();
    if (threadIdx.x == 0) record->wrong = wrong;
  }
  if constexpr (distributed) synchronize_cluster();  // no block ends while it is read
}

/// Tiles after tiles, several on their way, in every block.
template <Method method>
__global__ void __launch_bounds__(threads)
    stream(const char* data, const __grid_constant__ CUtensorMap map,
           const __grid_constant__ Tiles tiles, std::uint32_t rows_of_tile, std::uint32_t rounds,
           std::uint32_t advance, std::uint32_t cluster, Record* records) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) std::uint64_t barrier_words[stages];
  __shared__ std::uint32_t wrong;
  constexpr bool distributed = method == Method::distributed;
  const std::uint32_t shared = shared_address(memory);
  const std::uint32_t barriers = shared_address(barrier_words);
  constexpr std::uint32_t barrier_bytes = sizeof(std::uint64_t);
  if (threadIdx.x == 0) wrong = 0;
  make_ready<method>(shared, stages * tiles.bytes, barriers, stages);
  Source from{data, 0, &map, 0};
  std::uint32_t partner = blockIdx.x;
  if constexpr (distributed) {
    const std::uint32_t rank = rank_in_cluster();
    const std::uint32_t next = (rank + 1) % cluster;
    partner = blockIdx.x - rank + next;
    put_tile(shared + stages * tiles.bytes, data, tiles, blockIdx.x % tiles.count);
    from.remote = of_block(shared + stages * tiles.bytes, next);
    synchronize_cluster();
  }
  __syncthreads();
  // A remainder for each tile would cost more than a small tile does.
  const std::uint32_t step = gridDim.x % tiles.count;
  std::uint32_t tile = blockIdx.x % tiles.count;
  const auto ask_next = [&](std::uint32_t stage) {
    if constexpr (distributed) {
      from.remote += advance;
    } else {
      from.global = data + std::uint64_t{tile} * tiles.pitch;
      from.row = tile * rows_of_tile;
      tile += step;
      if (tile >= tiles.count) tile -= tiles.count;
    }
    ask<method>(shared + stage * tiles.bytes, from, tiles.bytes, barriers + stage * barrier_bytes);
  };
  const Stamp begin = stamp_after_barrier(shared, advance);
#pragma unroll 1
  for (std::uint32_t r = 0; r < stages; ++r) {
    ask_next(r);
    commit<method>();
  }
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    const std::uint32_t stage = r % stages;
    wait<method, int{stages} - 1>(barriers + stage * barrier_bytes, (r / stages) & 1U);
    __syncthreads();
    if (r + stages < rounds) ask_next(stage);
    commit<method>();
  }
  __syncthreads();
  const Stamp end = stamp_after_barrier(shared, advance);
  Record* const record = records + blockIdx.x;
  if (threadIdx.x == 0) {
    put_stamps(record, begin, end);
    record->sum = 0;
  }
  std::uint32_t mine = 0;
#pragma unroll 1
  for (std::uint32_t s = 0; s < stages; ++s) {
    const std::uint32_t round = rounds - 1 - (rounds - 1 - s) % stages;
    const std::uint32_t expected =
        distributed ? partner % tiles.count : tiles.tile(blockIdx.x, gridDim.x, round);
    mine += differences(shared + s * tiles.bytes, tiles, expected);
  }
  if (mine != 0) atomicAdd(&wrong, mine);
  __syncthreads();
  if (threadIdx.x == 0) record->wrong = wrong;
  if constexpr (distributed) synchronize_cluster();  // no block ends while it is read
}

__global__ void fill(std::uint32_t* words, std::uint32_t count) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    words[i] = hashed_word(i);
}

using Kernel = void (*)(const char*, CUtensorMap, Tiles, std::uint32_t, std::uint32_t,
                        std::uint32_t, std::uint32_t, Record*);

template <Method method>
Kernel kernel_of(bool latency) {
  return latency ? fetch<method> : stream<method>;
}

Kernel kernel_for(Method method, bool latency) {
  switch (method) {
    case Method::registers:
      return kernel_of<Method::registers>(latency);
    case Method::cp_async_4:
      return kernel_of<Method::cp_async_4>(latency);
    case Method::cp_async_8:
      return kernel_of<Method::cp_async_8>(latency);
    case Method::cp_async_16:
      return kernel_of<Method::cp_async_16>(latency);
    case Method::bulk:
      return kernel_of<Method::bulk>(latency);
    case Method::tensor:
      return kernel_of<Method::tensor>(latency);
    default:
      return kernel_of<Method::distributed>(latency);
  }
}

/// The array that all tiles are of.
struct Field {
  explicit Field(std::uint64_t memory_bytes) : words{words_for(memory_bytes)} {
    constexpr unsigned fill_blocks = 1024;
    fill<<<fill_blocks, threads>>>(words.data(), static_cast<std::uint32_t>(words.size()));
    cuda_check(cudaGetLastError());
    cuda_check(cudaDeviceSynchronize());
  }
  static std::size_t words_for(std::uint64_t memory_bytes) {
    constexpr std::uint64_t enough = std::uint64_t{1} << 30U;
    return std::min(enough, memory_bytes / 8) / word_bytes;
  }
  DeviceBuffer<std::uint32_t> words;
};

/// What the copy engine must know to find a tile by its row. Encoded by the driver, whose function
/// is looked up: an executable that links it starts nowhere else.
CUtensorMap map_of(const Tiles& tiles, std::uint32_t* words) {
  constexpr unsigned since = 12000;
  const auto encode =
      driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled", since);
  if (encode == nullptr) throw Skipped{"this driver knows no tensor maps"};
  const Rows rows = rows_of(tiles);
  const std::array<cuuint64_t, 2> extent{rows.bytes / word_bytes,
                                         std::uint64_t{tiles.count} * rows.of_a_tile};
  const std::array<cuuint64_t, 1> stride{rows.pitch};
  const std::array<cuuint32_t, 2> box{rows.bytes / word_bytes, rows.of_a_tile};
  const std::array<cuuint32_t, 2> every{1, 1};
  CUtensorMap map{};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, words, extent.data(), stride.data(),
             box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw std::runtime_error{"cuTensorMapEncodeTiled: error " +
                             std::to_string(static_cast<int>(status))};
  }
  return map;
}

/// How a case is launched.
struct Setting {
  Method method = Method::registers;
  bool latency = false;
  bool from_l2 = false;
  bool from_dram = false;
  std::uint32_t bytes = 0;
  unsigned cluster = 1;
  unsigned sms = 0;
  std::uint64_t l2_bytes = 0;
  std::size_t shared_per_sm = 0;
  std::size_t shared_per_block = 0;
};

class Copier {
 public:
  Copier(const Setting& setting, Field& field, Eviction& eviction)
      : setting_{setting},
        kernel_{kernel_for(setting.method, setting.latency)},
        field_{field},
        eviction_{eviction},
        tiles_{tiles_for(setting.bytes, setting.from_dram
                                            ? field.words.size_bytes()
                                            : std::min<std::uint64_t>(setting.l2_bytes / 4,
                                                                      field.words.size_bytes()))},
        map_{setting.method == Method::tensor ? map_of(tiles_, field.words.data()) : CUtensorMap{}},
        shared_bytes_{shared_bytes()},
        blocks_{blocks()},
        rounds_{setting.latency
                    ? latency_rounds(setting.bytes)
                    : stream_rounds(setting.bytes,
                                    setting.from_dram ? tiles_.count / blocks_ : UINT32_MAX)},
        records_{blocks_},
        landed_{blocks_} {}

  void prepare() {}  // each launch has its own preparation, right before it

  Observation observe() {
    const std::uint32_t brief = rounds_ / 5;
    const double brief_seconds = run(brief);
    const Spans of_brief = spans();
    const double full_seconds = run(rounds_);
    const Spans of_full = spans();
    // What lies between the reads of the two clocks cancels: after an eviction that may be the
    // arrival of the instructions behind the first of them.
    const double core_hertz =
        (of_full.cycles - of_brief.cycles) / (of_full.seconds - of_brief.seconds);
    const double tiles = rounds_ - brief;
    const double seconds = full_seconds - brief_seconds;
    return {.inside = (of_full.slowest - of_brief.slowest) / tiles,
            .outside = seconds * core_hertz / tiles,
            .tiles_per_second = tiles * blocks_ / seconds,
            .core_hertz = core_hertz};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "words copied against the array");
  }
  [[nodiscard]] Gate code() const {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel_));
    return spill_gate(attributes.localSizeBytes, attributes.numRegs);
  }
  /// One block on each SM that takes part.
  [[nodiscard]] Gate placement() const {
    std::vector<std::uint32_t> sm_of_block;
    for (const Record& r : landed_.span())
      sm_of_block.push_back(r.sm);
    return placement_gate(sm_of_block, blocks_, 1);
  }
  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  [[nodiscard]] unsigned block_count() const { return blocks_; }
  [[nodiscard]] const Tiles& tiles() const { return tiles_; }

 private:
  static constexpr std::size_t static_bytes = 1024;  // more than the kernels' own, and the system's

  /// Dynamic shared memory of a block: its tiles, and so much more, where all SMs are at work, that
  /// no SM holds two blocks.
  [[nodiscard]] std::size_t shared_bytes() const {
    const bool distributed = setting_.method == Method::distributed;
    const std::size_t tiles = (setting_.latency ? 1 : stages) + (distributed ? 1U : 0U);
    std::size_t bytes = tiles * setting_.bytes;
    if (!setting_.latency) bytes = std::max(bytes, setting_.shared_per_sm / 2 + static_bytes);
    if (bytes + static_bytes > setting_.shared_per_block) {
      throw Skipped{"a block would need " + std::to_string(bytes) +
                    " bytes of shared memory, and may have " +
                    std::to_string(setting_.shared_per_block)};
    }
    cuda_check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
    return bytes;
  }

  [[nodiscard]] cudaLaunchConfig_t config(unsigned blocks, cudaLaunchAttribute& attribute) const {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3{blocks};
    config.blockDim = dim3{threads};
    config.dynamicSmemBytes = shared_bytes_;
    config.stream = stream_.get();
    if (setting_.cluster > 1) {
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = setting_.cluster;
      attribute.val.clusterDim.y = 1;
      attribute.val.clusterDim.z = 1;
      config.attrs = &attribute;
      config.numAttrs = 1;
    }
    return config;
  }

  /// A cluster lives within a group of SMs, whose number need not divide by its size: not every SM
  /// may have a place in one.
  [[nodiscard]] unsigned blocks() const {
    if (setting_.latency) return setting_.cluster;
    if (setting_.cluster == 1) return setting_.sms;
    cudaLaunchAttribute attribute{};
    const unsigned most = setting_.sms / setting_.cluster;
    const cudaLaunchConfig_t wanted = config(most * setting_.cluster, attribute);
    int clusters = 0;
    cuda_check(cudaOccupancyMaxActiveClusters(&clusters, kernel_, &wanted));
    if (clusters < 1) throw Skipped{"no cluster of that size fits on this device"};
    return std::min(most, static_cast<unsigned>(clusters)) * setting_.cluster;
  }

  void launch(std::uint32_t rounds) {
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t wanted = config(blocks_, attribute);
    constexpr std::uint32_t nothing = 0;
    cuda_check(cudaLaunchKernelEx(&wanted, kernel_,
                                  reinterpret_cast<const char*>(field_.words.data()), map_, tiles_,
                                  rows_of(tiles_).of_a_tile, rounds, nothing,
                                  std::uint32_t{setting_.cluster}, records_.data()));
  }

  double run(std::uint32_t rounds) {
    if (setting_.from_dram) eviction_.evict(stream_.get());
    if (setting_.from_l2) eviction_.touch(field_.words.data(), tiles_.size(), stream_.get());
    constexpr int byte = 0xA5;
    records_.poison(byte, stream_.get());
    begin_.record(stream_.get());
    launch(rounds);
    end_.record(stream_.get());
    landed_.download_from(records_, stream_.get());
    stream_.synchronize();
    check(rounds);
    return end_.seconds_since(begin_);
  }

  /// From the first to the last stamp of the blocks of the last launch.
  struct Spans {
    double slowest = 0;  ///< cycles
    double cycles = 0;   ///< of all blocks together
    double seconds = 0;
  };
  [[nodiscard]] Spans spans() const {
    Spans spans;
    for (const Record& r : landed_.span().first(working())) {
      const auto cycles = static_cast<double>(r.cycles[1] - r.cycles[0]);
      spans.slowest = std::max(spans.slowest, cycles);
      spans.cycles += cycles;
      spans.seconds += static_cast<double>(r.nanoseconds[1] - r.nanoseconds[0]) * 1e-9;
    }
    return spans;
  }

  /// Blocks that copy and leave a record.
  [[nodiscard]] std::size_t working() const { return setting_.latency ? 1 : blocks_; }

  void check(std::uint32_t rounds) {
    const std::size_t words = (setting_.latency ? 1 : stages) * (tiles_.bytes / word_bytes);
    for (const Record& r : landed_.span().first(working())) {
      checked_ += words;
      different_ += r.wrong;
    }
    if (setting_.latency) {
      const std::uint32_t expected =
          setting_.method == Method::distributed
              ? expected_sum_of_one(tiles_, 1 % setting_.cluster % tiles_.count, rounds)
              : expected_sum(tiles_, rounds);
      checked_ += rounds;
      if (landed_.span().front().sum != expected) different_ += rounds;
    }
  }

  Setting setting_;
  Kernel kernel_;
  Field& field_;
  Eviction& eviction_;
  Stream stream_;
  Tiles tiles_;
  CUtensorMap map_;
  std::size_t shared_bytes_;
  unsigned blocks_;
  std::uint32_t rounds_;  // of the long launch; a fifth of them in the short one
  DeviceBuffer<Record> records_;
  PinnedBuffer<Record> landed_;
  Event begin_;
  Event end_;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

/// Throws Skipped where the chip, or the code that this build has for it, cannot do it.
void require_capability(Method method, Kernel kernel) {
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  int major = 0;
  int minor = 0;
  cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  cuda_check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  const int needed = needs(method);
  const std::string words = std::to_string(needed / 10) + '.' + std::to_string(needed % 10);
  if (10 * major + minor < needed) throw Skipped{"it takes compute capability " + words};
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel));
  if (attributes.ptxVersion < needed) {
    throw Skipped{"this build has no code for compute capability " + words};
  }
}

void run(Session& session) {
  if (session.counters() != nullptr) {
    throw Skipped{"copies past the registers are not among the loads that the sets count"};
  }
  const Method method = method_of(session);
  const bool latency = session.param("measure") == "latency";
  require_capability(method, kernel_for(method, latency));
  const Facts& facts = session.device().identity().facts;
  const auto fact = [&](const char* name) {
    return static_cast<std::uint64_t>(std::get<std::int64_t>(facts.at(name)));
  };
  const Setting setting{.method = method,
                        .latency = latency,
                        .from_l2 = session.param("residency") == "l2",
                        .from_dram = session.param("residency") == "dram",
                        .bytes = static_cast<std::uint32_t>(session.integer("bytes")),
                        .cluster = static_cast<unsigned>(session.integer("cluster")),
                        .sms = static_cast<unsigned>(fact("sm_count")),
                        .l2_bytes = fact("l2_bytes"),
                        .shared_per_sm = fact("shared_bytes_per_sm"),
                        .shared_per_block = fact("shared_bytes_per_block_optin")};
  Field& field =
      session.cache().keep<Field>("async_copy", [&] { return Field{fact("memory_bytes")}; });
  Copier copier{setting, field, session.cache().shared<Eviction>()};
  const auto seen = collect(copier, session.plan());
  report(session, seen, latency, setting.bytes);
  session.add(copier.result());
  session.add(copier.code());
  if (!latency) session.add(copier.placement());
  if (method != Method::distributed) session.add(level_unverified(session.counting_note()));
  session.fact("rounds", static_cast<std::int64_t>(copier.rounds()));
  session.fact("blocks", static_cast<std::int64_t>(copier.block_count()));
  session.fact("footprint_bytes", static_cast<std::int64_t>(copier.tiles().size()));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::async_copy
