#include "harness/measure/step_rows.hpp"

#include "harness/record/statistics.hpp"

namespace strata {

void add_queued(std::vector<Constant>& rows, const Queued& counted, const Queued& predicted,
                std::size_t steps) {
  const auto add = [&](const char* quantity, const char* unit, std::uint64_t seen,
                       std::uint64_t wanted) {
    const auto of_a_step = [&](std::uint64_t all) {
      return static_cast<double>(all) / static_cast<double>(steps);
    };
    rows.push_back({quantity, unit, Provenance::counted, "code", of_a_step(seen)});
    rows.push_back({quantity, unit, Provenance::modelled, "model", of_a_step(wanted)});
  };
  add("copies", "1", counted.copies, predicted.copies);
  add("copied_bytes", "B", counted.bytes, predicted.bytes);
  add("launches", "1", counted.launches, predicted.launches);
}

void judge_queued(Session& session, const Queued& counted, const Queued& predicted) {
  const auto number = [](auto count) { return static_cast<double>(count); };
  session.as_predicted(std::vector<ComparedCount>{
      {"copies", number(counted.copies), number(predicted.copies)},
      {"bytes copied", number(counted.bytes), number(predicted.bytes)},
      {"launches", number(counted.launches), number(predicted.launches)}});
}

double lane_slots_per_second(const std::vector<Sample>& samples, std::size_t hertz, unsigned sms) {
  constexpr double issued_a_cycle = 128;  // lanes: four warps
  std::vector<double> clocks;
  clocks.reserve(samples.size());
  for (const Sample& sample : samples)
    clocks.push_back(sample.numbers.at(hertz));
  return sms * issued_a_cycle * median(clocks);
}

void time_by_both(Experiment& experiment, Backend backend) {
  // Events and stamps are some microseconds apart, which exceeds the bound for brief samples.
  constexpr double least = 5e-4;
  const bool gpu = backend == Backend::cuda;
  experiment.checks.emplace_back(
      gpu ? TimerPair{number_at(0), By::whole, number_at(1), "globaltimer", least}
          : TimerPair{number_at(1), "tsc", number_at(0), By::whole});
  if (gpu) experiment.partly_host_time = true;
  experiment.core_hertz = number_at(2);
  experiment.whole_sample = number_at(0);
}

}  // namespace strata
