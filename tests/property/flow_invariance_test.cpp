// What must not change a result: names of things. What every solve must keep: the rates of a full
// one.
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/network/flow/engine.h"

#include "tests/network/patterns/patterns.h"
#include "tests/property/flow_random_problem.h"

namespace headway::network {
namespace {

const RunOptions kPlain{false, false, false, false};

std::vector<std::uint32_t> shuffled(std::size_t count, testing::Draw& draw) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (auto i = static_cast<std::uint32_t>(count); i > 1; --i) {
    std::swap(order[i - 1], order[draw.below(i)]);
  }
  return order;
}

/// The same problem with actors and links in another order.
Problem renamed(const Problem& problem, std::uint64_t seed) {
  testing::Draw draw(seed);
  const std::vector<std::uint32_t> link = shuffled(problem.links.size(), draw);
  const std::vector<std::uint32_t> actor = shuffled(problem.actors.size(), draw);
  Problem other = problem;
  for (std::size_t l = 0; l < link.size(); ++l) {
    other.links[link[l]] = problem.links[l];
  }
  for (std::size_t a = 0; a < actor.size(); ++a) {
    other.actors[actor[a]] = problem.actors[a];
  }
  for (FlowOnLink& use : other.uses) {
    use.link = link[use.link];
  }
  for (LinkChange& change : other.link_changes) {
    change.link = link[change.link];
  }
  return other;
}

TEST(Renaming, ChangesNoTick) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::RandomProblem(seed).build();
    const RunResult one = run(problem, kPlain);
    const RunResult other = run(renamed(problem, seed), kPlain);
    EXPECT_EQ(one.end, other.end);
    EXPECT_EQ(one.result_digest, other.result_digest);
  }
}

// A traced run and one that nobody watches are the same run.
TEST(Tracing, ChangesNoTickNoAccountAndNoEvent) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::RandomProblem(seed).build();
    const RunResult plain = run(problem, {false, false, false, false});
    const RunResult traced = run(problem, {false, true, false, false});
    EXPECT_EQ(plain.actor_end, traced.actor_end);
    EXPECT_EQ(plain.event_digest, traced.event_digest);
    EXPECT_EQ(plain.result_digest, traced.result_digest);
    EXPECT_EQ(plain.events, traced.events);
    for (std::size_t actor = 0; actor < plain.actor_activity.size(); ++actor) {
      EXPECT_EQ(plain.actor_activity[actor].values, traced.actor_activity[actor].values);
    }
  }
}

/// The ranks of each node also meet among themselves at some places of their programs, up to three
/// times in a row; then some of them are slower.
void add_meetings(Problem& problem, std::uint64_t seed) {
  testing::Draw draw(seed);
  std::map<std::uint32_t, std::uint32_t> meeting_of;  // by the group of the node
  const auto slot = static_cast<std::uint32_t>(problem.actors.front().groups.size());
  const core::Tick delay = core::Tick{1000} * draw.below(4) * draw.below(1000);
  for (Actor& actor : problem.actors) {
    const auto next = static_cast<std::uint32_t>(problem.groups.size());
    const auto [meeting, is_new] = meeting_of.try_emplace(actor.groups.front(), next);
    if (is_new) {
      problem.groups.push_back({0, delay, static_cast<std::uint32_t>(problem.flows.size()), 0,
                                core::Activity::tensor, 0, 1});
    }
    ++problem.groups[meeting->second].need;
    actor.groups.push_back(meeting->second);
  }
  const Program before = problem.programs[0];
  std::vector<std::uint32_t> meetings;
  for (std::size_t i = 0; i < before.size(); ++i) {
    meetings.push_back(draw.chance(40) ? 1 + draw.below(3) : 0);
  }
  for (Program& program : problem.programs) {
    Program with;
    for (std::size_t i = 0; i < program.size(); ++i) {
      for (std::uint32_t m = 0; m < meetings[i]; ++m) {
        with.insert(with.end(),
                    {{StepCode::compute, core::Activity::compute, 0, 0, 3000 + 7 * core::Tick{m}},
                     {StepCode::arrive, core::Activity::other, 0, slot, 0},
                     {StepCode::wait, core::Activity::other, 0, slot, 0}});
      }
      with.push_back(program[i]);
    }
    program = std::move(with);
  }
}

// Who tells others ahead of the clock, and who does what it does alike with others, does it at the
// ticks of a run in which every arrival has its own event (a traced one).
TEST(Tracing, ChangesNothingOfMeetings) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = testing::RandomProblem(seed).build();
    add_meetings(problem, seed);
    RunOptions options{false, false, false, false};
    options.paths = true;
    const RunResult plain = run(problem, options);
    options.trace = true;
    const RunResult traced = run(problem, options);
    ASSERT_EQ(plain.actor_end, traced.actor_end);
    ASSERT_EQ(plain.end, traced.end);
    ASSERT_EQ(plain.event_digest, traced.event_digest);
    ASSERT_EQ(plain.result_digest, traced.result_digest);
    ASSERT_EQ(plain.events, traced.events);
    ASSERT_EQ(plain.link_bytes, traced.link_bytes);
    for (std::size_t actor = 0; actor < plain.actor_activity.size(); ++actor) {
      ASSERT_EQ(plain.actor_activity[actor].values, traced.actor_activity[actor].values);
      ASSERT_EQ(plain.paths[actor].times.values, traced.paths[actor].times.values);
    }
  }
}

// Hundreds of flows that end one by one: each end frees a chain of others, which the tight rule
// follows.
TEST(FairShare, FollowsEveryEndOfAPermutationAsAFullSolveWould) {
  for (const std::uint32_t tiers : {2U, 3U}) {
    patterns::Permutation shape;
    shape.hosts = 512;
    shape.tiers = tiers;
    shape.radix = 8;
    shape.equal_sizes = false;
    const Problem problem = patterns::permutation(shape);
    Engine engine(problem, kPlain);
    engine.check_every_solve();
    const RunResult result = engine.run();
    EXPECT_GT(result.events, 500U);
    // A flow alone takes at most 1.5 x 100 MB / 50 GB/s = 3 ms; collisions stretch the last.
    EXPECT_GT(result.end, 3'000'000'000);
  }
}

// Conservation: links carry what flows send, coefficient by coefficient, and nothing faster than
// they can.
TEST(Links, CarryAllBytesAndNoMoreThanTheirCapacity) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::RandomProblem(seed).build();
    const RunResult result = run(problem, {});
    for (std::size_t l = 0; l < problem.links.size(); ++l) {
      double most = problem.links[l].capacity.si();
      for (const LinkChange& change : problem.link_changes) {
        most = change.link == l ? std::max(most, change.capacity.si()) : most;
      }
      EXPECT_LE(result.link_bytes[l],
                most * static_cast<double>(result.end) * 1e-12 * (1 + 1e-9) + 1);
    }
  }
}

}  // namespace
}  // namespace headway::network
