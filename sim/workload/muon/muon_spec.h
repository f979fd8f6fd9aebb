// How Muon makes a matrix orthogonal that tensor ranks have parts of.
#pragma once

#include <array>

#include "sim/core/fields.h"

namespace headway::workload {

/// What of a matrix a tensor rank makes orthogonal: its own part as if that were a matrix, the
/// whole one, or its part of the whole one.
enum class MuonTensorMode { blockwise, duplicated, distributed };
constexpr auto enum_words(MuonTensorMode) {
  using M = MuonTensorMode;
  using E = core::EnumWord<M>;
  return std::array{E{M::blockwise, "blockwise"}, E{M::duplicated, "duplicated"},
                    E{M::distributed, "distributed"}};
}

/// Settings of Muon. Source of the default: NVIDIA/Megatron-LM, commit d98e8a64,
/// megatron/core/optimizer/optimizer_config.py (muon_tp_mode), 2026.
struct MuonSpec {
  MuonTensorMode tensor_mode = MuonTensorMode::duplicated;
  template <class V>
  void fields(V& v) {
    v.optional("tensor_mode", tensor_mode,
               "Matrices that tensor ranks divide: duplicated, each rank gathers the momentum and "
               "makes the whole matrix orthogonal; distributed, each multiplies its part and they "
               "sum the Gram matrix of every iteration; blockwise, each part is a matrix of its "
               "own (another update). Megatron-Core's muon_tp_mode.");
  }
  bool operator==(const MuonSpec&) const = default;
};

}  // namespace headway::workload
