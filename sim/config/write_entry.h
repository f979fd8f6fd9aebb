// Catalogue entries as files: what importers leave on disk.
#pragma once

#include <string>

#include "sim/failures/spec.h"
#include "sim/network/spec.h"
#include "sim/price/spec.h"
#include "sim/training/calibration_spec.h"
#include "sim/training/cluster_spec.h"

namespace headway::config {

/// The YAML text of a fabric, all defaults written out; reads back to an equal fabric.
std::string write_fabric(const network::FabricSpec& fabric);

/// The YAML text of a node whose GPU is `{use: gpu_entry}`; reads back to an equal node where that
/// entry is `node.gpu`.
std::string write_node(const training::NodeSpec& node, const std::string& gpu_entry);

/// The YAML text of a table of failures; reads back to an equal one.
std::string write_failures(const failures::FailureSpec& table);

/// The YAML text of prices; reads back to equal ones.
std::string write_prices(const price::PriceSpec& prices);

/// The YAML text of a calibration profile; reads back to an equal one.
std::string write_calibration(const training::CalibrationSpec& profile);

/// The YAML text of kernel tables; reads back to equal ones.
std::string write_kernels(const gpu::KernelTables& tables);

}  // namespace headway::config
