#include "calibrate/measure/cuda/nccl_library.h"

#include "calibrate/measure/host/dynamic_library.h"

namespace headway::measure {

std::unique_ptr<Nccl> open_nccl() {
  const DynamicLibrary library({"libnccl.so.2"});
  auto f = std::make_unique<Nccl>();
  library.load(f->version, "ncclGetVersion");
  library.load(f->error_string, "ncclGetErrorString");
  library.load(f->unique_id, "ncclGetUniqueId");
  library.load(f->init_rank, "ncclCommInitRank");
  library.load(f->split, "ncclCommSplit");
  library.load(f->destroy, "ncclCommDestroy");
  library.load(f->abort, "ncclCommAbort");
  library.load(f->group_start, "ncclGroupStart");
  library.load(f->group_end, "ncclGroupEnd");
  library.load(f->all_reduce, "ncclAllReduce");
  library.load(f->all_gather, "ncclAllGather");
  library.load(f->reduce_scatter, "ncclReduceScatter");
  library.load(f->broadcast, "ncclBroadcast");
  library.load(f->send, "ncclSend");
  library.load(f->receive, "ncclRecv");
  return f;
}

std::string version_text(const Nccl& nccl) {
  int number = 0;
  MEASURE_NCCL(nccl, nccl.version(&number));  // major x 10000 + minor x 100 + patch since 2.9
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

}  // namespace headway::measure
