// NCCL, opened at run time: the functions that collectives are measured with.
#pragma once

#include <memory>
#include <nccl.h>
#include <string>

#include "calibrate/measure/cuda/cuda_check.h"

namespace headway::measure {

/// The library's functions, one member each, named as in nccl.h without the prefix.
struct Nccl {
  decltype(&ncclGetVersion) version = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitRank) init_rank = nullptr;
  decltype(&ncclCommSplit) split = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
};

/// @throws std::runtime_error with the loader's reason
std::unique_ptr<Nccl> open_nccl();

/// "2.28.9"
std::string version_text(const Nccl& nccl);

}  // namespace headway::measure

/// Checks an NCCL call; `nccl` is the Nccl it came from.
#define MEASURE_NCCL(nccl, call)                                                            \
  do {                                                                                      \
    const ncclResult_t measure_result = (call);                                             \
    if (measure_result != ncclSuccess) {                                                    \
      ::headway::measure::call_failed((nccl).error_string(measure_result), #call, __FILE__, \
                                      __LINE__);                                            \
    }                                                                                       \
  } while (false)
