#include "harness/record/device_facts.hpp"

#include "harness/base/error.hpp"
#include "harness/base/text.hpp"

#include <variant>

namespace strata {
namespace {

template <class T>
const T* find(const Facts& facts, const char* name) {
  const auto found = facts.find(name);
  return found == facts.end() ? nullptr : std::get_if<T>(&found->second);
}

/// A fact that is above 0: a size in whole numbers, a rate as a real one.
template <class Fact, class Result>
std::optional<Result> positive(const Facts& facts, const char* name) {
  const auto* const value = find<Fact>(facts, name);
  if (value == nullptr || *value <= 0) return std::nullopt;
  return static_cast<Result>(*value);
}
constexpr auto size_of = positive<std::int64_t, std::uint64_t>;
constexpr auto rate_of = positive<double, double>;

}  // namespace

std::uint64_t need(const std::optional<std::uint64_t>& bytes, const char* name) {
  if (!bytes) throw Skipped{std::string{"the system does not report "} + name};
  return *bytes;
}

GpuFacts gpu_facts(const Facts& facts) {
  const auto size = [&](const char* name) { return need(size_of(facts, name), name); };
  GpuFacts gpu{.sms = static_cast<unsigned>(size("sm_count")),
               .l2_bytes = size("l2_bytes"),
               .memory_bytes = size("memory_bytes"),
               .shared_per_sm = size("shared_bytes_per_sm"),
               .shared_per_block = size("shared_bytes_per_block_optin"),
               .core_clock_peak = rate_of(facts, "core_clock_peak_hz"),
               .dram_pin_bandwidth = rate_of(facts, "dram_bytes_per_second_theoretical"),
               .l2_fetch_granularity = size_of(facts, "l2_fetch_granularity_bytes")};
  const auto* const capability = find<std::string>(facts, "compute_capability");
  const auto dot = capability == nullptr ? std::string::npos : capability->find('.');
  if (dot == std::string::npos) throw Skipped{"the system does not report compute_capability"};
  gpu.compute_capability = *capability;
  gpu.major = static_cast<int>(whole_number(capability->substr(0, dot)).value_or(0));
  gpu.minor = static_cast<int>(whole_number(capability->substr(dot + 1)).value_or(0));
  return gpu;
}

CpuFacts cpu_facts(const Facts& facts) {
  const auto cores = size_of(facts, "cores").value_or(1);
  const auto sharing = [&](const char* most, const char* caches, bool is_private) {
    return CpuFacts::Sharing{.most = size_of(facts, most).value_or(is_private ? 1 : cores),
                             .caches = size_of(facts, caches).value_or(is_private ? cores : 1)};
  };
  return {.l1_bytes = size_of(facts, "l1d_bytes"),
          .l2_bytes = size_of(facts, "l2_bytes"),
          .l3_bytes = size_of(facts, "l3_bytes"),
          .memory_bytes = size_of(facts, "memory_bytes"),
          .line_bytes = size_of(facts, "line_bytes"),
          .cores = cores,
          .l1 = sharing("l1d_shared_by", "l1d_caches", true),
          .l2 = sharing("l2_shared_by", "l2_caches", true),
          .l3 = sharing("l3_shared_by", "l3_caches", false)};
}

}  // namespace strata
