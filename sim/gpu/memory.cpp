#include "sim/gpu/memory.h"

#include "sim/gpu/constants.h"

namespace headway::gpu {

using namespace core::literals;

namespace {

using core::Bytes;

/// CUDA context, loaded modules and library workspaces.
constexpr Bytes kContext = 1.5 * 1_GiB;
/// Channel and protocol buffers of one NCCL communicator. Source: 342 to 392 MiB measured for 2 to
/// 8 GPUs in the public tables of aiconfigurator, about one communicator's buffers.
constexpr Bytes kCommunicator = 350_MiB;

}  // namespace

ReservedMemory reserved_memory(int communicators, Bytes tensors, double slack) {
  return {kContext, kCommunicator * communicators, tensors * slack};
}

std::vector<core::ModelConstant> memory_constants() {
  return {{"gpu.context_bytes", kContext.si(), "B", 0,
           "CUDA context, loaded modules and library workspaces; assumed"},
          {"gpu.communicator_bytes", kCommunicator.si(), "B", 0,
           "342 to 392 MiB measured for 2 to 8 GPUs, public tables of aiconfigurator"}};
}

}  // namespace headway::gpu
