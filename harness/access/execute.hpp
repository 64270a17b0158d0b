// Runs a whole kernel on the host for its results in memory: an oracle for code for which no device
// is available, or for a kernel that must have the same results as another.
//
// Warps run as in evaluate.hpp, one after the other, from barrier to barrier. Approximations
// (`rsqrt.approx`) are functions of the host, so their last bits differ from a device's. What PTX
// leaves undefined is an error: an uninitialised value that affects a branch, an address or global
// memory; a barrier that some lanes of a warp do not reach; lanes that write different values to
// one word of shared memory at once; an access outside allocated memory. Results that depend on the
// order of warps are not detected, except for races in shared memory on request.
#pragma once

#include "harness/access/device_memory.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/program.hpp"
#include "harness/access/ptx.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>

namespace strata::access {

/// The launch cannot continue: "KERNEL, ld.global.f32 of line 120: …", in one line.
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
  /// Maximum number of warp instructions.
  std::uint64_t budget = std::uint64_t{1} << 36U;
  /// All blocks are resident at once and may wait for one another. Otherwise each may wait only for
  /// blocks of lower number.
  bool cooperative = false;
  /// Refuses shared memory that two warps access between the same barriers if one of them writes.
  bool finds_races = false;
  /// Told of every store, as it happens.
  std::function<void(const StoredBytes&)> on_store = {};
};

/// What was run, in PTX instructions; machine code has about as many.
struct Executed {
  std::uint64_t instructions = 0;  ///< warp instructions
  std::uint64_t lanes = 0;         ///< sum of the lanes that took part in them
};

/// Runs the launch of a program compiled for Part::results. Throws ExecutionFault.
Executed execute(const ptx::Module& module, const Launch& launch, const Program& program,
                 DeviceMemory& memory, const ExecuteOptions& options = {});

}  // namespace strata::access
