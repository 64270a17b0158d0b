// Counting of any piece of work: what the hardware counted of it alone, held against what a model
// says that it must count.
#pragma once

#include "harness/counters/counters.hpp"
#include "harness/measure/session.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// A piece of work that is counted beside a launch of the same kernel with nothing to do.
struct CountedWork {
  std::function<void()> prepare;   ///< brings about the state in which the work is timed
  std::function<void()> work;      ///< launches it
  std::function<void()> overhead;  ///< launches the same kernel with no work to do: what is counted
                                   ///< there is not the work's, and is taken off
  std::function<void()> check = nullptr;  ///< what the work left behind, before a row is added
};

/// What was counted of a piece of work, and of the launch without work. Only quantities that add
/// up: a ratio of the whole less a ratio of a part means nothing.
struct Counted {
  Counts whole;
  Counts overhead;

  /// whole − overhead; nothing for what was not counted.
  [[nodiscard]] std::optional<double> net(std::string_view quantity) const;
};

/// Counts the work under session.counters(), last of all launched by it, and adds each quantity of
/// the counter plan to the session as it was counted. Throws Skipped where a profiler outside does
/// the counting, std::logic_error where the session does not count. Nothing where the counts come
/// with a later pass: the session then waits for them, and the caller has nothing more to say.
[[nodiscard]] std::optional<Counted> count(Session& session, const CountedWork& work);

/// What a model says of a counted quantity.
struct Expectation {
  std::string quantity;  ///< of a counter set: "shared_load_wavefronts"
  double predicted = 0;
  double bound = 0;  ///< relative; 0: the counts are whole numbers, and equal
};

/// `model`: every expected quantity was counted as predicted. Unverified when one was not counted.
[[nodiscard]] Gate model_gate(std::span<const Expectation> expected, const Counted& counted);

/// count(), then for each expectation a row `QUANTITY_per_UNIT` counted (method cupti_net) and
/// modelled (`method`), both ÷ `units`; then the gate.
struct Modelled {
  std::span<const Expectation> expected;
  std::string method;  ///< of the model: "bank_model"
  std::string unit;    ///< singular, for the row's name: "load"
  double units = 1;    ///< how many of them the work did
};
/// The rows alone.
void report_expected(Session& session, const Modelled& model, const Counted& counted);
std::optional<Counted> count_and_compare(Session& session, const CountedWork& work,
                                         const Modelled& model);

}  // namespace strata
