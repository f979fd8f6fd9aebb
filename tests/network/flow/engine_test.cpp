// Small runs whose every tick can be written down: programs, groups, accounts, faults, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/network/flow/problem.h"

namespace headway::network {
namespace {

using core::Activity;
using core::Bytes;
using core::BytesPerSecond;
using ::testing::AllOf;
using ::testing::HasSubstr;

ProgramStep compute(core::Tick ticks) {
  return {StepCode::compute, Activity::compute, 0, 0, ticks};
}
ProgramStep arrive(std::uint32_t slot) { return {StepCode::arrive, Activity::other, 0, slot, 0}; }
ProgramStep wait(std::uint32_t slot) { return {StepCode::wait, Activity::other, 0, slot, 0}; }
ProgramStep loop(std::int64_t count) { return {StepCode::loop, Activity::other, 0, 0, count}; }
ProgramStep end_loop() { return {StepCode::end_loop, Activity::other, 0, 0, 0}; }

constexpr BytesPerSecond kRate{1e12};  // one byte a tick
constexpr BytesPerSecond kNoBound{0};

/// A sender, a receiver and a message of 1000 B over one link with 50 ticks of latency.
Problem message(Activity activity) {
  Problem p;
  p.names = {"", "message"};
  p.links = {{kRate}};
  p.uses = {{0, 1}};
  p.flows = {{0, Bytes(1000), 50, kNoBound, 1, 0, 1, 1}};
  p.groups = {{1, 0, 0, 1, activity, 1, 1}};
  p.programs = {{compute(200), arrive(0)}, {wait(0), compute(30)}};
  p.actors = {{0, 0, 0, {0}, 1}, {1, 0, 0, {0}, 1}};
  return p;
}

RunOptions plain() { return {false, false, false, {}}; }

TEST(Engine, DeliversAMessageAfterLatencyAndTransfer) {
  const RunResult result = run(message(Activity::data), plain());
  EXPECT_EQ(result.actor_end[0], 200);
  EXPECT_EQ(result.actor_end[1], 200 + 50 + 1000 + 30);
  EXPECT_EQ(result.end, 1280);
  EXPECT_EQ(result.link_bytes[0], 1000);
}

TEST(Engine, TellsTheRatesOfFlowsWhereAsked) {
  RunOptions options = plain();
  EXPECT_TRUE(run(message(Activity::data), options).rates.empty());
  options.rates = true;
  const RunResult result = run(message(Activity::data), options);
  ASSERT_EQ(result.rates.size(), 2U);
  EXPECT_EQ(result.rates[0].at, 250);
  EXPECT_EQ(result.rates[0].flow, 0U);
  EXPECT_DOUBLE_EQ(result.rates[0].rate.si(), kRate.si());
  EXPECT_EQ(result.rates[1].at, 1250);
  EXPECT_EQ(result.rates[1].rate.si(), 0);
  EXPECT_EQ(result.class_of_flow, std::vector<std::uint32_t>{0});
  EXPECT_EQ(result.result_digest, run(message(Activity::data), plain()).result_digest);
}

/// So many copies of a message, each over a link of its own.
Problem messages(std::uint32_t copies) {
  const Problem one = message(Activity::data);
  Problem p = one;
  p.actors.clear();
  p.groups.clear();
  p.flows.clear();
  p.uses.clear();
  p.links.clear();
  for (std::uint32_t i = 0; i < copies; ++i) {
    p.links.push_back(one.links[0]);
    p.uses.push_back({i, 1});
    p.flows.push_back(one.flows[0]);
    p.flows.back().group = p.flows.back().first_use = i;
    p.groups.push_back(one.groups[0]);
    p.groups.back().first_flow = i;
    for (Actor actor : one.actors) {
      actor.groups = {i};
      p.actors.push_back(actor);
    }
  }
  return p;
}

// Six messages that are alike are one class, whose rate stands for each.
TEST(Engine, FoldedRatesAreOfClasses) {
  RunOptions options;
  options.rates = true;
  const RunResult result = run(messages(6), options);
  ASSERT_EQ(result.classes, 2U);
  EXPECT_EQ(result.class_of_flow, std::vector<std::uint32_t>(6, 0));
  ASSERT_EQ(result.rates.size(), 2U);
  EXPECT_DOUBLE_EQ(result.rates[0].rate.si(), kRate.si());
}

// A link that changes in mid-run, folded: nothing is lost where the classes are split.
TEST(Engine, RatesFollowALinkThatChanges) {
  Problem p = messages(6);
  p.link_changes = {{750, 2, BytesPerSecond(kRate.si() / 2)}};
  RunOptions options;
  options.rates = true;
  const RunResult result = run(p, options);
  const std::uint32_t slow = result.class_of_flow[2];
  double bytes = 0;
  double rate = 0;
  core::Tick at = 0;
  for (const RateEntry& entry : result.rates) {
    if (entry.flow == slow) {
      bytes += rate * 1e-12 * static_cast<double>(entry.at - at);
      at = entry.at;
      rate = entry.rate.si();
    }
  }
  EXPECT_NEAR(bytes, 1000, 1e-6) << "500 B at one byte a tick, 500 at half of it";
  EXPECT_EQ(at, 1750);
  EXPECT_NE(result.class_of_flow[0], slow);
}

// Two actors meet 40,000 times, at two ticks a time: more than the 2^15 ticks between two reports.
TEST(Engine, TellsHowFarItIs) {
  Problem p;
  p.names = {"", "meeting"};
  p.groups = {{2, 10, 0, 0, Activity::data, 1, 1}};
  p.programs = {{}, {}};
  for (int meeting = 0; meeting < 40000; ++meeting) {
    for (std::size_t actor = 0; actor < 2; ++actor) {
      p.programs[actor].insert(p.programs[actor].end(),
                               {compute(actor == 0 ? 100 : 150), arrive(0), wait(0)});
    }
  }
  p.actors = {{0, 0, 0, {0}, 1}, {1, 0, 0, {0}, 1}};
  std::vector<double> told;
  RunOptions options = plain();
  options.progress = [&](double share) { told.push_back(share); };
  run(p, options);
  ASSERT_GE(told.size(), 3U);
  EXPECT_LT(told.front(), 0.001);
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_GT(told[i], told[i - 1]);
  }
  EXPECT_LE(told.back(), 1);
}

TEST(Engine, BooksWaitingForANeighbourToTheBubbleUntilItSends) {
  const RunResult result = run(message(Activity::pipeline_p2p), plain());
  EXPECT_EQ(result.actor_activity[1][Activity::pipeline_bubble], 200);
  EXPECT_EQ(result.actor_activity[1][Activity::pipeline_p2p], 1050);
  EXPECT_EQ(result.actor_activity[1][Activity::compute], 30);
}

TEST(Engine, BooksWaitingForACollectiveToItsOwnActivity) {
  const RunResult result = run(message(Activity::data), plain());
  EXPECT_EQ(result.actor_activity[1][Activity::data], 1250);
  EXPECT_EQ(result.actor_activity[1][Activity::pipeline_bubble], 0);
}

TEST(Engine, TracesComputesAndBlockingWaits) {
  RunOptions options = plain();
  options.trace = true;
  const RunResult result = run(message(Activity::data), options);
  ASSERT_EQ(result.trace.size(), 3U);
  const TraceEntry& waited = result.trace[1];
  EXPECT_EQ(waited.actor, 1U);
  EXPECT_EQ(waited.begin, 0);
  EXPECT_EQ(waited.launched, 200);
  EXPECT_EQ(waited.end, 1250);
  EXPECT_EQ(waited.last_arriver, 0U);
}

TEST(Engine, SlowsAStragglersComputeOnly) {
  Problem p = message(Activity::data);
  p.actors[0].slowdown_ppm = 100'000;  // 10 %
  EXPECT_EQ(run(p, plain()).end, 1300);
}

// Two messages are posted at tick 0; the second transfer of a group starts when the first is
// complete.
TEST(Engine, RunsInstancesOfAGroupInOrder) {
  Problem p = message(Activity::data);
  p.programs = {{arrive(0), arrive(0)}, {wait(0), wait(0)}};
  EXPECT_EQ(run(p, plain()).end, 2 * 1050);
}

TEST(Engine, LetsASenderRunAheadAsFarAsItLikes) {
  Problem p = message(Activity::data);
  p.programs = {{loop(100), arrive(0), end_loop()}, {loop(100), wait(0), end_loop()}};
  EXPECT_EQ(run(p, plain()).end, 100 * 1050);
}

// Two flows share the link: 1000 B and 3000 B at half a byte a tick, then the second alone:
// 2000 ticks for the first, 2000 + 2000 for the second.
TEST(Engine, SharesALinkAndGivesItBack) {
  Problem p = message(Activity::data);
  p.uses = {{0, 1}, {0, 1}};
  p.flows = {{0, Bytes(1000), 0, kNoBound, 1, 0, 1, 1}, {1, Bytes(3000), 0, kNoBound, 1, 1, 1, 1}};
  p.groups = {{1, 0, 0, 1, Activity::data, 0, 1}, {1, 0, 1, 1, Activity::data, 0, 1}};
  p.programs = {{arrive(0), wait(0)}};
  p.actors = {{0, 0, 0, {0}, 1}, {0, 0, 0, {1}, 1}};
  const RunResult result = run(p, plain());
  EXPECT_EQ(result.actor_end[0], 2000);
  EXPECT_EQ(result.actor_end[1], 4000);
}

// Weights 3 and 1: the first flow has three quarters of the link, 1500 B in 2000 ticks.
TEST(Engine, SharesByWeight) {
  Problem p = message(Activity::data);
  p.uses = {{0, 1}, {0, 1}};
  p.flows = {{0, Bytes(1500), 0, kNoBound, 3, 0, 1, 1}, {0, Bytes(500), 0, kNoBound, 1, 1, 1, 1}};
  p.groups = {{1, 0, 0, 2, Activity::data, 0, 1}};
  p.programs = {{arrive(0), wait(0)}};
  p.actors = {{0, 0, 0, {0}, 1}};
  EXPECT_EQ(run(p, plain()).end, 2000);
}

TEST(Engine, HoldsAFlowToItsBound) {
  Problem p = message(Activity::data);
  p.flows[0].bound = kRate / 4;
  EXPECT_EQ(run(p, plain()).end, 200 + 50 + 4000 + 30);
}

// Coefficient 3 in units of 1/2: the flow takes 1.5 times its rate.
TEST(Engine, TakesALinkByItsCoefficient) {
  Problem p = message(Activity::data);
  p.coefficient_unit = 2;
  p.uses[0].coefficient = 3;
  EXPECT_EQ(run(p, plain()).end, 200 + 50 + 1500 + 30);
}

// Down from tick 450 to 1450, when 200 of 1000 B had passed; half speed from there on.
TEST(Engine, StallsOnALinkThatIsDownAndGoesOnWhenItIsBack) {
  Problem p = message(Activity::data);
  p.link_changes = {{450, 0, BytesPerSecond(0)}, {1450, 0, kRate / 2}};
  EXPECT_EQ(run(p, plain()).end, 1450 + 2 * 800 + 30);
}

TEST(Engine, CompletesAGroupWithoutFlowsAfterItsDelay) {
  Problem p = message(Activity::tensor);
  p.flows.clear();
  p.uses.clear();
  p.groups = {{2, 70, 0, 0, Activity::tensor, 1, 1}};
  p.programs = {{compute(200), arrive(0), wait(0)}, {compute(100), arrive(0), wait(0)}};
  const RunResult result = run(p, plain());
  EXPECT_EQ(result.end, 270);
  EXPECT_EQ(result.actor_activity[1][Activity::tensor], 170);
}

TEST(Engine, SkipsALoopOfNoIterations) {
  Problem p = message(Activity::data);
  p.programs = {{loop(0), compute(7), end_loop(), compute(200), arrive(0)}, {wait(0), compute(30)}};
  EXPECT_EQ(run(p, plain()).end, 1280);
}

TEST(Engine, RunsNestedLoops) {
  Problem p;
  p.programs = {{loop(3), compute(10), loop(4), compute(1), end_loop(), end_loop()}};
  p.actors = {{0, 0, 0, {}, 1}};
  EXPECT_EQ(run(p, plain()).end, 3 * (10 + 4));
}

std::string failure_of(const Problem& problem) {
  try {
    run(problem, {});
  } catch (const core::InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(Engine, NamesAReceiveThatNobodySends) {
  Problem p = message(Activity::data);
  p.programs[0] = {compute(200)};
  EXPECT_THAT(failure_of(p), AllOf(HasSubstr("actor 1 (program 1, step 0)"),
                                   HasSubstr("group 0 'message'"), HasSubstr("(0 of 1 arrived)")));
}

TEST(Engine, NamesATransferThatOnlySomeJoin) {
  Problem p = message(Activity::data);
  p.groups[0].need = 2;
  p.programs = {{arrive(0), arrive(0)}, {arrive(0), compute(30)}};
  EXPECT_THAT(failure_of(p), AllOf(HasSubstr("instance 1 of group 0 'message' was never launched"),
                                   HasSubstr("(1 of 2 arrived)")));
}

TEST(Engine, NamesATransferOverADeadLink) {
  Problem p = message(Activity::data);
  p.links[0].capacity = BytesPerSecond(0);
  EXPECT_THAT(failure_of(p), HasSubstr("was launched and never completes"));
}

TEST(Engine, RefusesAGroupWhoseArriversAreNotCounted) {
  Problem p = message(Activity::data);
  p.groups[0].need = 2;
  EXPECT_THAT(failure_of(p), HasSubstr("needs 2 arrivals and 1 (actor, slot) pairs arrive at it"));
}

TEST(Engine, RefusesLoopsThatDoNotMatch) {
  Problem p = message(Activity::data);
  p.programs[0] = {end_loop()};
  EXPECT_THAT(failure_of(p), HasSubstr("ends a loop that never began"));
}

}  // namespace
}  // namespace headway::network
