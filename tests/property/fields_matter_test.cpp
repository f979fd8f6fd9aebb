// No field of a scenario is read and ignored: changed by a tenth (to another word, from yes to no),
// it changes a result, or it is refused or warned of by name.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/report/fault_argument.h"
#include "sim/report/run_json.h"
#include "sim/report/verbs/drill_report.h"
#include "sim/study/drill.h"
#include "sim/study/predict.h"

#include "tests/property/spec_leaves.h"

namespace headway::testing {
namespace {

using config::LoadedScenario;

/// Fields, or all whose path begins so, that change no figure of a run or a drill, and why.
const std::map<std::string, std::string>& exceptions() {
  static const std::map<std::string, std::string> list{
      {"calibration.collectives[].fit.alpha_error", "recorded beside the fit"},
      {"calibration.collectives[].fit.beta_error", "recorded beside the fit"},
      {"calibration.collectives[].fit.saturation_error", "recorded beside the fit"},
      {"calibration.collectives[].fit.leave_one_out", "recorded beside the fit"},
      {"calibration.collectives[].relative_error", "recorded beside the curve"},
      {"calibration.figures[]", "recorded; the figures that count have keys of their own"},
      {"calibration.power", "recorded; its effect on rates is in the kernels' figures"},
      {"cluster.fabric.packets",
       "what `collective --granularity packet` and `topo --stress` look at "
       "(tests/network/packet/packet_test.cpp)"},
      {"search", "what `headway plan` looks at"},
      {"training.distillation.teacher.adapters", "refused: nothing of a teacher is trained"},
      {"training.distillation.teacher.dropout", "a teacher drops nothing"},
      {"training.distillation.teacher.frozen", "refused: nothing of a teacher is trained"},
      {"training.distillation.teacher.multi_token_prediction", "a teacher predicts one token"},
      {"training.distillation.teacher.sixteen_bit_layers", "refused: its layers are of one format"},
      {"training.distillation.teacher.vision", "refused: a teacher sees no images"},
      {"sweep", "what headway sweep varies; every point is a scenario without it"},
      {"training.framework.schedules", "what `headway plan` tries; a run has one of its own"},
      {"training.framework.shardings", "what `headway plan` tries; a run has one of its own"},
      {"training.framework.context_kinds", "what `headway plan` tries; a run has one of its own"},
      {"training.framework.launch_file",
       "the file that `headway plan --save` writes beside a plan"},
      {"training.framework.recomputes",
       "what `headway plan` tries; a run of other parts is warned"},
      {"training.framework.refuses[]", "what `headway plan` leaves out; a run of it is warned"},
      {"training.framework.usual", "taken by validate where a published source is silent"},
  };
  return list;
}

const config::SpecType& scenario_type() { return *config::find_kind("scenarios")->type; }

/// A path without numbers of entries: all entries of a list are one field.
std::string field_of(const std::string& path) {
  static const std::regex number(R"(\[\d+\])");
  return std::regex_replace(path, number, "[]");
}

std::vector<Leaf> leaves_of(LoadedScenario& loaded) {
  std::vector<Leaf> leaves;
  add_leaves(scenario_type(), {}, &loaded.scenario, "", leaves);
  return leaves;
}

/// All fields that a scenario can have, but texts: they are printed, never computed with.
std::set<std::string> all_fields() {
  std::vector<Leaf> fields;
  add_fields(scenario_type(), {}, "", fields);
  std::set<std::string> paths;
  for (const Leaf& field : fields) {
    const config::SpecType* type =
        field.type->element != nullptr ? field.type->element : field.type;
    if (type->shape != config::Shape::text) {
      paths.insert(field.path);
    }
  }
  return paths;
}

/// What a run says but for texts that repeat the input.
struct Result {
  std::string figures;
  std::vector<std::string> warnings;
};

Result run_result(const LoadedScenario& loaded) {
  study::PredictOptions options;
  options.threads = 1;
  auto report = study::predict(loaded, options);
  Result result;
  result.warnings.swap(report.warnings);
  report.assumptions.clear();
  report.timing = {};
  result.figures = report::run_json(report);
  return result;
}

/// What single faults do.
std::string drill_results(const LoadedScenario& loaded) {
  std::string all;
  for (const char* fault : {"nvme-stalled@node1", "gpu-slow@node1", "link-half-rate@node1"}) {
    try {
      all += report::drill_json(study::run_drill(
          loaded, report::parse_fault(fault, loaded.scenario.cluster.node.gpus), {}));
    } catch (const core::Error& error) {
      all += error.what();
    }
  }
  return all;
}

/// Whether a text has the key of this field, or the words that it is made of.
bool names(std::string text, const std::string& path) {
  std::string key = path.substr(path.rfind('.') + 1);
  for (std::string* words : {&text, &key}) {
    std::replace(words->begin(), words->end(), '_', ' ');
    std::transform(words->begin(), words->end(), words->begin(),
                   [](char c) { return static_cast<char>(std::tolower(c)); });
  }
  return text.find(key) != std::string::npos;
}

/// A scenario, what it comes to, and whether that changes with a field.
class Base {
 public:
  explicit Base(const std::string& file, const std::vector<std::string>& set = {})
      : loaded_(config::load_scenario(HEADWAY_SOURCE_DIR "/tests/property/fields/" + file,
                                      {{HEADWAY_SOURCE_DIR "/configs"}, set})) {
    const auto own = [&](const Leaf& leaf) {
      const auto mark = loaded_.marks.find(leaf.path);
      return mark != loaded_.marks.end() && mark->second.file.ends_with(file);
    };
    for (const Leaf& leaf : leaves_of(loaded_)) {
      (own(leaf) ? written_ : others_).push_back(leaf.path);
    }
    loaded_.marks.clear();
    for (const Leaf& leaf : leaves_of(loaded_)) {
      loaded_.marks[leaf.path] = {leaf.path, 1, 1, 1, ""};
    }
    run_ = run_result(loaded_);
  }

  /// Leaves that the scenario's own file writes, and all others.
  [[nodiscard]] const std::vector<std::string>& written() const { return written_; }
  [[nodiscard]] const std::vector<std::string>& others() const { return others_; }
  [[nodiscard]] const Result& run() const { return run_; }

  /// Whether some change of this leaf is seen in a run.
  [[nodiscard]] bool changes_run(const std::string& path) {
    return any_change(path, [&](const LoadedScenario& other) {
      const Result run = run_result(other);
      const auto fresh = [&](const std::string& warning) {
        return names(warning, path) && std::find(run_.warnings.begin(), run_.warnings.end(),
                                                 warning) == run_.warnings.end();
      };
      return run.figures != run_.figures ||
             std::any_of(run.warnings.begin(), run.warnings.end(), fresh);
    });
  }

  /// Whether some change of this leaf is seen in a drill.
  [[nodiscard]] bool changes_drill(const std::string& path) {
    if (drills_.empty()) {  // few scenarios are asked
      drills_ = drill_results(loaded_);
    }
    return any_change(path,
                      [&](const LoadedScenario& other) { return drill_results(other) != drills_; });
  }

 private:
  template <class Seen>
  [[nodiscard]] bool any_change(const std::string& path, const Seen& seen) const {
    for (std::size_t n = 0;; ++n) {
      LoadedScenario other = loaded_;
      const auto leaves = leaves_of(other);
      const Leaf& leaf = *std::find_if(leaves.begin(), leaves.end(),
                                       [&](const Leaf& l) { return l.path == path; });
      const Changes changes = other_values(leaf);
      if (n >= changes.size()) {
        return false;
      }
      change(*leaf.type, leaf.value, changes[n]);
      if (seen_or_refused(other, path, seen)) {
        return true;
      }
    }
  }

  template <class Seen>
  static bool seen_or_refused(const LoadedScenario& other,
                              const std::string& path,
                              const Seen& seen) {
    try {
      return seen(other);
    } catch (const core::Error& error) {
      const auto about = [&](const core::Diagnostic& complaint) {
        return (complaint.mark && complaint.mark->file == path) || names(complaint.message, path);
      };
      return std::any_of(error.diagnostics().begin(), error.diagnostics().end(), about);
    } catch (const std::exception& error) {
      ADD_FAILURE() << path << " breaks the program: " << error.what();
      return true;
    }
  }

  LoadedScenario loaded_;
  std::vector<std::string> written_, others_;
  Result run_;
  std::string drills_;
};

/// Other kinds of nodes in each format, with and without tables of kernels.
void add_unequal(std::vector<Base>& list) {
  const std::string precision = "training.precision=";
  const auto others = [](const std::string& node) {
    return "cluster.other_nodes=[{nodes: 2, node: " + node + "}]";
  };
  list.emplace_back("unequal.yaml");
  list.emplace_back("unequal.yaml", std::vector<std::string>{precision + "fp16"});
  for (const char* full : {"fp32", "tf32"}) {
    list.emplace_back("unequal.yaml",
                      std::vector<std::string>{precision + full, "parallelism.offload=activations",
                                               "run.checkpoint.bytes_per_parameter=12",
                                               others("{use: dgx-h200, gpu: {use: h200-nvl}}")});
  }
  for (const char* narrow : {"fp8", "nvfp4"}) {
    list.emplace_back("unequal.yaml",
                      std::vector<std::string>{precision + narrow, "cluster.node={use: dgx-b300}",
                                               others("{use: dgx-b200}"), "parallelism.expert=8",
                                               "model.moe={experts: 8, top_k: 2, ffn: 4096}"});
  }
  list.emplace_back("unequal.yaml",
                    std::vector<std::string>{"training.framework.attention_kernels=flash2",
                                             "parallelism.tensor=8", "parallelism.sequence=false",
                                             others("{use: dgx-h200}")});
}

/// Teachers of every kind.
void add_taught(std::vector<Base>& list) {
  const std::string sizes =
      "name: teacher, layers: 6, hidden: 2048, heads: 16, key_value_heads: 16, head_dim: 128, ffn: "
      "8192, vocabulary: 64000, ";
  const auto teacher = [&](const std::string& rest) {
    return "training.distillation={teacher: {" + sizes + rest + "}, top_k: 512}";
  };
  const std::string latent =
      "attention: mla, latent: {query_rank: 1024, key_value_rank: 512, no_rope_dim: 128, rope_dim: "
      "64, value_dim: 128}, ";
  list.emplace_back("taught.yaml");
  list.emplace_back(
      "taught.yaml",
      std::vector<std::string>{
          teacher("mixer: {kind: mamba2, heads: 32, key_heads: 8, key_dim: 128, value_dim: 128, "
                  "convolution: 4, chunk: 128, norm: true}, layer_pattern: [mixer, attention]")});
  list.emplace_back("taught.yaml",
                    std::vector<std::string>{
                        teacher(latent + "sparse: {index_heads: 16, index_dim: 128, top_k: 1024, "
                                         "period: 3, leading_layers: 3}")});
  list.emplace_back("taught.yaml",
                    std::vector<std::string>{teacher(
                        "native_sparse: {compressed_block: 32, stride: 16, selected_block: 64, "
                        "selected_blocks: 8, window: 256, value_dim: 96}")});
  list.emplace_back("taught.yaml",
                    std::vector<std::string>{
                        teacher("window: 1024, window_period: 2, full_attention: "
                                "{key_value_heads: 4, head_dim: 192, shared_values: true}")});
  list.emplace_back("taught.yaml",
                    std::vector<std::string>{teacher(
                        "value_dim: 96, window: 1024, window_period: 3, leading_full_layers: 1, "
                        "full_attention: {key_value_heads: 4, head_dim: 192, value_dim: 128}")});
  for (const char* padded : {"true", "false"}) {
    list.emplace_back(
        "mixture.yaml",
        std::vector<std::string>{
            "parallelism.schedule=1f1b", "parallelism.recompute=none",
            "parallelism.recompute_parts=[]", "model.multi_token_prediction=0",
            "training.framework.fused_scaled_rotary=false",
            "training.framework.fused_expert_limits=false",
            teacher(latent +
                    "moe: {experts: 32, top_k: 4, shared_experts: 1, ffn: 1024, "
                    "leading_dense_layers: 1, imbalance: 1.2, load_spread: 0.1, capacity_factor: "
                    "1.5, routing_groups: 4, group_limit: 2, padded: " +
                    padded + "}")});
  }
}

/// Other ways to stay up. Few trials tell the mean within a fifth.
void add_recoveries(std::vector<Base>& list) {
  list.emplace_back(
      "failing.yaml",
      std::vector<std::string>{
          "run.recovery.migration={stall: 30 s, foreseen: 0.5, false_alarm_every: 1 h}",
          "run.recovery.step_tax={coordination: 20 ms, exchange_bandwidth: 1 GB/s}",
          "run.recovery.retire_after=2", "run.recovery.retired_back=2 h",
          "run.recovery.retire_score={limit: 1.2, half_life: 3 h}",
          "run.recovery.spare_choice=fewest_failures", "run.failures.lemons.cured=0.3",
          "run.recovery.eviction=node", "run.mean_within=0.2", "cluster.spares=3"});
  list.emplace_back("failing.yaml", std::vector<std::string>{"run.recovery.eviction=node",
                                                             "run.recovery.rack_spares=1"});
  list.emplace_back(
      "failing.yaml",
      std::vector<std::string>{"run.recovery.eviction=node", "cluster.spares=3",
                               "run.recovery.standby={nodes: 1, takeover: 9 s, warming: 1 h}",
                               "run.recovery.retire_score={limit: 2, window: 2 h}",
                               "run.recovery.retired_back=3 h"});
  list.emplace_back(
      "failing.yaml",
      std::vector<std::string>{"run.recovery.eviction=gpu",
                               "run.recovery.elastic={stall: 20 s, rejoin: 10 s, broken_replica: "
                               "narrows, boost: 1.3, pack: true}"});
}

/// Scenarios in which, taken together, every field matters.
std::vector<Base> bases() {
  const std::string precision = "training.precision=";
  const std::string measured =
      "calibration.kernels={gemm_16bit: 0.6, gemm_fp32: 0.5, gemm_tf32: 0.5, attention_forward: "
      "0.5, attention_backward: 0.4, attention_flash2: 0.4, memory: 0.8, score_rows: 0.7}";
  const std::string flash2 = "training.framework.attention_kernels=flash2";
  std::vector<Base> list;
  for (const char* file :
       {"dense.yaml", "failing.yaml", "mixture.yaml", "older.yaml", "hybrid.yaml", "sparse.yaml",
        "native.yaml", "adapted.yaml", "seeing.yaml", "sites.yaml", "apart.yaml", "occupied.yaml",
        "tight.yaml", "fed.yaml", "cached.yaml", "narrow.yaml"}) {
    list.emplace_back(file);
  }
  list.emplace_back("dense.yaml",
                    std::vector<std::string>{"parallelism.chunk_layers=[2, 2, 2, 2]",
                                             "parallelism.chunk_recompute=[1, 2, 0, 1]"});
  list.emplace_back("dense.yaml", std::vector<std::string>{
                                      "training.optimizer_state=soap",
                                      "training.preconditioner={block: 1024, every: 20, batched: "
                                      "true}"});
  list.emplace_back("dense.yaml",
                    std::vector<std::string>{"training.optimizer_state=muon",
                                             "training.muon={tensor_mode: distributed}"});
  for (const char* full : {"fp32", "tf32"}) {
    const std::vector<std::string> set{precision + full, "parallelism.offload=activations",
                                       "run.checkpoint.bytes_per_parameter=12"};
    list.emplace_back("older.yaml", set);
    list.emplace_back("older.yaml", std::vector<std::string>{set[0], set[1], set[2], measured});
  }
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{flash2}, {flash2, measured}}) {
    list.emplace_back("dense.yaml", set);
  }
  add_recoveries(list);
  const std::string once = "training.framework.gather_once=true";
  list.emplace_back("mixture.yaml", std::vector<std::string>{once, "calibration={}"});
  for (const char* narrow : {"fp8", "nvfp4"}) {
    list.emplace_back("mixture.yaml",
                      std::vector<std::string>{precision + narrow, "calibration={}",
                                               "model.biases=true", "model.moe.padded=false"});
  }
  list.emplace_back("mixture.yaml", std::vector<std::string>{precision + "nvfp4"});
  list.emplace_back(
      "mixture.yaml",
      std::vector<std::string>{"model.scaled_rotary=true", "model.moe.limited_activation=true",
                               "training.framework.fused_scaled_rotary=false",
                               "training.framework.fused_expert_limits=false",
                               "training.framework.fused_permute=false",
                               "training.framework.expert_dispatch=all-to-all"});
  list.emplace_back("mixture.yaml",
                    std::vector<std::string>{precision + "nvfp4", "training.nvfp4={hadamard: true}",
                                             "model.sixteen_bit_layers={first: 2, last: 2}"});
  list.emplace_back("mixture.yaml",
                    std::vector<std::string>{"training.framework.grouped_launch=false",
                                             "training.framework.host.launch=100 us"});
  list.emplace_back("dense.yaml", std::vector<std::string>{
                                      "model.frozen={layers: 2, embedding: true, head: false}",
                                      "parallelism.offload=none", "model.tied_embeddings=false",
                                      "training.framework.host.piece=0 s"});
  add_unequal(list);
  add_taught(list);
  return list;
}

/// The exception that covers a field; nullptr: none.
const std::string* exception_of(const std::string& field) {
  for (const auto& [path, reason] : exceptions()) {
    if (field == path || field.starts_with(path + ".")) {
      return &path;
    }
  }
  return nullptr;
}

TEST(Fields, EachChangesAResultOrIsRefusedOrWarnedOf) {
  auto all = bases();
  std::set<std::string> open = all_fields();
  ASSERT_GT(open.size(), 250U);
  const auto try_all = [&](Base& base, const std::vector<std::string>& paths, auto matters) {
    for (const std::string& path : paths) {
      if (open.contains(field_of(path)) && (base.*matters)(path)) {
        open.erase(field_of(path));
        const std::string* exception = exception_of(field_of(path));
        EXPECT_EQ(exception, nullptr)
            << path << " does matter, though " << exceptions().at(*exception);
      }
    }
  };
  // A field is first tried where it is written because it matters there.
  for (Base& base : all) {
    EXPECT_NE(base.run().figures.find("\"step\": {"), std::string::npos);
    try_all(base, base.written(), &Base::changes_run);
  }
  const auto leave_exceptions = [&open] {
    std::erase_if(open, [](const std::string& field) { return exception_of(field) != nullptr; });
  };
  // That what is excepted matters nowhere takes as long as all the rest.
  if (std::getenv("HEADWAY_DEEP") == nullptr) {  // NOLINT(concurrency-mt-unsafe): one thread
    leave_exceptions();
  }
  for (Base& base : all) {
    try_all(base, base.others(), &Base::changes_run);
  }
  leave_exceptions();
  for (Base& base : all) {
    try_all(base, base.written(), &Base::changes_drill);
    try_all(base, base.others(), &Base::changes_drill);
  }
  for (const std::string& field : open) {
    ADD_FAILURE() << field << " changes nothing, and nobody says so";
  }
}

}  // namespace
}  // namespace headway::testing
