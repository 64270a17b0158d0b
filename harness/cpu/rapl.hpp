// Joules of the processor's packages, from the kernel's power capping interface (RAPL). The files
// are often readable by root only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace strata {

class Rapl {
 public:
  /// `root`: the folder that represents "/". Never throws: absence() explains.
  explicit Rapl(const std::filesystem::path& root = "/");

  /// Why nothing is known, in one line; empty if every package is read.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// Joules of all packages since this object was made. Call it at least once each minute: the
  /// counters start again at their range.
  [[nodiscard]] double joules();

 private:
  struct Package {
    std::filesystem::path counter;
    std::uint64_t range = 0;
    std::uint64_t last = 0;
  };
  std::vector<Package> packages_;
  std::string absence_;
  double microjoules_ = 0;
};

}  // namespace strata
