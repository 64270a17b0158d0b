#include "harness/cli/access_count.hpp"

#include "harness/access/marked_ptx.hpp"
#include "harness/case/error.hpp"
#include "harness/case/subprocess.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/kernel_counts.hpp"
#include "harness/record/device.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <iostream>
#include <iterator>
#include <optional>
#include <poll.h>
#include <unistd.h>

namespace strata {
namespace access {
namespace {

using Json = nlohmann::json;

constexpr std::string_view inst_executed = "smsp__sass_inst_executed";
constexpr std::string_view sectors_global = "smsp__sass_sectors_mem_global";
constexpr std::string_view tags_global = "smsp__sass_l1tex_tags_mem_global";
constexpr std::string_view wavefronts_shared = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared";
constexpr std::string_view sectors_local = "smsp__sass_sectors_mem_local";
constexpr std::array metrics{inst_executed, sectors_global, tags_global, wavefronts_shared,
                             sectors_local};

constexpr std::uint64_t most_memory = std::uint64_t{16} << 30U;

std::vector<std::uint8_t> content_of(const Buffer& buffer) {
  if (buffer.fill.kind == Fill::Kind::unknown) return {};
  std::vector<std::uint8_t> content(buffer.bytes);
  for (std::uint64_t i = 0; i < content.size(); i += 8) {
    const auto count = static_cast<unsigned>(std::min<std::uint64_t>(8, content.size() - i));
    const std::uint64_t word = buffer.fill.read(i, count);
    for (unsigned b = 0; b < count; ++b)
      content[i + b] = static_cast<std::uint8_t>(word >> (8 * b));
  }
  return content;
}

KernelLaunch on_device(const ptx::Module& module, const Launch& launch, std::string cubin) {
  const auto extent = [](const Extent& of) { return std::array{of.x, of.y, of.z}; };
  const ptx::Kernel& kernel = module.kernels[launch.kernel];
  KernelLaunch made{.cubin = std::move(cubin),
                    .function = std::string{kernel.name},
                    .grid = extent(launch.grid),
                    .block = extent(launch.block),
                    .dynamic_shared = launch.dynamic_shared,
                    .parameters = launch.params};
  if (launch.is_clustered) made.cluster = extent(launch.cluster);
  for (const auto param : kernel.params)
    made.parameter_offsets.push_back(module.symbols[param].offset);
  std::uint64_t bytes = 0;
  for (const auto& buffer : launch.buffers) {
    LaunchMemory memory{.bytes = buffer.bytes, .address = buffer.address};
    bytes += buffer.bytes;
    if (bytes > most_memory) {
      throw UsageError{fmt::format("{} GiB of buffers; at most {} GiB are launched with",
                                   bytes >> 30U, most_memory >> 30U)};
    }
    memory.content = content_of(buffer);
    if (buffer.symbol != ptx::no_index) memory.variable = module.symbols[buffer.symbol].name;
    made.memory.push_back(std::move(memory));
  }
  for (const auto& pointer : launch.pointers)
    made.memory[pointer.buffer].pointers.push_back({pointer.at, pointer.offset});
  return made;
}

/// Of instructions that are of one PTX instruction, those that moved something are its accesses.
Json counts_of(const KernelCounts& counted, const MarkedPtx& marked, std::uint32_t kernel) {
  std::map<std::uint32_t, CountedAccess> accesses;
  for (const auto& one : counted.instructions) {
    const auto place = marked.place_of(one.line);
    const auto count = [&](std::string_view metric) {
      const auto found = one.counts.find(std::string{metric});
      return found == one.counts.end() ? std::uint64_t{0} : found->second;
    };
    const bool moved = count(sectors_global) + count(tags_global) + count(wavefronts_shared) +
                           count(sectors_local) >
                       0;
    if (!moved || !place || place->kernel != kernel) continue;
    CountedAccess& access = accesses[place->instruction];
    access.executed += count(inst_executed);
    access.sectors += count(sectors_global);
    access.tags += count(tags_global);
    access.wavefronts += count(wavefronts_shared);
    access.local_sectors += count(sectors_local);
  }
  Json json = Json::array();
  for (const auto& [instruction, access] : accesses) {
    json.push_back({instruction, access.executed, access.sectors, access.tags, access.wavefronts,
                    access.local_sectors});
  }
  return json;
}

/// What the worker answers to {"ptx", "launch", "architecture"}.
Json answer(const Json& job, int ordinal) {
  const std::string file = job.at("launch");
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::read(job.at("ptx").get<std::string>(), "PTX of " + file));
  const ptx::Module& module = modules.front();
  const Launch launch = read_launch(file, modules);
  const MarkedPtx marked = mark(module);
  Tools tools;
  tools.architecture = architecture_of(ordinal, std::string{module.target});
  const KernelLaunch kernel =
      on_device(module, launch, assemble(marked.text, "PTX of " + file, tools));
  const auto known = sass_metrics(ordinal);
  std::vector<std::string> wanted;
  for (const std::string_view metric : metrics) {
    if (known.contains(std::string{metric})) wanted.emplace_back(metric);
  }
  const KernelCounts counted = count_kernel(ordinal, kernel, wanted);
  Json overrun = Json::array();
  for (const std::size_t index : counted.overrun)
    overrun.push_back(launch.buffers[index].name);
  return {{"accesses", counts_of(counted, marked, launch.kernel)}, {"overrun", overrun}};
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno != EINTR) return;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

CountedLaunch count_launch(const ptx::Module& module, const std::string& launch_file,
                           const std::string& device, std::chrono::seconds patience) {
  const Json job{{"ptx", std::string{module.text.begin(), module.text.end()}},
                 {"launch", launch_file}};
  Subprocess worker{{.arguments = {"strata", "access-worker", "--device", device}}, job.dump()};
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::optional<std::string> ended;
  while (!ended && std::chrono::steady_clock::now() < deadline) {
    std::array<char, 1U << 16U> block{};
    constexpr int milliseconds = 20;
    pollfd channel{.fd = worker.channel(), .events = POLLIN, .revents = 0};
    (void)::poll(&channel, 1, milliseconds);
    ended = worker.ended();
    while (true) {
      const auto count = ::read(worker.channel(), block.data(), block.size());
      if (count <= 0) break;
      text.append(block.data(), static_cast<std::size_t>(count));
    }
  }
  const Json said = Json::parse(text, nullptr, false);
  if (!ended || said.is_discarded()) {
    throw std::runtime_error{
        fmt::format("{}: the kernel was not counted: {}", launch_file,
                    ended.value_or(fmt::format("no end within {} s", patience.count())))};
  }
  if (const auto usage = said.find("usage"); usage != said.end()) throw UsageError{*usage};
  if (const auto none = said.find("unavailable"); none != said.end()) {
    throw CountersUnavailable{*none, said.at("mend")};
  }
  if (const auto none = said.find("no_device"); none != said.end()) throw DeviceUnavailable{*none};
  if (const auto failed = said.find("failed"); failed != said.end()) {
    throw std::runtime_error{fmt::format("{}: {}", launch_file, std::string{*failed})};
  }
  CountedLaunch counted;
  for (const auto& one : said.at("accesses")) {
    counted.accesses[one.at(0)] = {.executed = one.at(1),
                                   .sectors = one.at(2),
                                   .tags = one.at(3),
                                   .wavefronts = one.at(4),
                                   .local_sectors = one.at(5)};
  }
  counted.overrun = said.at("overrun").get<std::vector<std::string>>();
  return counted;
}

}  // namespace access

void add_access_worker(CLI::App& app) {
  const auto device = std::make_shared<std::string>("cuda:0");
  auto* worker = app.add_subcommand("access-worker", "")->group("");
  worker->add_option("--device", *device);
  worker->callback([device] {
    become_worker();
    nlohmann::json said;
    try {
      const std::string job{std::istreambuf_iterator<char>{std::cin}, {}};
      said = access::answer(nlohmann::json::parse(job), parse_device_request(*device).ordinal);
    } catch (const UsageError& error) {
      said = {{"usage", error.what()}};
    } catch (const CountersUnavailable& error) {
      said = {{"unavailable", error.what()}, {"mend", error.mend}};
    } catch (const DeviceUnavailable& error) {
      said = {{"no_device", error.what()}};
    } catch (const std::exception& error) {
      said = {{"failed", error.what()}};
    }
    access::write_all(worker_channel_fd,
                      said.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  });
}

}  // namespace strata
