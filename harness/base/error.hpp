#pragma once

#include <stdexcept>
#include <string>

namespace strata {

/// Exit status of the process.
enum class ExitCode : int {
  success = 0,    ///< every case measured, or skipped for a stated reason
  failed = 1,     ///< some case failed
  usage = 2,      ///< bad flag, bad input file
  no_device = 3,  ///< no usable device for the request
  interrupted =
      130  ///< SIGINT or SIGTERM; the run folder is complete up to then and can be resumed
};

/// Bad input: what() is one line with the place, what was found, what was expected, and a remedy.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The requested device cannot be used; what() is the reason in one line.
struct DeviceUnavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The case cannot be measured on this device: it is recorded as skipped, with this reason.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace strata
