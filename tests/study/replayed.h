// What the tests of replayed traces share.
#pragma once

#include "sim/config/load.h"
#include "sim/import/chakra/chakra.h"

namespace headway::study {

inline constexpr auto kAllReduce = import::ChakraCollective::all_reduce;
inline constexpr double kTick = 1e-12;
inline const config::LoadOptions kCatalogue{{HEADWAY_SOURCE_DIR "/configs"}, {}};

}  // namespace headway::study
