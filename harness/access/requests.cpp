#include "harness/access/requests.hpp"

#include "harness/access/warp_state.hpp"

#include <algorithm>
#include <bit>

namespace strata::access {
namespace {

constexpr std::uint64_t widest = 32;

/// Indices of the `size`-byte blocks that lanes access, and their number.
template <std::uint64_t size>
std::uint64_t touched(const LaneAccess& access, std::uint32_t mask) {
  std::array<std::uint64_t, warp_lanes> blocks{};
  std::size_t count = 0;
  std::uint64_t distinct = 0;
  bool sorted = true;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t block =
        access.addresses[static_cast<unsigned>(std::countr_zero(rest))] / size;
    if (count == 0 || block != blocks[count - 1]) {
      sorted = sorted && (count == 0 || block > blocks[count - 1]);
      blocks[count++] = block;
      ++distinct;
    }
  }
  if (sorted) return distinct;
  auto* const end = blocks.data() + count;
  std::sort(blocks.data(), end);
  return static_cast<std::uint64_t>(std::unique(blocks.data(), end) - blocks.data());
}

/// The lowest address.
std::uint64_t lowest(const LaneAccess& access) {
  std::uint64_t least = ~std::uint64_t{0};
  for_lanes(access.mask, [&](unsigned lane) { least = std::min(least, access.addresses[lane]); });
  return least;
}

WarpAccess general(const LaneAccess& access) {
  WarpAccess made{.width = access.width};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if ((access.mask >> lane & 1U) != 0) made.addresses.at(lane) = access.addresses[lane];
  }
  return made;
}

/// The largest number of distinct elements that lanes access in one of `places` groups of banks.
std::uint64_t bank_degree(const std::array<std::uint64_t, warp_lanes>& elements, std::uint32_t mask,
                          unsigned places) {
  std::array<std::array<std::uint64_t, warp_lanes>, shared_banks> wanted;  // NOLINT: by `count`
  std::array<unsigned, shared_banks> count{};
  unsigned most = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t element = elements[static_cast<unsigned>(std::countr_zero(rest))];
    const auto place = static_cast<unsigned>(element % places);
    auto* const begin = wanted[place].data();
    auto* const end = begin + count[place];
    if (std::find(begin, end, element) != end) continue;
    *end = element;
    most = std::max(most, ++count[place]);
  }
  return most;
}

/// Whether every lane has the element of the lane whose number differs in `bit`, if both take part.
bool lanes_agree(const std::array<std::uint64_t, warp_lanes>& elements, std::uint32_t mask,
                 unsigned bit) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned other = lane ^ bit;
    if ((mask >> other & 1U) != 0 && elements[lane] != elements[other]) return false;
  }
  return true;
}

/// Whether all lanes that take part have one element.
bool have_one_element(const std::array<std::uint64_t, warp_lanes>& elements, std::uint32_t mask) {
  const std::uint64_t first = elements[static_cast<unsigned>(std::countr_zero(mask))];
  bool same = true;
  for_lanes(mask, [&](unsigned lane) { same = same && elements[lane] == first; });
  return same;
}

/// Elements of `width` bytes by lane.
std::array<std::uint64_t, warp_lanes> elements_of(const LaneAccess& access, std::uint64_t width) {
  std::array<std::uint64_t, warp_lanes> elements{};
  for_lanes(access.mask, [&](unsigned lane) { elements[lane] = access.addresses[lane] / width; });
  return elements;
}

/// Whether two groups may be served as one, if each bank then serves one word.
bool groups_agree(const std::array<std::uint64_t, warp_lanes>& elements, std::uint32_t mask) {
  return lanes_agree(elements, mask, 1) || lanes_agree(elements, mask, 2);
}

/// Whether quads of lanes take part with the same lanes or not at all, and not with two that differ
/// in both bits.
bool quads_are_alike(std::uint32_t mask) {
  const std::uint32_t quad = mask >> (std::countr_zero(mask) / 4 * 4) & 0xFU;
  if (quad == 0b1001 || quad == 0b0110) return false;
  for (; mask != 0; mask >>= 4U) {
    if ((mask & 0xFU) != 0 && (mask & 0xFU) != quad) return false;
  }
  return true;
}

}  // namespace

std::uint64_t distinct_bytes(const LaneAccess& access) {
  switch (access.width) {
    case 1:
      return touched<1>(access, access.mask);
    case 2:
      return 2 * touched<2>(access, access.mask);
    case 4:
      return 4 * touched<4>(access, access.mask);
    case 8:
      return 8 * touched<8>(access, access.mask);
    case 16:
      return 16 * touched<16>(access, access.mask);
    default:
      return access.width * touched<widest>(access, access.mask);
  }
}

std::uint64_t fewest_sectors(std::uint64_t distinct) {
  return (distinct + sector_bytes - 1) / sector_bytes;
}
std::uint64_t contiguous_sectors(std::uint64_t begin, std::uint64_t distinct) {
  return fewest_sectors(begin % sector_bytes + distinct);
}
std::uint64_t fewest_wavefronts(std::uint64_t distinct) {
  return (distinct + wavefront_bytes - 1) / wavefront_bytes;
}

Traffic lane_traffic(Generation generation, const LaneAccess& access) {
  const bool wide = access.width == widest;
  if (wide) generation = Generation::cc7;
  if (generation <= Generation::cc1_2) return traffic(generation, general(access));
  std::size_t size = warp_lanes;
  if (generation < Generation::cc7) {
    size = std::min<std::size_t>(warp_lanes, line_bytes / access.width);
  }
  Traffic sum;
  const auto ones = size == warp_lanes ? ~std::uint32_t{0} : (std::uint32_t{1} << size) - 1;
  for (std::size_t first = 0; first < warp_lanes; first += size) {
    const std::uint32_t mask = access.mask & ones << first;
    if (mask == 0) continue;
    const std::uint64_t sectors = touched<sector_bytes>(access, mask);
    const std::uint64_t lines = touched<line_bytes>(access, mask);
    const bool by_lines = generation == Generation::cc2;
    ++sum.requests;
    sum.sectors += sectors;
    sum.lines += lines;
    sum.transactions += by_lines ? lines : sectors;
    sum.bytes_moved += by_lines ? lines * line_bytes : sectors * sector_bytes;
  }
  if (generation == Generation::cc7) {
    const auto active = static_cast<std::uint64_t>(std::popcount(access.mask));
    sum.wavefronts = (active * access.width + line_bytes - 1) / line_bytes;
  }
  sum.bytes_used = distinct_bytes(access);
  return sum;
}

std::uint64_t lane_wavefronts(const LaneAccess& access) {
  const std::uint64_t width = std::max<std::uint64_t>(access.width, bank_bytes);
  // As many lanes as fill a wavefront if all access different bytes.
  const auto group = static_cast<unsigned>(wavefront_bytes / width);
  const auto elements = elements_of(access, width);
  if (group == warp_lanes) return bank_degree(elements, access.mask, group);
  constexpr unsigned most_lanes = 16;  // of one address
  if (width == 16 && access.mask != 0 && have_one_element(elements, access.mask))
    return (static_cast<unsigned>(std::popcount(access.mask)) + most_lanes - 1) / most_lanes;
  const std::uint32_t ones = (std::uint32_t{1} << group) - 1;
  std::uint64_t wavefronts = 0;
  for (unsigned first = 0; first < warp_lanes; first += 2 * group) {
    const std::uint32_t low = access.mask & ones << first;
    const std::uint32_t high = access.mask & ones << group << first;
    const bool is_one =
        groups_agree(elements, low | high) && bank_degree(elements, low | high, group) == 1;
    wavefronts +=
        is_one ? 1 : bank_degree(elements, low, group) + bank_degree(elements, high, group);
  }
  return wavefronts;
}

bool wavefronts_are_known(const LaneAccess& access) {
  constexpr unsigned wide = 16;
  constexpr unsigned group = wavefront_bytes / wide;
  if (access.width != wide || ~access.mask == 0 || access.mask == 0) return true;
  const auto elements = elements_of(access, wide);
  if (have_one_element(elements, access.mask)) return true;
  for (unsigned first = 0; first < warp_lanes; first += 2 * group) {
    const std::uint32_t low = access.mask & 0xFFU << first;
    const std::uint32_t high = access.mask & 0xFF00U << first;
    const bool may_be_one = low != 0 && high != 0 && bank_degree(elements, low | high, group) == 1;
    const bool is_plain = quads_are_alike(access.mask) && groups_agree(elements, low | high);
    if (may_be_one && !is_plain) return false;
  }
  return true;
}

std::uint64_t atomic_wavefronts(const LaneAccess& access) {
  std::array<std::uint64_t, shared_banks> lanes_of{};
  std::uint64_t most = 0;
  for_lanes(access.mask, [&](unsigned lane) {
    most = std::max(most, ++lanes_of.at(access.addresses[lane] / bank_bytes % shared_banks));
  });
  return most;
}

namespace {

std::uint64_t wavefronts_of(RequestModel model, const LaneAccess& access) {
  constexpr std::uint64_t operands_of_swap = 2;
  if (model == RequestModel::shared) return lane_wavefronts(access);
  const std::uint64_t wavefronts = atomic_wavefronts(access);
  return model == RequestModel::shared_swap ? operands_of_swap * wavefronts : wavefronts;
}

}  // namespace

RequestModel model_of(bool is_shared, SharedAtomic atomic) {
  if (!is_shared) return RequestModel::global;
  if (atomic == SharedAtomic::native) return RequestModel::shared_atomic;
  return atomic == SharedAtomic::swap ? RequestModel::shared_swap : RequestModel::shared;
}

RequestCounter::RequestCounter(RequestModel model, std::span<const Generation> generations)
    : model_{model}, generations_{generations.begin(), generations.end()}, patterns_(1) {
  sums_.traffic.resize(model == RequestModel::global ? generations.size() : 0);
}

void RequestCounter::add(const LaneAccess& access, std::uint64_t times) {
  if (access.mask == 0) return;
  // Relative to the line of the lowest lane; lanes that take no part are set to 0.
  const auto first = static_cast<unsigned>(std::countr_zero(access.mask));
  const std::uint64_t line = access.addresses[first] / line_bytes * line_bytes;
  std::array<std::uint64_t, warp_lanes> offsets;  // NOLINT: every element is written
  if (access.mask == ~std::uint32_t{0}) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      offsets[lane] = access.addresses[lane] - line;
  } else {
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const std::uint64_t taken = std::uint64_t{0} - (access.mask >> lane & 1U);
      offsets[lane] = (access.addresses[lane] - line) & taken;
    }
  }
  const auto last = static_cast<unsigned>(31 - std::countl_zero(access.mask));
  constexpr std::uint64_t mix = 0x9E3779B97F4A7C15U;
  const std::uint64_t key = (offsets[first] + (offsets[last] << 8U) + access.mask) * mix;
  const auto kept_pattern = [&]() -> Pattern& {
    return patterns_[key >> (64 - kept_bits) & (patterns_.size() - 1)];
  };
  if (Pattern& pattern = kept_pattern(); pattern.times != 0 && pattern.mask == access.mask &&
                                         pattern.width == access.width &&
                                         pattern.offsets == offsets) {
    pattern.times += times;
    return;
  }
  settle(kept_pattern(), sums_);
  // Most instructions have one pattern, and a kernel may have 100,000 of them.
  if (patterns_.size() == 1 && patterns_.front().times != 0) patterns_.assign(kept, {});
  kept_pattern() = {.mask = access.mask, .width = access.width, .times = times, .offsets = offsets};
}

void RequestCounter::settle(const Pattern& pattern, RequestSums& sums) const {
  if (pattern.times == 0) return;
  // Addresses below the first lane's line wrapped around; the added room prevents that.
  constexpr std::uint64_t room = std::uint64_t{1} << 62U;
  std::array<std::uint64_t, warp_lanes> addresses = pattern.offsets;
  for (auto& address : addresses)
    address += room;
  const LaneAccess access{pattern.width, pattern.mask, addresses.data()};
  const std::uint64_t bytes = distinct_bytes(access);
  if (model_ != RequestModel::global) {
    sums.wavefronts += pattern.times * wavefronts_of(model_, access);
    if (model_ == RequestModel::shared && !wavefronts_are_known(access))
      sums.unmodelled += pattern.times;
    sums.ideal_wavefronts += pattern.times * fewest_wavefronts(bytes);
    return;
  }
  for (std::size_t g = 0; g < generations_.size(); ++g) {
    Traffic one = lane_traffic(generations_[g], access);
    one.requests *= pattern.times;
    one.transactions *= pattern.times;
    one.sectors *= pattern.times;
    one.lines *= pattern.times;
    one.wavefronts *= pattern.times;
    one.bytes_moved *= pattern.times;
    one.bytes_used *= pattern.times;
    sums.traffic[g] += one;
  }
  sums.ideal_sectors += pattern.times * fewest_sectors(bytes);
  sums.contiguous_sectors += pattern.times * contiguous_sectors(lowest(access), bytes);
}

RequestSums RequestCounter::sums() const {
  RequestSums all = sums_;
  for (const Pattern& pattern : patterns_)
    settle(pattern, all);
  return all;
}

void add_access(RequestCounter& requests, AccessKind kind, const LaneAccess& access,
                std::uint64_t times) {
  if (kind != AccessKind::matrix) return requests.add(access, times);
  constexpr unsigned rows = 8;
  for (unsigned first = 0; first < warp_lanes; first += rows)
    requests.add({access.width, access.mask & (0xFFU << first), access.addresses}, times);
}

}  // namespace strata::access
