// An encoder of images in the analytic tier: read off the probes of its language model.
#pragma once

#include <vector>

#include "sim/analytic/costs.h"
#include "sim/analytic/probe.h"

namespace headway::analytic {

/// Which part of an encoder's pass a call is: its runs `first` .. `first + repeat`, counted in the
/// order of the calls.
PassPart encoder_part(int first, int repeat);

/// An encoder's passes on one stage of a probe; nothing without one.
void add_encoder(const Probe& probe, int stage, RankCosts& costs);

}  // namespace headway::analytic
