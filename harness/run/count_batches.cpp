#include "harness/run/count_batches.hpp"

#include "harness/case/benchmark.hpp"
#include "harness/case/sweep.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/record/run_folder.hpp"
#include "harness/run/case_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace strata {
namespace {

/// Ranges that a case may count; what a session has room for follows from it.
constexpr std::size_t most_ranges_of_a_case = 4;

/// What decides whether two cases read the same data.
std::vector<std::string> data_of(const Case& which) {
  std::vector<std::string> words{which.benchmark};
  if (const Enrolled* known = find_benchmark(which.benchmark)) {
    const auto& benchmark = known->benchmark;
    const std::size_t count = std::min(benchmark.data_axes, benchmark.axes.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = which.params.find(benchmark.axes[i].name);
      words.push_back(found == which.params.end() ? std::string{} : found->second);
    }
  }
  return words;
}

/// What a benchmark wants of what the source was opened with.
std::vector<std::string> sets_of(const std::string& benchmark,
                                 const std::vector<std::string>& opened) {
  const auto wanted =
      selection_of({counters_auto}, wanted_counter_sets(std::span{&benchmark, 1}, benchmarks()));
  std::vector<std::string> sets;
  std::ranges::copy_if(wanted.wanted, std::back_inserter(sets), [&](const std::string& name) {
    return std::ranges::find(opened, name) != opened.end();
  });
  return sets;
}

/// The source that a case sees: it hands its ranges to the session, or what they counted back.
class BatchedSource final : public CounterSource {
 public:
  BatchedSource(const CounterSource& source, CounterPasses& passes)
      : source_{source}, passes_{passes} {}

  /// The case that runs next, by its place in the batch.
  void turn_to(std::size_t index) { index_ = index; }
  void deliver(std::map<std::string, Counts, std::less<>> results) {
    results_ = std::move(results);
  }

  [[nodiscard]] const CounterPlan& plan() const override { return source_.plan(); }
  void attach() override {}

  [[nodiscard]] std::optional<std::vector<Counts>> count(
      std::span<const CountedRange> ranges) override {
    if (ranges.size() > most_ranges_of_a_case) {
      throw std::logic_error{fmt::format("a case counts {} ranges; {} are the most", ranges.size(),
                                         most_ranges_of_a_case)};
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
        throw std::runtime_error{fmt::format("the profiler counted no range '{}', only {} others",
                                             name_of(range), results_->size())};
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

class Batch {
 public:
  Batch(const std::vector<Case>& cases, const Plan& plan, Device& device, Cache& cache,
        CounterSource& source, const BatchEvents& events)
      : cases_{cases},
        plan_{plan},
        device_{device},
        cache_{cache},
        passes_{*source.passes()},
        source_{source, passes_},
        events_{events} {}

  void count() {
    try {
      passes_.begin(cases_.size() * most_ranges_of_a_case);
      do {
        passes_.begin_pass();
        for (std::size_t i = 0; i < cases_.size() && !stopped(); ++i)
          run_in_pass(i);
        if (stopped()) return;
      } while (!passes_.end_pass());
      source_.deliver(passes_.results());
    } catch (const std::exception& error) {
      return fail_the_rest(error.what());
    }
    for (std::size_t i = 0; i < cases_.size() && !stopped(); ++i) {
      if (finished_.contains(i)) continue;
      events_.begin(cases_[i]);
      finish(i, run(i).value());
    }
  }

 private:
  [[nodiscard]] bool stopped() const { return passes_.broken() || events_.stop(); }

  /// Nothing while the case's counts are still to come.
  std::optional<CaseRecord> run(std::size_t index) {
    source_.turn_to(index);
    const Counting counting{.source = &source_, .note = {}};
    return run_case_or_wait(cases_[index], plan_, device_, cache_, counting);
  }

  void run_in_pass(std::size_t index) {
    if (finished_.contains(index)) return;
    events_.begin(cases_[index]);
    if (const auto record = run(index)) finish(index, *record);
  }

  void finish(std::size_t index, const CaseRecord& record) {
    finished_.insert(index);
    events_.end(record);
  }

  /// The session itself failed: none of its cases has counts.
  void fail_the_rest(const std::string& reason) {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (finished_.contains(i)) continue;
      CaseRecord record;
      record.which = cases_[i];
      record.phase = Phase::counting;
      record.reason = reason;
      record.started = utc_text();
      events_.begin(cases_[i]);
      finish(i, record);
    }
  }

  const std::vector<Case>& cases_;
  const Plan& plan_;
  Device& device_;
  Cache& cache_;
  CounterPasses& passes_;
  BatchedSource source_;
  const BatchEvents& events_;
  std::set<std::size_t> finished_;
};

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
                      CounterSource& source, Sets sets, const BatchEvents& events) {
  const std::vector<std::string> opened = source.plan().sets;
  for (const auto& batch : batches_of(cases)) {
    if (events.stop() || source.passes()->broken()) return;
    if (sets == Sets::of_benchmark) source.narrow(sets_of(batch.front().benchmark, opened));
    Batch{batch, plan, device, cache, source, events}.count();
  }
}

}  // namespace strata
