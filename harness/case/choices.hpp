// The values of an axis, named once: the axis uses their names, the kernels their types.
#pragma once

#include "harness/base/text.hpp"
#include "harness/case/benchmark.hpp"
#include "harness/case/case.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {

/// An axis of these values. By default, a sweep visits them all.
[[nodiscard]] inline Axis listed_axis(const std::string& name, const std::string& meaning,
                                      const std::vector<std::string>& choices,
                                      const std::vector<std::string>& defaults = {}) {
  return {.name = name,
          .meaning = meaning,
          .choices = choices,
          .defaults = defaults.empty() ? choices : defaults};
}

/// Names and their values, in canonical order:
///   inline constexpr Choices levels{std::pair{"l1", Level::l1}, std::pair{"l2", Level::l2}};
template <class T, std::size_t count>
struct Choices {
  std::array<std::pair<const char*, T>, count> all;

  template <class... Pairs>
  constexpr Choices(Pairs... pairs) : all{{{pairs.first, pairs.second}...}} {}  // NOLINT

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> texts;
    for (const auto& [name, value] : all)
      texts.emplace_back(name);
    return texts;
  }
  /// Throws std::invalid_argument for an unknown name.
  [[nodiscard]] constexpr T of(std::string_view text) const {
    for (const auto& [name, value] : all) {
      if (text == name) return value;
    }
    throw std::invalid_argument{"no such choice: " + std::string{text}};
  }
  [[nodiscard]] constexpr const char* name_of(T wanted) const {
    for (const auto& [name, value] : all) {
      if (value == wanted) return name;
    }
    return "";
  }
  /// By default, a sweep visits them all.
  [[nodiscard]] Axis axis(const std::string& name, const std::string& meaning,
                          const std::vector<std::string>& defaults = {}) const {
    return listed_axis(name, meaning, names(), defaults);
  }
};
template <class First, class... Rest>
Choices(First, Rest...) -> Choices<typename First::second_type, 1 + sizeof...(Rest)>;

/// The values of an enumeration that counts from 0, by name, in order.
template <class Enum, class... Names>
[[nodiscard]] constexpr auto choices_of(Names... names) {
  return [&]<std::size_t... values>(std::index_sequence<values...>) {
    return Choices{std::pair{names, static_cast<Enum>(values)}...};
  }
  (std::index_sequence_for<Names...>{});
}

/// An axis of the integers from `minimum` to `maximum`.
[[nodiscard]] inline Axis number_axis(const std::string& name, const std::string& meaning,
                                      long long minimum, long long maximum,
                                      const std::vector<std::string>& defaults) {
  return {.name = name,
          .meaning = meaning,
          .choices = {},
          .minimum = minimum,
          .maximum = maximum,
          .defaults = defaults};
}

/// The integer value of an axis. Throws std::out_of_range if it is not one.
template <class T>
[[nodiscard]] T number_of(const Params& params, std::string_view axis) {
  const auto found = params.find(axis);
  const auto value = found == params.end() ? std::nullopt : whole_number(found->second);
  if (!value) throw std::out_of_range{"no integer for axis " + std::string{axis}};
  return static_cast<T>(*value);
}

/// Calls use.template operator()<v>() for the one of `values` that equals `value`, so that a
/// run-time number selects a kernel. Throws std::logic_error if there is none.
template <auto... values, class Value, class Use>
decltype(auto) with_value(const Value& value, Use&& use) {
  using Result = std::common_type_t<decltype(use.template operator()<values>())...>;
  Result result{};
  const bool found =
      ((value == values ? (result = use.template operator()<values>(), true) : false) || ...);
  if (!found) throw std::logic_error{"no kernel was compiled for a value of an axis"};
  return result;
}

}  // namespace strata
