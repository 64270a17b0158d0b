// Writes a launch of a program as a launch file: its name, which of its parameters point to memory,
// whose contents are kept, and which modules its kernels come from. Needs neither a device nor
// CUDA, because it is compiled into a library that runs in the program's process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace strata::access {

/// What a program passes to one kernel launch.
struct SeenLaunch {
  std::string kernel;  ///< as in the binary
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  std::array<unsigned, 3> cluster{};  ///< 0: none
  std::uint64_t dynamic_shared = 0;
  std::vector<std::vector<std::uint8_t>> parameters;  ///< the bytes of each
};

/// Device memory of the program, as it allocated it.
struct MemoryRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};
/// The range that contains an address; nothing for a number that is not an address.
using FindMemory = std::function<std::optional<MemoryRange>(std::uint64_t)>;

/// A parameter, or eight bytes of one, that is an address.
struct SeenPointer {
  std::size_t parameter = 0;
  std::size_t at = 0;  ///< byte offset in the parameter
  std::size_t buffer = 0;
  std::uint64_t offset = 0;  ///< byte offset in the buffer
};

struct SeenMemory {
  /// From the lowest address that a parameter holds to the end of its range; then memory that only
  /// the content of other memory points to.
  std::vector<MemoryRange> buffers;
  std::vector<SeenPointer> pointers;  ///< in the order of the parameters
};
/// Finds the 8-byte words in the parameters, at multiples of 8, that are addresses.
[[nodiscard]] SeenMemory memory_of(const SeenLaunch& launch, const FindMemory& find);

/// Memory, other than `known`, that the 8-byte words of a content point to: chains of addresses,
/// and tables of them. Words far from known memory are no addresses.
[[nodiscard]] std::vector<MemoryRange> pointed_to(std::string_view content,
                                                  const std::vector<MemoryRange>& known,
                                                  const FindMemory& find);

/// The buffers whose contents are kept: those that fit into `bytes` together, smallest first.
[[nodiscard]] std::vector<bool> kept(const std::vector<MemoryRange>& buffers, std::uint64_t bytes);

/// The entry of a buffer's content in a launch file: "fill: zero", "file: NAME", or empty if it is
/// unknown.
using ContentWords = std::vector<std::string>;

/// The text of the launch file (docs/access_launch.md). `content` is by buffer.
[[nodiscard]] std::string launch_text(const SeenLaunch& launch, const SeenMemory& memory,
                                      const ContentWords& content);

/// The launches of a program seen so far: one for each kernel and shape is kept.
class SeenShapes {
 public:
  static constexpr std::size_t most = 1000;
  /// The name of this launch's files, such as "energies-2"; nothing if it was seen before, or after
  /// `most` launches.
  [[nodiscard]] std::optional<std::string> name_of_new(const SeenLaunch& launch);

 private:
  std::set<std::string> seen_;
  std::map<std::string, int> names_;
};

/// The name of a kernel as a part of file names: without namespaces, template arguments and
/// parameters.
[[nodiscard]] std::string file_word(const std::string& kernel);

/// A module that a program passes to the driver.
struct ModuleImage {
  enum class Kind : std::uint8_t { ptx, fatbin, cubin };
  Kind kind = Kind::ptx;
  std::string_view bytes;
  bool has_ptx = true;  ///< otherwise machine code only, which cannot be analysed
};
/// The module at `image`, or at the address in a CUDA runtime wrapper there. Its size comes from
/// its own headers; PTX ends at the first NUL. Nothing for other bytes, or for an empty fat binary.
[[nodiscard]] std::optional<ModuleImage> module_at(const void* image);
/// ".ptx", ".fatbin" or ".cubin".
[[nodiscard]] std::string_view suffix_of(ModuleImage::Kind kind);

/// Writes a new file. Returns an error in one line, and then leaves no file; empty on success.
[[nodiscard]] std::string write_new_file(const std::string& path, std::string_view bytes);

}  // namespace strata::access
