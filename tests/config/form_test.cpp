#include "sim/config/form/form.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/config/suggestions/suggest.h"
#include "sim/training/check.h"

#include "tests/config/test_files.h"

namespace headway::config {
namespace {

using nlohmann::json;
using test_files::Folder;
using test_files::kScenario;

EditedScenario edited(std::vector<std::string> set = {},
                      std::string text = std::string(kScenario)) {
  return {std::move(text), "s.yaml", {{}, std::move(set)}};
}

/// The complaints about a scenario, each with its field.
std::vector<std::string> fields_complained_about(const EditedScenario& scenario) {
  std::vector<std::string> fields;
  try {
    const auto loaded = load_scenario_text(scenario.text, scenario.file_name, scenario.options);
    training::check(loaded.scenario, loaded.marks);
  } catch (const core::Error& error) {
    for (const auto& each : error.diagnostics()) {
      fields.push_back(each.mark ? field_of(scenario, *each.mark) : "no mark");
    }
  }
  return fields;
}

const json& field_at(const json& form, const std::string& type, const std::string& key) {
  for (const auto& field : form["types"][type]["fields"]) {
    if (field["key"] == key) {
      return field;
    }
  }
  throw std::out_of_range(key);
}

TEST(Form, HasEveryKeyOfAScenario) {
  const json form = json::parse(form_json({"configs"}));
  const auto count = [&](const auto& self, const std::string& type) -> std::size_t {
    std::size_t keys = 0;
    for (const auto& field : form["types"][type]["fields"]) {
      keys += 1 + (field["shape"] == "record" ? self(self, field["type"]) : 0);
    }
    return keys;
  };
  std::size_t known = 0;
  for (const auto& key : scenario_keys()) {
    // What is inside the items of a list stands in the text.
    known += key.path.find("[].") == std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(count(count, form["root"]), known);
}

TEST(Form, SaysWhatAFieldTakes) {
  const json form = json::parse(form_json({"configs"}));
  const json& nodes = field_at(form, "ClusterSpec", "nodes");
  EXPECT_EQ(nodes["shape"], "integer");
  EXPECT_EQ(nodes["low"], 1);
  const json& memory = field_at(form, "GpuSpec", "memory");
  EXPECT_EQ(memory["required"], true);
  EXPECT_EQ(form["units"][memory["unit"].get<std::string>()].dump().find("Gbps"),
            std::string::npos);
  EXPECT_EQ(field_at(form, "ParallelismSpec", "schedule")["words"][0], "gpipe");
  EXPECT_EQ(field_at(form, "ParallelismSpec", "data")["auto"], true);
  EXPECT_EQ(field_at(form, "ParallelismSpec", "data")["default"], "auto");
  const auto gpus = form["catalogue"]["gpus"].get<std::vector<std::string>>();
  EXPECT_NE(std::find(gpus.begin(), gpus.end(), "h100-sxm"), gpus.end());
}

TEST(Form, ValuesAreThoseOfTheScenarioAsFilesWriteThem) {
  const auto loaded = load_scenario_text(kScenario, "s.yaml", {});
  const json values = json::parse(values_json(loaded.scenario));
  EXPECT_EQ(values["cluster"]["node"]["gpu"]["memory"], "80 GiB");
  EXPECT_EQ(values["parallelism"]["data"], "auto");
  EXPECT_EQ(values["run"]["failures"]["hazards"][1]["name"], "b");
  EXPECT_FALSE(values.contains("claim") && values["claim"].contains("mfu")) << "nobody wrote it";
}

TEST(Form, LongListsAreCounted) {
  std::string hazards = "run.failures.hazards=[";
  for (int i = 0; i < 41; ++i) {
    hazards += "{name: h" + std::to_string(i) + ", component: gpu, mtbf: 3 years},";
  }
  const auto loaded = load_scenario_text(kScenario, "s.yaml", {{}, {hazards + "]"}});
  EXPECT_EQ(json::parse(values_json(loaded.scenario))["run"]["failures"]["hazards"], 41);
}

TEST(Form, AComplaintIsAboutItsField) {
  EXPECT_EQ(fields_complained_about(edited({"cluster.node.gpu.memory=400", "run.trials=0"})),
            (std::vector<std::string>{"cluster.node.gpu.memory", "run.trials"}));
  // Written in the text, in a flow mapping and as an item of a list.
  std::string text(kScenario);
  text.replace(text.find("layers: 4"), 9, "layers: 0");
  text.replace(text.find("count: 7"), 8, "count: -1");
  EXPECT_EQ(fields_complained_about(edited({}, text)),
            (std::vector<std::string>{"model.layers", "run.failures.hazards[1].count"}));
}

TEST(Form, ARuleAcrossFieldsIsAboutTheFieldThatBreaksIt) {
  const auto fields = fields_complained_about(edited({"parallelism.tensor=3"}));
  EXPECT_NE(std::find(fields.begin(), fields.end(), "parallelism.tensor"), fields.end());
}

TEST(Form, WhatIsOfNoFieldSaysSo) {
  core::SourceMark other{"other.yaml", 3, 1, 1, "x"};
  EXPECT_EQ(field_of(edited(), other), "");
  core::SourceMark whole{"s.yaml", 0, 0, 1, ""};
  EXPECT_EQ(field_of(edited(), whole), "");
  core::SourceMark broken{"s.yaml", 2, 1, 1, ""};
  EXPECT_EQ(field_of(edited({}, "a: [1\nb: 2\n"), broken), "") << "no YAML, no fields";
}

TEST(Form, ChangesAreWrittenIntoTheText) {
  const auto scenario = edited({"parallelism.tensor=4", "cluster.node.gpu.memory=94 GiB"});
  const std::string text = changed_text(scenario);
  EXPECT_EQ(load_scenario_text(text, "s.yaml").scenario,
            load_scenario_text(kScenario, "s.yaml", scenario.options).scenario);
  EXPECT_EQ(changed_text(edited()), kScenario) << "without changes to the last comment";
  const auto indexed = edited({"run.failures.hazards[1].count=9"});
  EXPECT_EQ(
      load_scenario_text(changed_text(indexed), "s.yaml").scenario.run.failures->hazards[1].count,
      9);
}

TEST(Form, KnowsWhatIsUsedAndKeepsIt) {
  const auto use = [](std::vector<std::string> set) {
    return EditedScenario{
        "headway: 1\nname: U\ncluster: {nodes: 2, node: {use: dgx-h100}, fabric: {use: "
        "rail-optimized-ndr}, storage: {use: lustre}}\nmodel: {use: llama-3.1-8b}\ntraining: "
        "{sequence_length: 4096, "
        "global_batch: 32}\n",
        "s.yaml",
        {{"configs"}, std::move(set)}};
  };
  EXPECT_EQ(used_entries(use({})).at("cluster.node"), "dgx-h100");
  EXPECT_EQ(used_entries(use({"cluster.node.use=dgx-h200"})).at("cluster.node"), "dgx-h200");
  EXPECT_NE(changed_text(use({"cluster.node.use=dgx-h200"})).find("use: dgx-h200"),
            std::string::npos);
}

}  // namespace
}  // namespace headway::config
