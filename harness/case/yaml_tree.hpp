// A YAML file as a tree that knows its lines. It may be refused for its bytes, before the YAML
// parser sees them, or event by event, so that neither depth nor aliases can grow.
#pragma once

#include "harness/case/text.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Largest file and longest line that are read, in bytes.
inline constexpr std::size_t max_yaml_bytes = 1 << 20;
inline constexpr std::size_t max_yaml_line = 1 << 14;

/// A value of the file, and its key when it is a member of a mapping.
struct TreeNode {
  enum class Kind { nothing, word, quoted_text, list, mapping };
  Kind kind = Kind::nothing;
  std::size_t line = 0;
  std::string text;             ///< of a word or quoted text
  std::vector<TreeNode> items;  ///< of a list or mapping
  std::string key;
  std::size_t key_line = 0;

  [[nodiscard]] bool is_text() const { return kind == Kind::word || kind == Kind::quoted_text; }
  [[nodiscard]] const TreeNode* find(std::string_view wanted) const;
  /// For messages: "an empty list", "'word'".
  [[nodiscard]] std::string describe() const;
};

/// The tree of the one document in `text`. `what` names the kind of file in messages: "sweep".
/// Throws UsageError "FILE:LINE: …" for bad UTF-8, control characters, a line or file over the
/// limits, YAML errors, anchors, aliases, tags, a second document, duplicate keys, deep nesting.
[[nodiscard]] TreeNode parse_yaml_tree(std::string_view text, std::string_view file,
                                       std::string_view what);

/// The text of a file, cut a little after max_yaml_bytes. Throws UsageError.
[[nodiscard]] std::string read_yaml_file(const std::string& name, std::string_view what);

/// Throws UsageError for a key that is not one of `allowed`; `what` names the mapping.
void allow_keys(std::string_view file, const TreeNode& mapping, std::string_view what,
                const std::vector<std::string>& allowed);

/// The value of a required key; `expected` describes it. Throws UsageError.
[[nodiscard]] const TreeNode& need_key(std::string_view file, const TreeNode& mapping,
                                       std::string_view key, std::string_view expected);

/// Throws UsageError unless the key `schema` is `version`.
void check_schema(std::string_view file, const TreeNode& root, int version);

}  // namespace strata
