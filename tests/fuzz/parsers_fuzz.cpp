// Any bytes are what a parser reads, or are refused in one line. The first line of an input names
// the parser, the rest is for it. A libFuzzer target; replay.cpp drives it where there is none.
#include "harness/access/control_flow.hpp"
#include "harness/access/evaluate.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/listing.hpp"
#include "harness/access/optimize/optimize.hpp"
#include "harness/access/optimize/same_results.hpp"
#include "harness/access/ptx.hpp"
#include "harness/base/error.hpp"
#include "harness/base/sha256.hpp"
#include "harness/base/text.hpp"
#include "harness/case/sweep.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/record/record_json.hpp"
#include "harness/run/worker_channel.hpp"
#include "nbody/fstat/reference/observation_file.hpp"
#include "nbody/gravity/problem/dataset_file.hpp"
#include "nbody/neighbours/reference/agent_file.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace strata {
namespace {

void nothing(Session& /*session*/) {}

void require(bool holds) {
  if (!holds) std::abort();
}

void one_line_if_refused(const auto& act) {
  try {
    act();
  } catch (const UsageError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos);
    require(!find_invalid_utf8(message));
  }
}

// Named as in the sweeps of this project, so that their text gets through as a seed.
const std::vector<Enrolled>& known() {
  static const std::vector<Enrolled> all = [] {
    const auto words = [](const char* name, const std::vector<std::string>& choices) {
      return Axis{.name = name, .meaning = "", .choices = choices, .defaults = choices};
    };
    const auto numbers = [](const char* name, long long least, long long most) {
      return Axis{.name = name,
                  .meaning = "",
                  .choices = {},
                  .minimum = least,
                  .maximum = most,
                  .defaults = {std::to_string(least)}};
    };
    const Benchmark layout_read{
        .suite = "micro",
        .name = "layout_read",
        .question = "?",
        .axes = {words("layout", {"aos", "soa", "aoas", "soaoas", "aosoa32"}),
                 words("residency", {"l1", "l2", "l3", "dram"}), words("cores", {"one", "all"}),
                 words("fields", {"all", "posmass"}), numbers("block_size", 32, 1024),
                 numbers("warps_per_sm", 1, 64)},
        .quantities = {},
        .excludes = {}};
    const Benchmark timer_check{.suite = "micro",
                                .name = "timer_check",
                                .question = "?",
                                .axes = {words("target", {"l1"})},
                                .quantities = {},
                                .excludes = {}};
    return std::vector<Enrolled>{{layout_read, nothing, nothing}, {timer_check, nothing, nullptr}};
  }();
  return all;
}

void sweep(const std::string& text) {
  const Sweep sweep = parse_sweep(text, "fuzz.yaml", known());
  require(!sweep.entries.empty());
  for (const auto backend : {Backend::cuda, Backend::host})
    (void)expand(sweep, backend, known());
}

void counter_set(const std::string& text) {
  require(!parse_counter_set(text, "fuzz.yaml").quantities.empty());
}

/// What was read, whatever its checksum, is written and read again as the same.
void record(const std::string& text) {
  const std::string line = sealed_line(from_json<CaseRecord>(text));
  require(sealed_line(record_in(line)) == line);
  (void)record_in(text);
}

void context(const std::string& text) {
  const std::string written = to_json(from_json<RunContext>(text));
  require(to_json(from_json<RunContext>(written)) == written);
}

void worker(const std::string& text) {
  (void)to_json(from_json<WorkerMessage>(text));
}

void job(const std::string& text) {
  (void)to_json(from_json<WorkerJob>(text));
}

/// A file of any ladder, with the checksum that belongs to it: else nobody would read on.
void dataset(const std::string& text) {
  std::string bytes = text;
  if (bytes.size() >= dataset_digest_at + sizeof(DatasetDigest)) {
    const auto at = bytes.begin() + dataset_digest_at;
    std::fill_n(at, sizeof(DatasetDigest), '\0');
    std::ranges::copy(sha256(bytes), at);
  }
  const UniqueFd fd{::memfd_create("fuzz", 0)};
  require(write_some(fd.get(), bytes) == bytes.size());
  const std::string file = "/proc/self/fd/" + std::to_string(fd.get());
  for (const auto& read : {+[](const std::string& name) { (void)nbody::read_dataset(name); },
                           +[](const std::string& name) { (void)neighbours::read_agents(name); },
                           +[](const std::string& name) { (void)fstat::read_observation(name); }})
    one_line_if_refused([&] { read(file); });
}

/// What the reader promises of places, and what follows from them.
void ptx_module(const std::string& text) {
  constexpr std::size_t most_parts = 1 << 16;  // or an input takes long
  const ptx::Module module = ptx::read(text, "fuzz.ptx", most_parts);
  for (const auto& kernel : module.kernels) {
    const auto check = [&](const ptx::Operand& operand, const auto& again) -> void {
      using enum ptx::Operand::Kind;
      if (operand.kind == reg) require(operand.index < kernel.registers.size());
      if (operand.kind == symbol) require(operand.index < module.symbols.size());
      if (operand.kind == function) require(operand.index < module.kernels.size());
      if (operand.kind == label) require(operand.index < kernel.labels.size());
      for (const auto& item : operand.items)
        again(item, again);
    };
    for (const auto& one : kernel.instructions) {
      require(one.guard == ptx::no_index || one.guard < kernel.registers.size());
      require(one.location == ptx::no_index || one.location < kernel.locations.size());
      for (const auto& operand : one.operands)
        check(operand, check);
    }
    for (std::uint32_t at = 0; at < kernel.locations.size(); ++at) {
      const std::uint32_t outer = kernel.locations[at].inlined_at;
      require(outer == ptx::no_index || outer < at);
    }
    const access::ControlFlow flow = access::control_flow(kernel);
    require(flow.block_of.size() == kernel.instructions.size());
  }
}

/// What is proved of whatever could be read, and what a launch of it asks of memory.
void accesses(const std::string& text) {
  constexpr std::size_t most_parts = 1 << 12;
  const ptx::Module module = ptx::read(text, "fuzz.ptx", most_parts);
  for (std::uint32_t k = 0; k < module.kernels.size(); ++k) {
    const ptx::Kernel& kernel = module.kernels[k];
    if (!kernel.defined) continue;
    for (const auto& row : access::list_accesses(module, k)) {
      const auto& parts = row.proof.parts;
      require(row.proof.instruction < kernel.instructions.size());
      require(!parts || parts->least <= parts->most);
    }
    if (!kernel.entry) continue;
    std::string arguments;
    for (std::size_t param = 0; param < kernel.params.size(); ++param)
      arguments += "\n  - unknown";
    const access::Launch launch = access::parse_launch(
        "schema: 1\nkernel: ^" + std::string{kernel.name} + "$\ngrid: [2]\nblock: [48]\n" +
            (arguments.empty() ? "" : "arguments:" + arguments + "\n"),
        "fuzz.yaml", {&module, 1});
    const auto evaluation = access::evaluate(module, launch, {.budget = 1 << 12, .threads = 1});
    for (const auto& access : evaluation.accesses)
      require(access.instruction < kernel.instructions.size());
  }
}

bool can_be_read(const std::string& text) {
  try {
    (void)ptx::read(text, "mended.ptx");
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// Whatever is changed leaves in memory what the original leaves.
void change_by(const std::string& words, const ptx::Module& module, std::uint32_t k) {
  constexpr std::uint64_t budget = 1 << 11;
  const ptx::Kernel& kernel = module.kernels[k];
  const access::Change change = access::parse_change("fuzz", words, module, kernel);
  try {
    const access::Optimized optimized = access::optimize(module, k, change);
    require(can_be_read(optimized.alone));
    const auto compared =
        access::compare_samples(module, k, optimized, /*wanted=*/1, /*seeds=*/3, budget);
    require(compared.worst.is_same());
  } catch (const access::NotOptimized& refused) {
    require(access::text_of(kernel, refused.refusal()).find('\n') == std::string::npos);
  }
}

void optimized(const std::string& text) {
  constexpr std::size_t most_parts = 1 << 12;
  const ptx::Module module = ptx::read(text, "fuzz.ptx", most_parts);
  for (std::uint32_t k = 0; k < module.kernels.size(); ++k) {
    const ptx::Kernel& kernel = module.kernels[k];
    if (!kernel.defined || !kernel.entry) continue;
    for (const char* const words :
         {"group=16", "threads=4", "passes=4", "swap=x,y", "exchange=x threads=2", "swizzle=128"}) {
      one_line_if_refused([&] { change_by(words, module, k); });  // no axis may be free
    }
  }
}

/// With a kernel that has a parameter of each kind.
const ptx::Module& one_kernel() {
  static const ptx::Module module = ptx::read(R"(.version 9.0
.target sm_90
.const .align 4 .b32 weights[4];
.extern .shared .align 16 .b8 dynamic[];
.entry k(.param .u64 data, .param .u32 n, .param .f32 scale, .param .align 8 .b8 turn[24])
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p; .reg .f32 %f;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p, %r2, %r1;
  @%p bra END;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  mul.wide.u32 %rd4, %r3, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.f32 %f, [%rd5];
  st.shared.f32 [dynamic], %f;
END:
  ret;
})",
                                              "k.ptx");
  return module;
}

void change(const std::string& text) {
  change_by(text, one_kernel(), 0);
}

void launch(const std::string& text) {
  const ptx::Module& module = one_kernel();
  const access::Launch launch = access::parse_launch(text, "fuzz.yaml", {&module, 1});
  (void)access::evaluate(module, launch, {.budget = 1 << 12, .threads = 1});
}

/// The words that a command line has: a setting, a filter, a case, counters, a device.
void words(const std::string& text) {
  for (const auto& each : {+[](const std::string& word) {
                             Sweep sweep{.name = "s", .entries = {{.benchmark = "layout_read"}}};
                             apply_settings(sweep, {word}, known());
                           },
                           +[](const std::string& word) {
                             (void)filter({{"micro", "layout_read", Backend::host, {}}}, word);
                           },
                           +[](const std::string& word) {
                             const auto which = Case::from_id(word);
                             require(!which || which->id() == word);
                           },
                           +[](const std::string& word) { (void)parse_counters({word}); },
                           +[](const std::string& word) { (void)parse_device_request(word); }}) {
    one_line_if_refused([&] { each(text); });
  }
}

constexpr std::array<std::pair<std::string_view, void (*)(const std::string&)>, 13> parsers{
    {{"sweep", sweep},
     {"counter_set", counter_set},
     {"record", record},
     {"context", context},
     {"worker", worker},
     {"job", job},
     {"dataset", dataset},
     {"ptx", ptx_module},
     {"accesses", accesses},
     {"mended", optimized},
     {"change", change},
     {"launch", launch},
     {"words", words}}};

void feed(std::string_view input) {
  const auto end = input.find('\n');
  if (end == std::string_view::npos) return;
  for (const auto& [name, parse] : parsers) {
    if (name != input.substr(0, end)) continue;
    try {
      one_line_if_refused([&, read = parse] { read(std::string{input.substr(end + 1)}); });
    } catch (const FormatError&) {  // NOLINT(bugprone-empty-catch): refused, which is right
    }
  }
}

}  // namespace
}  // namespace strata

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::feed(std::string(data, data + size));
  return 0;
}
