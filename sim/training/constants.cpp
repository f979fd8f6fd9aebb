#include "sim/training/constants.h"

namespace headway::training {

std::vector<core::ModelConstant> model_constants() {
  std::vector<core::ModelConstant> all;
  for (const auto& list :
       {interval_constants(), decomposition_constants(), host_constants(), placement_constants()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace headway::training
