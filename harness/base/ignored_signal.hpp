#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's sigaction, not C's signal

namespace strata {

/// Handles a signal during its lifetime, then restores the previous handler. An ignored signal
/// stays ignored: nohup and background jobs of shells rely on that.
class HandledSignal {
 public:
  HandledSignal(int signal, void (*handler)(int)) : signal_{signal} {
    (void)::sigaction(signal_, nullptr, &before_);
    // NOLINTBEGIN: a union inside and a cast, both of the C library's making
    if (before_.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = handler;
    // NOLINTEND
    (void)::sigaction(signal_, &action, nullptr);
  }
  HandledSignal(const HandledSignal&) = delete;
  HandledSignal& operator=(const HandledSignal&) = delete;
  HandledSignal(HandledSignal&&) = delete;
  HandledSignal& operator=(HandledSignal&&) = delete;
  ~HandledSignal() { (void)::sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ {};
};

class IgnoredSignal : HandledSignal {
 public:
  explicit IgnoredSignal(int signal) : HandledSignal{signal, SIG_IGN} {}  // NOLINT: as above
};

}  // namespace strata
