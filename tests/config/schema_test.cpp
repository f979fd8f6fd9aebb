#include "sim/config/schema.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "sim/config/load.h"

#include "tests/config/test_files.h"

namespace headway::config {
namespace {

namespace fs = std::filesystem;

/// The committed text of `path`, after writing `current` there if the user asks for an update.
std::string committed(const fs::path& path, const std::string& current) {
  if (std::getenv("HEADWAY_UPDATE_GOLDEN") !=
      nullptr) {  // NOLINT(concurrency-mt-unsafe): one thread
    std::ofstream(path, std::ios::binary) << current;
  }
  return test_files::text_of(path);
}

TEST(Schema, CommittedFilesAreCurrent) {
  const fs::path folder = fs::path(HEADWAY_SOURCE_DIR) / "configs/schema";
  for (const std::string& kind : catalogue_kinds()) {
    EXPECT_TRUE(committed(folder / (kind + ".json"), schema_of(kind)) == schema_of(kind))
        << "configs/schema/" << kind
        << ".json is not what the field lists say; run with HEADWAY_UPDATE_GOLDEN=1";
  }
}

TEST(Schema, SaysWhatAFieldIs) {
  const auto schema = nlohmann::json::parse(schema_of("nodes"));
  EXPECT_EQ(schema["$schema"], "http://json-schema.org/draft-07/schema#");
  const auto& node = schema["definitions"]["NodeSpec_complete"];
  EXPECT_EQ(node["additionalProperties"], false);
  EXPECT_EQ(node["required"], nlohmann::json::array({"name", "gpu", "gpus", "scale_up", "nic"}));
  EXPECT_EQ(node["properties"]["gpus"]["anyOf"][0]["minimum"], 1.0);
  EXPECT_EQ(node["properties"]["gpus"]["description"], "GPUs in the node.");
  EXPECT_EQ(node["properties"]["host_power"]["default"], "2 kW");
  const auto& scale_up = schema["definitions"]["ScaleUpSpec_complete"]["properties"];
  EXPECT_EQ(scale_up["kind"]["anyOf"][0]["enum"],
            nlohmann::json::array({"nvswitch", "mesh", "pcie"}));
}

TEST(Schema, RequiresNothingBesideUse) {
  const auto definitions = nlohmann::json::parse(schema_of("models"))["definitions"];
  EXPECT_EQ(definitions["ModelSpec"]["then"]["$ref"], "#/definitions/ModelSpec_overrides");
  EXPECT_FALSE(definitions["ModelSpec_overrides"].contains("required"));
  EXPECT_TRUE(definitions["ModelSpec_overrides"]["properties"].contains("huggingface"));
}

TEST(Schema, RefersOnlyToWhatItDefines) {
  for (const std::string& kind : catalogue_kinds()) {
    const std::string text = schema_of(kind);
    const auto definitions = nlohmann::json::parse(text)["definitions"];
    const std::string start = "\"#/definitions/";
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
      const auto from = at + start.size();
      EXPECT_TRUE(definitions.contains(text.substr(from, text.find('"', from) - from))) << kind;
    }
  }
}

TEST(Schema, RefusesAnUnknownKind) { EXPECT_THROW(schema_of("gpu"), core::Error); }

TEST(PythonClasses, AreOneDataclassASpec) {
  const std::string text = python_dataclasses();
  for (const char* line :
       {"class Scenario:", "class GpuSpec:", "    memory: str = NOT_GIVEN",
        "    data: int | Literal[\"auto\"] = NOT_GIVEN",
        "    hazards: Sequence[HazardSpec] = NOT_GIVEN", "    assert_: Sequence[str] = NOT_GIVEN",
        "    huggingface: str | None = None"}) {
    EXPECT_NE(text.find(std::string("\n") + line + "\n"), std::string::npos) << line;
  }
  // A class comes before the classes that hold it.
  EXPECT_LT(text.find("class GpuSpec:"), text.find("class NodeSpec:"));
}

}  // namespace
}  // namespace headway::config
