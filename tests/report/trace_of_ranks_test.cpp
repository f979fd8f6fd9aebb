// Traces of single ranks, and of power.
#include <gtest/gtest.h>

#include "sim/report/trace/trace.h"

namespace headway::report {
namespace {

training::ObservedRanks one_rank(std::vector<core::GpuSpan> spans) {
  return {core::Seconds(1), {{core::Rank(9), {.pipeline = 1}, std::move(spans)}}};
}

core::GpuSpan span(double begin, double end, core::GpuWork work, double nic_bytes = 0) {
  core::GpuSpan out{core::Seconds(begin), core::Seconds(end), work};
  out.nic_bytes = core::Bytes(nic_bytes);
  return out;
}

TEST(Trace, ARankHasALineOfKernelsAndAsManyOfTransfersAsOverlap) {
  using core::GpuWork;
  const auto traces = traces_of_ranks(
      one_rank({span(0.2, 0.4, GpuWork::attention), span(0, 0.2, GpuWork::matrix_products),
                span(0.1, 0.3, GpuWork::all_gather), span(0.2, 0.5, GpuWork::all_gather)}));
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces[0].process, "rank 9 (stage 1)");
  ASSERT_EQ(traces[0].threads.size(), 3U);
  EXPECT_EQ(traces[0].threads[0].name, "all gather");
  EXPECT_EQ(traces[0].threads[1].name, "all gather (2)");
  EXPECT_EQ(traces[0].threads[2].name, "kernels");
  EXPECT_EQ(traces[0].threads[2].slices[0].name, "matrix products");
  EXPECT_EQ(traces[0].threads[2].slices[1].begin_ns, 200'000'000);
}

// 40 MB in 0.2 s beside 30 MB in 0.3 s: 200, then 300, then 100 MB/s.
TEST(Trace, WhatARankSendsIsSpreadOverItsTransfers) {
  using core::GpuWork;
  const auto traces = traces_of_ranks(one_rank(
      {span(0.1, 0.3, GpuWork::all_gather, 40e6), span(0.2, 0.5, GpuWork::all_reduce, 30e6)}));
  using Values = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(traces[0].threads[0].counters[1].values,
            (Values{{100'000'000, 200}, {200'000'000, 300}, {300'000'000, 100}, {500'000'000, 0}}));
}

TEST(Trace, OfTooManySpansTheLastAreLeftOutAndSaidSo) {
  std::vector<core::GpuSpan> spans;
  for (int i = 0; i < 100'002; ++i) {
    spans.push_back(span(i * 1e-6, (i + 1) * 1e-6, core::GpuWork::attention));
  }
  EXPECT_EQ(traces_of_ranks(one_rank(spans))[0].left_out,
            std::vector<std::string>{"the last 2 spans of rank 9 are left out"});
}

TEST(Trace, PowerIsACounterThatNamesItsChanges) {
  study::PowerReport power;
  power.window = core::Seconds(0.25);
  power.gpus = {core::Watts(10), core::Watts(10), core::Watts(30)};
  power.beside = core::Watts(5);
  const Trace trace = trace_of_power(power);
  using Values = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(trace.threads[0].counters[0].values, (Values{{0, 15}, {500'000'000, 35}}));
}

}  // namespace
}  // namespace headway::report
