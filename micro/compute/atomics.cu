// By the disassembler most operations are one instruction (ATOMS, ATOMG, and RED or REDG where
// nothing is returned). Additions of floats and of 64 bits in shared memory are a loop of a load,
// an addition and a compare and swap (ATOMS.CAST.SPIN). ptxas does not add up the lanes of a warp
// beforehand: it cannot prove the address to be uniform.
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "harness/record/device_facts.hpp"
#include "micro/compute/atomics.hpp"

#include <cuda_runtime_api.h>

#include <stdexcept>

namespace strata::atomics {
namespace {

constexpr std::uint32_t shared_bytes = block_threads * 8;

// An atomic operation whose name begins with `name` and goes on with `rest`; then come the
// operands.
#define STRATA_ATOM(name, rest, ...)                          \
  if constexpr (space == StateSpace::shared)                  \
    asm volatile(name ".shared" rest:__VA_ARGS__ : "memory"); \
  else                                                        \
    asm volatile(name ".global" rest:__VA_ARGS__ : "memory")

/// Returns the old value of the word at `at`. `operand` is added to it, stored into it, or compared
/// with it.
template <StateSpace space, Operation operation>
__device__ __forceinline__ Word<operation> update(std::uint64_t at, Word<operation> operand) {
  Word<operation> old;
  if constexpr (operation == Operation::add_int) {
    STRATA_ATOM("atom", ".add.u32 %0, [%1], %2;", "=r"(old) : "l"(at), "r"(operand));
  } else if constexpr (operation == Operation::add_float) {
    float value;
    STRATA_ATOM("atom", ".add.f32 %0, [%1], %2;", "=f"(value)
                : "l"(at), "f"(__uint_as_float(operand)));
    old = __float_as_uint(value);
  } else if constexpr (operation == Operation::add_int64) {
    STRATA_ATOM("atom", ".add.u64 %0, [%1], %2;", "=l"(old) : "l"(at), "l"(operand));
  } else if constexpr (operation == Operation::exch_int) {
    STRATA_ATOM("atom", ".exch.b32 %0, [%1], %2;", "=r"(old) : "l"(at), "r"(operand));
  } else {
    STRATA_ATOM("atom", ".cas.b32 %0, [%1], %2, %3;", "=r"(old)
                : "l"(at), "r"(operand), "r"(operand + swap_step));
  }
  return old;
}
/// Additions that return no old value.
template <StateSpace space, Operation operation>
__device__ __forceinline__ void add_only(std::uint64_t at, Word<operation> operand) {
  if constexpr (operation == Operation::add_int) {
    STRATA_ATOM("red", ".add.u32 [%0], %1;", : "l"(at), "r"(operand));
  } else if constexpr (operation == Operation::add_float) {
    STRATA_ATOM("red", ".add.f32 [%0], %1;", : "l"(at), "f"(__uint_as_float(operand)));
  } else {
    STRATA_ATOM("red", ".add.u64 [%0], %1;", : "l"(at), "l"(operand));
  }
}

#undef STRATA_ATOM

/// What a lane holds between two operations of a chain.
template <Operation operation>
struct Held {
  Word<operation> word;
  std::uint32_t wins;
};

/// By value in the kernel's parameters.
struct Work {
  WordPitch pitch;
  std::uint32_t operations;  ///< of a lane
  std::uint32_t area_words;  ///< of a block, in shared memory
  std::uint32_t zero;        ///< 0, which only the host knows
};

/// `chains` operations of a lane in flight, each of which waits for the previous result of its
/// chain.
template <StateSpace space, Operation operation, bool returns, std::uint32_t chains>
__global__ void __launch_bounds__(block_threads, 1)
    repeat(const __grid_constant__ Work work, void* memory, std::uint32_t* left, Stamp* stamps) {
  static_assert(unroll % chains == 0);
  constexpr bool shared = space == StateSpace::shared;
  __shared__ Word<operation> field[shared ? shared_bytes / sizeof(Word<operation>) : 1];
  auto* const words = static_cast<Word<operation>*>(memory);
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t warp = (shared ? threadIdx.x : thread) / warp_lanes;
  const std::uint32_t offset = warp * work.pitch.by_warp + lane * work.pitch.by_lane;
  std::uint64_t at;
  if constexpr (shared) {
    for (std::uint32_t i = threadIdx.x; i < work.area_words; i += blockDim.x)
      field[i] = word_of<operation>(initial_word(operation, i));
    at = __cvta_generic_to_shared(field) + offset;
  } else {
    at = reinterpret_cast<std::uint64_t>(words) + offset;
  }
  Word<operation> operand[chains];
  Held<operation> held[chains];
#pragma unroll
  for (std::uint32_t c = 0; c < chains; ++c) {
    operand[c] = word_of<operation>(operand_of(operation, thread, c));
    held[c] = {operand[c], 0};
  }
  Stamp* const mine = stamps + thread / warp_lanes;
  __syncthreads();
  // Stamps stay in registers until the end: a store between the operations of other warps waits for
  // room in the same queue, and since its operands are read there, the clock reading after it would
  // be late.
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t i = 0; i < work.operations; i += unroll) {
#pragma unroll
    for (std::uint32_t u = 0; u < unroll; ++u) {
      Held<operation>& mine_now = held[u % chains];
      if constexpr (!returns) {
        add_only<space, operation>(at, operand[u % chains]);
      } else if constexpr (operation == Operation::cas_int) {
        const std::uint32_t old = update<space, operation>(at, mine_now.word);
        mine_now.wins += old == mine_now.word ? 1 : 0;
        mine_now.word = old;
      } else if constexpr (operation == Operation::exch_int) {
        mine_now.word = update<space, operation>(at, mine_now.word);
      } else {
        const Word<operation> old = update<space, operation>(at, mine_now.word);
        mine_now.word = (old & work.zero) | operand[u % chains];
      }
    }
  }
  std::uint32_t told = 0;
#pragma unroll
  for (std::uint32_t c = 0; c < chains; ++c) {
    if constexpr (operation == Operation::cas_int) {
      told += held[c].wins;
    } else if constexpr (operation == Operation::exch_int) {
      told += hashed_word(held[c].word);
    } else if constexpr (operation == Operation::add_float) {
      told += static_cast<std::uint32_t>(__uint_as_float(held[c].word));
    } else {
      told += static_cast<std::uint32_t>(held[c].word);
    }
  }
  // By now the last operations have returned, or have been done if they return nothing. The mask
  // must be unknown to ptxas: with a known one it could prove that the impossible value cannot
  // occur.
  consume(told & work.zero);
  if constexpr (!returns && !shared) __threadfence();
  const Reading end = reading_after();
  if (lane == 0) leave(mine, begin, end, /*result=*/0);
  left[thread] = told;
  if constexpr (shared) {
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < work.area_words; i += blockDim.x)
      words[blockIdx.x * work.area_words + i] = field[i];
  }
}

/// Initialises the words in global memory that lanes work on.
template <Operation operation>
__global__ void lay(void* words, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    static_cast<Word<operation>*>(words)[i] = word_of<operation>(initial_word(operation, i));
}

using Kernel = void (*)(Work, void*, std::uint32_t*, Stamp*);

template <std::uint32_t chains>
Kernel kernel_for(const Variant& variant) {
  using enum Operation;
  return with_value<add_int, add_float, add_int64, cas_int, exch_int>(
      variant.operation, [&]<Operation operation>() {
        return with_value<StateSpace::shared, StateSpace::global>(
            variant.space, [&]<StateSpace space>() -> Kernel {
              if (variant.returns) return repeat<space, operation, true, chains>;
              if constexpr (is_addition(operation) && chains == in_flight) {
                return repeat<space, operation, false, chains>;
              } else {
                return nullptr;
              }
            });
      });
}

void run(Session& session) {
  using enum Operation;
  const GpuFacts gpu = gpu_facts(session.device().identity().facts);
  const Variant variant = variant_of(session.params());
  Experiment experiment = describe(variant, gpu.sms);
  require_timed(session, experiment);
  const auto lay_words = with_value<add_int, add_float, add_int64, cas_int, exch_int>(
      variant.operation, [&]<Operation operation>() { return &lay<operation>; });
  const LaunchShape full = full_chip(gpu.sms);
  const bool shared = variant.space == StateSpace::shared;
  CudaMachine machine{session, full.warps()};
  const cudaStream_t stream = machine.stream().get();
  // In shared memory a block initialises its own words.
  auto& words = machine.output<std::uint64_t>(
      Places::of_threads(variant, full).words * width_of(variant.operation) / 8, shared);
  auto& left = machine.output<std::uint32_t>(full.threads());
  for (Slope& slope : experiment.slopes) {
    const bool last = &slope == &experiment.slopes.back();
    const LaunchShape shape = last ? full : lone_warp;
    const Kernel kernel = last ? kernel_for<in_flight>(variant) : kernel_for<1>(variant);
    const Places places = Places::of_threads(variant, shape);
    const auto count = static_cast<std::uint32_t>(places.words);
    slope.prepare = [&, count](const Call&) {
      if (!shared) lay_words<<<(count + 255) / 256, 256, 0, stream>>>(words.data(), count);
    };
    slope.launch = [&, shape, kernel,
                    area = static_cast<std::uint32_t>(places.area)](const Call& call) {
      kernel<<<shape.blocks, shape.warps_of_block * warp_lanes, 0, stream>>>(
          {pitch_of(variant), call.length.rounds, area, /*zero=*/0}, words.data(), left.data(),
          machine.device_stamps());
    };
    slope.verify = [&, shape, count, compare = comparison(variant.operation, shape.chains, places)](
                       const Call& call, std::span<const Stamp>, Tally& tally) {
      compare(
          numbers_in(words.landed().data(), variant.operation, count),
          left.landed().first(shape.threads()), [&](std::size_t) { return call.length.rounds; },
          tally);
    };
    experiment.kernels.push_back(reinterpret_cast<const void*>(kernel));
  }
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::atomics
