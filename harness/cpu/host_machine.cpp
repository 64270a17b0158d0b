#include "harness/cpu/host_machine.hpp"

#include "harness/cpu/topology.hpp"
#include "harness/cpu/tsc.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

namespace strata {
namespace {

// The replacement policy of the last level is unknown. If it were random, a sweep of twice the
// cache would spare a fifth of the lines, one of four times a fiftieth.
constexpr std::size_t caches = 4;
constexpr std::size_t least_bytes = std::size_t{8} << 20U;
constexpr std::size_t shortest_line = 64;  // bytes; longer lines are read twice

std::size_t largest_cache_bytes() {
  constexpr std::int64_t unknown = std::int64_t{64} << 20U;
  std::int64_t largest = 0;
  for (const auto& cache : caches_of(allowed_cpus().front()))
    largest = std::max(largest, cache.bytes);
  return static_cast<std::size_t>(largest > 0 ? largest : unknown);
}

}  // namespace

HostEviction::HostEviction(std::size_t last_level_bytes)
    : words_(std::max(caches * last_level_bytes, least_bytes) / sizeof(std::uint64_t)) {
  std::uint64_t value = 0;
  for (auto& word : words_) {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;
    word = value += golden;
  }
  evict();  // the end of the buffer is still dirty
}

HostEviction::HostEviction() : HostEviction{largest_cache_bytes()} {}

void HostEviction::evict() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words_.size(); i += shortest_line / sizeof words_[0])
    sum += words_[i];
  asm volatile("" : : "r"(sum) : "memory");  // the reads are needed
}

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

double HostMachine::on_cores(const std::function<double(std::size_t)>& work) {
  if (!team_) return work(0);
  return team_->run([&](std::size_t rank) { (void)work(rank); });
}

std::function<void(const Call&)> HostMachine::on_every_core(Work work) {
  return on_every_core(
      MarkingWork{[work = std::move(work)](std::size_t rank, const Call& call, Stamp& /*stamp*/) {
        return work(rank, call);
      }});
}

std::function<void(const Call&)> HostMachine::on_every_core(MarkingWork work) {
  return [this, work = std::move(work)](const Call& call) {
    seconds_ = on_cores([&](std::size_t rank) { return work_on(rank, work, call); });
    std::ranges::transform(slots_, stamps_.begin(), &Slot::stamp);
  };
}

std::function<void(const Call&)> HostMachine::on_first_core(Work work) {
  return [this, work = std::move(work)](const Call& call) {
    const auto unmarked = [&](std::size_t rank, const Call& now, Stamp& /*stamp*/) {
      return work(rank, now);
    };
    (void)on_cores(
        [&](std::size_t rank) { return rank == 0 ? seconds_ = work_on(rank, unmarked, call) : 0; });
    stamps_.front() = slots_.front().stamp;
  };
}

const TimerNames& HostMachine::names() const {
  static const TimerNames names{.cycle = "tsc_cycle",
                                .inside = "tsc_slope",
                                .outside = "monotonic_slope",
                                .whole = "monotonic",
                                .clock = "tsc_over_monotonic",
                                .rate = "tsc_frequency"};
  return names;
}

double HostMachine::outside_hertz(double /*core_hertz*/) const {
  return tsc_hertz();
}

void HostMachine::evict() {
  if (!eviction_) eviction_.emplace();
  (void)on_cores([&](std::size_t /*rank*/) {
    eviction_->evict();
    return 0.0;
  });
}

void HostMachine::touch(const void* data, std::size_t bytes) {
  const auto* const at = static_cast<const std::byte*>(data);
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes; i += shortest_line)
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

}  // namespace strata
