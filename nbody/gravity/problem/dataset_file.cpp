#include "nbody/gravity/problem/dataset_file.hpp"

#include "harness/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace strata::nbody {
namespace {

/// The first bytes of a file, in its byte layout.
struct Header {
  DatasetStart start{.version = 1};
  std::uint32_t systems = 0;
  std::uint32_t bodies = 0;
  std::uint32_t floats = 0;  ///< per body
  std::uint32_t steps = 0;
  float softening_squared = 0;
  float time_step = 0;
  std::uint64_t seed = 0;
  DatasetDigest digest{};

  [[nodiscard]] std::uint64_t total() const { return std::uint64_t{systems} * bodies; }
};
constexpr std::size_t header_bytes = 80;
static_assert(sizeof(Header) == header_bytes && offsetof(Header, digest) == dataset_digest_at);

constexpr std::uint32_t floats_without_mass = field_count - 1;
constexpr DatasetKind kind{.version = 1,
                           .what = "a file of bodies",
                           .generator = "strata nbody generate",
                           .header_bytes = header_bytes};

constexpr std::array<std::string_view, field_count> field_names{"px", "py", "pz",  "vx",
                                                                "vy", "vz", "mass"};

/// Refuses a softening, time step or bodies from which no step can start.
void check_numbers(const Dataset& dataset, std::string_view name, std::string_view fix) {
  for (const auto& [what, number] : {std::pair{"squared softening", dataset.softening_squared},
                                     std::pair{"time step", dataset.time_step}}) {
    if (std::isfinite(number) && number > 0) continue;
    refuse({name}, fmt::format("the {} is {}", what, number), "a finite number above 0", fix);
  }
  const Bodies& bodies = dataset.bodies;
  for (std::size_t i = 0; i < bodies.total(); ++i) {
    for (std::size_t f = 0; f < field_count; ++f) {
      const float number = bodies.fields[f][i];
      if (std::isfinite(number)) continue;
      refuse({name},
             fmt::format("{} of body {} of system {} is {}", field_names[f], i % bodies.bodies,
                         i / bodies.bodies, number),
             "finite numbers", fix);
    }
  }
}

std::string encoded(const Dataset& dataset) {
  const Header header{.systems = dataset.bodies.systems,
                      .bodies = dataset.bodies.bodies,
                      .floats = dataset.floats_per_body(),
                      .steps = dataset.steps,
                      .softening_squared = dataset.softening_squared,
                      .time_step = dataset.time_step,
                      .seed = dataset.seed};
  std::string bytes(header_bytes + header.total() * header.floats * sizeof(float), '\0');
  char* at = bytes.data() + header_bytes;
  for (std::size_t i = 0; i < header.total(); ++i) {
    for (std::size_t f = 0; f < header.floats; ++f, at += sizeof(float))
      std::memcpy(at, &dataset.bodies.fields[f][i], sizeof(float));
  }
  std::memcpy(bytes.data(), &header, header_bytes);
  return bytes;
}

/// The header of a file of `size` bytes that begins with `start`. Refuses a file that contradicts
/// its header.
Header header_of(std::string_view start, std::uint64_t size, std::string_view name) {
  const auto require = [name](bool holds, const std::string& found, const std::string& expected,
                              std::string_view fix) {
    require_of_dataset(holds, name, found, expected, fix);
  };
  Header header;
  std::memcpy(&header, start.data(), header_bytes);
  require(header.total() > 0 && header.total() <= most_bodies,
          fmt::format("has {} × {} bodies", header.systems, header.bodies),
          fmt::format("1 to {} in all", most_bodies), make_dataset_again);
  require(header.floats == floats_without_mass || header.floats == field_count,
          fmt::format("has bodies of {} floats", header.floats), "6, or 7 with a mass",
          make_dataset_again);
  const std::uint64_t wanted = header_bytes + header.total() * header.floats * sizeof(float);
  require(size == wanted, fmt::format("has {} bytes", size),
          fmt::format("{} for {} × {} bodies of {} floats", wanted, header.systems, header.bodies,
                      header.floats),
          size < wanted ? "it is truncated: copy it again, or generate it again"
                        : "it has extra bytes: copy it again, or generate it again");
  return header;
}

Dataset decoded(std::string_view file, const Header& header) {
  Dataset dataset{.bodies = empty_bodies(header.systems, header.bodies),
                  .seed = header.seed,
                  .steps = header.steps,
                  .softening_squared = header.softening_squared,
                  .time_step = header.time_step};
  std::ranges::fill(dataset.bodies.field(Field::mass), 1.0F);
  const char* at = file.data() + header_bytes;
  for (std::size_t i = 0; i < dataset.bodies.total(); ++i) {
    for (std::size_t f = 0; f < header.floats; ++f, at += sizeof(float))
      std::memcpy(&dataset.bodies.fields[f][i], at, sizeof(float));
  }
  return dataset;
}

}  // namespace

std::uint32_t Dataset::floats_per_body() const {
  const bool unit =
      std::ranges::all_of(bodies.field(Field::mass), [](float mass) { return mass == 1; });
  return unit ? floats_without_mass : static_cast<std::uint32_t>(field_count);
}

void write_dataset(const std::filesystem::path& file, const Dataset& dataset, Existing existing) {
  const std::size_t total = dataset.bodies.total();
  const bool whole = std::ranges::all_of(
      dataset.bodies.fields, [total](const auto& field) { return field.size() == total; });
  if (!whole || total == 0 || total > most_bodies) {
    throw std::invalid_argument{fmt::format("these {} bodies cannot be written to a file", total)};
  }
  const std::string name = file.string();
  check_numbers(dataset, name, "nothing was written; use fewer steps");
  check_target(file, existing);
  write_sealed(file, encoded(dataset), existing);
}

Dataset read_dataset(const std::filesystem::path& file) {
  const std::string name = file.string();
  Header header;
  Dataset dataset;
  read_sealed(
      file, kind,
      [&](std::string_view start, std::uint64_t size) { header = header_of(start, size, name); },
      [&](std::string_view bytes) { dataset = decoded(bytes, header); });
  check_numbers(dataset, name, make_dataset_again);
  return dataset;
}

}  // namespace strata::nbody
