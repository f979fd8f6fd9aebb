// headway plan: every objective and limit by its figures, and what is said of what lost.
#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kGoalsRun =
    "run:\n"
    "  until: {steps: 20000}\n"
    "  failures: {use: llama-3-54-days}\n"
    "  recovery: {use: automated-2024}\n"
    "  prices: {use: h100-on-demand-2026-05}\n"
    "  trials: 8\n";

class PlanGoals : public ProgramTest {
 protected:
  PlanGoals() {
    write_small("one.yaml", std::string(kGoalsRun) + "search: {vary: [tensor, pipeline]}\n");
    write_small("three.yaml", std::string(kGoalsRun) +
                                  "search:\n"
                                  "  vary: [tensor, pipeline, micro_batch]\n"
                                  "  machines:\n"
                                  "    - cluster.node=dgx-a100; "
                                  "run.prices=a100-80gb-on-demand-2026-05\n"
                                  "    - cluster.node=dgx-h100; run.prices=h100-on-demand-2026-05\n"
                                  "    - cluster.node=dgx-h100; run.prices=h100-owned-2024\n");
  }

  [[nodiscard]] json planned(const std::string& arguments, int code = 0) const {
    const Outcome outcome = run("plan " + arguments + " --format json");
    EXPECT_EQ(outcome.code, code) << outcome.err;
    return json::parse(outcome.out);
  }
};

// The scenario's own layout is any of its class, which is looked through all the same, with as few
// recomputed layers as fit.
TEST_F(PlanGoals, AClassThatLostIsNotJudgedByTheScenariosOwnLayout) {
  const json classes = planned(
      "one.yaml --set run.until=null --set search.vary=[] --set parallelism.tensor=8 "
      "--set parallelism.recompute=full")["lost"];
  const auto full = std::find_if(classes.begin(), classes.end(), [](const json& one) {
    return one["field"] == "recompute" && one["value"] == "full";
  });
  ASSERT_NE(full, classes.end());
  EXPECT_FALSE((*full)["simulated"]);
  EXPECT_LT((*full)["behind"].get<double>(), 0.5);  // its own layout takes three times as long
}

TEST_F(PlanGoals, SavedPlansKeepWhereTheirPricesAreFrom) {
  const json plan = planned("one.yaml --save saved")["plans"][0];
  const Outcome again = run("run saved/plan-1.yaml --format json");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["cost"]["price_source"], plan["cost"]["price_source"]);
}

// For programs: the keys of the JSON result, its figures to the last digit, and the same columns
// whatever was searched.
TEST_F(PlanGoals, CsvHasTheFiguresOfJsonUnderTheirKeys) {
  const auto lines_of = [&](const std::string& arguments) {
    std::istringstream text(run("plan " + arguments + " --format csv").out);
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
      lines.push_back(line);
    }
    return lines;
  };
  const json plans = planned("one.yaml")["plans"];
  const auto lines = lines_of("one.yaml");
  ASSERT_EQ(lines.size(), plans.size() + 1);
  const auto cells_of = [](std::string line) {
    std::vector<std::string> cells;
    bool quoted = false;
    cells.emplace_back();
    for (const char c : line) {
      quoted = quoted != (c == '"');
      if (c == ',' && !quoted) {
        cells.emplace_back();
      } else if (c != '"') {
        cells.back() += c;
      }
    }
    return cells;
  };
  const auto keys = cells_of(lines[0]);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto cells = cells_of(lines[i + 1]);
    ASSERT_EQ(cells.size(), keys.size());
    const auto cell = [&](const std::string& key) {
      const auto at = std::find(keys.begin(), keys.end(), key);
      EXPECT_NE(at, keys.end()) << key;
      return cells[static_cast<std::size_t>(at - keys.begin())];
    };
    const json& plan = plans[i];
    EXPECT_EQ(cell("name"), plan["name"]);
    EXPECT_EQ(std::stod(cell("step.time_s")), plan["step"]["time_s"].get<double>());
    EXPECT_EQ(std::stod(cell("step.time_interval_s[1]")),
              plan["step"]["time_interval_s"][1].get<double>());
    EXPECT_EQ(std::stod(cell("cost.total_usd.p50")), plan["cost"]["total_usd"]["p50"]);
    EXPECT_EQ(cell("layout.schedule"), plan["layout"]["schedule"]);
    EXPECT_EQ(cell("pareto"), plan["pareto"].dump());
    EXPECT_EQ(cell("board_w"), "");
  }
  EXPECT_EQ(lines_of("three.yaml --set run.until=null --set cluster.nodes=1")[0], lines[0]);
}

TEST_F(PlanGoals, LimitsWithoutAUnitAreAskedForTheLikelyOne) {
  EXPECT_THAT(run("plan one.yaml --limit deadline=10").err,
              HasSubstr("'10' has no unit; write '10 d'"));
  EXPECT_THAT(run("plan one.yaml --limit power=2").err, HasSubstr("write '2 MW'"));
  EXPECT_THAT(run("plan one.yaml --limit budget=2e6").err, HasSubstr("write '2e6 USD'"));
}

/// Figures of a plan by objective, smaller being better.
using GoalFigure = std::function<double(const json&)>;
const std::vector<std::pair<const char*, GoalFigure>>& goal_figures() {
  static const std::vector<std::pair<const char*, GoalFigure>> kFigures{
      {"goodput", [](const json& p) { return -p["campaign"]["goodput"]["p50"].get<double>(); }},
      {"co2", [](const json& p) { return p["cost"]["co2_kg"].get<double>(); }},
      {"energy", [](const json& p) { return p["cost"]["energy_kwh"].get<double>(); }},
      {"tokens-per-joule",
       [](const json& p) {
         return p["cost"]["energy_kwh"].get<double>() / p["campaign"]["tokens"].get<double>();
       }},
      {"tokens-per-dollar",
       [](const json& p) { return p["cost"]["usd_per_million_tokens"].get<double>(); }},
      {"power", [](const json& p) { return p["power_w"].get<double>(); }},
  };
  return kFigures;
}

// The witness is the figure itself, over all plans of two sizes.
TEST_F(PlanGoals, OrdersPlansByTheFigureOfEveryObjective) {
  for (const auto& [goal, figure] : goal_figures()) {
    const json plans = planned("one.yaml --nodes 1,2 --objective " + std::string(goal))["plans"];
    ASSERT_GT(plans.size(), 2U) << goal;
    std::vector<double> values;
    std::transform(plans.begin(), plans.end(), std::back_inserter(values), figure);
    for (std::size_t i = 1; i < values.size(); ++i) {
      const double room = 1e-9 * std::abs(values[i]);
      EXPECT_LE(values[i - 1], values[i] + room) << goal << ", plan " << i + 1;
    }
    EXPECT_EQ(plans[0]["behind"], 0) << goal;
  }
}

// Recomputing is faster here than to copy activations to the host, and takes more energy: a search
// that may do either finds no worse than one that may only copy.
TEST_F(PlanGoals, FindsTheLeastEnergyThoughItIsNotTheFastest) {
  const std::string words =
      "'" HEADWAY_ROOT
      "/configs/scenarios/small-llama-8b-64-h100.yaml' --set model.use=llama-3.1-70b --set "
      "cluster.nodes=4 --set cluster.spares=0 --set training.global_batch=32 --set "
      "parallelism.tensor=1 --set run.until.steps=2000 --set run.trials=2 ";
  const auto kwh = [](const json& plan) { return plan["cost"]["energy_kwh"].get<double>(); };
  const auto searched = [&](const char* recompute, const char* goals) {
    return planned(words + "--objective " + goals + " --set 'search={tensor: [1], context: [1], " +
                   "pipeline: [1, 2], recompute: " + recompute + "}'")["plans"];
  };
  const json wide = searched("[none, full]", "energy");
  const json narrow = searched("[none]", "energy");
  EXPECT_LE(kwh(wide[0]), kwh(narrow[0]) * (1 + 1e-9));
  const json quick = searched("[none, full]", "days");
  EXPECT_LT(kwh(wide[0]), kwh(quick[0]));
  EXPECT_GT(wide[0]["step"]["time_s"].get<double>(), quick[0]["step"]["time_s"].get<double>());
  EXPECT_TRUE(std::any_of(wide.begin(), wide.end(), [&](const json& plan) {
    return plan["layout"] == quick[0]["layout"];  // the fastest of the family is there too
  }));
}

// The scenario's own layout is tried whatever `search` lists, and says so.
TEST_F(PlanGoals, MarksTheScenariosOwnLayoutOutsideTheSearch) {
  const std::string words = "one.yaml --set run.until=null --set search.tensor=[8] ";
  int outside = 0;
  const json plans = planned(words)["plans"];
  for (const json& plan : plans) {
    EXPECT_EQ(plan["outside_search"], plan["layout"]["tensor"] != 8);
    outside += plan["outside_search"] == true ? 1 : 0;
  }
  EXPECT_EQ(outside, 1);
  EXPECT_THAT(run("plan --full " + words).out, HasSubstr("yours, outside the search"));
  EXPECT_THAT(run("plan one.yaml --set run.until=null --full").out,
              Not(HasSubstr("yours, outside the search")));
  // Where no layout of the search is better, the verdict says it.
  EXPECT_THAT(run("plan one.yaml --set run.until=null --set search.tensor=[3] --full").out,
              HasSubstr("It is the scenario's own layout, outside what `search` lists."));
  const json order =
      planned("one.yaml --set run.until=null --set search.rank_order=[tp-cp-pp-dp]")["plans"];
  for (const json& plan : order) {
    EXPECT_EQ(plan["outside_search"], plan["layout"]["rank_order"] != "tp-cp-pp-dp");
  }
}

// Its step is what a run of it says, wherever it stands; what cannot run says why.
TEST_F(PlanGoals, SaysWhereTheScenariosOwnLayoutStands) {
  const std::string bare = "one.yaml --set run.until=null --set parallelism.pipeline=4";
  const json plan = planned(bare + " --top 2");
  const json& own = plan["own"];
  const json step = json::parse(run("run " + bare + " --format json").out)["step"];
  EXPECT_EQ(own["step_s"], step["time_s"]);
  EXPECT_NEAR(own["behind"].get<double>(),
              step["time_s"].get<double>() / plan["plans"][0]["step"]["time_s"].get<double>() - 1,
              1e-9);
  const auto faster = std::count_if(
      plan["simulated_plans"].begin(), plan["simulated_plans"].end(),
      [&](const json& one) { return one["step_s"].get<double>() < step["time_s"].get<double>(); });
  EXPECT_EQ(own["faster"], faster);
  EXPECT_GT(faster, 0);
  EXPECT_THAT(own["sentence"].get<std::string>(), StartsWith("The scenario's own layout takes "));
  EXPECT_THAT(run("plan " + bare + " --top 2").out, HasSubstr("\n  yours    "));
  const json wrong = planned("one.yaml --set run.until=null --set parallelism.tensor=3")["own"];
  EXPECT_TRUE(wrong["step_s"].is_null());
  EXPECT_THAT(wrong["sentence"].get<std::string>(), HasSubstr("`headway check` names"));
  const json large = planned(
      "one.yaml --set run.until=null --set parallelism.micro_batch=2 --set parallelism.tensor=1 "
      "--set parallelism.pipeline=1 --set training.sequence_length=16384")["own"];
  EXPECT_THAT(large["sentence"].get<std::string>(), HasSubstr("does not fit"));
  EXPECT_TRUE(planned("three.yaml --top 1")["own"].is_null()) << "none of the machines is its own";
}

// The layouts with nothing sharded that fit are few, and none of them is like plan 1: those with
// the least bounds are looked at all the same, and the row says between what the fastest lies.
TEST_F(PlanGoals, AClassThatLostIsNotJudgedByLayoutsThatAreFarFromItsBest) {
  const std::string words =
      "one.yaml --set run.until=null --set search.vary=[] --set training.sequence_length=8192 "
      "--set parallelism.pipeline=1";
  const json classes = planned(words)["lost"];
  ASSERT_FALSE(classes.empty());
  for (const json& lost : classes) {
    if (!lost["step_s"].is_null() && !lost["least_step_s"].is_null()) {
      // Bounds know nothing of memory: the fastest shapes of whole batches at once do not fit.
      const bool large =
          lost["field"] == "micro_batch" && lost["value"].get<std::string>().size() > 1;
      EXPECT_LT(lost["step_s"].get<double>(),
                (large ? 2 : 1.5) * lost["least_step_s"].get<double>())
          << lost;
    }
  }
  const std::string text = run("plan --full " + words).out;
  EXPECT_THAT(text, testing::ContainsRegex("sharding zero0 +[0-9,]+ +[0-9.]+ to [0-9.]+ +at most"));
}

// Of 64 sequences at once only wide tensor and context groups hold the activations, on shapes that
// no bound prefers. The layout that is named for a class is one that runs.
TEST_F(PlanGoals, AClassIsSearchedUntilALayoutOfItFits) {
  const std::string base =
      HEADWAY_ROOT "/configs/scenarios/small-llama-8b-64-h100.yaml --set run.until=null ";
  const json classes = planned(base + "--simulate 10")["lost"];
  int large = 0;
  for (const json& lost : classes) {
    if (lost["field"] == "micro_batch" && lost["value"].get<std::string>().size() > 1) {
      ++large;
      ASSERT_FALSE(lost["step_s"].is_null()) << lost;
    }
  }
  EXPECT_GE(large, 3);
  const Outcome wide = run("run " + base +
                           "--set parallelism.tensor=8 --set parallelism.context=4 "
                           "--set parallelism.data=auto --set parallelism.pipeline=1 "
                           "--set parallelism.micro_batch=64 --set parallelism.sharding=zero3 "
                           "--set parallelism.recompute=full --format json");
  EXPECT_EQ(wide.code, 0) << wide.err;
}

// One node draws half of what two do, and is slower: both are on the front of time and power.
TEST_F(PlanGoals, PowerMakesAFrontWithTimeAndMoney) {
  const json plans = planned("one.yaml --nodes 1,2 --objective days,dollars,power")["plans"];
  EXPECT_EQ(plans[0]["nodes"], 2);
  const auto small = std::find_if(plans.begin(), plans.end(), [](const json& p) {
    return p["nodes"] == 1 && p["pareto"] == true;
  });
  ASSERT_NE(small, plans.end());
  EXPECT_NEAR((*small)["power_w"].get<double>() / plans[0]["power_w"].get<double>(), 0.5, 0.05);
  const Outcome table = run("plan one.yaml --full --nodes 1,2 --objective power --top 2");
  EXPECT_THAT(table.out, HasSubstr("best plans by power"));
  EXPECT_THAT(table.out, HasSubstr("power [MW]"));
  EXPECT_EQ(run("plan one.yaml --objective power --set run.until=null --set run.prices=null").code,
            0);  // needs no run
}

// Between the fourth and the fifth plan a limit leaves four, and names what the next one misses.
TEST_F(PlanGoals, KeepsLimitsOfBudgetAndGoodput) {
  const json free = planned("one.yaml --objective dollars");
  ASSERT_GT(free["plans"].size(), 4U);
  const auto usd = [&](const json& p) { return p["cost"]["total_usd"]["p50"].get<double>(); };
  const double budget = (usd(free["plans"][3]) + usd(free["plans"][4])) / 2;
  const json cheap =
      planned("one.yaml --objective dollars --limit 'budget=" + std::to_string(budget) + " USD'");
  ASSERT_EQ(cheap["plans"].size(), 4U);
  for (const json& plan : cheap["plans"]) {
    EXPECT_LE(usd(plan), budget);
  }
  const json by_goodput = planned("one.yaml --objective goodput");
  const auto goodput = [](const json& p) { return p["campaign"]["goodput"]["p50"].get<double>(); };
  const double least = (goodput(by_goodput["plans"][0]) + goodput(by_goodput["plans"][1])) / 2;
  const json good =
      planned("one.yaml --objective goodput --limit goodput=" + std::to_string(least));
  EXPECT_EQ(good["plans"].size(), 1U);
  const auto missed = [](const json& result, const char* kind) {
    return std::any_of(result["rejected"].begin(), result["rejected"].end(), [&](const json& r) {
      return r["class"] == kind && !r["nearest"].get<std::string>().empty();
    });
  };
  EXPECT_TRUE(missed(cheap, "budget"));
  // What it names as nearest, taken as the limit, is kept.
  for (const json& left_out : cheap["rejected"]) {
    const std::string nearest = left_out["nearest"];
    if (left_out["class"] == "budget" && nearest.find("at least") == std::string::npos) {
      std::string usd_text = nearest.substr(0, nearest.find(' '));
      std::erase(usd_text, ',');
      EXPECT_EQ(
          planned("one.yaml --objective dollars --limit 'budget=" + usd_text + " USD'")["plans"]
              .size(),
          5U)
          << nearest;
    }
  }
  EXPECT_TRUE(missed(good, "goodput"));
  // Where no plan is left, every layout is.
  const json none = planned("one.yaml --objective dollars --limit 'budget=1 USD'", 3);
  std::int64_t left_out = 0;
  for (const json& row : none["rejected"]) {
    left_out += row["count"].get<std::int64_t>();
  }
  EXPECT_EQ(none["enumerated"], left_out);
  const json late = planned("one.yaml --objective dollars --limit goodput=0.99999", 3);
  left_out = 0;
  for (const json& row : late["rejected"]) {
    left_out += row["count"].get<std::int64_t>();
  }
  EXPECT_TRUE(late["plans"].empty());
  EXPECT_EQ(late["enumerated"], left_out);
}

// The short list holds two layouts, so most are left out as slower; a machine without a plan lost
// for the limit that those two miss all the same. Of two limits both are named.
TEST_F(PlanGoals, AMachineLosesForTheLimitThatItMisses) {
  const std::string words = "three.yaml --objective days --top 1 --simulate 2";
  const json free = planned(words);
  const double slow = free["machines"][0]["days"], fast = free["machines"][1]["days"];
  const double middle = (slow + fast) / 2;
  const json late = planned(words + " --limit 'deadline=" + std::to_string(middle) + " d'");
  EXPECT_THAT(late["machines"][0]["outcome"].get<std::string>(),
              StartsWith("deadline: takes longer than the deadline"));
  const double cheap = free["machines"][2]["usd"], dear = free["machines"][1]["usd"];
  const json both = planned(words + " --limit 'deadline=" + std::to_string(middle) +
                            " d' --limit 'budget=" + std::to_string((cheap + dear) / 2) + " USD'");
  const std::string first = both["machines"][0]["outcome"];
  EXPECT_THAT(first, HasSubstr("the deadline is"));
  EXPECT_THAT(first, HasSubstr("the budget is"));
  EXPECT_THAT(both["machines"][1]["outcome"].get<std::string>(), StartsWith("budget: "));
  EXPECT_EQ(both["machines"][2]["outcome"], "best by days");
  EXPECT_THAT(both.dump(), Not(HasSubstr("or it is a variant of layouts that are")));
}

// The same servers at two prices take the same days: the cheaper offer is first.
TEST_F(PlanGoals, EqualMachinesAreOrderedByDollars) {
  const json all = planned("three.yaml --objective days --top 1 --simulate 2");
  EXPECT_EQ(all["machines"][1]["days"], all["machines"][2]["days"]);
  EXPECT_EQ(all["plans"][0]["machine"], "dgx-h100, h100-owned-2024");
  EXPECT_EQ(all["machines"][2]["outcome"], "best by days");
  EXPECT_THAT(all["machines"][1]["outcome"].get<std::string>(), StartsWith("as good by days, "));
}

// --vary holds what it does not name, though the file lists values for it.
TEST_F(PlanGoals, VariesOnlyWhatTheCommandLineNames) {
  write_small("lists.yaml", std::string(kGoalsRun) + "search: {tensor: [1, 2, 4]}\n");
  const std::string bare = " --set run.until=null --vary micro_batch";
  const json held = planned("lists.yaml" + bare)["plans"];
  for (const json& plan : held) {
    EXPECT_EQ(plan["layout"]["tensor"], 2) << "as the scenario has it";
  }
  const json listed = planned("lists.yaml --set search.tensor=[4]" + bare)["plans"];
  std::set<int> degrees;
  for (const json& plan : listed) {
    degrees.insert(plan["layout"]["tensor"].get<int>());
  }
  EXPECT_TRUE(degrees.contains(4)) << "what the same line lists is varied";
}

// FP8 against BF16: the table has a column, the sentence the word.
TEST_F(PlanGoals, TellsPrecisionsApart) {
  const std::string words =
      "plan one.yaml --full --set 'search.precision=[bf16, fp8]' --vary tensor";
  const Outcome table = run(words);
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, testing::ContainsRegex("precision +tensor"));
  EXPECT_THAT(table.out, HasSubstr("Plan 1 is the best by step: fp8, tensor"));
  EXPECT_THAT(run("plan one.yaml --vary tensor --full").out,
              Not(testing::ContainsRegex("precision +tensor")));
}

// A format that the only machine lacks is left out; the others are searched.
TEST_F(PlanGoals, LeavesOutFormatsThatTheMachineLacks) {
  const json found = planned("one.yaml --set 'search.precision=[bf16, mxfp8]' --vary tensor");
  EXPECT_FALSE(found["plans"].empty());
  const auto left_out = std::find_if(found["rejected"].begin(), found["rejected"].end(),
                                     [](const json& r) { return r["class"] == "precision"; });
  ASSERT_NE(left_out, found["rejected"].end());
  EXPECT_THAT((*left_out)["reason"].get<std::string>(), HasSubstr("mxfp8"));
  EXPECT_EQ(run("plan one.yaml --set 'search.precision=[mxfp8]'").code, 2);
}

TEST_F(PlanGoals, TakesPathsBelowSearchAsSetArguments) {
  const auto plans = [&](const std::string& words) {
    return planned("one.yaml " + words)["plans"];
  };
  EXPECT_EQ(plans("--set 'search.cluster.nodes=[1, 2]'"), plans("--nodes 1,2"));
  EXPECT_EQ(plans("--set 'search.nodes=[4]' --set 'search.cluster.nodes=[1, 2]'"),
            plans("--nodes 1,2"));
  EXPECT_EQ(plans("--set 'search.cluster.node=[dgx-a100, dgx-h100]'"),
            plans("--over cluster.node=dgx-a100,dgx-h100"));
  EXPECT_THAT(run("plan one.yaml --set 'search.cluster.nods=[4]'").err, HasSubstr("cluster.nods"));
}

// The witness of "tensor 8" is the least estimate of all layouts with tensor 8, each of which a
// search that leaves nothing out has simulated.
TEST_F(PlanGoals, NamesTheNearestOfEachClassThatLost) {
  const std::string words = "one.yaml --vary tensor,pipeline,micro_batch ";
  const json few = planned(words + "--top 1 --simulate 1");
  const json all = planned(words + "--top 1000 --simulate 1000 --all");
  ASSERT_FALSE(few["lost"].empty());
  EXPECT_TRUE(std::none_of(all["lost"].begin(), all["lost"].end(),
                           [](const json& lost) { return !lost["step_s"].is_null(); }));
  int compared = 0;
  for (const json& lost : few["lost"]) {
    if (lost["simulated"] == true || lost["step_s"].is_null()) {
      continue;
    }
    double least = 1e300;
    for (const json& plan : all["plans"]) {
      if (plan["layout"][lost["field"].get<std::string>()].dump() == lost["value"]) {
        least = std::min(least, plan["estimated_step_s"].get<double>());
      }
    }
    const double step = lost["step_s"];
    EXPECT_NEAR(step / least, 1, 1e-9) << lost;
    EXPECT_TRUE(lost["least_step_s"].is_null()) << lost;
    const double estimate = few["plans"][0]["estimated_step_s"];
    EXPECT_NEAR(lost["behind"].get<double>(), step / estimate - 1, 1e-9) << lost;
    ++compared;
  }
  EXPECT_GT(compared, 3);
  // Where one of the class was simulated, both steps are simulated.
  const json some = planned(words + "--top 1 --simulate 20");
  compared = 0;
  for (const json& lost : some["lost"]) {
    if (lost["simulated"] == true) {
      const double first = some["plans"][0]["step"]["time_s"];
      EXPECT_NEAR(lost["behind"].get<double>(), lost["step_s"].get<double>() / first - 1, 1e-9);
      ++compared;
    }
  }
  EXPECT_GT(compared, 1);
  EXPECT_THAT(run("plan --full " + words).out, HasSubstr("What the search varied"));
  EXPECT_THAT(run("plan --full " + words + "--top 1").out,
              HasSubstr("Why each class of layouts lost"));
}

// `--best` and `--best-is` of a sweep, against the rows; `--region` of a table of prices.
TEST_F(PlanGoals, TheBestPointAndTheRegionAreThoseAskedFor) {
  const std::string sweep =
      "sweep one.yaml --sweep cluster.nodes=1,2,4 --figures step.mfu --format json --best step.mfu "
      "--best-is ";
  for (const bool highest : {true, false}) {
    const json result = json::parse(run(sweep + (highest ? "highest" : "lowest")).out);
    std::size_t best = 0;
    for (std::size_t i = 0; i < result["rows"].size(); ++i) {
      const auto mfu = [&](std::size_t row) {
        return result["rows"][row]["figures"]["step.mfu"].get<double>();
      };
      best = (highest ? mfu(i) > mfu(best) : mfu(i) < mfu(best)) ? i : best;
    }
    EXPECT_EQ(result["best_point"], best) << highest;
  }
  write("vms.csv", read_file(HEADWAY_ROOT "/tests/data/prices/vms.csv"));
  const std::string import = "import skypilot-catalog vms.csv --accelerator H100 --region ";
  EXPECT_THAT(run(import + "north-1").out, HasSubstr("gpu_hour: 3 USD/h"));  // 24 USD for eight
  EXPECT_EQ(run(import + "nowhere").code, 2);
}

}  // namespace
}  // namespace headway::apps
