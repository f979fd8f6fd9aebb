#include "sim/study/compare.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/core/figures.h"
#include "sim/study/driver.h"
#include "sim/study/predict.h"
#include "sim/study/words.h"
#include "sim/training/check.h"
#include "sim/training/price_warning.h"
#include "sim/training/step/step.h"

namespace headway::study {

using training::Scenario;

namespace {

Figures figures_of(Driver& driver, const Scenario& scenario, const core::SourceMarks& marks = {}) {
  const auto checked = training::check(scenario, marks);
  const training::StepResult& step = driver.step(checked);
  Figures figures;
  figures.step_time = step.time.si();
  figures.tokens_per_s = step.tokens_per_s;
  figures.mfu = step.mfu;
  figures.fits = step.memory.fits;
  figures.assumptions = step.assumptions;
  figures.breakdown = step.breakdown;
  if (training::near_memory_limit(step.memory)) {
    figures.memory_warning = training::memory_limit_warning(step.memory);
  }
  if (const auto outcome = driver.campaign(checked)) {
    figures.ettr = outcome->result.ettr.mean;
    figures.goodput = outcome->result.goodput.mean;
    figures.wall_days = outcome->result.wall_days.mean;
    figures.tokens = outcome->result.tokens;
    figures.ledger = outcome->result.ledger;
    if (const auto cost = cost_of(*outcome, "")) {
      figures.usd = cost->total_usd.mean;
      figures.usd_per_million_tokens = cost->bill.usd_per_million_tokens;
      figures.bill = cost->bill;
    }
  }
  return figures;
}

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

std::optional<double> number_at(const core::Figure& figures, const std::string& key) {
  return core::value_of(*core::find_figure(figures, key));
}

/// Keys of the figures, flags left out, that both have.
std::vector<std::string> numbers_of_both(const core::Figure& a, const core::Figure& b) {
  std::vector<std::string> keys;
  for (const core::Figure& figure : a.parts) {
    if (figure.kind == core::FigureKind::number && core::value_of(figure) &&
        number_at(b, figure.key)) {
      keys.push_back(figure.key);
    }
  }
  return keys;
}

void attribute(const Scenario& a,
               const Scenario& b,
               const CompareOptions& options,
               Driver& driver,
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
    mixture.figures = set == 0 ? report.a : set + 1 == sets ? report.b : figures_of(driver, mixed);
    report.mixtures.push_back(std::move(mixture));
    if (options.progress) {
      options.progress(set + 1, sets);
    }
  }
  std::vector<core::Figure> figures;
  for (const Mixture& mixture : report.mixtures) {
    figures.push_back(core::figures_of(mixture.figures));
  }
  for (const std::string& key : numbers_of_both(figures.front(), figures.back())) {
    report.attributions.push_back({key, shapley(report.differing.size(), [&](std::size_t set) {
                                     return number_at(figures[set], key).value_or(0);
                                   })});
  }
}

void warn(const Figures& figures, const std::string& name, CompareReport& report) {
  if (!figures.fits) {
    report.warnings.push_back(name + " does not fit in GPU memory; its figures are hypothetical");
  }
  if (!figures.memory_warning.empty()) {
    report.warnings.push_back(name + ": " + figures.memory_warning);
  }
}

/// Names of the parts of a whole, in the order of its figures.
using PartWords = std::vector<std::string>;

template <class Enum>
PartWords words_of_all() {
  PartWords words;
  for (const auto& entry : enum_words(Enum{})) {
    words.emplace_back(in_words(entry.value));
  }
  return words;
}

using Parts = std::vector<core::Figure>;

/// A whole on both sides, part by part.
/// @param words  of each part
std::vector<PartDifference> differences(const Parts& a, const Parts& b, const PartWords& words) {
  HEADWAY_CHECK(a.size() == words.size() && b.size() == words.size(),
                "{} and {} parts, words of {}", a.size(), b.size(), words.size());
  std::vector<PartDifference> parts;
  double whole = 0;
  bool finite = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double of_a = core::value_of(a[i]).value_or(0);
    const double of_b = core::value_of(b[i]).value_or(0);
    finite = finite && std::isfinite(of_a) && std::isfinite(of_b);
    whole += of_a;
    if (of_a != 0 || of_b != 0) {
      parts.push_back({a[i].key, words[i], of_a, of_b, 0});
    }
  }
  if (!finite || whole <= 0) {
    return {};
  }
  for (PartDifference& part : parts) {
    part.share = (part.b - part.a) / whole;
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& one, const auto& other) {
    return std::abs(one.share) > std::abs(other.share);
  });
  return parts;
}

/// What a bill adds up, of all that is said of it.
Parts parts_of(const price::Bill& bill) {
  Parts parts;
  for (core::Figure& figure : core::figures_of(bill).parts) {
    if (std::any_of(kBillParts.begin(), kBillParts.end(),
                    [&](const BillPart& part) { return part.path == "cost." + figure.key; })) {
      parts.push_back(std::move(figure));
    }
  }
  return parts;
}

void divide(CompareReport& report) {
  using core::figures_of;
  const Figures &a = report.a, &b = report.b;
  report.step_parts = differences(figures_of(a.breakdown).parts, figures_of(b.breakdown).parts,
                                  words_of_all<core::Activity>());
  if (a.ledger && b.ledger) {
    report.ledger_parts = differences(figures_of(*a.ledger).parts, figures_of(*b.ledger).parts,
                                      words_of_all<campaign::Account>());
  }
  if (a.bill && b.bill) {
    PartWords words;
    for (const BillPart& part : kBillParts) {
      words.emplace_back(part.words);
    }
    report.cost_parts = differences(parts_of(*a.bill), parts_of(*b.bill), words);
  }
}

}  // namespace

std::vector<LayerShares> CompareReport::shares() const {
  std::vector<LayerShares> out;
  for (std::size_t i = 0; i < differing.size(); ++i) {
    LayerShares& layer = out.emplace_back(LayerShares{differing[i], {}});
    for (const Attribution& attribution : attributions) {
      layer.figures.emplace_back(attribution.key, attribution.contributions[i]);
    }
  }
  return out;
}

CompareReport compare(const config::LoadedScenario& a,
                      const config::LoadedScenario& b,
                      const CompareOptions& options) {
  CompareReport report;
  report.version = HEADWAY_VERSION;
  report.label_a = label_of(a.scenario, scenario_digest(a));
  report.label_b = label_of(b.scenario, scenario_digest(b));
  report.differences = config::differing_fields(a.scenario, b.scenario);
  name_apart(report);
  report.resolved_a = a.canonical_text;
  report.resolved_b = b.canonical_text;
  Driver driver({.threads = options.threads,
                 .fold = options.fold,
                 .hash_draws = 0,
                 .progress = options.count});
  report.a = figures_of(driver, a.scenario, a.marks);
  report.b = figures_of(driver, b.scenario, b.marks);
  divide(report);
  report.differing = differing_layers(a.scenario, b.scenario);
  if (options.layers) {
    attribute(a.scenario, b.scenario, options, driver, report);
  }
  report.step_simulations = driver.step_simulations();
  warn(report.a, report.label_a.name, report);
  warn(report.b, report.label_b.name, report);
  for (const auto* side : {&a, &b}) {
    for (const std::string& text : training::price_warnings(side->scenario)) {
      report.warnings.push_back(side->scenario.name + ": " + text);
    }
  }
  return report;
}

}  // namespace headway::study
