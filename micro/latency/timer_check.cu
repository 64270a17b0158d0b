// A word holds the low half of the next word's address. The high half never changes, so a loaded
// word is used as the next address directly, and the chain holds LDG after LDG without arithmetic.
#include "harness/cuda/cuda_machine.hpp"
#include "harness/cuda/stamps.cuh"
#include "harness/measure/engine.hpp"
#include "micro/latency/timer_check.hpp"
#include "micro/pattern/random_cycle.hpp"

#include <stdexcept>

namespace strata::timer_check {
namespace {

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
  const auto order = random_order(slots, /*seed=*/4);
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
      describe_gpu([&](std::uint32_t step) { return address_of(order[step % slots]); });
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

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::timer_check
