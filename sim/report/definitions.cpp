#include "sim/report/definitions.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "sim/report/result_types.h"
#include "sim/report/verbs/run_table.h"

namespace headway::report {

namespace {

/// Which records are defined already, and where: "`step` of `headway run`".
using Defined = std::map<std::string_view, std::string>;

/// Whether a part says more than the figure it is part of.
bool says_more(const core::Figure& figure) {
  return std::any_of(figure.parts.begin(), figure.parts.end(),
                     [](const auto& part) { return !part.meaning.empty() || says_more(part); });
}

class Definer {
 public:
  explicit Definer(std::string_view command) : command_(command) {}

  /// A row for each part that has a meaning of its own.
  void add_parts(const core::Figure& figure, const std::string& path, Defined& defined) {
    for (const core::Figure& part : figure.parts) {
      if (figure.kind == core::FigureKind::list) {
        add(part, path + "[]", "", defined);
      } else {
        add(part, path.empty() ? part.key : path + "." + part.key, std::string(part.meaning),
            defined);
      }
    }
  }
  std::vector<Definition> take() { return std::exchange(rows_, {}); }

 private:
  void add(const core::Figure& part,
           const std::string& path,
           std::string meaning,
           Defined& defined) {
    const bool record = !part.record.empty() && says_more(part);
    const auto known = record ? defined.find(part.record) : defined.end();
    if (known != defined.end()) {
      meaning += fmt::format("{}parts as in {}", meaning.empty() ? "" : "; ", known->second);
    }
    if (!meaning.empty()) {
      rows_.push_back({path, std::string(part.unit), meaning});
    }
    if (known != defined.end()) {
      return;
    }
    if (record) {
      defined[part.record] = fmt::format("`{}` of `{}`", path, command_);
    }
    add_parts(part, path, defined);
  }

  std::string_view command_;
  std::vector<Definition> rows_;
};

/// One section for what stands alone, one for each object of the result that is new.
void add_sections(const ResultType& type, Defined& defined, std::vector<DefinitionSection>& out) {
  Definer definer(type.command);
  core::Figure rest;
  std::vector<DefinitionSection> objects;
  for (const core::Figure& part : type.specimen.parts) {
    if (part.kind != core::FigureKind::object || defined.contains(part.record)) {
      rest.parts.push_back(part);
      continue;
    }
    const std::string title = fmt::format("`{}` of `{}`", part.key, type.command);
    defined[part.record] = title;
    definer.add_parts(part, part.key, defined);
    objects.push_back({title, std::string(part.meaning), definer.take()});
  }
  definer.add_parts(rest, "", defined);
  out.push_back({fmt::format("`{}`", type.command), std::string(type.preface), definer.take()});
  out.insert(out.end(), objects.begin(), objects.end());
}

DefinitionSection label_section() {
  DefinitionSection section{
      "Rows of the tables of `headway run`", "Each shows a figure of the JSON.", {}};
  for (const LabelledFigure& row : labels_of_a_run()) {
    section.definitions.push_back({std::string(row.label), "", fmt::format("`{}`", row.path)});
  }
  return section;
}

constexpr const char* kPreface =
    "# Definitions of the printed figures\n\n"
    "One row a figure, by verb; SI units, as the JSON keys say; a part without a row means what "
    "the figure means that it is part of.\n"
    "This page is written from the field lists of the results; a test compares them.\n";

constexpr const char* kConventions =
    "\n## Other conventions\n\n"
    "Effective MFU = `mfu x ettr`. Compare ETTR with other reports with care: some divide by the "
    "time between failures (18 minutes with 10 of\n"
    "downtime is then 0.44; by the definition here, where the clock of failures stands still while "
    "the job is down, 18 / 28 = 0.64 before\n"
    "lost work), some leave lost steps out.\n";

}  // namespace

std::vector<DefinitionSection> definitions() {
  std::vector<DefinitionSection> all;
  Defined defined;
  for (const ResultType& type : result_types()) {
    add_sections(type, defined, all);
  }
  all.push_back(label_section());
  return all;
}

std::string definitions_page() {
  std::string page = kPreface;
  for (const auto& section : definitions()) {
    page += fmt::format("\n## {}\n\n", section.title);
    if (!section.preface.empty()) {
      page += section.preface + "\n\n";
    }
    page += "| figure | unit | meaning |\n|---|---|---|\n";
    for (const auto& d : section.definitions) {
      page += fmt::format("| `{}` | {} | {} |\n", d.figure, d.unit, d.meaning);
    }
  }
  return page + kConventions;
}

}  // namespace headway::report
