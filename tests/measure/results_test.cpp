// What the program leaves behind reads back: the samples, and a profile that a scenario can use.
#include "calibrate/measure/host/results.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

#include "sim/config/load.h"

#include "calibrate/measure/host/catalogue_gpu.h"

namespace headway::measure {
namespace {

namespace fs = std::filesystem;

class ResultsTest : public testing::Test {
 protected:
  ResultsTest() { fs::create_directories(folder_); }
  ~ResultsTest() override { fs::remove_all(folder_); }
  BenchOptions options() const {
    BenchOptions out;
    out.quiet = true;
    out.out = (folder_ / "node.yaml").string();
    return out;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  fs::path folder_ = fs::path(testing::TempDir()) / ("headway-results-" + std::to_string(getpid()));
};

/// A large bf16 product at `rate` FLOP/s.
fit::Sample product(const char* op, std::int64_t side, double rate) {
  fit::Sample sample;
  sample.kind = fit::SampleKind::gemm;
  sample.op = op;
  sample.variant = "heuristic";
  sample.m = sample.n = sample.k = side;
  sample.batch = 1;
  sample.repeats = 15;
  sample.seconds = fit::work_flops(sample) / rate;
  return sample;
}

TEST_F(ResultsTest, AProfileReadsBackWithTheShareThatWasMeasured) {
  Bench bench(options());
  bench.fact("device", "NVIDIA H100 80GB HBM3");
  for (const char* op : {"forward", "input_gradient", "weight_gradient"}) {
    for (const std::int64_t side : {4096, 8192, 16384}) {
      bench.add(product(op, side, 692e12));
    }
  }
  write_results(bench);
  EXPECT_EQ(fit::read_samples(read("node.csv"), "node.csv").samples.size(), 9U);
  const auto loaded =
      config::load_entry<training::CalibrationSpec>(folder_ / "node.yaml", {{"configs"}, {}});
  ASSERT_TRUE(loaded.spec.kernels);
  // 692 TFLOP/s of the data sheet's dense 989.4.
  EXPECT_NEAR(loaded.spec.kernels->gemm_16bit, 0.70, 0.01);
  EXPECT_EQ(loaded.spec.name, "NVIDIA H100 80GB HBM3, measured");
}

TEST_F(ResultsTest, TinySizesMakeNoProfile) {
  BenchOptions tiny = options();
  tiny.tiny = true;
  Bench bench(tiny);
  bench.add(product("forward", 4096, 692e12));
  write_results(bench);
  EXPECT_TRUE(fs::exists(folder_ / "node.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "node.yaml"));
}

TEST_F(ResultsTest, NothingIsOverwrittenWithoutForce) {
  std::ofstream(folder_ / "node.csv") << "precious";
  EXPECT_NE(cannot_write(options()).find("node.csv exists; --force overwrites it"),
            std::string::npos);
  BenchOptions forced = options();
  forced.force = true;
  EXPECT_EQ(cannot_write(forced), "");
  BenchOptions elsewhere = options();
  elsewhere.out = (folder_ / "no/such/node.yaml").string();
  EXPECT_NE(cannot_write(elsewhere).find("does not exist"), std::string::npos);
}

TEST(CatalogueGpu, KnowsTheDriversNames) {
  EXPECT_EQ(catalogue_gpu("NVIDIA H100 80GB HBM3"), "h100-sxm");
  EXPECT_EQ(catalogue_gpu("NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(catalogue_gpu("NVIDIA H200"), "h200-sxm");
  EXPECT_EQ(catalogue_gpu("NVIDIA GH200 480GB"), "");
  EXPECT_EQ(catalogue_gpu("NVIDIA A100-SXM4-80GB"), "a100-80gb-sxm");
  EXPECT_EQ(catalogue_gpu("NVIDIA GB200"), "gb200");
  EXPECT_EQ(catalogue_gpu("NVIDIA L4"), "");
  for (const char* entry : {"h100-sxm", "h200-sxm", "gb200", "a100-40gb-sxm", "b300-sxm"}) {
    EXPECT_TRUE(load_catalogue_gpu(entry)) << entry;
  }
  EXPECT_FALSE(load_catalogue_gpu(""));
}

}  // namespace
}  // namespace headway::measure
