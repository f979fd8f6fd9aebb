#include "sim/report/verbs/collective_report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "sim/core/error.h"
#include "sim/study/nccl_tests_names.h"

namespace headway::report {
namespace {

using core::CollectiveKind;
using testing::HasSubstr;

study::Machine two_nodes() {
  study::Machine machine;
  machine.name = "two nodes";
  machine.cluster.nodes = 2;
  machine.cluster.node.name = "node";
  machine.cluster.node.scale_up.bandwidth = core::BytesPerSecond(450e9);
  machine.cluster.node.nic.bandwidth = core::BytesPerSecond(50e9);
  machine.cluster.fabric.name = "fabric";
  machine.cluster.fabric.link_bandwidth = core::BytesPerSecond(50e9);
  return machine;
}

/// A measured curve: the time is then known without any model.
study::Machine with_curve() {
  auto machine = two_nodes();
  network::CollectiveCurve curve;
  curve.points = {{core::Bytes(1048576), core::Seconds(20e-6)},
                  {core::Bytes(2097152), core::Seconds(40e-6)}};
  machine.curves = {curve};
  return machine;
}

TEST(CollectiveReport, PrintsTheRowsOfNcclTests) {
  const auto report = study::predict_collective(
      with_curve(), {CollectiveKind::all_reduce, 8, {1048576, 2097152}, "float"});
  // algbw = 1 MiB / 20 us = 52.43 GB/s; busbw = 2 x 7/8 of it.
  EXPECT_THAT(
      nccl_tests_text(report),
      HasSubstr("     1048576        262144     float     sum      -1    20.00   52.43   91.75    "
                "N/A      N/A     N/A     N/A    N/A\n"));
  EXPECT_THAT(nccl_tests_text(report), HasSubstr("# Out of bounds values : N/A\n"
                                                 "# Avg bus bandwidth    : 91.7504\n"));
  const auto json = nlohmann::json::parse(collective_json(report));
  EXPECT_EQ(json["rows"][0]["source"], "measured curve");
  EXPECT_EQ(json["rows"][0]["measured_time_s"], nullptr);
}

TEST(CollectiveReport, RoundsPartsToSixteenBytesAsNcclTestsDoes) {
  // 8 ranks, float: 100 bytes are 25 elements, 3 a rank, no whole 16 bytes; 1,000 bytes are 250
  // elements, 31 a rank, 28 in whole 16 bytes: 8 x 28 x 4 = 896 bytes.
  const auto report =
      study::predict_collective(two_nodes(), {CollectiveKind::all_gather, 8, {100, 1000}, "float"});
  EXPECT_EQ(report.rows[0].bytes, 0U);
  EXPECT_FALSE(report.rows[0].time);
  EXPECT_EQ(report.rows[1].bytes, 896U);
  EXPECT_EQ(report.rows[1].count, 28U);
  EXPECT_THAT(nccl_tests_text(report), HasSubstr("float    none      -1      N/A     N/A"));
}

TEST(CollectiveReport, ComparesWithALogAndSaysTheMedian) {
  auto report = study::predict_collective(
      with_curve(), {CollectiveKind::all_reduce, 8, {1048576, 2097152, 4194304}, "float"});
  const auto log = import::read_nccl_tests_log(
      "1048576 262144 float sum -1 25.00 41.94 73.40 0\n"
      "2097152 524288 float sum -1 40.00 52.43 91.75 0\n",
      "a.log");
  study::compare_with_log(report, log, "a.log");
  EXPECT_NEAR(*report.rows[0].error(), -0.2, 1e-12);
  EXPECT_NEAR(*report.rows[1].error(), 0, 1e-12);
  EXPECT_FALSE(report.rows[2].error());
  EXPECT_EQ(collective_sentence(report),
            "Median error 10.0 % over 2 sizes, 10.0 % over the 2 of 1 MiB and more; at 2 MiB the "
            "bus bandwidth is 91.8 GB/s predicted, 91.8 GB/s measured (time +0.0 %).");
  EXPECT_THAT(nccl_tests_text(report), HasSubstr("N/A    N/A    25.00   73.40   -20.0\n"));
}

TEST(CollectiveReport, RefusesALogOfAnotherCollective) {
  auto report =
      study::predict_collective(with_curve(), {CollectiveKind::all_gather, 8, {1048576}, "float"});
  const auto log =
      import::read_nccl_tests_log("1048576 262144 float sum -1 25.00 41.94 73.40 0\n", "a.log");
  EXPECT_THROW(study::compare_with_log(report, log, "a.log"), core::Error);
}

TEST(CollectiveReport, RefusesMoreGpusThanThereAre) {
  EXPECT_THROW(
      study::predict_collective(two_nodes(), {CollectiveKind::all_reduce, 17, {8}, "float"}),
      core::Error);
}

TEST(CollectiveReport, StepsThroughEveryMessageIfAsked) {
  study::CollectiveRequest request{CollectiveKind::all_reduce, 16, {67108864}, "float"};
  study::set_granularity(request, "stepped:hierarchical");
  const auto stepped = study::predict_collective(two_nodes(), request);
  EXPECT_EQ(stepped.rows[0].time->algorithm, network::Algorithm::hierarchical);
  EXPECT_THAT(collective_sentence(stepped),
              HasSubstr("hierarchical, by simulation of every message"));
  EXPECT_THAT(stepped.assumptions.back(), HasSubstr("no software"));
  // Blocking, a rank waits for its own sends too; here they end when its receives do.
  study::set_granularity(request, "blocking:ring");
  const auto blocking = study::predict_collective(two_nodes(), request);
  study::set_granularity(request, "stepped:ring");
  EXPECT_GE(blocking.rows[0].time->total,
            study::predict_collective(two_nodes(), request).rows[0].time->total);
}

TEST(CollectiveReport, KnowsItsGranularitiesByName) {
  study::CollectiveRequest request;
  study::set_granularity(request, "fluid:tree");
  EXPECT_EQ(request.algorithm, network::Algorithm::tree);
  EXPECT_EQ(request.granularity, network::Granularity::fluid);
  EXPECT_THROW(study::set_granularity(request, "coarse"), core::Error);
  EXPECT_THROW(study::set_granularity(request, "stepped:rings"), core::Error);
}

TEST(NcclTestsNames, SizesArePowersOf1024) {
  EXPECT_EQ(study::parse_size("8"), 8U);
  EXPECT_EQ(study::parse_size("128k"), 131072U);
  EXPECT_EQ(study::parse_size("16G"), 17179869184U);
  EXPECT_EQ(study::parse_size("16 GiB"), 17179869184U);
  EXPECT_EQ(study::parse_size("64MiB"), 67108864U);
  EXPECT_FALSE(study::parse_size("16 GB"));  // of 1,000 or of 1,024?
  EXPECT_FALSE(study::parse_size("16X"));
  EXPECT_FALSE(study::parse_size(""));
  EXPECT_FALSE(study::parse_size("0"));
  EXPECT_FALSE(study::parse_size("-8"));
  EXPECT_EQ(study::size_words(17179869184U), "16 GiB");
  EXPECT_THAT(study::size_steps(8, 64, 2), testing::ElementsAre(8, 16, 32, 64));
}

TEST(NcclTestsNames, BothVocabulariesAreUnderstood) {
  EXPECT_EQ(study::collective_kind("alltoall_perf"), CollectiveKind::all_to_all);
  EXPECT_EQ(study::collective_kind("all_to_all"), CollectiveKind::all_to_all);
  EXPECT_EQ(study::collective_kind("send_receive"), CollectiveKind::send_receive);
  EXPECT_FALSE(study::collective_kind("all_reduse"));
}

}  // namespace
}  // namespace headway::report
