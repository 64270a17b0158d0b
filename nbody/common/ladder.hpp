// The ladders. A ladder is a chain of benchmarks with one reference, each of which changes one
// thing of the one before it. nbody/LADDER/ladder.yaml declares its rungs in order; the file of a
// rung holds its code. A build without CUDA has all declarations, and the code of the CPU's rungs.
// Host only.
#pragma once

#include "harness/base/enum_words.hpp"
#include "harness/case/benchmark.hpp"
#include "harness/measure/phases.hpp"
#include "harness/measure/session.hpp"

#include <any>
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// The order in which a rung of gravity adds up the contributions to a body's acceleration. It
/// determines the rounding error.
enum class Sum {
  running,  ///< one single-precision sum over all bodies
  blocks,   ///< a sum for each piece of about 256 bodies at most, and a sum of those
  halves    ///< the same, but a part of each contribution is rounded to half precision
};
constexpr auto words_of(Sum /*unused*/) {
  return std::to_array<std::string_view>({"running", "blocks", "halves"});
}

/// A rung as ladder.yaml declares it, by the keys of its members unless noted. Its name is the
/// prefix of its ladder and the name of its file; its backend follows from the folder, `host` or
/// `rungs`.
struct Rung {
  std::string suite;
  std::string name;
  Backend backend = Backend::host;
  std::string before;                ///< the rung that it changes; empty for the first of a backend
  std::string question;              ///< the question that it answers
  std::string change;                ///< the one change
  std::string source;                ///< first publication
  std::string expectation;           ///< the expected effect, and what the counters should show
  std::vector<Axis> axes;            ///< of its benchmark; the key lists its own, by their names
  double most = 0;                   ///< agents, or terms, with which a case ends within its time
  bool approximate = false;          ///< by the hardware's approximations of reciprocals and roots
  std::vector<KernelPhase> kernels;  ///< with their phase; the key lists its own

  /// Instructions that a warp issues per unit of work of each of its lanes, by the value of an
  /// axis, or for 1; empty if the issue rate is not a meaningful limit.
  std::map<std::uint32_t, double> issue_slots;
  /// Instructions of the GPU's special function unit per unit of work, if they may be the limit.
  double special_functions = 0;

  /// Names of the functions in the ladder's model that predict its distance tests, copies and
  /// launches, the cost of building its data structure, and the cost of a pass.
  std::string tests, traffic, build, costs;
  bool exact = true;  ///< of neighbours; if not, some agents may miss neighbours

  // Of gravity:
  Sum sum = Sum::running;
  unsigned bodies_of_block = 0;  ///< computed by a block; 0 if an axis sets it, and on a CPU
  bool launch_for_each_system = false;
  unsigned threads_of_read = 0;  ///< of a warp or block that one read of a body serves; 0: several
  double vector_operations = 0;  ///< per interaction, on a CPU; 0: not counted
  std::vector<std::string> layouts;  ///< layouts that it supports; the first is the default

  /// 0 where `issue_slots` has no such value.
  [[nodiscard]] double issue_slots_at(std::uint32_t value = 1) const;
  [[nodiscard]] bool has_axis(std::string_view axis) const;
};

/// The suites that have a ladder, sorted.
[[nodiscard]] std::vector<std::string> ladders();
/// All rungs of a ladder, in order. Throws std::out_of_range for a suite without one.
[[nodiscard]] const std::vector<Rung>& ladder(std::string_view suite);
/// Throws std::out_of_range for a name that no rung has.
[[nodiscard]] const Rung& rung_named(std::string_view name);

/// Declares rungs, before main; the text must live on. That of a ladder also has `prefix`, `axes`,
/// `quantities`, and for each backend the axes that its rungs share; a text without these adds
/// rungs to the end of a ladder.
bool add_rungs(std::string_view yaml);
/// Enrols a ladder's benchmarks, before main. complete(benchmark, rung) adds what YAML cannot
/// express.
bool enrol_ladder(std::string_view suite, void (*complete)(Benchmark&, const Rung&));

namespace detail {

/// The code of a rung: the function that prepares it, and the body of its benchmark.
struct RungCode {
  std::any make;
  Body body = nullptr;
};
std::map<std::string, RungCode, std::less<>>& rung_codes();

}  // namespace detail

/// The function that prepares a rung. Throws std::out_of_range if this build has none of that type.
template <class Make>
[[nodiscard]] Make maker_of(std::string_view name) {
  const auto found = detail::rung_codes().find(name);
  if (found != detail::rung_codes().end()) {
    if (const auto* const make = std::any_cast<Make>(&found->second.make)) return *make;
  }
  throw std::out_of_range{"no such code of rung '" + std::string{name} + "'"};
}

/// Registers the code of a rung: what prepares it for measure_rung(session, rung, make).
template <auto make>
bool add_code(const char* name) {
  const Body body = [](Session& session) {
    measure_rung(session, rung_named(session.which().benchmark), make);
  };
  return detail::rung_codes().emplace(name, detail::RungCode{+make, body}).second;
}

}  // namespace strata

#define STRATA_RUNG(name, make) \
  [[maybe_unused]] static const bool strata_rung_added = ::strata::add_code<make>(name)
