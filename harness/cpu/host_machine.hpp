// The engine's view of the CPU: work on one pinned thread or on a team of them, between readings of
// the time-stamp counter and of the system's clock.
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

/// Displaces what the calling thread's caches hold by reading a large buffer of its own, which is
/// filled once: nothing dirty is left behind. Caches of other cores keep what they do not share.
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
  /// The calling thread, wherever the system lets it run.
  HostMachine() = default;
  /// The calling thread, pinned to `cpu` as long as the machine lives.
  explicit HostMachine(int cpu) : pin_{pin_to(cpu)} {}
  /// A thread on each of `cpus`, all of which work at once.
  explicit HostMachine(const std::vector<int>& cpus)
      : team_{cpus}, slots_(cpus.size()), stamps_(cpus.size()) {}

  /// The work of one core in one launch; its result goes into the core's stamp.
  using Work = std::function<std::uint64_t(std::size_t rank, const Call& call)>;
  /// A launch that does `work` on every core, each between readings of both clocks.
  [[nodiscard]] std::function<void(const Call&)> on_every_core(Work work);
  /// The same for work that reads its core's clock on the way, into marks 2 and on of the stamp.
  using MarkingWork =
      std::function<std::uint64_t(std::size_t rank, const Call& call, Stamp& stamp)>;
  [[nodiscard]] std::function<void(const Call&)> on_every_core(MarkingWork work);
  /// A launch on the first core, while the others sleep: the outer timer is around its work alone,
  /// and only its stamp is written.
  [[nodiscard]] std::function<void(const Call&)> on_first_core(Work work);

  /// Null for a single thread. For what is not timed: each core's first touch of its memory.
  [[nodiscard]] ThreadTeam* team() { return team_ ? &*team_ : nullptr; }
  [[nodiscard]] std::size_t cores() const { return stamps_.size(); }

  [[nodiscard]] const TimerNames& names() const override;
  [[nodiscard]] double outside_hertz(double core_hertz) const override;
  void evict() override;
  /// A CPU has no order that brings data into one level: this reads them.
  void touch(const void* data, std::size_t bytes) override;
  void poison() override;
  void launch(const std::function<void()>& work) override { work(); }
  [[nodiscard]] double time(const std::function<void()>& work, bool held) override;
  void land() override {}
  [[nodiscard]] std::span<const Stamp> stamps() const override { return stamps_; }
  [[nodiscard]] KernelCode code(const void* /*kernel*/) const override { return {}; }
  [[nodiscard]] std::optional<Gate> queue() const override { return std::nullopt; }

 private:
  /// Does the work of a core and writes its stamp. Returns the seconds by the system's clock.
  double work_on(std::size_t rank, const MarkingWork& work, const Call& call);
  /// Does `work` on every core. Returns the seconds of the team, or what the only core's work says.
  double on_cores(const std::function<double(std::size_t)>& work);

  /// On cache lines of its own: cores write their stamps at once.
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
