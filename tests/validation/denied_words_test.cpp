// Cells that deny something, that speak of other things, or that are written to break a reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/cells/cell_words.h"
#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

RowScenario row_of(const Cells& changes) {
  return row_scenario(table_of({with(changes)}), 0, catalogue());
}

training::Scenario read(const Cells& changes) {
  const auto row = row_of(changes);
  EXPECT_TRUE(row.scenario.has_value()) << row.skipped;
  return row.scenario.value_or(training::Scenario{});
}

TEST(DeniedWords, GoWithTheirClause) {
  for (const auto& [text, left] :
       {std::pair("bf16, no fp8", "bf16, "), std::pair("bf16 (fp8 not used)", "bf16 ()"),
        std::pair("zero3 without offload", "zero3 "),
        std::pair("ZeRO-1, CPU offload: no", "ZeRO-1,"),
        std::pair("CPU offload disabled; fp8", ";fp8"),
        std::pair("No offload. Uses 2.5 TB", ".Uses 2.5 TB"), std::pair("no", ""),
        std::pair("none", "none"), std::pair("node 8, notes", "node 8, notes"),
        std::pair("", "")}) {
    std::string got = undenied(text);
    std::string wanted = left;
    std::erase(got, ' ');
    std::erase(wanted, ' ');
    EXPECT_EQ(got, wanted) << text;
  }
}

TEST(DeniedWords, OfNotesChangeNothing) {
  const training::Scenario plain = read({});
  for (const char* notes :
       {"no CPU offload", "without CPU offloading", "CPU offload disabled",
        "no activation or optimizer offload", "no sequence packing", "we do not use LoRA",
        "pretraining (no RLHF, no DPO)", "Distillation teacher not used"}) {
    const training::Scenario s = read({{"notes", notes}});
    EXPECT_EQ(s.parallelism, plain.parallelism) << notes;
    EXPECT_EQ(s.training.optimizer_state, plain.training.optimizer_state) << notes;
    EXPECT_FALSE(s.model.adapters.has_value()) << notes;
  }
}

// A note may speak of what came before this run or after it: that is told.
TEST(DeniedWords, WordsOfNotesOnOtherTrainingAreTold) {
  const RunPrediction p = predicted({{"notes", "base model, before RLHF"}});
  EXPECT_THAT(p.status, StartsWith("ok-assumed: "));
  EXPECT_THAT(p.status, HasSubstr("'rlhf' is taken for a word on other training"));
  EXPECT_THAT(predicted({{"notes", "Muon in section 4"}, {"sharding", "0"}}).status,
              HasSubstr("their words for adapters, optimizer or offload are taken for this run"));
}

// What a run is only compared with is not its own.
TEST(DeniedWords, OfComparisonsChangeNothing) {
  for (const char* notes :
       {"full fine-tuning, unlike the LoRA runs", "compare with QLoRA in table 3",
        "slower than with CPU offload", "compared with Muon", "full fine-tuning (LoRA: table 4)",
        "versus 8-bit Adam"}) {
    const training::Scenario s = read({{"notes", notes}});
    EXPECT_FALSE(s.model.adapters.has_value()) << notes;
    EXPECT_EQ(s.training.optimizer_state, read({}).training.optimizer_state) << notes;
    EXPECT_EQ(predicted({{"notes", notes}}).status_class, "ok") << notes;
  }
  for (const char* notes : {"LoRA of rank 16, faster than full fine-tuning",
                            "LoRA of rank 16; FSDP full parameter sharding"}) {
    EXPECT_TRUE(read({{"notes", notes}}).model.adapters.has_value()) << notes;
  }
  EXPECT_TRUE(read({{"notes", "compared with full fine-tuning we train LoRA of rank 16"}})
                  .model.adapters.has_value());
}

TEST(DeniedWords, OfCellsOfTheLayoutLeaveTheRest) {
  for (const char* cell : {"bf16, no fp8", "bf16 (fp8 not used)", "bf16 without fp8"}) {
    EXPECT_EQ(read({{"precision", cell}}).training.precision, core::Precision::bf16) << cell;
  }
  for (const char* cell : {"zero-1 (no offload)", "ZeRO-1, CPU offload: no", "zero1; no offload"}) {
    const auto p = read({{"sharding", cell}}).parallelism;
    EXPECT_EQ(p.sharding, workload::Sharding::zero1) << cell;
    EXPECT_EQ(p.offload, workload::Offload::none) << cell;
  }
  EXPECT_EQ(read({{"sharding", "no"}}).parallelism.sharding, workload::Sharding::zero0);
  EXPECT_EQ(read({{"recompute", "no"}}).parallelism.recompute, workload::Recompute::none);
}

// torchtitan's "selective 2" is every second layer; a number elsewhere is of something else.
TEST(DeniedWords, NumbersBesideSelectiveAreNotItsOwn) {
  for (const char* cell : {"selective (Table 5)", "selective (TP 8)"}) {
    EXPECT_EQ(read({{"recompute", cell}}).parallelism.recompute, workload::Recompute::selective)
        << cell;
  }
  EXPECT_EQ(read({{"recompute", "selective 2"}}).parallelism.recompute_period, 2);
  const auto every = read({{"recompute", "selective 1"}}).parallelism;
  EXPECT_EQ(every.recompute, workload::Recompute::full);
  EXPECT_EQ(every.recompute_period, 1);
}

TEST(DeniedWords, NumbersBesideAWindowAreNotItsOwn) {
  const Cells longer{{"seq_len", "8192"}, {"d_model", "4096"}};
  const auto model = [&](const char* attention, const char* heads) {
    Cells cells = longer;
    cells["attention"] = attention;
    cells["n_kv_heads"] = heads;
    return read(cells).model;
  };
  for (const char* attention :
       {"gqa, sliding window 4096, head dim 128", "gqa, sliding window 4096 on all 80 layers",
        "gqa, sliding window 4096, 8192 tokens"}) {
    EXPECT_EQ(model(attention, "8").window, 4096) << attention;
    EXPECT_EQ(model(attention, "8").key_value_heads, 8) << attention;
  }
  EXPECT_EQ(model("gqa, 8 groups, 32 heads", "").key_value_heads, 8);
  EXPECT_EQ(model("gqa, 128 head dim", "8").head_dim, 128);
  EXPECT_FALSE(model("gqa, not mla", "8").latent.has_value());
}

// No cell takes the other rows with it.
TEST(DeniedWords, NoCellBreaksTheTable) {
  const Cells wide{
      {"arch", "moe"},      {"n_gpus", "65536"},  {"tp", "65536"},        {"pp", "1"},
      {"dp", "1"},          {"ep", "65536"},      {"n_experts", "65536"}, {"top_k", "2"},
      {"d_model", "65536"}, {"n_heads", "65536"}, {"head_dim", "1"},      {"n_kv_heads", "65536"},
      {"d_ffn", "65536"},   {"global_batch", "1"}};
  EXPECT_THAT(predicted(wide).status, StartsWith("skipped:"));
  EXPECT_THAT(predicted({{"recompute", "selective"}, {"recompute_detail", "all modules"}}).status,
              StartsWith("ok"));
  for (const char* network : {"99999999999999999999999 Gbps", "0 Gbps", "1000000x 1000000x 200G"}) {
    EXPECT_THAT(predicted({{"network", network}, {"nics_per_node", ""}, {"nic_gbps", ""}}).status,
                testing::AnyOf(StartsWith("ok"), StartsWith("skipped:")))
        << network;
  }
  std::string long_cell;
  for (int i = 0; i < 2000; ++i) {
    long_cell += "x ";
  }
  EXPECT_THAT(predicted({{"notes", long_cell}}).status, StartsWith("ok"));
}

// 64 GPUs of dp 64 are no modules, whether the degrees of 1 are stated or not.
TEST(DeniedWords, GpusThatTheDegreesCountAreNoModules) {
  const Cells dies{{"gpu", "MI250X"},
                   {"gpus_per_node", "4"},
                   {"n_gpus", "64"},
                   {"dp", "64"},
                   {"tp", "1"},
                   {"pp", "1"},
                   {"cp", ""},
                   {"sharding", "3"},
                   {"network", ""},
                   {"nvlink_domain", ""},
                   {"era", "pytorch-fsdp"},
                   {"global_batch", "64"}};
  const RunPrediction p = predicted(dies);
  EXPECT_THAT(p.status, testing::Not(HasSubstr("counted in modules")));
  EXPECT_EQ(p.measured, 10000);
}

}  // namespace
}  // namespace headway::validation
