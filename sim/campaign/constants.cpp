#include "sim/campaign/constants.h"

#include "sim/campaign/advice.h"
#include "sim/campaign/step_times.h"

namespace headway::campaign {

std::vector<core::ModelConstant> model_constants() {
  return {{"campaign.wait_target", kWaitTarget, "", 0,
           "chosen: share of time without a spare below which spares suffice"},
          {"campaign.hidden_slowness", kHidden, "", 0,
           "chosen: a part that lengthens the step by less is left out of pairs of slow parts"}};
}

}  // namespace headway::campaign
