// run.bring_up, from the outside.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kMarketRun =
    "run:\n"
    "  until: {steps: 20000}\n"
    "  prices: {use: h100-on-demand-2026-05}\n"
    "  trials: 4\n";

class TimeToMarket : public ProgramTest {
 protected:
  TimeToMarket() {
    write_small("s.yaml", std::string(kMarketRun) + "search: {vary: [tensor]}\n");
    write_small("later.yaml",
                std::string(kMarketRun) +
                    "  bring_up: {delivery: 30 d, burn_in: 2 d, ramp: 4 h, billed: 0.5}\n"
                    "search: {vary: [tensor]}\n");
  }
  [[nodiscard]] json result(const std::string& arguments, int code = 0) const {
    const Outcome outcome = run(arguments + " --format json");
    EXPECT_EQ(outcome.code, code) << outcome.err;
    return json::parse(outcome.out);
  }
};

// Nothing fails: 32 days, and half of a ramp of four hours that begins at nothing. Half of the two
// days of tests is paid, and the ramp as any other hour: 16 GPUs at the price of the entry.
TEST_F(TimeToMarket, IsTheRunAndWhatLiesBeforeIt) {
  const json now = result("run s.yaml");
  const json later = result("run later.yaml");
  EXPECT_TRUE(now["campaign"]["time_to_market"].is_null());
  EXPECT_TRUE(now["cost"]["bring_up_usd"].is_null());
  const json& market = later["campaign"]["time_to_market"];
  const double wall = now["campaign"]["wall_days"]["p50"];
  EXPECT_EQ(later["campaign"]["wall_days"]["p50"], wall);
  EXPECT_EQ(market["bring_up_days"]["p50"], 32);
  EXPECT_EQ(market["tests"], 1);
  EXPECT_NEAR(market["ramp_days"].get<double>(), 2.0 / 24, 1e-9);
  EXPECT_NEAR(market["ready_days"]["p50"].get<double>(), 32 + wall + 2.0 / 24, 1e-9);
  const double hour = now["cost"]["gpus_usd"].get<double>() / (wall * 24);
  EXPECT_NEAR(later["cost"]["bring_up_usd"].get<double>(), hour * (0.5 * 48 + 2), 1e-6 * hour);
  EXPECT_NEAR(later["cost"]["total_usd"]["p50"].get<double>(),
              now["cost"]["total_usd"]["p50"].get<double>() + hour * 26, 1e-6 * hour);
  EXPECT_THAT(run("run later.yaml").out, HasSubstr("after the order, bring-up 32.0"));
  EXPECT_THAT(run("run later.yaml --full").out, HasSubstr("order to trained model [days]"));
}

// Nodes that fail their test are waited for, unless there are spares.
TEST_F(TimeToMarket, SparesShortenTheTests) {
  const std::string weak =
      "run later.yaml --trials 400 --set run.bring_up.fail_share=0.2 --set "
      "'run.bring_up.replacement=10 d'";
  const json without = result(weak), with = result(weak + " --set cluster.spares=2");
  const auto tests = [](const json& r) {
    return r["campaign"]["time_to_market"]["tests"].get<double>();
  };
  // 2 nodes: 1 + sum of 1 - (1 - p^k)^2 = 1 + 2 p / (1 - p) - p^2 / (1 - p^2)
  EXPECT_NEAR(tests(without), 1 + 2 * 0.2 / 0.8 - 0.04 / 0.96, 0.1);
  EXPECT_LT(tests(with), 1.1);
  const json& days = without["campaign"]["time_to_market"]["bring_up_days"];
  EXPECT_NEAR(days["mean"].get<double>(), 32 + 12 * (tests(without) - 1), 1e-6);
}

// Days and the deadline of a search count from the order.
TEST_F(TimeToMarket, CountsInASearch) {
  const json soon = result("plan later.yaml --objective days --limit 'deadline=33 d'");
  EXPECT_FALSE(soon["plans"].empty());
  const json late = result("plan later.yaml --objective days --limit 'deadline=31 d'", 3);
  EXPECT_TRUE(late["plans"].empty());
  EXPECT_EQ(result("plan s.yaml --objective days --limit 'deadline=31 d'")["status"], "ok");
}

// A machine that is delivered so late as it may be is ready when the first one is.
TEST_F(TimeToMarket, SaysHowLateAMachineMayBe) {
  const auto machines = [&](const std::string& delivery) {
    return result(
        "plan s.yaml --objective days --machine 'cluster.node=dgx-a100; "
        "run.bring_up.delivery=1 d' --machine 'cluster.node=dgx-h100; "
        "run.bring_up.delivery=" +
        delivery + " d'")["machines"];
  };
  const json apart = machines("30");
  EXPECT_EQ(apart[0]["outcome"], "best by days");
  EXPECT_EQ(apart[0]["bring_up_days"], 1);
  const double latest = apart[1]["latest_delivery_days"];
  EXPECT_GT(latest, 1);
  EXPECT_LT(latest, 30);
  const json equal = machines(std::to_string(latest));
  EXPECT_NEAR(equal[0]["days"].get<double>(), equal[1]["days"].get<double>(), 1e-4);
  EXPECT_NEAR(apart[0]["latest_delivery_days"].get<double>(),
              1 + apart[1]["days"].get<double>() - apart[0]["days"].get<double>(), 1e-9);
  EXPECT_TRUE(result("plan s.yaml --over cluster.node=dgx-a100,dgx-h100")["machines"][0]
                                                                         ["latest_delivery_days"]
                                                                             .is_null());
}

TEST_F(TimeToMarket, RefusesARampOfARunThatEndsByTheClock) {
  const Outcome outcome = run("run later.yaml --set 'run.until={wall: 2 d}'");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("this one ends by the clock, after 2.00 days"));
  EXPECT_EQ(run("run later.yaml --set run.bring_up.fail_share=1").code, 2);
}

}  // namespace
}  // namespace headway::apps
