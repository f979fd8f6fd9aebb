// One list a result gives JSON, CSV, schema, definitions and the paths of `assert:`; here they are
// held together as they are printed.
#include "sim/report/result_types.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>

#include "sim/report/definitions.h"
#include "sim/report/python_results.h"
#include "sim/report/result_json.h"
#include "sim/study/verdict/assert.h"

#include "tests/report/defined_figures.h"

namespace headway::report {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void expect_committed(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
  }
  EXPECT_EQ(file_text(path), text) << "run with HEADWAY_UPDATE_GOLDEN=1 and look at the diff";
}

TEST(ResultSchemas, AreTheCommittedFiles) {
  const std::filesystem::path folder = "configs/schema";
  std::set<std::string> written;
  for (const ResultType& type : result_types()) {
    const auto path = folder / schema_file(type.schema);
    expect_committed(path, dump(schema_of_result(type.schema, type.specimen)));
    EXPECT_TRUE(written.insert(path.string()).second);
  }
}

TEST(PythonResults, AreTheCommittedFiles) {
  const std::filesystem::path folder = "python/headway";
  expect_committed(folder / "results.pyi", python_results_types());
  expect_committed(folder / "results.py", python_results_module());
}

/// The schema of what `path` leads to; null if the schema has no such figure.
Json in_schema(const Json& schema, std::string path) {
  path = std::regex_replace(path, std::regex(R"(\[\d+\])"), ".[]");
  std::stringstream steps(path);
  Json at = schema;
  for (std::string step; std::getline(steps, step, '.');) {
    if (step == "[]") {
      at = at.value("items", Json());
    } else if (at.contains("properties")) {
      at = at["properties"].value(step, Json());
    } else {
      at = at.value("additionalProperties", Json());
    }
    if (!at.is_object()) {
      return nullptr;
    }
  }
  return at;
}

/// "a.b[0].c" or what it is part of is defined; the object at the top of a section counts.
bool is_defined(std::string path, const std::set<std::string>& defined) {
  path = std::regex_replace(path, std::regex(R"(\[\d+\])"), "[]");
  while (!path.empty() && !defined.contains(path)) {
    const std::size_t cut = path.find_last_of(".[");
    path = cut == std::string::npos ? "" : path.substr(0, cut);
  }
  return !path.empty();
}

TEST(ResultTypes, EveryNumberIsInTheSchemaAndDefined) {
  const auto defined = defined_figures();
  for (const ResultType& type : result_types()) {
    const Json schema = schema_of_result(type.schema, type.specimen);
    const auto paths = core::number_paths(type.specimen);
    EXPECT_GT(paths.size(), 0U) << type.schema;
    for (const auto& path : paths) {
      const Json found = in_schema(schema, path);
      ASSERT_TRUE(found.is_object()) << type.schema << " " << path;
      const std::string kind = (found["type"].is_array() ? found["type"][0] : found["type"]);
      EXPECT_TRUE(kind == "number" || kind == "integer" || kind == "boolean") << path;
      EXPECT_TRUE(is_defined(path, defined)) << type.schema << " " << path;
    }
  }
}

TEST(ResultTypes, EveryNumberOfARunCanBeAsserted) {
  for (const auto& path : core::number_paths(result_types().front().specimen)) {
    EXPECT_NO_THROW(study::parse_assertions({path + " >= 0"})) << path;
  }
}

/// The unit that a key ends with; empty where it names none.
std::string unit_in(const std::string& key) {
  static const std::vector<std::pair<std::string, std::string>> endings{{"_per_s_per_gpu", "1/s"},
                                                                        {"tokens_per_s", "1/s"},
                                                                        {"bytes_per_s", "B/s"},
                                                                        {"_gpu_s", "GPU s"},
                                                                        {"_w_per_s", "W/s"},
                                                                        {"_w", "W"},
                                                                        {"_s", "s"},
                                                                        {"_us", "us"},
                                                                        {"_bytes", "B"},
                                                                        {"_usd", "USD"},
                                                                        {"_kwh", "kWh"},
                                                                        {"_kg", "kg"},
                                                                        {"_days", "d"},
                                                                        {"_gib", "GiB"}};
  for (const auto& [ending, unit] : endings) {
    if (key.ends_with(ending)) {
      return unit;
    }
  }
  return "";
}

void expect_units(const core::Figure& figure, const std::string& path) {
  const std::string unit = unit_in(figure.key);
  const bool has_number = figure.kind == core::FigureKind::number || !figure.parts.empty();
  if (!unit.empty() && has_number) {
    EXPECT_EQ(std::string(figure.unit), unit) << path;
  }
  for (const auto& part : figure.parts) {
    expect_units(part, path + "." + part.key);
  }
}

TEST(ResultTypes, KeysEndWithTheirUnits) {
  for (const ResultType& type : result_types()) {
    expect_units(type.specimen, std::string(type.schema));
  }
}

}  // namespace
}  // namespace headway::report
