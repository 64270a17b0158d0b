#pragma once

#include "harness/base/enum_words.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace strata {

/// Where a benchmark runs: on a CUDA device, or on the CPU of this process.
enum class Backend { cuda, host };

/// The words of case ids and of the `backend` column.
constexpr auto words_of(Backend /*unused*/) {
  return std::to_array<std::string_view>({"cuda", "host"});
}

/// Axis name → value, both canonical text. Sorted by name, as every file of a run shows them.
using Params = std::map<std::string, std::string, std::less<>>;

/// "k=v;k=v", sorted by key: the `params` column.
[[nodiscard]] std::string to_string(const Params& params);

/// True for text that is valid in a case id: letters, digits, '.', '_', '+' and '-', not empty.
[[nodiscard]] bool is_canonical_word(std::string_view text);

/// One benchmark at one point of its axes, on one kind of device.
struct Case {
  std::string suite;      ///< "micro", "access", or that of a ladder: "nbody"
  std::string benchmark;  ///< "layout_read"
  Backend backend = Backend::host;
  Params params;

  /// suite/benchmark/backend/key=value/…: canonical and stable across machines.
  [[nodiscard]] std::string id() const;
  /// The inverse of id(); empty if the text is not a case id.
  [[nodiscard]] static std::optional<Case> from_id(std::string_view id);
  bool operator==(const Case&) const = default;
};

}  // namespace strata
