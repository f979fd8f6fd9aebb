#include <algorithm>
#include <nlohmann/json.hpp>
#include <protozero/pbf_writer.hpp>

#include "sim/import/chakra/chakra.h"
#include "sim/import/chakra/chakra_format.h"

namespace headway::import {

namespace {

namespace format = chakra_format;
using protozero::pbf_writer;

/// Each attribute in the kind of number that readers of the format ask for.
class AttributeWriter {
 public:
  explicit AttributeWriter(pbf_writer& node) : node_(node) {}

  void flag(const char* name, bool value) {
    add(name, [&](pbf_writer& out) { out.add_bool(format::attribute::kBool, value); });
  }
  void int32(const char* name, std::int64_t value) {
    add(name, [&](pbf_writer& out) {
      out.add_int32(format::attribute::kInt32, static_cast<std::int32_t>(value));
    });
  }
  void int64(const char* name, std::int64_t value) {
    add(name, [&](pbf_writer& out) { out.add_int64(format::attribute::kInt64, value); });
  }
  void uint64(const char* name, std::int64_t value) {
    add(name, [&](pbf_writer& out) {
      out.add_uint64(format::attribute::kUint64, static_cast<std::uint64_t>(value));
    });
  }
  void text(const char* name, const std::string& value) {
    add(name, [&](pbf_writer& out) { out.add_string(format::attribute::kString, value); });
  }

 private:
  template <class Value>
  void add(const char* name, Value value) {
    pbf_writer out(node_, format::node::kAttribute);
    out.add_string(format::attribute::kName, name);
    value(out);
  }

  pbf_writer& node_;
};

void write_attributes(const ChakraNode& node, pbf_writer& out) {
  AttributeWriter attributes(out);
  attributes.flag("is_cpu_op", node.on_cpu);
  const auto if_said = [](const auto& value, auto write) {
    if (value) {
      write(*value);
    }
  };
  if_said(node.collective,
          [&](auto v) { attributes.int64("comm_type", static_cast<std::int64_t>(v)); });
  if_said(node.bytes, [&](auto v) { attributes.int64("comm_size", v); });
  if_said(node.source, [&](auto v) { attributes.int32("comm_src", v); });
  if_said(node.destination, [&](auto v) { attributes.int32("comm_dst", v); });
  if (node.tag != 0) {
    attributes.int32("comm_tag", node.tag);
  }
  if (!node.group.empty()) {
    attributes.text("pg_name", node.group);
  }
  if_said(node.stream, [&](auto v) { attributes.int64(node.on_cpu ? "tid" : "stream", v); });
  if_said(node.operations, [&](auto v) { attributes.int64("num_ops", v); });
  if_said(node.tensor_bytes, [&](auto v) { attributes.uint64("tensor_size", v); });
  if_said(node.duration_ps, [&](auto v) { attributes.int64("duration_ps", v); });
}

/// PyTorch's way to say them: JSON in a list of Python.
std::string groups_text(const ChakraGroups& groups) {
  auto list = nlohmann::json::array();
  for (const auto& [name, ranks] : groups) {
    list.push_back({{"pg_name", name}, {"ranks", ranks}});
  }
  return "['" + list.dump() + "']";
}

/// A message behind its length.
template <class Fill>
void add_message(std::string& file, Fill fill) {
  std::string message;
  pbf_writer out(message);
  fill(out);
  protozero::add_varint_to_buffer(&file, message.size());
  file += message;
}

/// In front of all others, so that groups are known before they are used.
void write_group_node(const ChakraTrace& trace, std::string& file) {
  std::uint64_t id = 0;
  for (const ChakraNode& node : trace.nodes) {
    id = std::max(id, node.id + 1);
  }
  add_message(file, [&](pbf_writer& out) {
    out.add_uint64(format::node::kId, id);
    out.add_string(format::node::kName, "process groups");
    out.add_enum(format::node::kType, static_cast<std::int32_t>(ChakraKind::metadata));
    pbf_writer inputs(out, format::node::kInputs);
    inputs.add_string(format::inputs::kValues, groups_text(trace.groups));
  });
}

}  // namespace

std::string write_chakra(const ChakraTrace& trace) {
  std::string file;
  add_message(file, [](pbf_writer& out) { out.add_string(format::metadata::kVersion, "0.0.4"); });
  if (!trace.groups.empty()) {
    write_group_node(trace, file);
  }
  for (const ChakraNode& node : trace.nodes) {
    add_message(file, [&](pbf_writer& out) {
      out.add_uint64(format::node::kId, node.id);
      out.add_string(format::node::kName, node.name);
      out.add_enum(format::node::kType, static_cast<std::int32_t>(node.kind));
      out.add_packed_uint64(format::node::kData, node.after.begin(), node.after.end());
      if (node.start_us > 0) {
        out.add_uint64(format::node::kStart, node.start_us);
      }
      if (node.duration_us > 0) {
        out.add_uint64(format::node::kDuration, node.duration_us);
      }
      write_attributes(node, out);
    });
  }
  return file;
}

std::string write_chakra_groups(const ChakraGroups& groups) {
  return nlohmann::json(groups).dump() + "\n";
}

}  // namespace headway::import
