#include "sim/validation/collectives/collective_rows.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace headway::validation {
namespace {

using import::CsvTable;

constexpr const char* kCollectiveHeader =
    "system,gpu,n_nodes,n_gpus,inter_node_network,collective,message_bytes,time_us\n";

const Catalogue& catalogue() {
  static const Catalogue loaded = load_catalogue({std::string(HEADWAY_SOURCE_DIR) + "/configs"});
  return loaded;
}

/// The timings that come with the program.
CsvTable published() {
  const std::string path = HEADWAY_SOURCE_DIR "/configs/validation/collectives.csv";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return CsvTable(text.str(), path);
}

std::vector<CollectivePrediction> predict(const std::string& rows) {
  return predict_collectives(import::CsvTable(kCollectiveHeader + rows, "rows.csv"), catalogue());
}

TEST(CollectiveRows, EveryRowHasAStatusWithItsReason) {
  const auto rows = predict(
      "a,H100-80G-SXM,2,16,8x NDR-400 IB,all_reduce,1048576,100\n"
      "a,B200,2,16,IB (not stated),all_reduce,1048576,100\n"
      "a,H800,2,16,8x 400G IB,moe_dispatch_fp8 EP16,1048576,100\n"
      "a,n/a,4,32,see source,all_reduce,1048576,100\n"
      "a,H100-80G-SXM,2,16,see source,all_reduce,1048576,100\n"
      "a,H100-80G-SXM,1,8,single node,all_reduce,1048576,\n"
      "a,H100-80G-SXM,1,8,single node,all_reduce,,100\n"
      "a,H100-80G-SXM,3,8,8x400G,all_reduce,1048576,100\n"
      "a,H100-80G-SXM,2,64,8x400G,all_reduce,1048576,100\n"
      "a,H800,2,16,8x 400G IB,moe_lowlat_dispatch EP16,128 tokens x 7168,100\n"
      "a,H100-80G-SXM,1,1,single node,all_reduce,1048576,100\n"
      "a,H100-80G-SXM,1,8,single node,gather,1048576,100\n");
  ASSERT_EQ(rows.size(), 12U);
  EXPECT_EQ(rows[0].status, "ok");
  EXPECT_NEAR(*rows[0].error, *rows[0].predicted_us / 100 - 1, 1e-15);
  EXPECT_EQ(rows[1].status, "ok-assumed");
  EXPECT_EQ(rows[2].status, "skipped:no shape such as '4096 tokens x 7168, top-8 of 256': 1048576");
  EXPECT_EQ(rows[3].status, "skipped:unknown GPU n/a");
  EXPECT_EQ(rows[4].status, "skipped:unknown network: see source");
  EXPECT_EQ(rows[5].status, "skipped:no time stated");
  EXPECT_EQ(rows[6].status, "skipped:no message size stated");
  EXPECT_EQ(rows[7].status, "skipped:8 GPUs do not lie evenly on 3 nodes of 8");
  EXPECT_EQ(rows[8].status, "skipped:64 GPUs do not lie evenly on 2 nodes of 8");
  EXPECT_EQ(rows[9].status,
            "skipped:unmodelled: low-latency kernels of inference: moe_lowlat_dispatch ep16");
  EXPECT_EQ(rows[10].status, "skipped:1 GPUs: a collective needs two");
  EXPECT_EQ(rows[11].status, "skipped:not one collective of NCCL: gather");
}

TEST(CollectiveRows, CardsAreReadFromTheWordsOfTheSource) {
  import::CsvTable table(std::string(kCollectiveHeader) +
                             "a,H100-80G-SXM,2,16,8x200G TCPXO,all_reduce,1048576,100\n"
                             "a,A100-40G-SXM,2,16,RoCE 16x100G (1.6 Tbps),all_reduce,1048576,100\n",
                         "rows.csv");
  const auto tcpxo = place_collective(table, 0, catalogue());
  const auto roce = place_collective(table, 1, catalogue());
  // A rail is a card of 25 GB/s, of which TCPXO passes 0.94; or two of 12.5, of which 0.9 is usual.
  EXPECT_NEAR(tcpxo.machine.nic_bandwidth.si(), 0.94 * 25e9, 1);
  EXPECT_NEAR(roce.machine.nic_bandwidth.si(), 0.9 * 25e9, 1);
  EXPECT_EQ(roce.group.domains, 2);
}

PlacedCollective placed(const std::string& row) {
  return place_collective(import::CsvTable(kCollectiveHeader + row, "rows.csv"), 0, catalogue());
}

TEST(CollectiveRows, AnNvlinkDomainOfSeventyTwoSpansTrays) {
  // 18 trays of 4 GPUs are one domain: no card is asked, so nobody need name the network.
  const auto rack = placed("a,GB200,18,72,see source,all_reduce,1048576,100\n");
  EXPECT_EQ(rack.skipped + rack.unknown_machine, "");
  EXPECT_EQ(rack.group.domains, 1);
  EXPECT_EQ(rack.group.ranks_per_node, 4);
  EXPECT_EQ(rack.group.nodes, 18);
  // 128 GPUs fill 64 of the 72 of each of two racks, as training jobs do.
  const auto two = placed("a,GB200,32,128,4x NDR-400 IB,all_reduce,1048576,100\n");
  EXPECT_EQ(two.group.domains, 2);
  EXPECT_EQ(two.group.ranks_per_domain, 64);
  EXPECT_NEAR(two.machine.nic_bandwidth.si(), 0.9 * 50e9, 1);
  // Nodes of 4 GPUs that no rack joins: H200 boards would hold 8, this job uses half of each.
  const auto half = placed("a,H200,2,8,8x400G,all_reduce,1048576,100\n");
  EXPECT_EQ(half.group.ranks_per_domain, 4);
  EXPECT_EQ(half.group.domains, 2);
}

TEST(CollectiveRows, AMeshOfMi300xIsThatOfTheCatalogue) {
  const auto mesh = placed("a,AMD Instinct MI300X,1,8,single node,all_reduce,1048576,100\n");
  EXPECT_EQ(mesh.skipped + mesh.unknown_machine, "");
  EXPECT_EQ(mesh.machine.scale_up_kind, network::ScaleUpKind::mesh);
  EXPECT_EQ(mesh.machine.scale_up_bandwidth.si(), 448e9);
  EXPECT_FALSE(mesh.machine.nvls);
}

TEST(CollectiveRows, AnExchangeOfExpertsMovesOneCopyForEachPlaceATokenVisits) {
  // 8 of 256 experts on 8 GPUs: a GPU is missed with C(224,8)/C(256,8), so a token visits
  // 8 (1 - that) of them; each copy is 7168 fp8 elements with an fp32 scale for each 128.
  double missed = 1;
  for (int i = 0; i < 8; ++i) {
    missed *= (224.0 - i) / (256.0 - i);
  }
  const std::string shape = "\"4096 tokens x 7168, top-8 of 256\"";
  const auto inside = placed("a,H800,1,8,8x 400G IB,moe_dispatch_fp8 EP8," + shape + ",1000\n");
  EXPECT_NEAR(inside.call.bytes.si() / (4096 * 8 * (1 - missed) * 7168 * (1 + 4.0 / 128)), 1,
              1e-12);
  EXPECT_FALSE(inside.beside);
  // Two nodes: half the experts are elsewhere, so a token visits 2 (1 - C(128,8)/C(256,8)) nodes;
  // one copy for each goes over the rails, in bf16 on the way back.
  double other = 1;
  for (int i = 0; i < 8; ++i) {
    other *= (128.0 - i) / (256.0 - i);
  }
  const auto across = placed("a,H800,2,16,8x 400G IB,moe_combine_bf16 EP16," + shape + ",1000\n");
  ASSERT_TRUE(across.beside);
  EXPECT_NEAR(across.beside->call.bytes.si() / (4096 * 2 * (1 - other) * 7168 * 2), 1, 1e-12);
  EXPECT_EQ(across.beside->group.ranks, 2);
  EXPECT_EQ(across.group.ranks, 8);
}

TEST(CollectiveRows, DispatchAndCombineAsDeepEpMeasuredThem) {
  // Bandwidth of the bottleneck on 8 x H800 nodes with 400 Gbps cards: NVLink in one node, RDMA in
  // several. Source: deepseek-ai/DeepEP, README, normal kernels, 2025.
  const std::string shape = ",\"4096 tokens x 7168, top-8 of 256\",,";
  const auto rows = predict_collectives(
      import::CsvTable("system,gpu,n_nodes,n_gpus,inter_node_network,collective,message_bytes,time_"
                       "us,busbw_GBps\n"
                       "a,H800,1,8,8x 400G IB,moe_dispatch_fp8 EP8" +
                           shape + "153\n" + "a,H800,1,8,8x 400G IB,moe_combine_bf16 EP8" + shape +
                           "158\n" + "a,H800,2,16,8x 400G IB,moe_dispatch_fp8 EP16" + shape +
                           "43\n" + "a,H800,2,16,8x 400G IB,moe_combine_bf16 EP16" + shape +
                           "43\n" + "a,H800,4,32,8x 400G IB,moe_dispatch_fp8 EP32" + shape +
                           "58\n" + "a,H800,4,32,8x 400G IB,moe_combine_bf16 EP32" + shape +
                           "57\n" + "a,H800,8,64,8x 400G IB,moe_dispatch_fp8 EP64" + shape +
                           "51\n" + "a,H800,8,64,8x 400G IB,moe_combine_bf16 EP64" + shape + "50\n",
                       "rows.csv"),
      catalogue());
  for (const auto& row : rows) {
    EXPECT_EQ(row.status, "ok-assumed");
    EXPECT_LT(std::abs(row.error.value_or(1)), 0.12) << row.collective;
  }
  EXPECT_LT(summarize(rows).median_abs_error, 0.05);
}

TEST(CollectiveRows, SummaryTellsLargeFromSmallMessages) {
  std::vector<CollectivePrediction> rows(4);
  rows[0].message_bytes = rows[1].message_bytes = 1 << 20;
  rows[0].error = 0.1;
  rows[1].error = -0.3;
  rows[2].message_bytes = 8;
  rows[2].error = -0.5;  // half the time: a factor of two
  const auto s = summarize(rows);
  EXPECT_EQ(s.n, 3U);
  EXPECT_EQ(s.n_skipped, 1U);
  EXPECT_NEAR(s.median_abs_error_large, 0.2, 1e-12);
  EXPECT_NEAR(s.median_factor_small, 2, 1e-12);
}

TEST(CollectiveRows, NamedSystemsWithoutTheirCalibration) {
  const auto rows = predict_collectives(published(), catalogue());
  const auto s = summarize(rows);
  EXPECT_GE(s.n, 250U);
  EXPECT_LE(s.median_abs_error_large, 0.15);
  EXPECT_LE(s.median_factor_small, 1.5);
}

constexpr const char* kWithBus =
    "system,gpu,n_nodes,n_gpus,inter_node_network,collective,message_bytes,time_us,busbw_GBps,"
    "algo_or_env\n";

TEST(CollectiveRows, APeakBandwidthIsTheTimeOfSixteenGibibytes) {
  import::CsvTable table(
      std::string(kWithBus) +
          "a,B200,1,8,single node,all_reduce,n/a (large),,838.0,NVLS/auto\n"
          "a,B200,1,8,single node,all_reduce,n/a (large),,682.2,Ring (NVLS off)\n",
      "rows.csv");
  const auto free = place_collective(table, 0, catalogue());
  const auto ring = place_collective(table, 1, catalogue());
  // 2 x 7/8 x 16 GiB / 838 GB/s.
  EXPECT_NEAR(free.measured_us, 1.75 * 17179869184.0 / 838e9 * 1e6, 1e-6);
  EXPECT_FALSE(free.call.algorithm);
  EXPECT_EQ(ring.call.algorithm, network::Algorithm::ring);
  EXPECT_EQ(predict_collectives(table, catalogue())[0].status, "ok-assumed");
}

TEST(CollectiveRows, ACalibratedRowDoesNotSeeItself) {
  // Four sizes on one line in log-log, T = 10 us x sqrt(S / MiB), and one of twice its time: an
  // inner row is read from its neighbours, whatever it says itself.
  const std::string group = "a,n/a,4,32,see source,all_reduce,";
  const auto rows = predict_collectives_calibrated(
      import::CsvTable(kCollectiveHeader + group + "1048576,10\n" + group + "4194304,40\n" + group +
                           "16777216,40\n" + group + "67108864,80\n",
                       "rows.csv"),
      catalogue());
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_NEAR(*rows[1].predicted_us, 20, 1e-9);  // between 10 and 40
  EXPECT_NEAR(*rows[1].error, -0.5, 1e-9);
  EXPECT_NEAR(*rows[2].predicted_us, std::sqrt(40.0 * 80), 1e-9);
  EXPECT_EQ(rows[1].status, "ok");
}

TEST(CollectiveRows, ALonelyTimingHasNothingToBeCalibratedBy) {
  const auto rows = predict_collectives_calibrated(
      import::CsvTable(std::string(kCollectiveHeader) +
                           "a,H100-80G-SXM,1,8,single node,all_reduce,1048576,30\n" +
                           "b,n/a,4,32,see source,all_reduce,1048576,30\n",
                       "rows.csv"),
      catalogue());
  EXPECT_EQ(rows[0].status, "skipped:no other timing of this collective on this system");
  EXPECT_EQ(rows[1].status, "skipped:unknown GPU n/a");
}

TEST(CollectiveRows, AnotherGroupOfTheSystemScalesAGroupOfOneSize) {
  // The model is twice too fast for 8 GPUs, so it is taken to be for 4.
  const std::string of4 = "a,H100-80G-SXM,1,4,single node,all_gather,67108864,";
  const auto free = predict_collectives(
      import::CsvTable(
          kCollectiveHeader + of4 + "100\na,H100-80G-SXM,1,8,single node,all_gather,67108864,100\n",
          "r.csv"),
      catalogue());
  const auto rows = predict_collectives_calibrated(
      import::CsvTable(kCollectiveHeader + of4 +
                           "100\na,H100-80G-SXM,1,8,single node,all_gather,67108864," +
                           std::to_string(2 * *free[1].predicted_us) + "\n",
                       "r.csv"),
      catalogue());
  EXPECT_NEAR(*rows[0].predicted_us / *free[0].predicted_us, 2, 1e-6);
}

TEST(CollectiveRows, NamedSystemsWithTheirOwnCalibration) {
  const auto s = summarize(predict_collectives_calibrated(published(), catalogue()));
  std::printf(
      "calibrated: n %zu, skipped %zu, median %.2f %%; %zu of 1 MiB and more: median %.2f "
      "%%, p90 %.1f %%; %zu below: median factor %.3f\n",
      s.n, s.n_skipped, s.median_abs_error * 100, s.n_large, s.median_abs_error_large * 100,
      s.p90_abs_error_large * 100, s.n_small, s.median_factor_small);
  EXPECT_GE(s.n, 320U);
  EXPECT_LE(s.median_abs_error, 0.05);
  EXPECT_LE(s.median_abs_error_large, 0.05);
}

}  // namespace
}  // namespace headway::validation
