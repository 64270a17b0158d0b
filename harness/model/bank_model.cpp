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
// successive banks. Each bank has a bandwidth of 32 bits per clock cycle. A shared memory request
// for a warp does not generate a bank conflict between two threads that access any address within
// the same 32-bit word" (CUDA C++ Programming Guide, Compute Capability 5.x, Shared
// Memory; 6.x, 7.x and later refer to it).
//
// Wide accesses. The same guide is silent for 5.x. Of 2.x it says that a 64-bit request "is split
// into two" half-warps, and that most 128-bit accesses conflict although no two threads of a
// quarter-warp do (CUDA C Programming Guide 4.2, F.4.3): a bank gives 4 bytes a cycle, so a
// half-warp of 8 bytes and a quarter-warp of 16 are the most that one wavefront can carry. Taken
// over.
//
// Lanes that agree. An engineer of NVIDIA writes of 7.0 to 7.5 (developer forum, thread 77228) that
// loads go twice as fast when lanes n and n ^ 1, or n and n ^ 2, have the same address in all
// active lanes, and that a 128-bit load then takes 2 requests instead of 4. So two neighbouring
// groups whose lanes agree in either way are taken as one. Whether the rule looks at both groups or
// at the whole warp he does not say: here it is the two groups, which is the same for accesses
// whose groups are alike. Of stores he says nothing: they are modelled as loads, and lanes of a
// store that agree are a race that no benchmark here runs.

/// Most distinct words of a bank.
std::uint64_t degree(const std::set<std::uint64_t>& words) {
  std::array<std::uint64_t, shared_banks> of_bank{};
  for (const std::uint64_t word : words)
    ++of_bank[word % shared_banks];
  return *std::ranges::max_element(of_bank);
}

std::set<std::uint64_t> words_of(Lanes lanes, unsigned width) {
  std::set<std::uint64_t> words;
  for (const auto& address : lanes) {
    if (!address) continue;
    for (std::uint64_t byte = 0; byte < width; byte += bank_bytes)
      words.insert((*address + byte) / bank_bytes);
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
  // As many lanes as fill a wavefront when each reads other bytes than the rest.
  const std::size_t group = wavefront_bytes / access.width;
  BankTraffic traffic;
  const auto take = [&](Lanes lanes) {
    const auto words = words_of(lanes, access.width);
    if (words.empty()) return;
    traffic.wavefronts += degree(words);
    traffic.words += words.size();
    ++traffic.groups;
  };
  if (group == warp.size()) {
    take(warp);
    return traffic;
  }
  for (std::size_t first = 0; first < warp.size(); first += 2 * group) {
    const Lanes both = warp.subspan(first, 2 * group);
    if (lanes_agree(both, 1) || lanes_agree(both, 2)) {
      take(both);
    } else {
      take(both.first(group));
      take(both.last(group));
    }
  }
  return traffic;
}

}  // namespace strata
