#include "apps/headway/sweep/sweep_folder.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/report/points/sweep_report.h"

#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/report_file.h"
#include "apps/headway/sweep/work_folder.h"

namespace headway::apps {

namespace {

namespace fs = std::filesystem;

/// Points of a shard where one process does all: so many are lost at most when it is stopped.
constexpr std::size_t kPointsPerShard = 8;
constexpr std::int64_t kMostShards = 10'000;

constexpr const char* kSweepFile = "sweep.json";

report::SweepManifest read_manifest(const fs::path& folder) {
  const fs::path file = folder / kSweepFile;
  if (!fs::exists(file) && WorkFolder::is_one(folder.string())) {
    throw core::Error(WorkFolder::no_sweep(folder.string()));
  }
  return report::read_sweep_manifest(core::read_file(file, core::kLargestMeasurement),
                                     file.string());
}

std::int64_t usual_shards(std::size_t points) {
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>((points + kPointsPerShard - 1) / kPointsPerShard), 1, kMostShards);
}

ShardedText sharded(const study::Sweep& sweep, std::int64_t shards) {
  ShardedText text;
  text.manifest = kSweepFile;
  text.digest = sweep.digest();
  text.asked = shards;
  text.usual = usual_shards(sweep.points().size());
  text.text = [&sweep](std::int64_t count) {
    report::SweepManifest manifest{sweep.request(), sweep.digest(), count};
    manifest.request.file = fs::absolute(manifest.request.file).string();
    return report::sweep_manifest(manifest);
  };
  text.read = [](const std::string& file, const std::string& name) {
    const auto known = report::read_sweep_manifest(file, name);
    return std::pair(known.digest, known.shards);
  };
  return text;
}

}  // namespace

SweepFolder::SweepFolder(fs::path folder, const study::Sweep& sweep, std::int64_t shards)
    : sweep_(sweep), folder_(std::move(folder), sharded(sweep, shards)) {}

study::Sweep SweepFolder::open(const fs::path& folder) {
  const auto manifest = read_manifest(folder);
  study::Sweep sweep(manifest.request, config_roots(), true);
  if (sweep.digest() != manifest.digest) {
    throw core::Error(fmt::format(
        "{}: the sweep was begun as {}, here its scenario reads as {}: a catalogue entry or "
        "another "
        "file that it uses differs; make both installations equal, or begin the sweep anew",
        (folder / kSweepFile).string(), manifest.digest, sweep.digest()));
  }
  return sweep;
}

void SweepFolder::complete(const std::vector<std::int64_t>& shards,
                           const CommonOptions& options) const {
  std::vector<std::size_t> points;
  std::map<std::int64_t, std::vector<study::SweepRow>> rows;
  std::map<std::int64_t, std::size_t> left;
  const auto write = [&](std::int64_t shard) {
    study::SweepReport part;
    part.rows = std::move(rows[shard]);
    std::sort(part.rows.begin(), part.rows.end(),
              [](const auto& a, const auto& b) { return a.point < b.point; });
    folder_.write(shard, report::sweep_lines(part));
    rows.erase(shard);
  };
  for (const std::int64_t shard : shards) {
    const auto of_shard = study::shard_points(sweep_.points().size(), this->shards(), shard);
    points.insert(points.end(), of_shard.begin(), of_shard.end());
    left[shard] = of_shard.size();
    if (of_shard.empty()) {
      write(shard);
    }
  }
  simulate_points(sweep_, points, options, [&](const study::SweepRow& row) {
    const std::int64_t shard = row.point % this->shards() + 1;
    rows[shard].push_back(row);
    if (--left[shard] == 0) {
      write(shard);
    }
  });
}

std::vector<study::SweepRow> SweepFolder::rows() const {
  std::vector<study::SweepRow> rows;
  for (std::int64_t shard = 1; shard <= shards(); ++shard) {
    const fs::path file = folder_.file(shard);
    if (!fs::exists(file)) {
      continue;
    }
    const auto part =
        report::read_sweep_lines(core::read_file(file, core::kLargestMeasurement), file.string());
    const auto points = study::shard_points(sweep_.points().size(), shards(), shard);
    const bool whole = std::equal(part.begin(), part.end(), points.begin(), points.end(),
                                  [](const study::SweepRow& row, std::size_t point) {
                                    return row.point == static_cast<std::int64_t>(point);
                                  });
    if (!whole) {
      throw core::Error(
          fmt::format("{} does not have the points of its shard; remove it, and they "
                      "are simulated again",
                      file.string()));
    }
    rows.insert(rows.end(), part.begin(), part.end());
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.point < b.point; });
  return rows;
}

std::vector<study::SweepRow> simulate_points(
    const study::Sweep& sweep,
    const std::vector<std::size_t>& points,
    const CommonOptions& options,
    const std::function<void(const study::SweepRow& row)>& done) {
  Progress progress(options);
  progress.phase("simulating points");
  study::SweepOptions how{options.threads, options.fold,
                          validation::load_known_errors(config_roots())};
  how.spread = !done;                 // shards are to be whole soon
  std::vector<study::SweepRow> best;  // of those done so far: at most one
  how.progress = [&](std::size_t finished, std::size_t total, const study::SweepRow& row) {
    if (done) {
      done(row);
    }
    best.push_back(row);
    const study::SweepRow* first = study::best_row(best, sweep.best(), sweep.best_is());
    best = first == nullptr ? std::vector<study::SweepRow>{} : std::vector{*first};
    if (!best.empty()) {
      progress.note(fmt::format("best: point {}", best.front().point));
    }
    progress.count(finished, total);
  };
  return sweep.rows(points, how);
}

int deliver_sweep(const CommonOptions& options, const study::SweepReport& report) {
  OutFile shown = options.format == "jsonl" ? OutFile{options.out, report::sweep_lines(report)}
                                            : printed(report, options, report::sweep_json,
                                                      report::sweep_csv, report::sweep_document);
  deliver(options,
          with_report(options, std::move(shown), [&] { return report::sweep_json(report); }));
  return study::exit_code(report);
}

}  // namespace headway::apps
