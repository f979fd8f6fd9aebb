#include "tests/measure_gpu/fake_nccl.h"

#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "calibrate/measure/host/number_formats.h"
#include "tests/measure_gpu/fake_stream.h"

namespace headway::measure::fake {

namespace {

/// What one rank brings to a call.
struct Visit {
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  int color = 0, key = 0;
  struct Message {
    const void* from = nullptr;
    void* to = nullptr;
    std::size_t count = 0;
    int peer = 0;
  };
  std::vector<Message> sends{}, receives{};
};

/// The ranks of a communicator; a call returns when all have come and the last has done the work.
class Club {
 public:
  explicit Club(int ranks) : visits_(static_cast<std::size_t>(ranks)) {}
  using Work = std::function<void(std::vector<Visit>&)>;

  /// @returns false if the communicator was aborted
  bool meet(int rank, Visit visit, const Work& work) {
    std::unique_lock lock(mutex_);
    visits_[static_cast<std::size_t>(rank)] = std::move(visit);
    const int turn = turn_;
    if (++present_ == static_cast<int>(visits_.size())) {
      work(visits_);
      present_ = 0;
      ++turn_;
      changed_.notify_all();
      return true;
    }
    changed_.wait(lock, [&] { return turn_ != turn || aborted_; });
    return !aborted_ || turn_ != turn;
  }
  void abort() {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] int ranks() const { return static_cast<int>(visits_.size()); }
  /// Filled by the work of a split.
  std::vector<std::pair<std::shared_ptr<Club>, int>> places;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Visit> visits_;
  int present_ = 0, turn_ = 0;
  bool aborted_ = false;
};

struct Communicator {
  std::shared_ptr<Club> club;
  int rank = 0;
};
Communicator& of(ncclComm_t communicator) { return *reinterpret_cast<Communicator*>(communicator); }

int failing_call = 0;
std::atomic<int> calls_of_rank_one = 0;
bool fails(const Communicator& mine) {
  return failing_call > 0 && mine.rank == 1 && ++calls_of_rank_one >= failing_call;
}

std::size_t size_of(ncclDataType_t type) { return type == ncclBfloat16 ? 2 : 4; }
Format format_of(ncclDataType_t type) { return type == ncclBfloat16 ? Format::bf16 : Format::fp32; }

ncclResult_t call(ncclComm_t communicator,
                  cudaStream_t stream,
                  const Visit& visit,
                  const Club::Work& work) {
  Communicator& mine = of(communicator);
  if (fails(mine)) {
    return ncclSystemError;
  }
  ncclResult_t result = ncclSuccess;
  enqueue(stream, [&] {
    result = mine.club->meet(mine.rank, visit, work) ? ncclSuccess : ncclInternalError;
  });
  return result;
}

/// Element-wise sum of all visitors' arrays, `count` elements from `offset` on.
std::vector<float> sum_of(const std::vector<Visit>& visits, std::size_t offset, std::size_t count) {
  std::vector<float> sum(count);
  for (const Visit& visit : visits) {
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] += load(format_of(visit.type), visit.send, offset + i);
    }
  }
  return sum;
}
void write(const Visit& visit, const std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    store(format_of(visit.type), visit.receive, i, values[i]);
  }
}

ncclResult_t all_reduce(const void* send,
                        void* receive,
                        std::size_t count,
                        ncclDataType_t type,
                        ncclRedOp_t,
                        ncclComm_t communicator,
                        cudaStream_t stream) {
  require_inside(send, count * size_of(type));
  require_inside(receive, count * size_of(type));
  return call(communicator, stream, {send, receive, count, type}, [](std::vector<Visit>& visits) {
    const std::vector<float> sum = sum_of(visits, 0, visits[0].count);
    for (const Visit& visit : visits) {
      write(visit, sum);
    }
  });
}

ncclResult_t reduce_scatter(const void* send,
                            void* receive,
                            std::size_t count,
                            ncclDataType_t type,
                            ncclRedOp_t,
                            ncclComm_t communicator,
                            cudaStream_t stream) {
  require_inside(send,
                 count * size_of(type) * static_cast<std::size_t>(of(communicator).club->ranks()));
  require_inside(receive, count * size_of(type));
  return call(communicator, stream, {send, receive, count, type}, [](std::vector<Visit>& visits) {
    std::vector<std::vector<float>> sums;
    for (std::size_t rank = 0; rank < visits.size(); ++rank) {
      sums.push_back(sum_of(visits, rank * visits[0].count, visits[0].count));
    }
    for (std::size_t rank = 0; rank < visits.size(); ++rank) {
      write(visits[rank], sums[rank]);
    }
  });
}

ncclResult_t all_gather(const void* send,
                        void* receive,
                        std::size_t count,
                        ncclDataType_t type,
                        ncclComm_t communicator,
                        cudaStream_t stream) {
  require_inside(send, count * size_of(type));
  require_inside(receive,
                 count * size_of(type) * static_cast<std::size_t>(of(communicator).club->ranks()));
  return call(communicator, stream, {send, receive, count, type}, [](std::vector<Visit>& visits) {
    const std::size_t bytes = visits[0].count * size_of(visits[0].type);
    for (const Visit& to : visits) {
      for (std::size_t from = 0; from < visits.size(); ++from) {
        std::memcpy(static_cast<char*>(to.receive) + from * bytes, visits[from].send, bytes);
      }
    }
  });
}

ncclResult_t broadcast(const void* send,
                       void* receive,
                       std::size_t count,
                       ncclDataType_t type,
                       int root,
                       ncclComm_t communicator,
                       cudaStream_t stream) {
  require_inside(receive, count * size_of(type));
  return call(communicator, stream, {send, receive, count, type},
              [root](std::vector<Visit>& visits) {
                const Visit& from = visits[static_cast<std::size_t>(root)];
                for (const Visit& to : visits) {
                  std::memmove(to.receive, from.send, from.count * size_of(from.type));
                }
              });
}

// Point-to-point calls of one group, as ncclGroupEnd finds them.
thread_local Visit pending;
thread_local ncclComm_t pending_communicator = nullptr;
thread_local cudaStream_t pending_stream = nullptr;

ncclResult_t group_end() {
  if (pending_communicator == nullptr) {
    return ncclSuccess;
  }
  const Visit visit = std::exchange(pending, {});
  return call(
      std::exchange(pending_communicator, nullptr), pending_stream, visit,
      [](std::vector<Visit>& visits) {
        for (std::size_t from = 0; from < visits.size(); ++from) {
          for (const Visit::Message& sent : visits[from].sends) {
            for (const Visit::Message& got : visits[static_cast<std::size_t>(sent.peer)].receives) {
              if (got.peer == static_cast<int>(from) && got.count == sent.count) {
                std::memcpy(got.to, sent.from, 2 * sent.count);
              }
            }
          }
        }
      });
}

ncclResult_t init_rank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Club>> clubs;
  std::shared_ptr<Club> club;
  {
    const std::lock_guard lock(mutex);
    std::weak_ptr<Club>& known = clubs[std::string(id.internal, sizeof id.internal)];
    club = known.lock();
    if (!club) {
      club = std::make_shared<Club>(ranks);
      known = club;
    }
  }
  club->meet(rank, {}, [](std::vector<Visit>&) {});
  *communicator = reinterpret_cast<ncclComm_t>(new Communicator{club, rank});
  return ncclSuccess;
}

ncclResult_t split(ncclComm_t parent, int color, int key, ncclComm_t* child, ncclConfig_t*) {
  Communicator& mine = of(parent);
  Visit visit;
  visit.color = color;
  visit.key = key;
  Club& club = *mine.club;
  const bool met = club.meet(mine.rank, visit, [&club](std::vector<Visit>& visits) {
    club.places.assign(visits.size(), {nullptr, 0});
    std::map<int, std::map<int, std::size_t>> by_color;  // colour -> key -> parent's rank
    for (std::size_t rank = 0; rank < visits.size(); ++rank) {
      if (visits[rank].color != NCCL_SPLIT_NOCOLOR) {
        by_color[visits[rank].color][visits[rank].key] = rank;
      }
    }
    for (const auto& [color_of_group, members] : by_color) {
      const auto group = std::make_shared<Club>(static_cast<int>(members.size()));
      int next = 0;
      for (const auto& [key_of_rank, rank] : members) {
        club.places[rank] = {group, next++};
      }
    }
  });
  const auto& [group, place] = club.places[static_cast<std::size_t>(mine.rank)];
  *child = group ? reinterpret_cast<ncclComm_t>(new Communicator{group, place}) : nullptr;
  return met ? ncclSuccess : ncclInternalError;
}

}  // namespace

void fail_at(int call_number) {
  failing_call = call_number;
  calls_of_rank_one = 0;
}

Nccl nccl() {
  Nccl f;
  f.version = [](int* version) {
    *version = 22809;
    return ncclSuccess;
  };
  f.error_string = [](ncclResult_t result) {
    return result == ncclSystemError ? "pretended failure" : "aborted";
  };
  f.unique_id = [](ncclUniqueId* id) {
    static int number = 0;
    std::memset(id->internal, 0, sizeof id->internal);
    id->internal[0] = static_cast<char>(++number);
    return ncclSuccess;
  };
  f.init_rank = init_rank;
  f.split = split;
  f.destroy = [](ncclComm_t communicator) {
    delete &of(communicator);
    return ncclSuccess;
  };
  f.abort = [](ncclComm_t communicator) {
    of(communicator).club->abort();
    return ncclSuccess;
  };
  f.group_start = [] {
    pending = {};
    pending_communicator = nullptr;
    return ncclSuccess;
  };
  f.group_end = group_end;
  f.all_reduce = all_reduce;
  f.all_gather = all_gather;
  f.reduce_scatter = reduce_scatter;
  f.broadcast = broadcast;
  f.send = [](const void* from, std::size_t count, ncclDataType_t, int peer,
              ncclComm_t communicator, cudaStream_t stream) {
    require_inside(from, 2 * count);
    pending.sends.push_back({from, nullptr, count, peer});
    pending_communicator = communicator;
    pending_stream = stream;
    return ncclSuccess;
  };
  f.receive = [](void* to, std::size_t count, ncclDataType_t, int peer, ncclComm_t communicator,
                 cudaStream_t stream) {
    require_inside(to, 2 * count);
    pending.receives.push_back({nullptr, to, count, peer});
    pending_communicator = communicator;
    pending_stream = stream;
    return ncclSuccess;
  };
  return f;
}

}  // namespace headway::measure::fake
