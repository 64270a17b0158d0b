#include "harness/record/capture_file.hpp"

#include "harness/base/ignored_signal.hpp"
#include "harness/base/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <fcntl.h>
#include <memory>
#include <numeric>
#include <system_error>
#include <unistd.h>
#include <utility>

// No fmt: this is compiled into a library that any program loads.

namespace strata::access {
namespace {

constexpr std::size_t word_bytes = 8;
/// No device allocation has a lower address, so smaller numbers need no query.
constexpr std::uint64_t least_address = std::uint64_t{1} << 16U;
/// The remainder of addresses modulo this is kept, so that banks and lines stay the same.
constexpr std::uint64_t alignment = std::uint64_t{1} << 16U;

/// Reads a little-endian number.
std::uint64_t number_of(const std::vector<std::uint8_t>& bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t b = 0; b < count; ++b)
    number |= std::uint64_t{bytes[at + b]} << (8 * b);
  return number;
}

std::string number_text(const std::vector<std::uint8_t>& bytes, std::size_t at, std::size_t count) {
  return "u" + std::to_string(8 * count) + ' ' + std::to_string(number_of(bytes, at, count));
}

std::string extent_text(const std::array<unsigned, 3>& extent) {
  return '[' + std::to_string(extent[0]) + ", " + std::to_string(extent[1]) + ", " +
         std::to_string(extent[2]) + ']';
}

std::string hex_text(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    if (!text.empty()) text += ' ';
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

/// Name of a buffer in a launch file: that of the parameter, or part of one, that points to its
/// beginning.
std::string name_of(const SeenPointer& pointer, bool is_field) {
  std::string name = "param_" + std::to_string(pointer.parameter);
  return is_field ? name + '+' + std::to_string(pointer.at) : name;
}

/// Writes the parameters of a launch.
class Writer {
 public:
  Writer(const SeenLaunch& launch, const SeenMemory& memory, const ContentWords& content)
      : launch_{launch}, memory_{memory}, content_{content} {
    for (const auto& pointer : memory.pointers) {
      if (pointer.offset != 0) continue;
      first_.try_emplace(pointer.buffer, &pointer);
    }
  }

  [[nodiscard]] std::string argument(std::size_t parameter) const {
    const auto& bytes = launch_.parameters[parameter];
    std::vector<const SeenPointer*> pointers;
    for (const auto& pointer : memory_.pointers) {
      if (pointer.parameter == parameter) pointers.push_back(&pointer);
    }
    if (!is_field(parameter) && !pointers.empty()) return pointer_text(*pointers.front());
    const bool is_number =
        bytes.size() == 1 || bytes.size() == 2 || bytes.size() == 4 || bytes.size() == word_bytes;
    if (is_number) return number_text(bytes, 0, bytes.size());
    if (pointers.empty()) return "{hex: '" + hex_text(bytes) + "'}";
    return fields(bytes, pointers);
  }

 private:
  [[nodiscard]] bool is_field(std::size_t parameter) const {
    return launch_.parameters[parameter].size() != word_bytes;
  }

  [[nodiscard]] std::string pointer_text(const SeenPointer& pointer) const {
    const SeenPointer& first = *first_.at(pointer.buffer);
    if (&first != &pointer) {
      std::string text = "{of: " + name_of(first, is_field(first.parameter));
      return text + ", at: " + std::to_string(pointer.offset) + '}';
    }
    return buffer_text(pointer.buffer);
  }

 public:
  [[nodiscard]] std::string buffer_text(std::size_t index) const {
    const MemoryRange& buffer = memory_.buffers[index];
    std::string text = "{bytes: " + std::to_string(buffer.bytes);
    text += ", align: " + std::to_string(alignment);
    if (buffer.address % alignment != 0) {
      text += ", offset: " + std::to_string(buffer.address % alignment);
    }
    text += ", was: " + std::to_string(buffer.address);
    const std::string& content = content_[index];
    return text + (content.empty() ? "" : ", " + content) + '}';
  }

  /// Whether a parameter points to the beginning of the buffer.
  [[nodiscard]] bool is_named(std::size_t index) const { return first_.contains(index); }

 private:
  /// All fields of a struct: its addresses, and the bytes between them as the widest numbers that
  /// fit.
  [[nodiscard]] std::string fields(const std::vector<std::uint8_t>& bytes,
                                   const std::vector<const SeenPointer*>& pointers) const {
    std::string text = "fields:";
    for (std::size_t at = 0; at < bytes.size();) {
      const auto here = std::ranges::find(pointers, at, &SeenPointer::at);
      std::size_t width = word_bytes;
      while (at % width != 0 || at + width > bytes.size())
        width /= 2;
      text += "\n      " + std::to_string(at) + ": ";
      text += here == pointers.end() ? number_text(bytes, at, width) : pointer_text(**here);
      at += width;
    }
    return text;
  }

  const SeenLaunch& launch_;
  const SeenMemory& memory_;
  const ContentWords& content_;
  std::map<std::size_t, const SeenPointer*> first_;  ///< by buffer: the pointer to its beginning
};

template <class T>
T read_at(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t fatbin_magic = 0xba55ed50;

std::size_t elf_bytes(const char* image) {
  constexpr std::size_t section_table = 0x28;  // in a 64-bit header
  constexpr std::size_t entry_size = 0x3a;
  constexpr std::size_t entry_count = 0x3c;
  return read_at<std::uint64_t>(image + section_table) +
         std::size_t{read_at<std::uint16_t>(image + entry_size)} *
             read_at<std::uint16_t>(image + entry_count);
}

/// A fat binary is a header followed by entries; each entry has a kind, its own header size, and
/// the size of its content.
std::optional<ModuleImage> fatbin_at(const char* image) {
  constexpr std::size_t header_size = 6;
  constexpr std::size_t content_size = 8;
  constexpr std::size_t entry_header_size = 4;
  constexpr std::size_t entry_content_size = 8;
  constexpr std::size_t least_entry = 16;
  constexpr std::uint16_t kind_of_ptx = 1;
  const std::size_t begin = read_at<std::uint16_t>(image + header_size);
  const auto content = read_at<std::uint64_t>(image + content_size);
  if (content == 0) return std::nullopt;
  const std::size_t end = begin + content;
  ModuleImage made{ModuleImage::Kind::fatbin, {image, end}, false};
  for (std::size_t at = begin; at + least_entry <= end;) {
    made.has_ptx = made.has_ptx || read_at<std::uint16_t>(image + at) == kind_of_ptx;
    const std::uint64_t bytes = read_at<std::uint32_t>(image + at + entry_header_size) +
                                read_at<std::uint64_t>(image + at + entry_content_size);
    if (bytes < least_entry || bytes > end - at) break;
    at += bytes;
  }
  return made;
}

/// Whether it begins like PTX: optional comments, then `.version`.
bool is_ptx(const char* text) {
  for (;;) {
    text += std::strspn(text, " \t\r\n");
    if (std::strncmp(text, "//", 2) == 0) {
      text += std::strcspn(text, "\n");
    } else if (std::strncmp(text, "/*", 2) == 0) {
      text = std::strstr(text, "*/");
      if (text == nullptr) return false;
      text += 2;
    } else {
      return std::strncmp(text, ".version", 8) == 0;
    }
  }
}

}  // namespace

SeenMemory memory_of(const SeenLaunch& launch, const FindMemory& find) {
  struct Word {
    SeenPointer pointer;
    std::uint64_t address;
  };
  std::vector<Word> words;
  std::map<std::uint64_t, MemoryRange> ranges;    // by start address
  std::map<std::uint64_t, std::uint64_t> lowest;  // likewise: the lowest address in a parameter
  for (std::size_t p = 0; p < launch.parameters.size(); ++p) {
    const auto& bytes = launch.parameters[p];
    for (std::size_t at = 0; at + word_bytes <= bytes.size(); at += word_bytes) {
      const std::uint64_t address = number_of(bytes, at, word_bytes);
      if (address < least_address) continue;
      const auto range = find(address);
      if (!range || address < range->address || address - range->address >= range->bytes) continue;
      ranges[range->address] = *range;
      const auto [found, is_new] = lowest.try_emplace(range->address, address);
      found->second = std::min(found->second, address);
      words.push_back({{.parameter = p, .at = at, .buffer = 0, .offset = range->address}, address});
    }
  }
  SeenMemory memory;
  std::map<std::uint64_t, std::size_t> index;
  for (const auto& [begin, range] : ranges) {
    const std::uint64_t first = lowest.at(begin);
    index[begin] = memory.buffers.size();
    memory.buffers.push_back({first, range.bytes - (first - begin)});
  }
  for (auto& [pointer, address] : words) {
    pointer.buffer = index.at(pointer.offset);
    pointer.offset = address - memory.buffers[pointer.buffer].address;
    memory.pointers.push_back(pointer);
  }
  return memory;
}

std::vector<MemoryRange> pointed_to(std::string_view content, const std::vector<MemoryRange>& known,
                                    const FindMemory& find) {
  constexpr std::uint64_t far = std::uint64_t{1} << 36U;  // 64 GiB: a device's memory
  constexpr int most_misses = 100000;                     // each is a call of the driver
  constexpr std::uint64_t largest = std::uint64_t{1} << 32U;
  std::vector<MemoryRange> all = known;
  const auto near = [&](std::uint64_t word) {
    return std::ranges::any_of(known, [&](const MemoryRange& one) {
      return word + far > one.address && word < one.address + one.bytes + far;
    });
  };
  int misses = 0;
  for (std::size_t at = 0; at + word_bytes <= content.size() && misses < most_misses;
       at += word_bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, content.data() + at, sizeof word);
    if (word < least_address || !near(word)) continue;
    const auto is_in = [&](const MemoryRange& one) {
      return word >= one.address && word - one.address < one.bytes;
    };
    if (std::ranges::any_of(all, is_in)) continue;
    auto range = find(word);
    if (!range || !is_in(*range) || range->bytes > largest) {
      ++misses;
      continue;
    }
    // A parameter may point into its middle: the rest is there already.
    for (const MemoryRange& one : all) {
      if (one.address > word) range->bytes = std::min(range->bytes, one.address - range->address);
    }
    all.push_back(*range);
  }
  return {all.begin() + static_cast<std::ptrdiff_t>(known.size()), all.end()};
}

std::vector<bool> kept(const std::vector<MemoryRange>& buffers, std::uint64_t bytes) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t b) { return buffers[b].bytes; });
  std::vector<bool> keeps(buffers.size());
  for (const std::size_t b : order) {
    if (buffers[b].bytes > bytes) break;
    bytes -= buffers[b].bytes;
    keeps[b] = true;
  }
  return keeps;
}

std::string launch_text(const SeenLaunch& launch, const SeenMemory& memory,
                        const ContentWords& content) {
  std::string text = "schema: 1\nkernel: '" + launch.kernel + "'\n";
  text += "grid: " + extent_text(launch.grid) + '\n';
  text += "block: " + extent_text(launch.block) + '\n';
  if (launch.cluster[0] > 0) text += "cluster: " + extent_text(launch.cluster) + '\n';
  text += "dynamic_shared: " + std::to_string(launch.dynamic_shared) + '\n';
  const Writer writer{launch, memory, content};
  if (!launch.parameters.empty()) text += "arguments:\n";
  for (std::size_t p = 0; p < launch.parameters.size(); ++p)
    text += "  - " + writer.argument(p) + '\n';
  bool is_first = true;
  for (std::size_t b = 0; b < memory.buffers.size(); ++b) {
    if (writer.is_named(b)) continue;
    if (std::exchange(is_first, false)) text += "memory:\n";
    text += "  - " + writer.buffer_text(b) + '\n';
  }
  return text;
}

std::string file_word(const std::string& kernel) {
  constexpr std::size_t longest = 60;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable{
      abi::__cxa_demangle(kernel.c_str(), nullptr, nullptr, &status), &std::free};
  std::string name = status == 0 && readable ? readable.get() : kernel;
  // The text in brackets, and the text before the last name outside them.
  std::string word;
  int depth = 0;
  for (const char c : name) {
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    const bool is_outside = depth == 0;
    if (c == '>' || c == ')' || c == '}' || c == ']') depth = std::max(depth - 1, 0);
    if (!is_outside) continue;
    if (c == ':' || c == ' ') {
      word.clear();
    } else {
      const bool fits =
          (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      word += fits ? c : '_';
    }
  }
  if (word.empty()) return "kernel";
  return word.substr(0, longest);
}

std::optional<std::string> SeenShapes::name_of_new(const SeenLaunch& launch) {
  if (seen_.size() >= most) return std::nullopt;
  const std::string shape = launch.kernel + ' ' + extent_text(launch.grid) +
                            extent_text(launch.block) + extent_text(launch.cluster) +
                            std::to_string(launch.dynamic_shared);
  if (!seen_.insert(shape).second) return std::nullopt;
  const std::string word = file_word(launch.kernel);
  return word + '-' + std::to_string(++names_[word]);
}

std::optional<ModuleImage> module_at(const void* image) {
  if (image == nullptr) return std::nullopt;
  const auto* bytes = static_cast<const char*>(image);
  using Kind = ModuleImage::Kind;
  if (read_at<std::uint32_t>(bytes) == wrapper_magic) {
    constexpr std::size_t data = 8;  // after the magic number and the version
    bytes = read_at<const char*>(bytes + data);
    if (bytes == nullptr) return std::nullopt;
  }
  const auto magic = read_at<std::uint32_t>(bytes);
  if (magic == fatbin_magic) return fatbin_at(bytes);
  if (std::string_view{bytes, 4} ==
      "\x7f"
      "ELF")
    return ModuleImage{Kind::cubin, {bytes, elf_bytes(bytes)}, false};
  if (is_ptx(bytes)) return ModuleImage{Kind::ptx, bytes, true};
  return std::nullopt;
}

std::string_view suffix_of(ModuleImage::Kind kind) {
  switch (kind) {
    case ModuleImage::Kind::ptx:
      return ".ptx";
    case ModuleImage::Kind::fatbin:
      return ".fatbin";
    case ModuleImage::Kind::cubin:
      break;
  }
  return ".cubin";
}

std::string write_new_file(const std::string& path, std::string_view bytes) {
  constexpr int mode = 0666;  // reduced by the umask
  const auto failed = [&](int error) {
    return path + ": " + std::generic_category().message(error);
  };
  const IgnoredSignal over_the_limit{SIGXFSZ};  // otherwise a file-size limit kills the program
  const UniqueFd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)};  // NOLINT
  if (!fd) return failed(errno);
  if (write_some(fd.get(), bytes) == bytes.size()) return {};
  const int error = errno;
  (void)::unlink(path.c_str());
  return failed(error);
}

}  // namespace strata::access
