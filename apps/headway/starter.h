// The scenario that `headway init` writes, for a model and a number of GPUs.
#pragma once

#include <string>

namespace headway::apps {

/// What `headway init` may be told; empty or 0: its example, Llama 3.1 8B on 128 H100.
struct StarterChoice {
  std::string model;  ///< entry of the catalogue, or "hf:" and the path of a config.json
  std::string gpu;    ///< entry of the catalogue, or the beginning of one: "h100"
  int gpus = 0;
  std::string name;  ///< printed in reports
};

/// A commented scenario that passes `headway check`: nodes of the catalogue that have the GPU, a
/// fabric as fast as their cards, the fewest GPUs a replica that leave memory free (with full
/// recompute if nothing else fits), a global batch that all replicas share evenly.
/// @throws core::Error if the catalogue has no such model or GPU, or the GPUs fill no whole nodes
/// @throws core::Infeasible if no layout keeps every rule and leaves memory free
std::string starter_text(const StarterChoice& choice);

}  // namespace headway::apps
