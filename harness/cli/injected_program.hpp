// An unmodified program with a library of ours, which the driver loads into it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Path of a program, found as a shell finds it.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name);

/// The same; throws UsageError if there is none.
[[nodiscard]] std::filesystem::path required_program(const std::string& name);

/// A library next to this executable. Throws CountersUnavailable if this machine cannot use it;
/// `action` is what it is needed for: "capture launches".
[[nodiscard]] std::filesystem::path injected_library(std::string_view file,
                                                     std::string_view action);

/// How a process ended, by waitpid: "exited with status 3"; empty after success.
[[nodiscard]] std::string ending_of(int status);

struct InjectedProgram {
  std::vector<std::string> words;        ///< the program and its arguments
  std::filesystem::path library;         ///< that the driver loads
  std::vector<std::string> environment;  ///< "NAME=value", besides ours
  bool is_silent = false;                ///< what it prints is discarded
};

/// Runs the program on this terminal until it ends, and returns its status as waitpid does. Calls
/// `meanwhile` at least every 50 ms, when `watched` (a descriptor, or -1) has data, and at the end.
/// An interrupt of the terminal ends only the program. Throws UsageError if it cannot be started.
[[nodiscard]] int run_injected(
    const InjectedProgram& program, int watched = -1,
    const std::function<void()>& meanwhile = [] {});

}  // namespace strata
