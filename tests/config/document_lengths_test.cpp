// Lengths of packed documents in a file beside the scenario.
#include "sim/import/document_lengths.h"

#include <gmock/gmock.h>

#include "sim/config/load.h"
#include "sim/core/error.h"

#include "tests/config/test_files.h"

namespace headway::config {
namespace {

using workload::DocumentLength;

std::string refusal_of_lengths(const std::string& text) {
  try {
    import::read_document_lengths(text, "l.csv");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(DocumentLengths, AreATableOrAList) {
  const std::vector<DocumentLength> expected{{512, 60}, {4096, 3.5}};
  EXPECT_EQ(import::read_document_lengths("# made up\ntokens,share\n4096,3.5\n512,60\n", "l.csv"),
            expected);
  EXPECT_EQ(import::read_document_lengths("count,length\n3.5,4096\n60,512\n", "l.csv"), expected);
  // One document a line: 100 twice, 2,000 once.
  EXPECT_EQ(import::read_document_lengths("100\n2000\n100\n", "l.csv"),
            (std::vector<DocumentLength>{{100, 2}, {2000, 1}}));
}

TEST(DocumentLengths, StandInAFileBesideTheScenario) {
  const test_files::Folder folder;
  (void)folder.write("lengths.csv", "tokens,share\n4096,3.5\n512,60\n");
  (void)folder.write("base/base.yaml", test_files::kScenario);
  const auto file =
      folder.write("s.yaml", "use: ./base/base.yaml\ntraining: {documents: lengths.csv}\n");
  const auto loaded = load_scenario(file);
  EXPECT_EQ(loaded.scenario.training.documents,
            (std::vector<DocumentLength>{{512, 60}, {4096, 3.5}}));
  // The digest is that of the lengths, and the source that of the file.
  EXPECT_THAT(loaded.canonical_text, testing::HasSubstr("tokens: 4096"));
  EXPECT_EQ(find_source(loaded.sources, "training.documents"),
            (folder.path() / "lengths.csv").string());
  EXPECT_THROW(load_scenario(folder.write("t.yaml",
                                          "use: ./base/base.yaml\n"
                                          "training: {documents: none.csv}\n")),
               core::Error);
  EXPECT_THROW(load_scenario(folder.write("u.yaml",
                                          "use: ./base/base.yaml\n"
                                          "training: {documents: /etc/passwd}\n")),
               core::Error);
}

TEST(DocumentLengths, ThatAreNoneAreRefusedWithTheirLine) {
  EXPECT_THAT(refusal_of_lengths("100\n0\n"),
              testing::HasSubstr("l.csv:2: tokens '0' must be from 1 to"));
  EXPECT_THAT(refusal_of_lengths("tokens,share\n100,1\n200,-1\n"),
              testing::HasSubstr("l.csv:3: share '-1' must be above 0"));
  EXPECT_THAT(refusal_of_lengths("size\n100\n"), testing::HasSubstr("in a column 'tokens'"));
  EXPECT_THAT(refusal_of_lengths("tokens\n"), testing::HasSubstr("0 lengths of documents"));
}

}  // namespace
}  // namespace headway::config
