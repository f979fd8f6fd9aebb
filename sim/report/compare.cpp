#include "sim/report/compare.h"

#include <map>

#include "sim/campaign/campaign.h"
#include "sim/report/predict.h"
#include "sim/training/check.h"
#include "sim/training/step/step.h"

namespace headway::report {

using training::Scenario;

namespace {

/// Predicts scenarios, each distinct step once.
class Predictor {
 public:
  explicit Predictor(const CompareOptions& options) : options_(options) {}

  Figures predict(const Scenario& scenario, const core::SourceMarks& marks = {}) {
    const auto checked = training::check(scenario, marks);
    const training::StepResult& step = step_of(checked);
    Figures figures;
    figures.step_time = step.time.si();
    figures.tokens_per_s = step.tokens_per_s;
    figures.mfu = step.mfu;
    figures.fits = step.memory.fits;
    if (scenario.run.until) {
      add_campaign(campaign::simulate_campaign(checked, step, {options_.threads}), figures);
    }
    return figures;
  }

  [[nodiscard]] std::int64_t step_simulations() const {
    return static_cast<std::int64_t>(steps_.size());
  }

 private:
  /// A step does not know how the run is operated.
  static std::string step_key(Scenario scenario) {
    scenario.name.clear();
    const auto seed = scenario.run.seed;
    scenario.run = {};
    scenario.run.seed = seed;  // placements are drawn
    scenario.claim = {};
    scenario.assertions.clear();
    scenario.cluster.spares = 0;
    return config::write_scenario(scenario);
  }

  const training::StepResult& step_of(const training::CheckedScenario& checked) {
    const std::string key = step_key(checked.scenario());
    const auto known = steps_.find(key);
    return known != steps_.end()
               ? known->second
               : steps_.emplace(key, training::simulate_step(checked, {options_.fold, false}))
                     .first->second;
  }

  static void add_campaign(const campaign::CampaignOutcome& outcome, Figures& figures) {
    figures.ettr = outcome.result.ettr.mean;
    figures.goodput = outcome.result.goodput.mean;
    figures.wall_days = outcome.result.wall_days.mean;
    figures.tokens = outcome.result.tokens;
    if (outcome.total_usd && outcome.mean_bill) {
      figures.usd = outcome.total_usd->mean;
      figures.usd_per_million_tokens = outcome.mean_bill->usd_per_million_tokens;
    }
  }

  const CompareOptions& options_;
  std::map<std::string, training::StepResult> steps_;
};

std::vector<Layer> differing_layers(const Scenario& a, const Scenario& b) {
  std::vector<Layer> layers;
  for (const auto& [layer, word] : enum_words(Layer{})) {
    Scenario mixed = with_layer(a, b, layer);
    // Names of scenarios are no part of an architecture.
    mixed.name = a.name;
    mixed.claim = a.claim;
    mixed.assertions = a.assertions;
    if (!(mixed == a)) {
      layers.push_back(layer);
    }
  }
  return layers;
}

void attribute(const Scenario& a,
               const Scenario& b,
               const CompareOptions& options,
               Predictor& predictor,
               CompareReport& report) {
  const std::size_t sets = std::size_t{1} << report.differing.size();
  for (std::size_t set = 0; set < sets; ++set) {
    Mixture mixture;
    Scenario mixed = a;
    for (std::size_t i = 0; i < report.differing.size(); ++i) {
      if ((set >> i & 1U) != 0) {
        mixture.from_b.push_back(report.differing[i]);
        mixed = with_layer(mixed, b, report.differing[i]);
      }
    }
    mixture.figures = set == 0 ? report.a : set + 1 == sets ? report.b : predictor.predict(mixed);
    report.mixtures.push_back(std::move(mixture));
    if (options.progress) {
      options.progress(set + 1, sets);
    }
  }
  for (const auto& column : figure_columns()) {
    if (column.read(report.a) && column.read(report.b)) {
      report.attributions.push_back(
          {std::string(column.key), shapley(report.differing.size(), [&](std::size_t set) {
             return column.read(report.mixtures[set].figures).value_or(0);
           })});
    }
  }
}

void warn(const Figures& figures, const std::string& name, CompareReport& report) {
  if (!figures.fits) {
    report.warnings.push_back(name + " does not fit in GPU memory; its figures are hypothetical");
  }
}

}  // namespace

const std::vector<FigureColumn>& figure_columns() {
  static const std::vector<FigureColumn> columns{
      {"step_time_s", "step [s]", [](const Figures& f) { return std::optional(f.step_time); }},
      {"tokens_per_s", "tokens/s", [](const Figures& f) { return std::optional(f.tokens_per_s); }},
      {"mfu", "MFU", [](const Figures& f) { return std::optional(f.mfu); }},
      {"ettr", "ETTR", [](const Figures& f) { return f.ettr; }},
      {"goodput", "goodput", [](const Figures& f) { return f.goodput; }},
      {"wall_days", "wall [days]", [](const Figures& f) { return f.wall_days; }},
      {"tokens", "tokens", [](const Figures& f) { return f.tokens; }},
      {"total_usd", "cost [USD]", [](const Figures& f) { return f.usd; }},
      {"usd_per_million_tokens", "USD per million tokens",
       [](const Figures& f) { return f.usd_per_million_tokens; }}};
  return columns;
}

CompareReport compare(const config::LoadedScenario& a,
                      const config::LoadedScenario& b,
                      const CompareOptions& options) {
  CompareReport report;
  report.version = HEADWAY_VERSION;
  report.name_a = a.scenario.name;
  report.name_b = b.scenario.name;
  report.digest_a = scenario_digest(a);
  report.digest_b = scenario_digest(b);
  Predictor predictor(options);
  report.a = predictor.predict(a.scenario, a.marks);
  report.b = predictor.predict(b.scenario, b.marks);
  report.differing = differing_layers(a.scenario, b.scenario);
  if (options.layers) {
    attribute(a.scenario, b.scenario, options, predictor, report);
  }
  report.step_simulations = predictor.step_simulations();
  warn(report.a, report.name_a, report);
  warn(report.b, report.name_b, report);
  return report;
}

}  // namespace headway::report
