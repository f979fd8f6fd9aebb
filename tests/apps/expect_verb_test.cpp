// headway expect from the outside.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using ExpectVerb = ProgramTest;

TEST_F(ExpectVerb, PrintsThresholdsInEveryShape) {
  write_small("s.yaml");
  const auto table = run("expect s.yaml");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("all_reduce at 1 GiB"));
  EXPECT_THAT(table.out, HasSubstr("thresholds, none compared with a measurement."));
  const json result = json::parse(run("expect s.yaml --format json").out);
  EXPECT_EQ(result["schema"], "headway.expect/1");
  EXPECT_EQ(result["status"], "ok");
  EXPECT_EQ(result["thresholds"][0]["unit"], "B/s");
  const json nvcre = json::parse(run("expect s.yaml --format nvcre").out);
  EXPECT_EQ(nvcre["kind"], "Certification");
  EXPECT_EQ(nvcre["spec"]["categories"].size(), 3U);  // it has no test of reduce-scatter
  EXPECT_THAT(nvcre["spec"]["categories"][0]["options"]["thresholds"]["busBandwidthGBps"]
                  .get<std::string>(),
              testing::StartsWith("value >= "));
  const json rccl = json::parse(run("expect s.yaml --format cvs-rccl").out);
  EXPECT_TRUE(rccl["rccl"]["results"]["alltoall_perf"]["bus_bw"].contains("1073741824"));
  const json cvs = json::parse(run("expect s.yaml --format cvs").out);
  EXPECT_EQ(cvs["MBS=1,GBS=32,PRECISION=BF16"]["training.tokens_per_gpu"]["kind"], "min");
}

TEST_F(ExpectVerb, ALogThatMissesItsLimitEndsWithFour) {
  write_small("s.yaml");
  const std::string log = HEADWAY_ROOT "/tests/data/nccl/all_reduce_8_ranks.log";
  const auto passed = run("expect s.yaml --against " + log);
  EXPECT_EQ(passed.code, 0) << passed.err;
  EXPECT_THAT(passed.out, HasSubstr("worker001"));
  write("slow.csv",
        "measure,value,nodes,collective,gpus,size\n"
        "bus_bandwidth,120 GB/s,worker002,all_reduce,8,1G\n");
  const auto failed = run("expect s.yaml --against " + log + " --against slow.csv");
  EXPECT_EQ(failed.code, 4);
  EXPECT_THAT(failed.out, HasSubstr("nodes that failed: worker002."));
  EXPECT_THAT(failed.err, HasSubstr("assert_failed: slow.csv:2"));
}

TEST_F(ExpectVerb, EveryWrongRowIsTold) {
  write_small("s.yaml");
  write("m.csv",
        "measure,value,nodes,collective,gpus,size\n"
        "bus_bandwith,400 GB/s,worker002,all_reduce,8,1G\n"
        "bus_bandwidth,400,worker002,all_reduce,8,1G\n"
        "bus_bandwidth,400 GB/s,worker002,all_reduce,100,1G\n");
  const auto outcome = run("expect s.yaml --against m.csv");
  EXPECT_EQ(outcome.code, 2);
  for (const char* line : {"m.csv:2: ", "m.csv:3: ", "m.csv:4: "}) {
    EXPECT_THAT(outcome.err, HasSubstr(line));
  }
}

TEST_F(ExpectVerb, SaysWhichRowIsOfALargerMachine) {
  write_small("s.yaml");
  write("m.csv",
        "measure,value,nodes,collective,gpus,size\n"
        "bus_bandwidth,400 GB/s,worker002,all_reduce,8,1G\n"
        "bus_bandwidth,400 GB/s,worker002,all_reduce,100,1G\n");
  const auto outcome = run("expect s.yaml --against m.csv");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("m.csv:3: 100 GPUs are asked for and the machine 'Small' has "
                                     "16; it is held against the machine it was measured on"));
}

TEST_F(ExpectVerb, SaysWhatItCannotRead) {
  write_small("s.yaml");
  write("other.log", "nothing of nccl-tests\n");
  const auto outcome = run("expect s.yaml --against other.log");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("other.log"));
}

TEST_F(ExpectVerb, ScenariosOfSeveralSitesHaveThresholds) {
  for (const char* name :
       {"two-sites-llama-70b-1024-h100", "two-sites-diloco-llama-70b-1024-h100"}) {
    const auto outcome =
        run(std::string("expect " HEADWAY_ROOT "/configs/scenarios/") + name + ".yaml");
    EXPECT_EQ(outcome.code, 0) << name << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("site (512 GPUs)"));
  }
}

TEST_F(ExpectVerb, SizesAreReadAsTheyAreWritten) {
  write_small("s.yaml");
  write("m.csv",
        "measure,value,nodes,collective,gpus,size\n"
        "bus_bandwidth,470 GB/s,a,all_reduce,8,1 GiB\n"
        "bus_bandwidth,470 GB/s,a,all_reduce,8,1G\n");
  const auto outcome = run("expect s.yaml --against m.csv --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json verdicts = json::parse(outcome.out)["verdicts"];
  EXPECT_EQ(verdicts[0]["threshold"], verdicts[1]["threshold"]);
}

TEST_F(ExpectVerb, FilesOfLimitsAloneHoldNoResults) {
  write_small("s.yaml");
  write("m.csv", "measure,value\nstep_time,1 s\n");
  for (const char* format : {"nvcre", "cvs", "cvs-rccl"}) {
    const auto outcome = run(std::string("expect s.yaml --against m.csv --format ") + format);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(std::string("--against with --format ") + format));
  }
}

// Saves with timers of their own are held to their limit too.
TEST_F(ExpectVerb, ATrainingLogTellsHowLongSavesTake) {
  write_small("s.yaml");
  write("train.log",
        " iteration 1/ 9 | elapsed time per iteration (ms): 10.0 |\n"
        " iteration 2/ 9 | elapsed time per iteration (ms): 10.0 |\n"
        "(min, max) time across ranks (ms):\n"
        "    save-checkpoint ....: (880000.0, 990000.0)\n");
  const auto outcome = run("expect s.yaml --against train.log");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("save_stall of 16 GPUs is 990 s"));
}

}  // namespace
}  // namespace headway::apps
