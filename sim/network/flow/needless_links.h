// Links that can never decide a rate, whichever flows are active: a solver need not look at them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/flow/fair_share.h"

namespace headway::network {

/// The same levels for every set of active flows, from fewer loads.
///
/// With M(l) the flows that ever use link l, w(f, l) a flow's load and c(l) the capacity, the level
/// at which filling would freeze a link is floor((c - taken by frozen flows) / loads of the
/// others).
///   1. No flow gets more than floor(c / w) of a link, so this is a bound of it, and where only one
///      flow uses the link the bound is all there is. (At that level the link freezes the flow,
///      too.)
///   2. Link a is needless if the bounds of its flows fit with room to spare: sum over M(a) of
///      (bound(f) + 1) w(f, a) <= c(a). Then a's level is always above the lowest bound of its
///      flows that are not frozen. Where all bounds are the same, sum of bound w <= c(a) does: a's
///      level is never below that bound, and where it is equal, it freezes what the bound does.
///   3. Link a is needless beside link b if M(a) lies within M(b) and w(f, a) / c(a) <= w(f, b) /
///      c(b) for all flows of a. Multiplied by c(b) / c(a), a's taken and remaining loads are at
///      most those of b, so a's level is at least b's, and b freezes all of a's flows. Of links
///      that are needless beside one another the first stays.
/// The quotients are compared as products of integers, so all three hold to the last bit.
///
/// @param changing  per link, whether its capacity may be set later: such links stay, and justify
///                  nothing
FairShareTables without_needless_links(FairShareTables tables, const std::vector<bool>& changing);

}  // namespace headway::network
