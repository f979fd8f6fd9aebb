// headway run and headway plan from the outside.
#include <algorithm>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using RunVerb = ProgramTest;
using PlanVerb = ProgramTest;

TEST_F(RunVerb, PrintsTheResultOnStandardOutputAndNothingElse) {
  write_small("s.yaml");
  const auto table = run("run s.yaml");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_EQ(table.err, "");
  EXPECT_THAT(table.out, testing::StartsWith("Small\n"));
  EXPECT_THAT(table.out, HasSubstr("\nThe step is limited by "));
  const json result = json::parse(run("run s.yaml --format json").out);
  EXPECT_EQ(result["schema"], "headway.run/1");
  EXPECT_EQ(result["status"], "ok");
  EXPECT_TRUE(result["campaign"].is_null());
}

TEST_F(RunVerb, BreakdownAndLedgerAddUp) {
  write_small("s.yaml",
              "run: {until: {steps: 20000}, failures: {use: llama-3-54-days}, trials: 4}\n");
  const json result = json::parse(run("run s.yaml --format json").out);
  double sum = 0;
  for (const auto& seconds : result["step"]["breakdown_s"]) {
    sum += seconds.get<double>();
  }
  EXPECT_NEAR(sum, result["step"]["time_s"].get<double>(), 1e-9 * sum);
  double ledger = 0;
  for (const auto& seconds : result["campaign"]["ledger_gpu_s"]) {
    ledger += seconds.get<double>();
  }
  // Without spares, all GPU time paid for is the wall clock of 16 GPUs.
  const double wall = result["campaign"]["wall_days"]["mean"].get<double>() * 86400 * 16;
  EXPECT_NEAR(ledger, wall, 1e-6 * wall);
}

TEST_F(RunVerb, ProgressGoesToStandardErrorOnlyIfAskedFor) {
  write_small("s.yaml");
  EXPECT_THAT(run("run s.yaml --progress plain").err, HasSubstr("simulating one step\n"));
  const auto progress = run("run s.yaml --progress json").err;
  EXPECT_EQ(json::parse(progress.substr(0, progress.find('\n')))["phase"], "reading s.yaml");
  EXPECT_EQ(run("run s.yaml --progress plain --quiet").err, "");
  // Shapes and operations of a search are no numbers of anything: a share, and what is left of it.
  const auto plan = run("plan s.yaml --top 2 --progress plain").err;
  EXPECT_THAT(plan, HasSubstr("searching layouts (1 of 4) 100 %"));
  EXPECT_THAT(plan, HasSubstr("simulating the best (2 of 4) 100 %"));
  EXPECT_THAT(plan, Not(HasSubstr("/1000")));
}

TEST_F(RunVerb, FormatsAgree) {
  write_small("s.yaml");
  const json result = json::parse(run("run s.yaml --format json").out);
  const std::string csv = run("run s.yaml --format csv").out;
  EXPECT_THAT(csv, HasSubstr("step.time_s," + result["step"]["time_s"].dump() + "\n"));
  EXPECT_THAT(run("run s.yaml --format md").out,
              HasSubstr("| quantity | predicted |\n|:---|---:|\n"));
  EXPECT_EQ(run("run s.yaml --format xml").code, 2);
}

TEST_F(RunVerb, TheEndingOfOutChoosesTheFormat) {
  write_small("s.yaml");
  ASSERT_EQ(run("run s.yaml --out r.json").code, 0);
  EXPECT_EQ(json::parse(read("r.json"))["schema"], "headway.run/1");
  ASSERT_EQ(run("run s.yaml --out t.json --format table").code, 0);
  EXPECT_THAT(read("t.json"), testing::StartsWith("Small\n"));
}

TEST_F(RunVerb, SeedAndThreadsAndFoldingChangeOnlyWhatTheyMay) {
  write_small("s.yaml",
              "run: {until: {steps: 20000}, failures: {use: llama-3-54-days}, trials: 4}\n");
  const auto result = [&](const std::string& options) {
    json all = json::parse(run("run s.yaml --format json " + options).out);
    all.erase("timing");
    return all;
  };
  const json one = result("--threads 1");
  EXPECT_EQ(result("--threads 2"), one);
  EXPECT_EQ(result("--fold off")["step"]["result_digest"], one["step"]["result_digest"]);
  const json other = result("--seed 2");
  EXPECT_EQ(other["scenario"]["seed"], 2);
  EXPECT_EQ(other["step"], one["step"]);
  EXPECT_NE(other["scenario"]["digest"], one["scenario"]["digest"]);
}

TEST_F(RunVerb, ScatteredNodesMeetMoreOftenInTheSpinesAndFoldToTheSameTicks) {
  write_small("s.yaml");
  const auto step = [&](const std::string& options) {
    const auto outcome = run(
        "run s.yaml --format json --set cluster.nodes=8 --set cluster.fabric.use=fat-tree-2-tier "
        "--set cluster.fabric.ports_per_leaf=16 --set cluster.fabric.leaf_oversubscription=4 " +
        options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out)["step"];
  };
  const json packed = step("");
  const json random = step("--set cluster.placement=random");
  EXPECT_GT(random["time_s"].get<double>(), packed["time_s"].get<double>());
  EXPECT_EQ(step("--set cluster.placement=random --fold off")["result_digest"],
            random["result_digest"]);
  EXPECT_NE(step("--set cluster.placement=random --seed 2")["result_digest"],
            random["result_digest"]);
  EXPECT_NE(step("--set cluster.placement=rack")["result_digest"], random["result_digest"]);
}

// Which cables collide is luck: the interval that is printed holds the steps of other seeds, and
// says how many hashes it looked at.
TEST_F(RunVerb, TheIntervalOfAHashedFabricCoversOtherHashes) {
  write_small("s.yaml");
  const auto result = [&](const std::string& options) {
    const auto outcome = run(
        "run s.yaml --format json --set cluster.nodes=8 --set cluster.fabric.use=fat-tree-2-tier "
        "--set cluster.fabric.routing=ecmp --set cluster.fabric.ports_per_leaf=16 " +
        options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  };
  const json one = result("");
  EXPECT_THAT(one["assumptions"].dump(), HasSubstr("one hash, drawn by run.seed; with 8 others"));
  for (const char* seed : {"--seed 2", "--seed 3"}) {
    const double other = result(seed)["step"]["time_s"];
    EXPECT_LE(one["step"]["time_interval_s"][0].get<double>(), other);
    EXPECT_GE(one["step"]["time_interval_s"][1].get<double>(), other);
  }
}

TEST_F(RunVerb, APlanThatDoesNotFitHasCodeThreeAndItsBytes) {
  write_small("s.yaml");
  const auto outcome = run("run s.yaml --format json --set 'cluster.node.gpu.memory=1 GiB'");
  EXPECT_EQ(outcome.code, 3);
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["status"], "infeasible");
  EXPECT_EQ(result["memory"]["capacity_bytes"], 1073741824.0);
  EXPECT_THAT(result["reasons"][0].get<std::string>(),
              HasSubstr(" GiB more than the 1.00 GiB of a GPU"));
  EXPECT_THAT(outcome.err, HasSubstr("infeasible: stage 0 needs"));
}

TEST_F(RunVerb, AnAssertionThatFailsHasCodeFour) {
  write_small("s.yaml", "assert: [\"step.mfu > 0.01\", \"step.time_s < 0\"]\n");
  const auto outcome = run("run s.yaml --format json");
  EXPECT_EQ(outcome.code, 4);
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["status"], "assert_failed");
  ASSERT_EQ(result["reasons"].size(), 1U);
  EXPECT_THAT(result["reasons"][0].get<std::string>(), HasSubstr("'step.time_s < 0' fails"));
}

TEST_F(RunVerb, AnAssertionThatIsNoneIsFoundBeforeAnythingIsSimulated) {
  write_small("s.yaml", "assert: [\"step.mfuu > 0.01\"]\n");
  const auto outcome = run("run s.yaml");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("s.yaml:11:"));
}

TEST_F(RunVerb, AnImpossibleClaimHasCodeThreeAndSaysWhatIsPossible) {
  // 405B on 10T tokens: 6 N D = 2.44e25 FLOP; 4,096 GPUs at 989.4 TFLOP/s in 50 days do 1.75e25:
  // 139 %.
  const auto outcome =
      run("run '" HEADWAY_ROOT
          "/configs/scenarios/claim-405b-4096-h100-50-days.yaml' --trials 2 --full");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("by 6ND alone, 139 % of the peak"));
  EXPECT_THAT(outcome.out, HasSubstr("150 % with attention at 8,192 tokens"));
  EXPECT_THAT(outcome.out, HasSubstr("Possible instead: "));
  EXPECT_THAT(outcome.out, HasSubstr("50.0 days ask for "));
}

TEST_F(PlanVerb, RanksPlansThatFitAndCountsTheRest) {
  write_small("s.yaml");
  const auto outcome = run("plan s.yaml --format json --top 4");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  ASSERT_EQ(result["plans"].size(), 4U);
  EXPECT_EQ(result["varied"][0]["key"], "parallelism.tensor");
  EXPECT_EQ(result["held"][0]["key"], "parallelism.expert");
  double previous = 0;
  for (const auto& plan : result["plans"]) {
    const auto& layout = plan["layout"];
    EXPECT_EQ(layout["tensor"].get<int>() * layout["context"].get<int>() *
                  layout["pipeline"].get<int>() * layout["data"].get<int>(),
              16);
    EXPECT_EQ(plan["memory"]["fits"], true);
    EXPECT_GE(plan["step"]["time_s"].get<double>(), previous);
    previous = plan["step"]["time_s"].get<double>();
  }
  std::int64_t rejected = 0;
  for (const auto& entry : result["rejected"]) {
    rejected += entry["count"].get<std::int64_t>();
  }
  EXPECT_EQ(rejected + result["simulated"].get<std::int64_t>(),
            result["enumerated"].get<std::int64_t>());
}

// 4,095 layers, each of which the bound of every shape runs over: minutes, unless less is varied.
TEST_F(PlanVerb, RefusesASpaceThatTakesTooLong) {
  write_small("s.yaml");
  const std::string large =
      "plan s.yaml --set model.layers=4095 --set training.global_batch=128 --set cluster.nodes=8 "
      "--set parallelism.pipeline=1";
  const auto whole = run(large);
  EXPECT_EQ(whole.code, 3);
  EXPECT_THAT(whole.err, HasSubstr("x 4,095 layers, more than takes some minutes"));
  EXPECT_THAT(whole.err, HasSubstr("--vary tensor,pipeline,micro_batch"));
  EXPECT_THAT(run(large + " --vary tensor,micro_batch").err, Not(HasSubstr("takes some minutes")));
}

TEST_F(PlanVerb, LooksAtSeveralClusterSizesWithinLimits) {
  write_small("s.yaml");
  const auto outcome = run("plan s.yaml --format json --top 2 --nodes 1,2,4 --limit gpus=16");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["objective"], "step");
  for (const auto& plan : result["plans"]) {
    EXPECT_LE(plan["gpus"].get<int>(), 16);
    EXPECT_NEAR(plan["estimated_step_s"].get<double>() / plan["step"]["time_s"].get<double>(), 1,
                0.05);
  }
  EXPECT_EQ(result["plans"][0]["pareto"], true);
  const bool refused = std::any_of(result["rejected"].begin(), result["rejected"].end(),
                                   [](const json& entry) { return entry["class"] == "gpus"; });
  EXPECT_TRUE(refused);
  EXPECT_THAT(run("plan s.yaml --limit deadline=34").err, HasSubstr("--limit deadline: "));
  EXPECT_THAT(run("plan s.yaml --limit speed=1").err, HasSubstr("write 'deadline=34 d'"));
}

// The complaint is of the campaign, which the search simulates long after the file was read.
TEST_F(PlanVerb, ACampaignThatCannotBeHasItsPlace) {
  write_small("s.yaml",
              "run:\n  until: {steps: 1e6}\n"
              "  failures: {use: llama-3-54-days, observed: {wall: 1e-3 ps}}\n");
  const auto outcome = run("plan s.yaml --top 1 --full");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("s.yaml:13:"));
}

TEST_F(PlanVerb, ExplainsAStepThatRunPredicts) {
  write_small("s.yaml");
  const auto outcome = run("run s.yaml --explain --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  double sum = result["explanation"]["rest_s"].get<double>();
  for (const auto& part : result["explanation"]["contributions"]) {
    sum += part["time_s"].get<double>();
  }
  EXPECT_NEAR(sum, result["step"]["time_s"].get<double>(), 1e-9);
  EXPECT_EQ(result["explanation"]["sensitivities"].size(), 8U);
  EXPECT_THAT(run("run s.yaml --explain").out, HasSubstr("What the step is made of"));
  EXPECT_FALSE(json::parse(run("run s.yaml --format json").out).contains("explanation"));
}

TEST_F(PlanVerb, DoesNotDependOnThreads) {
  write_small("s.yaml");
  json one = json::parse(run("plan s.yaml --format json --threads 1").out);
  json two = json::parse(run("plan s.yaml --format json --threads 2").out);
  one.erase("timing");
  two.erase("timing");
  EXPECT_EQ(one, two);
}

TEST_F(PlanVerb, NoPlanAtAllHasCodeThree) {
  write_small("s.yaml");
  const auto outcome = run("plan s.yaml --full --set 'cluster.node.gpu.memory=1 GiB'");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("No layout of this cluster fits"));
  EXPECT_THAT(outcome.out, HasSubstr("nearest: "));
}

TEST_F(PlanVerb, TakesSeveralObjectivesAndLimits) {
  write_small("s.yaml",
              "run:\n  until: {steps: 1000}\n  trials: 2\n"
              "  prices: {use: a100-80gb-on-demand-2026-05}\n");
  const std::string plan = "plan s.yaml --vary tensor,pipeline,micro_batch --format json ";
  const auto outcome = run(plan + "--objective energy,days --limit headroom=0.1");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["objective"], "energy");
  EXPECT_EQ(result["beside"], json::array({"days"}));
  EXPECT_EQ(result["plans"][0]["pareto"], true);
  EXPECT_EQ(run(plan + "--limit 'power=1 kW'").code, 3);
  EXPECT_THAT(run(plan + "--limit racks=4").err, HasSubstr("set run.recovery.rack_nodes"));
  const auto racks = run(plan +
                         "--set run.recovery.rack_nodes=2 --set cluster.spares=1 --limit "
                         "racks=1");
  EXPECT_EQ(racks.code, 3);
  EXPECT_THAT(racks.out, HasSubstr("take 2 racks of 2, the limit is 1"));
  EXPECT_EQ(run(plan + "--set run.recovery.rack_nodes=2 --limit racks=1").code, 0);
  EXPECT_THAT(run(plan + "--limit racks=some").err, HasSubstr("'racks=32'"));
  EXPECT_THAT(run(plan + "--limit headroom=2").err, HasSubstr("a share above 0 and below 1"));
  EXPECT_THAT(run(plan + "--limit headroom=0.01").err,
              HasSubstr("'0.01' is less than the 0.05 of a GPU's memory that stays free of every "
                        "plan; write 0.05 or more"));
  EXPECT_THAT(run(plan + "--objective speed").err, HasSubstr("--objective"));
}

// What is varied and held can be said in the file and on the command line.
TEST_F(PlanVerb, VariesWhatItIsAskedFor) {
  write_small("s.yaml", "search: {hold: [schedule, offload], tensor: [2, 4]}\n");
  const auto outcome = run("plan s.yaml --format json --all --simulate 30 --top 30");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["simulated"].get<int>() <= 31, true);
  for (const auto& plan : result["plans"]) {
    EXPECT_EQ(plan["layout"]["offload"], "none");
    EXPECT_EQ(plan["layout"]["schedule"], "1f1b");
    EXPECT_EQ(plan["variants"], 0);
  }
  const json few = json::parse(run("plan s.yaml --format json --vary tensor,pipeline").out);
  EXPECT_LT(few["enumerated"].get<int>(), 20);
  // Software that recomputes all layers or none gets no plan that recomputes some.
  EXPECT_THAT(
      run("plan s.yaml --vary tensor,recompute --set training.framework='{use: deepspeed}' --full")
          .out,
      testing::ContainsRegex("parallelism.recompute_layers +1\n"));
  // As its table calls them.
  EXPECT_EQ(run("plan s.yaml --vary tensor,first_stage_layers,last_stage_layers").code, 0);
  const auto text = run("plan s.yaml --hold recompute --verify 5 --full").out;
  EXPECT_THAT(text, HasSubstr("5 were drawn and simulated: none is faster"));
  EXPECT_THAT(text, testing::ContainsRegex("parallelism.tensor +2, 4\n"));
  // What the command line holds is held, whatever the file lists; a file says one or the other.
  const json held = json::parse(run("plan s.yaml --hold tensor --format json").out);
  for (const auto& plan : held["plans"]) {
    EXPECT_EQ(plan["layout"]["tensor"], 2);
  }
  write_small("both.yaml", "search: {hold: [tensor], tensor: [2, 4]}\n");
  EXPECT_THAT(run("plan both.yaml").err,
              HasSubstr("'tensor' is held, and search.tensor lists what to try"));
  EXPECT_THAT(run("plan s.yaml --hold tensr").err, HasSubstr("did you mean 'tensor'?"));
}

TEST_F(PlanVerb, SavesItsPlansAsScenarios) {
  write_small("s.yaml");
  const std::string hold = "plan s.yaml --hold schedule,offload,context,recompute ";
  const auto outcome = run(hold + "--top 2 --format json --save plans");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  const json again = json::parse(run("run plans/plan-1.yaml --format json").out);
  EXPECT_EQ(again["step"]["time_s"], result["plans"][0]["step"]["time_s"]);
  EXPECT_EQ(run("check plans/plan-2.yaml").code, 0);
  EXPECT_THAT(run(hold + "--save plans").err, HasSubstr("--force"));
  EXPECT_FALSE(exists("plans/plan-1.megatron.sh"));  // the generic software has no launch file
}

TEST_F(PlanVerb, MakesItsFolderOnlyWhereItHasPlans) {
  EXPECT_EQ(run("plan none.yaml --save deep/plans").code, 2);
  EXPECT_FALSE(exists("deep"));
  write_small("s.yaml");
  EXPECT_THAT(run("plan s.yaml --save s.yaml").err,
              HasSubstr("--save s.yaml: it is there and no folder; name another"));
  EXPECT_EQ(run("plan s.yaml --vary tensor --save deep/plans").code, 0);
  EXPECT_TRUE(exists("deep/plans/plan-1.yaml"));
  EXPECT_EQ(run("plan s.yaml --vary tensor --save p --report p/r.html --out p/x.json").code, 0);
  EXPECT_TRUE(exists("p/plan-1.yaml") && exists("p/r.html") && exists("p/x.json"));
}

TEST_F(PlanVerb, SavesLaunchFilesOfTheSoftware) {
  write_small("s.yaml");
  const std::string plan =
      "plan s.yaml --hold schedule,offload,context --top 2 --format csv --set "
      "training.framework=";
  const auto outcome = run(plan + "'{use: megatron-core}' --save plans");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("In plans: plan-1.yaml, plan-1.megatron.sh"));
  EXPECT_THAT(outcome.err, HasSubstr("plan-2.megatron.sh"));
  const std::string script = read("plans/plan-1.megatron.sh");
  EXPECT_THAT(script, HasSubstr("Written by headway plan: Small, plan 1, as plan-1.yaml."));
  // It is what `export` writes of the plan, but for its first line.
  const auto from = [](const std::string& text) { return text.substr(text.find("Left to you")); };
  const auto exported = run("export megatron plans/plan-1.yaml --quiet");
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_EQ(from(script), from(exported.out));
  ASSERT_EQ(run(plan + "'{use: torchtitan}' --save titan --quiet").code, 0);
  EXPECT_THAT(read("titan/plan-1.torchtitan.toml"), HasSubstr("[parallelism]"));
}

// Stages of several chunks are interleaved where the schedule is 1f1b, and that is what is said.
TEST_F(RunVerb, SaysTheScheduleThatRuns) {
  write_small("s.yaml");
  EXPECT_THAT(run("run s.yaml --set parallelism.pipeline=2 --set parallelism.virtual=2").out,
              HasSubstr("interleaved,"));
  EXPECT_THAT(run("run s.yaml --set parallelism.pipeline=2").out, HasSubstr("1f1b,"));
}

// Trials that are all alike do not tell how well their mean is known; a single node is one node.
TEST_F(RunVerb, TrialsThatDoNotDifferAreSaid) {
  write_small("s.yaml", "run: {until: {steps: 100}, mean_within: 0.01}\n");
  const auto warnings = [&](const std::string& more) {
    return nlohmann::json::parse(run("run s.yaml --format json" + more).out)["warnings"].dump();
  };
  EXPECT_THAT(warnings(""), HasSubstr("none of the 200 trials differs from another"));
  EXPECT_THAT(warnings(""), HasSubstr("without 'failures' under run nothing is drawn"));
  EXPECT_THAT(warnings(" --set 'run.failures={use: llama-3-54-days}'"),
              HasSubstr("what fails is too seldom to be met in them"));
  EXPECT_THAT(warnings(" --set 'run.until={wall: 1 s}'"),
              AllOf(HasSubstr("none of the 200 trials differs from another"),
                    HasSubstr("no step of any becomes durable"), Not(HasSubstr("nan"))));
  EXPECT_THAT(run("run s.yaml --set cluster.nodes=1").out, HasSubstr("1 node of DGX H100"));
}

// Where the wall clock ends the run, what would help brings steps, not days.
TEST_F(RunVerb, AdviceOnARunOfSoManyDaysIsInSteps) {
  write_small(
      "s.yaml",
      "run: {until: {wall: 30 d}, trials: 8, checkpoint: {interval: 12 h, mode: sync},\n"
      "      failures: {name: f, hazards: [{name: g, component: gpu, per: node, mtbf: 4 d}]}}\n");
  const auto outcome = run("run s.yaml");
  EXPECT_THAT(outcome.out, HasSubstr(" steps more ("));
  EXPECT_THAT(outcome.out, Not(HasSubstr("days less")));
}

}  // namespace
}  // namespace headway::apps
