// Keeps the calling thread on one CPU.
#pragma once

#include <sched.h>

namespace strata {

/// From construction to destruction the constructing thread runs on `cpu` only; afterwards it may
/// run where it could before. Construct and destroy it in one thread. Throws std::system_error that
/// names the CPU when the system does not allow it.
class Pin {
 public:
  explicit Pin(int cpu);
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  Pin(Pin&&) = delete;
  Pin& operator=(Pin&&) = delete;
  ~Pin();

 private:
  cpu_set_t before_{};
};

}  // namespace strata
