// headway._core: the functions of the command line for Python. Text goes in, text comes out; what
// is decided here is which function of the study and report rooms that text is for.
#include <algorithm>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/config/form/form.h"
#include "sim/config/load.h"
#include "sim/config/schema.h"
#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/read_file.h"
#include "sim/import/text_file.h"
#include "sim/report/fault_argument.h"
#include "sim/report/measured/diagnose_report.h"
#include "sim/report/measured/expect_report.h"
#include "sim/report/page/charts.h"
#include "sim/report/page/page.h"
#include "sim/report/points/solve_report.h"
#include "sim/report/points/sweep_report.h"
#include "sim/report/points/work.h"
#include "sim/report/run_json.h"
#include "sim/report/trace/trace.h"
#include "sim/report/verbs/check_report.h"
#include "sim/report/verbs/compare_report.h"
#include "sim/report/verbs/drill_report.h"
#include "sim/report/verbs/placement_report.h"
#include "sim/report/verbs/plan_report.h"
#include "sim/report/verbs/run_table.h"
#include "sim/study/expect/against.h"
#include "sim/study/points/goal_text.h"
#include "sim/study/predict.h"
#include "sim/training/check.h"

#include "python/watch.h"

namespace py = pybind11;

namespace {

using namespace headway;  // NOLINT(google-build-using-namespace): the whole file speaks of this
                          // house
using python::Watch;
using Strings = std::vector<std::string>;

config::LoadOptions load_options(const Strings& roots, const Strings& set) {
  return {{roots.begin(), roots.end()}, set};
}

/// A scenario, and how long reading it took.
std::pair<config::LoadedScenario, core::Seconds> load(const std::string& path,
                                                      const std::string& text,
                                                      const config::LoadOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  auto loaded = text.empty() ? config::load_scenario(path, options)
                             : config::load_scenario_text(text, path, options);
  if (!text.empty()) {  // one line that nobody wrote: fields say where an error is
    for (auto& [field, mark] : loaded.marks) {
      mark = mark.file == path ? core::SourceMark{field, 0, 0, 1, ""} : mark;
    }
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {std::move(loaded), core::Seconds(elapsed.count())};
}

/// The result as JSON and as the table people read.
std::pair<std::string, std::string> run_texts(const std::string& path,
                                              const std::string& text,
                                              const Strings& roots,
                                              const Strings& set,
                                              int threads,
                                              bool fold,
                                              bool explain,
                                              bool pictures,
                                              const std::string& network,
                                              Watch& watch) {
  const auto [loaded, load_time] = load(path, text, load_options(roots, set));
  study::PredictOptions options;
  options.threads = threads;
  options.fold = fold;
  options.explain = explain;
  options.pictures = pictures;
  options.packets = study::step_network(network);
  options.load_time = load_time;
  options.known_errors = validation::load_known_errors({roots.begin(), roots.end()});
  options.progress = [&](std::string_view phase) { watch.phase(phase); };
  options.count = watch.counted();
  const auto result = study::predict(loaded, options);
  return {report::run_json(result), report::to_text(report::run_document(result))};
}

/// JSON, table, and the scenarios that `--save` writes, the best first.
using SavedFiles = std::vector<std::pair<std::string, std::string>>;  // names and texts
using Planned = std::tuple<std::string, std::string, SavedFiles>;

Planned plan_texts(const std::string& path,
                   const std::string& text,
                   const Strings& roots,
                   const Strings& set,
                   int threads,
                   bool fold,
                   std::size_t top,
                   const Strings& objectives,
                   const Strings& limits,
                   const std::vector<int>& nodes,
                   std::size_t simulate,
                   std::size_t verify,
                   bool variants,
                   bool sensitivity,
                   Watch& watch) {
  plan::PlanOptions options;
  options.threads = threads;
  options.fold = fold;
  options.keep = top;
  options.nodes = nodes;
  options.simulate = simulate;
  options.verify = verify;
  options.variants = variants;
  options.sensitivity = sensitivity;
  study::check_sizes(nodes);
  if (!objectives.empty()) {
    study::set_goals(objectives, options);
  }
  for (const std::string& limit : limits) {
    study::add_limit(limit, options.limits);
  }
  const auto read = [&](const Strings& further) {
    Strings all = set;
    all.insert(all.end(), further.begin(), further.end());
    return load(path, text, load_options(roots, all)).first;
  };
  options.progress = watch.named();
  const auto result = study::search_plans(
      read, options, nullptr, validation::load_known_errors({roots.begin(), roots.end()}));
  SavedFiles files;
  for (auto& file : study::plan_files(result, {roots.begin(), roots.end()})) {
    files.emplace_back(std::move(file.name), std::move(file.text));
  }
  return {report::plan_json(result), report::to_text(report::plan_document(result)), files};
}

Planned place_texts(const std::string& path,
                    const std::string& text,
                    const Strings& roots,
                    const Strings& set,
                    int threads,
                    bool fold,
                    int draws,
                    Watch& watch) {
  const auto [loaded, load_time] = load(path, text, load_options(roots, set));
  study::PlacementOptions options;
  options.threads = threads;
  options.fold = fold;
  options.draws = draws;
  options.progress = watch.named();
  const auto result = study::compare_placements(loaded, options, load_time);
  SavedFiles files;
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    files.emplace_back(fmt::format("placement-{}.yaml", i + 1), study::placement_file(result, i));
  }
  return {report::placement_json(result), report::to_text(report::placement_document(result)),
          files};
}

std::pair<std::string, std::string> expect_texts(const std::string& path,
                                                 const std::string& text,
                                                 const Strings& roots,
                                                 const Strings& set,
                                                 int nodes,
                                                 const Strings& against,
                                                 Watch& watch) {
  const auto loaded = load(path, text, load_options(roots, set)).first;
  study::ExpectOptions options;
  options.count = watch.counted();
  options.nodes = nodes;
  options.known_errors = validation::load_known_errors({roots.begin(), roots.end()});
  std::vector<study::MeasuredFile> files;
  for (const std::string& file : against) {
    files.push_back({file, import::read_input(file)});
  }
  auto result = study::expect(loaded, options);
  study::hold_against(loaded, files, result);
  return {report::expect_json(result), report::to_text(report::expect_document(result))};
}

std::pair<std::string, std::string> diagnose_texts(const std::string& path,
                                                   const std::string& text,
                                                   const Strings& roots,
                                                   const Strings& set,
                                                   int threads,
                                                   const Strings& logs,
                                                   Watch& watch) {
  const auto loaded = load(path, text, load_options(roots, set)).first;
  study::DiagnoseOptions options;
  options.progress = watch.named();
  options.threads = threads;
  options.known_errors = validation::load_known_errors({roots.begin(), roots.end()});
  std::vector<study::LogFile> files;
  for (const std::string& log : logs) {
    files.push_back({log, import::read_log(log)});
  }
  const auto result = study::diagnose(loaded, files, options);
  return {report::diagnose_json(result), report::to_text(report::diagnose_document(result))};
}

std::pair<std::string, std::string> compare_texts(const std::pair<std::string, std::string>& a,
                                                  const std::pair<std::string, std::string>& b,
                                                  const Strings& roots,
                                                  const Strings& set,
                                                  int threads,
                                                  bool fold,
                                                  bool layers,
                                                  Watch& watch) {
  const auto options = load_options(roots, set);
  study::CompareOptions how;
  how.threads = threads;
  how.fold = fold;
  how.layers = layers;
  how.count = watch.counted();
  const auto result = study::compare(load(a.first, a.second, options).first,
                                     load(b.first, b.second, options).first, how);
  return {report::compare_json(result), report::to_text(report::compare_document(result))};
}

/// @param monitors  as --monitor takes them
std::pair<std::string, std::string> drill_texts(const std::string& path,
                                                const std::string& text,
                                                const Strings& roots,
                                                const Strings& set,
                                                const std::string& fault,
                                                const Strings& monitors,
                                                double hours,
                                                bool remedies,
                                                Watch& watch) {
  const auto loaded = load(path, text, load_options(roots, set)).first;
  drill::DrillOptions how;
  how.horizon = core::Seconds(hours * 3600);
  how.remedies = remedies;
  for (const auto& monitor : monitors) {
    const auto [name, time] = report::parse_monitor(monitor);
    how.monitors.insert_or_assign(name, time);
  }
  how.count = watch.counted();
  const auto result =
      study::run_drill(loaded, report::parse_fault(fault, loaded.scenario.cluster.node.gpus), how);
  return {report::drill_json(result), report::to_text(report::drill_document(result))};
}

/// [{"id", "title", "specification"}] of the charts of a result, the timeline last.
std::string charts_text(const std::string& json) {
  const report::ReadResult result(report::Json::parse(json), "result");
  auto charts = report::charts_of(result);
  if (auto timeline = report::timeline_chart(result)) {
    charts.push_back(std::move(*timeline));
  }
  auto list = report::Json::array();
  for (auto& chart : charts) {
    list.push_back({{"id", chart.id},
                    {"title", chart.title},
                    {"specification", std::move(chart.specification)}});
  }
  return list.dump();
}

/// The trace of a result: of a drill, of one trial of a run (`of_trial`), or of its step so many
/// times; in the format that the name of the file asks for.
std::string trace_text(const std::string& json, const std::string& file, bool of_trial, int steps) {
  const report::ReadResult result(report::Json::parse(json), "result");
  if (result.type().schema == "headway.drill/1") {
    return report::trace_text({report::trace_of_drill(result)}, file);
  }
  if (of_trial) {
    return report::trace_text({report::trace_of_run(result)}, file);
  }
  std::vector<report::Trace> traces{report::trace_of_step(result)};
  if (auto links = report::trace_of_links(result)) {
    traces.push_back(std::move(*links));
  }
  const auto length = report::number_at(result.json(), {"step", "time_s"});
  report::repeat_step(steps, core::Seconds(length.value_or(0)), traces);
  return report::trace_text(traces, file);
}

study::Sweep sweep_of(const std::string& path,
                      const std::string& text,
                      const Strings& roots,
                      const Strings& set,
                      const Strings& figures,
                      bool checked) {
  study::SweepRequest request;
  request.text = text.empty() ? core::read_file(path, core::kLargestConfiguration) : text;
  request.file = path;
  request.set = set;
  request.figures = figures;
  return {std::move(request), {roots.begin(), roots.end()}, checked};
}

std::size_t sweep_size(const std::string& path,
                       const std::string& text,
                       const Strings& roots,
                       const Strings& set,
                       const Strings& figures) {
  return sweep_of(path, text, roots, set, figures, false).points().size();
}

/// Some points, a JSON object a line.
std::string sweep_rows(const std::string& path,
                       const std::string& text,
                       const Strings& roots,
                       const Strings& set,
                       const Strings& figures,
                       const std::vector<std::size_t>& points,
                       int threads,
                       bool fold,
                       Watch& watch) {
  const auto sweep = sweep_of(path, text, roots, set, figures, true);  // sweep_size came first
  study::SweepOptions options;
  options.count = watch.counted();
  options.threads = threads;
  options.fold = fold;
  options.known_errors = validation::load_known_errors({roots.begin(), roots.end()});
  return report::sweep_lines(study::sweep_report(sweep, sweep.rows(points, options)));
}

/// Digest and number of shards of what a folder keeps: of a sweep, of a run or of a plan.
std::pair<std::string, std::int64_t> digest_and_shards(const std::string& manifest) {
  if (report::is_work_manifest(manifest)) {
    const auto known = report::read_work_manifest(manifest, "work.json");
    return {known.digest, known.shards};
  }
  const auto known = report::read_sweep_manifest(manifest, "sweep.json");
  return {known.digest, known.shards};
}

/// The file of a shard of a folder.
std::string shard_name(const std::string& manifest, std::int64_t shard) {
  const auto [digest, shards] = digest_and_shards(manifest);
  return report::shard_file_name(digest, shard, shards);
}

std::int64_t shard_count(const std::string& manifest) { return digest_and_shards(manifest).second; }

/// What a folder keeps, opened once and asked for any of its shards.
class Shards {
 public:
  Shards(const std::string& manifest, const Strings& roots)
      : shards_(shard_count(manifest)), roots_(roots.begin(), roots.end()) {
    const std::string digest = digest_and_shards(manifest).first;
    std::string here;
    if (report::is_work_manifest(manifest)) {
      work_ = std::make_unique<report::Work>(
          report::read_work_manifest(manifest, "work.json").request, roots_);
      here = work_->digest();
    } else {
      sweep_.emplace(report::read_sweep_manifest(manifest, "sweep.json").request, roots_, true);
      here = sweep_->digest();
      known_errors_ = validation::load_known_errors(roots_);
    }
    if (here != digest) {
      throw core::Error(fmt::format(
          "the {} was begun as {}, this worker reads its scenario as {}: a catalogue entry or "
          "another file that it uses differs; give all workers one installation",
          work_ ? core::to_word(work_->request().kind) : "sweep", digest, here));
    }
  }

  /// What the file of a shard holds, as `headway worker` writes it.
  std::string lines(std::int64_t shard, int threads, bool fold, Watch& watch) {
    if (work_) {
      return work_->lines(shard, shards_, {threads, fold, watch.counted()});
    }
    study::SweepOptions options;
    options.count = watch.counted();
    options.threads = threads;
    options.fold = fold;
    options.known_errors = known_errors_;
    const auto points = study::shard_points(sweep_->points().size(), shards_, shard);
    return report::sweep_lines(study::sweep_report(*sweep_, sweep_->rows(points, options)));
  }

 private:
  std::int64_t shards_;
  std::vector<std::filesystem::path> roots_;
  std::optional<study::Sweep> sweep_;
  std::unique_ptr<report::Work> work_;
  validation::KnownErrors known_errors_;
};

/// The whole from the lines of its points.
std::pair<std::string, std::string> sweep_texts(const std::string& path,
                                                const std::string& text,
                                                const Strings& roots,
                                                const Strings& set,
                                                const Strings& figures,
                                                const std::string& lines) {
  const auto sweep = sweep_of(path, text, roots, set, figures, true);  // sweep_size came first
  const auto result = study::sweep_report(sweep, report::read_sweep_lines(lines, "<points>"));
  return {report::sweep_json(result), report::to_text(report::sweep_document(result))};
}

std::pair<std::string, std::string> solve_texts(const std::string& path,
                                                const std::string& text,
                                                const Strings& roots,
                                                const Strings& set,
                                                const std::string& key,
                                                const std::string& condition,
                                                const std::string& within,
                                                double precision,
                                                int threads,
                                                bool fold,
                                                Watch& watch) {
  study::SolveRequest request;
  request.text = text.empty() ? core::read_file(path, core::kLargestConfiguration) : text;
  request.file = path;
  request.set = set;
  request.key = key;
  request.condition = condition;
  request.within = within;
  request.precision = precision;
  study::SolveOptions options;
  options.count = watch.counted();
  options.threads = threads;
  options.fold = fold;
  options.known_errors = validation::load_known_errors({roots.begin(), roots.end()});
  const auto result = study::solve(request, {roots.begin(), roots.end()}, options);
  return {report::solve_json(result), report::to_text(report::solve_document(result))};
}

/// Checks the rules of a scenario that was changed.
/// @throws core::Error with all complaints; where the place of none is a change, the last says what
/// was changed
void check_changed(const config::LoadedScenario& loaded, const Strings& set) {
  try {
    training::check(loaded.scenario, loaded.marks);
  } catch (const core::Infeasible&) {
    throw;
  } catch (const core::Error& error) {
    auto diagnostics = error.diagnostics();
    const bool placed =
        std::any_of(diagnostics.begin(), diagnostics.end(), [](const core::Diagnostic& one) {
          return one.mark && one.mark->file.starts_with("argument --set ");
        });
    if (!placed && !set.empty()) {
      diagnostics.back().message += fmt::format(" (changed: {})", fmt::join(set, ", "));
    }
    throw core::Error(diagnostics);
  }
}

/// The values of a scenario, every `use:` looked up and every default written out.
/// @param checked  whether it has to keep the rules that several values are in
std::string scenario_values(const std::string& path,
                            const std::string& text,
                            const Strings& roots,
                            const Strings& set,
                            bool checked) {
  const auto loaded = load(path, text, load_options(roots, set)).first;
  if (checked) {
    check_changed(loaded, set);
  }
  return config::values_json(loaded.scenario, std::numeric_limits<std::size_t>::max());
}

/// The same as the text of a file.
std::string scenario_text(const std::string& path, const std::string& text, const Strings& roots) {
  return load(path, text, load_options(roots, {})).first.canonical_text;
}

/// @throws core::Error with every error of every file
void check_all(const Strings& paths, const Strings& roots, const Strings& set) {
  std::vector<core::Diagnostic> errors;
  for (const auto& file : study::check_files(paths, load_options(roots, set))) {
    errors.insert(errors.end(), file.errors.begin(), file.errors.end());
  }
  if (!errors.empty()) {
    throw core::Error(errors);
  }
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The functions of the headway command line.";
  module.attr("__version__") = HEADWAY_VERSION;
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const python::Abandoned&) {
      PyErr_SetString(PyExc_KeyboardInterrupt, "the call was stopped");
    }
  });
  py::register_exception<core::Error>(module, "Error", PyExc_ValueError);
  const py::call_guard<py::gil_scoped_release> without_gil;
  py::class_<Watch>(module, "Watch")
      .def(py::init<>())
      .def("stop", &Watch::stop)
      .def("state", &Watch::state);
  module.def("run", &run_texts, py::arg("path"), py::arg("text"), py::arg("roots"), py::arg("set"),
             py::arg("threads"), py::arg("fold"), py::arg("explain"), py::arg("pictures"),
             py::arg("network"), py::arg("watch"), without_gil);
  module.def("plan", &plan_texts, py::arg("path"), py::arg("text"), py::arg("roots"),
             py::arg("set"), py::arg("threads"), py::arg("fold"), py::arg("top"),
             py::arg("objectives"), py::arg("limits"), py::arg("nodes"), py::arg("simulate"),
             py::arg("verify"), py::arg("variants"), py::arg("sensitivity"), py::arg("watch"),
             without_gil);
  module.def("place", &place_texts, py::arg("path"), py::arg("text"), py::arg("roots"),
             py::arg("set"), py::arg("threads"), py::arg("fold"), py::arg("draws"),
             py::arg("watch"), without_gil);
  module.def("expect", &expect_texts, py::arg("path"), py::arg("text"), py::arg("roots"),
             py::arg("set"), py::arg("nodes"), py::arg("against"), py::arg("watch"), without_gil);
  module.def("diagnose", &diagnose_texts, py::arg("path"), py::arg("text"), py::arg("roots"),
             py::arg("set"), py::arg("threads"), py::arg("logs"), py::arg("watch"), without_gil);
  module.def("sweep_size", &sweep_size, py::arg("path"), py::arg("text"), py::arg("roots"),
             py::arg("set"), py::arg("figures"), without_gil);
  module.def("sweep_rows", &sweep_rows, py::arg("path"), py::arg("text"), py::arg("roots"),
             py::arg("set"), py::arg("figures"), py::arg("points"), py::arg("threads"),
             py::arg("fold"), py::arg("watch"), without_gil);
  module.def("sweep", &sweep_texts, py::arg("path"), py::arg("text"), py::arg("roots"),
             py::arg("set"), py::arg("figures"), py::arg("lines"), without_gil);
  module.def("shard_name", &shard_name, py::arg("manifest"), py::arg("shard"));
  module.def("shard_count", &shard_count, py::arg("manifest"));
  py::class_<Shards>(module, "Shards")
      .def(py::init<const std::string&, const Strings&>(), py::arg("manifest"), py::arg("roots"),
           without_gil)
      .def("lines", &Shards::lines, py::arg("shard"), py::arg("threads"), py::arg("fold"),
           py::arg("watch"), without_gil);
  module.def("solve", &solve_texts, py::arg("path"), py::arg("text"), py::arg("roots"),
             py::arg("set"), py::arg("key"), py::arg("condition"), py::arg("within"),
             py::arg("precision"), py::arg("threads"), py::arg("fold"), py::arg("watch"),
             without_gil);
  module.def("check", &check_all, py::arg("paths"), py::arg("roots"), py::arg("set"), without_gil);
  module.def("scenario_values", &scenario_values, py::arg("path"), py::arg("text"),
             py::arg("roots"), py::arg("set"), py::arg("checked"), without_gil);
  module.def("scenario_text", &scenario_text, py::arg("path"), py::arg("text"), py::arg("roots"),
             without_gil);
  module.def(
      "schema", [](const std::string& kind) { return config::schema_of(kind); }, py::arg("kind"),
      without_gil);
  module.def("compare", &compare_texts, py::arg("a"), py::arg("b"), py::arg("roots"),
             py::arg("set"), py::arg("threads"), py::arg("fold"), py::arg("layers"),
             py::arg("watch"), without_gil);
  module.def("drill", &drill_texts, py::arg("path"), py::arg("text"), py::arg("roots"),
             py::arg("set"), py::arg("fault"), py::arg("monitors"), py::arg("hours"),
             py::arg("remedies"), py::arg("watch"), without_gil);
  module.def(
      "trace",
      [](const std::string& json, const std::string& file, bool of_trial, int steps) {
        const auto text = [&] {
          const py::gil_scoped_release released;
          return trace_text(json, file, of_trial, steps);
        }();
        return py::bytes(text);
      },
      py::arg("json"), py::arg("file"), py::arg("of_trial"), py::arg("steps"));
  module.def("charts", &charts_text, py::arg("json"), without_gil);
  module.def(
      "summary",
      [](const std::string& json) {
        return report::report_summary({report::Json::parse(json), "result"});
      },
      py::arg("json"), without_gil);
  module.def(
      "page",
      [](const std::string& json, const std::string& command, const std::string& charts) {
        return report::report_page({{{report::Json::parse(json), "result"}, command}}, charts);
      },
      py::arg("json"), py::arg("command"), py::arg("charts"), without_gil);
  module.def("python_dataclasses", &config::python_dataclasses);
}
