#include "harness/access/command/access_record.hpp"

#include "harness/base/text.hpp"
#include "harness/case/case_word.hpp"
#include "harness/record/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace strata::access {
namespace {

using ptx::Space;

constexpr const char* suite = "access";
constexpr const char* of_access = "kernel_access";
constexpr const char* of_launch = "kernel_launch";
constexpr const char* model_gate = "model";

/// The name without parameters and return type: "void scale<4>(float*)" is "scale<4>".
std::string_view without_parameters(std::string_view name) {
  if (name.ends_with(')')) {
    std::size_t at = name.size();
    int depth = 0;
    do {
      --at;
      depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    } while (at > 0 && depth > 0);
    if (at > 0 && depth == 0) name = name.substr(0, at);
  }
  constexpr std::string_view returned = "void ";
  return name.starts_with(returned) ? name.substr(returned.size()) : name;
}

/// Gives each text its own word; a word that is already taken gets a number appended.
class Words {
 public:
  std::string of(std::string_view text) {
    const std::string word = case_word(text);
    std::string free = word;
    for (int next = 2; !taken_.insert(free).second; ++next)
      free = fmt::format("{}-{}", word, next);
    return free;
  }

 private:
  std::set<std::string> taken_;
};

/// "inlined.cu-35+40": the line, then those into which it was inlined.
std::string line_word(const Row& row) {
  if (row.places.empty()) return fmt::format("PTX-{}", row.ptx_line);
  const Place& own = row.places.front();
  std::string text =
      fmt::format("{}-{}", std::filesystem::path{own.file}.filename().string(), own.line);
  for (std::size_t p = 1; p < row.places.size(); ++p)
    text += fmt::format("+{}", row.places[p].line);
  return case_word(text);
}

Facts facts_of(const KernelReport& kernel, const ExactTraffic& exact) {
  return {{"input", one_line(kernel.input)},
          {"target", kernel.target},
          {"kernel", one_line(kernel.name)},
          {"launch_file", one_line(kernel.launches[exact.launch].file)},
          {"lanes", static_cast<std::int64_t>(exact.access.lanes)},
          {"outside", static_cast<std::int64_t>(exact.access.outside)}};
}

Facts facts_of(const Row& row, const ExactTraffic& exact) {
  Facts facts{{"ptx_line", std::int64_t{row.ptx_line}},
              {"kind", std::string{name_of(exact.access.kind)}},
              {"bytes_of_lane", std::int64_t{exact.access.width}},
              {"verdict", std::string{access::name_of(row.proof.verdict)}}};
  if (!row.places.empty()) {
    facts.emplace("source", one_line(row.places.front().file));
    facts.emplace("source_line", std::int64_t{row.places.front().line});
  }
  if (!row.proof.address.empty()) facts.emplace("address", row.proof.address);
  return facts;
}

/// Sums what both accesses move: exact, and counted if both were.
void add(ExactTraffic& all, const ExactTraffic& one) {
  Access& sum = all.access;
  sum.warps += one.access.warps;
  sum.lanes += one.access.lanes;
  for (std::size_t g = 0; g < sum.traffic.size(); ++g) {
    sum.traffic[g].requests += one.access.traffic[g].requests;
    sum.traffic[g].sectors += one.access.traffic[g].sectors;
  }
  sum.ideal_sectors += one.access.ideal_sectors;
  sum.wavefronts += one.access.wavefronts;
  sum.ideal_wavefronts += one.access.ideal_wavefronts;
  sum.outside += one.access.outside;
  if (sum.is_exact() && !one.access.is_exact()) {
    sum.doubt = one.access.doubt;
    sum.doubtful = one.access.doubtful;
    all.hidden_by = one.hidden_by;
  }
  if (!one.counted) {
    all.counted.reset();
    if (all.not_counted.empty()) all.not_counted = one.not_counted;
  }
  if (!all.counted) return;
  *all.counted += *one.counted;
}

Measurement one(const char* quantity, const char* unit, Provenance provenance,
                std::string_view method, std::uint64_t value) {
  return {.quantity = quantity,
          .unit = unit,
          .provenance = provenance,
          .method = std::string{method},
          .samples = {static_cast<double>(value)}};
}

std::vector<Measurement> predictions(const Access& access, std::size_t generation) {
  const auto row = [&](const char* quantity, const char* unit, std::uint64_t value) {
    return one(quantity, unit, Provenance::modelled, method_of(access), value);
  };
  if (access.space == Space::shared) {
    return {row("requests", "request", access.warps),
            row("wavefronts", "wavefront", access.wavefronts),
            row("ideal_wavefronts", "wavefront", access.ideal_wavefronts)};
  }
  const Traffic& traffic = access.traffic.at(generation);
  return {row("requests", "request", traffic.requests), row("sectors", "sector", traffic.sectors),
          row("ideal_sectors", "sector", access.ideal_sectors)};
}

std::string_view moved_metric(Space space) {
  if (space == Space::shared) return sass::wavefronts;
  return space == Space::local ? sass::local_sectors : sass::sectors;
}

std::vector<Measurement> counts(Space space, const CountedAccess& counted) {
  const auto row = [](const char* quantity, const char* unit, std::string_view method,
                      std::uint64_t value) {
    return one(quantity, unit, Provenance::counted, method, value);
  };
  std::vector<Measurement> rows{row("executed", "instruction", sass::executed, counted.executed)};
  const bool is_shared = space == Space::shared;
  rows.push_back(row(is_shared ? "wavefronts" : "sectors", is_shared ? "wavefront" : "sector",
                     moved_metric(space), moved_in(space, counted)));
  if (!is_shared && space != Space::local)
    rows.push_back(row("tags", "1", sass::tags, counted.tags));
  return rows;
}

/// For the whole kernel, in which ptxas may have merged or removed accesses.
Measurement of_optimised(Space space, const CountedAccess& counted) {
  const bool is_shared = space == Space::shared;
  return one(is_shared ? "optimised_wavefronts" : "optimised_sectors",
             is_shared ? "wavefront" : "sector", Provenance::counted, moved_metric(space),
             moved_in(space, counted));
}

/// Why an access has no prediction; empty if it has one.
std::string unpredicted(const ExactTraffic& exact, std::size_t generation) {
  if (!exact.access.is_exact()) return doubt_text(exact);
  if (exact.predicted(generation)) return {};
  return fmt::format("accesses to {} memory are not modelled", name_of(exact.access.space));
}

std::string uncounted(const KernelReport& kernel, const ExactTraffic& exact) {
  if (exact.not_counted.empty()) return kernel.launches[exact.launch].not_counted;
  return "not counted: " + one_line(exact.not_counted);
}

/// Adds the prediction.
CaseRecord predicted(const KernelReport& kernel, const ExactTraffic& exact, std::size_t generation,
                     CaseRecord record) {
  const std::string why_not = unpredicted(exact, generation);
  record.facts.merge(facts_of(kernel, exact));
  if (!why_not.empty()) {
    if (!exact.counted) {
      record.status = Status::skipped;
      record.reason = one_line(why_not);
      return record;
    }
    record.status = Status::measured;
    record.gates.push_back({model_gate, strata::Verdict::not_applicable, one_line(why_not)});
    return record;
  }
  record.status = Status::measured;
  record.gates.push_back({model_gate, strata::Verdict::unverified,
                          exact.counted ? "counted by another process" : uncounted(kernel, exact)});
  record.measurements = predictions(exact.access, generation);
  return record;
}

/// Adds what a device counted.
CaseRecord counted(const ExactTraffic& exact, std::size_t generation, CaseRecord record) {
  record.phase = Phase::counting;
  record.status = Status::measured;
  record.measurements = counts(exact.access.space, *exact.counted);
  const auto expected = exact.predicted(generation);
  Gate gate{model_gate, strata::Verdict::not_applicable, one_line(unpredicted(exact, generation))};
  if (expected) {
    gate.verdict =
        exact.is_as_predicted(generation) ? strata::Verdict::passed : strata::Verdict::failed;
    gate.detail = fmt::format("{} {} counted, {} predicted", *exact.moved(),
                              unit_of(exact.access.space), *expected);
  }
  record.gates.push_back(std::move(gate));
  return record;
}

}  // namespace

std::vector<CaseRecord> records_of(const Report& report, Backend backend) {
  const std::size_t generation = newest_of(report);
  const std::string now = utc_text();
  std::vector<CaseRecord> records;
  std::vector<CaseRecord> counting;
  const auto record = [&](const KernelReport& kernel, const ExactTraffic& exact,
                          const CaseRecord& begun) {
    records.push_back(predicted(kernel, exact, generation, begun));
    if (!exact.counted) return;
    counting.push_back(counted(exact, generation, begun));
    const auto& optimised = kernel.launches[exact.launch].optimised;
    if (optimised && begun.which.benchmark == of_launch) {
      counting.back().measurements.push_back(of_optimised(exact.access.space, *optimised));
    }
  };
  Words kernels;
  for (const auto& kernel : report.kernels) {
    const std::string kernel_word = kernels.of(without_parameters(kernel.name));
    Words launches;
    std::vector<std::string> launch_words;
    for (const auto& launch : kernel.launches)
      launch_words.push_back(launches.of(std::filesystem::path{launch.file}.stem().string()));
    const auto begun = [&](const char* benchmark, const ExactTraffic& exact) {
      return CaseRecord{.which = {.suite = suite,
                                  .benchmark = benchmark,
                                  .backend = backend,
                                  .params = {{"kernel", kernel_word},
                                             {"launch", launch_words[exact.launch]},
                                             {"space", std::string{name_of(exact.access.space)}}}},
                        .started = now,
                        .seconds = 0,
                        .facts = {}};
    };
    std::map<std::tuple<std::size_t, std::string, std::string, Space>, int> times;
    std::map<std::pair<std::size_t, Space>, ExactTraffic> whole;
    for (const auto& row : kernel.rows) {
      for (const auto& exact : row.exact) {
        const std::string line = line_word(row.row);
        const std::string opcode = case_word(row.row.opcode);
        const int nth = ++times[{exact.launch, line, opcode, exact.access.space}];
        CaseRecord begin = begun(of_access, exact);
        begin.which.params.insert(
            {{"instruction", opcode}, {"line", line}, {"nth", std::to_string(nth)}});
        begin.facts = facts_of(row.row, exact);
        record(kernel, exact, begin);
        const auto [all, is_first] = whole.try_emplace({exact.launch, exact.access.space}, exact);
        if (!is_first) add(all->second, exact);
      }
    }
    std::vector<double> seconds;  // a launch is evaluated as a whole
    for (const auto& launch : kernel.launches)
      seconds.push_back(launch.seconds);
    for (const auto& [place, exact] : whole) {
      CaseRecord begin = begun(of_launch, exact);
      begin.seconds = std::exchange(seconds[exact.launch], 0);
      record(kernel, exact, begin);
    }
  }
  std::ranges::move(counting, std::back_inserter(records));
  return records;
}

std::vector<CountedQuantity> counted_quantities() {
  const auto quantity = [](const char* name, std::string_view metric, const char* unit,
                           const char* meaning) {
    return CountedQuantity{.name = name,
                           .metric = std::string{metric},
                           .unit = unit,
                           .meaning = meaning,
                           .set = {},
                           .additive = true};
  };
  return {quantity("executed", sass::executed, "instruction", "executions by warps"),
          quantity("sectors", sass::sectors, "sector", "sectors of global memory"),
          quantity("tags", sass::tags, "1", "tag lookups of global accesses in L1"),
          quantity("wavefronts", sass::wavefronts, "wavefront", "wavefronts of shared memory"),
          quantity("sectors", sass::local_sectors, "sector", "sectors of local memory"),
          quantity("optimised_sectors", sass::sectors, "sector", "sectors of the optimised kernel"),
          quantity("optimised_wavefronts", sass::wavefronts, "wavefront",
                   "wavefronts of the optimised kernel"),
          quantity("optimised_sectors", sass::local_sectors, "sector",
                   "sectors of the optimised kernel, including spilled registers")};
}

std::vector<Benchmark> declarations_of(const std::vector<CaseRecord>& records) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;
  for (const auto& record : records) {
    for (const auto& [axis, value] : record.which.params)
      values[record.which.benchmark][axis].insert(value);
  }
  const std::vector<Quantity> quantities{
      {"requests", "executions by warps with an active lane"},
      {"sectors", "32-byte sectors that these requests move"},
      {"ideal_sectors", "minimum number of sectors for the requested bytes"},
      {"wavefronts", "wavefronts of shared memory"},
      {"ideal_wavefronts", "minimum number of wavefronts for the requested bytes"},
      {"executed", "executions by warps, with and without active lanes"},
      {"tags", "tag lookups in L1"},
      {"optimised_sectors", "sectors of the optimised kernel"},
      {"optimised_wavefronts", "wavefronts of the optimised kernel"}};
  const std::map<std::string, std::string> meanings{
      {"kernel", "its name"},
      {"launch", "the launch file"},
      {"line", "source line, followed by the lines that it was inlined into"},
      {"instruction", "PTX instruction"},
      {"space", "of memory"},
      {"nth", "number among equal instructions of a line"}};
  std::vector<Benchmark> declared;
  for (const auto& [name, axes] : values) {
    Benchmark one{.suite = suite,
                  .name = name,
                  .question = name == of_access
                                  ? "What does each access of a kernel ask of memory in a launch?"
                                  : "What do all accesses of a launch ask of memory?",
                  .quantities = quantities};
    for (const auto& [axis, found] : axes) {
      const std::vector<std::string> words{found.begin(), found.end()};
      one.axes.push_back(
          {.name = axis, .meaning = meanings.at(axis), .choices = words, .defaults = words});
    }
    declared.push_back(std::move(one));
  }
  return declared;
}

}  // namespace strata::access
