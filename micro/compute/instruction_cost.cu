// The CUDA backend of instruction_cost: instruction_cost.hpp says what it asks.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/starting_gate.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/measure/counted_loads.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/compute/instruction_cost.hpp"
#include "micro/compute/operations.cuh"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace strata::instruction_cost {
namespace {

using operations::bits_of;
using operations::consume_word;
using operations::distinct_lanes;
using operations::Space;

constexpr unsigned most_threads = max_warps_per_sm * warp_lanes;

/// What one warp leaves behind: when it began and ended each pass, and what its chains came to.
struct WarpRecord {
  std::uint64_t begin[passes];
  std::uint64_t end[passes];
  std::uint64_t nanoseconds[2];  ///< around the last pass
  std::uint64_t checksum;
  std::uint32_t sm;
};

/// Byte offsets of the next place.
__constant__ std::uint32_t constant_ring[distinct_lanes] = {12, 16, 20, 24, 28, 0, 4, 8};

template <class Op>
__device__ __forceinline__ void operate(typename Op::Word& x, typename Op::Word a,
                                        typename Op::Word b) {
  if constexpr (Op::space == Space::constant) {
    // Wanted: LDC R, c[0x3][R]
    x = *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(constant_ring) + x);
  } else {
    Op::apply(x, a, b);
  }
}

/// Every warp runs `ilp` chains of one operation, each of them (1 + 7 × rounds) × the body ÷ ilp
/// long: a pass to warm the instruction caches, then three passes of `rounds`, twice and four times
/// as many. It is one loop for all passes, so that what the first one fetched serves the others.
template <class Op, unsigned ilp>
__global__ void __launch_bounds__(most_threads)
    chains(const typename Op::Word* values, const std::uint64_t* ring, std::uint32_t rounds,
           WarpRecord* records, typename Op::Word* ends) {
  using Word = typename Op::Word;
  constexpr std::uint32_t run = operations::run_of<Op>;
  static_assert(Op::body / ilp % (2 * run) == 0, "every round starts with the first set");
  __shared__ std::uint32_t shared_ring[Op::space == Space::shared ? distinct_lanes : 1];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  Word x[ilp];
#pragma unroll
  for (unsigned c = 0; c < ilp; ++c)
    x[c] = values[c * warp_lanes + lane];  // each chain its own word: equal ones would be merged
  const Word* operands = values + max_ilp * warp_lanes + lane;
  const Word a[2] = {operands[0], operands[warp_lanes]};
  const Word b[2] = {operands[2 * warp_lanes], operands[3 * warp_lanes]};
  std::uint64_t base = 0;
  std::uint64_t place_bytes = 1;
  if constexpr (Op::space == Space::shared) {
    base = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_ring));
    place_bytes = sizeof(std::uint32_t);
    if (threadIdx.x < distinct_lanes) {
      shared_ring[threadIdx.x] = static_cast<std::uint32_t>(
          base + (threadIdx.x + Op::stride) % distinct_lanes * place_bytes);
    }
  } else if constexpr (Op::space == Space::constant) {
    place_bytes = sizeof(std::uint32_t);
  } else if constexpr (Op::space == Space::global) {
    base = reinterpret_cast<std::uint64_t>(ring);
    place_bytes = sizeof(std::uint64_t);
  }
  if constexpr (Op::space != Space::none && Op::space != Space::barrier) {
#pragma unroll
    for (unsigned c = 0; c < ilp; ++c)
      x[c] = static_cast<Word>(base + x[c] * place_bytes);
  }

  WarpRecord* mine = records + (blockIdx.x * blockDim.x + threadIdx.x) / warp_lanes;
#pragma unroll 1
  for (unsigned pass = 0; pass < passes; ++pass) {
    const std::uint32_t count = pass == 0 ? 1 : rounds << (pass - 1);
#pragma unroll
    for (unsigned c = 0; c < ilp; ++c)
      consume_word(x[c]);
    __syncthreads();
    const std::uint64_t first_nanosecond = global_nanoseconds();
    const std::uint64_t begin = cycles_now();
#pragma unroll 1
    for (std::uint32_t r = 0; r < count; ++r) {
#pragma unroll
      for (unsigned i = 0; i < Op::body / ilp; ++i) {
#pragma unroll
        for (unsigned c = 0; c < ilp; ++c)
          operate<Op>(x[c], a[i / run % 2], b[i / run % 2]);
      }
    }
#pragma unroll
    for (unsigned c = 0; c < ilp; ++c)
      consume_word(x[c]);
    const std::uint64_t end = cycles_now();
    const std::uint64_t last_nanosecond = global_nanoseconds();
    // By every lane alike: a branch for one of them would leave ptxas in doubt whether the warp is
    // still together, and a second version of each shuffle and vote beside the chain.
    mine->begin[pass] = begin;
    mine->end[pass] = end;
    mine->nanoseconds[0] = first_nanosecond;
    mine->nanoseconds[1] = last_nanosecond;
  }

  std::uint64_t checksum = 0;
#pragma unroll
  for (unsigned c = 0; c < ilp; ++c) {
    if constexpr (Op::space != Space::none && Op::space != Space::barrier)
      x[c] = static_cast<Word>((x[c] - base) / place_bytes);
    if (blockIdx.x == 0 && threadIdx.x < warp_lanes) ends[c * warp_lanes + lane] = x[c];
    checksum += operations::checksum_part(bits_of(x[c]), c * warp_lanes + lane);
  }
  for (unsigned offset = warp_lanes / 2; offset > 0; offset /= 2)
    checksum += __shfl_xor_sync(0xFFFFFFFFU, checksum, offset);
  mine->checksum = checksum;
  mine->sm = sm_id();
}

// --- one case

template <class Word>
using Kernel = void (*)(const Word*, const std::uint64_t*, std::uint32_t, WarpRecord*, Word*);

template <class Op>
Kernel<typename Op::Word> kernel_for(unsigned ilp) {
  if constexpr (Op::space != Space::barrier) {
    if (ilp == 2) return chains<Op, 2>;
    if (ilp == 4) return chains<Op, 4>;
    if (ilp == 8) return chains<Op, 8>;
  }
  return chains<Op, 1>;
}

/// What the host knows of an operation; the measuring is the same for all of a word's size.
template <class Word>
struct Subject {
  Kernel<Word> kernel;
  std::array<operations::Operands<Word>, distinct_lanes> operands;
  std::array<Word, distinct_lanes> (*expected)(std::uint64_t steps);
  std::uint32_t body;
  double tolerance;
};

template <class Op>
Subject<typename Op::Word> subject_of(unsigned ilp) {
  return {kernel_for<Op>(ilp), operations::operands_of<Op>(), &operations::expected_ends<Op>,
          Op::body, Op::tolerance};
}

struct Shape {
  unsigned ilp;
  unsigned warps;
  unsigned sms;
  [[nodiscard]] std::size_t all_warps() const { return std::size_t{warps} * sms; }
};

template <class Word>
class Chains {
 public:
  Chains(const Subject<Word>& subject, const Shape& shape)
      : subject_{subject},
        shape_{shape},
        values_{operations::device_words(subject.operands, max_ilp)},
        ring_{distinct_lanes},
        records_{shape.all_warps()},
        landed_{shape.all_warps()},
        ends_{std::size_t{max_ilp} * warp_lanes},
        landed_ends_{std::size_t{max_ilp} * warp_lanes} {
    std::vector<std::uint64_t> next(distinct_lanes);
    for (std::size_t place = 0; place < distinct_lanes; ++place) {
      next[place] = reinterpret_cast<std::uintptr_t>(ring_.data()) +
                    (place + operations::GlobalLoad::stride) % distinct_lanes * sizeof(next[0]);
    }
    ring_.upload(next);
    (void)run(1);
    constexpr double timed_cycles = 6e5;  // 0.3 ms: thousands of timer steps
    rounds_ = rounds_for(timed_cycles, median_of([](const Passes& p) { return p.slope(); }));
  }

  void prepare() {}  // each launch warms itself

  Observation observe() {
    const std::uint32_t brief = rounds_ / 5;
    const double brief_seconds = run(brief);
    const double full_seconds = run(rounds_);
    const double hertz = core_hertz();
    const double operations_of_pass = operations_of(rounds_);
    const double operations_of_slope = operations_of(rounds_ - brief) * rounds_of_all_passes;
    const double slope_seconds = full_seconds - brief_seconds;
    return {.inside = median_of([](const Passes& p) { return p.slope(); }) / operations_of_pass,
            .outside = slope_seconds * hertz / operations_of_slope,
            .bend = median_of([](const Passes& p) { return p.bend(); }),
            .operations_per_second = operations_of_slope * warp_lanes * shape_.sms / slope_seconds,
            .core_hertz = hertz};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside};
  }

  /// The operations themselves, as many as there must be. The round that warms up is in both
  /// launches, and so taken off.
  void count(Session& session, std::string_view quantity) {
    constexpr std::uint32_t rounds = 4;
    const double operations =
        operations_of(rounds) * rounds_of_all_passes * warp_lanes * shape_.sms;
    const std::array<Expectation, 1> expected{
        Expectation{.quantity = std::string{quantity}, .predicted = operations}};
    count_and_compare(
        session, work(rounds),
        {.expected = expected, .method = "chain_length", .unit = "operation", .units = operations});
    land(rounds);
  }

  /// The loads of a chain through L1: a ring of two sectors.
  void count_l1_loads(Session& session) {
    constexpr std::uint32_t rounds = 4;
    const auto loads =
        static_cast<std::uint64_t>(operations_of(rounds)) * rounds_of_all_passes * shape_.sms;
    const std::uint64_t sectors = distinct_lanes * sizeof(std::uint64_t) / sector_bytes;
    const CountedWork counted = work(rounds);
    count_loads(session, {.prepare = counted.prepare,
                          .work = counted.work,
                          .overhead = counted.overhead,
                          .claimed = ServedBy::l1,
                          .predicted = {.requests = loads, .sectors = loads * sectors},
                          .reads = static_cast<double>(loads)});
    land(rounds);
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_.words, checked_.different,
                       subject_.tolerance == 0 ? "ends of chains, bit for bit"
                                               : "ends of chains, within the stated error");
  }
  [[nodiscard]] Gate queue() const { return gate_.gate(); }
  [[nodiscard]] Gate placement() const {
    std::vector<std::uint32_t> sm_of_warp;
    for (const WarpRecord& r : landed_.span())
      sm_of_warp.push_back(r.sm);
    return placement_gate(sm_of_warp, shape_.sms, static_cast<int>(shape_.warps));
  }
  [[nodiscard]] Gate code() const {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, subject_.kernel));
    return spill_gate(attributes.localSizeBytes, attributes.numRegs);
  }
  /// Operations of a chain in the shortest timed pass.
  [[nodiscard]] std::uint64_t shortest() const {
    return std::uint64_t{rounds_} * subject_.body / shape_.ilp;
  }

 private:
  /// Of all warps of an SM.
  [[nodiscard]] double operations_of(std::uint32_t rounds) const {
    return static_cast<double>(std::uint64_t{rounds} * subject_.body * shape_.warps);
  }

  void poison() {
    constexpr int byte = 0xA5;
    records_.poison(byte, stream_.get());
    ends_.poison(byte, stream_.get());
  }

  void launch(std::uint32_t rounds) {
    subject_.kernel<<<shape_.sms, shape_.warps * warp_lanes, alone_, stream_.get()>>>(
        values_.data(), ring_.data(), rounds, records_.data(), ends_.data());
    cuda_check(cudaGetLastError());
  }

  [[nodiscard]] CountedWork work(std::uint32_t rounds) {
    return {.prepare = [this] { poison(); },
            .work = [this, rounds] { launch(rounds); },
            .overhead = [this] { launch(0); }};
  }

  double run(std::uint32_t rounds) {
    poison();
    const double seconds = gate_.seconds(
        stream_, begin_, end_, [&] { launch(rounds); }, [&] { download(); });
    check(rounds);
    return seconds;
  }

  void land(std::uint32_t rounds) {
    download();
    stream_.synchronize();
    check(rounds);
  }

  void download() {
    landed_.download_from(records_, stream_.get());
    landed_ends_.download_from(ends_, stream_.get());
  }

  /// The first warp's ends are held against the host's; every warp must have come to the same.
  void check(std::uint32_t rounds) {
    const std::uint64_t steps =
        (1 + std::uint64_t{rounds_of_all_passes} * rounds) * subject_.body / shape_.ilp;
    auto known = ends_after_.find(steps);
    if (known == ends_after_.end()) {
      known = ends_after_.emplace(steps, subject_.expected(steps)).first;
    }
    const std::uint64_t checksum = checked_.ends(
        std::span<const Word>{landed_ends_.span()}.first(std::size_t{shape_.ilp} * warp_lanes),
        known->second, subject_.tolerance);
    for (const WarpRecord& r : landed_.span())
      checked_.one(r.checksum == checksum);
  }

  template <class Value>
  [[nodiscard]] double median_of(Value&& value) const {
    std::vector<double> of_sms;
    for (const auto warps = landed_.span(); const std::size_t sm : block_starts()) {
      Passes seen;
      for (std::size_t pass = 1; pass < passes; ++pass) {
        // The barrier before a pass (BAR.SYNC.DEFER_BLOCKING) lets a warp go on to its clock read
        // and stops it behind that: the first to arrive have read the clock while others were still
        // in the pass before. The last one to arrive waits for nobody.
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        for (std::size_t w = sm; w < sm + shape_.warps; ++w) {
          begin = std::max(begin, warps[w].begin[pass]);
          end = std::max(end, warps[w].end[pass]);
        }
        seen.cycles[pass - 1] = static_cast<double>(end - begin);
      }
      of_sms.push_back(value(seen));
    }
    return median(of_sms);
  }

  [[nodiscard]] std::vector<std::size_t> block_starts() const {
    std::vector<std::size_t> starts(shape_.sms);
    for (std::size_t block = 0; block < starts.size(); ++block)
      starts[block] = block * shape_.warps;
    return starts;
  }

  [[nodiscard]] double core_hertz() const {
    std::vector<double> hertz;
    for (const WarpRecord& r : landed_.span()) {
      hertz.push_back(static_cast<double>(r.end[passes - 1] - r.begin[passes - 1]) /
                      (static_cast<double>(r.nanoseconds[1] - r.nanoseconds[0]) * 1e-9));
    }
    return median(hertz);
  }

  Subject<Word> subject_;
  Shape shape_;
  DeviceBuffer<Word> values_;
  DeviceBuffer<std::uint64_t> ring_;
  DeviceBuffer<WarpRecord> records_;
  PinnedBuffer<WarpRecord> landed_;
  DeviceBuffer<Word> ends_;
  PinnedBuffer<Word> landed_ends_;
  std::size_t alone_ = operations::bytes_to_be_alone(subject_.kernel);
  Stream stream_;
  Event begin_;
  Event end_;
  starting_gate::StartingGate gate_;
  std::uint32_t rounds_ = 1;
  std::map<std::uint64_t, std::array<Word, distinct_lanes>> ends_after_;
  operations::Checked checked_;
};

template <class Word>
void measure(Session& session, const Subject<Word>& subject, const Shape& shape, Space space,
             std::string_view counter) {
  if (session.counters() != nullptr && space != Space::global && counter.empty()) {
    throw Skipped{"no counter of this operation"};
  }
  Chains<Word> chains_of{subject, shape};
  if (session.counters() != nullptr) {
    if (space == Space::global) {
      chains_of.count_l1_loads(session);
    } else {
      chains_of.count(session, counter);
    }
    session.add(chains_of.result());
    return;
  }
  const auto seen = collect(chains_of, session.plan());
  const bool dependent = shape.ilp == 1 && shape.warps == 1;
  report(session, seen, dependent ? std::optional{chains_of.shortest()} : std::nullopt);
  session.add(chains_of.result());
  session.add(chains_of.placement());
  session.add(chains_of.queue());
  session.add(chains_of.code());
  if (space == Space::global) session.add(level_unverified(session.counting_note()));
  session.fact("operations_of_a_loop", static_cast<std::int64_t>(subject.body));
  session.fact("shortest_chain", static_cast<std::int64_t>(chains_of.shortest()));
}

template <class Op>
bool measure_if(Session& session, const Shape& shape) {
  if (session.param("operation") != Op::name) return false;
  const std::string& capability =
      std::get<std::string>(session.device().identity().facts.at("compute_capability"));
  if (std::stoi(capability) < Op::least_major) {
    throw Skipped{"the operation needs compute capability " + std::to_string(Op::least_major) +
                  ".0; this device has " + capability};
  }
  measure(session, subject_of<Op>(shape.ilp), shape, Op::space, Op::counter);
  return true;
}

template <class... Op>
bool measure_one(Session& session, const Shape& shape, operations::List<Op...> /*list*/) {
  return (measure_if<Op>(session, shape) || ...);
}

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const Shape shape{.ilp = static_cast<unsigned>(session.integer("ilp")),
                    .warps = static_cast<unsigned>(session.integer("warps_per_sm")),
                    .sms = static_cast<unsigned>(std::get<std::int64_t>(facts.at("sm_count")))};
  if (!measure_one(session, shape, operations::Operations{})) {
    throw std::logic_error{"no such operation: " + session.param("operation")};
  }
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::instruction_cost
