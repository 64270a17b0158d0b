// Loaded before the other libraries of a program that `strata profile` runs (LD_PRELOAD): calls a
// function before the process ends by _exit(), which runs nothing else.
#include <sys/syscall.h>

#include <unistd.h>

namespace {

void (*before_exit)() = nullptr;

[[noreturn]] void leave(int status) {
  if (before_exit != nullptr) before_exit();
  for (;;)
    (void)::syscall(SYS_exit_group, status);
}

}  // namespace

extern "C" {
#define STRATA_VISIBLE __attribute__((visibility("default")))
STRATA_VISIBLE void strata_call_before_exit(void (*function)()) {
  before_exit = function;
}
[[noreturn]] STRATA_VISIBLE void _exit(int status) {
  leave(status);
}
[[noreturn]] STRATA_VISIBLE void _Exit(int status) noexcept {
  leave(status);
}
}
