#include "harness/measure/phases.hpp"

#include "harness/measure/session.hpp"
#include "harness/record/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cxxabi.h>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>

namespace strata {
namespace {

constexpr double nano = 1e-9;
constexpr int traced_samples = 7;  // the fewest with an interval, plus one

/// "void a::(anonymous namespace)::f<(b::c)0>(d, e)" → "f".
std::string function_in(std::string text) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (auto at = text.find(unnamed); at != std::string::npos; at = text.find(unnamed))
    text.erase(at, unnamed.size());
  std::string plain;  // outside all brackets
  int depth = 0;
  for (const char c : text) {
    if (c == '(' && depth == 0) break;
    if (c == '<' || c == '(') ++depth;
    if (depth == 0) plain += c;
    if (c == '>' || c == ')') --depth;
  }
  const auto before = plain.find_last_of(": ");
  return before == std::string::npos ? plain : plain.substr(before + 1);
}

std::string name_of(const Activity& one) {
  switch (one.of) {
    case Activity::Of::fill:
      return fill_name;
    case Activity::Of::copy_within:
      return copy_within_name;
    default:
      return kernel_function(one.kernel);
  }
}

/// Nothing for a kernel without a declared phase.
std::optional<StepPhase> phase_of(const Activity& one, std::span<const KernelPhase> kernels) {
  if (one.of == Activity::Of::host) return one.host;
  if (one.of == Activity::Of::copy_in) return StepPhase::copy_in;
  if (one.of == Activity::Of::copy_out) return StepPhase::copy_out;
  const auto found = std::ranges::find(kernels, name_of(one), &KernelPhase::function);
  if (found == kernels.end()) return std::nullopt;
  return found->phase;
}

/// The queued work according to the records; only those copies that are `counted`.
template <class Counted>
Queued queued_in(std::span<const Activity> records, const Counted& counted) {
  Queued all;
  std::set<std::uint64_t> graph_launches;
  for (const Activity& one : records) {
    if (one.of == Activity::Of::kernel || one.of == Activity::Of::fill) {
      if (one.graph_launch == 0 || graph_launches.insert(one.graph_launch).second)
        all.launches += one.count;
    }
    if (!counted(one.of)) continue;
    all.copies += one.count;
    all.bytes += one.bytes;
  }
  return all;
}

/// A record as an interval of the sample.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool on_host = false;
  StepPhase phase = StepPhase::idle;
};

/// Priority if several run at once.
bool goes_before(const Stretch& one, const Stretch& other) {
  return std::pair{!one.on_host, one.begin} > std::pair{!other.on_host, other.begin};
}

/// Adds nanoseconds by phase. Between two consecutive ends of intervals, the same ones run.
void add_up(const std::vector<Stretch>& stretches, Divided& all) {
  std::vector<std::int64_t> ends;
  for (const Stretch& one : stretches)
    ends.insert(ends.end(), {one.begin, one.end});
  std::ranges::sort(ends);
  std::vector<Stretch> by_begin = stretches;
  std::ranges::sort(by_begin, {}, &Stretch::begin);
  std::vector<Stretch> running;
  auto next = by_begin.begin();
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const std::int64_t from = ends[i];
    for (; next != by_begin.end() && next->begin <= from; ++next)
      running.push_back(*next);
    std::erase_if(running, [&](const Stretch& one) { return one.end <= from; });
    const auto first = std::ranges::min_element(running, goes_before);
    if (first == running.end()) continue;
    all.nanoseconds[static_cast<std::size_t>(first->phase)] += ends[i + 1] - from;
    if (first->on_host) all.on_host[static_cast<std::size_t>(first->phase)] += ends[i + 1] - from;
  }
}

std::vector<double> series(std::span<const Divided> samples,
                           const std::function<double(const Divided&)>& value) {
  std::vector<double> all;
  std::ranges::transform(samples, std::back_inserter(all), value);
  return all;
}

}  // namespace

double Divided::seconds() const {
  return static_cast<double>(std::reduce(nanoseconds.begin(), nanoseconds.end())) * nano;
}

void Divided::take_out(double added) {
  const std::int64_t whole = std::max<std::int64_t>(std::llround(added / nano), 0);
  std::int64_t left = whole;
  const auto take = [&](std::size_t phase, std::int64_t most) {
    const std::int64_t taken = std::min(most, left);
    nanoseconds[phase] -= taken;
    left -= taken;
    return taken;
  };
  constexpr auto idle = static_cast<std::size_t>(StepPhase::idle);
  take(idle, nanoseconds[idle]);
  const auto work = static_cast<double>(std::reduce(on_host.begin(), on_host.end()));
  const double share = work > 0 ? std::min(static_cast<double>(left) / work, 1.0) : 0;
  for (std::size_t p = 0; p < step_phases; ++p)
    on_host[p] -= take(p, std::llround(share * static_cast<double>(on_host[p])));
  recording = static_cast<double>(whole - left) * nano;
}

std::string kernel_function(const std::string& linker_name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text{
      abi::__cxa_demangle(linker_name.c_str(), nullptr, nullptr, &status), &std::free};
  return function_in(text ? std::string{text.get()} : linker_name);
}

Divided divide(std::span<const Activity> records, std::span<const KernelPhase> kernels,
               double seconds) {
  Divided all;
  using Of = Activity::Of;
  all.queued = queued_in(records, [](Of of) { return of == Of::copy_in || of == Of::copy_out; });
  all.queued_in = queued_in(records, [](Of of) { return of == Of::copy_in; });
  std::int64_t last = 0;
  for (const Activity& one : records)
    last = std::max(last, one.end);
  const std::int64_t whole = std::llround(seconds / nano);
  const std::int64_t first = last - whole;
  std::vector<Stretch> stretches;
  for (const Activity& one : records) {
    const auto phase = phase_of(one, kernels);
    if (!phase) {
      if (const auto name = name_of(one); std::ranges::find(all.unknown, name) == all.unknown.end())
        all.unknown.push_back(name);
      continue;
    }
    const std::int64_t before = std::clamp(first - one.begin, std::int64_t{0}, one.end - one.begin);
    if (one.of != Of::host) all.outside += static_cast<double>(before) * nano;
    if (one.end > std::max(first, one.begin))
      stretches.push_back({std::max(first, one.begin), one.end, one.of == Of::host, *phase});
  }
  add_up(stretches, all);
  all.nanoseconds[static_cast<std::size_t>(StepPhase::idle)] +=
      whole - std::reduce(all.nanoseconds.begin(), all.nanoseconds.end());
  return all;
}

Gate phases_gate(std::span<const Divided> samples, double steps,
                 std::span<const double> timed_steps) {
  constexpr double brief = 1e-3;
  Gate gate{"phases", Verdict::failed, {}};
  for (const Divided& one : samples) {
    if (one.unknown.empty()) continue;
    gate.detail = fmt::format("no phase is declared for {}", fmt::join(one.unknown, ", "));
    return gate;
  }
  const double step = median(series(samples, &Divided::seconds)) / steps;
  const double recording =
      median(series(samples, [](const Divided& one) { return one.recording; })) / steps;
  const double outside = median(series(samples, [](const Divided& one) { return one.outside; }));
  if (timed_steps.empty()) {
    return {"phases", Verdict::unverified, "the timed step is unknown"};
  }
  const auto [least, greatest] = std::ranges::minmax(timed_steps);
  const double timed_step = std::clamp(step, least, greatest);
  const double most = timed_step < brief ? brief_phases_bound : phases_bound;
  const double off = std::max(std::abs(step / timed_step - 1), outside / steps / timed_step);
  if (off <= most) gate.verdict = Verdict::passed;
  gate.detail = fmt::format(
      "phases and idle time add up to {:.4g} s per step, {:.3f} of the timed step (bound {:g} %), "
      "for which visits took {:.4g} to {:.4g} s; records outside the sample: {:.2g} s; recording "
      "took "
      "{:.2g} s, which are left out",
      step, step / timed_step, 100 * most, least, greatest, outside / steps, recording);
  return gate;
}

void trace_phases(Session& session, Tracer& tracer, const TracePlan& plan,
                  const std::function<void()>& prepare) {
  const auto ready = [&] {
    if (prepare) prepare();
  };
  const auto take = [&] {
    ready();
    return plan.run();
  };
  for (int i = 0; i < session.plan().warmups; ++i)
    take();
  std::vector<double> alone(tracer.slows() ? traced_samples : 0);
  std::ranges::generate(alone, take);
  const double unrecorded = tracer.slows() ? median(alone) : 0;
  std::vector<Divided> samples;
  for (int i = 0; i < traced_samples; ++i) {
    if (tracer.slows()) {
      tracer.begin();
      take();  // because the start of a profiler empties the caches
    }
    ready();
    tracer.begin();
    const double seconds = plan.run();
    samples.push_back(divide(tracer.end(), plan.kernels, seconds));
    if (tracer.slows()) samples.back().take_out(seconds - unrecorded);
  }
  if (const std::size_t wrong = plan.different ? plan.different() : 0; wrong != 0) {
    throw std::runtime_error{fmt::format("{} results of a traced sample are wrong", wrong)};
  }
  const auto add = [&](const std::string& quantity, const char* unit, Provenance provenance,
                       const std::function<double(const Divided&)>& value) {
    Measurement m{
        .quantity = quantity,
        .unit = unit,
        .provenance = provenance,
        .method = tracer.method(),
        .samples = series(samples, [&](const Divided& one) { return value(one) / plan.steps; })};
    if (std::ranges::all_of(m.samples, [](double x) { return x == 0; })) return;
    session.add_unrepeated(std::move(m), "traced: gate phases judges the sum of all phases");
  };
  for (std::size_t p = 0; p < step_phases; ++p) {
    const auto phase = static_cast<StepPhase>(p);
    add(fmt::format("phase_{}", to_string(phase)), "s", Provenance::timed,
        [=](const Divided& one) { return one.of(phase); });
  }
  session.add(phases_gate(samples, plan.steps, session.timed_steps()));
  if (!plan.queued) return;
  const auto count = [&](const char* quantity, const char* unit, auto value) {
    add(quantity, unit, Provenance::counted,
        [=](const Divided& one) { return static_cast<double>(value(one)); });
  };
  count("copies_in", "1", [](const Divided& one) { return one.queued_in.copies; });
  count("copied_in_bytes", "B", [](const Divided& one) { return one.queued_in.bytes; });
  count("copies", "1", [](const Divided& one) { return one.queued.copies; });
  count("copied_bytes", "B", [](const Divided& one) { return one.queued.bytes; });
  count("launches", "1", [](const Divided& one) { return one.queued.launches; });
  const Queued& wanted = *plan.queued;
  const Queued& seen = samples.back().queued;
  const auto number = [](auto value) { return static_cast<double>(value); };
  session.as_predicted(
      std::vector<ComparedCount>{{"copies", number(seen.copies), number(wanted.copies)},
                                 {"bytes copied", number(seen.bytes), number(wanted.bytes)},
                                 {"launches", number(seen.launches), number(wanted.launches)}});
}

}  // namespace strata
