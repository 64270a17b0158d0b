// What do uncoalesced accesses and short words cost on this GPU? Van den Braak, Mesman and
// Corporaal (2010) asked it of a GPU of 2008, with a matrix addition.
//
// C = A + B, a thread an element, in the two orders of their Fig. 6: neighbouring threads take
// neighbouring elements (coalesced, 6b), or elements as far apart as there are blocks (6a).
// Elements of 8, 16 and 32 bits, and groups of them: a thread takes a group of neighbours element
// by element (apart) or by one vector access (together): their intra-thread grouping. Timed is one
// launch more among several. On a CPU the order is that of a loop, row by row or column by column,
// and a group is what one turn of the loop takes.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/measure/experiment.hpp"
#include "micro/access/launch_series.hpp"

#include <cstdint>
#include <vector>

namespace strata::short_words {

[[nodiscard]] Benchmark declare();

inline constexpr std::uint32_t threads = 256;  // of a block
inline constexpr std::uint64_t matrix_bytes = 128U << 20U;
/// Of A, whose words are those of one array of hashed words; B's follow them.
inline constexpr std::uint32_t matrix_words = matrix_bytes / sizeof(std::uint32_t);

/// What the axes set; sizes in bytes.
struct Form {
  std::uint32_t element = 4;
  std::uint32_t group = 4;  ///< that a thread takes
  bool together = true;     ///< by one access to each matrix
  bool coalesced = true;
  /// As `together`, by the kernel that was made of the one that takes an element.
  bool mended = false;

  /// What a mended form is made of.
  [[nodiscard]] constexpr Form original() const {
    return {.element = element, .group = element, .together = true, .coalesced = coalesced};
  }
  [[nodiscard]] constexpr std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(matrix_bytes / group / threads);
  }
  [[nodiscard]] constexpr std::uint32_t access() const { return together ? group : element; }
  /// From the group of a thread, or block, to that of the next.
  [[nodiscard]] constexpr std::uint32_t thread_step() const { return coalesced ? 1 : blocks(); }
  [[nodiscard]] constexpr std::uint32_t block_step() const { return coalesced ? threads : 1; }
};
[[nodiscard]] Form form_of(const Params& params);

/// Why a form has no meaning, or null: kernels are compiled for the others.
[[nodiscard]] constexpr const char* why_not(const Form& form, Backend backend) {
  if (form.group < form.element) return "a group is one element or more";
  if (form.mended && backend == Backend::host) return "a kernel of a GPU is mended";
  if (form.mended && form.coalesced && form.group == form.element) {
    return "there is nothing to mend";
  }
  if (form.together) return nullptr;
  if (form.group == form.element) return "one element is not taken apart";
  if (backend == Backend::host && form.coalesced) {
    return "along a row the elements of a group follow each other anyway";
  }
  return nullptr;
}

/// The sum, element by element, of words that hold elements of `element` bytes; nothing is carried
/// from one element into the next.
[[nodiscard]] constexpr std::uint32_t sum_of_elements(std::uint32_t a, std::uint32_t b,
                                                      std::uint32_t element) {
  const std::uint32_t top = element == 1 ? 0x80808080U : element == 2 ? 0x80008000U : 0x80000000U;
  return ((a & ~top) + (b & ~top)) ^ ((a ^ b) & top);
}

/// Requests and sectors of the loads of a launch, and sectors of its stores, by the coalescing
/// model.
[[nodiscard]] std::vector<Expectation> predicted(const Form& form);

inline constexpr launch_series::Series series{};

/// The case on a GPU. Its samples hold the seconds of one addition and of a series by events, the
/// same two by replays of a graph, and the clock of the core.
[[nodiscard]] Experiment describe(const Form& form);

/// The case on a CPU, where `bytes` are those of the matrices of all cores: one slope, by passes.
[[nodiscard]] Experiment describe_host(std::uint64_t bytes, double tick_hertz);

}  // namespace strata::short_words
