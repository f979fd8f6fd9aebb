// How firm the choice of a plan is, as people read it.
#pragma once

#include "sim/report/table.h"
#include "sim/study/verdict/choice.h"

namespace headway::report {

/// A row for each change of an input at which another plan wins, and one for each input of which no
/// change does that.
Table choice_table(const study::Choice& choice);

}  // namespace headway::report
