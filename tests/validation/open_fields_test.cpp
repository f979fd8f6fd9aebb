// What fields cost that a row leaves open: blanks of rows that state them.
#include "sim/validation/compared/open_fields.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using import::CsvTable;

constexpr const char* kOpenFields = HEADWAY_SOURCE_DIR "/configs/validation/open_fields.csv";

CsvTable published_table(const std::string& name) {
  const std::string path = HEADWAY_SOURCE_DIR "/configs/validation/" + name;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return CsvTable(text.str(), path);
}

std::vector<BlankedRow> blanked_rows() {
  const CsvTable fitted = published_table("training_runs.csv");
  const CsvTable unfitted = published_table("training_runs_unfitted.csv");
  return blank_rows({&fitted, &unfitted}, catalogue());
}

void write_open_fields(const std::vector<OpenField>& fields) {
  std::ofstream file(kOpenFields);
  file << "field,kind,sources,moving,rows,moved,error,half_distance\n";
  for (const OpenField& f : fields) {
    file << fmt::format("{},{},{},{},{},{:.3f},{:.3f},{:.3f}\n", f.field,
                        f.mixture ? "mixture" : "dense", f.sources, f.moving, f.rows, f.moved,
                        f.error, f.half_distance);
  }
}

// The costs that widen intervals are those of the rows at hand: half a point, or a twentieth.
TEST(OpenFields, CostWhatBlanksOfPublishedRunsMove) {
  const auto now = open_fields(blanked_rows());
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    write_open_fields(now);
  }
  const auto before = load_open_fields({HEADWAY_SOURCE_DIR "/configs"});
  ASSERT_EQ(before.size(), now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_EQ(before[i].field, now[i].field);
    EXPECT_EQ(before[i].mixture, now[i].mixture) << now[i].field;
    EXPECT_EQ(before[i].sources, now[i].sources) << now[i].field;
    EXPECT_EQ(before[i].moving, now[i].moving) << now[i].field;
    EXPECT_EQ(before[i].rows, now[i].rows) << now[i].field;
    EXPECT_NEAR(before[i].error, now[i].error, std::max(0.005, 0.05 * now[i].error))
        << now[i].field;
    EXPECT_NEAR(before[i].half_distance, now[i].half_distance,
                std::max(0.005, 0.05 * now[i].half_distance))
        << now[i].field;
  }
}

BlankedRow blanked_row(const std::string& source, double error, double half_distance = 0) {
  return {source, source + "-1", "vpp", false, error, half_distance};
}

// a: (0.3^2 + 0.1^2) / 2 = 0.05, b: 0.01; sources count the same: (0.05 + 0.01) / 2 = 0.03. Half
// distances: (0.04 + 0) / 2 = 0.02.
TEST(OpenFields, CountSourcesAlike) {
  const auto fields =
      open_fields({blanked_row("a", 0.3, 0.2), blanked_row("a", -0.1, 0.2), blanked_row("b", 0.1)});
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_EQ(fields[0].sources, 2);
  EXPECT_EQ(fields[0].moving, 2);
  EXPECT_EQ(fields[0].rows, 3);
  EXPECT_NEAR(fields[0].error, std::sqrt(0.03), 1e-12);
  EXPECT_NEAR(fields[0].half_distance, std::sqrt(0.02), 1e-12);
  EXPECT_NEAR(reading_share(fields, "vpp", false), std::sqrt(1.5), 1e-12);
}

// Of five sources the largest counts as the next: squares 0, 0, 0, 0.01 and 0.01 in place of 1.
TEST(OpenFields, AreNotDecidedByOneSource) {
  const auto fields = open_fields({blanked_row("a", 0), blanked_row("b", 0), blanked_row("c", 0),
                                   blanked_row("d", 0.1), blanked_row("e", 1)});
  EXPECT_NEAR(fields.at(0).error, std::sqrt(0.02 / 5), 1e-12);
}

// One source says nothing: the other kind of model stands in, or nobody.
TEST(OpenFields, NeedTwoSources) {
  const std::vector<OpenField> known{{"vpp", false, 3, 3, 9, 1, 0.1, 0.2},
                                     {"vpp", true, 1, 1, 1, 1, 0.5, 0.5},
                                     {"era", true, 1, 1, 1, 1, 0.5, 0}};
  EXPECT_EQ(open_error(known, "vpp", true), 0.1);
  EXPECT_EQ(reading_share(known, "vpp", true), 0.5);
  EXPECT_FALSE(open_error(known, "era", false).has_value());
  EXPECT_EQ(reading_share(known, "era", true), 1);
}

// Where nothing moves, or rows of one source only, nearly all rows state what is usual: the other
// kind stands in if it is larger; else the whole half distance, or the smallest cost measured.
TEST(OpenFields, ThatMoveNothingAreNotFree) {
  const std::vector<OpenField> known{{"network", false, 3, 3, 9, 1, 0.04, 0},
                                     {"network", true, 3, 0, 9, 0, 0, 0},
                                     {"gated_mlp", false, 9, 1, 90, 0.1, 0, 0},
                                     {"tp_comm_overlap", false, 2, 0, 9, 0, 0, 0.06},
                                     {"micro_batch", false, 9, 9, 90, 1, 0.08, 0.08},
                                     {"micro_batch", true, 3, 1, 9, 0.3, 0.3, 0.1},
                                     {"vocab", true, 2, 2, 9, 1, 0.02, 0}};
  EXPECT_EQ(open_error(known, "network", true), 0.04);
  EXPECT_EQ(open_error(known, "gated_mlp", true), 0.02);
  EXPECT_EQ(open_error(known, "gated_mlp", false), 0.02);
  EXPECT_EQ(reading_share(known, "tp_comm_overlap", false), 1);
  EXPECT_EQ(reading_share(known, "tp_comm_overlap", true), 1);
  EXPECT_EQ(open_error(known, "micro_batch", true), 0.3);
  EXPECT_NEAR(reading_share(known, "micro_batch", true), 3, 1e-12);
  EXPECT_EQ(reading_share(known, "micro_batch", false), 1);
}

}  // namespace
}  // namespace headway::validation
