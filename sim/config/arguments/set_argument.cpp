#include "sim/config/arguments/set_argument.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sim/config/arguments/search_keys.h"
#include "sim/config/parse_yaml.h"
#include "sim/config/text_check.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::config {

namespace {

/// One step of a path: a key and the indexes behind it.
struct Segment {
  std::string key;
  std::vector<std::size_t> indexes;
};

/// Segments of "run.failures.hazards[2].mtbf"; empty if it is malformed.
std::vector<Segment> parse_path(std::string_view path) {
  const auto steps = core::path_steps(path);
  std::vector<Segment> segments;
  for (const auto& [key, index] : steps.value_or(std::vector<core::PathStep>{})) {
    if (index ? segments.empty() : key.empty()) {
      return {};
    }
    if (index) {
      segments.back().indexes.push_back(*index);
    } else {
      segments.push_back({std::string(key), {}});
    }
  }
  return segments;
}

/// Gives every node the place of the argument as a whole.
void put_at(Node& node, const Place& place) {
  node.place = place;
  for (Node& item : node.items) {
    put_at(item, place);
  }
  for (Entry& entry : node.entries) {
    entry.place = place;
    put_at(entry.value, place);
  }
}

/// The value of an argument: flow YAML if it starts like it, else one scalar as it stands.
Node parse_value(const SourceFile& file) {
  const std::string& text = file.text();
  Node node;
  if (!text.empty() && (text[0] == '[' || text[0] == '{' || text[0] == '"' || text[0] == '\'')) {
    node = parse_yaml(file);
  } else if (auto wrong = check_text(file)) {
    throw core::Error({std::move(*wrong)});
  } else {
    node.kind = text.empty() || text == "null" ? Node::Kind::null : Node::Kind::scalar;
    node.text = text;
  }
  const Place place{&file, 0, 0, 1};
  put_at(node, place);
  node.stated = node.is_scalar() ? file.name() : "";
  return node;
}

/// The entry of `key` in `node`, which becomes a mapping if it is none.
Entry& enter_key(Node& node, const std::string& key, const Place& place) {
  if (!node.is_mapping()) {
    node = Node{};
    node.kind = Node::Kind::mapping;
    node.place = place;
  }
  Entry* entry = node.find(key);
  if (entry == nullptr) {
    node.entries.push_back({key, place, {}});
    entry = &node.entries.back();
  }
  return *entry;
}

/// The value that `segments` lead to, made if need be, with the last key's place moved to the
/// argument; nullptr after a complaint.
Node* enter(LoadState& state,
            Node& root,
            const std::vector<Segment>& segments,
            const Place& place) {
  Node* node = &root;
  for (const Segment& segment : segments) {
    Entry& entry = enter_key(*node, segment.key, place);
    if (&segment == &segments.back()) {
      entry.place = place;
    }
    node = &entry.value;
    for (const std::size_t index : segment.indexes) {
      if (node->is_mapping() || node->is_scalar()) {
        state.complaints.add(place, fmt::format("'{0}' is no list: write '{0}' without '[{1}]'",
                                                segment.key, index));
        return nullptr;
      }
      if (node->kind != Node::Kind::list || index >= node->items.size()) {
        state.complaints.add(place, fmt::format("there is no '{}[{}]'; the list has {} items",
                                                segment.key, index, node->items.size()));
        return nullptr;
      }
      node = &node->items[index];
    }
  }
  return node;
}

/// `a.use=x` names another base for what is laid over it; a mapping written out in full has no
/// base, so there x takes its place.
/// @returns whether the way to `use` can be gone; if not, it was complained of
bool prepare_use(Node& root, LoadState& state, std::vector<Segment> segments, const Place& place) {
  const std::string key = segments.back().key;
  segments.pop_back();
  if ((key != "use" && key != "huggingface") || segments.empty()) {
    return true;
  }
  Node* parent = enter(state, root, segments, place);
  if (parent == nullptr) {
    return false;
  }
  const std::string_view other = key == "use" ? "huggingface" : "use";
  if (parent->find(key) != nullptr) {
    return true;
  }
  if (Entry* base = parent->find(other)) {
    base->key = key;
  } else {
    *parent = Node{};
  }
  return true;
}

/// Whether a path leads to a part that entries of the catalogue describe.
bool leads_to_catalogue(const SpecType& root, const std::vector<Segment>& segments) {
  const SpecType* type = &root;
  const auto enter_value = [&type] {
    while (type->element != nullptr) {
      type = type->element;
    }
  };
  for (const Segment& segment : segments) {
    const auto field = std::find_if(type->fields.begin(), type->fields.end(),
                                    [&](const Field& each) { return each.name == segment.key; });
    if (field == type->fields.end()) {
      return false;
    }
    type = field->type;
    enter_value();
  }
  return type->shape == Shape::record && !type->catalogue.empty();
}

/// `search.cluster.nodes`: what is no field of `search` or `sweep` is a path, and so one key of it,
/// as files have it; the list of its own that `search` may have for it is replaced if it is there.
void join_searched_path(const SpecType& root, const Node& tree, std::vector<Segment>& segments) {
  const PathBlock* block = find_path_block(segments.front().key);
  if (segments.size() < 3 || block == nullptr) {
    return;
  }
  const auto& fields = fields_of(*block, root);
  if (std::any_of(fields.begin(), fields.end(),
                  [&](const Field& field) { return field.name == segments[1].key; })) {
    return;
  }
  std::string path = segments[1].key;
  for (std::size_t i = 2; i < segments.size(); ++i) {
    path += "." + segments[i].key;
  }
  const Entry* there = tree.find(block->key);
  const std::string own(own_search_list(*block, path));
  const bool listed = there != nullptr && there->value.is_mapping() && !own.empty() &&
                      there->value.find(own) != nullptr;
  segments.resize(1);
  segments.push_back({listed ? own : path, {}});
}

void apply(LoadState& state,
           Node& root,
           const SpecType& type,
           const std::string& argument,
           SetPhase phase) {
  const auto equals = argument.find('=');
  auto segments = equals == std::string::npos
                      ? std::vector<Segment>{}
                      : parse_path(std::string_view(argument).substr(0, equals));
  const bool has_index = argument.substr(0, equals).find('[') != std::string::npos;
  if (!segments.empty() && has_index != (phase == SetPhase::after_use)) {
    return;
  }
  if (segments.empty() && phase == SetPhase::after_use) {
    return;
  }
  state.files.emplace_back(
      "argument --set " + core::shortened(argument), std::filesystem::path{},
      equals == std::string::npos ? std::string{} : argument.substr(equals + 1));
  const Place place{&state.files.back(), 0, 0, 1};
  if (segments.empty()) {
    state.complaints.add(place, "is not 'path=value'; write it like --set cluster.nodes=4");
    return;
  }
  try {
    if (!has_index) {
      join_searched_path(type, root, segments);
    }
    Node value = parse_value(state.files.back());
    if (value.is_scalar() && leads_to_catalogue(type, segments)) {
      segments.push_back({"use", {}});
    }
    Node* target =
        prepare_use(root, state, segments, place) ? enter(state, root, segments, place) : nullptr;
    if (target != nullptr) {
      *target = std::move(value);
    }
  } catch (const core::Error& error) {
    state.complaints.take(error);
  }
}

}  // namespace

void apply_set_arguments(LoadState& state, Node& root, const SpecType& type, SetPhase phase) {
  for (const std::string& argument : state.options.set) {
    apply(state, root, type, argument, phase);
  }
}

}  // namespace headway::config
