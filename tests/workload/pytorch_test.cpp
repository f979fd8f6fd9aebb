// PyTorch's ways: eager operators, a loss in fp32, checkpointing by operator or of some layers,
// FSDP2 in a pipeline, torchao's scales.
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/elementwise/elementwise.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;
using core::Precision;

/// Sums over all kernels of a step of one rank of each stage.
struct KernelSums {
  double bytes = 0, launches = 0, work = 0;
};

KernelSums sums_of(const StepGraph& graph, const std::string& name) {
  KernelSums sums;
  for_each_operation(graph, [&](int, const Operation& operation, int times) {
    for (const core::Kernel& kernel : operation.kernels) {
      if (name.empty() || kernel.name == name) {
        const double count = static_cast<double>(kernel.count) * times;
        sums.bytes += kernel.traffic.si() * count;
        sums.launches += static_cast<double>(kernel.launches) * count;
        sums.work += kernel.work.si() * count;
      }
    }
  });
  return sums;
}

StepGraph one_pass(const TrainingSpec& training, ParallelismSpec parallelism = split(1, 1)) {
  return build_step_graph(llama_8b(), training, parallelism, 1, 1);
}

TrainingSpec with(Elementwise elementwise) {
  TrainingSpec training = recipe(8192, 1);
  training.framework.elementwise = elementwise;
  return training;
}

// Softmax over scores, bytes a score of 16 bits: one kernel 4 forward, 6 backward. Eager: scale 4,
// mask 4, softmax 2 + 4, cast 4 + 2 forward; cast 2 + 4, softmax 4 + 4 + 2, scale 4 backward. Kept:
// 2, or 4 + 2; fp32 has nothing to cast.
TEST(EagerOperators, OfUnfusedAttentionWriteTheirScoresAgainAndAgain) {
  const double scores = 32.0 * 32 * 8192 * 8192;  // layers, heads
  const auto softmax = [&](Elementwise elementwise, Precision precision) {
    TrainingSpec training = with(elementwise);
    training.precision = precision;
    training.framework.attention_kernels = AttentionKernels::unfused;
    return sums_of(one_pass(training), "softmax");
  };
  EXPECT_DOUBLE_EQ(softmax(Elementwise::fused, Precision::bf16).bytes, scores * 10);
  EXPECT_DOUBLE_EQ(softmax(Elementwise::compiled, Precision::bf16).bytes, scores * 10);
  EXPECT_DOUBLE_EQ(softmax(Elementwise::eager, Precision::bf16).bytes, scores * 40);
  EXPECT_DOUBLE_EQ(softmax(Elementwise::eager, Precision::bf16).launches, 32 * 7);
  EXPECT_DOUBLE_EQ(softmax(Elementwise::eager, Precision::fp32).bytes, scores * 20);
  const auto kept = [&](Elementwise elementwise) {
    TrainingSpec training = with(elementwise);
    training.framework.attention_kernels = AttentionKernels::unfused;
    const double unfused = saved_per_layer(llama_8b(), training, split(1, 1)).si();
    training.framework.attention_kernels = AttentionKernels::newest;
    return unfused - saved_per_layer(llama_8b(), training, split(1, 1)).si();
  };
  EXPECT_DOUBLE_EQ((kept(Elementwise::eager) - kept(Elementwise::fused)) * 32, scores * 4);
}

// RMSNorm, bytes an element: fused 4 forward, 6 backward and with the residual's gradient 8; eager
// 2 x 4 + 4 x 7 = 36 forward, 2 x 8 + 4 x 17 = 84 and 6 backward. Two a layer and the last.
TEST(EagerOperators, OfTheNormMoveTwelveTimesAsMuch) {
  const double elements = 8192.0 * 4096 * (2 * 32 + 1);
  const KernelSums fused = sums_of(one_pass(with(Elementwise::fused)), "norm");
  const KernelSums eager = sums_of(one_pass(with(Elementwise::eager)), "norm");
  EXPECT_DOUBLE_EQ(fused.bytes, elements * (4 + 8));
  EXPECT_DOUBLE_EQ(eager.bytes, elements * (36 + 84));
  EXPECT_DOUBLE_EQ(fused.launches, 2 * 65);
  EXPECT_DOUBLE_EQ(eager.launches, (8 + 17) * 65);
  EXPECT_DOUBLE_EQ(sums_of(one_pass(with(Elementwise::compiled)), "norm").bytes, fused.bytes);
}

// SwiGLU: 3 and 5 arrays of 2 B against 5 and 9; rotary 4 B both ways against 20, of 4,096 columns
// of queries and 1,024 of keys.
TEST(EagerOperators, OfGateAndRotaryMoveTheirArrays) {
  const StepGraph fused = one_pass(with(Elementwise::fused));
  const StepGraph eager = one_pass(with(Elementwise::eager));
  const double gate = 8192.0 * 14336 * 32, turned = 8192.0 * 5120 * 32;
  EXPECT_DOUBLE_EQ(sums_of(fused, "activation").bytes, gate * 2 * 8);
  EXPECT_DOUBLE_EQ(sums_of(eager, "activation").bytes, gate * 2 * 14);
  EXPECT_DOUBLE_EQ(sums_of(fused, "rotary").bytes, turned * 8);
  EXPECT_DOUBLE_EQ(sums_of(eager, "rotary").bytes, turned * 40);
}

// Sines and cosines with a factor: a kernel that takes none is left for Megatron's operators, 12
// arrays of 2 B forward and 14 backward, in 12 and 7 launches for queries and as many for keys.
// Compilers make one of them, and without a factor the kernel is there.
TEST(ScaledRotary, IsComposedWhereTheKernelTakesNoFactor) {
  ModelSpec model = llama_8b();
  const auto turned = [&](Elementwise elementwise, bool fused) {
    TrainingSpec training = with(elementwise);
    training.framework.fused_scaled_rotary = fused;
    return sums_of(build_step_graph(model, training, split(1, 1), 1, 1), "rotary");
  };
  const double elements = 8192.0 * 5120 * 32;
  EXPECT_DOUBLE_EQ(turned(Elementwise::fused, false).bytes, elements * 8);
  model.scaled_rotary = true;
  EXPECT_DOUBLE_EQ(turned(Elementwise::fused, true).bytes, elements * 8);
  EXPECT_DOUBLE_EQ(turned(Elementwise::fused, false).bytes, elements * 2 * (12 + 14));
  EXPECT_DOUBLE_EQ(turned(Elementwise::fused, false).launches, 2.0 * (12 + 7) * 32);
  EXPECT_DOUBLE_EQ(turned(Elementwise::compiled, false).bytes, elements * 8);
  EXPECT_DOUBLE_EQ(turned(Elementwise::eager, false).bytes, elements * 40);
}

// Of 4,096 columns of queries and 2,048 of keys and values a token: copied once and three times
// forward, twice and three times backward, read and written, 2 B each. The gradients of a joined
// gate's halves: two arrays of 14,336 columns read and written more.
TEST(EagerOperators, CopyHeadsAndJoinHalves) {
  TrainingSpec copies = with(Elementwise::eager);
  const double joined = sums_of(one_pass(copies), "activation").bytes;
  EXPECT_EQ(sums_of(one_pass(copies), "copy queries").bytes, 0);
  copies.framework.copied_heads = copies.framework.joined_gate = true;
  const StepGraph graph = one_pass(copies);
  const double tokens = 8192.0 * 32;
  EXPECT_DOUBLE_EQ(sums_of(graph, "copy queries").bytes, tokens * 4096 * (1 + 2) * 4);
  EXPECT_DOUBLE_EQ(sums_of(graph, "copy keys and values").bytes, tokens * 2048 * (3 + 3) * 4);
  EXPECT_DOUBLE_EQ(sums_of(graph, "activation").bytes - joined, tokens * 14336 * 4 * 2);
}

// Queries of 4,096 columns, keys and values of 1,024 each, gate and up of 14,336: five products in
// place of two, whose input gradients are added three times, two arrays of 4,096 columns read and
// one written, 2 B each; compilers read three arrays more in the operator that comes next.
TEST(EagerOperators, AddGradientsOfSeparateProjections) {
  TrainingSpec apart = with(Elementwise::eager);
  const StepGraph one = one_pass(apart);
  EXPECT_EQ(sums_of(one, "input gradients").bytes, 0);
  apart.framework.separate_projections = true;
  const StepGraph graph = one_pass(apart);
  const double stream = 8192.0 * 4096 * 32;
  EXPECT_DOUBLE_EQ(sums_of(graph, "input gradients").bytes, stream * 3 * 6);
  EXPECT_DOUBLE_EQ(sums_of(graph, "input gradients").launches, 3 * 32);
  EXPECT_EQ(sums_of(graph, "qkv").launches, 3 * sums_of(one, "qkv").launches);
  EXPECT_EQ(sums_of(graph, "mlp in").launches, 2 * sums_of(one, "mlp in").launches);
  EXPECT_NEAR(sums_of(graph, "").work / sums_of(one, "").work, 1, 1e-12);
  TrainingSpec compiled = with(Elementwise::compiled);
  compiled.framework.separate_projections = true;
  EXPECT_DOUBLE_EQ(sums_of(one_pass(compiled), "input gradients").bytes, stream * 3 * 2);
  EXPECT_EQ(sums_of(one_pass(compiled), "input gradients").launches, 0);
}

// Gradients of 4,096 + 2 x 1,024 columns a token, read and written, 2 B each.
TEST(EagerOperators, JoinGradientsOfHeadsOfOneArray) {
  for (const Elementwise by : {Elementwise::eager, Elementwise::compiled}) {
    TrainingSpec training = with(by);
    EXPECT_EQ(sums_of(one_pass(training), "join heads").bytes, 0);
    training.framework.joined_heads = true;
    EXPECT_DOUBLE_EQ(sums_of(one_pass(training), "join heads").bytes,
                     8192.0 * 32 * (4096 + 2 * 1024) * 4);
    training.framework.copied_heads = true;  // backward of the copies joins them
    EXPECT_EQ(sums_of(one_pass(training), "join heads").bytes, 0);
  }
}

TEST(EagerOperators, CannotBeJoinedAndSeparate) {
  TrainingSpec training = with(Elementwise::eager);
  training.framework.separate_projections = true;
  const auto found = [&] { return unsupported(llama_8b(), training, split(1, 1)); };
  EXPECT_TRUE(found().empty());
  training.framework.joined_gate = training.framework.joined_heads = true;
  const Violations both = found();
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].path, "training.framework.joined_gate");
  EXPECT_EQ(both[0].text,
            "'separate_projections' has a product for each of them, so that there is no joint "
            "array; leave one of the two out");
  EXPECT_EQ(both[1].path, "training.framework.joined_heads");
}

// LayerNorm is one kernel in PyTorch too.
TEST(EagerOperators, LeaveLayerNormAlone) {
  FrameworkSpec eager;
  eager.elementwise = Elementwise::eager;
  EXPECT_EQ(norm_operator(gpt_175b(), eager).forward.launches, 1);
  EXPECT_EQ(norm_operator(llama_8b(), eager).forward.launches, 8);
}

// One kernel from elsewhere (Liger, Triton, FlashAttention) in eager code: norm and rotary move
// what fused ones do, but for the residual's gradient, added apart; the gate's operators stay, and
// no copy of the norm's input in fp32 is kept.
TEST(EagerOperators, MayBeReplacedByFusedNormsAndRotary) {
  TrainingSpec mixed = with(Elementwise::eager);
  mixed.framework.fused_norms = mixed.framework.fused_rotary = true;
  const double stream = 8192.0 * 4096, turned = 8192.0 * 5120 * 32;
  const StepGraph graph = one_pass(mixed);
  EXPECT_DOUBLE_EQ(sums_of(graph, "norm").bytes, stream * 65 * (4 + 6));
  EXPECT_DOUBLE_EQ(sums_of(graph, "norm").launches, 2 * 65);
  EXPECT_DOUBLE_EQ(sums_of(graph, "rotary").bytes, turned * 8);
  EXPECT_DOUBLE_EQ(sums_of(graph, "activation").bytes,
                   sums_of(one_pass(with(Elementwise::eager)), "activation").bytes);
  const auto saved = [](const TrainingSpec& training) {
    return saved_per_layer(llama_8b(), training, split(1, 1)).si();
  };
  EXPECT_DOUBLE_EQ(saved(with(Elementwise::eager)) - saved(mixed), 2 * 4.0 * stream);
}

// A logit of 16 bits: 2 + 4 B in one pass, 22 + 12 B in place, 22 + 30 B in separate operators.
TEST(LossOfSeparateOperators, ReadsTheLogitsOftener) {
  const double logits = 8192.0 * 128256;
  const auto bytes = [&](Loss loss) {
    TrainingSpec training = recipe(8192, 1);
    training.framework.loss = loss;
    return sums_of(one_pass(training), "cross entropy").bytes / logits;
  };
  EXPECT_DOUBLE_EQ(bytes(Loss::fused), 6);
  EXPECT_DOUBLE_EQ(bytes(Loss::in_place), 34);
  EXPECT_DOUBLE_EQ(bytes(Loss::separate), 52);
}

ParallelismSpec by_operator(int tensor) {
  ParallelismSpec parallelism = split(tensor, 1);
  parallelism.recompute = Recompute::selective;
  parallelism.recompute_parts = {RecomputePart::operators};
  return parallelism;
}

// Products of a layer in order: queries, keys, values, projection, gate, up, down. Every second one
// is made again: keys (4,096 x 1,024), projection (4,096 x 4,096), up (4,096 x 14,336); the
// projection not where its reduction over tensor ranks stays.
TEST(RecomputeOfOperators, MakesEverySecondProductAgain) {
  const auto work = [](const ParallelismSpec& parallelism) {
    return sums_of(one_pass(recipe(8192, 1), parallelism), "").work;
  };
  const double a_weight = 2.0 * 8192 * 32 * 4096;
  EXPECT_DOUBLE_EQ(work(by_operator(1)) - work(split(1, 1)), a_weight * (1024 + 4096 + 14336));
  EXPECT_DOUBLE_EQ(work(by_operator(8)) - work(split(8, 1)), a_weight * (1024 + 14336) / 8);
}

// Stays: the input, queries, values, attention's output with a statistic a head, gate; with
// sequence parallelism two reductions. Eager code keeps the down product too, whole before its
// reduction.
TEST(RecomputeOfOperators, KeepsTheOthers) {
  const auto saved = [](Elementwise elementwise, int tensor) {
    return saved_per_layer(llama_8b(), with(elementwise), by_operator(tensor)).si();
  };
  const double tokens = 8192;
  const double kept = 4096 + 4096 + 1024 + 4096 + 14336;
  EXPECT_DOUBLE_EQ(saved(Elementwise::compiled, 1), tokens * (2 * kept + 4 * 32));
  EXPECT_DOUBLE_EQ(saved(Elementwise::compiled, 8), tokens * (2 * (kept + 2 * 4096) / 8 + 4 * 4));
  EXPECT_DOUBLE_EQ(saved(Elementwise::eager, 8),
                   tokens * (2 * ((kept + 2 * 4096) / 8 + 4096) + 4 * 4));
}

// Attention that is not among what stays (cuDNN's in torchtitan before December 2025) is made again
// whole, 2 x 2 x 8,192^2 / 2 x 4,096 a layer, and neither its output nor its statistics stay.
TEST(RecomputeOfOperators, MakesAttentionAgainWhereItIsNotKept) {
  ParallelismSpec all = by_operator(1);
  all.recompute_parts.push_back(RecomputePart::core_attention);
  const auto work = [](const ParallelismSpec& parallelism) {
    return sums_of(one_pass(recipe(8192, 1), parallelism), "").work;
  };
  EXPECT_DOUBLE_EQ(work(all) - work(by_operator(1)), 2.0 * 8192 * 8192 * 4096 * 32);
  const auto saved = [](const ParallelismSpec& parallelism) {
    return saved_per_layer(llama_8b(), with(Elementwise::compiled), parallelism).si();
  };
  EXPECT_DOUBLE_EQ(saved(by_operator(1)) - saved(all), 8192.0 * (2 * 4096 + 4 * 32));
}

// 47 of 100 layers: the first, then wherever 0.47 l passes a whole number. Of 40 layers 19.
TEST(RecomputeLayers, AreSpreadEvenly) {
  ParallelismSpec parallelism;
  parallelism.recompute = Recompute::full;
  parallelism.recompute_period = 100;
  parallelism.recompute_layers = 47;
  const auto recomputing = [&](int layers) {
    int count = 0;
    for (int layer = 0; layer < layers; ++layer) {
      count += layer_kind(llama_8b(), parallelism, layer).keeps ? 0 : 1;
    }
    return count;
  };
  EXPECT_EQ(recomputing(100), 47);
  EXPECT_EQ(recomputing(200), 94);
  EXPECT_EQ(recomputing(40), 19);
  EXPECT_EQ(recomputing(3), 2);
  parallelism.recompute_period = 3;
  parallelism.recompute_layers = 1;
  EXPECT_EQ(recomputing(9), 3);
}

/// Llama 3.1 8B over 4 stages with fully sharded weights over 4 ranks, 8 micro-batches.
StepGraph sharded_pipeline(bool once) {
  TrainingSpec training = recipe(8192, 32);
  training.framework.gather_once = once;
  ParallelismSpec parallelism = split(1, 4);
  parallelism.sharding = Sharding::zero3;
  return build_step_graph(llama_8b(), training, parallelism, 4, 8);
}

// Once: every weight is gathered once and every gradient reduced once, of 2 and 4 B. Otherwise with
// each of 8 micro-batches: gathered in forward and, but for embedding and head, in backward.
TEST(GatherOnce, MovesWeightsAndGradientsOnceAStep) {
  const auto bytes = [](bool once, CollectiveKind kind) {
    return collective_bytes(sharded_pipeline(once), Group::data_context, kind);
  };
  const double layers = 32 * (4096.0 * (2 * 4096 + 2 * 1024 + 3 * 14336) + 2 * 4096);
  const double ends = 2 * 4096.0 * 128256 + 4096;
  EXPECT_DOUBLE_EQ(bytes(true, CollectiveKind::all_gather), 2 * (layers + ends));
  EXPECT_DOUBLE_EQ(bytes(true, CollectiveKind::reduce_scatter), 4 * (layers + ends));
  EXPECT_DOUBLE_EQ(bytes(false, CollectiveKind::all_gather), 8 * 2 * (2 * layers + ends));
  EXPECT_DOUBLE_EQ(bytes(false, CollectiveKind::reduce_scatter), 8 * 4 * (layers + ends));
}

// A middle stage of 8 layers holds its weights whole (2 B) and its gradients whole (4 B).
TEST(GatherOnce, HoldsWeightsAndGradientsWhole) {
  TrainingSpec training = recipe(8192, 32);
  ParallelismSpec parallelism = split(1, 4);
  parallelism.sharding = Sharding::zero3;
  const double layer = 4096.0 * (2 * 4096 + 2 * 1024 + 3 * 14336) + 2 * 4096;
  const auto stage = [&] { return stage_memory(llama_8b(), training, parallelism, 4, 8)[1]; };
  const StageMemory often = stage();
  training.framework.gather_once = true;
  const StageMemory once = stage();
  EXPECT_DOUBLE_EQ(often.gradients.si(), 8 * layer * 4 / 4);
  EXPECT_DOUBLE_EQ(once.gradients.si(), 8 * layer * 4);
  EXPECT_DOUBLE_EQ((once.buffers - often.buffers).si(), 2 * (8 * layer - 2 * layer));
}

// Bytes of casts an element of x (inputs), g (gradients of outputs) and w, with fp8:
//     tensor  x 5, w 5; g 5, w 3; x and g again 3
//     row     all 5
TEST(Scaling, CastsOperandsForEveryProduct) {
  TrainingSpec training = recipe(8192, 1);
  training.precision = Precision::fp8;
  const double x = 8192.0 * 32 * (4096 + 4096 + 4096 + 14336);
  const double g = 8192.0 * 32 * (4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096);
  const double w = 32 * 4096.0 * (2 * 4096 + 2 * 1024 + 3 * 14336);
  const auto bytes = [&](Scaling scaling) {
    training.framework.scaling = scaling;
    return sums_of(one_pass(training), "cast").bytes;
  };
  EXPECT_DOUBLE_EQ(bytes(Scaling::delayed), 3 * (x + g));
  EXPECT_DOUBLE_EQ(bytes(Scaling::tensor), 5 * x + 5 * w + 5 * g + 3 * w + 3 * (x + g));
  EXPECT_DOUBLE_EQ(bytes(Scaling::row), 10 * (x + w + g));
  // 33/32 B an element of mxfp8, whose blocks of 32 have scales whatever the software's habit.
  training.precision = Precision::mxfp8;
  EXPECT_DOUBLE_EQ(bytes(Scaling::tensor), 2 * (2 + 33.0 / 32) * (x + w + g));
  training.precision = Precision::fp8;
  training.framework.narrow_gathers = true;  // weights arrive in fp8
  EXPECT_DOUBLE_EQ(bytes(Scaling::tensor), 5 * x + 5 * g + 3 * (x + g));
}

// Weights of the layers travel in one byte instead of two; embedding and head stay.
TEST(NarrowGathers, HalveTheWeightsOfLayers) {
  TrainingSpec training = recipe(8192, 4);
  training.precision = Precision::fp8;
  training.framework.scaling = Scaling::tensor;
  ParallelismSpec parallelism = split(1, 1);
  parallelism.sharding = Sharding::zero3;
  const auto bytes = [&] {
    return collective_bytes(build_step_graph(llama_8b(), training, parallelism, 4, 1),
                            Group::data_context, CollectiveKind::all_gather);
  };
  const double wide = bytes();
  training.framework.narrow_gathers = true;
  const double layers = 32 * (4096.0 * (2 * 4096 + 2 * 1024 + 3 * 14336) + 2 * 4096);
  EXPECT_DOUBLE_EQ(wide - bytes(), 2 * layers);
  training.framework.scaling = Scaling::row;  // scales of rows are made after the gather
  EXPECT_DOUBLE_EQ(bytes(), wide);
}

// Over 8 tensor ranks the gathers of a layer's inputs and gradients travel in one byte instead of
// two; the head's and all reductions stay. Of 4 + 2 gathers in a layer 8,192 x 4,096 elements each.
TEST(NarrowGathers, HalveWhatTensorRanksGather) {
  TrainingSpec training = recipe(8192, 1);
  training.precision = Precision::fp8;
  training.framework.scaling = Scaling::tensor;
  const auto bytes = [&](CollectiveKind kind) {
    return collective_bytes(one_pass(training, split(8, 1)), Group::tensor, kind);
  };
  const double gathered = bytes(CollectiveKind::all_gather);
  const double reduced = bytes(CollectiveKind::reduce_scatter);
  training.framework.narrow_gathers = true;
  EXPECT_DOUBLE_EQ(gathered - bytes(CollectiveKind::all_gather), 6 * 32 * 8192.0 * 4096);
  EXPECT_DOUBLE_EQ(bytes(CollectiveKind::reduce_scatter), reduced);
}

// Without overlap a rank sends a block after the kernels on it, so nothing hides the transfer.
TEST(ContextOverlap, WithoutItARingSendsAfterItsKernels) {
  TrainingSpec training = recipe(8192, 1);
  ParallelismSpec parallelism = split(1, 1);
  parallelism.context = 2;
  const auto kernels_before_first_send = [&] {
    const StepGraph graph = build_step_graph(llama_8b(), training, parallelism, 1, 1);
    for (const Block& block : graph.blocks) {
      int attention = 0;
      for (const Operation& operation : block.operations) {
        for (const core::Kernel& kernel : operation.kernels) {
          attention += kernel.kind == core::KernelKind::attention_forward ? 1 : 0;
        }
        if (operation.kind == OperationKind::send) {
          return attention;
        }
      }
    }
    return -1;
  };
  EXPECT_EQ(kernels_before_first_send(), 0);
  training.framework.context_overlap = false;
  EXPECT_EQ(kernels_before_first_send(), 1);
}

/// Of the one kernel of this name.
core::Kernel kernel_of(const StepGraph& graph, const std::string& name) {
  core::Kernel found;
  for_each_operation(graph, [&](int, const Operation& operation, int) {
    for (const core::Kernel& kernel : operation.kernels) {
      found = kernel.name == name ? kernel : found;
    }
  });
  return found;
}

// A parameter: gradient 4, Adam's 26; clipping reads and writes the gradient, 8, and masters that
// are whole are read again to be rounded, 4.
TEST(EagerOperators, OfTheOptimizerClipAndRoundApart) {
  ParallelismSpec whole = split(1, 1);
  whole.sharding = Sharding::zero0;
  const double fused =
      kernel_of(one_pass(with(Elementwise::fused), whole), "optimizer").traffic.si();
  for (const Elementwise by : {Elementwise::compiled, Elementwise::eager}) {
    const core::Kernel apart = kernel_of(one_pass(with(by), whole), "optimizer");
    EXPECT_NEAR(apart.traffic.si() / fused, (4 + 26 + 8 + 4) / (4 + 26.0), 1e-12);
    EXPECT_EQ(apart.issued, kListIssue);
  }
  whole.sharding = Sharding::zero3;  // each rank holds its share in fp32 alone
  const double sharded =
      kernel_of(one_pass(with(Elementwise::fused), whole), "optimizer").traffic.si();
  EXPECT_NEAR(
      kernel_of(one_pass(with(Elementwise::eager), whole), "optimizer").traffic.si() / sharded,
      (4 + 26 + 8) / (4 + 26.0), 1e-12);
}

TEST(EagerOperators, KeepTheInstructionsThatWereMeasured) {
  const auto norm = [](Elementwise by) { return kernel_of(one_pass(with(by)), "norm").issued; };
  EXPECT_EQ(norm(Elementwise::fused), 0);
  EXPECT_GT(norm(Elementwise::compiled), 0);
  EXPECT_GT(norm(Elementwise::eager), 0);
  ParallelismSpec whole = split(1, 1);
  whole.sharding = Sharding::zero0;
  const core::Kernel sum =
      kernel_of(one_pass(with(Elementwise::eager), whole), "gradient accumulation");
  EXPECT_EQ(sum.issued, kMixedSumIssue);
  ModelSpec plain = llama_8b();  // one kernel of PyTorch's own
  plain.gated_mlp = false;
  FrameworkSpec eager;
  eager.elementwise = Elementwise::eager;
  EXPECT_EQ(norm_operator(plain, eager).backward.launches, 1);
  EXPECT_LT(norm_operator(plain, eager).backward.issued,
            norm_operator(plain, eager).forward.issued);
}

}  // namespace
}  // namespace headway::workload
