// Slurm topology.conf: trees and blocks, host lists, and errors with their line.
#include "sim/import/network/slurm_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/core/error.h"
#include "sim/import/network/host_list.h"

#include "tests/import/read_file.h"

namespace headway::import {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace core::literals;

ImportedFabric read(std::string_view text) {
  return read_slurm_topology(text, "topology.conf", 400_Gbps);
}

std::string slurm_message(std::string_view text) {
  try {
    read(text);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> names(std::string_view list) {
  std::string why;
  return expand_host_list(list, 0, why);
}

std::string reason(std::string_view list) {
  std::string why;
  expand_host_list(list, 0, why);
  return why;
}

TEST(HostList, ExpandsRangesZerosAndSeveralBrackets) {
  EXPECT_THAT(names("a[1-3],b"), ElementsAre("a1", "a2", "a3", "b"));
  EXPECT_THAT(names("n[08-10,12]"), ElementsAre("n08", "n09", "n10", "n12"));
  EXPECT_THAT(names("r[1-2]n[1-2]x"), ElementsAre("r1n1x", "r1n2x", "r2n1x", "r2n2x"));
}

TEST(HostList, SaysWhatIsWrong) {
  EXPECT_EQ(reason("a[3-1]"), "'3-1' is no range of numbers, as '1-8'");
  EXPECT_EQ(reason("a[1-"), "a bracket is open or closed without its partner");
  EXPECT_EQ(reason("a,,b"), "the list has an empty name");
  EXPECT_EQ(reason("a[0-4000000000]"), "the file names more than a million servers");
}

TEST(HostList, EveryWayToAMillionNamesIsBarred) {
  const char* too_many = "the file names more than a million servers";
  EXPECT_EQ(reason("a[0-999998],b[0-999998]"), too_many);
  EXPECT_EQ(reason("a[0-999998,0-999998]"), too_many);
  EXPECT_EQ(reason("a[0-9999]b[0-9999]"), too_many);
  std::string why;
  EXPECT_EQ(expand_host_list("a[1-10]", 999'990, why).size(), 10U);
  EXPECT_TRUE(expand_host_list("a[1-10]", 999'991, why).empty());
  EXPECT_EQ(why, too_many);
}

TEST(HostList, ANameIsAtMost253LettersLong) {
  const std::string zeros(100'000, '0');
  EXPECT_THAT(reason("n[" + zeros + "0-99999]"), HasSubstr("a name of more than 253 letters"));
  EXPECT_THAT(reason(std::string(254, 'n')), HasSubstr("a name of more than 253 letters"));
  EXPECT_EQ(names(std::string(253, 'n')).size(), 1U);
  // The first number of each bracket is short, the second long: 2 x 127 letters.
  const std::string long_number = "[1," + std::string(126, '0') + "1]";
  EXPECT_EQ(names(long_number).size(), 2U);
  EXPECT_THAT(reason(long_number + long_number), HasSubstr("a name of more than 253 letters"));
}

// 4 pods of 3 leaves with 10 servers each: 12 leaves, 4 spines, one core, 120 servers.
TEST(SlurmTopology, ATreeHasThreeTiers) {
  const ImportedFabric result = read(text_of(kData + "topology/tree.conf"));
  EXPECT_EQ(result.nodes, 120);
  EXPECT_EQ(result.leaves, 12);
  EXPECT_EQ(result.spines, 4);
  EXPECT_EQ(result.cores, 1);
  EXPECT_EQ(result.fabric.tiers, 3);
  EXPECT_EQ(result.fabric.leaves_per_pod, 3);
  EXPECT_EQ(result.fabric.ports_per_leaf, 10);
  EXPECT_EQ(result.fabric.link_bandwidth.si(), 50e9);
  EXPECT_EQ(result.hosts.front(), "gpu001");
  EXPECT_EQ(result.hosts.back(), "gpu120");
  EXPECT_THAT(result.warnings,
              Contains(HasSubstr("LinkSpeed has no unit in Slurm and is ignored")));
}

// Two leaves of 16 servers: with eight cards each 128 ports a leaf.
TEST(SlurmTopology, LeavesCountNetworkCards) {
  const std::string text =
      "SwitchName=a Nodes=n[1-16]\nSwitchName=b Nodes=n[17-32]\nSwitchName=s Switches=a,b\n";
  const ImportedFabric eight = read_slurm_topology(text, "topology.conf", 400_Gbps, 8);
  EXPECT_EQ(eight.fabric.ports_per_leaf, 128);
  EXPECT_EQ(eight.nics_per_node, 8);
  EXPECT_THAT(eight.warnings, Not(Contains(HasSubstr("counts servers"))));
  EXPECT_EQ(read(text).fabric.ports_per_leaf, 16);
  EXPECT_THAT(
      read(text).warnings,
      Contains(HasSubstr("ports_per_leaf 16 is of one card a server; where all of its cards "
                         "go to that leaf give their number (--cards 8: 128)")));
}

// Four racks of 18 and one of 12.
TEST(SlurmTopology, BlocksAreNvlinkDomains) {
  const ImportedFabric result = read(text_of(kData + "topology/blocks.conf"));
  EXPECT_EQ(result.nodes, 4 * 18 + 12);
  EXPECT_EQ(result.nodes_per_domain, 18);
  EXPECT_EQ(result.hosts.front(), "tray1n01");
  EXPECT_THAT(result.warnings, Contains(HasSubstr("blocks hold 12 to 18 servers")));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("states no link speed; 400 Gbps are assumed")));
}

TEST(SlurmTopology, ALongChainIsWalkedOnce) {
  // Walking up from each of 60,000 switches to the top are 1.8e9 steps.
  std::string text = "SwitchName=s0 Nodes=n[1-8]\n";
  for (int i = 1; i < 60'000; ++i) {
    text += "SwitchName=s" + std::to_string(i) + " Switches=s" + std::to_string(i - 1) + "\n";
  }
  EXPECT_EQ(read(text).leaves, 1);
  EXPECT_THAT(slurm_message(text + "SwitchName=top Switches=s59999,top2\n"
                                   "SwitchName=top2 Switches=top\n"),
              HasSubstr("' is above itself"));
}

TEST(SlurmTopology, ErrorsNameTheLine) {
  EXPECT_THAT(slurm_message("SwitchName=s Nodes=a[1-\n"),
              HasSubstr("topology.conf:1:14: a bracket is open"));
  EXPECT_THAT(slurm_message("SwitchName=s Nodes=a\nSwitchName=t Nodes=a\n"),
              HasSubstr("topology.conf:2:1: server 'a' already hangs on switch 's'"));
  EXPECT_THAT(slurm_message("SwitchName=s Switches=t\n"),
              HasSubstr("switch 't' below 's' is defined nowhere"));
  EXPECT_THAT(slurm_message("SwitchName=s Nodes=a\nSwitchName=s Nodes=b\n"),
              HasSubstr("topology.conf:2:1: switch 's' is defined a second time"));
  EXPECT_THAT(slurm_message("SwitchName=s Switches=t\nSwitchName=t Switches=s\n"),
              HasSubstr("is above itself"));
  EXPECT_THAT(slurm_message("SwitchName=s Node=a\n"),
              HasSubstr("unknown key 'node'; did you mean 'nodes'?"));
  EXPECT_THAT(slurm_message("SwitchName=s\n"),
              HasSubstr("'s' must name either its Nodes or its Switches"));
  EXPECT_THAT(slurm_message("Rack=1\n"),
              HasSubstr("a line begins with SwitchName, BlockName or BlockSizes, not 'rack'"));
  EXPECT_THAT(slurm_message("SwitchName= Nodes=a\n"), HasSubstr("'SwitchName=' is no 'Key=value'"));
  EXPECT_THAT(slurm_message("# nothing\n"), HasSubstr("no 'SwitchName=' and no 'BlockName=' line"));
}

}  // namespace
}  // namespace headway::import
