#include "harness/access/optimize/grouping.hpp"

#include "harness/access/operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace strata::access {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Special;
using ptx::Type;

/// Of atoms of kind `warp`: indices of threads and passes, and what a copy has for itself.
constexpr std::uint32_t first_own = 1000;
constexpr std::uint32_t lanes_index = first_own;
constexpr std::uint32_t passes_index = first_own + 1;

constexpr std::string_view axis_names = "xyz";

std::string type_word(Type type) {
  return type == Type::pred ? "pred" : fmt::format("b{}", 8 * ptx::bytes_of(type));
}

/// Modifiers that say how many elements there are, and of which type.
bool is_shape(std::string_view word, const Instruction& one) {
  return word == "v2" || word == "v4" || word == "v8" || word == one.modifiers.back();
}

std::vector<const Operand*> elements_of(const Operand& value) {
  std::vector<const Operand*> all;
  if (value.kind != Operand::Kind::vector) return {&value};
  for (const Operand& item : value.items)
    all.push_back(&item);
  return all;
}

}  // namespace

// ---- instances ----

void Instances::enter(std::uint32_t block, unsigned passes) {
  if (block_ == block && passes_ == passes) return;
  block_ = block;
  passes_ = passes;
  replaced_.clear();
}

/// What an atom is in one copy alone.
FormId Instances::own(AtomId id, const Instance& instance, bool has_passes) {
  const Atom atom = kernel_.forms().atom(id);
  const auto key = std::tuple{id, instance.copy, has_passes ? instance.pass : 0};
  const auto next = static_cast<std::uint32_t>(passes_index + 1 + own_.size());
  const std::uint32_t number = own_.try_emplace(key, next).first->second;
  return kernel_.forms().leaf(AtomKind::warp, number, atom.range);
}

/// A size or a parameter that is a multiple in every launch of the optimized kernel: as one.
std::optional<FormId> Instances::as_multiple(AtomId id) {
  Forms& forms = kernel_.forms();
  const Atom atom = forms.atom(id);
  if (checks_ == nullptr) return {};
  std::int64_t of = 1;
  if (atom.kind == AtomKind::parameter) {
    const ptx::Symbol& symbol = kernel_.module().symbols[atom.which];
    of = checks_->needed_multiple(
        checks_->parameter(symbol.offset + atom.place, atom.bytes, atom.is_signed));
  } else if (const auto which = atom.which;
             which <= static_cast<unsigned>(Special::nctaid_z) && which / 3 % 2 == 1) {
    of = checks_->needed_multiple(checks_->size(which % 3 + (which < 6 ? 0 : grid_size)));
  }
  if (of == 1) return {};
  const auto next = static_cast<std::uint32_t>(passes_index + 1 + own_.size());
  const auto number = own_.try_emplace({id, no_index, no_index}, next).first->second;
  const Interval range{-(-atom.range.low / of), atom.range.high / of};
  return forms.scale(forms.leaf(AtomKind::warp, number, range), of);
}

std::optional<FormId> Instances::replaced(AtomId id, const Instance& instance) {
  Forms& forms = kernel_.forms();
  const Atom atom = forms.atom(id);
  const auto part = [&](std::uint32_t index, unsigned count, unsigned which) {
    const Interval range{0, atom.range.high / count};
    return forms.add(forms.scale(forms.leaf(AtomKind::warp, index, range), count),
                     forms.constant(which));
  };
  switch (atom.kind) {
    case AtomKind::special: {
      const unsigned group = change_.exchange ? 2 : 0;  // blockIdx or threadIdx
      if (change_.threads == 1 || atom.which != group * 3 + change_.lanes_axis())
        return as_multiple(id);
      return part(lanes_index, change_.threads, instance.copy);
    }
    case AtomKind::parameter:
      for (const auto& [symbol, value] : change_.given) {
        if (symbol != atom.which || atom.place != 0 || atom.bytes != 4) continue;
        return forms.constant(atom.is_signed ? std::int64_t{static_cast<std::int32_t>(value)}
                                             : std::int64_t{value});
      }
      return as_multiple(id);
    case AtomKind::counter:
      if (passes_ == 1 || atom.which != kernel_.flow().loop_of[block_]) return {};
      return part(passes_index, passes_, instance.pass);
    case AtomKind::last_pass:
      return change_.threads == 1 ? std::nullopt : std::optional{own(id, instance, false)};
    case AtomKind::hidden: {
      const std::uint32_t made_in = kernel_.ssa()[kernel_.hidden(atom.which).value].block;
      const bool has_passes = passes_ > 1 && made_in == block_;
      if (change_.threads == 1 && !has_passes) return {};
      return own(id, instance, has_passes);
    }
    default:
      return {};
  }
}

FormId Instances::form(FormId form, const Instance& instance) {
  if (form == no_form) return no_form;
  return kernel_.forms().replace(
      form, [&](AtomId id) { return replaced(id, instance); },
      replaced_[{instance.copy, instance.pass}]);
}

// ---- names ----

std::string Names::of_lane(unsigned copy) {
  std::string name = fmt::format("%strata_lane{}", copy);
  declared_["b32"].insert(name);
  return name;
}

std::string Names::temporary(const std::string& type) {
  std::string name = fmt::format("%strata_t{}", temporaries_++);
  declared_[type].insert(name);
  return name;
}

bool Names::is_of_copy(Special special) const {
  const unsigned group = change->exchange ? 2 : 0;
  return change->threads > 1 && static_cast<unsigned>(special) == group * 3 + change->lanes_axis();
}

std::string Names::reg(std::uint32_t number, unsigned copy) {
  const ptx::Register& one = forms->kernel().registers[number];
  // Of several scopes, names may be the same.
  const auto [first, is_new] = first_of_name_.try_emplace(one.name, number);
  std::string name{one.name};
  if (first->second != number) name += fmt::format("$s{}", number);
  if (copy > 0 && !is_shared[number]) name += fmt::format("$c{}", copy);
  const std::string type = type_word(one.type);
  if (type == "b0") throw NotOptimized{{ptx::no_index, fmt::format("a register {}", one.name)}};
  declared_[type].insert(name);
  return name;
}

std::string Names::special(Special special, unsigned copy) {
  const auto number = static_cast<unsigned>(special);
  if (number > static_cast<unsigned>(Special::nctaid_z)) return {};
  const unsigned group = number / 3;
  const unsigned axis = number % 3;
  if (std::string name = of_lanes_axis(group, axis, copy); !name.empty()) return name;
  const auto& order = group >= 2 ? change->block_axes : change->thread_axes;
  const auto place = std::ranges::find(order, axis) - order.begin();
  constexpr std::array words{"tid", "ntid", "ctaid", "nctaid"};
  return fmt::format("%{}.{}", words.at(group), axis_names[static_cast<std::size_t>(place)]);
}

/// What stands for an index or a count where lanes are exchanged or several threads are one; ""
/// where it stays one of the hardware's, of some axis.
std::string Names::of_lanes_axis(unsigned group, unsigned axis, unsigned copy) {
  const bool is_block = group >= 2;
  const bool is_count = group % 2 == 1;
  if (change->exchange) {
    if (group == 0 && axis == 0)
      return fmt::format("%ctaid.{}", axis_names[change->exchange->free]);
    if (is_block && axis == change->exchange->axis) return is_count ? blocks : of_lane(copy);
    if (is_block && axis == change->exchange->free) return is_count ? "1" : "0";
  } else if (change->threads > 1 && axis == change->lanes_axis()) {
    if (is_block) return is_count ? blocks : merged;
    if (!is_count) return of_lane(copy);
  }
  return {};
}

Renaming Names::of_copy(unsigned copy) {
  return {.reg = [this, copy](std::uint32_t number) { return reg(number, copy); },
          .special = [this, copy](Special which) { return special(which, copy); }};
}

std::string Names::declarations() const {
  std::string text;
  for (const auto& [type, names] : declared_) {
    for (const std::string& name : names)
      text += fmt::format(".reg .{} {};\n", type, name);
  }
  if (change->moves_blocks()) {
    text += fmt::format(".reg .b32 {}, {}, {};\n.reg .pred {};\n", blocks, merged, index, none);
    return text;
  }
  const ptx::Module& module = forms->module();
  for (const ptx::Symbol& symbol : module.symbols) {
    const bool is_own = symbol.kernel != no_index &&
                        &module.kernels[symbol.kernel] == &forms->kernel() &&
                        (symbol.space == Space::shared || symbol.space == Space::local);
    if (!is_own) continue;
    text += fmt::format(".{} .align {} .b8 {}[{}];\n",
                        symbol.space == Space::shared ? "shared" : "local", symbol.align,
                        symbol.name, symbol.bytes);
  }
  return text;
}

// ---- grouping ----

Grouping::Grouping(Instances& instances, Bounds& bounds, LaunchChecks& checks,
                   Independence& independence, Names& names)
    : instances_{instances},
      bounds_{bounds},
      checks_{checks},
      independence_{independence},
      names_{names} {}

const Instruction& Grouping::instruction(const Unit& unit) const {
  return instances_.kernel().kernel().instructions[(*code_)[unit.at].instruction];
}

/// All that touches memory; what nothing may pass parts the code into segments.
void Grouping::find_units(const std::vector<Instance>& code) {
  units_.clear();
  unsigned segment = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const Instruction& one = instances_.kernel().kernel().instructions[code[at].instruction];
    const Role role = role_of(one);
    if (role == Role::plain || (role == Role::load && one.space() == Space::param)) continue;
    const bool is_load = role == Role::load;
    if (!is_load && role != Role::store) {
      ++segment;
      continue;
    }
    Unit unit{
        .at = at, .done_at = at, .is_load = is_load, .segment = segment, .space = one.space()};
    unit.width = ptx::bytes_of(one.type());
    unit.bytes = unit.width * one.vector_width();
    const Operand& address = *address_of(one);
    const Meaning meaning = instances_.kernel().address(code[at].instruction, address);
    const FormId form = instances_.form(meaning.form, code[at]);
    if (form != no_form) {
      Forms& forms = instances_.kernel().forms();
      unit.offset = forms.offset_of(form);
      unit.base = forms.subtract(form, forms.constant(unit.offset));
      unit.conditions = meaning.conditions;
    }
    const bool is_plain =
        address.kind == Operand::Kind::reg || address.kind == Operand::Kind::symbol;
    const Operand& value = one.operands[is_load ? 0 : 1];
    const auto elements = elements_of(value);
    const bool has_values = std::ranges::all_of(
        elements, [](const Operand* element) { return element->kind == Operand::Kind::reg; });
    unit.can_move = unit.base != no_form && is_plain && has_values && one.operands.size() == 2 &&
                    one.guard == no_index && one.space() != Space::local && unit.width != 0 &&
                    (one.space() != Space::shared || instances_.change().swizzled_row == 0) &&
                    unit.width <= 8 && elements.size() * unit.width == unit.bytes;
    unit.like = std::string{one.opcode};
    for (const std::string_view word : one.modifiers) {
      if (!is_shape(word, one)) unit.like += fmt::format(".{}", word);
    }
    units_.push_back(std::move(unit));
  }
}

bool Grouping::may_meet(const Unit& unit, const Unit& other) {
  const bool are_apart =
      unit.space != other.space && unit.space != Space::generic && other.space != Space::generic;
  if (are_apart) return false;
  if (unit.bytes == 0 || other.bytes == 0) return true;
  if (unit.base != no_form && unit.base == other.base) {
    return unit.offset < other.offset + static_cast<std::int64_t>(other.bytes) &&
           other.offset < unit.offset + static_cast<std::int64_t>(unit.bytes);
  }
  return !independence_.are_apart((*code_)[unit.at].instruction, (*code_)[other.at].instruction);
}

/// A load may move up, a store down, past what does not touch its bytes.
bool Grouping::may_move(const Unit& unit, std::size_t from, std::size_t to) {
  const auto is_in_the_way = [&](const Unit& other) {
    if (other.done_at <= std::min(from, to) || other.done_at >= std::max(from, to)) return false;
    if (unit.is_load && other.is_load) return false;
    return may_meet(unit, other);
  };
  return std::ranges::none_of(units_, is_in_the_way);
}

/// Whether the address is a multiple of so many bytes, in every thread: proved, but for what can be
/// checked of the launch.
bool Grouping::is_aligned(FormId base, std::int64_t offset, unsigned bytes) {
  Forms& forms = instances_.kernel().forms();
  if (offset % static_cast<std::int64_t>(bytes) != 0) return false;
  const auto alignment = [this](const Atom& atom) -> std::uint64_t {
    return atom.kind == AtomKind::symbol ? instances_.kernel().module().symbols[atom.which].align
                                         : 1;
  };
  const std::vector<Term> terms{forms.terms_of(base).begin(), forms.terms_of(base).end()};
  for (const Term& term : terms) {
    if (forms.divisor_of(term, alignment) % bytes == 0) continue;
    FormId of_launch = forms.constant(std::abs(term.coefficient));
    const std::vector<AtomId> factors{forms.factors_of(term).begin(), forms.factors_of(term).end()};
    for (const AtomId factor : factors) {
      if (bounds_.is_of_launch(forms.atom(factor)))
        of_launch = forms.multiply(of_launch, forms.form_of(factor));
    }
    const auto number = bounds_.exactly(of_launch);
    if (!number || forms.constant_of(of_launch)) return false;
    const auto name = [this](const Atom& atom) { return instances_.kernel().name(atom); };
    checks_.need_multiple(
        *number, bytes, fmt::format("{} is no multiple of {}", forms.text(of_launch, name), bytes));
  }
  return true;
}

bool Grouping::try_group(const std::vector<std::size_t>& alike, std::int64_t offset,
                         unsigned bytes) {
  const std::int64_t end = offset + bytes;
  Group group{.offset = offset, .bytes = bytes};
  std::vector<unsigned> covered(bytes);
  for (const std::size_t u : alike) {
    const Unit& unit = units_[u];
    if (is_taken_[u] || unit.offset < offset || unit.offset + unit.bytes > end) continue;
    group.units.push_back(u);
    for (unsigned b = 0; b < unit.bytes; ++b)
      ++covered[static_cast<std::size_t>(unit.offset - offset) + b];
  }
  if (group.units.size() < 2) return false;
  const Unit& first = units_[group.units.front()];
  const auto is_whole = [&](unsigned times) { return first.is_load ? times > 0 : times == 1; };
  if (!std::ranges::all_of(covered, is_whole)) return false;
  const std::size_t place = units_[first.is_load ? group.units.front() : group.units.back()].at;
  const std::size_t before = checks_.mark();
  const auto is_as_wide = [&](std::size_t u) { return units_[u].bytes == bytes; };
  bool is_allowed =
      std::ranges::all_of(group.units, is_as_wide) || is_aligned(first.base, offset, bytes);
  for (const std::size_t u : group.units) {
    const Unit& unit = units_[u];
    is_allowed = is_allowed && bounds_.ensure(unit.conditions, instances_.block()) &&
                 may_move(unit, unit.at, place);
  }
  if (!is_allowed) {
    checks_.take_back(before);
    return false;
  }
  for (const std::size_t u : group.units) {
    is_taken_[u] = true;
    grouped_instructions_.insert((*code_)[units_[u].at].instruction);
    units_[u].done_at = place;
  }
  found_.push_back(std::move(group));
  return true;
}

/// The widest first. As wide as one of them: loads of the same bytes.
void Grouping::group_alike(const std::vector<std::size_t>& alike) {
  if (alike.size() < 2) return;
  std::set<std::int64_t> offsets;
  for (const std::size_t u : alike)
    offsets.insert(units_[u].offset);
  const unsigned width = units_[alike.front()].width;
  for (unsigned bytes = instances_.change().bytes; bytes >= width; bytes /= 2) {
    for (const std::int64_t offset : offsets)
      (void)try_group(alike, offset, bytes);
  }
}

/// The opcode of an access to as many bytes, its address and what it moves.
std::string Grouping::wide(const Unit& unit, const Group& group,
                           const std::vector<std::string>& parts) {
  const Instance& one = (*code_)[unit.at];
  std::string text = unit.like;
  if (parts.size() > 1) text += fmt::format(".v{}", parts.size());
  text += fmt::format(".b{}", std::size_t{8} * group.bytes / parts.size());
  std::string values = fmt::format("{}", fmt::join(parts, ", "));
  if (parts.size() > 1) values = fmt::format("{{{}}}", values);
  const std::string address =
      fmt::format("[{}]", address_text(instances_.kernel().module(), *address_of(instruction(unit)),
                                       group.offset - unit.offset, names_.of_copy(one.copy)));
  return unit.is_load ? fmt::format("{} {}, {};", text, values, address)
                      : fmt::format("{} {}, {};", text, address, values);
}

namespace {

/// Registers that a wide access moves: words, but for elements of 8 bytes.
unsigned part_bytes(unsigned width, unsigned bytes) {
  return std::min(bytes, std::max(width, 4U));
}

}  // namespace

void Grouping::write_loads(const Group& group, std::vector<std::vector<std::string>>& lines) {
  const Unit& first = units_[group.units.front()];
  const unsigned width = first.width;
  const unsigned part = part_bytes(width, group.bytes);
  std::vector<std::string> parts;
  for (unsigned at = 0; at < group.bytes; at += part)
    parts.push_back(names_.temporary(part == 8 ? "b64" : "b32"));
  std::vector<std::string>& begin = lines[first.at];
  begin.clear();
  begin.push_back(wide(first, group, parts));
  for (const std::size_t u : group.units) {
    const Unit& unit = units_[u];
    std::vector<std::string>& here = lines[unit.at];
    if (u != group.units.front()) here.clear();
    const auto elements = elements_of(instruction(unit).operands[0]);
    for (unsigned e = 0; e < elements.size(); ++e) {
      const auto at = static_cast<unsigned>(unit.offset - group.offset) + e * width;
      write_loaded(unit, elements[e]->index, parts[at / part], at % part, here);
    }
  }
}

/// Out of a part that was loaded, from so many of its bytes on, into the register of an element.
void Grouping::write_loaded(const Unit& unit, std::uint32_t reg, const std::string& part,
                            unsigned at, std::vector<std::string>& here) {
  const std::string to = names_.of_copy((*code_)[unit.at].copy).reg(reg);
  const unsigned bytes = ptx::bytes_of(instances_.kernel().kernel().registers[reg].type);
  const char sign = ptx::is_signed(instruction(unit).type()) ? 's' : 'u';
  std::string value = part;
  if (unit.width < 4) {
    value = bytes == 4 ? to : names_.temporary("b32");
    // Where a byte's number is converted, ptxas makes one instruction of both that runs in the unit
    // of sines, at a quarter of the rate of what it makes of a permutation and a conversion.
    const unsigned select = unit.width == 1 ? 0x4440 + at : 0x4410 + 0x11 * at;
    here.push_back(
        sign == 'u' ? fmt::format("prmt.b32 {}, {}, 0, {:#x};", value, part, select)
                    : fmt::format("bfe.s32 {}, {}, {}, {};", value, part, 8 * at, 8 * unit.width));
  }
  if (value == to) return;
  const unsigned have = unit.width == 8 ? 8 : 4;
  if (bytes == have) {
    here.push_back(fmt::format("mov.b{} {}, {};", 8 * bytes, to, value));
  } else {
    here.push_back(
        fmt::format("cvt.{0}{1}.{0}{2} {3}, {4};", sign, 8 * bytes, 8 * have, to, value));
  }
}

void Grouping::write_stores(const Group& group, std::vector<std::vector<std::string>>& lines) {
  const Unit& last = units_[group.units.back()];
  const unsigned width = last.width;
  const unsigned part = part_bytes(width, group.bytes);
  std::vector<std::string> values(group.bytes / width);
  std::vector<std::string> tail;
  for (const std::size_t u : group.units) {
    const Unit& unit = units_[u];
    std::vector<std::string>& here = lines[unit.at];
    here.clear();
    const auto elements = elements_of(instruction(unit).operands[1]);
    for (unsigned e = 0; e < elements.size(); ++e) {
      const std::uint32_t reg = elements[e]->index;
      const std::string from = names_.of_copy((*code_)[unit.at].copy).reg(reg);
      const unsigned bytes = ptx::bytes_of(instances_.kernel().kernel().registers[reg].type);
      const unsigned have = part == 8 ? 8 : 4;
      // Kept as it is now: the register may be another's by the time of the store.
      std::string& value = values[static_cast<std::size_t>(unit.offset - group.offset) / width + e];
      value = names_.temporary(have == 8 ? "b64" : "b32");
      here.push_back(bytes == have
                         ? fmt::format("mov.b{} {}, {};", 8 * bytes, value, from)
                         : fmt::format("cvt.u{}.u{} {}, {};", 8 * have, 8 * bytes, value, from));
    }
  }
  std::vector<std::string> parts;
  const unsigned in_part = part / width;
  for (std::size_t first = 0; first < values.size(); first += in_part) {
    if (in_part == 1) {
      parts.push_back(values[first]);
      continue;
    }
    std::string before = names_.temporary("b32");
    tail.push_back(fmt::format("and.b32 {}, {}, {};", before, values[first],
                               (std::uint32_t{1} << (8 * width)) - 1));
    for (unsigned i = 1; i < in_part; ++i) {
      const std::string next = names_.temporary("b32");
      tail.push_back(fmt::format("bfi.b32 {}, {}, {}, {}, {};", next, values[first + i], before,
                                 8 * width * i, 8 * width));
      before = next;
    }
    parts.push_back(before);
  }
  std::vector<std::string>& here = lines[last.at];
  here.insert(here.end(), tail.begin(), tail.end());
  here.push_back(wide(last, group, parts));
}

std::vector<std::string> Grouping::written(const std::vector<Instance>& code, const Print& print,
                                           bool again) {
  code_ = &code;
  std::vector<std::vector<std::string>> lines(code.size());
  for (std::size_t at = 0; at < code.size(); ++at)
    lines[at].push_back(print(code[at]));
  if (instances_.change().bytes > 1) {
    find_units(code);
    is_taken_.assign(units_.size(), false);
    found_.clear();
    std::map<std::tuple<std::string, FormId, unsigned, unsigned>, std::vector<std::size_t>> alike;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      const Unit& unit = units_[u];
      if (unit.can_move) alike[{unit.like, unit.base, unit.width, unit.segment}].push_back(u);
    }
    for (const auto& [key, units] : alike)
      group_alike(units);
    for (const Group& group : found_) {
      groups_ += again ? 0 : 1;
      grouped_ += again ? 0 : static_cast<unsigned>(group.units.size());
      if (units_[group.units.front()].is_load) {
        write_loads(group, lines);
      } else {
        write_stores(group, lines);
      }
    }
  }
  std::vector<std::string> all;
  for (auto& here : lines)
    std::ranges::move(here, std::back_inserter(all));
  return all;
}

}  // namespace strata::access
