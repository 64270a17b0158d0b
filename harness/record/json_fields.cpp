#include "harness/record/json_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>
#include <type_traits>
#include <variant>

namespace strata {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of results/schema/README.md

constexpr std::size_t longest_quotation = 200;

std::string text_of(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

[[noreturn]] void refuse_value(std::string_view place, std::string_view expected,
                               const Json& found) {
  throw FormatError{fmt::format("{}: expected {}, found {:.{}}", place, expected, text_of(found),
                                longest_quotation)};
}

double finite(double number, std::string_view what) {
  // JSON has no NaN or infinity, and the library would silently write null.
  if (std::isfinite(number)) return number;
  throw FormatError{fmt::format("{} is {}, not a finite number", what, number)};
}

/// Strictly: no fraction for a whole number, no true for 1.
template <class T>
bool holds(const Json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string();
  } else if constexpr (std::is_same_v<T, double>) {
    return value.is_number();
  } else {
    if (value.is_number_unsigned()) return std::in_range<T>(value.get<std::uint64_t>());
    return value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  }
}

}  // namespace

struct JsonFields::Node {
  std::shared_ptr<Json> root;  // of the whole text
  Json* json = nullptr;        // this object
  bool reading = false;
  std::string where;            // "measurements[0]"; empty for the root
  std::set<std::string> asked;  // keys

  const Json& at(const std::string& key, const std::string& place) {
    asked.insert(key);
    const auto found = json->find(key);
    if (found == json->end()) throw FormatError{fmt::format("key '{}' is missing", place)};
    return *found;
  }
  template <class T>
  void scalar(const std::string& key, const std::string& place, T& value,
              std::string_view expected) {
    if constexpr (std::is_same_v<T, double>) {
      if (!reading) finite(value, place);
    }
    if (!reading) {
      (*json)[key] = value;
      return;
    }
    const Json& found = at(key, place);
    if (!holds<T>(found)) refuse_value(place, expected, found);
    value = found.get<T>();
  }
  template <class T>
  void list(const std::string& key, const std::string& place, std::vector<T>& values,
            std::string_view expected) {
    if (!reading) {
      (*json)[key] = values;
      return;
    }
    const Json& found = at(key, place);
    if (!found.is_array()) refuse_value(place, "a list", found);
    for (const Json& item : found) {
      if (!holds<T>(item)) refuse_value(place, expected, item);
    }
    values = found.get<std::vector<T>>();
  }
};

JsonFields JsonFields::writer() {
  auto root = std::make_shared<Json>(Json::object());
  return JsonFields{std::make_shared<Node>(Node{.root = root, .json = root.get()})};
}

JsonFields JsonFields::reader(std::string_view text) {
  try {
    auto root = std::make_shared<Json>(Json::parse(text));
    if (!root->is_object()) refuse_value("text", "an object", *root);
    return JsonFields{
        std::make_shared<Node>(Node{.root = root, .json = root.get(), .reading = true})};
  } catch (const Json::exception& error) {
    throw FormatError{fmt::format("not JSON: {:.{}}", error.what(), longest_quotation)};
  }
}

std::string JsonFields::text(int indent) const {
  return text_of(*node_->json, indent);
}

void JsonFields::verbatim(const std::vector<std::string>& keys, std::string& members) {
  if (!reading()) {
    if (!members.empty()) node_->json->update(Json::parse(members));
    return;
  }
  Json kept = Json::object();
  for (const auto& key : keys) {
    if (has(key)) kept[key] = node_->json->at(key);
  }
  members = kept.empty() ? "" : kept.dump();
}

bool JsonFields::reading() const {
  return node_->reading;
}

bool JsonFields::has(const std::string& key) const {
  const auto found = node_->json->find(key);
  return found != node_->json->end() && !found->is_null();
}

std::string JsonFields::place(const std::string& key) const {
  return node_->where.empty() ? key : node_->where + "." + key;
}

void JsonFields::refuse(const std::string& key, std::string_view expected) const {
  refuse_value(place(key), expected, node_->at(key, place(key)));
}

void JsonFields::field(const std::string& key, bool& value) {
  node_->scalar(key, place(key), value, "true or false");
}

void JsonFields::field(const std::string& key, int& value) {
  node_->scalar(key, place(key), value, "a whole number in range");
}

void JsonFields::field(const std::string& key, std::int64_t& value) {
  node_->scalar(key, place(key), value, "a whole number in range");
}

void JsonFields::field(const std::string& key, std::size_t& value) {
  node_->scalar(key, place(key), value, "a whole number in range");
}

void JsonFields::field(const std::string& key, double& value) {
  node_->scalar(key, place(key), value, "a number");
}

void JsonFields::field(const std::string& key, std::string& value) {
  node_->scalar(key, place(key), value, "a string");
}

void JsonFields::field(const std::string& key, std::vector<std::string>& values) {
  node_->list(key, place(key), values, "strings");
}

void JsonFields::field(const std::string& key, std::vector<double>& values) {
  if (!reading()) {
    for (const double value : values)
      finite(value, place(key));
  }
  node_->list(key, place(key), values, "numbers");
}

void JsonFields::field(const std::string& key, Params& values) {
  JsonFields inner = object(key);
  if (reading()) {
    for (const auto& [name, value] : inner.node_->json->items())
      values.try_emplace(name);
  }
  for (auto& [name, value] : values)
    inner.field(name, value);
}

void JsonFields::text_or_null(const std::string& key, std::string& value) {
  if (!reading() && value.empty()) return write_null(key);
  node_->asked.insert(key);
  optional(key, value);
}

void JsonFields::write_null(const std::string& key) {
  (*node_->json)[key] = nullptr;
}

void JsonFields::other_fields(Facts& facts) {
  if (!reading()) {
    for (const auto& [name, fact] : facts) {
      if (node_->json->contains(name)) {
        throw FormatError{fmt::format("{} fact may not be called {}",
                                      node_->where.empty() ? "a" : "a " + node_->where, name)};
      }
      if (const auto* real = std::get_if<double>(&fact)) finite(*real, "fact " + name);
      std::visit([&, &key = name](const auto& value) { (*node_->json)[key] = value; }, fact);
    }
    return;
  }
  for (const auto& [key, value] : node_->json->items()) {
    if (node_->asked.contains(key)) continue;
    Fact& fact = facts[key];
    if (value.is_boolean()) {
      fact = value.get<bool>();
    } else if (value.is_string()) {
      fact = value.get<std::string>();
    } else if (value.is_number_float()) {
      fact = value.get<double>();
    } else if (holds<std::int64_t>(value)) {
      fact = value.get<std::int64_t>();
    } else {
      refuse_value(place(key), "true, false, a number or a string", value);
    }
  }
}

JsonFields JsonFields::object(const std::string& key) {
  Json* inner = nullptr;
  if (reading()) {
    if (!node_->at(key, place(key)).is_object()) refuse(key, "an object");
    inner = &node_->json->at(key);
  } else {
    inner = &((*node_->json)[key] = Json::object());
  }
  return JsonFields{std::make_shared<Node>(
      Node{.root = node_->root, .json = inner, .reading = node_->reading, .where = place(key)})};
}

std::size_t JsonFields::open_list(const std::string& key, std::size_t size) {
  if (!reading()) {
    (*node_->json)[key] = Json::array_t(size, Json::object());
    return size;
  }
  const Json& found = node_->at(key, place(key));
  if (!found.is_array()) refuse(key, "a list");
  return found.size();
}

JsonFields JsonFields::list_item(const std::string& key, std::size_t index) {
  Json& item = node_->json->at(key).at(index);
  std::string where = fmt::format("{}[{}]", place(key), index);
  if (!item.is_object()) refuse_value(where, "an object", item);
  return JsonFields{std::make_shared<Node>(Node{
      .root = node_->root, .json = &item, .reading = node_->reading, .where = std::move(where)})};
}

}  // namespace strata
