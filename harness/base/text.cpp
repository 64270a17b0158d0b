#include "harness/base/text.hpp"

#include "harness/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace strata {
namespace {

constexpr std::size_t shown_characters = 48;  // of quoted text
constexpr std::size_t longest_name = 64;      // longer words are not compared

/// One character at the start of a text, and how many bytes it takes.
struct Character {
  std::size_t bytes = 0;  // 0: not UTF-8
  std::uint32_t code = 0;
};

Character first_character(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text.front());
  const auto ones = static_cast<std::size_t>(std::countl_one(lead));
  const std::size_t bytes = std::max<std::size_t>(ones, 1);
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};  // by bytes
  if (ones == 1 || bytes >= least.size() || bytes > text.size()) return {};
  std::uint32_t code = lead & (0x7FU >> ones);
  for (const char c : text.substr(1, bytes - 1)) {
    const auto byte = static_cast<std::uint8_t>(c);
    if ((byte & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least.at(bytes) || code > 0x10FFFF || surrogate) return {};
  return {bytes, code};
}

bool is_control(std::uint32_t code) {
  const bool line_or_paragraph_separator = code == 0x2028 || code == 0x2029;
  // Marks, embeddings, overrides and isolates: they show text in another order than it is read.
  const bool turns_text = code == 0x61C || code == 0x200E || code == 0x200F ||
                          (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || line_or_paragraph_separator || turns_text;
}

/// At most `most` characters of `text`, escaped; moves `text` past them.
std::string take_escaped(std::string_view& text, std::size_t most) {
  std::string out;
  for (std::size_t taken = 0; taken < most && !text.empty(); ++taken) {
    const auto [bytes, code] = first_character(text);
    const auto all = text.substr(0, std::max<std::size_t>(bytes, 1));
    if (bytes == 0 || is_control(code)) {
      for (const char c : all)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out.append(all);
    }
    text.remove_prefix(all.size());
  }
  return out;
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto bytes = first_character(text.substr(at)).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::nullopt;
}

std::size_t line_of(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::string one_line(std::string_view text) {
  return take_escaped(text, text.size());
}

std::string in_quotes(std::string_view text) {
  const auto start = take_escaped(text, shown_characters);
  return "'" + start + (text.empty() ? "'" : "…'");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size(); start += parts.back().size() + 1)
    parts.push_back(text.substr(start, text.find(separator, start) - start));
  return parts;
}

std::string joined(std::span<const std::string> words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      auto& least = cost[i][j];
      least = i + j;
      if (i == 0 || j == 0) continue;
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least = std::min({replaced, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) least = std::min(least, cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> names) {
  constexpr std::size_t telling_prefix = 3;  // "warps" for "warps_per_sm"; "w" could be anything
  if (word.empty() || word.size() > longest_name) return std::nullopt;
  const std::string* nearest = nullptr;
  std::size_t least = 0;
  for (const auto& name : names) {
    const bool starts_so = word.size() >= telling_prefix && name.starts_with(word);
    const std::size_t distance = starts_so ? 1 : edit_distance(word, name);
    // One mistake in three letters may be a slip; more is another word.
    if (distance > (std::max(word.size(), name.size()) + 2) / 3) continue;
    if (nearest == nullptr || distance < least) {
      nearest = &name;
      least = distance;
    }
  }
  return nearest == nullptr ? std::nullopt : std::optional{*nearest};
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names,
                         std::string_view otherwise) {
  if (const auto near = nearest_name(word, names)) return fmt::format("did you mean '{}'?", *near);
  return std::string{otherwise};
}

void refuse(const Place& place, std::string_view found, std::string_view expected,
            std::string_view mend) {
  const auto line = place.line == 0 ? std::string{} : fmt::format(":{}", place.line);
  throw UsageError{
      fmt::format("{}{}: {}; expected {}; {}", one_line(place.name), line, found, expected, mend)};
}

std::optional<long long> whole_number(std::string_view text) {
  const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.starts_with('0') && text != "0") return std::nullopt;
  long long value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::string place_text(std::string_view file, unsigned line, std::string_view function) {
  // The last two parts of the path.
  if (const auto name = file.rfind('/'); name != std::string::npos && name != 0) {
    const auto folder = file.rfind('/', name - 1);
    file.remove_prefix(folder + 1);  // nothing where there is none
  }
  return fmt::format("{}:{} in {}", file, line, function);
}

}  // namespace strata
