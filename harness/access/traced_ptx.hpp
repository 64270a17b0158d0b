// PTX of a kernel that records the addresses of its lanes, and the evaluation of its records.
//
// Each thread has its own row of records, so the address of a record depends only on the thread,
// and no synchronisation is needed. A record is an address, the lanes that access together, and the
// instruction.
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

/// Bytes of a record, and of a thread's record count.
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
/// whose guard holds, before it happens. The kernel gets three more parameters, which
/// traced_launch() fills. Not traced are instructions that access local memory, copies whose size
/// is in a register, and instructions that are not accesses.
[[nodiscard]] TracedPtx trace(const ptx::Module& module, std::uint32_t kernel,
                              std::span<const std::uint32_t> instructions);

/// A launch of the traced kernel.
struct TracedLaunch {
  Launch launch;
  std::size_t records = 0;  ///< index of its buffer
  std::size_t counts = 0;
  std::uint32_t capacity = 0;  ///< maximum records per thread
};
/// `launch` of a kernel of `module`, adapted to the kernel in trace()'s text: with as many records
/// as fit into `bytes`, the same number for each thread. Throws UsageError if not even one fits.
[[nodiscard]] TracedLaunch traced_launch(const ptx::Module& module, const ptx::Module& traced,
                                         Launch launch, std::uint64_t bytes);

/// A recorded access of a warp.
struct RecordedAccess {
  std::uint32_t instruction = 0;
  ptx::Space space = ptx::Space::generic;  ///< for a generic address; otherwise generic
  bool is_of_other_block = false;          ///< shared memory of another block of the cluster
  std::uint32_t mask = 0;
  std::array<std::uint64_t, warp_lanes> addresses{};
  bool operator==(const RecordedAccess&) const = default;
};

/// The contents of a traced launch's buffers.
struct Records {
  Extent grid;
  Extent block;
  std::uint32_t capacity = 0;
  std::span<const std::uint64_t> words;   ///< two per record
  std::span<const std::uint32_t> counts;  ///< by thread
};

/// The accesses of all warps, those of each warp in an order in which they can have happened.
/// Throws std::runtime_error, in one line, if a thread recorded more than there was room for, or if
/// the records of a warp are inconsistent.
[[nodiscard]] std::vector<RecordedAccess> accesses_of(const Records& records);

struct TracedAccesses {
  std::vector<Access> accesses;
  std::vector<Untraced> left_out;  ///< some lanes accessed local memory, or that of another block
};

/// The memory requests of the recorded accesses. `wanted`: the accesses of the untraced kernel that
/// are not exact, for their kind and width.
[[nodiscard]] TracedAccesses traced_accesses(const ptx::Kernel& kernel,
                                             std::span<const Access> wanted,
                                             std::span<const Generation> generations,
                                             const Records& records);

}  // namespace strata::access
