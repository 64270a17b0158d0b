// The measuring engine: from the description of an experiment to judged measurements.
//
// A case is timed, counted or traced, never two of these. Timed: lengths are decided; then, until
// the stopping rule is met, each slope is launched short and long, every launch from its declared
// state, with poisoned outputs, and verified before its time counts. Counted: the same description
// is launched once for each pass of the profiler, beside a launch without work, whose counts are
// taken off. Traced: some samples, each divided into the phases of its steps (phases.hpp).
#pragma once

#include "harness/measure/experiment.hpp"
#include "harness/measure/machine.hpp"
#include "harness/measure/protocol.hpp"
#include "harness/measure/session.hpp"

namespace strata {

/// Times, counts or traces `experiment`, as the session says, and adds rows, gates and facts to the
/// session. Throws Skipped where it cannot be counted or traced.
void measure(Session& session, Machine& machine, Experiment& experiment);

/// Rows and gates of what was observed: the part of measure() that runs no device.
void report(Session& session, const TimerNames& names, const Experiment& experiment,
            const Collection<Sample>& seen);

/// A single launch, from its declared state, with poisoned outputs, timed and verified as those of
/// measure() are: for searches, which decide by one launch what the next one is.
Launched launch_once(Machine& machine, const Slope& slope, const Call& call, Tally& tally);

/// Moves what is in the caches as `start` says and queues `work`, neither timed nor verified: for a
/// state that no Start names, such as all pages visited after an eviction.
void run_untimed(Machine& machine, Start start, const std::function<void()>& work);

/// Throws Skipped where the session counts and `experiment` says why it is not counted: to be asked
/// before costly preparations.
void require_timed(const Session& session, const Experiment& experiment);

}  // namespace strata
