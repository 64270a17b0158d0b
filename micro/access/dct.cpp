#include "micro/access/dct.hpp"

#include "harness/cpu/host_machine.hpp"
#include "harness/cpu/thread_team.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/cpu/widest.hpp"
#include "harness/measure/engine.hpp"
#include "harness/model/word_patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace strata::dct {
namespace {

constexpr std::uint32_t half_period = period / 2;
constexpr Choices sizes{std::pair{"seed", false}, std::pair{"large", true}};

double cosine(std::uint32_t k) {
  return std::cos(std::numbers::pi / half_period * (k % period));
}

/// In double precision, with all cosines or with their magnitudes.
std::vector<double> transformed(std::span<const std::uint8_t> image, bool magnitudes) {
  std::vector<double> table(pixels);
  for (std::uint32_t at = 0; at < pixels; ++at) {
    const double one = cosine((2 * (at / side) + 1) * (at % side));
    table[at] = magnitudes ? std::abs(one) : one;
  }
  std::vector<double> rows(pixels);
  std::vector<double> all(pixels);
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      for (std::uint32_t u = 0; u < side; ++u)
        rows[y * side + u] += image[y * side + x] * table[x * side + u];
    }
  }
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t v = 0; v < side; ++v) {
      for (std::uint32_t u = 0; u < side; ++u)
        all[v * side + u] += rows[y * side + u] * table[y * side + v];
    }
  }
  return all;
}

bool is_direct(Form form) {
  return form <= Form::mended;
}

/// Rows of the time and of the terms of the direct sum per second.
void add_term_rate(Experiment& experiment, double images) {
  const auto& timers = std::get<TimerPair>(experiment.checks.front());
  experiment.rows.push_back({"term_rate", "term/s", timers.second_method,
                             [seconds = timers.second, images](const Sample& seen) {
                               return images * terms / seconds(seen);
                             }});
}

double bytes_of(double images) {
  return images * pixels * (1 + sizeof(float));
}

std::optional<std::string> excluded(const Params& params, Backend backend) {
  const Form form = forms.of(params.at("form"));
  const bool of_both = form == Form::separable;
  const bool of_cpu = !of_both && form > Form::separable;
  if (!of_both && of_cpu != (backend == Backend::host)) {
    return of_cpu ? "a CPU variant" : "a GPU variant";
  }
  if (!sizes.of(params.at("size"))) return std::nullopt;
  if (backend == Backend::host) return "a CPU transforms one image";
  if (!of_both) return "direct sums of a batch would take too long";
  return std::nullopt;
}

}  // namespace

Benchmark declare() {
  return {
      .suite = "micro",
      .name = "dct",
      .question =
          "What do short words and their grouping cost in a cosine transform by direct sums?",
      .axes = {sizes.axis("size", "one image of 256 × 256, or a batch of more than four times L2"),
               forms.axis("form",
                          "of the kernel: as in the paper before its tool, after its tool, by "
                          "hand, as strata access mend makes it, as written today, and in two "
                          "passes; on a CPU the sum with computed cosines, with a table, on all "
                          "cores, with vectors")},
      .data_axes = 1,
      .counter_sets = {"flops", "issue", "shared"},
      .quantities = {{"kernel_time",
                      "duration of one transform; if only part of the coefficients is computed, "
                      "scaled to all"},
                     {"useful_bandwidth", "bytes of the image and its coefficients over that time"},
                     {"term_rate", "terms of the direct sum over that time"},
                     {"core_clock", "clock of the core between the transforms"},
                     {"l1_load_requests_per_launch", "counted and modelled"},
                     {"l1_load_sectors_per_launch", "counted and modelled"},
                     {"l1_store_sectors_per_launch", "counted and modelled"}},
      .seconds_per_case = 1,
      .excludes = excluded};
}

std::uint32_t images_of(const Params& params, std::uint64_t cache) {
  constexpr std::uint64_t caches = 4;
  return sizes.of(params.at("size")) ? static_cast<std::uint32_t>(caches * cache / pixels + 1) : 1;
}

std::vector<std::uint8_t> image(std::uint32_t number) {
  std::vector<std::uint8_t> bytes(pixels);
  constexpr std::uint32_t words = pixels / sizeof(std::uint32_t);
  for (std::uint32_t i = 0; i < words; ++i) {
    const std::uint32_t word = hashed_word(number * words + i);
    std::memcpy(&bytes[i * sizeof word], &word, sizeof word);
  }
  return bytes;
}

std::vector<float> cosines() {
  std::vector<float> table(pixels);
  for (std::uint32_t at = 0; at < pixels; ++at)
    table[at] = static_cast<float>(cosine((2 * (at / side) + 1) * (at % side)));
  return table;
}

double cosine_error(Form form) {
  // The CUDA C++ Programming Guide: the error of __cosf is at most 2^-21.19 from -π to π. The
  // angle, at most π, is rounded twice.
  if (is_direct(form)) return std::exp2(-21.19) + 2 * std::numbers::pi * std::exp2(-24);
  // cospif has an error of at most 2 ulp; the host rounds to half an ulp.
  return 2 * std::exp2(-24);
}

Reference reference(std::span<const std::uint8_t> image, double cosine_error) {
  Reference made{.coefficients = transformed(image, /*magnitudes=*/false),
                 .bounds = transformed(image, /*magnitudes=*/true)};
  const double sum = std::accumulate(image.begin(), image.end(), 0.0);
  constexpr double roundings = 2 + 2 * side;
  const double unit = std::exp2(-24);
  const double relative = roundings * unit / (1 - roundings * unit);
  for (double& bound : made.bounds) {
    // The error of terms whose factors have this error, of their roundings, and of the reference.
    const double off = sum * cosine_error * (2 + cosine_error);
    bound = (bound + off) * relative + off + sum * std::exp2(-40);
  }
  made.bounds[0] = 0;
  made.coefficients[0] = sum;
  return made;
}

void check(const Reference& expected, std::span<const float> coefficients,
           std::span<const std::uint32_t> at, Tally& tally) {
  for (const std::uint32_t i : at) {
    const double error = std::abs(static_cast<double>(coefficients[i]) - expected.coefficients[i]);
    tally.one(error <= expected.bounds[i]);  // false for NaN
  }
}

LaunchTraffic predicted(Form form, std::uint32_t images) {
  constexpr std::uint64_t warps = pixels / warp_lanes;
  constexpr std::uint64_t sectors_of_image = pixels / sector_bytes;
  constexpr std::uint64_t sectors_of_result = pixels * sizeof(float) / sector_bytes;
  if (is_direct(form)) {
    // All lanes read the same bytes. In blocks of 16 × 16, a warp's coefficients are in two rows.
    const std::uint64_t width = form == Form::original ? 1 : form == Form::seed_tool ? 4 : 16;
    return {.load_requests = warps * pixels / width,
            .load_sectors = warps * pixels / width,
            .store_requests = warps,
            .store_sectors = sectors_of_result};
  }
  if (form == Form::best) {
    // Each of 128 blocks reads the image once, 512 bytes a warp; a thread computes four
    // coefficients.
    constexpr std::uint64_t blocks = 128;
    return {.load_requests = blocks * pixels / (std::uint64_t{16} * warp_lanes),
            .load_sectors = blocks * sectors_of_image,
            .store_requests = warps,
            .store_sectors = sectors_of_result};
  }
  // Two matrix products in 16 tiles of 64 × 64, each of which reads both sides in 16 steps of 16,
  // one load a thread and side. A warp reads 8 rows of 16 bytes, or two rows of 64 numbers.
  const std::uint64_t products = std::uint64_t{2} * images;
  constexpr std::uint64_t steps = std::uint64_t{16} * 16;
  constexpr std::uint64_t warps_of_block = 8;
  constexpr std::uint64_t of_bytes = 8;
  constexpr std::uint64_t of_numbers = 16;
  return {.load_requests = products * steps * 2 * warps_of_block,
          .load_sectors = images * steps * warps_of_block * (of_bytes + 3 * of_numbers),
          .store_requests = products * 16 * warps_of_block * 4,
          .store_sectors = products * sectors_of_result};
}

launch_series::Series series_of(Form form, std::uint32_t images) {
  constexpr std::uint32_t many_images = 512;  // a millisecond of them
  const std::uint32_t times = form == Form::separable && images == 1 ? many_images : 1;
  return {.few = times, .many = 3 * times};
}

Experiment describe(Form form, std::uint32_t images) {
  Experiment experiment = launch_series::on_gpu(bytes_of(images), series_of(form, images));
  add_term_rate(experiment, images);
  experiment.checked = "coefficients within their rounding bound";
  const LaunchTraffic traffic = predicted(form, images);
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  experiment.counts = CountPlan{
      .length = {.rounds = 1},
      .expected = {{.quantity = "l1_load_requests", .predicted = number(traffic.load_requests)},
                   {.quantity = "l1_load_sectors", .predicted = number(traffic.load_sectors)},
                   {.quantity = "l1_store_sectors", .predicted = number(traffic.store_sectors)}},
      .model = "address_arithmetic",
      .unit = "launch"};
  return experiment;
}

// On a CPU a form transforms some of the coefficients, spread over all of them: as many as take a
// few milliseconds. The separable form transforms all of them.
namespace {

/// The coefficients of one core, by their positions, and what they are computed from.
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
