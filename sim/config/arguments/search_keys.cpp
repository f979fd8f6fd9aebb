#include "sim/config/arguments/search_keys.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace headway::config {

namespace {

/// Paths that `search` has a list of its own for.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOwnLists{
    {{"cluster.nodes", "nodes"},
     {"training.global_batch", "global_batch"},
     {"training.sequence_length", "sequence_length"},
     {"training.precision", "precision"}}};

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

/// What an entry whose key is a path is short for: a field of `search`; nothing for an axis.
std::string_view own_list(const Entry& entry) {
  if (entry.key == "cluster.spares" && entry.value.is_scalar() && entry.value.text == "auto") {
    return "spares";
  }
  return entry.value.is_mapping() ? "" : own_search_list(entry.key);
}

}  // namespace

std::string_view own_search_list(std::string_view path) {
  const auto* const found = std::find_if(kOwnLists.begin(), kOwnLists.end(),
                                         [&](const auto& own) { return own.first == path; });
  return found == kOwnLists.end() ? "" : found->second;
}

void expand_search_keys(Node& root, Complaints& complaints) {
  Entry* search = root.find("search");
  if (search == nullptr || !search->value.is_mapping()) {
    return;
  }
  std::set<std::string> fields;
  std::vector<Entry> kept;
  std::vector<Node> axes;

  for (Entry& entry : search->value.entries) {
    if (entry.key.find('.') == std::string::npos) {
      fields.insert(kept.emplace_back(std::move(entry)).key);
    }
  }
  for (Entry& entry : search->value.entries) {
    if (entry.key.find('.') == std::string::npos) {
      continue;
    }
    if (const auto field = own_list(entry); !field.empty()) {
      if (!fields.insert(std::string(field)).second) {
        complaints.add(entry.place,
                       fmt::format("'{}' is 'search.{}', which is there too; keep one of them",
                                   entry.key, field));
        continue;
      }
      Node value = field == "spares" ? std::move(entry.value) : list_of(std::move(entry.value));
      kept.push_back({std::string(field), entry.place, std::move(value)});
    } else {
      axes.push_back(axis_of(entry));
    }
  }
  search->value.entries = std::move(kept);
  if (axes.empty()) {
    return;
  }
  Entry* over = search->value.find("over");
  if (over == nullptr) {
    Node list;
    list.kind = Node::Kind::list;
    list.place = axes.front().place;
    search->value.entries.push_back({"over", list.place, std::move(list)});
    over = &search->value.entries.back();
  }
  for (Node& axis : axes) {
    over->value.items.push_back(std::move(axis));
  }
}

}  // namespace headway::config
