// Runs the built program and keeps what it printed.
#pragma once

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <stdlib.h>
#include <string>
#include <sys/wait.h>

namespace headway::apps {

struct Outcome {
  int code = -1;
  std::string out, err;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A test with an empty folder of its own, in which the program runs.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    std::string pattern = testing::TempDir() + "/headway-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }

  /// @param arguments  as a shell reads them; `before` is put in front, such as "VARIABLE=value"
  Outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string command = "cd '" + folder_.string() + "' && " + before +
                                " '" HEADWAY_PROGRAM "' " + arguments + " >.out 2>.err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder_ / ".out"),
            read_file(folder_ / ".err")};
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    return read_file(folder_ / name);
  }
  [[nodiscard]] bool exists(const std::string& name) const {
    return std::filesystem::exists(folder_ / name);
  }

  /// 16 GPUs, one step; `more` is appended.
  void write_small(const std::string& name, const std::string& more = "") const {
    write(name,
          "headway: 1\n"
          "name: Small\n"
          "cluster:\n"
          "  nodes: 2\n"
          "  node: {use: dgx-h100}\n"
          "  fabric: {use: rail-optimized-ndr}\n"
          "  storage: {use: lustre}\n"
          "model: {use: llama-3.1-8b}\n"
          "training: {sequence_length: 4096, global_batch: 32}\n"
          "parallelism: {tensor: 2, pipeline: 2, data: auto}\n" +
              more);
  }

  std::filesystem::path folder_;
};

}  // namespace headway::apps
