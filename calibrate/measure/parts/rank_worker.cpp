#include "calibrate/measure/parts/rank_worker.h"

#include <algorithm>
#include <cmath>

#include "calibrate/measure/cuda/device_memory.h"
#include "calibrate/measure/cuda/kernels.h"
#include "calibrate/measure/cuda/timing.h"
#include "calibrate/measure/parts/overlap.h"

namespace headway::measure {

namespace {

using core::CollectiveKind;

constexpr CollectiveKind kKinds[] = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                     CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
                                     CollectiveKind::send_receive,   CollectiveKind::broadcast};
constexpr int kElement = 2;  // bf16

class RankWorker {
 public:
  RankWorker(CollectiveRun& run, int global_rank) : run_(run), nccl_(run.nccl), rank_(global_rank) {
    stream_ = new_stream();
    MEASURE_NCCL(nccl_, nccl_.init_rank(&world_, run.world, run.id, global_rank));
    keep(world_);
    const std::uint64_t largest = run.sizes.back();
    send_ = device_buffer(2 * largest);
    receive_ = device_buffer(2 * largest);
    token_ = device_buffer(sizeof(float));
  }

  void run_all() {
    for (const GroupCase& group : run_.groups) {
      run_group(group);
    }
    forget(world_);
    MEASURE_NCCL(nccl_, nccl_.destroy(world_));
  }

 private:
  void keep(ncclComm_t communicator) {
    const std::lock_guard lock(run_.mutex);
    run_.communicators.push_back(communicator);
  }
  void forget(ncclComm_t communicator) {
    const std::lock_guard lock(run_.mutex);
    std::erase(run_.communicators, communicator);
  }
  [[nodiscard]] bool records() const { return rank_ == 0; }

  /// Splits the world; ranks outside the group only take part in the split.
  void run_group(const GroupCase& group) {
    const auto place = std::find(group.members.begin(), group.members.end(), rank_);
    const bool member = place != group.members.end();
    ncclComm_t communicator = nullptr;
    MEASURE_NCCL(
        nccl_, nccl_.split(world_, member ? 0 : NCCL_SPLIT_NOCOLOR, rank_, &communicator, nullptr));
    if (!member) {
      return;
    }
    keep(communicator);
    communicator_ = communicator;
    group_rank_ = static_cast<int>(place - group.members.begin());
    group_ranks_ = static_cast<int>(group.members.size());
    for (const CollectiveKind kind : kKinds) {
      for (const std::uint64_t bytes : run_.sizes) {
        if (!time_left()) {
          break;
        }
        measure(group, kind, bytes);
      }
    }
    if (&group == &run_.groups.front() && run_.cublas != nullptr) {
      measure_beside_product(group);
    }
    forget(communicator);
    MEASURE_NCCL(nccl_, nccl_.destroy(communicator));
  }

  /// Rank 0 looks at the clock and tells the others, so that all stop at the same call.
  bool time_left() {
    if (!run_.may_stop) {
      return true;
    }
    float stop = records() && !run_.bench.time_left() ? 1 : 0;
    cudaStream_t stream = stream_.get();
    MEASURE_CUDA(cudaMemcpyAsync(token_.get(), &stop, sizeof stop, cudaMemcpyHostToDevice, stream));
    MEASURE_NCCL(nccl_, nccl_.broadcast(token_.get(), token_.get(), 1, ncclFloat32, 0,
                                        communicator_, stream));
    MEASURE_CUDA(cudaMemcpyAsync(&stop, token_.get(), sizeof stop, cudaMemcpyDeviceToHost, stream));
    MEASURE_CUDA(cudaStreamSynchronize(stream));
    return stop == 0;
  }

  void enqueue(CollectiveKind kind, const ElementCounts& counts) {
    const ncclDataType_t type = ncclBfloat16;
    void *send = send_.get(), *receive = receive_.get();
    cudaStream_t stream = stream_.get();
    switch (kind) {
      case CollectiveKind::all_reduce:
        MEASURE_NCCL(nccl_, nccl_.all_reduce(send, receive, counts.send, type, ncclSum,
                                             communicator_, stream));
        break;
      case CollectiveKind::all_gather:
        MEASURE_NCCL(nccl_,
                     nccl_.all_gather(send, receive, counts.send, type, communicator_, stream));
        break;
      case CollectiveKind::reduce_scatter:
        MEASURE_NCCL(nccl_, nccl_.reduce_scatter(send, receive, counts.receive, type, ncclSum,
                                                 communicator_, stream));
        break;
      case CollectiveKind::broadcast:
        MEASURE_NCCL(nccl_,
                     nccl_.broadcast(send, receive, counts.send, type, 0, communicator_, stream));
        break;
      case CollectiveKind::all_to_all:
        enqueue_all_to_all(counts);
        break;
      case CollectiveKind::send_receive:  // round a ring, as nccl-tests' sendrecv
        MEASURE_NCCL(nccl_, nccl_.group_start());
        MEASURE_NCCL(nccl_, nccl_.send(send, counts.send, type, (group_rank_ + 1) % group_ranks_,
                                       communicator_, stream));
        MEASURE_NCCL(nccl_, nccl_.receive(receive, counts.receive, type,
                                          (group_rank_ + group_ranks_ - 1) % group_ranks_,
                                          communicator_, stream));
        MEASURE_NCCL(nccl_, nccl_.group_end());
        break;
    }
  }

  void enqueue_all_to_all(const ElementCounts& counts) {
    const std::uint64_t share = counts.send / static_cast<std::uint64_t>(group_ranks_);
    MEASURE_NCCL(nccl_, nccl_.group_start());
    for (int other = 0; other < group_ranks_; ++other) {
      const std::uint64_t offset = static_cast<std::uint64_t>(other) * share * kElement;
      MEASURE_NCCL(nccl_, nccl_.send(static_cast<char*>(send_.get()) + offset, share, ncclBfloat16,
                                     other, communicator_, stream_.get()));
      MEASURE_NCCL(nccl_, nccl_.receive(static_cast<char*>(receive_.get()) + offset, share,
                                        ncclBfloat16, other, communicator_, stream_.get()));
    }
    MEASURE_NCCL(nccl_, nccl_.group_end());
  }

  /// Whether entries of the result are what they must be: the first, the last, random ones.
  bool is_right(CollectiveKind kind, const ElementCounts& counts) {
    cudaStream_t stream = stream_.get();
    launch_rank_fill(static_cast<std::uint16_t*>(send_.get()), counts.send, group_rank_, stream);
    MEASURE_CUDA(cudaMemsetAsync(receive_.get(), 0xFF, counts.receive * kElement, stream));
    enqueue(kind, counts);
    for (std::uint64_t i = 0; i < 32; ++i) {
      const std::uint64_t index = i == 0   ? 0
                                  : i == 1 ? counts.receive - 1
                                           : mixed_bits(3, i) % counts.receive;
      std::uint16_t bits = 0;
      MEASURE_CUDA(cudaMemcpyAsync(&bits, static_cast<std::uint16_t*>(receive_.get()) + index,
                                   sizeof bits, cudaMemcpyDeviceToHost, stream));
      MEASURE_CUDA(cudaStreamSynchronize(stream));
      const int expected = expected_value(kind, counts, group_rank_, group_ranks_, index);
      // Sums of up to 256 ranks are exact; beyond, bf16 rounds by one part in 256 at every step.
      const double slack = group_ranks_ <= 256 ? 0 : group_ranks_ / 128.0;
      if (!(std::abs(static_cast<double>(from_bf16(bits)) - expected) <= slack)) {
        return false;
      }
    }
    return true;
  }

  fit::Sample sample_of(const GroupCase& group,
                        CollectiveKind kind,
                        const ElementCounts& counts) const {
    fit::Sample sample;
    sample.kind = fit::SampleKind::collective;
    sample.op = core::to_word(kind);
    sample.ranks = group_ranks_;
    sample.ranks_per_node = group.ranks_per_node;
    sample.bytes = static_cast<double>(counts.whole_bytes);
    return sample;
  }

  void measure(const GroupCase& group, CollectiveKind kind, std::uint64_t bytes) {
    const ElementCounts counts = element_counts(kind, bytes, group_ranks_, kElement);
    fit::Sample sample = sample_of(group, kind, counts);
    if (records()) {
      run_.bench.progress.step(sample_text(sample));
    }
    const bool right = is_right(kind, counts);
    const int calls = calls_per_batch(bytes);
    std::vector<double> seconds;
    for (int batch = 0; batch <= run_.bench.repeats(); ++batch) {
      const Event begin = new_event(), end = new_event();
      enqueue(kind, counts);  // all ranks arrive; not timed
      MEASURE_CUDA(cudaEventRecord(begin.get(), stream_.get()));
      for (int call = 0; call < calls; ++call) {
        enqueue(kind, counts);
      }
      MEASURE_CUDA(cudaEventRecord(end.get(), stream_.get()));
      MEASURE_CUDA(cudaEventSynchronize(end.get()));
      const double taken = seconds_between(begin, end);
      if (batch > 0) {  // the first connects and warms up
        seconds.push_back(taken / calls);
      }
    }
    if (records()) {
      record_timing(summarize(std::move(seconds)), sample);
      if (!right) {
        sample.add(fit::SampleFlag::wrong);
      }
      run_.bench.add(std::move(sample));
    } else if (!right) {
      ++run_.wrong_elsewhere;
    }
  }

  /// An all-reduce beside matrix products, and the products beside it; every rank of the group
  /// does both.
  void measure_beside_product(const GroupCase& group) {
    const std::uint64_t bytes = std::min<std::uint64_t>(run_.sizes.back(), 256U << 20);
    const ElementCounts counts =
        element_counts(CollectiveKind::all_reduce, bytes, group_ranks_, kElement);
    const Stream side = new_stream();
    ProductLoad product(*run_.cublas, run_.bench.options.tiny, side.get());
    const auto collective = [&](int) { enqueue(CollectiveKind::all_reduce, counts); };
    // The same number of all-reduces on every rank, whatever its products take.
    const OverlapTimes times =
        time_together({stream_.get(), collective, 24}, {side.get(), product.launch(), 0});
    if (records()) {
      fit::Sample all_reduce = sample_of(group, CollectiveKind::all_reduce, counts);
      all_reduce.beside = "gemm";
      fit::Sample gemm = product.sample();
      gemm.beside = "all_reduce";
      add_together(run_.bench, times, all_reduce, gemm);
    }
  }

  CollectiveRun& run_;
  const Nccl& nccl_;
  int rank_;
  ncclComm_t world_ = nullptr, communicator_ = nullptr;
  int group_rank_ = 0, group_ranks_ = 1;
  Stream stream_;
  DeviceBuffer send_, receive_, token_;
};

}  // namespace

void run_rank(CollectiveRun& run, int global_rank, int device) {
  MEASURE_CUDA(cudaSetDevice(device));
  RankWorker worker(run, global_rank);
  worker.run_all();
}

}  // namespace headway::measure
