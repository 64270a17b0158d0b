// The inputs of a kernel launch: its shape, the bytes of its parameters, and the memory to which
// they point. docs/access_launch.md describes the file format.
#pragma once

#include "harness/access/ptx.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// Blocks in a grid, threads in a block, or blocks in a cluster.
struct Extent {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Extent&) const = default;
};

/// The content of a buffer when the kernel starts. Bytes that follow from their position are not
/// stored.
struct Fill {
  enum class Kind : std::uint8_t { unknown, zero, random, iota, bytes };
  Kind kind = Kind::unknown;
  std::uint64_t seed = 0;   ///< random: element i is number i of SplitMix64, its low bytes …
  std::uint64_t below = 0;  ///< … or, if this is not 0, scaled to less than it
  unsigned element = 4;     ///< bytes per element of random and iota: 1, 2, 4 or 8
  std::vector<std::uint8_t> bytes = {};  ///< from a file or `hex`; 0 after their end

  /// Up to 8 bytes starting at `offset`, in little-endian order; 0 if the fill is unknown.
  [[nodiscard]] std::uint64_t read(std::uint64_t offset, unsigned count) const;
};

/// Device memory: a buffer of the launch file, or a variable of the module.
struct Buffer {
  std::string name = {};  ///< of the parameter ("data", "turn+8") or the variable
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  Fill fill = {};
  ptx::Space space = ptx::Space::global;  ///< or constant
  std::uint32_t symbol = ptx::no_index;   ///< for a variable: into Module::symbols
  std::uint64_t was = 0;                  ///< its address where the launch was captured; 0: none
  /// Of a captured content: the 8-byte words that are addresses of buffers of the launch. They are
  /// those of this launch, not of the captured one.
  std::vector<std::uint32_t> address_words = {};
  [[nodiscard]] bool contains(std::uint64_t at, std::uint64_t count) const {
    return at >= address && at - address < bytes && bytes - (at - address) >= count;
  }
};

/// A pointer in the parameters: the address of a buffer plus an offset.
struct Pointer {
  std::uint64_t at = 0;    ///< into Launch::params
  std::size_t buffer = 0;  ///< into Launch::buffers
  std::uint64_t offset = 0;
};

struct Launch {
  std::size_t module = 0;    ///< index of the module
  std::uint32_t kernel = 0;  ///< index of the kernel in it
  Extent grid = {};
  Extent block = {};
  Extent cluster = {};
  bool is_clustered = false;  ///< set by the file or the kernel
  std::uint64_t dynamic_shared = 0;
  std::vector<std::uint8_t> params = {};        ///< bytes of the parameters, by Symbol::offset
  std::vector<std::uint8_t> params_known = {};  ///< 1 for each byte that the file gives
  std::vector<Buffer> buffers = {};             ///< by address, with wide gaps between them
  /// The workspace of a cooperative launch: a word with its size and one for the barrier, as in
  /// <cooperative_groups/details/driver_abi.h>; 0 unless it is provided.
  std::uint64_t grid_workspace = 0;
  std::vector<Pointer> pointers = {};  ///< values that depend on the addresses of buffers
};

/// The address of the first buffer, and the minimum gap between buffers. An address that wrapped
/// around, or left its buffer, is therefore in none.
inline constexpr std::uint64_t first_address = std::uint64_t{1} << 40U;
inline constexpr std::uint64_t address_gap = std::uint64_t{1} << 33U;
inline constexpr std::uint64_t default_alignment = 256;

/// Limits: threads per block, blocks per cluster, dynamic shared memory, bytes of a file that fills
/// a buffer, bytes of a buffer.
inline constexpr std::uint64_t most_threads = 1024;
inline constexpr std::uint64_t most_cluster_blocks = 16;
inline constexpr std::uint64_t most_dynamic_shared = 227U << 10U;
inline constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 30U;
inline constexpr std::uint64_t most_buffer_bytes = std::uint64_t{1} << 40U;

/// Reads a launch of one kernel of `modules`. `file` names it in messages; the files to which it
/// refers are relative to its folder. `names` are the names of the modules, from which the file may
/// select one. Throws UsageError "FILE:LINE: …".
[[nodiscard]] Launch parse_launch(std::string_view text, const std::string& file,
                                  std::span<const ptx::Module> modules,
                                  std::span<const std::string> names = {});
/// The same for a regular file.
[[nodiscard]] Launch read_launch(const std::string& file, std::span<const ptx::Module> modules,
                                 std::span<const std::string> names = {});

}  // namespace strata::access
