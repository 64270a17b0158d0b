// From what was collected in the processes of a program to the records of a run.
#pragma once

#include "harness/case/benchmark.hpp"
#include "harness/profile/part.hpp"
#include "harness/record/measurement.hpp"

#include <functional>
#include <string>
#include <vector>

namespace strata::profile {

inline constexpr const char* suite = "profile";

/// What is counted of a program.
struct Choice {
  std::size_t top = 10;                             ///< kernels, those that take most time
  std::size_t launches = 3;                         ///< of each shape, spread over the program
  std::function<bool(const std::string&)> matches;  ///< names of kernels; null: all
};

/// Name in C++ of a kernel.
[[nodiscard]] std::string kernel_name(const KernelShape& shape);

/// Why launches of this kernel are not counted, whatever its time; empty if they can be.
[[nodiscard]] std::string why_not_counted(const KernelShape& shape, const Launches& launches);

/// The launches to count, by their times in these processes; without metrics.
[[nodiscard]] Selection choose(const std::vector<Part>& parts, const Choice& choice);

/// What a process did on a device.
struct DeviceProfile {
  const Part* times = nullptr;
  unsigned device = 0;
  const Selection* selection = nullptr;
  const Part* counts = nullptr;  ///< of the same process of another run; null: nothing was counted
  double l2_bytes = 0;           ///< size of L2; 0: unknown
  std::string why_no_counts;     ///< then
};

/// A timing record of each kernel and shape, in the order of their total times, of each kind of
/// copy, and of the device; then the records of what was counted.
[[nodiscard]] std::vector<CaseRecord> records_of(const DeviceProfile& profile,
                                                 const CounterPlan& plan,
                                                 const std::string& started);

[[nodiscard]] std::vector<Benchmark> declarations_of(const std::vector<CaseRecord>& records,
                                                     const CounterPlan& plan);

/// Per part of the first run, the part of the second run that is of the same process: the one with
/// the same place among those of the same program. Null if there is none.
[[nodiscard]] std::vector<const Part*> matching_parts(const std::vector<Part>& times,
                                                      const std::vector<Part>& counts);

}  // namespace strata::profile
