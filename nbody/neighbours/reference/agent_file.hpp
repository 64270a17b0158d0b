// A file of agents: as they were generated, or as the reference moved them, with or without their
// neighbours. Version 2 of the files that harness/case/dataset_file.hpp describes.
//
// All numbers are little-endian, floats are IEEE 754 of 32 bits. The header has 96 bytes:
//
//   byte  type  what
//      0  8 × char  "STRATANB"
//      8  u32   0x01020304: the order of the bytes
//     12  u32   version of this format: 2
//     16  u32   problem: 0 boids, 1 circles, 2 list
//     20  u32   agents, at most 2^26
//     24  u32   steps that they have been moved since they were generated
//     28  u32   spread: 0 uniform, 1 clustered, 2 jittered
//     32  f32   world: radius of the sphere of boids, edge of the cube of others
//     36  f32   squared reach
//     40  u64   seed that they were generated from
//     48  32 bytes  SHA-256 of the whole file, these 32 bytes taken as 0
//     80  u32   1 where the neighbours of all agents follow the agents, else 0
//     84  u32   0
//     88  u64   neighbours of all agents together; 0 where none follow
//
// Then agent by agent, as f32: px py pz, forward x y z, speed. Where neighbours follow: for each
// agent, as u32, how many it has; then their numbers, as u32, agent by agent, each list ascending.
// Nothing follows. Host only.
#pragma once

#include "harness/case/dataset_file.hpp"
#include "nbody/neighbours/problem/problem.hpp"
#include "nbody/neighbours/problem/search.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace strata::neighbours {

/// Agents, and what has to be known to move them on or to set them beside others.
struct AgentData {
  Problem problem;
  Agents agents;
  std::uint32_t steps = 0;  ///< since they were generated
  std::optional<Lists> neighbours;
  bool operator==(const AgentData&) const = default;
};

/// Writes the file with write_sealed. Throws UsageError for agents that check() refuses.
void write_agents(const std::filesystem::path& file, const AgentData& data, Existing existing);

/// Throws UsageError, in one line, for anything that violates the format above, and for agents that
/// check() refuses.
[[nodiscard]] AgentData read_agents(const std::filesystem::path& file);

/// The agents after that many more steps of the reference. Only the end is rounded to single
/// precision. Throws UsageError if the step count would overflow the header.
[[nodiscard]] AgentData moved(AgentData data, std::uint32_t steps);
/// The same agents with their neighbours.
[[nodiscard]] AgentData with_neighbours(AgentData data);

}  // namespace strata::neighbours
