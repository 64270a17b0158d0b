// What a launch gives a kernel: its shape, the bytes of its parameters, and the memory that they
// point to. docs/access_launch.md has the format of the file.
#pragma once

#include "harness/access/ptx.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// Blocks of a grid, threads of a block, blocks of a cluster.
struct Extent {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Extent&) const = default;
};

/// What lies in a buffer when the kernel starts. No byte is stored that follows from its place.
struct Fill {
  enum class Kind : std::uint8_t { unknown, zero, random, iota, bytes };
  Kind kind = Kind::unknown;
  std::uint64_t seed = 0;   ///< of random: element i is number i of SplitMix64, its low bytes …
  std::uint64_t below = 0;  ///< … or, unless this is 0, scaled to less than it
  unsigned element = 4;     ///< bytes of an element of random and iota: 1, 2, 4 or 8
  std::vector<std::uint8_t> bytes = {};  ///< what a file or `hex` gave; 0 behind their end

  /// The byte at `offset`; 0 where the fill is unknown.
  [[nodiscard]] std::uint8_t byte(std::uint64_t offset) const;
  /// Up to 8 bytes from `offset` on, the first of them lowest.
  [[nodiscard]] std::uint64_t read(std::uint64_t offset, unsigned count) const;
};

/// Device memory: a buffer of the launch file, or a variable of the module.
struct Buffer {
  std::string name = {};  ///< of the parameter ("data", "turn+8") or the variable
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  Fill fill = {};
  ptx::Space space = ptx::Space::global;  ///< or constant
  std::uint32_t symbol = ptx::no_index;   ///< into Module::symbols, of a variable
  [[nodiscard]] bool contains(std::uint64_t at, std::uint64_t count) const {
    return at >= address && at - address < bytes && bytes - (at - address) >= count;
  }
};

/// Among the parameters: the address of a buffer, plus so many bytes.
struct Pointer {
  std::uint64_t at = 0;    ///< into Launch::params
  std::size_t buffer = 0;  ///< into Launch::buffers
  std::uint64_t offset = 0;
};

struct Launch {
  std::size_t module = 0;    ///< of the modules that were given
  std::uint32_t kernel = 0;  ///< into its kernels
  Extent grid = {};
  Extent block = {};
  Extent cluster = {};
  bool is_clustered = false;  ///< the file, or the kernel, says so
  std::uint64_t dynamic_shared = 0;
  std::vector<std::uint8_t> params = {};        ///< bytes of the parameters, by Symbol::offset
  std::vector<std::uint8_t> params_known = {};  ///< 1 for each byte that the file gives
  std::vector<Buffer> buffers = {};             ///< by address, wide gaps between them
  /// Where the blocks of a cooperative launch meet: a word of its size and one of the barrier, as
  /// <cooperative_groups/details/driver_abi.h> has them; 0 unless somebody gives it.
  std::uint64_t grid_workspace = 0;
  std::vector<Pointer> pointers = {};  ///< what differs where buffers lie elsewhere
};

/// Where the first buffer lies, and the least distance from the end of one to the next. An address
/// that wrapped around, or left its buffer, thus lies in none.
inline constexpr std::uint64_t first_address = std::uint64_t{1} << 40U;
inline constexpr std::uint64_t address_gap = std::uint64_t{1} << 33U;
inline constexpr std::uint64_t default_alignment = 256;

/// Most threads of a block, blocks of a cluster, bytes of a file that fills a buffer, bytes of a
/// buffer.
inline constexpr std::uint64_t most_threads = 1024;
inline constexpr std::uint64_t most_cluster_blocks = 16;
inline constexpr std::uint64_t most_dynamic_shared = 227U << 10U;
inline constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 30U;
inline constexpr std::uint64_t most_buffer_bytes = std::uint64_t{1} << 40U;

/// Reads a launch of one kernel of `modules`. `file` names it in messages, and the files that it
/// refers to lie beside it. `names` are those of the modules, of which the file may choose one;
/// without them any is the one that it means. Throws UsageError "FILE:LINE: …".
[[nodiscard]] Launch parse_launch(std::string_view text, const std::string& file,
                                  std::span<const ptx::Module> modules,
                                  std::span<const std::string> names = {});
/// The same of a regular file.
[[nodiscard]] Launch read_launch(const std::string& file, std::span<const ptx::Module> modules,
                                 std::span<const std::string> names = {});

}  // namespace strata::access
