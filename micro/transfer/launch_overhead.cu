#include "harness/cuda/cuda_machine.hpp"
#include "harness/measure/engine.hpp"
#include "harness/record/statistics.hpp"
#include "micro/transfer/launch_overhead.hpp"

#include <algorithm>
#include <memory>

namespace strata::launch_overhead {
namespace {

constexpr std::uint32_t alone = 20;  // launches of a sample that are timed individually

__global__ void write_word(std::uint32_t* word, std::uint32_t value) {
  *word = value;
}

void run(Session& session) {
  const How how = ways.of(session.param("launch"));
  Experiment experiment = describe(how);
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
    const BothSides brief = series(few, of_few);
    const BothSides full = series(many, of_many);
    if (how == How::synchronised) return numbers_of(brief, full, 0);
    std::vector<double> each(alone);
    std::ranges::generate(each,
                          [&] { return checked(1, [&] { return machine.time_caller(one); }); });
    return numbers_of(brief, full, middle_mean(each));
  };
  experiment.kernels = {reinterpret_cast<const void*>(write_word)};
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, cuda, run);

}  // namespace
}  // namespace strata::launch_overhead
