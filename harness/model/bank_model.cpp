#include "harness/model/bank_model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

namespace strata {
namespace {

using Lanes = std::span<const std::optional<std::uint64_t>>;

// Where the rules come from, and what was decided where sources are silent:
//
// Banks. "Shared memory has 32 banks that are organized such that successive 32-bit words map to
// successive banks"; two threads that access the same word do not conflict (CUDA C++ Programming
// Guide, Compute Capability 5.x, Shared Memory; 6.x, 7.x and later refer to it).
//
// Wide accesses. The guide is silent for 5.x. Of 2.x it says that a 64-bit request "is split into
// two" half-warps, and that most 128-bit accesses conflict although no two threads of a
// quarter-warp do (CUDA C Programming Guide 4.2, F.4.3): these are the most that one wavefront can
// carry. Taken over.
//
// Lanes that agree. An engineer of NVIDIA writes of 7.0 to 7.5 (developer forum, thread 77228) that
// loads go twice as fast when lanes n and n ^ 1, or n and n ^ 2, have the same address in all
// active lanes: two neighbouring groups whose lanes agree in either way are taken as one. Whether
// the rule looks at two groups or at the whole warp he does not say; of stores he says nothing, and
// they are modelled as loads.

/// Most distinct words of a bank.
std::uint64_t degree(const std::set<std::uint64_t>& words) {
  std::array<std::uint64_t, 32> of_bank{};
  for (const std::uint64_t word : words)
    ++of_bank[word % of_bank.size()];
  return *std::ranges::max_element(of_bank);
}

/// The 4-byte words that the lanes touch.
std::set<std::uint64_t> words_of(Lanes lanes, unsigned width) {
  std::set<std::uint64_t> words;
  for (const auto& address : lanes) {
    for (std::uint64_t byte = 0; address && byte < width; byte += 4)
      words.insert((*address + byte) / 4);
  }
  return words;
}

/// True when every lane has the address of the lane whose number differs in `bit`, as far as both
/// take part.
bool lanes_agree(Lanes lanes, std::size_t bit) {
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto& one = lanes[lane];
    const auto& other = lanes[lane ^ bit];
    if (one && other && *one != *other) return false;
  }
  return true;
}

void require_shared_width(const WarpAccess& access) {
  if (access.width != 4 && access.width != 8 && access.width != 16) {
    throw std::invalid_argument{"shared memory is modelled for accesses of 4, 8 or 16 bytes, not " +
                                std::to_string(access.width)};
  }
  for (const auto& address : access.addresses) {
    if (address && *address % access.width != 0) {
      throw std::invalid_argument{"address " + std::to_string(*address) +
                                  " is no multiple of the access's width"};
    }
  }
}

}  // namespace

BankTraffic bank_traffic(const WarpAccess& access) {
  require_shared_width(access);
  const Lanes warp{access.addresses};
  BankTraffic traffic;
  const auto take = [&](Lanes lanes) {
    const auto words = words_of(lanes, access.width);
    if (words.empty()) return;
    traffic.wavefronts += degree(words);
    traffic.words += words.size();
    ++traffic.groups;
  };
  // As many lanes as fill a wavefront when each reads other bytes than the rest.
  const std::size_t group = wavefront_bytes / access.width;
  for (std::size_t first = 0; first < warp.size(); first += 2 * group) {
    const Lanes both = warp.subspan(first, std::min(2 * group, warp.size()));
    if (both.size() == group || lanes_agree(both, 1) || lanes_agree(both, 2)) {
      take(both);
    } else {
      take(both.first(group));
      take(both.last(group));
    }
  }
  return traffic;
}

}  // namespace strata
