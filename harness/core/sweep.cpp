// A sweep file is read in three steps, each of which can refuse it: its bytes, before the YAML
// parser sees them; its YAML, event by event, so that neither depth nor aliases can grow; its
// meaning, against the benchmarks of this executable.

// With sanitizers, g++ 12 warns of <regex> itself (GCC bug 105562), wherever it is instantiated.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "harness/core/sweep.hpp"

#include "harness/core/builtin_sweeps.hpp"
#include "harness/core/error.hpp"
#include "harness/core/sha256.hpp"
#include "harness/core/text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace strata {
namespace {

constexpr int schema = 1;
constexpr std::size_t deepest = 8;  // a sweep needs 5: file, cases, entry, axes, values

// --- refusals ---

/// Where something was found: a line of a file, or a setting (which has no line).
struct Place {
  std::string_view name;
  std::size_t line = 0;
};

[[noreturn]] void refuse(const Place& place, std::string_view found, std::string_view expected,
                         std::string_view mend) {
  const auto where = one_line(place.name);
  const auto line = place.line == 0 ? std::string{} : fmt::format(":{}", place.line);
  throw UsageError{fmt::format("{}{}: {}; expected {}; {}", where, line, found, expected, mend)};
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names,
                         std::string_view otherwise) {
  if (const auto near = nearest_name(word, names)) return fmt::format("did you mean '{}'?", *near);
  return std::string{otherwise};
}

// --- the bytes ---

bool is_refused_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

/// Holds what the parser cannot be trusted with: it reads a line at a time into memory, takes byte
/// 4 for the end of the file, and turns bytes that are not UTF-8 into others.
void check_bytes(std::string_view text, std::string_view file) {
  std::size_t line = 0;
  for (auto rest = text; !rest.empty();) {
    ++line;
    const auto length = std::min(rest.find('\n'), rest.size());
    if (length > max_sweep_line) {
      refuse({file, line}, "a line that is too long",
             fmt::format("at most {} bytes", max_sweep_line), "break the line");
    }
    auto content = rest.substr(0, length);
    if (content.ends_with('\r')) content.remove_suffix(1);
    const auto* const bad = std::find_if(content.begin(), content.end(),
                                         [](char c) { return is_refused_control(c) || c == '\r'; });
    if (bad != content.end()) {
      refuse({file, line}, fmt::format("control character {}", in_quotes({bad, 1})), "text",
             "remove it");
    }
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  // After the lines: a line that is too long says better where the trouble is.
  if (text.size() > max_sweep_bytes) {
    refuse({file, 1}, fmt::format("more than {} bytes", max_sweep_bytes),
           "a sweep file no larger than that", "split it into several sweeps");
  }
  if (const auto at = find_invalid_utf8(text)) {
    refuse({file, line_of(text, *at)},
           fmt::format("byte {} that is not UTF-8", in_quotes(text.substr(*at, 1))), "UTF-8 text",
           "save the file as UTF-8");
  }
}

// --- the YAML ---

/// A value of the file, with the key that it stands under where it stands in a mapping.
struct TreeNode {
  enum class Kind { nothing, word, quoted_text, list, mapping };
  Kind kind = Kind::nothing;
  std::size_t line = 0;
  std::string text;             // of a word or quoted text
  std::vector<TreeNode> items;  // of a list or mapping
  std::string key;
  std::size_t key_line = 0;

  [[nodiscard]] bool is_text() const { return kind == Kind::word || kind == Kind::quoted_text; }
  [[nodiscard]] const TreeNode* find(std::string_view wanted) const {
    const auto found = std::find_if(items.begin(), items.end(),
                                    [&](const TreeNode& item) { return item.key == wanted; });
    return found == items.end() ? nullptr : &*found;
  }
  /// What a message calls it.
  [[nodiscard]] std::string describe() const {
    switch (kind) {
      case Kind::nothing:
        return "nothing";
      case Kind::list:
        return items.empty() ? "an empty list" : "a list";
      case Kind::mapping:
        return items.empty() ? "an empty mapping" : "a mapping";
      case Kind::word:
      case Kind::quoted_text:
        break;
    }
    return in_quotes(text);
  }
};

/// Builds the tree of one document. Throwing from an event is what bounds the parser's recursion:
/// every level that it descends announces itself here first.
class TreeBuilder : public YAML::EventHandler {
 public:
  /// An enumeration inside a structure in yaml-cpp 0.7, a scoped one in later versions.
  using Style = decltype(YAML::EmitterStyle::Default);

  explicit TreeBuilder(std::string_view file) : file_{file} {}

  [[nodiscard]] TreeNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) {
      refuse(at(mark), "more after the end of the sweep", "one YAML document",
             "put it in a file of its own, or mend the indentation");
    }
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor != 0);
    // The parser notices that a value is missing only at the next key: what is wrong is this one.
    const auto line = !open_.empty() && open_.back().key ? open_.back().key_line : at(mark).line;
    add({.kind = TreeNode::Kind::nothing, .line = line, .text = {}, .items = {}, .key = {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse_anchor(mark, true);
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& /*name*/) override {
    refuse_anchor(mark, true);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor != 0);
    refuse_tag(mark, tag);
    const auto kind = tag == "!" ? TreeNode::Kind::quoted_text : TreeNode::Kind::word;
    add({.kind = kind, .line = at(mark).line, .text = value, .items = {}, .key = {}});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       Style /*style*/) override {
    open(TreeNode::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  Style /*style*/) override {
    open(TreeNode::Kind::mapping, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    TreeNode node;
    std::optional<std::string> key;  // read, and waiting for its value
    std::size_t key_line = 0;
    std::set<std::string, std::less<>> keys;
  };

  [[nodiscard]] Place at(const YAML::Mark& mark) const {
    return {file_, static_cast<std::size_t>(std::max(mark.line, 0)) + 1};
  }

  void refuse_anchor(const YAML::Mark& mark, bool is_there) const {
    if (!is_there) return;
    refuse(at(mark), "an anchor or alias", "every value written where it stands",
           "write the value out");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(at(mark), fmt::format("the tag {}", in_quotes(tag)), "a plain value", "remove the tag");
  }

  void open(TreeNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor != 0);
    refuse_tag(mark, tag);
    if (open_.size() == deepest) {
      refuse(at(mark), fmt::format("more than {} values inside each other", deepest),
             "a sweep, which needs 5", "take out what is nested");
    }
    if (wants_key()) refuse_key(at(mark), kind == TreeNode::Kind::list ? "a list" : "a mapping");
    Open one;
    one.node.kind = kind;
    one.node.line = at(mark).line;
    open_.push_back(std::move(one));
  }

  void close() {
    TreeNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  [[nodiscard]] bool wants_key() const {
    return !open_.empty() && open_.back().node.kind == TreeNode::Kind::mapping && !open_.back().key;
  }

  [[noreturn]] static void refuse_key(const Place& place, const std::string& found) {
    refuse(place, fmt::format("{} as a key", found), "a name before the ':'", "write KEY: VALUE");
  }

  void add(TreeNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& parent = open_.back();
    if (wants_key()) {
      if (!node.is_text()) refuse_key({file_, node.line}, node.describe());
      if (!parent.keys.insert(node.text).second) {
        refuse({file_, node.line}, fmt::format("the key {} a second time", in_quotes(node.text)),
               "each key once", "remove one of them");
      }
      parent.key = std::move(node.text);
      parent.key_line = node.line;
      return;
    }
    if (parent.key) {
      node.key = std::move(*parent.key);
      node.key_line = parent.key_line;
      parent.key.reset();
    }
    parent.node.items.push_back(std::move(node));
  }

  std::string_view file_;
  std::vector<Open> open_;
  TreeNode root_;
  bool started_ = false;
};

TreeNode parse_yaml(std::string_view text, std::string_view file) {
  std::istringstream stream{std::string{text}};
  TreeBuilder builder{file};
  try {
    YAML::Parser parser{stream};
    if (parser.HandleNextDocument(builder)) {
      // A second document is refused when it starts.
      (void)parser.HandleNextDocument(builder);
    }
  } catch (const YAML::Exception& error) {
    const auto line = static_cast<std::size_t>(std::max(error.mark.line, 0)) + 1;
    refuse({file, line}, "YAML that cannot be read: " + one_line(error.msg), "well-formed YAML",
           "mend the indentation, quotes or brackets there");
  }
  return builder.take();
}

// --- the meaning ---

using Names = std::vector<std::string>;

Names benchmark_names(std::span<const Enrolled> known) {
  Names names;
  for (const auto& one : known)
    names.push_back(one.benchmark.name);
  return names;
}

Names axis_names(const Benchmark& benchmark) {
  Names names;
  for (const auto& axis : benchmark.axes)
    names.push_back(axis.name);
  return names;
}

const Enrolled* find(std::span<const Enrolled> known, std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Enrolled& one) { return one.benchmark.name == name; });
  return found == known.end() ? nullptr : &*found;
}

const Benchmark& known_benchmark(const Place& place, std::string_view name,
                                 std::span<const Enrolled> known) {
  if (const auto* const one = find(known, name)) return one->benchmark;
  const auto names = benchmark_names(known);
  refuse(
      place, fmt::format("no benchmark {}", in_quotes(name)),
      names.empty() ? "one, but this executable has none" : fmt::format("one of {}", joined(names)),
      did_you_mean(name, names, "'strata list' shows them"));
}

const Axis& known_axis(const Place& place, std::string_view name, const Benchmark& benchmark) {
  if (const auto* const axis = benchmark.axis(name)) return *axis;
  const auto names = axis_names(benchmark);
  refuse(place, fmt::format("benchmark {} has no axis {}", benchmark.name, in_quotes(name)),
         names.empty() ? "no axes" : fmt::format("one of {}", joined(names)),
         did_you_mean(name, names, "remove it or correct its name"));
}

/// A value as it was written, and where.
struct Written {
  std::string_view text;
  std::size_t line = 0;
};

/// The way to write what was meant by "08", "+8", "8.0" or "0x8", on an axis of whole numbers.
std::optional<std::string> meant_number(const Axis& axis, std::string_view text) {
  const std::string copy{text};
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);  // reads all of these spellings
  constexpr double exact = 1e15;
  if (copy.empty() || end != copy.c_str() + copy.size() || !(std::abs(number) < exact)) return {};
  if (number != std::trunc(number)) return {};
  return axis.canonical(std::to_string(static_cast<long long>(number)));
}

std::string canonical_value(const Place& place, const Axis& axis, std::string_view text) {
  if (auto value = axis.canonical(text)) return *std::move(value);
  const bool any_number = axis.choices.empty();
  const auto meant = any_number ? meant_number(axis, text) : std::nullopt;
  refuse(place, fmt::format("axis {} has no value {}", axis.name, in_quotes(text)),
         any_number ? axis.describe() : fmt::format("one of {}", axis.describe()),
         meant ? fmt::format("write {}", *meant)
               : did_you_mean(text, axis.choices, "correct or remove it"));
}

/// The canonical values of `written`, all different. `name` is the file or setting.
Names canonical_values(std::string_view name, const Axis& axis, std::span<const Written> written) {
  Names values;
  std::set<std::string, std::less<>> seen;
  for (const auto& one : written) {
    auto value = canonical_value({name, one.line}, axis, one.text);
    if (!seen.insert(value).second) {
      refuse({name, one.line}, fmt::format("axis {} has {} twice", axis.name, in_quotes(value)),
             "each value once", "remove one of them");
    }
    values.push_back(std::move(value));
  }
  return values;
}

/// One number of the plan: how it is called, where it goes, what it may be.
struct PlanField {
  std::string_view name;
  int Plan::*whole;
  double Plan::*real;
  double least;  // for a real number: must be above it
  double most;   // for relative_half_width: must be below it
  std::string_view expected;
};

constexpr double just_below_one = 1 - std::numeric_limits<double>::epsilon() / 2;
constexpr std::string_view some_seconds = "a number of seconds above 0 and up to 86400";
// The caps keep a slip of the keyboard from asking for a year; 6 samples are the fewest that have a
// 95 % interval of the median.
constexpr std::array<PlanField, 6> plan_fields{
    {{"warmups", &Plan::warmups, nullptr, 0, 1000, "a whole number from 0 to 1000"},
     {"min_samples", &Plan::min_samples, nullptr, 6, 100000, "a whole number from 6 to 100000"},
     {"max_samples", &Plan::max_samples, nullptr, 6, 100000, "a whole number from 6 to 100000"},
     {"relative_half_width", nullptr, &Plan::relative_half_width, 0, just_below_one,
      "a number above 0 and below 1"},
     {"seconds_per_case", nullptr, &Plan::seconds_per_case, 0, 86400, some_seconds},
     {"time_limit", nullptr, &Plan::time_limit, 0, 86400, some_seconds}}};

const PlanField& known_plan_field(const Place& place, std::string_view key) {
  Names names;
  for (const auto& field : plan_fields) {
    if (field.name == key) return field;
    names.emplace_back(field.name);
  }
  refuse(place, fmt::format("plan has no key {}", in_quotes(key)),
         fmt::format("one of {}", joined(names)),
         did_you_mean(key, names, "remove it or correct its name"));
}

void set_plan_field(const Place& place, Plan& plan, const PlanField& field, std::string_view text) {
  if (field.whole != nullptr) {
    const auto number = whole_number(text);
    if (number && static_cast<double>(*number) >= field.least &&
        static_cast<double>(*number) <= field.most) {
      plan.*field.whole = static_cast<int>(*number);
      return;
    }
  } else {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    // Written so that nan is refused too.
    if (error == std::errc{} && stop == end && number > field.least && number <= field.most) {
      plan.*field.real = number;
      return;
    }
  }
  refuse(place, fmt::format("{} is {}", field.name, in_quotes(text)), field.expected,
         "correct it or leave it out");
}

/// What the numbers of a plan owe each other.
void check_plan(const Place& place, const Plan& plan) {
  if (plan.max_samples < plan.min_samples) {
    refuse(
        place,
        fmt::format("max_samples {} is below min_samples {}", plan.max_samples, plan.min_samples),
        "max_samples no smaller than min_samples", "raise max_samples or lower min_samples");
  }
  if (plan.time_limit <= plan.seconds_per_case) {
    refuse(place,
           fmt::format("time_limit {} is no longer than seconds_per_case {}", plan.time_limit,
                       plan.seconds_per_case),
           "a time_limit that leaves room for the sampling", "raise time_limit");
  }
}

/// Checks the tree of a sweep file against the benchmarks.
class Reader {
 public:
  Reader(std::string_view file, std::span<const Enrolled> known) : file_{file}, known_{known} {}

  [[nodiscard]] Sweep sweep(const TreeNode& root) const {
    if (root.kind != TreeNode::Kind::mapping) {
      refuse({file_, std::max<std::size_t>(root.line, 1)}, root.describe(),
             "a sweep with the keys schema, name, plan and cases", "start with 'schema: 1'");
    }
    allow_keys(root, "a sweep", {"schema", "name", "plan", "cases"});
    check_schema(root);
    Sweep sweep;
    sweep.name = name(root);
    if (const auto* const plan = root.find("plan")) sweep.plan = this->plan(*plan);
    const auto& cases = need(root, "cases", "a list of entries '- benchmark: NAME'");
    if (cases.kind != TreeNode::Kind::list || cases.items.empty()) {
      refuse({file_, cases.line}, fmt::format("cases is {}", cases.describe()),
             "a list of entries '- benchmark: NAME'", "add at least one, each with its '- '");
    }
    for (const auto& item : cases.items)
      sweep.entries.push_back(entry(item));
    return sweep;
  }

 private:
  [[nodiscard]] Place at(const TreeNode& node) const { return {file_, node.line}; }

  void allow_keys(const TreeNode& mapping, std::string_view what, const Names& allowed) const {
    for (const auto& item : mapping.items) {
      if (std::find(allowed.begin(), allowed.end(), item.key) != allowed.end()) continue;
      refuse({file_, item.key_line}, fmt::format("{} has no key {}", what, in_quotes(item.key)),
             fmt::format("one of {}", joined(allowed)),
             did_you_mean(item.key, allowed, "remove it or correct its name"));
    }
  }

  [[nodiscard]] const TreeNode& need(const TreeNode& mapping, std::string_view key,
                                     std::string_view expected) const {
    if (const auto* const node = mapping.find(key)) return *node;
    refuse(at(mapping), fmt::format("no key '{}'", key), fmt::format("'{}': {}", key, expected),
           fmt::format("add '{}: …'", key));
  }

  void check_schema(const TreeNode& root) const {
    const auto expected = fmt::format("the version of this format, {}", schema);
    const auto mend = fmt::format("write 'schema: {}' if the file is of that version", schema);
    const auto& node = need(root, "schema", expected);
    if (node.kind == TreeNode::Kind::word && whole_number(node.text) == schema) return;
    refuse(at(node), fmt::format("schema is {}", node.describe()), expected, mend);
  }

  [[nodiscard]] std::string name(const TreeNode& root) const {
    constexpr std::size_t longest = 64;
    constexpr std::string_view expected = "1 to 64 letters, digits, '.', '_', '+' or '-'";
    const auto& node = need(root, "name", expected);
    if (!node.is_text() || !is_canonical_word(node.text) || node.text.size() > longest) {
      refuse(at(node), fmt::format("name is {}", node.describe()), expected, "give it such a name");
    }
    return node.text;
  }

  [[nodiscard]] Plan plan(const TreeNode& node) const {
    if (node.kind != TreeNode::Kind::mapping || node.items.empty()) {
      refuse(at(node), fmt::format("plan is {}", node.describe()), "keys with numbers",
             "write plan: {min_samples: 7} or leave it out");
    }
    Plan plan;
    std::size_t line = node.line;
    for (const auto& item : node.items) {
      const auto& field = known_plan_field({file_, item.key_line}, item.key);
      if (item.kind != TreeNode::Kind::word) {
        refuse(at(item),
               fmt::format("{} is {}{}", field.name, item.describe(),
                           item.is_text() ? " in quotes" : ""),
               field.expected, "write the number as it is");
      }
      set_plan_field(at(item), plan, field, item.text);
      line = item.line;
    }
    check_plan({file_, line}, plan);
    return plan;
  }

  [[nodiscard]] SweepEntry entry(const TreeNode& node) const {
    if (node.kind != TreeNode::Kind::mapping) {
      refuse(at(node), fmt::format("{} as an entry of cases", node.describe()),
             "'- benchmark: NAME', then 'axes:' if wanted",
             node.is_text() ? fmt::format("write '- benchmark: {}'", one_line(node.text))
                            : std::string{"write it so"});
    }
    allow_keys(node, "an entry of cases", {"benchmark", "axes"});
    const auto& name = need(node, "benchmark", "the name of one");
    if (!name.is_text()) {
      refuse(at(name), fmt::format("benchmark is {}", name.describe()), "the name of one",
             "write 'benchmark: NAME', one entry for each");
    }
    const auto& benchmark = known_benchmark(at(name), name.text, known_);
    SweepEntry entry{.benchmark = benchmark.name, .axes = {}};
    const auto* const axes = node.find("axes");
    if (axes == nullptr) return entry;
    if (axes->kind != TreeNode::Kind::mapping || axes->items.empty()) {
      refuse(at(*axes), fmt::format("axes is {}", axes->describe()),
             "axis names, each with its list of values",
             "leave 'axes' out to take every axis at its defaults");
    }
    for (const auto& item : axes->items) {
      const auto& axis = known_axis({file_, item.key_line}, item.key, benchmark);
      entry.axes.emplace_back(axis.name, values(axis, item));
    }
    return entry;
  }

  [[nodiscard]] Names values(const Axis& axis, const TreeNode& node) const {
    if (node.is_text()) {
      refuse(at(node),
             fmt::format("axis {} is the single value {}", axis.name, in_quotes(node.text)),
             "a list of values", fmt::format("write {}: [{}]", axis.name, one_line(node.text)));
    }
    if (node.kind != TreeNode::Kind::list || node.items.empty()) {
      refuse(at(node), fmt::format("axis {} is {}", axis.name, node.describe()), "a list of values",
             fmt::format("write {}: [{}], or leave it out for that default", axis.name,
                         joined(axis.defaults)));
    }
    std::vector<Written> written;
    for (const auto& item : node.items) {
      if (!item.is_text()) {
        refuse(at(item), fmt::format("{} among the values of axis {}", item.describe(), axis.name),
               axis.describe(), "list single values");
      }
      written.push_back({item.text, item.line});
    }
    return canonical_values(file_, axis, written);
  }

  std::string_view file_;
  std::span<const Enrolled> known_;
};

// --- the files ---

/// The file, or a little more than max_sweep_bytes of it.
std::string read_file(const std::string& name) {
  errno = 0;
  std::ifstream stream{name, std::ios::binary};
  std::string text;
  std::array<char, 1U << 14U> piece{};
  while (stream && text.size() <= max_sweep_bytes) {
    stream.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.is_open() || stream.bad()) {
    const auto why = errno == 0 ? std::string{"an error"} : std::generic_category().message(errno);
    refuse({name}, fmt::format("cannot be read ({})", why), "a sweep file",
           "give a file that you may read");
  }
  return text;
}

// --- the points ---

/// Everything that a sweep asks of one benchmark.
struct Request {
  const Enrolled* enrolled = nullptr;
  std::vector<const SweepEntry*> entries;
};

using Point = std::vector<std::size_t>;  // for each axis, the place of the value on its axis

const Names& values_on(const Axis& axis, const SweepEntry& entry) {
  for (const auto& [name, values] : entry.axes) {
    if (name == axis.name) return values;
  }
  return axis.defaults;
}

/// Every value that any entry asks of this axis, each once, in canonical order.
Names all_values(const Axis& axis, std::span<const SweepEntry* const> entries) {
  Names all;
  for (const auto* const entry : entries) {
    const auto& values = values_on(axis, *entry);
    all.insert(all.end(), values.begin(), values.end());
  }
  for (const auto& value : all) {
    if (axis.canonical(value) != value) {
      throw std::invalid_argument{"axis " + axis.name + " has no value " + in_quotes(value)};
    }
  }
  const auto before = [&axis](const auto& a, const auto& b) { return axis.before(a, b); };
  std::sort(all.begin(), all.end(), before);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Adds every combination of `choices`, the last axis fastest.
void add_product(const std::vector<Point>& choices, std::vector<Point>& points) {
  Point turn(choices.size(), 0);
  for (;;) {
    Point point;
    point.reserve(choices.size());
    for (std::size_t a = 0; a < choices.size(); ++a)
      point.push_back(choices[a][turn[a]]);
    points.push_back(std::move(point));
    std::size_t a = choices.size();
    while (a > 0 && ++turn[a - 1] == choices[a - 1].size())
      turn[--a] = 0;
    if (a == 0) return;
  }
}

/// How many combinations an entry stands for, as far as anybody wants to know.
std::size_t count_points(const Benchmark& benchmark, const SweepEntry& entry) {
  std::size_t count = 1;
  for (const auto& axis : benchmark.axes) {
    count = std::min(count * values_on(axis, entry).size(), max_sweep_points + 1);
  }
  return count;
}

/// The cases of one benchmark, in canonical order.
std::vector<Case> expand(const Request& request, Backend backend) {
  const auto& benchmark = request.enrolled->benchmark;
  std::vector<Names> values;
  for (const auto& axis : benchmark.axes)
    values.push_back(all_values(axis, request.entries));

  std::vector<Point> points;
  for (const auto* const entry : request.entries) {
    std::vector<Point> choices;
    for (std::size_t a = 0; a < benchmark.axes.size(); ++a) {
      const auto& axis = benchmark.axes[a];
      const auto before = [&axis](const auto& x, const auto& y) { return axis.before(x, y); };
      Point& places = choices.emplace_back();
      for (const auto& value : values_on(axis, *entry)) {
        const auto at = std::lower_bound(values[a].begin(), values[a].end(), value, before);
        places.push_back(static_cast<std::size_t>(at - values[a].begin()));
      }
    }
    add_product(choices, points);
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());

  std::vector<Case> cases;
  for (const auto& point : points) {
    Params params;
    for (std::size_t a = 0; a < point.size(); ++a) {
      params.emplace(benchmark.axes[a].name, values[a][point[a]]);
    }
    if (benchmark.excludes && benchmark.excludes(params, backend)) continue;
    cases.push_back({benchmark.suite, benchmark.name, backend, std::move(params)});
  }
  return cases;
}

// --- the filter ---

/// The product of the counts in {n}, {n,} and {n,m}: how many times the expression can unfold.
std::size_t unfolding(std::string_view expression, std::size_t most) {
  std::size_t product = 1;
  for (auto open = expression.find('{'); open != std::string_view::npos;
       open = expression.find('{', open + 1)) {
    std::size_t largest = 1;
    std::size_t number = 0;
    for (const char c : expression.substr(open + 1)) {
      if (c >= '0' && c <= '9') {
        number = std::min(10 * number + static_cast<std::size_t>(c - '0'), most);
        largest = std::max(largest, number);
      } else if (c == ',') {
        number = 0;
      } else {
        break;
      }
    }
    product = std::min(product * largest, most);
  }
  return product;
}

}  // namespace

Sweep parse_sweep(std::string_view text, const std::string& file, std::span<const Enrolled> known) {
  check_bytes(text, file);
  auto sweep = Reader{file, known}.sweep(parse_yaml(text, file));
  sweep.file = file;
  sweep.digest = "sha256:" + sha256(text);
  return sweep;
}

Sweep load_sweep(const std::string& name, std::span<const Enrolled> known) {
  std::error_code error;
  const auto status = std::filesystem::status(name, error);
  const bool is_folder = std::filesystem::is_directory(status);
  if (std::filesystem::exists(status) && !is_folder) {
    return parse_sweep(read_file(name), name, known);
  }
  Names names;
  for (const auto& [builtin, text] : builtin_sweeps()) {
    if (builtin == name) return parse_sweep(text, name, known);
    names.emplace_back(builtin);
  }
  const auto found = is_folder ? std::string{"a folder"}
                     : error   ? error.message()
                               : std::string{"no such file"};
  refuse({name.empty() ? std::string_view{"''"} : std::string_view{name}},
         fmt::format("tried it as a file: {}", found),
         fmt::format("a sweep file, or one of the built-in sweeps {}", joined(names)),
         did_you_mean(name, names, "give the path of a file that is there"));
}

void apply_setting(Sweep& sweep, std::string_view setting, std::span<const Enrolled> known) {
  const auto shown = "--set " + in_quotes(setting);
  const Place place{shown};
  const auto equals = setting.find('=');
  const auto left = setting.substr(0, equals);
  const auto dot = left.find('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos) {
    refuse(place, "no '.' or no '='", "BENCHMARK.AXIS=VALUE,… or plan.KEY=NUMBER",
           "write it like layout_read.warps_per_sm=1,2");
  }
  const auto owner = left.substr(0, dot);
  const auto key = left.substr(dot + 1);
  auto right = setting.substr(equals + 1);

  if (owner == "plan") {
    Plan plan = sweep.plan;
    set_plan_field(place, plan, known_plan_field(place, key), right);
    check_plan(place, plan);
    sweep.plan = plan;
    return;
  }

  const auto& benchmark = known_benchmark(place, owner, known);
  const auto& axis = known_axis(place, key, benchmark);
  std::vector<Written> written;
  for (bool more = true; more;) {
    const auto comma = right.find(',');
    written.push_back({right.substr(0, comma)});
    more = comma != std::string_view::npos;
    if (more) right.remove_prefix(comma + 1);
  }
  const auto values = canonical_values(shown, axis, written);

  std::vector<SweepEntry*> concerned;
  for (auto& entry : sweep.entries) {
    if (entry.benchmark == benchmark.name) concerned.push_back(&entry);
  }
  if (concerned.empty()) {
    refuse(place, fmt::format("sweep {} does not run {}", sweep.name, benchmark.name),
           "a benchmark of the sweep", "add an entry for it to a sweep file");
  }
  for (auto* const entry : concerned) {
    const auto at = std::find_if(entry->axes.begin(), entry->axes.end(),
                                 [&](const auto& named) { return named.first == axis.name; });
    if (at == entry->axes.end()) {
      entry->axes.emplace_back(axis.name, values);
    } else {
      at->second = values;
    }
  }
}

std::vector<Case> expand(const Sweep& sweep, Backend backend, std::span<const Enrolled> known) {
  std::map<std::string, Request> requests;
  std::size_t points = 0;
  for (const auto& entry : sweep.entries) {
    const auto* const enrolled = find(known, entry.benchmark);
    if (enrolled == nullptr)
      throw std::invalid_argument{"no benchmark " + in_quotes(entry.benchmark)};
    if (enrolled->body(backend) == nullptr) continue;
    points += count_points(enrolled->benchmark, entry);
    if (points > max_sweep_points) {
      refuse({sweep.file}, fmt::format("more than {} combinations of values", max_sweep_points),
             "a sweep that ends", "list fewer values or split the sweep");
    }
    auto& request = requests[entry.benchmark];
    request.enrolled = enrolled;
    request.entries.push_back(&entry);
  }
  std::vector<Case> cases;
  for (const auto& [name, request] : requests) {
    auto some = expand(request, backend);
    cases.insert(cases.end(), std::move_iterator{some.begin()}, std::move_iterator{some.end()});
  }
  return cases;
}

std::vector<Case> filter(std::vector<Case> cases, const std::string& expression) {
  // libstdc++ walks an expression by recursion, as deep as it has states.
  constexpr std::size_t most_states = 4000;
  const auto shown = "--filter " + in_quotes(expression);
  const Place place{shown};
  if (expression.size() > max_filter_length ||
      expression.size() * unfolding(expression, most_states) > most_states) {
    refuse(place, "an expression too large to match",
           fmt::format("at most {} characters and small counts in {{}}", max_filter_length),
           "shorten it");
  }
  auto flags = std::regex::ECMAScript | std::regex::nosubs;
#ifdef __GLIBCXX__
  // Matches in linear time and without recursion over the text; has no back-references.
  flags |= std::regex_constants::__polynomial;
#endif
  try {
    const std::regex wanted{expression, flags};
    std::erase_if(cases, [&](const Case& one) { return !std::regex_search(one.id(), wanted); });
  } catch (const std::regex_error& error) {
    refuse(place, one_line(error.what()),
           "an ECMAScript regular expression without back-references",
           "correct it; a character that stands for itself may need a '\\' before it");
  }
  return cases;
}

}  // namespace strata
