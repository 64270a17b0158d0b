// What replay.cpp must end: an input that takes all time, and one that takes all memory.
#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  volatile bool goes_on = text == "endless";
  while (goes_on) {
  }
  if (text == "vast") return std::string(std::size_t{3} << 29U, 'x').empty() ? 1 : 0;
  return 0;
}
