// A device that counts launches without a GPU: what it does hangs on the kernel's name, and
// STRATA_FAKE_COUNTS says how many launches a context and a process can count. Machine code is the
// PTX itself, which tests/faults/ptxas passes on.
//
// A kernel named crash… ends the process, hang… stays, fail… throws. Any other moves 4 sectors in
// each execution of a global access, and every warp executes every instruction once. A launch takes
// a microsecond a block; of two by turns, the second takes longer if its name has "slow" in it, and
// leaves other bytes if it has "other".
#include "harness/base/text.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/kernel_counts.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

namespace strata {
namespace {

struct Limits {
  int of_context = 1 << 20;
  int of_process = 1 << 20;
  std::string beyond = "nothing";  ///< or "twice", "memory", "crash": what comes of one more
};

int number(std::string_view text) {
  int value = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// "CONTEXT PROCESS BEYOND".
Limits limits() {
  const char* const said = std::getenv("STRATA_FAKE_COUNTS");  // NOLINT(concurrency-mt-unsafe)
  if (said == nullptr) return {};
  const auto words = split(said, ' ');
  return {number(words.at(0)), number(words.at(1)), std::string{words.at(2)}};
}

struct Launches {
  int of_context = 0;
  int of_process = 0;
};
Launches& launches() {
  static Launches all;
  return all;
}

/// A line in the file that STRATA_FAKE_LOG names: what this process did.
void note(const std::string& what) {
  const char* const file = std::getenv("STRATA_FAKE_LOG");  // NOLINT(concurrency-mt-unsafe)
  if (file == nullptr) return;
  std::FILE* const log = std::fopen(file, "a");
  if (log == nullptr) return;
  fmt::print(log, "{} {}\n", ::getpid(), what);
  (void)std::fclose(log);
}

void run(const KernelLaunch& launch) {
  if (launch.function.starts_with("crash")) std::abort();
  if (launch.function.starts_with("fail")) throw std::runtime_error{"the kernel failed"};
  while (launch.function.starts_with("hang"))
    (void)::pause();
}

/// Of each instruction of the kernel its mark and its text.
std::vector<std::pair<std::uint32_t, std::string_view>> code_of(std::string_view cubin,
                                                                std::string_view function) {
  std::vector<std::pair<std::uint32_t, std::string_view>> code;
  bool is_inside = false;
  for (const auto line : split(cubin, '\n')) {
    constexpr std::string_view loc = ".loc 1 ";
    if (line.find(".entry") != std::string_view::npos) {
      is_inside = line.find(fmt::format(".entry {}(", function)) != std::string_view::npos;
    } else if (is_inside && line.starts_with(loc)) {
      code.emplace_back(number(line.substr(loc.size())), "");
    } else if (!code.empty() && code.back().second.empty()) {
      code.back().second = line;
    }
  }
  return code;
}

}  // namespace

std::string architecture_of(int /*ordinal*/, const std::string& /*target*/) {
  return "sm_90";
}

std::map<std::string, std::string> sass_metrics(int /*ordinal*/) {
  return {{"smsp__sass_inst_executed", ""}, {"smsp__sass_sectors_mem_global", ""}};
}

std::vector<std::uint32_t> source_lines(const std::string& cubin, const std::string& function) {
  std::vector<std::uint32_t> lines;
  for (const auto& [mark, text] : code_of(cubin, function))
    lines.push_back(mark);
  return lines;
}

KernelCounts count_kernel(int /*ordinal*/, const KernelLaunch& launch,
                          const std::vector<std::string>& /*metrics*/) {
  note("counts " + launch.function);
  const Limits most = limits();
  const int in_context = ++launches().of_context;
  const int in_process = ++launches().of_process;
  const bool is_beyond = in_context > most.of_context || in_process > most.of_process;
  if (most.of_process == 0) throw CountersUnavailable{"nobody may count here", "ask"};
  if (is_beyond && most.beyond == "memory") throw CountersUnavailable{"no memory", ""};
  if (is_beyond && most.beyond == "crash") std::abort();
  run(launch);
  KernelCounts counted{.chip = "GH100", .instructions = {}, .overrun = {}};
  if (is_beyond && most.beyond == "nothing") return counted;
  constexpr unsigned lanes = 32;
  const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  const std::uint64_t times = is_beyond ? 2 : 1;
  const std::uint64_t warps = blocks * ((threads + lanes - 1) / lanes) * times;
  std::uint64_t pc = 0;
  for (const auto& [mark, text] : code_of(launch.cubin, launch.function)) {
    InstructionCounts one{.pc = pc, .line = mark, .counts = {{"smsp__sass_inst_executed", warps}}};
    if (text.find(".global") != std::string_view::npos) {
      one.counts["smsp__sass_sectors_mem_global"] = 4 * warps;
    }
    counted.instructions.push_back(std::move(one));
    constexpr unsigned bytes = 16;
    pc += bytes;
  }
  return counted;
}

void renew_context(int /*ordinal*/) {
  note("renews");
  launches().of_context = 0;
}

KernelTurns run_by_turns(int /*ordinal*/, const KernelLaunch& first, const KernelLaunch& second,
                         unsigned turns) {
  note("tries " + second.function);
  run(first);
  run(second);
  const auto seconds = [](const KernelLaunch& launch) { return 1e-6 * launch.grid[0]; };
  const bool is_slow = second.function.find("slow") != std::string::npos;
  const bool is_other = second.function.find("other") != std::string::npos;
  return {.first = std::vector(turns, seconds(first)),
          .second = std::vector(turns, is_slow ? 2 * seconds(first) : seconds(second)),
          .different = is_other ? 3U : 0U};
}

}  // namespace strata
