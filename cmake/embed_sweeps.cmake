# Writes OUTPUT, the source of strata::builtin_sweeps(), from the sweep files FILES.
set(entries "")
set(count 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"yaml(${text})yaml\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Generated from the sweep files.
#include \"harness/core/builtin_sweeps.hpp\"

#include <array>

namespace strata {

std::span<const std::pair<std::string_view, std::string_view>> builtin_sweeps() {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, ${count}> sweeps{{
${entries}  }};
  return sweeps;
}

}  // namespace strata
")
