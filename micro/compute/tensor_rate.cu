// How much do tensor cores multiply per cycle, and how long does a dependent product take?
//
// Rate: eight warps on every SM multiply the same matrices again and again, with mma alone and with
// wgmma in two groups of four, long enough that the clock settles under this load. A round starts
// from zero, so sums stay as small as those of a matrix product, and its last accumulator is added
// to a number that proves how many rounds there were. Latency: one warp or warpgroup, where each
// product waits for the one before. Before that, a launch with small integers must give exactly the
// host's sums, thread by thread. Zeros switch fewer transistors: their rate is that of a higher
// clock, not of a program.
//
// Compute capability 9.0 has no mma of 8-bit floating point: ptxas writes conversions to fp16, two
// products and additions. B then changes from product to product (by a kernel argument that is
// always 0), or ptxas would take the products out of the loop.
#include "harness/cuda/benchmark.cuh"
#include "micro/compute/driver_readings.hpp"
#include "micro/compute/tensor_operands.hpp"

#include <chrono>
#include <cmath>
#include <memory>

#ifdef __CUDACC__
#include "micro/compute/tensor_instructions.cuh"
#endif

namespace strata::tensor_rate {

/// Products of a warp, or of a warpgroup, in a round; the chains of a warp share them.
[[nodiscard]] constexpr std::uint32_t products_of_round(const Shape& shape) {
  return shape.of_group() ? 16 : 128;
}
[[nodiscard]] constexpr unsigned chains_of(const Shape& shape) {
  const bool alone = shape.measure == Measure::latency || shape.of_group();
  return alone || shape.type == Type::fp64 ? 1 : 4;
}
/// Warps on an SM.
[[nodiscard]] constexpr unsigned warps_of(const Shape& shape) {
  return shape.measure == Measure::rate ? 8 : shape.warps();
}

/// What a thread stores: the sum of its part of the product, and the bits of its first element.
struct End {
  double sum = 0;
  std::uint64_t first = 0;
};

namespace {

Shape shape_of(const Params& params) {
  return {.measure = measures.of(params.at("measure")),
          .instruction = instructions.of(params.at("instruction")),
          .type = types.of(params.at("type")),
          .size = sizes.of(params.at("shape")),
          .a = sources.of(params.at("a")),
          .sparsity = sparsities.of(params.at("sparsity")),
          .data = datas.of(params.at("data"))};
}

/// Why there is no such instruction, or null.
constexpr const char* why_not(const Shape& shape) {
  const bool of_mma = shape.size == Size::smallest || shape.size == Size::largest;
  if (shape.of_group() == of_mma) return "mma has two shapes, wgmma has 64 rows and n columns";
  if (shape.of_group()) {
    return shape.type == Type::fp64 ? "wgmma does not multiply fp64" : nullptr;
  }
  if (shape.a == Source::shared) return "mma takes A from registers";
  if (is_fp8(shape.type) && (shape.size == Size::smallest || shape.is_sparse())) {
    return "8-bit floating point has one mma, and the sparse one is a program";
  }
  if (!shape.is_sparse()) return nullptr;
  if (shape.type == Type::fp64) return "fp64 has no sparse product";
  return shape.size == Size::smallest ? "sparse products are measured in the largest shape"
                                      : nullptr;
}

std::optional<std::string> excludes(const Params& params, Backend backend) {
  if (backend == Backend::host) return "a CPU has no tensor cores";
  if (const char* const why = why_not(shape_of(params))) return why;
  return std::nullopt;
}

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "tensor_rate",
      .question =
          "How much do tensor cores multiply per cycle, and how long does a dependent "
          "product take?",
      .axes = {measures.axis("measure",
                             "as many products as the SMs sustain, or one after the other"),
               instructions.axis("instruction", "of a warp, or of four (sm_90a)"),
               types.axis("type", "type of the factors; sums are fp32, int32 or fp64"),
               sizes.axis("shape", "of mma: the smallest or largest of the type; of wgmma: columns",
                          {"largest", "n256"}),
               sources.axis("a", "where A is; B of wgmma is in shared memory"),
               sparsities.axis("sparsity",
                               "whether two of four elements of A are known to be zero"),
               datas.axis("data", "what is multiplied", {"random"})},
      .quantities = {{"operations_per_second",
                      "multiplications and additions, whole chip; a sparse product counts the "
                      "zeros of A, as vendors do"},
                     {"operations_per_cycle", "the same per cycle of an SM"},
                     {"share_of_limit", "÷ what the tensor cores of the chip do at this clock"},
                     {"instruction_cycles",
                      "SM cycles per instruction on a full SM, or from one to the next that needs "
                      "its result"},
                     {"grid_time", "duration of the whole launch, including start-up"},
                     {"driver_clock", "SM clock that NVML reports during the load"},
                     {"power", "power that NVML reports during the load"},
                     {"core_clock", "clock of the core under this load"}},
      .seconds_per_case = 0.4,
      .excludes = excludes};
}

/// Dense operations of an SM per cycle, of which a sparse product does twice as many, by "NVIDIA
/// A100 Tensor Core GPU Architecture" (table 1) and "NVIDIA H100 Tensor Core GPU Architecture"
/// (table 2): peak rate ÷ SMs ÷ boost clock. Empty for other chips.
std::optional<double> limit_of(const Shape& shape, const GpuFacts& gpu) {
  using Limits = std::array<double, 7>;
  constexpr Limits ampere{2048, 2048, 1024, 0, 0, 4096, 128};
  constexpr Limits hopper{4096, 4096, 2048, 8192, 8192, 8192, 256};
  const auto index = static_cast<std::size_t>(shape.type);
  double dense = 0;
  if (gpu.compute_capability == "8.0") dense = ampere.at(index);
  if (gpu.compute_capability == "9.0") dense = hopper.at(index);
  if (dense == 0) return std::nullopt;
  return shape.is_sparse() ? 2 * dense : dense;
}

/// Compares the ends of the first warp or warpgroup with the host's, and each writer's result with
/// the number of rounds.
auto verified(const Shape& shape, std::span<const End> ends) {
  return [=, operands = operands_of(shape)](const Call& call, std::span<const Stamp> stamps,
                                            Tally& tally) {
    // Each chain has an equal share of a round.
    const std::uint32_t products = products_of_round(shape);
    const double bound = error_bound(shape, products / chains_of(shape));
    for (std::size_t i = 0; i < ends.size(); ++i) {
      tally.one(std::abs(ends[i].sum - products * operands.sums[i]) <=
                bound * products * operands.magnitudes[i]);
    }
    for (std::size_t i = 0; i < stamps.size(); ++i) {
      const std::size_t thread = i % shape.warps() * warp_lanes;
      const std::uint64_t of_round = ends.empty() ? 0 : ends[thread].first + 1;
      tally.one(stamps[i].result == call.length.rounds * of_round);
    }
  };
}

Experiment describe(const Shape& shape, const GpuFacts& gpu, std::span<const End> ends) {
  constexpr double seconds_of_rate = 8e-3;  // of the long launch: the clock has adapted to the load
  constexpr double seconds_of_latency = 4e-4;
  const unsigned warps = warps_of(shape);
  const bool rate = shape.measure == Measure::rate;
  const double of_round = double{1} * products_of_round(shape) * warps / shape.warps();
  const auto limit = limit_of(shape, gpu);
  Experiment experiment;
  experiment.slopes = {
      {.verify = verified(shape, ends),
       .size = lengths_by_trial(rate ? seconds_of_rate : seconds_of_latency, of_round),
       .writers = std::size_t{gpu.sms} * warps,
       .window = median_sm(warps)}};
  add_both(experiment, "instruction_cycles", "cycle");
  experiment.rows.push_back(grid_time());
  if (rate) {
    experiment.rows.push_back({"operations_per_second", "operation/s", By::outside,
                               per_second(gpu.sms * shape.operations())});
    experiment.rows.push_back({.quantity = "operations_per_cycle",
                               .unit = "operation/cycle",
                               .method = By::inside,
                               .value = per_cycle(shape.operations()),
                               .most = limit});
    if (limit) {
      experiment.rows.push_back({.quantity = "share_of_limit",
                                 .unit = "1",
                                 .method = By::outside,
                                 .value = of_slope([=](const Seen& seen) {
                                   return shape.operations() /
                                          (seen.seconds * seen.inside.hertz * *limit);
                                 }),
                                 .most = 1});
    }
  }
  experiment.checked = "each thread's sums of the product, and the number of rounds";
  experiment.placement = Placement{.cores = gpu.sms, .per_core = static_cast<int>(warps)};
  experiment.not_counted = "no counter set has tensor operations";
  experiment.facts = [=](const Experiment&) {
    Facts facts{{"matrices", "m" + std::to_string(shape.m()) + "n" + std::to_string(shape.n()) +
                                 "k" + std::to_string(shape.k())},
                {"operations_of_an_instruction", static_cast<std::int64_t>(shape.operations())},
                {"chains_of_a_warp", std::int64_t{chains_of(shape)}},
                {"warps_per_sm", std::int64_t{warps}}};
    if (limit) facts["operations_per_cycle_limit"] = *limit;
    return facts;
  };
  return experiment;
}

/// Throws Skipped if the GPU has no such instruction.
void need(const Shape& shape, const GpuFacts& gpu) {
  const int capability = 10 * gpu.major + gpu.minor;
  const auto need_at_least = [&](int least, const char* what) {
    if (capability >= least) return;
    throw Skipped{std::string{what} + " needs compute capability " + std::to_string(least / 10) +
                  "." + std::to_string(least % 10) + "; this device has " + gpu.compute_capability};
  };
  if (shape.of_group() && capability != 90) {
    throw Skipped{"only compute capability 9.0 has wgmma; this device has " +
                  gpu.compute_capability};
  }
  need_at_least(80, "mma of these types");
  if (is_fp8(shape.type)) need_at_least(89, "8-bit floating point");
  if (shape.type == Type::fp64 && shape.size == Size::largest)
    need_at_least(90, "mma.m16n8k16 of fp64");
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Shape shape = shape_of(params);
  need(shape, gpu);
  return describe(shape, gpu, {});
}

#ifdef __CUDACC__

constexpr unsigned most_threads = 256;
[[maybe_unused]] constexpr unsigned group_threads = 128;

/// Bits of an accumulator, for the proof of rounds.
__device__ __forceinline__ std::uint64_t bits_of(float x) {
  return __float_as_uint(x);
}
__device__ __forceinline__ std::uint64_t bits_of(std::int32_t x) {
  return static_cast<std::uint32_t>(x);
}
__device__ __forceinline__ std::uint64_t bits_of(double x) {
  return static_cast<std::uint64_t>(__double_as_longlong(x));
}

/// Reads the clocks when `sum` has arrived, then stores what `instruction` threads and each warp
/// prove.
__device__ __forceinline__ void finish(const Reading& begin, double sum, std::uint64_t first,
                                       std::uint64_t proof, unsigned instruction_threads,
                                       Stamp* stamps, End* ends) {
  consume(static_cast<std::uint32_t>(__double_as_longlong(sum)) & 0x7FFFFFFFU);
  const Reading end = reading_after();
  if (blockIdx.x == 0 && threadIdx.x < instruction_threads) ends[threadIdx.x] = {sum, first};
  if (threadIdx.x % warp_lanes == 0)
    leave(stamps + (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes, begin, end, proof);
}

/// Of a warp. `advance` is always 0.
template <class Op, unsigned chains>
__global__ void __launch_bounds__(most_threads, 1)
    multiply(const std::uint64_t* words, std::uint32_t rounds, std::uint32_t advance, Stamp* stamps,
             End* ends) {
  using Word = typename Op::Word;
  const auto word = [&](unsigned row) {
    const std::uint64_t bits = words[row * warp_lanes + threadIdx.x % warp_lanes];
    if constexpr (sizeof(Word) == sizeof(double)) {
      return __longlong_as_double(static_cast<long long>(bits));
    } else {
      return static_cast<std::uint32_t>(bits);
    }
  };
  Word a[Op::of_a];
  Word b[chains][Op::of_b];  // equal, but ptxas merges chains that it knows to be
#pragma unroll
  for (unsigned i = 0; i < Op::of_a; ++i)
    a[i] = word(i);
#pragma unroll
  for (unsigned i = 0; i < chains * Op::of_b; ++i)
    b[i / Op::of_b][i % Op::of_b] = word(Op::of_a + i % Op::of_b + i / Op::of_b * advance);
  typename Op::Sum d[chains][Op::of_sum] = {};
  std::uint64_t proof = 0;
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (unsigned s = 0; s < products_of_round(Op::shape) / chains; ++s) {
#pragma unroll
      for (unsigned c = 0; c < chains; ++c) {
        if (s == 0) {
          Op::template apply<true>(d[c], a, b[c]);
        } else {
          Op::template apply<false>(d[c], a, b[c]);
        }
        if constexpr (is_fp8(Op::shape.type)) {
#pragma unroll
          for (Word& each : b[c])
            each += advance;
        }
      }
    }
    proof += bits_of(d[0][0]) + 1;
  }
  typename Op::Sum sum = 0;
#pragma unroll
  for (unsigned i = 0; i < chains * Op::of_sum; ++i)
    sum += d[i / Op::of_sum][i % Op::of_sum];
  finish(begin, sum, bits_of(d[0][0]), proof, warp_lanes, stamps, ends);
}

/// Where the matrices of wgmma are in shared memory. By value in the kernel's parameters.
struct Layout {
  std::uint32_t words;           ///< of both
  std::uint32_t bytes_of_a;      ///< before B; 0 if A is in registers
  std::uint32_t row_bytes_of_b;  ///< of each column of B
};

#if STRATA_HAS_WGMMA
/// Start address, distance of core matrices along k, and along rows (PTX ISA, matrix descriptor,
/// no swizzle).
__device__ __forceinline__ std::uint64_t descriptor(std::uint32_t at, std::uint32_t row_bytes) {
  constexpr std::uint64_t core_matrix = 128;
  return (at & 0x3FFFFU) >> 4U | core_matrix >> 4U << 16U |
         std::uint64_t{row_bytes * 8} >> 4U << 32U;
}
#endif

/// Of warpgroups. Wanted: `depth` times HGMMA, QGMMA or IGMMA between two waits.
template <class Op, unsigned depth>
__global__ void __launch_bounds__(most_threads, 1)
    multiply_in_group(const std::uint64_t* words, const std::uint32_t* shared,
                      const __grid_constant__ Layout layout, std::uint32_t rounds, Stamp* stamps,
                      End* ends) {
#if STRATA_HAS_WGMMA
  extern __shared__ __align__(128) std::uint32_t matrices[];
  for (std::uint32_t i = threadIdx.x; i < layout.words; i += blockDim.x)
    matrices[i] = shared[i];
  std::uint32_t a[4];
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    a[i] = static_cast<std::uint32_t>(words[i * warp_lanes + threadIdx.x % warp_lanes]);
  const std::uint32_t at = shared_address(matrices);
  const std::uint64_t from_a = descriptor(at, Shape::row_bytes);
  const std::uint64_t from_b = descriptor(at + layout.bytes_of_a, layout.row_bytes_of_b);
  constexpr Shape of_group{.instruction = Instruction::wgmma};
  typename Op::Sum d[Op::of_sum] = {};
  std::uint64_t proof = 0;
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (unsigned part = 0; part < products_of_round(of_group) / depth; ++part) {
      asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
#pragma unroll
      for (unsigned s = 0; s < depth; ++s)
        Op::apply(d, a, from_a, from_b, part + s);
      asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
    }
    proof += bits_of(d[0]) + 1;
  }
  typename Op::Sum sum = 0;
#pragma unroll
  for (const auto each : d)
    sum += each;
  finish(begin, sum, bits_of(d[0]), proof, group_threads, stamps, ends);
#endif
}

using OfWarp = void (*)(const std::uint64_t*, std::uint32_t, std::uint32_t, Stamp*, End*);
using OfGroup = void (*)(const std::uint64_t*, const std::uint32_t*, Layout, std::uint32_t, Stamp*,
                         End*);

OfWarp warp_kernel(const Shape& shape) {
  using enum Type;
  return with_value<fp16, bf16, tf32, e4m3, e5m2, int8, fp64>(shape.type, [&]<Type type>() {
    return with_value<Size::smallest, Size::largest>(shape.size, [&]<Size size>() {
      return with_value<false, true>(shape.is_sparse(), [&]<bool sparse>() -> OfWarp {
        constexpr Shape one{
            .type = type, .size = size, .sparsity = sparse ? Sparsity::sparse : Sparsity::dense};
        if constexpr (why_not(one) == nullptr) {
          using Op = Mma<type, size, sparse>;
          return shape.measure == Measure::rate ? &multiply<Op, chains_of(one)> : &multiply<Op, 1>;
        } else {
          return nullptr;
        }
      });
    });
  });
}

OfGroup group_kernel(const Shape& shape) {
  using enum Type;
  constexpr unsigned depth = products_of_round({.instruction = Instruction::wgmma});
  return with_value<fp16, bf16, tf32, e4m3, e5m2, int8>(shape.type, [&]<Type type>() {
    return with_value<64U, 128U, 256U>(shape.n(), [&]<unsigned n>() {
      return with_value<Source::registers, Source::shared>(shape.a, [&]<Source a>() {
        return with_value<false, true>(shape.is_sparse(), [&]<bool sparse>() -> OfGroup {
          using Op = Wgmma<type, n, a, sparse>;
          return shape.measure == Measure::rate ? &multiply_in_group<Op, depth>
                                                : &multiply_in_group<Op, 1>;
        });
      });
    });
  });
}

/// Operands in device memory.
struct Loaded {
  Operands host;
  DeviceBuffer<std::uint64_t> words;
  DeviceBuffer<std::uint32_t> shared;

  explicit Loaded(const Shape& shape)
      : host{padded(operands_of(shape))}, words{host.registers}, shared{host.shared} {}
  /// No buffer is empty: the kernel of warpgroups reads four registers of A wherever it is.
  static Operands padded(Operands made) {
    made.registers.resize(std::max<std::size_t>(made.registers.size(), 4 * warp_lanes));
    made.shared.resize(std::max<std::size_t>(made.shared.size(), 1));
    return made;
  }
};

/// Loads the chip until its clock has settled: two tenths of a second alike, ten at the most.
void warm(const std::function<Launched(const Length&)>& run, const Length& length) {
  constexpr double step_seconds = 0.1;
  constexpr int most_steps = 10;
  constexpr double alike = 2e-3;
  double before = 0;
  for (int step = 0; step < most_steps; ++step) {
    Launched last = run(length);
    for (double seconds = last.seconds; seconds < step_seconds; seconds += last.seconds)
      last = run(length);
    const double hertz = median_hertz(last);
    if (std::abs(hertz - before) < alike * hertz) return;
    before = hertz;
  }
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Shape shape = shape_of(session.params());
  need(shape, gpu);
#ifndef STRATA_BUILT_FOR_90A
  if (shape.of_group()) {
    throw Skipped{
        "this build has no code for sm_90a, which wgmma needs: build with 90 in "
        "CMAKE_CUDA_ARCHITECTURES"};
  }
#endif
  Shape exact = shape;
  exact.data = Data::integers;
  const Loaded timed{shape};
  const Loaded integers{exact};
  const unsigned threads = warps_of(shape) * warp_lanes;
  CudaMachine machine{session, std::size_t{gpu.sms} * warps_of(shape)};
  auto& ends = machine.output<End>(shape.warps() * warp_lanes);
  Experiment experiment = describe(shape, gpu, ends.landed());
  const void* const code = shape.of_group() ? reinterpret_cast<const void*>(group_kernel(shape))
                                            : reinterpret_cast<const void*>(warp_kernel(shape));
  experiment.kernels = {code};
  const std::size_t alone = std::max(timed.shared.size_bytes(), bytes_to_be_alone(code));
  const Layout layout{.words = static_cast<std::uint32_t>(timed.shared.size()),
                      .bytes_of_a = shape.a == Source::shared ? shape.m() * Shape::row_bytes : 0,
                      .row_bytes_of_b = row_bytes_of_b(shape)};
  const auto launch_with = [&](const Loaded& data) {
    return [&, from = &data](const Call& call) {
      if (shape.of_group()) {
        group_kernel(shape)<<<gpu.sms, threads, alone, machine.stream().get()>>>(
            from->words.data(), from->shared.data(), layout, call.length.rounds,
            machine.device_stamps(), ends.data());
      } else {
        warp_kernel(shape)<<<gpu.sms, threads, alone, machine.stream().get()>>>(
            from->words.data(), call.length.rounds, /*advance=*/0, machine.device_stamps(),
            ends.data());
      }
    };
  };
  Slope& slope = experiment.slopes.front();
  slope.launch = launch_with(timed);

  Tally sums;
  Slope of_integers{.launch = launch_with(integers),
                    .verify = verified(exact, ends.landed()),
                    .writers = slope.writers};
  (void)launch_once(machine, of_integers, {.length = {.rounds = 3, .work = 1}}, sums);
  if (shape.measure == Measure::latency) {
    experiment.checks.emplace_back(Dependence{"sums of dependent products of integers", sums});
  } else {
    experiment.tally = sums;
  }

  const NvmlDevice nvml{session.device().identity().uuid};
  std::optional<NvmlWatch> watch;
  if (shape.measure == Measure::rate) {
    slope.size = [&, sized = slope.size](const std::function<Launched(const Length&)>& run) {
      const Lengths lengths = sized(run);
      warm(run, lengths.full);
      watch.emplace(nvml, std::chrono::milliseconds{5});
      return lengths;
    };
    // The first of both ends the watch.
    const auto readings = [&, known = std::make_shared<std::vector<TimedReading>>() ]() -> auto& {
      if (watch) *known = watch->stop();
      watch.reset();
      return *known;
    };
    experiment.reported_hertz = [=]() -> std::optional<double> {
      const auto hertz = of_all(readings(), &NvmlReading::sm_hertz);
      return hertz.empty() ? std::nullopt : std::optional{median(hertz)};
    };
    experiment.conclude = [=](Session& to, const std::vector<Sample>& /*samples*/) {
      report_readings(to, readings());
    };
  }
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::tensor_rate
