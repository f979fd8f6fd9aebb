// Long lists of a page, written short.
#include "sim/report/page/repeats.h"

#include <cstddef>
#include <gtest/gtest.h>

namespace headway::report {
namespace {

/// As the page's script undoes it.
Json undone(const Json& list) {
  Json out = Json::array();
  for (const Json& each : list) {
    if (!each.is_array()) {
      out.push_back(each);
      continue;
    }
    for (std::size_t i = 0; i < each[0].get<std::size_t>(); ++i) {
      out.push_back(Json(out[out.size() - each[1].get<std::size_t>()]));
    }
  }
  return out;
}

TEST(Repeats, AreTheirNumberAndHowFarBackTheyAreTheSame) {
  EXPECT_EQ(without_repeats({0, 0, 0, 0, 0, 0, 7}), Json({0, Json{5, 1}, 7}));
  EXPECT_EQ(without_repeats({1, 2, 1, 2, 1, 2, 3}), Json({1, 2, Json{4, 2}, 3}));
}

TEST(Repeats, OfFewEntriesStayAsTheyAre) {
  EXPECT_EQ(without_repeats({5, 5, 5, 5, 1}), Json({5, 5, 5, 5, 1}));
  EXPECT_EQ(without_repeats(Json::array()), Json::array());
}

TEST(Repeats, AreUndoneByWhoReadsThem) {
  Json list = Json::array();
  for (int i = 0; i < 300; ++i) {
    list.push_back(i % 7 == 0 ? i : i % 3);
    list.push_back(i / 50);
    list.push_back(-1.5);
  }
  const Json brief = without_repeats(list);
  EXPECT_LT(brief.size(), list.size());
  EXPECT_EQ(undone(brief), list);
}

}  // namespace
}  // namespace headway::report
