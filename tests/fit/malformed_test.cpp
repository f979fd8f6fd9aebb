// Every broken measurement under tests/golden/measurements is refused with the text beside it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/gzip.h"
#include "sim/import/measured/nccl_tests_json.h"

#include "calibrate/fit/import_samples.h"
#include "tests/import/read_file.h"

namespace headway::fit {
namespace {

namespace fs = std::filesystem;

/// The complaint about one file, by the format in its name; empty if it was read.
std::string complaint_about(const fs::path& path) {
  const std::string file = path.filename().string();
  const auto is = [&](const char* format) { return file.find(format) != std::string::npos; };
  try {
    std::string text = import::text_of(path.string());
    if (import::is_gzip(text)) {
      text = import::gunzip(text, file);
    }
    if (is(".log")) {
      from_nccl_tests(import::read_nccl_tests_log(text, file), file, {});
    } else if (is(".nccl.json")) {
      from_nccl_tests(import::read_nccl_tests_json(text, file), file, {});
    } else if (is(".fio.json")) {
      from_fio(import::read_fio_json(text, file), file);
    } else if (is(".gemm.csv")) {
      from_gemm_csv(import::CsvTable(text, file));
    } else if (is(".torch.json")) {
      from_torch_profile(import::read_torch_profile(text, file), file, {});
    }
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

std::vector<fs::path> cases() {
  std::vector<fs::path> paths;
  for (const auto& entry :
       fs::directory_iterator(fs::path(HEADWAY_SOURCE_DIR) / "tests/golden/measurements")) {
    if (entry.path().extension() != ".txt" && entry.path().extension() != ".md") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(Malformed, EveryBrokenFileIsRefusedToTheLetter) {
  const bool update =
      std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr;  // NOLINT(concurrency-mt-unsafe): one thread
  const auto paths = cases();
  EXPECT_GE(paths.size(), 10U);
  for (const auto& path : paths) {
    const std::string said = complaint_about(path);
    EXPECT_FALSE(said.empty()) << path << " was accepted";
    const std::string golden = path.string() + ".txt";
    if (update) {
      std::ofstream(golden) << said;
    }
    EXPECT_EQ(said, import::text_of(golden)) << path;
  }
}

}  // namespace
}  // namespace headway::fit
