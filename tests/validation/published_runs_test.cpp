// The errors over published runs may not get worse than the committed ones. Needs ../shared/data;
// skipped without it.
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "sim/validation/training_runs.h"

namespace headway::validation {
namespace {

constexpr const char* kRuns = HEADWAY_SHARED_DATA "/training_runs.csv";
constexpr const char* kSummary = HEADWAY_SOURCE_DIR "/tests/golden/validation/summary.txt";
/// Errors may move by this much before somebody has to look: half a point.
constexpr double kTolerance = 0.005;

std::string read(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<RunPrediction> rows_of(const std::string& kind) {
  const import::CsvTable table(read(kRuns), kRuns);
  std::vector<std::size_t> chosen;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "arch") == kind && table.text(row, "gpu").rfind("MI", 0) != 0) {
      chosen.push_back(row);
    }
  }
  return predict_runs(table, load_catalogue({HEADWAY_SOURCE_DIR "/configs"}), chosen);
}

std::map<std::string, RunSummary> summaries() {
  const auto rows = rows_of("dense");
  std::map<std::string, RunSummary> all{{"dense", summarize(rows)},
                                        {"moe", summarize(rows_of("moe"))}};
  for (const auto& [source, summary] : summarize_by(rows, &RunPrediction::source)) {
    if (summary.n >= 10) {
      all.emplace(source, summary);
    }
  }
  return all;
}

/// Lines: kind of model or source of dense rows, median and mean absolute error.
void write_summary(const std::map<std::string, RunSummary>& all) {
  std::ofstream file(kSummary);
  for (const auto& [name, s] : all) {
    file << fmt::format("{} {:.4f} {:.4f}\n", name, s.median_abs_error, s.mean_abs_error);
  }
}

TEST(PublishedRuns, ArePredictedNoWorseThanCommitted) {
  if (!std::filesystem::exists(kRuns)) {
    GTEST_SKIP() << "no table of published runs here";
  }
  const auto now = summaries();
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    write_summary(now);
  }
  std::ifstream file(kSummary);
  ASSERT_TRUE(file.is_open()) << kSummary;
  std::string name;
  double median = 0;
  double mean = 0;
  int compared = 0;
  while (file >> name >> median >> mean) {
    ++compared;
    ASSERT_TRUE(now.contains(name)) << name;
    EXPECT_LE(now.at(name).median_abs_error, median + kTolerance) << name;
    EXPECT_LE(now.at(name).mean_abs_error, mean + kTolerance) << name;
  }
  EXPECT_GE(compared, 4);
  for (const auto& [kind, all] : now) {
    if (kind == "dense" || kind == "moe") {
      EXPECT_GE(all.coverage_90, 0.85) << kind;
      EXPECT_LE(all.coverage_90, 0.95) << kind;
    }
  }
}

}  // namespace
}  // namespace headway::validation
