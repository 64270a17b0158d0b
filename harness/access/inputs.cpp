#include "harness/access/inputs.hpp"

#include "harness/base/error.hpp"
#include "harness/base/ignored_signal.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/text.hpp"
#include "harness/base/this_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata::access {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed with its contents at the end of its lifetime.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string name = (fs::temp_directory_path() / "strata-access-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error{errno, std::generic_category(), "making " + name};
    }
    path_ = name;
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  PrivateFolder(PrivateFolder&&) = delete;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a handler sees nothing else
std::atomic<int> stop_signal{0};

void on_stop(int signal) {
  stop_signal = signal;
}

/// The path of a tool: on the PATH, or in a toolkit that is not on it. A given path is unchanged.
std::optional<std::string> find_tool(const std::string& name) {
  const auto may_run = [](const std::string& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    return may_run(name) ? std::optional{name} : std::nullopt;
  }
  const std::string path = environment_variable("PATH");
  std::vector<std::string> folders;
  for (const auto folder : split(path, ':'))
    folders.emplace_back(folder);
  for (const char* toolkit : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = environment_variable(toolkit); !root.empty())
      folders.push_back(root + "/bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const auto& folder : folders) {
    // An empty part of PATH means the working folder, which contains no toolkit.
    const std::string file = fmt::format("{}/{}", folder, name);
    if (!folder.empty() && may_run(file)) return file;
  }
  return std::nullopt;
}

struct Outcome {
  bool succeeded = false;
  std::string ending;  ///< "nvcc exited with status 1"
  std::string output;  ///< stdout and stderr, up to the requested number of bytes
};

/// Moves available output to `out`, and drops the excess.
void drain(int fd, std::string& out, std::size_t most) {
  std::array<char, 1U << 16U> block{};
  for (;;) {
    const auto count = ::read(fd, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    out.append(block.data(), std::min(static_cast<std::size_t>(count), most - out.size()));
  }
}

/// Runs a tool to its end, or kills it with its children. A signal that would end this process ends
/// the tool first, and the folder is removed.
Outcome run_tool(const std::string& tool, std::vector<std::string> words,
                 std::chrono::seconds patience, std::size_t most_output,
                 std::optional<PrivateFolder>& folder) {
  const std::string name = fs::path{tool}.filename().string();
  words.insert(words.begin(), name);
  Outcome outcome;
  {
    const HandledSignal interrupt{SIGINT, on_stop};
    const HandledSignal terminate{SIGTERM, on_stop};
    const HandledSignal hang_up{SIGHUP, on_stop};
    Subprocess child{{.executable = tool,
                      .arguments = std::move(words),
                      .environment = {"TMPDIR=" + folder->path().string()},
                      .what = name},
                     ""};
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::optional<std::string> ended;
    while (!ended && stop_signal == 0) {
      constexpr int milliseconds = 20;
      pollfd output{.fd = child.output(), .events = POLLIN, .revents = 0};
      // A process that has closed its output may still run.
      if (::poll(&output, 1, milliseconds) > 0 && (output.revents & POLLIN) == 0) ::usleep(1000);
      drain(child.output(), outcome.output, most_output);
      ended = child.ended();
      if (!ended && std::chrono::steady_clock::now() > deadline) break;
    }
    drain(child.output(), outcome.output, most_output);
    outcome.succeeded = child.succeeded();
    outcome.ending =
        ended.value_or(fmt::format("{} did not finish within {} s", name, patience.count()));
  }
  if (const int signal = stop_signal.exchange(0); signal != 0) {
    folder.reset();
    (void)::raise(signal);
    throw std::runtime_error{name + " was interrupted"};
  }
  return outcome;
}

/// Forwards the output of a tool.
void pass_on(std::string_view lines) {
  (void)std::fwrite(lines.data(), 1, lines.size(), stderr);
  if (!lines.empty() && !lines.ends_with('\n')) (void)std::fputc('\n', stderr);
}

std::string text_of(const fs::path& file) {
  return read_regular(file, 0, "PTX, a CUDA source or a binary with PTX", ptx::max_ptx_bytes);
}

constexpr std::size_t most_complaints = 1U << 16U;  // bytes of compiler output

std::string compile(const fs::path& file, const Tools& tools) {
  std::string compiler = tools.compiler;
  if (compiler.empty()) compiler = find_tool("nvcc") ? "nvcc" : "clang++";
  const auto found = find_tool(compiler);
  if (!found) {
    refuse({file.native()}, fmt::format("there is no {} to compile it", in_quotes(compiler)),
           "nvcc or clang++ on the PATH", "install a CUDA toolkit, or give the .ptx file");
  }
  std::optional<PrivateFolder> folder{std::in_place};
  const std::string out = (folder->path() / "out.ptx").string();
  const bool is_clang = fs::path{*found}.filename().string().find("clang") != std::string::npos;
  std::vector<std::string> words;
  if (is_clang) {
    words = {"-x", "cuda", "--cuda-device-only", "-S", "-O3", "-gline-tables-only"};
    if (!tools.architecture.empty()) words.push_back("--cuda-gpu-arch=" + tools.architecture);
  } else {
    words = {"-ptx", "-lineinfo"};
    if (!tools.architecture.empty()) words.push_back("-arch=" + tools.architecture);
  }
  words.insert(words.end(), tools.flags.begin(), tools.flags.end());
  // nvcc passes names to a shell within double quotes.
  if (const auto at = file.native().find_first_of("$`\"\n"); !is_clang && at != std::string::npos) {
    refuse({file.native()},
           fmt::format("{} in the name of a CUDA source", in_quotes(file.native().substr(at, 1))),
           "a name without $, `, \" and line breaks, which nvcc passes to a shell",
           "rename the file, or use --compiler clang++");
  }
  // A name that begins with a dash would be taken for a flag.
  const bool is_like_a_flag = file.native().starts_with('-');
  words.insert(words.end(), {"-o", out, is_like_a_flag ? "./" + file.string() : file.string()});
  const Outcome outcome = run_tool(*found, words, tools.patience, most_complaints, folder);
  if (!outcome.succeeded) {
    pass_on(outcome.output);
    refuse({file.native()}, outcome.ending, "CUDA C++ that compiles",
           "fix the errors above, or pass missing flags with --flag");
  }
  return text_of(out);
}

std::vector<std::string> unpack(const fs::path& file, const Tools& tools) {
  const auto tool = find_tool("cuobjdump");
  if (!tool) {
    refuse({file.native()}, "is a binary, and there is no cuobjdump to extract its PTX",
           "cuobjdump on the PATH", "install a CUDA toolkit, or give the .ptx file");
  }
  std::optional<PrivateFolder> folder{std::in_place};
  const Outcome outcome = run_tool(*tool, {"-ptx", fs::absolute(file).string()}, tools.patience,
                                   ptx::max_ptx_bytes, folder);
  auto texts = texts_in_dump(outcome.output);
  if (!outcome.succeeded) {
    pass_on(std::string_view{outcome.output}.substr(0, most_complaints));
    refuse({file.native()}, outcome.ending, "a binary that contains PTX",
           "compile it with -gencode arch=compute_90,code=compute_90");
  }
  if (texts.empty()) {
    refuse({file.native()}, "contains no PTX", "a binary that contains PTX",
           "compile it with -gencode arch=compute_90,code=compute_90");
  }
  return texts;
}

/// Whether the first bytes are those of an ELF file, a fat binary or an archive of them.
bool is_binary(const fs::path& file) {
  const UniqueFd fd = open_regular(file, O_RDONLY, "PTX, a CUDA source or a binary with PTX");
  std::array<char, 8> start{};
  const auto count = ::read(fd.get(), start.data(), start.size());
  const std::string_view bytes{start.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  constexpr std::array<std::string_view, 3> magics{
      "\x7f"
      "ELF",
      "\x50\xed\x55\xba", "!<arch>\n"};
  return std::ranges::any_of(magics, [&](auto magic) { return bytes.starts_with(magic); });
}

}  // namespace

Assembly unoptimised(std::string_view entry, std::uint64_t threads) {
  constexpr std::uint64_t registers = 65536;  // per block, since compute capability 7.5
  constexpr std::uint64_t most = 255;         // per thread
  constexpr std::uint64_t step = 8;           // allocated in steps of this size
  constexpr std::uint64_t together = 128;     // for this many threads together
  const std::uint64_t given = (threads + together - 1) / together * together;
  const std::uint64_t fit = registers / std::max(given, together) / step * step;
  return {.entry = std::string{entry},
          .is_optimised = false,
          .most_registers = fit < most ? static_cast<unsigned>(fit) : 0};
}

std::string assemble(std::string_view ptx, std::string_view name, const Tools& tools,
                     const Assembly& assembly) {
  const auto tool = find_tool("ptxas");
  if (!tool) {
    refuse({name}, "there is no ptxas to assemble it", "ptxas on the PATH",
           "install a CUDA toolkit");
  }
  std::optional<PrivateFolder> folder{std::in_place};
  const fs::path in = folder->path() / "in.ptx";
  const fs::path out = folder->path() / "out.cubin";
  std::ofstream{in, std::ios::binary} << ptx;
  std::vector<std::string> words{"-lineinfo", "-arch=" + tools.architecture, in.string(), "-o",
                                 out.string()};
  if (!assembly.entry.empty()) words.insert(words.end(), {"--entry", assembly.entry});
  if (!assembly.is_optimised) words.emplace_back("-O0");
  if (assembly.most_registers > 0) {
    words.push_back(fmt::format("--maxrregcount={}", assembly.most_registers));
  }
  const Outcome outcome =
      run_tool(*tool, std::move(words), tools.patience, most_complaints, folder);
  if (!outcome.succeeded) {
    if (!assembly.is_quiet) pass_on(outcome.output);
    refuse({name}, outcome.ending, "PTX that ptxas accepts for " + tools.architecture,
           "fix the errors above");
  }
  return read_regular(out, 0, "a cubin", ptx::max_ptx_bytes);
}

std::string disassemble(std::string_view cubin, std::string_view name, const Tools& tools) {
  const auto tool = find_tool("nvdisasm");
  if (!tool) {
    refuse({name}, "there is no nvdisasm to read its machine code", "nvdisasm on the PATH",
           "install a CUDA toolkit, or the package nvidia-cuda-nvdisasm");
  }
  std::optional<PrivateFolder> folder{std::in_place};
  const fs::path in = folder->path() / "in.cubin";
  std::ofstream{in, std::ios::binary} << cubin;
  const Outcome outcome =
      run_tool(*tool, {"-g", "-c", in.string()}, tools.patience, ptx::max_ptx_bytes, folder);
  if (!outcome.succeeded)
    refuse({name}, outcome.ending, "machine code that nvdisasm can read", "use a newer nvdisasm");
  return outcome.output;
}

std::vector<std::string> texts_in_dump(std::string_view dump) {
  std::vector<std::string> texts;
  bool inside = false;
  while (!dump.empty()) {
    const auto end = std::min(dump.find('\n'), dump.size() - 1) + 1;
    const std::string_view line = dump.substr(0, end);
    dump.remove_prefix(end);
    if (line.starts_with(".version")) {
      texts.emplace_back();
      inside = true;
    } else if (line.starts_with("Fatbin ") || line.starts_with("member ")) {
      inside = false;
    }
    if (inside) texts.back() += line;
  }
  return texts;
}

std::vector<Input> read_inputs(const fs::path& file, const Tools& tools) {
  std::vector<Input> inputs;
  const auto add = [&](std::string name, std::string text) {
    auto module = ptx::read(std::move(text), name);
    inputs.push_back({.name = std::move(name), .module = std::move(module)});
  };
  if (is_binary(file)) {
    auto texts = unpack(file, tools);
    const bool is_one = texts.size() == 1;
    for (std::size_t number = 1; auto& text : texts) {
      add(is_one ? file.string() : fmt::format("{}#{}", file.string(), number), std::move(text));
      ++number;
    }
  } else if (file.extension() == ".cu") {
    add(file.string(), compile(file, tools));
  } else {
    add(file.string(), text_of(file));
  }
  return inputs;
}

}  // namespace strata::access
