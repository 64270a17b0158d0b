// strata profile: runs a program twice, for the times of its kernels and for their counters, and
// writes a run folder per process and device.
#include "harness/base/error.hpp"
#include "harness/base/finally.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/text.hpp"
#include "harness/base/this_process.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/injected_program.hpp"
#include "harness/counters/counter_set.hpp"
#include "harness/cpu/topology.hpp"
#include "harness/profile/records.hpp"
#include "harness/record/build_info.hpp"
#include "harness/run/supervisor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata {
namespace {

namespace fs = std::filesystem;
using profile::Part;

struct ProfileOptions {
  std::vector<std::string> program;
  std::vector<std::string> command;  ///< argv
  std::string out = "runs";
  std::string kernel;
  std::string ceilings;
  std::size_t top = 10;
  std::size_t launches = 3;
  bool records_command = false;
};

/// The counter sets of a kernel, besides `memory`.
const std::vector<std::string>& counter_sets() {
  static const std::vector<std::string> sets{"flops",  "kernel", "l2",    "occupancy",
                                             "stalls", "issue",  "shared"};
  return sets;
}

void report(std::string_view line) {
  fmt::print(stderr, "strata: {}\n", one_line(line));
}

/// A folder of this process that is removed at the end.
fs::path temporary_folder() {
  std::string name = (fs::temp_directory_path() / "strata-profile-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw UsageError{fmt::format("cannot create {}: {}; set TMPDIR to a writable folder", name,
                                 std::generic_category().message(errno))};
  }
  return name;
}

/// The parts of the processes of a program, in the order of their begins.
std::vector<Part> read_parts(const fs::path& folder) {
  std::vector<Part> parts;
  for (const auto& entry : fs::directory_iterator{folder}) {
    if (entry.path().extension() == ".new") continue;
    std::ifstream stream{entry.path(), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{stream}, {}};
    try {
      parts.push_back(profile::read_part(text));
    } catch (const std::exception& error) {
      report(fmt::format("{}: {}", entry.path().string(), error.what()));
    }
  }
  std::ranges::sort(parts, {}, [](const Part& part) {
    return std::pair{part.begun, part.process};
  });
  return parts;
}

std::string with_own(std::string variable, const std::string& first) {
  const std::string before = environment_variable(variable.c_str());
  return fmt::format("{}={}{}{}", variable, first, before.empty() ? "" : ":", before);
}

/// Runs the program with the library; its parts are in `folder`. Returns its status by waitpid.
int run_profiled(const ProfileOptions& options, const fs::path& library, const fs::path& folder,
                 const fs::path& selection) {
  fs::create_directories(folder);
  const bool counts = !selection.empty();
  InjectedProgram program{
      .words = options.program,
      .library = library,
      .environment = {"STRATA_PROFILE_FOLDER=" + folder.string(),
                      fmt::format("STRATA_PROFILE_MODE={}", counts ? "counters" : "times")},
      .is_silent = counts};
  if (counts) program.environment.push_back("STRATA_PROFILE_SELECTION=" + selection.string());
  const fs::path before_exit = library.parent_path() / "libstrata_before_exit.so";
  if (std::error_code error; fs::exists(before_exit, error)) {
    program.environment.push_back(with_own("LD_PRELOAD", before_exit.string()));
  }
  return run_injected(program);
}

/// The chip of a compute capability, in CUPTI's words; empty for an unknown one.
std::string chip_of_capability(std::string_view capability) {
  constexpr std::array<std::pair<std::string_view, const char*>, 11> chips{{{"7.0", "GV100"},
                                                                            {"7.5", "TU102"},
                                                                            {"8.0", "GA100"},
                                                                            {"8.6", "GA102"},
                                                                            {"8.7", "GA10B"},
                                                                            {"8.9", "AD102"},
                                                                            {"9.0", "GH100"},
                                                                            {"10.0", "GB100"},
                                                                            {"10.3", "GB110"},
                                                                            {"12.0", "GB202"},
                                                                            {"12.1", "GB20B"}}};
  const auto found = std::ranges::find(chips, capability, &decltype(chips)::value_type::first);
  return found == chips.end() ? "" : found->second;
}

/// What this process knows of a device that a program used.
DeviceMessage described(unsigned ordinal, const profile::DeviceFacts& facts) {
  // First the ordinal of the program, which may see other devices than this process.
  constexpr unsigned most_devices = 16;
  std::vector<unsigned> ordinals{ordinal};
  for (unsigned other = 0; other < most_devices; ++other) {
    if (other != ordinal) ordinals.push_back(other);
  }
  for (const unsigned one : ordinals) {
    std::vector<std::string> words{"strata", "worker", "--device", fmt::format("cuda:{}", one),
                                   "--probe"};
    for (const auto& set : counter_sets())
      words.insert(words.end(), {"--counters", set});
    try {
      DeviceMessage answer = probe({.arguments = std::move(words)});
      if (answer.identity.uuid == facts.uuid) return answer;
    } catch (const DeviceUnavailable&) {
      break;
    }
  }
  DeviceMessage message = probe({.arguments = {"strata", "worker", "--device", "host", "--probe"}});
  message.backend = Backend::cuda;
  message.conditions.clear();
  message.identity = {
      .slug = slug(facts.name), .name = facts.name, .uuid = facts.uuid, .facts = {}};
  if (!facts.capability.empty()) message.identity.facts["compute_capability"] = facts.capability;
  message.counters = {};
  const std::string chip = chip_of_capability(facts.capability);
  try {
    if (chip.empty()) {
      throw CountersUnavailable{"the program used a device that this process does not see", ""};
    }
    message.counters.plan = resolve({counter_sets()}, *open_catalogue(chip));
  } catch (const CountersUnavailable& error) {
    message.counters = {
        .state = CountersInfo::State::unavailable, .reason = error.what(), .mend = error.mend};
  }
  return message;
}

/// One device of one process.
struct Place {
  std::size_t part = 0;
  unsigned device = 0;
};

std::vector<Place> places_of(const std::vector<Part>& parts) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const auto& [device, times] : parts[i].busy)
      places.push_back({i, device});
  }
  return places;
}

/// Lines about what was not collected, each once.
void report_notes(const std::vector<Part>& parts) {
  std::vector<std::string> lines;
  for (const Part& part : parts) {
    auto notes = part.notes;
    if (part.refusal != 0 && part.metrics.empty()) {
      notes.push_back(fmt::format("CUPTI failed: {}", part.refused_call));
    }
    if (!part.is_whole) {
      notes.push_back("it was ended without notice; what it did until a second before is kept");
    }
    for (const auto& note : notes) {
      auto line = fmt::format("{} (process {}): {}", part.program, part.process, note);
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
  }
  std::ranges::for_each(lines, report);
}

/// Prints the table of a run on standard error, by the analysis package. False if it could not.
bool print_table(const ProfileOptions& options, const fs::path& folder) {
  std::vector<std::string> arguments{"profile", folder.string()};
  if (!options.ceilings.empty())
    arguments.insert(arguments.end(), {"--ceilings", options.ceilings});
  auto words = analysis_call(arguments);
  posix_spawn_file_actions_t actions{};
  (void)::posix_spawn_file_actions_init(&actions);
  const Finally actions_go = finally([&] { (void)::posix_spawn_file_actions_destroy(&actions); });
  // Standard output is the program's.
  (void)::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = -1;
  int status = 0;
  const int error = ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr,
                                   argument_vector(words).data(), environ);
  if (error != 0) {
    report(fmt::format("no table: cannot start {}", words[0]));
    return false;
  }
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0;
}

/// The second run and what it counted.
struct CountedRun {
  profile::Selection selection;
  std::vector<Part> parts;
  std::string why_none;
  std::string mend;
};

/// Counts the kernels that take most time in another run of the program.
CountedRun count(const ProfileOptions& options, const std::vector<Part>& times, int first_status,
                 const DeviceMessage& device, const fs::path& library, const fs::path& room) {
  CountedRun run;
  run.why_none = device.counters.plan.chip.empty() ? device.counters.reason : "";
  run.mend = device.counters.mend;
  if (!run.why_none.empty()) return run;
  profile::Choice choice{.top = options.top, .launches = options.launches, .matches = {}};
  if (!options.kernel.empty()) choice.matches = matcher("--kernel", options.kernel);
  run.selection = profile::choose(times, choice);
  for (const auto& quantity : device.counters.plan.quantities)
    run.selection.metrics.push_back(quantity.metric);
  if (run.selection.launches.empty()) {
    run.why_none = "no kernel is to be counted";
    return run;
  }
  const fs::path file = room / "selection";
  std::ofstream{file, std::ios::binary} << profile::selection_text(run.selection);
  report(
      fmt::format("second run: counters of {} kernels and launch shapes, {} passes; what the "
                  "program prints is discarded",
                  run.selection.launches.size(), device.counters.plan.passes));
  const int status = run_profiled(options, library, room / "counters", file);
  if (status != first_status) {
    const auto ending = ending_of(status);
    report(fmt::format("second run: {} {}, unlike the first", options.program.front(),
                       ending.empty() ? "exited with status 0" : ending));
  }
  run.parts = read_parts(room / "counters");
  report_notes(run.parts);
  for (const Part& part : run.parts) {
    if (part.refusal == 0 || !part.counted.empty()) continue;
    const Absence absence =
        explain_counters(part.refusal, part.refused_call, "the range profiler", read_environment());
    run.why_none = absence.reason;
    run.mend = absence.mend;
  }
  return run;
}

/// The command and the environment of the program, if they are wanted.
std::string program_text(const ProfileOptions& options, const std::string& program) {
  std::string text = fmt::format("program: {}\n", one_line(program));
  if (!options.records_command) return text;
  text += "command:\n";
  for (const auto& word : options.program)
    text += fmt::format("- {}\n", one_line(word));
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one)
    variables.push_back(one_line(*one));
  std::ranges::sort(variables);
  text += "environment:\n";
  for (const auto& variable : variables)
    text += fmt::format("- {}\n", variable);
  return text;
}

/// Writes the run folder of a process and device.
fs::path write_run(const ProfileOptions& options, const profile::DeviceProfile& of,
                   const DeviceMessage& device, const CountedRun& counted,
                   const std::string& started) {
  const auto records = profile::records_of(of, device.counters.plan, started);
  SweepInfo sweep{.name = "profile",
                  .file = of.times->program,
                  .text = program_text(options, of.times->program)};
  for (const auto& record : records) {
    if (record.phase == Phase::timing) sweep.cases.push_back(record.which.id());
  }
  CountersInfo counters = device.counters;
  counters.requested = {"profile"};
  counters.state =
      of.why_no_counts.empty() ? CountersInfo::State::counted : CountersInfo::State::unavailable;
  counters.reason = of.why_no_counts;
  counters.mend = of.why_no_counts.empty() ? "" : counted.mend;
  if (!of.why_no_counts.empty()) counters.plan = {};
  RunFolder folder = RunFolder::create(
      options.out,
      {.strata = build_info(),
       .command = options.records_command ? options.command
                                          : std::vector<std::string>{"strata", "profile"},
       .backend = Backend::cuda,
       .device = device.identity,
       .host = device.host,
       .sweep = std::move(sweep),
       .counters = std::move(counters),
       .clocks_before = device.conditions,
       .timer = device.timer,
       .declarations =
           describe_benchmarks(profile::declarations_of(records, device.counters.plan))});
  for (const auto& record : records)
    folder.append(record);
  (void)folder.finish(RunState::complete, {});
  return folder.path();
}

int exit_status(int status) {
  constexpr int signalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status);
}

/// Returns the exit status of the program.
int run_profile(const ProfileOptions& options) {
  const std::string& name = options.program.front();
  (void)required_program(name);
  if (!options.kernel.empty()) (void)matcher("--kernel", options.kernel);
  const fs::path library = injected_library("libstrata_profile.so", "profile programs");
  const fs::path room = temporary_folder();
  const Finally room_goes = finally([&] {
    std::error_code ignored;
    (void)fs::remove_all(room, ignored);
  });
  const off_t input = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  const std::string started = utc_text();
  const int status = run_profiled(options, library, room / "times", {});
  if (WIFSIGNALED(status)) report(fmt::format("{} {}", name, ending_of(status)));
  const std::vector<Part> times = read_parts(room / "times");
  report_notes(times);
  const std::vector<Place> places = places_of(times);
  if (places.empty()) {
    report(fmt::format("nothing to profile: {} {}", name,
                       times.empty() ? "made no CUDA driver call" : "launched no kernel"));
    return exit_status(status);
  }
  std::map<std::string, DeviceMessage> devices;  // by UUID
  for (const Place& place : places) {
    const auto& facts = times[place.part].devices;
    const auto found = facts.find(place.device);
    const profile::DeviceFacts known =
        found == facts.end() ? profile::DeviceFacts{} : found->second;
    if (!devices.contains(known.uuid)) devices[known.uuid] = described(place.device, known);
  }
  CountedRun counted;
  if (WIFSIGNALED(status)) {
    counted.why_none = "the program was killed by a signal and is not run again";
  } else {
    // From the beginning again; what cannot be read twice is empty in the second run.
    if (input >= 0) (void)::lseek(STDIN_FILENO, input, SEEK_SET);
    counted = count(options, times, status, devices.begin()->second, library, room);
  }
  const auto matches = profile::matching_parts(times, counted.parts);
  for (const Place& place : places) {
    const Part& part = times[place.part];
    const auto facts = part.devices.find(place.device);
    const DeviceMessage& device = devices.at(facts == part.devices.end() ? "" : facts->second.uuid);
    const Part* const same = matches[place.part];
    const auto l2 = device.identity.facts.find("l2_bytes");
    const auto* const bytes =
        l2 == device.identity.facts.end() ? nullptr : std::get_if<std::int64_t>(&l2->second);
    const double l2_bytes = bytes == nullptr ? 0 : static_cast<double>(*bytes);
    std::string why = counted.why_none;
    if (why.empty() && same == nullptr) why = "the second run had no such process";
    const fs::path folder = write_run(options,
                                      {.times = &part,
                                       .device = place.device,
                                       .selection = &counted.selection,
                                       .counts = same,
                                       .l2_bytes = l2_bytes,
                                       .why_no_counts = why},
                                      device, counted, started);
    if (!print_table(options, folder) && !why.empty()) {
      report(
          fmt::format("no counters: {}{}{}", why, counted.mend.empty() ? "" : "; ", counted.mend));
    }
    report(folder.string());
  }
  return exit_status(status);
}

}  // namespace

void add_profile(Command app, int& status, const std::vector<std::string>& command) {
  const auto options = std::make_shared<ProfileOptions>();
  options->command = command;
  auto sub = app.subcommand(
      "profile", "times and counters of the kernels of any CUDA program, against ceilings");
  sub.option("PROGRAM", options->program, "the program and its arguments, after --",
             "-- PROGRAM ARGS…")
      .required();
  sub.option("--ceilings", options->ceilings,
             "run or recorded device with the measured ceilings (default: recorded for this model)",
             "NAME|RUN");
  sub.option("--kernel", options->kernel, "count only kernels whose name matches", "RE");
  sub.option("--top", options->top, "count the kernels that take most time", "N")
      .range(0, 1000)
      .shows_default();
  sub.option("--launches", options->launches, "count this many launches of each launch shape", "K")
      .range(1, 100)
      .shows_default();
  sub.option("--out", options->out, "folder in which to create the run folder", "DIR")
      .shows_default();
  sub.flag("--record-command", options->records_command,
           "record the program's arguments and environment");
  sub.footer(
      "Runs the unmodified program twice with a library that the driver loads into it: first for "
      "the times\nof all kernels and copies, then for counters of the slowest kernels, each "
      "replayed several times.\nThe program's output and exit status are its own; the table goes "
      "to standard error.\nExit status: that of the program; 2 bad input; 3 no CUPTI.\nExample: "
      "strata profile -- python train.py");
  sub.on_run([options, &status] { status = run_profile(*options); });
}

}  // namespace strata
