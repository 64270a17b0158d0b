#include "harness/core/session.hpp"

#include "harness/core/text.hpp"

#include <limits>
#include <stdexcept>

namespace strata {

const std::string& Session::param(std::string_view axis) const {
  const auto& params = record_.which.params;
  const auto found = params.find(axis);
  if (found == params.end()) {
    throw std::out_of_range{record_.which.benchmark + " declares no axis " + in_quotes(axis)};
  }
  return found->second;
}

int Session::integer(std::string_view axis) const {
  const auto& text = param(axis);
  const auto number = whole_number(text);
  if (!number || *number < std::numeric_limits<int>::min() ||
      *number > std::numeric_limits<int>::max()) {
    throw std::out_of_range{record_.which.benchmark + ": axis " + in_quotes(axis) + " is " +
                            in_quotes(text) + ", which is no int"};
  }
  return static_cast<int>(*number);
}

}  // namespace strata
