// Lines that training programs print of their steps.
#include "sim/import/measured/training_log.h"

#include <gmock/gmock.h>
#include <sstream>

#include "sim/core/error.h"

namespace headway::import {
namespace {

using testing::HasSubstr;

std::string complaint_of(const std::string& text) {
  try {
    read_training_log(text, "a.log");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(TrainingLog, MegatronHasTimesAndTimersOfRanks) {
  const auto log = read_training_log(
      " [2026-03-01 10:00:00] iteration       10/     100 | consumed samples:          1280 | "
      "elapsed time per iteration (ms): 812.5 | throughput per GPU (TFLOP/s/GPU): 401.2 |\n"
      "(min, max) time across ranks (ms):\n"
      "    forward-backward ...............................: (700.00, 720.00)\n"
      "    forward-compute ................................: (200.00, 260.00)\n"
      "    optimizer ......................................: (10.00, 12.00)\n"
      "[Rank 0] (after 10 iterations) memory (MB) | allocated: 10240.0 | max allocated: 20480.0 | "
      "reserved: 30720.0\n"
      " [2026-03-01 10:00:08] iteration       20/     100 | consumed samples:          2560 | "
      "elapsed time per iteration (ms): 800.5 |\n",
      "a.log");
  EXPECT_EQ(log.program, TrainingProgram::megatron);
  ASSERT_EQ(log.steps.size(), 2U);
  EXPECT_DOUBLE_EQ(log.steps[0].seconds, 0.8125);
  EXPECT_EQ(log.steps[1].step, 20);
  EXPECT_EQ(log.steps[1].steps, 10);  // a line every ten steps is their mean
  ASSERT_EQ(log.parts.size(), 3U);
  EXPECT_EQ(log.parts[1].name, "forward-compute");
  EXPECT_DOUBLE_EQ(log.parts[1].least, 0.2);
  EXPECT_DOUBLE_EQ(log.parts[1].most, 0.26);
  EXPECT_EQ(log.memory_bytes, 20480.0 * 1024 * 1024);
}

TEST(TrainingLog, TimersBetweenBarsAreReadToo) {
  const auto log = read_training_log(
      " samples/sec: 7.799 | iteration       34/   10000 | elapsed time per iteration (ms): 4103.1 "
      "| learning rate: 2.1E-06 |\n"
      "time (ms) | forward: 659.86 | backward: 2164.69 | optimizer: 1172.51 | batch generator: "
      "0.83\n",
      "a.log");
  EXPECT_DOUBLE_EQ(log.steps.front().seconds, 4.1031);
  ASSERT_EQ(log.parts.size(), 4U);
  EXPECT_EQ(log.parts[1].name, "batch generator");
  EXPECT_DOUBLE_EQ(log.parts[1].most, 0.83e-3);
}

TEST(TrainingLog, TorchtitanSaysTokensAndColours) {
  const auto log = read_training_log(
      "[rank0]:[titan] 2026-02-24 19:46:17,508 - root - INFO - \x1b[31mstep: 40  \x1b[32mloss:  "
      "7.62585  \x1b[38;2;180;60;0mgrad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: 10,050  "
      "tflops: 314.71  mfu: 13.99%\x1b[39m\n"
      "[rank1]:[titan] 2026-02-24 19:46:17,508 - root - INFO - step: 40  loss:  7.6  memory: "
      "66.91GiB(37.51%)  tps: 10,049  tflops: 314.7  mfu: 13.99%\n"
      "[titan] validate step: 40  loss: 7.5  memory: 70.00GiB(39.24%)  tps: 30,000\n",
      "a.log");
  EXPECT_EQ(log.program, TrainingProgram::torchtitan);
  ASSERT_EQ(log.steps.size(), 1U);  // a line of each rank is one step
  EXPECT_EQ(log.steps[0].tokens_per_s_per_gpu, 10050);
  EXPECT_DOUBLE_EQ(log.reserved_bytes, 66.91 * 1024 * 1024 * 1024);  // of training, not validation
  EXPECT_EQ(log.memory_bytes, 0);  // nothing says what tensors had
}

TEST(TrainingLog, DeepSpeedNemoAndMaxTextAreKnown) {
  const auto deepspeed = read_training_log(
      "[2026-07-25 21:03:17,269] [INFO] [timer.py:215:stop] epoch=0/micro_step=34/global_step=34, "
      "RunningAvgSamplesPerSec=7.86, CurrSamplesPerSec=8.0, MemAllocated=59.65GB, "
      "MaxMemAllocated=63.31GB\n",
      "a.log");
  EXPECT_EQ(deepspeed.program, TrainingProgram::deepspeed);
  EXPECT_EQ(deepspeed.steps[0].samples_per_s, 8);
  EXPECT_EQ(deepspeed.steps[0].step, 34);
  const auto nemo = read_training_log(
      "Training epoch 0, iteration 10/99 | lr: 1e-05 | global_batch_size: 512 | global_step: 10 | "
      "reduced_train_loss: 11.0 | train_step_timing in s: 4.56 | consumed_samples: 5632\n",
      "a.log");
  EXPECT_EQ(nemo.program, TrainingProgram::nemo);
  EXPECT_DOUBLE_EQ(nemo.steps[0].seconds, 4.56);
  const auto maxtext = read_training_log(
      "completed step: 12, seconds: 5.25, TFLOP/s/device: 400.1, Tokens/s/device: 3120.5, "
      "total_weights: 65536, loss: 10.1\n",
      "a.log");
  EXPECT_EQ(maxtext.program, TrainingProgram::maxtext);
  EXPECT_DOUBLE_EQ(maxtext.steps[0].seconds, 5.25);
  EXPECT_DOUBLE_EQ(maxtext.steps[0].tokens_per_s_per_gpu, 3120.5);
}

// The same four ranks in each option of --timing-log-option, as megatron/core/timers.py prints it,
// behind each prefix that launchers put before a line.
TEST(TrainingLog, TimersOfEveryOptionAndBehindEveryPrefixAreRead) {
  struct Option {
    const char* block;
    std::size_t parts;
    double least, most;
  };
  const std::string dots(32, '.');
  const std::string minmax = "(min, max) time across ranks (ms):\n    forward-compute " + dots +
                             ": (950.00, 980.00)\n    save-checkpoint " + dots +
                             ": (9000.12, 9012.33)\n";
  const std::string most = "max time across ranks (ms):\n    forward-compute " + dots +
                           ": 980.00\n    save-checkpoint " + dots + ": 9012.33\n";
  const std::string all =
      "times across ranks (ms):\n  forward-compute:\n     rank  0: 950.00\n     rank  1: 980.00\n"
      "     rank 10: 960.00\n  save-checkpoint:\n     rank  0: 9000.12\n     rank  1: 9012.33\n";
  for (const std::string prefix :
       {"", "[default7]:", " 63: ", "2026-11-20T10:11:12.1Z stdout F "}) {
    for (const auto& [block, parts, least, slowest] :
         {Option{minmax.c_str(), 1, 0.95, 0.98}, Option{most.c_str(), 0, 0, 0},
          Option{all.c_str(), 1, 0.95, 0.98}}) {
      std::string text = prefix + " iteration 10/ 100 | elapsed time per iteration (ms): 800.5 |\n";
      std::istringstream lines(block);
      for (std::string line; std::getline(lines, line);) {
        text += prefix + line + "\n[rank3] a line of somebody else\n";
      }
      const auto log = read_training_log(text, "a.log");
      ASSERT_EQ(log.parts.size(), parts) << text;
      if (parts > 0) {
        EXPECT_EQ(log.parts[0].name, "forward-compute");
        EXPECT_DOUBLE_EQ(log.parts[0].least, least) << text;
        EXPECT_DOUBLE_EQ(log.parts[0].most, slowest);
        EXPECT_TRUE(log.remarks.empty());
      } else {
        EXPECT_THAT(log.remarks, testing::ElementsAre(HasSubstr("1 timers have the slowest rank")));
      }
      ASSERT_EQ(log.saves.size(), 1U) << text;
      EXPECT_DOUBLE_EQ(log.saves[0].seconds, 9.01233);
      EXPECT_EQ(log.saves[0].step, 10);
    }
  }
  EXPECT_THAT(complaint_of("times across ranks (ms):\n  optimizer:\n     rank  0: nan\n"),
              HasSubstr("a.log:3:1: the timer 'optimizer' has no time of rank 0"));
}

// Alone in a file they tell how long saves and loads take.
TEST(TrainingLog, AFileOfTimersAloneIsOne) {
  const std::string text =
      "(min, max) time across ranks (ms):\n    save-checkpoint ........: (9000.12, 9012.33)\n"
      "(min, max) time across ranks (ms):\n    load-checkpoint ........: (90000.1, 90012.3)\n";
  EXPECT_TRUE(is_training_log(text));
  const auto log = read_training_log(text, "a.log");
  EXPECT_DOUBLE_EQ(log.saves.front().seconds, 9.01233);
  EXPECT_THAT(log.loads, testing::ElementsAre(testing::DoubleEq(90.0123)));
}

TEST(TrainingLog, SecondsOfBigScienceAndOfThePipelineEngineAreSteps) {
  struct Line {
    const char* text;
    TrainingProgram program;
    std::int64_t step;
    double seconds, samples;
  };
  for (const auto& [text, program, step, seconds, samples] :
       {Line{" iteration    17/ 500000 | consumed samples: 34816 | elapsed time per iteration (s): "
             "105.22 | global batch size:  2048 | samples per second: 19.464 | TFLOPs: 147.60 |\n",
             TrainingProgram::megatron, 17, 105.22, 2048},
        Line{"steps: 10 loss: 3.2000 iter time (s): 4.300 samples/sec: 59.535\n",
             TrainingProgram::deepspeed, 10, 4.3, 4.3 * 59.535}}) {
    EXPECT_TRUE(is_training_log(text));
    const auto log = read_training_log(text, "a.log");
    ASSERT_EQ(log.steps.size(), 1U);
    EXPECT_EQ(log.program, program);
    EXPECT_EQ(log.steps[0].step, step);
    EXPECT_DOUBLE_EQ(log.steps[0].seconds, seconds);
    EXPECT_DOUBLE_EQ(log.steps[0].samples, samples);
  }
}

// The pipeline engine prints timers every `steps_per_print` steps and resets them then.
TEST(TrainingLog, TimersOfThePipelineEngineAreOfAllStepsOfALine) {
  std::string text;
  for (const char* step : {"10", "20", "30"}) {
    text += std::string("time (ms) | fwd: 9000.00 | bwd_inner: 20000.00\nsteps: ") + step +
            " loss: 3.2 iter time (s): 4.300 samples/sec: 59.535\n";
  }
  const auto log = read_training_log(text, "a.log");
  ASSERT_EQ(log.parts.size(), 2U);
  EXPECT_EQ(log.parts[1].name, "fwd");
  EXPECT_DOUBLE_EQ(log.parts[1].most, 0.9);
  const auto one = read_training_log(text.substr(0, text.size() / 3), "a.log");
  EXPECT_TRUE(one.parts.empty());
  EXPECT_THAT(one.remarks, testing::ElementsAre(HasSubstr("give two lines or more")));
}

// What was consumed from one line to the next is the mean of a ramp; a number that is rounded
// (1.2e+05) is none.
TEST(TrainingLog, TellsTheBatchOfEachLine) {
  const auto log = read_training_log(
      "iteration 10/ 100 | consumed samples: 640 | elapsed time per iteration (ms): 1.0 | global "
      "batch size:    64 |\n"
      "iteration 20/ 100 | consumed samples: 1920 | elapsed time per iteration (ms): 1.0 | global "
      "batch size:   192 |\n",
      "a.log");
  EXPECT_EQ(log.steps[0].samples, 64);
  EXPECT_EQ(log.steps[1].samples, 128);
  const auto nemo = read_training_log(
      "iteration 1/99 | global_batch_size: 512 | global_step: 1 | train_step_timing in s: 4.5 | "
      "consumed_samples: 1.2e+05\n"
      "iteration 2/99 | global_batch_size: 512 | global_step: 2 | train_step_timing in s: 4.5 | "
      "consumed_samples: 1.3e+05\n",
      "b.log");
  EXPECT_EQ(nemo.steps[1].samples, 512);
  const auto neox = read_training_log(
      " samples/sec: 7.799 | iteration 34/ 10000 | elapsed time per iteration (ms): 4103.1 |\n",
      "c.log");
  EXPECT_NEAR(neox.steps[0].samples, 7.799 * 4.1031, 1e-9);
  const auto maxtext = read_training_log(
      "completed step: 12, seconds: 5.25, Tokens/s/device: 3120.0, total_weights: 65536\n",
      "d.log");
  EXPECT_DOUBLE_EQ(maxtext.steps[0].tokens_per_gpu, 16380);
}

TEST(TrainingLog, SaysWhereItCannotRead) {
  EXPECT_THAT(complaint_of("nothing\n"), HasSubstr("no line of a step; known are"));
  EXPECT_THAT(complaint_of("x\ncompleted step: 1, seconds: nan,\n"), HasSubstr("a.log:2:"));
  EXPECT_THAT(complaint_of("completed step: 1, seconds: -3,\n"),
              HasSubstr("'-3' behind 'seconds:' is no number above zero"));
  EXPECT_FALSE(is_training_log("loss 3\n"));
  EXPECT_TRUE(is_training_log("loss 3\ncompleted step: 1, seconds: 3\n"));
}

// The slowest rank is waited for; of a save that several ranks report the longest counts.
TEST(TrainingLog, SavesAndLoadsHaveLinesOfTheirOwn) {
  const auto step = [](int i) {
    return " iteration " + std::to_string(i) + "/ 100 | elapsed time per iteration (ms): 800.5 |\n";
  };
  const std::string saved =
      "(min, max) time across ranks (ms):\n    save-checkpoint ........: (4000.0, 5500.0)\n";
  const auto megatron = read_training_log(
      "(min, max) time across ranks (ms):\n    load-checkpoint ........: (61000.0, 62000.0)\n" +
          step(1) + step(2) + saved + step(3) + step(4) + saved,
      "a.log");
  ASSERT_EQ(megatron.saves.size(), 2U);
  EXPECT_EQ(megatron.saves[0].step, 2);
  EXPECT_EQ(megatron.saves[1].step, 4);
  EXPECT_DOUBLE_EQ(megatron.saves[1].seconds, 5.5);
  EXPECT_THAT(megatron.loads, testing::ElementsAre(62.0));
  EXPECT_TRUE(megatron.parts.empty());
  // 0.1 ms, the last digit, of 800.5.
  EXPECT_NEAR(megatron.resolution, 0.1 / 800.5, 1e-12);
  const auto nemo = read_training_log(
      "Global Checkpoint Load : Rank : 0 : Start time : 17.500s : Time spent in load_checkpoint: "
      "9.250s\n"
      "Global Checkpoint Save : Rank: 0 : Iteration: 500 : Start time: 1.000s : Save duration: "
      "3.125s\n"
      "Global Checkpoint Save : Rank: 1 : Iteration: 500 : Start time: 1.000s : Save duration: "
      "3.250s\n",
      "b.log");
  ASSERT_EQ(nemo.saves.size(), 1U);
  EXPECT_EQ(nemo.saves[0].step, 500);
  EXPECT_DOUBLE_EQ(nemo.saves[0].seconds, 3.25);
  EXPECT_THAT(nemo.loads, testing::ElementsAre(9.25));
  const auto titan = read_training_log(
      "[titan] step: 10 loss: 8.1 memory: 40.00GiB(50%) tps: 7,000 mfu: 40%\n"
      "[titan] Finished staging the checkpoint in 2.50 seconds.\n",
      "c.log");
  ASSERT_EQ(titan.saves.size(), 1U);
  EXPECT_EQ(titan.saves[0].step, 10);
  EXPECT_DOUBLE_EQ(titan.resolution, 1.0 / 7000);
  // As it was from 2024 to 2026: without a blank behind the bracket.
  const auto older = read_training_log(
      "[titan] Saving the checkpoint (or staging if async is enabled).\n"
      "[titan] Finished saving the checkpoint (or staging if async is enabled)in 30.12 seconds.\n",
      "d.log");
  ASSERT_EQ(older.saves.size(), 1U);
  EXPECT_DOUBLE_EQ(older.saves[0].seconds, 30.12);
  EXPECT_THAT(complaint_of("Finished saving the checkpoint in no seconds.\n"),
              HasSubstr("'no' behind 'Finished saving the checkpoint in' is no number above zero"));
}

// A killed job leaves half a line: "8,37" of 8,372 tokens a second, "7" of 76 samples, a timer of
// no time. None of it is read, and the line is said.
TEST(TrainingLog, ALastLineThatDoesNotEndIsLeftOut) {
  const std::string titan = "step: 1  loss: 2  memory: 48.10GiB(60.40%)  tps: 8,370\n";
  const auto cut =
      read_training_log(titan + "step: 2  loss: 2  memory: 48.10GiB(60.40%)  tps: 8,37", "a.log");
  ASSERT_EQ(cut.steps.size(), 1U);
  EXPECT_EQ(cut.steps[0].tokens_per_s_per_gpu, 8370);
  EXPECT_THAT(cut.remarks, testing::ElementsAre(HasSubstr("line 2, the last one, does not end")));
  const std::string deepspeed = "global_step=1, RunningAvgSamplesPerSec=76.2, CurrSamplesPerSec=";
  EXPECT_EQ(read_training_log(deepspeed + "76.2\n" + deepspeed + "7", "a.log").steps.size(), 1U);
  const std::string timers =
      " iteration 1/ 9 | elapsed time per iteration (ms): 800.0 |\n"
      "(min, max) time across ranks (ms):\n    forward-compute ......: (";
  EXPECT_TRUE(read_training_log(timers, "a.log").parts.empty());
  EXPECT_TRUE(read_training_log(titan, "a.log").remarks.empty());
  // A text of one line is all there is.
  EXPECT_EQ(read_training_log(titan.substr(0, titan.size() - 1), "a.log").steps.size(), 1U);
}

TEST(TrainingLog, AShortestTimeAboveTheLongestIsSaid) {
  EXPECT_THAT(complaint_of("(min, max) time across ranks (ms):\n"
                           "    forward-compute ......: (12328.84, 12261.11)\n"),
              HasSubstr("the timer 'forward-compute' has its shortest time, 12328.84 ms, above its "
                        "longest, 12261.11 ms"));
}

// What a log says of steps that pause: saves, collections of garbage (but for that before all
// steps), settings; and what it says of steps that were lost.
TEST(TrainingLog, TellsWhatStepsPauseForAndWhichWereLost) {
  const auto megatron = read_training_log(
      "  manual_gc_interval .............................. 25\n"
      "  save_interval ................................... 1000\n"
      " [2026-09-01 08:00:03.535288] iteration 10/ 99 | elapsed time per iteration (ms): 800.0 | "
      "number of skipped iterations:   2 | number of nan iterations:   1 |\n"
      "saving checkpoint at iteration      10 to /ckpt in torch_dist format\n",
      "a.log");
  EXPECT_EQ(megatron.job.setting("manual_gc_interval")->value, "25");
  EXPECT_EQ(megatron.job.setting("save_interval")->value, "1000");
  EXPECT_EQ(megatron.steps[0].skipped, 2);
  EXPECT_EQ(megatron.steps[0].nan, 1);
  EXPECT_THAT(megatron.saved, testing::ElementsAre(10));
  EXPECT_TRUE(megatron.leaves_saves_out);
  // Its kin print no date, and time what lies between two lines.
  EXPECT_FALSE(read_training_log("[default0]: iteration 10/ 99 | elapsed time per iteration (ms): "
                                 "800.0 |\n",
                                 "a.log")
                   .leaves_saves_out);
  const auto titan = read_training_log(
      "[GC] Initial GC collection took 0.01 seconds\nstep: 1  loss: 2  tps: 8,370\n"
      "[GC] Performing periodic GC collection 2.10 seconds\nstep: 2  loss: 2  tps: 4,370\n"
      "Saving the checkpoint (or staging if async is enabled).\n",
      "a.log");
  EXPECT_THAT(titan.collected, testing::ElementsAre(2));
  EXPECT_THAT(titan.saved, testing::ElementsAre(2));
}

}  // namespace
}  // namespace headway::import
