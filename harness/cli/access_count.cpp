#include "harness/cli/access_count.hpp"

#include "harness/access/inputs.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/marked_ptx.hpp"
#include "harness/case/error.hpp"
#include "harness/case/subprocess.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/kernel_counts.hpp"
#include "harness/record/device.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>
#include <iterator>
#include <optional>
#include <poll.h>
#include <unistd.h>

namespace strata {
namespace access {
namespace {

using Message = nlohmann::json;

constexpr std::array metrics{sass::executed, sass::sectors, sass::tags, sass::wavefronts,
                             sass::local_sectors};

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
Message counts_of(const KernelCounts& counted, const MarkedPtx& marked, std::uint32_t kernel) {
  std::map<std::uint32_t, CountedAccess> accesses;
  for (const auto& one : counted.instructions) {
    const auto place = marked.place_of(one.line);
    const auto count = [&](std::string_view metric) {
      const auto found = one.counts.find(std::string{metric});
      return found == one.counts.end() ? std::uint64_t{0} : found->second;
    };
    const bool moved = count(sass::sectors) + count(sass::tags) + count(sass::wavefronts) +
                           count(sass::local_sectors) >
                       0;
    if (!moved || !place || place->kernel != kernel) continue;
    CountedAccess& access = accesses[place->instruction];
    access.executed += count(sass::executed);
    access.sectors += count(sass::sectors);
    access.tags += count(sass::tags);
    access.wavefronts += count(sass::wavefronts);
    access.local_sectors += count(sass::local_sectors);
  }
  Message json = Message::array();
  for (const auto& [instruction, access] : accesses) {
    json.push_back({instruction, access.executed, access.sectors, access.tags, access.wavefronts,
                    access.local_sectors});
  }
  return json;
}

/// A module on a device, assembled once.
class Counter {
 public:
  Counter(std::string ptx, int ordinal) : ordinal_{ordinal} {
    modules_.push_back(ptx::read(std::move(ptx), "the PTX"));
    marked_ = mark(modules_.front());
    Tools tools;
    tools.architecture = architecture_of(ordinal, std::string{modules_.front().target});
    cubin_ = assemble(marked_.text, "the PTX", tools);
    const auto known = sass_metrics(ordinal);
    for (const std::string_view metric : metrics) {
      if (known.contains(std::string{metric})) wanted_.emplace_back(metric);
    }
    chip_ = chip_of_device(ordinal);
  }

  [[nodiscard]] Message count(const std::string& file) const {
    const Launch launch = read_launch(file, modules_);
    const KernelCounts counted =
        count_kernel(ordinal_, on_device(modules_.front(), launch, cubin_), wanted_);
    Message overrun = Message::array();
    for (const std::size_t index : counted.overrun)
      overrun.push_back(launch.buffers[index].name);
    return {{"accesses", counts_of(counted, marked_, launch.kernel)},
            {"overrun", overrun},
            {"chip", chip_}};
  }

 private:
  int ordinal_;
  std::vector<ptx::Module> modules_;
  MarkedPtx marked_;
  std::string cubin_;
  std::vector<std::string> wanted_;
  std::string chip_;
};

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno != EINTR) return;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// The lines of a worker as they come; the last one tells how it ended.
class Worker {
 public:
  Worker(const std::string& device, const Message& job)
      : child_{{.arguments = {"strata", "access-worker", "--device", device}}, job.dump()} {}

  /// Nothing after the last line, or after `patience` without one: why() says which.
  std::optional<Message> next(std::chrono::seconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::optional<std::string> ended;
    for (;;) {
      if (const auto end = text_.find('\n'); end != std::string::npos) {
        const auto line = Message::parse(text_.substr(0, end), nullptr, false);
        text_.erase(0, end + 1);
        if (!line.is_discarded()) return line;
      }
      if (ended) break;
      if (std::chrono::steady_clock::now() > deadline) {
        ended = fmt::format("no end within {} s", patience.count());
        break;
      }
      constexpr int milliseconds = 20;
      pollfd channel{.fd = child_.channel(), .events = POLLIN, .revents = 0};
      (void)::poll(&channel, 1, milliseconds);
      ended = child_.ended();
      std::array<char, 1U << 16U> block{};
      for (ssize_t count = 0; (count = ::read(child_.channel(), block.data(), block.size())) > 0;)
        text_.append(block.data(), static_cast<std::size_t>(count));
    }
    why_ = *ended;
    return std::nullopt;
  }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  Subprocess child_;
  std::string text_;
  std::string why_;
};

CountedLaunch counted_of(const Message& said) {
  CountedLaunch counted;
  for (const auto& one : said.at("accesses")) {
    counted.accesses[one.at(0)] = {.executed = one.at(1),
                                   .sectors = one.at(2),
                                   .tags = one.at(3),
                                   .wavefronts = one.at(4),
                                   .local_sectors = one.at(5)};
  }
  counted.overrun = said.at("overrun").get<std::vector<std::string>>();
  counted.chip = said.at("chip");
  return counted;
}

void throw_refusal(const Message& said) {
  if (const auto usage = said.find("usage"); usage != said.end()) throw UsageError{*usage};
  if (const auto none = said.find("unavailable"); none != said.end()) {
    throw CountersUnavailable{*none, said.at("mend")};
  }
  if (const auto none = said.find("no_device"); none != said.end()) throw DeviceUnavailable{*none};
}

}  // namespace

std::vector<CountedLaunch> count_launches(const ptx::Module& module,
                                          const std::vector<std::string>& files,
                                          const std::string& device,
                                          std::chrono::seconds patience) {
  std::vector<CountedLaunch> counted;
  while (counted.size() < files.size()) {
    const auto rest = files.begin() + static_cast<std::ptrdiff_t>(counted.size());
    Worker worker{device,
                  {{"ptx", std::string{module.text.begin(), module.text.end()}},
                   {"launches", std::vector<std::string>{rest, files.end()}}}};
    while (counted.size() < files.size()) {
      const auto said = worker.next(patience);
      if (!said) {
        counted.push_back({.failure = worker.why()});
        break;  // that launch has cost its worker; the others get another one
      }
      throw_refusal(*said);
      const auto failed = said->find("failed");
      counted.push_back(failed == said->end() ? counted_of(*said)
                                              : CountedLaunch{.failure = *failed});
      if (failed != said->end()) break;
    }
  }
  return counted;
}

}  // namespace access

void add_access_worker(CLI::App& app) {
  const auto device = std::make_shared<std::string>("cuda:0");
  auto* worker = app.add_subcommand("access-worker", "")->group("");
  worker->add_option("--device", *device);
  worker->callback([device] {
    become_worker();
    const auto say = [](const nlohmann::json& said) {
      using enum nlohmann::json::error_handler_t;
      access::write_all(worker_channel_fd, said.dump(-1, ' ', true, replace) + '\n');
    };
    try {
      const auto job =
          nlohmann::json::parse(std::string{std::istreambuf_iterator<char>{std::cin}, {}});
      const access::Counter counter{job.at("ptx"), parse_device_request(*device).ordinal};
      for (const auto& file : job.at("launches"))
        say(counter.count(file));
    } catch (const UsageError& error) {
      say({{"usage", error.what()}});
    } catch (const CountersUnavailable& error) {
      say({{"unavailable", error.what()}, {"mend", error.mend}});
    } catch (const DeviceUnavailable& error) {
      say({{"no_device", error.what()}});
    } catch (const std::exception& error) {
      say({{"failed", error.what()}});
    }
  });
}

}  // namespace strata
