// A kernel, run whole on the host for what it leaves in memory: an oracle for code that no device
// is there to run, or for one kernel that must do what another does.
//
// Warps run as evaluate.hpp says, one after the other, and from barrier to barrier; approximations
// (`rsqrt.approx`) are the host's functions, so their last bits are not a device's. What PTX leaves
// undefined is refused instead of chosen: a value that nothing wrote where a branch, an address or
// global memory hangs on it; a barrier that some lanes of a warp do not reach; lanes that write
// different values to one word of shared memory at once; an access outside of what is allocated.
// What the order of warps decides goes unseen but for races in shared memory, which may be asked
// for.
#pragma once

#include "harness/access/device_memory.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/program.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>

namespace strata::access {

/// The launch cannot go on: "KERNEL, ld.global.f32 of line 120: …", in one line.
class ExecutionFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A plain store to global memory: by which thread of the launch, where, and what.
struct StoredBytes {
  std::uint64_t thread = 0;
  std::uint64_t address = 0;
  std::uint64_t bits = 0;
  unsigned bytes = 0;
};

struct ExecuteOptions {
  /// Most instructions of warps.
  std::uint64_t budget = std::uint64_t{1} << 36U;
  /// All blocks are there at once, so that they may wait for one another; else each may wait for
  /// those of lower number alone.
  bool cooperative = false;
  /// Refuses shared memory that two warps touch between the same barriers, where one of them
  /// writes.
  bool finds_races = false;
  /// Told of every store, as it happens.
  std::function<void(const StoredBytes&)> on_store = {};
};

/// What was run: PTX's instructions, of which machine code has about as many.
struct Executed {
  std::uint64_t instructions = 0;  ///< of warps
  std::uint64_t lanes = 0;         ///< that took part in them, summed
};

/// Runs the launch of a program that was compiled for Part::results. Throws ExecutionFault.
Executed execute(const ptx::Module& module, const Launch& launch, const Program& program,
                 DeviceMemory& memory, const ExecuteOptions& options = {});

}  // namespace strata::access
