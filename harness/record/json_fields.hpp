// JSON objects, read and written through one list of fields per type, so that both directions
// agree. Reading is strict: a value of another type, a number out of range or an unknown word is
// refused with its place ("measurements[0].samples: expected numbers, found …"). nlohmann's own
// conversions would truncate 1.5 to 1 and map an unknown word to the first enumerator; its headers
// stay in .cpp files.
#pragma once

#include "harness/base/enum_words.hpp"
#include "harness/record/measurement.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace strata {

/// Text that violates the format, or a value that the format cannot hold.
struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class JsonFields;

/// `void fields(JsonFields&, T&)` lists the fields of a T: it reads into them or writes them.
template <class T>
concept HasFields = requires(JsonFields& json, T& value) {
  fields(json, value);
};

/// One JSON object that is being read or written. Unknown keys are ignored.
class JsonFields {
 public:
  [[nodiscard]] static JsonFields writer();
  /// Throws FormatError for text that is not one JSON object.
  [[nodiscard]] static JsonFields reader(std::string_view text);

  /// On one line, or indented. Bytes that are not UTF-8 become U+FFFD.
  [[nodiscard]] std::string text(int indent) const;

  [[nodiscard]] bool reading() const;
  /// Whether the key exists and is not null.
  [[nodiscard]] bool has(const std::string& key) const;
  /// Throws FormatError "place: expected …, found …" for the value of a key.
  [[noreturn]] void refuse(const std::string& key, std::string_view expected) const;
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The object under a key; when writing, a new one, to be filled before the next field of this
  /// one.
  [[nodiscard]] JsonFields object(const std::string& key);

  /// A required field. Throws FormatError: when reading, for a missing key or a value of another
  /// type; when writing, for a number that is not finite.
  template <class T>
  void field(const std::string& key, T& value) {
    if constexpr (HasFields<T>) {
      JsonFields inner = object(key);
      fields(inner, value);
    } else if constexpr (HasWords<T>) {
      std::string word{to_string(value)};
      plain(key, &word);
      const auto found = enum_from<T>(word);
      if (!found) refuse(key, one_of_words<T>());
      value = *found;
    } else {
      plain(key, &value);
    }
  }
  template <HasFields T>
  void field(const std::string& key, std::vector<T>& values) {
    auto items = list(key, values.size());
    values.resize(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
      fields(items[i], values[i]);
  }
  /// A field that is always written; if it is absent or null, reading leaves `value` unchanged.
  template <class T>
  void optional(const std::string& key, T& value) {
    if (!reading() || has(key)) field(key, value);
  }
  /// The same, but not written if empty.
  template <class T>
  void unless_empty(const std::string& key, T& value) {
    if (reading() ? has(key) : !value.empty()) field(key, value);
  }
  /// Text that is null or absent if empty.
  void text_or_null(const std::string& key, std::string& value);
  /// Members kept verbatim: `members` is empty or the text of an object with some of `keys`.
  void verbatim(const std::vector<std::string>& keys, std::string& members);
  /// All keys that were not read as fields. Throws FormatError for a fact with the name of another
  /// field.
  void other_fields(Facts& facts);

 private:
  struct Node;
  using Plain = std::variant<bool*, int*, std::int64_t*, std::size_t*, double*, std::string*,
                             std::vector<std::string>*, std::vector<double>*>;
  explicit JsonFields(std::shared_ptr<Node> node) : node_{std::move(node)} {}
  void plain(const std::string& key, Plain value);
  [[nodiscard]] std::vector<JsonFields> list(const std::string& key, std::size_t size);

  std::shared_ptr<Node> node_;
};

/// The fields of `value` as a JSON object on one line, or indented. Throws FormatError.
template <HasFields T>
[[nodiscard]] std::string to_json(T value, int indent = -1) {
  JsonFields json = JsonFields::writer();
  fields(json, value);
  return json.text(indent);
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
