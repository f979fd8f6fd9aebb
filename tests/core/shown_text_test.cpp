#include "sim/core/shown_text.h"

#include <gtest/gtest.h>

#include "sim/core/error.h"

namespace headway::core {
namespace {

TEST(ShownText, WritesOutWhatCommandsATerminal) {
  EXPECT_EQ(visible("\x1b[31mred\x07\r"), "\\x1b[31mred\\x07\\x0d");
  EXPECT_EQ(visible("\xC2\x9B"
                    "31m"),
            "\\x9b31m");  // U+009B is "escape [" in one character
  EXPECT_EQ(visible("a\x7F"), "a\\x7f");
}

TEST(ShownText, LeavesTextLinesAndTabsAsTheyAre) {
  const std::string text = "Größe 3 µs\n\tzwei \xE2\x82\xAC \xF0\x9F\x98\x80";
  EXPECT_EQ(visible(text), text);
  EXPECT_EQ(visible(visible("\x1b")), "\\x1b");
}

TEST(ShownText, BytesThatAreNoUtf8AreWrittenOut) {
  EXPECT_EQ(visible("a\xFFz"), "a\\xffz");
  EXPECT_EQ(visible("cut \xE2\x82"), "cut \\xe2\\x82");
  EXPECT_EQ(find_invalid_utf8("gr\xFC\xDF"), 2U);
  EXPECT_EQ(find_invalid_utf8("grün"), std::nullopt);
  // Overlong '/', a surrogate, and a number beyond the last character (RFC 3629, section 3).
  for (const char* wrong : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_EQ(find_invalid_utf8(wrong), 0U);
  }
}

TEST(ShownText, ShortensAtACharacter) {
  EXPECT_EQ(shortened(std::string(80, 'a')), std::string(80, 'a'));
  EXPECT_EQ(shortened(std::string(81, 'a')), std::string(80, 'a') + "...");
  EXPECT_EQ(shortened(std::string(79, 'a') + "üb"), std::string(79, 'a') + "...");
}

TEST(ShownText, ErrorsShowNoCommandOfATerminal) {
  const Error error(SourceMark{"a\x1b]0;x\x07.csv", 1, 3, 1, "x\ty\x1b[2J"}, "no '\x1b[1m'");
  EXPECT_STREQ(error.what(),
               "a\\x1b]0;x\\x07.csv:1:3: no '\\x1b[1m'\n"
               "    1 | x y?[2J\n"
               "      |   ^\n");
}

TEST(ShellWord, IsQuotedWhereAShellWouldReadItOtherwise) {
  EXPECT_EQ(shell_word("cluster.nodes=64,a_b/c@d:e%f+g"), "cluster.nodes=64,a_b/c@d:e%f+g");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("15 MB/s"), "'15 MB/s'");
  EXPECT_EQ(shell_word("$(rm) `x` \"y\" ~ *"), "'$(rm) `x` \"y\" ~ *'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace headway::core
