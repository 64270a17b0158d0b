#include "harness/run/count_batches.hpp"

#include "harness/case/controls.hpp"
#include "harness/case/sweep.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/run/case_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

namespace strata {
namespace {

/// Ranges that a case may count; they decide how much room a session needs.
constexpr std::size_t most_ranges_of_a_case = 4;

/// What decides whether two cases read the same data.
std::vector<std::string> data_of(const Case& which) {
  std::vector<std::string> words{which.benchmark};
  if (const Enrolled* known = find_benchmark(which.benchmark, benchmarks_and_controls())) {
    const std::span axes{known->benchmark.axes};
    for (const Axis& axis : axes.first(std::min(axes.size(), known->benchmark.data_axes))) {
      const auto found = which.params.find(axis.name);
      words.push_back(found == which.params.end() ? std::string{} : found->second);
    }
  }
  return words;
}

/// The sets that a benchmark wants, of those that the source was opened with.
std::vector<std::string> sets_of(const std::string& benchmark,
                                 const std::vector<std::string>& opened) {
  auto sets = selection_of({counters_auto},
                           wanted_counter_sets(std::span{&benchmark, 1}, benchmarks_and_controls()))
                  .wanted;
  std::erase_if(sets, [&](const std::string& name) {
    return std::ranges::find(opened, name) == opened.end();
  });
  return sets;
}

/// The source that a case sees: it passes the case's ranges to the session, or returns what the
/// session counted.
class BatchedSource final : public CounterSource {
 public:
  BatchedSource(const CounterSource& source, CounterPasses& passes)
      : source_{source}, passes_{passes} {}

  /// The case that runs next, by its index in the batch.
  void turn_to(std::size_t index) { index_ = index; }
  void deliver(std::map<std::string, Counts, std::less<>> results) {
    results_ = std::move(results);
  }

  [[nodiscard]] const CounterPlan& plan() const override { return source_.plan(); }
  void attach() override {}

  [[nodiscard]] std::optional<std::vector<Counts>> count(
      std::span<const CountedRange> ranges) override {
    if (ranges.size() > most_ranges_of_a_case) {
      throw std::logic_error{fmt::format("a case counts {} ranges; at most {} are possible",
                                         ranges.size(), most_ranges_of_a_case)};
    }
    if (!results_) {
      for (const auto& range : ranges)
        passes_.run({.name = name_of(range), .prepare = range.prepare, .work = range.work});
      return std::nullopt;
    }
    std::vector<Counts> counted;
    for (const auto& range : ranges) {
      range.prepare();
      range.work();
      const auto found = results_->find(name_of(range));
      if (found == results_->end()) {
        throw std::runtime_error{
            fmt::format("the profiler did not count range '{}', only {} others", name_of(range),
                        results_->size())};
      }
      counted.push_back(found->second);
    }
    return counted;
  }

 private:
  [[nodiscard]] std::string name_of(const CountedRange& range) const {
    return fmt::format("{}.{}", index_, range.name);
  }

  const CounterSource& source_;
  CounterPasses& passes_;
  std::size_t index_ = 0;
  std::optional<std::map<std::string, Counts, std::less<>>> results_;
};

void count_batch(std::span<const Case> cases, const Plan& plan, Device& device, Cache& cache,
                 CounterSource& source, const BatchEvents& events) {
  CounterPasses& passes = *source.passes();
  BatchedSource batched{source, passes};
  std::vector<bool> finished(cases.size());
  const auto stopped = [&] { return passes.broken() || events.stop(); };
  // One turn of every case that has no record yet.
  const auto run_cases = [&] {
    for (std::size_t i = 0; i < cases.size() && !stopped(); ++i) {
      if (finished[i]) continue;
      events.begin(cases[i]);
      batched.turn_to(i);
      const auto record =
          run_case_or_wait(cases[i], plan, device, cache, {.source = &batched, .note = {}});
      if (!record) continue;  // its counts follow
      finished[i] = true;
      events.end(*record);
    }
  };
  try {
    passes.begin(cases.size() * most_ranges_of_a_case);
    do {
      passes.begin_pass();
      run_cases();
      if (stopped()) return;
    } while (!passes.end_pass());
    batched.deliver(passes.results());
  } catch (const std::exception& error) {
    // The session itself failed: none of its cases has counts.
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (finished[i]) continue;
      events.begin(cases[i]);
      events.end({.which = cases[i],
                  .phase = Phase::counting,
                  .reason = error.what(),
                  .started = utc_text()});
    }
    return;
  }
  run_cases();
}

}  // namespace

std::vector<std::vector<Case>> batches_of(std::span<const Case> cases) {
  std::vector<std::vector<Case>> batches;
  std::vector<std::string> data;
  for (const Case& which : cases) {
    auto its_data = data_of(which);
    if (batches.empty() || its_data != data || batches.back().size() == most_in_a_batch) {
      batches.emplace_back();
      data = std::move(its_data);
    }
    batches.back().push_back(which);
  }
  return batches;
}

void count_in_batches(std::span<const Case> cases, const Plan& plan, Device& device, Cache& cache,
                      CounterSource& source, bool by_benchmark, const BatchEvents& events) {
  const std::vector<std::string> opened = source.plan().sets;
  const auto sets = [&](const std::vector<Case>& batch) {
    return sets_of(batch.front().benchmark, opened);
  };
  auto batches = batches_of(cases);
  // A profiler takes half a second to change its sets, longer than a batch.
  if (by_benchmark) std::ranges::stable_sort(batches, {}, sets);
  for (const auto& batch : batches) {
    if (events.stop() || source.passes()->broken()) return;
    if (by_benchmark) source.narrow(sets(batch));
    count_batch(batch, plan, device, cache, source, events);
  }
}

}  // namespace strata
