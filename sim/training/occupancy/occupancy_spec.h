// Who else is on a cluster's fabric: nodes that are out of order, jobs of others and their traffic.
#pragma once

#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/core/units.h"

namespace headway::training {

/// Who sends to whom in a job of others.
enum class TrafficPattern { ring, all_to_all };
constexpr auto enum_words(TrafficPattern) {
  using E = core::EnumWord<TrafficPattern>;
  return std::array{E{TrafficPattern::ring, "ring"}, E{TrafficPattern::all_to_all, "all_to_all"}};
}

/// A job of others: traffic that lasts as long as anybody looks.
struct OtherJobSpec {
  std::string name;
  std::vector<std::string> nodes;
  TrafficPattern pattern = TrafficPattern::ring;
  core::BytesPerSecond rate;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Name printed in reports.");
    v.required("nodes", nodes, "Its nodes: numbers from 0, and ranges such as 0-7.");
    v.optional("pattern", pattern,
               "ring: each node sends to the next one of the list (data-parallel gradients); "
               "all_to_all: to all others alike (experts).");
    v.required("rate", rate,
               "What each of its nodes sends into the fabric while nothing is in the way, over all "
               "its cards, without a pause.",
               core::link_rate);
  }
  bool operator==(const OtherJobSpec&) const = default;
};

/// A fabric that is larger than the job, and what of it is taken.
struct OccupancySpec {
  int nodes = 1;
  std::vector<std::string> down;
  std::vector<OtherJobSpec> jobs;
  std::vector<std::string> take;
  template <class V>
  void fields(V& v) {
    v.required("nodes", nodes, "Nodes of the whole fabric.", core::from_one_to_16m);
    v.optional("down", down,
               "Nodes that are out of order: numbers from 0, and ranges such as 0-7.");
    v.optional("jobs", jobs, "Jobs of others: nodes that are taken, and what they send.");
    v.optional("take", take,
               "Nodes that this job takes, in the order in which its ranks fill them; empty: the "
               "first that are free.");
  }
  bool operator==(const OccupancySpec&) const = default;
};

}  // namespace headway::training
