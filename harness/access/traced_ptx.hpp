// PTX of a kernel that writes down which addresses its lanes ask for, and what it wrote read back.
//
// Each thread has a row of records of its own, so that where one lies hangs on the thread alone and
// nothing is awaited. A record is an address, the lanes that ask together, and the instruction.
#pragma once

#include "harness/access/evaluate.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/ptx.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace strata::access {

/// Bytes of a record, and of the count of a thread's records.
inline constexpr std::uint64_t record_bytes = 16;
inline constexpr std::uint64_t record_count_bytes = 4;

/// An instruction that is not traced.
struct Untraced {
  std::uint32_t instruction = 0;
  std::string why;
};

struct TracedPtx {
  std::string text;
  std::vector<Untraced> left_out;
};

/// The module's text, in which `kernel` records each execution of these `instructions` by lanes
/// whose guard holds, before it happens. It has three parameters more, which traced_launch() fills.
/// Left out is what reaches local memory, copies whose size a register tells, and what is no
/// access.
[[nodiscard]] TracedPtx trace(const ptx::Module& module, std::uint32_t kernel,
                              std::span<const std::uint32_t> instructions);

/// A launch of the traced kernel.
struct TracedLaunch {
  Launch launch;
  std::size_t records = 0;  ///< into its buffers
  std::size_t counts = 0;
  std::uint32_t capacity = 0;  ///< records of a thread for which there is room
};
/// `launch` of a kernel of `module`, for the one that was read from trace()'s text: with room for
/// as many records as fit into `bytes`, and the same number for each thread. Throws UsageError
/// where not even one does.
[[nodiscard]] TracedLaunch traced_launch(const ptx::Module& module, const ptx::Module& traced,
                                         Launch launch, std::uint64_t bytes);

/// One access of a warp, as it was recorded.
struct RecordedAccess {
  std::uint32_t instruction = 0;
  ptx::Space space = ptx::Space::generic;  ///< of a generic address; else generic
  std::uint32_t mask = 0;
  std::array<std::uint64_t, warp_lanes> addresses{};
  bool operator==(const RecordedAccess&) const = default;
};

/// What a traced launch left in its buffers.
struct Records {
  Extent grid;
  Extent block;
  std::uint32_t capacity = 0;
  std::span<const std::uint64_t> words;   ///< two a record
  std::span<const std::uint32_t> counts;  ///< by thread
};

/// The accesses of all warps, those of one warp in an order in which they can have happened. Throws
/// std::runtime_error, in one line, where a thread did more than there was room for, or where the
/// records of a warp do not fit together.
[[nodiscard]] std::vector<RecordedAccess> accesses_of(const Records& records);

/// What the recorded accesses ask of memory. `wanted`: the accesses of the untraced kernel that are
/// not exact, for their kind and width. Those that reached local or constant memory are left out.
[[nodiscard]] std::vector<Access> traced_accesses(const ptx::Kernel& kernel,
                                                  std::span<const Access> wanted,
                                                  std::span<const Generation> generations,
                                                  const Records& records);

}  // namespace strata::access
