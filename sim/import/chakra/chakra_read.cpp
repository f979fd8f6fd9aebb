#include <algorithm>
#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>
#include <unordered_map>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/import/chakra/chakra.h"
#include "sim/import/chakra/chakra_format.h"
#include "sim/import/json_text.h"

namespace headway::import {

namespace {

namespace format = chakra_format;
using protozero::pbf_reader;

/// The value of an attribute, if it is of a kind that is read.
struct Attribute {
  std::string name;
  std::optional<std::int64_t> whole;
  std::string text;
  bool leaves_out = false;  ///< a list of switches of which one is off
};

bool any_is_off(pbf_reader list) {
  while (list.next(format::kListValues)) {
    if (list.wire_type() == protozero::pbf_wire_type::varint) {
      if (!list.get_bool()) {
        return true;
      }
    } else {
      for (const bool on : list.get_packed_bool()) {
        if (!on) {
          return true;
        }
      }
    }
  }
  return false;
}

Attribute read_attribute(pbf_reader in) {
  namespace field = format::attribute;
  Attribute out;
  while (in.next()) {
    switch (in.tag()) {
      case field::kName:
        out.name = in.get_string();
        break;
      case field::kString:
        out.text = in.get_string();
        break;
      case field::kInt32:
        out.whole = in.get_int32();
        break;
      case field::kInt64:
        out.whole = in.get_int64();
        break;
      case field::kUint32:
        out.whole = in.get_uint32();
        break;
      case field::kUint64:
        out.whole = static_cast<std::int64_t>(in.get_uint64());
        break;
      case field::kSint32:
        out.whole = in.get_sint32();
        break;
      case field::kSint64:
        out.whole = in.get_sint64();
        break;
      case field::kBool:
        out.whole = in.get_bool() ? 1 : 0;
        break;
      case field::kBoolList:
        out.leaves_out = any_is_off(in.get_message());
        break;
      default:
        in.skip();
    }
  }
  return out;
}

/// Reads nodes into a trace and collects what is wrong with them.
class NodeReader {
 public:
  NodeReader(std::string file, core::Diagnostics& complaints) : complaints_(complaints) {
    trace_.file = std::move(file);
  }

  void add(pbf_reader in) {
    ChakraNode& node = trace_.nodes.emplace_back();
    std::optional<std::int64_t> thread;
    std::string inputs;
    type_ = 0;
    while (in.next()) {
      read_field(in, node, thread, inputs);
    }
    node.stream = node.stream ? node.stream : thread;
    if (node.kind == ChakraKind::metadata) {
      add_groups(node, inputs);
    }
    check(node);
  }

  ChakraTrace take() { return std::move(trace_); }

 private:
  void complain(const ChakraNode& node, const std::string& what) {
    complaints_.add({}, fmt::format("{}: {}", where_is(trace_, node), what));
  }

  void read_field(pbf_reader& in,
                  ChakraNode& node,
                  std::optional<std::int64_t>& thread,
                  std::string& inputs) {
    namespace field = format::node;
    switch (in.tag()) {
      case field::kId:
        node.id = in.get_uint64();
        break;
      case field::kName:
        node.name = core::visible(in.get_string());
        break;
      case field::kType:
        type_ = in.get_enum();
        node.kind = type_ >= 0 && type_ <= static_cast<int>(ChakraKind::collective)
                        ? static_cast<ChakraKind>(type_)
                        : ChakraKind::invalid;
        break;
      case field::kData:
        read_parents(in, node);
        break;
      case field::kStart:
        node.start_us = in.get_uint64();
        break;
      case field::kDuration:
        node.duration_us = in.get_uint64();
        break;
      case field::kInputs:
        for (pbf_reader values = in.get_message(); values.next(format::inputs::kValues);) {
          inputs = values.get_string();
        }
        break;
      case field::kAttribute:
        set(node, read_attribute(in.get_message()), thread);
        break;
      default:
        in.skip();
    }
  }

  static void read_parents(pbf_reader& in, ChakraNode& node) {
    if (in.wire_type() == protozero::pbf_wire_type::varint) {
      node.after.push_back(in.get_uint64());
      return;
    }
    for (const std::uint64_t parent : in.get_packed_uint64()) {
      node.after.push_back(parent);
    }
  }

  void set(ChakraNode& node, const Attribute& given, std::optional<std::int64_t>& thread) {
    const std::string& name = given.name;
    if (name == "is_cpu_op") {
      node.on_cpu = given.whole.value_or(0) != 0;
    } else if (name == "stream") {
      node.stream = given.whole;
    } else if (name == "tid") {
      thread = given.whole;
    } else if (name == "comm_type") {
      node.collective = collective(node, given.whole.value_or(-1));
    } else if (name == "comm_size") {
      node.bytes = given.whole;
    } else if (name == "comm_src") {
      node.source = given.whole;
    } else if (name == "comm_dst") {
      node.destination = given.whole;
    } else if (name == "comm_tag") {
      node.tag = given.whole.value_or(0);
    } else if (name == "pg_name") {
      node.group = given.whole ? std::to_string(*given.whole) : given.text;
    } else if (name == "num_ops") {
      node.operations = given.whole;
    } else if (name == "tensor_size") {
      node.tensor_bytes = given.whole;
    } else if (name == "duration_ps") {
      node.duration_ps = given.whole;
    } else if (name == "involved_dim" && given.leaves_out) {
      complain(node,
               "involved_dim leaves out dimensions of a network; name the ranks of a process "
               "group by pg_name instead");
    }
  }

  std::optional<ChakraCollective> collective(const ChakraNode& node, std::int64_t number) {
    for (const auto& [each, word] : enum_words(ChakraCollective{})) {
      if (static_cast<std::int64_t>(each) == number) {
        return each;
      }
    }
    complain(node, fmt::format("comm_type is {}; the format knows 0 to {}", number,
                               enum_words(ChakraCollective{}).size() - 1));
    return ChakraCollective::barrier;  // in its place, so that one word is said of it
  }

  /// What a node of its kind cannot do without.
  void check(const ChakraNode& node) {
    if (node.kind == ChakraKind::invalid) {
      complain(node, fmt::format("its type is {}; METADATA_NODE is 1, COMP_NODE 4, COMM_SEND_NODE "
                                 "5, COMM_RECV_NODE 6, COMM_COLL_NODE 7",
                                 type_));
    }
    if (node.duration_us > kLongest) {
      complain(node, fmt::format("duration_micros is {}, more than a step's clock counts (106 "
                                 "days)",
                                 node.duration_us));
    } else if (node.duration_ps &&
               std::abs(*node.duration_ps - static_cast<std::int64_t>(node.duration_us) * kPsOfUs) >
                   kPsOfUs) {
      complain(node, fmt::format("duration_micros is {} and duration_ps {}, more than 1 us apart; "
                                 "take duration_ps out where another program changes durations",
                                 node.duration_us, *node.duration_ps));
    }
    check_work(node);
    if (communicates(node)) {
      check_transfer(node);
    }
  }

  void check_transfer(const ChakraNode& node) {
    if (node.collective != ChakraCollective::barrier && node.bytes.value_or(-1) < 0) {
      complain(node, "has no comm_size: how many bytes does it move?");
    }
    if (node.kind == ChakraKind::collective && !node.collective) {
      complain(node, "has no comm_type: which collective is it?");
    }
    if (node.kind == ChakraKind::send && !node.destination) {
      complain(node, "has no comm_dst: whom does it send to?");
    }
    if (node.kind == ChakraKind::receive && !node.source) {
      complain(node, "has no comm_src: whom does it receive from?");
    }
  }

  /// A transfer to memory elsewhere without a time: nobody says how fast that memory is.
  void check_work(const ChakraNode& node) {
    const bool memory =
        node.kind == ChakraKind::memory_load || node.kind == ChakraKind::memory_store;
    if (memory && node.picoseconds() == 0 && node.tensor_bytes.value_or(0) > 0) {
      complain(node,
               "has tensor_size and no duration_micros; a replay knows no memory but the GPU's");
    }
  }

  /// "['[{"pg_name": "1", "ranks": [0, 1]}]']": JSON in a list of Python.
  void add_groups(const ChakraNode& node, const std::string& inputs) {
    const auto first = inputs.find('{');
    const auto last = inputs.rfind('}');
    if (first == std::string::npos || inputs.find("pg_name") == std::string::npos || last < first) {
      return;
    }
    const auto list =
        nlohmann::json::parse("[" + inputs.substr(first, last - first + 1) + "]", nullptr, false);
    bool read = !list.is_discarded();
    for (const auto& group : list.is_array() ? list : nlohmann::json::array()) {
      read = read && add_group(group);
    }
    if (!read) {
      complain(node,
               "its process groups are not read; [{\"pg_name\": \"1\", \"ranks\": [0, 1]}] "
               "is");
    }
  }

  bool add_group(const nlohmann::json& group) {
    const auto name = group.find("pg_name");
    const auto ranks = group.find("ranks");
    if (name == group.end() || !name->is_string() || ranks == group.end() || !ranks->is_array() ||
        !std::all_of(ranks->begin(), ranks->end(),
                     [](const auto& rank) { return rank.is_number_integer(); })) {
      return false;
    }
    trace_.groups[name->get<std::string>()] = ranks->get<std::vector<std::int64_t>>();
    return true;
  }

  static constexpr std::int64_t kPsOfUs = 1'000'000;
  static constexpr std::uint64_t kLongest = INT64_MAX / kPsOfUs;

  core::Diagnostics& complaints_;
  ChakraTrace trace_;
  std::int32_t type_ = 0;  ///< of the node that is read, as the file has it
};

/// Ids are what nodes name each other by.
void check_ids(const ChakraTrace& trace, core::Diagnostics& complaints) {
  std::unordered_map<std::uint64_t, const ChakraNode*> nodes;
  for (const ChakraNode& node : trace.nodes) {
    const auto [place, fresh] = nodes.try_emplace(node.id, &node);
    if (!fresh) {
      complaints.add({}, fmt::format("{}: a node '{}' before it has the same id",
                                     where_is(trace, node), place->second->name));
    }
  }
  for (const ChakraNode& node : trace.nodes) {
    for (const std::uint64_t parent : node.after) {
      if (!nodes.contains(parent)) {
        complaints.add({}, fmt::format("{}: waits for node {}, which the trace does not have; it "
                                       "is incomplete",
                                       where_is(trace, node), parent));
      }
    }
  }
}

/// The messages of a stream, each behind its length.
template <class Tell>
void for_each_message(std::string_view bytes, const std::string& file, Tell tell) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    const auto offset = at - bytes.data();
    try {
      const std::uint64_t length = protozero::decode_varint(&at, end);
      if (length > static_cast<std::uint64_t>(end - at)) {
        throw core::Error(
            fmt::format("{}: is cut off: the message at byte {} has {} bytes, and "
                        "{} follow",
                        file, offset, length, end - at));
      }
      tell(pbf_reader(at, static_cast<std::size_t>(length)));
      at += length;
    } catch (const protozero::exception& error) {
      throw core::Error(
          fmt::format("{}: is no Chakra trace: the message at byte {} is not read "
                      "({}); a trace begins with its metadata, and has a node each "
                      "after it",
                      file, offset, error.what()));
    }
  }
}

}  // namespace

std::int64_t ChakraNode::picoseconds() const {
  constexpr std::int64_t kPsOfUs = 1'000'000;
  return duration_ps.value_or(static_cast<std::int64_t>(duration_us) * kPsOfUs);
}

bool communicates(const ChakraNode& node) { return !node.on_cpu && node.kind >= ChakraKind::send; }

std::string where_is(const ChakraTrace& trace, const ChakraNode& node) {
  return fmt::format("{}: node {} '{}'", trace.file, node.id, core::shortened(node.name));
}

std::int64_t chakra_rank(const std::string& file_name) {
  std::string_view name = file_name;
  const auto drop = [&name](std::string_view ending) {
    if (name.ends_with(ending)) {
      name.remove_suffix(ending.size());
    }
  };
  drop(".gz");
  drop(".et");
  const auto digits = name.find_last_not_of("0123456789") + 1;  // npos + 1: all of it
  const auto rank = core::whole_text_as<std::int64_t>(name.substr(digits));
  if (!rank) {
    throw core::Error(fmt::format(
        "{}: does not say whose trace it is; the rank stands before the ending, as in step.12.et",
        file_name));
  }
  return *rank;
}

ChakraTrace read_chakra(std::string_view bytes, const std::string& file_name) {
  core::Diagnostics complaints;
  NodeReader reader(file_name, complaints);
  bool first = true;
  for_each_message(bytes, file_name, [&](pbf_reader message) {
    if (first) {  // the metadata: read for its form only
      while (message.next()) {
        message.skip();
      }
    } else {
      reader.add(message);
    }
    first = false;
  });
  ChakraTrace trace = reader.take();
  trace.rank = chakra_rank(file_name);
  if (trace.nodes.empty()) {
    throw core::Error(fmt::format("{}: has no node", file_name));
  }
  check_ids(trace, complaints);
  complaints.throw_if_any();
  return trace;
}

ChakraGroups read_chakra_groups(std::string_view text, const std::string& file_name) {
  const auto json = parse_json_object(text, file_name, "a file of process groups, {\"1\": [0, 1]}");
  ChakraGroups groups;
  for (const auto& [name, ranks] : json.items()) {
    const bool whole =
        ranks.is_array() && std::all_of(ranks.begin(), ranks.end(),
                                        [](const auto& rank) { return rank.is_number_integer(); });
    if (!whole) {
      throw core::Error(mark_of_key(text, file_name, name),
                        fmt::format("the ranks of group '{}' are a list of whole numbers", name));
    }
    groups[name] = ranks.template get<std::vector<std::int64_t>>();
  }
  return groups;
}

}  // namespace headway::import
