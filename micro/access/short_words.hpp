// What do uncoalesced accesses and short words cost on this GPU? Van den Braak, Mesman and
// Corporaal (2010) measured it on a GPU of 2008, with a matrix addition.
//
// C = A + B, one thread per element, in the two orders of their Fig. 6: adjacent threads take
// adjacent elements (coalesced, 6b), or elements as far apart as there are blocks (6a). Elements
// have 8, 16 and 32 bits. A thread takes a group of adjacent elements one by one (apart) or with
// one vector access (together): their intra-thread grouping. The time is that of one more launch
// among several. On a CPU the order is that of a loop, row by row or column by column, and a group
// is what one iteration takes.
#pragma once

#include "harness/cuda/benchmark.cuh"
#include "micro/access/launch_series.hpp"

#include <bit>

namespace strata::short_words {

inline constexpr std::uint32_t threads = 256;  // of a block
inline constexpr std::uint64_t matrix_bytes = 128U << 20U;

/// Values of the axes; sizes in bytes.
struct Form {
  std::uint32_t element = 4;
  std::uint32_t group = 4;  ///< per thread
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
  /// Distance from the group of a thread, or block, to that of the next.
  [[nodiscard]] constexpr std::uint32_t thread_step() const { return coalesced ? 1 : blocks(); }
  [[nodiscard]] constexpr std::uint32_t block_step() const { return coalesced ? threads : 1; }
};

/// Why a form is not possible, or null: kernels are compiled for the others.
[[nodiscard]] constexpr const char* why_not(const Form& form, Backend backend) {
  if (form.group < form.element) return "a group is at least one element";
  if (form.mended && backend == Backend::host) return "only kernels of a GPU are mended";
  if (form.mended && form.coalesced && form.group == form.element) return "nothing to mend";
  if (form.together) return nullptr;
  if (form.group == form.element) return "a single element cannot be split";
  if (backend == Backend::host && form.coalesced) {
    return "along a row, the elements of a group are adjacent anyway";
  }
  return nullptr;
}

/// The sum, element by element, of words that hold elements of `element` bytes, without carries
/// between elements.
[[nodiscard]] constexpr std::uint32_t sum_of_elements(std::uint32_t a, std::uint32_t b,
                                                      std::uint32_t element) {
  const std::uint32_t top = element == 1 ? 0x80808080U : element == 2 ? 0x80008000U : 0x80000000U;
  return ((a & ~top) + (b & ~top)) ^ ((a ^ b) & top);
}

constexpr Choices orders{std::pair{"coalesced", true}, std::pair{"uncoalesced", false}};
enum class AccessForm : std::uint8_t { apart, together, mended };
constexpr auto accesses = choices_of<AccessForm>("apart", "together", "mended");

inline Form form_of(const Params& params) {
  const AccessForm access = accesses.of(params.at("access"));
  return {.element = number_of<std::uint32_t>(params, "element"),
          .group = number_of<std::uint32_t>(params, "group"),
          .together = access != AccessForm::apart,
          .coalesced = orders.of(params.at("order")),
          .mended = access == AccessForm::mended};
}

inline Benchmark declare() {
  return {
      .suite = "micro",
      .name = "short_words",
      .question = "What do uncoalesced accesses and short words cost in a matrix addition?",
      .axes =
          {listed_axis("element", "bytes of a matrix element", {"1", "2", "4"}),
           orders.axis(
               "order",
               "whether adjacent threads, or iterations of a CPU's loop, take adjacent elements"),
           listed_axis("group", "adjacent bytes that a thread, or iteration, takes",
                       {"1", "2", "4", "8", "16"}),
           accesses.axis("access",
                         "one access for each element of a group, one for all, or one as strata "
                         "access optimize makes it of one thread per element")},
      .quantities = {{"kernel_time", "duration of one matrix addition, including a GPU's start-up"},
                     {"useful_bandwidth", "bytes of the three matrices over that time"},
                     {"core_clock", "clock of the core between the additions"},
                     {"l1_load_sectors_per_launch", "counted and modelled"}},
      .seconds_per_case = 0.1,
      .excludes = [](const Params& params, Backend backend) -> std::optional<std::string> {
        const char* const why = why_not(form_of(params), backend);
        return why == nullptr ? std::nullopt : std::optional<std::string>{why};
      }};
}

}  // namespace strata::short_words
