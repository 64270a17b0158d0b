#include "harness/access/mend/independence.hpp"

#include "harness/access/listing.hpp"
#include "harness/access/operands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Space;
using ptx::Special;

bool is_shared(const Instruction& one) {
  return one.space() == Space::shared;
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

/// Two accesses that are the same distance apart in every thread: those of other threads are
/// further away.
std::optional<Refusal> Independence::keep_own(const Access& one, const Access& other) {
  using Operation = LaunchChecks::Operation;
  Forms& forms = simple_.forms();
  const auto& code = simple_.kernel().instructions;
  const Meaning meaning = simple_.address(one.instruction, *address_of(code[one.instruction]));
  const Refusal refusal{one.instruction,
                        fmt::format("it may meet the {}, in another thread", line_text(other))};
  if (meaning.form == no_form) return refusal;
  const std::int64_t apart = *distance(one, other);
  const std::int64_t extent =
      std::max(one.bytes, apart + other.bytes) - std::min<std::int64_t>(0, apart);
  std::vector<std::pair<Number, Number>> strides;
  std::vector<bool> is_there(6);  // axes of threads, then of blocks
  const std::vector<Term> terms{forms.terms_of(meaning.form).begin(),
                                forms.terms_of(meaning.form).end()};
  for (const Term& term : terms) {
    FormId stride = forms.constant(term.coefficient);
    std::optional<Atom> index;
    const std::vector<AtomId> factors{forms.factors_of(term).begin(), forms.factors_of(term).end()};
    for (const AtomId factor : factors) {
      if (simple_bounds_.is_of_launch(forms.atom(factor))) {
        stride = forms.multiply(stride, forms.form_of(factor));
      } else if (index) {
        return refusal;
      } else {
        index = forms.atom(factor);
      }
    }
    if (!index) continue;
    const auto number = simple_bounds_.exactly(stride);
    if (!number) return refusal;
    if (index->kind == AtomKind::counter) {
      const FormId last = simple_.loop(index->which).last;
      const auto count = simple_bounds_.of(last, one.block, nullptr);
      strides.emplace_back(*number, checks_.apply(Operation::add, count, checks_.constant(1)));
      continue;
    }
    if (index->kind != AtomKind::special ||
        index->which > static_cast<std::uint32_t>(Special::nctaid_z)) {
      return refusal;
    }
    const unsigned axis = index->which % 3 + (index->which / 3 < 2 ? 0 : grid_size);
    is_there[axis] = true;
    strides.emplace_back(*number, checks_.size(axis));
  }
  const bool are_known = simple_bounds_.ensure(meaning.conditions, one.block) &&
                         bounds_.ensure(one.meaning.conditions, one.block) &&
                         bounds_.ensure(other.meaning.conditions, other.block);
  if (!are_known) return refusal;
  for (unsigned axis = 0; axis < is_there.size(); ++axis) {
    if (is_there[axis]) continue;
    checks_.need_within(checks_.size(axis), 1, 1,
                        fmt::format("{} is more than 1, and all of these threads reach the same",
                                    size_names.at(axis)));
  }
  const std::size_t before = checks_.mark();
  checks_.need_spread(strides, extent, refusal.why);
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
  const ControlFlow& flow = simple_.flow();
  const auto touches = [&](std::uint32_t i) {
    const Role role = role_of(code[i]);
    return is_shared(code[i]) && (role == Role::load || role == Role::store ||
                                  role == Role::atomic || role == Role::reduction);
  };
  const auto conflict = [&](std::uint32_t i, std::uint32_t j) {
    const bool are_alike = role_of(code[i]) == role_of(code[j]);
    const bool is_atomic = role_of(code[i]) != Role::load && role_of(code[i]) != Role::store;
    return !are_alike || (is_atomic && !combine_alike(code[i], code[j]));
  };
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    if (!touches(i)) continue;
    // Whatever can follow without a barrier.
    std::vector<bool> seen(flow.blocks.size());
    std::vector<std::uint32_t> open;
    const auto walk = [&](std::uint32_t from, std::uint32_t block) -> std::optional<Refusal> {
      for (std::uint32_t j = from; j < flow.blocks[block].end; ++j) {
        if (role_of(code[j]) == Role::barrier) return std::nullopt;
        if (touches(j) && conflict(i, j)) {
          return Refusal{j, fmt::format("shared memory that line {} touches as well, without a "
                                        "barrier between them",
                                        simple_.line_of(i))};
        }
      }
      for (const std::uint32_t next : flow.blocks[block].successors) {
        if (seen[next]) continue;
        seen[next] = true;
        open.push_back(next);
      }
      return std::nullopt;
    };
    if (auto refusal = walk(i + 1, flow.block_of[i])) return refusal;
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      if (auto refusal = walk(flow.blocks[block].begin, block)) return refusal;
    }
  }
  return std::nullopt;
}

}  // namespace strata::access
