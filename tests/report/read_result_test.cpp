// Files of results that are not as a verb printed them: every one is refused with its places, none
// ends the program.
#include "sim/report/read_result.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/report/page/page.h"

#include "tests/report/specimen_result.h"

namespace headway::report {
namespace {

using testing::HasSubstr;

/// What the reader says of a result; empty: nothing.
std::string complaint(const Json& json) {
  try {
    report_page({{ReadResult(json, "r.json"), ""}}, "");
    return "";
  } catch (const core::Error& error) {
    return error.what();
  }
}

void collect_places(const Json& json, const std::string& place, std::vector<std::string>& out) {
  if (!place.empty()) {
    out.push_back(place);
  }
  if (!json.is_structured()) {
    return;
  }
  for (const auto& [key, value] : json.items()) {
    std::string step = key;
    for (std::size_t at = 0; (at = step.find('/', at)) != std::string::npos; at += 2) {
      step.replace(at, 1, "~1");
    }
    collect_places(value, place + "/" + step, out);
  }
}

TEST(ReadResult, EveryKindOfResultHasAPage) {
  for (const ResultType& type : result_types()) {
    EXPECT_EQ(complaint(specimen_result(type.schema)), "") << type.schema;
  }
}

// Every member of every result is left out in turn.
TEST(ReadResult, WhatLacksAMemberIsRefusedWithItsPlace) {
  for (const ResultType& type : result_types()) {
    const Json whole = specimen_result(type.schema);
    std::vector<std::string> places;
    collect_places(whole, "", places);
    ASSERT_GT(places.size(), 5U);
    for (const auto& place : places) {
      const Json::json_pointer pointer(place);
      Json changed = whole;
      Json& parent = changed[pointer.parent_pointer()];
      if (!parent.is_object()) {
        continue;
      }
      parent.erase(pointer.back());
      const bool free = complaint(changed).empty();
      const bool may_be = place == "/explanation" || place == "/pictures" || place == "/power" ||
                          place == "/choice" || place == "/verdict" || place == "/plans/0/name" ||
                          (type.schema == "headway.collective/1" && place == "/rows/0/packets") ||
                          place.ends_with("/step/packets") || place.ends_with("/*");
      EXPECT_EQ(free, may_be) << type.schema << place;
    }
  }
}

// Members of every result become each kind of value in turn, a third of the pairs every day: a page
// or a complaint, and no other exception.
TEST(ReadResult, WhatIsOfAnotherKindIsRefusedAndNeverMore) {
  const std::vector<Json> values{nullptr,
                                 true,
                                 3,
                                 -1,
                                 1e308,
                                 "x",
                                 Json::array(),
                                 Json::object(),
                                 Json::array({nullptr}),
                                 Json::array({Json::object()})};
  const bool deep = std::getenv("HEADWAY_DEEP") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  const std::size_t stride = deep ? 1 : 3;
  for (const ResultType& type : result_types()) {
    const Json whole = specimen_result(type.schema);
    std::vector<std::string> places;
    collect_places(whole, "", places);
    int refused = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t n = i % stride; n < values.size(); n += stride) {
        Json changed = whole;
        changed[Json::json_pointer(places[i])] = values[n];
        EXPECT_NO_THROW(refused += complaint(changed).empty() ? 0 : 1) << places[i] << values[n];
      }
    }
    EXPECT_GT(refused, static_cast<int>(places.size() / stride)) << type.schema;
  }
}

TEST(ReadResult, SaysWhatItFoundWhatItExpectedAndWhatToDo) {
  Json json = specimen_result("headway.run/1");
  json["version"] = HEADWAY_VERSION;
  json["step"]["links"] = Json::array({Json::object()});
  json["step"]["time_interval_s"] = Json::array();
  json["remedies"] = Json::array({1});
  json["surplus"] = "x";
  EXPECT_EQ(complaint(json),
            "r.json: step.time_interval_s: expected a list of 2, found a list of 0\n"
            "r.json: step.links[0].tier: expected text, found nothing\n"
            "r.json: step.links[0].mean: expected a number, found nothing\n"
            "r.json: step.links[0].busiest: expected a number, found nothing\n"
            "r.json: remedies[0]: expected an object, found 1\n"
            "r.json: surplus: expected nothing of this name, found \"x\"\n"
            "this is not all that a result of headway.run/1 has; write it again with 'headway run "
            "... --format json'\n");
}

TEST(ReadResult, AnotherVersionIsNamed) {
  Json json = specimen_result("headway.run/1");
  json["version"] = "0.0.1";
  json.erase("limit");
  EXPECT_THAT(complaint(json), HasSubstr("has (version 0.0.1 wrote it, this is " HEADWAY_VERSION
                                         "); write it again"));
}

TEST(ReadResult, OfManyFaultsTheFirstAreNamed) {
  const std::string text = complaint({{"schema", "headway.run/1"}});
  EXPECT_THAT(text, HasSubstr("r.json: version: expected text, found nothing\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nand [0-9]+ more\n"));
}

TEST(ReadResult, WhatIsNoResultIsTold) {
  EXPECT_THAT(complaint({{"schema", "headway.doctor/1"}}),
              HasSubstr("r.json: schema: expected one of headway.run/1, headway.plan/1, "));
  EXPECT_THAT(complaint(Json::array({1})), HasSubstr("found ''; write a result with"));
}

// Numbers that are not finite are null in the file.
TEST(ReadResult, ANumberMayBeNull) {
  Json json = specimen_result("headway.run/1");
  json["published"][0]["error"] = nullptr;
  json["step"]["mfu"] = nullptr;
  EXPECT_EQ(complaint(json), "");
}

}  // namespace
}  // namespace headway::report
