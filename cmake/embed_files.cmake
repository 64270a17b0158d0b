# Writes OUTPUT, the source of strata::FUNCTION(), which HEADER declares: name and text of each of FILES.
set(entries "")
set(count 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"yaml(${text})yaml\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Generated from the files that it holds.
#include \"${HEADER}\"

#include <array>

namespace strata {

std::span<const std::pair<std::string_view, std::string_view>> ${FUNCTION}() {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, ${count}> files{{
${entries}  }};
  return files;
}

}  // namespace strata
")
