// What is not known of models that are trained in part is refused.
#include "sim/workload/trained/trained_problems.h"

#include <gtest/gtest.h>

#include "tests/workload/trained_models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;

TEST(Trained, InPartIsRefusedWhereItIsNotKnown) {
  TrainingSpec training = recipe(int(kS), 8);
  const auto said = [&](const ModelSpec& model, const ParallelismSpec& parallelism = {}) {
    return texts(trained_problems(model, training, parallelism));
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(said(llama_8b()), Texts{});
  EXPECT_EQ(said(adapted(llama_8b(), 16)), Texts{});
  EXPECT_EQ(said(frozen(4, {4, true, false})), Texts{});
  EXPECT_EQ(said(frozen(4, {4, true, true})),
            Texts{"nothing of model 'Llama 3.1 8B' is trained; leave some layers or the head out"});
  EXPECT_EQ(said(frozen(4, {5, true, false})),
            Texts{"5 frozen layers are more than the 4 of model 'Llama 3.1 8B'"});
  EXPECT_EQ(
      said(adapted(gpt_175b(), 16, {P::gate, P::experts, P::gate})),
      (Texts{"the MLP of model 'GPT-3 175B' has no gate", "model 'GPT-3 175B' has no experts",
             "the MLP of model 'GPT-3 175B' has no gate", "adapter product gate is named twice"}));
  EXPECT_EQ(
      said(adapted(llama_8b(), 4), split(8, 1)),
      Texts{"adapters of rank 4 do not divide over 8 tensor-parallel ranks, each of which has "
            "some of their columns"});
  EXPECT_EQ(said(in_nf4(adapted(llama_8b(), 16)), split(2, 1)),
            Texts{"weights in nf4 do not divide over 2 tensor-parallel ranks: no software does "
                  "that; choose tensor: 1 or base: full"});
  EXPECT_EQ(said(adapted(deepseek_v3(), 16)),
            (Texts{"adapters of model 'DeepSeek-V3' with latent attention are not simulated",
                   "prediction modules of a model that is trained in part are not simulated; write "
                   "multi_token_prediction: 0"}));
  ModelSpec tied = gpt_175b();
  tied.frozen = FrozenSpec{2, true, false};
  EXPECT_EQ(said(tied), Texts{"model 'GPT-3 175B' shares the weights of embedding and head: freeze "
                              "both or neither"});
  ModelSpec both = adapted(few(), 16);
  both.frozen = FrozenSpec{4, false, false};
  EXPECT_EQ(
      said(both),
      (Texts{"adapters leave the embedding as it is; an embedding that is trained beside them "
             "is not simulated",
             "no layer of model 'Llama 3.1 8B' is left to have adapters"}));
  ParallelismSpec moved;
  moved.offload = Offload::activations;
  moved.recompute_parts = {RecomputePart::norms, RecomputePart::operators};
  training.optimizer_state = OptimizerState::muon;
  EXPECT_EQ(said(adapted(llama_8b(), 16), moved),
            (Texts{"optimizer_state muon of a model that is trained in part is not simulated",
                   "offload with a model that is trained in part is not simulated; choose none",
                   "recompute part operators of a model that is trained in part is not simulated: "
                   "which products it leaves is known of whole layers"}));
}

}  // namespace
}  // namespace headway::workload
