// The CUDA backend of issue_mix: issue_mix.hpp says what it asks.
#include "harness/case/error.hpp"
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/starting_gate.cuh"
#include "harness/cuda/stream.hpp"
#include "harness/measure/counted_work.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/statistics.hpp"
#include "micro/compute/issue_mix.hpp"
#include "micro/compute/operations.cuh"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace strata::issue_mix {
namespace {

using operations::distinct_lanes;

constexpr unsigned threads = warps_of_sm * warp_lanes;
constexpr double timed_seconds = 2e-3;  // of the long launch: thousands of timer steps

/// What one warp leaves behind.
struct WarpRecord {
  std::uint64_t cycles[2];
  std::uint64_t nanoseconds[2];
  std::uint64_t checksum;
  std::uint32_t sm;
};

/// What the partner makes of a chain's number.
template <Partner partner>
__device__ __forceinline__ float ask(float x, std::uint32_t first, std::uint32_t second) {
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
    // Wanted: IADD3 R, R, R, R. One addition alone ptxas may do by a multiply-add.
    std::uint32_t sum = 0;
    asm volatile("add.u32 %0, %1, %2;\n\tadd.u32 %0, %0, %3;"
                 : "=&r"(sum)
                 : "r"(__float_as_uint(x)), "r"(first), "r"(second));
    answer = __uint_as_float(sum);
  }
  return answer;
}

/// Groups of `size` multiply-adds and a partner. Without one the answers stay what they were, and
/// all else is the same.
template <Partner partner, unsigned size>
__global__ void __launch_bounds__(threads)
    mix(const float* values, float a_0, float a_1, std::uint32_t rounds, WarpRecord* records,
        float* ends) {
  static_assert(body % (chains * size) == 0 && body / size % slots == 0, "loops are alike");
  static_assert(size >= needed / 2, "an answer is taken before its slot is needed again");
  extern __shared__ float room[];
  const std::uint32_t lane = threadIdx.x % warp_lanes;
  const float* const mine = values + lane;
  float x[chains];
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    x[c] = mine[c * warp_lanes];
  const float* const rest = mine + chains * warp_lanes;
  float answers[slots];
#pragma unroll
  for (float& answer : answers)
    answer = rest[0];
  const float a[2] = {a_0, a_1};
  const float b[2] = {rest[warp_lanes], rest[2 * warp_lanes]};
  const std::uint32_t first = __float_as_uint(rest[3 * warp_lanes]);
  const std::uint32_t second = __float_as_uint(rest[4 * warp_lanes]);
  if constexpr (partner == Partner::shared_load) {
    const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(room));
    if (base > ring_address) __trap();
    if (threadIdx.x < ring_words)
      room[(ring_address - base) / sizeof(float) + threadIdx.x] = rest[0];
  }
#pragma unroll
  for (unsigned c = 0; c < chains; ++c)
    operations::consume_word(x[c]);
  __syncthreads();
  const std::uint64_t first_nanosecond = global_nanoseconds();
  const std::uint64_t first_cycle = cycles_now();
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
        answers[p / size % slots] = ask<partner>(x[p / size % chains], first, second);
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

using Kernel = void (*)(const float*, float, float, std::uint32_t, WarpRecord*, float*);

template <Partner partner, std::size_t... index>
Kernel kernel_of_size(unsigned size, std::index_sequence<index...> /*sizes*/) {
  Kernel found = nullptr;
  ((group_sizes[index] == size ? found = mix<partner, group_sizes[index]> : found), ...);
  return found;
}

Kernel kernel_for(Partner partner, unsigned size) {
  constexpr std::make_index_sequence<group_sizes.size()> sizes;
  const Kernel found =
      partner == Partner::rsqrt         ? kernel_of_size<Partner::rsqrt>(size, sizes)
      : partner == Partner::shuffle     ? kernel_of_size<Partner::shuffle>(size, sizes)
      : partner == Partner::shared_load ? kernel_of_size<Partner::shared_load>(size, sizes)
      : partner == Partner::integer_add ? kernel_of_size<Partner::integer_add>(size, sizes)
                                        : kernel_of_size<Partner::none>(size, sizes);
  if (found == nullptr) throw std::logic_error{"no group of " + std::to_string(size)};
  return found;
}

/// Cycles of a launch: between events, and of an SM.
struct Launch {
  double seconds = 0;
  double cycles = 0;
};

class Groups {
 public:
  Groups(Partner partner, unsigned size, unsigned sms)
      : partner_{partner},
        size_{size},
        sms_{sms},
        kernel_{kernel_for(partner, size)},
        plain_{kernel_for(Partner::none, size)},
        factors_{factors_of(partner)},
        values_{device_words(partner)},
        records_{std::size_t{sms} * warps_of_sm},
        landed_{std::size_t{sms} * warps_of_sm},
        ends_{std::size_t{chains} * warp_lanes},
        landed_ends_{std::size_t{chains} * warp_lanes},
        alone_{std::max(operations::bytes_to_be_alone(kernel_),
                        operations::bytes_to_be_alone(plain_))} {
    constexpr std::uint32_t few = 32;
    constexpr std::uint32_t many = 4 * few;
    (void)run(plain_, few);  // loads the code
    (void)run(kernel_, few);
    const double brief = run(kernel_, few).seconds;
    const double of_a_round = std::max(run(kernel_, many).seconds - brief, 1e-6) / (many - few);
    rounds_ = static_cast<std::uint32_t>(std::max(10.0, std::floor(timed_seconds / of_a_round)));
  }

  void prepare() {}

  Observation observe() {
    Observation seen;
    if (partner_ != Partner::none) {
      const Launch plain = slope(plain_);
      seen.plain_inside = plain.cycles;
      seen.plain_outside = plain.seconds * core_hertz();
    }
    const Launch own = slope(kernel_);
    seen.core_hertz = core_hertz();
    seen.inside = own.cycles;
    seen.outside = own.seconds * seen.core_hertz;
    if (partner_ == Partner::none) {
      seen.plain_inside = seen.inside;
      seen.plain_outside = seen.outside;
    }
    return seen;
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside, seen.plain_inside};
  }

  /// Multiply-adds of threads and, where a counter knows them, partners.
  void count(Session& session) {
    constexpr std::uint32_t rounds = 16;
    const double groups = double{rounds} * body / size_ * warps_of_sm * sms_;  // of warps
    std::vector<Expectation> expected{
        {.quantity = "fp32_fma", .predicted = groups * size_ * warp_lanes}};
    if (partner_ == Partner::rsqrt)
      expected.push_back({.quantity = "xu_instructions", .predicted = groups});
    if (partner_ == Partner::shared_load)
      expected.push_back({.quantity = "shared_load_requests", .predicted = groups});
    // A round more in both: only a launch that enters the loop sets up what the loop needs.
    count_and_compare(
        session,
        {.prepare = [this] { poison(); },
         .work = [this] { launch(kernel_, rounds + 1); },
         .overhead = [this] { launch(kernel_, 1); }},
        {.expected = expected, .method = "chain_length", .unit = "group", .units = groups});
    land(kernel_, rounds + 1);
  }

  [[nodiscard]] Gate result() const {
    return result_gate(checked_.words, checked_.different,
                       tolerance_of(partner_) == 0 ? "ends of chains, bit for bit"
                                                   : "ends of chains, within the stated error");
  }
  [[nodiscard]] Gate queue() const { return gate_.gate(); }
  [[nodiscard]] Gate placement() const {
    std::vector<std::uint32_t> sm_of_warp;
    for (const WarpRecord& r : landed_.span())
      sm_of_warp.push_back(r.sm);
    return placement_gate(sm_of_warp, sms_, static_cast<int>(warps_of_sm));
  }
  [[nodiscard]] Gate code() const {
    cudaFuncAttributes attributes{};
    cudaFuncAttributes plain{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel_));
    cuda_check(cudaFuncGetAttributes(&plain, plain_));
    return spill_gate(std::max(attributes.localSizeBytes, plain.localSizeBytes),
                      std::max(attributes.numRegs, plain.numRegs));
  }

 private:
  void poison() {
    constexpr int byte = 0xA5;
    records_.poison(byte, stream_.get());
    ends_.poison(byte, stream_.get());
  }

  void launch(Kernel kernel, std::uint32_t rounds) {
    kernel<<<sms_, threads, alone_, stream_.get()>>>(values_.data(), factors_[0], factors_[1],
                                                     rounds, records_.data(), ends_.data());
    cuda_check(cudaGetLastError());
  }

  Launch run(Kernel kernel, std::uint32_t rounds) {
    poison();
    const double seconds = gate_.seconds(
        stream_, begin_, end_, [&] { launch(kernel, rounds); }, [&] { download(); });
    check(kernel, rounds);
    return {seconds, window()};
  }

  /// Of a group of one warp.
  Launch slope(Kernel kernel) {
    const std::uint32_t brief = rounds_ / 5;
    const Launch less = run(kernel, brief);
    const Launch more = run(kernel, rounds_);
    const double groups = static_cast<double>(rounds_ - brief) * body / size_ * warps_of_scheduler;
    return {(more.seconds - less.seconds) / groups, (more.cycles - less.cycles) / groups};
  }

  void land(Kernel kernel, std::uint32_t rounds) {
    download();
    stream_.synchronize();
    check(kernel, rounds);
  }

  void download() {
    landed_.download_from(records_, stream_.get());
    landed_ends_.download_from(ends_, stream_.get());
  }

  /// The first warp's ends are held against the host's; every warp must have come to the same.
  void check(Kernel kernel, std::uint32_t rounds) {
    const bool asked = kernel != plain_;
    auto known = ends_after_.find({asked, rounds});
    if (known == ends_after_.end()) {
      known = ends_after_
                  .emplace(std::pair{asked, rounds}, expected_ends(partner_, size_, asked, rounds))
                  .first;
    }
    const double tolerance = asked ? tolerance_of(partner_) : 0;
    std::uint64_t checksum = 0;
    for (std::size_t i = 0; i < landed_ends_.span().size(); ++i) {
      const float got = landed_ends_.span()[i];
      const float wanted = known->second[i / warp_lanes][i % distinct_lanes];
      checked_.one(operations::Checked::alike(got, wanted, tolerance));
      checksum += operations::checksum_part(operations::bits(got), i);
    }
    for (const WarpRecord& r : landed_.span())
      checked_.one(r.checksum == checksum);
  }

  /// Cycles from the first start to the last end on an SM; median of all SMs.
  [[nodiscard]] double window() const {
    std::vector<double> of_sms;
    for (std::size_t sm = 0; sm < sms_; ++sm) {
      const auto warps = landed_.span().subspan(sm * warps_of_sm, warps_of_sm);
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

  Partner partner_;
  unsigned size_;
  unsigned sms_;
  Kernel kernel_;
  Kernel plain_;
  Factors factors_;
  DeviceBuffer<float> values_;
  DeviceBuffer<WarpRecord> records_;
  PinnedBuffer<WarpRecord> landed_;
  DeviceBuffer<float> ends_;
  PinnedBuffer<float> landed_ends_;
  std::size_t alone_;
  Stream stream_;
  Event begin_;
  Event end_;
  starting_gate::StartingGate gate_;
  std::uint32_t rounds_ = 1;
  std::map<std::pair<bool, std::uint32_t>, Ends> ends_after_;
  operations::Checked checked_;
};

void run(Session& session) {
  const Facts& facts = session.device().identity().facts;
  const Partner partner = partner_of(session.param("partner"));
  const auto size = static_cast<unsigned>(session.integer("multiply_adds"));
  Groups groups{partner, size, static_cast<unsigned>(std::get<std::int64_t>(facts.at("sm_count")))};
  if (session.counters() != nullptr) {
    groups.count(session);
    session.add(groups.result());
    return;
  }
  const auto seen = collect(groups, session.plan());
  report(session, seen, partner, size);
  session.add(groups.result());
  session.add(groups.placement());
  session.add(groups.queue());
  session.add(groups.code());
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::issue_mix
