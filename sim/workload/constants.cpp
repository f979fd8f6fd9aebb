#include "sim/workload/constants.h"

namespace headway::workload {

std::vector<core::ModelConstant> model_constants() {
  std::vector<core::ModelConstant> all;
  for (const auto& list :
       {expert_constants(), elementwise_constants(), gradient_constants(), bucket_constants(),
        activation_constants(), optimizer_constants(), trained_constants()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace headway::workload
