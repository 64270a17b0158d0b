// What benchmarks and rungs say of themselves, for context.json: the analysis reads it there
// instead of knowing it a second time.
#pragma once

#include "harness/case/case.hpp"

#include <string>
#include <vector>

namespace strata {

/// A JSON object: `benchmarks`, the declarations of those that `cases` are of, by name; and, where
/// one is of suite nbody, `rungs`, the whole ladder in its order (results/schema/README.md).
[[nodiscard]] std::string describe_benchmarks(const std::vector<Case>& cases);

}  // namespace strata
