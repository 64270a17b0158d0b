#include "harness/case/yaml_tree.hpp"

#include "harness/case/text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

namespace strata {
namespace {

constexpr std::size_t deepest =
    8;  // a sweep and a counter set need 5: file, list, entry, key, values

// --- the bytes ---

bool is_refused_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

/// Holds what the parser cannot be trusted with: it reads a line at a time into memory, takes byte
/// 4 for the end of the file, and turns bytes that are not UTF-8 into others.
void check_bytes(std::string_view text, std::string_view file, std::string_view what) {
  std::size_t line = 0;
  for (auto rest = text; !rest.empty();) {
    ++line;
    const auto length = std::min(rest.find('\n'), rest.size());
    if (length > max_yaml_line) {
      refuse({file, line}, "a line that is too long",
             fmt::format("at most {} bytes", max_yaml_line), "break the line");
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
  // After the lines: a line that is too long is the more precise message.
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

/// Builds the tree of one document. Throwing from an event is what bounds the parser's recursion:
/// every level that it descends announces itself here first.
class TreeBuilder : public YAML::EventHandler {
 public:
  /// An enumeration inside a structure in yaml-cpp 0.7, a scoped one in later versions.
  using Style = decltype(YAML::EmitterStyle::Default);

  TreeBuilder(std::string_view file, std::string_view what) : file_{file}, what_{what} {}

  [[nodiscard]] TreeNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) {
      refuse(at(mark), fmt::format("more after the end of the {}", what_), "one YAML document",
             "put it in a file of its own, or mend the indentation");
    }
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor != 0);
    // The parser notices a missing value only at the next key; the message names this one.
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
             fmt::format("a {}, which needs 5", what_), "take out what is nested");
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

TreeNode parse_yaml_tree(std::string_view text, std::string_view file, std::string_view what) {
  check_bytes(text, file, what);
  std::istringstream stream{std::string{text}};
  TreeBuilder builder{file, what};
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

std::string read_yaml_file(const std::string& name, std::string_view what) {
  errno = 0;
  std::ifstream stream{name, std::ios::binary};
  std::string text;
  std::array<char, 1U << 14U> piece{};
  while (stream && text.size() <= max_yaml_bytes) {
    stream.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.is_open() || stream.bad()) {
    const auto why = errno == 0 ? std::string{"an error"} : std::generic_category().message(errno);
    refuse({name}, fmt::format("cannot be read ({})", why), fmt::format("a {} file", what),
           "give a file that you may read");
  }
  return text;
}

void allow_keys(std::string_view file, const TreeNode& mapping, std::string_view what,
                const std::vector<std::string>& allowed) {
  for (const auto& item : mapping.items) {
    if (std::ranges::find(allowed, item.key) != allowed.end()) continue;
    refuse({file, item.key_line}, fmt::format("{} has no key {}", what, in_quotes(item.key)),
           fmt::format("one of {}", joined(allowed)),
           did_you_mean(item.key, allowed, "remove it or correct its name"));
  }
}

const TreeNode& need_key(std::string_view file, const TreeNode& mapping, std::string_view key,
                         std::string_view expected) {
  if (const auto* const node = mapping.find(key)) return *node;
  refuse({file, mapping.line}, fmt::format("no key '{}'", key),
         fmt::format("'{}': {}", key, expected), fmt::format("add '{}: …'", key));
}

void check_schema(std::string_view file, const TreeNode& root, int version) {
  const auto expected = fmt::format("the version of this format, {}", version);
  const auto mend = fmt::format("write 'schema: {}' if the file is of that version", version);
  const auto& node = need_key(file, root, "schema", expected);
  if (node.kind == TreeNode::Kind::word && whole_number(node.text) == version) return;
  refuse({file, node.line}, fmt::format("schema is {}", node.describe()), expected, mend);
}

}  // namespace strata
