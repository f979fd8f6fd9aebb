#include "sim/study/expect/against.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <utility>

#include "sim/config/reflect.h"
#include "sim/config/unit_text.h"
#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/import/csv.h"
#include "sim/import/measured/nccl_tests_json.h"
#include "sim/import/measured/nccl_tests_log.h"
#include "sim/import/measured/training_log.h"
#include "sim/network/collective/closed_form.h"
#include "sim/study/evidence/evidence.h"
#include "sim/study/evidence/same_job.h"
#include "sim/study/nccl_tests_names.h"

#include "calibrate/fit/import_samples.h"

namespace headway::study {

namespace {

/// What is measured is held to a prediction of the same call.
class Against {
 public:
  Against(const config::LoadedScenario& loaded, ExpectReport& report)
      : machine_{loaded.scenario.name,
                 loaded.scenario.cluster,
                 loaded.scenario.calibration.collectives,
                 {}},
        loaded_(loaded),
        report_(report) {}

  void add(const MeasuredFile& file) {
    if (import::is_training_log(file.text)) {
      add_steps(file);
    } else if (file.name.ends_with(".csv")) {
      add_table(import::CsvTable(file.text, file.name));
    } else if (file.name.ends_with(".json") || file.name.ends_with(".json.gz")) {
      add_log(import::read_nccl_tests_json(file.text, file.name), file.name);
    } else {
      add_log(import::read_nccl_tests_log(file.text, file.name), file.name);
    }
  }

 private:
  /// The median step of a training log, and how long its saves stop it.
  void add_steps(const MeasuredFile& file) {
    const auto checked = training::check(loaded_.scenario, loaded_.marks);
    const auto evidence = read_evidence(checked, {{file.name, file.text}});
    report_.assumptions.insert(report_.assumptions.end(), evidence.findings.begin(),
                               evidence.findings.end());
    report_.assumptions.insert(report_.assumptions.end(), evidence.remarks.begin(),
                               evidence.remarks.end());
    for (const Observation& observation : evidence.observations) {
      if (observation.feature == Feature::step_time) {
        hold(file, Measure::step_time, observation.measured);
      } else if (observation.feature == Feature::save) {
        hold(file, Measure::save_stall, observation.measured);
      }
    }
  }

  /// A figure of the job beside its threshold, where there is one: a save that stops nothing has
  /// none.
  void hold(const MeasuredFile& file, Measure measure, double measured) {
    const auto found = std::find_if(report_.thresholds.begin(), report_.thresholds.end(),
                                    [&](const Threshold& t) { return t.measure == measure; });
    if (found != report_.thresholds.end()) {
      report_.verdicts.push_back({file.name, {}, *found, measured});
    }
  }

  void add_log(const import::NcclTestsLog& log, const std::string& file) {
    refuse_other_gpu(machine_.cluster.node.gpu, log.device, file, log.device_line);
    const auto samples =
        fit::from_nccl_tests(log, file, {.collective = {}, .options = false}).set.samples;
    const std::string wrong = import::wrong_data_of(log);
    const std::string unfinished = import::unfinished_of(log);
    std::map<double, std::vector<double>> seconds;  // by size
    for (const auto& sample : samples) {
      if (is_threshold(static_cast<std::uint64_t>(sample.bytes), sample.ranks)) {
        seconds[sample.bytes].push_back(sample.seconds);
      }
    }
    if (seconds.empty()) {
      throw core::Error(fmt::format(
          "{}: {}{}no message of 64 MiB or more, and 1 MiB or more a GPU; predictions of smaller "
          "ones "
          "miss by too much to accept or refuse a machine by them: run nccl-tests with -e 16G",
          file, wrong.empty() ? "" : "WRONG DATA (" + wrong + "), and ",
          unfinished.empty() ? "" : "the test DID NOT END (" + unfinished + "), and "));
    }
    const auto& first = samples.front();
    const auto kind = core::from_word<core::CollectiveKind>(first.op);
    HEADWAY_CHECK(kind.has_value(), "collective '{}'", first.op);
    for (const auto& [bytes, times] : seconds) {
      double mean = 0;
      for (const double one : times) {
        mean += one / static_cast<double>(times.size());
      }
      Threshold threshold = of_group(
          {*kind, first.ranks, first.ranks_per_node, static_cast<std::uint64_t>(bytes)}, file);
      const double bus =
          network::bus_bandwidth(*kind, core::Bytes(bytes), first.ranks, core::Seconds(mean)).si();
      report_.verdicts.push_back({file, log.hosts, std::move(threshold), bus, wrong, unfinished});
    }
  }

  /// A call that was measured.
  struct Measured {
    core::CollectiveKind kind = core::CollectiveKind::all_reduce;
    int gpus = 0, per_node = 0;  ///< per_node 0: as many as fit
    std::uint64_t bytes = 0;
  };

  /// @param place  where it was written
  Threshold of_group(const Measured& call, const std::string& place) {
    const int all = machine_.cluster.node.gpus;
    const int in_node = call.per_node > 0 ? call.per_node : std::min(call.gpus, all);
    const auto nodes = (call.gpus + in_node - 1) / in_node;
    const Scope scope = nodes == 1                        ? Scope::node
                        : nodes == machine_.cluster.nodes ? Scope::job
                                                          : Scope::group;
    try {
      return bus_bandwidth_threshold(machine_, call.kind, call.gpus, in_node, call.bytes, scope);
    } catch (const core::Error& error) {
      throw core::Error(fmt::format("{}: {}; it is held against the machine it was measured on",
                                    place, error.diagnostics().front().message));
    }
  }

  void add_table(const import::CsvTable& table) {
    for (const auto& column : table.columns()) {
      static const std::vector<std::string> kColumns{
          "measure", "value", "nodes", "collective", "gpus", "gpus_per_node", "size", "shape"};
      if (std::find(kColumns.begin(), kColumns.end(), column) == kColumns.end()) {
        throw core::Error(fmt::format("{}:1: there is no column '{}'; there are {}", table.file(),
                                      column, fmt::join(kColumns, ", ")));
      }
    }
    std::vector<core::Diagnostic> wrong;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      try {
        add_row(table, row);
      } catch (const core::Error& error) {
        wrong.insert(wrong.end(), error.diagnostics().begin(), error.diagnostics().end());
      }
    }
    if (!wrong.empty()) {
      throw core::Error(std::move(wrong));
    }
  }

  void add_row(const import::CsvTable& table, std::size_t row) {
    const std::string place = fmt::format("{}:{}", table.file(), table.line(row));
    const auto& word = table.text(row, "measure");
    const auto measure = core::from_word<Measure>(word);
    if (!measure) {
      std::string known;
      for (const auto& [value, name] : enum_words(Measure{})) {
        known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
      }
      throw core::Error(
          fmt::format("{}: there is no measure '{}'; there are {}", place, word, known));
    }
    const double value = value_of(*measure, table.text(row, "value"), place);
    Threshold threshold = *measure == Measure::bus_bandwidth ? of_call(table, row, place)
                                                             : listed(*measure, table, row, place);
    std::vector<std::string> nodes;
    std::istringstream names(table.text_or_none(row, "nodes"));
    for (std::string node; names >> node;) {
      nodes.push_back(node);
    }
    report_.verdicts.push_back({place, std::move(nodes), std::move(threshold), value});
  }

  static double value_of(Measure measure, const std::string& text, const std::string& place) {
    std::string why;
    std::optional<double> value;
    if (unit_of(measure) == "1/s") {
      const auto number = config::parse_number(text, why);
      if (number && core::trimmed(number->rest).empty()) {
        value = number->value;
      } else if (number) {
        why = fmt::format("'{}' has a unit; tokens a second and GPU have none", text);
      }
    } else {
      const auto dimension =
          unit_of(measure) == "B/s"      ? config::reflect::dimension_of(core::BytesPerSecond{})
          : unit_of(measure) == "FLOP/s" ? config::reflect::dimension_of(core::FlopsPerSecond{})
                                         : config::reflect::dimension_of(core::Seconds{});
      value = config::parse_quantity(text, dimension, why);
    }
    if (!value || !(*value > 0)) {
      throw core::Error(
          fmt::format("{}: value: {}", place, value ? "a measured figure is above 0" : why));
    }
    return *value;
  }

  static int count_of(const std::string& text, const std::string& what, const std::string& place) {
    std::string why;
    const auto number = config::parse_number(text, why);
    if (!number || !number->rest.empty() || number->value < 1 || number->value > 1e9 ||
        number->value != std::floor(number->value)) {
      throw core::Error(fmt::format("{}: {} '{}' is no whole number from 1", place, what, text));
    }
    return static_cast<int>(number->value);
  }

  Threshold of_call(const import::CsvTable& table, std::size_t row, const std::string& place) {
    const std::string name = table.text_or_none(row, "collective");
    const auto kind = collective_kind(name);
    if (!kind) {
      throw core::Error(fmt::format("{}: there is no collective '{}'; there are {}", place, name,
                                    collective_words()));
    }
    const auto size = parse_size(table.text_or_none(row, "size"));
    const int gpus = count_of(table.text_or_none(row, "gpus"), "gpus", place);
    if (!size || !is_threshold(*size, gpus) ||
        static_cast<double>(*size) > import::kLargestMessage) {
      throw core::Error(
          fmt::format("{}: size '{}' is no size of 64M or more, and 1M or more a GPU, "
                      "as '16G' or '16 GiB'",
                      place, table.text_or_none(row, "size")));
    }
    const std::string per_node = table.text_or_none(row, "gpus_per_node");
    return of_group(
        {*kind, gpus, per_node.empty() ? 0 : count_of(per_node, "gpus_per_node", place), *size},
        place);
  }

  [[nodiscard]] const Threshold& listed(Measure measure,
                                        const import::CsvTable& table,
                                        std::size_t row,
                                        const std::string& place) const {
    const std::string shape = table.text_or_none(row, "shape");
    std::string known;
    for (const Threshold& threshold : report_.thresholds) {
      if (threshold.measure != measure) {
        continue;
      }
      if (threshold.shape.empty() || threshold.shape == shape ||
          threshold.shape.substr(0, threshold.shape.find(':')) == shape) {
        return threshold;
      }
      known += fmt::format("{}'{}'", known.empty() ? "" : ", ", threshold.shape);
    }
    throw core::Error(fmt::format("{}: the scenario has no threshold of {}{}", place,
                                  core::to_word(measure),
                                  known.empty() ? "" : "; its shapes are " + known));
  }

  Machine machine_;
  const config::LoadedScenario& loaded_;
  ExpectReport& report_;
};

/// Tests of one node.
struct NodeTally {
  int tests = 0, failed = 0;
  bool bad = false;  ///< a failure that can be no other node's
};

std::vector<NodeVerdict> judge_nodes(const std::vector<Verdict>& verdicts) {
  std::map<std::string, NodeTally> tallies;
  for (const Verdict& verdict : verdicts) {
    for (const std::string& node : verdict.nodes) {
      NodeTally& tally = tallies[node];
      ++tally.tests;
      tally.failed += verdict.passed() ? 0 : 1;
    }
  }
  const auto never_passed = [&](const std::string& node) {
    return tallies.at(node).failed == tallies.at(node).tests;
  };
  for (const Verdict& verdict : verdicts) {
    if (!verdict.passed() &&
        std::count_if(verdict.nodes.begin(), verdict.nodes.end(), never_passed) == 1) {
      tallies.at(*std::find_if(verdict.nodes.begin(), verdict.nodes.end(), never_passed)).bad =
          true;
    }
    if (!verdict.passed() && verdict.nodes.size() == 1) {
      tallies.at(verdict.nodes.front()).bad = true;
    }
  }
  std::vector<NodeVerdict> nodes;
  for (const auto& [name, tally] : tallies) {
    nodes.push_back({name,
                     tally.bad          ? NodeState::failed
                     : tally.failed > 0 ? NodeState::suspect
                                        : NodeState::passed,
                     tally.tests, tally.failed});
  }
  return nodes;
}

/// A measured figure as people read it: "452 GB/s", "6.40 s".
std::string with_unit(Measure measure, double value) {
  const std::string_view unit = unit_of(measure);
  return unit == "B/s"      ? core::number(value / 1e9) + " GB/s"
         : unit == "FLOP/s" ? core::number(value / 1e12) + " TFLOP/s"
         : unit == "1/s"    ? core::number(value) + " tokens/s"
                            : core::number(value) + " s";
}

std::string reason_of(const Verdict& verdict) {
  const auto& threshold = verdict.threshold;
  if (!verdict.wrong_data.empty()) {
    return fmt::format(
        "{}: WRONG DATA: {} of {} over {} GPUs{}", verdict.source, verdict.wrong_data,
        core::to_word(*threshold.collective), threshold.gpus,
        verdict.nodes.empty() ? "" : fmt::format(" of {}", fmt::join(verdict.nodes, " ")));
  }
  if (!verdict.unfinished.empty()) {
    return fmt::format(
        "{}: DID NOT END: {}{}", verdict.source, verdict.unfinished,
        verdict.nodes.empty() ? "" : fmt::format("; on {}", fmt::join(verdict.nodes, " ")));
  }
  return fmt::format(
      "{}: {}{} of {} GPU{}{} is {}, {} {} is expected", verdict.source,
      threshold.collective ? std::string(core::to_word(*threshold.collective)) + " " : "",
      core::to_word(threshold.measure), threshold.gpus, threshold.gpus == 1 ? "" : "s",
      threshold.size ? " at " + size_words(static_cast<std::uint64_t>(threshold.size->si())) : "",
      with_unit(threshold.measure, verdict.measured),
      more_is_better(threshold.measure) ? "at least" : "at most",
      with_unit(threshold.measure, threshold.limit()));
}

}  // namespace

void hold_against(const config::LoadedScenario& loaded,
                  const std::vector<MeasuredFile>& files,
                  ExpectReport& report) {
  Against against(loaded, report);
  for (const MeasuredFile& file : files) {
    against.add(file);
  }
  report.nodes = judge_nodes(report.verdicts);
  for (const Verdict& verdict : report.verdicts) {
    if (!verdict.passed()) {
      // That data are wrong is said once of a file.
      const std::string reason = reason_of(verdict);
      const auto& said = report.reasons;
      if (std::find(said.begin(), said.end(), reason) == said.end()) {
        report.reasons.push_back(reason);
      }
      report.status = report.status == Status::ok ? Status::assert_failed : report.status;
    }
  }
}

}  // namespace headway::study
