// headway import: what it writes is read by check, topo and run.
#include <gmock/gmock.h>

#include "tests/apps/program.h"
#include "tests/import/infiniband_fabric.h"

namespace headway::apps {
namespace {

using testing::HasSubstr;

class ImportVerb : public ProgramTest {
 protected:
  /// A scenario whose cluster has this change.
  void write_scenario(const std::string& from, const std::string& to) const {
    write_small("s.yaml");
    std::string text = read("s.yaml");
    text.replace(text.find(from), from.size(), to);
    write("s.yaml", text);
  }
};

TEST_F(ImportVerb, AFabricOfSlurmIsReadByCheckTopoAndRun) {
  write("topology.conf",
        "SwitchName=leaf0 Nodes=n[0-3]\nSwitchName=leaf1 Nodes=n[4-7]\n"
        "SwitchName=spine Switches=leaf[0-1]\n");
  const auto import = run("import slurm-topology topology.conf --rate '200 Gbps' --out ours.yaml");
  ASSERT_EQ(import.code, 0) << import.err;
  EXPECT_EQ(import.out, "");
  EXPECT_THAT(import.err, HasSubstr("headway: warning: "));
  EXPECT_THAT(read("ours.yaml"), HasSubstr("link_bandwidth: 25 GB/s\n"));
  EXPECT_THAT(read("ours.yaml"), HasSubstr("ports_per_leaf is of 1 network card a server"));
  EXPECT_EQ(run("check ours.yaml").out, "ours.yaml: correct (fabrics)\n");
  const auto topo = run("topo ours.yaml --nodes 8 --format csv");
  EXPECT_EQ(topo.code, 0) << topo.err;
  EXPECT_THAT(topo.out, HasSubstr("\nconnected,true\n"));
  write_scenario("{use: rail-optimized-ndr}", "{use: ours}");
  const auto step = run("run s.yaml");
  EXPECT_EQ(step.code, 0) << step.err;
  EXPECT_EQ(run("import slurm-topology topology.conf --out ours.yaml").code, 2);
  // Two leaves of four servers with eight cards each.
  EXPECT_THAT(run("import slurm-topology topology.conf --cards 8").out,
              AllOf(HasSubstr("ports_per_leaf is of 8 network cards a server"),
                    HasSubstr("\nports_per_leaf: 32\n")));
}

// 22.40 USD for a server of eight: 2.80 USD a GPU-hour, in the bill of a run too.
TEST_F(ImportVerb, APriceOfSkyPilotsCatalogueIsReadByCheckAndRun) {
  write("vms.csv", read_file(HEADWAY_SOURCE_DIR "/tests/data/prices/vms.csv"));
  const auto import = run("import skypilot-catalog vms.csv --accelerator H100 --out ours.yaml");
  ASSERT_EQ(import.code, 0) << import.err;
  EXPECT_THAT(import.err, HasSubstr("warning: storage"));
  EXPECT_THAT(read("ours.yaml"), HasSubstr("line 5, eight-h100 of 8 H100 in south-2"));
  EXPECT_THAT(read("ours.yaml"), HasSubstr("gpu_hour: 2.8 USD/h\n"));
  EXPECT_THAT(read("ours.yaml"), HasSubstr("gpu: \"H100\"\n"));
  EXPECT_EQ(run("check ours.yaml").out, "ours.yaml: correct (prices)\n");
  write_small("s.yaml", "run: {until: {steps: 1000}, prices: {use: ours}, trials: 1}\n");
  const auto priced = run("run s.yaml --format csv");
  ASSERT_EQ(priced.code, 0) << priced.err;
  EXPECT_THAT(priced.out, HasSubstr("H100 on demand, south-2"));
  const auto spot = run("import skypilot-catalog vms.csv --accelerator H100 --spot");
  EXPECT_THAT(spot.out, HasSubstr("gpu_hour: 1.25 USD/h\n"));
  // The cheapest of a region, not of all: 24.00 USD for eight in north-1.
  const auto north = run("import skypilot-catalog vms.csv --accelerator H100 --region north-1");
  EXPECT_THAT(north.out, HasSubstr("gpu_hour: 3 USD/h\n"));
  EXPECT_THAT(north.out, HasSubstr("line 4, eight-h100 of 8 H100 in north-1"));
  const auto nowhere = run("import skypilot-catalog vms.csv --accelerator H100 --region west-3");
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("west-3"));
  const auto no_spot =
      run("import skypilot-catalog vms.csv --accelerator H100 --region south-2 --spot");
  EXPECT_EQ(no_spot.code, 2);
  EXPECT_THAT(no_spot.err, HasSubstr("SpotPrice"));
  const auto which = run("import skypilot-catalog vms.csv");
  EXPECT_EQ(which.code, 2);
  EXPECT_THAT(which.err, HasSubstr("has prices of B200, H100; say which"));
}

// 29.50 USD for eight are 3.6875 an hour, which is 3.6875000000000004 when it is made of seconds.
TEST_F(ImportVerb, APriceSaysItsGpuAndIsWrittenAsItIs) {
  write("vms.csv",
        "InstanceType,AcceleratorName,AcceleratorCount,Price,Region\n"
        "eight,A100-80GB,8,29.5,x\nodd,Hopper,8,8,x\n");
  const auto import = run("import skypilot-catalog vms.csv --accelerator A100-80GB");
  EXPECT_THAT(import.out, HasSubstr("gpu_hour: 3.6875 USD/h\n"));
  EXPECT_THAT(import.out, HasSubstr("gpu: \"A100 80 GB\"\n"));
  const auto odd = run("import skypilot-catalog vms.csv --accelerator Hopper");
  EXPECT_EQ(odd.code, 0);
  EXPECT_THAT(odd.err, HasSubstr("no GPU of the catalogue is called 'Hopper': add 'gpu'"));
}

TEST_F(ImportVerb, ANodeOfNvidiaSmiIsReadByCheckTopoAndRun) {
  write("topo.txt",
        "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\nGPU0\t X \tNV18\tPIX\tSYS\t0-55\n"
        "GPU1\tNV18\t X \tSYS\tPIX\t0-55\nNIC0\tPIX\tSYS\t X \tSYS\nNIC1\tSYS\tPIX\tSYS\t X \n");
  const auto import = run("import nvidia-smi-topo topo.txt --gpu h100-sxm --out ours.yaml");
  ASSERT_EQ(import.code, 0) << import.err;
  EXPECT_THAT(read("ours.yaml"), HasSubstr("use: h100-sxm\n"));
  EXPECT_EQ(run("check ours.yaml").out, "ours.yaml: correct (nodes)\n");
  const auto topo = run("topo ours.yaml --nodes 4 --format csv");
  EXPECT_EQ(topo.code, 0) << topo.err;
  EXPECT_THAT(topo.out, HasSubstr("\ncounts.gpus,8\n"));
  write_scenario("{use: dgx-h100}", "{use: ours}");
  const auto step = run("run s.yaml --set cluster.nodes=8");
  EXPECT_EQ(step.code, 0) << step.err;
}

TEST_F(ImportVerb, ErrorsNameTheLineAndNothingIsWritten) {
  write("topology.conf", "SwitchName=leaf0 Nodes=n[0-3]\nSwitchNam=leaf1 Nodes=n[4-7]\n");
  const auto import = run("import slurm-topology topology.conf --out ours.yaml");
  EXPECT_EQ(import.code, 2);
  EXPECT_THAT(import.err, HasSubstr("topology.conf:2:"));
  EXPECT_FALSE(exists("ours.yaml"));
  EXPECT_THAT(run("import nccl-xml topology.conf").err, HasSubstr("add --gpu ENTRY"));
  EXPECT_THAT(run("import slurm-topology topology.conf --rate 200").err, HasSubstr("has no unit"));
  EXPECT_EQ(run("import visio topology.conf").code, 2);
}

TEST_F(ImportVerb, FilesOfEveryTopologyAreReadByCheckAndTopo) {
  write("fabric.out", import::ibnetdiscover_text());
  const std::string data = HEADWAY_ROOT "/tests/data/topology/";
  const std::vector<std::pair<std::string, std::string>> files{
      {"ibnetdiscover", "fabric.out"},
      {"slurm-topology", data + "tree.conf"},
      {"slurm-topology", data + "blocks.conf"},
      {"nvidia-smi-topo --gpu h100-sxm", data + "switched.txt"},
      {"nccl-xml --gpu h100-sxm", data + "switched.xml"},
      {"nccl-xml --gpu h100-sxm", data + "virtual.xml"},
      {"nccl-xml --gpu mi300x", data + "mesh.xml"}};
  for (const auto& [format, file] : files) {
    const auto import = run("import " + format + " '" + file + "' --out a.yaml --force");
    ASSERT_EQ(import.code, 0) << file << import.err;
    EXPECT_EQ(run("check a.yaml").code, 0) << file << run("check a.yaml").err;
    const auto topo = run("topo a.yaml --nodes 2");
    EXPECT_EQ(topo.code, 0) << file << topo.err;
  }
}

}  // namespace
}  // namespace headway::apps
