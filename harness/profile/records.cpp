#include "harness/profile/records.hpp"

#include "harness/base/demangle.hpp"
#include "harness/base/text.hpp"
#include "harness/case/case_word.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace strata::profile {
namespace {

constexpr const char* timeline = "device_timeline";
constexpr const char* copies = "memory_copies";
constexpr const char* method = "cupti_activity";
constexpr double per_second = 1e9;

double seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / per_second;
}

/// A kernel's name in its parts: "a::triad" and "<float, 4>" of "void a::triad<float, 4>(float*)".
std::pair<std::string, std::string> name_and_template(std::string text) {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  for (std::size_t at = 0; (at = text.find(anonymous)) != std::string::npos;)
    text.replace(at, anonymous.size(), "anonymous");
  int depth = 0;
  std::size_t begin = 0;
  std::size_t end = text.size();
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '<' ? 1 : text[at] == '>' ? -1 : 0;
    if (depth != 0) continue;
    if (text[at] == ' ') begin = at + 1;
    if (text[at] == '(') {
      end = at;
      break;
    }
  }
  if (begin > end) begin = 0;
  const std::string head = text.substr(begin, end - begin);
  const auto opening = std::min(head.find('<'), head.size());
  if (opening == 0) return {text, ""};
  return {head.substr(0, opening), head.substr(opening)};
}

/// The name of a benchmark: lower case, words joined by underscores, beginning with a letter.
std::string benchmark_name(std::string_view kernel) {
  std::string name;
  for (const char c : kernel) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_'))
    name.pop_back();
  constexpr std::size_t longest = 100;
  if (name.size() > longest) name.resize(longest);
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 ? name
                                                                                      : "x_" + name;
}

std::string size_text(const std::array<unsigned, 3>& size) {
  return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

Measurement row(const char* quantity, const char* unit, std::vector<double> samples,
                Provenance provenance = Provenance::timed) {
  return {.quantity = quantity,
          .unit = unit,
          .provenance = provenance,
          .method = method,
          .samples = std::move(samples)};
}

std::vector<Measurement> rows_of(const Durations& times, const char* each) {
  std::vector<double> samples;
  for (const auto& sample : times.samples())
    samples.push_back(seconds(sample.duration));
  return {row(each, "s", std::move(samples)), row("total_time", "s", {seconds(times.total())}),
          row("launches", "1", {static_cast<double>(times.count())}, Provenance::reported)};
}

Facts facts_of(const Durations& times) {
  return {{"launches", static_cast<std::int64_t>(times.count())},
          {"minimum_seconds", seconds(times.least())},
          {"maximum_seconds", seconds(times.most())}};
}

CaseRecord measured(Case which, const Durations& times, const char* each,
                    const std::string& started) {
  CaseRecord record{.which = std::move(which),
                    .status = Status::measured,
                    .started = started,
                    .seconds = seconds(times.total()),
                    .facts = facts_of(times)};
  record.measurements = rows_of(times, each);
  return record;
}

/// The counted launches of a shape.
std::vector<const CountedLaunch*> counted_launches(const DeviceProfile& profile,
                                                   const KernelShape& shape) {
  std::vector<const CountedLaunch*> found;
  if (profile.counts == nullptr) return found;
  for (const CountedLaunch& launch : profile.counts->counted) {
    if (launch.device == profile.device && launch.shape == shape) found.push_back(&launch);
  }
  return found;
}

/// The durations that counted launches had in the run without counters, in the order of the counts;
/// without samples if one is unknown. Launches of one shape may do different work, and launches of
/// several streams may come in another order: the durations while counting show it.
Measurement paired_times(const DeviceProfile& profile, const KernelShape& shape,
                         const Launches& launches) {
  // Counting made kernels of 10 us and more at most 8 % slower, on an H200.
  constexpr double bound = 0.3;
  constexpr double slack = 3e-6;  // seconds
  Measurement times = row("paired_time", "s", {});
  for (const CountedLaunch* const launch : counted_launches(profile, shape)) {
    const auto sample =
        std::ranges::find(launches.times.samples(), launch->ordinal, &Durations::Sample::ordinal);
    if (sample == launches.times.samples().end()) return row("paired_time", "s", {});
    const double time = seconds(sample->duration);
    times.samples.push_back(time);
    const auto& metrics = profile.counts->metrics;
    const auto place = std::ranges::find(metrics, "gpu__time_duration.sum");
    if (place == metrics.end()) continue;
    const double counting =
        launch->values[static_cast<std::size_t>(place - metrics.begin())] / per_second;
    if (std::abs(counting - time) <= bound * time + slack || std::isnan(counting)) continue;
    times.noise.verdict = Verdict::failed;
    times.noise.detail = fmt::format(
        "a launch took {:.3g} s while it was counted, and {:.3g} s in "
        "the run without counters: it may not be the same",
        counting, time);
  }
  return times;
}

/// The counts of the launches of a shape, launch by launch.
std::vector<Measurement> counts_of(const DeviceProfile& profile, const KernelShape& shape,
                                   const CounterPlan& plan) {
  const Part& part = *profile.counts;
  std::vector<Measurement> rows;
  for (const CountedQuantity& quantity : plan.quantities) {
    const auto place = std::ranges::find(part.metrics, quantity.metric);
    if (place == part.metrics.end()) continue;
    Measurement one{.quantity = quantity.name,
                    .unit = quantity.unit,
                    .provenance = Provenance::counted,
                    .method = quantity.metric};
    for (const CountedLaunch* const launch : counted_launches(profile, shape)) {
      const double value = launch->values[static_cast<std::size_t>(place - part.metrics.begin())];
      if (std::isfinite(value)) one.samples.push_back(value);
    }
    if (!one.samples.empty()) rows.push_back(std::move(one));
  }
  return rows;
}

double sum_of(const std::vector<Measurement>& rows, std::string_view quantity) {
  const auto row = std::ranges::find(rows, quantity, &Measurement::quantity);
  if (row == rows.end()) return std::nan("");
  return std::accumulate(row->samples.begin(), row->samples.end(), 0.0);
}

/// Judges what depends on the caches before a pass. A launch is counted in several passes, between
/// which CUPTI restores the memory that the kernel writes: loads that hit in one pass may miss in
/// another one, and lines that were restored are written back.
void judge_replay(std::vector<Measurement>& rows, double l2_bytes) {
  // Of 51 kernels of three programs on an H200, 40 stay within 10 %, the others are off by 28 % and
  // more: their data fit into L2, and only some passes found them there.
  constexpr double bound = 0.15;
  // Beside Nsight Compute, bytes written differ by up to a third of L2; bytes read are equal if
  // they are more than L2 holds. The whole of L2 is then at most 3 %.
  constexpr double least_written = 33;
  const double sectors = sum_of(rows, "l2_load_sectors");
  const double hits = sum_of(rows, "l2_hit_sectors");
  const double misses = sum_of(rows, "l2_load_miss_sectors");
  const double off = std::abs(hits + misses - sectors) / std::max(sectors, 1.0);
  for (Measurement& row : rows) {
    const bool is_dram = row.quantity.starts_with("dram_");
    const bool is_lookup =
        row.quantity.starts_with("l2_") && (row.quantity.find("hit") != std::string::npos ||
                                            row.quantity.find("miss") != std::string::npos);
    if (!is_dram && !is_lookup) continue;
    if (!(off <= bound)) {
      row.noise.verdict = std::isnan(off) ? Verdict::unverified : Verdict::failed;
      row.noise.detail =
          std::isnan(off)
              ? "no counters show whether all passes of the replay found the same caches"
              : fmt::format(
                    "passes of the replay found different caches: L2 hits and misses are "
                    "{:.0f} % off the loads",
                    100 * off);
    } else if (is_dram) {
      const bool is_read = row.quantity == "dram_read_bytes";
      const double least = (is_read ? 1 : least_written) * l2_bytes;
      if (*std::ranges::min_element(row.samples) >= least) continue;
      row.noise.verdict = Verdict::unverified;
      row.noise.detail =
          is_read
              ? "less than L2 holds: in the program some of it may be there already"
              : fmt::format("includes up to {:.0f} MB that the replay left in L2", l2_bytes / 1e6);
    }
  }
}

CaseRecord counting_record(const DeviceProfile& profile, const KernelShape& shape,
                           const Launches& launches, const CounterPlan& plan, CaseRecord begun) {
  begun.phase = Phase::counting;
  begun.facts.clear();
  begun.measurements.clear();
  begun.seconds = 0;
  begun.status = Status::skipped;
  begun.reason = why_not_counted(shape, launches);
  const bool is_selected =
      profile.selection != nullptr && profile.selection->launches.contains(shape);
  if (begun.reason.empty() && !profile.why_no_counts.empty()) begun.reason = profile.why_no_counts;
  if (begun.reason.empty() && !is_selected) begun.reason = "it takes little of the time";
  if (!begun.reason.empty() || profile.counts == nullptr) return begun;
  begun.measurements = counts_of(profile, shape, plan);
  if (begun.measurements.empty()) {
    begun.reason = "the run that counts did not launch it, or ended before";
    return begun;
  }
  judge_replay(begun.measurements, profile.l2_bytes);
  begun.status = Status::measured;
  return begun;
}

/// The kernels of a device in the order of their total times.
std::vector<const std::pair<const KernelShape, Launches>*> by_time(const Part& part,
                                                                   unsigned device) {
  std::vector<const std::pair<const KernelShape, Launches>*> all;
  if (const auto found = part.kernels.find(device); found != part.kernels.end()) {
    for (const auto& one : found->second)
      all.push_back(&one);
  }
  std::ranges::stable_sort(all, std::greater{},
                           [](const auto* one) { return one->second.times.total(); });
  return all;
}

/// `most` of the ordinals, spread evenly. The first launch, which may load code, is among them only
/// if there are no others.
std::vector<std::uint64_t> spread(std::vector<std::uint64_t> ordinals, std::uint64_t most) {
  if (ordinals.size() > most && ordinals.front() == 1) ordinals.erase(ordinals.begin());
  std::vector<std::uint64_t> chosen;
  const std::uint64_t wanted = std::min<std::uint64_t>(ordinals.size(), most);
  for (std::uint64_t i = 0; i < wanted; ++i)
    chosen.push_back(ordinals[(2 * i + 1) * ordinals.size() / (2 * wanted)]);
  return chosen;
}

/// The launches that can be counted and whose durations are known, ascending.
std::vector<std::uint64_t> known_ordinals(const Launches& launches) {
  std::vector<std::uint64_t> ordinals;
  for (const auto& sample : launches.times.samples()) {
    if (sample.ordinal > 0) ordinals.push_back(sample.ordinal);
  }
  std::ranges::sort(ordinals);
  return ordinals;
}

Case kernel_case(const std::string& name, const KernelShape& shape) {
  const auto [bare, arguments] = name_and_template(name);
  Case which{.suite = suite,
             .benchmark = benchmark_name(bare),
             .backend = Backend::cuda,
             .params = {{"block", size_text(shape.block)}, {"grid", size_text(shape.grid)}}};
  if (!arguments.empty()) which.params["template"] = case_word(arguments);
  return which;
}

}  // namespace

std::string kernel_name(const KernelShape& shape) {
  // Names of a program that the user runs anyway: templates refer to themselves often.
  constexpr int most_references = 1000;
  return demangled(shape.kernel, most_references);
}

std::string why_not_counted(const KernelShape& shape, const Launches& launches) {
  for (const std::string_view library : {"nccl", "nvshmem"}) {
    if (shape.kernel.find(library) != std::string::npos) {
      return "it waits for other devices, so it cannot be replayed";
    }
  }
  return launches.in_graphs == launches.times.count() ? "a graph launches it" : "";
}

Selection choose(const std::vector<Part>& parts, const Choice& choice) {
  std::map<std::string, std::uint64_t> totals;  // by kernel
  struct Found {
    std::uint64_t time = 0;
    std::vector<std::uint64_t> ordinals;
  };
  std::map<KernelShape, Found> shapes;
  for (const Part& part : parts) {
    for (const auto& [device, launches] : part.kernels) {
      for (const auto& [shape, one] : launches) {
        if (!why_not_counted(shape, one).empty()) continue;
        if (choice.matches && !choice.matches(kernel_name(shape))) continue;
        totals[shape.kernel] += one.times.total();
        Found& found = shapes[shape];
        auto ordinals = known_ordinals(one);
        if (found.time > 0) {  // launches that all processes make and know, if there are any
          std::vector<std::uint64_t> common;
          std::ranges::set_intersection(found.ordinals, ordinals, std::back_inserter(common));
          ordinals = common.empty() ? std::move(found.ordinals) : std::move(common);
        }
        found.time += one.times.total();
        found.ordinals = std::move(ordinals);
      }
    }
  }
  std::vector<std::pair<std::uint64_t, std::string>> order;
  for (const auto& [kernel, total] : totals)
    order.emplace_back(total, kernel);
  std::ranges::sort(order, std::greater{});
  order.resize(std::min(order.size(), choice.top));
  Selection selection;
  for (const auto& [shape, found] : shapes) {
    constexpr std::uint64_t small_share = 100;
    const auto chosen =
        std::ranges::find(order, shape.kernel, &std::pair<std::uint64_t, std::string>::second);
    if (chosen == order.end() || found.time * small_share < chosen->first) continue;
    selection.launches[shape] = spread(found.ordinals, choice.launches);
  }
  return selection;
}

std::vector<CaseRecord> records_of(const DeviceProfile& profile, const CounterPlan& plan,
                                   const std::string& started) {
  const Part& part = *profile.times;
  std::vector<CaseRecord> records;
  std::vector<CaseRecord> counting;
  std::set<std::string> ids;
  for (const auto* one : by_time(part, profile.device)) {
    const auto& [shape, launches] = *one;
    const std::string name = kernel_name(shape);
    Case which = kernel_case(name, shape);
    // Functions that differ in their parameters only.
    for (int next = 2; !ids.insert(which.id()).second; ++next)
      which.params["overload"] = std::to_string(next);
    CaseRecord record = measured(std::move(which), launches.times, "gpu_time", started);
    record.facts.insert(
        {{"kernel", name},
         {"symbol", one_line(shape.kernel)},
         {"registers_per_thread", static_cast<std::int64_t>(launches.registers)},
         {"static_shared_bytes", static_cast<std::int64_t>(launches.static_shared)},
         {"dynamic_shared_bytes", static_cast<std::int64_t>(launches.dynamic_shared)},
         {"launches_in_graphs", static_cast<std::int64_t>(launches.in_graphs)}});
    if (auto paired = paired_times(profile, shape, launches); !paired.samples.empty())
      record.measurements.push_back(std::move(paired));
    records.push_back(record);
    counting.push_back(counting_record(profile, shape, launches, plan, std::move(record)));
  }
  const auto device_case = [](const char* benchmark, Params params) {
    return Case{.suite = suite,
                .benchmark = benchmark,
                .backend = Backend::cuda,
                .params = std::move(params)};
  };
  if (const auto found = part.copies.find(profile.device); found != part.copies.end()) {
    for (const auto& [kind, all] : found->second) {
      records.push_back(
          measured(device_case(copies, {{"kind", kind}}), all.times, "copy_time", started));
      records.back().measurements.push_back(
          row("bytes", "B", {static_cast<double>(all.bytes)}, Provenance::reported));
    }
  }
  if (const auto found = part.busy.find(profile.device); found != part.busy.end()) {
    const BusyTime& busy = found->second;
    const std::uint64_t span = busy.last() - busy.first();
    CaseRecord record{.which = device_case(timeline, {}),
                      .status = Status::measured,
                      .started = started,
                      .seconds = seconds(span)};
    record.measurements = {
        row("span", "s", {seconds(span)}), row("busy_time", "s", {seconds(busy.busy())}),
        row("idle_time", "s", {seconds(span - busy.busy())}),
        row("longest_gap", "s", {seconds(busy.longest_gap())}),
        row("gaps", "1", {static_cast<double>(busy.gaps())}, Provenance::reported)};
    record.facts = {{"process_ended", part.is_whole}};
    if (!part.notes.empty()) record.facts["notes"] = fmt::format("{}", fmt::join(part.notes, "; "));
    if (const auto others = part.others.find(profile.device); others != part.others.end()) {
      record.facts["further_launches"] = static_cast<std::int64_t>(others->second.count());
      record.facts["further_seconds"] = seconds(others->second.total());
    }
    records.push_back(std::move(record));
  }
  std::ranges::move(counting, std::back_inserter(records));
  return records;
}

std::vector<Benchmark> declarations_of(const std::vector<CaseRecord>& records,
                                       const CounterPlan& plan) {
  const std::map<std::string, std::string> meanings{
      {"block", "threads of a block"},
      {"grid", "blocks of a launch"},
      {"template", "template arguments"},
      {"overload", "number among functions of one name"},
      {"kind", "from where to where, or a fill"}};
  std::map<std::string, std::map<std::string, std::set<std::string>>> values;
  for (const auto& record : records) {
    auto& axes = values[record.which.benchmark];
    for (const auto& [axis, value] : record.which.params)
      axes[axis].insert(value);
  }
  std::vector<Quantity> of_kernel{{"gpu_time", "duration of a launch"},
                                  {"total_time", "duration of all launches"},
                                  {"launches", "number of launches"},
                                  {"paired_time",
                                   "duration of the launches that were counted, in "
                                   "the run without counters"}};
  for (const auto& one : plan.quantities)
    of_kernel.push_back({one.name, one.meaning});
  std::vector<Benchmark> declared;
  for (const auto& [name, axes] : values) {
    Benchmark one{.suite = suite,
                  .name = name,
                  .question = "How long does this kernel of a program take, and what limits it?",
                  .quantities = of_kernel};
    if (name == copies) {
      one.question = "How long do the copies and fills of a program take?";
      one.quantities = {{"copy_time", "duration of a copy"},
                        {"total_time", "duration of all copies"},
                        {"launches", "number of copies"},
                        {"bytes", "bytes of all copies"}};
    } else if (name == timeline) {
      one.question = "How long is the device of a program busy?";
      one.quantities = {{"span", "from the first operation to the end of the last one"},
                        {"busy_time", "time with an operation"},
                        {"idle_time", "time without one"},
                        {"longest_gap", "longest time without one"},
                        {"gaps", "number of times without one"}};
    }
    for (const auto& [axis, found] : axes) {
      const std::vector<std::string> words{found.begin(), found.end()};
      const auto meaning = meanings.find(axis);
      one.axes.push_back({.name = axis,
                          .meaning = meaning == meanings.end() ? axis : meaning->second,
                          .choices = words,
                          .defaults = words});
    }
    declared.push_back(std::move(one));
  }
  return declared;
}

std::vector<const Part*> matching_parts(const std::vector<Part>& times,
                                        const std::vector<Part>& counts) {
  std::map<std::string, std::vector<const Part*>> by_program;
  for (const Part& part : counts)
    by_program[part.program].push_back(&part);
  std::map<std::string, std::size_t> used;
  std::vector<const Part*> matched;
  for (const Part& part : times) {
    const auto& same = by_program[part.program];
    const std::size_t place = used[part.program]++;
    matched.push_back(place < same.size() ? same[place] : nullptr);
  }
  return matched;
}

}  // namespace strata::profile
