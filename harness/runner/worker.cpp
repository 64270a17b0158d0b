#include "harness/runner/worker.hpp"

#include "harness/core/error.hpp"
#include "harness/core/subprocess.hpp"
#include "harness/core/worker_channel.hpp"
#include "harness/host/topology.hpp"
#include "harness/runner/enrolment.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace strata {
namespace {

/// Google Benchmark runs the cases; the records travel on the channel, not through its reporter.
class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

Facts library_facts() {
  return {{"google_benchmark", std::string{STRATA_BENCHMARK_VERSION}}};
}

DeviceMessage introduce(Device& device) {
  return {.backend = device.backend(),
          .identity = device.identity(),
          .conditions = device.conditions(),
          .timer = device.timer_facts(),
          .host = describe_host(),
          .libraries = library_facts()};
}

/// Opens the device, or tells the parent why not.
std::unique_ptr<Device> open_or_refuse(const DeviceRequest& request) {
  try {
    return open_device(request);
  } catch (const std::exception& error) {
    send(RefusedMessage{error.what()});
    return nullptr;
  }
}

}  // namespace

int answer_probe(const DeviceRequest& request) {
  become_worker();
  const auto device = open_or_refuse(request);
  if (!device) return static_cast<int>(ExitCode::no_device);
  send(introduce(*device));
  return 0;
}

int work(const DeviceRequest& request) {
  become_worker();
  const WorkerJob job = read_job(0);
  const auto device = open_or_refuse(request);
  if (!device) return static_cast<int>(ExitCode::no_device);
  device->settle();
  send(introduce(*device));

  bool fatal = false;
  Cache cache;
  enrol_with_google_benchmark(job.cases, job.plan, *device, cache,
                              {.begin = [](const Case& which) { send(BeginMessage{which.id()}); },
                               .end =
                                   [&](const CaseRecord& record) {
                                     fatal = !device->poisoned().empty();
                                     send(CaseMessage{.record = record, .fatal = fatal});
                                   },
                               .stop = [&] { return fatal; }});
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, ".");
  // Nothing on a poisoned device can be freed: destructors would only add their own complaints.
  if (fatal) std::_Exit(static_cast<int>(ExitCode::failed));
  send(EndMessage{device->conditions()});
  return 0;
}

}  // namespace strata
