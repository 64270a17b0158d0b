#pragma once

#include "harness/case/case.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

class Session;
struct Experiment;
struct GpuFacts;

/// A named list of values: `choices` in canonical order, or all integers within bounds.
struct Axis {
  std::string name;
  std::string meaning;
  std::vector<std::string> choices;
  long long minimum = 0;
  long long maximum = 0;
  std::vector<std::string> defaults;  ///< used when a sweep does not name the axis

  /// The canonical form of `text`; empty for a value that the axis does not have.
  [[nodiscard]] std::optional<std::string> canonical(std::string_view text) const;
  /// For messages: "aos, soa, …" or "an integer from 1 to 64".
  [[nodiscard]] std::string describe() const;
  bool operator==(const Axis&) const = default;
};

/// A quantity that a benchmark reports, described for `strata list` and the report.
struct Quantity {
  std::string name;
  std::string meaning;
  bool operator==(const Quantity&) const = default;
};

/// The declaration of a benchmark, shared by all backends that implement it.
struct Benchmark {
  std::string suite;
  std::string name;
  std::string question;
  std::vector<Axis> axes;  ///< outermost first: the most expensive to change
  /// Number of leading axes that determine the data of a case. Cases that agree in them share their
  /// data through the cache, and are counted in one session.
  std::size_t data_axes = 0;
  /// Counter sets that its gates need besides `memory`, counted with --counters auto.
  std::vector<std::string> counter_sets = {};
  std::vector<Quantity> quantities;
  double seconds_per_case = 0.1;  ///< rough cost, for estimates
  /// Why a combination of values is not a case; empty if it is one. May be null.
  std::function<std::optional<std::string>(const Params&, Backend)> excludes;

  [[nodiscard]] const Axis* axis(std::string_view name) const;
};

/// Measures one case: reads the parameters from the session and adds measurements and gates to it.
/// Throws Skipped when the device cannot run the case; any other exception is a failure.
using Body = void (*)(Session&);

/// A case on a GPU with these facts, except its launches: rows, lengths, expected results,
/// predicted counts and checks. Needs no GPU. Throws Skipped when such a GPU cannot run the case.
using Description = Experiment (*)(const Params&, const GpuFacts&);

/// A benchmark and its implementations in this executable.
struct Enrolled {
  Benchmark benchmark;
  Body cuda = nullptr;
  Body host = nullptr;
  Description describe = nullptr;  ///< null where no GPU is measured

  [[nodiscard]] Body body(Backend backend) const { return backend == Backend::cuda ? cuda : host; }
};

/// Every benchmark linked into this executable, sorted by name. Throws std::logic_error that names
/// a benchmark whose declaration is wrong (see detail::merge).
[[nodiscard]] const std::vector<Enrolled>& benchmarks();

/// The one of `known` called `name`, or null.
[[nodiscard]] const Enrolled* find_benchmark(std::string_view name,
                                             std::span<const Enrolled> known = benchmarks());

namespace detail {

/// One registration by STRATA_BENCHMARK.
struct Enrolment {
  std::function<Benchmark()> declare;
  Backend backend = Backend::host;
  Body body = nullptr;
  Description describe = nullptr;
};

/// Registers one backend before main; a null body only declares the benchmark.
bool enrol(Benchmark (*declare)(), Backend backend, Body body, Description describe = nullptr);
/// Registers before main what `list` returns when the benchmarks are read, for those that data
/// declare.
bool enrol_all(std::function<std::vector<Enrolment>()> list);

/// One element for each name, sorted by name. Throws std::logic_error for a backend registered
/// twice, declarations that differ, names that are invalid in a case id or a setting, and an axis
/// without values or with invalid defaults.
[[nodiscard]] std::vector<Enrolled> merge(const std::vector<Enrolment>& entries);

}  // namespace detail

}  // namespace strata

/// Registers one backend of a benchmark: the only line that a new file needs besides its own code.
#define STRATA_BENCHMARK(declare, backend, body)                 \
  [[maybe_unused]] static const bool strata_enrolled_##backend = \
      ::strata::detail::enrol(declare, ::strata::Backend::backend, body)

/// The same for a GPU, in a file that every build compiles: without a CUDA compiler, which alone
/// sees `body`, it only declares and describes the benchmark.
#ifdef __CUDACC__
#define STRATA_GPU_BENCHMARK(declare, describe, body)       \
  [[maybe_unused]] static const bool strata_enrolled_cuda = \
      ::strata::detail::enrol(declare, ::strata::Backend::cuda, body, describe)
#else
#define STRATA_GPU_BENCHMARK(declare, describe, body)       \
  [[maybe_unused]] static const bool strata_enrolled_cuda = \
      ::strata::detail::enrol(declare, ::strata::Backend::cuda, nullptr, describe)
#endif
