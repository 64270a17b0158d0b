// strata access optimize: kernels with better accesses, proved to do the same; needs no device but
// for
// --run.
#include "harness/access/command/access_count.hpp"
#include "harness/access/inputs.hpp"
#include "harness/access/launch_file.hpp"
#include "harness/access/listing.hpp"
#include "harness/access/optimize/choose.hpp"
#include "harness/access/optimize/launch_header.hpp"
#include "harness/access/optimize/same_results.hpp"
#include "harness/base/error.hpp"
#include "harness/base/in_parallel.hpp"
#include "harness/base/regular_file.hpp"
#include "harness/base/text.hpp"
#include "harness/cli/commands.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace strata {
namespace {

namespace fs = std::filesystem;
using access::Chosen;
using access::Comparisons;

struct OptimizeOptions {
  std::vector<std::string> files;
  std::string kernel = ".";
  std::vector<std::string> launches;
  std::vector<std::string> changes;
  std::string out;
  std::string format = "table";
  unsigned compare = 4;
  bool assembles = false;
  bool is_quiet = false;
  bool runs = false;
  std::string device = "cuda:0";
  long long seconds = 60;
  access::Tools tools;
};

/// A kernel of an input, and what became of it.
struct Work {
  std::size_t input = 0;
  std::uint32_t kernel = 0;
  std::string name;  ///< readable
  Chosen chosen;
  Comparisons compared;
  access::Share share;                ///< of usual launches that take the new kernel
  std::string sampled;                ///< "16 of 256 blocks", where a launch has too many
  std::string failure;                ///< of assembling it, or of comparing it
  std::vector<access::Change> tried;  ///< on a device
  access::Outcome outcome;            ///< of these
};

/// The change that --change asks of the kernel; nothing where it asks for none.
std::optional<access::Change> asked(const OptimizeOptions& options, const ptx::Module& module,
                                    const ptx::Kernel& kernel, const std::string& name) {
  for (const std::string& one : options.changes) {
    const auto colon = one.find(": ");
    const std::string expression = colon == std::string::npos ? "." : one.substr(0, colon);
    const auto matches = matcher("--change", expression);
    if (!matches(name) && !matches(std::string{kernel.name})) continue;
    return access::parse_change(
        "--change", colon == std::string::npos ? one : one.substr(colon + 2), module, kernel);
  }
  return std::nullopt;
}

std::string comparison_text(const Comparisons& compared) {
  if (compared.compared == 0) {
    return compared.failed > 0
               ? fmt::format("not compared: the original does not run: {}", compared.fault)
               : fmt::format("not compared: {}", compared.why);
  }
  std::string text = fmt::format("compared in {} launch{} on the host, 0 bits differ",
                                 compared.compared, compared.compared == 1 ? "" : "es");
  if (compared.worst.raced > 0) text += ", but for bytes that several threads write";
  return text;
}

/// `only`: this change alone.
void work_on(const OptimizeOptions& options, const ptx::Module& module,
             std::span<const access::Launch> launches, Work& work,
             const std::optional<access::Change>& only = {}) {
  const ptx::Kernel& kernel = module.kernels[work.kernel];
  const auto change = only ? only : asked(options, module, kernel, work.name);
  if (!change && !options.changes.empty()) {
    work.chosen.why = "--change asks nothing of it";
    return;
  }
  std::vector<access::Launch> sampled;
  try {
    for (const access::Launch& launch : launches) {
      sampled.push_back(access::within_budget(module, launch));
      const std::uint64_t blocks = sampled.back().grid.count();
      if (blocks < launch.grid.count())
        work.sampled = fmt::format("{} of {} blocks", blocks, launch.grid.count());
    }
  } catch (const UsageError& error) {
    work.chosen.why = error.what();
    return;
  }
  work.chosen = access::choose(module, work.kernel, sampled, {}, change);
  if (change && !work.chosen.optimized) work.failure = "cannot be changed so";
  if (!work.chosen.optimized) return;
  work.share = access::usual_share(module, work.kernel, *work.chosen.optimized);
  if (options.compare == 0) return;
  constexpr unsigned seeds = 32;
  work.compared =
      access::compare_samples(module, work.kernel, *work.chosen.optimized, options.compare, seeds,
                              access::compared_instructions, sampled);
  if (work.compared.compared == 0) {
    work.chosen.why = fmt::format("{}: {}", text_of(work.chosen.optimized->change),
                                  comparison_text(work.compared));
    work.chosen.is_refused = true;
    work.chosen.optimized.reset();
    return;
  }
  const auto& worst = work.compared.worst;
  if (worst.is_same()) return;
  work.failure = worst.failure.empty() ? fmt::format("{} bytes differ, the first at {:#x}",
                                                     worst.different, worst.first)
                                       : worst.failure;
}

std::vector<access::Launch> launches_of(std::span<const access::Launch> all, std::size_t input,
                                        std::uint32_t kernel) {
  std::vector<access::Launch> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const access::Launch& one) {
    return one.module == input && one.kernel == kernel;
  });
  return found;
}

constexpr std::size_t most_tried = 4;  ///< changes of a kernel

/// The launches of a kernel in which a change would be taken, for a device to try.
std::vector<access::TrialRequest> requests_for(const OptimizeOptions& options, const Work& work,
                                               const access::Input& input,
                                               std::span<const access::Launch> launches,
                                               const access::Change& change) {
  std::vector<access::TrialRequest> requests;
  const access::Optimized optimized = access::optimize(input.module, work.kernel, change);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const access::Launch& launch = launches[i];
    const bool is_taken = launch.module == work.input && launch.kernel == work.kernel &&
                          !optimized.checks.failing(launch) && optimized.checks.pays(launch);
    if (!is_taken) continue;
    requests.push_back(
        {.file = options.launches[i], .change = access::words_of(change, input.module)});
  }
  return requests;
}

/// Keeps what is faster of a kernel's changes, or nothing.
void keep_faster(const OptimizeOptions& options, const access::Input& input,
                 std::span<const access::Launch> launches,
                 std::span<const std::vector<access::Trial>> trials, Work& work) {
  work.outcome = access::outcome_of(trials);
  // Where threads of the original race for a byte, either may leave another one.
  const bool is_raced = work.compared.worst.raced > 0;
  for (const auto& launches_of_change : trials) {
    for (const access::Trial& trial : launches_of_change) {
      if (trial.different > 0 && !is_raced)
        work.failure = fmt::format("{} bytes differ on the device", trial.different);
    }
  }
  if (!work.outcome.kept) {
    work.chosen.optimized.reset();
    work.chosen.why =
        fmt::format("on the device no change is faster; {}: {}", text_of(work.tried.front()),
                    one_line(work.outcome.changes.front().why_not));
  } else if (*work.outcome.kept != 0) {
    work_on(options, input.module, launches, work, work.tried[*work.outcome.kept]);
  }
}

/// Has a device try what promises most of a kernel, where launches of it are given.
void try_on_device(const OptimizeOptions& options, const access::Input& input,
                   std::span<const access::Launch> launches, Work& work) {
  if (!work.chosen.optimized || !work.failure.empty()) return;
  std::vector<access::TrialRequest> requests;
  std::vector<std::size_t> counts;  // of the requests of each change
  for (const auto& change : work.chosen.promising) {
    if (work.tried.size() == most_tried) break;
    const auto more = requests_for(options, work, input, launches, change);
    if (more.empty()) continue;
    work.tried.push_back(change);
    counts.push_back(more.size());
    requests.insert(requests.end(), more.begin(), more.end());
  }
  if (requests.empty()) return;
  const auto trials = access::try_changes(input.module, requests, options.device,
                                          std::chrono::seconds{options.seconds});
  std::vector<std::vector<access::Trial>> changes;
  auto next = trials.begin();
  for (const std::size_t count : counts) {
    changes.emplace_back(next, next + static_cast<std::ptrdiff_t>(count));
    next += static_cast<std::ptrdiff_t>(count);
  }
  keep_faster(options, input, launches_of(launches, work.input, work.kernel), changes, work);
}

/// Has ptxas make machine code of an optimized kernel.
void assemble(const OptimizeOptions& options, const access::Input& input, Work& work) {
  if (!options.assembles || !work.chosen.optimized) return;
  access::Tools tools = options.tools;
  if (tools.architecture.empty()) tools.architecture = std::string{input.module.target};
  try {
    (void)access::assemble(work.chosen.optimized->alone, input.name, tools,
                           {.entry = work.chosen.optimized->name});
  } catch (const UsageError& error) {
    work.failure = one_line(error.what());
  }
}

std::string state_of(const Work& work) {
  if (!work.failure.empty()) return "failed";
  if (work.chosen.optimized) return "optimized";
  return work.chosen.is_refused ? "refused" : "unchanged";
}

std::string trial_text(const Work& work) {
  if (!work.outcome.kept) return "not tried on the device: no launch that takes it was given";
  const access::TriedChange& kept = work.outcome.changes[*work.outcome.kept];
  std::string text =
      fmt::format("on the device: {:.4g} µs → {:.4g} µs, ÷ {:.3g}", 1e6 * kept.original,
                  1e6 * kept.optimized, kept.original / kept.optimized);
  if (kept.ratios.size() == 1) {
    text += fmt::format(" ({:.3g} to {:.3g})", 1 / kept.ratios[0].high, 1 / kept.ratios[0].low);
  } else {
    text += fmt::format(" over {} launches", kept.ratios.size());
  }
  return text + fmt::format(", the best of {} tried", work.tried.size());
}

void print_table(const OptimizeOptions& options, const std::vector<access::Input>& inputs,
                 const std::vector<Work>& all) {
  std::map<std::string, std::size_t> counts;
  for (const Work& work : all) {
    ++counts[state_of(work)];
    fmt::print("{}\n    of {}: {}", work.name, inputs[work.input].name, state_of(work));
    if (!work.failure.empty()) fmt::print(": {}", work.failure);
    if (!work.chosen.optimized) {
      fmt::print(": {}\n", work.chosen.why);
      continue;
    }
    const access::Optimized& optimized = *work.chosen.optimized;
    fmt::print(": {}\n", text_of(optimized.change));
    const auto& before = work.chosen.before;
    const auto& after = work.chosen.after;
    fmt::print("    {}requests {} → {}, sectors {} → {}, lines {} → {}",
               work.sampled.empty() ? "" : work.sampled + ": ", before.requests, after.requests,
               before.sectors, after.sectors, before.lines, after.lines);
    if (before.wavefronts > 0) {
      fmt::print(", wavefronts of shared memory {} → {}", before.wavefronts, after.wavefronts);
    }
    fmt::print("\n");
    if (before.cycles > 0 && after.cycles > 0) {
      fmt::print("    cycles of an SM for them, modelled: ÷ {:.2f}\n",
                 before.cycles / after.cycles);
    }
    if (options.runs) fmt::print("    {}\n", trial_text(work));
    fmt::print("    {}\n", comparison_text(work.compared));
    const auto reasons = optimized.checks.reasons();
    if (!reasons.empty()) {
      fmt::print("    taken in {} of {} usual launches; the original is launched where\n",
                 work.share.taken, work.share.of);
      for (const std::string& reason : reasons)
        fmt::print("      {}\n", reason);
    }
  }
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [state, count] : counts)
    parts.push_back(fmt::format("{} {}", count, state));
  fmt::print("{} kernel{}: {}\n", all.size(), all.size() == 1 ? "" : "s", fmt::join(parts, ", "));
}

/// Of a change that a device has tried.
nlohmann::ordered_json json_of(const access::Change& change, const access::TriedChange& tried,
                               const ptx::Module& module) {
  nlohmann::ordered_json ratios = nlohmann::ordered_json::array();
  for (const strata::Interval& one : tried.ratios)
    ratios.push_back({one.low, one.high});
  return {{"change", access::words_of(change, module)},
          {"original_seconds", tried.original},
          {"mended_seconds", tried.optimized},
          {"ratios", ratios},
          {"why_not", tried.why_not}};
}

void print_json(const std::vector<access::Input>& inputs, const std::vector<Work>& all) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const Work& work : all) {
    nlohmann::ordered_json one{{"input", inputs[work.input].name},
                               {"kernel", work.name},
                               {"symbol", inputs[work.input].module.kernels[work.kernel].name},
                               {"state", state_of(work)}};
    if (!work.failure.empty()) one["failure"] = work.failure;
    if (!work.chosen.optimized) {
      one["why"] = work.chosen.why;
    } else {
      const access::Optimized& optimized = *work.chosen.optimized;
      const auto sums = [](const access::AskedFor& asked) {
        return nlohmann::ordered_json{{"requests", asked.requests},
                                      {"sectors", asked.sectors},
                                      {"lines", asked.lines},
                                      {"wavefronts", asked.wavefronts},
                                      {"cycles", asked.cycles}};
      };
      one["change"] = text_of(optimized.change);
      one["before"] = sums(work.chosen.before);
      one["after"] = sums(work.chosen.after);
      one["groups"] = optimized.groups;
      one["compared"] = work.compared.compared;
      one["usual_launches"] = {{"taken", work.share.taken}, {"of", work.share.of}};
      if (!work.sampled.empty()) one["sampled"] = work.sampled;
      one["raced_bytes"] = work.compared.worst.raced;
      one["checks"] = optimized.checks.reasons();
    }
    for (std::size_t i = 0; i < work.tried.size(); ++i) {
      one["tried"].push_back(
          json_of(work.tried[i], work.outcome.changes[i], inputs[work.input].module));
    }
    kernels.push_back(std::move(one));
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"kernels", kernels}}.dump(2));
}

/// FILE.optimized.ptx and FILE.optimized.hpp, of each input in which something was optimized.
void write_out(const OptimizeOptions& options, std::vector<access::Input>& inputs,
               const std::vector<Work>& all) {
  std::error_code error;
  fs::create_directories(options.out, error);
  if (error) refuse({"--out"}, error.message(), "a folder", "give another one");
  std::set<std::string> stems;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<access::OptimizedKernel> kernels;
    std::set<std::string> names;
    ptx::Module module;
    for (const Work& work : all) {
      if (work.input != i || !work.chosen.optimized || !work.failure.empty()) continue;
      const access::Optimized& optimized = *work.chosen.optimized;
      const ptx::Module& before = kernels.empty() ? inputs[i].module : module;
      const std::string symbol{inputs[i].module.kernels[work.kernel].name};
      const auto at = std::ranges::find(before.kernels, symbol, &ptx::Kernel::name);
      // Again, beside those before it. Its parameters are other symbols there.
      access::Change change = optimized.change;
      for (auto& [parameter, value] : change.given) {
        const auto& params = inputs[i].module.kernels[work.kernel].params;
        const auto place = std::ranges::find(params, parameter) - params.begin();
        parameter = at->params[static_cast<std::size_t>(place)];
      }
      access::Optimized again =
          access::optimize(before, static_cast<std::uint32_t>(at - before.kernels.begin()), change);
      module = ptx::read(again.text, inputs[i].name);
      std::string name = access::short_name(symbol);
      for (unsigned n = 2; !names.insert(name).second; ++n)
        name = fmt::format("{}_{}", access::short_name(symbol), n);
      kernels.push_back({.original = symbol, .name = name, .optimized = std::move(again)});
    }
    if (kernels.empty()) continue;
    const std::string whole = fs::path{inputs[i].name}.filename().string();
    std::string stem = fs::path{whole}.stem().string();
    if (!stems.insert(stem).second) stem = fmt::format("{}-{}", stem, i + 1);
    const fs::path base = fs::path{options.out} / stem;
    write_whole(base.string() + ".mended.ptx", {module.text.data(), module.text.size()});
    write_whole(base.string() + ".mended.hpp", access::launch_header(module, kernels, whole));
    if (!options.is_quiet) fmt::print(stderr, "strata: {}.mended.hpp\n", base.string());
  }
}

std::vector<access::Input> read_all(const OptimizeOptions& options) {
  std::vector<access::Input> inputs;
  for (const auto& file : options.files) {
    for (auto& input : access::read_inputs(file, options.tools))
      inputs.push_back(std::move(input));
  }
  return inputs;
}

/// The kernels whose names --kernel matches. Throws UsageError where there are only others.
std::vector<Work> work_for(const OptimizeOptions& options,
                           const std::vector<access::Input>& inputs) {
  std::vector<Work> all;
  const auto wanted = matcher("--kernel", options.kernel);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& kernels = inputs[i].module.kernels;
    for (std::uint32_t k = 0; k < kernels.size(); ++k) {
      if (!kernels[k].defined || !kernels[k].entry) continue;
      names.push_back(access::readable(kernels[k].name));
      if (!wanted(names.back()) && !wanted(std::string{kernels[k].name})) continue;
      all.push_back({.input = i, .kernel = k, .name = names.back()});
    }
  }
  if (all.empty() && !names.empty()) {
    refuse({"--kernel"}, "no kernel matches " + in_quotes(options.kernel),
           "an expression that some name matches",
           did_you_mean(options.kernel, names, "leave it out for all"));
  }
  return all;
}

/// The launch of a file, of the first of the inputs that it may mean.
void add_launch(const std::string& file, const std::vector<access::Input>& inputs,
                std::vector<access::Launch>& launches) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    try {
      access::Launch launch =
          access::read_launch(file, {&inputs[i].module, 1}, {&inputs[i].name, 1});
      launch.module = i;
      launches.push_back(std::move(launch));
      return;
    } catch (const UsageError&) {
      if (i + 1 == inputs.size()) throw;
    }
  }
}

/// Each kernel by itself; what is thrown first, in their order, is thrown in the end.
void work_on_all(const OptimizeOptions& options, const std::vector<access::Input>& inputs,
                 std::span<const access::Launch> launches, std::vector<Work>& all) {
  std::vector<std::exception_ptr> thrown(all.size());
  in_parallel(
      all.size(),
      [&](std::size_t first, std::size_t last) {
        for (std::size_t w = first; w < last; ++w) {
          try {
            work_on(options, inputs[all[w].input].module,
                    launches_of(launches, all[w].input, all[w].kernel), all[w]);
          } catch (...) {
            thrown[w] = std::current_exception();
          }
        }
      },
      /*least=*/1);
  for (const auto& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

/// Whether any did.
bool print_failures(const std::vector<Work>& all) {
  bool any_failed = false;
  for (const Work& work : all) {
    if (work.failure.empty()) continue;
    any_failed = true;
    fmt::print(stderr, "strata: {}: {}{}\n", work.name, one_line(work.failure),
               work.chosen.optimized ? "" : ": " + one_line(work.chosen.why));
  }
  return any_failed;
}

ExitCode run(const OptimizeOptions& options) {
  std::vector<access::Input> inputs = read_all(options);
  std::vector<Work> all = work_for(options, inputs);
  std::vector<access::Launch> launches;
  for (const auto& file : options.launches)
    add_launch(file, inputs, launches);
  work_on_all(options, inputs, launches, all);
  for (Work& work : all) {
    if (options.runs) try_on_device(options, inputs[work.input], launches, work);
    assemble(options, inputs[work.input], work);
  }
  if (options.format == "json") {
    print_json(inputs, all);
  } else if (!options.is_quiet) {
    print_table(options, inputs, all);
  }
  const bool any_failed = print_failures(all);
  if (!options.out.empty()) write_out(options, inputs, all);
  return any_failed ? ExitCode::failed : ExitCode::success;
}

}  // namespace

void add_access_optimize(Command app, int& status) {
  const auto options = std::make_shared<OptimizeOptions>();
  auto sub =
      app.subcommand("optimize", "make kernels that do the same with fewer requests and sectors");
  sub.alias("mend");
  sub.option("FILES", options->files, "PTX, CUDA sources, or binaries that hold PTX").required();
  sub.option("--kernel", options->kernel, "only kernels whose name matches", "RE");
  sub.option("--launch", options->launches,
             "choose what is best for this launch; may be given several times", "FILE.yaml");
  sub.option(
      "--change", options->changes,
      "make this change of kernels that match, instead of the best one; may be given several "
      "times",
      "'RE: WORDS'");
  sub.option("--out", options->out, "write FILE.mended.ptx and FILE.mended.hpp here", "DIR");
  sub.option("--format", options->format, "output format").one_of({"table", "json"});
  sub.option("--compare", options->compare,
             "compare what both kernels leave in up to so many small launches on the host",
             "LAUNCHES")
      .range(0, 1000)
      .shows_default();
  sub.flag("--run", options->runs,
           "launch what promises most on a GPU, by turns with the original, and keep what is "
           "faster")
      .needs("--launch");
  sub.option("--device", options->device, "device for --run", "cuda:N");
  sub.option("--seconds", options->seconds, "time limit of a launch with --run", "SECONDS")
      .range(1, 3600)
      .shows_default();
  sub.flag("--assemble", options->assembles, "have ptxas make machine code of each");
  sub.flag("--quiet", options->is_quiet, "print nothing but what goes wrong");
  add_compiler_options(sub, options->tools);
  sub.footer(
      "The new kernel is beside the original; the header's launch() takes it where it does "
      "the same.\n"
      "WORDS: swap=x,y (threadIdx), swap_blocks=x,y (blockIdx), exchange=x (lanes along "
      "blockIdx.x),\n"
      "       threads=4 (threads in one), passes=4 (of a loop in one), group=16 (bytes of the "
      "widest access),\n"
      "       swizzle=128 (rows of shared memory, bytes), given=param_4:1 (a parameter must be "
      "this)\n"
      "Exit status: 0; 1 where results differ or ptxas refuses one; 2 bad input; 3 no device for "
      "--run.\n"
      "Examples: strata access optimize kernels.cu --out optimized\n"
      "          strata access optimize kernels.ptx --change 'scale: threads=4'");
  sub.on_run([options, &status] { status = static_cast<int>(run(*options)); });
}

}  // namespace strata
