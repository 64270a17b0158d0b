#include "harness/cli/seed_option.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdlib>

namespace strata {

std::string refuse_no_seed(const std::string& text) {
  std::string number = text;
  std::string negative = CLI::NonNegativeNumber(number);
  if (!negative.empty()) return negative;
  errno = 0;  // CLI11's conversion turns a number that is too large into the largest one
  (void)std::strtoull(text.c_str(), nullptr, 0);
  return errno == ERANGE ? text + " is out of range: at most 2^64 - 1" : "";
}

}  // namespace strata
