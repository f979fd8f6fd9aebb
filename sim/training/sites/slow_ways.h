// A cluster whose sites have slower ways to one another.
#pragma once

#include "sim/training/scenario.h"

namespace headway::training {

/// The same scenario with all ways between sites at `keeps` of their bandwidth. The ring between
/// sites goes at the pace of its slowest way, so that all are taken to be slow where one is.
inline Scenario with_slow_ways(Scenario scenario, double keeps) {
  scenario.cluster.sites->bandwidth *= keeps;
  return scenario;
}

}  // namespace headway::training
