// How long a collective takes when it has the machine to itself, and who says so.
#pragma once

#include <cstdint>
#include <span>

#include "sim/network/collective/collective_call.h"

namespace headway::network {

enum class TimeSource : std::uint8_t {
  nothing_to_do,
  measured_curve,
  fitted_bounds,
  nccl_model,
  alpha_beta,
  every_message,  ///< stepped.h
  every_packet,   ///< packet/packet_collective.h
};
constexpr auto enum_words(TimeSource) {
  using E = core::EnumWord<TimeSource>;
  return std::array{E{TimeSource::nothing_to_do, "nothing to do"},
                    E{TimeSource::measured_curve, "measured curve"},
                    E{TimeSource::fitted_bounds, "bounds fitted to measured curves"},
                    E{TimeSource::nccl_model, "NCCL cost model"},
                    E{TimeSource::alpha_beta, "alpha-beta"},
                    E{TimeSource::every_message, "simulation of every message"},
                    E{TimeSource::every_packet, "simulation of every packet"}};
}

struct CollectiveTime {
  core::Seconds total;
  core::Seconds alpha;         ///< the part that does not grow with the message
  core::Bytes scale_up_bytes;  ///< sent by one rank over NVLink
  core::Bytes nic_bytes;       ///< sent by one rank's share of the NICs of its rail
  core::Bytes site_bytes;  ///< of them between sites, by each rank to its like on the next site; 0:
                           ///< one site, or rings over all
  Algorithm algorithm = Algorithm::none;
  Protocol protocol = Protocol::none;
  TimeSource source = TimeSource::nothing_to_do;
};

/// Time of one collective alone on a healthy machine. Precedence: measured curve (log-log
/// interpolation on the curve of this collective and group shape; beyond its ends by its fitted
/// line, else by the model's ratio to the end), bounds fitted to curves of other group sizes,
/// NCCL's published cost model, alpha-beta.
CollectiveTime collective_time(const CollectiveCall& call,
                               const GroupShape& group,
                               const NetworkParameters& parameters,
                               std::span<const CollectiveCurve> curves = {});

}  // namespace headway::network
