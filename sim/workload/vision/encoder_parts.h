// The parts that an encoder of images consists of.
#pragma once

#include <cstdint>

#include "sim/workload/blocks/layer_kind.h"

namespace headway::workload {

enum class EncoderPart : std::uint8_t { patches, layer, projector };

/// Some equal parts of an encoder in a row.
struct EncoderRun {
  EncoderPart part = EncoderPart::layer;
  LayerKind kind;  ///< of a layer
  int count = 1;
  bool operator==(const EncoderRun&) const = default;
};

}  // namespace headway::workload
