// headway init: a scenario to start from, with a comment at every choice.
#include <string>

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

constexpr const char* kStarter =
    R"(# A scenario for headway. `headway check FILE` finds mistakes, `headway run FILE` predicts.
# `headway catalog list` shows what `use:` can name; any value may be changed beside it.
headway: 1
name: My training run

cluster:
  nodes: 16                                # servers that train
  node: {use: dgx-h100}                    # 8 H100 SXM each
  fabric: {use: rail-optimized-ndr}        # 400 Gbps a GPU
  storage: {use: lustre}                   # where checkpoints go
  spares: 1                                # idle servers that replace broken ones

model: {use: llama-3.1-8b}                 # or {huggingface: path/config.json}

training:
  sequence_length: 8192                    # tokens
  global_batch: 512                        # sequences in a step
  precision: bf16

parallelism:                               # tensor x context x pipeline x data = GPUs
  tensor: 2
  pipeline: 1
  data: auto
  sharding: zero1
  micro_batch: 1
  recompute: none

run:                                       # leave out to predict one step only
  until: {tokens: 1.0e12}
  checkpoint: {interval: auto, mode: async}
  failures: {use: llama-3-54-days}
  trials: 100
)";

}  // namespace

int run_init(int argc, char** argv) {
  CLI::App app("Writes a commented scenario of 128 H100 GPUs to start from.");
  CommonOptions options;
  options.out = "scenario.yaml";
  describe(app, "init",
           "  headway init\n"
           "  headway init my-run.yaml --force");
  app.add_option("FILE", options.out, "File to write")->option_text("[scenario.yaml]");
  app.add_flag("--force", options.force, "Overwrite the file");
  app.add_flag("--quiet", options.quiet, "Nothing on standard error but errors");
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  check_out(options);
  deliver(options, kStarter);
  remark(options, "next: headway check " + options.out + "; headway run " + options.out);
  return 0;
}

}  // namespace headway::apps
