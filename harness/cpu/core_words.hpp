// Memory of each core of a team.
#pragma once

#include "harness/cpu/thread_team.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata {

/// An array of words for every core, from the start of a cache line on. Each core touches its own
/// first, so that it is near it.
class CoreWords {
 public:
  /// `word(rank, i)` gives word `i` of a core.
  template <class Word>
  CoreWords(ThreadTeam& team, std::size_t words, const Word& word)
      : memory_(team.size()), data_(team.size()) {
    (void)team.run([&](std::size_t rank) {
      constexpr std::size_t line = 64;
      memory_[rank].resize(words + line / sizeof(std::uint32_t));
      void* at = memory_[rank].data();
      std::size_t room = memory_[rank].size() * sizeof(std::uint32_t);
      data_[rank] = static_cast<std::uint32_t*>(std::align(line, room - line, at, room));
      for (std::size_t i = 0; i < words; ++i)
        data_[rank][i] = word(rank, i);
    });
  }
  [[nodiscard]] std::uint32_t* of(std::size_t rank) const { return data_[rank]; }

 private:
  std::vector<std::vector<std::uint32_t>> memory_;
  std::vector<std::uint32_t*> data_;
};

}  // namespace strata
