#include "sim/report/definitions.h"

#include <fmt/format.h>

namespace headway::report {

namespace {

DefinitionSection step_section() {
  return {
      "Step",
      "",
      {{"step.time_s", "s", "wall time of one optimizer step, healthy cluster"},
       {"step.time_interval_s", "s", "90 % prediction interval of the mean step"},
       {"step.tokens_per_s", "1/s", "`global batch x sequence length / time`"},
       {"step.tokens_per_s_per_gpu", "1/s", "the same / GPUs of the job, spares not counted"},
       {"step.mfu", "1",
        "model FLOPs per token (forward and backward, attention in full) x tokens per second per "
        "GPU / dense peak of the matrix format"},
       {"step.mfu_causal", "1", "the same with attention halved, as the causal mask allows"},
       {"step.hfu", "1", "`mfu` with recomputed forwards added"},
       {"step.model_tflops_per_gpu", "10^12/s",
        "model FLOPs per second per GPU, convention of `mfu`"},
       {"step.breakdown_s", "s",
        "each instant of each rank has one cause; mean over ranks; adds up to the step; the causes "
        "are below"},
       {"step.critical_path_s", "s",
        "causes along the chain from the end of the step to its start; adds up to the step"},
       {"step.links", "1",
        "of each tier of links, bytes carried / (capacity x step): mean over the links that are "
        "used, and the busiest one"},
       {"step.event_digest", "", "hash of all events in order: equal for any number of threads"},
       {"step.result_digest", "",
        "hash of what finished when: equal for folded and unfolded runs"}}};
}

DefinitionSection cause_section() {
  return {"Causes of a step's time",
          "The two waits for other stages are on no critical path.",
          {{"breakdown_s.compute", "s",
            "kernels, as long as they take on the GPU, with the gaps between them"},
           {"breakdown_s.launch", "s",
            "kernels and the GPU wait for the CPU's launches: what a block's launches add to the "
            "GPU's time for its kernels, at every kernel of the block alike"},
           {"breakdown_s.tensor", "s", "tensor-parallel communication that nothing hides"},
           {"breakdown_s.pipeline_bubble", "s",
            "waiting for other stages, less `stage_imbalance`: what the schedule costs where all "
            "stages are equal, (p - 1) / (m v) of the passes for 1F1B and interleaved"},
           {"breakdown_s.stage_imbalance", "s",
            "waiting for other stages because stages are unequal: of the waits of stage s, up to "
            "max over i of W_i - W_s. W_i is the work of stage i, mean of its ranks: all but waits "
            "for other stages, transfers between them and data-parallel communication"},
           {"breakdown_s.pipeline_p2p", "s", "transfers between stages that nothing hides"},
           {"breakdown_s.data", "s", "data-parallel communication that nothing hides"},
           {"breakdown_s.context", "s", "context-parallel communication that nothing hides"},
           {"breakdown_s.expert", "s", "expert-parallel communication that nothing hides"},
           {"breakdown_s.optimizer", "s", "kernels of the update"},
           {"breakdown_s.input", "s", "waiting for the data loader"},
           {"breakdown_s.checkpoint", "s", "stalled by a checkpoint"},
           {"breakdown_s.other", "s",
            "fixed work of the software and, where activations are offloaded, waits for them on "
            "their way to or from the host"}}};
}

DefinitionSection limit_section() {
  return {"Limit",
          "",
          {{"limit", "",
            "the sentence that names what limits the run. A plan that does not fit is limited by "
            "memory. Else the wall clock is compute, the other causes of the step, and "
            "interruptions (`1 - ettr`; the causes of the step then count `ettr` times); the "
            "largest part that is not compute is the largest loss. Compute is the limit where it "
            "has half or more, and the largest loss is named beside it; else the largest loss is "
            "the limit, and compute is named beside it. Shares are of the step, or of the wall "
            "clock where interruptions are the largest loss"},
           {"stage_advice.stage", "", "pipeline stage with the most work, from 0"},
           {"stage_advice.excess", "1", "its work W_i / mean of all stages - 1"},
           {"stage_advice.chunk_layers", "",
            "layers of every chunk that make stages more equal, as `parallelism.chunk_layers` "
            "takes them"},
           {"stage_advice.step_time_s", "s", "`step.time_s` with them, simulated"}}};
}

DefinitionSection memory_section() {
  return {"Memory",
          "Of the fullest GPU.",
          {{"memory.fits", "", "the peak is at most the capacity"},
           {"memory.peak_bytes", "B", "largest sum of all live bytes during the step"},
           {"memory.capacity_bytes", "B",
            "memory of the GPU, what is reserved for the driver taken off"},
           {"memory.peak_stage", "", "pipeline stage of that GPU, from 0"},
           {"memory.by_kind_bytes", "B", "the peak by what the bytes hold; adds up to it"}}};
}

DefinitionSection campaign_section() {
  return {
      "Campaign",
      "Time is measured on the wall clock of the job; D, R, C, P and tau as in "
      "[`sim/campaign/README.md`](../sim/campaign/README.md).",
      {{"campaign.trials", "", "independent draws of all failures"},
       {"campaign.wall_days", "d", "from the start of the run until its last save is durable"},
       {"campaign.ettr", "1",
        "durable steps x healthy step time / wall (\"effective training time ratio\"). Saves, lost "
        "steps, downtime and the slowness of degraded states count against it; a slow healthy step "
        "does not"},
       {"campaign.goodput", "1",
        "the same in GPU seconds / all GPU seconds paid for, spares included: `ettr x gpus / (gpus "
        "+ spare GPUs)`"},
       {"campaign.interruptions", "",
        "times that the job was stopped: by faults, those that strike during a restart included, "
        "by "
        "slow parts, and by the same fault again after a healthy part was blamed for it"},
       {"campaign.ledger_gpu_s", "s",
        "GPU seconds an account, mean over trials; the accounts add up to wall x all GPUs paid "
        "for"},
       {"campaign.replicas_hit", "",
        "blast radius: model replicas that lose a node by a failure that takes nodes, mean; the "
        "placement decides how many stand in one failure domain"},
       {"campaign.step_simulations", "",
        "step simulations of degraded states; each kind, severity and place that is alike is "
        "simulated once"},
       {"campaign.advice", "",
        "ETTR at the job's own interval (that of `campaign.ettr`) and at others, null where the "
        "run "
        "would hardly end (`exact`: closed form where nobody waits for a spare and it agrees with "
        "the trials; else up to 50 trials with equal random numbers); fewest `spares` that wait "
        "less than `wait_target` of the time (`spares_exact`: "
        "Erlang's loss formula, else as many trials); mean gain if every failure were noticed up "
        "to `earlier_s` sooner, with its "
        "standard error"},
       {"campaign.closed_form_ettr", "1",
        "exact formula for the same inputs; absent where none exists"}}};
}

DefinitionSection account_section() {
  return {
      "Accounts of the ledger",
      "Every tick (1 us) of every GPU paid for is in exactly one.",
      {{"useful", "GPU s", "steps that became durable, at healthy speed"},
       {"lost", "GPU s",
        "steps thrown away at a failure, at healthy speed; their repetition is `useful`"},
       {"checkpoint", "GPU s",
        "training stopped by a save, the wait for the last save of the run included; what "
        "background saves take from a shared fabric"},
       {"detect", "GPU s", "the job stands, nobody knows"},
       {"diagnose", "GPU s", "alarm to the name of a part, while the job stands"},
       {"restart", "GPU s", "replacing nodes, containers, communicators, warm-up, elastic stalls"},
       {"load", "GPU s", "reading the checkpoint or the state of peers; copying the data set"},
       {"wait", "GPU s", "no spare left"},
       {"degraded", "GPU s",
        "steps take longer than healthy ones: k healthy step times are `useful` or `lost`, the "
        "rest "
        "is here (slow parts, heat, missing replicas, starved input)"},
       {"spare_idle", "GPU s", "spares, ready or in repair"},
       {"maintenance", "GPU s", "planned work"}}};
}

DefinitionSection cost_section() {
  return {
      "Cost",
      "",
      {{"cost.total_usd", "USD",
        "GPUs + spares + storage (kept, written, read) + electricity where the GPU price leaves it "
        "out"},
       {"cost.usd_per_million_tokens", "USD", "total / durable tokens x 10^6"},
       {"cost.usd_per_useful_gpu_hour", "USD", "total / (GPUs x wall x ETTR)"},
       {"cost.energy_kwh", "kWh",
        "energy of GPUs, hosts and switches x PUE; GPUs draw board power while kernels run, idle "
        "power otherwise"},
       {"cost.price_source", "", "where the prices are from, with their date"}}};
}

DefinitionSection drill_section() {
  return {
      "Drill",
      "Figures of `headway drill` alone; times count from the fault. Model: "
      "[`docs/models/drill.md`](models/drill.md).",
      {{"lost.time_s", "s",
        "`useful` of the same job without the fault less `useful` with it, over the same horizon; "
        "of both the part of the next save's stall that the work since the last save owes is taken "
        "off, so that the phase of the rhythm does not count; never below 0"},
       {"lost.usd", "USD", "the same x price of all GPUs and spares per second"},
       {"lost.at_risk_s", "s",
        "work that is in no durable save when the drill ends and that a save asked for then would "
        "not make durable, or that holds bad numbers: booked as `lost`, not as `useful`"},
       {"lost.last_durable_at_s", "s",
        "since when no save has become durable; null if saves do. At most 0: since before the "
        "fault"},
       {"lost.accounts_s", "s",
        "wall time of the job by account; adds up to the horizon. Work before the fault that is "
        "thrown away makes `lost` larger and `useful` smaller than the horizon's own"},
       {"responses.suspects.probability", "1",
        "posterior of the cause given the symptoms that were visible when the response began"},
       {"first_symptoms.at_s", "s", "when the first symptom of a layer was there, seen or not"},
       {"first_symptoms.visible_at_s", "s", "when somebody could see it; null: nobody did"},
       {"cured_at_s", "s", "the fault is gone for good"},
       {"running_again_at_s", "s", "steps at healthy speed, the fault gone"},
       {"remedies.lost_s", "s", "`lost.time_s` of the drill that the option `how` gives"},
       {"remedies.saved_s", "s", "`lost.time_s` less that; below 0: it makes things worse"}}};
}

constexpr const char* kPreface =
    "# Definitions of the printed figures\n\n"
    "One row a figure, first those of `headway run`, then of the other verbs. Quantiles `p5`, "
    "`p50`, `p95` and `mean` are over the "
    "trials; SI units, as the JSON keys say.\n"
    "This page is generated from `sim/report/definitions*.cpp`; tests compare them, and that no "
    "figure is missing.\n";

constexpr const char* kConventions =
    "\n## Other conventions\n\n"
    "Effective MFU = `mfu x ettr`. Compare ETTR with other reports with care: some divide by the "
    "time between failures (18 minutes with 10 of\n"
    "downtime is then 0.44; by the definition here, where the clock of failures stands still while "
    "the job is down, 18 / 28 = 0.64 before\n"
    "lost work), some leave lost steps out.\n";

}  // namespace

std::vector<DefinitionSection> definitions() {
  std::vector<DefinitionSection> all{step_section(),   cause_section(),    limit_section(),
                                     memory_section(), campaign_section(), account_section(),
                                     cost_section(),   drill_section()};
  const auto others = definitions_of_other_verbs();
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::string definitions_page() {
  std::string page = kPreface;
  for (const auto& section : definitions()) {
    page += fmt::format("\n## {}\n\n", section.title);
    if (!section.preface.empty()) {
      page += section.preface + "\n\n";
    }
    page += "| figure | unit | meaning |\n|---|---|---|\n";
    for (const auto& d : section.definitions) {
      page += fmt::format("| `{}` | {} | {} |\n", d.figure, d.unit, d.meaning);
    }
  }
  return page + kConventions;
}

}  // namespace headway::report
