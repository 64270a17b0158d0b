#include "harness/cpu/host_evict.hpp"

#include "harness/cpu/topology.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace strata {
namespace {

// The replacement rule of the last level is not known. Were it random, a sweep of twice the cache
// would spare a fifth of the lines, one of four times a fiftieth.
constexpr std::size_t caches = 4;
constexpr std::size_t least_bytes = std::size_t{8} << 20U;
constexpr std::size_t unknown_cache_bytes = std::size_t{64} << 20U;
constexpr std::size_t line_words =
    8;  // 64 bytes, the shortest line in use: longer ones are read twice

std::size_t largest_cache_bytes() {
  std::int64_t largest = 0;
  for (const auto& cache : caches_of(allowed_cpus().front())) {
    largest = std::max(largest, cache.bytes);
  }
  return largest > 0 ? static_cast<std::size_t>(largest) : unknown_cache_bytes;
}

}  // namespace

HostEviction::HostEviction(std::size_t last_level_bytes)
    : words_(std::max(caches * last_level_bytes, least_bytes) / sizeof(std::uint64_t)) {
  std::uint64_t value = 0;
  for (auto& word : words_) {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;
    word = value += golden;
  }
  evict();  // the end of the buffer is still dirty
}

HostEviction::HostEviction() : HostEviction{largest_cache_bytes()} {}

void HostEviction::evict() const {
  // Four sums that do not wait for each other, so that lines are fetched side by side.
  std::array<std::uint64_t, 4> sums{};
  constexpr std::size_t step = std::tuple_size_v<decltype(sums)> * line_words;
  for (std::size_t i = 0; i + step <= words_.size(); i += step) {
    std::size_t at = i;
    for (auto& sum : sums) {
      sum += words_[at];
      at += line_words;
    }
  }
  const std::uint64_t sum = sums[0] + sums[1] + sums[2] + sums[3];
  asm volatile("" : : "r"(sum) : "memory");  // the reads have a use
}

}  // namespace strata
