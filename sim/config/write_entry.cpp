#include "sim/config/write_entry.h"

#include <utility>

#include "sim/config/spec_type.h"
#include "sim/config/writer.h"
#include "sim/core/error.h"

namespace headway::config {

std::string write_fabric(const network::FabricSpec& fabric) {
  return write_spec(*find_kind(network::FabricSpec::kCatalogue)->type, &fabric);
}

std::string write_node(const training::NodeSpec& node, const std::string& gpu_entry) {
  Node tree = to_tree(*find_kind(training::NodeSpec::kCatalogue)->type, &node, Place{});
  Node name;
  name.kind = Node::Kind::scalar;
  name.text = gpu_entry;
  Node use;
  use.kind = Node::Kind::mapping;
  use.entries.push_back({"use", Place{}, std::move(name)});
  Entry* gpu = tree.find("gpu");
  HEADWAY_CHECK(gpu != nullptr, "a node has no field 'gpu'");
  gpu->value = std::move(use);
  return to_yaml(tree);
}

std::string write_failures(const failures::FailureSpec& table) {
  return write_spec(*find_kind(failures::FailureSpec::kCatalogue)->type, &table);
}

std::string write_prices(const price::PriceSpec& prices) {
  return write_spec(*find_kind(price::PriceSpec::kCatalogue)->type, &prices);
}

std::string write_calibration(const training::CalibrationSpec& profile) {
  return write_spec(*find_kind(training::CalibrationSpec::kCatalogue)->type, &profile);
}

std::string write_kernels(const gpu::KernelTables& tables) {
  return write_spec(*find_kind(gpu::KernelTables::kCatalogue)->type, &tables);
}

}  // namespace headway::config
