// strata nbody: files of bodies, and the ladder itself, without a device.
#include "harness/base/error.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/base/subprocess.hpp"
#include "harness/base/text.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/dataset_command.hpp"
#include "harness/record/statistics.hpp"
#include "nbody/gravity/problem/dataset_file.hpp"
#include "nbody/gravity/reference/gravity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <optional>
#include <regex>
#include <sstream>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata {
namespace {

using nbody::Bodies;
using nbody::Dataset;

struct BodiesWanted {
  std::string problem = "galaxies";
  std::optional<std::uint32_t> systems;  ///< default: that of the problem; likewise for bodies
  std::optional<std::uint32_t> bodies;
  std::uint64_t seed = 2009;
};

/// The requested problem; its default size is that of its first publication.
nbody::Problem problem_of(const BodiesWanted& options) {
  using nbody::Kind;
  constexpr std::array usual{nbody::Problem{.kind = Kind::galaxies, .systems = 32, .bodies = 4096},
                             nbody::Problem{.kind = Kind::single, .systems = 1, .bodies = 65536},
                             nbody::Problem{.kind = Kind::gravit, .systems = 1, .bodies = 40000}};
  const auto* const found = std::ranges::find(usual, options.problem,
                                              [](const auto& one) { return to_string(one.kind); });
  if (found == usual.end()) {
    refuse({"--problem"}, "there is no " + in_quotes(options.problem), "galaxies, single, gravit",
           "use one of these");
  }
  const nbody::Problem problem{.kind = found->kind,
                               .systems = options.systems.value_or(found->systems),
                               .bodies = options.bodies.value_or(found->bodies),
                               .seed = options.seed};
  if (problem.kind != nbody::Kind::galaxies && problem.systems != 1) {
    refuse({"--systems"}, fmt::format("{} systems of {}", problem.systems, options.problem),
           "1, because this problem is one system", "omit it, or use --problem galaxies");
  }
  if (problem.total() == 0 || problem.total() > nbody::most_bodies) {
    refuse({"strata nbody generate"},
           fmt::format("{} × {} bodies", problem.systems, problem.bodies),
           fmt::format("1 to {} in all", nbody::most_bodies), "change --systems or --bodies");
  }
  return problem;
}

/// "32 × 4096 bodies, seed 2009, steps 80".
std::string summary(const Dataset& dataset) {
  return fmt::format("{} × {} bodies, seed {}, steps {}", dataset.bodies.systems,
                     dataset.bodies.bodies, dataset.seed, dataset.steps);
}

void compare_headers(Differences& found, const Dataset& one, const Dataset& other) {
  found.between("systems", one.bodies.systems, other.bodies.systems);
  found.between("bodies", one.bodies.bodies, other.bodies.bodies);
  found.between("floats of a body", one.floats_per_body(), other.floats_per_body());
  found.between("steps", one.steps, other.steps);
  found.between("squared softening", one.softening_squared, other.softening_squared);
  found.between("time step", one.time_step, other.time_step);
  found.between("seed", one.seed, other.seed);
  constexpr auto mass = static_cast<std::size_t>(Field::mass);
  if (found.none() && one.bodies.fields[mass] != other.bodies.fields[mass]) found.note("masses");
}

/// Whether the vectors from field `x` on agree with those of the reference, and prints their
/// distance: relative to the root mean square length of all reference vectors, so that one
/// tolerance fits positions and velocities of any scale.
bool agree(std::string_view what, const Bodies& bodies, const Bodies& reference, Field x,
           double tolerance) {
  // The squared length of the reference's vector, or of its difference from that of `bodies`.
  const auto squared = [&](std::size_t i, bool of_distance) {
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
      const auto field = static_cast<Field>(static_cast<int>(x) + c);
      const double from = of_distance ? static_cast<double>(bodies.at(field, i)) : 0;
      const double number = from - static_cast<double>(reference.at(field, i));
      sum += number * number;
    }
    return sum;
  };
  double whole = 0;
  for (std::size_t i = 0; i < reference.total(); ++i)
    whole += squared(i, false);
  // If all are at the origin, or at rest, differences are absolute.
  const double scale = whole > 0 ? std::sqrt(whole / static_cast<double>(reference.total())) : 1;
  const auto name = [&](std::size_t i) {
    return fmt::format("body {} of system {}", i % bodies.bodies, i / bodies.bodies);
  };
  std::size_t differing = 0;
  double largest = 0;
  std::string first;
  std::string worst = "no difference";
  for (std::size_t i = 0; i < reference.total(); ++i) {
    const double off = std::sqrt(squared(i, true)) / scale;
    if (off > largest) {
      largest = off;
      worst = fmt::format("largest difference {:.3g}, of {}", off, name(i));
    }
    if (off > tolerance && ++differing == 1) first = name(i);
  }
  const std::string text = differing == 0
                               ? fmt::format("all {} agree within {:g}", bodies.total(), tolerance)
                               : fmt::format("{} of {} differ by more than {:g}, first {}",
                                             differing, bodies.total(), tolerance, first);
  print_note(what, text + "; " + worst);
  return differing == 0;
}

// --- trimmed-mean ---

/// One number per line; blank lines are skipped.
std::vector<double> numbers_in(const std::string& name, std::istream& stream) {
  std::vector<double> numbers;
  constexpr std::size_t most_numbers = 10'000'000;
  std::array<char, 4096> buffer{};
  for (std::size_t at = 1; stream.getline(buffer.data(), buffer.size()); ++at) {
    const auto read = static_cast<std::size_t>(stream.gcount());
    const std::string_view line{buffer.data(), stream.eof() ? read : read - 1};
    constexpr std::string_view blanks = " \t\r";
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string::npos) continue;
    const auto end = line.find_last_not_of(blanks) + 1;
    double number = 0;
    const auto [stop, error] = std::from_chars(line.data() + begin, line.data() + end, number);
    if (error != std::errc{} || stop != line.data() + end || !std::isfinite(number)) {
      refuse({name, at}, in_quotes(line) + " not a finite number", "one number per line",
             "pass only the times or rates");
    }
    if (numbers.size() == most_numbers)
      refuse({name, at}, "too many numbers", std::to_string(most_numbers), "give fewer");
    numbers.push_back(number);
  }
  if (!stream.eof()) {
    refuse({name}, "line too long", "one number per line", "pass only the times or rates");
  }
  if (stream.bad()) refuse({name}, "cannot be read", "one number per line", "give another file");
  return numbers;
}

/// The output of a program, without a shell. Refuses a program that fails.
std::string output_of(const std::vector<std::string>& words) {
  ChildCommand command{
      .executable = "/usr/bin/env", .arguments = {"env"}, .what = in_quotes(words.front())};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  Subprocess child{command, ""};
  constexpr std::size_t most_output = std::size_t{1} << 20U;
  std::string output;
  std::optional<std::string> ended;
  do {
    ended = child.wait(std::chrono::milliseconds{20});
    std::array<char, 1U << 16U> block{};
    for (;;) {
      const auto count = ::read(child.output(), block.data(), block.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      const std::size_t kept =
          std::min(static_cast<std::size_t>(count), most_output - output.size());
      output.append(block.data(), kept);
    }
  } while (!ended);
  if (child.succeeded()) return output;
  throw UsageError{*ended + "; expected exit status 0; run it alone to see why"};
}

struct MeanOptions {
  std::vector<std::string> words;  ///< a file, or a program and its arguments
  std::uint32_t runs = 36;         ///< as in Papadouli et al. 2026
  std::string pattern = "time[^0-9]*([0-9][0-9.e+-]*)";
};

/// Whether the words are a program: it has arguments, or the file is executable.
bool is_program(const std::vector<std::string>& words) {
  return words.size() > 1 ||
         (words.size() == 1 && std::filesystem::is_regular_file(words.front()) &&
          ::access(words.front().c_str(), X_OK) == 0);
}

/// What the group matches in the first line that matches; otherwise empty.
std::string first_group(const std::string& output, const std::regex& pattern) {
  constexpr std::size_t longest = 4096;  // std::regex recurses once per character
  std::istringstream lines{output};
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (line.size() <= longest && std::regex_search(line, match, pattern)) return match[1].str();
  }
  return {};
}

/// The number that each run of the program prints.
std::vector<double> numbers_printed(const MeanOptions& options) {
  std::regex pattern;
  try {
    pattern.assign(options.pattern, std::regex::icase);
  } catch (const std::regex_error& error) {
    refuse({"--pattern"}, in_quotes(options.pattern) + " is no regular expression: " + error.what(),
           "ECMAScript with one group", "give another");
  }
  if (pattern.mark_count() != 1) {
    refuse({"--pattern"}, fmt::format("{} groups", pattern.mark_count()),
           "one group, which is the number", "put the number in parentheses");
  }
  std::vector<double> numbers;
  for (std::uint32_t run = 0; run < options.runs; ++run) {
    const std::string text = first_group(output_of(options.words), pattern);
    double number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || stop != text.data() + text.size()) {
      refuse({options.words.front()},
             text.empty() ? "its output has no time" : in_quotes(text) + " is no number",
             "output that matches " + in_quotes(options.pattern), "give another --pattern");
    }
    numbers.push_back(number);
  }
  return numbers;
}

/// The numbers, and a name for their source.
std::vector<double> numbers_wanted(const MeanOptions& options, std::string& name) {
  const bool from_stdin = options.words.empty() || options.words.front() == "-";
  name = from_stdin ? "standard input" : options.words.front();
  if (is_program(options.words)) return numbers_printed(options);
  constexpr std::size_t most_bytes = std::size_t{1} << 29U;
  std::istringstream file;
  if (!from_stdin) file.str(read_regular(name, 0, "a file with one number per line", most_bytes));
  return numbers_in(name, from_stdin ? std::cin : file);
}

void trimmed_mean(const MeanOptions& options) {
  constexpr std::size_t dropped = 2;  // at each end, as in Papadouli et al. 2026, of their 36
  std::string name;
  std::vector<double> numbers = numbers_wanted(options, name);
  if (numbers.size() <= 2 * dropped) {
    refuse({name}, fmt::format("too few numbers, {}", numbers.size()),
           "at least five, one per line or run", "measure more often");
  }
  std::ranges::sort(numbers);
  const auto kept = std::span<const double>{numbers}.subspan(dropped, numbers.size() - 2 * dropped);
  // The sum and the squares of finite numbers can exceed the range of double.
  using Wide = long double;
  const auto count = static_cast<Wide>(kept.size());
  const Wide mean = std::accumulate(kept.begin(), kept.end(), Wide{0}) / count;
  Wide squares = 0;
  for (const double number : kept)
    squares += (number - mean) * (number - mean);
  const std::string deviation =
      kept.size() < 2 ? "unknown" : fmt::format("{:.6g}", std::sqrt(squares / (count - 1)));
  print_note(
      "trimmed",
      fmt::format("mean {:.6g}, standard deviation {}: {} without the two highest and lowest", mean,
                  deviation, numbers.size()));
  const auto interval = median_interval(numbers);
  print_note("median",
             fmt::format("{:.6g}, 95 % interval {}: of all {}", median(numbers),
                         interval ? fmt::format("{:.6g} to {:.6g}", interval->low, interval->high)
                                  : "unknown, it needs six",
                         numbers.size()));
}

}  // namespace

void add_nbody(Command app, int& status) {
  const auto wanted = std::make_shared<BodiesWanted>();
  auto group = add_dataset<Dataset>(
      app, status,
      {.name = "nbody",
       .about = "list the rungs of the n-body ladder; generate, integrate and compare files of "
                "bodies",
       .what = "bodies",
       .reference = "integrate the bodies of a file in double precision",
       .tolerance = "largest allowed distance of a body from its reference, relative to the root "
                    "mean square of all reference positions (or velocities) (default: 0.0002)",
       .generate =
           [wanted] {
             const nbody::Problem problem = problem_of(*wanted);
             return Dataset{.bodies = nbody::generate(problem), .seed = problem.seed};
           },
       .check = [wanted] { (void)problem_of(*wanted); },
       .compute = nbody::moved,
       .steps = DatasetFiles<Dataset>::Steps::required,
       .read = nbody::read_dataset,
       .write = nbody::write_dataset,
       .summary = summary,
       .compare_headers = compare_headers,
       .agree =
           [](const Dataset& data, const Dataset& other, std::optional<double> tolerance) {
             // A simple single-precision program is within 5e-5 after 80 steps of 32 × 4096 bodies.
             const auto same = [&](std::string_view what, Field x) {
               return agree(what, data.bodies, other.bodies, x, tolerance.value_or(2e-4));
             };
             const bool positions = same("positions", Field::px);
             return same("velocities", Field::vx) && positions;
           }},
      [&](Command& sub) {
        sub.option("--problem", wanted->problem, "galaxies, single or gravit", "NAME");
        sub.option("--systems", wanted->systems, "number of independent systems (galaxies: 32)");
        sub.option("--bodies", wanted->bodies,
                   "bodies of each system (galaxies: 4096, single: 65536, gravit: 40000)");
        sub.option("--seed", wanted->seed,
                   "seed of the generator: the same seed gives the same bodies")
            .is_seed()
            .shows_default();
      });

  const auto mean = std::make_shared<MeanOptions>();
  auto sub = group.subcommand(
      "trimmed-mean",
      "mean of a list of numbers without the two highest and two lowest, and the median");
  sub.option("words", mean->words,
             "file with one number per line (default: standard input), or after -- a program and "
             "its arguments, which is run to read its times",
             "FILE|PROGRAM");
  sub.option("--runs", mean->runs, "number of runs of the program").shows_default().range(1, 10000);
  sub.option("--pattern", mean->pattern,
             "regular expression whose group is the time in the program's output");
  sub.on_run([mean] { trimmed_mean(*mean); });

  group.subcommand("ladder", "list every rung: change, source and expected gain").on_run([] {
    print_ladder("nbody");
  });
}

}  // namespace strata
