// Software that no run was compared with: which profile stands in for it, and how well it is known.
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

// 1.1 billion parameters on 40 GB: of 16 sequences recomputation makes room, not tensor ranks.
TEST(StandIns, ShardedWeightsHaveNoTensorRanksBeforeRecomputation) {
  const auto layout = [](const char* era, const char* micro_batch, const char* tp) {
    return scenario({{"era", era},
                     {"gpu", "A100-40G-SXM"},
                     {"n_layers", "22"},
                     {"d_model", "2048"},
                     {"n_kv_heads", "4"},
                     {"head_dim", "64"},
                     {"d_ffn", "5632"},
                     {"vocab", "32000"},
                     {"seq_len", "2048"},
                     {"global_batch", "512"},
                     {"micro_batch", micro_batch},
                     {"tp", tp},
                     {"pp", tp},
                     {"dp", ""},
                     {"sharding", "fsdp"},
                     {"recompute", ""}})
        .parallelism;
  };
  for (const char* era : {"pytorch-fsdp", "lit-gpt", "deepspeed", "composer"}) {
    for (const char* micro_batch : {"8", "16", ""}) {
      EXPECT_EQ(layout(era, micro_batch, ""), layout(era, micro_batch, "1")) << era << micro_batch;
    }
    EXPECT_EQ(layout(era, "16", "").recompute, workload::Recompute::full) << era;
  }
}

}  // namespace
}  // namespace headway::validation
