#include "sim/config/writer.h"

#include <utility>

#include "sim/config/unit_text.h"

namespace headway::config {

namespace {

Node scalar(std::string text, const Place& place, bool quoted = false) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  node.place = place;
  return node;
}

Node record_tree(const SpecType& type, const void* value, const Place& place) {
  Node node;
  node.kind = Node::Kind::mapping;
  node.place = place;
  for (const Field& field : type.fields) {
    const void* member = field.in(value);
    if (field.type->shape == Shape::optional && field.type->size(member) == 0) {
      continue;
    }
    node.entries.push_back({std::string(field.name), place, to_tree(*field.type, member, place)});
  }
  return node;
}

Node list_tree(const SpecType& type, const void* value, const Place& place) {
  Node node;
  node.kind = Node::Kind::list;
  node.place = place;
  for (std::size_t i = 0; i < type.size(value); ++i) {
    node.items.push_back(to_tree(*type.element, type.get_element(value, i), place));
  }
  return node;
}

void append(std::string& out, const Node& node, std::size_t indent);

void append_mapping(std::string& out, const Node& node, std::size_t indent, bool first_in_line) {
  for (const Entry& entry : node.entries) {
    out += first_in_line ? "" : std::string(indent, ' ');
    out += entry.key + ":";
    append(out, entry.value, indent + 2);
    first_in_line = false;
  }
}

void append_list(std::string& out, const Node& node, std::size_t indent) {
  for (const Node& item : node.items) {
    out += std::string(indent, ' ') + "-";
    if (item.is_mapping() && !item.entries.empty()) {
      out += " ";
      append_mapping(out, item, indent + 2, true);
    } else {
      append(out, item, indent + 2);
    }
  }
}

/// Appends what stands behind "key:" or "-", up to and with the end of the line.
void append(std::string& out, const Node& node, std::size_t indent) {
  if (node.is_mapping() && !node.entries.empty()) {
    out += "\n";
    append_mapping(out, node, indent, false);
  } else if (node.kind == Node::Kind::list && !node.items.empty()) {
    out += "\n";
    append_list(out, node, indent);
  } else if (node.is_scalar()) {
    out += " " + (node.quoted ? quoted(node.text) : node.text) + "\n";
  } else {
    out += node.is_mapping() ? " {}\n" : node.kind == Node::Kind::list ? " []\n" : " null\n";
  }
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

Node to_tree(const SpecType& type, const void* value, const Place& place) {
  switch (type.shape) {
    case Shape::number:
      return scalar(write_number(type.get_number(value)), place);
    case Shape::quantity:
      return scalar(write_quantity(type.get_number(value), type.dimension), place);
    case Shape::integer:
      return scalar(std::to_string(type.get_integer(value)), place);
    case Shape::flag:
      return scalar(type.get_integer(value) != 0 ? "true" : "false", place);
    case Shape::word:
      return scalar(std::string(type.words[static_cast<std::size_t>(type.get_integer(value))]),
                    place);
    case Shape::text:
      return scalar(*static_cast<const std::string*>(value), place, true);
    case Shape::optional:
    case Shape::or_auto:
      return type.size(value) == 0 ? scalar("auto", place)
                                   : to_tree(*type.element, type.get_element(value, 0), place);
    case Shape::list:
      return list_tree(type, value, place);
    case Shape::record:
      return record_tree(type, value, place);
  }
  return {};
}

std::string to_yaml(const Node& root) {
  std::string out;
  append_mapping(out, root, 0, true);
  return out;
}

std::string write_spec(const SpecType& type, const void* value) {
  return to_yaml(to_tree(type, value, {}));
}

}  // namespace headway::config
