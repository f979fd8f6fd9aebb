#include "sim/import/network/slurm_topology.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/import/network/host_list.h"
#include "sim/import/network/switch_graph.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// One `Key=value` of a line.
struct Entry {
  std::string key;
  std::string value;
  std::size_t offset = 0;
};

/// A `SwitchName=` or `BlockName=` line.
struct Line {
  std::string name;
  std::vector<std::string> nodes;
  std::vector<std::string> switches;
  std::size_t offset = 0;
};

struct File {
  std::vector<Line> switches;
  std::vector<Line> blocks;
  bool has_link_speed = false;
};

class SlurmReader {
 public:
  SlurmReader(std::string_view text, const std::string& file_name)
      : text_(text), file_name_(file_name) {}

  File read() {
    std::size_t start = 0;
    while (start < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', start), text_.size());
      std::string_view line = text_.substr(start, end - start);
      read_line(line.substr(0, line.find('#')), start);
      start = end + 1;
    }
    if (file_.switches.empty() && file_.blocks.empty()) {
      faults_.add(mark_of_file(file_name_),
                  "the file has no 'SwitchName=' and no 'BlockName=' line");
    }
    faults_.throw_if_any();
    return std::move(file_);
  }

 private:
  std::vector<Entry> entries(std::string_view line, std::size_t offset) {
    std::vector<Entry> result;
    std::size_t at = 0;
    while ((at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos) {
      const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
      const std::string_view word = line.substr(at, end - at);
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos || equals == 0 || equals + 1 == word.size()) {
        complain(offset + at, fmt::format("'{}' is no 'Key=value'", word));
      } else {
        result.push_back({core::lower_case(std::string(word.substr(0, equals))),
                          std::string(word.substr(equals + 1)), offset + at});
      }
      at = end;
    }
    return result;
  }

  void read_line(std::string_view line, std::size_t offset) {
    const std::vector<Entry> words = entries(line, offset);
    if (words.empty() || words.front().key == "blocksizes") {
      return;
    }
    const bool is_switch = words.front().key == "switchname";
    if (!is_switch && words.front().key != "blockname") {
      complain(words.front().offset,
               fmt::format("a line begins with SwitchName, BlockName or BlockSizes, not '{}'",
                           words.front().key));
      return;
    }
    Line result{words.front().value, {}, {}, words.front().offset};
    for (std::size_t i = 1; i < words.size(); ++i) {
      read_entry(words[i], result, is_switch);
    }
    if (result.nodes.empty() == result.switches.empty()) {
      complain(result.offset,
               fmt::format("'{}' must name either its Nodes or its Switches", result.name));
    }
    (is_switch ? file_.switches : file_.blocks).push_back(std::move(result));
  }

  void read_entry(const Entry& entry, Line& line, bool is_switch) {
    std::string why;
    if (entry.key == "nodes") {
      line.nodes = expand_host_list(entry.value, names_, why);
      names_ += line.nodes.size();
    } else if (entry.key == "switches" && is_switch) {
      line.switches = expand_host_list(entry.value, names_, why);
      names_ += line.switches.size();
    } else if (entry.key == "linkspeed" && is_switch) {
      file_.has_link_speed = true;  // Slurm defines no unit for it, so the number says nothing
    } else {
      const auto near = core::did_you_mean(entry.key, {"nodes", "switches", "linkspeed"});
      why = fmt::format("unknown key '{}'", entry.key) +
            (near ? fmt::format("; did you mean '{}'?", *near) : "");
    }
    if (!why.empty()) {
      complain(entry.offset, why);
    }
  }

  void complain(std::size_t offset, std::string message) {
    faults_.add(mark_at(text_, file_name_, offset), std::move(message));
  }

  std::string_view text_;
  const std::string& file_name_;
  File file_;
  std::size_t names_ = 0;  ///< of servers and switches in all lists so far
  core::Diagnostics faults_;
};

/// Turns the lines into a graph: names become indices, and the tree must be a tree.
class TreeBuilder {
 public:
  TreeBuilder(const std::vector<Line>& lines, std::string_view text, const std::string& file_name)
      : lines_(lines), text_(text), file_name_(file_name) {}

  SwitchGraph build() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!index_.emplace(lines_[i].name, i).second) {
        complain(i, fmt::format("switch '{}' is defined a second time", lines_[i].name));
      }
      graph_.switches.push_back({lines_[i].name, {}, 0});
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      add_nodes(i);
      add_children(i);
    }
    find_cycles();
    faults_.throw_if_any();
    return std::move(graph_);
  }

 private:
  void add_nodes(std::size_t at) {
    for (const std::string& node : lines_[at].nodes) {
      const auto [place, is_new] = leaf_of_.emplace(node, at);
      if (!is_new) {
        complain(at, fmt::format("server '{}' already hangs on switch '{}'", node,
                                 lines_[place->second].name));
        continue;
      }
      ++graph_.switches[at].host_ports;
      graph_.host_ports.push_back({node, at});
    }
  }

  void add_children(std::size_t at) {
    for (const std::string& child : lines_[at].switches) {
      const auto found = index_.find(child);
      if (found == index_.end()) {
        complain(at,
                 fmt::format("switch '{}' below '{}' is defined nowhere", child, lines_[at].name));
        continue;
      }
      graph_.switches[at].trunks.push_back({found->second, 1});
      graph_.switches[found->second].trunks.push_back({at, 1});
      parents_[found->second].push_back(at);
    }
  }

  /// Walks up from every switch until there is no more above, or a switch that an earlier walk has
  /// passed; only a walk that meets itself is a cycle. Every switch is passed once.
  void find_cycles() {
    std::vector<std::size_t> walk_of(lines_.size(), lines_.size());
    for (std::size_t start = 0; start < lines_.size(); ++start) {
      std::size_t at = start;
      while (walk_of[at] == lines_.size() && parents_.contains(at)) {
        walk_of[at] = start;
        at = parents_[at].front();
      }
      if (walk_of[at] == start) {
        complain(at, fmt::format("switch '{}' is above itself", lines_[at].name));
      }
    }
  }

  void complain(std::size_t line, std::string message) {
    faults_.add(mark_at(text_, file_name_, lines_[line].offset), std::move(message));
  }

  const std::vector<Line>& lines_;
  std::string_view text_;
  const std::string& file_name_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, std::size_t> leaf_of_;
  std::map<std::size_t, std::vector<std::size_t>> parents_;
  SwitchGraph graph_;
  core::Diagnostics faults_;
};

/// Blocks are NVLink domains; what joins them is not in the file.
ImportedFabric describe_blocks(const std::vector<Line>& blocks, const std::string& file_name) {
  ImportedFabric result;
  result.fabric.name = "imported from " + file_name;
  std::vector<std::size_t> sizes;
  for (const Line& block : blocks) {
    sizes.push_back(block.nodes.size());
    result.hosts.insert(result.hosts.end(), block.nodes.begin(), block.nodes.end());
  }
  std::sort(result.hosts.begin(), result.hosts.end());
  std::sort(sizes.begin(), sizes.end());
  result.nodes = static_cast<int>(result.hosts.size());
  result.nodes_per_domain = static_cast<int>(sizes.back());
  result.warnings.emplace_back(
      "blocks tell the NVLink domains only; the fabric between them is taken as rail-optimized "
      "with 2 tiers");
  if (sizes.front() != sizes.back()) {
    result.warnings.push_back(fmt::format("blocks hold {} to {} servers; the largest is taken",
                                          sizes.front(), sizes.back()));
  }
  return result;
}

/// A leaf has a port for each card of its servers; the file has the servers.
void count_cards(int cards, ImportedFabric& result) {
  const int servers = result.fabric.ports_per_leaf;
  result.nics_per_node = std::max(1, cards);
  result.fabric.ports_per_leaf = servers * result.nics_per_node;
  if (cards == 0) {
    result.warnings.push_back(fmt::format(
        "Slurm's file counts servers, not network cards: ports_per_leaf {} is of one card a "
        "server; where all of its cards go to that leaf give their number (--cards 8: {}), where "
        "they go to a leaf a rail write topology: rail-optimized",
        servers, 8 * servers));
  }
}

}  // namespace

ImportedFabric read_slurm_topology(std::string_view text,
                                   const std::string& file_name,
                                   core::BytesPerSecond assumed_link,
                                   int cards) {
  const File file = SlurmReader(text, file_name).read();
  ImportedFabric result;
  if (file.switches.empty()) {
    result = describe_blocks(file.blocks, file_name);
  } else {
    SwitchGraph graph = TreeBuilder(file.switches, text, file_name).build();
    if (graph.host_ports.empty()) {
      throw core::Error(mark_of_file(file_name), "no switch of the file has servers");
    }
    result = describe_fabric(graph, "imported from " + file_name);
    // One line of the file stands for any number of cables, so their count says nothing of
    // bandwidth.
    result.fabric.leaf_oversubscription = 1;
    result.fabric.spine_oversubscription = 1;
    result.warnings.emplace_back(
        "Slurm's file does not count cables; the fabric is taken as non-blocking");
    count_cards(cards, result);
  }
  result.fabric.link_bandwidth = assumed_link;
  result.warnings.push_back(fmt::format("{}; {} Gbps are assumed",
                                        file.has_link_speed
                                            ? "LinkSpeed has no unit in Slurm and is ignored"
                                            : "the file states no link speed",
                                        assumed_link.si() * 8e-9));
  return result;
}

}  // namespace headway::import
