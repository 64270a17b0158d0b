// Drives the fuzz target without libFuzzer: each file of a folder, then variants of them. An input
// that takes more than 5 s or 1 GiB ends it.
//
//   fuzz_parsers CORPUS VARIANTS
#include <sys/resource.h>
#include <sys/time.h>

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
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// What is being parsed, for whoever dies of it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::string current;

constexpr itimerval most_time{.it_interval = {}, .it_value = {.tv_sec = 5, .tv_usec = 0}};
constexpr rlim_t most_memory = rlim_t{1} << 30;

void tell(int signal) {
  (void)!::write(STDERR_FILENO, current.data(), current.size());
  ::_exit(128 + signal);  // as a shell has it; ctest would not look at what a killed one said
}

void limit() {
  for (const int signal : {SIGABRT, SIGFPE, SIGSEGV, SIGPROF})
    (void)std::signal(signal, tell);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(
      [] { (void)!::write(STDERR_FILENO, current.data(), current.size()); });
#else
  const rlimit most{most_memory, most_memory};
  (void)::setrlimit(RLIMIT_AS, &most);
#endif
}

void feed(const std::string& name, const std::string& text) {
  current = name + ": " + text + "\n";
  const std::vector<std::uint8_t> bytes{text.begin(), text.end()};
  (void)::setitimer(ITIMER_PROF, &most_time, nullptr);  // of the processor: others may be busy, too
  (void)LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  rusage usage{};
  (void)::getrusage(RUSAGE_SELF, &usage);
  if (static_cast<rlim_t>(usage.ru_maxrss) << 10U > most_memory) std::abort();
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
  limit();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{argv[1]})
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::ifstream stream{file, std::ios::binary};
    texts.emplace_back(std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{});
    feed(file.filename(), texts.back());
  }
  const long variants = std::strtol(argv[2], nullptr, 10);
  std::mt19937_64 random{20261122};  // the same ones each time
  for (long i = 0; i < variants; ++i) {
    const std::size_t of = random() % texts.size();
    feed("variant of " + files[of].filename().string(),
         variant(texts[of], texts[random() % texts.size()], random));
  }
  std::printf("%zu files, %ld variants\n", texts.size(), variants);
  return texts.empty() ? 1 : 0;
}
