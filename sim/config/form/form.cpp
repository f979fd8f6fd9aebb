#include "sim/config/form/form.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/config/arguments/set_argument.h"
#include "sim/config/parse_yaml.h"
#include "sim/config/resolve.h"
#include "sim/config/spec_type.h"
#include "sim/config/unit_text.h"
#include "sim/config/writer.h"

namespace headway::config {

namespace {

using Json = nlohmann::ordered_json;

std::string_view shape_name(Shape shape) {
  switch (shape) {
    case Shape::number:
      return "number";
    case Shape::integer:
      return "integer";
    case Shape::flag:
      return "flag";
    case Shape::quantity:
      return "quantity";
    case Shape::word:
      return "word";
    case Shape::record:
      return "record";
    case Shape::list:
      return "list";
    default:
      return "text";
  }
}

/// Collects the structs that a form refers to.
class FormWriter {
 public:
  void add_type(const SpecType& type);
  Json types = Json::object(), units = Json::object();

 private:
  Json field(const Field& field, const SpecType& record);
};

void add_ends(Json& out, const core::Range& range) {
  if (std::isfinite(range.low)) {
    out["low"] = range.low;
  }
  if (std::isfinite(range.high)) {
    out["high"] = range.high;
  }
}

Json FormWriter::field(const Field& field, const SpecType& record) {
  Json out = {{"key", field.name}, {"about", field.description}};
  const SpecType* type = field.type;
  for (; type->shape == Shape::optional || type->shape == Shape::or_auto; type = type->element) {
    out[type->shape == Shape::optional ? "optional" : "auto"] = true;
  }
  out["shape"] = shape_name(type->shape);
  if (field.required) {
    out["required"] = true;
  } else {
    const Node value = to_tree(*field.type, field.in(record.defaults), {});
    if (value.is_scalar() && !out.contains("optional")) {
      out["default"] = value.text;
    }
  }
  if (*field.range.words != '\0') {
    out["range"] = field.range.words;
  }
  if (type->shape == Shape::number || type->shape == Shape::integer) {
    add_ends(out, field.range);
  }
  if (type->shape == Shape::quantity) {
    const std::string name(dimension_name(type->dimension));
    out["unit"] = name;
    units[name] = unit_spellings(type->dimension);
  } else if (type->shape == Shape::word) {
    out["words"] = type->words;
  } else if (type->shape == Shape::record) {
    out["type"] = type->name;
    add_type(*type);
  }
  return out;
}

void FormWriter::add_type(const SpecType& type) {
  const std::string name(type.name);
  if (types.contains(name)) {
    return;
  }
  types[name] = {{"catalogue", type.catalogue}};
  Json fields = Json::array();
  for (const Field& one : type.fields) {
    fields.push_back(field(one, type));
  }
  types[name]["fields"] = std::move(fields);
}

Json values_of(const Node& node, std::size_t most_items) {
  Json out;
  if (node.is_scalar()) {
    out = node.text;
  } else if (node.is_mapping()) {
    out = Json::object();
    for (const Entry& entry : node.entries) {
      out[entry.key] = values_of(entry.value, most_items);
    }
  } else if (node.kind == Node::Kind::list && node.items.size() <= most_items) {
    out = Json::array();
    for (const Node& item : node.items) {
      out.push_back(values_of(item, most_items));
    }
  } else if (node.kind == Node::Kind::list) {
    out = node.items.size();
  }
  return out;
}

const SpecType& type_of_scenarios() { return *find_kind("scenarios")->type; }

/// The tree of the text, changed where `--set` can change it before anything is resolved.
class EditedTree {
 public:
  explicit EditedTree(const EditedScenario& edited, bool with_changes = true)
      : state_{edited.options, {}, {}, {}, {}, {}},
        root_(parse_tree(
            state_,
            SourceFile(edited.file_name.string(), edited.file_name.parent_path(), edited.text),
            type_of_scenarios())) {
    if (with_changes) {
      apply_set_arguments(state_, root_, type_of_scenarios(), SetPhase::before_use);
    }
  }
  EditedTree(const EditedTree&) = delete;
  EditedTree& operator=(const EditedTree&) = delete;

  [[nodiscard]] const Node& root() const { return root_; }

 private:
  LoadState state_;
  Node root_;
};

void collect_used(const Node& node,
                  const std::string& path,
                  std::map<std::string, std::string>& out) {
  for (const Entry& entry : node.entries) {
    if (entry.key == "use" && entry.value.is_scalar() && !path.empty()) {
      out[path] = entry.value.text;
    }
    collect_used(entry.value, path.empty() ? entry.key : path + "." + entry.key, out);
  }
}

/// Where a complaint may stand, and the path of what stands there.
class PlaceFinder {
 public:
  explicit PlaceFinder(const core::SourceMark& mark) : mark_(mark) {}

  void look(const Node& node, const std::string& path) {
    meet(node.place, path);
    for (const Entry& entry : node.entries) {
      const std::string inner = path.empty() ? entry.key : path + "." + entry.key;
      meet(entry.place, inner);
      look(entry.value, inner);
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      look(node.items[i], fmt::format("{}[{}]", path, i));
    }
  }
  [[nodiscard]] const std::string& found() const { return found_; }

 private:
  /// The last that begins in the line of the mark and not behind it.
  void meet(const Place& place, const std::string& path) {
    if (place.file == nullptr || place.line != mark_.line || path.empty()) {
      return;
    }
    const int column = to_mark(place).column;
    if (column <= mark_.column && column >= column_) {
      found_ = path;
      column_ = column;
    }
  }

  const core::SourceMark& mark_;
  std::string found_;
  int column_ = 0;
};

}  // namespace

std::string form_json(const std::vector<std::filesystem::path>& roots) {
  FormWriter writer;
  writer.add_type(type_of_scenarios());
  Json entries = Json::object();
  for (const auto& kind : catalogue_kinds()) {
    if (kind != "scenarios") {
      Json names = Json::array();
      for (const auto& entry : list_entries(kind, roots)) {
        names.push_back(entry.name);
      }
      entries[kind] = std::move(names);
    }
  }
  return Json{{"root", type_of_scenarios().name},
              {"types", std::move(writer.types)},
              {"units", std::move(writer.units)},
              {"catalogue", std::move(entries)}}
      .dump();
}

std::string values_json(const training::Scenario& scenario, std::size_t most_items) {
  return values_of(to_tree(type_of_scenarios(), &scenario, {}), most_items)
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::map<std::string, std::string> used_entries(const EditedScenario& edited) {
  std::map<std::string, std::string> out;
  const EditedTree tree(edited);
  collect_used(tree.root(), "", out);
  return out;
}

std::string field_of(const EditedScenario& edited, const core::SourceMark& mark) {
  constexpr std::string_view kArgument = "argument --set ";
  if (mark.file.starts_with(kArgument)) {
    const std::string change = mark.file.substr(kArgument.size());
    return change.substr(0, change.find('='));
  }
  if (mark.file != edited.file_name.string() || mark.line == 0) {
    return "";
  }
  try {
    const EditedTree tree(edited, false);
    PlaceFinder finder(mark);
    finder.look(tree.root(), "");
    return finder.found();
  } catch (const core::Error&) {
    return "";  // the complaint is that this is no YAML
  }
}

std::string changed_text(const EditedScenario& edited) {
  if (edited.options.set.empty()) {
    return edited.text;
  }
  const auto has_index = [](const std::string& change) {
    return change.substr(0, change.find('=')).find('[') != std::string::npos;
  };
  const auto loaded = load_scenario_text(edited.text, edited.file_name, edited.options);
  if (std::any_of(edited.options.set.begin(), edited.options.set.end(), has_index)) {
    return loaded.canonical_text;
  }
  const EditedTree tree(edited);
  return to_yaml(tree.root());
}

}  // namespace headway::config
