// headway init: a scenario to start from, with a comment at every choice.
#include <string>

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/starter/starter.h"
#include "apps/headway/verb.h"

namespace headway::apps {

int run_init(int argc, char** argv) {
  CLI::App app(
      "Writes a commented scenario to start from: 128 H100, or the model and GPUs you name.");
  CommonOptions options;
  StarterChoice choice;
  options.out = "scenario.yaml";
  describe(app, "init",
           "  headway init\n"
           "  headway init my-run.yaml --model hf:path/config.json --gpus 512 --gpu h100");
  app.add_option("FILE", options.out, "File to write")
      ->check(file_name())
      ->option_text("[scenario.yaml]");
  app.add_option("--model", choice.model, "Entry of the catalogue, or hf: and a config.json")
      ->check(utf8_text())
      ->option_text("MODEL [llama-3.1-8b]");
  app.add_option("--adapters", choice.adapters, "adapter_config.json of Hugging Face PEFT (LoRA)")
      ->check(utf8_text())
      ->option_text("FILE");
  app.add_option("--gpus", choice.gpus, "How many train; whole nodes")
      ->transform(whole_number(1, 10'000'000))
      ->option_text("N [128]");
  app.add_option("--gpu", choice.gpu, "Entry of the catalogue, or the beginning of one: h100")
      ->check(utf8_text())
      ->option_text("GPU [h100-sxm]");
  app.add_option("--name", choice.name, "Name printed in reports")
      ->check(utf8_text())
      ->option_text("TEXT");
  app.add_flag("--force", options.force, "Overwrite the file");
  app.add_flag("--quiet", options.quiet, "Nothing on standard error but errors");
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  check_out(options);
  const Starter made = starter(choice);
  deliver(options, made.text);
  for (const std::string& text : made.remarks) {
    remark(options, "warning: " + text);
  }
  remark(options, "next: headway check " + options.out + "; headway run " + options.out);
  return 0;
}

}  // namespace headway::apps
