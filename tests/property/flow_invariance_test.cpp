// What must not change a result: names of things. What every solve must keep: the rates of a full
// one.
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "sim/network/flow/engine.h"
#include "sim/network/patterns/patterns.h"

#include "tests/property/flow_random_problem.h"

namespace headway::network {
namespace {

const RunOptions kPlain{false, false, false};

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
