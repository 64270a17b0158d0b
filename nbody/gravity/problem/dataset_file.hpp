// A file of bodies, as they were generated, or as a program left them after some steps.
//
// All numbers are little-endian; floats are 32-bit IEEE 754. The header has 80 bytes:
//
//   byte  type  what
//      0  8 × char  "STRATANB"
//      8  u32   0x01020304: byte-order mark
//     12  u32   version of this format: 1
//     16  u32   systems
//     20  u32   bodies per system; at most 2^29 in all systems together
//     24  u32   floats per body: 6 if every mass is 1, otherwise 7
//     28  u32   steps by which the bodies have been moved since they were generated
//     32  f32   squared softening length
//     36  f32   time step
//     40  u64   seed from which they were generated
//     48  32 bytes  SHA-256 of the whole file with these 32 bytes set to 0
//
// The bodies follow, system by system: px py pz vx vy vz, and the mass if there are 7 floats. All
// numbers are finite. The file ends after the last body. Host only.
#pragma once

#include "harness/case/dataset_file.hpp"
#include "nbody/gravity/problem/problem.hpp"

#include <cstdint>
#include <filesystem>

namespace strata::nbody {

/// Kernels count the words of a layout in 32 bits, and the widest layouts have 8 per body.
inline constexpr std::uint64_t most_bodies = std::uint64_t{1} << 29U;

/// Bodies, and the parameters to integrate or compare them.
struct Dataset {
  Bodies bodies;
  std::uint64_t seed = 0;
  std::uint32_t steps = 0;  ///< since they were generated
  float softening_squared = nbody::softening_squared;
  float time_step = nbody::time_step;

  /// Contents of the file: a mass of 1 is implicit.
  [[nodiscard]] std::uint32_t floats_per_body() const;
  bool operator==(const Dataset&) const = default;
};

/// Writes the file under a temporary name and renames it, so that it is never incomplete. Throws
/// UsageError if the file exists and must be kept, is not a regular file, or a number is not
/// finite; std::runtime_error if it cannot be written.
void write_dataset(const std::filesystem::path& file, const Dataset& dataset, Existing existing);

/// Throws UsageError, in one line, for anything that violates the format above.
[[nodiscard]] Dataset read_dataset(const std::filesystem::path& file);

}  // namespace strata::nbody
