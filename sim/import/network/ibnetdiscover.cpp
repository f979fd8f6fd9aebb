#include "sim/import/network/ibnetdiscover.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// One end of a cable, as the section of one device lists it.
struct Port {
  int number = 0;
  std::string peer;  ///< "S-..." or "H-..."
  int peer_port = 0;
  core::BytesPerSecond bandwidth;
  std::size_t offset = 0;
};

/// One section of the file.
struct Device {
  bool is_switch = false;
  std::string description;
  std::vector<Port> ports;
  std::size_t offset = 0;
};

/// Walks through one line from left to right; a failed step makes all later ones fail too.
class LineScanner {
 public:
  explicit LineScanner(std::string_view line) : rest_(line) {}

  /// Text between `open` and `close`, after blanks.
  std::string_view between(char open, char close) {
    skip_blanks();
    const std::size_t end = rest_.starts_with(open) ? rest_.find(close, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }
  int number_between(char open, char close) {
    const auto number = core::whole_text_as<int>(between(open, close));
    ok_ = ok_ && number.has_value();
    return number.value_or(0);
  }
  [[nodiscard]] bool next_is(char c) const { return rest_.starts_with(c); }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }

  std::string_view rest_;
  bool ok_ = true;
};

/// The last word of a line: its link speed, as "4xNDR".
std::string_view last_word(std::string_view line) {
  const std::size_t end = line.find_last_not_of(" \t\r");
  if (end == std::string_view::npos) {
    return {};
  }
  line = line.substr(0, end + 1);
  const std::size_t start = line.find_last_of(" \t");
  return start == std::string_view::npos ? line : line.substr(start + 1);
}

/// Payload rates of one lane, after line coding [bit/s]. Source: InfiniBand Trade Association
/// roadmap.
struct LaneRate {
  std::string_view word;
  double bits_per_second;
};
constexpr std::array kLanes{
    LaneRate{"SDR", 2e9},    LaneRate{"DDR", 4e9},     LaneRate{"QDR", 8e9},
    LaneRate{"FDR10", 10e9}, LaneRate{"FDR", 13.64e9}, LaneRate{"EDR", 25e9},
    LaneRate{"HDR", 50e9},   LaneRate{"NDR", 100e9},   LaneRate{"XDR", 200e9}};

std::optional<core::BytesPerSecond> link_speed(std::string_view word) {
  const std::size_t cross = word.find('x');
  if (cross == std::string_view::npos) {
    return std::nullopt;
  }
  const int lanes = core::whole_text_as<int>(word.substr(0, cross)).value_or(0);
  for (const auto& [name, rate] : kLanes) {
    if (lanes > 0 && word.substr(cross + 1) == name) {
      return core::BytesPerSecond(lanes * rate / 8);
    }
  }
  return std::nullopt;
}

/// A fabric of a million GPUs has as many cards and a tenth as many switches.
constexpr std::size_t kMostDevices = 2'000'000;

/// Reads the sections of the file.
class IbnetdiscoverReader {
 public:
  IbnetdiscoverReader(std::string_view text, const std::string& file_name)
      : text_(text), file_name_(file_name) {}

  std::map<std::string, Device> read() {
    std::size_t start = 0;
    while (start < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', start), text_.size());
      read_line(text_.substr(start, end - start), start);
      start = end + 1;
    }
    faults_.throw_if_any();
    return std::move(devices_);
  }

 private:
  void read_line(std::string_view line, std::size_t offset) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) {
      current_ = nullptr;  // a blank line ends a section
    } else if (line.starts_with("Switch") || line.starts_with("Ca") || line.starts_with("Rt")) {
      read_device(line, offset);
    } else if (line[first] == '[') {
      read_port(line, offset);
    } else if (line[first] != '#' && line.find('=') == std::string_view::npos) {
      complain(offset,
               "this line is none that ibnetdiscover prints (a comment, 'key=value', 'Switch', "
               "'Ca' or '[port]')");
    }
  }

  /// Switch	65 "S-2c5e"		# "leaf 1" enhanced port 0 lid 73 lmc 0
  void read_device(std::string_view line, std::size_t offset) {
    const std::size_t quote = line.find('"');
    LineScanner scanner(quote == std::string_view::npos ? std::string_view{} : line.substr(quote));
    const std::string id(scanner.between('"', '"'));
    const std::size_t described = scanner.rest().find('"');
    LineScanner description(described == std::string_view::npos ? std::string_view{}
                                                                : scanner.rest().substr(described));
    Device device{
        line.starts_with("Switch"), std::string(description.between('"', '"')), {}, offset};
    if (devices_.size() >= kMostDevices) {
      throw core::Error(mark_at(text_, file_name_, offset),
                        fmt::format("more than {} devices", kMostDevices));
    }
    if (!scanner.ok() || id.empty()) {
      complain(offset, "a device without its quoted name, as in 'Switch 65 \"S-...\"'");
      return;
    }
    const auto [place, is_new] = devices_.emplace(id, std::move(device));
    if (!is_new) {
      complain(offset, fmt::format("device '{}' is listed a second time", id));
    }
    current_ = &place->second;
  }

  /// [1]	"H-e09d"[1](e09d) 		# "host-1 mlx5_0" lid 647 4xNDR
  /// [1](e09d) 	"S-2c5e"[17]		# lid 657 lmc 0 "leaf 1" lid 73 4xNDR
  void read_port(std::string_view line, std::size_t offset) {
    if (current_ == nullptr) {
      complain(offset, "a port outside any 'Switch' or 'Ca' section");
      return;
    }
    LineScanner scanner(line);
    Port port;
    port.offset = offset;
    port.number = scanner.number_between('[', ']');
    if (scanner.next_is('(')) {
      scanner.between('(', ')');
    }
    port.peer = scanner.between('"', '"');
    port.peer_port = scanner.number_between('[', ']');
    if (!scanner.ok()) {
      complain(offset,
               "a port is written '[1] \"S-...\"[2] # ... 4xNDR'; this line is cut or damaged");
      return;
    }
    const std::string_view speed = last_word(line);
    if (const auto bandwidth = link_speed(speed)) {
      port.bandwidth = *bandwidth;
    } else {
      complain(offset, fmt::format("'{}' is no link speed; speeds are written as '4xNDR'", speed));
    }
    current_->ports.push_back(std::move(port));
  }

  void complain(std::size_t offset, std::string message) {
    faults_.add(mark_at(text_, file_name_, offset), std::move(message));
  }

  std::string_view text_;
  const std::string& file_name_;
  std::map<std::string, Device> devices_;
  Device* current_ = nullptr;
  core::Diagnostics faults_;
};

/// A cut file breaks hundreds of cables; the first few say enough.
constexpr std::size_t kMostFaults = 10;

/// What is wrong with the cable at `port` of device `id`; empty if both ends list it alike.
std::string cable_fault(const std::map<std::string, Device>& devices,
                        const std::string& id,
                        const Port& port) {
  const auto peer = devices.find(port.peer);
  if (peer == devices.end()) {
    return fmt::format("the cable's far end '{}' has no section in this file; is the file cut?",
                       port.peer);
  }
  const bool known =
      std::any_of(peer->second.ports.begin(), peer->second.ports.end(), [&](const Port& back) {
        return back.number == port.peer_port && back.peer == id && back.peer_port == port.number;
      });
  return known ? std::string{}
               : fmt::format("'{}' does not list this cable at its port {}", port.peer,
                             port.peer_port);
}

/// Every cable must be listed at both ends alike.
void check_cables(const std::map<std::string, Device>& devices,
                  std::string_view text,
                  const std::string& file_name) {
  core::Diagnostics faults;
  for (const auto& [id, device] : devices) {
    std::map<int, int> uses;
    for (const Port& port : device.ports) {
      std::string fault = cable_fault(devices, id, port);
      if (++uses[port.number] == 2) {
        fault = fmt::format("port {} of '{}' is listed twice", port.number, id);
      }
      if (!fault.empty() && faults.size() < kMostFaults) {
        faults.add(mark_at(text, file_name, port.offset), std::move(fault));
      }
    }
  }
  faults.throw_if_any();
}

bool is_aggregation_node(const Device& device) {
  return device.description.find("Aggregation Node") != std::string::npos;
}

/// The server's name in a card's description, "host-1 mlx5_0" or "host-1 HCA-6"; empty where the
/// card was never told one and states its model ("MT4129 ConnectX7 ...").
std::string host_name(const std::string& description) {
  const std::size_t blank = description.find(' ');
  if (blank == std::string::npos || description.starts_with("MT") ||
      description.starts_with("Mellanox")) {
    return {};
  }
  const std::size_t second =
      std::min(description.find_first_not_of(' ', blank), description.size());
  const std::string card = description.substr(second);
  return card.starts_with("mlx") || card.starts_with("HCA") || card.starts_with("ib")
             ? description.substr(0, blank)
             : std::string{};
}

/// Counts how often each link speed occurs and keeps the commonest.
core::BytesPerSecond usual_speed(const std::map<std::string, Device>& devices) {
  std::map<double, int> counts;
  for (const auto& [id, device] : devices) {
    for (const Port& port : device.ports) {
      ++counts[port.bandwidth.si()];
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return core::BytesPerSecond(most == counts.end() ? 0 : most->first);
}

void add_cables(SwitchGraph& graph,
                std::size_t from,
                const Device& device,
                const std::map<std::string, Device>& devices,
                const std::map<std::string, std::size_t>& index) {
  SwitchNode& node = graph.switches[from];
  for (const Port& port : device.ports) {
    const Device& peer = devices.at(port.peer);
    if (peer.is_switch) {
      const std::size_t to = index.at(port.peer);
      const auto trunk = std::find_if(node.trunks.begin(), node.trunks.end(),
                                      [to](const SwitchNode::Trunk& t) { return t.to == to; });
      if (trunk == node.trunks.end()) {
        node.trunks.push_back({to, 1});
      } else {
        ++trunk->cables;
      }
    } else if (!is_aggregation_node(peer)) {
      ++node.host_ports;
      graph.host_ports.push_back({host_name(peer.description), from});
    }
  }
}

}  // namespace

SwitchGraph read_ibnetdiscover_graph(std::string_view text, const std::string& file_name) {
  const std::map<std::string, Device> devices = IbnetdiscoverReader(text, file_name).read();
  check_cables(devices, text, file_name);
  SwitchGraph graph;
  std::map<std::string, std::size_t> index;
  for (const auto& [id, device] : devices) {
    if (device.is_switch) {
      index[id] = graph.switches.size();
      graph.switches.push_back({device.description.empty() ? id : device.description, {}, 0});
    }
  }
  for (const auto& [id, at] : index) {
    add_cables(graph, at, devices.at(id), devices, index);
  }
  if (graph.switches.empty()) {
    throw core::Error(devices.empty() ? mark_of_file(file_name)
                                      : mark_at(text, file_name, devices.begin()->second.offset),
                      "the file lists no switch, so it shows no fabric; was ibnetdiscover run on a "
                      "host without a link?");
  }
  if (graph.host_ports.empty()) {
    throw core::Error(mark_of_file(file_name), "no server hangs on the switches of this file");
  }
  graph.link_bandwidth = usual_speed(devices);
  return graph;
}

ImportedFabric read_ibnetdiscover(std::string_view text, const std::string& file_name) {
  return describe_fabric(read_ibnetdiscover_graph(text, file_name), "imported from " + file_name);
}

}  // namespace headway::import
