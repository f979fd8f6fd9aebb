// Settings of NeMo that no row of its table reads, and what NeMo 2 calls those that rows do.
#pragma once

#include <span>
#include <string_view>

#include "sim/import/launch/launch_table.h"

namespace headway::import {

inline constexpr std::string_view kNemoAsync = "exp_manager.checkpoint_callback_params.async_save";

/// Settings without effect on time.
std::span<const std::string_view> nemo_no_effect();
/// Those that change it and have no place in a scenario.
std::span<const NotModelled> nemo_not_modelled();
/// NeMo 2's names.
std::span<const OtherName> nemo_2_names();

}  // namespace headway::import
