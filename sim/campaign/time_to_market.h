// A figure over the trials, and those that count from the order of the cluster.
#pragma once

#include "sim/core/result_fields.h"

namespace headway::campaign {

/// One figure over the trials.
struct Distribution {
  double p5 = 0, p50 = 0, p95 = 0, mean = 0;
  double standard_error = 0;  ///< of the mean

  template <class V>
  void fields(V& v) const {
    v.figure("p5", p5, "", "");
    v.figure("p50", p50, "", "");
    v.figure("p95", p95, "", "");
    v.figure("mean", mean, "", "");
  }
};

/// From the order of the cluster to the trained model.
struct TimeToMarket {
  Distribution bring_up_days;  ///< order to first step
  Distribution ready_days;     ///< order to the end of the run
  double tests = 1;            ///< mean
  double ramp_days = 0;        ///< mean

  template <class V>
  void fields(V& v) const {
    v.figure("bring_up_days", bring_up_days, "d",
             "from the order to the first step: `delivery + burn_in + (tests - 1) (replacement + "
             "burn_in)`",
             core::non_negative);
    v.figure("ready_days", ready_days, "d",
             "from the order until the run's last save is durable: `bring_up_days` + `wall_days` + "
             "what the ramp takes longer",
             core::non_negative);
    v.figure("tests", tests, "",
             "burn-in tests, one after the other, until the job's nodes have passed, mean",
             core::at_least_one);
    v.figure("ramp_days", ramp_days, "d", "what the run takes longer while its speed rises, mean",
             core::non_negative);
  }
};

}  // namespace headway::campaign
