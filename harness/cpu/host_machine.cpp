#include "harness/cpu/host_machine.hpp"

#include "harness/cpu/topology.hpp"
#include "harness/record/gates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <system_error>
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

void HostMachine::to_core_cycles(Slot& slot) {
  auto& cycles = slot.stamp.cycles;
  const std::uint64_t start = cycles[0];
  const std::uint64_t stop = cycles[1];
  slot.ticks = stop - start;
  slot.pace = core_pace();
  for (std::uint64_t& mark : cycles) {
    if (mark < start || mark > stop) continue;  // poison: the work did not write it
    const double passed = slot.pace.cycles_per_tick * static_cast<double>(mark - start);
    mark = start + static_cast<std::uint64_t>(std::llround(passed));
  }
}

void HostMachine::take_stamps(std::size_t cores) {
  for (std::size_t rank = 0; rank < cores; ++rank) {
    stamps_[rank] = slots_[rank].stamp;
    multiplications_.push_back(slots_[rank].pace.multiplication);
  }
}

double HostMachine::on_cores(const std::function<double(std::size_t)>& work,
                             const ThreadTeam::Work& after) {
  if (!is_alone()) return team_->run([&](std::size_t rank) { (void)work(rank); }, after);
  const double seconds = work(0);
  if (after) after(0);
  return seconds;
}

std::function<void(const Call&)> HostMachine::on_every_core(Work work) {
  return on_every_core(
      MarkingWork{[work = std::move(work)](std::size_t rank, const Call& call, Stamp& /*stamp*/) {
        return work(rank, call);
      }});
}

std::function<void(const Call&)> HostMachine::on_every_core(MarkingWork work) {
  return [this, work = std::move(work)](const Call& call) {
    seconds_ = on_cores([&](std::size_t rank) { return work_on(rank, work, call); },
                        [&](std::size_t rank) { to_core_cycles(slots_[rank]); });
    take_stamps(slots_.size());
  };
}

std::function<void(const Call&)> HostMachine::on_first_core(Work work) {
  return [this, work = std::move(work)](const Call& call) {
    const auto unmarked = [&](std::size_t rank, const Call& now, Stamp& /*stamp*/) {
      return work(rank, now);
    };
    (void)on_cores(
        [&](std::size_t rank) { return rank == 0 ? seconds_ = work_on(rank, unmarked, call) : 0; },
        [&](std::size_t rank) {
          if (rank == 0) to_core_cycles(slots_[rank]);
        });
    take_stamps(1);
  };
}

const TimerNames& HostMachine::names() const {
  static const TimerNames names{.inside = "tsc_slope",
                                .outside = "monotonic_slope",
                                .whole = "monotonic",
                                .clock = "dependent_adds",
                                .clock_may_change = true};
  return names;
}

std::optional<Gate> HostMachine::gate() const {
  if (multiplications_.empty()) return std::nullopt;
  return own_core_gate(multiplications_);
}

std::uint64_t HostMachine::switches() {
  if (!is_alone()) return team_->switches();  // its threads are pinned
  const int cpu = sched_getcpu();
  if (cpu != std::exchange(cpu_, cpu)) ++migrations_;
  // Of the process: the work may use further threads, such as those of OpenMP.
  return involuntary_switches(/*of_process=*/true) + migrations_;
}

std::optional<double> HostMachine::seconds_waited() const {
  constexpr double nano = 1e-9;
  double waited = 0;
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task", none}) {
    double ran = 0;
    double delay = 0;
    if (!(std::ifstream{thread.path() / "schedstat"} >> ran >> delay)) return std::nullopt;
    waited += delay * nano;
  }
  if (none) return std::nullopt;
  return waited;
}

double HostMachine::counted_seconds() const {
  return static_cast<double>(slots_.front().ticks) / tsc_hertz();
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
