#include "sim/config/arguments/argument_values.h"

#include "sim/config/reader.h"
#include "sim/config/tree.h"

namespace headway::config {

void read_argument(const std::string& argument,
                   const std::vector<ArgumentValue>& values,
                   const SpecType& type,
                   void* record) {
  SourceFiles files;
  files.emplace_back(argument, std::filesystem::path{}, std::string{});
  const Place place{&files.back(), 0, 0, 1};
  Node root;
  root.kind = Node::Kind::mapping;
  root.place = place;
  for (const auto& [key, text] : values) {
    Node value;
    value.kind = text.empty() ? Node::Kind::null : Node::Kind::scalar;
    value.text = text;
    value.place = place;
    root.entries.push_back({key, place, std::move(value)});
  }
  core::SourceMarks marks;
  Sources sources;
  Complaints complaints;
  StandardErrors standard_errors;
  read_record(root, type, record, {marks, sources, standard_errors, complaints});
  complaints.throw_if_any(files);
}

}  // namespace headway::config
