#include "sim/report/page/page.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>

#include "sim/report/page/answer_tables.h"
#include "sim/report/page/canvas.h"
#include "sim/report/page/chart_parts.h"
#include "sim/report/page/charts.h"
#include "sim/report/page/html.h"
#include "sim/report/page/resources.h"
#include "sim/report/page/tiles.h"

namespace headway::report {

namespace {

/// Of a list that is seen at once.
constexpr std::size_t kOpenRows = 40;
/// Lines of the scenario: lists of measurements are cut to their first ones.
constexpr std::size_t kMostItems = 6;

/// The member that is a whole scenario as YAML.
constexpr const char* kResolved = "resolved";

/// Whether a value stands in one cell.
bool is_cell(const Json& value) {
  return !value.is_object() &&
         (!value.is_array() || std::none_of(value.begin(), value.end(),
                                            [](const Json& item) { return item.is_structured(); }));
}

/// Values with their dotted paths; lists of objects are left to tables of their own.
void flatten(const Json& value,
             const std::string& path,
             std::vector<std::pair<std::string, const Json*>>& out) {
  if (is_cell(value)) {
    out.emplace_back(path, &value);
  } else if (value.is_object()) {
    for (const auto& [key, part] : value.items()) {
      flatten(part, path.empty() ? key : path + "." + key, out);
    }
  }
}

/// How much of a result is shown, where a page of several has not room for all.
enum class Shown : std::uint8_t { all, without_pictures, without_figures, tiles };

class Section {
 public:
  /// @param command  that prints the result again; empty: not shown
  /// @param drawn    charts are; else their tables are seen at once
  /// @param shown    its pictures, where it says so, were taken from it
  Section(const ReadResult& result,
          std::string command,
          std::size_t number,
          bool drawn = true,
          Shown shown = Shown::all)
      : result_(result),
        command_(std::move(command)),
        id_(fmt::format("result-{}", number)),
        drawn_(drawn),
        shown_(shown) {}

  [[nodiscard]] std::string html() const {
    return element("section",
                   title() + status() + tiles() + verdict() +
                       (shown_ < Shown::tiles ? pictures() + answer_table(result_.json()) : "") +
                       (shown_ < Shown::without_figures ? figures() : ""),
                   {{"id", id_}});
  }

  /// Without the page's style: a table in place of tiles.
  [[nodiscard]] std::string summary() const {
    Table table{name(), {}, {{}}, false};
    for (const auto& [value, what] : tiles_of(result_.json())) {
      table.columns.push_back({what, false});
      table.rows.front().push_back(value);
    }
    return status() + (table.columns.empty() ? element("b", escaped(name())) : html_table(table)) +
           verdict();
  }

  [[nodiscard]] std::string name() const {
    if (const std::string named = text({"scenario", "name"}); !named.empty()) {
      const std::string fault = text({"fault", "kind"});
      return fault.empty() ? named : fmt::format("Fire drill of {}: {}", fault, named);
    }
    const std::string a = text({"a", "name"});
    const std::string b = text({"b", "name"});
    if (!a.empty() && !b.empty()) {
      return a == b ? fmt::format("{}, A and B", a) : fmt::format("{} and {}", a, b);
    }
    if (const std::string alone = text({"name"}); !alone.empty()) {
      return alone;  // of a sweep
    }
    return text({"schema"}).starts_with("headway.validate") ? "Published figures and predictions"
                                                            : text({"schema"});
  }

 private:
  [[nodiscard]] std::string figures() const {
    return element("h2", "All figures") +
           element("p",
                   "Under the keys that the JSON, <code>assert</code> and Python have for them.",
                   {{"class", "soft"}}) +
           tables() + scenarios();
  }

  [[nodiscard]] const Json& at(Keys keys) const { return report::at(result_.json(), keys); }
  [[nodiscard]] std::string text(Keys keys) const { return text_at(result_.json(), keys); }

  [[nodiscard]] std::string title() const {
    std::string html = element("h1", escaped(name()));
    for (const auto& line : at({"asked"})) {
      html += element("p", escaped(text_of(line)));
    }
    std::string from = text({"schema"});
    if (const std::string version = text({"version"}); !version.empty()) {
      from += fmt::format(", headway {}", version);
    }
    const std::initializer_list<std::pair<const char*, const char*>> kDigests{
        {"event_digest", "events"}, {"result_digest", "result of the step"}};
    if (at({"scenario"}).is_object()) {
      from += fmt::format(", scenario {}, seed {}", text({"scenario", "digest"}),
                          text_of(at({"scenario", "seed"}))) +
              calibrated(text({"scenario", "calibration"}));
    }
    for (const char* side : {"a", "b"}) {
      if (const std::string digest = text({side, "digest"}); !digest.empty()) {
        from += fmt::format(", {} {}, seed {}", side[0] == 'a' ? "A" : "B", digest,
                            text_of(at({side, "seed"}))) +
                calibrated(text({side, "calibration"}));
      }
    }
    for (const auto& input : at({"inputs"})) {
      from += fmt::format(", {} {}", text_at(input, {"name"}), text_at(input, {"digest"}));
    }
    if (const Json& seed = at({"seed"}); at({"inputs"}).is_array()) {
      from += seed.is_null() ? ", nothing is drawn" : ", seed " + text_of(seed);
    }
    if (const std::string digest = text({"digest"}); !digest.empty()) {
      from += fmt::format(", scenario and points {}", digest);  // of a sweep
    }
    for (const auto& [key, word] : kDigests) {
      if (const std::string digest = text({"step", key}); !digest.empty()) {
        from += fmt::format(", {} {}", word, digest);
      }
    }
    return html + element("p",
                          escaped(from) + "<br>" +
                              element("code", escaped(shown_command(command_))) + made_again(),
                          {{"class", "soft"}});
  }

  /// @param profile  as the scenario names it; `catalogue` where it has none
  static std::string calibrated(const std::string& profile) {
    return profile == "catalogue" ? ", not calibrated" : ", calibration: " + profile;
  }

  /// How to have the result again, where the command that made it is not known.
  [[nodiscard]] std::string made_again() const {
    if (command_.empty() || command_.starts_with("headway ")) {
      return "";
    }
    const std::string schema = text({"schema"});
    const auto says = [](const char* members, const char* command) {
      return fmt::format("<br>Again: save {} of the result's JSON, then <code>{}</code>.", members,
                         command);
    };
    const bool drawn = !text({"pictures", "scenario"}).empty();
    return schema == "headway.run/1" ? drawn
                                           ? says("<code>pictures.scenario</code> as scenario.yaml",
                                                  "headway run scenario.yaml")
                                           : ""
           : schema == "headway.sweep/1"
               ? says("<code>resolved</code> as scenario.yaml", "headway sweep scenario.yaml")
           : schema == "headway.compare/1"
               ? says("<code>a.resolved</code> as a.yaml and <code>b.resolved</code> as b.yaml",
                      "headway compare a.yaml b.yaml")
           : schema == "headway.plan/1"
               ? says("<code>resolved</code> as scenario.yaml",
                      "headway plan scenario.yaml</code> with the limits as asked<code>")
           : schema == "headway.drill/1"
               ? says("<code>resolved</code> as scenario.yaml",
                      "headway drill scenario.yaml</code> with the fault as asked<code>")
               : "";
  }

  [[nodiscard]] std::string tiles() const {
    std::string html;
    for (const auto& [value, what] : tiles_of(result_.json())) {
      html += element("li", element("b", escaped(value)) + element("span", escaped(what)));
    }
    return html.empty() ? "" : element("ul", html, {{"class", "tiles"}});
  }

  /// Where it is not well, before any figure: they are of what cannot be, then.
  [[nodiscard]] std::string status() const {
    std::string html;
    if (const std::string status = text({"status"}); !status.empty() && status != "ok") {
      html += element("p", escaped("Status: " + status), {{"class", "bad"}});
    }
    for (const auto& reason : at({"reasons"})) {
      html += element("p", escaped(text_of(reason)), {{"class", "bad"}});
    }
    return html;
  }

  [[nodiscard]] std::string verdict() const {
    std::string html;
    if (const std::string sentence = verdict_of(result_.json()); !sentence.empty()) {
      html += element("p", escaped(sentence), {{"class", "verdict"}});
    }
    for (const auto& warning : at({"warnings"})) {
      html += element("p", escaped("Warning: " + text_of(warning)), {{"class", "warning"}});
    }
    std::string list;
    for (const auto& remedy : at({"remedies"})) {
      // Of a run: what it brings, what to change; of a drill: what it saves, what and how.
      const auto saved = number_at(remedy, {"saved_s"});
      if (saved.value_or(1) <= 0) {
        continue;
      }
      list +=
          element("li", escaped(saved ? fmt::format("{} s saved: {} ({})", number(*saved),
                                                    text_of(remedy["name"]), text_of(remedy["how"]))
                                      : fmt::format("{}: {}", text_of(remedy["brings"]),
                                                    text_of(remedy["change"]))));
    }
    return html + (list.empty() ? "" : element("h2", "What would help") + element("ol", list));
  }

  [[nodiscard]] std::string pictures() const {
    std::string html = canvases_of(result_, id_);
    if (html.empty() && at({"step", "breakdown_s"}).is_object()) {
      html = element("p",
                     shown_ != Shown::all
                         ? "The timeline of the pipeline, the memory of its stages and what else "
                           "--pictures adds are left out here: see above."
                         : "The timeline of the pipeline and the memory of its stages are in "
                           "results of <code>headway run --pictures</code>.",
                     {{"class", "soft"}});
    }
    if (const std::string why = text({"pictures", "cables_why"}); !why.empty()) {
      html += element("p",
                      escaped(fmt::format("There is no heat map of the cables between leaves "
                                          "and spines: {}.",
                                          why)),
                      {{"class", "soft"}});
    }
    std::string charts;
    for (const auto& chart : charts_of(result_)) {
      const std::string id = id_ + "-" + chart.id;
      charts += element(
          "figure",
          element("figcaption", element("h3", escaped(chart.title))) +
              element("div", "",
                      {{"class", "chart"}, {"id", "chart-" + id}, {"data-title", chart.title}}) +
              embedded_json(chart.specification, id, "specification") +
              folded("The same as a table", data_table(chart), !drawn_));
    }
    return html + (charts.empty() ? "" : element("div", charts, {{"class", "charts"}}));
  }

  /// What a chart draws, in figures.
  static std::string data_table(const Chart& chart) {
    return object_table("", chart.specification["data"]["values"]);
  }

  /// A list of objects: one row each, one column a value that any of them has.
  static std::string object_table(const std::string& caption, const Json& rows) {
    std::vector<std::string> order;
    std::map<std::string, bool> numeric;
    std::vector<std::map<std::string, std::string>> cells;
    for (const auto& row : rows) {
      if (cells.size() == kMostRows) {
        break;
      }
      std::vector<std::pair<std::string, const Json*>> parts;
      flatten(row, "", parts);
      auto& line = cells.emplace_back();
      for (const auto& [path, value] : parts) {
        if (!numeric.contains(path)) {
          order.push_back(path);
          numeric[path] = true;
        }
        numeric[path] = numeric[path] && (value->is_number() || value->is_null());
        line[path] = text_of(*value);
      }
    }
    Table table{caption, {}, {}, false};
    for (const auto& path : order) {
      table.columns.push_back({path, numeric[path]});
    }
    for (auto& line : cells) {
      std::vector<std::string> row;
      for (const auto& path : order) {
        row.push_back(line[path]);
      }
      table.rows.push_back(std::move(row));
    }
    return html_table(table) + cut_note(rows.size());
  }

  /// Every figure of an object with its unit and meaning.
  [[nodiscard]] std::string figure_table(const std::string& key, const Json& object) const {
    std::vector<std::pair<std::string, const Json*>> parts;
    flatten(object, key, parts);
    Table table{"", {{"figure", false}, {"value"}, {"unit", false}, {"meaning", false}}, {}, false};
    for (const auto& [path, value] : parts) {
      if (path.ends_with(kResolved)) {
        continue;  // stands below
      }
      const core::Figure* known = core::find_figure(result_.type().specimen, path);
      table.rows.push_back({path, text_of(*value), known ? std::string(known->unit) : "",
                            known ? std::string(known->meaning) : ""});
    }
    return html_table(table) + lists_in(key, object);
  }

  /// Lists of objects inside an object, each as a table.
  [[nodiscard]] std::string lists_in(const std::string& path, const Json& value) const {
    std::string html;
    for (const auto& [key, part] : value.items()) {
      const std::string here = path + "." + key;
      if (part.is_object()) {
        html += lists_in(here, part);
      } else if (part.is_array() && !is_cell(part)) {
        html += object_table(here, part);
      }
    }
    return html;
  }

  /// Plans are called by their place, from 1.
  static Json numbered(const Json& plans) {
    Json rows = Json::array();
    for (const auto& plan : plans) {
      Json row = {{"plan", rows.size() + 1}};
      row.update(plan);
      rows.push_back(std::move(row));
    }
    return rows;
  }

  /// The list that the verb was asked for: it is seen without a click, where no table of fewer
  /// columns stands above it.
  [[nodiscard]] bool is_answer(const std::string& key) const {
    return key == "timeline" ||
           (key == "rows" && text({"schema"}).starts_with("headway.validate")) ||
           (key == "rejected" && at({"plans"}).empty());
  }

  [[nodiscard]] std::string tables() const {
    std::string html;
    Json rest = Json::object();
    for (const auto& [key, value] : result_.json().items()) {
      if (key == "pictures" || value.empty()) {
        continue;
      }
      if (value.is_object()) {
        html += folded(key, figure_table(key, value));
      } else if (!is_cell(value)) {
        const std::string list =
            folded(key, object_table("", key == "plans" ? numbered(value) : value),
                   is_answer(key) && value.size() <= kOpenRows);
        // Of plans the table above is meant.
        html += key == "plans" ? list : element("div", list, {{"data-list", key}});
      } else {
        rest[key] = value;
      }
    }
    return html + folded("the rest", figure_table("", rest));
  }

  /// All that were read; of a comparison two.
  [[nodiscard]] std::string scenarios() const {
    const std::string_view of = "The scenario as it was read, all defaults written out";
    return scenario(text({"pictures", "scenario"}), std::string(of)) +
           scenario(text({kResolved}), std::string(of)) +
           scenario(text({"a", kResolved}), fmt::format("A: {}", of)) +
           scenario(text({"b", kResolved}), fmt::format("B: {}", of));
  }

  /// A resolved scenario; measured tables inside it are cut.
  static std::string scenario(const std::string& yaml, const std::string& what) {
    if (yaml.empty()) {
      return "";
    }
    std::string shown;
    std::size_t items = 0;
    for (std::size_t begin = 0; begin < yaml.size();) {
      const std::size_t end = std::min(yaml.find('\n', begin), yaml.size() - 1);
      const std::string line = yaml.substr(begin, end - begin + 1);
      const std::size_t dash = line.find_first_not_of(' ');
      const bool item = dash != std::string::npos && line.compare(dash, 2, "- ") == 0 &&
                        line.find(':') == std::string::npos;
      items = item ? items + 1 : 0;
      if (items <= kMostItems) {
        shown += line;
      } else if (items == kMostItems + 1) {
        shown += std::string(dash, ' ') + "# and so on\n";
      }
      begin = end + 1;
    }
    return folded(what, element("pre", escaped(shown)));
  }

  const ReadResult& result_;
  std::string command_;
  std::string id_;
  bool drawn_;
  Shown shown_;
};

std::string warning(const std::string& text) { return element("p", text, {{"class", "warning"}}); }

/// Shows less of the last of several results, and of more of them, until the page is small enough.
/// @param size      of the page as it is
/// @param sections  of the results
/// @return of how many less is shown than this: 0 of all, pictures, figures
std::array<std::size_t, 3> shorten(const std::vector<PageResult>& results,
                                   std::size_t size,
                                   bool drawn,
                                   std::vector<std::string>& sections) {
  std::array<std::size_t, 3> less{};
  for (const Shown shown : {Shown::without_pictures, Shown::without_figures, Shown::tiles}) {
    for (std::size_t r = results.size(); r-- > 1 && size > kLargestPage;) {
      const Json& whole = results[r].result.json();
      if (shown == Shown::without_pictures && !whole.contains("pictures")) {
        continue;
      }
      Json json = Json::object();  // pictures are most of it
      for (const auto& [key, part] : whole.items()) {
        if (key != "pictures") {
          json[key] = part;
        }
      }
      const ReadResult rest(std::move(json), results[r].command);
      size -= sections[r].size();
      sections[r] = Section(rest, results[r].command, r, drawn, shown).html();
      size += sections[r].size();
      ++less[static_cast<std::size_t>(shown) - 1];
    }
  }
  return less;
}

/// Of how many results less is shown, and what.
std::string what_is_left_out(const std::array<std::size_t, 3>& less, std::size_t results) {
  const auto [pictures, figures, charts] = less;
  std::string text = pictures > 0
                         ? fmt::format(
                               "{} of the {} results have no timelines here, and no charts of the "
                               "step and the run as they go on",
                               pictures, results)
                         : "";
  if (figures > 0) {
    text += (text.empty() ? "" : "; ") +
            fmt::format("{} of the {} have no tables of all figures, assumptions and fields",
                        figures, results);
  }
  if (charts > 0) {
    text += fmt::format("; {} have their first figures and verdict alone", charts);
  }
  return text.empty()
             ? ""
             : warning(fmt::format("{}, or the page would be larger than {:.1f} MB; a page "
                                   "of fewer results has them.",
                                   text, static_cast<double>(kLargestPage) / 1e6));
}

}  // namespace

std::string report_page(const std::vector<PageResult>& results, const std::string& charts) {
  std::string title;
  std::vector<std::string> sections;
  constexpr std::size_t kAround = 4'000;  // head, tags and what is said of what is left out
  std::size_t size = kAround + charts.size() + page_script().size() + page_style().size();
  for (std::size_t r = 0; r < results.size(); ++r) {
    const Section section(results[r].result, results[r].command, r, !charts.empty());
    sections.push_back(section.html());
    size += sections.back().size();
    title += (title.empty() ? "" : "; ") + section.name();
    size += section.name().size() + 2;
  }
  std::string lacks = charts.empty()
                          ? warning(
                                "This installation has no chart library (see docs/report.md), so "
                                "tables stand where charts would.")
                          : "";
  lacks += what_is_left_out(shorten(results, size, !charts.empty(), sections), results.size());
  const std::string body = fmt::format("{}", fmt::join(sections, ""));
  const std::string packed =
      charts.empty() ? "" : element("script", charts, {{"type", "text/plain"}, {"id", "charts"}});
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:\">\n" +
         element("title", escaped(title)) + element("style", std::string(page_style())) +
         "</head><body>\n" + lacks + body + packed +
         element("script", std::string(page_script()), {{"type", "module"}}) + "</body></html>\n";
}

std::string report_section(const ReadResult& result,
                           const std::string& command,
                           std::size_t number) {
  return Section(result, command, number).html();
}

std::string report_summary(const ReadResult& result) { return Section(result, "", 0).summary(); }

}  // namespace headway::report
