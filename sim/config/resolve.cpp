#include "sim/config/resolve.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "sim/config/arguments/search_keys.h"
#include "sim/config/files.h"
#include "sim/config/parse_yaml.h"
#include "sim/config/suggestions/suggest.h"
#include "sim/config/writer.h"
#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/import/document_lengths.h"
#include "sim/import/hugging_face/hugging_face.h"

namespace headway::config {

namespace fs = std::filesystem;

namespace {

/// No honest scenario uses more files; a list that uses one file a thousand times is stopped here.
constexpr std::size_t kMostFiles = 256;

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code missing;
  return fs::equivalent(a, b, missing) && !missing;
}

/// "a.yaml -> b.yaml -> a.yaml", from where the circle starts.
std::string circle(const LoadState& state, const fs::path& target) {
  std::string chain;
  for (const SourceFile* file : state.open) {
    if (!chain.empty() || same_file(file->name(), target)) {
      chain += file->name() + " -> ";
    }
  }
  return chain + target.string();
}

/// What was meant by "nodes/h100": entries are named without their folder.
std::string entry_in_folder(std::string_view name, EntryQuery query) {
  const std::string folder = std::string(query.kind) + "/";
  if (query.kind.empty() || !name.starts_with(folder)) {
    return "";
  }
  query.name = name.substr(folder.size());
  const auto known = known_names(query);
  const bool there = std::find(known.begin(), known.end(), query.name) != known.end();
  return there ? fmt::format("; did you mean '{}'?", query.name)
               : entry_suggestion(query.name, known);
}

/// The file that `use: name` means; empty after a complaint.
std::optional<fs::path> find_used(LoadState& state, const Node& name, const SpecType& type) {
  const EntryQuery query{name.text, type.catalogue, name.place.file->folder(), state.options.roots};
  const auto files = candidates(query);
  for (const fs::path& file : files) {
    std::error_code ignored;
    // `use: x` in x.yaml means the catalogue's x; a path to itself stays a circle.
    const bool itself = !is_path(name.text) && same_file(file, name.place.file->name());
    if (fs::exists(file, ignored) && !itself) {
      return file;
    }
  }
  if (is_path(name.text)) {
    state.complaints.add(name.place, fmt::format("there is no file '{}'{}", files.front().string(),
                                                 entry_in_folder(name.text, query)));
    return std::nullopt;
  }
  if (type.catalogue.empty()) {
    state.complaints.add(
        name.place,
        fmt::format("there is no '{}' beside this file; write a path such as './{}.yaml'",
                    files.front().string(), name.text));
    return std::nullopt;
  }
  const auto known = known_names(query);
  std::string message = fmt::format("the catalogue has no '{}/{}'", type.catalogue, name.text);
  if (const std::string meant = entry_suggestion(name.text, known); !meant.empty()) {
    message += meant;
  } else if (!known.empty() && known.size() <= 24) {
    message += fmt::format("; it has {}", fmt::join(known, ", "));
  }
  state.complaints.add(name.place, std::move(message));
  return std::nullopt;
}

/// Whether a path has one of these endings; a complaint if not. What ends otherwise is not read at
/// all, because a complaint about its content would show it (`use: /etc/passwd`).
bool has_ending(LoadState& state,
                const Node& name,
                const fs::path& path,
                std::initializer_list<const char*> endings) {
  std::error_code ignored;
  const bool known = std::find(endings.begin(), endings.end(), path.extension()) != endings.end() ||
                     fs::is_directory(path, ignored);  // has no content, and a complaint of its own
  if (!known) {
    state.complaints.add(name.place,
                         fmt::format("'{}' does not end in {}; nothing else is read",
                                     core::shortened(name.text), fmt::join(endings, " or ")));
  }
  return known;
}

/// The text of a file that `name` names; empty after a complaint.
std::optional<std::string> read_named(LoadState& state, const Node& name, const fs::path& path) {
  if (state.files_read.size() >= kMostFiles) {
    state.complaints.add(name.place, fmt::format("more than {} files are used", kMostFiles));
    return std::nullopt;
  }
  try {
    std::string text = core::read_file(path, core::kLargestConfiguration);
    state.files_read.push_back(path.string());
    return text;
  } catch (const core::Error& error) {
    state.complaints.add(
        name.place, fmt::format("'{}': {}", path.string(), error.diagnostics().front().message));
    return std::nullopt;
  }
}

/// The resolved tree of the entry that `name` names; broken after a complaint.
Node load_used(LoadState& state, const Node& name, const SpecType& type) {
  Node broken;
  broken.kind = Node::Kind::broken;
  if (!name.is_scalar() || name.text.empty()) {
    state.complaints.add(
        name.place,
        fmt::format("use must be the name of an entry or a path, not {}", describe(name)));
    return broken;
  }
  const auto path = find_used(state, name, type);
  if (!path) {
    return broken;
  }
  const bool is_open =
      std::any_of(state.open.begin(), state.open.end(),
                  [&](const SourceFile* file) { return same_file(file->name(), *path); });
  if (is_open) {
    state.complaints.add(name.place,
                         fmt::format("'use:' goes in a circle: {}", circle(state, *path)));
    return broken;
  }
  auto text = has_ending(state, name, *path, {".yaml", ".yml"}) ? read_named(state, name, *path)
                                                                : std::nullopt;
  if (!text) {
    return broken;
  }
  try {
    Node base =
        parse_tree(state, SourceFile(path->string(), path->parent_path(), std::move(*text)), type);
    state.open.push_back(base.place.file);
    resolve(state, base, type);
    state.open.pop_back();
    return base;
  } catch (const core::Error& error) {
    state.complaints.take(error);
    return broken;
  }
}

/// The tree of the model that a Hugging Face configuration describes; broken after a complaint.
Node load_hugging_face(LoadState& state, const Node& name, const SpecType& type) {
  Node broken;
  broken.kind = Node::Kind::broken;
  if (!name.is_scalar() || name.text.empty()) {
    state.complaints.add(
        name.place,
        fmt::format("huggingface must be the path of a config.json, not {}", describe(name)));
    return broken;
  }
  const fs::path path = (name.place.file->folder() / name.text).lexically_normal();
  std::error_code ignored;
  if (auto advice = import::hub_name_advice(name.text);
      !advice.empty() && !fs::exists(path, ignored)) {
    state.complaints.add(name.place, std::move(advice));
    return broken;
  }
  const auto text =
      has_ending(state, name, path, {".json"}) ? read_named(state, name, path) : std::nullopt;
  if (!text) {
    return broken;
  }
  try {
    import::HuggingFaceModel found = import::import_hugging_face_config(*text, path.string());
    Node tree = to_tree(type, &found.model, name.place);
    for (const std::string& remark : found.remarks) {
      state.remarks.push_back(fmt::format("{}: {}", path.string(), remark));
    }
    tree.stated = path.string();
    return tree;
  } catch (const core::Error& error) {
    state.complaints.take(error);
    return broken;
  }
}

/// Removes `key` from a mapping and gives its value, if it is there.
std::optional<Entry> take_entry(Node& node, std::string_view key) {
  const auto found = std::find_if(node.entries.begin(), node.entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  if (found == node.entries.end()) {
    return std::nullopt;
  }
  Entry entry = std::move(*found);
  node.entries.erase(found);
  return entry;
}

void resolve_record(LoadState& state, Node& node, const SpecType& type) {
  for (Entry& entry : node.entries) {
    for (const Field& field : type.fields) {
      if (field.name == entry.key) {
        resolve(state, entry.value, *field.type);
      }
    }
  }
  const auto use = take_entry(node, "use");
  const auto foreign = type.catalogue == "models" ? take_entry(node, "huggingface") : std::nullopt;
  if (!use && !foreign) {
    return;
  }
  if (use && foreign) {
    state.complaints.add(foreign->place, "'use' and 'huggingface' exclude each other");
  }
  Node base =
      use ? load_used(state, use->value, type) : load_hugging_face(state, foreign->value, type);
  if (base.kind != Node::Kind::broken) {
    const Place place = node.place;
    lay_over(base, std::move(node));
    base.place = place;
    base.replaces = true;
  }
  node = std::move(base);
}

/// The list of lengths that a file has, as a node in the place of the file's name.
Node load_lengths(LoadState& state, const Node& name, const SpecType& list) {
  Node broken;
  broken.kind = Node::Kind::broken;
  const fs::path path = (name.place.file->folder() / name.text).lexically_normal();
  const auto text =
      has_ending(state, name, path, {".csv"}) ? read_named(state, name, path) : std::nullopt;
  if (!text) {
    return broken;
  }
  try {
    const auto lengths = import::read_document_lengths(*text, path.string());
    Node node = to_tree(list, &lengths, name.place);
    node.stated = path.string();
    return node;
  } catch (const core::Error& error) {
    state.complaints.take(error);
    return broken;
  }
}

void refuse_other_version(const Node& root) {
  const Entry* version = root.find("headway");
  if (version != nullptr && version->value.is_scalar() && version->value.text != "1") {
    throw core::Error(
        to_mark(version->value.place),
        fmt::format("format version '{}' is unknown to this program, which reads version 1; "
                    "write 'headway: 1' or use the program that wrote the file",
                    version->value.text));
  }
}

}  // namespace

Node parse_tree(LoadState& state, SourceFile file, const SpecType& type) {
  state.files.push_back(std::move(file));
  const SourceFile& kept = state.files.back();
  Node root = parse_yaml(kept);
  if (!root.is_mapping()) {
    throw core::Error(
        to_mark({&kept, 0, 0, 1}),
        fmt::format("the file must hold a mapping ('key: value' lines), not {}", describe(root)));
  }
  if (find_kind("scenarios")->type == &type) {
    refuse_other_version(root);
    join_path_keys(root, type, state.complaints);
  }
  return root;
}

Node read_tree(LoadState& state, const fs::path& path, const SpecType& type) {
  std::string text = core::read_file(path, core::kLargestConfiguration);
  state.files_read.push_back(path.string());
  return parse_tree(state, SourceFile(path.string(), path.parent_path(), std::move(text)), type);
}

void resolve(LoadState& state, Node& node, const SpecType& type) {
  switch (type.shape) {
    case Shape::optional:
    case Shape::or_auto:
      resolve(state, node, *type.element);
      return;
    case Shape::list:
      for (Node& item : node.items) {
        resolve(state, item, *type.element);
      }
      return;
    case Shape::record:
      resolve_record(state, node, type);
      return;
    default:
      return;
  }
}

void read_length_file(LoadState& state, Node& root, const SpecType& scenario) {
  Entry* const training = root.find("training");
  Entry* const lengths = training != nullptr ? training->value.find("documents") : nullptr;
  if (lengths == nullptr || !lengths->value.is_scalar() || lengths->value.text.empty()) {
    return;
  }
  for (const Field& part : scenario.fields) {
    if (part.name == "training") {
      for (const Field& field : part.type->fields) {
        if (field.name == "documents") {
          lengths->value = load_lengths(state, lengths->value, *field.type);
          return;
        }
      }
    }
  }
}

void lay_over(Node& base, Node over) {
  const bool merges = base.is_mapping() && over.is_mapping() && !over.replaces &&
                      over.find("value") == nullptr && base.find("value") == nullptr;
  if (!merges) {
    if (over.stated.empty() && over.is_scalar() && over.place.file != nullptr) {
      over.stated = fmt::format("stated in {}:{}", over.place.file->name(), over.place.line);
    }
    base = std::move(over);
    return;
  }
  for (Entry& entry : over.entries) {
    if (Entry* under = base.find(entry.key)) {
      under->place = entry.place;
      lay_over(under->value, std::move(entry.value));
    } else {
      base.entries.push_back(std::move(entry));
    }
  }
}

}  // namespace headway::config
