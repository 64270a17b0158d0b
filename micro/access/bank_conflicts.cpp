// The declaration, the patterns and the report of bank_conflicts: bank_conflicts.hpp says what it
// asks.
#include "micro/access/bank_conflicts.hpp"

#include "harness/measure/timed.hpp"
#include "harness/model/bank_model.hpp"
#include "harness/model/word_patterns.hpp"
#include "harness/record/gates.hpp"
#include "micro/pattern/particle_chain.hpp"
#include "micro/pattern/random_cycle.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace strata::bank_conflicts {
namespace {

std::vector<std::string> whole_numbers(std::uint32_t last) {
  std::vector<std::string> numbers;
  for (std::uint32_t n = 1; n <= last; ++n)
    numbers.push_back(std::to_string(n));
  return numbers;
}

std::optional<std::string> excluded(const Params& params, Backend /*backend*/) {
  const bool shared = params.at("pattern") != "stride";
  if (shared && params.at("operation") == "store") {
    return "lanes that store to one word leave nobody knows what";
  }
  if (params.at("pattern") == "broadcast" && params.at("stride") != "1") {
    return "one element has no stride";
  }
  return std::nullopt;
}

/// Word of the element of lane `lane`, counted from where the pattern starts.
std::uint32_t first_word(const Pattern& pattern, std::uint32_t lane) {
  return pattern.elements.at(lane) * (pattern.width / word_bytes);
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "bank_conflicts",
      .question = "What does a bank conflict in shared memory cost?",
      .axes = {{.name = "operation",
                .meaning = "what the warp does",
                .choices = {"load", "store"},
                .defaults = {"load", "store"}},
               {.name = "pattern",
                .meaning = "every lane an element, neighbours one element, or all lanes one",
                .choices = {"stride", "multicast", "broadcast"},
                .defaults = {"stride", "multicast", "broadcast"}},
               {.name = "width",
                .meaning = "bytes of an element",
                .choices = {"4", "8", "16"},
                .defaults = {"4", "8", "16"}},
               {.name = "stride",
                .meaning = "elements from one to the next",
                .minimum = 1,
                .maximum = max_stride,
                .defaults = whole_numbers(max_stride)}},
      .counter_sets = {"shared"},
      .quantities = {{"shared_load_latency", "cycles of a load whose address the last one gave"},
                     {"warp_access_cycles", "SM cycles of a warp's access where SMs are full"},
                     {"sm_bandwidth", "bytes that lanes asked for, of an SM"},
                     {"bandwidth", "the same of all SMs, by time"},
                     {"wavefronts_per_access", "by the bank model"},
                     {"core_clock", "clock of the core while it worked"}},
      .seconds_per_case = 0.015,
      .excludes = excluded};
}

Pattern make_pattern(std::uint32_t width, std::uint32_t stride, Sharing sharing, bool store) {
  Pattern pattern{.width = width, .store = store};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t place =
        sharing == Sharing::all ? 0 : (sharing == Sharing::pairs ? lane / 2 : lane);
    pattern.elements.at(lane) = place * stride;
  }
  return pattern;
}

Pattern pattern_of(const Session& session) {
  const auto number = [&](const char* axis) {
    return static_cast<std::uint32_t>(session.integer(axis));
  };
  const std::string& name = session.param("pattern");
  const Sharing sharing = name == "broadcast"   ? Sharing::all
                          : name == "multicast" ? Sharing::pairs
                                                : Sharing::none;
  return make_pattern(number("width"), number("stride"), sharing,
                      session.param("operation") == "store");
}

WarpAccess access_of(const Pattern& pattern) {
  WarpAccess access{.width = pattern.width, .addresses = {}};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    access.addresses.at(lane) = std::uint64_t{first_word(pattern, lane)} * word_bytes;
  return access;
}

Windows windows_for(const Pattern& pattern) {
  const std::uint32_t span = (*std::ranges::max_element(pattern.elements) + 1) * pattern.width;
  const std::uint32_t bytes = (span + shift_bytes - 1) / shift_bytes * shift_bytes;
  const std::uint32_t fit = std::min(max_windows, chain_words * word_bytes / bytes);
  Windows windows{.count = fit % 2 == 1 ? fit : fit - 1, .bytes = bytes};
  const auto next = successors(random_order(windows.count, /*seed=*/7));
  std::ranges::copy(next, windows.next.begin());
  return windows;
}

std::uint32_t expected_walk(const Pattern& pattern, const Windows& windows, std::uint32_t loads) {
  const std::uint32_t count = std::max(windows.count, 1U);
  std::uint32_t sum = 0;
  std::uint32_t window = 0;
  for (std::uint32_t step = 0; step < count; ++step) {
    const std::uint32_t visits = loads / count + (step < loads % count ? 1 : 0);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t word = window * (windows.bytes / word_bytes) + first_word(pattern, lane);
      for (std::uint32_t w = 1; w < pattern.width / word_bytes; ++w)
        sum += lane_weight(lane) * visits * hashed_word(word + w);
    }
    window = windows.next.at(window);
  }
  window = 0;
  for (std::uint32_t step = 0; step < loads % count; ++step)
    window = windows.next.at(window);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    sum += lane_weight(lane) * (window * windows.bytes + first_word(pattern, lane) * word_bytes);
  }
  return sum;
}

std::uint32_t expected_loads(const Pattern& pattern, std::uint32_t warp) {
  std::uint32_t sum = 0;
  for (std::uint32_t access = 0; access < accesses_per_round; ++access) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t word = (warp + access) * shift_words + first_word(pattern, lane);
      for (std::uint32_t w = 0; w < pattern.width / word_bytes; ++w)
        sum += lane_weight(lane) * hashed_word(word + w);
    }
  }
  return sum;
}

StoredField::StoredField(const Pattern& pattern) {
  std::set<std::uint32_t> stored;
  for (std::uint32_t shift = 0; shift < warps_per_sm + accesses_per_round - 1; ++shift) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      for (std::uint32_t w = 0; w < pattern.width / word_bytes; ++w)
        stored.insert(shift * shift_words + first_word(pattern, lane) + w);
    }
  }
  for (std::uint32_t word = 0; word < field_words; ++word) {
    const std::uint32_t warp = word / warp_lanes % warps_per_sm;
    const bool reached = stored.contains(word);
    first_.at(warp) += lane_weight(word) * hashed_word(reached ? word : field_words + word);
    if (reached) change_.at(warp) += lane_weight(word) * store_change;
  }
}

std::uint32_t rounds_for(double cycles, std::uint64_t wavefronts) {
  constexpr std::uint32_t parts = 5;
  const double of_a_round =
      static_cast<double>(wavefronts) * double{warps_per_sm} * accesses_per_round;
  return parts * std::max(1U, static_cast<std::uint32_t>(cycles / (of_a_round * parts)));
}

std::uint32_t loads_for(double cycles, std::uint64_t wavefronts) {
  constexpr std::uint32_t parts = 5 * unroll;
  constexpr double without_conflict = 28;  // about; a conflict adds one or two cycles
  const double of_a_load = without_conflict + 2 * static_cast<double>(wavefronts);
  return parts * std::max(1U, static_cast<std::uint32_t>(cycles / (of_a_load * parts)));
}

void report(Session& session, const Collection<Observation>& seen, const Pattern& pattern) {
  const Timed timed{session, seen};
  const auto gate = [&](auto&& inside, auto&& outside) {
    timed.timers(inside, "clock64_slope", outside, "event_slope");
  };
  if (!pattern.store) {
    timed.add("shared_load_latency", "cycle", "clock64_slope", &Observation::chain_inside);
    timed.add("shared_load_latency", "cycle", "event_slope", &Observation::chain_outside);
    gate(&Observation::chain_inside, &Observation::chain_outside);
  }
  const double bytes = double{warp_lanes} * pattern.width;
  timed.add("warp_access_cycles", "cycle", "clock64_slope", &Observation::inside);
  timed.add("warp_access_cycles", "cycle", "event_slope", &Observation::outside);
  gate(&Observation::inside, &Observation::outside);
  timed.add("sm_bandwidth", "B/cycle", "clock64_slope",
            [bytes](const Observation& o) { return bytes / o.inside; });
  timed.add("bandwidth", "B/s", "event_slope",
            [bytes](const Observation& o) { return bytes * o.accesses_per_second; });
  timed.core_clock("clock64_over_globaltimer", &Observation::core_hertz);
  session.add(
      Measurement{.quantity = "wavefronts_per_access",
                  .unit = "wavefront",
                  .provenance = Provenance::modelled,
                  .method = "bank_model",
                  .samples = {static_cast<double>(bank_traffic(access_of(pattern)).wavefronts)}});
}

STRATA_DECLARED(declare);

}  // namespace strata::bank_conflicts
