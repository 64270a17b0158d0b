#include "harness/record/json_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>
#include <type_traits>

namespace strata {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of results/schema/README.md

constexpr std::size_t longest_quotation = 200;

/// Our records are 6 levels deep. Reading and freeing a value recurse as deep as it is nested.
constexpr int deepest_json = 32;

Json parsed(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF"))
    throw FormatError{"not JSON: starts with a byte order mark"};
  return Json::parse(text, [](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    if (depth > deepest_json)
      throw FormatError{fmt::format("not JSON: more than {} levels deep", deepest_json)};
    return true;
  });
}

std::string text_of(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

[[noreturn]] void refuse_value(std::string_view place, std::string_view expected,
                               const Json& found) {
  throw FormatError{fmt::format("{}: expected {}, found {:.{}}", place, expected, text_of(found),
                                longest_quotation)};
}

/// JSON has no NaN or infinity, and the library would silently write null.
void check_finite(double number, std::string_view what) {
  if (std::isfinite(number)) return;
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

template <class T>
void read(const Json& found, std::string_view place, T& value) {
  constexpr std::string_view expected = std::is_same_v<T, bool>          ? "true or false"
                                        : std::is_same_v<T, double>      ? "a number"
                                        : std::is_same_v<T, std::string> ? "a string"
                                                                         : "an integer in range";
  if (!holds<T>(found)) refuse_value(place, expected, found);
  value = found.get<T>();
}

template <class T>
void read(const Json& found, std::string_view place, std::vector<T>& values) {
  if (!found.is_array()) refuse_value(place, "a list", found);
  for (const Json& item : found) {
    if (!holds<T>(item))
      refuse_value(place, std::is_same_v<T, double> ? "numbers" : "strings", item);
  }
  values = found.get<std::vector<T>>();
}

}  // namespace

struct JsonFields::Node {
  std::shared_ptr<Json> json;  // this object; keeps the whole text alive
  bool reading = false;
  std::string where;  // "measurements[0]"; empty for the root
  std::set<std::string> used_keys;

  [[nodiscard]] std::string place(const std::string& key) const {
    return where.empty() ? key : where + "." + key;
  }
  Json& at(const std::string& key) {
    used_keys.insert(key);
    if (reading && !json->contains(key))
      throw FormatError{fmt::format("key '{}' is missing", place(key))};
    return (*json)[key];
  }
  [[nodiscard]] JsonFields inside(Json& value, const std::string& its_place) const {
    if (!value.is_object()) refuse_value(its_place, "an object", value);
    const std::shared_ptr<Json> inner{json, &value};
    return JsonFields{std::make_shared<Node>(Node{inner, reading, its_place, {}})};
  }
};

JsonFields JsonFields::writer() {
  return JsonFields{
      std::make_shared<Node>(Node{std::make_shared<Json>(Json::object()), false, {}, {}})};
}

JsonFields JsonFields::reader(std::string_view text) {
  try {
    auto root = std::make_shared<Json>(parsed(text));
    if (!root->is_object()) refuse_value("text", "an object", *root);
    return JsonFields{std::make_shared<Node>(Node{std::move(root), true, {}, {}})};
  } catch (const Json::exception& error) {
    throw FormatError{fmt::format("not JSON: {:.{}}", error.what(), longest_quotation)};
  }
}

std::string JsonFields::text(int indent) const {
  return text_of(*node_->json, indent);
}

bool JsonFields::reading() const {
  return node_->reading;
}

bool JsonFields::has(const std::string& key) const {
  const auto found = node_->json->find(key);
  return found != node_->json->end() && !found->is_null();
}

std::vector<std::string> JsonFields::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : node_->json->items())
    keys.push_back(key);
  return keys;
}

void JsonFields::refuse(const std::string& key, std::string_view expected) const {
  refuse_value(node_->place(key), expected, node_->at(key));
}

JsonFields JsonFields::object(const std::string& key) {
  Json& inner = node_->at(key);
  if (!reading()) inner = Json::object();
  return node_->inside(inner, node_->place(key));
}

std::vector<JsonFields> JsonFields::list(const std::string& key, std::size_t size) {
  Json& all = node_->at(key);
  if (!reading()) all = Json::array_t(size, Json::object());
  if (!all.is_array()) refuse(key, "a list");
  std::vector<JsonFields> items;
  for (Json& item : all)
    items.push_back(node_->inside(item, fmt::format("{}[{}]", node_->place(key), items.size())));
  return items;
}

void JsonFields::plain(const std::string& key, Plain value) {
  const auto place = node_->place(key);
  Json& json = node_->at(key);
  std::visit(
      [&]<class T>(T* here) {
        if (reading()) return read(json, place, *here);
        if constexpr (std::is_same_v<T, double>) check_finite(*here, place);
        if constexpr (std::is_same_v<T, std::vector<double>>) {
          for (const double number : *here)
            check_finite(number, place);
        }
        json = *here;
      },
      value);
}

void JsonFields::text_or_null(const std::string& key, std::string& value) {
  node_->used_keys.insert(key);
  if (reading() ? has(key) : !value.empty()) return field(key, value);
  if (!reading()) (*node_->json)[key] = nullptr;
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

void JsonFields::other_fields(Facts& facts) {
  if (!reading()) {
    for (const auto& [name, fact] : facts) {
      if (node_->json->contains(name)) {
        throw FormatError{fmt::format("{} fact may not be called {}",
                                      node_->where.empty() ? "a" : "a " + node_->where, name)};
      }
      if (const auto* real = std::get_if<double>(&fact)) check_finite(*real, "fact " + name);
      std::visit([&json = (*node_->json)[name]](const auto& value) { json = value; }, fact);
    }
    return;
  }
  for (const auto& [key, value] : node_->json->items()) {
    if (node_->used_keys.contains(key)) continue;
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
      refuse_value(node_->place(key), "true, false, a number or a string", value);
    }
  }
}

}  // namespace strata
