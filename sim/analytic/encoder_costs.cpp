#include "sim/analytic/encoder_costs.h"

namespace headway::analytic {

using workload::Call;
using workload::CallKind;

PassPart encoder_part(int first, int repeat) {
  PassPart part;
  part.encoder = true;
  part.first_layer = first;
  part.layers = repeat;
  return part;
}

void add_encoder(const Probe& probe, int stage, RankCosts& costs) {
  constexpr int kMiddle = 1;
  const auto add = [&](CallKind kind, std::vector<double>& table) {
    const std::vector<Call> calls = probe.encoder_calls(stage, kind, kMiddle);
    append_layers(probe, calls, 0, repeats(calls), 1, table);
  };
  add(CallKind::forward, costs.encoder_forward);
  add(CallKind::backward, costs.encoder_backward);
}

}  // namespace headway::analytic
