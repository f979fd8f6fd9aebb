// What rows were predicted from, as digests: the same wherever it lies, another where a byte is.
#include "sim/validation/read_inputs.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace headway::validation {
namespace {

namespace fs = std::filesystem;

class ReadInputsTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text;
  }
  [[nodiscard]] std::uint64_t digest(const std::string& root) const {
    return catalogue_input({folder_ / root}).digest;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "headway_read_inputs";
};

TEST_F(ReadInputsTest, TheCatalogueIsTheSameWhereverItLies) {
  for (const char* root : {"a", "b"}) {
    write(fs::path(root) / "gpus/x.yaml", "name: x\n");
    write(fs::path(root) / "validation/runs.csv", "id\n1\n");
  }
  write("b/README.md", "said of entries, and no entry");
  EXPECT_EQ(digest("a"), digest("b"));
  EXPECT_EQ(catalogue_input({folder_ / "a"}).name, "catalogue");
}

TEST_F(ReadInputsTest, AnotherByteNameOrFileIsAnotherCatalogue) {
  write("a/gpus/x.yaml", "name: x\n");
  const auto before = digest("a");
  write("a/gpus/x.yaml", "name: y\n");
  const auto changed = digest("a");
  EXPECT_NE(changed, before);
  fs::rename(folder_ / "a/gpus/x.yaml", folder_ / "a/gpus/y.yaml");
  const auto renamed = digest("a");
  EXPECT_NE(renamed, changed);
  write("a/gpus/z.yaml", "");
  EXPECT_NE(digest("a"), renamed);
}

TEST(ReadInputs, ATableIsItsText) {
  EXPECT_EQ(table_input("a.csv", "id\n1\n").digest, table_input("b.csv", "id\n1\n").digest);
  EXPECT_NE(table_input("a.csv", "id\n1\n").digest, table_input("a.csv", "id\n2\n").digest);
  EXPECT_EQ(table_input("a.csv", "").name, "a.csv");
}

}  // namespace
}  // namespace headway::validation
