// A YAML file as a tree that knows its lines. It can be refused for its bytes, before the YAML
// parser sees them, or event by event, so that neither depth nor aliases can grow.
#pragma once

#include "harness/base/text.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Largest file and longest line, in bytes.
inline constexpr std::size_t max_yaml_bytes = 1 << 20;
inline constexpr std::size_t max_yaml_line = 1 << 14;

/// A value of the file, with its key if it is a member of a mapping. Missing or wrong members are
/// refused with a UsageError that names file and line.
struct TreeNode {
  enum class Kind { nothing, word, quoted_text, list, mapping };
  Kind kind = Kind::nothing;
  Place place = {};                  ///< refers to the file's name, which must outlive the tree
  std::string text = {};             ///< of a word or quoted text
  std::vector<TreeNode> items = {};  ///< of a list or mapping
  std::string key = {};
  Place key_place = {};

  [[nodiscard]] bool is_text() const { return kind == Kind::word || kind == Kind::quoted_text; }
  [[nodiscard]] const TreeNode* find(std::string_view wanted) const;
  /// For messages: "an empty list", "'word'".
  [[nodiscard]] std::string describe() const;
  /// Throws UsageError "… NAME is DESCRIPTION; …".
  [[noreturn]] void refuse_as(std::string_view name, std::string_view expected,
                              std::string_view mend) const;

  /// The value of a required key; `expected` describes it.
  [[nodiscard]] const TreeNode& need(std::string_view wanted, std::string_view expected) const;
  /// The items of a node that must be of this kind and not empty.
  [[nodiscard]] const std::vector<TreeNode>& filled(Kind wanted, std::string_view name,
                                                    std::string_view expected,
                                                    std::string_view mend) const;
  /// Refuses a key that is not one of `allowed`; `what` names the mapping.
  void allow_keys(std::string_view what, const std::vector<std::string>& allowed) const;
  /// Refuses a root that is not a mapping of these keys with `schema`, the first of them, at
  /// `version`.
  void check_root(std::string_view what, const std::vector<std::string>& allowed,
                  int version) const;
};

/// The tree of the one document in `text`. `what` names the kind of file in messages: "sweep".
/// Throws UsageError "FILE:LINE: …" for bad UTF-8, control characters, a line or file over the
/// limits, YAML errors, anchors, aliases, tags, a second document, duplicate keys, deep nesting.
[[nodiscard]] TreeNode parse_yaml_tree(std::string_view text, std::string_view file,
                                       std::string_view what);

/// The text of a regular file of at most max_yaml_bytes. Throws UsageError.
[[nodiscard]] std::string read_yaml_file(const std::string& name, std::string_view what);

}  // namespace strata
