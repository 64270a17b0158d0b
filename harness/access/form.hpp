// Symbolic integers: sums of products of indices, parameters and values that cannot be expressed by
// them, with exact arithmetic. A form has one integer value per thread. Registers equal it modulo
// 2^bits; the caller knows the widths (kernel_forms.hpp).
#pragma once

#include "harness/access/ptx.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace strata::access {

/// Exact for sums and products of 64-bit numbers.
// NOLINTNEXTLINE(modernize-use-using): a using cannot be an extension
__extension__ typedef __int128 Int128;

/// From low to high, both included. Bounds beyond ±unbounded count as none.
struct Interval {
  Int128 low = 0;
  Int128 high = 0;

  [[nodiscard]] bool within(const Interval& other) const {
    return low >= other.low && high <= other.high;
  }
  bool operator==(const Interval&) const = default;
};
inline constexpr Int128 unbounded = Int128{1} << 120;
inline constexpr Interval any_number{-unbounded, unbounded};
/// What a register of so many bits holds, read as unsigned or signed.
[[nodiscard]] Interval register_range(unsigned bits, bool is_signed);
[[nodiscard]] Interval operator+(const Interval& a, const Interval& b);
[[nodiscard]] Interval operator-(const Interval& a, const Interval& b);
[[nodiscard]] Interval operator*(const Interval& a, const Interval& b);
/// The intersection; `a` if it is empty, which means code that never runs.
[[nodiscard]] Interval both_of(const Interval& a, const Interval& b);

using FormId = std::uint32_t;
using AtomId = std::uint32_t;
/// Replaces a form that is too large or has coefficients beyond 64 bits. Every result of it is no
/// form either.
inline constexpr FormId no_form = 0xffffffff;

/// Factors of the products. Up to `hidden` their values come from a launch or from memory; the
/// others have operands.
enum class AtomKind : std::uint8_t {
  special,    ///< which: ptx::Special
  parameter,  ///< which: symbol; place: byte in it
  symbol,     ///< the address of a variable; which: symbol
  counter,    ///< iterations of loop `which` completed so far
  last_pass,  ///< that number in the last iteration of loop `which`
  warp,       ///< number of a warp; which: its role in prove.cpp
  hidden,     ///< which: index of its Hidden in kernel_forms.hpp
  table,      ///< part of parameter `which` at the byte given by the operand
  quotient,   ///< of operands 0 and 1, rounded down
  remainder,  ///< of operands 0 and 1, with the divisor's sign
  truncated_quotient,
  truncated_remainder,
  power,  ///< 2 to the power of the operand, from 0 to 62
  minimum,
  maximum,
  select,    ///< operand 1 if operand 0 is 1, otherwise operand 2
  negative,  ///< 1 if the operand is below 0, otherwise 0
  zero,      ///< 1 if the operand is 0, otherwise 0
  both,      ///< both of two numbers that are 0 or 1
  either,
  bit_and,  ///< on infinite two's complements
  bit_or,
  bit_xor
};

struct Atom {
  AtomKind kind = AtomKind::special;
  bool is_signed = false;  ///< parameter, table, hidden: how its bytes are read
  std::uint8_t bytes = 0;  ///< of those
  std::uint8_t operand_count = 0;
  std::uint16_t depth = 0;  ///< of operands in operands
  std::uint32_t which = 0;
  std::uint64_t place = 0;
  std::array<FormId, 3> operands{no_form, no_form, no_form};
  Interval range = any_number;
  std::uint32_t size = 1;  ///< atoms in it, counted as often as they are written
};

/// coefficient × product of atoms.
struct Term {
  std::uint32_t product = 0;
  std::int64_t coefficient = 0;
};

/// Values of the atoms without operands; nothing for unknown ones.
using AtomValues = std::function<std::optional<Int128>(const Atom&)>;
using AtomNames = std::function<std::string(const Atom&)>;

/// All forms of a kernel. Equal forms have equal ids; forms beyond the limits are no_form.
class Forms {
 public:
  static constexpr std::size_t most_terms = 64;
  static constexpr std::size_t most_factors = 6;
  static constexpr std::uint32_t most_size = 400;
  static constexpr std::uint16_t most_depth = 32;
  static constexpr std::size_t most_forms = std::size_t{1} << 20;

  Forms();

  [[nodiscard]] FormId constant(std::int64_t value);
  /// An atom without operands. `range`: of its value.
  [[nodiscard]] FormId leaf(AtomKind kind, std::uint32_t which, const Interval& range,
                            std::uint64_t place = 0, unsigned bytes = 0, bool is_signed = false);
  [[nodiscard]] FormId table(std::uint32_t symbol, FormId place, unsigned bytes, bool is_signed);

  [[nodiscard]] FormId add(FormId a, FormId b);
  [[nodiscard]] FormId subtract(FormId a, FormId b);
  [[nodiscard]] FormId multiply(FormId a, FormId b);
  [[nodiscard]] FormId scale(FormId a, std::int64_t by);
  /// A form congruent modulo 2^bits, with small coefficients.
  [[nodiscard]] FormId modulo_power(FormId a, unsigned bits);
  /// As modulo_power, with whole-register atoms read as signed or unsigned: as the range wants.
  [[nodiscard]] FormId reread(FormId a, unsigned bits, bool is_signed);

  // `range` is known to contain the first operand (of a selection, the result) in this place.
  // Division by 0 has no value, so that an unsigned divisor is at least 1.
  [[nodiscard]] FormId quotient(FormId a, FormId b, const Interval& range = any_number);
  [[nodiscard]] FormId remainder(FormId a, FormId b, const Interval& range = any_number);
  [[nodiscard]] FormId truncated(AtomKind kind, FormId a, FormId b);
  [[nodiscard]] FormId power(FormId exponent);
  [[nodiscard]] FormId extreme(AtomKind kind, FormId a, FormId b);
  [[nodiscard]] FormId select(FormId predicate, FormId yes, FormId no,
                              const Interval& range = any_number);
  [[nodiscard]] FormId negative(FormId a, const Interval& range = any_number);
  [[nodiscard]] FormId zero(FormId a, const Interval& range = any_number);
  [[nodiscard]] FormId both(FormId a, FormId b);
  [[nodiscard]] FormId either(FormId a, FormId b);
  [[nodiscard]] FormId opposite(FormId predicate);
  [[nodiscard]] FormId bits(AtomKind kind, FormId a, FormId b);

  [[nodiscard]] std::optional<std::int64_t> constant_of(FormId form) const;
  [[nodiscard]] std::int64_t offset_of(FormId form) const { return forms_[form].constant; }
  [[nodiscard]] std::span<const Term> terms_of(FormId form) const;
  [[nodiscard]] std::span<const AtomId> factors_of(const Term& term) const;
  [[nodiscard]] const Atom& atom(AtomId id) const { return atoms_[id]; }
  [[nodiscard]] FormId form_of(AtomId id);
  [[nodiscard]] FormId form_of(const Term& term);
  /// The atom if the form is that atom, times 1, plus 0.
  [[nodiscard]] std::optional<AtomId> only_atom(FormId form) const;
  [[nodiscard]] const Interval& range_of(FormId form) const { return forms_[form].range; }
  [[nodiscard]] Interval range_of(const Term& term) const;
  /// A power of two, at most 2^32, that divides the value. `alignment` gives that of addresses.
  [[nodiscard]] std::uint64_t divisor_of(
      FormId form, const std::function<std::uint64_t(const Atom&)>& alignment) const;

  [[nodiscard]] std::uint64_t divisor_of(
      const Term& term, const std::function<std::uint64_t(const Atom&)>& alignment) const;

  /// Every atom in the form and in its operands.
  void visit(FormId form, const std::function<void(AtomId)>& see) const;
  void visit(const Term& term, const std::function<void(AtomId)>& see) const;
  [[nodiscard]] bool mentions(FormId form, const std::function<bool(const Atom&)>& is_meant) const;

  /// Replaces atoms; the replacement of an atom is requested once for each Replaced.
  using Replacement = std::function<std::optional<FormId>(AtomId)>;
  using Replaced = std::unordered_map<AtomId, FormId>;
  [[nodiscard]] FormId replace(FormId form, const Replacement& by, Replaced& replaced);

  /// The integer value; nothing if an atom is unknown, a divisor is 0, or it exceeds 128 bits.
  [[nodiscard]] std::optional<Int128> evaluate(FormId form, const AtomValues& values) const;
  /// "4·(blockIdx.x·blockDim.x + threadIdx.x)".
  [[nodiscard]] std::string text(FormId form, const AtomNames& names) const;
  /// Text of a predicate, or of its opposite if not `truth`: "blockIdx.x·blockDim.x + threadIdx.x <
  /// n".
  [[nodiscard]] std::string predicate_text(FormId form, bool truth, const AtomNames& names) const;

 private:
  struct Stored {
    std::int64_t constant = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    Interval range;
    std::uint32_t size = 0;
    std::uint16_t depth = 0;
  };
  struct Product {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  [[nodiscard]] FormId store(std::int64_t constant, std::vector<Term>& terms);
  [[nodiscard]] FormId join_division(std::int64_t constant, const std::vector<Term>& terms);
  [[nodiscard]] FormId compound(Atom atom);
  /// Some terms of a form and the other terms, without its constant.
  struct Parts {
    FormId chosen = no_form;
    FormId others = no_form;
  };
  [[nodiscard]] Parts parted(FormId form, const std::function<bool(const Term&)>& is_chosen);
  [[nodiscard]] Parts small_part(FormId form, std::int64_t g);
  [[nodiscard]] FormId divided_exactly(FormId form, std::int64_t by);
  [[nodiscard]] FormId without_divisor(FormId a, FormId b);
  [[nodiscard]] FormId quotient_by(FormId a, std::int64_t by, const Interval& known);
  [[nodiscard]] FormId shorter_quotient(FormId inside, std::int64_t by, const Interval& range);
  [[nodiscard]] std::vector<std::int64_t> divisors_shared(FormId form, std::int64_t by) const;
  [[nodiscard]] FormId modulo(FormId a, const std::function<std::int64_t(Int128)>& small,
                              Int128 all);
  [[nodiscard]] FormId remainder_by(FormId a, std::int64_t by, const Interval& known);
  [[nodiscard]] FormId masked(AtomKind kind, FormId a, FormId b);
  [[nodiscard]] bool are_apart(FormId a, FormId b);
  [[nodiscard]] FormId rebuilt(const Atom& atom, const std::array<FormId, 3>& now);
  [[nodiscard]] FormId linear(FormId a, FormId b, std::int64_t by);
  [[nodiscard]] FormId replaced_atom(AtomId id, const Replacement& by, Replaced& replaced);
  [[nodiscard]] AtomId intern(const Atom& atom);
  [[nodiscard]] std::uint32_t product(std::vector<AtomId>& factors);
  [[nodiscard]] std::string sum_text(std::int64_t constant, std::vector<Term> terms,
                                     const AtomNames& names) const;
  [[nodiscard]] std::string term_text(const Term& term, const AtomNames& names,
                                      std::optional<AtomId> left_out) const;
  [[nodiscard]] std::string bracket_text(std::vector<Term>& terms, AtomId factor,
                                         const AtomNames& names) const;
  [[nodiscard]] static std::int64_t shared_coefficient(std::span<const Term> terms);
  [[nodiscard]] bool is_address(const Term& term) const;
  [[nodiscard]] bool has_factor(const Term& term, AtomId factor) const;
  [[nodiscard]] std::optional<AtomId> shared_factor(std::span<const Term> terms) const;
  [[nodiscard]] std::string atom_text(AtomId id, const AtomNames& names) const;
  [[nodiscard]] std::string condition_text(const Atom& atom, bool truth,
                                           const AtomNames& names) const;
  [[nodiscard]] std::string factor_text(FormId form, const AtomNames& names) const;
  [[nodiscard]] std::optional<Int128> evaluate_atom(const Atom& atom,
                                                    const AtomValues& values) const;

  std::vector<Stored> forms_;
  std::vector<Term> terms_;
  std::vector<Product> products_;
  std::vector<AtomId> factors_;
  std::vector<Atom> atoms_;
  // Ids by hash; callers compare the contents.
  std::unordered_multimap<std::size_t, FormId> form_index_;
  std::unordered_multimap<std::size_t, std::uint32_t> product_index_;
  std::unordered_multimap<std::size_t, AtomId> atom_index_;
};

}  // namespace strata::access
