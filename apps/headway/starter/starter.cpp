#include "apps/headway/starter/starter.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "sim/analytic/analytic.h"
#include "sim/campaign/advice.h"
#include "sim/campaign/resolve/resolve.h"
#include "sim/config/load.h"
#include "sim/config/suggestions/suggest.h"
#include "sim/config/writer.h"
#include "sim/core/infeasible.h"
#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/gpu/spec.h"
#include "sim/import/hugging_face/adapter_config.h"
#include "sim/import/hugging_face/hugging_face.h"
#include "sim/training/price_warning.h"
#include "sim/training/step/step.h"
#include "sim/workload/vision/encoder.h"

#include "apps/headway/options.h"

namespace headway::apps {

using namespace core::literals;

namespace fs = std::filesystem;

namespace {

/// A name as entries have it: "NVIDIA H200" of a driver, "meta-llama/Llama-3.1-8B" of a hub.
std::string as_entry(const std::string& given) {
  std::string name = core::lower_case(given.substr(given.find_last_of('/') + 1));
  for (const std::string_view vendor : {"nvidia ", "amd instinct ", "amd "}) {
    if (name.starts_with(vendor)) {
      name.erase(0, vendor.size());
    }
  }
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

}  // namespace

config::CatalogueEntry entry_of(const std::string& kind, const std::string& given) {
  const std::string word = as_entry(given);
  std::vector<std::string> names;
  std::vector<config::CatalogueEntry> alike;
  for (const auto& entry : config::list_entries(kind, config_roots())) {
    if (entry.name == given || entry.name == word) {
      return entry;
    }
    names.push_back(entry.name);
    if (entry.name.starts_with(word + "-") && entry.name.ends_with("-sxm")) {
      alike.push_back(entry);  // "h100" is h100-sxm to most people
    }
  }
  if (alike.empty()) {
    const auto option = kind.substr(0, kind.size() - 1);  // --gpu of gpus
    throw core::Error(fmt::format(
        "argument --{}: the catalogue has no '{}/{}'{}", option, kind, core::shortened(given),
        given.ends_with(".json") ? fmt::format("; for a file write hf:{}", given)
                                 : config::entry_suggestion(word, names)));
  }
  return alike.back();
}

namespace {

/// The latest prices on demand of a GPU, and of which they say they are: of any H100, say.
void add_prices(const gpu::GpuSpec& gpu, Server& server) {
  constexpr std::size_t kMonth = 7;  // entries end with it: 2026-05
  const auto month = [=](const std::string& entry) {
    return entry.substr(entry.size() - std::min(kMonth, entry.size()));
  };
  for (const auto& entry : config::list_entries("prices", config_roots())) {
    const std::string of = config::entry_values(entry.path, {"gpu"}, {config_roots(), {}})[0];
    if (training::is_named(gpu, of) && entry.name.find("-on-demand-") != std::string::npos &&
        month(entry.name) > month(server.prices)) {
      server.prices = entry.name;
      server.priced = of;
    }
  }
}

}  // namespace

Server server_with(const std::string& gpu) {
  const auto wanted = entry_of("gpus", gpu);
  const auto spec = config::load_entry<gpu::GpuSpec>(wanted.path, {config_roots(), {}}).spec;
  const core::FlopsPerSecond none(0);
  const bool narrow = spec.peak.bf16 <= none && spec.peak.fp16 > none;
  std::optional<Server> best;
  for (const auto& node : config::list_entries("nodes", config_roots())) {
    const auto values = config::entry_values(node.path, {"gpu.name", "gpus", "nic.bandwidth"},
                                             {config_roots(), {}});
    const bool first = !best || (node.name.starts_with("dgx-") && !best->entry.starts_with("dgx-"));
    if (values[0] == spec.name && first) {
      best = Server{node.name, core::whole_text_as<int>(values[1]).value_or(0), values[2],
                    spec.name, narrow ? "fp16" : "bf16"};
    }
  }
  if (!best) {
    throw core::Error(fmt::format(
        "no node of the catalogue has '{}'; write one (headway schema nodes) and name it in the "
        "scenario",
        wanted.name));
  }
  add_prices(spec, *best);
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
  auto spec = config::load_entry<workload::ModelSpec>(entry.path, {config_roots(), {}}).spec;
  const std::string name = spec.name;
  return {entry.name, fmt::format("{{use: {}}}", entry.name), name, std::move(spec), {}};
}

namespace {

/// What is chosen for a layout.
struct Layout {
  int tensor = 1, pipeline = 1;
  int chunks = 1;                         ///< of layers on a stage: the interleaved schedule
  int first_layers = 0, last_layers = 0;  ///< of the end stages; 0: as the others
  int expert = 1;
  const char* recompute = "none";
  const char* sharding = "zero1";
};

/// Layers of the end stages so that the others share the rest evenly, each as few as that takes;
/// nothing where an end would have none.
std::optional<std::pair<int, int>> uneven_ends(int layers, int pipeline) {
  const int middle = (layers + pipeline - 1) / pipeline;
  const int rest = layers - middle * (pipeline - 2);
  return rest < 2 ? std::nullopt : std::optional(std::pair((rest + 1) / 2, rest / 2));
}

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

/// Chunks that the layers of each stage may be cut into, so that all have as many layers.
std::vector<int> chunks_of(const Layout& layout, int layers) {
  const int middle = (layers + layout.pipeline - 1) / layout.pipeline;
  std::vector<int> list{1};
  for (int chunks = 2; layout.pipeline > 1 && chunks <= middle; ++chunks) {
    // Ends with fewer layers have them in chunks of one, of which some are empty.
    if (middle % chunks == 0 && (layout.first_layers == 0 || chunks == middle)) {
      list.push_back(chunks);
    }
  }
  return list;
}

/// Those of one recompute: fewest GPUs a replica first, of these fewest stages, of these fewest
/// expert ranks. Stages are equal where layers divide; else the ends have fewer.
/// @param stages  most that are tried
std::vector<Layout> layouts_of(
    const NamedModel& model, const Server& server, int gpus, int stages, const Layout& choices) {
  std::vector<Layout> list;
  for (int tensor = 1; tensor <= server.gpus; tensor *= 2) {
    for (int pipeline = 1; pipeline <= stages; ++pipeline) {
      Layout layout = choices;
      layout.tensor = tensor;
      layout.pipeline = pipeline;
      if (model.spec.layers % pipeline != 0) {
        const auto ends = uneven_ends(model.spec.layers, pipeline);
        layout.first_layers = ends ? ends->first : 0;
        layout.last_layers = ends ? ends->second : 0;
      }
      const bool even = model.spec.layers % pipeline == 0 || layout.first_layers > 0;
      if (gpus % (tensor * pipeline) == 0 && even) {
        for (const int expert : expert_degrees(model, server, gpus / (tensor * pipeline))) {
          layout.expert = expert;
          for (const int chunks : chunks_of(layout, model.spec.layers)) {
            layout.chunks = chunks;
            list.push_back(layout);
          }
        }
      }
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Layout& a, const Layout& b) {
    const int more = a.tensor * a.pipeline - b.tensor * b.pipeline;
    return more != 0 ? more < 0 : a.pipeline < b.pipeline;
  });
  return list;
}

/// Those of one sharding that may be tried; with weights sharded over all data ranks (zero3) none
/// has a pipeline.
std::vector<Layout> layouts(const NamedModel& model,
                            const Server& server,
                            int gpus,
                            const char* sharding) {
  std::vector<Layout> list;
  const int stages = sharding == std::string_view("zero1") ? model.spec.layers : 1;
  for (const char* recompute : {"none", "selective", "full"}) {
    Layout choices;
    choices.recompute = recompute;
    choices.sharding = sharding;
    for (const Layout& layout : layouts_of(model, server, gpus, stages, choices)) {
      list.push_back(layout);
    }
  }
  return list;
}

training::CheckedScenario checked(const std::string& text) {
  const auto loaded = config::load_scenario_text(text, "scenario.yaml", {config_roots(), {}});
  return training::check(loaded.scenario, loaded.marks);
}

/// What is wrong with a scenario, or how fast it is.
struct Fault {
  std::string text;              ///< why it breaks a rule or leaves no memory free; empty: nothing
  double need = 0;               ///< of memory / what there is; 0: it breaks a rule
  bool other_recompute = false;  ///< its framework does not recompute so
  core::Seconds sequence{0};  ///< step / sequences in it, by the analytic tier, of one that works
};

Fault fault_of(const std::string& text) {
  try {
    const auto scenario = checked(text);
    const auto memory = training::predict_memory(scenario);
    if (!memory.fits || training::near_memory_limit(memory)) {
      return {fmt::format("the fullest GPU needs {:.1f} of its {:.1f} GiB", memory.peak / 1_GiB,
                          memory.capacity / 1_GiB),
              memory.peak / memory.capacity};
    }
    analytic::AnalyticTier tier(scenario.scenario());
    return {"", memory.peak / memory.capacity,
            !training::software_warnings(scenario.scenario()).empty(),
            tier.evaluate(scenario).time / double(scenario.scenario().training.global_batch)};
  } catch (const core::Error& error) {
    return {error.diagnostics().front().message};
  }
}

/// The line of the scenario or the words of a message that give an expert-parallel degree; empty
/// where there is none.
std::string expert_of(const Layout& layout, const char* before, const char* between) {
  return layout.expert > 1 ? fmt::format("{}expert{} {}", before, between, layout.expert) : "";
}

/// The software's line: the one that most training of such a layout runs on.
std::string framework_line(const Layout& layout) {
  const bool whole = layout.sharding == std::string_view("zero3");
  return fmt::format("\n  framework: {{use: {}}}  # {}others: headway catalog list frameworks",
                     whole ? "torchtitan" : "megatron-core",
                     whole ? "" : "tuned, 16-bit gradients (plain: megatron-lm-2025); ");
}

/// The layout's lines that are left out where they say nothing.
std::string ends_of(const Layout& layout) {
  return layout.first_layers == 0
             ? ""
             : fmt::format(
                   "\n  first_stage_layers: {}  # fewer: embedding\n  last_stage_layers: {}  # "
                   "fewer: output layer",
                   layout.first_layers, layout.last_layers);
}

/// Tokens of a sequence: the usual, or what the model's learned positions hold (OPT's table has two
/// rows more than its 2,048 tokens).
int first_length(const workload::ModelSpec& model) {
  constexpr int kUsual = 8192, kUnit = 128;
  const int positions = model.learned_positions;
  return positions > 0 ? std::min(kUsual, positions - (positions > kUnit ? positions % kUnit : 0))
                       : kUsual;
}

/// Sequences in a step that all replicas share evenly: the tokens of Llama 3 405B, whose batch grew
/// from 4 to 16 million (arXiv 2407.21783, section 3.4.1); more where each replica has one
/// sequence.
int usual_batch(int gpus, int length, int replicas) {
  // Of a GPU: chosen, so that the least is of 512 GPUs and the most of 2,048.
  constexpr std::int64_t kTokensOfAGpu = 8192, kLeast = 512 * 8192, kMost = 2048 * 8192;
  const auto tokens = std::clamp(gpus * kTokensOfAGpu, kLeast, kMost);
  const auto sequences = std::max(static_cast<int>(tokens / length), replicas);
  return (sequences + replicas - 1) / replicas * replicas;
}

/// A file system of the catalogue that so many GPUs do not wait for at every restart.
const char* storage_of(int gpus) {
  constexpr int kFew = 1024;  // Source: chosen; 405B on 16,384 GPUs load 2 hours from the smaller
  return gpus > kFew ? "lustre-1-tb-per-s" : "lustre";
}

/// The line of the images of a model that sees; else nothing.
std::string images_of(const NamedModel& model) {
  constexpr int kUsualTokens = 1024;
  return model.spec.vision
             ? fmt::format(
                   "\n  images: {{per_sequence: 4, sizes: [{{tokens: {}}}]}}  # made up: of "
                   "your data",
                   workload::most_image_tokens(*model.spec.vision).value_or(kUsualTokens))
             : "";
}

/// The line of what GPUs cost, where the catalogue knows.
std::string prices_of(const Server& server) {
  return server.prices.empty()
             ? ""
             : fmt::format(
                   "  prices: {{use: {}}}  # of {} on demand; yours: headway catalog list "
                   "prices\n",
                   server.prices, server.priced);
}

/// @param spares  idle nodes
std::string text_with(const StarterChoice& choice,
                      const NamedModel& model,
                      const Server& server,
                      int gpus,
                      const Layout& layout,
                      const std::string& framework,
                      std::int64_t spares) {
  const int replicas = std::max(1, gpus / (layout.tensor * layout.pipeline));
  const int length = first_length(model.spec);
  const std::string name =
      choice.name.empty() ? fmt::format("{} on {} GPUs", model.name, gpus) : choice.name;
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
  storage: {{use: {}}}  # where checkpoints go
  spares: {}  # idle servers that replace broken ones

model: {}

training:
  sequence_length: {}  # tokens
  global_batch: {}  # sequences in a step
  precision: {}{}{}

parallelism:  # tensor x context x pipeline x data = GPUs
  tensor: {}
  pipeline: {}{}{}
  data: auto{}
  sharding: {}
  micro_batch: 1
  recompute: {}

run:  # leave out to predict one step only
  until: {{tokens: 1.0e12}}
  checkpoint: {{interval: auto, mode: async}}
  failures: {{use: llama-3-54-days}}
{}  trials: 100
)",
      config::quoted(core::visible(name)), gpus / server.gpus, server.entry, server.gpus,
      server.card, storage_of(gpus), spares, model.line, length,
      usual_batch(gpus, length, replicas), server.precision, framework, images_of(model),
      layout.tensor, layout.pipeline,
      layout.chunks > 1
          ? fmt::format("\n  virtual: {}  # chunks of layers on a stage", layout.chunks)
          : "",
      ends_of(layout), expert_of(layout, "\n  ", ":"), layout.sharding, layout.recompute,
      prices_of(server));
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

namespace {

/// Of the layouts that were tried the one that needs least memory; one that breaks a rule where all
/// do.
struct Nearest {
  Layout layout;
  Fault fault;
  int most_tensor = 1, most_stages = 1, most_expert = 1;
  bool uneven = false;
  void add(const Layout& tried, const Fault& found) {
    most_tensor = std::max(most_tensor, tried.tensor);
    most_stages = std::max(most_stages, tried.pipeline);
    most_expert = std::max(most_expert, tried.expert);
    uneven = uneven || tried.first_layers > 0;
    if (fault.text.empty() || (found.need > 0 && (fault.need == 0 || found.need < fault.need))) {
      layout = tried;
      fault = found;
    }
  }
};

std::string refusal(const NamedModel& model,
                    const Server& server,
                    int gpus,
                    const Nearest& nearest) {
  const Layout& best = nearest.layout;
  return fmt::format(
      "none of the layouts of {} on {} GPUs of {} that were tried keeps every rule and leaves "
      "memory free: tensor 1 to {}, pipeline 1 to {}{}{}, each with recompute none, selective and "
      "full, and zero3 without a pipeline. Nearest is tensor {}, pipeline {}{}, {}, recompute {}: "
      "{}. {}",
      model.name, gpus, server.entry, nearest.most_tensor, nearest.most_stages,
      nearest.uneven ? " (with fewer layers on the end stages where they do not divide)" : "",
      nearest.most_expert > 1 ? fmt::format(", expert 1 to {}", nearest.most_expert) : "",
      best.tensor, best.pipeline, expert_of(best, ", ", ""), best.sharding, best.recompute,
      nearest.fault.text,
      nearest.fault.need > 0
          ? "Name more GPUs (--gpus), larger ones (--gpu) or a smaller model (--model)"
          : "Name another GPU (--gpu) or model (--model)");
}

/// What to know of the scenario.
std::vector<std::string> remarks_of(const NamedModel& model, const Server& server) {
  std::vector<std::string> remarks = model.remarks;
  if (server.precision == "fp16") {
    remarks.push_back(fmt::format("{} has no bf16: the scenario trains in fp16", server.gpu));
  }
  return remarks;
}

struct Found {
  Layout layout;
  std::string framework;
};

/// Of the layouts of a sharding that work the fastest; of such the first.
/// @param nearest  out: told of those that do not work
std::optional<Found> fastest(const StarterChoice& choice,
                             const NamedModel& model,
                             const Server& server,
                             int gpus,
                             const char* sharding,
                             Nearest& nearest) {
  std::optional<Found> best;
  core::Seconds least(0);
  std::set<std::array<int, 4>> fit;  // what fits without recomputing is slower with it
  for (const Layout& layout : layouts(model, server, gpus, sharding)) {
    const std::array shape{layout.tensor, layout.pipeline, layout.chunks, layout.expert};
    if (fit.contains(shape)) {
      continue;
    }
    const auto ask = [&](const std::string& framework) {
      return fault_of(text_with(choice, model, server, gpus, layout, framework, 1));
    };
    std::string framework = framework_line(layout);
    Fault fault = ask(framework);
    if (!fault.text.empty()) {
      nearest.add(layout, fault);
      continue;
    }
    if (fault.other_recompute) {
      framework.clear();
      fault = ask(framework);
    }
    if (fault.text.empty()) {
      fit.insert(shape);
    }
    if (fault.text.empty() && (!best || fault.sequence < least)) {
      best = Found{layout, framework};
      least = fault.sequence;
    }
  }
  return best;
}

/// Idle nodes with which the run hardly ever waits for one; at least one.
std::int64_t usual_spares(const std::string& text) {
  constexpr int kTrials = 10;  // Source: chosen; asked only where no closed form knows
  const auto scenario = checked(text);
  const auto step = training::simulate_step(scenario);
  const auto job = campaign::resolve_job(scenario, step).job;
  campaign::StepTimes times(campaign::waits_for_the_slowest);
  const auto needed = campaign::spares_for(job, campaign::kWaitTarget, kTrials, 1, times);
  return std::max<std::int64_t>(1, needed ? needed->nodes : 1);
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
  Nearest nearest;
  for (const char* sharding : {"zero1", "zero3"}) {
    if (const auto found = fastest(choice, model, server, gpus, sharding, nearest)) {
      const auto with = [&](std::int64_t spares) {
        return text_with(choice, model, server, gpus, found->layout, found->framework, spares);
      };
      return {with(usual_spares(with(1))), remarks_of(model, server)};
    }
  }
  throw core::Infeasible(refusal(model, server, gpus, nearest));
}

}  // namespace headway::apps
