#include "harness/access/written_buffers.hpp"

namespace strata::access {
namespace {

// A stamp: the block, the number of its barriers so far, and the warp. 0 is none.
constexpr unsigned warp_bits = 6;
constexpr unsigned barrier_bits = 20;
constexpr std::uint64_t warp_mask = (std::uint64_t{1} << warp_bits) - 1;
constexpr std::uint64_t several_warps = warp_mask;
constexpr std::uint64_t first_operation = 48;  // in the place of the warp; blocks have at most 32
constexpr std::uint64_t several_blocks = ~std::uint64_t{0};

std::uint64_t stamp_of(const Epoch& by, std::uint64_t warp) {
  const std::uint64_t barriers = by.barriers & ((1U << barrier_bits) - 1);
  return ((by.block + 1) << barrier_bits | barriers) << warp_bits | warp;
}

/// Whether the epoch of `stamp` is over for `by`, or is of the same warp.
bool is_ordered(std::uint64_t stamp, std::uint64_t mine) {
  if (stamp == 0 || stamp == mine) return true;
  if (stamp == several_blocks) return false;
  const auto block = [](std::uint64_t s) { return s >> (barrier_bits + warp_bits); };
  if (block(stamp) != block(mine)) return false;
  return (stamp & warp_mask) == (mine & warp_mask) || stamp >> warp_bits < mine >> warp_bits;
}

std::uint64_t read_by(std::uint64_t reader, std::uint64_t mine) {
  if (is_ordered(reader, mine)) return mine;
  const bool same_epoch = reader >> warp_bits == mine >> warp_bits;
  return same_epoch ? mine | several_warps : several_blocks;
}

}  // namespace

bool WordOrder::touch(Stamps& stamps, const Epoch& by, Touch how, unsigned operation) {
  const std::uint64_t mine = stamp_of(by, by.warp);
  if (how == Touch::read) {
    const bool ordered = is_ordered(stamps.writer, mine);
    stamps.reader = read_by(stamps.reader, mine);
    return ordered;
  }
  if (how == Touch::write) {
    const bool ordered = is_ordered(stamps.writer, mine) && is_ordered(stamps.reader, mine);
    stamps.writer = mine;
    return ordered;
  }
  // Equal combinations of any warps and blocks may follow one another.
  const std::uint64_t combined = first_operation + operation;
  const bool follows_same = stamps.writer != 0 && stamps.writer != several_blocks &&
                            (stamps.writer & warp_mask) == combined;
  const bool ordered =
      (follows_same || is_ordered(stamps.writer, mine)) && is_ordered(stamps.reader, mine);
  const bool same_block = stamps.writer >> (barrier_bits + warp_bits) == by.block + 1;
  // One of several blocks: no read of this launch is ordered behind all of them.
  stamps.writer = follows_same && !same_block
                      ? stamp_of({.block = (std::uint64_t{1} << 37U) - 2}, combined)
                      : stamp_of(by, combined);
  return ordered;
}

WrittenBuffers::Page& WrittenBuffers::page(std::uint64_t number) {
  if (number == last_number_) return *last_;
  auto& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  last_number_ = number;
  last_ = page.get();
  return *last_;
}

bool WrittenBuffers::is_contested(std::uint64_t address, unsigned bytes) const {
  if (contested_.empty()) return false;
  const std::uint64_t last = (address + bytes - 1) / WordOrder::word_bytes;
  for (std::uint64_t word = address / WordOrder::word_bytes; word <= last; ++word) {
    if (contested_.contains(word)) return true;
  }
  return false;
}

void WrittenBuffers::touch(std::uint64_t address, unsigned bytes, const Epoch& by,
                           WordOrder::Touch how, unsigned operation) {
  const std::uint64_t last = (address + bytes - 1) / WordOrder::word_bytes;
  for (std::uint64_t word = address / WordOrder::word_bytes; word <= last; ++word) {
    auto& stamps = page(word * WordOrder::word_bytes / page_bytes)
                       .stamps.at(word % (page_bytes / WordOrder::word_bytes));
    if (WordOrder::touch(stamps, by, how, operation)) continue;
    found_contested_ = contested_.insert(word).second || found_contested_;
  }
}

bool WrittenBuffers::read(std::uint64_t address, unsigned bytes, const Epoch& by, bool is_known,
                          std::uint64_t& bits) {
  touch(address, bytes, by, WordOrder::Touch::read, 0);
  return peek(address, bytes, is_known, bits);
}

bool WrittenBuffers::peek(std::uint64_t address, unsigned bytes, bool is_known,
                          std::uint64_t& bits) {
  bool known = !is_contested(address, bytes);
  for (unsigned b = 0; b < bytes; ++b) {
    const Page& of = page((address + b) / page_bytes);
    const std::uint64_t at = (address + b) % page_bytes;
    const State state = of.states.at(at);
    known = known && (state == State::known || (state == State::initial && is_known));
    if (state == State::initial) continue;
    bits &= ~(std::uint64_t{0xFF} << (8 * b));
    bits |= std::uint64_t{of.values.at(at)} << (8 * b);
  }
  return known;
}

void WrittenBuffers::write(std::uint64_t address, unsigned bytes, const Epoch& by, bool is_known,
                           std::uint64_t bits, unsigned operation) {
  const bool combines = operation != 0;
  touch(address, bytes, by, combines ? WordOrder::Touch::combine : WordOrder::Touch::write,
        operation);
  for (unsigned b = 0; b < bytes; ++b) {
    Page& of = page((address + b) / page_bytes);
    const std::uint64_t at = (address + b) % page_bytes;
    of.values.at(at) = static_cast<std::uint8_t>(b < 8 ? bits >> (8 * b) : 0);
    of.states.at(at) = is_known ? State::known : State::unknown;
  }
}

}  // namespace strata::access
