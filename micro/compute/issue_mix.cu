// How many cycles does an instruction of another unit cost a scheduler that issues multiply-adds?
//
// On the whole chip, eight warps per scheduler run groups of k multiply-adds and one partner, and
// the multiply-adds alone. The additional time of a group is the cost of the partner, one cycle if
// it is only issued. The compiler would move the partners together: to prevent that, each takes its
// operand from one of the warp's two chains, and six multiply-adds later both use its result. One
// factor of a multiply-add is the same for all lanes: only two registers are read, and warps do not
// wait for operands.
#include "harness/cuda/benchmark.cuh"
#include "micro/compute/chains.hpp"

#include <iterator>
#include <limits>

#ifdef __CUDACC__
#include "micro/compute/chains.cuh"
#endif

namespace strata::issue_mix {

enum class Partner : std::uint8_t { none, rsqrt, shuffle, shared_load, integer_add };
constexpr auto partners =
    choices_of<Partner>("none", "rsqrt", "shuffle", "shared_load", "integer_add");
/// Multiply-adds of a group.
constexpr Choices group_sizes{std::pair{"4", 4U},   std::pair{"8", 8U},   std::pair{"12", 12U},
                              std::pair{"16", 16U}, std::pair{"24", 24U}, std::pair{"48", 48U}};

constexpr unsigned chains = 2;
constexpr unsigned body = 384;      ///< multiply-adds of a loop: whole groups of every size
constexpr unsigned needed = 6;      ///< multiply-adds between a partner's operand and its result
constexpr unsigned slots = 8;       ///< results that may be in flight
constexpr unsigned schedulers = 4;  ///< of an SM, from Volta on
constexpr unsigned warps_of_scheduler = 8;
constexpr unsigned warps_of_sm = schedulers * warps_of_scheduler;  ///< one block

/// The group whose result multiply-add `position` of a loop takes as its addend, or -1.
[[nodiscard]] STRATA_HD constexpr int answer_at(unsigned position, unsigned size) {
  const unsigned since = (position + body - needed) % body;
  return since % size < chains ? static_cast<int>(since / size) : -1;
}
/// Whether a partner follows multiply-add `position`.
[[nodiscard]] STRATA_HD constexpr bool asks_behind(unsigned position, unsigned size) {
  return position % size == chains - 1;
}

/// Of all lanes: one factor for each half of a loop.
using Factors = std::array<float, 2>;

/// Shared-memory offset of the loads: beyond what a driver or a block may keep at its start. Each
/// word there leads a chain of shared_load from one of these addresses to another.
constexpr std::uint32_t ring_address = 8192;
constexpr std::uint32_t ring_words = 8;
constexpr std::size_t rows = chains + 1 + 2 + 2;

using operations::distinct_lanes;

/// Chains, each of the lanes that differ.
using Ends = std::array<std::array<float, operations::distinct_lanes>, chains>;

constexpr std::uint32_t last_place = (ring_words - 1) * sizeof(std::uint32_t);

namespace {

/// An address as the bits of a subnormal number: those add like integers, and as fast.
float address(std::uint32_t place) {
  constexpr std::uint32_t width = sizeof(float);
  return std::bit_cast<float>(ring_address + place * width);
}

/// Subtracting a place from it maps the first place to the last, and so on.
float mirror() {
  return std::bit_cast<float>(2 * ring_address + last_place);
}

/// What the chains of one lane work on.
struct Words {
  std::array<float, chains> start{};
  float answer = 0;                      ///< before the first partner; without partners, always
  std::array<float, 2> b{};              ///< in the first half of a loop and in the second
  std::array<std::uint32_t, 2> added{};  ///< integer_add; for shuffle, the first is the source lane
};

Words words_of(Partner partner, std::uint32_t lane) {
  if (partner == Partner::shared_load) {
    return {.start = {address(lane % ring_words), address((lane + 3) % ring_words)},
            .answer = mirror(),
            .b = {mirror(), mirror()}};
  }
  constexpr std::uint32_t of_lane = 8;  // numbers
  const auto number = [&](std::uint32_t which) {
    return operations::fraction<float>(of_lane * lane + which);
  };
  // At most a sixteenth of a number, so that the answer is close to the operand.
  const auto few = [&](std::uint32_t which) {
    return (hashed_word(of_lane * lane + which) >> 14U) | 1U;
  };
  return {.start = {number(0), number(1)},
          .answer = number(2),
          .b = {number(3), number(4)},
          .added = {partner == Partner::shuffle ? (lane + 1) % distinct_lanes : few(5), few(6)}};
}

using OfLanes = std::array<float, distinct_lanes>;

/// The state at the end of a loop iteration, with which the next one starts.
struct State {
  Ends x{};
  std::array<OfLanes, slots> answers{};
  bool operator==(const State&) const = default;
};

float answer_of(Partner partner, const OfLanes& x, std::size_t lane, const Words& words) {
  const auto bits = std::bit_cast<std::uint32_t>(x[lane]);
  switch (partner) {
    case Partner::rsqrt:
      return 1 / std::sqrt(x[lane]);
    case Partner::shuffle:
      return x[(lane + 1) % distinct_lanes];
    case Partner::shared_load: {
      const std::uint32_t offset = bits - ring_address;  // huge if it is before the ring
      const bool inside = offset <= last_place && offset % sizeof(float) == 0;
      return inside ? mirror() : std::numeric_limits<float>::quiet_NaN();
    }
    case Partner::integer_add:
      return std::bit_cast<float>(bits + words.added[0] + words.added[1]);
    case Partner::none:
      break;
  }
  return words.answer;
}

/// Relative; 0: the host computes the same bits.
double tolerance_of(Partner partner) {
  constexpr double of_approximation = 2e-6;  // a few units in the last place, which add up
  return partner == Partner::rsqrt ? of_approximation : 0;
}

/// Multiply-adds of threads, and the partners that have a counter.
CountPlan count_plan(Partner partner, unsigned size, const GpuFacts& gpu) {
  constexpr std::uint32_t rounds = 16;
  const double groups = double{rounds} * body / size * warps_of_sm * gpu.sms;  // of warps
  // Both launches do one more round: only a launch that enters the loop prepares the loop's
  // operands.
  CountPlan plan{.length = {.rounds = rounds + 1},
                 .none = {.rounds = 1},
                 .expected = {{.quantity = "fp32_fma", .predicted = groups * size * warp_lanes}},
                 .model = "chain_length",
                 .unit = "group",
                 .units = groups};
  if (partner == Partner::rsqrt)
    plan.expected.push_back({.quantity = "xu_instructions", .predicted = groups});
  if (partner == Partner::shared_load)
    plan.expected.push_back({.quantity = "shared_load_requests", .predicted = groups});
  return plan;
}

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "issue_mix",
      .question =
          "How many scheduler cycles does an instruction of another unit cost among multiply-adds?",
      .axes = {partners.axis("partner", "instruction after each group of multiply-adds"),
               group_sizes.axis("multiply_adds", "multiply-adds per group")},
      .counter_sets = {"flops", "shared", "issue"},
      .quantities = {{"group_cycles", "scheduler cycles of a group of one warp"},
                     {"multiply_add_cycles",
                      "scheduler cycles of a multiply-add of one warp, without partners"},
                     {"partner_cycles", "cycles of a group minus those of its multiply-adds alone"},
                     {"core_clock", "clock of the core under this load"}},
      .seconds_per_case = 0.1,
      .excludes = {}};
}

Factors factors_of(Partner partner) {
  if (partner == Partner::shared_load) return {-1, -1};
  constexpr std::uint32_t index = 1000;
  return {operations::fraction<float>(index) / 4, operations::fraction<float>(index + 1) / 4};
}

/// The end values of the chains. `has_partners`: whether they interrupt the multiply-adds.
Ends expected_ends(Partner partner, unsigned size, bool has_partners, std::uint64_t rounds) {
  const Factors a = factors_of(partner);
  std::array<Words, distinct_lanes> words;
  State state;
  for (std::uint32_t lane = 0; lane < distinct_lanes; ++lane) {
    words[lane] = words_of(partner, lane);
    for (std::size_t c = 0; c < chains; ++c)
      state.x.at(c)[lane] = words[lane].start.at(c);
    for (OfLanes& answers : state.answers)
      answers[lane] = words[lane].answer;
  }
  operations::repeat(state, rounds, [&] {  // one turn of the kernel's loop
    for (unsigned p = 0; p < body; ++p) {
      const std::size_t half = p / (body / 2);
      const int taken = answer_at(p, size);
      const unsigned group = p / size;
      for (std::size_t lane = 0; lane < distinct_lanes; ++lane) {
        float& x = state.x.at(p % chains)[lane];
        const float addend = taken < 0
                                 ? words[lane].b.at(half)
                                 : state.answers.at(static_cast<unsigned>(taken) % slots)[lane];
        x = std::fma(x, a.at(half), addend);
      }
      if (!has_partners || !asks_behind(p, size)) continue;
      for (std::size_t lane = 0; lane < distinct_lanes; ++lane) {
        state.answers.at(group % slots)[lane] =
            answer_of(partner, state.x.at(group % chains), lane, words[lane]);
      }
    }
  });
  return state.x;
}

/// A launch writes the first warp's `ends`. Per group of one warp, on one scheduler. The last slope
/// is that of the groups with their partner, the first of the multiply-adds alone.
Experiment describe(const Params& params, const GpuFacts& gpu,
                    std::span<const std::uint64_t> ends) {
  const Partner partner = partners.of(params.at("partner"));
  const unsigned size = group_sizes.of(params.at("multiply_adds"));
  constexpr double timed_seconds = 2e-3;  // of the long launch: thousands of timer steps
  const auto slope_of = [&](bool has_partners) {
    const auto wanted = [=](std::uint32_t rounds) {
      operations::WarpWords words;
      for (const auto& chain : expected_ends(partner, size, has_partners, rounds))
        std::ranges::transform(chain, std::back_inserter(words), operations::bits<float>);
      return words;
    };
    return Slope{
        .verify = operations::ends_verified(ends, has_partners ? tolerance_of(partner) : 0, wanted),
        .writers = std::size_t{gpu.sms} * warps_of_sm,
        .window = median_sm(warps_of_sm),
        .held = true};
  };
  constexpr std::size_t plain = 0;
  Experiment experiment;
  if (partner != Partner::none) experiment.slopes.push_back(slope_of(/*has_partners=*/false));
  experiment.slopes.push_back(slope_of(partner != Partner::none));
  const std::size_t own = experiment.slopes.size() - 1;
  experiment.slopes[own].size =
      lengths_by_trial(timed_seconds, double{body} / size * warps_of_scheduler);

  add_both(experiment, "group_cycles", "cycle", own);
  experiment.rows.insert(
      experiment.rows.end(),
      {{"multiply_add_cycles", "cycle", By::inside, cycles_of(plain, 1.0 / size)},
       {"multiply_add_cycles", "cycle", By::outside, outside_of(plain, 1.0 / size)}});
  if (partner != Partner::none) {
    const auto additional = [=](const Sample& sample) {
      return sample.slopes[own].inside.cycles - sample.slopes[plain].inside.cycles;
    };
    experiment.rows.push_back(
        {"partner_cycles", "cycle", "less_multiply_adds", additional, Provenance::modelled});
  }
  experiment.checked = operations::what_was_checked(tolerance_of(partner));
  experiment.placement = Placement{.cores = gpu.sms, .per_core = int{warps_of_sm}};
  experiment.counts = count_plan(partner, size, gpu);
  experiment.counts->slope = own;
  experiment.facts = [](const Experiment&) {
    return Facts{{"warps_of_a_scheduler", std::int64_t{warps_of_scheduler}},
                 {"multiply_adds_of_a_loop", std::int64_t{body}},
                 {"multiply_adds_until_needed", std::int64_t{needed}}};
  };
  return experiment;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  return describe(params, gpu, {});
}

#ifdef __CUDACC__

/// Row after row for the lanes of a warp: starts, answer, b of both halves, added.
operations::WarpWords device_words(Partner partner) {
  return operations::warp_rows(rows, [partner](std::size_t row, std::uint32_t lane) {
    return std::bit_cast<std::array<std::uint32_t, rows>>(words_of(partner, lane)).at(row);
  });
}

constexpr unsigned threads = warps_of_sm * warp_lanes;

/// The partner's result for a chain's number.
template <Partner partner>
__device__ __forceinline__ float partner_of(float x, std::uint32_t first, std::uint32_t second) {
  float answer = 0;
  if constexpr (partner == Partner::rsqrt) {
    // Wanted: MUFU.RSQ
    asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(answer) : "f"(x));
  } else if constexpr (partner == Partner::shuffle) {
    // Wanted: SHFL.IDX, within groups of eight lanes
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x181F, 0xFFFFFFFF;"
                 : "=f"(answer)
                 : "f"(x), "r"(first));
  } else if constexpr (partner == Partner::shared_load) {
    // Wanted: LDS R, [R]
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(answer) : "r"(__float_as_uint(x)) : "memory");
  } else if constexpr (partner == Partner::integer_add) {
    // Wanted: IADD3 R, R, R, R. ptxas may turn a single addition into a multiply-add.
    std::uint32_t sum = 0;
    asm volatile("add.u32 %0, %1, %2;\n\tadd.u32 %0, %0, %3;"
                 : "=&r"(sum)
                 : "r"(__float_as_uint(x)), "r"(first), "r"(second));
    answer = __uint_as_float(sum);
  }
  return answer;
}

/// Groups of `size` multiply-adds and a partner; without a partner the answers do not change.
template <Partner partner, unsigned size>
__global__ void __launch_bounds__(threads)
    mix(const std::uint64_t* values, float a_0, float a_1, std::uint32_t rounds, Stamp* stamps,
        std::uint64_t* ends) {
  static_assert(body % (chains * size) == 0 && body / size % slots == 0, "loops are alike");
  static_assert(size >= needed / 2, "a result is used before its slot is needed again");
  extern __shared__ float room[];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const auto word = [&](unsigned row) {
    return static_cast<std::uint32_t>(values[row * warp_lanes + lane]);
  };
  float x[chains];
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    x[c] = __uint_as_float(word(c));
  const float unasked = __uint_as_float(word(chains));
  float answers[slots];
#pragma unroll
  for (float& answer : answers)
    answer = unasked;
  const float a[2] = {a_0, a_1};
  const float b[2] = {__uint_as_float(word(chains + 1)), __uint_as_float(word(chains + 2))};
  const std::uint32_t first = word(chains + 3);
  const std::uint32_t second = word(chains + 4);
  if constexpr (partner == Partner::shared_load) {
    const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(room));
    if (base > ring_address) __trap();
    if (threadIdx.x < ring_words)
      room[(ring_address - base) / sizeof(float) + threadIdx.x] = unasked;
  }
  operations::wait_for(x);
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (unsigned p = 0; p < body; ++p) {
      const unsigned half = p / (body / 2);
      const int taken = answer_at(p, size);
      // Wanted: FFMA R, R, UR, R
      asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                   : "+f"(x[p % chains])
                   : "f"(a[half]),
                     "f"(taken < 0 ? b[half] : answers[static_cast<unsigned>(taken) % slots]));
      if (partner != Partner::none && asks_behind(p, size))
        answers[p / size % slots] = partner_of<partner>(x[p / size % chains], first, second);
    }
  }
  operations::wait_for(x);
  const Reading end = reading_after();
  const std::uint64_t checksum = operations::keep_ends(x, ends);
  if (lane == 0)
    leave(stamps + (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes, begin, end, checksum);
}

using Kernel = void (*)(const std::uint64_t*, float, float, std::uint32_t, Stamp*, std::uint64_t*);

Kernel kernel_for(Partner partner, unsigned size) {
  using enum Partner;
  return with_value<none, rsqrt, shuffle, shared_load, integer_add>(partner, [&]<Partner wanted>() {
    return with_value<4U, 8U, 12U, 16U, 24U, 48U>(
        size, [&]<unsigned group>() -> Kernel { return &mix<wanted, group>; });
  });
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Partner partner = partners.of(session.param("partner"));
  const unsigned size = group_sizes.of(session.param("multiply_adds"));
  const Factors factors = factors_of(partner);
  const DeviceBuffer<std::uint64_t> values{device_words(partner)};
  CudaMachine machine{session, std::size_t{gpu.sms} * warps_of_sm};
  auto& ends = machine.output<std::uint64_t>(std::size_t{chains} * warp_lanes);

  Experiment experiment = describe(session.params(), gpu, ends.landed());
  const auto launches = [&](Kernel which) {
    const auto* const code = reinterpret_cast<const void*>(which);
    experiment.kernels.push_back(code);
    return [&, which, alone = bytes_to_be_alone(code)](const Call& call) {
      which<<<gpu.sms, threads, alone, machine.stream().get()>>>(
          values.data(), factors[0], factors[1], call.length.rounds, machine.device_stamps(),
          ends.data());
    };
  };
  experiment.slopes.back().launch = launches(kernel_for(partner, size));
  if (partner != Partner::none)
    experiment.slopes.front().launch = launches(kernel_for(Partner::none, size));
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::issue_mix
