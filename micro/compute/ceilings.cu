#include "micro/compute/ceilings.hpp"

#ifdef __CUDACC__
#include "micro/compute/chains.cuh"
#endif

namespace strata::ceilings {

using MultiplyAdds = std::tuple<operations::Ffma, operations::Dfma, operations::Hfma2,
                                operations::Bfma2, operations::Imad, operations::Dp4a>;

/// The multiply-add of a form, and its operands.
[[nodiscard]] constexpr const char* operands_of(Form form) {
  constexpr std::array<const char*, 4> words{
      "a*x + b, three registers, other a and b at each step",
      "a*x + b, three registers, the same a and b for many instructions",
      "x*x - c, two registers",
      "a*x + b, two registers and a factor that all lanes share",
  };
  return words.at(static_cast<std::size_t>(form));
}

/// a·x + b, with other operands of the lane at each step; chains in the same step share them.
template <class Op>
struct Alternating : Op {
  static constexpr unsigned chains = 4;
  static constexpr std::uint32_t run = 1;
  static constexpr bool is_uniform = false;
};

/// The same with operands that are used for a hundred instructions of a warp before others replace
/// them.
template <class Op>
struct Steady : Op {
  static constexpr unsigned chains = 8;
  static constexpr std::uint32_t run = operations::long_run;
  static constexpr bool is_uniform = false;
};

/// The same with a factor that all lanes share: it is in a uniform register or constant memory,
/// so that an instruction reads two registers of the lane.
template <class Op>
struct Uniform : Steady<Op> {
  static constexpr bool is_uniform = true;
  static operations::Operands<typename Op::Word> operands(std::uint32_t lane) {
    auto own = Op::operands(lane);
    own.a = Op::operands(0).a;
    return own;
  }
};

/// x·x − c with c from 17/16 to 19/16: two different registers. The chain alternates in the end
/// between two numbers, one near −1 and a small positive one.
template <class Op>
struct Square : Steady<Op> {
  using Word = typename Op::Word;
  static operations::Operands<Word> operands(std::uint32_t lane) {
    const auto number = [&](std::uint32_t which) {
      constexpr int digits = 20;
      return operations::fraction<double>(4 * lane + which, digits);
    };
    const auto c = [&](std::uint32_t which) {
      return Op::word_of(-(1 + (number(which) - 0.5) / 8));
    };
    return {.start = Op::word_of(number(0) / 4), .b = {c(1), c(2)}};
  }
  static Word step(Word x, Word /*a*/, Word b) { return Op::step(x, x, b); }
#ifdef __CUDACC__
  static __device__ __forceinline__ void apply(Word& x, Word /*a*/, Word b) {
    Op::apply(x, x, b);
  }
#endif
};

/// What runs on a GPU.
struct Shape {
  Arithmetic arithmetic = Arithmetic::fp32;
  Form form = Form::alternating;
  unsigned warps = 16;  ///< of the one block on each SM
};
constexpr unsigned most_warps_per_sm = 32;

/// Calls use.template operator()<Op>() for the operation of a shape in its form.
template <class Use>
auto with_operation(const Shape& shape, Use&& use) {
  using enum Arithmetic;
  using enum Form;
  return with_value<fp32, fp64, fp16x2, bf16x2, int32, int8_dp4a>(
      shape.arithmetic, [&]<Arithmetic arithmetic>() {
        using Op = std::tuple_element_t<static_cast<std::size_t>(arithmetic), MultiplyAdds>;
        using Forms = std::tuple<Alternating<Op>, Steady<Op>, Square<Op>, Uniform<Op>>;
        return with_value<alternating, steady, square, uniform>(shape.form, [&]<Form form>() {
          if constexpr (why_not(arithmetic, form) == nullptr) {
            return use
                .template operator()<std::tuple_element_t<static_cast<std::size_t>(form), Forms>>();
          } else {
            return decltype(use.template operator()<Alternating<Op>>()){};
          }
        });
      });
}

struct Lanes {
  std::string_view capability;
  /// In the order of Arithmetic; 0: not in the guide, or its editions disagree.
  std::array<int, 6> of;
};

// 8.0: 256 results of __half2, 128 of __nv_bfloat162. 10.0: editions of the guide disagree on
// 16-bit results. dp4a has no row in the guide.
constexpr std::array<Lanes, 7> guide{{
    {"7.5", {64, 2, 64, 0, 64, 0}},
    {"8.0", {64, 32, 128, 64, 64, 0}},
    {"8.6", {128, 2, 64, 64, 64, 0}},
    {"8.9", {128, 2, 64, 64, 64, 0}},
    {"9.0", {128, 64, 128, 128, 64, 0}},
    {"10.0", {128, 64, 0, 0, 64, 0}},
    {"12.0", {128, 2, 64, 0, 64, 0}},
}};

namespace {

/// Instructions of threads per cycle of an SM of this compute capability ("9.0"), by the CUDA C++
/// Best Practices Guide 13, "Throughput of Native Arithmetic Instructions", which counts results: a
/// packed instruction has two. Empty if the guide gives none.
std::optional<int> lanes_per_sm(std::string_view capability, Arithmetic arithmetic) {
  const auto* const row = std::ranges::find(guide, capability, &Lanes::capability);
  const int lanes = row == guide.end() ? 0 : row->of.at(static_cast<std::size_t>(arithmetic));
  return lanes > 0 ? std::optional{lanes} : std::nullopt;
}

operations::Shape in_form(const Shape& shape) {
  return with_operation(shape, [&]<class Op>() {
    return operations::Shape{operations::operation_of<Op>, Op::chains, shape.warps};
  });
}

/// A launch writes the first warp's `ends`. Per instruction of a warp, on one SM.
Shape shape_of(const Params& params) {
  return {.arithmetic = arithmetics.of(params.at("arithmetic")),
          .form = forms.of(params.at("form")),
          .warps = number_of<unsigned>(params, "warps_per_sm")};
}

Experiment describe(const Shape& shape, const GpuFacts& gpu, std::span<const std::uint64_t> ends) {
  constexpr double timed_seconds = 8e-3;  // of the long launch: the clock has adapted to the load
  constexpr std::uint32_t counted_rounds = 16;
  const operations::Shape form = in_form(shape);
  const double of_round = double{1} * form.operation.body * shape.warps;
  const double of_instruction = operations_of_instruction(shape.arithmetic);
  const char* const rate =
      is_floating(shape.arithmetic) ? "flops_per_second" : "operations_per_second";
  const char* const unit = is_floating(shape.arithmetic) ? "FLOP/s" : "operation/s";
  const double threads = static_cast<double>(gpu.sms) * warp_lanes;  // of one warp on each SM

  Experiment experiment = operations::on_every_sm(
      form, gpu, ends, [](std::uint32_t rounds) { return std::uint64_t{rounds}; });
  experiment.slopes[0].size = lengths_by_trial(timed_seconds, of_round);
  experiment.slopes[0].window = median_sm(shape.warps);
  experiment.rows = {{rate, unit, By::outside, per_second(threads * of_instruction)}};
  add_common_rows(experiment, 0);
  const auto lanes = lanes_per_sm(gpu.compute_capability, shape.arithmetic);
  if (lanes) {
    const double of_cycle = static_cast<double>(gpu.sms) * *lanes;
    experiment.rows.push_back({.quantity = "share_of_limit",
                               .unit = "1",
                               .method = By::outside,
                               .value = of_slope([=](const Seen& seen) {
                                 return threads / seen.seconds / (of_cycle * seen.inside.hertz);
                               }),
                               .most = 1});
    experiment.conclude = [=](Session& session, const std::vector<Sample>& samples) {
      std::vector<double> hertz;
      hertz.reserve(samples.size());
      for (const Sample& one : samples)
        hertz.push_back(one.slopes.front().inside.hertz);
      session.add(Measurement{.quantity = rate,
                              .unit = unit,
                              .provenance = Provenance::modelled,
                              .method = "lanes_times_clock",
                              .samples = {of_cycle * of_instruction * median(hertz)}});
    };
  }
  // Both launches do one more round: only a launch that enters the loop prepares the loop's
  // operands, and ptxas writes a constant there with an HFMA2.
  experiment.counts =
      operations::counts_of(form.operation, {.rounds = counted_rounds + 1}, {.rounds = 1},
                            counted_rounds * of_round * threads, "instruction");
  experiment.facts = [=](const Experiment&) {
    Facts facts{{"operations_of_an_instruction", static_cast<std::int64_t>(of_instruction)},
                {"chains_of_a_warp", std::int64_t{form.chains}},
                {"multiply_add", std::string{operands_of(shape.form)}}};
    if (lanes) facts["lanes_per_sm"] = std::int64_t{*lanes};
    return facts;
  };
  return experiment;
}

Experiment describe(const Params& params, const GpuFacts& gpu) {
  const Shape shape = shape_of(params);
  operations::need(in_form(shape).operation, gpu);
  return describe(shape, gpu, {});
}

#ifdef __CUDACC__

using operations::from_bits;

constexpr unsigned most_threads = most_warps_per_sm * warp_lanes;  // one block on each SM

/// `Op`: an operation in a form. `uniform`: its two factors if all lanes share them.
template <class Op>
__global__ void __launch_bounds__(most_threads)
    sustain(const std::uint64_t* values, std::uint64_t uniform_0, std::uint64_t uniform_1,
            std::uint32_t rounds, Stamp* stamps, std::uint64_t* ends) {
  using Word = typename Op::Word;
  constexpr unsigned chains = Op::chains;
  static_assert(Op::about.body / chains % (2 * Op::run) == 0,
                "every round starts with the first set");
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const auto word = [&](unsigned row) { return from_bits<Word>(values[row * warp_lanes + lane]); };
  Word x[chains];
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    x[c] = word(c);
  const Word a[2] = {Op::is_uniform ? from_bits<Word>(uniform_0) : word(chains),
                     Op::is_uniform ? from_bits<Word>(uniform_1) : word(chains + 1)};
  const Word b[2] = {word(chains + 2), word(chains + 3)};
  operations::wait_for(x);
  __syncthreads();
  const Reading begin = reading_before();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (unsigned i = 0; i < Op::about.body / chains; ++i) {
      const unsigned set = i / Op::run % 2;
#pragma unroll
      for (unsigned c = 0; c < chains; ++c)
        Op::apply(x[c], a[set], b[set]);
    }
  }
  operations::wait_for(x);
  const Reading end = reading_after();
  const std::uint64_t checksum = operations::keep_ends(x, ends);
  if (lane == 0)
    leave(stamps + (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes, begin, end, checksum);
}

void run(Session& session) {
  const GpuFacts gpu = session.gpu();
  const Shape shape = shape_of(session.params());
  const auto [operation, chains, warps] = in_form(shape);
  operations::need(operation, gpu);
  const auto kernel = with_operation(shape, [&]<class Op>() { return &sustain<Op>; });
  const auto words = operation.words(chains);
  const DeviceBuffer<std::uint64_t> values{words};
  // The values of lane 0; where a form shares its factors, those of all lanes.
  const std::uint64_t uniform_0 = words[std::size_t{chains} * warp_lanes];
  const std::uint64_t uniform_1 = words[std::size_t{chains + 1} * warp_lanes];
  CudaMachine machine{session, std::size_t{gpu.sms} * warps};
  auto& ends = machine.output<std::uint64_t>(std::size_t{chains} * warp_lanes);
  Experiment experiment = describe(shape, gpu, ends.landed());
  experiment.kernels = {reinterpret_cast<const void*>(kernel)};
  const std::size_t alone = bytes_to_be_alone(experiment.kernels.front());
  experiment.slopes[0].launch = [&](const Call& call) {
    kernel<<<gpu.sms, warps * warp_lanes, alone, machine.stream().get()>>>(
        values.data(), uniform_0, uniform_1, call.length.rounds, machine.device_stamps(),
        ends.data());
  };
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::ceilings
