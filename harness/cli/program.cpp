#include "harness/cli/program.hpp"

#include "harness/base/error.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/text.hpp"
#include "harness/counters/counters.hpp"
#include "harness/record/build_info.hpp"
#include "harness/run/worker.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>

namespace strata {
namespace {

int fail(ExitCode code, std::string_view what) {
  // Not fmt::print, which throws if stderr is closed.
  (void)std::fputs(fmt::format("strata: {}\n", one_line(what)).c_str(), stderr);
  return static_cast<int>(code);
}

/// Internal to `run`: hidden.
void add_worker(Command app, int& status) {
  struct Options {
    std::string device = "auto";
    CounterSelection counters;
    bool probe = false;
    bool count = false;
    bool trace = false;
  };
  const auto options = std::make_shared<Options>();
  auto worker = app.hidden_subcommand("worker");
  worker.option("--device", options->device);
  worker.option("--counters", options->counters.wanted);
  worker.flag("--probe", options->probe);
  worker.flag("--count", options->count);
  worker.flag("--trace", options->trace);
  worker.flag("--by-benchmark", options->counters.by_benchmark);
  worker.on_run([options, &status] {
    const auto request = parse_device_request(options->device);
    if (options->probe) {
      status = answer_probe(request, options->counters);
    } else {
      status = run_job(request, options->count ? std::optional{options->counters} : std::nullopt,
                       options->trace);
    }
  });
}

/// The first word that the selected subcommand does not know, with the name that it may mean; empty
/// if there is none.
std::string describe_unknown_word(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty())
    app = app->get_subcommands().back();
  const auto words = app->remaining();
  if (words.empty()) return {};
  std::vector<std::string> names;
  for (const auto* const known : app->get_subcommands({})) {
    if (!known->get_group().empty()) names.push_back(known->get_name());
  }
  // The options after an unknown command belong to it.
  const bool has_commands = !names.empty();
  const auto first = std::ranges::find_if(
      words, [&](const std::string& word) { return word.starts_with('-') != has_commands; });
  const std::string& word = first == words.end() ? words.front() : *first;
  const bool is_option = word.starts_with('-');
  if (is_option) {
    names.clear();
    for (const auto* const known : app->get_options())
      std::ranges::transform(known->get_lnames(), std::back_inserter(names),
                             [](const auto& name) { return "--" + name; });
  }
  const char* const kind = is_option ? "option" : has_commands ? "command" : "argument";
  const auto near = nearest_name(word.substr(0, word.find('=')), names);
  return fmt::format("{} has no {} {}{}", app->get_name(), kind, in_quotes(word),
                     near ? fmt::format(": did you mean '{}'?", *near) : "");
}

/// Fails if anything that was printed is lost, as on a full disk. A reader that went away, as
/// `head` does, has what it wanted.
int check_output(int status) {
  const auto flush = [] {
    errno = 0;
    return std::fflush(stdout) == 0 ? 0 : errno;
  };
  int error = flush();
  if (error == 0) {
    if (std::ferror(stdout) == 0) return status;
    // The reason of an earlier write is forgotten. Another one fails for the same reason.
    std::clearerr(stdout);
    (void)std::fputc('\n', stdout);
    error = flush();
  }
  if (error == EPIPE || status != 0) return status;
  return fail(ExitCode::failed, fmt::format("cannot write all output: {}",
                                            error == 0 ? "a write failed" : std::strerror(error)));
}

int parse(std::vector<std::string> command,
          const std::function<void(Command app, int& status)>& add) {
  CLI::App app{"Measures the memory hierarchy of a GPU, or of the CPU if there is no GPU.",
               "strata"};
  const BuildInfo& build = build_info();
  app.set_version_flag("--version",
                       fmt::format("{} ({})", build.version,
                                   build.commit.empty() ? "unknown commit" : build.commit));
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 all cases measured or skipped for a stated reason; 1 some case failed; 2 bad "
      "input;\n3 no usable device; 130 interrupted (the run folder can be resumed).\nFirst steps: "
      "strata doctor; strata run quick; strata report RUN");
  int status = 0;
  add(Command{app}, status);
  add_worker(Command{app}, status);
  try {
    app.parse(static_cast<int>(command.size()), argument_vector(command).data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const bool is_unknown_word = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                                 dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const std::string unknown = is_unknown_word ? describe_unknown_word(app) : "";
    return fail(ExitCode::usage,
                fmt::format("{}; see strata --help", unknown.empty() ? error.what() : unknown));
  }
  return status;
}

}  // namespace

int run_program(std::vector<std::string> command,
                const std::function<void(Command app, int& status)>& add) {
  try {
    return check_output(parse(std::move(command), add));
  } catch (const UsageError& error) {
    return fail(ExitCode::usage, error.what());
  } catch (const DeviceUnavailable& error) {
    return fail(ExitCode::no_device, error.what());
  } catch (const CountersUnavailable& error) {
    const std::string remedy = error.mend.empty() ? "" : "; " + error.mend;
    return fail(ExitCode::no_device, error.what() + remedy);
  } catch (const std::exception& error) {
    return fail(ExitCode::failed, error.what());
  }
}

}  // namespace strata
