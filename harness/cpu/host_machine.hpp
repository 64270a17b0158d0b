// The engine's view of the CPU: work on one thread or on a team of threads, between readings of the
// time-stamp counter and of the system clock. The counter is the timer; stamps are in cycles of the
// core, because its clock changes from launch to launch.
#pragma once

#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/tsc.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/measure/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace strata {

/// Evicts the caches of the calling thread by reading its own large buffer, which is filled once,
/// so that nothing dirty remains. Caches of other cores keep what they do not share.
class HostEviction {
 public:
  /// For a last-level cache of this size; the buffer has 4 times as much.
  explicit HostEviction(std::size_t last_level_bytes);
  /// For the largest cache of the CPU that the thread may use.
  HostEviction();

  void evict() const;
  [[nodiscard]] std::size_t bytes() const noexcept { return words_.size() * sizeof(words_[0]); }

 private:
  std::vector<std::uint64_t> words_;
};

class HostMachine final : public Machine {
 public:
  /// The calling thread, on any CPU.
  HostMachine() = default;
  /// The calling thread, pinned to `cpu` during the lifetime of the machine.
  explicit HostMachine(int cpu) : pin_{pin_to(cpu)} {}
  /// One thread on each of `cpus`, working simultaneously. On a single CPU the calling thread
  /// works: it need not be woken for each launch, which takes long on a busy machine.
  explicit HostMachine(const std::vector<int>& cpus)
      : pin_{cpus.size() == 1 ? pin_to(cpus.front()) : Finally{}},
        team_{cpus},
        slots_(cpus.size()),
        stamps_(cpus.size()) {}

  /// The work of one core in one launch; its result goes into the core's stamp.
  using Work = std::function<std::uint64_t(std::size_t rank, const Call& call)>;
  /// A launch that does `work` on every core, between readings of both clocks.
  [[nodiscard]] std::function<void(const Call&)> on_every_core(Work work);
  /// The same for work that also reads its core's clock, into marks 2 and later of the stamp.
  using MarkingWork =
      std::function<std::uint64_t(std::size_t rank, const Call& call, Stamp& stamp)>;
  [[nodiscard]] std::function<void(const Call&)> on_every_core(MarkingWork work);
  /// A launch on the first core, while the others sleep: the outer timer covers only its work, and
  /// only its stamp is written.
  [[nodiscard]] std::function<void(const Call&)> on_first_core(Work work);

  /// The team; null for a machine without one. For untimed work: each core's first access to its
  /// memory.
  [[nodiscard]] ThreadTeam* team() { return team_ ? &*team_ : nullptr; }
  [[nodiscard]] std::size_t cores() const { return stamps_.size(); }

  [[nodiscard]] const TimerNames& names() const override;
  void evict() override;
  /// A CPU has no instruction that loads data into one level, so this reads them.
  void touch(const void* data, std::size_t bytes) override;
  void poison() override;
  void launch(const std::function<void()>& work) override { work(); }
  [[nodiscard]] double time(const std::function<void()>& work, bool held) override;
  void land() override {}
  [[nodiscard]] std::span<const Stamp> stamps() const override { return stamps_; }
  [[nodiscard]] KernelCode code(const void* /*kernel*/) const override { return {}; }
  /// Whether the cores were not shared with other threads (gate `clock`).
  [[nodiscard]] std::optional<Gate> gate() const override;
  [[nodiscard]] std::uint64_t switches() override;
  [[nodiscard]] std::optional<double> seconds_waited() const override;

  /// Duration of the first core's work in the last launch, by its counter.
  [[nodiscard]] double counted_seconds() const;

 private:
  /// The calling thread works.
  [[nodiscard]] bool is_alone() const { return cores() == 1; }
  /// Does the work of a core and writes its stamp. Returns the seconds by the system clock.
  double work_on(std::size_t rank, const MarkingWork& work, const Call& call);
  /// Does `work` on every core. Returns the seconds of the team, or those of the only core.
  double on_cores(const std::function<double(std::size_t)>& work,
                  const ThreadTeam::Work& after = nullptr);

  /// On cache lines of its own, because cores write their stamps simultaneously.
  struct alignas(128) Slot {
    Stamp stamp{};
    std::uint64_t ticks = 0;
    CorePace pace;
  };
  /// Converts the marks of a core's stamp from ticks of the counter to cycles of the core, whose
  /// clock is measured right after the work.
  static void to_core_cycles(Slot& slot);
  /// The stamps of the first `cores` cores, after a launch.
  void take_stamps(std::size_t cores);

  Finally pin_;
  std::optional<ThreadTeam> team_;
  std::optional<HostEviction> eviction_;
  std::vector<Slot> slots_{1};
  std::vector<Stamp> stamps_{1};
  std::vector<double> multiplications_;  // cycles, of each launch and core
  double seconds_ = 0;
  int cpu_ = -1;  // of the last call of switches()
  std::uint64_t migrations_ = 0;
};

}  // namespace strata
