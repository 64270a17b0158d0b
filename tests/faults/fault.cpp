// What happens to a run when a benchmark does what no benchmark should? One kind of misbehaviour a
// case; only the test executable has them.
#include "harness/core/benchmark.hpp"
#include "harness/core/error.hpp"
#include "harness/core/session.hpp"

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

namespace strata::fault {
namespace {

constexpr std::chrono::milliseconds slow_time{200};

Benchmark declare() {
  return {.suite = "faults",
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
                    .choices = {"ok", "crash", "abort", "exit", "throw", "hang", "skip", "slow",
                                "chatter", "fill"},
                    .minimum = 0,
                    .maximum = 0,
                    .defaults = {"ok"}}},
          .quantities = {{"answer", "the case's index"}},
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

void run(Session& session) {
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
  if (kind == "throw") throw std::runtime_error{"the benchmark's own complaint"};
  if (kind == "hang") {
    for (;;)
      (void)::pause();
  }
  if (kind == "skip") throw Skipped{"this device has no such thing"};
  if (kind == "slow") std::this_thread::sleep_for(slow_time);
  if (kind == "chatter") chatter();
  if (kind == "fill") answer = std::numeric_limits<double>::quiet_NaN();
  session.add(Measurement{.quantity = "answer",
                          .unit = "1",
                          .provenance = Provenance::modelled,
                          .method = "given",
                          .samples = {answer}});
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::fault
