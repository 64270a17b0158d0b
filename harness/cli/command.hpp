// The subcommands and options of a program. Includes no CLI11: its header alone costs every source
// seconds of compilation.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace strata {

/// An option, positional argument or flag, which parsing writes to its variable.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_{option} {}
  Option required();
  Option shows_default();
  Option range(int low, int high);
  Option one_of(const std::vector<std::string>& values);
  Option is_seed();
  Option separated_by(char separator);
  Option needs(const std::string& name);
  Option excludes(Option other);

 private:
  CLI::Option* option_;
};

/// A program or a subcommand. A handle: copies mean the same one.
class Command {
 public:
  explicit Command(CLI::App& app) : app_{&app} {}
  [[nodiscard]] Command subcommand(const std::string& name, const std::string& what);
  /// Another name of it.
  void alias(const std::string& name);
  /// A subcommand that no help shows.
  [[nodiscard]] Command hidden_subcommand(const std::string& name);
  /// A positional argument if `name` has no dashes. In a list each value needs the flag again. The
  /// help shows the default of a described text. T: a string, a list of strings, a number or an
  /// optional one.
  template <class T>
  Option option(const char* name, T& value, const char* what = "", const char* type = nullptr);
  Option flag(const char* name, bool& value, const char* what = "");
  void footer(const std::string& text);
  void require_subcommand();
  void on_run(std::function<void()> callback);
  /// With its words still to be parsed.
  void before_parsing(std::function<void()> callback);
  /// Unknown words are left to remaining().
  void allow_extras();
  /// All words, --help among them, are left to remaining().
  void forward_all();
  [[nodiscard]] std::vector<std::string> remaining() const;
  [[nodiscard]] bool has(const std::string& option) const;
  [[nodiscard]] bool runs_subcommand() const;

 private:
  CLI::App* app_;
};

}  // namespace strata
