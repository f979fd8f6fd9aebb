// The collectives part: one thread a GPU, as training has one process a GPU, so that no rank waits
// for another's launches.
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>
#include <unistd.h>

#include "calibrate/measure/parts/rank_worker.h"

namespace headway::measure {

namespace {

/// GPUs of this process: its own if there are several processes on the host, else all.
std::vector<int> local_devices(const Bench& bench) {
  if (bench.options.one_gpu_a_process) {
    return {bench.options.device};
  }
  int count = 0;
  MEASURE_CUDA(cudaGetDeviceCount(&count));
  std::vector<int> all;
  for (int device = 0; device < count; ++device) {
    all.push_back(device);
  }
  return all;
}

std::string host_name() {
  std::array<char, 256> text{};
  return gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "unknown";
}

std::string rendezvous_folder(const BenchOptions& options) {
  if (options.ranks == 1) {
    return "";  // nobody to meet
  }
  const std::string base = options.rendezvous.empty()
                               ? std::filesystem::absolute(options.out).parent_path().string()
                               : options.rendezvous;
  return base + "/headway-rendezvous";
}

/// The world's unique id on every process, and who is where.
Roster find_each_other(const CollectiveRun& run, int gpus) {
  const BenchOptions& options = run.bench.options;
  std::string payload;
  if (options.rank == 0) {
    ncclUniqueId id{};
    MEASURE_NCCL(run.nccl, run.nccl.unique_id(&id));
    payload.assign(id.internal, sizeof id.internal);
  }
  constexpr double kPatience = 120;
  return meet(rendezvous_folder(options), options.rank, options.ranks, {host_name(), gpus}, payload,
              kPatience);
}

/// A rank that fails leaves the others waiting in NCCL's kernels: their communicators are aborted.
void abort_others(CollectiveRun& run) {
  const std::lock_guard lock(run.mutex);
  for (ncclComm_t communicator : run.communicators) {
    static_cast<void>(run.nccl.abort(communicator));
  }
  run.communicators.clear();
}

void run_ranks(CollectiveRun& run, const std::vector<int>& devices, int first_rank) {
  std::atomic<std::size_t> finished = 0;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        run_rank(run, first_rank + static_cast<int>(i), devices[i]);
      } catch (const std::exception& error) {
        const std::lock_guard lock(run.mutex);
        run.failure = run.failure.empty() ? error.what() : run.failure;
        run.failed = true;
      }
      ++finished;
    });
  }
  while (finished < devices.size()) {
    if (run.failed) {
      abort_others(run);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void measure_groups(const GpuBench& gpu, const Nccl& nccl) {
  Bench& bench = gpu.bench;
  const std::vector<int> devices = local_devices(bench);
  CollectiveRun run(nccl, gpu);
  const Roster roster = find_each_other(run, static_cast<int>(devices.size()));
  std::memcpy(run.id.internal, roster.payload.data(), sizeof run.id.internal);
  int first_rank = 0;
  for (std::size_t i = 0; i < roster.processes.size(); ++i) {
    first_rank += static_cast<int>(i) < bench.options.rank ? roster.processes[i].gpus : 0;
  }
  const auto nodes = ranks_by_node(roster.processes);
  run.world = 0;
  for (const auto& node : nodes) {
    run.world += static_cast<int>(node.size());
  }
  if (run.world < 2) {
    bench.left_out("collectives", "one GPU");
    return;
  }
  run.groups = group_cases(nodes, bench.options.quick);
  run.sizes = message_sizes(bench.options.quick, bench.options.tiny);
  run.may_stop = bench.options.ranks == 1;
  run_ranks(run, devices, first_rank);
  MEASURE_CUDA(cudaSetDevice(bench.options.device));
  bench.wrong_results += run.wrong_elsewhere;
  if (run.failed) {
    throw GpuError("collectives: " + run.failure);
  }
}

}  // namespace

void measure_collectives_with(const GpuBench& gpu, const Nccl& nccl) {
  gpu.bench.fact("nccl", version_text(nccl));
  measure_groups(gpu, nccl);
}

void measure_collectives(const GpuBench& gpu) {
  std::unique_ptr<Nccl> nccl;
  try {
    nccl = open_nccl();
  } catch (const std::runtime_error& error) {
    gpu.bench.left_out("collectives", error.what());
    return;
  }
  measure_collectives_with(gpu, *nccl);
}

}  // namespace headway::measure
