#include "harness/access/block_runner.hpp"

#include "harness/access/lane_functions.hpp"
#include "harness/model/split_mix.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace strata::access {
namespace {

using ptx::Space;

/// A number for each combination of integers whose order does not matter.
unsigned operation_of(const ptx::Instruction& one) {
  constexpr std::array<std::string_view, 6> commuting{"add", "min", "max", "and", "or", "xor"};
  const bool is_integer = ptx::is_integer(one.type());
  for (unsigned i = 0; is_integer && i < commuting.size(); ++i) {
    if (one.has(commuting.at(i))) return i + 1;
  }
  return commuting.size() + 1;
}
constexpr unsigned other_operation = 7;

constexpr std::uint64_t report_every = std::uint64_t{1} << 16U;
/// Branches of a warp on detours, whose number depends on unknown contents: further ones are not
/// followed, so that every launch ends.
constexpr std::uint32_t most_detour_steps = 1U << 13U;

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

std::uint64_t arbitrary_value(std::uint64_t seed, std::uint64_t place, unsigned bytes,
                              bool is_real) {
  constexpr std::uint64_t step = 0x9E3779B97F4A7C15U;
  SplitMix numbers{seed + place * step};
  if (!is_real) return numbers.next() >> (bytes == 1 ? 57U : 56U);
  if (bytes == 2) return 0x3800U | (numbers.next() >> 54U);  // [0.5, 1) as f16
  if (bytes == 4) return bits_of(static_cast<float>(numbers.fraction()));
  return bits_of(numbers.fraction());
}

void BlockRunner::Bytes::resize(std::uint64_t count) {
  values.assign(count, 0);
  states.assign(count, ByteState::unwritten);
  written_by.assign(count, 0);
}

void BlockRunner::Bytes::clear() {
  std::ranges::fill(states, ByteState::unwritten);
}

void BlockRunner::Bytes::forget() {
  std::ranges::replace(states, ByteState::known, ByteState::unknown);
}

BlockRunner::BlockRunner(const ptx::Module& module, const Launch& launch, const Program& program,
                         std::span<const Generation> generations, Contents contents,
                         std::function<void(std::uint64_t)> spend)
    : module_{module},
      launch_{launch},
      program_{program},
      generations_{generations.begin(), generations.end()},
      contents_{std::move(contents)},
      spend_{std::move(spend)},
      tallies_(program.memory.size()),
      read_(launch.buffers.size()),
      written_(launch.buffers.size()),
      hidden_(launch.buffers.size()),
      unknown_sources_(module.kernels[launch.kernel].instructions.size() + 1, ptx::no_index),
      regions_(program.steps.size()),
      rests_(program.steps.size()),
      reaches_any_(program.memory.size()) {
  const std::uint64_t count = (launch.block.count() + lanes - 1) / lanes;
  warps_.resize(program.needs_shared ? count : 1);
  for (Warp& warp : warps_)
    prepare(warp);
  if (program.needs_shared) shared_.resize(program.shared_end);
  contents_.contested_shared.resize(shared_.values.size());
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
      std::fill_n(state.value(constant.slot), lanes,
                  arbitrary_value(contents_.seed, constant.slot, sizeof(std::uint64_t), false));
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
    std::fill_n(state.value(slot), lanes, 0);
  }
  std::ranges::fill(state.predicates, WarpState::Predicate{});
  const Extent& block = launch_.block;
  const Extent& cluster = launch_.cluster;
  const std::uint64_t first = std::uint64_t{number} * lanes;
  const std::uint64_t rest = block.count() - first;
  warp.live = rest >= lanes ? all_lanes : lane_bit(static_cast<unsigned>(rest)) - 1;
  warp.maybe = 0;
  warp.detours.clear();
  warp.on_detour = 0;
  warp.detour_steps = 0;
  warp.is_apart = false;
  warp.has_voted = false;
  const auto whole = static_cast<std::uint32_t>(program_.steps.size());
  warp.paths.assign(1, {.step = 0, .reconverge = whole, .mask = warp.live});
  if (program_.needs_local) warp.local.clear();
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

void BlockRunner::run(std::uint64_t block) {
  begin(block);
  const auto count = static_cast<std::uint32_t>((launch_.block.count() + lanes - 1) / lanes);
  if (!program_.needs_shared) {
    for (std::uint32_t w = 0; w < count; ++w) {
      start(warps_.front(), w);
      (void)advance(warps_.front());
    }
    return;
  }
  while (!resume()) {
  }
}

void BlockRunner::begin(std::uint64_t block) {
  block_ = block;
  barriers_ = 0;
  const Extent& grid = launch_.grid;
  place_ = {static_cast<std::uint32_t>(block % grid.x),
            static_cast<std::uint32_t>(block / grid.x % grid.y),
            static_cast<std::uint32_t>(block / grid.x / grid.y)};
  if (!program_.needs_shared) return;
  shared_.clear();
  if (finds_races_ || live_ == nullptr) shared_.stamps.assign(shared_.values.size(), {});
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
    if (warp.on_detour != 0) end_detours(warp, at, path.mask);
    if (++unspent_ == report_every) {
      instructions_ += unspent_;
      spend_(std::exchange(unspent_, 0));
    }
    std::uint32_t mask = path.mask;
    // Lanes of which it is unknown whether they execute the step.
    std::uint32_t open = warp.on_detour & mask;
    std::uint32_t cause = open != 0 ? warp.detours.front().cause : ptx::no_index;
    if (step.guard != no_slot) {
      const auto& guard = state.predicates[step.guard];
      const std::uint32_t hidden = guard.unknown & mask;
      if (open == 0) cause = guard.cause;
      open |= hidden;
      mask &= step.guard_negated ? ~guard.bits : guard.bits;
    }
    if (live_ != nullptr) {
      if (open != 0) fail_hidden(warp, step, open, "its guard", cause);
      active_lanes_ += static_cast<std::uint64_t>(std::popcount(mask));
    }
    switch (step.kind) {
      case StepKind::plain:
        if (mask != 0) step.run(state, step, mask);
        if (step.is_inexact) hide_results(warp, step, mask, step.instruction);
        if (open != 0) hide_results(warp, step, open, cause);
        ++path.step;
        break;
      case StepKind::branch:
        if (step.guard != no_slot && open != 0) {
          branch(warp, at, mask, open, cause);
        } else if (mask == path.mask) {
          path.step = step.target;
        } else if (mask == 0) {
          ++path.step;
        } else {
          branch(warp, at, mask, 0, cause);
        }
        break;
      case StepKind::indexed:
        indexed(warp, at, mask, open, cause);
        break;
      case StepKind::exit:
        if (open != 0 && step.guard != no_slot) may_end(warp, at, open, cause);
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
        if ((open | warp.maybe) != 0) shared_is_hidden_ = true;
        if (mask != warp.live) {
          if (live_ != nullptr) fail(warp, step, warp.live & ~mask, "not all lanes reach it");
          shared_is_hidden_ = true;
          hide_results(warp, step, path.mask, step.instruction);
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
        give_vote(warp, step, mask);
        hide_results(warp, step, open, cause);
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
      case StepKind::match:
        if (mask != 0) match(warp, step, mask);
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
        if (warp.on_detour != 0) state.hide(step.to[0], mask, warp.detours.front().cause);
        if (warp.maybe != 0) state.hide(step.to[0], mask, warp.maybe_cause);
        hide_results(warp, step, open, cause);
        ++path.step;
        break;
      case StepKind::hide:
        if (live_ != nullptr && mask != 0) fail(warp, step, mask, "not modelled");
        invent_results(warp, state, step, mask);
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

/// Moves lanes to the point where all meet, without what they do before.
void BlockRunner::set_aside(Warp& warp, std::uint32_t at, std::uint32_t open) {
  const Step& step = program_.steps[at];
  for (const std::uint32_t one : region(at).memory) {
    const std::uint32_t memory = program_.steps[one].detail;
    ++tally(memory, program_.memory[memory].space).unknown;
  }
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
  std::uint32_t rest = warp.paths.back().mask & ~taken;
  if (open != 0 && !detour(warp, at, open, cause)) {
    set_aside(warp, at, open);
    taken &= ~open;
    rest &= ~open;
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
  const std::uint32_t all = warp.paths.back().mask;
  const std::uint32_t hidden = warp.state.unknown[targets.index] & mask;
  if (open == 0 && hidden != 0) cause = warp.state.cause[targets.index];
  open |= hidden;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways{{at + 1, all & ~mask}};
  for_lanes(mask, [&](unsigned lane) {
    std::uint64_t index = warp.state.value(targets.index)[lane];
    // An index beyond the list leads to an undefined target.
    if (index >= targets.targets.size()) {
      if (open == 0) cause = step.instruction;
      open |= lane_bit(lane);
      index = targets.targets.size() - 1;
    }
    const std::uint32_t target = targets.targets[index];
    auto way = std::find_if(ways.begin() + 1, ways.end(),
                            [&](const auto& one) { return one.first == target; });
    if (way == ways.end()) way = ways.insert(ways.end(), {target, 0});
    way->second |= lane_bit(lane);
  });
  if (open != 0 && !detour(warp, at, open, cause)) {
    set_aside(warp, at, open);
    for (auto& way : ways)
      way.second &= ~open;
    if ((all & ~open) == 0) return;
  }
  part(warp, step, ways);
}

const Region& BlockRunner::region(std::uint32_t at) {
  auto& kept = regions_[at];
  if (!kept) kept = std::make_unique<Region>(region_of(program_, at));
  return *kept;
}

const Region& BlockRunner::rest(std::uint32_t at) {
  auto& kept = rests_[at];
  if (!kept) kept = std::make_unique<Region>(rest_of(program_, at));
  return *kept;
}

/// Lanes of `open` take one of the ways of this branch to the point where all meet again: which one
/// is unknown. False if the warp has followed too many such branches.
bool BlockRunner::detour(Warp& warp, std::uint32_t at, std::uint32_t open, std::uint32_t cause) {
  const std::uint32_t fresh = open & ~warp.on_detour;
  if (fresh != 0) {
    const Region& between = region(at);
    for (const std::uint32_t slot : between.values)
      warp.state.hide(slot, fresh, cause);
    for (const std::uint32_t slot : between.predicates)
      warp.state.hide_predicate(slot, fresh, cause);
    doubt_region(warp, between, Doubt::path, cause);
    if (between.may_exit) may_end(warp, at, fresh, cause);
    warp.detours.push_back({program_.steps[at].all_meet, fresh, cause});
    warp.on_detour |= fresh;
  }
  return ++warp.detour_steps <= most_detour_steps;
}

/// Lanes of a path that is at `at`: those that meet there are on the detour no more.
void BlockRunner::end_detours(Warp& warp, std::uint32_t at, std::uint32_t mask) {
  for (auto& one : warp.detours) {
    if (one.meet == at) one.mask &= ~mask;
  }
  std::erase_if(warp.detours, [](const auto& one) { return one.mask == 0; });
  warp.on_detour = 0;
  for (const auto& one : warp.detours)
    warp.on_detour |= one.mask;
}

/// Lanes of `open` end at this step, or go on: what can follow happens with them or without.
void BlockRunner::may_end(Warp& warp, std::uint32_t at, std::uint32_t open, std::uint32_t cause) {
  if ((open & ~warp.maybe) == 0) return;
  if (warp.maybe == 0) warp.maybe_cause = cause;
  warp.maybe |= open;
  doubt_region(warp, rest(at), Doubt::ended, cause);
}

/// It is unknown which lanes access what in a region.
void BlockRunner::doubt_region(Warp& warp, const Region& region, Doubt why, std::uint32_t cause) {
  for (const std::uint32_t one : region.memory) {
    const Step& step = program_.steps[one];
    const MemoryStep& memory = program_.memory[step.detail];
    const Space space = memory.space;
    if (!memory.is_argument) doubt(step.detail, space, why, cause);
    const bool generic = space == Space::generic;
    if (!memory.writes) continue;
    if (generic || space == Space::shared || memory.kind == AccessKind::copy)
      shared_is_hidden_ = true;
    if (generic || space == Space::local) warp.local.forget();
    if (generic || space == Space::global) note_any_store(step.detail);
  }
  if (region.has_barrier) shared_is_hidden_ = true;
}

/// Arbitrary values for the results of an instruction that is not modelled.
void BlockRunner::invent_results(const Warp& warp, WarpState& state, const Step& step,
                                 std::uint32_t mask) {
  for_lanes(mask, [&](unsigned lane) {
    const std::uint64_t thread =
        block_ * launch_.block.count() + std::uint64_t{warp.number} * lanes + lane;
    for (std::size_t k = 0; k < step.to.size(); ++k) {
      const std::uint32_t slot = step.to.at(k);
      if (slot == no_slot) continue;
      const bool is_double = (step.extra & double_result << k) != 0;
      const bool is_real = is_double || (step.extra & real_result << k) != 0;
      state.value(slot)[lane] = arbitrary_value(contents_.seed + step.instruction * 8 + k, thread,
                                                is_real && !is_double ? 4 : 8, is_real);
    }
    for (const std::uint32_t slot : {step.to_predicate, step.to_second_predicate}) {
      if (slot == no_slot) continue;
      const bool holds =
          (arbitrary_value(contents_.seed + step.instruction, thread, 4, false) & 1U) != 0;
      state.predicates[slot].bits &= ~lane_bit(lane);
      if (holds) state.predicates[slot].bits |= lane_bit(lane);
    }
  });
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
  open |= warp.on_detour;
  if (live_ != nullptr && (missing | unnamed) != 0) {
    fail(warp, step, missing | unnamed, "it is not reached by exactly the lanes that it names");
  }
  if (missing != 0 || (state.unknown[step.from[0]] & mask) != 0) shared_is_hidden_ = true;
  if ((missing & ~open) == 0 && unnamed == 0) return;
  if (!warp.is_apart) warp.apart_cause = step.instruction;
  warp.is_apart = true;
}

BlockRunner::Members BlockRunner::members_of(const Warp& warp, std::uint32_t slot,
                                             std::uint32_t mask) {
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const auto named = static_cast<std::uint32_t>(warp.state.value(slot)[first]);
  const std::uint32_t participants = named & warp.live;
  return {participants, (participants & ~mask) == 0 &&
                            ((warp.maybe | warp.on_detour) & named) == 0 &&
                            (warp.state.unknown[slot] & mask) == 0};
}

void BlockRunner::vote(Warp& warp, const Step& step, std::uint32_t mask) {
  WarpState& state = warp.state;
  const auto& source = state.predicates[step.from_predicate];
  const auto [participants, all_here] = members_of(warp, step.from[0], mask);
  const std::uint32_t bits = (step.from_negated ? ~source.bits : source.bits) & participants;
  const bool is_known = all_here && (source.unknown & participants) == 0;
  const std::uint32_t cause =
      (source.unknown & participants) != 0 ? source.cause : step.instruction;
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
  if (!is_known) hide_results(warp, step, mask, cause);
}

/// bar.red: lanes of all warps vote, and each gets the result when all have arrived.
void BlockRunner::vote_of_block(const Warp& warp, const Step& step, std::uint32_t mask) {
  const auto& source = warp.state.predicates[step.from_predicate];
  if ((source.unknown & mask) != 0) {
    if (live_ != nullptr) fail_hidden(warp, step, source.unknown & mask, "its vote", source.cause);
    voting_.is_hidden = true;
    voting_.hidden_by = source.cause;
  }
  const std::uint32_t bits = (step.from_negated ? ~source.bits : source.bits) & mask;
  voting_.all += static_cast<std::uint32_t>(std::popcount(mask));
  voting_.holding += static_cast<std::uint32_t>(std::popcount(bits));
}

void BlockRunner::give_vote(Warp& warp, const Step& step, std::uint32_t mask) const {
  if (step.to[0] != no_slot) {
    for_lanes(mask, [&](unsigned lane) { warp.state.value(step.to[0])[lane] = votes_.holding; });
    warp.state.unknown[step.to[0]] &= ~mask;
    if (votes_.is_hidden) warp.state.hide(step.to[0], mask, votes_.hidden_by);
  }
  if (step.to_predicate == no_slot) return;
  const bool holds = step.extra == 0 ? votes_.holding == votes_.all : votes_.holding > 0;
  auto& to = warp.state.predicates[step.to_predicate];
  to.unknown &= ~mask;
  to.bits = (to.bits & ~mask) | (holds ? mask : 0U);
  if (votes_.is_hidden) warp.state.hide_predicate(step.to_predicate, mask, votes_.hidden_by);
}

void BlockRunner::reduce(Warp& warp, const Step& step, std::uint32_t mask) {
  WarpState& state = warp.state;
  const auto [participants, all_here] = members_of(warp, step.from[1], mask);
  const std::uint32_t hidden = state.unknown[step.from[0]] & participants;
  const std::uint32_t cause = hidden != 0 ? state.cause[step.from[0]] : step.instruction;
  if (participants == 0) return hide_results(warp, step, mask, cause);
  auto result =
      static_cast<std::uint32_t>(state.value(step.from[0])[std::countr_zero(participants)]);
  for_lanes(participants & (participants - 1), [&](unsigned lane) {
    const auto value = static_cast<std::uint32_t>(state.value(step.from[0])[lane]);
    result = reduced(static_cast<Reduction>(step.extra), result, value);
  });
  if (step.to[0] == no_slot) return;
  for_lanes(mask, [&](unsigned lane) { state.value(step.to[0])[lane] = result; });
  state.unknown[step.to[0]] &= ~mask;
  if (!all_here || hidden != 0) hide_results(warp, step, mask, cause);
}

void BlockRunner::match(Warp& warp, const Step& step, std::uint32_t mask) {
  WarpState& state = warp.state;
  const Members members = members_of(warp, step.from[1], mask);
  const std::uint32_t hidden = state.unknown[step.from[0]] & members.lanes;
  const std::uint64_t* const values = state.value(step.from[0]);
  std::array<std::uint32_t, lanes> equal{};
  for_lanes(members.lanes, [&](unsigned lane) {
    for_lanes(members.lanes, [&](unsigned other) {
      if (values[other] == values[lane]) equal.at(lane) |= lane_bit(other);
    });
  });
  const bool are_all = std::ranges::count(equal, members.lanes) == std::popcount(members.lanes);
  const bool is_all = step.extra != 0;
  if (step.to[0] != no_slot) {
    for_lanes(mask, [&](unsigned lane) {
      state.value(step.to[0])[lane] = is_all && !are_all ? 0 : equal.at(lane);
    });
    state.unknown[step.to[0]] &= ~mask;
  }
  if (step.to_predicate != no_slot) {
    auto& to = state.predicates[step.to_predicate];
    to.unknown &= ~mask;
    to.bits = (to.bits & ~mask) | (are_all ? mask : 0U);
  }
  const std::uint32_t cause = hidden != 0 ? state.cause[step.from[0]] : step.instruction;
  if (!members.are_here || hidden != 0) hide_results(warp, step, mask, cause);
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
    if ((mask & bit) == 0 || ((warp.maybe | warp.on_detour) & bit) != 0 || (members & bit) == 0) {
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
    kept = std::make_unique<AccessTally>(space, model_of(space == Space::shared, atomic),
                                         generations_);
  }
  return *kept;
}

void BlockRunner::doubt(std::uint32_t memory, Space space, Doubt why, std::uint32_t cause) {
  AccessTally& of = tally(memory, space);
  ++of.doubtful;
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
    invent_results(warp, warp.state, step, mask);
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
  if (memory.is_argument) return take_effect(warp, step, memory, asking);
  question(warp, step, memory, asking);
  if (asking.why != Doubt::none) doubt(step.detail, memory.space, asking.why, asking.cause);
  if (asking.why == Doubt::width) {
    ++tally(step.detail, memory.space).unknown;
  } else if (asking.reading != 0) {
    account_by_space(at, memory, asking);
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
                                   const Asking& asking) {
  const bool is_doubtful = asking.why != Doubt::none;
  const std::uint32_t reading = asking.reading;
  if (memory.space != Space::generic) {
    account(at, memory, memory.space, {memory.width(), reading, addresses_.data()}, is_doubtful);
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
    account(at, memory, space, {memory.width(), of_space.at(s), moved.data()}, is_doubtful);
  }
}

/// Updates values, and what is known, after the access.
void BlockRunner::take_effect(Warp& warp, const Step& step, const MemoryStep& memory,
                              const Asking& asking) {
  const std::uint32_t any = asking.mask | asking.open;
  switch (memory.kind) {
    case AccessKind::load:
      if (!memory.passes_value) return;
      load_values(warp, step, memory, asking.mask);
      hide_results(warp, step, asking.open | asking.hidden, asking.cause);
      return;
    case AccessKind::store:
      store_values(warp, step, memory, asking);
      break;
    case AccessKind::atomic:
    case AccessKind::reduction:
      combine_values(warp, step, memory, asking);
      // Which of several is the first is undefined.
      hide_results(warp, step, any, step.instruction);
      break;
    case AccessKind::copy:
      copy_values(warp, step, memory, asking);
      return;
    case AccessKind::matrix:
      if (memory.writes) shared_.forget();
      return;
  }
  if (asking.hidden == 0) return;
  const bool generic = memory.space == Space::generic;
  if (generic || memory.space == Space::shared) shared_.forget();
  if (generic || memory.space == Space::local) warp.local.forget();
  if (generic || memory.space == Space::global) note_any_store(step.detail);
}

void BlockRunner::account(std::uint32_t at, const MemoryStep& memory, Space space,
                          const LaneAccess& access, bool is_doubtful) {
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
    if (is_doubtful) {
      ++tally(step.detail, space).unknown;
    } else {
      doubt(step.detail, space, Doubt::misaligned, step.instruction);
    }
    return;
  }
  if (space == Space::param) return;  // a bank of constants
  if (space == Space::shared && memory.shared_atomic == SharedAtomic::loop) {
    doubt(step.detail, space, Doubt::cost, step.instruction);
  }
  AccessTally& of = tally(step.detail, space);
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
    std::uint64_t outside = 0;
    std::uint64_t first = 0;
    for_lanes(access.mask, [&](unsigned lane) {
      if (fits(access.addresses[lane], access.width)) return;
      if (outside++ == 0) first = access.addresses[lane];
    });
    // An invented value led there.
    if (outside > 0 && is_doubtful) {
      ++of.unknown;
      return;
    }
    if (of.outside == 0) of.first_outside = first;
    of.outside += outside;
  }
  ++of.warps;
  of.lanes += static_cast<std::uint64_t>(std::popcount(access.mask));
  if (space == Space::constant) return;
  if (space == Space::local && memory.kind != AccessKind::matrix) {
    add_local(of, access);
  } else {
    add_access(of.requests, memory.kind, access);
  }
}

/// Local memory interleaves the words of lanes: word w of lane l is word 32 w + l of the warp.
void BlockRunner::add_local(AccessTally& of, const LaneAccess& access) {
  std::array<std::uint64_t, lanes> moved{};
  const unsigned part = std::min(access.width, 4U);
  for (unsigned byte = 0; byte < access.width; byte += part) {
    for_lanes(access.mask, [&](unsigned lane) {
      const std::uint64_t at = access.addresses[lane] + byte;
      moved.at(lane) = (at / 4 * lanes + lane) * 4 + at % 4;
    });
    of.requests.add({part, access.mask, moved.data()});
  }
}

BlockRunner::Spot BlockRunner::spot_of(const MemoryStep& memory, unsigned lane) const {
  const Space space = space_of(memory.space, addresses_[lane]);
  return {space, addresses_[lane] - (memory.space == Space::generic ? window_of(space) : 0)};
}

bool BlockRunner::read(Warp& warp, const Step& step, Spot spot, unsigned lane, unsigned bytes,
                       std::uint64_t& bits) {
  const MemoryStep& memory = program_.memory[step.detail];
  const std::uint64_t address = spot.address;
  const auto invent = [&] {
    bits = arbitrary_value(contents_.seed, address, bytes, memory.is_real);
    return false;
  };
  const auto from = [&](const Bytes& all, std::uint64_t at) {
    bool known = true;
    bits = 0;
    for (unsigned b = 0; b < bytes; ++b) {
      if (all.states[at + b] == ByteState::unwritten) return invent();
      known = known && all.states[at + b] == ByteState::known;
      bits |= std::uint64_t{all.values[at + b]} << (8 * b);
    }
    return known;
  };
  const auto within = [&](std::uint64_t end) { return address <= end && end - address >= bytes; };
  switch (spot.space) {
    case Space::shared: {
      if (!program_.needs_shared || !within(program_.shared_end)) return invent();
      order_shared(warp, address, bytes, Touch::read, 0);
      const auto contested =
          contents_.contested_shared.begin() + static_cast<std::ptrdiff_t>(address);
      return from(shared_, address) && !shared_is_hidden_ &&
             program_.shared_hidden_by == ptx::no_index &&
             std::find(contested, contested + bytes, true) == contested + bytes;
    }
    case Space::local:
      if (!program_.needs_local || !within(program_.local_bytes)) return invent();
      return from(warp.local, lane * program_.local_bytes + address);
    case Space::param:
      if (!within(launch_.params.size())) return invent();
      bits = 0;
      for (unsigned b = 0; b < bytes; ++b) {
        if (launch_.params_known[address + b] == 0) return invent();
        bits |= std::uint64_t{launch_.params[address + b]} << (8 * b);
      }
      return true;
    default:
      return read_buffer(warp, step, address, bytes, memory.is_real, bits);
  }
}

bool BlockRunner::read_buffer(const Warp& warp, const Step& step, std::uint64_t address,
                              unsigned bytes, bool is_real, std::uint64_t& bits) {
  const Buffer* const buffer = buffer_at(address, bytes);
  if (buffer == nullptr) {
    bits = arbitrary_value(contents_.seed, address, bytes, is_real);
    return false;
  }
  const auto which = static_cast<std::size_t>(buffer - launch_.buffers.data());
  const bool is_given = buffer->fill.kind != Fill::Kind::unknown;
  bits = is_given ? buffer->fill.read(address - buffer->address, bytes)
                  : arbitrary_value(contents_.seed, address, bytes, is_real);
  read_[which] = true;
  bool known = is_given;
  if (contents_.is_followed[which])
    known = contents_.written->read(address, bytes, epoch(warp), is_given, bits);
  known = known && contents_.is_trusted[which] &&
          !(program_.memory[step.detail].is_strong && contents_.may_be_written[which]);
  auto& source = unknown_sources_[step.instruction];
  if (!known) source = std::min(source, static_cast<std::uint32_t>(which));
  return known;
}

void BlockRunner::load_values(Warp& warp, const Step& step, const MemoryStep& memory,
                              std::uint32_t mask) {
  WarpState& state = warp.state;
  // A result may overwrite the address: addresses_ already holds all of them.
  for (unsigned e = 0; e < memory.elements && e < step.to.size(); ++e) {
    const std::uint32_t to = step.to.at(e);
    if (to == no_slot) continue;
    std::uint32_t hidden = 0;
    const bool sized = memory.element_bytes > 0 && memory.element_bytes <= 8;
    for_lanes(mask, [&](unsigned lane) {
      Spot spot = spot_of(memory, lane);
      spot.address += std::uint64_t{e} * memory.element_bytes;
      std::uint64_t bits = 0;
      if (!sized || !read(warp, step, spot, lane, memory.element_bytes, bits)) {
        hidden |= lane_bit(lane);
      }
      state.value(to)[lane] = loaded(bits, memory, memory.register_bytes.at(e));
    });
    state.unknown[to] &= ~mask;
    state.hide(to, hidden, step.instruction);
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
  if (reached.empty()) hidden_.assign(hidden_.size(), true);
  for (const std::uint32_t buffer : reached)
    hidden_[buffer] = true;
}

/// Writes bytes [at, at + bytes) that are before `end`.
void BlockRunner::put(Bytes& to, std::uint64_t at, std::uint64_t end, std::uint64_t bits,
                      unsigned bytes, bool known) const {
  for (unsigned b = 0; b < bytes && at + b < end; ++b) {
    const auto value = static_cast<std::uint8_t>(b < 8 ? bits >> (8 * b) : 0);
    // If two lanes write different values to one place, PTX does not define which one remains.
    const bool again = to.written_by[at + b] == stores_;
    const bool agrees =
        !again || (to.states[at + b] == ByteState::known && to.values[at + b] == value);
    to.states[at + b] = known && agrees ? ByteState::known : ByteState::unknown;
    to.values[at + b] = value;
    to.written_by[at + b] = stores_;
  }
}

/// What two warps access in no order stays unknown.
void BlockRunner::order_shared(const Warp& warp, std::uint64_t at, unsigned bytes, Touch touch,
                               unsigned operation) {
  for (std::uint64_t byte = at; byte < at + bytes; ++byte) {
    if (WordOrder::touch(shared_.stamps[byte], epoch(warp), touch, operation)) continue;
    found_contested_shared_ = found_contested_shared_ || !contents_.contested_shared[byte];
    contents_.contested_shared[byte] = true;
  }
}

/// A value that a lane writes, or combines with what was there by `operation`.
void BlockRunner::write(Warp& warp, Space space, unsigned lane, std::uint64_t address,
                        unsigned bytes, std::uint64_t bits, bool known, unsigned operation) {
  const Touch touch = operation == 0 ? Touch::write : Touch::combine;
  if (space == Space::shared && program_.needs_shared) {
    if (address >= program_.shared_end || program_.shared_end - address < bytes) return;
    order_shared(warp, address, bytes, touch, operation);
    put(shared_, address, program_.shared_end, bits, bytes, known);
  } else if (space == Space::local && program_.needs_local && address < program_.local_bytes) {
    const std::uint64_t first = lane * program_.local_bytes;
    put(warp.local, first + address, first + program_.local_bytes, bits, bytes, known);
  } else if (space == Space::global && program_.needs_buffers) {
    const Buffer* const buffer = buffer_at(address, bytes);
    if (buffer == nullptr) return;
    const auto which = static_cast<std::size_t>(buffer - launch_.buffers.data());
    written_[which] = true;
    if (contents_.is_followed[which])
      contents_.written->write(address, bytes, epoch(warp), known, bits, operation);
  }
}

/// A lane that may write there or not.
void BlockRunner::hide_bytes(Warp& warp, Space space, unsigned lane, std::uint64_t address,
                             unsigned bytes) {
  const auto hide = [&](Bytes& all, std::uint64_t at, std::uint64_t end) {
    for (unsigned b = 0; b < bytes && at + b < end; ++b) {
      if (all.states[at + b] == ByteState::known) all.states[at + b] = ByteState::unknown;
    }
  };
  if (space == Space::shared && program_.needs_shared) {
    hide(shared_, address, program_.shared_end);
  } else if (space == Space::local && program_.needs_local && address < program_.local_bytes) {
    const std::uint64_t first = lane * program_.local_bytes;
    hide(warp.local, first + address, first + program_.local_bytes);
  } else if (space == Space::global && program_.needs_buffers) {
    const Buffer* const buffer = buffer_at(address, bytes);
    if (buffer == nullptr) return;
    const auto which = static_cast<std::size_t>(buffer - launch_.buffers.data());
    written_[which] = true;
    if (!contents_.is_followed[which]) return;
    for (std::uint64_t at = address; at < address + bytes; ++at) {
      std::uint64_t value = buffer->fill.read(at - buffer->address, 1);
      (void)contents_.written->peek(at, 1, true, value);
      contents_.written->write(at, 1, epoch(warp), false, value);
    }
  }
}

void BlockRunner::store_values(Warp& warp, const Step& step, const MemoryStep& memory,
                               const Asking& asking) {
  const WarpState& state = warp.state;
  ++stores_;
  const bool follows_global = contents_.written != nullptr;
  for_lanes(asking.mask | asking.open, [&](unsigned lane) {
    const std::uint32_t bit = lane_bit(lane);
    const Spot spot = spot_of(memory, lane);
    if ((asking.mask & bit) == 0)
      return hide_bytes(warp, spot.space, lane, spot.address, memory.width());
    const bool is_hidden = (asking.hidden & bit) != 0;
    if (is_hidden && spot.space != Space::global) return;  // all of it is unknown afterwards
    const bool is_sure = !is_hidden && ((asking.open | warp.maybe) & bit) == 0;
    for (unsigned e = 0; e < memory.elements; ++e) {
      const std::uint32_t from = step.from.at(e);
      const std::uint64_t bits = from == no_slot ? 0 : state.value(from)[lane];
      bool known = from != no_slot && is_sure && (state.unknown[from] & bit) == 0 &&
                   memory.element_bytes <= 8;
      if (known && follows_global && spot.space == Space::global) {
        // Lanes that write different values to one place.
        for_lanes(asking.mask & (bit - 1), [&](unsigned other) {
          if (addresses_[other] == addresses_[lane] && state.value(from)[other] != bits)
            known = false;
        });
      }
      write(warp, spot.space, lane, spot.address + std::uint64_t{e} * memory.element_bytes,
            memory.element_bytes, bits, known);
    }
  });
}

/// Atomics and reductions. Their order does not matter for the content that remains if all do the
/// same with integers.
void BlockRunner::combine_values(Warp& warp, const Step& step, const MemoryStep& memory,
                                 const Asking& asking) {
  WarpState& state = warp.state;
  const ptx::Instruction& one = module_.kernels[launch_.kernel].instructions[step.instruction];
  const bool is_modelled = memory.elements == 1 && memory.element_bytes <= 8 && memory.passes_value;
  for_lanes(asking.mask | asking.open, [&](unsigned lane) {
    const std::uint32_t bit = lane_bit(lane);
    const Spot spot = spot_of(memory, lane);
    if ((asking.mask & bit) == 0)
      return hide_bytes(warp, spot.space, lane, spot.address, memory.width());
    std::uint64_t before = 0;
    bool known = is_modelled && ((asking.open | asking.hidden | warp.maybe) & bit) == 0;
    known = combine_read(warp, step, spot, lane, before) && known;
    const auto operand = [&](std::uint32_t from) -> std::uint64_t {
      if (from == no_slot) return 0;
      known = known && (state.unknown[from] & bit) == 0;
      return state.value(from)[lane];
    };
    const auto after = is_modelled
                           ? combined(one, before, operand(step.from[0]), operand(step.from[1]))
                           : std::nullopt;
    const unsigned operation = operation_of(one);
    ++stores_;  // atomics follow one another
    write(warp, spot.space, lane, spot.address, memory.width(), after.value_or(before),
          known && after.has_value() && operation != other_operation, operation);
    if (step.to[0] != no_slot)
      state.value(step.to[0])[lane] = loaded(before, memory, memory.register_bytes[0]);
  });
}

/// The value that an atomic finds: it is ordered with others by their combination.
bool BlockRunner::combine_read(Warp& warp, const Step& step, Spot spot, unsigned lane,
                               std::uint64_t& before) {
  const MemoryStep& memory = program_.memory[step.detail];
  const unsigned bytes = std::min(memory.element_bytes, 8U);
  const auto peek = [&](const Bytes& all, std::uint64_t at) {
    bool known = true;
    for (unsigned b = 0; b < bytes; ++b) {
      known = known && all.states[at + b] == ByteState::known;
      before |= std::uint64_t{all.values[at + b]} << (8 * b);
    }
    return known;
  };
  before = 0;
  if (spot.space == Space::shared) {
    const bool fits =
        spot.address <= program_.shared_end && program_.shared_end - spot.address >= bytes;
    return program_.needs_shared && fits && peek(shared_, spot.address);
  }
  if (spot.space != Space::global) return read(warp, step, spot, lane, bytes, before);
  const Buffer* const buffer = buffer_at(spot.address, bytes);
  if (buffer == nullptr) return false;
  const auto which = static_cast<std::size_t>(buffer - launch_.buffers.data());
  const bool is_given = buffer->fill.kind != Fill::Kind::unknown;
  before = is_given ? buffer->fill.read(spot.address - buffer->address, bytes)
                    : arbitrary_value(contents_.seed, spot.address, bytes, memory.is_real);
  read_[which] = read_[which] || memory.returns;
  if (!contents_.is_followed[which]) return false;
  return contents_.written->peek(spot.address, bytes, is_given, before);
}

/// cp.async: the first `size` bytes are read, the others are 0.
void BlockRunner::copy_values(Warp& warp, const Step& step, const MemoryStep& memory,
                              const Asking& asking) {
  if (!program_.needs_shared) return;
  const WarpState& state = warp.state;
  ++stores_;
  for_lanes(asking.mask | asking.open, [&](unsigned lane) {
    const std::uint32_t bit = lane_bit(lane);
    const std::uint64_t to = state.value(memory.to_address)[lane] + memory.to_offset;
    if ((state.unknown[memory.to_address] & bit) != 0) return shared_.forget();
    if ((asking.mask & bit) == 0) return hide_bytes(warp, Space::shared, lane, to, memory.width());
    const bool sized = memory.size == no_slot || (state.unknown[memory.size] & bit) == 0;
    const std::uint64_t size =
        memory.size == no_slot ? memory.width() : state.value(memory.size)[lane];
    const bool is_sure = sized && ((asking.open | asking.hidden | warp.maybe) & bit) == 0;
    constexpr unsigned part = 4;
    for (unsigned byte = 0; byte < memory.width(); byte += part) {
      std::uint64_t bits = 0;
      bool known = is_sure;
      if (byte < size) {
        known = read_buffer(warp, step, addresses_[lane] + byte, part, false, bits) && known;
      }
      write(warp, Space::shared, lane, to + byte, part, bits, known);
    }
  });
}

}  // namespace strata::access
