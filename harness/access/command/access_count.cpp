#include "harness/access/command/access_count.hpp"

#include "harness/access/inputs.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/marked_ptx.hpp"
#include "harness/access/optimize/optimize.hpp"
#include "harness/base/error.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/text.hpp"
#include "harness/base/unique_fd.hpp"
#include "harness/cli/commands.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/kernel_counts.hpp"
#include "harness/record/device.hpp"
#include "harness/run/worker_channel.hpp"

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
      throw UsageError{fmt::format("{} GiB of buffers; a launch may have at most {} GiB",
                                   bytes >> 30U, most_memory >> 30U)};
    }
    memory.content = content_of(buffer);
    memory.address_words = buffer.address_words;
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

CountedAccess counted_access_of(const Message& message) {
  return {.executed = message.at(0),
          .sectors = message.at(1),
          .tags = message.at(2),
          .wavefronts = message.at(3),
          .local_sectors = message.at(4)};
}

Message message_of(const CountedLaunch& counted) {
  Message message{{"accesses", Message::array()},
                  {"not_counted", counted.not_counted},
                  {"overrun", counted.overrun},
                  {"chip", counted.chip}};
  for (const auto& [instruction, access] : counted.accesses)
    message["accesses"].push_back({instruction, message_of(access)});
  if (counted.optimised) message["optimised"] = message_of(*counted.optimised);
  return message;
}

CountedLaunch counted_of(const Message& message) {
  CountedLaunch counted;
  for (const auto& one : message.at("accesses"))
    counted.accesses[one.at(0)] = counted_access_of(one.at(1));
  message.at("not_counted").get_to(counted.not_counted);
  message.at("overrun").get_to(counted.overrun);
  message.at("chip").get_to(counted.chip);
  if (const auto sum = message.find("optimised"); sum != message.end()) {
    counted.optimised = counted_access_of(*sum);
  }
  return counted;
}

/// The modules of a job. Each is read when a launch needs it; the launches of a module are
/// consecutive.
class JobModules {
 public:
  // Parentheses: braces would make the list the first element of another list.
  JobModules(const Message& job, int ordinal) : texts_(job.at("modules")), ordinal_{ordinal} {}

  /// The module of a request, as the only element.
  const std::vector<ptx::Module>& of(const Message& request) {
    const std::size_t index = request.at("module");
    if (module_.empty() || index != index_) {
      module_.clear();
      module_.push_back(ptx::read(texts_.at(index), "the PTX"));
      marked_ = mark(module_.front());
      tools_.architecture = architecture_of(ordinal_, std::string{module_.front().target});
      index_ = index;
    }
    return module_;
  }
  [[nodiscard]] const MarkedPtx& marked() const { return marked_; }
  [[nodiscard]] const Tools& tools() const { return tools_; }

 private:
  Message texts_;
  int ordinal_;
  std::size_t index_ = 0;
  std::vector<ptx::Module> module_;
  MarkedPtx marked_;
  Tools tools_;
};

/// Counts launches, one after the other.
class Counter {
 public:
  Counter(const Message& job, int ordinal) : ordinal_{ordinal}, modules_{job, ordinal} {
    const auto known = sass_metrics(ordinal);
    for (const std::string_view metric : metrics) {
      if (known.contains(std::string{metric})) wanted_.emplace_back(metric);
    }
  }

  [[nodiscard]] Message answer(const Message& request) {
    const auto& module = modules_.of(request);
    const MarkedPtx& marked = modules_.marked();
    const Launch launch = read_launch(request.at("file"), module);
    const ptx::Kernel& kernel = module.front().kernels[launch.kernel];
    // Contains this kernel only, because CUPTI allocates memory for everything in a cubin.
    const bool is_optimised = request.at("is_optimised");
    const Assembly assembly = is_optimised ? Assembly{.entry = std::string{kernel.name}}
                                           : unoptimised(kernel.name, launch.block.count());
    const std::string cubin = assemble(marked.text, "the PTX", modules_.tools(), assembly);
    const KernelCounts counted = count(on_device(module.front(), launch, cubin),
                                       launch.grid.count() * warps_of(launch.block.count()));
    const CodeCounts code{marked, launch.kernel, counted.instructions};
    CountedLaunch made{.chip = counted.chip};
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
  /// Counts in the context of the previous launches, or in a new one if CUPTI fails there: it may
  /// run out of memory, count nothing, or add earlier counts.
  [[nodiscard]] KernelCounts count(const KernelLaunch& launch, std::uint64_t warps) {
    const bool is_first = !has_counted_;
    if (!is_first && !renews_) {
      try {
        KernelCounts counted = count_kernel(ordinal_, launch, wanted_);
        if (is_whole(counted, warps)) return counted;
      } catch (const std::runtime_error&) {
        // The next try reports errors of the kernel itself.
      }
      renews_ = true;
    }
    if (!is_first) renew_context(ordinal_);
    has_counted_ = true;
    KernelCounts counted = count_kernel(ordinal_, launch, wanted_);
    if (is_first) tells_begin_ = warps_begun(counted.instructions) == warps;
    if (is_whole(counted, warps)) return counted;
    throw std::runtime_error{
        fmt::format("CUPTI's counts are inconsistent: the kernel has {} warps, but {} began", warps,
                    warps_begun(counted.instructions))};
  }

  /// Whether these are the complete counts of a single launch with `warps` warps.
  [[nodiscard]] bool is_whole(const KernelCounts& counted, std::uint64_t warps) const {
    return tells_begin_ ? warps_begun(counted.instructions) == warps
                        : is_anything_counted(counted.instructions);
  }

  int ordinal_;
  JobModules modules_;
  std::vector<std::string> wanted_;
  bool has_counted_ = false;
  bool renews_ = false;       ///< each launch has a context of its own
  bool tells_begin_ = false;  ///< the first instruction of a launch was counted for each warp
};

/// Launches kernels by turns with what changes make of them, one after the other.
class Trier {
 public:
  Trier(const Message& job, int ordinal) : ordinal_{ordinal}, modules_{job, ordinal} {}

  [[nodiscard]] Message answer(const Message& request) {
    const ptx::Module& module = modules_.of(request).front();
    const Launch launch = read_launch(request.at("file"), modules_.of(request));
    const ptx::Kernel& kernel = module.kernels[launch.kernel];
    const std::string words = request.at("change");
    const Optimized optimized =
        optimize(module, launch.kernel, parse_change("--change", words, module, kernel));
    const ptx::Module changed = ptx::read(optimized.alone, "the mended PTX");
    const auto compiled = [&](const ptx::Module& of, const Launch& how) {
      const std::string name{of.kernels[how.kernel].name};
      return on_device(
          of, how,
          assemble({of.text.data(), of.text.size()}, "the PTX", modules_.tools(), {.entry = name}));
    };
    constexpr unsigned turns = 41;
    const KernelTurns found = run_by_turns(
        ordinal_, compiled(module, launch),
        compiled(changed, optimized_launch(optimized, module, changed, launch)), turns);
    if (!found.overrun.empty()) {
      return {{"refused", fmt::format("the kernel wrote outside {}",
                                      in_quotes(launch.buffers[found.overrun.front()].name))}};
    }
    return {{"original", found.first}, {"mended", found.second}, {"different", found.different}};
  }

 private:
  int ordinal_;
  JobModules modules_;
};

/// The lines of a worker as they arrive; the last one reports how it ended.
class Worker {
 public:
  Worker(const std::string& device, const Message& job)
      : child_{{.arguments = {"strata", "access-worker", "--device", device}}, job.dump()} {}

  /// The next line. Nothing after the last line, or after `patience` without one: see why().
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
        ended = fmt::format("it did not finish within {} s", patience.count());
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

Message job_of(const char* task, std::span<const ptx::Module> modules) {
  Message texts = Message::array();
  for (const auto& module : modules)
    texts.push_back(std::string{module.text.begin(), module.text.end()});
  return {{"task", task}, {"modules", std::move(texts)}};
}

Message request_of(const LaunchFile& launch) {
  return {{"module", launch.module}, {"file", launch.file}};
}

bool is_same_launch(const Message& one, const Message& other) {
  return one.at("module") == other.at("module") && one.at("file") == other.at("file") &&
         one.value("change", "") == other.value("change", "");
}

/// Whether this is the last line of a worker.
bool is_end(const Message& message) {
  return message.contains("failed") || message.contains("unavailable") ||
         message.contains("no_device");
}

/// Why there is no answer; empty if there is one.
std::string failure_of(const Message& message) {
  for (const char* const key : {"failed", "refused", "unavailable"}) {
    if (const auto why = message.find(key); why != message.end()) return *why;
  }
  return {};
}

void throw_absence(const Message& message, bool is_any_answered) {
  if (const auto none = message.find("no_device"); none != message.end())
    throw DeviceUnavailable{*none};
  if (const auto none = message.find("unavailable"); none != message.end() && !is_any_answered) {
    throw CountersUnavailable{*none, message.at("mend")};
  }
}

/// The answers to all requests, in their order. A worker that ends costs no other launch its
/// answer: another worker follows. If it had answered other requests before, the one at which it
/// ended is not blamed yet, but becomes the first of the next worker. If that one answers it, later
/// workers get at most as many requests as the ended one had answered.
std::vector<Message> replies(Message job, const std::vector<Message>& requests,
                             const std::string& device, std::chrono::seconds patience) {
  std::vector<Message> all;
  std::size_t most = requests.size();
  std::size_t answered_before = 0;  // by the worker that ended at the next request
  bool is_any_answered = false;
  while (all.size() < requests.size()) {
    const auto first = requests.begin() + static_cast<std::ptrdiff_t>(all.size());
    const std::size_t count = std::min(most, requests.size() - all.size());
    job["launches"] = std::vector<Message>{first, first + static_cast<std::ptrdiff_t>(count)};
    Worker worker{device, job};
    for (std::size_t answered = 0; answered < count; ++answered) {
      auto message = worker.next(patience);
      if (!message) message = Message{{"failed", worker.why()}};
      if (!is_end(*message)) {
        if (answered_before > 0) most = answered_before;
        answered_before = 0;
        is_any_answered = is_any_answered || failure_of(*message).empty();
        all.push_back(std::move(*message));
        continue;
      }
      answered_before = answered;
      if (answered > 0) break;
      throw_absence(*message, is_any_answered);
      all.push_back(*message);
      // The same launch would fail again.
      while (all.size() < requests.size() &&
             is_same_launch(requests[all.size()], requests[all.size() - 1]))
        all.push_back(*message);
      break;
    }
  }
  return all;
}

}  // namespace

std::vector<CountedLaunch> count_launches(std::span<const ptx::Module> modules,
                                          const std::vector<LaunchFile>& launches,
                                          const std::string& device,
                                          std::chrono::seconds patience) {
  if (launches.empty()) return {};
  std::vector<Message> requests;
  for (const auto& launch : launches) {
    for (const bool is_optimised : {true, false}) {
      requests.push_back(request_of(launch));
      requests.back()["is_optimised"] = is_optimised;
    }
  }
  const auto answers = replies(job_of("count", modules), requests, device, patience);
  std::vector<CountedLaunch> all;
  for (std::size_t i = 0; i < answers.size(); i += 2) {
    const Message& whole = answers[i];
    const Message& plain = answers[i + 1];
    if (const auto refused = whole.find("refused"); refused != whole.end()) {
      throw UsageError{*refused};
    }
    const auto counted_in = [](const Message& one) {
      const std::string failure = failure_of(one);
      return failure.empty() ? counted_of(one) : CountedLaunch{.failure = failure};
    };
    const CountedLaunch optimised = counted_in(whole);
    CountedLaunch counted = optimised.failure.empty() ? counted_in(plain) : optimised;
    counted.optimised = optimised.optimised;
    counted.chip = optimised.chip;
    if (counted.overrun.empty()) counted.overrun = optimised.overrun;
    all.push_back(std::move(counted));
  }
  return all;
}

std::vector<Trial> try_changes(const ptx::Module& module, const std::vector<TrialRequest>& requests,
                               const std::string& device, std::chrono::seconds patience) {
  std::vector<Message> launches;
  for (const auto& request : requests) {
    launches.push_back(request_of({.file = request.file}));
    launches.back()["change"] = request.change;
  }
  std::vector<Trial> all;
  for (const Message& message : replies(job_of("try", {&module, 1}), launches, device, patience)) {
    Trial& trial = all.emplace_back(Trial{.failure = failure_of(message)});
    if (!trial.failure.empty()) continue;
    message.at("original").get_to(trial.original);
    message.at("mended").get_to(trial.optimized);
    message.at("different").get_to(trial.different);
  }
  return all;
}

}  // namespace access

void add_access_worker(Command app) {
  const auto device = std::make_shared<std::string>("cuda:0");
  auto worker = app.hidden_subcommand("access-worker");
  worker.option("--device", *device);
  worker.on_run([device] {
    become_worker();
    const auto send = [](const nlohmann::json& message) {
      constexpr auto replace = nlohmann::json::error_handler_t::replace;
      (void)write_some(worker_channel_fd, message.dump(-1, ' ', true, replace) + '\n');
    };
    const auto answer_all = [&](const nlohmann::json& job, auto worker_of) {
      for (const auto& request : job.at("launches")) {
        try {
          send(worker_of.answer(request));
        } catch (const UsageError& error) {  // this launch is at fault, not the others
          send({{"refused", error.what()}});
        }
      }
    };
    try {
      const auto job =
          nlohmann::json::parse(std::string{std::istreambuf_iterator<char>{std::cin}, {}});
      const int ordinal = parse_device_request(*device).ordinal;
      if (job.at("task") == "try") {
        answer_all(job, access::Trier{job, ordinal});
      } else {
        answer_all(job, access::Counter{job, ordinal});
      }
    } catch (const CountersUnavailable& error) {
      send({{"unavailable", error.what()}, {"mend", error.mend}});
    } catch (const DeviceUnavailable& error) {
      send({{"no_device", error.what()}});
    } catch (const std::exception& error) {
      send({{"failed", error.what()}});
    }
  });
}

}  // namespace strata
