// Limits of a search: what a machine, a layout or a run misses, and by how much.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/entry.h"
#include "sim/plan/rejections.h"
#include "sim/plan/search.h"

namespace headway::plan {

/// Of a limit that says no more than that it is missed. Source: every limit that says more is
/// nearer.
inline constexpr double kUnknownDistance = std::numeric_limits<double>::infinity();

/// A limit that is missed.
struct MissedLimit {
  std::string kind, reason;
  double distance = kUnknownDistance;  ///< relative
  std::string text;                    ///< by how much; empty: the reason says it
};

/// Racks of the job's nodes and of the spares that stand anywhere; those of the racks are in them.
std::int64_t racks_of(const training::Scenario& s);

/// The limit that is missed by most, with by how much each of `all` is; nothing where none is.
std::optional<MissedLimit> furthest(const std::vector<MissedLimit>& all);

/// Why no layout of this machine is looked at; nothing if some are.
std::optional<MissedLimit> machine_limit(const training::Scenario& s, const Limits& limits);

/// Drops layouts that miss a limit even if nothing fails.
void drop_beyond_limits(const training::Scenario& s,
                        const Limits& limits,
                        std::vector<Entry>& entries,
                        Rejections& rejected);

/// Of the limits that the plan's campaign misses, or its machine with the spares that were chosen,
/// the one that it misses by most.
std::optional<MissedLimit> missed_limit(const Plan& plan, const Limits& limits);

/// Limits again, now that the campaign has said what failures and checkpoints add.
void drop_late_and_dear(const Limits& limits, std::vector<Plan>& plans, Rejections& rejected);

}  // namespace headway::plan
