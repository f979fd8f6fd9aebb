#include "sim/report/python_results.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/report/result_types.h"
#include "sim/report/wrap.h"

namespace headway::report {

namespace {

using core::Figure;
using core::FigureKind;

constexpr std::size_t kLineWidth = 96;

constexpr std::string_view kGenerated =
    "# Generated from the field lists of results by HEADWAY_UPDATE_GOLDEN=1 headway_report_test; "
    "edit\n# those, not this file.\n";

constexpr std::string_view kTypesHeader = R"("""What results have, for editors and checkers.

``headway.run(...)`` returns a `RunResult`, ``headway.plan(...)`` a `PlanResult`, and so on. At run
time these classes are `headway.Result`, and those of the parts of results `headway.Record`: the
names are for annotations, such as ``def cost(plan: PlannedRun) -> float``.

A part whose text begins with "not always there" is an AttributeError in results without it, as the
`pictures` of a run that was not asked for them. Keys that are words of Python or methods of
mappings, `class` and `values`, are no attributes: read ``record["class"]``.
"""

from collections.abc import Mapping
from typing import Any, Literal

from headway._record import Record, Result

class TableResult(Result):
    """A table alone: the catalogue, or what this installation finds."""

    @property
    def schema(self) -> str: ...
    @property
    def version(self) -> str:
        """of the program"""
    @property
    def rows(self) -> tuple[Any, ...]:
        """a line each; which columns there are is the table's"""
)";

constexpr std::string_view kModuleHeader =
    R"("""Names for annotations of results and of their parts.

Editors and checkers read what they have in ``results.pyi``. At run time a result is a
`headway.Result` and each of its parts a `headway.Record`.
"""

from headway._record import Record, Result

TableResult = Result
)";

/// Keys that mean something else as attributes: words of Python, and what `Record` and `Result`
/// have for themselves.
bool is_attribute(std::string_view key) {
  static constexpr std::array<std::string_view, 3> taken = {"class", "values", "verdict"};
  return std::ranges::find(taken, key) == taken.end();
}

/// "headway.topo-stress/1" -> "TopoStressResult"
std::string result_name(std::string_view schema) {
  const std::size_t start = schema.find('.') + 1;
  std::string name;
  bool capital = true;
  for (const char letter : schema.substr(start, schema.find('/') - start)) {
    if (letter != '-') {
      name += capital ? static_cast<char>(std::toupper(letter)) : letter;
    }
    capital = letter == '-';
  }
  return name + "Result";
}

/// "headway::training::StepReport" -> "StepReport"
std::string_view record_name(std::string_view record) {
  const std::size_t colon = record.rfind(':');
  return record.substr(colon == std::string_view::npos ? 0 : colon + 1);
}

/// Without the None of what may be absent.
std::string present_type(const Figure& figure);

std::string type_of(const Figure& figure) {
  return present_type(figure) + (figure.optional ? " | None" : "");
}

std::string list_type(const Figure& list) {
  const std::string element = type_of(list.parts.front());
  if (list.length == 0) {
    return fmt::format("tuple[{}, ...]", element);
  }
  const std::vector<std::string> elements(list.length, element);
  return fmt::format("tuple[{}]", fmt::join(elements, ", "));
}

std::string present_type(const Figure& figure) {
  switch (figure.kind) {
    case FigureKind::number:
      return "float";
    case FigureKind::integer:
      return "int";
    case FigureKind::flag:
      return "bool";
    case FigureKind::text:
    case FigureKind::digest:
      return "str";
    case FigureKind::word:
      return fmt::format("Literal[\"{}\"]", fmt::join(figure.words, "\", \""));
    case FigureKind::object:
      return std::string(record_name(figure.record));
    case FigureKind::list:
      return list_type(figure);
    case FigureKind::map:
      return fmt::format("Mapping[str, {}]", type_of(figure.parts.front()));
  }
  return {};
}

/// Where a record stands in the results.
struct Place {
  const Figure* figure = nullptr;
  std::string path;
  std::string_view command;
  std::string_view meaning;  ///< of the figure, or of the list or map that it is in
};

/// One class: a result, or a record that results have at one place or at several.
struct Class {
  std::string name;
  std::vector<Place> places;
};

class Collector {
 public:
  void add_result(const ResultType& type) {
    const Figure& root = type.specimen;
    classes_.push_back({result_name(type.schema), {{&root, "", type.command, type.preface}}});
    add_parts(root, "", type.command);
  }
  std::vector<Class> take() { return std::move(classes_); }

 private:
  void add_parts(const Figure& figure, const std::string& path, std::string_view command) {
    for (const Figure& part : figure.parts) {
      const bool named = figure.kind == FigureKind::object;
      const std::string dot = path.empty() ? "" : ".";
      add(part, named ? path + dot + part.key : path + "[]", command,
          named ? part.meaning : figure.meaning);
    }
  }

  void add(const Figure& part,
           const std::string& path,
           std::string_view command,
           std::string_view meaning) {
    if (part.kind == FigureKind::object) {
      const auto [known, is_new] = index_.try_emplace(part.record, classes_.size());
      if (is_new) {
        const std::string_view name = record_name(part.record);
        HEADWAY_CHECK(names_.insert(name).second, "two records are called {}", name);
        classes_.push_back({std::string(name), {}});
      }
      classes_[known->second].places.push_back({&part, path, command, meaning});
    }
    add_parts(part, path, command);
  }

  std::vector<Class> classes_;
  std::map<std::string_view, std::size_t> index_;  ///< of a record in `classes_`
  std::set<std::string_view> names_;
};

/// Text as a docstring in a block that is indented so far.
std::string docstring(const std::string& text, std::size_t indent) {
  const std::string margin(indent, ' ');
  const auto lines = wrapped("\"\"\"" + text, kLineWidth - indent);
  return fmt::format("{}{}\"\"\"\n", margin, fmt::join(lines, "\n" + margin));
}

/// What a figure means, and its unit where it is the same at all places.
std::string meaning_of(const Class& record, std::size_t i) {
  const Figure& part = record.places.front().figure->parts[i];
  const bool one_unit = std::ranges::all_of(
      record.places, [&](const Place& place) { return place.figure->parts[i].unit == part.unit; });
  const bool unit = one_unit && !part.unit.empty() && part.unit != "1";
  std::string text = part.on_request ? "not always there: " : "";
  text += part.meaning;
  return text.empty() || !unit ? text : fmt::format("{} [{}]", text, part.unit);
}

std::string property(const Class& record, std::size_t i) {
  const Figure& part = record.places.front().figure->parts[i];
  const std::string meaning = meaning_of(record, i);
  std::string text = fmt::format("    @property\n    def {}(self) -> {}:", part.key, type_of(part));
  return meaning.empty() ? text + " ...\n" : text + "\n" + docstring(meaning, 8);
}

void check_alike(const Class& record) {
  const auto& parts = record.places.front().figure->parts;
  for (const Place& place : record.places) {
    HEADWAY_CHECK(std::ranges::equal(parts, place.figure->parts,
                                     [](const Figure& a, const Figure& b) {
                                       return a.key == b.key && type_of(a) == type_of(b);
                                     }),
                  "{} is not the same at '{}' of {}", record.name, place.path, place.command);
  }
}

std::string class_text(const Class& record) {
  check_alike(record);
  const Place& first = record.places.front();
  const bool whole = first.path.empty();
  std::string summary = whole ? fmt::format("The object of ``{} --format json``.", first.command)
                              : fmt::format("`{}` of ``{}``", first.path, first.command);
  if (!first.meaning.empty()) {
    summary += fmt::format("{}{}", whole ? " " : ": ", first.meaning);
  }
  std::string text = fmt::format("\nclass {}({}):\n{}\n", record.name, whole ? "Result" : "Record",
                                 docstring(summary, 4));
  if (whole) {
    text += "    @property\n    def schema(self) -> str: ...\n";
  }
  for (std::size_t i = 0; i < first.figure->parts.size(); ++i) {
    if (is_attribute(first.figure->parts[i].key)) {
      text += property(record, i);
    }
  }
  return text;
}

std::vector<Class> all_classes() {
  Collector collector;
  for (const ResultType& type : result_types()) {
    collector.add_result(type);
  }
  return collector.take();
}

}  // namespace

std::string python_results_types() {
  std::string text = fmt::format("{}{}", kGenerated, kTypesHeader);
  for (const Class& record : all_classes()) {
    text += class_text(record);
  }
  return text;
}

std::string python_results_module() {
  std::string text = fmt::format("{}{}", kGenerated, kModuleHeader);
  for (const Class& record : all_classes()) {
    const bool whole = record.places.front().path.empty();
    text += fmt::format("{} = {}\n", record.name, whole ? "Result" : "Record");
  }
  return text;
}

}  // namespace headway::report
