// headway catalog: what `use:` can name, the files behind it, and the constants of the models.
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "sim/config/reflect.h"
#include "sim/config/suggestions/suggest.h"
#include "sim/config/unit_text.h"
#include "sim/report/constants.h"
#include "sim/report/table.h"
#include "sim/report/table_json.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

using report::Table;

OutFile print(const std::string& schema, const Table& table, const CommonOptions& options) {
  return options.format == "json" ? OutFile{options.out, report::table_json(schema, table)}
                                  : printed(table, options);
}

/// The entries of all kinds.
Table entries_table() {
  Table table{"Entries that `use:` can name",
              {{"kind", false}, {"name", false}, {"file", false}},
              {},
              false};
  const auto roots = config_roots();
  for (const auto& kind : config::catalogue_kinds()) {
    for (const auto& entry : config::list_entries(kind, roots)) {
      table.rows.push_back({kind, entry.name, entry.path.string()});
    }
  }
  return table;
}

/// What there is of each kind; all entries are too many to read.
Table kinds_table() {
  constexpr std::size_t kNamed = 4;
  Table table{"What `use:` can name; 'headway catalog list KIND' has the figures",
              {{"kind", false}, {"entries"}, {"such as", false}},
              {},
              false};
  const auto roots = config_roots();
  for (const auto& kind : config::catalogue_kinds()) {
    const auto entries = config::list_entries(kind, roots);
    std::string names;
    for (std::size_t i = 0; i < std::min(kNamed, entries.size()); ++i) {
      names += (i == 0 ? "" : ", ") + entries[i * entries.size() / kNamed % entries.size()].name;
    }
    table.rows.push_back({kind, std::to_string(entries.size()), names});
  }
  return table;
}

/// A heading and the key of an entry whose value stands below it.
using Figures = std::vector<std::pair<const char*, std::string_view>>;

/// What tells the entries of a kind apart; none: all that is known is the name.
const Figures& figures_of(const std::string& kind) {
  static const std::map<std::string, Figures> all{
      {"gpus",
       {{"architecture", "architecture"},
        {"bf16", "peak.bf16"},
        {"fp8", "peak.fp8"},
        {"memory", "memory"},
        {"bandwidth", "memory_bandwidth"},
        {"power", "power"}}},
      {"nodes",
       {{"GPUs", "gpus"},
        {"GPU", "gpu.name"},
        {"scale-up", "scale_up.bandwidth"},
        {"domain", "scale_up.domain_gpus"},
        {"NICs", "nic.count"},
        {"each", "nic.bandwidth"}}},
      {"fabrics",
       {{"topology", "topology"},
        {"tiers", "tiers"},
        {"link", "link_bandwidth"},
        {"routing", "routing"},
        {"efficiency", "efficiency"}}},
      {"storage",
       {{"write", "write_bandwidth"}, {"read", "read_bandwidth"}, {"capacity", "capacity"}}},
      {"models",
       {{"layers", "layers"},
        {"hidden", "hidden"},
        {"heads", "heads"},
        {"experts", "moe.experts"},
        {"vocabulary", "vocabulary"}}},
      {"clusters", {{"nodes", "nodes"}, {"node", "node.name"}, {"fabric", "fabric.name"}}},
      {"scenarios",
       {{"nodes", "cluster.nodes"}, {"node", "cluster.node.name"}, {"model", "model.name"}}}};
  static const Figures none{{"name in reports", "name"}};
  const auto found = all.find(kind);
  return found == all.end() ? none : found->second;
}

/// Rates of memory and storage are told in bytes, whatever is shortest: "8064 Gbps" is 1008 GB/s.
std::string in_bytes(std::string_view key, std::string text) {
  const bool of_bytes =
      key == "memory_bandwidth" || key == "write_bandwidth" || key == "read_bandwidth";
  if (!of_bytes || !text.ends_with("bps")) {
    return text;
  }
  std::string why;
  const auto rate =
      config::parse_quantity(text, config::reflect::dimension_of(core::BytesPerSecond{}), why);
  return rate ? fmt::format("{:g} GB/s", *rate / 1e9) : text;
}

/// The entries of one kind with the figures that tell them apart.
/// @param placed  for programs: the kind and the file too, as of the list of all kinds
Table figures_table(const std::string& kind, bool placed) {
  const Figures& figures = figures_of(kind);
  Table table{fmt::format("Entries of '{}'; 'headway catalog show {} NAME' has all with sources",
                          kind, kind),
              {{"name", false}},
              {},
              false};
  if (placed) {
    table.columns = {{"kind", false}, {"name", false}, {"file", false}};
  }
  std::vector<std::string_view> keys;
  for (const auto& [heading, key] : figures) {
    table.columns.push_back({heading, false});
    keys.push_back(key);
  }
  config::LoadOptions options;
  options.roots = config_roots();
  for (const auto& entry : config::list_entries(kind, options.roots)) {
    std::vector<std::string> row{entry.name};
    if (placed) {
      row = {kind, entry.name, entry.path.string()};
    }
    auto values = config::entry_values(entry.path, keys, options);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool none = values[i].starts_with("0 ");  // a rate it does not have
      row.push_back(none ? "-" : in_bytes(keys[i], std::move(values[i])));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string entry_text(const std::string& kind, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : config::list_entries(kind, config_roots())) {
    if (entry.name == name) {
      std::ifstream file(entry.path);
      return "# " + entry.path.string() + "\n" +
             std::string(std::istreambuf_iterator<char>(file), {});
    }
    names.push_back(entry.name);
  }
  const std::string meant = config::entry_suggestion(name, names);
  throw core::Error(fmt::format(
      "'{}' has no entry '{}'{}", kind, name,
      meant.empty() ? fmt::format("; 'headway catalog list {}' lists them", kind) : meant));
}

/// Words after the verb: list [KIND] | show KIND NAME | constants.
OutFile answer(const std::vector<std::string>& words, const CommonOptions& options) {
  const std::string action = words.empty() ? "list" : words[0];
  if (action == "list" && words.size() <= 2) {
    const bool placed = options.format == "json" || options.format == "csv";
    return print("headway.catalog/1",
                 words.size() == 2 ? figures_table(words[1], placed)
                 : placed          ? entries_table()
                                   : kinds_table(),
                 options);
  }
  if (action == "show" && words.size() == 3) {
    return {options.out, entry_text(words[1], words[2])};
  }
  if (action == "constants" && words.size() == 1) {
    return print("headway.constants/1", report::constants_table(config_roots()), options);
  }
  throw core::Error("headway catalog: write 'list', 'list KIND', 'show KIND NAME' or 'constants'");
}

}  // namespace

int run_catalog(int argc, char** argv) {
  CLI::App app(
      "Lists what `use:` can name, shows an entry's file with its sources, lists the models' "
      "constants.");
  CommonOptions options;
  std::vector<std::string> words;
  describe(app, "catalog",
           "  headway catalog list gpus\n"
           "  headway catalog show gpus h100-sxm");
  app.add_option("ACTION", words, "list [KIND] | show KIND NAME | constants")
      ->option_text("[list]");
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options);
  deliver(options, answer(words, options));
  return 0;
}

}  // namespace headway::apps
