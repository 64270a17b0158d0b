// What a case timed, written into its record: quantities, the timers that must agree, the clock.
#pragma once

#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"
#include "harness/record/gates.hpp"
#include "harness/record/measurement.hpp"

#include <string>

namespace strata {

/// Adds to `session` what was seen of its case. `value` below is a member of Observation, or a
/// function of one, that gives a number.
template <class Observation>
class Timed {
 public:
  Timed(Session& session, const Collection<Observation>& seen) : session_{session}, seen_{seen} {
    session.fact("stopped_by", std::string{to_string(seen.stop)});
  }

  /// One quantity by one method, a sample of each observation.
  template <class Value>
  void add(const std::string& quantity, const std::string& unit, const std::string& method,
           Value&& value) const {
    session_.add(Measurement{.quantity = quantity,
                             .unit = unit,
                             .provenance = Provenance::timed,
                             .method = method,
                             .samples = seen_.series(value)});
  }

  /// The gate of two timers that do not depend on each other.
  template <class First, class Second>
  void timers(First&& first, const std::string& first_method, Second&& second,
              const std::string& second_method) const {
    session_.add(
        timer_gate(seen_.series(first), first_method, seen_.series(second), second_method));
  }

  /// The clock of the core, in hertz, and its gate.
  template <class Value>
  void core_clock(const std::string& method, Value&& value) const {
    add("core_clock", "Hz", method, value);
    session_.add(clock_gate(seen_.series(value)));
  }

 private:
  Session& session_;
  const Collection<Observation>& seen_;
};

}  // namespace strata
