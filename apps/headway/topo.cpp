// headway topo: what a fabric is made of, how wide it is, and whether it hangs together.
#include <string>
#include <vector>

#include "sim/network/fabric/fabric_faults.h"
#include "sim/report/verbs/stress_report.h"
#include "sim/report/verbs/topo_report.h"
#include "sim/training/estimate.h"
#include "sim/training/step/lower.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

/// The transport that --stress names; none: the fabric's.
std::optional<network::Transport> transport_of(const std::string& word) {
  if (word.empty()) {
    return std::nullopt;
  }
  const auto transport = core::from_word<network::Transport>(word);
  if (!transport) {
    std::string known;
    for (const auto& [value, name] : enum_words(network::Transport{})) {
      known += fmt::format(" {}", name);
    }
    throw core::Error(
        fmt::format("--stress {}: there is no such transport; there are{}", word, known));
  }
  return transport;
}

/// Its hard traffic, whose simulation takes seconds to minutes.
study::StressReport stressed(const study::Machine& machine,
                             const network::Fabric& fabric,
                             const std::string& transport,
                             const CommonOptions& options) {
  Progress progress(options);
  progress.phase("stressing the fabric");
  return study::stress(machine, fabric, transport_of(transport),
                       [&](std::size_t done, std::size_t total) { progress.count(done, total); });
}

/// The machine's fabric without the switches that have failed.
network::Fabric with_failures(study::Machine& machine, const std::vector<std::string>& down) {
  training::require_memory(training::estimate_fabric(machine.cluster), training::machine_memory());
  auto fabric = training::build_fabric(machine.cluster);
  std::vector<network::SwitchId> failed;
  for (const auto& words : down) {
    failed.push_back(network::parse_switch(words, fabric.shape()));
    machine.assumptions.push_back(words + " has failed");
  }
  network::fail_switches(failed, fabric);
  return fabric;
}

std::vector<OutFile> described(study::TopoReport& result,
                               const network::Fabric& fabric,
                               const CommonOptions& options) {
  result.fabric = network::report(fabric);
  return printed_with_tables(result, options, report::topo_json, report::topo_csv,
                             report::topo_document);
}

/// The files of --dot and --graphml, where they are named.
void add_graphs(const std::string& dot,
                const std::string& graphml,
                const network::Fabric& fabric,
                std::vector<OutFile>& files) {
  if (!dot.empty()) {
    files.push_back({dot, network::to_dot(fabric)});
  }
  if (!graphml.empty()) {
    files.push_back({graphml, network::to_graphml(fabric)});
  }
}

}  // namespace

int run_topo(int argc, char** argv) {
  CLI::App app("Prints a fabric's switches, tiers, oversubscription, bisection and diameter.");
  CommonOptions options;
  study::MachineOptions how;
  std::string file;
  std::string dot;
  std::string graphml;
  std::vector<std::string> down;
  std::string stress;
  describe(app, "topo",
           "  headway topo configs/clusters/selene-a100.yaml --dot selene.dot\n"
           "  headway topo rail-optimized-ndr --nodes 64 --format json\n"
           "  headway topo roce-clos-llama-3 --nodes 64 --stress dcqcn");
  app.add_option("FILE", file, "Cluster, fabric, node or scenario: file or entry")
      ->required()
      ->option_text(" ");
  app.add_option("--nodes", how.nodes, "Nodes, where FILE is a fabric or a node")
      ->transform(whole_number(1))
      ->option_text("N");
  app.add_option("--node", how.node, "Node entry, where FILE is a fabric")
      ->option_text("ENTRY [dgx-h100]");
  app.add_option("--fabric", how.fabric, "Fabric entry, where FILE is a node")
      ->option_text("ENTRY");
  app.add_option("--dot", dot, "Also write the graph for Graphviz")
      ->check(file_name())
      ->option_text("FILE");
  app.add_option("--graphml", graphml, "Also write the graph as GraphML")
      ->check(file_name())
      ->option_text("FILE");
  app.add_option("--down", down, "A switch that has failed: leaf:3, spine:0, core:1")
      ->allow_extra_args(false)
      ->option_text("SWITCH");
  auto* is_stressed = app.add_option("--stress", stress,
                                     "Hard traffic, packet by packet beside fluid flows: credits, "
                                     "pauses, dcqcn, swift, dctcp, receiver")
                          ->expected(0, 1)
                          ->option_text("[TRANSPORT]");
  app.add_option("--set", options.set, "Change a value of FILE, as nodes=64")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  add_tables_option(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  add_progress_options(app, options);
  app.get_option("--progress")->group("");  // beside --quiet
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options, {dot, graphml, options.tables});
  study::TopoReport result{study::load_machine(file, how, load_options(options)), {}};
  auto fabric = with_failures(result.machine, down);
  auto files =
      is_stressed->count() > 0
          ? printed_with_tables(stressed(result.machine, fabric, stress, options), options,
                                report::stress_json, report::stress_csv, report::stress_document)
          : described(result, fabric, options);
  add_graphs(dot, graphml, fabric, files);
  deliver(options, files);
  return 0;
}

}  // namespace headway::apps
