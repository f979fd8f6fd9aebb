// The scenario that `headway init` writes, for a model and a number of GPUs.
#pragma once

#include <string>

#include "sim/config/load.h"
#include "sim/workload/model_spec.h"

namespace headway::apps {

/// A server of the catalogue.
struct Server {
  std::string entry;
  int gpus = 8;
  std::string card;                ///< bandwidth of each network card, as written
  std::string gpu;                 ///< name of its GPUs
  std::string precision = "bf16";  ///< fp16 where they have no bf16
  std::string prices, priced;      ///< entry of what they cost on demand and of which; or empty
};

/// A node that has the GPU: the maker's own before others.
/// @param gpu  entry of the catalogue, or the beginning of one: "h100"
/// @throws core::Error if the catalogue has no such GPU, or no node with it
Server server_with(const std::string& gpu);

/// A model that somebody named.
struct NamedModel {
  std::string entry;  ///< of the catalogue; empty: a file of Hugging Face
  std::string line;   ///< as a scenario names it
  std::string name;
  workload::ModelSpec spec;
  std::vector<std::string> remarks;  ///< on how a file was read, a sentence each
};

/// @param word  entry of the catalogue, or "hf:" and the path of a config.json
/// @throws core::Error if there is none
NamedModel named_model(const std::string& word);

/// The entry of `kind` that `word` means: itself, or the plainest of those that begin with it.
/// @throws core::Error if there is none
config::CatalogueEntry entry_of(const std::string& kind, const std::string& word);

/// What `headway init` may be told; empty or 0: its example, Llama 3.1 8B on 128 H100.
struct StarterChoice {
  std::string model;  ///< entry of the catalogue, or "hf:" and the path of a config.json
  std::string gpu;    ///< entry of the catalogue, or the beginning of one: "h100"
  int gpus = 0;
  std::string name;      ///< printed in reports
  std::string adapters;  ///< an adapter_config.json of Hugging Face PEFT; empty: all is trained
};

/// A scenario to start from.
struct Starter {
  std::string text;
  std::vector<std::string> remarks;  ///< on how the model's file was read, a sentence each
};

/// A commented scenario that passes `headway check`: nodes of the catalogue that have the GPU, a
/// fabric as fast as their cards, of the layouts that leave memory free (zero3 only if nothing else
/// does) the fastest by the analytic tier, a global batch of 4 to 16 million tokens (more
/// where replicas ask for it) that all replicas share evenly, and as many spares as keep the run
/// from waiting for one 1 % of its time.
/// @throws core::Error if the catalogue has no such model or GPU, or the GPUs fill no whole nodes
/// @throws core::Infeasible if no layout keeps every rule and leaves memory free
Starter starter(const StarterChoice& choice);

}  // namespace headway::apps
