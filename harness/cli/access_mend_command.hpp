// `strata access mend`.
#pragma once

#include "harness/cli/mend_trials.hpp"

namespace CLI {
class App;
}

namespace strata {

/// `app` is `access`. Without `try_changes` there is no --run.
void add_access_mend(CLI::App& app, int& status, const access::TryChanges& try_changes = {});

}  // namespace strata
