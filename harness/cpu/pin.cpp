#include "harness/cpu/pin.hpp"

#include <cerrno>
#include <string>
#include <system_error>

namespace strata {

Pin::Pin(int cpu) {
  const auto fail = [cpu](int error, const char* what) {
    throw std::system_error{error, std::generic_category(),
                            what + std::string{" CPU "} + std::to_string(cpu)};
  };
  // Past the end of cpu_set_t the macro writes nothing, and the kernel would refuse an empty set.
  if (cpu < 0 || cpu >= CPU_SETSIZE) fail(EINVAL, "cannot pin a thread to");
  if (sched_getaffinity(0, sizeof before_, &before_) != 0) {
    fail(errno, "cannot tell where the thread may run, to pin it to");
  }
  cpu_set_t only{};
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(cpu), &only);
  if (sched_setaffinity(0, sizeof only, &only) != 0) fail(errno, "cannot pin a thread to");
}

Pin::~Pin() {
  // May fail when the CPUs allowed have changed meanwhile; the thread then stays where it is.
  (void)sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace strata
