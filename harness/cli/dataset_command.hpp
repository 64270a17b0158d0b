// The commands of a ladder's files of data: generate, reference, verify. They need no device.
#pragma once

#include "harness/base/error.hpp"
#include "harness/base/text.hpp"
#include "harness/case/dataset_file.hpp"
#include "harness/cli/commands.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strata {

/// In what two headers differ: such files belong to different datasets.
class Differences {
 public:
  template <class T>
  void between(std::string_view what, const T& one, const T& other) {
    if (one == other) return;
    note(std::string{what} + " (" + text(one) + " and " + text(other) + ")");
  }
  void note(std::string what) { words_.push_back(std::move(what)); }
  [[nodiscard]] bool none() const { return words_.empty(); }
  /// Empty: in nothing.
  [[nodiscard]] std::string text() const { return joined(words_); }

 private:
  /// As short as it can be without another number being as near.
  template <class T>
  static std::string text(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      std::array<char, 32> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
      return {digits.data(), end.ptr};
    } else {
      return std::string{value};
    }
  }

  std::vector<std::string> words_;
};

/// Options that the commands of every ladder have.
struct DatasetOptions {
  std::string file;
  std::string other;  ///< the file to compare with, or the result
  std::uint32_t steps = 0;
  std::optional<double> tolerance;
  bool overwrite = false;
};

/// The files of a ladder.
template <class Data>
struct DatasetFiles {
  const char* name = "";       ///< of the command: "nbody"
  const char* about = "";      ///< the command's help
  const char* what = "";       ///< "bodies"
  const char* reference = "";  ///< help of the command
  const char* tolerance = "";  ///< help of --tolerance
  std::function<Data()> generate;
  /// May refuse the options of `generate` before any work.
  std::function<void()> check = nullptr;
  std::function<Data(Data, std::uint32_t steps)> compute;
  enum class Steps { none, optional, required } steps = Steps::none;
  Data (*read)(const std::filesystem::path&) = nullptr;
  void (*write)(const std::filesystem::path&, const Data&, Existing) = nullptr;
  std::string (*summary)(const Data&) = nullptr;
  void (*compare_headers)(Differences&, const Data&, const Data&) = nullptr;
  /// May refuse a file that cannot be verified.
  std::function<void(const std::string& file, const Data&)> check_results = nullptr;
  /// Prints how results differ; whether they agree.
  std::function<bool(const Data&, const Data&, std::optional<double> tolerance)> agree;
};

/// Writes what make() returns. A target that cannot be written is refused before the work.
template <class Data, class Make>
void write_new(const DatasetFiles<Data>& files, const std::string& file, bool overwrite,
               const Make& make) {
  const auto existing = overwrite ? Existing::replace : Existing::keep;
  check_target(file, existing);
  const Data data = make();
  files.write(file, data, existing);
  print_written(file, files.summary(data));
}

template <class Data>
ExitCode verify_dataset(const DatasetFiles<Data>& files, const DatasetOptions& options) {
  if (options.tolerance && (!std::isfinite(*options.tolerance) || *options.tolerance < 0)) {
    refuse({"--tolerance"}, "a value out of range", "a finite number, 0 or more",
           "use another number");
  }
  const Data data = files.read(options.file);
  const Data other = files.read(options.other);
  if (files.check_results) {
    files.check_results(options.file, data);
    files.check_results(options.other, other);
  }
  Differences differences;
  files.compare_headers(differences, data, other);
  if (!differences.none()) {
    print_note("header", "belong to different datasets: they differ in " + differences.text());
    return ExitCode::failed;
  }
  print_note("header", "the same: " + files.summary(other));
  return files.agree(data, other, options.tolerance) ? ExitCode::success : ExitCode::failed;
}

/// Adds the commands. add_options(sub) adds those of `generate`. Returns the group.
template <class Data>
Command add_dataset(Command app, int& status, DatasetFiles<Data> of,
                    const std::function<void(Command&)>& add_options) {
  const auto files = std::make_shared<const DatasetFiles<Data>>(std::move(of));
  const auto options = std::make_shared<DatasetOptions>();
  auto group = app.subcommand(files->name, files->about);
  group.require_subcommand();
  const std::string a_file = std::string{"file of "} + files->what;
  const auto add_overwrite = [&](Command sub) {
    sub.flag("--overwrite", options->overwrite, "overwrite an existing file");
  };

  auto sub = group.subcommand(
      "generate", std::string{"generate "} + files->what + " from a seed and write them to a file");
  add_options(sub);
  sub.option("file", options->file, "output file", "FILE").required();
  add_overwrite(sub);
  sub.on_run([files, options] {
    if (files->check) files->check();
    write_new(*files, options->file, options->overwrite, files->generate);
  });

  sub = group.subcommand("reference", files->reference);
  sub.option("file", options->file, a_file.c_str(), "FILE").required();
  sub.option("out", options->other, "output file", "OUT").required();
  if (files->steps != DatasetFiles<Data>::Steps::none) {
    Option steps = sub.option("--steps", options->steps, "number of time steps");
    if (files->steps == DatasetFiles<Data>::Steps::required) steps.required();
  }
  add_overwrite(sub);
  sub.on_run([files, options] {
    Data data = files->read(options->file);
    write_new(*files, options->other, options->overwrite,
              [&] { return files->compute(std::move(data), options->steps); });
  });

  sub = group.subcommand("verify", "compare two files of " + std::string{files->what} +
                                       ": header and results; exit status 1 if they differ");
  sub.option("file", options->file, a_file.c_str(), "FILE").required();
  sub.option("reference", options->other, "file of the reference's results", "REFERENCE")
      .required();
  sub.option("--tolerance", options->tolerance, files->tolerance);
  sub.on_run(
      [files, options, &status] { status = static_cast<int>(verify_dataset(*files, *options)); });
  return group;
}

}  // namespace strata
