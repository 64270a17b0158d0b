// The CUDA backend of atomics: atomics.hpp says what it asks.
//
// What the operations compile to, by the disassembler: integer additions and exchanges are one
// instruction everywhere (ATOMS in shared memory, ATOMG in global memory, RED or REDG where nothing
// is returned), and so is compare and swap (ATOMS.CAS, ATOMG.CAS). Additions of floats and of 64
// bits in shared memory are none: ptxas makes a loop of a load, an addition and a compare and swap
// (ATOMS.CAST.SPIN), whose cost under contention is that of the loop. Lanes of a warp that add to
// one word are not added up beforehand: an address that ptxas cannot prove to be uniform and an
// operand that differs from lane to lane leave it no way to.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/starting_gate.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/record/gates.hpp"
#include "micro/compute/atomics.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace strata::atomics {
namespace {

constexpr double timed_seconds = 2.5e-4;  // of a long launch: hundreds of timer steps
constexpr std::uint32_t shared_bytes = block_threads * 8;

/// What one warp leaves behind.
struct WarpRecord {
  std::uint64_t cycles[2];
  std::uint64_t nanoseconds[2];
  std::uint32_t sm;
};

template <Operation operation>
using Word = std::conditional_t<operation == Operation::add_int64, std::uint64_t, std::uint32_t>;

/// A number as the words of an operation hold it.
template <Operation operation>
__device__ __forceinline__ Word<operation> bits_of(std::uint64_t number) {
  if constexpr (operation == Operation::add_float) {
    return __float_as_uint(static_cast<float>(number));
  } else {
    return static_cast<Word<operation>>(number);
  }
}

/// The old value of the word at `at`, which `operand` is added to, put into, or compared with.
template <Space space, Operation operation>
__device__ __forceinline__ Word<operation> update(std::uint64_t at, Word<operation> operand) {
  Word<operation> old;
  if constexpr (space == Space::shared) {
    if constexpr (operation == Operation::add_int) {
      asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                   : "=r"(old)
                   : "l"(at), "r"(operand)
                   : "memory");
    } else if constexpr (operation == Operation::add_float) {
      float value;
      asm volatile("atom.shared.add.f32 %0, [%1], %2;"
                   : "=f"(value)
                   : "l"(at), "f"(__uint_as_float(operand))
                   : "memory");
      old = __float_as_uint(value);
    } else if constexpr (operation == Operation::add_int64) {
      asm volatile("atom.shared.add.u64 %0, [%1], %2;"
                   : "=l"(old)
                   : "l"(at), "l"(operand)
                   : "memory");
    } else if constexpr (operation == Operation::exch_int) {
      asm volatile("atom.shared.exch.b32 %0, [%1], %2;"
                   : "=r"(old)
                   : "l"(at), "r"(operand)
                   : "memory");
    } else {
      asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;"
                   : "=r"(old)
                   : "l"(at), "r"(operand), "r"(operand + swap_step)
                   : "memory");
    }
  } else {
    if constexpr (operation == Operation::add_int) {
      asm volatile("atom.global.add.u32 %0, [%1], %2;"
                   : "=r"(old)
                   : "l"(at), "r"(operand)
                   : "memory");
    } else if constexpr (operation == Operation::add_float) {
      float value;
      asm volatile("atom.global.add.f32 %0, [%1], %2;"
                   : "=f"(value)
                   : "l"(at), "f"(__uint_as_float(operand))
                   : "memory");
      old = __float_as_uint(value);
    } else if constexpr (operation == Operation::add_int64) {
      asm volatile("atom.global.add.u64 %0, [%1], %2;"
                   : "=l"(old)
                   : "l"(at), "l"(operand)
                   : "memory");
    } else if constexpr (operation == Operation::exch_int) {
      asm volatile("atom.global.exch.b32 %0, [%1], %2;"
                   : "=r"(old)
                   : "l"(at), "r"(operand)
                   : "memory");
    } else {
      asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;"
                   : "=r"(old)
                   : "l"(at), "r"(operand), "r"(operand + swap_step)
                   : "memory");
    }
  }
  return old;
}

/// The same without an old value, of additions.
template <Space space, Operation operation>
__device__ __forceinline__ void add_only(std::uint64_t at, Word<operation> operand) {
  if constexpr (space == Space::shared) {
    if constexpr (operation == Operation::add_int) {
      asm volatile("red.shared.add.u32 [%0], %1;" : : "l"(at), "r"(operand) : "memory");
    } else if constexpr (operation == Operation::add_float) {
      asm volatile("red.shared.add.f32 [%0], %1;"
                   :
                   : "l"(at), "f"(__uint_as_float(operand))
                   : "memory");
    } else {
      asm volatile("red.shared.add.u64 [%0], %1;" : : "l"(at), "l"(operand) : "memory");
    }
  } else {
    if constexpr (operation == Operation::add_int) {
      asm volatile("red.global.add.u32 [%0], %1;" : : "l"(at), "r"(operand) : "memory");
    } else if constexpr (operation == Operation::add_float) {
      asm volatile("red.global.add.f32 [%0], %1;"
                   :
                   : "l"(at), "f"(__uint_as_float(operand))
                   : "memory");
    } else {
      asm volatile("red.global.add.u64 [%0], %1;" : : "l"(at), "l"(operand) : "memory");
    }
  }
}

/// What a lane holds between two operations of one chain.
template <Operation operation>
struct Held {
  Word<operation> word;
  std::uint32_t wins;
};

/// By value in the kernel's parameters.
struct Work {
  Placement placement;
  std::uint32_t operations;  ///< of a lane
  std::uint32_t area_words;  ///< of a block, in shared memory
  std::uint32_t zero;        ///< 0, which only the host knows
};

/// `chains` operations of a lane in flight, each of which waits for what the one before returned.
template <Space space, Operation operation, bool returns, std::uint32_t chains>
__global__ void __launch_bounds__(block_threads, 1)
    repeat(const __grid_constant__ Work work, Word<operation>* words, std::uint32_t* left,
           WarpRecord* records) {
  static_assert(unroll % chains == 0);
  constexpr bool shared = space == Space::shared;
  __shared__ Word<operation> field[shared ? shared_bytes / sizeof(Word<operation>) : 1];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t warp = (shared ? threadIdx.x : thread) / warp_lanes;
  const std::uint32_t offset = warp * work.placement.by_warp + lane * work.placement.by_lane;
  std::uint64_t at;
  if constexpr (shared) {
    for (std::uint32_t i = threadIdx.x; i < work.area_words; i += blockDim.x)
      field[i] = bits_of<operation>(initial_word(operation, i));
    at = __cvta_generic_to_shared(field) + offset;
  } else {
    at = reinterpret_cast<std::uint64_t>(words) + offset;
  }
  Word<operation> operand[chains];
  Held<operation> held[chains];
#pragma unroll
  for (std::uint32_t c = 0; c < chains; ++c) {
    operand[c] = bits_of<operation>(operand_of(operation, thread, c));
    held[c] = {operand[c], 0};
  }
  WarpRecord* mine = records + thread / warp_lanes;
  __syncthreads();
  // Stamps stay in registers until the end: a store among the operations of other warps waits for
  // room in the same queue, and what it holds is read by then, so that the clock behind it is late.
  const std::uint64_t first_nanoseconds = global_nanoseconds();
  const std::uint64_t first_cycles = cycles_now();
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
  // The last operations have come back, or have been done where nothing comes back. Anded with a
  // number that ptxas knows, the impossible value would be one that ptxas knows to be impossible.
  consume(told & work.zero);
  if constexpr (!returns && !shared) __threadfence();
  const std::uint64_t last_nanoseconds = global_nanoseconds();
  const std::uint64_t last_cycles = cycles_now();
  if (lane == 0) {
    mine->nanoseconds[0] = first_nanoseconds;
    mine->nanoseconds[1] = last_nanoseconds;
    mine->cycles[0] = first_cycles;
    mine->cycles[1] = last_cycles;
    mine->sm = sm_id();
  }
  left[thread] = told;
  if constexpr (shared) {
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < work.area_words; i += blockDim.x)
      words[blockIdx.x * work.area_words + i] = field[i];
  }
}

template <Operation operation>
__global__ void fill(Word<operation>* words, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) words[i] = bits_of<operation>(initial_word(operation, i));
}

/// Launches a kernel of a case. `words` is raw: its width is the operation's.
struct Kernels {
  using Launcher = void (*)(const Launch&, const Work&, void*, std::uint32_t*, WarpRecord*,
                            cudaStream_t);
  using Filler = void (*)(void*, std::uint32_t, cudaStream_t);
  Launcher chain = nullptr;
  Launcher many = nullptr;
  Filler fill = nullptr;
  const void* many_code = nullptr;
  const void* chain_code = nullptr;
};

template <Space space, Operation operation, bool returns, std::uint32_t chains>
void start(const Launch& launch, const Work& work, void* words, std::uint32_t* left,
           WarpRecord* records, cudaStream_t stream) {
  repeat<space, operation, returns, chains>
      <<<launch.blocks, launch.warps_of_block * warp_lanes, 0, stream>>>(
          work, static_cast<Word<operation>*>(words), left, records);
  cuda_check(cudaGetLastError());
}

template <Operation operation>
void start_fill(void* words, std::uint32_t count, cudaStream_t stream) {
  constexpr std::uint32_t threads = 256;
  fill<operation><<<(count + threads - 1) / threads, threads, 0, stream>>>(
      static_cast<Word<operation>*>(words), count);
  cuda_check(cudaGetLastError());
}

template <Space space, Operation operation>
Kernels kernels_of(bool returns) {
  Kernels kernels;
  kernels.fill = start_fill<operation>;
  if (returns) {
    kernels.chain = start<space, operation, true, 1>;
    kernels.chain_code = reinterpret_cast<const void*>(repeat<space, operation, true, 1>);
    kernels.many = start<space, operation, true, in_flight>;
    kernels.many_code = reinterpret_cast<const void*>(repeat<space, operation, true, in_flight>);
  } else if constexpr (operation != Operation::cas_int && operation != Operation::exch_int) {
    kernels.many = start<space, operation, false, in_flight>;
    kernels.many_code = reinterpret_cast<const void*>(repeat<space, operation, false, in_flight>);
  } else {
    throw std::logic_error{"an exchange that returns nothing"};
  }
  return kernels;
}

template <Space space>
Kernels kernels_in(const Kind& kind) {
  switch (kind.operation) {
    case Operation::add_int:
      return kernels_of<space, Operation::add_int>(kind.returns);
    case Operation::add_float:
      return kernels_of<space, Operation::add_float>(kind.returns);
    case Operation::add_int64:
      return kernels_of<space, Operation::add_int64>(kind.returns);
    case Operation::cas_int:
      return kernels_of<space, Operation::cas_int>(kind.returns);
    case Operation::exch_int:
      break;
  }
  return kernels_of<space, Operation::exch_int>(kind.returns);
}

/// Buffers that all cases share.
struct Bench {
  explicit Bench(unsigned sms)
      : words{std::size_t{sms} * shared_bytes / sizeof(std::uint64_t)},
        landed{words.size()},
        left{std::size_t{sms} * block_threads},
        left_landed{left.size()},
        records{std::size_t{sms} * warps_per_sm},
        records_landed{records.size()} {}
  DeviceBuffer<std::uint64_t> words;
  PinnedBuffer<std::uint64_t> landed;
  DeviceBuffer<std::uint32_t> left;
  PinnedBuffer<std::uint32_t> left_landed;
  DeviceBuffer<WarpRecord> records;
  PinnedBuffer<WarpRecord> records_landed;
  Stream stream;
  Event begin;
  Event end;
  starting_gate::StartingGate gate;
};

class Atomics {
 public:
  Atomics(const Kind& kind, unsigned sms, Bench& bench)
      : kind_{kind},
        kernels_{kind.space == Space::shared ? kernels_in<Space::shared>(kind)
                                             : kernels_in<Space::global>(kind)},
        sms_{sms},
        bench_{bench} {
    many_ = sized({.blocks = sms, .warps_of_block = warps_per_sm, .chains = in_flight});
    if (kind.returns) chain_ = sized({});
  }

  void prepare() {}  // each launch has its own preparation, right before it

  Observation observe() {
    Observation seen;
    if (kind_.returns) {
      const Slope chain = slope(chain_);
      seen.chain_inside = chain.cycles;
      seen.chain_outside = chain.seconds * chain.core_hertz;
    }
    const Slope many = slope(many_);
    seen.inside = many.cycles / warps_per_sm;
    seen.outside = many.seconds * many.core_hertz / warps_per_sm;
    seen.operations_per_second = many_.full.threads() / many.seconds;
    seen.core_hertz = many.core_hertz;
    return seen;
  }

  [[nodiscard]] std::vector<double> watched(const Observation& seen) const {
    std::vector<double> numbers{seen.inside, seen.outside};
    if (kind_.returns) {
      numbers.push_back(seen.chain_inside);
      numbers.push_back(seen.chain_outside);
    }
    return numbers;
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_, different_, "words and what threads hold against the host's");
  }
  /// Of the launch of many warps, which is the last.
  [[nodiscard]] Gate placement() const {
    std::vector<std::uint32_t> sm_of_warp;
    for (const WarpRecord& r : bench_.records_landed.span())
      sm_of_warp.push_back(r.sm);
    return placement_gate(sm_of_warp, sms_, int{warps_per_sm});
  }
  void add_code(Session& session) const {
    for (const void* code : {kernels_.many_code, kernels_.chain_code}) {
      if (code == nullptr) continue;
      cudaFuncAttributes attributes{};
      cuda_check(cudaFuncGetAttributes(&attributes, code));
      session.add(spill_gate(attributes.localSizeBytes, attributes.numRegs));
    }
  }
  [[nodiscard]] std::uint32_t operations() const { return many_.full.operations; }
  [[nodiscard]] std::uint32_t chain_operations() const { return chain_.full.operations; }

 private:
  struct Pair {
    Launch brief;
    Launch full;
  };
  /// Of one operation of a lane: cycles of the slowest warp and seconds.
  struct Slope {
    double cycles = 0;
    double seconds = 0;
    double core_hertz = 0;
  };

  /// From the first to the last stamp of the warps of a launch. The clock of the cores is the slope
  /// of the sums: what lies between the reads of the two clocks cancels.
  struct Spans {
    double slowest = 0;  ///< cycles
    double cycles = 0;   ///< of all warps together
    double seconds = 0;
  };

  /// Long and short launches, from what two others take: the second of them is made longer until it
  /// differs from the first by much more than a launch from the next.
  Pair sized(Launch launch) {
    constexpr std::uint32_t small = 2 * unroll;
    constexpr std::uint32_t factor = 4;
    constexpr double clear_seconds = 3e-5;
    const std::uint32_t most = operations_for(kind_, launch, timed_seconds, 0);
    const auto seconds = [&](std::uint32_t operations) {
      launch.operations = operations;
      return run(launch);
    };
    (void)seconds(small);  // loads the code
    const double first = seconds(small);
    std::uint32_t large = std::min(6 * unroll, most);
    double longer = seconds(large) - first;
    while (longer < clear_seconds && factor * large <= most) {
      large *= factor;
      longer = seconds(large) - first;
    }
    const double each = longer / std::max(large - small, 1U);
    Pair pair{.brief = launch, .full = launch};
    pair.full.operations = operations_for(kind_, launch, timed_seconds, each);
    pair.brief.operations = std::max(pair.full.operations / 5 / unroll, 1U) * unroll;
    return pair;
  }

  Slope slope(const Pair& pair) {
    const double brief_seconds = run(pair.brief);
    const Spans brief = spans(pair.brief);
    const double full_seconds = run(pair.full);
    const Spans full = spans(pair.full);
    const double operations = pair.full.operations - pair.brief.operations;
    return {.cycles = (full.slowest - brief.slowest) / operations,
            .seconds = (full_seconds - brief_seconds) / operations,
            .core_hertz = (full.cycles - brief.cycles) / (full.seconds - brief.seconds)};
  }

  [[nodiscard]] std::span<const WarpRecord> records(const Launch& launch) const {
    return bench_.records_landed.span().first(launch.threads() / warp_lanes);
  }
  [[nodiscard]] Spans spans(const Launch& launch) const {
    Spans spans;
    for (const WarpRecord& r : records(launch)) {
      const auto cycles = static_cast<double>(r.cycles[1] - r.cycles[0]);
      spans.slowest = std::max(spans.slowest, cycles);
      spans.cycles += cycles;
      spans.seconds += static_cast<double>(r.nanoseconds[1] - r.nanoseconds[0]) * 1e-9;
    }
    return spans;
  }

  double run(const Launch& launch) {
    constexpr int byte = 0xA5;
    const cudaStream_t stream = bench_.stream.get();
    const std::uint32_t count = result_words(kind_, launch);
    bench_.left.poison(byte, stream);
    bench_.records.poison(byte, stream);
    if (kind_.space == Space::shared) {
      bench_.words.poison(byte, stream);
    } else {
      kernels_.fill(bench_.words.data(), count, stream);
    }
    const Work work{.placement = placement_of(kind_),
                    .operations = launch.operations,
                    .area_words = count / launch.blocks,
                    .zero = 0};
    const double seconds = bench_.gate.seconds(
        bench_.stream, bench_.begin, bench_.end,
        [&] {
          (launch.chains == 1 ? kernels_.chain : kernels_.many)(
              launch, work, bench_.words.data(), bench_.left.data(), bench_.records.data(), stream);
        },
        [&] {
          bench_.landed.download_from(bench_.words, stream);
          bench_.left_landed.download_from(bench_.left, stream);
          bench_.records_landed.download_from(bench_.records, stream);
        });
    check(launch, count);
    return seconds;
  }

  void check(const Launch& launch, std::uint32_t count) {
    std::vector<std::uint64_t> words(count);
    if (kind_.operation == Operation::add_int64) {
      std::ranges::copy(bench_.landed.span().first(count), words.begin());
    } else {
      std::vector<std::uint32_t> narrow(count);
      std::memcpy(narrow.data(), bench_.landed.data(), count * sizeof(std::uint32_t));
      for (std::uint32_t i = 0; i < count; ++i) {
        words[i] = narrow[i];
        if (kind_.operation != Operation::add_float) continue;
        float value = 0;
        std::memcpy(&value, &narrow[i], sizeof value);
        // A sum of whole numbers is one; what is none is nothing that was expected.
        const bool whole = value >= 0 && value < exact_floats && value == std::floor(value);
        words[i] = whole ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0};
      }
    }
    const auto [place, added] = expected_.try_emplace(
        std::uint64_t{launch.threads()} << 32U | launch.operations, kind_, launch);
    checked_ += place->second.checks();
    different_ += place->second.different(
        {.words = words, .left = bench_.left_landed.span().first(launch.threads())});
  }

  Kind kind_;
  Kernels kernels_;
  unsigned sms_;
  Bench& bench_;
  std::map<std::uint64_t, Expected> expected_;  // by launch
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
  Pair many_;
  Pair chain_;
};

void run(Session& session) {
  if (session.counters() != nullptr) {
    throw Skipped{"no counter is held against a model of atomics"};
  }
  const Facts& facts = session.device().identity().facts;
  const auto sms = static_cast<unsigned>(std::get<std::int64_t>(facts.at("sm_count")));
  Bench& bench = session.cache().keep<Bench>("atomics", [&] { return Bench{sms}; });
  const Kind kind = kind_of(session);
  Atomics atomics{kind, sms, bench};
  const auto seen = collect(atomics, session.plan());
  report(session, seen, kind);
  session.add(atomics.result());
  session.add(atomics.placement());
  session.add(bench.gate.gate());
  atomics.add_code(session);
  session.fact("operations", static_cast<std::int64_t>(atomics.operations()));
  if (kind.returns) {
    session.fact("chain_operations", static_cast<std::int64_t>(atomics.chain_operations()));
  }
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::atomics
