// A published run as a scenario.
#include <cmath>

#include "sim/config/load.h"
#include "sim/core/checked.h"
#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/training/step/step.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/run_software.h"
#include "sim/validation/shipped_scenarios.h"
#include "sim/validation/training_runs.h"
#include "sim/validation/words/attention_words.h"
#include "sim/validation/words/model_words.h"
#include "sim/validation/words/note_words.h"
#include "sim/workload/closed_form.h"

namespace headway::validation {

namespace {

using import::CsvTable;
using workload::Recompute;
using workload::Sharding;

/// Measured curves of collectives inside a node of this GPU, the first of these that the catalogue
/// has: they are of nodes whose GPUs all meet over NVSwitch. Software that sends one copy of a
/// token to each GPU does so by DeepEP or a library of its kind.
std::vector<std::string> calibration_entries(const std::string& gpu_entry,
                                             const training::Scenario& s) {
  if (s.cluster.node.scale_up.kind != network::ScaleUpKind::nvswitch) {
    return {};
  }
  const bool a100 = gpu_entry.starts_with("a100") && gpu_entry.ends_with("sxm");
  const std::string gpu = a100 ? "a100-sxm" : gpu_entry;
  const bool library =
      s.model.moe && s.training.framework.expert_dispatch == workload::ExpertDispatch::deduplicated;
  return library ? std::vector{"deepep-" + gpu, "nccl-" + gpu} : std::vector{"nccl-" + gpu};
}

/// What leaving a field open costs where fewer than two sources state it: assumptions.
double judged_cost(const std::string& field) {
  if (const auto note = cost_of_note(field)) {
    return *note;
  }
  static constexpr std::pair<const char*, double> kJudgedCosts[] = {
      {"gpu variant", 0.05},
      {"moe_routing", 0.05},
      {"release", 0.30},    // as blanks of the one source move that states it so (open_fields.csv)
      {"params_b", 0.02}};  // what sharing the embedding's table moves of a model of 1B
  for (const auto& [name, cost] : kJudgedCosts) {
    if (field == name) {
      return cost;
    }
  }
  return 0.10;  // a guess
}

template <class Spec>
std::map<std::string, Spec> load_all(const std::vector<std::filesystem::path>& roots) {
  std::map<std::string, Spec> entries;
  config::LoadOptions options;
  options.roots = roots;
  for (const auto& entry : config::list_entries(Spec::kCatalogue, roots)) {
    entries.emplace(entry.name, config::load_entry<Spec>(entry.path, options).spec);
  }
  return entries;
}

const workload::FrameworkSpec& profile(const Catalogue& catalogue, const std::string& name) {
  const auto found = catalogue.frameworks.find(name);
  if (found == catalogue.frameworks.end()) {
    throw core::Error(fmt::format(
        "the catalogue has no framework profile '{}'; is HEADWAY_CONFIGS complete?", name));
  }
  return found->second;
}

/// Whether its GPUs share NVLink beyond a node.
bool shares_rack(const RunRow& row, const training::ClusterSpec& cluster) {
  return row.nvlink_domain.value_or(0) > 8 || cluster.node.scale_up.domain_gpus > cluster.node.gpus;
}

/// Machine, model and software; the layout is still to come.
training::Scenario row_without_layout(const RunRow& row,
                                      const Catalogue& catalogue,
                                      Assumed& assumed) {
  training::Scenario s;
  s.name = row.id;
  const std::string gpu = gpu_entry(row.gpu, catalogue, assumed);
  s.cluster = row_cluster(row, gpu, catalogue, assumed);
  if (limited_power(row)) {
    s.cluster.node.gpu.power = kLimitedPower * s.cluster.node.gpu.power;
    assume(assumed, "power");
  }
  s.model = row_model(row, catalogue, assumed);
  s.training.sequence_length = row.seq_len.value_or(0);
  s.training.global_batch = row.global_batch.value_or(0);
  const bool rack = shares_rack(row, s.cluster);
  s.training.framework = profile(catalogue, framework_entry(row, rack, assumed));
  const bool stand_in = stands_in(row, assumed);
  s.training.framework.name = stand_in ? row.era : s.training.framework.name;
  s.model.dropout = s.model.dropout ? s.model.dropout : s.training.framework.usual.dropout;
  apply_flags(row, stand_in, s.training.framework);
  s.training.framework.attention_kernels =
      attention_words(row.attention).kernels.value_or(s.training.framework.attention_kernels);
  if (scores_in_memory(row, s.model, s.cluster.node.gpu.architecture)) {
    s.training.framework.attention_kernels = workload::AttentionKernels::unfused;
  }
  if (exchanges_plainly(row, s.cluster.node.gpu.architecture)) {
    s.training.framework.expert_dispatch = workload::ExpertDispatch::all_to_all;
  }
  if (fuses_permutation(row, s.model)) {
    s.training.framework.fused_permute = true;
  }
  set_formats(row, s, assumed);
  for (const std::string& entry : calibration_entries(gpu, s)) {
    const auto measured = catalogue.calibrations.find(entry);
    if (measured != catalogue.calibrations.end() && s.calibration.collectives.empty()) {
      s.calibration.collectives = measured->second.collectives;
    }
  }
  return s;
}

/// Numbers of stages to try: one, and where the row leaves them open those that divide its layers,
/// or all but the two at the ends.
std::vector<int> stages_to_try(const RunRow& row) {
  constexpr int kMostStages = 64;
  std::vector<int> tries{1};
  const int layers = row.n_layers.value_or(1);
  const int most = degree_open(row, &RunRow::pp) ? std::min(layers, kMostStages) : 1;
  for (int stages = 2; stages <= most; ++stages) {
    if (layers % stages == 0 || (layers + 2) % stages == 0) {
      tries.push_back(stages);
    }
  }
  return tries;
}

/// The most tensor ranks of a node, by twos, over which heads and the inner width divide.
int most_tensor_ranks(const workload::ModelSpec& model, int node_gpus) {
  int most = 1;
  while (2 * most <= node_gpus && model.heads % (2 * most) == 0 &&
         (model.moe || model.ffn % (2 * most) == 0)) {
    most *= 2;
  }
  return most;
}

/// Degrees to try where a row leaves them open, of those that its GPUs can be divided by. Dense
/// models: tensor parallelism inside a node first, then stages. Mixtures: stages first, since
/// experts are narrow and have degrees of their own.
std::vector<Degrees> degrees_to_try(const RunRow& row,
                                    const workload::ModelSpec& model,
                                    int node_gpus) {
  std::vector<Degrees> tries;
  const int gpus = row.n_gpus.value_or(1);
  const auto add = [&](int tensor, int stages) {
    const core::Checked ranks =
        core::Checked(row.tp.value_or(tensor)) * row.pp.value_or(stages) * row.cp.value_or(1);
    const int together = ranks.as<int>().value_or(0);
    if (tries.empty() || (together > 0 && gpus % together == 0)) {
      tries.push_back({tensor, stages});
    }
  };
  const int most_tensor = degree_open(row, &RunRow::tp) ? most_tensor_ranks(model, node_gpus) : 1;
  const std::vector<int> all_stages = stages_to_try(row);
  for (int tensor = 1; tensor <= most_tensor; tensor *= 2) {
    const bool stages_here = row.is_mixture() || 2 * tensor > most_tensor;
    for (const int stages : stages_here ? all_stages : std::vector{1}) {
      add(tensor, stages);
    }
  }
  return tries;
}

/// Recomputation to try: the usual kind and, where none is stated, the stronger ones.
std::vector<Recompute> recompute_to_try(const RunRow& row, Recompute usual) {
  std::vector<Recompute> tries{usual};
  if (!row.recompute.empty()) {
    return tries;
  }
  for (const Recompute stronger : {Recompute::selective, Recompute::full}) {
    if (stronger > usual) {
      tries.push_back(stronger);
    }
  }
  return tries;
}

/// A batch that does not divide over replicas and micro-batches: the nearest that does.
void fit_batch(training::Scenario& s, Assumed& assumed) {
  const auto& p = s.parallelism;
  const int gpus = s.cluster.nodes * s.cluster.node.gpus;
  const std::int64_t unit =
      std::int64_t{std::max(1, gpus / (p.tensor * p.pipeline * p.context))} * p.micro_batch;
  if (s.training.global_batch % unit != 0) {
    const std::int64_t times =
        std::max<std::int64_t>(1, (s.training.global_batch + unit / 2) / unit);
    const auto batch = core::narrow<int>(times * unit);
    if (!batch) {
      throw core::Error(fmt::format("micro_batch {} of a global batch of {} sequences",
                                    p.micro_batch, s.training.global_batch));
    }
    s.training.global_batch = *batch;
    assume(assumed, "global_batch");
  }
}

/// The share of a GPU's memory from which on a plan is not believed: the model of memory has an
/// error too.
constexpr double kTooMuch = 1.1;

/// A micro-batch that nobody stated is the largest that fits, of those that divide a replica's
/// sequences, from the usual one down.
training::Scenario with_fitting_micro_batch(training::Scenario s, const Assumed& assumed) {
  const bool open = std::find(assumed.begin(), assumed.end(), "micro_batch") != assumed.end();
  auto& p = s.parallelism;
  const int gpus = s.cluster.nodes * s.cluster.node.gpus;
  const int replicas = std::max(1, gpus / (p.tensor * p.pipeline * p.context));
  const int sequences = s.training.global_batch / replicas;
  while (open && p.micro_batch > 1 && memory_need(s).value_or(0) > kTooMuch) {
    do {
      --p.micro_batch;
    } while (sequences % p.micro_batch != 0);
  }
  return s;
}

/// A sharding that nobody stated is the weakest of its software that fits, from the usual one on.
void shard_until_it_fits(const RunRow& row, training::Scenario& s) {
  const auto& known = s.training.framework.shardings;
  for (const auto stronger : {Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
    const bool has =
        known.empty() || std::find(known.begin(), known.end(), stronger) != known.end();
    if (row.sharding.empty() && has && stronger > s.parallelism.sharding &&
        memory_need(s).value_or(0) > kTooMuch) {
      s.parallelism.sharding = stronger;
    }
  }
}

/// Parts of a recomputation of this kind, as the software has them where the row does not say.
std::vector<workload::RecomputePart> parts_of_kind(const RunRow& row,
                                                   const training::Scenario& s,
                                                   Recompute kind) {
  if (kind != Recompute::selective) {
    return {};
  }
  auto parts = row.recompute.empty() ? s.training.framework.usual.selective_parts
                                     : s.parallelism.recompute_parts;
  if (!s.model.latent) {
    std::erase(parts, workload::RecomputePart::latent_up);
  }
  return parts;
}

/// Software that shards its weights over all ranks saves memory so, and by recomputation and
/// smaller micro-batches, before anybody divides its layers over tensor ranks. Of mixtures it is
/// not so: blanks of rows that state the tensor degree would then cost 15 % in place of 12.
bool shards_weights(const training::Scenario& s) {
  const Sharding usual = s.training.framework.usual.sharding;
  const Sharding taken = s.parallelism.sharding;
  const bool sharded =
      usual == Sharding::zero3 || taken == Sharding::zero3 || taken == Sharding::hsdp;
  return sharded && !s.model.moe;
}

/// Of the layouts that were tried the first that fits nearly, else the one that needs least memory.
struct LeastNeed {
  std::optional<training::Scenario> scenario;
  double need = 0;

  void add(const training::Scenario& tried, std::optional<double> share) {
    if (share && (!scenario || (need > kTooMuch && *share < need))) {
      scenario = tried;
      need = *share;
    }
  }
};

/// A row whose degrees, recomputation and sharding are looked for.
struct OpenLayout {
  const RunRow& row;
  std::vector<Degrees> tries;
  int vocabulary = 0, batch = 0;
  LeastNeed least = {};

  /// Sets one of the degrees, and what follows from them.
  void set(const Degrees& degrees, training::Scenario& s, Assumed& assumed) const {
    s.parallelism = row_parallelism(row, s.training.framework, s.model, degrees, assumed);
    if (&degrees == &tries.back()) {
      shard_until_it_fits(row, s);
    }
    if (remakes_attention(row, s)) {
      s.parallelism.recompute_parts.push_back(workload::RecomputePart::core_attention);
    }
    s.training.global_batch = batch;
    fit_batch(s, assumed);
    s.model.vocabulary =
        padded_vocabulary(vocabulary, s.training.framework.usual, s.parallelism.tensor);
  }

  /// The first of these kinds of recomputation with which the degrees of `s` fit.
  /// @param most  of the GPU's memory
  std::optional<training::Scenario> fitting(training::Scenario& s,
                                            const std::vector<Recompute>& kinds,
                                            double most) {
    for (const Recompute kind : kinds) {
      s.parallelism.recompute = kind;
      s.parallelism.recompute_parts = parts_of_kind(row, s, kind);
      if (tries.size() == 1 && kinds.size() == 1) {
        return s;
      }
      const auto need = memory_need(s);
      if (need && *need < most) {
        return s;
      }
      least.add(s, need);
    }
    return std::nullopt;
  }
};

/// The first layout that fits, of those that the row leaves open: with the usual recomputation,
/// then with stronger ones; where none does, the one that needs least memory.
training::Scenario with_layout(const RunRow& row, training::Scenario s, Assumed& assumed) {
  OpenLayout open{row, degrees_to_try(row, s.model, s.cluster.node.gpus), s.model.vocabulary,
                  s.training.global_batch};
  for (const Degrees& degrees : open.tries) {
    open.set(degrees, s, assumed);
    const bool one = open.tries.size() == 1;
    const bool whole = one || (&degrees == &open.tries.front() && shards_weights(s));
    const auto kinds = whole ? recompute_to_try(row, s.parallelism.recompute)
                             : std::vector{s.parallelism.recompute};
    if (auto found = open.fitting(s, kinds, kinds.size() > 1 ? kTooMuch : 1)) {
      return std::move(*found);
    }
    const auto smaller = with_fitting_micro_batch(s, assumed);
    if (whole && !one && memory_need(smaller).value_or(kTooMuch) < kTooMuch) {
      return smaller;
    }
  }
  if (open.least.scenario && open.least.need <= kTooMuch) {
    return std::move(*open.least.scenario);
  }
  for (const Degrees& degrees : open.tries) {
    open.set(degrees, s, assumed);
    auto kinds = recompute_to_try(row, s.parallelism.recompute);
    kinds.erase(kinds.begin());
    if (auto found = open.fitting(s, kinds, kTooMuch)) {
      return std::move(*found);
    }
  }
  return open.least.scenario.value_or(s);
}

/// Whether a step is one micro-batch of each replica: of software that accumulates nothing, or
/// where the notes say so.
bool accumulates_nothing(const RunRow& row, const workload::UsualRunSpec& usual) {
  static constexpr std::array<const char*, 6> kWords = {"no gradient accumulation",
                                                        "without gradient accumulation",
                                                        "no accumulation",
                                                        "largest batch",
                                                        "maximum batch",
                                                        "max batch"};
  constexpr int kWhole = 1 << 20;  // profiles say so by a micro-batch that has no end
  return usual.micro_batch_tokens >= kWhole || contains_any(core::lower_case(row.notes), kWords);
}

/// Sequences of a step where none are stated: of a run that pretrains about two million tokens,
/// accumulated where replicas take fewer at once; at least a micro-batch a replica, several a stage
/// in a pipeline.
RunRow with_batch(RunRow row, const workload::UsualRunSpec& usual) {
  if (row.global_batch) {
    return row;
  }
  // Source: papers have 0.5 to 4 M (GPT-3 6.7B 2 M, LLaMA 4 M); of the published tables' 20 sources
  // of dense models the median steps have 2.1 M in the middle, whichever source is left out (with
  // mixtures, of 21, 3.1 M).
  constexpr int kUsualTokens = 1 << 21;
  const core::Checked ranks =
      core::Checked(row.tp.value_or(1)) * row.pp.value_or(1) * row.cp.value_or(1);
  const int replicas =
      std::max(1, row.dp.value_or(row.n_gpus.value_or(1) / ranks.as<int>().value_or(1)));
  const int stages = row.pp.value_or(1);
  const int micro_batch = row.micro_batch.value_or(1);
  const core::Checked least =
      core::Checked(replicas) * micro_batch * (stages > 1 ? kMicroBatchesAStage * stages : 1);
  row.global_batch = least.as<int>();
  if (const int sequences = kUsualTokens / row.seq_len.value_or(1);
      row.global_batch && !accumulates_nothing(row, usual) && sequences > *row.global_batch) {
    const int unit =
        static_cast<int>(std::min<std::int64_t>(sequences, std::int64_t{replicas} * micro_batch));
    row.global_batch = sequences / unit * unit;
  }
  return row;
}

training::Scenario build(const RunRow& row, const Catalogue& catalogue, Assumed& assumed) {
  if (Assumed unused; !row.gpu.empty()) {
    gpu_entry(row.gpu, catalogue, unused);
  }
  check_kind(row, catalogue);
  for (const char* column : {"gpu", "n_gpus", "n_layers", "d_model", "seq_len"}) {
    if (!row.stated(column)) {
      const bool shape = column == std::string_view("n_layers") && !row.model.empty();
      throw core::Error(fmt::format(
          "{} is not stated{}", column,
          shape ? ", and the catalogue has no such model" + nearest_model(row.model, catalogue)
                : ""));
    }
  }
  if (const std::string sites = several_sites(row); !sites.empty()) {
    throw core::Error(
        fmt::format("several sites ('{}'): not in this table's columns; write a scenario with "
                    "cluster.sites",
                    sites));
  }
  constexpr double kMostTokens = 2e9;  // ten times the largest published steps
  const double tokens = static_cast<double>(*row.seq_len) * row.global_batch.value_or(0);
  if (tokens > kMostTokens) {
    throw core::Error(
        fmt::format("global_batch is {}: {:.2g} tokens a step; it counts sequences, not tokens",
                    *row.global_batch, tokens));
  }
  if (!row.global_batch) {
    assume(assumed, "global_batch");
  }
  training::Scenario s = row_without_layout(row, catalogue, assumed);
  const RunRow whole = with_batch(row, s.training.framework.usual);
  s.training.global_batch = whole.global_batch.value_or(0);
  return with_fitting_micro_batch(with_layout(whole, std::move(s), assumed), assumed);
}

/// Parameters that the columns do not give: either may be what ran, and half the distance in log
/// time is returned.
double parameters_off(const RunRow& row, const workload::ModelSpec& model, RowScenario& out) {
  constexpr double kRounded = 0.05;     // "7B" of 6.7; sources round, and leave small parts out
  constexpr double kMost = 0.5;         // beyond a factor of e one of them is a slip
  const double kOther = std::log(1.5);  // beyond: another model than the columns'
  const double stated = row.params_b.value_or(0);
  const double count = workload::count_parameters(model).total() / 1e9;
  const double off = stated > 0 ? std::abs(std::log(count / stated)) : 0;
  if (off <= kRounded) {
    return 0;
  }
  (off > kOther ? out.against : out.doubts)
      .push_back(fmt::format("columns give {:.3g}e9 parameters, {:.3g}e9 stated", count, stated));
  assume(out.assumed, "params_b");
  return std::min(kMost, off / 2);
}

/// What is not known of the figure itself, in log time: how its TFLOP/s are counted, and the MFU
/// that its own notes state beside it.
double figure_off(const RunRow& row, RowScenario& out) {
  double off = against_mfu(row, *out.scenario).half;
  if (row.measured_tokens_per_s_per_gpu || !figure_by_flops(row)) {
    return off;
  }
  const CountedFlops counted = flops_of_figure(row, *out.scenario);
  out.doubts.emplace_back(fmt::format("tokens/s follow from {} by the model's FLOPs{}",
                                      stated_tflops(row) > 0 ? "TFLOP/s" : "the share of the peak",
                                      counted.told));
  if (counted.open) {
    assume(out.assumed, "tflops convention");
  }
  return std::hypot(off, counted.half);
}

/// What is told of software that a profile stands in for; that which no list knows gets its other
/// reading.
void judge_software(const RunRow& row, const Catalogue& catalogue, RowScenario& out) {
  if (!stands_in(row, out.assumed)) {
    return;
  }
  const bool rack = shares_rack(row, out.scenario->cluster);
  Assumed said;
  std::string told = fmt::format("era: '{}' is taken as {}", core::shortened(row.era),
                                 framework_entry(row, rack, said));
  if (const auto other = read_as_megatron(row, rack)) {
    try {
      training::Scenario second = build(*other, catalogue, said);
      const std::string name = framework_entry(*other, rack, said);
      const bool first_fits = least_memory_need(*out.scenario).value_or(0) <= kTooMuch;
      const bool second_fits = least_memory_need(second).value_or(0) <= kTooMuch;
      if (second_fits && !first_fits) {
        told = fmt::format("era: '{}' is taken as {}, the only one of two that fits the memory",
                           core::shortened(row.era), name);
        out.scenario = std::move(second);
      } else if (first_fits && !second_fits) {
        told += fmt::format("; as {} it would not fit the memory", name);
      } else {
        out.readings.push_back({kSoftwareReading, std::move(second)});
        told += fmt::format(" and as {}, and the middle of both is predicted", name);
      }
    } catch (const core::Error&) {
      // no run can be read so
    }
  }
  out.doubts.push_back(told);
}

/// What makes a row's prediction doubtful, and its error from all that is assumed but what is read
/// both ways.
void judge(const RunRow& row, const Catalogue& catalogue, RowScenario& out) {
  out.doubts = not_understood(row, catalogue, out.assumed);
  judge_software(row, catalogue, out);
  training::Scenario& s = *out.scenario;
  if (const double need = least_memory_need(s).value_or(0); need > 1) {
    constexpr double kMisread = 1.5;  // no model of memory is so far off: another layout ran
    (need > kMisread ? out.against : out.doubts)
        .push_back(fmt::format("needs {:.2f} of the GPU's memory", need));
    if (need > kTooMuch) {
      assume(out.assumed, "memory");
    }
  }
  const double off =
      std::hypot(parameters_off(row, s.model, out), figure_off(row, out), row.figure_spread);
  OtherReadings others = other_readings(row, s, out.assumed);
  std::ranges::move(others.readings, std::back_inserter(out.readings));
  Assumed guessed = out.assumed;
  for (const std::string& column : others.settled) {
    std::erase(guessed, column);
  }
  for (const OtherReading& reading : out.readings) {
    std::erase(guessed, reading.column);
    assume(out.assumed, reading.column);
  }
  const double guesses = assumed_error(guessed, s.model.moe.has_value(), catalogue.open_fields);
  s.calibration.relative_error = std::hypot(std::hypot(s.calibration.relative_error, guesses), off);
}

}  // namespace

double assumed_error(const Assumed& assumed, bool mixture, const std::vector<OpenField>& known) {
  double square = 0;
  for (const std::string& field : assumed) {
    const double cost = open_error(known, field, mixture).value_or(judged_cost(field));
    square += cost * cost;
  }
  return std::sqrt(square);
}

std::string plain_message(const core::Error& error, const CsvTable& table) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  const auto end = text.find(": ");
  const bool placed = text.starts_with(table.file() + ":") && end != std::string::npos;
  return placed ? text.substr(end + 2) : text;
}

Catalogue load_catalogue(const std::vector<std::filesystem::path>& roots) {
  return {load_all<gpu::GpuSpec>(roots),
          load_all<training::NodeSpec>(roots),
          load_all<workload::ModelSpec>(roots),
          load_all<workload::FrameworkSpec>(roots),
          load_all<training::CalibrationSpec>(roots),
          load_all<network::FabricSpec>(roots),
          load_shipped(roots),
          load_known_errors(roots),
          load_open_fields(roots)};
}

RowScenario scenario_of_row(const RunRow& row, const Catalogue& catalogue) {
  if (!row.problems.empty()) {
    throw core::Error(row.problems);
  }
  if (const NoteWords notes = note_words(row); !notes.refused.empty()) {
    throw core::Error("unmodelled: its notes say that the figure is of " + notes.refused);
  }
  RowScenario out;
  const RunRow whole =
      with_named_model(with_named_software(row, catalogue), catalogue, out.assumed);
  out.scenario = build(whole, catalogue, out.assumed);
  const auto shipped = catalogue.shipped.find(row.id);
  if (shipped != catalogue.shipped.end() && disagreement(whole, shipped->second).empty()) {
    out.scenario = shipped->second;
  }
  judge(whole, catalogue, out);
  return out;
}

RowScenario row_scenario(const CsvTable& table, std::size_t index, const Catalogue& catalogue) {
  RowScenario out;
  try {
    return scenario_of_row(read_run_row(table, index), catalogue);
  } catch (const core::Error& error) {
    out.skipped = plain_message(error, table);
  }
  return out;
}

}  // namespace headway::validation
