// headway import: topology files, failure logs and price lists become catalogue
// entries, files that start training frameworks become scenarios.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <string>

#include "sim/config/unit_text.h"
#include "sim/config/write_entry.h"
#include "sim/core/shown_text.h"
#include "sim/import/measured/failure_events.h"
#include "sim/import/measured/price_catalogue.h"
#include "sim/import/network/ibnetdiscover.h"
#include "sim/import/network/nccl_topology.h"
#include "sim/import/network/nvidia_smi_topology.h"
#include "sim/import/network/slurm_topology.h"
#include "sim/import/text_file.h"
#include "sim/training/price_warning.h"

#include "apps/headway/launch/import_launch.h"
#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

using namespace core::literals;

namespace {

struct ImportArguments : LaunchArguments {
  std::string rate = "400 Gbps";  ///< of a cable or card, where the file does not tell
  int cards = 0;                  ///< of a server, where the file does not tell; 0: not given
  import::OfferRequest offer;
};

core::BytesPerSecond rate_of(const ImportArguments& given) {
  std::string why;
  const auto rate = config::parse_quantity(given.rate, {-1, 1, 0, 0, 0}, why);
  if (!rate || *rate <= 0) {
    throw core::Error(fmt::format("--rate: {}", rate ? "must be above zero" : why));
  }
  return core::BytesPerSecond(*rate);
}

void warn(const CommonOptions& options, const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) {
    remark(options, "warning: " + warning);
  }
}

/// --name, else the file's, whose bytes may be any.
std::string name_of(const ImportArguments& given) {
  return given.name.empty() ? core::visible(std::filesystem::path(given.file).stem().string())
                            : given.name;
}

/// Comment lines above the entry; a line break in a file's name would end the comment.
std::string heading(const ImportArguments& given, const std::string& what) {
  std::string file = core::visible(given.file);
  std::replace(file.begin(), file.end(), '\n', ' ');
  return fmt::format("# Imported from {} ({}): {}.\n", file, given.format, what);
}

std::string fabric_text(const ImportArguments& given,
                        const CommonOptions& options,
                        import::ImportedFabric found) {
  warn(options, found.warnings);
  if (!given.name.empty()) {
    found.fabric.name = given.name;
  }
  found.fabric.name = core::visible(found.fabric.name);
  std::string what = fmt::format("{} nodes, {} leaves, {} spines, {} cores", found.nodes,
                                 found.leaves, found.spines, found.cores);
  if (given.format == "slurm-topology" && found.leaves > 0) {
    what += fmt::format("; ports_per_leaf is of {} network card{} a server", found.nics_per_node,
                        found.nics_per_node == 1 ? "" : "s");
  }
  return heading(given, what) + config::write_fabric(found.fabric);
}

/// The entry that --gpu names.
gpu::GpuSpec gpu_of(const ImportArguments& given) {
  if (given.gpu.empty()) {
    throw core::Error(
        fmt::format("{}: does not say which GPU the node has; add --gpu ENTRY", given.file));
  }
  std::vector<std::string> names;
  for (const auto& entry : config::list_entries("gpus", config_roots())) {
    if (entry.name == given.gpu) {
      return config::load_entry<gpu::GpuSpec>(entry.path, {config_roots(), {}}).spec;
    }
    names.push_back(entry.name);
  }
  const auto guess = core::did_you_mean(given.gpu, names);
  throw core::Error(fmt::format("'gpus' has no entry '{}'{}", given.gpu,
                                guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
}

std::string node_text(const ImportArguments& given,
                      const CommonOptions& options,
                      const gpu::GpuSpec& gpu,
                      const import::ImportedNode& found) {
  warn(options, found.warnings);
  training::NodeSpec node;
  node.name = name_of(given);
  node.gpu = gpu;
  node.gpus = found.gpus;
  node.scale_up = found.scale_up;
  node.nic = found.nic;
  if (found.nic_of_gpu.empty()) {
    throw core::Error(
        fmt::format("{}: the node has no network card, so it joins no fabric", given.file));
  }
  return heading(given, fmt::format("{} GPUs, {} network cards", found.gpus, found.nic.count)) +
         config::write_node(node, given.gpu);
}

/// Failures to be replayed, every one at the time it had.
std::string failures_text(const ImportArguments& given,
                          const CommonOptions& options,
                          import::FailureEvents found) {
  warn(options, found.left_out);
  if (found.events.empty()) {
    throw core::Error(fmt::format("{}: no row stopped the job at a known time", given.file));
  }
  failures::FailureSpec table;
  table.name = name_of(given);
  table.recorded = std::move(found.events);
  return heading(given, fmt::format("{} failures over {:.3g} days", table.recorded.size(),
                                    table.recorded.back().at / 1_days)) +
         config::write_failures(table);
}

/// What a price calls the GPU that the file calls so; empty where no GPU of the catalogue is.
std::string priced_gpu(const std::string& accelerator) {
  std::string words = import::gpu_words(accelerator);
  for (const auto& entry : config::list_entries("gpus", config_roots())) {
    const auto gpu = config::load_entry<gpu::GpuSpec>(entry.path, {config_roots(), {}}).spec;
    if (training::is_named(gpu, words)) {
      return words;
    }
  }
  return "";
}

/// The price of a GPU in a server; what else a price has is not in the file, and is said.
std::string prices_text(const ImportArguments& given,
                        const CommonOptions& options,
                        const std::string& text) {
  const auto catalogue = import::read_price_catalogue(text, given.file);
  const auto offer = import::cheapest_offer(catalogue.prices, given.offer, given.file);
  price::PriceSpec prices;
  const double usd = *(given.offer.spot ? offer.spot : offer.usd) / offer.accelerators;
  prices.gpu_hour = core::Dollars(usd) / 3600_s;
  prices.name =
      given.name.empty()
          ? core::visible(fmt::format("{}{}, {}", offer.accelerator,
                                      given.offer.spot ? " spot" : " on demand", offer.region))
          : core::visible(given.name);
  prices.gpu = priced_gpu(offer.accelerator);
  std::vector<std::string> warnings{
      "storage, and electricity beside the price, are not in such a file: add 'storage' and, for "
      "energy and CO2, 'pue' and 'carbon_kg_per_kwh'"};
  warnings.insert(warnings.end(), catalogue.remarks.begin(), catalogue.remarks.end());
  if (prices.gpu.empty()) {
    warnings.push_back(fmt::format(
        "no GPU of the catalogue is called '{}': add 'gpu', the words of its name there, and a run "
        "that bills another with this price is warned",
        core::visible(offer.accelerator)));
  }
  warn(options, warnings);
  return heading(given,
                 core::visible(fmt::format("line {}, {} of {} {} in {}", offer.line, offer.instance,
                                           offer.accelerators, offer.accelerator, offer.region))) +
         config::write_prices(prices);
}

std::string answer(const ImportArguments& given, const CommonOptions& options) {
  const auto launch = launch_formats();
  if (std::ranges::find(launch, given.format) != launch.end()) {
    return launch_text(given, options);
  }
  const std::string text = import::read_input(given.file);
  if (given.format == "ibnetdiscover") {
    return fabric_text(given, options, import::read_ibnetdiscover(text, given.file));
  }
  if (given.format == "slurm-topology") {
    return fabric_text(given, options,
                       import::read_slurm_topology(text, given.file, rate_of(given), given.cards));
  }
  if (given.format == "failure-log") {
    return failures_text(given, options, import::read_failure_events(text, given.file));
  }
  if (given.format == "skypilot-catalog") {
    return prices_text(given, options, text);
  }
  const auto gpu = gpu_of(given);
  return node_text(
      given, options, gpu,
      given.format == "nccl-xml"
          ? import::read_nccl_topology(text, given.file, gpu.architecture)
          : import::read_nvidia_smi_topology(text, given.file, gpu.architecture, rate_of(given)));
}

/// What a launch file does not say, and a node's GPU.
void add_launch_options(CLI::App& app, ImportArguments& given) {
  app.add_option("--gpu", given.gpu, "GPU of a node, or of the cluster a launch file runs on")
      ->check(utf8_text())
      ->option_text("ENTRY");
  app.add_option("--model", given.model, "Launch files: the model, where they do not say")
      ->check(utf8_text())
      ->option_text("ENTRY");
  app.add_option("--gpus", given.gpus, "Launch files: GPUs that train")
      ->transform(whole_number(1, 10'000'000))
      ->option_text("N");
  app.add_option("--sequence-length", given.sequence_length, "Launch files: tokens of a sequence")
      ->transform(whole_number(1, 1'000'000'000))
      ->option_text("N");
  app.add_option("--cluster", given.cluster, "Launch files: the cluster")
      ->check(utf8_text())
      ->option_text("ENTRY");
  app.add_option("--framework", given.framework, "Launch files: another profile of the software")
      ->check(utf8_text())
      ->option_text("ENTRY");
}

/// Which price of many.
void add_price_options(CLI::App& app, ImportArguments& given) {
  app.add_option("--accelerator", given.offer.accelerator, "Prices: of which, as the file names it")
      ->check(utf8_text())
      ->option_text("NAME");
  app.add_option("--region", given.offer.region, "Prices: where; without it the cheapest")
      ->check(utf8_text())
      ->option_text("NAME");
  app.add_flag("--spot", given.offer.spot, "Prices: of servers that may be taken away");
}

}  // namespace

int run_import(int argc, char** argv) {
  CLI::App app(
      "Turns a topology file or a failure log of a cluster into an entry for `use:`, and a file "
      "that "
      "starts a training framework into a scenario.");
  CommonOptions options;
  ImportArguments given;
  describe(app, "import",
           "  headway import ibnetdiscover ibnet.out --out fabrics/ours.yaml\n"
           "  headway import nccl-xml topo.xml --gpu h100-sxm --out nodes/ours.yaml\n"
           "  headway import megatron-args pretrain.sh --gpu h200 --out scenario.yaml");
  std::vector<std::string> formats{"ibnetdiscover",   "nccl-xml",    "slurm-topology",
                                   "nvidia-smi-topo", "failure-log", "skypilot-catalog"};
  for (std::string& format : launch_formats()) {
    formats.push_back(std::move(format));
  }
  app.add_option("FORMAT", given.format, "What the file is")
      ->required()
      ->check(one_of(formats))
      ->option_text(fmt::format("{}", fmt::join(formats, "|")));
  app.add_option("FILE", given.file, "The file")->required()->option_text(" ");
  add_launch_options(app, given);
  add_price_options(app, given);
  app.add_option("--rate", given.rate, "A cable or card, where the file does not tell")
      ->option_text("RATE [400 Gbps]");
  app.add_option("--cards", given.cards, "slurm-topology: network cards of a server, on its leaf")
      ->check(number_between(1, 64))
      ->option_text("N [1]");
  app.add_option("--name", given.name, "Name printed in reports")
      ->check(utf8_text())
      ->option_text("TEXT");
  app.add_option("--out", options.out, "Write the result to this file")
      ->check(file_name())
      ->option_text("FILE");
  app.add_flag("--force", options.force, "Let --out overwrite a file");
  app.add_flag("--quiet", options.quiet, "No warnings on standard error");
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  check_out(options);
  deliver(options, answer(given, options));
  return 0;
}

}  // namespace headway::apps
