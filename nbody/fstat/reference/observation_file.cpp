#include "nbody/fstat/reference/observation_file.hpp"

#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace strata::fstat {
namespace {

/// The first bytes of a file, in its layout.
struct Header {
  DatasetStart start{.version = 3};
  std::uint32_t sky = 0;
  std::uint32_t cells = 0;
  std::uint32_t stacks = 0;
  std::uint32_t frequencies = 0;
  std::uint32_t detectors = 0;
  std::uint32_t signals = 0;
  std::uint32_t first_bin = 0;
  std::uint32_t bins = 0;
  DatasetDigest digest{};
  std::uint64_t seed = 0;
  double first_frequency = 0;
  double frequency_step = 0;
  double spin_step = 0;
  double seconds = 0;
  std::uint32_t numbers = 0;
  std::uint32_t has_results = 0;

  [[nodiscard]] Problem problem() const {
    return {.sky = sky,
            .cells = cells,
            .stacks = stacks,
            .frequencies = frequencies,
            .detectors = detectors,
            .seed = seed};
  }
};
constexpr std::size_t header_bytes = 128;
static_assert(sizeof(Header) == header_bytes && offsetof(Header, digest) == dataset_digest_at);

constexpr DatasetKind kind_of_file{.version = 3,
                                   .what = "a file of an observation",
                                   .generator = "strata fstat generate",
                                   .header_bytes = header_bytes};

/// Calls visit(vector) with all of a file's, in their order.
template <class Data, class Visit>
void visit_vectors(Data& data, const Visit& visit) {
  visit(data.seen.first_signal);
  visit(data.seen.offsets);
  visit(data.seen.spectra);
  visit(data.seen.timings);
  visit(data.seen.antennas);
  if (!data.results) return;
  visit(data.results->sums);
  visit(data.results->two_f);
}
/// With vectors as long as the header requires.
ObservationData empty_data(const Header& header) {
  const Problem problem = header.problem();
  ObservationData data{.seen = {.problem = problem,
                                .grid = {.first_frequency = header.first_frequency,
                                         .frequency_step = header.frequency_step,
                                         .spin_step = header.spin_step,
                                         .seconds = header.seconds,
                                         .first_bin = header.first_bin,
                                         .bins = header.bins}},
                       .results = std::nullopt};
  const std::size_t of_all = std::size_t{problem.sky} * header.signals;
  data.seen.first_signal.resize(problem.groups() + 1U);
  data.seen.offsets.resize(header.signals);
  data.seen.spectra.resize(header.numbers);
  data.seen.timings.resize(of_all);
  data.seen.antennas.resize(of_all);
  if (header.has_results == 0) return data;
  data.results.emplace();
  data.results->sums.resize(problem.results());
  data.results->two_f.resize(problem.results());
  return data;
}
std::uint64_t bytes_of(const Header& header) {
  const Problem problem = header.problem();
  const std::uint64_t of_all = std::uint64_t{problem.sky} * header.signals;
  const std::uint64_t of_result = header.has_results * (sizeof(ExactSums) + sizeof(double));
  return header_bytes + (problem.groups() + 1U + header.signals) * sizeof(std::uint32_t) +
         header.numbers * sizeof(Bin) + of_all * (sizeof(Timing) + sizeof(Antenna)) +
         problem.results() * of_result;
}

/// Of a file of `size` bytes that begins with `start`; refuses one that does not agree with it.
Header header_of(std::string_view start, std::uint64_t size, std::string_view name) {
  Header header;
  std::memcpy(static_cast<void*>(&header), start.data(), header_bytes);
  check(name, header.problem());
  const std::uint64_t most_of_all = std::uint64_t{header.problem().groups()} * most_signals;
  require_of_dataset(header.signals >= 1 && header.signals <= most_of_all, name,
                     fmt::format("has {} signals", header.signals),
                     fmt::format("1 to {}", most_of_all), make_dataset_again);
  require_of_dataset(header.has_results <= 1, name,
                     fmt::format("has the word {} on its results", header.has_results), "0 or 1",
                     make_dataset_again);
  const std::uint64_t wanted = bytes_of(header);
  require_of_dataset(size == wanted, name, fmt::format("has {} bytes", size),
                     fmt::format("{} by its header", wanted),
                     size < wanted ? "it is cut short: copy it again, or make it again"
                                   : "something was added: copy it again, or make it again");
  return header;
}

}  // namespace

void write_observation(const std::filesystem::path& file, const ObservationData& data,
                       Existing existing) {
  check(file.string(), data.seen);
  check_target(file, existing);
  const auto& [problem, grid, first, offsets, spectra, timings, antennas] = data.seen;
  const Header header{.sky = problem.sky,
                      .cells = problem.cells,
                      .stacks = problem.stacks,
                      .frequencies = problem.frequencies,
                      .detectors = problem.detectors,
                      .signals = data.seen.signals(),
                      .first_bin = grid.first_bin,
                      .bins = grid.bins,
                      .seed = problem.seed,
                      .first_frequency = grid.first_frequency,
                      .frequency_step = grid.frequency_step,
                      .spin_step = grid.spin_step,
                      .seconds = grid.seconds,
                      .numbers = static_cast<std::uint32_t>(spectra.size()),
                      .has_results = data.results ? 1U : 0U};
  std::string bytes(header_bytes, '\0');
  std::memcpy(bytes.data(), &header, header_bytes);
  bytes.reserve(bytes_of(header));
  visit_vectors(data, [&](const auto& vector) {
    const void* const numbers = vector.data();
    bytes.append(static_cast<const char*>(numbers), vector.size() * sizeof vector[0]);
  });
  write_sealed(file, std::move(bytes), existing);
}

ObservationData read_observation(const std::filesystem::path& file) {
  const std::string name = file.string();
  Header header;
  ObservationData data;
  read_sealed(
      file, kind_of_file,
      [&](std::string_view start, std::uint64_t size) { header = header_of(start, size, name); },
      [&](std::string_view bytes) {
        data = empty_data(header);
        const char* at = bytes.data() + header_bytes;
        visit_vectors(data, [&](auto& vector) {
          const std::size_t size = vector.size() * sizeof vector[0];
          std::memcpy(static_cast<void*>(vector.data()), at, size);
          at += size;
        });
      });
  check(name, data.seen);
  for (std::size_t i = 0; data.results && i < data.results->two_f.size(); ++i) {
    const auto& [a, b] = data.results->sums[i];
    const double all = std::norm(a) + std::norm(b) + data.results->two_f[i];
    require_of_dataset(std::isfinite(all), name, fmt::format("result {} is not finite", i),
                       "finite numbers", make_dataset_again);
  }
  return data;
}

}  // namespace strata::fstat
