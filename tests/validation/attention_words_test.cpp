// Words of the column `attention`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using workload::AttentionKind;
using workload::ContextKind;

TEST(AttentionWords, WindowsAreOfTheLayersThatTheWordsName) {
  struct Case {
    const char* words;
    int window, period;
  };
  for (const Case& c :
       {Case{"SWA 4096", 4096, 1}, Case{"sliding window (4096)", 4096, 1},
        Case{"sliding window 4096", 4096, 1}, Case{"gqa, window 1024 on 5 of 6 layers", 1024, 6},
        Case{"gqa + sliding window 1024 (5:1)", 1024, 6}, Case{"local 1024 : global 5:1", 1024, 6},
        Case{"global every 6th layer, window 1024", 1024, 6},
        Case{"window 1024, every 6th layer full", 1024, 6},
        Case{"gqa, window 128 on every 2nd layer", 128, 2},
        Case{"gqa, window 128 on 2 of 4 layers", 128, 2},
        Case{"alternating local 4096/global", 4096, 2}}) {
    const auto model = scenario({{"attention", c.words}}).model;
    EXPECT_EQ(model.attention, AttentionKind::sliding_window) << c.words;
    EXPECT_EQ(model.window, c.window) << c.words;
    EXPECT_EQ(model.window_period, c.period) << c.words;
    EXPECT_EQ(predicted({{"attention", c.words}}).status, "ok") << c.words;
  }
}

TEST(AttentionWords, WindowsThatAreNotStatedAreRefusedByName) {
  for (const char* words : {"alternating local/global", "sliding window", "SWA"}) {
    EXPECT_THAT(predicted({{"attention", words}}).status,
                HasSubstr("(the window's tokens are not stated)"));
  }
  EXPECT_THAT(predicted({{"attention", "local 1024 and global"}}).status,
              HasSubstr("(how many layers have the window is not stated)"));
  EXPECT_THAT(predicted({{"attention", "window 1024 on every 3rd layer"}}).status,
              HasSubstr("(a window on 1 of 3 layers)"));
  EXPECT_EQ(predicted({{"attention", "quux"}}).status, "skipped:unmodelled: attention 'quux'");
}

// Kernels and orders of full causal attention change nothing; what is unknown beside them is told.
TEST(AttentionWords, FullAttentionHasManyWords) {
  const auto usual = scenario({}).model;
  for (const char* words : {"full attention", "GQA (8 groups)", "GQA 8", "flex attention",
                            "FlashAttention-2", "flash-attn 2", "xformers memory efficient",
                            "causal sdpa", "ring attention", "ulysses", "MHA+RoPE", "global"}) {
    EXPECT_EQ(scenario({{"attention", words}}).model, usual) << words;
    EXPECT_EQ(predicted({{"attention", words}}).status, "ok") << words;
  }
  EXPECT_EQ(predicted({{"attention", "gqa quux"}}).status,
            "ok-assumed: not understood in attention: quux");
  EXPECT_FALSE(scenario({{"attention", "alibi"}}).model.rotary);
}

TEST(AttentionWords, HeadsInWordsAreThoseOfABlankColumn) {
  const Cells blank{{"attention", "GQA (4 groups)"}, {"n_kv_heads", ""}};
  EXPECT_EQ(scenario(blank).model.key_value_heads, 4);
  EXPECT_EQ(predicted(blank).status, "ok");
  EXPECT_THAT(predicted({{"attention", "GQA (4 groups)"}}).status,
              HasSubstr("attention says 4 key and value heads, n_kv_heads 8"));
  EXPECT_EQ(scenario({{"attention", "multi-query"}, {"n_kv_heads", ""}}).model.key_value_heads, 1);
}

TEST(AttentionWords, ContextRanksMeetAsTheWordsSay) {
  const auto kind = [](const char* words) {
    return scenario({{"attention", words}, {"cp", "2"}, {"dp", "2"}, {"seq_len", "32768"}})
        .parallelism.context_kind;
  };
  EXPECT_EQ(kind("ring attention"), ContextKind::ring);
  EXPECT_EQ(kind("Ulysses"), ContextKind::all_to_all);
  EXPECT_EQ(kind("all-gather"), ContextKind::all_gather);
}

}  // namespace
}  // namespace headway::validation
