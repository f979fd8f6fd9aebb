#include "sim/config/launch/launch_file.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/config/launch/launch_cluster.h"
#include "sim/config/launch/launch_scenario.h"
#include "sim/config/load.h"
#include "sim/training/refusals.h"

namespace headway::config {

namespace {

/// Whether the framework has a name for the model.
bool names_model(const std::vector<import::LaunchLine>& lines) {
  return std::ranges::any_of(lines, [](const auto& line) { return line.section == "model"; });
}

/// What the settings lose, found by reading them again.
std::vector<std::string> losses(const import::LaunchTable& table,
                                const import::LaunchRun& run,
                                const std::vector<import::LaunchLine>& lines) {
  std::vector<std::string> out;
  if (table.model == import::LaunchModel::by_name && !names_model(lines)) {
    out.push_back(
        fmt::format("model is '{}', which {} has no name for", run.model.name, table.name));
  }
  for (const auto& [path, asked, said] : unsaid(table, run)) {
    out.push_back(table.format.empty()
                      ? fmt::format("{} is {}", path, asked)
                      : fmt::format("{} is {}, and this file is read as {}", path, asked, said));
  }
  if (table.remarks != nullptr) {
    for (std::string& remark : table.remarks(run, lines)) {
      out.push_back(std::move(remark));
    }
  }
  return out;
}

/// The software that the file starts: the scenario's own, or the entry of the catalogue.
workload::FrameworkSpec started_by(const import::LaunchTable& table,
                                   const training::Scenario& scenario,
                                   const std::vector<std::filesystem::path>& roots) {
  const workload::FrameworkSpec& own = scenario.training.framework;
  if (core::to_word(own.launch_file) == table.name) {
    return own;
  }
  const auto entries = list_entries("frameworks", roots);
  const auto entry = std::ranges::find(entries, table.framework, &CatalogueEntry::name);
  return entry == entries.end()
             ? own
             : load_entry<workload::FrameworkSpec>(entry->path, {roots, {}}).spec;
}

}  // namespace

LaunchFile launch_file(const import::LaunchTable& table,
                       const training::CheckedScenario& checked,
                       const std::string& head,
                       const std::vector<std::filesystem::path>& roots) {
  import::LaunchRun run = run_of(checked);
  if (table.model == import::LaunchModel::by_name) {
    run.model_entry = model_entry_like(run.model, roots);
  }
  const auto lines = import::write_launch(table, run);
  LaunchFile file;
  file.lost = losses(table, run, lines);
  for (std::string& of_cluster : cluster_losses(checked)) {
    file.lost.push_back(std::move(of_cluster));
  }
  const training::Scenario& s = checked.scenario();
  if (const auto refused = training::refusal(started_by(table, s, roots), s, s.parallelism,
                                             checked.micro_batches())) {
    file.lost.push_back("that it starts: " + refused->text);
  }
  std::vector<std::string> comments{head + ".", fmt::format("Left to you: {}.", table.left_to_you)};
  if (!file.lost.empty()) {
    comments.emplace_back("What these settings cannot say:");
    for (const std::string& line : file.lost) {
      comments.push_back("  " + line);
    }
  }
  file.text = import::launch_text(table.syntax, lines, comments);
  return file;
}

const import::LaunchTable* launch_table_named(std::string_view name) {
  const auto tables = import::launch_tables();
  const auto found = std::ranges::find(tables, name, &import::LaunchTable::name);
  return found == tables.end() ? nullptr : *found;
}

std::string launch_extension(import::LaunchSyntax syntax) {
  switch (syntax) {
    case import::LaunchSyntax::shell:
      return ".sh";
    case import::LaunchSyntax::toml:
      return ".toml";
    case import::LaunchSyntax::json:
      return ".json";
    case import::LaunchSyntax::yaml:
      break;
  }
  return ".yaml";
}

}  // namespace headway::config
