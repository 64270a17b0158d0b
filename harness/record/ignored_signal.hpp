#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's sigaction, not C's signal

namespace strata {

/// Ignores a signal while it lives, then restores the handler that was there before.
class IgnoredSignal {
 public:
  explicit IgnoredSignal(int signal) : signal_{signal} {
    struct sigaction ignore {};
    ignore.sa_handler =
        SIG_IGN;  // NOLINT: a union inside and a cast, both of the C library's making
    (void)::sigaction(signal_, &ignore, &before_);
  }
  IgnoredSignal(const IgnoredSignal&) = delete;
  IgnoredSignal& operator=(const IgnoredSignal&) = delete;
  IgnoredSignal(IgnoredSignal&&) = delete;
  IgnoredSignal& operator=(IgnoredSignal&&) = delete;
  ~IgnoredSignal() { (void)::sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ {};
};

}  // namespace strata
