#include "sim/validation/compared/other_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "sim/core/text.h"
#include "sim/validation/cells/cell_words.h"
#include "sim/validation/words/note_words.h"

namespace headway::validation {

namespace {

void add_problem(const std::string& problem, RunRow& row) {
  row.problems += fmt::format("{}line {}: {}", row.problems.empty() ? "" : "; ", row.line, problem);
}

/// "16 x DGX A100" are 16 nodes: of 8 GPUs each, as DGX and HGX of A100 and since have.
void settle_named_nodes(RunRow& row) {
  static constexpr std::array<std::string_view, 3> kWords = {"x", "dgx", "hgx"};
  const std::vector<CellWord> words = read_words(row.gpu, kWords);
  constexpr int kUsual = 8;
  const bool nodes = words.size() > 3 && words[0].number && words[1].text == "x" &&
                     words[2].phrase && words[2].text != "x";
  if (nodes && *words[0].number > 0 && !row.n_gpus && !row.n_nodes) {
    row.n_nodes = words[0].number;
    if (!row.gpus_per_node) {
      row.gpus_per_node = kUsual;
      row.abouts.push_back({"gpus_per_node", ""});
    }
  }
}

bool counts(const std::map<std::string, NumberWords>& words, const char* column, NumberOf what) {
  const auto found = words.find(column);
  return found != words.end() && found->second.counts(what);
}

/// Tokens of a step on each GPU; 0: not all of it is stated.
double tokens_of_gpu(const RunRow& row) {
  const double gpus = row.n_gpus.value_or(0);
  return gpus > 0 ? 1.0 * row.global_batch.value_or(0) * row.seq_len.value_or(0) / gpus : 0;
}

/// The first of the other quantities that the row has, in tokens a second and GPU.
struct OtherFigure {
  double tokens = 0;
  std::string told;
};

OtherFigure other_figure(const RunRow& row) {
  const double gpus = row.n_gpus.value_or(0);
  const double length = row.seq_len.value_or(0);
  const double step = row.measured_step_time_s.value_or(row.step_time_s.value_or(0));
  if (step > 0 && tokens_of_gpu(row) > 0) {
    return {tokens_of_gpu(row) / step, ""};
  }
  if (row.tokens_per_s && gpus > 0) {
    const NoteWords notes = note_words(row);
    const int node = notes.node_gpus > 0 ? notes.node_gpus : row.gpus_per_node.value_or(0);
    const double together = notes.of_node && node > 0 ? node : gpus;
    return {*row.tokens_per_s / together / notes.seconds,
            fmt::format("tokens/s of {:g} GPUs together are divided by them", together)};
  }
  if (row.samples_per_s_per_gpu && length > 0) {
    return {*row.samples_per_s_per_gpu * length, "samples/s are counted in tokens of seq_len"};
  }
  if (row.samples_per_s && gpus > 0 && length > 0) {
    return {
        *row.samples_per_s * length / gpus,
        fmt::format("samples/s of all GPUs are counted in tokens of seq_len and divided by {:g}",
                    gpus)};
  }
  if (row.steps_per_s && tokens_of_gpu(row) > 0) {
    return {*row.steps_per_s * tokens_of_gpu(row), "steps/s are counted in tokens of global_batch"};
  }
  constexpr double kHour = 3600;
  if (row.gpu_hours && row.trained_tokens) {
    return {*row.trained_tokens / *row.gpu_hours / kHour, "tokens/s follow from GPU hours"};
  }
  return {};
}

/// A cell of tokens/s/GPU whose words are of sequences or steps.
void settle_words(const std::map<std::string, NumberWords>& figures, RunRow& row) {
  constexpr const char* kFigure = "measured_tokens_per_s_per_gpu";
  const double figure = row.measured_tokens_per_s_per_gpu.value_or(0);
  if (figure <= 0) {
    return;
  }
  if (counts(figures, kFigure, NumberOf::sequences)) {
    row.measured_tokens_per_s_per_gpu.reset();
    row.samples_per_s_per_gpu = figure;
  } else if (counts(figures, kFigure, NumberOf::step)) {
    const auto& of = figures.at(kFigure).of;
    const bool rate = !of.empty() && of.front() == NumberOf::step;  // "it/s", not "s/it"
    row.measured_tokens_per_s_per_gpu.reset();
    (rate ? row.steps_per_s : row.step_time_s) = figure;
  }
}

/// Tokens a second, or where there are none TFLOP/s.
std::optional<double>& figure_of(RunRow& row) {
  return row.measured_tokens_per_s_per_gpu || !row.tflops_per_gpu
             ? row.measured_tokens_per_s_per_gpu
             : row.tflops_per_gpu;
}

/// A figure that its cell or the notes say is of a node, or of other than a second: of one GPU and
/// a second.
void settle_quantity(const std::map<std::string, NumberWords>& figures, RunRow& row) {
  const NoteWords notes = note_words(row);
  std::optional<double>& figure = figure_of(row);
  const auto words =
      figures.find(&figure == &row.measured_tokens_per_s_per_gpu ? "measured_tokens_per_s_per_gpu"
                                                                 : "tflops_per_gpu");
  const bool there = words != figures.end();
  const bool of_node = notes.of_node || (there && words->second.counts(NumberOf::nodes));
  const double seconds = there && words->second.counts(NumberOf::minutes) ? 60 : notes.seconds;
  if (!figure || !notes.refused.empty() || (!of_node && seconds == 1)) {
    return;
  }
  const int gpus = notes.node_gpus > 0 ? notes.node_gpus : row.gpus_per_node.value_or(0);
  if (of_node && gpus < 1) {
    add_problem("the figure is of a node, whose GPUs are not stated; state gpus_per_node", row);
    return;
  }
  const double divisor = (of_node ? gpus : 1) * seconds;
  figure = *figure / divisor;
  row.abouts.push_back(
      {"figure", of_node
                     ? fmt::format("the figure is of a node and is divided by its {} GPUs", gpus)
                     : fmt::format("the figure is of {:g} s and is divided by them", seconds)});
}

void settle_share(std::optional<double>& share) {
  if (share && *share > 1) {
    share = *share / 100;
  }
}

/// Ranks that the degrees of a row make, those that rows leave out where they are 1 taken so; 0:
/// one of the others is not stated.
double stated_ranks(const RunRow& row) {
  return 1.0 * row.dp.value_or(0) * row.tp.value_or(0) * row.pp.value_or(1) * row.cp.value_or(1);
}

}  // namespace

void settle_counts(const std::map<std::string, NumberWords>& worded, RunRow& row) {
  settle_named_nodes(row);
  const int node = row.gpus_per_node.value_or(0);
  if (counts(worded, "n_gpus", NumberOf::nodes)) {
    row.n_nodes = row.n_gpus;
    row.n_gpus.reset();
  }
  if (row.n_nodes && !row.n_gpus && node < 1) {
    add_problem("nodes are counted, whose GPUs are not stated; state gpus_per_node or n_gpus", row);
  } else if (row.n_nodes && !row.n_gpus) {
    row.n_gpus = static_cast<int>(std::min(1.0 * *row.n_nodes * node, kDegrees.high));
    row.abouts.push_back(
        {"n_gpus", fmt::format("{} nodes of {} GPUs are {}", *row.n_nodes, node, *row.n_gpus)});
  }
  const double ranks = 1.0 * row.tp.value_or(1) * row.pp.value_or(1) * row.cp.value_or(1);
  const double replicas =
      row.dp ? 1.0 * *row.dp : std::max(1.0, std::floor(row.n_gpus.value_or(1) / ranks));
  if (counts(worded, "global_batch", NumberOf::per_gpu) && row.n_gpus) {
    const int each = row.global_batch.value_or(0);
    row.global_batch = static_cast<int>(std::min(1.0 * each * *row.n_gpus, kTokens.high));
    row.abouts.push_back(
        {"global_batch",
         fmt::format("global_batch of {} a GPU is read as {} sequences", each, *row.global_batch)});
  } else if (row.grad_accumulation && row.micro_batch && !row.global_batch) {
    row.global_batch = static_cast<int>(
        std::min(replicas * *row.micro_batch * *row.grad_accumulation, kTokens.high));
    row.abouts.push_back(
        {"global_batch",
         fmt::format("global_batch of {} replicas with {} micro-batches of {} is {}", replicas,
                     *row.grad_accumulation, *row.micro_batch, *row.global_batch)});
  }
}

void settle_other_figures(const std::map<std::string, NumberWords>& figures, RunRow& row) {
  settle_share(row.mfu);
  settle_share(row.hfu);
  if (row.step_time_ms && !row.step_time_s) {
    row.step_time_s = *row.step_time_ms / 1e3;
  }
  settle_words(figures, row);
  settle_quantity(figures, row);
  if (!row.measured_tokens_per_s_per_gpu) {
    const OtherFigure other = other_figure(row);
    if (other.tokens > 0) {
      row.measured_tokens_per_s_per_gpu = other.tokens;
    }
    if (!other.told.empty()) {
      row.abouts.push_back({"figure", other.told});
    }
  }
}

void settle_modules(RunRow& row) {
  const std::string gpu = core::lower_case(row.gpu);
  constexpr int kModulesOfANode = 4;
  const bool dies = contains(gpu, "gcd") || contains(gpu, "64g") || contains(gpu, "64 g");
  const bool named = contains(gpu, "module") || contains(gpu, "128g") || contains(gpu, "128 g");
  const bool counted = row.gpus_per_node == kModulesOfANode || (named && !row.gpus_per_node);
  const double gpus = row.n_gpus.value_or(0);
  constexpr double kMost = 5e8;
  if (!contains(gpu, "mi250") || dies || !counted || gpus < 1 || gpus > kMost ||
      stated_ranks(row) == gpus) {
    return;
  }
  for (std::optional<int>* count : {&row.n_gpus, &row.gpus_per_node, &row.nvlink_domain}) {
    if (*count) {
      *count = 2 * **count;
    }
  }
  for (std::optional<double>* rate :
       {&row.measured_tokens_per_s_per_gpu, &row.measured_tflops_per_gpu,
        &row.published_tflops_per_gpu, &row.tflops_per_gpu}) {
    if (*rate) {
      *rate = **rate / 2;
    }
  }
  row.abouts.push_back({"gpu", "gpu is counted in modules of two GPUs: figures of one are halved"});
}

}  // namespace headway::validation
