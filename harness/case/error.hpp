#pragma once

#include <stdexcept>
#include <string>

namespace strata {

/// What the process says to its caller when it ends.
enum class ExitCode : int {
  success = 0,       ///< every case measured, or skipped for a stated reason
  failed = 1,        ///< some case failed
  usage = 2,         ///< bad flag, bad input file
  no_device = 3,     ///< no usable device for what was asked
  interrupted = 130  ///< SIGINT or SIGTERM; the run folder is complete up to then and resumes
};

/// Bad input: what() is one line that says what is wrong, where, what was expected, how to mend it.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device that was asked for cannot be used; what() is one line that says why.
class DeviceUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A case that cannot be measured on this device: recorded as skipped, with this reason.
class Skipped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace strata
