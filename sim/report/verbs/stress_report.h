// What `headway topo --stress` and `headway validate --flow-model` say.
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/packets/stress.h"

namespace headway::report {

/// One line a traffic and size: packets beside fluid flows, and what happened to packets.
Document stress_document(const study::StressReport& report);
std::string stress_csv(const study::StressReport& report);
/// configs/schema/headway.topo-stress-1.json has its keys.
std::string stress_json(const study::StressReport& report);

/// For each fabric and traffic the least and the largest ratio over its sizes.
Document flow_model_document(const study::FlowModelReport& report);
/// Every fabric, traffic and size: what configs/validation/flow_model.csv holds.
std::string flow_model_csv(const study::FlowModelReport& report);
/// configs/schema/headway.validate-flow-model-1.json has its keys.
std::string flow_model_json(const study::FlowModelReport& report);

}  // namespace headway::report
