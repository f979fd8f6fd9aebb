// Attention that chooses its keys, over context ranks: what they gather, compute again and keep.
#include <gtest/gtest.h>
#include <string_view>

#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/native/native_blocks.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;

constexpr double kLength = 8192;

ParallelismSpec gathering(int context) {
  ParallelismSpec layout = split(1, 1);
  layout.context = context;
  layout.context_kind = ContextKind::all_gather;
  return layout;
}

/// Two dense layers of DeepSeek-V3.2: an indexer of 64 heads of 128, keys of 512 + 64.
ModelSpec indexed_layers() {
  ModelSpec model = deepseek_v3();
  model.layers = 2;
  model.moe.reset();
  model.multi_token_prediction = 0;
  model.sparse = SparseAttentionSpec{64, 128, 2048};
  return model;
}

/// Two layers of Llama 3.1 8B with native sparse attention: 8 heads of keys, 128 wide.
ModelSpec native_layers() {
  ModelSpec model = llama_8b();
  model.layers = 2;
  model.native_sparse.emplace();
  return model;
}

/// One micro-batch of eight sequences, so that blocks are whole groups of eight rows.
StepGraph eight_sequences(const ModelSpec& model, ParallelismSpec layout) {
  layout.micro_batch = 8;
  return build_step_graph(model, recipe(8192, 8), layout, 1, 1);
}

int exchanges(const StepGraph& graph, std::string_view name) {
  int count = 0;
  for_each_operation(graph, [&](int, const Operation& operation, int times) {
    const bool meant = operation.kind == OperationKind::collective && operation.name == name;
    count += meant ? times : 0;
  });
  return count;
}

/// Bytes kept, and alive in a backward, of a layer a token of this rank.
struct TokenBytes {
  double kept = 0, working = 0;
};
TokenBytes token_bytes(ModelSpec model, const ParallelismSpec& layout) {
  model.ffn = 512;  // so that attention needs more than the MLP
  const double tokens = kLength / layout.context;
  const TrainingSpec training = recipe(8192, 8);
  return {saved_per_layer(model, training, layout).si() / tokens,
          backward_working_set(model, training, layout).si() / tokens};
}

// c ranks do the work of one: all see the same number of keys in the mean.
TEST(ChosenKeysOverContext, OfAnIndexerAreNoMoreWork) {
  const double alone = matrix_work(eight_sequences(indexed_layers(), gathering(1)));
  for (const int context : {2, 4}) {
    EXPECT_NEAR(
        context * matrix_work(eight_sequences(indexed_layers(), gathering(context))) / alone, 1,
        1e-9);
  }
}

// In 16 bits, of all tokens on each rank: keys of 576 and index keys of 128 once forward, their
// gradients once backward; where attention is made again, its keys once more.
TEST(ChosenKeysOverContext, OfAnIndexerAreGatheredOnce) {
  const double tokens = 2 * 8 * kLength;  // of two layers
  for (const int context : {2, 4}) {
    ParallelismSpec layout = gathering(context);
    const StepGraph graph = eight_sequences(indexed_layers(), layout);
    EXPECT_EQ(bytes_of(graph, "gather keys and values"), tokens * 2 * 576);
    EXPECT_EQ(bytes_of(graph, "scatter key-value gradients"), tokens * 2 * 576);
    EXPECT_EQ(bytes_of(graph, "gather all index keys"), tokens * 2 * 128);
    EXPECT_EQ(bytes_of(graph, "scatter index key gradients"), tokens * 2 * 128);
    // Queries of this rank's tokens and keys of all, forward; backward with both gradients, over
    // the 1,792 chosen of 4,096 keys.
    EXPECT_NEAR(kernel_traffic(graph, "index scores") * context /
                    (tokens * (3 * 2.0 * (64 + context) * 128 + 4.0 * 4096 + 8.0 * 1792)),
                1, 1e-12);
    layout.recompute = Recompute::selective;
    EXPECT_EQ(bytes_of(eight_sequences(indexed_layers(), layout), "gather keys and values"),
              2 * tokens * 2 * 576);
  }
  EXPECT_EQ(exchanges(eight_sequences(indexed_layers(), gathering(1)), "gather all index keys"), 0);
}

// A token of a rank has c tokens' keys of 576 kept, and index keys of 128 of c tokens, not of one.
// While it runs backward, the keys' gradients twice and those of index keys.
TEST(ChosenKeysOverContext, OfAnIndexerStayGathered) {
  const TokenBytes alone = token_bytes(indexed_layers(), gathering(1));
  for (const int context : {2, 4}) {
    const TokenBytes many = token_bytes(indexed_layers(), gathering(context));
    EXPECT_NEAR(many.kept - alone.kept, 2.0 * (context * 576 + (context - 1) * 128), 1e-6);
    EXPECT_NEAR(many.working - alone.working, 2.0 * context * (2 * 576 + 128), 1e-6);
  }
}

// 4,088 blocks of eight sequences, two matrices each of keys and of values, eight heads, forward
// and two gradients: on every rank anew. All else is divided.
TEST(ChosenKeysOverContext, OfBlocksAreCompressedOnEachRank) {
  const double alone = matrix_work(eight_sequences(native_layers(), gathering(1)));
  const double compression = 2 * 3 * 2 * 4088.0 * 8 * 2 * 33 * 128 * 128;
  for (const int context : {2, 4}) {
    const double many = context * matrix_work(eight_sequences(native_layers(), gathering(context)));
    EXPECT_NEAR((many - alone) / ((context - 1) * compression), 1, 1e-6);
  }
}

// Three branches' keys and values of 128 in 16 bits, forward and backward, by head; fp32 gradients.
TEST(ChosenKeysOverContext, OfBlocksAreGatheredByHead) {
  const double elements = 2 * 8 * kLength * 8 * 3 * 128;  // of two layers, all heads
  const ParallelismSpec layout = gathering(4);
  const StepGraph graph = eight_sequences(native_layers(), layout);
  for (const char* name : {"gather keys", "gather values"}) {
    EXPECT_EQ(bytes_of(graph, name), 2 * 2 * elements) << name;
    EXPECT_EQ(exchanges(graph, name), 2 * 2 * 8) << name;
  }
  for (const char* name : {"scatter key gradients", "scatter value gradients"}) {
    EXPECT_EQ(bytes_of(graph, name), 4 * elements) << name;
    EXPECT_EQ(exchanges(graph, name), 2 * 8) << name;
  }
  EXPECT_EQ(bytes_of(graph, "gather keys and values"), 0);
  // Attention made again reads what was gathered for the backward; a whole layer gathers anew.
  ParallelismSpec again = layout;
  again.recompute = Recompute::selective;
  EXPECT_EQ(bytes_of(eight_sequences(native_layers(), again), "gather keys"), 2 * 2 * elements);
  again.recompute = Recompute::full;
  EXPECT_EQ(bytes_of(eight_sequences(native_layers(), again), "gather keys"), 3 * 2 * elements);
}

// 511 compressed pairs of eight heads are as many on each rank, with both ends of their MLP, and
// their gradients while it runs backward; then also gathered keys and values of one head and three
// branches, and fp32 gradients of them.
TEST(ChosenKeysOverContext, OfBlocksHaveRoomForOneHead) {
  const TokenBytes alone = token_bytes(native_layers(), gathering(1));
  const double pairs = 511.0 / kLength * 2 * 8 * 128;
  for (const int context : {2, 4}) {
    const TokenBytes many = token_bytes(native_layers(), gathering(context));
    EXPECT_NEAR(many.kept - alone.kept, 2 * 3 * pairs * (context - 1), 1e-6);
    EXPECT_NEAR(many.working - alone.working,
                2 * pairs * (context - 1) + (2.0 + 4) * context * 3 * (128 + 128), 1e-6);
  }
}

// Chosen blocks are fetched for this rank's queries alone; all keys are there to be met.
TEST(ChosenKeysOverContext, OfBlocksAreMetByThisRanksQueries) {
  const auto kernels = [](int context) {
    return native_attention_forward(
        rank_shape(native_layers(), recipe(8192, 8), gathering(context)));
  };
  const auto one = kernels(1);
  const auto four = kernels(4);
  ASSERT_EQ(one.size(), four.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(four[i].work.si() * 4, one[i].work.si(), 1e-9 * one[i].work.si()) << one[i].name;
    EXPECT_NEAR(four[i].gathered.si() * 4, one[i].gathered.si(), 1e-9 * one[i].gathered.si());
  }
  // The window's keys: 2,048 tokens in two chunks, each with 512 before it, of 8 heads.
  const double queries = 2.0 * 2048 * 32 * 2 * 128 + 4.0 * 2048 * 32;
  EXPECT_STREQ(four[4].name, "window");
  EXPECT_NEAR(four[4].traffic.si(), queries + 2.0 * (2048 + 2 * 512) * 8 * 2 * 128, 1);
}

}  // namespace
}  // namespace headway::workload
