// Points in time as text, always UTC, independent of locale and time zone.
#pragma once

#include <chrono>
#include <string>

namespace strata {

/// "2026-11-21T01:02:03Z": what the files of a run hold.
[[nodiscard]] std::string utc_text(
    std::chrono::system_clock::time_point when = std::chrono::system_clock::now());

/// "20261121T010203Z": the same for names of folders. Takes what utc_text gives; anything else
/// comes back without its '-' and ':'.
[[nodiscard]] std::string compact_utc(const std::string& text);

}  // namespace strata
