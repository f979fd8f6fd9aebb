#include "sim/workload/native/native_problems.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace headway::workload {

namespace {

/// Gathers sentences about one model.
struct NativeComplaints {
  const ModelSpec& model;
  Violations out;
  template <class... Args>
  void add(std::string path, fmt::format_string<Args...> text, Args&&... args) {
    out.push_back({std::move(path), fmt::format(text, std::forward<Args>(args)...)});
  }
};

void check_blocks(NativeComplaints& c, int sequence_length) {
  const NativeSparseSpec& native = *c.model.native_sparse;
  const auto divides = [&](const char* path, int tokens) {
    if (tokens % native.stride != 0) {
      c.add(path, "blocks of {} tokens do not divide into steps of stride {}", tokens,
            native.stride);
    }
  };
  divides("model.native_sparse.compressed_block", native.compressed_block);
  divides("model.native_sparse.selected_block", native.selected_block);
  if (native.selected_block < native.compressed_block) {
    c.add("model.native_sparse.selected_block",
          "chosen blocks of {} tokens hold none of the compressed blocks of {} whose scores they "
          "are chosen by; write at least {}",
          native.selected_block, native.compressed_block, native.compressed_block);
  }
  if (sequence_length < native.compressed_block) {
    c.add("training.sequence_length",
          "a sequence of {} tokens has no compressed block of {}; write at least {}",
          sequence_length, native.compressed_block, native.compressed_block);
  }
}

/// Other kinds of attention, and what it is combined with in no public model.
void check_others(NativeComplaints& c) {
  const ModelSpec& model = c.model;
  const auto refuse = [&](bool there, const char* path, const char* what) {
    if (there) {
      c.add(path, "native sparse attention of model '{}' with {} is not simulated", model.name,
            what);
    }
  };
  refuse(model.latent.has_value(), "model.latent", "latent attention");
  refuse(model.sparse.has_value(), "model.sparse", "an indexer");
  refuse(model.window > 0, "model.window",
         "a window of the model beside its own (native_sparse.window)");
  refuse(model.attention_gate, "model.attention_gate",
         "a gate of attention's output beside those of its branches");
  refuse(model.parallel_block, "model.parallel_block", "attention and MLP side by side");
  refuse(model.biases, "model.biases", "biases");
  refuse(model.adapters.has_value(), "model.adapters", "adapters");
  const auto& pattern = model.layer_pattern;
  refuse(std::find(pattern.begin(), pattern.end(), LayerContent::both) != pattern.end(),
         "model.layer_pattern", "a mixer side by side ('both')");
}

void check_ranks(NativeComplaints& c, const ParallelismSpec& parallelism) {
  const int keys = c.model.key_value_heads;
  const int t = parallelism.tensor;
  if (keys % t != 0) {
    c.add("parallelism.tensor",
          "{} key-value heads do not divide over {} tensor-parallel ranks: all heads that share a "
          "key choose its blocks together, so none of native sparse attention is copied to several "
          "ranks; choose a divisor of {}",
          keys, t, keys);
  }
  if (parallelism.context > 1 && parallelism.context_kind != ContextKind::all_gather) {
    c.add("parallelism.context",
          "native sparse attention over context ranks needs the keys of whole sequences on each, "
          "and context_kind is {}: which blocks are chosen is known on no rank before all "
          "compressed ones have been scored; write context_kind: all-gather",
          core::to_word(parallelism.context_kind));
  }
  const auto& parts = parallelism.recompute_parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == RecomputePart::operators) {
      c.add(fmt::format("parallelism.recompute_parts[{}]", i),
            "recompute part operators: which products are every second one is known of plain "
            "layers; model '{}' has native sparse attention",
            c.model.name);
    }
  }
}

}  // namespace

Violations native_problems(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism) {
  if (!model.native_sparse) {
    return {};
  }
  NativeComplaints c{model, {}};
  check_blocks(c, training.sequence_length);
  check_others(c);
  check_ranks(c, parallelism);
  if (!training.documents.empty()) {
    c.add(
        "training.documents",
        "packed documents with native sparse attention are not simulated: blocks would begin anew "
        "in each; leave 'documents' out");
  }
  return std::move(c.out);
}

}  // namespace headway::workload
