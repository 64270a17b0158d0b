// Can this machine's timers be believed? A dependent chain of 4-byte loads that hit the first level
// has one cost for each, whichever way it is timed.
//
// Nothing but loads is inside the number: each loaded word is the address of the next load. The
// cost of reading the clock, of a launch and of the first touch cancels in the slope between a
// short chain and a long one.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/session.hpp"

#include <vector>

namespace strata::timer_check {

[[nodiscard]] Benchmark declare();

/// Words in the chain: 4 KiB of words 4 bytes wide, inside any L1.
inline constexpr unsigned slots = 1024;

/// Cost of a load by each method; "second" is an independent way to time the same chain.
struct Observation {
  double inside = 0;
  double outside = 0;
  double graph = 0;  ///< 0 where there are no graphs
  double core_hertz = 0;
};

/// Adds the measurements and the timer and clock gates. `outside` and `clock` name the methods.
void report(Session& session, const std::vector<Observation>& seen, const char* unit,
            const char* inside, const char* outside, const char* graph, const char* clock);

}  // namespace strata::timer_check
