// What the library of `strata profile` collects in one process of a program, and the files through
// which it and the command exchange it. Needs neither a device nor CUDA, because it is compiled
// into a library that runs in the program's process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::profile {

/// A kernel and the shape of its launches.
struct KernelShape {
  std::string kernel;  ///< as in the binary
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  auto operator<=>(const KernelShape&) const = default;
};

/// Durations in ns: exact totals, and a uniform sample of bounded size.
class Durations {
 public:
  static constexpr std::size_t most_samples = 100;
  struct Sample {
    std::uint64_t duration = 0;
    std::uint64_t ordinal = 0;  ///< of the launch, from 1; 0: not one that can be counted
    auto operator<=>(const Sample&) const = default;
  };

  void add(std::uint64_t duration, std::uint64_t ordinal = 0);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t least() const { return least_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

 private:
  friend struct PartReader;
  std::uint64_t count_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t least_ = 0;
  std::uint64_t most_ = 0;
  std::vector<Sample> samples_;
  std::minstd_rand random_;
};

/// Launches of one kernel and shape on one device.
struct Launches {
  Durations times;
  std::uint64_t in_graphs = 0;  ///< of them, launched by graphs
  unsigned registers = 0;       ///< of a thread
  std::uint64_t static_shared = 0;
  std::uint64_t dynamic_shared = 0;
};

/// Copies or fills of one kind on one device.
struct Copies {
  Durations times;
  std::uint64_t bytes = 0;
};

/// When a device was busy: the union of intervals that arrive nearly in order, in bounded memory.
class BusyTime {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  /// Includes all intervals; later ones may only follow.
  void settle() { merge(0); }
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t last() const { return until_; }
  [[nodiscard]] std::uint64_t busy() const { return busy_; }
  [[nodiscard]] std::uint64_t gaps() const { return gaps_; }
  [[nodiscard]] std::uint64_t longest_gap() const { return longest_gap_; }

 private:
  friend struct PartReader;
  void merge(std::size_t kept);

  std::vector<std::pair<std::uint64_t, std::uint64_t>> pending_;
  std::uint64_t first_ = 0;
  std::uint64_t until_ = 0;
  std::uint64_t busy_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t longest_gap_ = 0;
};

struct DeviceFacts {
  std::string name;
  std::string uuid;        ///< "GPU-…"
  std::string capability;  ///< "9.0"
};

/// The counters of one launch.
struct CountedLaunch {
  unsigned device = 0;
  KernelShape shape;
  std::uint64_t ordinal = 0;   ///< among the launches of the shape on the device, from 1
  std::vector<double> values;  ///< in the order of `Part::metrics`; NaN: not available
};

/// What one process did.
struct Part {
  static constexpr std::size_t most_shapes = 20'000;

  std::string program;  ///< name of the executable, without its folder
  long process = 0;
  std::uint64_t begun = 0;  ///< ns since the epoch
  bool is_whole = false;    ///< the process reported its end
  std::map<unsigned, DeviceFacts> devices;
  std::map<unsigned, std::map<KernelShape, Launches>> kernels;
  std::map<unsigned, Durations> others;  ///< launches of shapes beyond `most_shapes`
  std::map<unsigned, std::map<std::string, Copies>> copies;
  std::map<unsigned, BusyTime> busy;
  std::vector<std::string> metrics;
  std::vector<CountedLaunch> counted;
  std::vector<std::string> notes;  ///< what was not collected, and why: one line each
  int refusal = 0;                 ///< result of CUPTI that ended counting; 0: none
  std::string refused_call;

  /// Launches of a shape are numbered in the order of these calls, without those of graphs.
  void add_kernel(unsigned device, const KernelShape& shape, std::uint64_t begin, std::uint64_t end,
                  bool in_graph, const Launches& facts);
  void add_copy(unsigned device, const std::string& kind, std::uint64_t begin, std::uint64_t end,
                std::uint64_t bytes);
  /// Adds the line once.
  void note(const std::string& line);
};

[[nodiscard]] std::string part_text(Part& part);
/// Lines that are malformed or incomplete are left out: the process may have been killed while it
/// wrote. Throws std::runtime_error if it is no part.
[[nodiscard]] Part read_part(std::string_view text);

/// The launches that are counted.
struct Selection {
  std::vector<std::string> metrics;
  std::map<KernelShape, std::vector<std::uint64_t>> launches;  ///< ordinals, ascending
};
[[nodiscard]] std::string selection_text(const Selection& selection);
[[nodiscard]] Selection read_selection(std::string_view text);

}  // namespace strata::profile
