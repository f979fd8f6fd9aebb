#include "sim/study/points/sweep.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <mutex>
#include <numeric>
#include <oneapi/tbb/info.h>
#include <set>
#include <thread>

#include "sim/core/digest.h"
#include "sim/core/figures.h"
#include "sim/core/infeasible.h"
#include "sim/core/progress/spread_order.h"
#include "sim/core/shown_text.h"
#include "sim/study/predict.h"
#include "sim/study/verdict/assert.h"
#include "sim/training/price_warning.h"
#include "sim/training/step/step.h"

namespace headway::study {

namespace {

/// Figures of which more is better; of all others less is. Source: their definitions.
constexpr std::string_view kMoreIsBetter[]{"card_bytes_per_s",
                                           "closed_form_ettr",
                                           "days_saved",
                                           "ettr",
                                           "ettr_gain",
                                           "goodput",
                                           "hfu",
                                           "mean_time_between_interruptions_s",
                                           "mfu",
                                           "mfu_causal",
                                           "model_tflops_per_gpu",
                                           "payload_bytes_per_s",
                                           "steps",
                                           "tokens",
                                           "tokens_per_s",
                                           "tokens_per_s_per_gpu",
                                           "useful"};

/// By the words of a path: "campaign.goodput.p50".
training::Best better_end(const std::string& path) {
  const bool more = std::any_of(
      std::begin(kMoreIsBetter), std::end(kMoreIsBetter), [&](const std::string_view word) {
        return ("." + path + ".").find(fmt::format(".{}.", word)) != std::string::npos;
      });
  return more ? training::Best::highest : training::Best::lowest;
}

/// Whether points may differ in the tokens of a step.
bool changes_tokens(const training::SweepSpec& spec, const core::SourceMarks& marks) {
  const auto keys = plan::SweepPoints(spec, marks).keys();
  return std::any_of(keys.begin(), keys.end(), [](const std::string& key) {
    return key == "training" || key.ends_with("global_batch") || key.ends_with("sequence_length");
  });
}

/// The block of the file with what the command line adds and replaces.
training::SweepSpec spec_of(const SweepRequest& request, const config::LoadedScenario& base) {
  training::SweepSpec spec = base.scenario.sweep.value_or(training::SweepSpec{});
  for (const std::string& axis : request.axes) {
    const auto added = plan::sweep_axis(axis);
    // What the command line says stands in place of what the file says.
    spec = plan::without(std::move(spec), added.key);
    spec.grid.push_back(added);
  }
  spec.figures = request.figures.empty() ? spec.figures : request.figures;
  const std::string best = request.best.empty() ? spec.best : request.best;
  const auto said = base.marks.find("sweep.best_is");
  const bool by_file = said != base.marks.end() && said->second.line > 0;
  if (best != spec.best && by_file) {  // the file says it of its own figure
    spec.best_is.reset();
  }
  const auto ranked = base.marks.find("sweep.best");
  const bool asked = !request.best.empty() || ranked != base.marks.end();
  // A step of fewer tokens takes less time, and trains less.
  spec.best = !asked && changes_tokens(spec, base.marks) ? "step.tokens_per_s" : best;
  spec.best_is = request.best_is.value_or(spec.best_is.value_or(better_end(spec.best)));
  if (spec.figures.empty()) {
    spec.figures = {"step.time_s", "step.mfu", "memory.peak_bytes"};
    if (base.scenario.run.until) {
      spec.figures.insert(spec.figures.end(), {"campaign.ettr.p50", "campaign.wall_days.p50"});
      if (base.scenario.run.prices) {
        spec.figures.emplace_back("cost.total_usd.p50");
      }
    }
  }
  if (std::find(spec.figures.begin(), spec.figures.end(), spec.best) == spec.figures.end()) {
    spec.figures.push_back(spec.best);
  }
  return spec;
}

/// Refuses paths that no run has a number at.
void check_figures(const std::vector<std::string>& paths, const core::SourceMarks& marks) {
  static const core::Figure specimen = core::figures_of_type<RunReport>();
  core::Diagnostics diagnostics;
  for (const std::string& path : paths) {
    const core::Figure* figure = core::find_figure(specimen, path);
    if (figure == nullptr || !core::value_of(*figure)) {
      diagnostics.add(
          core::find_mark(marks, "sweep.figures"),
          fmt::format("a run has no figure '{}'{}", core::shortened(path), meant_figure(path)));
    }
  }
  diagnostics.throw_if_any();
}

std::vector<std::string> set_arguments(const plan::SweepChanges& changes) {
  std::vector<std::string> arguments;
  std::transform(changes.begin(), changes.end(), std::back_inserter(arguments),
                 [](const plan::SweepChange& c) { return c.key + "=" + c.value; });
  return arguments;
}

PointStatus status_of(Status status) {
  return *core::from_word<PointStatus>(core::to_word(status));
}

void fill_row(const RunReport& report, const std::vector<std::string>& paths, SweepRow& row) {
  row.status = status_of(report.status);
  row.reason = fmt::format("{}", fmt::join(report.reasons, "; "));
  const core::Figure result = core::figures_of(report);
  for (const std::string& path : paths) {
    const core::Figure* figure = core::find_figure(result, path);
    row.figures.emplace_back(path, figure == nullptr ? std::nullopt : core::value_of(*figure));
  }
  if (training::near_memory_limit(report.step.memory)) {
    row.memory_warning = training::memory_limit_warning(report.step.memory);
  }
}

/// Of a complaint about a point its text; the place is the point.
std::string text_of(const core::Error& error) {
  std::vector<std::string> messages;
  std::transform(error.diagnostics().begin(), error.diagnostics().end(),
                 std::back_inserter(messages), [](const auto& d) { return d.message; });
  return fmt::format("{}", fmt::join(messages, "; "));
}

}  // namespace

void name_writer(std::string_view who, core::Diagnostic& diagnostic) {
  constexpr std::string_view kArgument = "argument --set ";
  if (diagnostic.mark && diagnostic.mark->file.starts_with(kArgument)) {
    diagnostic.mark->file.replace(0, kArgument.size(), fmt::format("{}, ", who));
  }
}

void predict_row(const std::function<config::LoadedScenario()>& load,
                 const std::vector<std::string>& paths,
                 const SweepOptions& options,
                 SweepRow& row) {
  try {
    const auto loaded = load();
    row.digest = scenario_digest(loaded);
    PredictOptions how;
    how.threads = options.threads;
    how.fold = options.fold;
    how.known_errors = options.known_errors;
    how.count = options.count;
    fill_row(predict(loaded, how), paths, row);
  } catch (const core::Error& error) {
    const bool infeasible = core::exit_code(error) == 3;
    row.status = infeasible ? PointStatus::infeasible : PointStatus::refused;
    row.reason = text_of(error);
    for (const std::string& path : paths) {
      row.figures.emplace_back(path, std::nullopt);
    }
  }
}

Sweep::Sweep(SweepRequest request, std::vector<std::filesystem::path> roots, bool checked)
    : request_(std::move(request)),
      roots_(std::move(roots)),
      base_(config::load_scenario_text(request_.text, request_.file, {roots_, request_.set})),
      spec_(spec_of(request_, base_)),
      points_(spec_, base_.marks),
      name_(base_.scenario.name) {
  check_figures(spec_.figures, base_.marks);
  if (!checked) {
    check_values();
  }
  base_.scenario.sweep = spec_;
  const std::string whole = config::write_scenario(base_.scenario);
  digest_ = fmt::format("{:016x}", core::hash_text(whole + "\nheadway " + HEADWAY_VERSION));
}

/// Reads each value of each axis once, alone, so that a slip of the pen is found before anything is
/// simulated. Of drawn values the first and the last: all others lie between.
void Sweep::check_values() const {
  constexpr std::size_t kMostValues = 200;
  core::Diagnostics diagnostics;
  for (const auto& dimension : points_.dimensions()) {
    for (std::size_t i = 0; i < dimension.size(); ++i) {
      if (i >= kMostValues && i + 1 < dimension.size()) {
        continue;
      }
      try {
        std::ignore = scenario(dimension[i]);
      } catch (const core::Infeasible&) {
        throw;
      } catch (const core::Error& error) {
        for (auto diagnostic : error.diagnostics()) {
          name_writer("sweep", diagnostic);
          diagnostics.add(diagnostic.mark, diagnostic.message);
        }
      }
    }
  }
  diagnostics.throw_if_any();
}

config::LoadedScenario Sweep::scenario(const plan::SweepChanges& changes) const {
  config::LoadOptions options{roots_, request_.set};
  const auto further = set_arguments(changes);
  options.set.insert(options.set.end(), further.begin(), further.end());
  return config::load_scenario_text(request_.text, request_.file, options);
}

std::vector<std::string> Sweep::price_warnings(const std::vector<SweepRow>& rows) const {
  std::set<std::vector<std::string>> seen;
  std::vector<std::string> all;
  for (const SweepRow& row : rows) {
    plan::SweepChanges changes;
    for (const auto& [key, value] : row.changes) {
      if (key.starts_with("cluster") || key.starts_with("run.prices")) {
        changes.push_back({key, value});
      }
    }
    if (row.status != PointStatus::refused && seen.insert(set_arguments(changes)).second) {
      for (std::string& text : training::price_warnings(scenario(changes).scenario)) {
        if (std::find(all.begin(), all.end(), text) == all.end()) {
          all.push_back(std::move(text));
        }
      }
    }
  }
  return all;
}

SweepRow Sweep::listed(std::size_t point) const {
  SweepRow row;
  row.point = static_cast<std::int64_t>(point);
  for (const plan::SweepChange& change : points_.changes(point)) {
    row.changes.emplace_back(change.key, change.value);
  }
  return row;
}

SweepRow Sweep::row(std::size_t point, const SweepOptions& options) const {
  SweepRow row = listed(point);
  predict_row([&] { return scenario(points_.changes(point)); }, spec_.figures, options, row);
  return row;
}

std::vector<SweepRow> Sweep::rows(const std::vector<std::size_t>& points,
                                  const SweepOptions& options) const {
  const int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  const auto workers = std::min(static_cast<std::size_t>(threads), points.size());
  SweepOptions of_point = options;
  of_point.threads = std::max(1, threads / std::max(1, static_cast<int>(workers)));
  std::vector<SweepRow> rows(points.size());
  std::vector<std::size_t> order = core::spread_order(points.size());
  if (!options.spread) {
    std::iota(order.begin(), order.end(), 0);
  }
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::mutex mutex;
  std::exception_ptr fault;
  const auto work = [&] {
    for (std::size_t turn = next++; turn < points.size(); turn = next++) {
      const std::size_t i = order[turn];
      try {
        rows[i] = row(points[i], of_point);
        const std::lock_guard lock(mutex);
        ++done;
        if (options.progress) {
          options.progress(done, points.size(), rows[i]);  // writes what is kept: it may fail
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        fault = std::current_exception();
        next = points.size();
        return;
      }
    }
  };
  {
    // Threads of our own: a point's Driver limits oneTBB's for the whole process.
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < workers; ++i) {
      pool.emplace_back(work);
    }
    work();
  }
  if (fault) {
    std::rethrow_exception(fault);
  }
  return rows;
}

std::vector<std::size_t> shard_points(std::size_t points, std::int64_t shards, std::int64_t shard) {
  std::vector<std::size_t> of_shard;
  for (auto i = static_cast<std::size_t>(shard - 1); i < points;
       i += static_cast<std::size_t>(shards)) {
    of_shard.push_back(i);
  }
  return of_shard;
}

namespace {

/// The figure of a row whose point works.
std::optional<double> figure_of(const SweepRow& row, const std::string& path) {
  const auto found = std::find_if(row.figures.begin(), row.figures.end(),
                                  [&](const auto& figure) { return figure.first == path; });
  return row.status != PointStatus::ok || found == row.figures.end() ? std::nullopt : found->second;
}

}  // namespace

std::vector<double> rank_of(const SweepRow& row,
                            const std::string& figure,
                            training::Best best_is) {
  const bool works = figure_of(row, figure).has_value();
  std::vector<double> rank{!works ? 2.0 : row.memory_warning.empty() ? 0.0 : 1.0};
  const auto add = [&](const std::string& path, training::Best end) {
    const auto value = figure_of(row, path);
    rank.push_back(!value                          ? std::numeric_limits<double>::infinity()
                   : end == training::Best::lowest ? *value
                                                   : -*value);
  };
  add(figure, best_is);
  for (const auto& [path, value] : row.figures) {
    if (path != figure) {
      add(path, better_end(path));
    }
  }
  return rank;
}

const SweepRow* best_row(const std::vector<SweepRow>& rows,
                         const std::string& figure,
                         training::Best best_is) {
  const SweepRow* best = nullptr;
  std::vector<double> least;
  for (const SweepRow& row : rows) {
    if (!figure_of(row, figure)) {
      continue;
    }
    auto rank = rank_of(row, figure, best_is);
    if (best == nullptr || rank < least) {
      best = &row;
      least = std::move(rank);
    }
  }
  return best;
}

const SweepRow* crowded_row(const std::vector<SweepRow>& rows,
                            const SweepRow& best,
                            const std::string& figure,
                            training::Best best_is) {
  std::vector<SweepRow> roomy = rows;
  std::for_each(roomy.begin(), roomy.end(), [](SweepRow& row) { row.memory_warning.clear(); });
  const SweepRow* row = best_row(roomy, figure, best_is);
  if (row == nullptr || !best.memory_warning.empty()) {
    return nullptr;
  }
  const SweepRow& found = rows[static_cast<std::size_t>(row - roomy.data())];
  return found.memory_warning.empty() ? nullptr : &found;
}

SweepTie tie_of(const std::vector<SweepRow>& rows,
                const SweepRow& best,
                const std::string& figure) {
  std::vector<const SweepRow*> equals;
  for (const SweepRow& row : rows) {
    const bool as_roomy = row.memory_warning.empty() == best.memory_warning.empty();
    if (as_roomy && figure_of(row, figure) == figure_of(best, figure) && &row != &best) {
      equals.push_back(&row);
    }
  }
  for (const auto& figure_of_best : best.figures) {
    const std::string& path = figure_of_best.first;
    const bool differs = std::any_of(equals.begin(), equals.end(), [&](const SweepRow* row) {
      return figure_of(*row, path) != figure_of_best.second;
    });
    if (differs) {
      return {equals.size(), path, better_end(path)};
    }
  }
  return {equals.size(), "", training::Best::lowest};
}

std::optional<std::int64_t> SweepReport::best_point() const {
  const SweepRow* row = best_row(rows, best, best_is);
  return row == nullptr ? std::optional<std::int64_t>{} : row->point;
}

namespace {

/// Points whose memory has no room: of the first what its run says, of the others that there are.
std::vector<std::string> memory_warnings(const std::vector<SweepRow>& rows) {
  const SweepRow* first = nullptr;
  std::vector<std::int64_t> others;
  for (const SweepRow& row : rows) {
    if (!row.memory_warning.empty()) {
      first == nullptr ? static_cast<void>(first = &row) : others.push_back(row.point);
    }
  }
  if (first == nullptr) {
    return {};
  }
  constexpr std::size_t kNamed = 8;
  const std::string more = others.empty() ? ""
                           : others.size() <= kNamed
                               ? fmt::format("; likewise point{} {}", others.size() == 1 ? "" : "s",
                                             fmt::join(others, ", "))
                               : fmt::format("; likewise {} more points, {} to {}", others.size(),
                                             others.front(), others.back());
  return {fmt::format("point {}: {}{}", first->point, first->memory_warning, more)};
}

}  // namespace

SweepReport sweep_report(const Sweep& sweep, std::vector<SweepRow> rows) {
  auto warnings = memory_warnings(rows);
  const auto prices = sweep.price_warnings(rows);
  warnings.insert(warnings.end(), prices.begin(), prices.end());
  return {HEADWAY_VERSION, sweep.name(),     sweep.digest(),
          sweep.best(),    sweep.best_is(),  static_cast<std::int64_t>(sweep.points().size()),
          std::move(rows), sweep.resolved(), std::move(warnings)};
}

int exit_code(const SweepReport& report) {
  if (report.missing() > 0) {
    return exit_code(Status::incomplete);
  }
  const bool any = std::any_of(report.rows.begin(), report.rows.end(), [](const SweepRow& row) {
    return row.status == PointStatus::ok || row.status == PointStatus::listed;
  });
  return any ? 0 : exit_code(Status::infeasible);
}

}  // namespace headway::study
