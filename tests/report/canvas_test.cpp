// Pictures in time on a page: rows of spans, with what the reader is told of them.
#include "sim/report/page/canvas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/run_json.h"

#include "tests/study/sample_report.h"

namespace headway::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A stage of two passes; two ranks that take longer; streams; a trial with a failure and saves.
Json json_with_pictures() {
  auto report = study::sample_report_with_campaign();
  study::Pictures pictures;
  pictures.timeline.names = {"forward", "backward"};
  pictures.timeline.stages = {
      {0, 4, 6, {0, 10}, {10, 20}, {0, 2}, {0, 1}, {0, 0}, {0, 0}, {5, 7}, {}}};
  pictures.streams = {
      3, {{0, 0, {{"kernels", {0}, {9}, {8}}, {"all reduce", {2, 7}, {1, 1}, {1, 1}}}}}};
  pictures.campaign = {{0.8, 0.9, {1}},
                       {1,
                        0.8,
                        core::Seconds(100),
                        {"detect"},
                        {{"gpu", {10}, {5}, {0}, {10}}},
                        0,
                        0,
                        {"host", "storage"},
                        {1, {30, 60}, {1, 2}, {1, 2}, {0, 1}}},
                       {}};
  report.pictures = pictures;
  return Json::parse(run_json(report));
}

std::string canvases(const Json& json) { return canvases_of({json, "r.json"}, "x"); }

TEST(Canvas, AResultWithoutPicturesHasNone) {
  EXPECT_EQ(canvases(Json::parse(run_json(study::sample_report_with_campaign()))), "");
}

// A span begins so far behind the end of the one before it.
TEST(Canvas, SpansOfAStageAreToldByTheGapsBetweenThem) {
  Json result = json_with_pictures();
  result["pictures"]["timeline"]["stages"][0]["begin_us"] = {5, 17};
  EXPECT_THAT(canvases(result), HasSubstr(R"("label":"stage 0","gap":[5,2],"length":[10,20])"));
}

// Micro-batches count up, so what is added repeats: 0 1 2 0 1 2 0 1 2 is 0 1 1 -2 1 1 -2 1 1.
TEST(Canvas, MicroBatchesAreToldByWhatIsAdded) {
  Json result = json_with_pictures();
  auto& stage = result["pictures"]["timeline"]["stages"][0];
  for (const char* key : {"begin_us", "length_us", "exposed_us", "what", "chunk", "memory_bytes"}) {
    stage[key] = Json(std::vector<int>(9, 0));
  }
  stage["micro_batch"] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  EXPECT_THAT(canvases(result), HasSubstr(R"("more":[0,1,1,-2,[5,3]])"));
}

// Two hundred thousand spans of which none is like another are 5 MB: of the five stages the first
// and the last stay, of these the first spans, and it is said from when on others are missing.
TEST(Canvas, WhatThePageHasNoRoomForIsSaid) {
  Json result = json_with_pictures();
  Json stage = result["pictures"]["timeline"]["stages"][0];
  constexpr int kSpans = 40'000;
  for (const char* key :
       {"begin_us", "length_us", "exposed_us", "what", "chunk", "memory_bytes", "micro_batch"}) {
    stage[key] = Json(std::vector<int>(kSpans, 0));
  }
  for (int i = 0; i < kSpans; ++i) {
    stage["begin_us"][static_cast<std::size_t>(i)] = 1000 * i;
    stage["length_us"][static_cast<std::size_t>(i)] = 100 + i * 7919 % 887;
    stage["exposed_us"][static_cast<std::size_t>(i)] = i * 6007 % 97;
  }
  result["pictures"]["timeline"]["stages"] = Json(std::vector<Json>(5, stage));
  const std::string html = canvases(result);
  EXPECT_LT(html.size(), 450'000U);
  EXPECT_GT(html.size(), 300'000U);
  EXPECT_THAT(html, HasSubstr("3 stages are left out. Behind "));
  EXPECT_THAT(html, HasSubstr(" spans are left out: the step goes on."));
}

TEST(Canvas, RanksThatDoNotDoTheSameAreRowsOfTheirOwn) {
  Json result = json_with_pictures();
  EXPECT_THAT(canvases(result), HasSubstr("All replicas do the same."));
  Json other = result["pictures"]["timeline"]["stages"][0];
  other["ranks"] = 2;
  other["rank"] = 1234;
  result["pictures"]["timeline"]["others"].push_back(other);
  result["pictures"]["timeline"]["others_left_out"] = 5;
  const std::string html = canvases(result);
  EXPECT_THAT(html, HasSubstr("Ranks of the same stages that do not do the same"));
  EXPECT_THAT(html, HasSubstr(R"("label":"stage 0, 2 from rank 1,234")"));
  EXPECT_THAT(html, HasSubstr("5 ranks of other classes are left out; headway run --trace "));
  EXPECT_THAT(html, Not(HasSubstr("All replicas do the same.")));
}

TEST(Canvas, StreamsAreARowAKindWithHowMuchOfItRuns) {
  const std::string html = canvases(json_with_pictures());
  EXPECT_THAT(html, HasSubstr("What runs beside each other on a GPU of every stage"));
  EXPECT_THAT(html, HasSubstr(R"({"label":"stage 0 kernels","gap":[0],"length":[9],"all":0,)"
                              R"("runs":[8]})"));
  EXPECT_THAT(html, HasSubstr(R"({"label":"stage 0 all reduce","gap":[2,4],"length":[1,1],)"
                              R"("all":1,"runs":[1,1]})"));
  EXPECT_THAT(html, HasSubstr("breaks of at most 3.00 us"));
}

// What is pointed at is told with the closed forms of its largest parts.
TEST(Canvas, SpansHaveTheClosedFormsOfTheirParts) {
  Json result = json_with_pictures();
  const auto part = [](const char* activity, const char* what, const char* formula) {
    return Json{{"activity", activity}, {"what", what},       {"time_s", 1.0},    {"share", 0.1},
                {"count", 1},           {"formula", formula}, {"formula_s", 1.0}, {"change", "x"}};
  };
  result["explanation"] = {
      {"contributions",
       {part("compute", "mlp in, weight gradient", "W"), part("compute", "mlp in, forward", "F"),
        part("tensor", "tensor gather: transfer", "T"), part("compute", "attention, backward", "B"),
        part("data", "gradients", "D")}},
      {"rest_s", 0.0},
      {"sensitivities", Json::array()}};
  EXPECT_THAT(canvases(result),
              HasSubstr(R"("formulas":[["mlp in, forward: F","tensor gather: transfer: T"],)"
                        R"(["mlp in, weight gradient: W","attention, backward: B"]])"));
}

TEST(Canvas, OneTrialIsDrawnWithItsFailuresAndSaves) {
  const std::string html = canvases(json_with_pictures());
  EXPECT_THAT(html, HasSubstr("What fails in one trial of the run"));
  EXPECT_THAT(html, HasSubstr("Trial 1 of 2, the one with the median goodput, 80.0 %."));
  EXPECT_THAT(html, HasSubstr(R"("rows":[{"label":"gpu","gap":[100],"length":[50],"what":[0]},)"
                              R"({"label":"checkpoints","gap":[300,290],"length":[10,20],)"
                              R"("what":[1,2]}],"names":["detect","checkpoint to host",)"
                              R"("checkpoint to storage"])"));
}

TEST(Canvas, OfManyCheckpointsSeveralAreOneSpan) {
  Json result = json_with_pictures();
  Json& saves = result["pictures"]["campaign"]["trial"]["saves"];
  saves["together"] = 3;
  saves["length_s"] = {20, 30};
  const std::string html = canvases(result);
  EXPECT_THAT(html, HasSubstr(R"("length":[200,300],"what":[1,2],"runs":[10,20]})"));
  EXPECT_THAT(html, HasSubstr("Every 3 checkpoints in a row are one span"));
}

}  // namespace
}  // namespace headway::report
