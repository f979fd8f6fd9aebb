// How likely causes are before any figure of a log is weighed.
#pragma once

#include "sim/study/diagnose/cause.h"
#include "sim/study/evidence/evidence.h"

namespace headway::study {

/// How likely two causes at once are, any two, beside a single one. Judged: with the eleven causes
/// of a job on one site all pairs together are about as likely as one of these.
inline constexpr double kPairOfCauses = 0.02;
/// How likely it is that a setting of the software, which a process has from its start, made steps
/// slower that once were faster in the same run, beside what can begin on the way. Judged: it takes
/// a log that leaves the restart out.
inline constexpr double kSettingMidway = 0.01;

/// The logarithm of how likely a cause, or two, are before, beside a single cause, `none` or
/// `unlisted`. Of a pair one cause may have been there from the start.
double log_prior(const Hypothesis& hypothesis, const Evidence& evidence);

}  // namespace headway::study
