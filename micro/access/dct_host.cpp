// On a CPU a form transforms some of the coefficients, spread over all of them: as many as take a
// few milliseconds. The separable form transforms all of them.
/// The coefficients of one core, by their positions, and what they are computed from.
#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/widest.hpp"
#include "harness/measure/engine.hpp"
#include "micro/access/dct.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>

namespace strata::dct {
namespace {

struct Job {
  const std::uint8_t* image = nullptr;
  const float* cosines = nullptr;  ///< at (2x+1)u mod `period`; for Separable at x × side + u
  float* rows = nullptr;           ///< for Separable: the result of the first pass
  float* coefficients = nullptr;
  std::span<const std::uint32_t> at;
};

template <class Cosine>
[[gnu::always_inline]] inline void by_terms(const Job& job, const Cosine& cosine_of) {
  for (const std::uint32_t at : job.at) {
    const std::uint32_t u = at % side;
    const std::uint32_t v = at / side;
    float sum = 0;
    for (std::uint32_t y = 0; y < side; ++y) {
      float row = 0;
      for (std::uint32_t x = 0; x < side; ++x) {
        row += static_cast<float>(job.image[y * side + x]) * cosine_of((2 * x + 1) * u) *
               cosine_of((2 * y + 1) * v);
      }
      sum += row;
    }
    job.coefficients[at] = sum;
  }
}

void naively(const Job& job) {
  by_terms(job, [](std::uint32_t k) {
    // The index is not known to the compiler to follow the last one, so each term takes two
    // cosines.
    asm volatile("" : "+r"(k));
    return std::cos(static_cast<float>(from_minus_pi(k)) *
                    (std::numbers::pi_v<float> / half_period));
  });
}

void from_table(const Job& job) {
  by_terms(job, [&](std::uint32_t k) { return job.cosines[k % period]; });
}

constexpr std::uint32_t group_of_row = 16;  // coefficients: the width of the widest vectors

/// As many coefficients of a row at once as a vector has lanes; the table is the one of Separable.
template <std::uint32_t lanes>
[[gnu::always_inline]] inline int by_vectors(const Job& job) {
  using Numbers = VectorOf<float, lanes>;
  for (std::size_t i = 0; i < job.at.size(); i += lanes) {
    const std::uint32_t u = job.at[i] % side;
    const std::uint32_t v = job.at[i] / side;
    Numbers sum{};
    for (std::uint32_t y = 0; y < side; ++y) {
      Numbers row{};
      for (std::uint32_t x = 0; x < side; ++x) {
        Numbers across;
        std::memcpy(&across, job.cosines + std::size_t{x} * side + u, sizeof across);
        const auto pixel = static_cast<float>(job.image[y * side + x]);
        row += pixel * across * job.cosines[y * side + v];
      }
      sum += row;
    }
    std::memcpy(job.coefficients + job.at[i], &sum, sizeof sum);
  }
  return 0;
}

/// As many columns at once, for the requested positions, in two passes.
template <std::uint32_t lanes>
[[gnu::always_inline]] inline int in_two_passes(const Job& job) {
  using Numbers = VectorOf<float, lanes>;
  for (std::uint32_t u = job.at.front() % side; u <= job.at.back() % side; u += lanes) {
    for (std::uint32_t y = 0; y < side; ++y) {
      Numbers row{};
      for (std::uint32_t x = 0; x < side; ++x) {
        Numbers across;
        std::memcpy(&across, job.cosines + std::size_t{x} * side + u, sizeof across);
        row += static_cast<float>(job.image[y * side + x]) * across;
      }
      std::memcpy(job.rows + std::size_t{y} * side + u, &row, sizeof row);
    }
    for (std::uint32_t v = 0; v < side; ++v) {
      Numbers sum{};
      for (std::uint32_t y = 0; y < side; ++y) {
        Numbers row;
        std::memcpy(&row, job.rows + std::size_t{y} * side + u, sizeof row);
        sum += row * job.cosines[y * side + v];
      }
      std::memcpy(job.coefficients + std::size_t{v} * side + u, &sum, sizeof sum);
    }
  }
  return 0;
}

/// The positions that a core transforms: groups of whole columns (Separable), groups of a row
/// (vectors) or single coefficients, spread by an odd step.
std::vector<std::uint32_t> places_of(Form form, std::size_t rank, std::size_t cores) {
  std::vector<std::uint32_t> places;
  if (form == Form::separable) {
    constexpr std::uint32_t groups = side / group_of_row;
    const auto share = [&](std::size_t part) {
      return static_cast<std::uint32_t>(groups * part / cores) * group_of_row;
    };
    for (std::uint32_t u = share(rank); u < share(rank + 1); ++u)
      places.push_back(u);
    return places;
  }
  const std::uint32_t group = form == Form::vectors ? group_of_row : 1;
  const std::uint32_t count = form == Form::naive ? 4 : form == Form::vectors ? 16 : 64;
  constexpr std::uint32_t odd = 40'503;  // about 0.618 of all
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint32_t>(rank * count + i) * odd % (pixels / group);
    for (std::uint32_t lane = 0; lane < group; ++lane)
      places.push_back(number * group + lane);
  }
  return places;
}

// One branch per form.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
void run(Session& session) {
  const Form form = forms.of(session.param("form"));
  auto cpus = allowed_cpus();
  if (form == Form::naive || form == Form::table) cpus.resize(1);
  HostMachine machine{cpus};
  const auto pixels_here = image(0);
  std::vector<float> table = cosines();
  if (form == Form::table || form == Form::all_cores) {
    table.resize(period);
    for (std::uint32_t k = 0; k < period; ++k)
      table[k] = static_cast<float>(cosine(k));
  }
  std::vector<float> rows(pixels);
  std::vector<float> coefficients(pixels);
  std::vector<std::vector<std::uint32_t>> places;
  double done = 0;
  for (std::size_t rank = 0; rank < machine.cores(); ++rank) {
    places.push_back(places_of(form, rank, machine.cores()));
    done += static_cast<double>(places.back().size());
  }
  const double share = form == Form::separable ? 1 : done / pixels;
  const auto vector_code = widest<by_vectors<16>, by_vectors<8>, by_vectors<4>>();
  const auto pass_code = widest<in_two_passes<16>, in_two_passes<8>, in_two_passes<4>>();

  Experiment experiment = launch_series::on_cpu(bytes_of(1));
  add_term_rate(experiment, 1);
  Slope slope{
      .lengths = {.brief = {.rounds = 1, .work = share}, .full = {.rounds = 3, .work = 3 * share}}};
  slope.prepare = [&](const Call&) {
    std::ranges::fill(coefficients, std::numeric_limits<float>::quiet_NaN());
  };
  slope.launch = machine.on_every_core([&](std::size_t rank, const Call& call) {
    const Job job{.image = pixels_here.data(),
                  .cosines = table.data(),
                  .rows = rows.data(),
                  .coefficients = coefficients.data(),
                  .at = places[rank]};
    for (std::uint32_t pass = 0; pass < call.length.rounds && !job.at.empty(); ++pass) {
      if (form == Form::naive) naively(job);
      if (form == Form::table || form == Form::all_cores) from_table(job);
      if (form == Form::vectors) (void)vector_code.run(job);
      if (form == Form::separable) (void)pass_code.run(job);
      asm volatile("" : : : "memory");  // the compiler can drop no pass
    }
    return std::uint64_t{0};
  });
  // The host's own cosines of 32 bits are at least as exact as __cosf, and all forms share one
  // reference.
  const auto& expected = session.cache().keep<Reference>(
      "dct", [&] { return reference(pixels_here, cosine_error(Form::original)); });
  slope.verify = [&](const Call&, std::span<const Stamp>, Tally& tally) {
    for (const auto& mine : places) {
      auto at = mine;
      if (form == Form::separable) {
        for (const std::uint32_t u : mine) {
          for (std::uint32_t v = 1; v < side; ++v)
            at.push_back(v * side + u);
        }
      }
      check(expected, coefficients, at, tally);
    }
  };
  slope.size = launch_series::pairs_by_trial(experiment, slope.lengths);
  experiment.slopes = {slope};
  experiment.checked = "coefficients within their rounding bound";
  experiment.facts = [&](const Experiment&) {
    return Facts{{"share_of_coefficients", share},
                 {"instructions", std::string{form == Form::vectors     ? vector_code.instructions
                                              : form == Form::separable ? pass_code.instructions
                                                                        : "scalar"}}};
  };
  measure(session, machine, experiment);
}

STRATA_BENCHMARK(declare, host, run);

}  // namespace
}  // namespace strata::dct
