// Files that a test writes, in a folder of its own that vanishes with it.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

namespace headway::config::test_files {

/// A correct scenario that uses no other file.
inline constexpr std::string_view kScenario = R"(headway: 1
name: Small
cluster:
  nodes: 4
  node:
    name: node
    gpu:
      name: gpu
      source: data sheet
      architecture: hopper
      peak: {bf16: 1000 TFLOP/s, fp16: 1000 TFLOP/s}
      memory: 80 GiB
      memory_bandwidth: {value: 3.35 TB/s, source: measured}
      power: 700 W
    gpus: 8
    scale_up: {kind: nvswitch, bandwidth: 450 GB/s}
    nic: {count: 8, bandwidth: 400 Gbps}
  fabric: {name: fabric, topology: fat_tree, link_bandwidth: 400 Gbps}
  storage: {name: storage, write_bandwidth: 100 GB/s, read_bandwidth: 100 GB/s}
model: {name: m, layers: 4, hidden: 512, heads: 8, key_value_heads: 8, head_dim: 64, ffn: 2048, vocabulary: 32000}
training: {sequence_length: 2048, global_batch: 64}
run:
  until: {tokens: 15.6e12}
  failures:
    name: f
    hazards:
      - {name: a, component: gpu, mtbf: 3 years}
      - {name: b, component: switch, per: job, count: 7}
)";

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A new empty folder under the system's temporary one.
class Folder {
 public:
  Folder() {
    std::random_device device;  // a name, not a draw of the model
    path_ = std::filesystem::temp_directory_path() / ("headway_config_" + std::to_string(device()));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// Writes a file and gives its path.
  [[nodiscard]] std::filesystem::path write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace headway::config::test_files
