// A script of Megatron-LM for tests.
#pragma once

#include <string>

#include "sim/import/launch/launch_table.h"

namespace headway::import {

/// A model and layout that every test changes a little.
inline const std::string kSmallScript =
    "--num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 --vocab-size "
    "32000\n"
    "--max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 64 --bf16 --nnodes 4\n"
    "--nproc-per-node 8\n";

inline LaunchImport read_flags(const std::string& text) {
  return read_launch(megatron_table(), read_shell_settings(text, "run.sh"), {});
}

}  // namespace headway::import
