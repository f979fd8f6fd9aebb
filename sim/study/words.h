// How quantities of a run are called in sentences and tables.
#pragma once

#include <string_view>

#include "sim/campaign/result.h"
#include "sim/core/activity.h"

namespace headway::study {

/// As in "the step is limited by ...".
std::string_view in_words(core::Activity activity);
std::string_view in_words(campaign::Account account);

}  // namespace headway::study
