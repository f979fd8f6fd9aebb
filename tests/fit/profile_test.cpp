#include "calibrate/fit/profile.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <vector>

#include "sim/core/error.h"

#include "calibrate/fit/least_squares.h"
#include "calibrate/fit/power_fit.h"
#include "calibrate/fit/rate_fit.h"
#include "tests/fit/noise.h"

namespace headway::fit {
namespace {

gpu::GpuSpec round_gpu() {
  gpu::GpuSpec gpu;
  gpu.name = "round";
  gpu.peak.bf16 = gpu.peak.fp16 = core::FlopsPerSecond(1e15);
  gpu.memory_bandwidth = core::BytesPerSecond(3e12);
  return gpu;
}

Sample gemm(double share, double elapsed_s = 0) {
  Sample s;
  s.kind = SampleKind::gemm;
  s.op = "forward";
  s.m = s.n = s.k = 8192;
  s.batch = 1;
  s.elapsed_s = elapsed_s;
  s.seconds = work_flops(s) / (share * 1e15);
  return s;
}

Sample rate(SampleKind kind, const char* op, double bytes, double bytes_per_s, int streams = 0) {
  Sample s;
  s.kind = kind;
  s.op = op;
  s.bytes = bytes;
  s.streams = streams;
  s.seconds = bytes / bytes_per_s;
  return s;
}

const training::FittedFigure* find(const Profile& profile, const std::string& name) {
  for (const auto& f : profile.spec.figures) {
    if (f.name == name) {
      return &f;
    }
  }
  return nullptr;
}

/// Median of the others / value - 1, one value after another.
double left_out_one_by_one(const std::vector<double>& values) {
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double> rest = values;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    squares += std::pow(median(rest) / values[i] - 1, 2);
  }
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(Typical, LeavesOutOneAfterAnother) {
  const std::vector<std::vector<double>> samples{
      {2, 1}, {3, 1, 2}, {5, 5, 1, 9}, {4, 1, 3, 2, 5}, {7, 7, 7, 7}, {0.3, 8, 0.3, 2, 8, 1, 8}};
  for (const auto& values : samples) {
    EXPECT_NEAR(typical(values)->leave_one_out, left_out_one_by_one(values), 1e-14);
  }
  EXPECT_EQ(typical(std::vector<double>{3})->leave_one_out, 0);
  // Half of 300,000 values are 1 and half 3: left out one of the lower, the median is 3, and 1
  // else. One after another they would take hours.
  std::vector<double> many(300'000, 1);
  std::fill(many.begin(), many.begin() + 150'000, 3);
  EXPECT_NEAR(typical(many)->leave_one_out, std::sqrt((4 + 4.0 / 9) / 2), 1e-9);
}

TEST(Profile, SharesAreMediansOfLargeKernelsAgainstTheDataSheet) {
  SampleSet set;
  set.samples = {gemm(0.70), gemm(0.72), gemm(0.74)};
  set.samples.push_back(rate(SampleKind::memory, "triad", 1e9, 2.7e12));
  Sample small = gemm(0.1);
  small.m = 16;
  set.samples.push_back(small);
  ProfileOptions how;
  how.gpu = round_gpu();
  const Profile profile = fit_profile(set, how);
  ASSERT_TRUE(profile.spec.kernels);
  EXPECT_NEAR(profile.spec.kernels->gemm_16bit, 0.72, 1e-12);
  EXPECT_NEAR(profile.spec.kernels->memory, 0.9, 1e-12);
  EXPECT_EQ(profile.spec.kernels->attention_forward, round_gpu().sustained.attention_forward);
  const auto* f = find(profile, "kernels.gemm_16bit");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->samples, 3);
  // Median of the other two against each: 0.73 / 0.70, 0.72 / 0.72, 0.71 / 0.74.
  EXPECT_NEAR(f->leave_one_out,
              std::sqrt((std::pow(0.73 / 0.70 - 1, 2) + 0 + std::pow(0.71 / 0.74 - 1, 2)) / 3),
              1e-5);
  EXPECT_THAT(profile.remarks, testing::Contains(testing::HasSubstr("bursts on a cool GPU")));
  EXPECT_THAT(profile.remarks,
              testing::Contains(testing::HasSubstr("kernels.attention_forward was not measured")));
}

TEST(Profile, AWeightGradientIsMeasuredAgainstTheForwardProductOfItsShape) {
  SampleSet set;
  set.samples = {gemm(0.70), gemm(0.72), gemm(0.74)};
  for (const double share : {0.54, 0.36}) {  // of shapes of 8,192 and of 16,384
    Sample s = gemm(share);
    s.op = "weight_gradient";
    set.samples.push_back(s);
  }
  set.samples.back().n = 16384;
  set.samples.back().seconds *= 2;
  ProfileOptions how;
  how.gpu = round_gpu();
  // The wider shape has no forward product beside it: 0.54 / 0.72 alone speaks.
  EXPECT_NEAR(fit_profile(set, how).spec.kernels->weight_gradient, 0.75, 1e-12);
  set.samples.resize(3);
  const Profile without = fit_profile(set, how);
  EXPECT_EQ(without.spec.kernels->weight_gradient, round_gpu().sustained.weight_gradient);
  EXPECT_THAT(without.remarks,
              testing::Contains(testing::HasSubstr("kernels.weight_gradient was not measured")));
}

TEST(Profile, ALastingLoadSpeaksBeforeBursts) {
  SampleSet set;
  set.samples = {gemm(0.80), gemm(0.81)};
  for (int t = 1; t <= 10; ++t) {
    set.samples.push_back(gemm(t < 5 ? 0.75 : 0.65, t));
    set.samples.back().flags = {SampleFlag::throttled};
  }
  ProfileOptions how;
  how.gpu = round_gpu();
  EXPECT_NEAR(fit_profile(set, how).spec.kernels->gemm_16bit, 0.65, 1e-12);
}

TEST(Profile, MemoryKernelsSpeakWithOneVoiceHoweverLongTheyLast) {
  SampleSet set;
  set.samples = {rate(SampleKind::memory, "copy", 1e9, 2.7e12),
                 rate(SampleKind::memory, "residual_forward", 1e9, 2.1e12),
                 rate(SampleKind::memory, "swiglu", 1e9, 2.4e12),
                 rate(SampleKind::memory, "rms_norm_backward", 1e9, 1e12)};  // no plain stream
  set.samples.push_back(rate(SampleKind::memory, "triad", 1e9, 2.9e12));
  set.samples.back().elapsed_s = 3;
  ProfileOptions how;
  how.gpu = round_gpu();
  EXPECT_NEAR(fit_profile(set, how).spec.kernels->memory, 2.4 / 3, 1e-12);
}

Sample attention(const char* variant, const char* op, std::int64_t sequence, double share) {
  Sample s;
  s.kind = SampleKind::attention;
  s.variant = variant;
  s.op = op;
  s.batch = 1;
  s.sequence = sequence;
  s.query_heads = s.key_value_heads = 16;
  s.head_dim = 128;
  s.causal = true;
  s.seconds = work_flops(s) / (share * 1e15);
  return s;
}

TEST(Profile, ThrottledBurstsSpeakWhereThereIsNothingElse) {
  SampleSet set;
  set.samples = {gemm(0.7), attention("cudnn", "forward", 8192, 0.55)};
  set.samples[1].flags = {SampleFlag::throttled};
  ProfileOptions how;
  how.gpu = round_gpu();
  const auto share = [&] { return fit_profile(set, how).spec.kernels->attention_forward; };
  EXPECT_NEAR(share(), 0.55, 1e-12);
  set.samples.push_back(attention("cudnn", "forward", 4096, 0.6));
  EXPECT_NEAR(share(), 0.6, 1e-12);
}

TEST(Profile, WeightGradientsOfFewUnhinderedPairsAreThoseOfAllPairs) {
  SampleSet set;
  for (int i = 0; i < 6; ++i) {
    for (const char* op : {"forward", "weight_gradient"}) {
      Sample s = gemm(0.7);
      s.op = op;
      s.n = 4096 + 512 * i;
      // One pair at full clock says 0.5, five throttled ones say 0.9.
      const double share = s.op == "forward" ? 0.8 : i == 0 ? 0.4 : 0.72;
      s.seconds = work_flops(s) / (share * 1e15);
      if (i > 0) {
        s.flags = {SampleFlag::throttled};
      }
      set.samples.push_back(s);
    }
  }
  ProfileOptions how;
  how.gpu = round_gpu();
  EXPECT_NEAR(fit_profile(set, how).spec.kernels->weight_gradient, 0.9, 1e-12);
}

TEST(Profile, FlashAttention2HasAShareOfItsOwnOverBothPasses) {
  SampleSet set;
  set.samples = {
      attention("cudnn", "forward", 8192, 0.6),  attention("cudnn", "backward", 8192, 0.5),
      attention("flash2", "forward", 8192, 0.4), attention("flash2", "backward", 8192, 0.3),
      attention("flash2", "forward", 4096, 0.4),  // without its backward: says nothing
      attention("flash2", "forward", 1024, 0.1),  // short
      attention("flash2", "backward", 1024, 0.1)};
  ProfileOptions how;
  how.gpu = round_gpu();
  const auto shares = *fit_profile(set, how).spec.kernels;
  EXPECT_NEAR(shares.attention_forward, 0.6, 1e-12);
  EXPECT_NEAR(shares.attention_backward, 0.5, 1e-12);
  // Works 1 and 2.5 in times 1/0.4 and 2.5/0.3.
  EXPECT_NEAR(shares.attention_flash2, 3.5 / (1 / 0.4 + 2.5 / 0.3), 1e-12);
  set.samples.resize(2);
  const auto without = fit_profile(set, how);
  EXPECT_EQ(without.spec.kernels->attention_flash2, round_gpu().sustained.attention_flash2);
  EXPECT_THAT(without.remarks,
              testing::Contains(testing::HasSubstr("kernels.attention_flash2 was not measured")));
}

TEST(Profile, LaunchesThroughPyTorchAreApartFromTheDrivers) {
  SampleSet set;
  const auto launch = [](const char* op, const char* variant, double seconds) {
    Sample s;
    s.kind = SampleKind::launch;
    s.op = op;
    s.variant = variant;
    s.seconds = seconds;
    return s;
  };
  set.samples = {launch("kernel", "", 1e-6),
                 launch("kernel_call", "", 2e-6),
                 launch("kernel_call", "eager", 3e-6),  // without autograd
                 launch("kernel_call", "eager_autograd", 9e-6),
                 launch("kernel_call", "eager_autograd", 11e-6),
                 launch("pass_call", "compiled", 1e-3)};
  set.samples.back().streams = 40;
  const auto spec = fit_profile(set, {}).spec;
  EXPECT_DOUBLE_EQ(spec.kernel_launch->si(), 1e-6);
  EXPECT_DOUBLE_EQ(spec.eager_launch->si(), 10e-6);
  EXPECT_DOUBLE_EQ(spec.compiled_layer->si(), 1e-3 - 40 * 2e-6);
}

// A figure of one sample has that sample's own error: quartiles 2 us apart over 9 repeats,
// 0.93 x 2 / 3; of several, what they differ by.
TEST(Profile, AFigureOfOneSampleIsNotCertain) {
  SampleSet set;
  Sample s;
  s.kind = SampleKind::launch;
  s.op = "kernel_call";
  s.variant = "eager_autograd";
  s.seconds = 30e-6;
  s.spread_s = 2e-6;
  s.repeats = 9;
  set.samples = {s};
  const auto error = [&] { return fit_rates(set.samples).figures.front().standard_error; };
  EXPECT_NEAR(error(), 0.93 * 2e-6 / 3, 1e-12);
  set.samples.push_back(s);
  EXPECT_LT(error(), 1e-12);
}

TEST(Profile, OptimizersAreNoStreamingKernels) {
  SampleSet set;
  set.samples = {gemm(0.7), rate(SampleKind::optimizer, "muon", 1e9, 1e11)};
  ProfileOptions how;
  how.gpu = round_gpu();
  EXPECT_EQ(fit_profile(set, how).spec.kernels->memory, round_gpu().sustained.memory);
}

TEST(Profile, TheClockIsThatOfOneLastingProduct) {
  SampleSet set;
  for (int t = 1; t <= 8; ++t) {
    for (const auto precision : {core::Precision::bf16, core::Precision::fp8}) {
      Sample s = gemm(0.7, t);
      s.precision = precision;
      s.clock_hz = precision == core::Precision::bf16 ? 1.7e9 : 1.3e9;
      s.power_w = 700;
      set.samples.push_back(s);
    }
    set.samples.push_back(set.samples.back());  // pauses between products: no full load
    set.samples.back().precision = core::Precision::bf16;
    set.samples.back().beside = "idle";
    set.samples.back().clock_hz = 1.9e9;
  }
  EXPECT_DOUBLE_EQ(fit_power(set.samples)->power.sustained_clock, 1.7e9);
}

TEST(Profile, AShareAboveOneIsRefusedInARemark) {
  SampleSet set;
  set.samples = {gemm(1.3), rate(SampleKind::memory, "copy", 1e9, 2.7e12)};
  ProfileOptions how;
  how.gpu = round_gpu();
  const auto profile = fit_profile(set, how);
  EXPECT_EQ(profile.spec.kernels->gemm_16bit, round_gpu().sustained.gemm_16bit);
  EXPECT_THAT(profile.remarks, testing::Contains(testing::HasSubstr("more than the whole")));
}

TEST(Profile, WithoutADataSheetKernelsAreNotUsed) {
  SampleSet set;
  set.samples = {gemm(0.7)};
  EXPECT_THROW(fit_profile(set, {}), core::Error);
}

TEST(Profile, StorageIsThatOfTheBestNumberOfStreams) {
  SampleSet set;
  for (const double noise : {0.99, 1.0, 1.01}) {
    set.samples.push_back(rate(SampleKind::storage, "write", 1e10, 2e9 * noise, 1));
    set.samples.push_back(rate(SampleKind::storage, "write", 1e10, 7e9 * noise, 8));
    set.samples.push_back(rate(SampleKind::storage, "read", 1e10, 9e9 * noise, 8));
  }
  Sample sync;
  sync.kind = SampleKind::storage;
  sync.op = "sync";
  sync.seconds = 3e-3;
  set.samples.push_back(sync);
  const auto profile = fit_profile(set, {});
  ASSERT_TRUE(profile.spec.storage);
  EXPECT_DOUBLE_EQ(profile.spec.storage->client_write_bandwidth->si(), 7e9);
  EXPECT_DOUBLE_EQ(profile.spec.storage->client_read_bandwidth->si(), 9e9);
  EXPECT_DOUBLE_EQ(profile.spec.storage->latency->si(), 3e-3);
  EXPECT_EQ(find(profile, "storage.client_write_bandwidth")->samples, 3);
}

TEST(Profile, SamplesTakenBesideOtherWorkAreForInterferenceOnly) {
  SampleSet set;
  set.samples = {gemm(0.7), gemm(0.3)};
  set.samples[1].beside = "all_reduce";
  ProfileOptions how;
  how.gpu = round_gpu();
  EXPECT_NEAR(fit_profile(set, how).spec.kernels->gemm_16bit, 0.7, 1e-12);
}

TEST(Profile, InterferenceIsTheRatioOfTheSameWorkBesideAndAlone) {
  SampleSet set;
  set.samples = {gemm(0.8), gemm(0.4), gemm(0.5), rate(SampleKind::memory, "copy", 1e9, 2e12)};
  set.samples[1].beside = set.samples[2].beside = "all_reduce";
  set.samples[3].beside = "all_reduce";  // never timed alone: says nothing
  const auto figures = fit_interference(set.samples);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].name, "interference.gemm.forward.beside.all_reduce");
  // What a product loses of each second of the collective beside it.
  const auto profile = fit_profile(set, {});
  ASSERT_TRUE(profile.spec.data_interference.has_value());
  EXPECT_NEAR(*profile.spec.data_interference, 1 - 1 / figures[0].value, 1e-6);
  EXPECT_NEAR(figures[0].value, (0.8 / 0.4 + 0.8 / 0.5) / 2, 1e-12);  // 2 and 1.6
  EXPECT_EQ(figures[0].samples, 2);
}

TEST(Profile, ItsStepErrorIsTheMachinesPartAndTheReleases) {
  training::CalibrationSpec spec;
  const double outside = 0.06 * 0.06 + 0.03 * 0.03;
  EXPECT_DOUBLE_EQ(step_error(spec), std::sqrt(0.04 * 0.04 + outside));
  // Shapes scatter by 2 % x sqrt(12), of which a layer averages 12; 2, 3 and 6 make 7.
  spec.figures.push_back({"kernels.gemm_16bit", 0.7, "", 0, 0.02 * std::sqrt(12.0), 9, 0});
  EXPECT_DOUBLE_EQ(step_error(spec), std::sqrt(0.04 * 0.04 + outside));  // bursts only
  spec.power = training::MeasuredPower{};
  EXPECT_NEAR(step_error(spec), 0.07, 1e-12);
}

TEST(PowerFit, APlantedSettlingIsRecoveredWithinItsStatedErrors) {
  EXPECT_TRUE(rc::check([] {
    const double first = 1e6 * *rc::gen::inRange(1500, 2000);
    const double last = first * 0.01 * *rc::gen::inRange(60, 95);
    const double settling = *rc::gen::inRange(1, 8);
    const auto noise = normal_noise(*rc::gen::arbitrary<std::uint64_t>(), 40);
    std::vector<double> t;
    std::vector<double> y;
    for (std::size_t i = 0; i < noise.size(); ++i) {
      t.push_back(0.5 * static_cast<double>(i) + 0.25);
      y.push_back((last + (first - last) * std::exp(-t.back() / settling)) *
                  (1 + 0.002 * noise[i]));
    }
    const auto fit = fit_settling(t, y);
    RC_ASSERT(fit.has_value());
    RC_ASSERT(std::abs(fit->first.value - first) <= 5 * fit->first.standard_error);
    RC_ASSERT(std::abs(fit->last.value - last) <= 5 * fit->last.standard_error);
    RC_ASSERT(std::abs(fit->settling.value - settling) <= 5 * fit->settling.standard_error);
    RC_ASSERT(fit->leave_one_out < 0.01);
  }));
}

TEST(PowerFit, TheFirstClockIsNoneThatWasNeverRead) {
  // It has settled by the second point, so that anything would fit before the first.
  const std::vector<double> t{0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1};
  const std::vector<double> y{1.67e9, 1.5e9, 1.46e9, 1.45e9, 1.46e9, 1.45e9, 1.45e9};
  EXPECT_GT(fit_settling(t, y)->first.value, 2.1e9);
  EXPECT_LE(fit_settling(t, y, 1.98e9)->first.value, 1.9801e9);
  SampleSet set;
  for (std::size_t i = 0; i < t.size(); ++i) {
    set.samples.push_back(gemm(0.7, t[i]));
    set.samples.back().clock_hz = y[i];
  }
  set.samples.push_back(gemm(0.8));
  set.samples.back().clock_hz = 1.98e9;
  EXPECT_LE(fit_power(set.samples)->power.burst_clock, 1.9801e9);
}

TEST(PowerFit, AFlatClockHasNoSettlingTime) {
  const std::vector<double> t{1, 2, 3, 4, 5, 6};
  const std::vector<double> y{1.98e9, 1.98e9, 1.98e9, 1.975e9, 1.98e9, 1.98e9};
  const auto fit = fit_settling(t, y);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->first.value, fit->last.value);
  EXPECT_EQ(fit->settling.value, 0);
}

TEST(PowerFit, APlantedPowerLineIsRecovered) {
  // 150 W + 550 W (clock / 2 GHz)^2.5.
  std::vector<double> clocks;
  std::vector<double> powers;
  for (double clock = 1e9; clock <= 2e9; clock += 5e7) {
    clocks.push_back(clock);
    powers.push_back(150 + 550 * std::pow(clock / 2e9, 2.5));
  }
  const auto line = fit_power_line(clocks, powers, 2e9);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->static_w.value, 150, 0.5);
  EXPECT_NEAR(line->dynamic_w.value, 550, 0.5);
  EXPECT_NEAR(line->exponent.value, 2.5, 0.01);
}

TEST(PowerFit, ClocksThatHardlyDifferSayNothingOfPower) {
  const std::vector<double> clocks(8, 1.9e9);
  const std::vector<double> powers(8, 690);
  EXPECT_FALSE(fit_power_line(clocks, powers, 1.9e9));
}

}  // namespace
}  // namespace headway::fit
