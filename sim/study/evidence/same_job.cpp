#include "sim/study/evidence/same_job.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/import/measured/training_lines.h"
#include "sim/validation/run_parts.h"
#include "sim/workload/closed_form.h"

namespace headway::study {

namespace {

/// Batches and tokens that are no further apart are the same: of a time with three digits, which
/// some are a product with, the last is up to 1 %. Judged.
constexpr double kSameWork = 0.01;

/// @param rounding  of the logged figure, relative, beyond that
bool same_work(double logged, double expected, double rounding = 0) {
  return std::abs(logged / expected - 1) <= kSameWork + rounding;
}

/// Whether Megatron-LM's list says so of a switch or a choice; false where it does not say.
bool is_on(const import::LoggedJob& job, std::string_view name) {
  const auto* setting = job.setting(name);
  return setting != nullptr && setting->value != "None" && setting->value != "False";
}

/// One of the settings of Megatron-LM that are whole numbers, and the field that has it here.
struct SameNumber {
  std::string_view name, field;
  int (*of)(const training::Scenario&);
};
constexpr std::array<SameNumber, 7> kSameNumbers{{
    {"hidden_size", "model.hidden", [](const auto& s) { return s.model.hidden; }},
    {"tensor_model_parallel_size", "parallelism.tensor",
     [](const auto& s) { return s.parallelism.tensor; }},
    {"pipeline_model_parallel_size", "parallelism.pipeline",
     [](const auto& s) { return s.parallelism.pipeline; }},
    {"context_parallel_size", "parallelism.context",
     [](const auto& s) { return s.parallelism.context; }},
    {"expert_model_parallel_size", "parallelism.expert",
     [](const auto& s) { return s.parallelism.expert; }},
    {"micro_batch_size", "parallelism.micro_batch",
     [](const auto& s) { return s.parallelism.micro_batch; }},
    {"num_layers", "model.layers", [](const auto& s) { return s.model.layers; }},
}};
/// Only experts have it: of other models the program lists its tensor-parallel degree.
constexpr SameNumber kExpertTensor{
    "expert_tensor_parallel_size", "parallelism.expert_tensor",
    [](const training::Scenario& s) { return s.parallelism.expert_tensor; }};

constexpr std::string_view kRecompute = "recompute_granularity";

/// "fp4", "fp8" or "16 bits": what products are computed in.
std::string_view product_bits(core::Precision precision) {
  switch (precision) {
    case core::Precision::nvfp4:
      return "fp4";
    case core::Precision::fp8:
    case core::Precision::mxfp8:
      return "fp8";
    default:
      return "16 bits or more";
  }
}

class LoggedWork {
 public:
  LoggedWork(const training::CheckedScenario& checked, const std::string& file)
      : scenario_(checked.scenario()),
        data_(checked.data_parallel()),
        batch_(checked.scenario().training.global_batch),
        length_(checked.scenario().training.sequence_length),
        gpus_(static_cast<double>(checked.gpus())),
        tokens_(checked.tokens_per_step() / gpus_),
        file_(file) {}

  void compare_settings(const import::LoggedJob& job, bool steps_say_batch) {
    if (!steps_say_batch) {
      compare(job.global_batch, batch_, job.lines[0], "sequences in a step",
              "training.global_batch");
    }
    compare(job.sequence_length, length_, job.lines[1], "tokens in a sequence",
            "training.sequence_length");
    compare(job.gpus, gpus_, job.lines[2], "GPUs", "");
    compare_layout(job);
    compare_formats(job);
    if (const auto there = other_recompute(job); there && !faults_.empty()) {
      differ(*job.setting(kRecompute), recompute_here(), "parallelism.recompute", *there);
    }
    faults_.throw_if_any();
  }

  /// What is no other work but more of it, as the cause `recompute` has it: told, not refused.
  void tell_recompute(const import::LoggedJob& job, std::vector<std::string>& remarks) const {
    if (const auto there = other_recompute(job)) {
      const auto& logged = *job.setting(kRecompute);
      remarks.push_back(
          fmt::format("{}:{}: the log says {} {}, the scenario has {}: steps differ by that alone; "
                      "--set parallelism.recompute={} is the job of this log",
                      file_, logged.line, kRecompute, logged.value, recompute_here(), *there));
    }
  }

  /// Of the work of the scenario's step, what a line's step has; 0: the line does not say.
  [[nodiscard]] double share(const import::LoggedStep& step) const {
    return step.samples > 0 ? step.samples / batch_ : step.tokens_per_gpu / tokens_;
  }

  /// Whether a line's step has other work than the scenario's.
  /// @param resolution  of the log's times, of which tokens are products
  [[nodiscard]] bool differs(const import::LoggedStep& step, double resolution) const {
    return share(step) > 0 && !same_work(share(step), 1, step.samples > 0 ? 0 : resolution);
  }

  /// @param step  a line of other work, where no line has the scenario's
  void refuse(const import::LoggedStep& step) {
    if (step.samples > 0) {
      compare(step.samples, batch_, step.line, "sequences in a step", "training.global_batch");
    } else {
      compare(step.tokens_per_gpu, tokens_, step.line,
              "tokens in a step and GPU (Tokens/s/device x seconds)", "");
    }
    faults_.throw_if_any();
  }

 private:
  [[nodiscard]] std::string recompute_here() const {
    return fmt::format("parallelism.recompute {}", core::to_word(scenario_.parallelism.recompute));
  }

  /// What the log recomputes, in our word, where that is not the scenario's.
  [[nodiscard]] std::optional<std::string> other_recompute(const import::LoggedJob& job) const {
    const auto* logged = job.setting(kRecompute);
    const std::string there = logged == nullptr || logged->value == "None" ? "none" : logged->value;
    const bool other = logged != nullptr && there != core::to_word(scenario_.parallelism.recompute);
    return other ? std::optional(there) : std::nullopt;
  }

  void compare_layout(const import::LoggedJob& job) {
    for (const SameNumber& known : kSameNumbers) {
      // Layers of a pattern are counted otherwise: attention and MLP are one each.
      const bool pattern =
          is_on(job, "hybrid_override_pattern") || is_on(job, "hybrid_layer_pattern");
      if (!(pattern && known.name == "num_layers")) {
        compare_number(job, known);
      }
    }
    if (is_on(job, "num_experts")) {
      compare_number(job, kExpertTensor);
    }
  }

  void compare_number(const import::LoggedJob& job, const SameNumber& known) {
    const auto* logged = job.setting(known.name);
    const std::int64_t here_number = known.of(scenario_);
    const std::string here = std::to_string(here_number);
    // A line may be cut, and "None" is what Megatron prints of what nobody set.
    const auto there = logged != nullptr ? import::number_of(logged->value) : std::nullopt;
    if (there && *there != static_cast<double>(here_number)) {
      differ(*logged, fmt::format("{} {}", known.field, here), known.field, logged->value);
    }
  }

  void compare_formats(const import::LoggedJob& job) {
    const auto* fp8 = job.setting("fp8");
    const std::string_view here = product_bits(scenario_.training.precision);
    const std::string_view there = is_on(job, "fp4")   ? "fp4"
                                   : is_on(job, "fp8") ? "fp8"
                                                       : product_bits(core::Precision::bf16);
    if (fp8 != nullptr && here != there) {
      differ(is_on(job, "fp4") ? *job.setting("fp4") : *fp8,
             fmt::format("training.precision {}", core::to_word(scenario_.training.precision)),
             "training.precision",
             there == "fp4"   ? "nvfp4"
             : there == "fp8" ? "fp8"
                              : "bf16");
    }
    const auto* optimizer = job.setting("use_distributed_optimizer");
    // FSDP, and DeepSpeed under Megatron-DeepSpeed, shard in a way of their own.
    const bool otherwise = is_on(job, "deepspeed") || is_on(job, "use_torch_fsdp2") ||
                           is_on(job, "use_custom_fsdp") || is_on(job, "use_megatron_fsdp");
    const auto sharding = scenario_.parallelism.sharding;
    const bool shards = sharding != workload::Sharding::zero0;
    if (optimizer != nullptr && data_ > 1 && !otherwise &&
        shards != is_on(job, "use_distributed_optimizer")) {
      differ(*optimizer, fmt::format("parallelism.sharding {}", core::to_word(sharding)),
             "parallelism.sharding", shards ? "zero0" : "zero1");
    }
  }

  void differ(const import::LoggedSetting& logged,
              const std::string& here,
              std::string_view field,
              std::string_view value) {
    faults_.add(core::SourceMark{file_, logged.line, 1, 1, ""},
                fmt::format("the log says {} {}, the scenario has {}: its times are of other work; "
                            "give the scenario of this log's job (--set {}={}), or a log of the "
                            "scenario's",
                            logged.name, logged.value, here, field, value));
  }

  void compare(
      double logged, double expected, int line, const std::string& what, const std::string& key) {
    if (!(logged > 0) || same_work(logged, expected)) {
      return;
    }
    faults_.add(core::SourceMark{file_, line, 1, 1, ""},
                fmt::format("the log says {} {}, the scenario has {}: its times are of other work; "
                            "give the scenario of this log's job{}, or a log of the scenario's",
                            core::count(logged), what, core::count(expected),
                            key.empty() ? "" : fmt::format(" (--set {}={:.0f})", key, logged)));
  }

  const training::Scenario& scenario_;
  std::int64_t data_;
  double batch_, length_, gpus_;
  double tokens_;  ///< of a step and GPU
  const std::string& file_;
  core::Diagnostics faults_;
};

}  // namespace

namespace {

/// Words of a framework's name, and the programs whose lines are those of its runs: NeMo trains
/// with Megatron-Core and prints lines of its own. Of a name with none of the words nothing is
/// known. The first that fits counts.
struct ProgramWords {
  std::string_view word;
  std::vector<import::TrainingProgram> programs;
};
bool is_program_of(import::TrainingProgram program, const std::string& framework) {
  using enum import::TrainingProgram;
  static const std::vector<ProgramWords> known{{"megatron-deepspeed", {megatron, deepspeed}},
                                               {"megatron", {megatron, nemo}},
                                               {"nemo", {nemo, megatron}},
                                               {"torchtitan", {torchtitan}},
                                               {"deepspeed", {deepspeed, megatron}},
                                               {"jax", {maxtext}},
                                               {"paxml", {maxtext}}};
  const std::string name = core::lower_case(framework);
  const auto found = std::find_if(known.begin(), known.end(), [&](const ProgramWords& one) {
    return name.find(one.word) != std::string::npos;
  });
  return found == known.end() || std::find(found->programs.begin(), found->programs.end(),
                                           program) != found->programs.end();
}

}  // namespace

bool is_other_program(const training::Scenario& scenario, const import::TrainingLog& log) {
  return !log.steps.empty() && !is_program_of(log.program, scenario.training.framework.name);
}

namespace {

/// What the program fuses and overlaps is the framework's, so another one's steps are another
/// job's.
void tell_program(const training::Scenario& scenario,
                  const std::string& file,
                  const import::TrainingLog& log,
                  std::vector<std::string>& remarks) {
  const std::string& framework = scenario.training.framework.name;
  if (is_other_program(scenario, log)) {
    remarks.push_back(
        fmt::format("{}: its lines are those of {}, training.framework is {}: what software fuses "
                    "and overlaps differs; give the framework of the program that ran",
                    file, core::to_word(log.program), framework));
  }
}

/// Of a token, from the least that programs count to the most.
struct CountedWork {
  double least = 0, most = 0;
};

/// Programs count 6 N with or without the embedding, attention in full, halved or not at all,
/// predicted tokens or not; of recomputed layers the hardware's work too. None: parts of the model
/// are not trained or are another's, which each counts in its way.
std::optional<CountedWork> counted_work(const training::Scenario& s, bool recomputes) {
  const auto forward = workload::forward_flops_per_token(s.model, s.training.sequence_length);
  const double all = 3 * (forward.linear() + forward.core()).si();
  const auto trained = workload::training_flops_per_token(
      s.model, s.training.sequence_length,
      recomputes ? workload::Recompute::full : workload::Recompute::none);
  const auto really = workload::training_flops_per_token(s.model, s.training, s.parallelism);
  if (std::abs(trained.mfu.si() / all - 1) > kSameWork ||
      std::abs(really.mfu.si() / all - 1) > kSameWork || s.training.distillation) {
    return std::nullopt;
  }
  const double embedding = 3 * forward.head.si();
  return CountedWork{3 * (forward.projections + forward.mlp).si(),
                     std::max(trained.hfu.si(), all) + embedding};
}

/// Beyond what conventions differ by, so much more or less is another job's. Judged.
constexpr double kOtherCount = 1.25;

/// The operations of a token that the log counts: its rate / its tokens a second. Median over the
/// lines; 0: they do not say.
double logged_work(const training::CheckedScenario& checked, const import::TrainingLog& log) {
  std::vector<double> values;
  for (const auto& step : log.steps) {
    const double rate =
        step.tokens_per_s_per_gpu > 0 ? step.tokens_per_s_per_gpu
        : step.seconds > 0
            ? checked.tokens_per_step() / (step.seconds * static_cast<double>(checked.gpus()))
            : 0;
    if (rate > 0 && step.tflops > 0) {
      values.push_back(1e12 * step.tflops / rate);
    }
  }
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// @param recomputes  the log, or the scenario
void tell_work(const training::CheckedScenario& checked,
               const std::string& file,
               const import::TrainingLog& log,
               std::vector<std::string>& remarks) {
  const auto& s = checked.scenario();
  const auto* logged = log.job.setting(kRecompute);
  const bool recomputes = s.parallelism.recompute != workload::Recompute::none ||
                          (logged != nullptr && logged->value != "None");
  const double work = logged_work(checked, log);
  const auto counted = counted_work(s, recomputes);
  if (work == 0 || !counted ||
      (work < kOtherCount * counted->most && kOtherCount * work > counted->least)) {
    return;
  }
  const double full =
      workload::training_flops_per_token(s.model, s.training, s.parallelism).mfu.si();
  remarks.push_back(fmt::format(
      "{}: its rates in TFLOP/s and its times are of {} GFLOP a token, {:.2f} times the "
      "{} of the scenario's model, which no way of counting explains{}: is it this "
      "job's (model, sequence length, batch)?",
      file, core::number(work / 1e9), work / full, core::number(full / 1e9),
      recomputes || work < full ? "" : " unless layers are recomputed"));
}

}  // namespace

void refuse_other_gpu(const gpu::GpuSpec& gpu,
                      const std::string& device,
                      const std::string& file,
                      int line) {
  if (!device.empty() && validation::is_other_gpu(device, gpu)) {
    throw core::Error(core::SourceMark{file, line, line > 0 ? 1 : 0, 1, ""},
                      fmt::format("its GPUs are '{}', the scenario has {}: its figures are of "
                                  "another machine; give the scenario of this machine, or a file "
                                  "of the scenario's",
                                  device, gpu.name));
  }
}

void keep_steps_of_job(const training::CheckedScenario& checked,
                       const std::string& file,
                       import::TrainingLog& log,
                       std::vector<std::string>& remarks) {
  LoggedWork work(checked, file);
  const auto says = [&](const auto& step) { return work.share(step) > 0; };
  const auto other = [&](const auto& step) { return work.differs(step, log.resolution); };
  const auto all = std::count_if(log.steps.begin(), log.steps.end(), says);
  work.compare_settings(log.job, all > 0);
  work.tell_recompute(log.job, remarks);
  tell_program(checked.scenario(), file, log, remarks);
  refuse_other_gpu(checked.scenario().cluster.node.gpu, log.job.device, file, log.job.device_line);
  const auto others = std::count_if(log.steps.begin(), log.steps.end(), other);
  if (others == 0) {
    tell_work(checked, file, log, remarks);
    return;
  }
  if (others == all) {
    work.refuse(*std::find_if(log.steps.rbegin(), log.steps.rend(), other));
  }
  const auto lines = static_cast<std::ptrdiff_t>(log.steps.size());
  log.steps.erase(std::remove_if(log.steps.begin(), log.steps.end(), other), log.steps.end());
  // Timers are medians over all lines.
  const bool timers = !log.parts.empty() && 2 * others >= lines;
  if (timers) {
    log.parts.clear();
  }
  remarks.push_back(fmt::format(
      "{}: {} of {} lines are of steps with another batch than the scenario's {} sequences and are "
      "left out{}",
      file, others, lines, checked.scenario().training.global_batch,
      timers ? ", with the timers, which are most of those steps" : ""));
  tell_work(checked, file, log, remarks);
}

}  // namespace headway::study
