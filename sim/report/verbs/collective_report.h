// What `headway collective` says: the table of nccl-tests, predicted, beside a measured log.
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/collective.h"

namespace headway::report {

/// The table of nccl-tests, column for column; measured columns follow.
std::string nccl_tests_text(const study::CollectiveReport& report);
/// The same as plain table, with algorithm, protocol and source of the time.
Table collective_table(const study::CollectiveReport& report);
Document collective_document(const study::CollectiveReport& report);
/// configs/schema/headway.collective-1.json has its keys.
std::string collective_json(const study::CollectiveReport& report);

}  // namespace headway::report
