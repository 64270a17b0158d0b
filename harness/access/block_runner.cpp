#include "harness/access/block_runner.hpp"

#include "harness/access/lane_functions.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace strata::access {
namespace {

using ptx::Space;

constexpr std::uint64_t report_every = std::uint64_t{1} << 16U;

std::uint32_t lane_bit(unsigned lane) {
  return std::uint32_t{1} << lane;
}

}  // namespace

std::uint64_t loaded(std::uint64_t bits, const MemoryStep& memory, unsigned register_bytes) {
  const auto low_bytes = [](unsigned bytes) {
    return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
  };
  const unsigned top = 8 * memory.element_bytes - 1;
  if (memory.extends_sign && memory.element_bytes < 8 && (bits >> top & 1U) != 0) {
    bits |= ~low_bytes(memory.element_bytes);
  }
  return bits & low_bytes(register_bytes);
}

std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return shared_window;
    case Space::local:
      return local_window;
    case Space::param:
      return param_window;
    default:
      return 0;
  }
}

void BlockRunner::Bytes::resize(std::uint64_t count) {
  values.assign(count, 0);
  known.assign(count, 0);
  written_by.assign(count, 0);
}

void BlockRunner::Bytes::forget() {
  std::ranges::fill(known, std::uint8_t{0});
}

BlockRunner::BlockRunner(const ptx::Module& module, const Launch& launch, const Program& program,
                         std::span<const Generation> generations, const std::vector<bool>& trusted,
                         std::function<void(std::uint64_t)> spend)
    : module_{module},
      launch_{launch},
      program_{program},
      generations_{generations.begin(), generations.end()},
      trusted_{trusted},
      spend_{std::move(spend)},
      tallies_(program.memory.size()),
      read_(launch.buffers.size()),
      written_(launch.buffers.size()),
      regions_(program.steps.size()),
      reaches_any_(program.memory.size()) {
  const std::uint64_t count = (launch.block.count() + lanes - 1) / lanes;
  warps_.resize(program.needs_shared ? count : 1);
  for (Warp& warp : warps_)
    prepare(warp);
  if (program.needs_shared) shared_.resize(program.shared_end);
}

void BlockRunner::prepare(Warp& warp) const {
  WarpState& state = warp.state;
  state.values.assign(std::size_t{program_.value_slots} * lanes, 0);
  state.unknown.assign(program_.value_slots, 0);
  state.cause.assign(program_.value_slots, ptx::no_index);
  state.predicates.resize(program_.predicate_slots);
  for (const auto& constant : program_.constants) {
    std::fill_n(state.value(constant.slot), lanes, constant.bits);
    if (constant.hidden_by != ptx::no_index) {
      state.hide(constant.slot, all_lanes, constant.hidden_by);
    }
  }
  if (program_.needs_local) warp.local.resize(program_.local_bytes * lanes);
}

void BlockRunner::start(Warp& warp, std::uint32_t number) const {
  warp.number = number;
  WarpState& state = warp.state;
  for (const std::uint32_t slot : program_.registers) {
    state.unknown[slot] = all_lanes;
    state.cause[slot] = ptx::no_index;
  }
  std::ranges::fill(state.predicates, WarpState::Predicate{});
  const Extent& block = launch_.block;
  const Extent& cluster = launch_.cluster;
  const std::uint64_t first = std::uint64_t{number} * lanes;
  const std::uint64_t rest = block.count() - first;
  warp.live = rest >= lanes ? all_lanes : lane_bit(static_cast<unsigned>(rest)) - 1;
  warp.maybe = 0;
  warp.has_lost = false;
  warp.is_apart = false;
  warp.has_voted = false;
  const auto whole = static_cast<std::uint32_t>(program_.steps.size());
  warp.paths.assign(1, {.step = 0, .reconverge = whole, .mask = warp.live});
  if (program_.needs_local) warp.local.forget();
  const auto of_lane = [&](ptx::Special special, unsigned lane) -> std::uint64_t {
    using enum ptx::Special;
    const std::uint64_t thread = first + lane;
    switch (special) {
      case tid_x:
        return thread % block.x;
      case tid_y:
        return thread / block.x % block.y;
      case tid_z:
        return thread / (std::uint64_t{block.x} * block.y);
      case ntid_x:
        return block.x;
      case ntid_y:
        return block.y;
      case ntid_z:
        return block.z;
      case ctaid_x:
        return place_.x;
      case ctaid_y:
        return place_.y;
      case ctaid_z:
        return place_.z;
      case nctaid_x:
        return launch_.grid.x;
      case nctaid_y:
        return launch_.grid.y;
      case nctaid_z:
        return launch_.grid.z;
      case laneid:
        return lane;
      case lanemask_eq:
        return lane_bit(lane);
      case lanemask_lt:
        return lane_bit(lane) - 1;
      case lanemask_le:
        return (std::uint64_t{lane_bit(lane)} << 1U) - 1;
      case lanemask_gt:
        return all_lanes & ~((std::uint64_t{lane_bit(lane)} << 1U) - 1);
      case lanemask_ge:
        return all_lanes & ~(std::uint64_t{lane_bit(lane)} - 1);
      case dynamic_smem_size:
        return launch_.dynamic_shared;
      case cluster_ctaid_x:
        return place_.x % cluster.x;
      case cluster_ctaid_y:
        return place_.y % cluster.y;
      case cluster_ctaid_z:
        return place_.z % cluster.z;
      case cluster_nctaid_x:
        return cluster.x;
      case cluster_nctaid_y:
        return cluster.y;
      case cluster_nctaid_z:
        return cluster.z;
      case cluster_ctarank:
        return place_.x % cluster.x +
               std::uint64_t{cluster.x} *
                   (place_.y % cluster.y + std::uint64_t{cluster.y} * (place_.z % cluster.z));
      case cluster_nctarank:
        return cluster.count();
      case is_explicit_cluster:
        return launch_.is_clustered ? 1 : 0;
      case envreg1:
        return launch_.grid_workspace >> 32U;
      case envreg2:
        return launch_.grid_workspace & 0xFFFFFFFFU;
      default:
        return 0;
    }
  };
  for (const auto& [slot, special] : program_.specials) {
    std::uint64_t* const values = state.value(slot);
    for (unsigned lane = 0; lane < lanes; ++lane)
      values[lane] = of_lane(special, lane);
  }
}

void BlockRunner::run(std::uint64_t block, std::uint64_t times) {
  begin(block, times);
  const auto count = static_cast<std::uint32_t>((launch_.block.count() + lanes - 1) / lanes);
  if (!program_.needs_shared) {
    for (std::uint32_t w = 0; w < count; ++w) {
      start(warps_.front(), w);
      if (slopes_ != nullptr) slopes_->start_warp();
      (void)advance(warps_.front());
    }
    return;
  }
  while (!resume()) {
  }
}

void BlockRunner::begin(std::uint64_t block, std::uint64_t times) {
  block_ = block;
  times_ = times;
  const Extent& grid = launch_.grid;
  place_ = {static_cast<std::uint32_t>(block % grid.x),
            static_cast<std::uint32_t>(block / grid.x % grid.y),
            static_cast<std::uint32_t>(block / grid.x / grid.y)};
  if (!program_.needs_shared) return;
  shared_.forget();
  if (finds_races_) {
    shared_.writers.assign(shared_.values.size(), 0);
    shared_.readers.assign(shared_.values.size(), 0);
    barriers_ = 0;
  }
  shared_is_hidden_ = false;
  stops_.assign(warps_.size(), Stop::paused);
  for (std::uint32_t w = 0; w < warps_.size(); ++w)
    start(warps_[w], w);
}

bool BlockRunner::resume() {
  bool is_waiting = false;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    if (stops_[w] == Stop::paused) stops_[w] = advance(warps_[w]);
    is_waiting = is_waiting || stops_[w] == Stop::barrier;
  }
  if (std::ranges::count(stops_, Stop::paused) > 0) return false;
  // All warps reached the barrier; a warp that ended counts as arrived.
  ++barriers_;
  votes_ = std::exchange(voting_, {});
  std::ranges::replace(stops_, Stop::barrier, Stop::paused);
  return !is_waiting;
}

// One case per kind of step.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
BlockRunner::Stop BlockRunner::advance(Warp& warp) {
  WarpState& state = warp.state;
  constexpr std::uint32_t turn = 1U << 16U;  // steps before the next warp has its turn
  for (std::uint32_t steps = 0; !warp.paths.empty(); ++steps) {
    if (live_ != nullptr && steps == turn) return Stop::paused;
    Path& path = warp.paths.back();
    path.mask &= warp.live;
    if (path.mask == 0 || path.step == path.reconverge) {
      warp.paths.pop_back();
      continue;
    }
    const std::uint32_t at = path.step;
    const Step& step = program_.steps[at];
    if (++unspent_ == report_every) {
      instructions_ += unspent_;
      spend_(std::exchange(unspent_, 0));
    }
    std::uint32_t mask = path.mask;
    std::uint32_t open = 0;
    std::uint32_t cause = ptx::no_index;
    if (step.guard != no_slot) {
      const auto& guard = state.predicates[step.guard];
      open = guard.unknown & mask;
      cause = guard.cause;
      mask &= ~guard.unknown & (step.guard_negated ? ~guard.bits : guard.bits);
    }
    if (live_ != nullptr) {
      if (open != 0) fail_hidden(warp, step, open, "its guard", cause);
      active_lanes_ += static_cast<std::uint64_t>(std::popcount(mask));
    }
    if (slopes_ != nullptr) {
      slopes_->step(state, at, mask);
      if (slopes_->reach() == 0) return Stop::done;  // the rest would not be used
    }
    switch (step.kind) {
      case StepKind::plain:
        if (mask != 0) step.run(state, step, mask);
        if (open != 0) hide_results(warp, step, open, cause);
        ++path.step;
        break;
      case StepKind::branch:
        if (mask == path.mask) {
          path.step = step.target;
        } else if (mask == 0 && open == 0) {
          ++path.step;
        } else {
          branch(warp, at, mask, open, cause);
        }
        break;
      case StepKind::indexed:
        indexed(warp, at, mask, open, cause);
        break;
      case StepKind::exit:
        if (open != 0) {
          if (warp.maybe == 0) warp.maybe_cause = cause;
          warp.maybe |= open;
          if (!warp.has_lost) warp.lost_cause = cause;
          warp.has_lost = true;
        }
        warp.live &= ~mask;
        ++path.step;
        break;
      case StepKind::memory:
        if (live_ != nullptr) {
          act(warp, step, mask);
        } else {
          memory(warp, at, mask, open, cause);
        }
        ++path.step;
        break;
      case StepKind::barrier:
        // The order before and after a barrier is known only if all lanes reach it together.
        if (mask != warp.live || open != 0 || (mask & warp.maybe) != 0) {
          if (live_ != nullptr) fail(warp, step, warp.live & ~mask, "not all lanes reach it");
          shared_is_hidden_ = true;
          ++path.step;
          break;
        }
        if (step.from_predicate == no_slot) {
          ++path.step;
          return Stop::barrier;
        }
        if (!std::exchange(warp.has_voted, !warp.has_voted)) {
          vote_of_block(warp, step, mask);
          return Stop::barrier;
        }
        tell_vote(warp, step, mask);
        ++path.step;
        break;
      case StepKind::warp_sync:
        come_together(warp, step, mask, open);
        ++path.step;
        break;
      case StepKind::vote:
        if (mask != 0) vote(warp, step, mask);
        hide_results(warp, step, open, cause);
        ++path.step;
        break;
      case StepKind::reduce:
        if (mask != 0) reduce(warp, step, mask);
        hide_results(warp, step, open, cause);
        ++path.step;
        break;
      case StepKind::shuffle:
        if (mask != 0) shuffle(warp, step, mask);
        hide_results(warp, step, open, cause);
        ++path.step;
        break;
      case StepKind::activemask:
        for_lanes(mask, [&](unsigned lane) { state.value(step.to[0])[lane] = mask; });
        state.unknown[step.to[0]] &= ~mask;
        // Whether a lane on an unknown path is here is unknown, too.
        if (warp.has_lost && mask != warp.live) state.hide(step.to[0], mask, warp.lost_cause);
        hide_results(warp, step, open, cause);
        ++path.step;
        break;
      case StepKind::hide:
        if (live_ != nullptr && mask != 0) fail(warp, step, mask, "not modelled");
        hide_results(warp, step, mask | open, step.instruction);
        ++path.step;
        break;
    }
  }
  instructions_ += unspent_;
  spend_(std::exchange(unspent_, 0));
  return Stop::done;
}

// --- ways that part ------------------------------------------------------------------------------

void BlockRunner::part(Warp& warp, const Step& step,
                       std::span<const std::pair<std::uint32_t, std::uint32_t>> ways) {
  const std::uint32_t reconverge = step.reconverge;
  const auto taken = std::ranges::count_if(ways, [](const auto& way) { return way.second != 0; });
  if (taken <= 1) {
    for (const auto& [to, mask] : ways) {
      if (mask != 0) warp.paths.back().step = to;
    }
    return;
  }
  std::uint32_t staying = 0;
  std::uint32_t stays = 0;
  for (const auto& [to, mask] : ways) {
    if (mask == 0) continue;
    if (to == step.leaving) {
      leave(warp, step, to, mask);
    } else {
      ++staying;
      stays = to;
    }
  }
  if (staying == 1) {
    warp.paths.back().step = stays;
    return;
  }
  // The rest of the path waits for all branches, unless it goes there anyway.
  Path& path = warp.paths.back();
  if (path.reconverge == reconverge) {
    warp.paths.pop_back();
  } else {
    path.step = reconverge;
  }
  for (const auto& [to, mask] : ways) {
    if (mask == 0 || to == reconverge || to == step.leaving) continue;
    warp.paths.push_back({.step = to, .reconverge = reconverge, .mask = mask});
  }
}

/// Lanes leave all loops around `step` that do not contain the point where all of its lanes meet:
/// they continue at `to`, and wait there for those that stay.
void BlockRunner::leave(Warp& warp, const Step& step, std::uint32_t to, std::uint32_t mask) {
  const auto is_in = [&](std::uint32_t loop, std::uint32_t at) {
    std::uint32_t inner = program_.steps[at].loop;
    while (inner != no_slot && inner != loop)
      inner = program_.loop_parents[inner];
    return inner == loop;
  };
  const std::uint32_t meet = step.all_meet;
  std::uint32_t loop = step.loop;
  for (std::uint32_t outer = loop; outer != no_slot && !is_in(outer, meet);
       outer = program_.loop_parents[outer])
    loop = outer;
  auto& paths = warp.paths;
  // Paths in the loop are above the path that entered it.
  std::size_t first = paths.size() - 1;
  while (first > 0 && is_in(loop, paths[first - 1].step))
    --first;
  if (paths[first].reconverge != meet) {
    const Path waits{
        .step = meet, .reconverge = paths[first].reconverge, .mask = paths[first].mask};
    paths[first].reconverge = meet;
    paths.insert(paths.begin() + static_cast<std::ptrdiff_t>(first), waits);
    ++first;
  }
  for (std::size_t i = first; i < paths.size(); ++i)
    paths[i].mask &= ~mask;
  if (to != meet) {
    paths.insert(paths.begin() + static_cast<std::ptrdiff_t>(first),
                 {.step = to, .reconverge = meet, .mask = mask});
  }
}

/// Moves lanes on an unknown path to the point where all meet.
void BlockRunner::set_aside(Warp& warp, std::uint32_t at, std::uint32_t open, std::uint32_t cause) {
  const Step& step = program_.steps[at];
  lose_track(warp, at, open, cause);
  if (step.all_meet != step.reconverge) {
    leave(warp, step, step.all_meet, open);
    return;
  }
  if (open == warp.paths.back().mask) {
    warp.paths.back().step = step.all_meet;
    return;
  }
  // The other lanes form a path of their own.
  Path others = warp.paths.back();
  others.mask &= ~open;
  if (others.reconverge == step.all_meet) {
    warp.paths.pop_back();
  } else {
    warp.paths.back().step = step.all_meet;
    others.reconverge = step.all_meet;
  }
  warp.paths.push_back(others);
}

void BlockRunner::branch(Warp& warp, std::uint32_t at, std::uint32_t taken, std::uint32_t open,
                         std::uint32_t cause) {
  const Step& step = program_.steps[at];
  const std::uint32_t rest = warp.paths.back().mask & ~taken & ~open;
  if (open != 0) {
    set_aside(warp, at, open, cause);
    if ((taken | rest) == 0) return;
  }
  const std::array<std::pair<std::uint32_t, std::uint32_t>, 2> ways{
      {{at + 1, rest}, {step.target, taken}}};
  part(warp, step, ways);
}

void BlockRunner::indexed(Warp& warp, std::uint32_t at, std::uint32_t mask, std::uint32_t open,
                          std::uint32_t cause) {
  const Step& step = program_.steps[at];
  const IndexedBranch& targets = program_.indexed[step.detail];
  const std::uint32_t hidden = warp.state.unknown[targets.index] & mask;
  if (open == 0 && hidden != 0) cause = warp.state.cause[targets.index];
  std::uint32_t lost = open | hidden;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways{
      {at + 1, warp.paths.back().mask & ~mask & ~open}};
  for_lanes(mask & ~hidden, [&](unsigned lane) {
    const std::uint64_t index = warp.state.value(targets.index)[lane];
    // An index beyond the list leads to an undefined target.
    if (index >= targets.targets.size()) {
      lost |= lane_bit(lane);
      if (cause == ptx::no_index) cause = step.instruction;
      return;
    }
    const std::uint32_t target = targets.targets[index];
    auto way = std::find_if(ways.begin() + 1, ways.end(),
                            [&](const auto& one) { return one.first == target; });
    if (way == ways.end()) way = ways.insert(ways.end(), {target, 0});
    way->second |= lane_bit(lane);
  });
  const std::uint32_t all = warp.paths.back().mask;
  if (lost != 0) {
    set_aside(warp, at, lost, cause);
    if (lost == all) return;
  }
  part(warp, step, ways);
}

const Region& BlockRunner::region(std::uint32_t at) {
  auto& kept = regions_[at];
  if (!kept) kept = std::make_unique<Region>(region_of(program_, at));
  return *kept;
}

/// Lanes of `open` took an unknown path from this branch to the point where all meet again.
void BlockRunner::lose_track(Warp& warp, std::uint32_t at, std::uint32_t open,
                             std::uint32_t cause) {
  const Region& between = region(at);
  if (!warp.has_lost) warp.lost_cause = cause;
  warp.has_lost = true;
  for (const std::uint32_t slot : between.values)
    warp.state.hide(slot, open, cause);
  for (const std::uint32_t slot : between.predicates)
    warp.state.hide_predicate(slot, open, cause);
  for (const std::uint32_t one : between.memory) {
    const Step& step = program_.steps[one];
    const MemoryStep& memory = program_.memory[step.detail];
    doubt(step.detail, memory.space, Doubt::path, cause);
    const Space space = memory.space;
    const bool generic = space == Space::generic;
    if (!memory.writes) continue;
    if (generic || space == Space::shared || memory.kind == AccessKind::copy)
      shared_is_hidden_ = true;
    if (generic || space == Space::local) warp.local.forget();
    if (generic || space == Space::global) note_any_store(step.detail);
  }
  if (between.has_barrier) shared_is_hidden_ = true;
  if (between.may_exit) {
    if (warp.maybe == 0) warp.maybe_cause = cause;
    warp.maybe |= open;
  }
}

void BlockRunner::hide_results(Warp& warp, const Step& step, std::uint32_t mask,
                               std::uint32_t cause) {
  if (mask == 0) return;
  for (const std::uint32_t slot : step.to) {
    if (slot != no_slot) warp.state.hide(slot, mask, cause);
  }
  if (step.to_predicate != no_slot) warp.state.hide_predicate(step.to_predicate, mask, cause);
  if (step.to_second_predicate != no_slot) {
    warp.state.hide_predicate(step.to_second_predicate, mask, cause);
  }
}

// --- between lanes -------------------------------------------------------------------------------

/// An instruction's named lanes must reach it together, and every lane that reaches it must be
/// named; otherwise its effect, and which lanes continue together, is undefined. If the named lanes
/// are unknown, they are assumed to be those that arrive.
void BlockRunner::come_together(Warp& warp, const Step& step, std::uint32_t mask,
                                std::uint32_t open) {
  const WarpState& state = warp.state;
  std::uint32_t named = 0;
  std::uint32_t unnamed = 0;
  for_lanes(mask & ~state.unknown[step.from[0]], [&](unsigned lane) {
    const auto members = static_cast<std::uint32_t>(state.value(step.from[0])[lane]);
    named |= members;
    unnamed |= lane_bit(lane) & ~members;
  });
  const std::uint32_t missing = named & warp.live & ~mask;
  if (live_ != nullptr && (missing | unnamed) != 0) {
    fail(warp, step, missing | unnamed, "it is not reached by exactly the lanes that it names");
  }
  if (missing != 0 || (state.unknown[step.from[0]] & mask) != 0) shared_is_hidden_ = true;
  if ((missing & ~open) == 0 && unnamed == 0) return;
  if (!warp.is_apart) warp.apart_cause = step.instruction;
  warp.is_apart = true;
}

void BlockRunner::vote(Warp& warp, const Step& step, std::uint32_t mask) {
  WarpState& state = warp.state;
  const auto& source = state.predicates[step.from_predicate];
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const auto members = static_cast<std::uint32_t>(state.value(step.from[0])[first]);
  const bool members_known = (state.unknown[step.from[0]] & mask) == 0;
  const std::uint32_t participants = members & warp.live;
  const bool all_here = (participants & ~mask) == 0 && (mask & warp.maybe) == 0 && members_known;
  if (!all_here || (source.unknown & participants) != 0) {
    const std::uint32_t cause =
        (source.unknown & participants) != 0 ? source.cause : step.instruction;
    hide_results(warp, step, mask, cause);
    return;
  }
  const std::uint32_t bits = (step.from_negated ? ~source.bits : source.bits) & participants;
  const std::array<bool, 3> answers{bits == participants, bits != 0,
                                    bits == participants || bits == 0};
  if (step.to[0] != no_slot) {
    for_lanes(mask, [&](unsigned lane) { state.value(step.to[0])[lane] = bits; });
    state.unknown[step.to[0]] &= ~mask;
  }
  if (step.to_predicate != no_slot) {
    auto& to = state.predicates[step.to_predicate];
    to.unknown &= ~mask;
    to.bits = (to.bits & ~mask) | (answers.at(step.extra) ? mask : 0U);
  }
}

/// bar.red: lanes of all warps vote, and each gets the result when all have arrived.
void BlockRunner::vote_of_block(const Warp& warp, const Step& step, std::uint32_t mask) {
  const auto& source = warp.state.predicates[step.from_predicate];
  if ((source.unknown & mask) != 0) {
    fail_hidden(warp, step, source.unknown & mask, "its vote", source.cause);
  }
  const std::uint32_t bits = (step.from_negated ? ~source.bits : source.bits) & mask;
  voting_.all += static_cast<std::uint32_t>(std::popcount(mask));
  voting_.holding += static_cast<std::uint32_t>(std::popcount(bits));
}

void BlockRunner::tell_vote(Warp& warp, const Step& step, std::uint32_t mask) const {
  if (step.to[0] != no_slot) {
    for_lanes(mask, [&](unsigned lane) { warp.state.value(step.to[0])[lane] = votes_.holding; });
    warp.state.unknown[step.to[0]] &= ~mask;
  }
  if (step.to_predicate == no_slot) return;
  const bool holds = step.extra == 0 ? votes_.holding == votes_.all : votes_.holding > 0;
  auto& to = warp.state.predicates[step.to_predicate];
  to.unknown &= ~mask;
  to.bits = (to.bits & ~mask) | (holds ? mask : 0U);
}

void BlockRunner::reduce(Warp& warp, const Step& step, std::uint32_t mask) {
  WarpState& state = warp.state;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const auto participants =
      static_cast<std::uint32_t>(state.value(step.from[1])[first]) & warp.live;
  const bool all_here = (participants & ~mask) == 0 && (mask & warp.maybe) == 0 &&
                        (state.unknown[step.from[1]] & mask) == 0;
  const std::uint32_t hidden = state.unknown[step.from[0]] & participants;
  if (!all_here || hidden != 0) {
    const std::uint32_t cause = hidden != 0 ? state.cause[step.from[0]] : step.instruction;
    return hide_results(warp, step, mask, cause);
  }
  auto result =
      static_cast<std::uint32_t>(state.value(step.from[0])[std::countr_zero(participants)]);
  for_lanes(participants & (participants - 1), [&](unsigned lane) {
    const auto value = static_cast<std::uint32_t>(state.value(step.from[0])[lane]);
    result = reduced(static_cast<Reduction>(step.extra), result, value);
  });
  if (step.to[0] == no_slot) return;
  for_lanes(mask, [&](unsigned lane) { state.value(step.to[0])[lane] = result; });
  state.unknown[step.to[0]] &= ~mask;
}

void BlockRunner::shuffle(Warp& warp, const Step& step, std::uint32_t mask) {
  WarpState& state = warp.state;
  std::array<std::uint64_t, lanes> values{};
  std::copy_n(state.value(step.from[0]), lanes, values.begin());
  const std::uint32_t hidden_values = state.unknown[step.from[0]];
  const std::uint32_t value_cause = state.cause[step.from[0]];
  std::uint32_t hidden = 0;
  std::uint32_t cause = step.instruction;
  std::uint32_t in_range = 0;
  std::array<std::uint64_t, lanes> results{};
  const std::uint32_t open =
      (state.unknown[step.from[1]] | state.unknown[step.from[2]] | state.unknown[step.from[3]]) &
      mask;
  for_lanes(mask, [&](unsigned lane) {
    if ((open & lane_bit(lane)) != 0) return;
    const auto by = static_cast<std::uint32_t>(state.value(step.from[1])[lane]) & 31U;
    const auto control = static_cast<std::uint32_t>(state.value(step.from[2])[lane]);
    const auto members = static_cast<std::uint32_t>(state.value(step.from[3])[lane]);
    const std::uint32_t segment = control >> 8U & 31U;
    const std::uint32_t last = (lane & segment) | (control & 31U & ~segment);
    const std::uint32_t base = lane & segment;
    std::uint32_t from = lane;
    bool valid = false;
    switch (step.extra) {
      case 0:  // up: may go below lane 0, which is less than any bound
        valid = static_cast<std::int32_t>(lane - by) >= static_cast<std::int32_t>(last);
        from = lane - by;
        break;
      case 1:
        from = lane + by;
        valid = from <= last;
        break;
      case 2:
        from = lane ^ by;
        valid = from <= last;
        break;
      default:
        from = base | (by & ~segment);
        valid = from <= last;
    }
    if (!valid) from = lane;
    if (valid) in_range |= lane_bit(lane);
    const std::uint32_t bit = lane_bit(from & 31U);
    // The value of a lane that is absent, or not named, is undefined.
    if ((mask & bit) == 0 || (warp.maybe & bit) != 0 || (members & bit) == 0) {
      hidden |= lane_bit(lane);
    } else if ((hidden_values & bit) != 0) {
      hidden |= lane_bit(lane);
      cause = value_cause;
    }
    results.at(lane) = values.at(from & 31U);
  });
  hidden |= open;
  if (open != 0) {
    for (unsigned i = 1; i < 4; ++i) {
      if ((state.unknown[step.from.at(i)] & mask) != 0) cause = state.cause[step.from.at(i)];
    }
  }
  if (step.to[0] != no_slot) {
    for_lanes(mask, [&](unsigned lane) { state.value(step.to[0])[lane] = results.at(lane); });
    state.unknown[step.to[0]] &= ~mask;
    state.hide(step.to[0], hidden, cause);
  }
  if (step.to_predicate != no_slot) {
    auto& to = state.predicates[step.to_predicate];
    to.unknown &= ~mask;
    to.bits = (to.bits & ~mask) | (in_range & mask);
    state.hide_predicate(step.to_predicate, open, cause);
  }
}

// --- memory --------------------------------------------------------------------------------------

AccessTally& BlockRunner::tally(std::uint32_t memory, Space space) {
  auto& kept = tallies_[memory].at(static_cast<std::size_t>(space));
  if (!kept) {
    const auto atomic = program_.memory[memory].shared_atomic;
    kept = std::make_unique<AccessTally>(model_of(space == Space::shared, atomic), generations_);
  }
  return *kept;
}

void BlockRunner::doubt(std::uint32_t memory, Space space, Doubt why, std::uint32_t cause) {
  AccessTally& of = tally(memory, space);
  of.doubtful += times_;
  if (of.doubt != Doubt::none) return;
  of.doubt = why;
  of.hidden_by = cause;
  of.doubted_in = block_;
}

Space BlockRunner::space_of(Space written, std::uint64_t address) const {
  if (written != Space::generic) return written;
  if (address < shared_window) {
    // Constant memory is among the buffers.
    const auto next = std::ranges::upper_bound(launch_.buffers, address, {}, &Buffer::address);
    if (next != launch_.buffers.begin() && std::prev(next)->space == Space::constant &&
        std::prev(next)->contains(address, 1)) {
      return Space::constant;
    }
    return Space::global;
  }
  if (address < local_window) return Space::shared;
  if (address < param_window) return Space::local;
  return address < param_window + window_bytes ? Space::param : Space::global;
}

const Buffer* BlockRunner::buffer_at(std::uint64_t address, std::uint64_t bytes) {
  const auto& buffers = launch_.buffers;
  if (last_buffer_ < buffers.size() && buffers[last_buffer_].contains(address, bytes)) {
    return &buffers[last_buffer_];
  }
  const auto next = std::ranges::upper_bound(buffers, address, {}, &Buffer::address);
  if (next == buffers.begin()) return nullptr;
  const auto found = std::prev(next);
  if (!found->contains(address, bytes)) return nullptr;
  last_buffer_ = static_cast<std::size_t>(found - buffers.begin());
  return &*found;
}

void BlockRunner::memory(Warp& warp, std::uint32_t at, std::uint32_t mask, std::uint32_t open,
                         std::uint32_t cause) {
  const Step& step = program_.steps[at];
  const MemoryStep& memory = program_.memory[step.detail];
  if (memory.kind == AccessKind::matrix) {
    const std::uint32_t rows = memory.matrices == 4 ? all_lanes : lane_bit(8 * memory.matrices) - 1;
    hide_results(warp, step, mask | open, step.instruction);
    mask &= rows;
    open &= rows;
  }
  if ((mask | open) == 0) return;
  const std::uint64_t* const base = warp.state.value(memory.address);
  const std::uint64_t wrap = memory.short_address ? 0xFFFFFFFFU : ~std::uint64_t{0};
  for (unsigned lane = 0; lane < lanes; ++lane)
    addresses_[lane] = (base[lane] + memory.offset) & wrap;
  Asking asking{.mask = mask,
                .open = open,
                .hidden = warp.state.unknown[memory.address] & (mask | open),
                .reading = mask,
                .cause = cause};
  question(warp, step, memory, asking);
  if (asking.why != Doubt::none) {
    doubt(step.detail, memory.space, asking.why, asking.cause);
    // Writes that another block may see are not followed.
    if (slopes_ != nullptr && memory.writes && program_.needs_buffers) slopes_->give_up();
  } else if (asking.reading != 0) {
    account_by_space(at, memory, asking.reading);
  }
  if (observe_ && asking.why == Doubt::none && asking.reading != 0) {
    ObservedAccess seen{.instruction = step.instruction,
                        .space = memory.space,
                        .mask = asking.reading,
                        .addresses = addresses_};
    for (unsigned e = 0; memory.kind == AccessKind::store && e < memory.elements; ++e) {
      const std::uint32_t from = step.from.at(e);
      const bool known = from != no_slot && (warp.state.unknown[from] & asking.reading) == 0;
      if (known) std::copy_n(warp.state.value(from), lanes, seen.stored.at(e).begin());
      seen.is_known = seen.is_known && known;
    }
    observe_(seen);
  }
  take_effect(warp, step, memory, asking);
}

/// Determines whether anything about the access is in doubt, and which lanes of a copy read.
void BlockRunner::question(const Warp& warp, const Step& step, const MemoryStep& memory,
                           Asking& asking) {
  const WarpState& state = warp.state;
  const std::uint32_t any = asking.mask | asking.open;
  constexpr unsigned widest = 32;
  const auto is_in_doubt = [&](Doubt why, std::uint32_t cause) {
    if (asking.why != Doubt::none) return;
    asking.why = why;
    asking.cause = cause;
  };
  if (asking.open != 0) is_in_doubt(Doubt::guard, asking.cause);
  if (asking.hidden != 0) is_in_doubt(Doubt::address, state.cause[memory.address]);
  if ((any & warp.maybe) != 0) is_in_doubt(Doubt::ended, warp.maybe_cause);
  if (warp.is_apart) is_in_doubt(Doubt::apart, warp.apart_cause);
  if (memory.width() > widest || !std::has_single_bit(memory.width())) {
    is_in_doubt(Doubt::width, step.instruction);
  }
  if (memory.size == no_slot) return;
  const std::uint32_t open_size = state.unknown[memory.size] & any;
  if (open_size != 0) is_in_doubt(Doubt::width, state.cause[memory.size]);
  for_lanes(asking.mask & ~open_size, [&](unsigned lane) {
    const std::uint64_t bytes = state.value(memory.size)[lane];
    if (bytes == 0) {
      asking.reading &= ~lane_bit(lane);
    } else if (bytes != memory.width()) {
      is_in_doubt(Doubt::width, step.instruction);
    }
  });
}

void BlockRunner::account_by_space(std::uint32_t at, const MemoryStep& memory,
                                   std::uint32_t reading) {
  if (memory.space != Space::generic) {
    account(at, memory, memory.space, {memory.width(), reading, addresses_.data()});
    return;
  }
  std::array<std::uint32_t, space_count> of_space{};
  for_lanes(reading, [&](unsigned lane) {
    of_space.at(static_cast<std::size_t>(space_of(Space::generic, addresses_[lane]))) |=
        lane_bit(lane);
  });
  for (std::size_t s = 0; s < space_count; ++s) {
    if (of_space.at(s) == 0) continue;
    const auto space = static_cast<Space>(s);
    auto moved = addresses_;
    for (auto& address : moved)
      address -= window_of(space);
    account(at, memory, space, {memory.width(), of_space.at(s), moved.data()});
  }
}

/// Updates what is known after the access.
void BlockRunner::take_effect(Warp& warp, const Step& step, const MemoryStep& memory,
                              const Asking& asking) {
  const std::uint32_t any = asking.mask | asking.open;
  if (memory.kind == AccessKind::load) {
    if (!memory.passes_value) return;
    load_values(warp, step, memory, asking.mask & ~asking.hidden);
    hide_results(warp, step, asking.open | asking.hidden, asking.cause);
    return;
  }
  if (memory.kind == AccessKind::atomic) hide_results(warp, step, any, step.instruction);
  if (!memory.writes) return;
  store_values(warp, step, memory, any & ~asking.hidden,
               asking.mask & ~asking.hidden & ~warp.maybe);
  if (asking.hidden == 0) return;
  const bool generic = memory.space == Space::generic;
  if (generic || memory.space == Space::shared) shared_.forget();
  if (generic || memory.space == Space::local) warp.local.forget();
  if (generic || memory.space == Space::global) note_any_store(step.detail);
}

void BlockRunner::account(std::uint32_t at, const MemoryStep& memory, Space space,
                          const LaneAccess& access) {
  const Step& step = program_.steps[at];
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  std::uint64_t all = 0;
  for_lanes(access.mask, [&](unsigned lane) {
    low = std::min(low, access.addresses[lane]);
    high = std::max(high, access.addresses[lane]);
    all |= access.addresses[lane];
  });
  // Local memory is arranged in words, shared memory in banks; both depend on the offset.
  if ((all & (access.width - 1)) != 0) {
    doubt(step.detail, space, Doubt::misaligned, step.instruction);
    if (slopes_ != nullptr) slopes_->give_up();
    return;
  }
  if (slopes_ != nullptr) return follow_access(at, space, access, low, high);
  if (space == Space::param) return;  // a bank of constants
  if (space == Space::shared && memory.shared_atomic == SharedAtomic::loop) {
    doubt(step.detail, space, Doubt::cost, step.instruction);
  }
  AccessTally& of = tally(step.detail, space);
  of.warps += times_;
  of.lanes += times_ * static_cast<std::uint64_t>(std::popcount(access.mask));
  const auto fits = [&](std::uint64_t address, std::uint64_t bytes) {
    const auto below = [&](std::uint64_t end) { return address <= end && end - address >= bytes; };
    switch (space) {
      case Space::shared:
        return below(program_.shared_end);
      case Space::local:
        return below(program_.local_bytes);
      default:
        return buffer_at(address, bytes) != nullptr;
    }
  };
  if (!fits(low, high - low + access.width)) {
    for_lanes(access.mask, [&](unsigned lane) {
      if (fits(access.addresses[lane], access.width)) return;
      if (of.outside == 0) of.first_outside = access.addresses[lane];
      of.outside += times_;
    });
  }
  if (space == Space::constant) return;
  if (space == Space::local && memory.kind != AccessKind::matrix) {
    add_local(of, access);
  } else {
    add_access(of.requests, memory.kind, access, times_);
  }
}

/// Passes the address range of the lanes to the slopes, and the space or buffer that contains it.
void BlockRunner::follow_access(std::uint32_t at, Space space, const LaneAccess& access,
                                std::uint64_t low, std::uint64_t high) {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  if (space == Space::shared) end = program_.shared_end;
  if (space == Space::local) end = program_.local_bytes;
  if (space == Space::global || space == Space::constant) {
    if (const Buffer* const buffer = buffer_at(low, high - low + access.width)) {
      begin = buffer->address;
      end = buffer->address + buffer->bytes;
    }
  }
  if (low < begin || high + access.width > end) begin = end;
  slopes_->access(at, access.mask, low, high + access.width, begin, end);
}

/// Local memory interleaves the words of lanes: word w of lane l is word 32 w + l of the warp.
void BlockRunner::add_local(AccessTally& of, const LaneAccess& access) const {
  std::array<std::uint64_t, lanes> moved{};
  const unsigned part = std::min(access.width, 4U);
  for (unsigned byte = 0; byte < access.width; byte += part) {
    for_lanes(access.mask, [&](unsigned lane) {
      const std::uint64_t at = access.addresses[lane] + byte;
      moved.at(lane) = (at / 4 * lanes + lane) * 4 + at % 4;
    });
    of.requests.add({part, access.mask, moved.data()}, times_);
  }
}

bool BlockRunner::read(Warp& warp, Space space, unsigned lane, std::uint64_t address,
                       unsigned bytes, std::uint64_t& bits) {
  const auto from = [&](const Bytes& memory, std::uint64_t at) {
    for (unsigned b = 0; b < bytes; ++b) {
      if (memory.known[at + b] == 0) return false;
      bits |= std::uint64_t{memory.values[at + b]} << (8 * b);
    }
    return true;
  };
  const auto within = [&](std::uint64_t end) { return address <= end && end - address >= bytes; };
  bits = 0;
  switch (space) {
    case Space::shared:
      if (shared_is_hidden_ || program_.shared_hidden_by != ptx::no_index) return false;
      return program_.needs_shared && within(program_.shared_end) && from(shared_, address);
    case Space::local:
      return program_.needs_local && within(program_.local_bytes) &&
             from(warp.local, lane * program_.local_bytes + address);
    case Space::param: {
      if (!within(launch_.params.size())) return false;
      for (unsigned b = 0; b < bytes; ++b) {
        if (launch_.params_known[address + b] == 0) return false;
        bits |= std::uint64_t{launch_.params[address + b]} << (8 * b);
      }
      return true;
    }
    default:
      break;
  }
  const Buffer* const buffer = buffer_at(address, bytes);
  if (buffer == nullptr) return false;
  const auto which = static_cast<std::size_t>(buffer - launch_.buffers.data());
  if (!trusted_[which]) return false;
  read_[which] = true;
  bits = buffer->fill.read(address - buffer->address, bytes);
  return true;
}

void BlockRunner::load_values(Warp& warp, const Step& step, const MemoryStep& memory,
                              std::uint32_t mask) {
  WarpState& state = warp.state;
  // A result may overwrite the address: addresses_ already holds all of them.
  for (unsigned e = 0; e < memory.elements && e < step.to.size(); ++e) {
    const std::uint32_t to = step.to.at(e);
    if (to == no_slot) continue;
    std::uint32_t hidden = 0;
    for_lanes(mask, [&](unsigned lane) {
      const Space space = space_of(memory.space, addresses_[lane]);
      const std::uint64_t window = memory.space == Space::generic ? window_of(space) : 0;
      const std::uint64_t address =
          addresses_[lane] - window + std::uint64_t{e} * memory.element_bytes;
      std::uint64_t bits = 0;
      const bool sized = memory.element_bytes > 0 && memory.element_bytes <= 8;
      if (sized && read(warp, space, lane, address, memory.element_bytes, bits)) {
        state.value(to)[lane] = loaded(bits, memory, memory.register_bytes.at(e));
      } else {
        hidden |= lane_bit(lane);
      }
    });
    state.unknown[to] &= ~mask;
    state.hide(to, hidden, step.instruction);
  }
}

void BlockRunner::note_store(std::uint64_t address, unsigned bytes) {
  if (!program_.needs_buffers) return;
  for (const std::uint64_t at : {address, address + bytes - 1}) {
    if (const Buffer* const buffer = buffer_at(at, 1)) {
      written_[static_cast<std::size_t>(buffer - launch_.buffers.data())] = true;
    }
  }
}

/// A store to an unknown address stays in the buffers of the pointers from which it was computed.
void BlockRunner::note_any_store(std::uint32_t memory) {
  if (!program_.needs_buffers || reaches_any_[memory]) return;
  reaches_any_[memory] = true;
  const auto step = std::ranges::find_if(program_.steps, [&](const Step& one) {
    return one.kind == StepKind::memory && one.detail == memory;
  });
  const auto reached = reachable_buffers(module_, launch_, step->instruction);
  if (reached.empty()) written_.assign(written_.size(), true);
  for (const std::uint32_t buffer : reached)
    written_[buffer] = true;
}

/// Writes bytes [at, at + bytes) that are before `end`.
void BlockRunner::put(Bytes& to, std::uint64_t at, std::uint64_t end, std::uint64_t bits,
                      unsigned bytes, bool known) const {
  for (unsigned b = 0; b < bytes && at + b < end; ++b) {
    const auto value = static_cast<std::uint8_t>(b < 8 ? bits >> (8 * b) : 0);
    // If two lanes write different values to one place, PTX does not define which one remains.
    const bool again = to.written_by[at + b] == stores_;
    const bool agrees = !again || (to.known[at + b] != 0 && to.values[at + b] == value);
    to.known[at + b] = known && agrees ? 1 : 0;
    to.values[at + b] = value;
    to.written_by[at + b] = stores_;
  }
}

/// Stores a lane's value; it is known if the lane is `sure` to store.
void BlockRunner::put_lane(const WarpState& state, const Step& step, const MemoryStep& memory,
                           unsigned lane, bool sure, Bytes& to, std::uint64_t at,
                           std::uint64_t end) const {
  if (at > end) return;
  if (memory.kind != AccessKind::store) return put(to, at, end, 0, memory.width(), false);
  for (unsigned e = 0; e < memory.elements; ++e) {
    const std::uint32_t from = step.from.at(e);
    const bool known = from != no_slot && sure && (state.unknown[from] & lane_bit(lane)) == 0 &&
                       memory.element_bytes <= 8;
    const std::uint64_t bits = from == no_slot ? 0 : state.value(from)[lane];
    put(to, at + std::uint64_t{e} * memory.element_bytes, end, bits, memory.element_bytes, known);
  }
}

/// Lanes of `mask` may store, those of `sure` do.
void BlockRunner::store_values(Warp& warp, const Step& step, const MemoryStep& memory,
                               std::uint32_t mask, std::uint32_t sure) {
  const WarpState& state = warp.state;
  ++stores_;
  for_lanes(mask, [&](unsigned lane) {
    const bool is_sure = (sure & lane_bit(lane)) != 0;
    if (memory.kind == AccessKind::copy) {
      if (!program_.needs_shared) return;
      const std::uint64_t at = state.value(memory.to_address)[lane] + memory.to_offset;
      const bool hidden = (state.unknown[memory.to_address] & lane_bit(lane)) != 0;
      if (hidden) return shared_.forget();
      return put_lane(state, step, memory, lane, is_sure, shared_, at, program_.shared_end);
    }
    const Space space = space_of(memory.space, addresses_[lane]);
    const std::uint64_t at =
        addresses_[lane] - (memory.space == Space::generic ? window_of(space) : 0);
    if (space == Space::shared && program_.needs_shared) {
      put_lane(state, step, memory, lane, is_sure, shared_, at, program_.shared_end);
    } else if (space == Space::local && program_.needs_local && at < program_.local_bytes) {
      const std::uint64_t first = lane * program_.local_bytes;
      put_lane(state, step, memory, lane, is_sure, warp.local, first + at,
               first + program_.local_bytes);
    } else if (space == Space::global) {
      note_store(at, memory.width());
    }
  });
}

}  // namespace strata::access
