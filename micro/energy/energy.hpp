// How many joules does a byte from each level of memory cost, and an operation of each kind?
//
// The loop of another benchmark is repeated for seconds. Meanwhile a thread reads the counter of
// the device's energy; its steps (0.1 s on a GPU) delimit the windows whose energy and work are
// compared. The power that the driver reports, integrated over the same window, is a second method;
// both may come from one sensor. First all SMs work until the chip is warm, then all of them are
// measured, then three quarters, half and a quarter of them: the slope of power over rate is the
// marginal price, without the power that a chip at work always takes. A window in which the clock
// was throttled is invalid.
//   idle     no process of ours has a context on the device
//   context  a context, and nothing runs
//   spin     32 warps on each SM read their clock, and do no work
// Nothing changes clocks, limits or other settings.
#pragma once

#include "harness/base/error.hpp"
#include "harness/case/benchmark.hpp"
#include "harness/case/choices.hpp"
#include "harness/cuda/nvml_watch.hpp"
#include "harness/measure/experiment.hpp"
#include "harness/measure/power_checks.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/statistics.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace strata::energy {

/// What is repeated: a case of another benchmark, and the row that is its rate.
struct Work {
  std::string name;
  std::string benchmark;  ///< empty: nothing of another benchmark
  std::string quantity;   ///< its rate,
  std::string unit;       ///< in this unit per second
  Params params;
  bool divides = true;  ///< a part of the SMs can do it
  bool zeros = false;   ///< also with zeros as data
  bool on_host = false;
};

namespace detail {

inline Work streamed(const char* name, const char* level, const char* operation,
                     const char* width = "16", bool on_host = false) {
  return {.name = name,
          .benchmark = "bandwidth",
          .quantity = "bandwidth",
          .unit = "B",
          .params = {{"level", level},
                     {"operation", operation},
                     {"width", width},
                     {"block_size", "1024"},
                     {"blocks_per_sm", "1"},
                     {"in_flight", "4"}},
          .zeros = std::string_view{operation} == "read" && std::string_view{level} != "shared",
          .on_host = on_host};
}
inline Work sectors(const char* name, const char* level, const char* stride) {
  return {.name = name,
          .benchmark = "stride_gather",
          .quantity = "requested_bandwidth",
          .unit = "B",
          .params = {{"level", level},
                     {"pattern", "strided"},
                     {"width", "4"},
                     {"stride", stride},
                     {"misalignment", "0"},
                     {"locality", "32"}},
          .divides = false};  // its blocks would be on all SMs
}
/// Home lines of an SM's side of L2, or of the other one; more than a side can hold twice.
inline Work placed(const char* name, const char* order) {
  return {.name = name,
          .benchmark = "l2_placement",
          .quantity = "bandwidth",
          .unit = "B",
          .params = {{"order", order}, {"part", "327680"}},
          .divides = false};
}
inline Work transfer(const char* name, const char* direction) {
  return {.name = name,
          .benchmark = "transfers",
          .quantity = "bandwidth",
          .unit = "B",
          .params = {{"memory", "pinned"},
                     {"direction", direction},
                     {"bytes", "268435456"},
                     {"pieces", "1"},
                     {"packing", "none"}},
          .divides = false};
}
inline Work arithmetic(const char* name, const char* type, const char* form, bool floats,
                       bool on_host = false) {
  return {.name = name,
          .benchmark = "ceilings",
          .quantity = floats ? "flops_per_second" : "operations_per_second",
          .unit = floats ? "FLOP" : "operation",
          .params = {{"arithmetic", type}, {"form", form}, {"warps_per_sm", "32"}},
          .on_host = on_host};
}
inline Work tensor(const char* name, const char* instruction, const char* type) {
  const bool group = std::string_view{instruction} == "wgmma";
  return {.name = name,
          .benchmark = "tensor_rate",
          .quantity = "operations_per_second",
          .unit = "operation",
          .params = {{"measure", "rate"},
                     {"instruction", instruction},
                     {"type", type},
                     {"shape", group ? "n256" : "largest"},
                     {"a", group ? "shared" : "registers"},
                     {"sparsity", "dense"}},
          .zeros = true};
}
inline Work atomic(const char* name, const char* space) {
  return {
      .name = name,
      .benchmark = "atomics",
      .quantity = "atomic_rate",
      .unit = "operation",
      .params = {
          {"space", space}, {"operation", "add_int"}, {"returns", "no"}, {"target", "disjoint"}}};
}
inline Work mixed(const char* name, const char* mix) {
  return {.name = name,
          .benchmark = "clock_under_load",
          .quantity = "instructions_per_second",
          .unit = "instruction",
          .params = {{"mix", mix}, {"seconds", "0.1"}},
          .divides = false};
}
inline Work whole(Work work) {
  work.divides = false;
  work.zeros = false;
  return work;
}
inline Work gathered(const char* name, const char* level) {
  Work work = whole(sectors(name, level, "1"));
  work.params["pattern"] = "gather";
  work.params["locality"] = "1024";
  return work;
}
inline Work rung(const char* name, Params more = {}) {
  Work work{.name = std::string{"rung_"} + name,
            .benchmark = name,
            .quantity = "interactions_per_second",
            .unit = "interaction",
            .params = {{"layout", "soaoas"},
                       {"problem", "single"},
                       {"systems", "1"},
                       {"bodies", "524288"}},
            .divides = false};
  work.params.merge(std::move(more));
  return work;
}

}  // namespace detail

/// States, prices, mixes and rungs, in the order of the axis.
[[nodiscard]] inline const std::vector<Work>& works() {
  using namespace detail;  // NOLINT(google-build-using-namespace): they only make this list
  static const std::vector<Work> all{
      {.name = "context", .divides = false},
      {.name = "idle", .divides = false, .on_host = true},
      {.name = "spin", .quantity = "spin_rate", .unit = "cycle"},
      streamed("shared_read", "shared", "read"),
      streamed("shared_write", "shared", "write"),
      streamed("l1_read", "l1", "read", "16", true),
      streamed("l1_read_4", "l1", "read", "4"),
      placed("l2_near", "near"),
      placed("l2_far", "far"),
      streamed("l2_read", "l2", "read", "16", true),
      streamed("l2_write", "l2", "write"),
      sectors("l2_sectors", "l2", "8"),
      streamed("l3_read", "l3", "read", "16", true),
      streamed("dram_read", "dram", "read", "16", true),
      streamed("dram_write", "dram", "write"),
      sectors("dram_sectors", "dram", "8"),
      transfer("host_read", "to_device"),
      transfer("host_write", "to_host"),
      arithmetic("fp32", "fp32", "alternating", true),
      arithmetic("fp32_square", "fp32", "square", true),
      arithmetic("fp32_steady", "fp32", "steady", true, true),
      arithmetic("fp64", "fp64", "steady", true, true),
      arithmetic("fp16x2", "fp16x2", "alternating", true),
      arithmetic("int32", "int32", "alternating", false),
      {.name = "mufu",
       .benchmark = "instruction_cost",
       .quantity = "operation_rate",
       .unit = "operation",
       .params = {{"operation", "rsqrt_approx"}, {"ilp", "4"}, {"warps_per_sm", "32"}}},
      tensor("mma_fp16", "mma", "fp16"),
      tensor("mma_fp64", "mma", "fp64"),
      tensor("wgmma_fp16", "wgmma", "fp16"),
      tensor("wgmma_tf32", "wgmma", "tf32"),
      tensor("wgmma_e4m3", "wgmma", "e4m3"),
      tensor("wgmma_int8", "wgmma", "int8"),
      atomic("atomic_shared", "shared"),
      atomic("atomic_global", "global"),
      // Mixes, which decide no price.
      mixed("mix_fma", "fma"),
      mixed("mix_mufu", "mufu"),
      mixed("mix_fma_tensor", "fma_tensor"),
      mixed("mix_fma_tensor_mufu", "fma_tensor_mufu"),
      mixed("mix_memory", "memory"),
      whole(streamed("mix_dram_copy", "dram", "copy")),
      whole(streamed("mix_dram_triad", "dram", "triad")),
      whole(sectors("mix_l2_stride_2", "l2", "2")),
      whole(sectors("mix_dram_stride_2", "dram", "2")),
      gathered("mix_dram_gather", "dram"),
      // Rungs of the ladder of gravity.
      rung("naive"),
      rung("fast_math"),
      rung("invariants"),
      rung("register_banks", {{"per_thread", "8"}, {"warps", "4"}}),
      rung("pair_once", {{"per_thread", "8"}}),
      rung("tensor_cores", {{"ratio", "1.25"}, {"sort_every", "1"}}),
  };
  return all;
}

[[nodiscard]] inline const Work& work_named(std::string_view name) {
  for (const Work& work : works()) {
    if (work.name == name) return work;
  }
  throw std::out_of_range{"no work " + std::string{name}};
}

/// The case of the other benchmark, with its data.
[[nodiscard]] inline Params params_of(const Work& work, const std::string& data, Backend backend) {
  Params params = work.params;
  if (work.benchmark == "tensor_rate" || data == "zeros") params["data"] = data;
  if (backend == Backend::host && work.benchmark == "bandwidth") {
    params["block_size"] = "512";  // as every case of a CPU
    params["blocks_per_sm"] = "2";
  }
  return params;
}

inline std::optional<std::string> excludes(const Params& params, Backend backend) {
  const Work& work = work_named(params.at("work"));
  const bool zeros = params.at("data") == "zeros";
  if (backend == Backend::host && !work.on_host) return "a CPU has no such work";
  if (backend == Backend::cuda && work.name == "l3_read") return "a GPU has no L3";
  if (backend == Backend::host && zeros) return "zeros are read on a GPU";
  if (zeros && !work.zeros) return "its data are not chosen";
  return std::nullopt;
}

/// Shares of the SMs that work, in per cent, besides all of them.
inline constexpr std::array parts{75U, 50U, 25U};

[[nodiscard]] inline Benchmark declare() {
  std::vector<std::string> names;
  std::vector<std::string> usual;  // without the one that ends this process
  for (const Work& work : works()) {
    names.push_back(work.name);
    if (work.name != "idle") usual.push_back(work.name);
  }
  Benchmark benchmark{
      .suite = "micro",
      .name = "energy",
      .question = "How many joules does a byte of each level cost, and an operation of each kind?",
      .axes = {listed_axis("work",
                           "what is repeated: a state of the device, a level, an operation, "
                           "a mix or a rung",
                           names, usual),
               listed_axis("data", "contents of the memory or matrices that are read",
                           {"random", "zeros"}, {"random"}),
               listed_axis("seconds", "duration of the case, with the time to get warm", {"3", "8"},
                           {"8"})},
      .quantities = {{"power",
                      "mean power while all SMs work, by the energy counter and by the "
                      "integral of power readings"},
                     {"rate", "work of all SMs per second, in the unit of the work"},
                     {"energy", "power ÷ rate: joules of a unit of work, with the idle power"},
                     {"step_energy", "rungs: joules of a step"},
                     {"marginal_energy", "slope of power over rate, with 25 to 100 % of the SMs"},
                     {"power_at_no_rate", "where that line has no work"}},
      .seconds_per_case = 8,
      .excludes = excludes};
  for (const unsigned part : parts) {
    const std::string share = std::to_string(part);
    benchmark.quantities.push_back(
        {"power_" + share, "power while " + share + " % of the SMs work"});
    benchmark.quantities.push_back({"rate_" + share, "their work per second"});
  }
  return benchmark;
}

/// Duration of the parts of a case.
struct Schedule {
  double warm = 0;    ///< before the first window
  double window = 0;  ///< with all SMs
  double settle = 0;  ///< before each further window
  double part = 0;    ///< each further window
};
[[nodiscard]] inline Schedule schedule_of(double seconds, bool divides) {
  constexpr double warm = 0.28;
  constexpr double settle = 0.04;
  constexpr double window = 0.24;
  if (!divides) return {.warm = warm * seconds, .window = (1 - warm) * seconds};
  const auto share = static_cast<double>(parts.size());
  return {.warm = warm * seconds,
          .window = window * seconds,
          .settle = settle * seconds,
          .part = (1 - warm - window) * seconds / share - settle * seconds};
}

/// How much was done by a time.
struct Progress {
  double seconds = 0;
  double repetitions = 0;
};

/// What the meters showed from a step of the energy counter to a later one.
struct Power {
  double begin = 0;  ///< of the window, in seconds
  double end = 0;
  std::vector<double> watts;       ///< of segments of the window
  double mean = 0;                 ///< of all of it
  std::optional<double> integral;  ///< the mean by power readings
  double step = 0;                 ///< mean seconds between steps of the counter
  std::optional<double> hertz;
  std::optional<double> celsius;
  std::optional<double> change_celsius;
  std::uint64_t reasons = 0;
  std::size_t readings = 0;
  std::size_t throttled = 0;
};

namespace detail {

struct Step {
  double seconds = 0;
  double joules = 0;
};

/// The readings at which the counter had moved, within a time. Where a call of the driver took
/// long, the time of the step is unknown: it is left out.
inline std::vector<Step> steps_of(std::span<const TimedReading> readings, double begin,
                                  double end) {
  constexpr double usual_gaps = 2.5;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < readings.size(); ++i)
    gaps.push_back(readings[i].seconds - readings[i - 1].seconds);
  std::vector<Step> steps;
  if (gaps.empty()) return steps;
  const double most = usual_gaps * median(gaps);
  for (std::size_t i = 1; i + 1 < readings.size(); ++i) {
    const auto& [seconds, reading] = readings[i];
    if (seconds < begin || seconds > end || !reading.joules) continue;
    if (gaps[i - 1] > most || gaps[i] > most) continue;
    if (reading.joules != readings[i - 1].reading.joules)
      steps.push_back({seconds, *reading.joules});
  }
  return steps;
}

/// By the trapezium rule; empty if power was not read.
inline std::optional<double> mean_of(std::span<const TimedReading> readings) {
  double joules = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const auto& before = readings[i - 1].reading.watts;
    const auto& after = readings[i].reading.watts;
    if (!before || !after) return std::nullopt;
    joules += (*before + *after) / 2 * (readings[i].seconds - readings[i - 1].seconds);
  }
  if (readings.size() < 2) return std::nullopt;
  return joules / (readings.back().seconds - readings.front().seconds);
}

template <class Value>
std::vector<double> known(std::span<const TimedReading> readings,
                          std::optional<Value> NvmlReading::*which) {
  std::vector<double> values;
  for (const TimedReading& one : readings) {
    if (const auto& value = one.reading.*which) values.push_back(static_cast<double>(*value));
  }
  return values;
}

}  // namespace detail

/// Of the steps between two times. Throws std::runtime_error if there are fewer than two.
[[nodiscard]] inline Power power_between(std::span<const TimedReading> readings, double begin,
                                         double end) {
  constexpr std::size_t most_segments = 10;
  const std::vector<detail::Step> steps = detail::steps_of(readings, begin, end);
  if (steps.size() < 2) {
    throw std::runtime_error{"the energy counter moved " + std::to_string(steps.size()) +
                             " times in a window of " + std::to_string(end - begin) +
                             " s: expected two or more"};
  }
  const detail::Step& first = steps.front();
  const detail::Step& last = steps.back();
  Power power{.begin = first.seconds,
              .end = last.seconds,
              .mean = (last.joules - first.joules) / (last.seconds - first.seconds),
              .step = (last.seconds - first.seconds) / static_cast<double>(steps.size() - 1)};
  const std::size_t length = (steps.size() - 1 + most_segments - 1) / most_segments;
  for (std::size_t i = length; i < steps.size(); i += length) {
    power.watts.push_back((steps[i].joules - steps[i - length].joules) /
                          (steps[i].seconds - steps[i - length].seconds));
  }
  const auto from = std::ranges::find_if(
      readings, [&](const TimedReading& one) { return one.seconds >= power.begin; });
  const auto to = std::find_if(from, readings.end(),
                               [&](const TimedReading& one) { return one.seconds > power.end; });
  const std::span<const TimedReading> within{from, to};
  power.integral = detail::mean_of(within);
  if (const auto hertz = detail::known(within, &NvmlReading::sm_hertz); !hertz.empty())
    power.hertz = median(hertz);
  if (const auto celsius = detail::known(within, &NvmlReading::celsius); !celsius.empty()) {
    power.celsius = median(celsius);
    power.change_celsius = celsius.back() - celsius.front();
  }
  for (const TimedReading& one : within) {
    const std::uint64_t reasons = one.reading.reasons.value_or(0);
    power.reasons |= reasons;
    power.throttled += (reasons & throttling_bits) != 0 ? 1 : 0;
  }
  power.readings = within.size();
  return power;
}

/// Repetitions until a time, between two entries in proportion. Empty: outside of them.
[[nodiscard]] inline std::optional<double> done_by(std::span<const Progress> progress,
                                                   double seconds) {
  for (std::size_t i = 1; i < progress.size(); ++i) {
    const Progress& before = progress[i - 1];
    const Progress& after = progress[i];
    if (seconds < before.seconds || seconds > after.seconds) continue;
    const double share = (seconds - before.seconds) / (after.seconds - before.seconds);
    return before.repetitions + share * (after.repetitions - before.repetitions);
  }
  return std::nullopt;
}

/// A share of the SMs at work, or none.
struct Observed {
  double share = 1;
  Power power;
  double rate = 0;            ///< in the window; 0: no work
  std::vector<double> rates;  ///< of turns
  double busy = 0;            ///< share of the time in which the device worked
};

/// What the watch saw of repeated work. Throws std::runtime_error if it does not cover the window.
[[nodiscard]] inline Observed observed(double share, const Power& power,
                                       std::span<const Progress> progress,
                                       const std::function<double(double seconds)>& rate) {
  Observed seen{.share = share, .power = power};
  const auto begin = done_by(progress, power.begin);
  const auto end = done_by(progress, power.end);
  if (!begin || !end || *end <= *begin) {
    throw std::runtime_error{"nothing was repeated while the power was measured"};
  }
  seen.rate = rate((power.end - power.begin) / (*end - *begin));
  for (std::size_t i = 1; i < progress.size(); ++i) {
    const Progress& before = progress[i - 1];
    const Progress& after = progress[i];
    if (before.seconds < power.begin || after.seconds > power.end) continue;
    seen.rates.push_back(
        rate((after.seconds - before.seconds) / (after.repetitions - before.repetitions)));
  }
  if (seen.rates.empty()) seen.rates = {seen.rate};
  return seen;
}

/// A line by least squares through at least three points.
struct Line {
  double slope = 0;
  double start = 0;
};
[[nodiscard]] inline std::optional<Line> line_through(
    std::span<const std::pair<double, double>> points) {
  constexpr std::size_t fewest = 3;
  if (points.size() < fewest) return std::nullopt;
  const auto count = static_cast<double>(points.size());
  double x = 0;
  double y = 0;
  for (const auto& [rate, watts] : points) {
    x += rate / count;
    y += watts / count;
  }
  double xx = 0;
  double xy = 0;
  for (const auto& [rate, watts] : points) {
    xx += (rate - x) * (rate - x);
    xy += (rate - x) * (watts - y);
  }
  if (xx == 0) return std::nullopt;
  return Line{.slope = xy / xx, .start = y - xy / xx * x};
}

/// Why a window is invalid; empty if it is not.
[[nodiscard]] inline std::string why_not(const Power& power) {
  if (power.throttled > 0) {
    return "throttled in " + std::to_string(power.throttled) + " of " +
           std::to_string(power.readings) + " readings";
  }
  const double integral = power.integral.value_or(power.mean);
  if (std::abs(integral / power.mean - 1) <= energy_integral_bound) return {};
  return "power by the energy counter and by its integral differ by more than 2 %";
}

/// Of a rung, for one system of so many bodies; 0 for other works.
[[nodiscard]] inline double interactions_of_step(const Work& work) {
  if (!work.params.contains("bodies")) return 0;
  const auto bodies = number_of<double>(work.params, "bodies");
  return bodies * bodies;
}

/// Adds rows, gates and facts. `meter`: the method of the energy counter.
inline void report(Session& session, const Work& work, std::span<const Observed> all,
                   const std::string& meter) {
  const auto add = [&](const Observed& one, Measurement m) {
    if (const std::string why = why_not(one.power); !why.empty())
      m.noise = {"noise", Verdict::failed, why};
    session.add(std::move(m));
  };
  std::vector<std::pair<double, double>> points;
  for (const Observed& one : all) {
    const bool whole = &one == &all.front();
    const std::string suffix =
        whole ? "" : "_" + std::to_string(static_cast<int>(std::round(100 * one.share)));
    add(one, {.quantity = "power" + suffix,
              .unit = "W",
              .provenance = Provenance::reported,
              .method = meter,
              .samples = one.power.watts});
    if (why_not(one.power).empty()) points.emplace_back(one.rate, one.power.mean);
    if (one.rate > 0) {
      add(one, {.quantity = "rate" + suffix,
                .unit = work.unit + "/s",
                .provenance = Provenance::timed,
                .method = "wall",
                .samples = one.rates});
    }
    if (!whole) continue;
    if (one.power.integral) {
      add(one, {.quantity = "power",
                .unit = "W",
                .provenance = Provenance::reported,
                .method = "power_integral",
                .samples = {*one.power.integral}});
    }
    if (one.rate > 0) {
      std::vector<double> joules;
      for (const double watts : one.power.watts)
        joules.push_back(watts / one.rate);
      if (const double pairs = interactions_of_step(work); pairs > 0) {
        std::vector<double> of_step = joules;
        for (double& each : of_step)
          each *= pairs;
        add(one, {.quantity = "step_energy",
                  .unit = "J",
                  .provenance = Provenance::reported,
                  .method = meter,
                  .samples = std::move(of_step)});
      }
      add(one, {.quantity = "energy",
                .unit = "J/" + work.unit,
                .provenance = Provenance::reported,
                .method = meter,
                .samples = std::move(joules)});
    }
    session.fact("energy_counter_step_seconds", one.power.step);
    session.fact("window_seconds", one.power.end - one.power.begin);
    session.fact("throttle_reasons", static_cast<std::int64_t>(one.power.reasons));
    session.fact("throttled_share", static_cast<double>(one.power.throttled) /
                                        static_cast<double>(one.power.readings));
    if (one.power.hertz) session.fact("driver_clock_hz", *one.power.hertz);
    if (one.power.celsius) session.fact("temperature_celsius", *one.power.celsius);
    if (one.rate > 0) session.fact("busy_share", one.busy);
  }
  // Each window is judged by itself; a case fails if none is left.
  const auto sound =
      std::ranges::find_if(all, [](const Observed& one) { return why_not(one.power).empty(); });
  const Power& judged = (sound == all.end() ? all.front() : *sound).power;
  judge_power(session, judged.mean, judged.integral, judged.change_celsius);
  if (const auto line = line_through(points)) {
    session.add({.quantity = "marginal_energy",
                 .unit = "J/" + work.unit,
                 .provenance = Provenance::modelled,
                 .method = "slope",
                 .samples = {line->slope}});
    session.add({.quantity = "power_at_no_rate",
                 .unit = "W",
                 .provenance = Provenance::modelled,
                 .method = "slope",
                 .samples = {line->start}});
  }
}

/// The energy counter of a device.
struct Meter {
  std::string name;  ///< the method of its rows
  std::function<NvmlReading()> read;
  std::chrono::milliseconds pause{2};  ///< between two readings
};

/// Watches repeated work: `before` seconds, then a window.
[[nodiscard]] inline Observed watch_work(const Repeated& repeated, const std::string& quantity,
                                         double share, const Meter& meter, double before,
                                         double window) {
  NvmlWatch watch{meter.read, meter.pause};
  std::vector<Progress> progress{{.seconds = watch.seconds()}};
  double worked = 0;
  while (progress.back().seconds < before + window) {
    worked += repeated.turn();
    progress.push_back({.seconds = watch.seconds(),
                        .repetitions = progress.back().repetitions + repeated.repetitions});
  }
  const double elapsed = progress.back().seconds - progress.front().seconds;
  const auto readings = watch.stop();
  Observed seen =
      observed(share, power_between(readings, before, progress.back().seconds), progress,
               [&](double seconds) { return repeated.rate(quantity, seconds); });
  seen.busy = worked / elapsed;
  return seen;
}

/// Watches a device on which nothing runs.
[[nodiscard]] inline Observed watch_rest(const Meter& meter, double before, double window) {
  NvmlWatch watch{meter.read, meter.pause};
  std::this_thread::sleep_for(std::chrono::duration<double>{before + window});
  const double end = watch.seconds();
  const auto readings = watch.stop();
  return {.power = power_between(readings, before, end)};
}

/// Measures the session's case. `spin`: the work without work, empty where there is none.
inline void measure_energy(Session& session, const Meter& meter, Body spin) {
  if (session.counters() != nullptr || session.tracer() != nullptr) {
    throw Skipped{"a profiler changes the power"};
  }
  const Work& work = work_named(session.param("work"));
  const Backend backend = session.which().backend;
  const Schedule schedule =
      schedule_of(number_of<double>(session.params(), "seconds"), work.divides);
  if (!meter.read().joules) throw Skipped{"the device does not report its energy"};
  std::vector<Observed> all;
  const bool rests = work.quantity.empty();
  if (rests) {
    if (work.name == "idle") session.device().release();
    // Clocks fall seconds after the last work.
    all = {watch_rest(meter, schedule.window, schedule.warm)};
    report(session, work, all, meter.name);
    return;
  }
  const Enrolled* const other = work.benchmark.empty() ? nullptr : find_benchmark(work.benchmark);
  const Body body = other == nullptr ? spin : other->body(backend);
  if (body == nullptr) throw Skipped{"this build has no " + work.benchmark + " for this device"};
  const auto observe = [&](double share, double before, double window) {
    const Steady steady{
        .sm_share = share, .watch = [&](const Repeated& repeated) {
          all.push_back(watch_work(repeated, work.quantity, share, meter, before, window));
        }};
    CaseRecord record{.which = {.suite = session.which().suite,
                                .benchmark = work.benchmark,
                                .backend = backend,
                                .params = params_of(work, session.param("data"), backend)}};
    const Counting repeating{.note = "not counted: its work was repeated", .steady = &steady};
    Session inner{session.plan(), session.device(), session.cache(), record, repeating};
    body(inner);
    // Of a part of the SMs, where its warps ran is not claimed.
    for (const Gate& gate : record.gates) {
      if (share == 1 || (gate.name == "result" && gate.verdict == Verdict::failed))
        session.add(gate);
    }
  };
  observe(1, schedule.warm, schedule.window);
  if (work.divides && backend == Backend::cuda) {
    for (const unsigned part : parts)
      observe(part / 100.0, schedule.settle, schedule.part);
  }
  report(session, work, all, meter.name);
}

}  // namespace strata::energy
