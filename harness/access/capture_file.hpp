// The launch of a program, written as a launch file: what it is called, which of its parameters
// point to memory, whose content is kept, and what modules its kernels come from. Needs neither a
// device nor anything of CUDA: the program's process compiles it in.
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

/// What a program gives one launch of a kernel.
struct SeenLaunch {
  std::string kernel;  ///< as the binary spells it
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
/// The range that holds an address; nothing for a number that is none.
using FindMemory = std::function<std::optional<MemoryRange>(std::uint64_t)>;

/// A parameter, or eight bytes of one, that is an address.
struct SeenPointer {
  std::size_t parameter = 0;
  std::size_t at = 0;  ///< bytes from the parameter's first
  std::size_t buffer = 0;
  std::uint64_t offset = 0;  ///< from the buffer's first byte
};

struct SeenMemory {
  /// From the lowest address that a parameter holds to the end of its range.
  std::vector<MemoryRange> buffers;
  std::vector<SeenPointer> pointers;  ///< in the order of the parameters
};
/// Which words of eight bytes among the parameters, at multiples of eight, are addresses.
[[nodiscard]] SeenMemory memory_of(const SeenLaunch& launch, const FindMemory& find);

/// Of which buffers the content is kept: those that fit into `bytes` together, the smallest first.
[[nodiscard]] std::vector<bool> kept(const std::vector<MemoryRange>& buffers, std::uint64_t bytes);

/// What a launch file says of a buffer's content, beside its bytes: "fill: zero", "file: NAME", or
/// nothing where it is not known.
using ContentWords = std::vector<std::string>;

/// The text of the launch file (docs/access_launch.md). `content` is by buffer.
[[nodiscard]] std::string launch_text(const SeenLaunch& launch, const SeenMemory& memory,
                                      const ContentWords& content);

/// The launches of a program that were seen: one of each kernel and shape is kept.
class SeenShapes {
 public:
  static constexpr std::size_t most = 1000;
  /// What the files of this launch are called, "energies-2"; nothing for one that was seen, or when
  /// there were `most`.
  [[nodiscard]] std::optional<std::string> name_of_new(const SeenLaunch& launch);

 private:
  std::set<std::string> seen_;
  std::map<std::string, int> names_;
};

/// The name of a kernel in a file name: without namespaces, template arguments and parameters.
[[nodiscard]] std::string file_word(const std::string& kernel);

/// What a program hands the driver as a module.
struct ModuleImage {
  enum class Kind : std::uint8_t { ptx, fatbin, cubin };
  Kind kind = Kind::ptx;
  std::string_view bytes;
  bool has_ptx = true;  ///< else machine code alone, of which nothing can be told
};
/// The module that begins at `image`, or at what a wrapper of CUDA's runtime there points to. Its
/// size is read from its own headers; of PTX it goes to the first NUL. Nothing for other bytes, and
/// for a fat binary without anything in it.
[[nodiscard]] std::optional<ModuleImage> module_at(const void* image);
/// ".ptx", ".fatbin" or ".cubin".
[[nodiscard]] std::string_view suffix_of(ModuleImage::Kind kind);

/// Writes a new file. Returns what went wrong in one line, and then leaves no file; else nothing.
[[nodiscard]] std::string write_new_file(const std::string& path, std::string_view bytes);

}  // namespace strata::access
