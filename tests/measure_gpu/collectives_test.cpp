// Collectives over the pretended NCCL: ranks are threads.
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "calibrate/measure/parts/rank_worker.h"
#include "tests/measure_gpu/fake_nccl.h"
#include "tests/measure_gpu/rig.h"

namespace headway::measure {
namespace {

/// A bench with `gpus` pretended GPUs.
struct NodeRig : Rig {
  explicit NodeRig(int gpus) { fake::set_device_count(gpus); }
  NodeRig(const NodeRig&) = delete;
  NodeRig& operator=(const NodeRig&) = delete;
  ~NodeRig() { fake::set_device_count(1); }
  Nccl nccl = fake::nccl();
};

TEST(MeasureCollectives, CoverEveryKindAndGroupSizeAndAreRight) {
  NodeRig rig(4);
  measure_collectives_with(rig.gpu, rig.nccl);
  EXPECT_EQ(rig.bench.wrong_results, 0);
  std::map<std::string, std::set<int>> sizes;
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    if (sample.kind == fit::SampleKind::collective) {
      EXPECT_GT(sample.seconds, 0);
      EXPECT_EQ(sample.ranks, sample.ranks_per_node);
      sizes[sample.op].insert(sample.ranks);
    }
  }
  EXPECT_EQ(sizes.size(), 6U);
  for (const auto& [op, ranks] : sizes) {
    EXPECT_EQ(ranks, (std::set<int>{2, 3, 4})) << op;
  }
  EXPECT_EQ(rig.bench.measured.fact("nccl"), "2.28.9");
}

TEST(MeasureCollectives, MeasuresAProductBesideAnAllReduce) {
  NodeRig rig(2);
  measure_collectives_with(rig.gpu, rig.nccl);
  std::set<std::string> beside;
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    if (!sample.beside.empty()) {
      beside.insert(sample.op + " beside " + sample.beside);
    }
  }
  EXPECT_EQ(beside, (std::set<std::string>{"all_reduce beside gemm", "forward beside all_reduce"}));
}

TEST(MeasureCollectives, OneGpuIsLeftOutByName) {
  NodeRig rig(1);
  measure_collectives_with(rig.gpu, rig.nccl);
  EXPECT_EQ(rig.bench.measured.fact("not measured, collectives"), "one GPU");
}

TEST(MeasureCollectives, ARankThatFailsEndsTheOthersToo) {
  NodeRig rig(3);
  fake::fail_at(20);
  try {
    measure_collectives_with(rig.gpu, rig.nccl);
    FAIL();
  } catch (const GpuError& error) {
    EXPECT_NE(std::string(error.what()).find("pretended failure"), std::string::npos)
        << error.what();
  }
  fake::fail_at(0);
}

TEST(MeasureCollectives, StopTogetherWhenTimeIsUp) {
  NodeRig rig(4);
  rig.bench.deadline_s = -1;
  measure_collectives_with(rig.gpu, rig.nccl);
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    EXPECT_NE(sample.beside, "");  // only the few calls beside a product
  }
}

}  // namespace
}  // namespace headway::measure
