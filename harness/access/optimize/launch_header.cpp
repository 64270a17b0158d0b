#include "harness/access/optimize/launch_header.hpp"

#include "harness/access/listing.hpp"
#include "harness/case/builtin_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace strata::access {
namespace {

std::string_view built_in(std::string_view name) {
  for (const auto& [file, text] : builtin_launch_header()) {
    if (file == name) return text;
  }
  throw std::logic_error{"the launch header is not built in"};
}

std::string identifier(std::string_view text) {
  std::string name{text};
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
    name.insert(name.begin(), '_');
  }
  // Words of C++ that a kernel in PTX may be called by, and names of the header itself.
  constexpr std::array taken{
      "auto",   "bool", "case",   "class",   "const",        "default", "double",   "float",
      "for",    "if",   "int",    "long",    "new",          "private", "return",   "short",
      "switch", "this", "void",   "while",   "Shape",        "Kernels", "Library",  "Parameters",
      "load",   "read", "launch", "why_not", "are_as_large", "pays",    "does_same"};
  if (std::ranges::find(taken, name) != taken.end()) name += '_';
  return name;
}

std::string extent_text(const Change& change, bool is_grid) {
  const auto& order = is_grid ? change.block_axes : change.thread_axes;
  std::array<std::string, 3> sizes;
  for (unsigned axis = 0; axis < 3; ++axis)
    sizes.at(axis) = fmt::format("shape.{}.{}", is_grid ? "grid" : "block", "xyz"[order.at(axis)]);
  std::string& along = sizes.at(change.lanes_axis());
  if (is_grid && change.exchange) {
    along = fmt::format(
        "static_cast<unsigned>(({0} + {1}ULL * shape.block.x - 1) / ({1}ULL * "
        "shape.block.x))",
        along, change.threads);
    sizes.at(change.exchange->free) = "shape.block.x";
  } else if (is_grid && change.threads > 1) {
    along = fmt::format("static_cast<unsigned>(({} + {}ULL) / {})", along, change.threads - 1,
                        change.threads);
  }
  return fmt::format("dim3({}, {}, {})", sizes[0], sizes[1], sizes[2]);
}

std::string kernel_text(const ptx::Module& module, const OptimizedKernel& one,
                        std::string_view library) {
  const auto kernel = std::ranges::find(module.kernels, one.original, &ptx::Kernel::name);
  const Change& change = one.optimized.change;
  std::string offsets;
  std::string sizes;
  std::uint64_t end = 0;
  for (const std::uint32_t param : kernel->params) {
    const ptx::Symbol& symbol = module.symbols[param];
    offsets += fmt::format("{}, ", symbol.offset);
    sizes += fmt::format("{}, ", symbol.bytes);
    end = symbol.offset + symbol.bytes;
  }
  end = (end + 3) / 4 * 4;
  return fmt::format(
      R"(
struct {name}_kernel {{
  static constexpr std::size_t count = {count};
  static constexpr std::size_t offsets[]{{{offsets}0}};
  static constexpr std::size_t sizes[]{{{sizes}0}};
  static constexpr std::size_t bytes = {bytes};
  static constexpr bool counts_blocks = {counts};
  static constexpr unsigned lanes_axis = {axis};
  static dim3 grid(const Shape& shape) {{ return {grid}; }}
  static dim3 block(const Shape& shape) {{ return {block}; }}
  static const char* why_original([[maybe_unused]] const unsigned char* bytes,
                                  [[maybe_unused]] const unsigned* sizes) {{
    using namespace launch_math;
{checks}  }}
  static bool pays([[maybe_unused]] const unsigned char* bytes,
                   [[maybe_unused]] const unsigned* sizes) {{
    using namespace launch_math;
{pays}  }}
  static Kernels load() {{
    return mended::load({library}(), "{original}", "{mended}");
  }}
}};

/// {readable}
/// {change}
struct {name} {{
  /// Of the original's shape and arguments.
  template <class... Arguments>
  static cudaError_t launch(dim3 grid, dim3 block, const Arguments&... arguments) {{
    return mended::launch<{name}_kernel>(Shape{{grid, block}}, arguments...);
  }}
  template <class... Arguments>
  static cudaError_t launch(const Shape& shape, const Arguments&... arguments) {{
    return mended::launch<{name}_kernel>(shape, arguments...);
  }}
  /// Both kernels; loads them.
  static Kernels kernels() {{ return {name}_kernel::load(); }}
  /// Why launch() takes the original; null where it takes the mended kernel.
  template <class... Arguments>
  static const char* why_not(const Shape& shape, const Arguments&... arguments) {{
    const Parameters<{name}_kernel> parameters{{shape, arguments...}};
    const char* const why = parameters.why_original(shape);
    return why != nullptr || parameters.pays() ? why : "{slower}";
  }}
  /// Whether the mended kernel does what the original does.
  template <class... Arguments>
  static bool does_same(const Shape& shape, const Arguments&... arguments) {{
    return Parameters<{name}_kernel>{{shape, arguments...}}.why_original(shape) == nullptr;
  }}
  /// Whether the mended kernel is expected to be no slower than the original.
  template <class... Arguments>
  static bool pays(const Shape& shape, const Arguments&... arguments) {{
    return Parameters<{name}_kernel>{{shape, arguments...}}.pays();
  }}
}};
)",
      fmt::arg("readable", readable(one.original)), fmt::arg("change", text_of(change)),
      fmt::arg("name", one.name), fmt::arg("count", kernel->params.size()),
      fmt::arg("offsets", offsets), fmt::arg("sizes", sizes), fmt::arg("bytes", end),
      fmt::arg("counts", change.moves_blocks()), fmt::arg("axis", change.lanes_axis()),
      fmt::arg("grid", extent_text(change, true)), fmt::arg("block", extent_text(change, false)),
      fmt::arg("checks", one.optimized.checks.code()),
      fmt::arg("pays", one.optimized.checks.code_of_pays()), fmt::arg("slower", does_not_pay),
      fmt::arg("library", library), fmt::arg("original", one.original),
      fmt::arg("mended", one.optimized.name));
}

}  // namespace

std::string short_name(std::string_view symbol) {
  std::string name = readable(symbol);
  if (const auto arguments = name.find_first_of("<("); arguments != std::string::npos) {
    // "(anonymous namespace)" is no argument list.
    const std::string plain = "(anonymous namespace)::";
    for (auto at = name.find(plain); at != std::string::npos; at = name.find(plain))
      name.erase(at, plain.size());
    name.erase(std::min(name.find_first_of("<("), name.size()));
  }
  if (const auto space = name.rfind(' '); space != std::string::npos) name.erase(0, space + 1);
  if (const auto colons = name.rfind("::"); colons != std::string::npos) name.erase(0, colons + 2);
  return identifier(name);
}

std::string launch_header(const ptx::Module& module, const std::vector<OptimizedKernel>& kernels,
                          std::string_view name) {
  const std::string library = "library_of_" + identifier(name);
  std::string text = fmt::format(
      "// Written by `strata access optimize` from {}. Each struct launches a kernel's mended copy "
      "where that\n// does what the original does, else the original.\n#pragma once\n\n",
      name);
  text += built_in("launch_math");
  text += '\n';
  text += built_in("mended_launch");
  text += fmt::format(
      "\nnamespace strata::mended {{\n\ninline const Library& {}() {{\n"
      "  static const Library library{{R\"strata({})strata\"}};\n"
      "  return library;\n}}\n",
      library, std::string_view{module.text.data(), module.text.size()});
  for (const OptimizedKernel& one : kernels)
    text += kernel_text(module, one, library);
  return text + "\n}  // namespace strata::mended\n";
}

}  // namespace strata::access
