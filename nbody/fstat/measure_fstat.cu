// Verification and timing of a rung on a GPU.
#include "harness/cpu/host_steps.hpp"
#include "nbody/common/device_run.hpp"
#include "nbody/fstat/device_rung.hpp"
#include "nbody/fstat/rung_experiment.hpp"

#include <optional>

namespace strata::fstat {
namespace {

/// An observation in pieces of page-locked memory, and where its results go.
class DeviceCase {
 public:
  DeviceCase(const Observation& seen, Wanted wanted)
      : seen_{seen},
        memory_{Pieces::bytes_of(seen)},
        pieces_{seen, memory_.span()},
        two_f_{seen.problem.results()} {
    if (wanted == Wanted::two_f) return;
    sums_.emplace(seen.problem.results());
    work_.emplace(1, Where::current());
  }

  /// Poison where results go. Waits.
  void restore(const Stream& stream) {
    allocations_ = 0;
    two_f_.poison(stream);
    if (sums_) sums_->poison(stream);
    if (work_) work_->poison(0, stream.get());
    stream.synchronize();
  }
  [[nodiscard]] DevicePass pass() {
    return {.seen = &seen_,
            .pieces = &pieces_,
            .two_f = &two_f_,
            .sums = sums_ ? &*sums_ : nullptr,
            .work = work_ ? work_->data() : nullptr,
            .allocations = &allocations_};
  }
  [[nodiscard]] std::span<const float> two_f() const { return two_f_.host.span(); }
  /// Results of a pass through this queue, which is complete.
  [[nodiscard]] DeviceResults results(const Queue& queue, bool sums_on_host) const {
    const std::span<const float> values = two_f();
    DeviceResults all{.two_f = {values.begin(), values.end()},
                      .costs = {.queued = queue.traffic(), .allocations = allocations_}};
    if (!sums_) return all;
    const std::span<const Sums> sums = sums_->host.span();
    all.sums = sums_on_host ? std::vector<Sums>(sums.begin(), sums.end()) : sums_->device.to_host();
    const Work work = work_->to_host().front();
    all.terms = static_cast<double>(work.terms);
    all.costs.idle_threads = work.idle_threads;
    return all;
  }

 private:
  const Observation& seen_;
  PinnedBuffer<std::byte> memory_;
  Pieces pieces_;
  TwoSided<float> two_f_;
  std::optional<TwoSided<Sums>> sums_;
  std::optional<DeviceBuffer<Work>> work_;
  std::uint64_t allocations_ = 0;
};

}  // namespace

DeviceResults pass_on_device(const DeviceKernel& kernel, const Observation& seen, Wanted wanted) {
  const Stream stream;
  DeviceCase vectors{seen, wanted};
  vectors.restore(stream);
  Queue queue{stream};
  kernel.run(vectors.pass(), queue);
  queue.wait();
  return vectors.results(queue, kernel.sums_on_host);
}

void measure_rung(Session& session, const Rung& rung, MakeDeviceKernel make) {
  const Case& which = shared_case(session, problem_of(session));
  const Choice choice = choice_of(session);
  const DeviceKernel kernel = make(which.seen, choice);
  DeviceRun run{session};
  const Stream& stream = run.stream();
  const DeviceResults verified = pass_on_device(kernel, which.seen, Wanted::everything);
  DeviceCase vectors{which.seen, Wanted::two_f};
  Queue queue{stream, session.tracer()};
  const auto pass = [&] { kernel.run(vectors.pass(), queue); };

  vectors.restore(stream);
  require_time_for_samples(session.plan(), run.machine().time_caller(pass), "a pass");
  RungCase described{
      .rung = rung,
      .choice = choice,
      .terms = which.seen.terms(),
      .results = which.seen.problem.results(),
      .accuracy = accuracy_of(which, verified.sums, verified.two_f, rung.approximate),
      .counted = vectors.results(queue, kernel.sums_on_host).costs,
      .predicted = costs_of(rung)(which.seen),
      .counted_terms = verified.terms,
      .sms = run.gpu().sms,
      .core_seconds = seconds_of_core(),
      .different_at_end = [&] { return different(vectors.two_f(), verified.two_f); },
      .sample = [&] { return run.seconds(pass); },
      .facts = run.facts_of(kernel.kernels.front(), kernel.block)};
  described.counted.idle_threads = verified.costs.idle_threads;
  run.measure(
      session, describe(described), kernel.kernels, [&] { vectors.restore(stream); }, pass);
}

}  // namespace strata::fstat
