#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace strata {

// Names and texts of the files embedded in this executable; the functions are generated.
using NamedText = std::pair<std::string_view, std::string_view>;
[[nodiscard]] std::span<const NamedText> builtin_sweeps();        ///< sweeps/*.yaml
[[nodiscard]] std::span<const NamedText> builtin_counter_sets();  ///< harness/counters/sets/*.yaml
/// analysis/src/strata/model/agreement.csv
[[nodiscard]] std::span<const NamedText> builtin_agreement();
/// What every header of `strata access optimize` holds: harness/access/optimize.
[[nodiscard]] std::span<const NamedText> builtin_launch_header();

}  // namespace strata
