// Published goodput cases: what is predicted, what is refused, and that both are honest.
#include "sim/validation/goodput/goodput_cases.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

#include "sim/campaign/closed_form.h"
#include "sim/core/error.h"

namespace headway::validation {
namespace {

constexpr const char* kGoodputHeader =
    "case_id,gpus,mttf_h,interval_s,stall_s,persist_s,downtime_s,reported_lo,reported_hi,source,"
    "kind\n";

std::vector<GoodputPrediction> predict(const std::string& rows, int threads = 1) {
  return predict_goodput(import::CsvTable(kGoodputHeader + rows, "cases.csv"), threads);
}

TEST(GoodputCases, ACaseThatStatesEverythingAgreesWithTheExactFormula) {
  // 30 days at a failure every 10 h: 72 failures a trial, so the median of 400 trials is within
  // a few thousandths of the mean of the formula
  //     tau / ((mu + D) (e^((tau + C) / mu) - 1)),  tau = 3600, C = 300, mu = 36000, D = 600 s
  const auto row = predict("a,2048,10,3600,300,,600,0.8,,s,k\n")[0];
  const double exact = 3600 / ((36000 + 600) * std::expm1(3900.0 / 36000));
  EXPECT_NEAR(*row.closed_form, exact, 1e-12);
  EXPECT_NEAR(*row.predicted, exact, 0.005);
  EXPECT_LT(row.low, exact);
  EXPECT_GT(row.high, exact);
  EXPECT_EQ(row.status, "computed");
  EXPECT_NEAR(*row.error, *row.predicted / 0.8 - 1, 1e-15);
  EXPECT_TRUE(*row.agrees());  // "above 0.8"
}

TEST(GoodputCases, ACaseWithoutFailureRateOrDowntimeIsListedWithTheReason) {
  const auto rows = predict(
      "a,1024,87.8,,,,,0.97,0.98,s,k\n"
      "b,1024,,300,0,,300,0.93,,s,k\n"
      "c,1024,,,,,,,,s,k\n");
  // 87.8 h (1/0.975 - 1) = 135 min.
  EXPECT_EQ(rows[0].status,
            "skipped:not reproducible: downtime_s not stated (0.975 leaves 135 min a failure for "
            "everything)");
  EXPECT_EQ(rows[1].status, "skipped:not reproducible: mttf_h not stated");
  EXPECT_EQ(rows[2].status, "skipped:not reproducible: mttf_h, downtime_s not stated");
  for (const auto& row : rows) {
    EXPECT_FALSE(row.predicted || row.error || row.agrees());
  }
}

TEST(GoodputCases, WhatIsNotStatedIsDrawnAndWidensTheInterval) {
  const auto rows = predict(
      "a,98304,0.3,,,,600,0.44,0.44,s,k\n"
      "a,98304,0.3,300,5,,600,0.44,0.44,s,k\n");
  EXPECT_EQ(rows[0].status, "computed-assumed");
  EXPECT_THAT(rows[0].assumed,
              testing::ElementsAre("stall_s: 0.59 to 40", "interval_s: the optimum"));
  EXPECT_EQ(rows[1].status, "computed");
  EXPECT_GT(rows[0].high - rows[0].low, 2 * (rows[1].high - rows[1].low));
  // Renewal bound with nothing lost: 18 / (18 + 10).
  EXPECT_LT(rows[0].high, 18.0 / 28);
  // 0.44 is 1 - 600 / 1080: failures are counted on another clock, so it is not compared.
  EXPECT_THAT(rows[0].note, testing::HasSubstr("another definition"));
  EXPECT_THAT(rows[0].note, testing::HasSubstr("0.444"));
  EXPECT_FALSE(rows[0].agrees().has_value());
  EXPECT_EQ(rows[1].note, "");
  EXPECT_FALSE(*rows[1].agrees());
}

TEST(GoodputCases, AnElasticJobIsNotPredictedAsOneThatStands) {
  const std::string header =
      std::string(kGoodputHeader).substr(0, std::string(kGoodputHeader).size() - 1) +
      ",stated_in_words\n";
  const auto row = predict_goodput(
      import::CsvTable(header + "a,98304,0.3,,,,180,0.8,0.8,s,k,rejoin; degraded 11/12; spares\n",
                       "cases.csv"),
      1)[0];
  EXPECT_EQ(row.given.elastic, "11/12");
  EXPECT_THAT(row.status, testing::HasSubstr("runs on with 11/12 of its replicas not stated"));
  EXPECT_FALSE(row.predicted);
}

TEST(GoodputCases, DrawsOfACaseDoNotDependOnOthersOrOnThreads) {
  const auto alone = predict("a,1,3,,,,600,,,s,k\n");
  const auto behind = predict("z,1,5,,,,60,,,s,k\na,1,3,,,,600,,,s,k\n", 2);
  EXPECT_EQ(alone[0].predicted, behind[1].predicted);
  EXPECT_EQ(alone[0].low, behind[1].low);
}

TEST(GoodputCases, ShareAboveOneIsRefusedWithItsLine) {
  EXPECT_THROW(predict("a,1,3,,,,600,97,,s,k\n"), core::Error);
  EXPECT_THROW(predict("a,1,-3,,,,600,,,s,k\n"), core::Error);
  EXPECT_THROW(predict("a,1,1.7e308,,,,600,,,s,k\n"), core::Error);
}

// One node that fails every 10 h of running, is mended in 1 h while the job waits, and costs 6 min
// beside: 1 / (1 + (1 + 0.1) / 10); nothing is lost. 20,000 h of work: 2,000 failures.
TEST(GoodputCases, ACaseOfNodesWaitsForItsRepairs) {
  const std::string header =
      std::string(kGoodputHeader).substr(0, std::string(kGoodputHeader).size() - 1) +
      ",nodes,spares,work_h,repair_h,lemon_share,lemon_factor,cured,retire_after,loses_work\n";
  const auto of = [&](const std::string& row) {
    return predict_goodput(import::CsvTable(header + row, "cases.csv"), 1)[0];
  };
  const auto row = of("a,8,10,,0,,360,0.9,,s,k,1,0,20000,1,,,,,no\n");
  EXPECT_NEAR(*row.predicted, 1 / 1.11, 0.002);
  EXPECT_TRUE(row.assumed.empty());
  // With a spare nobody waits: 1 / (1 + 0.1 / 10).
  EXPECT_NEAR(*of("a,8,10,,0,,360,0.9,,s,k,1,50,20000,1,,,,,no\n").predicted, 1 / 1.01, 0.001);
  EXPECT_THROW(of("a,8,10,,0,,360,0.9,,s,k,1,0,,1,,,,,no\n"), core::Error);
  EXPECT_THROW(of("a,8,10,,0,,360,0.9,,s,k,1,0,20000,1,2,,,,no\n"), core::Error);
}

TEST(GoodputCases, EveryPublishedCaseHasAStatus) {
  std::ifstream file("configs/validation/goodput_cases.csv");
  std::stringstream text;
  text << file.rdbuf();
  const auto rows = predict_goodput(import::CsvTable(text.str(), "goodput_cases.csv"), 0);
  ASSERT_EQ(rows.size(), 42U);
  std::vector<std::string> predicted;
  for (const auto& row : rows) {
    EXPECT_THAT(row.status,
                testing::AnyOf("computed", "computed-assumed", testing::StartsWith("skipped:not")));
    if (row.predicted) {
      predicted.push_back(row.given.id);
    }
  }
  EXPECT_THAT(predicted, testing::ElementsAre(
                             "G02-rsc1-2k4k", "G03-rsc-12k", "G04-rsc2-100k", "G10-fthsdp-sync",
                             "G16-bloom", "G31-airesim", "G32-airesim-keep", "G33-airesim-retire-2",
                             "G34-airesim-retire-3", "G38-ntp-drop", "G39-ntp-narrow",
                             "G40-ntp-power", "G41-airesim-2-in-7-d", "G42-airesim-3-in-7-d"));
  // What AIReSim's authors report of 4,096 servers in 256 days (30 runs): 6,144 / 9,866 h.
  const auto& airesim = *std::find_if(
      rows.begin(), rows.end(), [](const auto& row) { return row.given.id == "G31-airesim"; });
  EXPECT_NEAR(*airesim.predicted, 6144 / 9866.0, 0.003);
  EXPECT_TRUE(*airesim.agrees());
  EXPECT_TRUE(airesim.is_inside());
  // 0.161 with 0.1548 to 0.167, reported 0.150 to 0.1546: they miss each other by 0.1 %.
  const auto& keep = *std::find_if(
      rows.begin(), rows.end(), [](const auto& row) { return row.given.id == "G32-airesim-keep"; });
  EXPECT_FALSE(*keep.agrees());
  EXPECT_FALSE(keep.is_inside());
}

const std::string kBroken =
    std::string(kGoodputHeader).substr(0, std::string(kGoodputHeader).size() - 1) +
    ",broken_share,tensor,stages,micro_batches,heads,ffn,attention_share,broken_replica,speed\n";

GoodputPrediction broken(const std::string& cells) {
  return predict_goodput(import::CsvTable(kBroken + cells, "cases.csv"), 1)[0];
}

// NTP (arXiv 2504.06095, figure 6) at 0.4 % of 32,768 GPUs: up to 12 % lost where replicas leave,
// within 3 % where their tensor groups narrow, below 1 % with more power.
TEST(GoodputCases, BrokenGpusCostWhatReplicasLeaveUndone) {
  const auto drop = broken("a,32768,,,,,,0.88,0.88,s,k,0.004,32,8,,,,,leaves,\n");
  EXPECT_NEAR(*drop.closed_form, std::pow(0.996, 32), 1e-12);
  // Of 128 replicas the last that holds a broken domain is half full in the mean.
  EXPECT_NEAR(*drop.predicted, *drop.closed_form - 0.5 / 128, 0.004);
  EXPECT_LT(drop.low, 0.88);
  EXPECT_GT(drop.high, 0.87);
  EXPECT_EQ(drop.status, "computed");
  const std::string narrows = "0.97,,s,k,0.004,32,8,8,128,81920,0.375,narrows,";
  const auto narrow = broken("b,32768,,,,,," + narrows + "1\n");
  EXPECT_NEAR(*narrow.predicted, 1 - 0.25 * 0.12, 0.002);
  const auto power = broken("c,32768,,,,,," + narrows + "1.15\n");
  EXPECT_GT(*power.predicted, 0.998);
  EXPECT_TRUE(*power.agrees());
}

TEST(GoodputCases, ACaseOfBrokenGpusThatLacksACellIsRefusedByName) {
  const auto text = [](const std::string& cells) -> std::string {
    try {
      broken(cells);
    } catch (const core::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(text("a,32768,,,,,,0.9,,s,k,0.004,32,8,,128,81920,0.4,narrows,1\n"),
              testing::HasSubstr("micro_batches, from 1 to 1,000,000"));
  EXPECT_THAT(text("a,32768,,,,,,0.9,,s,k,0.004,32,8,8,128,81920,0.4,shrinks,1\n"),
              testing::HasSubstr("leaves or narrows; found 'shrinks'"));
  EXPECT_THAT(text("a,32768,,,,,,0.9,,s,k,0.7,32,8,8,128,81920,0.4,narrows,1\n"),
              testing::HasSubstr("broken_share"));
}

}  // namespace
}  // namespace headway::validation
