#include "nbody/gravity/problem/dataset_file.hpp"

#include "harness/case/finally.hpp"
#include "harness/case/regular_file.hpp"
#include "harness/case/sha256.hpp"
#include "harness/case/text.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

namespace strata::nbody {
namespace {

/// The first bytes of a file, as they lie in it.
struct Header {
  std::array<char, 8> magic{'S', 'T', 'R', 'A', 'T', 'A', 'N', 'B'};
  std::uint32_t byte_order = 0x01020304;
  std::uint32_t version = 1;
  std::uint32_t systems = 0;
  std::uint32_t bodies = 0;
  std::uint32_t floats = 0;  ///< of a body
  std::uint32_t steps = 0;
  float softening_squared = 0;
  float time_step = 0;
  std::uint64_t seed = 0;
  std::array<char, 32> digest{};

  [[nodiscard]] std::uint64_t total() const { return std::uint64_t{systems} * bodies; }
};
constexpr std::size_t header_bytes = 80;
static_assert(sizeof(Header) == header_bytes && std::endian::native == std::endian::little);

constexpr std::string_view magic = "STRATANB";
constexpr std::uint32_t byte_order_swapped = 0x04030201;
constexpr std::uint32_t floats_without_mass = field_count - 1;

constexpr std::string_view make_it_again = "generate or compute the file again";
constexpr std::array<std::string_view, field_count> field_names{"px", "py", "pz",  "vx",
                                                                "vy", "vz", "mass"};

/// Refuses softening, time step and bodies that no step could start from.
void check_numbers(const Dataset& dataset, std::string_view name, std::string_view mend) {
  for (const auto& [what, number] : {std::pair{"squared softening", dataset.softening_squared},
                                     std::pair{"time step", dataset.time_step}}) {
    if (std::isfinite(number) && number > 0) continue;
    refuse({name}, fmt::format("the {} is {}", what, number), "a finite number above 0", mend);
  }
  const Bodies& bodies = dataset.bodies;
  for (std::size_t i = 0; i < bodies.total(); ++i) {
    for (std::size_t f = 0; f < field_count; ++f) {
      const float number = bodies.fields[f][i];
      if (std::isfinite(number)) continue;
      refuse({name},
             fmt::format("{} of body {} of system {} is {}", field_names[f], i % bodies.bodies,
                         i / bodies.bodies, number),
             "finite numbers", mend);
    }
  }
}

std::string encoded(const Dataset& dataset) {
  Header header{.systems = dataset.bodies.systems,
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
  header.digest = sha256(bytes);
  std::memcpy(bytes.data(), &header, header_bytes);
  return bytes;
}

/// Of a file of `size` bytes that begins with `start`; refuses what is no such file.
Header header_of(std::string_view start, std::uint64_t size, std::string_view name) {
  const auto require = [name](bool holds, const std::string& found, const std::string& expected,
                              std::string_view mend) {
    if (!holds) refuse({name}, found, expected, mend);
  };
  require(start.starts_with(magic), "begins with " + in_quotes(start.substr(0, magic.size())),
          fmt::format("a file of bodies, which begins with '{}'", magic),
          "make one with strata nbody generate");
  require(start.size() >= header_bytes, fmt::format("ends inside its header, at byte {}", size),
          fmt::format("{} bytes of header", header_bytes), make_it_again);
  Header header;
  std::memcpy(&header, start.data(), header_bytes);
  require(header.byte_order == Header{}.byte_order,
          header.byte_order == byte_order_swapped
              ? std::string{"its bytes are in big-endian order"}
              : fmt::format("its mark of byte order is {:#010x}", header.byte_order),
          fmt::format("little-endian, with the mark {:#010x}", Header{}.byte_order), make_it_again);
  require(header.version == Header{}.version,
          fmt::format("has version {} of the format", header.version),
          fmt::format("version {}", Header{}.version),
          header.version > Header{}.version
              ? "read it with the strata that wrote it, which is newer"
              : make_it_again);
  require(header.total() > 0 && header.total() <= most_bodies,
          fmt::format("has {} × {} bodies", header.systems, header.bodies),
          fmt::format("1 to {} in all", most_bodies), make_it_again);
  require(header.floats == floats_without_mass || header.floats == field_count,
          fmt::format("has bodies of {} floats", header.floats), "6, or 7 with a mass",
          make_it_again);
  const std::uint64_t wanted = header_bytes + header.total() * header.floats * sizeof(float);
  require(size == wanted, fmt::format("has {} bytes", size),
          fmt::format("{} for {} × {} bodies of {} floats", wanted, header.systems, header.bodies,
                      header.floats),
          size < wanted ? "it is cut short: copy it again, or make it again"
                        : "something was added: copy it again, or make it again");
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

void check_target(const std::filesystem::path& file, Existing existing) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(file, error);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_regular_file(status)) {
    refuse({file.string()}, "is no plain file", "the name of a new file", "choose another name");
  }
  if (existing == Existing::keep) {
    refuse({file.string()}, "is there already", "the name of a new file",
           "choose another name, or say --overwrite");
  }
}

void write_dataset(const std::filesystem::path& file, const Dataset& dataset, Existing existing) {
  const std::size_t total = dataset.bodies.total();
  const bool whole = std::ranges::all_of(
      dataset.bodies.fields, [total](const auto& field) { return field.size() == total; });
  if (!whole || total == 0 || total > most_bodies) {
    throw std::invalid_argument{fmt::format("no file can have these {} bodies", total)};
  }
  const std::string name = file.string();
  check_numbers(dataset, name, "nothing was written; take fewer steps");
  check_target(file, existing);

  const auto temporary =
      file.parent_path() / fmt::format(".{}.{}.new", file.filename().string(), ::getpid());
  const auto give_up = [&](std::string_view what, int error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw std::runtime_error{
        fmt::format("{}: {}: {}; choose a place that you may write to, with room", one_line(name),
                    what, std::generic_category().message(error))};
  };
  const UniqueFd fd = create_anew(temporary);
  if (!fd) give_up("cannot be written", errno);
  const std::string bytes = encoded(dataset);
  if (write_some(fd.get(), bytes) != bytes.size()) give_up("cannot be written", errno);
  std::error_code error;
  std::filesystem::rename(temporary, file, error);
  if (error) give_up("cannot be given its name", error.value());
}

Dataset read_dataset(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::error_code error;
  const UniqueFd fd = open_regular(file, O_RDONLY, "a file of bodies");
  const auto size = std::filesystem::file_size(file, error);
  // The header first: what it says must agree with the size.
  std::string start(header_bytes, '\0');
  start.resize(static_cast<std::size_t>(
      std::max<ssize_t>(::pread(fd.get(), start.data(), start.size(), 0), 0)));
  const Header header = header_of(start, error ? 0 : size, name);
  // Mapped: a large file that is not what it says takes no memory that others would miss.
  void* const mapped =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd.get(), 0);
  if (mapped == MAP_FAILED)
    refuse({name}, "cannot be read to its end", "a whole file", "copy it again");
  const Finally unmap = finally([mapped, size] { (void)::munmap(mapped, size); });
  char* const first = static_cast<char*>(mapped);
  const std::string_view bytes{first, size};
  std::fill_n(first + offsetof(Header, digest), sizeof(header.digest), '\0');
  if (sha256(bytes) != header.digest) {
    refuse({name}, "its checksum is not that of what it holds", "a file as it was written",
           "it is damaged: copy it again, or make it again");
  }
  Dataset dataset = decoded(bytes, header);
  check_numbers(dataset, name, make_it_again);
  return dataset;
}

}  // namespace strata::nbody
