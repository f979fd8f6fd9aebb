// What software allocates beside the model's own tensors.
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;

constexpr double kHead = 4096.0 * 128256;                                              // matrix
constexpr double kLlamaLayer = 4096.0 * (2 * 4096 + 2 * 1024 + 3 * 14336) + 2 * 4096;  // parameters

StageMemory of(const TrainingSpec& training, const ParallelismSpec& parallelism, int data) {
  return stage_memory(llama_8b(), training, parallelism, data, 1).front();
}

// DistributedDataParallel: 2 B of every weight, where there are replicas to reduce with.
TEST(Allocation, BucketsOfGradientsAreCopies) {
  TrainingSpec training = recipe(4096, 8);
  const StageMemory without = of(training, split(1, 1), 4);
  const StageMemory alone = of(training, split(1, 1), 1);
  training.framework.allocation.bucket_bytes = 2;
  EXPECT_DOUBLE_EQ((of(training, split(1, 1), 4).total() - without.total()).si(),
                   2 * (32 * kLlamaLayer + 2 * kHead + 4096));
  EXPECT_EQ(of(training, split(1, 1), 1), alone);
}

// An empty 16-bit gradient of each weight of one layer, always; the head's (and its norm's) at the
// moment of the logits, which is the fuller one here.
TEST(Allocation, EmptyGradientsOfALayerAndOfTheHead) {
  TrainingSpec training = recipe(4096, 8);
  const StageMemory without = of(training, split(1, 1), 4);
  training.framework.allocation.empty_gradients = true;
  const StageMemory with = of(training, split(1, 1), 4);
  EXPECT_GT(without.logits.si(), 0);
  EXPECT_DOUBLE_EQ((with.total() - without.total()).si(), 2 * (kLlamaLayer + kHead + 4096));
}

// Weights are cast in every pass with a scale found in it: no copy stays, unless there are no other
// weights.
TEST(Allocation, WeightsThatAreCastInEveryPassHaveNoNarrowCopy) {
  TrainingSpec training = recipe(4096, 8);
  training.precision = core::Precision::fp8;
  const double copied = of(training, split(1, 1), 4).weights.si();
  training.framework.scaling = Scaling::tensor;
  EXPECT_DOUBLE_EQ(copied - of(training, split(1, 1), 4).weights.si(), 2 * 32 * kLlamaLayer);
  training.framework.allocation.narrow_weights = true;
  EXPECT_DOUBLE_EQ(copied - of(training, split(1, 1), 4).weights.si(), 2 * 32 * kLlamaLayer);
}

// fp8: two copies of 1 B of the layers' weights, with or without the 16-bit ones; embedding and
// head stay as they are.
TEST(Allocation, NarrowWeightsHaveNoWideCopy) {
  TrainingSpec training = recipe(4096, 8);
  training.precision = core::Precision::fp8;
  const double wide = of(training, split(1, 1), 4).weights.si();
  EXPECT_DOUBLE_EQ(wide, 4 * 32 * kLlamaLayer + 2 * (2 * kHead + 4096));
  training.framework.allocation.narrow_weights = true;
  EXPECT_DOUBLE_EQ(of(training, split(1, 1), 4).weights.si(), wide - 2 * 32 * kLlamaLayer);
  training.precision = core::Precision::bf16;
  EXPECT_DOUBLE_EQ(of(training, split(1, 1), 4).weights.si(),
                   2 * (32 * kLlamaLayer + 2 * kHead + 4096));
}

// Two inputs of s x h in 2 B on each of 4 tensor ranks, whole instead of a quarter.
TEST(Allocation, GatheredInputsAreKeptWhole) {
  TrainingSpec training = recipe(4096, 8);
  const LayerKind kind{};
  const auto kept = [&] { return saved_per_layer(llama_8b(), training, split(4, 1), kind).si(); };
  const double shares = kept();
  training.framework.allocation.gathered_inputs = true;
  EXPECT_DOUBLE_EQ(kept() - shares, 2 * 2 * 4096.0 * 4096 * 3 / 4);
}

// Queries of 4,096 and keys of 1,024 columns before their rotary embedding, 2 B each, stay where
// values are a part of the same array; not where they have norms (which keep them anyway), are not
// turned, or are exchanged by context ranks.
TEST(Allocation, HeadsOfOneArrayStayTogether) {
  TrainingSpec training = recipe(4096, 8);
  ModelSpec model = llama_8b();
  const LayerKind kind{};
  const auto kept = [&] { return saved_per_layer(model, training, split(1, 1), kind).si(); };
  const double copied = kept();
  training.framework.joined_heads = true;
  EXPECT_DOUBLE_EQ(kept() - copied, 2 * 4096.0 * (4096 + 1024));
  model.query_key_norm = true;
  const double normed = kept();
  training.framework.joined_heads = false;
  EXPECT_EQ(kept(), normed);
  model.query_key_norm = false;
  model.rotary = false;
  const double unturned = kept();
  training.framework.joined_heads = true;
  EXPECT_EQ(kept(), unturned);
  model.rotary = true;
  ParallelismSpec exchanged = split(1, 1);
  exchanged.context = 2;
  exchanged.context_kind = ContextKind::all_to_all;
  const auto of_context = [&] { return saved_per_layer(model, training, exchanged, kind).si(); };
  const double sent = of_context();
  training.framework.joined_heads = false;
  EXPECT_EQ(of_context(), sent);
}

// Copies of grouped keys are arrays of their own; of as many keys as queries (4,096 columns each)
// all three are one, of which queries are turned in place: 2 B of keys and of values stay.
TEST(Allocation, CopiedHeadsAreOneArrayWhereKeysAreAsMany) {
  TrainingSpec training = recipe(4096, 8);
  training.framework.copied_heads = true;
  ModelSpec model = llama_8b();
  const LayerKind kind{};
  const auto kept = [&] { return saved_per_layer(model, training, split(1, 1), kind).si(); };
  const auto joined = [&] {
    training.framework.joined_heads = false;
    const double apart = kept();
    training.framework.joined_heads = true;
    return kept() - apart;
  };
  EXPECT_EQ(joined(), 0);
  model.key_value_heads = model.heads;
  EXPECT_DOUBLE_EQ(joined(), 2 * 4096.0 * (4096 + 4096));
}

// And are not gathered again: 4 of 6 all-gathers of a layer are left (2 forward; 2 of the gradients
// of rows backward).
TEST(Allocation, GatheredInputsAreNotGatheredAgain) {
  TrainingSpec training = recipe(4096, 1);
  const auto bytes = [&] {
    return collective_bytes(build_step_graph(llama_8b(), training, split(4, 1), 1, 1),
                            Group::tensor, CollectiveKind::all_gather);
  };
  const double again = bytes();
  training.framework.allocation.gathered_inputs = true;
  const double width = 2 * 4096.0 * 4096;
  EXPECT_DOUBLE_EQ(again - bytes(), (32 * 2 + 1) * width);
}

// FSDP's root: embedding and head (2 B, with the last norm) beside the logits, not the head alone;
// a stream's pool is the largest group that is gathered, and no tensor's.
TEST(Allocation, TheRootStaysGathered) {
  TrainingSpec training = recipe(4096, 8);
  ParallelismSpec parallelism = split(1, 1);
  parallelism.sharding = Sharding::zero3;
  training.framework.loss = Loss::separate;
  const StageMemory groups = of(training, parallelism, 8);
  EXPECT_EQ(groups.pool.si(), 0);
  training.framework.allocation.root_gathered = true;
  training.framework.allocation.gather_pool = true;
  const StageMemory root = of(training, parallelism, 8);
  EXPECT_DOUBLE_EQ((root.buffers - groups.buffers).si(), 2 * kHead);
  EXPECT_DOUBLE_EQ(root.pool.si(), 2 * (2 * kHead + 4096));
  EXPECT_DOUBLE_EQ((root.total() - groups.total()).si(), 2 * kHead);
}

// Bytes a logit at the fullest moment: fused 2 + 2; in place 2 + 4 and the gradient's 2; copied 2 +
// 4 + 4 forward; separate 2 + 3 x 4, over tensor ranks one array more.
TEST(Allocation, LogitsByKindOfLoss) {
  TrainingSpec training = recipe(4096, 8);
  const auto bytes = [&](Loss loss, int tensor) {
    training.framework.loss = loss;
    const double logits = 4096.0 * 128256 / tensor;
    return (logits_bytes(llama_8b(), training, split(tensor, 1)) +
            logit_gradient_bytes(llama_8b(), training, split(tensor, 1)))
               .si() /
           logits;
  };
  EXPECT_DOUBLE_EQ(bytes(Loss::fused, 1), 4);
  EXPECT_DOUBLE_EQ(bytes(Loss::in_place, 1), 8);
  EXPECT_DOUBLE_EQ(bytes(Loss::copied, 1), 10);
  EXPECT_DOUBLE_EQ(bytes(Loss::separate, 1), 14);
  EXPECT_DOUBLE_EQ(bytes(Loss::separate, 4), 18);
}

// Four stages of which the first has four micro-batches under way: four outputs of s x h in 2 B,
// on four tensor ranks a quarter each; the last stage sends nothing on.
TEST(Allocation, SentOutputsStayUntilBackward) {
  TrainingSpec training = recipe(4096, 8);
  const auto stages = [&](int tensor) {
    return stage_memory(llama_8b(), training, split(tensor, 4), 1, 8);
  };
  for (const int tensor : {1, 4}) {
    training.framework.allocation.sent_outputs = false;
    const auto without = stages(tensor);
    training.framework.allocation.sent_outputs = true;
    const auto with = stages(tensor);
    const double output = 2 * 4096.0 * 4096 / tensor;
    EXPECT_DOUBLE_EQ((with[0].activations - without[0].activations).si(), 4 * output);
    EXPECT_DOUBLE_EQ((with[2].activations - without[2].activations).si(), 2 * output);
    EXPECT_EQ(with[3], without[3]);
  }
}

}  // namespace
}  // namespace headway::workload
