#include "harness/base/text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace std::string_literals;

TEST(Utf8, AcceptsEveryLengthOfCharacter) {
  EXPECT_EQ(strata::find_invalid_utf8(""), std::nullopt);
  EXPECT_EQ(strata::find_invalid_utf8("a é € 😀 \x7f\n"), std::nullopt);
  EXPECT_EQ(strata::find_invalid_utf8("\u0080\u07ff\u0800\uffff\U00010000\U0010ffff"),
            std::nullopt);
}

TEST(Utf8, FindsTheFirstByteThatIsNoPartOfACharacter) {
  EXPECT_EQ(strata::find_invalid_utf8("ab\xff"), 2U);
  EXPECT_EQ(strata::find_invalid_utf8("\x80"), 0U);
  EXPECT_EQ(strata::find_invalid_utf8("é\xc3(\n"), 2U);
}

TEST(Utf8, RefusesWhatOnlyLooksLikeIt) {
  EXPECT_EQ(strata::find_invalid_utf8("\xc0\xaf"), 0U) << "overlong '/'";
  EXPECT_EQ(strata::find_invalid_utf8("\xe0\x80\xaf"), 0U) << "overlong in three bytes";
  EXPECT_EQ(strata::find_invalid_utf8("\xf0\x80\x80\xaf"), 0U) << "overlong in four bytes";
  EXPECT_EQ(strata::find_invalid_utf8("\xed\xa0\x80"), 0U) << "surrogate";
  EXPECT_EQ(strata::find_invalid_utf8("\xf4\x90\x80\x80"), 0U) << "past U+10FFFF";
  EXPECT_EQ(strata::find_invalid_utf8("\xf8\x88\x80\x80\x80"), 0U) << "five bytes";
  EXPECT_EQ(strata::find_invalid_utf8("x\xe2\x82"), 1U) << "cut short";
}

TEST(Line, IsCountedFromOneAndChangesAfterTheNewline) {
  EXPECT_EQ(strata::line_of("a\nb\n", 0), 1U);
  EXPECT_EQ(strata::line_of("a\nb\n", 1), 1U);
  EXPECT_EQ(strata::line_of("a\nb\n", 2), 2U);
  EXPECT_EQ(strata::line_of("a\nb\n", 4), 3U);
}

TEST(OneLine, EscapesWhatWouldLeaveTheLineOrTheTerminal) {
  EXPECT_EQ(strata::one_line("a\nb\r\x1b[31m\x7f\0c"s), "a\\x0ab\\x0d\\x1b[31m\\x7f\\x00c");
  EXPECT_EQ(strata::one_line("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(strata::one_line("\u0085\u2028"), "\\xc2\\x85\\xe2\\x80\\xa8");
  EXPECT_EQ(strata::one_line("größe €"), "größe €");
}

TEST(OneLine, EscapesWhatTurnsTheDirectionOfText) {
  for (const std::string control : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c",
                                    "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    std::string expected = "a";
    for (const char c : control)
      expected += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    EXPECT_EQ(strata::one_line("a" + control), expected);
  }
  const std::string neighbours = "\u061b\u061d\u200d\u2010\u202f\u2065\u206a";
  EXPECT_EQ(strata::one_line(neighbours), neighbours);
}

TEST(Quotes, ShowTheStartOfALongText) {
  EXPECT_EQ(strata::in_quotes(""), "''");
  EXPECT_EQ(strata::in_quotes("aos"), "'aos'");
  EXPECT_EQ(strata::in_quotes(std::string(48, 'x')), "'" + std::string(48, 'x') + "'");
  EXPECT_EQ(strata::in_quotes(std::string(49, 'x')), "'" + std::string(48, 'x') + "…'");
}

TEST(Quotes, NeverCutACharacterInTwo) {
  std::string long_text;
  for (int i = 0; i < 100; ++i)
    long_text += "€";
  EXPECT_EQ(strata::find_invalid_utf8(strata::in_quotes(long_text)), std::nullopt);
}

TEST(EditDistance, CountsSlipsOfTheKeyboard) {
  EXPECT_EQ(strata::edit_distance("", ""), 0U);
  EXPECT_EQ(strata::edit_distance("abc", ""), 3U);
  EXPECT_EQ(strata::edit_distance("", "abc"), 3U);
  EXPECT_EQ(strata::edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(strata::edit_distance("laoyut", "layout"), 1U) << "a swap is one slip";
  EXPECT_EQ(strata::edit_distance("soa", "aos"), 2U);
}

TEST(EditDistance, IsTheSameBothWays) {
  const std::vector<std::string> words{"", "aos", "soa", "aoas", "soaoas", "aosoa32", "quick"};
  for (const auto& a : words) {
    for (const auto& b : words)
      EXPECT_EQ(strata::edit_distance(a, b), strata::edit_distance(b, a));
  }
}

TEST(NearestName, IsTheOneThatWasMeant) {
  const std::vector<std::string> axes{"layout", "residency", "cores", "block_size", "warps_per_sm"};
  EXPECT_EQ(strata::nearest_name("layuot", axes), "layout");
  EXPECT_EQ(strata::nearest_name("resydency", axes), "residency");
  EXPECT_EQ(strata::nearest_name("blocksize", axes), "block_size");
  EXPECT_EQ(strata::nearest_name("warps", axes), "warps_per_sm") << "its beginning is telling";
  EXPECT_EQ(strata::nearest_name("core", axes), "cores");
  const std::vector<std::string> layouts{"aos", "soa", "aosoa32"};
  EXPECT_EQ(strata::nearest_name("aosoa23", layouts), "aosoa32") << "not the shorter 'aos'";
  EXPECT_EQ(strata::nearest_name("aosoa", layouts), "aosoa32");
}

TEST(NearestName, IsNoneWhenNothingIsNear) {
  const std::vector<std::string> axes{"layout", "residency", "cores"};
  EXPECT_EQ(strata::nearest_name("temperature", axes), std::nullopt);
  EXPECT_EQ(strata::nearest_name("", axes), std::nullopt);
  EXPECT_EQ(strata::nearest_name("cores", std::vector<std::string>{}), std::nullopt);
  EXPECT_EQ(strata::nearest_name("layout" + std::string(100'000, 'x'), axes), std::nullopt);
}

TEST(WholeNumber, HasOneSpelling) {
  EXPECT_EQ(strata::whole_number("0"), 0);
  EXPECT_EQ(strata::whole_number("-7"), -7);
  EXPECT_EQ(strata::whole_number("1024"), 1024);
  EXPECT_EQ(strata::whole_number("9223372036854775807"), 9223372036854775807LL);
  for (const auto* const text : {"", "-", "+8", "08", "00", "-0", "-08", "8.0", "0x8", "8e0", " 8",
                                 "8 ", "1_000", "eight", "9223372036854775808"}) {
    EXPECT_EQ(strata::whole_number(text), std::nullopt) << text;
  }
}

TEST(PlaceText, NamesTheLastTwoPartsOfThePath) {
  EXPECT_EQ(strata::place_text("/some/where/harness/cuda/buffer.hpp", 41, "void allocate()"),
            "cuda/buffer.hpp:41 in void allocate()");
  EXPECT_EQ(strata::place_text("device/buffer.hpp", 7, "f"), "device/buffer.hpp:7 in f");
  EXPECT_EQ(strata::place_text("buffer.hpp", 1, "f"), "buffer.hpp:1 in f");
  EXPECT_EQ(strata::place_text("/buffer.hpp", 1, "f"), "/buffer.hpp:1 in f");
}

}  // namespace
