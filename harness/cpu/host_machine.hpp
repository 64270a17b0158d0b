// The engine's view of the CPU: work on one pinned thread or on a team of them, between readings of
// the time-stamp counter and of the system's clock.
#pragma once

#include "harness/cpu/host_evict.hpp"
#include "harness/cpu/pin.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/measure/machine.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace strata {

class HostMachine final : public Machine {
 public:
  /// The calling thread, wherever the system lets it run.
  HostMachine();
  /// The calling thread, pinned to `cpu` as long as the machine lives.
  explicit HostMachine(int cpu);
  /// A thread on each of `cpus`, all of which work at once.
  explicit HostMachine(const std::vector<int>& cpus);

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
  [[nodiscard]] ThreadTeam* team() { return team_.get(); }
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
  [[nodiscard]] KernelCode code(const void* kernel) const override;
  [[nodiscard]] std::optional<Gate> queue() const override { return std::nullopt; }

 private:
  /// Does the work of a core and writes its stamp. Returns the seconds by the system's clock.
  double work_on(std::size_t rank, const MarkingWork& work, const Call& call);

  /// On cache lines of its own: cores write their stamps at once.
  struct alignas(128) Slot {
    Stamp stamp;
  };

  std::unique_ptr<Pin> pin_;
  std::unique_ptr<ThreadTeam> team_;
  std::unique_ptr<HostEviction> eviction_;
  std::vector<Slot> slots_;
  std::vector<Stamp> stamps_;
  double seconds_ = 0;
};

}  // namespace strata
