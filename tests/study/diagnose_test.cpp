// Planted causes are found in logs that the simulator itself makes.
#include "sim/study/diagnose/diagnose.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/study/diagnose/likelihood.h"
#include "sim/study/diagnose/next_step.h"
#include "sim/study/evidence/step_series.h"
#include "sim/study/predict.h"

#include "tests/study/planted.h"

namespace headway::study {
namespace {

/// Of each GPU: 256 sequences of 8,192 tokens on 128.
constexpr double kTokensAStep = 16384;

using testing::HasSubstr;
using testing::Not;

config::LoadedScenario planted_job() {
  return config::load_scenario_text(planted_scenario(), "planted.yaml",
                                    {{HEADWAY_SOURCE_DIR "/configs"}, {}});
}

Laboratory laboratory_of(const config::LoadedScenario& loaded) {
  return Laboratory(training::check(loaded.scenario, loaded.marks));
}

/// Severities that are none of those that are tried.
std::vector<Hypothesis> planted_causes() {
  std::vector<Hypothesis> list{{Cause::slow_node, "", 0.75},
                               {Cause::slow_node, "", 0.87},
                               {Cause::half_rate_nic, "", 0.46},
                               {Cause::half_rate_nic, "", 0.33},
                               {Cause::hashed_collisions, "", 1, 7},
                               {Cause::hashed_collisions, "", 1, 9},
                               {Cause::power_cap, "", 0.75},
                               {Cause::power_cap, "", 0.64},
                               {Cause::eager_kernels, "", 1, 0},
                               {Cause::eager_kernels, "", 1, 1},
                               {Cause::wrong_attention, "", 1, 0},
                               {Cause::wrong_attention, "", 1, 1},
                               {Cause::data_starvation, "", 0.15},
                               {Cause::data_starvation, "", 0.55},
                               {Cause::recompute, "", 1, 1},
                               {Cause::recompute, "", 1, 3},
                               {Cause::frequent_saves, "", 1.5},
                               {Cause::frequent_saves, "", 3.1},
                               {Cause::jitter, "", 0.08},
                               {Cause::jitter, "", 0.17}};
  list[2].node = list[3].node = "n00";
  list[16].every = 25;
  list[17].every = 12;
  return list;
}

TEST(Diagnose, FindsPlantedCauses) {
  const auto loaded = planted_job();
  const Laboratory laboratory = laboratory_of(loaded);
  int right = 0;
  std::uint64_t seed = 1;
  std::string wrong;
  for (const Hypothesis& planted : planted_causes()) {
    const auto report = diagnose(loaded, planted_logs(laboratory, planted, seed++));
    const Suspect& first = report.suspects.front();
    right += first.best.cause == planted.cause ? 1 : 0;
    if (first.best.cause != planted.cause) {
      wrong += fmt::format("planted {} {}: said {} ({:.3f})\n", core::to_word(planted.cause),
                           planted.severity, core::to_word(first.best.cause), first.probability);
    }
  }
  RecordProperty("right", right);
  EXPECT_GE(right, 18) << wrong;
}

TEST(Diagnose, OfASoundJobNothingIsWrong) {
  const auto loaded = planted_job();
  const Laboratory laboratory = laboratory_of(loaded);
  int right = 0;
  for (std::uint64_t seed = 100; seed < 106; ++seed) {
    const auto report = diagnose(loaded, planted_logs(laboratory, {}, seed));
    right += report.suspects.front().best.cause == Cause::none ? 1 : 0;
  }
  EXPECT_GE(right, 5);
}

TEST(Diagnose, NamesTheNodeTheSeverityAndWhatMendingBrings) {
  const auto loaded = planted_job();
  const Laboratory laboratory = laboratory_of(loaded);
  Hypothesis planted{Cause::half_rate_nic, "", 0.5};
  planted.node = "n02";
  const auto nic = diagnose(loaded, planted_logs(laboratory, planted, 5));
  EXPECT_EQ(nic.suspects.front().best.words,
            "one network card of n02 or n03, not told apart, carries 50 % of its rate");
  const auto slow = diagnose(loaded, planted_logs(laboratory, {Cause::slow_node, "", 0.7}, 6));
  const Suspect& first = slow.suspects.front();
  EXPECT_EQ(first.best.words,
            "one node (lowest clock: " + slow.place + ") computes at 70 % of its speed");
  EXPECT_THAT(slow.place, HasSubstr("n00 GPU"));
  // It explains what the step is longer by, or less: of the measured step that is the share.
  ASSERT_TRUE(first.mending.days && first.mending.usd);
  const double healthy = laboratory.healthy().mean_step.si();
  const double measured = slow.compared.front().measured;
  EXPECT_NEAR(first.mending.step_share * measured, std::min(first.step_s, measured) - healthy,
              0.002 * healthy);
  EXPECT_GT(*first.mending.usd, 0);
}

// A run that the wall clock ends is no shorter for it: what was 1 / s steps in its time is 1 / h.
TEST(Diagnose, MendingBringsWorkWhereTheWallClockEndsTheRun) {
  auto loaded = planted_job();
  const auto logs = planted_logs(laboratory_of(loaded), {Cause::slow_node, "", 0.7}, 6);
  loaded.scenario.run.until.emplace().wall = core::Seconds(30 * 86400.0);
  const auto report = diagnose(loaded, logs);
  const Mending& mending = report.suspects.front().mending;
  EXPECT_FALSE(mending.days || mending.usd);
  ASSERT_TRUE(mending.steps && mending.tokens);
  const double sound = predict(loaded).campaign->steps.mean;
  const double healthy = laboratory_of(loaded).healthy().mean_step.si();
  const double measured = report.compared.front().measured;
  const double mended = measured * (1 - mending.step_share);
  EXPECT_NEAR(*mending.steps, sound * (healthy / mended - healthy / measured), 1e-6 * sound);
  EXPECT_THAT(diagnose_sentence(report), HasSubstr("steps more ("));
  EXPECT_THAT(diagnose_sentence(report), Not(HasSubstr("days of the run")));
}

TEST(Diagnose, OneFigureLeavesDoubtAndSaysWhatToMeasure) {
  const auto loaded = planted_job();
  const double step = laboratory_of(loaded).healthy().step.time.si();
  std::string log;
  for (int i = 1; i <= 4; ++i) {
    log +=
        fmt::format("completed step: {}, seconds: {:.4f}, TFLOP/s/device: 1, Tokens/s/device: {}\n",
                    i, step * 1.3, kTokensAStep / (step * 1.3));
  }
  const auto report = diagnose(loaded, {{"maxtext.log", log}});
  ASSERT_EQ(report.compared.size(), 1U);
  EXPECT_FALSE(report.compared.front().within());
  EXPECT_LT(report.suspects.front().probability, 0.5);
  double sum = 0;
  for (const Suspect& suspect : report.suspects) {
    sum += suspect.probability;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  ASSERT_TRUE(report.next.has_value());
  EXPECT_GE(report.next->deviations, 1);
}

/// An all-reduce of 16 GPUs of two nodes, each size at this bus bandwidth [GB/s].
std::string pair_log(double busbw) {
  std::string log =
      "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 8589934592 step: 2(factor)\n"
      "# Collective test starting: all_reduce_perf\n# Using devices\n";
  for (int rank = 0; rank < 16; ++rank) {
    log += fmt::format("#  Rank {:2d} Group  0 Pid {} on  n0{} device  {} [0x1b] NVIDIA H100\n",
                       rank, 1000 + rank, rank / 8, rank % 8);
  }
  log +=
      "#   size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n";
  for (double bytes = 1073741824; bytes <= 8589934592; bytes *= 2) {
    const double algbw = busbw * 16 / 30;
    const double us = bytes / algbw * 1e-3;
    log += fmt::format("{:.0f} {:.0f} float sum -1 {:.1f} {:.2f} {:.2f} 0 {:.1f} {:.2f} {:.2f} 0\n",
                       bytes, bytes / 4, us, algbw, busbw, us, algbw, busbw);
  }
  return log;
}

/// Of nccl-tests on two nodes of eight GPUs: 16 ranks, bus bandwidth = 30/16 of size / time.
std::string all_reduce_log(const char* a, const char* b, double bus_gigabytes) {
  std::string log;
  for (int rank = 0; rank < 16; ++rank) {
    log += fmt::format("#  Rank {} Group 0 Pid {} on {} device {} [0000:19:00] NVIDIA H100\n", rank,
                       1000 + rank, rank < 8 ? a : b, rank % 8);
  }
  for (const double size : {1.073741824e9, 4.294967296e9}) {
    const double algorithm = bus_gigabytes * 16 / 30;
    const std::string figures =
        fmt::format("{:.2f} {:.2f} {:.2f} 0", size / algorithm / 1e3, algorithm, bus_gigabytes);
    log += fmt::format("{:.0f} {:.0f} float sum -1 {} {}\n", size, size / 4, figures, figures);
  }
  return log;
}

// Of two pairs of nodes one is sound; whatever the other's card has left, it is the card.
TEST(Diagnose, ASlowCardIsFoundAtAnySeverity) {
  const auto loaded = config::load_scenario(
      HEADWAY_SOURCE_DIR "/configs/scenarios/diagnose-llama-8b-64-h100.yaml", {});
  for (const double bandwidth : {60, 80, 160, 180, 200, 220, 249, 300, 330, 360, 370, 380, 390}) {
    const auto report = diagnose(loaded, {{"a.log", all_reduce_log("a01", "a02", bandwidth)},
                                          {"b.log", all_reduce_log("a03", "a04", 490)}});
    EXPECT_EQ(report.suspects.front().best.cause, Cause::half_rate_nic) << bandwidth;
  }
}

// Two sites of 8 nodes whose way has 27 % of its rate, which is none of the severities tried.
TEST(Diagnose, ASlowWayBetweenSitesIsFound) {
  std::string text = planted_scenario();
  const std::string storage = "  storage: {use: lustre}\n";
  text.insert(text.find(storage) + storage.size(),
              "  sites: {count: 2, bandwidth: 400 Gbps, latency: 5 ms, connections: 64}\n");
  text.replace(text.find("pipeline: 2, "), 13, "");  // stages of a pipeline stay on a site
  const auto loaded =
      config::load_scenario_text(text, "sites.yaml", {{HEADWAY_SOURCE_DIR "/configs"}, {}});
  const Laboratory laboratory = laboratory_of(loaded);
  const Hypothesis planted{Cause::slow_way, "", 0.27};
  const Imagined job = laboratory.imagine(planted);
  ASSERT_GT(job.step.time.si(), 1.02 * laboratory.healthy().step.time.si());
  Noise noise(3);
  std::vector<std::string> nodes;
  for (int n = 0; n < 16; ++n) {
    nodes.push_back(fmt::format("n{:02}", n));
  }
  const auto report =
      diagnose(loaded, {{"train.log", megatron_log(job, planted, 1, noise)},
                        {"all.log", nccl_log(laboratory, job, planted, nodes, 1, noise)}});
  const Suspect& first = report.suspects.front();
  EXPECT_EQ(first.best.cause, Cause::slow_way) << diagnose_sentence(report);
  EXPECT_NEAR(first.best.severity, 0.27, 0.04);
  EXPECT_THAT(first.best.words, HasSubstr("a way between sites carries"));
}

// The severest card that is tried has a twentieth of its rate; what is far below that is something
// else.
TEST(Diagnose, WhatNoCauseExplainsIsUnlisted) {
  const auto loaded = planted_job();
  const auto found = [&](double busbw) {
    return diagnose(loaded, {{"pair.log", pair_log(busbw)}}).suspects.front().best.cause;
  };
  EXPECT_EQ(found(120), Cause::half_rate_nic);
  EXPECT_EQ(found(4), Cause::unlisted);
}

// Where no cause explains the logs, the nearest that is listed, a card of a01, is to be told from
// what is not: a01 has not run with a03 yet.
TEST(Diagnose, OfWhatIsUnlistedSaysWhatToMeasure) {
  const auto loaded = planted_job();
  const auto pairs = diagnose(loaded, {{"a.log", all_reduce_log("a01", "a02", 4)},
                                       {"b.log", all_reduce_log("a03", "a04", 490)}});
  ASSERT_EQ(pairs.suspects.front().best.cause, Cause::unlisted);
  ASSERT_TRUE(pairs.next.has_value());
  EXPECT_THAT(pairs.next->command, HasSubstr("--host a01:8,a03:8"));
  EXPECT_THAT(pairs.next->reads, HasSubstr("bus bandwidth of a01 and a03: "));
  EXPECT_THAT(pairs.next->reads,
              HasSubstr("if a01 is sound, any other if it is something that is not listed"));
  // Of one pair alone no other pair is known by name.
  const auto one = diagnose(loaded, {{"pair.log", pair_log(4)}});
  ASSERT_EQ(one.suspects.front().best.cause, Cause::unlisted);
  ASSERT_TRUE(one.next.has_value());
  EXPECT_NE(one.next->feature, Feature::bus_bandwidth);
}

// Two of three pairs are slow: beside a03, which may be slow too, a01 would be slow though it is
// sound; a05 ran at full rate.
TEST(Diagnose, ASuspectIsMeasuredBesideASoundNode) {
  const auto loaded = config::load_scenario(
      HEADWAY_SOURCE_DIR "/configs/scenarios/diagnose-llama-8b-64-h100.yaml", {});
  const auto report = diagnose(loaded, {{"a.log", all_reduce_log("a01", "a02", 250)},
                                        {"b.log", all_reduce_log("a03", "a04", 250)},
                                        {"c.log", all_reduce_log("a05", "a06", 490)}});
  ASSERT_TRUE(report.next.has_value());
  EXPECT_THAT(report.next->command, HasSubstr(",a05:8"));
}

// A node that is slow by a thousandth cannot be told from none; but what is not listed moves what
// steps wait for input by 25 % of a step where a prediction of none misses that by 1 %: 0.25 / 0.01
// deviations.
TEST(NextStep, TellsWhatIsListedFromWhatIsNotWhereNothingTellsTwoApart) {
  const auto loaded = planted_job();
  const Laboratory laboratory = laboratory_of(loaded);
  Suspect unlisted, none, slow;
  unlisted.best.cause = Cause::unlisted;
  slow.best = {Cause::slow_node, "a slow node", 0.999};
  const auto next = next_step(laboratory, {}, {unlisted, none, slow});
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->feature, Feature::input);
  EXPECT_NEAR(next->deviations, 0.25 / 0.01, 1e-9);
  EXPECT_FALSE(next_step(laboratory, {}, {none, slow}).has_value());
}

TEST(Diagnose, RefusesWhatItCannotRead) {
  const auto loaded = planted_job();
  try {
    diagnose(loaded, {{"notes.txt", "it is slow\n"}});
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("notes.txt: is no log of a training program"));
  }
}

TEST(StepSeries, APauseEveryTenStepsIsRegular) {
  std::vector<SeriesStep> series;
  for (int i = 1; i <= 100; ++i) {
    series.push_back({i, 1, i % 10 == 0 ? 3.0 : 1.0});
  }
  const auto summary = summarize_series(series);
  EXPECT_DOUBLE_EQ(summary.median, 1);
  EXPECT_EQ(summary.period, 10);
  EXPECT_DOUBLE_EQ(summary.regularity, 1);
  // 90 lines count: 9 pauses of 2 s in 90 + 18 s.
  EXPECT_NEAR(summary.pauses, 18.0 / 108.0, 1e-12);
}

// Of 300 lines 30 warm up: 270 with the pauses 50, 100, ..., 300 are 5.4 periods. Over the five
// whole ones 5 x 60 s of 5 x (50 x 3 + 60).
TEST(StepSeries, PausesAreCountedOverWholePeriods) {
  std::vector<SeriesStep> series;
  for (int i = 1; i <= 300; ++i) {
    series.push_back({i, 1, i % 50 == 0 ? 63.0 : 3.0});
  }
  EXPECT_NEAR(summarize_series(series).pauses, 60.0 / 210, 1e-12);
}

TEST(StepSeries, ScatterIsThatOfOneStepWhereLinesAreMeans) {
  // Lines of 100 steps that scatter by 1 %: single steps by 10 %.
  std::vector<SeriesStep> series;
  const std::vector<double> normal{-1.28, 0.52, -0.25, 0.84, 0, -0.52, 1.28, 0.25, -0.84, 0};
  for (int i = 1; i <= 200; ++i) {
    series.push_back({100 * i, 100, 1 + 0.01 * normal[static_cast<std::size_t>(i % 10)]});
  }
  EXPECT_NEAR(summarize_series(series).spread, 0.1, 0.03);
}

TEST(Likelihood, IsThatOfTheWholeCovariance) {
  // Two figures of deviation 3 that share an error of 4: C = [25 16; 16 25], det = 369.
  const std::vector<Residual> both{{1, 3, {4, 0}}, {2, 3, {4, 0}}};
  // r' C^-1 r = (25 + 4 x 25 - 2 x 16 x 2) / 369 = 61 / 369
  EXPECT_NEAR(log_likelihood(both), -0.5 * (61.0 / 369 + std::log(369.0)), 1e-12);
  // Apart in two errors, no figure says anything of the other.
  const std::vector<Residual> apart{{1, 3, {4, 0}}, {2, 3, {0, 4}}};
  EXPECT_NEAR(log_likelihood(apart), -0.5 * (5.0 / 25 + 2 * std::log(25.0)), 1e-12);
  // Each has a part of both errors: C = I + [1 2; 3 1] [1 3; 2 1] = [6 5; 5 11], det = 41, and
  // r' C^-1 r = (11 + 4 x 6 - 2 x 2 x 5) / 41.
  const std::vector<Residual> mixed{{1, 1, {1, 2}}, {2, 1, {3, 1}}};
  EXPECT_NEAR(log_likelihood(mixed), -0.5 * (15.0 / 41 + std::log(41.0)), 1e-12);
  EXPECT_NEAR(log_mean({-1000, -1000 + std::log(3.0)}), -1000 + std::log(2.0), 1e-12);
  // (3 x 1 + 1 x 5) / 4 = 2
  EXPECT_NEAR(log_mean({0, std::log(5.0)}, {3, 1}), std::log(2.0), 1e-12);
}

/// MaxText's lines of a job exactly as predicted, with so much scatter and so many decimals.
std::string predicted_log(double step, double scatter, int decimals) {
  Noise noise(11);
  std::string log;
  for (int i = 1; i <= 120; ++i) {
    const double seconds = scatter > 0 ? step * noise(scatter) : step;
    log += fmt::format("completed step: {}, seconds: {:.{}f}, Tokens/s/device: {}\n", i, seconds,
                       decimals, kTokensAStep / seconds);
  }
  return log;
}

// Steps that scatter less than those of a sound job are no fault, nor are figures that a log
// rounds to a tenth of a second.
TEST(Diagnose, TooLittleScatterIsNoFault) {
  const auto loaded = planted_job();
  const double step = laboratory_of(loaded).healthy().step.time.si();
  for (const double scatter : {0.0, 0.003, 0.01}) {
    for (const int decimals : {4, 2, 1}) {
      const auto report = diagnose(loaded, {{"a.log", predicted_log(step, scatter, decimals)}});
      for (const Compared& row : report.compared) {
        EXPECT_TRUE(row.within()) << in_words(row.feature) << " " << scatter << " " << decimals;
      }
      EXPECT_EQ(report.suspects.front().best.cause, Cause::none) << scatter << " " << decimals;
    }
  }
  EXPECT_EQ(
      diagnose(loaded, {{"a.log", predicted_log(step * 1.1, 0.12, 4)}}).suspects.front().best.cause,
      Cause::jitter);
}

/// Steps as predicted, and the timer of a save after every so many of them, as Megatron-LM prints
/// it: its times of steps leave saves out.
std::string timed_saves(double step, int every, double save, double load) {
  Noise noise(12);
  std::string log;
  const std::string timers = "(min, max) time across ranks (ms):\n";
  log += fmt::format("{}    load-checkpoint ....: ({:.1f}, {:.1f})\n", timers, 990 * load,
                     1000 * load);
  for (int i = 1; i <= 120; ++i) {
    log += fmt::format(" iteration {}/ 20000 | elapsed time per iteration (ms): {:.1f} |\n", i,
                       1e3 * step * noise(0.01));
    if (i % every == 0) {
      const double seconds = save * noise(0.05);
      log += fmt::format("{}    save-checkpoint ....: ({:.1f}, {:.1f})\n", timers, 900 * seconds,
                         1000 * seconds);
    }
  }
  return log;
}

TEST(Diagnose, SavesThatOnlyTheirTimersShowAreFound) {
  const auto loaded = planted_job();
  const Laboratory laboratory = laboratory_of(loaded);
  const double step = laboratory.healthy().step.time.si();
  const double stall = laboratory.save_stall(false).si();
  const double load = laboratory.healthy().load.si();
  const auto frequent = diagnose(loaded, {{"a.log", timed_saves(step, 3, 1.3 * stall, load)}});
  EXPECT_EQ(frequent.suspects.front().best.cause, Cause::frequent_saves);
  EXPECT_THAT(frequent.suspects.front().best.words, HasSubstr("a save every 3 steps"));
  // A storage at a third of its rate loads three times as long.
  const auto slow = diagnose(loaded, {{"a.log", timed_saves(step, 110, stall, 3 * load)}});
  EXPECT_EQ(slow.suspects.front().best.cause, Cause::slow_storage);
}

/// What ml-goodput-measurement tells of 1,000 steps.
std::string goodput_details(double step, double saves, double input) {
  return fmt::format(
      R"({{"goodput_time": {{"TOTAL": {}}}, "badput_time": {{
          "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME": {}, "DATA_LOADING_SYNC": {}}},
          "max_productive_step": 1000, "total_elapsed_time": {}, "ideal_step_time": {}}})",
      1000 * step, saves, input, 1100 * step + saves + input, step);
}

TEST(Diagnose, PlantedCausesAreFoundInASummaryOfGoodput) {
  const auto loaded = planted_job();
  const double step = laboratory_of(loaded).healthy().step.time.si();
  const auto found = [&](double slower, double saves, double input) {
    return diagnose(loaded, {{"g.json", goodput_details(step * slower, saves, input)}})
        .suspects.front()
        .best.cause;
  };
  EXPECT_EQ(found(1, 0.5, 1000 * 0.002), Cause::none);
  EXPECT_EQ(found(1, 1000 * step * 0.08, 1000 * 0.002), Cause::frequent_saves);
  EXPECT_EQ(found(1.4, 0.5, 1000 * 0.4 * step), Cause::data_starvation);
}

// Pauses in Megatron-LM's times of iterations are no saves, and the reason is said.
TEST(Diagnose, RegularPausesAreFoundAndNoSaves) {
  const auto loaded = planted_job();
  const Laboratory laboratory = laboratory_of(loaded);
  std::uint64_t seed = 51;
  for (const auto& [every, severity] : {std::pair(25, 0.5), std::pair(10, 0.3)}) {
    Hypothesis planted{Cause::regular_pauses, "", severity};
    planted.every = every;
    const auto report = diagnose(loaded, planted_logs(laboratory, planted, seed++));
    const Suspect& first = report.suspects.front();
    EXPECT_EQ(first.best.cause, Cause::regular_pauses) << diagnose_sentence(report);
    EXPECT_EQ(first.best.every, every);
    EXPECT_NEAR(first.best.severity, severity, 0.25 * severity);
    EXPECT_THAT(report.left_out,
                testing::Contains(HasSubstr("frequent_saves: train.log: Megatron-LM "
                                            "leaves saves out")));
  }
}

/// MaxText's lines of a job as predicted that pauses for so long every tenth step, behind `at`.
std::string pausing_log(double step, double pause, const std::string& at) {
  Noise noise(13);
  std::string log;
  for (int i = 1; i <= 120; ++i) {
    const double seconds = step * noise(0.01) + (i % 10 == 0 ? pause : 0);
    log += (i % 10 == 0 ? at : "") +
           fmt::format("completed step: {}, seconds: {:.4f}, Tokens/s/device: {}\n", i, seconds,
                       kTokensAStep / seconds);
  }
  return log;
}

// Without a line of saves pauses may be saves or anything else; with one they are saves.
TEST(Diagnose, SavesNeedAWitness) {
  const auto loaded = planted_job();
  const double step = laboratory_of(loaded).healthy().step.time.si();
  const auto suspects = [&](const std::string& at) {
    return diagnose(loaded, {{"a.log", pausing_log(step, 0.5 * step, at)}}).suspects;
  };
  const auto open = suspects("");
  EXPECT_EQ(open[0].best.cause, Cause::regular_pauses);
  EXPECT_EQ(open[1].best.cause, Cause::frequent_saves);
  EXPECT_LT(open[0].probability, 0.97);
  const auto saved = suspects("Saving the checkpoint\n");
  EXPECT_EQ(saved[0].best.cause, Cause::frequent_saves);
  EXPECT_GT(saved[0].probability, 0.99);
}

/// An all-reduce of 128 GPUs of sixteen nodes.
std::string whole_log(double bus_gigabytes) {
  std::string log;
  for (int rank = 0; rank < 128; ++rank) {
    log += fmt::format("#  Rank {} Group 0 Pid {} on n{:02d} device {} [0000:19:00] NVIDIA H100\n",
                       rank, 1000 + rank, rank / 8, rank % 8);
  }
  const double size = 4.294967296e9;
  const double algorithm = bus_gigabytes * 128 / 254;
  const std::string figures =
      fmt::format("{:.2f} {:.2f} {:.2f} 0", size / algorithm / 1e3, algorithm, bus_gigabytes);
  return log + fmt::format("{:.0f} {:.0f} float sum -1 {} {}\n", size, size / 4, figures, figures);
}

// One call of all nodes tells that a card is slow, not whose; a call of every second node would.
TEST(Diagnose, ANodeIsNamedOnlyWhereFilesTellItFromOthers) {
  const auto loaded = planted_job();
  const auto report = diagnose(loaded, {{"all.log", whole_log(90)}});
  const Suspect& first = report.suspects.front();
  ASSERT_EQ(first.best.cause, Cause::half_rate_nic) << diagnose_sentence(report);
  EXPECT_THAT(first.best.words,
              HasSubstr("one network card of n00, n01, n02, n03 or 12 more nodes, not told apart, "
                        "carries"));
  ASSERT_EQ(first.places.size(), 16U);
  for (const Place& place : first.places) {
    EXPECT_NEAR(place.probability, 1.0 / 16, 1e-9);
  }
  ASSERT_TRUE(report.next.has_value());
  EXPECT_TRUE(report.next->of_places);
  EXPECT_THAT(report.next->command, HasSubstr("-np 64 --host n00:8,n02:8,n04:8,n06:8,n08:8,n10:8,"
                                              "n12:8,n14:8 all_reduce_perf"));
  EXPECT_THAT(report.next->reads, AllOf(HasSubstr("if the slow card is of one of these, "),
                                        HasSubstr("if it is of another")));
}

// Two nodes of one slow call: one of them beside a sound one tells.
TEST(Diagnose, OfTwoNodesOneIsMeasuredBesideASoundOne) {
  const auto loaded = planted_job();
  const auto report = diagnose(loaded, {{"a.log", all_reduce_log("a01", "a02", 200)},
                                        {"b.log", all_reduce_log("a03", "a04", 380)}});
  const Suspect& first = report.suspects.front();
  ASSERT_EQ(first.best.cause, Cause::half_rate_nic);
  EXPECT_THAT(first.best.words, HasSubstr("one network card of a01 or a02, not told apart,"));
  ASSERT_TRUE(report.next.has_value());
  EXPECT_THAT(report.next->command, HasSubstr("--host a01:8,a03:8"));
  EXPECT_THAT(report.next->reads, HasSubstr("if the slow card is of a01"));
}

// A process reads its settings once: what became slower on the way is none of them.
TEST(Diagnose, SettingsDoNotBeginOnTheWay) {
  const auto loaded = planted_job();
  const double step = laboratory_of(loaded).healthy().step.time.si();
  const auto settings = [&](double before) {
    Noise noise(17);
    std::string log;
    for (int i = 1; i <= 200; ++i) {
      const double seconds = step * (i <= 100 ? before : 1.18) * noise(0.01);
      log += fmt::format("completed step: {}, seconds: {:.4f}, Tokens/s/device: {}\n", i, seconds,
                         kTokensAStep / seconds);
    }
    double sum = 0;
    for (const Suspect& suspect : diagnose(loaded, {{"a.log", log}}).suspects) {
      const Cause cause = suspect.best.cause;
      const bool setting = cause == Cause::eager_kernels || cause == Cause::wrong_attention ||
                           cause == Cause::recompute;
      sum += setting && suspect.parts.empty() ? suspect.probability : 0;
    }
    return sum;
  };
  EXPECT_GT(settings(1.18), 0.1);
  EXPECT_LT(settings(1.0), 0.02);
}

}  // namespace
}  // namespace headway::study
