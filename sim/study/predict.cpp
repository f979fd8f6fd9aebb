#include "sim/study/predict.h"

#include <fmt/format.h>
#include <utility>

#include "sim/core/digest.h"
#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/study/driver.h"
#include "sim/study/stopwatch.h"
#include "sim/study/verdict/assert.h"
#include "sim/study/verdict/claim.h"
#include "sim/study/verdict/limit.h"
#include "sim/study/verdict/remedies.h"
#include "sim/study/words.h"
#include "sim/training/check.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/teacher/cached_logits.h"
#include "sim/workload/trained/trained_parameters.h"

namespace headway::study {

using namespace core::literals;

namespace {

/// What is explained, drawn or metered is the fluid step.
void check_parts(const PredictOptions& options) {
  if (options.packets && (options.explain || options.pictures || options.power)) {
    throw core::Error(
        "--network packet times one step: what explains, draws or meters a step (--explain, "
        "--report, --trace, --trace-run, --pictures, --power) is of the fluid one; leave one out");
  }
}

/// A run that cannot be simulated is a reason beside the step, which is printed all the same.
void add_campaign(Driver& driver,
                  const training::CheckedScenario& checked,
                  const std::string& prices,
                  RunReport& report) {
  campaign::CampaignOutcome outcome;
  try {
    outcome = *driver.campaign(checked);
  } catch (const core::Infeasible& error) {
    report.reasons.push_back(error.diagnostics().front().message);
    return;
  }
  report.cost = cost_of(outcome, prices);
  if (report.pictures) {
    report.pictures->campaign = std::move(outcome.pictures);
  }
  report.campaign = std::move(outcome.result);
  if (report.power && report.campaign->checkpoint_stall.si() > 0) {
    report.power->save = {report.campaign->checkpoint_stall, report.campaign->checkpoint_persist};
  }
  report.assumptions.insert(report.assumptions.end(), outcome.assumptions.begin(),
                            outcome.assumptions.end());
  report.warnings.insert(report.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
}

/// The run behind the step; of a step that was timed by packets there is none.
void add_run(Driver& driver,
             const training::CheckedScenario& checked,
             const PredictOptions& options,
             const std::string& prices,
             RunReport& report) {
  if (options.packets) {
    report.assumptions.push_back(
        {"run.until", "left out", "with --network packet one step is simulated, not the run"});
  } else {
    add_campaign(driver, checked, prices, report);
  }
}

std::string memory_reason(const training::MemoryResult& memory) {
  if (memory.peak <= memory.capacity) {
    return fmt::format("what is offloaded needs {} GiB of the {} GiB of a host's memory",
                       core::number(memory.host_peak / 1_GiB),
                       core::number(memory.host_capacity / 1_GiB));
  }
  const core::Bytes more = memory.peak - memory.capacity;
  return fmt::format(
      "stage {} needs {} GiB of memory, {} more than the {} GiB of a GPU", memory.peak_stage,
      core::number(memory.peak / 1_GiB),
      more < 1_GiB ? core::number(more / 1_MiB) + " MiB" : core::number(more / 1_GiB) + " GiB",
      core::number(memory.capacity / 1_GiB));
}

/// The interval of a step knows what was compared before, and the report says it.
void compare_with_known(const training::Scenario& scenario,
                        const validation::KnownErrors& known,
                        RunReport& report) {
  widen_interval(scenario, known, report.step);
  if (!known.empty()) {
    report.compared = validation::nearest_sentences(validation::kind_of(scenario), known.runs);
  }
}

/// What is told of the step beside its result: explanation, power, pictures, as asked.
void add_parts(const training::CheckedScenario& checked,
               const PredictOptions& options,
               const std::string& text,
               RunReport& report) {
  const auto tell = [&](std::string_view phase) {
    if (options.progress) {
      options.progress(phase);
    }
  };
  if (options.explain) {
    tell("explaining the step");
    report.explanation = training::explain_step(checked, 10, options.count);
  }
  if (options.power) {
    tell("metering the step");
    report.power = power_report(checked, report.step.time, options.fold);
  }
  if (options.pictures) {
    tell("drawing the step");
    auto drawn = training::draw_step(checked, options.count);
    report.pictures = Pictures{std::move(drawn.timeline),
                               std::move(drawn.streams),
                               std::move(drawn.cables),
                               std::move(drawn.cables_why),
                               std::move(drawn.loads),
                               training::memory_of_stages(checked),
                               text,
                               std::nullopt};
  }
}

void judge(const std::vector<Assertion>& assertions, RunReport& report) {
  report.claim = check_claim(report.scenario, report.step, report.campaign, report.layout.gpus);
  report.warnings.insert(report.warnings.end(), report.claim.remarks.begin(),
                         report.claim.remarks.end());
  report.limit = limit_sentence(report.step, report.campaign);
  if (!report.step.memory.fits) {
    report.reasons.push_back(memory_reason(report.step.memory));
  }
  report.reasons.insert(report.reasons.end(), report.claim.impossible.begin(),
                        report.claim.impossible.end());
  if (!report.reasons.empty()) {
    report.status = Status::infeasible;
  }
  const auto failed = failed_assertions(assertions, report);
  if (!failed.empty() && report.status == Status::ok) {
    report.status = Status::assert_failed;
  }
  report.reasons.insert(report.reasons.end(), failed.begin(), failed.end());
}

/// Puts each share's own words in place of "the entry of the GPU": the source that its file gives,
/// or that no file writes it.
void name_sources(const config::LoadedScenario& loaded,
                  std::vector<training::Assumption>& assumptions) {
  constexpr std::string_view kShares = "gpu.sustained.";
  const bool calibrated = loaded.scenario.calibration.kernels.has_value();
  const std::string place = calibrated ? "calibration.kernels." : "cluster.node.gpu.sustained.";
  for (auto& assumption : assumptions) {
    if (!assumption.key.starts_with(kShares)) {
      continue;
    }
    const std::string path = place + assumption.key.substr(kShares.size());
    if (loaded.marks.count(path) == 0) {
      assumption.why = "the program's default: not measured on this GPU";
    } else if (!calibrated) {
      const std::string source = config::find_source(loaded.sources, path);
      assumption.why = source.empty() ? "written without a source" : source;
      const auto error = loaded.standard_errors.find(path);
      if (error != loaded.standard_errors.end()) {
        assumption.why += fmt::format(", standard error {:.3g} %", 100 * error->second);
      }
    }
  }
}

/// What no vendor prints of a board, and its entry assumes: joules and limits follow from it.
void add_assumed_power(const config::LoadedScenario& loaded,
                       std::vector<training::Assumption>& assumptions) {
  const auto& gpu = loaded.scenario.cluster.node.gpu;
  for (const auto& [key, power] :
       {std::pair("gpu.power", gpu.power), std::pair("gpu.idle_power", gpu.idle_power)}) {
    const std::string source =
        config::find_source(loaded.sources, fmt::format("cluster.node.{}", key));
    if (source.starts_with("assumed")) {
      assumptions.push_back({key, fmt::format("{:g} W", power.si()), source});
    }
  }
}

/// Said of shares by a catalogue entry whose GPU nobody has measured.
constexpr std::string_view kNothingMeasured = "nothing measured on this GPU";

/// A prediction for a GPU that nobody has measured says so where everybody looks.
void warn_of_unmeasured(const config::LoadedScenario& loaded, RunReport& report) {
  const bool unmeasured =
      std::any_of(report.step.assumptions.begin(), report.step.assumptions.end(),
                  [](const training::Assumption& assumption) {
                    return assumption.key.starts_with("gpu.sustained.gemm") &&
                           assumption.why.starts_with(kNothingMeasured);
                  });
  if (unmeasured && !loaded.scenario.calibration.kernels) {
    report.warnings.push_back(
        fmt::format("{}: {} stands behind the shares of its peaks, which are those of another "
                    "(--show assumptions)",
                    loaded.scenario.cluster.node.gpu.name, kNothingMeasured));
  }
}

}  // namespace

std::optional<CostReport> cost_of(const campaign::CampaignOutcome& outcome,
                                  const std::string& price_source) {
  if (!outcome.total_usd || !outcome.mean_bill) {
    return std::nullopt;
  }
  return CostReport{*outcome.total_usd, *outcome.mean_bill, price_source};
}

std::optional<training::PacketsOfStep> step_network(const std::string& words) {
  constexpr std::string_view kPacket = "packet";
  if (words == "fluid") {
    return std::nullopt;
  }
  if (words == kPacket) {
    return training::PacketsOfStep{};
  }
  const auto colon = words.find(':');
  if (words.substr(0, colon) != kPacket) {
    throw core::Error(
        fmt::format("there is no network '{}'; there are fluid, packet and packet:TRANSPORT",
                    core::shortened(words)));
  }
  const std::string name = words.substr(colon + 1);
  const auto transport = core::from_word<network::Transport>(name);
  if (!transport) {
    std::string known;
    for (const auto& [value, word] : enum_words(network::Transport{})) {
      known += fmt::format(" {}", word);
    }
    throw core::Error(
        fmt::format("there is no transport '{}'; there are{}", core::shortened(name), known));
  }
  return training::PacketsOfStep{.transport = transport};
}

std::string scenario_digest(const config::LoadedScenario& loaded) {
  std::string text = loaded.canonical_text;
  if (loaded.scenario.sweep || loaded.scenario.search != training::SearchSpec{}) {
    training::Scenario alone = loaded.scenario;  // what is searched changes no result of its own
    alone.sweep.reset();
    alone.search = {};
    text = config::write_scenario(alone);
  }
  return fmt::format("{:016x}", core::hash_text(text + "\nheadway " + HEADWAY_VERSION));
}

std::string price_source(const config::LoadedScenario& loaded) {
  if (!loaded.scenario.run.prices) {
    return "";
  }
  const std::string& name = loaded.scenario.run.prices->name;
  const std::string source = config::find_source(loaded.sources, "run.prices");
  return source.empty() ? name : name + ": " + source;
}

ModelSize model_size(const training::CheckedScenario& checked) {
  const auto& model = checked.scenario().model;
  const auto parameters = workload::count_parameters(model);
  const auto& training = checked.scenario().training;
  return {model.name,
          parameters.total(),
          parameters.active,
          workload::trained_parameters(model),
          workload::runs_teacher(training)
              ? workload::count_parameters(*training.distillation->teacher).total()
              : 0,
          core::Bytes(workload::stored_logit_bytes(model, training)),
          parameters.vision,
          checked.tokens_per_step()};
}

RunReport predict(const config::LoadedScenario& loaded, const PredictOptions& options) {
  Stopwatch whole;
  check_parts(options);
  const auto checked = training::check(loaded.scenario, loaded.marks);
  const auto assertions = parse_assertions(loaded.scenario.assertions, loaded.marks);
  const auto tell = [&](std::string_view phase) {
    if (options.progress) {
      options.progress(phase);
    }
  };
  Driver driver({.threads = options.threads,
                 .fold = options.fold,
                 .trace = true,
                 .pictures = options.pictures,
                 .packets = options.packets,
                 .known = options.known,
                 .phase = options.progress,
                 .progress = options.count});

  RunReport report;
  report.version = HEADWAY_VERSION;
  report.scenario = checked.scenario();
  report.digest = scenario_digest(loaded);
  report.layout = {checked.gpus(), checked.data_parallel(), checked.micro_batches()};
  report.asked = asked_in_words(report.scenario, report.layout);
  report.model = model_size(checked);
  report.timing.threads = driver.threads();
  report.timing.load = options.load_time;
  Stopwatch part;
  tell(options.packets ? "simulating one step by packets" : "simulating one step");
  report.step = driver.step(checked);
  compare_with_known(checked.scenario(), options.known_errors, report);
  tell("weighing the layers of stages");
  report.stage_advice = training::stage_advice(checked, report.step, options.count);
  name_sources(loaded, report.step.assumptions);
  add_assumed_power(loaded, report.step.assumptions);
  report.assumptions = report.step.assumptions;
  report.warnings = report.step.warnings;
  report.warnings.insert(report.warnings.end(), loaded.remarks.begin(), loaded.remarks.end());
  warn_of_unmeasured(loaded, report);
  add_parts(checked, options, loaded.canonical_text, report);
  report.timing.step = part.lap();
  if (checked.scenario().run.until) {
    add_run(driver, checked, options, price_source(loaded), report);
  }
  report.timing.campaign = part.lap();
  report.remedies = remedies(report);
  judge(assertions, report);
  report.timing.total = options.load_time + whole.lap();
  return report;
}

int exit_code(Status status) {
  switch (status) {
    case Status::ok:
      return 0;
    case Status::infeasible:
      return 3;
    case Status::assert_failed:
      return 4;
    case Status::incomplete:
      return 5;
  }
  return 1;
}

void widen_interval(const training::Scenario& scenario,
                    const validation::KnownErrors& known,
                    training::StepResult& step) {
  if (!known.empty()) {
    validation::set_interval(scenario, known, step);
  }
  validation::widen_by_flow_model(scenario, known.flow_model, step);
}

}  // namespace headway::study
