#include "sim/study/collective.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/statistics.h"
#include "sim/core/text.h"
#include "sim/network/collective/closed_form.h"
#include "sim/network/collective/collective_alone.h"
#include "sim/network/collective/cross_site.h"
#include "sim/study/nccl_tests_names.h"
#include "sim/training/domain_size.h"
#include "sim/training/estimate.h"
#include "sim/training/step/lower.h"

namespace headway::study {

using namespace core::literals;

namespace {

using core::CollectiveKind;

/// What nccl-tests makes of -b's bytes: whole elements, and equal parts of whole 16 bytes where
/// ranks hold parts (AllGatherGetCollByteCount and its kin in src/*.cu).
struct Message {
  std::uint64_t bytes = 0, count = 0;
};

Message rounded(CollectiveKind kind, std::uint64_t bytes, std::uint64_t element, int ranks) {
  const std::uint64_t count = bytes / element;
  if (kind != CollectiveKind::all_gather && kind != CollectiveKind::reduce_scatter &&
      kind != CollectiveKind::all_to_all) {
    return {count * element, count};
  }
  const auto n = static_cast<std::uint64_t>(ranks);
  const std::uint64_t aligned = 16 / element;
  const std::uint64_t part = count / n / aligned * aligned;
  return {part * n * element, part};
}

/// The mean of what the log has for a size.
struct Measured {
  std::optional<core::Seconds> time;
  std::optional<core::BytesPerSecond> bus_bandwidth;
};

Measured mean_of(const import::NcclTestsLog& log, std::uint64_t bytes) {
  double microseconds = 0;
  double bus = 0;
  int rows = 0;
  for (const auto& row : log.rows) {
    if (row.bytes == bytes && row.timing() && row.timing()->microseconds > 0) {
      microseconds += row.timing()->microseconds;
      bus += row.timing()->bus_gb_per_s;
      ++rows;
    }
  }
  if (rows == 0) {
    return {};
  }
  return {core::Seconds(microseconds * 1e-6 / rows), core::BytesPerSecond(bus * 1e9 / rows)};
}

/// Two decimals are printed, so only large figures tell the ratio.
void check_ratio(const CollectiveReport& report,
                 const import::NcclTestsLog& log,
                 const std::string& file_name) {
  const double expected = network::bus_factor(report.kind, report.gpus);
  for (const auto& row : log.rows) {
    if (!row.timing() || row.timing()->algorithm_gb_per_s < 1) {
      continue;
    }
    const double ratio = row.timing()->bus_gb_per_s / row.timing()->algorithm_gb_per_s;
    if (std::abs(ratio / expected - 1) > 0.02) {
      throw core::Error(core::SourceMark{file_name, row.line, 1, 1, ""},
                        fmt::format("busbw is {:.3f} times algbw; that of {} on {} GPUs is {:.3f}: "
                                    "the log is of another collective or number of GPUs",
                                    ratio, core::to_word(report.kind), report.gpus, expected));
    }
  }
}

void check_ranks(const CollectiveReport& report,
                 const import::NcclTestsLog& log,
                 const std::string& file_name) {
  if (!log.ranks_listed.empty() && static_cast<int>(log.ranks_listed.size()) != report.gpus) {
    throw core::Error(fmt::format("{}: lists {} ranks, and {} GPUs are asked for", file_name,
                                  log.ranks_listed.size(), report.gpus));
  }
}

/// How much longer than on a fabric without limits the sizes take.
struct Stretch {
  int sizes = 0;
  double most = 1;
  std::optional<core::LinkId> link;

  void note(const network::TimeOnFabric& time) {
    if (time.slowest) {
      const double times = time.time.total / time.alone;
      ++sizes;
      link = times > most ? time.slowest : link;
      most = std::max(most, times);
    }
  }
};

/// What simulations of messages and packets leave out, and a domain that nobody describes.
void assume_of_machine(const Machine& machine,
                       network::Granularity granularity,
                       CollectiveReport& report) {
  if (auto domain =
          training::domain_warning(machine.cluster, machine.cluster.node.scale_up.domain_gpus)) {
    report.assumptions.push_back(std::move(*domain));
  }
  if (granularity != network::Granularity::fluid) {
    report.assumptions.push_back(fmt::format(
        "every {} is simulated at wire rate with its route's latency; no software, no protocol{}",
        granularity == network::Granularity::packet ? "packet" : "message",
        machine.cluster.fabric.node_latency.si() > 0 ? ", and not the fabric's node_latency" : ""));
  }
}

std::vector<core::GpuId> first_gpus(const CollectiveRequest& request, int gpus_of_node) {
  const int per_node = request.per_node > 0 ? request.per_node : gpus_of_node;
  std::vector<core::GpuId> members;
  members.reserve(static_cast<std::size_t>(request.gpus));
  for (int g = 0; g < request.gpus; ++g) {
    members.emplace_back(static_cast<std::uint32_t>(g / per_node * gpus_of_node + g % per_node));
  }
  return members;
}

/// @throws core::Error if the ranks are on several sites and not equally many on each, or the
/// collective has no time over sites
void check_sites(const Machine& machine, const CollectiveRequest& request) {
  if (!machine.cluster.sites) {
    return;
  }
  const int per_node = request.per_node > 0 ? request.per_node : machine.cluster.node.gpus;
  const int nodes = (request.gpus + per_node - 1) / per_node;
  const int of_site = machine.cluster.nodes / machine.cluster.sites->count;
  if (nodes > of_site && request.gpus % (of_site * per_node) != 0) {
    throw core::Error(fmt::format(
        "{} GPUs are asked for, and a site of '{}' has {}: over several sites equally many of each "
        "take part; ask for {} or a multiple, or for fewer",
        request.gpus, machine.name, of_site * per_node, of_site * per_node));
  }
  if (!has_time(machine.cluster, request.kind, nodes)) {
    throw core::Error(fmt::format(
        "{} of {} GPUs, on several sites of '{}', is not modelled: ask for {} or fewer, which are "
        "of one site, or write 'collective: flat' under cluster.sites",
        core::to_word(request.kind), request.gpus, machine.name, of_site * per_node));
  }
}

/// Sizes that the fabric slows down.
void assume_stretch(const Stretch& stretch,
                    const network::Fabric& fabric,
                    CollectiveReport& report) {
  if (stretch.most > 1) {
    report.assumptions.push_back(fmt::format(
        "{} of {} sizes take longer than on a fabric that carries whatever comes, up to "
        "{} times: {} is full",
        stretch.sizes, report.rows.size(), core::number(stretch.most),
        fabric.describe(*stretch.link)));
  }
}

}  // namespace

std::optional<double> CollectiveRow::error() const {
  return time && measured ? std::optional(time->total / *measured - 1) : std::nullopt;
}

std::vector<std::uint64_t> size_steps(std::uint64_t first, std::uint64_t last, double factor) {
  HEADWAY_CHECK(first >= 1 && first <= last && factor > 1, "{} to {} by {}", first, last, factor);
  std::vector<std::uint64_t> sizes;
  for (auto size = static_cast<double>(first); size <= static_cast<double>(last); size *= factor) {
    const auto whole = static_cast<std::uint64_t>(size);
    if (sizes.empty() || sizes.back() != whole) {
      sizes.push_back(whole);
    }
  }
  return sizes;
}

void set_granularity(CollectiveRequest& request, const std::string& words) {
  const auto colon = words.find(':');
  const std::string how = words.substr(0, colon);
  const auto granularity = core::from_word<network::Granularity>(how);
  if (!granularity && how != "blocking") {
    throw core::Error(fmt::format(
        "there is no granularity '{}'; there are fluid, stepped, blocking, packet", how));
  }
  request.granularity = granularity.value_or(network::Granularity::stepped);
  request.dependency =
      how == "blocking" ? network::Dependency::blocking : network::Dependency::pipelined;
  if (colon == std::string::npos) {
    return;
  }
  std::string name = words.substr(colon + 1);
  if (request.granularity == network::Granularity::packet) {
    const auto next = name.find(':');
    request.transport = core::from_word<network::Transport>(name.substr(0, next));
    if (request.transport && next == std::string::npos) {
      return;
    }
    name = request.transport ? name.substr(next + 1) : name;
  }
  std::string known;
  for (const auto& [algorithm, word] : enum_words(network::Algorithm{})) {
    if (name == word && algorithm != network::Algorithm::none) {
      request.algorithm = algorithm;
      return;
    }
    known += algorithm == network::Algorithm::none ? "" : fmt::format(" {}", word);
  }
  std::string transports;
  if (request.granularity == network::Granularity::packet && !request.transport) {
    transports = ", and the transports";
    for (const auto& [transport, word] : enum_words(network::Transport{})) {
      transports += fmt::format(" {}", word);
    }
  }
  throw core::Error(
      fmt::format("there is no algorithm '{}'; there are{}{}", name, known, transports));
}

bool has_time(const training::ClusterSpec& cluster, core::CollectiveKind kind, std::int64_t nodes) {
  return !cluster.sites || nodes <= cluster.nodes / cluster.sites->count ||
         cluster.sites->collective == network::CrossSite::flat ||
         network::exchanged_between_sites(kind);
}

void check_call(const Machine& machine, const CollectiveRequest& request) {
  const std::int64_t there = std::int64_t{machine.cluster.nodes} * machine.cluster.node.gpus;
  if (request.gpus < 2) {
    throw core::Error("one GPU has none to exchange with; ask for 2 or more (--gpus)");
  }
  if (request.gpus > there) {
    throw core::Error(fmt::format("{} GPUs are asked for and the machine '{}' has {}", request.gpus,
                                  machine.name, there));
  }
  if (request.per_node > machine.cluster.node.gpus) {
    throw core::Error(fmt::format("{} GPUs of each node are asked for and a node of '{}' has {}",
                                  request.per_node, machine.name, machine.cluster.node.gpus));
  }
  if (request.per_node > 0 &&
      (request.gpus + request.per_node - 1) / request.per_node > machine.cluster.nodes) {
    throw core::Error(
        fmt::format("{} GPUs, {} a node, are asked for and the machine '{}' has {} "
                    "nodes",
                    request.gpus, request.per_node, machine.name, machine.cluster.nodes));
  }
  if (request.kind == core::CollectiveKind::send_receive && request.gpus != 2 &&
      request.granularity != network::Granularity::fluid) {
    throw core::Error(fmt::format(
        "a send_receive message by message is of two GPUs, and {} are asked for: take --gpus 2, or "
        "--granularity fluid",
        request.gpus));
  }
  check_sites(machine, request);
}

CollectiveReport predict_collective(const Machine& machine, const CollectiveRequest& request) {
  const std::uint64_t element = element_bytes(request.type);
  HEADWAY_CHECK(element > 0, "type '{}'", request.type);
  check_call(machine, request);
  if (machine.cluster.sites && request.granularity != network::Granularity::fluid) {
    throw core::Error(
        "messages and packets between sites are not simulated one by one: use --granularity fluid, "
        "or a cluster of one site");
  }
  training::require_memory(training::estimate_fabric(machine.cluster), training::machine_memory());
  const auto fabric = training::build_fabric(machine.cluster);
  const auto parameters = network::make_parameters(
      fabric.input(), training::nccl_generation(machine.cluster.node.gpu.architecture));
  const auto members = first_gpus(request, machine.cluster.node.gpus);
  network::GroupOnFabric group(fabric, members, parameters, machine.curves);
  Stretch stretch;
  CollectiveReport report{machine.name,        request.kind, request.type, request.gpus,
                          group.shape().nodes, {},           "",           machine.assumptions};
  std::optional<PacketNetworkOf> packets;
  if (request.granularity == network::Granularity::packet) {
    packets.emplace(machine.cluster, fabric, request.transport);
    report.assumptions.push_back(packets->words());
  }
  assume_of_machine(machine, request.granularity, report);
  for (const std::uint64_t size : request.sizes) {
    const Message message = rounded(request.kind, size, element, request.gpus);
    CollectiveRow row;
    row.bytes = message.bytes;
    row.count = message.count;
    if (message.bytes > 0) {
      const core::Bytes bytes(static_cast<double>(message.bytes));
      const network::CollectiveCall call{request.kind, bytes, request.algorithm, {}};
      network::SteppedOptions stepped;
      stepped.dependency = request.dependency;
      if (packets) {
        const auto run = packets->run(call, members, stepped);
        row.time = run.time;
        row.packets = run.figures;
      } else if (request.granularity == network::Granularity::stepped) {
        row.time = network::stepped_time(fabric, call, members, stepped);
      } else {
        const auto on_fabric = group.time(call);
        stretch.note(on_fabric);
        row.time = on_fabric.time;
      }
      row.algorithm_bandwidth = bytes / row.time->total;
      row.bus_bandwidth =
          network::bus_bandwidth(request.kind, bytes, request.gpus, row.time->total);
    }
    report.rows.push_back(row);
    if (request.count) {
      request.count(report.rows.size(), request.sizes.size());
    }
  }
  assume_stretch(stretch, fabric, report);
  return report;
}

void compare_with_log(CollectiveReport& report,
                      const import::NcclTestsLog& log,
                      const std::string& file_name) {
  check_ranks(report, log, file_name);
  check_ratio(report, log, file_name);
  bool any = false;
  for (auto& row : report.rows) {
    const Measured measured = mean_of(log, row.bytes);
    row.measured = measured.time;
    row.measured_bus_bandwidth = measured.bus_bandwidth;
    any = any || row.error();
  }
  if (!any) {
    throw core::Error(
        fmt::format("{}: none of its sizes is among those predicted; leave -b and -e "
                    "out to take the log's",
                    file_name));
  }
  report.log = file_name;
}

std::string collective_sentence(const CollectiveReport& report) {
  std::vector<double> errors;
  std::vector<double> large;
  const CollectiveRow* last = nullptr;
  for (const auto& row : report.rows) {
    if (row.time && (report.log.empty() || row.error())) {
      last = last == nullptr || row.bytes >= last->bytes ? &row : last;
    }
    if (const auto error = row.error()) {
      errors.push_back(std::abs(*error));
      if (core::Bytes(static_cast<double>(row.bytes)) >= 1_MiB) {
        large.push_back(std::abs(*error));
      }
    }
  }
  if (last == nullptr) {
    return "No size holds a whole part for every rank: nothing is predicted.";
  }
  const std::string busbw = core::number(last->bus_bandwidth.si() / 1e9);
  if (report.log.empty()) {
    const bool named = last->time->protocol != network::Protocol::none;
    return fmt::format("The largest message ({}) has a bus bandwidth of {} GB/s: {}{}{}, by {}.",
                       size_words(last->bytes), busbw, core::to_word(last->time->algorithm),
                       named ? ", " : "", named ? core::to_word(last->time->protocol) : "",
                       core::to_word(last->time->source));
  }
  const auto median = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return core::percent(core::quantile_of_sorted(values, 0.5));
  };
  return fmt::format(
      "Median error {} % over {} size{}{}; at {} the bus bandwidth is {} GB/s predicted, {} GB/s "
      "measured (time {:+.1f} %).",
      median(errors), errors.size(), errors.size() == 1 ? "" : "s",
      large.empty()
          ? ""
          : fmt::format(", {} % over the {} of 1 MiB and more", median(large), large.size()),
      size_words(last->bytes), busbw, core::number(last->measured_bus_bandwidth->si() / 1e9),
      *last->error() * 100);
}

}  // namespace headway::study
