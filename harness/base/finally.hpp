// An action that is undone when its holder goes out of scope.
#pragma once

#include <memory>

namespace strata {

/// Runs its action when the last copy is destroyed; if empty, it does nothing.
using Finally = std::shared_ptr<void>;

/// Calls `undo`, which must not throw, when the result is destroyed.
template <class Undo>
[[nodiscard]] Finally finally(Undo undo) {
  return {nullptr, [undo](void* /*nothing*/) { undo(); }};
}

}  // namespace strata
