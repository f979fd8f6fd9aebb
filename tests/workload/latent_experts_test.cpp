// Experts on a latent width (LatentMoE, Nemotron 3 Super) and experts that do nothing
// (LongCat-Flash): parameters, work, bytes on the wire, memory, rules.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/expert_shape.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;

/// Mixtral whose experts work on 1,024 of 4,096 columns.
ModelSpec narrow_mixtral() {
  ModelSpec model = mixtral_8x7b();
  model.moe->latent = 1024;
  return model;
}

/// Mixtral with as many experts that do nothing as have work.
ModelSpec idle_mixtral() {
  ModelSpec model = mixtral_8x7b();
  model.moe->null_experts = 8;
  return model;
}

ParallelismSpec mixtral_split(int tensor, int expert, int expert_tensor = 1) {
  ParallelismSpec parallelism = split(tensor, 1);
  parallelism.expert = expert;
  parallelism.expert_tensor = expert_tensor;
  return parallelism;
}

ExpertShape mixtral_shape(const ModelSpec& model, const ParallelismSpec& parallelism) {
  const TrainingSpec training = recipe(4096, 8);
  return expert_shape(model, training, parallelism, rank_shape(model, training, parallelism), 1);
}

// An expert has three matrices of 1,024 x 14,336, a layer two projections of 4,096 x 1,024 more.
TEST(LatentExperts, HaveNarrowMatricesAndTwoProjectionsALayer) {
  const double expert = 3.0 * 14336;
  const double lost = 8 * expert * (4096 - 1024);
  const double projections = 2.0 * 4096 * 1024;
  EXPECT_DOUBLE_EQ(
      count_parameters(mixtral_8x7b()).total() - count_parameters(narrow_mixtral()).total(),
      32 * (lost - projections));
  EXPECT_DOUBLE_EQ(
      count_parameters(mixtral_8x7b()).active - count_parameters(narrow_mixtral()).active,
      32 * (lost / 4 - projections));
  // Each tensor rank has the projections whole; experts are divided over their ranks.
  LayerKind kind;
  kind.experts = true;
  const auto held = [&](const ModelSpec& model) {
    return layer_parameters_per_rank(model, mixtral_split(4, 2, 2), kind);
  };
  EXPECT_DOUBLE_EQ(held(narrow_mixtral()).shared - held(mixtral_8x7b()).shared, projections);
  EXPECT_DOUBLE_EQ(held(mixtral_8x7b()).experts - held(narrow_mixtral()).experts, lost / 4);
  ModelSpec biased = narrow_mixtral();
  biased.biases = true;
  EXPECT_DOUBLE_EQ(layer_parameters(biased, kind).latent, projections + 4096 + 1024);
}

TEST(LatentExperts, WorkAsTheClosedFormSays) {
  // m s (3 linear + 3.5 causal core attention), as without; the projections are among the linear.
  const ModelSpec model = narrow_mixtral();
  const ForwardFlops forward = forward_flops_per_token(model, 4096);
  EXPECT_DOUBLE_EQ(forward.mlp.si(),
                   32 * 2 * (2 * 3.0 * 1024 * 14336 + 2 * 4096.0 * 1024 + 4096 * 8));
  const double expected =
      4.0 * 4096 * (3.0 * forward.linear().si() + 3.5 * 0.5 * forward.core().si());
  for (const int tensor : {1, 4}) {
    for (const int expert : {1, 2}) {
      const StepGraph graph =
          build_step_graph(model, recipe(4096, 32), mixtral_split(tensor, expert), 8, 4);
      EXPECT_NEAR(tensor * matrix_work(graph) / expected, 1, 1e-9) << tensor << " " << expert;
    }
  }
}

// T tokens, top k, 1,024 wide, 2 bytes, there and back, forward and backward: a quarter.
TEST(LatentExperts, TravelOnTheirOwnWidth) {
  const StepGraph graph =
      build_step_graph(narrow_mixtral(), recipe(4096, 32), mixtral_split(1, 8), 8, 4);
  EXPECT_DOUBLE_EQ(collective_bytes(graph, Group::expert, CollectiveKind::all_to_all) / (32 * 4),
                   4 * 2.0 * 4096 * 2 * 1024);
  EXPECT_EQ(dispatch_bytes(mixtral_shape(narrow_mixtral(), mixtral_split(1, 8)), 2).group.si(),
            2.0 * 4096 * 2 * 1024);
  // Expert tensor ranks gather and reduce rows of that width too.
  const StepGraph shared =
      build_step_graph(narrow_mixtral(), recipe(4096, 32), mixtral_split(2, 4, 2), 8, 4);
  const StepGraph wide =
      build_step_graph(mixtral_8x7b(), recipe(4096, 32), mixtral_split(2, 4, 2), 8, 4);
  EXPECT_DOUBLE_EQ(bytes_of(wide, "expert gather"), 4 * bytes_of(shared, "expert gather"));
}

// Of 8,192 rows an expert, kept at 2 bytes: 1,024 columns, not 4,096; and the sum over a token's
// experts before it is projected back.
TEST(LatentExperts, KeepNarrowRowsAndTheirSum) {
  LayerKind kind;
  kind.experts = true;
  const auto kept = [&](const ModelSpec& model) {
    return saved_per_layer(model, recipe(4096, 8), mixtral_split(1, 8), kind).si();
  };
  EXPECT_DOUBLE_EQ(kept(narrow_mixtral()) - kept(mixtral_8x7b()),
                   2.0 * 8192 * (1024 - 4096) + 2.0 * 4096 * 1024);
}

TEST(LatentExperts, AreMatricesOfMuon) {
  LayerKind kind;
  kind.experts = true;
  const auto matrices = layer_matrices(narrow_mixtral(), mixtral_split(1, 8), kind);
  const auto count = [&](std::int64_t rows, std::int64_t columns) {
    std::int64_t sum = 0;
    for (const OwnedMatrices& one : matrices) {
      sum += one.rows == rows && one.columns == columns ? one.count : 0;
    }
    return sum;
  };
  EXPECT_EQ(count(1024, 4096), 3);  // down, and keys and values of 8 heads x 128
  EXPECT_EQ(count(4096, 1024), 1);
  EXPECT_EQ(count(2 * 14336, 1024), 1);
  EXPECT_EQ(count(1024, 14336), 1);
}

/// Mean number of places over every choice of `top_k` among all, of which the last do nothing and
/// lie nowhere.
double places_counted(const ExpertsSpec& moe, int places) {
  const int all = moe.experts + moe.null_experts;
  double visits = 0, choices = 0;
  for (unsigned chosen = 0; chosen < 1U << all; ++chosen) {
    if (__builtin_popcount(chosen) != moe.top_k) {
      continue;
    }
    std::set<int> visited;
    for (int e = 0; e < moe.experts; ++e) {
      if ((chosen >> e & 1U) != 0) {
        visited.insert(e / (moe.experts / places));
      }
    }
    visits += static_cast<double>(visited.size());
    choices += 1;
  }
  return visits / choices;
}

TEST(NullExperts, LeaveTheMeanOverAllChoicesToTheOthers) {
  ExpertsSpec moe;
  moe.experts = 8;
  moe.top_k = 3;
  moe.null_experts = 4;
  for (const int places : {1, 2, 4, 8}) {
    EXPECT_NEAR(expected_places(moe, places), places_counted(moe, places), 1e-12) << places;
  }
  EXPECT_DOUBLE_EQ(visited_experts(moe), 2);  // 3 x 8 / 12
}

// Half of a token's two experts have work: half the rows, half the bytes, half the experts' FLOP;
// the router scores sixteen.
TEST(NullExperts, AreNeitherSentNorComputed) {
  const ExpertShape shape = mixtral_shape(idle_mixtral(), mixtral_split(1, 8));
  EXPECT_EQ(shape.rows_each, 4096);
  EXPECT_EQ(shape.scored, 16);
  const ModelSpec model = idle_mixtral();
  const ForwardFlops forward = forward_flops_per_token(model, 4096);
  EXPECT_DOUBLE_EQ(forward.mlp.si(), 32 * 2 * (3.0 * 4096 * 14336 + 4096.0 * 16));
  const StepGraph graph = build_step_graph(model, recipe(4096, 32), mixtral_split(1, 8), 8, 4);
  EXPECT_NEAR(matrix_work(graph) /
                  (4.0 * 4096 * (3.0 * forward.linear().si() + 3.5 * 0.5 * forward.core().si())),
              1, 1e-9);
  EXPECT_DOUBLE_EQ(collective_bytes(graph, Group::expert, CollectiveKind::all_to_all) / (32 * 4),
                   4 * 2.0 * 4096 * 1 * 4096);
  // The token itself is added: it and the sum read, the sum written; backward gradient, token and
  // the token's gradient read, that written.
  EXPECT_DOUBLE_EQ(kernel_traffic(graph, "null experts") / (32 * 4), (3 + 4) * 2.0 * 4096 * 4096);
  // They have no weights but their columns of the router.
  EXPECT_DOUBLE_EQ(count_parameters(model).total() - count_parameters(mixtral_8x7b()).total(),
                   32 * 4096.0 * 8);
}

TEST(NullExperts, AreRefusedBesideRoutingGroups) {
  ModelSpec model = idle_mixtral();
  EXPECT_THAT(texts(expert_problems(model, mixtral_split(1, 8), 8)), testing::IsEmpty());
  model.moe->top_k = 12;  // more than have work
  EXPECT_THAT(texts(expert_problems(model, mixtral_split(1, 8), 8)), testing::IsEmpty());
  model.moe->top_k = 17;
  EXPECT_THAT(texts(expert_problems(model, mixtral_split(1, 8), 8)),
              testing::ElementsAre("a token cannot visit 17 experts where it can reach 16"));
  model.moe->top_k = 2;
  model.moe->routing_groups = 4;
  EXPECT_THAT(texts(expert_problems(model, mixtral_split(1, 8), 8)),
              testing::ElementsAre("null_experts beside 4 routing groups is not simulated: which "
                                   "group they are in is not known; write routing_groups: 1"));
}

/// Two of Mamba-2's halves, one of attention, four of experts.
ModelSpec halves_of_nemotron() {
  using L = LayerContent;
  ModelSpec model = narrow_mixtral();
  model.layers = 8;
  model.ffn = 0;
  model.mixer = MixerSpec{};
  model.mixer->heads = 64;
  model.layer_pattern = {L::mixer_only, L::experts_only, L::attention_only, L::experts_only};
  return model;
}

// "*E": attention and experts, with the norms of both, two more before the join and one after.
TEST(Predictions, OfSingleHalvesAreAttentionWithExperts) {
  ModelSpec model = halves_of_nemotron();
  model.multi_token_prediction = 2;
  const LayerKind kind = prediction_kind(model, {});
  EXPECT_TRUE(kind.attends() && kind.experts && kind.mlp);
  EXPECT_THAT(texts(unsupported(model, recipe(4096, 8), split(1, 1))), testing::IsEmpty());
  const double attention = 4096.0 * 128 * (2 * 32 + 2 * 8);
  const double experts = 8 * 3.0 * 1024 * 14336 + 2.0 * 4096 * 1024 + 4096 * 8;
  EXPECT_DOUBLE_EQ(count_parameters(model).prediction,
                   2 * (attention + experts + (2 + 3) * 4096 + 2.0 * 4096 * 4096));
  // Its blocks are built though no layer of the model is of that kind, and its memory is known.
  const StepGraph graph = build_step_graph(model, recipe(4096, 8), split(1, 1), 1, 1);
  const ForwardFlops forward = forward_flops_per_token(model, 4096);
  EXPECT_GT(forward.prediction.si(), 0);
  EXPECT_GT(matrix_work(graph), 3.0 * 4096 * (forward.linear() - forward.scan).si());
}

}  // namespace
}  // namespace headway::workload
