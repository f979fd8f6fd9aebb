#include "sim/config/load.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "sim/config/arguments/search_keys.h"
#include "sim/config/arguments/set_argument.h"
#include "sim/config/files.h"
#include "sim/config/kind_of_text.h"
#include "sim/config/reader.h"
#include "sim/config/resolve.h"
#include "sim/config/spec_type.h"
#include "sim/config/writer.h"
#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::config {

namespace fs = std::filesystem;

namespace {

/// What a load gives beside the struct.
struct Reading {
  core::SourceMarks marks;
  Sources sources;
  StandardErrors standard_errors;
  std::string canonical_text;
  std::vector<std::string> files;
  std::vector<std::string> remarks;
};

/// Changes, resolves and reads a parsed tree into the struct behind `record`.
Reading read_into(LoadState& state, Node root, const SpecType& type, void* record) {
  Reading reading;
  state.open.push_back(root.place.file);
  apply_set_arguments(state, root, type, SetPhase::before_use);
  const bool is_scenario = &type == find_kind("scenarios")->type;
  if (is_scenario) {
    join_path_keys(root, type, state.complaints);
  }
  resolve(state, root, type);
  if (is_scenario) {
    gather_path_axes(root, type);
  }
  apply_set_arguments(state, root, type, SetPhase::after_use);
  if (is_scenario) {
    read_length_file(state, root, type);
  }
  if (root.kind != Node::Kind::broken) {
    read_record(root, type, record,
                {reading.marks, reading.sources, reading.standard_errors, state.complaints});
  }
  state.complaints.throw_if_any(state.files);
  reading.canonical_text = write_spec(type, record);
  reading.files = std::move(state.files_read);
  reading.remarks = std::move(state.remarks);
  return reading;
}

/// The file that was meant by one that is not there: an entry of that name, or one beside it that
/// is spelled nearly so.
std::optional<fs::path> meant_file(const fs::path& path,
                                   const LoadOptions& options,
                                   const SpecType& type) {
  for (const CatalogueKind& kind : catalogue()) {
    if (kind.type != &type) {
      continue;
    }
    for (const auto& entry : list_entries(kind.folder, options.roots)) {
      if (entry.name == path.stem().string()) {
        return entry.path;
      }
    }
  }
  std::vector<std::string> beside;
  std::error_code ignored;  // no such folder: nothing is beside it
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator file(folder, ignored), end; !ignored && file != end;
       file.increment(ignored)) {
    beside.push_back(file->path().filename().string());
  }
  std::sort(beside.begin(), beside.end());
  const auto near = core::did_you_mean(path.filename().string(), beside);
  return near ? std::optional(path.parent_path() / *near) : std::nullopt;
}

Reading read_file_into(const fs::path& path,
                       const LoadOptions& options,
                       const SpecType& type,
                       void* record) {
  std::error_code ignored;  // whatever else is wrong with the file its reader says
  if (!path.empty() && !fs::exists(path, ignored)) {
    if (const auto meant = meant_file(path, options, type)) {
      throw core::Error(
          core::SourceMark{path.string(), 0, 0, 1, ""},
          fmt::format("there is no such file; did you mean {}?", core::visible(meant->string())));
    }
  }
  LoadState state{options, {}, {}, {}, {}, {}};
  return read_into(state, read_tree(state, path, type), type, record);
}

LoadedScenario finish(training::Scenario scenario, Reading reading) {
  return {std::move(scenario),
          std::move(reading.marks),
          std::move(reading.sources),
          std::move(reading.standard_errors),
          std::move(reading.canonical_text),
          std::move(reading.files),
          std::move(reading.remarks)};
}

const SpecType& scenario_type() { return *find_kind("scenarios")->type; }

/// The node at a path such as "run.failures.hazards[2].mtbf"; nullptr if there is none.
const Node* node_at(const Node& root, std::string_view path) {
  const auto steps = core::path_steps(path);
  const Node* node = steps ? &root : nullptr;
  for (std::size_t i = 0; node != nullptr && i < steps->size(); ++i) {
    if (const auto& [key, index] = (*steps)[i]; index) {
      node = *index < node->items.size() ? &node->items[*index] : nullptr;
    } else {
      const Entry* entry = node->find(key);
      node = entry == nullptr ? nullptr : &entry->value;
    }
  }
  return node;
}

}  // namespace

std::string find_source(const Sources& sources, std::string_view path) {
  while (true) {
    if (const auto found = sources.find(path); found != sources.end()) {
      return found->second;
    }
    if (path.empty()) {
      return {};
    }
    const auto cut = path.find_last_of(".[");
    path = path.substr(0, cut == std::string_view::npos ? 0 : cut);
  }
}

/// A scenario of which the file is told and nothing read; without a name of its own it has the
/// file's.
training::Scenario named_after(const fs::path& path) {
  training::Scenario scenario;
  const std::string file = path.stem().string();
  scenario.name = file.starts_with("<") ? "scenario" : file;  // a text without a file
  return scenario;
}

LoadedScenario load_scenario(const fs::path& path, const LoadOptions& options) {
  auto scenario = named_after(path);
  Reading reading = read_file_into(path, options, scenario_type(), &scenario);
  return finish(std::move(scenario), std::move(reading));
}

LoadedScenario load_scenario_text(std::string_view text,
                                  const fs::path& file_name,
                                  const LoadOptions& options) {
  LoadState state{options, {}, {}, {}, {}, {}};
  auto scenario = named_after(file_name);
  SourceFile file(file_name.string(), file_name.parent_path(), std::string(text));
  Node root = parse_tree(state, std::move(file), scenario_type());
  Reading reading = read_into(state, std::move(root), scenario_type(), &scenario);
  return finish(std::move(scenario), std::move(reading));
}

template <class Spec>
Loaded<Spec> load_entry(const fs::path& path, const LoadOptions& options) {
  Spec spec;
  Reading reading = read_file_into(path, options, *find_kind(Spec::kCatalogue)->type, &spec);
  return {std::move(spec),
          std::move(reading.marks),
          std::move(reading.sources),
          std::move(reading.standard_errors),
          std::move(reading.canonical_text),
          std::move(reading.files)};
}

template Loaded<gpu::GpuSpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<training::NodeSpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<network::FabricSpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<storage::StorageSpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<training::ClusterSpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<workload::ModelSpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<workload::FrameworkSpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<failures::FailureSpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<failures::RecoverySpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<price::PriceSpec> load_entry(const fs::path&, const LoadOptions&);
template Loaded<training::CalibrationSpec> load_entry(const fs::path&, const LoadOptions&);

std::string kind_of_file(const fs::path& path) {
  std::error_code ignored;  // an empty name, a working folder that is gone: the reader says it
  const std::string folder = fs::absolute(path, ignored).parent_path().filename().string();
  const bool known = find_kind(folder) != nullptr;
  if (!fs::is_regular_file(path, ignored)) {
    return known ? folder : "scenarios";
  }
  try {
    const std::string text = core::read_file(path, core::kLargestConfiguration);
    return known && !is_scenario_text(text) ? folder : kind_of_text(text);
  } catch (const core::Error&) {
    // Whoever reads the file next says what is wrong with it.
    return known ? folder : "scenarios";
  }
}

void check_entry(const fs::path& path, const LoadOptions& options) {
  const SpecType& type = *find_kind(kind_of_file(path))->type;
  const AnyValue value = type.make();
  read_file_into(path, options, type, value.get());
}

std::vector<std::string> entry_values(const fs::path& path,
                                      const std::vector<std::string_view>& keys,
                                      const LoadOptions& options) {
  const SpecType& type = *find_kind(kind_of_file(path))->type;
  const AnyValue value = type.make();
  read_file_into(path, options, type, value.get());
  const Node root = to_tree(type, value.get(), {});
  std::vector<std::string> texts;
  for (std::string_view key : keys) {
    const Node* node = node_at(root, key);
    texts.push_back(node != nullptr && node->is_scalar() ? node->text : "-");
  }
  return texts;
}

std::string value_text(const training::Scenario& scenario, std::string_view path) {
  const Node root = to_tree(scenario_type(), &scenario, {});
  const Node* node = node_at(root, path);
  return node != nullptr && node->is_scalar() ? node->text : "";
}

std::string write_scenario(const training::Scenario& scenario) {
  return write_spec(scenario_type(), &scenario);
}

std::vector<std::string> catalogue_kinds() {
  std::vector<std::string> kinds;
  for (const CatalogueKind& kind : catalogue()) {
    kinds.emplace_back(kind.folder);
  }
  return kinds;
}

std::vector<CatalogueEntry> list_entries(std::string_view kind,
                                         const std::vector<fs::path>& roots) {
  if (find_kind(kind) == nullptr) {
    const auto near = core::did_you_mean(kind, catalogue_kinds());
    throw core::Error(
        fmt::format("there is no catalogue of '{}'{}", kind,
                    near ? fmt::format("; did you mean '{}'?", *near)
                         : fmt::format("; there are {}", fmt::join(catalogue_kinds(), ", "))));
  }
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : known_names({"", kind, {}, roots})) {
    for (const fs::path& root : roots) {
      const fs::path file = root / kind / (name + ".yaml");
      std::error_code ignored;
      if (fs::exists(file, ignored)) {
        entries.push_back({name, file});
        break;
      }
    }
  }
  return entries;
}

}  // namespace headway::config
