// The CUDA backend of bandwidth: bandwidth.hpp says what it asks.
//
// One kernel for all levels: a round is some accesses to neighbouring pieces of each array, all
// under way together, and then a new address, which hangs on a comparison that only the run
// decides: an access whose address never changes is taken out of the loop by ptxas, volatile asm or
// not. The accesses of a warp lie side by side, so that they share one address and differ in a
// constant.
//
// What is read is added up and compared with the sum that the addresses imply. What is written is
// read back by another kernel, word by word, and some words by the host. A launch of no rounds is
// the same kernel without accesses.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/eviction.hpp"
#include "harness/cuda/sm_record.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/measure/counted_loads.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/record/gates.hpp"
#include "micro/bandwidth/bandwidth.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace strata::bandwidth {
namespace {

/// How a kernel gets at its arrays: through L1, past it, or in shared memory.
enum class Space { near, far, shared };

using sm_record::most_sms;
using sm_record::Run;
using sm_record::SmRecord;

struct Arrays {
  char* to;
  const char* from;
  const char* other;
};

template <Space space>
using Address = std::conditional_t<space == Space::shared, std::uint32_t, const char*>;

/// One access of a lane. Wanted: one LDG.E (STG.E, LDS, STS) of the whole width. Loads near L1 are
/// .ca (.STRONG.SM), those past it .cg (.STRONG.GPU).
template <Space space, unsigned width>
__device__ __forceinline__ void load(std::uint32_t (&w)[width / 4], Address<space> at) {
  static_assert(width == 4 || width == 8 || width == 16 || width == 32);
  if constexpr (space == Space::shared) {
    if constexpr (width == 4) {
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w[0]) : "r"(at) : "memory");
    } else if constexpr (width == 8) {
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                   : "=r"(w[0]), "=r"(w[1])
                   : "r"(at)
                   : "memory");
    } else {
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                   : "r"(at)
                   : "memory");
    }
  } else if constexpr (space == Space::near) {
    if constexpr (width == 4) {
      asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(w[0]) : "l"(at) : "memory");
    } else if constexpr (width == 8) {
      asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];"
                   : "=r"(w[0]), "=r"(w[1])
                   : "l"(at)
                   : "memory");
    } else if constexpr (width == 16) {
      asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                   : "l"(at)
                   : "memory");
    } else {
#if __CUDA_ARCH__ >= 1000
      asm volatile("ld.global.ca.v8.u32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                   : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]),
                     "=r"(w[6]), "=r"(w[7])
                   : "l"(at)
                   : "memory");
#endif
    }
  } else {
    if constexpr (width == 4) {
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(w[0]) : "l"(at) : "memory");
    } else if constexpr (width == 8) {
      asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];"
                   : "=r"(w[0]), "=r"(w[1])
                   : "l"(at)
                   : "memory");
    } else if constexpr (width == 16) {
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                   : "l"(at)
                   : "memory");
    } else {
#if __CUDA_ARCH__ >= 1000
      asm volatile("ld.global.cg.v8.u32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                   : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]),
                     "=r"(w[6]), "=r"(w[7])
                   : "l"(at)
                   : "memory");
#endif
    }
  }
}

template <Space space, unsigned width>
__device__ __forceinline__ void store(Address<space> at, const std::uint32_t (&w)[width / 4]) {
  if constexpr (space == Space::shared) {
    if constexpr (width == 4) {
      asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(w[0]) : "memory");
    } else if constexpr (width == 8) {
      asm volatile("st.shared.v2.u32 [%0], {%1, %2};" : : "r"(at), "r"(w[0]), "r"(w[1]) : "memory");
    } else {
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                   :
                   : "r"(at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                   : "memory");
    }
  } else {
    if constexpr (width == 4) {
      asm volatile("st.global.u32 [%0], %1;" : : "l"(at), "r"(w[0]) : "memory");
    } else if constexpr (width == 8) {
      asm volatile("st.global.v2.u32 [%0], {%1, %2};" : : "l"(at), "r"(w[0]), "r"(w[1]) : "memory");
    } else if constexpr (width == 16) {
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                   :
                   : "l"(at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                   : "memory");
    } else {
#if __CUDA_ARCH__ >= 1000
      asm volatile("st.global.v8.u32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
                   :
                   : "l"(at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(w[4]), "r"(w[5]),
                     "r"(w[6]), "r"(w[7])
                   : "memory");
#endif
    }
  }
}

__device__ __forceinline__ std::uint32_t warp_sum(std::uint32_t sum) {
  for (unsigned offset = lanes / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, offset);
  return sum;
}

/// Of all threads of a block; every thread calls it, thread 0 gets it. All values of all threads
/// are there when it returns: a warp's sum goes to shared memory before the barrier.
__device__ __forceinline__ std::uint32_t block_sum(std::uint32_t sum) {
  __shared__ std::uint32_t sums[lanes];
  sum = warp_sum(sum);
  __syncthreads();  // the last call's sums have been read
  if (threadIdx.x % lanes == 0) sums[threadIdx.x / lanes] = sum;
  __syncthreads();
  std::uint32_t all = 0;
  if (threadIdx.x < lanes) {
    all = warp_sum(threadIdx.x < blockDim.x / lanes ? sums[threadIdx.x] : 0);
  }
  return all;
}

/// Registers that a round's words take, and the largest block that has room for them. ptxas aims at
/// the blocks that it is told of: left alone it keeps to 32 registers, adds up the first words
/// before it loads the last ones, and less is in flight than the case says.
__host__ __device__ constexpr unsigned words_held(Operation operation, unsigned width,
                                                  unsigned flights) {
  return (operation == Operation::triad ? 2 : 1) * flights * width / 4;
}
__host__ __device__ constexpr int largest_block(unsigned held) {
  return held <= 32 ? 1024 : (held <= 64 ? 512 : 256);
}
template <Space space, Operation operation, unsigned width, unsigned flights>
__global__ void __launch_bounds__(largest_block(words_held(operation, width, flights)), 1)
    stream(Arrays arrays, const __grid_constant__ Walk walk, std::uint32_t rounds,
           std::uint32_t salt, Line data, std::uint32_t array_bytes, SmRecord* records) {
#if __CUDA_ARCH__ < 1000
  if constexpr (width == 32) {
    __trap();  // no such access: the host does not launch it
    return;
  }
#endif
  constexpr unsigned words = width / 4;
  constexpr std::uint32_t pace = lanes * width;  // from one access of a warp to the next
  extern __shared__ uint4 memory[];

  const std::uint32_t warp = threadIdx.x / lanes;
  const std::uint64_t region = blockIdx.x * walk.block_base + std::uint64_t{warp} * walk.warp_base;
  const std::uint64_t inside = region + threadIdx.x % lanes * width;
  Address<space> to;
  Address<space> from;
  Address<space> other;
  if constexpr (space == Space::shared) {
    // All arrays lie one after the other on one line; block_base is 0.
    constexpr std::uint32_t second = operation == Operation::copy || operation == Operation::triad;
    auto* const all = reinterpret_cast<std::uint32_t*>(memory);
    constexpr std::uint32_t count =
        operation == Operation::triad ? 3 : (operation == Operation::copy ? 2 : 1);
    for (std::uint32_t j = threadIdx.x; j < count * array_bytes / 4; j += blockDim.x)
      all[j] = j * data.slope + data.start;
    __syncthreads();
    to = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)) +
         static_cast<std::uint32_t>(inside);
    from = to + second * array_bytes;
    other = from + second * array_bytes;
  } else {
    to = arrays.to + inside;
    from = arrays.from + inside;
    other = arrays.other + inside;
  }
  const auto stride = static_cast<std::uint32_t>(
      walk.advance *
      (walk.group == 0 ? 1 : 1 + 2 * (std::uint64_t{blockIdx.x} + blockIdx.x / walk.group)) %
      walk.span);
  auto offset = static_cast<std::uint32_t>(
      (std::uint64_t{blockIdx.x} * walk.block_step + std::uint64_t{warp} * walk.warp_step) %
      walk.span);
  // What a write leaves at the first of a round's words; the others follow at fixed distances.
  const std::uint32_t value_here = static_cast<std::uint32_t>(inside / 4) * data.slope + salt;

  std::uint32_t sum = 0;
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
  if (threadIdx.x == 0) {
    nanoseconds = global_nanoseconds();
    cycles = cycles_now();
  }
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
    if constexpr (operation == Operation::write) {
      const std::uint32_t value = value_here + offset / 4 * data.slope;
#pragma unroll
      for (unsigned l = 0; l < flights; ++l) {
        std::uint32_t w[words];
#pragma unroll
        for (unsigned i = 0; i < words; ++i)
          w[i] = value + (l * (pace / 4) + i) * Line{}.slope;
        store<space, width>(to + offset + l * pace, w);
      }
    } else {
      std::uint32_t one[flights][words];
      std::uint32_t two[operation == Operation::triad ? flights : 1][words];
#pragma unroll
      for (unsigned l = 0; l < flights; ++l) {
        load<space, width>(one[l], from + offset + l * pace);
        if constexpr (operation == Operation::triad) {
          load<space, width>(two[l], other + offset + l * pace);
        }
      }
#pragma unroll
      for (unsigned l = 0; l < flights; ++l) {
#pragma unroll
        for (unsigned i = 0; i < words; ++i) {
          if constexpr (operation == Operation::read) sum += one[l][i];
          if constexpr (operation == Operation::triad) one[l][i] += triad_factor * two[l][i];
          if constexpr (operation == Operation::update) one[l][i] += update_step;
        }
        if constexpr (operation != Operation::read) {
          store<space, width>(to + offset + l * pace, one[l]);
        }
      }
    }
    offset += stride;
    if (offset >= walk.span) offset -= walk.span;
  }
  // Every value that was read is in the sum of its warp, or in a store; the clock is read after the
  // barrier that every warp reaches behind that.
  std::uint32_t all = block_sum(sum);
  std::uint64_t end_cycles = 0;
  std::uint64_t end_nanoseconds = 0;
  if (threadIdx.x == 0) {
    end_cycles = cycles_now();
    end_nanoseconds = global_nanoseconds();
  }
  if constexpr (space == Space::shared && operation != Operation::read) {
    // The array that was written to is the first.
    const auto* const left = reinterpret_cast<const std::uint32_t*>(memory);
    std::uint32_t weighted = 0;
    for (std::uint32_t j = threadIdx.x; j < array_bytes / 4; j += blockDim.x)
      weighted += (2 * j + 1) * left[j];
    all = block_sum(weighted);
  }
  if (threadIdx.x == 0) {
    sm_record::leave(records, {cycles, nanoseconds}, {end_cycles, end_nanoseconds}, all);
  }
}

constexpr unsigned helper_threads = 512;
constexpr unsigned helper_blocks = 1024;

/// Lays words on a line.
__global__ void fill(std::uint32_t* words, std::uint64_t count, Line line) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    words[i] = static_cast<std::uint32_t>(i) * line.slope + line.start;
}

/// Counts the words that are not on the line, and leaves others in their place.
__global__ void check(std::uint32_t* words, std::uint64_t count, Line line, Line next,
                      unsigned long long* different) {
  unsigned long long wrong = 0;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const auto index = static_cast<std::uint32_t>(i);
    if (words[i] != index * line.slope + line.start) ++wrong;
    words[i] = index * next.slope + next.start;
  }
  if (wrong != 0) atomicAdd(different, wrong);
}

using Kernel = void (*)(Arrays, Walk, std::uint32_t, std::uint32_t, Line, std::uint32_t, SmRecord*);

template <Space space, Operation operation, unsigned width>
Kernel with_flights(std::uint32_t flights) {
  if (flights == 1) return stream<space, operation, width, 1>;
  if (flights == 4) return stream<space, operation, width, 4>;
  if constexpr (space != Space::shared) {
    if (flights == 8) return stream<space, operation, width, 8>;
  }
  if constexpr (operation == Operation::read) {
    if (flights == 2) return stream<space, operation, width, 2>;
    if constexpr (space != Space::shared) {
      if (flights == 16) return stream<space, operation, width, 16>;
    }
  }
  throw std::logic_error{"no kernel has so many accesses in flight"};
}

template <Space space, Operation operation>
Kernel with_width(const Shape& shape) {
  if (shape.width == 4) return with_flights<space, operation, 4>(shape.flights);
  if (shape.width == 8) return with_flights<space, operation, 8>(shape.flights);
  if (shape.width == 16) return with_flights<space, operation, 16>(shape.flights);
  if constexpr (space != Space::shared) {
    if (shape.width == 32) return with_flights<space, operation, 32>(shape.flights);
  }
  throw std::logic_error{"no kernel has accesses of that width"};
}

template <Space space>
Kernel with_operation(const Shape& shape) {
  if (shape.operation == Operation::read) return with_width<space, Operation::read>(shape);
  if constexpr (space != Space::near) {
    switch (shape.operation) {
      case Operation::write:
        return with_width<space, Operation::write>(shape);
      case Operation::copy:
        return with_width<space, Operation::copy>(shape);
      case Operation::triad:
        return with_width<space, Operation::triad>(shape);
      default:
        return with_width<space, Operation::update>(shape);
    }
  }
  throw std::logic_error{"no kernel writes to L1"};
}

Kernel kernel_for(const Shape& shape) {
  if (shape.level == Level::shared) return with_operation<Space::shared>(shape);
  if (shape.level == Level::l1) return with_operation<Space::near>(shape);
  return with_operation<Space::far>(shape);
}

/// The memory that all cases share. Words lie on a line unless a case made it dirty.
struct Pool {
  explicit Pool(std::uint64_t bytes)
      : words{bytes / sizeof(std::uint32_t)}, different{1}, records{most_sms} {
    restore();
  }
  void restore() {
    fill<<<helper_blocks, helper_threads, 0, stream.get()>>>(words.data(), words.size(), Line{});
    cuda_check(cudaGetLastError());
    stream.synchronize();
    dirty = false;
  }
  Stream stream;
  DeviceBuffer<std::uint32_t> words;
  DeviceBuffer<unsigned long long> different;
  DeviceBuffer<SmRecord> records;
  Eviction eviction;
  bool dirty = false;
};

class Streams {
 public:
  Streams(const Plan& plan, Kernel kernel, unsigned sms, std::uint64_t l2_bytes, Pool& pool)
      : plan_{plan},
        kernel_{kernel},
        sms_{sms},
        l2_bytes_{l2_bytes},
        pool_{pool},
        in_memory_{plan.shape.level != Level::shared && plan.shape.operation != Operation::read},
        blank_{most_sms},
        landed_{most_sms},
        wrong_{1} {
    std::ranges::fill(blank_.span(), sm_record::blank);
    if (pool_.dirty) pool_.restore();
    if (in_memory_) {
      pool_.dirty = true;
      if (!in_place()) lay(poison);
    }
  }

  void prepare() {}  // each launch has its own preparation, right before it

  Observation observe() {
    const Run brief = run(plan_.brief);
    const Run full = run(plan_.full);
    const auto bytes = static_cast<double>(plan_.bytes(plan_.full) - plan_.bytes(plan_.brief));
    const double seconds = full.seconds - brief.seconds;
    return {.inside = bytes / sms_ / (full.cycles - brief.cycles),
            .outside = bytes / sms_ / (seconds * full.hertz),
            .bytes_per_second = bytes / seconds,
            .grid_seconds = full.seconds,
            .core_hertz = full.hertz};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }

  void count(Session& session) {
    if (plan_.shape.level == Level::shared) {
      count_shared(session);
    } else {
      count_memory(session);
    }
    landed_.download_from(pool_.records, pool_.stream.get());
    pool_.stream.synchronize();
    verify(plan_.full);
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_,
                       in_memory_ ? "words that were written, against the closed form"
                                  : "sums of launches against the closed form");
  }
  [[nodiscard]] Gate placement() const {
    const std::uint32_t warps = plan_.shape.warps();
    std::vector<std::uint32_t> sm_of_warp;
    for (std::uint32_t sm = 0; sm < most_sms; ++sm)
      sm_of_warp.insert(sm_of_warp.end(), landed_.span()[sm].blocks * warps, sm);
    return placement_gate(sm_of_warp, sms_, static_cast<int>(plan_.shape.blocks_per_sm * warps));
  }
  [[nodiscard]] Gate code() const {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel_));
    return spill_gate(attributes.localSizeBytes, attributes.numRegs);
  }

 private:
  [[nodiscard]] bool in_place() const { return plan_.shape.operation == Operation::update; }
  [[nodiscard]] std::uint32_t* words_of(std::uint32_t array) const {
    return pool_.words.data() + first_word(plan_, array);
  }
  /// Puts the array that is written to on `line`.
  void lay(const Line& line) {
    fill<<<helper_blocks, helper_threads, 0, pool_.stream.get()>>>(
        words_of(0), plan_.array_bytes / sizeof(std::uint32_t), line);
    cuda_check(cudaGetLastError());
  }

  [[nodiscard]] Arrays arrays() const {
    const auto bytes = [&](std::uint32_t array) {
      return reinterpret_cast<char*>(words_of(array));
    };
    switch (plan_.shape.operation) {
      case Operation::copy:
        return {bytes(0), bytes(1), nullptr};
      case Operation::triad:
        return {bytes(0), bytes(1), bytes(2)};
      default:
        return {bytes(0), bytes(0), nullptr};
    }
  }

  void launch(const Launch& launch) {
    kernel_<<<launch.blocks, plan_.shape.block_size, plan_.dynamic_bytes, pool_.stream.get()>>>(
        plan_.shape.level == Level::shared ? Arrays{} : arrays(), plan_.walk, launch.rounds, salt_,
        Line{}, static_cast<std::uint32_t>(plan_.array_bytes), pool_.records.data());
    cuda_check(cudaGetLastError());
  }

  /// The state that a launch starts from: memory as it is, and L2 without the arrays or with them.
  void ready() {
    if (plan_.shape.level == Level::dram) {
      pool_.eviction.evict(pool_.stream.get());
    } else if (plan_.shape.level == Level::l2) {
      pool_.eviction.touch(pool_.words.data(), plan_.array_bytes * arrays_of(plan_.shape.operation),
                           pool_.stream.get());
    }
    blank_.upload_to(pool_.records, pool_.stream.get());
  }

  Run run(const Launch& what) {
    salt_ += 0x9E3779B9U;  // another one each time: nothing of the last launch can pass for this
    ready();
    begin_.record(pool_.stream.get());
    launch(what);
    end_.record(pool_.stream.get());
    landed_.download_from(pool_.records, pool_.stream.get());
    pool_.stream.synchronize();
    verify(what);
    return sm_record::run_of(landed_.span(), end_.seconds_since(begin_));
  }

  void verify(const Launch& what) {
    if (in_memory_) {
      verify_memory(what);
      return;
    }
    const std::uint32_t sum = sm_record::sum_of(landed_.span());
    const std::uint32_t expected = plan_.shape.operation == Operation::read
                                       ? reading_sum(what)
                                       : expected_shared_sum(plan_, what, Line{}, salt_);
    ++checked_;
    if (sum != expected) ++different_;
  }

  /// It takes the host a while: once for each of the two launches.
  std::uint32_t reading_sum(const Launch& what) {
    auto& known = what.rounds == plan_.full.rounds && what.blocks == plan_.full.blocks ? full_sum_
                                                                                       : brief_sum_;
    if (!known) known = expected_sum(plan_, what, Line{});
    return *known;
  }

  /// Every word on the device, some of them on the host as well.
  void verify_memory(const Launch& what) {
    const Line line = written(plan_, what, Line{}, salt_);
    const std::uint64_t count = plan_.words(what);
    constexpr std::uint64_t samples = 1024;
    const std::uint64_t step = std::max<std::uint64_t>(count / samples, 1);
    const std::uint64_t taken = std::min(count, samples);
    std::vector<std::uint32_t> some(taken);
    cuda_check(cudaMemcpy2D(some.data(), sizeof(std::uint32_t), words_of(0),
                            step * sizeof(std::uint32_t), sizeof(std::uint32_t), taken,
                            cudaMemcpyDeviceToHost));
    for (std::uint64_t i = 0; i < taken; ++i) {
      if (some[i] != line.word(i * step)) ++different_;
    }
    pool_.different.poison(0, pool_.stream.get());
    check<<<helper_blocks, helper_threads, 0, pool_.stream.get()>>>(
        words_of(0), count, line, in_place() ? Line{} : poison, pool_.different.data());
    cuda_check(cudaGetLastError());
    wrong_.download_from(pool_.different, pool_.stream.get());
    pool_.stream.synchronize();
    checked_ += count + taken;
    different_ += wrong_.span().front();
  }

  void count_shared(Session& session) {
    const LoadPrediction loads = predicted_loads(plan_, plan_.full);
    const auto requests = static_cast<double>(loads.requests);
    const double per_array =
        requests > 0 ? requests / arrays_read(plan_.shape.operation)
                     : static_cast<double>(predicted_store_sectors(plan_, plan_.full)) /
                           plan_.shape.width;  // sectors of a request: 32 lanes × width ÷ 32
    const double stores = per_array * arrays_written(plan_.shape.operation);
    // A wavefront moves 128 bytes. Stray ones, of the system's own, would be few.
    const double wavefronts = plan_.shape.width / 4.0;
    constexpr double few = 1e-3;
    const std::array<Expectation, 4> expected{
        Expectation{.quantity = "shared_load_requests", .predicted = requests},
        Expectation{.quantity = "shared_store_requests", .predicted = stores},
        Expectation{
            .quantity = "shared_load_wavefronts", .predicted = requests * wavefronts, .bound = few},
        Expectation{
            .quantity = "shared_store_wavefronts", .predicted = stores * wavefronts, .bound = few}};
    std::vector<Expectation> asked;
    for (const Expectation& one : expected) {
      if (one.predicted > 0) asked.push_back(one);
    }
    (void)count_and_compare(session,
                            {.prepare = [this] { ready(); },
                             .work = [this] { launch(plan_.full); },
                             .overhead =
                                 [this] {
                                   launch({plan_.full.blocks, 0});
                                 }},
                            {.expected = asked,
                             .method = "bank_model",
                             .unit = "round",
                             .units = static_cast<double>(plan_.full.blocks) * plan_.full.rounds});
  }

  void count_memory(Session& session) {
    const ServedBy claimed = plan_.shape.level == Level::l1   ? ServedBy::l1
                             : plan_.shape.level == Level::l2 ? ServedBy::l2
                                                              : ServedBy::dram;
    const LoadPrediction loads = predicted_loads(plan_, plan_.full);
    // What a writer left is not what the next pass over the same work starts from: an update would
    // go on from it.
    const auto prepare = [this] {
      if (in_memory_) lay(in_place() ? Line{} : poison);
      ready();
    };
    const auto work = [this] { launch(plan_.full); };
    const auto overhead = [this] { launch({plan_.full.blocks, 0}); };
    if (!in_memory_) {
      count_loads(session, {.prepare = prepare,
                            .work = work,
                            .overhead = overhead,
                            .claimed = claimed,
                            .predicted = loads,
                            .reads = static_cast<double>(loads.requests)});
      return;
    }
    const std::uint64_t sectors = predicted_store_sectors(plan_, plan_.full);
    const Expectation stores{.quantity = "l1_store_sectors",
                             .predicted = static_cast<double>(sectors)};
    const Counted counted =
        strata::count(session, {.prepare = prepare, .work = work, .overhead = overhead});
    Gate model = model_gate({&stores, 1}, counted);
    Gate level = store_level_gate(claimed, sectors, l2_bytes_, counted);
    if (loads.requests > 0) {
      const LoadCounts net = load_counts(counted.whole) - load_counts(counted.overhead);
      model = both(model_gate(loads, net), model);
      level = both(level_gate(claimed, loads, net), level);
    }
    session.add(model);
    session.add(level);
  }

  Plan plan_;
  Kernel kernel_;
  unsigned sms_;
  std::uint64_t l2_bytes_;
  Pool& pool_;
  bool in_memory_;  // the result is an array in device memory
  PinnedBuffer<SmRecord> blank_;
  PinnedBuffer<SmRecord> landed_;
  PinnedBuffer<unsigned long long> wrong_;
  std::optional<std::uint32_t> brief_sum_;
  std::optional<std::uint32_t> full_sum_;
  Event begin_;
  Event end_;
  std::uint32_t salt_ = 0x51ED270BU;
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

std::uint64_t whole_fact(const Facts& facts, const char* name) {
  return static_cast<std::uint64_t>(std::get<std::int64_t>(facts.at(name)));
}

double real_fact(const Facts& facts, const char* name, double otherwise) {
  const auto found = facts.find(name);
  const auto* value = found == facts.end() ? nullptr : std::get_if<double>(&found->second);
  return value == nullptr ? otherwise : *value;
}

/// Makes room for the blocks of the plan, and for no more of them where blocks come and go.
void shape_sm(Kernel kernel, Plan& plan, const Limits& limits) {
  const auto resident = [&](std::uint32_t dynamic_bytes) {
    int blocks = 0;
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(dynamic_bytes)));
    // The whole of what the arrays leave is L1's.
    const std::uint64_t taken = std::uint64_t{plan.shape.blocks_per_sm} *
                                (dynamic_bytes + shared_of_system + shared_of_kernel);
    const auto percent = static_cast<int>(std::min<std::uint64_t>(
        (100 * taken + limits.shared_of_sm - 1) / limits.shared_of_sm, 100));
    cuda_check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
    cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, static_cast<int>(plan.shape.block_size), dynamic_bytes));
    return static_cast<std::uint32_t>(blocks);
  };
  const std::uint32_t wanted = plan.shape.blocks_per_sm;
  if (plan.shape.level == Level::dram) {
    if (resident(0) == wanted) {
      plan.dynamic_bytes = 0;  // the threads are as many as the SM can have: no filler
    } else if (resident(plan.dynamic_bytes) != wanted) {
      throw Skipped{"the SM cannot be made to hold that many blocks and no more"};
    }
  } else if (resident(plan.dynamic_bytes) < wanted) {
    throw Skipped{"the SM cannot hold that many blocks of this kernel"};
  }
}

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const Shape shape = shape_of(session);
  const std::string& capability = std::get<std::string>(facts.at("compute_capability"));
  constexpr unsigned widest_before_10 = 16;
  if (shape.width > widest_before_10 && capability.size() < std::string{"10.0"}.size()) {
    throw Skipped{"accesses of 32 bytes came with compute capability 10.0"};
  }
  constexpr std::uint64_t pool_bytes = std::uint64_t{2} << 30U;
  const std::uint64_t shared_of_sm = whole_fact(facts, "shared_bytes_per_sm");
  const double pin_bandwidth = real_fact(facts, "dram_bytes_per_second_theoretical", 0);
  Limits limits{.sms = static_cast<std::uint32_t>(whole_fact(facts, "sm_count")),
                .l1_bytes = shared_of_sm -
                            std::min(shared_of_sm / 2, std::uint64_t{shape.blocks_per_sm} *
                                                           (shared_of_system + shared_of_kernel)),
                .l2_bytes = whole_fact(facts, "l2_bytes"),
                .pool_bytes = std::min(pool_bytes, whole_fact(facts, "memory_bytes") / 4),
                .shared_of_sm = shared_of_sm,
                .shared_of_block = whole_fact(facts, "shared_bytes_per_block_optin")};
  if (pin_bandwidth > 0) limits.dram_bytes_per_second = pin_bandwidth;
  limits.core_hertz = real_fact(facts, "core_clock_peak_hz", limits.core_hertz);

  Plan plan = plan_for(shape, limits);
  Kernel kernel = kernel_for(shape);
  shape_sm(kernel, plan, limits);
  Pool& pool = session.cache().keep<Pool>("bandwidth", [&] { return Pool{limits.pool_bytes}; });
  Streams streams{plan, kernel, limits.sms, limits.l2_bytes, pool};
  if (session.counters() != nullptr) {
    streams.count(session);
    session.add(streams.result());
    return;
  }
  const auto seen = collect(streams, session.plan());
  const bool of_a_cycle = shape.level == Level::l1 || shape.level == Level::shared;
  const double limit = of_a_cycle                   ? l1_limit(capability)
                       : shape.level == Level::dram ? pin_bandwidth
                                                    : 0;
  report(session, seen,
         {.per_core_unit = "B/cycle",
          .inside = "clock64_slope",
          .outside = "event_slope",
          .whole = "event",
          .clock = "clock64_over_globaltimer"},
         limit, of_a_cycle);
  session.add(Measurement{.quantity = "bytes_in_flight_per_sm",
                          .unit = "B",
                          .provenance = Provenance::modelled,
                          .method = "launch_shape",
                          .samples = {static_cast<double>(shape.in_flight())}});
  session.add(streams.result());
  if (shape.level != Level::dram) session.add(streams.placement());
  session.add(streams.code());
  if (shape.level != Level::shared) session.add(level_unverified(session.counting_note()));
  session.fact("rounds", static_cast<std::int64_t>(plan.full.rounds));
  session.fact("blocks", static_cast<std::int64_t>(plan.full.blocks));
  session.fact("footprint_bytes",
               static_cast<std::int64_t>(plan.array_bytes * arrays_of(shape.operation)));
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::bandwidth
