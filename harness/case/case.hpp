#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace strata {

/// Where a benchmark runs: a CUDA device, or the CPU that hosts this process.
enum class Backend { cuda, host };

/// "cuda" or "host": the word of case ids and of the `backend` column.
[[nodiscard]] std::string_view to_string(Backend backend);
[[nodiscard]] std::optional<Backend> backend_from(std::string_view text);

/// Axis name → value, both canonical text. Sorted by name, as every file of a run shows them.
using Params = std::map<std::string, std::string, std::less<>>;

/// "k=v;k=v", sorted by key: the `params` column.
[[nodiscard]] std::string to_string(const Params& params);

/// True for text that may stand in a case id: letters, digits, '.', '_', '+' and '-', not empty.
[[nodiscard]] bool is_canonical_word(std::string_view text);

/// One benchmark at one point of its axes, on one kind of device.
struct Case {
  std::string suite;      ///< "micro" or "nbody"
  std::string benchmark;  ///< "layout_read"
  Backend backend = Backend::host;
  Params params;

  /// suite/benchmark/backend/key=value/…: canonical, stable across machines, usable in a regular
  /// expression without quoting.
  [[nodiscard]] std::string id() const;
  bool operator==(const Case&) const = default;
};

}  // namespace strata
