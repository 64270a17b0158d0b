// Something to be undone, in the hands of whoever holds it.
#pragma once

#include <memory>

namespace strata {

/// What is undone when the last copy goes; empty, nothing is.
using Finally = std::shared_ptr<void>;

/// Calls `undo`, which must not throw, when the result goes.
template <class Undo>
[[nodiscard]] Finally finally(Undo undo) {
  return {nullptr, [undo](void* /*nothing*/) { undo(); }};
}

}  // namespace strata
