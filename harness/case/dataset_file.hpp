// The common parts of files of generated data, for all ladders: their first bytes, the checksum
// over the whole file, and atomic writing. Host only.
//
// All numbers are little-endian.
//
//   byte  type  what
//      0  8 × char  "STRATANB"
//      8  u32   0x01020304: the order of the bytes
//     12  u32   version: 1 holds bodies (strata nbody), 2 agents (strata neighbours), 3 an
//               observation (strata fstat)
//     48  32 bytes  SHA-256 of the whole file, these 32 bytes taken as 0
//
// The version defines the rest of the header and what follows it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace strata {

/// The first bytes of every such file, in its byte layout.
struct DatasetStart {
  std::array<char, 8> magic{'S', 'T', 'R', 'A', 'T', 'A', 'N', 'B'};
  std::uint32_t byte_order = 0x01020304;
  std::uint32_t version = 0;
};
inline constexpr std::size_t dataset_digest_at = 48;
using DatasetDigest = std::array<char, 32>;

/// Messages for files that cannot be used.
inline constexpr std::string_view make_dataset_again = "generate or compute the file again";

/// Throws UsageError naming `file` if `holds` is false.
void require_of_dataset(bool holds, std::string_view file, std::string_view found,
                        std::string_view expected, std::string_view mend);

/// A kind of dataset file.
struct DatasetKind {
  std::uint32_t version;
  std::string_view what;       ///< "a file of bodies"
  std::string_view generator;  ///< the command that generates one
  std::size_t header_bytes;
};
/// Refuses a file that does not begin as this kind; `start` is up to header_bytes of its `size`
/// bytes.
void check_dataset_start(const DatasetKind& kind, std::string_view start, std::uint64_t size,
                         std::string_view file);

/// What to do with an existing file.
enum class Existing { keep, replace };

/// Throws UsageError if write_sealed would refuse `file` now, so that this is reported before the
/// work.
void check_target(const std::filesystem::path& file, Existing existing);

/// Stores the checksum in `bytes`, writes them under a temporary name and renames the file. Throws
/// UsageError if the file exists and must be kept, or is not a regular file; std::runtime_error if
/// it cannot be written.
void write_sealed(const std::filesystem::path& file, std::string bytes, Existing existing);

/// Reads a file and verifies its checksum. `check_header` refuses a header, of at most
/// header_bytes, that is invalid or does not match the size of the file; `take` gets the whole
/// mapped file, with its checksum as 0. Throws UsageError, in one line.
void read_sealed(
    const std::filesystem::path& file, const DatasetKind& kind,
    const std::function<void(std::string_view start, std::uint64_t size)>& check_header,
    const std::function<void(std::string_view bytes)>& take);

}  // namespace strata
