#include "harness/run/worker.hpp"

#include "harness/base/error.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/counters/tracer.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/run/case_runner.hpp"
#include "harness/run/count_batches.hpp"
#include "harness/run/worker_channel.hpp"

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace strata {
namespace {

DeviceMessage introduce(Device& device) {
  return {.backend = device.backend(),
          .identity = device.identity(),
          .conditions = device.conditions(),
          .timer = device.timer_facts(),
          .host = describe_host(),
          .counters = {}};
}

/// Opens the device, or reports to the parent why not.
std::unique_ptr<Device> open_or_refuse(const DeviceRequest& request) {
  try {
    return open_device(request);
  } catch (const std::exception& error) {
    send(RefusedMessage{error.what()});
    return nullptr;
  }
}

/// Why a step towards counting failed; empty if it succeeded.
template <class Step>
std::optional<RefusedMessage> failure_of(Step&& step) {
  try {
    std::forward<Step>(step)();
    return std::nullopt;
  } catch (const CountersUnavailable& unavailable) {
    return RefusedMessage{unavailable.what(), unavailable.mend};
  } catch (const UsageError& error) {
    return RefusedMessage{.reason = error.what(), .mend = {}, .bad_selection = true};
  } catch (const std::exception& error) {
    return RefusedMessage{error.what()};  // a problem with the counters never ends a run
  }
}

std::unique_ptr<Tracer> open_tracer(const DeviceRequest& device) {
  if (device.kind == DeviceRequest::Kind::host) return std::make_unique<Tracer>();
  try {
    return open_device_tracer(device.ordinal);
  } catch (const CountersUnavailable&) {
    return std::make_unique<MarkTracer>(open_device_marks());
  }
}

/// Runs the cases on a device that has been announced. Returns the exit status of the process.
int run_cases(const WorkerJob& job, Device& device, Counting counting, bool by_benchmark) {
  bool fatal = false;
  Cache cache;
  CounterPasses* const passes = counting.source == nullptr ? nullptr : counting.source->passes();
  const BatchEvents events{.begin = [](const Case& which) { send(BeginMessage{which.id()}); },
                           .end =
                               [&](const CaseRecord& record) {
                                 fatal = !device.poisoned().empty() ||
                                         (passes != nullptr && passes->broken());
                                 send(CaseMessage{.record = record, .fatal = fatal});
                               },
                           .stop = [&] { return fatal; }};
  if (passes != nullptr) {
    count_in_batches(job.cases, job.plan, device, cache, *counting.source, by_benchmark, events);
  } else {
    for (const Case& which : job.cases) {
      if (fatal) break;
      events.begin(which);
      const auto step = job.steps.find(which.id());
      counting.timed_steps = step == job.steps.end() ? std::vector<double>{} : step->second;
      events.end(run_case(which, job.plan, device, cache, counting));
    }
  }
  // Nothing can be freed on a device after a sticky error: destructors would only report further
  // failures.
  if (fatal) std::_Exit(static_cast<int>(ExitCode::failed));
  send(EndMessage{device.conditions()});
  return 0;
}

}  // namespace

int answer_probe(const DeviceRequest& request, const CounterSelection& selection) {
  become_worker();
  const bool counting = !selection.wanted.empty();
  std::unique_ptr<Device> device;  // opened last, closed last: the profiler keeps hold of it
  std::unique_ptr<CounterSource> counters;
  std::optional<RefusedMessage> failure;
  if (counting) {
    failure = failure_of([&] { counters = open_device_counters(request, selection); });
  }
  device = open_or_refuse(request);
  if (!device) return static_cast<int>(ExitCode::no_device);
  if (counters) failure = failure_of([&] { counters->attach(); });
  if (failure && failure->bad_selection) {
    send(*failure);
    return static_cast<int>(ExitCode::usage);
  }
  DeviceMessage message = introduce(*device);
  if (counting) message.counters.state = CountersInfo::State::unavailable;
  if (failure) {
    message.counters.reason = failure->reason;
    message.counters.mend = failure->mend;
    // For any device, it falls back to the CPU if there is no GPU: this is why.
    if (request.kind == DeviceRequest::Kind::any && device->backend() == Backend::host) {
      message.counters.reason = host_has_no_counters;
      message.counters.mend.clear();
    }
  } else if (counting) {
    message.counters.plan = counters->plan();
  }
  send(message);
  return 0;
}

int run_job(const DeviceRequest& request, const std::optional<CounterSelection>& counted,
            bool traced) {
  become_worker();
  const WorkerJob job = read_job();
  std::unique_ptr<Device> device;  // opened last, closed last: the profiler keeps hold of it
  std::unique_ptr<CounterSource> counters;
  std::unique_ptr<Tracer> tracer;
  std::optional<RefusedMessage> failure;
  if (traced) failure = failure_of([&] { tracer = open_tracer(request); });
  if (counted) failure = failure_of([&] { counters = open_device_counters(request, *counted); });
  if (!failure) {
    device = open_or_refuse(request);
    if (!device) return static_cast<int>(ExitCode::no_device);
    if (counters) failure = failure_of([&] { counters->attach(); });
  }
  if (failure) {
    send(*failure);
    return 0;
  }
  if (!counters) device->settle();  // a changing clock changes no count
  send(introduce(*device));
  return run_cases(job, *device,
                   {.source = counters.get(), .note = job.note, .tracer = tracer.get()},
                   counted && counted->by_benchmark);
}

}  // namespace strata
