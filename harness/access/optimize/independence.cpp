#include "harness/access/optimize/independence.hpp"

#include "harness/access/listing.hpp"
#include "harness/access/operands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Space;
using ptx::Special;

bool touches_shared(const Instruction& one) {
  const Role role = role_of(one);
  return one.space() == Space::shared && (role == Role::load || role == Role::store ||
                                          role == Role::atomic || role == Role::reduction);
}

/// add and max do not commute with each other.
bool combine_alike(const Instruction& one, const Instruction& other) {
  std::vector<std::string_view> words = one.modifiers;
  for (const std::string_view word : other.modifiers) {
    const auto found = std::ranges::find(words, word);
    if (found == words.end()) return false;
    words.erase(found);
  }
  return words.empty();
}

/// Of two that touch the same bytes: their order shows.
bool conflict(const Instruction& one, const Instruction& other) {
  const bool are_alike = role_of(one) == role_of(other);
  const bool is_atomic = role_of(one) != Role::load && role_of(one) != Role::store;
  return !are_alike || (is_atomic && !combine_alike(one, other));
}

/// The axis, of threads or then of blocks, that the index is of.
std::optional<unsigned> axis_of(const Atom& index) {
  if (index.kind != AtomKind::special ||
      index.which > static_cast<std::uint32_t>(Special::nctaid_z)) {
    return std::nullopt;
  }
  return index.which % 3 + (index.which / 3 < 2 ? 0 : grid_size);
}

}  // namespace

Independence::Independence(KernelForms& simple, LaunchChecks& checks)
    : simple_{simple},
      checks_{checks},
      simple_bounds_{simple, checks},
      wrapped_{simple.module(), simple.kernel(), simple.flow(), Wrapping::remainder},
      bounds_{wrapped_, checks} {}

std::string Independence::line_text(const Access& access) const {
  const Instruction& one = simple_.kernel().instructions[access.instruction];
  return fmt::format("{} of line {}", opcode_text(one), simple_.line_of(access.instruction));
}

std::optional<Independence::Access> Independence::access_of(std::uint32_t instruction) {
  const Instruction& one = simple_.kernel().instructions[instruction];
  const Role role = role_of(one);
  const bool is_atomic = role == Role::atomic || role == Role::reduction;
  if (role != Role::load && role != Role::store && !is_atomic) return std::nullopt;
  if (one.space() != Space::global && one.space() != Space::generic) return std::nullopt;
  const std::uint32_t block = simple_.flow().block_of[instruction];
  if (!is_reachable(simple_.flow(), block)) return std::nullopt;
  Access access{.instruction = instruction,
                .block = block,
                .meaning = wrapped_.address(instruction, *address_of(one)),
                .bytes = std::int64_t{ptx::bytes_of(one.type())} * one.vector_width(),
                .reads = role != Role::store && !one.has("nc"),
                .writes = role != Role::load};
  access.pointer = pointer_in(wrapped_.forms(), access.meaning.form);
  return access;
}

std::optional<Independence::Number> Independence::place_of(const Access& access) {
  if (access.meaning.form == no_form || access.bytes == 0) return std::nullopt;
  const auto [known, is_new] = places_.try_emplace({access.meaning.form, access.block});
  Place& place = known->second;
  if (is_new) place.number = bounds_.of(access.meaning.form, access.block, &place.conditions);
  // Each time: what was needed before may have been taken back.
  const bool is_known = bounds_.is_bounded(place.number) &&
                        bounds_.ensure(place.conditions, access.block) &&
                        bounds_.ensure(access.meaning.conditions, access.block);
  return is_known ? std::optional{place.number} : std::nullopt;
}

std::optional<Refusal> Independence::keep_apart(const Access& one, const Access& other) {
  const auto here = place_of(one);
  const auto there = place_of(other);
  const Access& hidden = here ? other : one;
  if (!here || !there) {
    const Access& seen = here ? one : other;
    return Refusal{
        hidden.instruction,
        fmt::format("nothing tells where it leads: it may meet the {}, in another thread",
                    line_text(seen))};
  }
  std::string why = fmt::format("the {} and the {} may meet", line_text(one), line_text(other));
  const bool usually_meet =
      !launch_math::are_apart(checks_.usual(*here), one.bytes, checks_.usual(*there), other.bytes);
  if (one.pointer == other.pointer && usually_meet) {
    return Refusal{one.instruction,
                   fmt::format("it may meet the {}, in another thread", line_text(other))};
  }
  checks_.need_apart(*here, one.bytes, *there, other.bytes, std::move(why));
  return std::nullopt;
}

/// A term as a stride times an index; nothing where it is more than that.
std::optional<Independence::StrideTerm> Independence::along(const Term& term) {
  Forms& forms = simple_.forms();
  StrideTerm found{.stride = forms.constant(term.coefficient)};
  const std::vector<AtomId> factors{forms.factors_of(term).begin(), forms.factors_of(term).end()};
  for (const AtomId factor : factors) {
    if (simple_bounds_.is_of_launch(forms.atom(factor))) {
      found.stride = forms.multiply(found.stride, forms.form_of(factor));
    } else if (found.index) {
      return std::nullopt;
    } else {
      found.index = forms.atom(factor);
    }
  }
  return found;
}

/// How far each index of the form takes an address in the block; nothing where that is not known.
std::optional<Independence::Strides> Independence::strides_of(FormId form, std::uint32_t block) {
  using Operation = LaunchChecks::Operation;
  Forms& forms = simple_.forms();
  Strides strides;
  const std::vector<Term> terms{forms.terms_of(form).begin(), forms.terms_of(form).end()};
  for (const Term& term : terms) {
    const auto found = along(term);
    if (!found) return std::nullopt;
    if (!found->index) continue;
    const auto number = simple_bounds_.exactly(found->stride);
    if (!number) return std::nullopt;
    if (found->index->kind == AtomKind::counter) {
      const FormId last = simple_.loop(found->index->which).last;
      const auto count = simple_bounds_.of(last, block, nullptr);
      strides.all.emplace_back(*number, checks_.apply(Operation::add, count, checks_.constant(1)));
      continue;
    }
    const auto axis = axis_of(*found->index);
    if (!axis) return std::nullopt;
    strides.has_axis.at(*axis) = true;
    strides.all.emplace_back(*number, checks_.size(*axis));
  }
  return strides;
}

/// Two accesses that are the same distance apart in every thread: those of other threads are
/// further away.
std::optional<Refusal> Independence::keep_own(const Access& one, const Access& other) {
  const auto& code = simple_.kernel().instructions;
  const Meaning meaning = simple_.address(one.instruction, *address_of(code[one.instruction]));
  const Refusal refusal{one.instruction,
                        fmt::format("it may meet the {}, in another thread", line_text(other))};
  if (meaning.form == no_form) return refusal;
  const std::int64_t apart = *distance(one, other);
  const std::int64_t extent =
      std::max(one.bytes, apart + other.bytes) - std::min<std::int64_t>(0, apart);
  const auto strides = strides_of(meaning.form, one.block);
  if (!strides) return refusal;
  const bool are_known = simple_bounds_.ensure(meaning.conditions, one.block) &&
                         bounds_.ensure(one.meaning.conditions, one.block) &&
                         bounds_.ensure(other.meaning.conditions, other.block);
  if (!are_known) return refusal;
  for (unsigned axis = 0; axis < strides->has_axis.size(); ++axis) {
    if (strides->has_axis.at(axis)) continue;
    checks_.need_within(checks_.size(axis), 1, 1,
                        fmt::format("{} is more than 1, and all of these threads reach the same",
                                    size_names.at(axis)));
  }
  const std::size_t before = checks_.mark();
  checks_.need_spread(strides->all, extent, refusal.why);
  if (!checks_.usually_hold(before)) return refusal;
  return std::nullopt;
}

/// From the one's lowest address to the other's, where that is a constant.
std::optional<std::int64_t> Independence::distance(const Access& one, const Access& other) {
  if (one.meaning.form == no_form || other.meaning.form == no_form) return std::nullopt;
  Forms& forms = wrapped_.forms();
  const FormId apart = forms.subtract(other.meaning.form, one.meaning.form);
  return apart == no_form ? std::nullopt : forms.constant_of(apart);
}

/// All accesses; those of a block that do alike and are at constant distances as one.
std::vector<Independence::Access> Independence::families() {
  const auto& code = simple_.kernel().instructions;
  std::vector<Access> all;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const auto access = access_of(i);
    if (!access || (!access->reads && !access->writes)) continue;
    const auto takes = [&](const Access& other) {
      return other.block == access->block && other.reads == access->reads &&
             other.writes == access->writes &&
             (!other.is_atomic() || combine_alike(code[other.instruction], code[i])) &&
             distance(other, *access).has_value();
    };
    const auto family = std::ranges::find_if(all, takes);
    if (family == all.end()) {
      all.push_back(*access);
      continue;
    }
    const std::int64_t apart = *distance(*family, *access);
    const std::int64_t end = std::max(family->bytes, apart + access->bytes);
    if (apart < 0) family->meaning.form = access->meaning.form;
    family->meaning.conditions =
        wrapped_.united(family->meaning.conditions, access->meaning.conditions);
    family->bytes = end - std::min<std::int64_t>(0, apart);
  }
  return all;
}

std::optional<Refusal> Independence::of_threads() {
  const auto& code = simple_.kernel().instructions;
  const std::vector<Access> all = families();
  for (const Access& one : all) {
    if (!one.writes) continue;
    for (const Access& other : all) {
      if (!other.reads) continue;
      const bool commute = one.is_atomic() && other.is_atomic() &&
                           combine_alike(code[one.instruction], code[other.instruction]);
      if (commute) continue;
      auto refusal = distance(one, other) ? keep_own(one, other) : keep_apart(one, other);
      if (refusal) return refusal;
    }
  }
  return std::nullopt;
}

bool Independence::are_apart(std::uint32_t instruction, std::uint32_t other) {
  const auto one = access_of(instruction);
  const auto two = access_of(other);
  return one && two && !keep_apart(*one, *two);
}

std::optional<Refusal> Independence::of_shared_memory() const {
  const auto& code = simple_.kernel().instructions;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    if (!touches_shared(code[i])) continue;
    if (auto refusal = keep_behind_barrier(i)) return refusal;
  }
  return std::nullopt;
}

/// Whatever can follow an access to shared memory without a barrier does not conflict with it.
std::optional<Refusal> Independence::keep_behind_barrier(std::uint32_t instruction) const {
  const ControlFlow& flow = simple_.flow();
  std::vector<bool> seen(flow.blocks.size());
  std::vector<std::uint32_t> open;
  const auto walk = [&](std::uint32_t from, std::uint32_t block) -> std::optional<Refusal> {
    const Followed followed = follow(instruction, from, flow.blocks[block].end);
    if (followed.refusal || followed.meets_barrier) return followed.refusal;
    for (const std::uint32_t next : flow.blocks[block].successors) {
      if (seen[next]) continue;
      seen[next] = true;
      open.push_back(next);
    }
    return std::nullopt;
  };
  if (auto refusal = walk(instruction + 1, flow.block_of[instruction])) return refusal;
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (auto refusal = walk(flow.blocks[block].begin, block)) return refusal;
  }
  return std::nullopt;
}

/// Straight code behind an access to shared memory, up to a barrier or a conflict.
Independence::Followed Independence::follow(std::uint32_t instruction, std::uint32_t from,
                                            std::uint32_t end) const {
  const auto& code = simple_.kernel().instructions;
  for (std::uint32_t j = from; j < end; ++j) {
    if (role_of(code[j]) == Role::barrier) return {.meets_barrier = true};
    if (touches_shared(code[j]) && conflict(code[instruction], code[j])) {
      return {.refusal = Refusal{j, fmt::format("shared memory that line {} touches as well, "
                                                "without a barrier between them",
                                                simple_.line_of(instruction))}};
    }
  }
  return {};
}

}  // namespace strata::access
