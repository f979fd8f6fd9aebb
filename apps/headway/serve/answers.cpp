#include "apps/headway/serve/answers.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "sim/config/form/form.h"
#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/drill/drill.h"
#include "sim/report/fault_argument.h"
#include "sim/report/page/page.h"
#include "sim/report/run_json.h"
#include "sim/report/trace/trace.h"
#include "sim/report/verbs/compare_report.h"
#include "sim/report/verbs/drill_report.h"
#include "sim/report/verbs/plan_report.h"
#include "sim/study/estimate.h"
#include "sim/study/predict.h"

#include "apps/headway/options.h"
#include "apps/headway/report_file.h"

namespace headway::apps {

namespace {

using report::Json;

std::string text_of(const Json& question, const char* key) {
  return question.contains(key) ? question[key].get<std::string>() : "";
}

/// The scenario of a question: its text, or that which is served, with its changes.
config::EditedScenario edited(const Served& served, const Json& question) {
  config::EditedScenario out{question.contains("text") ? text_of(question, "text") : served.text,
                             served.file,
                             {config_roots(), {}}};
  if (question.contains("set")) {
    out.options.set = question["set"].get<std::vector<std::string>>();
  }
  return out;
}

config::LoadedScenario load(const config::EditedScenario& scenario) {
  return config::load_scenario_text(scenario.text, scenario.file_name, scenario.options);
}

/// What a simulation finds.
struct Result {
  std::string text;  ///< as --format json prints it
  std::optional<study::PowerReport> power{};
};

Result run_result(const Served& served, const config::LoadedScenario& loaded) {
  study::PredictOptions how;
  how.threads = served.threads;
  how.explain = true;
  how.pictures = true;
  how.power = true;
  how.known_errors = validation::load_known_errors(config_roots());
  study::RunReport report = study::predict(loaded, how);
  auto power = std::move(report.power);
  report.power.reset();
  return {report::run_json(report), std::move(power)};
}

/// The powers that a trace is made of, on their way through the page and back.
Json power_json(const study::PowerReport& power) {
  Json watts = Json::array();
  for (const core::Watts gpus : power.gpus) {
    watts.push_back((gpus + power.beside).si());
  }
  return {{"window_s", power.window.si()}, {"watts", std::move(watts)}};
}

/// @throws core::Error if it is no `power_json`
study::PowerReport power_of(const Json& json) {
  const bool whole = json.is_object() && json.contains("window_s") && json.contains("watts") &&
                     json["window_s"].is_number() && json["watts"].is_array() &&
                     std::all_of(json["watts"].begin(), json["watts"].end(), [](const Json& watts) {
                       return watts.is_number() && watts.get<double>() >= 0;
                     });
  if (!whole || json["window_s"].get<double>() <= 0) {
    throw core::Error("'power' of the question must be as the simulation gave it");
  }
  study::PowerReport power;
  power.window = core::Seconds(json["window_s"].get<double>());
  for (const Json& watts : json["watts"]) {
    power.gpus.emplace_back(watts.get<double>());
  }
  return power;
}

std::string plan_result(const Served& served, const config::LoadedScenario& loaded) {
  plan::PlanOptions how;
  how.threads = served.threads;
  return report::plan_json(
      study::search_plans(loaded, how, {}, validation::load_known_errors(config_roots())));
}

std::string drill_result(const config::LoadedScenario& loaded, const std::string& fault) {
  return report::drill_json(
      study::run_drill(loaded, report::parse_fault(fault, loaded.scenario.cluster.node.gpus), {}));
}

std::string compare_result(const Served& served,
                           const config::LoadedScenario& loaded,
                           const Json& question) {
  if (!question.contains("pinned")) {
    throw core::Error("nothing is pinned to compare with");
  }
  study::CompareOptions how;
  how.threads = served.threads;
  how.layers = true;
  return report::compare_json(
      study::compare(load(edited(served, question["pinned"])), loaded, how));
}

Result result_of(const Served& served, const Json& question) {
  const auto loaded = load(edited(served, question));
  const std::string verb = text_of(question, "verb");
  if (verb == "run") {
    return run_result(served, loaded);
  }
  if (verb == "plan") {
    return {plan_result(served, loaded)};
  }
  if (verb == "drill") {
    return {drill_result(loaded, text_of(question, "fault"))};
  }
  if (verb == "compare") {
    return {compare_result(served, loaded, question)};
  }
  throw core::Error(fmt::format("there is no question '{}'; there are {}", core::shortened(verb),
                                fmt::join(simulated_questions(), ", ")));
}

/// Place of the question among them: parts of one page have names that differ.
std::size_t number_of(const std::string& verb) {
  const auto& all = simulated_questions();
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), verb) - all.begin());
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_texts(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_string(); });
}

/// The result that a question brings back.
report::ReadResult result_in(const Json& question) {
  if (!question.contains("result")) {
    throw core::Error("the question has no 'result' to draw");
  }
  return {question["result"], "result"};
}

void check_question(const Json& question) {
  if (!question.is_object()) {
    throw core::Error("a question is an object of JSON");
  }
  for (const auto& [key, value] : question.items()) {
    if (key == "set" ? !is_texts(value)
                     : key != "pinned" && key != "result" && key != "power" && !value.is_string()) {
      throw core::Error(fmt::format("'{}' of the question must be {}", core::shortened(key),
                                    key == "set" ? "a list of texts" : "a text"));
    }
  }
  if (question.contains("pinned")) {
    check_question(question["pinned"]);
  }
}

}  // namespace

report::Json read_question(const std::string& body) {
  constexpr int kMostLevels = 50;  // Source: chosen; the deepest result has a dozen
  bool too_deep = false;
  const auto look = [&](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    too_deep = too_deep || depth > kMostLevels;
    return !too_deep;
  };
  auto question = Json::parse(body, look, false);
  if (too_deep) {
    throw core::Error(fmt::format("the question is nested more than {} levels deep", kMostLevels));
  }
  if (question.is_discarded()) {
    throw core::Error("the question is no JSON");
  }
  check_question(question);
  return question;
}

std::string start_answer(const Served& served) {
  Json faults = Json::array();
  for (const auto& [kind, word] : enum_words(drill::FaultKind{})) {
    faults.push_back(word);
  }
  return dumped({{"version", HEADWAY_VERSION},
                 {"file", served.file.string()},
                 {"text", served.text},
                 {"set", served.set},
                 {"faults", std::move(faults)},
                 {"form", Json::parse(config::form_json(config_roots()))}});
}

std::string estimate_answer(const Served& served, const report::Json& question) {
  const auto scenario = edited(served, question);
  const auto loaded = load(scenario);
  return dumped({{"estimate", report::result_object("headway.estimate/1",
                                                    core::figures_of(study::estimate(loaded)))},
                 {"values", Json::parse(config::values_json(loaded.scenario))},
                 {"used", config::used_entries(scenario)}});
}

std::string text_answer(const Served& served, const report::Json& question) {
  return dumped({{"text", config::changed_text(edited(served, question))}});
}

std::string report_answer(const report::Json& question) {
  return report::report_page({{result_in(question), "from headway serve"}},
                             chart_library(ChartLibrary::packed));
}

std::string trace_answer(const report::Json& question) {
  const report::ReadResult result = result_in(question);
  std::vector<report::Trace> traces{report::trace_of_step(result)};
  if (question.contains("power")) {
    traces.push_back(report::trace_of_power(power_of(question["power"])));
  }
  if (auto links = report::trace_of_links(result)) {
    traces.push_back(std::move(*links));
  }
  return report::perfetto_trace(traces);
}

std::string simulated_answer(const Served& served, const report::Json& question) {
  const Result found = result_of(served, question);
  const Json result = Json::parse(found.text);
  const std::string html = report::report_section({result, "result"}, "from headway serve",
                                                  number_of(text_of(question, "verb")));
  Json answer{{"result", result}, {"text", found.text}, {"html", html}};
  if (found.power) {
    answer["power"] = power_json(*found.power);
  }
  return dumped(answer);
}

std::string errors_answer(const Served& served,
                          const report::Json& question,
                          const core::Error& error) {
  const bool asked = question.is_object();
  Json list = Json::array();
  for (const auto& diagnostic : error.diagnostics()) {
    const bool placed = asked && diagnostic.mark;
    // Who changed a field of the form has given no argument: the field is the place.
    const bool in_text = diagnostic.mark && diagnostic.mark->line > 0;
    list.push_back(
        {{"field", placed ? config::field_of(edited(served, question), *diagnostic.mark) : ""},
         {"message", diagnostic.message},
         {"place", in_text ? core::format_diagnostics({diagnostic}) : ""}});
  }
  return dumped({{"errors", std::move(list)}});
}

}  // namespace headway::apps
