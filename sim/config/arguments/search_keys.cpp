#include "sim/config/arguments/search_keys.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "sim/config/suggestions/suggest.h"
#include "sim/training/search_spec.h"

namespace headway::config {

namespace {

constexpr std::array<PathBlock, 2> kPathBlocks{{{"search", "over"}, {"sweep", "grid"}}};

/// Paths that `search` has a list of its own for.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOwnLists{
    {{"cluster.nodes", "nodes"},
     {"training.global_batch", "global_batch"},
     {"training.sequence_length", "sequence_length"},
     {"training.precision", "precision"}}};

const Field* field_named(const std::vector<Field>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

/// The type of what may be left out or `auto`.
const SpecType& stated_type(const SpecType& type) {
  const bool wraps = type.shape == Shape::optional || type.shape == Shape::or_auto;
  return wraps ? stated_type(*type.element) : type;
}

/// The type of a block; nullptr where the root is no scenario.
const SpecType* type_of(const PathBlock& block, const SpecType& root) {
  const Field* field = field_named(root.fields, block.key);
  return field == nullptr ? nullptr : &stated_type(*field->type);
}

/// Whether a key of a block is a path: no field of the block itself, and more than one word or
/// another block of the scenario.
bool is_path_key(std::string_view key, const std::vector<Field>& own, const SpecType& scenario) {
  if (field_named(own, key) != nullptr) {
    return false;
  }
  const Field* part = field_named(scenario.fields, key);
  return key.find('.') != std::string_view::npos ||
         (part != nullptr && stated_type(*part->type).shape == Shape::record &&
          find_path_block(key) == nullptr);
}

Node word(std::string text, const Place& place) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = std::move(text);
  node.place = place;
  return node;
}

Node list_of(Node value) {
  if (!value.is_scalar()) {
    return value;
  }
  Node list;
  list.kind = Node::Kind::list;
  list.place = value.place;
  list.items.push_back(std::move(value));
  return list;
}

/// "[0, 1]" of a list; a value that is a list itself, of a field that takes one, is kept as text.
std::string flow_text(const Node& node) {
  if (node.kind != Node::Kind::list) {
    return node.text;
  }
  std::string text;
  for (const Node& item : node.items) {
    text += (text.empty() ? "" : ", ") + flow_text(item);
  }
  return "[" + text + "]";
}

/// Whether it is a list of texts and lists of them: blocks are not values of an axis.
bool is_plain(const Node& node) {
  return node.is_scalar() || (node.kind == Node::Kind::list &&
                              std::all_of(node.items.begin(), node.items.end(), is_plain));
}

/// Lists among the values of an axis become texts, as they would stand in the file.
void keep_lists_as_texts(Node& axis) {
  Entry* values = axis.is_mapping() ? axis.find("values") : nullptr;
  if (values == nullptr || values->value.kind != Node::Kind::list) {
    return;
  }
  for (Node& item : values->value.items) {
    if (item.kind == Node::Kind::list && is_plain(item)) {
      item = word(flow_text(item), item.place);
    }
  }
}

/// The same of all axes of a list that a dotted path leads to.
void keep_lists_of(Node& root, std::string_view path) {
  Node* node = &root;
  for (std::string_view rest = path; node != nullptr && !rest.empty();) {
    const auto dot = std::min(rest.find('.'), rest.size());
    Entry* entry = node->is_mapping() ? node->find(rest.substr(0, dot)) : nullptr;
    node = entry == nullptr ? nullptr : &entry->value;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  if (node != nullptr) {
    std::for_each(node->items.begin(), node->items.end(), keep_lists_as_texts);
  }
}

/// `key: [a, b]`, `key: a` or `key: {from: 1, to: 4, points: 4}` as an axis.
Node axis_of(Entry& entry) {
  Node axis;
  axis.kind = Node::Kind::mapping;
  axis.place = entry.place;
  axis.entries.push_back({"key", entry.place, word(entry.key, entry.place)});
  if (entry.value.is_mapping()) {
    for (Entry& part : entry.value.entries) {
      axis.entries.push_back(std::move(part));
    }
  } else {
    axis.entries.push_back({"values", entry.place, list_of(std::move(entry.value))});
  }
  return axis;
}

/// The words of a list that an argument of the command line gives; nothing if none does.
std::optional<std::set<std::string>> words_of_argument(const Node& block, std::string_view key) {
  const auto found = std::find_if(block.entries.begin(), block.entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  if (found == block.entries.end() || found->value.place.line != 0) {
    return std::nullopt;
  }
  std::set<std::string> words;
  for (const Node& item : found->value.items) {
    words.insert(item.text);
  }
  return words;
}

/// What an argument holds, or does not name where it says what is varied, is held whatever values
/// the file lists for it.
void drop_lists_of_held(Node& search) {
  const auto vary = words_of_argument(search, "vary"), hold = words_of_argument(search, "hold");
  std::erase_if(search.entries, [&](const Entry& entry) {
    const bool axis = core::from_word<training::SearchAxis>(entry.key).has_value();
    const bool held = (vary && !vary->empty() && !vary->contains(entry.key)) ||
                      (hold && hold->contains(entry.key));
    return axis && held && entry.value.place.line != 0;
  });
}

/// Joins the keys of one block.
class PathJoiner {
 public:
  PathJoiner(const PathBlock& block, const SpecType& scenario, Complaints& complaints)
      : block_(block), scenario_(scenario), complaints_(complaints) {}

  void join(Node& block);

 private:
  /// Goes down what `entry` nests; `where` is what `parent` leads to.
  void enter(const std::string& parent, const SpecType& where, Entry& entry);
  /// The type that a key, one segment or several, leads to from a record: nullptr where any value
  /// will do (a name of the catalogue), nothing after a complaint.
  std::optional<const SpecType*> follow(const SpecType& where, const Entry& entry);
  void keep(Entry entry);
  /// What a path is short for: a field of the block; nothing for an axis.
  [[nodiscard]] std::string_view own_field(const Entry& entry) const;

  const PathBlock& block_;
  const SpecType& scenario_;
  Complaints& complaints_;
  std::vector<Entry> kept_;
};

void PathJoiner::join(Node& block) {
  const SpecType* own = type_of(block_, scenario_);
  std::vector<Entry> paths;
  for (Entry& entry : block.entries) {
    const bool path = is_path_key(entry.key, own->fields, scenario_);
    const bool nested = entry.value.is_mapping() && entry.key != "use" && entry.key != "source" &&
                        field_named(own->fields, entry.key) == nullptr;
    if (nested && !path) {
      const std::string meant = key_suggestion(entry.key, *own);
      complaints_.add(entry.place,
                      fmt::format("unknown key '{}'{}", entry.key,
                                  meant.empty() ? key_suggestion(entry.key, scenario_) : meant));
      continue;
    }
    (path ? paths : kept_).push_back(std::move(entry));
  }
  for (Entry& entry : paths) {
    enter("", scenario_, entry);
  }
  block.entries = std::move(kept_);
}

std::optional<const SpecType*> PathJoiner::follow(const SpecType& where, const Entry& entry) {
  const SpecType* type = &where;
  std::string_view rest = entry.key;
  while (true) {
    const auto dot = rest.find('.');
    const std::string_view segment = rest.substr(0, dot);
    const std::string_view name = segment.substr(0, segment.find('['));
    const bool last = dot == std::string_view::npos;
    if (last && (name == "use" || name == "huggingface")) {
      return nullptr;
    }
    const Field* field = type->shape == Shape::record ? field_named(type->fields, name) : nullptr;
    if (field == nullptr) {
      const auto whole =
          last && entry.key == name ? std::string() : fmt::format(" of the path '{}'", entry.key);
      complaints_.add(entry.place, fmt::format("unknown key '{}'{}{}", name, whole,
                                               key_suggestion(name, *type)));
      return std::nullopt;
    }
    type = &stated_type(*field->type);
    if (segment.size() > name.size() && type->shape == Shape::list) {
      type = &stated_type(*type->element);
    }
    if (last) {
      return type;
    }
    rest = rest.substr(dot + 1);
  }
}

void PathJoiner::enter(const std::string& parent, const SpecType& where, Entry& entry) {
  const auto found = follow(where, entry);
  if (!found) {
    return;
  }
  const SpecType* type = *found;
  entry.key = parent.empty() ? entry.key : fmt::format("{}.{}", parent, entry.key);
  const bool record = type != nullptr && type->shape == Shape::record;
  if (record && entry.value.is_mapping() && !entry.value.entries.empty()) {
    for (Entry& part : entry.value.entries) {
      enter(entry.key, *type, part);
    }
    return;
  }
  if (record && (entry.value.is_mapping() || type->catalogue.empty())) {
    complaints_.add(entry.place,
                    fmt::format("'{}' is a block of the scenario; write which field of it takes "
                                "which values, such as '{}: {{{}: [...]}}'",
                                entry.key, entry.key, type->fields.front().name));
    return;
  }
  if (entry.value.kind == Node::Kind::null && entry.place.line > 0) {
    complaints_.add(
        entry.place,
        fmt::format("'{}' has no values to try; give it some or remove the key", entry.key));
    return;
  }
  keep(std::move(entry));
}

std::string_view PathJoiner::own_field(const Entry& entry) const {
  const bool automatic = entry.value.is_scalar() && entry.value.text == "auto";
  if (block_.key == "search" && entry.key == "cluster.spares" && automatic) {
    return "spares";
  }
  return entry.value.is_mapping() ? "" : own_search_list(block_, entry.key);
}

void PathJoiner::keep(Entry entry) {
  const std::string path = entry.key;
  if (const auto field = own_field(entry); !field.empty()) {
    entry.key = field;
    entry.value = field == "spares" ? std::move(entry.value) : list_of(std::move(entry.value));
  }
  const auto there = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Entry& other) { return other.key == entry.key; });
  if (there == kept_.end()) {
    kept_.push_back(std::move(entry));
  } else if (entry.place.line == 0) {  // an argument of the command line
    *there = std::move(entry);
  } else if (entry.key != path) {
    complaints_.add(entry.place,
                    fmt::format("'{}' is '{}.{}', which is there too; keep one of them", path,
                                block_.key, entry.key));
  } else {
    complaints_.add(entry.place, fmt::format("'{}' is there twice; keep one of them", path));
  }
}

}  // namespace

const PathBlock* find_path_block(std::string_view key) {
  const auto* const found = std::find_if(kPathBlocks.begin(), kPathBlocks.end(),
                                         [&](const auto& block) { return block.key == key; });
  return found == kPathBlocks.end() ? nullptr : found;
}

const std::vector<Field>& fields_of(const PathBlock& block, const SpecType& scenario) {
  static const std::vector<Field> kNone;
  const SpecType* type = type_of(block, scenario);
  return type == nullptr ? kNone : type->fields;
}

std::string_view own_search_list(const PathBlock& block, std::string_view path) {
  const auto* const found = std::find_if(kOwnLists.begin(), kOwnLists.end(),
                                         [&](const auto& own) { return own.first == path; });
  return block.key != "search" || found == kOwnLists.end() ? "" : found->second;
}

void join_path_keys(Node& root, const SpecType& scenario, Complaints& complaints) {
  for (const PathBlock& block : kPathBlocks) {
    Entry* found = root.find(block.key);
    if (found != nullptr && found->value.is_mapping()) {
      PathJoiner(block, scenario, complaints).join(found->value);
    }
  }
}

void gather_path_axes(Node& root, const SpecType& scenario) {
  for (const PathBlock& block : kPathBlocks) {
    Entry* found = root.find(block.key);
    if (found == nullptr || !found->value.is_mapping()) {
      continue;
    }
    if (block.key == "search") {
      drop_lists_of_held(found->value);
    }
    const auto& own = fields_of(block, scenario);
    std::vector<Entry> kept;
    std::vector<Node> axes;
    for (Entry& entry : found->value.entries) {
      if (!is_path_key(entry.key, own, scenario)) {
        kept.push_back(std::move(entry));
      } else if (entry.value.kind != Node::Kind::null) {  // null: an argument took it away
        axes.push_back(axis_of(entry));
      }
    }
    found->value.entries = std::move(kept);
    Entry* list = found->value.find(block.list);
    if (list != nullptr && list->value.place.line == 0) {  // an argument: in place of the file's
      std::erase_if(axes, [](const Node& axis) { return axis.place.line != 0; });
    }
    if (axes.empty()) {
      continue;
    }
    if (list == nullptr) {
      found->value.entries.push_back({std::string(block.list), axes.front().place, {}});
      list = &found->value.entries.back();
    }
    if (list->value.kind == Node::Kind::null) {
      list->value.kind = Node::Kind::list;
      list->value.place = axes.front().place;
    }
    std::move(axes.begin(), axes.end(), std::back_inserter(list->value.items));
  }
  for (const char* path : {"search.over", "sweep.grid", "sweep.zip", "sweep.sample.axes"}) {
    keep_lists_of(root, path);
  }
}

}  // namespace headway::config
