// The fluid model's error is data: configs/validation/flow_model.csv and the table of
// docs/models/packet.md are what the program says today.
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
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

TEST(FlowModel, IsWhatTheTableAndThePageSay) {
  const auto report = study::validate_flow_model("", {{kRoot + "/configs"}, {}});
  ASSERT_GT(report.fabrics.size(), 5U);
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
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
  const auto report = study::validate_flow_model("rail-", {{kRoot + "/configs"}, {}});
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
  EXPECT_GE(rings, 9);
}

}  // namespace
}  // namespace headway
