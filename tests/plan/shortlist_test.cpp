#include "sim/plan/shortlist/shortlist.h"

#include <array>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/step/step.h"
#include "sim/workload/layout.h"

#include "tests/plan/sample_scenario.h"

namespace headway::plan {
namespace {

using training::SearchAxis;

training::Scenario small() {
  auto s = sample_scenario();
  s.cluster.nodes = 1;
  s.training.global_batch = 16;
  s.search.hold = {SearchAxis::context, SearchAxis::rank_order, SearchAxis::sequence};
  s.search.micro_batch = {1, 2};
  return s;
}

training::Scenario mixture() {
  auto s = small();
  s.model.moe.emplace();
  s.model.moe->experts = 8;
  s.model.moe->ffn = 14336;
  s.search.schedule = {workload::ScheduleKind::one_f_one_b, workload::ScheduleKind::dual_pipe};
  s.search.recompute = {workload::Recompute::none, workload::Recompute::full};
  return s;
}

bool roomy(const training::MemoryResult& memory) {
  return memory.fits && !training::near_memory_limit(memory);
}

/// Raises how many layers of each stage recompute until each fits: one by one, as scenarios. Leaves
/// alone what is not tried so: what recomputes or copies already, and two copies of every layer.
void recompute_the_fewest(training::Scenario& s, const training::MemoryResult& as_it_is) {
  auto& p = s.parallelism;
  if (roomy(as_it_is) || as_it_is.host_peak > as_it_is.host_capacity ||
      p.recompute != workload::Recompute::none || workload::offloads_activations(p.offload) ||
      workload::copies_of_layers(p) > 1) {
    return;
  }
  const workload::StageLayout stages(s.model, p);
  p.chunk_layers = workload::layers_of_chunks(s.model, p);
  p.first_stage_layers = p.last_stage_layers = 0;
  p.recompute = workload::Recompute::full;
  std::vector<int> again(static_cast<std::size_t>(p.pipeline), 0);
  for (bool raised = true; raised;) {
    raised = false;
    p.chunk_recompute = workload::first_of_stages(p, again);
    const auto memory = training::predict_memory(training::check(training::Scenario(s)));
    for (std::size_t stage = 0; stage < again.size(); ++stage) {
      const bool full =
          memory.stage_peak[stage] > memory.capacity * (1 - training::kMemoryHeadroom);
      if (full && again[stage] < stages.layers(static_cast<int>(stage))) {
        ++again[stage];
        raised = true;
      }
    }
  }
}

/// Layouts found by asking every one of the space by itself, as a scenario of its own.
std::vector<Estimate> one_by_one(const training::Scenario& s, const Space& space) {
  std::vector<Estimate> found;
  std::int64_t number = 0;
  analytic::AnalyticTier tier(s);
  for (const Shape& shape : space.shapes()) {
    for (std::int64_t i = 0; i < space.layouts(shape); ++i, ++number) {
      auto own = s;
      own.parallelism = space.layout(shape, i);
      try {
        recompute_the_fewest(own, training::predict_memory(training::check(own)));
        const auto checked = training::check(own);
        if (roomy(training::predict_memory(checked))) {
          found.push_back(
              {own.parallelism, checked.micro_batches(), tier.evaluate(checked).time, number});
        }
      } catch (const core::Error&) {
        continue;
      }
    }
  }
  std::sort(found.begin(), found.end(), [](const Estimate& a, const Estimate& b) {
    return a.time != b.time ? a.time < b.time : a.number < b.number;
  });
  return found;
}

/// A scenario, its space, and what asking every layout by itself finds there.
struct Asked {
  explicit Asked(const training::Scenario& asked)
      : scenario(asked), space(scenario), every(one_by_one(scenario, space)) {}
  Asked(const Asked&) = delete;  // the space refers to the scenario
  Asked& operator=(const Asked&) = delete;

  training::Scenario scenario;
  Space space;
  std::vector<Estimate> every;
};

/// A dense model and one of experts, asked once for all tests: it takes seconds.
const std::array<Asked, 2>& asked_once() {
  static const std::array<Asked, 2> both{Asked(small()), Asked(mixture())};
  return both;
}

// Rules asked of parts of a layout, memory put together of two halves: the same layouts are left
// as where each is checked by itself, and each of the others has a reason.
void expect_left(const Asked& asked) {
  const auto& [scenario, space, every] = asked;
  const auto list = make_shortlist(scenario, space, {.most = 1'000'000, .of_family = 1'000'000});
  ASSERT_EQ(list.layouts.size(), every.size());
  ASSERT_GT(every.size(), 200U);
  for (std::size_t i = 0; i < every.size(); ++i) {
    EXPECT_EQ(list.layouts[i].number, every[i].number) << i;
    EXPECT_EQ(list.layouts[i].time, every[i].time) << i;
  }
  EXPECT_EQ(list.rejected.total() + std::ssize(list.layouts), space.layouts());
  EXPECT_EQ(list.estimated, std::ssize(list.layouts));
}

TEST(Shortlist, LeavesWhatTheRulesLeave) {
  auto odd = small();  // eight tensor ranks cannot divide the sequence, and may still have it whole
  odd.training.sequence_length = 4100;
  odd.search.hold = {SearchAxis::context, SearchAxis::rank_order, SearchAxis::virtual_stages};
  odd.search.micro_batch = {1};
  for (const Asked& each : asked_once()) {
    expect_left(each);
  }
  expect_left(Asked(odd));
}

// A short list opens few shapes and is the head of the whole one, families counted.
TEST(Shortlist, IsTheHeadOfAllWithoutLookingAtAll) {
  for (const auto& [s, space, every] : asked_once()) {
    std::vector<Estimate> wanted;
    for (const Estimate& one : every) {
      const auto same = std::count_if(wanted.begin(), wanted.end(), [&](const Estimate& other) {
        return same_family(one.layout, other.layout);
      });
      if (wanted.size() < 12 && same < 3) {
        wanted.push_back(one);
      }
    }
    const auto list = make_shortlist(s, space, {.most = 12, .of_family = 3});
    ASSERT_EQ(list.layouts.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(list.layouts[i].number, wanted[i].number) << i;
    }
    EXPECT_LT(list.estimated, space.layouts() / 4);
    EXPECT_EQ(list.rejected.total() + std::ssize(list.layouts), space.layouts());
  }
}

TEST(Shortlist, DoesNotDependOnThreads) {
  const auto s = small();
  const Space space(s);
  const auto list_on = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return make_shortlist(s, space, {.most = 12, .of_family = 3});
  };
  const auto one = list_on(1), four = list_on(4);
  ASSERT_EQ(one.layouts.size(), four.layouts.size());
  for (std::size_t i = 0; i < one.layouts.size(); ++i) {
    EXPECT_EQ(one.layouts[i].number, four.layouts[i].number);
    EXPECT_EQ(one.layouts[i].time, four.layouts[i].time);
  }
  EXPECT_EQ(one.rejected.list(), four.rejected.list());
  EXPECT_EQ(one.estimated, four.estimated);
}

TEST(Shortlist, TellsTheSmallestPeakThatDidNotFit) {
  auto s = small();
  s.cluster.node.gpu.memory = core::Bytes(8e9);
  const Space space(s);
  const auto list = make_shortlist(s, space, {});
  ASSERT_TRUE(list.missed.contains(Memory::gpu));
  const Missed& missed = list.missed.at(Memory::gpu);
  s.parallelism = missed.nearest;
  const auto memory = training::predict_memory(training::check(s));
  EXPECT_DOUBLE_EQ(memory.peak.si(), missed.lack.needs.si());
  EXPECT_GT(list.rejected.count("memory"), 100);
  // Nothing fits, so that nothing was left out as slower: no layout needs less.
  ASSERT_TRUE(list.layouts.empty());
  for (const Shape& shape : space.shapes()) {
    for (std::int64_t i = 0; i < space.layouts(shape); ++i) {
      s.parallelism = space.layout(shape, i);
      try {
        const auto peak = training::predict_memory(training::check(s)).peak;
        ASSERT_GE(peak.si(), missed.lack.needs.si() * (1 - 1e-12));
      } catch (const core::Error&) {
        continue;
      }
    }
  }
}

TEST(Shortlist, CountsWhatBreaksARuleUnderItsField) {
  auto s = small();
  s.training.global_batch = 1;  // only data = 1 and micro-batch 1 divide it
  const auto list = make_shortlist(s, Space(s), {});
  for (const Estimate& one : list.layouts) {
    EXPECT_EQ(*one.layout.data.value, 1);
  }
  EXPECT_GT(list.rejected.count("batch"), 0);
  EXPECT_GT(list.rejected.count("virtual"), 0);  // fewer micro-batches than stages
}

TEST(Rejections, CountEqualReasonsTogether) {
  Rejections rejections;
  rejections.add("memory", "too large");
  rejections.add("batch", "odd");
  rejections.add("memory", "too large");
  rejections.add_example("tensor", "3 does not divide 8", 2);
  rejections.add_example("tensor", "3 does not divide 4", 5);
  EXPECT_EQ(rejections.list(),
            (std::vector<Rejection>{{"memory", "too large", 2, ""},
                                    {"batch", "odd", 1, ""},
                                    {"tensor", "for example: 3 does not divide 8", 7, ""}}));
  EXPECT_EQ(rejections.total(), 10);
}

// Of several sizes the closest miss is told, with its size.
TEST(Rejections, KeepTheNearestOfAll) {
  const auto of_size = [](double distance, const std::string& text) {
    Rejections one;
    one.add("memory", "too large");
    one.add("memory", "the scenario's own");
    one.set_nearest("memory", "too large", distance, text);
    return one;
  };
  Rejections all;
  all.add(of_size(0.5, "half a GiB"), "1 node: ");
  all.add(of_size(0.25, "a quarter"), "2 nodes: ");
  all.add(of_size(0.75, "more"), "4 nodes: ");
  ASSERT_EQ(all.list().size(), 2U);
  EXPECT_EQ(all.list()[0].nearest, "2 nodes: a quarter");
  EXPECT_EQ(all.list()[0].count, 3);
  EXPECT_EQ(all.list()[1].nearest, "");
}

}  // namespace
}  // namespace headway::plan
