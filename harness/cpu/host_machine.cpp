#include "harness/cpu/host_machine.hpp"

#include "harness/cpu/tsc.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

namespace strata {

HostMachine::HostMachine() : slots_(1), stamps_(1) {}

HostMachine::HostMachine(int cpu) : pin_{std::make_unique<Pin>(cpu)}, slots_(1), stamps_(1) {}

HostMachine::HostMachine(const std::vector<int>& cpus)
    : team_{std::make_unique<ThreadTeam>(cpus)}, slots_(cpus.size()), stamps_(cpus.size()) {}

double HostMachine::work_on(std::size_t rank, const MarkingWork& work, const Call& call) {
  Stamp& stamp = slots_[rank].stamp;
  constexpr double nano = 1e9;
  const double began = monotonic_raw_seconds();
  const std::uint64_t start = tsc_now();
  const std::uint64_t result = work(rank, call, stamp);
  const std::uint64_t stop = tsc_now();
  const double seconds = monotonic_raw_seconds() - began;
  stamp.cycles[0] = start;
  stamp.cycles[1] = stop;
  stamp.nanoseconds[0] = 0;
  stamp.nanoseconds[1] = static_cast<std::uint64_t>(std::llround(seconds * nano));
  stamp.result = result;
  stamp.core = static_cast<std::uint32_t>(rank);
  return seconds;
}

std::function<void(const Call&)> HostMachine::on_every_core(Work work) {
  return on_every_core([work = std::move(work)](std::size_t rank, const Call& call,
                                                Stamp& /*stamp*/) { return work(rank, call); });
}

std::function<void(const Call&)> HostMachine::on_every_core(MarkingWork work) {
  return [this, work = std::move(work)](const Call& call) {
    seconds_ = team_ ? team_->run([&](std::size_t rank) { (void)work_on(rank, work, call); })
                     : work_on(0, work, call);
    std::ranges::transform(slots_, stamps_.begin(), &Slot::stamp);
  };
}

std::function<void(const Call&)> HostMachine::on_first_core(Work work) {
  return [this, work = std::move(work)](const Call& call) {
    const auto unmarked = [&](std::size_t rank, const Call& now, Stamp& /*stamp*/) {
      return work(rank, now);
    };
    const auto on_first = [&](std::size_t rank) {
      if (rank == 0) seconds_ = work_on(rank, unmarked, call);
    };
    if (team_) {
      (void)team_->run(on_first);
    } else {
      on_first(0);
    }
    stamps_.front() = slots_.front().stamp;
  };
}

const TimerNames& HostMachine::names() const {
  static const TimerNames names{.cycle = "tsc_cycle",
                                .inside = "tsc_slope",
                                .outside = "monotonic_slope",
                                .whole = "monotonic",
                                .clock = "tsc_over_monotonic"};
  return names;
}

double HostMachine::outside_hertz(double /*core_hertz*/) const {
  return tsc_hertz();
}

void HostMachine::evict() {
  if (!eviction_) eviction_ = std::make_unique<HostEviction>();
  if (team_) {
    (void)team_->run([&](std::size_t /*rank*/) { eviction_->evict(); });
  } else {
    eviction_->evict();
  }
}

void HostMachine::touch(const void* data, std::size_t bytes) {
  constexpr std::size_t line = 64;
  const auto* const at = static_cast<const std::byte*>(data);
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes; i += line)
    sum += std::to_integer<unsigned>(at[i]);
  asm volatile("" : : "r"(sum));
}

void HostMachine::poison() {
  constexpr int byte = 0xA5;
  for (Slot& slot : slots_)
    std::memset(&slot.stamp, byte, sizeof slot.stamp);
}

double HostMachine::time(const std::function<void()>& work, bool /*held*/) {
  work();
  return seconds_;
}

KernelCode HostMachine::code(const void* /*kernel*/) const {
  return {};
}

}  // namespace strata
