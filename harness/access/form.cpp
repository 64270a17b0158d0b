#include "harness/access/form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace strata::access {
namespace {

using std::int64_t;
using std::uint64_t;

constexpr Int128 most_coefficient = std::numeric_limits<int64_t>::max();

Int128 clamped(Int128 value) {
  return std::clamp(value, -unbounded, unbounded);
}

/// Of bounds: whatever meets one that is past everything stays there.
Int128 bound_sum(Int128 a, Int128 b) {
  if (a <= -unbounded || b <= -unbounded) return -unbounded;
  if (a >= unbounded || b >= unbounded) return unbounded;
  return clamped(a + b);
}

Int128 bound_product(Int128 a, Int128 b) {
  Int128 product = 0;
  if (a == 0 || b == 0) return 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? unbounded : -unbounded;
  return clamped(product);
}

Int128 floor_div(Int128 a, Int128 b) {
  const Int128 quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Int128 floor_mod(Int128 a, Int128 b) {
  return a - floor_div(a, b) * b;
}

std::size_t mixed(std::size_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6U) + (hash >> 2U);
  return hash * 0xff51afd7ed558ccdULL;
}

/// The largest power of two that divides a number, at most 2^32; 2^32 for 0.
constexpr uint64_t most_divisor = uint64_t{1} << 32U;
uint64_t power_in(int64_t value) {
  if (value == 0) return most_divisor;
  return std::min(most_divisor, uint64_t{1} << static_cast<unsigned>(
                                    std::countr_zero(static_cast<uint64_t>(value))));
}

bool is_power(Int128 value) {
  return value > 0 && (value & (value - 1)) == 0;
}

int64_t narrow(Int128 value) {
  return static_cast<int64_t>(value);
}

bool fits(Int128 value) {
  return value >= -most_coefficient && value <= most_coefficient;
}

}  // namespace

Interval register_range(unsigned bits, bool is_signed) {
  const Int128 all = Int128{1} << bits;
  return is_signed ? Interval{-(all / 2), all / 2 - 1} : Interval{0, all - 1};
}

Interval operator+(const Interval& a, const Interval& b) {
  return {bound_sum(a.low, b.low), bound_sum(a.high, b.high)};
}

Interval operator-(const Interval& a, const Interval& b) {
  return {bound_sum(a.low, -b.high), bound_sum(a.high, -b.low)};
}

Interval operator*(const Interval& a, const Interval& b) {
  const std::array ends{bound_product(a.low, b.low), bound_product(a.low, b.high),
                        bound_product(a.high, b.low), bound_product(a.high, b.high)};
  return {*std::ranges::min_element(ends), *std::ranges::max_element(ends)};
}

Interval both_of(const Interval& a, const Interval& b) {
  const Interval both{std::max(a.low, b.low), std::min(a.high, b.high)};
  return both.low <= both.high ? both : a;
}

Forms::Forms() {
  std::vector<Term> none;
  (void)store(0, none);
}

// ---------------------------------------------------------------------------------------------
// Storage: equal things once. What is built of forms is bounded in size and depth, and so is
// recursion. NOLINTBEGIN(misc-no-recursion)

AtomId Forms::intern(const Atom& atom) {
  std::size_t hash = mixed(static_cast<std::size_t>(atom.kind), atom.which);
  hash =
      mixed(hash, (atom.place << 5U) + (uint64_t{atom.bytes} << 1U) + (atom.is_signed ? 1U : 0U));
  for (const FormId operand : atom.operands)
    hash = mixed(hash, operand);
  const auto [first, last] = atom_index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Atom& other = atoms_[it->second];
    if (other.kind == atom.kind && other.which == atom.which && other.place == atom.place &&
        other.bytes == atom.bytes && other.is_signed == atom.is_signed &&
        other.operands == atom.operands && other.range == atom.range) {
      return it->second;
    }
  }
  const auto id = static_cast<AtomId>(atoms_.size());
  atoms_.push_back(atom);
  atom_index_.emplace(hash, id);
  return id;
}

std::uint32_t Forms::product(std::vector<AtomId>& factors) {
  std::ranges::sort(factors);
  std::size_t hash = factors.size();
  for (const AtomId factor : factors)
    hash = mixed(hash, factor);
  const auto [first, last] = product_index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Product& other = products_[it->second];
    if (std::ranges::equal(std::span{factors_}.subspan(other.first, other.count), factors)) {
      return it->second;
    }
  }
  const auto id = static_cast<std::uint32_t>(products_.size());
  products_.push_back(
      {static_cast<std::uint32_t>(factors_.size()), static_cast<std::uint32_t>(factors.size())});
  factors_.insert(factors_.end(), factors.begin(), factors.end());
  product_index_.emplace(hash, id);
  return id;
}

/// Stores a form in canonical order: terms sorted by product, no product twice, no coefficient 0.
FormId Forms::store(int64_t constant, std::vector<Term>& terms) {
  std::ranges::sort(terms, {}, &Term::product);
  std::size_t kept = 0;
  for (std::size_t t = 0; t < terms.size();) {
    Int128 sum = 0;
    const std::uint32_t product = terms[t].product;
    for (; t < terms.size() && terms[t].product == product; ++t)
      sum += terms[t].coefficient;
    if (!fits(sum)) return no_form;
    if (sum != 0) terms[kept++] = {product, narrow(sum)};
  }
  terms.resize(kept);
  if (terms.size() > most_terms) return no_form;
  if (const FormId joined = join_division(constant, terms); joined != no_form) return joined;

  std::size_t hash = mixed(terms.size(), static_cast<uint64_t>(constant));
  for (const Term& term : terms)
    hash = mixed(mixed(hash, term.product), static_cast<uint64_t>(term.coefficient));
  const auto same = [](const Term& a, const Term& b) {
    return a.product == b.product && a.coefficient == b.coefficient;
  };
  const auto [first, last] = form_index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (forms_[it->second].constant == constant &&
        std::ranges::equal(terms_of(it->second), terms, same)) {
      return it->second;
    }
  }
  if (forms_.size() >= most_forms) return no_form;
  Stored stored{.constant = constant,
                .first = static_cast<std::uint32_t>(terms_.size()),
                .count = static_cast<std::uint32_t>(terms.size()),
                .range = {constant, constant}};
  for (const Term& term : terms) {
    stored.range = stored.range + range_of(term);
    for (const AtomId factor : factors_of(term)) {
      stored.size += atoms_[factor].size;
      stored.depth = std::max(stored.depth, atoms_[factor].depth);
    }
  }
  if (stored.size > most_size || stored.depth > most_depth) return no_form;
  const auto id = static_cast<FormId>(forms_.size());
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  forms_.push_back(stored);
  form_index_.emplace(hash, id);
  return id;
}

/// Simplifies d · (x / d) + x % d to x, and x − x % d to d · (x / d), times any factor. no_form:
/// not applicable.
FormId Forms::join_division(int64_t constant, const std::vector<Term>& terms) {
  const auto divided = [&](const Term& term, AtomKind kind) -> const Atom* {
    const auto factors = factors_of(term);
    if (factors.size() != 1 || atoms_[factors[0]].kind != kind) return nullptr;
    return constant_of(atoms_[factors[0]].operands[1]) ? &atoms_[factors[0]] : nullptr;
  };
  for (const Term& term : terms) {
    const Atom* const found = divided(term, AtomKind::remainder);
    if (found == nullptr) continue;
    const FormId numerator = found->operands[0];
    const FormId divisor = found->operands[1];
    const int64_t by = *constant_of(divisor);
    const Int128 times = Int128{by} * term.coefficient;
    if (!fits(times)) continue;
    const auto without = [&](std::uint32_t other) {
      std::vector<Term> left = terms;
      std::erase_if(left, [&](const Term& one) {
        return one.product == term.product || one.product == other;
      });
      return store(constant, left);
    };
    for (const Term& other : terms) {
      const Atom* const quotient_atom = divided(other, AtomKind::quotient);
      if (quotient_atom != nullptr && quotient_atom->operands[0] == numerator &&
          quotient_atom->operands[1] == divisor && other.coefficient == times) {
        const int64_t coefficient = term.coefficient;
        return linear(without(other.product), numerator, coefficient);
      }
    }
    const auto parts = terms_of(numerator);
    const auto is_there = [&](const Term& part) {
      return std::ranges::any_of(terms, [&](const Term& other) {
        return other.product == part.product &&
               Int128{other.coefficient} == -Int128{part.coefficient} * term.coefficient;
      });
    };
    if (!parts.empty() && std::ranges::all_of(parts, is_there)) {
      const int64_t coefficient = term.coefficient;
      const FormId rest = linear(without(term.product), numerator, coefficient);
      return linear(rest, quotient(numerator, divisor), narrow(-times));
    }
  }
  return no_form;
}

std::span<const Term> Forms::terms_of(FormId form) const {
  return std::span{terms_}.subspan(forms_[form].first, forms_[form].count);
}

std::span<const AtomId> Forms::factors_of(const Term& term) const {
  const Product& product = products_[term.product];
  return std::span{factors_}.subspan(product.first, product.count);
}

Interval Forms::range_of(const Term& term) const {
  Interval range{term.coefficient, term.coefficient};
  for (const AtomId factor : factors_of(term))
    range = range * atoms_[factor].range;
  return range;
}

FormId Forms::form_of(AtomId id) {
  std::vector factors{id};
  std::vector terms{Term{product(factors), 1}};
  return store(0, terms);
}

FormId Forms::form_of(const Term& term) {
  std::vector terms{term};
  return store(0, terms);
}

std::optional<AtomId> Forms::only_atom(FormId form) const {
  const auto terms = terms_of(form);
  if (forms_[form].constant != 0 || terms.size() != 1 || terms[0].coefficient != 1) {
    return std::nullopt;
  }
  const auto factors = factors_of(terms[0]);
  if (factors.size() != 1) return std::nullopt;
  return factors[0];
}

std::optional<int64_t> Forms::constant_of(FormId form) const {
  if (form == no_form || forms_[form].count != 0) return std::nullopt;
  return forms_[form].constant;
}

FormId Forms::constant(int64_t value) {
  std::vector<Term> none;
  return value == std::numeric_limits<int64_t>::min() ? no_form : store(value, none);
}

FormId Forms::leaf(AtomKind kind, std::uint32_t which, const Interval& range, uint64_t place,
                   unsigned bytes, bool is_signed) {
  if (range.low == range.high) return constant(narrow(range.low));
  return form_of(intern({.kind = kind,
                         .is_signed = is_signed,
                         .bytes = static_cast<std::uint8_t>(bytes),
                         .which = which,
                         .place = place,
                         .range = range}));
}

/// Sets size and depth of an atom with operands.
FormId Forms::compound(Atom atom) {
  atom.size = 1;
  for (std::size_t i = 0; i < atom.operand_count; ++i) {
    if (atom.operands[i] == no_form) return no_form;
    const Stored& operand = forms_[atom.operands[i]];
    atom.size += operand.size;
    atom.depth = std::max<std::uint16_t>(atom.depth, operand.depth + 1);
  }
  if (atom.size > most_size || atom.depth > most_depth) return no_form;
  if (atom.range.low == atom.range.high && fits(atom.range.low)) {
    return constant(narrow(atom.range.low));
  }
  return form_of(intern(atom));
}

FormId Forms::table(std::uint32_t symbol, FormId place, unsigned bytes, bool is_signed) {
  return compound({.kind = AtomKind::table,
                   .is_signed = is_signed,
                   .bytes = static_cast<std::uint8_t>(bytes),
                   .operand_count = 1,
                   .which = symbol,
                   .operands = {place, no_form, no_form},
                   .range = register_range(8 * bytes, is_signed)});
}

// ---------------------------------------------------------------------------------------------
// Sums and products.

FormId Forms::linear(FormId a, FormId b, int64_t by) {
  if (a == no_form || b == no_form) return no_form;
  const Int128 constant = forms_[a].constant + Int128{by} * forms_[b].constant;
  if (!fits(constant)) return no_form;
  std::vector<Term> terms;
  terms.reserve(forms_[a].count + forms_[b].count);
  std::ranges::copy(terms_of(a), std::back_inserter(terms));
  for (const Term& term : terms_of(b)) {
    const Int128 coefficient = Int128{by} * term.coefficient;
    if (!fits(coefficient)) return no_form;
    terms.push_back({term.product, narrow(coefficient)});
  }
  return store(narrow(constant), terms);
}

FormId Forms::add(FormId a, FormId b) {
  return linear(a, b, 1);
}
FormId Forms::subtract(FormId a, FormId b) {
  return linear(a, b, -1);
}
FormId Forms::scale(FormId a, int64_t by) {
  return linear(0, a, by);
}
FormId Forms::opposite(FormId predicate) {
  return linear(constant(1), predicate, -1);
}

FormId Forms::multiply(FormId a, FormId b) {
  if (a == no_form || b == no_form) return no_form;
  if (const auto by = constant_of(a)) return scale(b, *by);
  if (const auto by = constant_of(b)) return scale(a, *by);
  if (std::size_t{forms_[a].count + 1U} * (forms_[b].count + 1U) > 4 * most_terms) return no_form;
  const Int128 constant = Int128{forms_[a].constant} * forms_[b].constant;
  if (!fits(constant)) return no_form;
  std::vector<Term> terms;
  bool is_small = true;
  const auto take = [&](std::uint32_t product, Int128 coefficient) {
    is_small = is_small && fits(coefficient);
    terms.push_back({product, narrow(coefficient)});
  };
  for (const Term& term : terms_of(a))
    take(term.product, Int128{term.coefficient} * forms_[b].constant);
  for (const Term& term : terms_of(b))
    take(term.product, Int128{term.coefficient} * forms_[a].constant);
  for (std::uint32_t i = 0; i < forms_[a].count; ++i) {
    for (std::uint32_t j = 0; j < forms_[b].count; ++j) {
      const Term one = terms_of(a)[i];
      const Term other = terms_of(b)[j];
      std::vector<AtomId> factors{factors_of(one).begin(), factors_of(one).end()};
      std::ranges::copy(factors_of(other), std::back_inserter(factors));
      if (factors.size() > most_factors) return no_form;
      take(product(factors), Int128{one.coefficient} * other.coefficient);
    }
  }
  std::erase_if(terms, [](const Term& term) { return term.coefficient == 0; });
  return is_small ? store(narrow(constant), terms) : no_form;
}

FormId Forms::modulo_power(FormId a, unsigned bits) {
  if (a == no_form || bits >= 64) return a == no_form ? no_form : reread(a, bits, false);
  const Int128 all = Int128{1} << bits;
  const auto small = [&](Int128 value) {
    const Int128 rest = floor_mod(value, all);
    return narrow(rest >= all / 2 ? rest - all : rest);
  };
  // A remainder modulo a multiple of 2^bits is congruent to its dividend.
  const FormId form = modulo(a, small, all);
  return form == no_form ? no_form : reread(form, bits, false);
}

FormId Forms::reread(FormId a, unsigned bits, bool is_signed) {
  if (a == no_form) return no_form;
  const auto is_other = [&](AtomId factor) {
    const Atom& atom = atoms_[factor];
    return (atom.kind == AtomKind::parameter || atom.kind == AtomKind::hidden ||
            atom.kind == AtomKind::table) &&
           atom.bytes * 8U == bits && atom.is_signed != is_signed;
  };
  const auto has_other = [&](const Term& term) {
    return std::ranges::any_of(factors_of(term), is_other);
  };
  if (std::ranges::none_of(terms_of(a), has_other)) return a;
  std::vector<Term> terms{terms_of(a).begin(), terms_of(a).end()};
  for (Term& term : terms) {
    if (!has_other(term)) continue;
    std::vector<AtomId> factors{factors_of(term).begin(), factors_of(term).end()};
    for (AtomId& factor : factors) {
      if (!is_other(factor)) continue;
      Atom twin = atoms_[factor];
      twin.is_signed = is_signed;
      twin.range = register_range(bits, is_signed);
      factor = intern(twin);
    }
    term.product = product(factors);
  }
  return store(forms_[a].constant, terms);
}

// ---------------------------------------------------------------------------------------------
// Division.

namespace {

/// Greatest common divisor of the coefficients and a number.
uint64_t common(std::span<const Term> terms, uint64_t with) {
  for (const Term& term : terms)
    with = std::gcd(
        with, static_cast<uint64_t>(term.coefficient < 0 ? -term.coefficient : term.coefficient));
  return with;
}

}  // namespace

Forms::Parts Forms::parted(FormId form, const std::function<bool(const Term&)>& is_chosen) {
  std::vector<Term> chosen;
  std::vector<Term> others;
  for (const Term& term : terms_of(form))
    (is_chosen(term) ? chosen : others).push_back(term);
  return {store(0, chosen), store(0, others)};
}

FormId Forms::divided_exactly(FormId form, int64_t by) {
  if (form == no_form) return no_form;
  std::vector<Term> terms{terms_of(form).begin(), terms_of(form).end()};
  for (Term& term : terms)
    term.coefficient /= by;
  return store(forms_[form].constant / by, terms);
}

/// (n · q + r) / n is q if r is less than n, for a divisor n of one atom. no_form: not applicable.
FormId Forms::without_divisor(FormId a, FormId b) {
  const auto atom = only_atom(b);
  if (!atom) return no_form;
  std::vector<Term> divided;
  std::vector<Term> rest;
  const std::vector<Term> terms{terms_of(a).begin(), terms_of(a).end()};
  for (const Term& term : terms) {
    std::vector<AtomId> factors{factors_of(term).begin(), factors_of(term).end()};
    const auto found = std::ranges::find(factors, *atom);
    if (found == factors.end() || factors.size() == 1) {
      rest.push_back(term);
    } else {
      factors.erase(found);
      divided.push_back({product(factors), term.coefficient});
    }
  }
  const FormId left = store(forms_[a].constant, rest);
  const FormId difference = subtract(left, b);
  if (difference == no_form || range_of(left).low < 0 || range_of(difference).high >= 0) {
    return no_form;
  }
  return store(0, divided);
}

FormId Forms::quotient(FormId a, FormId b, const Interval& range) {
  if (a == no_form || b == no_form) return no_form;
  const Interval known = both_of(range_of(a), range);
  if (const auto by = constant_of(b)) {
    if (*by == 0) return no_form;
    return *by > 0 ? quotient_by(a, *by, known)
                   : quotient_by(scale(a, -1), -*by, Interval{0, 0} - known);
  }
  const bool is_whole = range_of(b).low >= 0 && known.low >= 0;  // division by 0 has no quotient
  if (is_whole) {
    if (const FormId shorter = without_divisor(a, b); shorter != no_form) return shorter;
  }
  return compound({.kind = AtomKind::quotient,
                   .operand_count = 2,
                   .operands = {a, b, no_form},
                   .range = is_whole ? Interval{0, known.high} : any_number});
}

/// By a positive number; `a` is within `known`.
FormId Forms::quotient_by(FormId a, int64_t by, const Interval& known) {
  if (a == no_form || by == 1) return a;
  if (floor_div(known.low, by) == floor_div(known.high, by)) {
    return constant(narrow(floor_div(known.low, by)));
  }
  // Multiples of the divisor leave; the rest has a remainder for its constant.
  const auto whole = narrow(floor_div(forms_[a].constant, by));
  const auto left_over = narrow(floor_mod(forms_[a].constant, by));
  const Parts parts = parted(a, [&](const Term& term) { return term.coefficient % by == 0; });
  if (parts.chosen == no_form || parts.others == no_form) return no_form;
  const bool takes_all = forms_[parts.chosen].count == 0;
  const FormId outside = add(divided_exactly(parts.chosen, by), constant(whole));
  const FormId inside = add(parts.others, constant(left_over));
  if (outside == no_form || inside == no_form) return no_form;
  const Interval moved{Int128{whole} * by, Int128{whole} * by};
  const Interval inner = takes_all ? both_of(range_of(inside), known - moved) : range_of(inside);
  if (floor_div(inner.low, by) == floor_div(inner.high, by)) {
    return add(outside, constant(narrow(floor_div(inner.low, by))));
  }
  if (const FormId shorter = shorter_quotient(inside, by, inner); shorter != no_form) {
    return add(outside, shorter);
  }
  const Interval values{inner.low <= -unbounded ? -unbounded : floor_div(inner.low, by),
                        inner.high >= unbounded ? unbounded : floor_div(inner.high, by)};
  return add(outside, compound({.kind = AtomKind::quotient,
                                .operand_count = 2,
                                .operands = {inside, constant(by), no_form},
                                .range = values}));
}

/// For a dividend without multiples of the divisor. no_form: it cannot be simplified.
FormId Forms::shorter_quotient(FormId inside, int64_t by, const Interval& range) {
  const auto shared = static_cast<int64_t>(common(terms_of(inside), static_cast<uint64_t>(by)));
  if (shared > 1) {
    const FormId less =
        subtract(inside, constant(narrow(floor_mod(forms_[inside].constant, shared))));
    return quotient(divided_exactly(less, shared), constant(by / shared),
                    {floor_div(range.low, shared), floor_div(range.high, shared)});
  }
  // A part that is less than a common divisor of all others changes nothing.
  for (const int64_t g : divisors_shared(inside, by)) {
    const Parts parts = small_part(inside, g);
    if (parts.chosen == no_form || parts.others == no_form) continue;
    if (range_of(parts.others).within({0, g - 1})) {
      return quotient(divided_exactly(parts.chosen, g), constant(by / g));
    }
  }
  // Combines a quotient of a quotient.
  const FormId plain = subtract(inside, constant(forms_[inside].constant));
  const auto atom = only_atom(plain);
  if (!atom || atoms_[*atom].kind != AtomKind::quotient) return no_form;
  const Atom nested = atoms_[*atom];
  const auto first = constant_of(nested.operands[1]);
  if (!first || *first <= 0 || !fits(Int128{*first} * by) ||
      !fits(Int128{*first} * forms_[inside].constant)) {
    return no_form;
  }
  const FormId numerator = add(nested.operands[0], constant(*first * forms_[inside].constant));
  return quotient(numerator, constant(*first * by));
}

/// The greatest common divisors of `by` and each coefficient, and all of them: from the largest to
/// 2.
std::vector<int64_t> Forms::divisors_shared(FormId form, int64_t by) const {
  const auto terms = terms_of(form);
  const auto most = static_cast<uint64_t>(by);
  std::vector divisors{static_cast<int64_t>(common(terms, most))};
  for (const Term& term : terms)
    divisors.push_back(static_cast<int64_t>(common({&term, 1}, most)));
  std::ranges::sort(divisors, std::greater{});
  // Not std::ranges::unique, which clang 14 cannot compile.
  divisors.erase(std::unique(divisors.begin(), divisors.end()), divisors.end());
  std::erase(divisors, 1);
  return divisors;
}

/// The part that is a multiple of g, with as much of the constant as possible, and the rest.
Forms::Parts Forms::small_part(FormId form, int64_t g) {
  const Parts parts = parted(form, [&](const Term& term) { return term.coefficient % g == 0; });
  const auto rest = narrow(floor_mod(forms_[form].constant, g));
  return {add(parts.chosen, constant(forms_[form].constant - rest)),
          add(parts.others, constant(rest))};
}

/// Reduces the coefficients modulo a number; inner remainders whose divisor is a multiple of it are
/// removed.
FormId Forms::modulo(FormId a, const std::function<int64_t(Int128)>& small, Int128 all) {
  FormId form = constant(small(forms_[a].constant));
  const std::vector<Term> terms{terms_of(a).begin(), terms_of(a).end()};
  std::vector<Term> kept;
  for (const Term& term : terms) {
    const int64_t coefficient = small(term.coefficient);
    const auto factors = factors_of(term);
    if (factors.size() == 1 && atoms_[factors[0]].kind == AtomKind::remainder) {
      const Atom inner = atoms_[factors[0]];
      const auto divisor = constant_of(inner.operands[1]);
      if (divisor && Int128{*divisor} * coefficient % all == 0) {
        form = add(form, scale(modulo(inner.operands[0], small, all), coefficient));
        continue;
      }
    }
    if (coefficient != 0) kept.push_back({term.product, coefficient});
  }
  return add(form, store(0, kept));
}

FormId Forms::remainder(FormId a, FormId b, const Interval& range) {
  if (a == no_form || b == no_form) return no_form;
  const Interval known = both_of(range_of(a), range);
  if (const auto by = constant_of(b)) return *by > 0 ? remainder_by(a, *by, known) : no_form;
  Interval values = any_number;
  if (range_of(b).low >= 0) {
    values = {0, bound_sum(range_of(b).high, -1)};
    if (known.low >= 0) {
      const FormId difference = subtract(a, b);
      if (difference != no_form && range_of(difference).high < 0) return a;
      values.high = std::min(values.high, known.high);
    }
  }
  return compound({.kind = AtomKind::remainder,
                   .operand_count = 2,
                   .operands = {a, b, no_form},
                   .range = values});
}

/// By a positive number; `a` is within `known`.
FormId Forms::remainder_by(FormId a, int64_t by, const Interval& known) {
  if (known.within({0, by - 1})) return a;
  const bool is_wide = by > (int64_t{1} << 16U);
  const auto small = [&](Int128 value) {
    const Int128 rest = floor_mod(value, by);
    return narrow(is_wide && rest > by / 2 ? rest - by : rest);
  };
  FormId form = modulo(a, small, by);
  // The dividend of an inner remainder may exceed the modulus again.
  if (form != no_form) form = modulo(form, small, by);
  if (form == no_form || range_of(form).within({0, by - 1})) return form;
  for (const int64_t g : divisors_shared(form, by)) {
    const Parts parts = small_part(form, g);
    if (parts.chosen == no_form || parts.others == no_form) return no_form;
    if (!range_of(parts.others).within({0, g - 1})) continue;
    const FormId whole = remainder(divided_exactly(parts.chosen, g), constant(by / g));
    return add(scale(whole, g), parts.others);
  }
  return compound({.kind = AtomKind::remainder,
                   .operand_count = 2,
                   .operands = {form, constant(by), no_form},
                   .range = {0, by - 1}});
}

FormId Forms::truncated(AtomKind kind, FormId a, FormId b) {
  if (a == no_form || b == no_form) return no_form;
  const bool is_quotient = kind == AtomKind::truncated_quotient;
  if (range_of(a).low >= 0 && range_of(b).low >= 0) {
    return is_quotient ? quotient(a, b) : remainder(a, b);
  }
  const auto by = constant_of(b);
  if (by && *by == 0) return no_form;
  const Interval& range = range_of(a);
  const Int128 most = std::max(bound_product(range.low, -1), range.high);
  return compound(
      {.kind = kind, .operand_count = 2, .operands = {a, b, no_form}, .range = {-most, most}});
}

FormId Forms::power(FormId exponent) {
  if (exponent == no_form) return no_form;
  const Interval& range = range_of(exponent);
  const Int128 low = std::clamp<Int128>(range.low, 0, 62);
  const Int128 high = std::clamp<Int128>(range.high, 0, 62);
  return compound({.kind = AtomKind::power,
                   .operand_count = 1,
                   .operands = {exponent, no_form, no_form},
                   .range = {Int128{1} << static_cast<unsigned>(low),
                             Int128{1} << static_cast<unsigned>(high)}});
}

// ---------------------------------------------------------------------------------------------
// Choices and bits.

FormId Forms::extreme(AtomKind kind, FormId a, FormId b) {
  const FormId difference = subtract(a, b);
  if (difference == no_form) return no_form;
  const bool wants_less = kind == AtomKind::minimum;
  if (range_of(difference).high <= 0) return wants_less ? a : b;
  if (range_of(difference).low >= 0) return wants_less ? b : a;
  const Interval& one = range_of(a);
  const Interval& other = range_of(b);
  const Interval range =
      wants_less ? Interval{std::min(one.low, other.low), std::min(one.high, other.high)}
                 : Interval{std::max(one.low, other.low), std::max(one.high, other.high)};
  return compound({.kind = kind,
                   .operand_count = 2,
                   .operands = {std::min(a, b), std::max(a, b), no_form},
                   .range = range});
}

FormId Forms::select(FormId predicate, FormId yes, FormId no, const Interval& range) {
  if (predicate == no_form || yes == no_form || no == no_form) return no_form;
  if (yes == no) return yes;
  if (const auto known = constant_of(predicate)) return *known != 0 ? yes : no;
  if (forms_[predicate].constant == 1) return select(opposite(predicate), no, yes, range);
  const Interval& one = range_of(yes);
  const Interval& other = range_of(no);
  return compound(
      {.kind = AtomKind::select,
       .operand_count = 3,
       .operands = {predicate, yes, no},
       .range = both_of({std::min(one.low, other.low), std::max(one.high, other.high)}, range)});
}

FormId Forms::negative(FormId a, const Interval& range) {
  if (a == no_form) return no_form;
  const Interval known = both_of(range_of(a), range);
  if (known.high < 0) return constant(1);
  if (known.low >= 0) return constant(0);
  const auto g = static_cast<int64_t>(common(terms_of(a), 0));
  if (g > 1) {
    std::vector<Term> terms{terms_of(a).begin(), terms_of(a).end()};
    for (Term& term : terms)
      term.coefficient /= g;
    a = store(narrow(floor_div(forms_[a].constant, g)), terms);
  }
  return compound({.kind = AtomKind::negative,
                   .operand_count = 1,
                   .operands = {a, no_form, no_form},
                   .range = {0, 1}});
}

FormId Forms::zero(FormId a, const Interval& range) {
  if (a == no_form) return no_form;
  const Interval known = both_of(range_of(a), range);
  if (known.high < 0 || known.low > 0) return constant(0);
  if (const auto value = constant_of(a)) return constant(*value == 0 ? 1 : 0);
  auto g = static_cast<int64_t>(common(terms_of(a), 0));
  if (forms_[a].constant % g != 0) return constant(0);
  if (terms_of(a)[0].coefficient < 0) g = -g;
  std::vector<Term> terms{terms_of(a).begin(), terms_of(a).end()};
  for (Term& term : terms)
    term.coefficient /= g;
  a = store(forms_[a].constant / g, terms);
  return compound({.kind = AtomKind::zero,
                   .operand_count = 1,
                   .operands = {a, no_form, no_form},
                   .range = {0, 1}});
}

FormId Forms::both(FormId a, FormId b) {
  if (a == no_form || b == no_form) return no_form;
  if (a == b) return a;
  if (const auto known = constant_of(a)) return *known != 0 ? b : a;
  if (const auto known = constant_of(b)) return *known != 0 ? a : b;
  if (a == opposite(b)) return constant(0);
  return compound({.kind = AtomKind::both,
                   .operand_count = 2,
                   .operands = {std::min(a, b), std::max(a, b), no_form},
                   .range = {0, 1}});
}

FormId Forms::either(FormId a, FormId b) {
  if (a == no_form || b == no_form) return no_form;
  if (a == b) return a;
  if (const auto known = constant_of(a)) return *known != 0 ? a : b;
  if (const auto known = constant_of(b)) return *known != 0 ? b : a;
  if (a == opposite(b)) return constant(1);
  return compound({.kind = AtomKind::either,
                   .operand_count = 2,
                   .operands = {std::min(a, b), std::max(a, b), no_form},
                   .range = {0, 1}});
}

/// Bit operations with a number whose bits are all equal, or form runs. no_form: not applicable.
FormId Forms::masked(AtomKind kind, FormId a, FormId b) {
  const auto mask = constant_of(b);
  if (!mask) return no_form;
  const bool is_and = kind == AtomKind::bit_and;
  if (const auto one = constant_of(a)) {
    return constant(is_and ? *one & *mask : kind == AtomKind::bit_or ? *one | *mask : *one ^ *mask);
  }
  if (*mask == 0) return is_and ? b : a;
  if (*mask == -1) {
    return is_and ? a : kind == AtomKind::bit_or ? b : subtract(constant(-1), a);
  }
  if (!is_and) return no_form;
  const auto zeros = static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(*mask)));
  if (range_of(a).within({0, (Int128{1} << zeros) - 1})) return constant(0);
  // A run of ones is the difference of two remainders.
  const auto low = static_cast<int64_t>(power_in(*mask));
  const Int128 above = Int128{*mask} + low;
  if (above == 0) return subtract(a, remainder(a, constant(low)));
  if (!is_power(above) || !fits(above)) return no_form;
  return subtract(remainder(a, constant(narrow(above))), remainder(a, constant(low)));
}

/// Whether no bit can be 1 in both operands.
bool Forms::are_apart(FormId a, FormId b) {
  const auto none = [](const Atom&) { return uint64_t{1}; };
  const auto is_below = [&](FormId low, FormId high) {
    return range_of(low).within({0, Int128{divisor_of(high, none)} - 1});
  };
  if (is_below(b, a) || is_below(a, b)) return true;
  const auto mask = constant_of(b);
  if (!mask || *mask <= 0 || *mask >= (int64_t{1} << 32U)) return false;
  // The mask covers bits at which the sum has none: between its multiples of a power of two and the
  // rest.
  const auto above = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(*mask) + 1));
  const Parts parts = small_part(a, above);
  const Int128 most = Int128{static_cast<int64_t>(power_in(*mask))} - 1;
  return parts.others != no_form && range_of(parts.others).within({0, most});
}

namespace {

Interval bits_range(AtomKind kind, const Interval& a, const Interval& b) {
  if (kind == AtomKind::bit_and && (a.low >= 0 || b.low >= 0)) {
    if (a.low < 0) return {0, b.high};
    return {0, b.low < 0 ? a.high : std::min(a.high, b.high)};
  }
  if (a.low < 0 || b.low < 0) return any_number;
  Int128 most = 1;
  while (most <= std::max(a.high, b.high))
    most *= 2;
  return {0, most - 1};
}

}  // namespace

FormId Forms::bits(AtomKind kind, FormId a, FormId b) {
  if (a == no_form || b == no_form) return no_form;
  if (constant_of(a)) std::swap(a, b);
  if (const FormId simple = masked(kind, a, b); simple != no_form) return simple;
  if (a == b) return kind == AtomKind::bit_xor ? constant(0) : a;
  if (kind == AtomKind::bit_and) {
    // 0 or −1 lets nothing or everything through.
    for (const auto& [sign, other] : {std::pair{a, b}, std::pair{b, a}}) {
      if (range_of(sign) == Interval{-1, 0}) return select(scale(sign, -1), other, constant(0));
    }
  } else if (are_apart(a, b)) {
    return add(a, b);
  }
  return compound({.kind = kind,
                   .operand_count = 2,
                   .operands = {std::min(a, b), std::max(a, b), no_form},
                   .range = bits_range(kind, range_of(a), range_of(b))});
}

// ---------------------------------------------------------------------------------------------
// Questions.

uint64_t Forms::divisor_of(FormId form,
                           const std::function<uint64_t(const Atom&)>& alignment) const {
  uint64_t divisor = power_in(forms_[form].constant);
  for (const Term& term : terms_of(form))
    divisor = std::min(divisor, divisor_of(term, alignment));
  return divisor;
}

uint64_t Forms::divisor_of(const Term& term,
                           const std::function<uint64_t(const Atom&)>& alignment) const {
  uint64_t of_term = power_in(term.coefficient);
  for (const AtomId factor : factors_of(term)) {
    const Atom& atom = atoms_[factor];
    const auto of = [&](std::size_t operand) {
      return divisor_of(atom.operands[operand], alignment);
    };
    uint64_t of_factor = 1;
    switch (atom.kind) {
      case AtomKind::remainder:
      case AtomKind::minimum:
      case AtomKind::maximum:
      case AtomKind::bit_or:
      case AtomKind::bit_xor:
        of_factor = std::min(of(0), of(1));
        break;
      case AtomKind::select:
        of_factor = std::min(of(1), of(2));
        break;
      case AtomKind::bit_and:
        of_factor = std::max(of(0), of(1));
        break;
      default:
        if (atom.operand_count == 0) of_factor = alignment(atom);
    }
    of_term = std::min(most_divisor, of_term * of_factor);
  }
  return of_term;
}

void Forms::visit(FormId form, const std::function<void(AtomId)>& see) const {
  for (const Term& term : terms_of(form))
    visit(term, see);
}

void Forms::visit(const Term& term, const std::function<void(AtomId)>& see) const {
  for (const AtomId factor : factors_of(term)) {
    see(factor);
    for (std::size_t i = 0; i < atoms_[factor].operand_count; ++i)
      visit(atoms_[factor].operands[i], see);
  }
}

bool Forms::mentions(FormId form, const std::function<bool(const Atom&)>& is_meant) const {
  bool found = false;
  visit(form, [&](AtomId id) { found = found || is_meant(atoms_[id]); });
  return found;
}

/// The atom with other operands.
FormId Forms::rebuilt(const Atom& atom, const std::array<FormId, 3>& now) {
  switch (atom.kind) {
    case AtomKind::table:
      return table(atom.which, now[0], atom.bytes, atom.is_signed);
    case AtomKind::quotient:
      return quotient(now[0], now[1]);
    case AtomKind::remainder:
      return remainder(now[0], now[1]);
    case AtomKind::truncated_quotient:
    case AtomKind::truncated_remainder:
      return truncated(atom.kind, now[0], now[1]);
    case AtomKind::power:
      return power(now[0]);
    case AtomKind::minimum:
    case AtomKind::maximum:
      return extreme(atom.kind, now[0], now[1]);
    case AtomKind::select:
      return select(now[0], now[1], now[2]);
    case AtomKind::negative:
      return negative(now[0]);
    case AtomKind::zero:
      return zero(now[0]);
    case AtomKind::both:
      return both(now[0], now[1]);
    case AtomKind::either:
      return either(now[0], now[1]);
    default:
      return bits(atom.kind, now[0], now[1]);
  }
}

FormId Forms::replaced_atom(AtomId id, const Replacement& by, Replaced& replaced) {
  if (const auto known = replaced.find(id); known != replaced.end()) return known->second;
  const auto make = [&] {
    if (const auto wanted = by(id)) return *wanted;
    const Atom atom = atoms_[id];
    std::array<FormId, 3> now = atom.operands;
    for (std::size_t i = 0; i < atom.operand_count; ++i)
      now[i] = replace(atom.operands[i], by, replaced);
    return now == atom.operands ? form_of(id) : rebuilt(atom, now);
  };
  const FormId with = make();
  replaced.emplace(id, with);
  return with;
}

FormId Forms::replace(FormId form, const Replacement& by, Replaced& replaced) {
  if (form == no_form) return no_form;
  const std::vector<Term> terms{terms_of(form).begin(), terms_of(form).end()};
  FormId sum = constant(forms_[form].constant);
  bool has_changed = false;
  for (const Term& term : terms) {
    const std::vector<AtomId> factors{factors_of(term).begin(), factors_of(term).end()};
    FormId made = constant(term.coefficient);
    for (const AtomId factor : factors) {
      const FormId with = replaced_atom(factor, by, replaced);
      if (with == no_form) return no_form;
      has_changed = has_changed || only_atom(with) != std::optional{factor};
      made = multiply(made, with);
    }
    sum = add(sum, made);
  }
  return has_changed ? sum : form;
}

std::optional<Int128> Forms::evaluate_atom(const Atom& atom, const AtomValues& values) const {
  if (atom.operand_count == 0 || atom.kind == AtomKind::table) return values(atom);
  const auto a = evaluate(atom.operands[0], values);
  if (!a) return std::nullopt;
  switch (atom.kind) {
    case AtomKind::negative:
      return *a < 0 ? 1 : 0;
    case AtomKind::zero:
      return *a == 0 ? 1 : 0;
    case AtomKind::power:
      if (*a < 0 || *a > 62) return std::nullopt;
      return Int128{1} << static_cast<unsigned>(*a);
    case AtomKind::select:
      return evaluate(atom.operands[*a != 0 ? 1 : 2], values);
    default:
      break;
  }
  const auto b = evaluate(atom.operands[1], values);
  if (!b) return std::nullopt;
  switch (atom.kind) {
    case AtomKind::quotient:
    case AtomKind::remainder:
    case AtomKind::truncated_quotient:
    case AtomKind::truncated_remainder:
      if (*b == 0) return std::nullopt;
      if (atom.kind == AtomKind::quotient) return floor_div(*a, *b);
      if (atom.kind == AtomKind::remainder) return floor_mod(*a, *b);
      return atom.kind == AtomKind::truncated_quotient ? *a / *b : *a % *b;
    case AtomKind::minimum:
      return std::min(*a, *b);
    case AtomKind::maximum:
      return std::max(*a, *b);
    case AtomKind::both:
    case AtomKind::bit_and:
      return *a & *b;
    case AtomKind::either:
    case AtomKind::bit_or:
      return *a | *b;
    default:
      return *a ^ *b;
  }
}

std::optional<Int128> Forms::evaluate(FormId form, const AtomValues& values) const {
  if (form == no_form) return std::nullopt;
  Int128 sum = forms_[form].constant;
  for (const Term& term : terms_of(form)) {
    Int128 product = term.coefficient;
    for (const AtomId factor : factors_of(term)) {
      const auto value = evaluate_atom(atoms_[factor], values);
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

// ---------------------------------------------------------------------------------------------
// Text.

std::string Forms::factor_text(FormId form, const AtomNames& names) const {
  std::string plain = text(form, names);
  const bool is_number = constant_of(form).value_or(-1) >= 0;
  if (is_number || only_atom(form)) return plain;  // atoms have their own brackets
  return "(" + plain + ")";
}

std::string Forms::atom_text(AtomId id, const AtomNames& names) const {
  const Atom& atom = atoms_[id];
  if (atom.operand_count == 0) return names(atom);
  const auto infix = [&](std::string_view sign) {
    return fmt::format("({} {} {})", factor_text(atom.operands[0], names), sign,
                       factor_text(atom.operands[1], names));
  };
  const auto call = [&](std::string_view name) {
    return fmt::format("{}({}, {})", name, text(atom.operands[0], names),
                       text(atom.operands[1], names));
  };
  switch (atom.kind) {
    case AtomKind::table:
      return fmt::format("{}[byte {}]", names(atom), text(atom.operands[0], names));
    case AtomKind::quotient:
      if (range_of(atom.operands[0]).low < 0) {
        return fmt::format("floor({} / {})", factor_text(atom.operands[0], names),
                           factor_text(atom.operands[1], names));
      }
      return infix("/");
    case AtomKind::truncated_quotient:
      return infix("/");
    case AtomKind::remainder:
      return infix(range_of(atom.operands[0]).low < 0 ? "mod" : "%");
    case AtomKind::truncated_remainder:
      return infix("%");
    case AtomKind::power:
      return fmt::format("2^{}", factor_text(atom.operands[0], names));
    case AtomKind::minimum:
      return call("min");
    case AtomKind::maximum:
      return call("max");
    case AtomKind::select:
      return fmt::format("({} ? {} : {})", predicate_text(atom.operands[0], true, names),
                         text(atom.operands[1], names), text(atom.operands[2], names));
    case AtomKind::bit_and:
      return infix("&");
    case AtomKind::bit_or:
      return infix("|");
    case AtomKind::bit_xor:
      return infix("^");
    default:
      return "[" + condition_text(atom, true, names) + "]";
  }
}

/// The text of a term without its sign, and without one of its factors.
std::string Forms::term_text(const Term& term, const AtomNames& names,
                             std::optional<AtomId> left_out) const {
  std::string out;
  const int64_t size = std::abs(term.coefficient);
  if (size != 1) out = fmt::format("{}", size);
  for (const AtomId factor : factors_of(term)) {
    if (factor == left_out) {
      left_out.reset();
      continue;
    }
    if (!out.empty()) out += "·";
    out += atom_text(factor, names);
  }
  return out;
}

/// The largest coefficient that also divides another one; 1 if there is none.
int64_t Forms::shared_coefficient(std::span<const Term> terms) {
  int64_t best = 1;
  for (const Term& term : terms) {
    const int64_t size = std::abs(term.coefficient);
    const auto divides = [&](const Term& other) { return other.coefficient % size == 0; };
    if (size > best && std::ranges::count_if(terms, divides) > 1) best = size;
  }
  return best;
}

/// Whether the term is a pointer or the address of a variable.
bool Forms::is_address(const Term& term) const {
  const auto factors = factors_of(term);
  if (term.coefficient != 1 || factors.size() != 1) return false;
  const Atom& atom = atoms_[factors[0]];
  return atom.kind == AtomKind::symbol || (atom.kind == AtomKind::parameter && atom.bytes == 8);
}

bool Forms::has_factor(const Term& term, AtomId factor) const {
  const auto factors = factors_of(term);
  return factors.size() > 1 && std::ranges::count(factors, factor) > 0;
}

/// The factor that most terms share, in addition to other factors.
std::optional<AtomId> Forms::shared_factor(std::span<const Term> terms) const {
  std::optional<AtomId> shared;
  std::ptrdiff_t most = 1;
  for (const Term& term : terms) {
    for (const AtomId factor : factors_of(term)) {
      const auto has = [&](const Term& other) { return has_factor(other, factor); };
      const auto count = std::ranges::count_if(terms, has);
      if (count > most) {
        most = count;
        shared = factor;
      }
    }
  }
  return shared;
}

namespace {

struct Piece {
  std::string text;
  bool is_minus = false;
};

/// Positive terms first, then negative ones.
std::string sum_of(std::vector<Piece> pieces) {
  std::stable_partition(pieces.begin(), pieces.end(),
                        [](const Piece& piece) { return !piece.is_minus; });
  std::string out;
  for (const Piece& piece : pieces) {
    if (!out.empty()) {
      out += piece.is_minus ? " − " : " + ";
    } else if (piece.is_minus) {
      out = "−";
    }
    out += piece.text;
  }
  return out;
}

/// Removes the chosen terms from `terms` and returns them.
template <class Chosen>
std::vector<Term> taken(std::vector<Term>& terms, const Chosen& is_chosen) {
  std::vector<Term> found;
  std::ranges::copy_if(terms, std::back_inserter(found), is_chosen);
  std::erase_if(terms, is_chosen);
  return found;
}

}  // namespace

/// The factor times the sum of the other factors; removes those terms.
std::string Forms::bracket_text(std::vector<Term>& terms, AtomId factor,
                                const AtomNames& names) const {
  std::vector<Piece> inner;
  const auto has = [&](const Term& term) { return has_factor(term, factor); };
  for (const Term& term : taken(terms, has))
    inner.push_back({term_text(term, names, factor), term.coefficient < 0});
  return atom_text(factor, names) + "·(" + sum_of(std::move(inner)) + ")";
}

/// Factors out common coefficients, largest first, then common factors.
std::string Forms::sum_text(int64_t constant, std::vector<Term> terms,
                            const AtomNames& names) const {
  std::vector<Piece> pieces;
  const auto is_base = [&](const Term& term) { return is_address(term); };
  for (const Term& term : taken(terms, is_base))
    pieces.push_back({term_text(term, names, {})});
  std::ranges::stable_sort(terms, [](const Term& a, const Term& b) {
    if ((a.coefficient > 0) != (b.coefficient > 0)) return a.coefficient > 0;
    return std::abs(a.coefficient) > std::abs(b.coefficient);
  });
  const auto all = static_cast<int64_t>(common(terms, 0));
  const auto bracket = [&](int64_t by, int64_t inner, std::vector<Term> group) {
    for (Term& term : group)
      term.coefficient /= by;
    pieces.push_back({fmt::format("{}·({})", by, sum_text(inner, std::move(group), names))});
  };
  if (all > 1 && terms.size() > 1) {
    const bool takes_constant = constant % all == 0;
    bracket(all, takes_constant ? constant / all : 0, std::exchange(terms, {}));
    if (takes_constant) constant = 0;
  }
  while (!terms.empty()) {
    if (const int64_t by = shared_coefficient(terms); by > 1) {
      bracket(by, 0, taken(terms, [&](const Term& term) { return term.coefficient % by == 0; }));
    } else if (const auto factor = shared_factor(terms)) {
      pieces.push_back({bracket_text(terms, *factor, names)});
    } else {
      pieces.push_back({term_text(terms.front(), names, {}), terms.front().coefficient < 0});
      terms.erase(terms.begin());
    }
  }
  std::string out = sum_of(std::move(pieces));
  if (out.empty()) return fmt::format("{}{}", constant < 0 ? "−" : "", std::abs(constant));
  if (constant != 0) out += fmt::format(" {} {}", constant < 0 ? "−" : "+", std::abs(constant));
  return out;
}

std::string Forms::text(FormId form, const AtomNames& names) const {
  if (form == no_form) return "?";
  return sum_text(forms_[form].constant, {terms_of(form).begin(), terms_of(form).end()}, names);
}

std::string Forms::condition_text(const Atom& atom, bool truth, const AtomNames& names) const {
  const auto two = [&](std::string_view word) {
    return fmt::format("({} {} {})", predicate_text(atom.operands[0], truth, names), word,
                       predicate_text(atom.operands[1], truth, names));
  };
  if (atom.kind == AtomKind::both) return two(truth ? "and" : "or");
  if (atom.kind == AtomKind::either) return two(truth ? "or" : "and");
  // Positive terms on the left, negative ones on the right.
  std::vector<Term> left;
  std::vector<Term> right;
  for (Term term : terms_of(atom.operands[0])) {
    if (term.coefficient > 0) {
      left.push_back(term);
    } else {
      term.coefficient = -term.coefficient;
      right.push_back(term);
    }
  }
  int64_t offset = forms_[atom.operands[0]].constant;
  std::string_view sign = truth ? "=" : "≠";
  if (atom.kind == AtomKind::negative) {
    const bool may_be_equal = offset == -1 && !right.empty();
    if (may_be_equal) offset = 0;
    sign = may_be_equal ? (truth ? "≤" : ">") : (truth ? "<" : "≥");
  }
  return fmt::format("{} {} {}", sum_text(std::max(offset, int64_t{0}), left, names), sign,
                     sum_text(std::max(-offset, int64_t{0}), right, names));
}

std::string Forms::predicate_text(FormId form, bool truth, const AtomNames& names) const {
  if (form == no_form) return "?";
  if (const auto known = constant_of(form)) return (*known != 0) == truth ? "true" : "false";
  const auto terms = terms_of(form);
  if (terms.size() == 1 && factors_of(terms[0]).size() == 1) {
    if (forms_[form].constant == 1 && terms[0].coefficient == -1) truth = !truth;
    const Atom& atom = atoms_[factors_of(terms[0])[0]];
    switch (atom.kind) {
      case AtomKind::both:
      case AtomKind::either:
      case AtomKind::negative:
      case AtomKind::zero:
        return condition_text(atom, truth, names);
      case AtomKind::select:
        return fmt::format("({} ? {} : {})", predicate_text(atom.operands[0], true, names),
                           predicate_text(atom.operands[1], truth, names),
                           predicate_text(atom.operands[2], truth, names));
      default:
        break;
    }
    return fmt::format("{}{}", truth ? "" : "not ", atom_text(factors_of(terms[0])[0], names));
  }
  return fmt::format("{}{}", truth ? "" : "not ", text(form, names));
}

// NOLINTEND(misc-no-recursion)

}  // namespace strata::access
