// Drives the fuzz target without libFuzzer: each file of a folder, then variants of them.
//
//   fuzz_parsers CORPUS VARIANTS
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// What is being parsed, for whoever dies of it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::string current;

void tell(int signal) {
  (void)!::write(STDERR_FILENO, current.data(), current.size());
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

void feed(const std::string& text) {
  current = text;
  const std::vector<std::uint8_t> bytes{text.begin(), text.end()};
  (void)LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

/// A few bytes are changed, taken out, doubled, or come from another file; the first line stays.
std::string variant(std::string text, const std::string& other, std::mt19937_64& random) {
  const auto below = [&](std::size_t most) { return random() % std::max<std::size_t>(most, 1); };
  const std::size_t first = text.find('\n') + 1;
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = first + below(text.size() - first);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 64));
    switch (below(4)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.insert(at, other.substr(below(other.size()), length));
        break;
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{argv[1]})
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::ifstream stream{file, std::ios::binary};
    texts.emplace_back(std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{});
    feed(texts.back());
  }
  for (const int signal : {SIGABRT, SIGFPE, SIGSEGV})
    (void)std::signal(signal, tell);
  const long variants = std::strtol(argv[2], nullptr, 10);
  std::mt19937_64 random{20261122};  // the same ones each time
  for (long i = 0; i < variants; ++i)
    feed(variant(texts[random() % texts.size()], texts[random() % texts.size()], random));
  std::printf("%zu files, %ld variants\n", texts.size(), variants);
  return texts.empty() ? 1 : 0;
}
