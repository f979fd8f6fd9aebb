// Native sparse attention from the command line: run, explain, plan, refusal, the scenario.
#include <gmock/gmock.h>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using testing::HasSubstr;
using NativeSparse = ProgramTest;

const std::string kNative =
    " --set 'model.native_sparse={selected_blocks: 16}' --set training.sequence_length=8192";

TEST_F(NativeSparse, RunsAndSaysWhatIsAssumed) {
  write_small("s.yaml");
  const auto outcome = run("run s.yaml" + kNative);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto assumed = run("run s.yaml --show assumptions" + kNative);
  EXPECT_THAT(assumed.out, HasSubstr("model.native_sparse"));
  EXPECT_THAT(assumed.out, HasSubstr("1714.6 keys a query: 254.6 compressed, 964 chosen, 496 of"));
  EXPECT_THAT(run("run s.yaml --explain" + kNative).out, HasSubstr("chosen blocks, "));
}

const std::string kGathered =
    " --set parallelism.context=2 --set parallelism.context_kind=all-gather";

TEST_F(NativeSparse, RunsOverContextRanksThatGatherItsKeys) {
  write_small("s.yaml");
  const auto outcome = run("run s.yaml --show assumptions" + kNative + kGathered);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("model.native_sparse, context parallelism"));
  const auto paper =
      run("run " HEADWAY_ROOT "/configs/scenarios/nsa-27b-32k-64-h100.yaml --format json");
  EXPECT_EQ(paper.code, 0) << paper.err;
}

// The indexer of DeepSeek-V3.2 in a small model.
TEST_F(NativeSparse, RunsAnIndexerOverContextRanks) {
  write_small("s.yaml");
  const std::string indexer =
      " --set 'model={name: small, layers: 6, hidden: 2048, heads: 16, key_value_heads: 16, "
      "head_dim: 192, ffn: 8192, vocabulary: 64000, attention: mla, latent: {query_rank: 1024, "
      "key_value_rank: 512, no_rope_dim: 128, rope_dim: 64, value_dim: 128}, sparse: "
      "{index_heads: 16, index_dim: 128, top_k: 1024}}'";
  const auto outcome = run("run s.yaml --show assumptions" + indexer + kGathered);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("model.sparse, context parallelism"));
  const auto ring = run("check s.yaml --set parallelism.context=2" + indexer);
  EXPECT_EQ(ring.code, 2);
  EXPECT_THAT(ring.err, HasSubstr("sparse attention over context ranks needs the keys"));
}

TEST_F(NativeSparse, IsPlannedWithoutWhatIsNotSimulated) {
  write_small("s.yaml");
  const auto outcome = run("plan s.yaml --full --top 3 --set 'search.context=[1, 2]'" + kNative);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  // Layouts with a ring of context ranks are left out, and it is said why.
  EXPECT_THAT(outcome.out + outcome.err,
              HasSubstr("native sparse attention over context ranks needs the keys"));
}

TEST_F(NativeSparse, IsExplainedAndRefusedByName) {
  EXPECT_THAT(run("explain model.native_sparse.selected_blocks").out, HasSubstr("token by token"));
  write_small("s.yaml");
  const auto context = run("check s.yaml --set parallelism.context=2" + kNative);
  EXPECT_EQ(context.code, 2);
  EXPECT_THAT(context.err, HasSubstr("and context_kind is ring"));
  const auto stride = run("check s.yaml --set 'model.native_sparse={stride: 24}'");
  EXPECT_EQ(stride.code, 2);
  EXPECT_THAT(stride.err, HasSubstr("do not divide into steps of stride 24"));
}

TEST_F(NativeSparse, OfThePaperRuns) {
  const auto outcome =
      run("run " HEADWAY_ROOT "/configs/scenarios/nsa-27b-64-h100.yaml --format json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\"name\": \"NSA 27B\""));
}

}  // namespace
}  // namespace headway::apps
