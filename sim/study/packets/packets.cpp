#include "sim/study/packets/packets.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/statistics.h"
#include "sim/core/text.h"

namespace headway::study {

namespace {

/// Some minutes on one core. Source: chosen.
constexpr double kMostHops = 2e9;
/// Cables of a way between two pods.
constexpr double kUsualCables = 4;

network::PacketOptions options_of(const training::ClusterSpec& cluster,
                                  std::optional<network::Transport> transport) {
  network::PacketOptions options;
  options.spec = network::packet_spec(cluster.fabric, transport);
  options.threads = 0;
  return options;
}

/// Every rank sends about twice the array, or its part of it.
void check_size(const network::CollectiveCall& call, std::size_t members, double payload) {
  const double packets = 2 * call.bytes.si() * static_cast<double>(members) / payload;
  if (packets * kUsualCables > kMostHops) {
    throw core::Error(fmt::format(
        "a {} of {} bytes over {} GPUs has about {:.2g} packets, and each is simulated on each of "
        "its "
        "cables, at most {:.0g} in all: take smaller messages (-e) or fewer GPUs",
        core::to_word(call.kind), core::count(call.bytes.si()), members, packets, kMostHops));
  }
}

/// " (training, storage)".
std::string kinds_in(const network::TrafficClassSpec& one) {
  std::string words;
  for (const network::TrafficKind kind : one.traffic) {
    words += fmt::format("{}{}", words.empty() ? " (" : ", ", core::to_word(kind));
  }
  return words.empty() ? " (nothing)" : words + ")";
}

}  // namespace

PacketFigures packet_figures(const network::PacketResult& result,
                             const network::PacketNetwork& network,
                             network::Transport transport) {
  using network::Transport;
  PacketFigures figures;
  figures.counts = result.counts;
  if (transport != Transport::dcqcn && transport != Transport::dctcp) {
    figures.counts.marks = 0;
  }
  figures.digest = result.event_digest;
  if (result.counts.deepest_cable != network::kNowhere) {
    const auto& cable = network.cables[result.counts.deepest_cable];
    figures.deepest_at =
        fmt::format("{} -> {}", network.devices[cable.from].name, network.devices[cable.to].name);
  }
  std::vector<double> ends;
  for (const core::Tick end : result.flow_end) {
    ends.push_back(core::Clock::step().to_seconds(end).si());
  }
  std::sort(ends.begin(), ends.end());
  if (!ends.empty()) {
    figures.median_flow = core::Seconds(core::quantile_of_sorted(ends, 0.5));
    figures.slow_flow = core::Seconds(core::quantile_of_sorted(ends, 0.99));
  }
  return figures;
}

PacketNetworkOf::PacketNetworkOf(const training::ClusterSpec& cluster,
                                 const network::Fabric& fabric,
                                 std::optional<network::Transport> transport)
    : fabric_(fabric),
      options_(options_of(cluster, transport)),
      stated_(cluster.fabric.packets.has_value()),
      cables_(fabric, options_.spec) {}

PacketNetworkOf::Run PacketNetworkOf::run(const network::CollectiveCall& call,
                                          std::span<const core::GpuId> members,
                                          const network::SteppedOptions& stepped) const {
  check_size(call, members.size(), options_.spec.payload.si());
  Run run;
  if (members.size() < 2) {
    return run;
  }
  const auto result =
      network::run_packet_collective(fabric_, cables_, call, members, stepped, options_);
  run.time.total = core::Clock::step().to_seconds(result.end);
  run.time.algorithm = call.algorithm.value_or(network::usual_algorithm(call.kind));
  run.time.source = network::TimeSource::every_packet;
  run.figures = packet_figures(result, cables_.network(), *options_.spec.transport);
  return run;
}

/// The buffer, and the classes where there are several.
std::string PacketNetworkOf::buffer_words() const {
  const auto& classes = options_.spec.classes;
  std::string words =
      fmt::format("{} kB of buffer a port", core::number(options_.spec.buffer_per_port.si() / 1e3));
  for (std::size_t k = 0; classes.size() > 1 && k < classes.size(); ++k) {
    words += fmt::format(
        "{}priority {} weight {}{}", k == 0 ? ", classes where storage meets training: " : "; ",
        classes[k].priority, core::number(classes[k].weight), kinds_in(classes[k]));
  }
  return words;
}

std::string PacketNetworkOf::words() const {
  return fmt::format("transport {}, path by {}, packets of {} bytes, {}{}",
                     core::to_word(*options_.spec.transport),
                     core::to_word(*options_.spec.path_choice),
                     core::count(options_.spec.payload.si()), buffer_words(),
                     stated_ ? "" : ": the fabric's file says nothing of packets");
}

}  // namespace headway::study
