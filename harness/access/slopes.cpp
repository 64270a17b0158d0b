#include "harness/access/slopes.hpp"

#include "harness/access/operands.hpp"
#include "harness/model/coalescing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

namespace strata::access {
namespace {

using ptx::Type;

std::uint64_t ones(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

/// The low bits as a signed number.
std::int64_t with_sign(std::uint64_t value, unsigned bits) {
  if (bits >= 64) return static_cast<std::int64_t>(value);
  const std::uint64_t low = value & ones(bits);
  const bool negative = (low >> (bits - 1) & 1U) != 0;
  return static_cast<std::int64_t>(negative ? low | ~ones(bits) : low);
}

}  // namespace

Slopes::Slopes(const ptx::Kernel& kernel, const Program& program, const Launch& launch)
    : program_{program},
      slopes_(std::size_t{program.value_slots} * lanes),
      moving_(program.value_slots),
      wild_(program.value_slots) {
  for (const Step& step : program.steps) {
    const bool inside = step.instruction < kernel.instructions.size();
    meanings_.push_back(inside ? meaning_of(kernel.instructions[step.instruction], step)
                               : Meaning{});
  }
  for (const auto& [slot, special] : program.specials) {
    using enum ptx::Special;
    if (special == ctaid_x) ctaid_x_.push_back(slot);
    const bool in_cluster = special == cluster_ctaid_x || special == cluster_ctarank;
    if (in_cluster && launch.cluster.x > 1) in_cluster_.push_back(slot);
  }
}

// One case per opcode.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
Slopes::Meaning Slopes::meaning_of(const ptx::Instruction& one, const Step& step) {
  const Type type = one.type();
  Meaning meaning{.bits = 8 * ptx::bytes_of(type), .is_signed = is_signed(type)};
  while (meaning.sources < step.from.size() && step.from.at(meaning.sources) != no_slot)
    ++meaning.sources;
  if (role_of(one) == Role::load && one.space() == ptx::Space::param &&
      step.kind == StepKind::plain) {
    meaning.rule = Rule::copy;
    meaning.bits = 64;
    return meaning;
  }
  if (step.kind == StepKind::memory) {
    meaning.rule = Rule::load;
    return meaning;
  }
  if (step.kind != StepKind::plain || !is_integer(type) || one.has("sat")) return meaning;
  const auto op = one.opcode;
  const bool vector =
      one.operands[0].kind == ptx::Operand::Kind::vector ||
      (one.operands.size() > 1 && one.operands[1].kind == ptx::Operand::Kind::vector);
  if (op == "mov" && !vector) meaning.rule = Rule::copy;
  if (op == "cvta") meaning.rule = Rule::copy;
  if (op == "add") meaning.rule = Rule::add;
  if (op == "sub") meaning.rule = Rule::subtract;
  if (op == "neg" || op == "not") meaning.rule = Rule::negate;
  if ((op == "mul" || op == "mad") && !one.has("hi")) {
    meaning.rule = one.has("wide") ? Rule::multiply_wide : Rule::multiply;
    meaning.adds = op == "mad";
  }
  if (op == "shl") meaning.rule = Rule::shift_left;
  if (op == "shr") meaning.rule = Rule::shift_right;
  if (op == "and") meaning.rule = Rule::bit_and;
  if (op == "or" || op == "xor") meaning.rule = Rule::bit_or;
  if (op == "bfi") meaning.rule = Rule::insert;
  if (op == "bfe" && !meaning.is_signed) meaning.rule = Rule::extract;
  if (op == "setp" || op == "set") meaning.rule = Rule::compare;
  if (op == "selp") meaning.rule = Rule::select;
  if (op == "min") meaning.rule = Rule::least;
  if (op == "max") meaning.rule = Rule::most;
  if (op == "div") meaning.rule = Rule::divide;
  if (op == "rem") meaning.rule = Rule::remainder;
  if (op == "cvt" && is_integer(one.type(1))) {
    meaning.rule = Rule::convert;
    meaning.to_bits = 8 * ptx::bytes_of(one.type(1));
    meaning.to_signed = is_signed(one.type(1));
  }
  return meaning;
}

void Slopes::begin() {
  reach_ = std::numeric_limits<std::uint64_t>::max();
  period_ = 1;
}

void Slopes::start_warp() {
  std::ranges::fill(moving_, 0U);
  std::ranges::fill(wild_, 0U);
  for (const std::uint32_t slot : ctaid_x_) {
    moving_[slot] = all_lanes;
    std::fill_n(slopes_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot} * lanes), lanes, 1);
  }
  for (const std::uint32_t slot : in_cluster_)
    wild_[slot] = all_lanes;
}

Slopes::Line Slopes::line(std::uint32_t slot, unsigned lane) const {
  const bool moves = (moving_[slot] >> lane & 1U) != 0;
  return {moves ? slopes_[std::size_t{slot} * lanes + lane] : 0, (wild_[slot] >> lane & 1U) != 0};
}

void Slopes::set(std::uint32_t slot, unsigned lane, const Line& line, unsigned bits) {
  const std::uint32_t bit = std::uint32_t{1} << lane;
  const std::int64_t slope = with_sign(static_cast<std::uint64_t>(line.slope), bits);
  slopes_[std::size_t{slot} * lanes + lane] = slope;
  moving_[slot] = slope != 0 ? moving_[slot] | bit : moving_[slot] & ~bit;
  wild_[slot] = line.wild ? wild_[slot] | bit : wild_[slot] & ~bit;
}

void Slopes::limit(Whole blocks) {
  if (blocks < Whole{reach_}) reach_ = static_cast<std::uint64_t>(std::max<Whole>(blocks, 0));
}

void Slopes::keep_in_range(Whole value, std::int64_t slope, unsigned bits, bool is_signed) {
  if (slope == 0) return;
  const Whole span = Whole{1} << bits;
  const Whole low = is_signed ? -span / 2 : Whole{0};
  const Whole high = is_signed ? span / 2 - 1 : span - 1;
  limit(slope > 0 ? (high - value) / slope : (value - low) / -Whole{slope});
}

void Slopes::keep_from_wrapping(Whole value, std::int64_t slope, Whole modulus) {
  if (slope == 0) return;
  Whole rest = value % modulus;
  if (rest < 0) rest += modulus;
  limit(slope > 0 ? (modulus - 1 - rest) / slope : rest / -Whole{slope});
}

void Slopes::keep_order(Whole difference, Whole slope) {
  if (slope == 0) return;
  if (difference == 0) return limit(0);
  const bool nearing = (difference > 0) != (slope > 0);
  if (!nearing) return;
  const Whole apart = difference > 0 ? difference : -difference;
  limit((apart - 1) / (slope > 0 ? slope : -slope));
}

std::uint32_t Slopes::changing(const Step& step, const Meaning& meaning) const {
  std::uint32_t found = 0;
  const auto add = [&](std::uint32_t slot) {
    if (slot != no_slot) found |= moving_[slot] | wild_[slot];
  };
  if (step.kind == StepKind::memory) {
    const MemoryStep& memory = program_.memory[step.detail];
    add(memory.address);
    add(memory.size);
  } else if (step.kind == StepKind::indexed) {
    add(program_.indexed[step.detail].index);
  } else if (step.kind == StepKind::warp_sync) {
    add(step.from[0]);
  } else if (meaning.bits != 0) {
    for (unsigned i = 0; i < meaning.sources; ++i)
      add(step.from.at(i));
  }
  // A shuffle takes the value of some other lane.
  return step.kind == StepKind::shuffle && found != 0 ? all_lanes : found;
}

void Slopes::step(const WarpState& warp, std::uint32_t at, std::uint32_t mask) {
  const Step& step = program_.steps[at];
  const Meaning& meaning = meanings_[at];
  if ((changing(step, meaning) & mask) == 0) {
    for (const std::uint32_t to : step.to) {
      if (to == no_slot) continue;
      moving_[to] &= ~mask;
      wild_[to] &= ~mask;
    }
    return;
  }
  if (step.kind == StepKind::indexed || step.kind == StepKind::warp_sync) return give_up();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    if (step.kind == StepKind::memory) {
      memory_step(step, lane);
    } else if (step.kind == StepKind::plain || step.kind == StepKind::shuffle ||
               step.kind == StepKind::vote || step.kind == StepKind::reduce) {
      plain_step(warp, step, meaning, lane);
    }
  }
}

/// The value at an address that moves differs in every block.
void Slopes::memory_step(const Step& step, unsigned lane) {
  const MemoryStep& memory = program_.memory[step.detail];
  const auto changes = [&](std::uint32_t slot) {
    return slot != no_slot && (line(slot, lane).wild || line(slot, lane).slope != 0);
  };
  if (changes(memory.size)) give_up();
  const bool moves = changes(memory.address);
  for (const std::uint32_t to : step.to) {
    if (to != no_slot) set(to, lane, {.wild = moves}, 64);
  }
}

void Slopes::plain_step(const WarpState& warp, const Step& step, const Meaning& meaning,
                        unsigned lane) {
  const Line found = result(warp, step, meaning, lane);
  const bool predicate = step.to_predicate != no_slot || step.to_second_predicate != no_slot;
  if (predicate && found.wild) give_up();
  const bool whole = meaning.rule == Rule::convert || meaning.bits == 0;
  const unsigned bits = meaning.rule == Rule::multiply_wide ? 2 * meaning.bits : meaning.bits;
  for (const std::uint32_t to : step.to) {
    if (to != no_slot) set(to, lane, found, whole ? 64 : bits);
  }
}

// One case per rule.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
Slopes::Line Slopes::result(const WarpState& warp, const Step& step, const Meaning& meaning,
                            unsigned lane) {
  std::array<Line, 8> lines{};
  std::array<std::uint64_t, 8> values{};
  bool moves = false;
  bool wild = false;
  bool unknown = false;
  const bool of_predicates = meaning.bits == 0;
  for (unsigned i = 0; i < meaning.sources && !of_predicates; ++i) {
    const std::uint32_t slot = step.from.at(i);
    values.at(i) = warp.value(slot)[lane];
    if ((warp.unknown[slot] >> lane & 1U) != 0) {
      unknown = true;
      continue;
    }
    // A shuffle takes the value of some other lane.
    if (step.kind == StepKind::shuffle) {
      for (unsigned other = 0; other < lanes; ++other) {
        const Line of = line(slot, other);
        wild = wild || of.wild || of.slope != 0;
      }
      continue;
    }
    lines.at(i) = line(slot, lane);
    moves = moves || lines.at(i).slope != 0;
    wild = wild || lines.at(i).wild;
  }
  // An unknown operand makes the result unknown in all blocks, except for a selection.
  if (unknown && meaning.rule != Rule::select) return {};
  if (wild && meaning.rule != Rule::select) return {.wild = true};
  if (!moves && meaning.rule != Rule::select) return {};
  const auto exact = [&](unsigned i) {
    const std::int64_t number = with_sign(values.at(i), meaning.bits);
    return meaning.is_signed ? Whole{number} : Whole{values.at(i) & ones(meaning.bits)};
  };
  const auto slope = [&](unsigned i) {
    return with_sign(static_cast<std::uint64_t>(lines.at(i).slope), meaning.bits);
  };
  const auto sum = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  };
  const auto minus = [](std::int64_t a) {
    return static_cast<std::int64_t>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
  };
  const auto in_range = [&](unsigned i) {
    keep_in_range(exact(i), slope(i), meaning.bits, meaning.is_signed);
  };
  switch (meaning.rule) {
    case Rule::copy:
      return lines[0];
    case Rule::add:
      return {.slope = sum(lines[0].slope, lines[1].slope)};
    case Rule::subtract:
      return {.slope = sum(lines[0].slope, minus(lines[1].slope))};
    case Rule::negate:
      return {.slope = minus(lines[0].slope)};
    case Rule::multiply:
    case Rule::multiply_wide: {
      const bool wide = meaning.rule == Rule::multiply_wide;
      if (slope(0) != 0 && slope(1) != 0) return {.wild = true};
      if (wide) {
        in_range(0);
        in_range(1);
      }
      const auto part = [&](unsigned moving, unsigned still) {
        // Exact for a wide product, otherwise modulo the width.
        return static_cast<std::uint64_t>(Whole{slope(moving)} * exact(still));
      };
      std::uint64_t made = part(0, 1) + part(1, 0);
      if (meaning.adds) made += static_cast<std::uint64_t>(lines[2].slope);
      return {.slope = static_cast<std::int64_t>(made)};
    }
    case Rule::shift_left: {
      if (lines[1].slope != 0) return {.wild = true};
      const std::uint64_t by = values[1] & 0xFFFFFFFFU;
      if (by >= meaning.bits) return {};
      return {.slope = static_cast<std::int64_t>(static_cast<std::uint64_t>(slope(0)) << by)};
    }
    case Rule::shift_right: {
      if (lines[1].slope != 0) return {.wild = true};
      const std::uint64_t by = std::min<std::uint64_t>(values[1] & 0xFFFFFFFFU, meaning.bits);
      in_range(0);
      const Whole unit = Whole{1} << by;
      if (slope(0) % unit == 0) return {.slope = static_cast<std::int64_t>(slope(0) / unit)};
      keep_from_wrapping(exact(0), slope(0), unit);
      return {};
    }
    case Rule::bit_and:
      if (slope(0) != 0 && slope(1) != 0) return {.wild = true};
      return slope(0) != 0 ? masked(meaning, values[0], slope(0), values[1])
                           : masked(meaning, values[1], slope(1), values[0]);
    case Rule::bit_or: {
      if (slope(0) != 0 && slope(1) != 0) return {.wild = true};
      const unsigned moving = slope(0) != 0 ? 0 : 1;
      // Bits below the lowest bit of the growth do not change: inserting them adds nothing.
      const auto grows = static_cast<std::uint64_t>(slope(moving));
      const std::uint64_t low = (grows & (~grows + 1)) - 1;
      return {.slope = slope(moving), .wild = (values.at(1 - moving) & ~low) != 0};
    }
    case Rule::insert: {
      const std::uint64_t at = values[2] & 0xFFU;
      const std::uint64_t count = values[3] & 0xFFU;
      const bool fixed = lines[1].slope == 0 && lines[2].slope == 0 && lines[3].slope == 0;
      if (!fixed) return {.wild = true};
      if (at >= meaning.bits || count == 0) return {};
      std::int64_t grows = slope(0);
      if (at + count < meaning.bits) {
        grows = with_sign(static_cast<std::uint64_t>(grows), static_cast<unsigned>(count));
        keep_from_wrapping(Whole{values[0]}, grows, Whole{1} << count);
      }
      return {.slope = static_cast<std::int64_t>(static_cast<std::uint64_t>(grows) << at)};
    }
    case Rule::extract: {
      const std::uint64_t at = values[1] & 0xFFU;
      const std::uint64_t count = values[2] & 0xFFU;
      const bool fixed = lines[1].slope == 0 && lines[2].slope == 0;
      if (!fixed || at >= meaning.bits || count == 0) return {.wild = true};
      // No carry may enter the field from below or leave it.
      const Whole top = Whole{1} << std::min<std::uint64_t>(at + count, meaning.bits);
      const std::int64_t grows = slope(0);
      if (grows % (std::int64_t{1} << std::min<std::uint64_t>(at, 62)) != 0) return {.wild = true};
      keep_from_wrapping(Whole{values[0]}, grows, top);
      return {.slope = grows >> at};
    }
    case Rule::compare:
    case Rule::least:
    case Rule::most: {
      in_range(0);
      in_range(1);
      keep_order(exact(0) - exact(1), Whole{slope(0)} - slope(1));
      if (meaning.rule == Rule::compare) return {};
      const bool first = (exact(0) < exact(1)) == (meaning.rule == Rule::least);
      return lines.at(first ? 0 : 1);
    }
    case Rule::select: {
      const auto& chosen = warp.predicates[step.from_predicate];
      if ((chosen.unknown >> lane & 1U) != 0) {
        // It is known only if both sides are equal.
        if (moves || wild) give_up();
        return {};
      }
      return lines.at(((chosen.bits >> lane & 1U) != 0) != step.from_negated ? 0 : 1);
    }
    case Rule::convert: {
      std::int64_t grows = slope(0);
      if (meaning.to_bits > meaning.bits) {
        in_range(0);
        return {.slope = grows};
      }
      grows = with_sign(static_cast<std::uint64_t>(grows), meaning.to_bits);
      const std::int64_t number = with_sign(values[0], meaning.to_bits);
      keep_in_range(meaning.to_signed ? Whole{number} : Whole{values[0] & ones(meaning.to_bits)},
                    grows, meaning.to_bits, meaning.to_signed);
      return {.slope = grows};
    }
    case Rule::divide:
    case Rule::remainder: {
      if (slope(1) != 0 || exact(0) < 0 || exact(1) <= 0) return {.wild = true};
      in_range(0);
      if (slope(0) < 0) limit(exact(0) / -Whole{slope(0)});
      const bool divides = meaning.rule == Rule::divide;
      if (slope(0) % exact(1) == 0) {
        return {.slope = divides ? static_cast<std::int64_t>(slope(0) / exact(1)) : 0};
      }
      keep_from_wrapping(exact(0), slope(0), exact(1));
      return {.slope = divides ? 0 : slope(0)};
    }
    case Rule::load:
    case Rule::none:
      break;
  }
  return {.wild = true};
}

Slopes::Line Slopes::masked(const Meaning& meaning, std::uint64_t value, std::int64_t slope,
                            std::uint64_t mask) {
  const auto grows = static_cast<std::uint64_t>(slope);
  const std::uint64_t low = (grows & (~grows + 1)) - 1;  // bits that do not change
  if ((mask & ~low & ones(meaning.bits)) == 0) return {};
  const std::uint64_t filled = (mask | low) & ones(meaning.bits);
  if (!std::has_single_bit(filled + 1) && filled != ~std::uint64_t{0}) return {.wild = true};
  const auto kept = static_cast<unsigned>(std::popcount(filled));
  if (kept == meaning.bits) return {.slope = slope};
  const std::int64_t within = with_sign(grows, kept);
  keep_from_wrapping(Whole{value}, within, Whole{1} << kept);
  return {.slope = within};
}

void Slopes::access(std::uint32_t at, std::uint32_t mask, std::uint64_t low, std::uint64_t high,
                    std::uint64_t begin, std::uint64_t end) {
  const MemoryStep& memory = program_.memory[program_.steps[at].detail];
  const Line first = line(memory.address, static_cast<unsigned>(std::countr_zero(mask)));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const Line of = line(memory.address, lane);
    const bool other = of.wild || of.slope != first.slope;
    if ((mask >> lane & 1U) != 0 && other) return give_up();
  }
  if (first.slope == 0) return;
  if (begin == end) return give_up();
  limit(first.slope > 0 ? (Whole{end} - high) / first.slope
                        : (Whole{low} - begin) / -Whole{first.slope});
  const auto bytes = static_cast<std::uint64_t>(first.slope) % line_bytes;
  period_ = std::lcm(period_, line_bytes / std::gcd(line_bytes, bytes));
}

}  // namespace strata::access
