// Layers of single halves, written as letters: Nemotron-H's configuration and Megatron-LM's
// arguments write them alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/model_spec.h"

namespace headway::import {

/// What a text of letters says: a letter a layer, M Mamba-2, * attention, - an MLP, E experts; "|"
/// ends a chunk of a pipeline stage; behind each "/" the layers of one prediction module.
/// Source: Megatron-LM, megatron/core/models/hybrid/hybrid_layer_allocation.py, 2026.
struct LetteredLayers {
  std::vector<workload::LayerContent> layers;
  std::vector<int> chunks;  ///< layers between "|"; empty: there is none
  int predictions = 0;
  std::string problem;  ///< what is wrong; empty: all of it is known
};
LetteredLayers read_layer_letters(std::string_view text);

/// The same of a list of words: mamba, attention, mlp, moe.
LetteredLayers read_half_words(const std::vector<std::string>& words);

/// Why prediction modules of such layers cannot be described; empty if they can: attention, and
/// then experts where the model has any, else an MLP.
std::string prediction_problem(const std::vector<workload::LayerContent>& layers, bool experts);

/// The letters of a model, "|" after each of `chunks` but the last and "/*E" for each prediction
/// module; empty where a layer is no single half, or has a mixer other than Mamba-2.
std::string layer_letters(const workload::ModelSpec& model, const std::vector<int>& chunks);

/// The shortest list that gives these layers when it is repeated.
std::vector<workload::LayerContent> shortest_pattern(
    const std::vector<workload::LayerContent>& layers);

}  // namespace headway::import
