#include "sim/report/verbs/validate_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::report {
namespace {

using testing::HasSubstr;

std::vector<validation::RunPrediction> two_rows() {
  validation::RunPrediction good;
  good.id = "a-1";
  good.source = "a";
  good.gpu = "H100";
  good.measured = 100;
  good.predicted = 110;
  good.error = 0.1;
  good.low = 95;
  good.high = 127;
  good.status = "ok";
  good.status_class = "ok";
  good.part = "dense NVIDIA";
  good.measured_memory = 40;
  good.predicted_memory = 42;
  good.assumed = {};
  validation::RunPrediction skipped;
  skipped.id = "b-1";
  skipped.measured = 50;
  skipped.status = "skipped:mixture of experts";
  skipped.status_class = "skipped";
  skipped.part = "mixtures of experts";
  return {good, skipped};
}

TEST(ValidateReport, JsonHasTheContractsKeysAndNullForWhatIsNotKnown) {
  const std::string json = validate_json(two_rows());
  EXPECT_THAT(json, HasSubstr("\"schema\": \"headway.validate/1\""));
  EXPECT_THAT(json, HasSubstr("\"predicted_tokens_per_s_per_gpu\": 110.0"));
  EXPECT_THAT(json, HasSubstr("\"predicted_tokens_per_s_per_gpu\": null"));
  EXPECT_THAT(json, HasSubstr("\"n_skipped\": 1"));
}

TEST(ValidateReport, TheTableEndsWithTheSentenceThatMatters) {
  EXPECT_THAT(to_text(validate_document(two_rows())),
              HasSubstr("1 of 2 runs were predicted: median error 10.0 %, mean 10.0 %, 90th "
                        "percentile 10.0 %; 100.0 % of them"));
}

// The headline is of dense rows alone; what was not predicted has no figures, not zeros.
TEST(ValidateReport, PartsAreKeptApart) {
  const std::string text = to_text(validate_document(two_rows()));
  EXPECT_THAT(text, HasSubstr("dense NVIDIA: 1 of 1 runs were predicted: median error 10.0 %"));
  EXPECT_THAT(text, HasSubstr("mixtures of experts: none of 1 runs was predicted."));
  const std::string json = validate_json(two_rows());
  EXPECT_THAT(json, HasSubstr("\"dense NVIDIA\": {"));
  EXPECT_THAT(json, HasSubstr("\"median_abs_error\": null"));
}

// Rows that no constant was fitted to are summed up apart: 10 % here, 40 % there, never 25 %.
TEST(ValidateReport, RowsThatNothingWasFittedToAreSummedUpApart) {
  auto rows = two_rows();
  rows.pop_back();
  auto unfitted = rows;
  unfitted[0].id = "c-1";
  unfitted[0].predicted = 140;
  unfitted[0].error = 0.4;
  rows.push_back(validation::marked(unfitted, validation::kNotFitted)[0]);
  const std::string text = to_text(validate_document(rows));
  EXPECT_THAT(text, HasSubstr("dense NVIDIA: 1 of 1 runs were predicted: median error 10.0 %"));
  EXPECT_THAT(text, HasSubstr("dense NVIDIA, not fitted: 1 of 1 runs were predicted: median error "
                              "40.0 %"));
  EXPECT_THAT(text, HasSubstr("Error by GPU, not fitted"));
  EXPECT_THAT(text, testing::Not(HasSubstr("25.0 %")));
}

// Two layouts of one run: the one predicted fastest (120) measured 80 of the best's 100.
TEST(ValidateReport, ChoosingALayoutByPredictionHasACost) {
  auto rows = two_rows();
  rows.pop_back();
  rows.push_back(rows[0]);
  rows[1].measured = 80;
  rows[1].predicted = 120;
  const std::string text = to_text(validate_document(rows));
  EXPECT_THAT(text, HasSubstr("Choice of the layout by source"));
  EXPECT_THAT(text, HasSubstr("  a                      1                     0.0          1"
                              "             20.0       20.0\n"));
}

// Peak memory of 42 GiB against 40 measured: 5 %.
TEST(ValidateReport, PeakMemoryIsPrintedWhereItWasMeasured) {
  EXPECT_THAT(to_text(validate_document(two_rows())),
              HasSubstr("Peak memory, where a source states it (1 runs): median error 5.0 %."));
  const std::string json = validate_json(two_rows());
  EXPECT_THAT(json, HasSubstr("\"predicted_peak_memory_gib\": 42.0"));
  EXPECT_THAT(json, HasSubstr("\"measured_peak_memory_gib\": null"));
}

TEST(ValidateReport, CsvHasALineARow) {
  const std::string csv = validate_csv(two_rows());
  EXPECT_THAT(csv, HasSubstr("a-1,100,110,+10.0,"));
  EXPECT_THAT(csv, HasSubstr("b-1,50.0,-,-,-,skipped:mixture of experts"));
}

}  // namespace
}  // namespace headway::report
