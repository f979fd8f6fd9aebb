// Folded and unfolded runs of random problems give the same ticks; incremental and full solves the
// same bits.
#include <cstdlib>
#include <gtest/gtest.h>

#include "sim/network/flow/engine.h"
#include "sim/network/fold/fold.h"

#include "tests/network/patterns/patterns.h"
#include "tests/property/flow_random_problem.h"

namespace headway::network {
namespace {

/// HEADWAY_PROPERTY_SCALE=50 makes the nightly run fifty times as many cases.
std::uint64_t cases(std::uint64_t usual) {
  const char* scale = std::getenv("HEADWAY_PROPERTY_SCALE");
  return scale == nullptr ? usual : usual * std::strtoull(scale, nullptr, 10);
}

RunOptions options(bool fold, bool skip_repeats) {
  RunOptions o;
  o.fold = fold;
  o.skip_repeats = skip_repeats;
  return o;
}

/// Every actor's end and accounts, every operation's ticks (digest), every link's bytes.
void expect_equal_runs(const RunResult& a, const RunResult& b) {
  ASSERT_EQ(a.class_of_actor.size(), b.class_of_actor.size());
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.result_digest, b.result_digest);
  for (std::size_t i = 0; i < a.class_of_actor.size(); ++i) {
    const std::uint32_t x = a.class_of_actor[i];
    const std::uint32_t y = b.class_of_actor[i];
    ASSERT_EQ(a.actor_end[x], b.actor_end[y]) << "actor " << i;
    ASSERT_EQ(a.actor_activity[x], b.actor_activity[y]) << "actor " << i;
  }
  for (std::size_t l = 0; l < a.link_bytes.size(); ++l) {
    ASSERT_NEAR(a.link_bytes[l], b.link_bytes[l], 1e-9 * a.link_bytes[l]) << "link " << l;
  }
}

TEST(Folding, GivesTheTicksOfTheWholeProblem) {
  std::size_t folded = 0;
  for (std::uint64_t seed = 0; seed < cases(2000); ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::RandomProblem(seed).build();
    const RunResult whole = run(problem, options(false, false));
    const RunResult quotient = run(problem, options(true, false));
    ASSERT_NO_FATAL_FAILURE(expect_equal_runs(whole, quotient));
    folded += fold(problem).folded ? 1 : 0;
  }
  EXPECT_GT(folded, 500U);  // the test is about problems that fold
}

TEST(SkippingRepeats, GivesTheTicksOfEveryIteration) {
  std::uint64_t skipped = 0;
  for (std::uint64_t seed = 0; seed < cases(250); ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = testing::RandomProblem(seed).build();
    for (Program& program : problem.programs) {
      for (ProgramStep& step : program) {
        step.ticks *= step.code == StepCode::loop ? 20 : 1;
      }
    }
    const RunResult every = run(problem, options(false, false));
    const RunResult jumped = run(problem, options(false, true));
    ASSERT_NO_FATAL_FAILURE(expect_equal_runs(every, jumped));
    EXPECT_EQ(every.event_digest, jumped.event_digest);
    EXPECT_EQ(every.events, jumped.events + jumped.skipped_events);
    skipped += jumped.skipped_events;
    ASSERT_NO_FATAL_FAILURE(expect_equal_runs(every, run(problem, options(true, true))));
  }
  EXPECT_GT(skipped, 100'000U);  // the test is about runs that repeat
}

// The chain of causes behind every actor passes from one to the other, loop by loop.
TEST(SkippingRepeats, GivesThePathsOfEveryIteration) {
  std::uint64_t skipped = 0;
  for (std::uint64_t seed = 0; seed < cases(250); ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = testing::RandomProblem(seed).build();
    for (Program& program : problem.programs) {
      for (ProgramStep& step : program) {
        step.ticks *= step.code == StepCode::loop ? 20 : 1;
      }
    }
    RunOptions with_paths = options(false, false);
    with_paths.paths = true;
    const RunResult every = run(problem, with_paths);
    with_paths.skip_repeats = true;
    const RunResult jumped = run(problem, with_paths);
    ASSERT_NO_FATAL_FAILURE(expect_equal_runs(every, jumped));
    ASSERT_EQ(every.paths.size(), jumped.paths.size());
    for (std::size_t actor = 0; actor < every.paths.size(); ++actor) {
      ASSERT_EQ(every.paths[actor].times, jumped.paths[actor].times) << "actor " << actor;
    }
    skipped += jumped.skipped_events;
  }
  EXPECT_GT(skipped, 50'000U);
}

TEST(FairShare, IncrementalRatesEqualAFullSolveBitForBit) {
  for (std::uint64_t seed = 0; seed < cases(1000); ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::RandomProblem(seed).build();
    Engine engine(problem, options(false, false));
    engine.check_every_solve();
    EXPECT_NO_THROW(engine.run());
  }
}

/// A ring or all-to-all over a tree of any size, with slow hosts, slow and changing links, and
/// hosts out of order.
Problem random_collective(std::uint64_t seed) {
  testing::Draw draw(seed);
  patterns::FatTree tree;
  tree.hosts_per_leaf = 2 + draw.below(15);
  tree.hosts = 2 + draw.below(100);
  const core::Bytes size(draw.chance(50) ? 1 << 20 : 1'000'000 + draw.below(9'000'000));
  Problem problem;
  if (draw.chance(25)) {
    tree.hosts = 2 + draw.below(30);
    problem = patterns::all_to_all(tree, size);
  } else {
    problem = patterns::ring_all_reduce(
        tree, size,
        draw.chance(50) ? patterns::Dependency::blocking : patterns::Dependency::pipelined);
  }
  for (Program& program : problem.programs) {
    program.insert(program.begin(), {StepCode::compute, core::Activity::compute, 0, 0, 1'000'000});
  }
  const auto links = static_cast<std::uint32_t>(problem.links.size());
  if (draw.chance(30)) {
    problem.actors[draw.below(tree.hosts)].slowdown_ppm = 1 + draw.below(2'000'000);
  }
  if (draw.chance(30)) {
    problem.links[draw.below(links)].capacity /= 2;
  }
  if (draw.chance(20)) {
    problem.link_changes.push_back({core::Tick{1'000'000} * draw.below(1000), draw.below(links),
                                    core::BytesPerSecond(1e9 * draw.below(60) + 1e9)});
  }
  for (std::uint32_t swaps = draw.chance(20) ? draw.below(4) : 0; swaps > 0; --swaps) {
    // Two hosts change places: their links swap under all routes.
    const std::uint32_t a = draw.below(tree.hosts);
    const std::uint32_t b = draw.below(tree.hosts);
    for (FlowOnLink& use : problem.uses) {
      use.link = use.link == a ? b : use.link == b ? a : use.link;
    }
  }
  return problem;
}

TEST(Folding, GivesTheTicksOfEveryMessageOfACollective) {
  for (std::uint64_t seed = 0; seed < cases(150); ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = random_collective(seed);
    const RunResult every = run(problem, options(false, false));
    ASSERT_NO_FATAL_FAILURE(expect_equal_runs(every, run(problem, options(true, false))));
    ASSERT_NO_FATAL_FAILURE(expect_equal_runs(every, run(problem, options(true, true))));
  }
}

/// A 1F1B step with stragglers, slow NICs, ranks of odd size and links that fail, degrade and come
/// back at any tick, often several at one tick.
Problem random_faults(std::uint64_t seed) {
  testing::Draw draw(seed);
  patterns::TrainingStep shape;
  shape.tensor = 1 + draw.below(4);
  shape.stages = 1 + draw.below(4);
  shape.replicas = 2 + draw.below(7);
  shape.micro_batches = 4 + draw.below(12);
  Problem problem = patterns::training_step(shape);
  const auto links = static_cast<std::uint32_t>(problem.links.size());
  const auto actors = static_cast<std::uint32_t>(problem.actors.size());
  for (std::uint32_t i = draw.below(3); i > 0; --i) {
    problem.actors[draw.below(actors)].slowdown_ppm = 1000 * draw.below(300);
  }
  if (draw.chance(30)) {
    problem.links[draw.below(links)].capacity /= 3;
  }
  const core::Tick end = run(problem, options(true, true)).end;
  const std::uint32_t changes = 1 + draw.below(draw.chance(10) ? 40 : 6);
  for (std::uint32_t i = 0; i < changes; ++i) {
    const core::Tick at = draw.chance(25) && i > 0
                              ? problem.link_changes.back().at
                              : end / 1000 * static_cast<core::Tick>(draw.below(1100));
    const bool down = draw.chance(20);
    const std::uint32_t link = draw.below(links);
    problem.link_changes.push_back(
        {at, link, core::BytesPerSecond(down ? 0 : 1e9 * (1 + draw.below(50)))});
    if (down) {
      problem.link_changes.push_back({at + end / 20, link, core::BytesPerSecond(50e9)});
    }
  }
  return problem;
}

TEST(Unfolding, AtEveryFaultGivesTheTicksOfTheWholeProblem) {
  std::size_t coarser = 0;
  for (std::uint64_t seed = 0; seed < cases(150); ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = random_faults(seed);
    const RunResult whole = run(problem, options(false, false));
    for (const bool skip : {false, true}) {
      const RunResult unfolded = run(problem, options(true, skip));
      ASSERT_NO_FATAL_FAILURE(expect_equal_runs(whole, unfolded));
      coarser += unfolded.events + unfolded.skipped_events < whole.events / 2 ? 1 : 0;
    }
  }
  EXPECT_GT(coarser, 50U);  // the test is about runs that stay folded
}

TEST(Unfolding, SplitsOnlyWhatTheFaultTouchesAndOnlyFromThenOn) {
  // 4 stages x 8 replicas x 8 ranks; the NIC of one rank fails half-way. Before, there are 4
  // classes; after, the rank's stage is apart within its replica and so is what it meets.
  patterns::TrainingStep shape;
  shape.stages = 4;
  shape.replicas = 8;
  shape.micro_batches = 32;
  Problem problem = patterns::training_step(shape);
  const RunResult healthy = run(problem, options(true, false));
  ASSERT_EQ(healthy.classes, 4U);
  problem.link_changes = {{healthy.end / 2, 2 * 100, core::BytesPerSecond(1e9)}};
  const RunResult faulty = run(problem, options(true, false));
  const Folding from_the_start = fold(problem);
  const std::uint64_t all_the_time =
      Engine(from_the_start.problem, options(false, false)).run().events;
  EXPECT_GT(faulty.classes, 4U);
  EXPECT_EQ(faulty.classes, from_the_start.problem.actors.size());
  EXPECT_LT(faulty.events, all_the_time * 3 / 4);
  ASSERT_NO_FATAL_FAILURE(expect_equal_runs(run(problem, options(false, false)), faulty));
}

// A straggler, a slow NIC, and a NIC that fails and comes back in mid-step, in a 1F1B step.
TEST(Folding, GivesTheTicksOfATrainingStep) {
  patterns::TrainingStep shape;
  shape.stages = 4;
  shape.replicas = 8;
  shape.micro_batches = 12;
  const auto whole_equals_folded = [](const Problem& problem, std::size_t most_classes) {
    const RunResult every = run(problem, options(false, false));
    const RunResult folded = run(problem, options(true, true));
    EXPECT_LE(folded.classes, most_classes);
    expect_equal_runs(every, folded);
  };
  Problem problem = patterns::training_step(shape);
  whole_equals_folded(problem, 4);
  problem.actors[37].slowdown_ppm = 50'000;
  whole_equals_folded(problem, 16);
  problem.links[2 * 100].capacity /= 2;
  whole_equals_folded(problem, 40);
  problem.link_changes = {{20'000'000'000, 2 * 50, core::BytesPerSecond(0)},
                          {45'000'000'000, 2 * 50, core::BytesPerSecond(50e9)}};
  whole_equals_folded(problem, 60);
}

}  // namespace
}  // namespace headway::network
