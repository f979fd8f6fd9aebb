// headway collective: the table of nccl-tests for a machine that nobody has to own.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "sim/import/text_file.h"
#include "sim/report/verbs/collective_report.h"
#include "sim/study/nccl_tests_names.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

struct CollectiveArguments {
  std::string kind, machine, first = "8", last = "16G", type = "float", log, how_fine = "fluid";
  int gpus = 8;
  double factor = 2;
  bool sizes_given = false;
  study::MachineOptions how;
};

std::uint64_t size_of(const std::string& text, const char* option) {
  const auto size = study::parse_size(text);
  if (!size) {
    throw core::Error(
        fmt::format("{} {}: is no size; write bytes, or 128K, 16M, 16G", option, text));
  }
  return *size;
}

std::vector<std::uint64_t> sizes_of(const CollectiveArguments& given) {
  const auto first = size_of(given.first, "-b");
  const auto last = size_of(given.last, "-e");
  if (first > last) {
    throw core::Error(fmt::format("-b {} is larger than -e {}", given.first, given.last));
  }
  return study::size_steps(first, last, given.factor);
}

std::vector<std::uint64_t> sizes_of(const import::NcclTestsLog& log) {
  std::vector<std::uint64_t> sizes;
  for (const auto& row : log.rows) {
    sizes.push_back(row.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

study::CollectiveReport answer(const CollectiveArguments& given, const CommonOptions& options) {
  Progress progress(options);
  progress.phase("predicting sizes");
  study::CollectiveRequest request;
  request.count = [&](std::size_t done, std::size_t total) { progress.count(done, total); };
  const auto kind = study::collective_kind(given.kind);
  if (!kind) {
    throw core::Error(fmt::format("there is no collective '{}'; there are {}", given.kind,
                                  study::collective_words()));
  }
  if (study::element_bytes(given.type) == 0) {
    throw core::Error(
        fmt::format("there is no type '{}'; nccl-tests knows float, half, bfloat16, "
                    "double, int8, ...",
                    given.type));
  }
  request.kind = *kind;
  request.gpus = given.gpus;
  request.type = given.type;
  study::set_granularity(request, given.how_fine);
  const auto machine = study::load_machine(given.machine, given.how, load_options(options));
  if (given.log.empty()) {
    request.sizes = sizes_of(given);
    return study::predict_collective(machine, request);
  }
  const auto log = import::read_nccl_tests_log(import::read_input(given.log), given.log);
  request.sizes = given.sizes_given ? sizes_of(given) : sizes_of(log);
  request.type = log.rows.front().type;
  auto result = study::predict_collective(machine, request);
  study::compare_with_log(result, log, given.log);
  return result;
}

/// The longest row of a text whose comments begin with #.
std::size_t widest_row(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    widest = text[begin] == '#' ? widest : std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

OutFile shown(const study::CollectiveReport& result, const CommonOptions& options) {
  if (options.format == "json") {
    return {options.out, report::collective_json(result)};
  }
  if (options.format == "csv") {
    return printed(report::collective_table(result), options);
  }
  // The rows of nccl-tests do not fold: a terminal without room for them gets a table that does.
  std::string text = report::nccl_tests_text(result);
  const std::size_t width = page_of(options).width;
  const bool folds = options.format == "md" || (width > 0 && width < widest_row(text));
  return folds ? printed(report::collective_document(result), options)
               : OutFile{options.out, std::move(text)};
}

std::vector<OutFile> files_of(const study::CollectiveReport& result, const CommonOptions& options) {
  std::vector<OutFile> files{shown(result, options)};
  if (!options.tables.empty()) {
    files.push_back({options.tables, report::nccl_tests_text(result)});
  }
  return files;
}

}  // namespace

int run_collective(int argc, char** argv) {
  CLI::App app("Predicts a collective alone on a machine and prints the table of nccl-tests.");
  CommonOptions options;
  CollectiveArguments given;
  describe(app, "collective",
           "  headway collective all_reduce --cluster my.yaml --gpus 64 -b 8 -e 16G -f 2\n"
           "  headway collective all_reduce --cluster dgx-h100 --compare all_reduce.log");
  app.add_option("KIND", given.kind, "all_reduce, all_gather, reduce_scatter, all_to_all, ...")
      ->required()
      ->option_text(" ");
  app.add_option("--cluster", given.machine, "Cluster, fabric, node or scenario: file or entry")
      ->required()
      ->option_text("FILE");
  app.add_option("--gpus", given.gpus, "The first N GPUs")
      ->transform(whole_number(1))
      ->option_text("N [8]");
  app.add_option("--nodes", given.how.nodes, "Nodes, where FILE is a fabric or a node")
      ->transform(whole_number(1))
      ->option_text("N");
  app.add_option("--node", given.how.node, "Node entry, where FILE is a fabric")
      ->check(utf8_text())
      ->option_text("ENTRY");
  app.add_option("--fabric", given.how.fabric, "Fabric entry, where FILE is a node")
      ->check(utf8_text())
      ->option_text("ENTRY");
  auto* first = app.add_option("-b", given.first, "Smallest message")->option_text("SIZE [8]");
  auto* last = app.add_option("-e", given.last, "Largest message")->option_text("SIZE [16G]");
  app.add_option("-f", given.factor, "From one size to the next")
      ->check(number_between(1.01, 1e6))
      ->option_text("X [2]");
  app.add_option("-d", given.type, "Type of the elements")->option_text("TYPE [float]");
  app.add_option("--compare", given.log, "Log of nccl-tests to lay beside; sizes are the log's")
      ->option_text("LOG");
  app.add_option("--granularity", given.how_fine,
                 "fluid; each message: stepped, blocking, stepped:tree, ...; each packet: packet, "
                 "packet:dcqcn, packet:swift:tree, ...")
      ->option_text("HOW [fluid]");
  app.add_option("--set", options.set, "Change a value of FILE, as nodes=64")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  add_progress_options(app, options);
  for (const char* known : {"--quiet", "--progress"}) {
    app.get_option(known)->group("");  // of most verbs
  }
  add_tables_option(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  app.get_option("--format")
      ->option_text("WORD [table]")
      ->description("Form of the result: table, json, csv or md");
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  given.sizes_given = first->count() + last->count() > 0;
  check_out(options, {options.tables});
  deliver(options, files_of(answer(given, options), options));
  return 0;
}

}  // namespace headway::apps
