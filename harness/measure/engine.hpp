// The measuring engine: from the description of an experiment to judged measurements.
//
// A case is either timed, counted, traced or repeated. Timed: the engine chooses the lengths; then,
// until the stopping rule is met, it launches each slope short and long. Every launch starts from
// its declared state with poisoned outputs, and is verified before its time counts. Counted: the
// same description is launched once per profiler pass, together with an empty launch whose counts
// are subtracted. Traced: some samples are divided into the phases of their steps (phases.hpp).
// Repeated: its work runs back to back while the session's caller watches the device (energy).
#pragma once

#include "harness/measure/experiment.hpp"
#include "harness/measure/machine.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"

namespace strata {

/// Times, counts, traces or repeats `experiment`, as the session requests, and adds rows, gates and
/// facts to the session. Throws Skipped if it cannot be counted or traced.
void measure(Session& session, Machine& machine, Experiment& experiment);

/// Rows and gates from the observations: the part of measure() that uses no device.
void report(Session& session, const TimerNames& names, const Experiment& experiment,
            const Collection<Sample>& seen);

/// A single launch as in measure(): from its declared state, with poisoned outputs, timed and
/// verified. For searches, where one launch decides the next.
Launched launch_once(Machine& machine, const Slope& slope, const Call& call, Tally& tally);

/// Sets the cache state of `start` and queues `work`, neither timed nor verified: for a state
/// without a Start, such as all pages visited after an eviction.
void run_untimed(Machine& machine, Start start, const std::function<void()>& work);

/// Throws Skipped if the session counts and `experiment` states why it is not counted. Call it
/// before expensive preparations.
void require_timed(const Session& session, const Experiment& experiment);

}  // namespace strata
