// A collective that has the fabric to itself, and the fabric as it is: oversubscribed, hashed,
// degraded. What `headway collective` prints.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/network/collective/collective.h"
#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

/// Time on the fabric, and what the fabric has to do with it.
struct TimeOnFabric {
  CollectiveTime time;
  core::Seconds alone;  ///< of `collective_time`: on links that carry whatever comes
  std::optional<core::LinkId> slowest;  ///< the link that stretches it, if one does
};

/// The collectives of one group, one after the other.
class GroupOnFabric {
 public:
  /// @param members  in ring order
  /// @param curves   must outlive this
  GroupOnFabric(const Fabric& fabric,
                std::vector<core::GpuId> members,
                const NetworkParameters& machine,
                std::span<const CollectiveCurve> curves);

  [[nodiscard]] const GroupShape& shape() const { return shape_; }

  /// The time of `collective_time`, run as the only flow on the links that it loads: the same where
  /// they carry it, longer where they do not.
  /// @throws core::Error if a path is missing, or as `emit_collective`
  TimeOnFabric time(const CollectiveCall& call);

 private:
  const Fabric& fabric_;
  std::vector<core::GpuId> members_;
  NetworkParameters machine_;
  std::span<const CollectiveCurve> curves_;
  GroupShape shape_;
  std::map<std::pair<core::CollectiveKind, Algorithm>, Footprint> footprints_;
};

}  // namespace headway::network
