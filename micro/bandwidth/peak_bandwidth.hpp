// What does each memory level of a GPU give at most?
//
// Short trials compare launch shapes with 32 to 128 KiB in flight per SM: from 512 threads to as
// many as an SM holds, resident blocks and, at L2 and main memory, also waves of blocks. Resident
// blocks have equal shares of the work, and the SMs of the largest GPC, which share its port to L2,
// end last; waves let the others do more. The fastest shape is then measured like a case of
// `bandwidth`: its samples are taken after the search, so that the choice does not bias them.
#pragma once

#include "micro/bandwidth/bandwidth.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace strata::peak_bandwidth {

[[nodiscard]] Benchmark declare();

/// The level, operation and width of a case, in the default shape.
[[nodiscard]] bandwidth::LaunchShape case_of(const Params& params);
/// Shapes to try for the case, preferred ones first.
[[nodiscard]] std::vector<bandwidth::LaunchShape> shapes_for(const bandwidth::LaunchShape& which);
/// Plans of the shapes that the device holds. Without those whose blocks share data in L2, where
/// simultaneous requests for a sector count twice but move once. Throws Skipped if there are none.
[[nodiscard]] std::vector<bandwidth::Plan> plans_for(
    const std::vector<bandwidth::LaunchShape>& shapes, const GpuFacts& gpu);

/// Index of the first of `count` > 0 shapes within 0.5 % of the fastest, so that visits agree. All
/// are tried once, and five more times those within 3 % of the fastest. `rate`: bytes per second
/// of a trial; 0 if the shape cannot run. Throws Skipped if all cannot.
[[nodiscard]] std::size_t find_fastest(std::size_t count,
                                       const std::function<double(std::size_t)>& rate);

/// The shape as facts of the case.
[[nodiscard]] Facts facts_of(const bandwidth::LaunchShape& best, std::size_t tried);

}  // namespace strata::peak_bandwidth
