// Hard traffic on a fabric, packet by packet beside the fluid model: `headway topo --stress` and
// `headway validate --flow-model`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/study/machine.h"
#include "sim/study/packets/packets.h"
#include "sim/validation/read_inputs.h"

namespace headway::study {

enum class Traffic : std::uint8_t {
  all_reduce,
  all_to_all,
  permutation,
  incast,
  bystander,
  gradients,
  storage
};
constexpr auto enum_words(Traffic) {
  using E = core::EnumWord<Traffic>;
  return std::array{E{Traffic::all_reduce, "all_reduce"},   E{Traffic::all_to_all, "all_to_all"},
                    E{Traffic::permutation, "permutation"}, E{Traffic::incast, "incast"},
                    E{Traffic::bystander, "bystander"},     E{Traffic::gradients, "gradients"},
                    E{Traffic::storage, "storage"}};
}

/// One traffic of one size: until its last byte, by both models.
struct StressRow {
  Traffic traffic = Traffic::permutation;
  int groups = 1;
  core::Bytes message;
  core::Seconds packet_time, fluid_time;
  PacketFigures packets;

  /// packets / fluid
  [[nodiscard]] double times() const { return packet_time / fluid_time; }

  template <class V>
  void fields(V& v) const {
    v.part(
        "traffic", traffic,
        "all_reduce (a ring) and all_to_all (all at once): a collective of 16 times the size; "
        "permutation: each GPU sends to another one; incast: 16 send to one; bystander: one that "
        "sends past an incast to an idle GPU beside its receiver; gradients: an all_reduce while "
        "each of its GPUs writes 4 messages to one of few storage servers; storage: those writes");
    v.figure("groups", groups, "",
             "of `gpus` GPUs that do it at once, side by side in the same nodes",
             core::at_least_one);
    v.figure("message_bytes", message, "B", "of one message, or a sixteenth of the array",
             core::non_negative);
    v.figure("packet_time_s", packet_time, "s", "until the last byte, every packet simulated",
             core::non_negative);
    v.figure("fluid_time_s", fluid_time, "s", "the same by fair shares of links",
             core::non_negative);
    v.figure("times", times(), "1", "packets / fluid", core::non_negative);
    v.part("packets", packets, "what happened to packets");
  }
};

/// One fabric under all traffics.
struct StressReport {
  Machine machine;
  std::string transport, path_choice;
  int gpus = 0;  ///< that take part, spread evenly
  std::vector<StressRow> rows;

  template <class V>
  void fields(V& v) const;
};

/// Which traffic the fluid model misses most, and by how much.
std::string stress_sentence(const StressReport& report);

template <class V>
void StressReport::fields(V& v) const {
  v.part("version", HEADWAY_VERSION, "of the program");
  v.part("machine", machine.name, "the file or the entry");
  v.part("fabric", machine.cluster.fabric.name, "its fabric");
  v.part("transport", transport, "of its packets");
  v.part("path_choice", path_choice, "which of several equal cables a packet takes");
  v.figure("gpus", gpus, "", "of a group, spread evenly over the fabric", core::non_negative);
  v.part("rows", rows, "one a traffic and size");
  v.part("limit", stress_sentence(*this), "one sentence: what it comes to");
  v.part("assumptions", machine.assumptions, "what neither the file nor the options say");
}

/// Runs every traffic at every size over up to 64 GPUs of the fabric; those that a whole job makes
/// (all_reduce, all_to_all, permutation) once more by all GPUs of the same nodes, a group for each.
/// @param fabric  of the machine's cluster, healthy or not
/// @param count   is told how many of them are done
/// @throws core::Error  as PacketNetworkOf; if fewer than 4 GPUs are there
StressReport stress(const Machine& machine,
                    const network::Fabric& fabric,
                    std::optional<network::Transport> transport,
                    const std::function<void(std::size_t done, std::size_t total)>& count = {});

/// The fluid model against packets on every fabric of the catalogue.
struct FlowModelReport {
  std::vector<StressReport> fabrics;
  validation::ReadInputs made_from = {};

  template <class V>
  void fields(V& v) const;
};

std::string flow_model_sentence(const FlowModelReport& report);

template <class V>
void FlowModelReport::fields(V& v) const {
  made_from.fields(v);
  v.part("fabrics", fabrics, "each as `headway topo --stress` has it");
  v.part("limit", flow_model_sentence(*this), "one sentence: what it comes to");
}

/// @param only  fabrics whose entry or whose name begins with it
/// @throws core::Error if none does
FlowModelReport validate_flow_model(const std::string& only, const config::LoadOptions& options);

}  // namespace headway::study
