// Context parallelism in its three forms: work, bytes, gradients and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/models.h"
#include "tests/workload/parameters_per_rank.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;

constexpr ContextKind kKinds[] = {ContextKind::ring, ContextKind::all_gather,
                                  ContextKind::all_to_all};

ParallelismSpec shared(ContextKind kind, int tensor, int pipeline, int context) {
  ParallelismSpec parallelism = split(tensor, pipeline);
  parallelism.context = context;
  parallelism.context_kind = kind;
  return parallelism;
}

BlockInput block_input(const ModelSpec& model,
                       const TrainingSpec& training,
                       const ParallelismSpec& parallelism) {
  return {model, training, parallelism, rank_shape(model, training, parallelism), {}};
}

double attention_work(const Block& block) {
  double work = 0;
  for (const Operation& operation : block.operations) {
    for (const core::Kernel& kernel : operation.kernels) {
      const bool attention = kernel.kind == core::KernelKind::attention_forward ||
                             kernel.kind == core::KernelKind::attention_backward;
      work += attention ? kernel.work.si() * static_cast<double>(kernel.count) : 0.0;
    }
  }
  return work;
}

/// Bytes one rank puts on the wire for its context group: messages whole, of collectives (c-1)/c.
double sent_bytes(const Block& block, double c) {
  double bytes = 0;
  for (const Operation& operation : block.operations) {
    if (operation.group != Group::context || operation.kind == OperationKind::receive) {
      continue;
    }
    const bool collective = operation.kind == OperationKind::collective;
    bytes += operation.bytes.si() * (collective ? (c - 1) / c : 1.0);
  }
  return bytes;
}

int count_operations(const Block& block, OperationKind kind) {
  int count = 0;
  for (const Operation& operation : block.operations) {
    count += operation.kind == kind && operation.group == Group::context ? 1 : 0;
  }
  return count;
}

TEST(ContextWork, OfAllRanksIsTheCausalAttentionOfTheModel) {
  const ModelSpec model = llama_8b();
  const TrainingSpec training = recipe(32768, 16);
  const double core = forward_flops_per_token(model, 32768).core().si();
  for (const ContextKind kind : kKinds) {
    for (const auto& [t, c] : {std::pair{1, 2}, std::pair{2, 4}, std::pair{4, 8}}) {
      const ParallelismSpec parallelism = shared(kind, t, 2, c);
      const StepGraph graph = build_step_graph(model, training, parallelism, 2, 8);
      double work = 0;
      for (const Stage& stage : graph.stages) {
        for (const Call& call : stage.calls) {
          work += attention_work(graph.blocks[static_cast<std::size_t>(call.block)]) * call.repeat;
        }
      }
      // Forward 2 products, backward 5, half of the pairs: 8 sequences of 32768 tokens a replica.
      EXPECT_NEAR(t * c * work / (8.0 * 32768 * 3.5 * 0.5 * core), 1, 1e-12)
          << core::to_word(kind) << " " << c;
      const double layer = executed_attention_per_layer(model, training, parallelism).si();
      EXPECT_NEAR(work / (32 * 8 * layer), 1, 1e-12);
    }
  }
}

TEST(ContextWork, IsThatOfChunkPairsOnEveryRankOfTheRing) {
  // Rank r has chunks r and 2c-1-r of u tokens; queries of chunk i meet u^2/2 pairs in chunk i and
  // u^2 in every earlier one. Block by block every rank does the same work.
  const int c = 4;
  const double u = 1;
  const auto pairs = [&](int query, int key) {
    return query == key ? u * u / 2 : key < query ? u * u : 0.0;
  };
  for (int rank = 0; rank < c; ++rank) {
    for (int step = 0; step < c; ++step) {
      const int from = (rank - step + c) % c;
      double sum = 0;
      for (const int query : {rank, 2 * c - 1 - rank}) {
        for (const int key : {from, 2 * c - 1 - from}) {
          sum += pairs(query, key);
        }
      }
      EXPECT_EQ(sum, 2 * u * u);  // half of (2u)^2, as write_core_attention_forward counts
    }
  }
}

TEST(ContextBytes, AreTheFormulasOfTheLiterature) {
  // 405B, s = 131072, t = 8, c = 16: a rank has 8192 tokens, 16 query heads and 1 key-value head.
  const ModelSpec model = llama_405b();
  const TrainingSpec training = recipe(131072, 16);
  const double head = 2.0 * 8192 * 128;  // one head of a rank's tokens, 16-bit
  for (const ContextKind kind : kKinds) {
    const ParallelismSpec parallelism = shared(kind, 8, 1, 16);
    const BlockInput input = block_input(model, training, parallelism);
    const double forward = sent_bytes(layer_forward(input), 16);
    const double backward = sent_bytes(layer_backward(input), 16);
    if (kind == ContextKind::all_to_all) {
      // Queries and output 16 heads each; keys and values 16 copies each of the one head.
      EXPECT_DOUBLE_EQ(forward, 15.0 / 16 * (16 + 16 + 16 + 16) * head);
      EXPECT_DOUBLE_EQ(backward, forward);
    } else {
      EXPECT_DOUBLE_EQ(forward, 15 * 2 * head);  // = (c-1)/c of an array of 2 s d
      EXPECT_DOUBLE_EQ(backward, 2 * forward);
    }
    const ContextBytes closed = context_bytes_per_layer(model, training, parallelism);
    EXPECT_DOUBLE_EQ(closed.forward.si(), forward);
    EXPECT_DOUBLE_EQ(closed.backward.si(), backward);
  }
}

TEST(ContextBytes, AreSentAgainWhereTheForwardIsRecomputed) {
  const ModelSpec model = llama_8b();
  const TrainingSpec training = recipe(32768, 16);
  for (const ContextKind kind : kKinds) {
    for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
      ParallelismSpec parallelism = shared(kind, 2, 1, 4);
      parallelism.recompute = recompute;
      const ContextBytes once = context_bytes_per_layer(model, training, parallelism);
      EXPECT_DOUBLE_EQ(sent_bytes(layer_backward(block_input(model, training, parallelism)), 4),
                       (once.forward + once.backward).si());
    }
  }
}

TEST(ContextRing, SendsEveryBlockBeforeItWorksOnThePresentOne) {
  const ModelSpec model = llama_8b();
  const TrainingSpec training = recipe(32768, 16);
  const ParallelismSpec parallelism = shared(ContextKind::ring, 1, 1, 4);
  const BlockInput input = block_input(model, training, parallelism);
  const Block forward = layer_forward(input);
  const Block backward = layer_backward(input);
  EXPECT_EQ(count_operations(forward, OperationKind::send), 3);
  EXPECT_EQ(count_operations(forward, OperationKind::receive), 3);
  EXPECT_EQ(count_operations(backward, OperationKind::send), 6);  // blocks and their gradients
  EXPECT_EQ(count_operations(backward, OperationKind::receive), 6);
  for (const Block& block : {forward, backward}) {
    const auto& operations = block.operations;
    for (std::size_t i = 0; i + 1 < operations.size(); ++i) {
      if (operations[i].kind == OperationKind::send && operations[i].channel == 0) {
        EXPECT_EQ(operations[i + 1].kernels.front().sequence, 8192);  // attention runs beside it
      }
    }
  }
}

/// Operations of the context group of one kind and channel.
std::vector<Operation> ring_messages(const Block& block, OperationKind kind, int channel) {
  std::vector<Operation> found;
  for (const Operation& operation : block.operations) {
    if (operation.kind == kind && operation.group == Group::context &&
        operation.channel == channel) {
      found.push_back(operation);
    }
  }
  return found;
}

std::vector<int> distances(const std::vector<Operation>& messages) {
  std::vector<int> out;
  for (const Operation& message : messages) {
    out.push_back(message.distance);
  }
  return out;
}

TEST(ContextRing, SendsWithAWindowOnlyWhatARankNeeds) {
  // 8 ranks, chunks of 2048 tokens, a window of 1024: keys of the rank before and of the rank
  // after, which is 7 places on, 6 from the one before.
  ModelSpec model = llama_8b();
  model.window = 1024;
  const TrainingSpec training = recipe(32768, 16);
  const ParallelismSpec parallelism = shared(ContextKind::ring, 1, 1, 8);
  const BlockInput input = block_input(model, training, parallelism);
  const LayerKind windowed{false, true};
  const Block forward = layer_forward(input, windowed);
  const Block backward = layer_backward(input, windowed);
  for (const auto kind : {OperationKind::send, OperationKind::receive}) {
    EXPECT_THAT(distances(ring_messages(forward, kind, 0)), testing::ElementsAre(1, 6));
    EXPECT_THAT(distances(ring_messages(backward, kind, 0)), testing::ElementsAre(1, 6));
    EXPECT_THAT(distances(ring_messages(backward, kind, 1)), testing::ElementsAre(1, 6));
  }
  const ContextBytes closed = context_bytes_per_layer(model, training, parallelism, true);
  EXPECT_DOUBLE_EQ(closed.forward.si(), sent_bytes(forward, 8));
  EXPECT_DOUBLE_EQ(closed.backward.si(), sent_bytes(backward, 8));
  EXPECT_DOUBLE_EQ(closed.forward.si(), 2 * 2.0 * 4096 * 2 * 1024);  // 2 KV of 8 heads x 128
  // The busiest rank has 2 u w pairs of 32 heads: 2 products of 128 forward, 5 backward.
  const double pairs = 2.0 * 2048 * 1024 * 32;
  EXPECT_DOUBLE_EQ(attention_work(forward), 4 * 128 * pairs);
  EXPECT_DOUBLE_EQ(attention_work(backward), 10 * 128 * pairs);
  // Layers without the window go all round.
  EXPECT_EQ(ring_messages(layer_forward(input), OperationKind::send, 0).size(), 7U);
}

TEST(ContextRing, CutsEveryDocumentIntoChunksOfItsOwn) {
  // Documents of 2048 and 6144 tokens: mean over tokens of half a document 2560. Each of 4 steps
  // has 1/16 of the pairs, 2560/4 keys a query; kernels of 1280 x 1280 causal, then 1280 x 640.
  const ModelSpec model = llama_8b();
  TrainingSpec training = recipe(32768, 16);
  training.documents = {{2048, 1}, {6144, 1}};
  const ParallelismSpec parallelism = shared(ContextKind::ring, 1, 1, 4);
  const BlockInput input = block_input(model, training, parallelism);
  const Block forward = layer_forward(input);
  const double layer = executed_attention_per_layer(model, training, parallelism).si();
  EXPECT_NEAR((attention_work(forward) + attention_work(layer_backward(input))) / layer, 1, 1e-12);
  EXPECT_EQ(ring_messages(forward, OperationKind::send, 0).size(), 3U);
  std::vector<core::Kernel> kernels;
  for (const Operation& operation : forward.operations) {
    for (const core::Kernel& kernel : operation.kernels) {
      if (kernel.kind == core::KernelKind::attention_forward) {
        kernels.push_back(kernel);
      }
    }
  }
  ASSERT_EQ(kernels.size(), 4U);
  for (const core::Kernel& kernel : kernels) {
    const bool own = &kernel == &kernels.front();
    EXPECT_EQ(kernel.causal, own);
    EXPECT_EQ(kernel.sequence, 1280);
    EXPECT_EQ(kernel.key_sequence, own ? 1280 : 640);
    EXPECT_EQ(kernel.batch, 6);  // 8192 queries of a rank
    EXPECT_DOUBLE_EQ(kernel.work.si(), 4.0 * 128 * 32 * 8192 * 640);
  }
}

TEST(ContextOfOne, IsTheGraphWithoutContext) {
  const ModelSpec model = llama_8b();
  const TrainingSpec training = recipe(8192, 16);
  const StepGraph plain = build_step_graph(model, training, split(2, 2), 2, 8);
  for (const ContextKind kind : kKinds) {
    const StepGraph graph = build_step_graph(model, training, shared(kind, 2, 2, 1), 2, 8);
    EXPECT_EQ(graph.blocks, plain.blocks);
    for (const Block& block : graph.blocks) {
      EXPECT_EQ(count_operations(block, OperationKind::collective), 0);
      EXPECT_EQ(count_operations(block, OperationKind::send), 0);
    }
  }
}

TEST(ContextGradients, AreReducedOverDataAndContext) {
  // One replica on 4 context ranks reduces as four replicas do: all hold the same weights.
  const ModelSpec model = llama_8b();
  const TrainingSpec training = recipe(32768, 16);
  const ParallelismSpec parallelism = shared(ContextKind::ring, 2, 1, 4);
  const double parameters = parameters_per_rank(model, parallelism, 0);
  const StepGraph graph = build_step_graph(model, training, parallelism, 1, 4);
  double reduced = 0;
  double adam = 0;
  for (const Call& call : graph.stages.front().calls) {
    for (const Operation& operation :
         graph.blocks[static_cast<std::size_t>(call.block)].operations) {
      const bool scatter = operation.collective == CollectiveKind::reduce_scatter;
      reduced += operation.group == Group::data_context && scatter ? operation.bytes.si() : 0.0;
      for (const core::Kernel& kernel : operation.kernels) {
        adam += std::string(kernel.name) == "optimizer" ? kernel.traffic.si() : 0.0;
      }
    }
  }
  EXPECT_NEAR(reduced, 4 * parameters, 1);
  EXPECT_NEAR(adam, (26 + 4) * parameters / 4, 1);
  const StageMemory memory = stage_memory(model, training, parallelism, 1, 4).front();
  EXPECT_DOUBLE_EQ(memory.optimizer.si(), 12 * parameters / 4);
}

TEST(ContextMemory, IsThatOfTheTokensOfARank) {
  // Ring and all-gather keep what a rank keeps of a sequence c times shorter.
  const ModelSpec model = llama_70b();
  const double whole = saved_per_layer(model, recipe(32768, 8), split(8, 1)).si();
  const double tokens = 8192;
  for (const ContextKind kind : kKinds) {
    const ParallelismSpec parallelism = shared(kind, 8, 1, 4);
    const double kept = saved_per_layer(model, recipe(32768, 8), parallelism).si();
    if (kind == ContextKind::all_to_all) {
      // Keys and values of one head in four copies; the output by heads and by tokens.
      EXPECT_DOUBLE_EQ(kept, whole / 4 + 2 * tokens * 128 * (2 * 3 + 8));
    } else {
      EXPECT_DOUBLE_EQ(kept, whole / 4);
    }
  }
}

TEST(ContextMemory, HoldsWhatIsExchangedDuringBackward) {
  // A model whose attention is wider than its MLP, so that the working set is attention's:
  // gradients of the output, queries, keys and values, and gathered residuals.
  ModelSpec model = llama_8b();
  model.ffn = 1024;
  const TrainingSpec training = recipe(32768, 8);
  const double block = 2.0 * 2 * 8192 * 1024;  // keys and values of 8192 tokens
  const double common = 2.0 * 8192 * 4096 + 2.0 * 8192 * (2 * 4096 + 2 * 1024);
  const auto working = [&](ContextKind kind) {
    return backward_working_set(model, training, shared(kind, 1, 1, 4)).si();
  };
  EXPECT_DOUBLE_EQ(working(ContextKind::ring), common + 2 * block);
  EXPECT_DOUBLE_EQ(working(ContextKind::all_gather), common + 2 * 4 * block);
  EXPECT_DOUBLE_EQ(working(ContextKind::all_to_all), common + 2.0 * 8192 * 4096);
}

TEST(ContextProblems, SayWhatDoesNotDivide) {
  const ModelSpec model = llama_8b();
  EXPECT_THAT(
      texts(context_problems(model, recipe(8192, 8), shared(ContextKind::ring, 1, 1, 3))),
      testing::ElementsAre("a sequence of 8192 tokens does not divide into 2 x context = 6 "
                           "chunks, two for each rank so that all have the same causal work"));
  EXPECT_THAT(
      texts(context_problems(model, recipe(8192, 8), shared(ContextKind::all_to_all, 8, 1, 8))),
      testing::ElementsAre(
          "32 attention heads do not divide over tensor 8 x context 8 = 64; choose "
          "context_kind ring or all-gather"));
  EXPECT_THAT(texts(context_problems(model, recipe_2021(8192, 8),
                                     shared(ContextKind::all_gather, 1, 1, 2))),
              testing::ElementsAre("context parallelism needs fused attention; set "
                                   "framework.attention_kernels to a fused kind"));
  for (const ContextKind kind : kKinds) {
    EXPECT_THAT(texts(context_problems(model, recipe(8192, 8), shared(kind, 4, 1, 2))),
                testing::IsEmpty());
  }
  const ParallelismSpec uneven = shared(ContextKind::ring, 1, 1, 3);
  EXPECT_THROW(build_step_graph(model, recipe(8192, 8), uneven, 1, 8), core::Error);
}

}  // namespace
}  // namespace headway::workload
