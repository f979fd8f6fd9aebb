// Context parallelism in time: what hides behind attention and what does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/analytic/analytic.h"
#include "sim/gpu/kernel_time.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"
#include "sim/workload/attention/attention_blocks.h"
#include "sim/workload/blocks/kernels.h"
#include "sim/workload/closed_form.h"

#include "tests/training/fixture.h"

namespace headway::training {

using analytic::AnalyticTier;

namespace {

using core::Activity;
using workload::ContextKind;

/// Tensor 8, context 4 over four nodes, data 2; two sequences of 65,536 tokens a replica.
Scenario long_sequences(ContextKind kind, core::BytesPerSecond links) {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.parallelism.context = 4;
  s.parallelism.context_kind = kind;
  s.training.sequence_length = 65536;
  s.training.global_batch = 4;
  s.training.framework.host.launch = core::Seconds(0);
  s.training.framework.data_overlap = false;  // the links carry nothing else during attention
  s.cluster.node.nic.bandwidth = links;
  s.cluster.fabric.link_bandwidth = links;
  return s;
}

core::BytesPerSecond gigabits(double rate) { return core::BytesPerSecond(rate * 1e9 / 8); }

/// Bytes a rank sends for context in the step: 16 layers, 2 micro-batches.
double sent_bytes(const Scenario& s) {
  const auto layer = workload::context_bytes_per_layer(s.model, s.training, s.parallelism);
  return 16 * 2 * (layer.forward + layer.backward).si();
}

TEST(ContextRing, HidesBehindLongAttention) {
  // A block of 8.4 MB takes 0.17 ms at 400 Gbps, attention with a block about 0.5 ms.
  const Scenario s = long_sequences(ContextKind::ring, gigabits(400));
  const StepResult step = simulate_step(check(s));
  EXPECT_GT(sent_bytes(s) / 50e9, 0.04);
  EXPECT_LT(step.breakdown[Activity::context].si(), 1e-4);
}

TEST(ContextRing, ShowsWhatAttentionCannotHide) {
  // At 4 Gbps a transfer is 30 times as long as the attention beside it. Exposed = transfers less
  // what runs beside them, which is at most attention and its merges. One message alone reaches 90
  // % of the line, two together all of it.
  const Scenario s = long_sequences(ContextKind::ring, gigabits(4));
  const StepResult step = simulate_step(check(s));
  const double wire = sent_bytes(s) / (4e9 / 8);
  const KernelTimes times = kernel_times(s);
  const auto shape = workload::rank_shape(s.model, s.training, s.parallelism);
  const double attention =
      16 * 2 * 4 *
      gpu::kernels_time(*times.gpu, times.shares,
                        {workload::flash_forward(shape, shape.own_attention()),
                         workload::flash_backward(shape, shape.own_attention())},
                        times.launch)
          .si();
  const double exposed = step.breakdown[Activity::context].si();
  EXPECT_LT(exposed, wire / 0.89);
  EXPECT_GT(exposed, wire - 1.5 * attention);
  EXPECT_LT(attention, 0.1 * wire);
}

/// Windows in every layer, or packed documents, over a ring of eight.
Scenario masked(int window,
                bool chunked,
                std::vector<workload::DocumentLength> documents,
                core::BytesPerSecond links) {
  Scenario s = long_sequences(ContextKind::ring, links);
  s.parallelism.context = 8;
  s.model.window = window;
  s.model.chunked_window = chunked;
  s.training.documents = std::move(documents);
  return s;
}

TEST(ContextRing, WithAWindowIsAsLongAsItsTransfersOverSlowLinks) {
  // At 1 Gbps transfers are all there is. Of 7 steps beside the own keys 2 are left with a narrow
  // window; what a rank has to do meanwhile is little.
  const auto exposed = [](int window) {
    return simulate_step(check(masked(window, false, {}, gigabits(1))))
        .breakdown[Activity::context]
        .si();
  };
  const double narrow = exposed(1024);
  Scenario s = masked(1024, false, {}, gigabits(1));
  const auto layer = workload::context_bytes_per_layer(s.model, s.training, s.parallelism, true);
  const double wire = 16 * 4 * (layer.forward + layer.backward).si() / (1e9 / 8);
  EXPECT_NEAR(narrow / wire, 1, 0.12);  // one message alone reaches 90 % of the line
  EXPECT_NEAR(narrow / exposed(0), 2.0 / 7, 0.03);
}

TEST(ContextRing, OfDocumentsTakesAttentionOfTheirPairs) {
  // Fast links: attention is what differs. Two documents of half the length have half the pairs.
  const double whole = simulate_step(check(masked(0, false, {}, gigabits(800)))).time.si();
  const double halves =
      simulate_step(check(masked(0, false, {{32768, 1}}, gigabits(800)))).time.si();
  const double same = simulate_step(check(masked(0, false, {{65536, 1}}, gigabits(800)))).time.si();
  EXPECT_EQ(same, whole);
  const Scenario s = masked(0, false, {}, gigabits(800));
  const KernelTimes times = kernel_times(s);
  const auto work = [&](const std::vector<workload::DocumentLength>& documents) {
    Scenario own = s;
    own.training.documents = documents;
    const auto shape = workload::rank_shape(own.model, own.training, own.parallelism);
    workload::BlockWriter writer("attention");
    workload::write_core_attention_forward(writer, shape, own.training.framework);
    workload::write_core_attention_backward(writer, shape, own.training.framework);
    double seconds = 0;
    for (const auto& operation : writer.finish().operations) {
      seconds += gpu::kernels_time(*times.gpu, times.shares, operation.kernels, times.launch).si();
    }
    return seconds;
  };
  EXPECT_NEAR((whole - halves) / (16 * 4 * (work({}) - work({{32768, 1}}))), 1, 0.01);
  EXPECT_GT(whole, 1.02 * halves);
}

/// Folded and unfolded steps must agree.
/// @returns the folded step
StepResult folded_step(const CheckedScenario& checked) {
  StepResult folded = simulate_step(checked, {.fold = true});
  const StepResult unfolded = simulate_step(checked, {.fold = false});
  EXPECT_EQ(folded.time, unfolded.time);
  EXPECT_EQ(folded.result_digest, unfolded.result_digest);
  EXPECT_LT(folded.rank_classes, folded.ranks);
  return folded;
}

TEST(ContextSteps, WithMasksFoldAndAgreeWithTheAnalyticTier) {
  const std::vector<workload::DocumentLength> documents{{4096, 3}, {20000, 1}};
  for (const auto& [window, chunked] : {std::pair{0, false}, std::pair{2048, false},
                                        std::pair{12000, false}, std::pair{8192, true}}) {
    for (const bool packed : {false, true}) {
      Scenario s =
          masked(window, chunked, packed ? documents : std::vector<workload::DocumentLength>{},
                 gigabits(400));
      s.model.window_period = 4;
      // A ring of four nodes.
      s.parallelism.context = 4;
      s.parallelism.pipeline = 2;
      const auto nodes = check(s);
      folded_step(nodes);
      const double alone = simulate_step(nodes, {.trace = false, .contention = false}).time.si();
      EXPECT_NEAR(AnalyticTier(s).evaluate(nodes).time.si() / alone, 1, 0.001) << window;
      // Two hops of eight leave a node, and blocks and gradients meet there; the tier takes every
      // hop as one between nodes.
      s.parallelism.tensor = 2;
      s.parallelism.context = 8;
      s.parallelism.pipeline = 4;
      const auto ranks = check(s);
      EXPECT_NEAR(AnalyticTier(s).evaluate(ranks).time / folded_step(ranks).time, 1, 0.03)
          << window;
    }
  }
}

TEST(ContextGather, IsExposedWhateverAttentionTakes) {
  const Scenario s = long_sequences(ContextKind::all_gather, gigabits(400));
  const StepResult step = simulate_step(check(s));
  EXPECT_GT(step.breakdown[Activity::context].si(), sent_bytes(s) / 50e9);
  const StepResult ring = simulate_step(check(long_sequences(ContextKind::ring, gigabits(400))));
  EXPECT_LT(ring.time, step.time);
}

TEST(ContextExchange, IsExposedWhateverAttentionTakes) {
  const Scenario s = long_sequences(ContextKind::all_to_all, gigabits(400));
  const StepResult step = simulate_step(check(s));
  EXPECT_GT(step.breakdown[Activity::context].si(), sent_bytes(s) / 50e9);
}

TEST(ContextSteps, FoldedAndUnfoldedGiveTheSameTicks) {
  for (const auto kind : {ContextKind::ring, ContextKind::all_gather, ContextKind::all_to_all}) {
    Scenario s = long_sequences(kind, gigabits(100));
    s.parallelism.tensor = 2;
    s.parallelism.pipeline = 4;
    const auto checked = check(s);
    const StepResult folded = simulate_step(checked, {.fold = true});
    const StepResult unfolded = simulate_step(checked, {.fold = false});
    EXPECT_EQ(folded.time, unfolded.time) << core::to_word(kind);
    EXPECT_EQ(folded.result_digest, unfolded.result_digest) << core::to_word(kind);
    EXPECT_LT(folded.rank_classes, folded.ranks);
  }
}

TEST(ContextChecks, PointAtTheContextDegree) {
  Scenario s = long_sequences(ContextKind::ring, gigabits(400));
  s.training.sequence_length = 65540;
  const core::SourceMarks marks{{"parallelism.context", {"a.yaml", 9, 12, 1, "  context: 4"}}};
  try {
    check(s, marks);
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_THAT(
        error.what(),
        testing::HasSubstr(
            "a.yaml:9:12: a sequence of 65540 tokens does not divide into 2 x context = 8 chunks"));
  }
}

}  // namespace
}  // namespace headway::training
