#include "sim/gpu/constants.h"

namespace headway::gpu {

std::vector<core::ModelConstant> model_constants() {
  std::vector<core::ModelConstant> all;
  for (const auto& list : {kernel_constants(), closed_form_constants(), memory_constants()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace headway::gpu
