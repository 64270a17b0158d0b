#include "harness/measure/session.hpp"

#include "harness/base/text.hpp"

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

long long Session::whole(std::string_view axis) const {
  const auto& text = param(axis);
  if (const auto number = whole_number(text)) return *number;
  throw std::out_of_range{record_.which.benchmark + ": axis " + in_quotes(axis) + " is " +
                          in_quotes(text) + ", which is not an integer"};
}

int Session::integer(std::string_view axis) const {
  const long long number = whole(axis);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
    throw std::out_of_range{record_.which.benchmark + ": axis " + in_quotes(axis) + " is " +
                            in_quotes(param(axis)) + ", which is not an int"};
  }
  return static_cast<int>(number);
}

}  // namespace strata
