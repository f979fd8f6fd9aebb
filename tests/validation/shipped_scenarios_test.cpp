// A shipped scenario of a published run and the run's row in the table give one prediction.
#include "sim/validation/shipped_scenarios.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

#include "sim/config/load.h"
#include "sim/training/step/step.h"
#include "sim/validation/training_runs.h"

namespace headway::validation {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(HEADWAY_SOURCE_DIR) / "configs";

using import::CsvTable;

CsvTable table(const char* name) {
  const fs::path path = kConfigs / "validation" / name;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return {text.str(), path.string()};
}

config::LoadedScenario scenario(const std::string& name) {
  return config::load_scenario(kConfigs / "scenarios" / (name + ".yaml"), {{kConfigs}, {}});
}

TEST(ShippedScenarios, OfPublishedRunsAreTheirRows) {
  const auto fitted = table("training_runs.csv");
  const auto apart = table("scenario_runs.csv");  // hybrids, adapters: nothing is fitted to them
  const auto list = table("scenario_rows.csv");
  const Catalogue catalogue = load_catalogue({kConfigs});
  ASSERT_GE(list.rows(), 6U);
  for (std::size_t i = 0; i < list.rows(); ++i) {
    const auto& runs = list.text(i, "id").starts_with("scen-") ? apart : fitted;
    const std::size_t row = row_of(runs, list.text(i, "id"));
    const auto loaded = scenario(list.text(i, "scenario"));
    EXPECT_EQ(disagreement(read_run_row(runs, row), loaded.scenario), "") << list.text(i, "id");
    const RunPrediction validated = predict_runs(runs, catalogue, {row}).front();
    const auto step = training::simulate_step(training::check(loaded.scenario, loaded.marks),
                                              {.fold = true, .trace = false});
    EXPECT_EQ(validated.predicted.value_or(0), step.tokens_per_s_per_gpu) << list.text(i, "id");
  }
}

TEST(ShippedScenarios, AreNotTakenForARowOfAnotherRun) {
  const import::CsvTable other(
      "id,n_gpus,n_layers,d_model,seq_len,tp,vpp,not_stated\n"
      "llama3-002,16384,126,16384,8192,8,4,vpp\nllama3-002,16384,126,16384,8192,4,4,vpp\n",
      "other.csv");
  const auto s = scenario("llama-3.1-405b-16k-h100").scenario;
  EXPECT_EQ(disagreement(read_run_row(other, 0), s), "") << "what is not stated does not disagree";
  EXPECT_EQ(disagreement(read_run_row(other, 1), s), "tp");
}

// A scenario with a published rate is a row, or the table does not have its run.
TEST(ShippedScenarios, WithAPublishedRateAreRows) {
  const std::set<std::string> not_in_the_table{
      "claim-405b-4096-h100-50-days",           // a claim that nobody published
      "coreweave-30b-1024-h100",                // the shape of the model is not published
      "deepseek-v3-2048-h800",                  // published as GPU-hours of the whole run
      "gpt-3-175b-1024-a100",                   // an estimate in the text of the paper, section 5.1
      "llama-3.1-405b-16k-h100-128k-context"};  // the third row of table 4 is not collected
  std::set<std::string> rows;
  const auto list = table("scenario_rows.csv");
  for (std::size_t i = 0; i < list.rows(); ++i) {
    rows.insert(list.text(i, "scenario"));
  }
  for (const auto& entry : fs::directory_iterator(kConfigs / "scenarios")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    const auto claim = scenario(name).scenario.claim;
    const bool published = claim.mfu || claim.hfu || claim.tflops_per_gpu;
    EXPECT_TRUE(!published || rows.contains(name) || not_in_the_table.contains(name)) << name;
  }
}

}  // namespace
}  // namespace headway::validation
