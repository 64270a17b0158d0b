// The CUDA backend of timer_check: timer_check.hpp says what it asks.
//
// A word holds the low half of the next word's address; the high half never changes, so that a
// loaded word is the next address as it is and the chain holds LDG after LDG and no arithmetic.
#include "harness/cuda/buffer.hpp"
#include "harness/cuda/clock.cuh"
#include "harness/cuda/cuda_check.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/cuda/timer.hpp"
#include "harness/measure/counted_loads.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/record/gates.hpp"
#include "micro/latency/timer_check.hpp"
#include "micro/pattern/random_cycle.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata::timer_check {
namespace {

struct Stamps {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
  std::uint32_t end;
};

__global__ void follow(std::uint32_t first, std::uint32_t high, std::uint32_t loads,
                       Stamps* stamps) {
  constexpr std::uint32_t unroll = 16;
  std::uint32_t at = first;
  const auto chase = [&](std::uint32_t count) {
#pragma unroll 1
    for (std::uint32_t i = 0; i < count; i += unroll) {
#pragma unroll
      for (std::uint32_t u = 0; u < unroll; ++u) {
        // Wanted: LDG.E with the address in the register pair that the last one wrote.
        asm volatile(
            "{ .reg .b64 address;\n\t"
            "mov.b64 address, {%0, %1};\n\t"
            "ld.global.ca.u32 %0, [address]; }"
            : "+r"(at)
            : "r"(high));
      }
    }
  };
  chase(slots);  // fills L1, and comes back to where it began
  consume(at);
  const std::uint64_t cycles = cycles_now();
  const std::uint64_t nanoseconds = global_nanoseconds();
  chase(loads);
  consume(at);
  stamps->cycles = cycles_now() - cycles;
  stamps->nanoseconds = global_nanoseconds() - nanoseconds;
  stamps->end = at;
}

class Chain {
 public:
  Chain() : order_{random_order(slots, /*seed=*/4)}, words_{slots}, stamps_{1} {
    if (high(base_) != high(base_ + slots * sizeof(std::uint32_t) - 1)) {
      throw std::runtime_error{"the chain crosses a 4 GiB boundary"};
    }
    const auto next = successors(order_);
    std::vector<std::uint32_t> words(slots);
    for (unsigned s = 0; s < slots; ++s)
      words[s] = address(next[s]);
    words_.upload(words);
  }

  void prepare() {}  // each kernel fills L1 itself: it does not survive from kernel to kernel

  Observation observe() {
    const double brief_event = events_.seconds(stream_, [&] { launch(short_loads); });
    const Stamps brief = landed(short_loads);
    const double full_event = events_.seconds(stream_, [&] { launch(long_loads); });
    const Stamps full = landed(long_loads);
    const double brief_graph = short_graph_.seconds();
    const double full_graph = long_graph_.seconds();

    constexpr double loads = long_loads - short_loads;
    const double hertz =
        static_cast<double>(full.cycles) / (static_cast<double>(full.nanoseconds) * 1e-9);
    return {.inside = static_cast<double>(full.cycles - brief.cycles) / loads,
            .outside = (full_event - brief_event) * hertz / loads,
            .graph = (full_graph - brief_graph) * hertz / loads,
            .core_hertz = hertz};
  }

  [[nodiscard]] static std::vector<double> watched(const Observation& seen) {
    return {seen.inside, seen.outside, seen.graph};
  }

  /// The long chain once more, counted. Loads of one lane: a request and a sector each. The round
  /// that fills L1 is in both kernels, and so taken off.
  void count(Session& session) {
    count_loads(session, {.prepare = [this] { poison(); },
                          .work = [this] { launch(long_loads); },
                          .overhead = [this] { launch(0); },
                          .claimed = ServedBy::l1,
                          .predicted = {.requests = long_loads, .sectors = long_loads},
                          .reads = long_loads});
    (void)landed(long_loads);
  }
  [[nodiscard]] std::size_t checked() const { return checked_; }
  [[nodiscard]] std::size_t different() const { return different_; }

 private:
  static constexpr std::uint32_t short_loads = 1U << 13U;
  static constexpr std::uint32_t long_loads = 1U << 15U;
  static constexpr int graph_launches = 4;

  static std::uint32_t high(std::uint64_t address) {
    return static_cast<std::uint32_t>(address >> 32U);
  }
  [[nodiscard]] std::uint32_t address(std::uint32_t slot) const {
    return static_cast<std::uint32_t>(base_ + slot * sizeof(std::uint32_t));
  }

  void launch(std::uint32_t loads) {
    follow<<<1, 1, 0, stream_.get()>>>(address(order_[0]), high(base_), loads, stamps_.data());
    cuda_check(cudaGetLastError());
  }

  Stamps landed(std::uint32_t loads) {
    const Stamps stamps = stamps_.to_host().front();
    ++checked_;
    if (stamps.end != address(order_[loads % slots])) ++different_;
    poison();
    return stamps;
  }

  void poison() {
    constexpr int byte = 0xA5;
    stamps_.poison(byte, stream_.get());
  }

  std::vector<std::uint32_t> order_;
  DeviceBuffer<std::uint32_t> words_;
  DeviceBuffer<Stamps> stamps_;
  std::uint64_t base_ = reinterpret_cast<std::uintptr_t>(words_.data());  // the graphs need it
  Stream stream_;
  EventTimer events_;
  GraphTimer short_graph_{stream_, graph_launches, [this] { launch(short_loads); }};
  GraphTimer long_graph_{stream_, graph_launches, [this] { launch(long_loads); }};
  std::size_t checked_ = 0;
  std::size_t different_ = 0;
};

void run(Session& session) {
  Chain chain;
  if (session.counters() != nullptr) {
    chain.count(session);
    session.add(result_gate(chain.checked(), chain.different(), "chain ends against the cycle"));
    return;
  }
  const auto seen = collect(chain, session.plan());
  report(session, seen.kept, "cycle", "clock64_slope", "event_slope", "graph_slope",
         "clock64_over_globaltimer");
  session.add(result_gate(chain.checked(), chain.different(), "chain ends against the cycle"));
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, follow));
  session.add(spill_gate(attributes.localSizeBytes, attributes.numRegs));
  session.add(level_unverified(session.counting_note()));
  session.fact("stopped_by", std::string{to_string(seen.stop)});
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::timer_check
