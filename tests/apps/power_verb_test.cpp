// Power of a run from the outside.
#include <algorithm>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using Power = ProgramTest;

const std::string kBuilding = HEADWAY_ROOT "/configs/scenarios/power-llama-70b-576-gb200.yaml";

TEST_F(Power, ATableOverTheStepIsWritten) {
  write_small("s.yaml");
  const auto done = run("run s.yaml --power p.csv --format json");
  ASSERT_EQ(done.code, 0) << done.err;
  const json power = json::parse(done.out)["power"];
  std::istringstream lines(read("p.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "time_s,gpu_kw,it_kw,facility_kw");
  double most = 0, sum = 0;
  int rows = 0;
  while (std::getline(lines, line)) {
    double time = 0, gpu = 0, it = 0, facility = 0;
    char comma = 0;
    std::istringstream(line) >> time >> comma >> gpu >> comma >> it >> comma >> facility;
    most = std::max(most, it);
    sum += it;
    ++rows;
  }
  EXPECT_GE(rows, 100);
  EXPECT_NEAR(most * 1000, power["peak_w"].get<double>(), 1);
  EXPECT_NEAR(sum / rows * 1000 / power["mean_w"].get<double>(), 1, 1e-4);
  EXPECT_NEAR(power["swing_w"].get<double>(),
              power["peak_w"].get<double>() - power["least_w"].get<double>(), 1e-6);
  EXPECT_GT(power["ramp_w_per_s"], 0);
  EXPECT_THAT(run("run s.yaml --show power").out, HasSubstr("peak"));
  EXPECT_FALSE(json::parse(run("run s.yaml --format json").out).contains("power"));
}

/// Tokens a joule of the building with boards limited to so many watts.
double tokens_a_joule(const ProgramTest&, const json& result) {
  return 1 / result["power"]["joules_per_token"].get<double>();
}

/// Meta's provisioning (arXiv 2605.24461): 960 W a GPU of 1,200, performance per watt of the
/// cluster at its best near 1,000 W. By the law alone, f as the root of what is above idle, and
/// 847 W a GPU beside the boards, a step of nothing but products is best at 2 x 70 + 847 = 987 W;
/// a step that also waits gains less from watts, so its best is lower.
TEST_F(Power, TokensAJouleAreBestInsideAndNearWhatMetaFound) {
  double best = 0, at = 0, first = 0, last = 0;
  for (int watts = 500; watts <= 1200; watts += 50) {
    const auto done =
        run("run " + kBuilding + " --show power --format json --set 'cluster.node.gpu.power=" +
            std::to_string(watts) + " W'");
    ASSERT_EQ(done.code, 0) << done.err;
    const double tokens = tokens_a_joule(*this, json::parse(done.out));
    first = watts == 500 ? tokens : first;
    last = tokens;
    if (tokens > best) {
      best = tokens;
      at = watts;
    }
  }
  EXPECT_GT(best, first);
  EXPECT_GT(best, last);
  // Found here; Meta's model is at 1,000 W, which this misses by what docs/power.md says.
  EXPECT_GE(at, 700);
  EXPECT_LE(at, 1000);
}

}  // namespace
}  // namespace headway::apps
