// Names of GPUs as published tables write them, taken apart: no catalogue is asked.
#pragma once

#include <set>
#include <string>

#include "sim/validation/names/instance_names.h"

namespace headway::validation {

/// A GPU's name, taken apart.
struct GpuName {
  std::string model;      ///< "h100"
  std::string board;      ///< "sxm", "pcie", "nvl"; empty: not said
  double memory = 0;      ///< GB; 0: not said
  double power = 0;       ///< W; 0: not said
  double bandwidth = 0;   ///< of the memory [GB/s]; 0: not said
  std::string stacks;     ///< generation of the memory, "hbm2e"; empty: not said
  std::string second;     ///< another model of the catalogue that it names too; empty: none
  std::string unknown;    ///< words that say nothing that is known
  InstanceName instance;  ///< a cloud's that has this GPU; without a node: none
};

/// Models that a catalogue has: "h100", "mi300x".
using GpuModels = std::set<std::string>;

/// @param models  that words of the name are compared with first
GpuName read_gpu_name(const std::string& text, const GpuModels& models);

/// Models that are known by their names: those of the catalogue, and others that are sold.
const GpuModels& sold_gpus();

/// The model of which a catalogue's entry stands for boards that differ from it by little: "a10g"
/// is "a10"; any other is itself.
std::string nearest_gpu(const std::string& model);

/// Refuses what a cell names that is no GPU of the catalogue, whatever stands beside it: chips that
/// have no entry, and parts of a GPU.
/// @throws core::Error that names the cell
void check_chips(const std::string& cell);

}  // namespace headway::validation
