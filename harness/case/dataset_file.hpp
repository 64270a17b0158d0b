// What the files of generated data have in common, whichever ladder they belong to: their first
// bytes, the checksum over all of them, and that nobody ever sees half of one. Host only.
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
// What else a header holds, and what follows it, its version says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace strata {

/// The first bytes of every such file, as they lie in it.
struct DatasetStart {
  std::array<char, 8> magic{'S', 'T', 'R', 'A', 'T', 'A', 'N', 'B'};
  std::uint32_t byte_order = 0x01020304;
  std::uint32_t version = 0;
};
inline constexpr std::size_t dataset_digest_at = 48;
using DatasetDigest = std::array<char, 32>;

/// What a message says of a file that cannot be used as it is.
inline constexpr std::string_view make_dataset_again = "generate or compute the file again";

/// Throws UsageError that names `file` where `holds` is false.
void require_of_dataset(bool holds, std::string_view file, std::string_view found,
                        std::string_view expected, std::string_view mend);

/// A kind of such files.
struct DatasetKind {
  std::uint32_t version;
  std::string_view what;       ///< "a file of bodies"
  std::string_view generator;  ///< the command that makes one
  std::size_t header_bytes;
};
/// Refuses what does not begin as a file of this kind, `start` being up to header_bytes of `size`.
void check_dataset_start(const DatasetKind& kind, std::string_view start, std::uint64_t size,
                         std::string_view file);

/// What to do with a file that is there already.
enum class Existing { keep, replace };

/// Throws UsageError where write_sealed would refuse `file` as it is now: said before the work.
void check_target(const std::filesystem::path& file, Existing existing);

/// Puts the checksum into `bytes`, writes them under another name and then gives the file its own.
/// Throws UsageError where there is something already that is to be kept or is no plain file;
/// std::runtime_error where it cannot be written.
void write_sealed(const std::filesystem::path& file, std::string bytes, Existing existing);

/// Reads a file whose checksum is right. `check_header` refuses a header, of at most header_bytes,
/// that is none or does not agree with the size of the file; `take` gets the whole file, mapped,
/// its checksum as 0. Throws UsageError, in one line.
void read_sealed(
    const std::filesystem::path& file, const DatasetKind& kind,
    const std::function<void(std::string_view start, std::uint64_t size)>& check_header,
    const std::function<void(std::string_view bytes)>& take);

}  // namespace strata
