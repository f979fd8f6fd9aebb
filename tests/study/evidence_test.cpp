// Figures that logs of all kinds are turned into.
#include "sim/study/evidence/evidence.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "sim/gpu/kernel_time.h"

#include "tests/import/profiler_trace.h"
#include "tests/study/planted.h"

namespace headway::study {
namespace {

using testing::HasSubstr;

training::CheckedScenario job() {
  const auto loaded = config::load_scenario_text(planted_scenario(), "planted.yaml",
                                                 {{HEADWAY_SOURCE_DIR "/configs"}, {}});
  return training::check(loaded.scenario, loaded.marks);
}

const Observation& of(const Evidence& evidence, Feature feature) {
  for (const Observation& observation : evidence.observations) {
    if (observation.feature == feature) {
      return observation;
    }
  }
  throw core::Error("no such observation");
}

TEST(Evidence, TokensAndSamplesASecondAreStepTimes) {
  // 256 sequences of 8,192 tokens on 128 GPUs: at 8,192 tokens/s and GPU a step takes 2 s.
  const auto tokens = read_evidence(
      job(), {{"a.log", "step: 1 loss: 2 memory: 40.00GiB(50%) tps: 8,192 mfu: 1%\n"}});
  EXPECT_NEAR(of(tokens, Feature::step_time).measured, 2, 1e-12);
  EXPECT_NEAR(of(tokens, Feature::reserved_memory).measured, 40 * 1073741824.0, 1);
  // 64 sequences a second: 4 s.
  const auto samples = read_evidence(
      job(), {{"b.log", "global_step=3, RunningAvgSamplesPerSec=9, CurrSamplesPerSec=64.0\n"}});
  EXPECT_NEAR(of(samples, Feature::step_time).measured, 4, 1e-12);
  EXPECT_THAT(samples.remarks, testing::Contains(HasSubstr("too few to tell how they scatter")));
}

TEST(Evidence, ProductsOfATraceStandBesideTheirPrediction) {
  const auto evidence = read_evidence(job(), {{"trace.json", import::profiler_trace(3, 4)}});
  core::Kernel kernel;
  kernel.kind = core::KernelKind::gemm;
  kernel.m = 4096;
  kernel.n = 3072;
  kernel.k = 1024;
  kernel.work = core::Flops(2.0 * 4096 * 3072 * 1024);
  const auto checked = job();
  const auto& gpu = checked.scenario().cluster.node.gpu;
  const double predicted = gpu::kernel_time(gpu, gpu.sustained, kernel, {}).si();
  // Layers take 40, 41, 42 and 43 us.
  EXPECT_NEAR(of(evidence, Feature::products).measured, 41.5e-6 / predicted, 1e-9);
}

TEST(Evidence, MonitorsTellTheSlowestGpuAndWhereItStands) {
  const auto evidence = read_evidence(
      job(), {{"logs/n07.txt", "# gpu pwr pclk\n0 650 1700\n1 640 1700\n2 500 1190\n"}});
  EXPECT_NEAR(of(evidence, Feature::clock_ratio).measured, 0.7, 1e-12);
  EXPECT_EQ(of(evidence, Feature::power).measured, 640);
  EXPECT_EQ(evidence.slowest_gpu, "n07 GPU 2");
  EXPECT_THAT(evidence.nodes, testing::ElementsAre("n07"));
}

TEST(Evidence, SmallMessagesAreLeftOutAndSaidSo) {
  const std::string log =
      "# Collective test starting: all_reduce_perf\n"
      "# Rank 0 Group 0 Pid 1 on n0 device 0 [0x00] NVIDIA H100\n"
      "# Rank 1 Group 0 Pid 2 on n0 device 1 [0x00] NVIDIA H100\n"
      "1048576 262144 float sum -1 17.99 58.29 58.29 0 17.8 58.9 58.9 0\n";
  const auto evidence = read_evidence(job(), {{"small.log", log}});
  EXPECT_TRUE(evidence.observations.empty());
  EXPECT_THAT(evidence.remarks.front(), HasSubstr("small.log: no message of 64 MiB or more"));
}

std::string nccl_log_of(int nodes, int per_node) {
  std::string log = "# Collective test starting: all_reduce_perf\n";
  for (int r = 0; r < nodes * per_node; ++r) {
    log += fmt::format("# Rank {} Group 0 Pid 1 on n{} device {} [0x00] NVIDIA H100\n", r,
                       r / per_node, r % per_node);
  }
  const double n = nodes * per_node;
  return log + fmt::format("1073741824 268435456 float sum -1 2600 413.0 {:.2f} 0\n",
                           413.0 * 2 * (n - 1) / n);
}

// The job has 16 nodes of 8 GPUs.
TEST(Evidence, CallsOfALargerMachineAreLeftOutAndSaidSo) {
  struct Call {
    int nodes, per_node;
    const char* remark;
  };
  for (const auto& [nodes, per_node, remark] :
       {Call{17, 8, "136 GPUs are asked for and the machine 'Planted' has 128; it is left out"},
        Call{2, 16, "16 GPUs of each node are asked for and a node of 'Planted' has 8; it is left"},
        Call{17, 1, "17 GPUs, 1 a node, are asked for and the machine 'Planted' has 16 nodes"}}) {
    const auto evidence = read_evidence(job(), {{"big.log", nccl_log_of(nodes, per_node)}});
    EXPECT_TRUE(evidence.observations.empty());
    EXPECT_TRUE(evidence.nodes.empty());
    ASSERT_EQ(evidence.remarks.size(), 1U);
    EXPECT_THAT(evidence.remarks.front(), HasSubstr(fmt::format("big.log: {}", remark)));
  }
}

// Between sites all-to-all has no time, where rings do not pass over them as if they were one.
TEST(Evidence, CallsThatHaveNoTimeOverSitesAreLeftOutAndSaidSo) {
  const auto remarks = [](const std::string& collective) {
    std::string text = planted_scenario();
    const std::string storage = "  storage: {use: lustre}\n";
    text.insert(text.find(storage) + storage.size(),
                "  sites: {count: 2, bandwidth: 400 Gbps, latency: 5 ms, connections: 64" +
                    collective + "}\n");
    text.replace(text.find("pipeline: 2, "), 13, "");  // stages of a pipeline stay on a site
    const auto loaded =
        config::load_scenario_text(text, "sites.yaml", {{HEADWAY_SOURCE_DIR "/configs"}, {}});
    std::string log = nccl_log_of(16, 8);
    log.replace(log.find("all_reduce_perf"), 15, "alltoall_perf");
    log.replace(log.rfind("413.0"), log.size(), fmt::format("413.0 {:.2f} 0\n", 413.0 * 127 / 128));
    return read_evidence(training::check(loaded.scenario, loaded.marks), {{"a.log", log}}).remarks;
  };
  EXPECT_THAT(remarks(""),
              testing::ElementsAre(HasSubstr(
                  "a.log: all_to_all of 128 GPUs, on several sites of 'Planted', is not modelled: "
                  "ask for 64 or fewer")));
  EXPECT_TRUE(remarks(", collective: flat").empty());
}

// Times of a call that moved wrong data count for nothing; that it did is said apart.
TEST(Evidence, WrongDataOfACollectiveAreSaid) {
  std::string log = nccl_log_of(2, 8);
  const auto sound = read_evidence(job(), {{"a.log", log}});
  EXPECT_TRUE(sound.wrong_data.empty());
  log +=
      "4294967296 1073741824 float sum -1 99999 43.0 80.62 3\n# Out of bounds values : 3 FAILED\n";
  const auto wrong = read_evidence(job(), {{"a.log", log}});
  EXPECT_THAT(
      wrong.wrong_data,
      testing::ElementsAre("a.log: 1 of 2 sizes have wrong values, 3 out of bounds, on n0 n1"));
  EXPECT_EQ(of(wrong, Feature::bus_bandwidth).measured, of(sound, Feature::bus_bandwidth).measured);
}

// 900 s of steps, 90 s of saves and 10 s of waiting for input: saves are 9 % of 1,000 s. 300 steps
// waited 1/30 s each. Of 1,250 s a fifth is neither.
TEST(Evidence, ASummaryOfGoodputTellsWhatSavesAndInputTake) {
  const auto evidence =
      read_evidence(job(), {{"g.json", R"({"goodput_time": {"TOTAL": 900}, "badput_time": {
          "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME": 90, "UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME": 80,
          "DATA_LOADING_SYNC": 10}, "max_productive_step": 300, "total_elapsed_time": 1250,
          "disruption_count": 2, "ideal_step_time": 3.0})"}});
  EXPECT_DOUBLE_EQ(of(evidence, Feature::step_time).measured, 3);
  EXPECT_DOUBLE_EQ(of(evidence, Feature::pauses).measured, 0.09);
  EXPECT_NEAR(of(evidence, Feature::input).measured, 1.0 / 30, 1e-12);
  EXPECT_DOUBLE_EQ(of(evidence, Feature::load).measured, 40);
  EXPECT_THAT(evidence.remarks.front(), HasSubstr("20.0 % of its time is neither"));
}

// Every second step a save of 6 s, which steps of 2 s do not show: 6 of 10 s.
TEST(Evidence, SavesThatStepsLeaveOutAreCountedBetweenThem) {
  std::string log;
  for (int i = 1; i <= 40; ++i) {
    log += fmt::format(" iteration {}/ 90 | elapsed time per iteration (ms): 2000.0 |\n", i);
    if (i % 2 == 0) {
      log += "(min, max) time across ranks (ms):\n    save-checkpoint ....: (5000.0, 6000.0)\n";
    }
  }
  const auto evidence = read_evidence(job(), {{"a.log", log}});
  EXPECT_DOUBLE_EQ(of(evidence, Feature::save).measured, 6);
  EXPECT_DOUBLE_EQ(of(evidence, Feature::pauses).measured, 0.6);
  EXPECT_EQ(evidence.pause_period, 2);
  EXPECT_TRUE(evidence.saves_are_timed);
}

// As DeepSpeed has printed them since 2023 (utils/timer.py), and as it did before. `bwd` is
// `bwd_inner` and `bwd_allreduce` together, a micro-step the last micro-batch alone.
TEST(Evidence, TimersOfDeepSpeedArePartsOfTheStep) {
  const std::string step = "global_step=3, RunningAvgSamplesPerSec=9, CurrSamplesPerSec=64.0\n";
  for (const std::string timers :
       {"time (ms) | fwd_microstep: 125.00 | bwd_microstep: 350.00 | bwd_inner_microstep: 300.00 | "
        "bwd_allreduce_microstep: 50.00 | step_microstep: 20.00\n"
        "time (ms) | fwd: 1000.00 | bwd: 2500.00 | bwd_inner: 2400.00 | bwd_allreduce: 100.00 | "
        "step: 80.00\n",
        "time (ms) | forward: 1000.00 | backward: 2500.00 | backward_inner: 2400.00 | "
        "backward_allreduce: 100.00 | step: 80.00\n"}) {
    const auto evidence = read_evidence(job(), {{"a.log", step + timers}});
    EXPECT_DOUBLE_EQ(of(evidence, Feature::forward).measured, 1.0);
    EXPECT_DOUBLE_EQ(of(evidence, Feature::backward).measured, 2.4);
    EXPECT_DOUBLE_EQ(of(evidence, Feature::data).measured, 0.1);
    EXPECT_DOUBLE_EQ(of(evidence, Feature::optimizer).measured, 0.08);
  }
}

// The slowest rank's pass is not the fastest's.
TEST(Evidence, TimersOfTheSlowestRankAloneAreLeftOutAndSaid) {
  const auto evidence =
      read_evidence(job(), {{"a.log",
                             " iteration 1/ 9 | elapsed time per iteration (ms): 4000.0 |\n"
                             "max time across ranks (ms):\n    forward-compute ......: 980.00\n"}});
  EXPECT_THROW(of(evidence, Feature::forward), core::Error);
  EXPECT_THAT(evidence.remarks,
              testing::Contains(HasSubstr("a.log: 1 timers have the slowest rank alone "
                                          "(--timing-log-option max)")));
}

std::string megatron_lines(int from, int to, int batch, double ms) {
  std::string log;
  for (int i = from; i <= to; ++i) {
    log += fmt::format(
        " iteration {}/ 90 | elapsed time per iteration (ms): {:.1f} | global batch size: {} |\n",
        i, ms, batch);
  }
  return log;
}

std::string refusal_of(const std::string& log) {
  try {
    read_evidence(job(), {{"a.log", log}});
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

// The job has 256 sequences of 8,192 tokens on 128 GPUs: 16,384 tokens a step and GPU.
TEST(Evidence, ALogOfAnotherBatchIsRefused) {
  EXPECT_THAT(refusal_of(megatron_lines(1, 12, 512, 4000)),
              AllOf(HasSubstr("a.log:12:"),
                    HasSubstr("the log says 512 sequences in a step, the scenario has 256"),
                    HasSubstr("--set training.global_batch=512")));
  EXPECT_EQ(refusal_of(megatron_lines(1, 12, 256, 4000)), "");
  // What is consumed from line to line tells the same: 5,120 in ten steps.
  EXPECT_THAT(refusal_of(" iteration 10/ 90 | consumed samples: 5120 | elapsed time per iteration "
                         "(ms): 4000.0 |\n"
                         " iteration 20/ 90 | consumed samples: 10240 | elapsed time per iteration "
                         "(ms): 4000.0 |\n"),
              HasSubstr("a.log:2:1: the log says 512 sequences"));
  // 64 sequences a second, 8 s: 512 of GPT-NeoX.
  EXPECT_THAT(refusal_of(" samples/sec: 64.000 | iteration 1/ 9 | elapsed time per iteration (ms): "
                         "8000.0 |\n"),
              HasSubstr("512 sequences"));
  EXPECT_THAT(refusal_of("completed step: 1, seconds: 4.000, Tokens/s/device: 8192.0\n"),
              HasSubstr("the log says 32,768 tokens in a step and GPU (Tokens/s/device x seconds), "
                        "the scenario has 16,384"));
  EXPECT_EQ(refusal_of("completed step: 1, seconds: 4.000, Tokens/s/device: 4096.0\n"), "");
}

TEST(Evidence, SettingsOfAnotherJobAreRefused) {
  const std::string step = "step: 1 loss: 2 memory: 40.00GiB(50%) tps: 8,192 mfu: 1%\n";
  EXPECT_THAT(
      refusal_of("[titan] Trainer is initialized with local batch size 4, global batch size "
                 "512, gradient accumulation steps 1, sequence length 4096, total steps 9\n" +
                 step),
      AllOf(HasSubstr("a.log:1:1: the log says 512 sequences in a step"),
            HasSubstr("4,096 tokens in a sequence, the scenario has 8,192")));
  EXPECT_THAT(refusal_of("[config.py:1000:print]   train_batch_size ............. 64\n"
                         "[config.py:1000:print]   world_size ................... 64\n"
                         "global_step=3, RunningAvgSamplesPerSec=9, CurrSamplesPerSec=64.0\n"),
              AllOf(HasSubstr("64 sequences in a step, the scenario has 256"),
                    HasSubstr("a.log:2:1: the log says 64 GPUs, the scenario has 128")));
  // Of a batch that is ramped up the list has the last: the lines say what they are.
  EXPECT_EQ(refusal_of("  encoder_seq_length ................ 1\n"
                       "  seq_length ........................ 8192\n"
                       "  global_batch_size ................. 512\n" +
                       megatron_lines(1, 12, 256, 2000)),
            "");
}

// Megatron-LM's own list: the job is Llama 3.1 8B, tensor 2, pipeline 2, bf16, zero1.
TEST(Evidence, WhatDecidesTheStepIsComparedWithTheLogsOwnList) {
  struct Setting {
    const char* line;
    const char* difference;  ///< empty: none
  };
  const auto listed = [](const char* setting) {
    return refusal_of("[default0]:  " + std::string(setting) + "\n" +
                      megatron_lines(1, 12, 256, 2000));
  };
  for (const auto& [line, difference] :
       {Setting{"tensor_model_parallel_size ........ 2", ""},
        Setting{"tensor_model_parallel_size ........ 4",
                "a.log:1:1: the log says tensor_model_parallel_size 4, the scenario has "
                "parallelism.tensor 2: its times are of other work; give the scenario of this "
                "log's job (--set parallelism.tensor=4)"},
        Setting{"pipeline_model_parallel_size ...... 1", "(--set parallelism.pipeline=1)"},
        Setting{"context_parallel_size ............. 2", "(--set parallelism.context=2)"},
        Setting{"expert_model_parallel_size ........ 8", "(--set parallelism.expert=8)"},
        Setting{"expert_tensor_parallel_size ....... 2", ""},
        Setting{"micro_batch_size .................. 2", "(--set parallelism.micro_batch=2)"},
        Setting{"num_layers ........................ 32", ""},
        Setting{"num_layers ........................ 032", ""},
        Setting{"num_layers ........................", ""},  // a line that was cut
        Setting{"num_layers ........................ 80", "(--set model.layers=80)"},
        Setting{"num_layers_per_virtual_pipeline_stage ... 4", ""},
        Setting{"num_layers_per_virtual_pipeline_stage ... None", ""},
        Setting{"hidden_size ....................... 8192", "(--set model.hidden=8192)"},
        Setting{"fp8 ............................... None", ""},
        Setting{"fp8 ............................... hybrid",
                "the log says fp8 hybrid, the scenario has training.precision bf16"},
        Setting{"use_distributed_optimizer ......... True", ""},
        Setting{"deepspeed .... True\n  use_distributed_optimizer .... False", ""},
        Setting{"use_distributed_optimizer ......... False",
                "(--set parallelism.sharding=zero0)"}}) {
    if (*difference == '\0') {
      EXPECT_EQ(listed(line), "") << line;
    } else {
      EXPECT_THAT(listed(line), HasSubstr(difference)) << line;
    }
  }
  // All differences at once.
  EXPECT_THAT(
      listed(
          "num_layers ........ 80\n  hidden_size ........ 8192\n  recompute_granularity .... full"),
      AllOf(HasSubstr("num_layers 80"), HasSubstr("a.log:2:1: the log says hidden_size"),
            HasSubstr("a.log:3:1: the log says recompute_granularity full, the scenario has "
                      "parallelism.recompute none")));
}

// Layers that are recomputed are a cause among others, so they are told and not refused.
TEST(Evidence, ThatTheLogRecomputesOtherwiseIsTold) {
  const auto remarks = [](const char* value) {
    return read_evidence(job(), {{"a.log", std::string("  recompute_granularity ....... ") + value +
                                               "\n" + megatron_lines(1, 12, 256, 2000)}})
        .remarks;
  };
  EXPECT_TRUE(remarks("None").empty());
  EXPECT_THAT(remarks("full"),
              testing::ElementsAre(
                  HasSubstr("a.log:1: the log says recompute_granularity full, the scenario has "
                            "parallelism.recompute none: steps differ by that alone; --set "
                            "parallelism.recompute=full is the job of this log")));
}

// Ten steps of 64 sequences before twenty of 256.
TEST(Evidence, LinesOfARampAreLeftOut) {
  const auto evidence = read_evidence(
      job(), {{"a.log", megatron_lines(1, 10, 64, 500) + megatron_lines(11, 30, 256, 2000)}});
  EXPECT_DOUBLE_EQ(of(evidence, Feature::step_time).measured, 2);
  EXPECT_THAT(evidence.remarks.front(),
              HasSubstr("10 of 30 lines are of steps with another batch than the scenario's 256"));
  // Without these lines the first two of what is left are warm-up and there is no pause.
  EXPECT_DOUBLE_EQ(of(evidence, Feature::pauses).measured, 0);
}

// Figures of 2 s with one decimal: one of the last digit is 5 %, spread evenly over it 1.44 %.
TEST(Evidence, WhatIsRoundedHidesHowStepsScatter) {
  std::string log;
  for (int i = 1; i <= 40; ++i) {
    log += fmt::format("completed step: {}, seconds: 2.0, Tokens/s/device: 8192.0\n", i);
  }
  const auto evidence = read_evidence(job(), {{"a.log", log}});
  const Observation& spread = of(evidence, Feature::spread);
  EXPECT_NEAR(spread.rounding, 0.05 / std::sqrt(12.0), 1e-12);
  EXPECT_NEAR(spread.measured, spread.rounding, 1e-12);
  EXPECT_GT(spread.noise, 1);
}

/// MaxText's lines of 2 s, and of 4 s every tenth step; `at` is put before the line of each tenth.
std::string pausing_log(const std::string& at) {
  std::string log;
  for (int i = 1; i <= 80; ++i) {
    const bool pause = i % 10 == 0;
    log += (pause ? at : "") +
           fmt::format("completed step: {}, seconds: {:.3f}, Tokens/s/device: {:.1f}\n", i,
                       pause ? 4.0 : 2.0 + 0.001 * (i % 3), 16384 / (pause ? 4.0 : 2.0));
  }
  return log;
}

// What steps pause for is what a line there says, or what the log's settings say; without either
// nothing rules saves in or out.
TEST(Evidence, WhatStepsPauseForIsReadFromTheLog) {
  const auto pauses = [](const std::string& log) {
    const Evidence evidence = read_evidence(job(), {{"a.log", log}});
    EXPECT_EQ(evidence.pause_period, 10);
    return evidence.pauses;
  };
  const PauseWitness nothing = pauses(pausing_log(""));
  EXPECT_EQ(nothing.saves + nothing.no_saves, "");
  EXPECT_EQ(nothing.what,
            "garbage collection, logging, evaluation or the data loader; no line says which");
  const PauseWitness saved = pauses(pausing_log("Saving the checkpoint\n"));
  EXPECT_EQ(saved.saves, "a.log has a line of a save where steps pause");
  const PauseWitness collected =
      pauses(pausing_log("[GC] Performing periodic GC collection took 2.00 seconds\n"));
  EXPECT_EQ(collected.no_saves, "a.log has a line '[GC]' where steps pause");
  EXPECT_THAT(collected.what, HasSubstr("garbage collection ('[GC]' in the log)"));
  const PauseWitness elsewhere = pauses(pausing_log("") + "Saved a checkpoint at step 35\n");
  EXPECT_EQ(elsewhere.no_saves, "a.log has lines of saves, but not where steps pause");
  const PauseWitness other =
      pauses("  save_interval ..... 1000\n  manual_gc_interval ..... 10\n" + pausing_log(""));
  EXPECT_EQ(other.no_saves, "a.log says save_interval 1000");
  EXPECT_THAT(other.what, HasSubstr("garbage collection (manual_gc_interval 10 in the log)"));
}

// Megatron-LM stops its timer for a save, so what its iterations have is none.
TEST(Evidence, PausesInIterationsOfMegatronAreNoSaves) {
  std::string log;
  for (int i = 1; i <= 80; ++i) {
    log += fmt::format(
        " [2026-09-01 08:00:03.5] iteration {}/ 90 | elapsed time per iteration (ms): {} |\n", i,
        i % 10 == 0 ? 4000 : 2000 + i % 3);
  }
  const Evidence evidence = read_evidence(job(), {{"a.log", log}});
  EXPECT_EQ(evidence.pauses.no_saves,
            "a.log: Megatron-LM leaves saves out of the times of its iterations");
  EXPECT_EQ(evidence.pauses.what,
            "garbage collection, logging or the data loader; no line says which");
}

// Of 40 lines two steps were thrown away, one of them without a loss: 5 and 2.5 %.
TEST(Evidence, StepsThatTrainedNothingAreFound) {
  std::string log;
  for (int i = 1; i <= 40; ++i) {
    log += fmt::format(
        " iteration {}/ 90 | elapsed time per iteration (ms): 2000.0 | number of skipped "
        "iterations: {} | number of nan iterations: {} |\n",
        i, i == 7 || i == 20 ? 1 : 0, i == 20 ? 1 : 0);
  }
  EXPECT_THAT(read_evidence(job(), {{"a.log", log}}).findings,
              testing::ElementsAre(
                  "a.log: 2 of 40 steps were skipped (the first at step 7): they trained nothing, "
                  "5.0 % of the tokens and of the time",
                  "a.log: 1 of 40 steps had a loss that is no number (the first at step 20): they "
                  "trained nothing, 2.5 % of the tokens and of the time"));
}

// 100 steps of 2 s, of which 30 in the middle take 3 s: what they lost is counted though the last
// state, which is judged, is as sound as the first.
TEST(Evidence, SlowerStepsBeforeTheLastStateAreCounted) {
  const auto evidence = [](double middle, double end) {
    std::string log;
    for (int i = 1; i <= 100; ++i) {
      const double seconds = i > 30 && i <= 60 ? middle : i > 60 ? end : 2;
      log += fmt::format(" iteration {}/ 900 | elapsed time per iteration (ms): {:.1f} |\n", i,
                         1000 * (seconds + 0.001 * (i % 3)));
    }
    return read_evidence(job(), {{"a.log", log}});
  };
  // Ten lines warm up: 60 x 2 + 30 x 3 = 210 s.
  const Evidence spell = evidence(3, 2);
  EXPECT_THAT(spell.findings, testing::ElementsAre(HasSubstr(
                                  "beside which slower steps before it lost 14.3 % of the time")));
  EXPECT_FALSE(spell.slowed_midway);
  EXPECT_TRUE(evidence(2, 3).slowed_midway);
}

}  // namespace
}  // namespace headway::study
