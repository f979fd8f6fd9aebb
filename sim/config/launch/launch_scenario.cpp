#include "sim/config/launch/launch_scenario.h"

#include <algorithm>
#include <map>

#include "sim/config/reflect.h"
#include "sim/config/spec_type.h"
#include "sim/config/unit_text.h"
#include "sim/config/writer.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/number_formats.h"

namespace headway::config {

namespace {

using import::LaunchRun;
using import::LaunchSettings;

const SpecType& type_of_field(const SpecType& record, std::string_view name) {
  const auto found = std::ranges::find(record.fields, name, &Field::name);
  HEADWAY_CHECK(found != record.fields.end(), "no field '{}'", name);
  return *found->type;
}

Node plain(std::string text, bool quoted = false) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

/// The fields in which `tree` differs from `base`, with those that `keep` names; records inside are
/// treated alike.
Node differing(const Node& tree, const Node& base) {
  Node out = tree;
  out.entries.clear();
  for (const Entry& entry : tree.entries) {
    const Entry* other = base.find(entry.key);
    if (other == nullptr) {
      out.entries.push_back(entry);
    } else if (entry.value.is_mapping() && other->value.is_mapping()) {
      Node inner = differing(entry.value, other->value);
      if (!inner.entries.empty()) {
        out.entries.push_back({entry.key, {}, std::move(inner)});
      }
    } else if (!same_value(entry.value, other->value)) {
      out.entries.push_back(entry);
    }
  }
  return out;
}

/// What is written even where it is the default: what people look for first.
constexpr std::string_view kAlways[]{"precision", "tensor",   "pipeline",    "context",
                                     "data",      "sharding", "micro_batch", "recompute"};

/// `{use: entry}` and what differs from it; without an entry, what is required, looked for or
/// differs from the defaults.
Node laid_over(const SpecType& type,
               const void* value,
               const void* base,
               const std::string& entry) {
  const Node whole = to_tree(type, value, {});
  Node out = differing(whole, to_tree(type, base, {}));
  if (!entry.empty()) {
    out.entries.insert(out.entries.begin(), {"use", {}, plain(entry)});
    return out;
  }
  Node complete = out;
  complete.entries.clear();
  for (const Field& field : type.fields) {
    const Entry* own = whole.find(field.name);
    const Entry* differs = out.find(field.name);
    const bool always =
        field.required || std::ranges::find(kAlways, field.name) != std::end(kAlways);
    if (own != nullptr && (always || differs != nullptr)) {
      // A record that is required inside an optional one is written whole.
      complete.entries.push_back(*own);
    }
  }
  return complete;
}

/// What a checkpoint holds of a parameter: the weight that is multiplied and, unless the run saves
/// weights alone, the optimizer's state.
double checkpoint_bytes(const import::LaunchRun& run) {
  const bool weights_only = run.saves && run.saves->weights_only;
  return workload::element_bytes(run.training.precision) +
         (weights_only ? 0 : workload::mean_optimizer_bytes(run.model, run.training));
}

std::string mode_of(const import::LaunchSaves& saves) {
  return std::string(core::to_word(saves.asynchronous ? storage::CheckpointMode::asynchronous
                                                      : storage::CheckpointMode::synchronous));
}

/// Dotted paths and texts of all values.
void flatten(const Node& node, const std::string& path, std::map<std::string, std::string>& out) {
  for (const Entry& entry : node.entries) {
    flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, out);
  }
  if (node.kind == Node::Kind::list) {
    std::string text = "[";
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      text += (i > 0 ? ", " : "") + node.items[i].text;
      if (node.items[i].is_mapping()) {
        flatten(node.items[i], fmt::format("{}[{}]", path, i), out);
      }
    }
    out[path] = text + "]";
  } else if (!node.is_mapping()) {
    out[path] = node.text;
  }
}

std::map<std::string, std::string> values_of(const import::LaunchRun& run) {
  const SpecType& scenario = *find_kind("scenarios")->type;
  std::map<std::string, std::string> out;
  flatten(to_tree(type_of_field(scenario, "model"), &run.model, {}), "model", out);
  flatten(to_tree(type_of_field(scenario, "training"), &run.training, {}), "training", out);
  flatten(to_tree(type_of_field(scenario, "parallelism"), &run.parallelism, {}), "parallelism",
          out);
  out["run.until.steps"] = run.steps ? std::to_string(*run.steps) : "-";
  out["run.checkpoint.interval_steps"] = run.saves ? std::to_string(run.saves->every) : "-";
  out["run.checkpoint.mode"] = run.saves ? mode_of(*run.saves) : "-";
  out["run.checkpoint.bytes_per_parameter"] =
      run.saves && run.saves->weights_only ? write_number(checkpoint_bytes(run)) : "-";
  return out;
}

/// Whether a row of the table is about this path and means something for the run.
bool has_row(const import::LaunchTable& table,
             const import::LaunchRun& run,
             const std::string& path) {
  return std::ranges::any_of(table.rows, [&run, &path](const import::LaunchRow& row) {
    return (row.when == nullptr || row.when(run)) &&
           std::ranges::any_of(row.paths, [&path](const std::string& own) {
             return path == own || path.starts_with(own + ".");
           });
  });
}

/// Whether both have the same layers in every chunk, whichever fields say it: of two stages the
/// layers of either end say those of the other.
bool same_chunks(const LaunchRun& one, const LaunchRun& other) {
  const auto says = [](const LaunchRun& run) {
    return run.model.layers > 0 && !workload::layout_problem(run.model, run.parallelism);
  };
  return says(one) && says(other) && one.parallelism.pipeline == other.parallelism.pipeline &&
         workload::layers_of_chunks(one.model, one.parallelism) ==
             workload::layers_of_chunks(other.model, other.parallelism);
}

bool is_layers_of_stages(const std::string& path) {
  return path == "parallelism.first_stage_layers" || path == "parallelism.last_stage_layers" ||
         path == "parallelism.chunk_layers";
}

bool some_before_blackwell(const training::ClusterSpec& cluster) {
  const auto older = [](const training::NodeSpec& node) {
    return node.gpu.architecture != gpu::Architecture::blackwell;
  };
  return older(cluster.node) ||
         std::ranges::any_of(cluster.other_nodes,
                             [&older](const auto& others) { return older(others.node); });
}

}  // namespace

LaunchRun run_of(const training::CheckedScenario& checked) {
  const training::Scenario& scenario = checked.scenario();
  LaunchRun run;
  run.model = scenario.model;
  run.training = scenario.training;
  run.parallelism = scenario.parallelism;
  run.gpus = checked.gpus();
  run.gpus_per_node = scenario.cluster.node.gpus;
  run.before_blackwell = some_before_blackwell(scenario.cluster);
  if (scenario.run.until && scenario.run.until->steps) {
    run.steps = scenario.run.until->steps;
  } else if (scenario.run.until && scenario.run.until->tokens) {
    run.steps = std::max<std::int64_t>(
        1,
        static_cast<std::int64_t>(*scenario.run.until->tokens / checked.tokens_per_step() + 0.5));
  }
  if (const auto& checkpoint = scenario.run.checkpoint; run.steps && checkpoint.interval_steps) {
    run.saves = import::LaunchSaves{
        *checkpoint.interval_steps, checkpoint.mode == storage::CheckpointMode::asynchronous,
        checkpoint.bytes_per_parameter == workload::element_bytes(run.training.precision)};
  }
  return import::normalised(std::move(run));
}

std::string launch_scenario_text(const import::LaunchRun& run, const LaunchFrame& frame) {
  const SpecType& scenario = *find_kind("scenarios")->type;
  std::string out = "headway: 1\nname: " + quoted(frame.name) + "\n";
  if (!frame.cluster.empty()) {
    out += "cluster:" + frame.cluster + "\n";
  }
  const auto section = [&out](const char* key, Node tree) {
    if (!tree.entries.empty()) {
      Node root;
      root.kind = Node::Kind::mapping;
      root.entries.push_back({key, {}, std::move(tree)});
      out += to_yaml(root);
    }
  };
  if (!frame.model_entry.empty() || run.model.layers > 0) {
    section("model", laid_over(type_of_field(scenario, "model"), &run.model, &frame.model,
                               frame.model_entry));
  }
  const SpecType& training = type_of_field(scenario, "training");
  const workload::TrainingSpec usual;
  workload::TrainingSpec recipe = run.training;
  recipe.framework = usual.framework;
  Node tree = laid_over(training, &recipe, &usual, "");
  std::erase_if(tree.entries, [](const Entry& entry) {
    return entry.key == "framework" ||
           ((entry.key == "sequence_length" || entry.key == "global_batch") &&
            entry.value.text == "0");
  });
  tree.entries.push_back({"framework",
                          {},
                          laid_over(type_of_field(training, "framework"), &run.training.framework,
                                    &frame.framework, frame.framework_entry)});
  section("training", std::move(tree));
  const workload::ParallelismSpec plain_layout;
  section("parallelism",
          laid_over(type_of_field(scenario, "parallelism"), &run.parallelism, &plain_layout, ""));
  if (run.steps) {
    out += fmt::format("run:\n  until:\n    steps: {}\n", *run.steps);
    const double bytes = checkpoint_bytes(run);
    const bool own_bytes = bytes != storage::CheckpointSpec{}.bytes_per_parameter;
    out += run.saves || own_bytes ? "  checkpoint:\n" : "";
    if (run.saves) {
      out += fmt::format("    interval_steps: {}\n    mode: {}\n", run.saves->every,
                         mode_of(*run.saves));
    }
    if (own_bytes) {
      out += fmt::format("    bytes_per_parameter: {}\n", write_number(bytes));
    }
  }
  return out;
}

std::vector<Unsaid> unsaid(const import::LaunchTable& table, const import::LaunchRun& run) {
  import::LaunchRun said_run;
  const bool read_back = !table.format.empty();
  if (read_back) {
    import::LaunchRun start;
    start.training.framework = run.training.framework;
    start.gpus = run.gpus;
    if (table.model != import::LaunchModel::by_shape) {
      start.model = run.model;
      start.training.sequence_length = run.training.sequence_length;
    }
    const std::string text =
        import::launch_text(table.syntax, import::write_launch(table, run), {});
    said_run = import::read_launch(
                   table, read_launch_settings(table.syntax, text, "the exported file"), start)
                   .run;
  }
  if (!read_back && run.model.moe) {
    said_run.model.moe.emplace();
  }
  if (!read_back && run.model.latent) {
    said_run.model.latent.emplace();
  }
  const auto asked = values_of(run);
  const auto said = values_of(said_run);
  const bool alike = same_chunks(run, said_run);
  std::vector<Unsaid> out;
  for (const auto& [path, text] : asked) {
    const bool software = path.starts_with("training.framework.");
    const bool row = has_row(table, run, path);
    if (path == "model.name" || (software && !row) || (!read_back && row) ||
        (alike && is_layers_of_stages(path))) {
      continue;
    }
    const auto other = said.find(path);
    const std::string theirs = other == said.end() ? "-" : other->second;
    if (theirs != text) {
      out.push_back({path, text, theirs});
    }
  }
  for (const auto& [path, text] : said) {
    if (!asked.contains(path)) {
      out.push_back({path, "-", text});
    }
  }
  return out;
}

LaunchSettings read_launch_settings(import::LaunchSyntax syntax,
                                    const std::string& text,
                                    const std::string& file_name) {
  constexpr std::size_t kLargest = 1 << 20;  // real ones have some kilobytes
  if (text.size() > kLargest) {
    throw core::Error(fmt::format("{}: larger than {} bytes; is this the file that starts a run?",
                                  file_name, kLargest));
  }
  switch (syntax) {
    case import::LaunchSyntax::shell:
      return import::read_shell_settings(text, file_name);
    case import::LaunchSyntax::toml:
      return import::read_toml_settings(text, file_name);
    case import::LaunchSyntax::json:
      return import::read_json_settings(text, file_name);
    case import::LaunchSyntax::yaml:
      break;
  }
  return read_yaml_settings(text, file_name);
}

std::string model_entry_like(const workload::ModelSpec& model,
                             const std::vector<std::filesystem::path>& roots) {
  for (const CatalogueEntry& entry : list_entries("models", roots)) {
    import::LaunchRun other;
    other.model = load_entry<workload::ModelSpec>(entry.path, {roots, {}}).spec;
    other = import::normalised(std::move(other));
    other.model.name = model.name;
    other.model.sixteen_bit_layers = model.sixteen_bit_layers;  // of the recipe, not of the shape
    if (other.model == model) {
      return entry.name;
    }
  }
  return "";
}

}  // namespace headway::config
