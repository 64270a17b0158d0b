#include "micro/latency/timer_check.hpp"

namespace strata::timer_check {

namespace {

/// On a GPU also by replays of a graph, whose seconds per load are number 0 of a sample.
Experiment describe(const std::function<std::uint64_t(std::uint32_t step)>& word_at) {
  constexpr std::uint32_t full = 1U << 15U;
  constexpr double bound = 0.01;
  Experiment experiment = described(full / 4, full, word_at);
  // Without this, the first event may be reached before the host has queued the kernel: in one run
  // the events were 2.5 % off.
  experiment.slopes.front().held = true;
  const Value by_graph = [](const Sample& sample) {
    return sample.numbers.at(0) * sample.slopes.at(0).inside.hertz;
  };
  experiment.rows.push_back({"load_cycles", "cycle", "graph_slope", by_graph});
  experiment.checks.emplace_back(TimerPair{cycles_of(), By::inside, by_graph, "graph_slope"});
  for (Check& check : experiment.checks) {
    if (auto* const pair = std::get_if<TimerPair>(&check)) pair->bound = bound;
  }
  // Loads of one lane: a request and a sector each. The round that fills L1 is subtracted.
  experiment.counts = CountPlan{.length = {.rounds = full},
                                .loads = LoadPrediction{.requests = full, .sectors = full},
                                .served_by = ServedBy::l1,
                                .reads = double{full}};
  return experiment;
}

Experiment describe(const Params& /*params*/, const GpuFacts& /*gpu*/) {
  return describe([order = order_of_slots()](std::uint32_t step) {
    return order[step % slots] * std::uint32_t{sizeof(std::uint32_t)};
  });
}

#ifdef __CUDACC__

// A word holds the low half of the next word's address. The high half never changes, so a loaded
// word is used as the next address directly, and the chain holds LDG after LDG without arithmetic.

__global__ void follow(std::uint32_t first, std::uint32_t high, std::uint32_t loads, Stamp* stamp) {
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
  chase(slots);  // fills L1 and returns to where it began
  consume(at);
  const Reading begin = reading_before();
  chase(loads);
  consume(at);
  const Reading end = reading_after();
  leave(stamp, begin, end, at);
}

void run(Session& session) {
  CudaMachine machine{session, /*writers=*/1};
  const auto order = order_of_slots();
  DeviceBuffer<std::uint32_t> words{slots};
  const std::uint64_t base = reinterpret_cast<std::uintptr_t>(words.data());
  const auto high = static_cast<std::uint32_t>(base >> 32U);
  if (high != (base + words.size_bytes() - 1) >> 32U) {
    throw std::runtime_error{"the chain crosses a 4 GiB boundary"};
  }
  const auto address_of = [&](std::uint32_t slot) {
    return static_cast<std::uint32_t>(base + slot * sizeof(std::uint32_t));
  };
  std::vector<std::uint32_t> chain = successors(order);
  for (std::uint32_t& word : chain)
    word = address_of(word);
  words.upload(chain);

  Experiment experiment =
      describe([&](std::uint32_t step) { return address_of(order[step % slots]); });
  Slope& slope = experiment.slopes[0];
  // Each launch fills L1 itself: its contents do not survive from kernel to kernel.
  slope.launch = [&](const Call& call) {
    follow<<<1, 1, 0, machine.stream().get()>>>(address_of(order[0]), high, call.length.rounds,
                                                machine.device_stamps());
  };
  if (session.counters() == nullptr) {
    const auto replays = [&](const Length& length) {
      return machine.replays(/*repetitions=*/4, [&] { slope.launch({.length = length}); });
    };
    experiment.observe = [loads = slope.lengths.full.work - slope.lengths.brief.work,
                          brief = replays(slope.lengths.brief),
                          full = replays(slope.lengths.full)] {
      const double brief_seconds = brief();
      return std::vector{(full() - brief_seconds) / loads};
    };
  }
  experiment.kernels = {reinterpret_cast<const void*>(follow)};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::timer_check
