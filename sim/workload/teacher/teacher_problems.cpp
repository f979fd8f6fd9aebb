#include "sim/workload/teacher/teacher_problems.h"

#include <bit>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "sim/workload/blocks/build.h"
#include "sim/workload/layout.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/teacher/teacher.h"

namespace headway::workload {

namespace {

constexpr const char* kTeacher = "training.distillation.teacher";

/// A rule that the teacher breaks as a model, told as one of the teacher's.
Violations of_teacher(Violations all) {
  const std::string_view model = "model";
  for (Violation& one : all) {
    if (one.path.starts_with(model)) {
      one.path = kTeacher + one.path.substr(model.size());
    }
    one.text = "the teacher: " + one.text;
  }
  return all;
}

/// Who teaches, and what of it can be written only of the other.
void check_source(Violations& out, const DistillationSpec& distillation) {
  const auto add = [&](const char* path, std::string text) {
    out.push_back({path, std::move(text)});
  };
  if (distillation.teacher && distillation.cached) {
    add("training.distillation.cached",
        fmt::format("teacher '{}' either runs beside the step or ran before, when its logits were "
                    "cached; leave out 'teacher' or 'cached'",
                    distillation.teacher->name));
  } else if (!distillation.teacher && !distillation.cached) {
    add("training.distillation",
        "nobody teaches; name the model that runs beside the step in 'teacher', or write 'cached' "
        "for logits of one that ran before");
  }
  if (distillation.cached && !distillation.teacher_layers.empty()) {
    add("training.distillation.teacher_layers",
        "a teacher that ran before has no layers on these stages; leave out 'teacher_layers'");
  }
}

/// How logits are stored.
void check_cached(Violations& out, const ModelSpec& model, const DistillationSpec& distillation) {
  if (!distillation.cached || !distillation.cached->token_id_bits) {
    return;
  }
  const int bits = *distillation.cached->token_id_bits;
  const char* const path = "training.distillation.cached.token_id_bits";
  if (distillation.top_k == 0) {
    out.push_back({path,
                   "of the whole vocabulary all values are stored in order, without numbers of "
                   "tokens; leave out 'token_id_bits', or write how many are stored in 'top_k'"});
    return;
  }
  const int needed = std::bit_width(static_cast<unsigned>(model.vocabulary - 1));
  if (bits < needed) {
    out.push_back({path, fmt::format("{} bits do not tell {} tokens apart; write at least {}", bits,
                                     model.vocabulary, needed)});
  }
}

void check_teacher(Violations& out, const ModelSpec& model, const ModelSpec& teacher) {
  const auto add = [&](const char* path, std::string text) {
    out.push_back({path, std::move(text)});
  };
  if (teacher.vocabulary != model.vocabulary) {
    add("training.distillation.teacher.vocabulary",
        fmt::format("teacher '{}' has {} tokens and model '{}' {}: their probabilities are "
                    "compared one by one; pad the smaller to the larger, or choose models of one "
                    "tokenizer",
                    teacher.name, teacher.vocabulary, model.name, model.vocabulary));
  }
  if (teacher.sixteen_bit_layers) {
    add("training.distillation.teacher.sixteen_bit_layers",
        fmt::format("all layers of teacher '{}' are taken to have operands of one format: leave "
                    "'sixteen_bit_layers' out",
                    teacher.name));
  }
  if (teacher.adapters || teacher.frozen) {
    add(kTeacher, fmt::format("nothing of teacher '{}' is trained: leave out its 'adapters' and "
                              "'frozen'",
                              teacher.name));
  }
}

void check_models(Violations& out, const ModelSpec& model, const DistillationSpec& distillation) {
  const auto add = [&](const char* path, std::string text) {
    out.push_back({path, std::move(text)});
  };
  if (distillation.teacher && !distillation.cached) {
    check_teacher(out, model, *distillation.teacher);
  }
  if (model.multi_token_prediction > 0) {
    add("model.multi_token_prediction",
        "prediction modules of a model that learns from a teacher are not simulated; write "
        "multi_token_prediction: 0");
  }
  if (distillation.top_k > model.vocabulary) {
    add("training.distillation.top_k", fmt::format("top_k {} is more than the {} tokens there are",
                                                   distillation.top_k, model.vocabulary));
  }
}

}  // namespace

Violations teacher_problems(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism) {
  if (!training.distillation) {
    return {};
  }
  Violations out;
  check_source(out, *training.distillation);
  check_cached(out, model, *training.distillation);
  check_models(out, model, *training.distillation);
  if (offloads_activations(parallelism.offload)) {
    out.push_back({"parallelism.offload",
                   fmt::format("activations that go to the host {} are not simulated; "
                               "choose offload none or optimizer",
                               reads_logits(training) ? "beside cached logits that come from it"
                                                      : "beside a teacher's forward")});
  }
  if (!runs_teacher(training)) {
    return out;
  }
  const ModelSpec& teacher = *training.distillation->teacher;
  if (teacher.heads % teacher.key_value_heads != 0) {
    out.push_back({"training.distillation.teacher.key_value_heads",
                   fmt::format("the teacher: {} attention heads do not divide over {} key-value "
                               "heads",
                               teacher.heads, teacher.key_value_heads)});
  }
  std::ranges::move(of_teacher(unsupported(teacher, teacher_training(training),
                                           teacher_layout(training, parallelism))),
                    std::back_inserter(out));
  return out;
}

Violations teacher_layout_problems(const TrainingSpec& training,
                                   const ParallelismSpec& parallelism) {
  if (!runs_teacher(training)) {
    return {};
  }
  const ModelSpec teacher = teacher_model(training);
  const ParallelismSpec layout = teacher_layout(training, parallelism);
  const ScheduleKind schedule = effective_schedule(parallelism);
  if (schedule != ScheduleKind::one_f_one_b && schedule != ScheduleKind::gpipe) {
    return {{"parallelism.schedule",
             fmt::format("a teacher's forward in schedule {} is not simulated (nor is it in "
                         "ModelOpt's distillation over interleaved stages); choose 1f1b or gpipe",
                         core::to_word(schedule))}};
  }
  Violations out;
  const int t = parallelism.tensor;
  const auto divides = [&](int value, const char* what) {
    if (value % t != 0) {
      out.push_back(
          {"parallelism.tensor",
           fmt::format("{} {} do not divide over {} tensor-parallel ranks", value, what, t)});
    }
  };
  divides(teacher.heads, "attention heads");
  divides(teacher.ffn, "MLP columns");
  if (teacher.key_value_heads % t != 0 && t % teacher.key_value_heads != 0) {
    out.push_back({"parallelism.tensor",
                   fmt::format("{} key-value heads and {} tensor-parallel ranks do not divide each "
                               "other",
                               teacher.key_value_heads, t)});
  }
  const auto all = [&](Violations more) {
    std::ranges::move(std::move(more), std::back_inserter(out));
  };
  all(context_problems(teacher, teacher_training(training), layout));
  all(expert_problems(teacher, layout, 0));
  if (auto problem = layout_problem(teacher, layout)) {
    if (!layout.chunk_layers.empty()) {
      problem->path = "training.distillation.teacher_layers";
    }
    out.push_back(std::move(*problem));
  }
  return of_teacher(std::move(out));
}

}  // namespace headway::workload
