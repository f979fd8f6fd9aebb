// Numbers, figures and flags as tables write them.
#include "sim/validation/cells/number_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/cells/flag_words.h"
#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// 1,024 x 1,024 has no whole number for 3.15: its thousands are of 1,000. 0.5 has: 524,288.
TEST(NumberWords, DecimalBatchesAreWholeSequences) {
  struct Case {
    const char* text;
    int batch;
  };
  for (const Case& c : {Case{"3.15M tokens", 769}, Case{"2.36M", 576}, Case{"16.8M tokens", 4102},
                        Case{"2.1M tokens", 513}, Case{"4M tok", 1024}, Case{"16M toks", 4096},
                        Case{"1M tokens/step", 256}, Case{"2 million tokens", 488},
                        Case{"0.5M", 128}, Case{"512 sequences (2M tokens)", 512}}) {
    const Cells cells{
        {"global_batch", c.text}, {"n_gpus", "8"}, {"dp", "1"}, {"tp", "8"}, {"pp", "1"}};
    EXPECT_EQ(scenario(cells).training.global_batch, c.batch) << c.text;
    EXPECT_EQ(predicted(cells).assumed.empty(), c.batch == 512) << c.text;
  }
  EXPECT_EQ(scenario({{"seq_len", "3.7M"}, {"global_batch", "4"}}).training.sequence_length,
            3700000);
  EXPECT_THAT(predicted({{"global_batch", "512 sequences (4M tokens)"}}).status,
              HasSubstr("global_batch of 512 sequences makes 2.1e+06 tokens, 4.19e+06 stated"));
  EXPECT_THAT(predicted({{"global_batch", "4M sequences"}}).status,
              HasSubstr("it counts sequences, not tokens"));
}

TEST(NumberWords, CountsAreReadHoweverTheyAreWritten) {
  for (const char* gpus :
       {"16 GPUs", "2x8", "2 nodes x 8", "2 nodes x 8 GPUs", "2*8", "16 (2 nodes)",
        "16 (2 nodes x 8)", "2 nodes with 8", "2 nodes of 8 GPUs"}) {
    EXPECT_EQ(predicted({{"n_gpus", gpus}}).status, "ok") << gpus;
  }
  for (const char* odd : {"16x", "8-16", "sixteen", "16 of 20", "16 (2 nodes x 6)", "16 +- 2"}) {
    EXPECT_THAT(predicted({{"n_gpus", odd}}).status, HasSubstr("in column 'n_gpus'")) << odd;
  }
  // Another quantity in the column's unit; a word that begins as one of figures.
  EXPECT_THAT(predicted({{"measured_tokens_per_s_per_gpu", "4096 tokens/iter"}}).status,
              HasSubstr("in column 'measured_tokens_per_s_per_gpu'"));
  EXPECT_THAT(predicted({{"global_batch", "64 (per full replica)"}}).status, Not(StartsWith("ok")));
  EXPECT_THAT(predicted({{"seq_len", "avg 4096"}}).assumed, Contains("seq_len"));
  EXPECT_EQ(scenario({{"micro_batch", "2 per GPU"}}).parallelism.micro_batch, 2);
  EXPECT_EQ(scenario({{"micro_batch", "2 (per device)"}}).parallelism.micro_batch, 2);
  EXPECT_THAT(predicted({{"global_batch", "8 per GPU"}}).status,
              HasSubstr("global_batch of 8 a GPU is read as 128 sequences"));
  EXPECT_THAT(predicted({{"n_gpus", "2 nodes"}}).status, HasSubstr("2 nodes of 8 GPUs are 16"));
  EXPECT_THAT(predicted({{"global_batch", ">64"}}).status, StartsWith("skipped:line 2: '"));
  EXPECT_EQ(scenario({{"vocab", "32k"}}).model.vocabulary, 32000);
  EXPECT_THAT(predicted({{"vocab", "128K"}}).assumed, Contains("vocab"));
  EXPECT_TRUE(scenario({{"d_ffn", "11008 (SwiGLU)"}, {"gated_mlp", ""}}).model.gated_mlp);
  EXPECT_EQ(scenario({{"seq_len", "4096 (4k)"}}).training.sequence_length, 4096);
  EXPECT_THAT(predicted({{"seq_len", "4096 (8k)"}}).status, StartsWith("skipped:line 2: '"));
  EXPECT_EQ(predicted({{"year", "2024-05"}}).status, "ok");
  EXPECT_EQ(scenario({{"n_kv_heads", "8 (GQA)"}}).model.key_value_heads, 8);
}

TEST(NumberWords, FiguresAreReadHoweverTheyAreWritten) {
  for (const char* figure : {"10,000", "10k", "~10000", "10000 tok/s", "10000 tokens/s/GPU",
                             "10,000 tokens per second per GPU"}) {
    const RunPrediction p = predicted({{"measured_tokens_per_s_per_gpu", figure}});
    EXPECT_EQ(p.measured, 10000) << figure;
    EXPECT_EQ(p.status, "ok") << figure;
  }
  for (const char* figure : {"10000 TGS", "10000 (avg)", "10000 tok/s (median)", "10k TGS"}) {
    EXPECT_EQ(predicted({{"measured_tokens_per_s_per_gpu", figure}}).measured, 10000) << figure;
  }
  for (const char* other :
       {"48%", "150 TFLOPS", "11000-9000", "10000 (total)", "9000 - ", "10000 +- 10000"}) {
    EXPECT_THAT(predicted({{"measured_tokens_per_s_per_gpu", other}}).status,
                StartsWith("skipped:line 2: '"))
        << other;
  }
  for (const char* parameters : {"2.8", "2.8B", "2.8 billion", "2.8e9", "2800M", "2.8B params"}) {
    EXPECT_EQ(predicted({{"params_b", parameters}}).status, "ok") << parameters;
  }
  // Of 2.8e9 parameters neither half nor five: a point in front is a point.
  EXPECT_THAT(predicted({{"params_b", ".5"}}).status, HasSubstr("0.5e9 stated"));
  EXPECT_THAT(predicted({{"n_gpus", "100000x100000"}}).status, StartsWith("skipped:line 2: '"));
  EXPECT_THAT(predicted({{"params_b", "7,000"}}).status,
              HasSubstr("params_b of 7000 is read as millions"));
}

// The middle of a range is the figure, and half of it is not known.
TEST(NumberWords, RangesOfFiguresWidenTheInterval) {
  const double plain = width(predicted({}));
  for (const auto& [cell, spread] :
       {std::pair("9000-11000", 0.1), std::pair("9000 \xE2\x80\x93 11000 tok/s", 0.1),
        std::pair("9-11k", 0.1),
        std::pair("10000\xC2\xB1"
                  "500",
                  0.05),
        std::pair("10,000 +/- 500 tokens/s", 0.05)}) {
    const RunPrediction p = predicted({{"measured_tokens_per_s_per_gpu", cell}});
    EXPECT_NEAR(p.measured, 10000, 1e-9) << cell;
    EXPECT_NEAR(p.own_error, std::hypot(predicted({}).own_error, spread), 1e-9) << cell;
    EXPECT_GT(width(p), plain) << cell;
  }
}

// 32 x 4,096 tokens on 16 GPUs in 0.8192 s.
TEST(NumberWords, TimesOfStepsAreReadHoweverTheyAreWritten) {
  const auto of = [](const char* time) {
    return predicted({{"step_time_s", time}, {"measured_tokens_per_s_per_gpu", ""}});
  };
  for (const char* time : {"0.8192 secs", "819.2 ms", "819.2ms/step", "0.8192s/it", "0.8192 s/iter",
                           "0.8192 seconds per iteration", "819.2 milliseconds"}) {
    EXPECT_NEAR(of(time).measured, 10000, 1e-6) << time;
  }
  EXPECT_NEAR(of("12,300 ms").measured, 32 * 4096 / 16 / 12.3, 1e-6);
  for (const char* other : {"1.2 it/s", "0:12", "12 min"}) {
    EXPECT_THAT(of(other).status, StartsWith("skipped:line 2: '")) << other;
  }
  const Cells rate{{"tflops_per_gpu", "160 teraFLOP/s"}};
  EXPECT_EQ(predicted(rate).status, "ok");
}

TEST(NumberWords, DegreesAreReadAmongTheirWords) {
  for (const char* tp : {"TP2", "2-way", "2 (intra-node)", "tp=2"}) {
    EXPECT_EQ(predicted({{"tp", tp}}).status, "ok") << tp;
    EXPECT_EQ(scenario({{"tp", tp}}).parallelism.tensor, 2) << tp;
  }
  EXPECT_EQ(predicted({{"pp", "2 stages"}}).status, "ok");
  EXPECT_EQ(scenario({{"vpp", "2 chunks"}}).parallelism.virtual_stages, 2);
  for (const char* other : {"2 or 4", "TP2 PP4", "2.5-way", "two", "~2-way"}) {
    EXPECT_THAT(predicted({{"tp", other}}).status, StartsWith("skipped:line 2: '")) << other;
  }
}

TEST(NumberWords, BatchesMayBeProductsPowersOrOfAReplica) {
  for (const auto& [cell, batch] :
       {std::pair("1024 x 4096", 1024), std::pair("2^22 tokens", 1024),
        std::pair("2**22 tokens", 1024), std::pair("8 per replica", 32)}) {
    EXPECT_EQ(scenario({{"global_batch", cell}}).training.global_batch, batch) << cell;
  }
  EXPECT_THAT(predicted({{"global_batch", "8 per replica"}}).status,
              HasSubstr("global_batch of 8 a replica is read as 32 sequences"));
}

TEST(NumberWords, FlagsAreReadHoweverTheyAreWritten) {
  for (const char* yes : {"T", "\xE2\x9C\x93", "yes", "ON"}) {
    EXPECT_TRUE(scenario({{"sequence_parallel", yes}}).parallelism.sequence) << yes;
  }
  for (const char* no : {"F", "\xE2\x9C\x97", "w/o"}) {
    EXPECT_FALSE(scenario({{"sequence_parallel", no}}).parallelism.sequence) << no;
  }
  EXPECT_THAT(predicted({{"sequence_parallel", "x"}}).status,
              HasSubstr("'x' in sequence_parallel is read as yes"));
  EXPECT_TRUE(scenario({{"gated_mlp", "SwiGLU"}}).model.gated_mlp);
  EXPECT_FALSE(scenario({{"gated_mlp", "GELU"}, {"d_ffn", "16384"}}).model.gated_mlp);
  EXPECT_THAT(predicted({{"sequence_parallel", "maybe"}}).status, StartsWith("skipped:line 2: "));
}

// Programs write zero, or a word, where there is none.
TEST(NumberWords, ZeroOrLessIsABlankCell) {
  for (const char* column : {"n_experts", "top_k", "ep", "cp", "n_kv_heads", "params_b",
                             "n_shared_experts", "etp", "weight", "head_dim"}) {
    for (const char* none : {"0", "-1"}) {
      EXPECT_EQ(predicted({{column, none}}).status, predicted({{column, ""}}).status) << column;
    }
  }
  for (const char* column : {"tp", "pp", "vpp", "dp", "gpus_per_node", "micro_batch"}) {
    EXPECT_EQ(predicted({{column, "0"}}).predicted, predicted({{column, ""}}).predicted) << column;
  }
  EXPECT_EQ(predicted({{"n_gpus", "0"}}).status, "skipped:n_gpus is not stated");
  EXPECT_EQ(scenario({{"pp", "none"}, {"dp", ""}}).parallelism.pipeline, 1);
  EXPECT_EQ(scenario({{"tp", "no"}, {"dp", ""}}).parallelism.tensor, 1);
  EXPECT_EQ(predicted({{"cp", "no"}}).status, "ok");
  EXPECT_EQ(predicted({{"cp", "\xE2\x80\x94"}}).status, "ok");
  for (const char* none : {"none", "dense", "-"}) {
    EXPECT_EQ(predicted({{"n_experts", none}}).status, "ok") << none;
  }
}

}  // namespace
}  // namespace headway::validation
