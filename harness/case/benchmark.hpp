#pragma once

#include "harness/case/case.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

class Session;

/// A named list of values. Either `choices` names all that are allowed, in canonical order, or any
/// whole number from `minimum` to `maximum` is.
struct Axis {
  std::string name;
  std::string meaning;
  std::vector<std::string> choices;
  long long minimum = 0;
  long long maximum = 0;
  std::vector<std::string> defaults;  ///< used when a sweep does not name the axis

  /// The canonical form of `text` on this axis, or nothing when the axis does not have it.
  [[nodiscard]] std::optional<std::string> canonical(std::string_view text) const;
  /// Canonical order: as listed, or numeric.
  [[nodiscard]] bool before(const std::string& a, const std::string& b) const;
  /// "aos, soa, …" or "a whole number from 1 to 64": for messages.
  [[nodiscard]] std::string describe() const;
  bool operator==(const Axis&) const = default;
};

/// What a benchmark reports, for people: `strata list` and the report print it.
struct Quantity {
  std::string name;
  std::string meaning;
  bool operator==(const Quantity&) const = default;
};

/// A question, its axes and its answers. Declared once, whatever backends implement it.
struct Benchmark {
  std::string suite;
  std::string name;
  std::string question;
  std::vector<Axis> axes;  ///< outermost first: cases run in this order, so put what is dear to
                           ///< change first
  /// How many of the first axes decide the data that a case reads. Cases that agree in them share
  /// their data through the cache, and are counted in one go.
  std::size_t data_axes = 0;
  /// Counter sets that its gates need beside `memory`; counted where the user leaves the choice.
  std::vector<std::string> counter_sets = {};
  std::vector<Quantity> quantities;
  double seconds_per_case = 0.1;  ///< rough cost, for estimates before anything was measured
  /// Why a combination has no meaning (it then is no case at all), or nothing. May be empty.
  std::function<std::optional<std::string>(const Params&, Backend)> excludes;

  [[nodiscard]] const Axis* axis(std::string_view name) const;
};

/// Measures one case: reads its parameters from the session, gives it measurements and gates.
/// Throws Skipped where the device cannot do it, anything else where it failed.
using Body = void (*)(Session&);

/// A benchmark and the backends that this executable holds for it.
struct Enrolled {
  Benchmark benchmark;
  Body cuda = nullptr;
  Body host = nullptr;

  [[nodiscard]] Body body(Backend backend) const { return backend == Backend::cuda ? cuda : host; }
};

/// Every benchmark linked into this executable, sorted by name. Throws std::logic_error that names
/// a benchmark whose declaration is wrong (see detail::merge).
[[nodiscard]] const std::vector<Enrolled>& benchmarks();

/// The one called `name`, or null.
[[nodiscard]] const Enrolled* find_benchmark(std::string_view name);

namespace detail {

/// One backend of a benchmark, as STRATA_BENCHMARK hands it over.
struct Enrolment {
  Benchmark (*declare)() = nullptr;
  Backend backend = Backend::host;
  Body body = nullptr;
};

/// Registers a backend, before main. Both backends of a benchmark pass the same declaration.
/// Without a body it says only that there is such a benchmark.
bool enrol(Benchmark (*declare)(), Backend backend, Body body);

/// One element for each name, sorted by name. Throws std::logic_error for a name enrolled twice on
/// a backend, two declarations that differ, names that cannot stand in a case id or a setting, an
/// axis without values or with defaults that it does not have.
[[nodiscard]] std::vector<Enrolled> merge(const std::vector<Enrolment>& entries);

}  // namespace detail

}  // namespace strata

/// Enrols one backend of a benchmark: the only line that a new file needs beside its own code.
#define STRATA_BENCHMARK(declare, backend, body)                 \
  [[maybe_unused]] static const bool strata_enrolled_##backend = \
      ::strata::detail::enrol(declare, ::strata::Backend::backend, body)

/// Says that a benchmark exists, in a file that every build has, so that a build without its only
/// backend still understands sweeps that name it.
#define STRATA_DECLARED(declare)                          \
  [[maybe_unused]] static const bool strata_is_declared = \
      ::strata::detail::enrol(declare, ::strata::Backend::cuda, nullptr)
