// A file that starts a training framework becomes a scenario.
#pragma once

#include <string>
#include <vector>

#include "apps/headway/options.h"

namespace headway::apps {

/// What the command line adds to a launch file.
struct LaunchArguments {
  std::string format;  ///< "megatron-args", ...
  std::string file;
  std::string name;         ///< of the scenario; empty: the file's
  std::string model;        ///< entry or hf:config.json; empty: what the file says
  std::string cluster;      ///< entry; empty: DGX nodes of `gpu`
  std::string gpu;          ///< entry of its GPU; empty: h100-sxm
  std::string framework;    ///< entry of the software; empty: the tool's own
  int gpus = 0;             ///< 0: what the file says
  int sequence_length = 0;  ///< 0: what the file says
};

/// The formats of launch files: "megatron-args", ...
std::vector<std::string> launch_formats();

/// The text of a scenario: first, in comments, what was assumed, not modelled, not known and is
/// still missing; the same is said on standard error.
/// @throws core::Error for what contradicts, at the lines of the file
std::string launch_text(const LaunchArguments& given, const CommonOptions& options);

}  // namespace headway::apps
