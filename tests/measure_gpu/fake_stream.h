// Inside the pretended GPU: streams, recordings, memory bounds.
#pragma once

#include <cuda_runtime_api.h>
#include <functional>
#include <memory>
#include <vector>

namespace headway::measure::fake {

using Recording = std::vector<std::function<void()>>;

struct FakeStream {
  std::unique_ptr<Recording> captured;  ///< not null while a capture runs
};

/// Runs `work` now, or records it if `stream` is being captured.
void enqueue(cudaStream_t stream, std::function<void()> work);

bool inside_one_block(const void* begin, std::size_t bytes);
/// @throws GpuError if the bytes are not inside one allocation
void require_inside(const void* begin, std::size_t bytes);

}  // namespace headway::measure::fake
