// What the steps of a ladder's rung report alike, whichever ladder it belongs to. Host only.
#pragma once

#include "harness/measure/experiment.hpp"
#include "harness/model/queued.hpp"

#include <cstddef>
#include <vector>

namespace strata {

/// Rows of bus and driver use per step, of `steps` steps: `copies`, `copied_bytes` and `launches`,
/// counted and predicted.
void add_queued(std::vector<Constant>& rows, const Queued& counted, const Queued& predicted,
                std::size_t steps);
/// Gate `model`: what was counted is what was predicted.
void judge_queued(Session& session, const Queued& counted, const Queued& predicted);

/// Instructions of single lanes that all SMs could issue in a second, in every cycle of the clock
/// that the samples held: number `hertz` of each.
[[nodiscard]] double lane_slots_per_second(const std::vector<Sample>& samples, std::size_t hertz,
                                           unsigned sms);

/// Sets the rows' two timers, both of which are sampled until they are precise: number 0 of a
/// sample is its seconds by the outer timer, number 1 by the inner one of its backend, number 2 the
/// core's clock.
void time_by_both(Experiment& experiment, Backend backend);

}  // namespace strata
