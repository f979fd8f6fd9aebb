// Two nodes of eight GPUs with 80 GiB, and a model of 8 billion parameters.
#pragma once

#include "sim/training/scenario.h"

namespace headway::plan {

inline training::Scenario sample_scenario() {
  using namespace core::literals;
  training::Scenario s;
  s.name = "sample";
  auto& node = s.cluster.node;
  s.cluster.nodes = 2;
  node.name = "box";
  node.gpus = 8;
  node.gpu.name = "gpu";
  node.gpu.peak.bf16 = 989_TFLOPs;
  node.gpu.peak.fp16 = 989_TFLOPs;
  node.gpu.memory = 80_GiB;
  node.gpu.memory_bandwidth = 3350_GBps;
  node.gpu.power = core::Watts(700);
  node.scale_up.bandwidth = 450_GBps;
  node.scale_up.domain_gpus = 8;
  node.nic.bandwidth = 400_Gbps;
  s.cluster.fabric.name = "rails";
  s.cluster.fabric.link_bandwidth = 400_Gbps;
  s.cluster.storage.emplace();
  s.cluster.storage->name = "disk";
  s.cluster.storage->write_bandwidth = 100_GBps;
  s.cluster.storage->read_bandwidth = 100_GBps;
  auto& m = s.model;
  m.name = "8b";
  m.layers = 32;
  m.hidden = 4096;
  m.heads = 32;
  m.key_value_heads = 8;
  m.head_dim = 128;
  m.ffn = 14336;
  m.vocabulary = 128256;
  s.training.sequence_length = 4096;
  s.training.global_batch = 64;
  return s;
}

}  // namespace headway::plan
