// The fluid model's error is data: configs/validation/flow_model.csv and the table of
// docs/models/packet.md are what the program says today.
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "sim/report/table.h"
#include "sim/report/verbs/stress_report.h"
#include "sim/study/packets/stress.h"

namespace headway {
namespace {

const std::string kRoot = HEADWAY_SOURCE_DIR;
const std::string kTable = kRoot + "/configs/validation/flow_model.csv";
const std::string kPage = kRoot + "/docs/models/packet.md";
constexpr const char* kBegin = "<!-- generated -->\n";
constexpr const char* kEnd = "<!-- end -->\n";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The page with the table of today in it.
std::string page_with(const study::FlowModelReport& report) {
  const std::string page = text_of(kPage);
  const auto begin = page.find(kBegin);
  const auto end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) {
    return page;
  }
  const auto document = report::flow_model_document(report);
  std::string table = report::to_markdown(document);
  table.erase(0, table.find('|'));  // the page has headings of its own
  return page.substr(0, begin) + kBegin + table + page.substr(end);
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
}

study::FlowModelReport report_of(const std::string& fabrics) {
  return study::validate_flow_model(fabrics, {{kRoot + "/configs"}, {}});
}

std::set<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.insert(line);
  }
  return lines;
}

void expect_as_committed(const study::FlowModelReport& report) {
  const auto committed = lines_of(text_of(kTable));
  const auto now = lines_of(report::flow_model_csv(report));
  EXPECT_EQ(now.size(), 1 + 24 * report.fabrics.size());
  for (const auto& line : now) {
    EXPECT_TRUE(committed.contains(line)) << line;
  }
}

// With the test of rings, which all tests run, a fabric that sprays and one that waits for credits;
// the whole table takes ten times as long (HEADWAY_DEEP).
TEST(FlowModel, IsWhatTheTableSaysWherePacketsAreSprayed) { expect_as_committed(report_of("efa")); }

TEST(FlowModel, IsWhatTheTableAndThePageSay) {
  const auto asked = [](const char* variable) { return std::getenv(variable) != nullptr; };
  if (!asked("HEADWAY_DEEP") && !asked("HEADWAY_UPDATE_GOLDEN")) {
    EXPECT_EQ(lines_of(text_of(kTable)).size(), 1 + 12 * 24U);
    return;
  }
  const auto report = report_of("");
  ASSERT_GT(report.fabrics.size(), 5U);
  if (asked("HEADWAY_UPDATE_GOLDEN")) {
    write(kTable, report::flow_model_csv(report));
    write(kPage, page_with(report));
  }
  EXPECT_EQ(text_of(kTable), report::flow_model_csv(report));
  ASSERT_NE(text_of(kPage).find(kBegin), std::string::npos);
  EXPECT_EQ(text_of(kPage), page_with(report));
}

// A law, not a figure: packets of a transport that loses nothing are never faster than fluid flows
// by more than what fair shares cost, and an even ring is as fast by both.
TEST(FlowModel, IsRightForRings) {
  const auto report = report_of("rail-only");
  expect_as_committed(report);
  int rings = 0;
  for (const auto& fabric : report.fabrics) {
    for (const auto& row : fabric.rows) {
      EXPECT_GT(row.times(), 0.8) << fabric.machine.name << ' ' << core::to_word(row.traffic);
      if (row.traffic == study::Traffic::all_reduce) {
        EXPECT_NEAR(row.times(), 1, 0.1) << fabric.machine.name;
        ++rings;
      }
    }
  }
  EXPECT_EQ(rings, 6);
}

}  // namespace
}  // namespace headway
