// Files that other tools wrote. These tests are registered only where the folder is.
#pragma once

#include <string>

#include "tests/import/read_file.h"

namespace headway::import {

inline const std::string kExternal = HEADWAY_EXTERNAL_DATA "/";
inline const std::string kLog = kExternal + "NVIDIA-dgxc-benchmarking/nccl/all_reduce_8xH100.log";

}  // namespace headway::import
