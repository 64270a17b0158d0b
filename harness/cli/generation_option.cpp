#include "harness/cli/generation_option.hpp"

#include "harness/base/text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

namespace strata {
namespace {

using Names = std::vector<std::string>;

constexpr std::array known_majors{1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12};

/// The generation of "9.0" or "9.x"; nothing for other texts and unpublished capabilities.
std::optional<Generation> of_capability(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = whole_number(text.substr(0, dot));
  const bool any = text.substr(dot + 1) == "x";
  const auto minor = any ? 0 : whole_number(text.substr(dot + 1));
  if (!major || !minor || *minor < 0 || *minor > 9) return std::nullopt;
  if (std::ranges::find(known_majors, *major) == known_majors.end()) return std::nullopt;
  if (*major == 1 && any) return std::nullopt;  // 1.x are two generations
  return generation_of(static_cast<int>(*major), static_cast<int>(*minor));
}

}  // namespace

Names chosen(std::string_view option, const Names& names, Names known, std::string_view mend) {
  const auto is_among = [](const Names& list) {
    return [&](const std::string& name) { return std::ranges::count(list, name) > 0; };
  };
  if (const auto wrong = std::ranges::find_if_not(names, is_among(known)); wrong != names.end()) {
    refuse({option}, "there is no " + in_quotes(*wrong), joined(known),
           did_you_mean(*wrong, known, mend));
  }
  if (!names.empty()) std::erase_if(known, std::not_fn(is_among(names)));
  return known;
}

Names chosen_generations(Names names, const Names& otherwise) {
  if (names.empty()) names = otherwise;
  Names known;
  for (const auto& info : generations())
    known.emplace_back(info.name);
  for (auto& name : names) {
    if (generation_from(name)) continue;
    if (const auto generation = of_capability(name)) {
      name = info_of(*generation).name;
    } else if (!name.empty() && name.find_first_not_of("0123456789.") == std::string::npos) {
      refuse({"--generation"}, "no GPU has compute capability " + in_quotes(name),
             "one from 1.0 to 12.x, or one of " + joined(known), "correct it");
    }
  }
  return chosen("--generation", names, known);
}

}  // namespace strata
