// What happens to a run when a benchmark does what no benchmark should, or when its counters, its
// device or the clock do? One kind of misbehaviour a case, or a counter set, or a file that the
// test puts into TMPDIR; only the test executable has them.
#include "harness/base/error.hpp"
#include "harness/case/benchmark.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/device.hpp"
#include "harness/run/worker.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace strata::fault {
namespace {

constexpr std::chrono::milliseconds slow_time{200};

Benchmark declare() {
  return {
      .suite = "faults",
      .name = "fault",
      .question = "What happens to a run when a benchmark misbehaves?",
      .axes = {{.name = "index",
                .meaning = "tells cases of one kind apart",
                .choices = {},
                .minimum = 0,
                .maximum = 99,
                .defaults = {"0"}},
               {.name = "kind",
                .meaning = "what the benchmark does",
                .choices = {"ok", "crash", "abort", "exit", "throw", "hang", "skip", "slow", "busy",
                            "hungry", "chatter", "fill", "counting-crash", "counting-throw",
                            "counting-hang", "counting-skip", "counting-time"},
                .minimum = 0,
                .maximum = 0,
                .defaults = {"ok"}}},
      .quantities = {{"answer", "the case's index"}, {"counted_answer", "the same, counted"}},
      .seconds_per_case = 0.01,
      .excludes = {}};
}

/// Dies as a program without sanitizers would, and without a core file.
void die_by(int signal) {
  const rlimit no_core{};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

void chatter() {
  const std::string noise(200, '#');
  constexpr int lines = 2000;  // several times what a pipe holds
  for (int i = 0; i < lines; ++i) {
    (void)std::fputs((noise + "\n{\"kind\":\"end\",\"conditions\":{}}\n").c_str(), stdout);
    (void)std::fputs("\xff\xfe not text \r\x1b[2J\n", stderr);
  }
  (void)std::fflush(stdout);
}

/// For more CPU time than the limit that the test may set: 1 s, the least that there is.
void work() {
  constexpr std::clock_t enough = CLOCKS_PER_SEC * 6 / 5;
  while (std::clock() < enough) {
  }
}

/// More memory than the test leaves. From the system, because a sanitizer's allocator keeps what
/// was freed, and ends the process in more than one way.
void allocate() {
  constexpr std::size_t much = std::size_t{256} << 20U;
  void* const at =
      ::mmap(nullptr, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc{};
  (void)::munmap(at, much);
}

void count(Session& session) {
  const std::string& kind = session.param("kind");
  if (kind == "counting-crash") die_by(SIGSEGV);
  if (kind == "counting-throw") throw std::runtime_error{"the profiler's own message"};
  if (kind == "counting-hang") {
    for (;;)
      (void)::pause();
  }
  if (kind == "counting-skip") throw Skipped{"there is nothing to count"};
  const CountedRange range{.name = "answer",
                           .prepare = [] {},
                           .work =
                               [&] {
                                 if (kind == "slow") std::this_thread::sleep_for(slow_time);
                               }};
  (void)session.counters()->count({&range, 1});
  session.add(Gate{"level", Verdict::passed, "counted"});
  session.add(
      Measurement{.quantity = "counted_answer",
                  .unit = "1",
                  .provenance = kind == "counting-time" ? Provenance::timed : Provenance::counted,
                  .method = "fake",
                  .samples = {static_cast<double>(session.integer("index"))}});
}

void run(Session& session) {
  if (session.counters() != nullptr) {
    count(session);
    return;
  }
  session.add(Gate{"level", Verdict::unverified, "level unverified: " + session.counting_note()});
  const std::string& kind = session.param("kind");
  double answer = session.integer("index");
  if (kind == "crash") die_by(SIGSEGV);
  if (kind == "abort") {
    (void)std::fputs("the benchmark's last words\n", stderr);
    die_by(SIGABRT);
  }
  if (kind == "exit") {
    constexpr int status = 3;
    std::_Exit(status);
  }
  if (kind == "throw") throw std::runtime_error{"the benchmark's own message"};
  if (kind == "hang") {
    for (;;)
      (void)::pause();
  }
  if (kind == "skip") throw Skipped{"this device has no such thing"};
  if (kind == "slow" || kind == "hungry") std::this_thread::sleep_for(slow_time);
  if (kind == "busy") work();
  if (kind == "hungry") allocate();
  if (kind == "chatter") chatter();
  if (kind == "fill") answer = std::numeric_limits<double>::quiet_NaN();
  session.add(Measurement{.quantity = "answer",
                          .unit = "1",
                          .provenance = Provenance::modelled,
                          .method = "given",
                          .samples = {answer}});
}

STRATA_BENCHMARK(declare, host, run);

/// Counts nothing, as often as it is told to.
class FakeCounters final : public CounterSource {
 public:
  explicit FakeCounters(CounterPlan plan) : plan_{std::move(plan)} {}

  [[nodiscard]] const CounterPlan& plan() const override { return plan_; }
  void attach() override {
    if (plan_.sets.front() == "held") {
      throw CountersUnavailable{"another profiler holds the counters", "end it"};
    }
  }
  [[nodiscard]] std::optional<std::vector<Counts>> count(
      std::span<const CountedRange> ranges) override {
    for (const auto& range : ranges) {
      range.prepare();
      range.work();
    }
    return std::vector<Counts>(ranges.size());
  }

 private:
  CounterPlan plan_;
};

/// What the test and the processes of its run tell each other.
std::filesystem::path message(const char* name) {
  const char* folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
  return std::filesystem::path{folder == nullptr ? "/tmp" : folder} / name;
}

/// The second time that a process of this run asks for it, and ever after.
bool is_asked_again() {
  if (std::filesystem::exists(message("seen"))) return true;
  std::ofstream{message("seen")} << "seen";
  return false;
}

/// The host, without the wait for a stable clock, which is most of the life of these workers:
/// nothing here is timed.
class HastyHost final : public Device {
 public:
  [[nodiscard]] Backend backend() const override { return host_->backend(); }
  [[nodiscard]] const DeviceIdentity& identity() const override { return host_->identity(); }
  [[nodiscard]] Facts conditions() override { return host_->conditions(); }
  [[nodiscard]] Facts timer_facts() override { return host_->timer_facts(); }
  void settle() override {}
  void begin_case(const std::string& id) override { host_->begin_case(id); }
  void end_case() override { host_->end_case(); }
  [[nodiscard]] std::string poisoned() override { return host_->poisoned(); }

 private:
  std::unique_ptr<Device> host_ = open_host_device();
};

}  // namespace
}  // namespace strata::fault

/// Takes the place of the C library's, for every part of this program: the file `clock` says by how
/// many seconds the clock of the day has been set forward. No other clock changes.
extern "C" int clock_gettime(clockid_t which, timespec* now) noexcept {
  const auto status = static_cast<int>(::syscall(SYS_clock_gettime, which, now));
  if (which != CLOCK_REALTIME) return status;
  std::ifstream file{strata::fault::message("clock")};
  if (std::time_t by = 0; file >> by) now->tv_sec += by;
  return status;
}

namespace strata {

/// Takes the place of the command's own. The file `lost` says that there is no device any more.
std::unique_ptr<Device> open_device(const DeviceRequest& /*request*/) {
  if (std::filesystem::exists(fault::message("lost")))
    throw DeviceUnavailable{"the device has fallen off the bus"};
  return std::make_unique<fault::HastyHost>();
}

/// Takes the place of the command's own. The name of the one set says how these counters behave;
/// `memory`, which is asked for by default, cannot be had.
std::unique_ptr<CounterSource> open_device_counters(const DeviceRequest& /*device*/,
                                                    const CounterSelection& selection) {
  const std::string& set = selection.wanted.at(0);
  if (set == "memory") throw CountersUnavailable{"this is a test", "none is needed"};
  if (set == "crashing") fault::die_by(SIGSEGV);
  if (set == "withdrawn" && fault::is_asked_again()) {
    throw CountersUnavailable{"somebody took the counters away", "take them back"};
  }
  if (set != "fake" && set != "held" && set != "withdrawn") {
    throw UsageError{"--counters '" + set + "': there is no such set; expected fake"};
  }
  return std::make_unique<fault::FakeCounters>(
      CounterPlan{.chip = "FAKE",
                  .sets = {set},
                  .quantities = {{.name = "counted_answer",
                                  .metric = "fake.sum",
                                  .unit = "1",
                                  .meaning = "the case's index",
                                  .set = set}},
                  .absent = {},
                  .passes = 1});
}

}  // namespace strata
