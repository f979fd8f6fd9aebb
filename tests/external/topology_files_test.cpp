// Topologies that other tools wrote: nodes of clouds and of AMD, an InfiniBand fabric, Slurm's
// files.
#include <gmock/gmock.h>
#include <string>

#include "sim/core/error.h"
#include "sim/import/network/ibnetdiscover.h"
#include "sim/import/network/nccl_topology.h"
#include "sim/import/network/slurm_topology.h"

#include "tests/external/file.h"

namespace headway::import {
namespace {

using gpu::Architecture;
using network::ScaleUpKind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace core::literals;

const std::string kInfiniband = kExternal + "NVIDIA-topograph/tests/output/ibnetdiscover/";

ImportedNode read(const std::string& name, Architecture architecture) {
  return read_nccl_topology(text_of(kExternal + name), name, architecture);
}

TEST(RealTopology, AnH100NodeOfAzureHasEightGpusEachWithItsCard) {
  const ImportedNode node = read("Azure-azhpc-images/topology/ndv5-topo.xml", Architecture::hopper);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.nic.count, 8);
  EXPECT_EQ(node.nic.bandwidth.si(), 50e9);  // 400 Gbps is what PCIe Gen5 x16 carries
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::pcie);
  EXPECT_THAT(node.warnings, Contains(HasSubstr("the file has no links between GPUs")));
}

TEST(RealTopology, AnA100NodeOfAwsSharesACardBetweenTwoGpus) {
  const ImportedNode node =
      read("aws-aws-ofi-nccl/topology/p4d-24xl-topo.xml", Architecture::ampere);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.nic.count, 4);
  EXPECT_EQ(node.nic.bandwidth.si(), 12.5e9);  // 100 Gbps is what PCIe Gen3 x16 carries
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

TEST(RealTopology, AnMi300xNodeIsAMeshOfSevenLinks) {
  const ImportedNode node =
      read("ROCm-rccl/tools/topo_expl/models/topo_8p_940.xml", Architecture::cdna3);
  EXPECT_EQ(node.gpus, 8);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::mesh);
  EXPECT_EQ(node.scale_up.domain_gpus, 8);
  EXPECT_EQ(node.scale_up.bandwidth.si(), 7 * 64e9);
  EXPECT_EQ(node.nic.count, 8);
  EXPECT_EQ(node.nic.bandwidth.si(), 50e9);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(RealTopology, OlderAmdNodesHaveTheirNarrowerLinks) {
  const ImportedNode rome =
      read("ROCm-rccl/tools/topo_expl/models/topo_8p_rome.xml", Architecture::cdna3);
  EXPECT_EQ(rome.gpus, 8);
  EXPECT_EQ(rome.scale_up.bandwidth.si(), 2 * 46e9);
  const ImportedNode sixteen =
      read("ROCm-rccl/tools/topo_expl/models/topo_16p1h.xml", Architecture::cdna3);
  EXPECT_EQ(sixteen.gpus, 16);
}

TEST(RealTopology, LinksThatLeadNowhereAreLeftOut) {
  const ImportedNode node = read("Azure-azhpc-images/topology/ncv4-topo.xml", Architecture::ampere);
  EXPECT_EQ(node.gpus, 4);
  EXPECT_EQ(node.scale_up.kind, ScaleUpKind::pcie);
  EXPECT_THAT(node.warnings, Contains(HasSubstr("4 links lead to the GPU itself")));
  EXPECT_THAT(node.warnings, Contains(HasSubstr("Gen4 x16 is assumed")));
  EXPECT_EQ(node.nic.count, 1);
  EXPECT_EQ(node.nic.bandwidth.si(), 12.5e9);
}

TEST(RealTopology, ARealTreeHasThreeTiers) {
  const std::string file =
      kExternal + "NVIDIA-topograph/tests/ci/expected.slinky-oci-sim-tree.conf";
  const ImportedFabric result = read_slurm_topology(text_of(file), "topology.conf", 400_Gbps);
  EXPECT_EQ(result.nodes, 96);
  EXPECT_EQ(result.leaves, 12);
  EXPECT_EQ(result.spines, 6);
  EXPECT_EQ(result.cores, 1);
  EXPECT_EQ(result.fabric.tiers, 3);
  EXPECT_EQ(result.fabric.leaves_per_pod, 2);
  EXPECT_EQ(result.fabric.ports_per_leaf, 8);
  EXPECT_EQ(result.fabric.link_bandwidth.si(), 50e9);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("states no link speed; 400 Gbps are assumed")));
}

TEST(RealTopology, RealBlocksAreNvlinkDomains) {
  const std::string file = kExternal + "NVIDIA-topograph/tests/ci/expected.slinky-dra-block.conf";
  const ImportedFabric result = read_slurm_topology(text_of(file), "topology.conf", 400_Gbps);
  EXPECT_EQ(result.nodes, 96);
  EXPECT_EQ(result.nodes_per_domain, 8);
  EXPECT_EQ(result.hosts.front(), "srv1101");
}

TEST(RealTopology, ARealFabricOf40SwitchesIsRecognised) {
  const ImportedFabric result =
      read_ibnetdiscover(text_of(kInfiniband + "example.out"), "example.out");
  EXPECT_EQ(result.leaves, 31);
  EXPECT_EQ(result.spines, 9);
  EXPECT_EQ(result.cores, 0);
  EXPECT_EQ(result.fabric.tiers, 2);
  EXPECT_EQ(result.fabric.topology, network::Topology::rail_optimized);
  EXPECT_EQ(result.nics_per_node, 4);
  EXPECT_EQ(result.nodes, 136);  // 582 adapters less 40 aggregation nodes = 542 cards, 4 a server
  EXPECT_EQ(result.fabric.link_bandwidth.si(), 50e9);
  EXPECT_EQ(result.fabric.leaf_oversubscription, 1.0);
  EXPECT_THAT(result.warnings,
              Contains(HasSubstr("of 542 network cards do not name their server")));
}

TEST(RealTopology, ARealBrokenFileNamesItsFirstDevice) {
  try {
    read_ibnetdiscover(text_of(kInfiniband + "example-bad.out"), "example-bad.out");
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("example-bad.out:10:1: the file lists no switch, so it shows no fabric"));
  }
}

}  // namespace
}  // namespace headway::import
