// How large pages are.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

#include "sim/report/page/page.h"

#include "tests/report/full_result.h"
#include "tests/report/specimen_result.h"

namespace headway::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// As many spans as pictures may have, with times as long as they get, beside the library of 0.4 MB.
Json longest_result() {
  Json result = full_result();
  const auto fill = [](Json& row, std::initializer_list<const char*> keys, std::size_t spans,
                       const Json& value) {
    for (const char* key : keys) {
      row[key] = Json(std::vector<Json>(spans, value));
    }
  };
  Json& stage = result["pictures"]["timeline"]["stages"][0];
  fill(stage, {"begin_us", "length_us", "exposed_us", "what", "micro_batch", "chunk"},
       training::kMostSpans, 0);
  for (std::size_t i = 0; i < training::kMostSpans; ++i) {  // nothing that repeats
    stage["length_us"][i] = 1234 + i % 997;
    stage["begin_us"][i] =
        i == 0 ? 0 : stage["begin_us"][i - 1].get<int>() + stage["length_us"][i - 1].get<int>();
    stage["exposed_us"][i] = 1234 + i % 991;
    stage["what"][i] = i % 19 / 3;
    stage["micro_batch"][i] = 10 + i % 83;
    stage["chunk"][i] = 10 + i % 17;
  }
  fill(stage, {"memory_bytes"}, training::kMostSpans, 1);
  for (std::size_t i = 0; i < training::kMostSpans; ++i) {
    stage["memory_bytes"][i] = 68'000'000'000 + 123'456'789 * (i % 97);
  }
  Json& held = stage["held"];
  for (auto& list : held) {
    if (list.is_array()) {
      list = Json(std::vector<Json>(training::kMostMoments, 12'345'678'901));
    }
  }
  Json& line = result["pictures"]["streams"]["ranks"][0]["lines"][0];
  fill(line, {"length_us", "runs_us"}, training::kMostBands, 12345);
  fill(line, {"begin_us"}, training::kMostBands, 0);
  for (std::size_t i = 0; i < training::kMostBands; ++i) {
    line["begin_us"][i] = 13400 * i;
    line["length_us"][i] = 12345 + i % 997;
    line["runs_us"][i] = 11345 + i % 991;
  }
  result["pictures"]["timeline"]["stages"] = Json(std::vector<Json>(4, stage));
  for (std::size_t s = 1; s < 4; ++s) {  // all spans are of the first, the others have lines too
    for (auto& list : result["pictures"]["timeline"]["stages"][s]) {
      if (list.is_array()) {
        list.erase(list.begin() + 300, list.end());
      }
    }
  }
  Json link = {{"tier", "leaf-spine"},         {"alike", 16},
               {"capacity_bytes_per_s", 5e10}, {"mean_of_ns", 0},
               {"from_ns", Json::array()},     {"load_bytes_per_s", Json::array()}};
  for (std::size_t i = 0; i < training::kMostLoads; ++i) {
    link["from_ns"].push_back(1234567 * i);
    link["load_bytes_per_s"].push_back(12'345'678'901 + i);
  }
  result["pictures"]["loads"] = Json(std::vector<Json>(4, link));
  Json& hazard = result["pictures"]["campaign"]["trial"]["hazards"][0];
  fill(hazard, {"length_s"}, campaign::kMostTrialSpans, 567.123456);
  fill(hazard, {"begin_s", "struck_s"}, campaign::kMostTrialSpans, 0);
  fill(hazard, {"stage"}, campaign::kMostTrialSpans, 1);
  Json& saves = result["pictures"]["campaign"]["trial"]["saves"];
  saves["together"] = 17;
  fill(saves, {"begin_s"}, campaign::kMostTrialSpans, 0);
  fill(saves, {"length_s"}, campaign::kMostTrialSpans, 812.345678);
  fill(saves, {"still_s"}, campaign::kMostTrialSpans, 12.345678);
  fill(saves, {"level"}, campaign::kMostTrialSpans, 0);
  for (std::size_t i = 0; i < campaign::kMostTrialSpans; ++i) {
    const auto number = static_cast<double>(i);
    hazard["begin_s"][i] = 8765.4321 * number;
    hazard["length_s"][i] = 567.1 + 0.1 * static_cast<double>(i % 997);
    hazard["stage"][i] = i % 19 / 3;
    saves["begin_s"][i] = 900.123456 * number;
    saves["length_s"][i] = 812.3 - 0.1 * static_cast<double>(i % 991);
    saves["still_s"][i] = 12.3 + 0.1 * static_cast<double>(i % 83);
  }
  return result;
}

TEST(PageSize, IsNeverLargerThanSomebodyMails) {
  EXPECT_LT(page_of(longest_result(), std::string(420'000, 'x')).size(), kLargestPage);
}

// The first results keep their pictures; the page says of how many it has none.
TEST(PageSize, OfManyResultsIsNotLargerEither) {
  const Json longest = longest_result();
  const std::vector<PageResult> results(5, {{longest, "r.json"}, "headway run s.yaml"});
  const std::string page = report_page(results, std::string(420'000, 'x'));
  EXPECT_LT(page.size(), kLargestPage);
  EXPECT_THAT(page, HasSubstr("id=\"result-0-timeline\""));
  EXPECT_THAT(page, Not(HasSubstr("id=\"result-4-timeline\"")));
  EXPECT_THAT(page, HasSubstr("of the 5 results have no timelines"));
  EXPECT_THAT(page, HasSubstr("are left out here: see above."));
  EXPECT_THAT(page, Not(HasSubstr("headway run --pictures</code>"))) << "they were made with it";
  EXPECT_THAT(report_page({results[0]}, ""), Not(HasSubstr("have no timelines")));
}

// Of 60 the last ones have no tables of all figures, of 300 few have more than their verdict.
TEST(PageSize, OfVeryManyResultsHasTheVerdicts) {
  const Json one = specimen_result("headway.run/1");
  for (const std::size_t count : {60U, 300U}) {
    const std::vector<PageResult> results(count, {{one, "r.json"}, "headway run s.yaml"});
    const std::string page = report_page(results, std::string(420'000, 'x'));
    EXPECT_LT(page.size(), kLargestPage) << count;
    EXPECT_THAT(page, HasSubstr("have no tables of all figures"));
    EXPECT_THAT(page, HasSubstr(fmt::format("id=\"result-{}\"", count - 1)));
    EXPECT_EQ(page.find("have their first figures and verdict alone") == std::string::npos,
              count == 60);
  }
}

// A thousand published runs.
TEST(PageSize, IsSmallWithManyRowsToo) {
  Json result = specimen_result("headway.validate/1");
  Json row = result["rows"][0];
  row["id"] = "a-source-of-2024-017";
  row["framework"] = "Megatron-Core 2024";
  row["assumed"] = {"micro_batch", "recompute"};
  row["interval"] = {1234.56789012345, 2345.67890123456};
  for (const char* key :
       {"measured_tokens_per_s_per_gpu", "predicted_tokens_per_s_per_gpu", "error"}) {
    row[key] = 1234.56789012345;
  }
  result["rows"] = Json(std::vector<Json>(1000, row));
  const std::string page = page_of(result, std::string(420'000, 'x'));
  EXPECT_LT(page.size(), kLargestPage);
  EXPECT_THAT(page, HasSubstr("600 more rows are in the result's file."));
}

}  // namespace
}  // namespace headway::report
