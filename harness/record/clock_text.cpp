#include "harness/record/clock_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata {

std::string utc_text(std::chrono::system_clock::time_point when) {
  // Calendar arithmetic of <chrono>: gmtime would bring a static buffer, strftime the locale.
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(when - day)};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::string compact_utc(const std::string& text) {
  std::string compact;
  std::ranges::copy_if(text, std::back_inserter(compact),
                       [](char c) { return c != '-' && c != ':'; });
  return compact;
}

}  // namespace strata
