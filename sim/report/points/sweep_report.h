// The points of `headway sweep` as table, CSV, JSON lines, Markdown and JSON ("headway.sweep/1"),
// and what stands in the folder that keeps them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/table.h"
#include "sim/study/points/sweep.h"

namespace headway::report {

/// Behind the status of a point whose memory has no room (`memory_warning`).
inline constexpr const char* kNearlyFull = ", memory nearly full";

/// One JSON object; configs/schema/headway.sweep-1.json has its keys.
std::string sweep_json(const study::SweepReport& report);
/// A line a point: its number, its changes, status, reason, figures, digest.
std::string sweep_csv(const study::SweepReport& report);
/// A JSON object a line, as in `rows` of the JSON.
std::string sweep_lines(const study::SweepReport& report);
Document sweep_document(const study::SweepReport& report);

/// Rows of `sweep_lines`.
/// @param name  of the file, for complaints
/// @throws core::Error if a line is no row
std::vector<study::SweepRow> read_sweep_lines(const std::string& text, const std::string& name);

/// What a sweep is made from, as one JSON object, and how many shards it is cut into.
struct SweepManifest {
  study::SweepRequest request;
  std::string digest;
  std::int64_t shards = 1;
};
std::string sweep_manifest(const SweepManifest& manifest);
/// The file of a shard in the sweep's folder.
/// @param digest  of the sweep
std::string shard_file_name(const std::string& digest, std::int64_t shard, std::int64_t shards);
/// @throws core::Error if the text is none
SweepManifest read_sweep_manifest(const std::string& text, const std::string& name);

}  // namespace headway::report
