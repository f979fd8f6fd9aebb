// Sizes that cannot be: which exit code the program gives, and what it says.
#include <gmock/gmock.h>

#include "tests/apps/program.h"
#include "tests/sanitized.h"

namespace headway::apps {
namespace {

using testing::HasSubstr;

class Bounds : public ProgramTest {
 protected:
  Bounds() { write_small("s.yaml"); }
};

TEST_F(Bounds, APlanOfWhatNoLayoutMendsIsWrongInputWithItsPlace) {
  for (const char* set : {"cluster.node.nic.count=3", "cluster.storage.path=shared",
                          "cluster.node.gpus=1073741824"}) {
    const Outcome outcome = run(std::string("plan s.yaml --set ") + set);
    EXPECT_EQ(outcome.code, 2) << set;
    EXPECT_THAT(outcome.err, HasSubstr(std::string("argument --set ") + set + ":"));
  }
  const Outcome heads = run("plan s.yaml --set model.heads=31");
  EXPECT_EQ(heads.code, 2);
  EXPECT_THAT(heads.err, HasSubstr("31 query heads cannot be shared by 8 key and value heads"));
  const Outcome power = run("plan s.yaml --set 'cluster.node.gpu.idle_power=700 W'");
  EXPECT_EQ(power.code, 2);
  EXPECT_THAT(power.err, HasSubstr("a power limit of 700 W leaves nothing"));
}

TEST_F(Bounds, ALimitOrASizeGivenTwiceIsRefused) {
  const Outcome limits = run("plan s.yaml --limit gpus=16 --limit gpus=32");
  EXPECT_EQ(limits.code, 2);
  EXPECT_THAT(limits.err, HasSubstr("--limit gpus=... is given twice; keep one"));
  const Outcome sizes = run("plan s.yaml --nodes 2,1,2");
  EXPECT_EQ(sizes.code, 2);
  EXPECT_THAT(sizes.err, HasSubstr("--nodes names 2 more than once"));
  const auto goals = run("plan s.yaml --objective step,days,step");
  EXPECT_EQ(goals.code, 2);
  EXPECT_THAT(goals.err, HasSubstr("--objective names step more than once; keep one"));
}

TEST_F(Bounds, ALimitThatDoesNotFitIsRefusedInItsOwnDigits) {
  const Outcome outcome = run("plan s.yaml --limit gpus=1e300");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--limit gpus: '1e300' is more than 9.2e18"));
}

#ifndef HEADWAY_SANITIZED  // no limit of memory leaves room for what a sanitizer reserves
// 2^22 sequences on data 4 are 2^20 micro-batches of 16 layers a stage: far above 4 GB.
TEST_F(Bounds, ASimulationLargerThanTheMemoryIsRefusedBeforeItBegins) {
  const Outcome outcome =
      run("run s.yaml --set training.global_batch=4194304", "ulimit -v 4000000; ");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("simulating this needs about "));
  EXPECT_THAT(outcome.err, HasSubstr("make training.global_batch smaller"));
}

// 312,500 micro-batches a rank: 437 million steps of a program if each were written out.
TEST_F(Bounds, TenMillionSequencesTakeWhatTenThousandTake) {
  const Outcome outcome = run("run " HEADWAY_ROOT
                              "/configs/scenarios/small-llama-8b-64-h100.yaml --trials 2 --set "
                              "training.global_batch=10000000",
                              "ulimit -v 2000000 -t 10; ");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("312,500 micro-batches of 1"));
}
#endif

}  // namespace
}  // namespace headway::apps
