// The errors over the published runs that come with the program: they may not move away from the
// committed ones, and docs/validation.md says what they are.
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "sim/validation/training_runs.h"

namespace headway::validation {
namespace {

constexpr const char* kRuns = HEADWAY_SOURCE_DIR "/configs/validation/training_runs.csv";
constexpr const char* kUnfitted =
    HEADWAY_SOURCE_DIR "/configs/validation/training_runs_unfitted.csv";
constexpr const char* kSweep = HEADWAY_SOURCE_DIR "/configs/validation/layout_sweep.csv";
constexpr const char* kSummary = HEADWAY_SOURCE_DIR "/tests/golden/validation/summary.txt";
constexpr const char* kReadme = HEADWAY_SOURCE_DIR "/README.md";
constexpr const char* kPage = HEADWAY_SOURCE_DIR "/docs/validation.md";

/// An error may move by this much before somebody has to look: half a point, or a twentieth of a
/// large one.
double tolerance(double error) { return std::max(0.005, 0.05 * error); }

std::string read(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What is committed of a group of rows.
struct Committed {
  std::size_t rows = 0;
  double median = 0, mean = 0;
};

/// The parts of the three tables, and the sources of ten or more of the fitted dense rows.
std::map<std::string, RunSummary> summaries() {
  const Catalogue catalogue = load_catalogue({HEADWAY_SOURCE_DIR "/configs"});
  auto rows = predict_runs(import::CsvTable(read(kRuns), kRuns), catalogue);
  for (const auto& [file, table] : {std::pair{kUnfitted, kNotFitted}, {kSweep, kLayoutSweep}}) {
    const auto more = marked(predict_runs(import::CsvTable(read(file), file), catalogue), table);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  std::map<std::string, RunSummary> all;
  for (auto [part, summary] : summarize_by(rows, &RunPrediction::part)) {
    std::replace(part.begin(), part.end(), ' ', '_');
    all.emplace(part, summary);
  }
  std::erase_if(rows, [](const RunPrediction& row) { return row.part != "dense NVIDIA"; });
  for (const auto& [source, summary] : summarize_by(rows, &RunPrediction::source)) {
    if (summary.n >= 10) {
      all.emplace(source, summary);
    }
  }
  return all;
}

/// Lines: name, predicted rows, median and mean absolute error.
void write_summary(const std::map<std::string, RunSummary>& all) {
  std::ofstream file(kSummary);
  for (const auto& [name, s] : all) {
    file << fmt::format("{} {} {:.4f} {:.4f}\n", name, s.n, s.median_abs_error, s.mean_abs_error);
  }
}

std::map<std::string, Committed> committed() {
  std::ifstream file(kSummary);
  std::map<std::string, Committed> all;
  std::string name;
  Committed line;
  while (file >> name >> line.rows >> line.median >> line.mean) {
    all.emplace(name, line);
  }
  return all;
}

TEST(PublishedRuns, ArePredictedAsCommitted) {
  const auto now = summaries();
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    write_summary(now);
  }
  const auto before = committed();
  EXPECT_EQ(before.size(), now.size());
  for (const auto& [name, line] : before) {
    ASSERT_TRUE(now.contains(name)) << name;
    EXPECT_EQ(now.at(name).n, line.rows) << name;
    EXPECT_NEAR(now.at(name).median_abs_error, line.median, tolerance(line.median)) << name;
    EXPECT_NEAR(now.at(name).mean_abs_error, line.mean, tolerance(line.mean)) << name;
  }
  // The width of an interval is chosen for the rows that constants were fitted to.
  for (const char* part : {"dense_NVIDIA", "mixtures_of_experts"}) {
    EXPECT_GE(now.at(part).coverage_90, 0.85) << part;
    EXPECT_LE(now.at(part).coverage_90, 0.95) << part;
  }
}

/// The page's row "| name | rows | median | mean | ..." of the table with this title.
Committed row_of_page(const std::string& page, const std::string& title, const std::string& name) {
  const auto table = page.find("| " + title + " |");
  EXPECT_NE(table, std::string::npos) << title;
  const auto begin = page.find("\n| " + name + " |", table);
  EXPECT_NE(begin, std::string::npos) << name;
  std::istringstream cells(page.substr(begin + name.size() + 5, 60));
  Committed row;
  std::string unit, bar;
  cells >> row.rows >> bar >> row.median >> unit >> bar >> row.mean;
  row.median /= 100;
  row.mean /= 100;
  return row;
}

// Pages print to 0.1 %: half of it is 0.0005, and as much again for the golden's four digits.
void expect_committed(const Committed& shown, const std::string& name) {
  const Committed line = committed().at(name);
  EXPECT_EQ(shown.rows, line.rows) << name;
  EXPECT_NEAR(shown.median, line.median, 0.00056) << name;
  EXPECT_NEAR(shown.mean, line.mean, 0.00056) << name;
}

// When this fails, run scripts/validation_page.py and write the README's table anew.
TEST(PublishedRuns, ThePagesSayWhatIsCommitted) {
  const std::string page = read(kPage);
  const std::string readme = read(kReadme);
  const auto in_readme = [&](const std::string& name) {
    return row_of_page(readme, "published runs, predicted", name);
  };
  expect_committed(row_of_page(page, "dense NVIDIA rows", "all"), "dense_NVIDIA");
  expect_committed(in_readme("dense models"), "dense_NVIDIA");
  expect_committed(row_of_page(page, "mixtures of experts", "all"), "mixtures_of_experts");
  expect_committed(in_readme("mixtures of experts"), "mixtures_of_experts");
  const std::string dense = "dense_NVIDIA,_not_fitted";
  expect_committed(row_of_page(page, "dense NVIDIA rows, not fitted", "all"), dense);
  expect_committed(in_readme("dense models, sources that nothing was fitted to"), dense);
  const std::string mixtures = "mixtures_of_experts,_not_fitted";
  expect_committed(row_of_page(page, "mixtures of experts, not fitted", "all"), mixtures);
  expect_committed(in_readme("mixtures of experts, sources that nothing was fitted to"), mixtures);
}

}  // namespace
}  // namespace headway::validation
