// NVLink domains (and their like) that are larger than any that somebody describes.
#pragma once

#include <optional>
#include <string>

#include "sim/training/cluster_spec.h"

namespace headway::training {

/// What to say of a domain of so many GPUs if it is larger than any that public sources of such
/// GPUs describe: it is simulated as what the scenario says, one tier of switches that carry all
/// that GPUs send, but nobody has shown such a thing. Nothing for GPUs without such sources here.
/// @param domain_gpus  of a whole domain, filled or not
std::optional<std::string> domain_warning(const ClusterSpec& cluster, int domain_gpus);

}  // namespace headway::training
