// headway schema: the JSON Schema of a kind of configuration file, for editors.
#include "sim/config/schema.h"

#include <string>

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

int run_schema(int argc, char** argv) {
  CLI::App app(
      "Prints the JSON Schema (draft-07) of scenario files, or of one kind of catalogue entry.");
  CommonOptions options;
  std::string kind = "scenarios";
  bool python = false;
  describe(app, "schema",
           "  headway schema > scenario.schema.json\n"
           "  headway schema gpus --out gpus.schema.json");
  app.add_option("KIND", kind, "scenarios, gpus, nodes, fabrics, models, ...")
      ->option_text("[scenarios]");
  app.add_flag("--python", python, "Print the same as Python dataclasses");
  app.add_option("--out", options.out, "Write the result to this file")
      ->check(file_name())
      ->option_text("FILE");
  app.add_flag("--force", options.force, "Let --out overwrite a file");
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  check_out(options);
  deliver(options, python ? config::python_dataclasses() : config::schema_of(kind));
  return 0;
}

}  // namespace headway::apps
