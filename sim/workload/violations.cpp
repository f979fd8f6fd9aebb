// Rules that model, recipe and parallelism must keep together, and what cannot be modelled yet.
#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "sim/workload/build.h"
#include "sim/workload/layout.h"
#include "sim/workload/schedule.h"

namespace headway::workload {

namespace {

void check_model(std::vector<std::string>& out, const ModelSpec& model) {
  if (model.moe) {
    out.push_back(
        fmt::format("model '{}' is a mixture of experts; steps of dense models only are simulated",
                    model.name));
  }
  if (model.latent || model.attention == AttentionKind::multi_latent) {
    out.push_back(fmt::format("model '{}' has multi-latent attention; mha and gqa are simulated",
                              model.name));
  }
  if (model.window > 0) {
    out.push_back(fmt::format("model '{}' has sliding-window attention; mha and gqa are simulated",
                              model.name));
  }
  if (model.multi_token_prediction > 0) {
    out.push_back(fmt::format(
        "model '{}' predicts several tokens; single-token prediction is simulated", model.name));
  }
}

void check_degree(std::vector<std::string>& out, int value, int degree, const char* what) {
  if (value % degree != 0) {
    out.push_back(
        fmt::format("{} {} do not divide over {} tensor-parallel ranks", value, what, degree));
  }
}

/// All-to-all gives each context rank whole heads.
void check_exchanged_heads(std::vector<std::string>& out,
                           const ModelSpec& model,
                           const ParallelismSpec& parallelism) {
  const int t = parallelism.tensor;
  const int c = parallelism.context;
  if (model.heads % (t * c) != 0) {
    out.push_back(fmt::format(
        "{} attention heads do not divide over tensor {} x context {} = {}; choose context_kind "
        "ring or all-gather",
        model.heads, t, c, t * c));
  }
  const int held = std::max(1, model.key_value_heads / t);
  if (held % c != 0 && c % held != 0) {
    out.push_back(fmt::format(
        "{} key-value heads of a tensor rank and context {} do not divide each other; choose "
        "context_kind ring or all-gather",
        held, c));
  }
}

}  // namespace

std::vector<std::string> context_problems(const ModelSpec& model,
                                          const TrainingSpec& training,
                                          const ParallelismSpec& parallelism) {
  std::vector<std::string> out;
  const int c = parallelism.context;
  if (c == 1) {
    return out;
  }
  if (!training.framework.fused_attention) {
    out.push_back("context parallelism needs fused attention; set framework.fused_attention: true");
  }
  if (parallelism.context_kind == ContextKind::all_to_all) {
    if (training.sequence_length % c != 0) {
      out.push_back(fmt::format("a sequence of {} tokens does not divide over {} context ranks",
                                training.sequence_length, c));
    }
    check_exchanged_heads(out, model, parallelism);
  } else if (training.sequence_length % (2 * c) != 0) {
    out.push_back(fmt::format(
        "a sequence of {} tokens does not divide into 2 x context = {} chunks, two for each rank "
        "so that all have the same causal work",
        training.sequence_length, 2 * c));
  }
  return out;
}

std::vector<std::string> unsupported(const ModelSpec& model,
                                     const TrainingSpec& training,
                                     const ParallelismSpec& parallelism) {
  std::vector<std::string> out;
  check_model(out, model);
  if (training.precision == core::Precision::fp32 || training.precision == core::Precision::tf32) {
    out.push_back(
        fmt::format("precision {} is not simulated; choose bf16, fp16, fp8, mxfp8 or nvfp4",
                    core::to_word(training.precision)));
  }
  if (parallelism.expert > 1) {
    out.push_back(
        "expert parallelism is not simulated; write expert: 1 (tensor, sequence, pipeline, context "
        "and data parallelism are)");
  }
  if (parallelism.sharding == Sharding::hsdp) {
    out.push_back("sharding hsdp is not simulated; choose zero0, zero1, zero2 or zero3");
  }
  const ScheduleKind schedule = effective_schedule(parallelism);
  if (schedule == ScheduleKind::dual_pipe) {
    out.push_back(
        "schedule dualpipe, which holds the weights twice, is not simulated; choose dualpipe-v or "
        "another schedule");
  }
  return out;
}

std::vector<std::string> violations(const ModelSpec& model,
                                    const TrainingSpec& training,
                                    const ParallelismSpec& parallelism,
                                    int micro_batches) {
  std::vector<std::string> out = unsupported(model, training, parallelism);
  const int t = parallelism.tensor;
  check_degree(out, model.heads, t, "attention heads");
  check_degree(out, model.ffn, t, "MLP columns");
  if (model.key_value_heads % t != 0 && t % model.key_value_heads != 0) {
    out.push_back(
        fmt::format("{} key-value heads and {} tensor-parallel ranks do not divide each other",
                    model.key_value_heads, t));
  }
  if (parallelism.sequence && t > 1) {
    check_degree(out, training.sequence_length / parallelism.context, t, "tokens of a sequence");
  }
  std::ranges::move(context_problems(model, training, parallelism), std::back_inserter(out));
  if (model.heads % model.key_value_heads != 0) {
    out.push_back(fmt::format("{} attention heads do not divide over {} key-value heads",
                              model.heads, model.key_value_heads));
  }
  const ScheduleKind schedule = effective_schedule(parallelism);
  if (std::string problem = schedule_problem(schedule, parallelism.pipeline,
                                             parallelism.virtual_stages, micro_batches);
      !problem.empty()) {
    out.push_back(std::move(problem));
  }
  if (std::string problem = layout_problem(model, parallelism); !problem.empty()) {
    out.push_back(std::move(problem));
  }
  return out;
}

}  // namespace headway::workload
