// Mixtures of experts: who visits whom, bytes of dispatch and combine, work, parameters, rules.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <set>

#include "sim/core/math.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/constants.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;

ExpertsSpec experts(int count, int top_k, int groups = 1, int limit = 0) {
  ExpertsSpec moe;
  moe.experts = count;
  moe.top_k = top_k;
  moe.ffn = 128;
  moe.routing_groups = groups;
  moe.group_limit = limit;
  return moe;
}

/// Mean number of places over every possible choice, counted one by one: all sets of `limit`
/// groups, and in them all sets of `top_k` experts.
double counted_places(const ExpertsSpec& moe, int places) {
  const int limit = moe.group_limit > 0 ? moe.group_limit : moe.routing_groups;
  double visits = 0;
  double choices = 0;
  for (unsigned groups = 0; groups < 1U << moe.routing_groups; ++groups) {
    if (__builtin_popcount(groups) != limit) {
      continue;
    }
    for (unsigned chosen = 0; chosen < 1U << moe.experts; ++chosen) {
      std::set<int> visited;
      bool allowed = __builtin_popcount(chosen) == moe.top_k;
      for (int e = 0; e < moe.experts && allowed; ++e) {
        if ((chosen >> e & 1U) != 0) {
          allowed = (groups >> (e / (moe.experts / moe.routing_groups)) & 1U) != 0;
          visited.insert(e / (moe.experts / places));
        }
      }
      if (allowed) {
        visits += static_cast<double>(visited.size());
        choices += 1;
      }
    }
  }
  return visits / choices;
}

TEST(ExpectedPlaces, AreTheMeanOverAllChoices) {
  for (const int places : {1, 2, 4, 8}) {
    EXPECT_NEAR(expected_places(experts(8, 2), places), counted_places(experts(8, 2), places),
                1e-12);
    EXPECT_NEAR(expected_places(experts(8, 3), places), counted_places(experts(8, 3), places),
                1e-12);
    for (const int limit : {1, 2, 3}) {
      const ExpertsSpec limited = experts(8, 2, 4, limit);
      EXPECT_NEAR(expected_places(limited, places), counted_places(limited, places), 1e-12)
          << places << " places, " << limit << " groups";
    }
  }
  // Places that begin and end inside groups: 2 and 4 experts beside groups of 3, 3 beside 4.
  for (const auto& [groups, places] : {std::pair{4, 6}, std::pair{4, 3}, std::pair{3, 4}}) {
    for (int limit = 1; limit < groups; ++limit) {
      const ExpertsSpec limited = experts(12, 3, groups, limit);
      EXPECT_NEAR(expected_places(limited, places), counted_places(limited, places), 1e-12)
          << places << " places, " << limit << " of " << groups << " groups";
    }
  }
}

TEST(ExpectedPlaces, OfDeepSeekAreLimitedToFourNodes) {
  // 256 experts in 8 groups of 32, 4 groups a token, 8 experts among those 128:
  // 4 (1 - C(96, 8) / C(128, 8)).
  double none = 1;
  for (int i = 0; i < 8; ++i) {
    none *= (96.0 - i) / (128.0 - i);
  }
  EXPECT_NEAR(expected_places(experts(256, 8, 8, 4), 8), 4 * (1 - none), 1e-12);
  EXPECT_LT(expected_places(experts(256, 8, 8, 4), 8), expected_places(experts(256, 8), 8));
}

TEST(LayerKinds, FollowLeadingDenseLayersAndPeriod) {
  ModelSpec model = mixtral_8x7b();
  const ParallelismSpec parallelism;
  EXPECT_EQ(layer_runs(model, parallelism, 0, 32), (std::vector<LayerRun>{{{true}, 32}}));
  model.moe->leading_dense_layers = 3;
  EXPECT_EQ(layer_runs(model, parallelism, 2, 4),
            (std::vector<LayerRun>{{{false}, 1}, {{true}, 3}}));
  model.moe->leading_dense_layers = 0;
  model.moe->period = 2;  // Llama 4 Maverick: dense, experts, dense, ...
  EXPECT_EQ(layer_runs(model, parallelism, 0, 3),
            (std::vector<LayerRun>{{{false}, 1}, {{true}, 1}, {{false}, 1}}));
  EXPECT_EQ(layer_count(model), (LayerCount{16, 16}));
}

TEST(ExpertWork, IsThatOfTheClosedForm) {
  // Balanced routing: every rank multiplies as many rows as its own tokens need, so a rank's work
  // is that of its tokens: m s (3 linear + 3.5 causal core attention).
  for (const int expert : {1, 2, 8}) {
    const ModelSpec model = mixtral_8x7b();
    const StepGraph graph =
        build_step_graph(model, recipe(4096, 32), expert_split(1, expert), 8, 4);
    const ForwardFlops forward = forward_flops_per_token(model, 4096);
    const double expected =
        4.0 * 4096 * (3.0 * forward.linear().si() + 3.5 * 0.5 * forward.core().si());
    EXPECT_NEAR(matrix_work(graph) / expected, 1, 1e-9) << "expert " << expert;
  }
}

TEST(ExpertWork, IsDividedOverTensorAndExpertTensorRanks) {
  const ModelSpec model = mixtral_8x7b();
  const ForwardFlops forward = forward_flops_per_token(model, 4096);
  const double expected =
      4.0 * 4096 * (3.0 * forward.linear().si() + 3.5 * 0.5 * forward.core().si());
  for (const int expert_tensor : {1, 2, 4}) {
    const StepGraph graph =
        build_step_graph(model, recipe(4096, 32), expert_split(4, 2, expert_tensor), 8, 4);
    EXPECT_NEAR(4 * matrix_work(graph) / expected, 1, 1e-9) << "expert tensor " << expert_tensor;
  }
}

TEST(ExpertWork, GrowsWithImbalanceAndIsCappedByCapacity) {
  const auto rows = [](double imbalance, double capacity, bool padded) {
    ModelSpec model = mixtral_8x7b();
    model.moe->imbalance = imbalance;
    model.moe->capacity_factor = capacity;
    model.moe->padded = padded;
    const ParallelismSpec parallelism = expert_split(1, 8);
    const TrainingSpec training = recipe(4096, 8);
    return expert_shape(model, training, parallelism, rank_shape(model, training, parallelism), 1)
        .rows_each;
  };
  // 8 ranks x 4096 tokens x top 2 / 8 experts = 8192 rows each.
  EXPECT_EQ(rows(1, 0, false), 8192);
  EXPECT_EQ(rows(1.25, 0, false), 10240);
  EXPECT_EQ(rows(1.5, 1.25, false), 10240);
  EXPECT_EQ(rows(1, 1.25, false), 8192);
  EXPECT_EQ(rows(1, 1.25, true), 10240);
}

// 64 experts whose loads are random, and always as many tokens in all: the mean over many
// micro-batches of what the busiest rank has.
TEST(BusiestLoad, IsTheMeanMaximumOfRandomLoads) {
  ExpertsSpec moe = experts(64, 4);
  moe.load_spread = 0.2;
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, moe.load_spread);
  for (const int ranks : {1, 4, 16, 64}) {
    constexpr int kDraws = 4000;
    double sum = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<double> loads(64);
      std::generate(loads.begin(), loads.end(), [&] { return normal(random); });
      const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / 64;
      std::vector<double> of_rank(static_cast<std::size_t>(ranks), 0);
      for (std::size_t e = 0; e < loads.size(); ++e) {
        of_rank[e * of_rank.size() / 64] += (loads[e] - mean) * ranks / 64;
      }
      sum += *std::max_element(of_rank.begin(), of_rank.end());
    }
    EXPECT_NEAR(busiest_load(moe, ranks) - 1, sum / kDraws, 0.03 * 0.2) << ranks;
  }
  EXPECT_EQ(busiest_load(moe, 1), 1);
  EXPECT_NEAR(busiest_load(moe, 16) - 1, 0.2 / 2 * core::expected_maximum(16), 1e-12);
  EXPECT_EQ(busiest_load(experts(64, 4), 64), 1);
}

// Rows of the busiest rank and what travels to it grow alike, up to the capacity.
TEST(BusiestLoad, IsWhatEveryRankWaitsFor) {
  ModelSpec model = mixtral_8x7b();
  const ParallelismSpec parallelism = expert_split(1, 8);
  const TrainingSpec training = recipe(4096, 8);
  const auto shape = [&] {
    return expert_shape(model, training, parallelism, rank_shape(model, training, parallelism), 1);
  };
  model.moe->load_spread = 0.1;
  model.moe->imbalance = 1.2;
  const double load = 1.2 * busiest_load(*model.moe, 8);
  EXPECT_DOUBLE_EQ(shape().load, load);
  EXPECT_EQ(shape().rows_each, std::ceil(8192 * load));
  model.moe->capacity_factor = 1.3;
  EXPECT_DOUBLE_EQ(shape().load, 1.3);
}

/// Bytes of all-to-all of a group, a layer and micro-batch of `model`.
double exchanged(const StepGraph& graph, Group group, int layers, int micro_batches) {
  return collective_bytes(graph, group, CollectiveKind::all_to_all) / (layers * micro_batches);
}

TEST(Dispatch, MovesEveryCopyThereAndBackForwardAndBackward) {
  // T tokens, top k, h wide, 2 bytes: 4 T k h 2 a layer and micro-batch, 6 with full recompute.
  const ModelSpec model = mixtral_8x7b();
  const double once = 2.0 * 4096 * 2 * 4096;
  ParallelismSpec parallelism = expert_split(1, 8);
  const auto bytes = [&] {
    return exchanged(build_step_graph(model, recipe(4096, 32), parallelism, 8, 4), Group::expert,
                     32, 4);
  };
  EXPECT_DOUBLE_EQ(bytes(), 4 * once);
  parallelism.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(bytes(), 6 * once);
}

TEST(Dispatch, SendsEachNodeOneCopyWhereTheSoftwareDoes) {
  // Inside domains a copy for each rank visited, between them one for each domain.
  ModelSpec model = mixtral_8x7b();
  model.moe = experts(256, 8, 8, 4);
  TrainingSpec training = recipe(4096, 64);
  training.framework.expert_dispatch = ExpertDispatch::deduplicated;
  training.framework.dispatch_bytes = 1;  // fp8 there in the forward, 16 bits all other ways
  const StepGraph graph = build_step_graph(model, training, expert_split(1, 64), 64, 1, 8);
  const double row = 4096.0 * 4096 * (1 + 2 + 2 + 2);
  EXPECT_NEAR(exchanged(graph, Group::expert_rail, 32, 1), row * expected_places(*model.moe, 8), 1);
  EXPECT_NEAR(exchanged(graph, Group::expert_domain, 32, 1), row * expected_places(*model.moe, 64),
              1);
  EXPECT_EQ(exchanged(graph, Group::expert, 32, 1), 0);
  // In one domain there is one exchange over all ranks.
  const StepGraph inside = build_step_graph(model, training, expert_split(1, 64), 64, 1, 1);
  EXPECT_NEAR(exchanged(inside, Group::expert, 32, 1), row * expected_places(*model.moe, 64), 1);
}

// Every rank of the group gets the tokens of all, whichever experts they visit, and gives back a
// sum for each: 4,096 tokens x 8 ranks, forward and backward, whatever k.
TEST(Dispatch, GathersTheTokensOfTheGroupWhereTheSoftwareDoes) {
  TrainingSpec training = recipe(4096, 32);
  training.framework.expert_dispatch = ExpertDispatch::all_gather;
  const double once = 2.0 * 4096 * 8 * 4096;
  for (const int top_k : {1, 2, 8}) {
    ModelSpec model = mixtral_8x7b();
    model.moe->top_k = top_k;
    model.moe->imbalance = 1.5;
    const StepGraph graph = build_step_graph(model, training, expert_split(1, 8), 8, 4);
    const auto bytes = [&](CollectiveKind kind) {
      return collective_bytes(graph, Group::expert, kind) / (32 * 4);
    };
    EXPECT_DOUBLE_EQ(bytes(CollectiveKind::all_gather), 2 * once);
    EXPECT_DOUBLE_EQ(bytes(CollectiveKind::reduce_scatter), 2 * once);
    EXPECT_EQ(bytes(CollectiveKind::all_to_all), 0);
  }
}

// With experts over 2 tensor ranks the tokens of both are gathered, not the rows: 4,096 / 2 tokens
// x 4 expert ranks x 2.
TEST(Dispatch, OfGatheredTokensGathersThemOverExpertTensorRanksToo) {
  TrainingSpec training = recipe(4096, 32);
  training.framework.expert_dispatch = ExpertDispatch::all_gather;
  const StepGraph graph = build_step_graph(mixtral_8x7b(), training, expert_split(2, 4, 2), 8, 4);
  const double once = 2.0 * 2048 * 4 * 2 * 4096;
  EXPECT_DOUBLE_EQ(
      collective_bytes(graph, Group::expert_tensor, CollectiveKind::all_gather) / (32 * 4),
      2 * once);
}

const Block& block_named(const StepGraph& graph, const std::string& name) {
  return *std::find_if(graph.blocks.begin(), graph.blocks.end(), [&](const Block& block) {
    return block.name.find(name) != std::string::npos;
  });
}

TEST(Dispatch, BesideOtherWorkMovesTheSameBytes) {
  const ModelSpec model = mixtral_8x7b();
  TrainingSpec training = recipe(4096, 32);
  const StepGraph before = build_step_graph(model, training, expert_split(1, 8), 8, 4);
  training.framework.expert_overlap = true;
  const StepGraph beside = build_step_graph(model, training, expert_split(1, 8), 8, 4);
  EXPECT_DOUBLE_EQ(exchanged(beside, Group::expert, 32, 4),
                   exchanged(before, Group::expert, 32, 4));
  // The way there starts with the layer, the way back when the tokens are there; neither blocks.
  const Block& forward = block_named(beside, "forward");
  EXPECT_STREQ(forward.operations.front().name, "dispatch");
  for (const Operation& o : forward.operations) {
    EXPECT_TRUE(o.kind != OperationKind::collective || o.asynchronous) << o.name;
    if (std::string(o.name) == "combine") {
      EXPECT_EQ(o.waits, FewNumbers{0});
    }
  }
}

std::int64_t launches(const StepGraph& graph, const std::string& name) {
  std::int64_t sum = 0;
  for (const Operation& o : block_named(graph, name).operations) {
    for (const core::Kernel& kernel : o.kernels) {
      sum += kernel.count * kernel.launches;
    }
  }
  return sum;
}

// 16 experts on one rank: a loop launches 15 more of each of their two forward products.
TEST(ExpertLaunches, AreOneAnExpertInALoopAndNoneInAGraph) {
  ModelSpec model = mixtral_8x7b();
  model.moe = experts(16, 2);
  TrainingSpec training = recipe(4096, 32);
  const auto forward = [&] {
    return launches(build_step_graph(model, training, expert_split(1, 1), 8, 4), "forward");
  };
  const std::int64_t grouped = forward();
  training.framework.grouped_launch = false;
  EXPECT_EQ(forward(), grouped + 2 * 15);
  const std::int64_t all = forward();
  training.framework.attention_graphs = true;
  // The experts' 2 x 16 products, one activation, permutation, its reverse and the residual are
  // left.
  EXPECT_LT(forward(), all);
  EXPECT_EQ(forward(), 2 * 16 + 4);
}

// The CPU reads how many tokens each expert has once a forward, but not for a recorded graph.
TEST(TokenCounts, AreWaitedForOnceAForward) {
  TrainingSpec training = recipe(4096, 32);
  training.framework.host.token_counts = core::Seconds(2e-4);
  const auto waits = [&](const char* block) {
    const StepGraph graph = build_step_graph(mixtral_8x7b(), training, expert_split(1, 8), 8, 4);
    const auto& operations = block_named(graph, block).operations;
    return std::count_if(operations.begin(), operations.end(), [](const Operation& o) {
      return o.kind == OperationKind::delay && o.activity == core::Activity::launch &&
             o.duration == core::Seconds(2e-4);
    });
  };
  EXPECT_EQ(waits("forward"), 1);
  EXPECT_EQ(waits("backward"), 0);
  training.framework.cuda_graphs = true;
  EXPECT_EQ(waits("forward"), 0);
}

// Experts that are filled up to a capacity have as many tokens as it says: nobody waits for counts.
TEST(TokenCounts, OfACapacityAreKnown) {
  TrainingSpec training = recipe(4096, 32);
  training.framework.host.token_counts = core::Seconds(2e-4);
  ModelSpec model = mixtral_8x7b();
  const auto waits = [&] {
    double sum = 0;
    for_each_operation(build_step_graph(model, training, expert_split(1, 8), 8, 4),
                       [&](int, const Operation& o, int times) {
                         sum += o.name == std::string("token counts") ? times : 0;
                       });
    return sum;
  };
  EXPECT_EQ(waits(), 32 * 4);
  model.moe->capacity_factor = 1;
  EXPECT_EQ(waits(), 32 * 4);
  model.moe->padded = true;
  EXPECT_EQ(waits(), 0);
}

// Half of the copies are dropped: of two experts a token one is left.
TEST(ExpertWork, OfDroppedTokensIsNotCounted) {
  ModelSpec model = mixtral_8x7b();
  const double all = forward_flops_per_token(model, 4096).mlp.si();
  model.moe->capacity_factor = 0.5;
  const double kept = forward_flops_per_token(model, 4096).mlp.si();
  EXPECT_NEAR(all - kept, 2.0 * 32 * 3 * 4096 * 14336, 1);  // one expert of the two, 32 layers
  model.moe->capacity_factor = 1.25;
  EXPECT_EQ(forward_flops_per_token(model, 4096).mlp.si(), all);
}

TEST(NarrowExperts, CastTwiceAndPadTheirRowsWhereTheSoftwareDoes) {
  // One expert a rank, fp8: 8,192 rows of 4,096 in, 14,336 between. Casts of a product's inputs
  // and of its results' gradients (2 B read, 1 + 1 B written): in (4,096 + 28,672), out (14,336 +
  // 4,096). Rows copied (2 + 2 B) before and after, forward and backward.
  const ModelSpec model = mixtral_8x7b();
  TrainingSpec training = recipe(4096, 32);
  const auto traffic = [&](core::Precision precision, bool padded) {
    training.precision = precision;
    training.framework.padded_expert_rows = padded;
    return memory_traffic(build_step_graph(model, training, expert_split(1, 8), 8, 4));
  };
  const double rows = 8192.0 * 32 * 4;
  const double plain = traffic(core::Precision::fp8, false);
  EXPECT_NEAR(traffic(core::Precision::fp8, true) - plain, 4 * 4 * rows * 4096, 1);
  EXPECT_EQ(traffic(core::Precision::bf16, true), traffic(core::Precision::bf16, false));
  // Attention's linear layers are cast once: 3 B an element of 4,096 tokens, qkv (4,096 + 6,144)
  // and projection (4,096 + 4,096).
  const double experts = 4 * rows * (4096 + 28672 + 14336 + 4096);
  const double attention = 3 * rows / 2 * (4096 + 6144 + 4096 + 4096);
  EXPECT_NEAR(plain - traffic(core::Precision::bf16, false), experts + attention, 1);
}

TEST(ExpertParameters, OfAllRanksAddUpToTheModel) {
  // tensor 2, expert 4, expert tensor 2 of 16 experts: shared parts are split over 2 ranks (norms
  // and routers copied), experts over 8.
  ModelSpec model = deepseek_v3();
  model.latent.reset();
  model.attention = AttentionKind::multi_head;
  model.multi_token_prediction = 0;
  const ParallelismSpec parallelism = expert_split(2, 4, 2);
  const RankParameters rank =
      stage_parameters_per_rank(model, parallelism, StageLayout(model, parallelism), 0);
  const double norms = 7168.0 * (2 * 61 + 1);
  const double routers = 58.0 * 7168 * 256;
  EXPECT_NEAR(2 * rank.shared + 8 * rank.experts, count_parameters(model).total() + norms + routers,
              1);
  // Biases of rows, of experts too, are whole on each rank of a tensor group.
  model.moe->biases = true;
  const RankParameters biased =
      stage_parameters_per_rank(model, parallelism, StageLayout(model, parallelism), 0);
  const double rows = 58.0 * 7168 * (1 + 256);
  EXPECT_NEAR(2 * biased.shared + 8 * biased.experts,
              count_parameters(model).total() + norms + routers + rows, 1);
}

TEST(ExpertGradients, AreReducedOverTheRanksWithTheSameExperts) {
  const ModelSpec model = mixtral_8x7b();
  for (const bool overlap : {false, true}) {
    TrainingSpec training = recipe(4096, 64);
    training.framework.data_overlap = overlap;
    const ParallelismSpec parallelism = expert_split(1, 4);
    const StepGraph graph = build_step_graph(model, training, parallelism, 16, 4);
    const RankParameters rank =
        stage_parameters_per_rank(model, parallelism, StageLayout(model, parallelism), 0);
    EXPECT_NEAR(collective_bytes(graph, Group::data_context, CollectiveKind::reduce_scatter),
                4 * rank.shared, 1);
    EXPECT_NEAR(collective_bytes(graph, Group::expert_data, CollectiveKind::reduce_scatter),
                4 * rank.experts, 1);
    EXPECT_NEAR(collective_bytes(graph, Group::expert_data, CollectiveKind::all_gather),
                2 * rank.experts, 1);
  }
  EXPECT_EQ(expert_data_ranks(expert_split(4, 8, 2), 16), 4);  // 4 x 16 / (8 x 2)
}

TEST(ExpertGradients, WithHybridShardingStayInOneCopyAndAreSummedOverTheCopies) {
  // 2 tensor x 16 data ranks, copies of 8 data ranks: 2 x 8 / (4 x 2) = 2 ranks divide an expert of
  // one copy, 8 divide the rest; each reduces and gathers its own, and sums its share over 2
  // copies.
  const ModelSpec model = mixtral_8x7b();
  const double m = 4;
  ParallelismSpec parallelism = expert_split(2, 4, 2);
  parallelism.sharding = Sharding::hsdp;
  parallelism.shard_group_size = 8;
  EXPECT_EQ(expert_shard_ranks(parallelism), 2);
  const RankParameters rank =
      stage_parameters_per_rank(model, parallelism, StageLayout(model, parallelism), 0);
  for (const bool overlap : {false, true}) {
    TrainingSpec training = recipe(4096, 64);
    training.framework.data_overlap = overlap;
    const StepGraph graph = build_step_graph(model, training, parallelism, 16, 4);
    const auto bytes = [&](Group group, CollectiveKind kind) {
      return collective_bytes(graph, group, kind);
    };
    EXPECT_NEAR(bytes(Group::shard, CollectiveKind::reduce_scatter), m * 4 * rank.shared, 1);
    EXPECT_NEAR(bytes(Group::replica, CollectiveKind::all_reduce), m * 4 * rank.shared / 8, 1);
    EXPECT_NEAR(bytes(Group::expert_shard, CollectiveKind::reduce_scatter), m * 4 * rank.experts,
                1);
    EXPECT_NEAR(bytes(Group::expert_replica, CollectiveKind::all_reduce), m * 4 * rank.experts / 2,
                1);
    // Every layer's experts are gathered for the forward and again for the backward.
    EXPECT_NEAR(bytes(Group::expert_shard, CollectiveKind::all_gather), m * 2 * 2 * rank.experts,
                1);
    EXPECT_EQ(bytes(Group::expert_data, CollectiveKind::all_gather), 0);
    EXPECT_EQ(bytes(Group::data_context, CollectiveKind::reduce_scatter), 0);
  }
}

TEST(ExpertGradients, OfOneGroupWithHybridShardingMoveWhatZero3Does) {
  const ModelSpec model = mixtral_8x7b();
  ParallelismSpec parallelism = expert_split(1, 4);
  parallelism.sharding = Sharding::hsdp;
  parallelism.shard_group_size = 16;
  const DataRanks hybrid = data_ranks(parallelism, 16);
  parallelism.sharding = Sharding::zero3;
  parallelism.shard_group_size = 0;
  const DataRanks zero3 = data_ranks(parallelism, 16);
  EXPECT_EQ(hybrid.shards, zero3.shards);
  EXPECT_EQ(hybrid.expert_shards, zero3.expert_shards);
  EXPECT_EQ(hybrid.expert_shards, 4);
}

TEST(ShardProblem, NamesExpertGroupsThatOneCopyDoesNotHold) {
  ParallelismSpec parallelism = expert_split(2, 4, 2);
  parallelism.sharding = Sharding::hsdp;
  parallelism.shard_group_size = 2;
  EXPECT_EQ(text(shard_problem(parallelism, 16)),
            "expert 4 x expert_tensor 2 = 8 does not divide the tensor 2 x shard_group_size 2 = 4 "
            "ranks that hold one copy of a stage's weights; choose a multiple of 4 as "
            "shard_group_size, or sharding zero3");
  parallelism.shard_group_size = 4;
  EXPECT_EQ(text(shard_problem(parallelism, 16)), "");
  parallelism.shard_group_size = 3;
  EXPECT_EQ(text(shard_problem(parallelism, 16)),
            "shard_group_size 3 does not divide the context 1 x data 16 = 16 ranks");
}

TEST(ExpertProblems, AreAllNamed) {
  ParallelismSpec parallelism = expert_split(2, 3, 3);
  parallelism.sequence = false;
  EXPECT_THAT(
      texts(expert_problems(mixtral_8x7b(), parallelism, 4)),
      testing::ElementsAre(
          "8 experts do not divide over 3 expert-parallel ranks",
          "14336 columns of an expert do not divide over 3 expert tensor ranks",
          "expert 3 x expert_tensor 3 = 9 does not divide the tensor 2 x context 1 x data 4 = 8 "
          "ranks of a stage",
          "a mixture of experts with tensor parallelism needs 'sequence: true', so that every rank "
          "routes tokens of its own"));
  EXPECT_THAT(texts(expert_problems(llama_8b(), expert_split(1, 2), 4)),
              testing::ElementsAre(
                  "model 'Llama 3.1 8B' has no experts; write expert: 1 and expert_tensor: 1"));
  ModelSpec limited = mixtral_8x7b();
  limited.moe->routing_groups = 8;
  limited.moe->group_limit = 1;
  limited.moe->padded = true;
  EXPECT_THAT(paths(expert_problems(limited, expert_split(1, 8), 8)),
              testing::ElementsAre("model.moe.top_k", "model.moe.padded"));
  EXPECT_THAT(
      texts(expert_problems(limited, expert_split(1, 8), 8)),
      testing::ElementsAre("a token cannot visit 2 experts where it can reach 1",
                           "'padded' needs the capacity that is filled up: set 'capacity_factor'"));
}

}  // namespace
}  // namespace headway::workload
