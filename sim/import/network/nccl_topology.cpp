#include "sim/import/network/nccl_topology.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/network/nvlink_domain.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

using gpu::Architecture;

/// Elements from the root down to a device: two devices are near if these agree for long.
using Path = std::vector<const void*>;
constexpr std::size_t kDeepest = 64;

struct Gpu {
  std::string bus_id;
  pugi::xml_node element;  ///< the `gpu` element; empty where the file has only the PCI device
  core::BytesPerSecond pcie;
  Path path;
};

struct Card {
  core::BytesPerSecond bandwidth;
  bool direct = true;  ///< GPU memory is reachable (gdr)
  bool guessed = false;
  Path path;
};

/// Payload of a PCIe link, one direction: transfers x lanes, with the line coding of its
/// generation.
core::BytesPerSecond pcie_rate(double giga_transfers, int lanes) {
  const double coding = giga_transfers > 5.0 ? 128.0 / 130.0 : 0.8;
  return core::BytesPerSecond(giga_transfers * 1e9 / 8 * coding * lanes);
}

/// The largest speed of a network card that a PCIe link of this rate carries [B/s].
core::BytesPerSecond card_speed(core::BytesPerSecond pcie) {
  core::BytesPerSecond best(1.25e9);
  for (const double gigabits : {25.0, 40.0, 100.0, 200.0, 400.0, 800.0}) {
    const core::BytesPerSecond speed(gigabits * 1.25e8);
    best = speed <= pcie ? speed : best;
  }
  return best;
}

/// NCCL names NVIDIA generations by sm (80, 90, 100), RCCL AMD's by gcn ("gfx942", or 906).
std::optional<Architecture> architecture_of(pugi::xml_node gpu_element) {
  if (const std::string_view gcn = gpu_element.attribute("gcn").as_string(); !gcn.empty()) {
    return gcn.starts_with("gfx95")          ? Architecture::cdna4
           : gcn == "910" || gcn == "gfx90a" ? Architecture::cdna2
                                             : Architecture::cdna3;
  }
  const int sm = gpu_element.attribute("sm").as_int();
  if (sm == 0) {
    return std::nullopt;
  }
  return sm >= 100  ? Architecture::blackwell
         : sm >= 90 ? Architecture::hopper
         : sm >= 89 ? Architecture::ada
         : sm >= 80 ? Architecture::ampere
         : sm >= 75 ? Architecture::turing
                    : Architecture::volta;
}

/// Line rate of one link of the GPU. Older AMD chips have narrower ones: 92 GB/s both directions
/// (data sheets of MI50 and MI100).
core::BytesPerSecond link_of(pugi::xml_node gpu_element, Architecture architecture) {
  const std::string_view gcn = gpu_element.attribute("gcn").as_string();
  const bool old = gcn == "906" || gcn == "908" || gcn == "gfx906" || gcn == "gfx908";
  return old ? core::BytesPerSecond(46e9) : link_rate(architecture);
}

class NcclTopologyReader {
 public:
  NcclTopologyReader(std::string_view text, const std::string& file_name)
      : text_(text), file_name_(file_name) {}

  void read() {
    const pugi::xml_parse_result parsed = document_.load_buffer(text_.data(), text_.size());
    if (!parsed) {
      throw core::Error(
          mark_at(text_, file_name_,
                  static_cast<std::size_t>(std::max<std::ptrdiff_t>(parsed.offset, 0))),
          std::string("not well-formed XML: ") + parsed.description());
    }
    const pugi::xml_node system = document_.child("system");
    if (!system) {
      throw core::Error(mark_of_file(file_name_),
                        "an NCCL topology file has a 'system' element at its root");
    }
    walk(system, {});
    if (gpus.empty() && faults_.empty()) {
      complain(system, "the file describes no GPU");
    }
    faults_.throw_if_any();
  }

  /// Line of an element's `attribute` as a number; the fallback where it is missing or empty.
  double number(pugi::xml_node element, const char* attribute, double fallback) {
    const std::string_view value = element.attribute(attribute).as_string();
    if (value.empty() || value == "Unknown") {
      return fallback;
    }
    double result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    // "16.0 GT/s PCIe" and "16 GT/s" are both written.
    const bool clean = end == value.data() + value.size() || *end == ' ';
    if (error != std::errc{} || !clean || result < 0) {
      complain(element, fmt::format("{}=\"{}\" is no number", attribute, value));
      return fallback;
    }
    return result;
  }

  std::vector<Gpu> gpus;
  std::vector<Card> cards;      ///< of `net` elements
  std::vector<Card> pci_cards;  ///< of PCI devices of a network class
  bool pcie_unknown = false;

  void throw_if_any() { faults_.throw_if_any(); }

 private:
  void walk(pugi::xml_node element, Path path) {
    if (path.size() > kDeepest) {
      complain(element, "elements are nested deeper than any machine's PCI tree");
      return;
    }
    path.push_back(element.internal_object());
    for (const pugi::xml_node child : element.children()) {
      const std::string_view name = child.name();
      if (name == "pci") {
        read_pci(child, path);
      } else if (name == "net") {
        const double megabits = number(child, "speed", 0);
        cards.push_back({core::BytesPerSecond((megabits > 0 ? megabits : 100e3) * 1e6 / 8),
                         std::string_view(child.attribute("gdr").as_string("1")) != "0",
                         megabits == 0, path});
      }
      walk(child, path);
    }
  }

  core::BytesPerSecond pcie_of(pugi::xml_node device) {
    const double speed = number(device, "link_speed", 0);
    const double width = number(device, "link_width", 0);
    if (speed == 0 || width == 0) {
      pcie_unknown = true;
      return pcie_rate(16, 16);
    }
    return pcie_rate(speed, static_cast<int>(width));
  }

  void read_pci(pugi::xml_node device, Path path) {
    const std::string bus_id = device.attribute("busid").as_string();
    if (!bus_ids_.insert(bus_id).second) {
      complain(device, bus_id.empty() ? "a PCI device without a busid"
                                      : fmt::format("busid \"{}\" is used twice", bus_id));
    }
    path.push_back(device.internal_object());
    const std::string_view device_class = device.attribute("class").as_string();
    const bool display = device_class.starts_with("0x03") || device_class.starts_with("0x12");
    if (device.child("gpu") || display) {
      gpus.push_back({bus_id, device.child("gpu"), pcie_of(device), path});
    } else if (device_class.starts_with("0x02")) {
      pci_cards.push_back({card_speed(pcie_of(device)), true, true, path});
    }
  }

  void complain(pugi::xml_node element, std::string message) {
    faults_.add(
        mark_at(text_, file_name_,
                static_cast<std::size_t>(std::max<std::ptrdiff_t>(element.offset_debug(), 0))),
        std::move(message));
  }

  std::string_view text_;
  const std::string& file_name_;
  pugi::xml_document document_;
  std::set<std::string> bus_ids_;
  core::Diagnostics faults_;
};

/// Links of each GPU, from its `nvlink` and `xgmi` elements.
LinkMatrix links_between(NcclTopologyReader& reader, ImportedNode& node) {
  const std::size_t n = reader.gpus.size();
  LinkMatrix links{std::vector<std::vector<int>>(n, std::vector<int>(n, 0)),
                   std::vector<int>(n, 0)};
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < n; ++i) {
    index[reader.gpus[i].bus_id] = i;
  }
  int to_itself = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (const pugi::xml_node link : reader.gpus[i].element.children()) {
      const std::string_view name = link.name();
      if (name != "nvlink" && name != "xgmi") {
        continue;
      }
      const int count = static_cast<int>(reader.number(link, "count", 1));
      const auto target = index.find(link.attribute("target").as_string());
      if (std::string_view(link.attribute("tclass").as_string()) == "0x068000") {
        links.to_switch[i] += count;  // an NVSwitch
      } else if (target != index.end() && target->second != i) {
        links.peer[i][target->second] += count;
      } else {
        ++to_itself;
      }
    }
  }
  if (to_itself > 0) {
    node.warnings.push_back(fmt::format(
        "{} links lead to the GPU itself or to no GPU of the file and are left out", to_itself));
  }
  return links;
}

std::size_t common_length(const Path& a, const Path& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

/// The nearest card of each GPU by the PCI tree; equally near ones are shared evenly.
void describe_cards(NcclTopologyReader& reader, ImportedNode& node) {
  std::vector<Card> cards = reader.cards.empty() ? reader.pci_cards : reader.cards;
  if (std::any_of(cards.begin(), cards.end(), [](const Card& card) { return card.direct; })) {
    std::erase_if(cards, [](const Card& card) { return !card.direct; });
  }
  if (cards.empty()) {
    node.warnings.emplace_back("the file shows no network card; one of 100 Gbps is assumed");
    node.nic = {1, core::BytesPerSecond(12.5e9)};
    return;
  }
  node.nic.count = static_cast<int>(cards.size());
  const auto slowest =
      std::min_element(cards.begin(), cards.end(),
                       [](const Card& a, const Card& b) { return a.bandwidth < b.bandwidth; });
  node.nic.bandwidth = slowest->bandwidth;
  if (slowest->guessed) {
    node.warnings.push_back(
        fmt::format("the file does not tell the speed of the network cards; {:g} Gbps is assumed, "
                    "what their PCIe link carries",
                    slowest->bandwidth.si() * 8e-9));
  }
  std::vector<int> users(cards.size(), 0);
  for (const Gpu& gpu : reader.gpus) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < cards.size(); ++c) {
      const auto rank = [&](std::size_t i) {
        return std::pair(-static_cast<int>(common_length(gpu.path, cards[i].path)), users[i]);
      };
      best = rank(c) < rank(best) ? c : best;
    }
    ++users[best];
    node.nic_of_gpu.push_back(static_cast<int>(best));
  }
}

}  // namespace

ImportedNode read_nccl_topology(std::string_view text,
                                const std::string& file_name,
                                Architecture architecture) {
  NcclTopologyReader reader(text, file_name);
  reader.read();
  ImportedNode node;
  node.gpus = static_cast<int>(reader.gpus.size());
  const pugi::xml_node first = reader.gpus.front().element;
  architecture = architecture_of(first).value_or(architecture);
  const LinkMatrix links = links_between(reader, node);
  const auto slowest = std::min_element(reader.gpus.begin(), reader.gpus.end(),
                                        [](const Gpu& a, const Gpu& b) { return a.pcie < b.pcie; });
  describe_scale_up(links, architecture, link_of(first, architecture), slowest->pcie, node);
  if (node.scale_up.kind == network::ScaleUpKind::pcie) {
    node.warnings.emplace_back(
        "the file has no links between GPUs, as NCCL adds NVLinks only when it runs; scale_up is "
        "PCIe: "
        "set it yourself if the GPUs have NVLink");
  }
  if (reader.pcie_unknown) {
    node.warnings.emplace_back(
        "some PCIe links have no speed or width; Gen4 x16 is assumed for them");
  }
  describe_cards(reader, node);
  reader.throw_if_any();
  return node;
}

}  // namespace headway::import
