#include "calibrate/fit/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"

namespace headway::fit {
namespace {

Sample gemm() {
  Sample s;
  s.kind = SampleKind::gemm;
  s.op = "forward";
  s.variant = "best";
  s.precision = core::Precision::fp8;
  s.m = 8192;
  s.n = 4096;
  s.k = 1024;
  s.repeats = 50;
  s.seconds = 1.0 / 3.0 * 1e-3;
  s.spread_s = 2e-6;
  s.clock_hz = 1.755e9;
  s.power_w = 690.5;
  return s;
}

Sample all_reduce() {
  Sample s;
  s.kind = SampleKind::collective;
  s.op = "all_reduce";
  s.ranks = s.ranks_per_node = 8;
  s.bytes = 17179869184.0;
  s.seconds = 0.0626;
  s.beside = "gemm";
  s.flags = {SampleFlag::throttled, SampleFlag::unstable};
  return s;
}

std::string complaint(const std::string& text) {
  try {
    read_samples(text, "s.csv");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(Samples, ReadBackToTheSameBits) {
  SampleSet set;
  set.facts = {{"device", "NVIDIA H100 80GB HBM3"}, {"date", "2026-01-31"}};
  set.samples = {gemm(), all_reduce()};
  EXPECT_EQ(read_samples(write_samples(set), "s.csv"), set);
}

TEST(Samples, ATextCannotBreakItsRow) {
  SampleSet set;
  set.samples = {gemm()};
  set.samples[0].variant = "algo 7, \"split\"\n";
  EXPECT_EQ(read_samples(write_samples(set), "s.csv").samples[0].variant, "algo 7   split  ");
}

TEST(Samples, ColumnsMayBeLeftOutAndComeInAnyOrder) {
  const auto set = read_samples(
      "# headway-samples 1\nseconds,kind,op,bytes\n1e-3,memory,copy,2000000\n", "s.csv");
  ASSERT_EQ(set.samples.size(), 1U);
  EXPECT_EQ(set.samples[0].bytes, 2e6);
  EXPECT_EQ(set.samples[0].seconds, 1e-3);
}

TEST(Samples, WorkIsCountedAsThePassesDoIt) {
  // 2 m n k = 2 x 8192 x 4096 x 1024.
  EXPECT_EQ(work_flops(gemm()), 68719476736.0);
  Sample s;
  s.kind = SampleKind::attention;
  s.op = "backward";
  s.batch = 2;
  s.sequence = 1024;
  s.query_heads = 16;
  s.head_dim = 128;
  s.causal = true;
  // 4 b h s^2 d / 2 forward; backward computes 5 products where forward computes 2.
  EXPECT_EQ(work_flops(s), 2.5 * 4.0 * 2 * 16 * 1024 * 1024 * 128 / 2);
  EXPECT_EQ(work_flops(all_reduce()), 0);
}

TEST(Samples, EveryWrongRowIsNamedWithItsLine) {
  const std::string text =
      "# headway-samples 1\n# device: X\nkind,op,m,n,k,seconds,flags\n"
      "gemm,forward,1,1,,1e-3,\n"
      "gemm,forward,1,1,1,fast,\n"
      "gem,forward,1,1,1,1e-3,\n"
      "gemm,forward,1,1,1,1e-3,hot\n";
  const std::string what = complaint(text);
  EXPECT_THAT(what, testing::HasSubstr("s.csv:4:1: a gemm sample needs m, n and k"));
  EXPECT_THAT(what, testing::HasSubstr("s.csv:5:1: 'fast' in column 'seconds' is no number"));
  EXPECT_THAT(what, testing::HasSubstr(
                        "s.csv:6:1: column 'kind': unknown word 'gem'; did you mean 'gemm'?"));
  EXPECT_THAT(what, testing::HasSubstr("s.csv:7:1: column 'flags': unknown flag 'hot'"));
}

TEST(Samples, AnUnknownColumnIsRefusedWithASuggestion) {
  EXPECT_THAT(complaint("# headway-samples 1\nkind,op,second\n"),
              testing::AllOf(testing::HasSubstr("no column 'second'"),
                             testing::HasSubstr("did you mean 'seconds'?"),
                             testing::HasSubstr("the column 'seconds' is missing")));
}

TEST(Samples, AnotherFileIsNotASampleTable) {
  EXPECT_THAT(complaint("kind,op,seconds\n"), testing::HasSubstr("begins with the line"));
}

}  // namespace
}  // namespace headway::fit
