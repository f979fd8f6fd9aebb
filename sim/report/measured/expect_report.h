// What `headway expect` says, also in the shapes that acceptance tools read.
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/expect/expect.h"

namespace headway::report {

Document expect_document(const study::ExpectReport& report);
/// One line a threshold, with the measured figure where there is one.
std::string expect_csv(const study::ExpectReport& report);
/// configs/schema/headway.expect-1.json has its keys.
std::string expect_json(const study::ExpectReport& report);

/// The thresholds that NVIDIA's Cluster Readiness Engine checks collectives by: a Certification of
/// API version nvcre.nvidia.com/v1alpha1 with one category a collective it tests, for the widest
/// group. Its measured figure is the largest bus bandwidth of a log, so the limit is that of the
/// largest message.
/// Source: documentation and release blog of NVIDIA/cluster-readiness-engine, version 0.7, 2026.
std::string expect_nvcre(const study::ExpectReport& report);

/// The thresholds of AMD's Cluster Validation Suite for training (`*_threshold.json` of its
/// Megatron suite): one cell with the batch and the precision; milliseconds and tokens.
/// Source: ROCm/cvs, cvs/input/config_file/training/megatron, August 2026.
std::string expect_cvs(const study::ExpectReport& report);

/// The `results` of its rccl_config.json: bus bandwidth in GB/s by program and bytes, for the
/// widest group. Source: ROCm/cvs, cvs/input/config_file/rccl, August 2026.
std::string expect_cvs_rccl(const study::ExpectReport& report);

}  // namespace headway::report
