// The engine's view of the CPU: work on one pinned thread or on a team of threads, between readings
// of the time-stamp counter and of the system clock.
#pragma once

#include "harness/cpu/thread_team.hpp"
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
  /// One thread on each of `cpus`, working simultaneously.
  explicit HostMachine(const std::vector<int>& cpus)
      : team_{cpus}, slots_(cpus.size()), stamps_(cpus.size()) {}

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

  /// The team; null for a single thread. For untimed work: each core's first access to its memory.
  [[nodiscard]] ThreadTeam* team() { return team_ ? &*team_ : nullptr; }
  [[nodiscard]] std::size_t cores() const { return stamps_.size(); }

  [[nodiscard]] const TimerNames& names() const override;
  [[nodiscard]] double outside_hertz(double core_hertz) const override;
  void evict() override;
  /// A CPU has no instruction that loads data into one level, so this reads them.
  void touch(const void* data, std::size_t bytes) override;
  void poison() override;
  void launch(const std::function<void()>& work) override { work(); }
  [[nodiscard]] double time(const std::function<void()>& work, bool held) override;
  void land() override {}
  [[nodiscard]] std::span<const Stamp> stamps() const override { return stamps_; }
  [[nodiscard]] KernelCode code(const void* /*kernel*/) const override { return {}; }
  [[nodiscard]] std::optional<Gate> queue() const override { return std::nullopt; }

 private:
  /// Does the work of a core and writes its stamp. Returns the seconds by the system clock.
  double work_on(std::size_t rank, const MarkingWork& work, const Call& call);
  /// Does `work` on every core. Returns the seconds of the team, or those of the only core.
  double on_cores(const std::function<double(std::size_t)>& work);

  /// On cache lines of its own, because cores write their stamps simultaneously.
  struct alignas(128) Slot {
    Stamp stamp;
  };

  Finally pin_;
  std::optional<ThreadTeam> team_;
  std::optional<HostEviction> eviction_;
  std::vector<Slot> slots_{1};
  std::vector<Stamp> stamps_{1};
  double seconds_ = 0;
};

}  // namespace strata
