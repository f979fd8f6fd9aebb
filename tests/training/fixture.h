// The cluster and model that the training tests share: eight nodes, a model small enough to count
// by hand.
#pragma once

#include "sim/training/scenario.h"

namespace headway::training {

/// 8 nodes x 8 GPUs, rail-optimized; 16 layers, TP 8 x PP 4 x DP 2.
inline Scenario eight_nodes() {
  using namespace core::literals;
  Scenario s;
  s.name = "eight nodes";
  auto& gpu = s.cluster.node.gpu;
  gpu.name = "H100";
  gpu.peak = {67_TFLOPs, 494_TFLOPs, 989_TFLOPs, 989_TFLOPs, 1979_TFLOPs, core::FlopsPerSecond(0)};
  gpu.memory = 80_GB;
  gpu.memory_bandwidth = 3350_GBps;
  gpu.power = core::Watts(700);
  s.cluster.nodes = 8;
  s.cluster.node.name = "test node";
  s.cluster.node.gpus = 8;
  s.cluster.node.scale_up = {network::ScaleUpKind::nvswitch, 450_GBps, 1_us, 8, true};
  s.cluster.node.nic = {8, 400_Gbps, 1_us};
  s.cluster.fabric.name = "rails";
  s.cluster.fabric.link_bandwidth = 400_Gbps;
  s.cluster.storage.emplace();
  s.cluster.storage->name = "store";
  s.cluster.storage->write_bandwidth = 100_GBps;
  s.cluster.storage->read_bandwidth = 100_GBps;
  s.model.name = "small";
  s.model.layers = 16;
  s.model.hidden = 4096;
  s.model.heads = 32;
  s.model.key_value_heads = 8;
  s.model.head_dim = 128;
  s.model.ffn = 14336;
  s.model.vocabulary = 128256;
  s.training.sequence_length = 4096;
  s.training.global_batch = 32;
  s.parallelism.tensor = 8;
  s.parallelism.pipeline = 4;
  return s;
}

}  // namespace headway::training
