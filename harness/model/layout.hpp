// How the seven floats of a particle are stored, and with which reads a thread loads them.
//
// A layout is one type. Its reads are declared once; the kernels, the host readers and the models
// derive the width and address of every access only from that declaration.
//
// Sources: Siegel, Ributzka, Li (2009), sections II-A to II-D, Figures 2 to 9, for aos, soa, aoas
// and soaoas; aosoa32 is the usual blocked form with one warp per block.
#pragma once

#include "harness/model/host_device.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace strata {

/// The fields of a particle, in the order of Siegel's Figure 2.
enum class Field : int { px, py, pz, vx, vy, vz, mass };
inline constexpr std::size_t field_count = 7;

/// A word of a read that belongs to no field.
inline constexpr int padding = -1;

/// One access of one thread: `words` consecutive 4-byte words, aligned to their total size, and the
/// field (or padding) in each.
struct Read {
  unsigned words = 1;
  std::array<int, 4> fields{padding, padding, padding, padding};
};

/// `words` words that begin with these fields, followed by padding.
constexpr Read read_of(unsigned words, std::initializer_list<Field> fields) {
  Read read{.words = words};
  std::ranges::transform(fields, read.fields.begin(), [](Field f) { return static_cast<int>(f); });
  return read;
}
/// Seven 4-byte reads, one per field.
inline constexpr auto scalar_reads = [] {
  std::array<Read, field_count> reads;
  for (std::size_t f = 0; f < field_count; ++f)
    reads[f] = read_of(1, {static_cast<Field>(f)});
  return reads;
}();

/// A name, the reads of one particle, and where read r of particle `i` of `n` begins, in words from
/// the start of the storage, which has `words(n)` words. `first_word` takes any unsigned type:
/// kernels pass 32 bits if that suffices, to keep the address arithmetic short.
template <class L>
concept Layout = requires(std::size_t r, std::size_t i, std::size_t n) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::reads.size() } -> std::convertible_to<std::size_t>;
  { L::words(n) } -> std::same_as<std::size_t>;
  { L::first_word(r, i, n) } -> std::same_as<std::size_t>;
};

/// Array of structures, 28 bytes packed: seven 4-byte reads per particle, 28 bytes apart in a warp.
struct Aos {
  static constexpr std::string_view name = "aos";
  static constexpr auto reads = scalar_reads;
  STRATA_HD static constexpr std::size_t words(std::size_t n) { return field_count * n; }
  template <class I>
  STRATA_HD static constexpr I first_word(I r, I i, I) {
    return I{field_count} * i + r;
  }
};

/// Structure of arrays: seven 4-byte reads; adjacent lanes read adjacent words.
struct Soa {
  static constexpr std::string_view name = "soa";
  static constexpr auto reads = scalar_reads;
  STRATA_HD static constexpr std::size_t words(std::size_t n) { return field_count * n; }
  template <class I>
  STRATA_HD static constexpr I first_word(I r, I i, I n) {
    return r * n + i;
  }
};

/// Array of aligned structures: 32 bytes with one word of padding, two 16-byte reads.
struct Aoas {
  static constexpr std::string_view name = "aoas";
  using enum Field;
  static constexpr std::array reads{read_of(4, {px, py, pz, vx}), read_of(4, {vy, vz, mass})};
  STRATA_HD static constexpr std::size_t words(std::size_t n) { return 8 * n; }
  template <class I>
  STRATA_HD static constexpr I first_word(I r, I i, I) {
    return 8 * i + 4 * r;
  }
};

/// Structure of arrays of aligned structures: posmass float4[n], then velocity float4[n].
struct Soaoas {
  static constexpr std::string_view name = "soaoas";
  using enum Field;
  static constexpr std::array reads{read_of(4, {px, py, pz, mass}), read_of(4, {vx, vy, vz})};
  STRATA_HD static constexpr std::size_t words(std::size_t n) { return 8 * n; }
  template <class I>
  STRATA_HD static constexpr I first_word(I r, I i, I n) {
    return 4 * (r * n + i);
  }
};

/// Blocks of 32 particles, field by field inside a block: a warp reads one whole line per field.
struct Aosoa32 {
  static constexpr std::string_view name = "aosoa32";
  static constexpr std::size_t lanes = 32;
  static constexpr auto reads = scalar_reads;
  STRATA_HD static constexpr std::size_t words(std::size_t n) {
    return (n + lanes - 1) / lanes * lanes * field_count;
  }
  template <class I>
  STRATA_HD static constexpr I first_word(I r, I i, I) {
    return (i / I{lanes} * I{field_count} + r) * I{lanes} + i % I{lanes};
  }
};

/// All layouts: a new one is one type and its name here.
using Layouts = std::tuple<Aos, Soa, Aoas, Soaoas, Aosoa32>;

/// The fields that a kernel wants.
struct AllFields {
  static constexpr std::string_view name = "all";
  static constexpr unsigned count = 7;
  static constexpr bool wants(int) { return true; }
};
/// Position and mass: the fields for a force, which soaoas keeps together (Siegel, II-D).
struct Posmass {
  static constexpr std::string_view name = "posmass";
  static constexpr unsigned count = 4;
  static constexpr bool wants(int f) {
    return f <= static_cast<int>(Field::pz) || f == static_cast<int>(Field::mass);
  }
};
using FieldSets = std::tuple<AllFields, Posmass>;

/// The issued part of a read: `words` words from word `offset` of the read on.
struct Issue {
  unsigned offset = 0;
  unsigned words = 0;  ///< 0: the read has no wanted field and is left out
};

/// The issued part of read `r` of L if only `Fields` are wanted: the smallest aligned block of 1, 2
/// or 4 words with all wanted ones. Compilers narrow a vector load in the same way; it is explicit
/// here so that models can see it.
template <Layout L, class Fields>
constexpr Issue issued(std::size_t r) {
  const Read& read = L::reads[r];
  const auto wanted = [&](unsigned w) {
    return read.fields[w] != padding && Fields::wants(read.fields[w]);
  };
  unsigned first = read.words;
  unsigned last = 0;
  for (unsigned w = 0; w < read.words; ++w) {
    if (!wanted(w)) continue;
    first = std::min(first, w);
    last = w;
  }
  if (first == read.words) return {};
  unsigned words = 1;
  while (first / words != last / words)
    words *= 2;
  return {first / words * words, words};
}

/// Bytes of wanted fields per particle: "useful" in useful bandwidth.
template <class Fields>
inline constexpr std::size_t useful_bytes = 4 * Fields::count;

/// The word of field `f` of particle `i`, derived from the reads.
template <Layout L>
constexpr std::size_t word_of(Field f, std::size_t i, std::size_t n) {
  for (std::size_t r = 0; r < L::reads.size(); ++r) {
    for (unsigned w = 0; w < L::reads[r].words; ++w) {
      if (L::reads[r].fields[w] == static_cast<int>(f)) return L::first_word(r, i, n) + w;
    }
  }
  return L::words(n);  // no such field: out of range
}

/// Calls visit.operator()<T>() for each type of a tuple.
template <class... Ts, class Visit>
void for_each_type(std::type_identity<std::tuple<Ts...>> /*types*/, Visit&& visit) {
  (visit.template operator()<Ts>(), ...);
}

/// Names of the types of a tuple: names_of<Layouts>(), names_of<FieldSets>().
template <class Tuple>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for_each_type(std::type_identity<Tuple>{}, [&]<class T>() { names.emplace_back(T::name); });
  return names;
}

/// Calls `visit.operator()<L, Fields>()` for the layout and field set of these names. Returns false
/// if they do not exist.
template <class Visit>
bool with_layout(std::string_view layout, std::string_view fields, Visit&& visit) {
  bool found = false;
  for_each_type(std::type_identity<Layouts>{}, [&]<class L>() {
    for_each_type(std::type_identity<FieldSets>{}, [&]<class Fields>() {
      if (L::name != layout || Fields::name != fields) return;
      visit.template operator()<L, Fields>();
      found = true;
    });
  });
  return found;
}

}  // namespace strata
