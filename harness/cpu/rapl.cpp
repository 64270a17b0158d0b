#include "harness/cpu/rapl.hpp"

#include <fstream>
#include <optional>
#include <system_error>

namespace strata {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in{file};
  std::uint64_t number = 0;
  return in >> number ? std::optional{number} : std::nullopt;
}

/// "intel-rapl:0" is a package; "intel-rapl:0:0" is a part of it. AMD processors have that name,
/// too.
bool is_package(const std::string& name) {
  constexpr std::string_view prefix = "intel-rapl:";
  return name.starts_with(prefix) && name.find(':', prefix.size()) == std::string::npos;
}

}  // namespace

Rapl::Rapl(const fs::path& root) {
  const fs::path folder = root / "sys/class/powercap";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{folder, error}) {
    if (!is_package(entry.path().filename())) continue;
    const fs::path counter = entry.path() / "energy_uj";
    const auto now = number_in(counter);
    const auto range = number_in(entry.path() / "max_energy_range_uj");
    if (!now || !range) {
      absence_ = counter.string() + " cannot be read: often only root may";
      packages_.clear();
      return;
    }
    packages_.push_back({counter, *range, *now});
  }
  if (packages_.empty()) absence_ = folder.string() + " has no package: no RAPL here";
}

double Rapl::joules() {
  for (Package& package : packages_) {
    const auto now = number_in(package.counter);
    if (!now) continue;  // the next reading has it
    const std::uint64_t before = package.last;
    microjoules_ +=
        static_cast<double>(*now >= before ? *now - before : *now + package.range - before);
    package.last = *now;
  }
  constexpr double micro = 1e-6;
  return microjoules_ * micro;
}

}  // namespace strata
