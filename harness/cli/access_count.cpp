#include "harness/cli/access_count.hpp"

#include "harness/access/inputs.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/marked_ptx.hpp"
#include "harness/case/error.hpp"
#include "harness/case/subprocess.hpp"
#include "harness/case/unique_fd.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/kernel_counts.hpp"
#include "harness/record/device.hpp"
#include "harness/run/worker_channel.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <iostream>
#include <iterator>
#include <optional>
#include <poll.h>

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

Message message_of(const CountedAccess& access) {
  return {access.executed, access.sectors, access.tags, access.wavefronts, access.local_sectors};
}

CountedAccess counted_access_of(const Message& said) {
  return {.executed = said.at(0),
          .sectors = said.at(1),
          .tags = said.at(2),
          .wavefronts = said.at(3),
          .local_sectors = said.at(4)};
}

Message message_of(const CountedLaunch& counted) {
  Message said{{"accesses", Message::array()},
               {"not_counted", counted.not_counted},
               {"overrun", counted.overrun},
               {"chip", counted.chip}};
  for (const auto& [instruction, access] : counted.accesses)
    said["accesses"].push_back({instruction, message_of(access)});
  if (counted.optimised) said["optimised"] = message_of(*counted.optimised);
  return said;
}

CountedLaunch counted_of(const Message& said) {
  CountedLaunch counted;
  for (const auto& one : said.at("accesses"))
    counted.accesses[one.at(0)] = counted_access_of(one.at(1));
  said.at("not_counted").get_to(counted.not_counted);
  said.at("overrun").get_to(counted.overrun);
  said.at("chip").get_to(counted.chip);
  if (const auto sum = said.find("optimised"); sum != said.end()) {
    counted.optimised = counted_access_of(*sum);
  }
  return counted;
}

/// A module of which one kernel is launched on a device.
class Counter {
 public:
  Counter(std::string ptx, int ordinal) : ordinal_{ordinal} {
    modules_.push_back(ptx::read(std::move(ptx), "the PTX"));
    marked_ = mark(modules_.front());
    tools_.architecture = architecture_of(ordinal, std::string{modules_.front().target});
    const auto known = sass_metrics(ordinal);
    for (const std::string_view metric : metrics) {
      if (known.contains(std::string{metric})) wanted_.emplace_back(metric);
    }
    chip_ = chip_of_device(ordinal);
  }

  [[nodiscard]] Message count(const Message& request) const {
    const Launch launch = read_launch(request.at("file"), modules_);
    const ptx::Kernel& kernel = modules_.front().kernels[launch.kernel];
    // Of all its kernels alone this one: CUPTI takes memory for what a cubin holds.
    const bool is_optimised = request.at("is_optimised");
    const Assembly assembly = is_optimised ? Assembly{.entry = std::string{kernel.name}}
                                           : unoptimised(kernel.name, launch.block.count());
    const std::string cubin = assemble(marked_.text, "the PTX", tools_, assembly);
    const KernelCounts counted =
        count_kernel(ordinal_, on_device(modules_.front(), launch, cubin), wanted_);
    const CodeCounts code{marked_, launch.kernel, counted.instructions};
    CountedLaunch made{.chip = chip_};
    if (is_optimised) {
      made.optimised = sum_of(code);
    } else {
      count_accesses(code, kernel, source_lines(cubin, std::string{kernel.name}), made);
    }
    for (const std::size_t index : counted.overrun)
      made.overrun.push_back(launch.buffers[index].name);
    return message_of(made);
  }

 private:
  int ordinal_;
  std::vector<ptx::Module> modules_;
  MarkedPtx marked_;
  Tools tools_;
  std::vector<std::string> wanted_;
  std::string chip_;
};

/// The numbers of an access, in the order in which a worker sends them.
template <class Take>
void each_number(Access& access, const Take& take) {
  take(access.instruction);
  take(access.kind);
  take(access.space);
  take(access.width);
  take(access.warps);
  take(access.lanes);
  take(access.ideal_sectors);
  take(access.wavefronts);
  take(access.ideal_wavefronts);
  for (Traffic& traffic : access.traffic) {
    take(traffic.requests);
    take(traffic.transactions);
    take(traffic.sectors);
    take(traffic.lines);
    take(traffic.bytes_moved);
    take(traffic.bytes_used);
  }
}

/// A module whose kernels record their addresses.
class Tracer {
 public:
  Tracer(const Message& job, int ordinal) : ordinal_{ordinal}, bytes_{job.at("bytes")} {
    modules_.push_back(ptx::read(job.at("ptx"), "the PTX"));
    job.at("generations").get_to(generations_);
    tools_.architecture = architecture_of(ordinal, std::string{modules_.front().target});
  }

  [[nodiscard]] Message trace(const Message& request) const {
    Launch launch = read_launch(request.at("file"), modules_);
    std::vector<Access> wanted;
    std::vector<std::uint32_t> instructions;
    for (const auto& one : request.at("wanted")) {
      instructions.push_back(one.at(0));
      wanted.push_back({.instruction = one.at(0),
                        .kind = one.at(1),
                        .space = one.at(2),
                        .width = one.at(3),
                        .traffic = {}});
    }
    TracedPtx made = access::trace(modules_.front(), launch.kernel, instructions);
    Message left_out = Message::array();
    for (const auto& one : made.left_out) {
      left_out.push_back({one.instruction, one.why});
      std::erase_if(wanted, [&](const Access& of) { return of.instruction == one.instruction; });
    }
    Message accesses = Message::array();
    if (!wanted.empty()) {
      for (Access& access : record(made.text, std::move(launch), wanted)) {
        Message numbers = Message::array();
        each_number(access, [&](const auto& number) { numbers.push_back(number); });
        accesses.push_back(std::move(numbers));
      }
    }
    return {{"accesses", std::move(accesses)}, {"left_out", std::move(left_out)}};
  }

 private:
  [[nodiscard]] std::vector<Access> record(const std::string& text, Launch launch,
                                           const std::vector<Access>& wanted) const {
    const std::uint32_t kernel = launch.kernel;
    const ptx::Module traced = ptx::read(text, "the PTX that records");
    // Lanes meet where they do when it is counted.
    const std::string cubin =
        assemble(text, "the PTX that records", tools_,
                 unoptimised(traced.kernels[kernel].name, launch.block.count()));
    const TracedLaunch run = traced_launch(modules_.front(), traced, std::move(launch), bytes_);
    const auto bytes =
        run_kernel(ordinal_, on_device(traced, run.launch, cubin), {run.records, run.counts});
    std::vector<std::uint64_t> words(bytes[0].size() / sizeof(std::uint64_t));
    std::vector<std::uint32_t> counts(bytes[1].size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), bytes[0].data(), words.size() * sizeof words[0]);
    std::memcpy(counts.data(), bytes[1].data(), counts.size() * sizeof counts[0]);
    return traced_accesses(modules_.front().kernels[kernel], wanted, generations_,
                           {.grid = run.launch.grid,
                            .block = run.launch.block,
                            .capacity = run.capacity,
                            .words = words,
                            .counts = counts});
  }

  int ordinal_;
  std::uint64_t bytes_;
  std::vector<ptx::Module> modules_;
  std::vector<Generation> generations_;
  Tools tools_;
};

/// The lines of a worker as they come; the last one tells how it ended.
class Worker {
 public:
  Worker(const std::string& device, const Message& job)
      : child_{{.arguments = {"strata", "access-worker", "--device", device}}, job.dump()} {}

  /// Nothing after the last line, or after `patience` without one: why() says which.
  std::optional<Message> next(std::chrono::seconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::optional<std::string> ended;
    bool is_drained = false;
    for (;;) {
      while (!lines_.empty()) {
        const auto line = Message::parse(lines_.front().text, nullptr, false);
        lines_.pop_front();
        if (!line.is_discarded()) return line;
      }
      if (ended && is_drained) break;
      if (std::chrono::steady_clock::now() > deadline) {
        ended = fmt::format("no end within {} s", patience.count());
        break;
      }
      constexpr int milliseconds = 20;
      pollfd channel{.fd = child_.channel(), .events = POLLIN, .revents = 0};
      (void)::poll(&channel, 1, milliseconds);
      ended = child_.ended();
      auto batch = reader_.read(child_.channel());
      is_drained = batch.bytes == 0;
      std::ranges::move(batch.lines, std::back_inserter(lines_));
    }
    why_ = *ended;
    return std::nullopt;
  }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  Subprocess child_;
  LineReader reader_;
  std::deque<LineReader::Line> lines_;
  std::string why_;
};

constexpr std::size_t numbers_of_traffic = 6;

Access access_of(const Message& numbers) {
  Access access{.traffic = {}, .is_traced = true};
  std::size_t next = 0;
  each_number(access, [&](const auto& /*number*/) { ++next; });
  access.traffic.resize((numbers.size() - next) / numbers_of_traffic);
  next = 0;
  each_number(access, [&](auto& number) { numbers.at(next++).get_to(number); });
  return access;
}

TraceAnswer traced_of(const Message& said) {
  TraceAnswer answer;
  for (const auto& numbers : said.at("accesses"))
    answer.accesses.push_back(access_of(numbers));
  for (const auto& one : said.at("left_out"))
    answer.left_out.push_back({one.at(0), one.at(1)});
  return answer;
}

Message job_of(const ptx::Module& module, const char* task) {
  return {{"task", task}, {"ptx", std::string{module.text.begin(), module.text.end()}}};
}

void throw_refusal(const Message& said) {
  if (const auto usage = said.find("usage"); usage != said.end()) throw UsageError{*usage};
  if (const auto none = said.find("unavailable"); none != said.end()) {
    throw CountersUnavailable{*none, said.at("mend")};
  }
  if (const auto none = said.find("no_device"); none != said.end()) throw DeviceUnavailable{*none};
}

/// What workers answer of each launch; a launch that costs its worker costs no other's answer.
template <class Answer>
std::vector<Answer> answers(Message job, const std::vector<Message>& launches,
                            const std::string& device, std::chrono::seconds patience,
                            Answer (*read)(const Message&)) {
  std::vector<Answer> all;
  while (all.size() < launches.size()) {
    job["launches"] = std::vector<Message>{
        launches.begin() + static_cast<std::ptrdiff_t>(all.size()), launches.end()};
    Worker worker{device, job};
    bool goes_on = true;
    while (goes_on && all.size() < launches.size()) {
      const auto said = worker.next(patience);
      if (said) throw_refusal(*said);
      const bool is_lost = !said || said->contains("failed");
      const std::string why = !said ? worker.why() : said->value("failed", std::string{});
      all.push_back(is_lost ? Answer{.failure = why} : read(*said));
      // What no worker outlives ends it; what it only refuses does not.
      goes_on = said && !is_lost;
    }
  }
  return all;
}

}  // namespace

std::vector<CountedLaunch> count_launches(const ptx::Module& module,
                                          const std::vector<std::string>& files,
                                          const std::string& device,
                                          std::chrono::seconds patience) {
  const Message job = job_of(module, "count");
  std::vector<CountedLaunch> all;
  for (const auto& file : files) {
    const auto count = [&](bool is_optimised) {  // each in a process of its own (count_kernel)
      const Message launch{{"file", file}, {"is_optimised", is_optimised}};
      return answers<CountedLaunch>(job, {launch}, device, patience, counted_of).front();
    };
    CountedLaunch counted;
    try {
      counted = count(true);
      if (counted.failure.empty()) {
        CountedLaunch plain = count(false);
        plain.optimised = counted.optimised;
        plain.chip = counted.chip;
        if (plain.overrun.empty()) plain.overrun = counted.overrun;
        counted = std::move(plain);
      }
    } catch (const UsageError& refusal) {
      if (!counted.optimised) throw;
      counted.failure = refusal.what();
    } catch (const CountersUnavailable& absence) {
      const auto is_counted = [](const CountedLaunch& one) { return one.optimised.has_value(); };
      if (!is_counted(counted) && std::ranges::none_of(all, is_counted)) throw;
      counted.failure = absence.what();
    }
    all.push_back(std::move(counted));
  }
  return all;
}

std::vector<TraceAnswer> trace_launches(const ptx::Module& module,
                                        const std::vector<TraceRequest>& requests,
                                        const std::vector<Generation>& generations,
                                        const std::string& device, std::chrono::seconds patience,
                                        std::uint64_t bytes) {
  std::vector<Message> launches;
  for (const auto& request : requests) {
    Message wanted = Message::array();
    for (const Access& access : request.wanted)
      wanted.push_back({access.instruction, access.kind, access.space, access.width});
    launches.push_back({{"file", request.file}, {"wanted", std::move(wanted)}});
  }
  Message job = job_of(module, "trace");
  job["generations"] = generations;
  job["bytes"] = bytes;
  return answers<TraceAnswer>(std::move(job), launches, device, patience, traced_of);
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
      (void)write_some(worker_channel_fd, said.dump(-1, ' ', true, replace) + '\n');
    };
    try {
      const auto job =
          nlohmann::json::parse(std::string{std::istreambuf_iterator<char>{std::cin}, {}});
      const int ordinal = parse_device_request(*device).ordinal;
      if (job.at("task") == "trace") {
        const access::Tracer tracer{job, ordinal};
        for (const auto& request : job.at("launches")) {
          try {
            say(tracer.trace(request));
          } catch (const UsageError& error) {  // what is wrong with this launch is not with others
            say({{"failed", error.what()}});
          }
        }
      } else {
        const access::Counter counter{job.at("ptx"), ordinal};
        for (const auto& request : job.at("launches"))
          say(counter.count(request));
      }
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
