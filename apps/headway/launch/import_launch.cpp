#include "apps/headway/launch/import_launch.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "sim/config/launch/launch_scenario.h"
#include "sim/core/shown_text.h"
#include "sim/import/text_file.h"
#include "sim/training/check.h"

#include "apps/headway/output.h"
#include "apps/headway/starter/starter.h"

namespace headway::apps {

namespace {

/// The line or block behind "cluster:".
std::string cluster_text(const LaunchArguments& given, import::LaunchImport& found) {
  std::string entry;
  int in_node = 0;
  std::string text;
  if (!given.cluster.empty()) {
    entry = entry_of("clusters", given.cluster).name;
    const auto path = entry_of("clusters", given.cluster).path;
    in_node = std::stoi(config::entry_values(path, {"node.gpus"}, {config_roots(), {}})[0]);
  } else {
    const Server server = server_with(given.gpu.empty() ? "h100-sxm" : given.gpu);
    in_node = server.gpus;
    text = fmt::format(
        "\n  node: {{use: {}}}\n  fabric: {{use: rail-optimized-ndr, link_bandwidth: "
        "{}}}\n  storage: {{use: lustre}}",
        server.entry, server.card);
    found.assumptions.push_back(
        fmt::format("the cluster: {} on rail-optimized-ndr with lustre (--gpu ENTRY, --cluster "
                    "ENTRY)",
                    server.entry));
  }
  if (!entry.empty()) {
    text = "\n  use: " + entry;
  }
  const std::int64_t gpus = found.run.gpus;
  if (gpus % in_node != 0) {
    throw core::Error(
        fmt::format("{}: {} GPUs do not fill nodes of {}; name other nodes (--gpu, "
                    "--cluster) or another number of GPUs (--gpus)",
                    given.file, gpus, in_node));
  }
  const int said = found.run.gpus_per_node;
  if (said > 0 && said != in_node) {
    found.assumptions.push_back(
        fmt::format("nodes of {} GPUs, where the file starts {} processes a node", in_node, said));
  }
  return gpus == 0 ? text : fmt::format("\n  nodes: {}{}", gpus / in_node, text);
}

/// Names the model: the entry that was given, the file's own, or one that is equal.
void name_model(const LaunchArguments& given,
                import::LaunchImport& found,
                config::LaunchFrame& frame) {
  workload::ModelSpec& model = found.run.model;
  std::string entry = given.model.empty() ? found.run.model_entry : given.model;
  if (entry.empty() && model.layers > 0) {
    entry = config::model_entry_like(model, config_roots());
  }
  const bool named = !entry.empty();
  if (named) {
    const NamedModel known = named_model(entry);
    import::LaunchRun same;
    same.model = known.spec;
    frame.model_entry = known.entry;
    frame.model = known.entry.empty() ? workload::ModelSpec{} : import::normalised(same).model;
    if (model.layers == 0) {
      model = import::normalised(same).model;
    }
    model.name = known.name;
  }
  if (!named && model.layers > 0) {
    model.name = frame.name;
  }
}

/// Complaints of the scenario's own rules, at the lines of the launch file, or at the file where
/// what is complained of is a default.
void check_scenario(const std::string& text,
                    const import::LaunchImport& found,
                    const std::string& file) {
  const auto loaded = config::load_scenario_text(text, "scenario.yaml", {config_roots(), {}});
  auto marks = found.marks;
  marks.try_emplace("", core::SourceMark{.file = file, .text = {}});
  training::check(loaded.scenario, marks);
}

std::string comment(const std::string& title, const std::vector<std::string>& list) {
  std::string out = list.empty() ? "" : "# " + title + "\n";
  for (const std::string& item : list) {
    std::string line = core::visible(item);
    std::ranges::replace(line, '\n', ' ');
    out += "#   " + line + "\n";
  }
  return out;
}

}  // namespace

std::vector<std::string> launch_formats() {
  std::vector<std::string> list;
  for (const import::LaunchTable* table : import::launch_tables()) {
    if (!table->format.empty()) {
      list.emplace_back(table->format);
    }
  }
  return list;
}

std::string launch_text(const LaunchArguments& given, const CommonOptions& options) {
  const auto tables = import::launch_tables();
  const import::LaunchTable& table =
      **std::ranges::find(tables, given.format, &import::LaunchTable::format);
  config::LaunchFrame frame;
  frame.framework_entry =
      entry_of("frameworks",
               given.framework.empty() ? std::string(table.framework) : given.framework)
          .name;
  frame.framework = config::load_entry<workload::FrameworkSpec>(
                        entry_of("frameworks", frame.framework_entry).path, {config_roots(), {}})
                        .spec;
  frame.name = given.name.empty() ? core::visible(std::filesystem::path(given.file).stem().string())
                                  : given.name;
  import::LaunchRun start;
  start.training.framework = frame.framework;
  start.gpus = given.gpus;
  std::vector<std::string> of_model;
  if (!given.model.empty()) {
    NamedModel known = named_model(given.model);
    start.model = std::move(known.spec);
    of_model = std::move(known.remarks);
  }
  start.training.sequence_length = given.sequence_length;
  const auto settings =
      config::read_launch_settings(table.syntax, import::read_input(given.file), given.file);
  import::LaunchImport found = import::read_launch(table, settings, start);
  if (start.model.layers == 0 && !found.run.model_entry.empty()) {
    // Its layers decide how stages are filled.
    start.model = named_model(found.run.model_entry).spec;
    found = import::read_launch(table, settings, start);
  }
  found.remarks.insert(found.remarks.end(), of_model.begin(), of_model.end());
  found.assumptions.push_back(
      fmt::format("the software is '{}' (--framework ENTRY)", frame.framework_entry));
  name_model(given, found, frame);
  frame.cluster = cluster_text(given, found);
  const std::string text = config::launch_scenario_text(found.run, frame);
  if (found.missing.empty()) {
    check_scenario(text, found, given.file);
  }
  const struct {
    const char* title;
    const std::vector<std::string>& list;
  } parts[]{{"To be added before this is a scenario:", found.missing},
            {"Not known, so not read:", found.unknown},
            {"Known, and not modelled:", found.not_modelled},
            {"Remarks:", found.remarks},
            {"Assumed, because the file does not say:", found.assumptions}};
  std::string heading =
      fmt::format("# Imported from {} ({}).\n", core::visible(given.file), given.format);
  std::ranges::replace(heading.begin(), heading.end() - 1, '\n', ' ');
  for (const auto& [title, list] : parts) {
    heading += comment(title, list);
    for (const std::string& item : list) {
      remark(options, fmt::format("{} {}", title, item));
    }
  }
  return heading + text;
}

}  // namespace headway::apps
