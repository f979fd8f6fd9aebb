// Settings of torchtitan that no row of its table reads.
#pragma once

#include <span>
#include <string_view>

#include "sim/import/launch/launch_table.h"

namespace headway::import {

/// Settings without effect on time.
std::span<const std::string_view> titan_no_effect();
/// Those that change it and have no place in a scenario.
std::span<const NotModelled> titan_not_modelled();

}  // namespace headway::import
