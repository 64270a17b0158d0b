#include "harness/measure/two_sides.hpp"
#include "micro/compute/atomics.hpp"

namespace strata::atomics {

constexpr std::uint32_t warps_per_sm = 32;
constexpr std::uint32_t block_threads = warps_per_sm * warp_lanes;

/// Where rates are timed, and where latencies are.
[[nodiscard]] constexpr LaunchShape full_chip(unsigned sms) {
  return {.blocks = sms, .warps_of_block = warps_per_sm, .chains = in_flight};
}
constexpr LaunchShape lone_warp{};

/// Places of its words in global memory.
using two_sides::candidates;
constexpr std::uint32_t places_alone = two_sides::places_timed;

namespace {

/// If something is returned, the first slope is of a chain alone; the last is of all workers. Per
/// operation of a worker.
Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Variant variant = variant_of(params);
  constexpr double timed_seconds = 2.5e-4;  // of a long launch: hundreds of timer steps
  const LaunchShape full = full_chip(gpu.sms);
  const bool visits = variant.space == StateSpace::global;  // several places, one operation each
  Experiment experiment =
      described(variant, "warp_atomic_cycles", 1.0 / warps_per_sm, full.threads(),
                double{warp_lanes}, visits ? 1.0 / places_alone : 1);
  for (Slope& slope : experiment.slopes) {
    const LaunchShape shape = &slope == &experiment.slopes.back() ? full : lone_warp;
    slope.size =
        sized(variant.operation, Places::of_threads(variant, shape), unroll, timed_seconds);
    slope.writers = shape.warps();
    // Work between the readings of the two clocks cancels.
    slope.window = slowest_writer_by_sums();
    slope.held = true;
  }
  experiment.checked = "words and per-thread results against the host's";
  experiment.placement = Placement{.cores = gpu.sms, .per_core = int{warps_per_sm}};
  experiment.not_counted = "atomics have no model of counters";
  experiment.facts = [](const Experiment& measured) {
    const auto rounds = [](const Slope& slope) { return std::int64_t{slope.lengths.full.rounds}; };
    Facts facts{{"operations", rounds(measured.slopes.back())}};
    if (measured.slopes.size() > 1) facts["chain_operations"] = rounds(measured.slopes.front());
    return facts;
  };
  return experiment;
}

#ifdef __CUDACC__

// Atomic operations of a lane: in PTX, and as chains in which each waits for the previous one of
// its chain. By the disassembler most operations are one instruction (ATOMS, ATOMG, and RED or REDG
// where nothing is returned). Additions of floats and of 64 bits in shared memory are a loop of a
// load, an addition and a compare and swap (ATOMS.CAST.SPIN). ptxas does not add up the lanes of a
// warp beforehand: it cannot prove the address to be uniform.

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

/// The chains of a lane.
template <Operation operation, std::uint32_t chains>
struct Chains {
  Word<operation> operand[chains];
  Held<operation> held[chains];

  __device__ __forceinline__ explicit Chains(std::uint32_t worker) {
#pragma unroll
    for (std::uint32_t c = 0; c < chains; ++c) {
      operand[c] = word_of<operation>(operand_of(operation, worker, c));
      held[c] = {operand[c], 0};
    }
  }

  /// That many operations on the word at `at`. `zero`: 0, which only the host knows.
  template <StateSpace space, bool returns>
  __device__ __forceinline__ void operate(std::uint64_t at, std::uint32_t operations,
                                          std::uint32_t zero) {
    static_assert(unroll % chains == 0);
#pragma unroll 1
    for (std::uint32_t i = 0; i < operations; i += unroll) {
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
          mine_now.word = (old & zero) | operand[u % chains];
        }
      }
    }
  }

  /// The sum of what the chains hold, for Compare.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t left() const {
    std::uint32_t sum = 0;
#pragma unroll
    for (std::uint32_t c = 0; c < chains; ++c) {
      if constexpr (operation == Operation::cas_int) {
        sum += held[c].wins;
      } else if constexpr (operation == Operation::exch_int) {
        sum += hashed_word(held[c].word);
      } else if constexpr (operation == Operation::add_float) {
        sum += static_cast<std::uint32_t>(__uint_as_float(held[c].word));
      } else {
        sum += static_cast<std::uint32_t>(held[c].word);
      }
    }
    return sum;
  }
};

constexpr std::uint32_t shared_bytes = block_threads * 8;

/// By value in the kernel's parameters.
struct Work {
  WordPitch pitch;
  std::uint32_t operations;  ///< of a lane
  std::uint32_t area_words;  ///< of a block, in shared memory; of a place
  std::uint32_t zero;        ///< 0, which only the host knows
  std::uint32_t places = 1;  ///< that a warp alone visits
};

/// `chains` operations of a lane in flight, each of which waits for the previous result of its
/// chain.
template <StateSpace space, Operation operation, bool returns, std::uint32_t chains>
__global__ void __launch_bounds__(block_threads, 1)
    repeat(const __grid_constant__ Work work, void* memory, std::uint32_t* left, Stamp* stamps) {
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
  Chains<operation, chains> own{thread};
  Stamp* const mine = stamps + thread / warp_lanes;
  __syncthreads();
  // Stamps stay in registers until the end: a store between the operations of other warps waits for
  // room in the same queue, and since its operands are read there, the clock reading after it would
  // be late.
  const Reading begin = reading_before();
  own.template operate<space, returns>(at, work.operations, work.zero);
  const std::uint32_t returned = own.left();
  // By now the last operations have returned, or have been done if they return nothing. The mask
  // must be unknown to ptxas: with a known one it could prove that the impossible value cannot
  // occur.
  consume(returned & work.zero);
  if constexpr (!returns && !shared) __threadfence();
  const Reading end = reading_after();
  if (lane == 0) leave(mine, begin, end, /*result=*/0);
  left[thread] = returned;
  if constexpr (shared) {
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < work.area_words; i += blockDim.x)
      words[blockIdx.x * work.area_words + i] = field[i];
  }
}

/// The latency in global memory: one warp alone works on one area of words after the other, each at
/// its offset in `room`, and copies its words out. `cycles`: of the operations on each area.
template <Operation operation>
__global__ void __launch_bounds__(warp_lanes)
    visit(const __grid_constant__ Work work, char* room, const std::uint32_t* offsets, void* memory,
          std::uint32_t* left, std::uint64_t* cycles, Stamp* stamp) {
  auto* const words = static_cast<Word<operation>*>(memory);
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t place = 0; place < work.places; ++place) {
    auto* const area = reinterpret_cast<Word<operation>*>(room + offsets[place]);
    const std::uint32_t worker = place * warp_lanes + threadIdx.x;
    for (std::uint32_t i = threadIdx.x; i < work.area_words; i += warp_lanes)
      area[i] = word_of<operation>(initial_word(operation, i));
    __syncwarp();
    Chains<operation, 1> own{worker};
    // The words have arrived at L2 before the clock is read.
    consume(static_cast<std::uint32_t>(__ldcg(area + threadIdx.x % work.area_words)) & work.zero);
    const std::uint64_t at =
        reinterpret_cast<std::uint64_t>(area) + threadIdx.x * work.pitch.by_lane;
    const std::uint64_t before = cycles_now();
    own.template operate<StateSpace::global, true>(at, work.operations, work.zero);
    const std::uint32_t returned = own.left();
    consume(returned & work.zero);
    const std::uint64_t taken = cycles_now() - before;
    __syncwarp();
    left[worker] = returned;
    if (threadIdx.x == 0) cycles[place] = taken;
    for (std::uint32_t i = threadIdx.x; i < work.area_words; i += warp_lanes)
      words[place * work.area_words + i] = __ldcg(area + i);
  }
  const Reading end = reading_after();
  if (threadIdx.x == 0) leave(stamp, begin, end, /*result=*/0);
}

/// Initialises the words in global memory that lanes work on.
template <Operation operation>
__global__ void lay(void* words, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    static_cast<Word<operation>*>(words)[i] = word_of<operation>(initial_word(operation, i));
}

using Kernel = void (*)(Work, void*, std::uint32_t*, Stamp*);

/// The kernels of a variant.
struct Kernels {
  Kernel full;   ///< where rates are timed
  Kernel alone;  ///< of latencies in shared memory, or null
  void (*visit)(Work, char*, const std::uint32_t*, void*, std::uint32_t*, std::uint64_t*, Stamp*);
  void (*lay)(void*, std::uint32_t);
};

Kernels kernels_for(const Variant& variant) {
  using enum Operation;
  using enum StateSpace;
  return with_value<add_int, add_float, add_int64, cas_int, exch_int>(
      variant.operation, [&]<Operation operation>() {
        return with_value<shared, global>(variant.space, [&]<StateSpace space>() {
          Kernels kernels{.full = repeat<space, operation, true, in_flight>,
                          .alone = nullptr,
                          .visit = visit<operation>,
                          .lay = lay<operation>};
          if constexpr (space == shared) kernels.alone = repeat<space, operation, true, 1>;
          if constexpr (is_addition(operation)) {
            if (!variant.returns) kernels.full = repeat<space, operation, false, in_flight>;
          }
          return kernels;
        });
      });
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Variant variant = variant_of(session.params());
  Experiment experiment = describe(session.params(), gpu);
  require_timed(session, experiment);
  const Kernels kernels = kernels_for(variant);
  const LaunchShape full = full_chip(gpu.sms);
  const bool shared = variant.space == StateSpace::shared;
  CudaMachine machine{session, full.warps()};
  const cudaStream_t stream = machine.stream().get();
  const Places alone = Places::of_threads(variant, lone_warp);
  const std::size_t most_words =
      std::max(Places::of_threads(variant, full).words, candidates * alone.words);
  // In shared memory a block initialises its own words.
  auto& words = machine.output<std::uint64_t>(most_words * width_of(variant.operation) / 8, shared);
  auto& left = machine.output<std::uint32_t>(std::max(full.threads(), candidates * warp_lanes));
  const auto add = [&](Slope& slope, const Places& places, const Compare& compare) {
    const auto count = static_cast<std::uint32_t>(places.words);
    slope.prepare = [&, count](const Call&) {
      if (!shared) kernels.lay<<<(count + 255) / 256, 256, 0, stream>>>(words.data(), count);
    };
    slope.verify = [&, count, compare, workers = places.target.size()](
                       const Call& call, std::span<const Stamp>, Tally& tally) {
      compare(
          numbers_in(words.landed().data(), variant.operation, count), left.landed().first(workers),
          [&](std::size_t) { return call.length.rounds; }, tally);
    };
  };
  // Lanes with words of their own, so that the host can follow their chains.
  Variant apart = variant;
  apart.target = Target::disjoint;
  Dependence dependence{"words and results of altered operands", Tally{}};
  const auto follow = [&](Slope& slope) {
    constexpr Length some{.rounds = 8 * unroll, .work = 1};
    (void)launch_once(machine, slope, {.length = some}, *dependence.altered);
  };
  const auto launch_of = [&](const Variant& by, const LaunchShape& shape, Kernel kernel,
                             std::uint32_t zero) {
    const auto area = static_cast<std::uint32_t>(Places::of_threads(by, shape).area);
    return [&, by, shape, kernel, area, zero](const Call& call) {
      kernel<<<shape.blocks, shape.warps_of_block * warp_lanes, 0, stream>>>(
          {pitch_of(by), call.length.rounds, area, zero}, words.data(), left.data(),
          machine.device_stamps());
    };
  };
  const auto add_one_place = [&](Slope& slope, const LaunchShape& shape, Kernel kernel) {
    const Places all = Places::of_threads(variant, shape);
    add(slope, all, comparison(variant.operation, shape.chains, all));
    slope.launch = launch_of(variant, shape, kernel, /*zero=*/0);
    experiment.kernels.push_back(reinterpret_cast<const void*>(kernel));
    if (!variant.returns) return;
    const LaunchShape one_warp{.chains = shape.chains};
    const Places own = Places::of_threads(apart, one_warp);
    Slope altered{.launch = launch_of(apart, one_warp, kernel, altered_zero)};
    add(altered, own, chained(variant.operation, shape.chains, own));
    follow(altered);
  };
  add_one_place(experiment.slopes.back(), full, kernels.full);
  std::optional<DeviceBuffer<char>> room;
  std::optional<DeviceBuffer<std::uint32_t>> offsets;
  std::uint32_t places = candidates;
  if (variant.returns && shared) {
    add_one_place(experiment.slopes.front(), lone_warp, kernels.alone);
  } else if (variant.returns) {
    Slope& slope = experiment.slopes.front();
    room.emplace(candidates * two_sides::candidate_pitch, Where::current());
    offsets.emplace(two_sides::candidate_offsets(), Where::current());
    const auto& cycles = machine.output<std::uint64_t>(candidates);
    const auto visit_by = [&](const Variant& by, std::uint32_t zero) {
      const auto area = static_cast<std::uint32_t>(Places::of_threads(by, lone_warp).area);
      return [&, by, area, zero](const Call& call) {
        kernels.visit<<<1, warp_lanes, 0, stream>>>(
            {pitch_of(by), call.length.rounds, area, zero, places}, room->data(), offsets->data(),
            words.data(), left.data(), cycles.data(), machine.device_stamps());
      };
    };
    slope.launch = visit_by(variant, /*zero=*/0);
    slope.cells = [&] {
      return std::vector<double>{cycles.landed().begin(), cycles.landed().begin() + places};
    };
    // The first trial caches code and translations.
    constexpr Length trial{.rounds = 8 * unroll, .work = 1};
    Launched seen;
    for (int i = 0; i < 2; ++i)
      seen = launch_once(machine, slope, {.length = trial}, experiment.tally);
    const two_sides::Homes homes = two_sides::balanced(seen.cells);
    offsets->upload(two_sides::candidate_offsets(homes.order));
    places = places_alone;
    const Places all = alone.times(places);
    add(slope, all, comparison(variant.operation, /*chains=*/1, all));
    const Places own = Places::of_threads(apart, lone_warp).times(places);
    Slope altered{.launch = visit_by(apart, altered_zero)};
    add(altered, own, chained(variant.operation, /*chains=*/1, own));
    follow(altered);
    two_sides::add_sides(experiment, "atomic_latency", homes.are_two);
    experiment.kernels.push_back(reinterpret_cast<const void*>(kernels.visit));
  }
  if (variant.returns) experiment.checks.emplace_back(dependence);
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::atomics
