#include "harness/cli/command.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

namespace strata {
namespace {

/// Why `text` is not a seed of a generator; empty if it is.
std::string refuse_no_seed(const std::string& text) {
  std::string number = text;
  std::string negative = CLI::NonNegativeNumber(number);
  if (!negative.empty()) return negative;
  errno = 0;  // CLI11's conversion turns a number that is too large into the largest one
  (void)std::strtoull(text.c_str(), nullptr, 0);
  return errno == ERANGE ? text + " is out of range: at most 2^64 - 1" : "";
}

}  // namespace

Option Option::required() {
  return Option{option_->required()};
}
Option Option::shows_default() {
  return Option{option_->capture_default_str()};
}
Option Option::range(int low, int high) {
  return Option{option_->check(CLI::Range(low, high))};
}
Option Option::one_of(const std::vector<std::string>& values) {
  return Option{option_->check(CLI::IsMember(values))};
}
Option Option::is_seed() {
  return Option{option_->check(refuse_no_seed)};
}
Option Option::separated_by(char separator) {
  return Option{option_->delimiter(separator)};
}
Option Option::needs(const std::string& name) {
  return Option{option_->needs(name)};
}
Option Option::excludes(Option other) {
  return Option{option_->excludes(other.option_)};
}

Command Command::subcommand(const std::string& name, const std::string& what) {
  return Command{*app_->add_subcommand(name, what)};
}

Command Command::hidden_subcommand(const std::string& name) {
  return Command{*app_->add_subcommand(name, "")->group("")};
}

void Command::alias(const std::string& name) {
  app_->alias(name);
}

template <class T>
Option Command::option(const char* name, T& value, const char* what, const char* type) {
  CLI::Option* const added = app_->add_option(name, value, what);
  if (type != nullptr) added->type_name(type);
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (*name == '-') added->allow_extra_args(false);
  }
  if constexpr (std::is_same_v<T, std::string>) {
    if (!value.empty() && *what != '\0') added->capture_default_str();
  }
  return Option{added};
}

template Option Command::option(const char*, std::string&, const char*, const char*);
template Option Command::option(const char*, std::vector<std::string>&, const char*, const char*);
template Option Command::option(const char*, double&, const char*, const char*);
template Option Command::option(const char*, long long&, const char*, const char*);
template Option Command::option(const char*, std::uint32_t&, const char*, const char*);
template Option Command::option(const char*, std::uint64_t&, const char*, const char*);
template Option Command::option(const char*, std::optional<double>&, const char*, const char*);
template Option Command::option(const char*, std::optional<float>&, const char*, const char*);
template Option Command::option(const char*, std::optional<long long>&, const char*, const char*);
template Option Command::option(const char*, std::optional<std::uint32_t>&, const char*,
                                const char*);

Option Command::flag(const char* name, bool& value, const char* what) {
  return Option{app_->add_flag(name, value, what)};
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}
void Command::require_subcommand() {
  app_->require_subcommand(1);
}
void Command::on_run(std::function<void()> callback) {
  app_->callback(std::move(callback));
}
void Command::before_parsing(std::function<void()> callback) {
  app_->preparse_callback([callback = std::move(callback)](std::size_t /*words*/) { callback(); });
}
void Command::allow_extras() {
  app_->allow_extras();
}
void Command::forward_all() {
  app_->prefix_command();
  app_->set_help_flag();
}
std::vector<std::string> Command::remaining() const {
  return app_->remaining();
}
bool Command::has(const std::string& option) const {
  return app_->count(option) > 0;
}
bool Command::runs_subcommand() const {
  return !app_->get_subcommands().empty();
}

}  // namespace strata
