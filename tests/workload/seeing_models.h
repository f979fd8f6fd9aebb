// A language model with an encoder of images: Qwen2.5-VL 7B (config.json of Qwen, 2025).
#pragma once

#include "tests/workload/models.h"

namespace headway::workload::tests {

inline ModelSpec qwen2_5_vl_7b() {
  ModelSpec model;
  model.name = "Qwen2.5-VL 7B";
  model.layers = 28;
  model.hidden = 3584;
  model.heads = 28;
  model.key_value_heads = 4;
  model.head_dim = 128;
  model.ffn = 18944;
  model.vocabulary = 152064;
  VisionSpec vision;
  vision.layers = 32;
  vision.hidden = 1280;
  vision.heads = 16;
  vision.ffn = 3420;
  vision.gated_mlp = true;
  vision.rotary = true;
  vision.frames = 2;
  vision.window = 64;
  vision.window_period = 8;
  vision.merge = 2;
  vision.projector_ffn = 5120;
  model.vision = vision;
  return model;
}

/// Four images of 1,024 tokens in each sequence of 8,192.
inline TrainingSpec seeing(int batch) {
  TrainingSpec training = recipe(8192, batch);
  training.images = ImagesSpec{4, 0, {{1024, 1}}};
  return training;
}

}  // namespace headway::workload::tests
