// For libFuzzer: whatever it changes, the first line of an input stays, which names the parser. So
// a target goes on with the parsers of its seeds.
#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned /*seed*/) {
  const std::uint8_t* const newline = std::find(data, data + size, '\n');
  const auto end = static_cast<std::size_t>(newline - data) + 1;
  if (end >= most) return size;  // not even a first line: libFuzzer's empty input
  data[end - 1] = '\n';
  return end + LLVMFuzzerMutate(data + end, size > end ? size - end : 0, most - end);
}
