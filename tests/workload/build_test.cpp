#include "sim/workload/blocks/build.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>

#include "sim/core/error.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/parameters_per_rank.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::Activity;
using core::CollectiveKind;
using core::KernelKind;
using testing::ElementsAre;

TEST(StepGraphWork, IsThatOfTheClosedForm) {
  // One rank of each stage works 1/t of a replica: t x sum = tokens x (3 linear + 3.5 causal core
  // attention); flash backward runs five products for the forward's two.
  for (const auto& [t, p] : {std::pair{1, 1}, std::pair{8, 4}}) {
    const ModelSpec model = llama_8b();
    const StepGraph graph = build_step_graph(model, recipe(8192, 16), split(t, p), 2, 8);
    const ForwardFlops forward = forward_flops_per_token(model, 8192);
    const double expected =
        8.0 * 8192 * (3.0 * forward.linear().si() + 3.5 * 0.5 * forward.core().si());
    EXPECT_NEAR(t * matrix_work(graph) / expected, 1, 1e-9);
  }
}

// Forward passes a layer once, backward once, with the whole forward again twice; halves of a
// backward are one pass.
TEST(LayerPasses, CountTheForwardThatBackwardRepeats) {
  ParallelismSpec parallelism = split(2, 4);
  const auto passes = [&](const char* block) {
    const StepGraph graph = build_step_graph(llama_8b(), recipe(8192, 16), parallelism, 2, 8);
    const auto found = std::find_if(graph.blocks.begin(), graph.blocks.end(),
                                    [&](const Block& b) { return b.name == block; });
    return found == graph.blocks.end() ? -1 : found->layer_passes;
  };
  EXPECT_EQ(passes("layer forward"), 1);
  EXPECT_EQ(passes("layer backward"), 1);
  EXPECT_EQ(passes("head forward"), 0);
  parallelism.recompute = Recompute::full;
  EXPECT_EQ(passes("layer backward"), 2);
  parallelism.recompute = Recompute::none;
  parallelism.schedule = ScheduleKind::zero_bubble_h1;
  EXPECT_EQ(passes("layer input gradient") + passes("layer weight gradient"), 1);
}

TEST(StepGraphWork, IsTheSameInEverySchedule) {
  const ModelSpec model = llama_8b();
  ParallelismSpec parallelism = split(2, 4);
  const StepGraph reference = build_step_graph(model, recipe(8192, 16), parallelism, 2, 8);
  using K = ScheduleKind;
  for (const K kind : {K::gpipe, K::zero_bubble_h1, K::zero_bubble_h2, K::zero_bubble_v,
                       K::dual_pipe, K::dual_pipe_v}) {
    parallelism.schedule = kind;
    const StepGraph graph = build_step_graph(model, recipe(8192, 16), parallelism, 2, 8);
    EXPECT_NEAR(matrix_work(graph) / matrix_work(reference), 1, 1e-12) << core::to_word(kind);
    // Two directions: every gradient is on two stages, which reduce it together.
    for (const auto reduction : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
      EXPECT_DOUBLE_EQ(collective_bytes(graph, Group::data_context, reduction),
                       copies_of_layers(parallelism) *
                           collective_bytes(reference, Group::data_context, reduction));
    }
  }
}

// The reference implementation waits for both messages, runs forward and backward, and then sends
// both.
TEST(DualPipeGraph, TakesAForwardAndABackwardAsOnePass) {
  ParallelismSpec parallelism = split(1, 4);
  parallelism.schedule = ScheduleKind::dual_pipe;
  const StepGraph graph = build_step_graph(llama_8b(), recipe(8192, 16), parallelism, 1, 16);
  const auto& calls = graph.stages[1].calls;
  const auto name = [&](std::size_t i) {
    return graph.blocks[static_cast<std::size_t>(calls[i].block)].name;
  };
  int pairs = 0;
  for (std::size_t i = 0; i + 5 < calls.size(); ++i) {
    const bool both = name(i) == "receive" && name(i + 1) == "receive";
    if (both && calls[i].kind == CallKind::forward && calls[i + 1].kind == CallKind::backward) {
      EXPECT_EQ(name(i + 2), "layer forward");
      EXPECT_EQ(name(i + 3), "layer backward");
      EXPECT_EQ(name(i + 4), "send");
      EXPECT_EQ(name(i + 5), "send");
      EXPECT_NE(calls[i].chunk, calls[i + 1].chunk);
      ++pairs;
    }
  }
  // 8 - 4 + 2 = 6 rounds of two in the main part, the first of which runs apart in the middle.
  EXPECT_EQ(pairs, 11);
}

// Mirrored stages must arrive at their common reductions and gathers in one order.
TEST(DualPipeGraph, MirroredStagesCallTheirCollectivesInTheSameOrder) {
  ModelSpec model = deepseek_v3();
  model.layers = 18;
  ParallelismSpec parallelism = split(1, 4);
  parallelism.schedule = ScheduleKind::dual_pipe;
  parallelism.chunk_layers = {5, 5, 5, 3};
  parallelism.expert = 8;
  for (const Sharding sharding :
       {Sharding::zero0, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
    parallelism.sharding = sharding;
    const StepGraph graph = build_step_graph(model, recipe(4096, 64), parallelism, 8, 8);
    std::vector<std::vector<std::tuple<Group, CollectiveKind, double>>> launched(4);
    for_each_operation(graph, [&](int stage, const Operation& o, int times) {
      if (o.kind == OperationKind::collective &&
          (o.group == Group::data_context || o.group == Group::expert_data)) {
        for (int i = 0; i < times; ++i) {
          launched[static_cast<std::size_t>(stage)].emplace_back(o.group, o.collective,
                                                                 o.bytes.si());
        }
      }
    });
    EXPECT_GT(launched[0].size(), 4U);
    EXPECT_EQ(launched[0], launched[3]);
    EXPECT_EQ(launched[1], launched[2]);
  }
}

// Both directions hold their own copy, so even one data-parallel replica reduces gradients: over
// 2 x data x context ranks, and experts over 2 x ranks / expert ranks.
TEST(DualPipeGraph, RanksWithTheSameWeightsAreTwiceAsMany) {
  ParallelismSpec parallelism = split(2, 4);
  parallelism.context = 2;
  parallelism.expert = 4;
  EXPECT_EQ(data_ranks(parallelism, 8).shared, 16);
  EXPECT_EQ(data_ranks(parallelism, 8).experts, 8);
  parallelism.schedule = ScheduleKind::dual_pipe;
  EXPECT_EQ(data_ranks(parallelism, 8).shared, 32);
  EXPECT_EQ(data_ranks(parallelism, 8).shards, 32);
  EXPECT_EQ(data_ranks(parallelism, 8).experts, 16);
  ParallelismSpec alone = split(1, 2);
  EXPECT_FALSE(data_ranks(alone, 1).several());
  alone.schedule = ScheduleKind::dual_pipe;
  EXPECT_TRUE(data_ranks(alone, 1).several());
}

// Embedding and head are on both ends, so a tied table is one array there and its gradient is
// reduced with the others, not over a pair of end stages.
TEST(DualPipeGraph, TiedEmbeddingsAreReducedWithTheOtherGradients) {
  ModelSpec model = llama_8b();
  ParallelismSpec parallelism = split(1, 4);
  const double apart = parameters_per_rank(model, parallelism, 0);
  const double head = parameters_per_rank(model, parallelism, 3);
  model.tied_embeddings = true;
  EXPECT_GT(collective_bytes(build_step_graph(model, recipe(8192, 16), parallelism, 1, 8),
                             Group::embedding, CollectiveKind::all_reduce),
            0);
  parallelism.schedule = ScheduleKind::dual_pipe;
  const StepGraph graph = build_step_graph(model, recipe(8192, 16), parallelism, 1, 8);
  EXPECT_EQ(collective_bytes(graph, Group::embedding, CollectiveKind::all_reduce), 0);
  const double table = static_cast<double>(model.vocabulary) * model.hidden;
  for (const int end : {0, 3}) {
    EXPECT_DOUBLE_EQ(parameters_per_rank(model, parallelism, end), apart + head - table);
  }
}

TEST(StepGraphWork, OfUnfusedAttentionWithFullRecomputeIsTheHardwareFlops) {
  // Unfused attention computes masked scores too, so executed work = hfu exactly: Megatron 2021's
  // count.
  const ModelSpec model = gpt_175b();
  ParallelismSpec parallelism = split(8, 8);
  parallelism.sequence = false;
  parallelism.recompute = Recompute::full;
  const StepGraph graph = build_step_graph(model, recipe_2021(2048, 64), parallelism, 1, 64);
  const double expected =
      64.0 * 2048 * training_flops_per_token(model, 2048, Recompute::full).hfu.si();
  EXPECT_NEAR(8 * matrix_work(graph) / expected, 1, 1e-9);
}

TEST(StepGraphWork, OfSelectiveRecomputeIsTheHardwareFlops) {
  const ModelSpec model = gpt_175b();
  ParallelismSpec parallelism = split(8, 1);
  parallelism.recompute = Recompute::selective;
  const StepGraph graph = build_step_graph(model, recipe_2021(2048, 4), parallelism, 1, 4);
  const double expected =
      4.0 * 2048 * training_flops_per_token(model, 2048, Recompute::selective).hfu.si();
  EXPECT_NEAR(8 * matrix_work(graph) / expected, 1, 1e-9);
}

/// Calls of a stage that are not messages to or from another.
std::vector<Call> without_messages(const StepGraph& graph, std::size_t stage) {
  std::vector<Call> calls = graph.stages[stage].calls;
  std::erase_if(calls, [&](const Call& call) {
    const auto& operations = graph.blocks[static_cast<std::size_t>(call.block)].operations;
    return std::any_of(operations.begin(), operations.end(),
                       [](const Operation& o) { return o.peer_stage >= 0; });
  });
  return calls;
}

// What replicas send each other is there, what ranks compute and stages send is not; other calls
// are the same.
TEST(StepGraphDetail, OfTrafficHasTheSameCallsAndReductions) {
  const ModelSpec model = llama_8b();
  const ParallelismSpec parallelism = split(8, 4);
  const StepGraph whole = build_step_graph(model, recipe(8192, 16), parallelism, 2, 8);
  const StepGraph traffic =
      build_step_graph(model, recipe(8192, 16), parallelism, 2, 8, 1, GraphDetail::traffic);
  EXPECT_EQ(matrix_work(traffic), 0);
  for (const auto kind : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
    EXPECT_GT(collective_bytes(whole, Group::data_context, kind), 0);
    EXPECT_EQ(collective_bytes(traffic, Group::data_context, kind),
              collective_bytes(whole, Group::data_context, kind));
  }
  ASSERT_EQ(traffic.stages.size(), whole.stages.size());
  for (std::size_t stage = 0; stage < whole.stages.size(); ++stage) {
    const std::vector<Call> calls = without_messages(whole, stage);
    ASSERT_LT(calls.size(), whole.stages[stage].calls.size());
    ASSERT_EQ(traffic.stages[stage].calls.size(), calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      Call same = traffic.stages[stage].calls[i];
      EXPECT_EQ(traffic.blocks[static_cast<std::size_t>(same.block)].name,
                whole.blocks[static_cast<std::size_t>(calls[i].block)].name);
      same.block = calls[i].block;
      EXPECT_EQ(same, calls[i]);
    }
  }
}

// What ranks compute and send inside a replica is there, replicas exchange nothing.
TEST(StepGraphDetail, OfPassesHasTheSameWorkAndNoTrafficOfReplicas) {
  const ModelSpec model = llama_8b();
  const ParallelismSpec parallelism = split(8, 4);
  const StepGraph whole = build_step_graph(model, recipe(8192, 16), parallelism, 2, 8);
  const StepGraph passes =
      build_step_graph(model, recipe(8192, 16), parallelism, 2, 8, 1, GraphDetail::passes);
  EXPECT_GT(matrix_work(whole), 0);
  EXPECT_EQ(matrix_work(passes), matrix_work(whole));
  for (const auto kind : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
    EXPECT_GT(collective_bytes(passes, Group::tensor, kind), 0);
    EXPECT_EQ(collective_bytes(passes, Group::tensor, kind),
              collective_bytes(whole, Group::tensor, kind));
    EXPECT_EQ(collective_bytes(passes, Group::data_context, kind), 0);
  }
}

/// All-reduce, all-gather and reduce-scatter bytes of the tensor group, in units of the residual
/// stream S.
std::tuple<double, double, double> tensor_streams(const StepGraph& graph, double stream) {
  return {collective_bytes(graph, Group::tensor, CollectiveKind::all_reduce) / stream,
          collective_bytes(graph, Group::tensor, CollectiveKind::all_gather) / stream,
          collective_bytes(graph, Group::tensor, CollectiveKind::reduce_scatter) / stream};
}

TEST(TensorCollectives, AreCountedAsInTheLiterature) {
  // A layer: without sequence parallelism 4 all-reduces (6 with full recompute); with it 6
  // all-gathers (2 of them re-gathers) and 4 reduce-scatters (8 and 6 with full recompute).
  const ModelSpec model = llama_8b();
  const double stream = 2.0 * 8192 * 4096;
  for (const bool overlap : {false, true}) {
    TrainingSpec training = recipe(8192, 1);
    training.framework.tensor_overlap = overlap;
    ParallelismSpec parallelism = split(8, 1);
    auto [reduced, gathered, scattered] =
        tensor_streams(build_step_graph(model, training, parallelism, 1, 1), stream);
    // Embedding: reduce-scatter and its gather; head: gather, re-gather, reduce-scatter.
    EXPECT_NEAR(gathered, 32 * 6 + 1 + 2, 1e-9);
    EXPECT_NEAR(scattered, 32 * 4 + 1 + 1, 1e-9);
    EXPECT_LT(reduced, 0.1);
    parallelism.recompute = Recompute::full;
    std::tie(reduced, gathered, scattered) =
        tensor_streams(build_step_graph(model, training, parallelism, 1, 1), stream);
    EXPECT_NEAR(gathered, 32 * 8 + 3, 1e-9);
    EXPECT_NEAR(scattered, 32 * 6 + 2, 1e-9);
    parallelism.sequence = false;
    std::tie(reduced, gathered, scattered) =
        tensor_streams(build_step_graph(model, training, parallelism, 1, 1), stream);
    EXPECT_NEAR(reduced, 32 * 6 + 2, 0.1);
    EXPECT_EQ(gathered + scattered, 0);
  }
}

TEST(ParametersPerRank, AddUpToTheModel) {
  // Norms are copied on each tensor rank; everything else is split.
  const ModelSpec model = llama_70b();
  double sum = 0;
  for (int stage = 0; stage < 4; ++stage) {
    sum += 8 * parameters_per_rank(model, split(8, 4), stage);
  }
  const double copies = 7.0 * 8192 * (2 * 80 + 1);
  EXPECT_NEAR(sum, count_parameters(model).total() + copies, 1);
}

TEST(Messages, AreReceivedByWhomTheyAreSentToInTheSameNumber) {
  for (const int v : {1, 2}) {
    ParallelismSpec parallelism = split(2, 4);
    parallelism.virtual_stages = v;
    const StepGraph graph = build_step_graph(llama_8b(), recipe(4096, 64), parallelism, 8, 8);
    std::map<std::tuple<int, int, int>, std::pair<int, int>>
        messages;  // from, to, channel -> sent, received
    for_each_operation(graph, [&](int stage, const Operation& operation, int times) {
      if (operation.kind == OperationKind::send) {
        messages[{stage, operation.peer_stage, operation.channel}].first += times;
      } else if (operation.kind == OperationKind::receive) {
        messages[{operation.peer_stage, stage, operation.channel}].second += times;
      }
    });
    EXPECT_EQ(messages.size(), static_cast<std::size_t>(2 * (4 * v - 1)));
    for (const auto& [channel, counts] : messages) {
      EXPECT_EQ(counts.first, 8);
      EXPECT_EQ(counts.second, 8);
    }
  }
}

TEST(Messages, ShrinkWithSequenceParallelismAndScatterGather) {
  const auto bytes = [](bool sequence, bool scatter) {
    TrainingSpec training = recipe(4096, 8);
    training.framework.scatter_gather_p2p = scatter;
    ParallelismSpec parallelism = split(4, 2);
    parallelism.sequence = sequence;
    double sent = 0;
    for_each_operation(build_step_graph(llama_8b(), training, parallelism, 1, 8),
                       [&](int, const Operation& operation, int) {
                         sent = operation.kind == OperationKind::send ? operation.bytes.si() : sent;
                       });
    return sent;
  };
  const double whole = 2.0 * 4096 * 4096;
  EXPECT_EQ(bytes(false, false), whole);
  EXPECT_EQ(bytes(false, true), whole / 4);
  EXPECT_EQ(bytes(true, false), whole / 4);
}

TEST(Tickets, AreLaunchedBeforeTheyAreAwaited) {
  ParallelismSpec parallelism = split(1, 2);
  parallelism.virtual_stages = 2;
  const StepGraph graph = build_step_graph(llama_70b(), recipe(4096, 64), parallelism, 8, 8);
  for (const Stage& stage : graph.stages) {
    std::set<int> launched, awaited;
    for (const Call& call : stage.calls) {
      for (const Operation& operation :
           graph.blocks[static_cast<std::size_t>(call.block)].operations) {
        for (const int ticket : operation.await) {
          EXPECT_TRUE(launched.contains(ticket)) << ticket;
          awaited.insert(ticket);
        }
        if (operation.ticket >= 0) {
          launched.insert(operation.ticket);
        }
      }
    }
    EXPECT_GT(launched.size(), 2U);
    EXPECT_EQ(launched, awaited);
  }
}

TEST(StepGraph, RunsEachLayerForEachMicroBatch) {
  ParallelismSpec parallelism = split(1, 2);
  const StepGraph graph = build_step_graph(llama_70b(), recipe(4096, 64), parallelism, 8, 8);
  std::map<std::string, int> runs;
  for (const Stage& stage : graph.stages) {
    for (const Call& call : stage.calls) {
      runs[graph.blocks[static_cast<std::size_t>(call.block)].name] += call.repeat;
    }
  }
  EXPECT_EQ(runs["layer forward"], 80 * 8);
  EXPECT_EQ(runs["layer backward"], 80 * 8);
  EXPECT_EQ(runs["embedding forward"], 8);
  EXPECT_EQ(runs["head backward"], 8);
  EXPECT_EQ(runs["finish step"], 2);
  EXPECT_LT(graph.blocks.size(), 120U);
}

TEST(StepGraph, WaitsOnlyForEarlierTransfersOfItsBlock) {
  TrainingSpec training = recipe(4096, 64);
  training.framework.tensor_overlap = true;
  const StepGraph graph = build_step_graph(llama_8b(), training, split(4, 2), 8, 8);
  for (const Block& block : graph.blocks) {
    std::set<int> open;
    for (int i = 0; i < static_cast<int>(block.operations.size()); ++i) {
      const Operation& operation = block.operations[static_cast<std::size_t>(i)];
      for (const int wait : operation.waits) {
        EXPECT_EQ(open.erase(wait), 1U) << block.name << " " << i;
      }
      if (operation.asynchronous && operation.ticket < 0) {
        open.insert(i);
      }
    }
    EXPECT_TRUE(open.empty()) << block.name;
  }
}

TEST(Unsupported, NamesEachThingThatIsNotSimulated) {
  const ModelSpec model = llama_8b();
  TrainingSpec training = recipe(8192, 8);
  training.documents = {{1024, 1}, {3, 1}};
  ParallelismSpec parallelism = split(1, 1);
  parallelism.context = 2;
  parallelism.schedule = ScheduleKind::dual_pipe;
  parallelism.sharding = Sharding::hsdp;
  parallelism.shard_group_size = 2;
  EXPECT_THAT(texts(unsupported(model, training, parallelism)),
              testing::ElementsAre(
                  "documents of 3 tokens do not divide into 2 x context = 4 chunks, two for each "
                  "rank of a ring; choose context_kind all-gather or all-to-all",
                  "schedule dualpipe with sharding hsdp is not simulated: both shard copies of the "
                  "weights; choose zero1 or another sharding, or schedule dualpipe-v"));
  EXPECT_THROW(build_step_graph(model, training, parallelism, 1, 8), core::Error);
}

TEST(Unsupported, NamesWhatContradictsItself) {
  ParallelismSpec parallelism = split(1, 1);
  parallelism.sharding = Sharding::hsdp;
  parallelism.recompute_parts = {RecomputePart::latent_up, RecomputePart::experts};
  parallelism.recompute_period = 2;
  EXPECT_THAT(
      texts(unsupported(llama_8b(), recipe(8192, 8), parallelism)),
      testing::ElementsAre("sharding hsdp needs shard_group_size, the ranks that hold one copy",
                           "recompute_parts belongs to recompute: selective",
                           "recompute part latent_up: model 'Llama 3.1 8B' has no latent attention",
                           "recompute part experts: model 'Llama 3.1 8B' has none",
                           "recompute_period belongs to recompute: selective or full"));
  parallelism = split(1, 1);
  parallelism.shard_group_size = 8;
  parallelism.reshard = false;
  EXPECT_THAT(
      texts(unsupported(llama_8b(), recipe(8192, 8), parallelism)),
      testing::ElementsAre("shard_group_size belongs to sharding hsdp; leave it out or choose hsdp",
                           "reshard: false belongs to sharding zero3 or hsdp"));
}

TEST(Violations, NameTheFieldTheyAreAbout) {
  TrainingSpec training = recipe(8192, 8);
  training.optimizer_state = OptimizerState::muon;
  training.precision = core::Precision::fp32;
  training.documents = {{8192, 1}, {3, 1}};
  ParallelismSpec parallelism = split(1, 1);
  parallelism.context = 2;
  parallelism.shard_group_size = 8;
  parallelism.reshard = false;
  parallelism.recompute_period = 2;
  parallelism.offload_layers = 4;
  parallelism.sharding = Sharding::zero2;
  EXPECT_THAT(paths(unsupported(llama_8b(), training, parallelism)),
              testing::ElementsAre("training.documents[1].tokens", "training.precision",
                                   "parallelism.shard_group_size", "parallelism.reshard",
                                   "parallelism.recompute_period", "parallelism.offload_layers",
                                   "training.optimizer_state"));
  EXPECT_THAT(paths(context_problems(llama_8b(), training, parallelism)),
              testing::ElementsAre("training.precision"));
}

TEST(Violations, ReportAllBrokenRulesTogether) {
  EXPECT_THAT(texts(violations(llama_8b(), recipe(8192, 8), split(3, 5), 1, 8)),
              testing::ElementsAre(
                  "32 attention heads do not divide over 3 tensor-parallel ranks",
                  "14336 MLP columns do not divide over 3 tensor-parallel ranks",
                  "8 key-value heads and 3 tensor-parallel ranks do not divide each other",
                  "8192 tokens of a sequence do not divide over 3 tensor-parallel ranks",
                  "32 layers do not divide over 5 pipeline stages; choose first_stage_layers and "
                  "last_stage_layers so that the rest divides evenly"));
}

}  // namespace
}  // namespace headway::workload
