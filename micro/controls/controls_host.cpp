// HOST
// The chain of a CPU, in its L1.
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/engine.hpp"
#include "micro/controls/controls.hpp"

#include <memory>

namespace strata::controls {
namespace {

struct Slot {
  const Slot* next = nullptr;
};

[[gnu::noinline]] const Slot* follow(const Slot* at, std::uint32_t loads) {
  for (std::uint32_t i = 0; i < loads; ++i)
    at = at->next;
  return at;
}

/// The counter, read at whatever point the CPU reaches it: earlier instructions need not have
/// finished.
std::uint64_t unfenced_tsc() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return tsc_now();
#endif
}

/// Each load between two readings of the counter that do not wait for it.
[[gnu::noinline]] const Slot* follow_singly(const Slot* at, std::uint32_t loads,
                                            std::uint64_t& cycles) {
  for (std::uint32_t i = 0; i < loads; ++i) {
    const std::uint64_t begin = unfenced_tsc();
    at = at->next;
    cycles += unfenced_tsc() - begin;
  }
  return at;
}

void run(Session& session) {
  const Mistake mistake = mistakes.of(session.param("mistake"));
  const Chain chain;
  std::vector<Slot> slots(chain.slots);
  for (std::uint32_t i = 0; i < chain.slots; ++i)
    slots[i].next = &slots[chain.slot_after(i, 1)];
  HostMachine machine;
  Experiment experiment = describe_chain(chain, Subject::chain, mistake);
  experiment.unproved.why = "no hardware counters on the host";
  experiment.counts.reset();
  experiment.not_counted = "no hardware counters on the host";
  experiment.pairs = 5;  // most of them see no interrupt
  experiment.slopes[0].launch = machine.on_every_core(
      [&, mistake](std::size_t /*rank*/, const Call& call, Stamp& stamp) -> std::uint64_t {
        const Slot* at = &slots[first_slot(chain, mistake, call)];
        if (mistake == Mistake::optimised_away) {
          (void)follow(at, call.length.rounds);
        } else if (mistake == Mistake::folded_dependency) {
          stamp.cycles[2] = 0;
          at = follow_singly(at, call.length.rounds, stamp.cycles[2]);
        } else {
          at = follow(at, call.length.rounds);
        }
        return static_cast<std::uint64_t>(at - slots.data());
      });
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::controls
