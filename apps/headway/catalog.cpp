// headway catalog: what `use:` can name, the files behind it, and the constants of the models.
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "sim/config/suggestions/suggest.h"
#include "sim/config/unit_text.h"
#include "sim/core/read_file.h"
#include "sim/core/text.h"
#include "sim/report/constants.h"
#include "sim/report/table.h"
#include "sim/report/table_json.h"
#include "sim/report/wrap.h"

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

/// One figure of an entry.
struct Figure {
  const char* heading;
  std::string_view key;  ///< of the entry, whose value it is
  const char* si_key;    ///< what programs find it under: a number in SI units
};
using Figures = std::vector<Figure>;

/// What tells the entries of a kind apart; none: all that is known is the name.
const Figures& figures_of(const std::string& kind) {
  static const std::map<std::string, Figures> all{
      {"gpus",
       {{"architecture", "architecture", "architecture"},
        {"bf16", "peak.bf16", "bf16_flop_per_s"},
        {"fp8", "peak.fp8", "fp8_flop_per_s"},
        {"memory", "memory", "memory_bytes"},
        {"bandwidth", "memory_bandwidth", "memory_bandwidth_bytes_per_s"},
        {"power", "power", "power_w"}}},
      {"nodes",
       {{"GPUs", "gpus", "gpus"},
        {"GPU", "gpu.name", "gpu"},
        {"scale-up", "scale_up.bandwidth", "scale_up_bandwidth_bytes_per_s"},
        {"domain", "scale_up.domain_gpus", "domain_gpus"},
        {"NICs", "nic.count", "nics"},
        {"each", "nic.bandwidth", "nic_bandwidth_bytes_per_s"}}},
      {"fabrics",
       {{"topology", "topology", "topology"},
        {"tiers", "tiers", "tiers"},
        {"link", "link_bandwidth", "link_bandwidth_bytes_per_s"},
        {"routing", "routing", "routing"},
        {"efficiency", "efficiency", "efficiency"}}},
      {"storage",
       {{"write", "write_bandwidth", "write_bandwidth_bytes_per_s"},
        {"read", "read_bandwidth", "read_bandwidth_bytes_per_s"},
        {"capacity", "capacity", "capacity_bytes"}}},
      {"models",
       {{"layers", "layers", "layers"},
        {"hidden", "hidden", "hidden"},
        {"heads", "heads", "heads"},
        {"experts", "moe.experts", "experts"},
        {"vocabulary", "vocabulary", "vocabulary"}}},
      {"clusters",
       {{"nodes", "nodes", "nodes"},
        {"node", "node.name", "node"},
        {"fabric", "fabric.name", "fabric"}}},
      {"scenarios",
       {{"nodes", "cluster.nodes", "nodes"},
        {"node", "cluster.node.name", "node"},
        {"model", "model.name", "model"}}}};
  static const Figures none{{"name in reports", "name", "name_in_reports"}};
  const auto found = all.find(kind);
  return found == all.end() ? none : found->second;
}

/// A number with a unit or none, in SI units.
std::optional<double> in_si(const std::string& text) {
  std::string why;
  const auto number = config::parse_number(text, why);
  const std::string_view rest = number ? core::trimmed(number->rest) : "";
  const auto unit = rest.empty() ? config::Unit{} : config::parse_unit(rest);
  return number && unit ? std::optional(number->value * unit->numerator / unit->denominator)
                        : std::nullopt;
}

/// As people read it: rates of memory and storage in bytes, whatever is shortest ("8064 Gbps" is
/// 1008 GB/s), and what storage holds in PB.
std::string told(std::string_view key, const std::string& text) {
  const auto si = in_si(text);
  const bool of_bytes =
      key == "memory_bandwidth" || key == "write_bandwidth" || key == "read_bandwidth";
  if (si && of_bytes && text.ends_with("bps")) {
    return fmt::format("{:g} GB/s", *si / 1e9);
  }
  return si && key == "capacity" ? fmt::format("{:g} PB", *si / 1e15) : text;
}

/// Who reads a table of figures.
enum class TableReader { people, programs };

/// What stands for the value of an entry: what it has not is empty for programs.
std::string figure_cell(const Figure& figure, const std::string& text, TableReader reader) {
  const bool none = text == "-" || text.starts_with("0 ");  // a rate it does not have
  if (reader == TableReader::people) {
    return none ? "-" : told(figure.key, text);
  }
  const auto si = in_si(text);
  return none ? "" : si ? config::write_number(*si) : text;
}

/// The entries of one kind with the figures that tell them apart; for programs with kind and file,
/// as the list of all kinds has them, and numbers in SI units under keys that say so.
Table figures_table(const std::string& kind, TableReader reader) {
  const bool people = reader == TableReader::people;
  const Figures& figures = figures_of(kind);
  Table table{fmt::format("Entries of '{}'; 'headway catalog show {} NAME' has all with sources",
                          kind, kind),
              {{"name", false}},
              {},
              false};
  if (!people) {
    table.columns = {{"kind", false}, {"name", false}, {"file", false}};
  }
  std::vector<std::string_view> keys;
  for (const Figure& figure : figures) {
    table.columns.push_back({people ? figure.heading : figure.si_key, !people});
    keys.push_back(figure.key);
  }
  config::LoadOptions options;
  options.roots = config_roots();
  for (const auto& entry : config::list_entries(kind, options.roots)) {
    std::vector<std::string> row{entry.name};
    if (!people) {
      row = {kind, entry.name, entry.path.string()};
    }
    const auto values = config::entry_values(entry.path, keys, options);
    for (std::size_t i = 0; i < values.size(); ++i) {
      row.push_back(figure_cell(figures[i], values[i], reader));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string entry_text(const std::string& kind, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : config::list_entries(kind, config_roots())) {
    if (entry.name == name) {
      return "# " + entry.path.string() + "\n" +
             core::read_file(entry.path, core::kLargestConfiguration);
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
                 words.size() == 2
                     ? figures_table(words[1], placed ? TableReader::programs : TableReader::people)
                 : placed ? entries_table()
                          : kinds_table(),
                 options);
  }
  if (action == "show" && words.size() == 3) {
    return {options.out, report::hanging(entry_text(words[1], words[2]), page_of(options).width)};
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
