#include "harness/model/coalescing.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace strata {
namespace {

using Lanes = std::span<const std::optional<std::uint64_t>>;

constexpr unsigned half_warp = 16;
constexpr std::uint64_t smallest_transaction = 32;

// In the order of the enumeration. SOURCES.md records the decisions where sources differ or are
// silent.
constexpr std::array<GenerationInfo, 6> rules{{
    {Generation::cc1_0, "1.0-1.1", "G80, G92: 8800 GTX",
     "A half-warp whose lane k reads word k of one aligned segment takes one transaction of 64 "
     "bytes (4-byte words) or 128 (8-byte words), or two of 128 (16-byte words); any other "
     "half-warp "
     "takes one of 32 bytes for each active lane.",
     "CUDA C Programming Guide 4.2, F.3.2.1 and Figure F-1; van den Braak et al. 2010, III-A"},
    {Generation::cc1_2, "1.2-1.3", "GT200: GTX 280",
     "Each segment that a half-warp touches (32 bytes for 1-byte words, 64 for 2-byte words, else "
     "128) takes one transaction, halved down to 32 bytes as long as only one half is used.",
     "CUDA C Programming Guide 4.2, F.3.2.2 and Figure F-1; van den Braak et al. 2010, III-A"},
    {Generation::cc2, "2.x", "Fermi: GTX 480",
     "A load is one request, two with 8-byte words, four with 16-byte words; each 128-byte line of "
     "a request is one transaction through L1 (if compiled to cache in L2 only: each 32-byte "
     "sector).",
     "CUDA C Programming Guide 4.2, F.4.2 and Figure F-1"},
    {Generation::cc3, "3.x", "Kepler: K40",
     "Requests as 2.x; global loads bypass L1, so each 32-byte sector of a request is one "
     "transaction.",
     "CUDA C Programming Guide 4.2, F.4.2 and F.5.2; Kepler Tuning Guide, L1 Cache"},
    {Generation::cc5, "5.x-6.x", "Maxwell, Pascal: P100",
     "Requests as 3.x; each 32-byte sector of a request is one transaction, whether or not L1 may "
     "cache it.",
     "CUDA C++ Programming Guide 13.0, 20.4.2 and 20.5.2; CUDA C++ Best Practices Guide 12.4, "
     "9.2.1"},
    {Generation::cc7, "7.x", "Volta and later: V100, H200",
     "A load is one request at every width; each distinct 32-byte sector of the whole warp is one "
     "transaction.",
     "CUDA C++ Best Practices Guide 12.4, 9.2.1; one request per load: counted on an H200"},
}};

void check(const WarpAccess& access) {
  if (access.width > 16 || !std::has_single_bit(access.width)) {
    throw std::invalid_argument("no lane can read " + std::to_string(access.width) +
                                " bytes at once; expected 1, 2, 4, 8 or 16");
  }
  for (const auto& address : access.addresses) {
    if (address && *address % access.width != 0) {
      throw std::invalid_argument("address " + std::to_string(*address) +
                                  " is no multiple of the width, " + std::to_string(access.width));
    }
  }
}

std::uint64_t active(Lanes lanes) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(lanes, [](const auto& address) { return address.has_value(); }));
}

/// The aligned blocks of `size` bytes that the lanes access, each once. No word spans two of them,
/// because words are aligned and no block is smaller than a word.
std::vector<std::uint64_t> blocks(Lanes lanes, std::uint64_t size) {
  std::vector<std::uint64_t> touched;
  for (const auto& address : lanes) {
    if (address) touched.push_back(*address / size);
  }
  std::ranges::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return touched;
}

struct Moved {
  std::uint64_t transactions = 0;
  std::uint64_t bytes = 0;
};

/// 1.0 and 1.1: whether lane k reads word k of an aligned segment. For 16-byte words that is two
/// consecutive segments of 128 bytes, so it need not begin at a multiple of 256.
bool in_sequence(Lanes half, unsigned width) {
  if (width < 4) return false;
  const std::uint64_t alignment = std::min(std::uint64_t{half_warp} * width, line_bytes);
  std::optional<std::uint64_t> segment;
  for (std::size_t lane = 0; lane < half.size(); ++lane) {
    if (!half[lane]) continue;
    const std::uint64_t before = lane * width;
    if (*half[lane] < before) return false;  // the segment would begin below address 0
    const std::uint64_t begin = *half[lane] - before;
    if (begin % alignment != 0 || begin != segment.value_or(begin)) return false;
    segment = begin;
  }
  return true;
}

Moved move_1_0(Lanes half, unsigned width) {
  if (!in_sequence(half, width)) return {active(half), smallest_transaction * active(half)};
  return {width == 16 ? 2U : 1U, std::uint64_t{half_warp} * width};
}

/// 1.2 and 1.3. The guide serves the segment of the lowest active lane, then that of the lowest
/// remaining lane, and so on; the order does not change number or size.
Moved move_1_2(Lanes half, unsigned width) {
  const std::uint64_t segment = width == 1 ? 32 : width == 2 ? 64 : 128;
  Moved moved;
  for (const std::uint64_t which : blocks(half, segment)) {
    std::uint64_t low = ~std::uint64_t{0};
    std::uint64_t high = 0;
    for (const auto& address : half) {
      if (!address || *address / segment != which) continue;
      low = std::min(low, *address);
      high = std::max(high, *address);
    }
    std::uint64_t size = segment;
    while (size > smallest_transaction && low / (size / 2) == high / (size / 2))
      size /= 2;
    ++moved.transactions;
    moved.bytes += size;
  }
  return moved;
}

Moved move(Generation generation, Lanes request, unsigned width) {
  if (generation == Generation::cc1_0) return move_1_0(request, width);
  if (generation == Generation::cc1_2) return move_1_2(request, width);
  const std::uint64_t size = generation == Generation::cc2 ? line_bytes : sector_bytes;
  const std::uint64_t touched = blocks(request, size).size();
  return {touched, touched * size};
}

/// The groups of lanes that the pipeline takes at once, if some of their lanes take part.
std::vector<Lanes> requests_of(Generation generation, const WarpAccess& access) {
  std::size_t size = warp_lanes;
  if (generation <= Generation::cc1_2) {
    size = half_warp;
  } else if (generation < Generation::cc7) {
    size = std::min<std::size_t>(warp_lanes, line_bytes / access.width);
  }
  std::vector<Lanes> requests;
  for (std::size_t first = 0; first < warp_lanes; first += size) {
    const Lanes request = Lanes{access.addresses}.subspan(first, size);
    if (active(request) > 0) requests.push_back(request);
  }
  return requests;
}

/// The largest number of distinct words that the lanes access in one bank.
std::uint64_t bank_degree(Lanes lanes, unsigned width) {
  std::array<std::set<std::uint64_t>, shared_banks> words;
  for (const auto& address : lanes) {
    for (std::uint64_t byte = 0; address && byte < width; byte += bank_bytes) {
      const std::uint64_t word = (*address + byte) / bank_bytes;
      words[word % shared_banks].insert(word);
    }
  }
  return std::ranges::max(words, {}, &std::set<std::uint64_t>::size).size();
}

/// Whether every lane has the address of the lane whose number differs in `bit`, if both take part.
/// Two groups of such lanes are served as one if each bank serves one word.
bool lanes_agree(Lanes lanes, std::size_t bit) {
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto& one = lanes[lane];
    const auto& other = lanes[lane ^ bit];
    if (one && other && *one != *other) return false;
  }
  return true;
}

/// Whether all lanes that take part have one address.
bool have_one_address(Lanes lanes) {
  const auto first = std::ranges::find_if(lanes, &std::optional<std::uint64_t>::has_value);
  return std::ranges::all_of(lanes, [&](const auto& one) { return !one || *one == **first; });
}

}  // namespace

std::span<const GenerationInfo> generations() {
  return rules;
}

const GenerationInfo& info_of(Generation generation) {
  return rules.at(static_cast<std::size_t>(generation));
}

std::optional<Generation> generation_from(std::string_view name) {
  const auto* const found = std::ranges::find(rules, name, &GenerationInfo::name);
  if (found == rules.end()) return std::nullopt;
  return found->generation;
}

Generation generation_of(int major, int minor) {
  if (major < 1 || (major == 1 && minor < 2)) return Generation::cc1_0;
  if (major == 1) return Generation::cc1_2;
  if (major == 2) return Generation::cc2;
  if (major < 5) return Generation::cc3;
  return major < 7 ? Generation::cc5 : Generation::cc7;
}

double Traffic::moved_over_used() const {
  return bytes_used == 0 ? 0 : static_cast<double>(bytes_moved) / static_cast<double>(bytes_used);
}

Traffic& Traffic::operator+=(const Traffic& other) {
  requests += other.requests;
  transactions += other.transactions;
  sectors += other.sectors;
  lines += other.lines;
  wavefronts += other.wavefronts;
  bytes_moved += other.bytes_moved;
  bytes_used += other.bytes_used;
  return *this;
}

Traffic traffic(Generation generation, const WarpAccess& access) {
  check(access);
  Traffic sum;
  for (const Lanes request : requests_of(generation, access)) {
    const Moved moved = move(generation, request, access.width);
    ++sum.requests;
    sum.transactions += moved.transactions;
    sum.bytes_moved += moved.bytes;
    sum.sectors += blocks(request, sector_bytes).size();
    sum.lines += blocks(request, line_bytes).size();
  }
  // A wavefront delivers at most 128 bytes to the lanes, even if several lanes get the same ones.
  if (generation == Generation::cc7) {
    sum.wavefronts = (active(access.addresses) * access.width + line_bytes - 1) / line_bytes;
  }
  sum.bytes_used = blocks(access.addresses, access.width).size() * access.width;
  return sum;
}

double SequenceTraffic::repeated_share() const {
  if (total.sectors == 0) return 0;
  return static_cast<double>(repeated_sectors) / static_cast<double>(total.sectors);
}

SequenceTraffic traffic(Generation generation, std::span<const WarpAccess> accesses) {
  SequenceTraffic sum;
  std::set<std::uint64_t> seen;
  for (const WarpAccess& access : accesses) {
    sum.total += traffic(generation, access);
    for (const Lanes request : requests_of(generation, access)) {
      for (const std::uint64_t sector : blocks(request, sector_bytes))
        sum.repeated_sectors += seen.contains(sector) ? 1 : 0;
    }
    // Only now, because another request of the same access is not an earlier access.
    for (const std::uint64_t sector : blocks(access.addresses, sector_bytes))
      seen.insert(sector);
  }
  return sum;
}

std::uint64_t shared_wavefronts(const WarpAccess& access) {
  check(access);
  if (access.width < bank_bytes) {
    throw std::invalid_argument{"shared memory is modelled for accesses of 4, 8 or 16 bytes, not " +
                                std::to_string(access.width)};
  }
  const Lanes warp{access.addresses};
  // As many lanes as fill a wavefront if all read different bytes.
  const std::size_t group = wavefront_bytes / access.width;
  if (group == warp.size()) return bank_degree(warp, access.width);
  if (2 * group < warp.size() && active(warp) > 0 && have_one_address(warp))
    return (active(warp) + half_warp - 1) / half_warp;
  std::uint64_t wavefronts = 0;
  for (std::size_t first = 0; first < warp.size(); first += 2 * group) {
    const Lanes both = warp.subspan(first, 2 * group);
    const bool agree = lanes_agree(both, 1) || lanes_agree(both, 2);
    wavefronts += agree && bank_degree(both, access.width) == 1
                      ? 1
                      : bank_degree(both.first(group), access.width) +
                            bank_degree(both.last(group), access.width);
  }
  return wavefronts;
}

}  // namespace strata
