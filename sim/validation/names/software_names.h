// Names of training software that no published run was compared with.
#pragma once

#include <string>

namespace headway::validation {

/// The profile that stands in for software of these words, in small letters: that of its family.
/// Empty: no family is known.
/// @param old_megatron  profile of the year's Megatron-LM with kernels of its own
std::string stand_in_profile(const std::string& words, const std::string& old_megatron);

}  // namespace headway::validation
