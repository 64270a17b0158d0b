#include "harness/access/launch_file.hpp"

#include "harness/base/regular_file.hpp"
#include "harness/base/text.hpp"
#include "harness/base/yaml_tree.hpp"
#include "harness/model/split_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace strata::access {
namespace {

using NodeKind = TreeNode::Kind;
using Names = std::vector<std::string>;

constexpr int launch_schema = 1;
constexpr unsigned pointer_bytes = 8;
/// The windows of shared and local memory begin here (program.hpp).
constexpr std::uint64_t end_of_memory = std::uint64_t{1} << 46U;

/// An integer, decimal or 0x…, with an optional sign, as two's complement; nothing for other text,
/// or if it does not fit into `bytes` bytes, signed or unsigned.
std::optional<std::uint64_t> whole_bits(std::string_view text, unsigned bytes) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, hex ? 16 : 10);
  if (digits.empty() || error != std::errc{} || stop != end) return std::nullopt;
  const unsigned bits = 8 * bytes;
  const std::uint64_t most = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  if (!negative) return value <= most ? std::optional{value} : std::nullopt;
  if (value > (most >> 1U) + 1) return std::nullopt;
  return (~value + 1) & most;
}

/// Whether the text is an integer, of any size.
bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  return !text.empty() && text.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789") ==
                              std::string_view::npos;
}

/// The bits of a number with a point or an exponent, in 4 or 8 bytes.
std::optional<std::uint64_t> real_bits(const std::string& text, unsigned bytes) {
  if (text.empty() || text.find_first_of("xX") != std::string::npos) return std::nullopt;
  if (text.find_first_of(" \t") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  if (bytes == 4) {
    const float value = std::strtof(text.c_str(), &end);
    if (end == text.c_str() + text.size()) return std::bit_cast<std::uint32_t>(value);
  } else if (bytes == 8) {
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() + text.size()) return std::bit_cast<std::uint64_t>(value);
  }
  return std::nullopt;
}

/// A count within a range, for shapes and sizes.
std::uint64_t number_of(const TreeNode& node, std::string_view name, std::uint64_t least,
                        std::uint64_t most) {
  const auto bits = node.is_text() ? whole_bits(node.text, 8) : std::nullopt;
  if (bits && !node.text.starts_with('-') && *bits >= least && *bits <= most) return *bits;
  node.refuse_as(name, fmt::format("an integer from {} to {}", least, most), "write such a number");
}

std::uint64_t number_or(const TreeNode& mapping, std::string_view key, std::uint64_t otherwise,
                        std::uint64_t least, std::uint64_t most) {
  const auto* const node = mapping.find(key);
  return node == nullptr ? otherwise : number_of(*node, key, least, most);
}

/// One to three numbers, each at most `most`.
Extent extent_of(const TreeNode& node, std::string_view name, const Extent& most) {
  const std::string expected =
      fmt::format("1 to 3 integers, at least 1 and at most {}, {}, {}", most.x, most.y, most.z);
  const std::array limits{most.x, most.y, most.z};
  std::array<std::uint32_t, 3> numbers{1, 1, 1};
  const auto read = [&](const TreeNode& one, std::size_t which) {
    const auto bits = one.is_text() ? whole_bits(one.text, 8) : std::nullopt;
    if (!bits || *bits < 1 || *bits > limits.at(which)) {
      one.refuse_as(fmt::format("{}.{}", name, "xyz"[which]), expected,
                    fmt::format("write '{}: [16, 8]', for example", name));
    }
    numbers.at(which) = static_cast<std::uint32_t>(*bits);
  };
  if (node.is_text()) {
    read(node, 0);
  } else {
    if (node.kind != NodeKind::list || node.items.empty() || node.items.size() > numbers.size()) {
      node.refuse_as(name, expected, fmt::format("write '{}: [16, 8]', for example", name));
    }
    for (std::size_t i = 0; i < node.items.size(); ++i)
      read(node.items[i], i);
  }
  return {numbers[0], numbers[1], numbers[2]};
}

std::vector<std::uint8_t> bytes_of_hex(const TreeNode& node) {
  std::vector<std::uint8_t> bytes;
  std::string digits;
  for (const char c : node.text) {
    if (c != ' ' && c != '_') digits += c;
  }
  bool good = node.is_text() && digits.size() % 2 == 0;
  for (std::size_t i = 0; good && i < digits.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const begin = digits.data() + i;
    good = std::from_chars(begin, begin + 2, byte, 16).ptr == begin + 2;
    bytes.push_back(byte);
  }
  if (!good)
    node.refuse_as("hex", "pairs of hexadecimal digits", "write hex: '80 07 00 00', for example");
  return bytes;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text{
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free};
  return text ? std::string{text.get()} : name;
}

class Reader {
 public:
  Reader(std::string file, std::span<const ptx::Module> modules,
         std::span<const std::string> inputs)
      : file_{std::move(file)}, modules_{modules}, inputs_{inputs} {}

  Launch read(const TreeNode& root) {
    root.check_root("a launch file",
                    {"schema", "input", "kernel", "grid", "block", "cluster", "dynamic_shared",
                     "arguments", "memory", "symbols"},
                    launch_schema);
    choose_input(root.find("input"));
    choose_kernel(root.need("kernel", "a kernel name, or a regular expression that matches one"));
    read_shape(root);
    read_arguments(root);
    read_memory(root.find("memory"));
    read_symbols(root.find("symbols"));
    place_buffers();
    move_addresses();
    point();
    return std::move(launch_);
  }

 private:
  struct Placing {
    Buffer buffer;
    Place place;
    std::uint64_t align = default_alignment;
    std::uint64_t offset = 0;
    std::uint64_t address = 0;  ///< 0: anywhere
  };

  /// The position of a buffer's address in the parameters.
  struct NamedPointer {
    std::uint64_t at = 0;
    std::string of;  ///< the buffer's name
    std::uint64_t offset = 0;
    Place place;
  };

  [[nodiscard]] const ptx::Module& module() const { return modules_[launch_.module]; }
  [[nodiscard]] const ptx::Kernel& kernel() const { return module().kernels[launch_.kernel]; }

  /// Whether a module is from the input that the file names: by its full path, or by its file name.
  [[nodiscard]] bool is_meant(std::size_t module) const {
    if (input_.empty() || inputs_.empty()) return true;
    const std::string& name = inputs_[module];
    return name == input_ || name.ends_with('/' + input_);
  }

  void choose_input(const TreeNode* node) {
    if (node == nullptr) return;
    constexpr std::string_view mend = "write its name, or omit it";
    if (!node->is_text() || node->text.empty()) {
      node->refuse_as("input", "the name of an input file", mend);
    }
    input_ = node->text;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      if (is_meant(m)) return;
    }
    node->refuse_as("input", joined({inputs_.begin(), inputs_.end()}), mend);
  }

  struct Found {
    std::size_t module;
    std::uint32_t kernel;
  };
  /// The kernels that are meant: those of that name, those that match it, and what they are called.
  struct Named {
    std::vector<Found> exact;
    std::vector<Found> matching;
    Names names;  ///< of all
    Names matched_names;
  };
  [[nodiscard]] Named kernels_named(const TreeNode& node) const {
    Named all;
    const auto matches = matcher(fmt::format("{}:{}: kernel", file_, node.place.line), node.text);
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      if (!is_meant(m)) continue;
      for (std::uint32_t k = 0; k < modules_[m].kernels.size(); ++k) {
        const auto& one = modules_[m].kernels[k];
        if (!one.entry || !one.defined) continue;
        const std::string name{one.name};
        all.names.push_back(demangled(name));
        if (name == node.text) all.exact.push_back({m, k});
        if (!matches(name) && !matches(all.names.back())) continue;
        all.matching.push_back({m, k});
        all.matched_names.push_back(all.names.back());
      }
    }
    return all;
  }

  void choose_kernel(const TreeNode& node) {
    constexpr std::string_view expected = "a kernel name, or a regular expression that matches one";
    if (!node.is_text() || node.text.empty()) {
      node.refuse_as("kernel", expected, "write the name as in the PTX");
    }
    const Named all = kernels_named(node);
    const auto& found = all.exact.empty() ? all.matching : all.exact;
    // Processes of one program load identical modules, and each of its modules may define the same
    // instance of a template: C++ requires that they are equal.
    const auto is_copy = [&](const Found& one) {
      const auto& first = found.front();
      const ptx::Kernel& other = modules_[one.module].kernels[one.kernel];
      const ptx::Kernel& kept = modules_[first.module].kernels[first.kernel];
      if (other.name != kept.name) return false;
      const bool are_weak = other.text.starts_with(".weak") && kept.text.starts_with(".weak") &&
                            modules_[one.module].target == modules_[first.module].target;
      return are_weak || (one.kernel == first.kernel &&
                          modules_[one.module].text == modules_[first.module].text);
    };
    if (!found.empty() && std::ranges::all_of(found, is_copy)) {
      launch_.module = found.front().module;
      launch_.kernel = found.front().kernel;
      return;
    }
    const auto shown = [](Names some) {
      constexpr std::size_t most = 4;
      if (some.size() <= most) return joined(some);
      some.resize(most);
      return joined(some) + ", …";
    };
    if (found.empty()) {
      node.refuse_as("kernel", all.names.empty() ? "a PTX file with kernels" : shown(all.names),
                     "use one of the kernels");
    }
    node.refuse_as("kernel",
                   fmt::format("one kernel, not {}: {}", found.size(),
                               shown(all.exact.empty() ? all.matched_names : Names{node.text})),
                   "write more of its name, or name its input");
  }

  void read_shape(const TreeNode& root) {
    constexpr std::string_view shape = "1 to 3 integers";
    const auto& block = root.need("block", shape);
    launch_.grid = extent_of(root.need("grid", shape), "grid", {0x7FFFFFFF, 65535, 65535});
    launch_.block = extent_of(block, "block", {most_threads, most_threads, 64});
    if (launch_.block.count() > most_threads) {
      refuse(block.place, fmt::format("a block of {} threads", launch_.block.count()),
             fmt::format("at most {}", most_threads), "use a smaller block");
    }
    const auto as_extent = [](const std::array<std::uint32_t, 3>& three) {
      return Extent{std::max(three[0], 1U), std::max(three[1], 1U), std::max(three[2], 1U)};
    };
    const auto text_of = [](const Extent& e) { return fmt::format("[{}, {}, {}]", e.x, e.y, e.z); };
    if (const Extent required = as_extent(kernel().required_block);
        kernel().required_block[0] != 0 && required != launch_.block) {
      refuse(block.place, "a block of " + text_of(launch_.block),
             text_of(required) + ", which the kernel requires", "write that");
    }
    if (const std::uint64_t most = as_extent(kernel().most_block).count();
        kernel().most_block[0] != 0 && launch_.block.count() > most) {
      refuse(block.place, fmt::format("a block of {} threads", launch_.block.count()),
             fmt::format("at most {}, for which the kernel was compiled", most),
             "use a smaller block");
    }
    read_cluster(root.find("cluster"), as_extent(kernel().cluster), text_of);
    launch_.dynamic_shared = number_or(root, "dynamic_shared", 0, 0, most_dynamic_shared);
  }

  template <class TextOf>
  void read_cluster(const TreeNode* node, const Extent& required, const TextOf& text_of) {
    const bool is_required = kernel().cluster[0] != 0;
    launch_.is_clustered = node != nullptr || is_required;
    launch_.cluster = required;
    if (node == nullptr) return;
    launch_.cluster = extent_of(*node, "cluster",
                                {most_cluster_blocks, most_cluster_blocks, most_cluster_blocks});
    const Extent& c = launch_.cluster;
    if (is_required && c != required) {
      refuse(node->place, "a cluster of " + text_of(c),
             text_of(required) + ", which the kernel requires", "write that");
    }
    if (c.count() > most_cluster_blocks) {
      refuse(node->place, fmt::format("a cluster of {} blocks", c.count()),
             fmt::format("at most {}", most_cluster_blocks), "use a smaller cluster");
    }
    const Extent& g = launch_.grid;
    if (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0) {
      refuse(node->place, "a cluster of " + text_of(c), "one that divides the grid, " + text_of(g),
             "change one of them");
    }
  }

  /// "param_0" of "KERNEL_param_0"; otherwise the whole name.
  [[nodiscard]] std::string short_name(const ptx::Symbol& param) const {
    std::string_view name = param.name;
    if (name.starts_with(kernel().name) && name.substr(kernel().name.size()).starts_with('_')) {
      name.remove_prefix(kernel().name.size() + 1);
    }
    return std::string{name};
  }

  void read_arguments(const TreeNode& root) {
    const auto& indices = kernel().params;
    Names names;
    std::uint64_t bytes = 0;
    for (const std::uint32_t index : indices) {
      const auto& param = module().symbols[index];
      names.push_back(short_name(param));
      bytes = std::max(bytes, param.offset + param.bytes);
    }
    launch_.params.assign(bytes, 0);
    launch_.params_known.assign(bytes, 0);
    const auto* const node = root.find("arguments");
    const Place place = node == nullptr ? root.place : node->place;
    const auto missing = [&](std::size_t which) {
      refuse({file_, std::max<std::size_t>(place.line, 1)},
             fmt::format("no argument for {}", names[which]),
             fmt::format("one for each of {} parameters: {}", names.size(), joined(names)),
             "add it; 'unknown' is allowed");
    };
    if (node == nullptr || node->kind == NodeKind::nothing) {
      if (!indices.empty()) missing(0);
      return;
    }
    if (node->kind == NodeKind::list) {
      if (node->items.size() > indices.size()) {
        refuse(node->items[indices.size()].place, fmt::format("argument {}", indices.size() + 1),
               fmt::format("{}, as the kernel has parameters", indices.size()), "remove it");
      }
      for (std::size_t i = 0; i < indices.size(); ++i) {
        if (i >= node->items.size()) missing(i);
        read_argument(node->items[i], module().symbols[indices[i]], names[i]);
      }
      return;
    }
    if (node->kind != NodeKind::mapping) {
      node->refuse_as("arguments", "a list, or a mapping by parameter name",
                      "write '- {bytes: 4096, fill: zero}', for example, for each parameter");
    }
    std::vector<bool> given(names.size());
    for (const auto& item : node->items) {
      const auto is_it = [&](std::uint32_t index) {
        return module().symbols[index].name == item.key;
      };
      auto which = static_cast<std::size_t>(std::ranges::find(names, item.key) - names.begin());
      if (which == names.size()) {
        which = static_cast<std::size_t>(std::ranges::find_if(indices, is_it) - indices.begin());
      }
      if (which == names.size()) {
        refuse(item.key_place, fmt::format("the kernel has no parameter {}", in_quotes(item.key)),
               joined(names), did_you_mean(item.key, names, "use one of these"));
      }
      if (given[which]) {
        refuse(item.key_place, fmt::format("{} twice", names[which]), "each parameter once",
               "remove one of them");
      }
      given[which] = true;
      read_argument(item, module().symbols[indices[which]], names[which]);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!given[i]) missing(i);
    }
  }

  void write(std::uint64_t at, std::uint64_t bits, std::uint64_t bytes) {
    for (std::uint64_t b = 0; b < bytes; ++b) {
      launch_.params[at + b] = static_cast<std::uint8_t>(bits >> (8 * b));
      launch_.params_known[at + b] = 1;
    }
  }

  void read_argument(const TreeNode& node, const ptx::Symbol& param, const std::string& name) {
    if (node.is_text()) return read_scalar(node, param, name);
    if (node.kind != NodeKind::mapping) {
      node.refuse_as(name, "a number, a buffer {bytes: …}, a struct {fields: …} or 'unknown'",
                     "write one of these");
    }
    if (node.find("fields") != nullptr ||
        (node.find("hex") != nullptr && node.find("bytes") == nullptr)) {
      return read_struct(node, param, name);
    }
    if (param.bytes != pointer_bytes) {
      refuse(node.place, fmt::format("a buffer for {}, of {} bytes", name, param.bytes),
             "a parameter of 8 bytes, which holds a pointer",
             "use a number, or a struct with 'fields'");
    }
    read_buffer(node, param.offset, name);
  }

  /// How the kernel uses a parameter. For a load without a type, such as ld.param.b32, the
  /// instructions that read its register decide.
  struct Uses {
    bool as_integer = false;
    bool as_real = false;
    void add(const ptx::Instruction& one) {
      using enum ptx::Type;
      const ptx::Type type = one.type();  // of a conversion: what it reads
      as_real = as_real || type == f32 || type == f64;
      as_integer = as_integer || (type >= u8 && type <= s64) || one.opcode == "shl";
    }
  };
  [[nodiscard]] Uses uses_of(const ptx::Symbol& param) const {
    Uses uses;
    for (const ptx::Instruction& one : kernel().instructions) {
      if (one.opcode != "ld" || one.operands.size() < 2) continue;
      const auto& from = one.operands[1];
      if (from.kind != ptx::Operand::Kind::symbol || &module().symbols[from.index] != &param)
        continue;
      uses.add(one);
      const auto& into = one.operands[0];
      for (const ptx::Instruction& other : kernel().instructions) {
        const auto reads = [&](const ptx::Operand& operand) {
          return operand.kind == ptx::Operand::Kind::reg && !operand.address &&
                 operand.index == into.index;
        };
        if (!other.operands.empty() && into.kind == ptx::Operand::Kind::reg &&
            std::any_of(other.operands.begin() + 1, other.operands.end(), reads)) {
          uses.add(other);
        }
      }
    }
    return uses;
  }

  void read_scalar(const TreeNode& node, const ptx::Symbol& param, const std::string& name) {
    if (node.text == "unknown" && node.kind == NodeKind::word) return;
    const bool fits = std::ranges::count(std::array{1, 2, 4, 8}, param.bytes) > 0;
    if (!fits) {
      refuse(node.place, fmt::format("a number for {}, of {} bytes", name, param.bytes),
             "a struct: {fields: {0: u32 7}} or {hex: '07 00 …'}", "write its fields");
    }
    const auto bytes = static_cast<unsigned>(param.bytes);
    if (const auto typed = typed_bits(node.text)) {
      if (typed->bytes != bytes) {
        refuse(node.place, fmt::format("{} for {}", in_quotes(node.text), name),
               fmt::format("a value of {} bytes", bytes), "change the type");
      }
      return write(param.offset, typed->bits, bytes);
    }
    const bool whole = is_integer(node.text);
    const Uses uses = uses_of(param);
    if (whole && !node.text.starts_with("0x") && uses.as_real && !uses.as_integer) {
      refuse(node.place, fmt::format("the integer {} for {}", node.text, name),
             "a floating-point number, as the kernel uses it",
             fmt::format("write {}.0, or its bits as 0x…", node.text));
    }
    const auto bits = whole ? whole_bits(node.text, bytes) : real_bits(node.text, bytes);
    if (bits && !whole && uses.as_integer && !uses.as_real) {
      refuse(node.place, fmt::format("{} for {}", node.text, name),
             "an integer, as the kernel uses it",
             fmt::format("write an integer, or f{} {} for these bits", 8 * bytes, node.text));
    }
    if (!bits) {
      node.refuse_as(name, fmt::format("a number of {} bytes, a buffer or 'unknown'", bytes),
                     "write one of these");
    }
    write(param.offset, *bits, bytes);
  }

  struct TypedBits {
    unsigned bytes;
    std::uint64_t bits;
  };
  /// Parses "u32 1920", "f32 1.5", "b64 0x…".
  [[nodiscard]] static std::optional<TypedBits> typed_bits(const std::string& text) {
    const auto parts = split(text, ' ');
    if (parts.size() != 2 || parts[0].size() < 2) return std::nullopt;
    const auto bits = whole_number(parts[0].substr(1));
    if (!bits || std::ranges::count(std::array{8, 16, 32, 64}, *bits) == 0) return std::nullopt;
    const auto bytes = static_cast<unsigned>(*bits / 8);
    std::optional<std::uint64_t> value;
    if (parts[0][0] == 'f') {
      value = real_bits(std::string{parts[1]}, bytes);
    } else if (std::string_view{"usb"}.find(parts[0][0]) != std::string_view::npos) {
      value = whole_bits(parts[1], bytes);
    }
    if (!value) return std::nullopt;
    return TypedBits{bytes, *value};
  }

  void read_struct(const TreeNode& node, const ptx::Symbol& param, const std::string& name) {
    node.allow_keys("a struct", {"fields", "hex"});
    if (const auto* const hex = node.find("hex")) {
      const auto bytes = bytes_of_hex(*hex);
      if (bytes.size() != param.bytes) {
        refuse(hex->place, fmt::format("{} bytes for {}", bytes.size(), name),
               fmt::format("{}", param.bytes), "write all of them");
      }
      for (std::size_t i = 0; i < bytes.size(); ++i)
        write(param.offset + i, bytes[i], 1);
    }
    const auto* const fields = node.find("fields");
    if (fields == nullptr) return;
    std::vector<bool> taken(param.bytes);
    for (const auto& field :
         fields->filled(NodeKind::mapping, "fields", "a mapping from offsets to typed values",
                        "write fields: {0: u32 1920}, for example")) {
      read_field(field, param, name, taken);
    }
  }

  /// Writes a field of a struct, in which some bytes are `taken`.
  void read_field(const TreeNode& field, const ptx::Symbol& param, const std::string& name,
                  std::vector<bool>& taken) {
    const auto at = whole_bits(field.key, 8);
    if (!at || field.key.starts_with('-')) {
      refuse(field.key_place, fmt::format("the field {}", in_quotes(field.key)),
             "its offset in bytes", "write an integer");
    }
    const auto typed = field.is_text() ? typed_bits(field.text) : std::nullopt;
    if (!typed && field.kind != NodeKind::mapping) {
      field.refuse_as(fmt::format("the field at {}", *at),
                      "a typed value or a buffer, such as u32 1920, f32 1.5 or {bytes: 4096}",
                      "write one of these");
    }
    const unsigned bytes = typed ? typed->bytes : pointer_bytes;
    if (*at > param.bytes || param.bytes - *at < bytes) {
      refuse(field.key_place, fmt::format("{} bytes at {} of {}", bytes, *at, name),
             fmt::format("a field within its {} bytes", param.bytes), "correct the offset");
    }
    for (unsigned b = 0; b < bytes; ++b) {
      if (taken[*at + b]) {
        refuse(field.key_place, fmt::format("byte {} of {} twice", *at + b, name),
               "fields that do not overlap", "correct the offset");
      }
      taken[*at + b] = true;
    }
    if (typed) {
      write(param.offset + *at, typed->bits, bytes);
    } else {
      read_buffer(field, param.offset + *at, fmt::format("{}+{}", name, *at));
    }
  }

  void read_buffer(const TreeNode& node, std::uint64_t pointer_at, const std::string& name) {
    if (node.find("of") != nullptr) {
      node.allow_keys("a pointer into another buffer", {"of", "at"});
      const auto& of = node.need("of", "the name of the parameter that has the buffer");
      pointers_.push_back(
          {pointer_at, of.text, number_or(node, "at", 0, 0, most_buffer_bytes), of.place});
      return;
    }
    pointers_.push_back({pointer_at, name, 0, node.place});
    placings_.push_back(placing_of(node, name));
  }

  /// Memory that no parameter points to, but the content of other memory.
  void read_memory(const TreeNode* node) {
    if (node == nullptr) return;
    for (const auto& item :
         node->filled(NodeKind::list, "memory", "a list of buffers",
                      "write memory: [{bytes: 4096, was: 0x7f0000000000}], for example"))
      placings_.push_back(placing_of(item, fmt::format("memory_{}", memories_++)));
  }

  Placing placing_of(const TreeNode& node, const std::string& name) {
    if (node.kind != NodeKind::mapping) {
      node.refuse_as(name, "a buffer", "write {bytes: 4096}, for example");
    }
    node.allow_keys("a buffer", {"bytes", "align", "offset", "address", "was", "fill", "element",
                                 "below", "file", "hex"});
    Buffer buffer{.name = name,
                  .bytes = number_of(node.need("bytes", "the size of the buffer"), "bytes", 1,
                                     most_buffer_bytes)};
    buffer.fill = fill_of(node, buffer.bytes);
    Placing placing{.buffer = std::move(buffer), .place = node.place};
    placing.align = number_or(node, "align", default_alignment, 1, std::uint64_t{1} << 32U);
    if (!std::has_single_bit(placing.align)) {
      node.find("align")->refuse_as("align", "a power of two", "write 256, for example");
    }
    placing.offset = number_or(node, "offset", 0, 0, most_buffer_bytes);
    if (const auto* const address = node.find("address")) {
      if (node.find("align") != nullptr || node.find("offset") != nullptr) {
        refuse(address->place, "an address beside align or offset", "one way to give the address",
               "remove the others");
      }
      placing.address = number_of(*address, "address", 1, end_of_memory - placing.buffer.bytes);
    }
    if (const auto* const was = node.find("was")) {
      placing.buffer.was = number_of(*was, "was", 1, ~std::uint64_t{0} - placing.buffer.bytes);
    }
    return placing;
  }

  Fill fill_of(const TreeNode& node, std::uint64_t bytes) {
    constexpr std::string_view expected = "zero, random SEED, iota or unknown";
    Fill fill;
    const auto* const how = node.find("fill");
    const auto* const from_file = node.find("file");
    const auto* const hex = node.find("hex");
    if (std::ranges::count(std::array{how, from_file, hex}, nullptr) < 2) {
      refuse(node.place, "several of fill, file and hex", "one of them", "remove the others");
    }
    if (how != nullptr) {
      const auto parts = split(how->text, ' ');
      const auto seed = parts.size() == 2 ? whole_bits(parts[1], 8) : std::nullopt;
      if (how->text == "zero") {
        fill.kind = Fill::Kind::zero;
      } else if (how->text == "iota") {
        fill.kind = Fill::Kind::iota;
      } else if (parts[0] == "random" && seed) {
        fill.kind = Fill::Kind::random;
        fill.seed = *seed;
      } else if (how->text != "unknown") {
        how->refuse_as("fill", expected, "write fill: zero, for example");
      }
    }
    const auto only = [&](const char* key, bool allowed, const char* of) {
      const auto* const one = node.find(key);
      if (one != nullptr && !allowed) {
        refuse(one->place, fmt::format("'{}' does not apply to this fill", key), of, "remove it");
      }
    };
    const bool random = fill.kind == Fill::Kind::random;
    only("element", random || fill.kind == Fill::Kind::iota, "fill: iota or random");
    only("below", random, "fill: random");
    fill.element = static_cast<unsigned>(number_or(node, "element", 4, 1, 8));
    if (!std::has_single_bit(fill.element)) {
      node.find("element")->refuse_as("element", "1, 2, 4 or 8 bytes", "write one of these");
    }
    fill.below = number_or(node, "below", 0, 1, ~std::uint64_t{0});
    if (from_file != nullptr) {
      fill.kind = Fill::Kind::bytes;
      fill.bytes = file_bytes(*from_file, bytes);
    } else if (hex != nullptr) {
      fill.kind = Fill::Kind::bytes;
      fill.bytes = bytes_of_hex(*hex);
      check_length(*hex, fill.bytes.size(), bytes);
    }
    return fill;
  }

  static void check_length(const TreeNode& node, std::uint64_t found, std::uint64_t bytes) {
    if (found >= bytes) return;
    refuse(node.place, fmt::format("{} bytes for a buffer of {}", found, bytes),
           "as many as the buffer has, or more", "give all of them, or lower 'bytes'");
  }

  [[nodiscard]] std::vector<std::uint8_t> file_bytes(const TreeNode& node,
                                                     std::uint64_t bytes) const {
    if (!node.is_text() || node.text.empty()) {
      node.refuse_as("file", "the name of a file", "write file: data.bin, for example");
    }
    const auto path = std::filesystem::path{file_}.parent_path() / node.text;
    const std::string text = read_regular(path, 0, "a file of bytes", most_file_bytes);
    check_length(node, text.size(), bytes);
    std::vector<std::uint8_t> found(bytes);
    std::copy_n(text.begin(), bytes, found.begin());
    return found;
  }

  /// Variables of the module: each has an address; those that the file names also have a content.
  void read_symbols(const TreeNode* node) {
    Names names;
    for (std::uint32_t i = 0; i < module().symbols.size(); ++i) {
      const auto& symbol = module().symbols[i];
      const bool in_memory =
          symbol.space == ptx::Space::global || symbol.space == ptx::Space::constant;
      if (!in_memory || symbol.bytes == 0) continue;
      names.emplace_back(symbol.name);
      Buffer buffer{.name = std::string{symbol.name},
                    .bytes = symbol.bytes,
                    .space = symbol.space,
                    .symbol = i};
      const auto* const given =
          node != nullptr && node->kind == NodeKind::mapping ? node->find(symbol.name) : nullptr;
      if (given != nullptr) {
        if (given->kind != NodeKind::mapping) {
          given->refuse_as(symbol.name, "its contents, as {fill: zero} or {file: data.bin}",
                           "write one of these");
        }
        given->allow_keys("a variable", {"fill", "element", "below", "file", "hex"});
        buffer.fill = fill_of(*given, symbol.bytes);
      } else if (symbol.space == ptx::Space::constant && symbol.initial_is_known &&
                 !symbol.initial.empty()) {
        buffer.fill = {.kind = Fill::Kind::bytes, .bytes = symbol.initial};
      }
      placings_.push_back({.buffer = std::move(buffer),
                           .place = {},
                           .align = std::max(symbol.align, default_alignment)});
    }
    if (node == nullptr) return;
    for (const auto& item : node->filled(NodeKind::mapping, "symbols",
                                         "a mapping from variable names to their contents",
                                         "write symbols: {weights: {fill: zero}}, for example")) {
      if (std::ranges::count(names, item.key) > 0) continue;
      refuse(item.key_place, fmt::format("the module has no variable {}", in_quotes(item.key)),
             names.empty() ? "none: it has no variable in memory" : joined(names),
             did_you_mean(item.key, names, "remove it"));
    }
  }

  /// Contents that hold addresses of captured memory hold those of this launch instead.
  void move_addresses() {
    const auto moved = [&](std::uint64_t address) -> std::optional<std::uint64_t> {
      for (const Buffer& one : launch_.buffers) {
        if (one.was != 0 && address >= one.was && address - one.was < one.bytes)
          return one.address + (address - one.was);
      }
      return std::nullopt;
    };
    for (Buffer& buffer : launch_.buffers) {
      auto& bytes = buffer.fill.bytes;
      if (buffer.was % pointer_bytes != 0 || buffer.was == 0) continue;
      for (std::size_t at = 0; at + pointer_bytes <= bytes.size(); at += pointer_bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        const auto now = moved(word);
        if (!now) continue;
        std::memcpy(bytes.data() + at, &*now, sizeof *now);
        buffer.address_words.push_back(static_cast<std::uint32_t>(at / pointer_bytes));
      }
    }
  }

  void place_buffers() {
    std::vector<Buffer>& placed = launch_.buffers;
    for (const auto& one : placings_) {
      if (one.address == 0) continue;
      Buffer buffer = one.buffer;
      buffer.address = one.address;
      for (const auto& other : placed) {
        const bool apart = other.address >= buffer.address + buffer.bytes ||
                           buffer.address >= other.address + other.bytes;
        if (apart) continue;
        refuse(one.place, fmt::format("{} overlaps {}", buffer.name, other.name),
               "buffers that do not overlap",
               fmt::format("change an address, or write {{of: {}, at: BYTES}}", other.name));
      }
      placed.push_back(std::move(buffer));
    }
    const std::size_t fixed = placed.size();
    std::uint64_t cursor = first_address;
    for (const auto& one : placings_) {
      if (one.address != 0) continue;
      Buffer buffer = one.buffer;
      for (bool moved = true; moved;) {
        // Not more aligned than requested.
        buffer.address = (cursor + 2 * one.align - 1) / (2 * one.align) * (2 * one.align) +
                         one.align + one.offset;
        moved = false;
        for (std::size_t i = 0; i < fixed; ++i) {
          const auto& other = placed[i];
          const bool near = buffer.address < other.address + other.bytes + address_gap &&
                            other.address < buffer.address + buffer.bytes + address_gap;
          if (!near) continue;
          cursor = other.address + other.bytes + address_gap;
          moved = true;
        }
      }
      cursor = buffer.address + buffer.bytes + address_gap;
      if (cursor > end_of_memory) {
        refuse({file_, std::max<std::size_t>(one.place.line, 1)}, "buffers that are too large",
               fmt::format("less than {} TiB in total", end_of_memory >> 40U), "lower their bytes");
      }
      placed.push_back(std::move(buffer));
    }
    std::ranges::sort(placed, {}, &Buffer::address);
  }

  void point() {
    for (const auto& pointer : pointers_) {
      const auto found = std::ranges::find(launch_.buffers, pointer.of, &Buffer::name);
      if (found == launch_.buffers.end()) {
        Names names;
        for (const auto& one : launch_.buffers)
          names.push_back(one.name);
        refuse(pointer.place, fmt::format("no buffer {}", in_quotes(pointer.of)),
               names.empty() ? "a parameter with a buffer" : joined(names),
               did_you_mean(pointer.of, names, "use the parameter that has it"));
      }
      write(pointer.at, found->address + pointer.offset, pointer_bytes);
      const auto index = static_cast<std::size_t>(found - launch_.buffers.begin());
      launch_.pointers.push_back({pointer.at, index, pointer.offset});
    }
  }

  std::string file_;
  std::span<const ptx::Module> modules_;
  std::span<const std::string> inputs_;
  std::string input_;
  Launch launch_;
  std::vector<Placing> placings_;
  unsigned memories_ = 0;
  std::vector<NamedPointer> pointers_;
};

}  // namespace

std::uint64_t Fill::read(std::uint64_t offset, unsigned count) const {
  if (kind == Kind::unknown || kind == Kind::zero) return 0;
  std::uint64_t value = 0;
  if (kind == Kind::bytes) {
    for (unsigned i = 0; i < count && offset + i < bytes.size(); ++i)
      value |= std::uint64_t{bytes[offset + i]} << (8 * i);
    return value;
  }
  for (unsigned done = 0; done < count;) {
    const std::uint64_t index = (offset + done) / element;
    const auto within = static_cast<unsigned>((offset + done) % element);
    std::uint64_t number = index;
    if (kind == Kind::random) {
      constexpr std::uint64_t step = 0x9E3779B97F4A7C15U;  // increment of the generator's state
      number = SplitMix{seed + index * step}.next();
      if (below != 0) {
        __extension__ using Wide = unsigned __int128;
        number = static_cast<std::uint64_t>((Wide{number} * below) >> 64U);
      }
    }
    const unsigned taken = std::min(count - done, element - within);
    const std::uint64_t ones =
        taken == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * taken)) - 1;
    value |= (number >> (8 * within) & ones) << (8 * done);
    done += taken;
  }
  return value;
}

Launch parse_launch(std::string_view text, const std::string& file,
                    std::span<const ptx::Module> modules, std::span<const std::string> names) {
  return Reader{file, modules, names}.read(parse_yaml_tree(text, file, "launch"));
}

Launch read_launch(const std::string& file, std::span<const ptx::Module> modules,
                   std::span<const std::string> names) {
  return parse_launch(read_yaml_file(file, "launch"), file, modules, names);
}

}  // namespace strata::access
