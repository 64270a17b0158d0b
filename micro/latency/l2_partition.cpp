#include "micro/latency/l2_partition.hpp"

#include "harness/base/error.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace strata::l2_partition {
namespace {

constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t piece = room_bytes / lines;

/// Subtracts what a whole row or a whole column has in common.
void centre(Matrix& m) {
  std::vector<double> of_row(m.rows);
  std::vector<double> of_column(m.columns);
  for (std::size_t r = 0; r < m.rows; ++r) {
    for (std::size_t c = 0; c < m.columns; ++c) {
      of_row[r] += m.row(r)[c] / static_cast<double>(m.columns);
      of_column[c] += m.row(r)[c] / static_cast<double>(m.rows);
    }
  }
  const double all =
      std::accumulate(of_row.begin(), of_row.end(), 0.0) / static_cast<double>(m.rows);
  for (std::size_t r = 0; r < m.rows; ++r) {
    for (std::size_t c = 0; c < m.columns; ++c)
      m.row(r)[c] += all - of_row[r] - of_column[c];
  }
}

/// The largest singular value and its vectors.
struct Pattern {
  double strength = 0;
  std::vector<double> rows;
  std::vector<double> columns;
};

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double normalise(std::vector<double>& v) {
  const double length = std::sqrt(product(v, v));
  if (length > 0) std::ranges::transform(v, v.begin(), [=](double x) { return x / length; });
  return length;
}

/// By power iteration. It is inexact where two patterns are equally strong, and then neither is a
/// partition.
Pattern pattern_of(const Matrix& m) {
  constexpr int turns = 24;
  Pattern result{.rows = std::vector<double>(m.rows), .columns = std::vector<double>(m.columns)};
  for (std::size_t c = 0; c < m.columns; ++c) {
    constexpr double half = 2147483648.0;
    result.columns[c] = hashed_word(static_cast<std::uint32_t>(c)) / half - 1;
  }
  for (int i = 0; i < turns; ++i) {
    for (std::size_t r = 0; r < m.rows; ++r)
      result.rows[r] = product(m.row(r), result.columns);
    (void)normalise(result.rows);
    std::ranges::fill(result.columns, 0.0);
    for (std::size_t r = 0; r < m.rows; ++r) {
      for (std::size_t c = 0; c < m.columns; ++c)
        result.columns[c] += m.row(r)[c] * result.rows[r];
    }
    result.strength = normalise(result.columns);
  }
  return result;
}

/// The cells of each row in random order.
Matrix shuffled(Matrix m, std::uint32_t& state) {
  for (std::size_t r = 0; r < m.rows; ++r) {
    for (std::size_t c = m.columns - 1; c > 0; --c)
      std::swap(m.row(r)[c], m.row(r)[hashed_word(++state) % (c + 1)]);
  }
  return m;
}

/// The stamps of a launch in the order of their SMs.
std::vector<std::size_t> by_sm(const Launched& launched) {
  std::vector<std::size_t> order(launched.stamps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return launched.stamps[i].core; });
  return order;
}

/// Cycles of a unit of work on the SM with the most.
double slowest_of(const Launched& brief, const Launched& full) {
  const auto of_brief = by_sm(brief);
  const auto of_full = by_sm(full);
  const auto cycles = [](const Stamp& stamp) {
    return static_cast<double>(stamp.cycles[1] - stamp.cycles[0]);
  };
  double slowest = 0;
  for (std::size_t i = 0; i < of_full.size(); ++i) {
    const Stamp& first = brief.stamps[of_brief[i]];
    const Stamp& second = full.stamps[of_full[i]];
    if (first.core != second.core) {
      throw std::runtime_error{"two launches ran on different SMs"};
    }
    slowest = std::max(slowest,
                       (cycles(second) - cycles(first)) / (full.length.work - brief.length.work));
  }
  return slowest;
}

/// Cycles of an access by each SM to each line, in the order of SMs, from two launches matched by
/// SM.
Inside read_cells(const Launched& brief, const Launched& full) {
  const auto of_brief = by_sm(brief);
  const auto of_full = by_sm(full);
  const double accesses = (full.length.work - brief.length.work) / lines;
  Inside seen{.slowest = slowest_of(brief, full), .hertz = median_hertz(full)};
  for (std::size_t i = 0; i < of_full.size(); ++i) {
    for (std::size_t line = 0; line < lines; ++line) {
      const double more =
          full.cells[of_full[i] * lines + line] - brief.cells[of_brief[i] * lines + line];
      seen.cells.push_back(more / accesses);
    }
  }
  seen.cycles = median(seen.cells);
  return seen;
}

/// The same for exchanges, which are all that the long launch does beyond the short one: the
/// slowest SM is computed from its cells, so that the outer timer proves them.
Inside read_exchanges(const Launched& brief, const Launched& full) {
  Inside seen = read_cells(brief, full);
  seen.slowest = 0;
  for (auto row = seen.cells.begin(); row != seen.cells.end(); row += lines)
    seen.slowest = std::max(seen.slowest, std::accumulate(row, row + lines, 0.0) / lines);
  return seen;
}

/// The same for loads after sweeps: an SM loads each of its lines once.
Inside read_evicted(const Launched& brief, const Launched& full) {
  Inside seen{.slowest = slowest_of(brief, full), .hertz = median_hertz(full)};
  std::vector<double> loaded;
  for (const std::size_t block : by_sm(full)) {
    const std::size_t row = seen.cells.size();
    seen.cells.resize(row + lines, std::numeric_limits<double>::quiet_NaN());
    for (std::uint32_t sweep = 0; sweep < full.length.rounds; ++sweep) {
      const std::uint32_t line = line_of(block, sweep);
      loaded.push_back(full.cells[block * lines + line]);
      seen.cells[row + line] = loaded.back();
    }
  }
  seen.cycles = median(loaded);
  return seen;
}

/// The cells of a slope, as medians over these samples.
Matrix matrix_of(std::span<const Sample> samples, std::size_t slope) {
  std::vector<Matrix> matrices;
  for (const Sample& sample : samples) {
    const auto& cells = sample.slopes.at(slope).inside.cells;
    matrices.push_back({.rows = cells.size() / lines, .columns = lines, .cells = cells});
  }
  return median_of(matrices);
}

/// For each SM: its median over the lines of its side, over those of the other, and the difference.
struct Sides {
  std::vector<double> near;
  std::vector<double> far;
  std::vector<double> crossing;
};
Sides sides_of(const Matrix& cycles, const Split& found) {
  Sides sides;
  for (std::size_t sm = 0; sm < cycles.rows; ++sm) {
    std::vector<double> beside;
    std::vector<double> beyond;
    for (std::size_t line = 0; line < lines; ++line) {
      const double cell = cycles.row(sm)[line];
      if (!std::isnan(cell)) (found.near(sm, line) ? beside : beyond).push_back(cell);
    }
    sides.near.push_back(median(beside));
    sides.far.push_back(median(beyond));
    sides.crossing.push_back(sides.far.back() - sides.near.back());
  }
  return sides;
}

/// The same in each sample: medians over the SMs.
Sides sides_by_sample(const std::vector<Sample>& samples, std::size_t slope, const Split& found) {
  Sides by_sample;
  for (const Sample& sample : samples) {
    const Sides sides = sides_of(matrix_of({&sample, 1}, slope), found);
    by_sample.near.push_back(median(sides.near));
    by_sample.far.push_back(median(sides.far));
    by_sample.crossing.push_back(median(sides.crossing));
  }
  return by_sample;
}

void conclude(Session& session, const std::vector<Sample>& samples) {
  const Matrix cycles = matrix_of(samples, exchanges);
  const Split found = split(cycles);
  constexpr auto timed = Provenance::timed;
  constexpr auto modelled = Provenance::modelled;
  constexpr const char* method = "double_centred_split";
  // A pattern that does not fall into two groups may be one of distances: then there is no number.
  if (found.two || found.p_value > p_bound) {
    session.add({"partitions", "1", modelled, method, {found.two ? 2.0 : 1.0}});
  }
  session.fact("p_value", found.p_value);
  session.fact("sms_apart", found.rows_apart);
  session.fact("lines_apart", found.columns_apart);
  if (!found.two) return;  // without two sides, near and far mean nothing

  const Sides sides = sides_of(cycles, found);
  std::vector<double> share;
  for (std::size_t sm = 0; sm < cycles.rows; ++sm) {
    std::size_t beside = 0;
    for (std::size_t line = 0; line < lines; ++line)
      beside += found.near(sm, line) ? 1 : 0;
    share.push_back(static_cast<double>(beside) / lines);
  }
  // SMs of one side must agree: one that reaches the other side faster belongs to neither.
  const auto contrary =
      std::ranges::count_if(sides.crossing, [](double more) { return !(more > 0); });
  session.none_of("model", static_cast<std::size_t>(contrary), cycles.rows,
                  "SMs reach the lines of the other side as fast as their own");
  const Sides of_loads = sides_of(matrix_of(samples, single_loads), found);
  std::size_t as_near = 0;
  for (std::size_t sm = 0; sm < cycles.rows; ++sm)
    as_near += of_loads.crossing[sm] >= sides.crossing[sm] / 2 ? 0 : 1;
  session.none_of("model", as_near, cycles.rows,
                  "SMs load lines of the other side as if a copy were near");
  constexpr const char* samples_are = "one sample per SM";
  session.add_unrepeated({"near_cycles", "cycle", timed, method, sides.near}, samples_are);
  session.add_unrepeated({"far_cycles", "cycle", timed, method, sides.far}, samples_are);
  session.add_unrepeated({"crossing_cycles", "cycle", timed, method, sides.crossing}, samples_are);
  const Sides of_memory = sides_of(matrix_of(samples, evicted_loads), found);
  std::size_t from_l2 = 0;
  for (std::size_t sm = 0; sm < cycles.rows; ++sm)
    from_l2 += of_memory.near[sm] > of_loads.far[sm] ? 0 : 1;
  session.none_of("model", from_l2, cycles.rows,
                  "SMs load what was evicted from L2 as fast as from L2's other side");
  const Sides load = sides_by_sample(samples, single_loads, found);
  session.add({"near_load_cycles", "cycle", timed, "single_loads", load.near});
  session.add({"far_load_cycles", "cycle", timed, "single_loads", load.far});
  session.add({"crossing_load_cycles", "cycle", timed, "single_loads", load.crossing});
  const Sides from_memory = sides_by_sample(samples, evicted_loads, found);
  session.add({"near_dram_cycles", "cycle", timed, "single_loads", from_memory.near});
  session.add({"far_dram_cycles", "cycle", timed, "single_loads", from_memory.far});
  // These describe the split and not time: they have no noise that a gate could bound.
  session.add({"near_share", "1", modelled, method, share});
  const auto right = static_cast<double>(std::ranges::count(found.row_side, true));
  const double left = static_cast<double>(cycles.rows) - right;
  session.add({"sms_of_smaller_side", "1", modelled, method, {std::min(right, left)}});
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "l2_partition",
      .question = "Is L2 one cache or two, and what does it cost to reach the other half?",
      .axes = {},
      .quantities =
          {{"partitions", "sides that lines and SMs belong to: 1 or 2"},
           {"access_cycles", "an atomic exchange in L2, median over all SMs and lines"},
           {"near_cycles",
            "an atomic exchange in lines whose home is on the SM's side; one sample per SM"},
           {"far_cycles",
            "an atomic exchange in lines whose home is on the other side; one sample per SM"},
           {"crossing_cycles", "extra cycles of an exchange on the other side, per SM"},
           {"near_load_cycles", "a load of a line whose home is on the SM's side, median over SMs"},
           {"far_load_cycles",
            "a load of a line whose home is on the other side and that has no copy on the SM's "
            "side, median over SMs"},
           {"crossing_load_cycles", "extra cycles of a load on the other side, median over SMs"},
           {"near_dram_cycles",
            "a load served by memory behind the SM's side of L2, median over SMs"},
           {"far_dram_cycles", "a load served by memory behind the other side, median over SMs"},
           {"near_share", "share of lines near an SM; one sample per SM"},
           {"sms_of_smaller_side", "SMs of the smaller side"},
           {"fabric_sectors_per_access", "counted between the halves of L2"},
           {"core_clock", "clock of the core during the work"}},
      .seconds_per_case = 0.2,
      .excludes = [](const Params&, Backend backend) -> std::optional<std::string> {
        if (backend == Backend::host) return "the caches of a CPU have no such halves";
        return std::nullopt;
      }};
}

std::vector<std::uint64_t> offsets() {
  // One line of each of `lines` equal pieces of the buffer.
  std::vector<std::uint64_t> result;
  result.reserve(lines);
  for (std::uint32_t i = 0; i < lines; ++i)
    result.push_back(i * piece + hashed_word(i) % (piece / line_bytes) * line_bytes);
  return result;
}

std::vector<std::uint64_t> offsets_beside() {
  // In the neighbouring piece, half a piece after the line there.
  const std::vector<std::uint64_t> of_lines = offsets();
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < lines; ++i) {
    const std::uint64_t other = i ^ 1U;
    result.push_back(other * piece + (of_lines[other] + piece / 2) % piece);
  }
  return result;
}

Matrix median_of(std::span<const Matrix> several) {
  Matrix result = several.front();
  std::vector<double> values(several.size());
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    std::ranges::transform(several, values.begin(), [i](const Matrix& m) { return m.cells[i]; });
    const bool all = std::ranges::none_of(values, [](double x) { return std::isnan(x); });
    result.cells[i] = all ? median(values) : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

Split split(const Matrix& cycles) {
  Split result{.row_side = std::vector<bool>(cycles.rows),
               .column_side = std::vector<bool>(cycles.columns)};
  if (std::min(cycles.rows, cycles.columns) < 4) return result;
  Matrix centred = cycles;
  centre(centred);
  const Pattern pattern = pattern_of(centred);
  if (!(pattern.strength > 0)) return result;
  constexpr int times = 199;
  constexpr double clearly = 0.95;  // one slow cell gives nearly the same strength anywhere
  int as_strong = 0;
  std::uint32_t state = 0;
  for (int i = 0; i < times; ++i) {
    Matrix by_chance = shuffled(centred, state);
    centre(by_chance);
    if (pattern_of(by_chance).strength >= clearly * pattern.strength) ++as_strong;
  }
  result.p_value = (1.0 + as_strong) / (1.0 + times);
  result.rows_apart = two_groups(pattern.rows).share;
  result.columns_apart = two_groups(pattern.columns).share;
  // Where the product of both weights is positive, the access is slower than its row and column
  // explain: the line is far.
  for (std::size_t r = 0; r < cycles.rows; ++r)
    result.row_side[r] = pattern.rows[r] > 0;
  for (std::size_t c = 0; c < cycles.columns; ++c)
    result.column_side[c] = !(pattern.columns[c] > 0);
  result.two = result.p_value <= p_bound && result.rows_apart >= apart_bound &&
               result.columns_apart >= apart_bound;
  return result;
}

Experiment describe(unsigned sms) {
  // A unit of work is one access by each SM.
  const auto length = [](std::uint32_t rounds, std::uint32_t accesses) {
    return Length{.rounds = rounds, .work = double{lines} * rounds * accesses};
  };
  const auto window = [](auto read) { return Window{.name = "each SM and line", .read = read}; };
  const auto verify = [](const Call&, std::span<const Stamp> stamps, Tally& tally) {
    tally.checked += lines * stamps.size();
    for (const Stamp& stamp : stamps)
      tally.different += std::min<std::uint64_t>(stamp.result, lines);
  };
  Experiment experiment;
  experiment.slopes = {
      {.verify = verify,
       .lengths = {.brief = length(brief_turns, turn), .full = length(full_turns, turn)},
       .writers = sms,
       .window = window(read_exchanges)},
      {.verify = verify,
       .lengths = {.brief = length(brief_loads, 1), .full = length(full_loads, 1)},
       .writers = sms,
       .window = window(read_cells)},
      {.verify = verify,
       .lengths = {.brief = {.rounds = brief_sweeps, .work = brief_sweeps},
                   .full = {.rounds = full_sweeps, .work = full_sweeps}},
       .writers = sms,
       .window = window(read_evicted)}};
  experiment.rows = {{"access_cycles", "cycle", By::inside, cycles_of(exchanges)}};
  for (std::size_t slope = 0; slope < experiment.slopes.size(); ++slope) {
    const Value slowest = of_slope([](const Seen& seen) { return seen.inside.slowest; }, slope);
    experiment.checks.emplace_back(TimerPair{slowest, By::inside, outside_of(slope), By::outside});
    experiment.watch.insert(experiment.watch.end(), {slowest, outside_of(slope)});
  }
  experiment.conclude = conclude;
  experiment.checked = "exchanged and loaded words that hold their own address";
  experiment.placement = Placement{.cores = sms};
  experiment.counts = CountPlan{.length = length(full_turns, turn)};
  experiment.counts->more = [sms](Session& session, const Counted& counted) {
    const auto crossed = counted.net("l2_fabric_sectors");
    if (!crossed) throw Skipped{"the chip has no counter between the halves of L2"};
    const double accesses = double{full_turns} * turn * lines * sms;
    session.add({"fabric_sectors_per_access", "sector", Provenance::counted, "cupti_net",
                 std::vector{*crossed / accesses}});
  };
  experiment.facts = [](const Experiment&) { return Facts{{"lines", std::int64_t{lines}}}; };
  return experiment;
}

STRATA_DECLARED(declare);

}  // namespace strata::l2_partition
