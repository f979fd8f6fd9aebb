// Reads what monitors print of GPUs: `nvidia-smi dmon`, `dcgmi dmon`, `nvidia-smi --query-gpu ...
// --format=csv`, and tables of DCGM's fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway::import {

/// One GPU over the time that was watched: means of the samples in which it worked (half of its
/// own largest power or more, where power is there). Zero: not in the file.
struct WatchedGpu {
  std::string node;  ///< empty: the file does not say
  std::string gpu;   ///< its index, or as the file calls it
  double power_w = 0;
  double sm_clock_mhz = 0;
  double temperature_c = 0;
  int samples = 0;
  std::string model;   ///< "NVIDIA H100 80GB HBM3"; empty: not in the file
  int model_line = 0;  ///< of the file, from 1
};

/// Columns are known by their names: power (`pwr`, `POWER`, `power.draw [W]`, its mean,
/// `DCGM_FI_DEV_POWER_USAGE`), SM clock (`pclk`, `SMCLK`, `clocks.sm [MHz]`, `clocks.current.sm
/// [MHz]`, `DCGM_FI_DEV_SM_CLOCK`; without one the graphics clock, `clocks.gr [MHz]`), temperature,
/// the GPU (`gpu`, `Entity`, `index`, `uuid`), what it is called (`name`, `gpu_name`,
/// `modelName`), the node (`hostname`, `node`, `host`); others are passed over.
/// A last line that is cut off, as an interrupt leaves it, is passed over.
/// @param remarks  told what was passed over; may be null
/// @throws core::Error naming the file or the line: no heading with a known column, a cell that is
/// no number, no sample
std::vector<WatchedGpu> read_gpu_monitor(std::string_view text,
                                         const std::string& file_name,
                                         std::vector<std::string>* remarks = nullptr);

/// Whether the text has the heading of one of these.
bool is_gpu_monitor(std::string_view text);

}  // namespace headway::import
