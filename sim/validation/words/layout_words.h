// Words for the layout of a run: what is sharded, what is recomputed, in which format it computes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/precision.h"
#include "sim/validation/cells/cell_words.h"
#include "sim/workload/usual_run.h"

namespace headway::validation {

/// A cell of `sharding`.
struct ShardingWords : ReadCell {
  std::optional<workload::Sharding> kind;  ///< nothing: no stage is named
  bool resharded = true;                   ///< gathered weights are dropped after a forward
  bool stage_open = false;                 ///< ZeRO of a stage that is not named
  bool offload = false;                    ///< the optimizer's states lie in host memory
  int group = 0;                           ///< ranks of one sharded copy; 0: not said
  /// Columns of degrees that it names, and the degree; 0: more than one.
  std::vector<std::pair<const char*, int>> degrees;
};
/// "zero-3", "FSDP (ZeRO-3)", "hsdp (8x8)", "fsdp2+tp", "1" ... A blank cell has no kind.
/// @throws core::Error if it names no kind, two that exclude each other, or one that is not
/// modelled
ShardingWords sharding_words(const std::string& cell);

/// Stage of ZeRO that a cell of `sharding` names, 3 for sharded weights of any kind; 0: none, or
/// not said.
int sharded_stage(const std::string& cell);

/// A cell of `recompute`.
struct RecomputeWords : ReadCell {
  std::optional<workload::Recompute> kind;     ///< nothing: the cell is blank
  std::vector<workload::RecomputePart> parts;  ///< of selective recomputation; empty: the usual
  int period = 1, layers = 1;                  ///< so many layers of each period
  int first_layers = 0;  ///< so many of each chunk of a stage, in place of the period; 0: not said
  bool offload = false;  ///< activations, or what is kept of them, go to host memory
};
/// "full", "gradient checkpointing", "every other layer", "block 8 layers", "per-op SAC", "minimal"
/// ...
/// @throws core::Error if it names no kind, or both none and some
RecomputeWords recompute_words(const std::string& cell);

/// Parts that `recompute_detail` names as Megatron-Core's recompute_modules do ("selective
/// modules=mla_up_proj+mlp"), or per-operator recomputation.
std::vector<workload::RecomputePart> parts_in_detail(const std::string& detail);

/// A cell of `precision`.
struct PrecisionWords : ReadCell {
  std::optional<core::Precision> format;  ///< of operands; nothing: mixed, of a format not said
  bool pure = false;                      ///< no copies of weights or moments in fp32
};
/// "bf16-mixed", "amp bf16", "fp8-cs", "DeepSeek fp8", "bf16+fp8" (products have the narrower) ...
/// @throws core::Error if it names no format
PrecisionWords precision_words(const std::string& cell);

}  // namespace headway::validation
