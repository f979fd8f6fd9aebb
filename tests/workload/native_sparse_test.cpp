// Native sparse attention: compressed blocks, chosen blocks and a window.
#include "sim/workload/native/native_sparse.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;

/// The shape of the paper's model (arXiv 2502.11089, section 4.1): 64 query and 4 key heads, keys
/// 192 and values 128 wide, l 32, d 16, l' 64, n 16, w 512.
ModelSpec nsa_27b() {
  ModelSpec model;
  model.name = "NSA 27B";
  model.layers = 30;
  model.hidden = 2560;
  model.heads = 64;
  model.key_value_heads = 4;
  model.head_dim = 192;
  model.ffn = 12288;
  model.vocabulary = 129280;
  model.moe = ExpertsSpec{72, 6, 2, 1536, 1, 1};
  model.native_sparse.emplace();
  model.native_sparse->value_dim = 128;
  return model;
}

/// Llama 3.1 8B with it, values as wide as keys.
ModelSpec native_llama() {
  ModelSpec model = llama_8b();
  model.native_sparse.emplace();
  return model;
}

double gathered_bytes(const StepGraph& graph) {
  double bytes = 0;
  for_each_operation(graph, [&](int, const Operation& operation, int times) {
    for (const core::Kernel& kernel : operation.kernels) {
      bytes += kernel.gathered.si() * static_cast<double>(kernel.count) * times;
    }
  });
  return bytes;
}

TEST(NativeSparseAttention, HasThreeSetsOfKeysAGateEachAndWeightsThatCompress) {
  const double first = 2560.0 * (64 * 192 + 3 * 4 * (192 + 128) + 3 * 64);
  const double last = 64.0 * 128 * 2560;
  // Of keys and of values 32 x d to d, d to d, and 32 positions.
  const double compression = 4 * (33.0 * (192 * 192 + 128 * 128) + 32 * (192 + 128));
  const LayerKind kind = layer_kind(nsa_27b(), {}, 1);
  EXPECT_EQ(layer_parameters(nsa_27b(), kind).attention, first + last + compression);
  // With experts 1,536 wide the paper's 27 billion come out.
  EXPECT_NEAR(count_parameters(nsa_27b()).total() / 27e9, 1, 0.05);
  // Tensor ranks divide heads, and with them all of it.
  for (const int tensor : {2, 4}) {
    ParallelismSpec parallelism = split(tensor, 1);
    LayerKind dense = layer_kind(nsa_27b(), parallelism, 0);
    const double rank = layer_parameters_per_rank(nsa_27b(), parallelism, dense).shared;
    const double mlp = 3.0 * 2560 * 12288;
    EXPECT_DOUBLE_EQ(rank, (first + last + compression + mlp) / tensor + 2 * 2560) << tensor;
    // Positions are vectors, no matrices that an optimizer multiplies.
    const double vectors = 4.0 * 32 * (192 + 128) / tensor + 2 * 2560;
    EXPECT_DOUBLE_EQ(matrix_elements(layer_matrices(nsa_27b(), parallelism, dense)), rank - vectors)
        << tensor;
  }
}

TEST(NativeSparseAttention, MeetsTheKeysThatCountingEveryQueryGives) {
  for (const int s : {1024, 4096, 65536}) {
    const NativeShape shape = native_shape(NativeSparseSpec{}, s);
    EXPECT_EQ(shape.blocks, (s - 32) / 16 + 1);
    double compressed = 0;
    double selected = 0;
    double window = 0;
    for (int t = 1; t <= s; ++t) {
      compressed += t < 32 ? 0 : (t - 32) / 16 + 1;
      selected += 64 * std::min(16, (t + 63) / 64);
      window += std::min(t, 512) - 0.5;  // half of a query's own key, as everywhere
    }
    EXPECT_NEAR(shape.keys.compressed, compressed / s, 1e-9 * s) << s;
    EXPECT_NEAR(shape.keys.selected, selected / s, 1e-9 * s) << s;
    EXPECT_NEAR(shape.keys.window, window / s, 1) << s;
  }
  // The paper's 64k: a ninth of the 32,768 keys of dense attention.
  EXPECT_NEAR(32768 / native_shape(NativeSparseSpec{}, 65536).keys.total(), 9.2, 0.1);
}

TEST(NativeSparseAttention, TakesAllTokensOfSequencesShorterThanItsBlocks) {
  const NativeShape shape = native_shape(NativeSparseSpec{}, 512);
  EXPECT_DOUBLE_EQ(shape.keys.selected, (512 + 64) / 2.0);  // whole blocks up to a query's own
  EXPECT_DOUBLE_EQ(shape.keys.window, 256);
}

TEST(NativeSparseAttention, WorksAsTheClosedFormSays) {
  const int s = 8192;
  ModelSpec model = nsa_27b();
  model.layers = 6;
  const NativeKeys keys = native_shape(*model.native_sparse, s).keys;
  const ForwardFlops forward = forward_flops_per_token(model, s);
  // Matrices of a token, and those of 511 blocks.
  const double matrices = 2560.0 * (64 * 192 + 3 * 4 * 320 + 3 * 64) + 64.0 * 128 * 2560;
  const double blocks = 4 * 511.0 / s * 33 * (192 * 192 + 128 * 128);
  EXPECT_DOUBLE_EQ(forward.projections.si(), 6 * 2 * (matrices + blocks));
  // In full, as every kind of attention is counted: twice the causal keys.
  EXPECT_DOUBLE_EQ(forward.attention_core.si(), 6 * 2 * keys.total() * 2 * 64 * (192 + 128));
  const double attention = keys.total() * 2 * 64 * (192 + 128 + 3 * 192 + 2 * 128);
  const double scores = keys.compressed * 2 * 64 * 192;
  for (const int tensor : {1, 4}) {
    ParallelismSpec parallelism = split(tensor, 1);
    parallelism.micro_batch = 24;  // whole groups of eight blocks, whole tokens of an expert
    parallelism.expert = tensor;
    const double executed =
        tensor * matrix_work(build_step_graph(model, recipe(s, 24), parallelism, 1, 1));
    EXPECT_NEAR(executed / (24.0 * s * (3 * forward.linear().si() + 6 * (attention + scores))), 1,
                1e-9)
        << tensor;
  }
}

TEST(NativeSparseAttention, FetchesTheChosenBlocksForEveryQuery) {
  ModelSpec model = native_llama();
  model.layers = 1;
  const NativeKeys keys = native_shape(*model.native_sparse, 8192).keys;
  const StepGraph graph = build_step_graph(model, recipe(8192, 8), split(1, 1), 1, 8);
  const double tokens = 8.0 * 8192;
  // Keys and values of 8 heads forward and backward; and for each block that a query chose its 32
  // heads' queries and output gradients with two fp32 statistics.
  const double pairs = tokens * keys.selected * 8 * 256 * 2.0;
  const double queries = tokens * keys.selected / 64 * 32 * (256 * 2.0 + 8);
  EXPECT_NEAR(gathered_bytes(graph) / (2 * pairs + queries), 1, 1e-12);
  // Scores of the blocks before a query, of 8 choices a token, written and read; 16 numbers.
  EXPECT_DOUBLE_EQ(kernel_traffic(graph, "block choice"), tokens * 8 * 4.0 * (64 + 16));
  // Forward three outputs in, one out, three gates a head; backward seven and six.
  EXPECT_DOUBLE_EQ(kernel_traffic(graph, "branch gates"), tokens * 2 * (11 * 4096.0 + 9 * 32));
  // Nothing of it is in other models.
  EXPECT_EQ(gathered_bytes(build_step_graph(llama_8b(), recipe(8192, 8), split(1, 1), 1, 8)), 0);
}

TEST(NativeSparseAttention, KeepsWhatItsBranchesNeed) {
  const TrainingSpec training = recipe(8192, 8);
  const LayerKind kind;
  const auto kept = [&](const ModelSpec& model, const ParallelismSpec& parallelism) {
    return saved_per_layer(model, training, parallelism, kind).si() / 8192;
  };
  // Two more keys and values of 8 heads; gates; 511 compressed pairs with both ends of their MLP.
  const double beside = 2 * (2 * 2 * 8 * 128.0 + 3 * 32 + 3 * 511.0 / 8192 * 2 * 8 * 128);
  // Each branch's output of 32 heads, two more statistics, 16 numbers of 8 choices.
  const double branches = 2 * 3 * 32.0 * 128 + 4 * 2 * 32.0 + 4 * 8 * 16.0;
  EXPECT_NEAR(kept(native_llama(), split(1, 1)) - kept(llama_8b(), split(1, 1)), beside + branches,
              1e-6);
  ParallelismSpec again = split(1, 1);
  again.recompute = Recompute::selective;
  EXPECT_NEAR(kept(native_llama(), again) - kept(llama_8b(), again), beside, 1e-6);
  // Made again, the branches run once more, the compression does not.
  const auto work = [&](const ParallelismSpec& parallelism) {
    return build_step_graph(native_llama(), training, parallelism, 1, 8);
  };
  EXPECT_DOUBLE_EQ(kernel_traffic(work(again), "block choice"),
                   2 * kernel_traffic(work(split(1, 1)), "block choice"));
  EXPECT_DOUBLE_EQ(kernel_traffic(work(again), "compress keys"),
                   kernel_traffic(work(split(1, 1)), "compress keys"));
}

// While it runs backward: gradients of three outputs of 32 heads, of two more keys and values and
// of 511 compressed pairs of 8 heads, and the scores of 64 blocks before a query, in the mean, of 8
// choices, twice in fp32.
TEST(NativeSparseAttention, NeedsRoomForTheGradientsOfItsBranches) {
  const auto working = [](ModelSpec model) {
    model.ffn = 512;  // so that attention needs more than the MLP
    return backward_working_set(model, recipe(8192, 8), split(1, 1)).si() / 8192;
  };
  const double pairs = 511.0 / 8192 * 2 * 8 * 128;
  EXPECT_NEAR(working(native_llama()) - working(llama_8b()),
              2 * (3 * 32.0 * 128 + 2 * 2 * 8 * 128 + pairs) + 2 * 4 * 8 * 64.0, 1e-6);
}

/// What is refused of a model, the first sentence.
std::string native_refusal(const ModelSpec& model,
                           const ParallelismSpec& parallelism,
                           const TrainingSpec& training = recipe(4096, 8)) {
  const auto all = texts(unsupported(model, training, parallelism));
  return all.empty() ? std::string() : all.front();
}

TEST(NativeSparseAttention, IsRefusedOverRanksThatWouldShareAChoice) {
  EXPECT_EQ(native_refusal(nsa_27b(), split(4, 1)), "");
  EXPECT_EQ(native_refusal(nsa_27b(), split(8, 1)),
            "4 key-value heads do not divide over 8 tensor-parallel ranks: all heads that share a "
            "key choose its blocks together, so none of native sparse attention is copied to "
            "several ranks; choose a divisor of 4");
  ParallelismSpec context = split(1, 1);
  context.context = 2;
  EXPECT_EQ(native_refusal(nsa_27b(), context),
            "native sparse attention over context ranks needs the keys of whole sequences on each, "
            "and context_kind is ring: which blocks are chosen is known on no rank before all "
            "compressed ones have been scored; write context_kind: all-gather");
  context.context_kind = ContextKind::all_gather;
  EXPECT_EQ(native_refusal(nsa_27b(), context), "");
  ParallelismSpec operators = split(1, 1);
  operators.recompute = Recompute::selective;
  operators.recompute_parts = {RecomputePart::operators};
  EXPECT_EQ(native_refusal(nsa_27b(), operators),
            "recompute part operators: which products are every second one is known of plain "
            "layers; model 'NSA 27B' has native sparse attention");
}

TEST(NativeSparseAttention, IsRefusedBesideWhatItIsNotKnownWith) {
  struct Case {
    void (*change)(ModelSpec&);
    const char* text;
  };
  const std::vector<Case> cases{
      {[](ModelSpec& m) { m.window = 4096; },
       "native sparse attention of model 'Llama 3.1 8B' with a window of the model beside its own "
       "(native_sparse.window) is not simulated"},
      {[](ModelSpec& m) { m.attention_gate = true; },
       "native sparse attention of model 'Llama 3.1 8B' with a gate of attention's output beside "
       "those of its branches is not simulated"},
      {[](ModelSpec& m) { m.biases = true; },
       "native sparse attention of model 'Llama 3.1 8B' with biases is not simulated"},
      {[](ModelSpec& m) { m.adapters.emplace(); },
       "native sparse attention of model 'Llama 3.1 8B' with adapters is not simulated"},
      {[](ModelSpec& m) { m.latent.emplace(); },
       "native sparse attention of model 'Llama 3.1 8B' with latent attention is not simulated"},
      {[](ModelSpec& m) { m.parallel_block = true; },
       "native sparse attention of model 'Llama 3.1 8B' with attention and MLP side by side is not "
       "simulated"},
      {[](ModelSpec& m) { m.native_sparse->compressed_block = 40; },
       "blocks of 40 tokens do not divide into steps of stride 16"},
      {[](ModelSpec& m) { m.native_sparse->selected_block = 16; },
       "chosen blocks of 16 tokens hold none of the compressed blocks of 32 whose scores they are "
       "chosen by; write at least 32"}};
  for (const Case& one : cases) {
    ModelSpec model = native_llama();
    one.change(model);
    EXPECT_EQ(native_refusal(model, split(1, 1)), one.text);
  }
  EXPECT_EQ(native_refusal(native_llama(), split(1, 1), recipe(16, 8)),
            "a sequence of 16 tokens has no compressed block of 32; write at least 32");
  TrainingSpec packed = recipe(4096, 8);
  packed.documents = {{512, 1}};
  EXPECT_EQ(native_refusal(native_llama(), split(1, 1), packed),
            "packed documents with native sparse attention are not simulated: blocks would begin "
            "anew in each; leave 'documents' out");
  TrainingSpec unfused = recipe(4096, 8);
  unfused.framework.attention_kernels = AttentionKernels::unfused;
  EXPECT_EQ(native_refusal(native_llama(), split(1, 1), unfused),
            "native sparse attention needs fused attention; set framework.attention_kernels to a "
            "fused kind");
}

}  // namespace
}  // namespace headway::workload
