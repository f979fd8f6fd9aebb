#include "calibrate/fit/import_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/import/measured/nccl_tests_json.h"
#include "sim/network/collective/closed_form.h"
#include "sim/network/collective/collective_curve.h"

#include "calibrate/fit/profile.h"
#include "tests/import/read_file.h"

namespace headway::fit {
namespace {

using testing::HasSubstr;

constexpr const char* kHeading =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n";
constexpr const char* kTwoHosts =
    "#  Rank  0 Group  0 Pid 1 on a device  0 [0000:19:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid 2 on b device  1 [0000:2d:00] NVIDIA H100 80GB HBM3\n";

ImportedSamples from_log(const std::string& text, const ImportHints& hints = {}) {
  return from_nccl_tests(import::read_nccl_tests_log(text, "a.log"), "a.log", hints);
}

std::string error_of(const std::string& text, const ImportHints& hints = {}) {
  try {
    from_log(text, hints);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(ImportSamples, HostsAndProgramOfALogNameTheGroup) {
  const auto imported = from_log(std::string("# Collective test starting: reduce_scatter_perf\n") +
                                 kTwoHosts + kHeading +
                                 "     1048576        262144     half     sum      -1    27.37   "
                                 "38.31   19.16      0    26.93  "
                                 " 38.94   19.47      3\n");
  ASSERT_EQ(imported.set.samples.size(), 2U);
  const Sample& first = imported.set.samples[0];
  EXPECT_EQ(first.op, "reduce_scatter");
  EXPECT_EQ(first.ranks, 2);
  EXPECT_EQ(first.ranks_per_node, 1);
  EXPECT_EQ(first.bytes, 1048576);
  EXPECT_DOUBLE_EQ(first.seconds, 27.37e-6);
  EXPECT_EQ(first.precision, core::Precision::fp16);
  EXPECT_TRUE(first.flags.empty());
  EXPECT_TRUE(imported.set.samples[1].has(SampleFlag::wrong));  // #wrong = 3
  EXPECT_EQ(imported.set.fact("device"), "NVIDIA H100 80GB HBM3");
}

TEST(ImportSamples, TheRatioOfBandwidthsNamesAnAllReduce) {
  // 8 ranks: 2 x 7/8 = 1.75 is an all-reduce's alone; 7/8 is that of three collectives.
  const std::string all_reduce = "1048576 262144 float sum -1 27.37 100.00 175.00 0\n";
  const ImportHints eight{{}, 8, 8};
  EXPECT_EQ(from_log(all_reduce, eight).set.samples[0].op, "all_reduce");
  EXPECT_THAT(error_of("1048576 32768 float none -1 27.37 100.00 87.50 0\n", eight),
              HasSubstr("several have its ratio of bandwidths; add --collective"));
  EXPECT_THAT(error_of(all_reduce, {core::CollectiveKind::all_gather, 8, 8}),
              HasSubstr("not that of all_gather over 8 ranks"));
  EXPECT_THAT(error_of(all_reduce), HasSubstr("does not list its ranks; add --ranks N"));
  EXPECT_THAT(error_of("# Rank 0 Group 0 Pid 1 on a device 0 [0x19] NVIDIA H100\n" + all_reduce),
              HasSubstr("lists one rank, which has none to exchange with"));
  EXPECT_THAT(error_of(kTwoHosts + all_reduce, eight),
              HasSubstr("lists 2 ranks, and --ranks says 8"));
}

// 7/8 is the ratio of three collectives. A row that reduces is of reduce_scatter; the others are
// told by the file's name, and whoever has no options is told of none.
TEST(ImportSamples, WhatTheRowsReduceAndTheNameOfTheFileTellTheCollective) {
  struct Case {
    const char* file;
    const char* row;
    const char* op;
  };
  const ImportHints eight{{}, 8, 8, false};
  const std::string head = "1048576 32768 float ";
  for (const auto& [file, row, op] :
       {Case{"a.log", "sum -1 27.37 100.00 87.50 0\n", "reduce_scatter"},
        Case{"all_gather_perf-n1.log", "none -1 27.37 100.00 87.50 0\n", "all_gather"},
        Case{"logs/alltoall.txt", "none -1 27.37 100.00 87.50 0\n", "all_to_all"},
        Case{"allgather.log", "27.37 100.00 87.50 1e-07 26.0 100.00 87.50 1e-07\n", "all_gather"},
        Case{"all_gather/a.log", "none -1 27.37 100.00 87.50 0\n", ""},
        Case{"a.log", "none -1 27.37 100.00 87.50 0\n", ""}}) {
    try {
      const auto log = import::read_nccl_tests_log(head + row, file);
      EXPECT_EQ(from_nccl_tests(log, file, eight).set.samples.front().op, op) << file << row;
    } catch (const core::Error& error) {
      EXPECT_STREQ(op, "") << error.what();
      EXPECT_THAT(error.what(), AllOf(HasSubstr("several have its ratio of bandwidths; name the "
                                                "file after the program, as 'all_gather_perf-"),
                                      Not(HasSubstr("--collective"))));
    }
  }
}

TEST(ImportSamples, TheJsonReportSaysWhatTheLogSays) {
  const auto log = import::read_nccl_tests_json(
      R"({"version":2,"args":["/opt/all_gather_perf","-b","8"],"config":{"devices":[
{"rank":1,"hostname":"a","device_info":"NVIDIA B200"},{"rank":0,"hostname":"a","device_info":"NVIDIA B200"}]},
"results":[
{"size":1048576,"count":131072,"type":"float","out_of_place":{"time":27.5,"alg_bw":38.1,"bus_bw":19.05,"nwrong":0.0},
 "in_place":{"time":26.5,"alg_bw":39.5,"bus_bw":19.75,"nwrong":null}},
{"size":2097152,"count":262144,"type":"float","out_of_place":null,"in_place":{"time":30.0,"alg_bw":70.0,"bus_bw":35.0,"nwrong":2.0}}],
"out_of_bounds":{"count":2,"okay":"false"},
"average_bus_bandwidth":{"bandwidth":24.6,"okay":"unchecked"}})",
      "r.json");
  EXPECT_EQ(import::wrong_data_of(log), "1 of 2 sizes have wrong values, 2 out of bounds");
  EXPECT_EQ(log.average_bus_gb_per_s, 24.6);
  const auto imported = from_nccl_tests(log, "r.json", {});
  ASSERT_EQ(imported.set.samples.size(), 3U);
  EXPECT_EQ(imported.set.samples[1].op, "all_gather");
  EXPECT_EQ(imported.set.samples[1].variant, "in_place");
  EXPECT_DOUBLE_EQ(imported.set.samples[1].seconds, 26.5e-6);
  EXPECT_TRUE(imported.set.samples[2].has(SampleFlag::wrong));
  EXPECT_EQ(imported.set.fact("device"), "NVIDIA B200");
}

TEST(ImportSamples, FioGivesRatesByDirectionAndStreams) {
  const auto timings = import::read_fio_json(
      R"(note: both iodepth >= 1 and synchronous I/O engine are selected
{
 "global options": {"bs": "4M", "direct": "1"},
 "jobs": [
  {"jobname": "w", "error": 0, "job options": {"rw": "write", "numjobs": "4"},
   "read": {"io_bytes": 0, "runtime": 0},
   "write": {"io_bytes": 8000000000, "runtime": 4100, "bw_bytes": 2000000000, "bw_dev": 1000, "total_ios": 2000},
   "sync": {"total_ios": 10, "lat_ns": {"mean": 2500000.0}}}]})",
      "f.json");
  const auto imported = from_fio(timings, "f.json");
  ASSERT_EQ(imported.set.samples.size(), 2U);
  const Sample& write = imported.set.samples[0];
  EXPECT_EQ(write.op, "write");
  EXPECT_EQ(write.streams, 4);
  EXPECT_DOUBLE_EQ(write.bytes / write.seconds, 2e9);
  EXPECT_DOUBLE_EQ(write.spread_s, 4.0 * 1000 * 1024 / 2e9);
  EXPECT_EQ(imported.set.samples[1].op, "sync");
  EXPECT_DOUBLE_EQ(imported.set.samples[1].seconds, 2.5e-3);
  EXPECT_TRUE(imported.remarks.empty());
}

TEST(ImportSamples, AFioJobThroughThePageCacheIsNamed) {
  const auto timings = import::read_fio_json(
      R"({"jobs":[{"jobname":"r","read":{"io_bytes":1000,"runtime":1000}}]})", "f.json");
  EXPECT_THAT(from_fio(timings, "f.json").remarks,
              testing::ElementsAre(HasSubstr("job 'r' did not use direct=1")));
}

/// One matrix product of two kernels (split k), its shapes on the CPU's side, and one all-gather.
constexpr const char* kTrace = R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
"traceEvents": [
{"ph":"X","cat":"cpu_op","name":"aten::linear","args":{"External id":1,"Input Dims":[[2,1024,4096],[512,4096],[]],"Input type":["c10::BFloat16","c10::BFloat16",""]}},
{"ph":"X","cat":"cpu_op","name":"aten::addmm","args":{"External id":2,"Input Dims":[[512],[2048,4096],[4096,512]],"Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16"]}},
{"ph":"X","cat":"kernel","name":"sm90_xmma_gemm","dur":30.0,"args":{"External id":2}},
{"ph":"X","cat":"kernel","name":"splitKreduce","dur":5.0,"args":{"External id":2}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllGather_RING_LL","dur":50.0,"args":{"External id":3,"Collective name":"_allgather_base","dtype":"BFloat16","In msg nelems":1000,"Out msg nelems":16000,"Group size":16}},
{"ph":"X","cat":"kernel","name":"vectorized_elementwise","dur":2.0,"args":{"External id":4}}
]})";

TEST(ImportSamples, AProfilersTraceGivesProductsAndCollectives) {
  const auto imported =
      from_torch_profile(import::read_torch_profile(kTrace, "t.json"), "t.json", {});
  ASSERT_EQ(imported.set.samples.size(), 2U);
  const Sample& gemm = imported.set.samples[0];
  EXPECT_EQ(std::vector<std::int64_t>({gemm.m, gemm.n, gemm.k, gemm.batch}),
            (std::vector<std::int64_t>{2048, 512, 4096, 1}));
  EXPECT_DOUBLE_EQ(gemm.seconds, 35e-6);  // both kernels are the product
  const Sample& gather = imported.set.samples[1];
  EXPECT_EQ(gather.op, "all_gather");
  EXPECT_EQ(gather.bytes, 32000);  // the whole array: 16,000 elements of 2 bytes
  EXPECT_EQ(gather.ranks, 16);
  EXPECT_EQ(gather.ranks_per_node, 8);
}

TEST(ImportSamples, AGemmTableIsReadByItsColumns) {
  const auto imported = from_gemm_csv(
      import::CsvTable("dtype,m,n,k,time_us,builds\nfp8,4096,8192,1024,52.5,3\n", "g.csv"));
  ASSERT_EQ(imported.set.samples.size(), 1U);
  EXPECT_EQ(imported.set.samples[0].precision, core::Precision::fp8);
  EXPECT_DOUBLE_EQ(work_flops(imported.set.samples[0]) / imported.set.samples[0].seconds,
                   2.0 * 4096 * 8192 * 1024 / 52.5e-6);
}

// The law of the log (tests/data/README.md): T = 14 us + 1.75 S / 460 GB/s out of place, 1 % less
// in place. At 16 GiB the latency is 2e-4 of it, so the bus carries 460 to 464.6 GB/s. One timing
// of 32 B is five times its neighbours'.
TEST(ImportSamples, ALogOfEightRanksGivesItsBusBandwidthAt16GiB) {
  const std::string path = import::kData + "nccl/all_reduce_8_ranks.log";
  const auto imported =
      from_nccl_tests(import::read_nccl_tests_log(import::text_of(path), path), path, {});
  EXPECT_EQ(imported.set.samples.size(), 64U);
  const Profile profile = fit_profile(imported.set, {});
  ASSERT_EQ(profile.spec.collectives.size(), 1U);
  const auto& curve = profile.spec.collectives[0];
  EXPECT_EQ(curve.collective, core::CollectiveKind::all_reduce);
  EXPECT_EQ(curve.ranks, 8);
  EXPECT_EQ(curve.ranks_per_node, 8);
  const core::Bytes large(17179869184.0);
  const auto bus =
      network::bus_bandwidth(curve.collective, large, 8, network::interpolate(curve, large));
  EXPECT_GE(bus.si() / 1e9, 459.5);
  EXPECT_LE(bus.si() / 1e9, 465);
  int outliers = 0;
  for (const auto& sample : profile.samples.samples) {
    outliers += sample.has(SampleFlag::outlier) ? 1 : 0;
    EXPECT_TRUE(sample.bytes == 32 || !sample.has(SampleFlag::outlier)) << sample.bytes;
  }
  EXPECT_EQ(outliers, 1);
  EXPECT_LT(curve.points.size(), 25U);
  EXPECT_LT(curve.relative_error, 0.05);  // each point read off its neighbours
}

}  // namespace
}  // namespace headway::fit
