#include "sim/report/served/served_page.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>

namespace headway::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::vector<ServedFile>& files, const std::string& path) {
  const auto file =
      std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.path == path; });
  return file == files.end() ? "" : file->text;
}

// The policy that the listener sends allows files of the page only, so no text of it is a script.
TEST(ServedPage, HasItsFilesBesideIt) {
  const auto files = served_files("window.library = 1;");
  const std::string page = text_of(files, "/");
  const std::regex reference("(src|href)=\"([^\"]*)\"");
  for (auto i = std::sregex_iterator(page.begin(), page.end(), reference);
       i != std::sregex_iterator(); ++i) {
    const std::string path = (*i)[2];
    EXPECT_TRUE(path == "data:," || !text_of(files, path).empty()) << path;
  }
  EXPECT_THAT(page, Not(testing::ContainsRegex("<script[^>]*>[^<]")));
  EXPECT_THAT(page, Not(HasSubstr("onclick=")));
}

// But for the page of Perfetto, which is named once, for a frame that a button opens.
TEST(ServedPage, AsksNobodyElse) {
  const std::string perfetto = "https://ui.perfetto.dev";
  int named = 0;
  for (const auto& file : served_files("")) {
    std::string text = file.text;
    for (std::size_t at = text.find(perfetto); at != std::string::npos; at = text.find(perfetto)) {
      text.erase(at, perfetto.size());
      ++named;
    }
    EXPECT_THAT(text, Not(testing::ContainsRegex("https?://|//[a-z]+[.][a-z]"))) << file.path;
  }
  EXPECT_EQ(named, 1);
}

// Every element that the script looks up is in the page, once.
TEST(ServedPage, ScriptAndPageKnowEachOther) {
  const auto files = served_files("");
  const std::string page = text_of(files, "/");
  std::set<std::string> ids;
  const std::regex id("id=\"([^\"]*)\"");
  for (auto i = std::sregex_iterator(page.begin(), page.end(), id); i != std::sregex_iterator();
       ++i) {
    EXPECT_TRUE(ids.insert((*i)[1]).second) << (*i)[1];
  }
  const std::string script = text_of(files, "/page.js");
  const std::regex used("[^.]get\\('([^']*)'\\)");
  for (auto i = std::sregex_iterator(script.begin(), script.end(), used);
       i != std::sregex_iterator(); ++i) {
    EXPECT_EQ(ids.count((*i)[1]), 1U) << (*i)[1];
  }
}

TEST(ServedPage, WithoutChartsAsksForNone) {
  EXPECT_THAT(text_of(served_files(""), "/"), Not(HasSubstr("charts.js")));
}

}  // namespace
}  // namespace headway::report
