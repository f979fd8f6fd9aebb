// What the operators of a mixture beside its products move: permutation, biases, bounds, joining.
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

#include "sim/workload/blocks/build.h"
#include "sim/workload/constants.h"
#include "sim/workload/memory/activation_memory.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;

// Rows of 2 copies of 4,096 tokens, 16 bits. Apart from one pass each way (4 times 2 B of a row and
// 2 B of a token) the operators move, of a row: 16 B for probabilities and the sum forward, 26 B
// and 4 B more backward; of a token 8 and 4 B.
TEST(Permutation, MovesMoreWhereItIsNotFused) {
  TrainingSpec training = recipe(4096, 32);
  const auto traffic = [&] {
    return memory_traffic(build_step_graph(mixtral_8x7b(), training, expert_split(1, 8), 8, 4));
  };
  const double fused = traffic();
  training.framework.fused_permute = false;
  const double rows = 4096.0 * 2 * 4096 * 32 * 4;
  EXPECT_NEAR((traffic() - fused) / rows, (16 + 26 + 4) + (8 + 4) / 2.0, 1e-9);
}

// Probabilities in the activations' format leave 10 B of a row and 2 B of a token forward, 16 B of
// a row backward, 6 and 2 B of the permutation's gradient: beyond one pass each way 8 + 14 + 4 B of
// a row, and 2 B of a token less. One copy a GPU takes fp32 alone.
TEST(Permutation, WithNarrowProbabilitiesStaysNarrow) {
  TrainingSpec training = recipe(4096, 32);
  const auto traffic = [&] {
    return memory_traffic(build_step_graph(mixtral_8x7b(), training, expert_split(1, 8), 8, 4));
  };
  const double fused = traffic();
  training.framework.fused_permute = false;
  training.framework.wide_probabilities = false;
  const double rows = 4096.0 * 2 * 4096 * 32 * 4;
  EXPECT_NEAR((traffic() - fused) / rows, (8 + 14 + 4) - 2 / 2.0, 1e-9);
  training.framework.expert_dispatch = ExpertDispatch::deduplicated;
  const double narrow = traffic();
  training.framework.wide_probabilities = true;
  EXPECT_EQ(traffic(), narrow);
}

// Of 18 bytes of a row's result, 12 are added to rows that others are added to as well, and so are
// all 6 of a row's gradient: kernels of their own, beside those of 6 and 10 B of tokens, two rows
// each, and of the gradient's 2 B.
TEST(ExpertWork, SumsOverScatteredRowsAreSlow) {
  TrainingSpec training = recipe(4096, 32);
  training.framework.fused_permute = false;
  double scattered = 0;
  for (const auto& constant : model_constants()) {
    scattered = constant.name == "workload.scattered_issue" ? constant.value : scattered;
  }
  ASSERT_GT(scattered, 0);
  std::map<double, std::set<double>> bytes;  // a row, by issue
  for_each_operation(build_step_graph(mixtral_8x7b(), training, expert_split(1, 8), 8, 4),
                     [&](int, const Operation& operation, int) {
                       for (const core::Kernel& kernel : operation.kernels) {
                         if (std::string(kernel.name) == "unpermute") {
                           const auto count = static_cast<double>(kernel.count);
                           bytes[kernel.issued].insert(
                               std::round(count * kernel.traffic.si() / (4096.0 * 2 * 4096)));
                         }
                       }
                     });
  EXPECT_EQ(bytes[scattered], (std::set<double>{6, 12}));
  EXPECT_EQ(bytes[0], (std::set<double>{2 / 2, 6 + 10 / 2}));
}

TEST(ExpertBiases, OfOutputsAreAddedApartInFullPrecision) {
  // 8 ranks with one expert each: 4,096 tokens x top 2 rows of 4,096 elements, 28 B forward and
  // 40 B backward, 32 layers and 4 micro-batches.
  const ModelSpec model = mixtral_8x7b();
  ModelSpec biased = model;
  biased.moe->biases = true;
  TrainingSpec training = recipe(4096, 32);
  const auto traffic = [&](const ModelSpec& of) {
    return memory_traffic(build_step_graph(of, training, expert_split(1, 8), 8, 4));
  };
  const double elements = 4096.0 * 2 * 4096 * 32 * 4;
  const double parameters = count_parameters(biased).total() - count_parameters(model).total();
  EXPECT_EQ(parameters, 32.0 * 8 * (2 * 14336 + 4096));
  // What is left is the optimizer's, which updates the biases too: some 30 B a parameter.
  EXPECT_NEAR(traffic(biased) - traffic(model), 68 * elements, 100 * parameters);
  // In 16 bits: p b 2, the sum 6, all joined 4; backward joined 4, g p, g b and their sums 12.
  training.framework.wide_probabilities = false;
  EXPECT_NEAR(traffic(biased) - traffic(model), 28 * elements, 100 * parameters);
  training.framework.fused_expert_bias = true;
  EXPECT_NEAR(traffic(biased) - traffic(model), 0, 100 * parameters);
}

// One expert a rank, 8,192 rows of 14,336 results of two inputs each. Forward each input is cut off
// and joined (2 x 8 B); backward the gate's 2 + 1 + 1 + 2 + 2 B, the other's 4 + 2 + 3 + 1 + 2 + 2,
// both joined 8 B: 30. What is cut off stays until backward, 2 x 2 B a result.
TEST(ExpertLimits, OfOperatorsOfTheirOwnMoveAndKeepBothInputs) {
  ModelSpec limited = mixtral_8x7b();
  limited.moe->limited_activation = true;
  TrainingSpec training = recipe(4096, 32);
  const auto traffic = [&](const ModelSpec& of) {
    return memory_traffic(build_step_graph(of, training, expert_split(1, 8), 8, 4));
  };
  const auto kept = [&](const ModelSpec& of) {
    return saved_per_layer(of, training, expert_split(1, 8), {.experts = true}).si();
  };
  EXPECT_EQ(traffic(limited), traffic(mixtral_8x7b()));
  training.framework.fused_expert_limits = false;
  const double results = 8192.0 * 14336;
  EXPECT_NEAR(traffic(limited) - traffic(mixtral_8x7b()), (16 + 30) * results * 32 * 4, 1);
  EXPECT_NEAR(kept(limited) - kept(mixtral_8x7b()), 4 * results, 1);
  training.framework.elementwise = Elementwise::compiled;
  EXPECT_EQ(kept(limited), kept(mixtral_8x7b()));
}

// Two experts a rank, 8,192 rows: outputs of 4,096 and gradients of as many inputs are copied
// once.
TEST(JoinedExperts, CopyOutputsAndGradients) {
  TrainingSpec training = recipe(4096, 32);
  const auto traffic = [&](int ranks) {
    return memory_traffic(build_step_graph(mixtral_8x7b(), training, expert_split(1, ranks), 8, 4));
  };
  const double grouped = traffic(4);
  const double alone = traffic(8);
  training.framework.joined_experts = true;
  EXPECT_NEAR(traffic(4) - grouped, 2 * (2 + 2) * 8192.0 * 4096 * 32 * 4, 1);
  EXPECT_EQ(traffic(8), alone);
}

}  // namespace
}  // namespace headway::workload
