#include "apps/headway/starter/starter.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <vector>

#include "sim/config/load.h"
#include "sim/config/suggestions/suggest.h"
#include "sim/config/writer.h"
#include "sim/core/infeasible.h"
#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/import/hugging_face/adapter_config.h"
#include "sim/import/hugging_face/hugging_face.h"
#include "sim/training/step/step.h"

#include "apps/headway/options.h"

namespace headway::apps {

using namespace core::literals;

namespace {

namespace fs = std::filesystem;

config::LoadOptions roots() {
  config::LoadOptions options;
  options.roots = config_roots();
  return options;
}

int whole(const std::string& text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

config::CatalogueEntry entry_of(const std::string& kind, const std::string& word) {
  std::vector<std::string> names;
  std::vector<config::CatalogueEntry> alike;
  for (const auto& entry : config::list_entries(kind, config_roots())) {
    if (entry.name == word) {
      return entry;
    }
    names.push_back(entry.name);
    if (entry.name.starts_with(word + "-") && entry.name.ends_with("-sxm")) {
      alike.push_back(entry);  // "h100" is h100-sxm to most people
    }
  }
  if (alike.empty()) {
    const auto option = kind.substr(0, kind.size() - 1);  // --gpu of gpus
    throw core::Error(fmt::format("argument --{}: the catalogue has no '{}/{}'{}", option, kind,
                                  core::shortened(word), config::entry_suggestion(word, names)));
  }
  return alike.back();
}

Server server_with(const std::string& gpu) {
  const auto wanted = entry_of("gpus", gpu);
  const auto of_gpu = config::entry_values(wanted.path, {"name"}, roots());
  std::optional<Server> best;
  for (const auto& node : config::list_entries("nodes", config_roots())) {
    const auto values =
        config::entry_values(node.path, {"gpu.name", "gpus", "nic.bandwidth"}, roots());
    const bool first = !best || (node.name.starts_with("dgx-") && !best->entry.starts_with("dgx-"));
    if (values[0] == of_gpu[0] && first) {
      best = Server{node.name, whole(values[1]), values[2]};
    }
  }
  if (!best) {
    throw core::Error(fmt::format(
        "no node of the catalogue has '{}'; write one (headway schema nodes) and name it in the "
        "scenario",
        wanted.name));
  }
  return *best;
}

NamedModel named_model(const std::string& word) {
  constexpr std::string_view kFile = "hf:";
  if (word.starts_with(kFile)) {
    const fs::path given = word.substr(kFile.size());
    if (const auto advice = import::hub_name_advice(given.string());
        !advice.empty() && !fs::exists(given)) {
      throw core::Error(advice);
    }
    const fs::path file = fs::is_directory(given) ? given / "config.json" : given;
    auto found = import::import_hugging_face_config(
        core::read_file(file, core::kLargestConfiguration), file.string());
    const std::string name = found.model.name;
    return {"", fmt::format("{{huggingface: {}}}", config::quoted(fs::absolute(file).string())),
            name, std::move(found.model), std::move(found.remarks)};
  }
  const auto entry = entry_of("models", word);
  auto spec = config::load_entry<workload::ModelSpec>(entry.path, roots()).spec;
  const std::string name = spec.name;
  return {entry.name, fmt::format("{{use: {}}}", entry.name), name, std::move(spec), {}};
}

namespace {

/// What is chosen for a layout.
struct Layout {
  int tensor = 1, pipeline = 1;
  int expert = 1;
  const char* recompute = "none";
};

/// Expert-parallel degrees that may be tried of a mixture: none, within a node, as many as there
/// are experts or data ranks for.
std::vector<int> expert_degrees(const NamedModel& model, const Server& server, int data) {
  std::vector<int> degrees{1};
  if (model.spec.moe) {
    for (const int most : {std::min(data, server.gpus), data}) {
      const int degree = std::gcd(model.spec.moe->experts, most);
      if (degree > degrees.back()) {
        degrees.push_back(degree);
      }
    }
  }
  return degrees;
}

/// Those that may be tried: fewest GPUs a replica first, of these fewest stages, of these fewest
/// expert ranks; with recompute behind all without.
std::vector<Layout> layouts(const NamedModel& model, const Server& server, int gpus) {
  std::vector<Layout> list;
  for (const char* recompute : {"none", "full"}) {
    const auto first = static_cast<std::ptrdiff_t>(list.size());
    for (int tensor = 1; tensor <= server.gpus; tensor *= 2) {
      for (int pipeline = 1; pipeline <= model.spec.layers; ++pipeline) {
        if (gpus % (tensor * pipeline) == 0 && model.spec.layers % pipeline == 0) {
          const int data = gpus / (tensor * pipeline);
          for (const int expert : expert_degrees(model, server, data)) {
            list.push_back({tensor, pipeline, expert, recompute});
          }
        }
      }
    }
    std::stable_sort(list.begin() + first, list.end(), [](const Layout& a, const Layout& b) {
      const int more = a.tensor * a.pipeline - b.tensor * b.pipeline;
      return more != 0 ? more < 0 : a.pipeline < b.pipeline;
    });
  }
  return list;
}

/// Why the scenario breaks a rule or leaves no memory free; empty where it does neither.
std::string fault_of(const std::string& text) {
  try {
    const auto loaded = config::load_scenario_text(text, "scenario.yaml", roots());
    const auto memory = training::predict_memory(training::check(loaded.scenario, loaded.marks));
    const bool works = memory.fits && !training::near_memory_limit(memory);
    return works ? ""
                 : fmt::format("the fullest GPU needs {:.1f} of its {:.1f} GiB",
                               memory.peak / 1_GiB, memory.capacity / 1_GiB);
  } catch (const core::Error& error) {
    return error.diagnostics().front().message;
  }
}

/// The line of the scenario or the words of a message that give an expert-parallel degree; empty
/// where there is none.
std::string expert_of(const Layout& layout, const char* before, const char* between) {
  return layout.expert > 1 ? fmt::format("{}expert{} {}", before, between, layout.expert) : "";
}

std::string text_with(const StarterChoice& choice,
                      const NamedModel& model,
                      const Server& server,
                      int gpus,
                      const Layout& layout) {
  constexpr int kUsualBatch = 512;
  const int replicas = std::max(1, gpus / (layout.tensor * layout.pipeline));
  const int batch = (std::max(kUsualBatch, replicas) + replicas - 1) / replicas * replicas;
  const std::string name =
      choice.name.empty() ? fmt::format("{} on {} GPUs", model.name, gpus) : choice.name;
  const char* images =
      model.spec.vision
          ? "\n  images: {per_sequence: 4, sizes: [{tokens: 1024}]}  # made up: of your data"
          : "";
  return fmt::format(
      R"(# A scenario for headway. `headway check FILE` finds mistakes, `headway run FILE` predicts,
# `headway plan FILE` finds a faster layout. `headway catalog list` shows what `use:` can name,
# `headway explain KEY` tells what a key means; any value may be changed beside `use:`.
headway: 1
name: {}

cluster:
  nodes: {}  # servers that train
  node: {{use: {}}}  # {} GPUs each
  fabric: {{use: rail-optimized-ndr, link_bandwidth: {}}}
  storage: {{use: lustre}}  # where checkpoints go
  spares: 1  # idle servers that replace broken ones

model: {}

training:
  sequence_length: 8192  # tokens
  global_batch: {}  # sequences in a step
  precision: bf16{}

parallelism:  # tensor x context x pipeline x data = GPUs
  tensor: {}
  pipeline: {}
  data: auto{}
  sharding: zero1
  micro_batch: 1
  recompute: {}

run:  # leave out to predict one step only
  until: {{tokens: 1.0e12}}
  checkpoint: {{interval: auto, mode: async}}
  failures: {{use: llama-3-54-days}}
  trials: 100
)",
      config::quoted(core::visible(name)), gpus / server.gpus, server.entry, server.gpus,
      server.card, model.line, batch, images, layout.tensor, layout.pipeline,
      expert_of(layout, "\n  ", ":"), layout.recompute);
}

}  // namespace

namespace {

/// Adds what a PEFT file describes to a model and to its line in the scenario.
void add_adapters(const std::string& file, NamedModel& model) {
  const auto adapters =
      import::read_adapter_config(core::read_file(file, core::kLargestConfiguration), file);
  std::string products;
  for (const auto product : adapters.products) {
    products += fmt::format("{}{}", products.empty() ? "" : ", ", core::to_word(product));
  }
  model.line.pop_back();  // the closing brace
  model.line += fmt::format(", adapters: {{rank: {}, products: [{}], dropout: {}}}}}",
                            adapters.rank, products, adapters.dropout);
  model.name += " with adapters";
  model.spec.adapters = adapters;
}

}  // namespace

Starter starter(const StarterChoice& choice) {
  NamedModel model = named_model(choice.model.empty() ? "llama-3.1-8b" : choice.model);
  if (!choice.adapters.empty()) {
    add_adapters(choice.adapters, model);
  }
  const Server server = server_with(choice.gpu.empty() ? "h100-sxm" : choice.gpu);
  const int gpus = choice.gpus > 0 ? choice.gpus : 16 * server.gpus;
  if (gpus % server.gpus != 0) {
    const int below = gpus / server.gpus * server.gpus;
    throw core::Error(fmt::format(
        "--gpus: {} has {} GPUs, so {} fill no whole nodes; write {}{}", server.entry, server.gpus,
        gpus, below > 0 ? fmt::format("{} or ", below) : "", below + server.gpus));
  }
  Layout last;
  std::string fault;
  for (const Layout& layout : layouts(model, server, gpus)) {
    const std::string text = text_with(choice, model, server, gpus, layout);
    fault = fault_of(text);
    if (fault.empty()) {
      return {text, std::move(model.remarks)};
    }
    last = layout;
  }
  throw core::Infeasible(fmt::format(
      "no layout of {} on {} GPUs of {} keeps every rule and leaves memory free; of the one with "
      "the most GPUs a replica (tensor {}, pipeline {}{}, recompute {}): {}. Name more "
      "GPUs "
      "(--gpus), "
      "larger ones (--gpu) or a smaller model (--model)",
      model.name, gpus, server.entry, last.tensor, last.pipeline, expert_of(last, ", ", ""),
      last.recompute, fault));
}

}  // namespace headway::apps
