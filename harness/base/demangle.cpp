#include "harness/base/demangle.hpp"

#include "harness/base/text.hpp"

#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace strata {

std::string demangled(std::string_view name, int most_references) {
  // A mangled name may refer to parts of itself, and those to others: its expansion can double with
  // every few letters.
  constexpr std::size_t longest = 4096;
  int references = 0;
  for (std::size_t at = 0; at + 1 < name.size(); ++at) {
    const auto next = static_cast<unsigned char>(name[at + 1]);
    const bool refers =
        (name[at] == 'S' || name[at] == 'T') && (std::isdigit(next) != 0 || next == '_');
    references += refers ? 1 : 0;
  }
  if (!name.starts_with("_Z") || name.size() > longest || references > most_references) {
    return one_line(name);
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> made{
      abi::__cxa_demangle(std::string{name}.c_str(), nullptr, nullptr, &status), &std::free};
  return one_line(status == 0 && made ? std::string_view{made.get()} : name);
}

}  // namespace strata
