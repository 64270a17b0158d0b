// The CUDA backend of ceilings: ceilings.hpp says what it asks.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/compute/ceilings.hpp"
#include "micro/compute/ceilings_forms.hpp"
#include "micro/compute/operations.cuh"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace strata::ceilings {
namespace {

using operations::distinct_lanes;

constexpr unsigned most_threads = most_warps_per_sm * warp_lanes;  // one block on each SM
constexpr double timed_seconds = 8e-3;  // of the long launch: regulators have seen the load

/// What one warp leaves behind.
struct WarpRecord {
  std::uint64_t cycles[2];
  std::uint64_t nanoseconds[2];
  std::uint64_t checksum;
  std::uint32_t sm;
};

/// `Op`: a form of an operation. `uniform`: its two factors, where all lanes share them.
template <class Op>
__global__ void __launch_bounds__(most_threads)
    sustain(const typename Op::Word* values, typename Op::Word uniform_0,
            typename Op::Word uniform_1, std::uint32_t rounds, WarpRecord* records,
            typename Op::Word* ends) {
  using Word = typename Op::Word;
  constexpr unsigned chains = Op::chains;
  static_assert(Op::body / chains % (2 * Op::run) == 0, "every round starts with the first set");
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  Word x[chains];
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    x[c] = values[c * warp_lanes + lane];
  const Word* operands = values + chains * warp_lanes + lane;
  const Word a[2] = {Op::uniform ? uniform_0 : operands[0],
                     Op::uniform ? uniform_1 : operands[warp_lanes]};
  const Word b[2] = {operands[2 * warp_lanes], operands[3 * warp_lanes]};
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    operations::consume_word(x[c]);
  __syncthreads();
  const std::uint64_t first_nanosecond = global_nanoseconds();
  const std::uint64_t first_cycle = cycles_now();
#pragma unroll 1
  for (std::uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
    for (unsigned i = 0; i < Op::body / chains; ++i) {
      const unsigned set = i / Op::run % 2;
#pragma unroll
      for (unsigned c = 0; c < chains; ++c)
        Op::apply(x[c], a[set], b[set]);
    }
  }
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    operations::consume_word(x[c]);
  const std::uint64_t last_cycle = cycles_now();
  const std::uint64_t last_nanosecond = global_nanoseconds();

  std::uint64_t checksum = 0;
#pragma unroll
  for (unsigned c = 0; c < chains; ++c) {
    if (blockIdx.x == 0 && threadIdx.x < warp_lanes) ends[c * warp_lanes + lane] = x[c];
    checksum += operations::checksum_part(operations::bits_of(x[c]), c * warp_lanes + lane);
  }
  for (unsigned offset = warp_lanes / 2; offset > 0; offset /= 2)
    checksum += __shfl_xor_sync(0xFFFFFFFFU, checksum, offset);
  if (lane == 0) {
    records[(blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes] = {
        {first_cycle, last_cycle}, {first_nanosecond, last_nanosecond}, checksum, sm_id()};
  }
}

template <class Op>
class Load {
 public:
  using Word = typename Op::Word;

  Load(unsigned sms, unsigned warps)
      : sms_{sms},
        warps_{warps},
        values_{operations::device_words(operations::operands_of<Op>(), Op::chains)},
        records_{std::size_t{sms} * warps},
        landed_{std::size_t{sms} * warps},
        ends_{std::size_t{Op::chains} * warp_lanes},
        landed_ends_{std::size_t{Op::chains} * warp_lanes} {
    constexpr std::uint32_t few = 32;
    constexpr std::uint32_t many = 4 * few;
    (void)run(few);  // loads the code
    const double brief = run(few);
    const double of_a_round = std::max(run(many) - brief, 1e-6) / (many - few);
    rounds_ = static_cast<std::uint32_t>(std::max(10.0, std::floor(timed_seconds / of_a_round)));
  }

  void prepare() {}

  Observation observe() {
    const std::uint32_t brief = rounds_ / 5;
    const double brief_seconds = run(brief);
    const double brief_cycles = window();
    const double full_seconds = run(rounds_);
    const double hertz = core_hertz();
    const double instructions = static_cast<double>(rounds_ - brief) * Op::body * warps_;
    const double seconds = full_seconds - brief_seconds;
    return {.inside = (window() - brief_cycles) / instructions,
            .outside = seconds * hertz / instructions,
            .instructions_per_second = instructions * warp_lanes * sms_ / seconds,
            .grid_seconds = full_seconds,
            .core_hertz = hertz};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }

  /// The multiply-adds of every thread, as many as there must be.
  void count(Session& session) {
    constexpr std::uint32_t rounds = 16;
    const double instructions = double{rounds} * Op::body * warps_ * warp_lanes * sms_;
    const std::array<Expectation, 1> expected{
        Expectation{.quantity = std::string{Op::counter}, .predicted = instructions}};
    // A round more in both: only a launch that enters the loop sets up what the loop needs, and
    // ptxas writes a constant there by an HFMA2.
    count_and_compare(session,
                      {.prepare = [this] { poison(); },
                       .work = [this] { launch(rounds + 1); },
                       .overhead = [this] { launch(1); }},
                      {.expected = expected,
                       .method = "chain_length",
                       .unit = "instruction",
                       .units = instructions});
    land(rounds + 1);
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_.words, checked_.different, "ends of chains, bit for bit");
  }
  [[nodiscard]] Gate placement() const {
    std::vector<std::uint32_t> sm_of_warp;
    for (const WarpRecord& r : landed_.span())
      sm_of_warp.push_back(r.sm);
    return placement_gate(sm_of_warp, sms_, static_cast<int>(warps_));
  }
  [[nodiscard]] static Gate code() {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, sustain<Op>));
    return spill_gate(attributes.localSizeBytes, attributes.numRegs);
  }

 private:
  void poison() {
    constexpr int byte = 0xA5;
    records_.poison(byte, stream_.get());
    ends_.poison(byte, stream_.get());
  }

  void launch(std::uint32_t rounds) {
    sustain<Op><<<sms_, warps_ * warp_lanes, alone_, stream_.get()>>>(
        values_.data(), uniform_[0], uniform_[1], rounds, records_.data(), ends_.data());
    cuda_check(cudaGetLastError());
  }

  double run(std::uint32_t rounds) {
    poison();
    begin_.record(stream_.get());
    launch(rounds);
    end_.record(stream_.get());
    land(rounds);
    return end_.seconds_since(begin_);
  }

  void land(std::uint32_t rounds) {
    landed_.download_from(records_, stream_.get());
    landed_ends_.download_from(ends_, stream_.get());
    stream_.synchronize();
    const std::uint64_t steps = std::uint64_t{rounds} * Op::body / Op::chains;
    auto known = ends_after_.find(steps);
    if (known == ends_after_.end()) {
      known = ends_after_.emplace(steps, operations::expected_ends<Op>(steps)).first;
    }
    const std::uint64_t checksum =
        checked_.ends(std::span<const Word>{landed_ends_.span()}, known->second, Op::tolerance);
    for (const WarpRecord& r : landed_.span())
      checked_.one(r.checksum == checksum);
  }

  /// Cycles from the first start to the last end on an SM; median of all SMs.
  [[nodiscard]] double window() const {
    std::vector<double> of_sms;
    for (std::size_t sm = 0; sm < sms_; ++sm) {
      const auto warps = landed_.span().subspan(sm * warps_, warps_);
      std::uint64_t first = warps.front().cycles[0];
      std::uint64_t last = warps.front().cycles[1];
      for (const WarpRecord& r : warps) {
        first = std::min(first, r.cycles[0]);
        last = std::max(last, r.cycles[1]);
      }
      of_sms.push_back(static_cast<double>(last - first));
    }
    return median(of_sms);
  }

  [[nodiscard]] double core_hertz() const {
    std::vector<double> hertz;
    for (const WarpRecord& r : landed_.span()) {
      hertz.push_back(static_cast<double>(r.cycles[1] - r.cycles[0]) /
                      (static_cast<double>(r.nanoseconds[1] - r.nanoseconds[0]) * 1e-9));
    }
    return median(hertz);
  }

  unsigned sms_;
  std::size_t warps_;  // of an SM
  std::array<Word, 2> uniform_ = operations::operands_of<Op>()[0].a;
  DeviceBuffer<Word> values_;
  DeviceBuffer<WarpRecord> records_;
  PinnedBuffer<WarpRecord> landed_;
  DeviceBuffer<Word> ends_;
  PinnedBuffer<Word> landed_ends_;
  std::size_t alone_ = operations::bytes_to_be_alone(sustain<Op>);
  Stream stream_;
  Event begin_;
  Event end_;
  std::uint32_t rounds_ = 1;
  std::map<std::uint64_t, std::array<Word, distinct_lanes>> ends_after_;
  operations::Checked checked_;
};

template <class Op>
bool measure_if(Session& session, const Arithmetic& kind) {
  if (kind.operation != Op::name || session.param("form") != Op::form) return false;
  const Facts& facts = session.device().identity().facts;
  const auto& capability = std::get<std::string>(facts.at("compute_capability"));
  if (std::stoi(capability) < Op::least_major) {
    throw Skipped{"the operation needs compute capability " + std::to_string(Op::least_major) +
                  ".0; this device has " + capability};
  }
  if (session.counters() != nullptr && Op::counter.empty()) {
    throw Skipped{"no counter of this operation"};
  }
  const auto sms = static_cast<unsigned>(std::get<std::int64_t>(facts.at("sm_count")));
  Load<Op> load{sms, static_cast<unsigned>(session.integer("warps_per_sm"))};
  if (session.counters() != nullptr) {
    load.count(session);
    session.add(load.result());
    return true;
  }
  const auto seen = collect(load, session.plan());
  report(session, seen, kind, sms);
  session.add(load.result());
  session.add(load.placement());
  session.add(Load<Op>::code());
  session.fact("chains_of_a_warp", std::int64_t{Op::chains});
  return true;
}

template <class... Op>
bool measure_one(Session& session, const Arithmetic& kind, operations::List<Op...> /*list*/) {
  return (measure_if<Op>(session, kind) || ...);
}

void run(Session& session) {
  using operations::Bfma2;
  using operations::Dfma;
  using operations::Ffma;
  using operations::Hfma2;
  using Measured = operations::List<Alternating<Ffma>, Steady<Ffma>, Square<Ffma>, Uniform<Ffma>,
                                    Alternating<Dfma>, Steady<Dfma>, Square<Dfma>, Uniform<Dfma>,
                                    Alternating<Hfma2>, Steady<Hfma2>, Square<Hfma2>,
                                    Alternating<Bfma2>, Steady<Bfma2>, Square<Bfma2>,
                                    Alternating<operations::Imad>, Alternating<operations::Dp4a>>;
  const Arithmetic& kind = kind_of(session.param("arithmetic"));
  if (!measure_one(session, kind, Measured{})) {
    throw std::logic_error{"no kernel for " + session.param("arithmetic") + " in form " +
                           session.param("form")};
  }
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::ceilings
