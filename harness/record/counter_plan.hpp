// What the hardware counters count in a run: part of its context.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace strata {

/// A quantity that can be counted on the chip at hand.
struct CountedQuantity {
  std::string name;      ///< ours: "l1_load_sectors"
  std::string metric;    ///< the chip's: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
  std::string unit;      ///< "sector", "B", "1", …
  std::string meaning;   ///< one line
  std::string set;       ///< the counter set that asked for it; empty for a raw metric
  bool additive = true;  ///< counts of parts add up to the count of the whole (sums; not ratios)
};

/// What is counted in a run, and how.
struct CounterPlan {
  std::string chip;               ///< "GH100"
  std::vector<std::string> sets;  ///< names, as asked for
  std::vector<CountedQuantity> quantities;
  std::vector<std::string> absent;  ///< "set.quantity: this chip has none of …", one line each
  std::size_t passes = 0;           ///< how often a piece of work runs at most to be counted once
};

}  // namespace strata
