// What does it cost to launch a kernel?
//
// The kernel has one thread that writes one word, a different one in each launch, and all are
// checked. `stream`: launches one after the other into a stream, waiting at the end. `graph`: the
// same launches recorded into a graph, which is launched once. `synchronised`: every launch is
// waited for before the next one.
//
// The cost of a launch is the slope between few and many of them, so that the wait at the end, the
// events and the launch of the graph cancel: on the device and for its caller, and of the calls
// alone, which take less if they only queue work. A sample is the middle mean of several slopes,
// because the host's part varies by several percent from one to the next. A single launch, from the
// call to the end of the wait, is timed separately, as the middle mean of several. The kernel's own
// time, about a microsecond, is included in every number except that of the calls.
#include "harness/cuda/benchmark.cuh"
#include "harness/measure/machine.hpp"

#include <memory>

namespace strata::launch_overhead {

enum class How { stream, graph, synchronised };
constexpr auto ways = choices_of<How>("stream", "graph", "synchronised");

/// Launches of the short and of the long series: fewer than a stream can hold before a call blocks
/// (about a thousand).
constexpr std::uint32_t few = 100;
constexpr std::uint32_t many = 600;

/// The word that launch `launch` writes.
[[nodiscard]] constexpr std::uint32_t token(std::uint32_t launch) {
  return (launch + 1) * 0x9E3779B1U;
}

namespace {

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "launch_overhead",
      .question =
          "What does it cost to launch a kernel: into a stream, with a graph, or synchronously?",
      .axes = {ways.axis("launch", "into a stream, with a graph, or waiting for each launch")},
      .quantities = {{"launch_seconds",
                      "duration of one more launch: on the device (event), for its caller (wall)"},
                     {"call_seconds", "duration of the launch call, without waiting"},
                     {"alone_seconds",
                      "duration of one launch including the wait for it, for its caller"}},
      .seconds_per_case = 0.2};
}

/// Seconds: of one more launch on the device, for its caller, and of its call; of a single launch.
struct Seconds {
  double device = 0;
  double caller = 0;
  double call = 0;
  double alone = 0;
};

Experiment describe(const Params& params, const GpuFacts& /*gpu*/) {
  const How how = ways.of(params.at("launch"));
  const Value device = number(&Seconds::device);
  const Value caller = number(&Seconds::caller);
  // Series of launches by a host whose clock or core changes differ by up to a third.
  constexpr int most_meet_no_change = 5;
  Experiment experiment{.pairs = most_meet_no_change,
                        .rows = {{"launch_seconds", "s", By::outside, device},
                                 {"launch_seconds", "s", "wall_slope", caller}},
                        .checks = {TimerPair{device, By::outside, caller, "wall_slope"}},
                        .has_clock = false,
                        .checked = "words that launches wrote against their numbers",
                        .partly_host_time = true,
                        .not_counted = "an empty launch has nothing to count"};
  // A graph is one call, whatever it contains; where each launch is waited for, nothing is queued.
  if (how == How::stream) {
    experiment.rows.push_back({"call_seconds", "s", "wall_slope", number(&Seconds::call)});
  }
  // Where each launch is waited for, every launch is alone.
  if (how != How::synchronised) {
    experiment.rows.push_back({"alone_seconds", "s", "wall", number(&Seconds::alone)});
  }
  return experiment;
}

#ifdef __CUDACC__

constexpr std::uint32_t alone = 20;  // launches of a sample that are timed individually
constexpr int slopes = 16;           // of a sample

__global__ void write_word(std::uint32_t* word, std::uint32_t value) {
  *word = value;
}

void run(Session& session) {
  const How how = ways.of(session.param("launch"));
  Experiment experiment = describe(session.params(), session.gpu());
  require_timed(session, experiment);
  CudaMachine machine{session, 0};
  const Stream& stream = machine.stream();
  const auto& words = machine.output<std::uint32_t>(many);

  const auto launches = [&](std::uint32_t count) -> std::function<void()> {
    const auto all = [&, count] {
      for (std::uint32_t i = 0; i < count; ++i) {
        write_word<<<1, 1, 0, stream.get()>>>(words.data() + i, token(i));
        cuda_check(cudaGetLastError());
        if (how == How::synchronised) stream.synchronize();
      }
    };
    if (how != How::graph) return all;
    return [&, graph = std::make_shared<Graph>(stream, all, Where::current())] {
      graph->launch(stream);
    };
  };
  // Exactly the words that should be written are written.
  const auto checked = [&](std::uint32_t count, const auto& time) {
    constexpr std::uint32_t poison = 0xA5A5A5A5U;
    machine.poison();
    stream.synchronize();
    const auto seconds = time();
    machine.land();
    for (std::uint32_t i = 0; i < many; ++i)
      experiment.tally.one(words.landed()[i] == (i < count ? token(i) : poison));
    return seconds;
  };

  experiment.observe = [&, one = launches(1), of_few = launches(few), of_many = launches(many)] {
    const auto series = [&](std::uint32_t count, const std::function<void()>& work) {
      return checked(count, [&] { return machine.time_both_sides(work, /*held=*/false); });
    };
    constexpr double launches = many - few;
    std::vector<double> device(slopes);
    std::vector<double> caller(slopes);
    std::vector<double> call(slopes);
    for (int i = 0; i < slopes; ++i) {
      const BothSides brief = series(few, of_few);
      const BothSides full = series(many, of_many);
      device[i] = (full.device - brief.device) / launches;
      caller[i] = (full.caller - brief.caller) / launches;
      call[i] = (full.calls - brief.calls) / launches;
    }
    Seconds seconds{
        .device = middle_mean(device), .caller = middle_mean(caller), .call = middle_mean(call)};
    if (how == How::synchronised) return sample_of(seconds);
    std::vector<double> each(alone);
    std::ranges::generate(each,
                          [&] { return checked(1, [&] { return machine.time_caller(one); }); });
    seconds.alone = middle_mean(each);
    return sample_of(seconds);
  };
  experiment.kernels = {reinterpret_cast<const void*>(write_word)};
  measure(session, machine, experiment);
}

#endif

STRATA_GPU_BENCHMARK(declare, describe, run);

}  // namespace
}  // namespace strata::launch_overhead
