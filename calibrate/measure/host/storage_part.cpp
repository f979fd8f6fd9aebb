// The storage part of a measurement: which folders, how many streams, how many bytes.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

#include "calibrate/measure/host/storage.h"
#include "calibrate/measure/host/summary.h"

namespace headway::measure {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// Bytes of a whole run: enough that the device's own cache does not decide, never over a quarter
/// of what is free. A multiple of streams x block.
std::uint64_t run_bytes(const Bench& bench, const std::string& folder) {
  const std::uint64_t wanted = bench.options.tiny    ? 4 * kMiB
                               : bench.options.quick ? 1024 * kMiB
                                                     : 8192 * kMiB;
  return std::min(wanted, std::filesystem::space(folder).available / 4);
}

fit::Sample storage_sample(const char* op, const StorageRun& run, bool direct) {
  fit::Sample sample;
  sample.kind = fit::SampleKind::storage;
  sample.op = op;
  sample.variant = direct ? run.folder : run.folder + " (page cache)";
  sample.streams = run.streams;
  sample.bytes = static_cast<double>(run.bytes_per_stream) * run.streams;
  return sample;
}

void measure_run(Bench& bench, const StorageRun& run) {
  std::vector<double> write, sync, read;
  bool direct = true, right = true;
  for (int repeat = 0; repeat < 3 && (repeat == 0 || bench.time_left()); ++repeat) {
    bench.progress.step(fmt::format("storage {} x {:.0f} MiB", run.streams,
                                    static_cast<double>(run.bytes_per_stream / kMiB)));
    const StorageTimes times = time_storage(run);
    write.push_back(times.write_s + times.sync_s);
    sync.push_back(times.sync_s);
    read.push_back(times.read_s);
    direct = direct && times.direct;
    right = right && times.right;
  }
  const auto add = [&](const char* op, const std::vector<double>& seconds) {
    fit::Sample sample = storage_sample(op, run, direct);
    record_timing(summarize(seconds), sample);
    if (!right) {
      sample.add(fit::SampleFlag::wrong);
    }
    bench.add(std::move(sample));
  };
  add("write", write);  // until durable
  add("sync", sync);    // the share of it after the last write call
  add("read", read);
}

void measure_entries(Bench& bench, const std::string& folder) {
  std::vector<double> seconds;
  for (int i = 0; i < (bench.options.tiny ? 3 : 50) && (i == 0 || bench.time_left()); ++i) {
    seconds.push_back(time_metadata(folder));
  }
  StorageRun one;
  one.folder = folder;
  fit::Sample sample = storage_sample("metadata", one, true);
  sample.bytes = 4096;
  record_timing(summarize(seconds), sample);
  bench.add(std::move(sample));
}

}  // namespace

void measure_storage(Bench& bench) {
  std::vector<std::string> folders = bench.options.storage_paths;
  if (folders.empty()) {
    folders.push_back(std::filesystem::absolute(bench.options.out).parent_path().string());
  }
  for (const std::string& folder : folders) {
    try {
      const std::uint64_t bytes = run_bytes(bench, folder);
      for (const int streams : {1, 4, 16}) {
        if (!bench.time_left()) {
          bench.left_out("storage " + folder, fmt::format("{} streams: no time left", streams));
          break;
        }
        StorageRun run;
        run.folder = folder;
        run.streams = streams;
        run.block = bench.options.tiny ? kMiB / 4 : 16 * kMiB;
        run.bytes_per_stream = bytes / static_cast<std::uint64_t>(streams) / run.block * run.block;
        if (run.bytes_per_stream > 0) {
          measure_run(bench, run);
        } else {
          bench.left_out("storage " + folder,
                         fmt::format("{} streams: too little free space", streams));
        }
      }
      measure_entries(bench, folder);
    } catch (const std::exception& error) {
      bench.left_out("storage " + folder, error.what());
    }
  }
}

}  // namespace headway::measure
