#include "apps/headway/options.h"

namespace headway::apps {

std::filesystem::path source_configs() { return HEADWAY_SOURCE_CONFIGS; }

}  // namespace headway::apps
