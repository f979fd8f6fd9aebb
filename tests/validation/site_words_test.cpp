// Words for runs over several sites.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

TEST(SiteWords, SeveralSitesAreRefusedByName) {
  for (const auto& [column, text, word] :
       {std::tuple("network", "DiLoCo over WAN, H=500, 1 Gbps", "diloco"),
        std::tuple("network", "WAN between two sites", "wan"),
        std::tuple("network", "2 sites, 1000 km", "2 sites"),
        std::tuple("network", "internet, 1 Gbps", "internet"),
        std::tuple("network", "400G, 1000 km", "1000 km"),
        std::tuple("network", "multi-region", "multiregion"),
        std::tuple("network", "100 Gbps between DCs", "betweendcs"),
        std::tuple("notes", "two data centers", "two datacenters"),
        std::tuple("notes", "2 sites, DiLoCo with 500 inner steps", "2 sites"),
        std::tuple("sharding", "DiLoCo", "diloco"), std::tuple("sharding", "local SGD", "localsgd"),
        std::tuple("era", "prime (DiLoCo)", "diloco"),
        std::tuple("model", "OpenDiLoCo 1B", "opendiloco")}) {
    EXPECT_EQ(predicted({{column, text}}).status,
              std::string("skipped:several sites ('") + word +
                  "'): not in this table's columns; write a scenario with cluster.sites");
  }
  for (const char* notes : {"one site, no WAN", "trained on internet text", "3 websites",
                            "Swan cluster", "data of 8 regions, not over the internet",
                            "after Wan et al.", "text crawled over the internet"}) {
    EXPECT_THAT(predicted({{"notes", notes}}).status, testing::StartsWith("ok")) << notes;
  }
}

}  // namespace
}  // namespace headway::validation
