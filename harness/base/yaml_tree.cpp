#include "harness/base/yaml_tree.hpp"

#include "harness/base/regular_file.hpp"

#include <fmt/format.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace strata {
namespace {

// A sweep and a counter set need 5: file, list, entry, key, values.
constexpr std::size_t deepest = 8;

// --- the bytes ---

bool is_refused_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

/// Refuses what the parser would mishandle: it reads whole lines into memory, takes byte 4 for the
/// end of the file, and replaces bytes that are not UTF-8.
void check_bytes(std::string_view text, std::string_view file, std::string_view what) {
  std::size_t line = 0;
  for (auto content : split(text, '\n')) {
    ++line;
    if (content.size() > max_yaml_line) {
      refuse({file, line}, "a line that is too long",
             fmt::format("at most {} bytes", max_yaml_line), "break the line");
    }
    if (content.ends_with('\r')) content.remove_suffix(1);
    const auto* const bad = std::ranges::find_if(content, is_refused_control);
    if (bad != content.end()) {
      refuse({file, line}, fmt::format("control character {}", in_quotes({bad, 1})), "text",
             "remove it");
    }
  }
  // After the lines: that a line is too long is the more precise message.
  if (text.size() > max_yaml_bytes) {
    refuse({file, 1}, fmt::format("more than {} bytes", max_yaml_bytes),
           fmt::format("a {} file no larger than that", what),
           fmt::format("split it into several {}s", what));
  }
  if (const auto at = find_invalid_utf8(text)) {
    refuse({file, line_of(text, *at)},
           fmt::format("byte {} that is not UTF-8", in_quotes(text.substr(*at, 1))), "UTF-8 text",
           "save the file as UTF-8");
  }
}

// --- the YAML ---

std::size_t line_of(const YAML::Mark& mark) {
  return static_cast<std::size_t>(std::max(mark.line, 0)) + 1;
}

/// Builds the tree of one document. The parser announces every level here before it descends, so
/// throwing from an event bounds its recursion.
class TreeBuilder : public YAML::EventHandler {
 public:
  /// An enumeration inside a structure in yaml-cpp 0.7, a scoped one in later versions.
  using Style = decltype(YAML::EmitterStyle::Default);
  using Kind = TreeNode::Kind;

  TreeBuilder(std::string_view file, std::string_view what) : file_{file}, what_{what} {
    root_.place.name = file;
  }

  [[nodiscard]] TreeNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) {
      refuse(at(mark), fmt::format("more after the end of the {}", what_), "one YAML document",
             "put it in a separate file, or correct the indentation");
    }
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, {}, anchor);
    // The parser notices a missing value only at the next key; the message names this one.
    const bool is_value = !open_.empty() && open_.back().key;
    add({.place = is_value ? open_.back().key->place : at(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { check(mark, {}, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    const auto kind = tag == "!" ? Kind::quoted_text : Kind::word;
    add({.kind = kind, .place = at(mark), .text = value});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       Style /*style*/) override {
    check(mark, tag, anchor);
    open(mark, Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  Style /*style*/) override {
    check(mark, tag, anchor);
    open(mark, Kind::mapping);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A list or mapping whose end has not been read yet.
  struct Open {
    TreeNode node;
    std::optional<TreeNode> key;  // read, and waiting for its value
    std::set<std::string, std::less<>> keys;
  };

  [[nodiscard]] Place at(const YAML::Mark& mark) const { return {file_, line_of(mark)}; }

  void check(const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor) const {
    if (anchor != 0) {
      refuse(at(mark), "an anchor or alias", "every value written out", "write the value out");
    }
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(at(mark), fmt::format("the tag {}", in_quotes(tag)), "a plain value", "remove the tag");
  }

  void open(const YAML::Mark& mark, Kind kind) {
    if (open_.size() == deepest) {
      refuse(at(mark), fmt::format("more than {} nested values", deepest),
             fmt::format("a {}, which needs 5", what_), "remove the nesting");
    }
    if (wants_key()) refuse_key(at(mark), kind == Kind::list ? "a list" : "a mapping");
    open_.push_back({.node = {.kind = kind, .place = at(mark)}});
  }

  void close() {
    TreeNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  [[nodiscard]] bool wants_key() const {
    return !open_.empty() && open_.back().node.kind == Kind::mapping && !open_.back().key;
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
      if (!node.is_text()) refuse_key(node.place, node.describe());
      if (!parent.keys.insert(node.text).second) {
        refuse(node.place, fmt::format("a second key {}", in_quotes(node.text)), "each key once",
               "remove one of them");
      }
      parent.key = std::move(node);
      return;
    }
    if (parent.key) {
      node.key = std::move(parent.key->text);
      node.key_place = parent.key->place;
      parent.key.reset();
    }
    parent.node.items.push_back(std::move(node));
  }

  std::string_view file_;
  std::string_view what_;
  std::vector<Open> open_;
  TreeNode root_;
  bool started_ = false;
};

}  // namespace

const TreeNode* TreeNode::find(std::string_view wanted) const {
  const auto found = std::ranges::find(items, wanted, &TreeNode::key);
  return found == items.end() ? nullptr : &*found;
}

std::string TreeNode::describe() const {
  if (is_text()) return in_quotes(text);
  if (kind == Kind::nothing) return "nothing";
  return fmt::format("{}{}", items.empty() ? "an empty " : "a ",
                     kind == Kind::list ? "list" : "mapping");
}

void TreeNode::refuse_as(std::string_view name, std::string_view expected,
                         std::string_view mend) const {
  refuse(place, fmt::format("{} is {}", name, describe()), expected, mend);
}

const TreeNode& TreeNode::need(std::string_view wanted, std::string_view expected) const {
  if (const auto* const node = find(wanted)) return *node;
  refuse(place, fmt::format("no key '{}'", wanted), fmt::format("'{}': {}", wanted, expected),
         fmt::format("add '{}: …'", wanted));
}

const std::vector<TreeNode>& TreeNode::filled(Kind wanted, std::string_view name,
                                              std::string_view expected,
                                              std::string_view mend) const {
  if (kind != wanted || items.empty()) refuse_as(name, expected, mend);
  return items;
}

void TreeNode::allow_keys(std::string_view what, const std::vector<std::string>& allowed) const {
  for (const auto& item : items) {
    if (std::ranges::find(allowed, item.key) != allowed.end()) continue;
    refuse(item.key_place, fmt::format("{} has no key {}", what, in_quotes(item.key)),
           fmt::format("one of {}", joined(allowed)),
           did_you_mean(item.key, allowed, "remove it or correct its name"));
  }
}

void TreeNode::check_root(std::string_view what, const std::vector<std::string>& allowed,
                          int version) const {
  if (kind != Kind::mapping) {
    refuse({place.name, std::max<std::size_t>(place.line, 1)}, describe(),
           fmt::format("{} with the keys {} and {}", what,
                       joined(std::span{allowed}.first(allowed.size() - 1)), allowed.back()),
           fmt::format("start with 'schema: {}'", version));
  }
  allow_keys(what, allowed);
  const auto expected = fmt::format("the version of this format, {}", version);
  const auto& schema = need("schema", expected);
  if (schema.kind == Kind::word && whole_number(schema.text) == version) return;
  schema.refuse_as("schema", expected,
                   fmt::format("write 'schema: {}' if the file is of that version", version));
}

TreeNode parse_yaml_tree(std::string_view text, std::string_view file, std::string_view what) {
  check_bytes(text, file, what);
  std::istringstream stream{std::string{text}};
  TreeBuilder builder{file, what};
  try {
    YAML::Parser parser{stream};
    while (parser.HandleNextDocument(builder)) {
    }  // a second document is refused when it starts
  } catch (const YAML::Exception& error) {
    refuse({file, line_of(error.mark)}, "YAML that cannot be read: " + one_line(error.msg),
           "well-formed YAML", "correct the indentation, quotes or brackets there");
  }
  return builder.take();
}

std::string read_yaml_file(const std::string& name, std::string_view what) {
  return read_regular(name, 0, fmt::format("a {} file", what), max_yaml_bytes);
}

}  // namespace strata
