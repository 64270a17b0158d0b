// What may be changed of a kernel and of how it is launched: van den Braak, Mesman and Corporaal,
// "Compile-time GPU memory access optimizations", SAMOS 2010, section V, and shared memory beside.
#pragma once

#include "harness/access/launch_file.hpp"
#include "harness/access/optimize/launch_checks.hpp"
#include "harness/access/optimize/refusals.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::access {

struct Change {
  /// Axis i of the optimized kernel's threads, or blocks, is this one of the original's.
  std::array<unsigned, 3> thread_axes{0, 1, 2};
  std::array<unsigned, 3> block_axes{0, 1, 2};
  /// Lanes go along an axis of the grid instead of along threadIdx.x, in blocks as large as before:
  /// as many blocks, along a free axis of the grid, as threads there were.
  struct Exchange {
    unsigned axis = 0;
    unsigned free = 1;  ///< of 1 block, which the kernel does not ask for
    bool operator==(const Exchange&) const = default;
  };
  std::optional<Exchange> exchange = {};
  unsigned threads = 1;  ///< that one does the work of: neighbours along the lanes' axis
  unsigned passes = 1;   ///< of innermost loops, in one
  unsigned bytes = 16;   ///< of the widest access that several are grouped into; 1: none
  /// Shared memory: bits from this one on choose the banks of a row, too; 0: they do not.
  unsigned swizzled_row = 0;
  /// Accesses are exchanged within a block through shared memory, in blocks of at most so many
  /// threads; 0: they are not.
  unsigned staged = 0;
  /// Parameters of 4 bytes that must have these values, by their symbols.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> given = {};

  bool operator==(const Change&) const = default;
  [[nodiscard]] bool moves_lanes() const { return thread_axes != Change{}.thread_axes; }
  /// Then the optimized kernel receives the number of blocks of the original along lanes_axis().
  [[nodiscard]] bool moves_blocks() const { return exchange.has_value() || threads > 1; }
  /// The axis of the original that lanes go along: of its grid, if there is an exchange.
  [[nodiscard]] unsigned lanes_axis() const { return exchange ? exchange->axis : thread_axes[0]; }
  [[nodiscard]] Rearrangement rearrangement() const {
    // Blocks in another order, too: some kernels wait for blocks of lower numbers.
    return {.moves_lanes = moves_lanes() || moves_blocks() || block_axes != Change{}.block_axes,
            .moves_blocks = moves_blocks() || staged != 0};
  }
};

/// "threadIdx.y for threadIdx.x; 4 threads in one; accesses grouped into 16 bytes".
[[nodiscard]] std::string text_of(const Change& change);

/// An axis of the grid that the kernel does not ask for, other than `taken`.
[[nodiscard]] std::optional<unsigned> free_axis(const ptx::Kernel& kernel, unsigned taken);

/// A change in words of a command line: "exchange=x threads=4 given=param_4:1". Throws UsageError
/// that names `flag`.
[[nodiscard]] Change parse_change(std::string_view flag, std::string_view words,
                                  const ptx::Module& module, const ptx::Kernel& kernel);

/// The words of a change, as parse_change reads them.
[[nodiscard]] std::string words_of(const Change& change, const ptx::Module& module);

/// Why a change cannot be made.
class NotOptimized : public std::runtime_error {
 public:
  explicit NotOptimized(const Refusal& refusal)
      : std::runtime_error{refusal.why}, refusal_{refusal} {}
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }

 private:
  Refusal refusal_;
};

/// A kernel that was changed, beside the original in a module.
struct Optimized {
  std::string text;   ///< of the module
  std::string alone;  ///< of a module with this kernel alone
  std::string name;   ///< of the optimized kernel
  Change change;
  LaunchChecks checks;   ///< without which the original is to be launched
  unsigned groups = 0;   ///< accesses of several
  unsigned grouped = 0;  ///< accesses that are in them
};

/// The shape of the optimized kernel's launch for one of the original's.
[[nodiscard]] Extent optimized_grid(const Change& change, const Extent& grid, const Extent& block);
[[nodiscard]] Extent optimized_block(const Change& change, const Extent& block);

/// The launch of the optimized kernel, in the module that was read from its text, for one of the
/// original.
[[nodiscard]] Launch optimized_launch(const Optimized& optimized, const ptx::Module& original,
                                      const ptx::Module& changed, Launch launch);

}  // namespace strata::access
