#include "sim/report/page/canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <string_view>

#include "sim/report/page/chart_parts.h"
#include "sim/report/page/figure_words.h"
#include "sim/report/page/html.h"
#include "sim/report/page/repeats.h"

namespace headway::report {

namespace {

/// What lies between each span and the one before it, which is shorter than where they begin.
Json gaps(const Json& begin, const Json& length) {
  Json list = Json::array();
  std::int64_t end = 0;
  for (std::size_t i = 0; i < std::min(begin.size(), length.size()); ++i) {
    list.push_back(begin[i].get<std::int64_t>() - end);
    end = begin[i].get<std::int64_t>() + length[i].get<std::int64_t>();
  }
  return list;
}

/// What is added to each entry's forerunner: numbers of micro-batches count up.
Json differences(const Json& list) {
  Json out = Json::array();
  std::int64_t last = 0;
  for (const Json& each : list) {
    out.push_back(each.get<std::int64_t>() - last);
    last = each.get<std::int64_t>();
  }
  return out;
}

/// Seconds in tenths, which are less than a pixel of weeks.
Json tenths(const Json& seconds) {
  Json whole = Json::array();
  for (const Json& each : seconds) {
    whole.push_back(std::llround(10 * number_at(each, {}).value_or(0)));
  }
  return whole;
}

/// A row of spans of one kind; times are whole numbers.
Json row_of(const std::string& label, const Json& begin, const Json& length) {
  return {{"label", label},
          {"gap", without_repeats(gaps(begin, length))},
          {"length", without_repeats(length)}};
}

/// @param drawing  rows of spans with their labels, what a span may be, the length of a unit
/// @param note     what the reader should know
std::string canvas(const std::string& id,
                   const std::string& title,
                   const Json& drawing,
                   const std::string& note) {
  const std::string tools =
      "<button type=\"button\">zoom in</button><button type=\"button\">zoom out</button>"
      "<button type=\"button\">all of it</button>";
  return element("h2", escaped(title)) + embedded_json(drawing, id) +
         element("div",
                 tools +
                     element("canvas", "Needs a script.",
                             {{"tabindex", "0"},
                              {"role", "img"},
                              {"aria-label",
                               title + "; keys + - 0, left and right zoom and move; up and down "
                                       "choose a row, comma and point a span of it"}}) +
                     element("p", "", {{"class", "told"}, {"aria-live", "polite"}}) +
                     element("div", "", {{"class", "legend"}}),
                 {{"class", "timeline"}, {"data-source", id}}) +
         element("p",
                 escaped(note) +
                     element("span",
                             escaped(" Keys + - 0, left and right, a drag, a double click or the "
                                     "wheel with shift zoom and move; up and down choose a row, "
                                     "comma and point a span of it, which is told below."),
                             {{"class", "keys"}}),
                 {{"class", "soft"}});
}

/// Which spans the closed form of a contribution is part of; empty: of none.
std::string_view span_of(const std::string& activity, const std::string& what) {
  const auto says = [&what](std::string_view word) { return what.find(word) != std::string::npos; };
  if (activity == "optimizer") {
    return "optimizer";
  }
  if (activity == "data") {
    return "data-parallel communication";
  }
  if (activity == "other" || activity == "pipeline_p2p") {
    return {};
  }
  if (says("weight gradient")) {
    return "weight gradient";
  }
  return says("gradient") || says("backward") || says("re-gather") ? "backward" : "forward";
}

/// Of each kind of span the closed forms of its largest parts, as the explanation has them.
Json formulas(const Json& names, const Json& contributions) {
  constexpr std::size_t kMost = 3;
  std::map<std::string, Json> of;
  for (const Json& part : contributions) {
    const std::string what = text_of(part["what"]);
    const std::string line = what + ": " + text_of(part["formula"]);
    const std::string kind(span_of(text_of(part["activity"]), what));
    // Where weight gradients are no passes of their own, they are in the backward pass.
    for (const std::string& each :
         {kind, std::string(kind == "weight gradient" ? "backward" : "")}) {
      if (!each.empty() && of[each].size() < kMost) {
        of[each].push_back(line);
      }
    }
  }
  Json list = Json::array();
  for (const Json& name : names) {
    const auto found = of.find(text_of(name));
    list.push_back(found == of.end() ? Json::array() : found->second);
  }
  return list;
}

/// The first of a list, at most so many.
Json first_of(const Json& list, std::size_t most) {
  return list.size() <= most ? list
                             : Json(std::vector<Json>(
                                   list.begin(), list.begin() + static_cast<std::ptrdiff_t>(most)));
}

/// @param most  spans that are drawn, the first
Json row_of_stage(const Json& stage, const std::string& label, std::size_t most) {
  const auto spans = [&](const char* key) { return first_of(stage[key], most); };
  Json row = row_of(label, spans("begin_us"), spans("length_us"));
  row["exposed"] = without_repeats(spans("exposed_us"));
  row["what"] = without_repeats(spans("what"));
  row["more"] = without_repeats(differences(spans("micro_batch")));
  row["chunk"] = without_repeats(spans("chunk"));
  return row;
}

/// Rows of stages for which a page has room.
struct DrawnStages {
  Json rows = Json::array();
  std::size_t stages_left_out = 0, spans_left_out = 0;
  double shown_to_us = 0;  ///< begin of the last span that is drawn
};

/// All rows, as far as they have at most so many bytes; of a step whose spans do not repeat, which
/// is long in writing, every second row and the last, until two are left, of these the first spans.
template <class Label>
DrawnStages within(std::size_t bytes, const Json& stages, const Label& label) {
  std::vector<const Json*> shown;
  std::size_t spans = 0;
  for (const Json& stage : stages) {
    shown.push_back(&stage);
    spans = std::max(spans, stage["begin_us"].size());
  }
  DrawnStages drawn;
  const auto write = [&](std::size_t most) {
    drawn.rows = Json::array();
    for (const Json* stage : shown) {
      drawn.rows.push_back(row_of_stage(*stage, label(*stage), most));
    }
    return drawn.rows.dump().size();
  };
  std::size_t size = write(spans);
  while (size > bytes && shown.size() > 2) {
    std::vector<const Json*> kept;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (i % 2 == 0 || i + 1 == shown.size()) {
        kept.push_back(shown[i]);
      }
    }
    shown = std::move(kept);
    size = write(spans);
  }
  while (size > bytes && spans > 1) {
    spans = spans * bytes / (size + size / 8);  // a little less: not all are equally long
    size = write(spans);
  }
  drawn.stages_left_out = stages.size() - shown.size();
  for (const Json* stage : shown) {
    const Json& begin = (*stage)["begin_us"];
    const std::size_t there = std::min(spans, begin.size());
    drawn.spans_left_out += begin.size() - there;
    drawn.shown_to_us =
        std::max(drawn.shown_to_us, there == 0 ? 0 : begin[there - 1].get<double>());
  }
  return drawn;
}

/// "rank 7", or "8 from rank 7": those that do the same.
std::string ranks_of(const Json& stage) {
  return stage["ranks"] > 1
             ? fmt::format("{} from rank {}", text_of(stage["ranks"]), text_of(stage["rank"]))
             : fmt::format("rank {}", text_of(stage["rank"]));
}

std::string drawn_stages(const Json& timeline,
                         Json rows,
                         const std::string& id,
                         const std::string& title,
                         const Json& result,
                         const std::string& note) {
  const Json& contributions = at(result, {"explanation", "contributions"});
  return canvas(id, title,
                {{"rows", std::move(rows)},
                 {"names", timeline["names"]},
                 {"formulas", formulas(timeline["names"], contributions)},
                 {"units_per_s", 1e6},
                 {"end", 1e6 * number_at(result, {"step", "time_s"}).value_or(0)},
                 {"palette", "stages"},
                 {"else", "waits for the end of the step"}},
                note);
}

/// A page has room for so many bytes of stages, beside the chart library (0.4 MB), streams, one
/// trial and figures. Source: chosen, so that the longest page that the tests make stays below 1.5
/// MB.
constexpr std::size_t kMostBytes = 400'000;

std::string pipeline(const Json& result, const std::string& id) {
  const Json& timeline = at(result, {"pictures", "timeline"});
  if (timeline.is_null()) {
    return "";
  }
  DrawnStages stages = within(kMostBytes, timeline["stages"],
                              [](const Json& stage) { return "stage " + text_of(stage["stage"]); });
  std::string note = "One rank a stage, of the largest class of ranks that do exactly the same.";
  const auto left_out = [&](const char* key, std::size_t here) {
    return number_at(timeline, {key}).value_or(0) + static_cast<double>(here);
  };
  if (const double n = left_out("stages_left_out", stages.stages_left_out); n > 0) {
    note += fmt::format(" {} stages are left out.", count(n));
  }
  if (const double n = left_out("spans_left_out", stages.spans_left_out); n > 0) {
    note += fmt::format(" Behind {} s {} spans are left out: the step goes on.",
                        number(stages.shown_to_us / 1e6), count(n));
  }
  DrawnStages others = within(kMostBytes / 2, timeline["others"], [](const Json& stage) {
    return "stage " + text_of(stage["stage"]) + ", " + ranks_of(stage);
  });
  if (others.rows.empty()) {
    note += timeline["others_left_out"] > 0
                ? fmt::format(" {} other ranks are left out.", text_of(timeline["others_left_out"]))
                : " All replicas do the same.";
  }
  std::string html = drawn_stages(timeline, std::move(stages.rows), id + "-timeline",
                                  "What every stage does in a step", result, note);
  if (!others.rows.empty()) {
    std::string more = "Each row is a class of ranks that do the same, the largest first.";
    if (others.stages_left_out > 0) {
      more += fmt::format(" {} classes are left out.", others.stages_left_out);
    }
    if (others.spans_left_out > 0) {
      more += fmt::format(" Behind {} s {} spans are left out: the step goes on.",
                          number(others.shown_to_us / 1e6),
                          count(static_cast<double>(others.spans_left_out)));
    }
    if (timeline["others_left_out"] > 0) {
      more += fmt::format(
          " {} ranks of other classes are left out; headway run --trace --trace-ranks has any "
          "rank.",
          text_of(timeline["others_left_out"]));
    }
    html += drawn_stages(timeline, std::move(others.rows), id + "-others",
                         "Ranks of the same stages that do not do the same", result, more);
  }
  return html;
}

/// The colours' place of a line is that of its name.
std::string streams(const Json& result, const std::string& id) {
  const Json& streams = at(result, {"pictures", "streams"});
  if (streams.is_null() || streams["ranks"].empty()) {
    return "";
  }
  Json rows = Json::array();
  Json names = Json::array();
  for (const Json& rank : streams["ranks"]) {
    for (const Json& line : rank["lines"]) {
      const auto known = std::find(names.begin(), names.end(), line["name"]);
      const auto place = static_cast<std::size_t>(known - names.begin());
      if (known == names.end()) {
        names.push_back(line["name"]);
      }
      Json row = row_of(fmt::format("stage {} {}", text_of(rank["stage"]), text_of(line["name"])),
                        line["begin_us"], line["length_us"]);
      row["all"] = place;
      row["runs"] = without_repeats(line["runs_us"]);
      rows.push_back(std::move(row));
    }
  }
  return canvas(
      id + "-streams", "What runs beside each other on a GPU of every stage",
      {{"rows", std::move(rows)},
       {"names", std::move(names)},
       {"units_per_s", 1e6},
       {"end", 1e6 * number_at(result, {"step", "time_s"}).value_or(0)},
       {"row", 11},
       {"palette", "streams"},
       {"else", "nothing of this kind"}},
      fmt::format("The first rank of each stage. Transfers last from the rank's arrival to "
                  "their end. Work of one kind with breaks of at most {} is one span; "
                  "below stands how much of it runs; headway run --trace --trace-ranks has "
                  "each.",
                  microseconds_text(number_at(streams, {"joined_us"}).value_or(0))));
}

/// A row of the checkpoints, and a name for each place they go to.
void add_checkpoints(const Json& trial, Json& rows, Json& names) {
  const Json& saves = trial["saves"];
  if (saves["begin_s"].empty()) {
    return;
  }
  Json what = Json::array();
  for (const Json& level : saves["level"]) {
    what.push_back(names.size() + level.get<std::size_t>());
  }
  const bool alone = saves["together"] == 1;
  Json row = row_of("checkpoints", tenths(saves["begin_s"]), tenths(saves["length_s"]));
  row["what"] = without_repeats(what);
  if (!alone) {
    row["runs"] = without_repeats(tenths(saves["still_s"]));
  }
  rows.push_back(std::move(row));
  for (const Json& level : trial["levels"]) {
    names.push_back((alone ? "checkpoint to " : "checkpoints to ") + text_of(level));
  }
}

/// The failures of one trial, a row a class, and its checkpoints.
std::string trial_of(const Json& result, const std::string& id) {
  const Json& trial = at(result, {"pictures", "campaign", "trial"});
  if (trial.is_null() || trial["hazards"].empty()) {
    return "";
  }
  Json rows = Json::array();
  for (const Json& hazard : trial["hazards"]) {
    Json row =
        row_of(text_of(hazard["hazard"]), tenths(hazard["begin_s"]), tenths(hazard["length_s"]));
    row["what"] = without_repeats(hazard["stage"]);
    rows.push_back(std::move(row));
  }
  Json names = Json::array();
  for (const Json& stage : trial["stages"]) {
    names.push_back(spaced(text_of(stage)));
  }
  add_checkpoints(trial, rows, names);
  std::string note =
      fmt::format("Trial {} of {}, the one with the median goodput, {} %.", text_of(trial["trial"]),
                  text_of(at(result, {"campaign", "trials"})),
                  percent(number_at(trial, {"goodput"}).value_or(0)));
  if (trial["spans_left_out"] > 0) {
    note += fmt::format(" The last {} spans are left out.", text_of(trial["spans_left_out"]));
  }
  if (const Json& together = trial["saves"]["together"]; together > 1) {
    note += fmt::format(
        " Every {} checkpoints in a row are one span, from the first to the last, the paler the "
        "less of it the job stands still.",
        text_of(together));
  }
  return canvas(id + "-trial", "What fails in one trial of the run, and until the job runs again",
                {{"rows", std::move(rows)},
                 {"names", std::move(names)},
                 {"units_per_s", 10},
                 {"end", 10 * number_at(trial, {"wall_s"}).value_or(0)},
                 {"palette", "failures"},
                 {"else", "nothing of this kind"}},
                note);
}

}  // namespace

std::string canvases_of(const ReadResult& result, const std::string& id) {
  const Json& json = result.json();
  return pipeline(json, id) + streams(json, id) + trial_of(json, id);
}

}  // namespace headway::report
