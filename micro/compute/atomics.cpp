// The declaration, the expected results and the report of atomics: atomics.hpp says what it asks.
#include "micro/compute/atomics.hpp"

#include "harness/measure/timed.hpp"
#include "harness/record/gates.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

namespace strata::atomics {
namespace {

constexpr std::uint64_t low_half = 0xFFFFFFFFU;

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const std::string& operation = params.at("operation");
  if (backend == Backend::host) {
    if (params.at("space") == "shared") return "a CPU has no shared memory";
    if (params.at("target") == "warp") return "a CPU has no warps";
    if (params.at("returns") == "no" && operation == "add_float") {
      return "a CPU adds floats by compare and swap, which needs what it returns";
    }
  } else if (params.at("target") == "line") {
    return "words of lanes share lines where they are disjoint";
  }
  if (params.at("returns") == "no" && (operation == "cas_int" || operation == "exch_int")) {
    return "an exchange is there for what it returns";
  }
  return std::nullopt;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "atomics",
      .question = "What does an atomic operation cost, and what when others want its word?",
      .axes = {{.name = "space",
                .meaning = "where the words lie",
                .choices = {"shared", "global"},
                .defaults = {"shared", "global"}},
               {.name = "operation",
                .meaning = "addition, compare and swap, or exchange",
                .choices = {"add_int", "add_float", "add_int64", "cas_int", "exch_int"},
                .defaults = {"add_int", "add_float", "add_int64", "cas_int", "exch_int"}},
               {.name = "returns",
                .meaning = "whether the old value comes back (atom) or not (red)",
                .choices = {"yes", "no"},
                .defaults = {"yes", "no"}},
               {.name = "target",
                .meaning = "one word for all lanes (cores of a CPU), one for each warp, one for "
                           "each core on shared lines, or one for each",
                .choices = {"same", "warp", "line", "disjoint"},
                .defaults = {"same", "warp", "line", "disjoint"}}},
      .quantities = {{"atomic_latency",
                      "cycles of a warp's, or lone core's, operation that needs "
                      "the last one"},
                     {"warp_atomic_cycles", "SM cycles of a warp's operation where SMs are full"},
                     {"core_atomic_cycles", "cycles of a core's operation where all are at work"},
                     {"atomics_per_cycle", "operations of lanes, of an SM; of a core of a CPU"},
                     {"atomic_rate", "operations of lanes, of all SMs; of all cores of a CPU"},
                     {"core_clock", "clock of the core while it worked"}},
      .seconds_per_case = 0.04,
      .excludes = excluded};
}

Kind kind_of(const Session& session) {
  const std::string& operation = session.param("operation");
  const std::string& target = session.param("target");
  Kind kind;
  kind.space = session.param("space") == "shared" ? Space::shared : Space::global;
  kind.returns = session.param("returns") == "yes";
  kind.target = target == "same"   ? Target::same
                : target == "warp" ? Target::warp
                : target == "line" ? Target::line
                                   : Target::disjoint;
  kind.operation = operation == "add_int"     ? Operation::add_int
                   : operation == "add_float" ? Operation::add_float
                   : operation == "add_int64" ? Operation::add_int64
                   : operation == "cas_int"   ? Operation::cas_int
                                              : Operation::exch_int;
  return kind;
}

Placement placement_of(const Kind& kind) {
  const std::uint32_t width = width_of(kind.operation);
  switch (kind.target) {
    case Target::same:
      return {};
    case Target::warp:
      return {.by_warp = warp_pitch, .by_lane = 0};
    case Target::line:
    case Target::disjoint:
      return {.by_warp = warp_lanes * width, .by_lane = width};
  }
  throw std::logic_error{"a target that is none"};
}

std::uint32_t bytes_for(const Kind& kind, std::uint32_t warps) {
  return std::max(warp_pitch, warps * placement_of(kind).by_warp);
}

std::uint32_t result_words(const Kind& kind, const Launch& launch) {
  const std::uint32_t width = width_of(kind.operation);
  if (kind.space == Space::shared) {
    return launch.blocks * (bytes_for(kind, launch.warps_of_block) / width);
  }
  return bytes_for(kind, launch.blocks * launch.warps_of_block) / width;
}

std::uint32_t Expected::target_of(std::uint32_t thread) const {
  const std::uint32_t threads_of_block = launch_.warps_of_block * warp_lanes;
  const bool shared = kind_.space == Space::shared;
  const std::uint32_t block = thread / threads_of_block;
  const std::uint32_t place = shared ? thread % threads_of_block : thread;
  const Placement placement = placement_of(kind_);
  const std::uint32_t byte =
      place / warp_lanes * placement.by_warp + place % warp_lanes * placement.by_lane;
  return (shared ? block * words_of_area_ : 0) + byte / width_of(kind_.operation);
}

Expected::Expected(const Kind& kind, const Launch& launch)
    : kind_{kind},
      launch_{launch},
      mask_{kind.operation == Operation::add_int64 ? ~std::uint64_t{0} : low_half},
      words_of_area_{kind.space == Space::shared ? result_words(kind, launch) / launch.blocks
                                                 : result_words(kind, launch)},
      words_(result_words(kind, launch)) {
  const bool exchange = kind.operation == Operation::exch_int;
  if (exchange) hashes_.resize(words_.size());
  for (std::uint32_t i = 0; i < words_.size(); ++i) {
    words_[i] = initial_word(kind.operation, i % words_of_area_);
    if (exchange) hashes_[i] = hashed_word(static_cast<std::uint32_t>(words_[i]));
  }
  checks_ = words_.size();
  const std::uint32_t each = launch.operations / launch.chains;
  for (std::uint32_t thread = 0; thread < launch.threads(); ++thread) {
    const std::uint32_t target = target_of(thread);
    std::uint32_t held = 0;
    for (std::uint32_t chain = 0; chain < launch.chains; ++chain) {
      const std::uint64_t operand = operand_of(kind.operation, thread, chain);
      if (is_addition(kind.operation)) words_[target] = (words_[target] + each * operand) & mask_;
      if (exchange) hashes_[target] += hashed_word(static_cast<std::uint32_t>(operand));
      held += static_cast<std::uint32_t>(operand);
    }
    if (is_addition(kind.operation)) left_.push_back(held);
  }
  checks_ += left_.size();
}

std::size_t Expected::different(const Result& result) const {
  if (result.words.size() != words_.size() || result.left.size() != launch_.threads()) {
    throw std::length_error{"a result of another launch"};
  }
  std::size_t wrong = 0;
  if (is_addition(kind_.operation)) {
    for (std::size_t i = 0; i < words_.size(); ++i)
      wrong += result.words[i] == words_[i] ? 0U : 1U;
    for (std::size_t i = 0; i < left_.size(); ++i)
      wrong += result.left[i] == left_[i] ? 0U : 1U;
    return wrong;
  }
  // What each word must be follows from what its threads say that they hold: of exchanges, all
  // values that met there; of swaps, how often one of them won. Zeros of words without threads
  // leave them as they were.
  std::vector<std::uint32_t> told(words_.size());
  for (std::uint32_t thread = 0; thread < launch_.threads(); ++thread)
    told[target_of(thread)] += result.left[thread];
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const auto word = static_cast<std::uint32_t>(result.words[i]);
    const bool right = kind_.operation == Operation::exch_int
                           ? hashed_word(word) + told[i] == hashes_[i]
                           : word == static_cast<std::uint32_t>(words_[i]) + told[i] * swap_step;
    wrong += right ? 0U : 1U;
  }
  return wrong;
}

std::uint32_t operations_for(const Kind& kind, const Launch& launch, double seconds,
                             double seconds_each) {
  constexpr double least_each = 5e-9;  // no chip is as fast: keeps the number in bounds
  auto most = static_cast<std::uint32_t>(seconds / std::max(seconds_each, least_each));
  if (kind.operation == Operation::add_float) {
    const std::uint32_t sharers = kind.target == Target::disjoint ? 1
                                  : kind.target == Target::warp   ? warp_lanes
                                  : kind.space == Space::shared ? launch.warps_of_block * warp_lanes
                                                                : launch.threads();
    constexpr std::uint32_t largest_operand = 2;
    most = std::min(most, (exact_floats - 4) / (sharers * largest_operand));
  }
  return std::max(2U, most / unroll) * unroll;
}

void report(Session& session, const Collection<Observation>& seen, const Kind& kind) {
  const Timed timed{session, seen};
  const auto gate = [&](auto&& inside, auto&& outside) {
    timed.timers(inside, "clock64_slope", outside, "event_slope");
  };
  if (kind.returns) {
    timed.add("atomic_latency", "cycle", "clock64_slope", &Observation::chain_inside);
    timed.add("atomic_latency", "cycle", "event_slope", &Observation::chain_outside);
    gate(&Observation::chain_inside, &Observation::chain_outside);
  }
  timed.add("warp_atomic_cycles", "cycle", "clock64_slope", &Observation::inside);
  timed.add("warp_atomic_cycles", "cycle", "event_slope", &Observation::outside);
  gate(&Observation::inside, &Observation::outside);
  timed.add("atomics_per_cycle", "1/cycle", "clock64_slope",
            [](const Observation& o) { return warp_lanes / o.inside; });
  timed.add("atomic_rate", "1/s", "event_slope", &Observation::operations_per_second);
  timed.core_clock("clock64_over_globaltimer", &Observation::core_hertz);
}

STRATA_DECLARED(declare);

}  // namespace strata::atomics
