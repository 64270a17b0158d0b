// How fast is a run recorded and read back? 100 cases of 8 quantities with 15 samples each.
#include "harness/record/run_folder.hpp"
#include "tests/host/temporary_folder.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace strata {
namespace {

constexpr std::size_t cases = 100;
constexpr std::size_t quantities = 8;
constexpr std::size_t samples = 15;

std::vector<CaseRecord> make_records() {
  std::vector<CaseRecord> records;
  for (std::size_t c = 0; c < cases; ++c) {
    CaseRecord record{.which = {"micro", "probe", Backend::host, {{"index", std::to_string(c)}}},
                      .status = Status::measured,
                      .started = utc_text(),
                      .facts = {{"window", std::string{"slowest writer"}}},
                      .gates = {{"result", Verdict::passed, "4096 sums against the host's"}}};
    for (std::size_t q = 0; q < quantities; ++q) {
      Measurement m{.quantity = "quantity_" + std::to_string(q), .unit = "s", .method = "tsc"};
      for (std::size_t s = 0; s < samples; ++s)
        m.samples.push_back(1 / static_cast<double>(1 + c + q + s));
      m.noise = {"noise", Verdict::passed, "half-width 0.10 % of the median (bound 1.00 %)"};
      record.measurements.push_back(std::move(m));
    }
    records.push_back(std::move(record));
  }
  return records;
}

RunFolder write_run(const std::filesystem::path& parent, const std::vector<CaseRecord>& records) {
  RunContext context;
  context.device.slug = "a-cpu";
  for (const CaseRecord& record : records)
    context.sweep.cases.push_back(record.which.id());
  RunFolder folder = RunFolder::create(parent, std::move(context));
  for (const CaseRecord& record : records)
    folder.append(record);
  (void)folder.finish(RunState::complete, {});
  return folder;
}

void run_is_written(benchmark::State& state) {
  const auto records = make_records();
  std::ptrdiff_t lines = 0;
  for (auto _ : state) {
    const TemporaryFolder parent;
    std::ifstream rows{write_run(parent.path(), records).path() / "measurements.csv"};
    lines = std::count(std::istreambuf_iterator<char>{rows}, {}, '\n');
  }
  if (lines != 1 + std::ptrdiff_t{cases * quantities}) {
    state.SkipWithError("measurements.csv has not a line for each quantity");
  }
}
BENCHMARK(run_is_written)->UseRealTime();

void run_is_read(benchmark::State& state) {
  const auto records = make_records();
  const TemporaryFolder parent;
  const RunFolder folder = write_run(parent.path(), records);
  std::vector<CaseRecord> found;
  for (auto _ : state)
    found = read_samples(folder.path() / "samples.jsonl", folder.context().sweep.cases);
  if (found.size() != cases ||
      found.back().measurements.back().samples != records.back().measurements.back().samples) {
    state.SkipWithError("the samples are not those that were written");
  }
}
BENCHMARK(run_is_read)->UseRealTime();

void rows_are_derived(benchmark::State& state) {
  const TemporaryFolder parent;
  RunFolder folder = write_run(parent.path(), make_records());
  RunCounts counts;
  for (auto _ : state)
    counts = folder.write_measurements();
  if (counts.valid_rows != cases * quantities) state.SkipWithError("not every row is valid");
}
BENCHMARK(rows_are_derived)->UseRealTime();

}  // namespace
}  // namespace strata
