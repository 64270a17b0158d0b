#include "harness/case/dataset_file.hpp"

#include "harness/base/finally.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/base/sha256.hpp"
#include "harness/base/text.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

namespace strata {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view magic = "STRATANB";
constexpr std::uint32_t byte_order_swapped = 0x04030201;
constexpr std::uint32_t newest_version = 3;

/// How to fix a file whose version is not the requested one.
std::string_view mend_version(std::uint32_t version) {
  if (version > newest_version) return "read it with the newer strata that wrote it";
  if (version == 3) return "it holds an observation: use strata fstat";
  if (version == 2) return "it holds agents: use strata neighbours";
  if (version == 1) return "it holds bodies: use strata nbody";
  return make_dataset_again;
}

}  // namespace

void require_of_dataset(bool holds, std::string_view file, std::string_view found,
                        std::string_view expected, std::string_view mend) {
  if (!holds) refuse({file}, found, expected, mend);
}

void check_dataset_start(const DatasetKind& kind, std::string_view start, std::uint64_t size,
                         std::string_view file) {
  require_of_dataset(start.starts_with(magic), file,
                     "begins with " + in_quotes(start.substr(0, magic.size())),
                     fmt::format("{}, which begins with '{}'", kind.what, magic),
                     fmt::format("make one with {}", kind.generator));
  DatasetStart first;
  require_of_dataset(start.size() >= sizeof first, file,
                     fmt::format("ends inside its header, at byte {}", size),
                     fmt::format("{} bytes of header", kind.header_bytes), make_dataset_again);
  std::memcpy(&first, start.data(), sizeof first);
  require_of_dataset(
      first.byte_order == DatasetStart{}.byte_order, file,
      first.byte_order == byte_order_swapped
          ? std::string{"its bytes are in big-endian order"}
          : fmt::format("its mark of byte order is {:#010x}", first.byte_order),
      fmt::format("little-endian, with the mark {:#010x}", DatasetStart{}.byte_order),
      make_dataset_again);
  require_of_dataset(first.version == kind.version, file,
                     fmt::format("has version {} of the format", first.version),
                     fmt::format("version {}", kind.version), mend_version(first.version));
  require_of_dataset(start.size() >= kind.header_bytes, file,
                     fmt::format("ends inside its header, at byte {}", size),
                     fmt::format("{} bytes of header", kind.header_bytes), make_dataset_again);
}

void check_target(const std::filesystem::path& file, Existing existing) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(file, error);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_regular_file(status)) {
    refuse({file.string()}, "is not a regular file", "the name of a new file", "use another name");
  }
  if (existing == Existing::keep) {
    refuse({file.string()}, "exists already", "the name of a new file",
           "use another name, or --overwrite");
  }
}

void write_sealed(const std::filesystem::path& file, std::string bytes, Existing existing) {
  check_target(file, existing);
  std::fill_n(bytes.data() + dataset_digest_at, sizeof(DatasetDigest), '\0');
  const DatasetDigest digest = sha256(bytes);
  std::ranges::copy(digest, bytes.data() + dataset_digest_at);

  const auto temporary =
      file.parent_path() / fmt::format(".{}.{}.new", file.filename().string(), ::getpid());
  const auto give_up = [&](std::string_view what, int error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw std::runtime_error{fmt::format("{}: {}: {}; use a writable place with enough space",
                                         one_line(file.string()), what,
                                         std::generic_category().message(error))};
  };
  const UniqueFd fd = create_anew(temporary);
  if (!fd) give_up("cannot be written", errno);
  if (write_some(fd.get(), bytes) != bytes.size()) give_up("cannot be written", errno);
  std::error_code error;
  std::filesystem::rename(temporary, file, error);
  if (error) give_up("cannot be renamed", error.value());
}

void read_sealed(
    const std::filesystem::path& file, const DatasetKind& kind,
    const std::function<void(std::string_view start, std::uint64_t size)>& check_header,
    const std::function<void(std::string_view bytes)>& take) {
  const std::string name = file.string();
  std::error_code error;
  const UniqueFd fd = open_regular(file, O_RDONLY, kind.what);
  const auto found = std::filesystem::file_size(file, error);
  const std::uint64_t size = error ? 0 : found;
  // The header comes first: its contents must agree with the file's size.
  std::string start(kind.header_bytes, '\0');
  start.resize(static_cast<std::size_t>(
      std::max<ssize_t>(::pread(fd.get(), start.data(), start.size(), 0), 0)));
  check_dataset_start(kind, start, size, name);
  check_header(start, size);
  // Mapped, so that a large invalid file does not use memory that other processes need.
  void* const mapped =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd.get(), 0);
  if (mapped == MAP_FAILED)
    refuse({name}, "cannot be read completely", "a complete file", "copy it again");
  const Finally unmap = finally([mapped, size] { (void)::munmap(mapped, size); });
  char* const first = static_cast<char*>(mapped);
  const std::string_view bytes{first, size};
  DatasetDigest digest;
  std::copy_n(first + dataset_digest_at, digest.size(), digest.begin());
  std::fill_n(first + dataset_digest_at, digest.size(), '\0');
  if (sha256(bytes) != digest) {
    refuse({name}, "its checksum does not match its contents", "an unmodified file",
           "it is damaged: copy it again, or generate it again");
  }
  take(bytes);
}

}  // namespace strata
