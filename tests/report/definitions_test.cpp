// The page of definitions is what the program says, and it leaves no figure out.
#include "sim/report/definitions.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include "sim/report/verbs/run_table.h"

#include "tests/report/defined_figures.h"
#include "tests/study/sample_report.h"

namespace headway::report {
namespace {

constexpr const char* kPage = "docs/definitions.md";

TEST(Definitions, AreThePageInTheDocumentation) {
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kPage) << definitions_page();
  }
  std::ifstream file(kPage);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), definitions_page())
      << "run with HEADWAY_UPDATE_GOLDEN=1 and look at the diff";
}

/// Rows of tables whose figures are named in their cells or headings.
const std::set<std::string>& sums() {
  static const std::set<std::string> rows{"total"};
  return rows;
}

TEST(Definitions, CoverEveryRowOfTheTablesOfARun) {
  study::RunReport report = study::sample_report_with_campaign();
  auto& c = *report.campaign;
  for (auto* time :
       {&c.checkpoint_interval, &c.optimal_interval, &c.checkpoint_stall, &c.checkpoint_persist,
        &c.checkpoint_load, &c.mean_time_between_interruptions, &c.downtime}) {
    *time = core::Seconds(1);
  }
  report.cost = study::CostReport{};
  c.replicas_hit = 1;
  c.closed_form_ettr = 0.9;
  const auto defined = defined_figures();
  int rows = 0;
  for (const auto& table : run_document(report).tables) {
    if (table.title == "One step" || table.title.starts_with("The run") ||
        table.title == "Checkpoints and failures" || table.title == "Cost of the mean run") {
      for (const auto& row : table.rows) {
        EXPECT_TRUE(sums().contains(row[0]) || defined.contains(row[0])) << row[0];
        ++rows;
      }
    }
  }
  EXPECT_EQ(rows, 8 + 7 + 8 + 5);
}

TEST(Definitions, RowsOfTablesShowFiguresThatAreDefined) {
  const auto defined = defined_figures();
  for (const auto& row : labels_of_a_run()) {
    EXPECT_TRUE(defined.contains(std::string(row.path))) << row.path;
  }
}

TEST(Definitions, SayEachFigureOnce) {
  for (const auto& section : definitions()) {
    std::set<std::string> here;
    for (const auto& definition : section.definitions) {
      EXPECT_TRUE(here.insert(definition.figure).second) << definition.figure;
      EXPECT_FALSE(definition.meaning.empty()) << definition.figure;
    }
  }
}

}  // namespace
}  // namespace headway::report
