// The program on files that other tools wrote.
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"
#include "tests/external/file.h"

namespace headway::apps {
namespace {

using nlohmann::json;

class RealFiles : public ProgramTest {};

TEST_F(RealFiles, APublishedLogIsMetAtTheLargestSize) {
  const std::string log = std::filesystem::absolute(import::kLog);
  const auto outcome =
      run("collective all_reduce --cluster dgx-h100 --compare '" + log + "' --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json last = json::parse(outcome.out)["rows"].back();
  EXPECT_EQ(last["size_bytes"], 17179869184);
  EXPECT_NEAR(last["measured_bus_bandwidth_bytes_per_s"].get<double>(), 480e9, 1e9);
  EXPECT_NEAR(last["bus_bandwidth_bytes_per_s"].get<double>(), 480e9, 0.05 * 480e9);
}

TEST_F(RealFiles, AreReadByImportCheckAndTopo) {
  const std::string external = std::filesystem::absolute(import::kExternal);
  const std::vector<std::pair<std::string, std::string>> files{
      {"ibnetdiscover", "NVIDIA-topograph/tests/output/ibnetdiscover/example.out"},
      {"slurm-topology", "NVIDIA-topograph/tests/ci/expected.slinky-oci-sim-tree.conf"},
      {"nccl-xml --gpu h100-sxm", "Azure-azhpc-images/topology/ndv5-topo.xml"},
      {"nccl-xml --gpu mi300x", "ROCm-rccl/tools/topo_expl/models/topo_8p_940.xml"}};
  for (const auto& [format, file] : files) {
    const auto import = run("import " + format + " '" + external + file + "' --out a.yaml --force");
    ASSERT_EQ(import.code, 0) << file << import.err;
    EXPECT_EQ(run("check a.yaml").code, 0) << file << run("check a.yaml").err;
    const auto topo = run("topo a.yaml --nodes 2");
    EXPECT_EQ(topo.code, 0) << file << topo.err;
  }
}

}  // namespace
}  // namespace headway::apps
