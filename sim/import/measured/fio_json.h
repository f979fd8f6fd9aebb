// Reads what `fio --output-format=json` prints: rates of reading, writing and syncing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway::import {

enum class FioDirection : std::uint8_t { read, write, sync };

/// One direction of one job (or of a group of jobs that fio reported together).
struct FioTiming {
  std::string job;  ///< its name
  FioDirection direction = FioDirection::read;
  int streams = 1;                ///< numjobs x iodepth where the options say so
  bool direct = false;            ///< past the page cache (direct=1)
  double bytes = 0;               ///< moved in all; 0 for sync
  double seconds = 0;             ///< run time; for sync: mean latency of one
  double bytes_per_s = 0;         ///< as fio states it
  double spread_bytes_per_s = 0;  ///< standard deviation of fio's samples of the rate
  std::int64_t operations = 0;
};

/// @throws core::Error naming the line: no JSON, no `jobs`, a job that failed, one without figures
std::vector<FioTiming> read_fio_json(std::string_view text, const std::string& file_name);

}  // namespace headway::import
