// Device memory of the emulated GPU: what cudaMalloc and its like give, at addresses that stay
// below the windows of shared and local memory. Memory that was given back is never given out
// again, so that whoever still uses it is found out.
#pragma once

#include "harness/access/device_memory.hpp"
#include "harness/access/launch_file.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <new>

namespace strata::emulated {

class Arena final : public access::DeviceMemory {
 public:
  Arena() {
    void* const wanted = reinterpret_cast<void*>(access::first_address);
    if (mmap(wanted, reserved, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != wanted) {
      throw std::bad_alloc{};
    }
  }

  /// Filled with bytes that are no likely result.
  [[nodiscard]] void* give(std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    constexpr int garbage = 0xCB;
    if (bytes == 0 || bytes > reserved || next_ > access::first_address + reserved - bytes) {
      throw std::bad_alloc{};
    }
    auto* const address = reinterpret_cast<std::uint8_t*>(next_);
    std::fill_n(address, bytes, static_cast<std::uint8_t>(garbage));
    allocated_.emplace(next_, bytes);
    next_ += (bytes / alignment + 2) * alignment;  // a gap behind each
    return address;
  }
  /// False where nothing begins there.
  [[nodiscard]] bool take_back(void* address) {
    const auto found = allocated_.find(reinterpret_cast<std::uint64_t>(address));
    if (found == allocated_.end()) return false;
    constexpr std::size_t page = 4096;
    const std::uint64_t first = (found->first + page - 1) / page * page;
    const std::uint64_t end = (found->first + found->second) / page * page;
    if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
    allocated_.erase(found);
    return true;
  }

  [[nodiscard]] std::uint8_t* at(std::uint64_t address, std::uint64_t bytes) override {
    auto next = allocated_.upper_bound(address);
    if (next == allocated_.begin()) return nullptr;
    const auto& [begin, length] = *std::prev(next);
    const std::uint64_t offset = address - begin;
    if (offset >= length || length - offset < bytes) return nullptr;
    return reinterpret_cast<std::uint8_t*>(address);
  }

 private:
  static constexpr std::size_t reserved = std::size_t{1} << 42U;
  std::map<std::uint64_t, std::size_t> allocated_;
  std::uint64_t next_ = access::first_address;
};

}  // namespace strata::emulated
