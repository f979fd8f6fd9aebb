// Reads the Chrome trace that torch.profiler exports: GEMM and NCCL kernels with their shapes, what
// the GPU did when, and the steps that were marked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/measured/profiled_steps.h"

namespace headway::import {

/// All launches of one matrix product.
struct ProfiledGemm {
  std::string operation;  ///< "aten::mm", ...
  std::string type;       ///< of the operands as the profiler says, "c10::BFloat16"; may be empty
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::vector<double> seconds;  ///< of each launch, on the GPU
};

/// All launches of one collective of one size over one number of ranks.
struct ProfiledCollective {
  std::string name;  ///< as torch.distributed says: "allreduce", "_allgather_base", ...
  std::string type;  ///< "BFloat16"
  double elements_in = 0, elements_out = 0;
  int ranks = 0;
  std::vector<double> seconds;
};

struct TorchProfile {
  std::string device;                           ///< name of the first GPU, where stated
  std::vector<ProfiledGemm> gemms;              ///< sorted by operation, type, shape
  std::vector<ProfiledCollective> collectives;  ///< sorted by name, type, ranks, elements
  std::size_t kernels = 0;                      ///< in the trace
  std::size_t gemms_without_shape = 0;  ///< record_shapes=True was not given, or no CPU operation
  std::optional<std::int64_t> rank, world_size;  ///< where `distributedInfo` says so
  std::vector<ProfiledLaunch> launches;          ///< kernels, copies and fills, in no order
  std::vector<StepMark> marks;                   ///< "ProfilerStep#n", in no order
};

/// GEMMs come from mm, addmm, bmm, baddbmm and linear operations whose kernels carry the same
/// "External id". A collective's kernel waits for the last rank, so its shortest launches tell
/// most.
/// @throws core::Error naming the line: no JSON, no `traceEvents`, no GPU kernel in it
TorchProfile read_torch_profile(std::string_view text, const std::string& file_name);

}  // namespace headway::import
