#include "sim/campaign/unequal_form.h"

#include <algorithm>
#include <cmath>

namespace headway::campaign {

double rerouted_step(const LostPeers& lost) {
  return (lost.stages - 1 + lost.each()) / (lost.micro_batches + lost.stages - 1);
}

double rerouted_into_bubbles(const LostPeers& lost) {
  return std::max(1.0, lost.each() / (lost.micro_batches + lost.stages - 1));
}

double narrow_pass(const TensorGroup& group, int left) {
  const auto longer = [&](int of) {
    const int most = (of + left - 1) / left;
    return static_cast<double>(most) * group.ranks / of;
  };
  return group.attention * longer(group.heads) + (1 - group.attention) * longer(group.columns);
}

int micro_batches_in_pace(int micro_batches, int stages, double pass) {
  const double most = (micro_batches + stages - 1) / pass - (stages - 1);
  constexpr double kRounding = 1e-9;  // Source: chosen
  return std::clamp(static_cast<int>(std::floor(most + kRounding)), 0, micro_batches);
}

double packed_throughput(int domain_gpus,
                         double broken,
                         const std::function<double(int)>& share_of) {
  double chance = std::pow(1 - broken, domain_gpus);  // of k = 0
  double lost = 0;
  for (int k = 1; k <= domain_gpus; ++k) {
    chance *= broken / (1 - broken) * (domain_gpus - k + 1) / k;
    lost += chance * (1 - share_of(k));
  }
  return 1 - lost;
}

}  // namespace headway::campaign
