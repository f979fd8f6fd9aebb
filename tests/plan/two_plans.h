// A choice between two plans.
#pragma once

namespace headway::tests {

/// Eight GPUs of one node: tensor 2 x pipeline 4, or tensor 8; what else there is does not fit.
inline constexpr const char* kTwoPlans =
    "headway: 1\n"
    "name: Two plans\n"
    "cluster:\n"
    "  nodes: 1\n"
    "  node: {use: dgx-h100, gpu: {memory: 45 GiB}}\n"
    "  fabric: {use: rail-optimized-ndr}\n"
    "  storage: {use: lustre}\n"
    "model: {use: llama-3.1-8b}\n"
    "training: {sequence_length: 4096, global_batch: 8}\n"
    "parallelism: {tensor: 8, pipeline: 1, data: auto, schedule: 1f1b}\n"
    "search: {vary: [tensor, pipeline], tensor: [2, 8], pipeline: [1, 4]}\n";

}  // namespace headway::tests
