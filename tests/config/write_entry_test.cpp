#include "sim/config/write_entry.h"

#include <gmock/gmock.h>

#include "sim/config/kind_of_text.h"
#include "sim/config/load.h"

#include "tests/config/test_files.h"

namespace headway::config {
namespace {

const std::filesystem::path kSources = std::filesystem::path(HEADWAY_SOURCE_DIR) / "configs";

TEST(KindOfText, IsToldFromTheRequiredKeys) {
  EXPECT_EQ(kind_of_text("name: a\ntopology: fat_tree\nlink_bandwidth: 400 Gbps\n"), "fabrics");
  EXPECT_EQ(kind_of_text("name: a\ntopology: fat_tree\n"), "scenarios");
  EXPECT_EQ(kind_of_text("# a: b\nname: a\n"), "scenarios");
  EXPECT_EQ(kind_of_text("headway: 1\nname: a\ntopology: x\nlink_bandwidth: 1\n"), "scenarios");
  EXPECT_EQ(kind_of_text("nodes: 1\nnode: {}\nfabric: {}\nstorage: {}\n"), "clusters");
  // A kind without required keys: the one that knows them all.
  EXPECT_EQ(kind_of_text("name: a\ncollectives: []\nsource: b\n"), "calibrations");
  EXPECT_EQ(kind_of_text("name: a\ncollectives: []\ncluster: {}\n"), "scenarios");
}

TEST(WriteEntry, FabricsReadBackEqual) {
  test_files::Folder folder;
  for (const auto& entry : list_entries("fabrics", {kSources})) {
    const auto fabric = load_entry<network::FabricSpec>(entry.path, {{kSources}, {}}).spec;
    const auto path = folder.write("fabrics/a.yaml", write_fabric(fabric));
    EXPECT_EQ(load_entry<network::FabricSpec>(path, {{kSources}, {}}).spec, fabric) << entry.name;
  }
}

TEST(WriteEntry, NodesReadBackEqualAndNameTheirGpu) {
  test_files::Folder folder;
  const auto node =
      load_entry<training::NodeSpec>(kSources / "nodes/dgx-h100.yaml", {{kSources}, {}}).spec;
  const std::string text = write_node(node, "h100-sxm");
  EXPECT_THAT(text, ::testing::HasSubstr("gpu:\n  use: h100-sxm\n"));
  EXPECT_EQ(kind_of_text(text), "nodes");
  const auto path = folder.write("nodes/a.yaml", text);
  EXPECT_EQ(load_entry<training::NodeSpec>(path, {{kSources}, {}}).spec, node);
}

TEST(WriteEntry, CalibrationProfilesReadBackEqual) {
  test_files::Folder folder;
  for (const auto& entry : list_entries("calibrations", {kSources})) {
    auto profile = load_entry<training::CalibrationSpec>(entry.path, {{kSources}, {}}).spec;
    profile.storage = training::MeasuredStorage{core::BytesPerSecond(7e9), {}, core::Seconds(2e-3)};
    profile.figures.push_back({"storage.latency", 2e-3, "s", 1e-4, 0.05, 9, 1});
    profile.circumstances = {"device: NVIDIA \"H100\""};
    const std::string text = write_calibration(profile);
    EXPECT_EQ(kind_of_text(text), "calibrations");
    const auto path = folder.write("calibrations/a.yaml", text);
    EXPECT_EQ(load_entry<training::CalibrationSpec>(path, {{kSources}, {}}).spec, profile)
        << entry.name;
  }
}

}  // namespace
}  // namespace headway::config
