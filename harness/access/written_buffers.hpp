// The buffers that a kernel both writes and reads values from, while its blocks run one after the
// other.
//
// A value is known only if every order of the warps that PTX allows gives the same one. Accesses of
// two warps to a word are ordered if both are of one block with a barrier between them. A word that
// two warps access in no order, and that one of them writes, is contested: it stays unknown, and
// the launch must run again, because an access before may have taken it for known.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace strata::access {

/// A warp between two barriers of its block.
struct Epoch {
  std::uint64_t block = 0;
  std::uint32_t barriers = 0;
  std::uint32_t warp = 0;
};

/// The words of a memory that are contested, by address / 4.
using ContestedWords = std::unordered_set<std::uint64_t>;

/// By word: the last epochs that wrote and read it.
class WordOrder {
 public:
  static constexpr std::uint64_t word_bytes = 4;
  enum class Touch : std::uint8_t { read, write, combine };

  struct Stamps {
    std::uint64_t writer = 0;
    std::uint64_t reader = 0;
  };
  /// False if the word is contested by this touch. `operation` of a combination: combinations with
  /// the same one may happen in any order.
  [[nodiscard]] static bool touch(Stamps& stamps, const Epoch& by, Touch how, unsigned operation);
};

class WrittenBuffers {
 public:
  explicit WrittenBuffers(ContestedWords& contested) : contested_{contested} {}

  /// Replaces those of `bits` that were written. Returns whether the result is known, if the
  /// content at the start `is_known`.
  [[nodiscard]] bool read(std::uint64_t address, unsigned bytes, const Epoch& by, bool is_known,
                          std::uint64_t& bits);
  /// The same before a combination: a combination is ordered as a write is.
  [[nodiscard]] bool peek(std::uint64_t address, unsigned bytes, bool is_known,
                          std::uint64_t& bits);
  /// `operation`: of a combination with what was there; 0 for a store.
  void write(std::uint64_t address, unsigned bytes, const Epoch& by, bool is_known,
             std::uint64_t bits, unsigned operation = 0);

  [[nodiscard]] bool found_contested() const { return found_contested_; }
  [[nodiscard]] std::size_t pages() const { return pages_.size(); }

 private:
  static constexpr std::uint64_t page_bytes = 1024;
  enum class State : std::uint8_t { initial, known, unknown };
  struct Page {
    std::array<std::uint8_t, page_bytes> values{};
    std::array<State, page_bytes> states{};
    std::array<WordOrder::Stamps, page_bytes / WordOrder::word_bytes> stamps{};
  };
  Page& page(std::uint64_t number);
  void touch(std::uint64_t address, unsigned bytes, const Epoch& by, WordOrder::Touch how,
             unsigned operation);
  [[nodiscard]] bool is_contested(std::uint64_t address, unsigned bytes) const;

  ContestedWords& contested_;
  bool found_contested_ = false;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  Page* last_ = nullptr;
};

}  // namespace strata::access
