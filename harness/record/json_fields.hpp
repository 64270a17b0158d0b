// JSON objects, written and read through one list of fields for each type, so that the two
// directions cannot differ. Reading is strict: a value of another type, a number out of range or an
// unknown word is refused with its place ("measurements[0].samples: expected numbers, found …").
// nlohmann's own conversions and macros would truncate 1.5 to 1, take an unknown word for the first
// of its enumeration and, in the version that we build with, sort the keys.
#pragma once

#include "harness/case/case.hpp"
#include "harness/case/enum_words.hpp"
#include "harness/record/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {

/// Text that is not what the format says, or a value that the format cannot hold.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class JsonFields;

/// `void fields(JsonFields&, T&)` lists the fields of a T: it reads into them or writes them.
template <class T>
concept HasFields = requires(JsonFields& json, T& value) {
  fields(json, value);
};

/// One JSON object that is being read or written. Keys that nobody asks for are ignored.
class JsonFields {
 public:
  [[nodiscard]] static JsonFields writer();
  /// Throws FormatError for text that is not one JSON object.
  [[nodiscard]] static JsonFields reader(std::string_view text);

  /// On one line, or indented. Bytes that are not UTF-8 become U+FFFD.
  [[nodiscard]] std::string text(int indent = -1) const;

  [[nodiscard]] bool reading() const;
  /// The key is there and not null.
  [[nodiscard]] bool has(const std::string& key) const;
  /// Throws FormatError "place: expected …, found …" for the value of a key.
  [[noreturn]] void refuse(const std::string& key, std::string_view expected) const;

  // A field that must be there. Throws FormatError: on reading, for a key that is missing or a
  // value of another type; on writing, for a number that is not finite.
  void field(const std::string& key, bool& value);
  void field(const std::string& key, int& value);
  void field(const std::string& key, std::int64_t& value);
  void field(const std::string& key, std::size_t& value);
  void field(const std::string& key, double& value);
  void field(const std::string& key, std::string& value);
  void field(const std::string& key, std::vector<std::string>& values);
  void field(const std::string& key, std::vector<double>& values);
  void field(const std::string& key, Params& values);
  template <HasWords Enum>
  void field(const std::string& key, Enum& value) {
    std::string word{to_string(value)};
    field(key, word);
    const auto found = enum_from<Enum>(word);
    if (!found) refuse(key, one_of_words<Enum>());
    value = *found;
  }
  template <HasFields T>
  void field(const std::string& key, T& value) {
    JsonFields inner = object(key);
    fields(inner, value);
  }
  template <HasFields T>
  void field(const std::string& key, std::vector<T>& values) {
    values.resize(open_list(key, values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      JsonFields item = list_item(key, i);
      fields(item, values[i]);
    }
  }

  /// A field that is always written; where it is absent or null, reading leaves `value` as it is.
  template <class T>
  void optional(const std::string& key, T& value) {
    if (!reading() || has(key)) field(key, value);
  }
  /// The same, and not written where it is empty.
  template <class T>
  void unless_empty(const std::string& key, T& value) {
    if (reading() ? has(key) : !value.empty()) field(key, value);
  }
  /// Text that is null, or absent, where it is empty.
  void text_or_null(const std::string& key, std::string& value);
  void write_null(const std::string& key);
  /// Members that are kept as they are: `members` is the text of an object with some of these keys,
  /// or empty.
  void verbatim(const std::vector<std::string>& keys, std::string& members);
  /// Every key that was not asked for. Throws FormatError for a fact with the name of another
  /// field.
  void other_fields(Facts& facts);

  /// The object under a key; on writing, a new one.
  [[nodiscard]] JsonFields object(const std::string& key);

 private:
  struct Node;
  explicit JsonFields(std::shared_ptr<Node> node) : node_{std::move(node)} {}
  [[nodiscard]] std::string place(const std::string& key) const;
  [[nodiscard]] std::size_t open_list(const std::string& key, std::size_t size);
  [[nodiscard]] JsonFields list_item(const std::string& key, std::size_t index);

  std::shared_ptr<Node> node_;  // hides nlohmann's types: its headers stay in .cpp files
};

/// The fields of `value` as a JSON object on one line. Throws FormatError.
template <HasFields T>
[[nodiscard]] std::string to_json(T value) {
  JsonFields json = JsonFields::writer();
  fields(json, value);
  return json.text();
}

/// Throws FormatError.
template <class T>
requires HasFields<T>
[[nodiscard]] T from_json(std::string_view text) {
  T value;
  JsonFields json = JsonFields::reader(text);
  fields(json, value);
  return value;
}

}  // namespace strata
