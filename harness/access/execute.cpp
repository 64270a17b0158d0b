#include "harness/access/execute.hpp"

#include "harness/access/block_runner.hpp"
#include "harness/access/lane_functions.hpp"
#include "harness/access/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Space;
using ptx::Type;

template <class T>
std::optional<std::uint64_t> combined_as(const Instruction& one, std::uint64_t before,
                                         std::uint64_t operand) {
  const T a = typed<T>(before);
  const T b = typed<T>(operand);
  if (one.has("add")) return bits_of<T>(static_cast<T>(a + b));
  if (one.has("min")) return bits_of<T>(std::min(a, b));
  if (one.has("max")) return bits_of<T>(std::max(a, b));
  return std::nullopt;
}

unsigned first_of(std::uint32_t mask) {
  return static_cast<unsigned>(std::countr_zero(mask));
}

}  // namespace

std::optional<std::uint64_t> combined(const Instruction& one, std::uint64_t before, std::uint64_t b,
                                      std::uint64_t c) {
  if (one.has("exch")) return b;
  if (one.has("cas")) return before == b ? c : before;
  if (one.has("and")) return before & b;
  if (one.has("or")) return before | b;
  if (one.has("xor")) return before ^ b;
  if (one.has("inc")) return before >= b ? 0 : before + 1;
  if (one.has("dec")) return before == 0 || before > b ? b : before - 1;
  switch (one.type()) {
    case Type::u32:
      return combined_as<std::uint32_t>(one, before, b);
    case Type::s32:
      return combined_as<std::int32_t>(one, before, b);
    case Type::u64:
      return combined_as<std::uint64_t>(one, before, b);
    case Type::s64:
      return combined_as<std::int64_t>(one, before, b);
    case Type::f32:
      return combined_as<float>(one, before, b);
    case Type::f64:
      return combined_as<double>(one, before, b);
    default:
      return std::nullopt;
  }
}

void BlockRunner::fail(const Warp& warp, const Step& step, std::uint32_t mask,
                       std::string_view why) const {
  const ptx::Kernel& kernel = module_.kernels[launch_.kernel];
  const std::uint64_t thread =
      std::uint64_t{lanes} * warp.number + (mask == 0 ? 0 : first_of(mask));
  std::string text = "its end";
  if (step.instruction < kernel.instructions.size()) {
    const Instruction& one = kernel.instructions[step.instruction];
    text = fmt::format("{} of line {}", opcode_text(one), one.line);
  }
  throw ExecutionFault{
      fmt::format("{}, {}: {}, in thread {} of block {}", kernel.name, text, why, thread, block_)};
}

void BlockRunner::fail_hidden(const Warp& warp, const Step& step, std::uint32_t mask,
                              std::string_view what, std::uint32_t cause) const {
  const ptx::Kernel& kernel = module_.kernels[launch_.kernel];
  fail(warp, step, mask, fmt::format("{} depends on {}", what, describe_hidden(kernel, cause)));
}

/// The host location of bytes at a lane's address; fails if they are not allocated.
BlockRunner::Place BlockRunner::place_of(Warp& warp, const Step& step, Space space, unsigned lane,
                                         std::uint64_t address, unsigned bytes) {
  const auto outside = [&] {
    fail(warp, step, std::uint32_t{1} << lane,
         fmt::format("{} bytes at {:#x} are not allocated", bytes, address));
  };
  const auto within = [&](Bytes& all, std::uint64_t first, std::uint64_t end) -> Place {
    if (address > end || end - address < bytes) outside();
    return {.values = all.values.data() + first + address, .in = &all, .at = first + address};
  };
  if (space == Space::shared) return within(shared_, 0, program_.shared_end);
  if (space == Space::local) {
    return within(warp.local, lane * program_.local_bytes, program_.local_bytes);
  }
  if (window_.values != nullptr && address >= window_.begin && address < window_.end)
    return {.values = window_.values + (address - window_.begin)};
  std::uint8_t* const values = live_->at(address, bytes);
  if (values == nullptr) outside();
  return {.values = values};
}

/// Fails if two warps access a byte of shared memory between the same barriers and one of them
/// writes it. The order of atomics among themselves does not matter.
void BlockRunner::look_for_race(const Warp& warp, const Step& step, const Place& place,
                                unsigned bytes, Touch touch) {
  if (!finds_races_ || place.in != &shared_) return;
  for (std::uint64_t at = place.at; at < place.at + bytes; ++at) {
    if (WordOrder::touch(shared_.stamps[at], epoch(warp), touch, 1)) continue;
    fail(warp, step, 0, "another warp accesses the same shared memory before the next barrier");
  }
}

/// Most warps access a single allocation, so it is looked up once.
void BlockRunner::open_window(std::uint32_t mask, unsigned width) {
  window_ = {.begin = ~std::uint64_t{0}};
  for_lanes(mask, [&](unsigned lane) {
    window_.begin = std::min(window_.begin, addresses_[lane]);
    window_.end = std::max(window_.end, addresses_[lane] + width);
  });
  window_.values = live_->at(window_.begin, window_.end - window_.begin);
}

/// An access that takes effect.
void BlockRunner::act(Warp& warp, const Step& step, std::uint32_t mask) {
  if (mask == 0) return;
  const MemoryStep& memory = program_.memory[step.detail];
  WarpState& state = warp.state;
  const std::uint32_t hidden = state.unknown[memory.address] & mask;
  if (hidden != 0) {
    fail_hidden(warp, step, hidden, "the address", state.cause[memory.address]);
  }
  if (memory.kind == AccessKind::matrix || memory.width() == 0) {
    fail(warp, step, mask, "not modelled");
  }
  const std::uint64_t wrap = memory.short_address ? 0xFFFFFFFFU : ~std::uint64_t{0};
  for_lanes(mask, [&](unsigned lane) {
    addresses_[lane] = (state.value(memory.address)[lane] + memory.offset) & wrap;
    if (addresses_[lane] % memory.width() == 0) return;
    fail(warp, step, std::uint32_t{1} << lane,
         fmt::format("{:#x} is not a multiple of {} bytes", addresses_[lane], memory.width()));
  });
  if (memory.kind == AccessKind::load && memory.space == Space::param) {
    return load_values(warp, step, memory, mask);
  }
  ++stores_;
  open_window(mask, memory.width());
  for_lanes(mask, [&](unsigned lane) {
    const Space space = space_of(memory.space, addresses_[lane]);
    const std::uint64_t address =
        addresses_[lane] - (memory.space == Space::generic ? window_of(space) : 0);
    act_in_lane(warp, step, lane, space, address);
  });
}

void BlockRunner::act_in_lane(Warp& warp, const Step& step, unsigned lane, Space space,
                              std::uint64_t address) {
  const MemoryStep& memory = program_.memory[step.detail];
  WarpState& state = warp.state;
  const std::uint32_t bit = std::uint32_t{1} << lane;
  if (memory.kind == AccessKind::copy) return copy_in_lane(warp, step, lane, address);
  const unsigned bytes = memory.element_bytes;
  const bool is_atomic = memory.kind == AccessKind::atomic || memory.kind == AccessKind::reduction;
  Touch touch = memory.kind == AccessKind::store ? Touch::write : Touch::read;
  if (is_atomic) touch = Touch::combine;
  if (bytes == 0 || bytes > 8 || (is_atomic && memory.elements > 1)) {
    fail(warp, step, bit, "not modelled");
  }
  for (unsigned e = 0; e < memory.elements; ++e) {
    const Place place =
        place_of(warp, step, space, lane, address + std::uint64_t{e} * bytes, bytes);
    look_for_race(warp, step, place, bytes, touch);
    if (memory.kind == AccessKind::store) {
      put_in_lane(warp, step, lane, e, place);
      if (on_store_ && place.in == nullptr) {
        const std::uint64_t thread =
            block_ * launch_.block.count() + std::uint64_t{warp.number} * lanes + lane;
        on_store_({.thread = thread,
                   .address = address + std::uint64_t{e} * bytes,
                   .bits = state.value(step.from.at(e))[lane],
                   .bytes = bytes});
      }
      continue;
    }
    std::uint64_t before = 0;
    std::memcpy(&before, place.values, bytes);
    const bool known = place.in == nullptr ||
                       std::ranges::all_of(std::span{place.in->states}.subspan(place.at, bytes),
                                           [](ByteState is) { return is == ByteState::known; });
    if (is_atomic && !known) fail(warp, step, bit, "it combines with an uninitialised value");
    if (is_atomic) combine_in_lane(warp, step, lane, place, before);
    const std::uint32_t to = step.to.at(e);
    if (to == no_slot) continue;
    state.value(to)[lane] = loaded(before, memory, memory.register_bytes.at(e));
    state.unknown[to] &= ~bit;
    if (!known) state.hide(to, bit, step.instruction);
  }
}

/// An atomic instruction on the value `before`.
void BlockRunner::combine_in_lane(const Warp& warp, const Step& step, unsigned lane,
                                  const Place& place, std::uint64_t before) const {
  const WarpState& state = warp.state;
  const std::uint32_t bit = std::uint32_t{1} << lane;
  const auto operand = [&](std::uint32_t from) -> std::uint64_t {
    if (from == no_slot) return 0;
    if ((state.unknown[from] & bit) != 0)
      fail_hidden(warp, step, bit, "its operand", state.cause[from]);
    return state.value(from)[lane];
  };
  const Instruction& one = module_.kernels[launch_.kernel].instructions[step.instruction];
  const auto after = combined(one, before, operand(step.from[0]), operand(step.from[1]));
  if (!after) fail(warp, step, bit, "not modelled");
  std::memcpy(place.values, &*after, program_.memory[step.detail].element_bytes);
}

/// A store of one element.
void BlockRunner::put_in_lane(Warp& warp, const Step& step, unsigned lane, unsigned element,
                              const Place& place) {
  const MemoryStep& memory = program_.memory[step.detail];
  const unsigned bytes = memory.element_bytes;
  const std::uint32_t from = step.from.at(element);
  const bool known = from != no_slot && (warp.state.unknown[from] >> lane & 1U) == 0;
  const std::uint64_t bits = from == no_slot ? 0 : warp.state.value(from)[lane];
  if (place.in != nullptr)
    return put(*place.in, place.at, place.in->values.size(), bits, bytes, known);
  if (!known) {
    fail_hidden(warp, step, std::uint32_t{1} << lane, "the stored value",
                from == no_slot ? ptx::no_index : warp.state.cause[from]);
  }
  std::memcpy(place.values, &bits, bytes);
}

/// cp.async: the first `size` bytes are read, the others are 0.
void BlockRunner::copy_in_lane(Warp& warp, const Step& step, unsigned lane, std::uint64_t address) {
  const MemoryStep& memory = program_.memory[step.detail];
  const std::uint32_t bit = std::uint32_t{1} << lane;
  WarpState& state = warp.state;
  for (const std::uint32_t slot : {memory.to_address, memory.size}) {
    if (slot != no_slot && (state.unknown[slot] & bit) != 0)
      fail_hidden(warp, step, bit, "the copy", state.cause[slot]);
  }
  const unsigned width = memory.width();
  const std::uint64_t wanted = memory.size == no_slot ? width : state.value(memory.size)[lane];
  const auto count = static_cast<unsigned>(std::min<std::uint64_t>(wanted, width));
  const Place to = place_of(warp, step, Space::shared, lane,
                            state.value(memory.to_address)[lane] + memory.to_offset, width);
  look_for_race(warp, step, to, width, Touch::write);
  std::memset(to.values, 0, width);
  std::fill_n(to.in->states.begin() + static_cast<std::ptrdiff_t>(to.at), width, ByteState::known);
  if (count == 0) return;
  const Place from = place_of(warp, step, Space::global, lane, address, count);
  std::memcpy(to.values, from.values, count);
}

Executed execute(const ptx::Module& module, const Launch& launch, const Program& program,
                 DeviceMemory& memory, const ExecuteOptions& options) {
  std::uint64_t spent = 0;
  const auto spend = [&](std::uint64_t instructions) {
    spent += instructions;
    if (spent <= options.budget) return;
    throw ExecutionFault{fmt::format("{}: more than {} warp instructions",
                                     module.kernels[launch.kernel].name, options.budget)};
  };
  const std::uint64_t blocks = launch.grid.count();
  std::vector<std::unique_ptr<BlockRunner>> runners;
  for (std::uint64_t r = 0; r < (options.cooperative ? blocks : 1); ++r) {
    runners.push_back(std::make_unique<BlockRunner>(
        module, launch, program, std::span<const Generation>{}, Contents{}, spend));
    runners.back()->work_on(memory, options.finds_races, options.on_store);
  }
  if (!options.cooperative) {
    for (std::uint64_t block = 0; block < blocks; ++block)
      runners.front()->run(block);
  } else {
    for (std::uint64_t block = 0; block < blocks; ++block)
      runners[block]->begin(block);
    for (bool more = true; more;) {
      more = false;
      for (auto& runner : runners)
        more = !runner->resume() || more;
    }
  }
  Executed executed;
  for (const auto& runner : runners) {
    executed.instructions += runner->instructions();
    executed.lanes += runner->active_lanes();
  }
  return executed;
}

}  // namespace strata::access
